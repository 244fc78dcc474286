//! How long a job would wait: what the work ahead of it takes at the pace seen lately, spread over the workers.
//!
//! Plain arithmetic. The time comes from outside, so that tests can make it up.

use std::time::{Duration, Instant};

use super::stats::JobKind;

/// What was measured this long ago counts half as much as what was measured now.
const HALF_LIFE: Duration = Duration::from_secs(5);
/// A pause ages what is known by no more than this: the first job of the morning is not all there is to know.
const AGED_MAX: Duration = Duration::from_secs(15);
const RETRY_AFTER_MIN: Duration = Duration::from_secs(1);
const RETRY_AFTER_MAX: Duration = Duration::from_secs(120);

/// How long a caller may be let to wait before its work begins.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Patience {
    pub wait_s_max: f64,
    /// Added for each second of a long recording: whoever sends an hour does not hold the line.
    pub wait_per_audio_second: f64,
}

impl Patience {
    /// Short recordings get no more than speech: both stand in one line, and whoever may wait longer would keep the
    /// other out of it.
    pub(super) fn seconds(&self, long_recording_seconds: Option<f64>) -> f64 {
        let more = long_recording_seconds.unwrap_or(0.0) * self.wait_per_audio_second;
        self.wait_s_max + more
    }
}

/// Recent seconds of a worker's time for each character spoken and each second of audio read.
#[derive(Debug, Clone)]
pub(super) struct Pace {
    speech: Rate,
    transcription: Rate,
}

/// Two sums that fade alike. Their quotient weighs each job by its size: many short texts do not make a long one
/// look slow.
#[derive(Debug, Clone)]
struct Rate {
    seconds: f64,
    units: f64,
    measured: Option<Instant>,
}

impl Default for Pace {
    /// A guess with the weight of one small job, until some were measured.
    fn default() -> Self {
        Pace {
            speech: Rate::guess(0.002, 50.0),
            transcription: Rate::guess(0.1, 5.0),
        }
    }
}

impl Pace {
    pub(super) fn learn(&mut self, kind: JobKind, units: f64, took: Duration, now: Instant) {
        match kind {
            JobKind::Speech => self.speech.learn(units, took, now),
            JobKind::Transcription => self.transcription.learn(units, took, now),
        }
    }

    pub(super) fn seconds(&self, kind: JobKind, units: f64) -> f64 {
        let rate = match kind {
            JobKind::Speech => &self.speech,
            JobKind::Transcription => &self.transcription,
        };
        rate.seconds / rate.units * units
    }
}

impl Rate {
    fn guess(seconds_per_unit: f64, units: f64) -> Rate {
        Rate {
            seconds: seconds_per_unit * units,
            units,
            measured: None,
        }
    }

    fn learn(&mut self, units: f64, took: Duration, now: Instant) {
        if units <= 0.0 {
            return;
        }
        let aged = self
            .measured
            .map_or(Duration::ZERO, |then| now.saturating_duration_since(then));
        let kept = (-aged.min(AGED_MAX).as_secs_f64() / HALF_LIFE.as_secs_f64()).exp2();
        self.seconds = self.seconds * kept + took.as_secs_f64();
        self.units = self.units * kept + units;
        self.measured = Some(now);
    }
}

/// When a worker is free for a new job. `in_hand` are the seconds that busy workers still need, one for each; the
/// other workers are free now. Each piece of work ahead goes to whoever is free first.
pub(super) fn wait_seconds(mut in_hand: Vec<f64>, workers: usize, ahead: &[f64]) -> f64 {
    in_hand.resize(workers.max(1), 0.0);
    for seconds in ahead {
        if let Some(first) = in_hand.iter_mut().min_by(|a, b| a.total_cmp(b)) {
            *first += seconds;
        }
    }
    in_hand.into_iter().fold(f64::INFINITY, f64::min)
}

/// When to come back for a place that takes this long to become free. Whole seconds, as HTTP wants them.
pub(super) fn retry_after(seconds: f64) -> Duration {
    let whole = seconds.ceil().clamp(0.0, RETRY_AFTER_MAX.as_secs_f64());
    Duration::from_secs_f64(whole).max(RETRY_AFTER_MIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TENTH: Duration = Duration::from_millis(100);

    #[test]
    fn the_pace_follows_what_was_measured_lately() {
        let (mut pace, begun) = (Pace::default(), Instant::now());
        let at = |seconds: u64| begun + Duration::from_secs(seconds);
        for second in 0..60 {
            pace.learn(JobKind::Speech, 100.0, TENTH, at(second));
        }
        let calm = pace.seconds(JobKind::Speech, 100.0);
        assert!((calm - 0.1).abs() < 0.002, "{calm}");
        // The machine is three times as slow from now on: half of that is known after one half-life.
        for second in 60..65 {
            pace.learn(JobKind::Speech, 100.0, 3 * TENTH, at(second));
        }
        let soon = pace.seconds(JobKind::Speech, 100.0);
        assert!((0.18..0.22).contains(&soon), "{soon}");
        for second in 65..120 {
            pace.learn(JobKind::Speech, 100.0, 3 * TENTH, at(second));
        }
        let late = pace.seconds(JobKind::Speech, 100.0);
        assert!((late - 0.3).abs() < 0.002, "{late}");
        let other = pace.seconds(JobKind::Transcription, 10.0);
        assert!((other - 1.0).abs() < 1e-9, "recordings keep their own pace");
    }

    #[test]
    fn a_job_counts_by_its_size() {
        let (mut pace, now) = (Pace::default(), Instant::now());
        // Nine words that cost mostly their beginning, and one long text.
        for _ in 0..9 {
            pace.learn(JobKind::Speech, 10.0, TENTH, now);
        }
        pace.learn(JobKind::Speech, 5_000.0, Duration::from_secs(5), now);
        let seconds = pace.seconds(JobKind::Speech, 5_000.0);
        assert!((5.0..6.5).contains(&seconds), "{seconds}");
    }

    #[test]
    fn one_job_after_a_quiet_night_does_not_decide_alone() {
        let (mut pace, now) = (Pace::default(), Instant::now());
        for _ in 0..100 {
            pace.learn(JobKind::Transcription, 10.0, TENTH, now);
        }
        let morning = now + Duration::from_secs(8 * 3600);
        pace.learn(
            JobKind::Transcription,
            10.0,
            Duration::from_secs(10),
            morning,
        );
        let seconds = pace.seconds(JobKind::Transcription, 10.0);
        assert!(seconds < 1.0, "{seconds}");
        // A clock that steps back is no reason to forget more, or to fail.
        pace.learn(JobKind::Transcription, 10.0, TENTH, now);
        pace.learn(JobKind::Transcription, 0.0, TENTH, now);
        assert!(pace.seconds(JobKind::Transcription, 10.0) < seconds);
    }

    #[test]
    fn nobody_waits_while_a_worker_is_free() {
        assert_eq!(wait_seconds(vec![], 3, &[]), 0.0);
        assert_eq!(wait_seconds(vec![60.0, 60.0], 3, &[]), 0.0);
        assert_eq!(wait_seconds(vec![60.0, 2.0, 7.0], 3, &[]), 2.0);
        assert_eq!(
            wait_seconds(vec![60.0], 3, &[60.0]),
            0.0,
            "jobs are not shared"
        );
    }

    #[test]
    fn the_work_ahead_goes_to_whoever_is_free_first() {
        assert_eq!(wait_seconds(vec![], 1, &[5.0]), 5.0);
        assert_eq!(wait_seconds(vec![], 2, &[5.0, 4.0]), 4.0);
        assert_eq!(wait_seconds(vec![3.0], 2, &[7.0]), 3.0);
        assert_eq!(wait_seconds(vec![100.0], 2, &[3.0, 4.0]), 7.0);
        assert_eq!(wait_seconds(vec![1.0, 2.0, 3.0], 3, &[2.0, 2.0, 2.0]), 3.0);
    }

    #[test]
    fn a_long_recording_may_wait_in_proportion() {
        let patience = Patience {
            wait_s_max: 3.0,
            wait_per_audio_second: 0.25,
        };
        assert_eq!(patience.seconds(None), 3.0);
        assert_eq!(patience.seconds(Some(3_600.0)), 903.0);
    }

    #[test]
    fn the_time_to_come_back_is_in_whole_seconds_and_has_bounds() {
        assert_eq!(retry_after(0.0), Duration::from_secs(1));
        assert_eq!(retry_after(4.2), Duration::from_secs(5));
        assert_eq!(retry_after(1e9), RETRY_AFTER_MAX);
    }
}
