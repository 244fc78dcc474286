//! Speech to text: voice detection, acoustic model, beam search with a language model, words with
//! times, readable text.
//!
//! Recordings of any length run in constant memory: a stretch of speech goes through as soon as it
//! is complete, and its text comes out before the next one is looked at.

mod align;
mod alternatives;
mod answer;
mod answer_words;
mod beam;
mod bias;
mod choices;
mod confidence;
mod decode;
mod encoder;
mod grammar;
mod live;
pub mod lm;
mod mel;
mod mixture;
mod offset;
mod orthography;
mod posteriors;
mod prefixes;
mod prompt;
mod readable;
mod rescorer;
mod segment;
mod speakers;
pub mod subtitles;
mod text;
mod vad;
mod vocabulary;
mod vocabulary_weight;

use std::ops::ControlFlow;
use std::path::Path;

pub use alternatives::{ALTERNATIVES_MAX, Alternative};
pub use answer::{Amount, AnswerValue};
pub use beam::BeamConfig;
pub use confidence::{AnswerEvidence, ReadingEvidence, WordEvidence, confidence};
pub use live::{LiveEvent, LiveSession};
pub use mixture::MixtureConfig;
pub use posteriors::Posteriors;
pub use readable::{HeardWord, ReadableModel, TextPlace};
pub(crate) use speakers::tell_speakers_apart;
pub use speakers::{SPEAKERS_MAX, SpeakerConfig, SpeakerTurn, speaker_turns};
pub(crate) use text::join as join_texts;
pub use vocabulary::{VocabularyModel, VocabularySource, VocabularyWord};

use crate::job::mean_confidence;
use crate::model_folder::ModelFolder;
use crate::weights::WeightsFile;
use crate::{
    Expect, Segment, SpeechError, SpeechStretch, TranscribeEvent, TranscribeRequest, Transcript,
    Word,
};
use decode::{Expectations, HeardReading, answer_evidence, decode, evidence};
use encoder::AcousticEncoder;
use lm::LanguageModels;
use offset::Offset;
use rescorer::Rescorer;
use segment::{SegmentConfig, Segmenter, Stretch};
use speakers::SpeakerEar;
use vad::Vad;

const LM_FILE: &str = "languages.lm";
const RATE_HZ: f64 = 16_000.0;
/// How much of a recording is looked at at once.
const BLOCK_SAMPLES: usize = 16_000;
/// Letters heard less surely than this over a whole stretch are noise, not speech.
const CLEARNESS_MIN: f32 = 0.3;
const VOICE_P_MIN: f32 = 0.5;
/// A recording is one speaker's flow: a breath does not end a sentence.
const FILE_SILENCE_MS: usize = 1_100;
/// How much of a sentence that was cut is remembered for its rest.
const WORDS_BEFORE_MAX: usize = 40;

/// Clones share the weights and run beside each other.
#[derive(Clone)]
pub struct Recogniser {
    encoder: AcousticEncoder,
    lms: LanguageModels,
    rescorer: Rescorer,
    vad: Vad,
    speakers: SpeakerEar,
    readable: ReadableModel,
    config: BeamConfig,
}

impl std::fmt::Debug for Recogniser {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Recogniser")
            .field("lms", &self.lms)
            .finish_non_exhaustive()
    }
}

impl Recogniser {
    /// Reads `recogniser/` in the models folder; every file is checked against its manifest.
    pub fn load(models_dir: &Path) -> Result<Self, SpeechError> {
        let folder = ModelFolder::recogniser(models_dir)?;
        let vad = Vad::load(WeightsFile::parse(vad::FILE, folder.read(vad::FILE)?)?)?;
        let readable = ReadableModel::load(WeightsFile::parse(
            readable::FILE,
            folder.read(readable::FILE)?,
        )?)?;
        let lms = LanguageModels::open(&folder.path(LM_FILE))?;
        folder.check(LM_FILE, lms.bytes())?;
        let rescorer = WeightsFile::parse(rescorer::FILE, folder.read(rescorer::FILE)?)?;
        let encoder = AcousticEncoder::load(&folder)?;
        let voices = WeightsFile::parse(speakers::FILE, folder.read(speakers::FILE)?)?;
        Ok(Self {
            encoder,
            lms,
            rescorer: Rescorer::load(&rescorer)?,
            speakers: SpeakerEar::load(&vad, &voices)?,
            vad,
            readable,
            config: BeamConfig::default(),
        })
    }

    /// How the search weighs sound against language; for experiments.
    pub fn set_beam(&mut self, config: BeamConfig) {
        self.config = config;
    }

    /// Segment by segment, in order; `emit` returning `Break` stops the work.
    pub fn transcribe(
        &mut self,
        request: &TranscribeRequest,
        emit: &mut dyn FnMut(TranscribeEvent) -> ControlFlow<()>,
    ) -> Result<(), SpeechError> {
        let wanted = Expectations::new(request)?;
        let config = SegmentConfig {
            silence_ms: FILE_SILENCE_MS,
            ..SegmentConfig::default()
        };
        // A short recording is heard whole: cutting its silence away could only lose a faint word.
        let samples = request.samples.all().map_err(SpeechError::unreadable)?;
        let samples = Offset::default().removed(&samples);
        let is_short = samples.len() <= config.length_ms_max * 16;
        let mut segmenter = Segmenter::new(&self.vad, config);
        let mut segments: Vec<Segment> = Vec::new();
        let mut flow = Flow::default();
        let mut seen = 0;
        let block_samples = match is_short {
            true => samples.len().max(1),
            false => BLOCK_SAMPLES,
        };
        for block in samples.chunks(block_samples) {
            seen += block.len();
            let mut stretches = segmenter.push(block);
            if seen == samples.len() {
                stretches.extend(segmenter.finish());
                if is_short {
                    stretches = whole(&samples, stretches);
                }
            }
            for stretch in stretches {
                let segment = self.recognise(&stretch, &wanted, &mut flow, request.digits)?;
                let Some(segment) = segment else { continue };
                segments.push(segment.clone());
                let event = TranscribeEvent::Segment {
                    segment,
                    done_seconds: seen as f64 / RATE_HZ,
                };
                if emit(event).is_break() {
                    return Ok(());
                }
            }
        }
        let transcript = Transcript {
            text: text::join(segments.iter().map(|segment| segment.text.as_str())),
            no_speech: segments.is_empty() && !flow.not_understood,
            not_understood: flow.not_understood,
            segments,
            seconds: samples.len() as f64 / RATE_HZ,
            speech: match request.diarize {
                true => self.speech(&samples),
                false => Vec::new(),
            },
        };
        // The work is done either way.
        let _ = emit(TranscribeEvent::Done(transcript));
        Ok(())
    }

    /// Where somebody speaks, and what the voices are like: what speakers are told apart by.
    pub fn speech(&mut self, samples: &[i16]) -> Vec<SpeechStretch> {
        self.speakers.hear(samples)
    }

    /// What the acoustic model says to at most 15 s of sound; for experiments.
    pub fn listen(&self, samples: &[i16]) -> Posteriors {
        self.encoder.listen(samples)
    }

    /// The words in such probabilities, whatever their confidence; for experiments.
    pub fn read(&self, posteriors: &Posteriors) -> Result<Vec<Word>, SpeechError> {
        let best = self.read_freely(posteriors)?;
        Ok(best.map_or_else(Vec::new, |best| best.words))
    }

    /// What confidences are made of: of the words of the best reading, and of the best readings; for experiments.
    pub fn evidence(
        &self,
        posteriors: &Posteriors,
        readings_max: usize,
    ) -> Result<(Vec<WordEvidence>, Vec<ReadingEvidence>), SpeechError> {
        let wanted = Expectations::new(&TranscribeRequest::default())?;
        Ok(evidence(
            posteriors,
            &self.lms,
            &self.rescorer,
            &self.config,
            &wanted,
            readings_max,
        ))
    }

    /// The same of answers of a known form, best first; none where nothing of the kind is heard.
    pub fn answer_evidence(
        &self,
        posteriors: &Posteriors,
        expect: &Expect,
    ) -> Result<Vec<AnswerEvidence>, SpeechError> {
        let wanted = Expectations::new(&TranscribeRequest {
            expect: expect.clone(),
            ..TranscribeRequest::default()
        })?;
        let mut answers = answer_evidence(posteriors, &self.lms, &self.config, &wanted);
        if answers
            .first()
            .is_some_and(|best| best.clearness() < CLEARNESS_MIN)
        {
            answers.clear();
        }
        Ok(answers)
    }

    fn read_freely(&self, posteriors: &Posteriors) -> Result<Option<HeardReading>, SpeechError> {
        let wanted = Expectations::new(&TranscribeRequest::default())?;
        let (lms, rescorer) = (&self.lms, Some(&self.rescorer));
        let readings = decode(posteriors, lms, rescorer, &self.config, &wanted, &[], 0.0);
        Ok(readings.into_iter().next())
    }

    fn recognise(
        &self,
        stretch: &Stretch,
        wanted: &Expectations,
        flow: &mut Flow,
        digits: bool,
    ) -> Result<Option<Segment>, SpeechError> {
        if stretch.voice_p < VOICE_P_MIN {
            flow.before.clear();
            return Ok(None);
        }
        let posteriors = self.encoder.listen(&stretch.samples);
        let start = stretch.from as f64 / RATE_HZ;
        let readings = decode(
            &posteriors,
            &self.lms,
            (!flow.is_guess).then_some(&self.rescorer),
            &self.config,
            wanted,
            &flow.before,
            start,
        );
        let before = std::mem::take(&mut flow.before);
        let Some(best) = readings.first().filter(|best| is_speech(best)) else {
            // Words that do not fit what was expected are told apart from silence and noise.
            if wanted.is_narrow() && !flow.is_guess {
                let free = self.read_freely(&posteriors)?;
                flow.not_understood |= free.as_ref().is_some_and(is_speech);
            }
            return Ok(None);
        };
        let pause_after_ms = match stretch.ends_in_silence {
            true => None,
            false if flow.is_guess => Some(0),
            false => Some(pause_after_ms(stretch, &best.words)),
        };
        let written = |reading: &HeardReading| {
            let text = reading.written.clone().unwrap_or_else(|| {
                let model = &self.readable;
                text::readable(model, &reading.words, digits, &before, pause_after_ms)
            });
            wanted.spellings.apply(&text, before.is_empty())
        };
        let text = written(best);
        let goes_on = pause_after_ms.is_some() && !text.ends_with(['.', '?']);
        let alternatives = match wanted.alternatives {
            count if count == 0 || flow.is_guess => Vec::new(),
            count => {
                let alternatives = readings.iter().map(|reading| {
                    let said: Vec<&str> = reading.words.iter().map(|w| w.word.as_str()).collect();
                    let (text, said) = (written(reading), said.join(" "));
                    Alternative::new(&wanted.expect, text, said, reading.confidence)
                });
                Alternative::distinct(alternatives, count)
            }
        };
        let answer_confidence = best.answer_confidence;
        let words = readings.into_iter().next().map(|best| best.words);
        let segment = Segment {
            alternatives,
            answer_confidence,
            ..segment_of(words.unwrap_or_default(), text)
        };
        // A long stretch is often cut between two sentences: then nothing goes on in the next one.
        if goes_on {
            let from = segment.words.len().saturating_sub(WORDS_BEFORE_MAX);
            flow.before.extend_from_slice(&segment.words[from..]);
        }
        Ok(Some(segment))
    }
}

/// One stretch for everything, if there is speech anywhere in it.
fn whole(samples: &[i16], stretches: Vec<Stretch>) -> Vec<Stretch> {
    let voice_p = stretches.iter().map(|s| s.voice_p).fold(0.0, f32::max);
    if stretches.is_empty() {
        return stretches;
    }
    vec![Stretch::whole(samples, voice_p)]
}

/// What one stretch hands to the next when speech went on through the cut.
#[derive(Default)]
struct Flow {
    before: Vec<Word>,
    /// Somebody spoke, but not what was expected.
    not_understood: bool,
    /// A stretch that is not over yet is only guessed at.
    is_guess: bool,
}

fn is_speech(reading: &HeardReading) -> bool {
    !reading.words.is_empty() && reading.clearness >= CLEARNESS_MIN
}

/// From the last word to the next sound, across the cut.
fn pause_after_ms(stretch: &Stretch, words: &[Word]) -> u32 {
    let end_s = (stretch.from + stretch.samples.len()) as f64 / RATE_HZ;
    let left_s = words.last().map_or(0.0, |word| (end_s - word.end).max(0.0));
    (left_s * 1_000.0) as u32 + stretch.quiet_after_ms as u32
}

fn segment_of(words: Vec<Word>, text: String) -> Segment {
    Segment {
        start: words.first().map_or(0.0, |word| word.start),
        end: words.last().map_or(0.0, |word| word.end),
        text,
        confidence: mean_confidence(&words),
        words,
        ..Segment::default()
    }
}
