//! The acoustic model: sound to letter probabilities.

mod network;

use std::sync::Arc;

use rayon::{ThreadPool, ThreadPoolBuilder};

use super::mel::LogMel;
use super::posteriors::Posteriors;
use crate::SpeechError;
use crate::model_folder::ModelFolder;
use crate::weights::WeightsFile;
use network::AcousticNetwork;

const FILE: &str = "encoder.safetensors";
/// The encoder has seen nothing longer: 15 s.
pub(super) const SAMPLES_MAX: usize = 1500 * super::mel::HOP;

/// Clones share the weights, each with a thread of its own.
pub(super) struct AcousticEncoder {
    network: Arc<AcousticNetwork>,
    mel: Arc<LogMel>,
    /// One thread: the engine's workers are what runs side by side. Without it the products would
    /// spread over every core.
    pool: Option<ThreadPool>,
}

impl Clone for AcousticEncoder {
    fn clone(&self) -> Self {
        Self {
            network: Arc::clone(&self.network),
            mel: Arc::clone(&self.mel),
            pool: one_thread(),
        }
    }
}

impl AcousticEncoder {
    pub(super) fn load(folder: &ModelFolder) -> Result<Self, SpeechError> {
        let weights = WeightsFile::parse(FILE, folder.read(FILE)?)?;
        Ok(Self {
            network: Arc::new(AcousticNetwork::load(&weights)?),
            mel: Arc::new(LogMel::new()),
            pool: one_thread(),
        })
    }

    /// At most [`SAMPLES_MAX`] samples; what is beyond is not heard.
    pub(super) fn listen(&self, samples: &[i16]) -> Posteriors {
        let samples = &samples[..samples.len().min(SAMPLES_MAX)];
        let spectra = self.mel.spectra(samples);
        let scores = match &self.pool {
            Some(pool) => pool.install(|| self.network.run(&spectra)),
            None => self.network.run(&spectra),
        };
        Posteriors::new(scores)
    }
}

fn one_thread() -> Option<ThreadPool> {
    ThreadPoolBuilder::new().num_threads(1).build().ok()
}
