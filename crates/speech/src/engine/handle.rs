//! The caller's end of a job.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Instant;

use tokio::sync::mpsc;

use super::pool::Shared;
use crate::{SpeakEvent, SpeechError, TranscribeEvent};

/// More than the clauses of the longest text or the segments of the longest recording: a slow
/// reader must not hold a worker, and what waits here is bounded by the request's own limits.
pub(super) const EVENTS_MAX: usize = 16_384;

/// A job's place in the queue or in a worker. Dropping it gives the place up at once.
#[derive(Debug)]
pub(super) struct Place {
    pub id: u64,
    pub left: Arc<AtomicBool>,
    pub shared: Weak<Shared>,
}

impl Place {
    fn leave(&self) {
        if self.left.swap(true, Ordering::AcqRel) {
            return;
        }
        if let Some(shared) = self.shared.upgrade() {
            shared.leave(self.id);
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.leave();
    }
}

/// Tells the last event of a job from the others.
pub(crate) trait Event {
    fn is_last(&self) -> bool;
}

impl Event for SpeakEvent {
    fn is_last(&self) -> bool {
        matches!(self, SpeakEvent::Done { .. })
    }
}

impl Event for TranscribeEvent {
    fn is_last(&self) -> bool {
        matches!(self, TranscribeEvent::Done(_))
    }
}

/// The events of one job, in order, ending at `Done`, at an error or at the deadline.
#[derive(Debug)]
pub(crate) struct Events<T> {
    pub(super) receiver: mpsc::Receiver<Result<T, SpeechError>>,
    pub(super) place: Place,
    pub(super) deadline: Instant,
    pub(super) ended: bool,
}

impl<T: Event> Events<T> {
    /// Answers the deadline itself, so that neither a busy queue nor a long stretch inside a
    /// model can hold the caller past it. What was already made still comes first.
    pub(crate) async fn next(&mut self) -> Option<Result<T, SpeechError>> {
        if self.ended {
            return None;
        }
        match tokio::time::timeout_at(self.deadline.into(), self.receiver.recv()).await {
            Ok(Some(Ok(event))) => {
                self.ended = event.is_last();
                Some(Ok(event))
            }
            Ok(Some(Err(error))) => {
                self.ended = true;
                Some(Err(error))
            }
            Ok(None) => {
                self.ended = true;
                Some(Err(SpeechError::Internal))
            }
            Err(_) => {
                self.ended = true;
                self.place.leave();
                Some(Err(SpeechError::DeadlineExceeded))
            }
        }
    }
}
