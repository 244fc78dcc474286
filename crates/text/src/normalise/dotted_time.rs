//! Whether "08.30" is a time of the day, by what stands around it; else it is a decimal.

use super::context::TokenContext;
use super::quantity::dash_after;
use super::token::Kind;
use crate::tables::WordList;

pub(super) static DAY_PARTS: WordList = WordList::named("day-parts");

/// "Asb" is "asubuhi".
pub(crate) fn day_part(word: &str) -> Option<&'static str> {
    let is = |written: &&str| word.eq_ignore_ascii_case(written);
    match ["asb", "asbh"].iter().any(is) {
        true => Some("asubuhi"),
        false => DAY_PARTS.iter().copied().find(is),
    }
}

pub(super) fn follows_saa(context: &TokenContext<'_>, i: usize) -> bool {
    // "Saa:3:30".
    let before = i.checked_sub(1).filter(|j| context.is_mark(*j, ':'));
    context.follows(before.unwrap_or(i), &["saa"])
}

pub(super) fn day_part_after(context: &TokenContext<'_>, i: usize) -> Option<&'static str> {
    let mut j = context.skip_space(i);
    if context.is_word(j, &["za", "ya"]) {
        j = context.skip_space(j + 1);
    }
    day_part(context.word(j)?.text)
}

/// What is measured in decimals.
static MEASURED: WordList = WordList::named("decimals");

const LIST_MAX: usize = 8;

/// The token after "08.30" or "8.30", if one stands at `i`.
fn dotted_end(context: &TokenContext<'_>, i: usize) -> Option<usize> {
    let hour = context.digits(i).filter(|d| d.len() <= 2)?;
    let minute = context.digits(i + 2).filter(|d| d.len() == 2)?;
    let fits = hour.parse::<u64>().ok()? <= 24 && minute.parse::<u64>().ok()? < 60;
    let goes_on = context.is_mark(i + 3, '.') && context.digits(i + 4).is_some();
    (fits && context.is_mark(i + 1, '.') && !goes_on).then_some(i + 3)
}

/// The one behind "08.30 hadi" or "08.30 -".
fn next_end(context: &TokenContext<'_>, end: usize) -> Option<usize> {
    let joint = context.skip_space(end);
    let next = match context.is_word(joint, &["hadi", "mpaka"]) {
        true => Some(context.skip_space(joint + 1)),
        false => dash_after(context, end),
    };
    next.filter(|j| dotted_end(context, *j).is_some())
}

/// The one before the word or the mark that joins it to the one at `i`.
fn one_before(context: &TokenContext<'_>, i: usize) -> Option<usize> {
    let joint = context.before(i)?;
    let mark = matches!(context.kind(joint), Some(Kind::Mark('-' | '–' | '—' | ',')));
    let joins = mark || context.is_word(joint, &["hadi", "mpaka", "na", "au"]);
    let first = context.before(joint).filter(|_| joins)?.checked_sub(2)?;
    dotted_end(context, first).map(|_| first)
}

/// A part of the day stands behind it or its range; or it is joined to another one, and one of them follows "saa", has a leading zero,
/// or both ends of a range are quarters of an hour.
pub(super) fn is_dotted_time(context: &TokenContext<'_>, i: usize) -> bool {
    let Some(end) = dotted_end(context, i) else {
        return false;
    };
    let two_figures = |j: usize| context.token(j).text.len() == 2;
    let padded = |j: usize| {
        let (hour, minute) = (context.token(j).text, context.token(j + 2).text);
        two_figures(j) && hour.starts_with('0') && minute.ends_with(['0', '5'])
    };
    let quarter = |j: usize| matches!(context.token(j + 2).text, "00" | "15" | "30" | "45");
    let before = std::iter::successors(one_before(context, i), |j| one_before(context, *j));
    let before: Vec<usize> = before.take(LIST_MAX).collect();
    let next = next_end(context, end);
    let (first, last) = (before.last().copied().unwrap_or(i), next.unwrap_or(i));
    if follows_saa(context, first) {
        return true;
    }
    let after = context.skip_space(last + 3);
    let measured = context.is_near(first, 3, &MEASURED)
        || context.is_word(after, &MEASURED)
        || context.is_mark(after, '%');
    let named = day_part_after(context, end).is_some() || padded(i);
    let listed = before.iter().chain(&next).any(|j| padded(*j));
    let ends = next.or_else(|| {
        let joint = context.before(i)?;
        before
            .first()
            .copied()
            .filter(|_| !context.is_word(joint, &["na", "au"]) && !context.is_mark(joint, ','))
    });
    let quarters = ends.is_some_and(|j| two_figures(j) && quarter(i) && quarter(j));
    // "8.00-10.30 asubuhi".
    let told = quarter(i) && day_part_after(context, last + 3).is_some();
    !measured && (told || two_figures(i) && (named || listed || quarters))
}
