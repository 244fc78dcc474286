//! The state that the queue, the callers and the workers share. Who gets in stands in `admission`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use tokio::sync::Notify;

use super::queue::{Bounds, JobQueue, Lane, Waiting};
use super::stats::{Ending, EngineStats, JobKind};
use super::wait::{Pace, Patience};
use super::work::{CancelSignal, JobTally, Task};
use crate::SpeechError;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Readiness {
    Loading,
    /// Every model has run once on every worker.
    Ready,
    /// No worker could load the models; they keep trying.
    Failed(String),
    Draining,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct PoolConfig {
    pub workers: usize,
    pub bounds: Bounds,
    pub patience: Patience,
    /// Recordings above this go to the long lane.
    pub short_seconds_max: f64,
}

#[derive(Debug)]
pub(super) struct Queued {
    pub task: Task,
    pub left: Arc<AtomicBool>,
    pub progress: Arc<JobTally>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Door {
    Open,
    /// What was let in is finished; nothing new comes in.
    Draining,
    /// Nothing more is begun.
    Shut,
}

#[derive(Debug)]
pub(super) struct State {
    door: Door,
    pub queue: JobQueue<Queued>,
    pub next_id: u64,
    long_running: usize,
    /// What each busy worker does.
    in_hand: Vec<JobInHand>,
    workers_ready: usize,
    /// Why a worker has no models now.
    failure: Option<String>,
    pub stats: EngineStats,
    pub pace: Pace,
}

#[derive(Debug)]
struct JobInHand {
    number: u64,
    begun: Instant,
    kind: JobKind,
    units: f64,
}

#[derive(Debug)]
pub(super) struct PoolShared {
    pub config: PoolConfig,
    started: Instant,
    pub state: Mutex<State>,
    /// Wakes workers: a job came, a long one ended, or the door closed.
    pub changed: Condvar,
    /// Wakes whoever drains: the last job ended.
    pub idle: Notify,
    cut_off: Arc<AtomicBool>,
}

impl State {
    pub(super) fn readiness(&self) -> Readiness {
        if self.door != Door::Open {
            return Readiness::Draining;
        }
        match &self.failure {
            Some(message) if self.workers_ready == 0 => Readiness::Failed(message.clone()),
            // Ready once, ready while any worker can serve: a reload after a panic is no outage.
            _ if self.stats.model_load_ms > 0 && self.workers_ready > 0 => Readiness::Ready,
            _ => Readiness::Loading,
        }
    }

    /// Answers the waiting jobs whose time is over.
    pub(super) fn expire(&mut self, now: Instant) {
        for job in self.queue.remove_expired(now) {
            self.count(&job.work, Ending::Expired);
            job.work.task.refuse(SpeechError::DeadlineExceeded);
        }
    }

    fn count(&mut self, work: &Queued, ending: Ending) {
        if let Some(ending) = work.progress.piece_ended(ending) {
            self.stats.kind_mut(work.task.kind()).count(ending);
        }
    }

    pub(super) fn is_idle(&self) -> bool {
        self.queue.is_empty() && self.stats.speech.running + self.stats.transcription.running == 0
    }

    /// The seconds that busy workers still need, as far as can be told.
    pub(super) fn in_hand_seconds(&self, now: Instant) -> Vec<f64> {
        let left = |job: &JobInHand| {
            let taken = now.saturating_duration_since(job.begun).as_secs_f64();
            (self.pace.seconds(job.kind, job.units) - taken).max(0.0)
        };
        self.in_hand.iter().map(left).collect()
    }
}

impl PoolShared {
    pub(super) fn new(config: PoolConfig) -> Self {
        Self {
            config,
            started: Instant::now(),
            state: Mutex::new(State {
                door: Door::Open,
                queue: JobQueue::new(config.bounds),
                next_id: 0,
                long_running: 0,
                in_hand: Vec::new(),
                workers_ready: 0,
                failure: None,
                stats: EngineStats {
                    workers: config.workers,
                    ..EngineStats::default()
                },
                pace: Pace::default(),
            }),
            changed: Condvar::new(),
            idle: Notify::new(),
            cut_off: Arc::new(AtomicBool::new(false)),
        }
    }

    /// The caller went away: a job that still waits gives its place to the next.
    pub(super) fn leave(&self, id: u64) {
        let mut state = self.state.lock();
        let Some(job) = state.queue.remove(id) else {
            return;
        };
        state.count(&job.work, Ending::Cancelled);
        let idle = state.is_idle();
        drop(state);
        if idle {
            self.idle.notify_waiters();
        }
    }

    pub(super) fn close(&self) {
        let mut state = self.state.lock();
        if state.door == Door::Open {
            state.door = Door::Draining;
        }
        drop(state);
        self.changed.notify_all();
    }

    pub(super) fn shut(&self) {
        self.cut_off.store(true, Ordering::Release);
        let mut state = self.state.lock();
        state.door = Door::Shut;
        let waiting = state.queue.remove_all();
        for job in &waiting {
            state.count(&job.work, Ending::Cancelled);
        }
        drop(state);
        self.changed.notify_all();
        for job in waiting {
            job.work.task.refuse(SpeechError::ShuttingDown);
        }
    }
}

/// What a worker has in hand: a text, or a piece of a recording.
#[derive(Debug)]
pub(super) struct RunningJob {
    pub task: Task,
    pub stop: CancelSignal,
    id: u64,
    /// Of this piece among all that were ever begun.
    number: u64,
    kind: JobKind,
    units: f64,
    lane: Lane,
    progress: Arc<JobTally>,
    begun: Instant,
}

/// What the workers do to the shared state.
impl PoolShared {
    /// Waits for the next job; `None` when there will be no more.
    pub(super) fn take(&self) -> Option<RunningJob> {
        let mut state = self.state.lock();
        loop {
            if state.door == Door::Shut {
                return None;
            }
            state.expire(Instant::now());
            // One worker always stays free of long recordings and of background work.
            let long_allowed = state.long_running < self.config.workers.saturating_sub(1).max(1);
            if let Some(job) = state.queue.pop(long_allowed) {
                return Some(self.begin(&mut state, job));
            }
            if state.door == Door::Draining && state.queue.is_empty() {
                // Expired jobs may have been the last ones.
                if state.is_idle() {
                    self.idle.notify_waiters();
                }
                return None;
            }
            self.changed.wait(&mut state);
        }
    }

    fn begin(&self, state: &mut State, job: Waiting<Queued>) -> RunningJob {
        let Queued {
            task,
            left,
            progress,
            ..
        } = job.work;
        let kind = task.kind();
        state.stats.kind_mut(kind).running += 1;
        state.long_running += usize::from(job.lane != Lane::Short);
        let (task, rest) = task.take_piece();
        if let Some(rest) = rest {
            state.queue.push_rest(Waiting {
                tenant: job.tenant,
                load: rest.load(),
                work: Queued {
                    task: rest,
                    left: left.clone(),
                    progress: progress.clone(),
                },
                ..job
            });
        }
        let (number, begun, units) = (state.next_id, Instant::now(), task.load().units);
        state.next_id += 1;
        state.in_hand.push(JobInHand {
            number,
            begun,
            kind,
            units,
        });
        RunningJob {
            id: job.id,
            number,
            kind,
            units,
            lane: job.lane,
            progress,
            begun,
            stop: CancelSignal {
                left,
                deadline: job.deadline,
                cut_off: self.cut_off.clone(),
            },
            task,
        }
    }

    pub(super) fn finish(&self, job: &RunningJob, ending: Ending, audio_seconds: f64) {
        let now = Instant::now();
        let took = now.saturating_duration_since(job.begun);
        let mut state = self.state.lock();
        state.in_hand.retain(|other| other.number != job.number);
        let stats = state.stats.kind_mut(job.kind);
        stats.running -= 1;
        stats.busy_seconds += took.as_secs_f64();
        if let Some(ending) = job.progress.piece_ended(ending) {
            stats.count(ending);
        }
        let mut rest = None;
        if ending == Ending::Done {
            stats.audio_seconds += audio_seconds;
            state.pace.learn(job.kind, job.units, took, now);
        } else {
            rest = state.queue.remove(job.id);
        }
        state.long_running -= usize::from(job.lane != Lane::Short);
        let idle = state.is_idle();
        drop(state);
        drop(rest);
        self.changed.notify_all();
        if idle {
            self.idle.notify_waiters();
        }
    }

    /// Counts a worker whose models run. The engine is ready when all have come up once.
    pub(super) fn worker_ready(&self) {
        let mut state = self.state.lock();
        state.workers_ready += 1;
        state.failure = None;
        if state.workers_ready == self.config.workers && state.stats.model_load_ms == 0 {
            let load_ms = self.started.elapsed().as_millis() as u64;
            state.stats.model_load_ms = load_ms.max(1);
            tracing::info!(load_ms, workers = self.config.workers, "models are ready");
        }
    }

    pub(super) fn worker_panicked(&self) {
        let mut state = self.state.lock();
        state.workers_ready -= 1;
        state.stats.panics += 1;
    }

    /// Says so in the log, but only once for all workers and attempts.
    pub(super) fn worker_failed(&self, message: String) {
        let mut state = self.state.lock();
        if state.failure.as_ref() != Some(&message) {
            tracing::error!(error = %message, "the models did not load");
        }
        state.failure = Some(message);
    }

    /// Waits before another try to load; `false` when the engine is shutting down.
    pub(super) fn pause_before_reload(&self, pause: Duration) -> bool {
        let mut state = self.state.lock();
        self.changed
            .wait_while_for(&mut state, |state| state.door == Door::Open, pause);
        state.door == Door::Open
    }
}
