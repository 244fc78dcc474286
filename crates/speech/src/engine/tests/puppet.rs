//! A backend whose every step a test decides.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::super::backend::{BackendLoader, Emit, SpeechBackend};
use super::super::pool::Pool;
use super::super::pool_state::PoolConfig;
use super::super::queue::Bounds;
use super::super::wait::Patience;
use super::super::{Booking, speak, transcribe};
use crate::{
    Job, Priority, Segment, SpeakEvent, SpeakHandle, SpeakRequest, SpeechError, TranscribeEvent,
    TranscribeHandle, TranscribeRequest, Transcript,
};

pub(super) enum Step {
    Emit,
    Finish,
    /// Returns without the last event.
    Vanish,
    Fail(SpeechError),
    Panic,
}

#[derive(Debug, PartialEq)]
pub(super) enum Seen {
    Loaded,
    Started(String),
    /// The job was told to stop at an emit.
    Stopped(String),
    Unloaded,
}

/// The test's hands: jobs named in `steps` wait for orders, all others finish at once.
pub(super) struct Stage {
    pub pool: Pool,
    pub seen: UnboundedReceiver<Seen>,
    steps: Arc<Mutex<HashMap<String, Receiver<Step>>>>,
}

pub(super) const SMALL: PoolConfig = PoolConfig {
    workers: 1,
    bounds: Bounds {
        jobs_max: 4,
        tenant_jobs_max: 3,
        held_seconds_max: 10_000.0,
    },
    // Tests that are not about waiting have all the time in the world.
    patience: Patience {
        wait_s_max: 1e9,
        wait_per_audio_second: 0.0,
    },
    short_seconds_max: 60.0,
};

impl Stage {
    /// A pool whose workers are all ready.
    pub(super) async fn ready(config: PoolConfig) -> Stage {
        let mut stage = Stage::with_loading(config, || Ok(()));
        for _ in 0..config.workers {
            assert_eq!(stage.saw().await, Seen::Loaded);
        }
        stage
            .until(|stage| stage.pool.readiness() == super::super::Readiness::Ready)
            .await;
        stage
    }

    pub(super) fn with_loading(
        config: PoolConfig,
        loading: impl Fn() -> Result<(), SpeechError> + Send + Sync + 'static,
    ) -> Stage {
        let (report, seen) = unbounded_channel();
        let steps = Arc::new(Mutex::new(HashMap::new()));
        let theirs = steps.clone();
        let load: Box<BackendLoader> = Box::new(move || {
            loading()?;
            let _ = report.send(Seen::Loaded);
            Ok(Box::new(Puppet {
                report: report.clone(),
                steps: theirs.clone(),
            }))
        });
        Stage {
            pool: Pool::start(config, load).expect("threads start"),
            seen,
            steps,
        }
    }

    /// Makes the job of this name wait for orders.
    pub(super) fn direct(&self, name: &str) -> Sender<Step> {
        let (orders, steps) = channel();
        self.steps.lock().insert(name.to_owned(), steps);
        orders
    }

    /// What a worker did next.
    pub(super) async fn saw(&mut self) -> Seen {
        self.seen.recv().await.expect("the pool is alive")
    }

    pub(super) async fn saw_started(&mut self) -> String {
        match self.saw().await {
            Seen::Started(name) => name,
            other => panic!("expected a start, saw {other:?}"),
        }
    }

    /// Waits for a state that another thread is about to reach.
    pub(super) async fn until(&self, reached: impl Fn(&Stage) -> bool) {
        while !reached(self) {
            tokio::task::yield_now().await;
        }
    }

    pub(super) fn speak(&self, tenant: &str, name: &str) -> Result<SpeakHandle, SpeechError> {
        self.speak_by(tenant, name, Instant::now() + Duration::from_secs(600))
    }

    pub(super) fn speak_by(
        &self,
        tenant: &str,
        name: &str,
        deadline: Instant,
    ) -> Result<SpeakHandle, SpeechError> {
        let request = SpeakRequest {
            voice_id: name.to_owned(),
            script: sauti_text::Script::default(),
            direction: crate::Direction::default(),
        };
        speak(&self.pool, job(tenant, deadline), request, None)
    }

    pub(super) fn transcribe(
        &self,
        tenant: &str,
        name: &str,
        seconds: usize,
    ) -> Result<TranscribeHandle, SpeechError> {
        self.transcribe_as(tenant, name, seconds, Priority::Interactive)
    }

    pub(super) fn transcribe_as(
        &self,
        tenant: &str,
        name: &str,
        seconds: usize,
        priority: Priority,
    ) -> Result<TranscribeHandle, SpeechError> {
        let job = Job {
            priority,
            ..job(tenant, Instant::now() + Duration::from_secs(600))
        };
        transcribe(&self.pool, job, recording(name, seconds), None)
    }

    pub(super) fn transcribe_booked(
        &self,
        tenant: &str,
        name: &str,
        seconds: usize,
        booking: Booking,
    ) -> Result<TranscribeHandle, SpeechError> {
        let job = job(tenant, Instant::now() + Duration::from_secs(600));
        transcribe(&self.pool, job, recording(name, seconds), Some(booking))
    }
}

fn recording(name: &str, seconds: usize) -> TranscribeRequest {
    TranscribeRequest {
        samples: vec![0; seconds * 16_000].into(),
        keyterms: vec![name.to_owned()],
        ..TranscribeRequest::default()
    }
}

fn job(tenant: &str, deadline: Instant) -> Job {
    Job {
        tenant: tenant.to_owned(),
        deadline,
        priority: Priority::Interactive,
    }
}

/// Reads a job to its end: how many sounds it made and how it ended.
pub(super) async fn outcome(mut handle: SpeakHandle) -> (usize, Result<(), SpeechError>) {
    let mut sounds = 0;
    loop {
        let ended = match handle.next().await {
            Some(Ok(SpeakEvent::Audio { .. })) => {
                sounds += 1;
                continue;
            }
            Some(Ok(SpeakEvent::Done { .. })) => Ok(()),
            Some(Err(error)) => Err(error),
            None => panic!("the events ended without an ending"),
        };
        assert!(handle.next().await.is_none(), "nothing follows the end");
        return (sounds, ended);
    }
}

struct Puppet {
    report: UnboundedSender<Seen>,
    steps: Arc<Mutex<HashMap<String, Receiver<Step>>>>,
}

impl Drop for Puppet {
    fn drop(&mut self) {
        let _ = self.report.send(Seen::Unloaded);
    }
}

impl Puppet {
    fn perform<T>(
        &self,
        name: &str,
        emit: Emit<'_, T>,
        sound: impl Fn() -> T,
        done: T,
    ) -> Result<(), SpeechError> {
        // Taken before the start is told: the next orders under this name are for the next job.
        let orders = self.steps.lock().remove(name);
        let _ = self.report.send(Seen::Started(name.to_owned()));
        if let Some(orders) = orders {
            loop {
                match orders.recv().unwrap_or(Step::Vanish) {
                    Step::Finish => break,
                    Step::Vanish => return Ok(()),
                    Step::Fail(error) => return Err(error),
                    Step::Panic => panic!("told to"),
                    Step::Emit => {
                        if emit(sound()) == ControlFlow::Break(()) {
                            let _ = self.report.send(Seen::Stopped(name.to_owned()));
                            return Ok(());
                        }
                    }
                }
            }
        }
        let _ = emit(done);
        Ok(())
    }
}

impl SpeechBackend for Puppet {
    fn speak(
        &mut self,
        request: &SpeakRequest,
        emit: Emit<'_, SpeakEvent>,
    ) -> Result<(), SpeechError> {
        let sound = || SpeakEvent::Audio {
            samples: vec![0.0; 240],
            words: Vec::new(),
        };
        self.perform(
            &request.voice_id,
            emit,
            sound,
            SpeakEvent::Done { seconds: 0.01 },
        )
    }

    fn transcribe(
        &mut self,
        request: &TranscribeRequest,
        emit: Emit<'_, TranscribeEvent>,
    ) -> Result<(), SpeechError> {
        let heard = || Segment {
            start: 1.0,
            end: 2.0,
            text: "Ndiyo.".to_owned(),
            confidence: 1.0,
            ..Segment::default()
        };
        let segment = || TranscribeEvent::Segment {
            segment: heard(),
            done_seconds: 2.0,
        };
        let whole = TranscribeEvent::Done(Transcript {
            text: "Ndiyo.".to_owned(),
            segments: vec![heard()],
            seconds: request.samples.len() as f64 / 16_000.0,
            ..Transcript::default()
        });
        self.perform(&request.keyterms[0], emit, segment, whole)
    }
}
