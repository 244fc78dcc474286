//! Estimates how likely a spelling is, letter by letter.

use sauti_speech::recogniser::lm::LetterState;
use sauti_speech::recogniser::lm::letters::{END, STEP, SYMBOLS, TABLE_LEN, symbol};

/// Estimates the table from words (Witten-Bell, four letters), each counted once.
pub fn train<'a>(words: impl Iterator<Item = &'a str>) -> Vec<u8> {
    let mut counts = vec![0f32; TABLE_LEN];
    for word in words {
        let mut state = LetterState::default();
        let symbols = word.bytes().filter_map(symbol);
        for next in symbols.chain(std::iter::once(END)) {
            counts[state.index(next)] += 1.0;
            state = state.after(next);
        }
    }
    // Sums over the earliest letter give the shorter contexts.
    let mut by_length = vec![counts];
    for length in (0..3).rev() {
        let longer = &by_length[0];
        let size = SYMBOLS.pow(length as u32 + 1);
        let mut shorter = vec![0f32; size];
        for (i, count) in longer.iter().enumerate() {
            shorter[i % size] += count;
        }
        by_length.insert(0, shorter);
    }
    let mut p = vec![1.0 / SYMBOLS as f32; SYMBOLS];
    for counts in &by_length {
        p = interpolate(counts, &p);
    }
    p.iter()
        .map(|p| (-p.ln() / STEP).round().clamp(0.0, 255.0) as u8)
        .collect()
}

fn interpolate(counts: &[f32], shorter: &[f32]) -> Vec<f32> {
    let mut out = vec![0.0; counts.len()];
    for (row, counts) in counts.chunks_exact(SYMBOLS).enumerate() {
        let total: f32 = counts.iter().sum();
        let kinds = counts.iter().filter(|c| **c > 0.0).count() as f32;
        for (i, count) in counts.iter().enumerate() {
            let index = row * SYMBOLS + i;
            let below = shorter[index % shorter.len()];
            out[index] = if total == 0.0 {
                below
            } else {
                (count + kinds * below) / (total + kinds)
            };
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use sauti_speech::recogniser::lm::LetterModel;

    use super::*;

    fn spelling(model: LetterModel<'_>, word: &str) -> f32 {
        let mut state = LetterState::default();
        let symbols = word.bytes().filter_map(symbol).chain([END]);
        symbols
            .map(|s| {
                let p = model.log_p(state, s);
                state = state.after(s);
                p
            })
            .sum()
    }

    #[test]
    fn spellings_like_the_known_ones_score_higher() {
        let table = train(["kitabu", "kitanda", "kitu", "mtu", "watu", "viti"].into_iter());
        let model = LetterModel { table: &table };
        assert!(spelling(model, "kitatu") > spelling(model, "xqzrtk"));
        let all: f32 = (0..SYMBOLS)
            .map(|s| model.log_p(LetterState::default(), s).exp())
            .sum();
        assert!((all - 1.0).abs() < 0.05, "{all}");
    }
}
