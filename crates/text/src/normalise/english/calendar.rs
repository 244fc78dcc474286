//! Dates and times of the day in English.

use super::number::{cardinal, digits, ordinal, year};
use super::signs::RATIOS;
use crate::normalise::SpokenForm;
use crate::normalise::calendar::MONTHS_ENGLISH;
use crate::normalise::clock::{self, Half, ZONES, is_duration, lettered_duration, said_duration};
use crate::normalise::context::TokenContext;
use crate::normalise::quantity::{dash_after, is_minus_mark};
use crate::normalise::token::{Kind, Token};
use crate::normalise::weekdays::{WEEKDAYS_ENGLISH, is_english_day, short_day as day_named};
use crate::normalise::written_date::{WrittenDate, date_parts, full_year, is_date};

/// The month a word names, in full or by its first three letters.
pub(super) fn month(word: &str) -> Option<&'static str> {
    MONTHS_ENGLISH.iter().copied().find(|month| {
        word.eq_ignore_ascii_case(month)
            || (word.len() == 3 && word != "may" && word.eq_ignore_ascii_case(&month[..3]))
            || word.eq_ignore_ascii_case("sept") && *month == "September"
    })
}

fn said_date(day: u64, month: u64, year_written: Option<u64>) -> Option<String> {
    let full_year = year_written.map(full_year);
    let name = MONTHS_ENGLISH.get(usize::try_from(month).ok()?.checked_sub(1)?)?;
    let said = is_date(day, month, full_year).then(|| format!("the {} of {name}", ordinal(day)))?;
    Some(match full_year {
        Some(n) => format!("{said} {}", year(n)),
        None => said,
    })
}

/// 3/3/2026, 03-03-2026, 03.03.26, 2026-03-03, "Date:20261114".
fn numeric(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let date = WrittenDate::at(context, i)?;
    let said = said_date(date.day, date.month, Some(date.year))?;
    SpokenForm::new(without_article(context, i, said), date.end)
}

/// "on 21/11", "by 30/11", "Sat 21/11"; a short number below is a fraction's.
fn day_and_month(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    const BEFORE: &[&str] = &[
        "on", "by", "due", "date", "dated", "until", "till", "deadline", "after", "since",
    ];
    let (day, month) = (context.value(i, 2)?, context.value(i + 2, 2)?);
    let told = context
        .word_before(i)
        .is_some_and(|w| w.is_one_of(BEFORE) || is_english_day(w));
    // "After 9/11".
    let attacks = (day, month) == (9, 11) && context.follows(i, &["after", "since"]);
    let on_day = context.word_before(i).is_some_and(is_english_day);
    let sure = !attacks && (on_day || day > 12 || context.digits(i + 2)?.len() == 2);
    let goes_on = context.is_mark(i + 3, '/') || context.comes_next(i + 3, &["of"]);
    let said = said_date(day, month, None)
        .filter(|_| context.is_mark(i + 1, '/') && told && sure && !goes_on)?;
    SpokenForm::new(without_article(context, i, said), i + 3)
}

/// "on the 3/3/2026" has said "the" already.
fn without_article(context: &TokenContext<'_>, i: usize, said: String) -> String {
    let article = context.follows(i, &["the"]);
    match said.strip_prefix("the ").filter(|_| article) {
        Some(rest) => rest.to_owned(),
        None => said,
    }
}

/// 12-Oct-2023, 16/Nov.
fn joined(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let day = context.value(i, 2).filter(|day| (1..=31).contains(day))?;
    let mark = ['-', '/']
        .into_iter()
        .find(|mark| context.is_mark(i + 1, *mark))?;
    let name = month(context.word(i + 2)?.text)?;
    let said = without_article(context, i, format!("the {} of {name}", ordinal(day)));
    let year_written = context
        .value(i + 4, 4)
        .filter(|_| context.is_mark(i + 3, mark));
    match year_written {
        Some(n) => SpokenForm::new(format!("{said} {}", year(full_year(n))), i + 5),
        None => SpokenForm::new(said, i + 3),
    }
}

/// "5", "5th", "5-7" or "5th - 7th", and the token after it.
fn days_at(context: &TokenContext<'_>, i: usize) -> Option<(String, usize)> {
    let one = |i: usize| {
        let day = context.value(i, 2).filter(|day| (1..=31).contains(day))?;
        let suffix = context.is_word(i + 1, &["st", "nd", "rd", "th"]);
        Some((day, i + 1 + usize::from(suffix)))
    };
    let (first, end) = one(i)?;
    let last = dash_after(context, end).and_then(one);
    Some(match last.filter(|(last, _)| *last > first) {
        Some((last, end)) => (
            format!("the {} to the {}", ordinal(first), ordinal(last)),
            end,
        ),
        None => (format!("the {}", ordinal(first)), end),
    })
}

/// "3 March 2026", "3rd of March", "3rd March, 2026".
fn day_first(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    if let Some(reading) = joined(context, i) {
        return Some(reading);
    }
    let (days, end) = days_at(context, i)?;
    let mut at = context.skip_space(end);
    if context.is_word(at, &["of"]) {
        at = context.skip_space(at + 1);
    }
    let name = month(context.word(at)?.text)?;
    let said = without_article(context, i, format!("{days} of {name}"));
    // "5 Jan. 2026".
    let year_after_dot = context.is_mark(at + 1, '.')
        && context
            .value(context.skip_space(at + 2), 4)
            .is_some_and(|n| n >= 1500);
    let inside = context.is_mark(at + 1, '.')
        && match context.get(context.skip_space(at + 2)) {
            Some(next) if next.kind == Kind::Word => !next.is_capitalised(),
            _ => matches!(context.kind(at + 2), Some(Kind::Mark(',' | ';' | ')'))),
        };
    with_year(
        context,
        said,
        at + 1 + usize::from(year_after_dot || inside),
    )
}

/// "March 3, 2026", "Mar. 3rd", "March 2026".
fn month_first(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let word = context.word(i)?.text;
    let name = month(word)?;
    let dot = word.len() < name.len() && context.is_mark(i + 1, '.');
    let at = context.skip_space(i + 1 + usize::from(dot));
    if let Some(n) = context.value(at, 4).filter(|n| (1500..2200).contains(n)) {
        return SpokenForm::new(format!("{name} {}", year(n)), at + 1);
    }
    if context.is_mark(at + 1, ':') {
        return None;
    }
    let (days, end) = days_at(context, at)?;
    with_year(context, format!("{name} {days}"), end)
}

fn with_year(context: &TokenContext<'_>, said: String, end: usize) -> Option<SpokenForm> {
    let comma = usize::from(context.is_mark(end, ','));
    let at = context.skip_space(end + comma);
    let written = context.value(at, 4).filter(|n| (1500..2200).contains(n));
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
        .or_else(|| day_and_month(context, i))
        .or_else(|| day_first(context, i))
        .or_else(|| month_first(context, i))
        .or_else(|| decade(context, i))
        .or_else(|| day_alone(context, i))
}

/// "Mon 23rd".
fn day_alone(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let (days, end) = days_at(context, i).filter(|(_, end)| context.word(end - 1).is_some())?;
    SpokenForm::new(days, end).filter(|_| context.word_before(i).is_some_and(is_english_day))
}

/// "1990s", "1990's", "the 90s", "the '90s".
fn decade(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let n = context.value(i, 4).filter(|n| n % 10 == 0)?;
    let is_decade = match n {
        20..=90 => {
            let words = ["the", "early", "late", "mid", "his", "her", "their", "my"];
            context.follows(i, &words) || context.kind_before(i) == Some(Kind::Mark('\''))
        }
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
pub(super) fn half_of_day(context: &TokenContext<'_>, i: usize) -> Option<(&'static str, usize)> {
    let (half, end) = clock::half_of_day(context, i)?;
    Some((if half == Half::Am { "A M" } else { "P M" }, end))
}

/// "0800 hrs", "17:30hrs", "1600 GMT".
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
    // "0800 - 1700 hrs".
    let other = dash_after(context, end)
        .filter(|j| end == i + 1 && context.digits(*j).is_some_and(|d| d.len() == 4));
    let word = context.skip_space(other.map_or(end, |j| j + 1));
    // "2000 hours of work" is a length of time.
    let sure = end > i + 1
        || word == end
        || hour.starts_with('0')
        || other.is_some()
        || context.before(i).is_some_and(|j| context.is_mark(j, '-'))
        || context.follows(
            i,
            &["at", "by", "from", "to", "until", "till", "before", "after"],
        );
    let named = sure && context.is_word(word, &["hrs", "hours"]);
    // "0900 - 1700".
    let padded = |j: usize| {
        let quarter = |d: &str| d.ends_with("00") || d.ends_with("30");
        context
            .digits(j)
            .is_some_and(|d| d.starts_with('0') && d.len() == 4 && quarter(d))
    };
    let dash = context
        .before(i)
        .filter(|j| is_minus_mark(context, *j) && *j + 1 < i);
    let first = dash.and_then(|j| context.before(j));
    let spaced = padded(i) && other.is_some_and(|j| j > i + 2);
    let bare = end == i + 1 && (spaced || first.is_some_and(padded));
    let zone = end == i + 1 && context.is_word(word, ZONES);
    let hour: u64 = hour.parse().ok().filter(|hour| *hour < 24)?;
    let minutes: u64 = minutes.parse().ok().filter(|minutes| *minutes < 60)?;
    let zero = if hour < 10 { "zero " } else { "" };
    let said = match minutes {
        0 => format!("{zero}{} hundred hours", cardinal(hour)),
        _ => format!("{zero}{} hours", said_time(hour, minutes, "")),
    };
    match other {
        _ if !named && !zone && !bare => None,
        Some(j) => SpokenForm::new(said.replace(" hours", " to "), j),
        None => SpokenForm::new(said, if named { word + 1 } else { end }),
    }
}

/// "9:30 am", "14:05", "9am", "9.30 pm".
pub(super) fn clock(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    if let Some((parts, end)) = lettered_duration(context, i) {
        return duration(parts, end);
    }
    if let Some(reading) = in_hours(context, i) {
        return Some(reading);
    }
    let hour = context.value(i, 2).filter(|hour| *hour < 24)?;
    if context.is_near(i, 2, &RATIOS) {
        return None;
    }
    // "1:50,000".
    if context.is_mark(i + 1, ':') && context.number(i + 2).is_some_and(|n| n.grouped) {
        return None;
    }
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
    if is_duration(context, i) && half_of_day(context, i + 5).is_none() {
        return duration([hour, minutes, context.value(i + 4, 2)?], i + 5);
    }
    if let Some(reading) = with_seconds(context, i, said_time(hour, minutes, "")) {
        return Some(reading);
    }
    match half {
        Some((half, end)) => {
            SpokenForm::new(format!("{} {half}", said_time(hour, minutes, "")), end)
        }
        None => SpokenForm::new(said_time(hour, minutes, " o'clock"), i + 3),
    }
}

fn duration([hours, minutes, seconds]: [u64; 3], end: usize) -> Option<SpokenForm> {
    let parts = [("hour", hours), ("minute", minutes), ("second", seconds)];
    let say = |name: &str, n: u64| match n {
        1 => format!("one {name}"),
        _ => format!("{} {name}s", cardinal(n)),
    };
    SpokenForm::new(said_duration(parts, say, [", ", " and "]), end)
}

/// "10:01:09", "3:48.68", "2:30:15 pm"; `time` is what stands before the seconds.
fn with_seconds(context: &TokenContext<'_>, i: usize, time: String) -> Option<SpokenForm> {
    let rest = context.digits(i + 4).filter(|rest| rest.len() == 2)?;
    let seconds = match context.kind(i + 3)? {
        Kind::Mark('.') => format!(" point {}", digits(rest)),
        Kind::Mark(':') => match rest.parse().ok()? {
            0 => String::new(),
            n @ 1..10 => format!(" oh {}", cardinal(n)),
            n => format!(" {}", cardinal(n)),
        },
        _ => return None,
    };
    match half_of_day(context, i + 5) {
        Some((half, end)) => SpokenForm::new(format!("{time}{seconds} {half}"), end),
        None => SpokenForm::new(time + &seconds, i + 5),
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

/// "Sat" and "sun" are words too: a day stands beside another one or a time, behind "on", or has its dot.
pub(super) fn short_day(context: &TokenContext<'_>, i: usize) -> Option<&'static str> {
    let word = context.word(i)?;
    let name = WEEKDAYS_ENGLISH[day_named(word)?];
    let dot = usize::from(context.is_mark(i + 1, '.'));
    let end = i + 1 + dot;
    let next = context.skip_space(end);
    let comma = usize::from(context.is_mark(end, ','));
    let at = context.skip_space(end + comma);
    let named = clock(context, at).or_else(|| date(context, at)).is_some()
        || dot == 1 && next > i + 2
        || context.follows(i, &["on", "by", "next", "last", "every"])
        || word.is_one_of(&["tues", "thur", "thurs"])
        || context.is_word(next + 1, &["st", "nd", "rd", "th"])
        || context.is_mark(end, ')') && context.kind_before(i) == Some(Kind::Mark('('))
        || beside_day(context, i, next);
    named.then_some(name)
}

/// Another day before or behind: "Mon-Fri", "Mon to Fri", "Sat & Sun".
fn beside_day(context: &TokenContext<'_>, i: usize, next: usize) -> bool {
    let joins = |j: usize| {
        matches!(
            context.kind(j),
            Some(Kind::Mark('-' | '–' | '&' | ',' | '/'))
        ) || context.is_word(j, &["to", "and", "or"])
    };
    let is_day_at = |j: usize| context.word(j).is_some_and(is_english_day);
    let ahead = if joins(next) {
        context.skip_space(next + 1)
    } else {
        next
    };
    let before = context.before(i).map(|j| match joins(j) {
        true => context.before(j).unwrap_or(j),
        false => j,
    });
    let behind = before.map(|j| {
        if context.is_mark(j, '.') {
            j.saturating_sub(1)
        } else {
            j
        }
    });
    is_day_at(ahead) || behind.is_some_and(is_day_at)
}

/// The dash of "8am-5pm", "8:00 - 17:00", "Mon-Fri", "Jan-Mar".
pub(super) fn is_range_of_times(context: &TokenContext<'_>, i: usize) -> bool {
    if !matches!(context.kind(i), Some(Kind::Mark('-' | '–'))) {
        return false;
    }
    let after = context.skip_space(i + 1);
    let Some(last) = context.before(i) else {
        return false;
    };
    let dotted = last > 0 && context.is_mark(last, '.');
    let before = if dotted { last - 1 } else { last };
    if context.digits(before).is_some() {
        let minutes = before > 0 && context.is_mark(before - 1, ':');
        let is_month = |w: &Token<'_>| month(w.text).is_some();
        let dated = context.word_before(before).is_some_and(is_month)
            || context.value(before, 4).is_some_and(|n| n >= 1500);
        let dates = dated
            && (context.word(after).is_some_and(is_month)
                || day_first(context, after)
                    .or_else(|| numeric(context, after))
                    .is_some());
        let goes_on = context.is_mark(after + 1, ':') || after == i + 1;
        return minutes && goes_on && context.digits(after).is_some() || dates;
    }
    let Some(word) = context.word(before) else {
        return false;
    };
    let both =
        |named: fn(&Token<'_>) -> bool| named(word) && context.word(after).is_some_and(named);
    let half = word.is_one_of(&["am", "pm", "hrs"]) || dotted && word.is("m");
    let dates = month(word.text).is_some()
        && (day_first(context, after).is_some() || context.word(after).is_some_and(is_english_day));
    // "Mon 23rd - Fri 27th".
    let ordinal = word.is_one_of(&["st", "nd", "rd", "th"]) && before > 0;
    let days = ordinal && context.digits(before - 1).is_some();
    half && context.digits(after).is_some()
        || dates
        || days && context.word(after).is_some_and(is_english_day)
        || both(is_english_day)
        || both(|word| month(word.text).is_some())
}

/// A four-digit number that the word before it makes a year.
pub(super) fn year_in_context(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let n = context.value(i, 4).filter(|n| (1100..2100).contains(n))?;
    let before = context.word_before(i)?;
    // "in 2025-2026" is a range.
    if dash_after(context, i + 1) == Some(i + 2) && context.digits(i + 2).is_some() {
        return None;
    }
    // "KCSE 2025", "AFCON 2027".
    let event = before.is_all_caps()
        && before.text.len() > 3
        && (1990..2050).contains(&n)
        && !crate::normalise::money::is_currency(before.text);
    let named = before.is_one_of(&[
        "in", "since", "year", "until", "till", "by", "before", "after", "during", "of", "from",
        "and", "to",
    ]);
    let goes_on = context.word(context.skip_space(i + 1)).is_some_and(|w| {
        !w.is_one_of(&["and", "to", "until", "the", "it", "he", "she", "we", "they"])
    });
    let is_year = named && !goes_on || event;
    is_year.then(|| SpokenForm::new(year(n), i + 1))?
}

/// A date whose parts the caller names; `format` as in "dmy", "mdy", "ymd".
pub(super) fn date_in_format(text: &str, format: &str) -> Option<String> {
    let (day, month, year) = date_parts(text, format)?;
    let year = match year {
        Some(year) => Some(year.parse().ok()?),
        None => None,
    };
    said_date(day.parse().ok()?, month.parse().ok()?, year)
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
