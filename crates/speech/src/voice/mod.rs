//! The voices.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;

use crate::{SpeakEvent, SpeakRequest, SpeechError};

/// What a caller may know of a voice. An id never changes its meaning.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct VoiceInfo {
    pub voice_id: String,
    pub name: String,
    pub language: String,
    pub locale: String,
    pub gender: String,
    pub description: String,
    pub sample_rate: u32,
    pub model_version: String,
    pub licence: String,
    pub quality: BTreeMap<String, f64>,
}

/// The voices of the catalogue file, without any weights.
pub fn catalogue(models_dir: &Path) -> Result<Vec<VoiceInfo>, SpeechError> {
    let path = models_dir.join("voices/catalogue.json");
    Err(SpeechError::Model(format!("{} is missing", path.display())))
}

#[derive(Debug, Clone)]
pub struct Synthesiser {}

impl Synthesiser {
    pub fn load(models_dir: &Path) -> Result<Self, SpeechError> {
        Err(SpeechError::Model(format!(
            "no voices in {}",
            models_dir.display()
        )))
    }

    pub fn speak(
        &mut self,
        _request: &SpeakRequest,
        _emit: &mut dyn FnMut(SpeakEvent) -> ControlFlow<()>,
    ) -> Result<(), SpeechError> {
        Err(SpeechError::Internal)
    }
}
