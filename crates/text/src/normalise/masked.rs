//! Numbers with figures hidden: 0712***678, XXXX1234, **** **** **** 4242. What is hidden is named, so that two halves
//! never become one false number.

use super::SpokenForm;
use super::context::TokenContext;
use super::phone::{chunks, groups_said};
use super::token::Kind;

const PARTS_MAX: usize = 12;
/// Letters that hide figures without touching any.
const LETTERS_APART_MIN: usize = 4;

#[derive(Clone, Copy, PartialEq)]
enum Kept<'a> {
    Figures(&'a str),
    Stars,
    /// So many of the letter x.
    Letters(usize),
}

struct Part<'a> {
    kept: Kept<'a>,
    /// Nothing stands between it and the part before.
    glued: bool,
    end: usize,
}

impl Part<'_> {
    fn is_figures(&self) -> bool {
        matches!(self.kept, Kept::Figures(_))
    }
}

pub(crate) fn read(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let glued_before = matches!(
        context.kind_before(i),
        Some(Kind::Word | Kind::Digits | Kind::Mark('*' | '#'))
    );
    let plus = context.is_mark(i, '+');
    if glued_before {
        return None;
    }
    let mut parts = parts_at(context, i + usize::from(plus));
    // A number that stands behind is a number of its own.
    while let [.., before, last] = parts.as_slice()
        && before.is_figures()
        && last.is_figures()
        && !last.glued
    {
        parts.pop();
    }
    let has_figures = parts.iter().any(Part::is_figures);
    let hides = (0..parts.len()).any(|at| hides_figures(&parts, at));
    let end = parts.last()?.end;
    let is_ussd_code = matches!(context.kind(end), Some(Kind::Mark('*' | '#')));
    if !has_figures || !hides || is_ussd_code || amount_before(&parts) {
        return None;
    }
    let sign = if plus { "jumlisha " } else { "" };
    SpokenForm::new(format!("{sign}{}", said(&parts)), end)
}

/// "Tuma 500 0712***678": the first figures are no part of the number.
fn amount_before(parts: &[Part<'_>]) -> bool {
    match parts {
        [first, second, ..] if first.is_figures() && !second.glued => {
            matches!(second.kept, Kept::Figures(figures) if figures.starts_with('0'))
        }
        _ => false,
    }
}

fn parts_at<'a>(context: &TokenContext<'a>, start: usize) -> Vec<Part<'a>> {
    let mut parts = Vec::new();
    let (mut at, mut glued) = (start, true);
    while parts.len() < PARTS_MAX
        && let Some((kept, end)) = part_at(context, at)
    {
        parts.push(Part { kept, glued, end });
        (at, glued) = match context.kind(end) {
            Some(Kind::Mark('-')) => (end + 1, false),
            Some(Kind::Space) => (context.skip_space(end), false),
            _ => (end, true),
        };
    }
    parts
}

fn part_at<'a>(context: &TokenContext<'a>, i: usize) -> Option<(Kept<'a>, usize)> {
    let token = context.get(i)?;
    match token.kind {
        Kind::Digits => Some((Kept::Figures(token.text), i + 1)),
        Kind::Word if token.text.bytes().all(|b| b.eq_ignore_ascii_case(&b'x')) => {
            (token.text.len() >= 2).then_some((Kept::Letters(token.text.len()), i + 1))
        }
        Kind::Mark(mark @ ('*' | '#')) => {
            let run = (i..context.len()).take_while(|j| context.is_mark(*j, mark));
            let run = run.count();
            (run >= 2).then_some((Kept::Stars, i + run))
        }
        _ => None,
    }
}

/// Letters may be a Roman numeral; between or beside figures they are not.
fn hides_figures(parts: &[Part<'_>], at: usize) -> bool {
    let figures = |at: Option<usize>| {
        at.and_then(|at| parts.get(at))
            .is_some_and(Part::is_figures)
    };
    match parts[at].kept {
        Kept::Figures(_) => false,
        Kept::Stars => true,
        Kept::Letters(letters) => {
            let all = parts.iter().map(|part| match part.kept {
                Kept::Letters(letters) => letters,
                _ => 0,
            });
            let (before, after) = (figures(at.checked_sub(1)), figures(Some(at + 1)));
            let touches = (before && parts[at].glued)
                || (after && parts.get(at + 1).is_some_and(|next| next.glued));
            touches || all.sum::<usize>() >= LETTERS_APART_MIN || (before && after && letters > 2)
        }
    }
}

fn said(parts: &[Part<'_>]) -> String {
    let mut out: Vec<String> = Vec::new();
    for part in parts {
        match part.kept {
            Kept::Figures(figures) => out.push(groups_said(&chunks(figures, &[4, 3, 3, 3, 3]))),
            // Hidden groups side by side are one.
            _ if out.last().is_some_and(|last| last == "nyota") => {}
            _ => out.push("nyota".to_owned()),
        }
    }
    out.join(", ")
}
