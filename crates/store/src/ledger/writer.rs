//! Group commit: writers take whatever operations wait, put them into one transaction, and answer after its commit.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use sqlx::AnyPool;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use super::batch::Batch;
use super::op::{Done, IdemState, Op};
use super::write::WriteError;
use crate::open::{Backend, begin_write};
use crate::{LedgerError, StoreError, StoreOptions};

/// Callers beyond this many wait for a place in the queue.
const QUEUE_MAX: usize = 4096;
const BATCH_BYTES_MAX: usize = 16 << 20;
const ATTEMPTS_MAX: u32 = 8;
/// Conflicts pass in milliseconds; a database that is away is told to the callers who wait.
const ATTEMPTS_TIME_MAX: Duration = Duration::from_secs(4);
/// How often an operation that nobody waits for is tried again when the database fails.
const LATER_ATTEMPTS_MAX: u32 = 60;

struct Job {
    op: Op,
    reply: Option<oneshot::Sender<Armed>>,
    failures: u32,
}

type Outcome = Result<Done, LedgerError>;

/// An answer on its way. If the caller has gone before taking it, what it claims is given back.
struct Armed {
    outcome: Option<Outcome>,
    undo: Option<Op>,
    queue: mpsc::WeakSender<Job>,
    runtime: Handle,
}

impl Armed {
    fn disarm(mut self) -> Outcome {
        self.undo = None;
        self.outcome
            .take()
            .unwrap_or(Err(StoreError::Closed.into()))
    }
}

impl Drop for Armed {
    fn drop(&mut self) {
        let claims = matches!(
            self.outcome,
            Some(Ok(Done::Reserved(_) | Done::Begun(IdemState::New(_))))
        );
        if let (true, Some(op), Some(queue)) = (claims, self.undo.take(), self.queue.upgrade()) {
            push(
                &queue,
                &self.runtime,
                Job {
                    op,
                    reply: None,
                    failures: 0,
                },
                Duration::ZERO,
            );
        }
    }
}

fn push(queue: &mpsc::Sender<Job>, runtime: &Handle, job: Job, delay: Duration) {
    let job = match delay.is_zero() {
        true => match queue.try_send(job) {
            Ok(()) => return,
            Err(mpsc::error::TrySendError::Full(job) | mpsc::error::TrySendError::Closed(job)) => {
                job
            }
        },
        false => job,
    };
    // Weak, so that a waiting retry does not keep a closed store's writer alive.
    let queue = queue.downgrade();
    runtime.spawn(async move {
        tokio::time::sleep(delay).await;
        if let Some(queue) = queue.upgrade() {
            let _ = queue.send(job).await;
        }
    });
}

/// The queues of the writers. All operations of one workspace go to the same one, so writers seldom wait for each other.
pub(crate) struct Writers {
    queues: Mutex<Vec<mpsc::Sender<Job>>>,
    tasks: Mutex<Vec<JoinHandle<()>>>,
    runtime: Handle,
}

impl Writers {
    pub(crate) fn start(backend: Backend, pool: &AnyPool, options: &StoreOptions) -> Self {
        let count = match backend {
            Backend::Sqlite => 1,
            // Some connections stay free for everything else.
            Backend::Postgres => options
                .ledger_writers
                .clamp(1, (options.connections_max as usize / 2).max(1)),
        };
        let (mut queues, mut tasks) = (Vec::new(), Vec::new());
        for _ in 0..count {
            let (sender, receiver) = mpsc::channel(QUEUE_MAX);
            let writer = Writer {
                backend,
                pool: pool.clone(),
                batch_ops_max: options.batch_ops_max.max(1),
                queue: sender.downgrade(),
                runtime: Handle::current(),
            };
            queues.push(sender);
            tasks.push(tokio::spawn(writer.run(receiver)));
        }
        Self {
            queues: Mutex::new(queues),
            tasks: Mutex::new(tasks),
            runtime: Handle::current(),
        }
    }

    /// Queues an operation and waits until it is durably done.
    pub(crate) async fn submit(&self, op: Op) -> Outcome {
        let queue = self
            .queue_for(op.workspace_id())
            .ok_or(StoreError::Closed)?;
        let (reply, answer) = oneshot::channel();
        queue
            .send(Job {
                op,
                reply: Some(reply),
                failures: 0,
            })
            .await
            .map_err(|_| StoreError::Closed)?;
        // A waiting caller must not keep the writer from ending.
        drop(queue);
        answer.await.map_err(|_| StoreError::Closed)?.disarm()
    }

    /// Queues an operation that nobody waits for.
    pub(crate) fn submit_later(&self, op: Op) {
        if let Some(queue) = self.queue_for(op.workspace_id()) {
            push(
                &queue,
                &self.runtime,
                Job {
                    op,
                    reply: None,
                    failures: 0,
                },
                Duration::ZERO,
            );
        }
    }

    /// Takes no more, and waits for what is queued.
    pub(crate) async fn close(&self) {
        self.queues
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clear();
        let tasks = std::mem::take(&mut *self.tasks.lock().unwrap_or_else(PoisonError::into_inner));
        for task in tasks {
            let _ = task.await;
        }
    }

    fn queue_for(&self, workspace_id: &str) -> Option<mpsc::Sender<Job>> {
        let queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
        let mut hasher = DefaultHasher::new();
        workspace_id.hash(&mut hasher);
        let at = hasher.finish().checked_rem(queues.len() as u64)?;
        queues.get(at as usize).cloned()
    }
}

struct Writer {
    backend: Backend,
    pool: AnyPool,
    batch_ops_max: usize,
    queue: mpsc::WeakSender<Job>,
    runtime: Handle,
}

/// How a batch ended.
enum Failed {
    /// Nothing was written: safe to run again.
    RolledBack(WriteError),
    /// The commit was sent and its answer never came: it may have happened.
    Unknown(sqlx::Error),
}

impl Writer {
    async fn run(self, mut queue: mpsc::Receiver<Job>) {
        while let Some(first) = queue.recv().await {
            // While one batch is being synced to disk the next one gathers, so no timer is needed to fill it.
            let mut bytes = first.op.body_bytes();
            let mut jobs = vec![first];
            while jobs.len() < self.batch_ops_max && bytes < BATCH_BYTES_MAX {
                let Ok(job) = queue.try_recv() else { break };
                bytes += job.op.body_bytes();
                jobs.push(job);
            }
            self.commit(jobs).await;
        }
    }

    /// Commits jobs together; if the database refuses the batch as such, one by one, so that one bad operation cannot
    /// spoil the others.
    async fn commit(&self, jobs: Vec<Job>) {
        match self.attempt(&jobs).await {
            Ok(outcomes) => self.answer(jobs, outcomes),
            Err(Failed::RolledBack(WriteError::Sql(sqlx::Error::Database(_))))
                if jobs.len() > 1 =>
            {
                for job in jobs {
                    let job = vec![job];
                    match self.attempt(&job).await {
                        Ok(outcomes) => self.answer(job, outcomes),
                        Err(failed) => self.fail(job, failed),
                    }
                }
            }
            Err(failed) => self.fail(jobs, failed),
        }
    }

    async fn attempt(&self, jobs: &[Job]) -> Result<Vec<Outcome>, Failed> {
        let mut attempt = 0;
        let begun = Instant::now();
        loop {
            match self.attempt_once(jobs).await {
                Err(Failed::RolledBack(error))
                    if attempt + 1 < ATTEMPTS_MAX
                        && begun.elapsed() < ATTEMPTS_TIME_MAX
                        && may_pass_later(&error) =>
                {
                    tracing::debug!(%error, attempt, "a ledger batch is run again");
                    tokio::time::sleep(Duration::from_millis(5 << attempt)).await;
                    attempt += 1;
                }
                ended => return ended,
            }
        }
    }

    async fn attempt_once(&self, jobs: &[Job]) -> Result<Vec<Outcome>, Failed> {
        let rolled_back = |error: sqlx::Error| Failed::RolledBack(error.into());
        let mut tx = begin_write(&self.pool, self.backend)
            .await
            .map_err(rolled_back)?;
        let ops = jobs.iter().map(|job| &job.op);
        let mut batch = Batch::load(&mut tx, self.backend, ops)
            .await
            .map_err(rolled_back)?;
        let outcomes = jobs.iter().map(|job| batch.apply(&job.op)).collect();
        batch.write(&mut tx).await.map_err(Failed::RolledBack)?;
        match tx.commit().await {
            Ok(()) => Ok(outcomes),
            // The server answered: it did not commit.
            Err(error @ sqlx::Error::Database(_)) if self.backend == Backend::Postgres => {
                Err(rolled_back(error))
            }
            Err(error) => Err(Failed::Unknown(error)),
        }
    }

    fn answer(&self, jobs: Vec<Job>, outcomes: Vec<Outcome>) {
        for (job, outcome) in jobs.into_iter().zip(outcomes) {
            let undo = job.op.undo();
            let armed = Armed {
                outcome: Some(outcome),
                undo,
                queue: self.queue.clone(),
                runtime: self.runtime.clone(),
            };
            if let Some(reply) = job.reply {
                // A caller who has gone hands the answer back, and dropping it undoes the claim.
                let _ = reply.send(armed);
            } else if let Some(Err(error)) = &armed.outcome {
                tracing::debug!(%error, "an operation that nobody waits for had no effect");
            }
        }
    }

    fn fail(&self, jobs: Vec<Job>, failed: Failed) {
        let unknown = matches!(failed, Failed::Unknown(_));
        let error = match failed {
            Failed::RolledBack(WriteError::Sql(error)) | Failed::Unknown(error) => {
                StoreError::from(error)
            }
            Failed::RolledBack(changed) => sqlx::Error::Protocol(changed.to_string()).into(),
        };
        tracing::error!(source = ?error, operations = jobs.len(), unknown, "a ledger batch failed");
        for job in jobs {
            let again = match (&job.reply, unknown) {
                (None, _) => Some((job.op, job.failures + 1)),
                (Some(_), true) => job.op.undo().map(|op| (op, 1)),
                (Some(_), false) => None,
            };
            if let Some(reply) = job.reply {
                let _ = reply.send(Armed {
                    outcome: Some(Err(error.clone().into())),
                    undo: None,
                    queue: self.queue.clone(),
                    runtime: self.runtime.clone(),
                });
            }
            if let (Some((op, failures)), Some(queue)) = (again, self.queue.upgrade())
                && failures < LATER_ATTEMPTS_MAX
            {
                push(
                    &queue,
                    &self.runtime,
                    Job {
                        op,
                        reply: None,
                        failures,
                    },
                    Duration::from_secs(1),
                );
            }
        }
    }
}

/// Conflicts between replicas, a lost connection before the commit, another process holding SQLite's lock.
fn may_pass_later(error: &WriteError) -> bool {
    match error {
        WriteError::Changed(_) => true,
        WriteError::Sql(sqlx::Error::Io(_) | sqlx::Error::PoolTimedOut) => true,
        WriteError::Sql(sqlx::Error::Database(error)) => {
            // A unique violation means that another replica just credited the same payment: the next look finds it.
            error.is_unique_violation()
                || error.code().is_some_and(|code| {
                    matches!(
                        code.as_ref(),
                        "40001" | "40P01" | "55P03" | "57P01" | "5" | "6" | "261" | "517"
                    )
                })
        }
        WriteError::Sql(_) => false,
    }
}
