//! Idempotency keys: the same request sent twice is done and charged once.

use sauti_store::{Begin, Guard, Store, StoredAnswer, WorkspaceId};

use crate::ServiceError;
use crate::parts_digest::digest_of;

/// What became of an idempotency key that a request may have brought.
#[derive(Debug)]
pub enum Claim {
    /// No key was sent.
    Unkeyed,
    /// The first request with this key.
    New(IdempotencyLease),
    /// Done and paid before, but the answer is no longer kept: done again, free of charge.
    Paid,
    /// Done before.
    Replay(StoredAnswer),
}

impl Claim {
    pub async fn new(
        store: &Store,
        workspace_id: &WorkspaceId,
        key: Option<&str>,
        fingerprint: impl FnOnce() -> String,
    ) -> Result<Claim, ServiceError> {
        let Some(key) = key else {
            return Ok(Claim::Unkeyed);
        };
        match store.begin(workspace_id, key, &fingerprint()).await? {
            Begin::New(guard) => Ok(Claim::New(IdempotencyLease::new(store, guard))),
            Begin::InFlight => Err(ServiceError::IdempotencyInFlight),
            Begin::Mismatch => Err(ServiceError::IdempotencyMismatch),
            Begin::Replay(StoredAnswer { body: None, .. }) => Ok(Claim::Paid),
            Begin::Replay(answer) => Ok(Claim::Replay(answer)),
        }
    }
}

/// What makes two requests the same: everything that decides the answer.
pub fn fingerprint(parts: &[&[u8]]) -> String {
    hex::encode(digest_of(parts))
}

/// The right to answer for an idempotency key; given up when dropped unanswered, so that a retry
/// can succeed.
pub struct IdempotencyLease {
    store: Store,
    guard: Guard,
    is_answered: bool,
}

impl IdempotencyLease {
    fn new(store: &Store, guard: Guard) -> IdempotencyLease {
        IdempotencyLease {
            store: store.clone(),
            guard,
            is_answered: false,
        }
    }

    pub fn guard(&self) -> &Guard {
        &self.guard
    }

    /// The answer is stored: nothing is left to give up.
    pub fn answered(mut self) {
        self.is_answered = true;
    }
}

impl std::fmt::Debug for IdempotencyLease {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("IdempotencyLease")
            .field("guard", &self.guard)
            .finish_non_exhaustive()
    }
}

impl Drop for IdempotencyLease {
    fn drop(&mut self) {
        if !self.is_answered {
            self.store.abandon_later(&self.guard);
        }
    }
}
