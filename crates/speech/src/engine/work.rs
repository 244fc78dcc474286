//! A job as the queue and the workers see it.

use std::collections::VecDeque;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;

use super::backend::SpeechBackend;
use super::queue::Load;
use super::stats::{Ending, JobKind};
use crate::{SpeakEvent, SpeakRequest, SpeechError, TranscribeEvent, TranscribeRequest};

/// How often a worker looks again when a caller reads slower than events are made.
const FULL_PAUSE: Duration = Duration::from_millis(5);

pub(super) const RECORDING_HZ: f64 = 16_000.0;

/// What waits in the queue: a text, or the pieces of a recording that nobody has taken yet.
#[derive(Debug)]
pub(super) enum Task {
    Speak(SpeakRequest, EventSender<SpeakEvent>),
    Transcribe(Arc<TranscribeRequest>, VecDeque<RecordingPiece>),
}

/// A part of a recording, with a channel of its own: pieces may be read at the same time.
#[derive(Debug)]
pub(super) struct RecordingPiece {
    pub channel: u32,
    pub samples: Range<usize>,
    pub answer: EventSender<TranscribeEvent>,
}

impl Task {
    pub(super) fn kind(&self) -> JobKind {
        match self {
            Task::Speak(..) => JobKind::Speech,
            Task::Transcribe(..) => JobKind::Transcription,
        }
    }

    pub(super) fn load(&self) -> Load {
        let (units, turn_units) = match self {
            Task::Speak(request, _) => {
                let characters = request.script.characters() as f64;
                (characters, characters)
            }
            Task::Transcribe(_, pieces) => {
                let seconds = |piece: &RecordingPiece| piece.samples.len() as f64 / RECORDING_HZ;
                let next = pieces.front().map_or(0.0, seconds);
                (pieces.iter().map(seconds).sum(), next)
            }
        };
        Load {
            kind: self.kind(),
            units,
            turn_units,
        }
    }

    /// How many workers could be busy with it.
    pub(super) fn pieces(&self) -> usize {
        match self {
            Task::Speak(..) => 1,
            Task::Transcribe(_, pieces) => pieces.len(),
        }
    }

    /// Takes one worker's share; what is left, if anything, goes back into the queue.
    pub(super) fn take_piece(mut self) -> (Task, Option<Task>) {
        match &mut self {
            Task::Transcribe(request, pieces) if pieces.len() > 1 => {
                let first: VecDeque<RecordingPiece> = pieces.drain(..1).collect();
                (Task::Transcribe(request.clone(), first), Some(self))
            }
            _ => (self, None),
        }
    }

    pub(super) fn refuse(self, error: SpeechError) {
        match self {
            Task::Speak(_, answer) => answer.tell(error),
            Task::Transcribe(_, pieces) => {
                for piece in pieces {
                    piece.answer.tell(error.clone());
                }
            }
        }
    }

    /// Runs on the worker's thread. Gives how it ended and the seconds of audio in it.
    pub(super) fn run(
        &mut self,
        backend: &mut dyn SpeechBackend,
        stop: &CancelSignal,
    ) -> (Ending, f64) {
        let read_seconds = self.load().units;
        match self {
            Task::Speak(request, answer) => {
                let mut seconds = None;
                let result = backend.speak(request, &mut |event| {
                    if let SpeakEvent::Done { seconds: total } = &event {
                        seconds = Some(*total);
                    }
                    answer.send(event, stop)
                });
                let ending = answer.conclude(result, seconds.is_some());
                (ending, seconds.unwrap_or(0.0))
            }
            Task::Transcribe(request, pieces) => {
                let mut ending = Ending::Done;
                for piece in pieces {
                    ending = piece.run(request, backend, stop);
                }
                (ending, read_seconds)
            }
        }
    }
}

impl RecordingPiece {
    fn run(
        &mut self,
        request: &TranscribeRequest,
        backend: &mut dyn SpeechBackend,
        stop: &CancelSignal,
    ) -> Ending {
        let answer = &mut self.answer;
        let mut done = false;
        let mut emit = |event| {
            done |= matches!(event, TranscribeEvent::Done(_));
            answer.send(event, stop)
        };
        let is_whole =
            request.second_channel.is_none() && self.samples.len() == request.samples.len();
        let result = if is_whole {
            backend.transcribe(request, &mut emit)
        } else {
            let channel = request.channels().nth(self.channel as usize - 1);
            let samples = channel.unwrap_or(&request.samples);
            let part = samples.part(self.samples.clone());
            part.map_err(SpeechError::unreadable).and_then(|part| {
                let part = TranscribeRequest {
                    samples: part.into_owned().into(),
                    second_channel: None,
                    ..request.clone()
                };
                backend.transcribe(&part, &mut emit)
            })
        };
        answer.conclude(result, done)
    }
}

/// Counts a job once, however many pieces it has: as done with its last piece, or as whatever
/// ended it first.
#[derive(Debug)]
pub(super) struct JobTally {
    left: AtomicUsize,
    ended: AtomicBool,
}

impl JobTally {
    pub(super) fn new(pieces: usize) -> Self {
        JobTally {
            left: AtomicUsize::new(pieces),
            ended: AtomicBool::new(false),
        }
    }

    pub(super) fn piece_ended(&self, ending: Ending) -> Option<Ending> {
        if ending == Ending::Done && self.left.fetch_sub(1, Ordering::AcqRel) > 1 {
            return None;
        }
        (!self.ended.swap(true, Ordering::AcqRel)).then_some(ending)
    }
}

/// The reasons to give up a running job.
#[derive(Debug)]
pub(super) struct CancelSignal {
    pub left: Arc<AtomicBool>,
    pub deadline: Instant,
    pub cut_off: Arc<AtomicBool>,
}

impl CancelSignal {
    fn reason(&self) -> Option<EndReason> {
        if self.left.load(Ordering::Acquire) {
            Some(EndReason::Left)
        } else if self.cut_off.load(Ordering::Acquire) {
            Some(EndReason::CutOff)
        } else if self.deadline <= Instant::now() {
            Some(EndReason::Late)
        } else {
            None
        }
    }
}

#[derive(Debug, Clone, Copy)]
enum EndReason {
    Left,
    CutOff,
    Late,
}

/// The worker's end of the channel to the caller.
#[derive(Debug)]
pub(super) struct EventSender<T> {
    sender: mpsc::Sender<Result<T, SpeechError>>,
    stopped: Option<EndReason>,
}

impl<T> EventSender<T> {
    pub(super) fn new(sender: mpsc::Sender<Result<T, SpeechError>>) -> Self {
        EventSender {
            sender,
            stopped: None,
        }
    }

    fn send(&mut self, event: T, stop: &CancelSignal) -> ControlFlow<()> {
        let mut message = Ok(event);
        loop {
            if let Some(ended) = self.stopped.or_else(|| stop.reason()) {
                self.stopped = Some(ended);
                return ControlFlow::Break(());
            }
            match self.sender.try_send(message) {
                Ok(()) => return ControlFlow::Continue(()),
                Err(TrySendError::Closed(_)) => {
                    self.stopped = Some(EndReason::Left);
                    return ControlFlow::Break(());
                }
                Err(TrySendError::Full(back)) => {
                    message = back;
                    std::thread::sleep(FULL_PAUSE);
                }
            }
        }
    }

    fn conclude(&self, result: Result<(), SpeechError>, done: bool) -> Ending {
        // Being told to stop comes first: a model may answer that with an error of its own.
        let (ending, error) = match (self.stopped, result) {
            (Some(EndReason::Left), _) => return Ending::Cancelled,
            (Some(EndReason::CutOff), _) => (Ending::Cancelled, SpeechError::ShuttingDown),
            (Some(EndReason::Late), _) => (Ending::Expired, SpeechError::DeadlineExceeded),
            (None, Ok(())) if done => return Ending::Done,
            (None, Ok(())) => {
                tracing::error!("a model ended a job without finishing it");
                (Ending::Failed, SpeechError::Internal)
            }
            (None, Err(error)) => (Ending::Failed, error),
        };
        self.tell(error);
        ending
    }

    fn tell(&self, error: SpeechError) {
        // Full: a caller that far behind finds the channel closed and reads that as a failure.
        let _ = self.sender.try_send(Err(error));
    }
}
