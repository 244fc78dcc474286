//! Batches: each item is answered once and charged once, whoever works on it and whoever dies.

use std::collections::HashSet;
use std::time::Duration;

use crate::common::{Database, ask, assert_clean, funded};
use sauti_store::{
    BatchId, BatchState, ClaimQuota, ClaimedItem, ItemId, LedgerError, NewBatch, NewItem, Received,
    Standing, StatementQuery, Store, StoreError, StoreOptions, Usage, Workspace,
};

on_both_databases!(
    items_are_claimed_once_and_charged_once,
    no_more_are_claimed_than_were_asked_for,
    an_item_whose_claim_was_lost_on_the_way_comes_back,
    a_cancelled_item_is_not_charged,
    what_a_dead_process_had_in_hand_comes_back,
    the_end_is_written_down_once_and_told_once,
    the_same_order_under_the_same_key_is_one_batch,
    a_batch_that_expired_leaves_nothing,
    a_workspace_has_bounds,
);

const KEEP: Duration = Duration::from_secs(3_600);

fn order(workspace: &Workspace, items: i64) -> NewBatch {
    NewBatch {
        workspace_id: workspace.id.clone(),
        key_id: None,
        operation: sauti_store::Operation::Speech,
        items,
        bytes: 100,
        idempotency_key: None,
        fingerprint: "f".into(),
        time_max: KEEP,
        keep: KEEP,
        open_max: 5,
        bytes_max: 1_000,
    }
}

async fn received(store: &Store, new: &NewBatch) -> BatchId {
    match store.receive_batch(new).await.unwrap() {
        Received::New(id) => id,
        other => panic!("{other:?}"),
    }
}

async fn started(store: &Store, workspace: &Workspace, items: i64) -> BatchId {
    let id = received(store, &order(workspace, items)).await;
    let rows = (0..items).map(|n| NewItem {
        custom_id: format!("item {n}"),
        request: "{}".into(),
        input_id: None,
    });
    store
        .add_batch_items(&workspace.id, &id, 0, rows.collect())
        .await
        .unwrap();
    store.start_batch(&workspace.id, &id).await.unwrap();
    id
}

async fn settle(
    store: &Store,
    workspace: &Workspace,
    item: &ClaimedItem,
) -> Result<(), LedgerError> {
    let mut request = ask(workspace, 10);
    request.request_id = item.id.to_string();
    let reservation = store.reserve(request).await?;
    let finished = item.finished("{\"text\":\"habari\"}".into(), None);
    let settled = store
        .settle_item(&reservation, 7, Usage::default(), finished)
        .await;
    if settled.is_err() {
        store.release(&reservation).await?;
    }
    settled.map(|_| ())
}

async fn charges(store: &Store, workspace: &Workspace) -> Vec<ItemId> {
    let query = StatementQuery {
        from_us: 0,
        to_us: i64::MAX,
        after: None,
        limit: 10_000,
    };
    let rows = store.statement(&workspace.id, &query).await.unwrap();
    let settled = rows.into_iter().filter(|row| row.kind == "settle");
    settled.map(|row| row.request_id.parse().unwrap()).collect()
}

async fn items_are_claimed_once_and_charged_once(database: Database) {
    let store = database.open().await;
    let workspace = funded(&store, 10_000).await;
    let batch_id = started(&store, &workspace, 60).await;
    let workers: Vec<_> = (0..6)
        .map(|_| {
            let (store, workspace) = (store.clone(), workspace.clone());
            tokio::spawn(async move {
                let mut done = Vec::new();
                loop {
                    let items = store.claim_batch_items(3).await.unwrap();
                    if items.is_empty() {
                        return done;
                    }
                    for item in items {
                        settle(&store, &workspace, &item).await.unwrap();
                        let again = settle(&store, &workspace, &item).await;
                        assert!(matches!(again, Err(LedgerError::ClaimLost)), "{again:?}");
                        done.push(item.id);
                    }
                }
            })
        })
        .collect();
    let mut done = Vec::new();
    for worker in workers {
        done.extend(worker.await.unwrap());
    }
    assert_eq!(done.len(), 60);
    assert_eq!(done.iter().collect::<HashSet<_>>().len(), 60);
    let mut charged = charges(&store, &workspace).await;
    charged.sort();
    done.sort();
    assert_eq!(charged, done);
    let batch = store.batch(&workspace.id, &batch_id).await.unwrap();
    assert_eq!((batch.counts.done, batch.amount_micro), (60, 420));
    assert_clean(&store).await;
}

async fn no_more_are_claimed_than_were_asked_for(database: Database) {
    let store = database.open().await;
    let workspace = funded(&store, 0).await;
    for _ in 0..4 {
        started(&store, &workspace, 50).await;
    }
    let claimers: Vec<_> = (0..8)
        .map(|_| {
            let store = store.clone();
            tokio::spawn(async move { store.claim_batch_items(2).await.unwrap() })
        })
        .collect();
    for claimer in claimers {
        assert!(claimer.await.unwrap().len() <= 2);
    }
    assert!(store.held_items().await.unwrap().len() <= 16);
}

async fn an_item_whose_claim_was_lost_on_the_way_comes_back(database: Database) {
    let store = database.open().await;
    let workspace = funded(&store, 100).await;
    started(&store, &workspace, 1).await;
    let lost = store.claim_batch_items(1).await.unwrap().pop().unwrap();
    assert_eq!(
        store.held_items().await.unwrap(),
        std::slice::from_ref(&lost.id)
    );
    store.put_unknown_item_back(&lost.id).await.unwrap();
    let again = store.claim_batch_items(1).await.unwrap().pop().unwrap();
    assert!(matches!(
        settle(&store, &workspace, &lost).await,
        Err(LedgerError::ClaimLost)
    ));
    settle(&store, &workspace, &again).await.unwrap();
}

async fn a_cancelled_item_is_not_charged(database: Database) {
    let store = database.open().await;
    let workspace = funded(&store, 10_000).await;
    let batch_id = started(&store, &workspace, 3).await;
    let mut items = store.claim_batch_items(2).await.unwrap();
    let (running, first) = (items.pop().unwrap(), items.pop().unwrap());
    settle(&store, &workspace, &first).await.unwrap();
    let cancelled = store
        .cancel_batch(&workspace.id, &batch_id, KEEP, "batch.finished", |_| {
            "{}".into()
        })
        .await
        .unwrap()
        .unwrap();
    assert_eq!(cancelled.state, BatchState::Cancelled);
    assert_eq!((cancelled.counts.done, cancelled.counts.cancelled), (1, 2));
    assert!(!store.holds_item(&running).await.unwrap());
    let late = settle(&store, &workspace, &running).await;
    assert!(matches!(late, Err(LedgerError::ClaimLost)), "{late:?}");
    assert_eq!(charges(&store, &workspace).await, [first.id]);
    assert!(store.claim_batch_items(9).await.unwrap().is_empty());
    let again = store
        .cancel_batch(&workspace.id, &batch_id, KEEP, "batch.finished", |_| {
            "{}".into()
        })
        .await;
    assert_eq!(again.unwrap(), None, "cancelled once");
    assert_clean(&store).await;
}

async fn what_a_dead_process_had_in_hand_comes_back(database: Database) {
    let store = database.open().await;
    let workspace = funded(&store, 10_000).await;
    started(&store, &workspace, 2).await;
    let silent = StoreOptions {
        heartbeat: false,
        dead_after: Duration::from_millis(200),
        ..StoreOptions::default()
    };
    let dying = database.open_with(silent.clone()).await;
    let held = dying.claim_batch_items(1).await.unwrap().pop().unwrap();
    tokio::time::sleep(Duration::from_millis(400)).await;
    let watcher = StoreOptions {
        heartbeat: true,
        ..silent
    };
    let other = database.open_with(watcher).await;
    other.sweep().await.unwrap();
    let again = other.claim_batch_item(&held.id).await.unwrap().unwrap();
    assert_eq!(again.attempts, 2);
    let late = settle(&dying, &workspace, &held).await;
    assert!(matches!(late, Err(LedgerError::ClaimLost)), "{late:?}");
    settle(&other, &workspace, &again).await.unwrap();
    assert_eq!(charges(&store, &workspace).await, [held.id]);
    assert_clean(&store).await;
}

async fn the_end_is_written_down_once_and_told_once(database: Database) {
    let store = database.open().await;
    let workspace = funded(&store, 10_000).await;
    let url = "https://example.com/hook";
    store.add_webhook(&workspace.id, url, &[]).await.unwrap();
    let batch_id = started(&store, &workspace, 2).await;
    let finish = || {
        store.finish_batch(&batch_id, KEEP, "batch.finished", |batch| {
            format!("{{\"done\":{}}}", batch.counts.done)
        })
    };
    let items = store.claim_batch_items(2).await.unwrap();
    settle(&store, &workspace, &items[0]).await.unwrap();
    assert_eq!(finish().await.unwrap(), None, "one is left");
    assert!(store.fail_item(&items[1], "{}").await.unwrap());
    assert!(!store.fail_item(&items[1], "{}").await.unwrap());
    assert_eq!(
        store.ended_batches().await.unwrap(),
        std::slice::from_ref(&batch_id)
    );
    let finished = finish().await.unwrap().unwrap();
    assert_eq!(finished.state, BatchState::Finished);
    assert_eq!(finish().await.unwrap(), None);
    let quota = ClaimQuota {
        standing: Standing::Unproven,
        total: 10,
        per_endpoint: 10,
        per_workspace: 10,
    };
    let told = store.claim_deliveries(quota, KEEP).await.unwrap();
    assert_eq!(told.len(), 1);
    assert_eq!(told[0].payload, "{\"done\":1}");
}

async fn the_same_order_under_the_same_key_is_one_batch(database: Database) {
    let store = database.open().await;
    let workspace = funded(&store, 0).await;
    let new = NewBatch {
        idempotency_key: Some("k".into()),
        ..order(&workspace, 1)
    };
    let id = received(&store, &new).await;
    assert_eq!(store.receive_batch(&new).await.unwrap(), Received::InFlight);
    let other = NewBatch {
        fingerprint: "g".into(),
        ..new.clone()
    };
    assert_eq!(
        store.receive_batch(&other).await.unwrap(),
        Received::Mismatch
    );
    store.start_batch(&workspace.id, &id).await.unwrap();
    match store.receive_batch(&new).await.unwrap() {
        Received::Before(batch) => assert_eq!(batch.id, id),
        other => panic!("{other:?}"),
    }
    let stranger = funded(&store, 0).await;
    let found = store.batch(&stranger.id, &id).await;
    assert!(matches!(found, Err(StoreError::NotFound(_))));
}

async fn a_batch_that_expired_leaves_nothing(database: Database) {
    let store = database
        .open_with(StoreOptions {
            maintenance_every: Duration::from_millis(50),
            ..StoreOptions::default()
        })
        .await;
    let workspace = funded(&store, 0).await;
    let batch_id = started(&store, &workspace, 1).await;
    let blob_id = sauti_store::BlobId::generate();
    store
        .add_blob_part(&batch_id, &blob_id, 0, vec![0, 255, 7])
        .await
        .unwrap();
    store
        .add_blob_part(&batch_id, &blob_id, 1, vec![9])
        .await
        .unwrap();
    assert_eq!(
        store.blob_part(&blob_id, 0).await.unwrap(),
        Some(vec![0, 255, 7])
    );
    assert_eq!(store.blob_part(&blob_id, 2).await.unwrap(), None);
    store
        .cancel_batch(
            &workspace.id,
            &batch_id,
            Duration::ZERO,
            "batch.finished",
            |_| "{}".into(),
        )
        .await
        .unwrap();
    for _ in 0..500 {
        if store.batch(&workspace.id, &batch_id).await.is_err() {
            assert_eq!(store.blob_part(&blob_id, 0).await.unwrap(), None);
            assert!(
                store
                    .batch_items(&batch_id, -1, 10)
                    .await
                    .unwrap()
                    .is_empty()
            );
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the batch was never deleted");
}

async fn a_workspace_has_bounds(database: Database) {
    let store = database.open().await;
    let workspace = funded(&store, 0).await;
    let large = NewBatch {
        bytes: 901,
        ..order(&workspace, 1)
    };
    received(&store, &order(&workspace, 1)).await;
    let refused = store.receive_batch(&large).await;
    assert!(
        matches!(refused, Err(StoreError::Refused(_))),
        "{refused:?}"
    );
    for _ in 0..4 {
        received(&store, &order(&workspace, 1)).await;
    }
    let refused = store.receive_batch(&order(&workspace, 1)).await;
    assert!(
        matches!(refused, Err(StoreError::Refused(_))),
        "{refused:?}"
    );
}
