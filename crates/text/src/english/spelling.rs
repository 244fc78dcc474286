//! English spelling brought to Swahili spelling, for words no list has. Careful on purpose: a plain vowel keeps its Swahili
//! sound, as East African English mostly does, so that names like Yusuf or Ahmed come out unharmed.

use std::sync::LazyLock;

use crate::tables::rows;

/// Spelling, where it stands, and its sound in Swahili letters.
struct Rule {
    spelling: &'static str,
    place: &'static str,
    said: &'static str,
}

/// The first that fits is taken: longer spellings stand before their parts.
static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| {
    let rule = |(spelling, rest): (&'static str, &'static str)| {
        let (place, said) = rest.split_once('\t')?;
        Some(Rule {
            spelling,
            place,
            said,
        })
    };
    let list = rows(include_str!("../../data/english-spelling.tsv"));
    list.filter_map(rule).collect()
});

/// Letters and groups that Swahili spelling does not know.
const FOREIGN: &[&str] = &[
    "ck", "ph", "wh", "qu", "tion", "sion", "ght", "ee", "oo", "ll", "ss", "tt", "pp", "ff", "rr",
    "dd", "gg", "bb", "kk", "zz",
];

/// The word in Swahili spelling, or nothing if its spelling does not look English.
pub(crate) fn respell(word: &str) -> Option<String> {
    let english = word.bytes().all(|b| b.is_ascii_lowercase()) && looks_english(word);
    english.then(|| respell_any(word))
}

/// Letters of the respelling and their English sounds.
static SOUNDS: LazyLock<Vec<(&str, &str)>> =
    LazyLock::new(|| rows(include_str!("../../data/english-respelling.tsv")).collect());

/// The sounds of an English word that the dictionary lacks, in the letters of `english-sounds.tsv`, the stress on the last
/// syllable but one.
pub(super) fn sounds(word: &str) -> Option<String> {
    let is_vowel = |sound: &str| sound.contains(['a', 'e', 'E', 'I', 'Q', 'O', 'u']);
    let word = word.replace('\'', "");
    if !word.bytes().all(|b| b.is_ascii_lowercase()) {
        return None;
    }
    let respelled = respell_any(&word);
    let mut rest = respelled.as_str();
    let mut out: Vec<&str> = Vec::new();
    while !rest.is_empty() {
        let (letters, sound) = SOUNDS
            .iter()
            .find(|(letters, _)| rest.starts_with(letters))
            .map_or((1, &rest[..1]), |(letters, sound)| (letters.len(), *sound));
        // An r that no vowel follows is not said.
        let silent = sound == "r" && !rest[1..].starts_with(['a', 'e', 'i', 'o', 'u']);
        if !silent {
            out.push(sound);
        }
        rest = &rest[letters..];
    }
    let mut vowels = (0..out.len()).rev().filter(|i| is_vowel(out[*i]));
    let last = vowels.next()?;
    out.insert(vowels.next().unwrap_or(last), "\"");
    Some(out.concat())
}

fn respell_any(word: &str) -> String {
    let bytes = word.as_bytes();
    let (stem, silent_e) = match magic_e(bytes) {
        Some(vowel_at) => (word.len() - 1, Some(vowel_at)),
        None => (word.len(), None),
    };
    let mut out = String::with_capacity(word.len() + 4);
    let mut at = 0;
    while at < stem {
        if silent_e == Some(at) {
            out.push_str(long_vowel(bytes[at]));
            at += 1;
        } else if let Some(rule) = RULES.iter().find(|rule| rule.fits(word, at)) {
            out.push_str(rule.said);
            at += rule.spelling.len();
        } else {
            push_letter(&mut out, bytes, at);
            at += 1;
        }
    }
    out
}

impl Rule {
    fn fits(&self, word: &str, at: usize) -> bool {
        let ends = at + self.spelling.len() == word.len();
        let placed = match self.place {
            "start" => at == 0,
            "end" => ends && at > 0,
            "inside" => !ends,
            "closed" => {
                let next = word.as_bytes().get(at + self.spelling.len());
                next.is_none_or(|b| !matches!(b, b'a' | b'e' | b'i' | b'o' | b'u'))
            }
            _ => true,
        };
        placed && word[at..].starts_with(self.spelling)
    }
}

/// Only spelling that Swahili does not know counts. A closed last syllable alone does not: names have one, and English
/// words without strange letters come close enough when they are read as Swahili.
fn looks_english(word: &str) -> bool {
    let bytes = word.as_bytes();
    let foreign_c = bytes
        .iter()
        .enumerate()
        .any(|(i, b)| *b == b'c' && bytes.get(i + 1) != Some(&b'h'));
    foreign_c
        || word.contains(['x', 'q'])
        || bytes.last() == Some(&b'y')
        || FOREIGN.iter().any(|group| word.contains(group))
        || has_closed_w(bytes)
}

/// "ow", "aw", "ew" before a consonant or at the end; before a vowel Swahili has them too.
fn has_closed_w(bytes: &[u8]) -> bool {
    bytes.windows(2).enumerate().any(|(i, pair)| {
        let open = bytes
            .get(i + 2)
            .is_some_and(|b| matches!(b, b'a' | b'e' | b'i' | b'o' | b'u'));
        matches!(pair, b"ow" | b"aw" | b"ew") && !open
    })
}

/// A vowel, one consonant and a last "e": the vowel is long and the "e" silent. Gives the vowel's place.
fn magic_e(bytes: &[u8]) -> Option<usize> {
    let [.., before, vowel, consonant, b'e'] = bytes else {
        return None;
    };
    let is_vowel = |b: &u8| matches!(b, b'a' | b'e' | b'i' | b'o' | b'u');
    let fits = matches!(vowel, b'a' | b'i' | b'o' | b'u')
        && !is_vowel(consonant)
        && !is_vowel(before)
        && (!matches!(consonant, b'w' | b'y' | b'h' | b'v' | b'c' | b'g' | b's')
            || (*vowel, *consonant) == (b'a', b'c'));
    fits.then(|| bytes.len() - 3)
}

fn long_vowel(vowel: u8) -> &'static str {
    match vowel {
        b'a' => "ei",
        b'i' => "ai",
        b'o' => "o",
        _ => "yu",
    }
}

/// One letter; doubled consonants once, "y" as a vowel where it stands for one.
fn push_letter(out: &mut String, bytes: &[u8], at: usize) {
    let letter = bytes[at];
    let is_vowel = |b: u8| matches!(b, b'a' | b'e' | b'i' | b'o' | b'u');
    if !is_vowel(letter) && at > 0 && bytes[at - 1] == letter {
        return;
    }
    let vowel_follows = bytes.get(at + 1).is_some_and(|b| is_vowel(*b));
    let said = if letter == b'y' && !vowel_follows {
        b'i'
    } else {
        letter
    };
    out.push(char::from(said));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_names_a_place_that_is_known() {
        for rule in RULES.iter() {
            let places = ["anywhere", "start", "end", "inside", "closed"];
            assert!(places.contains(&rule.place), "{}", rule.spelling);
        }
    }

    #[test]
    fn english_spelling_becomes_swahili_spelling() {
        for (word, said) in [
            ("education", "edukeshon"),
            ("face", "feis"),
            ("speed", "spid"),
            ("discussion", "diskushon"),
            ("graphic", "grafik"),
            ("attack", "atak"),
            ("exercise", "eksersis"),
            ("doctor", "dokta"),
        ] {
            assert_eq!(respell(word).as_deref(), Some(said), "{word}");
        }
    }

    #[test]
    fn swahili_loans_and_names_are_left_alone() {
        for word in [
            "benki",
            "hospitali",
            "akaunti",
            "labda",
            "sekta",
            "taarifa",
            "rais",
            "yusuf",
            "islam",
            "mndewa",
        ] {
            assert_eq!(respell(word), None, "{word}");
        }
        assert_eq!(respell("hassan").as_deref(), Some("hasan"));
        assert_eq!(respell("lowassa").as_deref(), Some("lowasa"));
    }
}
