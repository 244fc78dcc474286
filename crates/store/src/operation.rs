//! What the service does for money.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

use crate::{Permission, StoreError};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Operation {
    Speech,
    Transcription,
}

impl Operation {
    pub const ALL: [Self; 2] = [Self::Speech, Self::Transcription];

    pub fn as_str(self) -> &'static str {
        self.permission().as_str()
    }

    /// What a key needs for it. The names are the same by intent: a key for `speech` pays for `speech`.
    pub fn permission(self) -> Permission {
        match self {
            Self::Speech => Permission::Speech,
            Self::Transcription => Permission::Transcription,
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Operation {
    type Err = StoreError;

    fn from_str(text: &str) -> Result<Self, StoreError> {
        Self::ALL
            .into_iter()
            .find(|operation| operation.as_str() == text)
            .ok_or_else(|| {
                StoreError::invalid(
                    "operation",
                    format!("{text:?} is not one of speech, transcription"),
                )
            })
    }
}
