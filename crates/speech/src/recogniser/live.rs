//! Sound that is still being spoken: what it seems to say so far, and what it said.

use super::decode::Expectations;
use super::offset::Offset;
use super::segment::{SegmentConfig, Segmenter, Stretch};
use super::{Flow, Recogniser};
use crate::{Segment, SpeechError, TranscribeRequest};

/// How much new sound makes a new guess worth its cost.
const PARTIAL_SAMPLES: usize = 9_600;
/// In a conversation the other side waits for the end of the sentence.
const LIVE_SILENCE_MS: usize = 600;
/// How likely an answer must be of which a part alone was none.
const SURE_MIN: f32 = 0.5;
/// An answer that takes longer is made of its parts.
const WHOLE_SAMPLES_MAX: usize = 14 * 16_000;

#[derive(Debug, Clone, PartialEq)]
pub enum LiveEvent {
    /// The open sentence so far; later ones replace it.
    Partial(String),
    Final(Segment),
    /// Somebody spoke, but not what was expected.
    NotUnderstood,
    /// At the end, of an expected answer that was said in several stretches: all of it heard as one, if that is one.
    Whole(Option<Segment>),
}

/// One caller's stream. Memory stays within a few stretches of speech.
pub struct LiveSession {
    recogniser: Recogniser,
    segmenter: Segmenter,
    offset: Offset,
    wanted: Expectations,
    flow: Flow,
    digits: bool,
    unheard_samples: usize,
    last_partial: String,
    /// The stretches in which somebody spoke, where an answer is expected: a pause in its middle must not change it.
    said: Vec<Stretch>,
    /// One of them alone was not what was expected.
    refused: bool,
}

impl LiveSession {
    /// The request says what is expected; its samples are not used.
    pub fn new(recogniser: &Recogniser, request: &TranscribeRequest) -> Result<Self, SpeechError> {
        let config = SegmentConfig {
            silence_ms: LIVE_SILENCE_MS,
            ..SegmentConfig::default()
        };
        Ok(Self {
            segmenter: Segmenter::new(&recogniser.vad, config),
            recogniser: recogniser.clone(),
            offset: Offset::default(),
            wanted: Expectations::new(request)?,
            flow: Flow::default(),
            digits: request.digits,
            unheard_samples: 0,
            last_partial: String::new(),
            said: Vec::new(),
            refused: false,
        })
    }

    /// Takes the next samples (16 kHz mono) and tells what they brought.
    pub fn push(&mut self, samples: &[i16]) -> Result<Vec<LiveEvent>, SpeechError> {
        let mut events = Vec::new();
        let samples = &*self.offset.removed(samples);
        for stretch in self.segmenter.push(samples) {
            self.finalise(&stretch, &mut events)?;
        }
        self.unheard_samples += samples.len();
        if self.unheard_samples >= PARTIAL_SAMPLES {
            self.unheard_samples = 0;
            events.extend(self.guess()?);
        }
        Ok(events)
    }

    /// What was still open when the stream ended.
    pub fn finish(&mut self) -> Result<Vec<LiveEvent>, SpeechError> {
        let mut events = Vec::new();
        for stretch in self.segmenter.finish() {
            self.finalise(&stretch, &mut events)?;
        }
        if self.said.len() > 1 && self.said_samples() <= WHOLE_SAMPLES_MAX {
            events.push(LiveEvent::Whole(self.heard_as_one()?));
        }
        Ok(events)
    }

    fn heard_as_one(&self) -> Result<Option<Segment>, SpeechError> {
        let said = self.said.iter().map(|stretch| stretch.samples.as_slice());
        let samples = said.collect::<Vec<_>>().concat();
        let whole = Stretch::whole(&samples, 1.0);
        let mut flow = Flow::default();
        let heard = self
            .recogniser
            .recognise(&whole, &self.wanted, &mut flow, self.digits)?;
        // What was said beside the answer may have been forced into it.
        let is_sure = |one: &Segment| one.answer_confidence.is_none_or(|p| p >= SURE_MIN);
        Ok(heard.filter(|one| !self.refused || is_sure(one)))
    }

    fn said_samples(&self) -> usize {
        self.said.iter().map(|stretch| stretch.samples.len()).sum()
    }

    fn finalise(
        &mut self,
        stretch: &Stretch,
        events: &mut Vec<LiveEvent>,
    ) -> Result<(), SpeechError> {
        self.unheard_samples = 0;
        let had_partial = !std::mem::take(&mut self.last_partial).is_empty();
        let segment =
            self.recogniser
                .recognise(stretch, &self.wanted, &mut self.flow, self.digits)?;
        let is_refused = std::mem::take(&mut self.flow.not_understood);
        // Coughs and doors are not.
        let is_said = self.wanted.is_narrow() && (segment.is_some() || is_refused);
        if is_said && self.said_samples() <= WHOLE_SAMPLES_MAX {
            self.said.push(stretch.clone());
        }
        match segment {
            Some(segment) => events.push(LiveEvent::Final(segment)),
            None if is_refused => {
                self.refused = true;
                events.push(LiveEvent::NotUnderstood);
            }
            // The guess came to nothing: take it back.
            None if had_partial => events.push(LiveEvent::Partial(String::new())),
            None => {}
        }
        Ok(())
    }

    fn guess(&mut self) -> Result<Option<LiveEvent>, SpeechError> {
        let Some(stretch) = self.segmenter.open_stretch() else {
            return Ok(None);
        };
        let mut flow = Flow {
            before: self.flow.before.clone(),
            is_guess: true,
            ..Flow::default()
        };
        let segment = self
            .recogniser
            .recognise(&stretch, &self.wanted, &mut flow, self.digits)?;
        let text = segment.map(|segment| segment.text).unwrap_or_default();
        if text.is_empty() || text == self.last_partial {
            return Ok(None);
        }
        self.last_partial.clone_from(&text);
        Ok(Some(LiveEvent::Partial(text)))
    }
}
