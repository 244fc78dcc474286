//! The noun class that a number agrees with. One to five and eight take the noun's prefix, also as the last part of a
//! compound ("watu mia moja na watano"); six, seven, nine and the tens never do.

use crate::cardinal::cardinal;
use crate::tables::{WordTable, rows};

/// The classes that show on numbers. All others say the bare number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// People and animals in the plural: watu wawili.
    Wa,
    /// Trees, years, months: miaka miwili.
    Mi,
    /// Eggs, fruit: mayai mawili.
    Ma,
    /// Books, chairs: vitabu viwili.
    Vi,
    /// One of the m- and u- words: mtu mmoja, mti mmoja, ukuta mmoja.
    M,
    /// One of the ki- words: kitabu kimoja.
    Ki,
}

impl Class {
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "wa" => Self::Wa,
            "ma" => Self::Ma,
            "m" => Self::M,
            "ki" => Self::Ki,
            _ => return None,
        })
    }

    fn prefixes(self) -> (&'static str, Option<&'static str>) {
        match self {
            Self::Wa => ("m", Some("wa")),
            Self::Mi => ("m", Some("mi")),
            Self::Ma => ("", Some("ma")),
            Self::Vi => ("ki", Some("vi")),
            Self::M => ("m", None),
            Self::Ki => ("ki", None),
        }
    }

    fn is_singular(self) -> bool {
        matches!(self, Self::M | Self::Ki)
    }
}

/// A number that agrees with the noun before it.
pub(crate) fn agreeing(n: u64, class: Option<Class>) -> String {
    let plain = cardinal(n);
    let Some(class) = class else { return plain };
    if class.is_singular() && n != 1 {
        // A singular noun before a larger number is a label: "kitabu 3".
        return plain;
    }
    let (head, last) = plain
        .rsplit_once(' ')
        .map_or((None, plain.as_str()), |(head, last)| (Some(head), last));
    // "mia mbili", "elfu tano": the unit counts the group, not the noun.
    if head.is_some_and(|head| !head.ends_with(" na") || n.is_multiple_of(10)) {
        return plain;
    }
    let (one, many) = class.prefixes();
    let stem = match (last, many) {
        ("moja", _) => format!("{one}moja"),
        ("mbili", Some(prefix)) => format!("{prefix}wili"),
        ("tatu" | "nne" | "tano" | "nane", Some(prefix)) => format!("{prefix}{last}"),
        _ => return plain,
    };
    match head {
        Some(head) => format!("{head} {stem}"),
        None => stem,
    }
}

/// The class of a noun (or of an adjective that goes with it), by its prefix and a list of those that mislead.
pub(crate) fn class_of(word: &str) -> Option<Class> {
    let word = word.to_ascii_lowercase();
    match LISTED.get(word.as_str()) {
        Some(class) => Class::named(class),
        None => by_prefix(&word),
    }
}

static LISTED: WordTable =
    WordTable::new(|| rows(include_str!("../../data/noun-classes.tsv")).collect());

fn by_prefix(word: &str) -> Option<Class> {
    let after = |prefix: &str| word.strip_prefix(prefix).filter(|rest| rest.len() >= 2);
    if after("wa").is_some() {
        return (!looks_like_verb(word)).then_some(Class::Wa);
    }
    if after("mi").is_some() || word.starts_with("my") {
        return Some(Class::Mi);
    }
    if after("ma").is_some() {
        return Some(Class::Ma);
    }
    if word.starts_with("vi") || after("vy").is_some() {
        return (word.len() > 3).then_some(Class::Vi);
    }
    if after("ki").is_some() {
        return Some(Class::Ki);
    }
    let starts_syllabic_m = word.starts_with('m')
        && word[1..].starts_with(|c: char| !matches!(c, 'a' | 'e' | 'i' | 'o' | 'u' | '\''));
    starts_syllabic_m.then_some(Class::M)
}

/// "walifunga 2" counts goals, not people.
fn looks_like_verb(word: &str) -> bool {
    const TENSES: &[&str] = &["wali", "wame", "wana", "wata", "waka", "waki"];
    word.len() >= 6 && word.ends_with('a') && TENSES.iter().any(|tense| word.starts_with(tense))
}

/// A verb whose subject is people, or where `one` is set a person: "walijeruhiwa", "wauawa", "alifariki".
pub(crate) fn counts_people(verb: &str, one: bool) -> bool {
    const TENSES: &[&str] = &["ali", "ame", "ana", "ata"];
    const HEADLINES: &[&str] = &["afariki", "auawa", "ajeruhiwa", "akamatwa", "afa"];
    match one {
        true => {
            let told = verb.len() >= 6 && TENSES.iter().any(|tense| verb.starts_with(tense));
            told || HEADLINES.contains(&verb)
        }
        false if verb == "wengine" => true,
        false => verb.len() >= 4 && verb.starts_with("wa") && LISTED.get(verb) != Some(&"-"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_agree_with_the_noun_before_them() {
        for (noun, n, said) in [
            ("watu", 2, "wawili"),
            ("watu", 21, "ishirini na mmoja"),
            ("watu", 105, "mia moja na watano"),
            ("watu", 200, "mia mbili"),
            ("watu", 2000, "elfu mbili"),
            ("watu", 12_000, "elfu kumi na mbili"),
            ("watu", 6, "sita"),
            ("miaka", 15, "kumi na mitano"),
            ("mayai", 8, "manane"),
            ("vitabu", 21, "ishirini na kimoja"),
            ("vyuo", 3, "vitatu"),
            ("kitabu", 1, "kimoja"),
            ("kitabu", 3, "tatu"),
            ("mti", 1, "mmoja"),
            ("nyumba", 2, "mbili"),
            ("mara", 3, "tatu"),
            ("ng'ombe", 2, "wawili"),
            ("vijana", 4, "wanne"),
            ("madaktari", 5, "watano"),
            ("wanafunzi", 12, "kumi na wawili"),
            ("meno", 4, "manne"),
            ("gari", 1, "moja"),
            ("magari", 1, "moja"),
        ] {
            assert_eq!(agreeing(n, class_of(noun)), said, "{noun} {n}");
        }
    }
}
