//! What was used, summed by UTC day, operation and key.

use serde::Serialize;

use crate::sql::{require, row};
use crate::{KeyId, Operation, Store, StoreError, WorkspaceId};

#[derive(Debug, Clone, Default)]
pub struct UsageQuery {
    /// First and last day, `YYYY-MM-DD`; both included.
    pub from_day: String,
    pub to_day: String,
    pub key_id: Option<KeyId>,
    pub operation: Option<Operation>,
}

row! {
    #[derive(Debug, Clone, PartialEq, Eq, Serialize)]
    pub struct UsageRow {
        pub day: String,
        pub operation: Operation,
        pub key_id: Option<KeyId>,
        pub requests: i64,
        pub cached_requests: i64,
        pub units: i64,
        pub audio_ms: i64,
        pub amount_micro: i64,
    }
}

impl UsageRow {
    pub const CSV_HEADER: &'static str =
        "day,operation,key_id,requests,cached_requests,units,audio_ms,amount_micro";

    /// One line of CSV without its end.
    pub fn to_csv(&self) -> String {
        let Self {
            day,
            operation,
            key_id,
            requests,
            cached_requests,
            units,
            audio_ms,
            amount_micro,
        } = self;
        let key_id = key_id.as_deref().unwrap_or("");
        format!(
            "{day},{operation},{key_id},{requests},{cached_requests},{units},{audio_ms},{amount_micro}"
        )
    }
}

impl Store {
    /// Days with use, oldest first. A charge counts on the day it was booked.
    pub async fn usage(
        &self,
        workspace_id: &WorkspaceId,
        query: &UsageQuery,
    ) -> Result<Vec<UsageRow>, StoreError> {
        for (field, day) in [("from", &query.from_day), ("to", &query.to_day)] {
            let is_day = day.parse::<jiff::civil::Date>().is_ok();
            require(is_day, field, "is not a day such as 2026-01-31")?;
        }
        Ok(sqlx::query_as(
            "select day, operation, nullif(key_id, '') as key_id, requests, cached_requests, units, audio_ms, amount_micro from usage_days
             where workspace_id = $1 and day >= $2 and day <= $3 and ($4 = '' or key_id = $4)
               and ($5 = '' or operation = $5)
             order by day, operation, usage_days.key_id limit 100000",
        )
        .bind(workspace_id)
        .bind(&query.from_day)
        .bind(&query.to_day)
        .bind(query.key_id.as_deref().unwrap_or(""))
        .bind(query.operation.map_or("", Operation::as_str))
        .fetch_all(self.read())
        .await?)
    }
}
