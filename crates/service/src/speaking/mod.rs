//! Speaking: read a text, look for its sound, else set the money aside, let the engine speak, and
//! settle. Written once for whole answers, streams, previews and the items of batches.

mod reading;
mod request;
mod stream;

use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use sauti_audio::OutputFormat;
use sauti_speech::{Booking, Job, Priority, SpeakHandle, SpeakRequest, TranscribeEvent};
use sauti_store::{FinishedItem, LedgerError, Operation};

pub use reading::{Passage, Reader, Reading};
pub use request::{SpeechItem, SpeechRequest, characters_max, format_named, looks_like_ssml};
pub use stream::{SpeechPiece, SpeechProgress, SpeechStream};

use super::money::{self, Bill, Hold, Keep};
use super::{Payer, ServiceError};
use crate::app::App;
use crate::cache::CachedSpeech;
use crate::self_check::{self, SelfCheck};
use crate::telemetry::metrics;

/// One text that somebody pays for.
#[derive(Debug)]
pub struct Speaking<'a> {
    pub app: &'a App,
    pub payer: &'a Payer,
    pub request: &'a SpeechRequest,
    pub reading: Arc<Reading>,
    pub job: Job,
}

/// Speech that is ready and not paid for yet. Dropped, it costs nothing.
#[derive(Debug)]
pub struct Unpaid<'a> {
    pub speech: Arc<CachedSpeech>,
    pub bill: Bill,
    payment: Payment<'a>,
}

#[derive(Debug)]
enum Payment<'a> {
    /// It was there: one durable step.
    Charge(&'a App, &'a Payer),
    Held(Hold),
}

/// Somebody waits for the answer.
pub fn interactive(app: &App, tenant: &str) -> Job {
    Job {
        tenant: tenant.to_owned(),
        deadline: app.deadline(),
        priority: Priority::Interactive,
    }
}

impl<'a> Speaking<'a> {
    /// Finds the sound or makes it. What was paid for before is done again free of charge.
    pub async fn speak(self, is_paid: bool) -> Result<Unpaid<'a>, ServiceError> {
        let (app, payer) = (self.app, self.payer);
        let key = self.reading.key(Some(&payer.workspace_id), self.request);
        let found = app.cache.get(key).await;
        metrics::cache(found.is_some());
        let mut bill = self.reading.bill(&app.config.prices, found.is_some());
        if is_paid {
            bill.amount_micro = 0;
        }
        let (speech, payment) = match found {
            Some(speech) if is_paid => (speech, Payment::Held(Hold::paid(app, payer).await?)),
            Some(speech) => (speech, Payment::Charge(app, payer)),
            None => {
                let (hold, booking) = self.set_aside(&bill, is_paid).await?;
                let handle = self.begin(booking)?;
                let speech = Arc::new(make(app, handle, self.request, &self.reading).await?);
                app.cache.put(key, Arc::clone(&speech));
                (speech, Payment::Held(hold))
            }
        };
        bill.audio_seconds = speech.seconds;
        Ok(Unpaid {
            speech,
            bill,
            payment,
        })
    }

    /// Always made anew: a stream is asked for by whoever wants the first sound soon.
    pub async fn stream(self) -> Result<SpeechStream, ServiceError> {
        SpeechStream::start(self).await
    }

    /// A place in the queue first, for whoever waits: a full queue must refuse before money moves.
    async fn set_aside(
        &self,
        bill: &Bill,
        is_paid: bool,
    ) -> Result<(Hold, Option<Booking>), ServiceError> {
        let app = self.app;
        let booking = match self.job.priority {
            Priority::Background => None,
            _ => {
                let tenant = &self.job.tenant;
                Some(app.engine.book_speech(tenant, self.reading.characters)?)
            }
        };
        let hold = match is_paid {
            true => Hold::paid(app, self.payer).await?,
            false => Hold::reserve(app, self.payer, bill).await?,
        };
        Ok((hold, booking))
    }

    /// Hands the script to the engine. Dropping the handle gives the place in the queue back.
    fn begin(&self, booking: Option<Booking>) -> Result<SpeakHandle, ServiceError> {
        let wanted = SpeakRequest {
            voice_id: self.request.voice_id.clone(),
            script: self.reading.script.clone(),
            direction: self.request.direction,
        };
        Ok(self.app.engine.speak(self.job.clone(), wanted, booking)?)
    }
}

impl Unpaid<'_> {
    /// Takes the money; with an answer to keep, both happen or neither. Returns the balance.
    pub async fn settle(self, keep: Option<Keep>) -> Result<i64, LedgerError> {
        match self.payment {
            Payment::Charge(app, payer) => money::charge(app, payer, &self.bill, keep).await,
            Payment::Held(hold) => hold.settle(&self.bill, keep).await,
        }
    }

    /// Takes the money for an item of a batch and writes its answer down: both or neither.
    pub async fn settle_item(self, item: FinishedItem) -> Result<(), LedgerError> {
        let hold = match self.payment {
            Payment::Charge(app, payer) => Hold::reserve(app, payer, &self.bill).await?,
            Payment::Held(hold) => hold,
        };
        hold.settle_item(&self.bill, item).await
    }
}

/// Speaks without asking for money, for what the service itself wants to say.
pub async fn speak_free(
    app: &App,
    job: Job,
    request: &SpeechRequest,
    reading: &Reading,
) -> Result<Arc<CachedSpeech>, ServiceError> {
    let key = reading.key(None, request);
    if let Some(found) = app.cache.get(key).await {
        return Ok(found);
    }
    let wanted = SpeakRequest {
        voice_id: request.voice_id.clone(),
        script: reading.script.clone(),
        direction: request.direction,
    };
    let handle = app.engine.speak(job, wanted, None)?;
    let speech = Arc::new(make(app, handle, request, reading).await?);
    app.cache.put(key, Arc::clone(&speech));
    Ok(speech)
}

/// Collects everything the engine says and encodes it.
async fn make(
    app: &App,
    handle: SpeakHandle,
    request: &SpeechRequest,
    reading: &Reading,
) -> Result<CachedSpeech, ServiceError> {
    let started = Instant::now();
    let spoken = handle.finish().await?;
    metrics::work(Operation::Speech, spoken.seconds, started.elapsed());
    let rate_hz = request.rate_hz(&app.engine.voices());
    let audio = encode(spoken.samples, rate_hz, request.format).await?;
    Ok(CachedSpeech::new(
        &reading.script,
        spoken.seconds,
        &spoken.words,
        audio,
    ))
}

async fn encode(
    samples: Vec<f32>,
    rate_hz: u32,
    format: OutputFormat,
) -> Result<Bytes, ServiceError> {
    let encoded =
        tokio::task::spawn_blocking(move || sauti_audio::encode_speech(&samples, rate_hz, format));
    match encoded.await {
        Ok(Ok(bytes)) => Ok(Bytes::from(bytes)),
        Ok(Err(error)) => Err(ServiceError::internal(error)),
        Err(error) => Err(ServiceError::internal(error)),
    }
}

/// Lets our recogniser listen to the finished sound, as the caller will get it.
pub async fn listen(
    app: &App,
    tenant: &str,
    format: OutputFormat,
    audio: &Bytes,
    said: &str,
) -> Result<SelfCheck, ServiceError> {
    let audio = audio.to_vec();
    let recording = tokio::task::spawn_blocking(move || self_check::recording(audio, format));
    let recording = recording
        .await
        .map_err(ServiceError::internal)?
        .map_err(ServiceError::internal)?;
    let job = Job {
        priority: Priority::Continued,
        ..interactive(app, tenant)
    };
    let mut handle = app.engine.transcribe(job, recording, None)?;
    while let Some(event) = handle.next().await {
        if let TranscribeEvent::Done(transcript) = event? {
            return Ok(SelfCheck::compare(said, transcript.text));
        }
    }
    Err(ServiceError::internal(
        "the engine stopped in the middle of a recording",
    ))
}
