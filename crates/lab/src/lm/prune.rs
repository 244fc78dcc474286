//! The mixture of the sources as one back-off model, without the n-grams that hardly matter.

use sauti_speech::recogniser::lm::ORDER_MAX;

use super::estimate::{Level, Union};
use super::ngrams::{NgramKey, context, suffix};

/// A back-off model: natural logarithms.
pub struct Backoff {
    pub levels: Vec<BackoffLevel>,
}

pub struct BackoffLevel {
    pub keys: Vec<NgramKey>,
    pub log_p: Vec<f32>,
    /// Added when a longer n-gram that starts with this one is not there. Empty for the highest order.
    pub log_backoff: Vec<f32>,
}

struct Mixed {
    keys: Vec<NgramKey>,
    p: Vec<f64>,
    frequency: Vec<f64>,
}

impl Backoff {
    /// An n-gram stays when dropping it would change the model by at least `threshold` (relative
    /// entropy, Stolcke 1998).
    pub fn from_mixture(union: Union, weights: &[f64], threshold: f64) -> Self {
        let mut mixed: Vec<Mixed> = union
            .levels
            .into_iter()
            .map(|level| mix(level, weights))
            .collect();
        for order in (2..=ORDER_MAX).rev() {
            let (lower, rest) = mixed.split_at_mut(order - 1);
            let (level, higher) = rest.split_first_mut().expect("four orders");
            let needed = higher
                .first()
                .map(|higher| contexts_in_use(level, higher, order));
            let kept = kept_ngrams(
                level,
                &lower[order - 2],
                needed.as_deref(),
                order,
                threshold,
            );
            let mut index = 0;
            level.keys.retain(|_| {
                index += 1;
                kept[index - 1]
            });
            level.p = retained(&level.p, &kept);
            level.frequency = retained(&level.frequency, &kept);
        }
        Self::with_backoffs(mixed)
    }

    fn with_backoffs(mixed: Vec<Mixed>) -> Self {
        let mut levels: Vec<BackoffLevel> = Vec::new();
        for Mixed { keys, p, .. } in mixed {
            levels.push(BackoffLevel {
                log_backoff: vec![0.0; keys.len()],
                log_p: p.iter().map(|p| p.max(1e-12).ln() as f32).collect(),
                keys,
            });
        }
        let mut model = Self { levels };
        for order in 2..=ORDER_MAX {
            let found = model.backoffs_before(order);
            for (index, value) in found {
                model.levels[order - 2].log_backoff[index] = value;
            }
        }
        model
    }

    fn backoffs_before(&self, order: usize) -> Vec<(usize, f32)> {
        let level = &self.levels[order - 1];
        let mut out = Vec::new();
        let mut start = 0;
        let same = |a: &NgramKey, b: &NgramKey| a[..order - 1] == b[..order - 1];
        for group in level.keys.chunk_by(same) {
            let (mut left, mut left_lower) = (1.0, 1.0);
            for (i, key) in group.iter().enumerate() {
                left -= f64::from(level.log_p[start + i]).exp();
                left_lower -= f64::from(self.log_p(&key[1..order - 1], key[order - 1])).exp();
            }
            start += group.len();
            let value = (left.max(1e-6) / left_lower.max(1e-6)).ln() as f32;
            if let Ok(index) = self.levels[order - 2]
                .keys
                .binary_search(&context(&group[0], order))
            {
                out.push((index, value));
            }
        }
        out
    }

    /// ln p(word | history), the nearest word last.
    pub fn log_p(&self, history: &[u32], word: u32) -> f32 {
        let mut backoff = 0.0;
        for length in (0..=history.len().min(ORDER_MAX - 1)).rev() {
            let mut key = [0; ORDER_MAX];
            key[..length].copy_from_slice(&history[history.len() - length..]);
            key[length] = word;
            let level = &self.levels[length];
            if let Ok(i) = level.keys.binary_search(&key) {
                return level.log_p[i] + backoff;
            }
            if length > 0 {
                key[length] = 0;
                let contexts = &self.levels[length - 1];
                if let Ok(i) = contexts.keys.binary_search(&key) {
                    backoff += contexts.log_backoff[i];
                }
            }
        }
        f32::NEG_INFINITY
    }
}

fn mix(level: Level, weights: &[f64]) -> Mixed {
    let blend = |row: &[f32]| {
        row.iter()
            .zip(weights)
            .map(|(x, w)| f64::from(*x) * w)
            .sum()
    };
    Mixed {
        p: level
            .by_source
            .chunks_exact(weights.len())
            .map(blend)
            .collect(),
        frequency: level
            .frequency
            .chunks_exact(weights.len())
            .map(blend)
            .collect(),
        keys: level.keys,
    }
}

fn retained(values: &[f64], kept: &[bool]) -> Vec<f64> {
    let pairs = values.iter().zip(kept);
    pairs.filter(|(_, kept)| **kept).map(|(v, _)| *v).collect()
}

/// Which n-grams of `level` begin one of the next order.
fn contexts_in_use(level: &Mixed, higher: &Mixed, order: usize) -> Vec<bool> {
    let mut used = vec![false; level.keys.len()];
    let mut i = 0;
    for key in &higher.keys {
        let wanted = context(key, order + 1);
        while i < level.keys.len() && level.keys[i] < wanted {
            i += 1;
        }
        if i < level.keys.len() && level.keys[i] == wanted {
            used[i] = true;
        }
    }
    used
}

fn kept_ngrams(
    level: &Mixed,
    lower: &Mixed,
    needed: Option<&[bool]>,
    order: usize,
    threshold: f64,
) -> Vec<bool> {
    let mut kept = vec![true; level.keys.len()];
    let mut start = 0;
    let same = |a: &NgramKey, b: &NgramKey| a[..order - 1] == b[..order - 1];
    for group in level.keys.chunk_by(same) {
        let range = start..start + group.len();
        start = range.end;
        let shorter: Vec<f64> = group
            .iter()
            .map(|key| {
                let found = lower.keys.binary_search(&suffix(key, order));
                found.map_or(1e-9, |i| lower.p[i])
            })
            .collect();
        let left = (1.0 - level.p[range.clone()].iter().sum::<f64>()).max(1e-6);
        let left_lower = (1.0 - shorter.iter().sum::<f64>()).max(1e-6);
        let alpha = (left / left_lower).ln();
        let weight = lower
            .keys
            .binary_search(&context(&group[0], order))
            .map_or(0.0, |i| lower.frequency[i]);
        for (i, shorter) in range.zip(shorter) {
            if needed.is_some_and(|needed| needed[i]) {
                continue;
            }
            let p = level.p[i];
            let without = ((left + p) / (left_lower + shorter)).ln();
            let change = p * (shorter.ln() + without - p.ln()) + left * (without - alpha);
            kept[i] = -weight * change >= threshold;
        }
    }
    kept
}
