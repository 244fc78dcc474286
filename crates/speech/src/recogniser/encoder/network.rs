//! Whisper small's encoder with a letter head: two convolutions, twelve layers, pairs of frames
//! averaged after an early one.

use rten_gemm::{BiasVector, GemmInputB, GemmOptions, PackedBMatrix};
use rten_tensor::{Matrix, NdTensorView};

use super::super::mel::MELS;
use super::super::posteriors::CLASSES;
use crate::SpeechError;
use crate::kernels::attention::attend;
use crate::kernels::floats;
use crate::kernels::linear::{Linear, Scratch};
use crate::kernels::simd::{gelu, normalise, vectorised};
use crate::kernels::transformer::{Layer, LayerBuffers, Norm, linear};
use crate::weights::WeightsFile;

const WIDTH: usize = 768;
const HEADS: usize = 12;
const LAYERS: usize = 12;
/// Frames of the first layers, at 50 a second.
const FRAMES_MAX: usize = 750;

pub(super) struct AcousticNetwork {
    conv1: Dense,
    conv2: Linear,
    positions: Vec<f32>,
    layers: Vec<Layer>,
    /// So many layers hear 50 frames a second, the others pairs of them.
    halve_after: usize,
    norm: Norm,
    head: Dense,
}

/// A product in floats, for the first and the last layer.
struct Dense {
    inputs: usize,
    outputs: usize,
    weights: PackedBMatrix<f32>,
    bias: Vec<f32>,
}

impl AcousticNetwork {
    pub(super) fn load(weights: &WeightsFile) -> Result<Self, SpeechError> {
        Ok(Self {
            conv1: Dense::load(weights, "conv1", 3 * MELS, WIDTH)?,
            conv2: linear(weights, &["conv2"], 3 * WIDTH, WIDTH)?,
            positions: weights.vector("positions", FRAMES_MAX * WIDTH)?,
            layers: (0..LAYERS)
                .map(|n| Layer::load(weights, n, WIDTH))
                .collect::<Result<_, _>>()?,
            halve_after: weights.integer("frames.halve_after", 1..LAYERS)?,
            norm: Norm::load(weights, "norm", WIDTH)?,
            head: Dense::load(weights, "head", WIDTH, CLASSES)?,
        })
    }

    /// Mel frames, a multiple of four, to letter scores; a quarter as many rows.
    pub(super) fn run(&self, spectra: &[f32]) -> Vec<f32> {
        let mut buffers = LayerBuffers::default();
        let mut x = self.front(spectra, &mut buffers.scratch);
        for (n, layer) in self.layers.iter().enumerate() {
            if n == self.halve_after {
                x = averaged_pairs(&x);
            }
            layer.run(&mut x, &mut buffers, |qkv, attended, scores| {
                attend(qkv, WIDTH, HEADS, attended, scores);
            });
        }
        let mut normed = vec![0f32; x.len()];
        for (row, out) in x.chunks_exact(WIDTH).zip(normed.chunks_exact_mut(WIDTH)) {
            normalise(row, &self.norm.scale, &self.norm.shift, out);
        }
        let mut scores = self.head.apply(&normed);
        for row in scores.chunks_exact_mut(CLASSES) {
            let top = row.iter().copied().fold(f32::MIN, f32::max);
            let sum: f32 = row.iter().map(|x| (x - top).exp()).sum();
            let log_sum = top + sum.ln();
            row.iter_mut().for_each(|x| *x -= log_sum);
        }
        scores
    }

    fn front(&self, spectra: &[f32], scratch: &mut Scratch) -> Vec<f32> {
        let frames = spectra.len() / MELS;
        let mut windows = vec![0f32; frames * 3 * MELS];
        for (i, window) in windows.chunks_exact_mut(3 * MELS).enumerate() {
            three_frames(spectra, MELS, i, window);
        }
        let mut first = self.conv1.apply(&windows);
        gelu_all(&mut first);
        scratch.take_made(
            frames / 2,
            3 * WIDTH,
            #[inline(always)]
            |i, row| three_frames(&first, WIDTH, 2 * i, row),
        );
        let mut x = Vec::new();
        self.conv2.apply(scratch, &mut x);
        gelu_all(&mut x);
        for (x, position) in x.iter_mut().zip(&self.positions) {
            *x += position;
        }
        x
    }
}

fn gelu_all(values: &mut [f32]) {
    vectorised(
        #[inline(always)]
        || {
            for value in values.iter_mut() {
                *value = gelu(*value);
            }
        },
    );
}

/// A frame with its neighbours before and after; nothing beyond the ends.
#[inline(always)]
fn three_frames(rows: &[f32], width: usize, centre: usize, out: &mut [f32]) {
    for (tap, part) in out.chunks_exact_mut(width).enumerate() {
        let frame = (centre + tap).checked_sub(1);
        match frame.and_then(|frame| rows.get(frame * width..(frame + 1) * width)) {
            Some(row) => part.copy_from_slice(row),
            None => part.fill(0.0),
        }
    }
}

fn averaged_pairs(x: &[f32]) -> Vec<f32> {
    let mut out = Vec::with_capacity(x.len() / 2);
    for pair in x.chunks_exact(2 * WIDTH) {
        let (first, second) = pair.split_at(WIDTH);
        out.extend(first.iter().zip(second).map(|(a, b)| 0.5 * (a + b)));
    }
    out
}

impl Dense {
    fn load(
        weights: &WeightsFile,
        name: &str,
        inputs: usize,
        outputs: usize,
    ) -> Result<Self, SpeechError> {
        let matrix = weights.vector(&format!("{name}.weight"), inputs * outputs)?;
        Ok(Self {
            inputs,
            outputs,
            weights: floats::pack(Matrix::from_data([inputs, outputs], &matrix[..])),
            bias: weights.vector(&format!("{name}.bias"), outputs)?,
        })
    }

    fn apply(&self, rows: &[f32]) -> Vec<f32> {
        let count = rows.len() / self.inputs;
        let mut out = vec![0f32; count * self.outputs];
        let options = GemmOptions {
            bias: Some(BiasVector::Row(&self.bias)),
            ..GemmOptions::default()
        };
        let rows = NdTensorView::from_data([count, self.inputs], rows);
        floats::product(&mut out, rows, GemmInputB::Packed(&self.weights), options);
        out
    }
}
