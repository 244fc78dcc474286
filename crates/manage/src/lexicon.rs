//! A workspace's own pronunciations.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use sauti_service::app::App;
use sauti_service::audit;
use sauti_service::lexicons::as_written;
use sauti_store::{Alphabet, AuditAction, Pronunciation};
use serde::{Deserialize, Serialize};

use sauti_web::caller::{May, Speech};
use sauti_web::fields::{Fields, JsonBytes};
use sauti_web::problem::{Problem, Reason};

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct LexiconBody {
    pub words: Vec<LexiconWord>,
}

#[derive(Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct LexiconWord {
    pub word: String,
    /// As Swahili would spell the sound, or IPA between slashes: `/ˈakme/`.
    pub said: String,
}

#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[schema(as = LexiconWordRequest, example = json!({"said": "em pesa"}))]
pub struct SaidBody {
    /// As Swahili would spell the sound, or IPA between slashes: `/ˈakme/`.
    pub said: String,
}

/// List the pronunciations
#[utoipa::path(get, path = "/v1/lexicon", tag = "workspace", operation_id = "listPronunciations",
    responses((status = 200, description = "The workspace's own words.", body = LexiconBody)))]
pub async fn list_words(
    State(app): State<App>,
    May(caller, _): May<Speech>,
) -> Result<Json<LexiconBody>, Problem> {
    let rows = app.store.pronunciations(&caller.workspace_id).await?;
    let words = rows.into_iter().map(|row| {
        let said = as_written(row.alphabet, &row.spoken);
        LexiconWord {
            word: row.word,
            said,
        }
    });
    Ok(Json(LexiconBody {
        words: words.collect(),
    }))
}

/// Set how a word is said
#[utoipa::path(put, path = "/v1/lexicon/{word}", tag = "workspace", operation_id = "setPronunciation",
    params(("word" = String, Path, description = "One word with letters or figures, in any case.")),
    request_body = SaidBody,
    responses((status = 200, description = "As it stands now.", body = LexiconWord)))]
pub async fn set_word(
    State(app): State<App>,
    May(caller, _): May<Speech>,
    Path(word): Path<String>,
    JsonBytes(body): JsonBytes,
) -> Result<Json<LexiconWord>, Problem> {
    let mut fields = Fields::parse(&body)?;
    let said = fields.required("said", Fields::text).trim().to_owned();
    let wrong = match word.split_whitespace().count() {
        1 if word.contains(char::is_alphanumeric) => None,
        1 => Some("a word with letters or figures"),
        _ => Some("one word"),
    };
    if let Some(expected) = wrong {
        fields.error("word", Reason::Malformed { expected });
    }
    let parsed = sauti_text::LexiconEntry::parse(&said);
    if parsed.is_none() && !fields.is_wrong("said") {
        let expected = "a Swahili spelling, or IPA between slashes";
        fields.error("said", Reason::Malformed { expected });
    }
    fields.finish(&["said"], &["word"])?;
    let (alphabet, spoken) = match said
        .strip_prefix('/')
        .and_then(|said| said.strip_suffix('/'))
    {
        Some(ipa) => (Alphabet::Ipa, ipa.to_owned()),
        None => (Alphabet::Respelling, said.clone()),
    };
    let word = word.trim().to_lowercase();
    let entry = Pronunciation {
        word: word.clone(),
        spoken,
        alphabet,
    };
    app.store
        .set_pronunciation(&caller.workspace_id, &entry)
        .await?;
    app.lexicons.forget(&caller.workspace_id);
    audit(&app.store, Some(&caller.workspace_id), &caller.actor)
        .did(AuditAction::LexiconSet, &word)
        .await;
    Ok(Json(LexiconWord { word, said }))
}

/// Forget how a word is said
#[utoipa::path(delete, path = "/v1/lexicon/{word}", tag = "workspace", operation_id = "removePronunciation",
    params(("word" = String, Path, description = "One word, in any case.")),
    responses((status = 204, description = "It is said by the rules again.")))]
pub async fn remove_word(
    State(app): State<App>,
    May(caller, _): May<Speech>,
    Path(word): Path<String>,
) -> Result<StatusCode, Problem> {
    app.store
        .remove_pronunciation(&caller.workspace_id, &word)
        .await?;
    app.lexicons.forget(&caller.workspace_id);
    audit(&app.store, Some(&caller.workspace_id), &caller.actor)
        .did(AuditAction::LexiconRemoved, &word)
        .await;
    Ok(StatusCode::NO_CONTENT)
}
