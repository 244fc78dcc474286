//! A job as the queue and the workers see it.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;

use super::backend::Backend;
use super::stats::{Ending, Kind};
use crate::{SpeakEvent, SpeakRequest, SpeechError, TranscribeEvent, TranscribeRequest};

/// How often a worker looks again when a caller reads slower than events are made.
const FULL_PAUSE: Duration = Duration::from_millis(5);

pub(super) const RECORDING_HZ: f64 = 16_000.0;

#[derive(Debug)]
pub(super) enum Task {
    Speak(SpeakRequest, Answer<SpeakEvent>),
    Transcribe(TranscribeRequest, Answer<TranscribeEvent>),
}

impl Task {
    pub fn kind(&self) -> Kind {
        match self {
            Task::Speak(..) => Kind::Speech,
            Task::Transcribe(..) => Kind::Transcription,
        }
    }

    /// Characters to speak or seconds to read: what the time needed grows with.
    pub fn units(&self) -> f64 {
        match self {
            Task::Speak(request, _) => request.script.characters() as f64,
            Task::Transcribe(request, _) => recording_seconds(request),
        }
    }

    pub fn refuse(self, error: SpeechError) {
        match self {
            Task::Speak(_, answer) => answer.end(error),
            Task::Transcribe(_, answer) => answer.end(error),
        }
    }

    /// Runs on the worker's thread. Gives how it ended and the seconds of audio in it.
    pub fn run(&mut self, backend: &mut dyn Backend, stop: &Stop) -> (Ending, f64) {
        match self {
            Task::Speak(request, answer) => {
                let mut seconds = None;
                let result = backend.speak(request, &mut |event| {
                    if let SpeakEvent::Done { seconds: total } = &event {
                        seconds = Some(*total);
                    }
                    answer.send(event, stop)
                });
                let ending = answer.conclude(result, seconds.is_some(), stop);
                (ending, seconds.unwrap_or(0.0))
            }
            Task::Transcribe(request, answer) => {
                let mut done = false;
                let result = backend.transcribe(request, &mut |event| {
                    done |= matches!(event, TranscribeEvent::Done(_));
                    answer.send(event, stop)
                });
                let ending = answer.conclude(result, done, stop);
                (ending, recording_seconds(request))
            }
        }
    }
}

pub(super) fn recording_seconds(request: &TranscribeRequest) -> f64 {
    request.samples.len() as f64 / RECORDING_HZ
}

/// The reasons to give up a running job.
#[derive(Debug)]
pub(super) struct Stop {
    pub left: Arc<AtomicBool>,
    pub deadline: Instant,
    pub cut_off: Arc<AtomicBool>,
}

impl Stop {
    fn reason(&self) -> Option<Ended> {
        if self.left.load(Ordering::Acquire) {
            Some(Ended::Left)
        } else if self.cut_off.load(Ordering::Acquire) {
            Some(Ended::CutOff)
        } else if self.deadline <= Instant::now() {
            Some(Ended::Late)
        } else {
            None
        }
    }
}

#[derive(Debug, Clone, Copy)]
enum Ended {
    Left,
    CutOff,
    Late,
}

/// The worker's end of the channel to the caller.
#[derive(Debug)]
pub(super) struct Answer<T> {
    pub sender: mpsc::Sender<Result<T, SpeechError>>,
    stopped: Option<Ended>,
}

impl<T> Answer<T> {
    pub fn new(sender: mpsc::Sender<Result<T, SpeechError>>) -> Self {
        Answer {
            sender,
            stopped: None,
        }
    }

    fn send(&mut self, event: T, stop: &Stop) -> ControlFlow<()> {
        let mut message = Ok(event);
        loop {
            if let Some(ended) = self.stopped.or_else(|| stop.reason()) {
                self.stopped = Some(ended);
                return ControlFlow::Break(());
            }
            match self.sender.try_send(message) {
                Ok(()) => return ControlFlow::Continue(()),
                Err(TrySendError::Closed(_)) => self.stopped = Some(Ended::Left),
                Err(TrySendError::Full(back)) => {
                    message = back;
                    std::thread::sleep(FULL_PAUSE);
                    continue;
                }
            }
            return ControlFlow::Break(());
        }
    }

    fn conclude(&self, result: Result<(), SpeechError>, done: bool, stop: &Stop) -> Ending {
        // A model may notice the time itself, or fail because it was told to stop.
        let (ending, error) = match (self.stopped, result) {
            (Some(Ended::Left), _) => return Ending::Cancelled,
            (Some(Ended::CutOff), _) => (Ending::Cancelled, SpeechError::ShuttingDown),
            (Some(Ended::Late), _) => (Ending::Expired, SpeechError::DeadlineExceeded),
            (None, Ok(())) if done => return Ending::Done,
            (None, Ok(())) => {
                tracing::error!("a model ended a job without finishing it");
                (Ending::Failed, SpeechError::Internal)
            }
            (None, Err(error)) => (Ending::Failed, error),
        };
        if !stop.left.load(Ordering::Acquire) {
            self.tell(error);
        }
        ending
    }

    fn end(self, error: SpeechError) {
        self.tell(error);
    }

    fn tell(&self, error: SpeechError) {
        // Full: a caller that far behind finds the channel closed and reads that as a failure.
        let _ = self.sender.try_send(Err(error));
    }
}
