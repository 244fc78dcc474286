//! Numbers in English with their units, ranges and fractions.

use super::calendar::half_of_day;
use super::money;
use super::number::{cardinal, digits, ordinal, year};
use super::signs::{RATES, is_rate};
use crate::normalise::calendar::MONTHS_ENGLISH;
use crate::normalise::context::TokenContext;
use crate::normalise::money::has_amount;
use crate::normalise::number::Number;
use crate::normalise::quantity::{dash_after, is_millions, short_multiplier};
use crate::normalise::reading::SpokenForm;
use crate::normalise::relations::{is_match, is_sum, vulgar};
use crate::normalise::token::{Kind, Token};
use crate::normalise::units::{power, written_unit};
use crate::tables::{WordList, WordTable, rows};

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
    // "Gor Mahia 1 - 0 AFC".
    let other = dash_after(context, from.end).and_then(|j| context.number(j));
    if let Some(to) = other.filter(|to| is_match(context, i, &from, to, to.end)) {
        let said = format!("{} to {}", said_number(&from), said_number(&to));
        return SpokenForm::new(said, to.end);
    }
    from.end += usize::from(context.is_mark(from.end, '%'));
    let last = range_end(context, &from)?;
    if is_sum(context, &from, &last) {
        let said = format!("{} minus {}", said_number(&from), said_number(&last));
        return SpokenForm::new(said, last.end);
    }
    if let Some(said) = years(context, i, &from, &last) {
        return SpokenForm::new(said, last.end);
    }
    // "2-4pm".
    if let Some((half, end)) = half_of_day(context, last.end)
        && last.plain().is_some_and(|hour| hour <= 12)
    {
        let said = format!("{} to {} {half}", said_number(&from), said_number(&last));
        return SpokenForm::new(said, end);
    }
    let to = quantity(context, from.end + 1)?;
    SpokenForm::new(format!("{} to {}", said_number(&from), to.text), to.end)
}

/// "1998-2002", "the 2026-27 season"; "2000-2050 people" are counted.
fn years(
    context: &TokenContext<'_>,
    i: usize,
    from: &Number<'_>,
    to: &Number<'_>,
) -> Option<String> {
    const BEFORE: &[&str] = &["the", "in", "from", "during", "between", "of", "since"];
    let (first, last) = (from.plain()?, to.plain()?);
    let counted = context.word(context.skip_space(to.end)).is_some() && !context.follows(i, BEFORE);
    let short = to.whole.len() == 2 && last > first % 100;
    let fits = (1900..2100).contains(&first) && (short || (first..2100).contains(&last));
    let said = if short { cardinal(last) } else { year(last) };
    let season = short && context.comes_next(to.end, &["season", "budget", "year"]);
    (fits && (!counted || season)).then(|| format!("{} to {said}", year(first)))
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

pub(super) fn unit(written: &str) -> Option<(&'static str, &'static str)> {
    UNITS.get(written)?.split_once('\t')
}

/// One of the unit, several of it, and the token after it.
fn unit_at(context: &TokenContext<'_>, i: usize) -> Option<(String, String, usize)> {
    // "20 sq m", "20 sq. m".
    let square = context.is_word(i, &["sq"]);
    let at = match square {
        true => context.skip_space(i + 1 + usize::from(context.is_mark(i + 1, '.'))),
        false => i,
    };
    let (written, end) = written_unit(context, at)?;
    let (one, many) = unit(written)?;
    let (before, end) = match power(context, end) {
        _ if square => ("square ", end),
        Some(("za mraba", end)) => ("square ", end),
        Some((_, end)) => ("cubic ", end),
        None => ("", end),
    };
    Some((format!("{before}{one}"), format!("{before}{many}"), end))
}

/// "500 shillings per kg", "50 copies/ml".
pub(super) fn unit_after_per(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let (one, many, end) = unit_at(context, i)?;
    // "3+ yrs".
    let plus = context.before(i).filter(|j| context.is_mark(*j, '+'));
    let counted = plus.is_some_and(|j| j > 0 && context.digits(j - 1).is_some());
    let teaspoon = context.follows(i, &["a"]) && context.is_word(i, &["tsp", "tbsp"]);
    let per = teaspoon || context.follows(i, &["per"]) || i > 0 && is_rate(context, i - 1);
    match per {
        true => SpokenForm::new(one, end),
        false => SpokenForm::new(many, end).filter(|_| counted),
    }
}

/// What was said, with what it is divided by: "/kg", "/h", "/month", "/kg/day", "/90kg bag".
pub(super) fn per(
    context: &TokenContext<'_>,
    mut said: String,
    mut end: usize,
) -> Option<SpokenForm> {
    while let Some((divisor, after)) = divisor_at(context, end) {
        said = format!("{said} per {divisor}");
        end = after;
    }
    // "32GB/4GB" is one and the other.
    let next = context
        .number(end + 1)
        .filter(|_| context.is_mark(end, '/'));
    if next.is_some_and(|n| context.get(n.end).map(|t| t.text) != Some(context.token(end - 1).text))
    {
        return SpokenForm::new(said + " per", end + 1);
    }
    SpokenForm::new(said, end)
}

fn divisor_at(context: &TokenContext<'_>, slash: usize) -> Option<(String, usize)> {
    // "UGX 3,800/$".
    let rate = money::named_at(context, slash + 1).filter(|(_, end)| !has_amount(context, *end));
    if let Some((currency, end)) = rate.filter(|_| context.is_mark(slash, '/')) {
        return Some((currency.one.to_owned(), end));
    }
    let word = context.word(slash + 1)?.text;
    let named = match word {
        "h" | "H" => Some("hour"),
        "s" => Some("second"),
        _ => None,
    };
    let whole = word.len() > 2 && word.bytes().all(|b| b.is_ascii_lowercase());
    let unit = || unit_at(context, slash + 1).map(|(one, _, end)| (one, end));
    let divisor = named
        .map(|name| (name.to_owned(), slash + 2))
        .or_else(unit)
        .or(whole.then(|| (word.to_owned(), slash + 2)));
    divisor.filter(|_| context.is_mark(slash, '/'))
}

pub(super) fn quantity(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let number = context.number(i)?;
    let special = money::after_number(context, &number)
        .or_else(|| with_ordinal_suffix(context, &number))
        .or_else(|| plural(context, i, &number))
        .or_else(|| feet_and_inches(context, &number))
        .or_else(|| with_unit(context, fraction(context, &number)?))
        .or_else(|| with_unit(context, mixed(context, &number)?));
    if special.is_some() {
        return special;
    }
    let said = said_number(&number);
    if context.is_inch(number.end) {
        let name = if before_noun(context, number.end + 1) {
            "inch"
        } else {
            "inches"
        };
        return SpokenForm::new(format!("{said} {name}"), number.end + 1);
    }
    let at = context.skip_space(number.end);
    if let Some((one, many, end)) = unit_of(context, i, &number) {
        let single = number.plain() == Some(1) || describes(context, i, end);
        let name = if single { one } else { many };
        return per(context, format!("{said} {name}"), past_dot(context, end));
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
        return per(context, format!("{said} per cent"), at + 1);
    }
    // "3x daily", "2x/day".
    let spaced = context.kind(number.end + 1) == Some(Kind::Space);
    let often = context.is_word(at + 2, &["daily", "weekly", "a", "per"]);
    let sign = matches!(
        context.kind(context.skip_space(number.end + 1)),
        Some(Kind::Mark('+' | '-' | '−' | '='))
    );
    if context.is_word(number.end, &["x"]) && context.is_mark(number.end + 1, '/') {
        return per(context, format!("{said} times"), number.end + 1);
    }
    if spaced && !sign && context.is_word(number.end, &["x"])
        || often && context.is_word(at, &["x"])
    {
        return SpokenForm::new(format!("{said} times"), at + 1);
    }
    let scale = context.word(at + 1).filter(|_| context.is_mark(at, '°'));
    for (letter, name) in [("c", "Celsius"), ("f", "Fahrenheit")] {
        if scale.is_some_and(|scale| scale.is(letter)) {
            return SpokenForm::new(format!("{said} degrees {name}"), at + 2);
        }
    }
    // "88/min", "20.97/unit", but not "v1/audio".
    let alone = matches!(context.kind_before(i), None | Some(Kind::Space));
    let counted = context.word(number.end + 1).is_some_and(|word| {
        word.text.len() > 1 && unit(word.text).is_some() || word.is_one_of(&RATES)
    });
    if alone && counted && context.is_mark(number.end, '/') {
        return per(context, said, number.end);
    }
    // "5-yr-old", "12-hr shift".
    if let Some((one, _, end)) = unit_at(context, number.end + 1)
        && context.is_mark(number.end, '-')
        && context.token(number.end + 1).text.len() > 1
    {
        return SpokenForm::new(format!("{said}-{one}"), past_dot(context, end));
    }
    // "37.2C".
    if number.fraction.is_some() && context.get(number.end).is_some_and(|t| t.text == "C") {
        return SpokenForm::new(format!("{said} degrees Celsius"), number.end + 1);
    }
    SpokenForm::new(said, number.end)
}

/// What has a letter beside its number.
static LETTERED: WordList = WordList::named("english-lettered");
static ELECTRIC: WordList = WordList::named("english-electric");

/// The unit behind a number: not the letter of "Gate 3W", and "A" and "s" only where nothing else can be meant.
fn unit_of(
    context: &TokenContext<'_>,
    i: usize,
    number: &Number<'_>,
) -> Option<(String, String, usize)> {
    let at = context.skip_space(number.end);
    let written = context.word(at)?.text;
    let letter = written.len() == 1 && at == number.end && context.follows(i, &LETTERED);
    if letter || is_millions(context, at) {
        return None;
    }
    let decimal = number.fraction.is_some();
    let electric = || {
        let after = context.comes_next(at + 1, &ELECTRIC);
        after || context.is_near(i, 3, &ELECTRIC)
    };
    let named = match written {
        // "1 MP" is a member of parliament.
        "MP" if at == number.end => ("megapixel", "megapixels"),
        "A" if decimal || electric() => ("ampere", "amperes"),
        "s" if decimal => ("second", "seconds"),
        "in" if is_inches(context, i, number.end) => ("inch", "inches"),
        _ => return unit_at(context, at),
    };
    Some((named.0.to_owned(), named.1.to_owned(), at + 1))
}

/// "5ft 6in", "5 ft 6 in tall", but not "5 ft 6 in Nairobi" or "2in1".
fn is_inches(context: &TokenContext<'_>, i: usize, end: usize) -> bool {
    let at = context.skip_space(end);
    let after_feet = context.follows(i, &["ft", "foot", "feet"]);
    let goes_on = context.kind(at + 1) == Some(Kind::Digits);
    (at == end || after_feet && !before_noun(context, at + 1)) && !goes_on
}

static AFTER_INCHES: WordList = WordList::named("english-after-inches");

/// What is measured in inches is named behind them: "32\" TV".
fn before_noun(context: &TokenContext<'_>, i: usize) -> bool {
    let next = context.skip_space(i);
    context.word(next).is_some() && !context.is_word(next, &AFTER_INCHES)
}

/// "6'2\"", "5'6 tall".
fn feet_and_inches(context: &TokenContext<'_>, number: &Number<'_>) -> Option<SpokenForm> {
    let feet = number.plain().filter(|n| (3..=8).contains(n))?;
    let inches = context.number(number.end + 1).filter(|n| {
        context.is_mark(number.end, '\'') && n.plain().is_some_and(|n| (1..12).contains(&n))
    })?;
    let end = inches.end + usize::from(context.is_inch(inches.end));
    let said = format!("{} foot {}", cardinal(feet), said_number(&inches));
    SpokenForm::new(said, end)
}

/// What is sold or named by its size.
static SIZED: WordList = WordList::named("english-sized");

/// "a 60W bulb", "10A fuse", "90kg bag": the unit of what is named behind it.
fn describes(context: &TokenContext<'_>, i: usize, end: usize) -> bool {
    let next = context.skip_space(end);
    let is_noun = |word: &Token<'_>| !word.is_one_of(&["of", "and", "or", "in", "at", "per"]);
    let article = context.follows(i, &["a", "an"]);
    let sized = context.is_word(next, &ELECTRIC) || context.is_word(next, &SIZED);
    sized || article && context.word(next).is_some_and(is_noun)
}

/// A fraction with the unit behind it: "1/2 kg", "120/80 mmHg".
pub(super) fn with_unit(context: &TokenContext<'_>, part: SpokenForm) -> Option<SpokenForm> {
    let Some((one, many, end)) = unit_at(context, context.skip_space(part.end)) else {
        return Some(part);
    };
    let several = [" over ", " and ", "point "]
        .iter()
        .any(|word| part.text.contains(word));
    let name = if several { many } else { one };
    SpokenForm::new(format!("{} {name}", part.text), end)
}

/// Past the dot of "5 kg. of maize".
fn past_dot(context: &TokenContext<'_>, i: usize) -> usize {
    let next = context.word(context.skip_space(i + 1));
    let goes_on = next.is_some_and(|word| !word.is_capitalised());
    i + usize::from(context.is_mark(i, '.') && goes_on)
}

/// "3rd".
fn with_ordinal_suffix(context: &TokenContext<'_>, number: &Number<'_>) -> Option<SpokenForm> {
    let n = number
        .plain()
        .filter(|_| context.is_word(number.end, &["st", "nd", "rd", "th"]))?;
    SpokenForm::new(ordinal(n), number.end + 1)
}

/// "Form 3s", "Kenya 7s".
fn plural(context: &TokenContext<'_>, i: usize, number: &Number<'_>) -> Option<SpokenForm> {
    let n = number
        .plain()
        .filter(|_| context.get(number.end).is_some_and(|t| t.text == "s"))?;
    let rugby = n == 7 && context.word_before(i).is_some_and(Token::is_capitalised);
    let ending = if n == 6 { "es" } else { "s" };
    (rugby || context.follows(i, &["form", "class", "grade", "standard"]))
        .then(|| SpokenForm::new(cardinal(n) + ending, number.end + 1))?
}

/// What is marked out of a number: "scored 4/5".
static MARKED: WordList = WordList::named("english-marked");

/// "1/2", "3/4", "2/3", "scored 4/5", "FY 2025/26".
fn fraction(context: &TokenContext<'_>, number: &Number<'_>) -> Option<SpokenForm> {
    let above = number
        .plain()
        .filter(|_| context.is_mark(number.end, '/'))?;
    let below = context.number(number.end + 1)?;
    let is_mark = context.is_near(number.end - 1, 3, &MARKED);
    let mut before = context.words_back(number.end - 1);
    let is_numbered = before
        .next()
        .is_some_and(|w| w.is_one_of(&["no", "number"]));
    const DATED: &[&str] = &["exp", "expires", "expiry", "born"];
    let is_dated = context.is_near(number.end - 1, 2, DATED);
    // "Nairobi 28/17°C".
    if context.is_mark(below.end, '°') && context.is_word(below.end + 1, &["c"]) {
        let said = format!("{} and {}", cardinal(above), said_number(&below));
        return SpokenForm::new(format!("{said} degrees Celsius"), below.end + 2);
    }
    let said = match (above, below.plain()?) {
        (above, n) if is_mark && above <= n && n > 4 => {
            format!("{} out of {}", cardinal(above), cardinal(n))
        }
        // "320/322 polling stations".
        (100.., n @ 100..1900) if above <= n && counts_after(context, below.end) => {
            format!("{} out of {}", cardinal(above), cardinal(n))
        }
        // "Exp: 12/2027".
        (month @ 1..=12, n @ 1900..2100) if is_dated => {
            format!("{} {}", MONTHS_ENGLISH[month as usize - 1], year(n))
        }
        // "Legal Notice No. 45/2024".
        (above, n @ 1900..2100) if is_numbered => format!("{} of {}", cardinal(above), year(n)),
        (above @ 1900..2100, n) if n == above % 100 + 1 || n == above + 1 => {
            format!("{} to {}", year(above), year(above + 1))
        }
        // The attacks of 2001.
        (9, 11) if !context.comes_next(below.end, &["of"]) => "nine eleven".to_owned(),
        (24, 7) | (50, 50) => format!("{} {}", cardinal(above), said_number(&below)),
        (above, n) => fraction_name(above, n),
    };
    SpokenForm::new(said, below.end)
}

/// A plain word stands behind the number.
fn counts_after(context: &TokenContext<'_>, end: usize) -> bool {
    let next = context.word(context.skip_space(end));
    next.is_some_and(|w| w.text.len() > 3 && !w.is_capitalised())
}

fn fraction_name(above: u64, below: u64) -> String {
    match (above, below) {
        (1, 2) => "a half".to_owned(),
        (1, 4) => "a quarter".to_owned(),
        (3, 4) => "three quarters".to_owned(),
        (1, n @ 3..=20) => format!("one {}", ordinal(n)),
        (above, n @ 3..=20) if above < n => format!("{} {}s", cardinal(above), ordinal(n)),
        (above, n) => format!("{} over {}", cardinal(above), cardinal(n)),
    }
}

/// "½ tsp", "⅛".
pub(super) fn vulgar_fraction(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    with_unit(context, sign_name(context, i)?)
}

fn sign_name(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let Some(Kind::Mark(mark)) = context.kind(i) else {
        return None;
    };
    let (above, below) = vulgar(mark)?;
    SpokenForm::new(fraction_name(above, below), i + 1)
}

/// "2 1/2", "2½".
fn mixed(context: &TokenContext<'_>, number: &Number<'_>) -> Option<SpokenForm> {
    let whole = cardinal(number.plain()?);
    let at = context.skip_space(number.end);
    if let Some(sign) = sign_name(context, at) {
        return SpokenForm::new(format!("{whole} and {}", sign.text), sign.end);
    }
    let above = context.number(at).filter(|_| at > number.end)?;
    let below = context.number(above.end + 1)?.plain()?;
    let part = fraction(context, &above).filter(|part| !context.is_mark(part.end, '/'))?;
    let is_part = above.plain()? < below && below <= 10;
    is_part.then(|| SpokenForm::new(format!("{whole} and {}", part.text), part.end))?
}
