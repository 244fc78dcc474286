//! Limits that hold instead of those in the settings, for all processes on this database, until they are reset.

use crate::ids::now_us;
use crate::{Store, StoreError};

impl Store {
    pub async fn live_limits(&self) -> Result<Vec<(String, i64)>, StoreError> {
        Ok(
            sqlx::query_as("select name, value from live_limits order by name")
                .fetch_all(self.read())
                .await?,
        )
    }

    /// `None` goes back to the settings.
    pub async fn set_live_limit(&self, name: &str, value: Option<i64>) -> Result<(), StoreError> {
        match value {
            Some(value) => {
                sqlx::query(
                    "insert into live_limits (name, value, changed_us) values ($1, $2, $3)
                     on conflict (name) do update set value = excluded.value, changed_us = excluded.changed_us",
                )
                .bind(name)
                .bind(value)
                .bind(now_us())
                .execute(self.write())
                .await?
            }
            None => {
                sqlx::query("delete from live_limits where name = $1")
                    .bind(name)
                    .execute(self.write())
                    .await?
            }
        };
        Ok(())
    }
}
