//! One OS thread that owns the models and serves the queue.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use super::backend::{BackendLoader, SpeechBackend};
use super::pool_state::{PoolShared, RunningJob};
use super::stats::Ending;
use crate::SpeechError;

const RELOAD_PAUSE_MIN: Duration = Duration::from_secs(1);
const RELOAD_PAUSE_MAX: Duration = Duration::from_secs(60);

/// Serves jobs until the engine shuts down, with fresh models after every panic.
pub(super) fn serve(shared: &PoolShared, load: &BackendLoader) {
    while let Some(mut backend) = load_patiently(shared, load) {
        shared.worker_ready();
        loop {
            let Some(job) = shared.take() else { return };
            if run(shared, backend.as_mut(), job).is_err() {
                shared.worker_panicked();
                break;
            }
        }
    }
}

/// The model may be half-way through a change: it must not be used again.
struct Panicked;

fn run(
    shared: &PoolShared,
    backend: &mut dyn SpeechBackend,
    mut job: RunningJob,
) -> Result<(), Panicked> {
    let RunningJob { task, stop, .. } = &mut job;
    match catch_unwind(AssertUnwindSafe(|| task.run(backend, stop))) {
        Ok((ending, audio_seconds)) => {
            shared.finish(&job, ending, audio_seconds);
            Ok(())
        }
        Err(_) => {
            // Not the panic's message: it can quote the text being spoken.
            tracing::error!(kind = ?job.task.kind(), "a model panicked; loading it again");
            shared.finish(&job, Ending::Failed, 0.0);
            job.task.refuse(SpeechError::Internal);
            Err(Panicked)
        }
    }
}

/// Tries until it works or the engine shuts down: files may be replaced while we run.
fn load_patiently(shared: &PoolShared, load: &BackendLoader) -> Option<Box<dyn SpeechBackend>> {
    let mut pause = RELOAD_PAUSE_MIN;
    loop {
        let message = match catch_unwind(AssertUnwindSafe(load)) {
            Ok(Ok(backend)) => return Some(backend),
            Ok(Err(error)) => error.to_string(),
            Err(_) => "the models panicked while loading".to_owned(),
        };
        shared.worker_failed(message);
        if !shared.pause_before_reload(pause) {
            return None;
        }
        pause = (pause * 2).min(RELOAD_PAUSE_MAX);
    }
}
