//! From SQLite to PostgreSQL: everything comes along, or nothing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::common::{
    Database, OLDER_KEY, ask, assert_clean, assert_statement_runs, charge_of, funded, key_with_cap,
};
use sauti_store::{
    AttemptLimit, AuditQuery, Begin, MigrationState, Moved, NewVocabulary, Role, StatementQuery,
    StoreError, StoreOptions, TokenPurpose, event_payload, migration_state, move_to_postgres,
};
use sqlx::any::AnyRow;
use sqlx::{AnyConnection, AssertSqlSafe, Column, Connection, Executor, Row};

const EVERYTHING: StatementQuery = StatementQuery {
    from_us: 0,
    to_us: i64::MAX,
    after: None,
    limit: 10_000,
};

/// Rows in every table, some of them too many for one statement, and money held by a process that ended without a word.
async fn filled() -> Database {
    let database = Database::of_an_earlier_version().await;
    let silent = StoreOptions {
        heartbeat: false,
        ..StoreOptions::default()
    };
    let store = database.open().await;
    let holder = store.authenticate(OLDER_KEY).await.unwrap();
    let workspace = store.workspace(&holder.workspace_id).await.unwrap();
    let account = store
        .create_account("juma@example.com", "hash", "Juma Ng'ong'o")
        .await
        .unwrap();
    let token = store
        .issue_token(&account.id, TokenPurpose::Confirm)
        .await
        .unwrap();
    store.confirm_account(&token, 20_000_000).await.unwrap();
    store
        .create_session(&account.id, Duration::from_secs(3_600), "simu ya Juma")
        .await
        .unwrap();
    store
        .invite(&workspace.id, "zuri@example.com", Role::Member, "cli")
        .await
        .unwrap();
    let vocabulary = NewVocabulary {
        name: "majina".to_owned(),
        source: "{\"text\":\"Gĩkũyũ\"}".to_owned(),
        words: 1,
        bytes: 18,
        names_max: 10,
    };
    store
        .add_vocabulary(&workspace.id, &vocabulary)
        .await
        .unwrap();
    store
        .set_live_limit("requests_per_minute", Some(i64::MAX))
        .await
        .unwrap();
    let limit = AttemptLimit {
        tried_max: 5,
        window: Duration::from_secs(60),
    };
    store.take_attempt("sign-in", limit).await.unwrap();
    let payload = event_payload("balance.low", &workspace.id, &serde_json::json!({}));
    for endpoint in store.webhooks(&workspace.id).await.unwrap() {
        for event in &endpoint.events {
            store
                .enqueue_event(&workspace.id, event, &payload)
                .await
                .unwrap();
        }
    }
    let batch = &store
        .batches(&workspace.id, None, i64::MAX, 1)
        .await
        .unwrap()[0];
    let bytes: Vec<u8> = (0..=255).cycle().take(200_000).collect();
    for part in 0..30 {
        let blob = "blob_01m7kqfh6cegnsxxy63jam6yap".parse().unwrap();
        store
            .add_blob_part(&batch.id, &blob, part, bytes.clone())
            .await
            .unwrap();
    }
    for _ in 0..300 {
        store.charge(charge_of(&workspace, 7)).await.unwrap();
    }
    store.close().await.unwrap();
    let ended = database.open_with(silent).await;
    ended.reserve(ask(&workspace, 400)).await.unwrap();
    database
}

fn file_of(database: &Database) -> PathBuf {
    Path::new(database.url.strip_prefix("sqlite://").unwrap()).to_path_buf()
}

async fn moved(from: &Database, to: &Database) -> Result<Moved, StoreError> {
    move_to_postgres(&file_of(from), &to.url, |_, _, _| ()).await
}

async fn run(url: &str, sql: &'static str) {
    sqlx::any::install_default_drivers();
    let mut connection = AnyConnection::connect(url).await.unwrap();
    connection.execute(sql).await.unwrap();
    connection.close().await.unwrap();
}

/// Every row of every table as text, sorted; which processes are dead is left out.
async fn rows_of(url: &str) -> BTreeMap<String, Vec<String>> {
    sqlx::any::install_default_drivers();
    let mut connection = AnyConnection::connect(url).await.unwrap();
    let tables = match url.starts_with("sqlite") {
        true => "select name from sqlite_master where type = 'table'",
        false => "select cast(tablename as text) from pg_tables where schemaname = 'public'",
    };
    let tables: Vec<String> = sqlx::query_scalar(tables)
        .fetch_all(&mut connection)
        .await
        .unwrap();
    let mut all = BTreeMap::new();
    for table in tables {
        if table.starts_with("sqlite_") || table == "_sqlx_migrations" {
            continue;
        }
        let sql = format!("select * from {table}");
        let rows = connection.fetch_all(AssertSqlSafe(sql)).await.unwrap();
        let mut rows: Vec<String> = rows.iter().map(shown).collect();
        rows.sort();
        all.insert(table, rows);
    }
    all
}

fn shown(row: &AnyRow) -> String {
    let cell = |at: usize| {
        if let Ok(text) = row.try_get::<Option<String>, _>(at) {
            return format!("{text:?}");
        }
        if let Ok(number) = row.try_get::<Option<i64>, _>(at) {
            return format!("{number:?}");
        }
        format!("{:?}", row.get::<Option<Vec<u8>>, _>(at))
    };
    let columns = row.columns().iter().map(Column::name).enumerate();
    let mut cells: Vec<String> = columns
        .filter(|(_, name)| *name != "dead_us")
        .map(|(at, name)| format!("{name}={}", cell(at)))
        .collect();
    cells.sort();
    cells.join(" ")
}

mod postgres {
    use super::*;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    #[ignore = "needs PostgreSQL: ./test postgres"]
    async fn everything_comes_along_and_is_worked_on() {
        let (from, to) = (filled().await, Database::postgres().await);
        let before = rows_of(&from.url).await;
        for (table, rows) in &before {
            assert!(!rows.is_empty(), "fill the table {table} too");
        }
        let mut told = Vec::new();
        let hear = |table: &str, rows: i64, total: i64| {
            if rows == total {
                told.push((table.to_owned(), rows));
            }
        };
        let moved = move_to_postgres(&file_of(&from), &to.url, hear)
            .await
            .unwrap();
        assert!(moved.report.is_clean());
        assert_eq!(moved.report.open_reservations, 1);
        let counts = before.iter();
        let counts = counts.map(|(table, rows)| (table.clone(), rows.len() as i64));
        told.sort();
        assert_eq!(told, counts.collect::<Vec<_>>());
        let after = rows_of(&to.url).await;
        for (table, rows) in &before {
            assert!(after[table] == *rows, "the table {table} differs");
        }
        assert!(!file_of(&from).exists());
        let kept = format!("sqlite://{}", moved.kept.display());
        assert!(rows_of(&kept).await == before, "the old database is whole");

        let store = to.open().await;
        let holder = store.authenticate(OLDER_KEY).await.unwrap();
        let workspace = store.workspace(&holder.workspace_id).await.unwrap();
        let balance = store.balance(&workspace.id).await.unwrap();
        let micro = (balance.available_micro, balance.reserved_micro);
        assert_eq!(
            micro,
            (999_906_000 - 300 * 7, 0),
            "what was held is given back"
        );
        let statement = store.statement(&workspace.id, &EVERYTHING).await.unwrap();
        assert_eq!(statement.len(), 307);
        let trail = AuditQuery {
            limit: 100,
            ..AuditQuery::default()
        };
        let trail = store.audit_list(&trail).await.unwrap();
        assert_eq!(trail.len(), before["audit"].len());
        let batches = store.batches(&workspace.id, None, i64::MAX, 10).await;
        assert_eq!(batches.unwrap()[0].counts.done, 2);
        let fingerprint = "e16d982a4a483c92e239438211e4655157dbea353fd62f2fd277836307808aa8";
        let replayed = store.begin(&workspace.id, "karibu-1", fingerprint).await;
        assert!(matches!(replayed.unwrap(), Begin::Replay(answer) if answer.status == 200));
        let session = &store
            .account_by_email("juma@example.com")
            .await
            .unwrap()
            .unwrap();
        assert_eq!(store.list_sessions(&session.id).await.unwrap().len(), 1);
        store.charge(charge_of(&workspace, 6_000)).await.unwrap();
        let key = key_with_cap(&store, &workspace, None).await;
        store.authenticate(key.key.reveal()).await.unwrap();
        assert_statement_runs(&store, &workspace.id).await;
        assert_clean(&store).await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    #[ignore = "needs PostgreSQL: ./test postgres"]
    async fn a_move_that_breaks_off_leaves_both_as_they_were_and_may_be_begun_again() {
        let (from, to) = (filled().await, Database::postgres().await);
        run(
            &from.url,
            "update usage_days set operation = 'spe' || char(0) || 'ch'",
        )
        .await;
        let before = rows_of(&from.url).await;
        let error = moved(&from, &to).await.unwrap_err().to_string();
        assert!(
            error.starts_with("nothing was moved: table usage_days: "),
            "{error}"
        );
        assert!(rows_of(&to.url).await.values().all(Vec::is_empty));
        assert!(rows_of(&from.url).await == before);
        run(&from.url, "update usage_days set operation = 'speech'").await;
        moved(&from, &to).await.unwrap();
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    #[ignore = "needs PostgreSQL: ./test postgres"]
    async fn only_an_unused_database_moves_to_an_empty_one() {
        let (from, to) = (Database::sqlite(), Database::postgres().await);
        let said = async |to: &Database| moved(&from, to).await.unwrap_err().to_string();
        assert!(said(&to).await.contains("there is no database"));
        assert!(said(&from).await.contains("must be PostgreSQL"));
        let store = from.open().await;
        funded(&store, 1_000).await;
        assert!(said(&to).await.contains("a process is using the SQLite"));
        store.close().await.unwrap();

        run(&to.url, "create table theirs (id text)").await;
        assert!(said(&to).await.contains("none of ours"));
        run(&to.url, "drop table theirs").await;
        let store = to.open().await;
        assert!(said(&to).await.contains("instances has 1 rows"));
        funded(&store, 1_000).await;
        store.close().await.unwrap();
        assert!(said(&to).await.contains("balances has 1 rows"));

        run(&from.url, "update balances set available_micro = 999").await;
        let to = Database::postgres().await;
        assert!(said(&to).await.contains("the books do not add up"));
        run(&from.url, "update balances set available_micro = 1000").await;
        run(&from.url, "delete from _sqlx_migrations where version > 8").await;
        assert!(said(&to).await.contains("older than this program"));
        let state = migration_state(&from.url).await.unwrap();
        assert!(
            matches!(
                state,
                MigrationState {
                    made: 8,
                    pending: 1..,
                    unknown: 0,
                    ..
                }
            ),
            "{state:?}"
        );
    }
}
