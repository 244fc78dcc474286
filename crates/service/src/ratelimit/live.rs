//! Limits that an operator changes while the service runs: `sauti limits set requests_per_minute 1200`. They lie in the
//! database, so that they hold for every process and outlive them all.

use sauti_store::Store;

use super::{RateLimits, Rates};

/// The limits that can be changed so, with a smallest value of 1.
pub const LIVE: &[&str] = &[
    "requests_per_minute",
    "concurrent_requests",
    "audio_seconds_per_minute",
];

/// The limits of the settings with these in their place. What is out of range or unknown is passed over.
pub fn apply(mut limits: RateLimits, live: &[(String, i64)]) -> RateLimits {
    for (name, value) in live {
        let Some(value) = u32::try_from(*value).ok().filter(|value| *value >= 1) else {
            continue;
        };
        match name.as_str() {
            "requests_per_minute" => limits.requests_per_minute = value,
            "concurrent_requests" => limits.concurrent_requests = value,
            "audio_seconds_per_minute" => limits.audio_seconds_per_minute = value,
            _ => {}
        }
    }
    limits
}

/// Takes up what the database says. While it cannot be read, what was read last holds.
pub async fn follow(store: &Store, rates: &Rates, settings: RateLimits) {
    if let Ok(live) = store.live_limits().await {
        hold_to(rates, apply(settings, &live));
    }
}

fn hold_to(rates: &Rates, limits: RateLimits) {
    if rates.limits() != limits {
        tracing::info!(?limits, "other limits hold from now on");
        rates.set_limits(limits);
    }
}
