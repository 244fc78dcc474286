//! Work in the background: give back what dead processes held, write down key use, drop what has expired.

use std::path::Path;
use std::sync::Weak;

use serde::Serialize;
use sqlx::AssertSqlSafe;

use crate::ids::now_us;
use crate::instances::is_unlocked;
use crate::open::StoreInner;
use crate::{InstanceId, Store, StoreError};

const DAY_US: i64 = 24 * 3600 * 1_000_000;

/// What a sweep found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct SweepReport {
    pub processes_declared_dead: u64,
    pub reservations_released: u64,
    pub idempotency_released: u64,
    pub batch_items_released: u64,
}

impl Store {
    /// The name of this process in reservations.
    pub fn instance_id(&self) -> InstanceId {
        self.inner.instance.id()
    }

    /// Marks processes that have died. Returns how many.
    async fn declare_dead(&self) -> Result<u64, StoreError> {
        match &self.inner.instance.locks_folder {
            Some(folder) => self.declare_unlocked_dead(folder).await,
            None => self.declare_silent_dead().await,
        }
    }

    async fn declare_unlocked_dead(&self, folder: &Path) -> Result<u64, StoreError> {
        let others: Vec<InstanceId> = sqlx::query_scalar(
            "select id from instances where dead_us is null and id <> $1 order by id",
        )
        .bind(self.inner.instance.id())
        .fetch_all(self.read())
        .await?;
        let mut dead = 0;
        for id in others.into_iter().filter(|id| is_unlocked(folder, id)) {
            let done = sqlx::query(
                "update instances set dead_us = beat_us where id = $1 and dead_us is null",
            )
            .bind(&id)
            .execute(self.write())
            .await?;
            dead += done.rows_affected();
            let _ = std::fs::remove_file(folder.join(id.as_str()));
        }
        Ok(dead)
    }

    async fn declare_silent_dead(&self) -> Result<u64, StoreError> {
        let now = self.inner.backend.clock_us();
        let sql = format!(
            "update instances set dead_us = {now} where dead_us is null and id <> $1 and beat_us < {now} - $2"
        );
        let done = sqlx::query(AssertSqlSafe(sql))
            .bind(self.inner.instance.id())
            .bind(self.inner.options.dead_after.as_micros() as i64)
            .execute(self.write())
            .await?;
        Ok(done.rows_affected())
    }

    /// Declares dead processes dead and gives back what they held. Runs at opening and from time to time; safe to run
    /// from many processes at once.
    pub async fn sweep(&self) -> Result<SweepReport, StoreError> {
        let processes_declared_dead = self.declare_dead().await?;
        let reservations_released = self.release_abandoned(None, 0).await?;
        let idempotency = sqlx::query(
            "delete from idempotency
             where state = 'running' and instance_id not in (select id from instances where dead_us is null)",
        )
        .execute(self.write())
        .await?;
        let report = SweepReport {
            processes_declared_dead,
            reservations_released,
            idempotency_released: idempotency.rows_affected(),
            batch_items_released: self.release_items().await?,
        };
        if report != SweepReport::default() {
            tracing::info!(?report, "gave back what dead processes held");
        }
        Ok(report)
    }

    /// Drops rows that have outlived their use.
    async fn drop_expired(&self) -> Result<(), StoreError> {
        let now = now_us();
        for sql in [
            "delete from idempotency where expires_us < $1",
            "delete from sessions where expires_us < $1",
            "delete from one_use_tokens where expires_us < $1",
            "delete from attempts where ends_us < $1",
        ] {
            sqlx::query(sql).bind(now).execute(self.write()).await?;
        }
        self.drop_expired_batches().await?;
        // A late reservation under a dead name may still turn up, so the name is kept for a while.
        sqlx::query(
            "delete from instances where dead_us < $1
             and not exists (select 1 from reservations r where r.instance_id = instances.id and r.state = 'open')
             and not exists (select 1 from idempotency i where i.instance_id = instances.id and i.state = 'running')",
        )
        .bind(now - 7 * DAY_US)
        .execute(self.write())
        .await?;
        Ok(())
    }

    /// Drops what is kept for a time only: the audit trail and finished webhook deliveries from before these moments.
    /// Money is never dropped. Returns how many rows went.
    pub async fn forget_before(
        &self,
        audit_us: i64,
        deliveries_us: i64,
    ) -> Result<u64, StoreError> {
        let audit = sqlx::query("delete from audit where created_us < $1")
            .bind(audit_us)
            .execute(self.write())
            .await?;
        let deliveries = sqlx::query("delete from webhook_deliveries where finished_us < $1")
            .bind(deliveries_us)
            .execute(self.write())
            .await?;
        Ok(audit.rows_affected() + deliveries.rows_affected())
    }

    async fn maintain(&self) -> Result<(), StoreError> {
        self.flush_key_use().await?;
        self.sweep().await?;
        self.drop_expired().await
    }
}

pub(crate) fn spawn(store: &Store) {
    let weak: Weak<StoreInner> = std::sync::Arc::downgrade(&store.inner);
    let mut ticks = tokio::time::interval(store.inner.options.maintenance_every);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    tokio::spawn(async move {
        ticks.tick().await;
        loop {
            ticks.tick().await;
            let Some(inner) = weak.upgrade() else { return };
            if inner.write.is_closed() {
                return;
            }
            if let Err(error) = (Store { inner }).maintain().await {
                tracing::warn!(source = ?error, "maintenance of the data store failed; it will be tried again");
            }
        }
    });
}
