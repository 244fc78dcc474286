//! Ranks the best hypotheses of a search again: a small network reads each as a whole and says how likely its words are, where
//! the search's own language models look at a few words at a time.
//!
//! Trained by `training/recogniser/rescorer.py`; how words are split into pieces must be the same there. Hypotheses share most of
//! their words, so their pieces form a tree, and each piece is computed once.

use std::collections::HashMap;
use std::sync::Arc;

use super::beam::Hypothesis;
use crate::SpeechError;
use crate::kernels::linear::Linear;
use crate::kernels::one_thread::keep_to_this_thread;
use crate::kernels::simd::{dot, exponentials, vectorised};
use crate::kernels::transformer::{Layer, LayerBuffers, Norm, linear};
use crate::weights::WeightsFile;

pub(super) const FILE: &str = "rescorer.safetensors";
/// As many hypotheses are looked at.
const HYPOTHESES_MAX: usize = 16;
const HEAD_WIDTH: usize = 64;
const BEGIN: usize = 0;
const END: usize = 1;

/// What the search's language models think of a word.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct KnownWord {
    pub log_p: f32,
    /// The caller named it: it must not lose by what the network thinks.
    pub is_listed: bool,
}

/// Clones share the weights.
#[derive(Clone)]
pub(super) struct Rescorer {
    network: Arc<PieceNetwork>,
}

struct PieceNetwork {
    /// A piece that begins a word begins with a space.
    pieces: HashMap<Vec<u8>, usize>,
    piece_letters_max: usize,
    /// A row of codes for each piece, and its step.
    table: Vec<i8>,
    steps: Vec<f32>,
    /// A row for each place in a sentence; beyond them the last one.
    positions: Vec<f32>,
    layers: Vec<Layer>,
    norm: Norm,
    head: Linear,
}

/// Pieces behind a begin mark; each sees those on its way back to it.
struct PieceTree {
    pieces: Vec<usize>,
    parents: Vec<usize>,
}

impl Rescorer {
    pub(super) fn load(weights: &WeightsFile) -> Result<Self, SpeechError> {
        Ok(Self {
            network: Arc::new(PieceNetwork::load(weights)?),
        })
    }

    /// Adds the network's opinion of the best hypotheses and takes back `known`, each by its weight; best first. The first
    /// one's score stays as it is, so that they remain comparable with those that are not looked at.
    pub(super) fn rank(
        &self,
        hypotheses: &mut [Hypothesis],
        [weight, known_weight]: [f32; 2],
        known: impl FnOnce(&[&str]) -> Vec<Vec<KnownWord>>,
    ) {
        let count = hypotheses.len().min(HYPOTHESES_MAX);
        let best = &mut hypotheses[..count];
        let texts: Vec<&str> = best.iter().map(|one| one.text.as_str()).collect();
        keep_to_this_thread();
        let scores = self.network.word_scores(&texts);
        let gains = known(&texts).into_iter().zip(scores);
        let gains = gains.map(|(known, (words, end))| {
            let words = words.iter().zip(known).map(|(score, known)| {
                let gain = weight * score - known_weight * known.log_p;
                match known.is_listed {
                    true => gain.max(0.0),
                    false => gain,
                }
            });
            weight * end + words.sum::<f32>()
        });
        let gains: Vec<f32> = gains.collect();
        for (hypothesis, gain) in best.iter_mut().zip(&gains) {
            hypothesis.score += gain - gains[0];
        }
        hypotheses.sort_by(|a, b| b.score.total_cmp(&a.score));
    }
}

impl PieceNetwork {
    fn load(weights: &WeightsFile) -> Result<Self, SpeechError> {
        let bad = |what: &str| SpeechError::Model(format!("{FILE}: {what}"));
        let list = weights.codes("pieces")?;
        let list: Vec<u8> = list
            .row(0)
            .iter()
            .map(|code| code.cast_unsigned())
            .collect();
        let list: Vec<&[u8]> = list.split(|byte| *byte == b'\n').collect();
        let positions = weights.table("positions")?;
        let (width, codes) = (positions.columns, weights.codes("head.codes")?);
        let pieces = list.iter().enumerate();
        let pieces: HashMap<Vec<u8>, usize> =
            pieces.map(|(i, piece)| (piece.to_vec(), i)).collect();
        let letters = || (b'a'..=b'z').chain([b'\'']);
        if !letters().all(|a| pieces.contains_key(&[a][..]) && pieces.contains_key(&[b' ', a][..]))
        {
            return Err(bad("some letters are no pieces"));
        }
        if positions.rows == 0 || !width.is_multiple_of(HEAD_WIDTH) || codes.rows != width {
            return Err(bad("the widths do not fit"));
        }
        let count = list.len();
        let layers = 0..weights.count("layers", "norm1.weight");
        Ok(Self {
            piece_letters_max: list.iter().map(|piece| piece.len()).max().unwrap_or(1),
            pieces,
            head: linear(weights, &["head"], width, count)?,
            table: (0..count)
                .flat_map(|piece| (0..width).map(move |i| (piece, i)))
                .map(|(piece, i)| codes.row(i)[piece])
                .collect(),
            steps: weights.vector("head.scale", count)?,
            positions: positions.values,
            layers: layers
                .map(|n| Layer::load(weights, n, width))
                .collect::<Result<_, _>>()?,
            norm: Norm::load(weights, "norm", width)?,
        })
    }

    /// The word as the longest pieces from its beginning on.
    fn split(&self, word: &str) -> Vec<usize> {
        let word = [b" ", word.as_bytes()].concat();
        let (mut rest, mut out) = (&word[..], Vec::new());
        while !rest.is_empty() {
            let longest = rest.len().min(self.piece_letters_max);
            let found = (1..=longest).rev().find_map(|size| {
                let piece = self.pieces.get(&rest[..size])?;
                Some((size, *piece))
            });
            out.extend(found.map(|(_, piece)| piece));
            rest = &rest[found.map_or(1, |(size, _)| size)..];
        }
        out
    }

    /// ln p of each word of each text after those before it, and that the text ends there.
    fn word_scores(&self, texts: &[&str]) -> Vec<(Vec<f32>, f32)> {
        let mut tree = PieceTree::new();
        let mut paths: Vec<(Vec<Vec<usize>>, usize)> = Vec::new();
        for text in texts {
            let mut at = 0;
            let words = text.split_whitespace().map(|word| {
                let pieces = self.split(word).into_iter();
                let nodes = pieces.map(|piece| {
                    at = tree.child(at, piece);
                    at
                });
                nodes.collect()
            });
            let words = words.collect();
            paths.push((words, at));
        }
        let (mut rows, sums) = self.run(&tree);
        let count = self.steps.len();
        let mut log_p = |node: usize, piece: usize| {
            let p = &mut rows[node * count + piece];
            (p.max(f32::MIN_POSITIVE) / sums[node]).ln()
        };
        let mut out = Vec::new();
        for (words, last) in paths {
            let words = words.iter().map(|nodes| {
                let nodes = nodes.iter();
                nodes
                    .map(|node| log_p(tree.parents[*node], tree.pieces[*node]))
                    .sum()
            });
            out.push((words.collect(), log_p(last, END)));
        }
        out
    }

    /// For each piece of the tree, how likely each piece is to follow, and the sum of these.
    fn run(&self, tree: &PieceTree) -> (Vec<f32>, Vec<f32>) {
        let width = self.norm.scale.len();
        let mut x = Vec::with_capacity(tree.pieces.len() * width);
        let ways: Vec<Vec<usize>> = (0..tree.pieces.len())
            .map(|node| tree.way_to(node))
            .collect();
        let places = self.positions.chunks_exact(width).collect::<Vec<_>>();
        for (piece, way) in tree.pieces.iter().zip(&ways) {
            let codes = &self.table[piece * width..][..width];
            let place = places[(way.len() - 1).min(places.len() - 1)];
            let step = self.steps[*piece];
            x.extend(
                codes
                    .iter()
                    .zip(place)
                    .map(|(code, place)| f32::from(*code) * step + place),
            );
        }
        let mut buffers = LayerBuffers::default();
        for layer in &self.layers {
            layer.run(&mut x, &mut buffers, |qkv, out, scores| {
                attend(&ways, width, qkv, out, scores)
            });
        }
        buffers
            .scratch
            .take_normalised(&x, &self.norm.scale, &self.norm.shift);
        let mut rows = Vec::new();
        self.head.apply(&mut buffers.scratch, &mut rows);
        let sums = vectorised(
            #[inline(always)]
            || {
                rows.chunks_exact_mut(self.steps.len())
                    .map(exponentials)
                    .collect()
            },
        );
        (rows, sums)
    }
}

impl PieceTree {
    fn new() -> Self {
        Self {
            pieces: vec![BEGIN],
            parents: vec![0],
        }
    }

    /// The piece behind a node, put there if it is not yet.
    fn child(&mut self, parent: usize, piece: usize) -> usize {
        let is_it = |node: &usize| (self.parents[*node], self.pieces[*node]) == (parent, piece);
        if let Some(node) = (parent + 1..self.pieces.len()).find(is_it) {
            return node;
        }
        self.pieces.push(piece);
        self.parents.push(parent);
        self.pieces.len() - 1
    }

    /// The nodes up to this one, from itself back to the begin mark.
    fn way_to(&self, node: usize) -> Vec<usize> {
        let back = |node: &usize| (*node != 0).then(|| self.parents[*node]);
        std::iter::successors(Some(node), back).collect()
    }
}

/// Each row looks at those on its way, itself included.
fn attend(ways: &[Vec<usize>], width: usize, qkv: &[f32], out: &mut [f32], scores: &mut Vec<f32>) {
    let part = |node: usize, kind: usize, head: usize| {
        &qkv[(3 * node + kind) * width + head * HEAD_WIDTH..][..HEAD_WIDTH]
    };
    vectorised(
        #[inline(always)]
        || {
            for (at, out) in out.chunks_exact_mut(HEAD_WIDTH).enumerate() {
                let (node, head) = (at / (width / HEAD_WIDTH), at % (width / HEAD_WIDTH));
                let query = part(node, 0, head);
                let likeness =
                    |seen: &usize| dot(query, part(*seen, 1, head)) / (HEAD_WIDTH as f32).sqrt();
                scores.clear();
                scores.extend(ways[node].iter().map(likeness));
                let sum = exponentials(scores);
                out.fill(0.0);
                for (seen, score) in ways[node].iter().zip(&*scores) {
                    for (out, value) in out.iter_mut().zip(part(*seen, 2, head)) {
                        *out += value * (score / sum);
                    }
                }
            }
        },
    );
}

#[cfg(test)]
mod tests {
    use std::sync::OnceLock;

    use proptest::prelude::*;
    use serde::Deserialize;

    use super::*;

    fn shipped() -> &'static Rescorer {
        static MODEL: OnceLock<Rescorer> = OnceLock::new();
        MODEL.get_or_init(|| {
            let path = concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/../../models/recogniser/rescorer.safetensors"
            );
            let weights = WeightsFile::parse(FILE, std::fs::read(path).unwrap()).unwrap();
            Rescorer::load(&weights).unwrap()
        })
    }

    fn hypothesis(text: &str, score: f32) -> Hypothesis {
        Hypothesis {
            text: text.to_owned(),
            score,
        }
    }

    fn equally_known(texts: &[&str]) -> Vec<Vec<KnownWord>> {
        let word = KnownWord {
            log_p: -8.0,
            is_listed: false,
        };
        let words = texts.iter().map(|text| text.split_whitespace().count());
        words.map(|count| vec![word; count]).collect()
    }

    #[test]
    fn scores_are_those_of_the_training_side() {
        #[derive(Deserialize)]
        struct Golden {
            text: String,
            pieces: Vec<usize>,
            scores: Vec<f32>,
        }
        let golden = include_str!("../../tests/data/recogniser/rescorer-golden.json");
        let golden: Vec<Golden> = serde_json::from_str(golden).unwrap();
        let network = &shipped().network;
        for golden in &golden {
            let pieces = golden.text.split(' ').flat_map(|word| network.split(word));
            let pieces: Vec<usize> = [BEGIN].into_iter().chain(pieces).chain([END]).collect();
            assert_eq!(pieces, golden.pieces, "{}", golden.text);
            let (words, end) = &network.word_scores(&[&golden.text])[0];
            let mut at = 0;
            for (word, score) in golden.text.split(' ').zip(words) {
                let count = network.split(word).len();
                let wanted: f32 = golden.scores[at..at + count].iter().sum();
                assert!(
                    (score - wanted).abs() < 0.25 * count as f32,
                    "{word}: {score} is not {wanted}"
                );
                at += count;
            }
            assert!((end - golden.scores[at]).abs() < 0.25, "{end}");
        }
    }

    #[test]
    fn together_or_alone_texts_have_the_same_scores() {
        let texts = [
            "habari za leo ndugu",
            "habari za leo",
            "habari sa leo ndugu",
            "",
            "welcome to nairobi",
        ];
        let together = shipped().network.word_scores(&texts);
        for (text, (words, end)) in texts.iter().zip(together) {
            let alone = &shipped().network.word_scores(&[text])[0];
            assert_eq!(words.len(), text.split_whitespace().count());
            for (one, other) in words
                .iter()
                .chain([&end])
                .zip(alone.0.iter().chain([&alone.1]))
            {
                assert!((one - other).abs() < 1e-3, "{text}: {one} and {other}");
            }
        }
    }

    #[test]
    fn the_likelier_sentence_comes_first_unless_the_sound_speaks_against_it() {
        let (odd, likely) = (
            "asante sana kwa kuni shukuru",
            "asante sana kwa kunishukuru",
        );
        let ranked = |lead: f32| {
            let mut both = [hypothesis(odd, lead), hypothesis(likely, 0.0)];
            shipped().rank(&mut both, [0.5, 0.5], equally_known);
            both.map(|one| one.text)
        };
        assert_eq!(ranked(0.0)[0], likely);
        assert_eq!(ranked(1000.0)[0], odd);
    }

    #[test]
    fn a_word_that_the_caller_named_loses_nothing() {
        let lost = |is_listed| {
            let mut both = [
                hypothesis("asante sana", 0.0),
                hypothesis("asante zuchuku", 0.0),
            ];
            let known = |text: &&str| {
                let words = text.split(' ').map(|word| KnownWord {
                    log_p: 0.0,
                    is_listed: is_listed && word == "zuchuku",
                });
                words.collect()
            };
            shipped().rank(&mut both, [1.0, 1.0], |texts| {
                texts.iter().map(known).collect()
            });
            let named = both.iter().find(|one| one.text.contains("zuchuku"));
            -named.unwrap().score
        };
        assert!(lost(true) < lost(false), "{} {}", lost(true), lost(false));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]
        #[test]
        fn ranking_only_changes_scores_and_their_order(
            texts in prop::collection::vec("([a-z']{1,9} ){0,6}", 1..24),
            weight in 0f32..2.0,
        ) {
            let before: Vec<Hypothesis> = texts
                .iter()
                .enumerate()
                .map(|(i, text)| hypothesis(text.trim(), -(i as f32)))
                .collect();
            let mut after = before.clone();
            shipped().rank(&mut after, [weight, weight], equally_known);
            prop_assert!(after.is_sorted_by(|a, b| a.score >= b.score));
            prop_assert!(after.iter().all(|one| one.score.is_finite()));
            // The search's best one is where it was, and so are those that were not looked at.
            prop_assert!(after.contains(&before[0]));
            prop_assert!(before.iter().skip(HYPOTHESES_MAX).all(|one| after.contains(one)));
            let texts = |all: &[Hypothesis]| {
                let mut texts: Vec<String> = all.iter().map(|one| one.text.clone()).collect();
                texts.sort();
                texts
            };
            prop_assert_eq!(texts(&before), texts(&after));
        }

        #[test]
        fn pieces_make_up_the_word(word in "[a-z']{1,30}") {
            let network = &shipped().network;
            let spelled = network.split(&word).into_iter().flat_map(|piece| {
                let found = network.pieces.iter().find(|(_, number)| **number == piece);
                found.unwrap().0.clone()
            });
            prop_assert_eq!(spelled.collect::<Vec<u8>>(), format!(" {word}").into_bytes());
        }
    }
}
