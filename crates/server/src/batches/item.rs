//! One item, from its claim to its report.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use sauti_audio::{AudioError, Channels};
use sauti_service::app::App;
use sauti_service::speaking::{Speaking, SpeechItem};
use sauti_service::telemetry::metrics;
use sauti_service::transcribing::{
    Sound, Spool, SpoolError, Transcribing, TranscriptionFields, Upload,
};
use sauti_service::{Payer, ServiceError};
use sauti_speech::{Job, Priority, SpeechError, rounded_seconds};
use sauti_store::ids::now_us;
use sauti_store::{BLOB_PART_BYTES, BlobId, ClaimedItem, LedgerError, Operation};
use serde_json::{Map, Value, json};

use super::{BatchWorker, fetch};
use crate::written::{TimedMark, TimedWord, write};
use sauti_web::problem::item_error;

/// How often an item may break off before it is given up.
const ATTEMPTS_MAX: i64 = 5;
/// How often to ask whether the item is still wanted.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// Pauses grow with the attempts.
const PAUSE: Duration = Duration::from_secs(2);
/// A recording of two hours on a machine that is busy with everything else.
const TIME_MAX: Duration = Duration::from_secs(6 * 3_600);

/// Why there is no result now.
#[derive(Debug)]
pub enum Stop {
    /// It will not get better.
    Fail(ServiceError),
    /// It may work another time; counted, so that it ends some day.
    Again(ServiceError),
    /// Not the item's fault: there is no room, or we are about to stop.
    Later,
    /// Cancelled, or in other hands.
    Lost,
}

/// What may work another time, by what went wrong and not by how a caller would be told of it.
impl From<ServiceError> for Stop {
    fn from(error: ServiceError) -> Stop {
        match error {
            ServiceError::Ledger(error) => error.into(),
            ServiceError::Store(error) => error.into(),
            ServiceError::Speech(
                SpeechError::Overloaded { .. }
                | SpeechError::WarmingUp { .. }
                | SpeechError::ShuttingDown
                | SpeechError::Model(_),
            )
            | ServiceError::Spool(SpoolError::Disk(_)) => Stop::Later,
            ServiceError::Speech(SpeechError::Internal | SpeechError::DeadlineExceeded)
            | ServiceError::Audio(AudioError::Cancelled | AudioError::Io(_))
            | ServiceError::Internal(_) => Stop::Again(error),
            other => Stop::Fail(other),
        }
    }
}

impl From<LedgerError> for Stop {
    fn from(error: LedgerError) -> Stop {
        match error {
            LedgerError::ClaimLost => Stop::Lost,
            // Released by a sweep that took this process for dead: the item is in other hands too, or soon will be.
            LedgerError::Finished(_) => Stop::Later,
            LedgerError::Store(error) => {
                tracing::warn!(%error, "the store failed under an item of a batch");
                Stop::Later
            }
            LedgerError::UnknownReservation
            | LedgerError::TooMuch { .. }
            | LedgerError::UnknownCharge
            | LedgerError::AlreadyRefunded
            | LedgerError::Unbalanced(_) => Stop::Again(error.into()),
            other => Stop::Fail(other.into()),
        }
    }
}

impl From<sauti_store::StoreError> for Stop {
    fn from(error: sauti_store::StoreError) -> Stop {
        LedgerError::Store(error).into()
    }
}

pub async fn work(worker: &BatchWorker, item: &ClaimedItem) {
    let ended = tokio::select! {
        ended = attempt(worker, item) => ended,
        () = lost(&worker.app, item) => Err(Stop::Lost),
    };
    let store = &worker.app.store;
    let pause = PAUSE * u32::try_from(item.attempts).unwrap_or(1);
    let (ending, reported) = match ended {
        Ok(()) => ("done", drop_input(worker, item).await),
        Err(Stop::Lost) => ("lost", Ok(())),
        Err(Stop::Later) => ("put_back", store.put_item_back(item, PAUSE, false).await),
        Err(Stop::Again(error)) => {
            // Logged and counted each time; the customer is told of the last.
            let error = item_error(error);
            match item.attempts < ATTEMPTS_MAX {
                true => ("put_back", store.put_item_back(item, pause, true).await),
                false => ("failed", fail(worker, item, &error).await),
            }
        }
        Err(Stop::Fail(error)) => ("failed", fail(worker, item, &item_error(error)).await),
    };
    metrics::batch_item(item.operation, ending);
    if let Err(error) = reported {
        // The sweep after this process's end puts it right at the latest.
        tracing::error!(%error, item = %item.id, "the end of an item was not written down");
    }
}

async fn fail(
    worker: &BatchWorker,
    item: &ClaimedItem,
    error: &str,
) -> Result<(), sauti_store::StoreError> {
    match worker.app.store.fail_item(item, error).await? {
        true => drop_input(worker, item).await,
        false => Ok(()),
    }
}

/// A recording is not kept after it was read.
async fn drop_input(
    worker: &BatchWorker,
    item: &ClaimedItem,
) -> Result<(), sauti_store::StoreError> {
    match &item.input_id {
        None => Ok(()),
        Some(input_id) => worker.app.store.delete_blob(input_id).await,
    }
}

/// Completes when the item is not ours any more.
async fn lost(app: &App, item: &ClaimedItem) {
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        // A store that does not answer proves nothing.
        if let Ok(false) = app.store.holds_item(item).await {
            return;
        }
    }
}

async fn attempt(worker: &BatchWorker, item: &ClaimedItem) -> Result<(), Stop> {
    if item.key_revoked {
        return Err(Stop::Fail(ServiceError::KeyRevoked));
    }
    if item.deadline_us < now_us() {
        return Err(Stop::Fail(ServiceError::BatchOverdue));
    }
    if item.attempts > ATTEMPTS_MAX {
        return Err(Stop::Fail(ServiceError::ItemBrokeOff));
    }
    match item.operation {
        Operation::Speech => speak(&worker.app, item).await,
        Operation::Transcription => transcribe(worker, item).await,
    }
}

fn job(item: &ClaimedItem) -> Job {
    Job {
        // Not the workspace's own line: its callers must find their places free.
        tenant: format!("{} in batches", item.workspace_id),
        deadline: Instant::now() + TIME_MAX,
        priority: Priority::Background,
    }
}

async fn speak(app: &App, item: &ClaimedItem) -> Result<(), Stop> {
    let wanted = SpeechItem::parse(&item.request)?;
    let timestamps = wanted.timestamps();
    let request = wanted.request(&app.engine.voices())?;
    let lexicon = app.lexicons.of(&app.store, &item.workspace_id).await?;
    let limits = &app.config.limits;
    let reading = app.reader.read(limits, request.passage(), &lexicon)?;
    let speaking = Speaking {
        app,
        payer: &Payer::of_item(item),
        request: &request,
        reading: Arc::clone(&reading),
        job: job(item),
    };
    let unpaid = speaking.speak(false).await?;
    let output_id = keep(app, item, &unpaid.speech.audio).await?;
    let mut answer = json!({
        "content_type": request.format.content_type(),
        "output_format": request.format.name(),
        "voice_id": request.voice_id,
        "seconds": rounded_seconds(unpaid.speech.seconds),
        "bytes": unpaid.speech.audio.len(),
        "normalised_text": reading.script.spoken(),
        "units": unpaid.bill.units,
        "cached": unpaid.bill.cached,
    });
    if timestamps {
        let (speech, script) = (&unpaid.speech, &reading.script);
        let words: Vec<_> = speech.words(script).map(TimedWord::from).collect();
        let marks: Vec<_> = speech.marks(script).map(TimedMark::from).collect();
        answer["words"] = json!(words);
        answer["marks"] = json!(marks);
    }
    let finished = item.finished(answer.to_string(), Some(output_id.clone()));
    let settled = unpaid.settle_item(finished).await.map_err(Stop::from);
    if settled.is_err() {
        app.store.delete_blob(&output_id).await?;
    }
    settled
}

/// Writes a sound down in parts, under a name that becomes valid with the item's answer.
async fn keep(app: &App, item: &ClaimedItem, audio: &Bytes) -> Result<BlobId, Stop> {
    let output_id = BlobId::generate();
    for (part, bytes) in audio.chunks(BLOB_PART_BYTES).enumerate() {
        app.store
            .add_blob_part(&item.batch_id, &output_id, part as i64, bytes.to_vec())
            .await?;
    }
    Ok(output_id)
}

async fn transcribe(worker: &BatchWorker, item: &ClaimedItem) -> Result<(), Stop> {
    let app = &worker.app;
    let fields: Map<String, Value> = serde_json::from_str(&item.request)
        .map_err(|_| ServiceError::internal("an item's request is not JSON"))?;
    let wanted = TranscriptionFields::of_json(&fields);
    let wanted = wanted.check().map_err(ServiceError::Fields)?;
    let upload = recording(worker, item, &fields).await?;
    let sound = decoded(worker, upload, wanted.channels).await?;
    let payer = Payer::of_item(item);
    let transcribing =
        Transcribing::start(app, &payer, job(item), &wanted, sound, None, false).await?;
    let (transcript, hold, bill) = transcribing.finish().await?;
    let (content_type, result) = write(&wanted, &transcript);
    let answer = json!({
        "content_type": content_type,
        "seconds": rounded_seconds(bill.audio_seconds),
        "units": bill.units,
        "result": result,
    });
    let finished = item.finished(answer.to_string(), None);
    Ok(hold.settle_item(&bill, finished).await?)
}

async fn decoded(worker: &BatchWorker, upload: Upload, channels: Channels) -> Result<Sound, Stop> {
    let turn = worker.decoding.acquire().await;
    let _turn = turn.map_err(ServiceError::internal)?;
    Ok(Sound::decode(&worker.app, upload, channels).await?)
}

async fn recording(
    worker: &BatchWorker,
    item: &ClaimedItem,
    fields: &Map<String, Value>,
) -> Result<Upload, Stop> {
    let spool_dir = worker.app.spool_dir();
    let text = |name: &str| fields.get(name).and_then(Value::as_str);
    if let Some(url) = text("url") {
        // The operator may have taken an origin off the list since the batch came in.
        if !super::is_allowed(url, &worker.app.config.batches.url_origins) {
            return Err(Stop::Fail(ServiceError::OriginNotAllowed));
        }
        let bytes_max = worker.app.config.limits.upload_bytes_max;
        return fetch::fetch(&worker.connector, url, bytes_max, &spool_dir).await;
    }
    let mut spool = Spool::new(&spool_dir, u64::MAX);
    if let Some(input_id) = &item.input_id {
        let mut part = 0;
        while let Some(bytes) = worker.app.store.blob_part(input_id, part).await? {
            spool.add(&bytes).await.map_err(ServiceError::from)?;
            part += 1;
        }
    }
    let finished = spool.finish(text("content_type")).await;
    Ok(finished.map_err(ServiceError::from)?)
}
