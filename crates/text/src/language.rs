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

    /// By a tag or a name, as SSML and clients have them: "sw", "sw-KE", "English".
    pub(crate) fn from_tag(tag: &str) -> Option<Self> {
        let tag = tag.trim().to_ascii_lowercase();
        match tag.split(['-', '_']).next()? {
            "sw" | "swa" | "swh" | "swahili" | "kiswahili" => Some(Self::Swahili),
            "en" | "eng" | "english" => Some(Self::English),
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
        match name {
            "auto" => Ok(Self::Auto),
            _ => Self::from_tag(name).ok_or(UnknownSpeechLanguage),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_language_is_understood_as_clients_name_it() {
        for language in SpeechLanguage::ALL {
            assert_eq!(language.name().parse(), Ok(language));
        }
        assert_eq!("en-GB".parse(), Ok(SpeechLanguage::English));
        assert_eq!("Kiswahili".parse(), Ok(SpeechLanguage::Swahili));
        for unknown in ["fr", "", "automatic"] {
            assert_eq!(
                unknown.parse::<SpeechLanguage>(),
                Err(UnknownSpeechLanguage)
            );
        }
    }
}
