//! The database: where it is, how it is connected to, and how its tables are brought up to date.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use sqlx::any::{Any, AnyPoolOptions};
use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::postgres::PgConnectOptions;
use sqlx::{AnyConnection, AnyPool, AssertSqlSafe, Connection, Executor, SqlStr, Transaction};

use crate::folder::{folder_of, owned_like_folder, with_ending};
use crate::instances::lock_for_migration;
use crate::{StoreError, timeouts};

include!(concat!(env!("OUT_DIR"), "/migrations.rs"));

pub(crate) type Tx = Transaction<'static, Any>;

/// A table that a newer program has changed already is no fault: changes only add, and during an upgrade a process of the
/// old program may well start again.
pub(crate) fn migrations() -> Migrator {
    let listed = MIGRATIONS.iter().map(|(version, description, sql)| {
        let sql = SqlStr::from_static(sql);
        Migration::new(
            *version,
            (*description).into(),
            MigrationType::Simple,
            sql,
            false,
        )
    });
    let mut migrations = Migrator::with_migrations(listed.collect());
    migrations.set_ignore_missing(true);
    migrations
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Backend {
    Sqlite,
    Postgres,
}

impl Backend {
    /// Keeps rows still until the transaction ends. SQLite has one writer at a time and needs no such words.
    pub(crate) fn row_lock(self) -> &'static str {
        match self {
            Self::Sqlite => "",
            Self::Postgres => " for update",
        }
    }

    /// Takes only rows that nobody else holds, so that replicas that look for work do not wait for each other.
    pub(crate) fn skip_locked(self, table: &str) -> String {
        match self {
            Self::Sqlite => String::new(),
            Self::Postgres => format!(" for update of {table} skip locked"),
        }
    }

    /// The database's own clock in microseconds, so that replicas with differing clocks agree on who is alive.
    pub(crate) fn clock_us(self) -> &'static str {
        match self {
            Self::Sqlite => "cast((julianday('now') - 2440587.5) * 86400000000.0 as integer)",
            Self::Postgres => "cast(extract(epoch from clock_timestamp()) * 1000000 as bigint)",
        }
    }

    fn begin_write(self) -> &'static str {
        match self {
            Self::Sqlite => "BEGIN IMMEDIATE",
            Self::Postgres => "BEGIN",
        }
    }

    pub(crate) fn begin_snapshot(self) -> &'static str {
        match self {
            Self::Sqlite => "BEGIN",
            Self::Postgres => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
        }
    }
}

/// What an operator may tune; the defaults suit one machine.
#[derive(Debug, Clone)]
pub struct StoreOptions {
    /// Connections for reading (on PostgreSQL also for writing).
    pub connections_max: u32,
    /// Ledger writers; SQLite always has one.
    pub ledger_writers: usize,
    /// Most operations that share one commit.
    pub group_ops_max: usize,
    /// A larger answer body is not kept for idempotent retries; the retry is then answered anew, free of charge.
    pub answer_bytes_max: usize,
    pub idempotency_ttl: Duration,
    /// How long an accepted key is believed without asking the database again: as long as a key that was revoked by another
    /// process, or a closed workspace, may still be accepted.
    pub key_cache_ttl: Duration,
    /// PostgreSQL: how often this process says that it lives, and after what silence another declares it dead.
    pub beat_every: Duration,
    pub dead_after: Duration,
    /// How often dead processes' reservations are released, key use is written and old rows are swept.
    pub maintenance_every: Duration,
    /// Without it the process never says that it lives: for tests of what happens then.
    pub heartbeat: bool,
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self {
            connections_max: 8,
            ledger_writers: 4,
            group_ops_max: 512,
            answer_bytes_max: 4 << 20,
            idempotency_ttl: Duration::from_secs(24 * 3600),
            key_cache_ttl: Duration::from_secs(1),
            beat_every: Duration::from_secs(5),
            dead_after: Duration::from_secs(45),
            maintenance_every: Duration::from_secs(10),
            heartbeat: true,
        }
    }
}

pub(crate) async fn begin_write(pool: &AnyPool, backend: Backend) -> Result<Tx, sqlx::Error> {
    pool.begin_with(backend.begin_write()).await
}

/// Where the database is.
pub(crate) enum Target {
    Sqlite { file: PathBuf, url: String },
    Postgres { url: String },
}

impl Target {
    pub(crate) fn parse(url: &str) -> Result<Self, StoreError> {
        if url.starts_with("postgres://") || url.starts_with("postgresql://") {
            return Ok(Self::Postgres {
                url: url.to_owned(),
            });
        }
        let rest = url.strip_prefix("sqlite:").ok_or_else(|| {
            StoreError::Open("the address must begin with sqlite: or postgres:".into())
        })?;
        let rest = rest.strip_prefix("//").unwrap_or(rest);
        let (path, _) = rest.split_once('?').unwrap_or((rest, ""));
        if path.is_empty() || path == ":memory:" {
            return Err(StoreError::Open(
                "SQLite needs a file: money is not kept in memory".into(),
            ));
        }
        // The driver decodes percent signs, and takes ? and # for its own.
        let escaped = path.replace('%', "%25").replace('#', "%23");
        Ok(Self::Sqlite {
            file: PathBuf::from(path),
            url: format!("sqlite://{escaped}?mode=rwc"),
        })
    }

    pub(crate) fn backend(&self) -> Backend {
        match self {
            Self::Sqlite { .. } => Backend::Sqlite,
            Self::Postgres { .. } => Backend::Postgres,
        }
    }

    pub(crate) fn url(&self) -> &str {
        match self {
            Self::Sqlite { url, .. } | Self::Postgres { url } => url,
        }
    }

    /// Nothing is made where there is none.
    pub(crate) fn url_of_existing(&self) -> String {
        match self {
            Self::Sqlite { url, .. } => url.replace("mode=rwc", "mode=rw"),
            Self::Postgres { url } => url.clone(),
        }
    }

    /// Databases and systems tell of a full disk in many ways, not all of which name it.
    pub(crate) fn explained(&self, error: StoreError) -> StoreError {
        match self {
            Self::Sqlite { file, .. } if is_full(folder_of(file)) => no_room(folder_of(file)),
            _ => error,
        }
    }

    pub(crate) fn disk_folder(&self) -> Option<&Path> {
        match self {
            Self::Sqlite { file, .. } => Some(folder_of(file)),
            Self::Postgres { .. } => None,
        }
    }

    /// What root has made in the service's folder is the service's.
    pub(crate) fn give_to_owner_of_folder(&self) -> Result<(), StoreError> {
        let Self::Sqlite { file, .. } = self else {
            return Ok(());
        };
        let files = ["", "-wal", "-shm"].map(|ending| with_ending(file, ending));
        for file in files.iter().filter(|file| file.exists()) {
            owned_like_folder(file)
                .map_err(|error| StoreError::Open(format!("{}: {error}", file.display())))?;
        }
        Ok(())
    }

    pub(crate) async fn connect(
        &self,
        options: &StoreOptions,
    ) -> Result<(AnyPool, AnyPool), StoreError> {
        let pool = || {
            AnyPoolOptions::new()
                .acquire_timeout(Duration::from_secs(20))
                .test_before_acquire(false)
        };
        match self {
            Self::Postgres { url } => {
                let server = PgConnectOptions::from_str(url)?;
                let port = server.get_port();
                answers(url, &format!("{}:{port}", server.get_host())).await?;
                // A database that is away is told to the caller soon; it may come back for the next one.
                let both = pool()
                    .acquire_timeout(AWAY_AFTER)
                    .max_connections(options.connections_max.max(2))
                    .test_before_acquire(true)
                    .after_connect(move |connection, _| {
                        Box::pin(timeouts::wait_within_bounds(connection, port))
                    });
                let both = both.connect(url).await?;
                Ok((both.clone(), both))
            }
            Self::Sqlite { file, url } => {
                if let Some(folder) = file
                    .parent()
                    .filter(|folder| !folder.as_os_str().is_empty())
                {
                    std::fs::create_dir_all(folder).map_err(|error| {
                        StoreError::Open(format!("{}: {error}", folder.display()))
                    })?;
                }
                say_what_is_wrong(url).await?;
                let write = with_pragmas(pool().max_connections(1), WRITER_CACHE_KB);
                let write = write.connect(url).await?;
                let readers = pool().max_connections(options.connections_max.max(1));
                let read = with_pragmas(readers, READER_CACHE_KB).connect(url).await?;
                Ok((read, write))
            }
        }
    }
}

/// A database that answers no sooner is away.
const AWAY_AFTER: Duration = Duration::from_secs(5);

/// A pool would only say that it waited.
async fn answers(url: &str, server: &str) -> Result<(), StoreError> {
    let away = |why: &dyn std::fmt::Display| StoreError::Open(format!("{server}: {why}"));
    let connected = tokio::time::timeout(AWAY_AFTER, AnyConnection::connect(url)).await;
    let connection = match connected.map_err(|_| away(&"does not answer"))? {
        Err(sqlx::Error::Io(error)) => return Err(away(&error)),
        connected => connected?,
    };
    Ok(connection.close().await?)
}

/// Pages that each connection to SQLite keeps for itself. Those who read are many and have the system's cache behind them:
/// a large one each would hold the same pages many times over, more of them as the database grows.
const WRITER_CACHE_KB: u32 = 16_000;
const READER_CACHE_KB: u32 = 2_000;

fn with_pragmas(pool: AnyPoolOptions, cache_kb: u32) -> AnyPoolOptions {
    let pool = pool.before_acquire(|connection, _| {
        Box::pin(async move {
            // A full disk makes SQLite roll back by itself. The driver still believes in the transaction and would refuse
            // every later one, so such a connection is replaced. The ping waits for a rollback that is on its way.
            if connection.is_in_transaction() {
                connection.ping().await?;
            }
            Ok(!connection.is_in_transaction())
        })
    });
    pool.after_connect(move |connection, _| Box::pin(set_pragmas(connection, cache_kb)))
}

async fn set_pragmas(connection: &mut AnyConnection, cache_kb: u32) -> Result<(), sqlx::Error> {
    let cache_size = format!("pragma cache_size = -{cache_kb}");
    connection.execute(AssertSqlSafe(cache_size)).await?;
    // FULL: the log is on the disk before a commit returns, so a power cut takes nothing that was acknowledged.
    for pragma in [
        "pragma busy_timeout = 20000",
        "pragma journal_mode = wal",
        "pragma synchronous = full",
        "pragma foreign_keys = on",
        // A task of its own moves the log: see checkpoint.rs.
        "pragma wal_autocheckpoint = 0",
        "pragma temp_store = memory",
        // What was deleted is overwritten where that costs no writing of its own.
        "pragma secure_delete = fast",
    ] {
        connection.execute(pragma).await?;
    }
    Ok(())
}

/// A pool tries for 20 s whatever is wrong, and then says only that it took too long. It may well wait for another process.
async fn say_what_is_wrong(url: &str) -> Result<(), StoreError> {
    let mut connection = AnyConnection::connect(url).await?;
    let done = set_pragmas(&mut connection, READER_CACHE_KB).await;
    connection.close().await.ok();
    match done.map_err(StoreError::from) {
        Err(error) if error.is_outage() => Err(error),
        _ => Ok(()),
    }
}

pub(crate) fn no_room(folder: &Path) -> StoreError {
    let folder = folder.display();
    StoreError::Open(format!(
        "there is no room on the disk of {folder}; its `cache` may be deleted while the service is stopped"
    ))
}

/// Whether a database could not even begin its log there.
pub(crate) fn is_full(folder: &Path) -> bool {
    const ROOM_BYTES_MIN: u64 = 1 << 20;
    rustix::fs::statvfs(folder).is_ok_and(|disk| disk.f_bavail * disk.f_frsize < ROOM_BYTES_MIN)
}

pub(crate) async fn migrate(target: &Target, pool: &AnyPool) -> Result<(), StoreError> {
    // PostgreSQL's migrations take an advisory lock; SQLite has none, so two processes that start at once need a file's.
    let lock = match target {
        Target::Sqlite { file, .. } => {
            let file = file.clone();
            let taken = tokio::task::spawn_blocking(move || lock_for_migration(&file)).await;
            Some(taken.map_err(|_| StoreError::Closed)??)
        }
        Target::Postgres { .. } => None,
    };
    let done = match target {
        Target::Sqlite { .. } => migrations().run(pool).await,
        // A connection without the bounds of the others: a migration may take its time, or wait for another process's.
        Target::Postgres { url } => {
            let unbounded = AnyPoolOptions::new()
                .max_connections(1)
                .connect(url)
                .await?;
            let done = migrations().run(&unbounded).await;
            unbounded.close().await;
            done
        }
    };
    drop(lock);
    done.map_err(|error| StoreError::Migration(Arc::new(error)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_a_file_or_a_server() {
        assert!(
            matches!(Target::parse("sqlite:///a/b.db"), Ok(Target::Sqlite { file, .. }) if file.ends_with("a/b.db") && file.is_absolute())
        );
        assert!(
            matches!(Target::parse("sqlite:b.db"), Ok(Target::Sqlite { file, .. }) if file.is_relative())
        );
        assert!(matches!(
            Target::parse("postgres://h/d"),
            Ok(Target::Postgres { .. })
        ));
        assert!(Target::parse("sqlite::memory:").is_err());
        assert!(Target::parse("mysql://h/d").is_err());
    }

    #[tokio::test]
    async fn the_listed_migrations_are_those_that_sqlx_finds_in_the_folder() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations");
        let found = Migrator::new(folder).await.unwrap();
        let shown = |migrations: &Migrator| {
            let row =
                |one: &Migration| (one.version, one.description.clone(), one.checksum.clone());
            migrations.iter().map(row).collect::<Vec<_>>()
        };
        assert!(!shown(&found).is_empty());
        assert_eq!(shown(&migrations()), shown(&found));
    }
}
