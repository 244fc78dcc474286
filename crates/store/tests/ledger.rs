//! Money moves exactly once, never below zero, and every transfer sums to zero.

mod common;

use std::time::Duration;

use common::{Database, ask, assert_clean, charge_of, funded, key_with_cap};
use sauti_store::{
    Begin, LedgerError, PaymentEvent, PaymentOutcome, ReservationState, StatementQuery,
    StoreOptions, StoredAnswer, Usage, UsageQuery, ids,
};

on_both_databases!(
    a_reservation_settles_for_what_was_used,
    a_finished_reservation_never_moves_money_again,
    a_release_returns_everything,
    what_is_not_there_cannot_be_reserved,
    the_cap_of_a_key_holds_under_concurrent_reservations,
    concurrent_charges_never_overdraw,
    a_payment_counts_once,
    a_payment_for_two_workspaces_at_once_counts_for_one,
    a_charge_is_refunded_once_and_at_most_in_full,
    a_failing_operation_does_not_fail_its_batch,
    a_dropped_reserve_gives_the_money_back,
    statements_and_usage_add_up,
    the_low_balance_is_reported_once,
    amounts_out_of_range_are_refused,
    text_that_a_database_cannot_hold_is_refused,
    an_answer_is_stored_with_its_charge,
    a_lost_guard_charges_nothing,
    large_answers_are_remembered_without_their_body,
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
    elsewhere.workspace_id = "ws_nowhere".into();
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

async fn a_payment_counts_once(database: Database) {
    let store = database.open().await;
    let other_replica = database.open().await;
    let workspace = funded(&store, 0).await;
    let event = PaymentEvent {
        provider: "mpesa".into(),
        event_id: "e-1".into(),
        workspace_id: workspace.id.clone(),
        amount_micro: 700,
        currency: "tzs".into(),
    };
    let tries: Vec<_> = (0..10)
        .map(|at| {
            let store = if at % 2 == 0 {
                store.clone()
            } else {
                other_replica.clone()
            };
            let event = event.clone();
            tokio::spawn(async move { store.record_payment(&event).await.unwrap() })
        })
        .collect();
    let mut applied = 0;
    for one in tries {
        applied += u32::from(matches!(one.await.unwrap(), PaymentOutcome::Applied(_)));
    }
    assert_eq!(applied, 1);
    assert_eq!(
        store.balance(&workspace.id).await.unwrap().available_micro,
        700
    );
    let other_amount = PaymentEvent {
        amount_micro: 701,
        ..event.clone()
    };
    assert!(matches!(
        store.record_payment(&other_amount).await,
        Err(LedgerError::ExternalIdReused)
    ));
    let other_currency = PaymentEvent {
        currency: "KES".into(),
        event_id: "e-2".into(),
        ..event
    };
    assert!(store.record_payment(&other_currency).await.is_err());
    assert_eq!(store.payments(&workspace.id, 10).await.unwrap().len(), 1);
    assert_clean(&store).await;
}

async fn a_payment_for_two_workspaces_at_once_counts_for_one(database: Database) {
    let stores = [database.open().await, database.open().await];
    let workspaces = [funded(&stores[0], 0).await, funded(&stores[0], 0).await];
    for round in 0..20 {
        let tries: Vec<_> = (0..2)
            .map(|at| {
                let (store, workspace_id) = (stores[at].clone(), workspaces[at].id.clone());
                tokio::spawn(async move {
                    store
                        .credit(&workspace_id, 10, "bank", &round.to_string())
                        .await
                })
            })
            .collect();
        let mut applied = 0;
        for one in tries {
            match one.await.unwrap() {
                Ok(credit) => applied += u32::from(credit.applied),
                Err(LedgerError::ExternalIdReused) => {}
                Err(error) => panic!("{error:?}"),
            }
        }
        assert_eq!(applied, 1);
    }
    assert_clean(&stores[0]).await;
}

async fn a_charge_is_refunded_once_and_at_most_in_full(database: Database) {
    let store = database.open().await;
    let workspace = funded(&store, 1_000).await;
    let charge = store.charge(charge_of(&workspace, 300)).await.unwrap();
    let too_much = store.refund(&workspace.id, &charge.id, Some(301), "").await;
    assert!(matches!(too_much, Err(LedgerError::TooMuch { .. })));
    let other = funded(&store, 10).await;
    assert!(matches!(
        store.refund(&other.id, &charge.id, None, "").await,
        Err(LedgerError::UnknownCharge)
    ));
    let refund = store
        .refund(&workspace.id, &charge.id, Some(200), "noise")
        .await
        .unwrap();
    assert_eq!(
        (refund.amount_micro, refund.balance.available_micro),
        (200, 900)
    );
    let again = store.refund(&workspace.id, &charge.id, Some(1), "").await;
    assert!(matches!(again, Err(LedgerError::AlreadyRefunded)));
    let of_refund = store.refund(&workspace.id, &refund.id, None, "").await;
    assert!(matches!(of_refund, Err(LedgerError::UnknownCharge)));
    assert_clean(&store).await;
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

async fn statements_and_usage_add_up(database: Database) {
    let store = database.open().await;
    let workspace = funded(&store, 1_000).await;
    let charge = store.charge(charge_of(&workspace, 100)).await.unwrap();
    let reservation = store.reserve(ask(&workspace, 300)).await.unwrap();
    store
        .settle(
            &reservation,
            50,
            Usage {
                units: 7,
                audio_ms: 1_000,
                cached: false,
            },
        )
        .await
        .unwrap();
    store
        .refund(&workspace.id, &charge.id, Some(30), "=cmd, \"quoted\"")
        .await
        .unwrap();
    let everything = StatementQuery {
        from_us: 0,
        to_us: i64::MAX,
        after: None,
        limit: 100,
    };
    let rows = store.statement(&workspace.id, &everything).await.unwrap();
    let seen: Vec<_> = rows
        .iter()
        .map(|row| (row.kind.as_str(), row.amount_micro, row.total_after_micro))
        .collect();
    assert_eq!(
        seen,
        [
            ("credit", 1_000, 1_000),
            ("charge", -100, 900),
            ("settle", -50, 850),
            ("refund", 30, 880)
        ]
    );
    assert!(
        rows[3].to_csv().ends_with(",\"'=cmd, \"\"quoted\"\"\""),
        "{}",
        rows[3].to_csv()
    );
    let mut paged = Vec::new();
    loop {
        let after = paged
            .last()
            .map(|row: &sauti_store::StatementRow| (row.created_us, row.id.clone()));
        let page = store
            .statement(
                &workspace.id,
                &StatementQuery {
                    after,
                    limit: 1,
                    ..everything.clone()
                },
            )
            .await;
        match page.unwrap().pop() {
            Some(row) => paged.push(row),
            None => break,
        }
    }
    assert_eq!(paged, rows);
    let today = ids::day_of(rows[0].created_us);
    let query = UsageQuery {
        from_day: today.clone(),
        to_day: "9999-12-31".into(),
        ..UsageQuery::default()
    };
    let usage = store.usage(&workspace.id, &query).await.unwrap();
    let sum = |of: fn(&sauti_store::UsageRow) -> i64| usage.iter().map(of).sum::<i64>();
    assert_eq!(sum(|row| row.requests), 2);
    assert_eq!(sum(|row| row.cached_requests), 1);
    assert_eq!(sum(|row| row.units), 17);
    assert_eq!(sum(|row| row.amount_micro), 150);
    assert!(
        store
            .usage(&workspace.id, &UsageQuery::default())
            .await
            .is_err()
    );
    assert_clean(&store).await;
}

async fn the_low_balance_is_reported_once(database: Database) {
    let store = database.open().await;
    let workspace = funded(&store, 1_000).await;
    store
        .set_low_balance(&workspace.id, Some(500))
        .await
        .unwrap();
    let reservation = store.reserve(ask(&workspace, 900)).await.unwrap();
    assert!(
        !reservation.balance.fell_low,
        "money set aside is still there"
    );
    assert!(
        !store
            .settle(&reservation, 500, Usage::default())
            .await
            .unwrap()
            .balance
            .fell_low
    );
    assert!(
        store
            .charge(charge_of(&workspace, 1))
            .await
            .unwrap()
            .balance
            .fell_low
    );
    assert!(
        !store
            .charge(charge_of(&workspace, 1))
            .await
            .unwrap()
            .balance
            .fell_low
    );
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
    odd.workspace_id = "ws_\0".into();
    let good = store.charge(charge_of(&workspace, 1));
    let (odd, good) = tokio::join!(store.charge(odd), good);
    assert!(odd.is_err());
    good.unwrap();
    assert_clean(&store).await;
}

fn answer(text: &str) -> StoredAnswer {
    StoredAnswer {
        status: 200,
        headers: vec![("content-type".into(), "audio/wav".into())],
        body: Some(text.as_bytes().to_vec()),
    }
}

async fn an_answer_is_stored_with_its_charge(database: Database) {
    let store = database.open().await;
    let workspace = funded(&store, 1_000).await;
    let Begin::New(guard) = store.begin(&workspace.id, "key-1", "body-1").await.unwrap() else {
        panic!()
    };
    assert_eq!(
        store.begin(&workspace.id, "key-1", "body-1").await.unwrap(),
        Begin::InFlight
    );
    assert_eq!(
        store.begin(&workspace.id, "key-1", "body-2").await.unwrap(),
        Begin::Mismatch
    );
    let reservation = store.reserve(ask(&workspace, 100)).await.unwrap();
    let body = StoredAnswer {
        body: Some(vec![0, 255, 1, 0]),
        ..answer("")
    };
    store
        .settle_and_store(&reservation, 60, Usage::default(), &guard, body.clone())
        .await
        .unwrap();
    assert_eq!(
        store.begin(&workspace.id, "key-1", "body-1").await.unwrap(),
        Begin::Replay(body)
    );
    assert_eq!(
        store.begin(&workspace.id, "key-1", "body-2").await.unwrap(),
        Begin::Mismatch
    );

    let Begin::New(guard) = store.begin(&workspace.id, "key-2", "body").await.unwrap() else {
        panic!()
    };
    store
        .charge_and_store(charge_of(&workspace, 40), &guard, answer("hit"))
        .await
        .unwrap();
    assert_eq!(
        store.begin(&workspace.id, "key-2", "body").await.unwrap(),
        Begin::Replay(answer("hit"))
    );
    let again = store
        .charge_and_store(charge_of(&workspace, 40), &guard, answer("hit"))
        .await;
    assert!(matches!(again, Err(LedgerError::GuardLost)), "{again:?}");

    let Begin::New(guard) = store.begin(&workspace.id, "key-3", "body").await.unwrap() else {
        panic!()
    };
    store.finish(&guard, answer("free")).await.unwrap();
    assert_eq!(
        store.begin(&workspace.id, "key-3", "body").await.unwrap(),
        Begin::Replay(answer("free"))
    );
    assert_eq!(
        store.balance(&workspace.id).await.unwrap().total_micro(),
        900
    );
    assert_clean(&store).await;
}

async fn a_lost_guard_charges_nothing(database: Database) {
    let store = database.open().await;
    let workspace = funded(&store, 1_000).await;
    let Begin::New(old) = store.begin(&workspace.id, "key", "body").await.unwrap() else {
        panic!()
    };
    store.abandon(&old).await.unwrap();
    store.abandon(&old).await.unwrap();
    let reservation = store.reserve(ask(&workspace, 100)).await.unwrap();
    let lost = store
        .settle_and_store(&reservation, 100, Usage::default(), &old, answer("late"))
        .await;
    assert!(matches!(lost, Err(LedgerError::GuardLost)));
    let Begin::New(new) = store
        .begin(&workspace.id, "key", "other body")
        .await
        .unwrap()
    else {
        panic!()
    };
    assert!(matches!(
        store.finish(&old, answer("late")).await,
        Err(LedgerError::GuardLost)
    ));
    store.abandon(&old).await.unwrap();
    store
        .settle_and_store(&reservation, 100, Usage::default(), &new, answer("right"))
        .await
        .unwrap();
    let replay = store
        .begin(&workspace.id, "key", "other body")
        .await
        .unwrap();
    assert_eq!(replay, Begin::Replay(answer("right")));
    assert_clean(&store).await;
}

async fn large_answers_are_remembered_without_their_body(database: Database) {
    let options = StoreOptions {
        answer_bytes_max: 3,
        idempotency_ttl: Duration::ZERO,
        ..StoreOptions::default()
    };
    let store = database.open_with(options).await;
    let lasting = database
        .open_with(StoreOptions {
            answer_bytes_max: 3,
            ..StoreOptions::default()
        })
        .await;
    let workspace = funded(&store, 1_000).await;
    let Begin::New(guard) = lasting.begin(&workspace.id, "key", "body").await.unwrap() else {
        panic!()
    };
    lasting.finish(&guard, answer("four")).await.unwrap();
    let replay = lasting.begin(&workspace.id, "key", "body").await.unwrap();
    assert_eq!(
        replay,
        Begin::Replay(StoredAnswer {
            body: None,
            ..answer("")
        })
    );
    // With no lifetime at all, an entry is never found again.
    let Begin::New(_) = store.begin(&workspace.id, "brief", "body").await.unwrap() else {
        panic!()
    };
    assert!(matches!(
        store.begin(&workspace.id, "brief", "other").await.unwrap(),
        Begin::New(_)
    ));
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
