//! A bounded queue in front of worker threads that own the models.
//!
//! Fair between tenants, quick for short jobs, honest when full. A caller that drops its handle
//! frees its place; a job past its deadline is given up wherever it is; a panic costs one job.

mod admission;
mod backend;
mod background;
mod handle;
mod pieces;
mod pool;
mod pool_state;
mod queue;
mod stats;
#[cfg(test)]
mod tests;
mod wait;
mod work;
mod worker;

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

pub use admission::Booking;
use backend::First;
use handle::{ChannelHeard, EVENTS_MAX};
pub(crate) use handle::{SpeakEvents, TranscribeEvents};
use pool::Pool;
use pool_state::PoolConfig;
pub use pool_state::Readiness;
use queue::Bounds;
use stats::JobKind;
pub use stats::{EngineStats, KindStats, Refusals};
use tokio::sync::mpsc;
use wait::Patience;
use work::{EventSender, RecordingPiece, Task};

use crate::recogniser::Recogniser;
use crate::voice::VoiceInfo;
use crate::{
    Job, SpeakHandle, SpeakRequest, SpeechError, TranscribeHandle, TranscribeRequest, voice,
};

#[derive(Debug, Clone)]
pub struct EngineConfig {
    /// The folder with the weights and the voices' catalogue.
    pub models_dir: PathBuf,
    /// Threads, each working on one job at a time; 0 means one more than there are cores. Never
    /// fewer than two: one of them stays free of long recordings.
    pub workers: usize,
    /// Jobs that may wait.
    pub queue_max: usize,
    /// Jobs of one tenant that may wait.
    pub tenant_queue_max: usize,
    /// Decoded audio that may wait, in seconds; an hour takes 115 MB, on the disk where recordings have a folder.
    pub queued_audio_seconds_max: f64,
    /// How many seconds a job may be expected to wait before it begins; one that would wait longer is refused.
    pub wait_s_max: f64,
    /// Added to that for each second of a long recording.
    pub wait_per_audio_second: f64,
    /// Recordings up to this many seconds go with speech, ahead of the long ones. Those are read
    /// in pieces of about a minute, on as many workers as are free.
    pub short_recording_seconds: f64,
}

impl Default for EngineConfig {
    fn default() -> Self {
        EngineConfig {
            models_dir: PathBuf::from("models"),
            workers: 0,
            queue_max: 256,
            tenant_queue_max: 64,
            queued_audio_seconds_max: 4.0 * 3600.0,
            wait_s_max: 3.0,
            wait_per_audio_second: 0.25,
            short_recording_seconds: 60.0,
        }
    }
}

/// The engine; clones share it. When the last one goes, the workers stop.
#[derive(Debug, Clone)]
pub struct Engine {
    pool: Arc<Pool>,
    voices: Arc<[VoiceInfo]>,
    models: First,
}

impl Engine {
    /// Returns as soon as the catalogue is read; the models load and warm up on the workers.
    pub fn start(config: EngineConfig) -> Result<Engine, SpeechError> {
        let voices: Arc<[VoiceInfo]> = voice::catalogue(&config.models_dir)?.into();
        let warm_up_voice = voices
            .first()
            .ok_or_else(|| SpeechError::Model("the catalogue lists no voice".to_owned()))?
            .voice_id
            .clone();
        let models = First::default();
        let load = backend::loader(config.models_dir.clone(), warm_up_voice, models.clone());
        let pool = Pool::start(config.pool(), load)?;
        Ok(Engine {
            pool: Arc::new(pool),
            voices,
            models,
        })
    }

    pub fn readiness(&self) -> Readiness {
        self.pool.readiness()
    }

    /// Known from the start, before any weights are loaded.
    pub fn voices(&self) -> Arc<[VoiceInfo]> {
        self.voices.clone()
    }

    /// A recogniser over the engine's own weights, for live streams, which keep state of their own
    /// and cannot queue. `None` until the models are loaded.
    pub fn recogniser(&self) -> Option<Recogniser> {
        let models = self.models.try_lock()?;
        models.as_ref().map(|(_, recogniser)| recogniser.clone())
    }

    pub fn stats(&self) -> EngineStats {
        self.pool.stats()
    }

    /// Keeps a place for a text of this many spoken characters, or refuses at once. The place is given up when the
    /// booking is dropped. While the engine cannot work at all it promises nothing, and the job itself is refused.
    pub fn book_speech(&self, tenant: &str, characters: usize) -> Result<Booking, SpeechError> {
        self.pool.book(tenant, JobKind::Speech, characters as f64)
    }

    /// The same for a recording of about this many seconds.
    pub fn book_transcription(&self, tenant: &str, seconds: f64) -> Result<Booking, SpeechError> {
        self.pool.book(tenant, JobKind::Transcription, seconds)
    }

    /// With a booking the job is not refused for want of room; without one, it asks for room itself.
    pub fn speak(
        &self,
        job: Job,
        request: SpeakRequest,
        booking: Option<Booking>,
    ) -> Result<SpeakHandle, SpeechError> {
        if !self.voices.iter().any(|v| v.voice_id == request.voice_id) {
            return Err(SpeechError::UnknownVoice(request.voice_id));
        }
        speak(&self.pool, job, request, booking)
    }

    /// As with `speak`; a recording much longer than was booked has to ask again.
    pub fn transcribe(
        &self,
        job: Job,
        request: TranscribeRequest,
        booking: Option<Booking>,
    ) -> Result<TranscribeHandle, SpeechError> {
        transcribe(&self.pool, job, request, booking)
    }

    /// Refuses new jobs, finishes those let in, and cuts off at the deadline what is left.
    /// `true` when nothing had to be cut off.
    pub async fn drain(&self, deadline: Instant) -> bool {
        self.pool.drain(deadline).await
    }
}

impl EngineConfig {
    fn pool(&self) -> PoolConfig {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        let workers = match self.workers {
            0 => cores() + 1,
            asked => asked,
        };
        PoolConfig {
            workers: workers.max(2),
            bounds: Bounds {
                jobs_max: self.queue_max.max(1),
                tenant_jobs_max: self.tenant_queue_max.max(1),
                held_seconds_max: self.queued_audio_seconds_max,
            },
            patience: Patience {
                wait_s_max: self.wait_s_max,
                wait_per_audio_second: self.wait_per_audio_second,
            },
            short_seconds_max: self.short_recording_seconds,
        }
    }
}

fn speak(
    pool: &Pool,
    job: Job,
    request: SpeakRequest,
    booking: Option<Booking>,
) -> Result<SpeakHandle, SpeechError> {
    let (sender, receiver) = mpsc::channel(EVENTS_MAX);
    let task = Task::Speak(request, EventSender::new(sender));
    let place = pool.submit(&job, 0.0, task, booking)?;
    let events = SpeakEvents {
        receiver,
        place,
        ended: false,
    };
    Ok(SpeakHandle { events })
}

fn transcribe(
    pool: &Pool,
    job: Job,
    request: TranscribeRequest,
    booking: Option<Booking>,
) -> Result<TranscribeHandle, SpeechError> {
    let (mut pieces, mut channels) = (Vec::new(), Vec::new());
    let (mut held_samples, is_separate) = (0, request.second_channel.is_some());
    for (channel, samples) in (1..).zip(request.channels()) {
        held_samples += samples.len();
        let mut receivers = VecDeque::new();
        for samples in pieces::cut(samples).map_err(SpeechError::unreadable)? {
            let (sender, receiver) = mpsc::channel(EVENTS_MAX);
            receivers.push_back((samples.start as f64 / work::RECORDING_HZ, receiver));
            pieces.push(RecordingPiece {
                channel,
                samples,
                answer: EventSender::new(sender),
            });
        }
        channels.push(ChannelHeard::new(is_separate.then_some(channel), receivers));
    }
    let diarize = request.diarize;
    // Both sides of a call come along together.
    pieces.sort_by_key(|piece| piece.samples.start);
    let held_seconds = held_samples as f64 / work::RECORDING_HZ;
    let task = Task::Transcribe(Arc::new(request), pieces.into());
    let events = TranscribeEvents {
        place: pool.submit(&job, held_seconds, task, booking)?,
        channels,
        diarize,
        told_apart: None,
        ended: false,
    };
    Ok(TranscribeHandle { events })
}
