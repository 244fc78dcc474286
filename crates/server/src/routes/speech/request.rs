//! The body of a speech request, parsed once into what cannot be wrong any more.

use sauti_audio::OutputFormat;
use sauti_service::config::{Config, Limits, VoiceNames};
use sauti_service::speaking::{SpeechRequest, characters_max, format_named, looks_like_ssml};
use sauti_speech::voice::VoiceInfo;
use sauti_speech::{Direction, PitchShift, Speed, VolumeGain};
use sauti_text::{SpeechLanguage, UnknownSpeechLanguage};
use serde::Deserialize;
use serde_json::Value;

use sauti_web::fields::Fields;
use sauti_web::problem::{Problem, Reason};

const KNOWN: &[&str] = &[
    "text",
    "voice_id",
    "input",
    "voice",
    "output_format",
    "response_format",
    "speed",
    "pitch",
    "volume",
    "stream",
    "stream_format",
    "timestamps",
    "ssml",
    "language",
    "verbose",
    "self_check",
];
/// What OpenAI's clients also send, and common words that are near a known one by chance.
const IGNORED: &[&str] = &["model", "instructions", "user", "seed"];

/// What OpenAI answers when nothing is said of the format: its examples save it as an `.mp3` file.
const OPENAI_FORMAT: OutputFormat = OutputFormat::Mp344100;

/// The text to speak, the voice, and how to deliver it.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[schema(as = SpeechRequest, example = json!({"text": "Habari za asubuhi.", "voice_id": "asha"}))]
pub struct SpeechBody {
    /// The message to be spoken, 1 to 5,000 characters after trimming. `input` is accepted too.
    /// Text that starts with `<speak>` is read as SSML.
    #[schema(min_length = 1)]
    pub text: String,
    /// A voice of `GET /v1/voices`, or one of OpenAI's names for its own (`alloy`, `nova`...), which stand for voices of
    /// ours; `Sauti-Voice` in the answer tells which one spoke. `voice` is accepted too.
    pub voice_id: String,
    /// OpenAI's name for `text`.
    pub input: Option<String>,
    /// OpenAI's name for `voice_id`.
    pub voice: Option<String>,
    /// `wav_24000` (default; `mp3_44100` where the text came as `input`), `wav_16000`, `wav_8000`, `ulaw_8000`, `alaw_8000`, `raw_ulaw_8000`,
    /// `raw_alaw_8000`, `opus_48000`, `mp3_44100`, `flac_24000`, `pcm_24000`, `raw_pcm_16000` or
    /// `raw_pcm_8000`.
    pub output_format: Option<String>,
    /// OpenAI's names: `wav`, `mp3`, `opus`, `flac` or `pcm`.
    pub response_format: Option<String>,
    /// 0.5 to 2.0; 1.0 is the voice's own pace.
    #[schema(minimum = 0.5, maximum = 2.0)]
    pub speed: Option<f64>,
    /// -12 to 12 semitones from the voice's own pitch; it stays between 50 and 480 Hz.
    #[schema(minimum = -12, maximum = 12)]
    pub pitch: Option<f64>,
    /// -24 to 12 decibels from the loudness that all speech has. A limiter keeps loud speech from clipping.
    #[schema(minimum = -24, maximum = 12)]
    pub volume: Option<f64>,
    /// `false` (default), `"audio"` (chunked sound) or `"sse"` (events).
    pub stream: Option<StreamBody>,
    /// Whether to tell when each word is said and each `mark` of SSML is reached. The answer is then JSON.
    pub timestamps: Option<bool>,
    /// Whether `text` is SSML.
    pub ssml: Option<bool>,
    /// `sw` (default): Swahili, with the English words in it said as English. `en`: English, numbers and dates too. `auto`: each
    /// sentence in the language that most of its words are of.
    pub language: Option<String>,
    /// Whether to answer with JSON: the sound in base64, what was said, and when.
    pub verbose: Option<bool>,
    /// Whether our recogniser should listen to the sound and tell how far what it heard is from the
    /// text. The answer is then JSON. It takes longer and costs nothing more.
    pub self_check: Option<bool>,
}

/// `false`, `"audio"` or `"sse"`.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(untagged)]
#[schema(as = Stream)]
pub enum StreamBody {
    Whether(bool),
    How(String),
}

/// How the speech travels back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpeechDelivery {
    Audio,
    Json,
    AudioStream,
    EventStream,
}

/// A request as it came in, and how to answer it.
#[derive(Debug, Clone, PartialEq)]
pub struct AskedSpeech {
    pub request: SpeechRequest,
    pub delivery: SpeechDelivery,
    pub timestamps: bool,
    pub self_check: bool,
}

impl AskedSpeech {
    /// Beside the sound: when each word is said.
    pub fn wants_times(&self) -> bool {
        self.delivery == SpeechDelivery::Json
    }

    pub fn is_streamed(&self) -> bool {
        matches!(
            self.delivery,
            SpeechDelivery::AudioStream | SpeechDelivery::EventStream
        )
    }

    pub fn parse(
        body: &[u8],
        config: &Config,
        voices: &[VoiceInfo],
    ) -> Result<AskedSpeech, Problem> {
        let mut fields = Fields::parse(body)?;
        let default_format = match fields.has("input") {
            true => OPENAI_FORMAT,
            false => OutputFormat::default(),
        };
        let text_field = fields.sent_as("text", "input");
        let text = fields
            .text_by("text", "input")
            .map(|text| text.trim().to_owned());
        let ssml = fields.flag("ssml");
        let is_ssml = ssml.unwrap_or_else(|| text.as_deref().is_some_and(looks_like_ssml));
        let text = check_text(&mut fields, text_field, text, is_ssml, &config.limits);
        let voice = take_voice(&mut fields, &config.voices, voices);
        let format = take_format(&mut fields, default_format);
        let direction = take_direction(&mut fields);
        let language = take_language(&mut fields);
        let timestamps = fields.flag("timestamps").unwrap_or(false);
        let verbose = fields.flag("verbose").unwrap_or(false);
        let self_check = fields.flag("self_check").unwrap_or(false);
        let delivery = take_delivery(&mut fields, timestamps, verbose, self_check);
        fields.finish(KNOWN, IGNORED)?;
        let (Some(text), Some(voice)) = (text, voice) else {
            return Err(Problem::internal("a field is missing and nobody said so"));
        };
        let request = SpeechRequest {
            text,
            is_ssml,
            language,
            voice_id: voice.voice_id.clone(),
            voice_version: voice.model_version.clone(),
            format,
            direction,
        };
        Ok(AskedSpeech {
            request,
            delivery,
            timestamps,
            self_check,
        })
    }
}

fn check_text(
    fields: &mut Fields,
    field: &'static str,
    text: Option<String>,
    is_ssml: bool,
    limits: &Limits,
) -> Option<String> {
    let Some(text) = text else {
        if !fields.is_wrong(field) {
            fields.error(field, Reason::Required);
        }
        return None;
    };
    let (actual, max) = (text.chars().count(), characters_max(limits, is_ssml));
    if actual == 0 {
        fields.error(field, Reason::Empty);
    }
    if actual > max {
        fields.error(
            field,
            Reason::TooLong {
                max: max as u64,
                actual: actual as u64,
            },
        );
    }
    Some(text)
}

fn take_voice<'a>(
    fields: &mut Fields,
    names: &VoiceNames,
    voices: &'a [VoiceInfo],
) -> Option<&'a VoiceInfo> {
    let field = fields.sent_as("voice_id", "voice");
    // OpenAI's newer clients may send a voice as an object with an id.
    let named = match fields.value("voice") {
        Some(Value::Object(mut voice)) => voice
            .remove("id")
            .and_then(|id| id.as_str().map(str::to_owned)),
        Some(Value::String(voice)) => Some(voice),
        Some(_) => {
            fields.error(
                "voice",
                Reason::WrongType {
                    expected: "a string",
                },
            );
            return None;
        }
        None => None,
    };
    let voice_id = fields.text("voice_id");
    let wanted = match (voice_id, named) {
        (Some(ours), Some(theirs)) if ours != theirs => {
            fields.error("voice_id", Reason::Twice { other: "voice" });
            return None;
        }
        (ours, theirs) => ours.or(theirs),
    };
    let Some(wanted) = wanted else {
        if !fields.is_wrong(field) {
            fields.error(field, Reason::Required);
        }
        return None;
    };
    let by_id = |id: &str| voices.iter().find(|voice| voice.voice_id == id);
    let found = by_id(&wanted).or_else(|| by_id(names.voice_id(&wanted)));
    if found.is_none() {
        let names: Vec<_> = voices.iter().map(|voice| voice.voice_id.as_str()).collect();
        fields.error(
            field,
            Reason::UnknownVoice {
                named: wanted.chars().take(64).collect(),
                allowed: names.join(", "),
            },
        );
    }
    found
}

fn take_format(fields: &mut Fields, default: OutputFormat) -> OutputFormat {
    let (ours, theirs) = (fields.text("output_format"), fields.text("response_format"));
    let ours = ours.map(|name| (name.parse().ok(), "output_format"));
    let theirs = theirs.map(|name| (format_named(&name), "response_format"));
    match (ours, theirs) {
        (Some((Some(ours), _)), Some((Some(theirs), _))) if ours != theirs => {
            fields.error(
                "output_format",
                Reason::Twice {
                    other: "response_format",
                },
            );
            ours
        }
        (Some((Some(format), _)), _) | (None, Some((Some(format), _))) => format,
        (Some((None, field)), _) | (None, Some((None, field))) => {
            fields.error(
                field,
                Reason::UnknownValue {
                    allowed: format_names(field),
                },
            );
            default
        }
        (None, None) => default,
    }
}

fn format_names(field: &str) -> String {
    match field {
        "response_format" => "wav, mp3, opus, flac, pcm".to_owned(),
        _ => OutputFormat::ALL
            .map(|format| format.to_string())
            .join(", "),
    }
}

pub fn take_direction(fields: &mut Fields) -> Direction {
    let (speed, pitch, volume) = (
        (Speed::MIN, Speed::MAX),
        (PitchShift::MIN, PitchShift::MAX),
        (VolumeGain::MIN, VolumeGain::MAX),
    );
    Direction {
        speed: take_bounded(fields, "speed", Speed::new, speed),
        pitch: take_bounded(fields, "pitch", PitchShift::new, pitch),
        volume: take_bounded(fields, "volume", VolumeGain::new, volume),
    }
}

fn take_bounded<T: Default>(
    fields: &mut Fields,
    name: &'static str,
    new: fn(f64) -> Option<T>,
    (min, max): (f64, f64),
) -> T {
    let Some(number) = fields.number(name) else {
        return T::default();
    };
    new(number).unwrap_or_else(|| {
        fields.error(name, Reason::OutOfRange { min, max });
        T::default()
    })
}

pub fn take_language(fields: &mut Fields) -> SpeechLanguage {
    match fields.text("language").as_deref().map(str::parse) {
        None => SpeechLanguage::default(),
        Some(Ok(language)) => language,
        Some(Err(UnknownSpeechLanguage)) => {
            let allowed = SpeechLanguage::ALL.map(SpeechLanguage::name).join(", ");
            fields.error("language", Reason::UnknownValue { allowed });
            SpeechLanguage::default()
        }
    }
}

fn take_delivery(
    fields: &mut Fields,
    timestamps: bool,
    verbose: bool,
    self_check: bool,
) -> SpeechDelivery {
    let stream = fields
        .value("stream")
        .or_else(|| fields.value("stream_format"));
    let streamed = match stream {
        None | Some(Value::Bool(false)) => None,
        Some(Value::Bool(true)) => Some(SpeechDelivery::AudioStream),
        Some(Value::String(word)) if word == "audio" => Some(SpeechDelivery::AudioStream),
        Some(Value::String(word)) if word == "sse" => Some(SpeechDelivery::EventStream),
        Some(_) => {
            let allowed = "false, \"audio\", \"sse\"".to_owned();
            fields.error("stream", Reason::UnknownValue { allowed });
            None
        }
    };
    for (field, asked) in [("verbose", verbose), ("self_check", self_check)] {
        if asked && streamed.is_some() {
            fields.error(field, Reason::NotTogether { with: "stream" });
        }
    }
    if timestamps && streamed == Some(SpeechDelivery::AudioStream) {
        fields.error(
            "timestamps",
            Reason::NotTogether {
                with: "stream: \"audio\"",
            },
        );
    }
    streamed.unwrap_or(if verbose || timestamps || self_check {
        SpeechDelivery::Json
    } else {
        SpeechDelivery::Audio
    })
}
