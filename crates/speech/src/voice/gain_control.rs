//! Automatic gain control: brings speech to its loudness while it is being made, by what has been heard so far.

use sauti_audio::loudness::{KWeighting, SPEECH_LUFS, power_of};

use super::source::SAMPLE_RATE_HZ;

/// Steps and blocks of ITU-R BS.1770: 100 ms, and 400 ms of them.
const STEP_SAMPLES: usize = SAMPLE_RATE_HZ as usize / 10;
const STEPS_PER_BLOCK: usize = 4;
/// Blocks so far under the aim are pauses and do not count.
const GATE_LU: f64 = 10.0;
/// The voice's own gain counts as so many blocks: half a second of speech outweighs it.
const PRIOR_BLOCKS: f64 = 5.0;
/// What lies further back is forgotten.
const MEMORY_BLOCKS: f64 = 60.0;
/// The gain moves no further than 6 dB from the voice's own.
const GAIN_RANGE: (f64, f64) = (0.5, 2.0);

#[derive(Debug)]
pub(super) struct GainControl {
    weighting: KWeighting,
    /// Power and samples of the step that is being filled.
    step: (f64, usize),
    steps: [f64; STEPS_PER_BLOCK],
    steps_seen: usize,
    /// Sum of the blocks that count, and how many they are.
    heard: f64,
    blocks: f64,
    gain: f32,
}

impl GainControl {
    pub(super) fn new() -> Self {
        Self {
            weighting: KWeighting::new(f64::from(SAMPLE_RATE_HZ)),
            step: (0.0, 0),
            steps: [0.0; STEPS_PER_BLOCK],
            steps_seen: 0,
            heard: 0.0,
            blocks: 0.0,
            gain: 1.0,
        }
    }

    /// Listens to the next samples at the voice's own gain; answers with the gains at their start and at their end.
    pub(super) fn over(&mut self, samples: &[f32], own_gain: f32) -> (f32, f32) {
        let from = self.gain;
        for &sample in samples {
            let sample = if sample.is_finite() { sample } else { 0.0 };
            let weighted = self.weighting.next(f64::from(sample * own_gain));
            self.step.0 += weighted * weighted;
            self.step.1 += 1;
            if self.step.1 == STEP_SAMPLES {
                self.end_step();
            }
        }
        let aim = power_of(SPEECH_LUFS);
        let heard = (PRIOR_BLOCKS * aim + self.heard) / (PRIOR_BLOCKS + self.blocks);
        let (lowest, highest) = GAIN_RANGE;
        self.gain = (aim / heard).sqrt().clamp(lowest, highest) as f32;
        (from, self.gain)
    }

    fn end_step(&mut self) {
        self.steps[self.steps_seen % STEPS_PER_BLOCK] = self.step.0 / STEP_SAMPLES as f64;
        self.steps_seen += 1;
        self.step = (0.0, 0);
        if self.steps_seen < STEPS_PER_BLOCK {
            return;
        }
        let power = self.steps.iter().sum::<f64>() / STEPS_PER_BLOCK as f64;
        if power < power_of(SPEECH_LUFS - GATE_LU) {
            return;
        }
        if self.blocks >= MEMORY_BLOCKS {
            self.heard *= 1.0 - 1.0 / MEMORY_BLOCKS;
            self.blocks -= 1.0;
        }
        self.heard += power;
        self.blocks += 1.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sauti_audio::loudness::lufs;

    /// Syllables of a vowel-like tone, five a second.
    fn speech(level: f32, seconds: usize) -> Vec<f32> {
        (0..seconds * SAMPLE_RATE_HZ as usize)
            .map(|n| {
                let t = n as f32 / SAMPLE_RATE_HZ as f32;
                let voice = (t * 1_200.0).sin() + 0.5 * (t * 3_600.0).sin();
                level * voice * (t * 15.7).sin().abs()
            })
            .collect()
    }

    fn ridden(samples: &[f32]) -> Vec<f32> {
        let mut control = GainControl::new();
        let mut out = Vec::new();
        for window in samples.chunks(20_000) {
            let (from, to) = control.over(window, 1.0);
            let rise = (to - from) / window.len() as f32;
            out.extend(
                window
                    .iter()
                    .enumerate()
                    .map(|(at, s)| s * (from + rise * at as f32)),
            );
        }
        out
    }

    #[test]
    fn speech_that_is_too_faint_or_too_loud_comes_near_the_aim() {
        for level in [0.2, 0.25, 0.44] {
            let before = speech(level, 6);
            let after = lufs(&ridden(&before), SAMPLE_RATE_HZ);
            let before = lufs(&before, SAMPLE_RATE_HZ);
            assert!((before - SPEECH_LUFS).abs() > 1.0, "{before}");
            assert!(
                (after - SPEECH_LUFS).abs() < 1.2,
                "{before} became {after} LUFS"
            );
        }
    }

    #[test]
    fn silence_does_not_raise_the_gain() {
        let mut control = GainControl::new();
        let (_, before) = control.over(&speech(0.25, 3), 1.0);
        let (_, after) = control.over(&vec![1e-4; 72_000], 1.0);
        assert!((before - after).abs() < 0.05, "{before} and {after}");
        assert_eq!(GainControl::new().over(&[0.0; 48_000], 1.0), (1.0, 1.0));
    }
}
