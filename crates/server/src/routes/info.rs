//! What a program asks before it asks for work: models, limits, prices, what a text will sound like.

use axum::Json;
use axum::extract::{Path, State};
use sauti_audio::{Channels, OutputFormat, UnknownChannels};
use sauti_service::app::App;
use sauti_service::money::Bill;
use sauti_service::speaking::{Passage, looks_like_ssml};
use sauti_speech::{PitchShift, Speed, VolumeGain};
use sauti_store::Operation;
use serde::{Deserialize, Serialize};

use super::speech::{take_direction, take_language};
use sauti_web::caller::{AnyKey, May, Speech};
use sauti_web::fields::{Fields, JsonBytes};
use sauti_web::problem::{Code, Problem, Reason};

/// As OpenAI's clients expect it.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct ModelList {
    pub object: &'static str,
    pub data: Vec<Model>,
}

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct Model {
    pub id: &'static str,
    pub object: &'static str,
    pub created: i64,
    pub owned_by: &'static str,
}

const MODELS: [&str; 2] = ["sauti-speech", "sauti-transcription"];

fn model(id: &'static str) -> Model {
    Model {
        id,
        object: "model",
        created: 1_767_225_600,
        owned_by: "sauti",
    }
}

/// List the models, for OpenAI's clients
#[utoipa::path(get, path = "/v1/models", tag = "voices", operation_id = "listModels",
    responses((status = 200, description = "One model to speak, one to listen.", body = ModelList)))]
pub async fn list_models(_: May<AnyKey>) -> Json<ModelList> {
    Json(ModelList {
        object: "list",
        data: MODELS.map(model).into(),
    })
}

/// Show one model, for OpenAI's clients
#[utoipa::path(get, path = "/v1/models/{model}", tag = "voices", operation_id = "getModel",
    params(("model" = String, Path, description = "As in the list of models.")),
    responses((status = 200, description = "The model.", body = Model)))]
pub async fn get_model(_: May<AnyKey>, Path(id): Path<String>) -> Result<Json<Model>, Problem> {
    let known = MODELS.into_iter().find(|known| *known == id);
    let unknown = || Problem::detailed(Code::NotFound, "There is no such model.");
    known.map(model).map(Json).ok_or_else(unknown)
}

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct LimitsBody {
    pub text_characters_max: usize,
    /// What one text may take to say, estimated before it is spoken.
    pub speech_seconds_max: u64,
    pub file_bytes_max: u64,
    pub recording_seconds_max: u64,
    pub requests_per_minute: u32,
    pub concurrent_requests: u32,
    pub audio_seconds_per_minute: u32,
    pub request_seconds_max: u64,
    /// Added to `request_seconds_max` for each second of a recording.
    pub request_seconds_per_audio_second: f64,
    pub speed_min: f64,
    pub speed_max: f64,
    /// Semitones.
    pub pitch_min: f64,
    pub pitch_max: f64,
    /// Decibels.
    pub volume_min: f64,
    pub volume_max: f64,
    pub output_formats: Vec<String>,
    pub prices: PricesBody,
}

/// In micro-units: millionths of the currency.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct PricesBody {
    pub currency: String,
    pub per_1000_characters_micro: i64,
    pub per_audio_minute_micro: i64,
    pub smallest_charge_micro: i64,
    /// What cached speech costs, as a part of the full price.
    pub cached_fraction: f64,
}

/// Show the bounds and the prices
#[utoipa::path(get, path = "/v1/limits", tag = "workspace", operation_id = "getLimits",
    responses((status = 200, description = "What is accepted, and what it costs.", body = LimitsBody)))]
pub async fn get_limits(State(app): State<App>, May(caller, _): May<AnyKey>) -> Json<LimitsBody> {
    let (limits, prices) = (&app.config.limits, &app.config.prices);
    let rates = app.rates.limits();
    Json(LimitsBody {
        text_characters_max: limits.text_chars_max,
        speech_seconds_max: limits.speech_seconds_max,
        file_bytes_max: limits.upload_bytes_max,
        recording_seconds_max: limits.recording_seconds_max,
        requests_per_minute: rates.requests_per_minute,
        concurrent_requests: rates.concurrent_requests,
        audio_seconds_per_minute: rates.audio_seconds_per_minute,
        request_seconds_max: app.config.server.request_timeout_s,
        request_seconds_per_audio_second: app.config.server.request_timeout_per_audio_second,
        speed_min: Speed::MIN,
        speed_max: Speed::MAX,
        pitch_min: PitchShift::MIN,
        pitch_max: PitchShift::MAX,
        volume_min: VolumeGain::MIN,
        volume_max: VolumeGain::MAX,
        output_formats: OutputFormat::ALL.iter().map(ToString::to_string).collect(),
        prices: PricesBody {
            currency: caller.currency,
            per_1000_characters_micro: prices.per_1000_characters_micro,
            per_audio_minute_micro: prices.per_audio_minute_micro,
            smallest_charge_micro: prices.smallest_charge_micro,
            cached_fraction: prices.cached_fraction,
        },
    })
}

/// A recording without any sound is refused, so it has no price.
const SECONDS_MIN: f64 = 0.001;

/// Either a text to speak or seconds to transcribe.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[schema(as = QuoteRequest, example = json!({"text": "Habari za asubuhi."}))]
pub struct QuoteBody {
    pub text: Option<String>,
    /// Whether `text` is SSML.
    pub ssml: Option<bool>,
    /// As in the speech request.
    pub language: Option<String>,
    /// As in the speech request: a text that would take too long to say is refused.
    #[schema(minimum = 0.5, maximum = 2.0)]
    pub speed: Option<f64>,
    /// As in the speech request; costs nothing more.
    #[schema(minimum = -12, maximum = 12)]
    pub pitch: Option<f64>,
    /// As in the speech request; costs nothing more.
    #[schema(minimum = -24, maximum = 12)]
    pub volume: Option<f64>,
    /// The length of a recording.
    #[schema(minimum = 0.001)]
    pub audio_seconds: Option<f64>,
    /// As in the transcription request: with `separate`, the seconds of two channels are charged.
    pub channels: Option<String>,
}

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct Quote {
    #[schema(value_type = String)]
    /// `speech` or `transcription`
    pub operation: Operation,
    /// Characters or seconds.
    pub units: i64,
    pub cost_micro: i64,
    /// What the same speech costs when it comes from the cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached_cost_micro: Option<i64>,
    pub currency: String,
    pub balance_micro: i64,
    /// Whether the balance, and what is left of the key's spend cap, cover it now.
    pub covered: bool,
}

/// Price a request without doing it
#[utoipa::path(post, path = "/v1/quotes", tag = "workspace", operation_id = "createQuote",
    request_body = QuoteBody,
    responses((status = 200, description = "What it would cost.", body = Quote)))]
pub async fn create_quote(
    State(app): State<App>,
    May(caller, _): May<AnyKey>,
    JsonBytes(body): JsonBytes,
) -> Result<Json<Quote>, Problem> {
    let mut fields = Fields::parse(&body)?;
    let text_field = fields.sent_as("text", "input");
    let text = fields
        .text_by("text", "input")
        .map(|text| text.trim().to_owned());
    let ssml = fields.flag("ssml");
    let direction = take_direction(&mut fields);
    let language = take_language(&mut fields);
    let seconds = fields.number("audio_seconds");
    let channels = take_channels(&mut fields);
    if text.is_none()
        && seconds.is_none()
        && !fields.is_wrong(text_field)
        && !fields.is_wrong("audio_seconds")
    {
        fields.error("text", Reason::Required);
    }
    if text.is_some() && seconds.is_some() {
        fields.error("audio_seconds", Reason::NotTogether { with: text_field });
    }
    if text.as_deref() == Some("") {
        fields.error(text_field, Reason::Empty);
    }
    let seconds_max = app.config.limits.recording_seconds_max as f64;
    if seconds.is_some_and(|seconds| !(SECONDS_MIN..=seconds_max).contains(&seconds)) {
        fields.error(
            "audio_seconds",
            Reason::OutOfRange {
                min: SECONDS_MIN,
                max: seconds_max,
            },
        );
    }
    fields.finish(
        &[
            "text",
            "input",
            "ssml",
            "language",
            "speed",
            "pitch",
            "volume",
            "audio_seconds",
            "channels",
        ],
        &["voice_id", "voice", "model", "output_format"],
    )?;

    let prices = &app.config.prices;
    let balance_micro = app
        .store
        .balance(&caller.workspace_id)
        .await?
        .available_micro;
    let (bill, cached_cost_micro) = match text {
        Some(text) => {
            let passage = Passage {
                text: &text,
                is_ssml: ssml.unwrap_or_else(|| looks_like_ssml(&text)),
                language,
                speed: direction.speed,
            };
            let lexicon = app.lexicons.of(&app.store, &caller.workspace_id).await?;
            let reading = app.reader.read(&app.config.limits, passage, &lexicon)?;
            let cached = reading.bill(prices, true).amount_micro;
            (reading.bill(prices, false), Some(cached))
        }
        None => {
            let seconds = seconds.unwrap_or_default();
            (Bill::transcription(prices, seconds, channels), None)
        }
    };
    let cost_micro = bill.amount_micro;
    let left_micro = match &caller.key_id {
        Some(key_id) => {
            let key = app.store.key(&caller.workspace_id, key_id).await?;
            let cap = key.spend_cap_micro;
            cap.map_or(balance_micro, |cap| {
                balance_micro.min(cap - key.committed_micro)
            })
        }
        None => balance_micro,
    };
    let covered = cost_micro <= left_micro;
    let currency = caller.currency;
    Ok(Json(Quote {
        operation: bill.operation,
        units: bill.units,
        cost_micro,
        cached_cost_micro,
        currency,
        balance_micro,
        covered,
    }))
}

fn take_channels(fields: &mut Fields) -> Channels {
    match fields.text("channels").as_deref().map(str::parse) {
        None => Channels::Mixed,
        Some(Ok(channels)) => channels,
        Some(Err(UnknownChannels)) => {
            let allowed = Channels::NAMES.to_owned();
            fields.error("channels", Reason::UnknownValue { allowed });
            Channels::Mixed
        }
    }
}

#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[schema(as = NormaliseRequest, example = json!({"text": "Saa 3:30 nitalipa KSh 1,500."}))]
pub struct NormaliseBody {
    pub text: String,
    /// Whether `text` is SSML.
    pub ssml: Option<bool>,
    /// As in the speech request.
    pub language: Option<String>,
}

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct Normalised {
    /// What a voice would say, every number and abbreviation in words.
    pub text: String,
    pub words: Vec<NormalisedWord>,
}

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct NormalisedWord {
    pub word: String,
    /// IPA, the stress mark right before the stressed vowel.
    pub phonemes: String,
    /// Given if the word was taken for English: how it sounds there, in IPA. `phonemes` has the nearest sounds that the
    /// voices know.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub english: Option<String>,
    /// Where in the text it was read from, in bytes.
    pub start: usize,
    pub end: usize,
}

/// See what will be said, free of charge
#[utoipa::path(post, path = "/v1/normalise", tag = "speech", operation_id = "normalise",
    request_body = NormaliseBody,
    responses((status = 200, description = "The text in words.", body = Normalised)))]
pub async fn normalise(
    State(app): State<App>,
    May(caller, _): May<Speech>,
    JsonBytes(body): JsonBytes,
) -> Result<Json<Normalised>, Problem> {
    let mut fields = Fields::parse(&body)?;
    let text_field = fields.sent_as("text", "input");
    let text = fields.text_by("text", "input");
    let ssml = fields.flag("ssml");
    let language = take_language(&mut fields);
    if text.is_none() && !fields.is_wrong(text_field) {
        fields.error("text", Reason::Required);
    }
    fields.finish(
        &["text", "input", "ssml", "language"],
        &["voice_id", "voice", "model"],
    )?;
    let text = text.unwrap_or_default();
    let passage = Passage {
        text: &text,
        is_ssml: ssml.unwrap_or_else(|| looks_like_ssml(&text)),
        language,
        speed: Speed::default(),
    };
    let lexicon = app.lexicons.of(&app.store, &caller.workspace_id).await?;
    let reading = app.reader.read(&app.config.limits, passage, &lexicon)?;
    let spoken = reading.script.spoken();
    let script = reading.script.clone();
    let words = script.clauses.into_iter().flat_map(|clause| clause.words);
    let words = words.map(|word| NormalisedWord {
        word: word.text,
        phonemes: word.phonemes,
        english: word.english,
        start: word.source.start,
        end: word.source.end,
    });
    Ok(Json(Normalised {
        text: spoken,
        words: words.collect(),
    }))
}
