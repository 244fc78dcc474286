//! Payments, refunds, statements, and answers stored with their charge.

use std::time::Duration;

use crate::common::{Database, ask, assert_clean, charge_of, funded};
use sauti_store::{
    Begin, LedgerError, PaymentEvent, StatementQuery, StoreError, StoreOptions, StoredAnswer,
    Usage, UsageQuery, WorkspaceChange, ids,
};

on_both_databases!(
    a_payment_counts_once,
    a_payment_for_two_workspaces_at_once_counts_for_one,
    a_closed_workspace_takes_no_money_and_money_closes_none_in_silence,
    a_correction_takes_back_at_most_what_is_there_and_once,
    a_charge_is_refunded_once_and_at_most_in_full,
    statements_and_usage_add_up,
    the_low_balance_is_reported_once,
    an_answer_is_stored_with_its_charge,
    a_lost_guard_charges_nothing,
    large_answers_are_remembered_without_their_body,
    the_oldest_answers_lose_their_bodies_and_never_their_keys,
);

async fn a_closed_workspace_takes_no_money_and_money_closes_none_in_silence(database: Database) {
    let store = database.open().await;
    let account = store.create_account("a@example.com", "hash", "A").await;
    let account = account.unwrap();
    let workspace = store
        .create_workspace(Some(&account.id), "Duka", "TZS")
        .await;
    let workspace = workspace.unwrap();
    store.credit(&workspace.id, 5, "test", "one").await.unwrap();
    let kept = store.delete_account(&account.id, false).await.unwrap_err();
    assert!(
        matches!(&kept, StoreError::MoneyLeft { left_micro: 5, .. }),
        "{kept:?}"
    );
    // What is set aside comes back, most of the time.
    let reservation = store.reserve(ask(&workspace, 5)).await.unwrap();
    let kept = store.delete_account(&account.id, false).await.unwrap_err();
    assert!(
        matches!(&kept, StoreError::MoneyLeft { left_micro: 5, .. }),
        "{kept:?}"
    );
    store.release(&reservation).await.unwrap();
    store.delete_account(&account.id, true).await.unwrap();
    let refused = store.credit(&workspace.id, 5, "test", "two").await;
    assert!(
        matches!(refused, Err(LedgerError::WorkspaceClosed)),
        "{refused:?}"
    );
    // What came in before is known to have come.
    let again = store.credit(&workspace.id, 5, "test", "one").await.unwrap();
    assert!(!again.applied);
    assert_clean(&store).await;
}

async fn a_correction_takes_back_at_most_what_is_there_and_once(database: Database) {
    let store = database.open().await;
    let workspace = funded(&store, 100).await;
    for applied in [true, false] {
        let taken = store.correct(&workspace.id, 60, "r1", "booked twice").await;
        let taken = taken.unwrap();
        assert_eq!(
            (taken.applied, taken.balance.available_micro),
            (applied, 40)
        );
    }
    let refused = store.correct(&workspace.id, 60, "r2", "more").await;
    assert!(
        matches!(refused, Err(LedgerError::Insufficient { .. })),
        "{refused:?}"
    );
    let query = StatementQuery {
        from_us: 0,
        to_us: i64::MAX,
        after: None,
        limit: 10,
    };
    let rows = store.statement(&workspace.id, &query).await.unwrap();
    let last = rows.last().unwrap();
    assert_eq!(
        (last.kind.as_str(), last.amount_micro, last.memo.as_str()),
        ("correction", -60, "booked twice")
    );
    assert_clean(&store).await;
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
        applied += u32::from(one.await.unwrap().applied);
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
    let newest = store.newest_of_statement(&workspace.id, 3).await.unwrap();
    assert!(newest.iter().eq(rows.iter().rev().take(3)), "{newest:?}");
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
    let change = WorkspaceChange {
        low_balance_micro: Some(500),
        ..WorkspaceChange::default()
    };
    store.change_workspace(&workspace.id, change).await.unwrap();
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

async fn the_oldest_answers_lose_their_bodies_and_never_their_keys(database: Database) {
    let store = database.open().await;
    let workspace = funded(&store, 1_000).await;
    let other = funded(&store, 0).await;
    for (workspace, key) in [(&other, "1"), (&workspace, "2"), (&other, "3")] {
        let Begin::New(guard) = store.begin(&workspace.id, key, "body").await.unwrap() else {
            panic!()
        };
        store.finish(&guard, answer("four")).await.unwrap();
    }
    let Begin::New(running) = store.begin(&workspace.id, "4", "body").await.unwrap() else {
        panic!()
    };
    assert_eq!(store.trim_answers(12).await.unwrap(), 12);
    assert_eq!(store.trim_answers(11).await.unwrap(), 8);
    assert_eq!(store.trim_answers(4).await.unwrap(), 4);
    let without_body = || {
        Begin::Replay(StoredAnswer {
            body: None,
            ..answer("")
        })
    };
    for (workspace, key, expected) in [
        (&other, "1", without_body()),
        (&workspace, "2", without_body()),
        (&other, "3", Begin::Replay(answer("four"))),
        (&workspace, "4", Begin::InFlight),
    ] {
        let begun = store.begin(&workspace.id, key, "body").await.unwrap();
        assert_eq!(begun, expected, "{key}");
        let begun = store.begin(&workspace.id, key, "other").await.unwrap();
        assert_eq!(begun, Begin::Mismatch, "{key}");
    }
    store.finish(&running, answer("late")).await.unwrap();
    assert_eq!(store.trim_answers(0).await.unwrap(), 0);
    assert_eq!(
        store.begin(&workspace.id, "4", "body").await.unwrap(),
        without_body()
    );
    assert_clean(&store).await;
}
