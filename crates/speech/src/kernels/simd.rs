//! Arithmetic on rows of floats, compiled for each instruction set and chosen when it runs.
//!
//! The loops are plain Rust that the compiler turns into vectors; nothing here contracts a product
//! and a sum, so the result does not depend on the machine's vector width.

use rten_simd::ops::{BitOps, NumOps};
use rten_simd::{Isa, Simd, SimdIterable, SimdOp};

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
pub(crate) fn vectorised<R>(work: impl FnOnce() -> R) -> R {
    Vectorised(work).dispatch()
}

/// e^x to about 2 units in the last place, for -87 <= x <= 88; clamped outside.
#[inline(always)]
pub(crate) fn exp(x: f32) -> f32 {
    let x = x.clamp(-87.0, 88.0);
    let shifted = x * std::f32::consts::LOG2_E + ROUNDING;
    let whole = shifted - ROUNDING;
    let rest = (x - whole * 0.693_359_4) + whole * 2.121_944_4e-4;
    let mut power = 1.987_569_1e-4;
    power = power * rest + 1.398_199_9e-3;
    power = power * rest + 8.333_452e-3;
    power = power * rest + 4.166_579_6e-2;
    power = power * rest + 1.666_666_5e-1;
    power = power * rest + 0.5;
    power = power * rest * rest + rest + 1.0;
    let exponent = (shifted.to_bits() << 23).wrapping_add(0x3f80_0000);
    power * f32::from_bits(exponent)
}

#[inline(always)]
pub(crate) fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + exp(-x))
}

#[inline(always)]
pub(crate) fn tanh(x: f32) -> f32 {
    2.0 * sigmoid(2.0 * x) - 1.0
}

/// Replaces scores by e^(score - highest) and gives their sum.
#[inline(always)]
pub(crate) fn exponentials(row: &mut [f32]) -> f32 {
    let top = largest(row);
    for value in row.iter_mut() {
        *value = exp(*value - top);
    }
    sum(row)
}

#[inline(always)]
fn largest(row: &[f32]) -> f32 {
    let (body, rest) = row.as_chunks::<LANES>();
    let mut lanes = [f32::MIN; LANES];
    for chunk in body {
        for (lane, value) in lanes.iter_mut().zip(chunk) {
            *lane = if value > lane { *value } else { *lane };
        }
    }
    lanes.iter().chain(rest).fold(f32::MIN, |a, &b| a.max(b))
}

/// Sine and cosine, for angles up to some thousands of radians.
#[inline(always)]
pub(crate) fn sin_cos(angle: f32) -> (f32, f32) {
    let shifted = angle * std::f32::consts::FRAC_2_PI + ROUNDING;
    let quarter = shifted.to_bits();
    let turns = shifted - ROUNDING;
    let x = ((angle - turns * 1.570_312_5) - turns * 4.837_513e-4) - turns * 7.549_79e-8;
    let square = x * x;
    let sine =
        ((-1.951_529_6e-4 * square + 8.332_161e-3) * square - 1.666_665_5e-1) * square * x + x;
    let cosine =
        ((2.443_315_7e-5 * square - 1.388_731_6e-3) * square + 4.166_664_6e-2) * square * square
            - 0.5 * square
            + 1.0;
    let swapped = quarter & 1 != 0;
    let (s, c) = if swapped {
        (cosine, sine)
    } else {
        (sine, cosine)
    };
    let s = f32::from_bits(s.to_bits() ^ ((quarter & 2) << 30));
    let c = f32::from_bits(c.to_bits() ^ ((quarter.wrapping_add(1) & 2) << 30));
    (s, c)
}

/// GELU, x times the normal distribution's integral up to x, to 2e-4: a fiftieth of a step of the
/// 8-bit codes it is rounded to next.
#[inline(always)]
pub(crate) fn gelu(x: f32) -> f32 {
    // Least squares over 0 to 4, one half at 4.
    const SERIES: [f32; 7] = [
        0.397_884_57,
        -0.064_574_91,
        0.008_773_237,
        -0.000_814_195_5,
        4.797_449e-5,
        -1.599_572_6e-6,
        2.280_064_6e-8,
    ];
    let inner = x.clamp(-4.0, 4.0);
    let square = inner * inner;
    let mut series = SERIES[6];
    for coefficient in SERIES[..6].iter().rev() {
        series = series * square + coefficient;
    }
    x * (0.5 + inner * series)
}

#[inline(always)]
pub(crate) fn sum(values: &[f32]) -> f32 {
    let mut lanes = [0.0f32; LANES];
    let (body, rest) = values.as_chunks::<LANES>();
    for chunk in body {
        for (lane, value) in lanes.iter_mut().zip(chunk) {
            *lane += value;
        }
    }
    lanes.iter().sum::<f32>() + rest.iter().sum::<f32>()
}

#[inline(always)]
fn sum_of_squares_around(values: &[f32], centre: f32) -> f32 {
    let mut lanes = [0.0f32; LANES];
    let (body, rest) = values.as_chunks::<LANES>();
    for chunk in body {
        for (lane, value) in lanes.iter_mut().zip(chunk) {
            *lane += (value - centre) * (value - centre);
        }
    }
    let tail: f32 = rest.iter().map(|v| (v - centre) * (v - centre)).sum();
    lanes.iter().sum::<f32>() + tail
}

#[inline(always)]
pub(crate) fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut lanes = [0.0f32; LANES];
    let (body_a, rest_a) = a.as_chunks::<LANES>();
    let (body_b, rest_b) = b.as_chunks::<LANES>();
    for (x, y) in body_a.iter().zip(body_b) {
        for lane in 0..LANES {
            lanes[lane] += x[lane] * y[lane];
        }
    }
    let tail: f32 = rest_a.iter().zip(rest_b).map(|(x, y)| x * y).sum();
    lanes.iter().sum::<f32>() + tail
}

struct RangeWithZero<'a>(&'a [f32]);

impl SimdOp for RangeWithZero<'_> {
    type Output = (f32, f32);

    #[inline(always)]
    fn eval<I: Isa>(self, isa: I) -> (f32, f32) {
        let ops = isa.f32();
        let [low, high] = self.0.simd_iter(ops).fold_n_unroll::<2, 2>(
            [ops.zero(), ops.zero()],
            #[inline(always)]
            |[low, high], x| [ops.min(low, x), ops.max(high, x)],
            #[inline(always)]
            |[low, high], [low_b, high_b]| [ops.min(low, low_b), ops.max(high, high_b)],
        );
        let (low, high) = (low.to_array(), high.to_array());
        (
            low.as_ref().iter().fold(0.0, |a, &b| a.min(b)),
            high.as_ref().iter().fold(0.0, |a, &b| a.max(b)),
        )
    }
}

/// The smallest and the largest of the values and zero. Written with explicit vectors: the
/// compiler does not find them by itself here.
#[inline(always)]
pub(crate) fn range_with_zero(values: &[f32]) -> (f32, f32) {
    RangeWithZero(values).dispatch()
}

/// A row with mean 0 and variance 1, each channel then scaled and shifted.
#[inline(always)]
pub(crate) fn normalise(row: &[f32], scale: &[f32], shift: &[f32], out: &mut [f32]) {
    const EPSILON: f32 = 1e-5;
    let count = row.len() as f32;
    let mean = sum(row) / count;
    let variance = sum_of_squares_around(row, mean) / count;
    let inverse = 1.0 / (variance + EPSILON).sqrt();
    let channels = row.iter().zip(scale).zip(shift);
    for (out, ((value, scale), shift)) in out.iter_mut().zip(channels) {
        *out = (value - mean) * inverse * scale + shift;
    }
}

/// Writes a row as codes from 0 to 255; gives the size of a step and the code that means zero.
#[inline(always)]
pub(crate) fn quantise(row: &[f32], codes: &mut [u8]) -> (f32, u8) {
    const LEVELS: f32 = 255.0;
    let (low, high) = range_with_zero(row);
    let step = ((high - low) / LEVELS).max(1e-20);
    let inverse = 1.0 / step;
    let zero = (-low * inverse).round().clamp(0.0, LEVELS);
    for (code, value) in codes.iter_mut().zip(row) {
        let level = (value * inverse + zero).clamp(0.0, LEVELS);
        *code = (level + ROUNDING).to_bits() as u8;
    }
    (step, zero as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exp_agrees_with_the_standard_library() {
        for i in -8700..8800 {
            let x = i as f32 / 100.0;
            let want = x.exp();
            assert!((exp(x) - want).abs() <= want * 4e-7, "exp({x})");
        }
    }

    #[test]
    fn exponentials_are_relative_to_the_highest() {
        let scores: Vec<f32> = (0..57).map(|i| (i as f32 * 0.7).sin() * 9.0).collect();
        let mut row = scores.clone();
        let total = exponentials(&mut row);
        let top = scores.iter().copied().fold(f32::MIN, f32::max);
        let wanted: Vec<f32> = scores.iter().map(|x| (x - top).exp()).collect();
        for (a, b) in row.iter().zip(&wanted) {
            assert!((a - b).abs() < 1e-6, "{a} {b}");
        }
        assert!((total - wanted.iter().sum::<f32>()).abs() < 1e-4);
    }

    #[test]
    fn sine_and_cosine_agree_with_the_standard_library() {
        for i in -20_000..20_000 {
            let x = i as f32 / 37.0;
            let (s, c) = sin_cos(x);
            assert!((f64::from(s) - f64::from(x).sin()).abs() < 3e-6, "sin({x})");
            assert!((f64::from(c) - f64::from(x).cos()).abs() < 3e-6, "cos({x})");
        }
    }

    #[test]
    fn gelu_is_the_identity_far_right_and_zero_far_left() {
        for (x, want) in [
            (8.0, 8.0),
            (-8.0, 0.0),
            (1.0, 0.841_344_7),
            (-0.5, -0.154_268_77),
        ] {
            assert!((gelu(x) - want).abs() < 4e-4, "gelu({x}) is {}", gelu(x));
        }
    }

    #[test]
    fn quantised_values_are_within_half_a_step() {
        let row: Vec<f32> = (0..100)
            .map(|i| (i as f32 * 0.37).sin() * 3.0 + 0.5)
            .collect();
        let mut codes = vec![0; row.len()];
        let (step, zero) = quantise(&row, &mut codes);
        for (value, code) in row.iter().zip(&codes) {
            let back = (f32::from(*code) - f32::from(zero)) * step;
            assert!((back - value).abs() <= step * 0.51, "{value} became {back}");
        }
    }

    #[test]
    fn a_row_of_zeros_quantises_to_zero() {
        let mut codes = [9; 32];
        let (_, zero) = quantise(&[0.0; 32], &mut codes);
        assert!(codes.iter().all(|&code| code == zero));
    }
}
