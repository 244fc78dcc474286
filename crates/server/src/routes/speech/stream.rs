//! Speech that is sent while it is being made: chunked sound, or events.

use std::time::Instant;

use axum::body::Body;
use axum::http::HeaderValue;
use axum::http::header::CONTENT_TYPE;
use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use bytes::Bytes;
use futures_util::stream;
use sauti_audio::StreamEncoder;
use sauti_speech::{Booking, SpeakEvent, SpeakHandle, Word};
use sauti_store::Operation;
use serde_json::json;
use tokio::sync::mpsc;

use super::produce;
use super::request::{Delivery, SpeechRequest};
use crate::app::App;
use crate::http::caller::Caller;
use crate::http::metrics;
use crate::problem::Problem;
use crate::service::money::{Bill, Hold};

/// Pieces the caller may lag behind by; past them the engine waits.
const PIECES_MAX: usize = 8;

pub type Pieces = mpsc::Sender<Result<Bytes, std::io::Error>>;

/// Everything a running stream owns. Dropping it frees the engine's place, the caller's place
/// and the money on hold.
struct Running {
    /// Held for the caller's count of requests at once.
    _caller: Caller,
    handle: SpeakHandle,
    encoder: StreamEncoder,
    events: bool,
    timestamps: bool,
    hold: Hold,
    bill: Bill,
    started: Instant,
}

/// Waits for the first sound, so that what fails before it still gets a proper refusal.
pub async fn respond(
    app: &App,
    caller: Caller,
    request: &SpeechRequest,
    reading: produce::Reading,
    booking: Booking,
    hold: Hold,
    bill: Bill,
) -> Result<Response, Problem> {
    let started = Instant::now();
    let tenant = &caller.workspace_id;
    let mut handle = produce::start(app, tenant, request, reading.script, Some(booking))?;
    let rate_hz = app.voice_rate_hz(&request.voice_id);
    let encoder = StreamEncoder::for_speech(request.format, rate_hz).map_err(Problem::internal)?;
    let first = match handle.next().await {
        Some(event) => event?,
        None => return Err(Problem::internal("the engine said nothing")),
    };
    metrics::first_sound(started.elapsed());

    let events = request.delivery == Delivery::EventStream;
    let (pieces, received) = mpsc::channel(PIECES_MAX);
    let running = Running {
        _caller: caller,
        handle,
        encoder,
        events,
        timestamps: request.timestamps,
        hold,
        bill,
        started,
    };
    tokio::spawn(run(running, first, pieces));

    let body = Body::from_stream(stream::unfold(received, |mut received| async move {
        received.recv().await.map(|piece| (piece, received))
    }));
    let mut response = Response::new(body);
    let kind = if events {
        "text/event-stream"
    } else {
        request.format.content_type()
    };
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    Ok(response)
}

async fn run(running: Running, first: SpeakEvent, pieces: Pieces) {
    let events = running.events;
    if let Err(Ended::Failed(problem)) = pump(running, first, &pieces).await {
        tracing::warn!(code = problem.code.as_str(), "a stream of speech broke off");
        break_off(events, &problem, &pieces).await;
    }
}

/// The status is long gone. Events can still say what happened; of plain sound, the body that
/// breaks off is how the caller learns of it.
pub async fn break_off(events: bool, problem: &Problem, pieces: &Pieces) {
    let code = problem.code;
    let last = match events {
        true => Ok(sse(&json!({"type": "error", "error": {
            "message": problem.detail.as_deref().unwrap_or(code.english()),
            "type": code.openai_type(), "param": null, "code": code.as_str()}}))),
        false => Err(std::io::Error::other(code.as_str())),
    };
    pieces.send(last).await.ok();
}

enum Ended {
    CallerLeft,
    Failed(Problem),
}

impl From<Problem> for Ended {
    fn from(problem: Problem) -> Ended {
        Ended::Failed(problem)
    }
}

async fn pump(mut running: Running, first: SpeakEvent, pieces: &Pieces) -> Result<(), Ended> {
    let mut event = first;
    let seconds = loop {
        match event {
            SpeakEvent::Audio { samples, words } => {
                let (encoder, bytes) = push(running.encoder, samples).await?;
                running.encoder = encoder;
                let words = running.timestamps.then_some(words);
                send(pieces, piece(running.events, bytes, words)).await?;
            }
            SpeakEvent::Done { seconds } => break seconds,
        }
        event = match running.handle.next().await {
            Some(next) => next.map_err(Problem::from)?,
            None => {
                return Err(Problem::internal("the engine stopped in the middle of a text").into());
            }
        };
    };
    metrics::work(Operation::Speech, seconds, running.started.elapsed());
    let tail = running.encoder.finish();
    send(pieces, piece(running.events, tail, None)).await?;
    // Settled before the last word goes out: who has the end of the stream has been charged.
    running.bill.audio_seconds = seconds;
    let balance_micro = running
        .hold
        .settle(&running.bill, None)
        .await
        .map_err(Problem::from)?;
    if running.events {
        let done = json!({
            "type": "speech.audio.done",
            "seconds": seconds,
            "usage": {"characters": running.bill.units, "cost_micro": running.bill.amount_micro,
                      "balance_micro": balance_micro},
        });
        send(pieces, sse(&done)).await?;
    }
    Ok(())
}

async fn push(
    mut encoder: StreamEncoder,
    samples: Vec<f32>,
) -> Result<(StreamEncoder, Vec<u8>), Problem> {
    tokio::task::spawn_blocking(move || {
        let bytes = encoder.push(&samples);
        (encoder, bytes)
    })
    .await
    .map_err(Problem::internal)
}

async fn send(pieces: &Pieces, piece: Bytes) -> Result<(), Ended> {
    if piece.is_empty() {
        return Ok(());
    }
    pieces.send(Ok(piece)).await.map_err(|_| Ended::CallerLeft)
}

fn piece(events: bool, bytes: Vec<u8>, words: Option<Vec<Word>>) -> Bytes {
    if !events {
        return Bytes::from(bytes);
    }
    if bytes.is_empty() && words.is_none() {
        return Bytes::new();
    }
    let mut delta = json!({"type": "speech.audio.delta", "audio": BASE64.encode(&bytes)});
    if let Some(words) = words {
        let words: Vec<_> = words.into_iter().map(produce::head_word).collect();
        delta["words"] = json!(words);
    }
    sse(&delta)
}

pub fn sse(event: &serde_json::Value) -> Bytes {
    let kind = event["type"].as_str().unwrap_or("message");
    Bytes::from(format!("event: {kind}\ndata: {event}\n\n"))
}
