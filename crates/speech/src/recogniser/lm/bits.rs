//! Numbers of a fixed width in bits, one after another.

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

/// Up to 57 bits from `bit` on.
#[inline]
pub fn read(bytes: &[u8], bit: usize, width: u32) -> u64 {
    let at = bit / 8;
    let Some(word) = bytes.get(at..at + 8).and_then(|b| b.try_into().ok()) else {
        return 0;
    };
    (u64::from_le_bytes(word) >> (bit % 8)) & ((1 << width) - 1)
}

/// How many bits hold every value up to `max`.
pub fn width_for(max: u64) -> u32 {
    (64 - max.leading_zeros()).max(1)
}

#[cfg(test)]
mod tests {
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
