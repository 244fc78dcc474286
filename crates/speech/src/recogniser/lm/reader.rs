//! Reads a packed language model where it lies: nothing is unpacked, pages come in as they are used.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use super::format::{CODES, HEADER_LEN, Header, WORD_LEN};
use super::letters::TABLE_LEN;
use super::{LetterModel, LexiconView, SENTENCE_START, bits};

const NONE: u32 = u32::MAX;

/// The words before, as far as the model remembers them: positions in the orders 1, 2 and 3.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LmState([u32; 3]);

/// A language model in memory. Clones share it.
#[derive(Clone)]
pub struct Lm {
    bytes: Bytes,
    header: Header,
    books: Arc<[f32]>,
}

/// A part of a file, or all of it.
#[derive(Clone)]
pub(super) struct Bytes {
    file: File,
    range: Range<usize>,
}

#[derive(Clone)]
enum File {
    Mapped(Arc<memmap2::Mmap>),
    Owned(Arc<[u8]>),
}

impl Bytes {
    pub(super) fn map(path: &Path) -> std::io::Result<Self> {
        let file = std::fs::File::open(path)?;
        // SAFETY: model files are replaced by renaming, never changed in place; a truncated file
        // is refused by its header before anything else is read.
        #[expect(unsafe_code)]
        let map = unsafe { memmap2::Mmap::map(&file) }?;
        Ok(Self {
            range: 0..map.len(),
            file: File::Mapped(Arc::new(map)),
        })
    }

    pub(super) fn owned(bytes: Vec<u8>) -> Self {
        Self {
            range: 0..bytes.len(),
            file: File::Owned(bytes.into()),
        }
    }

    /// `None` where the part does not lie inside.
    pub(super) fn part(&self, from: usize, len: usize) -> Option<Self> {
        let start = self.range.start.checked_add(from)?;
        let end = start.checked_add(len)?;
        (end <= self.range.end).then(|| Self {
            file: self.file.clone(),
            range: start..end,
        })
    }

    pub(super) fn get(&self) -> &[u8] {
        let all: &[u8] = match &self.file {
            File::Mapped(map) => map,
            File::Owned(bytes) => bytes,
        };
        &all[self.range.clone()]
    }
}

impl std::fmt::Debug for Lm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lm").field("header", &self.header).finish()
    }
}

impl Lm {
    pub(super) fn new(bytes: Bytes) -> Option<Self> {
        let header = Header::parse(bytes.get())?;
        let books = bytes.get()[HEADER_LEN..header.offsets[0]]
            .chunks_exact(4)
            .filter_map(|b| b.try_into().ok().map(f32::from_le_bytes))
            .collect();
        Some(Self {
            bytes,
            header,
            books,
        })
    }

    pub fn bytes(&self) -> &[u8] {
        self.bytes.get()
    }

    /// Entries of each order.
    pub fn counts(&self) -> [usize; 4] {
        self.header.counts
    }

    pub fn letters(&self) -> LetterModel<'_> {
        let from = self.header.offsets[4];
        let table = self.bytes.get().get(from..from + TABLE_LEN);
        LetterModel {
            table: table.unwrap_or_default(),
        }
    }

    pub fn lexicon(&self) -> LexiconView<'_> {
        LexiconView {
            nodes: &self.bytes.get()[self.header.offsets[5]..],
        }
    }

    /// ln p(word), whatever stands before it.
    pub fn word_log_p(&self, word: u32) -> f32 {
        self.word_field(word, 0).map_or(-20.0, f32::from_le_bytes)
    }

    /// Before the first word of a sentence.
    pub fn start(&self) -> LmState {
        LmState([SENTENCE_START, NONE, NONE])
    }

    /// ln p(word | state), and the state after the word.
    pub fn score(&self, state: LmState, word: u32) -> (f32, LmState) {
        let [one, two, three] = state.0;
        let found = [
            self.child(0, one, word),
            self.child(1, two, word),
            self.child(2, three, word),
        ];
        let next = LmState([word, found[0], found[1]]);
        let mut backoff = 0.0;
        for order in (1..=3).rev() {
            if found[order - 1] != NONE {
                return (backoff + self.log_p(order, found[order - 1]), next);
            }
            backoff += self.log_backoff(order - 1, state.0[order - 1]);
        }
        (backoff + self.word_log_p(word), next)
    }

    fn word_field(&self, word: u32, offset: usize) -> Option<[u8; 4]> {
        if word as usize > self.header.counts[0] {
            return None;
        }
        let at = self.header.offsets[0] + word as usize * WORD_LEN + offset;
        self.bytes.get().get(at..at + 4)?.try_into().ok()
    }

    #[inline]
    fn field(&self, order: usize, index: u32, shift: u32, width: u32) -> u64 {
        let section = &self.bytes.get()[self.header.offsets[order]..];
        let bit = index as usize * self.header.entry_bits(order) as usize + shift as usize;
        bits::read(section, bit, width)
    }

    fn log_p(&self, order: usize, index: u32) -> f32 {
        let code = self.field(order, index, self.header.word_bits, 8) as usize;
        self.books[(order - 1) * CODES + code]
    }

    /// `order` 0 to 2: of a single word, a pair, a triple.
    fn log_backoff(&self, order: usize, index: u32) -> f32 {
        if index == NONE {
            return 0.0;
        }
        if order == 0 {
            return self.word_field(index, 4).map_or(0.0, f32::from_le_bytes);
        }
        let code = self.field(order, index, self.header.word_bits + 8, 8) as usize;
        self.books[(order + 2) * CODES + code]
    }

    fn first_child(&self, order: usize, index: u32) -> u32 {
        if order == 0 {
            return self.word_field(index, 8).map_or(0, u32::from_le_bytes);
        }
        let shift = self.header.word_bits + 16;
        self.field(order, index, shift, self.header.pointer_bits[order - 1]) as u32
    }

    /// The n-gram of `order` words at `index` continued by `word`.
    fn child(&self, order: usize, index: u32, word: u32) -> u32 {
        if index == NONE {
            return NONE;
        }
        let mut from = self.first_child(order, index);
        let end = self.first_child(order, index + 1);
        let mut to = end;
        while from < to {
            let middle = from + (to - from) / 2;
            if self.field(order + 1, middle, 0, self.header.word_bits) < u64::from(word) {
                from = middle + 1;
            } else {
                to = middle;
            }
        }
        let here =
            from < end && self.field(order + 1, from, 0, self.header.word_bits) == u64::from(word);
        if here { from } else { NONE }
    }
}
