//! The vocabulary as a tree of letters, each node with the best word below it: the beam search
//! looks ahead with it while a word is still unfinished.

use super::FIRST_WORD;
use super::letters::symbol;

pub const LEXICON_ROOT: u32 = 0;
/// Nats per step of the packed best score.
const STEP: f32 = 0.1;

const CHILD_BITS: u32 = 25;
const WORD_BITS: u32 = 25;
const LETTER_BITS: u32 = 5;

/// One node in eight bytes: first child, letter, word number (0: none), best score below.
fn pack(first_child: u32, letter: usize, word: u32, best: u8) -> u64 {
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

/// Packs sorted words, the first numbered [`FIRST_WORD`].
pub fn build(words: &[String], log_p: &[f32]) -> Vec<u8> {
    struct Open {
        from: usize,
        to: usize,
        depth: usize,
        letter: usize,
    }
    let mut queue = std::collections::VecDeque::from([Open {
        from: 0,
        to: words.len(),
        depth: 0,
        letter: 0,
    }]);
    let mut nodes = Vec::new();
    let mut next_child = 1u32;
    while let Some(open) = queue.pop_front() {
        let range = &words[open.from..open.to];
        let ends_here = range.first().is_some_and(|word| word.len() == open.depth);
        let word = match ends_here {
            true => open.from as u32 + FIRST_WORD,
            false => 0,
        };
        let best = log_p[open.from..open.to]
            .iter()
            .copied()
            .fold(f32::NEG_INFINITY, f32::max);
        let steps = (-best / STEP).round().clamp(0.0, 255.0) as u8;
        nodes.push(pack(next_child, open.letter, word, steps));
        let mut from = open.from + usize::from(ends_here);
        while from < open.to {
            let letter = words[from].as_bytes()[open.depth];
            let same =
                words[from..open.to].partition_point(|word| word.as_bytes()[open.depth] == letter);
            queue.push_back(Open {
                from,
                to: from + same,
                depth: open.depth + 1,
                letter: symbol(letter).unwrap_or(0),
            });
            next_child += 1;
            from += same;
        }
    }
    nodes.push(pack(next_child, 0, 0, 0));
    nodes.iter().flat_map(|node| node.to_le_bytes()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_and_prefixes_know_their_best_word() {
        let words: Vec<String> = ["ba", "baba", "ng'ombe", "ngoma", "zaidi"]
            .map(String::from)
            .to_vec();
        let packed = build(&words, &[-9.0, -3.0, -7.0, -5.0, -2.0]);
        let lexicon = LexiconView { nodes: &packed };
        for (word, number) in words.iter().zip(FIRST_WORD..) {
            assert_eq!(lexicon.find(word), Some(number), "{word}");
        }
        assert_eq!(lexicon.find("bab"), None);
        assert_eq!(lexicon.find("kitu"), None);
        let ng = lexicon.child(LEXICON_ROOT, symbol(b'n').unwrap()).unwrap();
        assert!((lexicon.best_below(ng) + 5.0).abs() < 0.06);
        assert!((lexicon.best_below(LEXICON_ROOT) + 2.0).abs() < 0.06);
    }
}
