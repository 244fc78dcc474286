use serde::Serialize;

use crate::{BlobId, ItemId, KeyId, Operation, ReservationId, TransferId, WorkspaceId};

/// Money of a workspace. `available` can be reserved; `reserved` is set aside for running work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Balance {
    pub available_micro: i64,
    pub reserved_micro: i64,
    /// True in the answer to the one charge that took the total below the workspace's low-balance mark.
    #[serde(skip)]
    pub fell_low: bool,
}

impl Balance {
    pub fn total_micro(&self) -> i64 {
        self.available_micro + self.reserved_micro
    }
}

#[derive(Debug, Clone)]
pub struct ReserveRequest {
    pub workspace_id: WorkspaceId,
    pub key_id: Option<KeyId>,
    pub operation: Operation,
    pub amount_micro: i64,
    pub request_id: String,
}

/// Money set aside. Finish it with `settle` or `release`; if the process dies, the next sweep releases it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reservation {
    pub id: ReservationId,
    pub workspace_id: WorkspaceId,
    pub key_id: Option<KeyId>,
    pub operation: Operation,
    pub request_id: String,
    pub amount_micro: i64,
    /// The balance right after the reservation.
    pub balance: Balance,
}

#[derive(Debug, Clone)]
pub struct ChargeRequest {
    pub workspace_id: WorkspaceId,
    pub key_id: Option<KeyId>,
    pub operation: Operation,
    pub amount_micro: i64,
    pub request_id: String,
    pub usage: Usage,
}

/// What the work amounted to, for statements and daily usage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Usage {
    /// Billed units: characters or seconds.
    pub units: i64,
    pub audio_ms: i64,
    pub cached: bool,
}

impl Usage {
    /// No single request comes near these bounds; they keep the daily sums from overflowing.
    pub(super) fn bounded(self) -> Self {
        let bound = 1 << 40;
        Self {
            units: self.units.clamp(0, bound),
            audio_ms: self.audio_ms.clamp(0, bound),
            cached: self.cached,
        }
    }
}

/// A charge or refund that was booked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Charge {
    /// Names the charge for a refund.
    pub id: TransferId,
    pub amount_micro: i64,
    pub balance: Balance,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Credit {
    pub id: TransferId,
    pub amount_micro: i64,
    pub balance: Balance,
    /// False when this external id was credited before and nothing moved now.
    pub applied: bool,
}

/// The right to answer for an idempotency key. Ends with `finish`, `settle_and_store`, `charge_and_store` or `abandon`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guard {
    pub id: String,
    pub workspace_id: WorkspaceId,
    pub key: String,
}

impl Guard {
    /// The key of its row.
    pub(crate) fn slot(&self) -> (WorkspaceId, String) {
        (self.workspace_id.clone(), self.key.clone())
    }
}

/// What came of an item, to be written down with its price.
#[derive(Debug, Clone)]
pub struct FinishedItem {
    pub item_id: ItemId,
    pub claim: String,
    pub answer: String,
    /// The sound, where one was made.
    pub output_id: Option<BlobId>,
}

/// Money that a provider or an operator reports.
#[derive(Debug, Clone)]
pub struct PaymentEvent {
    pub provider: String,
    /// The provider's own id of the event.
    pub event_id: String,
    pub workspace_id: WorkspaceId,
    pub amount_micro: i64,
    pub currency: String,
}
