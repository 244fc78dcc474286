use axum::body::Body;
use axum::http::Method;
use serde_json::json;

use crate::support::{CREDIT_MICRO, SPEECH, World, silent_wav};

const KEY: (&str, &str) = ("idempotency-key", "order-17");

#[tokio::test]
async fn the_same_request_twice_is_answered_alike_and_charged_once() {
    let world = World::new().await;
    let body = json!({"text": "Habari yako", "voice_id": "asha"});
    world.remember_speech(&body, b"RIFFsound");
    let first = world.post_with(SPEECH, &body, &[KEY]).await;
    let second = world.post_with(SPEECH, &body, &[KEY]).await;
    first.assert_ok();
    second.assert_ok();
    assert_eq!(first.body, second.body);
    for header in [
        "content-type",
        "content-length",
        "sauti-cost",
        "sauti-units",
        "sauti-balance",
    ] {
        assert_eq!(first.header(header), second.header(header), "{header}");
    }
    assert_eq!(first.header("idempotency-replayed"), "");
    assert_eq!(second.header("idempotency-replayed"), "true");
    assert_ne!(first.header("x-request-id"), second.header("x-request-id"));
    assert_eq!(world.balance_micro().await, CREDIT_MICRO - 12_000);
    world.assert_ledger_is_sound().await;
}

#[tokio::test]
async fn an_answer_that_is_no_longer_kept_is_made_again_for_nothing() {
    let world = World::new().await;
    let body = json!({"text": "Habari yako", "voice_id": "asha"});
    world.remember_speech(&body, b"RIFFsound");
    let first = world.post_with(SPEECH, &body, &[KEY]).await;
    assert_eq!(first.assert_ok().header("sauti-cost"), "12000");
    world.app.store.trim_answers(0).await.unwrap();
    for _ in 0..2 {
        let again = world.post_with(SPEECH, &body, &[KEY]).await;
        assert_eq!(again.assert_ok().body, first.body);
        assert_eq!(again.header("sauti-cost"), "0");
        assert_eq!(again.header("idempotency-replayed"), "");
    }
    let other = json!({"text": "Habari", "voice_id": "asha"});
    let other = world.post_with(SPEECH, &other, &[KEY]).await;
    other.assert_problem(422, "idempotency_mismatch");
    assert_eq!(world.balance_micro().await, CREDIT_MICRO - 12_000);
    world.assert_ledger_is_sound().await;
}

#[tokio::test]
async fn what_was_paid_is_not_made_again_in_other_words() {
    let world = World::new().await;
    let body = json!({"text": "Habari yako", "voice_id": "asha"});
    world.remember_speech(&body, b"RIFFsound");
    world.post_with(SPEECH, &body, &[KEY]).await.assert_ok();
    world.app.store.trim_answers(0).await.unwrap();
    let request = world.request(Method::PUT, "/v1/lexicon/yako");
    let request = request.header("content-type", "application/json");
    let said = json!({"said": "zenu nyote mliokusanyika"}).to_string();
    let set = world.send(request.body(Body::from(said)).unwrap()).await;
    set.assert_ok();
    let other = world.post_with(SPEECH, &body, &[KEY]).await;
    other.assert_problem(422, "idempotency_mismatch");
}

#[tokio::test]
async fn many_retries_at_once_are_charged_once() {
    let world = World::with(&[("limits.concurrent_requests", "100")]).await;
    let body = json!({"text": "Habari yako", "voice_id": "asha"});
    world.remember_speech(&body, b"RIFFsound");
    let answers =
        futures_util::future::join_all((0..20).map(|_| world.post_with(SPEECH, &body, &[KEY])))
            .await;
    for answer in &answers {
        match answer.status.as_u16() {
            200 => assert_eq!(answer.body, &b"RIFFsound"[..]),
            _ => drop(answer.assert_problem(409, "idempotency_in_flight")),
        }
    }
    assert!(answers.iter().any(|answer| answer.status.is_success()));
    assert_eq!(world.balance_micro().await, CREDIT_MICRO - 12_000);
}

#[tokio::test]
async fn a_key_with_another_body_is_refused() {
    let world = World::new().await;
    for text in ["Moja", "Mbili"] {
        world.remember_speech(&json!({"text": text, "voice_id": "asha"}), b"RIFF");
    }
    world
        .post_with(SPEECH, &json!({"text": "Moja", "voice_id": "asha"}), &[KEY])
        .await
        .assert_ok();
    let other = world
        .post_with(
            SPEECH,
            &json!({"text": "Mbili", "voice_id": "asha"}),
            &[KEY],
        )
        .await;
    other.assert_problem(422, "idempotency_mismatch");
}

#[tokio::test]
async fn a_refusal_is_not_kept_so_a_retry_can_succeed() {
    let world = World::new().await;
    let body = json!({"text": "Karibu", "voice_id": "asha"});
    world
        .post_with(SPEECH, &body, &[KEY])
        .await
        .assert_problem(503, "warming_up");
    world.remember_speech(&body, b"RIFF");
    for _ in 0..100 {
        let again = world.post_with(SPEECH, &body, &[KEY]).await;
        if again.status.is_success() {
            return;
        }
        again.assert_problem(409, "idempotency_in_flight");
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    panic!("the key was never given up");
}

#[tokio::test]
async fn a_recording_is_the_same_whatever_its_boundary() {
    let world = World::new().await;
    let wav = silent_wav(1.0);
    let recording = [("file", Some(("a.wav", "audio/wav")), wav.as_slice())];
    world
        .transcribe_with(&recording, &[KEY])
        .await
        .assert_problem(503, "warming_up");
    let other = silent_wav(2.0);
    let other = [("file", Some(("a.wav", "audio/wav")), other.as_slice())];
    // The first was refused and given up, so the key is free for another recording.
    let answer = world.transcribe_with(&other, &[KEY]).await;
    assert!(
        matches!(answer.status.as_u16(), 503 | 409),
        "{}",
        answer.status
    );
}

#[tokio::test]
async fn a_key_that_is_not_plain_or_comes_with_a_stream_is_refused() {
    let world = World::new().await;
    let body = json!({"text": "Habari", "voice_id": "asha"});
    world.remember_speech(&body, b"RIFF");
    for bad in ["", "has space", &"x".repeat(256)] {
        let answer = world
            .post_with(SPEECH, &body, &[("idempotency-key", bad)])
            .await;
        answer.assert_problem(422, "validation_failed");
    }
    let stream = json!({"text": "Habari", "voice_id": "asha", "stream": "audio"});
    world
        .post_with(SPEECH, &stream, &[KEY])
        .await
        .assert_problem(422, "validation_failed");
}

#[tokio::test]
async fn one_workspaces_key_means_nothing_to_another() {
    let (one, other) = (World::new().await, World::new().await);
    let body = json!({"text": "Habari", "voice_id": "asha"});
    for world in [&one, &other] {
        world.remember_speech(&body, b"RIFF");
        let answer = world.post_with(SPEECH, &body, &[KEY]).await;
        assert_eq!(answer.assert_ok().header("idempotency-replayed"), "");
    }
}
