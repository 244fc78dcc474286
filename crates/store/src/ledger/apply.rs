//! What each operation does to the books, in memory. Everything is checked before anything is changed, so an operation
//! that fails leaves no trace.

use super::batch::{Answer, Batch, Booked, Change, Credited, Funds, Held, KeySpend};
use super::op::{Done, IdemState, Op, Storing};
use super::types::{Balance, Charge, Credit, Reservation, ReservationState, Usage};
use crate::LedgerError;
use crate::idempotency::Guard;
use crate::sql::Value;

/// A transfer before its balance is known.
#[derive(Default)]
struct Transfer<'a> {
    id: &'a str,
    workspace_id: &'a str,
    kind: &'static str,
    amount_micro: i64,
    operation: &'a str,
    usage: Usage,
    key_id: &'a str,
    request_id: &'a str,
    reservation_id: &'a str,
    refund_of: Option<&'a str>,
    external_id: Option<&'a str>,
    memo: &'a str,
}

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
            } => self.settle(
                reservation_id,
                workspace_id,
                transfer_id,
                *amount_micro,
                *usage,
                storing.as_ref(),
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
        storing: Option<&Storing>,
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

    fn begin(
        &mut self,
        guard: &Guard,
        fingerprint: &str,
        instance_id: &str,
        lifetime_us: i64,
    ) -> Result<Done, LedgerError> {
        if !self.funds.contains_key(&guard.workspace_id) {
            return Err(LedgerError::UnknownWorkspace);
        }
        let slot = (guard.workspace_id.clone(), guard.key.clone());
        if let Some(answer) = self
            .answers
            .get(&slot)
            .filter(|answer| answer.is_alive(self.now_us))
        {
            let state = match (answer.fingerprint == fingerprint, answer.done) {
                (false, _) => IdemState::Mismatch,
                (true, false) => IdemState::InFlight,
                (true, true) => IdemState::Done(Guard {
                    id: answer.guard_id.clone(),
                    ..guard.clone()
                }),
            };
            return Ok(Done::Begun(state));
        }
        let answer = Answer {
            guard_id: guard.id.clone(),
            fingerprint: fingerprint.to_owned(),
            done: false,
            instance_id: instance_id.to_owned(),
            status: 0,
            headers: String::new(),
            body: None,
            created_us: self.now_us,
            expires_us: self.now_us.saturating_add(lifetime_us),
            change: Change::Updated,
        };
        self.answers.insert(slot, answer);
        Ok(Done::Begun(IdemState::New(guard.clone())))
    }

    fn check_guard(&self, guard: &Guard) -> Result<(), LedgerError> {
        let slot = (guard.workspace_id.clone(), guard.key.clone());
        let held = self
            .answers
            .get(&slot)
            .is_some_and(|answer| answer.is_held_by(guard));
        if held {
            Ok(())
        } else {
            Err(LedgerError::GuardLost)
        }
    }

    fn store(&mut self, storing: &Storing) {
        let slot = (
            storing.guard.workspace_id.clone(),
            storing.guard.key.clone(),
        );
        if let Some(answer) = self.answers.get_mut(&slot) {
            answer.done = true;
            answer.status = storing.status;
            answer.headers = storing.headers.clone();
            answer.body = storing.body.clone();
            answer.change = Change::Updated;
        }
    }

    fn abandon(&mut self, guard: &Guard) -> Done {
        let slot = (guard.workspace_id.clone(), guard.key.clone());
        if let Some(answer) = self
            .answers
            .get_mut(&slot)
            .filter(|answer| answer.is_held_by(guard))
        {
            answer.change = Change::Deleted;
        }
        Done::Abandoned
    }

    fn check_funds(
        &self,
        workspace_id: &str,
        key_id: &str,
        amount_micro: i64,
    ) -> Result<(), LedgerError> {
        let funds = self
            .funds
            .get(workspace_id)
            .ok_or(LedgerError::UnknownWorkspace)?;
        if !key_id.is_empty() {
            let own = |key: &&KeySpend| key.workspace_id == workspace_id;
            let key = self
                .keys
                .get(key_id)
                .filter(own)
                .ok_or(LedgerError::UnknownKey)?;
            if let Some(cap_micro) = key
                .cap_micro
                .filter(|cap| key.committed_micro + amount_micro > *cap)
            {
                let committed_micro = key.committed_micro;
                return Err(LedgerError::CapExceeded {
                    cap_micro,
                    committed_micro,
                    required_micro: amount_micro,
                });
            }
        }
        if funds.available_micro < amount_micro {
            let available_micro = funds.available_micro;
            return Err(LedgerError::Insufficient {
                required_micro: amount_micro,
                available_micro,
            });
        }
        Ok(())
    }

    fn open_reservation(
        &self,
        reservation_id: &str,
        workspace_id: &str,
    ) -> Result<(i64, String, String, String), LedgerError> {
        let held = self
            .reservations
            .get(reservation_id)
            .filter(|held| held.workspace_id == workspace_id)
            .ok_or(LedgerError::UnknownReservation)?;
        match held.state {
            ReservationState::Open => Ok((
                held.amount_micro,
                held.operation.clone(),
                held.key_id.clone(),
                held.request_id.clone(),
            )),
            finished => Err(LedgerError::Finished(finished)),
        }
    }

    fn finish_reservation(
        &mut self,
        reservation_id: &str,
        state: ReservationState,
        settled_micro: i64,
    ) {
        let now_us = self.now_us;
        if let Some(held) = self.reservations.get_mut(reservation_id) {
            held.state = state;
            held.settled_micro = settled_micro;
            held.finished_us = Some(now_us);
            // One that was made in this very batch is inserted finished.
            if held.change == Change::None {
                held.change = Change::Updated;
            }
        }
    }

    fn move_funds(
        &mut self,
        workspace_id: &str,
        available_micro: i64,
        reserved_micro: i64,
    ) -> Result<Balance, LedgerError> {
        let funds: &mut Funds = self
            .funds
            .get_mut(workspace_id)
            .ok_or(LedgerError::UnknownWorkspace)?;
        let before_micro = funds.total_micro();
        funds.available_micro += available_micro;
        funds.reserved_micro += reserved_micro;
        let after_micro = funds.total_micro();
        let fell_low = funds
            .low_micro
            .is_some_and(|low| before_micro >= low && after_micro < low);
        Ok(Balance {
            fell_low,
            ..funds.balance()
        })
    }

    fn commit_key(&mut self, key_id: &str, amount_micro: i64) {
        if let Some(key) = self.keys.get_mut(key_id).filter(|_| amount_micro != 0) {
            key.committed_micro += amount_micro;
            key.changed = true;
        }
    }

    fn count_usage(
        &mut self,
        workspace_id: &str,
        operation: &str,
        key_id: &str,
        amount_micro: i64,
        usage: Usage,
    ) {
        let key = (
            workspace_id.to_owned(),
            operation.to_owned(),
            key_id.to_owned(),
        );
        let sum = self.usage.entry(key).or_default();
        sum.requests += 1;
        sum.cached_requests += i64::from(usage.cached);
        sum.units += usage.units;
        sum.audio_ms += usage.audio_ms;
        sum.amount_micro += amount_micro;
    }

    /// Lets a refund later in the same batch find the charge.
    fn note_charge(
        &mut self,
        id: &str,
        workspace_id: &str,
        amount_micro: i64,
        operation: &str,
        key_id: &str,
    ) {
        let (workspace_id, operation, key_id) = (
            workspace_id.to_owned(),
            operation.to_owned(),
            key_id.to_owned(),
        );
        self.charges.insert(
            id.to_owned(),
            Booked {
                workspace_id,
                amount_micro,
                operation,
                key_id,
                refunded: false,
            },
        );
    }

    /// The operator's side of a transfer; currencies are never mixed in one account.
    fn system(&self, workspace_id: &str, account: &str) -> String {
        let currency = self
            .funds
            .get(workspace_id)
            .map_or("", |funds| funds.currency.as_str());
        format!("{account}/{currency}")
    }

    fn book(&mut self, transfer: Transfer<'_>, entries: &[(String, i64)]) {
        debug_assert_eq!(entries.iter().map(|(_, amount)| amount).sum::<i64>(), 0);
        let total_after_micro = self
            .funds
            .get(transfer.workspace_id)
            .map_or(0, Funds::total_micro);
        for (line, (account, amount_micro)) in entries.iter().enumerate() {
            self.entries.push(vec![
                transfer.id.into(),
                (line as i64).into(),
                account.into(),
                (*amount_micro).into(),
            ]);
        }
        self.transfers.push(vec![
            transfer.id.into(),
            transfer.workspace_id.into(),
            transfer.kind.into(),
            transfer.amount_micro.into(),
            total_after_micro.into(),
            transfer.operation.into(),
            transfer.usage.units.into(),
            transfer.usage.audio_ms.into(),
            i64::from(transfer.usage.cached).into(),
            transfer.key_id.into(),
            transfer.request_id.into(),
            transfer.reservation_id.into(),
            Value::MaybeText(transfer.refund_of.map(str::to_owned)),
            Value::MaybeText(transfer.external_id.map(str::to_owned)),
            transfer.memo.into(),
            self.now_us.into(),
        ]);
    }
}

impl Answer {
    fn is_alive(&self, now_us: i64) -> bool {
        self.change != Change::Deleted && self.expires_us > now_us
    }

    fn is_held_by(&self, guard: &Guard) -> bool {
        self.change != Change::Deleted && !self.done && self.guard_id == guard.id
    }
}

fn available(workspace_id: &str) -> String {
    format!("available/{workspace_id}")
}

fn reserved(workspace_id: &str) -> String {
    format!("reserved/{workspace_id}")
}
