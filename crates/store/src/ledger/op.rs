//! What the writers do: one operation, and what came of it.

use super::types::{Balance, Charge, Credit, Reservation, ReservationState, Usage};
use crate::batches::FinishedItem;
use crate::idempotency::Guard;
use crate::ids::new_id;

/// Ids are made before the operation is queued, so that running it again after a rolled-back batch books the same thing.
#[derive(Debug, Clone)]
pub(crate) enum Op {
    Reserve {
        reservation_id: String,
        transfer_id: String,
        instance_id: String,
        workspace_id: String,
        key_id: String,
        operation: String,
        request_id: String,
        amount_micro: i64,
    },
    Settle {
        reservation_id: String,
        workspace_id: String,
        transfer_id: String,
        amount_micro: i64,
        usage: Usage,
        storing: Option<Storing>,
        item: Option<FinishedItem>,
    },
    Release {
        reservation_id: String,
        workspace_id: String,
        transfer_id: String,
        as_state: ReservationState,
    },
    Charge {
        transfer_id: String,
        workspace_id: String,
        key_id: String,
        operation: String,
        request_id: String,
        amount_micro: i64,
        usage: Usage,
        storing: Option<Storing>,
    },
    Credit {
        transfer_id: String,
        workspace_id: String,
        amount_micro: i64,
        external_id: String,
        memo: String,
    },
    Refund {
        transfer_id: String,
        charge_id: String,
        workspace_id: String,
        amount_micro: Option<i64>,
        memo: String,
    },
    IdemBegin {
        guard: Guard,
        fingerprint: String,
        instance_id: String,
        lifetime_us: i64,
    },
    IdemFinish {
        storing: Storing,
    },
    IdemAbandon {
        guard: Guard,
    },
}

/// An answer to be stored under a guard.
#[derive(Debug, Clone)]
pub(crate) struct Storing {
    pub(crate) guard: Guard,
    pub(crate) status: i64,
    pub(crate) headers: String,
    pub(crate) body: Option<Vec<u8>>,
}

#[derive(Debug)]
pub(crate) enum Done {
    Reserved(Reservation),
    Charged(Charge),
    Released(Balance),
    Credited(Credit),
    Begun(IdemState),
    Stored,
    Abandoned,
}

#[derive(Debug)]
pub(crate) enum IdemState {
    New(Guard),
    InFlight,
    Mismatch,
    Done(Guard),
}

impl Op {
    pub(crate) fn release(reservation: &Reservation, as_state: ReservationState) -> Self {
        Self::Release {
            reservation_id: reservation.id.clone(),
            workspace_id: reservation.workspace_id.clone(),
            transfer_id: new_id("tr_"),
            as_state,
        }
    }

    /// Undoes what this operation claims, if it should turn out to have happened.
    pub(super) fn undo(&self) -> Option<Self> {
        match self {
            Self::Reserve {
                reservation_id,
                workspace_id,
                ..
            } => Some(Self::Release {
                reservation_id: reservation_id.clone(),
                workspace_id: workspace_id.clone(),
                transfer_id: new_id("tr_"),
                as_state: ReservationState::Released,
            }),
            Self::IdemBegin { guard, .. } => Some(Self::IdemAbandon {
                guard: guard.clone(),
            }),
            _ => None,
        }
    }

    pub(super) fn workspace_id(&self) -> &str {
        match self {
            Self::Reserve { workspace_id, .. }
            | Self::Settle { workspace_id, .. }
            | Self::Release { workspace_id, .. }
            | Self::Charge { workspace_id, .. }
            | Self::Credit { workspace_id, .. }
            | Self::Refund { workspace_id, .. } => workspace_id,
            Self::IdemBegin { guard, .. } | Self::IdemAbandon { guard } => &guard.workspace_id,
            Self::IdemFinish { storing } => &storing.guard.workspace_id,
        }
    }

    pub(super) fn guard(&self) -> Option<&Guard> {
        match self {
            Self::IdemBegin { guard, .. } | Self::IdemAbandon { guard } => Some(guard),
            Self::IdemFinish { storing } => Some(&storing.guard),
            Self::Settle { storing, .. } | Self::Charge { storing, .. } => {
                storing.as_ref().map(|storing| &storing.guard)
            }
            _ => None,
        }
    }

    /// The item of a batch that this finishes.
    pub(super) fn item(&self) -> Option<&FinishedItem> {
        match self {
            Self::Settle { item, .. } => item.as_ref(),
            _ => None,
        }
    }

    /// The bytes of an answer carried along, which bound a batch.
    pub(super) fn body_bytes(&self) -> usize {
        let storing = match self {
            Self::Settle { storing, .. } | Self::Charge { storing, .. } => storing.as_ref(),
            Self::IdemFinish { storing } => Some(storing),
            _ => None,
        };
        let stored = storing
            .and_then(|storing| storing.body.as_ref())
            .map_or(0, Vec::len);
        stored + self.item().map_or(0, |item| item.answer.len())
    }
}
