//! Who speaks: one person's turns in a recording told from another's, by the sound alone.
//!
//! Where somebody speaks, windows of 1.6 s become vectors; the vectors of all windows are put together by person; and each
//! tenth of a second goes to the person whose vectors lie nearest, where changing costs something.

mod cluster;
mod config;
mod network;
mod turns;

use crate::weights::WeightsFile;
use crate::{SpeechError, SpeechStretch};
use config::RATE_HZ;
use network::{SAMPLES, VoiceNetwork};

pub use config::{SPEAKERS_MAX, SpeakerConfig};
pub(super) use network::FILE;
pub(crate) use turns::tell_speakers_apart;
pub use turns::{SpeakerTurn, speaker_turns};

use super::vad::{CHUNK, Vad};

/// From one window to the next.
const HOP: usize = 6_400;

/// The detector of speech and the network of voices. Clones share the weights.
#[derive(Clone)]
pub(super) struct SpeakerEar {
    vad: Vad,
    network: VoiceNetwork,
}

/// When somebody speaks.
const START_P: f32 = 0.4;
const STOP_P: f32 = 0.25;
/// Chunks of 32 ms: a shorter pause does not part two stretches, and a shorter sound is none.
const PAUSE_CHUNKS: usize = 8;
const SPEECH_CHUNKS_MIN: usize = 6;
/// Speech begins before the detector is sure of it, and ends after.
const PADDING_CHUNKS: usize = 2;

impl SpeakerEar {
    pub(super) fn load(vad: &Vad, file: &WeightsFile) -> Result<Self, SpeechError> {
        Ok(Self {
            vad: vad.clone(),
            network: VoiceNetwork::load(file)?,
        })
    }

    pub(super) fn hear(&mut self, samples: &[i16]) -> Vec<SpeechStretch> {
        let mut stretches = Vec::new();
        let (mut windows, mut counts) = (Vec::new(), Vec::new());
        for (from, to) in self.speech(samples) {
            let own = windows_of(&samples[from..to]);
            counts.push(own.len());
            windows.extend(own);
            stretches.push(SpeechStretch {
                start: from as f64 / RATE_HZ,
                end: to as f64 / RATE_HZ,
                voices: Vec::new(),
            });
        }
        let mut vectors = self.network.vectors(&windows).into_iter();
        for (stretch, count) in stretches.iter_mut().zip(counts) {
            stretch.voices = vectors.by_ref().take(count).collect();
        }
        stretches
    }

    /// From which sample to which somebody speaks.
    fn speech(&mut self, samples: &[i16]) -> Vec<(usize, usize)> {
        self.vad.reset();
        let (mut found, mut open, mut quiet) = (Vec::new(), None, 0);
        let chunks = samples.chunks(CHUNK).map(|chunk| self.vad.hear(chunk));
        let mut close = |from: usize, to: usize| {
            if to - from >= SPEECH_CHUNKS_MIN {
                let from = from.saturating_sub(PADDING_CHUNKS) * CHUNK;
                let to = (to + PADDING_CHUNKS) * CHUNK;
                found.push((from, to.min(samples.len())));
            }
        };
        let mut at = 0;
        for p in chunks {
            at += 1;
            match open {
                None if p >= START_P => (open, quiet) = (Some(at - 1), 0),
                Some(_) if p >= STOP_P => quiet = 0,
                Some(from) => {
                    quiet += 1;
                    if quiet == PAUSE_CHUNKS {
                        close(from, at - quiet);
                        open = None;
                    }
                }
                None => {}
            }
        }
        if let Some(from) = open {
            close(from, at - quiet);
        }
        found
    }
}

/// Evenly from the start to the end; what is shorter than a window is said over and over.
fn windows_of(speech: &[i16]) -> Vec<Vec<f32>> {
    let float = |sample: &i16| f32::from(*sample) / 32_768.0;
    let Some(spare) = speech.len().checked_sub(SAMPLES) else {
        return vec![speech.iter().cycle().take(SAMPLES).map(float).collect()];
    };
    let steps = spare.div_ceil(HOP);
    (0..=steps)
        .map(|step| {
            let from = spare * step / steps.max(1);
            speech[from..from + SAMPLES].iter().map(float).collect()
        })
        .collect()
}
