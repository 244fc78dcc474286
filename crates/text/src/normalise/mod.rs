//! Written text to spoken words. The text is cut into tokens; at each token the rules are asked in turn, and the first
//! that knows the pattern says how it is read and how many tokens it took.

mod address;
pub(crate) mod agreement;
mod alphanumeric;
mod calendar;
mod clock;
mod codes;
mod context;
mod doses;
mod dotted_time;
pub(crate) mod english;
mod found;
mod hijri;
mod league;
mod marks;
mod masked;
mod money;
mod number;
mod numerals;
mod phone;
mod quantity;
mod reading;
mod relations;
mod roman;
mod scripture;
mod short_date;
mod token;
mod units;
mod weekdays;
mod words;
mod written_date;

use std::ops::Range;

use crate::clean::{Cleaned, clean_in_two};
use crate::english::is_english_sentence;
use crate::{Lexicon, SpeechLanguage};
use context::TokenContext;
pub(crate) use dotted_time::day_part;
pub(crate) use money::is_named_in as money_is_named_in;
use reading::SpokenForm;
use token::{Kind, Token, tokens};
pub(crate) use written_date::date_parts;

/// Written text to spoken words; case and punctuation stay.
pub fn normalise(text: &str) -> String {
    normalise_in(text, SpeechLanguage::Swahili)
}

/// The same in a language.
pub fn normalise_in(text: &str, language: SpeechLanguage) -> String {
    let mut out = String::with_capacity(text.len() * 2);
    for piece in pieces_from(0, text, &[(0, language)], &Lexicon::empty()) {
        if piece.kind == PieceKind::Space {
            push_space(&mut out);
        } else if piece.kind == PieceKind::Mark && piece.text.starts_with(' ') {
            push_space(&mut out);
            out.push_str(piece.text.trim_start());
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
    /// What a rule made of the text: in Swahili spelling.
    Words,
    /// One word as it stands.
    Word,
    /// Words that are English.
    English,
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

/// The pieces of a text from a place of it on, its English words found; what stands before that place tells how the rest is
/// read. For each language there is the place where it begins. The lexicon's own words stay as they stand.
pub(crate) fn pieces_from(
    start: usize,
    text: &str,
    languages: &[(usize, SpeechLanguage)],
    lexicon: &Lexicon,
) -> Vec<Piece> {
    let cleaned = clean_in_two(text, start);
    let context = TokenContext::new(tokens(&cleaned.text, cleaned.start));
    let place = |i: usize| {
        cleaned
            .source(context.token(i).at..context.token(i).end())
            .start
    };
    let mut i = (0..context.len())
        .find(|i| place(*i) >= start)
        .unwrap_or(context.len());
    let mut out = Vec::with_capacity(context.len() - i);
    for (stretch, language) in spans(text, languages) {
        let english = language == SpeechLanguage::English;
        let (first, read) = (out.len(), if english { english::read } else { read });
        while i < context.len() && place(i) < stretch.end {
            i = read_one(&mut out, &context, &cleaned, i, read, lexicon);
        }
        if !english {
            found::find(&mut out[first..]);
        }
    }
    out
}

/// The stretches of one language each.
fn spans(text: &str, languages: &[(usize, SpeechLanguage)]) -> Vec<(Range<usize>, SpeechLanguage)> {
    let mut out = Vec::with_capacity(languages.len());
    for (n, (start, language)) in languages.iter().enumerate() {
        let end = languages.get(n + 1).map_or(text.len(), |next| next.0);
        match language {
            SpeechLanguage::Auto => {
                let parts = stretches(&text[*start..end]).into_iter();
                out.extend(
                    parts.map(|(part, language)| (part.start + start..part.end + start, language)),
                );
            }
            _ => out.push((*start..end, *language)),
        }
    }
    out
}

/// Sentences of one language after another, taken together.
fn stretches(text: &str) -> Vec<(Range<usize>, SpeechLanguage)> {
    let mut out: Vec<(Range<usize>, SpeechLanguage)> = Vec::new();
    let mut start = 0;
    for (at, mark) in text.char_indices() {
        let end = at + mark.len_utf8();
        if end < text.len() && !ends_sentence(&text[start..end], &text[end..]) {
            continue;
        }
        let sentence = &text[start..end];
        let language = match is_english_sentence(sentence) {
            true => SpeechLanguage::English,
            false => SpeechLanguage::Swahili,
        };
        let has_letters = sentence.contains(char::is_alphabetic);
        match out.last_mut() {
            Some((last, before)) if *before == language || !has_letters => last.end = end,
            _ => out.push((start..end, language)),
        }
        start = end;
    }
    out
}

/// "3.50", "Dr. Otieno", "P. O. Box" and "9 A.M. – 5 P.M." go on behind their dots.
fn ends_sentence(sentence: &str, after: &str) -> bool {
    const TITLE_BYTES_MAX: usize = 5;
    match sentence.chars().last() {
        Some('\n') => true,
        Some('.') => {
            let title = sentence.trim_start().len() <= TITLE_BYTES_MAX;
            !title && !is_initial_dot(sentence, after) && after.starts_with(char::is_whitespace)
        }
        Some('?' | '!') => after.starts_with(char::is_whitespace),
        _ => false,
    }
}

/// The last dot stands behind a single letter, and no sentence begins behind "P.M.".
fn is_initial_dot(sentence: &str, after: &str) -> bool {
    let mut back = sentence.chars().rev().skip(1);
    let letter = back.next().is_some_and(char::is_alphabetic);
    match back.next() {
        Some('.') => letter && !after.trim_start().starts_with(char::is_uppercase),
        before => letter && before.is_some_and(char::is_whitespace),
    }
}

/// Reads a form at a token, and tells what kind of piece it is.
type PieceReader = fn(&TokenContext<'_>, usize) -> (SpokenForm, PieceKind);

/// Reads what begins at a token; the token behind it.
fn read_one(
    out: &mut Vec<Piece>,
    context: &TokenContext<'_>,
    cleaned: &Cleaned,
    i: usize,
    read: PieceReader,
    lexicon: &Lexicon,
) -> usize {
    let (reading, kind) = read(context, i);
    let (reading, kind) = match own_word(context, &cleaned.text, i, reading.end, lexicon) {
        Some(own) => (own, PieceKind::Word),
        None => (reading, kind),
    };
    let end = reading.end.clamp(i + 1, context.len());
    push(out, context, cleaned, i..end, reading.text, kind);
    end
}

/// "KCB", "Form2" and "Coca-Cola" where the lexicon has them; a rule that reads more than the word goes before.
fn own_word(
    context: &TokenContext<'_>,
    text: &str,
    i: usize,
    read_end: usize,
    lexicon: &Lexicon,
) -> Option<SpokenForm> {
    let longer = |end: usize| Some(end).filter(|end| context.word(i).is_some() && *end >= read_end);
    let hyphenated = longer(i + 3).filter(|_| context.is_mark(i + 1, '-'));
    let glued = longer(i + 2).filter(|_| context.digits(i + 1).is_some());
    [hyphenated, glued, Some(read_end)]
        .into_iter()
        .flatten()
        .filter(|end| *end > i)
        .find_map(|end| {
            let written = &text[context.token(i).at..context.get(end - 1)?.end()];
            lexicon
                .is_own(written)
                .then(|| SpokenForm::of(written, end))
        })
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
    hijri::read,
    calendar::read,
    weekdays::read,
    scripture::read,
    clock::read,
    doses::read,
    league::read,
    alphanumeric::read,
    money::pair,
    money::prefixed,
    words::dotted,
    codes::by_context,
    relations::grouped_digits,
    relations::fraction,
    relations::feet_and_inches,
    relations::minute,
    relations::colon_score,
    relations::range,
    relations::operator,
    quantity::read,
    units::before_number,
    words::read,
];

fn space(token: &Token<'_>, i: usize) -> SpokenForm {
    let text = match token.text.bytes().filter(|b| *b == b'\n').take(2).count() {
        0 => " ",
        1 => "\n",
        _ => "\n\n",
    };
    SpokenForm::of(text, i + 1)
}

/// A space; before the next item of "1. Maziwa 2. Mayai" it is a pause.
fn item_space(context: &TokenContext<'_>, i: usize) -> (SpokenForm, PieceKind) {
    let token = context.token(i);
    if !context.is_item_number(i + 1) {
        return (space(token, i), PieceKind::Space);
    }
    let line_ends = token.text.contains('\n');
    let goes_on = matches!(context.kind_before(i), Some(Kind::Word | Kind::Digits));
    match (line_ends, goes_on) {
        (true, _) => (SpokenForm::of("\n\n", i + 1), PieceKind::Space),
        (_, true) => (SpokenForm::of(", ", i + 1), PieceKind::Mark),
        _ => (space(token, i), PieceKind::Space),
    }
}

fn read(context: &TokenContext<'_>, i: usize) -> (SpokenForm, PieceKind) {
    let token = context.token(i);
    if token.kind == Kind::Space {
        return item_space(context, i);
    }
    if let Some(reading) = RULES.iter().find_map(|rule| rule(context, i)) {
        return (reading, PieceKind::Words);
    }
    match token.kind {
        Kind::Mark(mark) => (marks::mark(context, i, mark), PieceKind::Mark),
        _ => (SpokenForm::of(token.text, i + 1), PieceKind::Word),
    }
}
