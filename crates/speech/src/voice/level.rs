//! The last steps before a sample leaves: no offset, the right loudness, no overload, no clicks.

use super::gain_control::GainControl;
use super::source::SAMPLE_RATE_HZ;

/// 5 ms.
const FADE_SAMPLES: usize = SAMPLE_RATE_HZ as usize / 200;
/// From silence to the voice's own loudness in a fade's time: no clicks.
const VOLUME_STEP_MAX: f32 = 1.0 / FADE_SAMPLES as f32;
/// -1.5 dB of full scale: the wave between two samples can rise a little over both.
const CEILING: f32 = 0.84;
/// The wave half-way between two samples, from four on either side: in a hiss it can be louder than all of them.
const HALF_WAY: [f32; 8] = [
    -0.0024, 0.0239, -0.1196, 0.5981, 0.5981, -0.1196, 0.0239, -0.0024,
];
/// One-pole high-pass at about 20 Hz.
const OFFSET_KEEP: f32 = 0.9948;
/// What is fainter counts as silence when a stretch's start or end is looked for: -62 dB of full scale.
pub(super) const SILENCE: f32 = 8e-4;
/// Silence kept after the last audible sample: 40 ms.
const TAIL_SAMPLES: usize = SAMPLE_RATE_HZ as usize / 25;

/// Rises over the first samples of a stretch.
pub(super) fn fade_in(samples: &mut [f32], already: usize) {
    for (at, sample) in samples.iter_mut().enumerate() {
        let position = already + at;
        if position >= FADE_SAMPLES {
            break;
        }
        *sample *= position as f32 / FADE_SAMPLES as f32;
    }
}

pub(super) fn fade_out(samples: &mut [f32]) {
    for (at, sample) in samples.iter_mut().rev().take(FADE_SAMPLES).enumerate() {
        *sample *= at as f32 / FADE_SAMPLES as f32;
    }
}

/// Keeps back silence until something follows it, so that a stretch can end where its sound does.
#[derive(Debug, Default)]
pub(super) struct Tail {
    held: Vec<f32>,
}

impl Tail {
    /// Gives what is certain to be heard, or to stand before something heard.
    pub(super) fn push(&mut self, samples: &[f32]) -> Vec<f32> {
        self.held.extend_from_slice(samples);
        let audible = self.held.iter().rposition(|s| s.abs() > SILENCE);
        let keep_from = audible.map_or(0, |at| at + 1);
        // The fade at the end needs something to work on.
        let ready = keep_from.saturating_sub(FADE_SAMPLES);
        self.held.drain(..ready).collect()
    }

    /// The end of the stretch: a little silence stays, the rest goes.
    pub(super) fn finish(mut self) -> Vec<f32> {
        let audible = self.held.iter().rposition(|s| s.abs() > SILENCE);
        self.held
            .truncate(audible.map_or(0, |at| at + 1) + TAIL_SAMPLES);
        fade_out(&mut self.held);
        self.held
    }
}

/// Gain, loudness, high-pass and a limiter that sees `FADE_SAMPLES` ahead; runs over the whole request.
#[derive(Debug)]
pub(super) struct Leveller {
    gain: f32,
    gain_control: GainControl,
    /// What was asked for on top of the loudness of all speech, as a factor.
    volume: f32,
    last_in: f32,
    last_out: f32,
    recent: [f32; HALF_WAY.len()],
    /// Samples that wait for the limiter to have seen what follows, and the gains they call for.
    waiting: Ring,
    wanted: Ring,
    lowest: Ring,
    /// Limiter steps still to do before it is idle again.
    busy: usize,
}

impl Leveller {
    pub(super) const DELAY_SAMPLES: usize = FADE_SAMPLES;

    pub(super) fn new(gain: f32, volume: f32) -> Self {
        Self {
            gain,
            volume,
            gain_control: GainControl::new(),
            last_in: 0.0,
            last_out: 0.0,
            recent: [0.0; HALF_WAY.len()],
            waiting: Ring::new(0.0),
            wanted: Ring::new(1.0),
            lowest: Ring::new(1.0),
            busy: 0,
        }
    }

    /// Samples in, as many samples out, `DELAY_SAMPLES` later. Without `volumes` the last one stays.
    pub(super) fn push(&mut self, samples: &[f32], volumes: &[f32]) -> Vec<f32> {
        let (from, to) = self.gain_control.over(samples, self.gain);
        let rise = (to - from) / samples.len().max(1) as f32;
        let steps = samples.iter().enumerate();
        steps
            .map(|(at, &sample)| {
                let volume = volumes.get(at).copied().unwrap_or(self.volume);
                self.volume += (volume - self.volume).clamp(-VOLUME_STEP_MAX, VOLUME_STEP_MAX);
                self.step(sample * self.gain * (from + rise * at as f32) * self.volume)
            })
            .collect()
    }

    /// The samples still waiting.
    pub(super) fn flush(&mut self) -> Vec<f32> {
        self.push(&[0.0; FADE_SAMPLES], &[])
    }

    fn step(&mut self, sample: f32) -> f32 {
        let sample = if sample.is_finite() { sample } else { 0.0 };
        let level = sample - self.last_in + OFFSET_KEEP * self.last_out;
        (self.last_in, self.last_out) = (sample, level);
        let out = self.waiting.replace(level);
        self.recent.rotate_left(1);
        self.recent[HALF_WAY.len() - 1] = level;
        let half_way: f32 = self.recent.iter().zip(HALF_WAY).map(|(a, b)| a * b).sum();
        let wanted = CEILING / level.abs().max(half_way.abs()).max(CEILING);
        if wanted < 1.0 {
            self.busy = 2 * FADE_SAMPLES;
        }
        if self.busy == 0 {
            self.wanted.skip();
            self.lowest.skip();
            return out;
        }
        self.busy -= 1;
        // The lowest gain of the window, then its average: it has come down when the peak leaves.
        self.wanted.replace(wanted);
        self.lowest.replace(self.wanted.lowest());
        (out * self.lowest.mean()).clamp(-CEILING, CEILING)
    }
}

#[derive(Debug)]
struct Ring {
    values: [f32; FADE_SAMPLES],
    next: usize,
}

impl Ring {
    fn new(value: f32) -> Self {
        Self {
            values: [value; FADE_SAMPLES],
            next: 0,
        }
    }

    fn replace(&mut self, value: f32) -> f32 {
        let old = std::mem::replace(&mut self.values[self.next], value);
        self.skip();
        old
    }

    fn skip(&mut self) {
        self.next = (self.next + 1) % FADE_SAMPLES;
    }

    fn lowest(&self) -> f32 {
        self.values.iter().fold(1.0, |a, &b| a.min(b))
    }

    fn mean(&self) -> f32 {
        self.values.iter().sum::<f32>() / FADE_SAMPLES as f32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tone(level: f32, samples: usize) -> Vec<f32> {
        (0..samples)
            .map(|i| (i as f32 * 0.3).sin() * level)
            .collect()
    }

    fn run(gain: f32, samples: &[f32]) -> Vec<f32> {
        let mut leveller = Leveller::new(gain, 1.0);
        let mut out = leveller.push(samples, &[]);
        out.extend(leveller.flush());
        out
    }

    #[test]
    fn nothing_passes_the_ceiling() {
        let out = run(1.0, &tone(3.0, 5_000));
        assert!(out.iter().all(|s| s.abs() <= CEILING));
    }

    #[test]
    fn a_hiss_is_kept_down_between_the_samples_too() {
        let hiss = |i: usize| 0.83 * (std::f32::consts::FRAC_PI_2 * i as f32 + 0.785).sin();
        let samples: Vec<f32> = (0..5_000).map(|i| 1.4 * hiss(i)).collect();
        assert!(samples.iter().all(|sample| sample.abs() < CEILING));
        assert!(sauti_audio::loudness::true_peak(&run(1.0, &samples)[1_000..4_000]) < 0.9);
    }

    #[test]
    fn quiet_speech_is_only_delayed_and_scaled() {
        let input = tone(0.2, 5_000);
        let out = run(2.0, &input);
        for (at, sample) in input.iter().enumerate().skip(1_000) {
            assert!((out[at + FADE_SAMPLES] - 2.0 * sample).abs() < 0.02);
        }
    }

    #[test]
    fn after_a_peak_the_gain_comes_back() {
        let mut input = tone(0.2, 5_000);
        input[1_000] = 4.0;
        let (with, without) = (run(1.0, &input), run(1.0, &tone(0.2, 5_000)));
        for at in 3_000..5_000 {
            assert!((with[at] - without[at]).abs() < 1e-3);
        }
    }

    #[test]
    fn an_offset_is_taken_out() {
        let out = run(1.0, &[0.3; 24_000]);
        assert!(out[20_000..24_000].iter().all(|s| s.abs() < 1e-3));
    }

    #[test]
    fn silence_at_the_end_is_cut_and_silence_inside_is_kept() {
        let mut tail = Tail::default();
        let mut out = Vec::new();
        for part in [
            tone(0.3, 4_000),
            vec![0.0; 9_000],
            tone(0.3, 4_000),
            vec![0.0; 9_000],
        ] {
            out.extend(tail.push(&part));
        }
        out.extend(tail.finish());
        assert!((17_000..18_000).contains(&out.len()), "{}", out.len());
        assert_eq!(*out.last().unwrap(), 0.0);
    }
}
