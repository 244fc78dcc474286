use std::time::Duration;

/// Everything that can go wrong between a job and its result.
#[derive(Debug, Clone, thiserror::Error)]
pub enum SpeechError {
    #[error("the queue is full")]
    Overloaded { retry_after: Duration },
    #[error("the models are still loading")]
    WarmingUp { retry_after: Duration },
    #[error("the engine is shutting down")]
    ShuttingDown,
    #[error("the deadline passed before the work was done")]
    DeadlineExceeded,
    #[error("there is no voice {0:?}")]
    UnknownVoice(String),
    /// The text has nothing that can be spoken, or characters no voice can speak.
    #[error("{0}")]
    Unspeakable(String),
    #[error("{0}")]
    BadRequest(String),
    /// A model file is missing, damaged or of another version; names the file and the remedy.
    #[error("{0}")]
    Model(String),
    /// A worker panicked or a model failed. The details are logged where it happened.
    #[error("the engine failed on this job")]
    Internal,
}

impl SpeechError {
    /// Of a recording whose samples wait in a file.
    pub(crate) fn unreadable(error: std::io::Error) -> Self {
        tracing::error!(%error, "the samples of a recording cannot be read again");
        SpeechError::Internal
    }
}
