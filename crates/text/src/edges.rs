//! A dash at an element's edge: it is no minus. Between two of one kind it is "hadi", else a pause.

use crate::normalise::{Piece, PieceKind};

/// Where elements begin and end in a flow.
#[derive(Default)]
pub(crate) struct Edges {
    places: Vec<usize>,
    /// Behind what was spelled: no amount.
    spelled: Option<usize>,
    /// What comes next is spelled.
    pub spells: bool,
}

impl Edges {
    pub(crate) fn add(&mut self, at: usize) {
        self.places.push(at);
    }

    /// An element was said.
    pub(crate) fn said(&mut self, at: usize) {
        self.add(at);
        self.spelled = std::mem::take(&mut self.spells).then_some(at);
    }

    /// All before is done; the last that was said is still looked at.
    pub(crate) fn cut(&mut self, at: usize) {
        *self = Self {
            places: vec![at],
            spelled: None,
            spells: self.spells,
        };
    }

    /// Reads the dashes at the edges of a text's elements; an element stands ahead of it.
    pub(crate) fn read_dashes(
        &self,
        text: &str,
        ahead: &str,
        pieces: &mut [Piece],
        is_english: impl Fn(usize) -> bool,
    ) {
        for piece in pieces {
            let written = &text[piece.source.clone()];
            let dash = matches!(written.trim(), "-" | "–" | "−");
            if !dash || !matches!(piece.text.trim(), "toa" | "minus" | "-" | "–") {
                continue;
            }
            let (before, rest) = text.split_at(piece.source.start);
            let after = &rest[written.trim_end().len()..];
            let (left, start) = (before.trim_end().len(), text.len() - after.len());
            let right = text.len() - after.trim_start().len();
            let ends = self
                .places
                .iter()
                .find(|at| (left..=before.len()).contains(at));
            let begins = self.places.iter().any(|at| (start..=right).contains(at));
            let meets = !ahead.is_empty() && right == text.len();
            if ends.is_none() && !begins && !meets {
                continue;
            }
            let spelled = meets && self.spells || ends.is_some() && ends == self.spelled.as_ref();
            let high = if meets { ahead } else { after };
            let spaced = before.len() > left && (right > start || meets);
            let said = piece.kind != PieceKind::Mark;
            (piece.kind, piece.text) = if spaced && !spelled && is_range(before, high) {
                match is_english(piece.source.start) || piece.text.trim() == "minus" {
                    true => (PieceKind::English, "to ".to_owned()),
                    false => (PieceKind::Words, "hadi ".to_owned()),
                }
            } else if said && spaced {
                (PieceKind::Mark, "–".to_owned())
            } else if piece.text.trim() == "toa" {
                // "-5" behind an element.
                (PieceKind::Words, "hasi ".to_owned())
            } else {
                continue;
            };
        }
    }
}

/// Times, days or rising numbers on both sides.
fn is_range(before: &str, after: &str) -> bool {
    let low = before.split_whitespace().next_back().unwrap_or_default();
    let high = after.split_whitespace().next().unwrap_or_default();
    let high = high.trim_end_matches(|c: char| c.is_ascii_punctuation());
    let figures = |word: &str| {
        let known = |c: char| c.is_ascii_digit() || matches!(c, ':' | '/' | '.' | ',');
        word.starts_with(|c: char| c.is_ascii_digit()) && word.chars().all(known)
    };
    let both = |mark: char| low.contains(mark) && high.contains(mark);
    let number = |word: &str| {
        let coded = word.len() > 1 && word.starts_with('0') && !word.starts_with("0.");
        word.replace(',', "").parse::<f64>().ok().filter(|_| !coded)
    };
    figures(low)
        && figures(high)
        && (both(':')
            || both('/')
            || matches!((number(low), number(high)), (Some(a), Some(b)) if a < b))
}

/// Figures come first, with or without a mark before them.
pub(crate) fn begins_with_figures(text: &str) -> bool {
    let text = text.trim_start_matches(|c: char| !c.is_alphanumeric());
    text.starts_with(|c: char| c.is_ascii_digit())
}

/// Figures come last, with or without a mark behind them.
pub(crate) fn ends_with_figures(text: &str) -> bool {
    let text = text.trim_end_matches(|c: char| !c.is_alphanumeric());
    text.ends_with(|c: char| c.is_ascii_digit())
}
