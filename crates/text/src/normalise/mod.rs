//! Written text to spoken words. The text is cut into tokens; at each token the rules are asked in turn, and the first
//! that knows the pattern says how it is read and how many tokens it took.

mod address;
pub(crate) mod agreement;
mod alphanumeric;
mod calendar;
mod clock;
mod codes;
mod context;
mod masked;
mod money;
mod number;
mod phone;
mod quantity;
mod reading;
mod relations;
mod scripture;
mod token;
mod units;
mod words;

use std::ops::Range;

use crate::clean::{Cleaned, clean};
use context::TokenContext;
pub(crate) use money::is_named_in as money_is_named_in;
use reading::SpokenForm;
use token::{Kind, tokens};
pub(crate) use words::is_swahili_shaped;

/// Written text to spoken words; case and punctuation stay.
pub fn normalise(text: &str) -> String {
    let mut out = String::with_capacity(text.len() * 2);
    for piece in pieces(text) {
        if piece.kind == PieceKind::Space {
            push_space(&mut out);
        } else {
            out.push_str(&piece.text);
        }
    }
    out.truncate(out.trim_end().len());
    out
}

fn push_space(out: &mut String) {
    if !out.is_empty() && !out.ends_with(' ') {
        out.push(' ');
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PieceKind {
    Words,
    Space,
    Mark,
}

/// A bit of spoken text and the bytes of the caller's text it was read from.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Piece {
    pub kind: PieceKind,
    /// As it is said. A space is one blank, or one line end for each of the first two that it holds.
    pub text: String,
    pub source: Range<usize>,
}

pub(crate) fn pieces(text: &str) -> Vec<Piece> {
    let cleaned = clean(text);
    let context = TokenContext::new(tokens(&cleaned.text));
    let mut out = Vec::with_capacity(context.len());
    let mut i = 0;
    while i < context.len() {
        let (reading, kind) = read(&context, i);
        let end = reading.end.clamp(i + 1, context.len());
        push(&mut out, &context, &cleaned, i..end, reading.text, kind);
        i = end;
    }
    out
}

fn push(
    out: &mut Vec<Piece>,
    context: &TokenContext<'_>,
    cleaned: &Cleaned,
    at: Range<usize>,
    text: String,
    kind: PieceKind,
) {
    let bytes = context.token(at.start).at..context.token(at.end - 1).end();
    // Two readings that stood without a space between them ("kg5", "#Uganda") must not melt into one word.
    let melts = text.starts_with(char::is_alphabetic)
        && out
            .last()
            .is_some_and(|last| last.text.ends_with(char::is_alphabetic));
    let source = cleaned.source(bytes);
    if melts {
        out.push(Piece {
            kind: PieceKind::Space,
            text: " ".to_owned(),
            source: source.start..source.start,
        });
    }
    if !text.is_empty() {
        out.push(Piece { kind, text, source });
    }
}

type Rule = fn(&TokenContext<'_>, usize) -> Option<SpokenForm>;

/// In this order: a pattern that contains another comes first.
const RULES: &[Rule] = &[
    address::read,
    masked::read,
    phone::ussd_code,
    phone::read,
    calendar::read,
    scripture::read,
    clock::read,
    alphanumeric::read,
    money::prefixed,
    words::dotted,
    codes::by_context,
    relations::grouped_digits,
    relations::fraction,
    relations::range,
    relations::operator,
    quantity::read,
    units::before_number,
    words::read,
];

fn read(context: &TokenContext<'_>, i: usize) -> (SpokenForm, PieceKind) {
    let token = context.token(i);
    if token.kind == Kind::Space {
        let text = match token.text.bytes().filter(|b| *b == b'\n').take(2).count() {
            0 => " ",
            1 => "\n",
            _ => "\n\n",
        };
        return (
            SpokenForm {
                text: text.to_owned(),
                end: i + 1,
            },
            PieceKind::Space,
        );
    }
    if let Some(reading) = RULES.iter().find_map(|rule| rule(context, i)) {
        return (reading, PieceKind::Words);
    }
    match token.kind {
        Kind::Mark(mark) => (relations::mark(context, i, mark), PieceKind::Mark),
        _ => (
            SpokenForm {
                text: token.text.to_owned(),
                end: i + 1,
            },
            PieceKind::Words,
        ),
    }
}
