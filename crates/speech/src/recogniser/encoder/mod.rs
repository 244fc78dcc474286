//! The acoustic model: sound to letter probabilities.

mod network;

use std::sync::Arc;

use super::mel::{HOP, LogMel, STEP_SAMPLES};
use super::posteriors::Posteriors;
use crate::SpeechError;
use crate::kernels::one_thread::keep_to_this_thread;
use crate::model_folder::ModelFolder;
use crate::weights::WeightsFile;
use network::AcousticNetwork;

const FILE: &str = "encoder.safetensors";
/// The encoder has seen nothing longer than 15 s, the silence around the sound included.
const SAMPLES_MAX: usize = 1500 * HOP - 2 * QUIET_STEPS * STEP_SAMPLES;
/// A recording that begins or ends in the middle of speech is heard better with so much silence around it: 0.24 s.
const QUIET_STEPS: usize = 6;
/// Quieter than so much of the whole counts as silence.
const QUIET_SHARE_MAX: f32 = 0.05;

/// Clones share the weights.
#[derive(Clone)]
pub(super) struct AcousticEncoder {
    network: Arc<AcousticNetwork>,
    mel: Arc<LogMel>,
}

impl AcousticEncoder {
    pub(super) fn load(folder: &ModelFolder) -> Result<Self, SpeechError> {
        let weights = WeightsFile::parse(FILE, folder.read(FILE)?)?;
        Ok(Self {
            network: Arc::new(AcousticNetwork::load(&weights)?),
            mel: Arc::new(LogMel::new()),
        })
    }

    /// At most [`SAMPLES_MAX`] samples; what is beyond is not heard.
    pub(super) fn listen(&self, samples: &[i16]) -> Posteriors {
        let samples = &samples[..samples.len().min(SAMPLES_MAX)];
        let (before, after) = missing_silence(samples);
        let silence = |steps| vec![0; steps * STEP_SAMPLES];
        let surrounded = [&silence(before), samples, &silence(after)].concat();
        let spectra = self.mel.spectra(&surrounded);
        keep_to_this_thread();
        let seconds = samples.len() as f64 / super::RATE_HZ;
        Posteriors::new(self.network.run(&spectra)).surrounded_by(before, after, seconds)
    }
}

/// How many steps of silence a recording lacks before and after.
fn missing_silence(samples: &[i16]) -> (usize, usize) {
    let quiet = QUIET_SHARE_MAX * level(samples);
    let is_quiet = |piece: &&[i16]| level(piece) <= quiet;
    let before = samples.chunks(STEP_SAMPLES).take(QUIET_STEPS);
    let after = samples.rchunks(STEP_SAMPLES).take(QUIET_STEPS);
    (
        QUIET_STEPS - before.take_while(is_quiet).count(),
        QUIET_STEPS - after.take_while(is_quiet).count(),
    )
}

/// The root of the mean square.
fn level(samples: &[i16]) -> f32 {
    let squares = samples.iter().map(|sample| f32::from(*sample).powi(2));
    (squares.sum::<f32>() / samples.len().max(1) as f32).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silence_is_added_where_a_recording_lacks_it() {
        let sound = |steps: usize| vec![1_000i16; steps * STEP_SAMPLES];
        let quiet = |steps: usize| vec![20i16; steps * STEP_SAMPLES];
        assert_eq!(missing_silence(&sound(20)), (6, 6));
        assert_eq!(
            missing_silence(&[quiet(3), sound(20), quiet(9)].concat()),
            (3, 0)
        );
        assert_eq!(missing_silence(&quiet(0)), (6, 6));
        assert_eq!(missing_silence(&[0; 9_000]), (0, 0));
    }
}
