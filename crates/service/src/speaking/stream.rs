//! Speech that is handed over while it is being made. What was delivered is paid: a stream that
//! ends early, whoever ends it, is settled by the words that were handed over.

use std::sync::Arc;
use std::time::Instant;

use sauti_audio::StreamEncoder;
use sauti_speech::{ScriptTimes, SpeakEvent, SpeakHandle, Word};
use sauti_store::{LedgerError, Operation};

use super::{Reading, Speaking};
use crate::ServiceError;
use crate::app::App;
use crate::money::{Bill, Hold};
use crate::telemetry::metrics;

/// How far the speech has come when a piece has been handed over.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SpeechProgress {
    /// Of the spoken text, the word that is being said included.
    pub characters: usize,
    pub seconds: f64,
}

/// Some sound, the words that end in it, and the marks that are reached with them.
#[derive(Debug)]
pub struct SpeechPiece {
    pub bytes: Vec<u8>,
    pub words: Vec<Word>,
    /// Each with its second.
    pub marks: Vec<(String, f64)>,
    pub progress: SpeechProgress,
}

/// Everything a running stream owns. Dropping it frees the engine's place and the money on hold.
pub struct SpeechStream {
    app: App,
    handle: SpeakHandle,
    /// None once the sound is complete.
    encoder: Option<StreamEncoder>,
    /// The first event is waited for, so that what fails before it still gets a proper refusal.
    first: Option<SpeakEvent>,
    characters_by_word: Vec<usize>,
    words: usize,
    reading: Arc<Reading>,
    times: ScriptTimes,
    marks_told: usize,
    samples: usize,
    rate_hz: u32,
    hold: Hold,
    bill: Bill,
    started: Instant,
}

impl SpeechStream {
    pub(super) async fn start(speaking: Speaking<'_>) -> Result<SpeechStream, ServiceError> {
        let started = Instant::now();
        let (app, request) = (speaking.app, speaking.request);
        let bill = speaking.reading.bill(&app.config.prices, false);
        let (hold, booking) = speaking.set_aside(&bill, false).await?;
        let mut handle = speaking.begin(booking)?;
        let rate_hz = request.rate_hz(&app.engine.voices());
        let encoder =
            StreamEncoder::for_speech(request.format, rate_hz).map_err(ServiceError::internal)?;
        let first = match handle.next().await {
            Some(event) => event?,
            None => return Err(ServiceError::internal("the engine said nothing")),
        };
        metrics::first_sound(started.elapsed());
        Ok(SpeechStream {
            app: app.clone(),
            handle,
            encoder: Some(encoder),
            first: Some(first),
            characters_by_word: speaking.reading.characters_by_word(),
            words: 0,
            reading: speaking.reading,
            times: ScriptTimes::default(),
            marks_told: 0,
            samples: 0,
            rate_hz,
            hold,
            bill,
            started,
        })
    }

    /// What the whole of it costs.
    pub fn bill(&self) -> &Bill {
        &self.bill
    }

    /// What is available besides the money on hold.
    pub fn available_micro(&self) -> i64 {
        self.hold.available_micro()
    }

    /// The next piece, which may be empty; none after the last.
    pub async fn next(&mut self) -> Result<Option<SpeechPiece>, ServiceError> {
        let Some(encoder) = self.encoder.take() else {
            return Ok(None);
        };
        let event = match self.first.take() {
            Some(first) => first,
            None => match self.handle.next().await {
                Some(event) => event?,
                None => {
                    let cause = "the engine stopped in the middle of a text";
                    return Err(ServiceError::internal(cause));
                }
            },
        };
        match event {
            SpeakEvent::Audio { samples, words } => {
                self.words += words.len();
                self.samples += samples.len();
                self.times.add(&self.reading.script, &words);
                let (encoder, bytes) = push(encoder, samples).await?;
                self.encoder = Some(encoder);
                Ok(Some(SpeechPiece {
                    bytes,
                    words,
                    marks: self.new_marks(None),
                    progress: self.progress(),
                }))
            }
            SpeakEvent::Done { seconds } => {
                metrics::work(Operation::Speech, seconds, self.started.elapsed());
                self.bill.audio_seconds = seconds;
                Ok(Some(SpeechPiece {
                    bytes: encoder.finish(),
                    words: Vec::new(),
                    marks: self.new_marks(Some(seconds)),
                    progress: SpeechProgress {
                        characters: self.bill.units as usize,
                        seconds,
                    },
                }))
            }
        }
    }

    /// The marks that are reached and have not been told.
    fn new_marks(&mut self, seconds: Option<f64>) -> Vec<(String, f64)> {
        let reached = self.times.marks(&self.reading.script, seconds);
        let new = reached.skip(self.marks_told);
        let new: Vec<_> = new.map(|(name, time)| (name.to_owned(), time)).collect();
        self.marks_told += new.len();
        new
    }

    fn progress(&self) -> SpeechProgress {
        let all = self.bill.units as usize;
        let begun = self.characters_by_word.get(self.words);
        SpeechProgress {
            characters: begun.copied().unwrap_or(all).min(all),
            seconds: self.samples as f64 / f64::from(self.rate_hz),
        }
    }

    /// Takes the money for what was delivered and gives the rest back. Nothing delivered, nothing
    /// to pay. Returns the bill and the balance.
    pub async fn settle(
        self,
        delivered: SpeechProgress,
    ) -> Result<Option<(Bill, i64)>, LedgerError> {
        if delivered.characters == 0 {
            return Ok(None);
        }
        let mut bill = Bill::speech(&self.app.config.prices, delivered.characters, false);
        bill.audio_seconds = delivered.seconds;
        let balance_micro = self.hold.settle(&bill, None).await?;
        Ok(Some((bill, balance_micro)))
    }
}

async fn push(
    mut encoder: StreamEncoder,
    samples: Vec<f32>,
) -> Result<(StreamEncoder, Vec<u8>), ServiceError> {
    tokio::task::spawn_blocking(move || {
        let bytes = encoder.push(&samples);
        (encoder, bytes)
    })
    .await
    .map_err(ServiceError::internal)
}
