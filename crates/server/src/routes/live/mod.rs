//! `GET /v1/audio/transcriptions/live`: a WebSocket that hears while somebody speaks.
//!
//! In: binary messages of samples, mono or of both sides of a call in turn, and `{"type":"finish"}`. Out: JSON,
//! `partial` (replaces the one before), `final` (a finished stretch), `done`, `error`.

mod session;

use axum::extract::ws::WebSocketUpgrade;
use axum::extract::{RawQuery, State};
use axum::http::HeaderMap;
use axum::http::header::{HOST, ORIGIN};
use axum::http::request::Parts;
use axum::response::Response;
use sauti_audio::RawFormat;
use sauti_service::app::App;
use sauti_service::transcribing::{LiveEar, LiveMeter, TranscriptionFields, TranscriptionRequest};
use sauti_speech::Readiness;

use self::session::LiveConnection;
use crate::routes::transcription::{checked, without_brackets};
use sauti_web::caller::{self, Caller, May};
use sauti_web::context::Context;
use sauti_web::problem::{Code, FieldError, Problem, Reason};
use sauti_web::query::Query;

const MESSAGE_BYTES_MAX: usize = 256 * 1024;
/// Room for what was told and is not yet read; past it the session waits for its caller.
const WRITE_BYTES_MAX: usize = 1024 * 1024;
const RATE_HZ_MIN: u32 = 8_000;
const RATE_HZ_MAX: u32 = 48_000;

/// Transcribe while somebody speaks (WebSocket)
///
/// Send binary messages of mono samples and `{"type":"finish"}` at the end; `partial`, `final`,
/// `done` and `error` messages come back as JSON. With `channels=separate`, samples of both sides of a call come in turn
/// and each message says its `channel`. Every started second of each channel is charged; who leaves without `finish` pays for what was heard until the last message that came back.
#[utoipa::path(get, path = "/v1/audio/transcriptions/live", tag = "transcription", operation_id = "liveTranscription",
    params(
        ("encoding" = Option<String>, Query, description = "pcm (default: 16-bit little-endian), ulaw or alaw (G.711, 8000 samples a second)."),
        ("rate" = Option<u32>, Query, description = "Samples a second of pcm, 8000 to 48000; 16000 if absent."),
        ("numerals" = Option<String>, Query, description = "words (default) or digits."),
        ("expect" = Option<String>, Query, description = "any (default), digits, yes_no or amount."),
        ("language" = Option<String>, Query, description = "sw, en or auto (default): the language that is spoken, where it is known."),
        ("channels" = Option<String>, Query, description = "mixed (default: mono samples) or separate: samples of two channels in turn, each heard for itself."),
        ("keyterms" = Option<String>, Query, description = "Names and terms to listen for, separated by commas; or one by one as `keyterms[]`."),
        ("choices" = Option<String>, Query, description = "The answers that are expected, separated by commas; or one by one as `choices[]`."),
        ("vocabulary" = Option<String>, Query, description = "The name of a vocabulary of the workspace, to listen with."),
        ("prompt" = Option<String>, Query, description = "Text whose words are likely to be said."),
        ("alternatives" = Option<u32>, Query, description = "1 to 10: so many readings in each final, best first, each with how likely it is."),
    ),
    responses((status = 101, description = "The WebSocket is open.")))]
pub async fn live(
    State(app): State<App>,
    May(caller, _): May<caller::Transcription>,
    context: Context,
    RawQuery(query): RawQuery,
    parts: Parts,
    upgrade: Result<WebSocketUpgrade, axum::extract::ws::rejection::WebSocketUpgradeRejection>,
) -> Result<Response, Problem> {
    refuse_other_sites(&app, &caller, &parts.headers)?;
    let (format, wanted) = parse(query.as_deref())?;
    let upgrade = upgrade.map_err(|_| {
        Problem::detailed(Code::MalformedRequest, "Open this address as a WebSocket.")
    })?;
    match app.engine.readiness() {
        Readiness::Ready => {}
        Readiness::Draining => return Err(Problem::new(Code::ShuttingDown).retry_after(5)),
        _ => return Err(Problem::new(Code::WarmingUp).retry_after(2)),
    }
    // Rate and money before the seat: who cannot pay takes no place, and 402 is a proper refusal.
    let meter =
        LiveMeter::open(&app, caller.payer(&context), &caller.actor, wanted.channels).await?;
    let seat = app.live_sessions.take_seat(&caller.workspace_id)?;
    let ear = LiveEar::open(&app, &caller.workspace_id, format, &wanted).await?;
    let session = LiveConnection::new(app, caller, context, parts, meter, ear, seat);
    Ok(upgrade
        .max_message_size(MESSAGE_BYTES_MAX)
        .max_frame_size(MESSAGE_BYTES_MAX)
        .max_write_buffer_size(WRITE_BYTES_MAX)
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

const ONE_VALUE: &[&str] = &[
    "numerals",
    "expect",
    "language",
    "channels",
    "alternatives",
    "vocabulary",
    "prompt",
];
/// What a whole recording can be asked, and somebody who is still speaking cannot.
const WHOLE_RECORDING: &[&str] = &["diarize", "response_format"];
/// What is so in a live session anyway.
const IN_ANY_CASE: &[&str] = &["false", "json", "verbose_json"];
/// What other services call these; sound that is read with the wrong rate or coding is noise that costs money.
const ELSEWHERE: [(&str, &str); 7] = [
    ("format", "encoding"),
    ("codec", "encoding"),
    ("audio_format", "encoding"),
    ("sample_rate", "rate"),
    ("sample_rate_hz", "rate"),
    ("sampling_rate", "rate"),
    ("rate_hz", "rate"),
];
/// What the sound is; without a value it would be heard as something else.
const OF_THE_SOUND: &[&str] = &["encoding", "rate", "channels"];
/// With brackets, as in a form, they come value by value.
const LISTS: &[&str] = &["keyterms", "keywords", "choices"];

fn parse(query: Option<&str>) -> Result<(RawFormat, TranscriptionRequest), Problem> {
    let mut query = Query::parse(query);
    let mut wrong = query.empty(OF_THE_SOUND);
    let format = format(
        query.take("encoding").as_deref(),
        query.take("rate").as_deref(),
    )?;
    let mut fields = TranscriptionFields::default();
    for name in ONE_VALUE {
        fields.set(name, query.take_as_is(name).into_iter().collect());
    }
    for name in LISTS {
        let listed = query.take_as_is(name);
        let listed = listed.iter().flat_map(|listed| listed.split(','));
        let one_by_one = query.take_all(&format!("{name}[]"));
        fields.set(name, listed.map(str::to_owned).chain(one_by_one).collect());
    }
    wrong.extend(WHOLE_RECORDING.iter().filter_map(|name| {
        query
            .take(name)
            .filter(|value| !IN_ANY_CASE.contains(&value.as_str()))?;
        let message = "is for whole recordings, not for live sessions".to_owned();
        Some(FieldError::new(*name, Reason::Other { message }))
    }));
    wrong.extend(slips(&mut query));
    let wanted = checked(fields.check().map_err(without_brackets), wrong)?;
    Ok((format, wanted))
}

/// Slips for our names, and names of other services, slips for these included.
fn slips(query: &mut Query) -> Vec<FieldError> {
    let elsewhere = ELSEWHERE.map(|(name, _)| name);
    let exact = ELSEWHERE.into_iter().filter_map(|(name, meant)| {
        query.take_as_is(name)?;
        Some(FieldError::new(name, Reason::NearMiss { meant }))
    });
    let mut all: Vec<FieldError> = exact.collect();
    let known = [&["encoding", "rate"], ONE_VALUE, LISTS, &elsewhere].concat();
    all.extend(query.slips(&known).into_iter().map(|mut slip| {
        if let Reason::NearMiss { meant } = &mut slip.reason
            && let Some((_, ours)) = ELSEWHERE.iter().find(|(name, _)| name == meant)
        {
            *meant = ours;
        }
        slip
    }));
    all
}

fn format(encoding: Option<&str>, rate: Option<&str>) -> Result<RawFormat, Problem> {
    let pcm_rate = || match rate {
        None => Ok(16_000),
        Some(text) => {
            let rate_hz = text.parse().ok();
            let rate_hz = rate_hz.filter(|rate_hz| (RATE_HZ_MIN..=RATE_HZ_MAX).contains(rate_hz));
            let (min, max) = (f64::from(RATE_HZ_MIN), f64::from(RATE_HZ_MAX));
            rate_hz.ok_or_else(|| Problem::field("rate", Reason::OutOfRange { min, max }))
        }
    };
    match encoding {
        None | Some("pcm") => Ok(RawFormat::Pcm16Le {
            rate_hz: pcm_rate()?,
        }),
        Some("ulaw") => telephone_rate(rate).map(|()| RawFormat::Ulaw8000),
        Some("alaw") => telephone_rate(rate).map(|()| RawFormat::Alaw8000),
        Some(_) => {
            let allowed = "pcm, ulaw, alaw".to_owned();
            Err(Problem::field("encoding", Reason::UnknownValue { allowed }))
        }
    }
}

fn telephone_rate(rate: Option<&str>) -> Result<(), Problem> {
    let expected = "8000 with ulaw and alaw";
    match rate {
        None | Some("8000") => Ok(()),
        Some(_) => Err(Problem::field("rate", Reason::Malformed { expected })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_says_how_to_listen() {
        let (format, wanted) =
            parse(Some("rate=8000&numerals=digits&keyterms=M-Pesa,Juma")).unwrap();
        assert_eq!(format, RawFormat::Pcm16Le { rate_hz: 8_000 });
        assert!(wanted.digits);
        assert_eq!(wanted.keyterms, ["M-Pesa", "Juma"]);
        assert!(parse(Some("rate=4000")).is_err());
        assert!(parse(Some("rate=fast")).is_err());
        assert!(parse(Some("expect=joy")).is_err());
        assert!(parse(Some("channels=2")).is_err());
        assert!(parse(Some("alternatives=11")).is_err());
        let slip = parse(Some("rat=8000")).unwrap_err();
        assert_eq!(slip.errors[0].reason, Reason::NearMiss { meant: "rate" });
        let twice = parse(Some("keyterms=Juma&keyterms=Asha")).unwrap_err();
        assert_eq!(twice.errors[0].reason, Reason::TooMany { max: 1 });
        let unheard = parse(Some("choices=Salio,!%3F")).unwrap_err();
        assert_eq!(unheard.errors[0].field, "choices");
        let (_, wanted) = parse(Some(
            "keyterms[]=M-Pesa,+Nairobi&keyterms%5B%5D=Juma&keywords=Asha",
        ))
        .unwrap();
        assert_eq!(wanted.keyterms, ["M-Pesa, Nairobi", "Juma", "Asha"]);
        assert!(parse(Some("trace=7&trace=8&diarize=false")).is_ok());
        assert_eq!(
            parse(Some("diarize=true")).unwrap_err().errors[0].field,
            "diarize"
        );
        let (_, wanted) = parse(Some("channels=separate")).unwrap();
        assert_eq!(wanted.channels, sauti_audio::Channels::Separate);
    }

    #[test]
    fn what_would_be_heard_otherwise_is_refused_by_its_name() {
        for name in ["encoding", "rate", "channels", "expect", "choices"] {
            let empty = parse(Some(&format!("{name}="))).unwrap_err();
            assert_eq!(empty.errors, [FieldError::new(name, Reason::Empty)]);
        }
        for (name, meant) in [
            ("sampleRate", "rate"),
            ("sample_rate_hertz", "rate"),
            ("sample_rate", "rate"),
            ("Codec", "encoding"),
            ("choises[]", "choices"),
        ] {
            let slip = parse(Some(&format!("{name}=8000"))).unwrap_err();
            assert_eq!(
                slip.errors,
                [FieldError::new(name, Reason::NearMiss { meant })]
            );
        }
        assert!(
            parse(Some(
                "keyterms=&prompt=&language=&model=nova&smart_format=true"
            ))
            .is_ok()
        );
    }

    #[test]
    fn telephone_sound_comes_at_its_own_rate_only() {
        let format = |query| parse(Some(query)).map(|(format, _)| format);
        assert_eq!(format("encoding=ulaw").unwrap(), RawFormat::Ulaw8000);
        assert_eq!(
            format("encoding=alaw&rate=8000").unwrap(),
            RawFormat::Alaw8000
        );
        assert!(format("encoding=ulaw&rate=16000").is_err());
        assert!(format("encoding=opus").is_err());
    }
}
