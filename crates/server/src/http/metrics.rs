//! Figures of requests and connections for Prometheus, beside those of the service.

use std::time::Duration;

use metrics::{counter, gauge, histogram};

pub(super) fn request(method: &str, route: &str, status: u16, took: Duration) {
    let (method, route) = (method.to_owned(), route.to_owned());
    let status = status.to_string();
    histogram!("sauti_http_request_seconds", "route" => route.clone()).record(took.as_secs_f64());
    counter!("sauti_http_requests_total", "method" => method, "route" => route, "status" => status)
        .increment(1);
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
