//! Spoken words back to written text: numbers as digits, capitals and marks.

mod english;
mod numerals;
mod readable;

pub use english::english_digits;
pub use numerals::{Written, digits, number};
pub use readable::{HeardWord, readable, readable_words};
