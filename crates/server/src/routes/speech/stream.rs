//! Speech that is sent while it is being made: chunked sound, or events.

use axum::body::Body;
use axum::http::HeaderValue;
use axum::http::header::CONTENT_TYPE;
use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use bytes::Bytes;
use futures_util::{FutureExt as _, stream};
use sauti_service::speaking::{SpeechPiece, SpeechProgress, SpeechStream};
use sauti_speech::{Word, rounded_seconds};
use serde_json::json;
use tokio::sync::{mpsc, watch};

use super::request::{AskedSpeech, SpeechDelivery};
use crate::written::{TimedMark, TimedWord};
use sauti_web::caller::Caller;
use sauti_web::money_headers;
use sauti_web::problem::Problem;

/// Pieces the caller may lag behind by; past them the engine waits (back-pressure).
const PIECES_MAX: usize = 8;

pub type Pieces = mpsc::Sender<Result<Bytes, std::io::Error>>;

/// What goes to the connection, and how far the speech has come with it.
type Sent = (Result<Bytes, std::io::Error>, SpeechProgress);

struct Running {
    /// Held for the caller's count of requests at once.
    _caller: Caller,
    speech: SpeechStream,
    events: bool,
    timestamps: bool,
    pieces: mpsc::Sender<Sent>,
    /// How far the caller's connection has taken what was sent.
    taken: watch::Receiver<SpeechProgress>,
}

pub fn respond(
    caller: Caller,
    asked: &AskedSpeech,
    speech: SpeechStream,
) -> Result<Response, Problem> {
    let events = asked.delivery == SpeechDelivery::EventStream;
    let (pieces, received) = mpsc::channel(PIECES_MAX);
    let (taking, taken) = watch::channel(SpeechProgress::default());
    // Asked for by the connection when it has room: what it was given counts as delivered.
    let body = Body::from_stream(stream::unfold(
        (received, taking),
        |(mut received, taking)| async move {
            let (piece, progress): Sent = received.recv().await?;
            taking.send_replace(progress);
            Some((piece, (received, taking)))
        },
    ));
    let mut response = Response::new(body);
    let kind = match events {
        true => "text/event-stream",
        false => asked.request.format.content_type(),
    };
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    super::add_voice(headers, &asked.request.voice_id);
    money_headers::add_bill(headers, speech.bill(), &caller.currency);
    money_headers::add_balance(headers, speech.available_micro());
    let running = Running {
        _caller: caller,
        speech,
        events,
        timestamps: asked.timestamps,
        pieces,
        taken,
    };
    tokio::spawn(running.run().boxed());
    Ok(response)
}

enum Ended {
    CallerLeft,
    Failed(Problem),
}

impl Running {
    /// However it ends, what the connection took is paid for, and no more.
    async fn run(mut self) {
        let ended = self.pump().await;
        let delivered = match ended {
            Ok(whole) => whole,
            Err(_) => *self.taken.borrow(),
        };
        let settled = self.speech.settle(delivered).await.map_err(Problem::from);
        let problem = match (ended, settled) {
            (Ok(_), Ok(Some((bill, balance_micro)))) => {
                if self.events {
                    let done = json!({
                        "type": "speech.audio.done",
                        "seconds": rounded_seconds(delivered.seconds),
                        "usage": {"characters": bill.units, "cost_micro": bill.amount_micro,
                                  "balance_micro": balance_micro},
                    });
                    self.pieces.send((Ok(sse(&done)), delivered)).await.ok();
                }
                return;
            }
            (Ok(_), Ok(None)) | (Err(Ended::CallerLeft), Ok(_)) => {
                return;
            }
            (Err(Ended::Failed(problem)), _) | (_, Err(problem)) => problem,
        };
        tracing::warn!(code = problem.code.as_str(), "a stream of speech broke off");
        let last = last_piece(self.events, &problem);
        self.pieces.send((last, delivered)).await.ok();
    }

    /// Sends everything, and waits until the connection has taken it.
    async fn pump(&mut self) -> Result<SpeechProgress, Ended> {
        let (mut said, mut sent) = (SpeechProgress::default(), SpeechProgress::default());
        loop {
            let next = self.speech.next().await;
            let next = next.map_err(|error| Ended::Failed(error.into()))?;
            let Some(piece) = next else { break };
            said = piece.progress;
            let bytes = self.written(piece);
            if !bytes.is_empty() {
                let sending = self.pieces.send((Ok(bytes), said));
                sending.await.map_err(|_| Ended::CallerLeft)?;
                sent = said;
            }
        }
        let taken = self.taken.wait_for(|taken| *taken == sent);
        taken.await.map_err(|_| Ended::CallerLeft)?;
        Ok(said)
    }

    fn written(&self, piece: SpeechPiece) -> Bytes {
        if !self.events {
            return Bytes::from(piece.bytes);
        }
        let (words, marks) = match self.timestamps {
            true => (piece.words, piece.marks),
            false => (Vec::new(), Vec::new()),
        };
        if piece.bytes.is_empty() && words.is_empty() && marks.is_empty() {
            return Bytes::new();
        }
        let audio = BASE64.encode(&piece.bytes);
        let mut delta = json!({"type": "speech.audio.delta", "audio": audio});
        if self.timestamps {
            let word = |word: &Word| json!(TimedWord::from((&*word.word, word.start, word.end)));
            let mark = |(name, time): &(String, f64)| json!(TimedMark::from((&**name, *time)));
            delta["words"] = words.iter().map(word).collect();
            delta["marks"] = marks.iter().map(mark).collect();
        }
        sse(&delta)
    }
}

/// The status is long gone. Events can still say what happened; of plain sound, the body that
/// breaks off is how the caller learns of it.
fn last_piece(events: bool, problem: &Problem) -> Result<Bytes, std::io::Error> {
    let code = problem.code;
    match events {
        true => Ok(sse(&json!({"type": "error", "error": {
            "message": problem.detail.as_deref().unwrap_or(code.english()),
            "type": code.openai_type(), "param": null, "code": code.as_str()}}))),
        false => Err(std::io::Error::other(code.as_str())),
    }
}

pub async fn break_off(events: bool, problem: &Problem, pieces: &Pieces) {
    pieces.send(last_piece(events, problem)).await.ok();
}

pub fn sse(event: &serde_json::Value) -> Bytes {
    let kind = event["type"].as_str().unwrap_or("message");
    Bytes::from(format!("event: {kind}\ndata: {event}\n\n"))
}
