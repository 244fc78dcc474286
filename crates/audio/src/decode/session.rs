use super::{Channels, DecodeLimits, Decoded, Recording};
use crate::AudioError;
use crate::resample::Resampler;
use crate::samples::SamplesWriter;

/// Louder than any honest float recording; keeps sums finite.
const SAMPLE_MAX: f32 = 16.0;
/// Seconds are added up piece by piece: a recording of exactly the longest length is not too long.
const ROUNDING_S: f64 = 1e-3;

/// One decode under way: takes interleaved frames, mixes them down or takes them apart, resamples and keeps 16 bits.
/// Enforces the limits.
pub(crate) struct DecodeSession<'a> {
    limits: &'a DecodeLimits,
    cancelled: &'a dyn Fn() -> bool,
    stage: Option<Stage>,
    seconds: f64,
    source_rate_hz: u32,
    source_channels: u16,
    /// One for everything, or one for each channel.
    out: Vec<SamplesWriter>,
}

struct Stage {
    rate_hz: u32,
    channels: u16,
    /// One for each of `out`.
    resamplers: Vec<Resampler>,
    polarity: Polarity,
    mono: Vec<f32>,
    resampled: Vec<f32>,
}

/// Whether the second of two channels is the first one turned over, as a wrong cable or a bridged adapter leaves it: mixed
/// as it stands, nothing would be left.
#[derive(Default)]
struct Polarity {
    products: f32,
    energies: f32,
    is_turned: bool,
}

/// How alike the channels must be, and how unlike before that is taken back.
const TURNED_BELOW: f32 = -0.8;
const TURNED_BACK_ABOVE: f32 = -0.2;
const POLARITY_FRAMES: usize = 1_024;
/// Of what was heard before, with each such block.
const POLARITY_KEPT: f32 = 0.9;

impl<'a> DecodeSession<'a> {
    pub(crate) fn new(limits: &'a DecodeLimits, cancelled: &'a dyn Fn() -> bool) -> Self {
        Self {
            limits,
            cancelled,
            stage: None,
            seconds: 0.0,
            source_rate_hz: 0,
            source_channels: 0,
            out: (0..limits.channels.count())
                .map(|_| SamplesWriter::new(limits.spool_dir.clone()))
                .collect(),
        }
    }

    /// Says what the following frames are. A change in mid-stream starts a new resampler.
    pub(crate) fn begin(&mut self, rate_hz: u32, channels: u16) -> Result<(), AudioError> {
        let shape = self.stage.as_ref().map(|s| (s.rate_hz, s.channels));
        if shape == Some((rate_hz, channels)) {
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
        if limits.channels == Channels::Separate && channels != 2 {
            return Err(AudioError::NotTwoChannels { channels });
        }
        self.end_stage()?;
        if self.source_rate_hz == 0 {
            (self.source_rate_hz, self.source_channels) = (rate_hz, channels);
        }
        let resampler = |_| Resampler::new(rate_hz, limits.rate_hz);
        self.stage = Some(Stage {
            rate_hz,
            channels,
            resamplers: self.out.iter().map(resampler).collect(),
            polarity: Polarity::default(),
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
        self.begin(self.limits.rate_hz, channels)
    }

    /// The rate that samples come out at.
    pub(crate) fn rate_hz(&self) -> u32 {
        self.limits.rate_hz
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
        let Some(stage) = &self.stage else {
            return Ok(());
        };
        let lanes = usize::from(stage.channels);
        let frames = interleaved.len() / lanes;
        self.seconds += frames as f64 / f64::from(stage.rate_hz);
        self.check_length(self.seconds)?;
        let Some(stage) = &mut self.stage else {
            return Ok(());
        };
        let outs = self.out.iter_mut().zip(&mut stage.resamplers);
        for (channel, (out, resampler)) in outs.enumerate() {
            let frames = interleaved.chunks_exact(lanes);
            stage.mono.clear();
            match self.limits.channels {
                Channels::Mixed if lanes == 2 => {
                    for block in interleaved.chunks(2 * POLARITY_FRAMES) {
                        stage.polarity.mix(block, &mut stage.mono);
                    }
                }
                Channels::Mixed => stage.mono.extend(frames.map(mix)),
                Channels::Separate => stage.mono.extend(frames.map(|frame| sound(frame[channel]))),
            }
            stage.resampled.clear();
            resampler.push(&stage.mono, &mut stage.resampled);
            out.push(&stage.resampled)?;
        }
        Ok(())
    }

    pub(crate) fn finish(mut self, decoded: Decoded) -> Result<Recording, AudioError> {
        self.end_stage()?;
        let mut out = self.out.into_iter().map(SamplesWriter::finish);
        let samples = out.next().transpose()?.unwrap_or_default();
        if samples.is_empty() {
            return Err(AudioError::Empty);
        }
        Ok(Recording {
            seconds: samples.len() as f64 / f64::from(self.limits.rate_hz),
            samples,
            second_channel: out.next().transpose()?,
            container: decoded.container,
            codec: decoded.codec,
            source_rate_hz: self.source_rate_hz,
            source_channels: self.source_channels,
        })
    }

    fn end_stage(&mut self) -> Result<(), AudioError> {
        if let Some(mut stage) = self.stage.take() {
            for (out, resampler) in self.out.iter_mut().zip(stage.resamplers) {
                stage.resampled.clear();
                resampler.finish(&mut stage.resampled);
                out.push(&stage.resampled)?;
            }
        }
        Ok(())
    }

    fn check_length(&self, seconds: f64) -> Result<(), AudioError> {
        let seconds_max = self.limits.seconds_max;
        if seconds > seconds_max + ROUNDING_S {
            Err(AudioError::TooLong { seconds_max })
        } else {
            Ok(())
        }
    }
}

impl Polarity {
    fn mix(&mut self, block: &[f32], out: &mut Vec<f32>) {
        let (frames, _) = block.as_chunks::<2>();
        let frames = frames.iter().map(|frame| frame.map(sound));
        self.products *= POLARITY_KEPT;
        self.energies *= POLARITY_KEPT;
        for [first, second] in frames.clone() {
            self.products += first * second;
            self.energies += (first * first + second * second) / 2.0;
        }
        let alike = self.products / self.energies.max(f32::MIN_POSITIVE);
        self.is_turned = match self.is_turned {
            true => alike < TURNED_BACK_ABOVE,
            false => alike < TURNED_BELOW,
        };
        let sign = if self.is_turned { -1.0 } else { 1.0 };
        out.extend(frames.map(|[first, second]| (first + sign * second) / 2.0));
    }
}

fn mix(frame: &[f32]) -> f32 {
    frame.iter().copied().map(sound).sum::<f32>() / frame.len() as f32
}

fn sound(sample: f32) -> f32 {
    match sample.is_finite() {
        true => sample.clamp(-SAMPLE_MAX, SAMPLE_MAX),
        false => 0.0,
    }
}
