//! What a worker owns: the two models, ready to run.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::recogniser::Recogniser;
use crate::voice::Synthesiser;
use crate::{SpeakEvent, SpeakRequest, SpeechError, TranscribeEvent, TranscribeRequest};

pub(super) type Emit<'a, T> = &'a mut dyn FnMut(T) -> ControlFlow<()>;

/// The work itself, behind a trait so that the queue can be tested without models.
pub(super) trait SpeechBackend {
    fn speak(
        &mut self,
        request: &SpeakRequest,
        emit: Emit<'_, SpeakEvent>,
    ) -> Result<(), SpeechError>;

    fn transcribe(
        &mut self,
        request: &TranscribeRequest,
        emit: Emit<'_, TranscribeEvent>,
    ) -> Result<(), SpeechError>;
}

/// Makes a backend on the thread that will own it: at start, and again after a panic.
pub(super) type BackendLoader =
    dyn Fn() -> Result<Box<dyn SpeechBackend>, SpeechError> + Send + Sync;

struct ModelBackend {
    voices: Synthesiser,
    recogniser: Recogniser,
}

impl SpeechBackend for ModelBackend {
    fn speak(
        &mut self,
        request: &SpeakRequest,
        emit: Emit<'_, SpeakEvent>,
    ) -> Result<(), SpeechError> {
        self.voices.speak(request, emit)
    }

    fn transcribe(
        &mut self,
        request: &TranscribeRequest,
        emit: Emit<'_, TranscribeEvent>,
    ) -> Result<(), SpeechError> {
        self.recogniser.transcribe(request, emit)
    }
}

/// The first models read. They never run; every worker gets clones over the same weights.
pub(super) type First = Arc<Mutex<Option<(Synthesiser, Recogniser)>>>;

/// Reads the weights once, whichever worker comes first.
pub(super) fn loader(
    models_dir: PathBuf,
    warm_up_voice: String,
    first: First,
) -> Box<BackendLoader> {
    Box::new(move || {
        let (voices, recogniser) = {
            let mut first = first.lock();
            match &*first {
                Some(loaded) => loaded.clone(),
                None => {
                    let voices = Synthesiser::load(&models_dir)?;
                    let recogniser = Recogniser::load(&models_dir)?;
                    first.insert((voices, recogniser)).clone()
                }
            }
        };
        let mut models = ModelBackend { voices, recogniser };
        warm_up(&mut models, &warm_up_voice)?;
        Ok(Box::new(models))
    })
}

/// One sentence and one second through both models, so that the first caller waits for no page
/// fault and a model that cannot run is found before anybody asks.
fn warm_up(models: &mut ModelBackend, voice_id: &str) -> Result<(), SpeechError> {
    let script = sauti_text::Script::from_text("Habari yako.", &sauti_text::Lexicon::builtin())
        .map_err(|error| SpeechError::Model(format!("the warm-up sentence failed: {error}")))?;
    let request = SpeakRequest {
        voice_id: voice_id.to_owned(),
        script,
        direction: crate::Direction::default(),
    };
    let mut spoken = Vec::new();
    models.speak(&request, &mut |event| {
        if let SpeakEvent::Audio { samples, .. } = event {
            spoken.extend(samples);
        }
        ControlFlow::Continue(())
    })?;
    // The recogniser hears what the voice said: silence would stop at the voice detector. Every
    // third sample left out is 24 kHz made 16, rough but speech enough.
    let heard = spoken.iter().enumerate().filter(|(at, _)| at % 3 != 2);
    let request = TranscribeRequest {
        samples: heard
            .map(|(_, s)| (s * 32_767.0) as i16)
            .collect::<Vec<_>>()
            .into(),
        ..TranscribeRequest::default()
    };
    models.transcribe(&request, &mut |_| ControlFlow::Continue(()))
}
