use std::io::{Read, SeekFrom};

use super::{AudioSource, DecodeSession, Decoded, RawFormat};
use crate::AudioError;
use crate::g711;
use crate::gsm::{self, GsmDecoder};
use crate::pcm::f32_from_i16;

/// Samples a second that somebody may have recorded speech at.
const RATES_HZ: std::ops::RangeInclusive<u32> = 4_000..=192_000;
/// Of `audio/pcm` without a rate.
const PCM_RATE_HZ: u32 = 24_000;
const GSM_READ_BYTES: usize = 1_000 * gsm::FRAME_BYTES;

impl RawFormat {
    /// What a content type says of headerless sound; `None` where it names none. Nothing else can tell how to read the
    /// bytes, so a rate that cannot be is refused and not guessed at.
    pub fn from_content_type(content_type: &str) -> Result<Option<RawFormat>, AudioError> {
        let lower = content_type.to_ascii_lowercase();
        let mut pieces = lower.split(';').map(str::trim);
        let named = match pieces.next().unwrap_or_default() {
            "audio/basic" | "audio/pcmu" | "audio/x-mulaw" | "audio/mulaw" => RawFormat::Ulaw8000,
            "audio/pcma" | "audio/x-alaw" | "audio/x-alaw-basic" | "audio/alaw" => {
                RawFormat::Alaw8000
            }
            "audio/pcm" | "audio/x-pcm" => RawFormat::Pcm16Le {
                rate_hz: PCM_RATE_HZ,
            },
            _ => return Ok(None),
        };
        let mut format = named;
        for (name, value) in pieces.filter_map(|piece| piece.split_once('=')) {
            let value = value.trim().trim_matches('"');
            let absurd = |what: &str| {
                let value: String = value.chars().take(20).collect();
                AudioError::AbsurdFormat(format!("{value} {what}"))
            };
            match name.trim() {
                "rate" => {
                    let rate_hz = value.parse().ok().filter(|rate| RATES_HZ.contains(rate));
                    let rate_hz = rate_hz.ok_or_else(|| absurd("samples a second"))?;
                    format = match named {
                        RawFormat::Pcm16Le { .. } => RawFormat::Pcm16Le { rate_hz },
                        g711 if rate_hz == g711.rate_hz() => g711,
                        _ => return Err(absurd("samples a second of G.711, which has 8000")),
                    };
                }
                "channels" if value != "1" => {
                    return Err(absurd("channels, where raw sound has one"));
                }
                _ => {}
            }
        }
        Ok(Some(format))
    }

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
    mut source: AudioSource,
    format: RawFormat,
    session: &mut DecodeSession,
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

/// Decodes frames of GSM, which have no header before them.
pub(super) fn decode_gsm(
    mut source: AudioSource,
    session: &mut DecodeSession,
) -> Result<Decoded, AudioError> {
    session.begin(gsm::RATE_HZ, 1)?;
    if let Some(bytes) = source.byte_len() {
        let frames = bytes / gsm::FRAME_BYTES as u64;
        session.expect_frames(frames * gsm::FRAME_SAMPLES as u64, gsm::RATE_HZ)?;
    }
    source.seek(SeekFrom::Start(0))?;
    let mut decoder = GsmDecoder::new();
    let mut bytes = Vec::with_capacity(GSM_READ_BYTES);
    let mut samples = Vec::new();
    loop {
        bytes.clear();
        let wanted = GSM_READ_BYTES as u64;
        source.by_ref().take(wanted).read_to_end(&mut bytes)?;
        let (frames, _) = bytes.as_chunks::<{ gsm::FRAME_BYTES }>();
        if frames.is_empty() {
            break;
        }
        samples.clear();
        for frame in frames {
            decoder.frame(frame, &mut samples);
        }
        session.push(&samples)?;
    }
    Ok(Decoded {
        container: "raw",
        codec: "gsm".into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(content_type: &str) -> Option<RawFormat> {
        RawFormat::from_content_type(content_type).expect("possible")
    }

    #[test]
    fn a_content_type_names_raw_sound() {
        assert_eq!(named("audio/basic"), Some(RawFormat::Ulaw8000));
        assert_eq!(named("audio/PCMA; rate=8000"), Some(RawFormat::Alaw8000));
        let pcm = |rate_hz| Some(RawFormat::Pcm16Le { rate_hz });
        assert_eq!(named("audio/pcm;rate=16000"), pcm(16_000));
        assert_eq!(named("audio/pcm; channels=1; rate=\"48000\""), pcm(48_000));
        assert_eq!(named("audio/pcm"), pcm(24_000));
        assert_eq!(named("audio/wav"), None);
        assert_eq!(named(""), None);
    }

    #[test]
    fn what_cannot_be_is_refused() {
        for absurd in [
            "audio/pcm;rate=-5",
            "audio/pcm;rate=0",
            "audio/pcm;rate=7",
            "audio/pcm;rate=16k",
            "audio/pcm;rate=4294967297",
            "audio/pcm;rate=384000",
            "audio/basic;rate=16000",
            "audio/pcm;rate=16000;channels=2",
        ] {
            let refused = RawFormat::from_content_type(absurd);
            assert!(
                matches!(refused, Err(AudioError::AbsurdFormat(_))),
                "{absurd}: {refused:?}"
            );
        }
    }
}
