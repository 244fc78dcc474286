use std::io::{Read, SeekFrom};

use super::{Decoded, RawFormat, Session, Source};
use crate::AudioError;
use crate::g711;
use crate::pcm::f32_from_i16;

/// Decodes headerless sound as its sender declared it.
pub(super) fn decode(
    mut source: Source,
    format: RawFormat,
    session: &mut Session,
) -> Result<Decoded, AudioError> {
    let (rate_hz, sample_bytes, codec) = match format {
        RawFormat::Ulaw8000 => (8_000, 1, "ulaw"),
        RawFormat::Alaw8000 => (8_000, 1, "alaw"),
        RawFormat::Pcm16Le { rate_hz } => (rate_hz, 2, "pcm_s16"),
    };
    session.begin(rate_hz, 1)?;
    if let Some(bytes) = source.byte_len() {
        session.expect_frames(bytes / sample_bytes, rate_hz)?;
    }
    source.seek(SeekFrom::Start(0))?;
    let mut bytes = Vec::with_capacity(1 << 16);
    let mut samples = Vec::new();
    loop {
        bytes.clear();
        source.by_ref().take(1 << 16).read_to_end(&mut bytes)?;
        if bytes.is_empty() {
            break;
        }
        samples.clear();
        match format {
            RawFormat::Ulaw8000 => samples.extend(
                bytes
                    .iter()
                    .map(|&b| f32_from_i16(g711::linear_from_ulaw(b))),
            ),
            RawFormat::Alaw8000 => samples.extend(
                bytes
                    .iter()
                    .map(|&b| f32_from_i16(g711::linear_from_alaw(b))),
            ),
            RawFormat::Pcm16Le { .. } => {
                samples.extend(
                    bytes
                        .as_chunks::<2>()
                        .0
                        .iter()
                        .map(|&b| f32_from_i16(i16::from_le_bytes(b))),
                );
            }
        }
        session.push(&samples)?;
    }
    Ok(Decoded {
        container: "raw",
        codec: codec.into(),
    })
}
