//! Money in English: the amount, then the currency's name, then cents.

use super::number::cardinal;
use super::quantity::{per, range_end, said_number};
use crate::normalise::SpokenForm;
use crate::normalise::context::TokenContext;
use crate::normalise::money::{
    EnglishNames, currency_at, has_amount, shilling, slash_tail, spaced_amount,
};
use crate::normalise::number::Number;
use crate::normalise::quantity::{dash_after, is_minus, is_minus_mark, multipliers_at};
use crate::normalise::token::Kind;

/// The English names of a currency, and the token after it.
pub(super) fn named_at(
    context: &TokenContext<'_>,
    i: usize,
) -> Option<(&'static EnglishNames, usize)> {
    let (currency, end) = currency_at(context, i)?;
    let english = &currency.english;
    (!english.one.is_empty()).then_some((english, end))
}

/// "KSh 1,250.50", "US$5m", "Sh. 200/=", "KSh 50/kg", "KSh 50-100", "KSh 5,000 - 10,000", "-KES 20", "KES -20".
pub(super) fn before_number(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let sign_before = is_minus(context, i);
    let i = i + usize::from(sign_before);
    let (currency, end) = named_at(context, i)?;
    let dot = usize::from(context.word(end - 1).is_some() && context.is_mark(end, '.'));
    let at = context.skip_space(end + dot);
    let signed = is_minus_mark(context, at);
    let at_number = at + usize::from(signed);
    let number = spaced_amount(context, at_number).or_else(|| context.number(at_number))?;
    // "KES-2024-001" is a code.
    let glued = signed && context.kind_before(at) == Some(Kind::Word);
    if glued && context.is_mark(number.end, '-') {
        return None;
    }
    let sign = if sign_before || signed { "minus " } else { "" };
    let spaced = || {
        let high = context.number(dash_after(context, number.end)?)?;
        (high.grouped && number.value() < high.value()).then_some(high)
    };
    // "KSh 120k-150k".
    let scaled = || {
        let (scale, end) = scale(context, number.end)?;
        let high = context
            .number(end + 1)
            .filter(|_| context.is_mark(end, '-'))?;
        Some((format!("{} {scale}", said_number(&number)), high))
    };
    let plain = range_end(context, &number).or_else(spaced);
    let range = plain
        .map(|high| (said_number(&number), high))
        .or_else(scaled);
    let (said, end) = match range {
        Some((low, high)) => {
            let (said, end) = say(context, &high, currency)?;
            (format!("{low} to {said}"), end)
        }
        None => say(context, &number, currency)?,
    };
    per(context, format!("{sign}{said}"), slash_tail(context, end))
}

/// "USD/KES".
pub(super) fn pair(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let code = |j: usize| named_at(context, j).filter(|_| context.token(j).is_all_caps());
    let (one, other) = (code(i)?.0.one, code(i + 2)?.0.one);
    SpokenForm::new(format!("{one} to {other}"), i + 3).filter(|_| context.is_mark(i + 1, '/'))
}

/// "500 KES", "5m USD", "500/=", "500/-".
pub(super) fn after_number(context: &TokenContext<'_>, number: &Number<'_>) -> Option<SpokenForm> {
    let tail = slash_tail(context, number.end);
    if tail > number.end {
        let (said, _) = say(context, number, &shilling().english)?;
        return per(context, said, tail);
    }
    let end = scale(context, number.end).map_or(number.end, |(_, end)| end);
    let at = context.skip_space(end);
    let (currency, end) = named_at(context, at).filter(|_| context.word(at).is_some())?;
    // In "9 US$1.5bn" it belongs to the next amount.
    if end > at + 1 && has_amount(context, end) {
        return None;
    }
    let (said, _) = say(context, number, currency)?;
    per(context, said, end)
}

/// "million" behind a number, or the letter that sticks to it: after money "m" is a million, not a metre.
fn scale(context: &TokenContext<'_>, i: usize) -> Option<(&'static str, usize)> {
    let at = context.skip_space(i);
    let (_, said) = multipliers_at(context, at).filter(|(_, said)| *said != "-")?;
    Some((said, at + 1))
}

/// The amount in words and the token after it.
fn say(
    context: &TokenContext<'_>,
    number: &Number<'_>,
    currency: &EnglishNames,
) -> Option<(String, usize)> {
    if let Some((scale, end)) = scale(context, number.end) {
        let said = format!("{} {scale} {}", said_number(number), currency.many);
        return Some((said, end));
    }
    let whole = number.value()?;
    let cents = match number.fraction {
        Some(fraction) if fraction.len() == 2 => fraction.parse::<u64>().ok()?,
        Some(_) => {
            let said = format!("{} {}", said_number(number), currency.many);
            return Some((said, number.end));
        }
        None => 0,
    };
    let counted = |n, one, many| format!("{} {}", cardinal(n), if n == 1 { one } else { many });
    let main = counted(whole, currency.one, currency.many);
    let hundredths = counted(cents, currency.hundredth, currency.hundredths);
    let said = match (whole, cents) {
        (_, 0) => main,
        (0, _) => hundredths,
        _ => format!("{main} and {hundredths}"),
    };
    Some((said, number.end))
}
