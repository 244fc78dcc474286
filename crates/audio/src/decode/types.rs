//! What decoding is told, and what it hands back.

use std::path::PathBuf;

use crate::Samples;

/// The rate of a decoded recording, where no other is asked for.
pub const SAMPLE_RATE_HZ: u32 = 16_000;

/// Whether the channels of a recording are heard as one, or each for itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Channels {
    #[default]
    Mixed,
    /// The two sides of a call: a recording must have exactly two channels.
    Separate,
}

/// The word is none of [`Channels::NAMES`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownChannels;

impl std::str::FromStr for Channels {
    type Err = UnknownChannels;

    fn from_str(name: &str) -> Result<Self, UnknownChannels> {
        match name {
            "mixed" => Ok(Channels::Mixed),
            "separate" => Ok(Channels::Separate),
            _ => Err(UnknownChannels),
        }
    }
}

impl Channels {
    pub const NAMES: &str = "mixed, separate";

    /// How many recordings one becomes.
    pub fn count(self) -> u32 {
        match self {
            Channels::Mixed => 1,
            Channels::Separate => 2,
        }
    }
}

/// How a recording is read, and what it may be before it is refused.
#[derive(Debug, Clone, PartialEq)]
pub struct DecodeLimits {
    pub channels: Channels,
    /// What it is resampled to; one of the rates that Opus decodes to by itself (16, 24 or 48 kHz).
    pub rate_hz: u32,
    pub seconds_max: f64,
    pub channels_max: u16,
    pub rate_hz_min: u32,
    pub rate_hz_max: u32,
    /// The folder for the samples of a long recording; without one they stay in memory.
    pub spool_dir: Option<PathBuf>,
}

impl Default for DecodeLimits {
    fn default() -> Self {
        Self {
            channels: Channels::Mixed,
            rate_hz: SAMPLE_RATE_HZ,
            seconds_max: 7_200.0,
            channels_max: 16,
            rate_hz_min: 4_000,
            rate_hz_max: 384_000,
            spool_dir: None,
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
#[derive(Debug, Clone)]
pub struct Recording {
    /// Mono, at the rate that was asked for.
    pub samples: Samples,
    /// Where channels were asked for separately: `samples` is the first, this is the second, just as long.
    pub second_channel: Option<Samples>,
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
