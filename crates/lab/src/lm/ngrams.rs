//! Counted n-grams of one text, with the counts that Kneser-Ney smoothing wants.

use sauti_speech::recogniser::lm::{ORDER_MAX, SENTENCE_END, SENTENCE_START};

/// Up to four word numbers; unused places at the end are zero.
pub type NgramKey = [u32; ORDER_MAX];

#[derive(Clone, Copy)]
pub struct Counted {
    pub key: NgramKey,
    /// How often it stands in the text.
    pub raw: u32,
    /// For the highest order and after a sentence start the same, else how many words can stand before it.
    pub adjusted: u32,
}

/// Discounts by count 1, 2, 3 and more.
#[derive(Clone, Copy, Debug)]
pub struct Discounts([f64; 3]);

impl Discounts {
    pub fn of(&self, count: u32) -> f64 {
        self.0[(count.clamp(1, 3) - 1) as usize]
    }
}

/// Tables by order (index 0: single words), each sorted by key.
pub struct Ngrams {
    pub tables: Vec<Vec<Counted>>,
    pub discounts: Vec<Discounts>,
    pub tokens: f64,
}

impl Ngrams {
    pub fn count(corpus: &[u32]) -> Self {
        let mut tables: Vec<Vec<Counted>> = (1..=ORDER_MAX).map(|n| windows(corpus, n)).collect();
        for order in 1..ORDER_MAX {
            let (lower, higher) = tables.split_at_mut(order);
            continuation_counts(&mut lower[order - 1], &higher[0], order);
        }
        let discounts = tables.iter().map(|table| discounts(table)).collect();
        let tokens = corpus.iter().filter(|&&w| w != SENTENCE_START).count() as f64;
        Self {
            tables,
            discounts,
            tokens,
        }
    }
}

fn windows(corpus: &[u32], order: usize) -> Vec<Counted> {
    let mut keys: Vec<NgramKey> = Vec::with_capacity(corpus.len());
    for window in corpus.windows(order) {
        // A window across two sentences has an end mark before its last word.
        if window[..order - 1].contains(&SENTENCE_END) {
            continue;
        }
        let mut key = [0; ORDER_MAX];
        key[..order].copy_from_slice(window);
        keys.push(key);
    }
    keys.sort_unstable();
    let mut table: Vec<Counted> = Vec::new();
    for key in keys {
        match table.last_mut() {
            Some(last) if last.key == key => last.raw += 1,
            _ => table.push(Counted {
                key,
                raw: 1,
                adjusted: 0,
            }),
        }
    }
    for entry in &mut table {
        entry.adjusted = entry.raw;
    }
    table.shrink_to_fit();
    table
}

fn continuation_counts(table: &mut [Counted], higher: &[Counted], order: usize) {
    let mut suffixes: Vec<NgramKey> = higher
        .iter()
        .map(|entry| suffix(&entry.key, order + 1))
        .collect();
    suffixes.sort_unstable();
    let mut rest = suffixes.as_slice();
    for entry in table.iter_mut() {
        let skipped = rest.partition_point(|key| *key < entry.key);
        rest = &rest[skipped..];
        let same = rest.partition_point(|key| *key == entry.key);
        rest = &rest[same..];
        if entry.key[0] != SENTENCE_START {
            entry.adjusted = same as u32;
        } else if order == 1 {
            // Nothing ever predicts a sentence start.
            entry.adjusted = 0;
        }
    }
}

/// The key without its first word.
pub fn suffix(key: &NgramKey, order: usize) -> NgramKey {
    let mut out = [0; ORDER_MAX];
    out[..order - 1].copy_from_slice(&key[1..order]);
    out
}

/// The key without its last word.
pub fn context(key: &NgramKey, order: usize) -> NgramKey {
    let mut out = *key;
    out[order - 1] = 0;
    out
}

fn discounts(table: &[Counted]) -> Discounts {
    let mut with_count = [0f64; 5];
    for entry in table {
        if (1..=4).contains(&entry.adjusted) {
            with_count[entry.adjusted as usize] += 1.0;
        }
    }
    let [_, one, two, three, four] = with_count;
    // Small texts lack some counts: these are the usual values then.
    if one == 0.0 || two == 0.0 || three == 0.0 || four == 0.0 {
        return Discounts([0.5, 1.0, 1.5]);
    }
    let y = one / (one + 2.0 * two);
    Discounts([
        (1.0 - 2.0 * y * two / one).clamp(0.1, 0.95),
        (2.0 - 3.0 * y * three / two).clamp(0.2, 1.9),
        (3.0 - 4.0 * y * four / three).clamp(0.3, 2.8),
    ])
}
