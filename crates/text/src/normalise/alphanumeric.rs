//! Letters and digits in one: plates, references of mobile money, product names such as MP3 and B12.

use super::context::TokenContext;
use super::number::Number;
use super::quantity::{Quantity, dash_after, with_suffix};
use super::token::Kind;
use super::{SpokenForm, money};
use crate::cardinal::{cardinal, digits};
use crate::letters::spell;

/// Capitals and digits in one: plates, references of mobile money, MP3 and B12.
pub(crate) fn read(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    if matches!(
        context.kind_before(i),
        Some(Kind::Word | Kind::Digits | Kind::Mark('\'' | '-' | '.' | ','))
    ) || context.is_word(i, &["fy"])
    {
        // "FY2026/27" is a year.
        return None;
    }
    plate(context, i)
        .or_else(|| reference(context, i))
        .or_else(|| glued(context, i))
}

/// Letters in one part of a reference; longer ones are words.
const REFERENCE_LETTERS_MAX: usize = 5;
const REFERENCE_PARTS_MAX: usize = 12;

/// MPX-0098/24, INV/2024/0012: capitals and figures with dashes or slashes between them. Figures keep their zeros.
/// COVID-19 and F-16 are names: one short number.
fn reference(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    // "128GB/6GB", "450K-600K".
    const UNITS: &[&str] = &["gb", "mb", "tb", "kg", "km", "k", "mg", "ml"];
    if context.digits(i).is_some() && context.is_word(i + 1, UNITS) {
        return None;
    }
    let (mut end, mut letters, mut figures_longest, mut zero) = (i, 0, 0, false);
    let (mut said, mut marks) = (String::new(), 0);
    for _ in 0..REFERENCE_PARTS_MAX {
        let Some(part) = reference_part(context, end) else {
            break;
        };
        match context.digits(end) {
            Some(figures) => {
                figures_longest = figures_longest.max(figures.len());
                zero |= figures.starts_with('0');
            }
            None => letters += 1,
        }
        if !said.is_empty() && !said.ends_with(' ') {
            said.push(' ');
        }
        said.push_str(&part);
        end += 1;
        let joint = match context.kind(end) {
            Some(Kind::Mark('-')) => ", ",
            Some(Kind::Mark('/')) => " mkwaju ",
            _ => "",
        };
        if !joint.is_empty() && reference_part(context, end + 1).is_some() {
            said.push_str(joint);
            marks += 1;
            end += 1;
        }
    }
    let is_word = matches!(context.kind(end), Some(Kind::Word));
    let is_code = letters > 0 && marks > 0 && (figures_longest >= 3 || zero || marks > 1);
    (is_code && figures_longest > 0 && !is_word).then(|| SpokenForm::new(said, end))?
}

fn reference_part(context: &TokenContext<'_>, i: usize) -> Option<String> {
    match context.digits(i) {
        Some(figures) => Some(digits(figures)),
        None => capitals(context, i, REFERENCE_LETTERS_MAX).map(spell),
    }
}

fn capitals<'a>(context: &TokenContext<'a>, i: usize, longest: usize) -> Option<&'a str> {
    let word = context.word(i)?;
    let fits = word.text.len() <= longest && word.text.bytes().all(|b| b.is_ascii_uppercase());
    (fits && !money::is_currency(word.text)).then_some(word.text)
}

/// KBX 456Y, T 123 ABC, UAB 123C, RAB 123 A, GK B 123K.
fn plate(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let head = capitals(context, i, 4)?;
    // "GK" is the government.
    let series = context.skip_space(i + 1);
    let series = capitals(context, series, 1)
        .filter(|_| head == "GK")
        .map(|letter| (letter, series));
    let (letter, head_end) = series.unwrap_or(("", i));
    let head = format!("{head}{letter}");
    let number = context.skip_space(head_end + 1);
    let digits = context.digits(number).filter(|d| d.len() == 3)?;
    let tail_at = context.skip_space(number + 1);
    let tail = capitals(context, tail_at, 3)?;
    let glued = tail_at == number + 1 || head.starts_with('R');
    // "KMEK" is a motorcycle, "KTWB" a three-wheeler.
    let four = head.len() == 4 && (head.starts_with("KM") || head.starts_with("KT"));
    let kenyan = (head.len() == 3 || four) && tail.len() == 1 && glued;
    // "MC" is a motorcycle.
    let tanzanian = (head.len() == 1 || head == "MC") && tail.len() == 3;
    (kenyan || tanzanian)
        .then(|| SpokenForm::new(spell(&format!("{head}{digits}{tail}")), tail_at + 1))?
}

fn glued(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let (mut end, mut letters, mut figures, mut parts) = (i, 0, 0, 0);
    while let Some(token) = context.get(end) {
        match token.kind {
            Kind::Digits => figures += token.text.len(),
            Kind::Word if token.text.bytes().all(|b| b.is_ascii_uppercase()) => {
                letters += token.text.len()
            }
            Kind::Word => return None,
            // References of mobile money have dots inside: CI240512.1645.H12345.
            Kind::Mark('.')
                if letters > 0
                    && figures >= REFERENCE_DIGITS_MIN
                    && reference_goes_on(context, end + 1) =>
            {
                end += 1;
                continue;
            }
            _ => break,
        }
        parts += 1;
        end += 1;
    }
    let first_word = context
        .word(if context.digits(i).is_some() {
            i + 1
        } else {
            i
        })?
        .text;
    if letters == 0 || figures == 0 || money::is_currency(first_word) {
        return None;
    }
    if parts == 2 {
        return two_parts(context, i, end, letters);
    }
    // Short mixtures are names (H1N1), long ones references.
    let long = letters + figures >= 6;
    let said: Vec<String> = (i..end)
        .map(|j| part_said(context, j, long))
        .filter(|part| !part.is_empty())
        .collect();
    SpokenForm::new(said.join(" "), end)
}

const REFERENCE_DIGITS_MIN: usize = 4;

fn reference_goes_on(context: &TokenContext<'_>, i: usize) -> bool {
    context.get(i).is_some_and(|token| match token.kind {
        Kind::Digits => true,
        Kind::Word => token.text.bytes().all(|b| b.is_ascii_uppercase()),
        _ => false,
    })
}

fn part_said(context: &TokenContext<'_>, j: usize, one_by_one: bool) -> String {
    match context.digits(j) {
        Some(number) if one_by_one || number.len() > 2 || number.starts_with('0') => digits(number),
        Some(number) => number.parse().map_or_else(|_| digits(number), cardinal),
        None => spell(context.token(j).text),
    }
}

/// Letters then a number (MP3, B12), or a number then letters that are no unit (4G).
fn two_parts(
    context: &TokenContext<'_>,
    i: usize,
    end: usize,
    letters: usize,
) -> Option<SpokenForm> {
    if letters > 3 {
        return None;
    }
    let unit_follows = context.number(i).is_some_and(|number: Number<'_>| {
        with_suffix(context, i, &Quantity::one(number)).is_some()
    });
    let goes_on = matches!(context.kind(end), Some(Kind::Mark(',' | '.')))
        && context.kind(end + 1) == Some(Kind::Digits);
    if unit_follows || goes_on {
        return None;
    }
    // "Ibara ya 107A".
    let law = context.is_near(i, 3, &["ibara", "kifungu"]);
    let first = match context.number(i).filter(|_| law) {
        Some(number) => number.say(),
        None => part_said(context, i, false),
    };
    let said = format!("{first} {}", part_said(context, i + 1, false));
    match same_letters_on(context, i, end) {
        Some(last) => SpokenForm::new(
            format!("{said} hadi {first} {}", part_said(context, last, false)),
            last + 1,
        ),
        None => SpokenForm::new(said, end),
    }
}

/// The second number of "F1-F4" and "P1 - P7".
fn same_letters_on(context: &TokenContext<'_>, i: usize, end: usize) -> Option<usize> {
    let second = dash_after(context, end)?;
    let value = |j: usize| context.digits(j)?.parse::<u64>().ok();
    let same = context.word(i)?.text == context.word(second)?.text;
    let goes_on = matches!(
        context.kind(second + 2),
        Some(Kind::Word | Kind::Mark('-' | '/'))
    );
    (same && !goes_on && value(i + 1)? < value(second + 1)?).then_some(second + 1)
}
