//! The layout of a packed language model file, shared by the packer and the reader.
//!
//! A header of little-endian 64-bit numbers, five code books of 256 single-precision logarithms,
//! then one section per order, the letter table and the vocabulary tree.

pub const MAGIC: u64 = u64::from_le_bytes(*b"SAUTILM1");
pub const HEADER_FIELDS: usize = 15;
pub const HEADER_LEN: usize = HEADER_FIELDS * 8;
pub const CODES: usize = 256;
pub const BOOKS: usize = 5;
pub const BOOKS_LEN: usize = BOOKS * CODES * 4;
/// ln p, ln back-off, first child.
pub const WORD_LEN: usize = 12;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Entries of orders 1 to 4.
    pub counts: [usize; 4],
    pub word_bits: u32,
    /// Width of the child pointers of orders 2 and 3.
    pub pointer_bits: [u32; 2],
    /// Where the sections of orders 1 to 4, the letters and the vocabulary tree begin.
    pub offsets: [usize; 6],
    pub len: usize,
}

impl Header {
    pub fn bytes(&self) -> Vec<u8> {
        let mut fields = vec![MAGIC];
        fields.extend(self.counts.map(|n| n as u64));
        fields.push(u64::from(self.word_bits));
        fields.extend(self.pointer_bits.map(u64::from));
        fields.extend(self.offsets.map(|n| n as u64));
        fields.push(self.len as u64);
        fields
            .iter()
            .flat_map(|field| field.to_le_bytes())
            .collect()
    }

    /// `None` unless every section lies inside a file of `len` bytes.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let fields: Vec<u64> = bytes
            .get(..HEADER_LEN)?
            .chunks_exact(8)
            .filter_map(|b| b.try_into().ok().map(u64::from_le_bytes))
            .collect();
        let small = |i: usize| u32::try_from(fields[i]).ok().filter(|bits| *bits <= 32);
        let place = |i: usize| usize::try_from(fields[i]).ok();
        let header = Self {
            counts: [place(1)?, place(2)?, place(3)?, place(4)?],
            word_bits: small(5)?,
            pointer_bits: [small(6)?, small(7)?],
            offsets: [
                place(8)?,
                place(9)?,
                place(10)?,
                place(11)?,
                place(12)?,
                place(13)?,
            ],
            len: place(14)?,
        };
        let sound = fields[0] == MAGIC
            && header.len == bytes.len()
            && header.counts.iter().all(|count| *count < 1 << 31)
            && header.offsets.is_sorted()
            && header.offsets[0] >= HEADER_LEN + BOOKS_LEN
            && header.offsets[5] <= header.len
            && header.section_bits(0) == (header.counts[0] + 1) * WORD_LEN * 8
            && (0..4).all(|i| {
                header.offsets[i] + header.section_bits(i).div_ceil(8) <= header.offsets[i + 1]
            });
        sound.then_some(header)
    }

    pub fn entry_bits(&self, order_index: usize) -> u32 {
        match order_index {
            0 => WORD_LEN as u32 * 8,
            3 => self.word_bits + 8,
            i => self.word_bits + 16 + self.pointer_bits[i - 1],
        }
    }

    /// Orders below the highest have one entry more, which closes the last one's children.
    fn section_bits(&self, order_index: usize) -> usize {
        let entries = self.counts[order_index] + usize::from(order_index < 3);
        entries * self.entry_bits(order_index) as usize
    }
}
