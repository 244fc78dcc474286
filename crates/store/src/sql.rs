//! Small helpers over the one query dialect that both databases speak.

use std::fmt::Display;

use sqlx::any::AnyQueryResult;

use crate::StoreError;

/// `FromRow` by the names of the columns: `field: Type => function` is read as that type and goes through the function, and
/// what is under `default` is no column.
/// sqlx has a derive for this, for which cargo builds sqlx, tokio and SQLite once more, for the compiler's own use.
macro_rules! from_row {
    ($row:ident { $($field:ident $(: $read:ty => $convert:expr)?),* $(,)? } $(default { $($other:ident),* $(,)? })?) => {
        impl<'r> sqlx::FromRow<'r, sqlx::any::AnyRow> for $row {
            fn from_row(row: &'r sqlx::any::AnyRow) -> Result<Self, sqlx::Error> {
                Ok(Self {
                    $($field: $crate::sql::from_row!(@read row $field $($read => $convert)?),)*
                    $($($other: Default::default(),)*)?
                })
            }
        }
    };
    (@read $row:ident $field:ident) => {
        sqlx::Row::try_get($row, stringify!($field))?
    };
    (@read $row:ident $field:ident $read:ty => $convert:expr) => {
        $convert(sqlx::Row::try_get::<$read, _>($row, stringify!($field))?)
    };
}
pub(crate) use from_row;

/// A struct whose fields are the columns of a row: [`from_row`] for each of them. What is not read as it stands has its
/// type in the database and a function behind it: `= i64 => is_set`.
macro_rules! row {
    ($(#[$meta:meta])* $vis:vis struct $row:ident {
        $($(#[$attribute:meta])* $field_vis:vis $field:ident: $type:ty $(= $read:ty => $convert:expr)?),+ $(,)?
    }) => {
        $(#[$meta])*
        $vis struct $row {
            $($(#[$attribute])* $field_vis $field: $type,)+
        }

        $crate::sql::from_row!($row { $($field $(: $read => $convert)?),+ });
    };
}
pub(crate) use row;

/// Refuses a value that breaks a rule. The message is put together only then.
pub(crate) fn require(
    holds: bool,
    field: &'static str,
    message: impl Display,
) -> Result<(), StoreError> {
    match holds {
        true => Ok(()),
        false => Err(StoreError::invalid(field, message.to_string())),
    }
}

/// How both databases keep a yes or no.
pub(crate) fn is_set(number: i64) -> bool {
    number != 0
}

/// A change that met no row names something that is not there.
pub(crate) fn found(done: &AnyQueryResult, what: &'static str) -> Result<(), StoreError> {
    match done.rows_affected() {
        0 => Err(StoreError::NotFound(what)),
        _ => Ok(()),
    }
}

pub(crate) fn is_unique_violation(error: &sqlx::Error) -> bool {
    let error = error.as_database_error();
    error.is_some_and(|error| error.is_unique_violation())
}

/// Trims; refuses control characters (PostgreSQL cannot store NUL, logs should not carry the others) and wrong lengths.
pub(crate) fn check_text(
    field: &'static str,
    text: &str,
    min: usize,
    max: usize,
) -> Result<String, StoreError> {
    let text = text.trim();
    let length = text.chars().count();
    let fits = (min..=max).contains(&length);
    require(fits, field, format_args!("needs {min} to {max} characters"))?;
    let plain = !text.chars().any(char::is_control);
    require(plain, field, "must not hold control characters")?;
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_trimmed_and_bounded() {
        assert_eq!(check_text("name", " Asha ", 1, 10).unwrap(), "Asha");
        assert!(check_text("name", "  ", 1, 10).is_err());
        assert!(check_text("name", "a\0b", 1, 10).is_err());
        assert!(check_text("name", "abcdefghijk", 1, 10).is_err());
    }
}
