//! The recogniser of one live session, on a thread of its own: it keeps the state of the stream
//! between messages, which a queue of jobs could not.

use std::sync::Arc;
use std::time::Duration;

use sauti_audio::pcm::{f32_from_i16, i16_from_f32};
use sauti_audio::{RawFormat, Resampler, SAMPLE_RATE_HZ};
use sauti_speech::recogniser::{LiveEvent, LiveSession};
use sauti_speech::{Expect, SpeechError};
use tokio::sync::mpsc;

use super::request::TranscriptionRequest;
use crate::app::App;
use crate::service::ServiceError;

/// While the models are loading.
const WARMING_UP_RETRY: Duration = Duration::from_secs(2);
/// Messages the recogniser may lag behind by; past them the socket waits (back-pressure).
const MESSAGES_MAX: usize = 32;

/// What a message of sound, or the end of all sound, brought.
pub struct LiveHeard {
    pub events: Vec<LiveEvent>,
    /// How far into the sound the recogniser is.
    pub seconds: f64,
}

pub struct LiveEar {
    /// `None` once no more sound will come.
    sound: Option<mpsc::Sender<Vec<i16>>>,
    heard: mpsc::UnboundedReceiver<Result<LiveHeard, SpeechError>>,
    format: RawFormat,
    expect: Expect,
    samples: u64,
    /// Half a sample that a message was cut in.
    odd_byte: Option<u8>,
}

impl LiveEar {
    pub fn open(
        app: &App,
        format: RawFormat,
        wanted: &TranscriptionRequest,
    ) -> Result<LiveEar, ServiceError> {
        // The engine's own weights: a live session has state of its own but no models of its own.
        let retry_after = WARMING_UP_RETRY;
        let recogniser = app.engine.recogniser();
        let recogniser = recogniser.ok_or(SpeechError::WarmingUp { retry_after })?;
        let session = LiveSession::new(&recogniser, &wanted.for_engine(Arc::default()))?;
        let (sound, incoming) = mpsc::channel::<Vec<i16>>(MESSAGES_MAX);
        // Unbounded, lest both ends wait for each other; the sound bounds what is heard in it.
        let (outgoing, heard) = mpsc::unbounded_channel();
        let rate_hz = format.rate_hz();
        tokio::task::spawn_blocking(move || recognise(session, rate_hz, incoming, &outgoing));
        Ok(LiveEar {
            sound: Some(sound),
            heard,
            format,
            expect: wanted.expect.clone(),
            samples: 0,
            odd_byte: None,
        })
    }

    /// What is listened for.
    pub fn expect(&self) -> &Expect {
        &self.expect
    }

    /// How much sound came in.
    pub fn seconds(&self) -> f64 {
        self.samples as f64 / f64::from(self.format.rate_hz())
    }

    /// How much sound these bytes are.
    pub fn seconds_in(&self, sound: &[u8]) -> f64 {
        sound.len() as f64 / f64::from(self.format.rate_hz() * self.format.sample_bytes())
    }

    pub async fn push(&mut self, sound: &[u8]) {
        let mut bytes = Vec::with_capacity(sound.len() + 1);
        bytes.extend(self.odd_byte.take());
        bytes.extend_from_slice(sound);
        if bytes.len() % self.format.sample_bytes() as usize != 0 {
            self.odd_byte = bytes.pop();
        }
        let samples = self.format.samples(&bytes);
        self.samples += samples.len() as u64;
        if let Some(sound) = &self.sound {
            // A closed channel means the recogniser failed; `next` brings the reason.
            sound.send(samples).await.ok();
        }
    }

    /// No more sound will come.
    pub fn finish(&mut self) {
        self.sound = None;
    }

    /// What was heard next; `None` after `finish`, when everything was told.
    pub async fn next(&mut self) -> Result<Option<LiveHeard>, ServiceError> {
        match self.heard.recv().await.transpose()? {
            None if self.sound.is_some() => {
                Err(ServiceError::internal("the live recogniser stopped"))
            }
            heard => Ok(heard),
        }
    }
}

fn recognise(
    mut session: LiveSession,
    rate_hz: u32,
    mut incoming: mpsc::Receiver<Vec<i16>>,
    outgoing: &mpsc::UnboundedSender<Result<LiveHeard, SpeechError>>,
) {
    let mut to_16k = (rate_hz != SAMPLE_RATE_HZ).then(|| Resampler::new(rate_hz, SAMPLE_RATE_HZ));
    let mut samples_heard = 0;
    let mut tell = |events: Result<Vec<LiveEvent>, SpeechError>, samples: usize| {
        samples_heard += samples as u64;
        let seconds = samples_heard as f64 / f64::from(rate_hz);
        let failed = events.is_err();
        let told = outgoing.send(events.map(|events| LiveHeard { events, seconds }));
        told.is_ok() && !failed
    };
    while let Some(samples) = incoming.blocking_recv() {
        // Nobody listens for what still waits in the queue once the session is over.
        let wanted = !outgoing.is_closed();
        if !wanted
            || !tell(
                session.push(&resampled(&mut to_16k, &samples)),
                samples.len(),
            )
        {
            return;
        }
    }
    tell(session.finish(), 0);
}

fn resampled(to_16k: &mut Option<Resampler>, samples: &[i16]) -> Vec<i16> {
    let Some(resampler) = to_16k else {
        return samples.to_vec();
    };
    let input: Vec<f32> = samples.iter().copied().map(f32_from_i16).collect();
    let mut output = Vec::with_capacity(input.len() * 2);
    resampler.push(&input, &mut output);
    output.into_iter().map(i16_from_f32).collect()
}
