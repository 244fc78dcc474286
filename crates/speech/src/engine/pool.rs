//! The threads that serve the queue, and what the engine asks of them.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use super::admission::Booking;
use super::backend::BackendLoader;
use super::handle::QueueSlot;
use super::pool_state::{PoolConfig, PoolShared, Readiness};
use super::queue::Lane;
use super::stats::{EngineStats, JobKind};
use super::work::Task;
use super::{background, worker};
use crate::{Job, SpeechError};

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
        let shared = Arc::new(PoolShared::new(config));
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
        self.shared.state.lock().readiness()
    }

    pub(super) fn stats(&self) -> EngineStats {
        let state = self.shared.state.lock();
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
            if self.shared.state.lock().is_idle() {
                return true;
            }
            if tokio::time::timeout_at(deadline.into(), idle)
                .await
                .is_err()
            {
                let finished = self.shared.state.lock().is_idle();
                self.shared.shut();
                return finished;
            }
        }
    }
}
