//! Everything from a SQLite database to an empty PostgreSQL database: the tables that are found, not a list of them.
//!
//! It is one transaction. A move that breaks off leaves PostgreSQL empty and SQLite as it was, and may be begun again.
//! No sequences have to go on: every id is made by the program.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use futures_util::TryStreamExt;
use sqlx::any::{AnyConnectOptions, AnyPoolOptions, AnyRow};
use sqlx::{AnyConnection, AnyPool, AssertSqlSafe, ConnectOptions, Connection, Row};

use crate::backup::set_aside;
use crate::database::{Backend, StoreOptions, Target, migrate};
use crate::instances::is_in_use;
use crate::ledger::check_books;
use crate::rows::{Value, execute_rows};
use crate::schema::{Column, MIGRATIONS_TABLE, columns_of, migration_state_of, table_names};
use crate::{CheckReport, StoreError};

/// What goes in one statement: the whole of a table need not fit into memory.
const ROWS_MAX: usize = 256;
const BYTES_MAX: usize = 4 << 20;

/// The table where processes are written down: those of the old database are all dead, and others may stand in the new one.
const PROCESSES: &str = "instances";

#[derive(Debug)]
pub struct Moved {
    /// What the SQLite file is called now, so that no service goes on with it.
    pub kept: PathBuf,
    pub report: CheckReport,
}

/// Copies all of `file`, which no process may be using, to the empty PostgreSQL database of `url`, and checks it there.
/// `told` hears of each table how many of its rows are there, and of how many; when they are all there, once.
pub async fn move_to_postgres(
    file: &Path,
    url: &str,
    told: impl FnMut(&str, i64, i64),
) -> Result<Moved, StoreError> {
    let to = Target::parse(url)?;
    if to.backend() != Backend::Postgres {
        return Err(StoreError::Refused("the new database must be PostgreSQL"));
    }
    if !file.is_file() {
        let missing = format!("there is no database {}", file.display());
        return Err(StoreError::NotMoved(missing));
    }
    let from = Target::parse(&format!("sqlite://{}", file.display()))?;
    sqlx::any::install_default_drivers();
    let mut source = quiet(&from.url_of_existing())?.connect().await?;
    // Whoever would write waits, or gives up.
    let mut reading = source.begin_with("BEGIN IMMEDIATE").await?;
    if is_in_use(file) {
        return Err(StoreError::Refused(
            "a process is using the SQLite database: stop it first",
        ));
    }
    let target = AnyPoolOptions::new().max_connections(1);
    let target = target.connect_with(quiet(url)?).await?;
    prepare(&mut reading, &to, &target).await?;
    let mut writing = target.begin().await?;
    let report = copy_all(&mut reading, &mut writing, told).await?;
    writing.commit().await?;
    reading.rollback().await?;
    source.close().await?;
    target.close().await;
    let kept = set_aside(file, "moved").map_err(|error| {
        let path = file.display();
        StoreError::Open(format!(
            "everything was moved, but {path} cannot be renamed: {error}"
        ))
    })?;
    Ok(Moved { kept, report })
}

/// That a statement takes long is no news here.
fn quiet(url: &str) -> Result<AnyConnectOptions, sqlx::Error> {
    Ok(AnyConnectOptions::from_str(url)?.disable_statement_logging())
}

/// Whether the one can take the place of the other; brings the tables of the new one up to date.
async fn prepare(
    source: &mut AnyConnection,
    to: &Target,
    target: &AnyPool,
) -> Result<(), StoreError> {
    let state = migration_state_of(source).await?;
    if state.unknown > 0 {
        return Err(StoreError::Refused(
            "the SQLite database is newer than this program",
        ));
    }
    if state.pending > 0 {
        return Err(StoreError::Refused(
            "the SQLite database is older than this program: start the service on it once",
        ));
    }
    let tables = table_names(source).await?;
    let mut connection = target.acquire().await?;
    refuse_unless_empty(&mut connection, &tables).await?;
    drop(connection);
    migrate(to, target).await?;
    let mut connection = target.acquire().await?;
    match table_names(&mut connection).await? == tables {
        true => Ok(()),
        false => Err(StoreError::Refused(
            "the two databases do not have the same tables",
        )),
    }
}

async fn refuse_unless_empty(
    target: &mut AnyConnection,
    ours: &[String],
) -> Result<(), StoreError> {
    for table in table_names(target).await? {
        if !ours.contains(&table) {
            let message =
                format!("the PostgreSQL database has a table {table}, which is none of ours");
            return Err(StoreError::NotMoved(message));
        }
        let rows = match table.as_str() {
            MIGRATIONS_TABLE => 0,
            PROCESSES => living_processes(target).await?,
            _ => count(target, &table).await?,
        };
        if rows > 0 {
            let message = format!(
                "the PostgreSQL database must be empty and without a service: {table} has {rows} rows"
            );
            return Err(StoreError::NotMoved(message));
        }
    }
    Ok(())
}

async fn living_processes(target: &mut AnyConnection) -> Result<i64, sqlx::Error> {
    let now = Backend::Postgres.clock_us();
    let silence_us = StoreOptions::default().dead_after.as_micros();
    let sql = format!(
        "select count(*) from {PROCESSES} where dead_us is null and beat_us > {now} - {silence_us}"
    );
    sqlx::query_scalar(AssertSqlSafe(sql))
        .fetch_one(target)
        .await
}

async fn copy_all(
    source: &mut AnyConnection,
    target: &mut AnyConnection,
    mut told: impl FnMut(&str, i64, i64),
) -> Result<CheckReport, StoreError> {
    sqlx::query("delete from instances")
        .execute(&mut *target)
        .await?;
    for table in in_order(source).await? {
        copy_table(source, target, &table, &mut told).await?;
    }
    sqlx::query("update instances set dead_us = beat_us where dead_us is null")
        .execute(&mut *target)
        .await?;
    // Without it the server would plan the first queries as if the tables were empty.
    sqlx::query("analyze").execute(&mut *target).await?;
    let report = check_books(target).await?;
    match report.is_clean() {
        true => Ok(report),
        false => Err(StoreError::Refused(
            "the books do not add up: see `sauti ledger check`",
        )),
    }
}

/// Each table after those that it refers to.
async fn in_order(source: &mut AnyConnection) -> Result<Vec<String>, StoreError> {
    let mut waiting = Vec::new();
    for table in table_names(source).await? {
        if table == MIGRATIONS_TABLE {
            continue;
        }
        let sql = "select \"table\" from pragma_foreign_key_list($1)";
        let named: Vec<String> = sqlx::query_scalar(sql)
            .bind(table.clone())
            .fetch_all(&mut *source)
            .await?;
        waiting.push((table, named));
    }
    let mut ordered = Vec::new();
    while !waiting.is_empty() {
        let (ready, later): (Vec<_>, Vec<_>) = waiting
            .into_iter()
            .partition(|(_, named)| named.iter().all(|name| ordered.contains(name)));
        if ready.is_empty() {
            return Err(StoreError::Refused(
                "tables refer to each other in a circle",
            ));
        }
        ordered.extend(ready.into_iter().map(|(table, _)| table));
        waiting = later;
    }
    Ok(ordered)
}

async fn copy_table(
    source: &mut AnyConnection,
    target: &mut AnyConnection,
    table: &str,
    told: &mut impl FnMut(&str, i64, i64),
) -> Result<(), StoreError> {
    let failed = |why: String| StoreError::NotMoved(format!("table {table}: {why}"));
    let columns = columns_of(source, table).await?;
    if columns != columns_of(target, table).await? {
        return Err(failed("the columns differ".to_owned()));
    }
    let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    let names = names.join(", ");
    let insert = format!("insert into {table} ({names}) values ");
    let select = format!("select {names} from {table}");
    let total = count(source, table).await?;
    let mut rows = sqlx::query(AssertSqlSafe(select)).fetch(&mut *source);
    let (mut copied, mut chunk, mut bytes) = (0, Vec::new(), 0);
    loop {
        let row = rows.try_next().await?;
        let at_end = row.is_none();
        if let Some(row) = row {
            let values = values_of(&row, &columns).map_err(|error| failed(error.to_string()))?;
            bytes += values.iter().map(Value::bytes).sum::<usize>();
            chunk.push(values);
        }
        let full = chunk.len() >= ROWS_MAX || bytes >= BYTES_MAX;
        if full || (at_end && (!chunk.is_empty() || total == 0)) {
            bytes = 0;
            let done = execute_rows(target, &insert, std::mem::take(&mut chunk), "").await;
            copied += done.map_err(|error| failed(error.to_string()))? as i64;
            told(table, copied, total);
        }
        if at_end {
            break;
        }
    }
    let there = count(target, table).await?;
    match (copied, there) == (total, total) {
        true => Ok(()),
        false => Err(failed(format!("{there} of {total} rows are there"))),
    }
}

fn values_of(row: &AnyRow, columns: &[Column]) -> Result<Vec<Value>, sqlx::Error> {
    let value = |(at, column): (usize, &Column)| match column.kind.as_str() {
        "text" => row.try_get(at).map(Value::MaybeText),
        "bigint" => row.try_get(at).map(Value::MaybeInt),
        "bytea" => row.try_get(at).map(Value::MaybeBytes),
        other => Err(sqlx::Error::TypeNotFound {
            type_name: other.to_owned(),
        }),
    };
    columns.iter().enumerate().map(value).collect()
}

async fn count(connection: &mut AnyConnection, table: &str) -> Result<i64, sqlx::Error> {
    sqlx::query_scalar(AssertSqlSafe(format!("select count(*) from {table}")))
        .fetch_one(connection)
        .await
}
