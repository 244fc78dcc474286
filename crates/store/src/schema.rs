//! The tables of a database, looked at without changing anything.

use std::time::Duration;

use sqlx::any::AnyPoolOptions;
use sqlx::{AnyConnection, Database};

use crate::StoreError;
use crate::database::{Backend, Target, migrations};
use crate::sql::row;

/// Where sqlx notes the migrations that were made.
pub(crate) const MIGRATIONS_TABLE: &str = "_sqlx_migrations";

/// How a database stands to the migrations of this program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MigrationState {
    pub backend: Backend,
    pub made: usize,
    /// [`Store::open`](crate::Store::open) would make them.
    pub pending: usize,
    /// A newer program made them.
    pub unknown: usize,
}

/// Of a database that is there.
pub async fn migration_state(url: &str) -> Result<MigrationState, StoreError> {
    let target = Target::parse(url)?;
    let looked = look(&target).await;
    looked.map_err(|error| target.explained(error))
}

async fn look(target: &Target) -> Result<MigrationState, StoreError> {
    sqlx::any::install_default_drivers();
    let pool = AnyPoolOptions::new()
        .max_connections(1)
        .acquire_timeout(Duration::from_secs(5))
        .connect(&target.url_of_existing())
        .await?;
    let mut connection = pool.acquire().await?;
    let state = migration_state_of(&mut connection).await;
    drop(connection);
    pool.close().await;
    Ok(state?)
}

pub(crate) async fn migration_state_of(
    connection: &mut AnyConnection,
) -> Result<MigrationState, sqlx::Error> {
    let tables = table_names(connection).await?;
    let made: Vec<i64> = match tables.iter().any(|table| table == MIGRATIONS_TABLE) {
        true => {
            sqlx::query_scalar("select version from _sqlx_migrations")
                .fetch_all(&mut *connection)
                .await?
        }
        false => Vec::new(),
    };
    let known: Vec<i64> = migrations().iter().map(|known| known.version).collect();
    let outside = |list: &[i64], other: &[i64]| {
        let missing = list.iter().filter(|version| !other.contains(version));
        missing.count()
    };
    let backend = match is_sqlite(connection) {
        true => Backend::Sqlite,
        false => Backend::Postgres,
    };
    Ok(MigrationState {
        backend,
        made: made.len(),
        pending: outside(&known, &made),
        unknown: outside(&made, &known),
    })
}

pub(crate) async fn table_names(
    connection: &mut AnyConnection,
) -> Result<Vec<String>, sqlx::Error> {
    let sql = match is_sqlite(connection) {
        true => {
            "select name from sqlite_master where type = 'table' and substr(name, 1, 7) <> 'sqlite_'"
        }
        false => {
            "select cast(tablename as text) from pg_tables where schemaname = current_schema()"
        }
    };
    let mut names: Vec<String> = sqlx::query_scalar(sql).fetch_all(connection).await?;
    // Each database sorts by rules of its own.
    names.sort();
    Ok(names)
}

row! {
    #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
    pub(crate) struct Column {
        pub(crate) name: String,
        pub(crate) kind: String,
    }
}

/// Sorted by name, so that two databases whose tables were widened in another order compare equal.
pub(crate) async fn columns_of(
    connection: &mut AnyConnection,
    table: &str,
) -> Result<Vec<Column>, sqlx::Error> {
    let sql = match is_sqlite(connection) {
        true => "select name, lower(type) as kind from pragma_table_info($1)",
        false => {
            "select cast(column_name as text) as name, cast(data_type as text) as kind
             from information_schema.columns where table_schema = current_schema() and table_name = $1"
        }
    };
    let mut columns: Vec<Column> = sqlx::query_as(sql)
        .bind(table.to_owned())
        .fetch_all(connection)
        .await?;
    columns.sort();
    Ok(columns)
}

fn is_sqlite(connection: &AnyConnection) -> bool {
    connection.backend_name() == sqlx::Sqlite::NAME
}
