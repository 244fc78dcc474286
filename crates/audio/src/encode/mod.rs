//! Speech out: samples at the voice's rate in, bytes of the wanted format out, as a stream or as a whole file.

mod flac;
mod mp3;
mod ogg_opus;
mod plain;
mod writer;

use crate::loudness::{SPEECH_LUFS, TELEPHONE_LUFS, gain_between};
use crate::resample::Resampler;
use crate::{AudioError, OutputFormat};
use flac::FlacWriter;
use mp3::Mp3Writer;
use ogg_opus::OggOpusWriter;
use plain::PlainWriter;
use writer::SoundWriter;

/// Rates a voice can have; outside, the resampler's filter would grow without bound.
const SOURCE_RATES_HZ: std::ops::RangeInclusive<u32> = 4_000..=384_000;
/// A long text is converted in pieces so that the work space stays small.
const PIECE_SAMPLES: usize = 1 << 14;

/// Encodes samples as they come. What `push` and `finish` return, joined, is the file.
pub struct StreamEncoder {
    gain: f32,
    resampler: Resampler,
    resampled: Vec<f32>,
    writer: Box<dyn SoundWriter>,
}

impl StreamEncoder {
    /// For a stream whose length is not known: sizes in headers are placeholders.
    pub fn new(format: OutputFormat, source_rate_hz: u32) -> Result<Self, AudioError> {
        Self::with_length(format, source_rate_hz, None)
    }

    /// For a voice, which speaks at `SPEECH_LUFS`: formats for a phone line come out at `TELEPHONE_LUFS`.
    pub fn for_speech(format: OutputFormat, source_rate_hz: u32) -> Result<Self, AudioError> {
        Ok(Self::new(format, source_rate_hz)?.levelled(format))
    }

    fn levelled(mut self, format: OutputFormat) -> Self {
        if format.is_telephone() {
            self.gain = gain_between(SPEECH_LUFS, TELEPHONE_LUFS);
        }
        self
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
        let writer: Box<dyn SoundWriter> = match format {
            OutputFormat::Opus48000 => {
                // Opus counts at 48 kHz whatever it is given; a 24 kHz voice has nothing above 12 kHz to code.
                rate_hz = if source_rate_hz <= 24_000 {
                    24_000
                } else {
                    48_000
                };
                Box::new(OggOpusWriter::new(rate_hz)?)
            }
            OutputFormat::Mp344100 => Box::new(Mp3Writer::new(rate_hz, samples.is_some())),
            OutputFormat::Flac24000 => Box::new(FlacWriter::new(rate_hz)?),
            _ => Box::new(PlainWriter::new(format, scaled(rate_hz))),
        };
        Ok(Self {
            gain: 1.0,
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
            if self.gain == 1.0 && piece.iter().all(|sample| sample.is_finite()) {
                self.resampler.push(piece, &mut self.resampled);
            } else {
                let clean: Vec<f32> = piece
                    .iter()
                    .map(|&s| if s.is_finite() { s * self.gain } else { 0.0 })
                    .collect();
                self.resampler.push(&clean, &mut self.resampled);
            }
            self.writer.write(&self.resampled, &mut out);
        }
        self.writer.flush(&mut out);
        out
    }

    pub fn finish(self) -> Vec<u8> {
        let mut out = Vec::new();
        self.finish_into(&mut out);
        out
    }

    fn finish_into(mut self, out: &mut Vec<u8>) -> Box<dyn SoundWriter> {
        self.resampled.clear();
        self.resampler.finish(&mut self.resampled);
        self.writer.write(&self.resampled, out);
        self.writer.finish(out);
        self.writer
    }

    /// A whole file of these samples.
    fn whole(mut self, samples: &[f32]) -> Vec<u8> {
        let mut bytes = self.push(samples);
        let writer = self.finish_into(&mut bytes);
        writer.complete_header(&mut bytes);
        bytes
    }
}

/// Encodes a whole signal; headers carry the true sizes.
pub fn encode(
    samples: &[f32],
    source_rate_hz: u32,
    format: OutputFormat,
) -> Result<Vec<u8>, AudioError> {
    let encoder = StreamEncoder::with_length(format, source_rate_hz, Some(samples.len() as u64))?;
    Ok(encoder.whole(samples))
}

/// `encode` for a voice: formats for a phone line come out at their own loudness.
pub fn encode_speech(
    samples: &[f32],
    source_rate_hz: u32,
    format: OutputFormat,
) -> Result<Vec<u8>, AudioError> {
    let encoder = StreamEncoder::with_length(format, source_rate_hz, Some(samples.len() as u64))?;
    Ok(encoder.levelled(format).whole(samples))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loudness::lufs;

    fn voice_like() -> Vec<f32> {
        let tone = |hz: f32, n: usize| (n as f32 * hz * std::f32::consts::TAU / 24_000.0).sin();
        (0..72_000)
            .map(|n| {
                0.15 * (tone(180.0, n) + tone(720.0, n) + 0.3 * tone(2_500.0, n))
                    * (1.0 + 0.5 * tone(4.0, n))
            })
            .collect()
    }

    #[test]
    fn speech_for_a_phone_line_is_four_decibels_lower_and_nothing_else_is() {
        let samples = voice_like();
        for format in OutputFormat::ALL {
            let (plain, speech) = (
                encode(&samples, 24_000, format).unwrap(),
                encode_speech(&samples, 24_000, format).unwrap(),
            );
            if !format.is_telephone() {
                assert!(plain == speech, "{format}");
            }
        }
        let pcm = |bytes: Vec<u8>| -> Vec<f32> {
            bytes
                .chunks_exact(2)
                .map(|b| f32::from(i16::from_le_bytes([b[0], b[1]])) / 32_768.0)
                .collect()
        };
        let format = OutputFormat::RawPcm8000;
        let loud = lufs(&pcm(encode(&samples, 24_000, format).unwrap()), 8_000);
        let calm = lufs(
            &pcm(encode_speech(&samples, 24_000, format).unwrap()),
            8_000,
        );
        assert!((loud - calm - 4.0).abs() < 0.05, "{loud} and {calm}");
    }

    #[test]
    fn a_stream_of_speech_is_as_loud_as_the_whole() {
        let samples = voice_like();
        let mut encoder = StreamEncoder::for_speech(OutputFormat::RawUlaw8000, 24_000).unwrap();
        let mut streamed = Vec::new();
        for part in samples.chunks(1_000) {
            streamed.extend(encoder.push(part));
        }
        streamed.extend(encoder.finish());
        assert!(streamed == encode_speech(&samples, 24_000, OutputFormat::RawUlaw8000).unwrap());
    }
}
