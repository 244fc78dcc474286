//! Both clocks. After "saa" the hours count from six, as Swahili does, and are read as they stand; without it, or with
//! AM/PM, they are international hours and six is taken off.

use super::Reading;
use super::context::Context;
use super::quantity::dash_after;
use super::token::Kind;
use crate::cardinal::cardinal;

const DAY_PARTS: &[&str] = &[
    "alfajiri",
    "asubuhi",
    "mchana",
    "adhuhuri",
    "alasiri",
    "jioni",
    "usiku",
    "magharibi",
];

#[derive(Clone, Copy)]
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
enum Half {
    Am,
    Pm,
}

/// A time as written, and the token after it.
struct Written {
    clock: Clock,
    half: Option<Half>,
    with_minutes: bool,
    /// "07:00" can only be the international clock.
    leading_zero: bool,
    end: usize,
}

pub(crate) fn read(context: &Context<'_>, i: usize) -> Option<Reading> {
    let after_saa = follows_saa(context, i);
    let first = written(context, i, after_saa)?;
    if !after_saa && !first.with_minutes && first.half.is_none() {
        return None;
    }
    if i > 0
        && matches!(
            context.kind(i - 1),
            Some(Kind::Mark('/' | '.' | ':') | Kind::Word)
        )
    {
        return None;
    }
    let range = dash_after(context, first.end).and_then(|j| written(context, j, after_saa));
    match range {
        Some(second) if second.with_minutes || second.half.is_some() || after_saa => {
            range_said(context, i, first, second)
        }
        _ => Reading::new(said(context, i, &first, after_saa), first.end),
    }
}

fn range_said(
    context: &Context<'_>,
    i: usize,
    mut first: Written,
    second: Written,
) -> Option<Reading> {
    first.half = first.half.or(second.half);
    let swahili = follows_saa(context, i) && second.half.is_none();
    let opening = said(context, i, &first, swahili);
    let close = say_clock(context, &second, swahili);
    Reading::new(format!("{opening} hadi saa {close}"), second.end)
}

fn follows_saa(context: &Context<'_>, i: usize) -> bool {
    context.word_before(i).is_some_and(|w| w.is("saa"))
}

/// Hours, and minutes after a colon (or after "saa" a dot), seconds, AM or PM.
fn written(context: &Context<'_>, i: usize, after_saa: bool) -> Option<Written> {
    let hours = context.digits(i).filter(|d| d.len() <= 2)?;
    let hour = hours.parse().ok().filter(|h| *h <= 24)?;
    let two = |j: usize| {
        context
            .digits(j)
            .filter(|d| d.len() == 2)?
            .parse::<u64>()
            .ok()
            .filter(|n| *n < 60)
    };
    let separated = context.is_mark(i + 1, ':') || (after_saa && context.is_mark(i + 1, '.'));
    let mut clock = Clock {
        hour,
        minute: 0,
        second: 0,
    };
    let mut end = i + 1;
    let minute = if separated { two(i + 2) } else { None };
    if let Some(minute) = minute {
        clock.minute = minute;
        end = i + 3;
        if let Some(second) = two(i + 4).filter(|_| context.is_mark(i + 3, ':')) {
            clock.second = second;
            end = i + 5;
        }
    }
    let with_minutes = minute.is_some();
    let (half, end) =
        half_of_day(context, end).map_or((None, end), |(half, end)| (Some(half), end));
    if half.is_some() && !(1..=12).contains(&hour) && hour < 13 {
        return None;
    }
    Some(Written {
        clock,
        half,
        with_minutes,
        leading_zero: hours.len() == 2 && hours.starts_with('0'),
        end,
    })
}

/// AM, PM, a.m., p.m.
fn half_of_day(context: &Context<'_>, i: usize) -> Option<(Half, usize)> {
    let j = context.skip_space(i);
    let word = context.word(j)?;
    if word.is("am") || word.is("pm") {
        return Some((if word.is("am") { Half::Am } else { Half::Pm }, j + 1));
    }
    let dotted = context.is_mark(j + 1, '.') && context.word(j + 2).is_some_and(|w| w.is("m"));
    let half = match word.text {
        "a" | "A" => Half::Am,
        "p" | "P" => Half::Pm,
        _ => return None,
    };
    // The last dot goes with it unless it ends the sentence.
    let ends = context.is_mark(j + 3, '.')
        && context
            .get(context.skip_space(j + 4))
            .is_some_and(|t| !t.is_capitalised());
    dotted.then_some((half, j + 3 + usize::from(ends)))
}

fn said(context: &Context<'_>, i: usize, time: &Written, after_saa: bool) -> String {
    let swahili = time.half.is_none() && (after_saa || counts_from_six(context, i, time));
    let saa = if after_saa { "" } else { "saa " };
    format!("{saa}{}", say_clock(context, time, swahili))
}

/// Without "saa": an earlier Swahili time in the sentence, or a part of the day that fits no other hour, tells the clock.
fn counts_from_six(context: &Context<'_>, i: usize, time: &Written) -> bool {
    let hour = time.clock.hour;
    if time.leading_zero || hour > 12 || hour == 0 {
        return false;
    }
    if context.words_back(i).any(|w| w.is("saa")) {
        return true;
    }
    let international: &[u64] = match day_part_after(context, time.end) {
        Some("alfajiri") => &[4, 5],
        Some("asubuhi") => &[6, 7, 8, 9, 10, 11],
        Some("mchana" | "alasiri" | "adhuhuri") => &[12, 1, 2, 3],
        Some("jioni" | "magharibi") => &[4, 5, 6],
        Some("usiku") => &[],
        _ => return false,
    };
    !international.contains(&hour)
}

fn day_part_after(context: &Context<'_>, i: usize) -> Option<&'static str> {
    let j = context.skip_space(i);
    let j = if context.word(j).is_some_and(|w| w.is_one_of(&["za", "ya"])) {
        context.skip_space(j + 1)
    } else {
        j
    };
    let word = context.word(j)?;
    DAY_PARTS.iter().find(|part| word.is(part)).copied()
}

fn say_clock(context: &Context<'_>, time: &Written, swahili: bool) -> String {
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
