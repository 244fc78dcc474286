//! Money: the currency's name comes before the amount, cents after it.

use std::sync::LazyLock;

use super::SpokenForm;
use super::context::TokenContext;
use super::number::Number;
use super::quantity::{Quantity, is_minus, is_minus_mark, multiplier, multipliers_at};
use super::token::{Kind, Token};
use crate::cardinal::cardinal;
use crate::letters::spell;
use crate::tables::rows;

/// Names of a currency; where English does not know its code, those are empty.
pub(super) struct Currency {
    codes: Vec<&'static str>,
    pub name: &'static str,
    hundredth: &'static str,
    pub english: EnglishNames,
}

#[derive(Default)]
pub(super) struct EnglishNames {
    pub one: &'static str,
    pub many: &'static str,
    pub hundredth: &'static str,
    pub hundredths: &'static str,
}

/// Every currency that is known; what is not here is read as letters and a number.
static CURRENCIES: LazyLock<Vec<Currency>> = LazyLock::new(|| {
    rows(include_str!("../../data/currencies.tsv"))
        .map(|(codes, names)| {
            let mut names = names.split('\t');
            let mut next = || names.next().unwrap_or_default();
            Currency {
                codes: codes.split(' ').collect(),
                name: next(),
                hundredth: next(),
                english: EnglishNames {
                    one: next(),
                    many: next(),
                    hundredth: next(),
                    hundredths: next(),
                },
            }
        })
        .collect()
});

fn by_code(written: &str) -> Option<&'static Currency> {
    let has_code = |currency: &&Currency| {
        let mut codes = currency.codes.iter();
        codes.any(|code| written.eq_ignore_ascii_case(code))
    };
    CURRENCIES.iter().find(has_code)
}

/// What "/=" and "bob" stand for.
pub(super) fn shilling() -> &'static Currency {
    &CURRENCIES[0]
}

pub(crate) fn is_currency(word: &str) -> bool {
    by_code(word).is_some()
}

/// Whether spoken words already name a currency or its hundredth.
pub(crate) fn is_named_in(spoken: &str) -> bool {
    let names = |word: &str| {
        CURRENCIES.iter().any(|currency| {
            currency.name.split(' ').next() == Some(word) || currency.hundredth == word
        })
    };
    spoken.split(' ').any(names)
}

/// The currency right before the amount at `i`, or before the lower end of its range.
pub(super) fn before_amount(context: &TokenContext<'_>, i: usize) -> Option<&'static Currency> {
    const AMOUNT_TOKENS_MAX: usize = 8;
    let in_amount = |j: &usize| {
        let kind = context.kind(*j);
        matches!(kind, Some(Kind::Digits | Kind::Space | Kind::Mark('.')))
    };
    let mut j = context.before(i)?;
    if is_minus_mark(context, j) {
        let mut before = (0..j).rev().take(AMOUNT_TOKENS_MAX);
        j = before.find(|j| !in_amount(j))?;
    } else if context.is_mark(j, '.') {
        j = j.checked_sub(1)?;
    }
    // "USD/KES 129.350" is a rate.
    let rate = j > 0 && context.is_mark(j - 1, '/');
    currency_at(context, j)
        .filter(|_| !rate)
        .map(|(currency, _)| currency)
}

/// The currency written at `i` and the token after it.
pub(super) fn currency_at(
    context: &TokenContext<'_>,
    i: usize,
) -> Option<(&'static Currency, usize)> {
    let token = context
        .get(i)
        .filter(|token| !matches!(token.kind, Kind::Digits | Kind::Space))?;
    // "Sh.So. 5,000": Somalia's.
    let somali = |first, second| {
        token.is(first) && context.is_mark(i + 1, '.') && context.is_word(i + 2, &[second])
    };
    let (written, end) = if token.is("us") && context.is_mark(i + 1, '$') {
        ("US$", i + 2)
    } else if somali("sh", "so") || somali("so", "sh") {
        ("SH.SO", i + 3)
    } else {
        (token.text, i + 1)
    };
    by_code(written)
        .filter(|_| !is_hormone(context, i))
        .map(|currency| (currency, end))
}

/// "TSH 2.5 mIU/L" is measured in blood.
fn is_hormone(context: &TokenContext<'_>, i: usize) -> bool {
    const AMOUNT_TOKENS_MAX: usize = 16;
    let mut behind = i + 1..i + AMOUNT_TOKENS_MAX;
    let is_unit = |w: &Token<'_>| w.is_one_of(&["mIU", "uIU", "IU", "mU"]);
    context.token(i).text == "TSH" && behind.find_map(|j| context.word(j)).is_some_and(is_unit)
}

/// "USD/KES 129.35", "EUR/USD": what one is in the other.
pub(crate) fn pair(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let code = |j: usize| {
        let word = context.word(j)?;
        by_code(word.text).filter(|_| word.is_all_caps() && word.text.len() == 3)
    };
    let (base, other) = (
        code(i)?,
        code(i + 2).filter(|_| context.is_mark(i + 1, '/'))?,
    );
    if base.name == other.name {
        let letters = |j: usize| spell(context.token(j).text);
        return SpokenForm::new(format!("{} kwa {}", letters(i), letters(i + 2)), i + 3);
    }
    // The amount behind them has the second one's name.
    match has_amount(context, i + 3) {
        true => SpokenForm::new(format!("{} kwa", base.name), i + 2),
        false => SpokenForm::new(format!("{} kwa {}", base.name, other.name), i + 3),
    }
}

/// A currency before its amount: "KSh 500", "US$ 2.5 milioni", "Sh. milioni 3", "-KES 20", "KES -20".
pub(crate) fn prefixed(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let sign_before = is_minus(context, i);
    let start = if sign_before { i + 1 } else { i };
    let (currency, after) = currency_at(context, start)?;
    let after = after + usize::from(context.is_mark(after, '.'));
    let (amount, negative) = amount_at(context, context.skip_space(after));
    let negative = negative || sign_before;
    // "Ksh .50".
    let cents = context
        .digits(amount + 1)
        .filter(|figures| figures.len() == 2);
    if let Some(cents) = cents.filter(|_| context.is_mark(amount, '.') && amount > after) {
        let said = cardinal(cents.parse().ok()?);
        return SpokenForm::new(format!("{} {said}", currency.hundredth), amount + 2);
    }
    if let Some((name, number)) = multiplier(context, amount) {
        // "Sh mil. 300".
        let number = number + usize::from(context.is_mark(number, '.'));
        let mut quantity = Quantity::at(context, context.skip_space(number))?;
        quantity.negative = negative;
        let named = name_before(context, i, currency);
        let said = format!("{named}{name} {}", quantity.say_with(None));
        return SpokenForm::new(said, quantity.end);
    }
    let mut quantity = match spaced_amount(context, amount) {
        Some(number) => Quantity::one(number),
        None => Quantity::at(context, amount)?,
    };
    if quantity.high.is_some() && other_end_has_currency(context, &quantity) {
        quantity = Quantity::one(quantity.low);
    }
    let duration_at = quantity.falls_to(context);
    if duration_at.is_some() {
        quantity = Quantity::one(quantity.low);
    }
    quantity.negative = negative;
    let (said, end) = amount_said(context, &quantity, currency);
    let named = name_for(context, i, currency, &quantity, &said);
    if let Some(end) = duration_at {
        return SpokenForm::new(format!("{named}{said}, "), end);
    }
    let bracket = context.is_mark(amount - 1, '(') && context.is_mark(end, ')');
    let end = slash_tail(context, end + usize::from(bracket));
    SpokenForm::new(format!("{named}{said}"), end)
}

/// Where the figures of an amount begin, and whether it is below zero: a sign right before them, or the brackets of
/// book-keepers around them.
fn amount_at(context: &TokenContext<'_>, i: usize) -> (usize, bool) {
    let signed = match context.kind(i) {
        _ if is_minus_mark(context, i) => context.digits(i + 1).is_some(),
        Some(Kind::Mark('(')) => context
            .number(i + 1)
            .is_some_and(|number| context.is_mark(number.end, ')')),
        _ => false,
    };
    if signed { (i + 1, true) } else { (i, false) }
}

/// An amount before its currency: "500/=", "500 bob", "50 USD", "20€".
pub(crate) fn suffixed(
    context: &TokenContext<'_>,
    i: usize,
    quantity: &Quantity<'_>,
) -> Option<SpokenForm> {
    let tail = slash_tail(context, quantity.end);
    if tail > quantity.end {
        // "500,000/= TZS".
        let code = currency_at(context, context.skip_space(tail));
        let named = code.filter(|(currency, end)| {
            currency.name == shilling().name && !has_amount(context, *end)
        });
        let end = named.map_or(tail, |(_, end)| end);
        return money_before(context, i, quantity, shilling(), end);
    }
    if let Some(end) = congolese(context, quantity) {
        return money_before(context, i, quantity, by_code("CDF")?, end);
    }
    if let Some((name, after)) = multiplier(context, quantity.end) {
        let at = context.skip_space(after);
        let (currency, end) =
            currency_at(context, at).filter(|(_, end)| !has_amount(context, *end))?;
        let named = name_before(context, i, currency);
        return SpokenForm::new(format!("{named}{name} {}", quantity.say_with(None)), end);
    }
    let at = context.skip_space(quantity.end);
    if context.is_word(at, &["bob", "shillings", "shilling"]) {
        return money_before(context, i, quantity, shilling(), at + 1);
    }
    let (currency, end) = currency_at(context, at)?;
    // In "5 Sh 100" the currency belongs to the next amount.
    if has_amount(context, end) {
        return None;
    }
    money_before(context, i, quantity, currency, end)
}

/// "2800FC", "5 000 FC", but not "Simba 3 FC Lupopo": Congo's francs, and the token after them.
fn congolese(context: &TokenContext<'_>, quantity: &Quantity<'_>) -> Option<usize> {
    let at = context.skip_space(quantity.end);
    let team = context.is_capitalised(context.skip_space(at + 1));
    let named = context.get(at).is_some_and(|t| t.text == "FC");
    (named && quantity.low.whole.len() > 2 && !team).then_some(at + 1)
}

/// The dash at `i` stands between two amounts that rise: "KES 200 -KES 300", "500/=-600/=".
pub(crate) fn ends_range(context: &TokenContext<'_>, i: usize) -> bool {
    const AMOUNT_TOKENS_MAX: usize = 12;
    let ends_here = |j| amount(context, j).filter(|(_, end)| context.skip_space(*end) == i);
    let before = i.saturating_sub(AMOUNT_TOKENS_MAX)..i;
    let low = before.filter_map(|j| Some((j, ends_here(j)?.0))).next();
    let high = amount(context, context.skip_space(i + 1)).map(|(high, _)| high);
    let high = high.or_else(|| context.number(i + 1));
    low.zip(high).is_some_and(|((at, low), high)| {
        let below_zero = at > 0 && is_minus_mark(context, at - 1);
        !below_zero && low.value() < high.value()
    })
}

/// The "1 250" of "Ksh 1 250".
pub(crate) fn spaced_amount<'a>(context: &TokenContext<'a>, i: usize) -> Option<Number<'a>> {
    let (thousands, rest) = (context.digits(i)?, context.digits(i + 2)?);
    let goes_on = matches!(
        context.kind(i + 3),
        Some(Kind::Word | Kind::Mark('/' | '-' | ':'))
    ) || context.figures_follow(i + 3);
    let spaced = context.token(i + 1).text == " " && thousands.len() <= 2 && rest.len() == 3;
    (spaced && !thousands.starts_with('0') && !goes_on).then(|| Number {
        whole: format!("{thousands}{rest}"),
        fraction: None,
        grouped: true,
        end: i + 3,
    })
}

/// An amount with its currency before it ends right before `i`.
pub(crate) fn ends_at(context: &TokenContext<'_>, i: usize) -> bool {
    const AMOUNT_TOKENS_MAX: usize = 12;
    (i.saturating_sub(AMOUNT_TOKENS_MAX)..i).any(|j| {
        currency_at(context, j).is_some() && amount(context, j).is_some_and(|(_, end)| end == i)
    })
}

/// A number with a currency before or after it, and the token after both.
fn amount<'a>(context: &TokenContext<'a>, i: usize) -> Option<(Number<'a>, usize)> {
    if let Some((_, after)) = currency_at(context, i) {
        let after = after + usize::from(context.is_mark(after, '.'));
        let number = context.number(context.skip_space(after))?;
        let end = slash_tail(context, number.end);
        return Some((number, end));
    }
    let number = context.number(i)?;
    let tail = Some(slash_tail(context, number.end)).filter(|tail| *tail > number.end);
    let named = || currency_at(context, context.skip_space(number.end)).map(|(_, end)| end);
    tail.or_else(named).map(|end| (number, end))
}

pub(super) fn has_amount(context: &TokenContext<'_>, end: usize) -> bool {
    let after = end + usize::from(context.is_mark(end, '.'));
    context.kind(context.skip_space(after)) == Some(Kind::Digits)
}

fn money_before(
    context: &TokenContext<'_>,
    i: usize,
    quantity: &Quantity<'_>,
    currency: &Currency,
    end: usize,
) -> Option<SpokenForm> {
    let said = quantity.map(|number| with_cents(number, currency));
    let named = name_for(context, i, currency, quantity, &said);
    SpokenForm::new(format!("{named}{said}"), end)
}

/// The currency's name before an amount; where there are cents alone, they need none.
fn name_for(
    context: &TokenContext<'_>,
    i: usize,
    currency: &Currency,
    quantity: &Quantity<'_>,
    said: &str,
) -> String {
    match quantity.low.value() == Some(0) && said.contains(currency.hundredth) {
        true => String::new(),
        false => name_before(context, i, currency),
    }
}

/// The currency's name, unless the writer has said it already.
fn name_before(context: &TokenContext<'_>, i: usize, currency: &Currency) -> String {
    let first = currency.name.split(' ').next().unwrap_or_default();
    match context.follows(i, &[first]) {
        true => String::new(),
        false => format!("{} ", currency.name),
    }
}

/// "Sh 500 - Sh 1,000": the second amount names its own currency and is read by itself.
fn other_end_has_currency(context: &TokenContext<'_>, quantity: &Quantity<'_>) -> bool {
    super::quantity::dash_after(context, quantity.low.end)
        .is_some_and(|j| currency_at(context, j).is_some())
}

fn amount_said(
    context: &TokenContext<'_>,
    quantity: &Quantity<'_>,
    currency: &Currency,
) -> (String, usize) {
    // After money "m" is a million, not a metre.
    let glued = || Some((multipliers_at(context, quantity.end)?.0, quantity.end + 1));
    match multiplier(context, quantity.end).or_else(glued) {
        Some((name, end)) => (format!("{name} {}", quantity.say_with(None)), end),
        None => (
            quantity.map(|number| with_cents(number, currency)),
            quantity.end,
        ),
    }
}

fn with_cents(number: &Number<'_>, currency: &Currency) -> String {
    let cents = match number.fraction {
        Some(fraction) if fraction.len() <= 2 => format!("{fraction:0<2}").parse::<u64>().ok(),
        Some(_) => return number.say(),
        None => None,
    };
    let whole = Number {
        fraction: None,
        ..number.clone()
    };
    match cents {
        None | Some(0) => whole.say(),
        Some(cents) if whole.value() == Some(0) => {
            format!("{} {}", currency.hundredth, cardinal(cents))
        }
        Some(cents) => {
            let (whole, hundredth) = (whole.say(), currency.hundredth);
            format!("{whole} na {hundredth} {}", cardinal(cents))
        }
    }
}

/// The "/=" or "/-" that shillings end with.
pub(crate) fn slash_tail(context: &TokenContext<'_>, i: usize) -> usize {
    let tail =
        context.is_mark(i, '/') && matches!(context.kind(i + 1), Some(Kind::Mark('=' | '-' | '–')));
    if tail { i + 2 } else { i }
}
