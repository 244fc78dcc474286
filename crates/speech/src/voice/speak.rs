//! One request, from the script to the last sample.

use std::ops::ControlFlow;

use super::level::{Leveller, SILENCE, Tail, fade_in};
use super::network::Encoded;
use super::plan::{Utterance, plan};
use super::source::{HOP, Noise, SAMPLE_RATE_HZ};
use super::stream::VoiceStream;
use super::timeline::Timeline;
use super::{Synthesiser, VoiceModel};
use crate::kernels::linear::Scratch;
use crate::kernels::one_thread::keep_to_this_thread;
use crate::{SpeakEvent, SpeakRequest, SpeechError, Word};

/// Frames of the first window, above those the networks need to look ahead (39) and the silence
/// before the sound: little, so that the first sound comes soon.
const FIRST_WINDOW_FRAMES: usize = 39 + 40;
/// Frames of later windows: enough to keep the processor's units full.
const WINDOW_FRAMES: usize = 128;
/// Of the silence before the first phoneme this much is kept.
const LEAD_FRAMES_KEPT: usize = 6;
/// Nasals are heard before their time ("Nzuri", "Mtoto"): where there is sound, this much is.
const LEAD_FRAMES_MAX: usize = 16;
/// Kept before the first audible sample: 15 ms, the fade and a little silence.
const ONSET_SAMPLES: usize = SAMPLE_RATE_HZ as usize * 15 / 1_000;

pub(super) fn speak(
    synthesiser: &mut Synthesiser,
    request: &SpeakRequest,
    emit: &mut dyn FnMut(SpeakEvent) -> ControlFlow<()>,
) -> Result<(), SpeechError> {
    let model = &*synthesiser.model;
    let voice = model
        .voices
        .iter()
        .find(|v| v.info.voice_id == request.voice_id)
        .ok_or_else(|| SpeechError::UnknownVoice(request.voice_id.clone()))?;
    let stretches = plan(&request.script, &request.direction, &model.symbols);
    let Some(first) = stretches.first() else {
        return Err(SpeechError::Unspeakable(
            "the text has nothing to speak".into(),
        ));
    };
    keep_to_this_thread();
    let mut speaker = Speaker {
        model,
        scratch: &mut synthesiser.scratch,
        speaker: voice.speaker,
        noise: Noise::new(),
        output: LevelledOutput::new(Leveller::new(voice.gain, first.manners[0].volume), emit),
    };
    for stretch in &stretches {
        if speaker.stretch(stretch).is_break() {
            return Ok(());
        }
    }
    let _ = speaker.output.finish();
    Ok(())
}

struct Speaker<'a, 'e> {
    model: &'a VoiceModel,
    scratch: &'a mut Scratch,
    speaker: usize,
    noise: Noise,
    output: LevelledOutput<'e>,
}

impl Speaker<'_, '_> {
    fn stretch(&mut self, stretch: &Utterance) -> ControlFlow<()> {
        let (model, scratch, speaker) = (self.model, &mut *self.scratch, self.speaker);
        let encoded: Encoded = model.network.encode(&stretch.symbols, speaker, scratch);
        let timeline = Timeline::new(&encoded.frames, stretch.manners.iter().map(|m| m.pace));
        let mut stream = VoiceStream::new(
            &model.network,
            &model.transform,
            &encoded,
            &timeline,
            &stretch.manners,
            speaker,
        );

        let (scratch, noise) = (&mut *self.scratch, &mut self.noise);
        let mut samples = Vec::new();
        let first = FIRST_WINDOW_FRAMES + timeline.end(0).saturating_sub(LEAD_FRAMES_KEPT);
        stream.advance(first, scratch, noise, &mut samples);
        let lead = silent_lead(&samples, timeline.end(0));
        samples.drain(..lead);
        let mut faded = 0;
        let mut tail = Tail::default();
        let start = self.output.made;
        let mut words = WordTimes::new(stretch, &timeline, lead, start);
        let volumes = |from: usize, to: usize| -> Vec<f32> {
            let samples = (from - start + lead)..(to - start + lead);
            let at = |sample: usize| stretch.manners[timeline.symbol(sample / HOP)].volume;
            let mut volume = at(samples.start);
            let next = |sample: usize| {
                if sample.is_multiple_of(HOP) {
                    volume = at(sample);
                }
                volume
            };
            samples.map(next).collect()
        };
        loop {
            fade_in(&mut samples, faded);
            faded += samples.len();
            let audible = tail.push(&samples);
            let end = self.output.made + audible.len();
            let volumes = volumes(self.output.made, end);
            self.output.send(&audible, &volumes, words.ended_by(end))?;
            if stream.finished() {
                break;
            }
            samples.clear();
            let (scratch, noise) = (&mut *self.scratch, &mut self.noise);
            stream.advance(WINDOW_FRAMES, scratch, noise, &mut samples);
        }
        let rest = tail.finish();
        let end = self.output.made + rest.len();
        let volumes = volumes(self.output.made, end);
        self.output.send(&rest, &volumes, words.rest(end))?;
        self.output.pause(stretch.pause_ms)
    }
}

/// How many samples to leave out before a stretch whose first phoneme comes after `edge_frames`.
fn silent_lead(samples: &[f32], edge_frames: usize) -> usize {
    let latest = edge_frames.saturating_sub(LEAD_FRAMES_KEPT) * HOP;
    let earliest = edge_frames.saturating_sub(LEAD_FRAMES_MAX) * HOP;
    let latest = latest.min(samples.len());
    let heard = samples[..latest].iter().position(|s| s.abs() > SILENCE);
    heard.map_or(latest, |at| {
        at.saturating_sub(ONSET_SAMPLES)
            .clamp(earliest.min(latest), latest)
    })
}

/// The words of a stretch, given out when their audio is.
struct WordTimes {
    /// Text, first and last sample, counted from the start of the request.
    words: std::vec::IntoIter<(String, usize, usize)>,
}

impl WordTimes {
    fn new(stretch: &Utterance, timeline: &Timeline, lead_samples: usize, made: usize) -> Self {
        let at = |frame: usize| made + (frame * HOP).saturating_sub(lead_samples);
        let words: Vec<_> = stretch
            .words
            .iter()
            .filter(|word| !word.text.is_empty())
            .map(|word| {
                let start = at(timeline.start(word.first_symbol));
                (word.text.clone(), start, at(timeline.end(word.last_symbol)))
            })
            .collect();
        Self {
            words: words.into_iter(),
        }
    }

    fn ended_by(&mut self, sample: usize) -> Vec<Word> {
        let ended = self.words.as_slice().partition_point(|w| w.2 <= sample);
        self.words.by_ref().take(ended).map(timed).collect()
    }

    /// Those left at the end of the stretch: the last vowel's silence has been cut off.
    fn rest(&mut self, end: usize) -> Vec<Word> {
        let left = self.words.by_ref();
        left.map(|(text, from, to)| timed((text, from.min(end), to.min(end))))
            .collect()
    }
}

fn timed((word, from, to): (String, usize, usize)) -> Word {
    Word {
        word,
        start: seconds(from),
        end: seconds(to),
        confidence: 1.0,
        ..Word::default()
    }
}

fn seconds(samples: usize) -> f64 {
    samples as f64 / f64::from(SAMPLE_RATE_HZ)
}

/// Levels what is spoken and hands it over.
struct LevelledOutput<'e> {
    leveller: Leveller,
    /// Samples the limiter holds back, still to be taken off the start.
    delay: usize,
    /// Samples spoken so far, those that the limiter still holds included.
    made: usize,
    emit: &'e mut dyn FnMut(SpeakEvent) -> ControlFlow<()>,
}

impl<'e> LevelledOutput<'e> {
    fn new(leveller: Leveller, emit: &'e mut dyn FnMut(SpeakEvent) -> ControlFlow<()>) -> Self {
        Self {
            leveller,
            delay: Leveller::DELAY_SAMPLES,
            made: 0,
            emit,
        }
    }

    /// Samples, how loud each is wanted, and the words that end in them.
    fn send(&mut self, samples: &[f32], volumes: &[f32], words: Vec<Word>) -> ControlFlow<()> {
        self.made += samples.len();
        let levelled = self.leveller.push(samples, volumes);
        self.hand_over(levelled, words)
    }

    fn pause(&mut self, pause_ms: u32) -> ControlFlow<()> {
        let samples = pause_ms as usize * SAMPLE_RATE_HZ as usize / 1000;
        self.send(&vec![0.0; samples], &[], Vec::new())
    }

    fn finish(mut self) -> ControlFlow<()> {
        let rest = self.leveller.flush();
        self.hand_over(rest, Vec::new())?;
        (self.emit)(SpeakEvent::Done {
            seconds: seconds(self.made),
        })
    }

    fn hand_over(&mut self, mut samples: Vec<f32>, words: Vec<Word>) -> ControlFlow<()> {
        let delayed = self.delay.min(samples.len());
        self.delay -= delayed;
        samples.drain(..delayed);
        if samples.is_empty() && words.is_empty() {
            return ControlFlow::Continue(());
        }
        (self.emit)(SpeakEvent::Audio { samples, words })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sound_from(frame: usize) -> Vec<f32> {
        let mut samples = vec![1e-5; 60 * HOP];
        samples[frame * HOP..].fill(0.1);
        samples
    }

    #[test]
    fn silence_is_left_out_but_for_a_little_before_the_first_phoneme() {
        assert_eq!(silent_lead(&sound_from(30), 30), 24 * HOP);
        assert_eq!(silent_lead(&sound_from(26), 30), 24 * HOP);
        assert_eq!(silent_lead(&sound_from(2), 4), 0);
    }

    #[test]
    fn sound_before_its_phoneme_is_kept_with_its_onset() {
        assert_eq!(silent_lead(&sound_from(20), 30), 20 * HOP - ONSET_SAMPLES);
        // Something faint long before is not worth waiting for.
        assert_eq!(silent_lead(&sound_from(3), 30), 14 * HOP);
    }

    #[test]
    fn a_stretch_shorter_than_its_lead_does_no_harm() {
        assert_eq!(silent_lead(&[0.0; 100], 30), 100);
    }
}
