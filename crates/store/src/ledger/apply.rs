//! What each operation does to the books, in memory. Everything is checked before anything is changed, so an operation
//! that fails leaves no trace.

use super::batch::{Batch, Change, Credited, Held};
use super::books::{Transfer, available, reserved};
use super::op::{Done, Op, Storing};
use super::types::{Charge, Credit, Reservation, ReservationState, Usage};
use crate::LedgerError;
use crate::batches::FinishedItem;

impl Batch {
    pub(super) fn apply(&mut self, op: &Op) -> Result<Done, LedgerError> {
        match op {
            Op::Reserve { .. } => self.reserve(op),
            Op::Settle {
                reservation_id,
                workspace_id,
                transfer_id,
                amount_micro,
                usage,
                storing,
                item,
            } => self.settle(
                reservation_id,
                workspace_id,
                transfer_id,
                *amount_micro,
                *usage,
                (storing.as_ref(), item.as_ref()),
            ),
            Op::Release {
                reservation_id,
                workspace_id,
                transfer_id,
                as_state,
            } => self.release(reservation_id, workspace_id, transfer_id, *as_state),
            Op::Charge { .. } => self.charge(op),
            Op::Credit {
                transfer_id,
                workspace_id,
                amount_micro,
                external_id,
                memo,
            } => self.credit(transfer_id, workspace_id, *amount_micro, external_id, memo),
            Op::Refund {
                transfer_id,
                charge_id,
                workspace_id,
                amount_micro,
                memo,
            } => self.refund(transfer_id, charge_id, workspace_id, *amount_micro, memo),
            Op::IdemBegin {
                guard,
                fingerprint,
                instance_id,
                lifetime_us,
            } => self.begin(guard, fingerprint, instance_id, *lifetime_us),
            Op::IdemFinish { storing } => {
                self.check_guard(&storing.guard)?;
                self.store(storing);
                Ok(Done::Stored)
            }
            Op::IdemAbandon { guard } => Ok(self.abandon(guard)),
        }
    }

    fn reserve(&mut self, op: &Op) -> Result<Done, LedgerError> {
        let Op::Reserve {
            reservation_id,
            transfer_id,
            instance_id,
            workspace_id,
            key_id,
            operation,
            request_id,
            amount_micro,
        } = op
        else {
            return Err(LedgerError::UnknownReservation);
        };
        self.check_funds(workspace_id, key_id, *amount_micro)?;
        let balance = self.move_funds(workspace_id, -amount_micro, *amount_micro)?;
        self.commit_key(key_id, *amount_micro);
        self.book(
            Transfer {
                id: transfer_id,
                workspace_id,
                kind: "reserve",
                amount_micro: *amount_micro,
                operation,
                key_id,
                request_id,
                reservation_id,
                ..Transfer::default()
            },
            &[
                (available(workspace_id), -amount_micro),
                (reserved(workspace_id), *amount_micro),
            ],
        );
        let held = Held {
            workspace_id: workspace_id.clone(),
            key_id: key_id.clone(),
            instance_id: instance_id.clone(),
            operation: operation.clone(),
            request_id: request_id.clone(),
            amount_micro: *amount_micro,
            state: ReservationState::Open,
            settled_micro: 0,
            created_us: self.now_us,
            finished_us: None,
            change: Change::New,
        };
        self.reservations.insert(reservation_id.clone(), held);
        Ok(Done::Reserved(Reservation {
            id: reservation_id.clone(),
            workspace_id: workspace_id.clone(),
            key_id: Some(key_id.clone()).filter(|id| !id.is_empty()),
            operation: operation.clone(),
            request_id: request_id.clone(),
            amount_micro: *amount_micro,
            balance,
        }))
    }

    fn settle(
        &mut self,
        reservation_id: &str,
        workspace_id: &str,
        transfer_id: &str,
        amount_micro: i64,
        usage: Usage,
        (storing, item): (Option<&Storing>, Option<&FinishedItem>),
    ) -> Result<Done, LedgerError> {
        let (held_micro, operation, key_id, request_id) =
            self.open_reservation(reservation_id, workspace_id)?;
        if amount_micro > held_micro {
            return Err(LedgerError::TooMuch {
                asked_micro: amount_micro,
                allowed_micro: held_micro,
            });
        }
        if let Some(storing) = storing {
            self.check_guard(&storing.guard)?;
        }
        if let Some(item) = item {
            self.check_item(item)?;
        }
        let returned_micro = held_micro - amount_micro;
        let balance = self.move_funds(workspace_id, returned_micro, -held_micro)?;
        self.commit_key(&key_id, -returned_micro);
        self.finish_reservation(reservation_id, ReservationState::Settled, amount_micro);
        let revenue = self.system(workspace_id, "revenue");
        self.book(
            Transfer {
                id: transfer_id,
                workspace_id,
                kind: "settle",
                amount_micro,
                operation: &operation,
                usage,
                key_id: &key_id,
                request_id: &request_id,
                reservation_id,
                ..Transfer::default()
            },
            &[
                (reserved(workspace_id), -held_micro),
                (revenue, amount_micro),
                (available(workspace_id), returned_micro),
            ],
        );
        self.count_usage(workspace_id, &operation, &key_id, amount_micro, usage);
        self.note_charge(transfer_id, workspace_id, amount_micro, &operation, &key_id);
        if let Some(storing) = storing {
            self.store(storing);
        }
        if let Some(item) = item {
            self.finish_item(item, amount_micro);
        }
        Ok(Done::Charged(Charge {
            id: transfer_id.to_owned(),
            amount_micro,
            balance,
        }))
    }

    fn release(
        &mut self,
        reservation_id: &str,
        workspace_id: &str,
        transfer_id: &str,
        as_state: ReservationState,
    ) -> Result<Done, LedgerError> {
        let (held_micro, operation, key_id, request_id) =
            self.open_reservation(reservation_id, workspace_id)?;
        let balance = self.move_funds(workspace_id, held_micro, -held_micro)?;
        self.commit_key(&key_id, -held_micro);
        self.finish_reservation(reservation_id, as_state, 0);
        self.book(
            Transfer {
                id: transfer_id,
                workspace_id,
                kind: "release",
                amount_micro: held_micro,
                operation: &operation,
                key_id: &key_id,
                request_id: &request_id,
                reservation_id,
                ..Transfer::default()
            },
            &[
                (reserved(workspace_id), -held_micro),
                (available(workspace_id), held_micro),
            ],
        );
        Ok(Done::Released(balance))
    }

    fn charge(&mut self, op: &Op) -> Result<Done, LedgerError> {
        let Op::Charge {
            transfer_id,
            workspace_id,
            key_id,
            operation,
            request_id,
            amount_micro,
            usage,
            storing,
        } = op
        else {
            return Err(LedgerError::UnknownCharge);
        };
        self.check_funds(workspace_id, key_id, *amount_micro)?;
        if let Some(storing) = storing {
            self.check_guard(&storing.guard)?;
        }
        let balance = self.move_funds(workspace_id, -amount_micro, 0)?;
        self.commit_key(key_id, *amount_micro);
        let revenue = self.system(workspace_id, "revenue");
        self.book(
            Transfer {
                id: transfer_id,
                workspace_id,
                kind: "charge",
                amount_micro: *amount_micro,
                operation,
                usage: *usage,
                key_id,
                request_id,
                ..Transfer::default()
            },
            &[
                (available(workspace_id), -amount_micro),
                (revenue, *amount_micro),
            ],
        );
        self.count_usage(workspace_id, operation, key_id, *amount_micro, *usage);
        self.note_charge(transfer_id, workspace_id, *amount_micro, operation, key_id);
        if let Some(storing) = storing {
            self.store(storing);
        }
        Ok(Done::Charged(Charge {
            id: transfer_id.clone(),
            amount_micro: *amount_micro,
            balance,
        }))
    }

    fn credit(
        &mut self,
        transfer_id: &str,
        workspace_id: &str,
        amount_micro: i64,
        external_id: &str,
        memo: &str,
    ) -> Result<Done, LedgerError> {
        let funds = self
            .funds
            .get(workspace_id)
            .ok_or(LedgerError::UnknownWorkspace)?;
        if let Some(before) = self.externals.get(external_id) {
            if before.workspace_id != workspace_id || before.amount_micro != amount_micro {
                return Err(LedgerError::ExternalIdReused);
            }
            let balance = funds.balance();
            return Ok(Done::Credited(Credit {
                id: before.transfer_id.clone(),
                amount_micro,
                balance,
                applied: false,
            }));
        }
        let allowed_micro = super::AMOUNT_MICRO_MAX - funds.total_micro();
        if amount_micro > allowed_micro {
            return Err(LedgerError::TooMuch {
                asked_micro: amount_micro,
                allowed_micro,
            });
        }
        let balance = self.move_funds(workspace_id, amount_micro, 0)?;
        let funding = self.system(workspace_id, "funding");
        self.book(
            Transfer {
                id: transfer_id,
                workspace_id,
                kind: "credit",
                amount_micro,
                external_id: Some(external_id),
                memo,
                ..Transfer::default()
            },
            &[
                (funding, -amount_micro),
                (available(workspace_id), amount_micro),
            ],
        );
        let credited = Credited {
            transfer_id: transfer_id.to_owned(),
            workspace_id: workspace_id.to_owned(),
            amount_micro,
        };
        self.externals.insert(external_id.to_owned(), credited);
        Ok(Done::Credited(Credit {
            id: transfer_id.to_owned(),
            amount_micro,
            balance,
            applied: true,
        }))
    }

    fn refund(
        &mut self,
        transfer_id: &str,
        charge_id: &str,
        workspace_id: &str,
        amount_micro: Option<i64>,
        memo: &str,
    ) -> Result<Done, LedgerError> {
        let booked = self
            .charges
            .get_mut(charge_id)
            .filter(|booked| booked.workspace_id == workspace_id)
            .ok_or(LedgerError::UnknownCharge)?;
        if booked.refunded {
            return Err(LedgerError::AlreadyRefunded);
        }
        let amount_micro = amount_micro.unwrap_or(booked.amount_micro);
        if amount_micro > booked.amount_micro {
            return Err(LedgerError::TooMuch {
                asked_micro: amount_micro,
                allowed_micro: booked.amount_micro,
            });
        }
        if !self.funds.contains_key(workspace_id) {
            return Err(LedgerError::UnknownWorkspace);
        }
        booked.refunded = true;
        let (operation, key_id) = (booked.operation.clone(), booked.key_id.clone());
        let balance = self.move_funds(workspace_id, amount_micro, 0)?;
        self.commit_key(&key_id, -amount_micro);
        let refunds = self.system(workspace_id, "refunds");
        self.book(
            Transfer {
                id: transfer_id,
                workspace_id,
                kind: "refund",
                amount_micro,
                operation: &operation,
                key_id: &key_id,
                refund_of: Some(charge_id),
                memo,
                ..Transfer::default()
            },
            &[
                (refunds, -amount_micro),
                (available(workspace_id), amount_micro),
            ],
        );
        Ok(Done::Charged(Charge {
            id: transfer_id.to_owned(),
            amount_micro,
            balance,
        }))
    }
}
