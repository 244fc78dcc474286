//! Batches through a real NATS server that SAUTI_TEST_NATS_URL names (`./test nats`): what the queue loses, repeats or makes up
//! must change nothing. The tests of batches themselves run through it too.

use std::time::Duration;

use async_nats::jetstream::{self, context::Context, stream::State};
use axum::http::StatusCode;
use sauti_server::background::Background;
use serde_json::{Value, json};

use crate::batches::{BATCHES, finished, id_of, results, texts};
use crate::support::{CREDIT_MICRO, World};
use crate::with_models::ready_world;

async fn world_with_queue() -> (World, Context) {
    let url = std::env::var("SAUTI_TEST_NATS_URL").expect("a server is named");
    let client = async_nats::connect(url).await.unwrap();
    (ready_world().await, jetstream::new(client))
}

async fn state(world: &World, queue: &Context) -> Option<State> {
    let stream = queue.get_stream(&world.app.config.nats.stream).await.ok()?;
    Some(stream.cached_info().state.clone())
}

async fn until_empty(world: &World, queue: &Context) -> State {
    for _ in 0..600 {
        match state(world, queue).await {
            Some(state) if state.messages == 0 => return state,
            _ => tokio::time::sleep(Duration::from_millis(100)).await,
        }
    }
    panic!("messages are left in the queue");
}

async fn counts(world: &World, batch_id: &str) -> Value {
    world
        .get(&format!("{BATCHES}/{batch_id}"))
        .await
        .assert_ok()
        .json()["counts"]
        .clone()
}

async fn until_done(world: &World, batch_id: &str, items: u64) {
    while counts(world, batch_id).await["done"].as_u64().unwrap() < items {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// All done, and charged what the lines say, once.
async fn assert_paid_once(world: &World, batch_id: &str, items: usize) {
    let batch = finished(world, batch_id).await;
    let lines = results(world, &batch).await;
    assert_eq!(lines.len(), items);
    assert!(
        lines.iter().all(|line| line["status"] == "done"),
        "{lines:?}"
    );
    let cost: i64 = lines
        .iter()
        .map(|line| line["cost_micro"].as_i64().unwrap())
        .sum();
    assert_eq!(world.balance_micro().await, CREDIT_MICRO - cost);
    world.assert_ledger_is_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs NATS: ./test nats"]
async fn every_item_goes_through_the_queue_and_none_is_left_there() {
    let (world, queue) = world_with_queue().await;
    let _background = Background::start(&world.app);
    // The stream is there before the order: else the database would be asked for the first items.
    until_empty(&world, &queue).await;
    // More than are in the queue at the same time.
    let batch_id = id_of(&world.post(BATCHES, &texts(40)).await);
    assert_paid_once(&world, &batch_id, 40).await;
    assert!(until_empty(&world, &queue).await.last_sequence >= 40);
    let shown = world.get("/metrics").await;
    let shown = String::from_utf8_lossy(&shown.body).into_owned();
    assert!(shown.contains("sauti_nats_up 1"), "{shown}");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs NATS: ./test nats"]
async fn a_queue_that_loses_everything_loses_no_item() {
    let (world, queue) = world_with_queue().await;
    let _background = Background::start(&world.app);
    until_empty(&world, &queue).await;
    let batch_id = id_of(&world.post(BATCHES, &texts(30)).await);
    let stream = &world.app.config.nats.stream;
    for done in [2, 8] {
        until_done(&world, &batch_id, done).await;
        queue.delete_stream(stream).await.unwrap();
        // It is made again by whoever misses it.
        while state(&world, &queue).await.is_none() {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
    until_done(&world, &batch_id, 14).await;
    // Emptied, so that the server still knows the messages and takes none of them a second time.
    let emptied = queue.get_stream(stream).await.unwrap();
    emptied.purge().await.unwrap();
    assert_paid_once(&world, &batch_id, 30).await;
    until_empty(&world, &queue).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs NATS: ./test nats"]
async fn messages_that_come_twice_or_mean_nothing_change_nothing() {
    let (world, queue) = world_with_queue().await;
    let subject = format!("{}.items", world.app.config.nats.stream);
    let batch_id = id_of(&world.post(BATCHES, &texts(6)).await);
    let items = world
        .app
        .store
        .waiting_items(&batch_id.parse().unwrap(), -1, 10)
        .await
        .unwrap();
    let _background = Background::start(&world.app);
    until_done(&world, &batch_id, 1).await;
    let mut strange = vec![
        "not JSON".to_owned(),
        json!({"item": "item_none", "batch": "batch_none", "position": 3}).to_string(),
        json!({"item": "item_none", "batch": batch_id, "position": -9}).to_string(),
    ];
    for (position, item) in items.iter().cycle().take(18) {
        strange.push(json!({"item": item, "batch": batch_id, "position": position}).to_string());
    }
    for word in strange {
        // The stream may be a moment away still.
        let mut taken = false;
        while !taken {
            let sent = queue.publish(subject.clone(), word.clone().into()).await;
            taken = sent.unwrap().await.is_ok();
        }
    }
    assert_paid_once(&world, &batch_id, 6).await;
    until_empty(&world, &queue).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs NATS: ./test nats"]
async fn a_cancelled_batch_leaves_the_queue_and_costs_no_more() {
    let (world, queue) = world_with_queue().await;
    let _background = Background::start(&world.app);
    until_empty(&world, &queue).await;
    let batch_id = id_of(&world.post(BATCHES, &texts(60)).await);
    until_done(&world, &batch_id, 3).await;
    let cancelled = world
        .post(&format!("{BATCHES}/{batch_id}/cancel"), &json!({}))
        .await;
    assert_eq!(cancelled.assert_ok().status, StatusCode::OK);
    let batch = cancelled.json();
    let lines = results(&world, &batch).await;
    let ended = |state: &str| lines.iter().filter(|line| line["status"] == state).count();
    assert_eq!(ended("done") + ended("cancelled"), 60, "{lines:?}");
    assert!(ended("cancelled") > 0);
    until_empty(&world, &queue).await;
    let cost: i64 = lines
        .iter()
        .map(|line| line["cost_micro"].as_i64().unwrap())
        .sum();
    assert_eq!(world.balance_micro().await, CREDIT_MICRO - cost);
    assert_eq!(
        counts(&world, &batch_id).await["done"].as_u64().unwrap() as usize,
        ended("done")
    );
    world.assert_ledger_is_sound().await;
}
