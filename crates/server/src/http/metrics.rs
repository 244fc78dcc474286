//! Figures of requests and connections for Prometheus, beside those of the service.

use std::collections::HashMap;
use std::sync::LazyLock;
use std::time::Duration;

use axum::http::Method;
use metrics::{Counter, Histogram, counter, gauge, histogram};
use parking_lot::RwLock;

/// The figures of one route. Looked up once: by name and labels that takes longer than counting.
struct Route {
    seconds: Histogram,
    answers: HashMap<(Method, u16), Counter>,
}

static ROUTES: LazyLock<RwLock<HashMap<Box<str>, Route>>> = LazyLock::new(RwLock::default);

pub(super) fn request(method: &Method, route: &str, status: u16, took: Duration) {
    let key = (method.clone(), status);
    let known = |of: &Route| {
        of.answers.get(&key)?.increment(1);
        of.seconds.record(took.as_secs_f64());
        Some(())
    };
    if ROUTES.read().get(route).and_then(known).is_some() {
        return;
    }
    let mut routes = ROUTES.write();
    let of = routes.entry(route.into()).or_insert_with(|| Route {
        seconds: histogram!("sauti_http_request_seconds", "route" => route.to_owned()),
        answers: HashMap::new(),
    });
    let count = counter!(
        "sauti_http_requests_total",
        "method" => method.to_string(), "route" => route.to_owned(), "status" => status.to_string()
    );
    of.answers.insert(key.clone(), count);
    known(of);
}

/// `idle` (no request came in time), `slow_reader` (the answer was not read) or `room` (the table was full).
pub(super) fn connection_closed(reason: &'static str) {
    counter!("sauti_connections_closed_total", "reason" => reason).increment(1);
}

/// Closed before it was served: `address` (too many from there) or `full`, and none of them waiting.
pub(super) fn connection_refused(reason: &'static str) {
    counter!("sauti_connections_refused_total", "reason" => reason).increment(1);
}

pub(super) fn connections(open: usize, waiting: usize) {
    gauge!("sauti_connections", "state" => "waiting").set(waiting as f64);
    gauge!("sauti_connections", "state" => "answering").set((open - waiting) as f64);
}

/// Rules that watch for a rise see none from nothing to one.
pub(super) fn start_at_zero() {
    for reason in ["idle", "slow_reader", "room"] {
        counter!("sauti_connections_closed_total", "reason" => reason).increment(0);
    }
    for reason in ["address", "full"] {
        counter!("sauti_connections_refused_total", "reason" => reason).increment(0);
    }
}
