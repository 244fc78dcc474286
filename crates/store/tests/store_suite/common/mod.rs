//! A fresh database for each test, on SQLite, and on the PostgreSQL server that SAUTI_TEST_POSTGRES_URL names (`./test postgres`).
use sauti_store::{
    Environment, IssuedKey, NewKey, Permissions, ReserveRequest, Store, StoreOptions, Workspace,
    WorkspaceId, ids::new_id,
};
use sqlx::{AnyConnection, AssertSqlSafe, Connection, Executor, PgConnection};

/// The key of the demonstration in `older_data.sql`, which opens nothing else.
pub const OLDER_KEY: &str =
    "sauti_live_01m7kqcyh8ex590by5t5xqhpzd_bhElTMrI7UrYKWmsKpldSwa5rMmDbBsz0wXjyP";

/// A database that goes away with this value (on PostgreSQL, with its server).
pub struct Database {
    pub url: String,
    _folder: Option<tempfile::TempDir>,
}

impl Database {
    pub fn sqlite() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}/sauti.db", folder.path().display());
        Self {
            url,
            _folder: Some(folder),
        }
    }

    /// With the rows of `older_data.sql`.
    pub async fn of_an_earlier_version() -> Self {
        let database = Self::sqlite();
        sqlx::any::install_default_drivers();
        let url = format!("{}?mode=rwc", database.url);
        let mut connection = AnyConnection::connect(&url).await.unwrap();
        connection
            .execute(include_str!("../older_data.sql"))
            .await
            .unwrap();
        connection.close().await.unwrap();
        database
    }

    pub async fn postgres() -> Self {
        let server = std::env::var("SAUTI_TEST_POSTGRES_URL").expect("a server is named");
        let name = new_id("test_");
        let mut connection = PgConnection::connect(&server).await.unwrap();
        connection
            .execute(AssertSqlSafe(format!("create database {name}")))
            .await
            .unwrap();
        connection.close().await.unwrap();
        let (base, _) = server.rsplit_once('/').unwrap();
        Self {
            url: format!("{base}/{name}"),
            _folder: None,
        }
    }

    pub async fn open(&self) -> Store {
        self.open_with(StoreOptions::default()).await
    }

    pub async fn open_with(&self, options: StoreOptions) -> Store {
        Store::open_with(
            &self.url,
            StoreOptions {
                connections_max: 6,
                ..options
            },
        )
        .await
        .unwrap()
    }
}

/// Makes each named async function, which takes a `Database`, a test on both databases.
macro_rules! on_both_databases {
    ($($name:ident),* $(,)?) => {
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                super::$name($crate::common::Database::sqlite()).await;
            })*
        }
        mod postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            #[ignore = "needs PostgreSQL: ./test postgres"]
            async fn $name() {
                super::$name($crate::common::Database::postgres().await).await;
            })*
        }
    };
}

pub async fn funded(store: &Store, amount_micro: i64) -> Workspace {
    let workspace = store.create_workspace(None, "Duka", "TZS").await.unwrap();
    if amount_micro > 0 {
        store
            .credit(&workspace.id, amount_micro, "test", &workspace.id)
            .await
            .unwrap();
    }
    workspace
}

pub async fn key_with_cap(
    store: &Store,
    workspace: &Workspace,
    cap_micro: Option<i64>,
) -> IssuedKey {
    let new = NewKey {
        workspace_id: workspace.id.clone(),
        environment: Environment::Live,
        name: "simu".into(),
        permissions: Permissions::all(),
        expires_us: None,
        spend_cap_micro: cap_micro,
        created_by: "test".into(),
    };
    store.create_key(new).await.unwrap()
}

pub fn ask(workspace: &Workspace, amount_micro: i64) -> ReserveRequest {
    ReserveRequest {
        workspace_id: workspace.id.clone(),
        key_id: None,
        operation: sauti_store::Operation::Speech,
        amount_micro,
        request_id: new_id("req_"),
    }
}

pub fn charge_of(workspace: &Workspace, amount_micro: i64) -> sauti_store::ChargeRequest {
    sauti_store::ChargeRequest {
        workspace_id: workspace.id.clone(),
        key_id: None,
        operation: sauti_store::Operation::Speech,
        amount_micro,
        request_id: new_id("req_"),
        usage: sauti_store::Usage {
            units: 10,
            audio_ms: 700,
            cached: true,
        },
    }
}

/// Each row of the statement continues the total of the one before it.
pub async fn assert_statement_runs(store: &Store, workspace_id: &WorkspaceId) {
    let query = sauti_store::StatementQuery {
        from_us: 0,
        to_us: i64::MAX,
        after: None,
        limit: 10_000,
    };
    let mut total_micro = 0;
    let mut before_us = 0;
    for row in store.statement(workspace_id, &query).await.unwrap() {
        total_micro += row.amount_micro;
        assert_eq!(row.total_after_micro, total_micro, "{row:?}");
        assert!(row.created_us > before_us, "{row:?}");
        before_us = row.created_us;
    }
}

pub async fn assert_clean(store: &Store) {
    let report = store.check().await.unwrap();
    assert!(report.is_clean(), "{report:#?}");
}
