//! What a key can give away, and how soon it ends.

use sauti_store::ids::now_us;
use sauti_store::{NewKey, Permission};
use serde_json::{Value, json};

use crate::support::{SPEECH, World};

const DAY_US: i64 = 86_400_000_000;

/// The same world, seen with another key.
async fn with_key(world: World, new: NewKey) -> World {
    let key = world.make_key(new).await;
    World { key, ..world }
}

async fn child_of(world: &World, asked: Value) -> Value {
    let made = world.post("/v1/keys", &asked).await;
    made.assert_status(201).json()
}

#[tokio::test]
async fn a_key_makes_no_key_that_outlives_or_outspends_it() {
    let world = World::new().await;
    let ends_us = now_us() + 3 * DAY_US;
    let new = NewKey {
        expires_us: Some(ends_us),
        spend_cap_micro: Some(1_000),
        ..world.new_key()
    };
    let world = with_key(world, new).await;
    for (asked, cap) in [
        (
            json!({"name": "a", "permissions": ["speech", "keys"]}),
            1_000,
        ),
        (
            json!({"name": "b", "permissions": ["speech"], "expires_in_days": 3_000, "spend_cap_micro": 9_000_000}),
            1_000,
        ),
        (
            json!({"name": "c", "permissions": ["speech"], "expires_in_days": 1, "spend_cap_micro": 700}),
            700,
        ),
    ] {
        let child = child_of(&world, asked).await;
        assert!(child["expires_us"].as_i64().unwrap() <= ends_us, "{child}");
        assert_eq!(child["spend_cap_micro"], cap, "{child}");
    }
    // Nor does a child's child.
    let child = child_of(
        &world,
        json!({"name": "d", "permissions": ["speech", "keys"]}),
    )
    .await;
    let key = child["api_key"].as_str().unwrap().to_owned();
    let world = World { key, ..world };
    let grandchild = child_of(&world, json!({"name": "e", "permissions": ["speech"]})).await;
    assert_eq!(grandchild["spend_cap_micro"], 1_000);
    assert!(grandchild["expires_us"].as_i64().unwrap() <= ends_us);
}

#[tokio::test]
async fn a_bound_with_another_name_makes_no_key_without_it() {
    let world = World::new().await;
    let asked = json!({"name": "a", "permissions": ["speech"], "spend_cap": 500_000_000});
    let refused = world.post("/v1/keys", &asked).await;
    let body = refused.assert_problem(422, "validation_failed");
    assert_eq!(body["errors"][0]["field"], "spend_cap", "{body}");
    let webhook = json!({"url": "https://example.com/", "event_types": ["balance.low"]});
    let refused = world.post("/v1/webhooks", &webhook).await;
    refused.assert_problem(422, "validation_failed");
}

#[tokio::test]
async fn the_keys_that_a_capped_key_makes_spend_from_one_cap() {
    let world = World::new().await;
    let new = NewKey {
        spend_cap_micro: Some(1_000),
        ..world.new_key()
    };
    let world = with_key(world, new).await;
    let child = child_of(&world, json!({"name": "a", "permissions": ["speech"]})).await;
    let sibling = child_of(&world, json!({"name": "b", "permissions": ["speech"]})).await;
    let spend = async |child: &Value, amount_micro: i64| {
        let request = sauti_store::ChargeRequest {
            workspace_id: world.workspace_id.clone(),
            key_id: child["key_id"].as_str().map(|id| id.parse().unwrap()),
            operation: sauti_store::Operation::Speech,
            amount_micro,
            request_id: "req".to_owned(),
            usage: sauti_store::Usage::default(),
        };
        world.app.store.charge(request).await
    };
    spend(&child, 600).await.unwrap();
    let refused = spend(&sibling, 600).await;
    assert!(
        matches!(refused, Err(sauti_store::LedgerError::CapExceeded { .. })),
        "{refused:?}"
    );
    spend(&sibling, 400).await.unwrap();
}

#[tokio::test]
async fn a_bounded_key_cannot_rotate_one_that_is_not_bounded_like_it() {
    let world = World::new().await;
    let unbounded = child_of(&world, json!({"name": "a", "permissions": ["speech"]})).await;
    let rotate = |key: &Value| format!("/v1/keys/{}/rotate", key["key_id"].as_str().unwrap());
    let bounds = [(Some(1_000), None), (None, Some(now_us() + DAY_US))];
    for (spend_cap_micro, expires_us) in bounds {
        let new = NewKey {
            spend_cap_micro,
            expires_us,
            ..world.new_key()
        };
        let key = world.make_key(new).await;
        let headers = [("authorization", format!("Bearer {key}"))];
        let as_bounded = async |path: String| {
            let body = axum::body::Body::empty();
            let request = axum::http::Request::post(path);
            let request = request.header(headers[0].0, &headers[0].1);
            world.send(request.body(body).unwrap()).await
        };
        as_bounded(rotate(&unbounded))
            .await
            .assert_problem(403, "permission_missing");
        // Itself it can, and gains nothing.
        let own_id = sauti_store::ApiKey::parse(&key).unwrap().id().to_owned();
        let rotated = as_bounded(rotate(&json!({"key_id": own_id}))).await;
        let rotated = rotated.assert_status(201).json();
        assert_eq!(rotated["spend_cap_micro"], json!(spend_cap_micro));
        assert_eq!(rotated["expires_us"], json!(expires_us));
    }
}

#[tokio::test]
async fn a_key_ends_by_itself_when_its_time_is_over() {
    let world = World::new().await;
    let new = NewKey {
        expires_us: Some(now_us() + 300_000),
        ..world.new_key()
    };
    let world = with_key(world, new).await;
    world.get("/v1/balance").await.assert_ok();
    while now_us() < world_key_ends_us(&world).await {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    let answer = world.post(SPEECH, &json!({"text": "Habari"})).await;
    answer.assert_problem(401, "key_expired");
}

async fn world_key_ends_us(world: &World) -> i64 {
    let key = sauti_store::ApiKey::parse(&world.key).unwrap();
    let info = world.app.store.key(&world.workspace_id, key.id()).await;
    info.unwrap().expires_us.unwrap()
}

#[tokio::test]
async fn a_key_for_one_operation_has_no_business_with_batches_of_the_other() {
    let world = World::new().await;
    let order = json!({"operation": "speech", "items": [{"custom_id": "a", "text": "Habari", "voice_id": "asha"}]});
    let batch = world.post("/v1/batches", &order).await;
    let batch = batch.assert_status(201).json();
    let path = format!("/v1/batches/{}", batch["batch_id"].as_str().unwrap());
    let key = world.key_for(Permission::Transcription).await;
    let other = World { key, ..world };
    for path in [
        path.clone(),
        format!("{path}/results"),
        format!("{path}/items/0/audio"),
    ] {
        other
            .get(&path)
            .await
            .assert_problem(403, "permission_missing");
    }
    let cancelled = other.post(&format!("{path}/cancel"), &json!({})).await;
    cancelled.assert_problem(403, "permission_missing");
    let listed = other.get("/v1/batches").await.assert_ok().json();
    assert_eq!(listed["batches"], json!([]));
    let key = other.key_for(Permission::Speech).await;
    let speaker = World { key, ..other };
    let listed = speaker.get("/v1/batches").await.assert_ok().json();
    assert_eq!(listed["batches"].as_array().unwrap().len(), 1);
    speaker.get(&path).await.assert_ok();
}

#[tokio::test]
async fn a_quote_says_whether_the_keys_spend_cap_covers_it() {
    let mut world = World::new().await;
    for (spend_cap_micro, covered) in [
        (Some(1_499_999), false),
        (Some(1_500_000), true),
        (None, true),
    ] {
        let new = NewKey {
            spend_cap_micro,
            ..world.new_key()
        };
        world = with_key(world, new).await;
        let quote = world
            .post("/v1/quotes", &json!({"audio_seconds": 60}))
            .await;
        assert_eq!(quote.assert_ok().json()["covered"], covered);
    }
}
