//! What a voice says: clauses of words with their phonemes.

use std::ops::Range;

use crate::{CHARACTERS_MAX, Lexicon, TextError, normalise, swahili_phonemes};

/// The mark that closes a clause; it decides melody and pause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ClauseEnd {
    Comma,
    Colon,
    Full,
    Question,
    Exclamation,
    /// The clause was cut for its length, or by a break: speech goes on.
    None,
}

/// One word as it is spoken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpokenWord {
    pub text: String,
    /// IPA without spaces, the stress mark right before the stressed vowel.
    pub phonemes: String,
    /// The bytes of the caller's text this word was read from. Words of one number share their range.
    pub source: Range<usize>,
}

/// A stretch of speech between two pauses.
#[derive(Debug, Clone, PartialEq)]
pub struct Clause {
    pub words: Vec<SpokenWord>,
    pub end: ClauseEnd,
    /// A pause the caller asked for; `None` leaves it to the voice.
    pub break_after_ms: Option<u32>,
    /// Speed relative to the voice's own, from SSML.
    pub rate: f32,
}

/// A whole text, ready for a voice.
#[derive(Debug, Clone, PartialEq)]
pub struct Script {
    pub clauses: Vec<Clause>,
}

impl Script {
    pub fn from_text(text: &str, _lexicon: &Lexicon) -> Result<Self, TextError> {
        let characters = text.chars().count();
        if text.trim().is_empty() {
            return Err(TextError::Empty);
        }
        if characters > CHARACTERS_MAX {
            return Err(TextError::TooLong {
                characters,
                characters_max: CHARACTERS_MAX,
            });
        }
        let mut clauses = Vec::new();
        let mut words = Vec::new();
        for token in normalise(text).split_whitespace() {
            let phonemes = swahili_phonemes(token);
            if !phonemes.is_empty() {
                let word = token
                    .trim_matches(|c: char| !c.is_alphanumeric())
                    .to_owned();
                words.push(SpokenWord {
                    text: word,
                    phonemes,
                    source: 0..text.len(),
                });
            }
            let end = match token.chars().last() {
                Some(',' | ';') => ClauseEnd::Comma,
                Some(':') => ClauseEnd::Colon,
                Some('.') => ClauseEnd::Full,
                Some('?') => ClauseEnd::Question,
                Some('!') => ClauseEnd::Exclamation,
                _ => continue,
            };
            if !words.is_empty() {
                clauses.push(Clause {
                    words: std::mem::take(&mut words),
                    end,
                    break_after_ms: None,
                    rate: 1.0,
                });
            }
        }
        if !words.is_empty() {
            clauses.push(Clause {
                words,
                end: ClauseEnd::Full,
                break_after_ms: None,
                rate: 1.0,
            });
        }
        if clauses.is_empty() {
            Err(TextError::NothingSpeakable)
        } else {
            Ok(Self { clauses })
        }
    }

    pub fn from_ssml(ssml: &str, lexicon: &Lexicon) -> Result<Self, TextError> {
        Self::from_text(ssml, lexicon)
    }

    /// The words as they are said, with the marks that end the clauses.
    pub fn spoken(&self) -> String {
        let mut out = String::new();
        for clause in &self.clauses {
            for word in &clause.words {
                if !out.is_empty() {
                    out.push(' ');
                }
                out.push_str(&word.text);
            }
            out.push_str(match clause.end {
                ClauseEnd::Comma => ",",
                ClauseEnd::Colon => ":",
                ClauseEnd::Full => ".",
                ClauseEnd::Question => "?",
                ClauseEnd::Exclamation => "!",
                ClauseEnd::None => "",
            });
        }
        out
    }

    /// The length of the spoken text in characters.
    pub fn characters(&self) -> usize {
        self.spoken().chars().count()
    }
}
