//! The sounds of East African English: no r but before a vowel, no swallowed vowels. This table alone says which symbols
//! the voices are given for them: Kokoro's, who taught them, in which a capital letter is a diphthong.

/// The letters that stand for a sound in the dictionary (after X-SAMPA), its IPA, and its symbols for the voices.
const SOUNDS: &[(&str, &str, &str)] = &[
    ("eI", "eɪ", "A"),
    ("aI", "aɪ", "I"),
    ("OI", "ɔɪ", "Y"),
    ("aU", "aʊ", "W"),
    ("oU", "oʊ", "O"),
    ("I@", "ɪə", "ɪə"),
    ("E@", "ɛə", "ɛə"),
    ("U@", "ʊə", "ʊə"),
    ("\"i", "ˈi", "ˈiː"),
    ("\"u", "ˈu", "ˈuː"),
    ("i", "i", "i"),
    ("I", "ɪ", "ɪ"),
    ("E", "ɛ", "ɛ"),
    ("{", "æ", "a"),
    ("a", "a", "a"),
    ("A", "ɑ", "ɑː"),
    ("Q", "ɒ", "ɒ"),
    ("O", "ɔ", "ɔː"),
    ("U", "ʊ", "ʊ"),
    ("u", "u", "u"),
    ("V", "ʌ", "ʌ"),
    ("3", "ɜ", "ɜː"),
    ("@", "ə", "ə"),
    ("\"", "ˈ", "ˈ"),
    ("%", "ˌ", "ˌ"),
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
    ("Z", "ʒ", "ʒ"),
    ("h", "h", "h"),
    ("m", "m", "m"),
    ("n", "n", "n"),
    ("N", "ŋ", "ŋ"),
    ("l", "l", "l"),
    ("r", "ɹ", "ɹ"),
    ("w", "w", "w"),
    ("j", "j", "j"),
];

pub(super) fn ipa(sounds: &str) -> String {
    mapped(sounds, |row| row.1)
}

pub(super) fn symbols(sounds: &str) -> String {
    mapped(sounds, |row| row.2)
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
