//! Arithmetic on rows of floats, compiled for each instruction set and chosen when it runs.
//!
//! The loops are plain Rust that the compiler turns into vectors, or explicit vectors where it does not; nothing here
//! contracts a product and a sum, so the result does not depend on the machine's vector width.

use rten_simd::ops::{BitOps, FloatOps, NarrowSaturate, NumOps, ToFloat};
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

/// Least squares over 0 to 4, one half at 4.
const GELU_SERIES: [f32; 7] = [
    0.397_884_57,
    -0.064_574_91,
    0.008_773_237,
    -0.000_814_195_5,
    4.797_449e-5,
    -1.599_572_6e-6,
    2.280_064_6e-8,
];
const GELU_MAX: f32 = 4.0;

/// GELU, x times the normal distribution's integral up to x, to 2e-4: a fiftieth of a step of the
/// 8-bit codes it is rounded to next.
#[inline(always)]
pub(crate) fn gelu(x: f32) -> f32 {
    let inner = x.clamp(-GELU_MAX, GELU_MAX);
    let square = inner * inner;
    let mut series = GELU_SERIES[6];
    for coefficient in GELU_SERIES[..6].iter().rev() {
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

/// Adds to each row of `out`, so many columns wide, a stretch of `x` times a matrix stored input by input. The stretches begin
/// `stride` apart, and may overlap.
pub(crate) fn add_products(
    out: &mut [f32],
    columns: usize,
    x: &[f32],
    stride: usize,
    matrix: &[f32],
) {
    let products = AddProducts {
        out,
        columns,
        x,
        stride,
        matrix,
    };
    products.dispatch();
}

struct AddProducts<'a> {
    out: &'a mut [f32],
    columns: usize,
    x: &'a [f32],
    stride: usize,
    matrix: &'a [f32],
}

impl SimdOp for AddProducts<'_> {
    type Output = ();

    #[inline(always)]
    fn eval<I: Isa>(mut self, isa: I) {
        let rows = self.out.len() / self.columns;
        let mut row = 0;
        // As many sums at once as registers hold.
        while row < rows {
            row += match rows - row {
                4.. => self.rows::<I, 4, 2>(isa, row),
                2..4 => self.rows::<I, 2, 4>(isa, row),
                _ => self.rows::<I, 1, 8>(isa, row),
            };
        }
    }
}

impl AddProducts<'_> {
    /// So many rows, so many vectors of columns at a time. Gives the number of rows.
    #[inline(always)]
    fn rows<I: Isa, const ROWS: usize, const VECTORS: usize>(
        &mut self,
        isa: I,
        row: usize,
    ) -> usize {
        let lanes = isa.f32().len();
        let mut column = 0;
        while column + VECTORS * lanes <= self.columns {
            self.block::<I, ROWS, VECTORS>(isa, row, column);
            column += VECTORS * lanes;
        }
        while column + lanes <= self.columns {
            self.block::<I, ROWS, 1>(isa, row, column);
            column += lanes;
        }
        for row in row..row + ROWS {
            for column in column..self.columns {
                let weights = self.matrix[column..].iter().step_by(self.columns);
                let products = weights.zip(&self.x[row * self.stride..]);
                self.out[row * self.columns + column] += products.map(|(w, x)| w * x).sum::<f32>();
            }
        }
        ROWS
    }

    #[inline(always)]
    fn block<I: Isa, const ROWS: usize, const VECTORS: usize>(
        &mut self,
        isa: I,
        row: usize,
        column: usize,
    ) {
        let ops = isa.f32();
        let inputs = self.matrix.len() / self.columns;
        let x: [&[f32]; ROWS] =
            std::array::from_fn(|i| &self.x[(row + i) * self.stride..][..inputs]);
        let at = |i: usize| (row + i) * self.columns + column;
        let mut sums: [[I::F32; VECTORS]; ROWS] =
            std::array::from_fn(|i| ops.load_many(&self.out[at(i)..]));
        for (input, weights) in self.matrix.chunks_exact(self.columns).enumerate() {
            let weights: [I::F32; VECTORS] = ops.load_many(&weights[column..]);
            for i in 0..ROWS {
                let x = ops.splat(x[i][input]);
                for k in 0..VECTORS {
                    sums[i][k] = ops.add(sums[i][k], ops.mul(weights[k], x));
                }
            }
        }
        for (i, sums) in sums.into_iter().enumerate() {
            for (k, sum) in sums.into_iter().enumerate() {
                ops.store(sum, &mut self.out[at(i) + k * ops.len()..]);
            }
        }
    }
}

/// Sums of products of codes, as the numbers that they stand for; see [`super::linear`].
pub(super) struct Decode<'a, P> {
    pub sums: &'a [i32],
    /// Of the outputs.
    pub steps: &'a [f32],
    pub bias: &'a [f32],
    pub weight_sums: &'a [f32],
    /// Of the row, and what its zero stands for.
    pub step: f32,
    pub zero: f32,
    pub out: &'a mut [f32],
    pub put: P,
}

/// What becomes of a value and the one in whose place it comes.
pub(super) trait Put: Copy {
    fn put<I: Isa>(self, isa: I, before: I::F32, value: I::F32) -> I::F32;
    fn put_one(self, before: f32, value: f32) -> f32;
}

#[derive(Clone, Copy)]
pub(super) struct Replace;

#[derive(Clone, Copy)]
pub(super) struct Add;

#[derive(Clone, Copy)]
pub(super) struct ReplaceWithGelu;

impl Put for Replace {
    #[inline(always)]
    fn put<I: Isa>(self, _: I, _: I::F32, value: I::F32) -> I::F32 {
        value
    }

    #[inline(always)]
    fn put_one(self, _: f32, value: f32) -> f32 {
        value
    }
}

impl Put for Add {
    #[inline(always)]
    fn put<I: Isa>(self, isa: I, before: I::F32, value: I::F32) -> I::F32 {
        isa.f32().add(before, value)
    }

    #[inline(always)]
    fn put_one(self, before: f32, value: f32) -> f32 {
        before + value
    }
}

impl Put for ReplaceWithGelu {
    #[inline(always)]
    fn put<I: Isa>(self, isa: I, _: I::F32, x: I::F32) -> I::F32 {
        let ops = isa.f32();
        let inner = ops.clamp(x, ops.splat(-GELU_MAX), ops.splat(GELU_MAX));
        let square = ops.mul(inner, inner);
        let mut series = ops.splat(GELU_SERIES[6]);
        for coefficient in GELU_SERIES[..6].iter().rev() {
            series = ops.add(ops.mul(series, square), ops.splat(*coefficient));
        }
        ops.mul(x, ops.add(ops.splat(0.5), ops.mul(inner, series)))
    }

    #[inline(always)]
    fn put_one(self, _: f32, value: f32) -> f32 {
        gelu(value)
    }
}

impl<P: Put> SimdOp for Decode<'_, P> {
    type Output = ();

    #[inline(always)]
    fn eval<I: Isa>(self, isa: I) {
        let (ops, lanes) = (isa.f32(), isa.f32().len());
        let (step, zero) = (ops.splat(self.step), ops.splat(self.zero));
        let columns = self.out.len();
        let (sums, steps) = (&self.sums[..columns], &self.steps[..columns]);
        let (bias, weight_sums) = (&self.bias[..columns], &self.weight_sums[..columns]);
        let whole = columns - columns % lanes;
        for at in (0..whole).step_by(lanes) {
            let part = at..at + lanes;
            let sum = isa.i32().to_float(isa.i32().load(&sums[part.clone()]));
            let scale = ops.mul(step, ops.load(&steps[part.clone()]));
            let below = ops.mul(zero, ops.load(&weight_sums[part.clone()]));
            let offset = ops.sub(ops.load(&bias[part.clone()]), below);
            let value = ops.add(ops.mul(sum, scale), offset);
            let before = ops.load(&self.out[part.clone()]);
            ops.store(self.put.put(isa, before, value), &mut self.out[part]);
        }
        for at in whole..columns {
            let offset = bias[at] - self.zero * weight_sums[at];
            let value = sums[at] as f32 * (self.step * steps[at]) + offset;
            self.out[at] = self.put.put_one(self.out[at], value);
        }
    }
}

const LEVELS: f32 = 255.0;

/// Writes a row as codes from 0 to 255; gives the size of a step and the code that means zero.
#[inline(always)]
pub(crate) fn quantise(row: &[f32], codes: &mut [u8]) -> (f32, u8) {
    let (low, high) = range_with_zero(row);
    let step = ((high - low) / LEVELS).max(1e-20);
    let inverse = 1.0 / step;
    let zero = (-low * inverse).round().clamp(0.0, LEVELS);
    let encode = Encode {
        row,
        codes,
        inverse,
        zero,
    };
    encode.dispatch();
    (step, zero as u8)
}

struct Encode<'a> {
    row: &'a [f32],
    codes: &'a mut [u8],
    inverse: f32,
    zero: f32,
}

impl SimdOp for Encode<'_> {
    type Output = ();

    #[inline(always)]
    fn eval<I: Isa>(self, isa: I) {
        let (floats, lanes) = (isa.f32(), isa.f32().len());
        let (inverse, zero) = (floats.splat(self.inverse), floats.splat(self.zero));
        let mut blocks = self.row.chunks_exact(4 * lanes);
        let mut code_blocks = self.codes.chunks_exact_mut(4 * lanes);
        for (values, codes) in blocks.by_ref().zip(code_blocks.by_ref()) {
            let [a, b, c, d] = floats.load_many::<4>(values).map(
                #[inline(always)]
                |x| floats.to_int_round(floats.add(floats.mul(x, inverse), zero)),
            );
            let low = isa.i32().narrow_saturate(a, b);
            let high = isa.i32().narrow_saturate(c, d);
            isa.u8().store(isa.i16().narrow_saturate(low, high), codes);
        }
        let last = blocks.remainder().iter();
        for (value, code) in last.zip(code_blocks.into_remainder()) {
            let level = (value * self.inverse + self.zero).clamp(0.0, LEVELS);
            *code = (level + ROUNDING).to_bits() as u8;
        }
    }
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
