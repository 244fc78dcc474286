//! Written English to spoken words: numbers, dates, money, the clock, abbreviations. Names stay as they are.

mod calendar;
mod codes;
mod money;
mod number;

use super::context::TokenContext;
use super::number::Number;
use super::quantity::short_multiplier;
use super::reading::SpokenForm;
use super::token::{Kind, Token, tokens};
use super::units::written_unit;
use super::words::{ACRONYMS, beside_capitals, initial_letters};
use super::{PieceKind, Rule, pieces};
use crate::english::{is_known, respell};
use crate::lexicon::is_name;
use crate::tables::{WordTable, rows};
use number::{cardinal, digits, ordinal};

const RULES: &[Rule] = &[
    calendar::date,
    calendar::clock,
    money::before_number,
    initials,
    codes::read,
    codes::named,
    calendar::year_in_context,
    range,
    quantity,
    abbreviation,
    capitals,
    article,
];

pub(super) fn read(context: &TokenContext<'_>, i: usize) -> (SpokenForm, PieceKind) {
    let token = context.token(i);
    if token.kind == Kind::Space {
        return (super::space(token, i), PieceKind::Space);
    }
    if let Some(reading) = RULES.iter().find_map(|rule| rule(context, i)) {
        return (reading, PieceKind::English);
    }
    match token.kind {
        Kind::Mark(mark) => {
            let said = said_mark(context, i, mark);
            (SpokenForm::of(said, i + 1), PieceKind::Mark)
        }
        _ => {
            let kind = match is_local_name(context, i) {
                true => PieceKind::Word,
                false => PieceKind::English,
            };
            (SpokenForm::of(token.text, i + 1), kind)
        }
    }
}

/// A name that is said by its Swahili letters or by our list: "Were" in "Mrs Were", "Cheptegei". A capital at the start
/// of a sentence tells nothing.
fn is_local_name(context: &TokenContext<'_>, i: usize) -> bool {
    let Some(word) = context.word(i).filter(|word| word.is_capitalised()) else {
        return false;
    };
    let lower = word.text.to_ascii_lowercase();
    let stem = lower.strip_suffix("'s").unwrap_or(&lower);
    let unknown = !is_known(stem) && respell(stem).is_none();
    !context.starts_sentence(i) && !context.shouting && (is_name(word.text) || unknown)
}

fn said_mark(context: &TokenContext<'_>, i: usize, mark: char) -> String {
    let glued = |j: Option<usize>| {
        j.and_then(|j| context.get(j))
            .is_some_and(|t| matches!(t.kind, Kind::Word | Kind::Digits))
    };
    let inside = glued(i.checked_sub(1)) && glued(Some(i + 1));
    let said = match mark {
        '&' => "and",
        '%' => "per cent",
        '+' => "plus",
        '=' => "equals",
        '@' => "at",
        '°' => "degrees",
        '#' if context.digits(i + 1).is_some() => "number",
        '-' | '–' if is_range_of_times(context, i) => "to",
        '-' if !glued(i.checked_sub(1)) && context.digits(i + 1).is_some() => "minus",
        '.' if inside => "dot",
        '/' if context.is_word(i + 1, &["or"]) => return " ".to_owned(),
        '/' if inside => "or",
        _ => return mark.to_string(),
    };
    format!(" {said} ")
}

/// "8am-5pm", "Mon-Fri".
fn is_range_of_times(context: &TokenContext<'_>, i: usize) -> bool {
    let word_before = i.checked_sub(1).and_then(|j| context.word(j));
    let is_day = |word: &Token<'_>| DAYS.iter().any(|(short, _)| word.is(short));
    match word_before {
        Some(word) if word.is_one_of(&["am", "pm"]) => context.digits(i + 1).is_some(),
        Some(word) if is_day(word) => context.word(i + 1).is_some_and(is_day),
        _ => false,
    }
}

const DAYS: &[(&str, &str)] = &[
    ("mon", "Monday"),
    ("tue", "Tuesday"),
    ("wed", "Wednesday"),
    ("thu", "Thursday"),
    ("fri", "Friday"),
    ("sat", "Saturday"),
    ("sun", "Sunday"),
];

pub(super) fn said_number(number: &Number<'_>) -> String {
    let whole = match number.value() {
        Some(n) if !number.has_leading_zero() || number.fraction.is_some() => cardinal(n),
        _ => digits(&number.whole),
    };
    match number.fraction {
        Some(fraction) => format!("{whole} point {}", digits(fraction)),
        None => whole,
    }
}

/// "5-10 days", "5-10 km", "50%-60%".
fn range(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let mut from = context.number(i)?;
    from.end += usize::from(context.is_mark(from.end, '%'));
    range_end(context, &from)?;
    let to = quantity(context, from.end + 1)?;
    SpokenForm::new(format!("{} to {}", said_number(&from), to.text), to.end)
}

/// The last number of a range.
fn range_end<'a>(context: &TokenContext<'a>, from: &Number<'_>) -> Option<Number<'a>> {
    let dash = context.is_mark(from.end, '-') || context.is_mark(from.end, '–');
    let to = context.number(from.end + 1).filter(|_| dash)?;
    let another = context.is_mark(to.end, '-') && context.digits(to.end + 1).is_some();
    (!another).then_some(to)
}

/// As written; one of it, a tab, several of it.
static UNITS: WordTable =
    WordTable::new(|| rows(include_str!("../../../data/english-units.tsv")).collect());

fn unit(written: &str) -> Option<(&'static str, &'static str)> {
    UNITS.get(written)?.split_once('\t')
}

/// One of the unit, several of it, and the token after it.
fn unit_at(context: &TokenContext<'_>, i: usize) -> Option<(&'static str, &'static str, usize)> {
    let (written, end) = written_unit(context, i)?;
    let (one, many) = unit(written)?;
    Some((one, many, end))
}

/// What was said, with "/kg", "/h" or "/month" behind it.
fn per(context: &TokenContext<'_>, said: String, end: usize) -> Option<SpokenForm> {
    let word = context
        .word(end + 1)
        .filter(|_| context.is_mark(end, '/'))
        .map(|word| word.text);
    let divisor = word.and_then(|word| match word {
        "h" | "H" => Some("hour"),
        "s" => Some("second"),
        "L" => Some("litre"),
        _ => {
            let is_whole = word.len() > 2 && word.bytes().all(|b| b.is_ascii_lowercase());
            unit(word).map_or(is_whole.then_some(word), |(one, _)| Some(one))
        }
    });
    match divisor {
        Some(divisor) => SpokenForm::new(format!("{said} per {divisor}"), end + 2),
        None => SpokenForm::new(said, end),
    }
}

fn quantity(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let number = context.number(i)?;
    let special = money::after_number(context, &number)
        .or_else(|| with_ordinal_suffix(context, &number))
        .or_else(|| fraction(context, &number));
    if special.is_some() {
        return special;
    }
    let said = said_number(&number);
    let at = context.skip_space(number.end);
    if let Some((one, many, end)) = unit_at(context, at) {
        let name = if number.plain() == Some(1) { one } else { many };
        return per(context, format!("{said} {name}"), end);
    }
    let large = match short_multiplier(context, number.end) {
        // The screen.
        Some(_) if said == "four" && context.token(at).text == "K" => None,
        Some(("elfu", end)) => Some(("thousand", end)),
        Some(("milioni", end)) => Some(("million", end)),
        _ => None,
    };
    if let Some((name, end)) = large {
        return per(context, format!("{said} {name}"), end);
    }
    if context.is_mark(at, '%') {
        return SpokenForm::new(format!("{said} per cent"), at + 1);
    }
    let celsius = context.is_mark(at, '°') && context.is_word(at + 1, &["c"]);
    if celsius {
        return SpokenForm::new(format!("{said} degrees Celsius"), at + 2);
    }
    SpokenForm::new(said, number.end)
}

/// "3rd".
fn with_ordinal_suffix(context: &TokenContext<'_>, number: &Number<'_>) -> Option<SpokenForm> {
    let n = number
        .plain()
        .filter(|_| context.is_word(number.end, &["st", "nd", "rd", "th"]))?;
    SpokenForm::new(ordinal(n), number.end + 1)
}

/// "1/2", "3/4", "2/3".
fn fraction(context: &TokenContext<'_>, number: &Number<'_>) -> Option<SpokenForm> {
    let above = number
        .plain()
        .filter(|_| context.is_mark(number.end, '/'))?;
    let below = context.number(number.end + 1)?;
    let said = match (above, below.plain()?) {
        (24, 7) | (50, 50) => format!("{} {}", cardinal(above), said_number(&below)),
        (1, 2) => "a half".to_owned(),
        (1, 4) => "a quarter".to_owned(),
        (n, 4) => format!("{} quarters", cardinal(n)),
        (1, n @ 3..=20) => format!("one {}", ordinal(n)),
        (above, n @ 3..=20) if above < n => format!("{} {}s", cardinal(above), ordinal(n)),
        (above, n) => format!("{} over {}", cardinal(above), cardinal(n)),
    };
    SpokenForm::new(said, below.end)
}

/// "P.O. Box", "the U.S. Embassy".
fn initials(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let (letters, end) = initial_letters(context, i)?;
    let capitals = letters.bytes().all(|b| b.is_ascii_uppercase());
    let single = letters.len() * 2 <= end - i + 1;
    let letters: Vec<String> = letters.chars().map(String::from).collect();
    (capitals && single).then(|| SpokenForm::new(letters.join(" "), end))?
}

static ABBREVIATIONS: WordTable =
    WordTable::new(|| rows(include_str!("../../../data/english-abbreviations.tsv")).collect());

fn abbreviation(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let word = context.word(i)?;
    let dot = usize::from(context.is_mark(i + 1, '.'));
    let next = context.skip_space(i + 1 + dot);
    if word.is("no") && context.digits(next).is_some() && (dot == 1 || word.text == "No") {
        return SpokenForm::new("number", i + 2.min(1 + dot));
    }
    // "Sat" and "sun" are words too: a day stands beside another one, or has its dot.
    let joined = |j: Option<usize>| j.is_some_and(|j| is_range_of_times(context, j));
    let day = word.is_capitalised()
        && (dot == 1 && next > i + 2 || joined(i.checked_sub(1)) || joined(Some(i + 1)));
    let lower = word.text.to_ascii_lowercase();
    let named_day = || DAYS.iter().find(|(short, _)| day && lower == *short);
    let said = ABBREVIATIONS.get(lower.as_str()).copied();
    let said = said.or_else(|| named_day().map(|(_, name)| *name))?;
    SpokenForm::new(said, i + 1 + dot)
}

/// Letters one by one, unless they make a word: "ATM", "ATMs", "the CEO's", but "PIN" and "JOHN DOE".
fn capitals(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    const AS_WORDS: &[&str] = &["PESA", "MPESA"];
    const SPELLED_LETTERS_MAX: usize = 5;
    let word = context.word(i)?;
    let plural = word
        .text
        .strip_suffix("'s")
        .or_else(|| word.text.strip_suffix('s'));
    let (stem, ending) = plural.map_or((word.text, ""), |stem| (stem, "'s"));
    if stem.len() < 2 || !stem.bytes().all(|b| b.is_ascii_uppercase()) {
        return None;
    }
    let lower = stem.to_ascii_lowercase();
    let has_vowel = lower.contains(['a', 'e', 'i', 'o', 'u']);
    let listed = ACRONYMS.get(stem).filter(|said| !said.contains(' '));
    let is_word = AS_WORDS.contains(&stem)
        || has_vowel && listed.is_some_and(|said| *said != "-")
        || context.shouting && is_known(&lower)
        || has_vowel && listed.is_none() && beside_capitals(context, i)
        || has_vowel && (lower.len() > SPELLED_LETTERS_MAX || lower.len() > 3 && is_known(&lower));
    let letters: Vec<String> = stem.chars().map(String::from).collect();
    (!is_word).then(|| SpokenForm::new(letters.join(" ") + ending, i + 1))?
}

/// "A meeting": the article, not the letter.
fn article(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let next = context.get(context.skip_space(i + 1));
    let follows = next.is_some_and(|next| {
        next.kind == Kind::Digits || next.kind == Kind::Word && !next.is_capitalised()
    });
    let is_article = context.token(i).text == "A" && follows && context.starts_sentence(i);
    is_article.then(|| SpokenForm::new("a", i + 1))?
}

/// A text whose kind the caller names, for SSML's say-as.
pub(crate) fn say_as(text: &str, kind: &str, format: &str) -> Option<String> {
    let has_digit = text.contains(|c: char| c.is_ascii_digit());
    let said = match kind {
        "digits" => digits(text),
        "characters" | "spell-out" | "verbatim" => {
            let said =
                text.chars()
                    .filter(char::is_ascii_alphanumeric)
                    .map(|c| match c.to_digit(10) {
                        Some(digit) => cardinal(u64::from(digit)),
                        None => c.to_ascii_uppercase().to_string(),
                    });
            said.collect::<Vec<_>>().join(" ")
        }
        "ordinal" => ordinal(text.parse().ok()?),
        "date" => calendar::date_in_format(text, format)?,
        "telephone" => calendar::telephone(text),
        "time" => {
            let context = TokenContext::new(tokens(text));
            calendar::clock(&context, 0)?.text
        }
        "currency" => {
            let said = spoken(text);
            let named = said
                .split(' ')
                .any(|word| word.len() > 2 && !is_number_word(word));
            has_digit.then_some(if named {
                said
            } else {
                format!("{said} shillings")
            })?
        }
        _ => has_digit.then(|| spoken(text))?,
    };
    (!said.is_empty()).then_some(said)
}

fn is_number_word(word: &str) -> bool {
    (0..100).any(|n| cardinal(n) == word)
        || ["and", "hundred", "thousand", "million", "billion", "point"].contains(&word)
}

fn spoken(text: &str) -> String {
    let said: String = pieces(text, read)
        .into_iter()
        .map(|piece| piece.text)
        .collect();
    said.split_whitespace().collect::<Vec<_>>().join(" ")
}
