//! One piece of finished speech, and how it stands in a file.
//!
//! A file holds a mark, the length of a JSON head, the head, the audio, and a SHA-256 over all of
//! it: what was half written or has rotted is seen and thrown away.

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

const MARK: &[u8; 8] = b"SAUTI\x00c1";
const DIGEST_BYTES: usize = 32;

#[derive(Debug, Clone, PartialEq)]
pub struct CachedSpeech {
    pub head: Head,
    pub audio: Bytes,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Head {
    pub seconds: f64,
    /// What was said, in words.
    pub spoken: String,
    pub words: Vec<HeadWord>,
}

/// A word and when it is said, in seconds from the start.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = SpokenWord)]
pub struct HeadWord {
    pub word: String,
    pub start: f64,
    pub end: f64,
}

impl CachedSpeech {
    /// What it takes in memory, near enough.
    pub fn bytes(&self) -> usize {
        self.audio.len() + self.head.spoken.len() + self.head.words.len() * 64 + 256
    }

    pub fn to_file(&self) -> Vec<u8> {
        let head = serde_json::to_vec(&self.head).unwrap_or_default();
        let mut file =
            Vec::with_capacity(MARK.len() + 4 + head.len() + self.audio.len() + DIGEST_BYTES);
        file.extend_from_slice(MARK);
        file.extend_from_slice(&(head.len() as u32).to_le_bytes());
        file.extend_from_slice(&head);
        file.extend_from_slice(&self.audio);
        let digest = Sha256::digest(&file);
        file.extend_from_slice(&digest);
        file
    }

    pub fn from_file(file: Vec<u8>) -> Option<CachedSpeech> {
        let file = Bytes::from(file);
        let signed = file.len().checked_sub(DIGEST_BYTES)?;
        if Sha256::digest(&file[..signed])[..] != file[signed..] {
            return None;
        }
        let rest = file.slice(..signed);
        let head_len = rest.strip_prefix(MARK)?.first_chunk::<4>()?;
        let head_start = MARK.len() + 4;
        let head_end = head_start.checked_add(u32::from_le_bytes(*head_len) as usize)?;
        let head = serde_json::from_slice(rest.get(head_start..head_end)?).ok()?;
        Some(CachedSpeech {
            head,
            audio: rest.slice(head_end..),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> CachedSpeech {
        let words = vec![HeadWord {
            word: "habari".into(),
            start: 0.0,
            end: 0.5,
        }];
        let head = Head {
            seconds: 0.5,
            spoken: "habari".into(),
            words,
        };
        CachedSpeech {
            head,
            audio: Bytes::from_static(b"RIFF...."),
        }
    }

    #[test]
    fn what_was_written_reads_back() {
        assert_eq!(CachedSpeech::from_file(sample().to_file()), Some(sample()));
    }

    #[test]
    fn a_file_cut_anywhere_or_with_any_bit_turned_is_refused() {
        let file = sample().to_file();
        for cut in 0..file.len() {
            assert_eq!(CachedSpeech::from_file(file[..cut].to_vec()), None);
        }
        for at in 0..file.len() {
            let mut rotten = file.clone();
            rotten[at] ^= 1;
            assert_eq!(CachedSpeech::from_file(rotten), None);
        }
    }
}
