//! Which processes live. Reservations and idempotency entries belong to one; when it dies, a sweep gives them back.
//!
//! On SQLite every process is on one machine: each holds a lock on a file of its own, which the system drops when it
//! dies, however it dies. On PostgreSQL each writes a heartbeat from a thread of its own, so that a busy process still
//! beats. One that was declared dead never comes back to life under that name: it goes on under a new one.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

use parking_lot::{Mutex, RwLock};
use sqlx::{AnyConnection, AnyPool, AssertSqlSafe, Connection};

use crate::database::{Backend, StoreOptions, Target};
use crate::folder::owned_like_folder;
use crate::{InstanceId, StoreError};

pub(crate) struct Instance {
    id: RwLock<InstanceId>,
    /// On SQLite.
    pub(crate) locks_folder: Option<PathBuf>,
    lock: Mutex<Option<File>>,
    /// Dropping it ends the heartbeat's thread.
    stop: Mutex<Option<SyncSender<()>>>,
}

impl Instance {
    pub(crate) async fn register(
        target: &Target,
        pool: &AnyPool,
        options: &StoreOptions,
    ) -> Result<Arc<Self>, StoreError> {
        let id = InstanceId::generate();
        let locks_folder = match target {
            Target::Sqlite { file, .. } => Some(locks_folder(file)),
            Target::Postgres { .. } => None,
        };
        // Locked before the row exists, so that no other process can see the row without the lock.
        let lock = match &locks_folder {
            Some(folder) if options.heartbeat => Some(take_lock(folder, &id)?),
            _ => None,
        };
        sqlx::query(AssertSqlSafe(insert_sql(target.backend())))
            .bind(&id)
            .execute(pool)
            .await?;
        let instance = Arc::new(Self {
            id: RwLock::new(id),
            locks_folder,
            lock: Mutex::new(lock),
            stop: Mutex::new(None),
        });
        if options.heartbeat && target.backend() == Backend::Postgres {
            instance.start_heartbeat(target.url().to_owned(), options.beat_every)?;
        }
        Ok(instance)
    }

    /// The name under which new reservations are made.
    pub(crate) fn id(&self) -> InstanceId {
        self.id.read().clone()
    }

    /// Says that this process is done; the next sweep gives back what it still holds.
    pub(crate) async fn retire(&self, pool: &AnyPool) -> Result<(), StoreError> {
        self.stop.lock().take();
        let id = self.id();
        sqlx::query("update instances set dead_us = beat_us where id = $1 and dead_us is null")
            .bind(&id)
            .execute(pool)
            .await?;
        self.lock.lock().take();
        if let Some(folder) = &self.locks_folder {
            let _ = std::fs::remove_file(folder.join(id.as_str()));
        }
        Ok(())
    }

    fn start_heartbeat(self: &Arc<Self>, url: String, every: Duration) -> Result<(), StoreError> {
        let (stop, stopped) = sync_channel(0);
        *self.stop.lock() = Some(stop);
        let instance = Arc::downgrade(self);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| StoreError::Open(error.to_string()))?;
        std::thread::Builder::new()
            .name("sauti-heartbeat".into())
            .spawn(move || beat_until_stopped(&runtime, &instance, &url, every, &stopped))
            .map_err(|error| StoreError::Open(error.to_string()))?;
        Ok(())
    }
}

fn insert_sql(backend: Backend) -> String {
    let now = backend.clock_us();
    format!("insert into instances (id, started_us, beat_us) values ($1, {now}, {now})")
}

fn beat_until_stopped(
    runtime: &tokio::runtime::Runtime,
    instance: &std::sync::Weak<Instance>,
    url: &str,
    every: Duration,
    stopped: &Receiver<()>,
) {
    let mut connection = None;
    while let Err(RecvTimeoutError::Timeout) = stopped.recv_timeout(every) {
        let Some(instance) = instance.upgrade() else {
            return;
        };
        let beat =
            async { tokio::time::timeout(every * 2, beat(&mut connection, url, &instance)).await };
        match runtime.block_on(beat) {
            Ok(Ok(())) => {}
            failed => {
                connection = None;
                tracing::warn!(?failed, "the heartbeat did not reach the database");
            }
        }
    }
}

async fn beat(
    connection: &mut Option<AnyConnection>,
    url: &str,
    instance: &Instance,
) -> Result<(), sqlx::Error> {
    let connection = match connection {
        Some(connection) => connection,
        None => connection.insert(AnyConnection::connect(url).await?),
    };
    let now = Backend::Postgres.clock_us();
    let sql = format!("update instances set beat_us = {now} where id = $1 and dead_us is null");
    let done = sqlx::query(AssertSqlSafe(sql))
        .bind(instance.id())
        .execute(&mut *connection)
        .await?;
    if done.rows_affected() == 0 {
        let id = InstanceId::generate();
        sqlx::query(AssertSqlSafe(insert_sql(Backend::Postgres)))
            .bind(&id)
            .execute(&mut *connection)
            .await?;
        tracing::warn!(old = %instance.id(), new = %id, "another process declared this one dead; it goes on under a new name");
        *instance.id.write() = id;
    }
    Ok(())
}

fn locks_folder(database: &Path) -> PathBuf {
    let mut name = database.file_name().unwrap_or_default().to_owned();
    name.push("-processes");
    database.with_file_name(name)
}

/// Held while the tables are brought up to date. Waits for another process that does so; blocking.
pub(crate) fn lock_for_migration(database: &Path) -> Result<File, StoreError> {
    take_lock(&locks_folder(database), "migration")
}

fn take_lock(folder: &Path, id: &str) -> Result<File, StoreError> {
    let open = || {
        std::fs::create_dir_all(folder)?;
        owned_like_folder(folder)?;
        let path = folder.join(id);
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)?;
        owned_like_folder(&path)?;
        file.lock()?;
        Ok(file)
    };
    open()
        .map_err(|error: std::io::Error| StoreError::Open(format!("{}: {error}", folder.display())))
}

/// Whether a process's lock is gone. A missing file means that it ended; any doubt means that it lives.
pub(crate) fn is_unlocked(folder: &Path, id: &str) -> bool {
    match OpenOptions::new().write(true).open(folder.join(id)) {
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
        Ok(file) => match file.try_lock() {
            Ok(()) => true,
            Err(TryLockError::WouldBlock | TryLockError::Error(_)) => false,
        },
    }
}

/// Whether any living process, this one included, has the database open.
pub(crate) fn is_in_use(database: &Path) -> bool {
    let folder = locks_folder(database);
    let names = std::fs::read_dir(&folder).into_iter().flatten().flatten();
    names
        .filter_map(|entry| entry.file_name().into_string().ok())
        .any(|id| !is_unlocked(&folder, &id))
}
