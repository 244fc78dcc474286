//! The recogniser of one live session, on a thread of its own: it keeps the state of the stream
//! between messages, which a queue of jobs could not.

use std::time::Duration;

use sauti_audio::pcm::{f32_from_i16, i16_from_f32};
use sauti_audio::{Channels, RawFormat, Resampler, SAMPLE_RATE_HZ};
use sauti_speech::recogniser::{LiveEvent, LiveSession};
use sauti_speech::{Expect, Segment, SpeechError, TranscribeRequest};
use sauti_store::WorkspaceId;
use tokio::sync::mpsc;

use super::request::TranscriptionRequest;
use crate::app::App;
use crate::telemetry::metrics;
use crate::{ServiceError, vocabularies};

/// While the models are loading.
const WARMING_UP_RETRY: Duration = Duration::from_secs(2);
/// Messages the recogniser may lag behind by; past them the socket waits (back-pressure).
const MESSAGES_MAX: usize = 32;

/// What a message of sound, or the end of all sound, brought.
pub struct LiveHeard {
    /// Each with its channel, from 1, where channels are heard separately.
    pub events: Vec<(Option<u32>, LiveEvent)>,
    /// How far into the sound the recogniser is.
    pub seconds: f64,
}

pub struct LiveEar {
    /// `None` once no more sound will come.
    sound: Option<mpsc::Sender<Vec<i16>>>,
    heard: mpsc::UnboundedReceiver<Result<LiveHeard, SpeechError>>,
    format: RawFormat,
    channels: Channels,
    expect: Expect,
    /// Samples of each channel.
    frames: u64,
    /// The part of a frame that a message was cut in.
    cut_off: Vec<u8>,
}

impl LiveEar {
    pub async fn open(
        app: &App,
        workspace_id: &WorkspaceId,
        format: RawFormat,
        wanted: &TranscriptionRequest,
    ) -> Result<LiveEar, ServiceError> {
        // The engine's own weights: a live session has state of its own but no models of its own.
        let retry_after = WARMING_UP_RETRY;
        let recogniser = app.engine.recogniser();
        let recogniser = recogniser.ok_or(SpeechError::WarmingUp { retry_after })?;
        let named = vocabularies::named(app, workspace_id, wanted.vocabulary.as_deref());
        let request = TranscribeRequest {
            vocabulary: named.await?,
            ..wanted.for_engine()
        };
        let listen = |_| LiveSession::new(&recogniser, &request);
        let sessions: Result<Vec<_>, _> = (0..wanted.channels.count()).map(listen).collect();
        let sessions = sessions?;
        let (sound, incoming) = mpsc::channel::<Vec<i16>>(MESSAGES_MAX);
        // Unbounded, lest both ends wait for each other; the sound bounds what is heard in it.
        let (outgoing, heard) = mpsc::unbounded_channel();
        let rate_hz = format.rate_hz();
        tokio::task::spawn_blocking(move || recognise(sessions, rate_hz, incoming, &outgoing));
        Ok(LiveEar {
            sound: Some(sound),
            heard,
            format,
            channels: wanted.channels,
            expect: wanted.expect.clone(),
            frames: 0,
            cut_off: Vec::new(),
        })
    }

    /// What is listened for.
    pub fn expect(&self) -> &Expect {
        &self.expect
    }

    /// How much sound came in.
    pub fn seconds(&self) -> f64 {
        self.frames as f64 / f64::from(self.format.rate_hz())
    }

    fn frame_bytes(&self) -> u32 {
        self.format.sample_bytes() * self.channels.count()
    }

    /// How much sound these bytes are.
    pub fn seconds_in(&self, sound: &[u8]) -> f64 {
        sound.len() as f64 / f64::from(self.format.rate_hz() * self.frame_bytes())
    }

    pub async fn push(&mut self, sound: &[u8]) {
        let mut bytes = std::mem::take(&mut self.cut_off);
        bytes.extend_from_slice(sound);
        let frame_bytes = self.frame_bytes() as usize;
        let frames = bytes.len() / frame_bytes;
        self.cut_off = bytes.split_off(frames * frame_bytes);
        let samples = self.format.samples(&bytes);
        self.frames += frames as u64;
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

/// One channel of the sound as it comes.
struct LiveChannel {
    /// From 1, where there are several.
    number: Option<u32>,
    session: LiveSession,
    to_16k: Option<Resampler>,
}

impl LiveChannel {
    fn tagged(
        &self,
        events: Result<Vec<LiveEvent>, SpeechError>,
    ) -> Result<Vec<(Option<u32>, LiveEvent)>, SpeechError> {
        let tag = |event| match event {
            LiveEvent::Final(segment) => LiveEvent::Final(Segment {
                channel: self.number,
                ..segment
            }),
            other => other,
        };
        let events = events?.into_iter();
        Ok(events.map(|event| (self.number, tag(event))).collect())
    }
}

fn recognise(
    sessions: Vec<LiveSession>,
    rate_hz: u32,
    mut incoming: mpsc::Receiver<Vec<i16>>,
    outgoing: &mpsc::UnboundedSender<Result<LiveHeard, SpeechError>>,
) {
    let count = sessions.len();
    let mut channels: Vec<LiveChannel> = (1..)
        .zip(sessions)
        .map(|(number, session)| LiveChannel {
            number: (count > 1).then_some(number),
            session,
            to_16k: (rate_hz != SAMPLE_RATE_HZ).then(|| Resampler::new(rate_hz, SAMPLE_RATE_HZ)),
        })
        .collect();
    let mut frames_heard = 0;
    let mut tell = |events: Result<Vec<_>, SpeechError>, frames: usize| {
        let heard_ms = |frames: u64| frames * 1_000 / u64::from(rate_hz);
        let before_ms = heard_ms(frames_heard);
        frames_heard += frames as u64;
        metrics::live_audio(heard_ms(frames_heard) - before_ms);
        let seconds = frames_heard as f64 / f64::from(rate_hz);
        let failed = events.is_err();
        let told = outgoing.send(events.map(|events| LiveHeard { events, seconds }));
        told.is_ok() && !failed
    };
    while let Some(samples) = incoming.blocking_recv() {
        // Nobody listens for what still waits in the queue once the session is over.
        if outgoing.is_closed() {
            return;
        }
        let heard = channels.iter_mut().enumerate().map(|(at, channel)| {
            let own: Vec<i16> = samples.iter().skip(at).step_by(count).copied().collect();
            let events = channel.session.push(&resampled(&mut channel.to_16k, own));
            channel.tagged(events)
        });
        let events = heard.collect::<Result<Vec<_>, _>>();
        if !tell(events.map(|events| events.concat()), samples.len() / count) {
            return;
        }
    }
    let heard = channels.iter_mut().map(|channel| {
        let events = channel.session.finish();
        channel.tagged(events)
    });
    let events = heard.collect::<Result<Vec<_>, _>>();
    tell(events.map(|events| events.concat()), 0);
}

fn resampled(to_16k: &mut Option<Resampler>, samples: Vec<i16>) -> Vec<i16> {
    let Some(resampler) = to_16k else {
        return samples;
    };
    let input: Vec<f32> = samples.into_iter().map(f32_from_i16).collect();
    let mut output = Vec::with_capacity(input.len() * 2);
    resampler.push(&input, &mut output);
    output.into_iter().map(i16_from_f32).collect()
}
