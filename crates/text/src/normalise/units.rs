//! Units: their name comes before the number ("kilomita tano").

use super::SpokenForm;
use super::agreement::class_of;
use super::context::TokenContext;
use super::quantity::{Quantity, is_lettered, is_millions};
use super::token::Kind;
use crate::tables::{WordTable, rows};

/// As written; said before the number, a tab, said after it.
static UNITS: WordTable = WordTable::new(|| rows(include_str!("../../data/units.tsv")).collect());

/// What may stand under the line.
static DIVISORS: WordTable =
    WordTable::new(|| rows(include_str!("../../data/divisors.tsv")).collect());

fn unit(written: &str) -> Option<(&'static str, &'static str)> {
    UNITS.get(written)?.split_once('\t')
}

/// "/kg", "/mwezi" behind an amount: what it is for, and the token after it.
pub(crate) fn divisor_at(
    context: &TokenContext<'_>,
    slash: usize,
) -> Option<(&'static str, usize)> {
    let below = context.get(slash + 1)?.text;
    let (name, end) = match (below, power(context, slash + 2)) {
        ("m", Some(("za mraba", end))) => ("mita ya mraba", end),
        ("km", Some(("za mraba", end))) => ("kilomita ya mraba", end),
        ("m", Some((_, end))) => ("mita ya ujazo", end),
        ("mm", Some(("za ujazo", end))) => ("milimita ya ujazo", end),
        _ => (*DIVISORS.get(below)?, slash + 2),
    };
    // "KES 500/$5" are two prices.
    let priced = context.word(slash + 1).is_none() && context.digits(end).is_some();
    (context.is_mark(slash, '/') && !priced).then_some((name, end))
}

pub(crate) fn read(
    context: &TokenContext<'_>,
    i: usize,
    quantity: &Quantity<'_>,
) -> Option<SpokenForm> {
    let unit = context.skip_space(quantity.end);
    if let Some(reading) = temperature(context, i, quantity, unit) {
        return Some(reading);
    }
    let (name, tail, end) = unit_at(context, unit)?;
    if is_millions(context, unit) {
        return None;
    }
    // "Kidato cha 4A" is no current.
    let letter = context.token(unit).text;
    if unit == quantity.end && letter.len() == 1 && letter != "m" && is_lettered(context, unit) {
        return None;
    }
    // "Alama: 81-100 A".
    const GRADED: &[&str] = &["alama", "maksi", "gredi", "grade", "daraja"];
    if letter == "A" && unit > quantity.end && context.is_near(i, 4, GRADED) {
        return None;
    }
    // "Dakika 2 sek 30": the number has its unit before it, and this one belongs to the next.
    let next_number = context.figures_follow(end);
    if next_number && context.follows(i, &["dakika", "saa", "masaa"]) {
        return None;
    }
    // The name may stand there already: "kilomita 5 km".
    let name = if context.follows(i, &[name]) {
        ""
    } else {
        name
    };
    SpokenForm::new(said(name, &tail, quantity), end)
}

fn said(name: &str, tail: &str, quantity: &Quantity<'_>) -> String {
    let one = quantity.low.plain() == Some(1) && quantity.high.is_none();
    let (name, tail) = match name {
        "vijiko" if one => ("kijiko", &*tail.replace("vya", "cha")),
        _ => (name, tail),
    };
    // Units have no class that shows, but "miaka mitano".
    let counted = matches!(name, "miaka" | "vipande" | "vijiko" | "kijiko");
    let said = quantity.say_with(class_of(name).filter(|_| counted));
    let parts = [name, &said, tail];
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join(" ")
}

/// The unit as the tables have it, and the token after it: "mb/s" is "Mbps", though "mb" alone may be bytes.
pub(super) fn written_unit<'a>(context: &TokenContext<'a>, i: usize) -> Option<(&'a str, usize)> {
    const SHORT_LETTERS_MAX: usize = 3;
    let word = context.word(i)?;
    // "Nina 2 bt hawasomi": "but" of chats, not the bottles of "1 bt tds".
    let next = context.word(context.skip_space(i + 1));
    if word.text == "bt" && next.is_some_and(|next| next.text.len() > SHORT_LETTERS_MAX) {
        return None;
    }
    let bits = word.is("mb") && word.text != "MB";
    let per_second = context.is_mark(i + 1, '/') && context.is_word(i + 2, &["s"]);
    Some(match bits && per_second {
        true => ("Mbps", i + 3),
        false => (word.text, i + 1),
    })
}

/// The unit's name, what is said after the number, and the token after the unit.
pub(super) fn unit_at(
    context: &TokenContext<'_>,
    i: usize,
) -> Option<(&'static str, String, usize)> {
    let (written, end) = written_unit(context, i)?;
    let (name, tail) = unit(written)?;
    if !tail.is_empty() {
        return Some((name, tail.to_owned(), end));
    }
    if let Some((tail, end)) = power(context, i + 1) {
        return Some((name, tail.to_owned(), end));
    }
    if let Some((divisor, end)) = divisor_at(context, i + 1) {
        // "10mg/kg/siku".
        return Some(match divisor_at(context, end) {
            Some((second, end)) => (name, format!("kwa {divisor} kwa {second}"), end),
            None => (name, format!("kwa {divisor}"), end),
        });
    }
    // "5 m-pesa", "3 g'": the letter belongs to something else.
    let word_goes_on = matches!(
        context.kind(i + 1),
        Some(Kind::Digits | Kind::Mark('-' | '\'' | '@'))
    );
    // "5kg-10kg".
    let range = context.is_mark(i + 1, '-') && context.digits(i + 2).is_some();
    (!word_goes_on || range).then(|| (name, String::new(), i + 1))
}

pub(super) fn power(context: &TokenContext<'_>, i: usize) -> Option<(&'static str, usize)> {
    let caret = context.is_mark(i, '^');
    match (
        context.kind(i)?,
        context.digits(if caret { i + 1 } else { i }),
    ) {
        (Kind::Mark('²'), _) => Some(("za mraba", i + 1)),
        (Kind::Mark('³'), _) => Some(("za ujazo", i + 1)),
        (_, Some("2")) => Some(("za mraba", i + 1 + usize::from(caret))),
        (_, Some("3")) => Some(("za ujazo", i + 1 + usize::from(caret))),
        _ => None,
    }
}

fn temperature(
    context: &TokenContext<'_>,
    i: usize,
    quantity: &Quantity<'_>,
    at: usize,
) -> Option<SpokenForm> {
    // "37.2C", "Joto 37.2 C".
    const HEATED: &[&str] = &["oka", "oven", "oveni", "joto", "jotoridi"];
    let heated = at == quantity.end && context.is_near(i, 3, HEATED);
    let bare = (quantity.low.fraction.is_some() || heated)
        && (at == quantity.end || context.follows(i, &["joto"]))
        && context.get(at).is_some_and(|t| t.text == "C");
    if !bare && !context.is_mark(at, '°') {
        return None;
    }
    let scale = if bare { at } else { context.skip_space(at + 1) };
    let (tail, end) = match context.word(scale).map(|w| w.text) {
        Some("C" | "c") => ("", scale + 1),
        Some("F" | "f") => (" za farenhaiti", scale + 1),
        _ => {
            let named = context.follows(i, &["nyuzi", "digrii"]);
            let name = if named { "" } else { "digrii " };
            return SpokenForm::new(format!("{name}{}", quantity.say_with(None)), at + 1);
        }
    };
    // "nyuzi joto 37.2°C", and "joto 37.2C" for short.
    let mut before = context.words_back(i);
    let short = bare && at == quantity.end || before.nth(1).is_some_and(|w| w.is("nyuzi"));
    let name = match context.word_before(i) {
        Some(word) if word.is_one_of(&["nyuzi", "nyuzijoto"]) => "",
        Some(word) if word.is("joto") => {
            if short {
                ""
            } else {
                "nyuzi "
            }
        }
        _ => "nyuzi joto ",
    };
    SpokenForm::new(format!("{name}{}{tail}", quantity.say_with(None)), end)
}

/// A unit before its number: "kg 5", "m² 600". Single letters are too easily something else.
pub(crate) fn before_number(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let special = area_before_number(context, i).or_else(|| rate_before_number(context, i));
    if special.is_some() {
        return special;
    }
    let word = context.word(i).filter(|w| w.text.len() > 1)?;
    let (name, _) = unit(word.text).filter(|(_, tail)| tail.is_empty())?;
    let number = context.skip_space(i + 1);
    // "KG 7 Ave" is a street of Kigali.
    let street = context.comes_next(number + 1, &["ave", "st", "rd"]);
    let number_follows = context.digits(number).is_some() && !street;
    // "Token 1234 5678 kWh 28.1": the figures before are another's.
    let bought = word.is("kwh") && context.number(number).is_some_and(|n| n.fraction.is_some());
    let after_number = !bought && context.follows_figures(i);
    let is_word = matches!(
        word.text,
        "min" | "mi" | "cal" | "sek" | "dak" | "ha" | "hr" | "sec" | "MP" | "bt"
    );
    let part = context.follows(i, &["nusu", "robo", "kwa", "kila"]) && !is_word;
    (part || number_follows && !after_number && !is_word).then(|| SpokenForm::new(name, i + 1))?
}

/// "m² 600", "m3 14", "sqm 600".
fn area_before_number(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let word = context.word(i)?.text;
    let (tail, end) = match word {
        "sqm" => ("za mraba", i + 1),
        _ => power(context, i + 1)?,
    };
    let (name, _) = unit(word).filter(|(name, _)| name.ends_with("mita"))?;
    let number_follows = context.figures_follow(end);
    let apart = context.kind(end) == Some(Kind::Space)
        && context.kind_before(i) != Some(Kind::Digits)
        && !context.follows_figures(i);
    // One says "mita mraba", but "mita za ujazo".
    let tail = tail.replace("za mraba", "mraba");
    (number_follows && apart).then(|| SpokenForm::new(format!("{name} {tail}"), end))?
}

/// "upepo km/h 20", "tsp 2".
fn rate_before_number(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let (name, tail, end) = unit_at(context, i).filter(|(_, tail, _)| !tail.is_empty())?;
    let quantity = Quantity::at(context, context.skip_space(end))?;
    let after_number = context.follows_figures(i);
    let said = said(name, &tail, &quantity);
    (!after_number && context.kind(end) == Some(Kind::Space))
        .then(|| SpokenForm::new(said, quantity.end))?
}

/// The plain name of a unit, for "nusu kilogramu".
pub(crate) fn name_at(context: &TokenContext<'_>, i: usize) -> Option<(&'static str, usize)> {
    let (name, tail, end) = unit_at(context, i)?;
    match tail.as_str() {
        "" => Some((name, end)),
        "vya chai" => Some(("kijiko cha chai", end)),
        "vya mezani" => Some(("kijiko cha mezani", end)),
        _ => None,
    }
}
