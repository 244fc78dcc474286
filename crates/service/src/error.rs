//! Why the service did not do what it was asked. Doors put it into their own words.

use sauti_audio::AudioError;
use sauti_speech::SpeechError;
use sauti_store::{LedgerError, StoreError};
use sauti_text::TextError;

use super::FieldError;
use super::transcribing::SpoolError;

#[derive(Debug, thiserror::Error)]
pub enum ServiceError {
    #[error("the fields of the request are not accepted")]
    Fields(Vec<FieldError>),
    #[error(transparent)]
    Text(#[from] TextError),
    #[error("the text takes about {seconds} s to say, more than {seconds_max} s")]
    SpeechTooLong { seconds: u64, seconds_max: u64 },
    #[error(transparent)]
    Spool(#[from] SpoolError),
    #[error(transparent)]
    Audio(#[from] AudioError),
    #[error(transparent)]
    Speech(#[from] SpeechError),
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("a request with this idempotency key is being answered")]
    IdempotencyInFlight,
    #[error("the idempotency key was used for another request")]
    IdempotencyMismatch,
    /// Too many guesses or letters; so many seconds until the next.
    #[error("too many attempts: wait {retry_after_s} s")]
    TooManyAttempts { retry_after_s: u64 },
    #[error("more seconds of audio a minute than the limit allows: wait {retry_after_s} s")]
    TooMuchAudio { retry_after_s: u64 },
    /// Too many passwords wait to be hashed.
    #[error("too busy: wait {retry_after_s} s")]
    Busy { retry_after_s: u64 },
    #[error("the address or the password is wrong")]
    CredentialsWrong,
    #[error("the account is not confirmed")]
    Unconfirmed,
    #[error("accounts are made by the operator here")]
    SignUpClosed,
    #[error("the role does not allow it")]
    RoleMissing,
    /// Not a member, or no such workspace: which of both is not told.
    #[error("in no such workspace")]
    NoMember,
    /// An address to send to that lies in a private network.
    #[error("the address is inside a private network")]
    PrivateAddress,
    #[error("the API key was revoked")]
    KeyRevoked,
    #[error("the batch could not be done in the time it was given")]
    BatchOverdue,
    #[error("the work on this item broke off too often")]
    ItemBrokeOff,
    #[error("this origin is not one that recordings are fetched from")]
    OriginNotAllowed,
    /// The reason is for the customer, who chose the address; it names nothing of the inside.
    #[error("the recording was not fetched: {0}")]
    RecordingUnreachable(String),
    /// A fault of ours; the words are for the log.
    #[error("{0}")]
    Internal(String),
}

impl ServiceError {
    pub fn internal(cause: impl std::fmt::Display) -> ServiceError {
        ServiceError::Internal(cause.to_string())
    }
}
