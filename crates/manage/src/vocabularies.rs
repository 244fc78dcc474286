//! A workspace's own vocabularies for transcription.

use axum::Json;
use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use sauti_service::app::App;
use sauti_service::vocabularies::{self, wrong_part};
use sauti_speech::recogniser::{VocabularySource, VocabularyWord};
use sauti_store::VocabularyInfo;
use serde::Serialize;
use serde_json::Value;

use sauti_web::caller::{May, Transcription};
use sauti_web::fields::{Fields, JsonBytes, meant_field, read_body, without_mark};
use sauti_web::problem::{Code, FieldError, Problem, Reason};

/// More mistakes than this in one answer help nobody.
const ERRORS_MAX: usize = 20;

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct VocabularyList {
    pub vocabularies: Vec<VocabularyBody>,
}

#[derive(Debug, Serialize, utoipa::ToSchema)]
#[schema(as = Vocabulary)]
pub struct VocabularyBody {
    pub name: String,
    /// 1 for the first, and one more each time it is sent. Until a new one is ready, the one before it is listened with.
    pub version: i64,
    /// `building`, `ready` or `failed`.
    pub state: &'static str,
    /// Different words, as they are heard.
    pub words: i64,
    pub bytes: i64,
}

impl From<VocabularyInfo> for VocabularyBody {
    fn from(info: VocabularyInfo) -> VocabularyBody {
        VocabularyBody {
            state: info.state.as_str(),
            name: info.name,
            version: info.version,
            words: info.words,
            bytes: info.bytes,
        }
    }
}

/// The JSON form of a vocabulary, for the OpenAPI document.
#[derive(Debug, utoipa::ToSchema)]
#[schema(as = VocabularyRequest, example = json!({"text": "Lipa kwa Fuliza.", "words": [{"word": "M-Pesa", "sounds": ["em pesa"]}, {"word": "Wanjiku"}]}))]
pub struct VocabularyForm {
    /// Sentences as they are said or written, about what will be heard; one a line.
    pub text: Option<String>,
    /// Words and names of several words.
    pub words: Option<Vec<VocabularyFormWord>>,
}

#[derive(Debug, utoipa::ToSchema)]
#[schema(as = VocabularyWord)]
pub struct VocabularyFormWord {
    pub word: String,
    /// How it sounds, as Swahili would spell it, in letters; as the word is spelled if absent.
    pub sounds: Option<Vec<String>>,
}

/// List the vocabularies
#[utoipa::path(get, path = "/v1/vocabularies", tag = "transcription", operation_id = "listVocabularies",
    responses((status = 200, description = "The workspace's own.", body = VocabularyList)))]
pub async fn list(
    State(app): State<App>,
    May(caller, _): May<Transcription>,
) -> Result<Json<VocabularyList>, Problem> {
    let all = app.store.vocabularies(&caller.workspace_id).await?;
    Ok(Json(VocabularyList {
        vocabularies: all.into_iter().map(Into::into).collect(),
    }))
}

/// Show one vocabulary
#[utoipa::path(get, path = "/v1/vocabularies/{name}", tag = "transcription", operation_id = "getVocabulary",
    params(("name" = String, Path, description = "Its name.")),
    responses((status = 200, description = "Its newest version, and how far it is.", body = VocabularyBody)))]
pub async fn show(
    State(app): State<App>,
    May(caller, _): May<Transcription>,
    Path(name): Path<String>,
) -> Result<Json<VocabularyBody>, Problem> {
    let info = app.store.vocabulary(&caller.workspace_id, &name).await?;
    Ok(Json(info.into()))
}

/// Set a vocabulary
///
/// Plain text with a sentence a line, or a word, a tab and how it sounds; or JSON with `text` and `words`. It is built in the background, within seconds, and can then be named in requests, live
/// sessions and batches.
#[utoipa::path(put, path = "/v1/vocabularies/{name}", tag = "transcription", operation_id = "setVocabulary",
    params(("name" = String, Path, description = "1 to 64 small letters, figures, `-` and `_`.")),
    request_body(content((VocabularyForm = "application/json"), (String = "text/plain"))),
    responses((status = 202, description = "It is being built.", body = VocabularyBody)))]
pub async fn set(
    State(app): State<App>,
    May(caller, _): May<Transcription>,
    Path(name): Path<String>,
    request: Request,
) -> Result<(StatusCode, Json<VocabularyBody>), Problem> {
    if !vocabularies::is_name(&name) {
        let expected = "1 to 64 small letters, figures, - and _";
        return Err(Problem::field("name", Reason::Malformed { expected }));
    }
    let given = request.headers().get(CONTENT_TYPE);
    let given = given.and_then(|value| value.to_str().ok()).unwrap_or("");
    let is_text = given.trim().to_ascii_lowercase().starts_with("text/plain");
    if !is_text {
        JsonBytes::require(request.headers()).map_err(|_| {
            let detail =
                "Send plain text, with Content-Type: text/plain, or JSON, with application/json.";
            Problem::detailed(Code::ContentTypeUnsupported, detail)
        })?;
    }
    let bytes_max = app.config.limits.vocabulary_bytes_max;
    let body = read_body(request, bytes_max).await?;
    let source = match is_text {
        true => from_lines(&utf8(without_mark(&body))?)?,
        false => from_json(&body)?,
    };
    if source.word_count() == 0 {
        let field = if source.words.is_empty() {
            "text"
        } else {
            "words"
        };
        return Err(Problem::field(field, Reason::Empty));
    }
    let (workspace_id, actor) = (&caller.workspace_id, &caller.actor);
    let info = vocabularies::set(&app, workspace_id, actor, &name, &source).await?;
    Ok((StatusCode::ACCEPTED, Json(info.into())))
}

/// Remove a vocabulary
#[utoipa::path(delete, path = "/v1/vocabularies/{name}", tag = "transcription", operation_id = "removeVocabulary",
    params(("name" = String, Path, description = "Its name.")),
    responses((status = 204, description = "It is gone, in every version.")))]
pub async fn remove(
    State(app): State<App>,
    May(caller, _): May<Transcription>,
    Path(name): Path<String>,
) -> Result<StatusCode, Problem> {
    vocabularies::remove(&app, &caller.workspace_id, &caller.actor, &name).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn utf8(body: &[u8]) -> Result<String, Problem> {
    let text = std::str::from_utf8(body).map_err(|_| {
        let detail = "The text must be UTF-8.";
        Problem::detailed(Code::MalformedRequest, detail).in_swahili("Maandishi yawe UTF-8.")
    })?;
    Ok(plain(text))
}

/// Control characters are spaces; a line stays a line, and a tab a tab.
fn plain(text: &str) -> String {
    let is_plain = |c: char| !c.is_control() || c == '\n' || c == '\t';
    let plain = |c: char| if is_plain(c) { c } else { ' ' };
    text.chars().map(plain).collect()
}

fn from_lines(text: &str) -> Result<VocabularySource, Problem> {
    let source = VocabularySource::from_lines(text);
    let lines = (1..).zip(text.lines());
    let listed = lines.filter(|(_, line)| line.contains('\t'));
    // An empty row of a table says nothing, and nothing wrong.
    let rows = listed.zip(&source.words);
    let rows = rows.filter(|((_, line), _)| !line.trim().is_empty());
    let wrong = rows.filter(|(_, word)| wrong_part(word).is_some());
    let errors: Vec<_> = wrong
        .take(ERRORS_MAX)
        .map(|((number, _), _)| no_word(number))
        .collect();
    match errors.is_empty() {
        true => Ok(source),
        false => Err(Problem::fields(errors)),
    }
}

fn no_word(line: usize) -> FieldError {
    let english = format!(
        "line {line} has a tab, but not a word before it and, after it, how that sounds, in letters."
    );
    let swahili = format!(
        "mstari wa {line} una kichupo, lakini hauna neno kabla yake na matamshi yenye herufi baada yake."
    );
    FieldError::new("text", Reason::Refused { english, swahili })
}

fn from_json(body: &[u8]) -> Result<VocabularySource, Problem> {
    let mut fields = Fields::parse(body)?;
    let text = fields.text("text").map(|text| plain(&text));
    let words = match fields.value("words") {
        None => Vec::new(),
        Some(Value::Array(words)) => {
            for (i, word) in words.iter().enumerate().take(64) {
                for name in word.as_object().into_iter().flat_map(serde_json::Map::keys) {
                    if let Some(meant) = meant_field(name, &["word", "sounds"], &[]) {
                        let slip = format!("words[{i}].{name}");
                        fields.error(slip, Reason::NearMiss { meant });
                    }
                }
            }
            let words: Option<Vec<_>> = words.iter().map(word).collect();
            words.unwrap_or_else(|| {
                let expected =
                    "a list of objects with word and, if it sounds otherwise, a list of sounds";
                fields.error("words", Reason::WrongType { expected });
                Vec::new()
            })
        }
        Some(_) => {
            fields.error("words", Reason::WrongType { expected: "a list" });
            Vec::new()
        }
    };
    let wrong = words.iter().map(wrong_part).enumerate();
    let wrong = wrong.filter_map(|(i, wrong)| wrong.map(|wrong| (i, wrong)));
    for (i, (part, reason)) in wrong.take(ERRORS_MAX) {
        fields.error(format!("words[{i}].{part}"), reason);
    }
    fields.finish(&["text", "words"], &[])?;
    Ok(VocabularySource {
        text: text.unwrap_or_default(),
        words,
    })
}

/// An object with `word` and perhaps a list of `sounds`.
fn word(value: &Value) -> Option<VocabularyWord> {
    let sounds = match value.get("sounds") {
        None | Some(Value::Null) => Vec::new(),
        Some(sounds) => {
            let sounds = sounds.as_array()?.iter();
            sounds
                .map(|sound| sound.as_str().map(plain))
                .collect::<Option<_>>()?
        }
    };
    Some(VocabularyWord {
        word: plain(value.get("word")?.as_str()?),
        sounds,
    })
}
