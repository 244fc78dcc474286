//! What the engine has done.

use super::queue::Full;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JobKind {
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
    /// Turned away, for whatever of the reasons in `refusals`.
    pub refused: u64,
    pub refusals: Refusals,
    /// Audio made or read by finished jobs.
    pub audio_seconds: f64,
    /// Worker time spent, whatever came of it.
    pub busy_seconds: f64,
}

/// Why jobs were turned away.
#[derive(Debug, Clone, Copy, Default, PartialEq, serde::Serialize)]
pub struct Refusals {
    /// They would have waited too long.
    pub wait: u64,
    /// Too many jobs or seconds of audio waited.
    pub queue: u64,
    /// Too many jobs of the same tenant waited.
    pub tenant: u64,
}

#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct EngineStats {
    pub queued: usize,
    /// How long whoever came last would wait for its work to begin: speech and short recordings.
    pub wait_seconds: f64,
    /// The same for a long recording.
    pub long_wait_seconds: f64,
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
    pub(super) fn kind_mut(&mut self, kind: JobKind) -> &mut KindStats {
        match kind {
            JobKind::Speech => &mut self.speech,
            JobKind::Transcription => &mut self.transcription,
        }
    }
}

impl KindStats {
    pub(super) fn refuse(&mut self, full: Full) {
        self.refused += 1;
        match full {
            Full::Wait => self.refusals.wait += 1,
            Full::Queue => self.refusals.queue += 1,
            Full::Tenant => self.refusals.tenant += 1,
        }
    }

    pub(super) fn count(&mut self, ending: Ending) {
        match ending {
            Ending::Done => self.done += 1,
            Ending::Failed => self.failed += 1,
            Ending::Cancelled => self.cancelled += 1,
            Ending::Expired => self.expired += 1,
        }
    }
}
