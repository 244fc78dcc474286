//! Digits that are names, not quantities: telephone numbers, short codes, accounts, plates, reference codes.

use super::context::Context;
use super::number::Number;
use super::quantity::{Quantity, with_suffix};
use super::token::Kind;
use super::{Reading, money};
use crate::cardinal::{cardinal, digits};
use crate::letters::spell;

const GROUPS_MAX: usize = 12;

/// *334#, *150*00#: star and hash by their names.
pub(crate) fn short_code(context: &Context<'_>, i: usize) -> Option<Reading> {
    let opens = matches!(context.kind(i), Some(Kind::Mark('*' | '#')));
    let after_number = i > 0 && context.kind(i - 1) == Some(Kind::Digits);
    if !opens || after_number {
        return None;
    }
    let mut parts = Vec::new();
    let mut end = i;
    for j in i..context.len().min(i + 2 * GROUPS_MAX) {
        match context.kind(j) {
            Some(Kind::Mark('*')) => parts.push("nyota".to_owned()),
            Some(Kind::Mark('#')) => parts.push("reli".to_owned()),
            Some(Kind::Digits) => parts.push(digits(context.token(j).text)),
            _ => break,
        }
        end = j + 1;
    }
    let has_digits = parts.len() > 1 && context.is_mark(i, '*');
    has_digits
        .then(|| Reading::new(parts.join(" "), end))
        .flatten()
}

/// Groups of digits with a space, a dash or brackets between them.
fn groups_at<'a>(context: &Context<'a>, i: usize) -> (Vec<&'a str>, usize) {
    let mut groups = Vec::new();
    let mut end = i;
    let mut j = i;
    while groups.len() < GROUPS_MAX {
        let at = if context.is_mark(j, '(') { j + 1 } else { j };
        let Some(group) = context.digits(at) else {
            break;
        };
        groups.push(group);
        end = if context.is_mark(at + 1, ')') {
            at + 2
        } else {
            at + 1
        };
        j = match context.kind(end) {
            Some(Kind::Mark('-' | '–' | '(')) => end + usize::from(!context.is_mark(end, '(')),
            Some(Kind::Space) => context.skip_space(end),
            _ => break,
        };
    }
    (groups, end)
}

pub(crate) fn phone(context: &Context<'_>, i: usize) -> Option<Reading> {
    if i > 0
        && matches!(
            context.kind(i - 1),
            Some(Kind::Digits | Kind::Word | Kind::Mark('.' | ',' | '/'))
        )
    {
        return None;
    }
    if context.is_mark(i, '+') {
        return with_country_code(context, i);
    }
    let first = if context.is_mark(i, '(') { i + 1 } else { i };
    let digits = context.digits(first)?;
    if glued_country_code(digits) && ends_there(context, first + 1) {
        return Reading::new(groups_said(&chunks(digits, &[3, 3, 3, 3])), first + 1);
    }
    if !digits.starts_with('0') {
        return None;
    }
    if (9..=11).contains(&digits.len()) && ends_there(context, first + 1) && first == i {
        let sizes: &[usize] = if digits.len() == 9 {
            &[3, 3, 3]
        } else {
            &[4, 3, 4]
        };
        return Reading::new(groups_said(&chunks(digits, sizes)), i + 1);
    }
    let (groups, end) = whole_number(context, i, 9..=12)?;
    (2..=4)
        .contains(&digits.len())
        .then(|| Reading::new(groups_said(&groups), end))
        .flatten()
}

fn ends_there(context: &Context<'_>, i: usize) -> bool {
    let decimal = matches!(context.kind(i), Some(Kind::Mark('.' | ',' | ':' | '/')))
        && context.kind(i + 1) == Some(Kind::Digits);
    !decimal
}

fn glued_country_code(digits: &str) -> bool {
    digits.len() == 12
        && ["250", "254", "255", "256", "257"]
            .iter()
            .any(|code| digits.starts_with(code))
}

/// Groups that together make a telephone number; those that come after it are left.
fn whole_number<'a>(
    context: &Context<'a>,
    i: usize,
    total: std::ops::RangeInclusive<usize>,
) -> Option<(Vec<&'a str>, usize)> {
    let (groups, end) = groups_at(context, i);
    let sum: usize = groups.iter().map(|g| g.len()).sum();
    let sane = groups.len() >= 2 && groups[1..].iter().all(|g| (2..=6).contains(&g.len()));
    (sane && total.contains(&sum)).then_some((groups, end))
}

fn with_country_code(context: &Context<'_>, i: usize) -> Option<Reading> {
    let first = context.digits(i + 1)?;
    if first.len() >= 10 && first.len() <= 15 {
        return Reading::new(
            format!("jumlisha {}", groups_said(&chunks(first, &[3, 3, 3, 3, 3]))),
            i + 2,
        );
    }
    let (groups, end) = whole_number(context, i + 1, 9..=15)?;
    (first.len() <= 4)
        .then(|| Reading::new(format!("jumlisha {}", groups_said(&groups)), end))
        .flatten()
}

/// Cuts digits into groups of these sizes; what is left makes the last group.
fn chunks<'a>(digits: &'a str, sizes: &[usize]) -> Vec<&'a str> {
    let mut out = Vec::new();
    let mut rest = digits;
    for size in sizes {
        if rest.len() <= *size {
            break;
        }
        let (head, tail) = rest.split_at(*size);
        out.push(head);
        rest = tail;
    }
    if !rest.is_empty() {
        out.push(rest);
    }
    out
}

fn groups_said(groups: &[&str]) -> String {
    groups
        .iter()
        .map(|group| digits(group))
        .collect::<Vec<_>>()
        .join(", ")
}

/// Capitals and digits in one: plates, references of mobile money, MP3 and B12.
pub(crate) fn alphanumeric(context: &Context<'_>, i: usize) -> Option<Reading> {
    if i > 0
        && matches!(
            context.kind(i - 1),
            Some(Kind::Word | Kind::Digits | Kind::Mark('\'' | '-' | '.' | ','))
        )
    {
        return None;
    }
    plate(context, i).or_else(|| glued(context, i))
}

fn capitals<'a>(context: &Context<'a>, i: usize, longest: usize) -> Option<&'a str> {
    let word = context.word(i)?;
    let fits = word.text.len() <= longest && word.text.bytes().all(|b| b.is_ascii_uppercase());
    (fits && !money::is_currency(word.text)).then_some(word.text)
}

/// KBX 456Y, T 123 ABC, UAB 123C.
fn plate(context: &Context<'_>, i: usize) -> Option<Reading> {
    let head = capitals(context, i, 3)?;
    let number = context.skip_space(i + 1);
    let digits = context.digits(number).filter(|d| d.len() == 3)?;
    let tail_at = context.skip_space(number + 1);
    let tail = capitals(context, tail_at, 3)?;
    let kenyan = head.len() == 3 && tail.len() == 1 && tail_at == number + 1;
    let tanzanian = head.len() == 1 && tail.len() == 3;
    (kenyan || tanzanian)
        .then(|| Reading::new(spell(&format!("{head}{digits}{tail}")), tail_at + 1))
        .flatten()
}

fn glued(context: &Context<'_>, i: usize) -> Option<Reading> {
    let (mut end, mut letters, mut figures, mut parts) = (i, 0, 0, 0);
    while let Some(token) = context.get(end) {
        match token.kind {
            Kind::Digits => figures += token.text.len(),
            Kind::Word if token.text.bytes().all(|b| b.is_ascii_uppercase()) => {
                letters += token.text.len()
            }
            Kind::Word => return None,
            // References of mobile money have dots inside: CI240512.1645.H12345.
            Kind::Mark('.')
                if letters > 0
                    && figures >= REFERENCE_DIGITS_MIN
                    && reference_goes_on(context, end + 1) =>
            {
                end += 1;
                continue;
            }
            _ => break,
        }
        parts += 1;
        end += 1;
    }
    let first_word = context
        .word(if context.digits(i).is_some() {
            i + 1
        } else {
            i
        })?
        .text;
    if letters == 0 || figures == 0 || money::is_currency(first_word) {
        return None;
    }
    if parts == 2 {
        return two_parts(context, i, end, letters);
    }
    // Short mixtures are names (H1N1), long ones references.
    let long = letters + figures >= 6;
    let said: Vec<String> = (i..end)
        .map(|j| part_said(context, j, long))
        .filter(|part| !part.is_empty())
        .collect();
    Reading::new(said.join(" "), end)
}

const REFERENCE_DIGITS_MIN: usize = 4;

fn reference_goes_on(context: &Context<'_>, i: usize) -> bool {
    context.get(i).is_some_and(|token| match token.kind {
        Kind::Digits => true,
        Kind::Word => token.text.bytes().all(|b| b.is_ascii_uppercase()),
        _ => false,
    })
}

fn part_said(context: &Context<'_>, j: usize, one_by_one: bool) -> String {
    match context.digits(j) {
        Some(number) if one_by_one || number.len() > 2 || number.starts_with('0') => digits(number),
        Some(number) => number.parse().map_or_else(|_| digits(number), cardinal),
        None => spell(context.token(j).text),
    }
}

/// Letters then a number (MP3, B12), or a number then letters that are no unit (4G).
fn two_parts(context: &Context<'_>, i: usize, end: usize, letters: usize) -> Option<Reading> {
    if letters > 3 {
        return None;
    }
    let unit_follows = context.number(i).is_some_and(|number: Number<'_>| {
        with_suffix(context, i, &Quantity::one(number)).is_some()
    });
    let goes_on = matches!(context.kind(end), Some(Kind::Mark(',' | '.')))
        && context.kind(end + 1) == Some(Kind::Digits);
    if unit_follows || goes_on {
        return None;
    }
    Reading::new(
        format!(
            "{} {}",
            part_said(context, i, false),
            part_said(context, i + 1, false)
        ),
        end,
    )
}

/// Things whose numbers are read digit by digit.
const NUMBERED: &[&str] = &[
    "akaunti",
    "acc",
    "account",
    "kitambulisho",
    "siri",
    "pin",
    "otp",
    "msimbo",
    "code",
    "paybill",
    "till",
    "laini",
    "pasipoti",
    "passport",
    "leseni",
    "tin",
    "nida",
    "tokeni",
    "token",
    "rejea",
    "kumbukumbu",
    "uthibitisho",
    "usajili",
    "posta",
    "slp",
    "simu",
    "kadi",
    "hundi",
    "muamala",
    "wakala",
    "ref",
    "id",
    "dharura",
    "mteja",
    "control",
    "udhibiti",
    "stakabadhi",
    "risiti",
];

/// Words that may stand between such a thing and its number.
const BETWEEN: &[&str] = &[
    "ya", "ni", "namba", "nambari", "yako", "yangu", "yake", "yenu", "wa", "la", "lako", "langu",
    "cha", "chako", "hii", "hiyo", "no", "na", "wako", "wangu", "kwa", "bure", "hizi", "number",
    "simu",
];

pub(crate) fn by_context(context: &Context<'_>, i: usize) -> Option<Reading> {
    let number = context.number(i)?;
    if number.grouped || number.fraction.is_some() {
        return None;
    }
    let figures = context.digits(i)?;
    if is_code(context, i, figures) {
        let (groups, end) = code_groups(context, i);
        return Reading::new(groups_said(&groups), end);
    }
    if figures.len() >= 10 {
        let size = if figures.len() == 16 { 4 } else { 3 };
        return Reading::new(
            groups_said(&chunks(figures, &vec![size; figures.len() / size])),
            number.end,
        );
    }
    None
}

/// A code may go on after a space, in groups of three digits and more.
fn code_groups<'a>(context: &Context<'a>, i: usize) -> (Vec<&'a str>, usize) {
    let (groups, end) = groups_at(context, i);
    if groups.len() > 1 && groups.iter().all(|g| g.len() >= 3) {
        (groups, end)
    } else {
        (context.digits(i).into_iter().collect(), i + 1)
    }
}

fn is_code(context: &Context<'_>, i: usize, figures: &str) -> bool {
    if is_card_number(context, i) {
        return true;
    }
    let Some(word) = context.words_back(i).next() else {
        return false;
    };
    let right_before = context.word_before(i).is_some();
    if word.is("bonyeza") && right_before {
        return true;
    }
    if figures.len() < 3 {
        return false;
    }
    if is_sms_number(context, i, figures) {
        return true;
    }
    let mut generic = false;
    for (distance, word) in context.words_back(i).enumerate().take(5) {
        if word.is_one_of(&["piga", "pigia", "kupiga", "bonyeza"]) {
            return true;
        }
        if word.is_one_of(NUMBERED) {
            // "simu 500" may count telephones; "piga simu 116" has its verb, "simu ya 0712" its zero.
            return !word.is("simu") || distance > 0 || called(context, i) || figures.len() >= 5;
        }
        if !word.is_one_of(BETWEEN) {
            break;
        }
        generic |= word.is_one_of(&["namba", "nambari"]);
    }
    generic && figures.len() >= 5
}

/// Three groups of four digits and more: a card, a token of electricity.
fn is_card_number(context: &Context<'_>, i: usize) -> bool {
    let (groups, _) = groups_at(context, i);
    groups.len() >= 3 && groups.iter().all(|group| group.len() == 4)
}

fn called(context: &Context<'_>, i: usize) -> bool {
    context
        .words_back(i)
        .nth(1)
        .is_some_and(|w| w.is_one_of(&["piga", "kupiga", "apige", "wapige", "upige", "pigia"]))
}

/// "Tuma neno HAKI kwa 15300".
fn is_sms_number(context: &Context<'_>, i: usize, figures: &str) -> bool {
    let mut words = context.words_back(i);
    let to = words
        .next()
        .is_some_and(|w| w.is_one_of(&["kwa", "kwenda", "kwenye", "namba", "nambari", "ujumbe"]));
    let sends = || {
        context.words_back(i).any(|w| {
            w.is_one_of(&[
                "neno",
                "ujumbe",
                "sms",
                "meseji",
                "andika",
                "jina",
                "maneno",
                "tuma neno",
                "herufi",
            ])
        })
    };
    (4..=6).contains(&figures.len()) && to && sends()
}
