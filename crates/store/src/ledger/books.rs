//! The steps that operations are made of: checks that change nothing, and changes that cannot fail after them.

use serde_json::json;

use super::commit_group::{Booked, Change, CommitGroup, HeldMoney, KeySpend};
use super::reservation_state::ReservationState;
use super::types::{Balance, Usage};
use crate::LedgerError;
use crate::rows::Value;
use crate::webhooks::WorkspaceEvent;
use crate::{KeyId, Operation, ReservationId, TransferId, WorkspaceId};

/// A transfer before its balance is known.
pub(super) struct Transfer<'a> {
    pub(super) id: &'a TransferId,
    pub(super) workspace_id: &'a WorkspaceId,
    pub(super) kind: &'static str,
    pub(super) amount_micro: i64,
    pub(super) operation: Option<Operation>,
    pub(super) usage: Usage,
    pub(super) key_id: Option<&'a KeyId>,
    pub(super) request_id: &'a str,
    pub(super) reservation_id: Option<&'a ReservationId>,
    pub(super) refund_of: Option<&'a TransferId>,
    pub(super) external_id: Option<&'a str>,
    pub(super) memo: &'a str,
}

impl<'a> Transfer<'a> {
    /// All that is not common to transfers left empty.
    pub(super) fn of(id: &'a TransferId, workspace_id: &'a WorkspaceId) -> Self {
        Self {
            id,
            workspace_id,
            kind: "",
            amount_micro: 0,
            operation: None,
            usage: Usage::default(),
            key_id: None,
            request_id: "",
            reservation_id: None,
            refund_of: None,
            external_id: None,
            memo: "",
        }
    }
}

/// The two accounts of a workspace, and the operator's side of a transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MoneyAccount {
    Available,
    Reserved,
    Revenue,
    Funding,
    Refunds,
}

impl MoneyAccount {
    /// The operator's accounts are kept by currency: currencies are never mixed in one.
    fn name(self, workspace_id: &WorkspaceId, currency: &str) -> String {
        match self {
            Self::Available => format!("available/{workspace_id}"),
            Self::Reserved => format!("reserved/{workspace_id}"),
            Self::Revenue => format!("revenue/{currency}"),
            Self::Funding => format!("funding/{currency}"),
            Self::Refunds => format!("refunds/{currency}"),
        }
    }
}

fn sum_of(entries: &[(MoneyAccount, i64)], of: impl Fn(MoneyAccount) -> bool) -> Option<i64> {
    let mut amounts = entries.iter().filter(|(account, _)| of(*account));
    amounts.try_fold(0i64, |sum, (_, amount)| sum.checked_add(*amount))
}

impl CommitGroup {
    pub(super) fn check_funds(
        &self,
        workspace_id: &WorkspaceId,
        key_id: Option<&KeyId>,
        amount_micro: i64,
    ) -> Result<(), LedgerError> {
        let funds = self
            .funds
            .get(workspace_id)
            .ok_or(LedgerError::UnknownWorkspace)?;
        if let Some(key_id) = key_id {
            let own = |key: &&KeySpend| key.workspace_id == *workspace_id;
            let key = self
                .keys
                .get(key_id)
                .filter(own)
                .ok_or(LedgerError::UnknownKey)?;
            let committed_micro = match &key.chain_id {
                None => key.committed_micro,
                Some(chain_id) => self.chains.get(chain_id).copied().unwrap_or(0),
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
        reservation_id: &ReservationId,
        workspace_id: &WorkspaceId,
    ) -> Result<HeldMoney, LedgerError> {
        let held = self
            .reservations
            .get(reservation_id)
            .filter(|held| held.workspace_id == *workspace_id)
            .ok_or(LedgerError::UnknownReservation)?;
        match held.state {
            ReservationState::Open => Ok(held.clone()),
            finished => Err(LedgerError::Finished(finished)),
        }
    }

    pub(super) fn finish_reservation(
        &mut self,
        reservation_id: &ReservationId,
        state: ReservationState,
        settled_micro: i64,
    ) {
        let now_us = self.now_us;
        if let Some(held) = self.reservations.get_mut(reservation_id) {
            held.state = state;
            held.settled_micro = settled_micro;
            held.finished_us = Some(now_us);
            // One that was made in this very group is inserted finished.
            if held.change == Change::None {
                held.change = Change::Updated;
            }
        }
    }

    pub(super) fn commit_key(&mut self, key_id: Option<&KeyId>, amount_micro: i64) {
        let key = key_id.and_then(|key_id| self.keys.get_mut(key_id));
        if let Some(key) = key.filter(|_| amount_micro != 0) {
            key.committed_micro += amount_micro;
            key.changed = true;
            if let Some(chain_id) = &key.chain_id {
                *self.chains.entry(chain_id.clone()).or_default() += amount_micro;
            }
        }
    }

    /// Counts a charge towards the day's usage, and lets a refund later in the same group find it.
    pub(super) fn note_charge(&mut self, charge: &Transfer<'_>, operation: Operation) {
        let booked = Booked {
            id: charge.id.clone(),
            workspace_id: charge.workspace_id.clone(),
            amount_micro: charge.amount_micro,
            operation,
            key_id: charge.key_id.cloned(),
            refunds: 0,
        };
        let usage_key = (
            booked.workspace_id.clone(),
            operation,
            booked.key_id.clone(),
        );
        let sum = self.usage.entry(usage_key).or_default();
        sum.requests += 1;
        sum.cached_requests += i64::from(charge.usage.cached);
        sum.units += charge.usage.units;
        sum.audio_ms += charge.usage.audio_ms;
        sum.amount_micro += charge.amount_micro;
        self.charges.insert(booked.id.clone(), booked);
    }

    /// Books a transfer and moves the workspace's balance by its entries: there is no other way to move it. Entries that
    /// do not sum to zero, or would take a balance below it, are refused and change nothing.
    pub(super) fn book(
        &mut self,
        transfer: &Transfer<'_>,
        entries: &[(MoneyAccount, i64)],
    ) -> Result<Balance, LedgerError> {
        let funds = self
            .funds
            .get_mut(transfer.workspace_id)
            .ok_or(LedgerError::UnknownWorkspace)?;
        let moved = |of: MoneyAccount, before: i64| {
            sum_of(entries, |account| account == of)
                .and_then(|sum| sum.checked_add(before))
                .filter(|after| *after >= 0)
        };
        let available_micro = moved(MoneyAccount::Available, funds.available_micro);
        let reserved_micro = moved(MoneyAccount::Reserved, funds.reserved_micro);
        let (0, Some(available_micro), Some(reserved_micro)) = (
            sum_of(entries, |_| true).unwrap_or(i64::MIN),
            available_micro,
            reserved_micro,
        ) else {
            tracing::error!(
                kind = transfer.kind,
                ?entries,
                "a transfer does not balance"
            );
            return Err(LedgerError::Unbalanced(transfer.kind));
        };
        let before_micro = funds.total_micro();
        funds.available_micro = available_micro;
        funds.reserved_micro = reserved_micro;
        funds.booked = true;
        funds.last_us = self.now_us.max(funds.last_us + 1);
        let after_micro = funds.total_micro();
        let fell_low = funds
            .low_micro
            .is_some_and(|low| before_micro >= low && after_micro < low);
        for (line, (account, amount_micro)) in entries.iter().enumerate() {
            self.entries.push(vec![
                transfer.id.into(),
                (line as i64).into(),
                account.name(transfer.workspace_id, &funds.currency).into(),
                (*amount_micro).into(),
            ]);
        }
        self.transfers.push(vec![
            transfer.id.into(),
            transfer.workspace_id.into(),
            transfer.kind.into(),
            transfer.amount_micro.into(),
            after_micro.into(),
            transfer.operation.map_or("", Operation::as_str).into(),
            transfer.usage.units.into(),
            transfer.usage.audio_ms.into(),
            i64::from(transfer.usage.cached).into(),
            transfer.key_id.map_or("", KeyId::as_str).into(),
            transfer.request_id.into(),
            transfer
                .reservation_id
                .map_or("", ReservationId::as_str)
                .into(),
            Value::MaybeText(transfer.refund_of.map(TransferId::to_string)),
            Value::MaybeText(transfer.external_id.map(str::to_owned)),
            transfer.memo.into(),
            funds.last_us.into(),
        ]);
        if fell_low {
            self.events.push(WorkspaceEvent {
                workspace_id: transfer.workspace_id.clone(),
                event_type: "balance.low",
                data: json!({"available_micro": available_micro}),
            });
        }
        Ok(Balance {
            available_micro,
            reserved_micro,
            fell_low,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::commit_group::Funds;

    fn id(text: &str) -> WorkspaceId {
        text.parse().unwrap()
    }

    fn group() -> CommitGroup {
        let mut group = CommitGroup::empty(1);
        let funds = Funds {
            workspace_id: id("ws_1"),
            available_micro: 100,
            reserved_micro: 0,
            low_micro: None,
            currency: "KES".to_owned(),
            closed_us: None,
            last_us: 0,
            read_micro: (100, 0),
            booked: false,
        };
        group.funds.insert(id("ws_1"), funds);
        group
    }

    #[track_caller]
    fn assert_refused(workspace_id: &str, entries: &[(MoneyAccount, i64)]) {
        let mut group = group();
        let workspace_id = id(workspace_id);
        let transfer_id = "tr_1".parse().unwrap();
        let transfer = Transfer::of(&transfer_id, &workspace_id);
        assert!(group.book(&transfer, entries).is_err());
        assert_eq!(group.funds["ws_1"].available_micro, 100);
        assert!(!group.funds["ws_1"].booked);
        assert!(group.transfers.is_empty() && group.entries.is_empty());
    }

    #[test]
    fn what_cannot_be_booked_is_refused_and_changes_nothing() {
        assert_refused(
            "ws_1",
            &[(MoneyAccount::Available, -5), (MoneyAccount::Revenue, 4)],
        );
        assert_refused(
            "ws_1",
            &[
                (MoneyAccount::Available, -101),
                (MoneyAccount::Revenue, 101),
            ],
        );
        assert_refused(
            "ws_1",
            &[(MoneyAccount::Reserved, -1), (MoneyAccount::Available, 1)],
        );
        assert_refused(
            "ws_1",
            &[
                (MoneyAccount::Available, i64::MAX),
                (MoneyAccount::Reserved, i64::MAX),
            ],
        );
        assert_refused(
            "ws_2",
            &[(MoneyAccount::Available, -5), (MoneyAccount::Revenue, 5)],
        );
    }

    #[test]
    fn the_balance_follows_the_entries() {
        let mut group = group();
        let entries = [(MoneyAccount::Available, -30), (MoneyAccount::Reserved, 30)];
        let workspace_id = id("ws_1");
        let transfer_id = "tr_1".parse().unwrap();
        let transfer = Transfer::of(&transfer_id, &workspace_id);
        let balance = group.book(&transfer, &entries).unwrap();
        assert_eq!((balance.available_micro, balance.reserved_micro), (70, 30));
        assert_eq!((group.transfers.len(), group.entries.len()), (1, 2));
    }
}
