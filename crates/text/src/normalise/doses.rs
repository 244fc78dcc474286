//! Doses as clinics write them: "x 3/7" is for three days, "bd" twice a day.

use super::SpokenForm;
use super::agreement::{agreeing, class_of};
use super::context::TokenContext;
use super::money;
use super::token::Kind;
use crate::cardinal::cardinal;
use crate::tables::WordList;

/// What a length is counted in: so many of them are under the line.
const SPANS: [(u64, &str, &str); 3] = [
    (7, "siku", "day"),
    (52, "wiki", "week"),
    (12, "miezi", "month"),
];

/// The number of "3/7", "2/52" or "6/12", what it counts in both languages, and the token after it.
fn length_at(
    context: &TokenContext<'_>,
    i: usize,
) -> Option<(u64, &'static str, &'static str, usize)> {
    const LONGEST: u64 = 30;
    let value = |j: usize| context.digits(j)?.parse::<u64>().ok();
    let (n, below) = (value(i)?, value(i + 2)?);
    let (_, noun, english) = SPANS.into_iter().find(|span| span.0 == below)?;
    let next = context.skip_space(i + 3);
    let goes_on = matches!(context.kind(next), Some(Kind::Mark('/' | '=')));
    let written =
        context.is_mark(i + 1, '/') && !goes_on && !context.is_word(next, &["ya", "za", "of"]);
    let always = (n, below) == (24, 7);
    (written && !always && (1..=LONGEST).contains(&n)).then_some((n, noun, english, i + 3))
}

/// The length behind the "x" of "tds x 3/7" and "5ml x 3 x 7/7"; "2 x 3/7" is a product.
fn times_length(
    context: &TokenContext<'_>,
    i: usize,
) -> Option<(u64, &'static str, &'static str, usize)> {
    let is_times = |j: usize| context.is_word(j, &["x"]) || context.is_mark(j, '×');
    let before = context.before(i).filter(|_| is_times(i))?;
    let counted = context.digits(before).and_then(|_| context.before(before));
    let prescribed = context.word(before).is_some() || counted.is_some_and(is_times);
    length_at(context, context.skip_space(i + 1)).filter(|_| prescribed)
}

/// What doses are counted in.
pub(super) static DOSES: WordList = WordList::named("doses");

/// How often a day a dose is taken: the "bd" of "500mg bd" and the "TDS" of "1 TDS".
fn times_a_day(context: &TokenContext<'_>, i: usize) -> Option<usize> {
    const OFTEN: [&[&str]; 4] = [&["od"], &["bd", "bid"], &["tds", "tid"], &["qid", "qds"]];
    let word = context.word(i)?;
    let often = OFTEN.iter().position(|names| word.is_one_of(names))? + 1;
    let for_days = times_length(context, context.skip_space(i + 1)).is_some();
    let before = context.before(i).unwrap_or(i);
    let few = context.digits(before).is_some_and(|n| n.len() == 1);
    // "2 BD" are bedrooms, "tembe 2 BD" are none.
    let of_tablets = context.follows(before, &DOSES);
    let sure = word.text.len() > 2 || !word.is_capitalised() || of_tablets;
    (context.is_word(before, &DOSES) || few && sure || for_days).then_some(often)
}

pub(super) fn read(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    if let Some(often) = times_a_day(context, i) {
        let often = ["moja", "mbili", "tatu", "nne"][often - 1];
        return SpokenForm::new(format!("mara {often} kwa siku"), i + 1);
    }
    if let Some(count) = repeated(context, i) {
        return SpokenForm::new(format!("mara {}", cardinal(count)), i + 2);
    }
    if is_for_days(context, i) || is_times_price(context, i) {
        let sign = if is_times_price(context, i) {
            "mara"
        } else {
            "kwa"
        };
        return SpokenForm::new(sign, i + 1);
    }
    let said = |n: u64, noun: &str| agreeing(n, class_of(noun));
    if let Some((n, noun, _, end)) = times_length(context, i) {
        return SpokenForm::new(format!("kwa {noun} {}", said(n, noun)), end);
    }
    let (n, noun, _, end) = length_at(context, i)?;
    let named = context.word_before(i).is_some_and(|w| w.is(noun));
    named.then(|| SpokenForm::new(said(n, noun), end))?
}

/// Spaces around the "x" at `i`.
fn is_spaced_sign(context: &TokenContext<'_>, i: usize) -> bool {
    let apart = context.kind_before(i) == Some(Kind::Space);
    context.token(i).text == "x" && apart && context.kind(i + 1) == Some(Kind::Space)
}

/// The sign of "mara 2 kwa siku x siku 5".
fn is_for_days(context: &TokenContext<'_>, i: usize) -> bool {
    let span = context.skip_space(i + 1);
    let named = context.is_word(span, &["siku", "wiki", "mwezi", "miezi"]);
    let counted = context.figures_follow(span + 1);
    is_spaced_sign(context, i) && named && counted
}

/// The sign of "12 x KES 11,200".
fn is_times_price(context: &TokenContext<'_>, i: usize) -> bool {
    let price = context.skip_space(i + 1);
    let currency = context.word(price).filter(|w| money::is_currency(w.text));
    let paid = context.figures_follow(price + 1);
    let times = context.before(i).and_then(|j| context.digits(j));
    is_spaced_sign(context, i) && currency.is_some() && paid && times.is_some()
}

/// How often in "Baba Yetu x3" and "(x2)"; the "x2" of algebra and "x86" tell nothing.
fn repeated(context: &TokenContext<'_>, i: usize) -> Option<u64> {
    let count = context.digits(i + 1).filter(|figures| figures.len() <= 2)?;
    let before = context.before(i)?;
    let bracketed = context.is_mark(i - 1, '(') && context.is_mark(i + 2, ')');
    let said = context.word(before).filter(|word| word.text.len() > 2);
    let apart = context.kind_before(i) == Some(Kind::Space) && said.is_some();
    let glued = matches!(context.kind(i + 2), Some(Kind::Word | Kind::Digits));
    let operand = matches!(
        context.kind(context.skip_space(i + 2)),
        Some(Kind::Mark('=' | '+' | '-' | '×' | '/' | '^'))
    );
    let alone = bracketed || apart && !glued && !operand;
    let often = |n: &u64| *n <= 10 || *n == 12 || n.is_multiple_of(10);
    let count = count.parse().ok().filter(often);
    count.filter(|_| alone && context.token(i).text == "x")
}

/// The same in English, where "for 2/52" is a length too.
pub(super) fn english(
    context: &TokenContext<'_>,
    i: usize,
    say: fn(u64) -> String,
) -> Option<SpokenForm> {
    if let Some(often) = times_a_day(context, i) {
        let often = ["once", "twice", "three times", "four times"][often - 1];
        return SpokenForm::new(format!("{often} a day"), i + 1);
    }
    if let Some(count) = repeated(context, i) {
        return SpokenForm::new(format!("times {}", say(count)), i + 2);
    }
    if is_times_price(context, i) {
        return SpokenForm::new("times", i + 1);
    }
    let for_weeks = || {
        let length = length_at(context, i).filter(|length| length.2 == "week")?;
        context.follows(i, &["for"]).then_some(("", length))
    };
    let times = times_length(context, i).map(|length| ("for ", length));
    let (opening, (n, _, noun, end)) = times.or_else(for_weeks)?;
    let plural = if n == 1 { "" } else { "s" };
    SpokenForm::new(format!("{opening}{} {noun}{plural}", say(n)), end)
}
