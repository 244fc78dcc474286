//! Reserve, settle, release: money set aside before work, and what becomes of it (two-phase transfers).

use super::books::{Account, Transfer};
use super::commit_group::{Change, CommitGroup, HeldMoney};
use super::needs::{Needs, Storing};
use super::op::{LedgerOperation, Undo};
use super::reservation_state::ReservationState;
use super::types::{Balance, Charge, FinishedItem, Reservation, Usage};
use crate::LedgerError;
use crate::WorkspaceId;
use crate::ids::new_id;

#[derive(Debug)]
pub(super) struct Reserve {
    pub(super) reservation_id: String,
    pub(super) transfer_id: String,
    pub(super) instance_id: String,
    pub(super) workspace_id: WorkspaceId,
    pub(super) key_id: Option<String>,
    pub(super) operation: String,
    pub(super) request_id: String,
    pub(super) amount_micro: i64,
}

#[derive(Debug)]
pub(super) struct Settle {
    pub(super) reservation_id: String,
    pub(super) workspace_id: WorkspaceId,
    pub(super) transfer_id: String,
    pub(super) amount_micro: i64,
    pub(super) usage: Usage,
    pub(super) storing: Option<Storing>,
    pub(super) item: Option<FinishedItem>,
}

#[derive(Debug)]
pub(crate) struct Release {
    pub(super) reservation_id: String,
    pub(super) workspace_id: WorkspaceId,
    pub(super) transfer_id: String,
    pub(super) as_state: ReservationState,
}

impl Release {
    pub(super) fn of(
        reservation_id: String,
        workspace_id: WorkspaceId,
        as_state: ReservationState,
    ) -> Self {
        Self {
            reservation_id,
            workspace_id,
            transfer_id: new_id("tr_"),
            as_state,
        }
    }
}

impl LedgerOperation for Reserve {
    type Reply = Reservation;

    fn needs(&self) -> Needs<'_> {
        Needs {
            key_id: self.key_id.as_deref(),
            ..Needs::of(&self.workspace_id)
        }
    }

    fn apply(&self, group: &mut CommitGroup) -> Result<Reservation, LedgerError> {
        let amount_micro = self.amount_micro;
        let key_id = self.key_id.as_deref();
        group.check_funds(&self.workspace_id, key_id, amount_micro)?;
        let transfer = Transfer {
            kind: "reserve",
            amount_micro,
            operation: &self.operation,
            key_id,
            request_id: &self.request_id,
            reservation_id: &self.reservation_id,
            ..Transfer::of(&self.transfer_id, &self.workspace_id)
        };
        let entries = [
            (Account::Available, -amount_micro),
            (Account::Reserved, amount_micro),
        ];
        let balance = group.book(&transfer, &entries)?;
        group.commit_key(key_id, amount_micro);
        let held = HeldMoney {
            id: self.reservation_id.clone(),
            workspace_id: self.workspace_id.clone(),
            key_id: self.key_id.clone(),
            instance_id: self.instance_id.clone(),
            operation: self.operation.clone(),
            request_id: self.request_id.clone(),
            amount_micro,
            state: ReservationState::Open,
            settled_micro: 0,
            created_us: group.now_us,
            finished_us: None,
            change: Change::New,
        };
        group.reservations.insert(self.reservation_id.clone(), held);
        Ok(Reservation {
            id: self.reservation_id.clone(),
            workspace_id: self.workspace_id.clone(),
            key_id: self.key_id.clone(),
            operation: self.operation.clone(),
            request_id: self.request_id.clone(),
            amount_micro,
            balance,
        })
    }

    fn undo(&self) -> Option<Undo> {
        Some(Undo::Release(Release::of(
            self.reservation_id.clone(),
            self.workspace_id.clone(),
            ReservationState::Released,
        )))
    }

    fn claims(_: &Reservation) -> bool {
        true
    }
}

impl LedgerOperation for Settle {
    type Reply = Charge;

    fn needs(&self) -> Needs<'_> {
        Needs {
            reservation_id: Some(&self.reservation_id),
            ..Needs::of(&self.workspace_id)
        }
        .storing(self.storing.as_ref())
        .finishing(self.item.as_ref())
    }

    fn apply(&self, group: &mut CommitGroup) -> Result<Charge, LedgerError> {
        let held = group.open_reservation(&self.reservation_id, &self.workspace_id)?;
        let (amount_micro, held_micro) = (self.amount_micro, held.amount_micro);
        if amount_micro > held_micro {
            return Err(LedgerError::TooMuch {
                asked_micro: amount_micro,
                allowed_micro: held_micro,
            });
        }
        if let Some(storing) = &self.storing {
            group.check_guard(&storing.guard)?;
        }
        if let Some(item) = &self.item {
            group.check_item(item)?;
        }
        let returned_micro = held_micro - amount_micro;
        let transfer = Transfer {
            kind: "settle",
            amount_micro,
            operation: &held.operation,
            usage: self.usage,
            key_id: held.key_id.as_deref(),
            request_id: &held.request_id,
            reservation_id: &self.reservation_id,
            ..Transfer::of(&self.transfer_id, &self.workspace_id)
        };
        let entries = [
            (Account::Reserved, -held_micro),
            (Account::Revenue, amount_micro),
            (Account::Available, returned_micro),
        ];
        let balance = group.book(&transfer, &entries)?;
        group.commit_key(transfer.key_id, -returned_micro);
        group.finish_reservation(
            &self.reservation_id,
            ReservationState::Settled,
            amount_micro,
        );
        group.note_charge(&transfer);
        if let Some(storing) = &self.storing {
            group.store(storing);
        }
        if let Some(item) = &self.item {
            group.finish_item(item, amount_micro);
        }
        Ok(Charge {
            id: self.transfer_id.clone(),
            amount_micro,
            balance,
        })
    }
}

impl LedgerOperation for Release {
    type Reply = Balance;

    fn needs(&self) -> Needs<'_> {
        Needs {
            reservation_id: Some(&self.reservation_id),
            ..Needs::of(&self.workspace_id)
        }
    }

    fn apply(&self, group: &mut CommitGroup) -> Result<Balance, LedgerError> {
        let held = group.open_reservation(&self.reservation_id, &self.workspace_id)?;
        let held_micro = held.amount_micro;
        let transfer = Transfer {
            kind: "release",
            amount_micro: held_micro,
            operation: &held.operation,
            key_id: held.key_id.as_deref(),
            request_id: &held.request_id,
            reservation_id: &self.reservation_id,
            ..Transfer::of(&self.transfer_id, &self.workspace_id)
        };
        let entries = [
            (Account::Reserved, -held_micro),
            (Account::Available, held_micro),
        ];
        let balance = group.book(&transfer, &entries)?;
        group.commit_key(transfer.key_id, -held_micro);
        group.finish_reservation(&self.reservation_id, self.as_state, 0);
        Ok(balance)
    }
}
