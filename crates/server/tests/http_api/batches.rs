//! Many texts or recordings in one order.

use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{Method, StatusCode, header};
use axum::routing::get;
use sauti_server::background::Background;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::support::{Answer, CREDIT_MICRO, Part, World, multipart, silent_wav};
use crate::webhooks::receiver;
use crate::with_models::ready_world_with;

pub const BATCHES: &str = "/v1/batches";

pub fn texts(count: usize) -> Value {
    let items: Vec<_> = (0..count)
        .map(|n| json!({"custom_id": format!("t{n}"), "text": format!("Habari namba {n}.")}))
        .collect();
    json!({"operation": "speech", "items": items, "defaults": {"voice_id": "asha"}})
}

pub async fn post_form(world: &World, parts: &[Part<'_>]) -> Answer {
    let (content_type, body) = multipart(parts);
    let request = world
        .request(Method::POST, BATCHES)
        .header("content-type", content_type);
    world.send(request.body(Body::from(body)).unwrap()).await
}

/// Asks seldom enough for the limit of requests a minute.
pub async fn finished(world: &World, batch_id: &str) -> Value {
    for _ in 0..3_000 {
        let batch = world.get(&format!("{BATCHES}/{batch_id}")).await;
        let batch = batch.assert_ok().json();
        if batch["status"] != "running" {
            return batch;
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    panic!("the batch does not end");
}

pub async fn results(world: &World, batch: &Value) -> Vec<Value> {
    let answer = world.get(batch["results_url"].as_str().unwrap()).await;
    answer.assert_ok();
    assert_eq!(
        answer.header("content-type"),
        "application/jsonl; charset=utf-8"
    );
    assert!(
        answer
            .header("content-disposition")
            .starts_with("attachment")
    );
    let text = String::from_utf8(answer.body.to_vec()).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

pub fn id_of(answer: &Answer) -> String {
    assert_eq!(answer.status, StatusCode::CREATED, "{:?}", answer.json());
    answer.json()["batch_id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn texts_that_cannot_be_said_are_refused_at_once_and_by_number() {
    let world = World::new().await;
    let body = json!({"operation": "speech", "defaults": {"voice_id": "asha"}, "items": [
        {"text": "Habari."},
        {"text": "%a ".repeat(1_666)},
        {"text": "<speak>\n<dance>Habari.</dance></speak>"},
        {"text": "\u{1F600}"},
    ]});
    let problem = world.post(BATCHES, &body).await;
    let problem = problem.assert_problem(422, "validation_failed");
    let errors = problem["errors"].as_array().unwrap();
    let fields: Vec<_> = errors.iter().map(|error| &error["field"]).collect();
    assert_eq!(fields, ["items[1].text", "items[2].text", "items[3].text"]);
    let message = |at: usize| errors[at]["message"].as_str().unwrap();
    assert!(message(0).contains("longer to say"), "{}", message(0));
    assert!(
        message(1).contains("SSML, line 2: <dance>"),
        "{}",
        message(1)
    );
    assert!(world.get(BATCHES).await.json()["batches"] == json!([]));
}

#[tokio::test]
async fn an_item_says_otherwise_by_the_other_name_of_a_field_too() {
    let world = World::new().await;
    let body = json!({"operation": "speech", "defaults": {"voice_id": "asha", "output_format": "ulaw_8000"}, "items": [
        {"text": "Habari.", "voice": "juma"},
        {"input": "Habari.", "response_format": "mp3"},
    ]});
    let answer = world.post(BATCHES, &body).await;
    assert_eq!(answer.status, StatusCode::CREATED, "{:?}", answer.json());
    let body = json!({"operation": "speech", "defaults": {"voice_id": "asha"}, "items": [
        {"text": "Habari.", "self_check": true},
    ]});
    let problem = world.post(BATCHES, &body).await;
    let problem = problem.assert_problem(422, "validation_failed");
    assert_eq!(problem["errors"][0]["field"], "items[0].self_check");
}

#[tokio::test]
async fn an_order_is_checked_whole_before_it_is_accepted() {
    let world = World::new().await;
    let body = json!({"operation": "speech", "items": [
        {"custom_id": "a", "text": "Habari.", "voice_id": "asha"},
        {"custom_id": "a", "text": "Habari.", "voice_id": "nobody"},
        {"custom_id": 7, "text": "", "voice_id": "asha"},
        {"text": "Habari.", "voice_id": "asha", "stream": "audio"},
    ]});
    let problem = world.post(BATCHES, &body).await;
    let problem = problem.assert_problem(422, "validation_failed");
    let named: Vec<_> = problem["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|e| e["field"].as_str().unwrap())
        .collect();
    assert_eq!(
        named,
        [
            "items[1].custom_id",
            "items[1].voice_id",
            "items[2].custom_id",
            "items[2].text",
            "items[3].stream"
        ]
    );
    let body = json!({"operation": "speech", "items": [
        {"text": "Habari.", "voice_id": "asha"}, "Habari.", {"text": "Habari.", "voice_id": "nobody"},
    ]});
    let problem = world.post(BATCHES, &body).await.json();
    assert_eq!(
        problem["errors"][0]["message"],
        "items[1] must be an object."
    );
    assert_eq!(problem["errors"][1]["field"], "items[2].voice_id");
    for (body, code) in [
        (
            json!({"operation": "speech", "items": []}),
            "validation_failed",
        ),
        (
            json!({"operation": "sing", "items": [{}]}),
            "validation_failed",
        ),
        (json!({"operation": "speech"}), "validation_failed"),
        (
            json!({"operation": "speech", "items": [5]}),
            "validation_failed",
        ),
        (
            json!({"operation": "transcription", "items": [{"url": "http://169.254.169.254/x"}]}),
            "validation_failed",
        ),
        (
            json!({"operation": "transcription", "items": [{"custom_id": "x"}]}),
            "validation_failed",
        ),
    ] {
        world.post(BATCHES, &body).await.assert_problem(422, code);
    }
    let listed = world.get(BATCHES).await.assert_ok().json();
    assert_eq!(listed["batches"], json!([]));
    assert_eq!(world.balance_micro().await, CREDIT_MICRO);
}

#[tokio::test]
async fn a_form_names_its_recordings_once_each() {
    let world = World::new().await;
    let wav = silent_wav(0.1);
    let file = |name| ("file", Some((name, "audio/wav")), wav.as_slice());
    let twice = post_form(&world, &[file("a.wav"), file("a.wav")]).await;
    twice.assert_problem(422, "validation_failed");
    let lines = b"{\"custom_id\":\"one\",\"file\":\"a.wav\"}\n\n{\"file\":\"b.wav\"}\n";
    let missing = post_form(&world, &[file("a.wav"), ("items", None, lines)]).await;
    assert_eq!(
        missing.assert_problem(422, "validation_failed")["errors"][0]["field"],
        "items[1].file"
    );
    let none = post_form(&world, &[("operation", None, b"transcription")]).await;
    assert_eq!(
        none.assert_problem(422, "validation_failed")["errors"][0]["field"],
        "file"
    );
    let unnamed = post_form(
        &world,
        &[
            file("a.wav"),
            file("b.wav"),
            file("c.wav"),
            ("items", None, lines),
        ],
    )
    .await;
    unnamed.assert_problem(422, "validation_failed");
    let broken = post_form(&world, &[file("a.wav"), ("items", None, b"{\"file\":")]).await;
    broken.assert_problem(400, "malformed_json");
    let marked = [b"\xef\xbb\xbf", lines.as_slice()].concat();
    let good = post_form(
        &world,
        &[file("b.wav"), ("items", None, &marked), file("a.wav")],
    )
    .await;
    let batch = good.json();
    id_of(&good);
    assert_eq!(
        (batch["items"].as_i64(), batch["counts"]["waiting"].as_i64()),
        (Some(2), Some(2))
    );
}

#[tokio::test]
async fn a_small_order_does_not_become_a_large_one() {
    let world = World::with(&[("batches.items_max", "2")]).await;
    let wav = silent_wav(0.1);
    let long = "z".repeat(50_000);
    let parts: [Part; 4] = [
        ("prompt", None, b"Duka la Njeri"),
        ("x_trace", None, long.as_bytes()),
        ("file", Some(("a.wav", "audio/wav")), &wav),
        ("file", Some(("b.wav", "audio/wav")), &wav),
    ];
    id_of(&post_form(&world, &parts).await);
    for item in world.app.store.claim_batch_items(2).await.unwrap() {
        let kept: Value = serde_json::from_str(&item.request).unwrap();
        assert_eq!(kept["prompt"], "Duka la Njeri");
        assert!(item.request.len() < 500, "{}", item.request.len());
    }

    let mut order = texts(2);
    order["defaults"]["x_trace"] = json!("z".repeat(200_000));
    let refused = world.post(BATCHES, &order).await;
    refused.assert_problem(413, "body_too_large");
    let many = vec![json!({"a": 0}); 300];
    let mut order = texts(2);
    order["items"][0]["x_trace"] = json!(many);
    let refused = world.post(BATCHES, &order).await;
    refused.assert_problem(413, "body_too_large");
    let line = json!({"file": "a.wav", "x_trace": many}).to_string();
    let refused = post_form(&world, &[("items", None, line.as_bytes())]).await;
    refused.assert_problem(413, "body_too_large");
}

#[tokio::test]
async fn a_retried_order_is_one_order_and_a_cancelled_one_costs_nothing() {
    let world = World::new().await;
    let key = [("idempotency-key", "order-1")];
    let made = world.post_with(BATCHES, &texts(3), &key).await;
    let batch_id = id_of(&made);
    let again = world.post_with(BATCHES, &texts(3), &key).await;
    assert_eq!(again.assert_ok().status, StatusCode::OK);
    assert_eq!(again.header("idempotency-replayed"), "true");
    assert_eq!(again.json()["batch_id"], batch_id.as_str());
    world
        .post_with(BATCHES, &texts(4), &key)
        .await
        .assert_problem(422, "idempotency_mismatch");

    let path = format!("{BATCHES}/{batch_id}");
    world
        .get(&format!("{path}/results"))
        .await
        .assert_problem(409, "conflict");
    let cancelled = world.post(&format!("{path}/cancel"), &json!({})).await;
    let batch = cancelled.assert_ok().json();
    assert_eq!(
        (
            batch["status"].as_str(),
            batch["counts"]["cancelled"].as_i64()
        ),
        (Some("cancelled"), Some(3))
    );
    let lines = results(&world, &batch).await;
    assert!(
        lines
            .iter()
            .all(|line| line["status"] == "cancelled" && line["cost_micro"] == 0),
        "{lines:?}"
    );
    assert_eq!(world.balance_micro().await, CREDIT_MICRO);
    world.assert_ledger_is_sound().await;

    // It is over: cancelling it again is no deed.
    let again = world.post(&format!("{path}/cancel"), &json!({})).await;
    assert_eq!(again.assert_ok().json(), batch);
    let trail = world.get("/v1/audit").await.assert_ok().json().to_string();
    assert_eq!(trail.matches("batch.cancelled").count(), 1, "{trail}");
}

#[tokio::test]
async fn another_workspace_sees_nothing_of_it_and_a_key_needs_the_permission() {
    let world = World::new().await;
    let batch_id = id_of(&world.post(BATCHES, &texts(1)).await);
    let mut other = World::new().await;
    other.app = world.app.clone();
    let workspace = world
        .app
        .store
        .create_workspace(Some(&world.account_id), "Nyingine", "KES")
        .await
        .unwrap();
    other.workspace_id = workspace.id;
    other.account_id = world.account_id.clone();
    other.router = world.router.clone();
    other.key = other.make_key(other.new_key()).await;
    let path = format!("{BATCHES}/{batch_id}");
    let wrong = other.get(&format!("{path}/items/x/audio")).await;
    let wrong = wrong.assert_problem(422, "validation_failed");
    assert_eq!(wrong["errors"][0]["field"], "index");
    for path in [
        path.clone(),
        format!("{path}/results"),
        format!("{path}/items/0/audio"),
    ] {
        other.get(&path).await.assert_problem(404, "not_found");
    }
    other
        .post(&format!("{path}/cancel"), &json!({}))
        .await
        .assert_problem(404, "not_found");
    assert_eq!(other.get(BATCHES).await.json()["batches"], json!([]));

    other.key = world.key_for(sauti_store::Permission::Transcription).await;
    other
        .post(BATCHES, &texts(1))
        .await
        .assert_problem(403, "permission_missing");
}

/// A host with recordings, and with answers that must not be believed.
async fn media(recording: Vec<u8>) -> String {
    let router = Router::new()
        .route("/good.wav", get(move || async move { recording }))
        .route(
            "/away",
            get(|| async { (StatusCode::FOUND, [(header::LOCATION, "/good.wav")]) }),
        );
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });
    origin
}

#[tokio::test(flavor = "multi_thread")]
async fn texts_become_sounds_and_sounds_texts_each_paid_once() {
    let recording = silent_wav(1.0);
    let origin = media(recording.clone()).await;
    let settings = [
        ("webhooks.allow_private_addresses", "true"),
        ("batches.allow_private_addresses", "true"),
        ("batches.url_origins", origin.as_str()),
    ];
    let world = ready_world_with(&settings).await;
    let _background = Background::start(&world.app);
    let (hook, mut told) = receiver().await;
    let hook = json!({"url": hook, "events": ["batch.finished"]});
    world.post("/v1/webhooks", &hook).await.assert_ok();

    let batch = finished(&world, &id_of(&world.post(BATCHES, &texts(4)).await)).await;
    let lines = results(&world, &batch).await;
    assert_eq!(batch["counts"]["done"], 4, "{lines:?}");
    assert_eq!(lines[2]["custom_id"], "t2");
    let sound = world.get(lines[2]["audio_url"].as_str().unwrap()).await;
    assert_eq!(sound.assert_ok().header("content-type"), "audio/wav");
    assert_eq!(sound.header("content-length"), sound.body.len().to_string());
    assert_eq!(&sound.body[..4], b"RIFF");
    let cost: i64 = lines
        .iter()
        .map(|line| line["cost_micro"].as_i64().unwrap())
        .sum();
    assert_eq!(batch["cost_micro"], cost);
    assert_eq!(world.balance_micro().await, CREDIT_MICRO - cost);
    let (_, event) = tokio::time::timeout(Duration::from_secs(60), told.recv())
        .await
        .unwrap()
        .unwrap();
    let event: Value = serde_json::from_slice(&event).unwrap();
    assert_eq!(
        (&event["type"], &event["data"]["done"]),
        (&json!("batch.finished"), &json!(4))
    );

    let urls = json!({"operation": "transcription", "items": [
        {"custom_id": "good", "url": format!("{origin}/good.wav"), "response_format": "verbose_json"},
        {"custom_id": "away", "url": format!("{origin}/away")},
    ]});
    let fetched = id_of(&world.post(BATCHES, &urls).await);
    let parts: [Part<'_>; 4] = [
        ("file", Some(("said.wav", "audio/wav")), &sound.body),
        ("file", Some(("silent.wav", "audio/wav")), &recording),
        (
            "file",
            Some(("broken.wav", "audio/wav")),
            b"RIFF this is no sound",
        ),
        ("response_format", None, b"text"),
    ];
    let heard = finished(&world, &id_of(&post_form(&world, &parts).await)).await;
    let lines = results(&world, &heard).await;
    assert!(
        lines[0]["result"]
            .as_str()
            .unwrap()
            .to_lowercase()
            .contains("habari"),
        "{lines:?}"
    );
    assert_eq!(
        (&lines[1]["result"], &lines[1]["seconds"]),
        (&json!("\n"), &json!(1.0))
    );
    assert_eq!(
        (&lines[2]["status"], &lines[2]["cost_micro"]),
        (&json!("failed"), &json!(0))
    );
    assert!(lines[2]["error"]["code"].is_string());

    let fetched = finished(&world, &fetched).await;
    let lines = results(&world, &fetched).await;
    assert_eq!(lines[0]["result"]["no_speech"], true, "{lines:?}");
    assert_eq!(lines[1]["error"]["code"], "recording_unreachable");
    assert!(
        lines[1]["error"]["message"]
            .as_str()
            .unwrap()
            .contains("302"),
        "{lines:?}"
    );
    world.assert_ledger_is_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_item_that_cannot_be_paid_fails_and_the_others_go_on() {
    let world = ready_world_with(&[("prices.per_1000_characters_micro", "1_000_000_000")]).await;
    let _background = Background::start(&world.app);
    let dear = "Habari ".repeat(20);
    let body = json!({"operation": "speech", "defaults": {"voice_id": "juma"}, "items": [
        {"custom_id": "dear", "text": dear}, {"custom_id": "cheap", "text": "Asante."}]});
    let batch = finished(&world, &id_of(&world.post(BATCHES, &body).await)).await;
    let lines = results(&world, &batch).await;
    assert_eq!(
        lines[0]["error"]["code"], "balance_insufficient",
        "{lines:?}"
    );
    assert_eq!(lines[1]["status"], "done");
    world.assert_ledger_is_sound().await;
}
