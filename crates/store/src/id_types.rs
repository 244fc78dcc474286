//! A type for each kind of id, so that one cannot be handed over for another. They are parsed where they come in, and
//! are text in the database and on the wire.

use std::borrow::Borrow;
use std::fmt;
use std::ops::Deref;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::StoreError;
use crate::ids::new_id;
use crate::rows::Value;
use crate::text_columns::text_column;

const BYTES_MAX: usize = 64;

macro_rules! id_type {
    ($(#[$doc:meta])* $name:ident, $prefix:literal, $what:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, utoipa::ToSchema)]
        #[serde(try_from = "String")]
        pub struct $name(String);

        impl $name {
            pub fn generate() -> Self {
                Self(new_id($prefix))
            }

            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        /// What cannot be an id names nothing.
        impl FromStr for $name {
            type Err = StoreError;

            fn from_str(text: &str) -> Result<Self, StoreError> {
                let rest = text.strip_prefix($prefix).unwrap_or_default();
                let plain = rest.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
                match plain && !rest.is_empty() && text.len() <= BYTES_MAX {
                    true => Ok(Self(text.to_owned())),
                    false => Err(StoreError::NotFound($what)),
                }
            }
        }

        impl TryFrom<String> for $name {
            type Error = StoreError;

            fn try_from(text: String) -> Result<Self, StoreError> {
                text.parse()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl Deref for $name {
            type Target = str;

            fn deref(&self) -> &str {
                &self.0
            }
        }

        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl From<&$name> for Value {
            fn from(id: &$name) -> Self {
                Self::Text(id.0.clone())
            }
        }

        text_column!($name, |text| Ok(Self(text)));
    };
}

id_type!(WorkspaceId, "ws_", "workspace");
id_type!(AccountId, "acc_", "account");
id_type!(SessionId, "ses_", "session");
id_type!(InviteId, "inv_", "invitation");
id_type!(KeyId, "key_", "key");
id_type!(ReservationId, "res_", "reservation");
id_type!(
    /// Of a charge, a credit, a refund or another transfer in the books.
    TransferId,
    "tr_",
    "transfer"
);
id_type!(BatchId, "batch_", "batch");
id_type!(ItemId, "item_", "item");
id_type!(WebhookId, "hook_", "webhook");
id_type!(DeliveryId, "del_", "delivery");
id_type!(
    /// Of a recording or a sound that lies in parts in the database.
    BlobId,
    "blob_",
    "sound"
);
id_type!(
    /// Of a running program.
    InstanceId,
    "proc_",
    "process"
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_read_back_from_its_own_text() {
        let id = WorkspaceId::generate();
        assert_eq!(id.to_string().parse::<WorkspaceId>().unwrap(), id);
        assert_eq!(serde_json::to_value(&id).unwrap(), id.as_str());
    }

    #[test]
    fn what_cannot_be_an_id_names_nothing() {
        let long = format!("ws_{}", "a".repeat(BYTES_MAX));
        for text in [
            "", "ws_", "key_01", "ws_a b", "ws_\0", "ws_é", "WS_01", &long,
        ] {
            let refused = text.parse::<WorkspaceId>();
            assert!(
                matches!(refused, Err(StoreError::NotFound("workspace"))),
                "{text}"
            );
        }
    }
}
