//! From phoneme symbols to features: ConvNeXt blocks with self-attention after every second one.

use rten_gemm::GemmOptions;
use rten_tensor::NdTensorView;

use super::block::{Block, apply_block};
use super::linear::{Gemm, Linear, Scratch, float_product, normalise_and_quantise, quantise_rows};
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
    pub fn load(tensors: &Tensors, name: &str) -> Result<Self, SpeechError> {
        let embedding = tensors.table(&format!("{name}.embedding"))?;
        let blocks = Block::load_all(tensors, name, 1)?;
        let attentions = (0..tensors.count(&format!("{name}.attention"), "norm_scale"))
            .map(|i| Attention::load(tensors, &format!("{name}.attention.{i}")))
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
}

impl Attention {
    fn load(tensors: &Tensors, name: &str) -> Result<Self, SpeechError> {
        let query_key_value = Linear::load(tensors, &format!("{name}.query_key_value"))?;
        let merge = Linear::load(tensors, &format!("{name}.merge"))?;
        let width = query_key_value.inputs;
        if query_key_value.outputs != 3 * width || (merge.inputs, merge.outputs) != (width, width) {
            return Err(SpeechError::Model(format!("{name} does not fit together")));
        }
        Ok(Self {
            norm_scale: tensors.vector(&format!("{name}.norm_scale"), width)?,
            norm_shift: tensors.vector(&format!("{name}.norm_shift"), width)?,
            query_key_value,
            merge,
        })
    }

    fn apply(&self, gemm: &Gemm, rows: &mut [f32], scratch: &mut Scratch) {
        let width = self.merge.inputs;
        let count = rows.len() / width;
        let mut normed = rows.to_vec();
        let (scale, shift) = (&self.norm_scale, &self.norm_shift);
        normalise_and_quantise(gemm, &mut normed, scale, shift, &mut scratch.input);
        let mut parts = Vec::new();
        self.query_key_value.apply(scratch, &mut parts);

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
            float_product(&mut scores, part(0), part(1).transposed(), scaled);
            softmax_rows(&mut scores, count);
            let weights = NdTensorView::from_data([count, count], &scores[..]);
            float_product(&mut head_out, weights, part(2), GemmOptions::default());
            let pairs = mixed
                .chunks_exact_mut(width)
                .zip(head_out.chunks_exact(head_width));
            for (row, from) in pairs {
                row[head * head_width..][..head_width].copy_from_slice(from);
            }
        }
        quantise_rows(gemm, &mixed, width, &mut scratch.input);
        self.merge.accumulate(scratch, rows);
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
