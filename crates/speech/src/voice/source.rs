//! What the filters work on: a train of pulses at the pitch, and white noise.

use crate::kernels::simd::{sin_cos, vectorised};

pub(super) const SAMPLE_RATE_HZ: u32 = 24_000;
/// Samples from one frame to the next.
pub(super) const HOP: usize = 256;
/// The pulses carry harmonics up to here, just below half the sample rate.
const HARMONIC_TOP_HZ: f32 = 11_500.0;
const PITCH_MIN_HZ: f32 = 50.0;
const PITCH_MAX_HZ: f32 = 800.0;

/// Pitch and voicing of the frames so far.
#[derive(Debug, Default)]
pub(super) struct Pitch {
    /// 0 or 1.
    pub voiced: Vec<f32>,
    /// 0 where not voiced.
    pub voiced_hz: Vec<f32>,
}

impl Pitch {
    pub(super) fn push(&mut self, hz: f32, voiced: f32) {
        self.voiced.push(voiced);
        self.voiced_hz.push(hz * voiced);
    }

    pub(super) fn frames(&self) -> usize {
        self.voiced.len()
    }
}

/// A band-limited pulse train whose phase runs on from call to call.
#[derive(Debug, Default)]
pub(super) struct Pulses {
    next_sample: usize,
    phase: f64,
    phases: Vec<f32>,
    hz: Vec<f32>,
    level: Vec<f32>,
}

impl Pulses {
    /// Appends samples up to `end`. Pitch must be known for the frame after the last sample's,
    /// unless that is where the clause ends.
    pub(super) fn extend(&mut self, pitch: &Pitch, end: usize, out: &mut Vec<f32>) {
        self.phases.clear();
        self.hz.clear();
        self.level.clear();
        let mut from = self.next_sample;
        while from < end {
            from = self.extend_contour(pitch, from, end);
        }
        for hz in &self.hz {
            self.phase += f64::from(hz * (1.0 / SAMPLE_RATE_HZ as f32));
            if self.phase >= 1.0 {
                self.phase -= 1.0;
            }
            self.phases.push((self.phase - 0.5) as f32);
        }
        self.next_sample = self.next_sample.max(end);
        let start = out.len();
        out.resize(start + self.phases.len(), 0.0);
        let out = &mut out[start..];
        vectorised(
            #[inline(always)]
            || {
                let inputs = self.phases.iter().zip(&self.hz).zip(&self.level);
                for (out, ((phase, hz), level)) in out.iter_mut().zip(inputs) {
                    *out = pulse(*phase, *hz, *level);
                }
            },
        );
    }

    /// Appends pitch and level from `from` to the next centre of a frame, or to `end`: between
    /// two centres both are straight lines. Gives where it stopped.
    fn extend_contour(&mut self, pitch: &Pitch, from: usize, end: usize) -> usize {
        let last = pitch.frames() - 1;
        let left = (from.saturating_sub(HOP / 2) / HOP).min(last);
        let right = (left + 1).min(last);
        let next_centre = if from < HOP / 2 {
            HOP / 2
        } else {
            left * HOP + HOP + HOP / 2
        };
        let stop = if left == last {
            end
        } else {
            next_centre.min(end)
        };
        let (level, level_end) = (pitch.voiced[left], pitch.voiced[right]);
        let (hz, hz_end) = (pitch.voiced_hz[left], pitch.voiced_hz[right]);
        let centre = (left * HOP + HOP / 2) as f32;
        let start = self.hz.len();
        self.hz.resize(start + stop - from, 0.0);
        self.level.resize(start + stop - from, 0.0);
        let out = self.hz[start..].iter_mut().zip(&mut self.level[start..]);
        for (at, (hz_out, level_out)) in out.enumerate() {
            let sample = (from + at) as f32 + 0.5;
            let share = ((sample - centre) * (1.0 / HOP as f32)).max(0.0);
            let voiced = level * (1.0 - share) + level_end * share;
            let raw = (hz * (1.0 - share) + hz_end * share) / voiced.max(1e-2);
            *hz_out = raw.clamp(PITCH_MIN_HZ, PITCH_MAX_HZ);
            *level_out = voiced;
        }
        stop
    }
}

/// The sum of cosines of all harmonics below the top, at a phase of -0.5 to 0.5 periods.
#[inline(always)]
fn pulse(phase: f32, hz: f32, level: f32) -> f32 {
    let harmonics = (HARMONIC_TOP_HZ / hz).floor();
    let (sine, _) = sin_cos(std::f32::consts::PI * phase);
    let half_turns = (2.0 * harmonics + 1.0) * phase;
    // Whole turns are taken off before the angle is scaled: it stays exact.
    let half_turns = half_turns - 2.0 * (half_turns * 0.5).round_ties_even();
    let (top, _) = sin_cos(std::f32::consts::PI * half_turns);
    let at_pulse = sine.abs() < 1e-3;
    let divisor = if at_pulse { 1.0 } else { sine };
    let elsewhere = 0.5 * (top / divisor - 1.0);
    let sum = if at_pulse { harmonics } else { elsewhere };
    sum * (2.0 / harmonics).sqrt() * level
}

/// White noise of variance 1 from a fixed seed: the same text always sounds the same.
#[derive(Debug, Clone)]
pub(super) struct Noise {
    state: u64,
}

impl Noise {
    pub(super) fn new() -> Self {
        Self {
            state: 0x5a07_1500_24c0_ffee,
        }
    }

    /// The sum of four even distributions: near enough to a bell curve for a filter's input.
    pub(super) fn next(&mut self) -> f32 {
        // SplitMix64.
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
        let sum: i32 = (0..4)
            .map(|part| ((z >> (16 * part)) & 0xffff) as i32)
            .sum();
        // Four numbers of variance 65,536^2 / 12 each.
        (sum - 2 * 65_535) as f32 * (1.732_050_8 / 65_536.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steady(hz: f32, frames: usize) -> Pitch {
        let mut pitch = Pitch::default();
        for _ in 0..frames {
            pitch.push(hz, 1.0);
        }
        pitch
    }

    #[test]
    fn noise_has_mean_0_and_variance_1() {
        let mut noise = Noise::new();
        let values: Vec<f64> = (0..100_000).map(|_| f64::from(noise.next())).collect();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let variance = values.iter().map(|v| v * v).sum::<f64>() / values.len() as f64;
        assert!(mean.abs() < 0.01, "mean {mean}");
        assert!((variance - 1.0).abs() < 0.02, "variance {variance}");
    }

    #[test]
    fn a_second_has_as_many_pulses_as_the_pitch() {
        let mut samples = Vec::new();
        Pulses::default().extend(&steady(120.0, 94), 24_000, &mut samples);
        let high = samples.iter().fold(0.0f32, |a, &b| a.max(b)) * 0.5;
        let mut peaks = 0;
        for w in samples.windows(3) {
            peaks += usize::from(w[1] > high && w[1] >= w[0] && w[1] > w[2]);
        }
        assert!((119..=121).contains(&peaks), "{peaks} pulses");
    }

    #[test]
    fn pulses_do_not_depend_on_how_they_are_asked_for() {
        let mut pitch = Pitch::default();
        for frame in 0..40 {
            pitch.push(100.0 + frame as f32 * 3.0, f32::from(frame % 7 != 0));
        }
        let (mut whole, mut parts) = (Vec::new(), Vec::new());
        Pulses::default().extend(&pitch, 40 * HOP, &mut whole);
        let mut pulses = Pulses::default();
        for end in (0..=40 * HOP).step_by(97).chain([40 * HOP]) {
            pulses.extend(&pitch, end, &mut parts);
        }
        assert_eq!(whole, parts);
    }
}
