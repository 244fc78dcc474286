//! The recogniser.

use std::ops::ControlFlow;
use std::path::Path;

use crate::{SpeechError, TranscribeEvent, TranscribeRequest};

#[derive(Debug, Clone)]
pub struct Recogniser {}

impl Recogniser {
    pub fn load(models_dir: &Path) -> Result<Self, SpeechError> {
        Err(SpeechError::Model(format!(
            "no recogniser in {}",
            models_dir.display()
        )))
    }

    pub fn transcribe(
        &mut self,
        _request: &TranscribeRequest,
        _emit: &mut dyn FnMut(TranscribeEvent) -> ControlFlow<()>,
    ) -> Result<(), SpeechError> {
        Err(SpeechError::Internal)
    }
}
