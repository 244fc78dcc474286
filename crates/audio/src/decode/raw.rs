use std::io::{Read, SeekFrom};

use super::{Decoded, RawFormat, Session, Source};
use crate::AudioError;
use crate::g711;
use crate::pcm::f32_from_i16;

impl RawFormat {
    pub fn rate_hz(self) -> u32 {
        match self {
            RawFormat::Ulaw8000 | RawFormat::Alaw8000 => 8_000,
            RawFormat::Pcm16Le { rate_hz } => rate_hz,
        }
    }

    pub fn sample_bytes(self) -> u32 {
        match self {
            RawFormat::Ulaw8000 | RawFormat::Alaw8000 => 1,
            RawFormat::Pcm16Le { .. } => 2,
        }
    }

    fn codec(self) -> &'static str {
        match self {
            RawFormat::Ulaw8000 => "ulaw",
            RawFormat::Alaw8000 => "alaw",
            RawFormat::Pcm16Le { .. } => "pcm_s16",
        }
    }

    /// The whole samples in these bytes; half a sample at the end is left out.
    pub fn samples(self, bytes: &[u8]) -> Vec<i16> {
        let each = |linear: fn(u8) -> i16| bytes.iter().map(|&byte| linear(byte)).collect();
        match self {
            RawFormat::Ulaw8000 => each(g711::linear_from_ulaw),
            RawFormat::Alaw8000 => each(g711::linear_from_alaw),
            RawFormat::Pcm16Le { .. } => {
                let (pairs, _) = bytes.as_chunks::<2>();
                pairs.iter().copied().map(i16::from_le_bytes).collect()
            }
        }
    }
}

/// Decodes headerless sound as its sender declared it.
pub(super) fn decode(
    mut source: Source,
    format: RawFormat,
    session: &mut Session,
) -> Result<Decoded, AudioError> {
    let rate_hz = format.rate_hz();
    session.begin(rate_hz, 1)?;
    if let Some(bytes) = source.byte_len() {
        session.expect_frames(bytes / u64::from(format.sample_bytes()), rate_hz)?;
    }
    source.seek(SeekFrom::Start(0))?;
    let mut bytes = Vec::with_capacity(1 << 16);
    loop {
        bytes.clear();
        source.by_ref().take(1 << 16).read_to_end(&mut bytes)?;
        if bytes.is_empty() {
            break;
        }
        let samples = format.samples(&bytes).into_iter().map(f32_from_i16);
        session.push(&samples.collect::<Vec<f32>>())?;
    }
    Ok(Decoded {
        container: "raw",
        codec: format.codec().into(),
    })
}
