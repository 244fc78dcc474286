//! Matrix products in 8-bit integers: weights with a step per output, activations with a step per
//! row. A step per row, rather than per matrix, makes a frame's result independent of the frames
//! computed along with it, so a clause can be cut into windows anywhere.

use rten_gemm::{GemmExecutor, GemmInputA, GemmInputB, GemmOptions, PackedBMatrix};
use rten_tensor::{Matrix, NdTensorView};

use super::simd::{gelu, normalise, quantise, vectorised};
use super::weights::Tensors;
use crate::SpeechError;

thread_local! {
    // One for each thread: an executor cannot move between threads, and finding the machine's
    // instructions for every product would cost as much as a small product.
    static INTEGERS: GemmExecutor<u8, i8, i32> = GemmExecutor::new();
    static FLOATS: GemmExecutor<f32> = GemmExecutor::new();
}

/// How many steps an activation may have on this machine.
pub(super) struct Gemm {
    levels: f32,
}

impl Gemm {
    pub fn new() -> Self {
        // Without VNNI two products are summed in 16 bits: seven-bit activations cannot overflow.
        let saturates = INTEGERS.with(GemmExecutor::may_saturate);
        Self {
            levels: if saturates { 127.0 } else { 255.0 },
        }
    }
}

/// `out` = a b in floats, for what is too small or too delicate for integers.
pub(super) fn float_product(
    out: &mut [f32],
    a: NdTensorView<f32, 2>,
    b: NdTensorView<f32, 2>,
    options: GemmOptions<f32, f32, f32>,
) {
    let (a, b) = (GemmInputA::Unpacked(a), GemmInputB::Unpacked(b));
    FLOATS
        .with(|executor| executor.gemm(out, a, b, options))
        .expect("shapes were checked when the weights were loaded");
}

/// Rows of activations as codes.
#[derive(Default)]
pub(super) struct Codes {
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

    /// The step and the zero of each row.
    fn marks(&self) -> impl Iterator<Item = (&f32, &u8)> {
        self.steps[..self.rows].iter().zip(&self.zeros[..self.rows])
    }
}

/// Buffers only ever grow: clearing them for each layer would cost as much as filling them.
fn at_least<T: Default + Clone>(buffer: &mut Vec<T>, length: usize) -> &mut [T] {
    if buffer.len() < length {
        buffer.resize(length, T::default());
    }
    &mut buffer[..length]
}

/// Buffers that every layer uses in turn.
#[derive(Default)]
pub(super) struct Scratch {
    pub input: Codes,
    hidden: Codes,
    sums: Vec<i32>,
    row: Vec<f32>,
}

/// y = W x + b.
pub(super) struct Linear {
    pub inputs: usize,
    pub outputs: usize,
    weights: PackedBMatrix<i8>,
    /// The sum of each output's weights: what the zero point adds to the product.
    weight_sums: Vec<f32>,
    steps: Vec<f32>,
    bias: Vec<f32>,
}

impl Linear {
    pub fn load(tensors: &Tensors, name: &str) -> Result<Self, SpeechError> {
        let (inputs, outputs, codes) = tensors.codes(&format!("{name}.codes"))?;
        let matrix = Matrix::from_data([inputs, outputs], &codes[..]);
        let steps = tensors.vector(&format!("{name}.scale"), outputs)?;
        Ok(Self {
            inputs,
            outputs,
            weights: INTEGERS.with(|executor| executor.prepack_b(matrix)),
            weight_sums: weight_sums(&codes, &steps),
            steps,
            bias: tensors.vector(&format!("{name}.bias"), outputs)?,
        })
    }

    fn multiply<'s>(&self, input: &Codes, sums: &'s mut Vec<i32>) -> &'s [i32] {
        let rows = input.rows;
        let sums = at_least(sums, rows * self.outputs);
        let view = NdTensorView::from_data([rows, self.inputs], &input.codes[..rows * self.inputs]);
        // The zero points are left out and made good in `finish_row`: the kernel's own handling
        // takes the first rows' for all of them.
        let (a, b) = (
            GemmInputA::Unpacked(view),
            GemmInputB::Packed(&self.weights),
        );
        INTEGERS
            .with(|executor| executor.gemm(sums, a, b, GemmOptions::default()))
            .expect("shapes were checked when the weights were loaded");
        sums
    }

    /// One output row from the integer sums.
    #[inline(always)]
    fn finish_row(&self, sums: &[i32], mark: (&f32, &u8), mut put: impl FnMut(usize, f32)) {
        let step = *mark.0;
        let zero = step * f32::from(*mark.1);
        let columns = sums.len();
        let (steps, bias) = (&self.steps[..columns], &self.bias[..columns]);
        let weight_sums = &self.weight_sums[..columns];
        for at in 0..columns {
            let offset = bias[at] - zero * weight_sums[at];
            put(at, sums[at] as f32 * (step * steps[at]) + offset);
        }
    }

    /// Replaces `out` with the products of the rows in `scratch.input`.
    pub fn apply(&self, scratch: &mut Scratch, out: &mut Vec<f32>) {
        let sums = self.multiply(&scratch.input, &mut scratch.sums);
        out.resize(sums.len(), 0.0);
        let marks = scratch.input.marks();
        vectorised(
            #[inline(always)]
            || {
                let rows = sums.chunks_exact(self.outputs).zip(marks);
                for (out, (sums, mark)) in out.chunks_exact_mut(self.outputs).zip(rows) {
                    let out = &mut out[..sums.len()];
                    self.finish_row(sums, mark, |at, value| out[at] = value);
                }
            },
        );
    }

    /// Adds the products of the rows in `codes` to `out`.
    fn add_to(&self, codes: &Codes, sums: &mut Vec<i32>, out: &mut [f32]) {
        let sums = self.multiply(codes, sums);
        vectorised(
            #[inline(always)]
            || {
                let rows = sums.chunks_exact(self.outputs).zip(codes.marks());
                for (out, (sums, mark)) in out.chunks_exact_mut(self.outputs).zip(rows) {
                    let out = &mut out[..sums.len()];
                    self.finish_row(sums, mark, |at, value| out[at] += value);
                }
            },
        );
    }

    /// Adds the products of the rows in `scratch.input` to `out`.
    pub fn accumulate(&self, scratch: &mut Scratch, out: &mut [f32]) {
        self.add_to(&scratch.input, &mut scratch.sums, out);
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

/// Normalises each row in place and leaves its codes in `codes`.
pub(super) fn normalise_and_quantise(
    gemm: &Gemm,
    rows: &mut [f32],
    scale: &[f32],
    shift: &[f32],
    codes: &mut Codes,
) {
    let columns = scale.len();
    codes.resize(rows.len() / columns, columns);
    let levels = gemm.levels;
    vectorised(
        #[inline(always)]
        || {
            let coded = codes.codes.chunks_exact_mut(columns);
            let marks = codes.steps.iter_mut().zip(&mut codes.zeros);
            for ((row, coded), (step, zero)) in rows.chunks_exact_mut(columns).zip(coded).zip(marks)
            {
                normalise(row, scale, shift);
                (*step, *zero) = quantise(row, levels, coded);
            }
        },
    );
}

pub(super) fn quantise_rows(gemm: &Gemm, rows: &[f32], columns: usize, codes: &mut Codes) {
    codes.resize(rows.len() / columns, columns);
    let levels = gemm.levels;
    vectorised(
        #[inline(always)]
        || {
            let coded = codes.codes.chunks_exact_mut(columns);
            let marks = codes.steps.iter_mut().zip(&mut codes.zeros);
            for ((row, coded), (step, zero)) in rows.chunks_exact(columns).zip(coded).zip(marks) {
                (*step, *zero) = quantise(row, levels, coded);
            }
        },
    );
}

/// `out` += reduce(gelu(expand(`scratch.input`))), the middle of a block.
pub(super) fn feed_forward(
    gemm: &Gemm,
    expand: &Linear,
    reduce: &Linear,
    scratch: &mut Scratch,
    out: &mut [f32],
) {
    let Scratch {
        input,
        hidden,
        sums,
        row,
    } = scratch;
    let products = expand.multiply(input, sums);
    let columns = expand.outputs;
    hidden.resize(input.rows, columns);
    let row = at_least(row, columns);
    let levels = gemm.levels;
    vectorised(
        #[inline(always)]
        || {
            let coded = hidden.codes.chunks_exact_mut(columns);
            let marks = hidden.steps.iter_mut().zip(&mut hidden.zeros);
            let sums = products.chunks_exact(columns).zip(input.marks());
            for (((sums, mark), coded), (step, zero)) in sums.zip(coded).zip(marks) {
                let row = &mut row[..sums.len()];
                expand.finish_row(sums, mark, |at, value| row[at] = gelu(value));
                (*step, *zero) = quantise(row, levels, coded);
            }
        },
    );
    reduce.add_to(hidden, sums, out);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers without a pattern.
    fn scatter(seed: u32) -> impl FnMut() -> u32 {
        let mut state = seed;
        move || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state >> 16
        }
    }

    fn layer(weights: &[i8], inputs: usize, outputs: usize) -> Linear {
        Linear {
            inputs,
            outputs,
            weights: INTEGERS
                .with(|executor| executor.prepack_b(Matrix::from_data([inputs, outputs], weights))),
            weight_sums: weight_sums(weights, &vec![1.0; outputs]),
            steps: vec![1.0; outputs],
            bias: vec![0.0; outputs],
        }
    }

    #[test]
    fn integer_products_are_exact_for_any_number_of_rows() {
        let gemm = Gemm::new();
        for (inputs, outputs) in [(256, 768), (512, 1536), (1536, 512), (512, 2565)] {
            let mut next = scatter(7);
            let weights: Vec<i8> = (0..inputs * outputs)
                .map(|_| (next() % 255) as i16 - 127)
                .map(|v| v as i8)
                .collect();
            let layer = layer(&weights, inputs, outputs);
            for rows in [1, 2, 5, 7, 64, 65] {
                let levels = gemm.levels as u32 + 1;
                let input = Codes {
                    rows,
                    codes: (0..rows * inputs)
                        .map(|_| (next() % levels) as u8)
                        .collect(),
                    zeros: (0..rows).map(|_| (next() % levels) as u8).collect(),
                    steps: vec![1.0; rows],
                };
                let mut scratch = Scratch {
                    input,
                    ..Scratch::default()
                };
                let mut out = Vec::new();
                layer.apply(&mut scratch, &mut out);
                let input = &scratch.input;
                for (at, sum) in out.iter().enumerate().step_by(37) {
                    let (row, column) = (at / outputs, at % outputs);
                    let want: i32 = (0..inputs)
                        .map(|k| {
                            let code = i32::from(input.codes[row * inputs + k])
                                - i32::from(input.zeros[row]);
                            code * i32::from(weights[k * outputs + column])
                        })
                        .sum();
                    assert_eq!(
                        *sum, want as f32,
                        "{inputs}x{outputs}, {rows} rows, at {row},{column}"
                    );
                }
            }
        }
    }
}
