//! Taking a batch in: written down piece by piece, and begun only when all of it is there.

use std::time::Duration;

use super::{Batch, BatchState};
use crate::ids::now_us;
use crate::rows::{Value, execute_rows};
use crate::sql::{found, is_unique_violation};
use crate::{BatchId, BlobId, ItemId, KeyId, Operation, Store, StoreError, WorkspaceId};

const ROWS_AT_ONCE: usize = 500;

#[derive(Debug, Clone)]
pub struct NewBatch {
    pub workspace_id: WorkspaceId,
    pub key_id: Option<KeyId>,
    pub operation: Operation,
    pub items: i64,
    pub bytes: i64,
    pub idempotency_key: Option<String>,
    /// A hash over everything in it, to tell a retry from another order.
    pub fingerprint: String,
    /// How long it may take, and how long what came of it is kept.
    pub time_max: Duration,
    pub keep: Duration,
    /// Batches of the workspace that may be open at once, and bytes of all its batches that may be kept.
    pub open_max: i64,
    pub bytes_max: i64,
}

#[derive(Debug, Clone)]
pub struct NewItem {
    pub custom_id: String,
    /// JSON, as the server wants it back.
    pub request: String,
    /// The recording, if one was sent along.
    pub input_id: Option<BlobId>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Received {
    /// Add its items and blobs, then start it.
    New(BatchId),
    /// The same order came before, under the same idempotency key.
    Before(Box<Batch>),
    /// The same order is being written down right now.
    InFlight,
    /// The key was used for another order.
    Mismatch,
}

impl Store {
    pub async fn receive_batch(&self, new: &NewBatch) -> Result<Received, StoreError> {
        let id = BatchId::generate();
        let now = now_us();
        let deadline_us = now.saturating_add(new.time_max.as_micros() as i64);
        let made = sqlx::query(
            "insert into batches (id, workspace_id, key_id, operation, state, items, bytes, idem_key, fingerprint,
                instance_id, created_us, deadline_us, expires_us)
             select $1, w.id, $3, $4, 'receiving', $5, $6, $7, $8, $9, $10, $11, $12 from workspaces w where w.id = $2
               and (select count(*) from batches b where b.workspace_id = $2 and b.state in ('receiving', 'running')) < $13
               and (select cast(coalesce(sum(b.bytes), 0) as bigint) from batches b where b.workspace_id = $2) + $6 <= $14",
        )
        .bind(&id)
        .bind(&new.workspace_id)
        .bind(new.key_id.as_deref().unwrap_or(""))
        .bind(new.operation)
        .bind(new.items)
        .bind(new.bytes)
        .bind(new.idempotency_key.as_deref())
        .bind(&new.fingerprint)
        .bind(self.inner.instance.id())
        .bind(now)
        .bind(deadline_us)
        .bind(deadline_us.saturating_add(new.keep.as_micros() as i64))
        .bind(new.open_max)
        .bind(new.bytes_max)
        .execute(self.write())
        .await;
        match made {
            Ok(done) if done.rows_affected() == 1 => Ok(Received::New(id)),
            Ok(_) => {
                self.workspace(&new.workspace_id).await?;
                match self.received_before(new).await? {
                    Some(before) => Ok(before),
                    None => Err(StoreError::Refused(
                        "the workspace has as many open batches, or as much kept in them, as it may",
                    )),
                }
            }
            Err(error) if is_unique_violation(&error) => {
                let before = self.received_before(new).await?;
                before.ok_or(StoreError::Exists("batch"))
            }
            Err(error) => Err(error.into()),
        }
    }

    async fn received_before(&self, new: &NewBatch) -> Result<Option<Received>, StoreError> {
        let Some(key) = &new.idempotency_key else {
            return Ok(None);
        };
        let row: Option<(BatchId, BatchState, String)> = sqlx::query_as(
            "select id, state, fingerprint from batches where workspace_id = $1 and idem_key = $2",
        )
        .bind(&new.workspace_id)
        .bind(key)
        .fetch_optional(self.write())
        .await?;
        let Some((id, state, fingerprint)) = row else {
            return Ok(None);
        };
        if fingerprint != new.fingerprint {
            return Ok(Some(Received::Mismatch));
        }
        if state == BatchState::Receiving {
            return Ok(Some(Received::InFlight));
        }
        let batch = self.batch(&new.workspace_id, &id).await?;
        Ok(Some(Received::Before(Box::new(batch))))
    }

    /// Adds items in their order, the first at `from_position`.
    pub async fn add_batch_items(
        &self,
        workspace_id: &WorkspaceId,
        batch_id: &BatchId,
        from_position: i64,
        items: Vec<NewItem>,
    ) -> Result<(), StoreError> {
        let mut position = from_position;
        let mut items = items.into_iter().peekable();
        while items.peek().is_some() {
            let rows = items.by_ref().take(ROWS_AT_ONCE).map(|item| {
                let row: Vec<Value> = vec![
                    (&ItemId::generate()).into(),
                    batch_id.into(),
                    workspace_id.into(),
                    position.into(),
                    item.custom_id.into(),
                    item.request.into(),
                    item.input_id.as_deref().unwrap_or_default().into(),
                    "waiting".into(),
                    0.into(),
                    0.into(),
                    "".into(),
                    "".into(),
                    "".into(),
                    "".into(),
                    0.into(),
                ];
                position += 1;
                row
            });
            let rows = rows.collect();
            let mut tx = self.begin_write().await?;
            execute_rows(
                &mut tx,
                "insert into batch_items (id, batch_id, workspace_id, position, custom_id, request, input_id, state,
                    attempts, next_attempt_us, claim, instance_id, answer, output_id, amount_micro) values ",
                rows,
                "",
            )
            .await?;
            tx.commit().await?;
        }
        Ok(())
    }

    /// Everything is there: the work begins. Fails when the batch was given up meanwhile.
    pub async fn start_batch(
        &self,
        workspace_id: &WorkspaceId,
        batch_id: &BatchId,
    ) -> Result<Batch, StoreError> {
        let done = sqlx::query(
            "update batches set state = 'running' where id = $1 and workspace_id = $2 and state = 'receiving'",
        )
        .bind(batch_id)
        .bind(workspace_id)
        .execute(self.write())
        .await?;
        found(&done, "batch")?;
        self.batch(workspace_id, batch_id).await
    }

    /// Gives up a batch that could not be written down.
    pub async fn discard_batch(&self, batch_id: &BatchId) -> Result<(), StoreError> {
        let done =
            sqlx::query("update batches set expires_us = 0 where id = $1 and state = 'receiving'")
                .bind(batch_id)
                .execute(self.write())
                .await?;
        match done.rows_affected() {
            0 => Ok(()),
            _ => self.delete_batch(batch_id).await,
        }
    }

    /// Deletes a batch with everything in it, in steps that do not hold up other writers.
    pub(crate) async fn delete_batch(&self, batch_id: &BatchId) -> Result<(), StoreError> {
        loop {
            let done = sqlx::query(
                "delete from batch_blobs where (id, part) in (
                    select id, part from batch_blobs where batch_id = $1 limit 64)",
            )
            .bind(batch_id)
            .execute(self.write())
            .await?;
            if done.rows_affected() == 0 {
                break;
            }
        }
        for sql in [
            "delete from batch_items where batch_id = $1",
            "delete from batches where id = $1",
        ] {
            sqlx::query(sql)
                .bind(batch_id)
                .execute(self.write())
                .await?;
        }
        Ok(())
    }

    /// Batches whose time is over, and those whose receiver died before they were whole.
    pub(crate) async fn drop_expired_batches(&self) -> Result<(), StoreError> {
        let gone: Vec<BatchId> = sqlx::query_scalar(
            "select id from batches where (expires_us < $1 and state <> 'running') or (state = 'receiving'
                and instance_id not in (select id from instances where dead_us is null)) order by id limit 100",
        )
        .bind(now_us())
        .fetch_all(self.write())
        .await?;
        for id in gone {
            self.delete_batch(&id).await?;
        }
        Ok(())
    }
}
