//! What the engine has done, and how fast it has been lately.

use std::time::Duration;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Speech,
    Transcription,
}

/// How a job ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    Done,
    Failed,
    Cancelled,
    Expired,
}

/// Counters of one kind of work since the engine started.
#[derive(Debug, Clone, Copy, Default, PartialEq, serde::Serialize)]
pub struct KindStats {
    /// Waiting now.
    pub queued: usize,
    /// In a worker now.
    pub running: usize,
    pub done: u64,
    pub failed: u64,
    /// The caller left, or the engine shut down.
    pub cancelled: u64,
    pub expired: u64,
    /// Turned away because the queue was full.
    pub refused: u64,
    /// Audio made or read by finished jobs.
    pub audio_seconds: f64,
    /// Worker time spent, whatever came of it.
    pub busy_seconds: f64,
}

#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct EngineStats {
    pub queued: usize,
    /// Decoded audio that waits in memory.
    pub queued_audio_seconds: f64,
    pub running: usize,
    pub done: u64,
    pub speech: KindStats,
    pub transcription: KindStats,
    pub workers: usize,
    /// From start to ready; 0 while loading.
    pub model_load_ms: u64,
    /// Times a model panicked and was loaded anew.
    pub panics: u64,
}

impl EngineStats {
    pub(super) fn kind_mut(&mut self, kind: Kind) -> &mut KindStats {
        match kind {
            Kind::Speech => &mut self.speech,
            Kind::Transcription => &mut self.transcription,
        }
    }
}

impl KindStats {
    pub(super) fn count(&mut self, ending: Ending) {
        match ending {
            Ending::Done => self.done += 1,
            Ending::Failed => self.failed += 1,
            Ending::Cancelled => self.cancelled += 1,
            Ending::Expired => self.expired += 1,
        }
    }
}

/// Recent seconds of work per character spoken and per second of audio read.
#[derive(Debug, Clone)]
pub(super) struct Pace {
    speech: f64,
    transcription: f64,
}

/// Weight of the newest job in the running average.
const NEWEST_WEIGHT: f64 = 0.2;
const RETRY_AFTER_MIN: Duration = Duration::from_secs(1);
const RETRY_AFTER_MAX: Duration = Duration::from_secs(120);

impl Default for Pace {
    /// A guess for the first minute, before any job was measured.
    fn default() -> Self {
        Pace {
            speech: 0.004,
            transcription: 0.1,
        }
    }
}

impl Pace {
    pub fn learn(&mut self, kind: Kind, units: f64, took: Duration) {
        // Tiny jobs measure their fixed cost, not their pace.
        if units < 1.0 {
            return;
        }
        let rate = self.rate_mut(kind);
        *rate += NEWEST_WEIGHT * (took.as_secs_f64() / units - *rate);
    }

    pub fn estimate_seconds(&self, kind: Kind, units: f64) -> f64 {
        match kind {
            Kind::Speech => self.speech * units,
            Kind::Transcription => self.transcription * units,
        }
    }

    fn rate_mut(&mut self, kind: Kind) -> &mut f64 {
        match kind {
            Kind::Speech => &mut self.speech,
            Kind::Transcription => &mut self.transcription,
        }
    }
}

/// When to come back: by then half of the backlog should be worked off. Whole seconds, as HTTP
/// wants them.
pub(super) fn retry_after(backlog_seconds: f64, workers: usize) -> Duration {
    let half = backlog_seconds / 2.0 / workers.max(1) as f64;
    let whole = half.ceil().clamp(0.0, RETRY_AFTER_MAX.as_secs_f64());
    Duration::from_secs_f64(whole).max(RETRY_AFTER_MIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_to_come_back_grows_with_the_backlog_and_shrinks_with_workers() {
        assert_eq!(retry_after(0.0, 2), Duration::from_secs(1));
        assert_eq!(retry_after(40.0, 2), Duration::from_secs(10));
        assert_eq!(retry_after(40.0, 4), Duration::from_secs(5));
        assert_eq!(retry_after(1e9, 2), RETRY_AFTER_MAX);
    }

    #[test]
    fn the_pace_follows_what_was_measured() {
        let mut pace = Pace::default();
        for _ in 0..50 {
            pace.learn(Kind::Transcription, 100.0, Duration::from_secs(30));
        }
        let estimate = pace.estimate_seconds(Kind::Transcription, 10.0);
        assert!((estimate - 3.0).abs() < 0.01, "{estimate}");
        let speech = pace.estimate_seconds(Kind::Speech, 1000.0);
        assert!((speech - 4.0).abs() < 1e-9, "speech keeps its own pace");
    }
}
