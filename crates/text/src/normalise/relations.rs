//! Numbers beside numbers: fractions, ranges, scores, arithmetic.

use std::sync::LazyLock;

use unicode_normalization::UnicodeNormalization;

use super::SpokenForm;
use super::calendar;
use super::context::TokenContext;
use super::marks::is_menu_step;
use super::number::Number;
use super::numerals::HEADINGS;
use super::quantity::{Quantity, dash_after, follows_connective, say_roman, with_suffix};
use super::token::{Kind, Token};
use super::written_date::full_year;
use super::{money, units};
use crate::cardinal::{cardinal, digits};
use crate::tables::{WordList, rows};

/// 1.2.3 is a version or an address, 123-456-789 a code, 31/02/2026 no date.
pub(crate) fn grouped_digits(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let Some(Kind::Mark(mark @ ('.' | '-' | '/' | ':'))) = context.kind(i + 1) else {
        return None;
    };
    // "NPK 17:17:17", "saruji 1:3:6".
    let one_figure = |j: usize| context.digits(j).is_some_and(|d| d.len() == 1);
    const MIXED: &[&str] = &["saruji", "zege", "mchanganyiko", "uwiano"];
    let mixed = context.is_near(i, 3, MIXED);
    let ratio = mark == ':' && mixed && one_figure(i + 2) && one_figure(i + 4);
    if mark == ':' && !ratio && !context.follows(i, &["npk"]) {
        return None;
    }
    let (groups, end) = context.joined_figures(i, mark);
    if groups.len() < 3 || context.number(i).is_some_and(|n| n.grouped) {
        return None;
    }
    let (say, joint): (fn(&str) -> String, _) = match mark {
        '.' => (short_number, " nukta "),
        ':' if ratio => (short_number, " kwa "),
        ':' => (short_number, ", "),
        _ => (digits, ", "),
    };
    let said: Vec<String> = groups.into_iter().map(say).collect();
    SpokenForm::new(said.join(joint), end)
}

fn short_number(figures: &str) -> String {
    let plain = figures.len() <= 3 && !(figures.len() > 1 && figures.starts_with('0'));
    match figures.parse() {
        Ok(n) if plain => cardinal(n),
        _ => digits(figures),
    }
}

/// What stands above and below the line of "¾".
pub(super) fn vulgar(mark: char) -> Option<(u64, u64)> {
    let spelled: String = std::iter::once(mark).nfkd().collect();
    let (top, bottom) = spelled.split_once('⁄')?;
    Some((top.parse().ok()?, bottom.parse().ok()?))
}

fn fraction_name(top: u64, bottom: u64) -> String {
    match (top, bottom) {
        (1, 2) => "nusu".to_owned(),
        (1, 3) => "theluthi".to_owned(),
        (1, 4) => "robo".to_owned(),
        (top, 3) if top < 3 => format!("theluthi {}", cardinal(top)),
        (top, 4) if top < 4 => format!("robo {}", cardinal(top)),
        (top, bottom) => format!("{} ya {}", cardinal(top), cardinal(bottom)),
    }
}

/// A fraction at `i`: 3/4 or ¾, and the token after it.
fn bare_fraction(context: &TokenContext<'_>, i: usize) -> Option<(u64, u64, usize)> {
    if let Some(Kind::Mark(mark)) = context.kind(i) {
        return vulgar(mark).map(|(top, bottom)| (top, bottom, i + 1));
    }
    let (top, bottom) = (context.digits(i)?, context.digits(i + 2)?);
    let short = top.len() <= 4 && bottom.len() <= 4 && context.is_mark(i + 1, '/');
    let goes_on = context.is_mark(i + 3, '/') && context.kind(i + 4) == Some(Kind::Digits);
    if !short || goes_on {
        return None;
    }
    Some((top.parse().ok()?, bottom.parse().ok()?, i + 3))
}

pub(crate) fn fraction(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    mixed(context, i).or_else(|| alone(context, i))
}

fn alone(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let (top, bottom, end) = bare_fraction(context, i)?;
    // "kituo 004/023".
    let padded = |j: usize| {
        context
            .digits(j)
            .filter(|d| d.len() > 2 && d.starts_with('0'))
    };
    if let (Some(first), Some(second)) = (padded(i), padded(i + 2)) {
        return SpokenForm::new(format!("{} mkwaju {}", digits(first), digits(second)), end);
    }
    // "Dodoma 19/30°C".
    if context.is_mark(end, '°') && context.is_word(end + 1, &["c"]) {
        let said = format!("nyuzi joto {} hadi {}", cardinal(top), cardinal(bottom));
        return SpokenForm::new(said, end + 2);
    }
    if context.kind(i) == Some(Kind::Digits)
        && let Some(text) = not_a_fraction(context, i, top, bottom, end)
    {
        // "120/80 mmHg".
        let at = context.skip_space(end);
        if let Some((unit, after)) = units::name_at(context, at)
            && context.is_word(at, &["mmHg"])
        {
            return SpokenForm::new(format!("{unit} {text}"), after);
        }
        // "500/5ml": so much in five millilitres.
        let unit = units::name_at(context, end).filter(|_| text.contains(" kwa "));
        let Some((unit, after)) = unit else {
            return SpokenForm::new(text, end);
        };
        let text = format!("{} kwa {unit} {}", cardinal(top), cardinal(bottom));
        return SpokenForm::new(text, after);
    }
    let name = fraction_name(top, bottom);
    if context.is_inch(end) {
        return SpokenForm::new(format!("{name} inchi"), end + 1);
    }
    match units::name_at(context, context.skip_space(end)) {
        Some((unit, end)) => SpokenForm::new(format!("{name} {unit}"), end),
        None => SpokenForm::new(name, end),
    }
}

/// 1½, 2 1/4.
fn mixed(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let whole = context.number(i).filter(|n| n.fraction.is_none())?;
    let at = context.skip_space(whole.end);
    let (top, bottom, end) = bare_fraction(context, at)?;
    let blanks = context.token(at).at - context.token(whole.end).at;
    let written_out = context.digits(at).is_some();
    if blanks > 2 || (blanks > 0 && top >= bottom) || (blanks == 0 && written_out) {
        return None;
    }
    let class = context.class_before(i);
    let said = format!(
        "{} na {}",
        whole.say_with(class),
        fraction_name(top, bottom)
    );
    match units::name_at(context, context.skip_space(end)) {
        Some((unit, end)) => SpokenForm::new(format!("{unit} {said}"), end),
        None => SpokenForm::new(said, end),
    }
}

/// Financial years, divisions, and pairs such as blood pressure.
fn not_a_fraction(
    context: &TokenContext<'_>,
    i: usize,
    top: u64,
    bottom: u64,
    end: usize,
) -> Option<String> {
    let year = |n: u64| (1900..2100).contains(&n);
    if year(top) && (year(bottom) || bottom == (top + 1) % 100) {
        let last = if year(bottom) { bottom } else { top + 1 };
        return Some(format!("{} hadi {}", cardinal(top), cardinal(last)));
    }
    if in_arithmetic(context, i, end) {
        return Some(format!(
            "{} gawanya kwa {}",
            cardinal(top),
            cardinal(bottom)
        ));
    }
    // "mwezi wa 11/2026", "itaisha 05/2031", "Exp: 08/29".
    static DATED: WordList = WordList::named("dated");
    let month = usize::try_from(top)
        .ok()
        .and_then(|n| calendar::MONTHS.get(n.checked_sub(1)?));
    let of_month = context.is_near(i, 2, &DATED);
    let full_year = match bottom {
        13.. => full_year(bottom),
        _ => bottom,
    };
    if let Some(month) = month.filter(|_| year(full_year) && of_month) {
        return Some(format!("{month} {}", cardinal(full_year)));
    }
    if (top, bottom) == (24, 7) {
        let named = context.follows(i, &["saa", "masaa"]);
        let saa = if named { "" } else { "saa " };
        return Some(format!("{saa}ishirini na nne kila siku"));
    }
    let place = is_place(context, i) && top < bottom && bottom < 1900;
    if top <= bottom && (place || is_out_of(context, i, top, bottom, end)) {
        let top = say_roman(top, place && follows_connective(context, i));
        return Some(format!("{top} kati ya {}", cardinal(bottom)));
    }
    (top >= bottom).then(|| format!("{} kwa {}", cardinal(top), cardinal(bottom)))
}

/// "Nafasi: 12/120", "ameshika Na. 5/48", "Rejesho la 4/12".
fn is_place(context: &TokenContext<'_>, i: usize) -> bool {
    static PLACES: WordList = WordList::named("places");
    context.is_near(i, 3, &PLACES)
}

/// "alama 389/500", "vituo 320/322", "Alipata 9/10", "Kiingereza 65/100".
fn is_out_of(context: &TokenContext<'_>, i: usize, top: u64, bottom: u64, end: usize) -> bool {
    static COUNTED_PLACES: WordList = WordList::named("counted-places");
    static GOT: WordList = WordList::named("got-marks");
    let many = top >= 100 && !(1900..2100).contains(&bottom);
    let subject = context.word_before(i).is_some_and(Token::is_capitalised);
    // "alipata 3/10 ya kura".
    let of = context.comes_next(end, &["ya", "za"]);
    context.is_near(i, 2, &["alama", "maksi", "jumla"])
        || many && context.is_near(i, 1, &COUNTED_PLACES)
        || context.follows(i, &GOT) && bottom.is_multiple_of(10) && !of
        || subject && bottom == 100
}

/// An equals sign follows, or an operator stands before.
fn in_arithmetic(context: &TokenContext<'_>, i: usize, end: usize) -> bool {
    let after = context.skip_space(end);
    let operator = |j: usize| matches!(context.kind(j), Some(Kind::Mark('=' | '+' | '×' | '÷')));
    operator(after) || context.before(i).is_some_and(operator)
}

/// "6'2\"".
pub(crate) fn feet_and_inches(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let (feet, inches) = (context.number(i)?.plain()?, context.number(i + 2)?.plain()?);
    let written = context.is_mark(i + 1, '\'') && context.is_inch(i + 3);
    let said = format!("futi {} inchi {}", cardinal(feet), cardinal(inches));
    written.then(|| SpokenForm::new(said, i + 4))?
}

/// "23'", "45+2'": the minute of a match, what was added to it, and the token after it.
pub(super) fn minute_at(context: &TokenContext<'_>, i: usize) -> Option<(u64, Option<u64>, usize)> {
    const MINUTES_MAX: u64 = 120;
    let value = |j: usize| {
        let minute = context.digits(j)?.parse::<u64>().ok();
        minute.filter(|n| (1..=MINUTES_MAX).contains(n))
    };
    let added = value(i + 2).filter(|_| context.is_mark(i + 1, '+'));
    let end = if added.is_some() { i + 3 } else { i + 1 };
    let angle = context.is_mark(i.wrapping_sub(1), '°');
    (!angle && context.is_minute(end)).then_some((value(i)?, added, end + 1))
}

pub(crate) fn minute(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let (minute, added, end) = minute_at(context, i)?;
    let added = added.map(|added| format!(" jumlisha {}", cardinal(added)));
    let said = cardinal(minute) + &added.unwrap_or_default();
    // "dk. 67'", "dakika ya 67'".
    let skipped = |j: &usize| context.is_mark(*j, '.') || context.is_word(*j, &["ya"]);
    let before = context.before(i);
    let before = before.filter(skipped).map_or(before, |j| context.before(j));
    let named = before.is_some_and(|j| context.is_word(j, &["dakika", "dak", "dk"]));
    let name = if named { "" } else { "dakika ya " };
    SpokenForm::new(format!("{name}{said}"), end)
}

pub(super) static SCORE_WORDS: WordList = WordList::named("scores");

/// "siku 3-5", "2010-2015", and scores: "bao 1-0".
pub(crate) fn range(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let quantity = Quantity::at(context, i)?;
    let high = quantity.high.as_ref()?;
    let low = &quantity.low;
    if low.has_leading_zero()
        || high.has_leading_zero()
        || dash_after(context, quantity.end).is_some_and(|j| context.digits(j).is_some())
    {
        return None;
    }
    if let Some(last) = short_year(low, high) {
        let said = format!("{} hadi {}", low.say(), cardinal(last));
        return SpokenForm::new(said, quantity.end);
    }
    if let Some(end) = told_of_span(context, i, &quantity) {
        let said = low.say_with(context.class_before(i));
        return SpokenForm::new(format!("{said}, "), end);
    }
    if let Some(reading) = with_suffix(context, i, &quantity) {
        return Some(reading);
    }
    if let Some(said) = ordinals(context, i, low, high) {
        return SpokenForm::new(said, quantity.end);
    }
    let class = context.class_before(i);
    let spaced = context.kind(low.end) == Some(Kind::Space);
    if spaced && is_subtraction(context, i, &quantity) {
        return None;
    }
    if is_sum(context, low, high) {
        return SpokenForm::new(format!("{} toa {}", low.say(), high.say()), high.end);
    }
    let score = match spaced {
        // "Kurasa 10 - 12 Zaburi": a first word has its capital from the sentence.
        true => {
            let first = context
                .before(i)
                .is_some_and(|j| context.starts_sentence(j));
            let rises = low.value() < high.value();
            !(first && rises) && is_match(context, i, low, high, quantity.end)
        }
        false => is_score(context, i, low, high, quantity.end),
    };
    if score {
        // Only goals agree with their score: in "Simba 2-1 Yanga" the name before it is a team's.
        let goals = low.say_with(class.filter(|_| context.follows(i, &["mabao", "magoli"])));
        return SpokenForm::new(format!("{goals} kwa {}", high.say()), quantity.end);
    }
    if let Some(end) = quantity.falls_to(context) {
        return SpokenForm::new(format!("{}, ", low.say_with(class)), end);
    }
    SpokenForm::new(quantity.say_with(class), quantity.end)
}

/// "miezi 3 - 6.5%", "siku 7 - 500/=": how long, and what it brings or costs; where the second number begins.
fn told_of_span(context: &TokenContext<'_>, i: usize, quantity: &Quantity<'_>) -> Option<usize> {
    static SPANS: WordList = WordList::named("spans-before");
    let spaced = context.kind(quantity.low.end) == Some(Kind::Space);
    let percent = context.is_mark(context.skip_space(quantity.end), '%');
    let paid = money::slash_tail(context, quantity.end) > quantity.end;
    (spaced && (percent || paid) && context.follows(i, &SPANS))
        .then(|| dash_after(context, quantity.low.end))?
}

/// "Kidato cha 1-4" is "cha kwanza hadi cha nne".
fn ordinals(
    context: &TokenContext<'_>,
    i: usize,
    low: &Number<'_>,
    high: &Number<'_>,
) -> Option<String> {
    const CLASSES: &[&str] = &["kidato", "vidato", "darasa", "madarasa", "std"];
    let (from, to) = (low.plain()?, high.plain()?);
    let mut before = context.words_back(i);
    let joint = match before.next()? {
        std if std.is("std") => "la",
        joint if before.next().is_some_and(|w| w.is_one_of(CLASSES)) => joint.text,
        _ => return None,
    };
    (follows_connective(context, i) && from < to).then(|| {
        let from = say_roman(from, true);
        format!("{from} hadi {joint} {}", say_roman(to, true))
    })
}

/// 2010-15 means 2015.
fn short_year(low: &Number<'_>, high: &Number<'_>) -> Option<u64> {
    let (from, to) = (low.plain()?, high.plain()?);
    let short = (1900..2100).contains(&from) && high.whole.len() == 2 && to > from % 100;
    short.then_some(from - from % 100 + to)
}

fn is_subtraction(context: &TokenContext<'_>, i: usize, quantity: &Quantity<'_>) -> bool {
    if in_arithmetic(context, i, quantity.end) {
        return true;
    }
    let high = quantity.high.as_ref().and_then(Number::value);
    let falls = high.is_some_and(|high| quantity.low.value() >= Some(high));
    falls && context.word_before(i).is_none()
}

/// "10-4=6": the tight dash takes away.
pub(super) fn is_sum(context: &TokenContext<'_>, low: &Number<'_>, high: &Number<'_>) -> bool {
    let equals = context.skip_space(high.end);
    let result = context.digits(context.skip_space(equals + 1));
    context.is_mark(equals, '=') && result.is_some() && low.value() >= high.value()
}

/// "Gor Mahia 3 - 0 AFC Leopards", but not "Form 1 - 4".
pub(super) fn is_match(
    context: &TokenContext<'_>,
    i: usize,
    low: &Number<'_>,
    high: &Number<'_>,
    end: usize,
) -> bool {
    const GOALS_MAX: u64 = 20;
    let goals = |n: &Number<'_>| n.plain().is_some_and(|n| n <= GOALS_MAX);
    let is_team = |w: &Token<'_>| {
        w.is_capitalised() && !w.is_one_of(&HEADINGS) && !calendar::is_day_or_month(w)
    };
    let after = context.word(context.skip_space(end));
    goals(low)
        && goals(high)
        && context.word_before(i).is_some_and(is_team)
        && after.is_some_and(is_team)
}

/// "Yanga 2 : 0 Azam", "Yanga 2:0 Azam", "alishinda 3:1", "uwiano wa 2:1".
pub(crate) fn colon_score(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let low = context.number(i)?;
    let colon = context.skip_space(low.end);
    let at = context.skip_space(colon + 1);
    let high = context.number(at).filter(|_| context.is_mark(colon, ':'))?;
    let said = format!("{} kwa {}", low.say(), high.say());
    let scored = high.whole.len() == 1 && context.is_near(i, 2, &SCORE_WORDS);
    let told = scored || follows_ratio(context, i);
    // "1:50,000", "50:50".
    let ratio = high.grouped || high.whole == low.whole && low.value() > Some(24);
    (told || ratio || is_match(context, i, &low, &high, high.end))
        .then(|| SpokenForm::new(said, high.end))?
}

/// "uwiano wa 1:30".
pub(super) fn follows_ratio(context: &TokenContext<'_>, i: usize) -> bool {
    context.is_near(i, 2, &["uwiano", "ratio", "mteremko", "skeli"])
}

fn is_score(
    context: &TokenContext<'_>,
    i: usize,
    low: &Number<'_>,
    high: &Number<'_>,
    end: usize,
) -> bool {
    const GOALS_MAX: u64 = 200;
    let (Some(a), Some(b)) = (low.plain(), high.plain()) else {
        return false;
    };
    if a > GOALS_MAX || b > GOALS_MAX {
        return false;
    }
    if context.words_back(i).any(|w| w.is_one_of(&SCORE_WORDS)) || a == b {
        return true;
    }
    let before = context.word_before(i);
    let after = context.word(context.skip_space(end));
    let between_teams =
        before.is_some_and(|w| w.is_capitalised()) && after.is_some_and(|w| w.is_capitalised());
    if is_beside_score(context, i) {
        return true;
    }
    let plain_noun = before.is_some_and(|w| !w.is_capitalised())
        // "21-40 D, 0-20 E".
        || after.is_some_and(|w| w.text.len() == 1);
    between_teams || a > b || (a == 0 && !plain_noun)
}

/// "6-4, 3-6, 7-6": another pair of the list falls, which no range does.
fn is_beside_score(context: &TokenContext<'_>, i: usize) -> bool {
    const PAIRS_MAX: usize = 6;
    const PAIR_TOKENS: usize = 5;
    let value = |j: usize| context.digits(j)?.parse::<u64>().ok();
    let is_pair = |j: usize| value(j).is_some() && context.is_mark(j + 1, '-');
    let falls = |j: usize| is_pair(j) && value(j) > value(j + 2) && value(j + 2).is_some();
    let listed = |j: usize| context.is_mark(j, ',') && context.kind(j + 1) == Some(Kind::Space);
    let ahead = (0..PAIRS_MAX).map(|n| i + n * PAIR_TOKENS);
    let ahead = ahead.take_while(|j| *j == i || is_pair(*j) && listed(j - 2));
    let behind = (0..PAIRS_MAX).map_while(|n| i.checked_sub(n * PAIR_TOKENS));
    let behind = behind.take_while(|j| *j == i || is_pair(*j) && listed(j + 3));
    ahead.chain(behind).any(falls)
}

/// Signs of arithmetic, of one character each; how Swahili says them, a tab, English.
pub(super) static SIGNS: LazyLock<Vec<(&str, &str)>> =
    LazyLock::new(|| rows(include_str!("../../data/signs.tsv")).collect());

/// A sign of arithmetic between two numbers.
pub(crate) fn operator(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let token = context.token(i);
    if token.kind == Kind::Space || token.text.chars().nth(1).is_some() {
        return None;
    }
    let (_, said) = SIGNS
        .iter()
        .find(|(signs, _)| signs.split(' ').any(|sign| token.is(sign)))?;
    let (said, _) = said.split_once('\t')?;
    if token.text == ">" && is_menu_step(context, i) {
        return None;
    }
    let before = context.before(i)?;
    // "75cm x 25cm".
    let size = || unit_with_number(context, before) && context.number(i + 2).is_some();
    if token.is("x") && context.kind(i + 1) == Some(Kind::Space) && size() {
        return SpokenForm::new("kwa", i + 1);
    }
    // "10ml x3".
    let counted = context.kind_before(before) == Some(Kind::Digits) && before + 1 < i;
    let operand_before = matches!(
        context.kind(before),
        Some(Kind::Digits | Kind::Mark(')' | '%' | '½' | '¼' | '¾' | '²' | '³'))
    ) || token.text == "x" && counted && context.word(before).is_some()
        || (token.kind == Kind::Mark('=')
            || token.text == "x" && before + 1 < i && context.kind(i + 1) == Some(Kind::Space))
            && context.word(before).is_some();
    let next = context.skip_space(i + 1);
    let operand_after = match context.kind(next)? {
        Kind::Digits | Kind::Mark('(' | '√' | '½' | '¼' | '¾') => true,
        Kind::Mark('-' | '−') => context.digits(next + 1).is_some(),
        Kind::Word => token.kind == Kind::Mark('='),
        _ => false,
    };
    // Only numbers on both sides make a dash or a slash arithmetic.
    let spaced = next > i + 1 || before + 1 < i;
    let weak = matches!(token.kind, Kind::Mark('-' | '–' | '/'));
    if !operand_before || !operand_after || (weak && !spaced) {
        return None;
    }
    // "20x30m", "50x100", "50 x 100 ft", but "3x4" and "1x3".
    let two_figures = |j: usize| context.digits(j).is_some_and(|d| d.len() > 1);
    let equals = context.is_mark(context.skip_space(next + 1), '=');
    let is_size = said == "mara" && token.text != "*" && !equals && {
        let glued = !spaced && two_figures(before) && two_figures(next);
        glued || is_length(context, context.skip_space(next + 1))
    };
    let said = if is_size { "kwa" } else { said };
    // A space where the writer left none, and the writer's own where there is one.
    let spaced_before = context.kind(i - 1) == Some(Kind::Space);
    let head = if spaced_before { "" } else { " " };
    SpokenForm::new(format!("{head}{said} "), next)
}

/// A length at `i`, behind its number.
fn unit_with_number(context: &TokenContext<'_>, i: usize) -> bool {
    let number = context.before(i).and_then(|j| context.digits(j));
    number.is_some() && is_length(context, i)
}

fn is_length(context: &TokenContext<'_>, i: usize) -> bool {
    let word = context.word(i);
    word.is_some_and(|w| matches!(w.text, "mm" | "cm" | "m" | "ft" | "km"))
}
