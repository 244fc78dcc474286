//! The steps that operations are made of: checks that change nothing, and changes that cannot fail after them.

use super::batch::{Batch, Booked, Change, Funds, KeySpend};
use super::types::{Balance, ReservationState, Usage};
use crate::LedgerError;
use crate::sql::Value;

/// A transfer before its balance is known.
#[derive(Default)]
pub(super) struct Transfer<'a> {
    pub(super) id: &'a str,
    pub(super) workspace_id: &'a str,
    pub(super) kind: &'static str,
    pub(super) amount_micro: i64,
    pub(super) operation: &'a str,
    pub(super) usage: Usage,
    pub(super) key_id: &'a str,
    pub(super) request_id: &'a str,
    pub(super) reservation_id: &'a str,
    pub(super) refund_of: Option<&'a str>,
    pub(super) external_id: Option<&'a str>,
    pub(super) memo: &'a str,
}

impl Batch {
    pub(super) fn check_funds(
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
            let committed_micro = match key.chain_id.as_str() {
                "" => key.committed_micro,
                chain_id => self.chains.get(chain_id).copied().unwrap_or(0),
            };
            if let Some(cap_micro) = key
                .cap_micro
                .filter(|cap| committed_micro + amount_micro > *cap)
            {
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

    pub(super) fn open_reservation(
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

    pub(super) fn finish_reservation(
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

    pub(super) fn move_funds(
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

    pub(super) fn commit_key(&mut self, key_id: &str, amount_micro: i64) {
        if let Some(key) = self.keys.get_mut(key_id).filter(|_| amount_micro != 0) {
            key.committed_micro += amount_micro;
            key.changed = true;
            if !key.chain_id.is_empty() {
                *self.chains.entry(key.chain_id.clone()).or_default() += amount_micro;
            }
        }
    }

    pub(super) fn count_usage(
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
    pub(super) fn note_charge(
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
    pub(super) fn system(&self, workspace_id: &str, account: &str) -> String {
        let currency = self
            .funds
            .get(workspace_id)
            .map_or("", |funds| funds.currency.as_str());
        format!("{account}/{currency}")
    }

    pub(super) fn book(&mut self, transfer: Transfer<'_>, entries: &[(String, i64)]) {
        debug_assert_eq!(entries.iter().map(|(_, amount)| amount).sum::<i64>(), 0);
        let Some(funds) = self.funds.get_mut(transfer.workspace_id) else {
            return;
        };
        funds.booked = true;
        funds.last_us = self.now_us.max(funds.last_us + 1);
        let (total_after_micro, created_us) = (funds.total_micro(), funds.last_us);
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
            created_us.into(),
        ]);
    }
}

pub(super) fn available(workspace_id: &str) -> String {
    format!("available/{workspace_id}")
}

pub(super) fn reserved(workspace_id: &str) -> String {
    format!("reserved/{workspace_id}")
}
