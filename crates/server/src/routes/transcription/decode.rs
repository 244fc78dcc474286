//! From uploaded bytes to samples, off the async threads and only a few at a time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use sauti_audio::{DecodeLimits, Recording, decode_bytes, decode_file};

use super::upload::{Source, Upload};
use crate::app::App;
use crate::problem::{Code, Problem};

/// A decoded recording: mono, 16,000 Hz.
#[derive(Debug)]
pub struct Sound {
    pub samples: Arc<Vec<i16>>,
    pub seconds: f64,
}

/// Stops the decoder when the caller is gone or out of time.
struct StopOnDrop(Arc<AtomicBool>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

pub async fn decode(app: &App, upload: Upload) -> Result<Sound, Problem> {
    if upload.bytes == 0 {
        return Err(Problem::new(Code::AudioEmpty));
    }
    let _place = app.decoding.acquire().await.map_err(Problem::internal)?;
    let limits = DecodeLimits {
        seconds_max: app.config.limits.recording_seconds_max as f64,
        ..DecodeLimits::default()
    };
    let stopped = Arc::new(AtomicBool::new(false));
    let _stop = StopOnDrop(Arc::clone(&stopped));
    let decoded = tokio::task::spawn_blocking(move || {
        let cancelled = || stopped.load(Ordering::Relaxed);
        let Recording {
            samples, seconds, ..
        } = match upload.source {
            Source::Memory(bytes) => decode_bytes(bytes, upload.declared, &limits, &cancelled)?,
            Source::File(file) => decode_file(file, upload.declared, &limits, &cancelled)?,
        };
        Ok::<_, sauti_audio::AudioError>(Sound {
            samples: samples.into(),
            seconds,
        })
    });
    Ok(decoded.await.map_err(Problem::internal)??)
}
