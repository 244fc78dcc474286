//! One clause through the frame networks, window by window, with nothing computed twice.

use super::block::Chain;
use super::filter::{Filter, Transform};
use super::network::{CONTOURS, Encoded, VoiceNetwork};
use super::plan::Manner;
use super::source::{Noise, Pitch};
use super::timeline::Timeline;
use crate::kernels::linear::Scratch;
use crate::kernels::simd::{dot, vectorised};

/// The model's pitch is the logarithm of the frequency less this.
const LOG_HZ_OFFSET: f32 = 5.0;
/// A pitch that was asked for stays where the decoder was taught.
const ASKED_HZ: (f32, f32) = (50.0, 480.0);
/// From one frame to the next a shift moves by a semitone at most: a voice glides.
const LOG_GLIDE_MAX: f32 = std::f32::consts::LN_2 / 12.0;

pub(super) struct VoiceStream<'m> {
    network: &'m VoiceNetwork,
    encoded: &'m Encoded,
    timeline: &'m Timeline,
    /// How each symbol is said.
    manners: &'m [Manner],
    /// What is added to the logarithm of the pitch now.
    log_shift: f32,
    voice: usize,
    contour: Chain<'m>,
    decoder: Chain<'m>,
    filter: Filter<'m>,
    pitch: Pitch,
    /// Pitch, voicing and energy as the decoder takes them, frame by frame.
    contours: Vec<[f32; CONTOURS]>,
    next_contour_frame: usize,
    next_decoder_frame: usize,
    rows: Vec<f32>,
    outputs: Vec<f32>,
}

impl<'m> VoiceStream<'m> {
    pub(super) fn new(
        network: &'m VoiceNetwork,
        transform: &'m Transform,
        encoded: &'m Encoded,
        timeline: &'m Timeline,
        manners: &'m [Manner],
        voice: usize,
    ) -> Self {
        Self {
            network,
            encoded,
            timeline,
            manners,
            log_shift: manners[0].log_pitch,
            voice,
            contour: Chain::new(&network.contour_blocks, voice),
            decoder: Chain::new(&network.decoder_blocks, voice),
            filter: Filter::new(transform, timeline.frames()),
            pitch: Pitch::default(),
            contours: Vec::new(),
            next_contour_frame: 0,
            next_decoder_frame: 0,
            rows: Vec::new(),
            outputs: Vec::new(),
        }
    }

    #[cfg(test)]
    pub(super) fn contours(&self) -> &[[f32; CONTOURS]] {
        &self.contours
    }

    pub(super) fn finished(&self) -> bool {
        self.next_contour_frame == self.timeline.frames()
    }

    /// Feeds the next frames and appends the samples that they finish.
    pub(super) fn advance(
        &mut self,
        frames: usize,
        scratch: &mut Scratch,
        noise: &mut Noise,
        out: &mut Vec<f32>,
    ) {
        self.advance_contour(frames, scratch);
        let last = self.finished();
        self.feed_decoder();
        let network = self.network;
        self.decoder.push(&mut self.rows, last, scratch);
        if self.rows.is_empty() {
            return;
        }
        let (scale, shift) = (&network.decoder_norm_scale, &network.decoder_norm_shift);
        scratch.take_normalised(&self.rows, scale, shift);
        network.decoder_output.apply(scratch, &mut self.outputs);
        self.filter.push(&self.outputs, &self.pitch, noise, out);
    }

    fn advance_contour(&mut self, frames: usize, scratch: &mut Scratch) {
        let end = (self.next_contour_frame + frames).min(self.timeline.frames());
        let input = &self.network.contour_input;
        self.rows.clear();
        for frame in self.next_contour_frame..end {
            let place = self.timeline.place(frame);
            let phoneme =
                &self.encoded.contour_rows[place.symbol * input.width()..][..input.width()];
            input.append_frame(phoneme, &place.position, &mut self.rows);
        }
        self.next_contour_frame = end;
        let last = self.finished();
        self.contour.push(&mut self.rows, last, scratch);
        for row in self.rows.chunks_exact(input.width()) {
            let output = &self.network.contour_output;
            let bias = self.network.contour_bias.row(self.voice);
            let mut values = [0.0; CONTOURS];
            vectorised(
                #[inline(always)]
                || {
                    for (at, value) in values.iter_mut().enumerate() {
                        *value = dot(row, output.row(at)) + bias[at];
                    }
                },
            );
            let [pitch, voicing, energy] = values;
            let symbol = self.timeline.symbol(self.contours.len());
            let change = self.manners[symbol].log_pitch - self.log_shift;
            self.log_shift += change.clamp(-LOG_GLIDE_MAX, LOG_GLIDE_MAX);
            let pitch = shifted(pitch, self.log_shift);
            let voiced = f32::from(voicing > 0.0);
            self.pitch.push((pitch + LOG_HZ_OFFSET).exp(), voiced);
            self.contours.push([pitch * voiced, voiced, energy]);
        }
    }

    fn feed_decoder(&mut self) {
        let input = &self.network.decoder_input;
        self.rows.clear();
        for frame in self.next_decoder_frame..self.contours.len() {
            let place = self.timeline.place(frame);
            let phoneme =
                &self.encoded.decoder_rows[place.symbol * input.width()..][..input.width()];
            let mut position = [0.0; 6 + CONTOURS];
            position[..6].copy_from_slice(&place.position);
            position[6..].copy_from_slice(&self.contours[frame]);
            input.append_frame(phoneme, &position, &mut self.rows);
        }
        self.next_decoder_frame = self.contours.len();
    }
}

/// The pitch as it was asked for.
fn shifted(pitch: f32, log_shift: f32) -> f32 {
    if log_shift == 0.0 {
        return pitch;
    }
    let (lowest, highest) = ASKED_HZ;
    let log_hz = pitch + log_shift + LOG_HZ_OFFSET;
    log_hz.clamp(lowest.ln(), highest.ln()) - LOG_HZ_OFFSET
}
