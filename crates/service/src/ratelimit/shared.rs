//! The same buckets in Valkey, for all processes together. Each question is one script, so that no two callers can read the
//! same last place; the clock is Valkey's own.

use std::sync::Arc;

use redis::Script;
use sauti_store::ids::new_id;

use super::{RateLimits, RateStatus, Refused, WINDOW_S};
use crate::valkey::Valkey;

/// A place whose holder died comes back after this long. A request that lasts longer gives its place up early.
const PLACE_S: u32 = 300;

/// Requests left and when that was true, in a hash; places taken, by the time they were, in a sorted set.
const ADMIT: &str = r"
local t = redis.call('TIME')
local now = tonumber(t[1]) + tonumber(t[2]) / 1000000
local max, places_max, lease = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[4])
local known = redis.call('HMGET', KEYS[1], 'left', 'at')
local left = tonumber(known[1]) or max
local at = tonumber(known[2]) or now
left = math.min(max, left + math.max(0, now - at) * max / 60)
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now - lease)
local admitted = 0
if left >= 1 and redis.call('ZCARD', KEYS[2]) < places_max then
    admitted = 1
    left = left - 1
    redis.call('ZADD', KEYS[2], string.format('%.6f', now), ARGV[3])
    redis.call('EXPIRE', KEYS[2], lease)
end
redis.call('HSET', KEYS[1], 'left', string.format('%.6f', left), 'at', string.format('%.6f', math.max(at, now)))
redis.call('EXPIRE', KEYS[1], 120)
return {admitted, string.format('%.6f', left)}
";

/// The bucket may go into debt, so that one recording longer than the allowance of a minute is possible.
const TAKE_AUDIO: &str = r"
local t = redis.call('TIME')
local now = tonumber(t[1]) + tonumber(t[2]) / 1000000
local max, seconds = tonumber(ARGV[1]), tonumber(ARGV[2])
local known = redis.call('HMGET', KEYS[1], 'left', 'at')
local left = tonumber(known[1]) or max
local at = tonumber(known[2]) or now
left = math.min(max, left + math.max(0, now - at) * max / 60)
local taken = 0
if left >= math.min(seconds, max) then
    taken = 1
    left = left - seconds
end
redis.call('HSET', KEYS[1], 'left', string.format('%.6f', left), 'at', string.format('%.6f', math.max(at, now)))
redis.call('EXPIRE', KEYS[1], 120 + math.ceil(math.max(0, max - left) * 60 / max))
return {taken, string.format('%.6f', left)}
";

#[derive(Debug)]
pub(super) struct Shared {
    valkey: Arc<Valkey>,
    admit: Script,
    take_audio: Script,
}

/// A place in the sorted set; given back in the background when dropped.
#[derive(Debug)]
pub struct Permit {
    valkey: Arc<Valkey>,
    places: String,
    name: String,
}

impl Shared {
    pub(super) fn new(valkey: Arc<Valkey>) -> Shared {
        Shared {
            valkey,
            admit: Script::new(ADMIT),
            take_audio: Script::new(TAKE_AUDIO),
        }
    }

    /// `None` when Valkey does not answer.
    pub(super) async fn admit(
        &self,
        limits: &RateLimits,
        caller: &str,
    ) -> Option<Result<(RateStatus, Permit), Refused>> {
        // The braces keep a caller's keys on one shard of a cluster.
        let (bucket, places) = (
            format!("sauti:{{{caller}}}:requests"),
            format!("sauti:{{{caller}}}:places"),
        );
        let name = new_id("place_");
        let asked = self.valkey.script("rate", &self.admit, |invocation| {
            invocation
                .key(&bucket)
                .key(&places)
                .arg(limits.requests_per_minute)
                .arg(limits.concurrent_requests)
                .arg(&name)
                .arg(PLACE_S);
        });
        let (admitted, left): (u32, f64) = asked.await?;
        Some(match admitted {
            1 => {
                let permit = Permit {
                    valkey: Arc::clone(&self.valkey),
                    places,
                    name,
                };
                Ok((limits.status(left), permit))
            }
            _ => Err(limits.refused(left)),
        })
    }

    pub(super) async fn take_audio(
        &self,
        limits: &RateLimits,
        caller: &str,
        seconds: f64,
    ) -> Option<Result<(), u64>> {
        let bucket = format!("sauti:{{{caller}}}:audio");
        let max = limits.audio_s_max();
        let asked = self.valkey.script("rate", &self.take_audio, |invocation| {
            invocation.key(&bucket).arg(max).arg(seconds);
        });
        let (taken, left): (u32, f64) = asked.await?;
        Some(match taken {
            1 => Ok(()),
            _ => {
                let wait_s = (seconds.min(max) - left) * WINDOW_S / max;
                Err(wait_s.ceil().max(1.0) as u64)
            }
        })
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            return;
        };
        let valkey = Arc::clone(&self.valkey);
        let mut command = redis::cmd("ZREM");
        command.arg(&self.places).arg(&self.name);
        runtime.spawn(async move {
            let _: Option<u32> = valkey.command("rate", &command).await;
        });
    }
}
