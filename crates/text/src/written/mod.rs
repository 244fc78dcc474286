//! Spoken words back to written text: numbers as digits.

mod english;
mod numerals;

pub use english::{english_digits, english_number};
pub use numerals::{Written, digits, number};
