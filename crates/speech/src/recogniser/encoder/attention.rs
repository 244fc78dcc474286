//! Self-attention: every frame looks at every other.

use rten_gemm::{GemmExecutor, GemmInputA, GemmInputB, GemmOptions};
use rten_tensor::NdTensorView;

use super::network::{HEAD_WIDTH, HEADS, WIDTH};
use super::simd::{exponentials, vectorised};

/// Queries looked at together: their scores stay in the nearest cache.
const BLOCK: usize = 48;

/// `qkv`: rows of queries, keys and values side by side; `out`: rows of [`WIDTH`].
pub fn attend(qkv: &[f32], out: &mut [f32], scores: &mut Vec<f32>) {
    let frames = qkv.len() / (3 * WIDTH);
    let executor = GemmExecutor::<f32, f32, f32>::new();
    let all = NdTensorView::from_data([frames, 3 * WIDTH], qkv);
    let mut mixed = vec![0f32; BLOCK * HEAD_WIDTH];
    scores.resize(BLOCK * frames, 0.0);
    for head in 0..HEADS {
        let part = |kind: usize| {
            let from = kind * WIDTH + head * HEAD_WIDTH;
            all.slice((.., from..from + HEAD_WIDTH))
        };
        let (queries, keys, values) = (part(0), part(1), part(2));
        let keys = executor.prepack_b(keys.transposed());
        let values = executor.prepack_b(values);
        for from in (0..frames).step_by(BLOCK) {
            let rows = BLOCK.min(frames - from);
            let scores = &mut scores[..rows * frames];
            let mixed = &mut mixed[..rows * HEAD_WIDTH];
            let scaled = GemmOptions {
                alpha: 1.0 / (HEAD_WIDTH as f32).sqrt(),
                ..GemmOptions::default()
            };
            let block = queries.slice((from..from + rows, ..));
            executor
                .gemm(
                    scores,
                    GemmInputA::Unpacked(block),
                    GemmInputB::Packed(&keys),
                    scaled,
                )
                .expect("queries and keys have one width");
            let mut sums = [0f32; BLOCK];
            vectorised(
                #[inline(always)]
                || {
                    for (row, sum) in scores.chunks_exact_mut(frames).zip(&mut sums) {
                        *sum = exponentials(row);
                    }
                },
            );
            let weights = NdTensorView::from_data([rows, frames], &*scores);
            let plain = GemmOptions::default();
            executor
                .gemm(
                    mixed,
                    GemmInputA::Unpacked(weights),
                    GemmInputB::Packed(&values),
                    plain,
                )
                .expect("there is a weight for every value");
            for (i, (row, sum)) in mixed.chunks_exact(HEAD_WIDTH).zip(sums).enumerate() {
                let to = &mut out[(from + i) * WIDTH + head * HEAD_WIDTH..][..HEAD_WIDTH];
                for (to, x) in to.iter_mut().zip(row) {
                    *to = x / sum;
                }
            }
        }
    }
}
