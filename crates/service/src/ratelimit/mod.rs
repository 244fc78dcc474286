//! How much one caller may ask for: requests a minute, requests at once, audio seconds a minute. Counted in Valkey for
//! all processes together where there is one, else and meanwhile in this process.

mod live;
mod live_sessions;
mod local;
mod shared;

use std::sync::Arc;
use std::time::Instant;

pub use live::{LIVE, apply, follow};
pub use live_sessions::{LiveSessions, Seat, SeatRefused};
pub use local::Attempts;
pub(crate) use local::RateLimiter;

use crate::config::Limits;
use crate::valkey::Valkey;
use shared::Shared;

/// Where a caller stands after this request.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RateStatus {
    pub remaining: u32,
    /// Until the bucket is full again.
    pub reset_s: u64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Refused {
    pub status: RateStatus,
    pub retry_after_s: u64,
}

/// What holds for one caller.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RateLimits {
    pub requests_per_minute: u32,
    pub concurrent_requests: u32,
    pub audio_seconds_per_minute: u32,
}

impl From<&Limits> for RateLimits {
    fn from(limits: &Limits) -> RateLimits {
        RateLimits {
            requests_per_minute: limits.requests_per_minute,
            concurrent_requests: limits.concurrent_requests,
            audio_seconds_per_minute: limits.audio_seconds_per_minute,
        }
    }
}

impl RateLimits {
    fn requests_max(&self) -> f64 {
        f64::from(self.requests_per_minute)
    }

    fn audio_s_max(&self) -> f64 {
        f64::from(self.audio_seconds_per_minute)
    }

    /// Where a caller stands with so many requests left.
    fn status(&self, left: f64) -> RateStatus {
        let missing = self.requests_max() - left;
        RateStatus {
            remaining: left.max(0.0) as u32,
            reset_s: (missing.max(0.0) * WINDOW_S / self.requests_max()).ceil() as u64,
        }
    }

    fn refused(&self, left: f64) -> Refused {
        let wait_s = match left >= 1.0 {
            true => 1.0,
            false => (1.0 - left) * WINDOW_S / self.requests_max(),
        };
        Refused {
            status: self.status(left),
            retry_after_s: wait_s.ceil().max(1.0) as u64,
        }
    }
}

const WINDOW_S: f64 = 60.0;

/// A place among the requests at once; given back when dropped.
#[derive(Debug)]
pub enum Permit {
    Here(local::Permit),
    Everywhere(shared::Permit),
}

#[derive(Debug)]
pub struct Rates {
    local: Arc<RateLimiter>,
    shared: Option<Shared>,
}

impl Rates {
    pub fn new(limits: RateLimits, valkey: Option<Arc<Valkey>>) -> Rates {
        Rates {
            local: Arc::new(RateLimiter::new(limits)),
            shared: valkey.map(Shared::new),
        }
    }

    pub fn limits(&self) -> RateLimits {
        self.local.limits()
    }

    pub(crate) fn set_limits(&self, limits: RateLimits) {
        self.local.set_limits(limits);
    }

    /// Takes one request from the caller's bucket and one place among those at once.
    pub async fn admit(&self, caller: &str) -> Result<(RateStatus, Permit), Refused> {
        if let Some(shared) = &self.shared
            && let Some(answer) = shared.admit(&self.limits(), caller).await
        {
            return answer.map(|(status, permit)| (status, Permit::Everywhere(permit)));
        }
        let admitted = self.local.admit(caller, Instant::now())?;
        Ok((admitted.0, Permit::Here(admitted.1)))
    }

    /// Takes the seconds of a recording, or says how many seconds to wait.
    pub async fn take_audio(&self, caller: &str, seconds: f64) -> Result<(), u64> {
        if let Some(shared) = &self.shared
            && let Some(answer) = shared.take_audio(&self.limits(), caller, seconds).await
        {
            return answer;
        }
        self.local.take_audio(caller, seconds, Instant::now())
    }
}

#[cfg(test)]
mod tests;
