//! What goes into the engine and what comes out of it.

use std::sync::Arc;
use std::time::Instant;

use sauti_audio::Samples;

use crate::Direction;
use crate::recogniser::{Alternative, AnswerValue, VocabularyModel};

/// What every job carries, whatever its kind.
#[derive(Debug, Clone)]
pub struct Job {
    /// Shares the queue fairly: each tenant gets its turn, however much one of them asks for.
    pub tenant: String,
    /// Work that cannot be finished by then is given up, wherever it is.
    pub deadline: Instant,
    pub priority: Priority,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Priority {
    /// Somebody waits for the answer.
    #[default]
    Interactive,
    /// The same, for the second part of work whose first part is done: it is not refused for how long it would wait.
    Continued,
    /// Done when nothing else waits.
    Background,
}

/// A text to speak, already resolved to plain text or to the parts of an SSML document.
#[derive(Debug, Clone)]
pub struct SpeakRequest {
    pub voice_id: String,
    /// What the voice says, in order. See `sauti_text::script`.
    pub script: sauti_text::Script,
    pub direction: Direction,
}

#[derive(Debug, Clone)]
pub enum SpeakEvent {
    /// Samples at the voice's rate (24,000 Hz), in order, loudness settled.
    Audio {
        samples: Vec<f32>,
        words: Vec<Word>,
    },
    Done {
        seconds: f64,
    },
}

#[derive(Debug, Clone, Default, PartialEq)]
pub enum Expect {
    #[default]
    Any,
    Digits,
    YesNo,
    Amount,
    Choices(Vec<String>),
}

/// A language that the recogniser hears.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub enum SpokenLanguage {
    #[default]
    #[serde(rename = "sw")]
    Swahili,
    #[serde(rename = "en")]
    English,
}

/// A recording to transcribe: mono, 16,000 Hz.
#[derive(Debug, Clone, Default)]
pub struct TranscribeRequest {
    pub samples: Samples,
    /// The other side of a call. Then each side is heard for itself, and segments say which one they are of.
    pub second_channel: Option<Samples>,
    /// Whether people are told apart. Then segments come at the end, each with its speaker.
    pub diarize: bool,
    pub keyterms: Vec<String>,
    /// What the recording is about or what came before it: its words are listened for a little.
    pub prompt: String,
    pub expect: Expect,
    /// Digits rather than words for numbers in the readable text.
    pub digits: bool,
    /// The language that is spoken; none where it is to be heard.
    pub language: Option<SpokenLanguage>,
    /// Words and sentences of the caller's own, mixed into the language models.
    pub vocabulary: Option<Arc<VocabularyModel>>,
    /// How many readings of each segment to give, the best one among them; 0 for none.
    pub alternatives: usize,
}

impl TranscribeRequest {
    /// What is heard for itself: everything, or the two sides of a call.
    pub(crate) fn channels(&self) -> impl Iterator<Item = &Samples> {
        std::iter::once(&self.samples).chain(&self.second_channel)
    }
}

/// Seconds as callers are told them: to a millisecond.
pub fn rounded_seconds(seconds: f64) -> f64 {
    (seconds * 1_000.0).round() / 1_000.0
}

fn rounded<S: serde::Serializer>(seconds: &f64, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_f64(rounded_seconds(*seconds))
}

/// A word and where it stands, in seconds from the start.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct Word {
    pub word: String,
    #[serde(serialize_with = "rounded")]
    pub start: f64,
    #[serde(serialize_with = "rounded")]
    pub end: f64,
    /// 0 to 1. For synthesised words, 1.
    pub confidence: f32,
    pub language: SpokenLanguage,
}

/// A stretch of speech between silences, about a subtitle's worth to a few sentences.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct Segment {
    #[serde(serialize_with = "rounded")]
    pub start: f64,
    #[serde(serialize_with = "rounded")]
    pub end: f64,
    /// Readable text: capitals, punctuation, numbers as asked.
    pub text: String,
    /// Exactly what was recognised, lower case, word by word.
    pub words: Vec<Word>,
    pub confidence: f32,
    /// From 1, where channels were heard separately.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channel: Option<u32>,
    /// `A` for who speaks first, and so on, where people were told apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speaker: Option<char>,
    /// The best readings, best first, where they were asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub alternatives: Vec<Alternative>,
    /// How likely it is that the answer in it was given, where one was expected.
    #[serde(skip)]
    pub answer_confidence: Option<f32>,
}

impl Segment {
    /// The same segment, of a recording that began this many seconds earlier.
    pub(crate) fn shifted(mut self, seconds: f64) -> Segment {
        self.start += seconds;
        self.end += seconds;
        for word in &mut self.words {
            word.start += seconds;
            word.end += seconds;
        }
        self
    }
}

#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct Transcript {
    pub text: String,
    pub segments: Vec<Segment>,
    #[serde(serialize_with = "rounded")]
    pub seconds: f64,
    pub no_speech: bool,
    /// Somebody said something else than was expected, alone or beside it; then nothing counts as the answer.
    pub not_understood: bool,
    /// Where somebody speaks, and what the voices are like; only until the speakers are told apart.
    #[serde(skip)]
    pub speech: Vec<SpeechStretch>,
}

impl Transcript {
    /// What was answered, if nothing else was said.
    pub fn answer(&self, expect: &Expect) -> Option<AnswerValue> {
        AnswerValue::of(expect, &self.segments).filter(|_| !self.not_understood)
    }

    /// How likely it is that the expected answers in it were given, all of them.
    pub fn answer_confidence(&self) -> Option<f32> {
        let each = self
            .segments
            .iter()
            .map(|segment| segment.answer_confidence);
        each.reduce(|all, next| Some(all? * next?)).flatten()
    }
}

/// A stretch in which somebody speaks without a pause, in seconds, and what its voices are like.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SpeechStretch {
    pub start: f64,
    pub end: f64,
    /// Vectors of windows, spread evenly from the start to the end.
    pub voices: Vec<Vec<f32>>,
}

#[derive(Debug, Clone)]
pub enum TranscribeEvent {
    /// A finished segment, in order; `done_seconds` says how far into the recording we are.
    Segment {
        segment: Segment,
        done_seconds: f64,
    },
    Done(Transcript),
}

pub(crate) fn mean_confidence(words: &[Word]) -> f32 {
    mean_of_words(
        words
            .iter()
            .map(|word| (word.word.as_str(), word.confidence)),
    )
}

/// Long words weigh more: a short one can be guessed.
pub(crate) fn mean_of_words<'a>(words: impl Iterator<Item = (&'a str, f32)>) -> f32 {
    let (mut sum, mut letters) = (0.0, 0);
    for (word, figure) in words {
        sum += figure * word.len() as f32;
        letters += word.len();
    }
    sum / letters.max(1) as f32
}
