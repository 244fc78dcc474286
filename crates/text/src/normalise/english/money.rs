//! Money in English: the amount, then the currency's name, then cents.

use super::number::cardinal;
use super::said_number;
use crate::normalise::SpokenForm;
use crate::normalise::context::TokenContext;
use crate::normalise::number::Number;
use crate::normalise::token::Kind;

struct EnglishCurrency {
    one: &'static str,
    many: &'static str,
    hundredths: &'static str,
    codes: &'static [&'static str],
    sign: Option<char>,
}

const fn currency(
    one: &'static str,
    many: &'static str,
    hundredths: &'static str,
    codes: &'static [&'static str],
    sign: Option<char>,
) -> EnglishCurrency {
    EnglishCurrency {
        one,
        many,
        hundredths,
        codes,
        sign,
    }
}

const SHILLING_CODES: &[&str] = &[
    "KSH", "KSHS", "KES", "TSH", "TSHS", "TZS", "USH", "USHS", "UGX", "SH", "SHS",
];
const CURRENCIES: &[EnglishCurrency] = &[
    currency("shilling", "shillings", "cents", SHILLING_CODES, None),
    currency("dollar", "dollars", "cents", &["USD"], Some('$')),
    currency("euro", "euros", "cents", &["EUR"], Some('€')),
    currency("pound", "pounds", "pence", &["GBP"], Some('£')),
    currency(
        "franc",
        "francs",
        "cents",
        &["RWF", "FRW", "BIF", "CDF"],
        None,
    ),
    currency("rand", "rand", "cents", &["ZAR"], None),
    currency("naira", "naira", "kobo", &["NGN"], Some('₦')),
    currency("rupee", "rupees", "paise", &["INR"], Some('₹')),
    currency("yuan", "yuan", "fen", &["CNY", "RMB"], None),
    currency("yen", "yen", "sen", &["JPY"], Some('¥')),
    currency("birr", "birr", "santim", &["ETB"], None),
];

fn named_at(context: &TokenContext<'_>, i: usize) -> Option<&'static EnglishCurrency> {
    let token = context.get(i)?;
    CURRENCIES.iter().find(|currency| match token.kind {
        Kind::Mark(mark) => currency.sign == Some(mark),
        _ => token.is_one_of(currency.codes),
    })
}

/// "KSh 1,250.50", "$5", "Sh. 200".
pub(super) fn before_number(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let currency = named_at(context, i)?;
    let dot = usize::from(context.kind(i) == Some(Kind::Word) && context.is_mark(i + 1, '.'));
    let number = context.number(context.skip_space(i + 1 + dot))?;
    say(context, &number, currency)
}

/// "500 KES", "500/=", "500/-".
pub(super) fn after_number(context: &TokenContext<'_>, number: &Number<'_>) -> Option<SpokenForm> {
    let end = number.end;
    let stroke = context.is_mark(end, '/')
        && (context.is_mark(end + 1, '=') || context.is_mark(end + 1, '-'));
    if stroke {
        let said = say(context, number, &CURRENCIES[0])?;
        return SpokenForm::new(said.text, end + 2);
    }
    let at = context.skip_space(end);
    let currency = named_at(context, at).filter(|_| context.kind(at) == Some(Kind::Word))?;
    let said = say(context, number, currency)?;
    (said.end == end).then(|| SpokenForm::new(said.text, at + 1))?
}

fn say(
    context: &TokenContext<'_>,
    number: &Number<'_>,
    currency: &EnglishCurrency,
) -> Option<SpokenForm> {
    let scale = context.skip_space(number.end);
    if let Some(word) = context
        .word(scale)
        .filter(|w| w.is_one_of(&["million", "billion", "trillion"]))
    {
        let text = format!("{} {} {}", said_number(number), word.text, currency.many);
        return SpokenForm::new(text, scale + 1);
    }
    let whole = number.value()?;
    let cents = match number.fraction {
        Some(fraction) if fraction.len() == 2 => fraction.parse::<u64>().ok()?,
        Some(_) => {
            let text = format!("{} {}", said_number(number), currency.many);
            return SpokenForm::new(text, number.end);
        }
        None => 0,
    };
    let name = if whole == 1 {
        currency.one
    } else {
        currency.many
    };
    let mut text = format!("{} {name}", cardinal(whole));
    if cents > 0 {
        text = format!("{text} and {} {}", cardinal(cents), currency.hundredths);
    }
    SpokenForm::new(text, number.end)
}
