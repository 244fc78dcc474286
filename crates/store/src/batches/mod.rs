//! Batches: many recordings or texts in one order, done when there is time. The items are the queue itself, so that what
//! was accepted survives any process; an item's answer and its price are written in one transaction.
//!
//! `receiving` -> `running` -> `finished` or `cancelled`; an item is `waiting`, `running`, then `done`, `failed` or
//! `cancelled`. An item belongs to the process that claimed it; when that one dies, a sweep puts it back.

mod blobs;
mod receive;
mod show;
mod work;

use serde::Serialize;

use crate::sql::{from_row, row};
use crate::text_columns::text_enum;
use crate::{BatchId, BlobId, ItemId, KeyId, Operation, WorkspaceId};

pub use blobs::BLOB_PART_BYTES;
pub use receive::{NewBatch, NewItem, Received};
pub use work::ClaimedItem;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Batch {
    pub id: BatchId,
    pub workspace_id: WorkspaceId,
    pub key_id: Option<KeyId>,
    pub operation: Operation,
    pub state: BatchState,
    pub items: i64,
    pub bytes: i64,
    pub counts: ItemCounts,
    /// What its items have cost so far.
    pub amount_micro: i64,
    pub fingerprint: String,
    pub created_us: i64,
    pub deadline_us: i64,
    pub finished_us: Option<i64>,
    pub expires_us: i64,
}

from_row!(Batch {
    id, workspace_id, key_id, operation, state, items, bytes, fingerprint, created_us, deadline_us, finished_us, expires_us
} default {
    counts, amount_micro
});

text_enum! {
    pub enum BatchState ("state") {
        Receiving = "receiving",
        Running = "running",
        Finished = "finished",
        Cancelled = "cancelled",
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct ItemCounts {
    pub waiting: i64,
    pub running: i64,
    pub done: i64,
    pub failed: i64,
    pub cancelled: i64,
}

row! {
    /// An item and what came of it.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct BatchItem {
        pub id: ItemId,
        pub position: i64,
        pub custom_id: String,
        pub state: String,
        /// JSON: the result of a done item, the error of a failed one, else empty.
        pub answer: String,
        /// Names the sound, where one was made.
        pub output_id: Option<BlobId>,
        pub amount_micro: i64,
    }
}

impl BatchState {
    pub fn is_over(self) -> bool {
        matches!(self, Self::Finished | Self::Cancelled)
    }
}
