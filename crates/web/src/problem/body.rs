//! A problem in words: the JSON that every refusal has.

use axum::body::Body;
use axum::http::header::{CONTENT_LANGUAGE, CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::{HeaderValue, Response};
use serde::Serialize;

use super::{FieldProblem, Problem};
use crate::context::Context;
use crate::language::Language;

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

/// What a refusal says, in one language.
#[derive(Debug)]
pub struct ProblemWords {
    pub title: &'static str,
    pub detail: String,
    pub errors: Vec<FieldProblem>,
}

impl Problem {
    pub fn words(&self, language: Language) -> ProblemWords {
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
        ProblemWords {
            title,
            detail,
            errors,
        }
    }

    fn body(&self, context: &Context) -> ProblemBody {
        let code = self.code;
        let words = self.words(context.language());
        ProblemBody {
            kind: format!("/docs#{}", code.as_str()),
            title: words.title.to_owned(),
            status: code.status().as_u16(),
            instance: context.path().to_owned(),
            code: code.as_str().to_owned(),
            request_id: context.request_id().to_owned(),
            required: self.money.map(|(required, _)| required),
            available: self.money.map(|(_, available)| available),
            error: OpenAiError {
                message: words.detail.clone(),
                kind: code.openai_type().to_owned(),
                param: words.errors.first().map(|error| error.field.clone()),
                code: code.as_str().to_owned(),
            },
            detail: words.detail,
            errors: words.errors,
        }
    }
}

/// Replaces whatever body a refusal had with the problem, keeping its other headers.
pub fn render(
    problem: &Problem,
    context: &Context,
    mut response: Response<Body>,
) -> Response<Body> {
    let json = serde_json::to_vec(&problem.body(context)).unwrap_or_default();
    let headers = response.headers_mut();
    headers.insert(
        CONTENT_TYPE,
        HeaderValue::from_static("application/problem+json"),
    );
    headers.insert(
        CONTENT_LANGUAGE,
        HeaderValue::from_static(context.language().tag()),
    );
    headers.insert(CONTENT_LENGTH, HeaderValue::from(json.len()));
    *response.body_mut() = Body::from(json);
    response
}
