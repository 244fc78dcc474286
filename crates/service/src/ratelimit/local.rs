//! Buckets in this process. One refills steadily, so that a caller who was refused gets in again after moments rather
//! than at the turn of the minute.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::{Mutex, MutexGuard, RwLock};

use super::{RateLimits, RateStatus, Refused, WINDOW_S};

const SHARDS: usize = 16;
/// A shard this full is swept of callers who have not been here for a window.
const SWEEP_AT: usize = 4_096;
/// More addresses than this within a window are a flood: the counts begin anew rather than fill the memory.
const NAMES_MAX: usize = 100_000;

#[derive(Debug)]
struct Bucket {
    name: Arc<str>,
    requests: f64,
    audio_s: f64,
    in_flight: u32,
    refilled: Instant,
}

#[derive(Debug)]
pub(crate) struct RateLimiter {
    shards: [Mutex<HashMap<Arc<str>, Bucket>>; SHARDS],
    hasher: RandomState,
    limits: RwLock<RateLimits>,
}

/// A place among the requests at once; given back when dropped.
#[derive(Debug)]
pub struct Permit {
    limiter: Arc<RateLimiter>,
    caller: Arc<str>,
}

impl RateLimiter {
    pub(crate) fn new(limits: RateLimits) -> RateLimiter {
        RateLimiter {
            shards: Default::default(),
            hasher: RandomState::new(),
            limits: RwLock::new(limits),
        }
    }

    pub(crate) fn limits(&self) -> RateLimits {
        *self.limits.read()
    }

    pub(crate) fn set_limits(&self, limits: RateLimits) {
        *self.limits.write() = limits;
    }

    /// Takes one request from the caller's bucket and one place among those at once.
    pub(crate) fn admit(
        self: &Arc<Self>,
        caller: &str,
        now: Instant,
    ) -> Result<(RateStatus, Permit), Refused> {
        let limits = self.limits();
        let mut shard = self.shard(caller);
        if shard.len() >= SWEEP_AT {
            shard.retain(|_, bucket| {
                bucket.in_flight > 0
                    || now.duration_since(bucket.refilled) < Duration::from_secs(60)
            });
        }
        if !shard.contains_key(caller) {
            let name: Arc<str> = Arc::from(caller);
            shard.insert(Arc::clone(&name), full(&limits, name, now));
        }
        let bucket = shard.get_mut(caller).expect("put there just now");
        refill(&limits, bucket, now);
        if bucket.requests < 1.0 || bucket.in_flight >= limits.concurrent_requests {
            return Err(limits.refused(bucket.requests));
        }
        bucket.requests -= 1.0;
        bucket.in_flight += 1;
        let permit = Permit {
            limiter: Arc::clone(self),
            caller: Arc::clone(&bucket.name),
        };
        Ok((limits.status(bucket.requests), permit))
    }

    /// Takes the seconds of a recording. The bucket may go into debt, so that one recording
    /// longer than the allowance of a minute is possible, and the next has to wait.
    pub(crate) fn take_audio(&self, caller: &str, seconds: f64, now: Instant) -> Result<(), u64> {
        let limits = self.limits();
        let mut shard = self.shard(caller);
        let bucket = shard
            .entry(Arc::from(caller))
            .or_insert_with_key(|name| full(&limits, Arc::clone(name), now));
        refill(&limits, bucket, now);
        let wanted = seconds.min(limits.audio_s_max());
        if bucket.audio_s < wanted {
            let wait_s = (wanted - bucket.audio_s) * WINDOW_S / limits.audio_s_max();
            return Err(wait_s.ceil().max(1.0) as u64);
        }
        bucket.audio_s -= seconds;
        Ok(())
    }

    fn shard(&self, caller: &str) -> MutexGuard<'_, HashMap<Arc<str>, Bucket>> {
        let index = self.hasher.hash_one(caller) as usize % SHARDS;
        self.shards[index].lock()
    }
}

fn full(limits: &RateLimits, name: Arc<str>, now: Instant) -> Bucket {
    Bucket {
        name,
        requests: limits.requests_max(),
        audio_s: limits.audio_s_max(),
        in_flight: 0,
        refilled: now,
    }
}

fn refill(limits: &RateLimits, bucket: &mut Bucket, now: Instant) {
    let (requests_max, audio_s_max) = (limits.requests_max(), limits.audio_s_max());
    let share = now.saturating_duration_since(bucket.refilled).as_secs_f64() / WINDOW_S;
    bucket.requests = (bucket.requests + share * requests_max).min(requests_max);
    bucket.audio_s = (bucket.audio_s + share * audio_s_max).min(audio_s_max);
    bucket.refilled = now.max(bucket.refilled);
}

impl Drop for Permit {
    fn drop(&mut self) {
        if let Some(bucket) = self.limiter.shard(&self.caller).get_mut(&self.caller) {
            bucket.in_flight = bucket.in_flight.saturating_sub(1);
        }
    }
}

/// Attempts from one client address within a window, counted in this process: the first thing that a flood meets, so it
/// costs no query. What is counted for all processes together is counted by the store.
#[derive(Debug)]
pub struct Attempts {
    seen: Mutex<HashMap<String, (Instant, u32)>>,
    window: Duration,
    max: u32,
}

impl Attempts {
    pub fn new(max: u32, window: Duration) -> Attempts {
        Attempts {
            seen: Mutex::default(),
            window,
            max,
        }
    }

    /// Counts an attempt before it is made, or says how many seconds to wait. Check and count are one step: of many at the
    /// same moment only so many pass.
    pub fn take(&self, name: &str, now: Instant) -> Result<(), u64> {
        let mut seen = self.lock();
        if seen.len() >= NAMES_MAX {
            seen.retain(|_, (since, _)| now < *since + self.window);
        }
        if seen.len() >= NAMES_MAX {
            seen.clear();
        }
        let entry = seen.entry(name.to_owned()).or_insert((now, 0));
        if now >= entry.0 + self.window {
            *entry = (now, 0);
        }
        if entry.1 >= self.max {
            return Err((entry.0 + self.window - now).as_secs().max(1));
        }
        entry.1 += 1;
        Ok(())
    }

    /// Takes back one attempt that does not count: it succeeded, or was never made.
    pub(crate) fn give_back(&self, name: &str) {
        if let Some((_, count)) = self.lock().get_mut(name) {
            *count = count.saturating_sub(1);
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, (Instant, u32)>> {
        self.seen.lock()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limiter(requests_per_minute: u32, concurrent_requests: u32) -> Arc<RateLimiter> {
        Arc::new(RateLimiter::new(RateLimits {
            requests_per_minute,
            concurrent_requests,
            audio_seconds_per_minute: 60,
        }))
    }

    #[test]
    fn a_caller_who_used_its_requests_waits_and_others_do_not() {
        let (limiter, start) = (limiter(2, 10), Instant::now());
        let (first, _a) = limiter.admit("a", start).unwrap();
        assert_eq!(
            first,
            RateStatus {
                remaining: 1,
                reset_s: 30
            }
        );
        let _b = limiter.admit("a", start).unwrap();
        let refused = limiter.admit("a", start).unwrap_err();
        assert_eq!(refused.retry_after_s, 30);
        limiter.admit("b", start).unwrap();
        limiter.admit("a", start + Duration::from_secs(30)).unwrap();
    }

    #[test]
    fn a_place_among_those_at_once_comes_back_with_the_permit() {
        let (limiter, now) = (limiter(100, 1), Instant::now());
        let (_, permit) = limiter.admit("a", now).unwrap();
        assert_eq!(limiter.admit("a", now).unwrap_err().retry_after_s, 1);
        drop(permit);
        limiter.admit("a", now).unwrap();
    }

    #[test]
    fn a_recording_longer_than_the_allowance_goes_through_once() {
        let (limiter, now) = (limiter(100, 1), Instant::now());
        limiter.take_audio("a", 120.0, now).unwrap();
        assert_eq!(limiter.take_audio("a", 30.0, now), Err(90));
        limiter
            .take_audio("a", 30.0, now + Duration::from_secs(90))
            .unwrap();
    }

    #[test]
    fn attempts_run_out_and_come_back_after_the_window() {
        let (attempts, now) = (Attempts::new(2, Duration::from_secs(10)), Instant::now());
        attempts.take("x", now).unwrap();
        attempts.take("x", now).unwrap();
        assert_eq!(attempts.take("x", now), Err(10));
        attempts.take("y", now).unwrap();
        attempts.give_back("x");
        attempts.take("x", now).unwrap();
        assert_eq!(attempts.take("x", now), Err(10));
        attempts.take("x", now + Duration::from_secs(10)).unwrap();
    }
}
