//! Integrated loudness by ITU-R BS.1770: K-weighting, blocks of 400 ms, two gates.

use std::f64::consts::PI;

const BLOCK_MS: usize = 400;
/// Blocks overlap by three quarters.
const STEPS_PER_BLOCK: usize = 4;
const ABSOLUTE_GATE_LUFS: f64 = -70.0;
const RELATIVE_GATE_LU: f64 = -10.0;

/// Integrated loudness of a mono signal. Negative infinity for silence; a signal shorter than a block is one block.
pub fn lufs(samples: &[f32], rate_hz: u32) -> f64 {
    let step = (rate_hz as usize * BLOCK_MS / STEPS_PER_BLOCK / 1_000).max(1);
    let mut filter = KWeighting::new(f64::from(rate_hz.max(1)));
    let mut measured = |chunk: &[f32]| {
        let squares = chunk.iter().map(|&s| filter.next(f64::from(s)).powi(2));
        (squares.sum(), chunk.len())
    };
    let steps: Vec<(f64, usize)> = samples.chunks(step).map(&mut measured).collect();
    // A block that the end cuts off does not count.
    let is_whole = |block: &&[(f64, usize)]| block.iter().all(|s| s.1 == step);
    let whole = steps.windows(STEPS_PER_BLOCK).filter(is_whole);
    let mut powers: Vec<f64> = whole.map(mean).collect();
    if powers.is_empty() {
        powers.push(mean(&steps));
    }
    gated(&powers)
}

fn mean(steps: &[(f64, usize)]) -> f64 {
    let count: usize = steps.iter().map(|step| step.1).sum();
    steps.iter().map(|step| step.0).sum::<f64>() / count.max(1) as f64
}

fn gated(powers: &[f64]) -> f64 {
    let over = |gate_lufs: f64| {
        let kept = powers.iter().filter(|power| loudness(**power) > gate_lufs);
        let kept: Vec<f64> = kept.copied().collect();
        loudness(kept.iter().sum::<f64>() / kept.len().max(1) as f64)
    };
    let first = over(ABSOLUTE_GATE_LUFS);
    if first.is_finite() {
        over((first + RELATIVE_GATE_LU).max(ABSOLUTE_GATE_LUFS))
    } else {
        first
    }
}

/// The loudness of a mean square of K-weighted samples.
pub fn loudness(power: f64) -> f64 {
    -0.691 + 10.0 * power.log10()
}

/// The mean square of K-weighted samples that has this loudness.
pub fn power_of(lufs: f64) -> f64 {
    10f64.powf((lufs + 0.691) / 10.0)
}

/// The two filters of the standard, from their analogue prototypes so that any rate will do.
#[derive(Debug)]
pub struct KWeighting {
    shelf: Biquad,
    high_pass: Biquad,
}

impl KWeighting {
    pub fn new(rate_hz: f64) -> Self {
        // Constants of the prototypes that give the standard's tabulated coefficients at 48 kHz.
        let (shelf_hz, shelf_db, shelf_q) = (
            1_681.974_450_955_533,
            3.999_843_853_973_347,
            0.707_175_236_955_419_6,
        );
        let k = (PI * shelf_hz / rate_hz).tan();
        let high = 10f64.powf(shelf_db / 20.0);
        let band = high.powf(0.499_666_774_154_541_6);
        let a0 = 1.0 + k / shelf_q + k * k;
        let shelf = Biquad::new(
            [
                high + band * k / shelf_q + k * k,
                2.0 * (k * k - high),
                high - band * k / shelf_q + k * k,
            ],
            [2.0 * (k * k - 1.0), 1.0 - k / shelf_q + k * k],
            a0,
        );
        let (pass_hz, pass_q) = (38.135_470_876_024_44, 0.500_327_037_323_877_3);
        let k = (PI * pass_hz / rate_hz).tan();
        let a0 = 1.0 + k / pass_q + k * k;
        // The numerator of this one is not normalised in the standard.
        let high_pass = Biquad::new(
            [a0, -2.0 * a0, a0],
            [2.0 * (k * k - 1.0), 1.0 - k / pass_q + k * k],
            a0,
        );
        Self { shelf, high_pass }
    }

    pub fn next(&mut self, x: f64) -> f64 {
        self.high_pass.next(self.shelf.next(x))
    }
}

#[derive(Debug)]
struct Biquad {
    b: [f64; 3],
    a: [f64; 2],
    state: [f64; 2],
}

impl Biquad {
    fn new(b: [f64; 3], a: [f64; 2], a0: f64) -> Self {
        Self {
            b: b.map(|c| c / a0),
            a: a.map(|c| c / a0),
            state: [0.0; 2],
        }
    }

    fn next(&mut self, x: f64) -> f64 {
        let y = self.b[0] * x + self.state[0];
        self.state[0] = self.b[1] * x - self.a[0] * y + self.state[1];
        self.state[1] = self.b[2] * x - self.a[1] * y;
        y
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tone(hz: f64, peak_dbfs: f64, rate_hz: u32, seconds: f64) -> Vec<f32> {
        let peak = 10f64.powf(peak_dbfs / 20.0);
        let count = (seconds * f64::from(rate_hz)) as usize;
        (0..count)
            .map(|n| (peak * (2.0 * PI * hz * n as f64 / f64::from(rate_hz)).sin()) as f32)
            .collect()
    }

    #[test]
    fn a_full_scale_997_hz_tone_measures_minus_3_01() {
        for rate_hz in [8_000, 16_000, 24_000, 44_100, 48_000, 96_000] {
            let measured = lufs(&tone(997.0, 0.0, rate_hz, 5.0), rate_hz);
            assert!((measured + 3.01).abs() < 0.1, "{rate_hz} Hz: {measured:.3}");
        }
    }

    #[test]
    fn coefficients_at_48_khz_are_those_of_the_standard() {
        let filter = KWeighting::new(48_000.0);
        let close =
            |got: f64, wanted: f64| assert!((got - wanted).abs() < 1e-9, "{got} is not {wanted}");
        close(filter.shelf.b[0], 1.535_124_859_586_97);
        close(filter.shelf.b[1], -2.691_696_189_406_38);
        close(filter.shelf.a[1], 0.732_480_774_215_85);
        close(filter.high_pass.a[0], -1.990_047_454_833_98);
        close(filter.high_pass.a[1], 0.990_072_250_366_21);
        close(filter.high_pass.b[1], -2.0);
    }

    #[test]
    fn pauses_do_not_lower_the_loudness() {
        let mut speech = tone(997.0, -20.0, 24_000, 5.0);
        let spoken = lufs(&speech, 24_000);
        speech.extend(vec![0.0; 24_000 * 10]);
        assert!((lufs(&speech, 24_000) - spoken).abs() < 0.2);
        // The relative gate: a murmur 20 LU lower does not count either.
        speech.extend(tone(997.0, -40.0, 24_000, 10.0));
        assert!((lufs(&speech, 24_000) - spoken).abs() < 0.3);
    }

    #[test]
    fn short_and_silent_signals_have_an_answer() {
        assert_eq!(lufs(&[], 24_000), f64::NEG_INFINITY);
        assert_eq!(lufs(&[0.0; 50_000], 24_000), f64::NEG_INFINITY);
        let word = lufs(&tone(997.0, -20.0, 24_000, 0.2), 24_000);
        assert!((word + 23.01).abs() < 0.3, "{word}");
    }
}
