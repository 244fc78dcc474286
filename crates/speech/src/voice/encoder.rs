//! From phoneme symbols to features: ConvNeXt blocks with self-attention after every second one.

use super::block::{Block, apply_block};
use crate::SpeechError;
use crate::kernels::attention::attend;
use crate::kernels::linear::{Linear, Scratch};
use crate::weights::{WeightTable, WeightsFile};

const HEADS: usize = 4;

pub(super) struct PhonemeEncoder {
    embedding: WeightTable,
    blocks: Vec<Block>,
    attentions: Vec<Attention>,
}

impl PhonemeEncoder {
    pub(super) fn load(tensors: &WeightsFile, name: &str) -> Result<Self, SpeechError> {
        let embedding = tensors.table(&format!("{name}.embedding"))?;
        let blocks = Block::load_all(tensors, name, 1)?;
        let attentions = (0..tensors.count(&format!("{name}.attention"), "norm_scale"))
            .map(|i| Attention::load(tensors, &format!("{name}.attention.{i}")))
            .collect::<Result<Vec<_>, _>>()?;
        let width = embedding.columns;
        let fits = attentions.len() * 2 == blocks.len()
            && width.is_multiple_of(HEADS)
            && blocks.iter().all(|b| b.width == width)
            && attentions.iter().all(|a| a.merge.outputs() == width);
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

    pub(super) fn width(&self) -> usize {
        self.embedding.columns
    }

    pub(super) fn symbols(&self) -> usize {
        self.embedding.rows
    }

    /// A row of features for each symbol. Symbols must be below `symbols()`.
    pub(super) fn encode(&self, symbols: &[u16], scratch: &mut Scratch) -> Vec<f32> {
        let mut rows = Vec::with_capacity(symbols.len() * self.width());
        for &symbol in symbols {
            rows.extend_from_slice(self.embedding.row(usize::from(symbol)));
        }
        for (at, block) in self.blocks.iter().enumerate() {
            apply_block(block, 0, &mut rows, scratch);
            if at % 2 == 1 {
                self.attentions[at / 2].apply(&mut rows, scratch);
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
    fn load(tensors: &WeightsFile, name: &str) -> Result<Self, SpeechError> {
        let query_key_value = tensors.linear(&format!("{name}.query_key_value"))?;
        let merge = tensors.linear(&format!("{name}.merge"))?;
        let width = query_key_value.inputs();
        if query_key_value.outputs() != 3 * width
            || (merge.inputs(), merge.outputs()) != (width, width)
        {
            return Err(SpeechError::Model(format!("{name} does not fit together")));
        }
        Ok(Self {
            norm_scale: tensors.vector(&format!("{name}.norm_scale"), width)?,
            norm_shift: tensors.vector(&format!("{name}.norm_shift"), width)?,
            query_key_value,
            merge,
        })
    }

    fn apply(&self, rows: &mut [f32], scratch: &mut Scratch) {
        let width = self.merge.inputs();
        scratch.take_normalised(rows, &self.norm_scale, &self.norm_shift);
        let (mut parts, mut mixed) = (Vec::new(), vec![0.0; rows.len()]);
        self.query_key_value.apply(scratch, &mut parts);
        attend(&parts, width, HEADS, &mut mixed, &mut Vec::new());
        scratch.take(&mixed, width);
        self.merge.accumulate(scratch, rows);
    }
}
