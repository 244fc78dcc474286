//! English words and their sounds: sorted lines that are searched where they lie, so that nothing is unpacked.
//! `training/text/english.py` makes the file.

use std::borrow::Cow;

use crate::shape::is_swahili_shaped;

static LINES: &str = include_str!("../../data/english.tsv");

/// How sure it is that a word in a Swahili sentence is English.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sureness {
    /// Wherever it stands.
    Anywhere,
    /// Beside an English word.
    Beside,
    /// Among English words.
    Among,
    /// Swahili has the word too: in an English sentence only.
    Sentence,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct DictionaryEntry {
    pub sureness: Sureness,
    /// In the letters of `english-sounds.tsv`.
    pub sounds: Cow<'static, str>,
}

/// The word must be in small letters. Regular endings are not in the file.
pub(super) fn look_up(word: &str) -> Option<DictionaryEntry> {
    line_of(word).or_else(|| {
        let endings = ["'s", "s", "ed", "ing", "ly"];
        endings.into_iter().find_map(|ending| {
            let stem = word.strip_suffix(ending)?;
            let regular = ending == "'s" || stem.len() > 3 && !is_swahili_shaped(stem);
            let entry = line_of(stem).filter(|_| regular)?;
            let sounds = Cow::Owned(format!("{}{}", entry.sounds, said(ending, &entry.sounds)));
            Some(DictionaryEntry { sounds, ..entry })
        })
    })
}

/// An ending after a stem with these sounds.
pub(super) fn said(ending: &str, stem: &str) -> &'static str {
    let last = stem.chars().last().unwrap_or_default();
    match ending {
        "ed" if "td".contains(last) => "Id",
        "ed" if "pkfsSCT".contains(last) => "t",
        "ed" => "d",
        "ing" => "IN",
        "ly" => "li",
        _ if "szSZCJ".contains(last) => "Iz",
        _ if "ptkfT".contains(last) => "s",
        _ => "z",
    }
}

fn line_of(word: &str) -> Option<DictionaryEntry> {
    let (mut from, mut to) = (0, LINES.len());
    while from < to {
        let middle = from + (to - from) / 2;
        let start = LINES.as_bytes()[..middle]
            .iter()
            .rposition(|b| *b == b'\n')
            .map_or(0, |at| at + 1);
        let line = LINES[start..].split('\n').next().unwrap_or_default();
        let (key, value) = line.split_once('\t').unwrap_or((line, ""));
        match word.cmp(key) {
            std::cmp::Ordering::Less => to = start,
            std::cmp::Ordering::Greater => from = start + line.len() + 1,
            std::cmp::Ordering::Equal => return entry(value),
        }
    }
    None
}

fn entry(value: &'static str) -> Option<DictionaryEntry> {
    let sureness = match value.as_bytes().first()? {
        b'+' => Sureness::Anywhere,
        b'~' => Sureness::Beside,
        b'-' => Sureness::Among,
        _ => Sureness::Sentence,
    };
    Some(DictionaryEntry {
        sureness,
        sounds: Cow::Borrowed(&value[1..]),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regular_endings_are_added() {
        for (word, sounds) in [
            ("laptops", "l\"{pt%Qps"),
            ("classes", "kl\"AsIz"),
            ("printed", "pr\"IntId"),
            ("sending", "s\"EndIN"),
            ("doctor's", "d\"Qkt@z"),
        ] {
            assert_eq!(look_up(word).unwrap().sounds, sounds, "{word}");
        }
        assert_eq!(look_up("morales"), None);
    }

    #[test]
    fn every_line_is_found_and_the_lines_are_sorted() {
        let mut before = "";
        for line in LINES.lines().skip(1) {
            let (word, value) = line.split_once('\t').unwrap();
            assert!(before < word, "{word}");
            assert_eq!(line_of(word), entry(value), "{word}");
            before = word;
        }
        for word in ["", "a'", "karibu", "zzz", "\u{10ffff}"] {
            assert_eq!(look_up(word), None, "{word}");
        }
    }
}
