//! From phoneme symbols to features: ConvNeXt blocks with self-attention after every second one.

use rten_gemm::{GemmExecutor, GemmInputA, GemmInputB, GemmOptions};
use rten_tensor::NdTensorView;

use super::block::{Block, apply_block};
use super::linear::{Gemm, Linear, Scratch, normalise_and_quantise, quantise_rows};
use super::simd::{exp, sum, vectorised};
use super::weights::{Table, Tensors};
use crate::SpeechError;

const HEADS: usize = 4;

pub(super) struct Encoder {
    embedding: Table,
    blocks: Vec<Block>,
    attentions: Vec<Attention>,
}

impl Encoder {
    pub fn load(tensors: &Tensors, name: &str, gemm: &Gemm) -> Result<Self, SpeechError> {
        let embedding = tensors.table(&format!("{name}.embedding"))?;
        let blocks = Block::load_all(tensors, name, gemm, 1)?;
        let attentions = (0..tensors.count(&format!("{name}.attention"), "norm_scale"))
            .map(|i| Attention::load(tensors, &format!("{name}.attention.{i}"), gemm))
            .collect::<Result<Vec<_>, _>>()?;
        let width = embedding.columns;
        let fits = attentions.len() * 2 == blocks.len()
            && width.is_multiple_of(HEADS)
            && blocks.iter().all(|b| b.width == width)
            && attentions.iter().all(|a| a.merge.outputs == width);
        if !fits {
            return Err(SpeechError::Model(format!(
                "encoder {name} does not fit together"
            )));
        }
        Ok(Self {
            embedding,
            blocks,
            attentions,
        })
    }

    pub fn width(&self) -> usize {
        self.embedding.columns
    }

    pub fn symbols(&self) -> usize {
        self.embedding.rows
    }

    /// A row of features for each symbol. Symbols must be below `symbols()`.
    pub fn encode(&self, gemm: &Gemm, symbols: &[u16], scratch: &mut Scratch) -> Vec<f32> {
        let mut rows = Vec::with_capacity(symbols.len() * self.width());
        for &symbol in symbols {
            rows.extend_from_slice(self.embedding.row(usize::from(symbol)));
        }
        for (at, block) in self.blocks.iter().enumerate() {
            apply_block(gemm, block, 0, &mut rows, scratch);
            if at % 2 == 1 {
                self.attentions[at / 2].apply(gemm, &mut rows, scratch);
            }
        }
        rows
    }
}

/// Self-attention over the whole clause, with its norm before and its residual after.
struct Attention {
    norm_scale: Vec<f32>,
    norm_shift: Vec<f32>,
    query_key_value: Linear,
    merge: Linear,
    products: GemmExecutor<f32>,
}

impl Attention {
    fn load(tensors: &Tensors, name: &str, gemm: &Gemm) -> Result<Self, SpeechError> {
        let query_key_value = Linear::load(tensors, &format!("{name}.query_key_value"), gemm)?;
        let merge = Linear::load(tensors, &format!("{name}.merge"), gemm)?;
        let width = query_key_value.inputs;
        if query_key_value.outputs != 3 * width || (merge.inputs, merge.outputs) != (width, width) {
            return Err(SpeechError::Model(format!("{name} does not fit together")));
        }
        Ok(Self {
            norm_scale: tensors.vector(&format!("{name}.norm_scale"), width)?,
            norm_shift: tensors.vector(&format!("{name}.norm_shift"), width)?,
            query_key_value,
            merge,
            products: GemmExecutor::new(),
        })
    }

    fn apply(&self, gemm: &Gemm, rows: &mut [f32], scratch: &mut Scratch) {
        let width = self.merge.inputs;
        let count = rows.len() / width;
        let mut normed = rows.to_vec();
        let (scale, shift) = (&self.norm_scale, &self.norm_shift);
        normalise_and_quantise(gemm, &mut normed, scale, shift, &mut scratch.input);
        let mut parts = Vec::new();
        self.query_key_value.apply(gemm, scratch, &mut parts);

        let head_width = width / HEADS;
        let parts = NdTensorView::from_data([count, 3 * width], &parts[..]);
        let mut scores = vec![0.0; count * count];
        let mut head_out = vec![0.0; count * head_width];
        let mut mixed = normed;
        for head in 0..HEADS {
            let part = |which: usize| {
                let start = which * width + head * head_width;
                parts.slice((.., start..start + head_width))
            };
            let scaled = GemmOptions {
                alpha: 1.0 / (head_width as f32).sqrt(),
                ..GemmOptions::default()
            };
            self.product(&mut scores, part(0), part(1).transposed(), scaled);
            softmax_rows(&mut scores, count);
            let weights = NdTensorView::from_data([count, count], &scores[..]);
            self.product(&mut head_out, weights, part(2), GemmOptions::default());
            let pairs = mixed
                .chunks_exact_mut(width)
                .zip(head_out.chunks_exact(head_width));
            for (row, from) in pairs {
                row[head * head_width..][..head_width].copy_from_slice(from);
            }
        }
        quantise_rows(gemm, &mixed, width, &mut scratch.input);
        self.merge.accumulate(gemm, scratch, rows);
    }

    fn product(
        &self,
        out: &mut [f32],
        a: NdTensorView<f32, 2>,
        b: NdTensorView<f32, 2>,
        options: GemmOptions<f32, f32, f32>,
    ) {
        self.products
            .gemm(
                out,
                GemmInputA::Unpacked(a),
                GemmInputB::Unpacked(b),
                options,
            )
            .expect("the shapes are made to fit");
    }
}

fn softmax_rows(scores: &mut [f32], columns: usize) {
    vectorised(
        #[inline(always)]
        || {
            for row in scores.chunks_exact_mut(columns) {
                let largest = row.iter().fold(f32::MIN, |a, &b| if b > a { b } else { a });
                for value in row.iter_mut() {
                    *value = exp(*value - largest);
                }
                let inverse = 1.0 / sum(row);
                for value in row.iter_mut() {
                    *value *= inverse;
                }
            }
        },
    );
}
