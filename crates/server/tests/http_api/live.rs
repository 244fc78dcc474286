//! The live WebSocket on a real socket, with real speech and the real recogniser.

use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{WebSocketStream, client_async};

use sauti_store::NewKey;

use crate::real_port::{Running, serve};
use crate::support::{CREDIT_MICRO, SPEECH, World, silent_wav};
use crate::with_models::{SENTENCE, call_of_two, ready_world, ready_world_with};

type Socket = WebSocketStream<TcpStream>;

const RATE_HZ: usize = 16_000;
/// At the default price of a minute.
const SECOND_MICRO: i64 = 1_500_000 / 60;
/// What is set aside at a time.
const INTERVAL_MICRO: i64 = 15 * SECOND_MICRO;

async fn listen(running: &Running, key: &str, query: &str) -> Result<Socket, (u16, String)> {
    let address = running.address;
    let url = format!("ws://{address}/v1/audio/transcriptions/live?{query}");
    let mut request = url.into_client_request().unwrap();
    let bearer = format!("Bearer {key}").parse().unwrap();
    request.headers_mut().insert("authorization", bearer);
    let stream = TcpStream::connect(address).await.unwrap();
    match client_async(request, stream).await {
        Ok((socket, _)) => Ok(socket),
        Err(Error::Http(refusal)) => {
            let body = refusal.body().clone().unwrap_or_default();
            let body: Value = serde_json::from_slice(&body).unwrap();
            let code = body["code"].as_str().unwrap_or_default().to_owned();
            Err((refusal.status().as_u16(), code))
        }
        Err(error) => panic!("{error}"),
    }
}

async fn send_sound(socket: &mut Socket, pcm: &[u8]) {
    // 100 ms and one byte: samples may be cut in two by a message's end.
    for piece in pcm.chunks(RATE_HZ / 10 * 2 + 1) {
        let message = Message::Binary(piece.to_vec().into());
        socket.send(message).await.unwrap();
    }
}

/// Every message until the server closes.
async fn messages(mut socket: Socket) -> Vec<Value> {
    let mut all = Vec::new();
    while let Some(message) = socket.next().await {
        match message.unwrap() {
            Message::Text(text) => all.push(serde_json::from_str(&text).unwrap()),
            Message::Close(_) => break,
            _ => {}
        }
    }
    all
}

fn of_kind<'a>(all: &'a [Value], kind: &str) -> Vec<&'a Value> {
    all.iter()
        .filter(|message| message["type"] == kind)
        .collect()
}

async fn settles_at(world: &World, expected_micro: i64) {
    world.until_nothing_is_held().await;
    assert_eq!(world.balance_micro().await, expected_micro);
}

/// The sentence as samples, and the balance after it was spoken.
async fn sentence(world: &World, format: &str) -> (Vec<u8>, i64) {
    let body = json!({"text": SENTENCE, "voice_id": "asha", "output_format": format});
    let spoken = world.post(SPEECH, &body).await;
    let cost_micro: i64 = spoken.assert_ok().header("sauti-cost").parse().unwrap();
    (
        spoken.body.to_vec(),
        world.balance_micro().await.min(CREDIT_MICRO - cost_micro),
    )
}

async fn finish(socket: &mut Socket) {
    let finish = Message::Text(json!({"type": "finish"}).to_string().into());
    socket.send(finish).await.unwrap();
}

/// The next message of this kind.
async fn next_of_kind(socket: &mut Socket, kind: &str) -> Value {
    while let Some(message) = socket.next().await {
        if let Message::Text(text) = message.unwrap() {
            let message: Value = serde_json::from_str(&text).unwrap();
            if message["type"] == kind {
                return message;
            }
        }
    }
    panic!("the session ended without {kind}");
}

fn heard_rightly(all: &[Value]) -> String {
    let texts: Vec<&str> = of_kind(all, "final")
        .iter()
        .map(|message| message["segment"]["text"].as_str().unwrap())
        .collect();
    let errors = sauti_text::compare::word_errors(SENTENCE, &texts.join(" "));
    assert!(errors.rate() < 0.3, "{all:?}");
    texts.join(" ")
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_spoken_live_is_heard_while_it_is_spoken_and_paid_by_the_second() {
    let world = ready_world().await;
    let running = serve(&world).await;
    let (sound, before_micro) = sentence(&world, "raw_pcm_16000").await;

    let mut socket = listen(&running, &world.key, "rate=16000").await.unwrap();
    send_sound(&mut socket, &sound).await;
    finish(&mut socket).await;
    let all = messages(socket).await;

    let partials = of_kind(&all, "partial");
    assert!(
        partials.iter().any(|partial| partial["text"] != ""),
        "{all:?}"
    );
    let done = all.last().unwrap();
    assert_eq!(done["type"], "done", "{all:?}");
    assert_eq!(done["text"], heard_rightly(&all));
    let seconds = sound.len() as f64 / 2.0 / RATE_HZ as f64;
    assert!((done["seconds"].as_f64().unwrap() - seconds).abs() < 0.01);
    let cost_micro = seconds.ceil() as i64 * SECOND_MICRO;
    assert_eq!(done["cost_micro"], cost_micro);
    assert_eq!(done["balance_micro"], before_micro - cost_micro);
    assert_eq!(world.balance_micro().await, before_micro - cost_micro);
    world.assert_ledger_is_sound().await;

    let statement = world.get("/v1/statement").await;
    let heard_ms: i64 = statement.assert_ok().json()["rows"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|row| row["operation"] == "transcription")
        .map(|row| row["audio_ms"].as_i64().unwrap())
        .sum();
    assert_eq!(heard_ms, (seconds * 1_000.0).round() as i64);
    // Other tests of this process have live sessions too.
    let metrics = world.get("/metrics").await;
    let metrics = String::from_utf8(metrics.body.to_vec()).unwrap();
    let figure = |name: &str| {
        let line = metrics.lines().find_map(|line| line.strip_prefix(name));
        line.unwrap().trim().parse::<f64>().unwrap()
    };
    assert!(figure("sauti_live_sessions_total{ending=\"finished\"}") >= 1.0);
    assert!(figure("sauti_live_audio_milliseconds_total") >= (seconds * 1_000.0).floor());
}

#[tokio::test(flavor = "multi_thread")]
async fn telephone_sound_is_heard_live_as_it_comes() {
    let world = ready_world().await;
    let running = serve(&world).await;
    for encoding in ["ulaw", "alaw"] {
        let (sound, _) = sentence(&world, &format!("raw_{encoding}_8000")).await;
        let query = format!("encoding={encoding}");
        let mut socket = listen(&running, &world.key, &query).await.unwrap();
        send_sound(&mut socket, &sound).await;
        finish(&mut socket).await;
        let all = messages(socket).await;
        heard_rightly(&all);
        let seconds = sound.len() as f64 / 8_000.0;
        let told = all.last().unwrap()["seconds"].as_f64().unwrap();
        assert!((told - seconds).abs() < 0.01, "{told}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_caller_who_hangs_up_after_the_final_pays_for_what_was_told() {
    let world = ready_world().await;
    let running = serve(&world).await;
    let (mut sound, before_micro) = sentence(&world, "raw_pcm_16000").await;
    sound.extend(vec![0; 2 * 2 * RATE_HZ]);
    let mut socket = listen(&running, &world.key, "").await.unwrap();
    send_sound(&mut socket, &sound).await;
    let heard = next_of_kind(&mut socket, "final").await;
    drop(socket);
    world.until_nothing_is_held().await;
    let paid_micro = before_micro - world.balance_micro().await;
    let end_s = heard["segment"]["end"].as_f64().unwrap();
    let sent_s = sound.len() as f64 / 2.0 / RATE_HZ as f64;
    assert!(
        paid_micro >= end_s.ceil() as i64 * SECOND_MICRO,
        "{paid_micro}"
    );
    assert!(
        paid_micro <= sent_s.ceil() as i64 * SECOND_MICRO,
        "{paid_micro}"
    );
    world.assert_ledger_is_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_caller_who_closes_is_answered_with_a_close() {
    let world = ready_world().await;
    let running = serve(&world).await;
    let mut socket = listen(&running, &world.key, "").await.unwrap();
    send_sound(&mut socket, &vec![0; RATE_HZ * 2]).await;
    let (code, reason) = (CloseCode::Normal, "bye".into());
    socket
        .close(Some(CloseFrame { code, reason }))
        .await
        .unwrap();
    let answer = socket.next().await.unwrap().unwrap();
    assert!(matches!(answer, Message::Close(Some(frame)) if frame.code == code));
    settles_at(&world, CREDIT_MICRO).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_caller_who_was_told_nothing_pays_nothing_but_whole_intervals() {
    let world = ready_world().await;
    let running = serve(&world).await;
    let mut socket = listen(&running, &world.key, "").await.unwrap();
    send_sound(&mut socket, &vec![0; 5 * RATE_HZ * 2]).await;
    drop(socket);
    settles_at(&world, CREDIT_MICRO).await;

    // Twenty seconds: one interval was heard, the second one is open when the line goes dead.
    let mut socket = listen(&running, &world.key, "").await.unwrap();
    send_sound(&mut socket, &vec![0; 20 * RATE_HZ * 2]).await;
    let one_is_paid = async || {
        world.balance_micro().await == CREDIT_MICRO - 2 * INTERVAL_MICRO
            && world.app.store.open_reservations().await.unwrap() == 1
    };
    for _ in 0..600 {
        if one_is_paid().await {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    drop(socket);
    settles_at(&world, CREDIT_MICRO - INTERVAL_MICRO).await;
    world.assert_ledger_is_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_workspace_has_its_share_of_sessions_and_who_cannot_pay_takes_none() {
    let settings = [
        ("limits.live_sessions_max", "9"),
        ("limits.live_sessions_per_workspace_max", "2"),
    ];
    let world = ready_world_with(&settings).await;
    let running = serve(&world).await;
    let cap_micro = NewKey {
        spend_cap_micro: Some(INTERVAL_MICRO - 1),
        ..world.new_key()
    };
    let capped = world.make_key(cap_micro).await;
    for _ in 0..3 {
        let refused = listen(&running, &capped, "").await.err();
        assert_eq!(refused, Some((402, "spend_cap_reached".to_owned())));
    }
    let first = listen(&running, &world.key, "").await.unwrap();
    let _second = listen(&running, &world.key, "").await.unwrap();
    assert_eq!(world.app.live_sessions.count(), 2);
    let refused = listen(&running, &world.key, "").await.err();
    assert_eq!(refused, Some((429, "rate_limited".to_owned())));
    drop(first);
    // The seat is free as soon as the hang-up is noticed.
    for _ in 0..600 {
        if listen(&running, &world.key, "").await.is_ok() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    drop(_second);
    settles_at(&world, CREDIT_MICRO).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn live_seconds_count_towards_the_seconds_of_audio_a_minute() {
    // One second comes back in twenty: more than this test takes between its steps.
    let world = ready_world_with(&[("limits.audio_seconds_per_minute", "3")]).await;
    let running = serve(&world).await;
    let mut socket = listen(&running, &world.key, "").await.unwrap();
    send_sound(&mut socket, &vec![0; 6 * 2 * RATE_HZ]).await;
    let last = next_of_kind(&mut socket, "error").await;
    assert_eq!(
        (&last["code"], &last["status"]),
        (&json!("rate_limited"), &json!(429))
    );
    let refused = listen(&running, &world.key, "").await.err();
    assert_eq!(refused, Some((429, "rate_limited".to_owned())));
    let wav = silent_wav(2.0);
    let upload = world
        .transcribe(&[("file", Some(("a.wav", "audio/wav")), &wav)])
        .await;
    upload.assert_problem(429, "rate_limited");
    // Another key has seconds of its own.
    let other = world.make_key(world.new_key()).await;
    assert!(listen(&running, &other, "").await.is_ok());
    settles_at(&world, CREDIT_MICRO).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_revoked_key_loses_its_live_session_and_pays_for_what_was_told() {
    let world = ready_world().await;
    let running = serve(&world).await;
    let (mut sound, before_micro) = sentence(&world, "raw_pcm_16000").await;
    sound.extend(vec![0; 2 * 2 * RATE_HZ]);
    let key = world.make_key(world.new_key()).await;
    let mut socket = listen(&running, &key, "").await.unwrap();
    send_sound(&mut socket, &sound).await;
    next_of_kind(&mut socket, "final").await;
    let store = &world.app.store;
    let known = store.authenticate(&key).await.unwrap();
    let revoked = store.revoke_key(&world.workspace_id, &known.key_id);
    revoked.await.unwrap();
    let last = next_of_kind(&mut socket, "error").await;
    assert_eq!(last["code"], "key_revoked");
    assert_eq!(last["status"], 401);
    let cost_micro = last["cost_micro"].as_i64().unwrap();
    assert!(cost_micro > 0);
    settles_at(&world, before_micro - cost_micro).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shutdown_hears_a_session_out_and_says_goodbye() {
    let world = ready_world().await;
    let running = serve(&world).await;
    let (sound, before_micro) = sentence(&world, "raw_pcm_16000").await;
    let mut socket = listen(&running, &world.key, "").await.unwrap();
    send_sound(&mut socket, &sound).await;
    next_of_kind(&mut socket, "partial").await;
    running.stop.send(()).unwrap();
    let mut all = Vec::new();
    let close = loop {
        match socket.next().await.unwrap().unwrap() {
            Message::Text(text) => all.push(serde_json::from_str::<Value>(&text).unwrap()),
            Message::Close(frame) => break frame.unwrap(),
            _ => {}
        }
    };
    assert_eq!(u16::from(close.code), 1001);
    assert!(!of_kind(&all, "final").is_empty(), "{all:?}");
    let last = all.last().unwrap();
    assert_eq!(last["code"], "shutting_down", "{all:?}");
    let cost_micro = last["cost_micro"].as_i64().unwrap();
    assert!((1..=before_micro).contains(&cost_micro));
    running.server.await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_without_sound_do_not_keep_a_session() {
    let world = ready_world().await;
    let running = serve(&world).await;
    for message in [
        Message::Binary(Vec::new().into()),
        Message::Ping(Vec::new().into()),
        Message::Binary(vec![0; 2].into()),
    ] {
        let mut socket = listen(&running, &world.key, "").await.unwrap();
        for _ in 0..1_200 {
            // The answer may come, and the line be closed, while these are sent.
            if socket.send(message.clone()).await.is_err() {
                break;
            }
        }
        let last = next_of_kind(&mut socket, "error").await;
        assert_eq!(last["code"], "rate_limited");
    }
    settles_at(&world, CREDIT_MICRO).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sound_whose_form_is_told_by_another_name_is_refused() {
    let world = ready_world().await;
    let running = serve(&world).await;
    for query in ["format=ulaw", "sampling_rate=8000"] {
        let refused = listen(&running, &world.key, query).await.err();
        assert_eq!(
            refused,
            Some((422, "validation_failed".to_owned())),
            "{query}"
        );
    }
}

/// What is said to a menu with `expect`, in 16 kHz samples, and the messages that come back.
async fn answered(said: &[&str], query: &str) -> Vec<Value> {
    let world = ready_world().await;
    let running = serve(&world).await;
    let mut socket = listen(&running, &world.key, query).await.unwrap();
    for text in said {
        let body = json!({"text": text, "voice_id": "asha", "output_format": "raw_pcm_16000"});
        let spoken = world.post(SPEECH, &body).await;
        send_sound(&mut socket, &spoken.assert_ok().body).await;
        send_sound(&mut socket, &vec![0; 2 * 2 * RATE_HZ]).await;
    }
    finish(&mut socket).await;
    messages(socket).await
}

#[tokio::test(flavor = "multi_thread")]
async fn beside_something_else_nothing_is_an_answer() {
    let all = answered(&["Sijui bwana.", "Elfu tano."], "rate=16000&expect=amount").await;
    assert_eq!(of_kind(&all, "not_understood").len(), 1, "{all:?}");
    let done = &of_kind(&all, "done")[0];
    assert_eq!(
        (&done["answer"], &done["not_understood"]),
        (&Value::Null, &json!(true)),
        "{all:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_with_a_pause_in_it_is_heard_as_one() {
    for (said, query, answer) in [
        (
            ["Elfu ishirini.", "Na tano."],
            "expect=amount",
            json!(25_000),
        ),
        (["Mkopo.", "Mkopo."], "choices=Salio,Mkopo", json!("Mkopo")),
    ] {
        let all = answered(&said, &format!("rate=16000&{query}")).await;
        let done = &of_kind(&all, "done")[0];
        assert_eq!(
            (&done["answer"], &done["not_understood"]),
            (&answer, &json!(false)),
            "{all:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_neither_sound_nor_a_known_word_ends_the_session_with_the_reason() {
    let world = ready_world().await;
    let running = serve(&world).await;
    // As a browser's MediaRecorder begins.
    let webm = [b"\x1a\x45\xdf\xa3\x9f\x42\x86\x81".as_slice(), &[1; 6_400]].concat();
    for (message, code, status) in [
        (Message::Text("habari".into()), "malformed_request", 400),
        (
            Message::Binary(webm.into()),
            "content_type_unsupported",
            415,
        ),
    ] {
        let mut socket = listen(&running, &world.key, "").await.unwrap();
        socket.send(message).await.unwrap();
        let all = messages(socket).await;
        assert_eq!(all.len(), 1);
        assert_eq!(all[0]["type"], "error");
        assert_eq!(all[0]["code"], code);
        assert_eq!(all[0]["status"], status);
        settles_at(&world, CREDIT_MICRO).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_is_too_large_ends_the_session_with_the_reason() {
    let world = ready_world().await;
    let running = serve(&world).await;
    let socket = listen(&running, &world.key, "").await.unwrap();
    let (mut sender, mut receiver) = socket.split();
    let whole_recording = Message::Binary(vec![0; 8_000_000].into());
    let sent = tokio::spawn(async move { sender.send(whole_recording).await });
    let told = receiver.next().await.unwrap().unwrap();
    let told: Value = serde_json::from_str(told.to_text().unwrap()).unwrap();
    assert_eq!(
        (&told["type"], &told["status"]),
        (&json!("error"), &json!(413))
    );
    assert_eq!(told["code"], "body_too_large");
    sent.abort();
    settles_at(&world, CREDIT_MICRO).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn both_sides_of_a_call_are_heard_live_and_each_is_paid() {
    let world = ready_world().await;
    let running = serve(&world).await;
    let sound = call_of_two(&world).await;
    let before_micro = world.balance_micro().await;

    let query = "rate=8000&channels=separate";
    let mut socket = listen(&running, &world.key, query).await.unwrap();
    send_sound(&mut socket, &sound).await;
    finish(&mut socket).await;
    let all = messages(socket).await;

    for channel in [1, 2] {
        let own: Vec<Value> = all
            .iter()
            .filter(|m| m["channel"] == channel)
            .cloned()
            .collect();
        heard_rightly(&own);
        let finals = of_kind(&own, "final");
        assert!(
            finals
                .iter()
                .all(|message| message["segment"]["channel"] == channel)
        );
        assert!(!of_kind(&own, "partial").is_empty());
    }
    let seconds = sound.len() as f64 / 4.0 / 8_000.0;
    let done = all.last().unwrap();
    assert!(
        (done["seconds"].as_f64().unwrap() - seconds).abs() < 0.01,
        "{done}"
    );
    let cost_micro = 2 * seconds.ceil() as i64 * SECOND_MICRO;
    assert_eq!(done["cost_micro"], cost_micro);
    settles_at(&world, before_micro - cost_micro).await;
}
