//! Letters to phonemes, one symbol for each sound of Swahili: prenasalised and syllabic consonants too. The voices were
//! trained on exactly these symbols, so the plain Swahili rules must not drift.

use std::sync::LazyLock;

use crate::english;
use crate::letters::spell;
use crate::lexicon::{Lexicon, LexiconEntry, inflected_name};
use crate::shape::is_swahili_shaped;
use crate::tables::rows;

/// In the order of the training rules.
const GROUPS: [(&str, &str); 9] = [
    ("ng'", "ŋ"),
    ("ng", "ŋɡ"),
    ("ny", "ɲ"),
    ("ch", "ʧ"),
    ("sh", "ʃ"),
    ("th", "θ"),
    ("dh", "ð"),
    ("gh", "ɣ"),
    ("kh", "x"),
];

pub(crate) const STRESS: char = 'ˈ';
/// A sound is drawn out at most this long; more of the same is passed over.
const SAME_SOUNDS_MAX: usize = 3;

/// A nasal and the consonant it is one sound with.
const PRENASALISED: [(char, char, &str); 6] = [
    ('m', 'b', "ᵐb"),
    ('m', 'v', "ᵐv"),
    ('n', 'd', "ⁿd"),
    ('n', 'z', "ⁿz"),
    ('n', 'ʤ', "ⁿʤ"),
    ('ŋ', 'ɡ', "ᵑɡ"),
];
/// Under a nasal that is a syllable by itself.
const SYLLABIC: char = '\u{329}';

/// Phonemes of one word in Swahili spelling, the stress mark right before the vowel of the last syllable but one.
pub fn swahili_phonemes(word: &str) -> String {
    joined(&stressed(&sounds(&small(word))))
}

/// In small letters, with one kind of apostrophe. At the end of a name "ng" is one sound: Ochieng, Kipsang.
fn small(word: &str) -> String {
    let mut word = word.to_lowercase().replace(['’', 'ʼ', '‘'], "'");
    if word.ends_with("ng") {
        word.push('\'');
    }
    word
}

/// Phonemes of any one word: from the lexicon, by its letters' names, by Swahili or by English spelling.
pub(crate) fn pronounce(word: &str, lexicon: &Lexicon) -> String {
    if let Some(said) = lexicon.get(word) {
        return said.phonemes();
    }
    if let Some(respelling) = inflected_name(word) {
        return respelled(&respelling);
    }
    // "Muthoni's", in an English sentence.
    if let Some(stem) = word.strip_suffix("'s").filter(|stem| stem.len() > 1) {
        return pronounce(stem, lexicon) + "z";
    }
    let lower = word.to_ascii_lowercase();
    if is_without_vowel(&lower) {
        return if is_interjection(&lower) {
            swahili_phonemes(&lower)
        } else {
            respelled(&spell(&lower))
        };
    }
    if !is_swahili_shaped(&lower)
        && let Some(respelling) = english::respell(&lower)
    {
        return respelled(&respelling);
    }
    swahili_phonemes(&lower)
}

/// A prefix before a stem that has the stress.
pub(crate) fn unstressed(prefix: &str) -> String {
    joined(&sounds(&small(prefix)))
}

fn is_without_vowel(word: &str) -> bool {
    !word.contains(is_vowel) && word.contains(|c: char| c.is_ascii_alphabetic())
}

/// "mm", "hm", "shh" are sounds, not letters.
fn is_interjection(word: &str) -> bool {
    word.len() > 1
        && word.chars().all(|c| matches!(c, 'm' | 'h' | 's'))
        && word.starts_with(['m', 'h', 's'])
        && word.contains(['m', 'h'])
        && word != "hms"
}

impl LexiconEntry {
    pub(crate) fn phonemes(&self) -> String {
        match self {
            Self::Ipa(phonemes) => phonemes.clone(),
            Self::Respelling(text) => respelled(text),
        }
    }
}

/// One or more words in Swahili spelling, run together. An acute accent sets a word's stress.
fn respelled(text: &str) -> String {
    text.split_whitespace().map(respelled_word).collect()
}

fn respelled_word(word: &str) -> String {
    let word = small(word);
    let Some(accented) = word.chars().position(|c| plain_vowel(c).is_some()) else {
        return joined(&stressed(&sounds(&word)));
    };
    let before: String = word.chars().take(accented).collect();
    let from: String = without_accents(&word).chars().skip(accented).collect();
    joined(&format!("{}{STRESS}{}", sounds(&before), sounds(&from)))
}

/// A respelling whose stress is Swahili's own.
pub(crate) fn without_accents(respelling: &str) -> String {
    let letters = respelling.chars();
    letters.map(|c| plain_vowel(c).unwrap_or(c)).collect()
}

fn plain_vowel(c: char) -> Option<char> {
    Some(match c {
        'á' => 'a',
        'é' => 'e',
        'í' => 'i',
        'ó' => 'o',
        'ú' => 'u',
        _ => return None,
    })
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
            let (own, after) = rest.split_at(letter.len_utf8());
            out.push_str(match letter {
                'c' | 'q' => "k",
                'g' => "ɡ",
                'j' => "ʤ",
                'r' => "ɾ",
                'x' => "ks",
                'y' => "j",
                'a'..='z' => own,
                _ => "",
            });
            rest = after;
        }
    }
    out
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

/// One word's sounds with the nasals joined to what follows them ("mb" in "kumbuka"), or marked as syllables: at the
/// start before other consonants ("mtu", "nchi"), and before any consonant where the word has one vowel ("mbwa").
fn joined(sounds: &str) -> String {
    let one_vowel = sounds.chars().filter(|c| is_vowel(*c)).count() == 1;
    let mut out = String::with_capacity(sounds.len() + 4);
    let mut rest = sounds.chars().peekable();
    while let Some(sound) = rest.next() {
        let next = rest.peek().copied();
        let pair = PRENASALISED
            .iter()
            .find(|(nasal, consonant, _)| *nasal == sound && Some(*consonant) == next);
        let at_start = out.is_empty() && matches!(sound, 'm' | 'n');
        match pair {
            Some((_, _, one)) if !(at_start && one_vowel) => {
                out.push_str(one);
                rest.next();
            }
            _ => {
                out.push(sound);
                if at_start && next.is_some_and(is_full_consonant) {
                    out.push(SYLLABIC);
                }
            }
        }
    }
    out
}

/// A consonant before which a nasal has to be a syllable: not a glide.
fn is_full_consonant(sound: char) -> bool {
    !is_vowel(sound) && !matches!(sound, 'w' | 'j' | STRESS)
}

/// A symbol that the voices know; those that are said like it.
static IPA: LazyLock<Vec<(char, &str)>> = LazyLock::new(|| {
    let list = rows(include_str!("../data/ipa.tsv"));
    list.filter_map(|(sound, like)| Some((sound.chars().next()?, like)))
        .collect()
});

/// IPA as people write it, brought to the symbols the voices know; what they do not know is dropped. The stress mark
/// moves from the syllable's start to its vowel, and words without one get Swahili's.
pub(crate) fn from_ipa(ipa: &str) -> String {
    let plain = ipa
        .replace("t͡ʃ", "ʧ")
        .replace("d͡ʒ", "ʤ")
        .replace("tʃ", "ʧ")
        .replace("dʒ", "ʤ")
        .replace('ᵐ', "m")
        .replace('ⁿ', "n")
        .replace('ᵑ', "ŋ");
    let mut out = String::with_capacity(plain.len());
    let mut stress_waits = false;
    for c in plain.chars() {
        let sound = match c {
            'ˈ' | '\'' => {
                stress_waits = true;
                continue;
            }
            _ => IPA
                .iter()
                .find(|(_, like)| like.contains(c))
                .map_or(c, |(sound, _)| *sound),
        };
        let last = out.chars().rev().take(SAME_SOUNDS_MAX);
        if last.filter(|c| *c == sound).count() == SAME_SOUNDS_MAX {
            continue;
        }
        if is_vowel(sound) && std::mem::take(&mut stress_waits) {
            out.push(STRESS);
        }
        if is_vowel(sound) || "bdfɡhʤklmnpɾstvwxjzŋɲʧʃθðɣ".contains(sound) {
            out.push(sound);
        }
    }
    if !out.contains(STRESS) {
        out = stressed(&out);
    }
    joined(&out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn swahili_words_get_the_training_symbols() {
        for (word, phonemes) in [
            ("karibu", "kaɾˈibu"),
            ("ng'ombe", "ŋˈoᵐbe"),
            ("Ng’ombe", "ŋˈoᵐbe"),
            ("ngoma", "ᵑɡˈoma"),
            ("nchi", "n̩ʧi"),
            ("nne", "n̩ne"),
            ("mtu", "m̩tu"),
            ("mmoja", "m̩mˈoʤa"),
            ("mnyama", "m̩ɲˈama"),
            ("mwana", "mwˈana"),
            ("mbwa", "m̩bwa"),
            ("mbuzi", "ᵐbˈuzi"),
            ("mvua", "ᵐvˈua"),
            ("nzuri", "ⁿzˈuɾi"),
            ("nyumba", "ɲˈuᵐba"),
            ("njia", "ⁿʤˈia"),
            ("kampuni", "kampˈuni"),
            ("benki", "bˈenki"),
            ("kheri", "xˈeɾi"),
            ("thelathini", "θelaθˈini"),
            ("ghali", "ɣˈali"),
            ("mandhari", "manðˈaɾi"),
            ("ndani", "ⁿdˈani"),
        ] {
            assert_eq!(swahili_phonemes(word), phonemes, "{word}");
            assert_eq!(pronounce(word, &Lexicon::builtin()), phonemes, "{word}");
        }
    }

    #[test]
    fn english_words_are_said_the_east_african_way() {
        let lexicon = Lexicon::builtin();
        for (word, said) in [
            ("system", "sistim"),
            ("email", "imeli"),
            ("Safaricom", "safarikom"),
            ("WhatsApp", "watsapu"),
            ("education", "edukeshon"),
            ("keyboard", "kibodi"),
            ("photo", "foto"),
        ] {
            assert_eq!(pronounce(word, &lexicon), swahili_phonemes(said), "{word}");
        }
    }

    #[test]
    fn letters_and_words_without_vowels_are_spelled() {
        let lexicon = Lexicon::builtin();
        assert_eq!(pronounce("b", &lexicon), "bi");
        assert_eq!(pronounce("tz", &lexicon), "tizˈedi");
        assert_eq!(pronounce("hmm", &lexicon), "hmm");
    }

    #[test]
    fn ipa_is_brought_to_known_symbols() {
        assert_eq!(from_ipa("ˈdʒɑːmɪ"), "ʤˈami");
        assert_eq!(from_ipa("habari"), "habˈaɾi");
        for written in ["ᵐbˈuzi", "mˈbuzi", "mbuzi"] {
            assert_eq!(from_ipa(written), "ᵐbˈuzi", "{written}");
        }
        assert_eq!(from_ipa("m̩tu"), from_ipa("mtu"));
    }

    #[test]
    fn an_accent_sets_the_stress() {
        assert_eq!(respelled("íntaneti"), "ˈintaneti");
        assert_eq!(respelled("kompyuta"), "kompjˈuta");
    }
}
