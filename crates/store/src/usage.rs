//! What was used, summed by UTC day, operation and key.

use serde::Serialize;

use crate::{Store, StoreError, WorkspaceId};

#[derive(Debug, Clone, Default)]
pub struct UsageQuery {
    /// First and last day, `YYYY-MM-DD`; both included.
    pub from_day: String,
    pub to_day: String,
    pub key_id: Option<String>,
    pub operation: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UsageRow {
    pub day: String,
    pub operation: String,
    pub key_id: Option<String>,
    pub requests: i64,
    pub cached_requests: i64,
    pub units: i64,
    pub audio_ms: i64,
    pub amount_micro: i64,
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
            if day.parse::<jiff::civil::Date>().is_err() {
                return Err(StoreError::invalid(
                    field,
                    "is not a day such as 2026-01-31",
                ));
            }
        }
        type Row = (String, String, String, i64, i64, i64, i64, i64);
        let rows: Vec<Row> = sqlx::query_as(
            "select day, operation, key_id, requests, cached_requests, units, audio_ms, amount_micro from usage_days
             where workspace_id = $1 and day >= $2 and day <= $3 and ($4 = '' or key_id = $4)
               and ($5 = '' or operation = $5)
             order by day, operation, key_id limit 100000",
        )
        .bind(workspace_id)
        .bind(&query.from_day)
        .bind(&query.to_day)
        .bind(query.key_id.as_deref().unwrap_or(""))
        .bind(query.operation.as_deref().unwrap_or(""))
        .fetch_all(self.read())
        .await?;
        let row_of =
            |(day, operation, key_id, requests, cached_requests, units, audio_ms, amount_micro)| {
                let key_id = Some(key_id).filter(|id: &String| !id.is_empty());
                UsageRow {
                    day,
                    operation,
                    key_id,
                    requests,
                    cached_requests,
                    units,
                    audio_ms,
                    amount_micro,
                }
            };
        Ok(rows.into_iter().map(row_of).collect())
    }
}
