//! A transformer's layer: attention, then two products, each added to what goes past them.

use super::linear::{Linear, Scratch, feed_forward};
use crate::SpeechError;
use crate::weights::WeightsFile;

pub(crate) struct Layer {
    norm1: Norm,
    qkv: Linear,
    out: Linear,
    norm2: Norm,
    fc1: Linear,
    fc2: Linear,
}

pub(crate) struct Norm {
    pub(crate) scale: Vec<f32>,
    pub(crate) shift: Vec<f32>,
}

/// What the layers write into, one after another.
#[derive(Default)]
pub(crate) struct LayerBuffers {
    pub(crate) scratch: Scratch,
    qkv: Vec<f32>,
    attended: Vec<f32>,
    scores: Vec<f32>,
}

impl Layer {
    pub(crate) fn load(weights: &WeightsFile, n: usize, width: usize) -> Result<Self, SpeechError> {
        let name = |part: &str| format!("layers.{n}.{part}");
        let (q, k, v) = (name("q"), name("k"), name("v"));
        Ok(Self {
            norm1: Norm::load(weights, &name("norm1"), width)?,
            qkv: linear(weights, &[&q, &k, &v], width, 3 * width)?,
            out: linear(weights, &[&name("out")], width, width)?,
            norm2: Norm::load(weights, &name("norm2"), width)?,
            fc1: linear(weights, &[&name("fc1")], width, 4 * width)?,
            fc2: linear(weights, &[&name("fc2")], 4 * width, width)?,
        })
    }

    /// `attend` takes rows of queries, keys and values side by side, and writes rows; it has a buffer for scores.
    pub(crate) fn run(
        &self,
        x: &mut [f32],
        buffers: &mut LayerBuffers,
        attend: impl FnOnce(&[f32], &mut [f32], &mut Vec<f32>),
    ) {
        let LayerBuffers {
            scratch,
            qkv,
            attended,
            scores,
        } = buffers;
        scratch.take_normalised(x, &self.norm1.scale, &self.norm1.shift);
        self.qkv.apply(scratch, qkv);
        attended.resize(x.len(), 0.0);
        attend(qkv, attended, scores);
        scratch.take(attended, self.norm1.scale.len());
        self.out.accumulate(scratch, x);
        scratch.take_normalised(x, &self.norm2.scale, &self.norm2.shift);
        feed_forward(&self.fc1, &self.fc2, scratch, x);
    }
}

/// Layers over the same input as one, refused unless they have this size.
pub(crate) fn linear(
    weights: &WeightsFile,
    names: &[&str],
    inputs: usize,
    outputs: usize,
) -> Result<Linear, SpeechError> {
    let layer = weights.linear_of(names)?;
    if (layer.inputs(), layer.outputs()) != (inputs, outputs) {
        let name = names.join(" and ");
        return Err(SpeechError::Model(format!(
            "the network's {name} is of another size"
        )));
    }
    Ok(layer)
}

impl Norm {
    pub(crate) fn load(
        weights: &WeightsFile,
        name: &str,
        width: usize,
    ) -> Result<Self, SpeechError> {
        Ok(Self {
            scale: weights.vector(&format!("{name}.weight"), width)?,
            shift: weights.vector(&format!("{name}.bias"), width)?,
        })
    }
}
