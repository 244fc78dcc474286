//! The token that a page has to send back with every change.

use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

const BYTES: usize = 32;

/// Follows from the session's token, which a page of another site can make the browser send but
/// cannot read.
pub fn csrf_token(session_token: &str) -> String {
    hex::encode(digest(session_token))
}

/// The same token under a new mask each time: pages are compressed, and how well a page compresses
/// must not tell what stands in it.
pub fn masked_csrf_token(session_token: &str) -> String {
    let token = digest(session_token);
    let mut mask = [0u8; BYTES];
    match getrandom::fill(&mut mask) {
        Ok(()) => hex::encode(mask) + &hex::encode(combined(&mask, &token)),
        Err(_) => hex::encode(token),
    }
}

/// Whether this is the session's token, masked or not.
pub fn is_csrf_token(session_token: &str, given: &[u8]) -> bool {
    let token = digest(session_token);
    let given = match hex::decode(given) {
        Ok(bytes) if bytes.len() == 2 * BYTES => combined(&bytes[..BYTES], &bytes[BYTES..]),
        Ok(bytes) => bytes,
        Err(_) => return false,
    };
    bool::from(token.as_slice().ct_eq(given.as_slice()))
}

fn digest(session_token: &str) -> Vec<u8> {
    let mut digest = Sha256::new();
    digest.update(b"sauti csrf\0");
    digest.update(session_token);
    digest.finalize().to_vec()
}

fn combined(mask: &[u8], token: &[u8]) -> Vec<u8> {
    mask.iter().zip(token).map(|(a, b)| a ^ b).collect()
}

/// 128 random bits for a form of someone who has no session yet.
pub fn visit_token() -> Option<String> {
    let mut bytes = [0u8; 16];
    getrandom::fill(&mut bytes).ok()?;
    Some(hex::encode(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_masked_token_is_never_the_same_and_always_taken() {
        let (one, two) = (masked_csrf_token("session"), masked_csrf_token("session"));
        assert_ne!(one, two);
        for token in [one, two, csrf_token("session")] {
            assert!(is_csrf_token("session", token.as_bytes()));
            assert!(!is_csrf_token("another", token.as_bytes()));
        }
    }

    #[test]
    fn nothing_else_is_taken() {
        let zeros = "0".repeat(128);
        for wrong in ["", "0", "zz", "é", &zeros[..64], &zeros, &zeros[..127]] {
            assert!(!is_csrf_token("session", wrong.as_bytes()), "{wrong}");
        }
    }
}
