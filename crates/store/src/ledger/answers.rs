//! Idempotency entries in a batch: claimed, answered, given up.

use super::batch::{Answer, Batch, Change};
use super::op::{Done, IdemState, Storing};
use crate::LedgerError;
use crate::idempotency::Guard;

impl Batch {
    pub(super) fn begin(
        &mut self,
        guard: &Guard,
        fingerprint: &str,
        instance_id: &str,
        lifetime_us: i64,
    ) -> Result<Done, LedgerError> {
        if !self.funds.contains_key(&guard.workspace_id) {
            return Err(LedgerError::UnknownWorkspace);
        }
        let slot = (guard.workspace_id.clone(), guard.key.clone());
        if let Some(answer) = self
            .answers
            .get(&slot)
            .filter(|answer| answer.is_alive(self.now_us))
        {
            let state = match (answer.fingerprint == fingerprint, answer.done) {
                (false, _) => IdemState::Mismatch,
                (true, false) => IdemState::InFlight,
                (true, true) => IdemState::Done(Guard {
                    id: answer.guard_id.clone(),
                    ..guard.clone()
                }),
            };
            return Ok(Done::Begun(state));
        }
        let answer = Answer {
            guard_id: guard.id.clone(),
            fingerprint: fingerprint.to_owned(),
            done: false,
            instance_id: instance_id.to_owned(),
            status: 0,
            headers: String::new(),
            body: None,
            created_us: self.now_us,
            expires_us: self.now_us.saturating_add(lifetime_us),
            change: Change::Updated,
        };
        self.answers.insert(slot, answer);
        Ok(Done::Begun(IdemState::New(guard.clone())))
    }

    pub(super) fn check_guard(&self, guard: &Guard) -> Result<(), LedgerError> {
        let slot = (guard.workspace_id.clone(), guard.key.clone());
        let held = self
            .answers
            .get(&slot)
            .is_some_and(|answer| answer.is_held_by(guard));
        if held {
            Ok(())
        } else {
            Err(LedgerError::GuardLost)
        }
    }

    pub(super) fn store(&mut self, storing: &Storing) {
        let slot = (
            storing.guard.workspace_id.clone(),
            storing.guard.key.clone(),
        );
        if let Some(answer) = self.answers.get_mut(&slot) {
            answer.done = true;
            answer.status = storing.status;
            answer.headers = storing.headers.clone();
            answer.body = storing.body.clone();
            answer.change = Change::Updated;
        }
    }

    pub(super) fn abandon(&mut self, guard: &Guard) -> Done {
        let slot = (guard.workspace_id.clone(), guard.key.clone());
        if let Some(answer) = self
            .answers
            .get_mut(&slot)
            .filter(|answer| answer.is_held_by(guard))
        {
            answer.change = Change::Deleted;
        }
        Done::Abandoned
    }
}

impl Answer {
    fn is_alive(&self, now_us: i64) -> bool {
        self.change != Change::Deleted && self.expires_us > now_us
    }

    fn is_held_by(&self, guard: &Guard) -> bool {
        self.change != Change::Deleted && !self.done && self.guard_id == guard.id
    }
}
