//! Spellings that the sound does not tell: doubled words that are written as one ("mbalimbali"), ng' ("ng'ombe"), and English
//! as East Africa writes it ("centre"). The list comes from texts, by training/recogniser/orthography.py.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::text::Spellings;
use crate::Word;

static WRITTEN: LazyLock<HashMap<&str, &str>> = LazyLock::new(|| {
    let rows = include_str!("orthography.tsv").lines().skip(1);
    rows.filter_map(|row| row.split_once('\t')).collect()
});

/// The words as they are written. What the caller spells itself is left alone.
pub(super) fn as_written(words: Vec<Word>, callers: &Spellings) -> Vec<Word> {
    let spelling = |heard: &str| {
        let written = WRITTEN.get(heard)?;
        (!callers.knows(heard)).then(|| (*written).to_owned())
    };
    let mut out: Vec<Word> = Vec::with_capacity(words.len());
    for mut word in words {
        if let Some(last) = out.last_mut()
            && let Some(joined) = spelling(&format!("{} {}", last.word, word.word))
        {
            last.word = joined;
            last.end = word.end;
            last.confidence = last.confidence.min(word.confidence);
            continue;
        }
        if let Some(spelled) = spelling(&word.word) {
            word.word = spelled;
        }
        out.push(word);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str, keyterms: &[&str]) -> String {
        let words = text.split(' ').enumerate().map(|(n, word)| Word {
            word: word.to_owned(),
            start: n as f64,
            end: n as f64 + 0.9,
            confidence: 0.5 + 0.01 * n as f32,
            ..Word::default()
        });
        let terms: Vec<String> = keyterms.iter().map(|term| (*term).to_owned()).collect();
        let out = as_written(words.collect(), &Spellings::new(&terms, None));
        assert!(out.is_sorted_by(|one, next| one.end <= next.start));
        let words: Vec<&str> = out.iter().map(|word| word.word.as_str()).collect();
        words.join(" ")
    }

    #[test]
    fn doubled_words_and_apostrophes_are_as_in_books() {
        assert_eq!(
            written("watu mbali mbali wana ngombe", &[]),
            "watu mbalimbali wana ng'ombe"
        );
        assert_eq!(written("pole pole pole", &[]), "polepole pole");
    }

    #[test]
    fn english_is_written_as_in_east_africa() {
        assert_eq!(
            written("tuma screen shot ya health center", &[]),
            "tuma screenshot ya health centre"
        );
        assert_eq!(written("pearl harbor", &["Pearl Harbor"]), "pearl harbor");
    }

    #[test]
    fn numbers_and_other_words_stay_as_they_were_heard() {
        for text in [
            "sifuri saba saba mbili mbili",
            "mtu yule yule",
            "ngoma na ngazi",
        ] {
            assert_eq!(written(text, &[]), text);
        }
    }

    #[test]
    fn a_caller_who_names_the_term_keeps_its_spelling() {
        assert_eq!(written("kwa ngombe", &["Ngombe"]), "kwa ngombe");
        assert_eq!(
            written("baa ya pole pole", &["Pole Pole"]),
            "baa ya pole pole"
        );
    }
}
