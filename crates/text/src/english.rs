//! English spelling brought to Swahili spelling, for words no list has. Careful on purpose: a plain vowel keeps its Swahili
//! sound, as East African English mostly does, so that names like Yusuf or Ahmed come out unharmed.

/// Spelling, where it stands, and its sound in Swahili letters.
struct Rule {
    spelling: &'static str,
    place: Place,
    said: &'static str,
}

#[derive(Clone, Copy, PartialEq)]
enum Place {
    Anywhere,
    Start,
    End,
    /// Not at the end of the word.
    Inside,
    /// At the end or before a consonant.
    Closed,
}

const fn rule(spelling: &'static str, place: Place, said: &'static str) -> Rule {
    Rule {
        spelling,
        place,
        said,
    }
}

/// The first that fits is taken: longer spellings stand before their parts.
const RULES: &[Rule] = &[
    rule("ations", Place::End, "eshons"),
    rule("ation", Place::End, "eshon"),
    rule("tions", Place::End, "shons"),
    rule("tion", Place::Anywhere, "shon"),
    rule("ssion", Place::Anywhere, "shon"),
    rule("sion", Place::Anywhere, "shon"),
    rule("cious", Place::End, "shas"),
    rule("tious", Place::End, "shas"),
    rule("cial", Place::End, "sho"),
    rule("tial", Place::End, "sho"),
    rule("tures", Place::End, "chas"),
    rule("ture", Place::End, "cha"),
    rule("ought", Place::Anywhere, "ot"),
    rule("aught", Place::Anywhere, "ot"),
    rule("eight", Place::Anywhere, "eit"),
    rule("ight", Place::Anywhere, "ait"),
    rule("ough", Place::End, "af"),
    rule("oard", Place::Anywhere, "od"),
    rule("ously", Place::End, "asli"),
    rule("ous", Place::End, "as"),
    rule("ness", Place::End, "nes"),
    rule("ages", Place::End, "ejis"),
    rule("age", Place::End, "eji"),
    rule("able", Place::End, "abo"),
    rule("ible", Place::End, "ibo"),
    rule("tch", Place::Anywhere, "ch"),
    rule("sch", Place::Anywhere, "sk"),
    rule("dge", Place::Anywhere, "j"),
    rule("que", Place::End, "k"),
    rule("igh", Place::Anywhere, "ai"),
    rule("ays", Place::End, "eis"),
    rule("eys", Place::End, "is"),
    rule("ies", Place::End, "is"),
    rule("ied", Place::End, "id"),
    rule("ers", Place::End, "as"),
    rule("ors", Place::End, "as"),
    rule("ces", Place::End, "sis"),
    rule("ges", Place::End, "jis"),
    rule("ck", Place::Anywhere, "k"),
    rule("ph", Place::Anywhere, "f"),
    rule("qu", Place::Anywhere, "kw"),
    rule("wh", Place::Anywhere, "w"),
    rule("wr", Place::Start, "r"),
    rule("kn", Place::Start, "n"),
    rule("ps", Place::Start, "s"),
    rule("gh", Place::End, ""),
    rule("mb", Place::End, "m"),
    rule("ee", Place::Anywhere, "i"),
    rule("ea", Place::Inside, "i"),
    rule("oo", Place::Anywhere, "u"),
    rule("oa", Place::Inside, "o"),
    rule("ai", Place::Inside, "ei"),
    rule("ay", Place::End, "ei"),
    rule("ey", Place::End, "i"),
    rule("oy", Place::End, "oi"),
    rule("ou", Place::Inside, "au"),
    rule("ow", Place::End, "o"),
    rule("ow", Place::Closed, "au"),
    rule("aw", Place::Closed, "o"),
    rule("ew", Place::Closed, "yu"),
    rule("er", Place::End, "a"),
    rule("or", Place::End, "a"),
    rule("ce", Place::End, "s"),
    rule("ge", Place::End, "j"),
    rule("ve", Place::End, "v"),
    rule("se", Place::End, "s"),
    rule("cc", Place::Anywhere, "k"),
    rule("ce", Place::Anywhere, "se"),
    rule("ci", Place::Anywhere, "si"),
    rule("cy", Place::Anywhere, "si"),
    rule("ch", Place::Anywhere, "ch"),
    rule("sh", Place::Anywhere, "sh"),
    rule("th", Place::Anywhere, "th"),
    rule("c", Place::Anywhere, "k"),
    rule("x", Place::Start, "z"),
    rule("x", Place::Anywhere, "ks"),
    rule("q", Place::Anywhere, "k"),
];

/// Letters and groups that Swahili spelling does not know.
const FOREIGN: &[&str] = &[
    "ck", "ph", "wh", "qu", "tion", "sion", "ght", "ee", "oo", "ll", "ss", "tt", "pp", "ff", "rr",
    "dd", "gg", "bb", "kk", "zz",
];

/// The word in Swahili spelling, or nothing if its spelling does not look English.
pub(crate) fn respell(word: &str) -> Option<String> {
    if !word.bytes().all(|b| b.is_ascii_lowercase()) || !looks_english(word) {
        return None;
    }
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
    Some(out)
}

impl Rule {
    fn fits(&self, word: &str, at: usize) -> bool {
        let ends = at + self.spelling.len() == word.len();
        let placed = match self.place {
            Place::Anywhere => true,
            Place::Start => at == 0,
            Place::End => ends && at > 0,
            Place::Inside => !ends,
            Place::Closed => {
                let next = word.as_bytes().get(at + self.spelling.len());
                next.is_none_or(|b| !matches!(b, b'a' | b'e' | b'i' | b'o' | b'u'))
            }
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
