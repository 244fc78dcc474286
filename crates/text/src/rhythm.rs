//! Long rows of digits and letters in the rhythm of a person who reads them: groups of three or four with a short pause.

use std::borrow::Cow;

use crate::cardinal::UNITS;
use crate::english::UNITS as ENGLISH_UNITS;
use crate::letters::letter_name;

/// A row of fewer is said in one go.
const ROW_MIN: usize = 6;

/// The words of one reading, with commas where a long row of digits and letters is to have its pauses.
pub(crate) fn with_pauses(text: &str) -> Cow<'_, str> {
    if text.split(' ').nth(ROW_MIN - 1).is_none() {
        return Cow::Borrowed(text);
    }
    let words: Vec<&str> = text.split(' ').collect();
    let mut out = String::with_capacity(text.len() + 4);
    for row in words.chunk_by(|a, b| is_sign(a) && kind(b).is_some()) {
        let cuts = cuts(row);
        for (n, word) in row.iter().enumerate() {
            if cuts.binary_search(&n).is_ok() {
                out.push(',');
            }
            if !out.is_empty() {
                out.push(' ');
            }
            out.push_str(word);
        }
    }
    Cow::Owned(out)
}

/// A digit or a letter's name without a mark behind it.
fn is_sign(word: &str) -> bool {
    kind(word).is_some() && word.ends_with(char::is_alphabetic)
}

/// Whether a word is a digit (true) or a letter (false); nothing if neither.
fn kind(word: &str) -> Option<bool> {
    let word = word.trim_end_matches([',', '.']);
    if UNITS.contains(&word) || ENGLISH_UNITS[..10].contains(&word) {
        return Some(true);
    }
    let is_letter = matches!(word.as_bytes(), [letter] if letter.is_ascii_uppercase())
        || ('a'..='z').any(|letter| letter_name(letter) == Some(word));
    is_letter.then_some(false)
}

/// The places of a row before which there is a pause: between letters and digits where that is near.
fn cuts(row: &[&str]) -> Vec<usize> {
    if row.len() < ROW_MIN || row.iter().any(|word| kind(word).is_none()) {
        return Vec::new();
    }
    let changes = |at: usize| {
        let pair = at.checked_sub(1).and_then(|before| row.get(before..=at));
        pair.is_some_and(|pair| kind(pair[0]) != kind(pair[1]))
    };
    let mut at = 0;
    let mut cuts = Vec::new();
    let sizes = sizes(row.len());
    for size in &sizes[..sizes.len() - 1] {
        at += size;
        let near = [at, at + 1, at - 1].into_iter().find(|at| changes(*at));
        cuts.push(near.unwrap_or(at));
    }
    cuts
}

/// Fours where they come out even, else threes, with fours at the end.
fn sizes(length: usize) -> Vec<usize> {
    let fours = match length % 4 {
        0 => length / 4,
        _ => length % 3,
    };
    let threes = (length - fours * 4) / 3;
    [vec![3; threes], vec![4; fours]].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_rows_get_pauses_and_short_ones_none() {
        for (text, said) in [
            ("nane tatu mbili moja nne", "nane tatu mbili moja nne"),
            (
                "nane tatu mbili moja nne tano",
                "nane tatu mbili, moja nne tano",
            ),
            (
                "one two three four five six seven eight",
                "one two three four, five six seven eight",
            ),
            (
                "kei di ei moja mbili tatu bi",
                "kei di ei, moja mbili tatu bi",
            ),
            (
                "ti moja mbili tatu ei bi si",
                "ti moja mbili tatu, ei bi si",
            ),
            ("Q X seven T nine P L K two", "Q X seven, T nine, P L K two"),
            (
                "sifuri saba moja mbili, tatu nne tano, sita saba nane",
                "sifuri saba moja mbili, tatu nne tano, sita saba nane",
            ),
            (
                "nyota moja mbili tatu nne tano sita saba reli",
                "nyota moja mbili tatu, nne tano sita saba reli",
            ),
            (
                "elfu moja mia mbili hamsini na tatu",
                "elfu moja mia mbili hamsini na tatu",
            ),
        ] {
            assert_eq!(with_pauses(text), said);
        }
    }

    #[test]
    fn groups_have_three_or_four_and_lose_nothing() {
        for length in ROW_MIN..60 {
            let sizes = sizes(length);
            assert_eq!(sizes.iter().sum::<usize>(), length);
            assert!(sizes.iter().all(|size| [3, 4].contains(size)));
        }
    }
}
