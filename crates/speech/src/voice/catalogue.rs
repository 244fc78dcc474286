//! The voices a caller can choose from.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::SpeechError;
use crate::model_folder::read_json;

/// What a caller may know of a voice. An id never changes its meaning.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VoiceInfo {
    pub voice_id: String,
    pub name: String,
    pub language: String,
    pub locale: String,
    pub gender: String,
    /// In English.
    pub description: String,
    /// In Swahili, for the console; the English one where it is missing.
    #[serde(default, skip_serializing)]
    pub description_sw: Option<String>,
    pub sample_rate: u32,
    pub model_version: String,
    pub licence: String,
    /// Measured figures, by the name of the test.
    pub quality: BTreeMap<String, f64>,
}

#[derive(Debug, Deserialize)]
struct Catalogue {
    voices: Vec<CatalogueVoice>,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct CatalogueVoice {
    #[serde(flatten)]
    pub info: VoiceInfo,
    /// The model's number for the voice.
    pub speaker: usize,
    /// Makes the voice -16 LUFS on average, measured over the prompts.
    pub gain: f32,
}

/// The voices of the catalogue file, without any weights.
pub fn catalogue(models_dir: &Path) -> Result<Vec<VoiceInfo>, SpeechError> {
    Ok(read(models_dir)?.into_iter().map(|v| v.info).collect())
}

pub(super) fn read(models_dir: &Path) -> Result<Vec<CatalogueVoice>, SpeechError> {
    let path = models_dir.join("voices").join("catalogue.json");
    let catalogue: Catalogue = read_json(&path)?;
    if catalogue.voices.is_empty() {
        return Err(SpeechError::Model(format!(
            "{}: has no voices",
            path.display()
        )));
    }
    Ok(catalogue.voices)
}
