//! The live WebSocket on a real socket, with real speech and the real recogniser.

use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{WebSocketStream, client_async};

use sauti_store::NewKey;

use crate::real_port::{Running, serve};
use crate::support::{CREDIT_MICRO, SPEECH, World};
use crate::with_models::{SENTENCE, ready_world};

type Socket = WebSocketStream<TcpStream>;

const RATE_HZ: usize = 16_000;
/// Fifteen seconds at the default price of a minute.
const INTERVAL_MICRO: i64 = 1_500_000 / 4;

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

#[tokio::test(flavor = "multi_thread")]
async fn what_is_spoken_live_is_heard_while_it_is_spoken_and_paid_for() {
    let world = ready_world().await;
    let running = serve(&world).await;
    let body = json!({"text": SENTENCE, "voice_id": "asha", "output_format": "raw_pcm_16000"});
    let spoken = world.post(SPEECH, &body).await;
    let before_micro = CREDIT_MICRO - spoken.header("sauti-cost").parse::<i64>().unwrap();

    let mut socket = listen(&running, &world.key, "rate=16000").await.unwrap();
    send_sound(&mut socket, &spoken.assert_ok().body).await;
    let finish = Message::Text(json!({"type": "finish"}).to_string().into());
    socket.send(finish).await.unwrap();
    let all = messages(socket).await;

    let partials = of_kind(&all, "partial");
    assert!(
        partials.iter().any(|partial| partial["text"] != ""),
        "{all:?}"
    );
    let finals = of_kind(&all, "final");
    let texts: Vec<&str> = finals
        .iter()
        .map(|message| message["segment"]["text"].as_str().unwrap())
        .collect();
    let done = all.last().unwrap();
    assert_eq!(done["type"], "done", "{all:?}");
    assert_eq!(done["text"], texts.join(" "));
    let errors = sauti_text::compare::word_errors(SENTENCE, &texts.join(" "));
    assert!(errors.rate() < 0.3, "{done}");
    let seconds = spoken.body.len() as f64 / 2.0 / RATE_HZ as f64;
    assert!((done["seconds"].as_f64().unwrap() - seconds).abs() < 0.01);
    assert_eq!(done["cost_micro"], INTERVAL_MICRO);
    assert_eq!(done["balance_micro"], before_micro - INTERVAL_MICRO);
    assert_eq!(world.balance_micro().await, before_micro - INTERVAL_MICRO);
    world.assert_ledger_is_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_caller_who_hangs_up_frees_the_place_and_pays_for_whole_intervals_only() {
    let world = ready_world().await;
    let running = serve(&world).await;
    let cap_micro = NewKey {
        spend_cap_micro: Some(INTERVAL_MICRO - 1),
        ..world.new_key()
    };
    let capped = world.make_key(cap_micro).await;
    let refused = listen(&running, &capped, "").await.err();
    assert_eq!(refused, Some((402, "spend_cap_reached".to_owned())));

    // Twenty seconds: one interval is over, the second one is open when the line goes dead.
    let mut socket = listen(&running, &world.key, "").await.unwrap();
    send_sound(&mut socket, &vec![0; 20 * RATE_HZ * 2]).await;
    for _ in 0..600 {
        if world.balance_micro().await == CREDIT_MICRO - 2 * INTERVAL_MICRO {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    drop(socket);
    let paid_micro = CREDIT_MICRO - INTERVAL_MICRO;
    settles_at(&world, paid_micro).await;

    let mut open = Vec::new();
    let refused = loop {
        match listen(&running, &world.key, "").await {
            Ok(socket) => open.push(socket),
            Err(refused) => break refused,
        }
        assert!(open.len() < 1_000, "places have no end");
    };
    assert!(matches!(refused.0, 503 | 429), "{refused:?}");
    open.clear();
    settles_at(&world, paid_micro).await;
    listen(&running, &world.key, "").await.unwrap();
    settles_at(&world, paid_micro).await;
    world.assert_ledger_is_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_word_that_is_not_understood_ends_the_session_with_the_reason() {
    let world = ready_world().await;
    let running = serve(&world).await;
    let mut socket = listen(&running, &world.key, "").await.unwrap();
    socket.send(Message::Text("habari".into())).await.unwrap();
    let all = messages(socket).await;
    assert_eq!(all.len(), 1);
    assert_eq!(all[0]["type"], "error");
    assert_eq!(all[0]["code"], "malformed_request");
    assert_eq!(all[0]["status"], 400);
    settles_at(&world, CREDIT_MICRO).await;
}
