//! The recogniser of one live session, on a thread of its own: it keeps the state of the stream
//! between messages, which a queue of jobs could not.

use std::sync::Arc;

use sauti_audio::Resampler;
use sauti_audio::pcm::{f32_from_i16, i16_from_f32};
use sauti_speech::recogniser::{LiveEvent, LiveSession, Recogniser};
use sauti_speech::{Segment, SpeechError, TranscribeRequest};
use tokio::sync::mpsc;

use crate::app::App;
use crate::problem::{Code, Problem};
use crate::routes::transcription::TranscriptionRequest;

const LISTEN_HZ: u32 = 16_000;
/// Messages the recogniser may lag behind by; past them the socket waits.
const MESSAGES_MAX: usize = 32;

pub enum Heard {
    Partial(String),
    Final(Segment),
}

pub struct Ear {
    /// `None` once the caller is finished.
    sound: Option<mpsc::Sender<Vec<i16>>>,
    heard: mpsc::UnboundedReceiver<Result<LiveEvent, SpeechError>>,
    rate_hz: u32,
    samples: u64,
    /// Half a sample that a message was cut in.
    odd_byte: Option<u8>,
}

impl Ear {
    pub fn open(app: &App, rate_hz: u32, wanted: &TranscriptionRequest) -> Result<Ear, Problem> {
        let recogniser = recogniser(app)?;
        let request = TranscribeRequest {
            samples: Arc::default(),
            keyterms: wanted.keyterms.clone(),
            expect: wanted.expect.clone(),
            digits: wanted.digits,
        };
        let mut session = LiveSession::new(&recogniser, &request)?;
        let (sound, mut incoming) = mpsc::channel::<Vec<i16>>(MESSAGES_MAX);
        // Unbounded, lest both ends wait for each other; the sound bounds what is heard in it.
        let (outgoing, heard) = mpsc::unbounded_channel();
        tokio::task::spawn_blocking(move || {
            let mut to_16k = (rate_hz != LISTEN_HZ).then(|| Resampler::new(rate_hz, LISTEN_HZ));
            while let Some(samples) = incoming.blocking_recv() {
                let samples = resampled(&mut to_16k, samples);
                if !pass_on(session.push(&samples), &outgoing) {
                    return;
                }
            }
            pass_on(session.finish(), &outgoing);
        });
        Ok(Ear {
            sound: Some(sound),
            heard,
            rate_hz,
            samples: 0,
            odd_byte: None,
        })
    }

    pub fn seconds(&self) -> f64 {
        self.samples as f64 / f64::from(self.rate_hz)
    }

    pub fn seconds_with(&self, pcm: &[u8]) -> f64 {
        self.seconds() + pcm.len() as f64 / 2.0 / f64::from(self.rate_hz)
    }

    pub async fn push(&mut self, pcm: &[u8]) -> Result<(), Problem> {
        let mut bytes = Vec::with_capacity(pcm.len() + 1);
        bytes.extend(self.odd_byte.take());
        bytes.extend_from_slice(pcm);
        let pairs = bytes.chunks_exact(2);
        self.odd_byte = pairs.remainder().first().copied();
        let samples: Vec<i16> = pairs
            .map(|pair| i16::from_le_bytes([pair[0], pair[1]]))
            .collect();
        self.samples += samples.len() as u64;
        if let Some(sound) = &self.sound {
            // A closed channel means the recogniser failed; `next` brings the reason.
            sound.send(samples).await.ok();
        }
        Ok(())
    }

    /// No more sound will come.
    pub fn finish(&mut self) {
        self.sound = None;
    }

    /// What was heard next. Waits for ever while there is nothing to tell and more may come.
    pub async fn next(&mut self) -> Result<Heard, Problem> {
        match self.heard.recv().await {
            Some(event) => Ok(heard(event?)),
            None => Err(Problem::internal("the live recogniser stopped")),
        }
    }

    /// What is left to tell after the end of the sound.
    pub async fn rest(&mut self) -> Result<Option<Heard>, Problem> {
        Ok(self.heard.recv().await.transpose()?.map(heard))
    }
}

fn heard(event: LiveEvent) -> Heard {
    match event {
        LiveEvent::Partial(text) => Heard::Partial(text),
        LiveEvent::Final(segment) => Heard::Final(segment),
    }
}

fn pass_on(
    events: Result<Vec<LiveEvent>, SpeechError>,
    outgoing: &mpsc::UnboundedSender<Result<LiveEvent, SpeechError>>,
) -> bool {
    match events {
        Ok(events) => events
            .into_iter()
            .all(|event| outgoing.send(Ok(event)).is_ok()),
        Err(error) => {
            outgoing.send(Err(error)).ok();
            false
        }
    }
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

/// The engine's own weights: a live session has state of its own but no models of its own.
fn recogniser(app: &App) -> Result<Recogniser, Problem> {
    app.engine
        .recogniser()
        .ok_or_else(|| Problem::new(Code::WarmingUp).retry_after(2))
}
