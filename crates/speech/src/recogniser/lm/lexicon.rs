//! The vocabulary as a tree of letters, each node with the best word below it: the beam search
//! looks ahead with it while a word is still unfinished.

use super::FIRST_WORD;
use super::letters::symbol;

pub const LEXICON_ROOT: u32 = 0;
/// Nats per step of the packed best score.
pub const STEP: f32 = 0.1;

const CHILD_BITS: u32 = 25;
const WORD_BITS: u32 = 25;
const LETTER_BITS: u32 = 5;

/// One node in eight bytes: first child, letter, word number (0: none), best score below.
pub fn pack_node(first_child: u32, letter: usize, word: u32, best: u8) -> u64 {
    u64::from(first_child)
        | (letter as u64) << CHILD_BITS
        | u64::from(word) << (CHILD_BITS + LETTER_BITS)
        | u64::from(best) << (CHILD_BITS + LETTER_BITS + WORD_BITS)
}

/// Reads the packed nodes. Children of a node lie together; where they end, the next node's begin.
#[derive(Clone, Copy)]
pub struct LexiconView<'a> {
    pub nodes: &'a [u8],
}

impl LexiconView<'_> {
    #[inline]
    fn node(&self, index: u32) -> u64 {
        let at = index as usize * 8;
        let bytes = self.nodes.get(at..at + 8).and_then(|b| b.try_into().ok());
        bytes.map_or(0, u64::from_le_bytes)
    }

    #[inline]
    pub fn child(&self, index: u32, symbol: usize) -> Option<u32> {
        let mask = (1 << CHILD_BITS) - 1;
        let (first, end) = (self.node(index) & mask, self.node(index + 1) & mask);
        (first..end)
            .map(|child| child as u32)
            .find(|&child| self.letter(child) == symbol)
    }

    fn letter(&self, index: u32) -> usize {
        (self.node(index) >> CHILD_BITS) as usize & ((1 << LETTER_BITS) - 1)
    }

    /// The word that ends here.
    #[inline]
    pub fn word(&self, index: u32) -> Option<u32> {
        let word = (self.node(index) >> (CHILD_BITS + LETTER_BITS)) as u32 & ((1 << WORD_BITS) - 1);
        (word >= FIRST_WORD).then_some(word)
    }

    /// ln p of the likeliest word that starts so.
    #[inline]
    pub fn best_below(&self, index: u32) -> f32 {
        -STEP * (self.node(index) >> (CHILD_BITS + LETTER_BITS + WORD_BITS)) as f32
    }

    pub fn find(&self, word: &str) -> Option<u32> {
        let node = word.bytes().try_fold(LEXICON_ROOT, |node, letter| {
            self.child(node, symbol(letter)?)
        })?;
        self.word(node)
    }
}
