//! How likely a spelling is, letter by letter: scores words that are in no vocabulary.

/// The letters a word is made of, and its end.
pub const SYMBOLS: usize = 28;
pub const END: usize = 0;
/// Nats per step of the packed table; 255 steps reach down to 12.75.
const STEP: f32 = 0.05;
pub const TABLE_LEN: usize = SYMBOLS * SYMBOLS * SYMBOLS * SYMBOLS;

/// 1 for the apostrophe, then a to z.
pub fn symbol(letter: u8) -> Option<usize> {
    match letter {
        b'\'' => Some(1),
        b'a'..=b'z' => Some((letter - b'a') as usize + 2),
        _ => None,
    }
}

/// Where in a word we are: the last three letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct LetterState(u16);

impl LetterState {
    pub fn after(self, symbol: usize) -> Self {
        let last_two = usize::from(self.0) % (SYMBOLS * SYMBOLS);
        Self((last_two * SYMBOLS + symbol) as u16)
    }
}

/// Reads the packed table.
#[derive(Clone, Copy)]
pub struct LetterModel<'a> {
    pub table: &'a [u8],
}

impl LetterModel<'_> {
    /// ln p(symbol | the three letters before).
    #[inline]
    pub fn log_p(&self, state: LetterState, symbol: usize) -> f32 {
        let index = usize::from(state.0) * SYMBOLS + symbol;
        -STEP * f32::from(self.table.get(index).copied().unwrap_or(u8::MAX))
    }
}

/// Estimates the table from words (Witten-Bell, four letters), each counted once.
pub fn train<'a>(words: impl Iterator<Item = &'a str>) -> Vec<u8> {
    let mut counts = vec![0f32; TABLE_LEN];
    for word in words {
        let mut state = LetterState::default();
        let symbols = word.bytes().filter_map(symbol);
        for next in symbols.chain(std::iter::once(END)) {
            counts[usize::from(state.0) * SYMBOLS + next] += 1.0;
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
