//! Swahili text, and English in it, both ways: written text to spoken words and phonemes, and spoken words back to
//! written text.
//!
//! Pure functions without state, files or threads. This crate knows nothing of audio, models or requests: it hands a
//! [`Script`] to whoever speaks it.

#![warn(unreachable_pub)]

mod builder;
mod cardinal;
mod clean;
pub mod compare;
mod edges;
mod english;
mod error;
mod flow;
mod language;
mod letters;
mod lexicon;
mod normalise;
mod phonemes;
mod prosody;
mod rhythm;
mod say_as;
mod script;
mod shape;
mod ssml;
mod ssml_mistake;
mod tables;
pub mod written;

pub use builder::CLAUSE_PHONEMES_MAX;
pub use cardinal::{TENS as SWAHILI_TENS, UNITS as SWAHILI_UNITS, cardinal};
pub use english::{TENS as ENGLISH_TENS, UNITS as ENGLISH_UNITS};
pub use error::TextError;
pub use language::{SpeechLanguage, UnknownSpeechLanguage};
pub use lexicon::{Lexicon, LexiconEntry, LexiconError};
pub use normalise::{normalise, normalise_in};
pub use phonemes::swahili_phonemes;
pub use prosody::Prosody;
pub use script::{Clause, ClauseEnd, Script, SpokenWord, SsmlMark};
pub use ssml_mistake::SsmlMistake;

/// The longest text that is taken, in characters. A service's own limit may be lower.
pub const CHARACTERS_MAX: usize = 100_000;
