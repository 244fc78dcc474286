//! The acoustic model: sound to letter probabilities.

use std::path::Path;
use std::sync::Arc;

use rten::{Model, ModelOptions, RunOptions, ThreadPool};
use rten_tensor::prelude::*;
use rten_tensor::{NdTensor, NdTensorView};

use super::manifest::Manifest;
use super::mel::{LogMel, MELS};
use super::posteriors::{CLASSES, Posteriors};
use crate::SpeechError;

pub const FILE: &str = "encoder.onnx";
/// The encoder has seen nothing longer: 15 s.
pub const SAMPLES_MAX: usize = 1500 * super::mel::HOP;

/// Clones share the weights, each with a thread of its own.
pub struct Encoder {
    model: Arc<Model>,
    mel: Arc<LogMel>,
    /// One thread: the engine's workers are what runs side by side.
    pool: Arc<ThreadPool>,
}

impl Clone for Encoder {
    fn clone(&self) -> Self {
        Self {
            model: Arc::clone(&self.model),
            mel: Arc::clone(&self.mel),
            pool: Arc::new(ThreadPool::with_num_threads(1)),
        }
    }
}

impl Encoder {
    pub fn load(dir: &Path, manifest: &Manifest) -> Result<Self, SpeechError> {
        let bytes = manifest.load(dir, FILE)?;
        let mut options = ModelOptions::with_all_ops();
        options.prepack_weights(true);
        let model = options.load(bytes).map_err(|error| {
            SpeechError::Model(format!("{}: {error}", dir.join(FILE).display()))
        })?;
        Ok(Self {
            model: Arc::new(model),
            mel: Arc::new(LogMel::new()),
            pool: Arc::new(ThreadPool::with_num_threads(1)),
        })
    }

    /// At most [`SAMPLES_MAX`] samples; what is beyond is not heard.
    pub fn listen(&self, samples: &[i16]) -> Result<Posteriors, SpeechError> {
        let samples = &samples[..samples.len().min(SAMPLES_MAX)];
        let spectra = self.mel.spectra(samples);
        let frames = spectra.len() / MELS;
        let input = NdTensorView::from_data([1, frames, MELS], spectra.as_slice());
        let options = RunOptions::default().with_thread_pool(Some(Arc::clone(&self.pool)));
        let failed = |error: &dyn std::fmt::Display| {
            tracing::error!(%error, frames, "the acoustic model failed");
            SpeechError::Internal
        };
        let output = self
            .model
            .run_one(input.into(), Some(options))
            .map_err(|error| failed(&error))?;
        let output: NdTensor<f32, 3> = output.try_into().map_err(|error| failed(&error))?;
        if output.size(2) != CLASSES {
            return Err(SpeechError::Model(format!(
                "{FILE} gives {} classes, not {CLASSES}; it belongs to another version",
                output.size(2)
            )));
        }
        Ok(Posteriors::new(output.to_vec()))
    }
}
