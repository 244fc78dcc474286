//! What an operation needs to be read before it runs, and the answer it may carry.

use super::types::{FinishedItem, Guard};
use crate::{KeyId, ReservationId, TransferId, WorkspaceId};

/// The rows that an operation reads.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowsNeeded<'a> {
    pub(super) workspace_id: &'a WorkspaceId,
    pub(super) key_id: Option<&'a KeyId>,
    pub(super) reservation_id: Option<&'a ReservationId>,
    pub(super) charge_id: Option<&'a TransferId>,
    pub(super) external_id: Option<&'a str>,
    pub(super) guard: Option<&'a Guard>,
    pub(super) item: Option<&'a FinishedItem>,
    /// Bytes of an answer carried along, which bound a group.
    pub(super) body_bytes: usize,
}

impl<'a> RowsNeeded<'a> {
    pub(super) fn of(workspace_id: &'a WorkspaceId) -> Self {
        Self {
            workspace_id,
            key_id: None,
            reservation_id: None,
            charge_id: None,
            external_id: None,
            guard: None,
            item: None,
            body_bytes: 0,
        }
    }

    pub(super) fn storing(self, storing: Option<&'a Storing>) -> Self {
        let body = storing.and_then(|storing| storing.body.as_ref());
        Self {
            guard: storing.map(|storing| &storing.guard),
            body_bytes: self.body_bytes + body.map_or(0, Vec::len),
            ..self
        }
    }

    pub(super) fn finishing(self, item: Option<&'a FinishedItem>) -> Self {
        Self {
            item,
            body_bytes: self.body_bytes + item.map_or(0, |item| item.answer.len()),
            ..self
        }
    }
}

/// An answer to be stored under a guard.
#[derive(Debug, Clone)]
pub(crate) struct Storing {
    pub(crate) guard: Guard,
    pub(crate) status: i64,
    pub(crate) headers: String,
    pub(crate) body: Option<Vec<u8>>,
}
