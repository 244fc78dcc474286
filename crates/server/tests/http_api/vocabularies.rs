//! Vocabularies of a workspace's own: built in the background, heard with, and nobody else's.

use std::time::Duration;

use axum::body::Body;
use axum::http::Method;
use sauti_server::background::Background;
use serde_json::{Value, json};

use crate::batches::{BATCHES, post_form};
use crate::support::{Answer, Part, SPEECH, World, silent_wav};
use crate::with_models::ready_world;

const NAME: &str = "Xabunela";

async fn put(world: &World, name: &str, content_type: &str, body: &str) -> Answer {
    let request = world
        .request(Method::PUT, &format!("/v1/vocabularies/{name}"))
        .header("content-type", content_type)
        .body(Body::from(body.to_owned()));
    world.send(request.unwrap()).await
}

async fn until_ready(world: &World, name: &str) -> Value {
    loop {
        let shown = world.get(&format!("/v1/vocabularies/{name}")).await;
        let shown = shown.assert_ok().json();
        assert_ne!(shown["state"], "failed", "{shown}");
        if shown["state"] == "ready" {
            return shown;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

async fn heard_with(world: &World, sound: &[u8], vocabulary: &str) -> Answer {
    let file = ("file", Some(("a.wav", "audio/wav")), sound);
    let named = ("vocabulary", None, vocabulary.as_bytes());
    world.transcribe(&[file, named]).await
}

/// What is left unbuilt by a process that ended is built by the next one: here the first one never begins.
#[tokio::test(flavor = "multi_thread")]
async fn a_word_that_nobody_knew_is_heard_once_its_vocabulary_is_built() {
    let world = ready_world().await;
    let body = json!({"text": "Tuma ujumbe kwa Zabunela kesho asubuhi.", "voice_id": "asha"});
    let spoken = world.post(SPEECH, &body).await;
    let sound = &spoken.assert_ok().body;
    let plain = heard_with(&world, sound, "").await.assert_ok().json();
    assert!(!plain["text"].as_str().unwrap().contains(NAME), "{plain}");

    let body = json!({"words": [{"word": NAME, "sounds": ["zabunela"]}]});
    let set = put(&world, "majina", "application/json", &body.to_string()).await;
    assert_eq!(set.status, 202);
    assert_eq!(set.json()["state"], "building");
    assert_eq!(set.json()["version"], 1);
    let early = heard_with(&world, sound, "majina").await;
    assert_eq!(early.status, 422);
    assert_eq!(early.json()["errors"][0]["field"], "vocabulary");

    let _background = Background::start(&world.app);
    until_ready(&world, "majina").await;
    let heard = heard_with(&world, sound, "majina").await.assert_ok().json();
    assert!(heard["text"].as_str().unwrap().contains(NAME), "{heard}");

    let text = "Xabunela anakuja.\nTuma kwa Xabunela.";
    let set = put(&world, "majina", "text/plain; charset=utf-8", text).await;
    assert_eq!(set.json()["version"], 2);
    let shown = until_ready(&world, "majina").await;
    assert_eq!((&shown["version"], &shown["words"]), (&json!(2), &json!(4)));
}

#[tokio::test]
async fn a_vocabulary_is_private_bounded_and_can_be_removed() {
    let world = World::with(&[("limits.vocabularies_max", "1")]).await;
    let set = put(&world, "majina", "text/plain", "Wanjiku anakuja").await;
    assert_eq!(set.status, 202);
    let listed = world.get("/v1/vocabularies").await.assert_ok().json();
    assert_eq!(listed["vocabularies"][0]["name"], "majina");
    let refused = put(&world, "mengine", "text/plain", "Juma").await;
    let detail = refused.assert_problem(409, "conflict")["detail"].clone();
    assert_eq!(
        detail,
        "A workspace may have 1 vocabularies: remove one first."
    );

    for (name, kind, body, status) in [
        ("majina", "text/plain", "?!", 422),
        ("Majina", "text/plain", "Juma", 422),
        (
            "majina",
            "application/json",
            r#"{"words": [{"word": "--"}]}"#,
            422,
        ),
        ("majina", "application/json", r#"{"words": "Juma"}"#, 422),
        (
            "majina",
            "application/json",
            r#"{"words": [{"word": "Juma", "sounds": "juma"}]}"#,
            422,
        ),
        (
            "majina",
            "application/json",
            r#"{"words": [{"word": "Juma", "sound": ["juma"]}]}"#,
            422,
        ),
        ("majina", "application/json", "{}", 422),
        ("majina", "application/xml", "<a/>", 415),
    ] {
        let refused = put(&world, name, kind, body).await;
        assert_eq!(refused.status, status, "{body}");
    }
    let words = r#"{"words": [{"word": "Juma"}, {"word": "M-Pesa", "sounds": ["123"]}, {"word": "", "sounds": ["juma"]}]}"#;
    let lines = "\u{feff}Wanjiku anakuja\n\t\nM-Pesa\tem pesa\t\nM-Pesa\t\n\tem pesa";
    for (kind, body, named) in [
        (
            "application/json",
            words,
            ["words[1].sounds must be", "words[2].word is empty"],
        ),
        (
            "text/plain",
            lines,
            ["text: line 4 has", "text: line 5 has"],
        ),
    ] {
        let refused = put(&world, "majina", kind, body).await;
        let refused = refused.assert_problem(422, "validation_failed");
        let errors = refused["errors"].as_array().unwrap();
        assert_eq!(errors.len(), named.len(), "{refused}");
        for (error, named) in errors.iter().zip(named) {
            let message = error["message"].as_str().unwrap();
            assert!(message.starts_with(named), "{message}");
        }
    }
    let removed = world.request(Method::DELETE, "/v1/vocabularies/majina");
    let removed = world.send(removed.body(Body::empty()).unwrap()).await;
    assert_eq!(removed.status, 204);
    assert_eq!(world.get("/v1/vocabularies/majina").await.status, 404);
}

/// A key that names a vocabulary wrongly learns it before anything is ordered, by the item's number.
#[tokio::test(flavor = "multi_thread")]
async fn a_batch_that_names_no_vocabulary_of_ours_is_refused_at_once() {
    let world = ready_world().await;
    let _background = Background::start(&world.app);
    let set = put(&world, "majina", "text/plain", "Wanjiku anakuja").await;
    assert_eq!(set.status, 202);
    until_ready(&world, "majina").await;
    let items = r#"{"file": "a.wav", "vocabulary": "majina"}
{"file": "b.wav", "vocabulary": "haipo"}
{"file": "c.wav"}"#;
    let sound = silent_wav(1.0);
    let order = async |items: &str| {
        let mut parts: Vec<Part<'_>> = vec![("items", None, items.as_bytes())];
        for name in ["a.wav", "b.wav", "c.wav"] {
            parts.push(("file", Some((name, "audio/wav")), &sound));
        }
        post_form(&world, &parts).await
    };
    let refused = order(items).await;
    let refused = refused.assert_problem(422, "validation_failed");
    assert_eq!(refused["errors"].as_array().unwrap().len(), 1);
    assert_eq!(refused["errors"][0]["field"], "items[1].vocabulary");
    assert_eq!(world.get(BATCHES).await.json()["batches"], json!([]));
    let accepted = order(&items.replace("haipo", "majina")).await;
    assert_eq!(accepted.status, 201, "{}", accepted.json());
}
