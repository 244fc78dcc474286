//! Reserve, settle, release: money set aside before work, and what becomes of it (two-phase transfers).

use super::books::{MoneyAccount, Transfer};
use super::commit_group::{Change, CommitGroup, HeldMoney};
use super::needs::{RowsNeeded, Storing};
use super::op::{LedgerOperation, Undo};
use super::reservation_state::ReservationState;
use super::types::{Balance, Charge, FinishedItem, Reservation, Usage};
use crate::LedgerError;
use crate::{InstanceId, KeyId, Operation, ReservationId, TransferId, WorkspaceId};

#[derive(Debug)]
pub(super) struct Reserve {
    pub(super) reservation_id: ReservationId,
    pub(super) transfer_id: TransferId,
    pub(super) instance_id: InstanceId,
    pub(super) workspace_id: WorkspaceId,
    pub(super) key_id: Option<KeyId>,
    pub(super) operation: Operation,
    pub(super) request_id: String,
    pub(super) amount_micro: i64,
}

#[derive(Debug)]
pub(super) struct Settle {
    pub(super) reservation_id: ReservationId,
    pub(super) workspace_id: WorkspaceId,
    pub(super) transfer_id: TransferId,
    pub(super) amount_micro: i64,
    pub(super) usage: Usage,
    pub(super) storing: Option<Storing>,
    pub(super) item: Option<FinishedItem>,
}

#[derive(Debug)]
pub(crate) struct Release {
    pub(super) reservation_id: ReservationId,
    pub(super) workspace_id: WorkspaceId,
    pub(super) transfer_id: TransferId,
    pub(super) as_state: ReservationState,
}

impl Release {
    pub(super) fn of(
        reservation_id: ReservationId,
        workspace_id: WorkspaceId,
        as_state: ReservationState,
    ) -> Self {
        Self {
            reservation_id,
            workspace_id,
            transfer_id: TransferId::generate(),
            as_state,
        }
    }
}

impl LedgerOperation for Reserve {
    type Reply = Reservation;

    fn needs(&self) -> RowsNeeded<'_> {
        RowsNeeded {
            key_id: self.key_id.as_ref(),
            ..RowsNeeded::of(&self.workspace_id)
        }
    }

    fn apply(&self, group: &mut CommitGroup) -> Result<Reservation, LedgerError> {
        let amount_micro = self.amount_micro;
        let key_id = self.key_id.as_ref();
        group.check_funds(&self.workspace_id, key_id, amount_micro)?;
        let transfer = Transfer {
            kind: "reserve",
            amount_micro,
            operation: Some(self.operation),
            key_id,
            request_id: &self.request_id,
            reservation_id: Some(&self.reservation_id),
            ..Transfer::of(&self.transfer_id, &self.workspace_id)
        };
        let entries = [
            (MoneyAccount::Available, -amount_micro),
            (MoneyAccount::Reserved, amount_micro),
        ];
        let balance = group.book(&transfer, &entries)?;
        group.commit_key(key_id, amount_micro);
        let held = HeldMoney {
            id: self.reservation_id.clone(),
            workspace_id: self.workspace_id.clone(),
            key_id: self.key_id.clone(),
            instance_id: self.instance_id.clone(),
            operation: self.operation,
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
            operation: self.operation,
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

    fn needs(&self) -> RowsNeeded<'_> {
        RowsNeeded {
            reservation_id: Some(&self.reservation_id),
            ..RowsNeeded::of(&self.workspace_id)
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
            operation: Some(held.operation),
            usage: self.usage,
            key_id: held.key_id.as_ref(),
            request_id: &held.request_id,
            reservation_id: Some(&self.reservation_id),
            ..Transfer::of(&self.transfer_id, &self.workspace_id)
        };
        let entries = [
            (MoneyAccount::Reserved, -held_micro),
            (MoneyAccount::Revenue, amount_micro),
            (MoneyAccount::Available, returned_micro),
        ];
        let balance = group.book(&transfer, &entries)?;
        group.commit_key(transfer.key_id, -returned_micro);
        group.finish_reservation(
            &self.reservation_id,
            ReservationState::Settled,
            amount_micro,
        );
        group.note_charge(&transfer, held.operation);
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

    fn needs(&self) -> RowsNeeded<'_> {
        RowsNeeded {
            reservation_id: Some(&self.reservation_id),
            ..RowsNeeded::of(&self.workspace_id)
        }
    }

    fn apply(&self, group: &mut CommitGroup) -> Result<Balance, LedgerError> {
        let held = group.open_reservation(&self.reservation_id, &self.workspace_id)?;
        let held_micro = held.amount_micro;
        let transfer = Transfer {
            kind: "release",
            amount_micro: held_micro,
            operation: Some(held.operation),
            key_id: held.key_id.as_ref(),
            request_id: &held.request_id,
            reservation_id: Some(&self.reservation_id),
            ..Transfer::of(&self.transfer_id, &self.workspace_id)
        };
        let entries = [
            (MoneyAccount::Reserved, -held_micro),
            (MoneyAccount::Available, held_micro),
        ];
        let balance = group.book(&transfer, &entries)?;
        group.commit_key(transfer.key_id, -held_micro);
        group.finish_reservation(&self.reservation_id, self.as_state, 0);
        Ok(balance)
    }
}
