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
use super::units::{power, written_unit};
use super::words::{ACRONYMS, beside_capitals, initial_letters, roman_value, sentence_stop};
use super::{PieceKind, Rule, pieces, relations};
use crate::english::{is_known, respell};
use crate::lexicon::is_name;
use crate::tables::{WordTable, rows};
use number::{cardinal, digits, ordinal, year};

const RULES: &[Rule] = &[
    calendar::date,
    calendar::clock,
    money::before_number,
    initials,
    codes::read,
    codes::named,
    calendar::year_in_context,
    version,
    range,
    quantity,
    leading_point,
    operator,
    unit_after_per,
    abbreviation,
    roman,
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
        '½' => "a half",
        '¼' => "a quarter",
        '¾' => "three quarters",
        '²' => "squared",
        '³' => "cubed",
        '√' => "the square root of",
        '<' if context.digits(i + 1).is_some() => "less than",
        '>' if context.digits(i + 1).is_some() => "more than",
        '~' if context.digits(i + 1).is_some() => "about",
        '#' if context.digits(i + 1).is_some() => "number",
        '*' if is_key(context, i) => return "star".to_owned(),
        '#' if is_key(context, i) => return "hash".to_owned(),
        '-' | '–' if is_range_of_times(context, i) => "to",
        '-' if !glued(i.checked_sub(1)) && context.digits(i + 1).is_some() => "minus",
        '.' if inside => "dot",
        ':' if inside && is_ratio(context, i) => "to",
        '/' if context.is_word(i + 1, &["or"]) => return " ".to_owned(),
        '/' if is_rate(context, i) => "per",
        '/' if inside && is_in_address(context, i) => "slash",
        '/' if inside => "or",
        _ => return mark.to_string(),
    };
    format!(" {said} ")
}

/// "a ratio of 3:1".
fn is_ratio(context: &TokenContext<'_>, i: usize) -> bool {
    const RATIOS: &[&str] = &["ratio", "scale", "odds", "proportion"];
    let mut before = context.words_back(i);
    context.digits(i + 1).is_some() && before.any(|word| word.is_one_of(RATIOS))
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

/// "7 days/week".
fn is_rate(context: &TokenContext<'_>, i: usize) -> bool {
    let counted = i.checked_sub(1).and_then(|j| context.word(j));
    counted.is_some_and(|word| word.text.ends_with('s'))
        && context.is_word(i + 1, &["hour", "day", "week", "month", "year"])
}

/// The slash of "www.sauti.co.ke/help": a dot stands before it in the same word.
fn is_in_address(context: &TokenContext<'_>, i: usize) -> bool {
    const ADDRESS_TOKENS_MAX: usize = 24;
    let before = (0..i).rev().take(ADDRESS_TOKENS_MAX);
    let mut glued = before.take_while(|j| context.kind(*j) != Some(Kind::Space));
    glued.any(|j| context.is_mark(j, '.'))
}

/// "8am-5pm", "8:00-17:00", "Mon-Fri", "Jan-Mar".
fn is_range_of_times(context: &TokenContext<'_>, i: usize) -> bool {
    let minutes_before = i >= 2 && context.is_mark(i - 2, ':') && context.digits(i - 1).is_some();
    if minutes_before && context.is_mark(i + 2, ':') {
        return true;
    }
    let word_before = i.checked_sub(1).and_then(|j| context.word(j));
    let is_day = |word: &Token<'_>| DAYS.iter().any(|(short, _)| word.is(short));
    let is_month = |word: &Token<'_>| calendar::month(word.text).is_some();
    match word_before {
        Some(word) if is_month(word) && context.kind(i) != Some(Kind::Space) => {
            context.word(i + 1).is_some_and(is_month)
        }
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

/// "3.5.2", "192.168.1.1".
fn version(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    const PARTS_MAX: usize = 8;
    let mut parts = vec![context.digits(i)?];
    let mut end = i + 1;
    while parts.len() < PARTS_MAX
        && context.is_mark(end, '.')
        && let Some(part) = context.digits(end + 1)
    {
        parts.push(part);
        end += 2;
    }
    let said = parts.iter().map(|part| match part.parse() {
        Ok(n) if *part == "0" || !part.starts_with('0') => cardinal(n),
        _ => digits(part),
    });
    let said: Vec<String> = said.collect();
    let groups = context.number(i)?.grouped;
    (parts.len() > 2 && !groups).then(|| SpokenForm::new(said.join(" point "), end))?
}

/// ".5".
fn leading_point(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let figures = context.digits(i + 1).filter(|_| context.is_mark(i, '.'))?;
    let alone = matches!(context.kind_before(i), None | Some(Kind::Space));
    alone.then(|| SpokenForm::new(format!("point {}", digits(figures)), i + 2))?
}

/// A sign of arithmetic between two numbers. The Swahili rule finds it; a dash is one only beside another sign.
fn operator(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let found = relations::operator(context, i)?;
    let is_sign = |j: usize| matches!(context.kind(j), Some(Kind::Mark('=' | '+' | '×' | '÷')));
    let swahili = found.text.trim();
    let said = match swahili {
        "jumlisha" => "plus",
        "toa" => {
            let after = context.number(found.end)?.end;
            let sign_after = is_sign(context.skip_space(after));
            let operand = context.before(i)?;
            let sign_before = context.before(operand).is_some_and(is_sign);
            (sign_after || sign_before).then_some("minus")?
        }
        "mara" => "times",
        "gawanya kwa" => "divided by",
        "ni sawa na" => "equals",
        "si sawa na" => "does not equal",
        "ni ndogo kuliko" => "is less than",
        "ni kubwa kuliko" => "is greater than",
        "ni ndogo au sawa na" => "is at most",
        "ni kubwa au sawa na" => "is at least",
        "jumlisha au toa" => "plus or minus",
        "ni takriban" => "is about",
        _ => return None,
    };
    SpokenForm::new(found.text.replace(swahili, said), found.end)
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
fn unit_at(context: &TokenContext<'_>, i: usize) -> Option<(String, String, usize)> {
    let (written, end) = written_unit(context, i)?;
    let (one, many) = unit(written)?;
    let (before, end) = match power(context, end) {
        Some(("za mraba", end)) => ("square ", end),
        Some((_, end)) => ("cubic ", end),
        None => ("", end),
    };
    Some((format!("{before}{one}"), format!("{before}{many}"), end))
}

/// "500 shillings per kg".
fn unit_after_per(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let (one, _, end) = unit_at(context, i).filter(|_| context.follows(i, &["per"]))?;
    SpokenForm::new(one, end)
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
        .or_else(|| fraction(context, &number))
        .or_else(|| mixed(context, &number));
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
    let scale = context.word(at + 1).filter(|_| context.is_mark(at, '°'));
    for (letter, name) in [("c", "Celsius"), ("f", "Fahrenheit")] {
        if scale.is_some_and(|scale| scale.is(letter)) {
            return SpokenForm::new(format!("{said} degrees {name}"), at + 2);
        }
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

/// What is marked out of a number: "scored 4/5".
const MARKED: &[&str] = &["scored", "score", "got", "marks", "mark", "rated", "rating"];

/// "1/2", "3/4", "2/3", "scored 4/5", "FY 2025/26".
fn fraction(context: &TokenContext<'_>, number: &Number<'_>) -> Option<SpokenForm> {
    let above = number
        .plain()
        .filter(|_| context.is_mark(number.end, '/'))?;
    let below = context.number(number.end + 1)?;
    let mut before = context.words_back(number.end - 1).take(3);
    let is_mark = before.any(|word| word.is_one_of(MARKED));
    let said = match (above, below.plain()?) {
        (above, n) if is_mark && above <= n && n > 4 => {
            format!("{} out of {}", cardinal(above), cardinal(n))
        }
        (above @ 1900..2100, n) if n == above % 100 + 1 || n == above + 1 => {
            format!("{} to {}", year(above), year(above + 1))
        }
        (24, 7) | (50, 50) => format!("{} {}", cardinal(above), said_number(&below)),
        (1, 2) => "a half".to_owned(),
        (1, 4) => "a quarter".to_owned(),
        (3, 4) => "three quarters".to_owned(),
        (1, n @ 3..=20) => format!("one {}", ordinal(n)),
        (above, n @ 3..=20) if above < n => format!("{} {}s", cardinal(above), ordinal(n)),
        (above, n) => format!("{} over {}", cardinal(above), cardinal(n)),
    };
    SpokenForm::new(said, below.end)
}

/// "2 1/2", "2½".
fn mixed(context: &TokenContext<'_>, number: &Number<'_>) -> Option<SpokenForm> {
    let whole = cardinal(number.plain()?);
    let at = context.skip_space(number.end);
    let sign = match context.kind(at) {
        Some(Kind::Mark('½')) => Some("a half"),
        Some(Kind::Mark('¼')) => Some("a quarter"),
        Some(Kind::Mark('¾')) => Some("three quarters"),
        _ => None,
    };
    if let Some(sign) = sign {
        return SpokenForm::new(format!("{whole} and {sign}"), at + 1);
    }
    let above = context.number(at).filter(|_| at > number.end)?;
    let below = context.number(above.end + 1)?.plain()?;
    let part = fraction(context, &above).filter(|part| !context.is_mark(part.end, '/'))?;
    let is_part = above.plain()? < below && below <= 10;
    is_part.then(|| SpokenForm::new(format!("{whole} and {}", part.text), part.end))?
}

/// "P.O. Box", "the U.S. Embassy", "e.g.".
fn initials(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let (letters, end) = initial_letters(context, i)?;
    let said = match letters.as_str() {
        "eg" => Some("for example"),
        "ie" => Some("that is"),
        "pa" => Some("per annum"),
        "aka" => Some("also known as"),
        _ => None,
    };
    if let Some(said) = said {
        return SpokenForm::new(format!("{said}{}", sentence_stop(context, end)), end);
    }
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
    // "St. Mary's".
    let name_follows = next > i + 2 && context.word(next).is_some_and(Token::is_capitalised);
    if word.text == "St" && dot == 1 && name_follows {
        return SpokenForm::new("Saint", i + 2);
    }
    // "Sat" and "sun" are words too: a day stands beside another one or a time, or has its dot.
    let timed = calendar::clock(context, next).or_else(|| calendar::date(context, next));
    let joined = |j: Option<usize>| j.is_some_and(|j| is_range_of_times(context, j));
    let in_range = joined(i.checked_sub(1)) || joined(Some(i + 1));
    let is_day = timed.is_some() || dot == 1 && next > i + 2 || in_range;
    let lower = word.text.to_ascii_lowercase();
    let mut days = DAYS.iter().filter(|_| word.is_capitalised() && is_day);
    let named_day = days.find(|(short, _)| lower == *short);
    let named_month = calendar::month(word.text).filter(|_| in_range);
    let said = ABBREVIATIONS.get(lower.as_str()).copied();
    let said = said.or(named_day.map(|(_, name)| *name)).or(named_month)?;
    // What comes last in a name or a list may end the sentence too.
    let end = i + 1 + dot;
    let stop = match word.is_one_of(&["ltd", "etc", "ave", "rd", "jr"]) {
        true => sentence_stop(context, end),
        false => "",
    };
    SpokenForm::new(format!("{said}{stop}"), end)
}

/// "Chapter IV", "World War II", "Henry VIII". One letter counts only where nothing goes on behind it: "the part I like".
fn roman(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    const HEADINGS: &[&str] = &[
        "chapter", "part", "section", "form", "class", "grade", "phase", "volume", "act", "war",
        "first", "type", "article", "level", "stage", "unit", "term", "division", "schedule",
        "book", "annex", "appendix", "table", "figure",
    ];
    let word = context.word(i)?;
    let value = roman_value(word.text)?;
    let before = context.word_before(i)?;
    let goes_on = context.word(context.skip_space(i + 1)).is_some();
    if before.is_one_of(HEADINGS) && (word.text.len() > 1 || !goes_on) {
        return SpokenForm::new(cardinal(value), i + 1);
    }
    let name = before.is_capitalised() && !before.is_all_caps() && word.text.len() > 1;
    name.then(|| SpokenForm::new(format!("the {}", ordinal(value)), i + 1))?
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
