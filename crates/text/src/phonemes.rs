//! Letters to phonemes. The voices were trained on exactly these symbols, so the plain Swahili rules must not drift.

/// Longest first; the two-letter nasal groups of the training rules map to themselves and need no entry.
const GROUPS: [(&str, &str); 9] = [
    ("ng'", "ŋ"),
    ("ng", "ŋɡ"),
    ("ny", "ɲ"),
    ("ch", "ʧ"),
    ("sh", "ʃ"),
    ("th", "θ"),
    ("dh", "ð"),
    ("gh", "ɣ"),
    ("kh", "h"),
];

pub(crate) const STRESS: char = 'ˈ';

/// Phonemes of one word in Swahili spelling, the stress mark right before the vowel of the last syllable but one.
pub fn swahili_phonemes(word: &str) -> String {
    let word = word.to_lowercase().replace(['’', 'ʼ', '‘'], "'");
    stressed(&sounds(&word))
}

fn sounds(word: &str) -> String {
    let mut out = String::with_capacity(word.len() + 4);
    let mut rest = word;
    while let Some(letter) = rest.chars().next() {
        if let Some((spelling, sound)) = GROUPS
            .iter()
            .find(|(spelling, _)| rest.starts_with(spelling))
        {
            out.push_str(sound);
            rest = &rest[spelling.len()..];
        } else {
            out.push_str(single(letter));
            rest = &rest[letter.len_utf8()..];
        }
    }
    out
}

fn single(letter: char) -> &'static str {
    match letter {
        'a' => "a",
        'b' => "b",
        'c' | 'k' | 'q' => "k",
        'd' => "d",
        'e' => "e",
        'f' => "f",
        'g' => "ɡ",
        'h' => "h",
        'i' => "i",
        'j' => "ʤ",
        'l' => "l",
        'm' => "m",
        'n' => "n",
        'o' => "o",
        'p' => "p",
        'r' => "ɾ",
        's' => "s",
        't' => "t",
        'u' => "u",
        'v' => "v",
        'w' => "w",
        'x' => "ks",
        'y' => "j",
        'z' => "z",
        _ => "",
    }
}

pub(crate) fn is_vowel(sound: char) -> bool {
    matches!(sound, 'a' | 'e' | 'i' | 'o' | 'u')
}

fn stressed(sounds: &str) -> String {
    let mut vowels = sounds
        .char_indices()
        .rev()
        .filter(|(_, c)| is_vowel(*c))
        .map(|(i, _)| i);
    match (vowels.next(), vowels.next()) {
        (Some(_), Some(penultimate)) => {
            let (before, after) = sounds.split_at(penultimate);
            format!("{before}{STRESS}{after}")
        }
        _ => sounds.to_owned(),
    }
}

/// IPA as people write it, brought to the symbols the voices know. What they do not know is dropped.
pub(crate) fn from_ipa(ipa: &str) -> String {
    ipa.chars()
        .filter(|c| is_vowel(*c) || *c == STRESS || "bdfɡhʤklmnpɾstvwjzŋɲʧʃθðɣ".contains(*c))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn swahili_words_get_the_training_symbols() {
        for (word, phonemes) in [
            ("karibu", "kaɾˈibu"),
            ("ng'ombe", "ŋˈombe"),
            ("ngoma", "ŋɡˈoma"),
            ("nchi", "nʧi"),
            ("mtu", "mtu"),
            ("nyumba", "ɲˈumba"),
            ("njia", "nʤˈia"),
            ("kheri", "hˈeɾi"),
        ] {
            assert_eq!(swahili_phonemes(word), phonemes, "{word}");
        }
    }
}
