//! Numbers of a fixed width in bits, one after another.

/// Up to 57 bits from `bit` on.
#[inline]
pub fn read(bytes: &[u8], bit: usize, width: u32) -> u64 {
    let at = bit / 8;
    let Some(word) = bytes.get(at..at + 8).and_then(|b| b.try_into().ok()) else {
        return 0;
    };
    (u64::from_le_bytes(word) >> (bit % 8)) & ((1 << width) - 1)
}
