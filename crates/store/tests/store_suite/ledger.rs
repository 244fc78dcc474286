//! Money moves exactly once, never below zero, and every transfer sums to zero.

use std::time::Duration;

use crate::common::{Database, ask, assert_clean, charge_of, funded, key_with_cap};
use sauti_store::{Begin, LedgerError, ReservationState, Usage};

on_both_databases!(
    a_reservation_settles_for_what_was_used,
    a_finished_reservation_never_moves_money_again,
    a_release_returns_everything,
    what_is_not_there_cannot_be_reserved,
    the_cap_of_a_key_holds_under_concurrent_reservations,
    concurrent_charges_never_overdraw,
    a_failing_operation_does_not_fail_its_batch,
    a_dropped_reserve_gives_the_money_back,
    amounts_out_of_range_are_refused,
    text_that_a_database_cannot_hold_is_refused,
    the_check_notices_what_was_tampered_with,
);

async fn a_reservation_settles_for_what_was_used(database: Database) {
    let store = database.open().await;
    let workspace = funded(&store, 1_000).await;
    let reservation = store.reserve(ask(&workspace, 600)).await.unwrap();
    assert_eq!(
        (
            reservation.balance.available_micro,
            reservation.balance.reserved_micro
        ),
        (400, 600)
    );
    let charge = store
        .settle(&reservation, 250, Usage::default())
        .await
        .unwrap();
    assert_eq!(
        (
            charge.amount_micro,
            charge.balance.available_micro,
            charge.balance.reserved_micro
        ),
        (250, 750, 0)
    );
    assert_eq!(
        store.balance(&workspace.id).await.unwrap().available_micro,
        750
    );
    assert_clean(&store).await;
}

async fn a_finished_reservation_never_moves_money_again(database: Database) {
    let store = database.open().await;
    let workspace = funded(&store, 1_000).await;
    let settled = store.reserve(ask(&workspace, 100)).await.unwrap();
    let released = store.reserve(ask(&workspace, 100)).await.unwrap();
    store.settle(&settled, 100, Usage::default()).await.unwrap();
    store.release(&released).await.unwrap();
    for (reservation, state) in [
        (&settled, ReservationState::Settled),
        (&released, ReservationState::Released),
    ] {
        let again = store.settle(reservation, 50, Usage::default()).await;
        assert!(
            matches!(again, Err(LedgerError::Finished(found)) if found == state),
            "{again:?}"
        );
        let again = store.release(reservation).await;
        assert!(
            matches!(again, Err(LedgerError::Finished(found)) if found == state),
            "{again:?}"
        );
    }
    assert_eq!(
        store.balance(&workspace.id).await.unwrap().total_micro(),
        900
    );
    assert_clean(&store).await;

    // Many at once: one wins.
    let contested = store.reserve(ask(&workspace, 100)).await.unwrap();
    let tries: Vec<_> = (0..20)
        .map(|at| {
            let (store, contested) = (store.clone(), contested.clone());
            tokio::spawn(async move {
                match at % 2 {
                    0 => store
                        .settle(&contested, 100, Usage::default())
                        .await
                        .is_ok(),
                    _ => store.release(&contested).await.is_ok(),
                }
            })
        })
        .collect();
    let mut won = 0;
    for one in tries {
        won += u32::from(one.await.unwrap());
    }
    assert_eq!(won, 1);
    assert_clean(&store).await;
}

async fn a_release_returns_everything(database: Database) {
    let store = database.open().await;
    let workspace = funded(&store, 500).await;
    let reservation = store.reserve(ask(&workspace, 500)).await.unwrap();
    let balance = store.release(&reservation).await.unwrap();
    assert_eq!((balance.available_micro, balance.reserved_micro), (500, 0));
    assert_clean(&store).await;
}

async fn what_is_not_there_cannot_be_reserved(database: Database) {
    let store = database.open().await;
    let workspace = funded(&store, 100).await;
    let refused = store.reserve(ask(&workspace, 101)).await;
    assert!(matches!(
        refused,
        Err(LedgerError::Insufficient {
            required_micro: 101,
            available_micro: 100
        })
    ));
    let too_much = store.reserve(ask(&workspace, 60)).await.unwrap();
    let refused = store.settle(&too_much, 61, Usage::default()).await;
    assert!(matches!(
        refused,
        Err(LedgerError::TooMuch {
            asked_micro: 61,
            allowed_micro: 60
        })
    ));
    let mut elsewhere = ask(&workspace, 1);
    elsewhere.workspace_id = "ws_nowhere".parse().unwrap();
    assert!(matches!(
        store.reserve(elsewhere).await,
        Err(LedgerError::UnknownWorkspace)
    ));
    let other = funded(&store, 100).await;
    let mut stolen = too_much.clone();
    stolen.workspace_id = other.id.clone();
    assert!(matches!(
        store.release(&stolen).await,
        Err(LedgerError::UnknownReservation)
    ));
    assert_clean(&store).await;
}

async fn the_cap_of_a_key_holds_under_concurrent_reservations(database: Database) {
    let store = database.open().await;
    let other_replica = database.open().await;
    let workspace = funded(&store, 10_000).await;
    let key = key_with_cap(&store, &workspace, Some(1_000)).await;
    let tries: Vec<_> = (0..40)
        .map(|at| {
            let store = if at % 2 == 0 {
                store.clone()
            } else {
                other_replica.clone()
            };
            let mut request = ask(&workspace, 100);
            request.key_id = Some(key.info.id.clone());
            tokio::spawn(async move { store.reserve(request).await })
        })
        .collect();
    let (mut held, mut refused) = (Vec::new(), 0);
    for one in tries {
        match one.await.unwrap() {
            Ok(reservation) => held.push(reservation),
            Err(LedgerError::CapExceeded {
                cap_micro: 1_000, ..
            }) => refused += 1,
            Err(error) => panic!("{error}"),
        }
    }
    assert_eq!((held.len(), refused), (10, 30));
    // What is not used of a reservation can be spent again.
    store.settle(&held[0], 40, Usage::default()).await.unwrap();
    store.release(&held[1]).await.unwrap();
    assert_eq!(
        store
            .key(&workspace.id, &key.info.id)
            .await
            .unwrap()
            .committed_micro,
        840
    );
    let mut request = charge_of(&workspace, 160);
    request.key_id = Some(key.info.id.clone());
    let charge = store.charge(request.clone()).await.unwrap();
    assert!(matches!(
        store.charge(request.clone()).await,
        Err(LedgerError::CapExceeded { .. })
    ));
    store
        .refund(&workspace.id, &charge.id, None, "")
        .await
        .unwrap();
    store.charge(request).await.unwrap();
    let mut foreign = charge_of(&funded(&store, 100).await, 1);
    foreign.key_id = Some(key.info.id);
    assert!(matches!(
        store.charge(foreign).await,
        Err(LedgerError::UnknownKey)
    ));
    assert_clean(&store).await;
}

async fn concurrent_charges_never_overdraw(database: Database) {
    let stores = [
        database.open().await,
        database.open().await,
        database.open().await,
    ];
    let workspaces = [
        funded(&stores[0], 5_000).await,
        funded(&stores[0], 5_000).await,
    ];
    let tries: Vec<_> = (0..300)
        .map(|at| {
            let store = stores[at % 3].clone();
            let request = charge_of(&workspaces[at % 2], 70);
            tokio::spawn(async move { store.charge(request).await })
        })
        .collect();
    let mut charged = 0;
    for one in tries {
        match one.await.unwrap() {
            Ok(_) => charged += 1,
            Err(LedgerError::Insufficient { .. }) => {}
            Err(error) => panic!("{error}"),
        }
    }
    assert_eq!(charged, 2 * (5_000 / 70));
    for workspace in &workspaces {
        assert_eq!(
            stores[0]
                .balance(&workspace.id)
                .await
                .unwrap()
                .available_micro,
            5_000 % 70
        );
    }
    assert_clean(&stores[0]).await;
}

async fn a_failing_operation_does_not_fail_its_batch(database: Database) {
    let store = database.open().await;
    let (rich, poor) = (funded(&store, 100_000).await, funded(&store, 5).await);
    let tries: Vec<_> = (0..200)
        .map(|at| {
            let (store, poor_one) = (store.clone(), at % 3 == 0);
            let request = charge_of(if poor_one { &poor } else { &rich }, 10);
            tokio::spawn(async move { store.charge(request).await.is_err() == poor_one })
        })
        .collect();
    for one in tries {
        assert!(one.await.unwrap());
    }
    assert_clean(&store).await;
}

async fn a_dropped_reserve_gives_the_money_back(database: Database) {
    let store = database.open().await;
    let workspace = funded(&store, 1_000).await;
    for polls in 0..40u32 {
        let mut reserve = Box::pin(store.reserve(ask(&workspace, 25)));
        for _ in 0..polls % 4 {
            let waited =
                tokio::time::timeout(Duration::from_micros(u64::from(polls) * 150), &mut reserve)
                    .await;
            if let Ok(reservation) = waited {
                store.release(&reservation.unwrap()).await.unwrap();
                break;
            }
        }
        drop(reserve);
        let claim = store.begin(&workspace.id, "k", "f");
        let _ = tokio::time::timeout(Duration::from_micros(u64::from(polls) * 50), async {
            if let Begin::New(guard) = claim.await.unwrap() {
                store.abandon_later(&guard);
            }
        })
        .await;
    }
    // The undoing is queued behind whatever was dropped: a few operations later it is done.
    for _ in 0..50 {
        store.charge(charge_of(&workspace, 0)).await.unwrap();
    }
    assert_eq!(
        store.balance(&workspace.id).await.unwrap().available_micro,
        1_000
    );
    assert_eq!(store.open_reservations().await.unwrap(), 0);
    assert!(matches!(
        store.begin(&workspace.id, "k", "f").await.unwrap(),
        Begin::New(_)
    ));
    assert_clean(&store).await;
}

async fn amounts_out_of_range_are_refused(database: Database) {
    let store = database.open().await;
    let workspace = funded(&store, 1_000).await;
    for amount_micro in [-1, i64::MIN, i64::MAX] {
        assert!(store.reserve(ask(&workspace, amount_micro)).await.is_err());
        assert!(
            store
                .charge(charge_of(&workspace, amount_micro))
                .await
                .is_err()
        );
        assert!(
            store
                .credit(&workspace.id, amount_micro, "test", "odd")
                .await
                .is_err()
        );
    }
    assert!(
        store
            .credit(&workspace.id, 0, "test", "zero")
            .await
            .is_err()
    );
    let full = store.credit(&workspace.id, 1 << 53, "test", "full").await;
    assert!(matches!(full, Err(LedgerError::TooMuch { .. })));
    assert_eq!(
        store.balance(&workspace.id).await.unwrap().available_micro,
        1_000
    );
    store.charge(charge_of(&workspace, 0)).await.unwrap();
    assert_clean(&store).await;
}

async fn text_that_a_database_cannot_hold_is_refused(database: Database) {
    let store = database.open().await;
    let workspace = funded(&store, 1_000).await;
    let mut request = charge_of(&workspace, 1);
    request.request_id = "a\0b".into();
    assert!(store.charge(request).await.is_err());
    assert!(store.begin(&workspace.id, "a\0b", "f").await.is_err());
    let mut odd = charge_of(&workspace, 1);
    odd.key_id = Some("key_none".parse().unwrap());
    let good = store.charge(charge_of(&workspace, 1));
    let (odd, good) = tokio::join!(store.charge(odd), good);
    assert!(odd.is_err());
    good.unwrap();
    assert_clean(&store).await;
}

async fn the_check_notices_what_was_tampered_with(database: Database) {
    let store = database.open().await;
    let workspace = funded(&store, 1_000).await;
    store.charge(charge_of(&workspace, 10)).await.unwrap();
    store.reserve(ask(&workspace, 10)).await.unwrap();
    assert_clean(&store).await;
    sqlx::any::install_default_drivers();
    let pool = sqlx::AnyPool::connect(&database.url).await.unwrap();
    for (tamper, repair) in [
        (
            "update balances set available_micro = available_micro + 1",
            "update balances set available_micro = available_micro - 1",
        ),
        (
            "update entries set amount_micro = amount_micro + 1 where account like 'revenue%'",
            "update entries set amount_micro = amount_micro - 1 where account like 'revenue%'",
        ),
        (
            "update reservations set state = 'settled'",
            "update reservations set state = 'open'",
        ),
        (
            "update usage_days set requests = requests + 1",
            "update usage_days set requests = requests - 1",
        ),
        (
            "insert into entries values ('tr_x', 0, 'a', 0)",
            "delete from entries where transfer_id = 'tr_x'",
        ),
    ] {
        sqlx::query(tamper).execute(&pool).await.unwrap();
        assert!(!store.check().await.unwrap().is_clean(), "{tamper}");
        sqlx::query(repair).execute(&pool).await.unwrap();
        assert_clean(&store).await;
    }
}
