//! One piece of finished speech, and how it stands in a file.
//!
//! What was said is not in it: whoever asks brings the same script, and the words are read from
//! there. A file holds a mark, the length of a JSON head, the head, the audio, and a SHA-256 over
//! all of it: what was half written or has rotted is seen and thrown away.

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use sauti_speech::Word;
use sauti_text::{Script, SpokenWord};
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

/// A word and when it is said, in seconds from the start.
#[derive(Debug, Clone, PartialEq, Serialize, utoipa::ToSchema)]
#[schema(as = SpokenWord)]
pub struct TimedWord {
    pub word: String,
    pub start: f64,
    pub end: f64,
}

impl From<Word> for TimedWord {
    fn from(word: Word) -> TimedWord {
        TimedWord {
            word: word.word,
            start: word.start,
            end: word.end,
        }
    }
}

/// A `mark` of SSML and when it is reached, in seconds from the start.
#[derive(Debug, Clone, PartialEq, Serialize, utoipa::ToSchema)]
#[schema(as = SpokenMark)]
pub struct TimedMark {
    pub name: String,
    pub time: f64,
}

/// The place of each word among those of the script, and when it is said.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ScriptTimes(Vec<(u32, f64, f64)>);

impl ScriptTimes {
    /// Adds words as the voice said them: those of the script in their order, but for those that have no sound.
    pub fn add(&mut self, script: &Script, said: &[Word]) {
        let begin = self.0.last().map_or(0, |(place, ..)| *place as usize + 1);
        let mut places = words(script).enumerate().skip(begin);
        self.0.extend(said.iter().filter_map(|word| {
            let (place, _) = places.find(|(_, known)| known.text == word.word)?;
            Some((u32::try_from(place).ok()?, word.start, word.end))
        }));
    }

    /// When the script's marks are reached, as far as its words are known; all of them once the whole length is.
    pub fn marks(&self, script: &Script, seconds: Option<f64>) -> Vec<TimedMark> {
        let reached = script.marks.iter().map_while(|mark| {
            let is_before = |place: u32| (place as usize) < mark.words_before;
            let next = self.0.partition_point(|(place, ..)| is_before(*place));
            let next_start = self.0.get(next).map(|(_, start, _)| *start).or(seconds)?;
            let time = match (mark.before_break, next.checked_sub(1)) {
                (true, Some(before)) => self.0[before].2,
                (true, None) => 0.0,
                (false, _) => next_start,
            };
            let name = mark.name.clone();
            Some(TimedMark { name, time })
        });
        reached.collect()
    }
}

fn words(script: &Script) -> impl Iterator<Item = &SpokenWord> {
    script.clauses.iter().flat_map(|clause| &clause.words)
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

    /// The words with their times, by the script that this is the sound of.
    pub fn words(&self, script: &Script) -> Vec<TimedWord> {
        let known: Vec<&SpokenWord> = words(script).collect();
        let timed = self.times.0.iter().filter_map(|(place, start, end)| {
            Some(TimedWord {
                word: known.get(*place as usize)?.text.clone(),
                start: *start,
                end: *end,
            })
        });
        timed.collect()
    }

    pub fn marks(&self, script: &Script) -> Vec<TimedMark> {
        self.times.marks(script, Some(self.seconds))
    }

    #[cfg(test)]
    pub fn made_before(mut self, age: Duration) -> CachedSpeech {
        self.made_s -= age.as_secs();
        self
    }

    pub fn is_older_than(&self, age: Duration) -> bool {
        now_s().saturating_sub(self.made_s) > age.as_secs()
    }

    /// What it takes in memory, near enough.
    pub fn bytes(&self) -> usize {
        self.audio.len() + self.times.0.len() * size_of::<(u32, f64, f64)>() + 256
    }

    pub fn to_file(&self) -> Vec<u8> {
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
        let words = CachedSpeech::from_file(file).unwrap().words(&script);
        assert_eq!(words[1].word, "yako");
        assert_eq!((words[1].start, words[1].end), (0.5, 0.9));
    }

    #[test]
    fn marks_are_reached_with_their_words_and_before_their_breaks() {
        let ssml = "<speak><mark name='a'/>Habari<mark name='b'/><break/><mark name='c'/> yako\
            <mark name='d'/></speak>";
        let script = Script::from_ssml(ssml, &sauti_text::Lexicon::builtin()).unwrap();
        let of = |marks: Vec<TimedMark>| -> Vec<(String, f64)> {
            marks
                .into_iter()
                .map(|mark| (mark.name, mark.time))
                .collect()
        };
        let times = [("a", 0.1), ("b", 0.5), ("c", 0.9), ("d", 1.5)];
        let times = times.map(|(name, time)| (name.to_owned(), time));
        let said = |word: &str, start, end| Word {
            word: word.into(),
            start,
            end,
            ..Word::default()
        };
        let mut known = ScriptTimes::default();
        assert_eq!(of(known.marks(&script, None)), []);
        known.add(&script, &[said("Habari", 0.1, 0.5)]);
        assert_eq!(of(known.marks(&script, None)), times[..1]);
        known.add(&script, &[said("yako", 0.9, 1.4)]);
        assert_eq!(of(known.marks(&script, None)), times[..3]);
        assert_eq!(of(known.marks(&script, Some(1.5))), times);
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
