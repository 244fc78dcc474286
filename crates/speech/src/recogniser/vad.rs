//! Voice activity, 32 ms at a time: the Silero network (MIT), from its published weights.
//!
//! A short-time spectrum, four small convolutions, one LSTM cell, one output.

use std::sync::Arc;

use crate::SpeechError;
use crate::kernels::simd::{add_products, sigmoid, tanh, vectorised};
use crate::weights::WeightsFile;

pub(super) const FILE: &str = "vad.safetensors";
pub(super) const CHUNK: usize = 512;
const CONTEXT: usize = 64;
const SPECTRUM_WINDOW: usize = 256;
const SPECTRUM_HOP: usize = 128;
const SPECTRUM_BINS: usize = 129;
const WIDTH: usize = 128;

/// Inputs by outputs with the outputs together, so that sums run over whole rows.
struct VadWeights {
    spectrum: Vec<f32>,
    convolutions: [Convolution; 4],
    lstm_input: Vec<f32>,
    lstm_state: Vec<f32>,
    lstm_bias: Vec<f32>,
    output: Vec<f32>,
    output_bias: f32,
}

struct Convolution {
    /// Of the frame before, then of this one, then of the one after.
    weights: Vec<f32>,
    bias: Vec<f32>,
    inputs: usize,
    stride: usize,
}

/// The network and what it remembers of the sound so far. Clones share the weights.
#[derive(Clone)]
pub(super) struct Vad {
    weights: Arc<VadWeights>,
    context: [f32; CONTEXT],
    hidden: Vec<f32>,
    cell: Vec<f32>,
}

impl Vad {
    pub(super) fn load(file: WeightsFile) -> Result<Self, SpeechError> {
        let convolution = |n: usize, inputs, outputs, stride| {
            let weight = file.vector(&format!("conv{n}.weight"), outputs * inputs * 3)?;
            let tap = |n| {
                let of_tap: Vec<f32> = weight.iter().copied().skip(n).step_by(3).collect();
                transposed(&of_tap, outputs, inputs)
            };
            Ok(Convolution {
                weights: [tap(0), tap(1), tap(2)].concat(),
                bias: file.vector(&format!("conv{n}.bias"), outputs)?,
                inputs,
                stride,
            })
        };
        let lstm = |name: &str| {
            let weight = file.vector(name, 4 * WIDTH * WIDTH)?;
            Ok::<_, SpeechError>(transposed(&weight, 4 * WIDTH, WIDTH))
        };
        let spectrum = file.vector("stft_conv.weight", 2 * SPECTRUM_BINS * SPECTRUM_WINDOW)?;
        let mut lstm_bias = file.vector("lstm_cell.bias_ih", 4 * WIDTH)?;
        let second = file.vector("lstm_cell.bias_hh", 4 * WIDTH)?;
        lstm_bias.iter_mut().zip(second).for_each(|(a, b)| *a += b);
        let weights = VadWeights {
            spectrum: transposed(&spectrum, 2 * SPECTRUM_BINS, SPECTRUM_WINDOW),
            convolutions: [
                convolution(1, SPECTRUM_BINS, WIDTH, 1)?,
                convolution(2, WIDTH, 64, 2)?,
                convolution(3, 64, 64, 2)?,
                convolution(4, 64, WIDTH, 1)?,
            ],
            lstm_input: lstm("lstm_cell.weight_ih")?,
            lstm_state: lstm("lstm_cell.weight_hh")?,
            lstm_bias,
            output: file.vector("final_conv.weight", WIDTH)?,
            output_bias: file.vector("final_conv.bias", 1)?[0],
        };
        Ok(Self {
            weights: Arc::new(weights),
            context: [0.0; CONTEXT],
            hidden: vec![0.0; WIDTH],
            cell: vec![0.0; WIDTH],
        })
    }

    /// Forgets what was heard.
    pub(super) fn reset(&mut self) {
        self.context = [0.0; CONTEXT];
        self.hidden.fill(0.0);
        self.cell.fill(0.0);
    }

    /// How likely it is that someone speaks in these samples, 0 to 1. A short last chunk counts as
    /// followed by silence.
    pub(super) fn hear(&mut self, chunk: &[i16]) -> f32 {
        vectorised(
            #[inline(always)]
            || self.run(chunk),
        )
    }

    #[inline(always)]
    fn run(&mut self, chunk: &[i16]) -> f32 {
        let mut wave = [0f32; CONTEXT + CHUNK + CONTEXT];
        wave[..CONTEXT].copy_from_slice(&self.context);
        for (x, sample) in wave[CONTEXT..CONTEXT + CHUNK].iter_mut().zip(chunk) {
            *x = f32::from(*sample) / 32768.0;
        }
        let end = CONTEXT + CHUNK;
        self.context.copy_from_slice(&wave[end - CONTEXT..end]);
        for i in 0..CONTEXT {
            wave[end + i] = wave[end - 2 - i];
        }
        let weights = Arc::clone(&self.weights);
        let mut x = magnitudes(&wave, &weights.spectrum);
        for convolution in &weights.convolutions {
            x = convolution.run(&x);
        }
        self.remember(&weights, &x);
        let seen = self.hidden.iter().zip(&weights.output);
        let sum: f32 = seen.map(|(h, w)| h.max(0.0) * w).sum();
        sigmoid(weights.output_bias + sum)
    }

    #[inline(always)]
    fn remember(&mut self, weights: &VadWeights, x: &[f32]) {
        let mut gates = weights.lstm_bias.clone();
        add_products(&mut gates, 4 * WIDTH, x, WIDTH, &weights.lstm_input);
        let hidden = &self.hidden;
        add_products(&mut gates, 4 * WIDTH, hidden, WIDTH, &weights.lstm_state);
        let gate = |n: usize, i: usize| gates[n * WIDTH + i];
        for (i, (cell, hidden)) in self.cell.iter_mut().zip(&mut self.hidden).enumerate() {
            *cell = sigmoid(gate(1, i)) * *cell + sigmoid(gate(0, i)) * tanh(gate(2, i));
            *hidden = sigmoid(gate(3, i)) * tanh(*cell);
        }
    }
}

#[inline(always)]
fn magnitudes(wave: &[f32], basis: &[f32]) -> Vec<f32> {
    const COLUMNS: usize = 2 * SPECTRUM_BINS;
    let frames = (wave.len() - SPECTRUM_WINDOW) / SPECTRUM_HOP + 1;
    let mut parts = vec![0f32; frames * COLUMNS];
    add_products(&mut parts, COLUMNS, wave, SPECTRUM_HOP, basis);
    let mut out = Vec::with_capacity(frames * SPECTRUM_BINS);
    for parts in parts.chunks_exact(COLUMNS) {
        let (real, imaginary) = parts.split_at(SPECTRUM_BINS);
        let pairs = real.iter().zip(imaginary);
        out.extend(pairs.map(|(re, im)| (re * re + im * im).sqrt()));
    }
    out
}

impl Convolution {
    /// Width 3, one frame of zeros on both sides, then only what is above zero.
    #[inline(always)]
    fn run(&self, x: &[f32]) -> Vec<f32> {
        let frames = (x.len() / self.inputs).div_ceil(self.stride);
        let zeros = vec![0f32; self.inputs];
        let x = [&zeros, x, &zeros].concat();
        let mut out = self.bias.repeat(frames);
        let stride = self.stride * self.inputs;
        add_products(&mut out, self.bias.len(), &x, stride, &self.weights);
        for sum in &mut out {
            *sum = sum.max(0.0);
        }
        out
    }
}

fn transposed(matrix: &[f32], rows: usize, columns: usize) -> Vec<f32> {
    let mut out = vec![0.0; matrix.len()];
    for row in 0..rows {
        for column in 0..columns {
            out[column * rows + row] = matrix[row * columns + column];
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(path: &str) -> Vec<u8> {
        std::fs::read(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
    }

    fn detector() -> Vad {
        Vad::load(
            WeightsFile::parse(FILE, data("../../models/recogniser/vad.safetensors")).unwrap(),
        )
        .unwrap()
    }

    #[test]
    fn probabilities_match_the_published_network() {
        let samples: Vec<i16> = data("tests/data/recogniser/mel-input.s16")
            .chunks_exact(2)
            .map(|b| i16::from_le_bytes([b[0], b[1]]))
            .collect();
        let expected = data("tests/data/recogniser/vad-output.f32");
        let mut vad = detector();
        for (chunk, e) in samples.chunks(CHUNK).zip(expected.chunks_exact(4)) {
            let expected = f32::from_le_bytes([e[0], e[1], e[2], e[3]]);
            let actual = vad.hear(chunk);
            assert!(
                (actual - expected).abs() < 1e-3,
                "{actual} should be {expected}"
            );
        }
    }

    #[test]
    fn silence_is_no_voice_and_a_reset_forgets() {
        let mut vad = detector();
        let first = vad.hear(&[0; CHUNK]);
        assert!(first < 0.1);
        vad.hear(&[9000; CHUNK]);
        vad.reset();
        assert_eq!(vad.hear(&[0; CHUNK]), first);
    }

    #[test]
    fn weights_of_another_network_are_refused() {
        let empty = WeightsFile::parse(FILE, b"\x02\0\0\0\0\0\0\0{}".to_vec()).unwrap();
        assert!(Vad::load(empty).is_err());
    }
}
