//! Transcribing: take a recording in, decode it, set the money aside, let the engine listen, settle. Written once for
//! whole answers, streams and the items of batches. A live session listens with a `LiveEar` and pays by a `LiveMeter`.

mod live_ear;
mod live_meter;
mod request;
mod sound;
mod spool;

use std::time::Instant;

use sauti_audio::Channels;
use sauti_speech::{Booking, Job, TranscribeHandle, TranscribeRequest, Transcript};
use sauti_store::Operation;

pub use live_ear::{LiveEar, LiveHeard};
pub use live_meter::{LiveMeter, LivePaid};
pub use request::{ResponseFormat, TranscriptionFields, TranscriptionRequest};
pub use sound::Sound;
pub use spool::{Source, Spool, SpoolError, Upload, open_unnamed};

use super::money::{Bill, Hold};
use super::{Payer, ServiceError, vocabularies};
use crate::app::App;
use crate::telemetry::metrics;

/// Counts sound towards the seconds a minute of whoever brings it.
pub async fn take_audio(app: &App, actor: &str, seconds: f64) -> Result<(), ServiceError> {
    let taken = app.rates.take_audio(actor, seconds).await;
    taken.map_err(|retry_after_s| ServiceError::TooMuchAudio { retry_after_s })
}

/// A recording that the engine listens to, and the money for it. Dropped, it costs nothing.
#[derive(Debug)]
pub struct Transcribing {
    pub handle: TranscribeHandle,
    pub hold: Hold,
    pub bill: Bill,
    channels: Channels,
    started: Instant,
}

impl Transcribing {
    /// Sets the money aside and begins. What was paid for before is done again free of charge.
    pub async fn start(
        app: &App,
        payer: &Payer,
        job: Job,
        request: &TranscriptionRequest,
        sound: Sound,
        booking: Option<Booking>,
        is_paid: bool,
    ) -> Result<Transcribing, ServiceError> {
        let vocabulary = request.vocabulary.as_deref();
        let vocabulary = vocabularies::named(app, &payer.workspace_id, vocabulary).await?;
        let channels = request.channels;
        let mut bill = Bill::transcription(&app.config.prices, sound.seconds, channels);
        let hold = match is_paid {
            true => {
                bill.amount_micro = 0;
                Hold::paid(app, payer).await?
            }
            false => Hold::reserve(app, payer, &bill).await?,
        };
        let started = Instant::now();
        let heard = TranscribeRequest {
            samples: sound.samples,
            second_channel: sound.second_channel,
            vocabulary,
            ..request.for_engine()
        };
        let handle = app.engine.transcribe(job, heard, booking)?;
        Ok(Transcribing {
            handle,
            hold,
            bill,
            channels,
            started,
        })
    }

    /// The whole transcript, with what is owed for it.
    pub async fn finish(self) -> Result<(Transcript, Hold, Bill), ServiceError> {
        let transcript = self.handle.finish().await?;
        count(&self.bill, self.started);
        Ok((transcript, self.hold, self.bill))
    }

    /// Takes the money for everything: the caller has every segment. Returns the balance.
    pub async fn settle(self) -> Result<i64, ServiceError> {
        count(&self.bill, self.started);
        Ok(self.hold.settle(&self.bill, None).await?)
    }

    /// What was delivered is paid: takes the money for the sound up to this second, and gives the rest back.
    pub async fn settle_to(self, app: &App, seconds: f64) -> Result<(), ServiceError> {
        if seconds > 0.0 {
            let seconds = seconds.min(self.bill.audio_seconds);
            let bill = Bill::transcription(&app.config.prices, seconds, self.channels);
            self.hold.settle(&bill, None).await?;
        }
        Ok(())
    }
}

fn count(bill: &Bill, started: Instant) {
    metrics::work(
        Operation::Transcription,
        bill.audio_seconds,
        started.elapsed(),
    );
}
