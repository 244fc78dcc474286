//! What can be wrong with SSML, in words that help, in English and Swahili.

use crate::say_as;

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
    UnknownFormat(String),
    WrongDate {
        written: String,
        format: String,
    },
    CannotSay {
        written: String,
        kind: String,
    },
}

const TAGS: &str = "speak, p, s, break, mark, say-as, sub, prosody, emphasis, phoneme, lang";

const REGIONAL: &str = "sw-KE, en-US";

/// What may stand in an attribute of `prosody` or `emphasis`.
fn examples(attribute: &str) -> &'static str {
    match attribute {
        "rate" => "x-slow ... x-fast, 80%, 0.8 (0.5 ... 2)",
        "pitch" => "x-low ... x-high, +10%, -2st (-12st ... +12st)",
        "volume" => "silent, x-soft ... x-loud, +6dB (... +12dB)",
        _ => "strong, moderate, none, reduced",
    }
}

impl SsmlMistake {
    pub fn english(&self) -> String {
        match self {
            Self::NoSpeak => "a <speak> element is wanted".to_owned(),
            Self::OutsideSpeak => "text stands outside <speak>".to_owned(),
            Self::SecondSpeak => "one <speak> element holds everything".to_owned(),
            Self::BareAmpersand => "'&' must be written as &amp;".to_owned(),
            Self::Declaration => "declarations are not taken".to_owned(),
            Self::TooDeep { elements_max } => {
                format!("more than {elements_max} elements inside each other")
            }
            Self::BreaksTooLong { minutes_max } => {
                format!("the breaks add up to more than {minutes_max} minutes")
            }
            Self::NotEmpty(tag) => format!("<{tag}> must be empty: <{tag}/>"),
            Self::NoProsody => "<prosody> wants rate, pitch or volume".to_owned(),
            Self::WrongMark { characters_max } => format!(
                "<mark> wants a name of 1 to {characters_max} characters: <mark name=\"a\"/>"
            ),
            Self::OtherAlphabet => "<phoneme> knows only the alphabet ipa".to_owned(),
            Self::NoKnownSound => "the ph of <phoneme> has no known sound".to_owned(),
            Self::NamelessTag => "a tag has no name".to_owned(),
            Self::MarkupNotClosed => "a tag or a comment is not closed".to_owned(),
            Self::NotClosed(tag) => format!("<{tag}> is not closed"),
            Self::ClosesNothing(tag) => format!("</{tag}> closes nothing"),
            Self::ClosesOther { found, wanted } => {
                format!("</{found}> where </{wanted}> is wanted")
            }
            Self::Misplaced(tag) => format!("<{tag}> must not stand here"),
            Self::Unknown(tag) => format!("<{tag}> is not known; the tags are {TAGS}"),
            Self::UnknownLanguage(value) => {
                format!(
                    "the language '{value}' is not spoken here; there are sw and en, also as {REGIONAL}"
                )
            }
            Self::WrongTime { time, seconds_max } => {
                format!("'{time}' is no time from 0s to {seconds_max}s; write 300ms or 1.5s")
            }
            Self::WrongStrength(value) => format!("'{value}' is no strength"),
            Self::WrongProsody { attribute, value } => {
                format!("'{value}' is no {attribute}; write {}", examples(attribute))
            }
            Self::OtherProsody(attribute) => {
                format!("<prosody> knows rate, pitch and volume, not {attribute}")
            }
            Self::Wants { tag, attribute } => format!("<{tag}> wants {attribute}"),
            Self::WrongAttribute(tag) => format!("<{tag}> has a wrong attribute"),
            Self::NoValue(tag) => format!("<{tag}> has an attribute without a value"),
            Self::NotQuoted(attribute) => format!("the value of {attribute} wants quotes"),
            Self::ValueNotClosed(attribute) => format!("the value of {attribute} is not closed"),
            Self::UnknownKind { kind, known } => {
                format!("interpret-as '{kind}' is not known; there are {known}")
            }
            Self::UnknownFormat(format) => {
                let known = say_as::DATE_FORMATS.join(", ");
                format!("the format '{format}' of a date is not known; there are {known}")
            }
            Self::WrongDate { written, format } => {
                format!("'{written}' is no date in the format {format}")
            }
            Self::CannotSay { written, kind } => format!("'{written}' cannot be said as {kind}"),
        }
    }

    pub fn swahili(&self) -> String {
        match self {
            Self::NoSpeak => "panahitajika lebo ya <speak>".to_owned(),
            Self::OutsideSpeak => "kuna maandishi nje ya <speak>".to_owned(),
            Self::SecondSpeak => "kila kitu kiwe ndani ya <speak> moja".to_owned(),
            Self::BareAmpersand => "'&' iandikwe &amp;".to_owned(),
            Self::Declaration => "matamko ya XML hayakubaliki".to_owned(),
            Self::TooDeep { elements_max } => {
                format!("kuna zaidi ya lebo {elements_max} moja ndani ya nyingine")
            }
            Self::BreaksTooLong { minutes_max } => {
                format!("vituo kwa jumla vinazidi dakika {minutes_max}")
            }
            Self::NotEmpty(tag) => format!("<{tag}> iwe tupu: <{tag}/>"),
            Self::NoProsody => "<prosody> inahitaji rate, pitch au volume".to_owned(),
            Self::WrongMark { characters_max } => format!(
                "<mark> inahitaji jina la herufi 1 hadi {characters_max}: <mark name=\"a\"/>"
            ),
            Self::OtherAlphabet => "<phoneme> inakubali alfabeti ya ipa pekee".to_owned(),
            Self::NoKnownSound => "ph ya <phoneme> haina sauti inayojulikana".to_owned(),
            Self::NamelessTag => "kuna lebo isiyo na jina".to_owned(),
            Self::MarkupNotClosed => "kuna lebo au maelezo yasiyofungwa".to_owned(),
            Self::NotClosed(tag) => format!("<{tag}> haijafungwa"),
            Self::ClosesNothing(tag) => format!("</{tag}> haifungi chochote"),
            Self::ClosesOther { found, wanted } => {
                format!("kuna </{found}> mahali pa </{wanted}>")
            }
            Self::Misplaced(tag) => format!("<{tag}> haipaswi kuwa hapa"),
            Self::Unknown(tag) => format!("<{tag}> haijulikani; lebo zilizopo ni {TAGS}"),
            Self::UnknownLanguage(value) => {
                format!("lugha '{value}' haisemwi hapa; zilizopo ni sw na en, pia kama {REGIONAL}")
            }
            Self::WrongTime { time, seconds_max } => {
                format!("'{time}' si muda kati ya 0s na {seconds_max}s; andika 300ms au 1.5s")
            }
            Self::WrongStrength(value) => format!("'{value}' si kiwango cha strength"),
            Self::WrongProsody { attribute, value } => {
                let examples = examples(attribute);
                format!("'{value}' si thamani ya {attribute}; andika {examples}")
            }
            Self::OtherProsody(attribute) => {
                format!("<prosody> inajua rate, pitch na volume, si {attribute}")
            }
            Self::Wants { tag, attribute } => format!("<{tag}> inahitaji {attribute}"),
            Self::WrongAttribute(tag) => format!("<{tag}> ina sifa isiyo sahihi"),
            Self::NoValue(tag) => format!("<{tag}> ina sifa isiyo na thamani"),
            Self::NotQuoted(attribute) => {
                format!("thamani ya {attribute} iwe ndani ya alama za kunukuu")
            }
            Self::ValueNotClosed(attribute) => format!("thamani ya {attribute} haijafungwa"),
            Self::UnknownKind { kind, known } => {
                format!("interpret-as '{kind}' haijulikani; zilizopo ni {known}")
            }
            Self::UnknownFormat(format) => {
                let known = say_as::DATE_FORMATS.join(", ");
                format!("format '{format}' ya tarehe haijulikani; zilizopo ni {known}")
            }
            Self::WrongDate { written, format } => {
                format!("'{written}' si tarehe ya format {format}")
            }
            Self::CannotSay { written, kind } => format!("'{written}' haiwezi kusomwa kama {kind}"),
        }
    }
}
