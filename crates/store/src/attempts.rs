//! Attempts counted for all replicas together: check and count are one statement, so that many at the same moment cannot
//! all pass the check before the first of them is counted.

use std::time::Duration;

use crate::ids::{hash_hex, now_us};
use crate::{Store, StoreError};

/// So many attempts under one name within a window that begins with the first.
#[derive(Debug, Clone, Copy)]
pub struct AttemptLimit {
    pub tried_max: u32,
    pub window: Duration,
}

impl Store {
    /// Counts an attempt before it is made. `Some`: the attempts of this window are used up, and it ends in so many seconds,
    /// never more than the window has, even where the clock was set back.
    pub async fn take_attempt(
        &self,
        name: &str,
        limit: AttemptLimit,
    ) -> Result<Option<u64>, StoreError> {
        let now = now_us();
        let (tried, ends_us): (i64, i64) = sqlx::query_as(
            "insert into attempts (name_hash, tried, ends_us) values ($1, 1, $2)
             on conflict (name_hash) do update set
                 tried = case when attempts.ends_us <= $3 then 1 else attempts.tried + 1 end,
                 ends_us = case when attempts.ends_us <= $3 or attempts.ends_us > $2 then $2 else attempts.ends_us end
             returning tried, ends_us",
        )
        .bind(hash_hex(name))
        .bind(now.saturating_add(limit.window.as_micros() as i64))
        .bind(now)
        .fetch_one(self.write())
        .await?;
        let left_s = (ends_us - now) / 1_000_000;
        Ok((tried > i64::from(limit.tried_max)).then_some(left_s.max(1) as u64))
    }

    /// Takes back one attempt that does not count: it succeeded, or was never made.
    pub async fn give_back_attempt(&self, name: &str) -> Result<(), StoreError> {
        sqlx::query("update attempts set tried = tried - 1 where name_hash = $1 and tried > 0")
            .bind(hash_hex(name))
            .execute(self.write())
            .await?;
        Ok(())
    }

    /// Begins anew, for someone who has proven who they are by other means.
    pub async fn forget_attempts(&self, name: &str) -> Result<(), StoreError> {
        sqlx::query("delete from attempts where name_hash = $1")
            .bind(hash_hex(name))
            .execute(self.write())
            .await?;
        Ok(())
    }
}
