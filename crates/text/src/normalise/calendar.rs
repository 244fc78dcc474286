//! Dates, day first.

use super::context::TokenContext;
use super::quantity::dash_after;
use super::short_date::is_short_date;
use super::token::{Kind, Token};
use super::weekdays::{WEEKDAYS, short_day};
use super::words::SHORT_WORDS;
use super::written_date::{WrittenDate, is_date};
use super::{SpokenForm, clock};
use crate::cardinal::cardinal;
use crate::letters::spell;
use crate::tables::WordList;

pub(crate) static MONTHS: WordList = WordList::named("months");
static MONTHS_SHORT: WordList = WordList::named("months-short");
pub(crate) static MONTHS_ENGLISH: WordList = WordList::named("english-months");
static MONTHS_ENGLISH_SHORT: WordList = WordList::named("english-months-short");

/// A day with its month and year, without the word "tarehe".
struct Date {
    said: String,
    end: usize,
}

pub(crate) fn read(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    if context.word(i).is_some() {
        return month_range(context, i)
            .or_else(|| english_weekday(context, i))
            .or_else(|| month_first(context, i))
            .or_else(|| SpokenForm::new(numbered_day(context, i)?, i + 2));
    }
    context.digits(i)?;
    if glued_before(context, i) {
        return None;
    }
    if let Some(reading) = day_range(context, i) {
        return Some(reading);
    }
    if let Some(reading) = first_without_year(context, i) {
        return Some(reading);
    }
    if let Some(date) = whole_date(context, i) {
        let text = format!("{}{}", tarehe(context, i), date.said);
        return time_stamp(context, &text, date.end)
            .or_else(|| last_date(context, &text, date.end))
            .or_else(|| SpokenForm::new(text, date.end));
    }
    day_and_month_number(context, i)
        .or_else(|| day_before_month_name(context, i))
        .or_else(|| day_after_tarehe(context, i))
        .or_else(|| day_of_month(context, i))
}

/// "Lipa by 5th", "hadi 21st", "Jumamosi 21st".
fn day_of_month(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let (said, end) = days_at(context, i).filter(|(_, end)| context.word(end - 1).is_some())?;
    let limits = &["by", "on", "hadi", "mpaka", "kufikia"];
    (follows_weekday(context, i) || context.follows(i, limits))
        .then(|| SpokenForm::new(format!("tarehe {said}"), end))?
}

/// "Sat 21st", "Fri. 20 Nov", "Mon, 3/3/2026".
fn english_weekday(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let day = WEEKDAYS[short_day(context.word(i).filter(|word| !word.is_all_caps())?)?];
    let mark = matches!(context.kind(i + 1), Some(Kind::Mark('.' | ',')));
    let at = context.skip_space(i + 1 + usize::from(mark));
    let (days, end) = days_at(context, at)?;
    let date = match context.word(end - 1) {
        Some(_) if month_at(context, past_joint(context, end)).is_none() => {
            SpokenForm::new(format!("tarehe {days}"), end)
        }
        _ => whole_date(context, at)
            .and_then(|date| SpokenForm::new(format!("tarehe {}", date.said), date.end))
            .or_else(|| day_before_month_name(context, at)),
    }?;
    SpokenForm::new(format!("{day} {}", date.text), date.end)
}

/// "5-7/6/2026".
fn day_range(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let j = dash_after(context, i + 1)?;
    let first = day_number(context, i).filter(|first| Some(*first) < day_number(context, j))?;
    let last = whole_date(context, j).filter(|_| context.is_mark(j + 1, '/'))?;
    let text = format!("{}{} hadi {}", tarehe(context, i), day(first), last.said);
    SpokenForm::new(text, last.end)
}

fn whole_date(context: &TokenContext<'_>, i: usize) -> Option<Date> {
    let date = WrittenDate::at(context, i).or_else(|| joined_month_name(context, i))?;
    let day_and_month = day_and_month(date.day, date.month)?;
    Some(Date {
        said: format!("{day_and_month} {}", cardinal(date.year)),
        end: date.end,
    })
}

/// "1/1-31/3/2026".
fn first_without_year(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let number = |at: usize| context.digits(at)?.parse().ok();
    let last = whole_date(context, dash_after(context, i + 3)?)?;
    let first = day_and_month(number(i)?, number(i + 2)?)?;
    let said = format!("{}{first} hadi tarehe {}", tarehe(context, i), last.said);
    context
        .is_mark(i + 1, '/')
        .then(|| SpokenForm::new(said, last.end))?
}

/// "5/6/2024-7/6/2024".
fn last_date(context: &TokenContext<'_>, first: &str, end: usize) -> Option<SpokenForm> {
    let last = whole_date(context, dash_after(context, end)?)?;
    SpokenForm::new(format!("{first} hadi tarehe {}", last.said), last.end)
}

/// 2026-11-16T14:30:00+03:00: the time that belongs to a date, and its zone unless it is East Africa's.
fn time_stamp(context: &TokenContext<'_>, date: &str, end: usize) -> Option<SpokenForm> {
    let joined = context.is_word(end, &["T"]);
    let spaced = context.skip_space(end);
    let at = if joined { end + 1 } else { spaced };
    if !joined && spaced == end {
        return None;
    }
    let (time, end) = clock::international_at(context, at)?;
    // Parts of a second are for machines.
    let fraction = context.is_mark(end, '.') && context.digits(end + 1).is_some() && joined;
    let end = if fraction { end + 2 } else { end };
    match zone(context, end) {
        Some((zone, end)) => SpokenForm::new(format!("{date} {time}{zone}"), end),
        None if joined => SpokenForm::new(format!("{date} {time}"), end),
        None => None,
    }
}

const EAST_AFRICA_MINUTES: u64 = 180;

/// Z, UTC, +03:00, +0300, +03; how it is said, and the token after it.
fn zone(context: &TokenContext<'_>, i: usize) -> Option<(String, usize)> {
    let utc = spell("UTC");
    let at = context.skip_space(i);
    if let Some(word) = context.word(at) {
        let known = word.is_one_of(&["utc", "gmt"]) || (word.text == "Z" && at == i);
        return known.then(|| (format!(" kwa saa za {utc}"), at + 1));
    }
    let sign = match context.kind(at)? {
        Kind::Mark('+') => "jumlisha",
        Kind::Mark('-' | '−') => "toa",
        _ => return None,
    };
    let figures = context.digits(at + 1)?;
    let (hours, minutes, end) = match figures.len() {
        4 => (&figures[..2], &figures[2..], at + 2),
        2 if context.is_mark(at + 2, ':') => (figures, context.digits(at + 3)?, at + 4),
        2 => (figures, "0", at + 2),
        _ => return None,
    };
    let (hours, minutes): (u64, u64) = (hours.parse().ok()?, minutes.parse().ok()?);
    let offset_minutes = hours * 60 + minutes;
    let said = match (offset_minutes, sign) {
        (0, _) => format!(" kwa saa za {utc}"),
        (EAST_AFRICA_MINUTES, "jumlisha") => String::new(),
        _ if minutes == 0 => format!(" kwa saa za {utc} {sign} {}", cardinal(hours)),
        _ => format!(
            " kwa saa za {utc} {sign} {} na dakika {}",
            cardinal(hours),
            cardinal(minutes)
        ),
    };
    Some((said, end))
}

fn glued_before(context: &TokenContext<'_>, i: usize) -> bool {
    match context.kind_before(i) {
        Some(Kind::Mark('.')) => !context.is_abbreviation_dot(i - 1),
        Some(Kind::Mark('-')) => !joins_dates(context, i - 1),
        kind => matches!(kind, Some(Kind::Mark('/') | Kind::Word)),
    }
}

/// "tarehe" and its abbreviations, which are read as the whole word.
const TAREHE: &[&str] = &["tarehe", "trh", "tar"];

/// "tarehe " unless it has been said.
fn tarehe(context: &TokenContext<'_>, i: usize) -> &'static str {
    match follows_tarehe(context, i) {
        true => "",
        false => "tarehe ",
    }
}

fn follows_tarehe(context: &TokenContext<'_>, i: usize) -> bool {
    let mut words = context.words_back(i).skip_while(|w| is_weekday(w));
    words.next().is_some_and(|w| w.is_one_of(TAREHE))
}

fn follows_weekday(context: &TokenContext<'_>, i: usize) -> bool {
    let near = |w: &&Token<'_>| !w.is_one_of(&["hii", "ijayo", "iliyopita"]);
    let before = context.words_back(i).take(2).find(near);
    before.is_some_and(|word| is_weekday(word) || word.is("j"))
}

fn follows_month(context: &TokenContext<'_>, i: usize) -> bool {
    context
        .word_before(i)
        .is_some_and(|w| w.is_capitalised() && w.is_one_of(&MONTHS))
}

pub(crate) fn day(n: u64) -> String {
    match n {
        1 => "mosi".to_owned(),
        _ => cardinal(n),
    }
}

fn day_and_month(d: u64, m: u64) -> Option<String> {
    is_date(d, m, None).then(|| format!("{} {}", day(d), MONTHS[m as usize - 1]))
}

/// "tarehe 3/4", "Ijumaa 17/4": without the word it would be a fraction.
fn day_and_month_number(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    // "tarehe 5/6 hadi 7/6".
    let joined = context.follows(i, &["hadi", "mpaka", "na", "au"]);
    let mut before = context.words_back(i).take(3);
    let listed = joined && before.any(|w| w.is_one_of(TAREHE) || w.is("kuanzia"));
    let told = follows_tarehe(context, i)
        || follows_weekday(context, i)
        || listed
        || is_short_date(context, i);
    // "tarehe 20.11", "kuanzia 1.11 hadi 30.11.2026".
    let until = context.skip_space(i + 3);
    let ranged = context.is_word(until, &["hadi", "mpaka"]);
    let last = whole_date(context, context.skip_space(until + 1)).filter(|_| ranged);
    let dot = match follows_tarehe(context, i) {
        true => !ranged || last.is_some(),
        false => last.is_some() && context.follows(i, &["kuanzia"]),
    };
    let told = if context.is_mark(i + 1, '.') {
        dot
    } else {
        told
    };
    let separated = matches!(context.kind(i + 1), Some(Kind::Mark('/' | '.')));
    let third = context.kind(i + 3) == context.kind(i + 1) && context.digits(i + 4).is_some();
    if !told || !separated || third {
        return None;
    }
    let number = |at: usize| context.digits(at)?.parse::<u64>().ok();
    let said = day_and_month(number(i)?, number(i + 2)?)?;
    SpokenForm::new(format!("{}{said}", tarehe(context, i)), i + 3)
}

fn day_number(context: &TokenContext<'_>, i: usize) -> Option<u64> {
    let digits = context.digits(i).filter(|d| d.len() <= 2)?;
    digits.parse().ok().filter(|d| (1..=31).contains(d))
}

fn month_named(word: &Token<'_>) -> Option<usize> {
    let lists = [
        &MONTHS,
        &MONTHS_ENGLISH,
        &MONTHS_SHORT,
        &MONTHS_ENGLISH_SHORT,
    ];
    lists
        .iter()
        .find_map(|names| names.iter().position(|name| word.is(name)))
}

/// The month named at `i`, and the token after it; a short name may carry a dot.
fn month_at(context: &TokenContext<'_>, i: usize) -> Option<(&'static str, usize)> {
    let word = context.word(i).filter(|w| w.is_capitalised())?;
    let month = MONTHS[month_named(word)?];
    // The dot of a short name is no sentence's end when a year, a dash or a small letter follows.
    let dotted = context.is_mark(i + 1, '.')
        && word.text.len() <= 4
        && context
            .get(context.skip_space(i + 2))
            .is_some_and(|t| match t.kind {
                Kind::Digits | Kind::Mark('-' | '–' | ',') => true,
                Kind::Word => !t.is_capitalised(),
                _ => false,
            });
    Some((month, i + 1 + usize::from(dotted)))
}

/// 12-Oct-2023, 12/Oct/23, 12OCT2023.
fn joined_month_name(context: &TokenContext<'_>, i: usize) -> Option<WrittenDate> {
    let d = day_number(context, i)?;
    let joint = match context.kind(i + 1)? {
        Kind::Mark(mark @ ('-' | '/' | '.')) => Some(mark),
        Kind::Word => None,
        _ => return None,
    };
    let word_at = i + 1 + usize::from(joint.is_some());
    let m = month_named(context.word(word_at)?)? as u64 + 1;
    let year_at = match joint {
        Some(mark) => context.is_mark(word_at + 1, mark).then_some(word_at + 2)?,
        None => word_at + 1,
    };
    WrittenDate::of(d, m, context.digits(year_at)?, year_at + 1)
}

/// "Oct 12, 2023", "March 5", "Dec 2024": English order, said day first. Swahili writers who put the whole name of the
/// month first ("Agosti 20, 2010") say it so, too.
fn month_first(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let word = context.word(i)?;
    if word.is_one_of(&MONTHS) || context.kind_before(i) == Some(Kind::Digits) {
        return None;
    }
    let (month, after) = month_at(context, i)?;
    let at = past_joint(context, after);
    if let Some(year) = whole_year(context, at) {
        return SpokenForm::new(format!("{month} {year}"), at + 1);
    }
    let (days, end) = days_at(context, at)?;
    let comma = matches!(context.kind(end), Some(Kind::Mark(',' | '-' | '/')));
    let year_at = context.skip_space(end + usize::from(comma));
    let opening = tarehe(context, i);
    if let Some(year) = whole_year(context, year_at) {
        return SpokenForm::new(format!("{opening}{days} {month} {year}"), year_at + 1);
    }
    // "Mac 15" and "Mar 12.5" are no dates without their year.
    let goes_on = matches!(
        context.kind(end),
        Some(Kind::Mark(':' | '.' | ',' | '%' | '-' | '/'))
    ) && context.kind(end + 1) == Some(Kind::Digits);
    (!goes_on && !word.is("mac"))
        .then(|| SpokenForm::new(format!("{opening}{days} {month}"), end))?
}

/// "Machi-Mei", "Jan-Machi".
fn month_range(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let (first, end) = month_at(context, i)?;
    let (last, end) = month_at(context, dash_after(context, end)?)?;
    SpokenForm::new(format!("{first} hadi {last}"), end)
}

fn whole_year(context: &TokenContext<'_>, i: usize) -> Option<String> {
    let figures = context.digits(i).filter(|d| d.len() == 4)?;
    let year = figures.parse().ok().filter(|n| (1900..2100).contains(n));
    year.map(cardinal)
}

/// "26 Aprili 1964", "tarehe 1 Julai", "tarehe 5-7 Machi".
fn day_before_month_name(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let (days, after) = days_at(context, i)?;
    let (month, end) = month_at(context, past_joint(context, after))?;
    SpokenForm::new(format!("{}{days} {month}", day_opening(context, i)), end)
}

/// Past the mark of "16-Nov" and "16/Nov", or past a space.
fn past_joint(context: &TokenContext<'_>, i: usize) -> usize {
    match context.kind(i) {
        Some(Kind::Mark('-' | '/')) => i + 1,
        _ => context.skip_space(i),
    }
}

/// "5", "5th" or "5-7", and the token after it.
fn days_at(context: &TokenContext<'_>, i: usize) -> Option<(String, usize)> {
    let first = day(day_number(context, i)?);
    let last = dash_after(context, i + 1).and_then(|j| Some((day_number(context, j)?, j + 1)));
    let suffix = |w: &Token<'_>| matches!(w.text, "st" | "nd" | "rd" | "th");
    Some(match last {
        Some((last, end)) => (format!("{first} hadi {}", day(last)), end),
        None => (
            first,
            i + 1 + usize::from(context.word(i + 1).is_some_and(suffix)),
        ),
    })
}

/// "tarehe 5 na 7 Machi" and "tarehe 3 hadi 9 Mei" have said it once for both.
fn day_opening(context: &TokenContext<'_>, i: usize) -> &'static str {
    let mut words = context.words_back(i);
    match words.next() {
        Some(w) if w.is_one_of(TAREHE) => "",
        Some(w)
            if w.is_one_of(&["hadi", "mpaka", "na", "au"])
                && words.next().is_some_and(|w| w.is("tarehe")) =>
        {
            ""
        }
        _ => "tarehe ",
    }
}

/// A day of the week, in full or as messages shorten it.
fn is_weekday(word: &Token<'_>) -> bool {
    let short = SHORT_WORDS.get(word.text.to_ascii_lowercase().as_str());
    word.is_one_of(&WEEKDAYS) || short.is_some_and(|said| WEEKDAYS.contains(said))
}

/// A day of the week or a month by its name.
pub(super) fn is_day_or_month(word: &Token<'_>) -> bool {
    is_weekday(word) || word.is_one_of(&MONTHS)
}

/// "J3", "J4"; "J1", "J2" and "J5" are telephones too, and days only beside another one or before a time.
fn numbered_day(context: &TokenContext<'_>, i: usize) -> Option<&'static str> {
    let number = numbered(context, i)?;
    let glued = matches!(context.kind_before(i), Some(Kind::Word | Kind::Digits))
        || matches!(context.kind(i + 2), Some(Kind::Word | Kind::Digits));
    let model = context.follows(i, &["samsung", "galaxy", "simu"]);
    // "Kongwa J4" is a junction.
    let named = context.before(i).is_some_and(|j| {
        let name = context
            .word(j)
            .filter(|w| w.is_capitalised() && !is_weekday(w));
        name.is_some() && !context.starts_sentence(j)
    });
    let mut before = context.words_back(i).take(2);
    let beside_day = before.any(is_weekday) || beside_numbered_day(context, i);
    let next = context.skip_space(i + 2);
    let dated = context.digits(next).is_some() && context.is_mark(next + 1, '/');
    let timed = dated || context.is_word(next, &["saa", "asubuhi", "asb", "jioni"]);
    // "ibada ya J2", "kila J2", "J2 ijayo".
    let told = context.is_near(i, 2, &["kila", "siku", "ibada", "misa"])
        || context.is_word(next, &["ijayo", "hii", "iliyopita"]);
    let sure = matches!(number, 3 | 4) && !named || beside_day || timed || told;
    (!glued && !model && sure).then(|| WEEKDAYS[number - 1])
}

/// The number of "J1" to "J5" at `i`.
fn numbered(context: &TokenContext<'_>, i: usize) -> Option<usize> {
    let number = context.digits(i + 1).filter(|d| d.len() == 1)?.parse();
    let number = number.ok().filter(|n| (1..=5).contains(n));
    number.filter(|_| context.is_word(i, &["j"]))
}

/// "J1/J2", "J3-J5", "J1 na J2".
fn beside_numbered_day(context: &TokenContext<'_>, i: usize) -> bool {
    let is_day = |j: usize| numbered(context, j).is_some();
    let joins = |j: usize| {
        matches!(context.kind(j), Some(Kind::Mark('/' | '-' | '–' | ',')))
            || context.is_word(j, &["na", "au", "hadi", "mpaka"])
    };
    let joint = context.skip_space(i + 2);
    let behind = || {
        let joint = context.before(i).filter(|j| joins(*j))?;
        context.before(joint)?.checked_sub(1).map(is_day)
    };
    joins(joint) && is_day(context.skip_space(joint + 1)) || behind() == Some(true)
}

/// A dash at `i` between two days of the week.
pub(crate) fn joins_days(context: &TokenContext<'_>, i: usize) -> bool {
    let (before, after) = (context.before(i), context.skip_space(i + 1));
    let is_day = |j: usize| {
        context.word(j).is_some_and(is_weekday)
            || numbered_day(context, j).is_some()
            || context.digits(j).is_some() && follows_weekday(context, j)
            || j > 0 && numbered_day(context, j - 1).is_some()
    };
    before.is_some_and(is_day) && is_day(after)
}

/// A dash at `i` between two dates with their months: "5 Jan-10 Feb", "Jan. 15 - Feb. 28", "5 Jan - Ijumaa 9 Jan".
pub(crate) fn joins_dates(context: &TokenContext<'_>, i: usize) -> bool {
    const DATE_TOKENS_MAX: usize = 6;
    let is_month = |w: &Token<'_>| w.is_capitalised() && month_named(w).is_some();
    let month_back = (0..i)
        .rev()
        .take(DATE_TOKENS_MAX)
        .any(|j| context.word(j).is_some_and(is_month));
    let ends_date = context.before(i).is_some_and(|j| match context.kind(j) {
        Some(Kind::Digits) => true,
        _ => context.word(j).is_some_and(is_month),
    });
    let mut next = context.skip_space(i + 1);
    if context.word(next).is_some_and(is_weekday) {
        next = context.skip_space(next + 1);
    }
    let starts_date =
        month_at(context, next).is_some() || day_before_month_name(context, next).is_some();
    month_back && ends_date && starts_date
}

/// "tarehe 1" is "tarehe mosi", "Januari 1" "Januari mosi".
fn day_after_tarehe(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let alone = !matches!(context.kind(i + 1), Some(Kind::Mark('/' | '-' | '–' | ':')));
    let number = context.number(i)?;
    (alone
        && number.plain() == Some(1)
        && (follows_tarehe(context, i) || follows_month(context, i)))
    .then(|| SpokenForm::new("mosi", number.end))?
}
