//! Any recording to mono 16 kHz samples, and speech to every output format: decoding, resampling, loudness, encoding.
//!
//! Pure functions on bytes and samples, but for the file that the samples of a long recording wait in. This crate knows nothing of HTTP, models, accounts or Swahili. Every input is
//! hostile until it is decoded: memory grows only with the seconds really decoded, and no bytes make it panic.

#![warn(unreachable_pub)]

mod decode;
mod encode;
mod error;
mod format;
pub mod g711;
mod gsm;
pub mod loudness;
mod opus;
pub mod pcm;
mod resample;
mod samples;
mod wav;

pub use decode::{
    Channels, DecodeLimits, GUESS_BYTES, RawFormat, Recording, SAMPLE_RATE_HZ, UnknownChannels,
    container_name, decode_bytes, decode_file, guess_seconds, seconds_at_most,
};
pub use encode::{StreamEncoder, encode, encode_speech};
pub use error::AudioError;
pub use format::{OutputFormat, UnknownFormat};
pub use resample::{Resampler, resample};
pub use samples::Samples;
