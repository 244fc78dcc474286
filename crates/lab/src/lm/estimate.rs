//! Modified Kneser-Ney probabilities of several texts, side by side over the union of their
//! n-grams, and their weighted mixture.

use sauti_speech::recogniser::lm::{ORDER_MAX, SENTENCE_START};

use super::ngrams::{Counted, NgramKey, Ngrams, suffix};

/// One order of the union. Per-source values lie `sources` apart.
pub struct Level {
    pub keys: Vec<NgramKey>,
    /// p(last word | the words before) by source.
    pub by_source: Vec<f32>,
    /// What is left for unseen words after this n-gram as a context, by source.
    pub gamma: Vec<f32>,
    /// Relative frequency in the text, by source; says how much a context matters.
    pub frequency: Vec<f32>,
}

impl Level {
    pub fn find(&self, key: &NgramKey) -> Option<usize> {
        self.keys.binary_search(key).ok()
    }
}

pub struct Union {
    pub levels: Vec<Level>,
    pub sources: usize,
}

impl Union {
    pub fn estimate(texts: &[Ngrams], vocabulary_size: usize) -> Self {
        let mut levels: Vec<Level> = Vec::new();
        for order in 1..=ORDER_MAX {
            let mut level = merge(texts, order, vocabulary_size);
            if order == 1 {
                fill_words(&mut level, texts, vocabulary_size);
            } else {
                let lower = &mut levels[order - 2];
                fill_order(&mut level, lower, texts, order);
            }
            levels.push(level);
        }
        Self {
            levels,
            sources: texts.len(),
        }
    }

    /// p(word | history) in every source; `history` has the nearest word last.
    pub fn probabilities(&self, history: &[u32], word: u32, out: &mut [f64]) {
        let mut gamma = vec![1f64; self.sources];
        for length in (0..=history.len().min(ORDER_MAX - 1)).rev() {
            let context = &history[history.len() - length..];
            let mut key = [0; ORDER_MAX];
            key[..length].copy_from_slice(context);
            key[length] = word;
            if let Some(i) = self.levels[length].find(&key) {
                let row = &self.levels[length].by_source[i * self.sources..][..self.sources];
                for ((out, p), g) in out.iter_mut().zip(row).zip(&gamma) {
                    *out = f64::from(*p) * g;
                }
                return;
            }
            if length > 0 {
                key[length] = 0;
                if let Some(i) = self.levels[length - 1].find(&key) {
                    let row = &self.levels[length - 1].gamma[i * self.sources..][..self.sources];
                    gamma
                        .iter_mut()
                        .zip(row)
                        .for_each(|(g, x)| *g *= f64::from(*x));
                }
            }
        }
        out.fill(1e-9);
    }

    /// The source weights that make the held-out text likeliest (expectation maximisation).
    pub fn fit_weights(&self, held_out: &[u32]) -> Vec<f64> {
        let mut rows = Vec::new();
        for (history, word) in predictions(held_out) {
            let start = rows.len();
            rows.resize(start + self.sources, 0.0);
            self.probabilities(history, word, &mut rows[start..]);
        }
        let mut weights = vec![1.0 / self.sources as f64; self.sources];
        for _ in 0..40 {
            let mut share = vec![0f64; self.sources];
            for row in rows.chunks_exact(self.sources) {
                let total: f64 = row.iter().zip(&weights).map(|(p, w)| p * w).sum();
                for ((share, p), w) in share.iter_mut().zip(row).zip(&weights) {
                    *share += p * w / total.max(1e-30);
                }
            }
            let total: f64 = share.iter().sum();
            weights = share.iter().map(|s| s / total.max(1e-30)).collect();
        }
        weights
    }
}

/// Every word to be predicted, with up to three words before it.
pub fn predictions(corpus: &[u32]) -> impl Iterator<Item = (&[u32], u32)> {
    let mut sentence = 0;
    corpus.iter().enumerate().filter_map(move |(i, &word)| {
        if word == SENTENCE_START {
            sentence = i;
            return None;
        }
        let start = sentence.max(i.saturating_sub(ORDER_MAX - 1));
        Some((&corpus[start..i], word))
    })
}

fn merge(texts: &[Ngrams], order: usize, vocabulary_size: usize) -> Level {
    let mut keys: Vec<NgramKey> = texts
        .iter()
        .flat_map(|text| text.tables[order - 1].iter().map(|entry| entry.key))
        .collect();
    if order == 1 {
        // Every word has its place, so that a word's number is its index.
        keys.extend((0..vocabulary_size as u32).map(|word| [word, 0, 0, 0]));
    }
    keys.sort_unstable();
    keys.dedup();
    let cells = keys.len() * texts.len();
    let mut frequency = vec![0f32; cells];
    for (s, text) in texts.iter().enumerate() {
        for_each_match(&keys, &text.tables[order - 1], |i, entry| {
            frequency[i * texts.len() + s] = (f64::from(entry.raw) / text.tokens) as f32;
        });
    }
    Level {
        keys,
        by_source: vec![0.0; cells],
        gamma: if order < ORDER_MAX {
            vec![1.0; cells]
        } else {
            Vec::new()
        },
        frequency,
    }
}

/// Both are sorted and every key of `table` is in `keys`.
fn for_each_match(keys: &[NgramKey], table: &[Counted], mut visit: impl FnMut(usize, &Counted)) {
    let mut i = 0;
    for entry in table {
        while keys[i] < entry.key {
            i += 1;
        }
        visit(i, entry);
    }
}

fn fill_words(level: &mut Level, texts: &[Ngrams], vocabulary_size: usize) {
    for (s, text) in texts.iter().enumerate() {
        let table = &text.tables[0];
        let (total, left) = discounted(table.iter(), text, 1);
        let uniform = left / vocabulary_size as f64;
        for cell in level.by_source.iter_mut().skip(s).step_by(texts.len()) {
            *cell = uniform as f32;
        }
        for_each_match(&level.keys, table, |i, entry| {
            let direct = match entry.adjusted {
                0 => 0.0,
                count => (f64::from(count) - text.discounts[0].of(count)) / total,
            };
            level.by_source[i * texts.len() + s] = (direct + uniform) as f32;
        });
    }
}

/// The sum of the counts, and the share of it that the discounts free.
fn discounted<'a>(
    entries: impl Iterator<Item = &'a Counted>,
    text: &Ngrams,
    order: usize,
) -> (f64, f64) {
    let (mut total, mut freed) = (0.0, 0.0);
    for entry in entries.filter(|entry| entry.adjusted > 0) {
        total += f64::from(entry.adjusted);
        freed += text.discounts[order - 1].of(entry.adjusted);
    }
    if total == 0.0 {
        return (1.0, 1.0);
    }
    (total, freed / total)
}

fn fill_order(level: &mut Level, lower: &mut Level, texts: &[Ngrams], order: usize) {
    let sources = texts.len();
    // First what each source saw itself, group by context; then the share of the shorter context.
    let mut gamma_here = vec![1f32; level.keys.len() * sources];
    for (s, text) in texts.iter().enumerate() {
        let table = &text.tables[order - 1];
        let same = |a: &Counted, b: &Counted| a.key[..order - 1] == b.key[..order - 1];
        let mut i = 0;
        for group in table.chunk_by(same) {
            let (total, gamma) = discounted(group.iter(), text, order);
            let context = super::ngrams::context(&group[0].key, order);
            if let Some(c) = lower.find(&context) {
                lower.gamma[c * sources + s] = gamma as f32;
            }
            i += level.keys[i..].partition_point(|key| key[..order - 1] < context[..order - 1]);
            let mut rest = group;
            while i < level.keys.len() && level.keys[i][..order - 1] == context[..order - 1] {
                gamma_here[i * sources + s] = gamma as f32;
                if let [entry, tail @ ..] = rest
                    && entry.key == level.keys[i]
                {
                    let count = entry.adjusted.max(1);
                    let kept = f64::from(count) - text.discounts[order - 1].of(count);
                    level.by_source[i * sources + s] = (kept / total) as f32;
                    rest = tail;
                }
                i += 1;
            }
        }
    }
    for (i, key) in level.keys.iter().enumerate() {
        let Some(j) = lower.find(&suffix(key, order)) else {
            continue;
        };
        for s in 0..sources {
            let cell = i * sources + s;
            level.by_source[cell] += gamma_here[cell] * lower.by_source[j * sources + s];
        }
    }
}
