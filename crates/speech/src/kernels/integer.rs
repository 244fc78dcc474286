//! Products of 8-bit codes with 8-bit weights, exact on every processor.
//!
//! Processors with tiles multiply whole blocks. Those with VNNI or its like sum four products in 32 bits. Older ones sum two in 16 bits,
//! which two full bytes overflow: there the codes are taken apart into seven bits and one, and the
//! two products put together again.

use rten_gemm::{GemmExecutor, GemmInputA, GemmInputB, GemmOptions, PackedBMatrix};
use rten_tensor::{Matrix, NdTensorView};

use super::tiles::TiledWeights;

const LOW_BITS: u32 = 7;

thread_local! {
    // One for each thread: an executor cannot move between threads, and finding the machine's
    // instructions for every product would cost as much as a small product.
    static INTEGERS: GemmExecutor<u8, i8, i32> = GemmExecutor::new();
}

/// A matrix of weights, laid out for the processor.
pub(super) struct PackedWeights {
    pub inputs: usize,
    pub outputs: usize,
    layout: WeightLayout,
}

enum WeightLayout {
    Tiles(TiledWeights),
    Whole(PackedBMatrix<i8>),
    /// For processors on which whole codes would overflow.
    Split(PackedBMatrix<i8>),
}

impl PackedWeights {
    /// `weights`: a row of outputs for each input.
    pub(super) fn new(weights: &[i8], inputs: usize, outputs: usize) -> Self {
        let layout = match TiledWeights::new(weights, inputs, outputs) {
            Some(tiled) => WeightLayout::Tiles(tiled),
            None => WeightLayout::packed(weights, inputs, outputs),
        };
        Self {
            inputs,
            outputs,
            layout,
        }
    }

    /// `sums` = codes times weights, row by row.
    pub(super) fn multiply(&self, codes: &[u8], sums: &mut [i32]) {
        match &self.layout {
            WeightLayout::Tiles(weights) => weights.multiply(codes, sums),
            WeightLayout::Whole(weights) => multiply_whole(codes, self.inputs, weights, sums),
            WeightLayout::Split(weights) => multiply_split(codes, self.inputs, weights, sums),
        }
    }
}

impl WeightLayout {
    fn packed(weights: &[i8], inputs: usize, outputs: usize) -> Self {
        let matrix = Matrix::from_data([inputs, outputs], weights);
        INTEGERS.with(|executor| {
            let packed = executor.prepack_b(matrix);
            match executor.may_saturate() {
                true => Self::Split(packed),
                false => Self::Whole(packed),
            }
        })
    }
}

fn multiply_whole(codes: &[u8], inputs: usize, weights: &PackedBMatrix<i8>, sums: &mut [i32]) {
    let codes = NdTensorView::from_data([codes.len() / inputs, inputs], codes);
    INTEGERS
        .with(|executor| {
            // Laid out once, not once for every block of outputs.
            let codes = executor.prepack_a(codes);
            let (a, b) = (GemmInputA::Packed(&codes), GemmInputB::Packed(weights));
            executor.gemm(sums, a, b, GemmOptions::default())
        })
        .expect("shapes were checked when the weights were loaded");
}

fn multiply_split(codes: &[u8], inputs: usize, weights: &PackedBMatrix<i8>, sums: &mut [i32]) {
    let high: Vec<u8> = codes.iter().map(|code| code >> LOW_BITS).collect();
    let low: Vec<u8> = codes
        .iter()
        .map(|code| code & ((1 << LOW_BITS) - 1))
        .collect();
    let mut high_sums = vec![0; sums.len()];
    multiply_whole(&high, inputs, weights, &mut high_sums);
    multiply_whole(&low, inputs, weights, sums);
    for (sum, high) in sums.iter_mut().zip(high_sums) {
        *sum += high << LOW_BITS;
    }
}

#[cfg(test)]
mod tests {
    use super::WeightLayout::{Split, Whole};
    use super::*;

    /// Numbers without a pattern.
    fn scatter(seed: u32) -> impl FnMut() -> u32 {
        let mut state = seed;
        move || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state >> 16
        }
    }

    #[test]
    fn products_are_exact_for_any_number_of_rows_whole_split_or_in_tiles() {
        for (inputs, outputs) in [(256, 768), (768, 2304), (1536, 512), (512, 2565)] {
            let mut next = scatter(7);
            // Both ends of the range are there, where sums of two would overflow 16 bits.
            let numbers: Vec<i8> = (0..inputs * outputs).map(|_| next() as u8 as i8).collect();
            let weights = PackedWeights::new(&numbers, inputs, outputs);
            let (Whole(packed) | Split(packed)) = WeightLayout::packed(&numbers, inputs, outputs)
            else {
                unreachable!("packed weights lie in no tiles")
            };
            for rows in [1, 2, 5, 7, 32, 64, 65] {
                let codes: Vec<u8> = (0..rows * inputs).map(|_| next() as u8).collect();
                let (mut whole, mut split) = (vec![0; rows * outputs], vec![0; rows * outputs]);
                weights.multiply(&codes, &mut whole);
                multiply_split(&codes, inputs, &packed, &mut split);
                assert_eq!(whole, split);
                for (at, sum) in whole.iter().enumerate().step_by(37) {
                    let (row, column) = (at / outputs, at % outputs);
                    let want: i32 = (0..inputs)
                        .map(|k| {
                            i32::from(codes[row * inputs + k])
                                * i32::from(numbers[k * outputs + column])
                        })
                        .sum();
                    assert_eq!(
                        *sum, want,
                        "{inputs}x{outputs}, {rows} rows, at {row},{column}"
                    );
                }
            }
        }
    }
}
