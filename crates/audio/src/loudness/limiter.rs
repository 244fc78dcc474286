use std::collections::VecDeque;
use std::f64::consts::PI;

use super::gain_from_db;

const LOOKAHEAD_MS: usize = 5;
const RELEASE_MS: f64 = 60.0;
/// Points between two samples at which the reconstructed wave is looked at.
const POINTS: usize = 3;
const TAPS: usize = 16;
/// The wave between two samples both below this part of the ceiling is taken to stay below the ceiling.
const NEAR: f32 = 0.4;

/// Keeps true peaks (those between the samples too) under a ceiling. The gain comes down over 5 ms before a peak and recovers
/// slowly after it, so nothing is clipped and nothing clicks; sound below the ceiling is left as it is.
pub fn limit(samples: &mut [f32], rate_hz: u32, ceiling_dbfs: f64) {
    let ceiling = gain_from_db(ceiling_dbfs);
    let mut gains = needed_gains(samples, ceiling);
    if gains.iter().all(|&gain| gain == 1.0) {
        return;
    }
    let lookahead = (rate_hz as usize * LOOKAHEAD_MS / 1_000).max(1);
    lower_ahead(&mut gains, lookahead);
    recover_slowly(&mut gains, rate_hz);
    smooth(&mut gains, lookahead);
    for (sample, gain) in samples.iter_mut().zip(gains) {
        *sample *= gain;
    }
}

/// The largest magnitude of the wave that the samples stand for, by four times oversampling.
pub fn true_peak(samples: &[f32]) -> f32 {
    let table = interpolation_table();
    let loudest = samples
        .iter()
        .fold(0.0f32, |peak, sample| peak.max(sample.abs()));
    (0..samples.len()).fold(loudest, |peak, n| {
        if near(samples, n, loudest) {
            peak.max(peak_after(samples, n, &table))
        } else {
            peak
        }
    })
}

/// For each sample, the gain that it and the wave up to the next sample need on their own.
fn needed_gains(samples: &[f32], ceiling: f32) -> Vec<f32> {
    let table = interpolation_table();
    let mut gains = vec![1.0f32; samples.len()];
    for n in 0..samples.len() {
        if !near(samples, n, ceiling) {
            continue;
        }
        let between = peak_after(samples, n, &table);
        let peak = between.max(samples[n].abs());
        if peak > ceiling {
            gains[n] = gains[n].min(ceiling / peak);
        }
        if between > ceiling
            && let Some(next) = gains.get_mut(n + 1)
        {
            *next = next.min(ceiling / between);
        }
    }
    gains
}

fn near(samples: &[f32], n: usize, ceiling: f32) -> bool {
    let next = samples.get(n + 1).copied().unwrap_or(0.0);
    samples[n].abs().max(next.abs()) > NEAR * ceiling
}

fn peak_after(samples: &[f32], n: usize, table: &[[f32; TAPS]; POINTS]) -> f32 {
    let at = |tap: usize| {
        let place = (n + 1 + tap).checked_sub(TAPS / 2);
        place
            .and_then(|place| samples.get(place))
            .copied()
            .unwrap_or(0.0)
    };
    table.iter().fold(0.0, |peak, row| {
        let weighted = row.iter().enumerate().map(|(tap, weight)| weight * at(tap));
        peak.max(weighted.sum::<f32>().abs())
    })
}

/// Windowed sinc at a quarter, a half and three quarters of the way to the next sample.
fn interpolation_table() -> [[f32; TAPS]; POINTS] {
    let half = (TAPS / 2) as f64;
    std::array::from_fn(|point| {
        std::array::from_fn(|tap| {
            let t = tap as f64 - (half - 1.0) - (point + 1) as f64 / (POINTS + 1) as f64;
            let window = 0.5 + 0.5 * (PI * t / half).cos();
            ((PI * t).sin() / (PI * t) * window) as f32
        })
    })
}

/// Each gain becomes the smallest of itself and the `count` that follow.
fn lower_ahead(gains: &mut [f32], count: usize) {
    // Increasing from front to back; the front is the smallest in reach.
    let mut reach: VecDeque<(usize, f32)> = VecDeque::new();
    for n in (0..gains.len()).rev() {
        while reach.back().is_some_and(|&(_, gain)| gain >= gains[n]) {
            reach.pop_back();
        }
        reach.push_back((n, gains[n]));
        while reach.front().is_some_and(|&(place, _)| place > n + count) {
            reach.pop_front();
        }
        gains[n] = reach.front().map_or(1.0, |&(_, gain)| gain);
    }
}

fn recover_slowly(gains: &mut [f32], rate_hz: u32) {
    let release = 1.0 - (-1_000.0 / (RELEASE_MS * f64::from(rate_hz.max(1)))).exp() as f32;
    let mut current = 1.0f32;
    for gain in gains {
        current = (current + (1.0 - current) * release).min(*gain);
        *gain = current;
    }
}

/// A mean over the last `count` gains: each is at most what the current sample needs, so the mean is too.
fn smooth(gains: &mut [f32], count: usize) {
    let mut recent: VecDeque<f32> =
        std::iter::repeat_n(gains.first().copied().unwrap_or(1.0), count).collect();
    let mut sum: f64 = recent.iter().map(|&gain| f64::from(gain)).sum();
    for gain in gains {
        sum += f64::from(*gain) - f64::from(recent.pop_front().unwrap_or(1.0));
        recent.push_back(*gain);
        *gain = (sum / count as f64) as f32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peaks_between_samples_are_seen() {
        // A quarter of the rate, sampled at 45 degrees: the samples are 3 dB below the wave.
        let samples: Vec<f32> = (0..400)
            .map(|n| (PI * (n as f64 / 2.0 + 0.25)).sin() as f32)
            .collect();
        assert!(samples.iter().all(|sample| sample.abs() < 0.71));
        assert!(
            (true_peak(&samples) - 1.0).abs() < 0.02,
            "{}",
            true_peak(&samples)
        );
    }

    #[test]
    fn loud_sound_comes_under_the_ceiling_without_jumps() {
        let mut samples: Vec<f32> = (0..24_000)
            .map(|n| 3.0 * (n as f32 * 0.11).sin() * (n as f32 * 0.0007).sin())
            .collect();
        let before = samples.clone();
        limit(&mut samples, 24_000, -1.0);
        assert!(
            true_peak(&samples) <= gain_from_db(-1.0) * 1.005,
            "{}",
            true_peak(&samples)
        );
        let gains: Vec<f32> = samples
            .iter()
            .zip(&before)
            .filter(|(_, b)| b.abs() > 0.2)
            .map(|(a, b)| a / b)
            .collect();
        assert!(
            gains
                .windows(2)
                .all(|pair| (pair[1] - pair[0]).abs() < 0.05)
        );
    }

    #[test]
    fn sound_below_the_ceiling_is_untouched() {
        let mut samples: Vec<f32> = (0..5_000).map(|n| 0.8 * (n as f32 * 0.05).sin()).collect();
        let before = samples.clone();
        limit(&mut samples, 24_000, -1.0);
        assert_eq!(samples, before);
        limit(&mut [], 24_000, -1.0);
    }
}
