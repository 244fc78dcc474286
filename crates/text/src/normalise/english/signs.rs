//! Signs between words and numbers, said in English.

use super::calendar::is_range_of_times;
use super::quantity::unit;
use crate::normalise::context::TokenContext;
use crate::normalise::marks::{
    is_grade, is_mark_out_of, is_menu_step, joins_fields, joins_measures,
};
use crate::normalise::money::{ends_range, is_currency};
use crate::normalise::token::{Kind, Token};
use crate::tables::WordList;

pub(super) fn said_mark(context: &TokenContext<'_>, i: usize, mark: char) -> String {
    let glued = |j: Option<usize>| {
        j.and_then(|j| context.get(j))
            .is_some_and(|t| matches!(t.kind, Kind::Word | Kind::Digits))
    };
    let inside = glued(i.checked_sub(1)) && glued(Some(i + 1));
    let said = match mark {
        '&' => "and",
        '%' => "per cent",
        '‰' => "per thousand",
        '+' => "plus",
        '=' => "equals",
        '@' => "at",
        '°' => "degrees",
        '²' => "squared",
        '³' => "cubed",
        '√' => "the square root of",
        '>' if is_menu_step(context, i) => "then",
        '<' if compares(context, i) => "less than",
        '>' if compares(context, i) => "more than",
        '≤' if compares(context, i) => "at most",
        '≥' if compares(context, i) => "at least",
        '~' if context.digits(i + 1).is_some() => "about",
        '#' if context.word(i + 1).is_some() => return String::new(),
        '#' if context.digits(i + 1).is_some() => "number",
        '*' if joins_fields(context, i) => return " star ".to_owned(),
        '*' if is_key(context, i) => return "star".to_owned(),
        '#' if is_key(context, i) => return "hash".to_owned(),
        '-' | '–' if is_range_of_times(context, i) => "to",
        '–' if between_numbers(context, i) => "to",
        '-' | '–' if ends_range(context, i) => "to",
        '-' | '−' | '–'
            if !glued(i.checked_sub(1))
                && context.digits(i + 1).is_some()
                && !ends_range(context, i) =>
        {
            "minus"
        }
        '-' | '−' if is_grade(context, i) => "minus",
        '-' | '–' if between_quantities(context, i) || joins_measures(context, i) => "to",
        '^' if inside || glued(i.checked_sub(1)) && context.is_mark(i + 1, '-') => {
            "to the power of"
        }
        '.' if inside && starts_sentence(context, i) => return ". ".to_owned(),
        '.' if inside => "dot",
        ':' if inside && context.words_back(i).next().is_some_and(|w| w.is("npk")) => {
            return ", ".to_owned();
        }
        ':' if inside
            && context.digits(i - 1) == Some("50")
            && context.digits(i + 1) == Some("50") =>
        {
            return " ".to_owned();
        }
        ':' if inside && is_ratio(context, i) => "to",
        ':' if inside && is_shape(context, i) => "by",
        '/' if context.is_word(i + 1, &["or"]) => return " ".to_owned(),
        '/' if is_rate(context, i) => "per",
        '/' if is_mark_out_of(context, i) => "out of",
        '/' if inside && (is_pair(context, i) || i > 1 && context.is_mark(i - 2, '°')) => "and",
        '/' if inside && is_in_address(context, i) => "slash",
        '/' if inside => "or",
        _ => return mark.to_string(),
    };
    match context.kind(i + 1) {
        Some(Kind::Mark('.' | ',' | ';' | '?' | '!' | ')')) => format!(" {said}"),
        _ => format!(" {said} "),
    }
}

pub(super) static RATIOS: WordList = WordList::named("english-ratios");

/// "a ratio of 3:1", "NPK 17:17:17".
fn is_ratio(context: &TokenContext<'_>, i: usize) -> bool {
    let mut before = context.words_back(i);
    let grouped =
        context.digits(i - 1).is_some() && context.number(i + 1).is_some_and(|n| n.grouped);
    grouped || context.digits(i + 1).is_some() && before.any(|word| word.is_one_of(&RATIOS))
}

/// The shapes of screens: "16:9".
fn is_shape(context: &TokenContext<'_>, i: usize) -> bool {
    match (context.digits(i - 1), context.digits(i + 1)) {
        (Some("16" | "21"), Some("9")) => true,
        // "John 4:3" is a verse.
        (Some("4"), Some("3")) => !context
            .word_before(i - 1)
            .is_some_and(Token::is_capitalised),
        _ => false,
    }
}

/// "6:42 PM.New", "Ksh23.00.Amount", "Confirmed.Ksh500", "Confirmed.on 1/2/26": a sentence begins right behind the dot at
/// `i`.
fn starts_sentence(context: &TokenContext<'_>, i: usize) -> bool {
    let before = i - 1;
    let number =
        context.digits(before).is_some() && context.kind_before(before) != Some(Kind::Word);
    let after_word = context.word(before).is_some_and(|w| {
        let small = |b: u8| b.is_ascii_lowercase();
        w.text.len() > 1 && w.text.bytes().skip(1).all(small) && !w.is("www")
    });
    let opens = context.word(i + 1).is_some_and(|w| {
        let capital = w.is_capitalised() && w.text.len() > 1 && !w.is_all_caps();
        let goes_on = context.kind(i + 2) == Some(Kind::Space) && w.is_one_of(&["on", "at"]);
        capital || after_word && (goes_on || is_currency(w.text))
    });
    // "john.Otieno@abc.co.ke", "requests.Session."
    let name = matches!(context.kind(i + 2), Some(Kind::Mark('@' | '.' | '(' | '_')));
    let after_word = after_word && !name;
    opens && (number || after_word || context.is_word(before, &["am", "pm"]))
}

/// "80k-100k", "5kg-10kg": the same unit behind both numbers.
fn between_quantities(context: &TokenContext<'_>, i: usize) -> bool {
    let unit = |j: usize| context.word(j).map(|word| word.text);
    let both = i > 1 && unit(i - 1).is_some() && unit(i - 1) == unit(i + 2);
    both && context.digits(i - 2).is_some() && context.digits(i + 1).is_some()
}

/// "<5", "MUAC < 11.5", but not "-> 5".
fn compares(context: &TokenContext<'_>, i: usize) -> bool {
    let after_mark = matches!(context.kind_before(i), Some(Kind::Mark('-' | '=')));
    !after_mark && context.figures_follow(i + 1)
}

/// "1,000 – 2,000 people".
fn between_numbers(context: &TokenContext<'_>, i: usize) -> bool {
    let before = context.before(i).and_then(|j| context.digits(j));
    before.is_some() && context.figures_follow(i + 1)
}

/// A key of the telephone: "press * or #".
fn is_key(context: &TokenContext<'_>, i: usize) -> bool {
    let after_space = i > 1 && context.skip_space(i - 1) == i;
    let next = context.kind(i + 1);
    after_space
        && matches!(
            next,
            None | Some(Kind::Space | Kind::Mark(',' | '.' | ';' | '?' | '!' | ')'))
        )
}

pub(super) static RATES: WordList = WordList::named("english-rates");

/// The slash of "8GB/256GB".
fn is_pair(context: &TokenContext<'_>, i: usize) -> bool {
    context.is_word(i - 1, &["gb"]) && context.is_word(i + 2, &["gb"])
}

/// The slash of "7 days/week", "20 bags/acre", "50 copies/ml".
pub(super) fn is_rate(context: &TokenContext<'_>, i: usize) -> bool {
    let counted = i.checked_sub(1).and_then(|j| context.word(j));
    let per = context.word(i + 1);
    counted.is_some_and(|word| word.text.ends_with('s'))
        && context.is_mark(i, '/')
        && per.is_some_and(|w| w.is_one_of(&RATES) || w.text.len() > 1 && unit(w.text).is_some())
}

/// The slash of "www.sauti.co.ke/help": a dot stands before it in the same word.
fn is_in_address(context: &TokenContext<'_>, i: usize) -> bool {
    const ADDRESS_TOKENS_MAX: usize = 24;
    let before = (0..i).rev().take(ADDRESS_TOKENS_MAX);
    let mut glued = before.take_while(|j| context.kind(*j) != Some(Kind::Space));
    glued.any(|j| context.is_mark(j, '.'))
}
