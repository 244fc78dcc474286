//! Mel spectra: the log-mel ones that the acoustic model was trained on, and the power in each band, which others take.

use std::sync::Arc;

use sauti_fft::RealToComplex;

pub(super) const MELS: usize = 80;
pub(super) const HOP: usize = 160;
pub(super) const WINDOW: usize = 400;
const BINS: usize = WINDOW / 2 + 1;
/// 40 ms, a step of the encoder's: it takes frames by fours.
pub(super) const STEP_SAMPLES: usize = 4 * HOP;
/// Clips are brought to this peak first: recordings differ in level by a factor of a hundred.
const PEAK: f32 = 0.5;

/// One mel band: its first FFT bin and the weights from there on.
struct Band {
    first: usize,
    weights: Vec<f32>,
}

/// The power in each mel band over 25 ms.
pub(super) struct MelPower {
    fft: Arc<dyn RealToComplex<f32>>,
    window: Vec<f32>,
    bands: Vec<Band>,
}

pub(super) struct LogMel(MelPower);

impl MelPower {
    pub(super) fn new(bands: usize) -> Self {
        let window = (0..WINDOW)
            .map(|i| {
                let angle = std::f64::consts::TAU * i as f64 / WINDOW as f64;
                (0.5 - 0.5 * angle.cos()) as f32
            })
            .collect();
        Self {
            fft: sauti_fft::forward(WINDOW),
            window,
            bands: mel_bands(bands),
        }
    }

    /// The bands of each frame, one after another. The first frame begins with the wave, and the next ones every 10 ms.
    pub(super) fn spectra(&self, wave: &[f32], frames: usize) -> Vec<f32> {
        let mut out = Vec::with_capacity(frames * self.bands.len());
        let mut input = vec![0f32; WINDOW];
        let mut spectrum = self.fft.make_output_vec();
        let mut scratch = self.fft.make_scratch_vec();
        let mut power = [0f32; BINS];
        for frame in 0..frames {
            let from = &wave[frame * HOP..][..WINDOW];
            for ((x, sample), w) in input.iter_mut().zip(from).zip(&self.window) {
                *x = sample * w;
            }
            // The buffers have the lengths that the plan asked for, so this cannot fail.
            let done = self
                .fft
                .process_with_scratch(&mut input, &mut spectrum, &mut scratch);
            debug_assert!(done.is_ok());
            for (p, c) in power.iter_mut().zip(&spectrum) {
                *p = c.norm_sqr();
            }
            for band in &self.bands {
                let bins = power[band.first..].iter().zip(&band.weights);
                out.push(bins.map(|(p, w)| p * w).sum());
            }
        }
        out
    }
}

impl LogMel {
    pub(super) fn new() -> Self {
        Self(MelPower::new(MELS))
    }

    /// Frames of [`MELS`] values, one after another; as many as fit, rounded up to a multiple of four.
    pub(super) fn spectra(&self, samples: &[i16]) -> Vec<f32> {
        let wave = padded_wave(samples);
        let frames = (wave.len() - WINDOW) / HOP;
        let mut out = self.0.spectra(&wave, frames);
        let mut loudest = f32::MIN;
        for value in &mut out {
            *value = value.max(1e-10).log10();
            loudest = loudest.max(*value);
        }
        for value in &mut out {
            *value = (value.max(loudest - 8.0) + 4.0) / 4.0;
        }
        out
    }
}

/// Levelled, padded with silence to whole steps, and mirrored by half a window at both ends.
fn padded_wave(samples: &[i16]) -> Vec<f32> {
    let half = WINDOW / 2;
    let len = samples.len().max(1).div_ceil(STEP_SAMPLES) * STEP_SAMPLES;
    let peak = samples.iter().map(|s| s.unsigned_abs()).max().unwrap_or(0);
    let gain = PEAK / (f32::from(peak) / 32768.0).max(1e-4) / 32768.0;
    let mut wave = vec![0f32; half + len + half];
    for (x, sample) in wave[half..].iter_mut().zip(samples) {
        *x = f32::from(*sample) * gain;
    }
    for i in 1..=half {
        wave[half - i] = wave[half + i];
        wave[half + len - 1 + i] = wave[half + len - 1 - i];
    }
    wave
}

/// Slaney's mel scale: linear to 1 kHz, logarithmic above; triangles of equal area.
fn mel_bands(bands: usize) -> Vec<Band> {
    let step = 6.4f64.ln() / 27.0;
    let to_hz = |mel: f64| match mel >= 15.0 {
        true => 1000.0 * (step * (mel - 15.0)).exp(),
        false => mel * 200.0 / 3.0,
    };
    let top = 15.0 + 8f64.ln() / step;
    let edges: Vec<f64> = (0..bands + 2)
        .map(|i| to_hz(top * i as f64 / (bands + 1) as f64))
        .collect();
    edges
        .windows(3)
        .map(|edge| {
            let weight = |bin: usize| {
                let hz = bin as f64 * 40.0;
                let rise = (hz - edge[0]) / (edge[1] - edge[0]);
                let fall = (edge[2] - hz) / (edge[2] - edge[1]);
                (rise.min(fall).max(0.0) * 2.0 / (edge[2] - edge[0])) as f32
            };
            let first = (0..BINS).find(|&bin| weight(bin) > 0.0).unwrap_or(0);
            let weights = (first..BINS).map(weight).take_while(|w| *w > 0.0).collect();
            Band { first, weights }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spectra_match_the_training_code() {
        let samples: Vec<i16> = golden("mel-input.s16")
            .chunks_exact(2)
            .map(|b| i16::from_le_bytes([b[0], b[1]]))
            .collect();
        let expected: Vec<f32> = golden("mel-output.f32")
            .chunks_exact(4)
            .map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]))
            .collect();
        let actual = LogMel::new().spectra(&samples);
        assert_eq!(actual.len(), expected.len());
        for (i, (a, e)) in actual.iter().zip(&expected).enumerate() {
            assert!((a - e).abs() < 2e-4, "value {i}: {a} should be {e}");
        }
    }

    fn golden(name: &str) -> Vec<u8> {
        let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/recogniser");
        std::fs::read(dir.join(name)).unwrap()
    }

    #[test]
    fn any_length_gives_whole_blocks_of_frames() {
        let mel = LogMel::new();
        for len in [0, 1, 159, 640, 641, 16_000] {
            let frames = mel.spectra(&vec![7; len]).len() / MELS;
            assert_eq!(frames, len.max(1).div_ceil(640) * 4);
        }
    }

    #[test]
    fn silence_is_flat_and_finite() {
        let spectra = LogMel::new().spectra(&[0; 3200]);
        assert!(spectra.iter().all(|value| *value == (-10.0 + 4.0) / 4.0));
    }
}
