//! Speech out: samples at the voice's rate in, bytes of the wanted format out, as a stream or as a whole file.

mod flac;
mod mp3;
mod ogg_opus;
mod plain;

use crate::resample::Resampler;
use crate::{AudioError, OutputFormat};
use flac::FlacWriter;
use mp3::Mp3Writer;
use ogg_opus::OggOpusWriter;
use plain::PlainWriter;

/// Rates a voice can have; outside, the resampler's filter would grow without bound.
const SOURCE_RATES_HZ: std::ops::RangeInclusive<u32> = 4_000..=384_000;
/// A long text is converted in pieces so that the work space stays small.
const PIECE_SAMPLES: usize = 1 << 14;

/// Encodes samples as they come. What `push` and `finish` return, joined, is the file.
pub struct StreamEncoder {
    resampler: Resampler,
    resampled: Vec<f32>,
    writer: Writer,
}

enum Writer {
    Plain(PlainWriter),
    Flac(Box<FlacWriter>),
    Mp3(Box<Mp3Writer>),
    OggOpus(Box<OggOpusWriter>),
}

impl StreamEncoder {
    /// For a stream whose length is not known: sizes in headers are placeholders.
    pub fn new(format: OutputFormat, source_rate_hz: u32) -> Result<Self, AudioError> {
        Self::with_length(format, source_rate_hz, None)
    }

    fn with_length(
        format: OutputFormat,
        source_rate_hz: u32,
        samples: Option<u64>,
    ) -> Result<Self, AudioError> {
        if !SOURCE_RATES_HZ.contains(&source_rate_hz) {
            return Err(AudioError::AbsurdFormat(format!(
                "{source_rate_hz} samples a second"
            )));
        }
        let mut rate_hz = format.sample_rate_hz();
        let scaled = |rate_hz: u32| {
            samples.map(|count| (count * u64::from(rate_hz)).div_ceil(u64::from(source_rate_hz)))
        };
        let writer = match format {
            OutputFormat::Opus48000 => {
                // Opus counts at 48 kHz whatever it is given; a 24 kHz voice has nothing above 12 kHz to code.
                rate_hz = if source_rate_hz <= 24_000 {
                    24_000
                } else {
                    48_000
                };
                Writer::OggOpus(Box::new(OggOpusWriter::new(rate_hz)?))
            }
            OutputFormat::Mp344100 => {
                Writer::Mp3(Box::new(Mp3Writer::new(rate_hz, samples.is_some())))
            }
            OutputFormat::Flac24000 => Writer::Flac(Box::new(FlacWriter::new(rate_hz)?)),
            _ => Writer::Plain(PlainWriter::new(format, scaled(rate_hz))),
        };
        Ok(Self {
            resampler: Resampler::new(source_rate_hz, rate_hz),
            resampled: Vec::new(),
            writer,
        })
    }

    /// Takes mono samples in [-1, 1] at the source rate; louder ones are clipped, not wrapped.
    pub fn push(&mut self, samples: &[f32]) -> Vec<u8> {
        let mut out = Vec::new();
        for piece in samples.chunks(PIECE_SAMPLES) {
            self.resampled.clear();
            if piece.iter().all(|sample| sample.is_finite()) {
                self.resampler.push(piece, &mut self.resampled);
            } else {
                let clean: Vec<f32> = piece
                    .iter()
                    .map(|&s| if s.is_finite() { s } else { 0.0 })
                    .collect();
                self.resampler.push(&clean, &mut self.resampled);
            }
            self.writer.write(&self.resampled, &mut out);
        }
        self.writer.flush(&mut out);
        out
    }

    pub fn finish(self) -> Vec<u8> {
        let Self {
            resampler,
            mut resampled,
            mut writer,
        } = self;
        let mut out = Vec::new();
        resampled.clear();
        resampler.finish(&mut resampled);
        writer.write(&resampled, &mut out);
        writer.finish(&mut out);
        out
    }
}

impl Writer {
    fn write(&mut self, samples: &[f32], out: &mut Vec<u8>) {
        match self {
            Self::Plain(writer) => writer.write(samples, out),
            Self::Flac(writer) => writer.write(samples, out),
            Self::Mp3(writer) => writer.write(samples, out),
            Self::OggOpus(writer) => writer.write(samples, out),
        }
    }

    /// Lets a listener hear at once what was pushed, where the format holds bytes back.
    fn flush(&mut self, out: &mut Vec<u8>) {
        if let Self::OggOpus(writer) = self {
            writer.flush(out);
        }
    }

    fn finish(&mut self, out: &mut Vec<u8>) {
        match self {
            Self::Plain(writer) => writer.finish(out),
            Self::Flac(writer) => writer.finish(out),
            Self::Mp3(writer) => writer.finish(out),
            Self::OggOpus(writer) => writer.finish(out),
        }
    }
}

/// Encodes a whole signal; headers carry the true sizes.
pub fn encode(
    samples: &[f32],
    source_rate_hz: u32,
    format: OutputFormat,
) -> Result<Vec<u8>, AudioError> {
    let mut encoder =
        StreamEncoder::with_length(format, source_rate_hz, Some(samples.len() as u64))?;
    let mut bytes = encoder.push(samples);
    let Writer::Flac(_) = encoder.writer else {
        bytes.extend(encoder.finish());
        return Ok(bytes);
    };
    flac::finish_whole(encoder, bytes)
}
