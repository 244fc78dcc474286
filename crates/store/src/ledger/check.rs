//! The invariants of the books, looked at from outside the code that keeps them.

use serde::Serialize;
use sqlx::AnyConnection;

use crate::{Backend, Store, StoreError};

const PROBLEMS_MAX: i64 = 100;

/// What [`Store::check`] found. Clean books have no problems.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct CheckReport {
    pub workspaces: i64,
    pub transfers: i64,
    pub entries: i64,
    pub open_reservations: i64,
    pub problems: Vec<String>,
}

impl CheckReport {
    pub fn is_clean(&self) -> bool {
        self.problems.is_empty()
    }
}

/// Each selects the names of what is wrong, and nothing from clean books.
const CHECKS: [(&str, &str); 10] = [
    (
        "transfer does not sum to zero or has fewer than two entries",
        "select transfer_id from entries group by transfer_id having sum(amount_micro) <> 0 or count(*) < 2",
    ),
    (
        "transfer without entries",
        "select id from transfers where not exists (select 1 from entries where transfer_id = transfers.id)",
    ),
    (
        "entries without transfer",
        "select transfer_id from entries where not exists (select 1 from transfers where id = transfer_id)",
    ),
    ("balance below zero", "select workspace_id from balances where available_micro < 0 or reserved_micro < 0"),
    (
        "available balance differs from its entries",
        "select b.workspace_id from balances b
         left join (select account, sum(amount_micro) as total from entries group by account) e
           on e.account = 'available/' || b.workspace_id
         where b.available_micro <> coalesce(e.total, 0)",
    ),
    (
        "reserved balance differs from its entries",
        "select b.workspace_id from balances b
         left join (select account, sum(amount_micro) as total from entries group by account) e
           on e.account = 'reserved/' || b.workspace_id
         where b.reserved_micro <> coalesce(e.total, 0)",
    ),
    (
        "reserved balance differs from the open reservations",
        "select b.workspace_id from balances b
         left join (select workspace_id, sum(amount_micro) as total from reservations where state = 'open'
                    group by workspace_id) r on r.workspace_id = b.workspace_id
         where b.reserved_micro <> coalesce(r.total, 0)",
    ),
    (
        "settled reservation without exactly one settlement of its amount",
        "select r.id from reservations r
         left join (select reservation_id, count(*) as n, sum(amount_micro) as total from transfers
                    where kind = 'settle' group by reservation_id) t on t.reservation_id = r.id
         where (r.state = 'settled' and (coalesce(t.n, 0) <> 1 or coalesce(t.total, 0) <> r.settled_micro))
            or (r.state <> 'settled' and coalesce(t.n, 0) <> 0)",
    ),
    (
        "key's spend differs from its charges and open reservations",
        "select k.id from api_keys k
         left join key_spend s on s.key_id = k.id
         left join (select key_id, sum(case kind when 'charge' then amount_micro when 'settle' then amount_micro
                                                 when 'refund' then -amount_micro else 0 end) as total
                    from transfers group by key_id) t on t.key_id = k.id
         left join (select key_id, sum(amount_micro) as total from reservations where state = 'open'
                    group by key_id) r on r.key_id = k.id
         where coalesce(s.committed_micro, 0) <> coalesce(t.total, 0) + coalesce(r.total, 0)",
    ),
    (
        "daily usage differs from the charges",
        "select w.id from workspaces w
         left join (select workspace_id, sum(amount_micro) as total, sum(requests) as n from usage_days
                    group by workspace_id) u on u.workspace_id = w.id
         left join (select workspace_id, sum(amount_micro) as total, count(*) as n from transfers
                    where kind in ('charge', 'settle') group by workspace_id) t on t.workspace_id = w.id
         where coalesce(u.total, 0) <> coalesce(t.total, 0) or coalesce(u.n, 0) <> coalesce(t.n, 0)",
    ),
];

impl Store {
    /// Checks all books in one snapshot, while others go on working. Reads every entry: minutes on a huge ledger.
    pub async fn check(&self) -> Result<CheckReport, StoreError> {
        let mut tx = self
            .read()
            .begin_with(self.inner.backend.begin_snapshot())
            .await?;
        if self.backend() == Backend::Postgres {
            sqlx::query("set local statement_timeout = 0")
                .execute(&mut *tx)
                .await?;
        }
        let report = check_books(&mut tx).await?;
        tx.rollback().await?;
        Ok(report)
    }
}

/// As of what the connection sees: a snapshot, or a transaction of its own.
pub(crate) async fn check_books(connection: &mut AnyConnection) -> Result<CheckReport, StoreError> {
    let mut report = CheckReport {
        workspaces: count(connection, "select count(*) from workspaces").await?,
        transfers: count(connection, "select count(*) from transfers").await?,
        entries: count(connection, "select count(*) from entries").await?,
        open_reservations: count(
            connection,
            "select count(*) from reservations where state = 'open'",
        )
        .await?,
        problems: Vec::new(),
    };
    for (what, sql) in CHECKS {
        let sql = format!("{sql} limit {PROBLEMS_MAX}");
        let wrong: Vec<String> = sqlx::query_scalar(sqlx::AssertSqlSafe(sql))
            .fetch_all(&mut *connection)
            .await?;
        let problems = wrong.iter().map(|id| format!("{what}: {id}"));
        report.problems.extend(problems);
    }
    Ok(report)
}

async fn count(connection: &mut AnyConnection, sql: &'static str) -> Result<i64, StoreError> {
    Ok(sqlx::query_scalar(sql).fetch_one(connection).await?)
}
