use super::writer::SoundWriter;
use crate::OutputFormat;
use crate::g711::{alaw_from_linear, ulaw_from_linear};
use crate::pcm::{i16_from_f32, le_bytes};
use crate::wav::{WavCoding, write_header};

/// WAV and headerless sound: a header, if any, then one code for each sample.
pub(super) struct PlainWriter {
    coding: WavCoding,
    header: Option<Vec<u8>>,
    bytes_written: u64,
    pads: bool,
}

impl PlainWriter {
    /// `samples` is the length at the output rate, if known.
    pub(super) fn new(format: OutputFormat, samples: Option<u64>) -> Self {
        use OutputFormat as F;
        let coding = match format {
            F::Ulaw8000 | F::RawUlaw8000 => WavCoding::Ulaw,
            F::Alaw8000 | F::RawAlaw8000 => WavCoding::Alaw,
            _ => WavCoding::Pcm16,
        };
        let is_wav = format.content_type() == "audio/wav";
        // A file over 4 GB cannot say its size and becomes a stream.
        let data_bytes =
            samples.and_then(|count| u32::try_from(count * coding.sample_bytes()).ok());
        let header = is_wav.then(|| write_header(coding, format.sample_rate_hz(), data_bytes));
        Self {
            coding,
            header,
            bytes_written: 0,
            pads: is_wav,
        }
    }
}

impl SoundWriter for PlainWriter {
    fn write(&mut self, samples: &[f32], out: &mut Vec<u8>) {
        out.extend(self.header.take().into_iter().flatten());
        let start = out.len();
        let linear = samples.iter().map(|&sample| i16_from_f32(sample));
        match self.coding {
            WavCoding::Pcm16 => le_bytes(linear, out),
            WavCoding::Alaw => out.extend(linear.map(alaw_from_linear)),
            WavCoding::Ulaw => out.extend(linear.map(ulaw_from_linear)),
        }
        self.bytes_written += (out.len() - start) as u64;
    }

    fn finish(&mut self, out: &mut Vec<u8>) {
        out.extend(self.header.take().into_iter().flatten());
        // Chunks have an even length.
        if self.pads && self.bytes_written % 2 == 1 {
            out.push(0);
        }
    }
}
