//! How a Roman numeral is said: by the word before it, or by the list that it stands in.

use super::SpokenForm;
use super::context::TokenContext;
use super::quantity::{follows_connective, say_roman};
use super::roman::roman_value;
use super::token::{Kind, Token};
use crate::tables::{WordList, words};

pub(super) static HEADINGS: WordList =
    WordList::new(|| words(include_str!("../../data/headings.txt")));

/// Numerals of I, V and X: ordinal after a connective, "wa pili" after a name, plain after other words.
pub(super) fn read(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let word = context.word(i)?;
    let value = roman_value(word.text)?;
    let listed = list_is_ordinal(context, i).filter(|_| word.text.len() > 1);
    // "Div.II".
    let numbered = i > 0 && context.is_abbreviation_dot(i - 1);
    let glued = matches!(context.kind_before(i), Some(Kind::Mark('-' | '.' | '\''))) && !numbered;
    if word.text.len() > 6 || glued && listed.is_none() {
        return None;
    }
    if follows_connective(context, i) {
        return SpokenForm::new(say_roman(value, true), i + 1);
    }
    if let Some(ordinal) = listed {
        return SpokenForm::new(say_roman(value, ordinal), i + 1);
    }
    let before = context.word_before(i)?;
    if let Some(joint) = ordinal_joint(before) {
        return SpokenForm::new(format!("{joint} {}", say_roman(value, true)), i + 1);
    }
    if before.is_one_of(&HEADINGS) {
        return SpokenForm::new(say_roman(value, false), i + 1);
    }
    // A king or a pope: "Yohane Paulo II".
    let name = before.is_capitalised() && !before.is_all_caps() && word.text.len() > 1;
    name.then(|| SpokenForm::new(format!("wa {}", say_roman(value, true)), i + 1))?
}

/// The connective that "Muhula I" and "Kidato IV" leave out.
fn ordinal_joint(word: &Token<'_>) -> Option<&'static str> {
    Some(match word.text.to_ascii_lowercase().as_str() {
        "awamu" | "hatua" | "ngazi" => "ya",
        "muhula" => "wa",
        "darasa" | "daraja" | "toleo" => "la",
        "kidato" => "cha",
        _ => return None,
    })
}

/// The second and later ones of "daraja la I, II na III" and "Form I - IV": whether they order.
pub(super) fn list_is_ordinal(context: &TokenContext<'_>, i: usize) -> Option<bool> {
    const LIST_MAX: usize = 12;
    let mut at = i;
    for _ in 0..LIST_MAX {
        let joint = context.before(at).filter(|j| {
            matches!(context.kind(*j), Some(Kind::Mark(',' | '-' | '–')))
                || context.is_word(*j, &["na", "au", "hadi", "mpaka"])
        })?;
        let is_numeral = |w: &Token<'_>| roman_value(w.text).is_some();
        let numeral = context
            .before(joint)
            .filter(|j| context.word(*j).is_some_and(is_numeral))?;
        let ordered = context.word_before(numeral).and_then(ordinal_joint);
        if ordered.is_some() || follows_connective(context, numeral) {
            return Some(true);
        }
        if context.follows(numeral, &HEADINGS) {
            return Some(false);
        }
        at = numeral;
    }
    None
}
