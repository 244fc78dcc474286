use thiserror::Error;

use crate::ssml_mistake::SsmlMistake;

/// Why a text cannot be spoken.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TextError {
    #[error("the text is empty")]
    Empty,
    #[error("the text has nothing that can be spoken")]
    NothingSpeakable,
    #[error("the text has characters that cannot be spoken in Swahili: {}", list(.0))]
    UnspeakableCharacters(Vec<char>),
    #[error("SSML, line {line}: {}", .mistake.english())]
    Ssml { line: usize, mistake: SsmlMistake },
    #[error("the text has {characters} characters, more than {characters_max}")]
    TooLong {
        characters: usize,
        characters_max: usize,
    },
}

impl TextError {
    /// The same in Swahili.
    pub fn swahili(&self) -> String {
        match self {
            Self::Empty => "maandishi ni matupu".to_owned(),
            Self::NothingSpeakable => "maandishi hayana kinachoweza kutamkwa".to_owned(),
            Self::UnspeakableCharacters(characters) => {
                let characters = list(characters);
                format!("maandishi yana alama zisizotamkika kwa Kiswahili: {characters}")
            }
            Self::Ssml { line, mistake } => {
                format!("SSML, mstari wa {line}: {}", mistake.swahili())
            }
            Self::TooLong {
                characters,
                characters_max,
            } => format!("maandishi yana herufi {characters}, zaidi ya {characters_max}"),
        }
    }
}

fn list(characters: &[char]) -> String {
    let named: Vec<String> = characters
        .iter()
        .map(|c| format!("'{c}' (U+{:04X})", *c as u32))
        .collect();
    named.join(", ")
}
