//! How much one caller may ask for: requests a minute, requests at once, audio seconds a minute.
//!
//! Kept in this process. A bucket refills steadily, so that a caller who was refused gets in
//! again after moments rather than at the turn of the minute.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use crate::config::Limits;

const SHARDS: usize = 16;
const WINDOW_S: f64 = 60.0;
/// A shard this full is swept of callers who have not been here for a window.
const SWEEP_AT: usize = 4_096;

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

#[derive(Debug)]
struct Bucket {
    name: Arc<str>,
    requests: f64,
    audio_s: f64,
    in_flight: u32,
    refilled: Instant,
}

#[derive(Debug)]
pub struct RateLimiter {
    shards: [Mutex<HashMap<Arc<str>, Bucket>>; SHARDS],
    hasher: RandomState,
    requests_max: f64,
    audio_s_max: f64,
    concurrent_max: u32,
}

/// A place among the requests at once; given back when dropped.
#[derive(Debug)]
pub struct Permit {
    limiter: Arc<RateLimiter>,
    caller: Arc<str>,
}

impl RateLimiter {
    pub fn new(limits: &Limits) -> RateLimiter {
        RateLimiter {
            shards: Default::default(),
            hasher: RandomState::new(),
            requests_max: f64::from(limits.requests_per_minute),
            audio_s_max: f64::from(limits.audio_seconds_per_minute),
            concurrent_max: limits.concurrent_requests,
        }
    }

    pub fn policy(&self) -> String {
        format!(
            "\"requests\";q={};w=60, \"concurrent\";q={}, \"audio-seconds\";q={};w=60",
            self.requests_max, self.concurrent_max, self.audio_s_max
        )
    }

    /// Takes one request from the caller's bucket and one place among those at once.
    pub fn admit(
        self: &Arc<Self>,
        caller: &str,
        now: Instant,
    ) -> Result<(RateStatus, Permit), Refused> {
        let mut shard = self.shard(caller);
        if shard.len() >= SWEEP_AT {
            shard.retain(|_, bucket| {
                bucket.in_flight > 0
                    || now.duration_since(bucket.refilled) < Duration::from_secs(60)
            });
        }
        if !shard.contains_key(caller) {
            let name: Arc<str> = Arc::from(caller);
            shard.insert(Arc::clone(&name), self.full(name, now));
        }
        let bucket = shard.get_mut(caller).expect("put there just now");
        self.refill(bucket, now);
        let admitted = bucket.requests >= 1.0 && bucket.in_flight < self.concurrent_max;
        let wait_s = match bucket.requests >= 1.0 {
            true => 1.0,
            false => (1.0 - bucket.requests) * WINDOW_S / self.requests_max,
        };
        if admitted {
            bucket.requests -= 1.0;
            bucket.in_flight += 1;
        }
        let status = self.status(bucket);
        let caller = Arc::clone(&bucket.name);
        admitted
            .then(|| Permit {
                limiter: Arc::clone(self),
                caller,
            })
            .map(|permit| (status, permit))
            .ok_or(Refused {
                status,
                retry_after_s: wait_s.ceil().max(1.0) as u64,
            })
    }

    /// Takes the seconds of a recording. The bucket may go into debt, so that one recording
    /// longer than the allowance of a minute is possible, and the next has to wait.
    pub fn take_audio(&self, caller: &str, seconds: f64, now: Instant) -> Result<(), u64> {
        let mut shard = self.shard(caller);
        let bucket = shard
            .entry(Arc::from(caller))
            .or_insert_with_key(|name| self.full(Arc::clone(name), now));
        self.refill(bucket, now);
        let wanted = seconds.min(self.audio_s_max);
        if bucket.audio_s < wanted {
            let wait_s = (wanted - bucket.audio_s) * WINDOW_S / self.audio_s_max;
            return Err(wait_s.ceil().max(1.0) as u64);
        }
        bucket.audio_s -= seconds;
        Ok(())
    }

    fn full(&self, name: Arc<str>, now: Instant) -> Bucket {
        Bucket {
            name,
            requests: self.requests_max,
            audio_s: self.audio_s_max,
            in_flight: 0,
            refilled: now,
        }
    }

    fn refill(&self, bucket: &mut Bucket, now: Instant) {
        let share = now.saturating_duration_since(bucket.refilled).as_secs_f64() / WINDOW_S;
        bucket.requests = (bucket.requests + share * self.requests_max).min(self.requests_max);
        bucket.audio_s = (bucket.audio_s + share * self.audio_s_max).min(self.audio_s_max);
        bucket.refilled = now.max(bucket.refilled);
    }

    fn status(&self, bucket: &Bucket) -> RateStatus {
        let missing = self.requests_max - bucket.requests;
        RateStatus {
            remaining: bucket.requests.max(0.0) as u32,
            reset_s: (missing * WINDOW_S / self.requests_max).ceil() as u64,
        }
    }

    fn shard(&self, caller: &str) -> MutexGuard<'_, HashMap<Arc<str>, Bucket>> {
        let index = self.hasher.hash_one(caller) as usize % SHARDS;
        // The numbers in a bucket are whole even if a holder of the lock panicked.
        self.shards[index]
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        if let Some(bucket) = self.limiter.shard(&self.caller).get_mut(&self.caller) {
            bucket.in_flight = bucket.in_flight.saturating_sub(1);
        }
    }
}

/// Counts attempts by name within a window: new accounts from an address, failed sign-ins.
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

    /// Seconds to wait, if the attempts of this window are used up.
    pub fn check(&self, name: &str, now: Instant) -> Result<(), u64> {
        let seen = self
            .seen
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        match seen.get(name) {
            Some((since, count)) if *count >= self.max && now < *since + self.window => {
                Err((*since + self.window - now).as_secs().max(1))
            }
            _ => Ok(()),
        }
    }

    pub fn count(&self, name: &str, now: Instant) {
        let mut seen = self
            .seen
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        if seen.len() >= SWEEP_AT {
            seen.retain(|_, (since, _)| now < *since + self.window);
        }
        let entry = seen.entry(name.to_owned()).or_insert((now, 0));
        if now >= entry.0 + self.window {
            *entry = (now, 0);
        }
        entry.1 += 1;
    }

    pub fn forget(&self, name: &str) {
        self.seen
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
            .remove(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limiter(requests_per_minute: u32, concurrent: u32) -> Arc<RateLimiter> {
        let mut limits = crate::config::Config::with_overrides(&[]).unwrap().limits;
        limits.requests_per_minute = requests_per_minute;
        limits.concurrent_requests = concurrent;
        limits.audio_seconds_per_minute = 60;
        Arc::new(RateLimiter::new(&limits))
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
        attempts.count("x", now);
        attempts.check("x", now).unwrap();
        attempts.count("x", now);
        assert_eq!(attempts.check("x", now), Err(10));
        attempts.check("y", now).unwrap();
        attempts.check("x", now + Duration::from_secs(10)).unwrap();
    }
}
