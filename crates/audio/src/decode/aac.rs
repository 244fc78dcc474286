//! HE-AAC is AAC-LC at half the rate plus a description of the upper band. Speech needs only the first, but Symphonia refuses
//! a stream whose configuration announces the second, so the announcement is taken out.

const LC: u32 = 2;
const SBR: u32 = 5;
const PARAMETRIC_STEREO: u32 = 29;
/// The rate index that means a rate written out, which nobody uses for these.
const RATE_ESCAPE: u32 = 15;

/// The configuration of the AAC-LC core; `None` where the stream is something else or is described at length.
pub(super) fn core_config(config: &[u8]) -> Option<[u8; 2]> {
    let mut bits = Bits {
        bytes: config,
        place: 0,
    };
    let object = bits.take(5)?;
    let rate = bits.take(4)?;
    let channels = bits.take(4)?;
    if matches!(object, SBR | PARAMETRIC_STEREO)
        && (bits.take(4)? == RATE_ESCAPE || bits.take(5)? != LC)
    {
        return None;
    }
    if !matches!(object, LC | SBR | PARAMETRIC_STEREO) || rate == RATE_ESCAPE || channels == 0 {
        return None;
    }
    let frame_flags = bits.take(3)?;
    Some(((LC << 11 | rate << 7 | channels << 3 | frame_flags) as u16).to_be_bytes())
}

struct Bits<'a> {
    bytes: &'a [u8],
    place: usize,
}

impl Bits<'_> {
    fn take(&mut self, count: usize) -> Option<u32> {
        let mut value = 0;
        for _ in 0..count {
            let byte = self.bytes.get(self.place / 8)?;
            value = value << 1 | u32::from(byte >> (7 - self.place % 8) & 1);
            self.place += 1;
        }
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_core_of_high_efficiency_streams_is_found() {
        // 44.1 kHz stereo over a 22.05 kHz core.
        assert_eq!(core_config(&[0x2b, 0x92, 0x08, 0x00]), Some([0x13, 0x90]));
        // The same announced behind an ordinary configuration.
        assert_eq!(
            core_config(&[0x13, 0x90, 0x56, 0xe5, 0xa0]),
            Some([0x13, 0x90])
        );
        // Parametric stereo over a mono core.
        assert_eq!(core_config(&[0xeb, 0x8a, 0x08, 0x00]), Some([0x13, 0x88]));
        // Plain AAC-LC stays as it is.
        assert_eq!(core_config(&[0x12, 0x10]), Some([0x12, 0x10]));
    }

    #[test]
    fn other_and_damaged_configurations_are_left_alone() {
        for config in [
            &[][..],
            &[0x12],
            &[0x2b, 0x92],
            &[0x0a, 0x10],
            &[0x17, 0x80, 0, 0, 0],
            &[0x12, 0x00],
        ] {
            assert_eq!(core_config(config), None, "{config:x?}");
        }
    }
}
