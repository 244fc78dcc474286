//! A problem in words: the JSON that every refusal has.

use axum::body::Body;
use axum::http::header::{CONTENT_LANGUAGE, CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::{HeaderValue, Response};
use serde::Serialize;

use super::{FieldProblem, Problem};
use crate::http::language::Language;

/// The body of every refusal: RFC 9457, and inside it what OpenAI's clients look for.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct ProblemBody {
    /// An address that names the kind of problem.
    #[serde(rename = "type")]
    pub kind: String,
    /// The kind of problem in a few words, in the language of `detail`.
    pub title: String,
    pub status: u16,
    /// What is wrong, in Swahili when Accept-Language prefers it.
    pub detail: String,
    /// The path that was asked for.
    pub instance: String,
    /// The word to program against.
    pub code: String,
    pub request_id: String,
    pub errors: Vec<FieldProblem>,
    /// Only for 402: the cost of the request in micro-units.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub required: Option<i64>,
    /// Only for 402: what is available, in micro-units.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub available: Option<i64>,
    pub error: OpenAiError,
}

/// The same, as OpenAI's clients expect it.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct OpenAiError {
    pub message: String,
    #[serde(rename = "type")]
    pub kind: String,
    pub param: Option<String>,
    pub code: String,
}

impl Problem {
    pub fn body(&self, language: Language, path: &str, request_id: &str) -> ProblemBody {
        let code = self.code;
        let errors: Vec<_> = self
            .errors
            .iter()
            .map(|error| FieldProblem::new(error, language))
            .collect();
        let (title, general, detail) = match language {
            Language::English => (code.title(), code.english(), &self.detail),
            Language::Swahili => (code.title_swahili(), code.swahili(), &self.detail_swahili),
        };
        let detail = match (errors.as_slice(), detail) {
            ([only], None) => only.message.clone(),
            (_, Some(detail)) => detail.to_string(),
            (_, None) => general.to_owned(),
        };
        ProblemBody {
            kind: format!("/docs#{}", code.as_str()),
            title: title.to_owned(),
            status: code.status().as_u16(),
            instance: path.to_owned(),
            code: code.as_str().to_owned(),
            request_id: request_id.to_owned(),
            required: self.money.map(|(required, _)| required),
            available: self.money.map(|(_, available)| available),
            error: OpenAiError {
                message: detail.clone(),
                kind: code.openai_type().to_owned(),
                param: errors.first().map(|error| error.field.clone()),
                code: code.as_str().to_owned(),
            },
            detail,
            errors,
        }
    }
}

/// Replaces whatever body a refusal had with the problem, keeping its other headers.
pub fn render(
    problem: &Problem,
    mut response: Response<Body>,
    language: Language,
    path: &str,
    request_id: &str,
) -> Response<Body> {
    let body = problem.body(language, path, request_id);
    let json = serde_json::to_vec(&body).unwrap_or_default();
    let headers = response.headers_mut();
    headers.insert(
        CONTENT_TYPE,
        HeaderValue::from_static("application/problem+json"),
    );
    headers.insert(CONTENT_LANGUAGE, HeaderValue::from_static(language.tag()));
    headers.insert(CONTENT_LENGTH, HeaderValue::from(json.len()));
    *response.body_mut() = Body::from(json);
    response
}
