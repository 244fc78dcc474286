//! ITU-T G.711: the two 8-bit companding laws of the telephone network, on 16-bit samples.

const ULAW_BIAS: i32 = 0x84;
const ULAW_CLIP: i32 = 32_635;

pub fn ulaw_from_linear(sample: i16) -> u8 {
    let sign = if sample < 0 { 0x80 } else { 0 };
    let magnitude = i32::from(sample).abs().min(ULAW_CLIP) + ULAW_BIAS;
    // The bias makes bit 7 the lowest possible leading bit, so the segment is 0 to 7.
    let segment = (31 - magnitude.leading_zeros()) - 7;
    let mantissa = (magnitude >> (segment + 3)) & 0x0f;
    !(sign | (segment as u8) << 4 | mantissa as u8)
}

pub fn linear_from_ulaw(code: u8) -> i16 {
    let code = !code;
    let segment = (code >> 4) & 0x07;
    let mantissa = i32::from(code & 0x0f);
    let magnitude = (((mantissa << 3) + ULAW_BIAS) << segment) - ULAW_BIAS;
    (if code & 0x80 != 0 {
        -magnitude
    } else {
        magnitude
    }) as i16
}

pub fn alaw_from_linear(sample: i16) -> u8 {
    // A-law has 13 bits; a negative value is coded by its ones' complement, so -1 and 0 are mirror images.
    let value = i32::from(sample) >> 3;
    let (sign, magnitude) = if value >= 0 {
        (0x80, value)
    } else {
        (0, !value)
    };
    let code = if magnitude < 32 {
        (magnitude >> 1) as u8
    } else {
        let segment = (31 - (magnitude as u32).leading_zeros()) - 4;
        (segment as u8) << 4 | ((magnitude >> segment) & 0x0f) as u8
    };
    (code | sign) ^ 0x55
}

pub fn linear_from_alaw(code: u8) -> i16 {
    let code = code ^ 0x55;
    let segment = (code >> 4) & 0x07;
    let mantissa = i32::from(code & 0x0f) << 4;
    let magnitude = match segment {
        0 => mantissa + 8,
        _ => (mantissa + 0x108) << (segment - 1),
    };
    (if code & 0x80 != 0 {
        magnitude
    } else {
        -magnitude
    }) as i16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_survives_a_round_trip() {
        for code in 0..=255u8 {
            let ulaw = linear_from_ulaw(code);
            // 0x7f is minus zero: it decodes to the same zero as 0xff.
            if code != 0x7f {
                assert_eq!(ulaw_from_linear(ulaw), code, "mu-law {code:#x} -> {ulaw}");
            }
            let alaw = linear_from_alaw(code);
            assert_eq!(alaw_from_linear(alaw), code, "A-law {code:#x} -> {alaw}");
        }
    }

    #[test]
    fn values_of_the_standard_are_met() {
        assert_eq!(linear_from_ulaw(0x00), -32_124);
        assert_eq!(linear_from_ulaw(0x80), 32_124);
        assert_eq!(linear_from_ulaw(0xff), 0);
        assert_eq!(linear_from_alaw(0xaa), 32_256);
        assert_eq!(linear_from_alaw(0x2a), -32_256);
        assert_eq!(linear_from_alaw(0xd5), 8);
        assert_eq!(ulaw_from_linear(i16::MIN), 0x00);
        assert_eq!(alaw_from_linear(i16::MIN), 0x2a);
    }

    #[test]
    fn the_error_stays_under_half_a_step_of_the_segment() {
        for sample in i16::MIN..=i16::MAX {
            let magnitude = i32::from(sample).abs();
            let step_max = (magnitude / 16).max(16);
            for decoded in [
                linear_from_ulaw(ulaw_from_linear(sample)),
                linear_from_alaw(alaw_from_linear(sample)),
            ] {
                let error = (i32::from(decoded) - i32::from(sample)).abs();
                assert!(error <= step_max, "{sample} -> {decoded}");
            }
        }
    }
}
