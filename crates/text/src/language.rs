use std::fmt;
use std::str::FromStr;

/// The language a text is read in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum SpeechLanguage {
    /// Swahili; English words in it are found and said as English.
    #[default]
    Swahili,
    English,
    /// Each sentence in the language that most of its words are of.
    Auto,
}

impl SpeechLanguage {
    pub const ALL: [Self; 3] = [Self::Swahili, Self::English, Self::Auto];

    pub fn name(self) -> &'static str {
        match self {
            Self::Swahili => "sw",
            Self::English => "en",
            Self::Auto => "auto",
        }
    }

    /// By a tag as SSML has it: "sw", "sw-KE", "en-GB".
    pub(crate) fn from_tag(tag: &str) -> Option<Self> {
        match tag.split(['-', '_']).next()?.to_ascii_lowercase().as_str() {
            "sw" | "swa" | "swh" => Some(Self::Swahili),
            "en" | "eng" => Some(Self::English),
            _ => None,
        }
    }
}

impl fmt::Display for SpeechLanguage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The name is not one of sw, en, auto.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the language is one of sw, en, auto")]
pub struct UnknownSpeechLanguage;

impl FromStr for SpeechLanguage {
    type Err = UnknownSpeechLanguage;

    fn from_str(name: &str) -> Result<Self, UnknownSpeechLanguage> {
        let known = Self::ALL
            .into_iter()
            .find(|language| language.name() == name);
        known.ok_or(UnknownSpeechLanguage)
    }
}
