//! Money in English: the amount, then the currency's name, then cents.

use super::number::cardinal;
use super::quantity::{per, range_end, said_number};
use crate::normalise::SpokenForm;
use crate::normalise::context::TokenContext;
use crate::normalise::money::{slash_tail, spaced_amount};
use crate::normalise::number::Number;
use crate::normalise::quantity::{dash_after, is_minus, is_minus_mark};
use crate::normalise::token::Kind;

struct EnglishCurrency {
    one: &'static str,
    many: &'static str,
    hundredth: &'static str,
    hundredths: &'static str,
    codes: &'static [&'static str],
    sign: Option<char>,
}

const fn currency(
    one: &'static str,
    many: &'static str,
    hundredth: &'static str,
    hundredths: &'static str,
    codes: &'static [&'static str],
    sign: Option<char>,
) -> EnglishCurrency {
    EnglishCurrency {
        one,
        many,
        hundredth,
        hundredths,
        codes,
        sign,
    }
}

const SHILLING_CODES: &[&str] = &[
    "KSH", "KSHS", "KES", "TSH", "TSHS", "TZS", "USH", "USHS", "UGX", "SH", "SHS",
];
const CURRENCIES: &[EnglishCurrency] = &[
    currency(
        "shilling",
        "shillings",
        "cent",
        "cents",
        SHILLING_CODES,
        None,
    ),
    currency("dollar", "dollars", "cent", "cents", &["USD"], Some('$')),
    currency("euro", "euros", "cent", "cents", &["EUR"], Some('€')),
    currency("pound", "pounds", "penny", "pence", &["GBP"], Some('£')),
    currency(
        "franc",
        "francs",
        "cent",
        "cents",
        &["RWF", "FRW", "BIF", "CDF"],
        None,
    ),
    currency("rand", "rand", "cent", "cents", &["ZAR"], None),
    currency("naira", "naira", "kobo", "kobo", &["NGN"], Some('₦')),
    currency("rupee", "rupees", "paisa", "paise", &["INR"], Some('₹')),
    currency("yuan", "yuan", "fen", "fen", &["CNY", "RMB"], None),
    currency("yen", "yen", "sen", "sen", &["JPY"], Some('¥')),
    currency("birr", "birr", "santim", "santim", &["ETB"], None),
];

/// "US$5".
static US_DOLLAR: EnglishCurrency =
    currency("U S dollar", "U S dollars", "cent", "cents", &[], None);

fn named_at(context: &TokenContext<'_>, i: usize) -> Option<&'static EnglishCurrency> {
    let token = context.get(i)?;
    CURRENCIES.iter().find(|currency| match token.kind {
        Kind::Mark(mark) => currency.sign == Some(mark),
        _ => token.is_one_of(currency.codes),
    })
}

/// "KSh 1,250.50", "US$5m", "Sh. 200/=", "KSh 50/kg", "KSh 50-100", "KSh 5,000 - 10,000", "-KES 20", "KES -20".
pub(super) fn before_number(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let sign_before = is_minus(context, i);
    let i = i + usize::from(sign_before);
    let (currency, i) = match context.get(i)?.text == "US" && context.is_mark(i + 1, '$') {
        true => (&US_DOLLAR, i + 1),
        false => (named_at(context, i)?, i),
    };
    let dot = usize::from(context.kind(i) == Some(Kind::Word) && context.is_mark(i + 1, '.'));
    let at = context.skip_space(i + 1 + dot);
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
    let (one, other) = (code(i)?.one, code(i + 2)?.one);
    SpokenForm::new(format!("{one} to {other}"), i + 3).filter(|_| context.is_mark(i + 1, '/'))
}

/// "500 KES", "5m USD", "500/=", "500/-".
pub(super) fn after_number(context: &TokenContext<'_>, number: &Number<'_>) -> Option<SpokenForm> {
    let tail = slash_tail(context, number.end);
    if tail > number.end {
        let (said, _) = say(context, number, &CURRENCIES[0])?;
        return per(context, said, tail);
    }
    let end = scale(context, number.end).map_or(number.end, |(_, end)| end);
    let at = context.skip_space(end);
    let currency = named_at(context, at).filter(|_| context.kind(at) == Some(Kind::Word))?;
    let (said, _) = say(context, number, currency)?;
    per(context, said, at + 1)
}

/// "million" behind a number, or the letter that sticks to it: after money "m" is a million, not a metre.
fn scale(context: &TokenContext<'_>, i: usize) -> Option<(&'static str, usize)> {
    let at = context.skip_space(i);
    let written = context.word(at)?.text;
    let said = match written.to_ascii_lowercase().as_str() {
        "thousand" => "thousand",
        "million" | "mn" | "mln" => "million",
        "billion" | "bn" => "billion",
        "trillion" | "tn" | "tr" | "trn" => "trillion",
        "k" if at == i => "thousand",
        "m" if at == i => "million",
        "b" if at == i => "billion",
        "t" if at == i => "trillion",
        _ => return None,
    };
    Some((said, at + 1))
}

/// The amount in words and the token after it.
fn say(
    context: &TokenContext<'_>,
    number: &Number<'_>,
    currency: &EnglishCurrency,
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
