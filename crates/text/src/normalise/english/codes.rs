//! Numbers and letters that are names: telephone numbers, accounts, plates, references, codes to dial. The Swahili rules
//! know them all, and say them in digits and letters: only the words are put into English.

use super::number::{cardinal as said_cardinal, digits};
use crate::cardinal;
use crate::english::UNITS;
use crate::letters::letter_name;
use crate::normalise::context::TokenContext;
use crate::normalise::marks::is_ugandan_class;
use crate::normalise::numerals::small_value;
use crate::normalise::quantity::dash_after;
use crate::normalise::reading::SpokenForm;
use crate::normalise::{alphanumeric, codes, masked, phone, relations};

const RULES: &[fn(&TokenContext<'_>, usize) -> Option<SpokenForm>] = &[
    masked::read,
    phone::ussd_code,
    phone::read,
    alphanumeric::read,
    codes::by_context,
    relations::grouped_digits,
];

pub(super) fn read(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let is_ordinal = context.is_word(i + 1, &["st", "nd", "rd", "th"]);
    if is_ordinal && context.digits(i).is_some() {
        return None;
    }
    let said = RULES.iter().find_map(|rule| rule(context, i))?;
    SpokenForm::new(in_english(&said.text)?, said.end)
}

/// Nothing where a word is none of these.
fn in_english(said: &str) -> Option<String> {
    let words = said.split(' ').map(|word| {
        let comma = if word.ends_with(',') { "," } else { "" };
        let word = word.trim_end_matches(',');
        let digit = cardinal::UNITS.iter().position(|unit| *unit == word);
        let letter = || ('A'..='Z').find(|letter| letter_name(*letter) == Some(word));
        let english = match (digit, word) {
            (Some(digit), _) => UNITS[digit].to_owned(),
            (_, "jumlisha") => "plus".to_owned(),
            (_, "nyota") => "star".to_owned(),
            (_, "reli") => "hash".to_owned(),
            (_, "mkwaju") => "stroke".to_owned(),
            (_, "au") => "or".to_owned(),
            (_, "hadi") => "to".to_owned(),
            (_, "") => String::new(),
            _ => letter()?.to_string(),
        };
        Some(english + comma)
    });
    let words: Option<Vec<String>> = words.collect();
    words.map(|words| words.join(" "))
}

/// Numbers that only English names so: "flight KQ 101", "box 204".
pub(super) fn named(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    const NAMED: &[&str] = &["number", "no", "text", "sms", "flight", "box"];
    const QUANTITY_DIGITS_MAX: usize = 6;
    let figures = context.digits(i)?;
    let number = context.number(i)?;
    // "Legal Notice No. 45 of 2024".
    let is_year = figures.len() == 4 && context.follows(i, &["of"]);
    if number.grouped || number.fraction.is_some() || is_year {
        return None;
    }
    // "P.O. Box 123-00100": the box, and the code of its town.
    let town = dash_after(context, i + 1).filter(|_| context.follows(i, &["box"]));
    if let Some((at, town)) = town.and_then(|at| Some((at, context.digits(at)?))) {
        return SpokenForm::new(format!("{}, {}", digits(figures), digits(town)), at + 1);
    }
    let named = context.is_near(i, 3, NAMED);
    let is_code = figures.len() > QUANTITY_DIGITS_MAX || (named && figures.len() > 2);
    is_code.then(|| SpokenForm::new(digits(figures), i + 1))?
}

/// The "iv" of "pp. iv-xii".
pub(super) fn is_small_numeral(context: &TokenContext<'_>, i: usize) -> bool {
    let word = context.word(i).filter(|w| w.text.len() > 1);
    word.is_some_and(|w| small_value(w).is_some())
}

/// "P.7": Uganda's classes; "page iv", "pp. iv-xii".
pub(super) fn class_or_page(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    if is_ugandan_class(context, i + 1) {
        return SpokenForm::new(context.token(i).text.to_owned() + " ", i + 2);
    }
    let value = |j: usize| small_value(context.word(j)?);
    let dot = context.before(i).filter(|j| context.is_mark(*j, '.'));
    let page = dot.map_or(context.before(i), |j| context.before(j))?;
    let paged = context.is_word(page, &["p", "pp", "page", "pages"]);
    let first = value(i).filter(|_| paged && is_small_numeral(context, i))?;
    match dash_after(context, i + 1).and_then(|j| Some((value(j)?, j + 1))) {
        Some((last, end)) => {
            let (first, last) = (said_cardinal(first), said_cardinal(last));
            SpokenForm::new(format!("{first} to {last}"), end)
        }
        None => SpokenForm::new(said_cardinal(first), i + 1),
    }
}
