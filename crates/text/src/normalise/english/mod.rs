//! Written English to spoken words: numbers, dates, money, the clock, abbreviations. Names stay as they are.

mod calendar;
mod codes;
mod money;
mod number;
mod quantity;
mod scripture;
mod signs;

use super::context::TokenContext;
use super::marks::is_ugandan_class;
use super::numerals::is_royal;
use super::reading::SpokenForm;
use super::roman::roman_value;
use super::token::{Kind, Token, tokens};
use super::words::{
    ACRONYMS, beside_capitals, initial_letters, is_initial, sentence_stop, versus_end,
};
use super::{PieceKind, Rule, alphanumeric, doses, league, normalise_in, relations, words};
use crate::SpeechLanguage;
use crate::english::{is_known, respell};
use crate::letters::{english_mark_name, is_key, plain};
use crate::lexicon::is_name;
use crate::tables::{WordList, WordTable, rows};
use calendar::is_range_of_times;
use number::{cardinal, digits, ordinal, year};
use quantity::{quantity, range, said_number, unit_after_per, vulgar_fraction, with_unit};
use signs::said_mark;

const RULES: &[Rule] = &[
    scheme,
    calendar::date,
    scripture::read,
    calendar::clock,
    money::pair,
    money::before_number,
    initials,
    league_row,
    dose,
    codes::read,
    codes::named,
    calendar::year_in_context,
    version,
    minute,
    range,
    quantity,
    vulgar_fraction,
    leading_point,
    test_result,
    by,
    operator,
    unit_after_per,
    slashed,
    codes::class_or_page,
    abbreviation,
    roman,
    capitals,
    article,
    versus,
    tag,
];

pub(super) fn read(context: &TokenContext<'_>, i: usize) -> (SpokenForm, PieceKind) {
    let token = context.token(i);
    if token.kind == Kind::Space {
        return super::item_space(context, i);
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

/// The "https://" of an address is not said.
fn scheme(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let marks = [':', '/', '/'].iter().zip(i + 1..);
    let is_scheme = context.is_word(i, &["http", "https"])
        && marks.into_iter().all(|(mark, j)| context.is_mark(j, *mark));
    is_scheme.then(|| SpokenForm::new("", i + 4))?
}

fn versus(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    SpokenForm::new("versus", versus_end(context, i)?)
}

/// "#ProtectWater".
fn tag(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    words::tag(context, i, context.word(i)?).filter(|said| said.text.contains(' '))
}

/// "Salah 23', 45+1'": the minutes of a match; "6' tall" and "20' container" are none.
fn minute(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let (minute, added, end) = relations::minute_at(context, i)?;
    let listed = context.before(i).is_some_and(|j| {
        let joint = matches!(context.kind(j), Some(Kind::Mark(',' | ';' | '(')));
        joint || context.token(j).is_capitalised()
    });
    let goes_on = context
        .word(context.skip_space(end))
        .is_some_and(|w| !w.is_capitalised() && !w.is_one_of(&["and", "pen", "og"]));
    let added = added.map(|added| format!(" plus {}", cardinal(added)));
    let said = format!("minute {}{}", cardinal(minute), added.unwrap_or_default());
    (listed && !goes_on).then(|| SpokenForm::new(said, end))?
}

/// "P 12 W 8 D 3".
fn league_row(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    league::row(context, i, ["played", "won", "drawn", "lost"], said_number)
}

/// "500mg bd", "TDS x 5/7".
fn dose(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    doses::english(context, i, cardinal)
}

/// "3.5.2", "192.168.1.1".
fn version(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let (parts, end) = context.joined_figures(i, '.');
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
    let point = SpokenForm::new(format!("point {}", digits(figures)), i + 2)?;
    with_unit(context, point).filter(|_| alone)
}

/// A sign of arithmetic between two numbers. The Swahili rule finds it; a dash is one only beside another sign.
fn operator(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let found = relations::operator(context, i)?;
    let is_sign = |j: usize| matches!(context.kind(j), Some(Kind::Mark('=' | '+' | '×' | '÷')));
    let swahili = found.text.trim();
    let mut signs = relations::SIGNS
        .iter()
        .filter_map(|(_, said)| said.split_once('\t'));
    let said = match swahili {
        "toa" => {
            let after = context.number(found.end)?.end;
            let sign_after = is_sign(context.skip_space(after));
            let operand = context.before(i)?;
            let sign_before = context.before(operand).is_some_and(is_sign);
            (sign_after || sign_before).then_some("minus")?
        }
        // The sign of a size.
        "kwa" => "by",
        _ => signs.find(|(known, _)| *known == swahili)?.1,
    };
    SpokenForm::new(found.text.replace(swahili, said), found.end)
}

/// "P.O. Box", "the U.S. Embassy", "e.g.".
fn initials(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let Some((letters, end)) = initial_letters(context, i) else {
        return initial(context, i);
    };
    let said = match letters.as_str() {
        "pm" if is_rate(context, i) => Some(&"per month"),
        letters => SHORT_FORMS.get(letters),
    };
    if let Some(said) = said {
        return SpokenForm::new(format!("{said}{}", sentence_stop(context, end)), end);
    }
    let capitals = letters.bytes().all(|b| b.is_ascii_uppercase());
    let single = letters.len() * 2 <= end - i + 1;
    let letters: Vec<String> = letters.chars().map(String::from).collect();
    (capitals && single).then(|| SpokenForm::new(letters.join(" "), end))?
}

/// "Raila A. Odinga", "by J. K. Mwangi"; "Plan B. Then" and "Jessie J. It" are two sentences.
fn initial(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    static OPENERS: WordList = WordList::named("english-openers");
    let after_word = context.word_before(i).is_some_and(|w| {
        let lower = w.text.to_ascii_lowercase();
        !w.is_capitalised() || is_known(&lower) && !is_name(w.text)
    });
    let next = context.skip_space(i + 2);
    // "Room 12B. Bring".
    let glued = matches!(
        context.kind_before(i),
        Some(Kind::Digits | Kind::Mark('-' | '#'))
    );
    let ends = glued || context.is_word(next, &OPENERS) && !context.is_mark(next + 1, '.');
    let several = is_initial(context, next);
    let named = is_initial(context, i) && !ends && (several || !after_word);
    named.then(|| SpokenForm::new(context.token(i).text, i + 2))?
}

/// "1.2% p.m.", "25k p.m.": no time of the day.
fn is_rate(context: &TokenContext<'_>, i: usize) -> bool {
    let before = context.before(i);
    before.is_some_and(|j| match context.kind(j) {
        Some(Kind::Word) => context.is_word(j, &["k"]),
        Some(Kind::Digits | Kind::Mark('%' | '=' | '-')) => true,
        _ => false,
    })
}

/// "+ve", "-ve".
fn test_result(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let said = match context.kind(i)? {
        Kind::Mark('+') => "positive",
        Kind::Mark('-' | '−') => "negative",
        _ => return None,
    };
    let named = context.is_word(i + 1, &["ve"]);
    named.then(|| SpokenForm::new(said, i + 2))?
}

/// As written; how it is said, a tab, when.
static ABBREVIATIONS: WordTable =
    WordTable::new(|| rows(include_str!("../../../data/english-abbreviations.tsv")).collect());

/// Letters with dots or a slash between them, as written without the dots; how they are said.
static SHORT_FORMS: WordTable =
    WordTable::new(|| rows(include_str!("../../../data/english-short-forms.tsv")).collect());

fn abbreviation(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let word = context.word(i)?;
    // "Ref No: AB12".
    let colon = word.text == "No" && context.is_mark(i + 1, ':');
    let dot = usize::from(context.is_mark(i + 1, '.') || colon);
    let next = context.skip_space(i + 1 + dot);
    // "Petition No. E005", "Reg no KDA 123A".
    let short = dot == 1 || context.follows(i, &["reg"]);
    let is_code = short && alphanumeric::read(context, next).is_some();
    let numbered = context.digits(next).is_some() || is_code;
    if word.is("no") && numbered && (short || word.text == "No") {
        return SpokenForm::new("number", i + 2.min(1 + dot));
    }
    // "Est. 1998".
    let founded = context.digits(next).filter(|_| word.is("est") && dot == 1);
    let founded = founded.and_then(|figures| figures.parse().ok());
    if let Some(n) = founded.filter(|n| (1500..2100).contains(n)) {
        let said = if word.is_capitalised() {
            "Established"
        } else {
            "established"
        };
        return SpokenForm::new(format!("{said} {}", year(n)), next + 1);
    }
    if word.is("min") && context.follows(i, &["st", "nd", "rd", "th"]) {
        return SpokenForm::new("minute", i + 1);
    }
    if word.is("pm") && is_rate(context, i) {
        return SpokenForm::new("per month", i + 1);
    }
    if is_saint(context, i, next) {
        return SpokenForm::new("Saint", i + 1 + dot);
    }
    let joined = |j: Option<usize>| j.is_some_and(|j| is_range_of_times(context, j));
    let in_range = joined(context.before(i)) || joined(Some(next));
    let named_month = calendar::month(word.text).filter(|_| in_range);
    let named_day = calendar::short_day(context, i);
    let said = named_day
        .or(named_month)
        .or_else(|| listed(context, i, next));
    // What comes last in a name or a list may end the sentence too, and so may a day without its date.
    let end = i + 1 + dot;
    let may_end = word.is_one_of(&["ltd", "etc", "ave", "rd", "jr", "flr", "hse"])
        || calendar::month(word.text).is_some()
        || named_day.is_some() && calendar::date(context, next).is_none();
    let line_ends = context.get(next).is_none_or(|t| t.kind == Kind::Space);
    let stop = match (may_end, dot == 1 && line_ends) {
        (_, true) => ".",
        (true, _) => sentence_stop(context, end),
        _ => "",
    };
    SpokenForm::new(format!("{}{stop}", said?), end)
}

/// "St. Mary's", "at St Mary's", but not "Moi St Nairobi"; `next` stands behind it and its dot.
fn is_saint(context: &TokenContext<'_>, i: usize, next: usize) -> bool {
    let dot = context.is_mark(i + 1, '.');
    let street = context
        .before(i)
        .is_some_and(|j| context.token(j).is_capitalised() || context.is_word(j, &["th"]));
    let spaced = next > i + 1 + usize::from(dot);
    context.token(i).text == "St"
        && spaced
        && context.word(next).is_some_and(|name| {
            name.is_capitalised() && (dot || !street || name.text.ends_with("'s"))
        })
}

static SENIOR: WordList = WordList::named("english-seniors");

/// An abbreviation of the list, where the list's last column allows it; `next` stands behind it and its dot.
fn listed(context: &TokenContext<'_>, i: usize, next: usize) -> Option<&'static str> {
    let word = context.word(i)?;
    let lower = word.text.to_ascii_lowercase();
    let row = ABBREVIATIONS.get(lower.as_str())?;
    let (said, when) = row.split_once('\t').unwrap_or((row, ""));
    let dot = context.is_mark(i + 1, '.');
    let name_follows = context.is_capitalised(next);
    let applies = match when {
        "dot" => {
            let goes_on = context.get(next).is_some_and(|t| t.kind != Kind::Space);
            let code = alphanumeric::read(context, next).is_some();
            let new_sentence = name_follows && !word.is_capitalised() && !code;
            // "EST" is a time zone.
            let short = dot && goes_on && !new_sentence && word.text != "EST";
            // "Reg No 123".
            let numbered = lower == "reg" && context.is_word(next, &["no", "number"]);
            context.is_mark(i + 1, ':') || short || numbered
        }
        "title" if lower == "sr" && context.is_word(next, &SENIOR) => return Some("senior"),
        "title" => (dot || word.text == "Mt") && word.is_capitalised() && name_follows,
        "number" => {
            let is_short = lower.len() > 1 && (word.is_capitalised() || !is_known(&lower));
            let numbered = context.digits(next).is_some() || codes::is_small_numeral(context, next);
            // "He is in his 30s. 20 came": no section.
            let glued = lower.len() < 3 && context.kind_before(i) == Some(Kind::Digits);
            // "Amoxicillin cap. 500mg" is a capsule.
            let class = is_ugandan_class(context, i + 1)
                || lower == "cap" && context.word(next + 1).is_some();
            numbered && (dot || is_short) && !glued && !class
        }
        // "HT 14-7" is half-time, "WT" no weight.
        _ => !matches!(word.text, "HT" | "WT" | "TDS") && !is_beside_figures(context, i, next),
    };
    applies.then_some(said)
}

/// The vaccine of "MR 1", the debit of "1,200.00 DR": no title.
fn is_beside_figures(context: &TokenContext<'_>, i: usize, next: usize) -> bool {
    let before = context.follows_figures(i);
    match context.token(i).text {
        "MR" => context.digits(next).is_some(),
        "DR" => before && context.word(next).is_none(),
        _ => false,
    }
}

/// "A/C No. 123", "w/o delay", "c/o John", "w/ 2 books".
fn slashed(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let is_with = context.is_word(i, &["w"]) && context.is_mark(i + 1, '/');
    if is_with && context.kind(i + 2) == Some(Kind::Space) {
        return SpokenForm::new("with", i + 2);
    }
    let second = context
        .word(i + 2)
        .filter(|_| context.is_mark(i + 1, '/'))?;
    let next = context.skip_space(i + 3);
    let numbered = context.digits(next).is_some() || context.is_word(next, &["no", "number"]);
    let first = context.word(i)?.text.to_ascii_lowercase();
    let said = match format!("{first}/{}", second.text.to_ascii_lowercase()).as_str() {
        "a/c" if numbered => "account",
        written => SHORT_FORMS.get(written)?,
    };
    SpokenForm::new(said, i + 3)
}

/// The sign between two sizes, "75cm x 25cm" and "50x100", and before a count: "2 tabs x 3".
fn by(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    context.word(i).filter(|word| word.text == "x")?;
    let to = context.number(context.skip_space(i + 1))?;
    let from = context.before(i)?;
    let glued = context.digits(from).is_some() && from + 1 == i;
    let equals = context.is_mark(context.skip_space(to.end), '=');
    let unit = context.word(from).filter(|_| {
        let number = context.before(from);
        number.is_some_and(|j| context.digits(j).is_some())
    });
    let is_size = |word: &Token<'_>| matches!(word.text, "mm" | "cm" | "m" | "ft" | "km");
    let said = match unit {
        Some(unit) if is_size(unit) => "by",
        Some(_) => "times",
        None if glued && !equals => "by",
        None => return None,
    };
    SpokenForm::new(said, i + 1)
}

/// "Chapter IV", "World War II", "Henry VIII". One letter counts only where nothing goes on behind it: "the part I like".
fn roman(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    static HEADINGS: WordList = WordList::named("english-headings");
    let word = context.word(i)?;
    let value = roman_value(word.text)?;
    // "Vol. II".
    let dot = context
        .before(i)
        .filter(|j| *j > 0 && context.is_mark(*j, '.'));
    let short = dot
        .and_then(|j| context.word(j - 1))
        .filter(|w| w.is_one_of(&["vol", "div"]));
    let before = short.or_else(|| context.word_before(i))?;
    let goes_on = context.word(context.skip_space(i + 1)).is_some();
    if before.is_one_of(&HEADINGS) && (word.text.len() > 1 || !goes_on) {
        return SpokenForm::new(cardinal(value), i + 1);
    }
    let name = before.is_capitalised()
        && !before.is_all_caps()
        && (word.text.len() > 1 || word.text == "I" && is_royal(context, i) && !goes_on);
    name.then(|| SpokenForm::new(format!("the {}", ordinal(value)), i + 1))?
}

/// Letters one by one, unless they make a word: "ATM", "ATMs", "the CEO's", but "PIN" and "JOHN DOE".
fn capitals(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    static AS_WORDS: WordList = WordList::named("english-capitals");
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
    // "vit. A drops".
    let vitamin = i > 2 && context.is_word(i - 3, &["vit"]);
    let is_article =
        context.token(i).text == "A" && follows && context.starts_sentence(i) && !vitamin;
    is_article.then(|| SpokenForm::new("a", i + 1))?
}

/// A text whose kind the caller names, for SSML's say-as.
pub(crate) fn say_as(text: &str, kind: &str, format: &str) -> Option<String> {
    let has_digit = text.contains(|c: char| c.is_ascii_digit());
    let said = match kind {
        "digits" => spell(&text.replace(|c| !is_key(c), "")),
        "characters" | "spell-out" | "verbatim" => spell(text),
        "ordinal" => ordinal(text.parse().ok()?),
        "date" => calendar::date_in_format(text, format)?,
        "telephone" => calendar::telephone(text),
        "time" => {
            let context = TokenContext::new(tokens(text, 0));
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

/// Letters, digits and marks one by one.
fn spell(text: &str) -> String {
    let name = |c: char| match c.to_digit(10) {
        Some(digit) => Some(cardinal(u64::from(digit))),
        None if c.is_ascii_alphabetic() => Some(c.to_ascii_uppercase().to_string()),
        None => english_mark_name(c).map(str::to_owned),
    };
    let names = text.chars().map(plain).filter_map(name);
    names.collect::<Vec<_>>().join(" ")
}

fn is_number_word(word: &str) -> bool {
    (0..100).any(|n| cardinal(n) == word)
        || matches!(
            word,
            "and" | "hundred" | "thousand" | "million" | "billion" | "point" | "minus"
        )
}

fn spoken(text: &str) -> String {
    let said = normalise_in(text, SpeechLanguage::English);
    said.split_whitespace().collect::<Vec<_>>().join(" ")
}
