//! What a key may do.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::StoreError;
use crate::text_columns::{text_column, text_enum};

text_enum! {
    pub enum Permission ("permissions") {
        Speech = "speech",
        Transcription = "transcription",
        Voices = "voices",
        Usage = "usage",
        Keys = "keys",
    }
}

/// A set of permissions; as text, names joined by commas.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Permissions(u8);

impl Permissions {
    pub fn all() -> Self {
        Permission::ALL.into_iter().collect()
    }

    pub fn contains(self, permission: Permission) -> bool {
        self.0 & (1 << permission as u8) != 0
    }

    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub fn iter(self) -> impl Iterator<Item = Permission> {
        Permission::ALL
            .into_iter()
            .filter(move |permission| self.contains(*permission))
    }
}

impl FromIterator<Permission> for Permissions {
    fn from_iter<I: IntoIterator<Item = Permission>>(permissions: I) -> Self {
        Self(
            permissions
                .into_iter()
                .fold(0, |bits, permission| bits | 1 << permission as u8),
        )
    }
}

impl fmt::Display for Permissions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.iter().map(Permission::as_str).collect();
        f.write_str(&names.join(","))
    }
}

text_column!(Permissions, |text| text.parse());

impl FromStr for Permissions {
    type Err = StoreError;

    fn from_str(text: &str) -> Result<Self, StoreError> {
        text.split(',')
            .map(str::trim)
            .filter(|name| !name.is_empty())
            .map(str::parse::<Permission>)
            .collect()
    }
}

impl Serialize for Permissions {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'de> Deserialize<'de> for Permissions {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Vec::<Permission>::deserialize(deserializer)?
            .into_iter()
            .collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permissions_survive_their_text() {
        for bits in 0..32 {
            let permissions = Permissions(bits);
            assert_eq!(
                permissions.to_string().parse::<Permissions>().unwrap(),
                permissions
            );
        }
        assert!("speech,fly".parse::<Permissions>().is_err());
    }
}
