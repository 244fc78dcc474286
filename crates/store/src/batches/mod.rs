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

use crate::Operation;
use crate::WorkspaceId;

pub use blobs::BLOB_PART_BYTES;
pub use receive::{NewBatch, NewItem, Received};
pub use work::ClaimedItem;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Batch {
    pub id: String,
    pub workspace_id: WorkspaceId,
    pub key_id: Option<String>,
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum BatchState {
    Receiving,
    Running,
    Finished,
    Cancelled,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct ItemCounts {
    pub waiting: i64,
    pub running: i64,
    pub done: i64,
    pub failed: i64,
    pub cancelled: i64,
}

/// An item and what came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchItem {
    pub id: String,
    pub position: i64,
    pub custom_id: String,
    pub state: String,
    /// JSON: the result of a done item, the error of a failed one, else empty.
    pub answer: String,
    /// Names the sound, where one was made.
    pub output_id: String,
    pub amount_micro: i64,
}

impl BatchState {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Receiving => "receiving",
            Self::Running => "running",
            Self::Finished => "finished",
            Self::Cancelled => "cancelled",
        }
    }

    fn parse(text: &str) -> Self {
        match text {
            "receiving" => Self::Receiving,
            "running" => Self::Running,
            "cancelled" => Self::Cancelled,
            _ => Self::Finished,
        }
    }

    pub fn is_over(self) -> bool {
        matches!(self, Self::Finished | Self::Cancelled)
    }
}
