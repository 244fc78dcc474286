//! The queue of webhook deliveries: claims, fair shares and the circuit breaker.

use std::time::Duration;

use crate::common::{Database, funded};
use sauti_store::ids::now_us;
use sauti_store::{
    ClaimQuota, ClaimedDelivery, DeliveryFailure, DeliveryState, PaymentEvent, Standing, Store,
    Workspace, WorkspaceChange,
};
use serde_json::json;
use sqlx::{AnyConnection, Connection, Executor};

on_both_databases!(
    payments_and_low_balances_are_told_once_with_their_money,
    a_delivery_is_claimed_by_one_sender,
    endpoints_and_workspaces_have_shares_of_what_is_in_flight,
    an_endpoint_that_fails_is_paused_and_loses_nothing,
    what_a_dead_endpoint_did_not_take_for_days_is_given_up,
);

const LEASE: Duration = Duration::from_secs(3600);
const HOUR_US: i64 = 3_600_000_000;

/// No shares: as much as there is.
fn quota(total: usize) -> ClaimQuota {
    ClaimQuota {
        standing: Standing::Unproven,
        total,
        per_endpoint: 1000,
        per_workspace: 1000,
    }
}

fn broken(again_at_us: Option<i64>) -> DeliveryFailure<'static> {
    DeliveryFailure {
        status: Some(500),
        error: "broken",
        again_at_us,
        pause_until_us: None,
    }
}

async fn hooks(store: &Store, workspace: &Workspace, count: usize) {
    for at in 0..count {
        let url = format!("https://example.com/{at}");
        store.add_webhook(&workspace.id, &url, &[]).await.unwrap();
    }
}

async fn tell(store: &Store, workspace: &Workspace, events: usize) {
    for _ in 0..events {
        store
            .enqueue_event(&workspace.id, "balance.low", "{}")
            .await
            .unwrap();
    }
}

fn of<'a>(claimed: &'a [ClaimedDelivery], workspace: &Workspace) -> Vec<&'a str> {
    claimed
        .iter()
        .filter(|delivery| delivery.endpoint.workspace_id == workspace.id)
        .map(|delivery| delivery.endpoint.id.as_str())
        .collect()
}

async fn payments_and_low_balances_are_told_once_with_their_money(database: Database) {
    let store = database.open().await;
    let workspace = funded(&store, 1_000).await;
    hooks(&store, &workspace, 1).await;
    let payment = PaymentEvent {
        provider: "mpesa".into(),
        event_id: "QK12".into(),
        workspace_id: workspace.id.clone(),
        amount_micro: 500,
        currency: "tzs".into(),
    };
    for _ in 0..2 {
        store.record_payment(&payment).await.unwrap();
    }
    let change = WorkspaceChange {
        low_balance_micro: Some(1_400),
        ..WorkspaceChange::default()
    };
    store.change_workspace(&workspace.id, change).await.unwrap();
    for reference in ["twice", "twice", "other"] {
        store
            .correct(&workspace.id, 101, reference, "booked twice")
            .await
            .unwrap();
    }
    // A refused one tells nothing.
    assert!(
        store
            .correct(&workspace.id, 5_000, "more", "too much")
            .await
            .is_err()
    );
    let claimed = store.claim_deliveries(quota(10), LEASE).await.unwrap();
    let mut told: Vec<_> = claimed
        .iter()
        .map(|delivery| serde_json::from_str::<serde_json::Value>(&delivery.payload).unwrap())
        .map(|event| {
            (
                event["type"].as_str().unwrap().to_owned(),
                event["data"].clone(),
            )
        })
        .collect();
    told.sort_by(|a, b| a.0.cmp(&b.0));
    let payment = json!({"provider": "mpesa", "receipt": "QK12", "currency": "TZS", "amount_micro": 500,
        "available_micro": 1_500});
    assert_eq!(
        told,
        [
            ("balance.low".to_owned(), json!({"available_micro": 1_399})),
            ("payment.received".to_owned(), payment),
        ]
    );
}

async fn a_delivery_is_claimed_by_one_sender(database: Database) {
    let stores = [database.open().await, database.open().await];
    let workspace = funded(&stores[0], 0).await;
    let hook = stores[0]
        .add_webhook(
            &workspace.id,
            "https://example.com/hook",
            &["balance.low".into()],
        )
        .await
        .unwrap();
    assert!(
        stores[0]
            .add_webhook(&workspace.id, "ftp://example.com", &[])
            .await
            .is_err()
    );
    assert_eq!(
        stores[0]
            .enqueue_event(&workspace.id, "payment.received", "{}")
            .await
            .unwrap(),
        0
    );
    for _ in 0..20 {
        assert_eq!(
            stores[0]
                .enqueue_event(&workspace.id, "balance.low", "{\"a\":1}")
                .await
                .unwrap(),
            1
        );
    }
    let lease = Duration::from_secs(3600);
    let claims: Vec<_> = (0..8)
        .map(|at| {
            let store = stores[at % 2].clone();
            tokio::spawn(async move { store.claim_deliveries(quota(5), lease).await.unwrap() })
        })
        .collect();
    let mut claimed = Vec::new();
    for claim in claims {
        claimed.extend(claim.await.unwrap());
    }
    claimed.extend(stores[0].claim_deliveries(quota(100), lease).await.unwrap());
    let mut ids: Vec<_> = claimed.iter().map(|delivery| delivery.id.clone()).collect();
    ids.sort();
    ids.dedup();
    assert_eq!((claimed.len(), ids.len()), (20, 20));
    assert_eq!(claimed[0].endpoint, hook);

    stores[0]
        .delivery_succeeded(&claimed[0], 204)
        .await
        .unwrap();
    stores[0]
        .delivery_failed(&claimed[1], broken(Some(0)))
        .await
        .unwrap();
    stores[0]
        .delivery_failed(&claimed[2], broken(None))
        .await
        .unwrap();
    let again = stores[1].claim_deliveries(quota(100), lease).await.unwrap();
    assert_eq!(
        (again.len(), again[0].id.clone(), again[0].attempts),
        (1, claimed[1].id.clone(), 2)
    );
    // A report under a claim that has passed on changes nothing.
    stores[0]
        .delivery_succeeded(&claimed[1], 204)
        .await
        .unwrap();
    stores[0]
        .remove_webhook(&workspace.id, &hook.id)
        .await
        .unwrap();
    let states = stores[0].deliveries(&workspace.id, 100).await.unwrap();
    assert_eq!(
        states
            .iter()
            .filter(|delivery| delivery.state == DeliveryState::Delivered)
            .count(),
        1
    );
    assert_eq!(
        states
            .iter()
            .filter(|delivery| delivery.state == DeliveryState::Failed)
            .count(),
        19
    );
    assert!(stores[0].webhooks(&workspace.id).await.unwrap().is_empty());
}

async fn endpoints_and_workspaces_have_shares_of_what_is_in_flight(database: Database) {
    let stores = [database.open().await, database.open().await];
    let greedy = funded(&stores[0], 0).await;
    let modest = funded(&stores[0], 0).await;
    hooks(&stores[0], &greedy, 5).await;
    hooks(&stores[0], &modest, 1).await;
    tell(&stores[0], &greedy, 10).await;
    tell(&stores[0], &modest, 2).await;
    let shares = ClaimQuota {
        per_endpoint: 1,
        per_workspace: 3,
        ..quota(3)
    };
    let claimed = stores[0].claim_deliveries(shares, LEASE).await.unwrap();
    assert_eq!(of(&claimed, &modest).len(), 1, "fifty older ones wait");
    let mut endpoints = of(&claimed, &greedy);
    endpoints.sort_unstable();
    endpoints.dedup();
    assert_eq!(endpoints.len(), 2, "no endpoint twice");
    // What one replica sends counts for the other.
    let more = stores[1].claim_deliveries(shares, LEASE).await.unwrap();
    assert_eq!((more.len(), of(&more, &greedy).len()), (1, 1));
    let none = stores[0].claim_deliveries(shares, LEASE).await.unwrap();
    assert_eq!(none.len(), 0);
    let done = claimed
        .iter()
        .find(|d| d.endpoint.workspace_id == modest.id);
    stores[0]
        .delivery_succeeded(done.unwrap(), 200)
        .await
        .unwrap();
    let good = ClaimQuota {
        standing: Standing::Good,
        ..shares
    };
    let next = stores[1].claim_deliveries(good, LEASE).await.unwrap();
    assert_eq!((next.len(), of(&next, &modest).len()), (1, 1));
}

async fn an_endpoint_that_fails_is_paused_and_loses_nothing(database: Database) {
    let store = database.open().await;
    let workspace = funded(&store, 0).await;
    hooks(&store, &workspace, 1).await;
    tell(&store, &workspace, 3).await;
    let claimed = store.claim_deliveries(quota(1), LEASE).await.unwrap();
    let until_us = now_us() + HOUR_US;
    let failure = DeliveryFailure {
        pause_until_us: Some(until_us),
        ..broken(Some(0))
    };
    store.delivery_failed(&claimed[0], failure).await.unwrap();
    let none = store.claim_deliveries(quota(10), LEASE).await.unwrap();
    assert_eq!(none.len(), 0, "paused");
    let hook = &store.webhooks(&workspace.id).await.unwrap()[0];
    assert_eq!((hook.failures, hook.paused_until_us), (1, Some(until_us)));
    let backlog = store.webhook_backlog().await.unwrap();
    assert_eq!(
        (backlog.deliveries_pending, backlog.endpoints_paused),
        (3, 1)
    );

    run(
        &database,
        "update webhook_endpoints set paused_until_us = 1",
    )
    .await;
    let claimed = store.claim_deliveries(quota(10), LEASE).await.unwrap();
    assert_eq!(claimed.len(), 3, "nothing was lost");
    assert_eq!(claimed[0].endpoint.failures, 1);
    store.delivery_succeeded(&claimed[0], 200).await.unwrap();
    let hook = &store.webhooks(&workspace.id).await.unwrap()[0];
    assert_eq!((hook.failures, hook.paused_until_us), (0, None));
    assert!(hook.succeeded_us.is_some());
}

async fn what_a_dead_endpoint_did_not_take_for_days_is_given_up(database: Database) {
    let store = database.open().await;
    let workspace = funded(&store, 0).await;
    hooks(&store, &workspace, 1).await;
    tell(&store, &workspace, 4).await;
    run(&database, "update webhook_deliveries set created_us = 1").await;
    tell(&store, &workspace, 1).await;
    let claimed = store.claim_deliveries(quota(2), LEASE).await.unwrap();
    store.delivery_succeeded(&claimed[0], 200).await.unwrap();
    store
        .delivery_failed(&claimed[1], broken(Some(0)))
        .await
        .unwrap();
    let left = store.deliveries(&workspace.id, 10).await.unwrap();
    let count = |state| {
        left.iter()
            .filter(|delivery| delivery.state == state)
            .count()
    };
    assert_eq!(count(DeliveryState::Delivered), 1);
    assert_eq!(count(DeliveryState::Failed), 3);
    assert_eq!(count(DeliveryState::Pending), 1, "the young one");
}

async fn run(database: &Database, sql: &'static str) {
    let mut connection = AnyConnection::connect(&database.url).await.unwrap();
    connection.execute(sql).await.unwrap();
    connection.close().await.unwrap();
}
