//! Bodies of both operations: damaged ones are refused in the one shape, and never with 500.

use axum::body::Body;
use axum::http::Method;
use axum::http::request::Builder;
use serde_json::json;

use crate::mutate::{Noise, damage, rounds};
use crate::support::{Answer, SPEECH, TRANSCRIPTIONS, World, multipart, silent_wav};

const MANY: &str = "100000000";

async fn world() -> World {
    World::with(&[
        ("limits.requests_per_minute", MANY),
        ("limits.audio_seconds_per_minute", MANY),
    ])
    .await
}

/// The engine of this world has no weights, so what is right gets as far as 503.
fn check(answer: &Answer) -> Result<(), String> {
    let status = answer.status.as_u16();
    let fits = (400..500).contains(&status) || status == 503;
    match fits && answer.header("content-type") == "application/problem+json" {
        true => Ok(()),
        false => Err(format!(
            "{status} {}",
            String::from_utf8_lossy(&answer.body)
        )),
    }
}

async fn send_damaged(
    world: &World,
    request: impl Fn() -> Builder,
    body: &[u8],
    noise: &mut Noise,
) {
    for round in 0..rounds(300) {
        let mut damaged = body.to_vec();
        damage(&mut damaged, noise);
        let answer = world
            .send(request().body(Body::from(damaged.clone())).unwrap())
            .await;
        if let Err(message) = check(&answer) {
            let body = String::from_utf8_lossy(&damaged);
            panic!("round {round}: {message} for {body:?}");
        }
    }
}

#[tokio::test]
async fn any_multipart_form_is_refused_politely() {
    let world = world().await;
    let wav = silent_wav(0.2);
    let parts = [
        ("file", Some(("sauti.wav", "audio/wav")), wav.as_slice()),
        ("response_format", None, &b"verbose_json"[..]),
        ("timestamp_granularities[]", None, b"word"),
        ("keyterms[]", None, "M-Pesa".as_bytes()),
        ("numerals", None, b"digits"),
        ("expect", None, b"amount"),
    ];
    // A file last, too: then the damage to headers falls on the small fields.
    let mut turned = parts;
    turned.rotate_left(1);
    let mut noise = Noise(0x7e57_0000_0000_0004);
    for parts in [parts, turned] {
        let (content_type, body) = multipart(&parts);
        let request = || {
            world
                .request(Method::POST, TRANSCRIPTIONS)
                .header("content-type", &content_type)
        };
        send_damaged(&world, request, &body, &mut noise).await;
    }
    world.until_nothing_is_held().await;
    world.assert_ledger_is_sound().await;
}

#[tokio::test]
async fn any_json_body_is_refused_politely() {
    let world = world().await;
    let mut noise = Noise(0x7e57_0000_0000_0005);
    let bodies = [
        json!({"text": "Habari za asubuhi, salio ni KSh 1,250.", "voice_id": "asha", "speed": 1.25, "pitch": -2, "volume": 3.5, "timestamps": true}),
        json!({"input": "Karibu", "voice": "juma", "response_format": "mp3", "stream_format": "sse", "model": "tts-1"}),
        json!({"text": "<speak>Habari <break time=\"1s\"/></speak>", "voice_id": "zuri", "output_format": "ulaw_8000"}),
    ];
    for body in bodies {
        let request = || {
            world
                .request(Method::POST, SPEECH)
                .header("content-type", "application/json")
        };
        send_damaged(&world, request, body.to_string().as_bytes(), &mut noise).await;
    }
    world.until_nothing_is_held().await;
    world.assert_ledger_is_sound().await;
}
