//! Band-limited sample-rate conversion, streaming, for any pair of rates.
//!
//! A Kaiser-windowed sinc in polyphase form. The stop band begins at the lower of the two Nyquist frequencies, so nothing
//! folds back; the delay of the filter is taken out, so sample n of the output is at the time n / rate.

use std::f64::consts::PI;

const STOPBAND_DB: f64 = 84.0;
/// Where the pass band ends, as a part of the lower Nyquist frequency.
const PASSBAND: f64 = 0.9;
/// Above this many phases (odd pairs of rates) the table is interpolated: at 512 the error is below -100 dB.
const EXACT_PHASES_MAX: u32 = 1024;
const INTERPOLATED_PHASES: u32 = 512;
/// Taps are padded to a multiple of this so that the inner loop runs on whole vectors.
const LANES: usize = 16;

/// Converts a stream of samples from one rate to another.
pub struct Resampler {
    up: u64,
    down: u64,
    taps: usize,
    half: usize,
    phases: u32,
    exact: bool,
    /// `phases` rows (one more when interpolated) of `taps` coefficients.
    table: Vec<f32>,
    /// Samples still needed; index 0 is the input sample `position_base - (half - 1)`.
    history: Vec<f32>,
    position_base: u64,
    samples_in: u64,
    samples_out: u64,
}

impl Resampler {
    /// Rates must not be zero; callers check them against their own limits first.
    pub fn new(from_hz: u32, to_hz: u32) -> Self {
        let (from_hz, to_hz) = (from_hz.max(1), to_hz.max(1));
        let divisor = gcd(from_hz, to_hz);
        let (up, down) = (to_hz / divisor, from_hz / divisor);
        let exact = up <= EXACT_PHASES_MAX;
        let phases = if exact { up } else { INTERPOLATED_PHASES };
        let mut this = Self {
            up: u64::from(up),
            down: u64::from(down),
            taps: 0,
            half: 0,
            phases,
            exact,
            table: Vec::new(),
            history: Vec::new(),
            position_base: 0,
            samples_in: 0,
            samples_out: 0,
        };
        if up != down {
            this.design(f64::from(to_hz) / f64::from(from_hz));
        }
        this
    }

    fn design(&mut self, ratio: f64) {
        // All frequencies in cycles per input sample.
        let nyquist = 0.5 * ratio.min(1.0);
        let transition = nyquist * (1.0 - PASSBAND);
        let cutoff = nyquist - transition / 2.0;
        let wanted = ((STOPBAND_DB - 7.95) / (14.36 * transition)).ceil() as usize + 1;
        self.taps = wanted.next_multiple_of(LANES);
        self.half = self.taps / 2;
        self.history = vec![0.0; self.half - 1];

        let beta = 0.1102 * (STOPBAND_DB - 8.7);
        let window_scale = 1.0 / bessel_i0(beta);
        let half_width = self.half as f64;
        let rows = self.phases + u32::from(!self.exact);
        self.table = Vec::with_capacity(rows as usize * self.taps);
        for row in 0..rows {
            let fraction = f64::from(row) / f64::from(self.phases);
            let start = self.table.len();
            for tap in 0..self.taps {
                let t = tap as f64 - (half_width - 1.0) - fraction;
                let edge = 1.0 - (t / half_width).powi(2);
                let window = bessel_i0(beta * edge.max(0.0).sqrt()) * window_scale;
                self.table
                    .push((2.0 * cutoff * sinc(2.0 * cutoff * t) * window) as f32);
            }
            // Each phase passes a constant unchanged: otherwise the phases would modulate it.
            let sum: f64 = self.table[start..].iter().map(|&c| f64::from(c)).sum();
            for coefficient in &mut self.table[start..] {
                *coefficient = (f64::from(*coefficient) / sum) as f32;
            }
        }
    }

    /// Takes more input and appends the output that is settled by it.
    pub fn push(&mut self, input: &[f32], out: &mut Vec<f32>) {
        self.samples_in += input.len() as u64;
        if self.taps == 0 {
            out.extend_from_slice(input);
            return;
        }
        self.history.extend_from_slice(input);
        self.run(u64::MAX, out);
    }

    /// Ends the stream: the output then lasts as long as the input did.
    pub fn finish(mut self, out: &mut Vec<f32>) {
        if self.taps == 0 {
            return;
        }
        let samples_out_total = (self.samples_in * self.up).div_ceil(self.down);
        self.history.resize(self.history.len() + self.half + 1, 0.0);
        self.run(samples_out_total, out);
    }

    fn run(&mut self, samples_out_total: u64, out: &mut Vec<f32>) {
        while self.samples_out < samples_out_total {
            let position = self.samples_out * self.down;
            let start = (position / self.up - self.position_base) as usize;
            let Some(window) = self.history.get(start..start + self.taps) else {
                break;
            };
            out.push(self.filter(window, position % self.up));
            self.samples_out += 1;
        }
        let next = self.samples_out * self.down / self.up;
        let spent = ((next - self.position_base) as usize).min(self.history.len());
        // Moving the tail down for each small push would cost more than the filter.
        if spent >= 4096 || spent == self.history.len() {
            self.history.drain(..spent);
            self.position_base += spent as u64;
        }
    }

    fn filter(&self, window: &[f32], remainder: u64) -> f32 {
        if self.exact {
            let row = remainder as usize * self.taps;
            return dot(window, &self.table[row..row + self.taps]);
        }
        let place = remainder as f64 * f64::from(self.phases) / self.up as f64;
        let row = place as usize * self.taps;
        let blend = place.fract() as f32;
        let low = dot(window, &self.table[row..row + self.taps]);
        let high = dot(window, &self.table[row + self.taps..row + 2 * self.taps]);
        low + (high - low) * blend
    }
}

/// Converts a whole signal.
pub fn resample(samples: &[f32], from_hz: u32, to_hz: u32) -> Vec<f32> {
    let mut resampler = Resampler::new(from_hz, to_hz);
    let mut out = Vec::new();
    resampler.push(samples, &mut out);
    resampler.finish(&mut out);
    out
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0f32; LANES];
    for (a, b) in a
        .as_chunks::<LANES>()
        .0
        .iter()
        .zip(b.as_chunks::<LANES>().0)
    {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    sums.iter().sum()
}

fn sinc(x: f64) -> f64 {
    if x.abs() < 1e-9 {
        1.0
    } else {
        (PI * x).sin() / (PI * x)
    }
}

/// Modified Bessel function of the first kind, order zero, by its power series.
fn bessel_i0(x: f64) -> f64 {
    let quarter = x * x / 4.0;
    let (mut sum, mut term, mut k) = (1.0, 1.0, 1.0);
    while term > sum * 1e-12 {
        term *= quarter / (k * k);
        sum += term;
        k += 1.0;
    }
    sum
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tone(hz: f64, rate_hz: u32, seconds: f64) -> Vec<f32> {
        let count = (seconds * f64::from(rate_hz)) as usize;
        (0..count)
            .map(|n| (2.0 * PI * hz * n as f64 / f64::from(rate_hz)).sin() as f32)
            .collect()
    }

    fn level_db(samples: &[f32]) -> f64 {
        let middle = &samples[samples.len() / 4..samples.len() * 3 / 4];
        let power: f64 =
            middle.iter().map(|&s| f64::from(s).powi(2)).sum::<f64>() / middle.len() as f64;
        10.0 * (2.0 * power + 1e-30).log10()
    }

    fn error_db(got: &[f32], wanted: &[f32]) -> f64 {
        let difference: Vec<f32> = got.iter().zip(wanted).map(|(a, b)| a - b).collect();
        level_db(&difference)
    }

    #[test]
    fn a_tone_above_the_new_nyquist_leaves_no_alias() {
        for hz in [4_000.0, 4_100.0, 5_000.0, 7_000.0, 11_000.0] {
            let alias_db = level_db(&resample(&tone(hz, 24_000, 1.0), 24_000, 8_000));
            assert!(alias_db < -75.0, "{hz} Hz leaves {alias_db:.1} dB");
        }
    }

    #[test]
    fn tones_in_the_pass_band_keep_level_and_phase_for_any_pair_of_rates() {
        let rates = [
            8_000, 11_025, 16_000, 22_050, 24_000, 44_100, 48_000, 47_999, 96_000,
        ];
        for from_hz in rates {
            for to_hz in rates {
                let hz = 0.8 * f64::from(from_hz.min(to_hz)) / 2.0;
                let got = resample(&tone(hz, from_hz, 0.5), from_hz, to_hz);
                let db = error_db(&got, &tone(hz, to_hz, 0.5));
                assert!(db < -70.0, "{from_hz} -> {to_hz}: error {db:.1} dB");
            }
        }
    }

    #[test]
    fn the_output_lasts_as_long_as_the_input() {
        for (from_hz, to_hz, count) in [
            (24_000, 8_000, 24_001),
            (8_000, 48_000, 7),
            (44_100, 16_000, 44_100),
            (5, 7, 1),
        ] {
            let got = resample(&vec![0.5; count], from_hz, to_hz).len() as u64;
            assert_eq!(
                got,
                (count as u64 * u64::from(to_hz)).div_ceil(u64::from(from_hz))
            );
        }
        assert!(resample(&[], 8_000, 16_000).is_empty());
    }

    #[test]
    fn pieces_give_the_same_samples_as_the_whole() {
        let input = tone(997.0, 44_100, 0.7);
        let whole = resample(&input, 44_100, 16_000);
        for size in [1, 7, 1_000, 9_999] {
            let mut resampler = Resampler::new(44_100, 16_000);
            let mut out = Vec::new();
            for piece in input.chunks(size) {
                resampler.push(piece, &mut out);
            }
            resampler.finish(&mut out);
            assert!(out == whole, "pieces of {size}");
        }
    }
}
