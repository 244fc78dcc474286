//! The word language model: which word is likely after which.
//!
//! `build` estimates it from texts and packs it; `Lm` reads the packed file in place.

mod bits;
pub mod build;
mod corpus;
mod estimate;
mod format;
mod letters;
mod lexicon;
mod ngrams;
mod pack;
mod prune;
mod reader;
#[cfg(test)]
pub mod tests;

pub use build::{BuildConfig, BuildReport, Source, build};
pub use letters::{LetterModel, LetterState};
pub use lexicon::{LEXICON_ROOT, LexiconView};
pub use reader::{Lm, LmState};

/// Words that are not in the vocabulary.
pub const UNKNOWN: u32 = 0;
pub const SENTENCE_START: u32 = 1;
pub const SENTENCE_END: u32 = 2;
pub const FIRST_WORD: u32 = 3;
pub const ORDER_MAX: usize = 4;
