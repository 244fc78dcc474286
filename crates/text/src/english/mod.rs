//! English inside Swahili and English by itself: which words it is, how they are said, and how numbers are read in it.

mod dictionary;
mod found;
mod numbers;
mod sounds;
mod spelling;

pub(crate) use dictionary::Sureness;
pub(crate) use found::{is_english_sentence, is_prefix, sureness};
pub use numbers::{TENS, UNITS};
pub(crate) use spelling::respell;

use std::borrow::Cow;

use crate::Lexicon;
use crate::letters::english_letter_sounds;
use crate::lexicon::inflected_name;
use crate::phonemes::unstressed;
use crate::shape::is_swahili_shaped;

/// A word's phonemes, twice.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct EnglishSaid {
    /// In the symbols that the voices know.
    pub symbols: String,
    /// As they are in East African English, in IPA: what the voices' training reads.
    pub ipa: String,
}

impl EnglishSaid {
    fn of(sounds: &str) -> Self {
        Self {
            symbols: sounds::symbols(sounds),
            ipa: sounds::ipa(sounds),
        }
    }

    /// A word of the dictionary, in small letters.
    fn of_word(word: &str, sounds: &str) -> Self {
        Self {
            symbols: sounds::symbols(&with_full_end(word, sounds)),
            ipa: sounds::ipa(sounds),
        }
    }
}

/// A last "-er", "-or" or "-ure" has the vowel of "her" in full: as short as within a word it is lost before the next one,
/// and "letter" becomes "lete". The "-a" of "camera" is no such vowel.
fn with_full_end<'s>(word: &str, sounds: &'s str) -> Cow<'s, str> {
    let (stem, plural) = match sounds.strip_suffix('z') {
        Some(single) => (single.strip_suffix('@'), "z"),
        None => (sounds.strip_suffix('@'), ""),
    };
    let written = word.trim_end_matches('s').trim_end_matches('\'');
    match stem {
        Some(stem)
            if stem.contains('"')
                && !stem.ends_with(['I', 'E', 'U'])
                && !written.ends_with(['a', 'h']) =>
        {
            Cow::Owned(format!("{stem}3{plural}"))
        }
        _ => Cow::Borrowed(sounds),
    }
}

/// How a word that was taken for English is said; nothing where its Swahili reading is the right one: a word of the
/// lexicon, or a name such as Wanjiku.
pub(crate) fn pronounce(word: &str, lexicon: &Lexicon) -> Option<EnglishSaid> {
    if lexicon.is_own(word) {
        return None;
    }
    // "A T M's": the last letter with an ending.
    let single = word.strip_suffix("'s").unwrap_or(word);
    if let [name] = single.as_bytes()
        && word != "a"
    {
        let sounds = english_letter_sounds(char::from(*name))?;
        let ending = match single == word {
            true => "",
            false => dictionary::said("'s", sounds),
        };
        return Some(EnglishSaid::of(&format!("{sounds}{ending}")));
    }
    let lower = word.to_ascii_lowercase();
    if let Some(entry) = dictionary::look_up(&lower) {
        return Some(EnglishSaid::of_word(&lower, &entry.sounds));
    }
    if let Some((prefix, stem)) = found::inflected(&lower) {
        let stem = EnglishSaid::of_word(stem, &dictionary::look_up(stem)?.sounds);
        let prefix = unstressed(prefix);
        return Some(EnglishSaid {
            symbols: format!("{prefix}{}", stem.symbols),
            ipa: format!("{prefix}{}", stem.ipa),
        });
    }
    if lexicon.get(word).is_some() || inflected_name(word).is_some() || is_swahili_shaped(&lower) {
        return None;
    }
    spelling::sounds(&lower).map(|sounds| EnglishSaid::of(&sounds))
}

/// Whether the dictionary has a word, given in small letters.
pub(crate) fn is_known(lower: &str) -> bool {
    dictionary::look_up(lower).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(word: &str) -> String {
        pronounce(word, &Lexicon::builtin()).unwrap().symbols
    }

    #[test]
    fn english_words_keep_their_last_consonants_and_full_vowels() {
        for (word, symbols) in [
            ("laptop", "lˈaptˌɒp"),
            ("download", "dˈWnlˌOd"),
            ("Assignment", "əsˈInmɛnt"),
            ("computer", "kɒmpjˈuːtɜː"),
            ("bundle", "bˈʌndɒl"),
            ("send", "sˈɛnd"),
            ("station", "stˈAʃɛn"),
            ("thing", "θˈɪŋ"),
            ("river", "ɹˈɪvɜː"),
            ("managers", "mˈanɛʤɜːz"),
            ("doctor's", "dˈɒktɜːz"),
            ("kucover", "kukˈʌvɜː"),
            ("camera", "kˈaməɹə"),
            ("cameras", "kˈaməɹəz"),
            ("fire", "fˈIə"),
            ("the", "ðə"),
            ("care", "kˈɛə"),
            ("app", "ˈap"),
            ("storage", "stˈɒɹɛʤ"),
            ("kuread", "kuɹˈiːd"),
            ("use", "jˈuːz"),
            ("wind", "wˈɪnd"),
            ("paybill", "pˈAbˌɪl"),
            ("airtime", "ˈɛətˌIm"),
        ] {
            assert_eq!(said(word), symbols, "{word}");
        }
    }

    #[test]
    fn the_sounds_themselves_are_told_too() {
        let said = pronounce("computer", &Lexicon::builtin()).unwrap();
        assert_eq!(said.ipa, "kɒmpjˈutə");
        let said = pronounce("kudownload", &Lexicon::builtin()).unwrap();
        assert_eq!(
            (said.symbols.as_str(), said.ipa.as_str()),
            ("kudˈWnlˌOd", "kudˈaʊnlˌoʊd")
        );
    }

    #[test]
    fn names_and_words_of_ones_own_are_left_alone() {
        let lexicon = Lexicon::parse("laptop\tkompyuta\n").unwrap();
        for word in ["Wanjiku", "Mombasa", "laptop"] {
            assert_eq!(pronounce(word, &lexicon), None, "{word}");
        }
    }

    #[test]
    fn a_word_that_no_list_has_is_said_by_its_spelling() {
        assert_eq!(said("blockchains"), "blˈɒkʧAns");
        assert_eq!(said("Safaricom's"), said("safaricom's"));
    }
}
