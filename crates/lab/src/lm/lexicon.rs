//! Packs the vocabulary as a tree of letters.

use sauti_speech::recogniser::lm::FIRST_WORD;
use sauti_speech::recogniser::lm::letters::symbol;
use sauti_speech::recogniser::lm::lexicon::{STEP, pack_node};

/// Packs sorted words, the first numbered [`FIRST_WORD`].
pub fn build(words: &[String], log_p: &[f32]) -> Vec<u8> {
    struct OpenNode {
        from: usize,
        to: usize,
        depth: usize,
        letter: usize,
    }
    let mut queue = std::collections::VecDeque::from([OpenNode {
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
        nodes.push(pack_node(next_child, open.letter, word, steps));
        let mut from = open.from + usize::from(ends_here);
        while from < open.to {
            let letter = words[from].as_bytes()[open.depth];
            let same =
                words[from..open.to].partition_point(|word| word.as_bytes()[open.depth] == letter);
            queue.push_back(OpenNode {
                from,
                to: from + same,
                depth: open.depth + 1,
                letter: symbol(letter).unwrap_or(0),
            });
            next_child += 1;
            from += same;
        }
    }
    nodes.push(pack_node(next_child, 0, 0, 0));
    nodes.iter().flat_map(|node| node.to_le_bytes()).collect()
}

#[cfg(test)]
mod tests {
    use sauti_speech::recogniser::lm::{LEXICON_ROOT, LexiconView};

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
