//! A hash over several parts.

use sha2::{Digest, Sha256};

/// SHA-256. Each part is preceded by its length, so that no two lists of parts read the same.
pub(crate) fn digest_of(parts: &[&[u8]]) -> [u8; 32] {
    let mut digest = Sha256::new();
    for part in parts {
        digest.update((part.len() as u64).to_le_bytes());
        digest.update(part);
    }
    digest.finalize().into()
}
