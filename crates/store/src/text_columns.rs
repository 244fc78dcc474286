//! Types of our own that are text in the database: how they are read and written, and enums of words.

/// Stored as its `Display` text, and read back by `$read`.
macro_rules! text_column {
    ($name:ty, $read:expr) => {
        impl sqlx::Type<sqlx::Any> for $name {
            fn type_info() -> <sqlx::Any as sqlx::Database>::TypeInfo {
                <String as sqlx::Type<sqlx::Any>>::type_info()
            }
        }

        impl sqlx::Encode<'_, sqlx::Any> for $name {
            fn encode_by_ref(
                &self,
                buffer: &mut <sqlx::Any as sqlx::Database>::ArgumentBuffer,
            ) -> Result<sqlx::encode::IsNull, sqlx::error::BoxDynError> {
                <String as sqlx::Encode<sqlx::Any>>::encode(self.to_string(), buffer)
            }
        }

        impl<'r> sqlx::Decode<'r, sqlx::Any> for $name {
            fn decode(
                value: <sqlx::Any as sqlx::Database>::ValueRef<'r>,
            ) -> Result<Self, sqlx::error::BoxDynError> {
                let text = <String as sqlx::Decode<sqlx::Any>>::decode(value)?;
                let read: fn(String) -> Result<Self, $crate::StoreError> = $read;
                Ok(read(text)?)
            }
        }
    };
}
pub(crate) use text_column;

/// An enum whose values are words: on the wire, in the database and in messages. `$field` is what a wrong word is called.
macro_rules! text_enum {
    ($(#[$meta:meta])* pub enum $name:ident ($field:literal) {
        $($(#[$doc:meta])* $value:ident = $word:literal),+ $(,)?
    }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        pub enum $name {
            $($(#[$doc])* #[serde(rename = $word)] $value,)+
        }

        impl $name {
            pub const ALL: [Self; [$($word),+].len()] = [$(Self::$value,)+];

            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$value => $word,)+
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::StoreError;

            fn from_str(text: &str) -> Result<Self, $crate::StoreError> {
                match text {
                    $($word => Ok(Self::$value),)+
                    _ => {
                        let words = [$($word),+].join(", ");
                        let message = format!("{text:?} is not one of {words}");
                        Err($crate::StoreError::invalid($field, message))
                    }
                }
            }
        }

        /// Its derive does not see the words.
        impl utoipa::PartialSchema for $name {
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
                let words = utoipa::openapi::ObjectBuilder::new();
                let words = words.schema_type(utoipa::openapi::Type::String);
                words.enum_values(Some([$($word),+])).into()
            }
        }

        impl utoipa::ToSchema for $name {}

        $crate::text_columns::text_column!($name, |text| text.parse());
    };
}
pub(crate) use text_enum;
