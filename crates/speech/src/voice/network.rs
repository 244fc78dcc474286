//! The whole voice model: weights shared by every worker, and what it says of a clause.

use rten_gemm::{BiasVector, GemmInputB, GemmOptions};
use rten_tensor::NdTensorView;

use super::block::{Block, apply_block};
use super::encoder::PhonemeEncoder;
use super::timeline::POSITION_FEATURES;
use crate::SpeechError;
use crate::kernels::floats;
use crate::kernels::linear::{Linear, Scratch};
use crate::kernels::simd::{dot, vectorised};
use crate::weights::{WeightTable, WeightsFile};

/// STFT bins, and the five numbers the decoder gives for each.
pub(super) const BINS: usize = 513;
pub(super) const BIN_OUTPUTS: usize = 5;
/// Pitch, voicing and energy, which the decoder gets beside the position.
pub(super) const CONTOURS: usize = 3;
/// No symbol of real speech lasts longer at speed 1, the last vowel with its silence included.
const SYMBOL_FRAMES_MAX: f32 = 48.0;
/// Nor are a stretch's symbols longer than this on average. Sounds that never follow each other in
/// Swahili can make the model guess wildly; with both bounds no text makes endless audio.
const MEAN_FRAMES_MAX: f32 = 12.0;
/// Silence at both ends and a drawn-out last vowel come on top.
const EXTRA_FRAMES_MAX: f32 = 90.0;

pub(super) struct VoiceNetwork {
    pub voices: usize,
    content: PhonemeEncoder,
    prosody: PhonemeEncoder,
    duration_blocks: Vec<Block>,
    duration_output: WeightTable,
    duration_bias: f32,
    pub contour_input: FrameInput,
    pub contour_blocks: Vec<Block>,
    pub contour_output: WeightTable,
    /// A row a voice: each has its own mean pitch.
    pub contour_bias: WeightTable,
    pub decoder_input: FrameInput,
    pub decoder_blocks: Vec<Block>,
    pub decoder_norm_scale: Vec<f32>,
    pub decoder_norm_shift: Vec<f32>,
    pub decoder_output: Linear,
}

impl VoiceNetwork {
    pub(super) fn load(tensors: &WeightsFile) -> Result<Self, SpeechError> {
        let voices = tensors.table("decoder.block.0.norm_scale")?.rows;
        let content = PhonemeEncoder::load(tensors, "content")?;
        let prosody = PhonemeEncoder::load(tensors, "prosody")?;
        let decoder_blocks = Block::load_all(tensors, "decoder", voices)?;
        let contour_blocks = Block::load_all(tensors, "contour", voices)?;
        let duration_blocks = Block::load_all(tensors, "duration", voices)?;
        let decoder_output = tensors.linear("decoder.output")?;
        let decoder_width = decoder_output.inputs();
        let (phoneme_width, position) = (prosody.width(), POSITION_FEATURES);
        let decoder_position = position + CONTOURS;
        let network = Self {
            duration_output: tensors.table("duration.output.weight")?,
            duration_bias: tensors.vector("duration.output.bias", 1)?[0],
            contour_input: FrameInput::load(tensors, "contour.input", phoneme_width, position)?,
            contour_output: tensors.table("contour.output.weight")?,
            contour_bias: tensors.table("contour.output.bias")?,
            decoder_input: FrameInput::load(
                tensors,
                "decoder.input",
                content.width(),
                decoder_position,
            )?,
            decoder_norm_scale: tensors.vector("decoder.norm_scale", decoder_width)?,
            decoder_norm_shift: tensors.vector("decoder.norm_shift", decoder_width)?,
            voices,
            content,
            prosody,
            duration_blocks,
            contour_blocks,
            decoder_blocks,
            decoder_output,
        };
        network.check()?;
        Ok(network)
    }

    fn check(&self) -> Result<(), SpeechError> {
        let widths =
            |blocks: &[Block], width| !blocks.is_empty() && blocks.iter().all(|b| b.width == width);
        let contour_width = self.contour_input.width();
        let fits = widths(&self.duration_blocks, self.prosody.width())
            && widths(&self.contour_blocks, contour_width)
            && widths(&self.decoder_blocks, self.decoder_input.width())
            && self.decoder_output.inputs() == self.decoder_input.width()
            && self.decoder_output.outputs() == BINS * BIN_OUTPUTS
            && (self.duration_output.rows, self.duration_output.columns)
                == (1, self.prosody.width())
            && (self.contour_output.rows, self.contour_output.columns) == (CONTOURS, contour_width)
            && (self.contour_bias.rows, self.contour_bias.columns) == (self.voices, CONTOURS)
            && self.content.symbols() == self.prosody.symbols();
        if fits {
            Ok(())
        } else {
            Err(SpeechError::Model(
                "the parts of the voice model do not fit together".into(),
            ))
        }
    }

    pub(super) fn symbols(&self) -> usize {
        self.content.symbols()
    }

    /// What the frame networks need to know of each symbol.
    pub(super) fn encode(&self, symbols: &[u16], voice: usize, scratch: &mut Scratch) -> Encoded {
        let content = self.content.encode(symbols, scratch);
        let mut prosody = self.prosody.encode(symbols, scratch);
        let contour_rows = self.contour_input.phoneme_rows(&prosody);
        let decoder_rows = self.decoder_input.phoneme_rows(&content);
        for block in &self.duration_blocks {
            apply_block(block, voice, &mut prosody, scratch);
        }
        let logs = prosody
            .chunks_exact(self.prosody.width())
            .map(|row| dot(row, self.duration_output.row(0)) + self.duration_bias);
        let frames = bounded_frames(logs.collect());
        Encoded {
            frames,
            contour_rows,
            decoder_rows,
        }
    }
}

/// Durations in frames from their logarithms, bounded.
fn bounded_frames(logs: Vec<f32>) -> Vec<f32> {
    let mut frames: Vec<f32> = logs
        .iter()
        .map(|log| log.exp().clamp(1.0, SYMBOL_FRAMES_MAX))
        .collect();
    let most = MEAN_FRAMES_MAX * frames.len() as f32 + EXTRA_FRAMES_MAX;
    let share = most / frames.iter().sum::<f32>();
    if share < 1.0 {
        for symbol_frames in &mut frames {
            *symbol_frames = (*symbol_frames * share).max(1.0);
        }
    }
    frames
}

/// A clause's symbols as the frame networks see them.
pub(super) struct Encoded {
    /// How long each symbol lasts at speed 1, not yet rounded.
    pub frames: Vec<f32>,
    pub contour_rows: Vec<f32>,
    pub decoder_rows: Vec<f32>,
}

/// The first layer of a frame network, split into what depends on the phoneme only and what
/// depends on the frame.
pub(super) struct FrameInput {
    phoneme: WeightTable,
    position: WeightTable,
    bias: Vec<f32>,
}

impl FrameInput {
    fn load(
        tensors: &WeightsFile,
        name: &str,
        features: usize,
        positions: usize,
    ) -> Result<Self, SpeechError> {
        let phoneme = tensors.table(&format!("{name}.phoneme"))?;
        let position = tensors.table(&format!("{name}.position"))?;
        let width = phoneme.columns;
        if phoneme.rows != features || (position.rows, position.columns) != (positions, width) {
            return Err(SpeechError::Model(format!("{name} does not fit together")));
        }
        let bias = tensors.vector(&format!("{name}.bias"), width)?;
        Ok(Self {
            phoneme,
            position,
            bias,
        })
    }

    pub(super) fn width(&self) -> usize {
        self.phoneme.columns
    }

    /// Once per symbol: its features times this layer's weights, plus the bias.
    fn phoneme_rows(&self, features: &[f32]) -> Vec<f32> {
        let count = features.len() / self.phoneme.rows;
        let mut out = vec![0.0; count * self.width()];
        let input = NdTensorView::from_data([count, self.phoneme.rows], features);
        let weights = [self.phoneme.rows, self.phoneme.columns];
        let weights = NdTensorView::from_data(weights, &self.phoneme.values[..]);
        let options = GemmOptions {
            bias: Some(BiasVector::Row(&self.bias)),
            ..GemmOptions::default()
        };
        floats::product(&mut out, input, GemmInputB::Unpacked(weights), options);
        out
    }

    /// Once per frame: appends the row of a symbol with the frame's position in it.
    pub(super) fn append_frame(&self, phoneme_row: &[f32], position: &[f32], out: &mut Vec<f32>) {
        let start = out.len();
        out.extend_from_slice(phoneme_row);
        vectorised(
            #[inline(always)]
            || add_scaled_rows(position, &self.position, &mut out[start..]),
        );
    }
}

#[inline(always)]
fn add_scaled_rows(factors: &[f32], table: &WeightTable, out: &mut [f32]) {
    for (at, factor) in factors.iter().enumerate() {
        for (out, weight) in out.iter_mut().zip(table.row(at)) {
            *out += factor * weight;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_durations_stay_as_they_are() {
        let logs = vec![1.5f32; 50];
        assert!(bounded_frames(logs).iter().all(|f| *f == 1.5f32.exp()));
    }

    #[test]
    fn wild_durations_are_brought_down() {
        let frames = bounded_frames(vec![f32::INFINITY; 200]);
        let total: f32 = frames.iter().sum();
        assert!(
            total <= 200.0 * MEAN_FRAMES_MAX + EXTRA_FRAMES_MAX + 1.0,
            "{total} frames"
        );
    }
}
