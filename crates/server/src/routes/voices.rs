//! The voices there are, and how each sounds.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::HeaderValue;
use axum::http::header::{CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE};
use axum::response::Response;
use sauti_audio::OutputFormat;
use sauti_service::app::App;
use sauti_service::lexicons::VersionedLexicon;
use sauti_service::speaking::{self, SpeechRequest};
use sauti_speech::voice::VoiceInfo;
use sauti_text::SpeechLanguage;
use serde::Serialize;

use sauti_web::caller::{May, Voices};
use sauti_web::problem::{Code, Problem};

const PREVIEW_TEXT: &str = "Habari! Karibu Sauti. Ninaweza kusoma ujumbe wako kwa Kiswahili.";

/// A voice. Its id never changes its meaning.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct Voice {
    pub voice_id: String,
    pub name: String,
    /// `sw`
    pub language: String,
    pub locale: String,
    pub gender: String,
    pub description: String,
    /// Of the voice itself, in Hz; the answer is converted to the `output_format`.
    pub sample_rate: u32,
    pub preview_url: String,
    pub model_version: String,
    pub licence: String,
    /// Measured figures, each with the name of its test.
    pub quality: BTreeMap<String, f64>,
}

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct VoiceList {
    pub voices: Vec<Voice>,
    pub has_more: bool,
    pub next_cursor: Option<String>,
}

fn voice(app: &App, info: &VoiceInfo) -> Voice {
    Voice {
        voice_id: info.voice_id.clone(),
        name: info.name.clone(),
        language: info.language.clone(),
        locale: info.locale.clone(),
        gender: info.gender.clone(),
        description: info.description.clone(),
        sample_rate: info.sample_rate,
        preview_url: format!(
            "{}/v1/voices/{}/preview",
            app.config.public_url(),
            info.voice_id
        ),
        model_version: info.model_version.clone(),
        licence: info.licence.clone(),
        quality: info.quality.clone(),
    }
}

/// List the voices
#[utoipa::path(get, path = "/v1/voices", tag = "voices", operation_id = "listVoices",
    responses((status = 200, description = "Every voice.", body = VoiceList)))]
pub async fn list_voices(State(app): State<App>, _: May<Voices>) -> Json<VoiceList> {
    let voices = app
        .engine
        .voices()
        .iter()
        .map(|info| voice(&app, info))
        .collect();
    Json(VoiceList {
        voices,
        has_more: false,
        next_cursor: None,
    })
}

/// Show one voice
#[utoipa::path(get, path = "/v1/voices/{voice_id}", tag = "voices", operation_id = "getVoice",
    params(("voice_id" = String, Path, description = "As in the list of voices.")),
    responses((status = 200, description = "The voice.", body = Voice)))]
pub async fn get_voice(
    State(app): State<App>,
    _: May<Voices>,
    Path(voice_id): Path<String>,
) -> Result<Json<Voice>, Problem> {
    find(&app, &voice_id).map(|info| Json(voice(&app, &info)))
}

/// Hear one voice
///
/// A short greeting as a WAV file, free of charge.
#[utoipa::path(get, path = "/v1/voices/{voice_id}/preview", tag = "voices", operation_id = "previewVoice",
    params(("voice_id" = String, Path, description = "As in the list of voices.")),
    responses((status = 200, description = "A WAV file.", body = Vec<u8>, content_type = "audio/wav")))]
pub async fn preview_voice(
    State(app): State<App>,
    May(caller, _): May<Voices>,
    Path(voice_id): Path<String>,
) -> Result<Response, Problem> {
    let info = find(&app, &voice_id)?;
    let request = SpeechRequest {
        text: PREVIEW_TEXT.to_owned(),
        is_ssml: false,
        language: SpeechLanguage::default(),
        voice_id: info.voice_id,
        voice_version: info.model_version,
        format: OutputFormat::default(),
        direction: sauti_speech::Direction::default(),
    };
    let (limits, lexicon) = (&app.config.limits, VersionedLexicon::builtin());
    let reading = app.reader.read(limits, request.passage(), &lexicon)?;
    let job = speaking::interactive(&app, &caller.workspace_id);
    let speech = speaking::speak_free(&app, job, &request, &reading).await?;
    let mut response = Response::new(Body::from(speech.audio.clone()));
    let headers = response.headers_mut();
    headers.insert(
        CONTENT_TYPE,
        HeaderValue::from_static(request.format.content_type()),
    );
    headers.insert(CONTENT_LENGTH, HeaderValue::from(speech.audio.len()));
    headers.insert(
        CACHE_CONTROL,
        HeaderValue::from_static("private, max-age=3600"),
    );
    Ok(response)
}

fn find(app: &App, voice_id: &str) -> Result<VoiceInfo, Problem> {
    let voices: Arc<[VoiceInfo]> = app.engine.voices();
    let found = voices.iter().find(|voice| voice.voice_id == voice_id);
    found
        .cloned()
        .ok_or_else(|| Problem::new(Code::VoiceNotFound))
}
