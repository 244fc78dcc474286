use thiserror::Error;

/// Why a text cannot be spoken.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TextError {
    #[error("the text is empty")]
    Empty,
    #[error("the text has nothing that can be spoken")]
    NothingSpeakable,
    #[error("the text has characters that cannot be spoken in Swahili: {}", list(.0))]
    UnspeakableCharacters(Vec<char>),
    #[error("SSML, line {line}: {message}")]
    Ssml { line: usize, message: String },
    #[error("the text has {characters} characters, more than {characters_max}")]
    TooLong {
        characters: usize,
        characters_max: usize,
    },
}

fn list(characters: &[char]) -> String {
    let named: Vec<String> = characters
        .iter()
        .map(|c| format!("'{c}' (U+{:04X})", *c as u32))
        .collect();
    named.join(", ")
}
