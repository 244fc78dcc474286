//! Layers in 8-bit integers: weights with a step per output, activations with a step per row. A step
//! per row, rather than per matrix, makes a frame's result independent of the frames computed along
//! with it: a sequence can be cut into windows anywhere, and one loud frame costs the others nothing.

use rten_simd::SimdOp;

use super::integer::PackedWeights;
use super::simd::{Add, Decode, Put, Replace, ReplaceWithGelu, normalise, quantise, vectorised};

/// Sums computed together: they stay in the processor's own cache until they are used, and still are
/// rows enough to be worth fetching the weights for.
const SUMS_TOGETHER: usize = 512 * 1024;
/// Products are computed in blocks of so many rows.
const ROWS_OF_A_BLOCK: usize = 32;

/// Rows of activations as codes.
#[derive(Default)]
pub(crate) struct Codes {
    rows: usize,
    codes: Vec<u8>,
    zeros: Vec<u8>,
    steps: Vec<f32>,
}

impl Codes {
    fn resize(&mut self, rows: usize, columns: usize) {
        self.rows = rows;
        at_least(&mut self.codes, rows * columns);
        at_least(&mut self.zeros, rows);
        at_least(&mut self.steps, rows);
    }

    #[inline(always)]
    fn put(&mut self, at: usize, row: &[f32]) {
        let codes = &mut self.codes[at * row.len()..][..row.len()];
        (self.steps[at], self.zeros[at]) = quantise(row, codes);
    }
}

/// Buffers only ever grow: clearing them for each layer would cost as much as filling them.
pub(crate) fn at_least<T: Default + Clone>(buffer: &mut Vec<T>, length: usize) -> &mut [T] {
    if buffer.len() < length {
        buffer.resize(length, T::default());
    }
    &mut buffer[..length]
}

/// The rows that a layer is applied to, and buffers that every layer uses in turn.
#[derive(Default)]
pub(crate) struct Scratch {
    input: Codes,
    hidden: Codes,
    sums: Vec<i32>,
    row: Vec<f32>,
}

impl Scratch {
    /// Takes rows as the next layer's input.
    pub(crate) fn take(&mut self, rows: &[f32], columns: usize) {
        self.take_made(
            rows.len() / columns,
            columns,
            #[inline(always)]
            |at, row| row.copy_from_slice(&rows[at * columns..][..columns]),
        );
    }

    /// The same with each row normalised, as wide as `scale`.
    pub(crate) fn take_normalised(&mut self, rows: &[f32], scale: &[f32], shift: &[f32]) {
        let columns = scale.len();
        self.take_made(
            rows.len() / columns,
            columns,
            #[inline(always)]
            |at, row| normalise(&rows[at * columns..][..columns], scale, shift, row),
        );
    }

    /// The same with each row written by `make`, which must be `#[inline(always)]`.
    #[inline]
    pub(crate) fn take_made(
        &mut self,
        rows: usize,
        columns: usize,
        mut make: impl FnMut(usize, &mut [f32]),
    ) {
        self.input.resize(rows, columns);
        let row = at_least(&mut self.row, columns);
        let input = &mut self.input;
        vectorised(
            #[inline(always)]
            || {
                for at in 0..rows {
                    make(at, row);
                    input.put(at, row);
                }
            },
        );
    }
}

/// y = W x + b.
pub(crate) struct Linear {
    weights: PackedWeights,
    /// The sum of each output's weights: what the zero point adds to the product.
    weight_sums: Vec<f32>,
    steps: Vec<f32>,
    bias: Vec<f32>,
}

impl Linear {
    /// `codes`: a row of outputs for each input; `steps` and `bias`: one for each output.
    pub(crate) fn new(codes: &[i8], inputs: usize, steps: Vec<f32>, bias: Vec<f32>) -> Self {
        Self {
            weights: PackedWeights::new(codes, inputs, steps.len()),
            weight_sums: weight_sums(codes, &steps),
            steps,
            bias,
        }
    }

    pub(crate) fn inputs(&self) -> usize {
        self.weights.inputs
    }

    pub(crate) fn outputs(&self) -> usize {
        self.weights.outputs
    }

    /// Hands each row of products to `put`, some rows at a time.
    #[inline]
    fn for_each_row(
        &self,
        input: &Codes,
        sums: &mut Vec<i32>,
        mut put: impl FnMut(usize, RowOf<'_>),
    ) {
        let (inputs, outputs) = (self.inputs(), self.outputs());
        // Parts of one size: a small rest would cost as much as many rows.
        let parts = (input.rows * outputs).div_ceil(SUMS_TOGETHER).max(1);
        let rows_together = input.rows.div_ceil(parts).next_multiple_of(ROWS_OF_A_BLOCK);
        for from in (0..input.rows).step_by(rows_together) {
            let rows = rows_together.min(input.rows - from);
            let sums = at_least(sums, rows * outputs);
            let codes = &input.codes[from * inputs..][..rows * inputs];
            self.weights.multiply(codes, sums);
            for (i, sums) in sums.chunks_exact(outputs).enumerate() {
                let step = input.steps[from + i];
                let row = RowOf {
                    layer: self,
                    sums,
                    step,
                    zero: step * f32::from(input.zeros[from + i]),
                };
                put(from + i, row);
            }
        }
    }

    /// Replaces `out` with the products of the rows in `scratch`.
    pub(crate) fn apply(&self, scratch: &mut Scratch, out: &mut Vec<f32>) {
        let outputs = self.outputs();
        out.resize(scratch.input.rows * outputs, 0.0);
        self.for_each_row(&scratch.input, &mut scratch.sums, |at, row| {
            row.finish(&mut out[at * outputs..][..outputs], Replace)
        });
    }

    /// Adds the products of the rows in `scratch` to `out`.
    pub(crate) fn accumulate(&self, scratch: &mut Scratch, out: &mut [f32]) {
        self.add_to(&scratch.input, &mut scratch.sums, out);
    }

    fn add_to(&self, codes: &Codes, sums: &mut Vec<i32>, out: &mut [f32]) {
        let outputs = self.outputs();
        self.for_each_row(codes, sums, |at, row| {
            row.finish(&mut out[at * outputs..][..outputs], Add)
        });
    }
}

/// One row of a product, still in integers.
struct RowOf<'a> {
    layer: &'a Linear,
    sums: &'a [i32],
    /// Of the row's codes, and what their zero stands for.
    step: f32,
    zero: f32,
}

impl RowOf<'_> {
    fn finish(&self, out: &mut [f32], put: impl Put) {
        let decode = Decode {
            sums: self.sums,
            steps: &self.layer.steps,
            bias: &self.layer.bias,
            weight_sums: &self.layer.weight_sums,
            step: self.step,
            zero: self.zero,
            out,
            put,
        };
        decode.dispatch();
    }
}

fn weight_sums(codes: &[i8], steps: &[f32]) -> Vec<f32> {
    let mut sums = vec![0i32; steps.len()];
    for row in codes.chunks_exact(steps.len()) {
        for (sum, code) in sums.iter_mut().zip(row) {
            *sum += i32::from(*code);
        }
    }
    sums.iter()
        .zip(steps)
        .map(|(sum, step)| *sum as f32 * step)
        .collect()
}

/// `out` += reduce(gelu(expand(the rows in `scratch`))), the middle of a block.
pub(crate) fn feed_forward(
    expand: &Linear,
    reduce: &Linear,
    scratch: &mut Scratch,
    out: &mut [f32],
) {
    let Scratch {
        input,
        hidden,
        sums,
        row: buffer,
    } = scratch;
    let columns = expand.outputs();
    hidden.resize(input.rows, columns);
    let buffer = at_least(buffer, columns);
    expand.for_each_row(input, sums, |at, row| {
        row.finish(buffer, ReplaceWithGelu);
        hidden.put(at, buffer);
    });
    reduce.add_to(hidden, sums, out);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wave(count: usize, pace: f32) -> Vec<f32> {
        (0..count)
            .map(|i| (i as f32 * pace).sin() * 2.0 + 0.3)
            .collect()
    }

    fn layer(inputs: usize, outputs: usize) -> (Linear, Vec<f32>) {
        let codes: Vec<i8> = (0..inputs * outputs)
            .map(|i| (i * 37 % 255) as u8 as i8)
            .collect();
        let steps: Vec<f32> = (0..outputs).map(|i| 1e-3 + i as f32 * 1e-5).collect();
        let floats = codes.iter().enumerate();
        let floats = floats
            .map(|(i, code)| f32::from(*code) * steps[i % outputs])
            .collect();
        (
            Linear::new(&codes, inputs, steps, wave(outputs, 0.9)),
            floats,
        )
    }

    #[test]
    fn a_layer_is_within_rounding_of_the_same_in_floats() {
        let (inputs, outputs, rows) = (96, 50, 131);
        let (layer, weights) = layer(inputs, outputs);
        let bias = wave(outputs, 0.9);
        let input = wave(rows * inputs, 0.37);
        let (mut scratch, mut out) = (Scratch::default(), Vec::new());
        scratch.take(&input, inputs);
        layer.apply(&mut scratch, &mut out);
        let mut twice = out.clone();
        layer.accumulate(&mut scratch, &mut twice);
        for (at, value) in out.iter().enumerate() {
            let (row, column) = (at / outputs, at % outputs);
            let products =
                (0..inputs).map(|k| input[row * inputs + k] * weights[k * outputs + column]);
            let want = bias[column] + products.sum::<f32>();
            assert!((value - want).abs() < 0.05, "{value} should be {want}");
            assert!((twice[at] - 2.0 * value).abs() < 1e-5);
        }
    }

    #[test]
    fn a_rows_result_does_not_depend_on_the_rows_beside_it() {
        let (expand, _) = layer(64, 256);
        let (reduce, _) = layer(256, 64);
        let input = wave(150 * 64, 0.23);
        let (scale, shift) = (vec![1.5; 64], vec![-0.2; 64]);
        let run = |rows: &[f32]| {
            let (mut scratch, mut out) = (Scratch::default(), rows.to_vec());
            scratch.take_normalised(rows, &scale, &shift);
            feed_forward(&expand, &reduce, &mut scratch, &mut out);
            out
        };
        let whole = run(&input);
        let (head, tail) = input.split_at(77 * 64);
        assert_eq!(whole, [run(head), run(tail)].concat());
    }
}
