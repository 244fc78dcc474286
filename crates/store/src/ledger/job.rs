//! An operation on its way through a writer's queue, and its reply on the way back.

use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};

use super::commit_group::CommitGroup;
use super::needs::RowsNeeded;
use super::op::{LedgerOperation, Undo};
use crate::{LedgerError, StoreError};

/// How often an operation that nobody waits for is tried again when the database fails.
const LATER_ATTEMPTS_MAX: u32 = 60;
const LATER_PAUSE: Duration = Duration::from_secs(1);

/// An operation of any kind: a queue holds all of them, each with the type of its own reply inside.
pub(super) type QueuedJob = Box<dyn QueuedOperation>;

pub(super) trait QueuedOperation: Send {
    fn needs(&self) -> RowsNeeded<'_>;

    /// Keeps the outcome until the group is committed. May be called again after the group was rolled back.
    fn apply(&mut self, group: &mut CommitGroup);

    /// The group is committed: the caller gets the outcome.
    fn answer(self: Box<Self>, queue: &Queue);

    /// The group failed. `unknown`: the commit was sent and may have happened.
    fn fail(self: Box<Self>, queue: &Queue, error: &StoreError, unknown: bool);
}

/// The way back into a writer's queue. Weak, so that a waiting retry does not keep a closed store's writer alive.
#[derive(Clone)]
pub(super) struct Queue {
    pub(super) sender: mpsc::WeakSender<QueuedJob>,
    pub(super) runtime: Handle,
}

impl Queue {
    pub(super) fn push(&self, job: QueuedJob) {
        let Some(sender) = self.sender.upgrade() else {
            return;
        };
        if let Err(mpsc::error::TrySendError::Full(job) | mpsc::error::TrySendError::Closed(job)) =
            sender.try_send(job)
        {
            self.push_after(job, Duration::ZERO);
        }
    }

    fn push_after(&self, job: QueuedJob, delay: Duration) {
        let sender = self.sender.clone();
        self.runtime.spawn(async move {
            tokio::time::sleep(delay).await;
            if let Some(sender) = sender.upgrade() {
                let _ = sender.send(job).await;
            }
        });
    }
}

pub(super) struct Submitted<O: LedgerOperation> {
    op: O,
    outcome: Option<Result<O::Reply, LedgerError>>,
    reply: Option<oneshot::Sender<Armed<O::Reply>>>,
    failures: u32,
}

impl<O: LedgerOperation> Submitted<O> {
    /// Without a reply it is one that nobody waits for.
    pub(super) fn job(op: O, reply: Option<oneshot::Sender<Armed<O::Reply>>>) -> QueuedJob {
        Box::new(Self {
            op,
            outcome: None,
            reply,
            failures: 0,
        })
    }
}

impl<O: LedgerOperation> QueuedOperation for Submitted<O> {
    fn needs(&self) -> RowsNeeded<'_> {
        self.op.needs()
    }

    fn apply(&mut self, group: &mut CommitGroup) {
        self.outcome = Some(self.op.apply(group));
    }

    fn answer(self: Box<Self>, queue: &Queue) {
        let outcome = self.outcome.unwrap_or(Err(StoreError::Closed.into()));
        let Some(reply) = self.reply else {
            if let Err(error) = outcome {
                tracing::debug!(%error, op = ?self.op, "an operation that nobody waits for had no effect");
            }
            return;
        };
        let claims = outcome.as_ref().is_ok_and(O::claims);
        // A caller who has gone hands the reply back, and dropping it undoes the claim.
        let _ = reply.send(Armed {
            undo: claims.then(|| self.op.undo()).flatten(),
            outcome: Some(outcome),
            queue: queue.clone(),
        });
    }

    fn fail(mut self: Box<Self>, queue: &Queue, error: &StoreError, unknown: bool) {
        let Some(reply) = self.reply.take() else {
            self.failures += 1;
            if self.failures < LATER_ATTEMPTS_MAX {
                queue.push_after(self, LATER_PAUSE);
            }
            return;
        };
        if let Some(undo) = self.op.undo().filter(|_| unknown) {
            queue.push_after(undo.into_job(), LATER_PAUSE);
        }
        let _ = reply.send(Armed {
            outcome: Some(Err(error.clone().into())),
            undo: None,
            queue: queue.clone(),
        });
    }
}

impl Undo {
    fn into_job(self) -> QueuedJob {
        match self {
            Self::Release(op) => Submitted::job(op, None),
            Self::Abandon(op) => Submitted::job(op, None),
        }
    }
}

/// A reply on its way. If the caller has gone before taking it, what it claims is given back.
pub(super) struct Armed<R> {
    outcome: Option<Result<R, LedgerError>>,
    undo: Option<Undo>,
    queue: Queue,
}

impl<R> Armed<R> {
    pub(super) fn disarm(mut self) -> Result<R, LedgerError> {
        self.undo = None;
        let outcome = self.outcome.take();
        outcome.unwrap_or(Err(StoreError::Closed.into()))
    }
}

impl<R> Drop for Armed<R> {
    fn drop(&mut self) {
        if let Some(undo) = self.undo.take() {
            self.queue.push(undo.into_job());
        }
    }
}
