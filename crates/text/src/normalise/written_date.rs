//! Dates in figures, which both languages write in the same ways.

use super::context::TokenContext;
use super::token::Kind;

/// Two-digit years from here on belong to the century before.
const PIVOT_YEAR: u64 = 50;

/// A day that there is.
pub(super) struct WrittenDate {
    pub day: u64,
    pub month: u64,
    /// In full.
    pub year: u64,
    pub end: usize,
}

impl WrittenDate {
    /// The year has two figures or four.
    pub(super) fn of(day: u64, month: u64, year: &str, end: usize) -> Option<Self> {
        let written: u64 = year.parse().ok()?;
        let whole = year.len() == 2 || year.len() == 4 && written >= 1000;
        let year = full_year(written);
        (whole && is_date(day, month, Some(year))).then_some(Self {
            day,
            month,
            year,
            end,
        })
    }

    /// 2024-07-01, 1/7/2024, 01.07.2024, 1-7-24, and 20240701 behind "date".
    pub(super) fn at(context: &TokenContext<'_>, i: usize) -> Option<Self> {
        let first = context.digits(i)?;
        if first.len() == 8 && context.is_near(i, 1, &["date", "tarehe"]) {
            let (day, month) = (first[6..].parse().ok()?, first[4..6].parse().ok()?);
            return Self::of(day, month, &first[..4], i + 1);
        }
        let Kind::Mark(mark @ ('/' | '-' | '.')) = context.kind(i + 1)? else {
            return None;
        };
        let (second, third) = (context.digits(i + 2)?, context.digits(i + 4)?);
        let goes_on = context.is_mark(i + 5, mark) && context.digits(i + 6).is_some();
        if second.len() > 2 || !context.is_mark(i + 3, mark) || goes_on {
            return None;
        }
        // 1.2.34 is a version; a date of dots has its whole year, or two digits in each part.
        let two_digits = [first, second, third].iter().all(|part| part.len() == 2);
        let (day, year) = match (first.len(), third.len()) {
            (4, 1 | 2) => (third, first),
            (1 | 2, 4) => (first, third),
            (1 | 2, 2) if mark != '.' || two_digits => (first, third),
            _ => return None,
        };
        let (day, month): (u64, u64) = (day.parse().ok()?, second.parse().ok()?);
        // With a month over twelve the writer meant month first.
        let swapped = first.len() < 4 && month > 12 && day <= 12;
        let (day, month) = if swapped { (month, day) } else { (day, month) };
        Self::of(day, month, year, i + 5)
    }
}

/// 26 is 2026, and 76 is 1976.
pub(super) fn full_year(year: u64) -> u64 {
    match year {
        0..PIVOT_YEAR => 2000 + year,
        PIVOT_YEAR..=99 => 1900 + year,
        _ => year,
    }
}

/// The month has that day, in that year or in any.
pub(super) fn is_date(day: u64, month: u64, year: Option<u64>) -> bool {
    let leap = year.is_none_or(|y| y % 4 == 0 && (y % 100 != 0 || y % 400 == 0));
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 => 28 + u64::from(leap),
        _ => 0,
    };
    (1..=days).contains(&day)
}

/// The day, the month and perhaps the year of a date in figures.
pub(crate) fn date_parts<'t>(
    text: &'t str,
    format: &str,
) -> Option<(&'t str, &'t str, Option<&'t str>)> {
    let is_numeric = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    if text.len() == 8 && is_numeric(text) {
        return Some((&text[6..], &text[4..6], Some(&text[..4])));
    }
    let parts = text.split(['/', '-', '.', ' ']);
    let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
    let date = match (parts.as_slice(), format) {
        ([month, day], "md") => (*day, *month, None),
        ([day, month], _) => (*day, *month, None),
        ([month, day, year], "mdy") => (*day, *month, Some(*year)),
        ([year, month, day], format) if format == "ymd" || year.len() == 4 => {
            (*day, *month, Some(*year))
        }
        ([day, month, year], _) => (*day, *month, Some(*year)),
        _ => return None,
    };
    parts.iter().all(|part| is_numeric(part)).then_some(date)
}
