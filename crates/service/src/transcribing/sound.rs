//! From uploaded bytes to samples, off the async threads and only a few at a time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use sauti_audio::{
    AudioError, Channels, DecodeLimits, Recording, Samples, decode_bytes, decode_file,
};

use super::spool::{Source, Upload};
use crate::ServiceError;
use crate::app::App;

/// A decoded recording: mono, 16,000 Hz.
#[derive(Debug)]
pub struct Sound {
    pub samples: Samples,
    /// The other side of a call, where the request wants them apart.
    pub second_channel: Option<Samples>,
    pub seconds: f64,
}

/// Stops the decoder when the caller is gone or out of time.
struct StopOnDrop(Arc<AtomicBool>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Sound {
    pub async fn decode(
        app: &App,
        upload: Upload,
        channels: Channels,
    ) -> Result<Sound, ServiceError> {
        if upload.bytes == 0 {
            return Err(AudioError::Empty.into());
        }
        let _place = app
            .decoding
            .acquire()
            .await
            .map_err(ServiceError::internal)?;
        let limits = DecodeLimits {
            channels,
            seconds_max: app.config.limits.recording_seconds_max as f64,
            spool_dir: Some(app.spool_dir()),
            ..DecodeLimits::default()
        };
        let stopped = Arc::new(AtomicBool::new(false));
        let _stop = StopOnDrop(Arc::clone(&stopped));
        let decoded = tokio::task::spawn_blocking(move || {
            let cancelled = || stopped.load(Ordering::Relaxed);
            match upload.source {
                Source::Memory(bytes) => decode_bytes(bytes, upload.declared, &limits, &cancelled),
                Source::File(file) => decode_file(file, upload.declared, &limits, &cancelled),
            }
        });
        let Recording {
            samples,
            second_channel,
            seconds,
            ..
        } = decoded.await.map_err(ServiceError::internal)??;
        Ok(Sound {
            samples,
            second_channel,
            seconds,
        })
    }
}
