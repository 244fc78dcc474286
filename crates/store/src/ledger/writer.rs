//! Group commit: writers take whatever operations wait, put them into one transaction, and answer after its commit.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use sqlx::AnyPool;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use super::commit_group::CommitGroup;
use super::job::{Queue, QueuedJob, Submitted};
use super::op::LedgerOperation;
use super::write::WriteError;
use crate::database::{Backend, StoreOptions, begin_write};
use crate::{LedgerError, StoreError, WorkspaceId};

/// Callers beyond this many wait for a place in the queue.
const QUEUE_MAX: usize = 4096;
const GROUP_BYTES_MAX: usize = 16 << 20;
const ATTEMPTS_MAX: u32 = 8;
/// Conflicts pass in milliseconds; a database that is away is told to the callers who wait.
const ATTEMPTS_TIME_MAX: Duration = Duration::from_secs(4);

/// The queues of the writers. All operations of one workspace go to the same one, so writers seldom wait for each other.
pub(crate) struct Writers {
    queues: Mutex<Vec<mpsc::Sender<QueuedJob>>>,
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
            let writer = GroupWriter {
                backend,
                pool: pool.clone(),
                group_ops_max: options.group_ops_max.max(1),
                queue: Queue {
                    sender: sender.downgrade(),
                    runtime: Handle::current(),
                },
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
    pub(crate) async fn submit<O: LedgerOperation>(&self, op: O) -> Result<O::Reply, LedgerError> {
        let queue = self
            .queue_for(op.needs().workspace_id)
            .ok_or(StoreError::Closed)?;
        let (reply, answer) = oneshot::channel();
        queue
            .send(Submitted::job(op, Some(reply)))
            .await
            .map_err(|_| StoreError::Closed)?;
        // A waiting caller must not keep the writer from ending.
        drop(queue);
        answer.await.map_err(|_| StoreError::Closed)?.disarm()
    }

    /// Queues an operation that nobody waits for.
    pub(crate) fn submit_later<O: LedgerOperation>(&self, op: O) {
        if let Some(queue) = self.queue_for(op.needs().workspace_id) {
            let back = Queue {
                sender: queue.downgrade(),
                runtime: self.runtime.clone(),
            };
            back.push(Submitted::job(op, None));
        }
    }

    /// Takes no more, and waits for what is queued.
    pub(crate) async fn close(&self) {
        self.queues.lock().clear();
        let tasks = std::mem::take(&mut *self.tasks.lock());
        for task in tasks {
            let _ = task.await;
        }
    }

    fn queue_for(&self, workspace_id: &WorkspaceId) -> Option<mpsc::Sender<QueuedJob>> {
        let queues = self.queues.lock();
        let mut hasher = DefaultHasher::new();
        workspace_id.hash(&mut hasher);
        let at = hasher.finish().checked_rem(queues.len() as u64)?;
        queues.get(at as usize).cloned()
    }
}

struct GroupWriter {
    backend: Backend,
    pool: AnyPool,
    group_ops_max: usize,
    queue: Queue,
}

/// How a group ended.
enum Failed {
    /// Nothing was written: safe to run again.
    RolledBack(WriteError),
    /// The commit was sent and its answer never came: it may have happened.
    Unknown(sqlx::Error),
}

impl GroupWriter {
    async fn run(self, mut queue: mpsc::Receiver<QueuedJob>) {
        while let Some(first) = queue.recv().await {
            // While one group is being synced to disk the next one gathers, so no timer is needed to fill it.
            let mut bytes = first.needs().body_bytes;
            let mut jobs = vec![first];
            while jobs.len() < self.group_ops_max && bytes < GROUP_BYTES_MAX {
                let Ok(job) = queue.try_recv() else { break };
                bytes += job.needs().body_bytes;
                jobs.push(job);
            }
            self.commit(jobs).await;
        }
    }

    /// Commits jobs together; if the database refuses the group as such, one by one, so that one bad operation cannot
    /// spoil the others.
    async fn commit(&self, mut jobs: Vec<QueuedJob>) {
        match self.attempt(&mut jobs).await {
            Ok(()) => self.answer(jobs),
            Err(Failed::RolledBack(WriteError::Sql(sqlx::Error::Database(_))))
                if jobs.len() > 1 =>
            {
                for job in jobs {
                    let mut job = vec![job];
                    match self.attempt(&mut job).await {
                        Ok(()) => self.answer(job),
                        Err(failed) => self.fail(job, failed),
                    }
                }
            }
            Err(failed) => self.fail(jobs, failed),
        }
    }

    async fn attempt(&self, jobs: &mut [QueuedJob]) -> Result<(), Failed> {
        let mut attempt = 0;
        let begun = Instant::now();
        loop {
            match self.attempt_once(jobs).await {
                Err(Failed::RolledBack(error))
                    if attempt + 1 < ATTEMPTS_MAX
                        && begun.elapsed() < ATTEMPTS_TIME_MAX
                        && may_pass_later(&error) =>
                {
                    tracing::debug!(%error, attempt, "a commit group of the ledger is run again");
                    tokio::time::sleep(Duration::from_millis(5 << attempt)).await;
                    attempt += 1;
                }
                ended => return ended,
            }
        }
    }

    async fn attempt_once(&self, jobs: &mut [QueuedJob]) -> Result<(), Failed> {
        let rolled_back = |error: sqlx::Error| Failed::RolledBack(error.into());
        let mut tx = begin_write(&self.pool, self.backend)
            .await
            .map_err(rolled_back)?;
        let needs: Vec<_> = jobs.iter().map(|job| job.needs()).collect();
        let mut group = CommitGroup::load(&mut tx, self.backend, &needs)
            .await
            .map_err(rolled_back)?;
        for job in jobs {
            job.apply(&mut group);
        }
        group.write(&mut tx).await.map_err(Failed::RolledBack)?;
        match tx.commit().await {
            Ok(()) => Ok(()),
            // The server answered: it did not commit.
            Err(error @ sqlx::Error::Database(_)) if self.backend == Backend::Postgres => {
                Err(rolled_back(error))
            }
            Err(error) => Err(Failed::Unknown(error)),
        }
    }

    fn answer(&self, jobs: Vec<QueuedJob>) {
        for job in jobs {
            job.answer(&self.queue);
        }
    }

    fn fail(&self, jobs: Vec<QueuedJob>, failed: Failed) {
        let unknown = matches!(failed, Failed::Unknown(_));
        let error = match failed {
            Failed::RolledBack(WriteError::Sql(error)) | Failed::Unknown(error) => {
                StoreError::from(error)
            }
            Failed::RolledBack(changed) => sqlx::Error::Protocol(changed.to_string()).into(),
        };
        tracing::error!(source = ?error, operations = jobs.len(), unknown, "a commit group of the ledger failed");
        for job in jobs {
            job.fail(&self.queue, &error, unknown);
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
