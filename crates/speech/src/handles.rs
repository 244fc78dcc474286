//! The caller's ends of running jobs.

use std::time::{Duration, Instant};

use crate::engine::{SpeakEvents, TranscribeEvents};
use crate::{SpeakEvent, SpeechError, TranscribeEvent, Transcript, Word};

/// The caller's end of a running speech job. Dropping it cancels the job.
#[derive(Debug)]
pub struct SpeakHandle {
    pub(crate) events: SpeakEvents,
}

impl SpeakHandle {
    /// The next event; `None` after `Done` or an error. Needs a tokio runtime with its timer on.
    pub async fn next(&mut self) -> Option<Result<SpeakEvent, SpeechError>> {
        self.events.next().await
    }

    /// Waits for everything the voice says.
    pub async fn finish(mut self) -> Result<Spoken, SpeechError> {
        let started = Instant::now();
        let mut spoken = Spoken::default();
        while let Some(event) = self.next().await {
            match event? {
                SpeakEvent::Audio { samples, words } => {
                    if spoken.samples.is_empty() {
                        spoken.first_sound = started.elapsed();
                    }
                    spoken.samples.extend_from_slice(&samples);
                    spoken.words.extend(words);
                }
                SpeakEvent::Done { seconds } => {
                    spoken.seconds = seconds;
                    spoken.took = started.elapsed();
                    return Ok(spoken);
                }
            }
        }
        tracing::error!("the engine stopped in the middle of a text");
        Err(SpeechError::Internal)
    }
}

/// Everything a voice said for one request.
#[derive(Debug, Clone, Default)]
pub struct Spoken {
    pub samples: Vec<f32>,
    pub words: Vec<Word>,
    pub seconds: f64,
    /// From when it was waited for.
    pub first_sound: Duration,
    pub took: Duration,
}

/// The caller's end of a running transcription. Dropping it cancels the job.
#[derive(Debug)]
pub struct TranscribeHandle {
    pub(crate) events: TranscribeEvents,
}

impl TranscribeHandle {
    /// The next event; `None` after `Done` or an error. Needs a tokio runtime with its timer on.
    pub async fn next(&mut self) -> Option<Result<TranscribeEvent, SpeechError>> {
        self.events.next().await
    }

    /// Waits for the whole transcript.
    pub async fn finish(self) -> Result<Transcript, SpeechError> {
        self.finish_with(|_| {}).await
    }

    /// The same; `progress` hears how many seconds are done.
    pub async fn finish_with(
        mut self,
        mut progress: impl FnMut(f64),
    ) -> Result<Transcript, SpeechError> {
        while let Some(event) = self.next().await {
            match event? {
                TranscribeEvent::Segment { done_seconds, .. } => progress(done_seconds),
                TranscribeEvent::Done(transcript) => return Ok(transcript),
            }
        }
        tracing::error!("the engine stopped in the middle of a recording");
        Err(SpeechError::Internal)
    }
}
