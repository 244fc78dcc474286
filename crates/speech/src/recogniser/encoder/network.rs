//! Whisper small's encoder with a letter head: two convolutions, twelve layers, pairs of frames
//! averaged half way.

use rten_gemm::{GemmExecutor, GemmInputA, GemmInputB, GemmOptions, PackedBMatrix};
use rten_tensor::{Matrix, NdTensorView};

use super::super::mel::MELS;
use super::super::posteriors::CLASSES;
use super::attention::attend;
use super::linear::{Codes, Linear, levels};
use super::onnx::Tensors;
use super::simd::{gelu, normalise, vectorised};
use crate::SpeechError;

pub const WIDTH: usize = 768;
pub const HEADS: usize = 12;
pub const HEAD_WIDTH: usize = WIDTH / HEADS;
const HIDDEN: usize = 4 * WIDTH;
const LAYERS: usize = 12;
/// Before this layer pairs of frames become one.
const HALVED_BEFORE: usize = 6;
/// Frames of the first half of the layers, at 50 a second.
const FRAMES_MAX: usize = 750;

pub struct Network {
    levels: f32,
    conv1: Dense,
    conv2: Linear,
    positions: Vec<f32>,
    layers: Vec<Layer>,
    norm: Norm,
    head: Dense,
}

struct Layer {
    norm1: Norm,
    qkv: Linear,
    out: Linear,
    norm2: Norm,
    fc1: Linear,
    fc2: Linear,
}

struct Norm {
    scale: Vec<f32>,
    shift: Vec<f32>,
}

/// A product in floats, for the first and the last layer.
struct Dense {
    inputs: usize,
    outputs: usize,
    weights: PackedBMatrix<f32>,
    bias: Vec<f32>,
}

/// What the layers write into, one after another.
#[derive(Default)]
struct Scratch {
    codes: Codes,
    sums: Vec<i32>,
    wide: Vec<f32>,
    attended: Vec<f32>,
    scores: Vec<f32>,
}

impl Network {
    pub fn load(tensors: &Tensors<'_>) -> Result<Self, SpeechError> {
        Ok(Self {
            levels: levels(),
            conv1: Dense::load(tensors, "conv1", 3 * MELS, WIDTH)?,
            conv2: Linear::load(tensors, "conv2", 3 * WIDTH, WIDTH)?,
            positions: tensors.floats("positions", FRAMES_MAX * WIDTH)?,
            layers: (0..LAYERS)
                .map(|n| Layer::load(tensors, n))
                .collect::<Result<_, _>>()?,
            norm: Norm::load(tensors, "norm")?,
            head: Dense::load(tensors, "head", WIDTH, CLASSES)?,
        })
    }

    /// Mel frames, a multiple of four, to letter scores; a quarter as many rows.
    pub fn run(&self, spectra: &[f32]) -> Vec<f32> {
        let mut scratch = Scratch::default();
        let mut x = self.front(spectra, &mut scratch);
        for (n, layer) in self.layers.iter().enumerate() {
            if n == HALVED_BEFORE {
                x = averaged_pairs(&x);
            }
            layer.run(&mut x, self.levels, &mut scratch);
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
        vectorised(
            #[inline(always)]
            || {
                first.iter_mut().for_each(
                    #[inline(always)]
                    |x| *x = gelu(*x),
                )
            },
        );
        let half = frames / 2;
        let codes = &mut scratch.codes;
        vectorised(
            #[inline(always)]
            || {
                codes.fill(
                    half,
                    3 * WIDTH,
                    self.levels,
                    #[inline(always)]
                    |i, row| {
                        three_frames(&first, WIDTH, 2 * i, row);
                    },
                );
            },
        );
        let mut x = vec![0f32; half * WIDTH];
        self.conv2.apply(
            codes,
            &mut scratch.sums,
            &mut x,
            #[inline(always)]
            |out, value| *out = gelu(value),
        );
        for (x, position) in x.iter_mut().zip(&self.positions) {
            *x += position;
        }
        x
    }
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

impl Layer {
    fn load(tensors: &Tensors<'_>, n: usize) -> Result<Self, SpeechError> {
        let name = |part: &str| format!("layers.{n}.{part}");
        let (q, k, v) = (name("q"), name("k"), name("v"));
        let parts = [(q.as_str(), true), (k.as_str(), false), (v.as_str(), true)];
        Ok(Self {
            norm1: Norm::load(tensors, &name("norm1"))?,
            qkv: Linear::side_by_side(tensors, &parts, WIDTH, WIDTH)?,
            out: Linear::load(tensors, &name("out"), WIDTH, WIDTH)?,
            norm2: Norm::load(tensors, &name("norm2"))?,
            fc1: Linear::load(tensors, &name("fc1"), WIDTH, HIDDEN)?,
            fc2: Linear::load(tensors, &name("fc2"), HIDDEN, WIDTH)?,
        })
    }

    fn run(&self, x: &mut [f32], levels: f32, scratch: &mut Scratch) {
        let Scratch {
            codes,
            sums,
            wide,
            attended,
            scores,
        } = scratch;
        let rows = x.len() / WIDTH;
        let replace = |out: &mut f32, value| *out = value;
        let add = |out: &mut f32, value| *out += value;

        self.norm1.coded(x, levels, codes);
        wide.resize(rows * 3 * WIDTH, 0.0);
        self.qkv.apply(codes, sums, wide, replace);
        attended.resize(rows * WIDTH, 0.0);
        attend(wide, attended, scores);
        coded(attended, WIDTH, levels, codes);
        self.out.apply(codes, sums, x, add);

        self.norm2.coded(x, levels, codes);
        wide.resize(rows * HIDDEN, 0.0);
        self.fc1
            .apply(codes, sums, wide, |out, value| *out = gelu(value));
        coded(wide, HIDDEN, levels, codes);
        self.fc2.apply(codes, sums, x, add);
    }
}

fn coded(rows: &[f32], width: usize, levels: f32, codes: &mut Codes) {
    vectorised(
        #[inline(always)]
        || {
            codes.fill(
                rows.len() / width,
                width,
                levels,
                #[inline(always)]
                |i, row| {
                    row.copy_from_slice(&rows[i * width..][..width]);
                },
            );
        },
    );
}

impl Norm {
    fn load(tensors: &Tensors<'_>, name: &str) -> Result<Self, SpeechError> {
        Ok(Self {
            scale: tensors.floats(&format!("{name}.weight"), WIDTH)?,
            shift: tensors.floats(&format!("{name}.bias"), WIDTH)?,
        })
    }

    fn coded(&self, x: &[f32], levels: f32, codes: &mut Codes) {
        vectorised(
            #[inline(always)]
            || {
                codes.fill(
                    x.len() / WIDTH,
                    WIDTH,
                    levels,
                    #[inline(always)]
                    |i, row| {
                        normalise(&x[i * WIDTH..][..WIDTH], &self.scale, &self.shift, row);
                    },
                );
            },
        );
    }
}

impl Dense {
    fn load(
        tensors: &Tensors<'_>,
        name: &str,
        inputs: usize,
        outputs: usize,
    ) -> Result<Self, SpeechError> {
        let weights = tensors.floats(&format!("{name}.weight"), inputs * outputs)?;
        Ok(Self {
            inputs,
            outputs,
            weights: GemmExecutor::<f32, f32, f32>::new()
                .prepack_b(Matrix::from_data([inputs, outputs], &weights[..])),
            bias: tensors.floats(&format!("{name}.bias"), outputs)?,
        })
    }

    fn apply(&self, rows: &[f32]) -> Vec<f32> {
        let count = rows.len() / self.inputs;
        let mut out = vec![0f32; count * self.outputs];
        GemmExecutor::<f32, f32, f32>::new()
            .gemm(
                &mut out,
                GemmInputA::Unpacked(NdTensorView::from_data([count, self.inputs], rows)),
                GemmInputB::Packed(&self.weights),
                GemmOptions::default(),
            )
            .expect("shapes were checked when the weights were loaded");
        for row in out.chunks_exact_mut(self.outputs) {
            for (x, bias) in row.iter_mut().zip(&self.bias) {
                *x += bias;
            }
        }
        out
    }
}
