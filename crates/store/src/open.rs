//! The open store: its pools, the ledger's writers and the background work.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use sqlx::AnyPool;

use crate::auth::KeyCache;
use crate::database::{Backend, StoreOptions, Target, Tx, begin_write, is_full, migrate, no_room};
use crate::instances::Instance;
use crate::ledger::Writers;
use crate::{StoreError, checkpoint, maintenance};

/// The open store. Clones share one pool, one set of ledger writers and one key cache.
#[derive(Clone)]
pub struct Store {
    pub(crate) inner: Arc<StoreInner>,
}

pub(crate) struct StoreInner {
    pub(crate) backend: Backend,
    /// Whose disk must have room; a server looks after its own.
    disk_folder: Option<PathBuf>,
    pub(crate) options: StoreOptions,
    pub(crate) read: AnyPool,
    /// On SQLite a single connection, so that waiting writers queue fairly instead of polling the file's lock.
    pub(crate) write: AnyPool,
    pub(crate) writers: Writers,
    pub(crate) instance: Arc<Instance>,
    pub(crate) keys: KeyCache,
}

impl Store {
    /// Opens `sqlite:///path/to/file` (made when missing) or `postgres://...`, and brings the tables up to date.
    pub async fn open(url: &str) -> Result<Self, StoreError> {
        Self::open_with(url, StoreOptions::default()).await
    }

    pub async fn open_with(url: &str, options: StoreOptions) -> Result<Self, StoreError> {
        let target = Target::parse(url)?;
        let opened = Self::open_at(&target, options).await;
        opened.map_err(|error| target.explained(error))
    }

    async fn open_at(target: &Target, options: StoreOptions) -> Result<Self, StoreError> {
        sqlx::any::install_default_drivers();
        let backend = target.backend();
        let (read, write) = target.connect(&options).await?;
        migrate(target, &write).await?;
        target.give_to_owner_of_folder()?;
        let instance = Instance::register(target, &write, &options).await?;
        let writers = Writers::start(backend, &write, &options);
        let keys = KeyCache::new(options.key_cache_ttl);
        let store = Self {
            inner: Arc::new(StoreInner {
                backend,
                disk_folder: target.disk_folder().map(Path::to_path_buf),
                options,
                read,
                write,
                writers,
                instance,
                keys,
            }),
        };
        store.sweep().await?;
        maintenance::spawn(&store);
        checkpoint::spawn(&store);
        Ok(store)
    }

    pub fn backend(&self) -> Backend {
        self.inner.backend
    }

    /// Whether the database answers and has room to write; for readiness.
    pub async fn ping(&self) -> Result<(), StoreError> {
        if let Some(folder) = self.inner.disk_folder.as_deref().filter(|at| is_full(at)) {
            return Err(no_room(folder));
        }
        sqlx::query("select 1").execute(&self.inner.read).await?;
        Ok(())
    }

    /// Finishes what waits, releases what this process still holds, and closes the connections.
    pub async fn close(&self) -> Result<(), StoreError> {
        self.flush_key_use().await?;
        self.inner.instance.retire(&self.inner.write).await?;
        self.sweep().await?;
        self.inner.writers.close().await;
        self.inner.read.close().await;
        self.inner.write.close().await;
        Ok(())
    }

    pub(crate) fn read(&self) -> &AnyPool {
        &self.inner.read
    }

    /// A pool for single statements that write.
    pub(crate) fn write(&self) -> &AnyPool {
        &self.inner.write
    }

    /// A transaction that may read and then write without another writer slipping in between on SQLite; on PostgreSQL
    /// whoever reads to decide must lock the row or make the write conditional.
    pub(crate) async fn begin_write(&self) -> Result<Tx, StoreError> {
        Ok(begin_write(&self.inner.write, self.inner.backend).await?)
    }
}
