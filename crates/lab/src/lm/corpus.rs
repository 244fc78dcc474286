//! Texts as sequences of word numbers.

use std::collections::{HashMap, HashSet};
use std::io::{BufRead, BufReader};
use std::path::Path;

use anyhow::Context;
use sauti_speech::recogniser::lm::{FIRST_WORD, SENTENCE_END, SENTENCE_START, UNKNOWN};
use sauti_text::compare::comparable;

/// One in this many lines is kept out of the estimate, to measure the model with.
const HELD_OUT_EVERY: u64 = 50;

/// The lines of one source, in the form in which speech is compared.
pub struct Lines {
    pub training: Vec<String>,
    pub held_out: Vec<String>,
}

/// Reads a plain text file, a sentence a line; lines in `excluded` are dropped wherever they stand.
pub fn read_lines(path: &Path, excluded: &HashSet<String>) -> anyhow::Result<Lines> {
    let named = || path.display().to_string();
    let file = std::fs::File::open(path).with_context(named)?;
    let (mut training, mut held_out) = (Vec::new(), Vec::new());
    let mut seen = HashSet::new();
    for line in BufReader::new(file).lines() {
        let line = line.with_context(named)?;
        let hash = fnv1a(line.as_bytes());
        let text = comparable(&line);
        if text.is_empty() || excluded.contains(&text) {
            continue;
        }
        if hash.is_multiple_of(HELD_OUT_EVERY) {
            held_out.push(text);
        } else if seen.insert(fnv1a(text.as_bytes())) {
            // A sentence repeated word for word (menus, forms of address) teaches nothing new.
            training.push(text);
        }
    }
    // What stands in both would flatter the figures.
    held_out.retain(|text| !seen.contains(&fnv1a(text.as_bytes())));
    Ok(Lines { training, held_out })
}

/// The last column of a tab-separated file, comparable: sentences that a test will use.
pub fn read_excluded(path: &Path) -> anyhow::Result<HashSet<String>> {
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    Ok(text
        .lines()
        .filter_map(|line| line.rsplit('\t').next())
        .map(comparable)
        .collect())
}

pub fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// The known words in alphabetical order; a word's number is its place plus [`FIRST_WORD`].
pub struct Vocabulary {
    pub words: Vec<String>,
    numbers: HashMap<String, u32>,
}

impl Vocabulary {
    /// `weights` says how much one occurrence counts in each source.
    pub fn choose(sources: &[Lines], weights: &[f64], weight_min: f64) -> (Self, Vec<String>) {
        let mut counts: HashMap<&str, f64> = HashMap::new();
        for (source, weight) in sources.iter().zip(weights) {
            for word in source.training.iter().flat_map(|line| line.split(' ')) {
                *counts.entry(word).or_default() += weight;
            }
        }
        let plausible = |word: &str| word.len() <= 24 && word.bytes().any(|b| b != b'\'');
        let (mut known, mut rare) = (Vec::new(), Vec::new());
        for (word, count) in counts {
            if count >= weight_min && plausible(word) {
                known.push(word.to_owned());
            } else if plausible(word) {
                rare.push(word.to_owned());
            }
        }
        known.sort_unstable();
        rare.sort_unstable();
        let numbers = known
            .iter()
            .zip(FIRST_WORD..)
            .map(|(word, number)| (word.clone(), number))
            .collect();
        let vocabulary = Self {
            words: known,
            numbers,
        };
        (vocabulary, rare)
    }

    pub fn size(&self) -> usize {
        self.words.len() + FIRST_WORD as usize
    }

    pub fn number(&self, word: &str) -> u32 {
        self.numbers.get(word).copied().unwrap_or(UNKNOWN)
    }

    /// Sentences one after another, each between its start and end marks.
    pub fn encode(&self, lines: &[String]) -> Vec<u32> {
        let mut out = Vec::new();
        for line in lines {
            out.push(SENTENCE_START);
            out.extend(line.split(' ').map(|word| self.number(word)));
            out.push(SENTENCE_END);
        }
        out
    }
}
