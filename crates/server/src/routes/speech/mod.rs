//! `POST /v1/audio/speech`: a text in, sound out.

mod produce;
mod request;
mod stream;

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use bytes::Bytes;
use serde::Serialize;

pub use produce::{finish, look_up, read, speak_free, start_job};
pub use request::{
    Delivery, SPEED_MAX, SPEED_MIN, SpeechBody, SpeechRequest, characters_max, looks_like_ssml,
};
pub use stream::{Pieces, break_off, sse};

use crate::app::App;
use crate::cache::{CachedSpeech, HeadWord};
use crate::http::caller::{Caller, May, Speech};
use crate::http::context::Context;
use crate::http::fields::JsonBytes;
use crate::http::idempotency::{self, Claim};
use crate::http::money_headers;
use crate::problem::{Problem, Reason};
use crate::self_check::SelfCheck;
use crate::service::Payer;
use crate::service::money::{self, Bill, Hold, IdempotencyLease};

/// Speech as JSON, when `verbose`, `timestamps` or `self_check` asked for it.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct VerboseSpeech<'a> {
    /// The sound, in base64.
    pub audio: String,
    pub content_type: &'a str,
    pub output_format: &'a str,
    pub voice_id: &'a str,
    pub seconds: f64,
    /// What was said, every number and abbreviation in words.
    pub normalised_text: &'a str,
    pub words: &'a [HeadWord],
    /// Only where `self_check` asked for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub self_check: Option<SelfCheck>,
}

/// Speak a text
///
/// Answers with the sound itself: a WAV file unless `output_format` says otherwise. The same
/// words in the same voice again come from the cache and are flagged with `Sauti-Cache: hit`.
#[utoipa::path(
    post,
    path = "/v1/audio/speech",
    tag = "speech",
    operation_id = "createSpeech",
    request_body(content = SpeechBody, content_type = "application/json"),
    params(("Idempotency-Key" = Option<String>, Header, description = "Send the same value again to retry without being charged twice.")),
    responses(
        (status = 200, description = "The sound. With `verbose`, `timestamps` or `self_check`, JSON; with `stream: \"sse\"`, events.", content(
            (Vec<u8> = "audio/wav"), (Vec<u8> = "audio/mpeg"), (Vec<u8> = "audio/ogg"), (Vec<u8> = "audio/flac"),
            (Vec<u8> = "audio/pcm"), (Vec<u8> = "audio/basic"), (Vec<u8> = "audio/x-alaw-basic"),
            (VerboseSpeech = "application/json"), (String = "text/event-stream"),
        ), headers(
            ("Sauti-Units" = i64, description = "Characters billed."),
            ("Sauti-Cost" = i64, description = "What was charged, in micro-units."),
            ("Sauti-Balance" = i64, description = "What is left, in micro-units."),
            ("Sauti-Cache" = String, description = "hit or miss."),
        )),
    ),
)]
pub async fn create_speech(
    State(app): State<App>,
    May(caller, _): May<Speech>,
    context: Context,
    headers: HeaderMap,
    JsonBytes(body): JsonBytes,
) -> Result<Response, Problem> {
    let request = SpeechRequest::parse(&body, &app.config.limits, &app.engine.voices())?;
    refuse_keyed_stream(&request, &headers)?;
    let lexicon = app.lexicons.of(&app.store, &caller.workspace_id).await?;
    let order = Order {
        app: &app,
        caller: &caller,
        payer: caller.payer(&context),
        headers: &headers,
        body: &body,
    };

    let request_key = produce::request_key(&request, &lexicon.version);
    if let Some(key) = request_key.and_then(|key| app.cache.resolve(&key))
        && !request.is_streamed()
        && let Some(speech) = produce::look_up(&app, key).await
    {
        let characters = request.text.chars().count();
        return order.answer_cached(&request, characters, &speech).await;
    }

    let reading = produce::read(&app, &request, &lexicon.lexicon)?;
    if let Some(request_key) = request_key {
        app.cache.remember(request_key, reading.key);
    }
    if request.is_streamed() {
        return stream_speech(&order, request, reading).await;
    }
    match produce::look_up(&app, reading.key).await {
        Some(speech) => {
            order
                .answer_cached(&request, reading.characters, &speech)
                .await
        }
        None => order.answer_new(&request, reading).await,
    }
}

/// A stream is not kept, so it could not be replayed.
fn refuse_keyed_stream(request: &SpeechRequest, headers: &HeaderMap) -> Result<(), Problem> {
    match request.is_streamed() && idempotency::key(headers)?.is_some() {
        true => Err(Problem::field(
            "stream",
            Reason::NotTogether {
                with: "Idempotency-Key",
            },
        )),
        false => Ok(()),
    }
}

async fn stream_speech(
    order: &Order<'_>,
    request: SpeechRequest,
    reading: produce::Reading,
) -> Result<Response, Problem> {
    let booking = produce::book(order.app, &order.caller.workspace_id, &reading)?;
    let bill = order.bill(reading.characters, false);
    let hold = Hold::reserve(order.app, &order.payer, &bill).await?;
    let mut extra = HeaderMap::new();
    money_headers::add_bill(&mut extra, &bill, &order.caller.currency);
    money_headers::add_balance(&mut extra, hold.available_micro());
    let mut response = stream::respond(
        order.app,
        order.caller.clone(),
        &request,
        reading,
        booking,
        hold,
        bill,
    )
    .await?;
    response.headers_mut().extend(extra);
    Ok(response)
}

/// One request, with everything that answering it takes.
struct Order<'a> {
    app: &'a App,
    caller: &'a Caller,
    payer: Payer,
    headers: &'a HeaderMap,
    body: &'a Bytes,
}

impl Order<'_> {
    fn bill(&self, characters: usize, cached: bool) -> Bill {
        Bill::speech(&self.app.config.prices, characters, cached)
    }

    async fn claim(&self) -> Result<Claim, Problem> {
        let fingerprint = || idempotency::fingerprint(&[b"POST /v1/audio/speech", self.body]);
        idempotency::claim(self.app, self.caller, self.headers, fingerprint).await
    }

    async fn answer_cached(
        &self,
        request: &SpeechRequest,
        characters: usize,
        speech: &Arc<CachedSpeech>,
    ) -> Result<Response, Problem> {
        let claim = self.claim().await?;
        let mut bill = self.bill(characters, true);
        bill.audio_seconds = speech.head.seconds;
        if matches!(claim, Claim::Paid) {
            bill.amount_micro = 0;
        }
        // A replay is an answer that was checked when it was first given.
        let check = match claim {
            Claim::Replay(_) => None,
            _ => self.check(request, speech).await?,
        };
        let (mut headers, body) = deliver(request, speech, check, &bill, &self.caller.currency);
        let balance_micro = match claim {
            Claim::Replay(answer) => {
                return idempotency::replay(self.app, self.caller, answer).await;
            }
            Claim::Paid => Hold::paid(self.app, &self.payer).await?.available_micro(),
            Claim::Unkeyed => money::charge(self.app, &self.payer, &bill, None).await?,
            Claim::New(lease) => {
                let keep = Some((lease, idempotency::stored(&headers, &body)));
                money::charge(self.app, &self.payer, &bill, keep).await?
            }
        };
        money_headers::add_balance(&mut headers, balance_micro);
        Ok(respond(headers, body))
    }

    async fn answer_new(
        &self,
        request: &SpeechRequest,
        reading: produce::Reading,
    ) -> Result<Response, Problem> {
        let claim = self.claim().await?;
        if let Claim::Replay(answer) = claim {
            return idempotency::replay(self.app, self.caller, answer).await;
        }
        let tenant = &self.caller.workspace_id;
        let booking = produce::book(self.app, tenant, &reading)?;
        let (lease, hold, mut bill) = match claim {
            Claim::Paid => {
                let bill = Bill {
                    amount_micro: 0,
                    ..self.bill(reading.characters, false)
                };
                (None, Hold::paid(self.app, &self.payer).await?, bill)
            }
            Claim::New(lease) => self.reserve(Some(lease), reading.characters).await?,
            _ => self.reserve(None, reading.characters).await?,
        };
        let spoken = reading.script.spoken();
        let (script, booking) = (reading.script, Some(booking));
        let handle = produce::start(self.app, tenant, request, script, booking)?;
        let speech = Arc::new(produce::finish(self.app, handle, request, spoken).await?);
        self.app.cache.put(reading.key, Arc::clone(&speech));

        bill.audio_seconds = speech.head.seconds;
        let check = self.check(request, &speech).await?;
        let (mut headers, body) = deliver(request, &speech, check, &bill, &self.caller.currency);
        let keep = lease.map(|lease| (lease, idempotency::stored(&headers, &body)));
        let balance_micro = hold.settle(&bill, keep).await?;
        money_headers::add_balance(&mut headers, balance_micro);
        Ok(respond(headers, body))
    }

    async fn check(
        &self,
        request: &SpeechRequest,
        speech: &CachedSpeech,
    ) -> Result<Option<SelfCheck>, Problem> {
        if !request.self_check {
            return Ok(None);
        }
        let tenant = &self.caller.workspace_id;
        Ok(Some(
            produce::listen(self.app, tenant, request, speech).await?,
        ))
    }

    async fn reserve(
        &self,
        lease: Option<IdempotencyLease>,
        characters: usize,
    ) -> Result<(Option<IdempotencyLease>, Hold, Bill), Problem> {
        let bill = self.bill(characters, false);
        let hold = Hold::reserve(self.app, &self.payer, &bill).await?;
        Ok((lease, hold, bill))
    }
}

/// The headers and body of finished speech; the length is exact.
fn deliver(
    request: &SpeechRequest,
    speech: &CachedSpeech,
    check: Option<SelfCheck>,
    bill: &Bill,
    currency: &str,
) -> (HeaderMap, Bytes) {
    let (content_type, body) = match request.delivery {
        Delivery::Json => ("application/json", verbose(request, speech, check)),
        _ => (request.format.content_type(), speech.audio.clone()),
    };
    let mut headers = HeaderMap::with_capacity(16);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(CONTENT_LENGTH, HeaderValue::from(body.len()));
    money_headers::add_bill(&mut headers, bill, currency);
    (headers, body)
}

fn verbose(request: &SpeechRequest, speech: &CachedSpeech, check: Option<SelfCheck>) -> Bytes {
    let body = VerboseSpeech {
        audio: BASE64.encode(&speech.audio),
        content_type: request.format.content_type(),
        output_format: request.format.name(),
        voice_id: &request.voice_id,
        seconds: speech.head.seconds,
        normalised_text: &speech.head.spoken,
        words: &speech.head.words,
        self_check: check,
    };
    Bytes::from(serde_json::to_vec(&body).unwrap_or_default())
}

fn respond(headers: HeaderMap, body: Bytes) -> Response {
    let mut response = Response::new(Body::from(body));
    *response.headers_mut() = headers;
    response
}
