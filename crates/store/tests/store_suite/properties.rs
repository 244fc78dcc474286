//! Random sequences of operations against a model that fits on a page.

use std::collections::HashMap;

use crate::common::{Database, ask, charge_of, funded, key_with_cap};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, TestRunner};
use sauti_store::{
    Begin, Charge, Guard, KeyId, LedgerError, Reservation, Store, StoredAnswer, Usage, Workspace,
};

on_both_databases!(
    sequences_match_the_model,
    concurrent_sequences_keep_the_books_clean
);

const CASES: usize = 40;
const SLOTS: usize = 3;

#[derive(Debug, Clone)]
enum Action {
    Reserve {
        amount: i64,
        keyed: bool,
    },
    Settle {
        which: usize,
        amount: i64,
        slot: Option<usize>,
    },
    Release {
        which: usize,
    },
    Charge {
        amount: i64,
        keyed: bool,
        slot: Option<usize>,
    },
    Credit {
        external: u8,
        amount: i64,
    },
    Refund {
        which: usize,
        amount: Option<i64>,
    },
    Begin {
        slot: usize,
        fingerprint: u8,
    },
    Finish {
        slot: usize,
    },
    Abandon {
        slot: usize,
    },
}

fn action() -> impl Strategy<Value = Action> {
    let slot = || prop::option::weighted(0.4, 0..SLOTS);
    prop_oneof![
        4 => (0..400i64, any::<bool>()).prop_map(|(amount, keyed)| Action::Reserve { amount, keyed }),
        4 => (0..12usize, 0..400i64, slot()).prop_map(|(which, amount, slot)| Action::Settle { which, amount, slot }),
        2 => (0..12usize).prop_map(|which| Action::Release { which }),
        4 => (0..300i64, any::<bool>(), slot())
            .prop_map(|(amount, keyed, slot)| Action::Charge { amount, keyed, slot }),
        2 => (0..4u8, 1..3i64).prop_map(|(external, amount)| Action::Credit { external, amount: amount * 100 }),
        2 => (0..12usize, prop::option::of(1..300i64)).prop_map(|(which, amount)| Action::Refund { which, amount }),
        3 => (0..SLOTS, 0..2u8).prop_map(|(slot, fingerprint)| Action::Begin { slot, fingerprint }),
        1 => (0..SLOTS).prop_map(|slot| Action::Finish { slot }),
        1 => (0..SLOTS).prop_map(|slot| Action::Abandon { slot }),
    ]
}

/// What an operation came to: the balance after it, or the name of its refusal.
type Seen = Result<(i64, i64), &'static str>;

#[derive(Clone, Copy, PartialEq)]
enum Slot {
    Running { fingerprint: u8 },
    Done { fingerprint: u8 },
}

/// The ledger as one would explain it at a table.
struct Model {
    available: i64,
    reserved: i64,
    cap: i64,
    committed: i64,
    holds: Vec<(i64, bool, bool)>,
    charges: Vec<(i64, bool, bool)>,
    credits: HashMap<u8, i64>,
    slots: [Option<Slot>; SLOTS],
}

impl Model {
    fn balance(&self) -> Seen {
        Ok((self.available, self.reserved))
    }

    fn affords(&self, amount: i64, keyed: bool) -> Result<(), &'static str> {
        match () {
            () if keyed && self.committed + amount > self.cap => Err("cap"),
            () if amount > self.available => Err("insufficient"),
            () => Ok(()),
        }
    }

    /// Whether an answer can be stored there; `lost` is for a slot whose guard was never got.
    fn guard(&self, slot: Option<usize>) -> Result<(), &'static str> {
        match slot.map(|slot| self.slots[slot]) {
            None | Some(Some(Slot::Running { .. })) => Ok(()),
            _ => Err("guard"),
        }
    }

    fn store(&mut self, slot: Option<usize>) {
        if let Some(slot) = slot
            && let Some(Slot::Running { fingerprint }) = self.slots[slot]
        {
            self.slots[slot] = Some(Slot::Done { fingerprint });
        }
    }

    fn expect(&mut self, action: &Action) -> Seen {
        match *action {
            Action::Reserve { amount, keyed } => {
                self.affords(amount, keyed)?;
                self.available -= amount;
                self.reserved += amount;
                self.committed += if keyed { amount } else { 0 };
                self.holds.push((amount, keyed, true));
            }
            Action::Settle {
                which,
                amount,
                slot,
            } => {
                let (held, keyed) = self.open_hold(which)?;
                if amount > held {
                    return Err("too much");
                }
                self.guard(slot)?;
                self.holds[which].2 = false;
                self.reserved -= held;
                self.available += held - amount;
                self.committed -= if keyed { held - amount } else { 0 };
                self.charges.push((amount, keyed, false));
                self.store(slot);
            }
            Action::Release { which } => {
                let (held, keyed) = self.open_hold(which)?;
                self.holds[which].2 = false;
                self.reserved -= held;
                self.available += held;
                self.committed -= if keyed { held } else { 0 };
            }
            Action::Charge {
                amount,
                keyed,
                slot,
            } => {
                self.affords(amount, keyed)?;
                self.guard(slot)?;
                self.available -= amount;
                self.committed += if keyed { amount } else { 0 };
                self.charges.push((amount, keyed, false));
                self.store(slot);
            }
            Action::Credit { external, amount } => match self.credits.get(&external) {
                Some(before) if *before == amount => {}
                Some(_) => return Err("external"),
                None => {
                    self.credits.insert(external, amount);
                    self.available += amount;
                }
            },
            Action::Refund { which, amount } => {
                let (charged, keyed, refunded) = *self.charges.get(which).ok_or("unknown")?;
                let amount = amount.unwrap_or(charged);
                if refunded {
                    return Err("refunded");
                }
                if amount > charged {
                    return Err("too much");
                }
                self.charges[which].2 = true;
                self.available += amount;
                self.committed -= if keyed { amount } else { 0 };
            }
            Action::Begin { slot, fingerprint } => match self.slots[slot] {
                None => self.slots[slot] = Some(Slot::Running { fingerprint }),
                Some(Slot::Running { fingerprint: held } | Slot::Done { fingerprint: held })
                    if held != fingerprint =>
                {
                    return Err("mismatch");
                }
                Some(Slot::Running { .. }) => return Err("in flight"),
                Some(Slot::Done { .. }) => return Err("replay"),
            },
            Action::Finish { slot } => {
                self.guard(Some(slot))?;
                self.store(Some(slot));
            }
            Action::Abandon { slot } => {
                if let Some(Slot::Running { .. }) = self.slots[slot] {
                    self.slots[slot] = None;
                }
            }
        }
        self.balance()
    }

    fn open_hold(&self, which: usize) -> Result<(i64, bool), &'static str> {
        match self.holds.get(which) {
            None => Err("unknown"),
            Some((_, _, false)) => Err("finished"),
            Some((amount, keyed, true)) => Ok((*amount, *keyed)),
        }
    }
}

/// The real ledger, driven by the same actions.
struct Real {
    store: Store,
    workspace: Workspace,
    key_id: KeyId,
    holds: Vec<Reservation>,
    charges: Vec<Charge>,
    guards: [Option<Guard>; SLOTS],
}

fn name(error: LedgerError) -> &'static str {
    match error {
        LedgerError::Insufficient { .. } => "insufficient",
        LedgerError::CapExceeded { .. } => "cap",
        LedgerError::Finished(_) => "finished",
        LedgerError::UnknownReservation | LedgerError::UnknownCharge => "unknown",
        LedgerError::TooMuch { .. } => "too much",
        LedgerError::AlreadyRefunded => "refunded",
        LedgerError::ExternalIdReused => "external",
        LedgerError::GuardLost => "guard",
        other => panic!("{other:?}"),
    }
}

fn answer() -> StoredAnswer {
    StoredAnswer {
        status: 200,
        headers: Vec::new(),
        body: Some(vec![1, 2, 3]),
    }
}

impl Real {
    async fn new(store: &Store) -> Self {
        let workspace = funded(store, 1_000).await;
        let key_id = key_with_cap(store, &workspace, Some(700)).await.info.id;
        Self {
            store: store.clone(),
            workspace,
            key_id,
            holds: Vec::new(),
            charges: Vec::new(),
            guards: [const { None }; SLOTS],
        }
    }

    /// A guard that was never given, for slots that hold none.
    fn guard(&self, slot: usize) -> Guard {
        self.guards[slot].clone().unwrap_or_else(|| Guard {
            id: "idem_none".into(),
            workspace_id: self.workspace.id.clone(),
            key: format!("slot-{slot}"),
        })
    }

    async fn run(&mut self, action: &Action) -> Seen {
        self.attempt(action).await?;
        let balance = self.store.balance(&self.workspace.id).await.unwrap();
        Ok((balance.available_micro, balance.reserved_micro))
    }

    async fn attempt(&mut self, action: &Action) -> Result<(), &'static str> {
        let store = self.store.clone();
        let keyed_id = |keyed: bool| keyed.then(|| self.key_id.clone());
        match *action {
            Action::Reserve { amount, keyed } => {
                let mut request = ask(&self.workspace, amount);
                request.key_id = keyed_id(keyed);
                self.holds.push(store.reserve(request).await.map_err(name)?);
            }
            Action::Settle {
                which,
                amount,
                slot,
            } => {
                let hold = self.holds.get(which).ok_or("unknown")?;
                let settled = match slot {
                    None => store.settle(hold, amount, Usage::default()).await,
                    Some(slot) => {
                        store
                            .settle_and_store(
                                hold,
                                amount,
                                Usage::default(),
                                &self.guard(slot),
                                answer(),
                            )
                            .await
                    }
                };
                self.charges.push(settled.map_err(name)?);
            }
            Action::Release { which } => {
                let hold = self.holds.get(which).ok_or("unknown")?;
                store.release(hold).await.map_err(name)?;
            }
            Action::Charge {
                amount,
                keyed,
                slot,
            } => {
                let mut request = charge_of(&self.workspace, amount);
                request.key_id = keyed_id(keyed);
                let charged = match slot {
                    None => store.charge(request).await,
                    Some(slot) => {
                        store
                            .charge_and_store(request, &self.guard(slot), answer())
                            .await
                    }
                };
                self.charges.push(charged.map_err(name)?);
            }
            Action::Credit { external, amount } => {
                let id = format!("{}-{external}", self.workspace.id);
                store
                    .credit(&self.workspace.id, amount, "random", &id)
                    .await
                    .map_err(name)?;
            }
            Action::Refund { which, amount } => {
                let charge = self.charges.get(which).ok_or("unknown")?;
                store
                    .refund(&self.workspace.id, &charge.id, amount, "")
                    .await
                    .map_err(name)?;
            }
            Action::Begin { slot, fingerprint } => {
                let begun = store
                    .begin(
                        &self.workspace.id,
                        &format!("slot-{slot}"),
                        &fingerprint.to_string(),
                    )
                    .await;
                match begun.map_err(name)? {
                    Begin::New(guard) => self.guards[slot] = Some(guard),
                    Begin::InFlight => return Err("in flight"),
                    Begin::Mismatch => return Err("mismatch"),
                    Begin::Replay(stored) => {
                        assert_eq!(stored, answer());
                        return Err("replay");
                    }
                }
            }
            Action::Finish { slot } => store
                .finish(&self.guard(slot), answer())
                .await
                .map_err(name)?,
            Action::Abandon { slot } => store.abandon(&self.guard(slot)).await.map_err(name)?,
        }
        Ok(())
    }
}

fn sequences(length: std::ops::Range<usize>) -> Vec<Vec<Action>> {
    let mut runner = TestRunner::new(Config::default());
    let strategy = prop::collection::vec(action(), length);
    (0..CASES)
        .map(|_| strategy.new_tree(&mut runner).unwrap().current())
        .collect()
}

async fn sequences_match_the_model(database: Database) {
    let store = database.open().await;
    // Each sequence has a workspace of its own, so all of them can share batches without disturbing each other.
    let cases: Vec<_> = sequences(20..60)
        .into_iter()
        .map(|actions| {
            let store = store.clone();
            tokio::spawn(async move {
                let mut real = Real::new(&store).await;
                let mut model = Model {
                    available: 1_000,
                    reserved: 0,
                    cap: 700,
                    committed: 0,
                    holds: Vec::new(),
                    charges: Vec::new(),
                    credits: HashMap::new(),
                    slots: [None; SLOTS],
                };
                for (at, action) in actions.iter().enumerate() {
                    let (expected, seen) = (model.expect(action), real.run(action).await);
                    assert_eq!(expected, seen, "step {at} of {actions:#?}");
                }
                let key = store.key(&real.workspace.id, &real.key_id).await.unwrap();
                assert_eq!(key.committed_micro, model.committed, "{actions:#?}");
            })
        })
        .collect();
    for case in cases {
        case.await.unwrap();
    }
    crate::common::assert_clean(&store).await;
}

/// Without a model: callers of two replicas race on the same two workspaces, and whatever each was told must add up.
async fn concurrent_sequences_keep_the_books_clean(database: Database) {
    let stores = [database.open().await, database.open().await];
    let shared = [Real::new(&stores[0]).await, Real::new(&stores[0]).await];
    let callers: Vec<_> = sequences(20..40)
        .into_iter()
        .enumerate()
        .map(|(at, actions)| {
            let mut real = Real {
                store: stores[at % 2].clone(),
                workspace: shared[at / 2 % 2].workspace.clone(),
                key_id: shared[at / 2 % 2].key_id.clone(),
                holds: Vec::new(),
                charges: Vec::new(),
                guards: [const { None }; SLOTS],
            };
            tokio::spawn(async move {
                for action in &actions {
                    let _ = real.attempt(action).await;
                }
            })
        })
        .collect();
    for caller in callers {
        caller.await.unwrap();
    }
    for real in &shared {
        crate::common::assert_statement_runs(&stores[0], &real.workspace.id).await;
    }
    crate::common::assert_clean(&stores[0]).await;
}
