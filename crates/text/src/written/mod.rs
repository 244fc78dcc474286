//! Spoken words back to written text: numbers as digits, capitals and marks.

mod numerals;
mod readable;

pub use numerals::{Written, digits, number};
pub use readable::{HeardWord, readable, readable_words};
