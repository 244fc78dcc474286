use super::{DecodeLimits, Decoded, Recording, SAMPLE_RATE_HZ};
use crate::AudioError;
use crate::pcm::i16_from_f32;
use crate::resample::Resampler;

/// Louder than any honest float recording; keeps sums finite.
const SAMPLE_MAX: f32 = 16.0;

/// One decode under way: takes interleaved frames, mixes them down, resamples and keeps 16-bit mono. Enforces the limits.
pub(crate) struct Session<'a> {
    limits: &'a DecodeLimits,
    cancelled: &'a dyn Fn() -> bool,
    stage: Option<Stage>,
    seconds: f64,
    source_rate_hz: u32,
    source_channels: u16,
    out: Vec<i16>,
}

struct Stage {
    rate_hz: u32,
    channels: u16,
    resampler: Resampler,
    mono: Vec<f32>,
    resampled: Vec<f32>,
}

impl<'a> Session<'a> {
    pub(crate) fn new(limits: &'a DecodeLimits, cancelled: &'a dyn Fn() -> bool) -> Self {
        Self {
            limits,
            cancelled,
            stage: None,
            seconds: 0.0,
            source_rate_hz: 0,
            source_channels: 0,
            out: Vec::new(),
        }
    }

    /// Says what the following frames are. A change in mid-stream starts a new resampler.
    pub(crate) fn begin(&mut self, rate_hz: u32, channels: u16) -> Result<(), AudioError> {
        if self
            .stage
            .as_ref()
            .is_some_and(|s| (s.rate_hz, s.channels) == (rate_hz, channels))
        {
            return Ok(());
        }
        let limits = self.limits;
        if !(limits.rate_hz_min..=limits.rate_hz_max).contains(&rate_hz) {
            return Err(AudioError::AbsurdFormat(format!(
                "{rate_hz} samples a second"
            )));
        }
        if channels == 0 || channels > limits.channels_max {
            return Err(AudioError::AbsurdFormat(format!("{channels} channels")));
        }
        self.end_stage();
        if self.source_rate_hz == 0 {
            (self.source_rate_hz, self.source_channels) = (rate_hz, channels);
        }
        self.stage = Some(Stage {
            rate_hz,
            channels,
            resampler: Resampler::new(rate_hz, SAMPLE_RATE_HZ),
            mono: Vec::new(),
            resampled: Vec::new(),
        });
        Ok(())
    }

    /// Like `begin`, for a codec that decodes to our rate by itself whatever the source had.
    pub(crate) fn begin_at_our_rate(
        &mut self,
        source_rate_hz: u32,
        channels: u16,
    ) -> Result<(), AudioError> {
        if self.source_rate_hz == 0 {
            (self.source_rate_hz, self.source_channels) = (source_rate_hz, channels);
        }
        self.begin(SAMPLE_RATE_HZ, channels)
    }

    /// Refuses a stream that is going to be too long before decoding it.
    pub(crate) fn expect_frames(&self, frames: u64, rate_hz: u32) -> Result<(), AudioError> {
        self.check_length(frames as f64 / f64::from(rate_hz.max(1)))
    }

    /// To be called where work is done that yields no samples.
    pub(crate) fn check_cancelled(&self) -> Result<(), AudioError> {
        if (self.cancelled)() {
            Err(AudioError::Cancelled)
        } else {
            Ok(())
        }
    }

    pub(crate) fn has_samples(&self) -> bool {
        self.seconds > 0.0
    }

    pub(crate) fn push(&mut self, interleaved: &[f32]) -> Result<(), AudioError> {
        self.check_cancelled()?;
        let Some(stage) = &mut self.stage else {
            return Ok(());
        };
        let lanes = usize::from(stage.channels);
        let frames = interleaved.len() / lanes;
        self.seconds += frames as f64 / f64::from(stage.rate_hz);
        self.check_length(self.seconds)?;
        let Some(stage) = &mut self.stage else {
            return Ok(());
        };
        stage.mono.clear();
        stage.mono.extend(interleaved.chunks_exact(lanes).map(mix));
        stage.resampled.clear();
        stage.resampler.push(&stage.mono, &mut stage.resampled);
        self.out
            .extend(stage.resampled.iter().map(|&s| i16_from_f32(s)));
        Ok(())
    }

    pub(crate) fn finish(mut self, decoded: Decoded) -> Result<Recording, AudioError> {
        self.end_stage();
        if self.out.is_empty() {
            return Err(AudioError::Empty);
        }
        self.out.shrink_to_fit();
        Ok(Recording {
            seconds: self.out.len() as f64 / f64::from(SAMPLE_RATE_HZ),
            samples: self.out,
            container: decoded.container,
            codec: decoded.codec,
            source_rate_hz: self.source_rate_hz,
            source_channels: self.source_channels,
        })
    }

    fn end_stage(&mut self) {
        if let Some(mut stage) = self.stage.take() {
            stage.resampled.clear();
            stage.resampler.finish(&mut stage.resampled);
            self.out
                .extend(stage.resampled.iter().map(|&s| i16_from_f32(s)));
        }
    }

    fn check_length(&self, seconds: f64) -> Result<(), AudioError> {
        let seconds_max = self.limits.seconds_max;
        if seconds > seconds_max {
            Err(AudioError::TooLong { seconds_max })
        } else {
            Ok(())
        }
    }
}

fn mix(frame: &[f32]) -> f32 {
    let sum: f32 = frame
        .iter()
        .map(|s| {
            if s.is_finite() {
                s.clamp(-SAMPLE_MAX, SAMPLE_MAX)
            } else {
                0.0
            }
        })
        .sum();
    sum / frame.len() as f32
}
