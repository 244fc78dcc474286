//! The queue, the threads that serve it, and the state they share. Who gets in stands in `admission`.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use super::backend::BackendLoader;
use super::handle::QueueSlot;
use super::queue::{Bounds, JobQueue, Lane, Waiting};
use super::stats::{Ending, EngineStats, JobKind};
use super::wait::{Pace, Patience};
use super::work::{CancelSignal, JobTally, Task};
use super::{Readiness, admission::Booking, background, lock, worker};
use crate::{Job, SpeechError};

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
    idle: Notify,
    cut_off: Arc<AtomicBool>,
}

/// Owns the threads' lifetime: when the last clone goes, the workers stop.
#[derive(Debug)]
pub(super) struct Pool {
    shared: Arc<PoolShared>,
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shared.shut();
    }
}

impl Pool {
    pub(super) fn start(config: PoolConfig, load: Box<BackendLoader>) -> Result<Pool, SpeechError> {
        let shared = Arc::new(PoolShared {
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
        });
        let pool = Pool {
            shared: shared.clone(),
        };
        let load: Arc<BackendLoader> = Arc::from(load);
        for number in 0..config.workers {
            let (shared, load) = (shared.clone(), load.clone());
            std::thread::Builder::new()
                .name(format!("speech-{number}"))
                .spawn(move || {
                    background::step_back();
                    worker::serve(&shared, load.as_ref());
                })
                .map_err(|error| {
                    SpeechError::Model(format!("no thread for the models: {error}"))
                })?;
        }
        Ok(pool)
    }

    pub(super) fn readiness(&self) -> Readiness {
        lock(&self.shared.state).readiness()
    }

    pub(super) fn stats(&self) -> EngineStats {
        let state = lock(&self.shared.state);
        let mut stats = state.stats.clone();
        for waiting in state.queue.iter() {
            stats.kind_mut(waiting.load.kind).queued += 1;
        }
        let now = Instant::now();
        stats.wait_seconds = state.wait_seconds(None, Lane::Short, &self.shared.config, now);
        stats.long_wait_seconds = state.wait_seconds(None, Lane::Long, &self.shared.config, now);
        stats.queued = stats.speech.queued + stats.transcription.queued;
        stats.queued_audio_seconds = state.queue.held_seconds();
        stats.running = stats.speech.running + stats.transcription.running;
        stats.done = stats.speech.done + stats.transcription.done;
        stats
    }

    /// Keeps a place for a job that is still to be prepared, or says at once why there is none.
    pub(super) fn book(
        &self,
        tenant: &str,
        kind: JobKind,
        units: f64,
    ) -> Result<Booking, SpeechError> {
        self.shared.book(tenant, kind, units)
    }

    /// Puts a job in line, at its booked place if it has one, or says at once why not.
    pub(super) fn submit(
        &self,
        job: &Job,
        held_seconds: f64,
        task: Task,
        booking: Option<Booking>,
    ) -> Result<QueueSlot, SpeechError> {
        let left = Arc::new(AtomicBool::new(false));
        let id = self
            .shared
            .admit(job, held_seconds, task, left.clone(), booking)?;
        Ok(QueueSlot {
            id,
            left,
            deadline: job.deadline,
            shared: Arc::downgrade(&self.shared),
        })
    }

    /// Refuses new jobs and waits for those let in. Past the deadline the rest is cut off;
    /// `true` when nothing had to be.
    pub(super) async fn drain(&self, deadline: Instant) -> bool {
        self.shared.close();
        loop {
            let idle = self.shared.idle.notified();
            tokio::pin!(idle);
            // Registered before the look, or the last job could end between the two.
            idle.as_mut().enable();
            if lock(&self.shared.state).is_idle() {
                return true;
            }
            if tokio::time::timeout_at(deadline.into(), idle)
                .await
                .is_err()
            {
                let finished = lock(&self.shared.state).is_idle();
                self.shared.shut();
                return finished;
            }
        }
    }
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

    fn is_idle(&self) -> bool {
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
    /// The caller went away: a job that still waits gives its place to the next.
    pub(super) fn leave(&self, id: u64) {
        let mut state = lock(&self.state);
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

    fn close(&self) {
        let mut state = lock(&self.state);
        if state.door == Door::Open {
            state.door = Door::Draining;
        }
        drop(state);
        self.changed.notify_all();
    }

    fn shut(&self) {
        self.cut_off.store(true, Ordering::Release);
        let mut state = lock(&self.state);
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
        let mut state = lock(&self.state);
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
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(std::sync::PoisonError::into_inner);
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
        let mut state = lock(&self.state);
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
        let mut state = lock(&self.state);
        state.workers_ready += 1;
        state.failure = None;
        if state.workers_ready == self.config.workers && state.stats.model_load_ms == 0 {
            let load_ms = self.started.elapsed().as_millis() as u64;
            state.stats.model_load_ms = load_ms.max(1);
            tracing::info!(load_ms, workers = self.config.workers, "models are ready");
        }
    }

    pub(super) fn worker_panicked(&self) {
        let mut state = lock(&self.state);
        state.workers_ready -= 1;
        state.stats.panics += 1;
    }

    /// Says so in the log, but only once for all workers and attempts.
    pub(super) fn worker_failed(&self, message: String) {
        let mut state = lock(&self.state);
        if state.failure.as_ref() != Some(&message) {
            tracing::error!(%message, "the models did not load");
        }
        state.failure = Some(message);
    }

    /// Waits before another try to load; `false` when the engine is shutting down.
    pub(super) fn pause_before_reload(&self, pause: Duration) -> bool {
        let state = lock(&self.state);
        let (state, _) = self
            .changed
            .wait_timeout_while(state, pause, |state| state.door == Door::Open)
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        state.door == Door::Open
    }
}
