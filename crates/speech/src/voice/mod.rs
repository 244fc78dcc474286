//! The voices: a script in, 24 kHz speech out, window by window.
//!
//! Phonemes go through two encoders, which give durations; frame networks give pitch and, for each
//! STFT bin, how to filter a pulse train and noise at that pitch (see `training/voices`). The
//! products are 8-bit integers; everything else is here, in plain loops.

mod block;
mod catalogue;
mod encoder;
mod filter;
mod gain_control;
#[cfg(test)]
mod golden_tests;
mod level;
mod network;
mod plan;
mod source;
mod speak;
mod stream;
mod timeline;

use std::collections::HashMap;
use std::fmt;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use serde::Deserialize;

use self::catalogue::CatalogueVoice;
pub use self::catalogue::{VoiceInfo, catalogue};
use self::filter::Transform;
use self::network::VoiceNetwork;
use self::plan::Symbols;
use crate::kernels::linear::Scratch;
use crate::model_folder::ModelFolder;
use crate::weights::WeightsFile;
use crate::{SpeakEvent, SpeakRequest, SpeechError};

const FORMAT: &str = "sauti-voices-1";
const WEIGHTS: &str = "voices.safetensors";

/// Weights and tables, shared by every worker.
struct VoiceModel {
    network: VoiceNetwork,
    transform: Transform,
    symbols: Symbols,
    voices: Vec<CatalogueVoice>,
}

/// Speaks scripts. A clone shares the weights and has its own buffers: one for each worker.
pub struct Synthesiser {
    model: Arc<VoiceModel>,
    scratch: Scratch,
}

#[derive(Deserialize)]
struct SymbolTable {
    symbols: HashMap<String, u16>,
}

impl Synthesiser {
    /// Reads `models_dir/voices` and checks every file against the manifest.
    pub fn load(models_dir: &Path) -> Result<Self, SpeechError> {
        let folder = ModelFolder::open(&models_dir.join("voices"), FORMAT)?;
        let voices = catalogue::read(models_dir)?;
        let table: SymbolTable = serde_json::from_slice(&folder.read("symbols.json")?)
            .map_err(|error| SpeechError::Model(format!("symbols.json: {error}")))?;
        let symbols = Symbols::new(table.symbols).map_err(|symbol| {
            SpeechError::Model(format!("symbols.json: {symbol:?} is not a symbol"))
        })?;
        let weights = WeightsFile::parse(WEIGHTS, folder.read(WEIGHTS)?)?;
        let network = VoiceNetwork::load(&weights)?;
        let version = folder.model_version();
        for voice in &voices {
            let id = &voice.info.voice_id;
            if voice.speaker >= network.voices || voice.info.model_version != version {
                return Err(SpeechError::Model(format!(
                    "the catalogue's voice {id:?} is not of the model {version}"
                )));
            }
        }
        if usize::from(symbols.largest()) >= network.symbols() {
            return Err(SpeechError::Model(
                "symbols.json is of another model".into(),
            ));
        }
        let transform = Transform::new();
        let model = VoiceModel {
            network,
            transform,
            symbols,
            voices,
        };
        Ok(Self::over(Arc::new(model)))
    }

    fn over(model: Arc<VoiceModel>) -> Self {
        Self {
            model,
            scratch: Scratch::default(),
        }
    }

    pub fn voices(&self) -> Vec<VoiceInfo> {
        self.model.voices.iter().map(|v| v.info.clone()).collect()
    }

    /// Speaks the script, handing over audio as soon as a window of it is done. When `emit` breaks,
    /// the rest is not computed and no `Done` is sent.
    pub fn speak(
        &mut self,
        request: &SpeakRequest,
        emit: &mut dyn FnMut(SpeakEvent) -> ControlFlow<()>,
    ) -> Result<(), SpeechError> {
        speak::speak(self, request, emit)
    }
}

impl Clone for Synthesiser {
    fn clone(&self) -> Self {
        Self::over(Arc::clone(&self.model))
    }
}

impl fmt::Debug for Synthesiser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Synthesiser")
            .field("voices", &self.model.voices.len())
            .finish_non_exhaustive()
    }
}
