//! From a written text to what will be said. What is said is what is priced: a quote and its
//! charge come from the same [`Reading`].

use std::sync::Arc;

use sauti_speech::Speed;
use sauti_store::WorkspaceId;
use sauti_text::{Lexicon, Script, SpeechLanguage, TextError};
use sha2::{Digest, Sha256};

use super::SpeechRequest;
use super::request::characters_max;
use crate::ServiceError;
use crate::cache::{CacheKey, Memory};
use crate::config::{Limits, Prices};
use crate::lexicons::VersionedLexicon;
use crate::money::Bill;

/// What all readings that are remembered may take in memory.
const READINGS_BYTES_MAX: usize = 32 * 1024 * 1024;
const WORD_BYTES: usize = 160;

/// A text to be read, and how fast it will be said.
#[derive(Debug, Clone, Copy)]
pub struct Passage<'a> {
    pub text: &'a str,
    pub is_ssml: bool,
    pub language: SpeechLanguage,
    pub speed: Speed,
}

/// A text as a voice will say it.
#[derive(Debug)]
pub struct Reading {
    pub script: Script,
    /// What it is billed as: the characters of the spoken text.
    pub characters: usize,
    /// A hash over everything in the script.
    identity: [u8; 32],
}

impl Reading {
    pub fn new(passage: Passage<'_>, lexicon: &Lexicon) -> Result<Reading, ServiceError> {
        let script = match passage.is_ssml {
            true => Script::from_ssml_in(passage.text, lexicon, passage.language)?,
            false => Script::from_text_in(passage.text, lexicon, passage.language)?,
        };
        Ok(Reading {
            characters: script.characters(),
            identity: Sha256::digest(script.identity()).into(),
            script,
        })
    }

    pub fn bill(&self, prices: &Prices, cached: bool) -> Bill {
        Bill::speech(prices, self.characters, cached)
    }

    /// A hash over everything that will be said.
    pub fn identity(&self) -> &[u8; 32] {
        &self.identity
    }

    /// Names the sound: two texts that are said the same way share it, in one workspace. Another one would learn by a hit
    /// that somebody said this before. `None` for what the service itself says.
    pub fn key(&self, owner: Option<&WorkspaceId>, request: &SpeechRequest) -> CacheKey {
        CacheKey::of(&[
            owner.map_or("", WorkspaceId::as_str).as_bytes(),
            &self.identity,
            request.voice_id.as_bytes(),
            request.voice_version.as_bytes(),
            &request.direction.speed.get().to_le_bytes(),
            &request.direction.pitch.get().to_le_bytes(),
            &request.direction.volume.get().to_le_bytes(),
            request.format.name().as_bytes(),
        ])
    }

    /// For each word that has a text, how many characters have been said when it ends.
    pub(crate) fn characters_by_word(&self) -> Vec<usize> {
        let mut said = 0;
        let mut ends = Vec::new();
        for word in self.script.clauses.iter().flat_map(|clause| &clause.words) {
            said += word.characters() + usize::from(said > 0);
            if !word.text.is_empty() {
                ends.push(said);
            }
        }
        ends
    }

    fn bytes(&self) -> usize {
        let words = self.script.clauses.iter().map(|clause| clause.words.len());
        (words.sum::<usize>() + self.script.marks.len()) * WORD_BYTES + 256
    }
}

/// Reads texts, and remembers what was read lately: a prompt that is asked for again and again is
/// read once.
#[derive(Debug)]
pub struct Reader {
    readings: Memory<Reading>,
}

impl Default for Reader {
    fn default() -> Reader {
        Reader {
            readings: Memory::new(READINGS_BYTES_MAX),
        }
    }
}

impl Reader {
    /// The one way from a text to what is said and priced. Quick: it is done before any money is touched.
    pub fn read(
        &self,
        limits: &Limits,
        passage: Passage<'_>,
        lexicon: &VersionedLexicon,
    ) -> Result<Arc<Reading>, ServiceError> {
        let (characters, characters_max) = (
            passage.text.trim().chars().count(),
            characters_max(limits, passage.is_ssml),
        );
        if characters > characters_max {
            return Err(TextError::TooLong {
                characters,
                characters_max,
            }
            .into());
        }
        let kind: &[u8] = if passage.is_ssml { b"ssml" } else { b"text" };
        let name = CacheKey::of(&[
            kind,
            passage.language.name().as_bytes(),
            &lexicon.version,
            passage.text.as_bytes(),
        ]);
        let reading = match self.readings.get(&name) {
            Some(reading) => reading,
            None => {
                let reading = Arc::new(Reading::new(passage, &lexicon.lexicon)?);
                self.readings
                    .put(name, Arc::clone(&reading), reading.bytes());
                reading
            }
        };
        let seconds = reading.script.seconds_estimate(passage.speed.get()).ceil() as u64;
        match seconds > limits.speech_seconds_max {
            true => Err(ServiceError::SpeechTooLong {
                seconds,
                seconds_max: limits.speech_seconds_max,
            }),
            false => Ok(reading),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    fn read(text: &str) -> Result<Arc<Reading>, ServiceError> {
        let limits = Config::with_overrides(&[]).unwrap().limits;
        let passage = Passage {
            text,
            is_ssml: false,
            language: SpeechLanguage::default(),
            speed: Speed::default(),
        };
        Reader::default().read(&limits, passage, &VersionedLexicon::builtin())
    }

    #[test]
    fn what_is_said_is_billed_and_not_what_is_written() {
        assert_eq!(read("Nina 5.").unwrap().characters, "Nina tano.".len());
        assert_eq!(read(&"a".repeat(5_000)).unwrap().characters, "aa.".len());
    }

    #[test]
    fn a_pronunciation_of_ones_own_does_not_make_a_long_speech_cheap() {
        let sounds = "habarizaasubuhi".repeat(10);
        let limits = Config::with_overrides(&[]).unwrap().limits;
        let passage = Passage {
            text: &format!("<speak><phoneme alphabet=\"ipa\" ph=\"{sounds}\">x</phoneme></speak>"),
            is_ssml: true,
            language: SpeechLanguage::default(),
            speed: Speed::default(),
        };
        let lexicon = VersionedLexicon::builtin();
        let reading = Reader::default().read(&limits, passage, &lexicon);
        assert_eq!(reading.unwrap().characters, sounds.len() / 2 + 1);
    }

    #[test]
    fn one_text_in_two_languages_is_two_readings() {
        let (reader, lexicon) = (Reader::default(), VersionedLexicon::builtin());
        let limits = Config::with_overrides(&[]).unwrap().limits;
        let said = |language| {
            let passage = Passage {
                text: "Page 3.",
                is_ssml: false,
                language,
                speed: Speed::default(),
            };
            reader
                .read(&limits, passage, &lexicon)
                .unwrap()
                .script
                .spoken()
        };
        assert_eq!(said(SpeechLanguage::Swahili), "Page tatu.");
        assert_eq!(said(SpeechLanguage::English), "Page three.");
    }

    #[test]
    fn an_english_word_is_billed_by_its_letters_as_any_other() {
        let text = "Nimetumia laptop ku-download assignment.";
        let spoken = "Nimetumia laptop ku download assignment.";
        assert_eq!(read(text).unwrap().characters, spoken.len());
    }

    #[test]
    fn a_short_text_that_takes_an_hour_to_say_is_refused() {
        let refused = read(&"%a ".repeat(1_666));
        assert!(matches!(refused, Err(ServiceError::SpeechTooLong { .. })));
        let longest = "baba ".repeat(1_000);
        assert_eq!(read(longest.trim()).unwrap().characters, 5_000);
    }

    #[test]
    fn the_last_word_ends_with_the_text_but_for_its_mark() {
        let reading = read("Habari yako, rafiki.").unwrap();
        let ends = reading.characters_by_word();
        assert_eq!(ends.first(), Some(&6));
        assert!(ends.last().unwrap() <= &reading.characters);
        assert_eq!(ends.len(), 3);
    }
}
