//! Identifiers, clocks, random tokens and their hashes.

use sha2::{Digest, Sha256};

/// Crockford's alphabet: sorts like the number, no letters that look alike.
const BASE32: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// `prefix` plus 26 characters of a version 7 UUID: later ids sort after earlier ones of the same process.
pub fn new_id(prefix: &str) -> String {
    let number = uuid::Uuid::now_v7().as_u128();
    let mut id = String::with_capacity(prefix.len() + 26);
    id.push_str(prefix);
    for digit in (0..26).rev() {
        id.push(BASE32[(number >> (digit * 5)) as usize & 31] as char);
    }
    id
}

/// Microseconds since 1970, UTC.
pub fn now_us() -> i64 {
    jiff::Timestamp::now().as_microsecond()
}

/// The UTC day of a moment, `YYYY-MM-DD`.
pub fn day_of(at_us: i64) -> String {
    jiff::Timestamp::from_microsecond(at_us)
        .map(|moment| moment.to_zoned(jiff::tz::TimeZone::UTC).date().to_string())
        .unwrap_or_else(|_| "1970-01-01".to_owned())
}

/// Random letters and digits, each worth 5.95 bits.
pub(crate) fn random_base62(length: usize) -> Result<String, getrandom::Error> {
    let mut text = String::with_capacity(length);
    let mut bytes = [0u8; 64];
    while text.len() < length {
        getrandom::fill(&mut bytes)?;
        // 248 is the largest multiple of 62 in a byte: higher values would favour the first letters.
        let fair = bytes
            .iter()
            .filter(|byte| **byte < 248)
            .map(|byte| BASE62[*byte as usize % 62] as char);
        text.extend(fair.take(length - text.len()));
    }
    Ok(text)
}

pub(crate) fn base62(mut number: u32, length: usize) -> String {
    let mut digits = vec![b'0'; length];
    for digit in digits.iter_mut().rev() {
        *digit = BASE62[number as usize % 62];
        number /= 62;
    }
    String::from_utf8_lossy(&digits).into_owned()
}

/// SHA-256 as 64 hex digits. Enough for secrets of 128 random bits and more; passwords go through [`crate::password`].
pub fn hash_hex(secret: &str) -> String {
    hex::encode(Sha256::digest(secret.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_carry_their_prefix_and_sort_by_age() {
        let ids: Vec<_> = (0..1000).map(|_| new_id("ws_")).collect();
        assert!(ids.iter().all(|id| id.starts_with("ws_") && id.len() == 29));
        assert!(ids.is_sorted());
    }

    #[test]
    fn random_text_has_the_length_asked_for_and_differs() {
        let (one, other) = (random_base62(43).unwrap(), random_base62(43).unwrap());
        assert_eq!(one.len(), 43);
        assert_ne!(one, other);
    }

    #[test]
    fn a_day_is_the_utc_day() {
        assert_eq!(day_of(0), "1970-01-01");
        assert_eq!(day_of(1_709_251_199_999_999), "2024-02-29");
    }

    #[test]
    fn hashes_match_the_published_vector() {
        assert_eq!(
            hash_hex("abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }
}
