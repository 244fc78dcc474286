//! A caller's own words and sentences as a small model beside the large ones: which word is likely after which, and words
//! that no other model knows. It is mixed in at every word with a weight that sentences kept aside have chosen.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

use super::lm::letters::symbol;
use super::prompt::prompt_names;
use sauti_text::compare::comparable;

/// Stands for every word that is not in the vocabulary.
const OTHER: u32 = 0;
const START: u32 = 1;
const FIRST_WORD: u32 = 2;
/// Of the tree of letters.
pub(super) const ROOT: u32 = 0;
/// Taken from every count and given to words not seen in that place (absolute discounting).
const DISCOUNT: f32 = 0.6;
/// As if so many other words had been said: two words of one's own are not half of all that is said.
const OTHER_WORDS: f32 = 200.0;
pub(super) const WEIGHT_GUESSED: f32 = 0.3;
pub(super) const WEIGHT_MIN: f32 = 0.05;
pub(super) const WEIGHT_MAX: f32 = 0.7;

/// What a vocabulary is made of.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct VocabularySource {
    /// Sentences as they are said or written, about what will be heard.
    #[serde(default)]
    pub text: String,
    #[serde(default)]
    pub words: Vec<VocabularyWord>,
}

/// A word or a name of several, and how it sounds, spelled as Swahili would; by its own spelling where nothing is said.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct VocabularyWord {
    pub word: String,
    #[serde(default)]
    pub sounds: Vec<String>,
}

impl VocabularyWord {
    /// The ways it is said, each in words; those without a letter are left out.
    pub fn spoken(&self) -> Vec<Vec<String>> {
        let own = [self.word.clone()];
        let sounds = if self.sounds.is_empty() {
            &own[..]
        } else {
            &self.sounds
        };
        let spoken = sounds.iter().map(|sound| words_of(sound));
        spoken.filter(|words| !words.is_empty()).collect()
    }
}

impl VocabularySource {
    /// Plain text: a line is a sentence, or a word, a tab and how it sounds.
    pub fn from_lines(text: &str) -> Self {
        let mut source = Self::default();
        for line in text.lines() {
            match line.split_once('\t') {
                Some((word, sounds)) => source.words.push(VocabularyWord {
                    word: word.trim().to_owned(),
                    sounds: sounds.split('\t').map(str::to_owned).collect(),
                }),
                None => {
                    source.text.push_str(line);
                    source.text.push('\n');
                }
            }
        }
        source
    }

    /// How many different words it has, as they are heard.
    pub fn word_count(&self) -> usize {
        let listed = self.words.iter().flat_map(VocabularyWord::spoken).flatten();
        let written = self.sentences().into_iter().flatten();
        listed.chain(written).collect::<HashSet<String>>().len()
    }

    /// The sentences of the text in words as they are heard.
    pub(super) fn sentences(&self) -> Vec<Vec<String>> {
        let named: Vec<(Vec<String>, Vec<String>)> = self
            .words
            .iter()
            .filter(|word| !word.sounds.is_empty())
            .filter_map(|word| Some((words_of(&word.word), word.spoken().into_iter().next()?)))
            .filter(|(written, _)| !written.is_empty())
            .collect();
        let sentences = lines(&self.text).map(|line| as_heard(words_of(line), &named));
        sentences.filter(|words| !words.is_empty()).collect()
    }
}

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .flat_map(|line| line.split_inclusive(['.', '?', '!']))
}

fn words_of(text: &str) -> Vec<String> {
    let comparable = comparable(text);
    let words = comparable.split_whitespace();
    let letters = |word: &&str| word.bytes().all(|letter| symbol(letter).is_some());
    words.filter(letters).map(str::to_owned).collect()
}

/// Names that are said otherwise than they are written, as they are said.
fn as_heard(words: Vec<String>, named: &[(Vec<String>, Vec<String>)]) -> Vec<String> {
    if named.is_empty() {
        return words;
    }
    let mut out = Vec::with_capacity(words.len());
    let mut rest = &words[..];
    while let Some((word, after)) = rest.split_first() {
        match named.iter().find(|(written, _)| rest.starts_with(written)) {
            Some((written, said)) => {
                out.extend_from_slice(said);
                rest = &rest[written.len()..];
            }
            None => {
                out.push(word.clone());
                rest = after;
            }
        }
    }
    out
}

#[derive(Debug, Clone, Copy, Default)]
struct Following {
    total: u32,
    kinds: u32,
}

/// A letter of the vocabulary's words, as a tree.
#[derive(Debug, Default)]
struct TreeNode {
    children: Vec<(u8, u32)>,
    word: Option<u32>,
    /// ln p of the likeliest word below.
    best: f32,
}

/// The two words before, the nearest last.
pub(super) type VocabularyState = [u32; 2];

#[derive(Debug)]
pub struct VocabularyModel {
    nodes: Vec<TreeNode>,
    /// By the two words before and the word; fewer before are [`OTHER`].
    counts: HashMap<[u32; 3], u32>,
    following: HashMap<VocabularyState, Following>,
    words: u32,
    weight: f32,
    /// Words as they are heard, and as the caller writes them.
    spellings: Vec<(Vec<String>, String)>,
}

impl VocabularyModel {
    /// `weight`: the share of this model at every word; see [`Recogniser::fit_vocabulary`].
    pub fn new(source: &VocabularySource, weight: f32) -> Self {
        let mut vocabulary = Self::of(source, &source.sentences());
        vocabulary.weight = weight.clamp(WEIGHT_MIN, WEIGHT_MAX);
        vocabulary
    }

    pub(super) fn of(source: &VocabularySource, sentences: &[Vec<String>]) -> Self {
        let mut vocabulary = Self {
            nodes: vec![TreeNode::default()],
            counts: HashMap::new(),
            following: HashMap::new(),
            words: FIRST_WORD,
            weight: WEIGHT_GUESSED,
            spellings: spellings(source),
        };
        for words in sentences {
            vocabulary.count([OTHER, START], words);
        }
        for words in source.words.iter().flat_map(VocabularyWord::spoken) {
            vocabulary.count([OTHER, OTHER], &words);
        }
        vocabulary.look_ahead();
        vocabulary
    }

    fn count(&mut self, mut state: VocabularyState, words: &[String]) {
        for word in words {
            let word = self.add_word(word);
            for before in shorter(state) {
                let count = self.counts.entry([before[0], before[1], word]).or_default();
                let following = self.following.entry(before).or_default();
                following.kinds += u32::from(*count == 0);
                following.total += 1;
                *count += 1;
            }
            state = [state[1], word];
        }
    }

    fn add_word(&mut self, word: &str) -> u32 {
        let mut at = ROOT as usize;
        for symbol in word.bytes().filter_map(symbol) {
            at = match self.child(at as u32, symbol) {
                Some(child) => child as usize,
                None => {
                    self.nodes.push(TreeNode::default());
                    let child = self.nodes.len() as u32 - 1;
                    self.nodes[at].children.push((symbol as u8, child));
                    child as usize
                }
            };
        }
        let words = &mut self.words;
        *self.nodes[at].word.get_or_insert_with(|| {
            *words += 1;
            *words - 1
        })
    }

    /// Children stand behind their parents: from the end, each is ready before its parent asks.
    fn look_ahead(&mut self) {
        for at in (0..self.nodes.len()).rev() {
            let own = self.nodes[at]
                .word
                .map(|word| self.p([OTHER, OTHER], word).ln());
            let below = self.nodes[at].children.iter();
            let below = below.map(|(_, child)| self.nodes[*child as usize].best);
            self.nodes[at].best = below.chain(own).fold(f32::NEG_INFINITY, f32::max);
        }
    }

    /// Where these letters lead.
    pub(super) fn find(&self, letters: &str) -> Option<u32> {
        let mut symbols = letters.bytes().filter_map(symbol);
        symbols.try_fold(ROOT, |node, symbol| self.child(node, symbol))
    }

    pub(super) fn child(&self, node: u32, symbol: usize) -> Option<u32> {
        let children = &self.nodes[node as usize].children;
        let found = children.iter().find(|(own, _)| usize::from(*own) == symbol);
        found.map(|(_, child)| *child)
    }

    /// ln p of the best word that begins so, with this model's share.
    pub(super) fn best_below(&self, node: u32) -> f32 {
        self.weight.ln() + self.nodes[node as usize].best
    }

    /// ln of what is left for the other models.
    pub(super) fn others_log_p(&self) -> f32 {
        (1.0 - self.weight).ln()
    }

    pub(super) const fn start() -> VocabularyState {
        [OTHER, START]
    }

    /// ln p of the word that ends at this node, with this model's share, and the state after it; `None` where it knows no such word.
    pub(super) fn word_end(
        &self,
        state: VocabularyState,
        node: Option<u32>,
    ) -> (Option<f32>, VocabularyState) {
        let word = node.and_then(|node| self.nodes[node as usize].word);
        let log_p = word.map(|word| (self.weight * self.p(state, word)).ln());
        (log_p, [state[1], word.unwrap_or(OTHER)])
    }

    fn p(&self, state: VocabularyState, word: u32) -> f32 {
        let mut p = 0.0;
        for before in shorter(state).into_iter().rev() {
            let Some(following) = self.following.get(&before) else {
                continue;
            };
            let count = self.counts.get(&[before[0], before[1], word]);
            let (count, total) = (
                count.map_or(0.0, |count| *count as f32),
                following.total as f32,
            );
            p = match before {
                [OTHER, OTHER] => count / (total + OTHER_WORDS),
                _ => {
                    let spare = DISCOUNT * following.kinds as f32 / total;
                    (count - DISCOUNT).max(0.0) / total + spare * p
                }
            };
        }
        p
    }

    pub(super) fn spellings(&self) -> &[(Vec<String>, String)] {
        &self.spellings
    }
}

/// What stands before a word, from all that is known of it to nothing.
fn shorter(state: VocabularyState) -> Vec<VocabularyState> {
    let mut all = vec![state, [OTHER, state[1]], [OTHER, OTHER]];
    if state[1] == OTHER {
        all.remove(0);
    }
    all.dedup();
    all
}

/// Words whose writing is not how they are heard: those listed, and names by their capitals.
fn spellings(source: &VocabularySource) -> Vec<(Vec<String>, String)> {
    let listed = source.words.iter().flat_map(|word| {
        let spoken = word.spoken().into_iter();
        spoken.map(|said| (said, word.word.trim().to_owned()))
    });
    let pieces = source.text.split_whitespace();
    let plain: HashSet<&str> = pieces
        .map(|piece| piece.trim_matches(|c: char| !c.is_alphanumeric()))
        .filter(|piece| !piece.starts_with(char::is_uppercase))
        .collect();
    let names = lines(&source.text).flat_map(prompt_names);
    let names = names.filter(|name| !plain.contains(name.to_lowercase().as_str()));
    let names = names.map(|name| (words_of(&name), name));
    let mut known = HashSet::new();
    let all = listed.chain(names).filter(|(said, written)| {
        !said.is_empty() && said.join(" ") != *written && known.insert(said.clone())
    });
    all.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(text: &str, words: &[(&str, &[&str])]) -> VocabularySource {
        VocabularySource {
            text: text.to_owned(),
            words: words
                .iter()
                .map(|(word, sounds)| VocabularyWord {
                    word: (*word).to_owned(),
                    sounds: sounds.iter().map(|sound| (*sound).to_owned()).collect(),
                })
                .collect(),
        }
    }

    fn log_p(vocabulary: &VocabularyModel, text: &str) -> Option<f32> {
        let mut state = VocabularyModel::start();
        let mut last = None;
        for word in text.split(' ') {
            (last, state) = vocabulary.word_end(state, vocabulary.find(word));
        }
        last
    }

    #[test]
    fn what_was_said_before_makes_the_next_word_likelier() {
        let text = "Lipa kwa Fuliza leo.\nLipa kwa Fuliza kesho.\nTuma kwa benki.";
        let vocabulary = VocabularyModel::new(&source(text, &[]), 0.5);
        let after = |text| log_p(&vocabulary, text).unwrap();
        assert!(after("lipa kwa fuliza") > after("tuma fuliza"));
        assert!(after("lipa kwa fuliza") > after("lipa kwa benki"));
        assert_eq!(log_p(&vocabulary, "lipa kwa gari"), None);
        assert_eq!(log_p(&vocabulary, "fuli"), None);
    }

    #[test]
    fn probabilities_leave_room_for_other_words() {
        let vocabulary = VocabularyModel::new(&source("moja mbili tatu\nmoja tatu", &[]), 0.5);
        for before in [[OTHER, START], [OTHER, OTHER], [OTHER, 2], [2, 3]] {
            let all: f32 = (FIRST_WORD..vocabulary.words)
                .map(|word| vocabulary.p(before, word))
                .sum();
            assert!(all > 0.0 && all < 1.0, "{before:?} {all}");
        }
    }

    #[test]
    fn names_are_heard_as_they_sound_and_written_as_they_are() {
        let source = source("Tuma M-Pesa kwa Wanjiku sasa.", &[("M-Pesa", &["em pesa"])]);
        assert_eq!(
            source.sentences(),
            [["tuma", "em", "pesa", "kwa", "wanjiku", "sasa"]]
        );
        let vocabulary = VocabularyModel::new(&source, 0.5);
        let pair = |said: &str, written: &str| (words_of(said), written.to_owned());
        assert_eq!(
            vocabulary.spellings(),
            [
                pair("em pesa", "M-Pesa"),
                pair("m pesa", "M-Pesa"),
                pair("wanjiku", "Wanjiku")
            ]
        );
        assert_eq!(source.word_count(), 6);
    }

    #[test]
    fn a_line_with_a_tab_is_a_word_and_its_sounds() {
        let read = VocabularySource::from_lines("Lipa sasa.\nM-Pesa\tem pesa\nKesho.");
        assert_eq!(
            read,
            source("Lipa sasa.\nKesho.\n", &[("M-Pesa", &["em pesa"])])
        );
    }

    #[test]
    fn a_word_without_letters_is_no_word() {
        assert_eq!(source("?! ...", &[("--", &[])]).word_count(), 0);
        assert_eq!(source("", &[("Zuchu", &["!"])]).word_count(), 0);
    }
}
