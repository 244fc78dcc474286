//! Recognised words as text that a person would write.

use sauti_text::written::{self, HeardWord};

use crate::Word;

/// Words closer together than this belong to one phrase: a spoken number never spans a longer gap.
const PHRASE_GAP_S: f64 = 0.5;
/// What a sentence's end sounds like when nothing follows.
const FULL_STOP_MS: u32 = 2_000;

/// Capitals, punctuation, numbers as asked.
pub fn readable(words: &[Word], digits: bool, ends_sentence: bool) -> String {
    let mut tokens: Vec<(String, u32)> = Vec::new();
    let mut phrase: Vec<&str> = Vec::new();
    for (i, word) in words.iter().enumerate() {
        phrase.push(&word.word);
        let gap = words
            .get(i + 1)
            .map(|next| (next.start - word.end).max(0.0));
        if gap.is_some_and(|gap| gap < PHRASE_GAP_S) {
            continue;
        }
        let pause_ms = match gap {
            Some(gap) => (gap * 1000.0) as u32,
            None if ends_sentence => FULL_STOP_MS,
            None => 0,
        };
        let written = match digits {
            true => written::digits(&phrase),
            false => phrase.iter().map(|word| (*word).to_owned()).collect(),
        };
        tokens.extend(written.into_iter().map(|token| (token, 0)));
        if let Some(last) = tokens.last_mut() {
            last.1 = pause_ms;
        }
        phrase.clear();
    }
    let heard: Vec<HeardWord<'_>> = tokens
        .iter()
        .map(|(text, pause_after_ms)| HeardWord {
            text,
            pause_after_ms: *pause_after_ms,
        })
        .collect();
    written::readable(&heard)
}

/// The texts of a recording's segments as one.
pub fn join<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    let texts: Vec<&str> = texts.filter(|text| !text.is_empty()).collect();
    texts.join(" ")
}
