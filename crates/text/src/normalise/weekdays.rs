//! Days of the week in English short forms: "Mon-Fri".

use super::SpokenForm;
use super::context::TokenContext;
use super::quantity::dash_after;
use super::token::Token;

const DAYS: &[(&str, &str)] = &[
    ("mon", "Jumatatu"),
    ("tue", "Jumanne"),
    ("tues", "Jumanne"),
    ("wed", "Jumatano"),
    ("thu", "Alhamisi"),
    ("thur", "Alhamisi"),
    ("thurs", "Alhamisi"),
    ("fri", "Ijumaa"),
    ("sat", "Jumamosi"),
    ("sun", "Jumapili"),
];

/// "Sat" and "Sun" are words too: a dash stands between two days.
pub(super) fn read(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let first = day(context.word(i)?)?;
    let last = dash_after(context, i + 1)?;
    let said = format!("{first} hadi {}", day(context.word(last)?)?);
    SpokenForm::new(said, last + 1)
}

fn day(word: &Token<'_>) -> Option<&'static str> {
    let named = |(short, _): &&(&str, &str)| word.is_capitalised() && word.is(short);
    DAYS.iter().find(named).map(|(_, day)| *day)
}
