//! Matrix products in 8-bit integers: weights with a step per output, activations with a step per
//! frame, so that one loud frame does not cost the others their exactness.

use rten_gemm::{GemmExecutor, GemmInputA, GemmInputB, GemmOptions, PackedBMatrix};
use rten_tensor::{Matrix, NdTensorView};

use super::onnx::Tensors;
use super::simd::{quantise, vectorised};
use crate::SpeechError;

/// Activation steps that the processor's kernel can take: without VNNI two products are summed in
/// 16 bits, and only seven-bit codes cannot overflow.
pub fn levels() -> f32 {
    match GemmExecutor::<u8, i8, i32>::new().may_saturate() {
        true => 127.0,
        false => 255.0,
    }
}

/// Rows of activations as codes.
#[derive(Default)]
pub struct Codes {
    rows: usize,
    codes: Vec<u8>,
    steps: Vec<f32>,
    zeros: Vec<f32>,
}

impl Codes {
    /// Takes rows from `make`, which leaves each in the buffer it is given.
    #[inline(always)]
    pub fn fill(
        &mut self,
        rows: usize,
        columns: usize,
        levels: f32,
        mut make: impl FnMut(usize, &mut [f32]),
    ) {
        self.rows = rows;
        self.codes.resize(rows * columns, 0);
        self.steps.resize(rows, 0.0);
        self.zeros.resize(rows, 0.0);
        let mut row = vec![0f32; columns];
        for (i, codes) in self.codes.chunks_exact_mut(columns).enumerate() {
            make(i, &mut row);
            (self.steps[i], self.zeros[i]) = quantise(&row, levels, codes);
        }
    }
}

/// y = W x + b.
pub struct Linear {
    inputs: usize,
    outputs: usize,
    weights: PackedBMatrix<i8>,
    /// The sum of each output's weights: what the zero point adds to the product.
    weight_sums: Vec<f32>,
    steps: Vec<f32>,
    bias: Vec<f32>,
}

impl Linear {
    pub fn load(
        tensors: &Tensors<'_>,
        name: &str,
        inputs: usize,
        outputs: usize,
    ) -> Result<Self, SpeechError> {
        Self::side_by_side(tensors, &[(name, true)], inputs, outputs)
    }

    /// Several layers over the same input as one; the flag says whether a layer has a bias.
    pub fn side_by_side(
        tensors: &Tensors<'_>,
        names: &[(&str, bool)],
        inputs: usize,
        outputs_each: usize,
    ) -> Result<Self, SpeechError> {
        let outputs = outputs_each * names.len();
        let mut codes = vec![0i8; inputs * outputs];
        let (mut steps, mut bias) = (Vec::new(), Vec::new());
        for (part, (name, has_bias)) in names.iter().enumerate() {
            let weight = tensors.codes(&format!("{name}.weight"), inputs * outputs_each)?;
            let rows = codes.chunks_exact_mut(outputs);
            for (to, from) in rows.zip(weight.chunks_exact(outputs_each)) {
                to[part * outputs_each..][..outputs_each].copy_from_slice(from);
            }
            steps.extend(tensors.floats(&format!("{name}.scale"), outputs_each)?);
            bias.extend(match has_bias {
                true => tensors.floats(&format!("{name}.bias"), outputs_each)?,
                false => vec![0.0; outputs_each],
            });
        }
        let mut sums = vec![0i32; outputs];
        for row in codes.chunks_exact(outputs) {
            for (sum, code) in sums.iter_mut().zip(row) {
                *sum += i32::from(*code);
            }
        }
        Ok(Self {
            inputs,
            outputs,
            weights: GemmExecutor::<u8, i8, i32>::new()
                .prepack_b(Matrix::from_data([inputs, outputs], &codes[..])),
            weight_sums: sums
                .iter()
                .zip(&steps)
                .map(|(sum, step)| *sum as f32 * step)
                .collect(),
            steps,
            bias,
        })
    }

    /// Hands each output value to `put`, with its row.
    pub fn apply(
        &self,
        input: &Codes,
        sums: &mut Vec<i32>,
        out: &mut [f32],
        put: impl Fn(&mut f32, f32) + Copy,
    ) {
        sums.resize(input.rows * self.outputs, 0);
        let view = NdTensorView::from_data([input.rows, self.inputs], &input.codes[..]);
        GemmExecutor::<u8, i8, i32>::new()
            .gemm(
                sums,
                GemmInputA::Unpacked(view),
                GemmInputB::Packed(&self.weights),
                GemmOptions::default(),
            )
            .expect("shapes were checked when the weights were loaded");
        vectorised(
            #[inline(always)]
            || {
                let rows = sums
                    .chunks_exact(self.outputs)
                    .zip(out.chunks_exact_mut(self.outputs));
                for (i, (sums, out)) in rows.enumerate() {
                    let step = input.steps[i];
                    let zero = step * input.zeros[i];
                    let columns = sums.len();
                    let (steps, bias) = (&self.steps[..columns], &self.bias[..columns]);
                    let (weight_sums, out) = (&self.weight_sums[..columns], &mut out[..columns]);
                    for at in 0..columns {
                        let offset = bias[at] - zero * weight_sums[at];
                        put(&mut out[at], sums[at] as f32 * (step * steps[at]) + offset);
                    }
                }
            },
        );
    }
}
