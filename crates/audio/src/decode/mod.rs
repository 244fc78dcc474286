//! Recordings in. The bytes decide what a file is; its name and its declared type do not count.

mod aac;
mod edits;
mod guess;
pub(crate) mod media;
mod raw;
mod session;
mod sniff;
mod source;

use std::fs::File;
use std::io::Cursor;

pub use guess::{GUESS_BYTES, guess_seconds, seconds_at_most};
pub(crate) use session::Session;
pub(crate) use source::{Source, Window};

use crate::AudioError;
use sniff::Container;

/// The rate of every decoded recording.
pub const SAMPLE_RATE_HZ: u32 = 16_000;

/// What a recording may be before it is refused.
#[derive(Debug, Clone, PartialEq)]
pub struct DecodeLimits {
    pub seconds_max: f64,
    pub channels_max: u16,
    pub rate_hz_min: u32,
    pub rate_hz_max: u32,
}

impl Default for DecodeLimits {
    fn default() -> Self {
        Self {
            seconds_max: 7_200.0,
            channels_max: 16,
            rate_hz_min: 4_000,
            rate_hz_max: 384_000,
        }
    }
}

/// Headerless sound, which only its sender can name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RawFormat {
    Ulaw8000,
    Alaw8000,
    Pcm16Le { rate_hz: u32 },
}

/// A decoded recording.
#[derive(Debug, Clone, PartialEq)]
pub struct Recording {
    /// Mono, 16 kHz.
    pub samples: Vec<i16>,
    pub seconds: f64,
    pub container: &'static str,
    pub codec: String,
    pub source_rate_hz: u32,
    pub source_channels: u16,
}

/// What a reader found the stream to be.
pub(crate) struct Decoded {
    pub container: &'static str,
    pub codec: String,
}

/// Decodes an open file from its beginning. `cancelled` is asked between packets.
pub fn decode_file(
    file: File,
    declared: Option<RawFormat>,
    limits: &DecodeLimits,
    cancelled: &dyn Fn() -> bool,
) -> Result<Recording, AudioError> {
    decode_source(Box::new(file), declared, limits, cancelled)
}

/// Decodes a file held in memory.
pub fn decode_bytes(
    bytes: Vec<u8>,
    declared: Option<RawFormat>,
    limits: &DecodeLimits,
    cancelled: &dyn Fn() -> bool,
) -> Result<Recording, AudioError> {
    decode_source(Box::new(Cursor::new(bytes)), declared, limits, cancelled)
}

fn decode_source(
    mut source: Source,
    declared: Option<RawFormat>,
    limits: &DecodeLimits,
    cancelled: &dyn Fn() -> bool,
) -> Result<Recording, AudioError> {
    let found = sniff::container(&mut source)?;
    let mut session = Session::new(limits, cancelled);
    let decoded = match (found, declared) {
        (Some(found), None) => decode_container(found, source, &mut session)?,
        // Companded silence can look like an MP3 frame, so a declaration yields only to a real signature.
        (Some(found), Some(_)) if found.has_signature() => {
            decode_container(found, source, &mut session)?
        }
        (_, Some(raw)) => raw::decode(source, raw, &mut session)?,
        (None, None) => return Err(AudioError::UnknownContainer),
    };
    session.finish(decoded)
}

fn decode_container(
    found: Container,
    source: Source,
    session: &mut Session,
) -> Result<Decoded, AudioError> {
    match found {
        Container::Wav => crate::wav::decode(source, session),
        other => media::decode(other, source, session),
    }
}
