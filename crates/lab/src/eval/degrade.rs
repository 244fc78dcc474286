//! Makes clean recordings worse in known ways: the telephone's codec, noise, other people talking.

use sauti_audio::pcm::f32_from_i16;
use sauti_audio::{g711, resample};

const RATE_HZ: u32 = 16_000;
const TELEPHONE_HZ: u32 = 8_000;

/// What is done to every clip, in this order: voices, noise, telephone.
#[derive(Debug, Clone, Default)]
pub struct Degradation {
    pub babble_db: Option<f64>,
    pub noise_db: Option<f64>,
    pub mulaw: bool,
    /// Other voices to mix in; see [`babble_bed`].
    pub babble: Vec<f32>,
}

impl Degradation {
    pub fn is_none(&self) -> bool {
        self.babble_db.is_none() && self.noise_db.is_none() && !self.mulaw
    }

    /// `seed` makes each clip's noise its own, and the same in every run.
    pub fn apply(&self, samples: Vec<i16>, seed: u64) -> Vec<i16> {
        if self.is_none() {
            return samples;
        }
        let mut audio: Vec<f32> = samples.into_iter().map(f32_from_i16).collect();
        let mut random = Random(seed.wrapping_add(1));
        if let Some(snr_db) = self.babble_db.filter(|_| !self.babble.is_empty()) {
            let start = random.below(self.babble.len());
            let bed = self.babble.iter().cycle().skip(start).take(audio.len());
            let bed: Vec<f32> = bed.copied().collect();
            mix(&mut audio, &bed, snr_db);
        }
        if let Some(snr_db) = self.noise_db {
            let noise: Vec<f32> = (0..audio.len()).map(|_| random.normal()).collect();
            mix(&mut audio, &noise, snr_db);
        }
        let mut samples: Vec<i16> = audio.into_iter().map(to_i16).collect();
        if self.mulaw {
            samples = through_telephone(&samples);
        }
        samples
    }
}

fn to_i16(sample: f32) -> i16 {
    (sample * 32_768.0).round().clamp(-32_768.0, 32_767.0) as i16
}

/// 8 kHz and mu-law, as a call sounds at the other end.
fn through_telephone(samples: &[i16]) -> Vec<i16> {
    let wide: Vec<f32> = samples.iter().copied().map(f32_from_i16).collect();
    let narrow = resample(&wide, RATE_HZ, TELEPHONE_HZ).into_iter();
    let sent = narrow.map(|sample| g711::ulaw_from_linear(to_i16(sample)));
    let heard: Vec<f32> = sent
        .map(|code| f32_from_i16(g711::linear_from_ulaw(code)))
        .collect();
    let wide = resample(&heard, TELEPHONE_HZ, RATE_HZ).into_iter();
    wide.map(to_i16).collect()
}

/// Adds `noise` so that the speech lies `snr_db` above it. Silence stays silence.
fn mix(speech: &mut [f32], noise: &[f32], snr_db: f64) {
    let (speech_power, noise_power) = (power(speech), power(noise));
    if speech_power == 0.0 || noise_power == 0.0 {
        return;
    }
    let gain = (speech_power / noise_power / 10f64.powf(snr_db / 10.0)).sqrt() as f32;
    for (sample, other) in speech.iter_mut().zip(noise) {
        *sample += gain * other;
    }
}

fn power(samples: &[f32]) -> f64 {
    let sum: f64 = samples.iter().map(|s| f64::from(*s) * f64::from(*s)).sum();
    sum / samples.len().max(1) as f64
}

/// Several recordings at once, each as loud as the others.
pub fn babble_bed(voices: &[Vec<i16>]) -> Vec<f32> {
    let longest = voices.iter().map(Vec::len).max().unwrap_or(0);
    let mut bed = vec![0.0; longest];
    for voice in voices.iter().filter(|voice| !voice.is_empty()) {
        let voice: Vec<f32> = voice.iter().copied().map(f32_from_i16).collect();
        let loudness = power(&voice).sqrt().max(1e-6) as f32;
        for (sample, other) in bed.iter_mut().zip(voice.iter().cycle()) {
            *sample += other / loudness;
        }
    }
    bed
}

/// SplitMix64: tiny, and good enough for noise.
pub(super) struct Random(pub u64);

impl Random {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(super) fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }

    /// Close to a normal distribution: twelve even ones.
    fn normal(&mut self) -> f32 {
        let even = |n: u64| (n >> 40) as f32 / (1u64 << 24) as f32;
        (0..12).map(|_| even(self.next())).sum::<f32>() - 6.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tone(hz: f64, len: usize) -> Vec<i16> {
        let at = |n: usize| (n as f64 * hz * std::f64::consts::TAU / f64::from(RATE_HZ)).sin();
        (0..len).map(|n| (at(n) * 10_000.0) as i16).collect()
    }

    fn snr_db(clean: &[i16], heard: &[i16]) -> f64 {
        let float = |s: &[i16]| s.iter().map(|v| f32::from(*v)).collect::<Vec<_>>();
        let difference: Vec<f32> = clean
            .iter()
            .zip(heard)
            .map(|(a, b)| f32::from(*b) - f32::from(*a))
            .collect();
        10.0 * (power(&float(clean)) / power(&difference)).log10()
    }

    #[test]
    fn noise_and_babble_lie_as_far_below_the_speech_as_asked() {
        let speech = tone(440.0, 32_000);
        let noisy = Degradation {
            noise_db: Some(12.0),
            ..Degradation::default()
        };
        assert!((snr_db(&speech, &noisy.apply(speech.clone(), 7)) - 12.0).abs() < 0.3);

        let bed = babble_bed(&[tone(300.0, 9_000), tone(710.0, 20_000)]);
        let babble = Degradation {
            babble_db: Some(5.0),
            babble: bed,
            ..Degradation::default()
        };
        assert!((snr_db(&speech, &babble.apply(speech.clone(), 7)) - 5.0).abs() < 0.5);
    }

    #[test]
    fn the_telephone_keeps_speech_and_loses_what_lies_above_it() {
        let telephone = Degradation {
            mulaw: true,
            ..Degradation::default()
        };
        let loudness = |hz: f64| {
            let heard = telephone.apply(tone(hz, 32_000), 0);
            power(&heard.iter().map(|s| f32::from(*s)).collect::<Vec<_>>()).sqrt()
        };
        assert!(loudness(1_000.0) > 6_500.0);
        assert!(loudness(6_000.0) < 100.0);
    }

    #[test]
    fn the_same_seed_gives_the_same_noise_and_silence_stays_silent() {
        let noisy = Degradation {
            noise_db: Some(0.0),
            ..Degradation::default()
        };
        let speech = tone(440.0, 1_600);
        assert_eq!(
            noisy.apply(speech.clone(), 3),
            noisy.apply(speech.clone(), 3)
        );
        assert_ne!(noisy.apply(speech.clone(), 3), noisy.apply(speech, 4));
        assert_eq!(noisy.apply(vec![0; 100], 3), vec![0; 100]);
        assert!(noisy.apply(Vec::new(), 3).is_empty());
    }
}
