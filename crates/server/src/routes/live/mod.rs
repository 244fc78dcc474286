//! `GET /v1/audio/transcriptions/live`: a WebSocket that hears while somebody speaks.
//!
//! In: binary messages of 16-bit little-endian mono samples, and `{"type":"finish"}`. Out: JSON,
//! `partial` (replaces the one before), `final` (a finished stretch), `done`, `error`.

mod ear;
mod meter;

use std::time::Duration;

use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::extract::{RawQuery, State};
use axum::http::HeaderMap;
use axum::http::header::{HOST, ORIGIN};
use axum::response::Response;
use sauti_speech::Readiness;
use serde_json::{Value, json};
use tokio::sync::OwnedSemaphorePermit;

use self::ear::{Ear, Heard};
use self::meter::Meter;
use super::transcription::TranscriptionRequest;
use crate::app::App;
use crate::http::caller::{self, Caller, May};
use crate::http::context::Context;
use crate::http::query::Query;
use crate::problem::{Code, Problem, Reason};

const MESSAGE_BYTES_MAX: usize = 256 * 1024;
/// A caller that sends nothing for this long has left.
const IDLE_MAX: Duration = Duration::from_secs(30);
const RATE_HZ_MIN: u32 = 8_000;
const RATE_HZ_MAX: u32 = 48_000;

/// Transcribe while somebody speaks (WebSocket)
///
/// Send binary messages of 16-bit little-endian mono samples and `{"type":"finish"}` at the end;
/// `partial`, `final`, `done` and `error` messages come back as JSON. Every started 15 seconds
/// are charged.
#[utoipa::path(get, path = "/v1/audio/transcriptions/live", tag = "transcription", operation_id = "liveTranscription",
    params(
        ("rate" = Option<u32>, Query, description = "Samples a second, 8000 to 48000; 16000 if absent."),
        ("numerals" = Option<String>, Query, description = "words (default) or digits."),
        ("expect" = Option<String>, Query, description = "any (default), digits, yes_no or amount."),
        ("keyterms" = Option<String>, Query, description = "Names and terms to listen for, separated by commas."),
    ),
    responses((status = 101, description = "The WebSocket is open.")))]
pub async fn live(
    State(app): State<App>,
    May(caller, _): May<caller::Transcription>,
    context: Context,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    upgrade: Result<WebSocketUpgrade, axum::extract::ws::rejection::WebSocketUpgradeRejection>,
) -> Result<Response, Problem> {
    refuse_other_sites(&app, &caller, &headers)?;
    let (rate_hz, wanted) = parse(query.as_deref())?;
    let upgrade = upgrade.map_err(|_| {
        Problem::detailed(Code::MalformedRequest, "Open this address as a WebSocket.")
    })?;
    match app.engine.readiness() {
        Readiness::Ready => {}
        Readiness::Draining => return Err(Problem::new(Code::ShuttingDown).retry_after(5)),
        _ => return Err(Problem::new(Code::WarmingUp).retry_after(2)),
    }
    let place = app.listening.clone().try_acquire_owned();
    let place = place.map_err(|_| Problem::new(Code::Overloaded).retry_after(5))?;
    let mut meter = Meter::new(&app, caller.payer(&context));
    // The first interval is paid for before the door opens, so that 402 is a proper refusal.
    meter.reach(0.0).await?;
    let ear = Ear::open(&app, rate_hz, &wanted)?;
    let session = Session {
        app,
        caller,
        meter,
        ear,
        _place: place,
    };
    Ok(upgrade
        .max_message_size(MESSAGE_BYTES_MAX)
        .max_frame_size(MESSAGE_BYTES_MAX)
        .on_upgrade(move |socket| session.run(socket)))
}

/// A browser sends cookies along with any site's WebSocket; only our own pages may use them.
fn refuse_other_sites(app: &App, caller: &Caller, headers: &HeaderMap) -> Result<(), Problem> {
    if caller.key_id.is_some() {
        return Ok(());
    }
    let text = |name| {
        headers
            .get(name)
            .and_then(|value: &axum::http::HeaderValue| value.to_str().ok())
    };
    let (origin, host) = (
        text(ORIGIN).unwrap_or_default(),
        text(HOST).unwrap_or_default(),
    );
    let origin_host = origin.split_once("://").map_or("", |(_, host)| host);
    let ours = origin == app.config.public_url() || (!host.is_empty() && origin_host == host);
    if ours {
        Ok(())
    } else {
        Err(Problem::new(Code::CsrfFailed))
    }
}

fn parse(query: Option<&str>) -> Result<(u32, TranscriptionRequest), Problem> {
    let mut query = Query::parse(query);
    let rate_hz = match query.take("rate") {
        None => 16_000,
        Some(text) => {
            let rate_hz = text
                .parse()
                .ok()
                .filter(|rate| (RATE_HZ_MIN..=RATE_HZ_MAX).contains(rate));
            let (min, max) = (f64::from(RATE_HZ_MIN), f64::from(RATE_HZ_MAX));
            rate_hz.ok_or_else(|| Problem::field("rate", Reason::OutOfRange { min, max }))?
        }
    };
    let mut fields = Vec::new();
    for name in ["numerals", "expect"] {
        fields.extend(query.take(name).map(|value| (name.to_owned(), value)));
    }
    for name in ["keyterms", "choices"] {
        let listed = query.take(name).unwrap_or_default();
        let terms = listed.split(',').filter(|term| !term.trim().is_empty());
        fields.extend(terms.map(|term| (format!("{name}[]"), term.to_owned())));
    }
    Ok((rate_hz, TranscriptionRequest::parse(&fields)?))
}

/// Everything an open connection owns; dropping it gives the money and the places back.
struct Session {
    app: App,
    caller: Caller,
    meter: Meter,
    ear: Ear,
    _place: OwnedSemaphorePermit,
}

impl Session {
    async fn run(mut self, mut socket: WebSocket) {
        let outcome = self.converse(&mut socket).await;
        let last = match outcome {
            Ok(Some(text)) => {
                let paid = self.meter.finish(self.ear.seconds()).await;
                paid.map(|paid| {
                    json!({"type": "done", "text": text, "seconds": paid.seconds,
                        "cost_micro": paid.cost_micro, "balance_micro": paid.balance_micro})
                })
            }
            // The caller left: what was on hold goes back.
            Ok(None) => return,
            Err(problem) => Err(problem),
        };
        let last = last.unwrap_or_else(|problem| {
            let code = problem.code;
            json!({"type": "error", "code": code.as_str(), "status": code.status().as_u16(),
                "message": problem.detail.as_deref().unwrap_or(code.english())})
        });
        tell(&mut socket, &last).await.ok();
        socket.send(Message::Close(None)).await.ok();
        tracing::debug!(
            workspace = self.caller.workspace_id,
            "a live transcription ended"
        );
    }

    /// The whole text once the caller is finished; `None` when it just left.
    async fn converse(&mut self, socket: &mut WebSocket) -> Result<Option<String>, Problem> {
        let mut text = String::new();
        loop {
            let message = tokio::select! {
                heard = self.ear.next() => {
                    if !relay(socket, heard?, &mut text).await {
                        return Ok(None);
                    }
                    continue;
                }
                message = tokio::time::timeout(IDLE_MAX, socket.recv()) => message,
            };
            match message {
                Ok(Some(Ok(Message::Binary(pcm)))) => self.listen(&pcm).await?,
                Ok(Some(Ok(Message::Text(word)))) if is_finish(&word) => break,
                Ok(Some(Ok(Message::Text(_)))) => {
                    let detail = "Send samples, or {\"type\":\"finish\"}.";
                    return Err(Problem::detailed(Code::MalformedRequest, detail));
                }
                Ok(Some(Ok(Message::Ping(_) | Message::Pong(_)))) => {}
                Ok(Some(Ok(Message::Close(_)) | Err(_)) | None) => return Ok(None),
                Err(_) => return Err(Problem::new(Code::RequestTimeout)),
            }
        }
        self.ear.finish();
        while let Some(heard) = self.ear.rest().await? {
            if !relay(socket, heard, &mut text).await {
                return Ok(None);
            }
        }
        Ok(Some(text))
    }

    async fn listen(&mut self, pcm: &[u8]) -> Result<(), Problem> {
        let seconds = self.ear.seconds_with(pcm);
        if seconds > self.app.config.limits.recording_seconds_max as f64 {
            return Err(Problem::new(Code::RecordingTooLong));
        }
        self.meter.reach(seconds).await?;
        self.ear.push(pcm).await
    }
}

async fn relay(socket: &mut WebSocket, heard: Heard, text: &mut String) -> bool {
    let message = match heard {
        Heard::Partial(partial) => json!({"type": "partial", "text": partial}),
        Heard::Final(segment) => {
            if !text.is_empty() && !segment.text.is_empty() {
                text.push(' ');
            }
            text.push_str(&segment.text);
            json!({"type": "final", "segment": segment})
        }
    };
    tell(socket, &message).await.is_ok()
}

async fn tell(socket: &mut WebSocket, message: &Value) -> Result<(), axum::Error> {
    socket.send(Message::Text(message.to_string().into())).await
}

fn is_finish(message: &str) -> bool {
    serde_json::from_str::<Value>(message).is_ok_and(|message| message["type"] == "finish")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_says_how_to_listen() {
        let (rate_hz, wanted) =
            parse(Some("rate=8000&numerals=digits&keyterms=M-Pesa,Juma")).unwrap();
        assert_eq!(rate_hz, 8_000);
        assert!(wanted.digits);
        assert_eq!(wanted.keyterms, ["M-Pesa", "Juma"]);
        assert!(parse(Some("rate=4000")).is_err());
        assert!(parse(Some("rate=fast")).is_err());
        assert!(parse(Some("expect=joy")).is_err());
    }

    #[test]
    fn only_the_word_finish_finishes() {
        assert!(is_finish(r#"{"type":"finish"}"#));
        assert!(!is_finish("finish") && !is_finish(r#"{"type":"stop"}"#));
    }
}
