//! Charge, credit, refund: transfers without a reservation.

use serde_json::json;

use super::books::{MoneyAccount, Transfer};
use super::commit_group::{CommitGroup, Credited};
use super::needs::{RowsNeeded, Storing};
use super::op::LedgerOperation;
use super::types::{Charge, Credit, PaymentEvent, Usage};
use crate::LedgerError;
use crate::webhooks::WorkspaceEvent;
use crate::{KeyId, Operation, TransferId, WorkspaceId};

/// A charge without a reservation before it.
#[derive(Debug)]
pub(super) struct ChargeAtOnce {
    pub(super) transfer_id: TransferId,
    pub(super) workspace_id: WorkspaceId,
    pub(super) key_id: Option<KeyId>,
    pub(super) operation: Operation,
    pub(super) request_id: String,
    pub(super) amount_micro: i64,
    pub(super) usage: Usage,
    pub(super) storing: Option<Storing>,
}

#[derive(Debug)]
pub(super) struct PutCredit {
    pub(super) transfer_id: TransferId,
    pub(super) workspace_id: WorkspaceId,
    pub(super) amount_micro: i64,
    pub(super) external_id: String,
    pub(super) memo: String,
    /// The workspace is told of a payment, not of a credit that nobody paid.
    pub(super) payment: Option<PaymentEvent>,
}

#[derive(Debug)]
pub(super) struct Refund {
    pub(super) transfer_id: TransferId,
    pub(super) charge_id: TransferId,
    pub(super) workspace_id: WorkspaceId,
    /// All of the charge where it is absent.
    pub(super) amount_micro: Option<i64>,
    pub(super) memo: String,
}

impl LedgerOperation for ChargeAtOnce {
    type Reply = Charge;

    fn needs(&self) -> RowsNeeded<'_> {
        RowsNeeded {
            key_id: self.key_id.as_ref(),
            ..RowsNeeded::of(&self.workspace_id)
        }
        .storing(self.storing.as_ref())
    }

    fn apply(&self, group: &mut CommitGroup) -> Result<Charge, LedgerError> {
        let amount_micro = self.amount_micro;
        let key_id = self.key_id.as_ref();
        group.check_funds(&self.workspace_id, key_id, amount_micro)?;
        if let Some(storing) = &self.storing {
            group.check_guard(&storing.guard)?;
        }
        let transfer = Transfer {
            kind: "charge",
            amount_micro,
            operation: Some(self.operation),
            usage: self.usage,
            key_id,
            request_id: &self.request_id,
            ..Transfer::of(&self.transfer_id, &self.workspace_id)
        };
        let entries = [
            (MoneyAccount::Available, -amount_micro),
            (MoneyAccount::Revenue, amount_micro),
        ];
        let balance = group.book(&transfer, &entries)?;
        group.commit_key(key_id, amount_micro);
        group.note_charge(&transfer, self.operation);
        if let Some(storing) = &self.storing {
            group.store(storing);
        }
        Ok(Charge {
            id: self.transfer_id.clone(),
            amount_micro,
            balance,
        })
    }
}

impl LedgerOperation for PutCredit {
    type Reply = Credit;

    fn needs(&self) -> RowsNeeded<'_> {
        RowsNeeded {
            external_id: Some(&self.external_id),
            ..RowsNeeded::of(&self.workspace_id)
        }
    }

    fn apply(&self, group: &mut CommitGroup) -> Result<Credit, LedgerError> {
        let amount_micro = self.amount_micro;
        let funds = group
            .funds
            .get(&self.workspace_id)
            .ok_or(LedgerError::UnknownWorkspace)?;
        if let Some(before) = group.externals.get(&self.external_id) {
            if before.workspace_id != self.workspace_id || before.amount_micro != amount_micro {
                return Err(LedgerError::ExternalIdReused);
            }
            return Ok(Credit {
                id: before.transfer_id.clone(),
                amount_micro,
                balance: funds.balance(),
                applied: false,
            });
        }
        if funds.closed_us.is_some() && amount_micro > 0 {
            return Err(LedgerError::WorkspaceClosed);
        }
        if funds.available_micro < -amount_micro {
            return Err(LedgerError::Insufficient {
                required_micro: -amount_micro,
                available_micro: funds.available_micro,
            });
        }
        let allowed_micro = super::AMOUNT_MICRO_MAX - funds.total_micro();
        if amount_micro > allowed_micro {
            return Err(LedgerError::TooMuch {
                asked_micro: amount_micro,
                allowed_micro,
            });
        }
        let transfer = Transfer {
            kind: match amount_micro < 0 {
                true => "correction",
                false => "credit",
            },
            amount_micro,
            external_id: Some(&self.external_id),
            memo: &self.memo,
            ..Transfer::of(&self.transfer_id, &self.workspace_id)
        };
        let entries = [
            (MoneyAccount::Funding, -amount_micro),
            (MoneyAccount::Available, amount_micro),
        ];
        let balance = group.book(&transfer, &entries)?;
        let credited = Credited {
            external_id: self.external_id.clone(),
            transfer_id: self.transfer_id.clone(),
            workspace_id: self.workspace_id.clone(),
            amount_micro,
        };
        group.externals.insert(self.external_id.clone(), credited);
        if let Some(payment) = &self.payment {
            group.events.push(WorkspaceEvent {
                workspace_id: self.workspace_id.clone(),
                event_type: "payment.received",
                data: json!({
                    "provider": payment.provider,
                    "receipt": payment.event_id,
                    "currency": payment.currency,
                    "amount_micro": amount_micro,
                    "available_micro": balance.available_micro,
                }),
            });
        }
        Ok(Credit {
            id: self.transfer_id.clone(),
            amount_micro,
            balance,
            applied: true,
        })
    }
}

impl LedgerOperation for Refund {
    type Reply = Charge;

    fn needs(&self) -> RowsNeeded<'_> {
        RowsNeeded {
            charge_id: Some(&self.charge_id),
            ..RowsNeeded::of(&self.workspace_id)
        }
    }

    fn apply(&self, group: &mut CommitGroup) -> Result<Charge, LedgerError> {
        let booked = group
            .charges
            .get(&self.charge_id)
            .filter(|booked| booked.workspace_id == self.workspace_id)
            .ok_or(LedgerError::UnknownCharge)?
            .clone();
        if booked.refunds > 0 {
            return Err(LedgerError::AlreadyRefunded);
        }
        let amount_micro = self.amount_micro.unwrap_or(booked.amount_micro);
        if amount_micro > booked.amount_micro {
            return Err(LedgerError::TooMuch {
                asked_micro: amount_micro,
                allowed_micro: booked.amount_micro,
            });
        }
        let transfer = Transfer {
            kind: "refund",
            amount_micro,
            operation: Some(booked.operation),
            key_id: booked.key_id.as_ref(),
            refund_of: Some(&self.charge_id),
            memo: &self.memo,
            ..Transfer::of(&self.transfer_id, &self.workspace_id)
        };
        let entries = [
            (MoneyAccount::Refunds, -amount_micro),
            (MoneyAccount::Available, amount_micro),
        ];
        let balance = group.book(&transfer, &entries)?;
        group.commit_key(transfer.key_id, -amount_micro);
        if let Some(booked) = group.charges.get_mut(&self.charge_id) {
            booked.refunds += 1;
        }
        Ok(Charge {
            id: self.transfer_id.clone(),
            amount_micro,
            balance,
        })
    }
}
