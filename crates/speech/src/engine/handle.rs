//! The caller's end of a job.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Instant;

use tokio::sync::mpsc;

use super::pool::PoolShared;
use crate::{SpeakEvent, SpeechError, TranscribeEvent, Transcript};

/// More than the clauses of the longest text or the segments of a piece of a recording: a slow
/// reader must not hold a worker, and what waits here is bounded by the request's own limits.
pub(super) const EVENTS_MAX: usize = 16_384;

type Receiver<T> = mpsc::Receiver<Result<T, SpeechError>>;

/// A job's place in the queue or in a worker. Dropping it gives the place up at once.
#[derive(Debug)]
pub(super) struct QueueSlot {
    pub id: u64,
    pub left: Arc<AtomicBool>,
    pub deadline: Instant,
    pub shared: Weak<PoolShared>,
}

impl QueueSlot {
    fn leave(&self) {
        if self.left.swap(true, Ordering::AcqRel) {
            return;
        }
        if let Some(shared) = self.shared.upgrade() {
            shared.leave(self.id);
        }
    }

    /// Answers the deadline itself, so that neither a busy queue nor a long stretch inside a
    /// model can hold the caller past it. What was already made still comes first.
    async fn receive<T>(&self, from: &mut Receiver<T>) -> Result<T, SpeechError> {
        match tokio::time::timeout_at(self.deadline.into(), from.recv()).await {
            Ok(Some(event)) => event,
            Ok(None) => Err(SpeechError::Internal),
            Err(_) => {
                self.leave();
                Err(SpeechError::DeadlineExceeded)
            }
        }
    }
}

impl Drop for QueueSlot {
    fn drop(&mut self) {
        self.leave();
    }
}

#[derive(Debug)]
pub(crate) struct Speaking {
    pub(super) receiver: Receiver<SpeakEvent>,
    pub(super) place: QueueSlot,
    pub(super) ended: bool,
}

impl Speaking {
    pub(crate) async fn next(&mut self) -> Option<Result<SpeakEvent, SpeechError>> {
        if self.ended {
            return None;
        }
        let event = self.place.receive(&mut self.receiver).await;
        self.ended = matches!(event, Err(_) | Ok(SpeakEvent::Done { .. }));
        Some(event)
    }
}

/// A recording's pieces, whose events are told as if it had been read in one go.
#[derive(Debug)]
pub(crate) struct Listening {
    pub(super) place: QueueSlot,
    /// The pieces still to be told, each with its start in seconds.
    pub(super) pieces: VecDeque<(f64, Receiver<TranscribeEvent>)>,
    pub(super) told: Transcript,
}

impl Listening {
    pub(crate) async fn next(&mut self) -> Option<Result<TranscribeEvent, SpeechError>> {
        loop {
            let (offset, receiver) = self.pieces.front_mut()?;
            let offset = *offset;
            match self.place.receive(receiver).await {
                Ok(TranscribeEvent::Segment {
                    segment,
                    done_seconds,
                }) => {
                    return Some(Ok(TranscribeEvent::Segment {
                        segment: segment.shifted(offset),
                        done_seconds: done_seconds + offset,
                    }));
                }
                Ok(TranscribeEvent::Done(piece)) => {
                    self.append(piece, offset);
                    self.pieces.pop_front();
                    if self.pieces.is_empty() {
                        let whole = std::mem::take(&mut self.told);
                        return Some(Ok(TranscribeEvent::Done(whole)));
                    }
                }
                Err(error) => {
                    self.pieces.clear();
                    return Some(Err(error));
                }
            }
        }
    }

    fn append(&mut self, piece: Transcript, offset: f64) {
        if !self.told.text.is_empty() && !piece.text.is_empty() {
            self.told.text.push(' ');
        }
        self.told.text.push_str(&piece.text);
        self.told.seconds += piece.seconds;
        self.told.no_speech &= piece.no_speech;
        self.told.not_understood |= piece.not_understood;
        let segments = piece.segments.into_iter();
        self.told
            .segments
            .extend(segments.map(|segment| segment.shifted(offset)));
        self.told.not_understood &= self.told.segments.is_empty();
    }
}
