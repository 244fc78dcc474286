/// Why a recording could not be read or sound could not be written.
#[derive(Debug, thiserror::Error)]
pub enum AudioError {
    #[error("the recording is empty")]
    Empty,
    #[error(
        "it is in no audio container that is read here: WAV, AIFF, AU, CAF, MP3, MP2, FLAC, Ogg, WebM, M4A, AAC, GSM"
    )]
    UnknownContainer,
    #[error("the recording cannot be decoded: {0}")]
    Undecodable(String),
    #[error("the recording is longer than {seconds_max} seconds")]
    TooLong { seconds_max: f64 },
    #[error("the recording has an impossible format: {0}")]
    AbsurdFormat(String),
    #[error("channels are only separated of a recording that has two, and this one has {channels}")]
    NotTwoChannels { channels: u16 },
    #[error("decoding was cancelled")]
    Cancelled,
    #[error("the recording could not be read")]
    Io(#[from] std::io::Error),
}

impl AudioError {
    pub(crate) fn undecodable(why: impl Into<String>) -> Self {
        Self::Undecodable(why.into())
    }
}
