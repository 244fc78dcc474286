//! The acoustic model: sound to letter probabilities.

mod network;

use std::sync::Arc;

use super::mel::LogMel;
use super::posteriors::Posteriors;
use crate::SpeechError;
use crate::kernels::one_thread::keep_to_this_thread;
use crate::model_folder::ModelFolder;
use crate::weights::WeightsFile;
use network::AcousticNetwork;

const FILE: &str = "encoder.safetensors";
/// The encoder has seen nothing longer: 15 s.
pub(super) const SAMPLES_MAX: usize = 1500 * super::mel::HOP;

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
        let spectra = self.mel.spectra(samples);
        keep_to_this_thread();
        Posteriors::new(self.network.run(&spectra))
    }
}
