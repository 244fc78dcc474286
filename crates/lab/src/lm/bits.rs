//! Writes numbers of a fixed width in bits, one after another.

pub struct BitWriter {
    bytes: Vec<u8>,
    bit: usize,
}

impl BitWriter {
    pub fn new() -> Self {
        Self {
            bytes: Vec::new(),
            bit: 0,
        }
    }

    pub fn push(&mut self, value: u64, width: u32) {
        debug_assert!(width <= 57 && value >> width == 0);
        self.bytes
            .resize((self.bit + width as usize).div_ceil(8), 0);
        for offset in 0..width as usize {
            let at = self.bit + offset;
            self.bytes[at / 8] |= ((value >> offset & 1) as u8) << (at % 8);
        }
        self.bit += width as usize;
    }

    /// With room behind, so that a reader may always load eight bytes.
    pub fn finish(mut self) -> Vec<u8> {
        self.bytes.extend([0; 8]);
        self.bytes
    }
}

/// How many bits hold every value up to `max`.
pub fn width_for(max: u64) -> u32 {
    (64 - max.leading_zeros()).max(1)
}

#[cfg(test)]
mod tests {
    use sauti_speech::recogniser::lm::bits::read;

    use super::*;

    #[test]
    fn numbers_of_odd_widths_come_back() {
        let values = [(5, 3), (0, 1), (1023, 10), (123_456, 17), (1, 57), (77, 7)];
        let mut writer = BitWriter::new();
        for (value, width) in values {
            writer.push(value, width);
        }
        let bytes = writer.finish();
        let mut bit = 0;
        for (value, width) in values {
            assert_eq!(read(&bytes, bit, width), value);
            bit += width as usize;
        }
        assert_eq!(read(&bytes, bytes.len() * 8, 9), 0);
    }
}
