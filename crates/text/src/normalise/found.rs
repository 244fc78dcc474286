//! Which words of a Swahili text are English: by the dictionary, by what stands beside them, by the prefix before them.

use super::{Piece, PieceKind};
use crate::english::{Sureness, is_prefix, sureness};
use crate::lexicon::is_name;

/// Marks the words among the pieces that are English.
pub(super) fn find(pieces: &mut [Piece]) {
    let words: Vec<usize> = (0..pieces.len())
        .filter(|i| pieces[*i].kind == PieceKind::Word)
        .collect();
    let sureness: Vec<Option<Sureness>> = words
        .iter()
        .map(|i| pieces[*i].text.as_str())
        .map(|word| sureness(word).filter(|_| !is_name(word)))
        .collect();
    let mut english: Vec<bool> = (0..words.len())
        .map(|n| match sureness[n] {
            Some(Sureness::Anywhere) => true,
            Some(Sureness::Beside) => has_prefix_before(pieces, words[n]),
            _ => false,
        })
        .collect();
    let neighbours: Vec<bool> = (1..words.len().max(1))
        .map(|n| is_only_space(&pieces[words[n - 1] + 1..words[n]]))
        .collect();
    let beside = |english: &[bool], n: usize| {
        let left = n > 0 && neighbours[n - 1] && english[n - 1];
        let right = n + 1 < words.len() && neighbours[n] && english[n + 1];
        (left, right)
    };
    // Twice: once from each end, so that a whole row of words is reached.
    let from_both_ends = (0..words.len()).chain((0..words.len()).rev());
    for n in from_both_ends {
        english[n] |= match (sureness[n], beside(&english, n)) {
            (Some(Sureness::Beside), (left, right)) => left || right,
            (Some(Sureness::Among), (left, right)) => left && right,
            _ => false,
        };
    }
    mark_runs(&sureness, &neighbours, &mut english);
    for (n, i) in words.into_iter().enumerate() {
        if english[n] {
            pieces[i].kind = PieceKind::English;
        }
    }
}

/// A row of words that could all be English and mostly are: its small words are English too.
fn mark_runs(sureness: &[Option<Sureness>], neighbours: &[bool], english: &mut [bool]) {
    let could_be = |n: usize| {
        let sure = sureness[n];
        sure.is_some_and(|sure| sure != Sureness::Sentence)
    };
    let mut start = 0;
    for n in 0..sureness.len() {
        let ends = neighbours.get(n) != Some(&true) || !could_be(n + 1);
        if !could_be(n) {
            start = n + 1;
        } else if ends {
            let run = start..n + 1;
            let sure = english[run.clone()].iter().filter(|is| **is).count();
            if sure > 1 && sure * 2 >= run.len() {
                english[run].fill(true);
            }
            start = n + 1;
        }
    }
}

fn is_only_space(between: &[Piece]) -> bool {
    let is_space = |piece: &Piece| piece.kind == PieceKind::Space && !piece.text.contains('\n');
    between.iter().all(is_space)
}

/// "ku-download", "nime-save", "ma-assignment": a Swahili prefix and a hyphen.
fn has_prefix_before(pieces: &[Piece], i: usize) -> bool {
    let Some([.., prefix, hyphen]) = pieces.get(..i) else {
        return false;
    };
    hyphen.text == "-"
        && matches!(prefix.kind, PieceKind::Word | PieceKind::Words)
        && is_prefix(&prefix.text.to_ascii_lowercase())
}
