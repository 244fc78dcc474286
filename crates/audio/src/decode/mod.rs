//! Recordings in. The bytes decide what a file is; its name and its declared type do not count.

mod aac;
mod edits;
mod guess;
pub(crate) mod media;
mod raw;
mod session;
mod sniff;
mod source;
mod types;

use std::fs::File;
use std::io::Cursor;

pub use guess::{GUESS_BYTES, guess_seconds, seconds_at_most};
pub(crate) use session::DecodeSession;
pub use sniff::container_name;
pub(crate) use source::{AudioSource, LimitedHeader, Window};
pub(crate) use types::Decoded;
pub use types::{Channels, DecodeLimits, RawFormat, Recording, SAMPLE_RATE_HZ, UnknownChannels};

use crate::AudioError;
use sniff::{Container, Found};

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
    mut source: AudioSource,
    declared: Option<RawFormat>,
    limits: &DecodeLimits,
    cancelled: &dyn Fn() -> bool,
) -> Result<Recording, AudioError> {
    let found = sniff::container(&mut source, declared.is_some())?;
    let mut session = DecodeSession::new(limits, cancelled);
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
    Found { container, start }: Found,
    source: AudioSource,
    session: &mut DecodeSession,
) -> Result<Decoded, AudioError> {
    let source: AudioSource = match (start, source.byte_len()) {
        (0, _) | (_, None) => source,
        (start, Some(bytes)) => Box::new(Window::new(source, start, bytes.saturating_sub(start))?),
    };
    match container {
        Container::Wav => crate::wav::decode("wav", source, session),
        Container::Aiff => crate::wav::decode("aiff", source, session),
        Container::Au => crate::wav::decode_au(source, session),
        Container::Gsm => raw::decode_gsm(source, session),
        other => media::decode(other, source, session),
    }
}
