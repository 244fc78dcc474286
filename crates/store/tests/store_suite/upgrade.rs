//! Programs of two versions on one database: the newer one has changed the tables, the older one works on, and may even
//! start again.

use std::path::Path;

use crate::common::{Database, OLDER_KEY, ask, assert_clean, charge_of, funded, key_with_cap};
use sauti_store::{Backend, Begin, Store, Usage};
use sqlx::{AnyConnection, AssertSqlSafe, Connection, Executor, Row};

on_both_databases!(
    an_older_program_works_and_starts_on_newer_tables,
    old_words_of_the_audit_trail_are_read_as_the_new_ones,
);

/// What an earlier version wrote is all there and can be worked on, and what it held when it was killed is given back.
#[tokio::test]
async fn a_database_of_an_earlier_version_is_read_whole_and_worked_on() {
    let database = Database::of_an_earlier_version().await;
    let store = database.open().await;
    let holder = store.authenticate(OLDER_KEY).await.unwrap();
    let workspace = store.workspace(&holder.workspace_id).await.unwrap();
    assert_eq!((workspace.name.as_str(), holder.confirmed), ("Demo", true));
    let balance = store.balance(&workspace.id).await.unwrap();
    let micro = (balance.available_micro, balance.reserved_micro);
    assert_eq!(micro, (999_906_000, 0), "what was held is given back");
    let keys = store.list_keys(&workspace.id).await.unwrap();
    let chained = keys.iter().filter(|key| key.chain_id.is_some());
    assert_eq!((keys.len(), chained.count()), (4, 2), "two share a cap");
    let members = store.members(&workspace.id).await.unwrap();
    assert_eq!(members[0].role, sauti_store::Role::Owner);

    let everything = sauti_store::StatementQuery {
        to_us: i64::MAX,
        limit: 100,
        ..Default::default()
    };
    let rows = store.statement(&workspace.id, &everything).await.unwrap();
    let credits = rows.iter().filter(|row| row.operation.is_none());
    assert_eq!((rows.len(), credits.count()), (7, 1));
    let days = sauti_store::UsageQuery {
        from_day: "2026-11-01".to_owned(),
        to_day: "2026-11-30".to_owned(),
        key_id: Some(holder.key_id.clone()),
        operation: Some(sauti_store::Operation::Speech),
    };
    let usage = store.usage(&workspace.id, &days).await.unwrap();
    assert_eq!((usage.len(), usage[0].amount_micro), (1, 46_000));

    let batches = store.batches(&workspace.id, None, i64::MAX, 10).await;
    let batch = &batches.unwrap()[0];
    assert_eq!((batch.state.is_over(), batch.counts.done), (true, 2));
    let items = store.batch_items(&batch.id, -1, 10).await.unwrap();
    assert!(items.iter().all(|item| item.answer.contains("seconds")));
    assert_eq!(store.webhooks(&workspace.id).await.unwrap().len(), 1);
    let words = store.pronunciations(&workspace.id).await.unwrap();
    assert_eq!(words[0].spoken, "em pesa");
    let trail = sauti_store::AuditQuery {
        limit: 100,
        ..Default::default()
    };
    for entry in store.audit_list(&trail).await.unwrap() {
        let word = entry.action.parse::<sauti_store::AuditAction>();
        assert!(word.is_ok(), "{} is no word of today", entry.action);
    }
    let fingerprint = "e16d982a4a483c92e239438211e4655157dbea353fd62f2fd277836307808aa8";
    let replayed = store.begin(&workspace.id, "karibu-1", fingerprint).await;
    assert!(matches!(replayed.unwrap(), Begin::Replay(answer) if answer.status == 200));

    assert_clean(&store).await;
    store.charge(charge_of(&workspace, 6_000)).await.unwrap();
    assert_clean(&store).await;
}

/// A row as the command line wrote it before there was one vocabulary, in tables from before its migration.
async fn old_words_of_the_audit_trail_are_read_as_the_new_ones(database: Database) {
    database.open().await.close().await.unwrap();
    let mut connection = AnyConnection::connect(&database.url).await.unwrap();
    for change in [
        "insert into audit (id, actor, action, target, detail, created_us)
         values ('evt_1', 'cli', 'key.create', 'key_x', '', 1), ('evt_2', 'cli', 'account.reset_password', 'acc_x', '', 2)",
        "delete from _sqlx_migrations where version = 9",
    ] {
        connection.execute(change).await.unwrap();
    }
    connection.close().await.unwrap();
    let store = database.open().await;
    let query = sauti_store::AuditQuery {
        limit: 10,
        ..Default::default()
    };
    let entries = store.audit_list(&query).await.unwrap();
    let words: Vec<&str> = entries.iter().map(|entry| entry.action.as_str()).collect();
    assert_eq!(words, ["password.reset", "key.created"]);
}

/// What a program of the next version may do: columns in every table, a table, an index, and its mark.
async fn upgrade(database: &Database, backend: Backend) {
    let mut connection = AnyConnection::connect(&database.url).await.unwrap();
    let tables = match backend {
        Backend::Sqlite => "select name from sqlite_master where type = 'table'",
        Backend::Postgres => {
            "select cast(tablename as text) as name from pg_tables where schemaname = 'public'"
        }
    };
    let rows = connection.fetch_all(tables).await.unwrap();
    let names: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
    let ours = names
        .iter()
        .filter(|name| !name.starts_with("sqlite_") && *name != "_sqlx_migrations");
    let mut changed = 0;
    for table in ours {
        let change =
            format!("alter table {table} add column newer_note text not null default 'none'");
        connection.execute(AssertSqlSafe(change)).await.unwrap();
        changed += 1;
    }
    assert!(changed > 15, "only {changed} tables were found");
    for change in [
        "create table newer_things (id text primary key)",
        "create index newer_entries on entries (newer_note)",
        "insert into _sqlx_migrations (version, description, success, checksum, execution_time) \
         select 9999, 'newer things', success, checksum, execution_time from _sqlx_migrations where version = 1",
    ] {
        connection.execute(change).await.unwrap();
    }
    connection.close().await.unwrap();
}

async fn a_days_work(store: &Store, name: &str) {
    let workspace = funded(store, 1_000).await;
    let key = key_with_cap(store, &workspace, Some(500)).await;
    assert_eq!(
        store
            .authenticate(key.key.reveal())
            .await
            .unwrap()
            .workspace_id,
        workspace.id
    );
    let reservation = store.reserve(ask(&workspace, 400)).await.unwrap();
    assert!(matches!(
        store.begin(&workspace.id, name, "body").await.unwrap(),
        Begin::New(_)
    ));
    store
        .settle(&reservation, 300, Usage::default())
        .await
        .unwrap();
    store.charge(charge_of(&workspace, 100)).await.unwrap();
    let balance = store.balance(&workspace.id).await.unwrap();
    assert_eq!((balance.available_micro, balance.reserved_micro), (600, 0));
    assert_clean(store).await;
}

async fn an_older_program_works_and_starts_on_newer_tables(database: Database) {
    let running = database.open().await;
    a_days_work(&running, "before").await;
    upgrade(&database, running.backend()).await;
    a_days_work(&running, "meanwhile").await;
    running.close().await.unwrap();
    let again = database.open().await;
    a_days_work(&again, "again").await;
    again.close().await.unwrap();
}

/// The words that a statement may begin with, so that what an older program knows stays as it is.
const ADDING: [&str; 3] = ["create table", "create index", "create unique index"];
/// No program decides anything by the words of the audit trail: they may be put right.
const PUTTING_RIGHT: &str = "update audit set action = ";

#[test]
fn migrations_only_add() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations");
    let mut statements = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap().to_lowercase();
        let code: Vec<&str> = text
            .lines()
            .map(|line| line.split("--").next().unwrap_or_default().trim())
            .filter(|line| !line.is_empty())
            .collect();
        let code = code.join(" ");
        for statement in code.split(';').map(str::trim).filter(|s| !s.is_empty()) {
            let adds = ADDING.iter().any(|words| statement.starts_with(words));
            // A row that an older program writes must fit too.
            let widens = statement.starts_with("alter table")
                && statement.contains(" add column ")
                && (statement.contains(" default ") || !statement.contains("not null"));
            let puts_right = statement.starts_with(PUTTING_RIGHT);
            assert!(
                adds || widens || puts_right,
                "{}: {statement}",
                path.display()
            );
            statements += 1;
        }
    }
    assert!(statements > 30, "only {statements} statements were found");
}
