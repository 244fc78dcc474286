//! `POST /v1/audio/transcriptions`: a recording in, its words out.

mod form_parts;
mod request;
mod stream;
pub mod upload;

use std::time::Duration;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::Response;
use sauti_service::app::App;
use sauti_service::money::{Claim, fingerprint};
use sauti_service::transcribing::{Sound, Transcribing, TranscriptionRequest, take_audio};
use sauti_speech::{Booking, Job, Priority};

pub use form_parts::FormParts;
pub use request::{
    TranscriptionForm, checked, from_form, from_item, is_item_field, without_brackets,
};
pub use upload::{Form, read_form};

use crate::written::{Transcription, WrittenTranscript, write};
use sauti_web::caller::{self, Caller, May};
use sauti_web::context::Context;
use sauti_web::idempotency;
use sauti_web::money_headers;
use sauti_web::problem::{Problem, Reason};

/// A recording that nobody has seen yet is taken for no longer than this.
const UNSEEN_SECONDS_MAX: f64 = 600.0;

/// Transcribe a recording
///
/// The bytes decide what the file is, not its name. A recording without speech gives an empty
/// text, never invented words.
#[utoipa::path(
    post,
    path = "/v1/audio/transcriptions",
    tag = "transcription",
    operation_id = "createTranscription",
    request_body(content = TranscriptionForm, content_type = "multipart/form-data"),
    params(("Idempotency-Key" = Option<String>, Header, description = "Send the same value again to retry without being charged twice.")),
    responses(
        (status = 200, description = "The transcript in the form of `response_format`; with `stream`, events.", content(
            (Transcription = "application/json"), (String = "text/plain"), (String = "application/x-subrip"),
            (String = "text/vtt"), (String = "text/event-stream"),
        ), headers(
            ("Sauti-Units" = i64, description = "Seconds billed, rounded up."),
            ("Sauti-Cost" = i64, description = "What was charged, in micro-units."),
            ("Sauti-Balance" = i64, description = "What is left, in micro-units."),
        )),
    ),
)]
pub async fn create_transcription(
    State(app): State<App>,
    May(caller, _): May<caller::Transcription>,
    context: Context,
    request: Request,
) -> Result<Response, Problem> {
    let headers = request.headers().clone();
    let idempotency_key = idempotency::key(&headers)?;
    if idempotency_key.is_none() {
        refuse_before_upload(&app, &caller, &headers)?;
    }
    let form = upload::read_form(
        request,
        app.config.limits.upload_bytes_max,
        &app.spool_dir(),
    )
    .await?;
    let wanted = from_form(&form.fields)?;
    if wanted.stream && idempotency_key.is_some() {
        return Err(Problem::field(
            "stream",
            Reason::NotTogether {
                with: "Idempotency-Key",
            },
        ));
    }
    let claim = Claim::new(&app.store, &caller.workspace_id, idempotency_key, || {
        fingerprint_of(&form)
    });
    let claim = claim.await?;
    if let Claim::Replay(answer) = claim {
        return idempotency::replay(&app, &caller, answer).await;
    }
    let channels = f64::from(wanted.channels.count());
    let about_seconds = form.file.about_seconds() * channels;
    let booking = app
        .engine
        .book_transcription(&caller.workspace_id, about_seconds)?;
    let sound = Sound::decode(&app, form.file, wanted.channels).await?;
    let heard_seconds = sound.seconds * channels;
    take_audio(&app, &caller.actor, heard_seconds).await?;
    let more_s = app.config.server.request_timeout_per_audio_second * heard_seconds;
    context.deadline().extend(Duration::from_secs_f64(more_s));
    answer(&app, caller, &context, &wanted, sound, booking, claim).await
}

/// Spares the caller an upload that would be refused whatever is in it. Whoever brings an idempotency key may be owed
/// an answer that is already there.
fn refuse_before_upload(app: &App, caller: &Caller, headers: &HeaderMap) -> Result<(), Problem> {
    let length = headers.get(CONTENT_LENGTH);
    let length: Option<u64> = length.and_then(|value| value.to_str().ok()?.parse().ok());
    let Some(bytes) = length else { return Ok(()) };
    let seconds = sauti_audio::seconds_at_most(bytes).min(UNSEEN_SECONDS_MAX);
    app.engine
        .book_transcription(&caller.workspace_id, seconds)?;
    Ok(())
}

async fn answer(
    app: &App,
    caller: Caller,
    context: &Context,
    wanted: &TranscriptionRequest,
    sound: Sound,
    booking: Booking,
    claim: Claim,
) -> Result<Response, Problem> {
    let payer = caller.payer(context);
    let (is_paid, lease) = match claim {
        Claim::Paid => (true, None),
        Claim::New(lease) => (false, Some(lease)),
        _ => (false, None),
    };
    let job = Job {
        tenant: caller.workspace_id.to_string(),
        deadline: context.deadline().at(),
        priority: Priority::Interactive,
    };
    let transcribing =
        Transcribing::start(app, &payer, job, wanted, sound, Some(booking), is_paid).await?;
    if wanted.stream {
        return stream::respond(app, caller, transcribing, wanted).await;
    }
    let (transcript, hold, bill) = transcribing.finish().await?;
    let (content_type, written) = write(wanted, &transcript);
    let body = match written {
        WrittenTranscript::Text(text) => text.into_bytes(),
        object => serde_json::to_vec(&object).map_err(Problem::internal)?,
    };
    let mut headers = HeaderMap::with_capacity(16);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(CONTENT_LENGTH, HeaderValue::from(body.len()));
    money_headers::add_bill(&mut headers, &bill, &caller.currency);
    let keep = lease.map(|lease| (lease, idempotency::stored(&headers, &body)));
    let balance_micro = hold.settle(&bill, keep).await?;
    money_headers::add_balance(&mut headers, balance_micro);
    let mut response = Response::new(Body::from(body));
    *response.headers_mut() = headers;
    Ok(response)
}

/// Another boundary does not make another request: only what stands in the parts counts.
fn fingerprint_of(form: &Form) -> String {
    let mut parts: Vec<&[u8]> = vec![b"POST /v1/audio/transcriptions", &form.file.sha256];
    for (name, value) in &form.fields {
        parts.push(name.as_bytes());
        parts.push(value.as_bytes());
    }
    fingerprint(&parts)
}
