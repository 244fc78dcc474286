//! The text of a key: `sauti_<env>_<id>_<secret><crc>`. The checksum lets a mistyped key be refused without a query.

use std::fmt;

use secrecy::{ExposeSecret, SecretString};

use crate::ids::{base62, hash_hex, random_base62};
use crate::text_columns::text_enum;
use crate::{AuthError, KeyId, StoreError};

const SECRET_LENGTH: usize = 32;
const CRC_LENGTH: usize = 6;
const ID_LENGTH: usize = 26;

text_enum! {
    pub enum Environment ("environment") {
        Live = "live",
        Test = "test",
    }
}

/// A well-formed key. Its `Debug` shows the id only.
#[derive(Clone)]
pub struct ApiKey {
    environment: Environment,
    id: KeyId,
    text: SecretString,
}

impl ApiKey {
    pub fn generate(environment: Environment) -> Result<Self, StoreError> {
        let id = KeyId::generate();
        let body = format!(
            "sauti_{}_{}_{}",
            environment.as_str(),
            &id.as_str()["key_".len()..],
            random_base62(SECRET_LENGTH)?
        );
        let text = format!("{body}{}", checksum(&body)).into();
        Ok(Self {
            environment,
            id,
            text,
        })
    }

    pub fn parse(text: &str) -> Result<Self, AuthError> {
        let malformed = || AuthError::Malformed;
        if !text.is_ascii() || text.len() > 128 {
            return Err(malformed());
        }
        let mut parts = text.split('_');
        let (Some("sauti"), Some(environment), Some(id), Some(secret), None) = (
            parts.next(),
            parts.next(),
            parts.next(),
            parts.next(),
            parts.next(),
        ) else {
            return Err(malformed());
        };
        let environment = environment.parse().map_err(|_| malformed())?;
        if id.len() != ID_LENGTH || secret.len() != SECRET_LENGTH + CRC_LENGTH {
            return Err(malformed());
        }
        let (body, crc) = text.split_at(text.len() - CRC_LENGTH);
        if checksum(body) != crc {
            return Err(malformed());
        }
        Ok(Self {
            environment,
            id: format!("key_{id}").parse().map_err(|_| malformed())?,
            text: text.into(),
        })
    }

    pub fn id(&self) -> &KeyId {
        &self.id
    }

    pub fn environment(&self) -> Environment {
        self.environment
    }

    /// The whole key, to be shown to its owner once.
    pub fn reveal(&self) -> &str {
        self.text.expose_secret()
    }

    pub fn last_four(&self) -> &str {
        let text = self.text.expose_secret();
        &text[text.len() - 4..]
    }

    /// What the database keeps: SHA-256 of the whole text. The secret has 190 random bits, so no slow hash is needed.
    pub(crate) fn hash(&self) -> String {
        hash_hex(self.text.expose_secret())
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApiKey")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

fn checksum(body: &str) -> String {
    base62(crc32(body.as_bytes()), CRC_LENGTH)
}

/// CRC-32 (IEEE 802.3), bit by bit: some eighty bytes a request need no table.
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            (crc >> 1) ^ (0xEDB8_8320 & (crc & 1).wrapping_neg())
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_the_usual_crc() {
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
    }

    #[test]
    fn a_key_survives_its_text() {
        let key = ApiKey::generate(Environment::Test).unwrap();
        let again = ApiKey::parse(key.reveal()).unwrap();
        assert_eq!(
            (again.id(), again.environment(), again.hash()),
            (key.id(), Environment::Test, key.hash())
        );
        assert!(!format!("{key:?}").contains(&key.reveal()[50..]));
    }

    #[test]
    fn every_single_changed_letter_is_noticed() {
        let key = ApiKey::generate(Environment::Live).unwrap();
        for at in 0..key.reveal().len() {
            let mut text = key.reveal().as_bytes().to_vec();
            text[at] = if text[at] == b'x' { b'y' } else { b'x' };
            assert!(
                ApiKey::parse(std::str::from_utf8(&text).unwrap()).is_err(),
                "at {at}"
            );
        }
    }

    #[test]
    fn nonsense_is_malformed() {
        for text in [
            "",
            "sauti",
            "sauti_live_a_b",
            "sk-abc",
            "sauti_live__",
            "ñ",
            &"_".repeat(500),
        ] {
            assert!(
                matches!(ApiKey::parse(text), Err(AuthError::Malformed)),
                "{text}"
            );
        }
    }
}
