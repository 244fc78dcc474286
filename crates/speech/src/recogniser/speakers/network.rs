//! What a stretch of sound says of whose voice it is: a vector, near to those of the same person. Resemblyzer's network
//! (Apache-2.0): the power in 40 mel bands, three LSTM layers, one linear layer; then what tells people apart on a telephone.

use std::sync::Arc;

use rten_gemm::{BiasVector, GemmInputB, GemmOptions, PackedBMatrix};
use rten_tensor::{Matrix, NdTensorView};

use crate::SpeechError;
use crate::kernels::floats;
use crate::kernels::linear::{Linear, Scratch};
use crate::kernels::simd::{sigmoid, tanh, vectorised};
use crate::recogniser::mel::{HOP, MelPower, WINDOW};
use crate::weights::WeightsFile;

pub(crate) const FILE: &str = "speakers.safetensors";
/// Frames of 10 ms that the network was trained on.
pub(super) const FRAMES: usize = 160;
/// How much sound it takes: a window reaches beyond its last frame.
pub(super) const SAMPLES: usize = (FRAMES - 1) * HOP + WINDOW;
const MELS: usize = 40;
const WIDTH: usize = 256;
const GATES: usize = 4 * WIDTH;
/// The loudness of what it was trained on.
const LEVEL: f32 = 0.031_622_78; // -30 dB
/// Windows that go through together: the weights are fetched once for all of them.
const TOGETHER: usize = 32;

struct NetworkWeights {
    mel: MelPower,
    /// The power of a mel band is too uneven for 8 bits.
    mel_input: PackedBMatrix<f32>,
    mel_bias: Vec<f32>,
    first: Linear,
    /// Over the layer below and the layer's own state, side by side.
    above: [Linear; 2],
    output: PackedBMatrix<f32>,
    output_bias: Vec<f32>,
    mean: Vec<f32>,
    /// Onto the directions in which people differ more than one person's own clips.
    apart: PackedBMatrix<f32>,
    width: usize,
}

/// Clones share the weights.
#[derive(Clone)]
pub(super) struct VoiceNetwork(Arc<NetworkWeights>);

impl VoiceNetwork {
    pub(super) fn load(file: &WeightsFile) -> Result<Self, SpeechError> {
        let packed = |name: &str, rows: usize, columns: usize| {
            let values = file.vector(name, rows * columns)?;
            let matrix = Matrix::from_data([rows, columns], values.as_slice());
            Ok::<_, SpeechError>(floats::pack(matrix))
        };
        let layer = |name: &str, inputs: usize| {
            let layer = file.linear(name)?;
            match (layer.inputs(), layer.outputs()) == (inputs, GATES) {
                true => Ok(layer),
                false => Err(SpeechError::Model(format!(
                    "{FILE}: {name} has another shape"
                ))),
            }
        };
        let apart = file.table("apart")?;
        if apart.rows != WIDTH {
            let what = format!("{FILE}: apart has {} rows instead of {WIDTH}", apart.rows);
            return Err(SpeechError::Model(what));
        }
        Ok(Self(Arc::new(NetworkWeights {
            mel: MelPower::new(MELS),
            mel_input: packed("lstm0.input", MELS, GATES)?,
            mel_bias: file.vector("lstm0.bias", GATES)?,
            first: layer("lstm0.state", WIDTH)?,
            above: [layer("lstm1", 2 * WIDTH)?, layer("lstm2", 2 * WIDTH)?],
            output: packed("output.weight", WIDTH, WIDTH)?,
            output_bias: file.vector("output.bias", WIDTH)?,
            mean: file.vector("mean", WIDTH)?,
            apart: packed("apart", WIDTH, apart.columns)?,
            width: apart.columns,
        })))
    }

    /// A vector of length one for each window of [`SAMPLES`] samples.
    pub(super) fn vectors(&self, windows: &[Vec<f32>]) -> Vec<Vec<f32>> {
        let together = windows.chunks(TOGETHER);
        together
            .flat_map(|windows| self.vectors_of(windows))
            .collect()
    }

    fn vectors_of(&self, windows: &[Vec<f32>]) -> Vec<Vec<f32>> {
        let (weights, rows) = (&*self.0, windows.len());
        let spectra: Vec<Vec<f32>> = windows
            .iter()
            .map(|window| weights.mel.spectra(&levelled(window), FRAMES))
            .collect();
        let mut layers = [(); 3].map(|()| LstmState::new(rows));
        let (mut scratch, mut gates) = (Scratch::default(), vec![0.0; rows * GATES]);
        let mut mels = vec![0.0; rows * MELS];
        for frame in 0..FRAMES {
            for (row, spectra) in mels.chunks_exact_mut(MELS).zip(&spectra) {
                row.copy_from_slice(&spectra[frame * MELS..][..MELS]);
            }
            let bias = Some(weights.mel_bias.as_slice());
            product(&mut gates, &mels, MELS, &weights.mel_input, bias);
            scratch.take(&layers[0].hidden, WIDTH);
            weights.first.accumulate(&mut scratch, &mut gates);
            layers[0].step(&gates);
            for (at, layer) in weights.above.iter().enumerate() {
                let [below, own] = [&layers[at].hidden, &layers[at + 1].hidden];
                scratch.take_made(
                    rows,
                    2 * WIDTH,
                    #[inline(always)]
                    |at, row| {
                        let from = at * WIDTH..(at + 1) * WIDTH;
                        row[..WIDTH].copy_from_slice(&below[from.clone()]);
                        row[WIDTH..].copy_from_slice(&own[from]);
                    },
                );
                layer.apply(&mut scratch, &mut gates);
                layers[at + 1].step(&gates);
            }
        }
        let mut voices = vec![0.0; rows * WIDTH];
        let (last, bias) = (&layers[2].hidden, Some(weights.output_bias.as_slice()));
        product(&mut voices, last, WIDTH, &weights.output, bias);
        for voice in voices.chunks_exact_mut(WIDTH) {
            to_length_one(voice);
            voice
                .iter_mut()
                .zip(&weights.mean)
                .for_each(|(v, m)| *v -= m);
        }
        let mut apart = vec![0.0; rows * weights.width];
        product(&mut apart, &voices, WIDTH, &weights.apart, None);
        let vectors = apart.chunks_exact_mut(weights.width);
        vectors
            .map(|vector| {
                to_length_one(vector);
                vector.to_vec()
            })
            .collect()
    }
}

/// What a layer remembers, a row for each window.
struct LstmState {
    hidden: Vec<f32>,
    cell: Vec<f32>,
}

impl LstmState {
    fn new(rows: usize) -> Self {
        Self {
            hidden: vec![0.0; rows * WIDTH],
            cell: vec![0.0; rows * WIDTH],
        }
    }

    fn step(&mut self, gates: &[f32]) {
        let hidden = self.hidden.chunks_exact_mut(WIDTH);
        let cells = self.cell.chunks_exact_mut(WIDTH);
        vectorised(
            #[inline(always)]
            || {
                for ((hidden, cell), gates) in hidden.zip(cells).zip(gates.chunks_exact(GATES)) {
                    let (take, gates) = gates.split_at(WIDTH);
                    let (keep, gates) = gates.split_at(WIDTH);
                    let (new, give) = gates.split_at(WIDTH);
                    for at in 0..WIDTH {
                        cell[at] = sigmoid(keep[at]) * cell[at] + sigmoid(take[at]) * tanh(new[at]);
                        hidden[at] = sigmoid(give[at]) * tanh(cell[at]);
                    }
                }
            },
        );
    }
}

/// The people on a line are not equally loud.
fn levelled(window: &[f32]) -> Vec<f32> {
    let power: f32 = window.iter().map(|s| s * s).sum::<f32>() / window.len().max(1) as f32;
    let gain = LEVEL / power.sqrt().max(1e-5);
    window.iter().map(|sample| sample * gain).collect()
}

fn product(
    out: &mut [f32],
    rows: &[f32],
    columns: usize,
    matrix: &PackedBMatrix<f32>,
    bias: Option<&[f32]>,
) {
    let rows = NdTensorView::from_data([rows.len() / columns, columns], rows);
    let options = GemmOptions {
        bias: bias.map(BiasVector::Row),
        ..GemmOptions::default()
    };
    floats::product(out, rows, GemmInputB::Packed(matrix), options);
}

pub(super) fn to_length_one(vector: &mut [f32]) {
    let length = vector.iter().map(|v| v * v).sum::<f32>().sqrt().max(1e-9);
    vector.iter_mut().for_each(|value| *value /= length);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::simd::dot;

    fn data(path: &str) -> Vec<u8> {
        std::fs::read(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
    }

    fn network() -> VoiceNetwork {
        let weights = data("../../models/recogniser/speakers.safetensors");
        VoiceNetwork::load(&WeightsFile::parse(FILE, weights).unwrap()).unwrap()
    }

    /// A second and a half, over and over.
    fn window() -> Vec<f32> {
        let samples: Vec<f32> = data("tests/data/recogniser/mel-input.s16")
            .chunks_exact(2)
            .map(|b| f32::from(i16::from_le_bytes([b[0], b[1]])) / 32_768.0)
            .collect();
        samples.into_iter().cycle().take(SAMPLES).collect()
    }

    #[test]
    fn a_vector_is_within_rounding_of_the_published_networks() {
        let expected: Vec<f32> = data("tests/data/recogniser/speaker-vector.f32")
            .chunks_exact(4)
            .map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]))
            .collect();
        let vectors = network().vectors(&[window()]);
        assert_eq!(vectors[0].len(), expected.len());
        let alike = dot(&vectors[0], &expected);
        assert!(alike > 0.99, "{alike}");
    }

    #[test]
    fn how_loud_it_is_and_what_goes_through_together_changes_nothing() {
        let quiet: Vec<f32> = window().iter().map(|sample| sample * 0.1).collect();
        let mut windows = vec![vec![0.0; SAMPLES]; TOGETHER + 1];
        windows[TOGETHER] = quiet;
        let among_others = network().vectors(&windows);
        let alone = network().vectors(&[window()]);
        assert!(dot(&alone[0], &among_others[TOGETHER]) > 0.999);
        let finite = among_others.iter().flatten().all(|value| value.is_finite());
        assert!(finite, "silence has a vector too");
    }

    #[test]
    fn weights_of_another_network_are_refused() {
        let empty = WeightsFile::parse(FILE, b"\x02\0\0\0\0\0\0\0{}".to_vec()).unwrap();
        assert!(VoiceNetwork::load(&empty).is_err());
    }
}
