//! The offset that a cheap converter adds to all of a sound: beside a large one nothing is heard of quiet speech.

use std::borrow::Cow;

/// Over less than this, speech itself has a mean.
const SAMPLES_MIN: f64 = 4_000.0;

/// What was heard so far.
#[derive(Debug, Default)]
pub(super) struct Offset {
    count: f64,
    sum: f64,
    squares: f64,
}

impl Offset {
    /// The samples without the offset of all so far, where that is louder than all else; nearly always they stay as they are.
    pub(super) fn removed<'a>(&mut self, samples: &'a [i16]) -> Cow<'a, [i16]> {
        self.count += samples.len() as f64;
        for sample in samples {
            self.sum += f64::from(*sample);
            self.squares += f64::from(*sample) * f64::from(*sample);
        }
        let mean = self.sum / self.count;
        if self.count < SAMPLES_MIN || mean * mean < self.squares / self.count / 2.0 {
            return Cow::Borrowed(samples);
        }
        let mean = mean.round() as i16;
        let without = samples.iter().map(|sample| sample.saturating_sub(mean));
        Cow::Owned(without.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_offset_louder_than_the_sound_is_taken_off() {
        let hum = |offset: i16| -> Vec<i16> {
            let wave = (0..8_000).map(|i| (f64::from(i) * 0.1).sin() * 1_000.0);
            wave.map(|x| x.round() as i16 + offset).collect()
        };
        let is_near = |removed: &[i16]| {
            let pairs = removed.iter().zip(hum(0));
            pairs.into_iter().all(|(a, b)| (a - b).abs() < 10)
        };
        for offset in [1_000, -5_000, 20_000] {
            assert!(
                is_near(&Offset::default().removed(&hum(offset))),
                "{offset}"
            );
        }
        for offset in [0, 3, -500] {
            let kept = hum(offset);
            assert!(
                matches!(Offset::default().removed(&kept), Cow::Borrowed(_)),
                "{offset}"
            );
        }
    }

    #[test]
    fn a_moment_says_nothing_of_an_offset() {
        let mut offset = Offset::default();
        assert!(matches!(offset.removed(&[900; 3_999]), Cow::Borrowed(_)));
        assert_eq!(offset.removed(&[900; 10]), vec![0; 10]);
        assert!(matches!(Offset::default().removed(&[]), Cow::Borrowed(_)));
    }
}
