//! Arithmetic on rows of floats: plain loops, compiled for each instruction set.

use rten_simd::{Isa, SimdOp};

const LANES: usize = 16;
/// Adding this to a float rounds it to an integer that then stands in the low bits.
const ROUNDING: f32 = 12_582_912.0; // 1.5 * 2^23

struct Vectorised<F>(F);

impl<R, F: FnOnce() -> R> SimdOp for Vectorised<F> {
    type Output = R;

    #[inline(always)]
    fn eval<I: Isa>(self, _isa: I) -> R {
        (self.0)()
    }
}

/// Runs `work` in the widest instruction set the machine has. What it calls must be
/// `#[inline(always)]`, or it is compiled for the narrowest.
#[inline]
pub fn vectorised<R>(work: impl FnOnce() -> R) -> R {
    Vectorised(work).dispatch()
}

/// e^x for x up to 0, to about 1e-6 of its value; tiny below -80.
#[inline(always)]
fn exp_negative(x: f32) -> f32 {
    let x = if x < -80.0 { -80.0 } else { x };
    let shifted = x * std::f32::consts::LOG2_E + ROUNDING;
    let whole = shifted - ROUNDING;
    let rest = (x - whole * 0.693_359_4) + whole * 2.121_944_4e-4;
    let mut power = 1.398_199_9e-3;
    power = power * rest + 8.333_452e-3;
    power = power * rest + 4.166_579_6e-2;
    power = power * rest + 1.666_666_5e-1;
    power = power * rest + 0.5;
    power = power * rest * rest + rest + 1.0;
    let exponent = (shifted.to_bits() << 23).wrapping_add(0x3f80_0000);
    power * f32::from_bits(exponent)
}

/// The exact GELU to about 1e-6 (Abramowitz and Stegun 7.1.26 for the error function).
#[inline(always)]
pub fn gelu(x: f32) -> f32 {
    let z = x.abs() * std::f32::consts::FRAC_1_SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * z);
    let series = ((((1.061_405_4 * t - 1.453_152) * t + 1.421_413_7) * t - 0.284_496_74) * t
        + 0.254_829_6)
        * t;
    let tail = 0.5 * series * exp_negative(-z * z);
    if x > 0.0 { x - x * tail } else { x * tail }
}

/// Replaces scores by e^(score - highest) and gives their sum.
#[inline(always)]
pub fn exponentials(row: &mut [f32]) -> f32 {
    let (body, rest) = row.as_chunks_mut::<LANES>();
    let mut highest = [f32::MIN; LANES];
    for chunk in &*body {
        for lane in 0..LANES {
            highest[lane] = if chunk[lane] > highest[lane] {
                chunk[lane]
            } else {
                highest[lane]
            };
        }
    }
    let top = highest
        .iter()
        .chain(&*rest)
        .fold(f32::MIN, |a, &b| a.max(b));
    let mut sums = [0f32; LANES];
    for chunk in body {
        for lane in 0..LANES {
            chunk[lane] = exp_negative(chunk[lane] - top);
            sums[lane] += chunk[lane];
        }
    }
    let mut sum: f32 = sums.iter().sum();
    for value in rest {
        *value = exp_negative(*value - top);
        sum += *value;
    }
    sum
}

#[inline(always)]
fn sum_of(row: &[f32], term: impl Fn(f32) -> f32) -> f32 {
    let (body, rest) = row.as_chunks::<LANES>();
    let mut sums = [0f32; LANES];
    for chunk in body {
        for lane in 0..LANES {
            sums[lane] += term(chunk[lane]);
        }
    }
    sums.iter().sum::<f32>() + rest.iter().map(|x| term(*x)).sum::<f32>()
}

/// A row with mean 0 and variance 1, scaled and shifted by channel.
#[inline(always)]
pub fn normalise(row: &[f32], scale: &[f32], shift: &[f32], out: &mut [f32]) {
    let count = row.len() as f32;
    let mean = sum_of(row, |x| x) / count;
    let variance = sum_of(row, |x| (x - mean) * (x - mean)) / count;
    let inverse = 1.0 / (variance + 1e-5).sqrt();
    let channels = row.iter().zip(scale).zip(shift);
    for (out, ((x, scale), shift)) in out.iter_mut().zip(channels) {
        *out = (x - mean) * inverse * scale + shift;
    }
}

/// Writes a row as codes from 0 to `levels`; gives the size of a step and the code that means zero.
#[inline(always)]
pub fn quantise(row: &[f32], levels: f32, codes: &mut [u8]) -> (f32, f32) {
    let (mut low, mut high) = ([0f32; LANES], [0f32; LANES]);
    let (body, rest) = row.as_chunks::<LANES>();
    for chunk in body {
        for lane in 0..LANES {
            low[lane] = if chunk[lane] < low[lane] {
                chunk[lane]
            } else {
                low[lane]
            };
            high[lane] = if chunk[lane] > high[lane] {
                chunk[lane]
            } else {
                high[lane]
            };
        }
    }
    let low = low.iter().chain(rest).fold(0f32, |a, &b| a.min(b));
    let high = high.iter().chain(rest).fold(0f32, |a, &b| a.max(b));
    let step = ((high - low) / levels).max(1e-20);
    let inverse = 1.0 / step;
    let zero = (-low * inverse).round().clamp(0.0, levels);
    for (code, value) in codes.iter_mut().zip(row) {
        let level = (value * inverse + zero).clamp(0.0, levels);
        *code = (level + ROUNDING).to_bits() as u8;
    }
    (step, zero)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponentials_agree_with_the_standard_library() {
        let scores: Vec<f32> = (0..57).map(|i| (i as f32 * 0.7).sin() * 9.0).collect();
        let mut row = scores.clone();
        let sum = exponentials(&mut row);
        let top = scores.iter().copied().fold(f32::MIN, f32::max);
        let wanted: Vec<f32> = scores.iter().map(|x| (x - top).exp()).collect();
        for (a, b) in row.iter().zip(&wanted) {
            assert!((a - b).abs() < 2e-6, "{a} {b}");
        }
        assert!((sum - wanted.iter().sum::<f32>()).abs() < 1e-4);
    }

    #[test]
    fn gelu_has_its_known_values() {
        for (x, y) in [
            (0.0, 0.0),
            (1.0, 0.841_344_7),
            (-0.5, -0.154_268_77),
            (9.0, 9.0),
            (-9.0, 0.0),
        ] {
            assert!((gelu(x) - y).abs() < 1e-6, "{x}");
        }
    }

    #[test]
    fn codes_are_within_half_a_step() {
        let row: Vec<f32> = (0..100)
            .map(|i| (i as f32 * 0.37).sin() * 3.0 + 0.5)
            .collect();
        let mut codes = vec![0; row.len()];
        let (step, zero) = quantise(&row, 255.0, &mut codes);
        for (value, code) in row.iter().zip(&codes) {
            assert!(((f32::from(*code) - zero) * step - value).abs() <= step * 0.51);
        }
    }
}
