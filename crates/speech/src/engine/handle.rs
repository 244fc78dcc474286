//! The caller's end of a job.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Instant;

use tokio::sync::mpsc;

use super::pool_state::PoolShared;
use crate::recogniser::{SpeakerConfig, join_texts, tell_speakers_apart};
use crate::{Segment, SpeakEvent, SpeechError, SpeechStretch, TranscribeEvent, Transcript};

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
pub(crate) struct SpeakEvents {
    pub(super) receiver: Receiver<SpeakEvent>,
    pub(super) place: QueueSlot,
    pub(super) ended: bool,
}

impl SpeakEvents {
    pub(crate) async fn next(&mut self) -> Option<Result<SpeakEvent, SpeechError>> {
        if self.ended {
            return None;
        }
        let event = self.place.receive(&mut self.receiver).await;
        self.ended = matches!(event, Err(_) | Ok(SpeakEvent::Done { .. }));
        Some(event)
    }
}

/// A recording's pieces, whose events are told as if it had been read in one go, and both sides of a call on one time line.
#[derive(Debug)]
pub(crate) struct TranscribeEvents {
    pub(super) place: QueueSlot,
    pub(super) channels: Vec<ChannelHeard>,
    /// Whether speakers are told apart. Who they are is known at the end: then all segments are told at once.
    pub(super) diarize: bool,
    pub(super) told_apart: Option<(VecDeque<Segment>, Transcript)>,
    pub(super) ended: bool,
}

/// What is heard on one channel, or in the whole recording.
#[derive(Debug)]
pub(super) struct ChannelHeard {
    /// From 1, where channels are heard separately.
    number: Option<u32>,
    /// The pieces still to be told, each with its start in seconds.
    pieces: VecDeque<(f64, Receiver<TranscribeEvent>)>,
    /// The next segment, until it is its turn, and how far into the recording it was heard.
    next: Option<(Segment, f64)>,
    told: Transcript,
}

impl TranscribeEvents {
    pub(crate) async fn next(&mut self) -> Option<Result<TranscribeEvent, SpeechError>> {
        if self.ended {
            return None;
        }
        if let Some((segments, whole)) = &mut self.told_apart {
            let done_seconds = whole.seconds;
            return Some(Ok(match segments.pop_front() {
                Some(segment) => TranscribeEvent::Segment {
                    segment,
                    done_seconds,
                },
                None => {
                    self.ended = true;
                    TranscribeEvent::Done(std::mem::take(whole))
                }
            }));
        }
        for channel in &mut self.channels {
            let heard = match self.diarize {
                true => channel.hear_out(&self.place).await,
                false => channel.hear_next(&self.place).await,
            };
            if let Err(error) = heard {
                self.ended = true;
                return Some(Err(error));
            }
        }
        // What both have been heard up to.
        let heard = self.channels.iter().filter_map(|c| c.next.as_ref());
        let done_seconds = heard.map(|(_, done)| *done).fold(f64::MAX, f64::min);
        let first = self
            .channels
            .iter_mut()
            .filter(|channel| channel.next.is_some())
            .min_by(|a, b| a.next_start().total_cmp(&b.next_start()));
        if let Some((segment, _)) = first.and_then(|channel| channel.next.take()) {
            return Some(Ok(TranscribeEvent::Segment {
                segment,
                done_seconds,
            }));
        }
        let channels = self.channels.drain(..).map(|channel| channel.told);
        let mut whole = on_one_time_line(channels);
        if self.diarize {
            // Some hundredths of a second for hours of sound: what is compared is bounded.
            tell_speakers_apart(&mut whole, &SpeakerConfig::default());
            self.told_apart = Some((whole.segments.clone().into(), whole));
            return Box::pin(self.next()).await;
        }
        self.ended = true;
        Some(Ok(TranscribeEvent::Done(whole)))
    }
}

impl ChannelHeard {
    pub(super) fn new(
        number: Option<u32>,
        pieces: VecDeque<(f64, Receiver<TranscribeEvent>)>,
    ) -> Self {
        Self {
            number,
            pieces,
            next: None,
            told: Transcript {
                no_speech: true,
                ..Transcript::default()
            },
        }
    }

    /// Waits until the next segment is there, or no more will come.
    async fn hear_next(&mut self, place: &QueueSlot) -> Result<(), SpeechError> {
        while self.next.is_none() {
            let Some((offset, receiver)) = self.pieces.front_mut() else {
                return Ok(());
            };
            let offset = *offset;
            match place.receive(receiver).await? {
                TranscribeEvent::Segment {
                    segment,
                    done_seconds,
                } => self.next = Some((self.placed(segment, offset), done_seconds + offset)),
                TranscribeEvent::Done(piece) => {
                    self.append(piece, offset);
                    self.pieces.pop_front();
                }
            }
        }
        Ok(())
    }

    /// Waits for everything.
    async fn hear_out(&mut self, place: &QueueSlot) -> Result<(), SpeechError> {
        while !self.pieces.is_empty() {
            self.hear_next(place).await?;
            self.next = None;
        }
        Ok(())
    }

    fn next_start(&self) -> f64 {
        let next = self.next.as_ref();
        next.map_or(f64::MAX, |(segment, _)| segment.start)
    }

    fn placed(&self, segment: Segment, offset: f64) -> Segment {
        Segment {
            channel: self.number,
            ..segment.shifted(offset)
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
        for segment in piece.segments {
            let segment = self.placed(segment, offset);
            self.told.segments.push(segment);
        }
        for stretch in piece.speech {
            self.told.speech.push(SpeechStretch {
                start: stretch.start + offset,
                end: stretch.end + offset,
                ..stretch
            });
        }
    }
}

/// One transcript stays as it is; those of two channels are put together by time.
fn on_one_time_line(mut channels: impl Iterator<Item = Transcript>) -> Transcript {
    let mut whole = channels.next().unwrap_or_default();
    for other in channels {
        // Who only says other things on one side does not spoil the answer of the other side.
        let is_spoilt = |one: &Transcript| one.not_understood && !one.segments.is_empty();
        let spoilt = is_spoilt(&whole) || is_spoilt(&other);
        whole.segments.extend(other.segments);
        whole.segments.sort_by(|a, b| a.start.total_cmp(&b.start));
        whole.text = join_texts(whole.segments.iter().map(|segment| segment.text.as_str()));
        whole.no_speech &= other.no_speech;
        whole.not_understood |= other.not_understood;
        whole.not_understood &= spoilt || whole.segments.is_empty();
    }
    whole
}
