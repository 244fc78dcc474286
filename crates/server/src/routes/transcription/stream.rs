//! A transcript as events, segment by segment.

use std::time::Instant;

use axum::body::Body;
use axum::http::HeaderValue;
use axum::http::header::CONTENT_TYPE;
use axum::response::Response;
use futures_util::stream;
use sauti_speech::{SpeechError, TranscribeEvent, TranscribeHandle};
use sauti_store::Operation;
use serde_json::json;
use tokio::sync::mpsc;

use super::format;
use crate::http::caller::Caller;
use crate::http::metrics;
use crate::http::money_headers;
use crate::problem::Problem;
use crate::routes::speech::{self, Pieces, sse};
use crate::service::money::{Bill, Hold};

const EVENTS_MAX: usize = 32;

struct Running {
    /// Held for the caller's count of requests at once.
    _caller: Caller,
    handle: TranscribeHandle,
    hold: Hold,
    bill: Bill,
    /// Whether each segment brings its words.
    words: bool,
    started: Instant,
}

/// Waits for the first event, so that what fails before it still gets a proper refusal.
pub async fn respond(
    caller: Caller,
    mut handle: TranscribeHandle,
    hold: Hold,
    bill: Bill,
    words: bool,
    started: Instant,
) -> Result<Response, Problem> {
    let first = match handle.next().await {
        Some(event) => event?,
        None => return Err(Problem::internal("the engine said nothing")),
    };
    let (events, received) = mpsc::channel(EVENTS_MAX);
    let body = Body::from_stream(stream::unfold(received, |mut received| async move {
        received.recv().await.map(|event| (event, received))
    }));
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    money_headers::add_bill(headers, &bill, &caller.currency);
    money_headers::add_balance(headers, hold.available_micro());
    tokio::spawn(run(
        Running {
            _caller: caller,
            handle,
            hold,
            bill,
            words,
            started,
        },
        first,
        events,
    ));
    Ok(response)
}

async fn run(mut running: Running, first: TranscribeEvent, events: Pieces) {
    let mut next = Some(Ok(first));
    let mut said_something = false;
    while let Some(event) = next {
        let sent = match event {
            Ok(TranscribeEvent::Segment {
                segment,
                done_seconds,
            }) => {
                let space = if said_something { " " } else { "" };
                said_something |= !segment.text.is_empty();
                let delta = format!("{space}{}", segment.text);
                let mut event = json!({"type": "transcript.text.delta", "delta": delta,
                    "start": segment.start, "end": segment.end, "done_seconds": done_seconds});
                if running.words {
                    event["words"] = json!(format::words(&segment));
                }
                events.send(Ok(sse(&event))).await.is_ok()
            }
            Ok(TranscribeEvent::Done(transcript)) => {
                return finish(running, &transcript.text, events).await;
            }
            Err(error) => return break_off(error, &events).await,
        };
        if !sent {
            // The caller left: everything held is given back as it is dropped.
            return;
        }
        next = running.handle.next().await;
    }
    break_off(SpeechError::Internal, &events).await;
}

/// Settled before the last event goes out: who has the whole transcript has been charged.
async fn finish(running: Running, text: &str, events: Pieces) {
    metrics::work(
        Operation::Transcription,
        running.bill.audio_seconds,
        running.started.elapsed(),
    );
    let settled = running.hold.settle(&running.bill, None).await;
    let Ok(balance_micro) = settled else {
        return break_off(SpeechError::Internal, &events).await;
    };
    let done = json!({"type": "transcript.text.done", "text": text, "usage": {
        "type": "duration", "seconds": running.bill.units, "cost_micro": running.bill.amount_micro,
        "balance_micro": balance_micro}});
    events.send(Ok(sse(&done))).await.ok();
}

async fn break_off(error: SpeechError, events: &Pieces) {
    let problem = Problem::from(error);
    tracing::warn!(
        code = problem.code.as_str(),
        "a stream of a transcript broke off"
    );
    speech::break_off(true, &problem, events).await;
}
