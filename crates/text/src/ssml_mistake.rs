//! What can be wrong with SSML, in words that help, in English and Swahili.

use std::collections::HashMap;
use std::fmt::Display;
use std::sync::LazyLock;

use crate::tables::rows;

/// One mistake. What the caller wrote is told as it stood there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SsmlMistake {
    NoSpeak,
    OutsideSpeak,
    SecondSpeak,
    BareAmpersand,
    Declaration,
    TooDeep {
        elements_max: usize,
    },
    BreaksTooLong {
        minutes_max: u32,
    },
    NotEmpty(String),
    NoProsody,
    WrongMark {
        characters_max: usize,
    },
    OtherAlphabet,
    NoKnownSound,
    NamelessTag,
    /// A comment, an instruction or a tag without its end.
    MarkupNotClosed,
    NotClosed(String),
    ClosesNothing(String),
    ClosesOther {
        found: String,
        wanted: String,
    },
    Misplaced(String),
    Unknown(String),
    UnknownLanguage(String),
    WrongTime {
        time: String,
        seconds_max: u32,
    },
    WrongStrength(String),
    WrongProsody {
        attribute: String,
        value: String,
    },
    OtherProsody(String),
    Wants {
        tag: String,
        attribute: String,
    },
    WrongAttribute(String),
    NoValue(String),
    NotQuoted(String),
    ValueNotClosed(String),
    UnknownKind {
        kind: String,
        known: String,
    },
    /// Of a date.
    UnknownFormat {
        format: String,
        known: String,
    },
    WrongDate {
        written: String,
        format: String,
    },
    CannotSay {
        written: String,
        kind: String,
    },
}

/// Each mistake in English, a tab, in Swahili.
static TEXTS: LazyLock<HashMap<&str, &str>> =
    LazyLock::new(|| rows(include_str!("../data/ssml-mistakes.tsv")).collect());

impl SsmlMistake {
    pub fn english(&self) -> String {
        self.told(|(english, _)| english)
    }

    pub fn swahili(&self) -> String {
        self.told(|(_, swahili)| swahili)
    }

    fn told(&self, language: fn((&'static str, &'static str)) -> &'static str) -> String {
        let (name, values) = self.row();
        let texts = TEXTS.get(name).and_then(|texts| texts.split_once('\t'));
        let mut parts = texts.map_or(name, language).split('{');
        let mut out = parts.next().unwrap_or_default().to_owned();
        for (place, rest) in parts.filter_map(|part| part.split_once('}')) {
            let value = place
                .parse()
                .ok()
                .and_then(|place: usize| values.get(place));
            out += &value.map(ToString::to_string).unwrap_or_default();
            out += rest;
        }
        out
    }

    /// The line of `ssml-mistakes.tsv`, and what stands in it for {0} and {1}.
    fn row(&self) -> (&'static str, [&dyn Display; 2]) {
        match self {
            Self::NoSpeak => ("no-speak", [&"", &""]),
            Self::OutsideSpeak => ("outside-speak", [&"", &""]),
            Self::SecondSpeak => ("second-speak", [&"", &""]),
            Self::BareAmpersand => ("bare-ampersand", [&"", &""]),
            Self::Declaration => ("declaration", [&"", &""]),
            Self::TooDeep { elements_max } => ("too-deep", [elements_max, &""]),
            Self::BreaksTooLong { minutes_max } => ("breaks-too-long", [minutes_max, &""]),
            Self::NotEmpty(tag) => ("not-empty", [tag, &""]),
            Self::NoProsody => ("no-prosody", [&"", &""]),
            Self::WrongMark { characters_max } => ("wrong-mark", [characters_max, &""]),
            Self::OtherAlphabet => ("other-alphabet", [&"", &""]),
            Self::NoKnownSound => ("no-known-sound", [&"", &""]),
            Self::NamelessTag => ("nameless-tag", [&"", &""]),
            Self::MarkupNotClosed => ("markup-not-closed", [&"", &""]),
            Self::NotClosed(tag) => ("not-closed", [tag, &""]),
            Self::ClosesNothing(tag) => ("closes-nothing", [tag, &""]),
            Self::ClosesOther { found, wanted } => ("closes-other", [found, wanted]),
            Self::Misplaced(tag) => ("misplaced", [tag, &""]),
            Self::Unknown(tag) => ("unknown", [tag, &""]),
            Self::UnknownLanguage(value) => ("unknown-language", [value, &""]),
            Self::WrongTime { time, seconds_max } => ("wrong-time", [time, seconds_max]),
            Self::WrongStrength(value) => ("wrong-strength", [value, &""]),
            Self::WrongProsody { attribute, value } => match attribute.as_str() {
                "rate" => ("wrong-rate", [value, &""]),
                "pitch" => ("wrong-pitch", [value, &""]),
                "volume" => ("wrong-volume", [value, &""]),
                _ => ("wrong-level", [value, &""]),
            },
            Self::OtherProsody(attribute) => ("other-prosody", [attribute, &""]),
            Self::Wants { tag, attribute } => ("wants", [tag, attribute]),
            Self::WrongAttribute(tag) => ("wrong-attribute", [tag, &""]),
            Self::NoValue(tag) => ("no-value", [tag, &""]),
            Self::NotQuoted(attribute) => ("not-quoted", [attribute, &""]),
            Self::ValueNotClosed(attribute) => ("value-not-closed", [attribute, &""]),
            Self::UnknownKind { kind, known } => ("unknown-kind", [kind, known]),
            Self::UnknownFormat { format, known } => ("unknown-format", [format, known]),
            Self::WrongDate { written, format } => ("wrong-date", [written, format]),
            Self::CannotSay { written, kind } => ("cannot-say", [written, kind]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mistake_is_told_in_both_languages() {
        let code = include_str!("ssml_mistake.rs");
        let arms = code.split("=> (\"").skip(1);
        let mut named: Vec<&str> = arms.filter_map(|arm| arm.split('"').next()).collect();
        named.retain(|name| !name.contains('\\'));
        named.sort_unstable();
        let mut told: Vec<&str> = TEXTS.keys().copied().collect();
        told.sort_unstable();
        assert_eq!(named, told);
        for texts in TEXTS.values() {
            let (english, swahili) = texts.split_once('\t').unwrap();
            let places = |text: &str| ["{0}", "{1}"].map(|place| text.contains(place));
            assert_eq!(places(english), places(swahili), "{english}");
        }
    }
}
