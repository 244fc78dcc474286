//! `POST /v1/audio/speech`: a text in, sound out.

mod request;
mod stream;

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use bytes::Bytes;
use sauti_service::Payer;
use sauti_service::app::App;
use sauti_service::money::{Claim, fingerprint};
use sauti_service::speaking::{self, Reading, Speaking, Unpaid};
use sauti_speech::rounded_seconds;
use serde::Serialize;

pub use request::{AskedSpeech, SpeechBody, SpeechDelivery, take_direction, take_language};
pub use stream::{Pieces, break_off, sse};

use crate::written::{TimedMark, TimedWord, WrittenCheck};
use sauti_web::caller::{May, Speech};
use sauti_web::context::Context;
use sauti_web::fields::JsonBytes;
use sauti_web::idempotency;
use sauti_web::money_headers;
use sauti_web::problem::{Problem, Reason};

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
    pub words: Vec<TimedWord<'a>>,
    /// The marks of SSML, in their order.
    pub marks: Vec<TimedMark<'a>>,
    /// Only where `self_check` asked for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub self_check: Option<WrittenCheck>,
}

/// Speak a text
///
/// Answers with the sound itself: a WAV file unless `output_format` says otherwise, or MP3 where the
/// text came by OpenAI's name, `input`. The same
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
            ("Sauti-Voice" = String, description = "The voice that spoke."),
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
    let asked = AskedSpeech::parse(&body, &app.config, &app.engine.voices())?;
    refuse_keyed_stream(&asked, &headers)?;
    let lexicon = app.lexicons.of(&app.store, &caller.workspace_id).await?;
    let passage = asked.request.passage();
    let reading = app.reader.read(&app.config.limits, passage, &lexicon)?;
    let payer = caller.payer(&context);
    let speaking = Speaking {
        app: &app,
        payer: &payer,
        request: &asked.request,
        reading: Arc::clone(&reading),
        job: speaking::interactive(&app, &caller.workspace_id),
    };
    if asked.is_streamed() {
        return stream::respond(caller, &asked, speaking.stream().await?);
    }
    let key = idempotency::key(&headers)?;
    // What is said counts too: with other pronunciations the same text is another request.
    let fingerprint = || fingerprint(&[b"POST /v1/audio/speech", &body, reading.identity()]);
    let claim = Claim::new(&app.store, &caller.workspace_id, key, fingerprint);
    let (lease, is_paid) = match claim.await? {
        Claim::Replay(answer) => return idempotency::replay(&app, &caller, answer).await,
        Claim::New(lease) => (Some(lease), false),
        Claim::Unkeyed => (None, false),
        Claim::Paid => (None, true),
    };
    let unpaid = speaking.speak(is_paid).await?;
    let (mut headers, body) = print(&app, &payer, &asked, &reading, &unpaid).await?;
    let keep = lease.map(|lease| (lease, idempotency::stored(&headers, &body)));
    let balance_micro = unpaid.settle(keep).await?;
    money_headers::add_balance(&mut headers, balance_micro);
    let mut response = Response::new(Body::from(body));
    *response.headers_mut() = headers;
    Ok(response)
}

/// Which voice spoke, since it may have been asked for by another service's name.
fn add_voice(headers: &mut HeaderMap, voice_id: &str) {
    if let Ok(voice_id) = HeaderValue::from_str(voice_id) {
        headers.insert(HeaderName::from_static("sauti-voice"), voice_id);
    }
}

/// A stream is not kept, so it could not be replayed.
fn refuse_keyed_stream(asked: &AskedSpeech, headers: &HeaderMap) -> Result<(), Problem> {
    match asked.is_streamed() && idempotency::key(headers)?.is_some() {
        true => Err(Problem::field(
            "stream",
            Reason::NotTogether {
                with: "Idempotency-Key",
            },
        )),
        false => Ok(()),
    }
}

/// The headers and body of finished speech, all but the balance; the length is exact.
async fn print(
    app: &App,
    payer: &Payer,
    asked: &AskedSpeech,
    reading: &Reading,
    unpaid: &Unpaid<'_>,
) -> Result<(HeaderMap, Bytes), Problem> {
    let (format, speech) = (asked.request.format, &unpaid.speech);
    let (content_type, body) = match asked.delivery {
        SpeechDelivery::Json => {
            let said = reading.script.spoken();
            let self_check = match asked.self_check {
                true => {
                    let tenant = &payer.workspace_id;
                    let heard = speaking::listen(app, tenant, format, &speech.audio, &said);
                    Some(heard.await?.into())
                }
                false => None,
            };
            let body = VerboseSpeech {
                audio: BASE64.encode(&speech.audio),
                content_type: format.content_type(),
                output_format: format.name(),
                voice_id: &asked.request.voice_id,
                seconds: rounded_seconds(speech.seconds),
                normalised_text: &said,
                words: speech.words(&reading.script).map(TimedWord::from).collect(),
                marks: speech.marks(&reading.script).map(TimedMark::from).collect(),
                self_check,
            };
            let body = serde_json::to_vec(&body).map_err(Problem::internal)?;
            ("application/json", Bytes::from(body))
        }
        _ => (format.content_type(), speech.audio.clone()),
    };
    let mut headers = HeaderMap::with_capacity(16);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(CONTENT_LENGTH, HeaderValue::from(body.len()));
    add_voice(&mut headers, &asked.request.voice_id);
    money_headers::add_bill(&mut headers, &unpaid.bill, &payer.currency);
    Ok((headers, body))
}
