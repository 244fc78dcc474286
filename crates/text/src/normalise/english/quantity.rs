//! Numbers in English with their units, ranges and fractions.

use super::money;
use super::number::{cardinal, digits, ordinal, year};
use crate::normalise::context::TokenContext;
use crate::normalise::number::Number;
use crate::normalise::quantity::short_multiplier;
use crate::normalise::reading::SpokenForm;
use crate::normalise::token::Kind;
use crate::normalise::units::{power, written_unit};
use crate::tables::{WordTable, rows};

pub(super) fn said_number(number: &Number<'_>) -> String {
    let whole = match number.value() {
        Some(n) if !number.has_leading_zero() || number.fraction.is_some() => cardinal(n),
        _ => digits(&number.whole),
    };
    match number.fraction {
        Some(fraction) => format!("{whole} point {}", digits(fraction)),
        None => whole,
    }
}

/// "5-10 days", "5-10 km", "50%-60%".
pub(super) fn range(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let mut from = context.number(i)?;
    from.end += usize::from(context.is_mark(from.end, '%'));
    range_end(context, &from)?;
    let to = quantity(context, from.end + 1)?;
    SpokenForm::new(format!("{} to {}", said_number(&from), to.text), to.end)
}

/// The last number of a range.
pub(super) fn range_end<'a>(context: &TokenContext<'a>, from: &Number<'_>) -> Option<Number<'a>> {
    let dash = context.is_mark(from.end, '-') || context.is_mark(from.end, '–');
    let to = context.number(from.end + 1).filter(|_| dash)?;
    let another = context.is_mark(to.end, '-') && context.digits(to.end + 1).is_some();
    (!another).then_some(to)
}

/// As written; one of it, a tab, several of it.
static UNITS: WordTable =
    WordTable::new(|| rows(include_str!("../../../data/english-units.tsv")).collect());

fn unit(written: &str) -> Option<(&'static str, &'static str)> {
    UNITS.get(written)?.split_once('\t')
}

/// One of the unit, several of it, and the token after it.
fn unit_at(context: &TokenContext<'_>, i: usize) -> Option<(String, String, usize)> {
    let (written, end) = written_unit(context, i)?;
    let (one, many) = unit(written)?;
    let (before, end) = match power(context, end) {
        Some(("za mraba", end)) => ("square ", end),
        Some((_, end)) => ("cubic ", end),
        None => ("", end),
    };
    Some((format!("{before}{one}"), format!("{before}{many}"), end))
}

/// "500 shillings per kg".
pub(super) fn unit_after_per(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let (one, _, end) = unit_at(context, i).filter(|_| context.follows(i, &["per"]))?;
    SpokenForm::new(one, end)
}

/// What was said, with "/kg", "/h" or "/month" behind it.
pub(super) fn per(context: &TokenContext<'_>, said: String, end: usize) -> Option<SpokenForm> {
    let word = context
        .word(end + 1)
        .filter(|_| context.is_mark(end, '/'))
        .map(|word| word.text);
    let divisor = word.and_then(|word| match word {
        "h" | "H" => Some("hour"),
        "s" => Some("second"),
        "L" => Some("litre"),
        _ => {
            let is_whole = word.len() > 2 && word.bytes().all(|b| b.is_ascii_lowercase());
            unit(word).map_or(is_whole.then_some(word), |(one, _)| Some(one))
        }
    });
    match divisor {
        Some(divisor) => SpokenForm::new(format!("{said} per {divisor}"), end + 2),
        None => SpokenForm::new(said, end),
    }
}

pub(super) fn quantity(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let number = context.number(i)?;
    let special = money::after_number(context, &number)
        .or_else(|| with_ordinal_suffix(context, &number))
        .or_else(|| fraction(context, &number))
        .or_else(|| mixed(context, &number));
    if special.is_some() {
        return special;
    }
    let said = said_number(&number);
    let at = context.skip_space(number.end);
    if let Some((one, many, end)) = unit_at(context, at) {
        let name = if number.plain() == Some(1) { one } else { many };
        return per(context, format!("{said} {name}"), end);
    }
    let large = match short_multiplier(context, number.end) {
        // The screen.
        Some(_) if said == "four" && context.token(at).text == "K" => None,
        Some(("elfu", end)) => Some(("thousand", end)),
        Some(("milioni", end)) => Some(("million", end)),
        _ => None,
    };
    if let Some((name, end)) = large {
        return per(context, format!("{said} {name}"), end);
    }
    if context.is_mark(at, '%') {
        return SpokenForm::new(format!("{said} per cent"), at + 1);
    }
    let scale = context.word(at + 1).filter(|_| context.is_mark(at, '°'));
    for (letter, name) in [("c", "Celsius"), ("f", "Fahrenheit")] {
        if scale.is_some_and(|scale| scale.is(letter)) {
            return SpokenForm::new(format!("{said} degrees {name}"), at + 2);
        }
    }
    SpokenForm::new(said, number.end)
}

/// "3rd".
fn with_ordinal_suffix(context: &TokenContext<'_>, number: &Number<'_>) -> Option<SpokenForm> {
    let n = number
        .plain()
        .filter(|_| context.is_word(number.end, &["st", "nd", "rd", "th"]))?;
    SpokenForm::new(ordinal(n), number.end + 1)
}

/// What is marked out of a number: "scored 4/5".
const MARKED: &[&str] = &["scored", "score", "got", "marks", "mark", "rated", "rating"];

/// "1/2", "3/4", "2/3", "scored 4/5", "FY 2025/26".
fn fraction(context: &TokenContext<'_>, number: &Number<'_>) -> Option<SpokenForm> {
    let above = number
        .plain()
        .filter(|_| context.is_mark(number.end, '/'))?;
    let below = context.number(number.end + 1)?;
    let mut before = context.words_back(number.end - 1).take(3);
    let is_mark = before.any(|word| word.is_one_of(MARKED));
    let said = match (above, below.plain()?) {
        (above, n) if is_mark && above <= n && n > 4 => {
            format!("{} out of {}", cardinal(above), cardinal(n))
        }
        (above @ 1900..2100, n) if n == above % 100 + 1 || n == above + 1 => {
            format!("{} to {}", year(above), year(above + 1))
        }
        (24, 7) | (50, 50) => format!("{} {}", cardinal(above), said_number(&below)),
        (1, 2) => "a half".to_owned(),
        (1, 4) => "a quarter".to_owned(),
        (3, 4) => "three quarters".to_owned(),
        (1, n @ 3..=20) => format!("one {}", ordinal(n)),
        (above, n @ 3..=20) if above < n => format!("{} {}s", cardinal(above), ordinal(n)),
        (above, n) => format!("{} over {}", cardinal(above), cardinal(n)),
    };
    SpokenForm::new(said, below.end)
}

/// "2 1/2", "2½".
fn mixed(context: &TokenContext<'_>, number: &Number<'_>) -> Option<SpokenForm> {
    let whole = cardinal(number.plain()?);
    let at = context.skip_space(number.end);
    let sign = match context.kind(at) {
        Some(Kind::Mark('½')) => Some("a half"),
        Some(Kind::Mark('¼')) => Some("a quarter"),
        Some(Kind::Mark('¾')) => Some("three quarters"),
        _ => None,
    };
    if let Some(sign) = sign {
        return SpokenForm::new(format!("{whole} and {sign}"), at + 1);
    }
    let above = context.number(at).filter(|_| at > number.end)?;
    let below = context.number(above.end + 1)?.plain()?;
    let part = fraction(context, &above).filter(|part| !context.is_mark(part.end, '/'))?;
    let is_part = above.plain()? < below && below <= 10;
    is_part.then(|| SpokenForm::new(format!("{whole} and {}", part.text), part.end))?
}
