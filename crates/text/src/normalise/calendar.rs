//! Dates, day first.

use super::Reading;
use super::context::Context;
use super::quantity::dash_after;
use super::token::Kind;
use crate::cardinal::cardinal;

pub(crate) const MONTHS: [&str; 12] = [
    "Januari", "Februari", "Machi", "Aprili", "Mei", "Juni", "Julai", "Agosti", "Septemba",
    "Oktoba", "Novemba", "Desemba",
];

const MONTHS_SHORT: [&str; 12] = [
    "Jan", "Feb", "Mac", "Apr", "Mei", "Jun", "Jul", "Ago", "Sep", "Okt", "Nov", "Des",
];

const MONTHS_ENGLISH: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

const MONTHS_ENGLISH_SHORT: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sept", "Oct", "Nov", "Dec",
];

/// Two-digit years from here on belong to the century before.
const PIVOT_YEAR: u64 = 50;

pub(crate) fn read(context: &Context<'_>, i: usize) -> Option<Reading> {
    let first = context.digits(i)?;
    if glued_before(context, i) {
        return None;
    }
    year_first(context, i, first)
        .or_else(|| day_first(context, i, first))
        .or_else(|| day_and_month_number(context, i))
        .or_else(|| day_before_month_name(context, i))
        .or_else(|| day_after_tarehe(context, i))
}

fn glued_before(context: &Context<'_>, i: usize) -> bool {
    i > 0
        && matches!(
            context.kind(i - 1),
            Some(Kind::Mark('/' | '.' | '-') | Kind::Word)
        )
}

/// "tarehe " unless it has been said.
fn tarehe(context: &Context<'_>, i: usize) -> &'static str {
    if follows_tarehe(context, i) {
        ""
    } else {
        "tarehe "
    }
}

fn follows_tarehe(context: &Context<'_>, i: usize) -> bool {
    context
        .words_back(i)
        .take(1)
        .any(|w| w.is_one_of(&["tarehe", "trh"]))
}

fn follows_weekday(context: &Context<'_>, i: usize) -> bool {
    context
        .words_back(i)
        .take(1)
        .any(|word| word.is_one_of(&WEEKDAYS))
}

fn follows_month(context: &Context<'_>, i: usize) -> bool {
    context
        .word_before(i)
        .is_some_and(|w| w.is_capitalised() && w.is_one_of(&MONTHS))
}

pub(crate) fn day(n: u64) -> String {
    if n == 1 {
        "mosi".to_owned()
    } else {
        cardinal(n)
    }
}

fn year(digits: &str) -> Option<String> {
    let n: u64 = digits.parse().ok()?;
    match digits.len() {
        4 if n >= 1000 => Some(cardinal(n)),
        2 if n >= PIVOT_YEAR => Some(cardinal(1900 + n)),
        2 => Some(cardinal(2000 + n)),
        _ => None,
    }
}

fn date(context: &Context<'_>, i: usize, d: u64, m: u64, y: &str, end: usize) -> Option<Reading> {
    let year = year(y)?;
    if !(1..=31).contains(&d) || !(1..=12).contains(&m) {
        return None;
    }
    let month = MONTHS[m as usize - 1];
    Reading::new(
        format!("{}{} {month} {year}", tarehe(context, i), day(d)),
        end,
    )
}

/// Two numbers after the first with the same mark between them, and the token after the last.
fn triple<'a>(context: &Context<'a>, i: usize) -> Option<(&'a str, &'a str, usize)> {
    let Kind::Mark(mark @ ('/' | '-' | '.')) = context.kind(i + 1)? else {
        return None;
    };
    let (second, third) = (context.digits(i + 2)?, context.digits(i + 4)?);
    let goes_on = context.is_mark(i + 5, mark) && context.kind(i + 6) == Some(Kind::Digits);
    (context.is_mark(i + 3, mark) && !goes_on).then_some((second, third, i + 5))
}

/// 2024-07-01
fn year_first(context: &Context<'_>, i: usize, first: &str) -> Option<Reading> {
    let (second, third, end) = triple(context, i)?;
    if first.len() != 4 || second.len() > 2 || third.len() > 2 {
        return None;
    }
    date(
        context,
        i,
        third.parse().ok()?,
        second.parse().ok()?,
        first,
        end,
    )
}

/// 1/7/2024, 01.07.2024, 1-7-24; with a month over twelve the writer meant month first.
fn day_first(context: &Context<'_>, i: usize, first: &str) -> Option<Reading> {
    let (second, third, end) = triple(context, i)?;
    if first.len() > 2 || second.len() > 2 {
        return None;
    }
    // 1.2.34 is a version; only whole years make a date of dots.
    if context.is_mark(i + 1, '.') && third.len() != 4 {
        return None;
    }
    let (d, m): (u64, u64) = (first.parse().ok()?, second.parse().ok()?);
    let (d, m) = if m > 12 && d <= 12 { (m, d) } else { (d, m) };
    date(context, i, d, m, third, end)
}

/// "tarehe 3/4", "Ijumaa 17/4": without the word it would be a fraction.
fn day_and_month_number(context: &Context<'_>, i: usize) -> Option<Reading> {
    let told = follows_tarehe(context, i) || follows_weekday(context, i);
    if !told || !context.is_mark(i + 1, '/') {
        return None;
    }
    let (d, m): (u64, u64) = (
        context.digits(i)?.parse().ok()?,
        context.digits(i + 2)?.parse().ok()?,
    );
    let valid = (1..=31).contains(&d) && (1..=12).contains(&m);
    valid
        .then(|| {
            let (opening, month) = (tarehe(context, i), MONTHS[m as usize - 1]);
            Reading::new(format!("{opening}{} {month}", day(d)), i + 3)
        })
        .flatten()
}

fn day_number(context: &Context<'_>, i: usize) -> Option<u64> {
    let digits = context.digits(i).filter(|d| d.len() <= 2)?;
    digits.parse().ok().filter(|d| (1..=31).contains(d))
}

/// The month named at `i`, and the token after it; a short name may carry a dot.
fn month_at(context: &Context<'_>, i: usize) -> Option<(&'static str, usize)> {
    let word = context.word(i).filter(|w| w.is_capitalised())?;
    let full = |names: &[&str; 12]| names.iter().position(|name| word.is(name));
    if let Some(m) = full(&MONTHS).or_else(|| full(&MONTHS_ENGLISH)) {
        return Some((MONTHS[m], i + 1));
    }
    let m = full(&MONTHS_SHORT).or_else(|| full(&MONTHS_ENGLISH_SHORT))?;
    // The dot of a short name is no sentence's end when a year follows.
    let dotted = context.is_mark(i + 1, '.')
        && context.kind(context.skip_space(i + 2)) == Some(Kind::Digits);
    Some((MONTHS[m], i + 1 + usize::from(dotted)))
}

/// "26 Aprili 1964", "tarehe 1 Julai", "tarehe 5-7 Machi".
fn day_before_month_name(context: &Context<'_>, i: usize) -> Option<Reading> {
    let first = day_number(context, i)?;
    let last = dash_after(context, i + 1).and_then(|j| Some((day_number(context, j)?, j + 1)));
    let (days, after) = match last {
        Some((last, after)) => (format!("{} hadi {}", day(first), day(last)), after),
        None => (day(first), ordinal_suffix(context, i + 1)),
    };
    let (month, end) = month_at(context, context.skip_space(after))?;
    Reading::new(format!("{}{days} {month}", day_opening(context, i)), end)
}

fn ordinal_suffix(context: &Context<'_>, i: usize) -> usize {
    i + usize::from(
        context
            .word(i)
            .is_some_and(|w| matches!(w.text, "st" | "nd" | "rd" | "th")),
    )
}

/// "tarehe 5 na 7 Machi" and "tarehe 3 hadi 9 Mei" have said it once for both.
fn day_opening(context: &Context<'_>, i: usize) -> &'static str {
    let mut words = context.words_back(i);
    match words.next() {
        Some(w) if w.is_one_of(&["tarehe", "trh"]) => "",
        Some(w)
            if w.is_one_of(&["hadi", "mpaka", "na", "au"])
                && words.next().is_some_and(|w| w.is("tarehe")) =>
        {
            ""
        }
        _ => "tarehe ",
    }
}

const WEEKDAYS: [&str; 7] = [
    "Jumatatu", "Jumanne", "Jumatano", "Alhamisi", "Ijumaa", "Jumamosi", "Jumapili",
];

/// A dash at `i` between two days of the week or two months.
pub(crate) fn joins_names(context: &Context<'_>, i: usize) -> bool {
    let named = |j: Option<usize>, names: &[&str]| {
        j.and_then(|j| context.word(j))
            .is_some_and(|word| word.is_one_of(names))
    };
    let (before, after) = (context.before(i), Some(context.skip_space(i + 1)));
    let both = |names: &[&str]| named(before, names) && named(after, names);
    both(&WEEKDAYS) || both(&MONTHS)
}

/// "tarehe 1" is "tarehe mosi", "Januari 1" "Januari mosi".
fn day_after_tarehe(context: &Context<'_>, i: usize) -> Option<Reading> {
    let alone = !matches!(context.kind(i + 1), Some(Kind::Mark('/' | '-' | '–' | ':')));
    let number = context.number(i)?;
    (alone
        && number.plain() == Some(1)
        && (follows_tarehe(context, i) || follows_month(context, i)))
    .then(|| Reading::new("mosi", number.end))
    .flatten()
}
