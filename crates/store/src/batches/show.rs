//! What a batch looks like from outside.

use sqlx::{AnyConnection, AssertSqlSafe};

use super::{Batch, BatchItem, BatchState, ItemCounts};
use crate::{Operation, Store, StoreError, WorkspaceId};

type BatchRow = (
    String,
    WorkspaceId,
    String,
    String,
    String,
    i64,
    i64,
    String,
    i64,
    i64,
    Option<i64>,
    i64,
);

const BATCH_COLUMNS: &str =
    "select id, workspace_id, key_id, operation, state, items, bytes, fingerprint, created_us,
    deadline_us, finished_us, expires_us from batches";

type ItemRow = (String, i64, String, String, String, String, i64);

const ITEM_COLUMNS: &str =
    "select i.id, i.position, i.custom_id, i.state, i.answer, i.output_id, i.amount_micro
    from batch_items i";

fn item_of(row: ItemRow) -> BatchItem {
    let (id, position, custom_id, state, answer, output_id, amount_micro) = row;
    BatchItem {
        id,
        position,
        custom_id,
        state,
        answer,
        output_id,
        amount_micro,
    }
}

impl Store {
    pub async fn batch(
        &self,
        workspace_id: &WorkspaceId,
        batch_id: &str,
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
        let rows: Vec<BatchRow> = sqlx::query_as(AssertSqlSafe(sql))
            .bind(workspace_id)
            .bind(before_us)
            .bind(limit.clamp(1, 100))
            .bind(only.map_or("", Operation::as_str))
            .fetch_all(self.read())
            .await?;
        let mut connection = self.read().acquire().await?;
        let mut batches = Vec::with_capacity(rows.len());
        for row in rows {
            batches.push(counted(&mut connection, row).await?);
        }
        Ok(batches)
    }

    /// Items in their order, after `after_position`.
    pub async fn batch_items(
        &self,
        batch_id: &str,
        after_position: i64,
        limit: i64,
    ) -> Result<Vec<BatchItem>, StoreError> {
        let sql = format!(
            "{ITEM_COLUMNS} where i.batch_id = $1 and i.position > $2 order by i.position limit $3"
        );
        let rows: Vec<ItemRow> = sqlx::query_as(AssertSqlSafe(sql))
            .bind(batch_id)
            .bind(after_position)
            .bind(limit.clamp(1, 1000))
            .fetch_all(self.read())
            .await?;
        Ok(rows.into_iter().map(item_of).collect())
    }

    pub async fn batch_item(
        &self,
        workspace_id: &WorkspaceId,
        batch_id: &str,
        position: i64,
    ) -> Result<BatchItem, StoreError> {
        let sql = format!(
            "{ITEM_COLUMNS} where i.batch_id = $1 and i.position = $2 and i.workspace_id = $3"
        );
        let row: Option<ItemRow> = sqlx::query_as(AssertSqlSafe(sql))
            .bind(batch_id)
            .bind(position)
            .bind(workspace_id)
            .fetch_optional(self.read())
            .await?;
        row.map(item_of).ok_or(StoreError::NotFound("item"))
    }
}

/// A batch as this connection sees it, inside a transaction or not.
pub(super) async fn batch_in(
    connection: &mut AnyConnection,
    batch_id: &str,
) -> Result<Batch, StoreError> {
    let sql = format!("{BATCH_COLUMNS} where id = $1");
    let row: Option<BatchRow> = sqlx::query_as(AssertSqlSafe(sql))
        .bind(batch_id)
        .fetch_optional(&mut *connection)
        .await?;
    counted(connection, row.ok_or(StoreError::NotFound("batch"))?).await
}

async fn counted(connection: &mut AnyConnection, row: BatchRow) -> Result<Batch, StoreError> {
    let states: Vec<(String, i64, i64)> = sqlx::query_as(
        "select state, count(*), cast(sum(amount_micro) as bigint) from batch_items where batch_id = $1 group by state",
    )
    .bind(&row.0)
    .fetch_all(connection)
    .await?;
    batch_of(row, &states)
}

fn batch_of(row: BatchRow, states: &[(String, i64, i64)]) -> Result<Batch, StoreError> {
    let mut counts = ItemCounts::default();
    for (state, count, _) in states {
        match state.as_str() {
            "waiting" => counts.waiting = *count,
            "running" => counts.running = *count,
            "done" => counts.done = *count,
            "failed" => counts.failed = *count,
            _ => counts.cancelled = *count,
        }
    }
    let (id, workspace_id, key_id, operation, state, items, bytes, fingerprint, ..) = row;
    Ok(Batch {
        id,
        workspace_id,
        key_id: Some(key_id).filter(|id| !id.is_empty()),
        operation: operation.parse()?,
        state: BatchState::parse(&state),
        items,
        bytes,
        counts,
        amount_micro: states.iter().map(|(.., amount)| amount).sum(),
        fingerprint,
        created_us: row.8,
        deadline_us: row.9,
        finished_us: row.10,
        expires_us: row.11,
    })
}
