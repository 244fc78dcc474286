//! Written English to spoken words: numbers, dates, money, the clock, abbreviations. Names stay as they are.

mod calendar;
mod codes;
mod money;
mod number;

use super::context::TokenContext;
use super::number::Number;
use super::reading::SpokenForm;
use super::token::{Kind, Token, tokens};
use super::words::{ACRONYMS, beside_capitals};
use super::{Piece, PieceKind, Rule, push};
use crate::clean::clean;
use crate::english::{is_known, respell};
use crate::lexicon::is_name;
use number::{cardinal, digits, ordinal};

pub(crate) fn pieces(text: &str) -> Vec<Piece> {
    let cleaned = clean(text);
    let context = TokenContext::new(tokens(&cleaned.text));
    let mut out = Vec::with_capacity(context.len());
    let mut i = 0;
    while i < context.len() {
        let (reading, kind) = read(&context, i);
        let end = reading.end.clamp(i + 1, context.len());
        push(&mut out, &context, &cleaned, i..end, reading.text, kind);
        i = end;
    }
    out
}

const RULES: &[Rule] = &[
    calendar::date,
    calendar::clock,
    money::before_number,
    codes::read,
    codes::named,
    calendar::year_in_context,
    range,
    quantity,
    abbreviation,
    capitals,
    article,
];

fn read(context: &TokenContext<'_>, i: usize) -> (SpokenForm, PieceKind) {
    let token = context.token(i);
    if token.kind == Kind::Space {
        return (super::space(token, i), PieceKind::Space);
    }
    if let Some(reading) = RULES.iter().find_map(|rule| rule(context, i)) {
        return (reading, PieceKind::English);
    }
    let end = i + 1;
    match token.kind {
        Kind::Mark(mark) => {
            let text = said_mark(context, i, mark);
            (SpokenForm { text, end }, PieceKind::Mark)
        }
        _ => {
            let text = token.text.to_owned();
            let kind = match is_local_name(context, i) {
                true => PieceKind::Word,
                false => PieceKind::English,
            };
            (SpokenForm { text, end }, kind)
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

/// "5-10 days".
fn range(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let from = context.number(i)?;
    let dash = context.is_mark(from.end, '-') || context.is_mark(from.end, '–');
    let to = context.number(from.end + 1).filter(|_| dash)?;
    let another = context.is_mark(to.end, '-') && context.digits(to.end + 1).is_some();
    (!another)
        .then(|| {
            SpokenForm::new(
                format!("{} to {}", said_number(&from), said_number(&to)),
                to.end,
            )
        })
        .flatten()
}

/// As written, one of it, several of it.
const UNITS: &[(&str, &str, &str)] = &[
    ("mm", "millimetre", "millimetres"),
    ("cm", "centimetre", "centimetres"),
    ("m", "metre", "metres"),
    ("km", "kilometre", "kilometres"),
    ("mg", "milligram", "milligrams"),
    ("g", "gram", "grams"),
    ("kg", "kilogram", "kilograms"),
    ("kgs", "kilogram", "kilograms"),
    ("ml", "millilitre", "millilitres"),
    ("l", "litre", "litres"),
    ("ha", "hectare", "hectares"),
    ("ft", "foot", "feet"),
    ("KB", "kilobyte", "kilobytes"),
    ("MB", "megabyte", "megabytes"),
    ("GB", "gigabyte", "gigabytes"),
    ("TB", "terabyte", "terabytes"),
    ("kW", "kilowatt", "kilowatts"),
    ("MW", "megawatt", "megawatts"),
    ("kWh", "kilowatt hour", "kilowatt hours"),
    ("V", "volt", "volts"),
    ("hr", "hour", "hours"),
    ("hrs", "hour", "hours"),
    ("min", "minute", "minutes"),
    ("mins", "minute", "minutes"),
    ("sec", "second", "seconds"),
    ("secs", "second", "seconds"),
];

fn quantity(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let number = context.number(i)?;
    if let Some(money) = money::after_number(context, &number) {
        return Some(money);
    }
    let suffix = context.word(number.end);
    if let Some(n) = number.plain()
        && suffix.is_some_and(|w| w.is_one_of(&["st", "nd", "rd", "th"]))
    {
        return SpokenForm::new(ordinal(n), number.end + 1);
    }
    if let Some(fraction) = fraction(context, &number) {
        return Some(fraction);
    }
    let said = said_number(&number);
    let at = context.skip_space(number.end);
    if let Some((_, one, many)) = context
        .word(at)
        .and_then(|word| UNITS.iter().find(|unit| word.text == unit.0))
    {
        let single = number.plain() == Some(1);
        return SpokenForm::new(
            format!("{said} {}", if single { one } else { many }),
            at + 1,
        );
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

const ABBREVIATIONS: &[(&str, &str)] = &[
    ("mr", "mister"),
    ("mrs", "missis"),
    ("dr", "doctor"),
    ("prof", "professor"),
    ("hon", "honourable"),
    ("rev", "reverend"),
    ("approx", "approximately"),
    ("etc", "et cetera"),
    ("vs", "versus"),
    ("dept", "department"),
    ("govt", "government"),
    ("ltd", "limited"),
    ("tel", "telephone"),
    ("jan", "January"),
    ("feb", "February"),
    ("aug", "August"),
    ("sept", "September"),
    ("oct", "October"),
    ("nov", "November"),
    ("dec", "December"),
];

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
    let days = DAYS.iter().filter(|_| day);
    let mut rows = ABBREVIATIONS.iter().chain(days);
    let (_, said) = rows.find(|(written, _)| word.is(written))?;
    SpokenForm::new(*said, i + 1 + dot)
}

/// Letters one by one, unless they make a word: "ATM", "ATMs", "the CEO's", but "PIN" and "JOHN DOE".
fn capitals(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    const AS_WORDS: &[&str] = &["PESA", "MPESA"];
    const SPELLED_LETTERS_MAX: usize = 5;
    let word = context.word(i)?;
    let (stem, ending) = match word.text.strip_suffix("'s") {
        Some(stem) => (stem, "'s"),
        None => match word.text.strip_suffix('s') {
            Some(stem) => (stem, "'s"),
            None => (word.text, ""),
        },
    };
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
    let said = match kind {
        "digits" => digits(text),
        "characters" | "spell-out" | "verbatim" => {
            let said = text.chars().filter(char::is_ascii_alphanumeric).map(|c| {
                let letter = c.to_ascii_uppercase().to_string();
                if c.is_ascii_digit() {
                    digits(&letter)
                } else {
                    letter
                }
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
            let plain = text
                .contains(|c: char| c.is_ascii_digit())
                .then_some(said)?;
            if named {
                plain
            } else {
                format!("{plain} shillings")
            }
        }
        _ => text
            .contains(|c: char| c.is_ascii_digit())
            .then(|| spoken(text))?,
    };
    (!said.is_empty()).then_some(said)
}

fn is_number_word(word: &str) -> bool {
    (0..100).any(|n| cardinal(n) == word)
        || ["and", "hundred", "thousand", "million", "billion", "point"].contains(&word)
}

fn spoken(text: &str) -> String {
    let said: String = pieces(text).into_iter().map(|piece| piece.text).collect();
    said.split_whitespace().collect::<Vec<_>>().join(" ")
}
