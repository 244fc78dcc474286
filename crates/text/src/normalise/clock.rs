//! Both clocks. After "saa" the hours count from six, as Swahili does, and are read as they stand; without it, or with
//! AM/PM, they are international hours and six is taken off.

use super::SpokenForm;
use super::context::TokenContext;
use super::dotted_time::{DAY_PARTS, day_part_after, follows_saa, is_dotted_time};
use super::quantity::{dash_after, is_minus_mark};
use super::relations::follows_ratio;
use super::token::Kind;
use super::weekdays::is_english_day;
use crate::cardinal::{cardinal, digits};
use crate::tables::WordList;

#[derive(Clone, Copy, Default)]
struct Clock {
    hour: u64,
    minute: u64,
    second: u64,
}

impl Clock {
    /// "tatu na nusu": the time after "saa", with hours as they stand.
    fn say(self) -> String {
        let seconds = match self.second {
            0 => String::new(),
            n => format!(" na sekunde {}", cardinal(n)),
        };
        let hour = cardinal(self.hour);
        let time = match self.minute {
            0 => hour,
            15 => format!("{hour} na robo"),
            30 => format!("{hour} na nusu"),
            45 if self.second == 0 => format!("{} kasorobo", cardinal(self.hour % 12 + 1)),
            n => format!("{hour} na dakika {}", cardinal(n)),
        };
        time + &seconds
    }

    /// From international to Swahili hours, and the part of the day.
    fn to_swahili(self) -> (Self, &'static str) {
        let part = match self.hour {
            4..6 => "alfajiri",
            6..12 => "asubuhi",
            12..16 => "mchana",
            16..19 => "jioni",
            _ => "usiku",
        };
        let hour = match (self.hour + 18) % 12 {
            0 => 12,
            hour => hour,
        };
        (Self { hour, ..self }, part)
    }
}

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Half {
    Am,
    Pm,
}

/// A time as written, and the token after it.
struct ClockTime {
    clock: Clock,
    half: Option<Half>,
    with_minutes: bool,
    /// "07:00" can only be the international clock.
    leading_zero: bool,
    /// "0800", "17:45 hrs": written as only the international clock is.
    in_hours: bool,
    end: usize,
}

impl ClockTime {
    /// Its hours, minutes and seconds as a length, where "5:30" at `i` has no hours.
    fn as_length(&self, i: usize) -> [u64; 3] {
        let Clock {
            hour,
            minute,
            second,
        } = self.clock;
        match self.end == i + 3 {
            true => [0, hour, minute],
            false => [hour, minute, second],
        }
    }
}

/// The hours, minutes and seconds of "3h 36m", "2h 5m 10s" and "2h30", and the token after them.
pub(super) fn lettered_duration(context: &TokenContext<'_>, i: usize) -> Option<([u64; 3], usize)> {
    /// "9h00" is an hour of the day, and so is "2h30 usiku".
    const SHORT_HOURS_MAX: u64 = 6;
    let part = |j: usize, letter: &str| {
        let named = context.is_word(j + 1, &[letter]);
        context.digits(j).filter(|_| named)?.parse::<u64>().ok()
    };
    let hours = part(i, "h")?;
    let bare = context.digits(i + 2).filter(|minutes| {
        let one_figure = context.token(i).text.len() == 1 && (1..=SHORT_HOURS_MAX).contains(&hours);
        let is_time = follows_saa(context, i)
            || day_part_after(context, i + 3).is_some()
            || half_of_day(context, i + 3).is_some();
        let goes_on = matches!(
            context.kind(i + 3),
            Some(Kind::Word | Kind::Mark(':' | '-' | '–'))
        );
        minutes.len() == 2 && *minutes < "60" && one_figure && !is_time && !goes_on
    });
    if let Some(minutes) = bare {
        return Some(([hours, minutes.parse().ok()?, 0], i + 3));
    }
    let minutes_at = context.skip_space(i + 2);
    let minutes = part(minutes_at, "m").filter(|n| *n < 60)?;
    let seconds_at = context.skip_space(minutes_at + 2);
    Some(match part(seconds_at, "s") {
        Some(seconds) => ([hours, minutes, seconds], seconds_at + 2),
        None => ([hours, minutes, 0], minutes_at + 2),
    })
}

pub(crate) fn read(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    if let Some((parts, end)) = lettered_duration(context, i) {
        return SpokenForm::new(duration(parts), end);
    }
    let after_saa = follows_saa(context, i);
    let first = written(context, i, after_saa)?;
    // "NPK 17:17:17" is a fertiliser, "saa 24/7" no time of the day.
    let goes_on =
        |mark| context.is_mark(first.end, mark) && context.digits(first.end + 1).is_some();
    let always = !first.with_minutes && first.clock.hour == 24 && goes_on('/');
    let scale = context.is_mark(i + 1, ':') && context.number(i + 2).is_some_and(|n| n.grouped);
    let ratio = first.with_minutes && follows_ratio(context, i);
    if always || scale || ratio || context.follows(i, &["npk"]) {
        return None;
    }
    if !after_saa && !first.with_minutes && first.half.is_none() {
        return None;
    }
    let glued = match context.kind_before(i) {
        // "Muda:08:00".
        Some(Kind::Mark(':')) => i < 2 || !context.is_word(i - 2, &["saa", "muda"]),
        kind => matches!(kind, Some(Kind::Mark('/' | '.') | Kind::Word)),
    };
    if glued {
        return None;
    }
    if first.with_minutes && goes_on('.') {
        return runners_time(context, i, &first).filter(|_| !after_saa);
    }
    if is_length(context, i) && first.with_minutes && first.half.is_none() {
        let said = duration(first.as_length(i));
        let named = context.follows(i, &["dakika"]);
        let rest = said.strip_prefix("dakika ").filter(|_| named);
        return SpokenForm::new(rest.unwrap_or(&said), first.end);
    }
    if is_duration(context, i)
        && first.half.is_none()
        && day_part_after(context, first.end).is_none()
    {
        return SpokenForm::new(duration(first.as_length(i)), first.end);
    }
    let range = dash_after(context, first.end).and_then(|j| written(context, j, after_saa));
    match range {
        Some(second) if second.with_minutes || second.half.is_some() || after_saa => {
            range_said(context, i, first, second)
        }
        _ => {
            let from_six = counts_from_six(context, i, &first);
            let said = say_clock(context, &first, from_six);
            SpokenForm::new(format!("{}{said}", saa(after_saa)), first.end)
        }
    }
}

/// "dakika 5:30", "Muda wa simu 00:05:30".
fn is_length(context: &TokenContext<'_>, i: usize) -> bool {
    // "Muda wa kuanza 08:00:00" is a time of the day.
    let short = context
        .digits(i)
        .is_some_and(|hours| ("00".."06").contains(&hours));
    let seconds = short && context.is_mark(i + 3, ':') && context.digits(i + 4).is_some();
    let length = || context.is_near(i, 3, &["muda"]);
    context.follows(i, &["dakika"]) || seconds && length() && !follows_saa(context, i)
}

/// "1:23:45", where nothing says that it is a time of the day: neither "saa" nor a date, nor a second figure of the hour.
pub(super) fn is_duration(context: &TokenContext<'_>, i: usize) -> bool {
    let one = |j: usize| context.digits(j).is_some_and(|d| d.len() == 1);
    let two = |j: usize| context.digits(j).is_some_and(|d| d.len() == 2 && d < "60");
    let before = context.before(i);
    let comma = before.filter(|j| context.is_mark(*j, ','));
    let before = comma.map_or(before, |j| context.before(j));
    let is_date = |j: usize| context.digits(j).is_some() && !context.is_mark(j - 1, ':');
    let after_date = before.is_some_and(|j| j > 0 && is_date(j));
    let written = one(i) && two(i + 2) && two(i + 4);
    let colons = context.is_mark(i + 1, ':') && context.is_mark(i + 3, ':');
    written && colons && !after_date && !follows_saa(context, i)
}

/// "saa moja dakika mbili na sekunde tatu": how long something takes.
fn duration([hours, minutes, seconds]: [u64; 3]) -> String {
    let parts = [("saa", hours), ("dakika", minutes), ("sekunde", seconds)];
    let say = |name: &str, n: u64| format!("{name} {}", cardinal(n));
    said_duration(parts, say, [" ", " na "])
}

/// Hours, minutes and seconds, without those that are none.
pub(super) fn said_duration(
    parts: [(&str, u64); 3],
    say: impl Fn(&str, u64) -> String,
    [comma, and]: [&str; 2],
) -> String {
    let some = parts.iter().filter(|(_, n)| *n > 0);
    let some: Vec<String> = some.map(|(name, n)| say(name, *n)).collect();
    match some.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, before)) => format!("{}{and}{last}", before.join(comma)),
        None => say(parts[2].0, 0),
    }
}

/// "3:48.68": minutes, seconds and parts of one.
fn runners_time(context: &TokenContext<'_>, i: usize, time: &ClockTime) -> Option<SpokenForm> {
    let length = time.as_length(i);
    let parts = digits(context.digits(time.end + 1)?);
    let said = format!("{} nukta {parts}", duration(length));
    (length[2] > 0).then(|| SpokenForm::new(said, time.end + 2))?
}

/// A time of the international clock at `i`, as in a time stamp, and the token after it.
pub(crate) fn international_at(context: &TokenContext<'_>, i: usize) -> Option<(String, usize)> {
    let time = written(context, i, false).filter(|time| time.with_minutes)?;
    let said = say_clock(context, &time, false);
    Some((format!("saa {said}"), time.end))
}

fn saa(said_already: bool) -> &'static str {
    if said_already { "" } else { "saa " }
}

fn range_said(
    context: &TokenContext<'_>,
    i: usize,
    mut first: ClockTime,
    second: ClockTime,
) -> Option<SpokenForm> {
    first.half = first.half.or(second.half);
    let after_saa = follows_saa(context, i);
    let both = after_saa
        && second.half.is_none()
        && !is_international(context, i, &first)
        && !is_international(context, i, &second);
    let same_clock = second.half.is_none() && !is_international(context, i, &second);
    let from_six = both || (!after_saa && same_clock && counts_from_six(context, i, &first));
    let opening = say_clock(context, &first, from_six);
    let close = say_clock(context, &second, from_six);
    SpokenForm::new(
        format!("{}{opening} hadi saa {close}", saa(after_saa)),
        second.end,
    )
}

/// Hours, and minutes after a colon (or after "saa" a dot), seconds, AM or PM, "hrs".
fn written(context: &TokenContext<'_>, i: usize, after_saa: bool) -> Option<ClockTime> {
    let (clock, leading_zero, minutes_end) =
        four_figures(context, i, after_saa).or_else(|| hours_and_minutes(context, i, after_saa))?;
    let (half, end) = half_of_day(context, minutes_end)
        .map_or((None, minutes_end), |(half, end)| (Some(half), end));
    if half.is_some() && clock.hour == 0 {
        return None;
    }
    let is_four_figures = context.digits(i)?.len() == 4;
    let with_minutes = minutes_end > i + 1 || is_four_figures;
    let hours_end = hours_word(context, end).filter(|_| with_minutes);
    Some(ClockTime {
        clock,
        half,
        with_minutes,
        leading_zero,
        in_hours: hours_end.is_some() || is_four_figures,
        end: hours_end.unwrap_or(end),
    })
}

/// 14:30, 14:30:05, 14h30, after "saa" 3.30; the time, whether its hour has a leading zero, and the token after it.
fn hours_and_minutes(
    context: &TokenContext<'_>,
    i: usize,
    after_saa: bool,
) -> Option<(Clock, bool, usize)> {
    let hours = context.digits(i).filter(|d| d.len() <= 2)?;
    let mut clock = Clock {
        hour: hours.parse().ok().filter(|h| *h <= 24)?,
        ..Clock::default()
    };
    let two = |j: usize| {
        let figures = context.digits(j).filter(|d| d.len() == 2)?;
        figures.parse::<u64>().ok().filter(|n| *n < 60)
    };
    let separated = context.is_mark(i + 1, ':')
        || ((after_saa || is_dotted_time(context, i) || half_of_day(context, i + 3).is_some())
            && context.is_mark(i + 1, '.'))
        || context.is_word(i + 1, &["h"]);
    let leading_zero = hours.len() == 2 && hours.starts_with('0');
    let Some(minute) = two(i + 2).filter(|_| separated) else {
        return Some((clock, leading_zero, i + 1));
    };
    clock.minute = minute;
    let mut end = i + 3;
    if let Some(second) = two(i + 4).filter(|_| context.is_mark(i + 3, ':')) {
        clock.second = second;
        end = i + 5;
    }
    Some((clock, leading_zero, end))
}

pub(super) const ZONES: &[&str] = &["gmt", "utc", "eat"];

/// 0800hrs, 0800-1700hrs, "1300 GMT", "saa 0800", "saa 1430 mchana": four figures are a time where something beside them says so.
fn four_figures(
    context: &TokenContext<'_>,
    i: usize,
    after_saa: bool,
) -> Option<(Clock, bool, usize)> {
    let figures = context.digits(i).filter(|d| d.len() == 4)?;
    let clock = Clock {
        hour: figures[..2].parse().ok().filter(|hour| *hour <= 24)?,
        minute: figures[2..].parse().ok().filter(|minute| *minute < 60)?,
        second: 0,
    };
    let other_end = || {
        let j = dash_after(context, i + 1)?;
        context.digits(j).filter(|d| d.len() == 4)?;
        hours_word(context, j + 1)
    };
    let zero = figures.starts_with('0');
    // "saa 0900-1700".
    let four = |j: usize| {
        context
            .digits(j)
            .is_some_and(|d| d.len() == 4 && d <= "2400")
    };
    let dash = context.before(i).filter(|j| is_minus_mark(context, *j));
    let ranged = dash_after(context, i + 1).is_some_and(four)
        || dash.and_then(|j| context.before(j)).is_some_and(four);
    let told = hours_word(context, i + 1).is_some()
        || other_end().is_some()
        || context.comes_next(i + 1, ZONES)
        || (after_saa && (zero || ranged || day_part_after(context, i + 1).is_some()));
    told.then_some((clock, zero, i + 1))
}

/// "hrs" behind a time, and the token after it.
fn hours_word(context: &TokenContext<'_>, i: usize) -> Option<usize> {
    let j = context.skip_space(i);
    let word = context.word(j)?;
    let glued = j == i;
    (word.is_one_of(&["hrs", "hours"]) || (glued && word.is_one_of(&["h", "hr"]))).then_some(j + 1)
}

/// AM, PM, a.m., p.m.
pub(super) fn half_of_day(context: &TokenContext<'_>, i: usize) -> Option<(Half, usize)> {
    let j = context.skip_space(i);
    let half = match context.word(j)?.text.as_bytes()[0].to_ascii_lowercase() {
        b'a' => Half::Am,
        b'p' => Half::Pm,
        _ => return None,
    };
    if context.is_word(j, &["am", "pm"]) {
        return Some((half, j + 1));
    }
    let dotted = context.is_word(j, &["a", "p"])
        && context.is_mark(j + 1, '.')
        && context.is_word(j + 2, &["m"]);
    // The last dot stays where it ends the sentence.
    let goes_on = context.get(context.skip_space(j + 4)).is_some_and(|next| {
        let new = next.is_capitalised() && !next.is_all_caps() && !is_english_day(next);
        next.kind != Kind::Space && !new
    });
    let end = j + 3 + usize::from(context.is_mark(j + 3, '.') && goes_on);
    dotted.then_some((half, end))
}

/// Words before "saa" after which a whole hour is a time of day; elsewhere "saa 24" is a length of time.
static TIME_OPENINGS: WordList = WordList::named("time-openings");

/// By itself the time can only be one of the international clock: Swahili hours end at twelve and are written without
/// a leading zero, and no Swahili twelve is at noon.
fn is_international(context: &TokenContext<'_>, i: usize, time: &ClockTime) -> bool {
    let hour = time.clock.hour;
    let part = day_part_after(context, time.end);
    let time_of_day = time.with_minutes || part.is_some() || context.is_near(i, 3, &TIME_OPENINGS);
    let noon = hour == 12 && international_hours(part).is_some_and(|hours| hours[0] == 12);
    let padded = time.leading_zero
        && time.with_minutes
        && international_hours(part).is_none_or(|hours| hours.contains(&hour));
    time.in_hours || noon || padded || ((hour > 12 || hour == 0) && time_of_day)
}

/// The hours before noon or after it that a part of the day names on the international clock.
fn international_hours(day_part: Option<&str>) -> Option<&'static [u64]> {
    Some(match day_part? {
        "alfajiri" => &[4, 5],
        "asubuhi" => &[6, 7, 8, 9, 10, 11],
        "mchana" | "alasiri" | "adhuhuri" => &[12, 1, 2, 3],
        "jioni" | "magharibi" => &[4, 5, 6],
        // The night has as many hours on both clocks: it tells nothing.
        "usiku" => &[0],
        _ => return None,
    })
}

/// No Swahili morning has an eighth hour and no Swahili evening a fifth: "saa 8:00 asubuhi", "saa 5:00 jioni".
fn is_western_by_part(hour: u64, day_part: Option<&str>) -> bool {
    match day_part {
        Some("asubuhi") => (7..=10).contains(&hour),
        Some("jioni") => (4..=6).contains(&hour),
        _ => false,
    }
}

const RANGE_WORDS: &[&str] = &["hadi", "mpaka", "na", "to", "until"];

/// The other end of "saa 8:00 hadi saa 17:00" tells the clock of both.
fn other_end_is_international(context: &TokenContext<'_>, i: usize, time: &ClockTime) -> bool {
    let at = |j: usize| {
        let end = written(context, j, follows_saa(context, j));
        end.is_some_and(|end| is_international(context, j, &end))
    };
    let ahead = || {
        let mut j = context.skip_space(time.end);
        if day_part_after(context, time.end).is_some() {
            j = context.skip_space(j + 1);
        }
        context.word(j).filter(|w| w.is_one_of(RANGE_WORDS))?;
        j = context.skip_space(j + 1);
        if context.is_word(j, &["saa"]) {
            j = context.skip_space(j + 1);
        }
        Some(at(j))
    };
    let behind = || {
        let mut j = context.before(i)?;
        if context.word(j)?.is("saa") {
            j = context.before(j)?;
        }
        context.word(j).filter(|w| w.is_one_of(RANGE_WORDS))?;
        j = context.before(j)?;
        if context.is_word(j, &DAY_PARTS) {
            j = context.before(j)?;
        }
        context.digits(j)?;
        let with_minutes = j >= 2 && matches!(context.kind(j - 1), Some(Kind::Mark(':' | '.')));
        Some(at(if with_minutes { j - 2 } else { j }))
    };
    ahead() == Some(true) || behind() == Some(true)
}

/// Whether the hours count from six, as they do after "saa". Without it an earlier Swahili time in the sentence, or a
/// part of the day that fits no other hour, tells the clock.
fn counts_from_six(context: &TokenContext<'_>, i: usize, time: &ClockTime) -> bool {
    let hour = time.clock.hour;
    if time.half.is_some() || is_international(context, i, time) {
        return false;
    }
    let after_saa = follows_saa(context, i);
    let shared_international = other_end_is_international(context, i, time);
    if after_saa && !shared_international {
        return !is_western_by_part(hour, day_part_after(context, time.end));
    }
    if !after_saa && (time.leading_zero || hour > 12 || hour == 0) {
        return false;
    }
    if !shared_international && context.words_back(i).any(|w| w.is("saa")) {
        return true;
    }
    let hours = international_hours(day_part_after(context, time.end));
    hours.is_some_and(|hours| !hours.contains(&hour))
}

fn say_clock(context: &TokenContext<'_>, time: &ClockTime, swahili: bool) -> String {
    if swahili {
        return time.clock.say();
    }
    let named = day_part_after(context, time.end);
    let mut clock = time.clock;
    clock.hour = match (time.half, clock.hour) {
        (Some(Half::Am), 12) => 0,
        (Some(Half::Pm), hour @ 1..12) => hour + 12,
        // "7:00 jioni" is in the second half of the day.
        (None, hour @ 1..12)
            if matches!(named, Some("mchana" | "alasiri" | "jioni" | "usiku"))
                && !time.leading_zero =>
        {
            hour + 12
        }
        (_, hour) => hour % 24,
    };
    let (clock, part) = clock.to_swahili();
    match named {
        Some(_) => clock.say(),
        None => format!("{} {part}", clock.say()),
    }
}
