//! What the fuzz targets share. A target may panic only when the product broke a promise.

use libfuzzer_sys::Corpus;
use sauti_audio::{AudioError, DecodeLimits, RawFormat, decode_bytes};

const SECONDS_MAX: f64 = 20.0;

/// Decodes bytes that claim to be one kind of file; others are left to the target of their own kind.
pub fn decode(data: &[u8], is_mine: fn(&[u8]) -> bool) -> Corpus {
    if !is_mine(data) {
        return Corpus::Reject;
    }
    decode_as(data, None);
    Corpus::Keep
}

pub fn decode_as(data: &[u8], declared: Option<RawFormat>) {
    let limits = DecodeLimits { seconds_max: SECONDS_MAX, ..DecodeLimits::default() };
    match decode_bytes(data.to_vec(), declared, &limits, &|| false) {
        Ok(recording) => {
            let seconds = recording.samples.len() as f64 / f64::from(sauti_audio::SAMPLE_RATE_HZ);
            // A packet past the limit may be decoded before it is noticed, but no more than that.
            assert!(seconds <= SECONDS_MAX + 1.0, "{seconds} s came out, {SECONDS_MAX} are allowed");
            assert!((recording.seconds - seconds).abs() < 0.1, "says {}, holds {seconds} s", recording.seconds);
        }
        Err(AudioError::Cancelled) => panic!("nobody cancelled"),
        Err(_) => {}
    }
}

pub fn has(data: &[u8], mark: &[u8]) -> bool {
    data.windows(mark.len()).take(4_096).any(|window| window == mark)
}
