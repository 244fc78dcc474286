//! What a batch looks like from outside.

use sqlx::{AnyConnection, AssertSqlSafe};

use super::{Batch, BatchItem};
use crate::{BatchId, Operation, Store, StoreError, WorkspaceId};

const BATCH_COLUMNS: &str =
    "select id, workspace_id, nullif(key_id, '') as key_id, operation, state, items, bytes, fingerprint,
    created_us, deadline_us, finished_us, expires_us from batches";

const ITEM_COLUMNS: &str =
    "select i.id, i.position, i.custom_id, i.state, i.answer, nullif(i.output_id, '') as output_id, i.amount_micro
    from batch_items i";

impl Store {
    pub async fn batch(
        &self,
        workspace_id: &WorkspaceId,
        batch_id: &BatchId,
    ) -> Result<Batch, StoreError> {
        let mut connection = self.write().acquire().await?;
        let batch = batch_in(&mut connection, batch_id).await?;
        match batch.workspace_id == *workspace_id {
            true => Ok(batch),
            false => Err(StoreError::NotFound("batch")),
        }
    }

    /// The newest first; `before_us` goes on from the last one seen.
    pub async fn batches(
        &self,
        workspace_id: &WorkspaceId,
        only: Option<Operation>,
        before_us: i64,
        limit: i64,
    ) -> Result<Vec<Batch>, StoreError> {
        let sql = format!(
            "{BATCH_COLUMNS} where workspace_id = $1 and created_us < $2 and state <> 'receiving'
                 and ($4 = '' or operation = $4)
             order by created_us desc, id desc limit $3"
        );
        let mut batches: Vec<Batch> = sqlx::query_as(AssertSqlSafe(sql))
            .bind(workspace_id)
            .bind(before_us)
            .bind(limit.clamp(1, 100))
            .bind(only.map_or("", Operation::as_str))
            .fetch_all(self.read())
            .await?;
        let mut connection = self.read().acquire().await?;
        for batch in &mut batches {
            count_items(&mut connection, batch).await?;
        }
        Ok(batches)
    }

    /// Items in their order, after `after_position`.
    pub async fn batch_items(
        &self,
        batch_id: &BatchId,
        after_position: i64,
        limit: i64,
    ) -> Result<Vec<BatchItem>, StoreError> {
        let sql = format!(
            "{ITEM_COLUMNS} where i.batch_id = $1 and i.position > $2 order by i.position limit $3"
        );
        Ok(sqlx::query_as(AssertSqlSafe(sql))
            .bind(batch_id)
            .bind(after_position)
            .bind(limit.clamp(1, 1000))
            .fetch_all(self.read())
            .await?)
    }

    pub async fn batch_item(
        &self,
        workspace_id: &WorkspaceId,
        batch_id: &BatchId,
        position: i64,
    ) -> Result<BatchItem, StoreError> {
        let sql = format!(
            "{ITEM_COLUMNS} where i.batch_id = $1 and i.position = $2 and i.workspace_id = $3"
        );
        let row = sqlx::query_as(AssertSqlSafe(sql))
            .bind(batch_id)
            .bind(position)
            .bind(workspace_id)
            .fetch_optional(self.read())
            .await?;
        row.ok_or(StoreError::NotFound("item"))
    }
}

/// A batch as this connection sees it, inside a transaction or not.
pub(super) async fn batch_in(
    connection: &mut AnyConnection,
    batch_id: &BatchId,
) -> Result<Batch, StoreError> {
    let sql = format!("{BATCH_COLUMNS} where id = $1");
    let batch: Option<Batch> = sqlx::query_as(AssertSqlSafe(sql))
        .bind(batch_id)
        .fetch_optional(&mut *connection)
        .await?;
    let mut batch = batch.ok_or(StoreError::NotFound("batch"))?;
    count_items(connection, &mut batch).await?;
    Ok(batch)
}

async fn count_items(connection: &mut AnyConnection, batch: &mut Batch) -> Result<(), StoreError> {
    let states: Vec<(String, i64, i64)> = sqlx::query_as(
        "select state, count(*), cast(sum(amount_micro) as bigint) from batch_items where batch_id = $1 group by state",
    )
    .bind(&batch.id)
    .fetch_all(connection)
    .await?;
    for (state, count, amount_micro) in states {
        batch.amount_micro += amount_micro;
        let counts = &mut batch.counts;
        match state.as_str() {
            "waiting" => counts.waiting = count,
            "running" => counts.running = count,
            "done" => counts.done = count,
            "failed" => counts.failed = count,
            _ => counts.cancelled = count,
        }
    }
    Ok(())
}
