//! Builds the word language models that `sauti_speech::recogniser::lm` reads: counts n-grams,
//! estimates a mixture of the texts, prunes it and packs it.

mod bits;
mod build;
mod corpus;
mod estimate;
mod letters;
mod lexicon;
mod ngrams;
mod pack;
mod prune;
#[cfg(test)]
mod tests;

pub use build::{
    BuildConfig, BuildReport, LanguageReport, LanguageTexts, SourceReport, TextSource, build,
};
