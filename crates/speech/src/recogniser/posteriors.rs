//! What the acoustic model says: for every 40 ms, how likely each letter is.

use crate::kernels::simd::exp;

/// Blank, space, apostrophe, a to z.
pub(super) const CLASSES: usize = 29;
pub(super) const BLANK: usize = 0;
pub(super) const SPACE: usize = 1;
/// Seconds from one step to the next.
const STEP_SECONDS: f64 = 0.04;

/// Natural logarithms, a row of [`CLASSES`] per step.
#[derive(Debug, Clone, Default)]
pub struct Posteriors {
    values: Vec<f32>,
    /// Steps of silence that were added to the recording at its ends.
    added: [usize; 2],
    /// How long the recording is: its last step may reach beyond it.
    seconds: f64,
}

impl Posteriors {
    /// Values beyond the last whole row are dropped.
    pub fn new(mut values: Vec<f32>) -> Self {
        values.truncate(values.len() / CLASSES * CLASSES);
        // A broken number would poison every sum after it.
        for value in &mut values {
            *value = if value.is_finite() {
                value.clamp(-60.0, 0.0)
            } else {
                -60.0
            };
        }
        Self {
            values,
            added: [0; 2],
            seconds: f64::MAX,
        }
    }

    pub(super) fn surrounded_by(self, before: usize, after: usize, seconds: f64) -> Self {
        Self {
            added: [before, after],
            seconds,
            ..self
        }
    }

    /// When a step begins, from the beginning of the recording on, and within it.
    pub(super) fn seconds_at(&self, step: usize) -> f64 {
        let [before, after] = self.added;
        let end = self.steps().saturating_sub(before + after);
        let seconds = step.saturating_sub(before).min(end) as f64 * STEP_SECONDS;
        seconds.min(self.seconds)
    }

    pub fn steps(&self) -> usize {
        self.values.len() / CLASSES
    }

    pub fn row(&self, step: usize) -> &[f32] {
        &self.values[step * CLASSES..][..CLASSES]
    }

    pub fn rows(&self) -> impl Iterator<Item = &[f32]> {
        self.values.chunks_exact(CLASSES)
    }

    /// How unsure the letters are on the whole: 0 when every one is certain, below 1.
    pub fn doubt(&self) -> f32 {
        let (mut sum, mut count) = (0.0, 0);
        for row in self.rows() {
            let best = best_class(row);
            if best != BLANK {
                sum += 1.0 - row[best].exp();
                count += 1;
            }
        }
        sum / count.max(1) as f32
    }

    /// The likeliest letters without any language model.
    pub fn greedy(&self) -> String {
        let mut text = String::new();
        let mut last = BLANK;
        for row in self.rows() {
            let best = best_class(row);
            if best != last && best != BLANK {
                text.push(letter_of(best));
            }
            last = best;
        }
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

pub(super) fn best_class(row: &[f32]) -> usize {
    let best = row.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1));
    best.map_or(BLANK, |(class, _)| class)
}

pub(super) fn class_of(letter: u8) -> Option<usize> {
    match letter {
        b' ' => Some(SPACE),
        b'\'' => Some(2),
        b'a'..=b'z' => Some((letter - b'a') as usize + 3),
        _ => None,
    }
}

/// The inverse of [`class_of`]; blank has no letter and reads as a space.
pub(super) fn letter_of(class: usize) -> char {
    match class {
        2 => '\'',
        3..CLASSES => (b'a' + (class - 3) as u8) as char,
        _ => ' ',
    }
}

/// ln(e^a + e^b).
#[inline]
pub(super) fn log_add(a: f32, b: f32) -> f32 {
    let (high, low) = if a > b { (a, b) } else { (b, a) };
    let gap = low - high;
    // Beyond this the sum is the higher one, in the floats' exactness.
    if gap < -17.0 {
        return high;
    }
    // ln(1 + y) = 2 artanh(y / (2 + y)), whose series is short for y up to 1.
    let y = exp(gap);
    let x = y / (2.0 + y);
    let square = x * x;
    let series = 1.0 + square * (1.0 / 3.0 + square * (0.2 + square * (1.0 / 7.0 + square / 9.0)));
    high + 2.0 * x * series
}

#[cfg(test)]
pub(super) mod fixtures {
    use super::*;

    /// What a sure model would say to `text`, with seeded noise of the given strength on top.
    pub(crate) fn spoken(text: &str, noise: f32, mut seed: u64) -> Posteriors {
        let mut random = move || {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (seed >> 40) as f32 / (1u64 << 24) as f32
        };
        let mut classes = vec![BLANK; 3];
        for letter in text.bytes() {
            classes.push(class_of(letter).unwrap());
            classes.push(BLANK);
        }
        classes.extend([BLANK; 3]);
        let mut values = Vec::new();
        for class in classes {
            let mut row: Vec<f32> = (0..CLASSES).map(|_| noise * random()).collect();
            row[class] += 8.0;
            let total = row.iter().fold(-1e30, |sum, x| log_add(sum, *x));
            values.extend(row.iter().map(|x| x - total));
        }
        Posteriors::new(values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_and_classes_are_inverse() {
        for letter in " 'abcdefghijklmnopqrstuvwxyz".bytes() {
            assert_eq!(letter_of(class_of(letter).unwrap()), char::from(letter));
        }
        assert_eq!(class_of(b'A'), None);
    }

    #[test]
    fn greedy_reading_gives_the_text_back() {
        assert_eq!(
            fixtures::spoken("ng'ombe mmoja", 1.0, 1).greedy(),
            "ng'ombe mmoja"
        );
    }

    #[test]
    fn sums_of_logarithms_are_exact_enough() {
        for (a, b) in [
            (0.0, 0.0),
            (-1.0, -2.5),
            (-3.0, -19.9),
            (-700.0, -701.0),
            (-1e30, -4.0),
            (-1e30, -1e30),
        ] {
            let (high, low) = (f64::max(a, b), f64::min(a, b));
            let want = high + (low - high).exp().ln_1p();
            assert!(
                (f64::from(log_add(a as f32, b as f32)) - want).abs() <= 2e-6 * want.abs().max(1.0),
                "{a} {b}"
            );
        }
    }

    #[test]
    fn doubt_grows_with_noise() {
        let clear = fixtures::spoken("habari yako", 0.1, 1).doubt();
        let noisy = fixtures::spoken("habari yako", 6.0, 1).doubt();
        assert!((0.0..0.1).contains(&clear) && clear < noisy && noisy < 1.0);
        assert_eq!(Posteriors::default().doubt(), 0.0);
    }

    #[test]
    fn broken_numbers_become_unlikely_ones() {
        let posteriors = Posteriors::new(vec![f32::NAN; CLASSES + 5]);
        assert_eq!(posteriors.steps(), 1);
        assert!(posteriors.row(0).iter().all(|value| *value == -60.0));
    }
}
