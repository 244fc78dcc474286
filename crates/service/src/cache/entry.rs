//! One piece of finished speech, and how it stands in a file.
//!
//! What was said is not in it: whoever asks brings the same script, and the words are read from
//! there. A file holds a mark, the length of a JSON head, the head, the audio, and a SHA-256 over
//! all of it: what was half written or has rotted is seen and thrown away.

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use sauti_speech::{ScriptTimes, Word};
use sauti_text::Script;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

const MARK: &[u8; 8] = b"SAUTI\x00c2";
const DIGEST_BYTES: usize = 32;

#[derive(Debug, Clone, PartialEq)]
pub struct CachedSpeech {
    pub seconds: f64,
    /// When it was made, in seconds since 1970.
    made_s: u64,
    times: ScriptTimes,
    pub audio: Bytes,
}

#[derive(Serialize, Deserialize)]
struct Head {
    seconds: f64,
    made_s: u64,
    times: ScriptTimes,
}

impl CachedSpeech {
    pub fn new(script: &Script, seconds: f64, said: &[Word], audio: Bytes) -> CachedSpeech {
        let mut times = ScriptTimes::default();
        times.add(script, said);
        CachedSpeech {
            seconds,
            made_s: now_s(),
            times,
            audio,
        }
    }

    /// The words, each with its start and end in seconds, by the script that this is the sound of.
    pub fn words<'a>(&'a self, script: &'a Script) -> impl Iterator<Item = (&'a str, f64, f64)> {
        self.times.words(script)
    }

    /// The marks of SSML, each with the second at which it is reached.
    pub fn marks<'a>(&'a self, script: &'a Script) -> impl Iterator<Item = (&'a str, f64)> {
        self.times.marks(script, Some(self.seconds))
    }

    #[cfg(test)]
    pub(crate) fn made_before(mut self, age: Duration) -> CachedSpeech {
        self.made_s -= age.as_secs();
        self
    }

    pub(crate) fn is_older_than(&self, age: Duration) -> bool {
        now_s().saturating_sub(self.made_s) > age.as_secs()
    }

    /// What it takes in memory, near enough.
    pub fn bytes(&self) -> usize {
        self.audio.len() + self.times.bytes() + 256
    }

    pub(crate) fn to_file(&self) -> Vec<u8> {
        let head = Head {
            seconds: self.seconds,
            made_s: self.made_s,
            times: self.times.clone(),
        };
        let head = serde_json::to_vec(&head).unwrap_or_default();
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

    pub(crate) fn from_file(file: Vec<u8>) -> Option<CachedSpeech> {
        let file = Bytes::from(file);
        let signed = file.len().checked_sub(DIGEST_BYTES)?;
        if Sha256::digest(&file[..signed])[..] != file[signed..] {
            return None;
        }
        let rest = file.slice(..signed);
        let head_len = rest.strip_prefix(MARK)?.first_chunk::<4>()?;
        let head_start = MARK.len() + 4;
        let head_end = head_start.checked_add(u32::from_le_bytes(*head_len) as usize)?;
        let head: Head = serde_json::from_slice(rest.get(head_start..head_end)?).ok()?;
        Some(CachedSpeech {
            seconds: head.seconds,
            made_s: head.made_s,
            times: head.times,
            audio: rest.slice(head_end..),
        })
    }
}

fn now_s() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

#[cfg(test)]
pub(super) fn sample(audio: Vec<u8>) -> CachedSpeech {
    let script = Script::from_text("Habari yako.", &sauti_text::Lexicon::builtin()).unwrap();
    let said = |word: &str, start, end| Word {
        word: word.into(),
        start,
        end,
        confidence: 1.0,
        ..Word::default()
    };
    let said = [said("Habari", 0.0, 0.5), said("yako", 0.5, 0.9)];
    CachedSpeech::new(&script, 1.0, &said, Bytes::from(audio))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_reads_back() {
        let speech = sample(b"RIFF....".to_vec());
        assert_eq!(CachedSpeech::from_file(speech.to_file()), Some(speech));
    }

    #[test]
    fn a_file_holds_no_word_and_the_script_gives_them_back() {
        let speech = sample(b"RIFF....".to_vec());
        let file = speech.to_file();
        for word in ["abari", "yako"] {
            let found = file.windows(word.len()).any(|part| part == word.as_bytes());
            assert!(!found, "{word} stands in the file");
        }
        let script = Script::from_text("Habari yako.", &sauti_text::Lexicon::builtin()).unwrap();
        let speech = CachedSpeech::from_file(file).unwrap();
        assert_eq!(speech.words(&script).nth(1), Some(("yako", 0.5, 0.9)));
    }

    #[test]
    fn a_file_cut_anywhere_or_with_any_bit_turned_is_refused() {
        let file = sample(b"RIFF....".to_vec()).to_file();
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
