//! The ConvNeXt block that every part of the model is built from.

use crate::SpeechError;
use crate::kernels::linear::{Linear, Scratch, feed_forward};
use crate::kernels::simd::vectorised;
use crate::weights::{WeightTable, WeightsFile};

/// Frames a block sees to each side.
const REACH: usize = 3;
const TAPS: usize = 2 * REACH + 1;

/// Depthwise convolution over seven rows, norm, two matrix products, residual.
pub(super) struct Block {
    pub width: usize,
    taps: Vec<f32>,
    tap_bias: Vec<f32>,
    /// A row per voice, or one for all.
    norm_scale: WeightTable,
    norm_shift: WeightTable,
    expand: Linear,
    reduce: Linear,
}

impl Block {
    pub(super) fn load(
        tensors: &WeightsFile,
        name: &str,
        voices: usize,
    ) -> Result<Self, SpeechError> {
        let expand = tensors.linear(&format!("{name}.expand"))?;
        let reduce = tensors.linear(&format!("{name}.reduce"))?;
        let width = expand.inputs();
        let norm_scale = tensors.table(&format!("{name}.norm_scale"))?;
        let norm_shift = tensors.table(&format!("{name}.norm_shift"))?;
        let fits = reduce.inputs() == expand.outputs()
            && reduce.outputs() == width
            && [&norm_scale, &norm_shift]
                .iter()
                .all(|t| t.columns == width && t.rows == voices);
        if !fits {
            return Err(SpeechError::Model(format!(
                "block {name} does not fit together"
            )));
        }
        Ok(Self {
            width,
            taps: tensors.vector(&format!("{name}.conv"), TAPS * width)?,
            tap_bias: tensors.vector(&format!("{name}.conv_bias"), width)?,
            norm_scale,
            norm_shift,
            expand,
            reduce,
        })
    }

    pub(super) fn load_all(
        tensors: &WeightsFile,
        name: &str,
        voices: usize,
    ) -> Result<Vec<Self>, SpeechError> {
        let prefix = format!("{name}.block");
        (0..tensors.count(&prefix, "conv"))
            .map(|i| Self::load(tensors, &format!("{prefix}.{i}"), voices))
            .collect()
    }

    /// `input` has `REACH` rows more at each end than come out.
    fn apply(
        &self,
        input: &[f32],
        voice: usize,
        scratch: &mut Scratch,
        mixed: &mut Vec<f32>,
        out: &mut Vec<f32>,
    ) {
        let inner = &input[REACH * self.width..input.len() - REACH * self.width];
        out.clear();
        out.extend_from_slice(inner);
        if mixed.len() < inner.len() {
            mixed.resize(inner.len(), 0.0);
        }
        let mixed = &mut mixed[..inner.len()];
        let width = self.width;
        vectorised(
            #[inline(always)]
            || {
                for (at, row) in mixed.chunks_exact_mut(width).enumerate() {
                    mix_row(&input[at * width..], &self.taps, &self.tap_bias, row);
                }
            },
        );
        let scale = self.norm_scale.row(voice.min(self.norm_scale.rows - 1));
        let shift = self.norm_shift.row(voice.min(self.norm_shift.rows - 1));
        scratch.take_normalised(mixed, scale, shift);
        feed_forward(&self.expand, &self.reduce, scratch, out);
    }
}

/// The depthwise convolution for one row; `input` starts `REACH` rows before it.
#[inline(always)]
fn mix_row(input: &[f32], taps: &[f32], bias: &[f32], out: &mut [f32]) {
    let width = out.len();
    let row = |at: usize| &input[at * width..][..width];
    let tap = |at: usize| &taps[at * width..][..width];
    let (x0, x1, x2, x3, x4, x5, x6) = (row(0), row(1), row(2), row(3), row(4), row(5), row(6));
    let (w0, w1, w2, w3, w4, w5, w6) = (tap(0), tap(1), tap(2), tap(3), tap(4), tap(5), tap(6));
    let bias = &bias[..width];
    for i in 0..width {
        out[i] = bias[i]
            + x0[i] * w0[i]
            + x1[i] * w1[i]
            + x2[i] * w2[i]
            + x3[i] * w3[i]
            + x4[i] * w4[i]
            + x5[i] * w5[i]
            + x6[i] * w6[i];
    }
}

/// A chain of blocks fed row by row. Each block keeps the rows it still needs, so that nothing is
/// computed twice and the result is that of the whole sequence at once, to the bit.
pub(super) struct Chain<'m> {
    blocks: &'m [Block],
    voice: usize,
    held: Vec<Vec<f32>>,
    mixed: Vec<f32>,
    out: Vec<f32>,
}

impl<'m> Chain<'m> {
    pub(super) fn new(blocks: &'m [Block], voice: usize) -> Self {
        // Before the first row there is silence: zeros, as the model was trained.
        let held = blocks.iter().map(|b| vec![0.0; REACH * b.width]).collect();
        Self {
            blocks,
            voice,
            held,
            mixed: Vec::new(),
            out: Vec::new(),
        }
    }

    /// Takes the next rows and replaces them by those that are finished, which lag behind by
    /// `REACH` rows a block until `last` flushes them.
    pub(super) fn push(&mut self, rows: &mut Vec<f32>, last: bool, scratch: &mut Scratch) {
        for (block, held) in self.blocks.iter().zip(&mut self.held) {
            held.extend_from_slice(rows);
            if last {
                held.resize(held.len() + REACH * block.width, 0.0);
            }
            let ready = (held.len() / block.width).saturating_sub(2 * REACH);
            if ready == 0 {
                rows.clear();
                continue;
            }
            let (mixed, out) = (&mut self.mixed, &mut self.out);
            block.apply(held, self.voice, scratch, mixed, out);
            held.drain(..ready * block.width);
            std::mem::swap(rows, out);
        }
    }
}

/// The whole sequence at once.
pub(super) fn apply_block(block: &Block, voice: usize, rows: &mut Vec<f32>, scratch: &mut Scratch) {
    Chain::new(std::slice::from_ref(block), voice).push(rows, true, scratch);
}
