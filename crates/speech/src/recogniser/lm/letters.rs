//! How likely a spelling is, letter by letter: scores words that are in no vocabulary.

/// The letters a word is made of, and its end.
pub const SYMBOLS: usize = 28;
pub const END: usize = 0;
/// Nats per step of the packed table; 255 steps reach down to 12.75.
pub const STEP: f32 = 0.05;
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
    /// Before a word's first letter.
    pub const START: Self = Self(0);

    pub fn after(self, symbol: usize) -> Self {
        let last_two = usize::from(self.0) % (SYMBOLS * SYMBOLS);
        Self((last_two * SYMBOLS + symbol) as u16)
    }

    /// Where `symbol` after these letters stands in the packed table.
    #[inline]
    pub fn index(self, symbol: usize) -> usize {
        usize::from(self.0) * SYMBOLS + symbol
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
        let step = self.table.get(state.index(symbol)).copied();
        -STEP * f32::from(step.unwrap_or(u8::MAX))
    }
}
