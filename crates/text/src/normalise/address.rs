//! E-mail and web addresses.

use super::SpokenForm;
use super::context::TokenContext;
use super::token::{Kind, Token};
use crate::cardinal::digits;
use crate::letters::{mark_name, spell};

/// An address longer than this is read only so far.
const TOKENS_MAX: usize = 60;
const PATH_TOKENS_MAX: usize = 12;

const ENDINGS: &[&str] = &[
    "com", "org", "net", "africa", "app", "gov", "edu", "io", "info", "dev", "tv",
];
const SECOND_LEVEL: &[&str] = &[
    "co", "or", "go", "ac", "ne", "sc", "me", "com", "org", "net", "mil", "gov", "edu",
];

pub(crate) fn read(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let starts = context.word(i).is_some() || context.digits(i).is_some();
    let glued = matches!(
        context.kind_before(i),
        Some(Kind::Word | Kind::Digits | Kind::Mark('.' | '@' | '-' | '_' | '/'))
    );
    if !starts
        || glued
        || !matches!(
            context.kind(i + 1),
            Some(Kind::Mark(_) | Kind::Digits | Kind::Word)
        )
    {
        return None;
    }
    let chunk = chunk_end(context, i);
    email(context, i, chunk).or_else(|| web(context, i, chunk))
}

/// Up to the next space, marks that end a sentence left out.
fn chunk_end(context: &TokenContext<'_>, i: usize) -> usize {
    let mut end = i;
    while end < context.len() && end < i + TOKENS_MAX && context.kind(end) != Some(Kind::Space) {
        end += 1;
    }
    while end > i
        && matches!(context.kind(end - 1), Some(Kind::Mark(mark)) if !matches!(mark, '/' | '#'))
    {
        end -= 1;
    }
    end
}

fn email(context: &TokenContext<'_>, i: usize, end: usize) -> Option<SpokenForm> {
    let at = (i..end).find(|j| context.is_mark(*j, '@'))?;
    let local_fits = run_end(context, i, at, &['.', '-', '_', '+', '*']) == at;
    let domain_end = host_end(context, at + 1, end);
    let dotted = (at + 1..domain_end).any(|j| context.is_mark(j, '.'));
    if at == i || !local_fits || !dotted {
        return None;
    }
    let (local, domain) = (
        parts_said(context, i, at),
        parts_said(context, at + 1, domain_end),
    );
    SpokenForm::new(format!("{local} at {domain}"), domain_end)
}

/// Past the words, figures and these marks that follow each other.
fn run_end(context: &TokenContext<'_>, start: usize, end: usize, marks: &[char]) -> usize {
    let belongs = |j: &usize| match context.kind(*j) {
        Some(Kind::Mark(mark)) => marks.contains(&mark),
        kind => matches!(kind, Some(Kind::Word | Kind::Digits)),
    };
    start + (start..end).take_while(belongs).count()
}

fn host_end(context: &TokenContext<'_>, start: usize, end: usize) -> usize {
    let stop = run_end(context, start, end, &['.', '-']);
    let ends_in_mark = stop > start && matches!(context.kind(stop - 1), Some(Kind::Mark(_)));
    stop - usize::from(ends_in_mark)
}

fn web(context: &TokenContext<'_>, i: usize, end: usize) -> Option<SpokenForm> {
    let scheme = context.token(i).is_one_of(&["http", "https"])
        && context.is_mark(i + 1, ':')
        && context.is_mark(i + 2, '/')
        && context.is_mark(i + 3, '/');
    let host = if scheme { i + 4 } else { i };
    let host_stop = host_end(context, host, end);
    if host_stop <= host {
        return None;
    }
    let www = context.token(host).is("www") && context.is_mark(host + 1, '.');
    if !scheme && !www && !is_bare_host(context, host, host_stop) {
        return None;
    }
    let mut text = parts_said(context, host, host_stop);
    let path_stop = path_end(context, host_stop, end);
    if path_stop > host_stop + 1 {
        text.push(' ');
        let stop = path_stop.min(host_stop + PATH_TOKENS_MAX);
        text.push_str(&parts_said(context, host_stop, stop));
    }
    // What follows the path (questions, fragments) is for machines.
    SpokenForm::new(text, end)
}

fn path_end(context: &TokenContext<'_>, start: usize, end: usize) -> usize {
    if !context.is_mark(start, '/') {
        return start;
    }
    let stop = run_end(context, start, end, &['/', '-', '_', '.']);
    stop - usize::from(context.is_mark(stop - 1, '/'))
}

/// Names with dots that end like an address, as "benki.co.ke"; a full stop without a space after it is none.
fn is_bare_host(context: &TokenContext<'_>, host: usize, stop: usize) -> bool {
    let lower = |j: usize| {
        context
            .word(j)
            .filter(|w| w.text.bytes().all(|b| b.is_ascii_lowercase()))
            .map(|w| w.text)
    };
    if stop < host + 3 || !context.is_mark(stop - 2, '.') {
        return false;
    }
    let Some(ending) = lower(stop - 1) else {
        return false;
    };
    let country = ending.len() == 2
        && stop >= host + 5
        && context.is_mark(stop - 4, '.')
        && lower(stop - 3).is_some_and(|second| SECOND_LEVEL.contains(&second));
    // "wa.me/254712345678", "bit.ly/sauti".
    let short = matches!(ending, "me" | "ly") && context.is_mark(stop, '/');
    ENDINGS.contains(&ending) || country || short
}

fn parts_said(context: &TokenContext<'_>, start: usize, end: usize) -> String {
    let parts: Vec<String> = (start..end)
        .map(|j| part_said(context.token(j)))
        .filter(|part| !part.is_empty())
        .collect();
    parts.join(" ")
}

fn part_said(token: &Token<'_>) -> String {
    match token.kind {
        Kind::Digits => digits(token.text),
        Kind::Word => {
            let vowels = token
                .text
                .bytes()
                .any(|b| matches!(b.to_ascii_lowercase(), b'a' | b'e' | b'i' | b'o' | b'u'));
            if vowels || token.text.len() > 4 {
                token.text.to_owned()
            } else {
                spell(token.text)
            }
        }
        Kind::Mark(mark) => mark_name(mark).unwrap_or_default().to_owned(),
        Kind::Space => String::new(),
    }
}
