//! Idempotency entries: claimed, answered, given up.

use super::commit_group::{Change, CommitGroup, KeptAnswer};
use super::needs::{RowsNeeded, Storing};
use super::op::{LedgerOperation, Undo};
use super::types::Guard;
use crate::{InstanceId, LedgerError};

const RUNNING: &str = "running";
const DONE: &str = "done";

#[derive(Debug)]
pub(crate) struct BeginAnswer {
    pub(crate) guard: Guard,
    pub(crate) fingerprint: String,
    pub(crate) instance_id: InstanceId,
    pub(crate) lifetime_us: i64,
}

#[derive(Debug)]
pub(crate) struct FinishAnswer {
    pub(crate) storing: Storing,
}

#[derive(Debug)]
pub(crate) struct AbandonAnswer {
    pub(crate) guard: Guard,
}

/// What was found under an idempotency key.
#[derive(Debug)]
pub(crate) enum Begun {
    New(Guard),
    InFlight,
    Mismatch,
    Done(Guard),
}

impl LedgerOperation for BeginAnswer {
    type Reply = Begun;

    fn needs(&self) -> RowsNeeded<'_> {
        RowsNeeded {
            guard: Some(&self.guard),
            ..RowsNeeded::of(&self.guard.workspace_id)
        }
    }

    fn apply(&self, group: &mut CommitGroup) -> Result<Begun, LedgerError> {
        let guard = &self.guard;
        if !group.funds.contains_key(&guard.workspace_id) {
            return Err(LedgerError::UnknownWorkspace);
        }
        if let Some(answer) = group.answers.get(&guard.slot())
            && answer.is_alive(group.now_us)
        {
            let same = answer.fingerprint == self.fingerprint;
            return Ok(match (same, answer.state == DONE) {
                (false, _) => Begun::Mismatch,
                (true, false) => Begun::InFlight,
                (true, true) => Begun::Done(Guard {
                    id: answer.guard_id.clone(),
                    ..guard.clone()
                }),
            });
        }
        let answer = KeptAnswer {
            workspace_id: guard.workspace_id.clone(),
            idem_key: guard.key.clone(),
            guard_id: guard.id.clone(),
            fingerprint: self.fingerprint.clone(),
            state: RUNNING.to_owned(),
            instance_id: self.instance_id.clone(),
            status: 0,
            headers: String::new(),
            body: None,
            created_us: group.now_us,
            expires_us: group.now_us.saturating_add(self.lifetime_us),
            change: Change::Updated,
        };
        group.answers.insert(guard.slot(), answer);
        Ok(Begun::New(guard.clone()))
    }

    fn undo(&self) -> Option<Undo> {
        let guard = self.guard.clone();
        Some(Undo::Abandon(AbandonAnswer { guard }))
    }

    fn claims(reply: &Begun) -> bool {
        matches!(reply, Begun::New(_))
    }
}

impl LedgerOperation for FinishAnswer {
    type Reply = ();

    fn needs(&self) -> RowsNeeded<'_> {
        RowsNeeded::of(&self.storing.guard.workspace_id).storing(Some(&self.storing))
    }

    fn apply(&self, group: &mut CommitGroup) -> Result<(), LedgerError> {
        group.check_guard(&self.storing.guard)?;
        group.store(&self.storing);
        Ok(())
    }
}

impl LedgerOperation for AbandonAnswer {
    type Reply = ();

    fn needs(&self) -> RowsNeeded<'_> {
        RowsNeeded {
            guard: Some(&self.guard),
            ..RowsNeeded::of(&self.guard.workspace_id)
        }
    }

    /// No error where it is not held any more.
    fn apply(&self, group: &mut CommitGroup) -> Result<(), LedgerError> {
        let answer = group.answers.get_mut(&self.guard.slot());
        if let Some(answer) = answer.filter(|answer| answer.is_held_by(&self.guard)) {
            answer.change = Change::Deleted;
        }
        Ok(())
    }
}

impl CommitGroup {
    pub(super) fn check_guard(&self, guard: &Guard) -> Result<(), LedgerError> {
        match self.answers.get(&guard.slot()) {
            Some(answer) if answer.is_held_by(guard) => Ok(()),
            _ => Err(LedgerError::GuardLost),
        }
    }

    pub(super) fn store(&mut self, storing: &Storing) {
        if let Some(answer) = self.answers.get_mut(&storing.guard.slot()) {
            answer.state = DONE.to_owned();
            answer.status = storing.status;
            answer.headers = storing.headers.clone();
            answer.body = storing.body.clone();
            answer.change = Change::Updated;
        }
    }
}

impl KeptAnswer {
    fn is_alive(&self, now_us: i64) -> bool {
        self.change != Change::Deleted && self.expires_us > now_us
    }

    fn is_held_by(&self, guard: &Guard) -> bool {
        self.change != Change::Deleted && self.state != DONE && self.guard_id == guard.id
    }
}
