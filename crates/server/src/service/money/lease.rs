//! The lease on an idempotency key.

use sauti_store::{Guard, Store};

/// The right to answer for an idempotency key; given up when dropped unanswered, so that a retry
/// can succeed.
pub struct IdempotencyLease {
    store: Store,
    guard: Guard,
    is_answered: bool,
}

impl IdempotencyLease {
    pub fn new(store: &Store, guard: Guard) -> IdempotencyLease {
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
