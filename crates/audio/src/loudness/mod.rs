//! How loud speech is, and making it as loud as wanted without clipping or clicks.

mod limiter;
mod meter;

pub use limiter::{limit, true_peak};
pub use meter::{KWeighting, loudness, lufs, power_of};

/// Loudness of speech for applications and for a phone line.
pub const SPEECH_LUFS: f64 = -16.0;
pub const TELEPHONE_LUFS: f64 = -20.0;
/// Leaves room for what codecs add to a peak.
pub const CEILING_DBFS: f64 = -1.0;
/// Silence must not be blown up into hiss.
const GAIN_DB_MAX: f64 = 30.0;

/// The factor that `db` decibels mean.
pub fn gain_from_db(db: f64) -> f32 {
    10f64.powf(db / 20.0) as f32
}

/// The factor that brings sound of one loudness to another; 1 for silence.
pub fn gain_between(measured_lufs: f64, target_lufs: f64) -> f32 {
    if measured_lufs.is_finite() {
        gain_from_db((target_lufs - measured_lufs).min(GAIN_DB_MAX))
    } else {
        1.0
    }
}

pub fn apply_gain(samples: &mut [f32], gain: f32) {
    samples.iter_mut().for_each(|sample| *sample *= gain);
}

/// Brings a whole signal to a loudness and keeps its true peaks under the ceiling.
pub fn normalise(samples: &mut [f32], rate_hz: u32, target_lufs: f64, ceiling_dbfs: f64) {
    let gain = gain_between(lufs(samples, rate_hz), target_lufs);
    apply_gain(samples, gain);
    limit(samples, rate_hz, ceiling_dbfs);
}

/// Raises the beginning from silence over `fade_ms`, with no corner a listener could hear as a click.
pub fn fade_in(samples: &mut [f32], rate_hz: u32, fade_ms: f64) {
    let count = fade_samples(samples.len(), rate_hz, fade_ms);
    for (n, sample) in samples[..count].iter_mut().enumerate() {
        *sample *= raised_cosine(n, count);
    }
}

/// Lowers the end to silence over `fade_ms`.
pub fn fade_out(samples: &mut [f32], rate_hz: u32, fade_ms: f64) {
    let count = fade_samples(samples.len(), rate_hz, fade_ms);
    for (n, sample) in samples.iter_mut().rev().take(count).enumerate() {
        *sample *= raised_cosine(n, count);
    }
}

fn fade_samples(available: usize, rate_hz: u32, fade_ms: f64) -> usize {
    ((fade_ms / 1_000.0 * f64::from(rate_hz)) as usize).min(available)
}

fn raised_cosine(n: usize, count: usize) -> f32 {
    let phase = std::f64::consts::PI * n as f64 / count as f64;
    (0.5 - 0.5 * phase.cos()) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_voice_is_brought_to_the_wanted_loudness_under_the_ceiling() {
        let rate_hz = 24_000;
        let mut speech: Vec<f32> = (0..rate_hz * 4)
            .map(|n| {
                let t = n as f32 / rate_hz as f32;
                0.02 * (t * 900.0).sin() * (1.0 + (t * 25.0).sin())
            })
            .collect();
        normalise(&mut speech, rate_hz, SPEECH_LUFS, CEILING_DBFS);
        assert!((lufs(&speech, rate_hz) - SPEECH_LUFS).abs() < 0.3);
        assert!(true_peak(&speech) <= gain_from_db(CEILING_DBFS) * 1.001);
    }

    #[test]
    fn silence_stays_silent() {
        let mut silence = vec![0.0; 24_000];
        normalise(&mut silence, 24_000, SPEECH_LUFS, CEILING_DBFS);
        assert!(silence.iter().all(|&sample| sample == 0.0));
        assert_eq!(gain_between(f64::NEG_INFINITY, SPEECH_LUFS), 1.0);
    }

    #[test]
    fn fades_start_and_end_at_zero_and_leave_the_middle_alone() {
        let mut tone = vec![1.0; 1_000];
        fade_in(&mut tone, 8_000, 10.0);
        fade_out(&mut tone, 8_000, 10.0);
        assert_eq!((tone[0], tone[999]), (0.0, 0.0));
        assert!(tone[80..920].iter().all(|&sample| sample == 1.0));
        assert!(tone.windows(2).all(|pair| (pair[1] - pair[0]).abs() < 0.03));
        fade_out(&mut [0.5; 3], 8_000, 10.0);
    }
}
