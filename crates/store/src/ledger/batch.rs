//! The part of the ledger that a batch of operations touches, read under lock. `apply` changes it in memory, `write`
//! puts the changes down. One operation that fails leaves the others alone, and no statement is spent on it.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use sqlx::AnyConnection;

use super::op::Op;
use super::types::{Balance, ReservationState};
use crate::ids::{day_of, now_us};
use crate::open::Backend;
use crate::sql::{Value, select_in, select_in_pairs};

pub(super) struct Batch {
    pub(super) now_us: i64,
    pub(super) day: String,
    pub(super) funds: HashMap<String, Funds>,
    pub(super) keys: HashMap<String, KeySpend>,
    /// What the keys of a chain have spent and reserved together.
    pub(super) chains: HashMap<String, i64>,
    pub(super) reservations: HashMap<String, Held>,
    pub(super) charges: HashMap<String, Booked>,
    pub(super) externals: HashMap<String, Credited>,
    pub(super) answers: HashMap<(String, String), Answer>,
    /// Items of batches in somebody's hands, and under which claim.
    pub(super) items: HashMap<String, String>,
    pub(super) finished_items: Vec<Vec<Value>>,
    pub(super) transfers: Vec<Vec<Value>>,
    pub(super) entries: Vec<Vec<Value>>,
    pub(super) usage: BTreeMap<UsageKey, UsageSum>,
}

pub(super) type UsageKey = (String, String, String);

/// A workspace's balance, now and as it was read.
pub(super) struct Funds {
    pub(super) available_micro: i64,
    pub(super) reserved_micro: i64,
    pub(super) low_micro: Option<i64>,
    pub(super) currency: String,
    pub(super) read_micro: (i64, i64),
    /// When the latest transfer was booked. Strictly rising, so that statements have one order.
    pub(super) last_us: i64,
    pub(super) booked: bool,
}

impl Funds {
    pub(super) fn total_micro(&self) -> i64 {
        self.available_micro + self.reserved_micro
    }

    pub(super) fn balance(&self) -> Balance {
        Balance {
            available_micro: self.available_micro,
            reserved_micro: self.reserved_micro,
            fell_low: false,
        }
    }
}

pub(super) struct KeySpend {
    pub(super) workspace_id: String,
    pub(super) cap_micro: Option<i64>,
    pub(super) committed_micro: i64,
    /// Shared with the keys that it was rotated from or into; empty for a key that never was.
    pub(super) chain_id: String,
    pub(super) changed: bool,
}

pub(super) struct Held {
    pub(super) workspace_id: String,
    pub(super) key_id: String,
    pub(super) instance_id: String,
    pub(super) operation: String,
    pub(super) request_id: String,
    pub(super) amount_micro: i64,
    pub(super) state: ReservationState,
    pub(super) settled_micro: i64,
    pub(super) created_us: i64,
    pub(super) finished_us: Option<i64>,
    pub(super) change: Change,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    None,
    New,
    Updated,
    Deleted,
}

/// A charge that may be refunded.
pub(super) struct Booked {
    pub(super) workspace_id: String,
    pub(super) amount_micro: i64,
    pub(super) operation: String,
    pub(super) key_id: String,
    pub(super) refunded: bool,
}

pub(super) struct Credited {
    pub(super) transfer_id: String,
    pub(super) workspace_id: String,
    pub(super) amount_micro: i64,
}

/// An idempotency entry; the body is written but never read here.
pub(super) struct Answer {
    pub(super) guard_id: String,
    pub(super) fingerprint: String,
    pub(super) done: bool,
    pub(super) instance_id: String,
    pub(super) status: i64,
    pub(super) headers: String,
    pub(super) body: Option<Vec<u8>>,
    pub(super) created_us: i64,
    pub(super) expires_us: i64,
    pub(super) change: Change,
}

#[derive(Default)]
pub(super) struct UsageSum {
    pub(super) requests: i64,
    pub(super) cached_requests: i64,
    pub(super) units: i64,
    pub(super) audio_ms: i64,
    pub(super) amount_micro: i64,
}

impl Batch {
    /// Reads what the operations need. The balance rows come first and, on PostgreSQL, locked in the order of their
    /// ids: they guard all other rows of their workspaces, so that two replicas can neither interleave nor deadlock.
    pub(super) async fn load<'a>(
        connection: &mut AnyConnection,
        backend: Backend,
        ops: impl Iterator<Item = &'a Op> + Clone,
    ) -> Result<Self, sqlx::Error> {
        let now_us = now_us();
        let mut batch = Self {
            now_us,
            day: day_of(now_us),
            funds: HashMap::new(),
            keys: HashMap::new(),
            chains: HashMap::new(),
            reservations: HashMap::new(),
            charges: HashMap::new(),
            externals: HashMap::new(),
            answers: HashMap::new(),
            items: HashMap::new(),
            finished_items: Vec::new(),
            transfers: Vec::new(),
            entries: Vec::new(),
            usage: BTreeMap::new(),
        };
        batch.load_funds(connection, backend, ops.clone()).await?;
        batch.load_reservations(connection, ops.clone()).await?;
        batch.load_charges(connection, ops.clone()).await?;
        batch.load_externals(connection, ops.clone()).await?;
        batch.load_keys(connection, ops.clone()).await?;
        batch.load_answers(connection, ops.clone()).await?;
        batch.load_items(connection, ops).await?;
        Ok(batch)
    }

    async fn load_funds<'a>(
        &mut self,
        connection: &mut AnyConnection,
        backend: Backend,
        ops: impl Iterator<Item = &'a Op>,
    ) -> Result<(), sqlx::Error> {
        let ids = distinct(ops.map(Op::workspace_id));
        let lock = match backend {
            Backend::Sqlite => " order by b.workspace_id",
            Backend::Postgres => " order by b.workspace_id for update of b",
        };
        let rows: Vec<(String, i64, i64, Option<i64>, i64, String)> = select_in(
            connection,
            "select b.workspace_id, b.available_micro, b.reserved_micro, b.low_micro, b.last_us, w.currency
             from balances b join workspaces w on w.id = b.workspace_id where b.workspace_id",
            &ids,
            lock,
        )
        .await?;
        self.funds.extend(rows.into_iter().map(
            |(id, available_micro, reserved_micro, low_micro, last_us, currency)| {
                let read_micro = (available_micro, reserved_micro);
                (
                    id,
                    Funds {
                        available_micro,
                        reserved_micro,
                        low_micro,
                        currency,
                        read_micro,
                        last_us,
                        booked: false,
                    },
                )
            },
        ));
        Ok(())
    }

    async fn load_reservations<'a>(
        &mut self,
        connection: &mut AnyConnection,
        ops: impl Iterator<Item = &'a Op>,
    ) -> Result<(), sqlx::Error> {
        let ids = distinct(ops.filter_map(|op| match op {
            Op::Settle { reservation_id, .. } | Op::Release { reservation_id, .. } => {
                Some(reservation_id.as_str())
            }
            _ => None,
        }));
        type Row = (
            String,
            String,
            String,
            String,
            String,
            String,
            i64,
            String,
            i64,
            i64,
            Option<i64>,
        );
        let rows: Vec<Row> = select_in(
            connection,
            "select id, workspace_id, key_id, instance_id, operation, request_id, amount_micro, state, settled_micro,
                    created_us, finished_us
             from reservations where id",
            &ids,
            "",
        )
        .await?;
        for (
            id,
            workspace_id,
            key_id,
            instance_id,
            operation,
            request_id,
            amount,
            state,
            settled,
            created,
            finished,
        ) in rows
        {
            let held = Held {
                workspace_id,
                key_id,
                instance_id,
                operation,
                request_id,
                amount_micro: amount,
                state: ReservationState::parse(&state),
                settled_micro: settled,
                created_us: created,
                finished_us: finished,
                change: Change::None,
            };
            self.reservations.insert(id, held);
        }
        Ok(())
    }

    async fn load_charges<'a>(
        &mut self,
        connection: &mut AnyConnection,
        ops: impl Iterator<Item = &'a Op>,
    ) -> Result<(), sqlx::Error> {
        let ids = distinct(ops.filter_map(|op| match op {
            Op::Refund { charge_id, .. } => Some(charge_id.as_str()),
            _ => None,
        }));
        let rows: Vec<(String, String, i64, String, String, i64)> = select_in(
            connection,
            "select t.id, t.workspace_id, t.amount_micro, t.operation, t.key_id,
                    (select count(*) from transfers r where r.refund_of = t.id)
             from transfers t where t.kind in ('charge', 'settle') and t.id",
            &ids,
            "",
        )
        .await?;
        self.charges.extend(rows.into_iter().map(
            |(id, workspace_id, amount_micro, operation, key_id, refunds)| {
                (
                    id,
                    Booked {
                        workspace_id,
                        amount_micro,
                        operation,
                        key_id,
                        refunded: refunds > 0,
                    },
                )
            },
        ));
        Ok(())
    }

    async fn load_externals<'a>(
        &mut self,
        connection: &mut AnyConnection,
        ops: impl Iterator<Item = &'a Op>,
    ) -> Result<(), sqlx::Error> {
        let ids = distinct(ops.filter_map(|op| match op {
            Op::Credit { external_id, .. } => Some(external_id.as_str()),
            _ => None,
        }));
        let rows: Vec<(String, String, String, i64)> = select_in(
            connection,
            "select external_id, id, workspace_id, amount_micro from transfers where external_id",
            &ids,
            "",
        )
        .await?;
        self.externals.extend(rows.into_iter().map(
            |(external_id, transfer_id, workspace_id, amount_micro)| {
                (
                    external_id,
                    Credited {
                        transfer_id,
                        workspace_id,
                        amount_micro,
                    },
                )
            },
        ));
        Ok(())
    }

    async fn load_keys<'a>(
        &mut self,
        connection: &mut AnyConnection,
        ops: impl Iterator<Item = &'a Op>,
    ) -> Result<(), sqlx::Error> {
        let named = ops.filter_map(|op| match op {
            Op::Reserve { key_id, .. } | Op::Charge { key_id, .. } => Some(key_id.as_str()),
            _ => None,
        });
        let held = self.reservations.values().map(|held| held.key_id.as_str());
        let booked = self.charges.values().map(|booked| booked.key_id.as_str());
        let ids = distinct(named.chain(held).chain(booked).filter(|id| !id.is_empty()));
        let rows: Vec<(String, String, Option<i64>, i64, String)> = select_in(
            connection,
            "select k.id, k.workspace_id, k.spend_cap_micro, coalesce(s.committed_micro, 0), k.chain_id
             from api_keys k left join key_spend s on s.key_id = k.id where k.id",
            &ids,
            "",
        )
        .await?;
        self.keys.extend(rows.into_iter().map(
            |(id, workspace_id, cap_micro, committed_micro, chain_id)| {
                (
                    id,
                    KeySpend {
                        workspace_id,
                        cap_micro,
                        committed_micro,
                        chain_id,
                        changed: false,
                    },
                )
            },
        ));
        let chains = self.keys.values().map(|key| key.chain_id.as_str());
        let chains = distinct(chains.filter(|id| !id.is_empty()));
        let rows: Vec<(String, i64)> = select_in(
            connection,
            "select k.chain_id, cast(sum(s.committed_micro) as bigint)
             from api_keys k join key_spend s on s.key_id = k.id where k.chain_id",
            &chains,
            " group by k.chain_id",
        )
        .await?;
        self.chains.extend(rows);
        Ok(())
    }

    async fn load_answers<'a>(
        &mut self,
        connection: &mut AnyConnection,
        ops: impl Iterator<Item = &'a Op>,
    ) -> Result<(), sqlx::Error> {
        let pairs: BTreeSet<(String, String)> = ops
            .filter_map(Op::guard)
            .map(|guard| (guard.workspace_id.clone(), guard.key.clone()))
            .collect();
        type Row = (String, String, String, String, String, String, i64, i64);
        let rows: Vec<Row> = select_in_pairs(
            connection,
            "select workspace_id, idem_key, guard_id, fingerprint, state, instance_id, created_us, expires_us
             from idempotency where (workspace_id, idem_key)",
            pairs.into_iter().collect(),
        )
        .await?;
        for (
            workspace_id,
            key,
            guard_id,
            fingerprint,
            state,
            instance_id,
            created_us,
            expires_us,
        ) in rows
        {
            let answer = Answer {
                guard_id,
                fingerprint,
                done: state == "done",
                instance_id,
                status: 0,
                headers: String::new(),
                body: None,
                created_us,
                expires_us,
                change: Change::None,
            };
            self.answers.insert((workspace_id, key), answer);
        }
        Ok(())
    }
}

pub(super) fn distinct<'a>(ids: impl Iterator<Item = &'a str>) -> Vec<String> {
    let ids: BTreeSet<&str> = ids.collect();
    ids.into_iter().map(str::to_owned).collect()
}
