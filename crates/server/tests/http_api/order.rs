//! Which check comes first when several would fail: key, account, permission, rate, body bounds,
//! validation, decode, balance, queue.

use axum::body::Body;
use axum::http::{Method, Request};
use sauti_store::{NewKey, Permission};
use serde_json::json;

use crate::support::{SPEECH, World, silent_wav};

fn speech(key: &str, body: &str) -> Request<Body> {
    Request::builder()
        .method(Method::POST)
        .uri(SPEECH)
        .header("authorization", format!("Bearer {key}"))
        .header("content-type", "application/json")
        .body(Body::from(body.to_owned()))
        .unwrap()
}

/// A workspace without money, whose owner has or has not confirmed.
async fn poor_key(world: &World, confirmed: bool, permission: Permission) -> String {
    let email = format!("{confirmed}-{permission}@example.com");
    let account = world
        .app
        .store
        .create_account(&email, "x", "Maskini")
        .await
        .unwrap();
    if confirmed {
        world
            .app
            .store
            .confirm_account_by_id(&account.id)
            .await
            .unwrap();
    }
    let workspace = world
        .app
        .store
        .create_workspace(Some(&account.id), "Maskini", "KES")
        .await
        .unwrap();
    let permissions = [permission].into_iter().collect();
    world
        .make_key(NewKey {
            workspace_id: workspace.id,
            permissions,
            ..world.new_key()
        })
        .await
}

#[tokio::test]
async fn the_checks_come_in_the_agreed_order() {
    let world = World::with(&[("limits.requests_per_minute", "3")]).await;
    let (broken, huge) = ("{", " ".repeat(2 * 1024 * 1024));
    let good = json!({"text": "Habari", "voice_id": "asha"}).to_string();
    let wrong = json!({"text": "", "voice_id": "asha"}).to_string();

    world
        .send(speech("sauti_test_bad", broken))
        .await
        .assert_problem(401, "key_malformed");
    let unconfirmed = poor_key(&world, false, Permission::Usage).await;
    world
        .send(speech(&unconfirmed, broken))
        .await
        .assert_problem(403, "account_unconfirmed");
    let no_permission = poor_key(&world, true, Permission::Usage).await;
    for _ in 0..5 {
        world
            .send(speech(&no_permission, broken))
            .await
            .assert_problem(403, "permission_missing");
    }
    let poor = poor_key(&world, true, Permission::Speech).await;
    world
        .send(speech(&poor, &huge))
        .await
        .assert_problem(413, "body_too_large");
    world
        .send(speech(&poor, &wrong))
        .await
        .assert_problem(422, "validation_failed");
    world
        .send(speech(&poor, &good))
        .await
        .assert_problem(402, "balance_insufficient");
    world
        .send(speech(&poor, broken))
        .await
        .assert_problem(429, "rate_limited");
}

#[tokio::test]
async fn a_recording_is_decoded_before_the_balance_is_looked_at() {
    let world = World::new().await;
    let key = poor_key(&world, true, Permission::Transcription).await;
    let world = World { key, ..world };
    let not_audio = [(
        "file",
        Some(("a.wav", "audio/wav")),
        &b"this is no recording at all"[..],
    )];
    world
        .transcribe(&not_audio)
        .await
        .assert_problem(415, "container_unknown");
    let silence = silent_wav(2.0);
    let recording = [("file", Some(("a.wav", "audio/wav")), silence.as_slice())];
    let body = world
        .transcribe(&recording)
        .await
        .assert_problem(402, "balance_insufficient");
    assert_eq!(body["required"], 50_000);
    assert_eq!(body["available"], 0);
}

#[tokio::test]
async fn the_queue_is_asked_last_and_the_money_comes_back() {
    let world = World::new().await;
    let body = json!({"text": "Habari", "voice_id": "asha"}).to_string();
    let answer = world.send(speech(&world.key, &body)).await;
    answer.assert_problem(503, "warming_up");
    assert!(answer.header("retry-after").parse::<u64>().unwrap() >= 1);
}
