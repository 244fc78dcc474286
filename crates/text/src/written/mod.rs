//! Spoken words back to written text: numbers as digits.

mod english;
mod numerals;

pub use english::english_digits;
pub use numerals::{Written, digits, number};
