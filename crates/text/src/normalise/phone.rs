//! Telephone numbers, and the codes that are typed on a telephone (USSD).

use super::SpokenForm;
use super::context::TokenContext;
use super::token::Kind;
use crate::cardinal::digits;

const GROUPS_MAX: usize = 12;
/// Numbers one after the other that are read as a list.
const NUMBERS_MAX: usize = 8;

const COUNTRY_CODES: &[&str] = &["250", "254", "255", "256", "257"];
const TELEPHONES: &[&str] = &["simu", "tel", "phone", "telephone", "mobile", "whatsapp"];

/// *334#, *150*00#, ##002#: star and hash by their names.
pub(crate) fn ussd_code(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
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
    let has_digits = (i..end).any(|j| context.digits(j).is_some());
    let complete = context.is_mark(i, '*') || context.is_mark(end - 1, '#');
    (has_digits && complete).then(|| SpokenForm::new(parts.join(" "), end))?
}

/// Groups of digits with a space, a dash or brackets between them.
pub(crate) fn groups_at<'a>(context: &TokenContext<'a>, i: usize) -> (Vec<&'a str>, usize) {
    let mut groups = Vec::new();
    let mut end = i;
    let mut j = i;
    while groups.len() < GROUPS_MAX {
        let at = if context.is_mark(j, '(') { j + 1 } else { j };
        let Some(group) = context.digits(at) else {
            break;
        };
        groups.push(group);
        end = at + 1 + usize::from(context.is_mark(at + 1, ')'));
        j = match context.kind(end) {
            Some(Kind::Mark('-' | '–' | '(')) => end + usize::from(!context.is_mark(end, '(')),
            Some(Kind::Space) => context.skip_space(end),
            _ => break,
        };
    }
    (groups, end)
}

/// One number or several, each with its own pause: between two, a slash offers the second.
pub(crate) fn read(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    if matches!(
        context.kind_before(i),
        Some(Kind::Digits | Kind::Word | Kind::Mark('.' | ',' | '/'))
    ) {
        return None;
    }
    if let Some(reading) = before_word(context, i) {
        return Some(reading);
    }
    let (mut said, mut end) = one(context, i)?;
    for _ in 1..NUMBERS_MAX {
        let Some((joint, more, after)) = another(context, end) else {
            break;
        };
        said = said + joint + &more;
        end = after;
    }
    SpokenForm::new(said, end)
}

/// The figures of "1-800-FLOWERS"; the word is read by itself.
fn before_word(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let groups = [context.digits(i)?, context.digits(i + 2)?];
    let dashed = context.is_mark(i + 1, '-') && context.is_mark(i + 3, '-');
    let fits = groups.map(str::len) == [1, 3] && context.word(i + 4)?.is_all_caps();
    (dashed && fits).then(|| SpokenForm::new(groups_said(&groups) + ", ", i + 4))?
}

/// A further number behind one that ends at `i`, what is said between them, and the token after it.
fn another(context: &TokenContext<'_>, i: usize) -> Option<(&'static str, String, usize)> {
    let mark = context.skip_space(i);
    let (joint, next) = match context.kind(mark)? {
        Kind::Mark('/' | '|' | '\\') => (", au ", context.skip_space(mark + 1)),
        Kind::Mark('-' | '–' | ',' | ';') => (", ", context.skip_space(mark + 1)),
        _ if mark > i => (", ", mark),
        _ => return None,
    };
    if let Some((said, end)) = one(context, next) {
        return Some((joint, said, end));
    }
    // "020 2222222/3", "0722 000 000 / 111": other last figures; "020 2222222 / 3333333": another number of the same place.
    let last = context.digits(next)?;
    let last_figure = last.len() <= 2 && next == i + 1;
    let same_place = matches!(last.len(), 3 | 6 | 7) && ends_there(context, next + 1);
    (context.is_mark(mark, '/') && (last_figure || same_place))
        .then(|| (joint, digits(last), next + 1))
}

fn one(context: &TokenContext<'_>, i: usize) -> Option<(String, usize)> {
    if context.is_mark(i, '+') {
        return with_country_code(context, i);
    }
    let first = if context.is_mark(i, '(') { i + 1 } else { i };
    let figures = context.digits(first)?;
    // "ASHA JUMA (255754123456)": the brackets are the sentence's.
    if first > i && figures.len() >= 9 {
        return None;
    }
    if is_glued_country_code(figures) && ends_there(context, first + 1) {
        return Some((groups_said(&chunks(figures, &[3, 3, 3, 3])), first + 1));
    }
    // "Simu: 255 754 123 456".
    let told = context.is_near(i, 3, TELEPHONES);
    if COUNTRY_CODES.contains(&figures) {
        let number = match told {
            true => whole_number(context, i, 12..=12),
            false => None,
        };
        if let Some((groups, end)) = number.or_else(|| international(context, i)) {
            return Some((groups_said(&groups), end));
        }
    }
    if !figures.starts_with('0') {
        return None;
    }
    if let Some(groups) = dotted(context, first).filter(|groups| groups[0].len() == 4) {
        return Some((groups_said(&groups), first + 5));
    }
    if (9..=11).contains(&figures.len()) && ends_there(context, first + 1) && first == i {
        let sizes = if figures.len() == 9 {
            [3, 3, 3]
        } else {
            [4, 3, 4]
        };
        return Some((groups_said(&chunks(figures, &sizes)), i + 1));
    }
    let (groups, end) = whole_number(context, i, 9..=12)?;
    (2..=4)
        .contains(&figures.len())
        .then(|| (groups_said(&groups), end))
}

/// "254 712 345678": nine figures behind the country's code, the first as those of mobile and other lines.
fn international<'a>(context: &TokenContext<'a>, i: usize) -> Option<(Vec<&'a str>, usize)> {
    const FIGURES: usize = 12;
    let (groups, _) = groups_at(context, i);
    let mut sum = 0;
    let last = groups.iter().position(|group| {
        sum += group.len();
        sum >= FIGURES
    })?;
    let end = i + 2 * last + 1;
    let plain = (i..end).all(|j| !matches!(context.kind(j), Some(Kind::Mark('(' | ')'))));
    let fits = sum == FIGURES && groups[1].starts_with(['1', '6', '7']) && ends_there(context, end);
    (plain && fits).then(|| match groups[1..=last] {
        [glued] => ([&groups[..1], &chunks(glued, &[3, 3, 3])].concat(), end),
        _ => (groups[..=last].to_vec(), end),
    })
}

/// The groups of "0722.123.456": no other number begins with a zero and goes on so.
fn dotted<'a>(context: &TokenContext<'a>, i: usize) -> Option<[&'a str; 3]> {
    let groups = [
        context.digits(i)?,
        context.digits(i + 2)?,
        context.digits(i + 4)?,
    ];
    let dots = context.is_mark(i + 1, '.') && context.is_mark(i + 3, '.');
    let fits = groups[1..].iter().all(|g| g.len() == 3) && ends_there(context, i + 5);
    (dots && fits).then_some(groups)
}

/// No decimals and no minutes follow.
fn ends_there(context: &TokenContext<'_>, i: usize) -> bool {
    let goes_on = matches!(context.kind(i), Some(Kind::Mark('.' | ':')))
        && context.kind(i + 1) == Some(Kind::Digits);
    !goes_on
}

fn is_glued_country_code(digits: &str) -> bool {
    digits.len() == 12 && COUNTRY_CODES.iter().any(|code| digits.starts_with(code))
}

/// Groups that together make a telephone number; those that come after it are left.
fn whole_number<'a>(
    context: &TokenContext<'a>,
    i: usize,
    total: std::ops::RangeInclusive<usize>,
) -> Option<(Vec<&'a str>, usize)> {
    let (groups, end) = groups_at(context, i);
    let sum: usize = groups.iter().map(|g| g.len()).sum();
    let sane = groups.len() >= 2 && groups[1..].iter().all(|g| (2..=7).contains(&g.len()));
    if sane && total.contains(&sum) {
        return Some((groups, end));
    }
    first_of_two(context, i, &groups)
}

/// "0712 345 678 0722 345 678": the first ends where the second's zero begins.
fn first_of_two<'a>(
    context: &TokenContext<'a>,
    i: usize,
    groups: &[&'a str],
) -> Option<(Vec<&'a str>, usize)> {
    let second = groups
        .iter()
        .skip(1)
        .position(|g| g.starts_with('0') && g.len() == 4)?
        + 1;
    let first = &groups[..second];
    let sum: usize = first.iter().map(|g| g.len()).sum();
    let plain =
        (i..i + 2 * second).all(|j| !matches!(context.kind(j), Some(Kind::Mark('(' | ')'))));
    (plain && second >= 2 && sum == 10).then(|| (first.to_vec(), i + 2 * second - 1))
}

fn with_country_code(context: &TokenContext<'_>, i: usize) -> Option<(String, usize)> {
    let first = context.digits(i + 1)?;
    if first.len() >= 10 && first.len() <= 15 {
        let groups = chunks(first, &[3, 3, 3, 3, 3]);
        return Some((format!("jumlisha {}", groups_said(&groups)), i + 2));
    }
    // "+254.722.123.456".
    if let Some(rest) = dotted(context, i + 3).filter(|_| context.is_mark(i + 2, '.')) {
        let said = groups_said(&[&[first], rest.as_slice()].concat());
        return Some((format!("jumlisha {said}"), i + 8));
    }
    let (groups, end) =
        past_zero(context, i + 1).or_else(|| whole_number(context, i + 1, 9..=15))?;
    (first.len() <= 4).then(|| (format!("jumlisha {}", groups_said(&groups)), end))
}

/// "+254 (0) 712 345678": the zero is for callers inside the country, and is not said.
fn past_zero<'a>(context: &TokenContext<'a>, i: usize) -> Option<(Vec<&'a str>, usize)> {
    let zero = context.skip_space(i + 1);
    let bracketed = context.is_mark(zero, '(')
        && context.digits(zero + 1) == Some("0")
        && context.is_mark(zero + 2, ')');
    let (rest, end) = groups_at(context, context.skip_space(zero + 3));
    let mut groups = vec![context.digits(i)?];
    match rest.as_slice() {
        [glued] => groups.extend(chunks(glued, &[3, 3, 3])),
        _ => groups.extend(rest),
    }
    let sum: usize = groups.iter().map(|group| group.len()).sum();
    (bracketed && (9..=15).contains(&sum)).then_some((groups, end))
}

/// Cuts digits into groups of these sizes; what is left makes the last group.
pub(crate) fn chunks<'a>(digits: &'a str, sizes: &[usize]) -> Vec<&'a str> {
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

pub(crate) fn groups_said(groups: &[&str]) -> String {
    let said: Vec<String> = groups.iter().map(|group| digits(group)).collect();
    said.join(", ")
}
