//! What decoding is told, and what it hands back.

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
