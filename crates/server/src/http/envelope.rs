//! The outermost layer: every request gets an id, every answer its headers, every refusal the
//! one shape, whoever refused.

use std::time::{Duration, Instant};

use axum::extract::{MatchedPath, Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY,
    STRICT_TRANSPORT_SECURITY, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use sauti_service::app::App;
use sauti_service::ratelimit::RateLimits;
use tracing::Instrument;

use super::{drain, metrics};
use sauti_web::context::{Context, REQUEST_ID};
use sauti_web::deadline::{Deadline, GivenUp};
use sauti_web::problem::{self, Carried, Code, Problem};

const RATE_LIMIT: HeaderName = HeaderName::from_static("ratelimit");
const RATE_LIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");

pub async fn envelope(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let started = Instant::now();
    let server = &app.config.server;
    let time = Duration::from_secs(server.request_timeout_s);
    let deadline = Deadline::new(time, Duration::from_secs(server.body_timeout_s));
    let context = Context::new(&request, &server.trusted_proxies, deadline);
    request.extensions_mut().insert(context.clone());
    let method = request.method().clone();
    let route = request.extensions().get::<MatchedPath>().cloned();
    let route = route.as_ref().map_or("unknown", MatchedPath::as_str);
    // The route, not the address: addresses can hold what must not be logged.
    let span = tracing::info_span!("request", %method, route, request_id = context.request_id());

    let leaving = Leaving(Some((span.clone(), started)));
    let answered = match sauti_web::refuse::refusal(&request) {
        Some(problem) => Ok(problem.into_response()),
        None => {
            let work = next.run(drain::drain_when_dropped(request, &context));
            let work = context.deadline().within(work);
            work.instrument(span.clone()).await
        }
    };
    let response = answered.unwrap_or_else(|why| {
        let code = match why {
            GivenUp::Deadline => Code::DeadlineExceeded,
            GivenUp::Body => Code::RequestTimeout,
        };
        Problem::new(code).into_response()
    });
    let mut response = in_one_shape(response, &context);
    add_headers(&app, &context, response.headers_mut());

    leaving.answered();
    let (status, took) = (response.status().as_u16(), started.elapsed());
    metrics::request(&method, route, status, took);
    span.in_scope(|| {
        let workspace = context.workspace_id().unwrap_or("");
        tracing::info!(
            status,
            took_ms = took.as_millis() as u64,
            workspace,
            "answered"
        );
    });
    response
}

/// Says in the log when a request ends without an answer: the caller cut the connection.
struct Leaving(Option<(tracing::Span, Instant)>);

impl Leaving {
    fn answered(mut self) {
        self.0 = None;
    }
}

impl Drop for Leaving {
    fn drop(&mut self) {
        if let Some((span, started)) = self.0.take() {
            let took_ms = started.elapsed().as_millis() as u64;
            span.in_scope(|| tracing::info!(took_ms, "the caller left before the answer"));
        }
    }
}

/// Gives a refusal its body. One that carries no problem was made by the framework; a page in
/// HTML has its own words.
fn in_one_shape(mut response: Response, context: &Context) -> Response {
    let status = response.status();
    if !status.is_client_error() && !status.is_server_error() {
        return response;
    }
    let problem = match response.extensions_mut().remove::<Carried>() {
        Some(carried) => carried.0,
        None if has_own_words(response.headers()) => return response,
        None => Problem::new(Code::for_status(status)).into(),
    };
    *response.status_mut() = problem.code.status();
    problem::render(&problem, context, response)
}

fn policy(limits: RateLimits) -> HeaderValue {
    let text = format!(
        "\"requests\";q={};w=60, \"concurrent\";q={}, \"audio-seconds\";q={};w=60",
        limits.requests_per_minute, limits.concurrent_requests, limits.audio_seconds_per_minute
    );
    HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static(""))
}

fn has_own_words(headers: &HeaderMap) -> bool {
    let kind = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    kind.starts_with("text/html") || kind.starts_with("application/problem+json")
}

fn add_headers(app: &App, context: &Context, headers: &mut HeaderMap) {
    headers.insert(
        HeaderName::from_static(REQUEST_ID),
        context.request_id_header(),
    );
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    let strictest = HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'");
    headers.entry(CONTENT_SECURITY_POLICY).or_insert(strictest);
    headers
        .entry(CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
    if app.config.server.hsts {
        let year = HeaderValue::from_static("max-age=31536000; includeSubDomains");
        headers.insert(STRICT_TRANSPORT_SECURITY, year);
    }
    if context.path().starts_with("/v1/") {
        headers.insert(RATE_LIMIT_POLICY, policy(app.rates.limits()));
    }
    if let Some(rate) = context.rate() {
        let value = format!("\"requests\";r={};t={}", rate.remaining, rate.reset_s);
        if let Ok(value) = HeaderValue::from_str(&value) {
            headers.insert(RATE_LIMIT, value);
        }
    }
}
