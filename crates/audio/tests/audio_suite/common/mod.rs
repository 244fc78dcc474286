//! A voice-like signal and ways to compare two signals.

pub mod mutate;

use std::f64::consts::PI;

use mutate::Noise;

use sauti_audio::{AudioError, DecodeLimits, Recording, Samples, decode_bytes};

/// Harmonics of a gliding pitch under a syllable envelope, a little noise, nothing over 3.3 kHz, so that it survives a phone
/// line. It does not repeat, so a shift shows.
pub fn voice(rate_hz: u32, seconds: f64) -> Vec<f32> {
    let mut noise = Noise(0x9e37_79b9_7f4a_7c15);
    let mut phase = 0.0f64;
    let count = (seconds * f64::from(rate_hz)).round() as usize;
    (0..count)
        .map(|n| {
            let t = n as f64 / f64::from(rate_hz);
            let pitch_hz =
                120.0 + 30.0 * (2.0 * PI * 0.7 * t).sin() + 10.0 * (2.0 * PI * 0.31 * t).cos();
            phase += pitch_hz / f64::from(rate_hz);
            let formant_hz = 700.0 + 400.0 * (2.0 * PI * 1.3 * t).sin();
            let tone: f64 = (1..=20)
                .map(|k| {
                    let distance = (f64::from(k) * pitch_hz - formant_hz) / 500.0;
                    (2.0 * PI * phase * f64::from(k)).sin() * (-distance * distance).exp()
                })
                .sum();
            let syllable = (0.5 - 0.5 * (2.0 * PI * 3.7 * t).cos())
                * (0.7 + 0.3 * (2.0 * PI * 0.45 * t).sin());
            (0.12 * tone * syllable) as f32 + 0.0005 * noise.sample()
        })
        .collect()
}

pub fn floats(samples: &Samples) -> Vec<f32> {
    let samples = samples.all().unwrap();
    samples.iter().map(|&s| f32::from(s) / 32_768.0).collect()
}

/// The best normalised correlation of the middle of `b` with `a` for shifts up to `lag_max` samples, and the shift.
pub fn correlation(a: &[f32], b: &[f32], lag_max: usize) -> (f64, i64) {
    let length = b.len() / 2;
    let start = (b.len() - length) / 2;
    let b = &b[start..start + length];
    let lag_max = lag_max.min(start) as i64;
    (-lag_max..=lag_max)
        .filter_map(|lag| {
            let first = usize::try_from(start as i64 + lag).ok()?;
            Some((similarity(a.get(first..first + length)?, b), lag))
        })
        .max_by(|x, y| x.0.total_cmp(&y.0))
        .unwrap_or((0.0, 0))
}

fn similarity(a: &[f32], b: &[f32]) -> f64 {
    let (mut ab, mut aa, mut bb) = (0.0f64, 1e-12f64, 1e-12f64);
    for (&x, &y) in a.iter().zip(b) {
        let (x, y) = (f64::from(x), f64::from(y));
        ab += x * y;
        aa += x * x;
        bb += y * y;
    }
    ab / (aa * bb).sqrt()
}

pub fn decode(bytes: Vec<u8>) -> Result<Recording, AudioError> {
    decode_bytes(bytes, None, &DecodeLimits::default(), &|| false)
}
