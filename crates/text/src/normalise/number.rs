//! A number as it is written: groups of thousands, a decimal part.

use super::agreement::{Class, agreeing};
use super::context::TokenContext;
use super::quantity::{dash_after, multiplier};
use super::token::Kind;
use super::{money, units};
use crate::cardinal::{CARDINAL_MAX, cardinal, digits};
use crate::tables::WordList;

/// More groups than any number that is read as one.
const GROUPS_MAX: usize = 8;

#[derive(Debug, Clone)]
pub(crate) struct Number<'a> {
    /// Digits without separators.
    pub whole: String,
    pub fraction: Option<&'a str>,
    /// Written with thousands separators: surely a quantity, never a code.
    pub grouped: bool,
    /// The token after it.
    pub end: usize,
}

impl Number<'_> {
    pub(super) fn value(&self) -> Option<u64> {
        self.whole.parse().ok().filter(|n| *n <= CARDINAL_MAX)
    }

    /// A whole number without separators or leading zeros, such as a year or a day.
    pub(super) fn plain(&self) -> Option<u64> {
        if self.fraction.is_some() || self.grouped {
            None
        } else {
            self.value()
        }
    }

    /// "007": digits, not a quantity.
    pub(super) fn has_leading_zero(&self) -> bool {
        self.whole.len() > 1 && self.whole.starts_with('0')
    }

    pub(super) fn say(&self) -> String {
        self.say_with(None)
    }

    pub(super) fn say_with(&self, class: Option<Class>) -> String {
        let whole = match self.value() {
            Some(n) if !self.has_leading_zero() || self.fraction.is_some() => match self.fraction {
                None => agreeing(n, class),
                Some(_) => cardinal(n),
            },
            _ => digits(&self.whole),
        };
        match self.fraction {
            Some(fraction) => format!("{whole} nukta {}", digits(fraction)),
            None => whole,
        }
    }
}

impl<'a> TokenContext<'a> {
    pub(super) fn number(&self, i: usize) -> Option<Number<'a>> {
        number_at(self, i)
    }
}

fn number_at<'a>(context: &TokenContext<'a>, i: usize) -> Option<Number<'a>> {
    let first = context.digits(i)?;
    let mut number = Number {
        whole: first.to_owned(),
        fraction: None,
        grouped: false,
        end: i + 1,
    };
    if first.len() <= 3 && !first.starts_with('0') {
        take_groups(context, &mut number, ',', 1);
        if !number.grouped {
            let least = if counts_whole_money(context, i) { 1 } else { 2 };
            take_groups(context, &mut number, '.', least);
        }
        if !number.grouped {
            take_spaced_groups(context, &mut number);
        }
    }
    let point = context.is_mark(number.end, '.');
    let fraction = context
        .digits(number.end + 1)
        .filter(|_| point || !number.grouped && is_decimal_comma(context, i));
    if let Some(fraction) = fraction
        && !starts_another_part(context, number.end + 2)
    {
        // "498,800.00" is a whole amount.
        number.fraction = Some(fraction).filter(|f| !number.grouped || *f != "00");
        number.end += 2;
    }
    Some(number)
}

/// "0,5 ml", "37,5°C", "milioni 2,5", "KES 12,5": what is measured or paid stands beside it, and it is no part of a list.
fn is_decimal_comma(context: &TokenContext<'_>, i: usize) -> bool {
    let part = |comma: usize| {
        let short = context.digits(comma + 1).is_some_and(|d| d.len() <= 2);
        let goes_on = matches!(context.kind(comma + 2), Some(Kind::Mark(',' | '.')))
            && context.digits(comma + 3).is_some();
        short && !goes_on && context.is_mark(comma, ',')
    };
    let listed = matches!(context.kind_before(i), Some(Kind::Mark(',' | '.' | ':')));
    if listed || !part(i + 1) {
        return false;
    }
    // "2,5-3,5 kg".
    let end = match dash_after(context, i + 3).filter(|high| part(high + 1)) {
        Some(high) => high + 3,
        None => i + 3,
    };
    let after = context.skip_space(end);
    // "vifungu 31,31A" is a list.
    let unit = units::unit_at(context, after).filter(|_| {
        let letter = context.token(after);
        letter.text.len() > 1 || !letter.is_capitalised()
    });
    let measured = matches!(context.kind(after), Some(Kind::Mark('%' | '°')))
        || unit.is_some()
        || money::currency_at(context, after).is_some();
    let scaled = |j: usize| context.is_word(j, &["milioni", "bilioni", "trilioni", "laki"]);
    // "Sh 5,10 na 20" is a list.
    let goes_on = context.is_word(after, &["na", "au"]) && context.figures_follow(after + 1);
    let named = context.follows(i, &MEASURES) || money::before_amount(context, i).is_some();
    measured || scaled(after) || context.before(i).is_some_and(scaled) || named && !goes_on
}

/// What is measured, by its name before the number.
static MEASURES: WordList = WordList::named("measures");

/// "Tsh 15.000", "Frw 1.500", "15.000/=": shillings and francs have no thousandths.
fn counts_whole_money(context: &TokenContext<'_>, i: usize) -> bool {
    multiplier(context, i + 3).is_none()
        && (money::slash_tail(context, i + 3) > i + 3
            || money::before_amount(context, i)
                .is_some_and(|currency| matches!(currency.name, "shilingi" | "faranga")))
}

/// Takes groups of three digits if there are at least `least` of them.
fn take_groups(context: &TokenContext<'_>, number: &mut Number<'_>, separator: char, least: usize) {
    let mut end = number.end;
    let mut groups = String::new();
    for _ in 0..GROUPS_MAX {
        match context.digits(end + 1) {
            Some(group) if context.is_mark(end, separator) && group.len() == 3 => {
                groups.push_str(group)
            }
            _ => break,
        }
        end += 2;
    }
    if groups.len() >= 3 * least && !(separator == '.' && starts_another_part(context, end)) {
        number.whole.push_str(&groups);
        number.grouped = true;
        number.end = end;
    }
}

/// "1 000 000", "25 500". Telephone numbers and codes are written with spaces too, so the first group must be short,
/// or what follows be round.
fn take_spaced_groups(context: &TokenContext<'_>, number: &mut Number<'_>) {
    let mut end = number.end;
    let mut groups = Vec::new();
    while groups.len() < GROUPS_MAX && context.get(end).is_some_and(|token| token.text == " ") {
        let Some(group) = context.digits(end + 1) else {
            break;
        };
        groups.push(group);
        end += 2;
    }
    let whole = groups.iter().all(|group| group.len() == 3);
    let sure = match groups.as_slice() {
        [] => false,
        [only] => only.ends_with("00") && (number.whole.len() <= 2 || *only == "000"),
        several => number.whole.len() <= 2 || several.iter().all(|group| *group == "000"),
    };
    if whole && sure {
        number.whole.push_str(&groups.concat());
        number.grouped = true;
        number.end = end;
    }
}

fn starts_another_part(context: &TokenContext<'_>, i: usize) -> bool {
    context.is_mark(i, '.') && context.kind(i + 1) == Some(Kind::Digits)
}
