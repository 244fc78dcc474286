use sauti_store::NewKey;
use serde_json::json;

use crate::support::{CREDIT_MICRO, SPEECH, World, silent_wav, text_of};

/// Releases go through the ledger's writer behind the answer; an operation after them in the same
/// queue tells that they are done.
async fn settle_down(world: &World) {
    for _ in 0..200 {
        if world.app.store.open_reservations().await.unwrap() == 0 {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    panic!("a reservation is still open");
}

#[tokio::test]
async fn cached_speech_is_charged_its_fraction_exactly_once_per_request() {
    let world = World::new().await;
    let body = json!({"text": text_of(1_000), "voice_id": "asha"});
    world.remember_speech(&body, b"RIFF");
    for request in 1..=3 {
        world.post(SPEECH, &body).await.assert_ok();
        assert_eq!(
            world.balance_micro().await,
            CREDIT_MICRO - request * 1_000_000
        );
    }
    world.assert_ledger_is_sound().await;
}

#[tokio::test]
async fn what_one_workspace_had_spoken_is_no_hit_for_another() {
    let mut world = World::new().await;
    let body = json!({"text": "Namba yako ya siri ni 4827.", "voice_id": "asha"});
    world.remember_speech(&body, b"RIFF");
    world.post(SPEECH, &body).await.assert_ok();
    let (store, owner) = (world.app.store.clone(), world.account_id.clone());
    let other = store.create_workspace(Some(&owner), "Jirani", "KES").await;
    world.workspace_id = other.unwrap().id;
    let paid = store.credit(&world.workspace_id, CREDIT_MICRO, "test", "second");
    paid.await.unwrap();
    world.key = world.make_key(world.new_key()).await;
    // It would have to be made, and there is no engine here.
    let missed = world.post(SPEECH, &body).await;
    missed.assert_problem(503, "warming_up");
}

#[tokio::test]
async fn what_the_balance_does_not_cover_is_refused_with_both_numbers() {
    let world = World::new().await;
    let body = json!({"text": text_of(5_000), "voice_id": "asha"});
    world.remember_speech(&body, b"RIFF");
    for _ in 0..20 {
        world.post(SPEECH, &body).await.assert_ok();
    }
    assert_eq!(world.balance_micro().await, 0);
    let refused = world
        .post(SPEECH, &body)
        .await
        .assert_problem(402, "balance_insufficient");
    assert_eq!(refused["required"], 5_000_000);
    assert_eq!(refused["available"], 0);
    world.assert_ledger_is_sound().await;
}

#[tokio::test]
async fn many_requests_at_once_never_spend_more_than_there_is() {
    let world = World::with(&[("limits.concurrent_requests", "100")]).await;
    let body = json!({"text": text_of(5_000), "voice_id": "asha"});
    world.remember_speech(&body, b"RIFF");
    let answers = futures_util::future::join_all((0..30).map(|_| world.post(SPEECH, &body))).await;
    let paid = answers
        .iter()
        .filter(|answer| answer.status.is_success())
        .count();
    assert_eq!(paid, 20);
    assert_eq!(
        answers
            .iter()
            .filter(|answer| answer.status.as_u16() == 402)
            .count(),
        10
    );
    assert_eq!(world.balance_micro().await, 0);
    world.assert_ledger_is_sound().await;
}

#[tokio::test]
async fn a_key_stops_at_its_spend_cap_while_another_goes_on() {
    let world = World::new().await;
    let body = json!({"text": text_of(1_000), "voice_id": "asha"});
    world.remember_speech(&body, b"RIFF");
    let capped = world
        .make_key(NewKey {
            spend_cap_micro: Some(1_500_000),
            ..world.new_key()
        })
        .await;
    let open = world.key.clone();
    let world = World {
        key: capped,
        ..world
    };
    world.post(SPEECH, &body).await.assert_ok();
    let refused = world
        .post(SPEECH, &body)
        .await
        .assert_problem(402, "spend_cap_reached");
    assert_eq!(refused["available"], 500_000);
    let world = World { key: open, ..world };
    world.post(SPEECH, &body).await.assert_ok();
    assert_eq!(world.balance_micro().await, CREDIT_MICRO - 2_000_000);
}

#[tokio::test]
async fn work_that_fails_costs_nothing() {
    let world = World::new().await;
    world
        .post(SPEECH, &json!({"text": "Habari", "voice_id": "asha"}))
        .await
        .assert_problem(503, "warming_up");
    for stream in ["audio", "sse"] {
        let body = json!({"text": "Habari", "voice_id": "asha", "stream": stream});
        world
            .post(SPEECH, &body)
            .await
            .assert_problem(503, "warming_up");
    }
    let wav = silent_wav(1.0);
    let recording = [("file", Some(("a.wav", "audio/wav")), wav.as_slice())];
    world
        .transcribe(&recording)
        .await
        .assert_problem(503, "warming_up");
    settle_down(&world).await;
    assert_eq!(world.balance_micro().await, CREDIT_MICRO);
    world.assert_ledger_is_sound().await;
}

#[tokio::test]
async fn an_answer_names_the_balance_after_its_own_charge() {
    let world = World::new().await;
    let body = json!({"text": "Moja mbili tatu", "voice_id": "asha"});
    world.remember_speech(&body, b"RIFF");
    let first = world.post(SPEECH, &body).await;
    let second = world.post(SPEECH, &body).await;
    let cost: i64 = first.header("sauti-cost").parse().unwrap();
    assert_eq!(
        first.header("sauti-balance"),
        (CREDIT_MICRO - cost).to_string()
    );
    assert_eq!(
        second.header("sauti-balance"),
        (CREDIT_MICRO - 2 * cost).to_string()
    );
}
