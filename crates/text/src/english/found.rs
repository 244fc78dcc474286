//! English words by themselves, with Swahili prefixes before them, and sentences of them.

use std::ops::RangeInclusive;

use super::dictionary::{Sureness, look_up};
use crate::shape::is_swahili_shaped;
use crate::tables::WordList;

/// How sure it is that a word is English; nothing if it is not.
pub(crate) fn sureness(word: &str) -> Option<Sureness> {
    let lower = word.to_ascii_lowercase();
    match look_up(&lower) {
        Some(entry) => Some(entry.sureness),
        None => inflected(&lower).map(|_| Sureness::Anywhere),
    }
}

static SUBJECTS: WordList = WordList::named("verb-subjects");
static TENSES: WordList = WordList::named("verb-tenses");
static RELATIVES: WordList = WordList::named("verb-relatives");
static OBJECTS: WordList = WordList::named("verb-objects");

/// What may stand before the stem of a Swahili verb or noun.
pub(crate) fn is_prefix(text: &str) -> bool {
    // Ban Ki-moon is no English noun.
    !text.is_empty() && text != "ki" && has_parts(text, false)
}

/// A subject, a tense, perhaps a relative ("aliye", "ninapo") and perhaps an object; the first two only perhaps, too, where
/// they are not `wanted`.
fn has_parts(text: &str, wanted: bool) -> bool {
    let none: &[&str] = if wanted { &[] } else { &[""] };
    let or_none = |parts: &'static [&'static str]| none.iter().chain(parts);
    or_none(&SUBJECTS)
        .filter_map(|part| text.strip_prefix(part))
        .flat_map(|rest| or_none(&TENSES).filter_map(|part| rest.strip_prefix(part)))
        .flat_map(|rest| {
            [""].iter()
                .chain(RELATIVES.iter())
                .filter_map(|part| rest.strip_prefix(part))
        })
        .any(|rest| rest.is_empty() || OBJECTS.contains(&rest))
}

/// Verbs that are often inflected in Swahili and that their letters do not tell: they are short, or Swahili words could end in
/// them. Of 103,000 words of our Swahili texts none is mistaken for one.
static COMMON_VERBS: WordList = WordList::named("english-verbs");

/// "kudownload", "walicancel", "nimeshare": a Swahili prefix written together with an English stem.
pub(super) fn inflected(lower: &str) -> Option<(&str, &str)> {
    const STEM_LETTERS_MIN: usize = 3;
    const PREFIX_LETTERS: RangeInclusive<usize> = 2..=9;
    if !lower.is_ascii() || look_up(lower).is_some() {
        return None;
    }
    let longest = lower.len().checked_sub(STEM_LETTERS_MIN)?;
    let could_be_swahili = is_swahili_shaped(lower);
    PREFIX_LETTERS
        .take_while(|at| *at <= longest)
        .map(|at| lower.split_at(at))
        .find(|(prefix, stem)| {
            is_sure_prefix(prefix, stem)
                && (COMMON_VERBS.contains(stem) || !could_be_swahili && is_plainly_english(stem))
        })
}

/// A word of four letters and more that no Swahili word can end in.
fn is_plainly_english(stem: &str) -> bool {
    stem.len() > 3
        && !is_swahili_shaped(stem)
        && look_up(stem).is_some_and(|entry| entry.sureness == Sureness::Anywhere)
}

/// "Kuwait", "Patrick" and "Uislam" begin with what could be a prefix: only a tense or an infinitive tells, or a common verb.
fn is_sure_prefix(prefix: &str, stem: &str) -> bool {
    match prefix {
        "ku" | "waku" => stem != "wait",
        "ni" | "tu" | "na" => COMMON_VERBS.contains(&stem),
        "naku" => true,
        _ => prefix.len() > 2 && has_parts(prefix, true),
    }
}

/// Whether most words of a sentence are English. Names and words that could be of either language have no say.
pub(crate) fn is_english_sentence(sentence: &str) -> bool {
    let (mut english, mut swahili) = (0, 0);
    let sentence = sentence.replace("Dar es Salaam", " ");
    let words = sentence.split(|c: char| !c.is_ascii_alphanumeric() && c != '\'');
    // The "A" of "TKL4A7B9XC" is no word.
    let is_word = |word: &&str| !word.is_empty() && !word.contains(|c: char| c.is_ascii_digit());
    for (n, word) in words.filter(is_word).enumerate() {
        let lower = word.to_ascii_lowercase();
        match look_up(&lower).map(|entry| entry.sureness) {
            Some(Sureness::Anywhere | Sureness::Beside) => english += 2,
            Some(Sureness::Among) => english += 1,
            Some(Sureness::Sentence) => {}
            None if n > 0 && word.starts_with(|c: char| c.is_ascii_uppercase()) => {}
            None if is_swahili_shaped(&lower) => swahili += 2,
            None => {}
        }
    }
    english > swahili * 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_of_verbs_and_nouns_are_known() {
        for prefix in [
            "ku", "ni", "uni", "nime", "nita", "ime", "umei", "nitaku", "wali", "ma", "ana",
            "tuna", "kuni", "nitai", "ame", "uli", "hatu", "ka",
        ] {
            assert!(is_prefix(prefix), "{prefix}");
        }
        for other in ["mwana", "rafiki", "habari", "ex", ""] {
            assert!(!is_prefix(other), "{other}");
        }
    }

    #[test]
    fn prefixes_are_told_from_stems_where_no_hyphen_stands() {
        assert_eq!(inflected("kudownload"), Some(("ku", "download")));
        assert_eq!(inflected("walicancel"), Some(("wali", "cancel")));
        assert_eq!(inflected("nitaforward"), Some(("nita", "forward")));
        assert_eq!(inflected("nimeshare"), Some(("nime", "share")));
        assert_eq!(inflected("aliyewapost"), Some(("aliyewa", "post")));
        for word in [
            "kusamehe", "anapiga", "kwenda", "download", "wakristo", "wakuwait", "kamerun",
        ] {
            assert_eq!(inflected(word), None, "{word}");
        }
    }

    #[test]
    fn sentences_are_judged_by_most_of_their_words() {
        for english in [
            "Your loan of 10,000 shillings is due on Friday.",
            "You have received five hundred shillings from Jane Wanjiku.",
            "Hello",
            "How can I help you today?",
            "What time does the next ferry leave for Zanzibar?",
            "TKL4A7B9XC Confirmed.",
            "We live in Dar es Salaam.",
        ] {
            assert!(is_english_sentence(english), "{english}");
        }
        for swahili in [
            "Nimetumia laptop yangu ku-download assignment ya leo.",
            "Customer care walisema ni-restart simu halafu ni-update app.",
            "Habari za asubuhi",
            "Karibu",
            "Wake vile mama",
            "TKL4A7B9XC Imethibitishwa.",
            "Hospitali ya Aga Khan, Dar es Salaam, 17 Nov 2026",
            "Dar es Salaam 24°C",
            "1250",
        ] {
            assert!(!is_english_sentence(swahili), "{swahili}");
        }
    }
}
