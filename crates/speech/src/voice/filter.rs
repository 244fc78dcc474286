//! From the decoder's numbers to samples: pulses and noise, filtered in the STFT domain, plus a
//! free part; then the inverse STFT.

use std::sync::Arc;

use sauti_fft::{Complex32, ComplexToReal, RealToComplex};

use super::network::{BIN_OUTPUTS, BINS};
use super::source::{HOP, Noise, Pitch, Pulses};
use crate::kernels::simd::{exp, sin_cos, vectorised};

const WINDOW: usize = 1024;
/// A frame's window starts this many samples before the frame.
const LEAD: usize = (WINDOW - HOP) / 2;
/// Log gains above these are cut: no input can make the output explode.
const LOG_GAIN_MAX: f32 = 4.0;
const LOG_FREE_MAX: f32 = 6.0;

/// What is the same for every clause.
pub(super) struct Transform {
    forward: Arc<dyn RealToComplex<f32>>,
    inverse: Arc<dyn ComplexToReal<f32>>,
    window: Vec<f32>,
}

impl Transform {
    pub(super) fn new() -> Self {
        let turn = std::f64::consts::TAU / WINDOW as f64;
        let window = (0..WINDOW)
            .map(|i| (0.5 - 0.5 * (turn * i as f64).cos()) as f32)
            .collect();
        Self {
            forward: sauti_fft::forward(WINDOW),
            inverse: sauti_fft::inverse(WINDOW),
            window,
        }
    }
}

/// One clause on its way from frames to samples.
pub(super) struct Filter<'t> {
    transform: &'t Transform,
    frames: usize,
    next_frame: usize,
    pulses: Pulses,
    /// Source samples from `held_from` on; the clause has silence around it.
    pulse_samples: Vec<f32>,
    noise_samples: Vec<f32>,
    held_from: usize,
    sum: Vec<f32>,
    weight: Vec<f32>,
    buffers: FilterBuffers,
}

struct FilterBuffers {
    windowed: Vec<f32>,
    pulses: Vec<Complex32>,
    noise: Vec<Complex32>,
    scratch: Vec<Complex32>,
}

impl<'t> Filter<'t> {
    pub(super) fn new(transform: &'t Transform, frames: usize) -> Self {
        let scratch = transform
            .forward
            .get_scratch_len()
            .max(transform.inverse.get_scratch_len());
        Self {
            transform,
            frames,
            next_frame: 0,
            pulses: Pulses::default(),
            // The first frame's window begins before the clause does.
            pulse_samples: vec![0.0; LEAD],
            noise_samples: vec![0.0; LEAD],
            held_from: 0,
            sum: vec![0.0; WINDOW],
            weight: vec![0.0; WINDOW],
            buffers: FilterBuffers {
                windowed: vec![0.0; WINDOW],
                pulses: vec![Complex32::default(); BINS],
                noise: vec![Complex32::default(); BINS],
                scratch: vec![Complex32::default(); scratch],
            },
        }
    }

    /// Takes the decoder's rows for the next frames and appends the samples that are finished.
    /// `pitch` must reach three frames past them, or the end of the clause.
    pub(super) fn push(
        &mut self,
        rows: &[f32],
        pitch: &Pitch,
        noise: &mut Noise,
        out: &mut Vec<f32>,
    ) {
        for row in rows.chunks_exact(BINS * BIN_OUTPUTS) {
            self.prepare_source(pitch, noise);
            let offset = self.next_frame * HOP - self.held_from;
            self.transform_source(offset);
            let FilterBuffers { pulses, noise, .. } = &mut self.buffers;
            vectorised(
                #[inline(always)]
                || combine(row, pulses, noise),
            );
            self.overlap_add();
            self.emit(HOP, out);
            self.next_frame += 1;
            if self.next_frame == self.frames {
                // What no further frame will change.
                self.emit(LEAD, out);
            }
            if offset >= 64 * HOP {
                self.pulse_samples.drain(..offset);
                self.noise_samples.drain(..offset);
                self.held_from += offset;
            }
        }
    }

    /// Makes source samples to the end of the next frame's window.
    fn prepare_source(&mut self, pitch: &Pitch, noise: &mut Noise) {
        let window_end = self.next_frame * HOP + WINDOW - LEAD;
        let end = window_end.min(self.frames * HOP);
        self.pulses.extend(pitch, end, &mut self.pulse_samples);
        while self.noise_samples.len() < self.pulse_samples.len() {
            self.noise_samples.push(noise.next());
        }
        let wanted = self.next_frame * HOP - self.held_from + WINDOW;
        if self.pulse_samples.len() < wanted {
            self.pulse_samples.resize(wanted, 0.0);
            self.noise_samples.resize(wanted, 0.0);
        }
    }

    fn transform_source(&mut self, offset: usize) {
        let FilterBuffers {
            windowed,
            pulses,
            noise,
            scratch,
        } = &mut self.buffers;
        for (samples, spectrum) in [
            (&self.pulse_samples[offset..], pulses),
            (&self.noise_samples[offset..], noise),
        ] {
            let window = self.transform.window.iter();
            for (out, (sample, factor)) in windowed.iter_mut().zip(samples.iter().zip(window)) {
                *out = sample * factor;
            }
            self.transform
                .forward
                .process_with_scratch(windowed, spectrum, scratch)
                .expect("the buffers have the transform's length");
        }
    }

    /// Adds the frame in the `pulses` buffer to the running sum.
    fn overlap_add(&mut self) {
        let FilterBuffers {
            windowed,
            pulses,
            scratch,
            ..
        } = &mut self.buffers;
        // A real signal has no imaginary part at either end of its spectrum.
        pulses[0].im = 0.0;
        pulses[BINS - 1].im = 0.0;
        self.transform
            .inverse
            .process_with_scratch(pulses, windowed, scratch)
            .expect("the buffers have the transform's length");
        let sums = self.sum.iter_mut().zip(&mut self.weight);
        for ((sum, weight), (value, factor)) in
            sums.zip(windowed.iter().zip(&self.transform.window))
        {
            *sum += value * factor * (1.0 / WINDOW as f32);
            *weight += factor * factor;
        }
    }

    /// Appends the first `count` samples of the running sum and moves it on.
    fn emit(&mut self, count: usize, out: &mut Vec<f32>) {
        let clause_begins = LEAD.saturating_sub(self.next_frame * HOP).min(count);
        let done = self.sum[clause_begins..count].iter();
        out.extend(
            done.zip(&self.weight[clause_begins..count])
                .map(|(sum, weight)| sum / weight.max(1e-3)),
        );
        for values in [&mut self.sum, &mut self.weight] {
            values.copy_within(count.., 0);
            values[WINDOW - count..].fill(0.0);
        }
    }
}

/// Filters the pulses' spectrum in place, adds the noise and the free part.
#[inline(always)]
fn combine(row: &[f32], pulses: &mut [Complex32], noise: &[Complex32]) {
    let part = |index: usize| &row[index * BINS..][..BINS];
    let (pulse_gain, pulse_phase, noise_gain) = (part(0), part(1), part(2));
    let (free_gain, free_phase) = (part(3), part(4));
    let (pulses, noise) = (&mut pulses[..BINS], &noise[..BINS]);
    for bin in 0..BINS {
        let gain = exp(pulse_gain[bin].min(LOG_GAIN_MAX));
        let (sine, cosine) = sin_cos(pulse_phase[bin]);
        let (turned_re, turned_im) = (gain * cosine, gain * sine);
        let level = exp(noise_gain[bin].min(LOG_GAIN_MAX));
        let free = exp(free_gain[bin].min(LOG_FREE_MAX));
        let (free_sine, free_cosine) = sin_cos(free_phase[bin]);
        let pulse = pulses[bin];
        pulses[bin].re = pulse.re * turned_re - pulse.im * turned_im
            + noise[bin].re * level
            + free * free_cosine;
        pulses[bin].im =
            pulse.re * turned_im + pulse.im * turned_re + noise[bin].im * level + free * free_sine;
    }
}
