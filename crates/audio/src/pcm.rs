//! Between floating-point samples in [-1, 1] and 16-bit integers.

/// Rounds and clamps; a value that is not a number is silence, so nothing ever wraps.
pub fn i16_from_f32(sample: f32) -> i16 {
    // `as` saturates and maps NaN to zero.
    (sample * 32_768.0).round_ties_even() as i16
}

pub fn f32_from_i16(sample: i16) -> f32 {
    f32::from(sample) / 32_768.0
}

pub(crate) fn le_bytes(samples: impl Iterator<Item = i16>, out: &mut Vec<u8>) {
    for sample in samples {
        out.extend_from_slice(&sample.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loud_and_broken_samples_clamp_instead_of_wrapping() {
        assert_eq!(i16_from_f32(1.0), i16::MAX);
        assert_eq!(i16_from_f32(7.5), i16::MAX);
        assert_eq!(i16_from_f32(-7.5), i16::MIN);
        assert_eq!(i16_from_f32(f32::NAN), 0);
        assert_eq!(i16_from_f32(f32::INFINITY), i16::MAX);
    }

    #[test]
    fn every_integer_survives_the_float() {
        for sample in i16::MIN..=i16::MAX {
            assert_eq!(i16_from_f32(f32_from_i16(sample)), sample);
        }
    }
}
