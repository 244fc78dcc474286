//! Refusals: one shape (RFC 9457) for every route, whoever refuses.
//!
//! A handler returns a `Problem`; it becomes a bare status that carries the problem along, and
//! the outermost layer, which knows the request's id and language, writes the body.

mod body;
mod convert;
mod field;
mod table;

use std::borrow::Cow;
use std::sync::Arc;

use axum::http::HeaderValue;
use axum::http::header::{HeaderName, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::response::{IntoResponse, Response};

pub use body::{OpenAiError, ProblemBody, render};
pub use convert::item_error;
pub use field::FieldProblem;
pub use table::Code;

pub use sauti_service::{FieldError, Reason};

/// A refusal, before it is put into words.
#[derive(Debug, Clone)]
pub struct Problem {
    pub code: Code,
    /// Says more than the table does; English, and never anything of the inside.
    pub detail: Option<Cow<'static, str>>,
    /// The same in Swahili; where it is missing, the table's words are told.
    pub detail_swahili: Option<Cow<'static, str>>,
    pub errors: Vec<FieldError>,
    /// For 402: what the request costs and what there is, in micro-units.
    pub money: Option<(i64, i64)>,
    pub retry_after_s: Option<u64>,
}

/// What travels in a response's extensions until the outermost layer writes it out.
#[derive(Debug, Clone)]
pub struct Carried(pub Arc<Problem>);

impl Problem {
    pub fn new(code: Code) -> Problem {
        Problem {
            code,
            detail: None,
            detail_swahili: None,
            errors: Vec::new(),
            money: None,
            retry_after_s: None,
        }
    }

    pub fn detailed(code: Code, detail: impl Into<Cow<'static, str>>) -> Problem {
        Problem {
            detail: Some(detail.into()),
            ..Problem::new(code)
        }
    }

    pub fn in_swahili(mut self, detail: impl Into<Cow<'static, str>>) -> Problem {
        self.detail_swahili = Some(detail.into());
        self
    }

    pub fn field(field: impl Into<Cow<'static, str>>, reason: Reason) -> Problem {
        Problem::fields(vec![FieldError::new(field, reason)])
    }

    pub fn fields(errors: Vec<FieldError>) -> Problem {
        Problem {
            errors,
            ..Problem::new(Code::ValidationFailed)
        }
    }

    pub fn retry_after(mut self, seconds: u64) -> Problem {
        self.retry_after_s = Some(seconds.max(1));
        self
    }

    /// A fault of ours: logged here in full, told to the caller not at all.
    pub fn internal(cause: impl std::fmt::Display) -> Problem {
        tracing::error!(error = %cause, "request failed inside");
        Problem::new(Code::Internal)
    }
}

impl From<Code> for Problem {
    fn from(code: Code) -> Problem {
        Problem::new(code)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = self.code.status().into_response();
        if self.code.status().as_u16() == 401 {
            let challenge = match self.code {
                Code::KeyMissing => "Bearer realm=\"sauti\"",
                _ => "Bearer realm=\"sauti\", error=\"invalid_token\"",
            };
            response
                .headers_mut()
                .insert(WWW_AUTHENTICATE, HeaderValue::from_static(challenge));
        }
        if let Some(seconds) = self.retry_after_s {
            insert_number(&mut response, RETRY_AFTER, seconds);
        }
        response.extensions_mut().insert(Carried(Arc::new(self)));
        response
    }
}

fn insert_number(response: &mut Response, name: HeaderName, value: u64) {
    response
        .headers_mut()
        .insert(name, HeaderValue::from(value));
}
