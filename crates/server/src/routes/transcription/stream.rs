//! A transcript as events, segment by segment. What was delivered is paid: a caller who leaves in the middle pays for the
//! sound up to the last segment that its connection took, and for nothing before the first.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::body::Body;
use axum::http::HeaderValue;
use axum::http::header::CONTENT_TYPE;
use axum::response::Response;
use bytes::Bytes;
use futures_util::{FutureExt as _, stream};
use sauti_service::app::App;
use sauti_service::transcribing::{ResponseFormat, Transcribing, TranscriptionRequest};
use sauti_speech::{Segment, SpeechError, TranscribeEvent, Transcript, rounded_seconds};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::routes::speech::sse;
use crate::written::{self, DiarizedSegment, ExpectedAnswer, WrittenAlternative};
use sauti_web::caller::Caller;
use sauti_web::money_headers;
use sauti_web::problem::Problem;

const EVENTS_MAX: usize = 32;
/// A connection that takes no event for this long is given up (back-pressure with an end).
const TAKE_TIME_MAX: Duration = Duration::from_secs(60);

/// An event, and how far into the recording a caller is who has it.
struct SentEvent {
    bytes: Bytes,
    done_ms: u64,
}

type SentEvents = mpsc::Sender<SentEvent>;

struct Running {
    app: App,
    /// Held for the caller's count of requests at once.
    _caller: Caller,
    transcribing: Transcribing,
    request: TranscriptionRequest,
    /// Segments told so far.
    told: usize,
}

/// The last event.
#[derive(Serialize)]
struct TranscriptDone<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    text: &'a str,
    #[serde(flatten)]
    expected: Option<ExpectedAnswer>,
    #[serde(skip_serializing_if = "Option::is_none")]
    alternatives: Option<Vec<WrittenAlternative>>,
    usage: serde_json::Value,
}

/// Waits for the first event, so that what fails before it still gets a proper refusal.
pub async fn respond(
    app: &App,
    caller: Caller,
    mut transcribing: Transcribing,
    request: &TranscriptionRequest,
) -> Result<Response, Problem> {
    let first = match transcribing.handle.next().await {
        Some(event) => event?,
        None => return Err(Problem::internal("the engine said nothing")),
    };
    let (events, received) = mpsc::channel(EVENTS_MAX);
    let delivered_ms = Arc::new(AtomicU64::new(0));
    let mut response = Response::new(body(received, Arc::clone(&delivered_ms)));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    money_headers::add_bill(headers, &transcribing.bill, &caller.currency);
    money_headers::add_balance(headers, transcribing.hold.available_micro());
    let running = Running {
        app: app.clone(),
        _caller: caller,
        transcribing,
        request: request.clone(),
        told: 0,
    };
    tokio::spawn(run(running, first, events, delivered_ms).boxed());
    Ok(response)
}

/// Notes what the connection takes: what only waits in the channel was not delivered.
fn body(received: mpsc::Receiver<SentEvent>, delivered_ms: Arc<AtomicU64>) -> Body {
    let start = (received, delivered_ms);
    Body::from_stream(stream::unfold(
        start,
        |(mut received, delivered_ms)| async move {
            let event = received.recv().await?;
            delivered_ms.fetch_max(event.done_ms, Ordering::Relaxed);
            Some((
                Ok::<_, std::convert::Infallible>(event.bytes),
                (received, delivered_ms),
            ))
        },
    ))
}

enum Ended {
    CallerLeft,
    Failed(SpeechError),
}

async fn run(
    mut running: Running,
    first: TranscribeEvent,
    events: SentEvents,
    delivered_ms: Arc<AtomicU64>,
) {
    let delivered_ms = || delivered_ms.load(Ordering::Relaxed);
    let transcript = match pump(&mut running, first, &events).await {
        Ok(transcript) => all_taken(&events).await.map(|()| transcript),
        Err(ended) => Err(ended),
    };
    match transcript {
        Ok(transcript) => finish(running, &transcript, &events).await,
        Err(Ended::CallerLeft) => pay_delivered(running, delivered_ms()).await,
        Err(Ended::Failed(error)) => {
            let ours = matches!(error, SpeechError::Internal);
            break_off(error, &events).await;
            // A caller who reads slowly until the time is up has been served all the same.
            if !ours {
                pay_delivered(running, delivered_ms()).await;
            }
        }
    }
}

/// Waits until the connection has taken everything: the channel has all its room again.
async fn all_taken(events: &SentEvents) -> Result<(), Ended> {
    let room = tokio::time::timeout(TAKE_TIME_MAX, events.reserve_many(EVENTS_MAX)).await;
    match room {
        Ok(Ok(_)) => Ok(()),
        _ => Err(Ended::CallerLeft),
    }
}

/// The whole transcript once everything but the last event was sent.
async fn pump(
    running: &mut Running,
    first: TranscribeEvent,
    events: &SentEvents,
) -> Result<Transcript, Ended> {
    let mut next = Some(Ok(first));
    let mut said_something = false;
    while let Some(event) = next {
        match event.map_err(Ended::Failed)? {
            TranscribeEvent::Segment {
                segment,
                done_seconds,
            } => {
                let space = if said_something { " " } else { "" };
                said_something |= !segment.text.is_empty();
                for event in running.events(&segment, space, done_seconds) {
                    let sent = events.send_timeout(event, TAKE_TIME_MAX).await;
                    sent.map_err(|_| Ended::CallerLeft)?;
                }
            }
            TranscribeEvent::Done(transcript) => return Ok(transcript),
        }
        next = tokio::select! {
            next = running.transcribing.handle.next() => next,
            // Noticed at once, and not only when there is something to say.
            () = events.closed() => return Err(Ended::CallerLeft),
        };
    }
    Err(Ended::Failed(SpeechError::Internal))
}

impl Running {
    fn events(&mut self, segment: &Segment, space: &str, done_seconds: f64) -> Vec<SentEvent> {
        // Charged as it is told.
        let done_ms = (done_seconds * 1_000.0) as u64;
        let mut delta = delta(segment, space, done_ms, self.request.words);
        let mut told = Vec::new();
        // Then each segment is also told as an event of its own, with its speaker.
        if self.request.format == ResponseFormat::DiarizedJson {
            let segment = DiarizedSegment::new(self.told, segment);
            delta["segment_id"] = json!(segment.id);
            told.push(json!(segment));
        }
        self.told += 1;
        told.insert(0, delta);
        let event = |event: &Value| SentEvent {
            bytes: sse(event),
            done_ms,
        };
        told.iter().map(event).collect()
    }
}

fn delta(segment: &Segment, space: &str, done_ms: u64, words: bool) -> Value {
    let delta = format!("{space}{}", segment.text);
    let mut event = json!({"type": "transcript.text.delta", "delta": delta,
        "start": rounded_seconds(segment.start), "end": rounded_seconds(segment.end),
        "done_seconds": done_ms as f64 / 1_000.0});
    if let Some(channel) = segment.channel {
        event["channel"] = json!(channel);
    }
    if let Some(speaker) = segment.speaker {
        event["speaker"] = json!(speaker);
    }
    if words {
        event["words"] = json!(written::words(segment));
    }
    if !segment.alternatives.is_empty() {
        event["alternatives"] = json!(segment.alternatives);
    }
    event
}

async fn pay_delivered(running: Running, delivered_ms: u64) {
    let seconds = delivered_ms as f64 / 1_000.0;
    let settled = running.transcribing.settle_to(&running.app, seconds).await;
    if let Err(error) = settled {
        tracing::warn!(%error, "what was delivered of a transcript could not be charged");
    }
}

/// Settled before the last event goes out: who has the whole transcript has been charged.
async fn finish(running: Running, transcript: &Transcript, events: &SentEvents) {
    let bill = running.transcribing.bill.clone();
    let Ok(balance_micro) = running.transcribing.settle().await else {
        return break_off(SpeechError::Internal, events).await;
    };
    let done = json!(TranscriptDone {
        kind: "transcript.text.done",
        text: &transcript.text,
        expected: ExpectedAnswer::of(&running.request.expect, transcript),
        alternatives: written::alternatives(&running.request, &transcript.segments),
        usage: json!({"type": "duration", "seconds": bill.units,
            "cost_micro": bill.amount_micro, "balance_micro": balance_micro}),
    });
    send_last(&done, events).await;
}

async fn break_off(error: SpeechError, events: &SentEvents) {
    let problem = Problem::from(error);
    let code = problem.code;
    tracing::warn!(code = code.as_str(), "a stream of a transcript broke off");
    let error = json!({"type": "error", "error": {
        "message": problem.detail.as_deref().unwrap_or(code.english()),
        "type": code.openai_type(), "param": null, "code": code.as_str()}});
    send_last(&error, events).await;
}

async fn send_last(event: &serde_json::Value, events: &SentEvents) {
    let bytes = sse(event);
    let event = SentEvent { bytes, done_ms: 0 };
    events.send_timeout(event, TAKE_TIME_MAX).await.ok();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_told_to_a_millisecond() {
        let seconds = f64::from(1.2_f32);
        let word = sauti_speech::Word {
            start: seconds,
            end: seconds,
            ..Default::default()
        };
        let segment = Segment {
            start: seconds,
            end: seconds,
            words: vec![word],
            ..Segment::default()
        };
        let delta = delta(&segment, "", 1_200, true);
        // A live session tells the segment itself.
        let live = json!(segment);
        for told in [&delta, &delta["words"][0], &live, &live["words"][0]] {
            assert_eq!((&told["start"], &told["end"]), (&json!(1.2), &json!(1.2)));
        }
        assert_eq!(delta["done_seconds"], 1.2);
        let word = written::TimedWord::from(("a", seconds, seconds));
        assert_eq!((word.start, word.end), (1.2, 1.2));
    }
}
