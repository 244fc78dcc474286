//! What the service does for money.

use crate::Permission;
use crate::text_columns::text_enum;

text_enum! {
    pub enum Operation ("operation") {
        Speech = "speech",
        Transcription = "transcription",
    }
}

impl Operation {
    /// What a key needs for it. The names are the same by intent: a key for `speech` pays for `speech`.
    pub fn permission(self) -> Permission {
        match self {
            Self::Speech => Permission::Speech,
            Self::Transcription => Permission::Transcription,
        }
    }
}
