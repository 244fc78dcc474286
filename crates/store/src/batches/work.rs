//! Working on a batch: claiming items, reporting on them, and noticing that the last one is over.

use std::time::Duration;

use sqlx::AssertSqlSafe;

use super::Batch;
use crate::ids::{new_id, now_us};
use crate::ledger::{Charge, FinishedItem, Reservation, Usage};
use crate::sql::{is_set, row};
use crate::webhooks::queue_event;
use crate::{
    BatchId, BlobId, ItemId, KeyId, LedgerError, Operation, Store, StoreError, WorkspaceId,
};

row! {
    /// An item to be worked on now. `claim` proves to the later report that nobody else has it meanwhile.
    #[derive(Debug, Clone)]
    pub struct ClaimedItem {
        pub id: ItemId,
        pub claim: String,
        pub batch_id: BatchId,
        pub workspace_id: WorkspaceId,
        pub currency: String,
        pub key_id: Option<KeyId>,
        /// Whoever ordered it may not spend any more.
        pub key_revoked: bool = i64 => is_set,
        pub operation: Operation,
        pub position: i64,
        pub request: String,
        /// The recording, where one was sent along.
        pub input_id: Option<BlobId>,
        /// This one included.
        pub attempts: i64,
        pub deadline_us: i64,
    }
}

impl ClaimedItem {
    pub fn finished(&self, answer: String, output_id: Option<BlobId>) -> FinishedItem {
        FinishedItem {
            item_id: self.id.clone(),
            claim: self.claim.clone(),
            answer,
            output_id,
        }
    }
}

impl Store {
    /// Takes up to `limit` items that wait; of many batches, those first of which least has been done.
    pub async fn claim_batch_items(&self, limit: i64) -> Result<Vec<ClaimedItem>, StoreError> {
        let sql = format!(
            "select i.id from batch_items i join batches b on b.id = i.batch_id
             where i.state = 'waiting' and i.next_attempt_us <= $3 and b.state = 'running'
             order by i.position, i.next_attempt_us limit $4{}",
            self.inner.backend.skip_locked("i")
        );
        self.claim_by(&sql, limit, None).await
    }

    /// Takes one item by its name, if it waits.
    pub async fn claim_batch_item(
        &self,
        item_id: &ItemId,
    ) -> Result<Option<ClaimedItem>, StoreError> {
        let sql = format!(
            "select i.id from batch_items i join batches b on b.id = i.batch_id
             where i.state = 'waiting' and i.next_attempt_us <= $3 and b.state = 'running' and i.id = $5 limit $4{}",
            self.inner.backend.skip_locked("i")
        );
        let mut claimed = self.claim_by(&sql, 1, Some(item_id)).await?;
        Ok(claimed.pop())
    }

    async fn claim_by(
        &self,
        which: &str,
        limit: i64,
        item_id: Option<&ItemId>,
    ) -> Result<Vec<ClaimedItem>, StoreError> {
        let claim = new_id("claim_");
        // Materialised: PostgreSQL may run a subquery again for each row, and each run would lock other rows.
        let sql = format!(
            "with picked as materialized ({which})
             update batch_items set state = 'running', claim = $1, instance_id = $2, attempts = attempts + 1
             where state = 'waiting' and id in (select id from picked)"
        );
        let mut query = sqlx::query(AssertSqlSafe(sql))
            .bind(&claim)
            .bind(self.inner.instance.id())
            .bind(now_us())
            .bind(limit.clamp(1, 1000));
        if let Some(item_id) = item_id {
            query = query.bind(item_id);
        }
        if query.execute(self.write()).await?.rows_affected() == 0 {
            return Ok(Vec::new());
        }
        Ok(sqlx::query_as(
            "select i.id, i.claim, i.batch_id, i.workspace_id, nullif(b.key_id, '') as key_id, b.operation, i.position,
                    i.request, nullif(i.input_id, '') as input_id, i.attempts, b.deadline_us, w.currency,
                    case when k.revoked_us is null then 0 else 1 end as key_revoked
             from batch_items i join batches b on b.id = i.batch_id join workspaces w on w.id = i.workspace_id
                  left join api_keys k on k.id = b.key_id
             where i.claim = $1 and i.state = 'running' order by i.position",
        )
        .bind(&claim)
        .fetch_all(self.write())
        .await?)
    }

    /// Whether the item is still ours: not cancelled, and not taken over while this process was thought dead.
    pub async fn holds_item(&self, item: &ClaimedItem) -> Result<bool, StoreError> {
        let row: Option<ItemId> = sqlx::query_scalar(
            "select id from batch_items where id = $1 and claim = $2 and state = 'running'",
        )
        .bind(&item.id)
        .bind(&item.claim)
        .fetch_optional(self.read())
        .await?;
        Ok(row.is_some())
    }

    /// Whether there is still something to do for an item, by whomever.
    pub async fn item_is_open(&self, item_id: &ItemId) -> Result<bool, StoreError> {
        let row: Option<ItemId> = sqlx::query_scalar(
            "select id from batch_items where id = $1 and state in ('waiting', 'running')",
        )
        .bind(item_id)
        .fetch_optional(self.write())
        .await?;
        Ok(row.is_some())
    }

    /// Takes the price and writes the answer in one durable step. After [`LedgerError::ClaimLost`] the reservation is
    /// still open and the caller's to release.
    pub async fn settle_item(
        &self,
        reservation: &Reservation,
        amount_micro: i64,
        usage: Usage,
        item: FinishedItem,
    ) -> Result<Charge, LedgerError> {
        self.settle_with(reservation, amount_micro, usage, None, Some(item))
            .await
    }

    /// Ends an item without a result. False when it was not ours any more.
    pub async fn fail_item(&self, item: &ClaimedItem, error: &str) -> Result<bool, StoreError> {
        let done = sqlx::query(
            "update batch_items set state = 'failed', answer = $3, claim = '', finished_us = $4
             where id = $1 and claim = $2 and state = 'running'",
        )
        .bind(&item.id)
        .bind(&item.claim)
        .bind(error)
        .bind(now_us())
        .execute(self.write())
        .await?;
        Ok(done.rows_affected() == 1)
    }

    /// Puts an item back, to be tried again after a pause. `counted` tells whether this attempt was the item's fault.
    pub async fn put_item_back(
        &self,
        item: &ClaimedItem,
        pause: Duration,
        counted: bool,
    ) -> Result<(), StoreError> {
        sqlx::query(
            "update batch_items set state = 'waiting', claim = '', instance_id = '', next_attempt_us = $3,
                    attempts = attempts - $4
             where id = $1 and claim = $2 and state = 'running'",
        )
        .bind(&item.id)
        .bind(&item.claim)
        .bind(now_us().saturating_add(pause.as_micros() as i64))
        .bind(i64::from(!counted))
        .execute(self.write())
        .await?;
        Ok(())
    }

    /// The items that this process has in hand, as the database sees it.
    pub async fn held_items(&self) -> Result<Vec<ItemId>, StoreError> {
        Ok(sqlx::query_scalar(
            "select id from batch_items where state = 'running' and instance_id = $1",
        )
        .bind(self.inner.instance.id())
        .fetch_all(self.write())
        .await?)
    }

    /// Puts back an item that this process holds and does not know of: the answer to its claim, or its report, was lost.
    pub async fn put_unknown_item_back(&self, item_id: &ItemId) -> Result<bool, StoreError> {
        let done = sqlx::query(
            "update batch_items set state = 'waiting', claim = '', instance_id = ''
             where id = $1 and instance_id = $2 and state = 'running'",
        )
        .bind(item_id)
        .bind(self.inner.instance.id())
        .execute(self.write())
        .await?;
        Ok(done.rows_affected() > 0)
    }

    /// Puts back what dead processes had in hand. Returns how many.
    pub(crate) async fn release_items(&self) -> Result<u64, StoreError> {
        let done = sqlx::query(
            "update batch_items set state = 'waiting', claim = '', instance_id = ''
             where state = 'running' and instance_id not in (select id from instances where dead_us is null)",
        )
        .execute(self.write())
        .await?;
        Ok(done.rows_affected())
    }

    /// The items of a batch that can be begun now, by place and name: for a queue beside the database.
    pub async fn waiting_items(
        &self,
        batch_id: &BatchId,
        after_position: i64,
        limit: i64,
    ) -> Result<Vec<(i64, ItemId)>, StoreError> {
        Ok(sqlx::query_as(
            "select position, id from batch_items where batch_id = $1 and position > $2 and state = 'waiting'
                and next_attempt_us <= $3
             order by position limit $4",
        )
        .bind(batch_id)
        .bind(after_position)
        .bind(now_us())
        .bind(limit.clamp(1, 1000))
        .fetch_all(self.read())
        .await?)
    }

    /// Running batches with something to begin now, the oldest first.
    pub async fn batches_with_waiting_items(&self) -> Result<Vec<BatchId>, StoreError> {
        Ok(sqlx::query_scalar(
            "select b.id from batches b where b.state = 'running' and exists (
                select 1 from batch_items i where i.batch_id = b.id and i.state = 'waiting' and i.next_attempt_us <= $1)
             order by b.created_us limit 10000",
        )
        .bind(now_us())
        .fetch_all(self.read())
        .await?)
    }

    /// Running batches with nothing left to do, whose end nobody has written down yet.
    pub async fn ended_batches(&self) -> Result<Vec<BatchId>, StoreError> {
        Ok(sqlx::query_scalar(
            "select b.id from batches b where b.state = 'running' and not exists (
                select 1 from batch_items i where i.batch_id = b.id and i.state in ('waiting', 'running'))
             order by b.id limit 100",
        )
        .fetch_all(self.read())
        .await?)
    }

    /// Writes down that a batch is over and queues the event for it, both or neither. `None` when something is left to
    /// do or somebody else wrote it down.
    pub async fn finish_batch(
        &self,
        batch_id: &BatchId,
        keep: Duration,
        event_type: &str,
        payload: impl Fn(&Batch) -> String,
    ) -> Result<Option<Batch>, StoreError> {
        let now = now_us();
        let mut tx = self.begin_write().await?;
        let done = sqlx::query(
            "update batches set state = 'finished', finished_us = $2, expires_us = $3
             where id = $1 and state = 'running' and not exists (
                select 1 from batch_items i where i.batch_id = batches.id and i.state in ('waiting', 'running'))",
        )
        .bind(batch_id)
        .bind(now)
        .bind(now.saturating_add(keep.as_micros() as i64))
        .execute(&mut *tx)
        .await?;
        if done.rows_affected() == 0 {
            return Ok(None);
        }
        let batch = super::show::batch_in(&mut tx, batch_id).await?;
        queue_event(&mut tx, &batch.workspace_id, event_type, &payload(&batch)).await?;
        tx.commit().await?;
        Ok(Some(batch))
    }

    /// Stops a batch: what waits is not begun, what runs is not charged. `None` when it was over already.
    pub async fn cancel_batch(
        &self,
        workspace_id: &WorkspaceId,
        batch_id: &BatchId,
        keep: Duration,
        event_type: &str,
        payload: impl Fn(&Batch) -> String,
    ) -> Result<Option<Batch>, StoreError> {
        let now = now_us();
        let mut tx = self.begin_write().await?;
        // The balance row first, as the ledger does, so that a settling item and a cancelled batch cannot deadlock.
        let lock = format!(
            "select workspace_id from balances where workspace_id = $1{}",
            self.inner.backend.row_lock()
        );
        sqlx::query(AssertSqlSafe(lock))
            .bind(workspace_id)
            .execute(&mut *tx)
            .await?;
        let done = sqlx::query(
            "update batches set state = 'cancelled', finished_us = $3, expires_us = $4
             where id = $1 and workspace_id = $2 and state = 'running'",
        )
        .bind(batch_id)
        .bind(workspace_id)
        .bind(now)
        .bind(now.saturating_add(keep.as_micros() as i64))
        .execute(&mut *tx)
        .await?;
        if done.rows_affected() == 0 {
            return Ok(None);
        }
        sqlx::query(
            "update batch_items set state = 'cancelled', claim = '', finished_us = $2
             where batch_id = $1 and state in ('waiting', 'running')",
        )
        .bind(batch_id)
        .bind(now)
        .execute(&mut *tx)
        .await?;
        let batch = super::show::batch_in(&mut tx, batch_id).await?;
        queue_event(&mut tx, workspace_id, event_type, &payload(&batch)).await?;
        tx.commit().await?;
        Ok(Some(batch))
    }
}
