//! Account statements: what changed a workspace's total. Reservations and releases do not, and are left out.

use std::fmt::Display;

use serde::{Serialize, Serializer};
use sqlx::any::{Any, AnyArguments};
use sqlx::query::QueryAs;

use crate::ids::now_us;
use crate::sql::{is_set, row};
use crate::{KeyId, Operation, Store, StoreError, TransferId, WorkspaceId};

#[derive(Debug, Clone, Default)]
pub struct StatementQuery {
    /// From this moment on, up to but without `to_us`.
    pub from_us: i64,
    pub to_us: i64,
    /// The `(created_us, id)` of the last row of the page before.
    pub after: Option<(i64, TransferId)>,
    pub limit: i64,
}

row! {
    #[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
    pub struct StatementRow {
        pub id: TransferId,
        pub created_us: i64,
        /// `credit`, `correction`, `charge`, `settle` or `refund`.
        pub kind: String,
        /// What it did to the total: charges are negative.
        pub amount_micro: i64,
        pub total_after_micro: i64,
        /// Of a charge or its refund.
        #[serde(serialize_with = "or_empty")]
        #[schema(value_type = String)]
        pub operation: Option<Operation>,
        pub units: i64,
        pub audio_ms: i64,
        pub cached: bool = i64 => is_set,
        #[serde(serialize_with = "or_empty")]
        #[schema(value_type = String)]
        pub key_id: Option<KeyId>,
        pub request_id: String,
        pub refund_of: Option<TransferId>,
        pub external_id: Option<String>,
        pub memo: String,
    }
}

/// On the wire what is absent is an empty text.
fn or_empty<T: Display, S: Serializer>(
    value: &Option<T>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match value {
        Some(value) => serializer.collect_str(value),
        None => serializer.serialize_str(""),
    }
}

impl StatementRow {
    pub const CSV_HEADER: &'static str = "time,id,kind,amount_micro,total_after_micro,operation,units,audio_ms,cached,key_id,request_id,refund_of,external_id,memo";

    /// One line of CSV without its end.
    pub fn to_csv(&self) -> String {
        let time = jiff::Timestamp::from_microsecond(self.created_us)
            .map(|time| time.to_string())
            .unwrap_or_default();
        let fields = [
            time,
            self.id.to_string(),
            self.kind.clone(),
            self.amount_micro.to_string(),
            self.total_after_micro.to_string(),
            self.operation.map_or("", Operation::as_str).to_owned(),
            self.units.to_string(),
            self.audio_ms.to_string(),
            self.cached.to_string(),
            self.key_id.as_deref().unwrap_or_default().to_owned(),
            text_field(&self.request_id),
            self.refund_of.as_deref().unwrap_or_default().to_owned(),
            text_field(self.external_id.as_deref().unwrap_or("")),
            text_field(&self.memo),
        ];
        fields.join(",")
    }
}

/// Quotes where needed, and disarms what a spreadsheet would run as a formula.
fn text_field(text: &str) -> String {
    let formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let text = if formula {
        format!("'{text}")
    } else {
        text.to_owned()
    };
    if text.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text
    }
}

impl Store {
    pub(crate) fn transfers_where(
        &self,
        rest: &'static str,
    ) -> QueryAs<'static, Any, StatementRow, AnyArguments> {
        sqlx::query_as(sqlx::AssertSqlSafe(format!(
            "select id, created_us, kind, case when kind in ('charge', 'settle') then -amount_micro else amount_micro end as amount_micro,
                    total_after_micro, nullif(operation, '') as operation, units, audio_ms, cached,
                    nullif(key_id, '') as key_id, request_id, refund_of, external_id, memo
             from transfers where {rest}"
        )))
    }

    /// How many workspaces have bookings dated ahead of the clock, by more than clocks differ, which later ones follow.
    pub async fn workspaces_dated_ahead(&self) -> Result<i64, StoreError> {
        const CLOCKS_APART_US_MAX: i64 = 10 * 60 * 1_000_000;
        let (count,) = sqlx::query_as("select count(*) from balances where last_us > $1")
            .bind(now_us() + CLOCKS_APART_US_MAX)
            .fetch_one(self.read())
            .await?;
        Ok(count)
    }

    /// Transfers are dated by the clock again, though some are dated ahead of it: a workspace's times rise otherwise. Gives the
    /// number of workspaces that it changes something for.
    pub async fn trust_clock(&self) -> Result<u64, StoreError> {
        let done = sqlx::query("update balances set last_us = $1 where last_us > $1")
            .bind(now_us())
            .execute(self.write())
            .await?;
        Ok(done.rows_affected())
    }

    /// Rows in the order they were booked, oldest first.
    pub async fn statement(
        &self,
        workspace_id: &WorkspaceId,
        query: &StatementQuery,
    ) -> Result<Vec<StatementRow>, StoreError> {
        let (after_us, after_id) = match &query.after {
            Some((us, id)) => (*us, id.to_string()),
            None => (i64::MIN, String::new()),
        };
        let rows = self
            .transfers_where(
                "workspace_id = $1 and created_us >= $2 and created_us < $3
                   and kind in ('credit', 'correction', 'charge', 'settle', 'refund')
                   and (created_us > $4 or (created_us = $4 and id > $5))
                 order by created_us, id limit $6",
            )
            .bind(workspace_id.clone())
            .bind(query.from_us)
            .bind(query.to_us)
            .bind(after_us)
            .bind(after_id)
            .bind(query.limit.clamp(1, 10_001))
            .fetch_all(self.read())
            .await?;
        Ok(rows)
    }

    /// The last rows that were booked, newest first.
    pub async fn newest_of_statement(
        &self,
        workspace_id: &WorkspaceId,
        limit: i64,
    ) -> Result<Vec<StatementRow>, StoreError> {
        let rows = self
            .transfers_where(
                "workspace_id = $1 and kind in ('credit', 'correction', 'charge', 'settle', 'refund')
                 order by created_us desc, id desc limit $2",
            )
            .bind(workspace_id.clone())
            .bind(limit)
            .fetch_all(self.read())
            .await?;
        Ok(rows)
    }
}

#[cfg(test)]
mod tests {
    use super::{StatementRow, text_field};

    #[test]
    fn what_is_absent_is_an_empty_text_on_the_wire() {
        let credit = StatementRow {
            id: "tr_1".parse().unwrap(),
            created_us: 0,
            kind: "credit".to_owned(),
            amount_micro: 5,
            total_after_micro: 5,
            operation: None,
            units: 0,
            audio_ms: 0,
            cached: false,
            key_id: None,
            request_id: String::new(),
            refund_of: None,
            external_id: None,
            memo: String::new(),
        };
        let shown = serde_json::to_value(&credit).unwrap();
        assert_eq!(
            (&shown["operation"], &shown["key_id"]),
            (&"".into(), &"".into())
        );
        assert!(
            credit
                .to_csv()
                .starts_with("1970-01-01T00:00:00Z,tr_1,credit,5,5,,0,0,false,,")
        );
    }

    #[test]
    fn csv_fields_are_quoted_and_formulas_disarmed() {
        assert_eq!(text_field("plain"), "plain");
        assert_eq!(text_field("a,\"b\""), "\"a,\"\"b\"\"\"");
        assert_eq!(text_field("=1+1"), "'=1+1");
    }
}
