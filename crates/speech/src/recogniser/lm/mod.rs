//! The word language models: which word is likely after which.
//!
//! `LanguageModels` reads the packed file in place, one `Lm` for each language in it; `sauti-lab` builds it, with the layout
//! of these modules.

pub mod bits;
pub mod format;
pub mod letters;
pub mod lexicon;
mod models;
mod reader;

pub use letters::{LetterModel, LetterState};
pub use lexicon::{LEXICON_ROOT, LexiconView};
pub use models::LanguageModels;
pub use reader::{Lm, LmState};

/// Words that are not in the vocabulary.
pub const UNKNOWN: u32 = 0;
pub const SENTENCE_START: u32 = 1;
pub const SENTENCE_END: u32 = 2;
pub const FIRST_WORD: u32 = 3;
pub const ORDER_MAX: usize = 4;

/// Models of a few sentences, for tests; `sauti-lab` proves that it builds the same bytes.
#[cfg(test)]
pub(super) mod fixtures {
    use super::LanguageModels;

    fn bytes(name: &str) -> Vec<u8> {
        let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/recogniser");
        std::fs::read(dir.join(name)).unwrap()
    }

    pub(crate) fn small_lm() -> LanguageModels {
        LanguageModels::from_bytes(bytes("small.lm")).unwrap()
    }

    pub(crate) fn small_pair() -> LanguageModels {
        let file = LanguageModels::pack_pair(&bytes("small.lm"), &bytes("small-english.lm"));
        LanguageModels::from_bytes(file).unwrap()
    }
}
