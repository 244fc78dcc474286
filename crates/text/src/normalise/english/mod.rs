//! Written English to spoken words: numbers, dates, money, the clock, abbreviations. Names stay as they are.

mod calendar;
mod money;
mod number;

use super::context::TokenContext;
use super::number::Number;
use super::reading::SpokenForm;
use super::token::{Kind, tokens};
use super::{Piece, PieceKind, Rule, push};
use crate::clean::clean;
use crate::english::{is_known, respell};
use crate::lexicon::is_name;
use number::{cardinal, digits, ordinal};

pub(crate) fn pieces(text: &str) -> Vec<Piece> {
    let cleaned = clean(text);
    let context = TokenContext::new(tokens(&cleaned.text));
    let mut out = Vec::with_capacity(context.len());
    let mut i = 0;
    while i < context.len() {
        let (reading, kind) = read(&context, i);
        let end = reading.end.clamp(i + 1, context.len());
        push(&mut out, &context, &cleaned, i..end, reading.text, kind);
        i = end;
    }
    out
}

const RULES: &[Rule] = &[
    phone,
    calendar::date,
    calendar::clock,
    money::before_number,
    code,
    calendar::year_in_context,
    range,
    quantity,
    abbreviation,
    capitals,
];

fn read(context: &TokenContext<'_>, i: usize) -> (SpokenForm, PieceKind) {
    let token = context.token(i);
    if token.kind == Kind::Space {
        return (super::space(token, i), PieceKind::Space);
    }
    if let Some(reading) = RULES.iter().find_map(|rule| rule(context, i)) {
        return (reading, PieceKind::English);
    }
    let end = i + 1;
    match token.kind {
        Kind::Mark(mark) => {
            let text = said_mark(context, i, mark);
            (SpokenForm { text, end }, PieceKind::Mark)
        }
        _ => {
            let text = token.text.to_owned();
            let kind = match is_local_name(context, i) {
                true => PieceKind::Word,
                false => PieceKind::English,
            };
            (SpokenForm { text, end }, kind)
        }
    }
}

/// A name that is said by its Swahili letters or by our list: "Were" in "Mrs Were", "Cheptegei". A capital at the start
/// of a sentence tells nothing.
fn is_local_name(context: &TokenContext<'_>, i: usize) -> bool {
    let Some(word) = context.word(i).filter(|word| word.is_capitalised()) else {
        return false;
    };
    let lower = word.text.to_ascii_lowercase();
    let stem = lower.strip_suffix("'s").unwrap_or(&lower);
    let unknown = !is_known(stem) && respell(stem).is_none();
    !context.starts_sentence(i) && !context.shouting && (is_name(word.text) || unknown)
}

fn said_mark(context: &TokenContext<'_>, i: usize, mark: char) -> String {
    let glued = |j: Option<usize>| {
        j.and_then(|j| context.get(j))
            .is_some_and(|t| matches!(t.kind, Kind::Word | Kind::Digits))
    };
    let inside = glued(i.checked_sub(1)) && glued(Some(i + 1));
    let said = match mark {
        '&' => "and",
        '%' => "per cent",
        '+' => "plus",
        '=' => "equals",
        '@' => "at",
        '°' => "degrees",
        '.' if inside => "dot",
        '/' if inside => "or",
        _ => return mark.to_string(),
    };
    format!(" {said} ")
}

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

/// "+254 712 345 678", "0712345678".
fn phone(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    const DIGITS_MIN: usize = 9;
    const GROUPS_MAX: usize = 6;
    let plus = context.is_mark(i, '+');
    let mut at = i + usize::from(plus);
    let first = context.digits(at)?;
    if !plus && !first.starts_with('0') {
        return None;
    }
    let mut groups = vec![first];
    at += 1;
    while groups.len() < GROUPS_MAX
        && context
            .get(at)
            .is_some_and(|t| t.text == " " || t.text == "-")
        && let Some(group) = context.digits(at + 1)
    {
        groups.push(group);
        at += 2;
    }
    let length: usize = groups.iter().map(|group| group.len()).sum();
    let plus = if plus { "+" } else { "" };
    (length >= DIGITS_MIN)
        .then(|| {
            SpokenForm::new(
                calendar::telephone(&format!("{plus}{}", groups.join(" "))),
                at,
            )
        })
        .flatten()
}

/// Numbers that are names: "code 4729", "Till No. 832145".
fn code(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    const NAMED: &[&str] = &[
        "pin",
        "code",
        "token",
        "otp",
        "number",
        "no",
        "till",
        "paybill",
        "account",
        "acc",
        "ref",
        "reference",
        "id",
        "ticket",
        "box",
        "dial",
        "text",
        "sms",
        "password",
        "flight",
        "meter",
    ];
    const QUANTITY_DIGITS_MAX: usize = 6;
    let figures = context.digits(i)?;
    let number = context.number(i)?;
    if number.grouped || number.fraction.is_some() {
        return None;
    }
    let named = context
        .words_back(i)
        .take(3)
        .any(|word| word.is_one_of(NAMED));
    let long = figures.len() > QUANTITY_DIGITS_MAX;
    let is_code = long || (named && figures.len() > 2);
    is_code
        .then(|| SpokenForm::new(digits(figures), i + 1))
        .flatten()
}

/// "5-10 days".
fn range(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let from = context.number(i)?;
    let dash = context.is_mark(from.end, '-') || context.is_mark(from.end, '–');
    let to = context.number(from.end + 1).filter(|_| dash)?;
    let another = context.is_mark(to.end, '-') && context.digits(to.end + 1).is_some();
    (!another)
        .then(|| {
            SpokenForm::new(
                format!("{} to {}", said_number(&from), said_number(&to)),
                to.end,
            )
        })
        .flatten()
}

/// As written, one of it, several of it.
const UNITS: &[(&str, &str, &str)] = &[
    ("mm", "millimetre", "millimetres"),
    ("cm", "centimetre", "centimetres"),
    ("m", "metre", "metres"),
    ("km", "kilometre", "kilometres"),
    ("mg", "milligram", "milligrams"),
    ("g", "gram", "grams"),
    ("kg", "kilogram", "kilograms"),
    ("kgs", "kilogram", "kilograms"),
    ("ml", "millilitre", "millilitres"),
    ("l", "litre", "litres"),
    ("ha", "hectare", "hectares"),
    ("ft", "foot", "feet"),
    ("KB", "kilobyte", "kilobytes"),
    ("MB", "megabyte", "megabytes"),
    ("GB", "gigabyte", "gigabytes"),
    ("TB", "terabyte", "terabytes"),
    ("kW", "kilowatt", "kilowatts"),
    ("MW", "megawatt", "megawatts"),
    ("kWh", "kilowatt hour", "kilowatt hours"),
    ("V", "volt", "volts"),
    ("hr", "hour", "hours"),
    ("hrs", "hour", "hours"),
    ("min", "minute", "minutes"),
    ("mins", "minute", "minutes"),
    ("sec", "second", "seconds"),
    ("secs", "second", "seconds"),
];

fn quantity(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let number = context.number(i)?;
    if let Some(money) = money::after_number(context, &number) {
        return Some(money);
    }
    let suffix = context.word(number.end);
    if let Some(n) = number.plain()
        && suffix.is_some_and(|w| w.is_one_of(&["st", "nd", "rd", "th"]))
    {
        return SpokenForm::new(ordinal(n), number.end + 1);
    }
    if let Some(fraction) = fraction(context, &number) {
        return Some(fraction);
    }
    let minus = i > 0
        && context.is_mark(i - 1, '-')
        && i.checked_sub(2)
            .is_none_or(|j| context.kind(j) == Some(Kind::Space));
    let minus = if minus { "minus " } else { "" };
    let said = format!("{minus}{}", said_number(&number));
    let at = context.skip_space(number.end);
    if let Some((_, one, many)) = context
        .word(at)
        .and_then(|word| UNITS.iter().find(|unit| word.text == unit.0))
    {
        let single = number.plain() == Some(1);
        return SpokenForm::new(
            format!("{said} {}", if single { one } else { many }),
            at + 1,
        );
    }
    SpokenForm::new(said, number.end)
}

/// "1/2", "3/4", "2/3".
fn fraction(context: &TokenContext<'_>, number: &Number<'_>) -> Option<SpokenForm> {
    let above = number
        .plain()
        .filter(|_| context.is_mark(number.end, '/'))?;
    let below = context.number(number.end + 1)?;
    let said = match (above, below.plain()?) {
        (1, 2) => "a half".to_owned(),
        (1, 4) => "a quarter".to_owned(),
        (n, 4) => format!("{} quarters", cardinal(n)),
        (1, n @ 3..=20) => format!("one {}", ordinal(n)),
        (above, n @ 3..=20) if above < n => format!("{} {}s", cardinal(above), ordinal(n)),
        (above, n) => format!("{} over {}", cardinal(above), cardinal(n)),
    };
    SpokenForm::new(said, below.end)
}

const ABBREVIATIONS: &[(&str, &str)] = &[
    ("mr", "mister"),
    ("mrs", "missis"),
    ("dr", "doctor"),
    ("prof", "professor"),
    ("hon", "honourable"),
    ("rev", "reverend"),
    ("approx", "approximately"),
    ("etc", "et cetera"),
    ("vs", "versus"),
    ("dept", "department"),
    ("govt", "government"),
    ("ltd", "limited"),
    ("tel", "telephone"),
    ("jan", "January"),
    ("feb", "February"),
    ("aug", "August"),
    ("sept", "September"),
    ("oct", "October"),
    ("nov", "November"),
    ("dec", "December"),
];

fn abbreviation(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let word = context.word(i)?;
    let dot = usize::from(context.is_mark(i + 1, '.'));
    let next = context.skip_space(i + 1 + dot);
    if word.is("no") && context.digits(next).is_some() && (dot == 1 || word.text == "No") {
        return SpokenForm::new("number", i + 2.min(1 + dot));
    }
    let (_, said) = ABBREVIATIONS.iter().find(|(written, _)| word.is(written))?;
    SpokenForm::new(*said, i + 1 + dot)
}

/// Letters one by one, unless they make a word.
fn capitals(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    const AS_WORDS: &[&str] = &[
        "PIN", "SIM", "VAT", "TIN", "COVID", "AIDS", "NASA", "FIFA", "UNESCO",
    ];
    const SPELLED_LETTERS_MAX: usize = 5;
    let word = context.word(i).filter(|word| word.is_all_caps())?;
    let lower = word.text.to_ascii_lowercase();
    let has_vowel = lower.contains(['a', 'e', 'i', 'o', 'u']);
    let is_word = AS_WORDS.contains(&word.text)
        || context.shouting && is_known(&lower)
        || has_vowel && (lower.len() > SPELLED_LETTERS_MAX || lower.len() > 3 && is_known(&lower));
    if is_word || word.text.contains('\'') {
        return None;
    }
    let letters: Vec<String> = word.text.chars().map(String::from).collect();
    SpokenForm::new(letters.join(" "), i + 1)
}

/// A text whose kind the caller names, for SSML's say-as.
pub(crate) fn say_as(text: &str, kind: &str, format: &str) -> Option<String> {
    let said = match kind {
        "digits" => digits(text),
        "characters" | "spell-out" | "verbatim" => {
            let said = text.chars().filter(char::is_ascii_alphanumeric).map(|c| {
                let letter = c.to_ascii_uppercase().to_string();
                if c.is_ascii_digit() {
                    digits(&letter)
                } else {
                    letter
                }
            });
            said.collect::<Vec<_>>().join(" ")
        }
        "ordinal" => ordinal(text.parse().ok()?),
        "date" => calendar::date_in_format(text, format)?,
        "telephone" => calendar::telephone(text),
        "time" => {
            let context = TokenContext::new(tokens(text));
            calendar::clock(&context, 0)?.text
        }
        "currency" => {
            let said = spoken(text);
            let named = said
                .split(' ')
                .any(|word| word.len() > 2 && !is_number_word(word));
            let plain = text
                .contains(|c: char| c.is_ascii_digit())
                .then_some(said)?;
            if named {
                plain
            } else {
                format!("{plain} shillings")
            }
        }
        _ => text
            .contains(|c: char| c.is_ascii_digit())
            .then(|| spoken(text))?,
    };
    (!said.is_empty()).then_some(said)
}

fn is_number_word(word: &str) -> bool {
    (0..100).any(|n| cardinal(n) == word)
        || ["and", "hundred", "thousand", "million", "billion", "point"].contains(&word)
}

fn spoken(text: &str) -> String {
    let said: String = pieces(text).into_iter().map(|piece| piece.text).collect();
    said.split_whitespace().collect::<Vec<_>>().join(" ")
}
