//! How a Roman numeral is said: by the word before it, or by the list that it stands in.

use super::SpokenForm;
use super::context::TokenContext;
use super::quantity::{dash_after, follows_connective, say_roman};
use super::roman::roman_value;
use super::token::{Kind, Token};
use crate::cardinal::cardinal;
use crate::tables::WordList;

pub(super) static HEADINGS: WordList = WordList::named("headings");

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
    if follows_label(context, i) && (word.text.len() > 1 || word.text != "X") {
        return SpokenForm::new(cardinal(value), i + 1);
    }
    let before = context.word_before(i)?;
    if let Some(joint) = ordinal_joint(before) {
        return SpokenForm::new(format!("{joint} {}", say_roman(value, true)), i + 1);
    }
    if before.is_one_of(&HEADINGS) {
        return SpokenForm::new(say_roman(value, false), i + 1);
    }
    // A king or a pope: "Yohane Paulo II", "Malkia Elizabeth I".
    let name = before.is_capitalised()
        && !before.is_all_caps()
        && (word.text.len() > 1 || word.text == "I" && is_royal(context, i));
    name.then(|| SpokenForm::new(format!("wa {}", say_roman(value, true)), i + 1))?
}

/// "Daraja: II".
fn follows_label(context: &TokenContext<'_>, i: usize) -> bool {
    let colon = context
        .before(i)
        .filter(|j| *j > 0 && context.is_mark(*j, ':'));
    colon.is_some_and(|j| context.is_word(j - 1, &HEADINGS))
}

/// What a numeral in small letters may stand behind.
static SMALL_HEADINGS: WordList = WordList::named("small-headings");

/// "(iii)", "iii. Simu" at the start of a line, "kiambatisho iii", "uk. iii-vii", "sura iii na ii".
pub(super) fn small(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    const NEIGHBOUR_TOKENS_MAX: usize = 120;
    let bracketed = |j: usize| j > 0 && context.is_mark(j - 1, '(') && context.is_mark(j + 1, ')');
    let several = |j: usize| context.token(j).text.len() > 1;
    let value = small_value(context.word(i)?)?;
    // "(i)" is a letter, unless "(ii)" stands with it.
    let has_neighbour = || {
        let near = i.saturating_sub(NEIGHBOUR_TOKENS_MAX)..i + NEIGHBOUR_TOKENS_MAX;
        let mut near = near.take_while(|j| *j < context.len());
        near.any(|j| bracketed(j) && several(j) && small_value(context.token(j)).is_some())
    };
    let told = match bracketed(i) {
        true => several(i) || has_neighbour(),
        false => several(i) && (starts_item(context, i) || follows_small_heading(context, i)),
    };
    let said = say_roman(value, follows_connective(context, i));
    let last = dash_after(context, i + 1)
        .and_then(|j| Some((small_value(context.word(j)?)?, j + 1)))
        .filter(|(last, _)| *last > value);
    let range =
        last.map(|(last, end)| SpokenForm::of(format!("{said} hadi {}", cardinal(last)), end));
    told.then(|| range.unwrap_or(SpokenForm::of(said, i + 1)))
}

/// The value of "iii".
pub(super) fn small_value(word: &Token<'_>) -> Option<u64> {
    let small = word.text.bytes().all(|b| matches!(b, b'i' | b'v' | b'x'));
    small.then(|| roman_value(&word.text.to_ascii_uppercase()))?
}

fn starts_item(context: &TokenContext<'_>, i: usize) -> bool {
    context.starts_line(i) && matches!(context.kind(i + 1), Some(Kind::Mark('.' | ')')))
}

/// "sura iii", also over the numerals between: "uk. iii-vii", "sura iii na ii".
fn follows_small_heading(context: &TokenContext<'_>, i: usize) -> bool {
    const JOINTS: &[&str] = &["ya", "wa", "la", "cha", "na", "au", "hadi"];
    const LIST_MAX: usize = 12;
    let before = std::iter::successors(context.before(i), |j| context.before(*j));
    let other = before.take(LIST_MAX).find(|j| match context.kind(*j) {
        Some(Kind::Word) => {
            small_value(context.token(*j)).is_none() && !context.is_word(*j, JOINTS)
        }
        kind => !matches!(kind, Some(Kind::Mark('.' | ',' | '-' | '–'))),
    });
    other.is_some_and(|j| context.is_word(j, &SMALL_HEADINGS))
}

/// "Papa Fransisko", "King Charles" before the "I".
pub(super) fn is_royal(context: &TokenContext<'_>, i: usize) -> bool {
    const TITLES: &[&str] = &["papa", "malkia", "mfalme", "king", "queen", "pope"];
    context
        .words_back(i)
        .nth(1)
        .is_some_and(|w| w.is_one_of(TITLES))
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
            matches!(context.kind(*j), Some(Kind::Mark(',' | '-' | '–' | '&')))
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
