//! `Idempotency-Key`: the same request sent twice is done and charged once.

use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::Response;
use sauti_service::app::App;
use sauti_store::StoredAnswer;

use super::caller::Caller;
use super::money_headers;
use crate::problem::{Problem, Reason};

pub const IDEMPOTENCY_KEY: &str = "idempotency-key";
const REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");
const KEY_BYTES_MAX: usize = 255;

/// The key of a request, if it brings one.
pub fn key(headers: &HeaderMap) -> Result<Option<&str>, Problem> {
    let Some(value) = headers.get(IDEMPOTENCY_KEY) else {
        return Ok(None);
    };
    let plain = |key: &&str| {
        (1..=KEY_BYTES_MAX).contains(&key.len()) && key.bytes().all(|byte| byte.is_ascii_graphic())
    };
    match value.to_str().ok().filter(plain) {
        Some(key) => Ok(Some(key)),
        None => {
            let expected = "1 to 255 plain characters without spaces";
            Err(Problem::field(
                "Idempotency-Key",
                Reason::Malformed { expected },
            ))
        }
    }
}

/// An answer as it went out the first time, with today's balance.
pub async fn replay(app: &App, caller: &Caller, answer: StoredAnswer) -> Result<Response, Problem> {
    let mut response = Response::new(Body::from(answer.body.unwrap_or_default()));
    *response.status_mut() = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::OK);
    for (name, value) in answer.headers {
        if let (Ok(name), Ok(value)) = (name.parse::<HeaderName>(), value.parse::<HeaderValue>()) {
            response.headers_mut().insert(name, value);
        }
    }
    let balance = app.store.balance(&caller.workspace_id).await?;
    money_headers::add_balance(response.headers_mut(), balance.available_micro);
    response
        .headers_mut()
        .insert(REPLAYED, HeaderValue::from_static("true"));
    Ok(response)
}

/// An answer as the store keeps it. The balance is left out: it will be another one by then.
pub fn stored(headers: &HeaderMap, body: &[u8]) -> StoredAnswer {
    let pairs = headers.iter().filter_map(|(name, value)| {
        Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned()))
    });
    StoredAnswer {
        status: 200,
        headers: pairs.collect(),
        body: Some(body.to_vec()),
    }
}
