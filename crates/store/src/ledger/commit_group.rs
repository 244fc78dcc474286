//! The part of the ledger that a group of operations touches, read under lock. Operations change it in memory, `write`
//! puts the changes down. One operation that fails leaves the others alone, and no statement is spent on it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::Hash;

use sqlx::AnyConnection;

use super::needs::RowsNeeded;
use super::reservation_state::ReservationState;
use super::types::Balance;
use crate::database::Backend;
use crate::ids::{day_of, now_us};
use crate::rows::{Value, select_in, select_in_pairs};
use crate::sql::{from_row, row};
use crate::webhooks::WorkspaceEvent;
use crate::{InstanceId, ItemId, KeyId, Operation, ReservationId, TransferId, WorkspaceId};

#[derive(Default)]
pub(crate) struct CommitGroup {
    pub(super) now_us: i64,
    pub(super) day: String,
    pub(super) funds: HashMap<WorkspaceId, Funds>,
    pub(super) keys: HashMap<KeyId, KeySpend>,
    /// What the keys of a chain have spent and reserved together.
    pub(super) chains: HashMap<KeyId, i64>,
    pub(super) reservations: HashMap<ReservationId, HeldMoney>,
    pub(super) charges: HashMap<TransferId, Booked>,
    pub(super) externals: HashMap<String, Credited>,
    pub(super) answers: HashMap<(WorkspaceId, String), KeptAnswer>,
    /// Items of batches in somebody's hands, and under which claim.
    pub(super) items: HashMap<ItemId, String>,
    pub(super) finished_items: Vec<Vec<Value>>,
    /// What workspaces are told of: written with the money that it follows.
    pub(super) events: Vec<WorkspaceEvent>,
    pub(super) transfers: Vec<Vec<Value>>,
    pub(super) entries: Vec<Vec<Value>>,
    pub(super) usage: BTreeMap<UsageKey, UsageSum>,
}

/// Workspace, operation, key.
pub(super) type UsageKey = (WorkspaceId, Operation, Option<KeyId>);

/// A workspace's balance, now and as it was read.
pub(super) struct Funds {
    pub(super) workspace_id: WorkspaceId,
    pub(super) available_micro: i64,
    pub(super) reserved_micro: i64,
    pub(super) low_micro: Option<i64>,
    pub(super) currency: String,
    /// Of the workspace: what came in after that nobody could spend.
    pub(super) closed_us: Option<i64>,
    /// When the latest transfer was booked. Strictly rising, so that statements have one order.
    pub(super) last_us: i64,
    pub(super) read_micro: (i64, i64),
    pub(super) booked: bool,
}

from_row!(Funds {
    workspace_id, available_micro, reserved_micro, low_micro, currency, closed_us, last_us
} default {
    read_micro, booked
});

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
    pub(super) id: KeyId,
    pub(super) workspace_id: WorkspaceId,
    pub(super) cap_micro: Option<i64>,
    pub(super) committed_micro: i64,
    /// Shared with the keys that it was rotated from or into.
    pub(super) chain_id: Option<KeyId>,
    pub(super) changed: bool,
}

from_row!(KeySpend {
    id, workspace_id, cap_micro, committed_micro, chain_id
} default {
    changed
});

/// A reservation, as its row stands and as it changes.
#[derive(Clone)]
pub(super) struct HeldMoney {
    pub(super) id: ReservationId,
    pub(super) workspace_id: WorkspaceId,
    pub(super) key_id: Option<KeyId>,
    pub(super) instance_id: InstanceId,
    pub(super) operation: Operation,
    pub(super) request_id: String,
    pub(super) amount_micro: i64,
    pub(super) state: ReservationState,
    pub(super) settled_micro: i64,
    pub(super) created_us: i64,
    pub(super) finished_us: Option<i64>,
    pub(super) change: Change,
}

from_row!(HeldMoney {
    id, workspace_id, key_id, instance_id, operation, request_id, amount_micro, state,
    settled_micro, created_us, finished_us
} default {
    change
});

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Change {
    #[default]
    None,
    New,
    Updated,
    Deleted,
}

row! {
    /// A charge that may be refunded.
    #[derive(Clone)]
    pub(super) struct Booked {
        pub(super) id: TransferId,
        pub(super) workspace_id: WorkspaceId,
        pub(super) amount_micro: i64,
        pub(super) operation: Operation,
        pub(super) key_id: Option<KeyId>,
        pub(super) refunds: i64,
    }
}

row! {
    pub(super) struct Credited {
        pub(super) external_id: String,
        pub(super) transfer_id: TransferId,
        pub(super) workspace_id: WorkspaceId,
        pub(super) amount_micro: i64,
    }
}

/// An idempotency entry; the body is written but never read here.
pub(super) struct KeptAnswer {
    pub(super) workspace_id: WorkspaceId,
    pub(super) idem_key: String,
    pub(super) guard_id: String,
    pub(super) fingerprint: String,
    pub(super) state: String,
    pub(super) instance_id: InstanceId,
    pub(super) created_us: i64,
    pub(super) expires_us: i64,
    pub(super) status: i64,
    pub(super) headers: String,
    pub(super) body: Option<Vec<u8>>,
    pub(super) change: Change,
}

from_row!(KeptAnswer {
    workspace_id, idem_key, guard_id, fingerprint, state, instance_id, created_us,
    expires_us
} default {
    status, headers, body, change
});

#[derive(Default)]
pub(super) struct UsageSum {
    pub(super) requests: i64,
    pub(super) cached_requests: i64,
    pub(super) units: i64,
    pub(super) audio_ms: i64,
    pub(super) amount_micro: i64,
}

impl CommitGroup {
    pub(super) fn empty(now_us: i64) -> Self {
        Self {
            now_us,
            day: day_of(now_us),
            ..Self::default()
        }
    }

    /// Reads what the operations need. The balance rows come first and, on PostgreSQL, locked in the order of their
    /// ids: they guard all other rows of their workspaces, so that two replicas can neither interleave nor deadlock.
    pub(super) async fn load(
        connection: &mut AnyConnection,
        backend: Backend,
        needs: &[RowsNeeded<'_>],
    ) -> Result<Self, sqlx::Error> {
        let mut group = Self::empty(now_us());
        group.load_funds(connection, backend, needs).await?;
        group.load_named(connection, needs).await?;
        group.load_keys(connection, needs).await?;
        group.load_answers(connection, needs).await?;
        group.load_items(connection, needs).await?;
        Ok(group)
    }

    async fn load_funds(
        &mut self,
        connection: &mut AnyConnection,
        backend: Backend,
        needs: &[RowsNeeded<'_>],
    ) -> Result<(), sqlx::Error> {
        let ids = distinct(needs.iter().map(|needs| needs.workspace_id.as_str()));
        let lock = match backend {
            Backend::Sqlite => " order by b.workspace_id",
            Backend::Postgres => " order by b.workspace_id for update of b",
        };
        let rows: Vec<Funds> = select_in(
            connection,
            "select b.workspace_id, b.available_micro, b.reserved_micro, b.low_micro, b.last_us, w.currency,
                    w.closed_us
             from balances b join workspaces w on w.id = b.workspace_id where b.workspace_id",
            &ids,
            lock,
        )
        .await?;
        for mut funds in rows {
            funds.read_micro = (funds.available_micro, funds.reserved_micro);
            self.funds.insert(funds.workspace_id.clone(), funds);
        }
        Ok(())
    }

    async fn load_named(
        &mut self,
        connection: &mut AnyConnection,
        needs: &[RowsNeeded<'_>],
    ) -> Result<(), sqlx::Error> {
        let needs = needs.iter();
        self.reservations = select_by(
            connection,
            "select id, workspace_id, nullif(key_id, '') as key_id, instance_id, operation, request_id, amount_micro, state,
                    settled_micro, created_us, finished_us
             from reservations where id",
            needs.clone().filter_map(|needs| needs.reservation_id.map(ReservationId::as_str)),
            |held: &HeldMoney| held.id.clone(),
        )
        .await?;
        self.charges = select_by(
            connection,
            "select t.id, t.workspace_id, t.amount_micro, t.operation, nullif(t.key_id, '') as key_id,
                    (select count(*) from transfers r where r.refund_of = t.id) as refunds
             from transfers t where t.kind in ('charge', 'settle') and t.id",
            needs.clone().filter_map(|needs| needs.charge_id.map(TransferId::as_str)),
            |booked: &Booked| booked.id.clone(),
        )
        .await?;
        self.externals = select_by(
            connection,
            "select external_id, id as transfer_id, workspace_id, amount_micro from transfers where external_id",
            needs.filter_map(|needs| needs.external_id),
            |credited: &Credited| credited.external_id.clone(),
        )
        .await?;
        Ok(())
    }

    async fn load_keys(
        &mut self,
        connection: &mut AnyConnection,
        needs: &[RowsNeeded<'_>],
    ) -> Result<(), sqlx::Error> {
        let named = needs
            .iter()
            .filter_map(|needs| needs.key_id.map(KeyId::as_str));
        let held = self.reservations.values();
        let held = held.filter_map(|held| held.key_id.as_deref());
        let booked = self.charges.values();
        let booked = booked.filter_map(|booked| booked.key_id.as_deref());
        self.keys = select_by(
            connection,
            "select k.id, k.workspace_id, k.spend_cap_micro as cap_micro, nullif(k.chain_id, '') as chain_id,
                    coalesce(s.committed_micro, 0) as committed_micro
             from api_keys k left join key_spend s on s.key_id = k.id where k.id",
            named.chain(held).chain(booked),
            |key: &KeySpend| key.id.clone(),
        )
        .await?;
        let chains = self.keys.values();
        let chains = distinct(chains.filter_map(|key| key.chain_id.as_deref()));
        let rows: Vec<(KeyId, i64)> = select_in(
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

    async fn load_answers(
        &mut self,
        connection: &mut AnyConnection,
        needs: &[RowsNeeded<'_>],
    ) -> Result<(), sqlx::Error> {
        let guards = needs.iter().filter_map(|needs| needs.guard);
        let pairs = guards.map(|guard| (guard.workspace_id.to_string(), guard.key.clone()));
        let pairs: BTreeSet<(String, String)> = pairs.collect();
        let rows: Vec<KeptAnswer> = select_in_pairs(
            connection,
            "select workspace_id, idem_key, guard_id, fingerprint, state, instance_id, created_us, expires_us
             from idempotency where (workspace_id, idem_key)",
            pairs.into_iter().collect(),
        )
        .await?;
        for answer in rows {
            let slot = (answer.workspace_id.clone(), answer.idem_key.clone());
            self.answers.insert(slot, answer);
        }
        Ok(())
    }
}

/// The rows whose key is among these ids, by that key.
async fn select_by<'a, K: Eq + Hash, R>(
    connection: &mut AnyConnection,
    query: &str,
    ids: impl Iterator<Item = &'a str>,
    key: impl Fn(&R) -> K,
) -> Result<HashMap<K, R>, sqlx::Error>
where
    R: for<'r> sqlx::FromRow<'r, sqlx::any::AnyRow> + Send + Unpin,
{
    let rows: Vec<R> = select_in(connection, query, &distinct(ids), "").await?;
    Ok(rows.into_iter().map(|row| (key(&row), row)).collect())
}

pub(super) fn distinct<'a>(ids: impl Iterator<Item = &'a str>) -> Vec<String> {
    let ids: BTreeSet<&str> = ids.collect();
    ids.into_iter().map(str::to_owned).collect()
}
