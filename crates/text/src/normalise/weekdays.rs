//! Days of the week in English short forms: "Mon-Fri".

use super::SpokenForm;
use super::context::TokenContext;
use super::quantity::dash_after;
use super::token::Token;
use crate::tables::WordList;

/// From Saturday, as their Swahili numbers count.
pub(super) static WEEKDAYS: WordList = WordList::named("weekdays");
pub(super) static WEEKDAYS_ENGLISH: WordList = WordList::named("english-weekdays");
static WEEKDAYS_SHORT: WordList = WordList::named("english-weekdays-short");

/// "Sat" and "Sun" are words too: a dash stands between two days.
pub(super) fn read(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let first = short_day(context.word(i)?)?;
    let last = dash_after(context, i + 1)?;
    let last_day = short_day(context.word(last)?)?;
    let said = format!("{} hadi {}", WEEKDAYS[first], WEEKDAYS[last_day]);
    SpokenForm::new(said, last + 1)
}

/// The place in the week of "Mon" and "Thurs".
pub(super) fn short_day(word: &Token<'_>) -> Option<usize> {
    let short = word.is_capitalised() && word.is_one_of(&WEEKDAYS_SHORT);
    let begins = |day: &&str| {
        day.get(..word.text.len())
            .is_some_and(|start| word.is(start))
    };
    short.then(|| WEEKDAYS_ENGLISH.iter().position(begins))?
}

/// A day of the week in English, in full or short.
pub(super) fn is_english_day(word: &Token<'_>) -> bool {
    word.is_capitalised() && word.is_one_of(&WEEKDAYS_ENGLISH) || short_day(word).is_some()
}
