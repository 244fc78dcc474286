//! Whether "29/11" is a day and its month, by what stands around it; else it is a fraction.

use super::context::TokenContext;
use crate::tables::WordList;

const NEAR_DAYS: &[&str] = &["leo", "kesho", "kutwa", "jana", "juzi"];
const LIMITS: &[&str] = &["hadi", "mpaka", "mwisho"];
const STARTS: &[&str] = &["kuanzia", "kabla", "baada", "tangu"];
static EVENTS: WordList = WordList::named("events");
/// What is told in fractions, whatever stands above the line.
static FRACTIONS: WordList = WordList::named("fractions");

/// "hadi 30/11", "ni 29/11", "kabla ya 21/11": with a day above twelve it is no fraction, nor is it in "kesho (5/11)",
/// "kabla ya 5/12" and "harusi ni 5/12".
pub(super) fn is_short_date(context: &TokenContext<'_>, i: usize) -> bool {
    // "#1 05/01 Sh 5,000": no fraction begins with a zero.
    let padded = |j: usize| {
        let figures = context.digits(j).filter(|d| d.len() == 2);
        figures.is_some_and(|d| d.starts_with('0'))
    };
    if padded(i) && padded(i + 2) && !context.is_mark(i + 3, '/') {
        return true;
    }
    let mut before = context.words_back(i);
    let first = before.next().filter(|word| !word.is_one_of(&["ya", "ni"]));
    let joined = first.is_none();
    let Some(head) = first.or_else(|| before.next()) else {
        return false;
    };
    let late = context.digits(i).is_some_and(|d| d.len() == 2 && d > "12");
    let two_figures = context.digits(i + 2).is_some_and(|d| d.len() == 2);
    // "24/7", and 22/7 for pi.
    let constant = context.digits(i + 2) == Some("7");
    let part = context.comes_next(i + 3, &["ya", "za"]);
    let colon = context.before(i).is_some_and(|j| context.is_mark(j, ':'));
    let bracketed = i > 0 && context.is_mark(i - 1, '(') && context.is_mark(i + 3, ')');
    let told = late && (colon || context.follows(i, &["ni"])) && !constant;
    head.is_one_of(NEAR_DAYS) && (late || bracketed)
        || head.is_one_of(LIMITS) && late
        || head.is_one_of(STARTS) && (late || two_figures && !part)
        || head.is_one_of(&EVENTS) && joined && !part
        || told && !head.is_one_of(&FRACTIONS)
}
