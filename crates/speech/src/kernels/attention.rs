//! Self-attention: every row looks at every other.

use rten_gemm::{GemmInputB, GemmOptions};
use rten_tensor::NdTensorView;

use super::floats::{pack, product};
use super::simd::{exponentials, vectorised};

/// Queries looked at together: their scores stay in the nearest cache.
const BLOCK: usize = 48;

/// `qkv`: rows of queries, keys and values side by side, each `width` wide; `out`: rows of `width`.
pub(crate) fn attend(
    qkv: &[f32],
    width: usize,
    heads: usize,
    out: &mut [f32],
    scores: &mut Vec<f32>,
) {
    let rows = qkv.len() / (3 * width);
    let head_width = width / heads;
    let all = NdTensorView::from_data([rows, 3 * width], qkv);
    let mut mixed = vec![0f32; BLOCK * head_width];
    scores.resize(BLOCK * rows, 0.0);
    let scaled = || GemmOptions {
        alpha: 1.0 / (head_width as f32).sqrt(),
        ..GemmOptions::default()
    };
    for head in 0..heads {
        let part = |kind: usize| {
            let from = kind * width + head * head_width;
            all.slice((.., from..from + head_width))
        };
        let (queries, keys, values) = (part(0), part(1), part(2));
        let keys = pack(keys.transposed());
        let values = pack(values);
        for from in (0..rows).step_by(BLOCK) {
            let count = BLOCK.min(rows - from);
            let scores = &mut scores[..count * rows];
            let mixed = &mut mixed[..count * head_width];
            let block = queries.slice((from..from + count, ..));
            product(scores, block, GemmInputB::Packed(&keys), scaled());
            let mut sums = [0f32; BLOCK];
            vectorised(
                #[inline(always)]
                || {
                    for (row, sum) in scores.chunks_exact_mut(rows).zip(&mut sums) {
                        *sum = exponentials(row);
                    }
                },
            );
            let weights = NdTensorView::from_data([count, rows], &*scores);
            product(
                mixed,
                weights,
                GemmInputB::Packed(&values),
                GemmOptions::default(),
            );
            for (i, (row, sum)) in mixed.chunks_exact(head_width).zip(sums).enumerate() {
                let to = &mut out[(from + i) * width + head * head_width..][..head_width];
                for (to, x) in to.iter_mut().zip(row) {
                    *to = x / sum;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_row_is_the_mean_of_the_values_weighed_by_likeness() {
        let (rows, width, heads) = (101, 16, 2);
        let qkv: Vec<f32> = (0..rows * 3 * width)
            .map(|i| (i as f32 * 0.37).sin() * 2.0)
            .collect();
        let mut out = vec![0.0; rows * width];
        attend(&qkv, width, heads, &mut out, &mut Vec::new());
        let at = |row: usize, kind: usize, column: usize| {
            f64::from(qkv[row * 3 * width + kind * width + column])
        };
        let head_width = width / heads;
        for row in [0, 47, 48, 100] {
            for head in 0..heads {
                let columns = head * head_width..(head + 1) * head_width;
                let weights: Vec<f64> = (0..rows)
                    .map(|other| {
                        let dot: f64 = columns
                            .clone()
                            .map(|c| at(row, 0, c) * at(other, 1, c))
                            .sum();
                        (dot / (head_width as f64).sqrt()).exp()
                    })
                    .collect();
                let total: f64 = weights.iter().sum();
                for column in columns {
                    let want: f64 = (0..rows)
                        .map(|other| weights[other] * at(other, 2, column))
                        .sum();
                    let got = f64::from(out[row * width + column]);
                    assert!(
                        (got - want / total).abs() < 1e-5,
                        "row {row}, column {column}"
                    );
                }
            }
        }
    }
}
