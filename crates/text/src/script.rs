//! What a voice says: clauses of words with their phonemes.

use std::ops::Range;

use crate::builder::ScriptBuilder;
use crate::{CHARACTERS_MAX, Lexicon, TextError, ssml};

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

impl ClauseEnd {
    /// The mark as it is written.
    pub fn mark(self) -> &'static str {
        match self {
            Self::Comma => ",",
            Self::Colon => ":",
            Self::Full => ".",
            Self::Question => "?",
            Self::Exclamation => "!",
            Self::None => "",
        }
    }
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

/// A stretch of speech between two pauses. It always has a word.
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
    /// Reads plain text. Markup and emoji are passed over; letters of other scripts are an error that names them.
    pub fn from_text(text: &str, lexicon: &Lexicon) -> Result<Self, TextError> {
        check_length(text)?;
        let mut builder = ScriptBuilder::new(lexicon);
        builder.text(text, 0);
        builder.finish()
    }

    /// Reads the SSML subset: speak, p, s, break, say-as, sub, prosody (rate), phoneme (ipa).
    pub fn from_ssml(ssml: &str, lexicon: &Lexicon) -> Result<Self, TextError> {
        check_length(ssml)?;
        let mut builder = ScriptBuilder::new(lexicon);
        ssml::read(ssml, &mut builder)?;
        builder.finish()
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
            out.push_str(clause.end.mark());
        }
        out
    }

    /// The length of the spoken text in characters.
    pub fn characters(&self) -> usize {
        self.spoken().chars().count()
    }
}

fn check_length(text: &str) -> Result<(), TextError> {
    if text.trim().is_empty() {
        return Err(TextError::Empty);
    }
    let characters = text.chars().count();
    if characters > CHARACTERS_MAX {
        return Err(TextError::TooLong {
            characters,
            characters_max: CHARACTERS_MAX,
        });
    }
    Ok(())
}
