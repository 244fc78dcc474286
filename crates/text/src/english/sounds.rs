//! The sounds of East African English: no r but before a vowel, no swallowed vowels. This table alone says which symbols
//! the voices are given for them; voices that know more sounds need another last column and nothing else.

use crate::phonemes::joined_before_vowels;

/// The letters that stand for a sound in the dictionary (after X-SAMPA), its IPA, and the nearest symbols of the voices.
const SOUNDS: &[(&str, &str, &str)] = &[
    ("eI", "eɪ", "ei"),
    ("aI", "aɪ", "ai"),
    ("OI", "ɔɪ", "oi"),
    ("aU", "aʊ", "au"),
    ("oU", "oʊ", "o"),
    ("I@", "ɪə", "ia"),
    ("E@", "ɛə", "ea"),
    ("U@", "ʊə", "ua"),
    ("i", "i", "i"),
    ("I", "ɪ", "i"),
    ("E", "ɛ", "e"),
    ("{", "æ", "a"),
    ("a", "a", "a"),
    ("A", "ɑ", "a"),
    ("Q", "ɒ", "o"),
    ("O", "ɔ", "o"),
    ("U", "ʊ", "u"),
    ("u", "u", "u"),
    ("V", "ʌ", "a"),
    ("3", "ɜ", "a"),
    ("@", "ə", "a"),
    ("\"", "ˈ", "ˈ"),
    ("%", "ˌ", ""),
    ("p", "p", "p"),
    ("b", "b", "b"),
    ("t", "t", "t"),
    ("d", "d", "d"),
    ("k", "k", "k"),
    ("g", "ɡ", "ɡ"),
    ("C", "ʧ", "ʧ"),
    ("J", "ʤ", "ʤ"),
    ("f", "f", "f"),
    ("v", "v", "v"),
    ("T", "θ", "θ"),
    ("D", "ð", "ð"),
    ("s", "s", "s"),
    ("z", "z", "z"),
    ("S", "ʃ", "ʃ"),
    ("Z", "ʒ", "ʃ"),
    ("h", "h", "h"),
    ("m", "m", "m"),
    ("n", "n", "n"),
    ("N", "ŋ", "ŋ"),
    ("l", "l", "l"),
    ("r", "ɹ", "ɾ"),
    ("w", "w", "w"),
    ("j", "j", "j"),
];

pub(super) fn ipa(sounds: &str) -> String {
    mapped(sounds, |row| row.1)
}

pub(super) fn symbols(sounds: &str) -> String {
    joined_before_vowels(&mapped(sounds, |row| row.2))
}

fn mapped(
    sounds: &str,
    column: impl Fn(&'static (&'static str, &'static str, &'static str)) -> &'static str,
) -> String {
    let mut out = String::with_capacity(sounds.len() + 4);
    let mut rest = sounds;
    while let Some(first) = rest.chars().next() {
        match SOUNDS.iter().find(|row| rest.starts_with(row.0)) {
            Some(row) => {
                out.push_str(column(row));
                rest = &rest[row.0.len()..];
            }
            None => rest = &rest[first.len_utf8()..],
        }
    }
    out
}
