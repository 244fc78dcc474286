//! Dates and times of the day in English.

use super::number::{cardinal, digits, ordinal, year};
use crate::normalise::SpokenForm;
use crate::normalise::calendar::{MONTHS_ENGLISH, PIVOT_YEAR, is_date};
use crate::normalise::context::TokenContext;

/// The month a word names, in full or by its first three letters.
pub(super) fn month(word: &str) -> Option<&'static str> {
    MONTHS_ENGLISH.iter().copied().find(|month| {
        word.eq_ignore_ascii_case(month)
            || (word.len() == 3 && word != "may" && word.eq_ignore_ascii_case(&month[..3]))
            || word.eq_ignore_ascii_case("sept") && *month == "September"
    })
}

pub(super) fn said_date(day: u64, month: u64, year_written: Option<u64>) -> Option<String> {
    let name = MONTHS_ENGLISH.get(usize::try_from(month).ok()?.checked_sub(1)?)?;
    let said =
        is_date(day, month, year_written).then(|| format!("the {} of {name}", ordinal(day)))?;
    Some(match year_written {
        Some(n) => format!("{said} {}", year(full_year(n))),
        None => said,
    })
}

fn full_year(n: u64) -> u64 {
    match n {
        0..PIVOT_YEAR => 2000 + n,
        PIVOT_YEAR..=99 => 1900 + n,
        _ => n,
    }
}

fn plain(context: &TokenContext<'_>, i: usize, longest: usize) -> Option<u64> {
    let digits = context.digits(i).filter(|digits| digits.len() <= longest)?;
    digits.parse().ok()
}

/// 3/3/2026, 03-03-2026, 03.03.26, 2026-03-03.
fn numeric(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let mark = ['/', '-', '.']
        .into_iter()
        .find(|mark| context.is_mark(i + 1, *mark))?;
    let first = plain(context, i, 4)?;
    let second = plain(context, i + 2, 2)?;
    if !context.is_mark(i + 3, mark) {
        return None;
    }
    let third = plain(context, i + 4, 4)?;
    let said = match (context.digits(i)?.len(), context.digits(i + 4)?.len()) {
        (4, 1 | 2) => said_date(third, second, Some(first)),
        (1 | 2, 2 | 4) if mark != '.' => said_date(first, second, Some(third)),
        (1 | 2, 4) => said_date(first, second, Some(third)),
        (2, 2) if context.digits(i + 2)?.len() == 2 => said_date(first, second, Some(third)),
        _ => None,
    }?;
    SpokenForm::new(without_article(context, i, said), i + 5)
}

/// "on the 3/3/2026" has said "the" already.
fn without_article(context: &TokenContext<'_>, i: usize, said: String) -> String {
    let article = context.follows(i, &["the"]);
    match said.strip_prefix("the ").filter(|_| article) {
        Some(rest) => rest.to_owned(),
        None => said,
    }
}

/// "3 March 2026", "3rd of March", "3rd March, 2026".
fn day_first(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let day = plain(context, i, 2).filter(|day| (1..=31).contains(day))?;
    let mut at = i + 1;
    if context.is_word(at, &["st", "nd", "rd", "th"]) {
        at += 1;
    }
    at = context.skip_space(at);
    if context.is_word(at, &["of"]) {
        at = context.skip_space(at + 1);
    }
    let name = month(context.word(at)?.text)?;
    let said = without_article(context, i, format!("the {} of {name}", ordinal(day)));
    // "5 Jan. 2026".
    let year_after_dot = context.is_mark(at + 1, '.')
        && plain(context, context.skip_space(at + 2), 4).is_some_and(|n| n >= 1500);
    with_year(context, said, at + 1 + usize::from(year_after_dot))
}

/// "March 3, 2026", "Mar. 3rd", "March 2026".
fn month_first(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let word = context.word(i)?.text;
    let name = month(word)?;
    let dot = word.len() < name.len() && context.is_mark(i + 1, '.');
    let at = context.skip_space(i + 1 + usize::from(dot));
    if let Some(n) = plain(context, at, 4).filter(|n| (1500..2200).contains(n)) {
        return SpokenForm::new(format!("{name} {}", year(n)), at + 1);
    }
    let day = plain(context, at, 2).filter(|day| (1..=31).contains(day))?;
    if context.is_mark(at + 1, ':') {
        return None;
    }
    let suffix = context.is_word(at + 1, &["st", "nd", "rd", "th"]);
    let said = format!("{name} the {}", ordinal(day));
    with_year(context, said, at + 1 + usize::from(suffix))
}

fn with_year(context: &TokenContext<'_>, said: String, end: usize) -> Option<SpokenForm> {
    let comma = usize::from(context.is_mark(end, ','));
    let at = context.skip_space(end + comma);
    let written = plain(context, at, 4).filter(|n| (1500..2200).contains(n));
    match written {
        Some(n) if at > end && !context.is_mark(at + 1, ':') => {
            let comma = if comma == 1 { "," } else { "" };
            SpokenForm::new(format!("{said}{comma} {}", year(n)), at + 1)
        }
        _ => SpokenForm::new(said, end),
    }
}

pub(super) fn date(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    numeric(context, i)
        .or_else(|| day_first(context, i))
        .or_else(|| month_first(context, i))
        .or_else(|| decade(context, i))
}

/// "1990s", "1990's", "the 90s".
fn decade(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let n = plain(context, i, 4).filter(|n| n % 10 == 0)?;
    let is_decade = match n {
        20..=90 => context.follows(i, &["the", "early", "late"]),
        _ => (1100..2100).contains(&n),
    };
    let end = i + 1 + usize::from(context.is_mark(i + 1, '\''));
    let plural = is_decade && context.word(end)?.text == "s";
    let said = year(n);
    let said = match said.strip_suffix('y') {
        Some(stem) => format!("{stem}ies"),
        None => format!("{said}s"),
    };
    plural.then(|| SpokenForm::new(said, end + 1))?
}

/// "a.m.", "pm": the letters and the token after them.
fn half_of_day(context: &TokenContext<'_>, i: usize) -> Option<(&'static str, usize)> {
    let at = context.skip_space(i);
    let word = context.word(at)?;
    if word.is("am") || word.is("pm") {
        return Some((if word.is("am") { "A M" } else { "P M" }, at + 1));
    }
    let dotted = word.is_one_of(&["a", "p"])
        && context.is_mark(at + 1, '.')
        && context.is_word(at + 2, &["m"]);
    let end = at + 3 + usize::from(context.is_mark(at + 3, '.'));
    dotted.then_some((if word.is("a") { "A M" } else { "P M" }, end))
}

/// "0800 hrs", "17:30hrs".
fn in_hours(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let (hour, minutes, end) = match context.digits(i).filter(|figures| figures.len() == 4) {
        Some(figures) => (&figures[..2], &figures[2..], i + 1),
        None => {
            let minutes = context
                .digits(i + 2)
                .filter(|_| context.is_mark(i + 1, ':'))?;
            (context.digits(i)?, minutes, i + 3)
        }
    };
    let word = context.skip_space(end);
    // "2000 hours of work" is a length of time.
    let sure = end > i + 1
        || word == end
        || hour.starts_with('0')
        || context.follows(
            i,
            &["at", "by", "from", "to", "until", "till", "before", "after"],
        );
    let named = sure && context.is_word(word, &["hrs", "hours"]);
    let hour: u64 = hour.parse().ok().filter(|hour| *hour < 24)?;
    let minutes: u64 = minutes.parse().ok().filter(|minutes| *minutes < 60)?;
    let zero = if hour < 10 { "zero " } else { "" };
    let said = match minutes {
        0 => format!("{zero}{} hundred hours", cardinal(hour)),
        _ => format!("{zero}{} hours", said_time(hour, minutes, "")),
    };
    named.then(|| SpokenForm::new(said, word + 1))?
}

/// "9:30 am", "14:05", "9am", "9.30 pm".
pub(super) fn clock(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    if let Some(reading) = in_hours(context, i) {
        return Some(reading);
    }
    let hour = plain(context, i, 2).filter(|hour| *hour < 24)?;
    let minutes = context.digits(i + 2).filter(|minutes| {
        minutes.len() == 2 && (context.is_mark(i + 1, ':') || context.is_mark(i + 1, '.'))
    });
    let half = half_of_day(context, if minutes.is_some() { i + 3 } else { i + 1 });
    if minutes.is_none() || context.is_mark(i + 1, '.') {
        let (half, end) = half?;
        let minutes = minutes
            .and_then(|minutes| minutes.parse().ok())
            .unwrap_or(0);
        return SpokenForm::new(format!("{} {half}", said_time(hour, minutes, "")), end);
    }
    let minutes: u64 = minutes?.parse().ok().filter(|minutes| *minutes < 60)?;
    match half {
        Some((half, end)) => {
            SpokenForm::new(format!("{} {half}", said_time(hour, minutes, "")), end)
        }
        None => SpokenForm::new(said_time(hour, minutes, " o'clock"), i + 3),
    }
}

pub(super) fn said_time(hour: u64, minutes: u64, full: &str) -> String {
    match (hour, minutes) {
        (0 | 13.., 0) if !full.is_empty() => format!("{} hundred hours", cardinal(hour)),
        (_, 0) => format!("{}{full}", cardinal(hour)),
        (_, 1..=9) => format!("{} oh {}", cardinal(hour), cardinal(minutes)),
        _ => format!("{} {}", cardinal(hour), cardinal(minutes)),
    }
}

/// A four-digit number that the word before it makes a year.
pub(super) fn year_in_context(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let n = plain(context, i, 4).filter(|n| (1100..2100).contains(n))?;
    let before = context.word_before(i)?;
    let is_year = before.is_one_of(&[
        "in", "since", "year", "until", "till", "by", "before", "after", "during", "of", "from",
        "and", "to",
    ]) && !context.word(context.skip_space(i + 1)).is_some_and(|w| {
        !w.is_one_of(&["and", "to", "until", "the", "it", "he", "she", "we", "they"])
    });
    is_year.then(|| SpokenForm::new(year(n), i + 1))?
}

/// A date whose parts the caller names; `format` as in "dmy", "mdy", "ymd".
pub(super) fn date_in_format(text: &str, format: &str) -> Option<String> {
    let parts: Vec<&str> = text
        .split(['/', '-', '.', ' '])
        .filter(|p| !p.is_empty())
        .collect();
    let n = |i: usize| parts.get(i).and_then(|part| part.parse::<u64>().ok());
    match (format, parts.len()) {
        ("mdy", 3) => said_date(n(1)?, n(0)?, n(2)),
        ("ymd", 3) => said_date(n(2)?, n(1)?, n(0)),
        ("dmy", 3) => said_date(n(0)?, n(1)?, n(2)),
        ("md", 2) => said_date(n(1)?, n(0)?, None),
        (_, 2) => said_date(n(0)?, n(1)?, None),
        (_, 3) if parts[0].len() == 4 => said_date(n(2)?, n(1)?, n(0)),
        (_, 3) => said_date(n(0)?, n(1)?, n(2)),
        (_, 1) if text.len() == 8 && text.is_ascii() => {
            let part = |range: std::ops::Range<usize>| text[range].parse::<u64>().ok();
            said_date(part(6..8)?, part(4..6)?, part(0..4))
        }
        _ => None,
    }
}

/// Groups as they are written, a pause between them.
pub(super) fn telephone(text: &str) -> String {
    let plus = if text.trim_start().starts_with('+') {
        "plus "
    } else {
        ""
    };
    let groups: Vec<String> = text
        .split(|c: char| !c.is_ascii_digit())
        .filter(|group| !group.is_empty())
        .flat_map(in_threes)
        .collect();
    format!("{plus}{}", groups.join(", "))
}

/// A long row of digits in groups of three, the last of up to four.
fn in_threes(group: &str) -> Vec<String> {
    let mut rest = group;
    let mut out = Vec::new();
    while rest.len() > 4 {
        let (head, tail) = rest.split_at(3);
        out.push(digits(head));
        rest = tail;
    }
    out.push(digits(rest));
    out
}
