use std::sync::Arc;

use crate::WorkspaceId;
use crate::ledger::ReservationState;

/// What any call on the store can fail with. The `Display` texts are fit for a user; what the database said stands in
/// the `source` only, for the log.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StoreError {
    #[error("no such {0}")]
    NotFound(&'static str),
    #[error("this {0} exists already")]
    Exists(&'static str),
    #[error("{field}: {message}")]
    Invalid {
        field: &'static str,
        message: String,
    },
    #[error("{0}")]
    Refused(&'static str),
    #[error("a workspace may have {max} vocabularies: remove one first")]
    TooManyVocabularies { max: i64 },
    #[error("the link or token is unknown, used or expired")]
    TokenRefused,
    /// An account would be deleted with a workspace of its own that holds money.
    #[error(
        "the workspace {workspace_id} still holds {left_micro} micro-units, which nobody could spend any more"
    )]
    MoneyLeft {
        workspace_id: WorkspaceId,
        /// With what is set aside.
        left_micro: i64,
    },
    #[error("the data store is not available")]
    Database(#[source] Arc<sqlx::Error>),
    #[error("the data store could not be brought up to date")]
    Migration(#[source] Arc<sqlx::migrate::MigrateError>),
    #[error("the data store could not be opened: {0}")]
    Open(String),
    /// From SQLite to PostgreSQL.
    #[error("nothing was moved: {0}")]
    NotMoved(String),
    #[error("the data store is shutting down")]
    Closed,
}

impl StoreError {
    /// Whether the database or its disk is away, rather than the request being at fault: it may work again later.
    pub fn is_outage(&self) -> bool {
        let Self::Database(error) = self else {
            return false;
        };
        match error.as_ref() {
            sqlx::Error::Io(_)
            | sqlx::Error::PoolTimedOut
            | sqlx::Error::PoolClosed
            | sqlx::Error::WorkerCrashed => true,
            // SQLite: read-only (8), input or output (10), full (13), cannot open (14), with their extended codes above
            // the first byte. PostgreSQL: connection exceptions (08), no resources (53), operator intervention (57),
            // a lock (55P03) or a transaction (25P03) that took too long.
            sqlx::Error::Database(error) => {
                error.code().is_some_and(|code| match code.parse::<u32>() {
                    Ok(number) if code.len() != 5 => matches!(number & 0xff, 8 | 10 | 13 | 14),
                    _ => ["08", "53", "57", "55P03", "25P03"]
                        .iter()
                        .any(|class| code.starts_with(class)),
                })
            }
            _ => false,
        }
    }

    pub(crate) fn invalid(field: &'static str, message: impl Into<String>) -> Self {
        Self::Invalid {
            field,
            message: message.into(),
        }
    }
}

impl From<getrandom::Error> for StoreError {
    fn from(_: getrandom::Error) -> Self {
        Self::Open("no random numbers from the system".into())
    }
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        Self::Database(Arc::new(error))
    }
}

/// Why money did not move. No variant is returned after money moved, except `Store` when the database broke off during
/// a commit: then the outcome is not known, and a retry by reservation or idempotency key stays safe.
#[derive(Debug, Clone, thiserror::Error)]
pub enum LedgerError {
    #[error("the balance is too low: {required_micro} needed, {available_micro} available")]
    Insufficient {
        required_micro: i64,
        available_micro: i64,
    },
    #[error(
        "the key's spend cap is reached: {cap_micro} allowed, {committed_micro} spent or reserved"
    )]
    CapExceeded {
        cap_micro: i64,
        committed_micro: i64,
        required_micro: i64,
    },
    #[error("the reservation is already {0}")]
    Finished(ReservationState),
    #[error("no such reservation")]
    UnknownReservation,
    #[error("{asked_micro} is more than the {allowed_micro} allowed")]
    TooMuch {
        asked_micro: i64,
        allowed_micro: i64,
    },
    #[error("no such workspace")]
    UnknownWorkspace,
    /// Nobody could ever spend what came in.
    #[error("the workspace is closed")]
    WorkspaceClosed,
    #[error("no such key")]
    UnknownKey,
    #[error("no such charge")]
    UnknownCharge,
    #[error("this charge has been refunded already")]
    AlreadyRefunded,
    #[error("this reference was used for another payment")]
    ExternalIdReused,
    #[error("the workspace is in {0}")]
    OtherCurrency(String),
    /// A fault of ours: the entries of the named kind of transfer do not sum to zero, or would take a balance below it.
    #[error("a {0} does not balance and was not booked")]
    Unbalanced(&'static str),
    /// The idempotency entry is no longer this caller's (it was abandoned, expired, or its process was declared dead).
    #[error("the idempotency entry is no longer held")]
    GuardLost,
    /// The item of a batch was cancelled, or is in other hands.
    #[error("the item is no longer held")]
    ClaimLost,
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<sqlx::Error> for LedgerError {
    fn from(error: sqlx::Error) -> Self {
        Self::Store(error.into())
    }
}

/// Why a key was not accepted.
#[derive(Debug, Clone, thiserror::Error)]
pub enum AuthError {
    #[error("the key is malformed")]
    Malformed,
    #[error("the key is unknown")]
    Unknown,
    #[error("the key was revoked")]
    Revoked,
    #[error("the key has expired")]
    Expired,
    #[error(transparent)]
    Store(#[from] StoreError),
}
