//! Digits that are names, not quantities, told by the words around them: accounts, tills, meters, tokens, PINs.

use super::SpokenForm;
use super::context::TokenContext;
use super::money;
use super::phone::{chunks, groups_at, groups_said};
use super::quantity::{Quantity, dash_after};
use super::token::{Kind, Token};
use crate::cardinal::digits;
use crate::tables::WordList;

/// Things whose numbers are read digit by digit.
static NUMBERED: WordList = WordList::named("numbered");

/// Words that may stand between such a thing and its number.
static BETWEEN: WordList = WordList::named("between-code");

/// Codes that come in two halves, "482-913"; of "leseni 200-300" there are many.
static ONE_TIME: WordList = WordList::named("one-time-codes");

/// Words that say "number" and nothing of what it numbers.
const NUMBER_WORDS: &[&str] = &["namba", "nambari", "no", "number", "num", "nam", "nr"];

static CALLS: WordList = WordList::named("calls");

const HELP_LINES: &[&str] = &["dharura", "hotline", "helpline", "emergency"];

/// A number after such a general word is a code from so many digits on; shorter ones count rooms and laws.
const GENERAL_DIGITS_MIN: usize = 4;
/// "mita 1500" is a distance, "mita 37123456" a meter.
const METER_DIGITS_MIN: usize = 7;

pub(crate) fn by_context(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let figures = context.digits(i)?;
    let special = land_reference(context, i)
        .or_else(|| numbered_groups(context, i))
        .or_else(|| meter_token(context, i));
    if special.is_some() {
        return special;
    }
    let is_quantity = context.is_mark(i + 1, ',') && context.number(i)?.grouped;
    let is_decimal = context.number(i)?.fraction.is_some();
    let glued = matches!(context.kind_before(i), Some(Kind::Mark('/' | '.')));
    if is_quantity || is_decimal || glued {
        return None;
    }
    if is_code(context, i, figures) && !is_money(context, i) {
        let (groups, end) = code_groups(context, i);
        return SpokenForm::new(groups_said(&groups), end);
    }
    if figures.len() >= 10 {
        let size = if figures.len() == 16 { 4 } else { 3 };
        return SpokenForm::new(
            groups_said(&chunks(figures, &vec![size; figures.len() / size])),
            i + 1,
        );
    }
    None
}

/// "LR No. 209/1234", "Plot No. 45/678", "Block 82/1234"; "plot 50/100" is a size.
fn land_reference(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    const REGISTERS: &[&str] = &["lr", "r", "block"];
    const PLOTS: &[&str] = &["plot", "ploti", "kiwanja", "parcel"];
    let mut before = context.words_back(i);
    let word = before.next()?;
    let numbered = word.is_one_of(NUMBER_WORDS) || word.is("na");
    let named = before.next().filter(|_| numbered);
    let is_land = word.is_one_of(REGISTERS)
        || named.is_some_and(|w| w.is_one_of(REGISTERS) || w.is_one_of(PLOTS));
    if !is_land {
        return None;
    }
    let (parts, end) = context.joined_figures(i, '/');
    let said: Vec<String> = parts.iter().map(|part| digits(part)).collect();
    (parts.len() > 1).then(|| SpokenForm::new(said.join(" mkwaju "), end))?
}

/// "TOKEN 1111 2222 3333 4444 5555 28.1KWH", "Token 44 556 677 889 900 112 233 kWh 28.1": the twenty figures that load a
/// meter, whatever follows them.
fn meter_token(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    const FIGURES: usize = 20;
    let named = context.is_near(i, 2, &["token", "tokeni", "tkn"]);
    let (mut groups, mut end, mut sum) = (Vec::new(), i, 0);
    while sum < FIGURES {
        let group = context.digits(end).filter(|_| named)?;
        sum += group.len();
        groups.push(group);
        end += 1;
        let joined = matches!(context.kind(end), Some(Kind::Space | Kind::Mark('-')));
        end += usize::from(joined && sum < FIGURES);
    }
    (sum == FIGURES && groups.len() > 1).then(|| SpokenForm::new(groups_said(&groups), end))?
}

/// "No. 45-2231", "No. 12-345", "Boeing 737-800"; "No. 45-60" and "No. 98-102" are ranges.
fn numbered_groups(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let groups = [context.digits(i)?, context.digits(i + 2)?];
    let [first, second] = groups.map(str::len);
    let joined = context.is_mark(i + 1, '-') && !context.is_mark(i + 3, '-');
    let word = context.words_back(i).next()?;
    let dot = context.before(i).is_some_and(|j| context.is_mark(j, '.'));
    let numbered = word.is_one_of(NUMBER_WORDS) || word.is("na") && dot;
    let [low, high] = groups.map(|figures| figures.parse().unwrap_or(u64::MAX));
    let far = second > first + 1 || second > first && high / 10 >= low;
    let model = word.is_one_of(&["boeing", "airbus", "atr", "dash", "embraer"]);
    (joined && (model || numbered && first > 1 && far))
        .then(|| SpokenForm::new(groups_said(&groups), i + 3))?
}

fn is_money(context: &TokenContext<'_>, i: usize) -> bool {
    let number = context.number(i);
    number.is_some_and(|number| money::suffixed(context, i, &Quantity::one(number)).is_some())
}

/// A code may go on after a space, in groups of three digits and more, or after a slash.
fn code_groups<'a>(context: &TokenContext<'a>, i: usize) -> (Vec<&'a str>, usize) {
    let (groups, end) = groups_at(context, i);
    // "19900101-12345-00001-23".
    let dashes = (i + 1..end).step_by(2).all(|j| context.is_mark(j, '-'));
    let hangs_together = groups.len() > 2 && dashes && end == i + groups.len() * 2 - 1;
    if groups.len() > 1 && (hangs_together || groups.iter().all(|g| g.len() >= 3)) {
        return (groups, end);
    }
    let slash = context
        .digits(i + 2)
        .filter(|_| context.is_mark(i + 1, '/'));
    match (context.digits(i), slash) {
        (Some(first), Some(second)) => (vec![first, second], i + 3),
        (first, _) => (first.into_iter().collect(), i + 1),
    }
}

fn is_code(context: &TokenContext<'_>, i: usize, figures: &str) -> bool {
    if is_card_number(context, i) || is_named_after(context, i, figures) {
        return true;
    }
    let Some(word) = context.words_back(i).next() else {
        return false;
    };
    // "Sheria namba 3 ya 2010".
    let numbered_before = || {
        let joint = context.before(i).and_then(|j| context.before(j));
        joint.is_some_and(|j| context.digits(j).is_some())
    };
    if figures.len() == 4 && context.follows(i, &["ya", "of"]) && numbered_before() {
        return false;
    }
    let right_before = context.word_before(i).is_some();
    if word.is_one_of(&["bonyeza", "press", "dial"]) && right_before {
        return true;
    }
    if figures.len() < 3 {
        return false;
    }
    if is_sms_number(context, i, figures) {
        return true;
    }
    let (mut numbered, mut one_time, mut new) = (false, false, false);
    for (distance, word) in context.words_back(i).enumerate().take(5) {
        // "Piga 999 au 112", "emergency 999 or 112".
        let choice = word.is_one_of(&["au", "ama"]);
        if distance == 0 && (choice || word.is("or")) {
            let mut before = context.words_back(i).skip(1).take(2);
            let called = before.any(|w| w.is_one_of(&CALLS) || w.is_one_of(HELP_LINES));
            if called || choice {
                return called;
            }
        }
        if word.is_one_of(&CALLS) {
            return true;
        }
        one_time |= word.is_one_of(&ONE_TIME);
        new |= word.is("mpya");
        if is_numbered(context, i, word) {
            return match word.text.to_ascii_lowercase().as_str() {
                _ if one_time => true,
                // "leseni mpya 200" are many.
                _ if new => false,
                // "simu 500" may count telephones; "piga simu 116" has its verb, "simu ya 0712" its zero.
                "simu" => distance > 0 || called(context, i) || figures.len() >= 5,
                _ => numbered || !is_range(context, i),
            };
        }
        if word.is_one_of(&["polisi", "police", "zimamoto", "emergency", "ambulance"]) {
            return is_emergency(context, i, figures);
        }
        if word.is_one_of(&["mita", "meta"]) {
            let is_meter = numbered || context.words_back(i).any(|w| w.is_one_of(NUMBER_WORDS));
            return is_meter || figures.len() >= METER_DIGITS_MIN;
        }
        if !word.is_one_of(&BETWEEN) {
            break;
        }
        numbered |= word.is_one_of(NUMBER_WORDS);
    }
    let hash = i > 0 && context.is_mark(i - 1, '#');
    let general = figures.len() >= GENERAL_DIGITS_MIN && (one_time || !is_range(context, i));
    (numbered || hash) && general || is_agent(context, i, figures)
}

/// "polisi 999", but not "polisi 112 waliuawa".
fn is_emergency(context: &TokenContext<'_>, i: usize, figures: &str) -> bool {
    let next = context.word(context.skip_space(i + 1));
    let counted = next.is_some_and(|w| !w.is_one_of(&["au", "ama", "or", "and", "na"]));
    matches!(figures, "110" | "112" | "114" | "911" | "999") && !counted
}

/// "Toa Ksh500 kwa 254611 - MAMA FUA".
fn is_agent(context: &TokenContext<'_>, i: usize, figures: &str) -> bool {
    let name = dash_after(context, i + 1).and_then(|j| context.get(j));
    let paid = context.follows(i, &["kwa", "kutoka", "from", "to"]);
    let round = figures.ends_with("00");
    (5..=7).contains(&figures.len()) && !round && paid && name.is_some_and(|w| w.is_all_caps())
}

/// A thing of the list, or one of two words: "A/C", "Pay Bill", "Buy Goods".
fn is_numbered(context: &TokenContext<'_>, i: usize, word: &Token<'_>) -> bool {
    let is_pair = |first: &str, second: &str| {
        let mut words = context.words_back(i).skip_while(|w| !w.is(second));
        word.is(second) && words.nth(1).is_some_and(|w| w.is(first))
    };
    let pairs = [("a", "c"), ("pay", "bill"), ("buy", "goods")];
    word.is_one_of(&NUMBERED) || pairs.iter().any(|(first, second)| is_pair(first, second))
}

/// "leseni 200-300" counts licences.
fn is_range(context: &TokenContext<'_>, i: usize) -> bool {
    let quantity = Quantity::at(context, i);
    quantity.is_some_and(|q| match q.high {
        Some(high) => q.low.value() < high.value() && !q.low.has_leading_zero(),
        None => false,
    })
}

/// "483920 ni msimbo wako": the thing is named behind its number.
fn is_named_after(context: &TokenContext<'_>, i: usize, figures: &str) -> bool {
    const WORDS_AHEAD_MAX: usize = 5;
    let (groups, end) = code_groups(context, i);
    let halves = groups.len() == 2 && groups[0].len() == groups[1].len();
    if !halves && !(4..=8).contains(&figures.len()) {
        return false;
    }
    let mut at = context.skip_space(if halves { end } else { i + 1 });
    if !context.is_word(at, &["ni", "is", "ndio", "ndiyo"]) {
        return false;
    }
    for _ in 0..WORDS_AHEAD_MAX {
        at = context.skip_space(at + 1);
        match context.word(at) {
            Some(word) if word.is_one_of(&ONE_TIME) => return true,
            Some(word) if !halves && word.is_one_of(&NUMBERED) => return true,
            Some(word) if word.is_one_of(&BETWEEN) => {}
            _ => return false,
        }
    }
    false
}

/// Three groups of four digits and more: a card, a token of electricity.
fn is_card_number(context: &TokenContext<'_>, i: usize) -> bool {
    let (groups, _) = groups_at(context, i);
    groups.len() >= 3 && groups.iter().all(|group| group.len() == 4)
}

fn called(context: &TokenContext<'_>, i: usize) -> bool {
    context
        .words_back(i)
        .nth(1)
        .is_some_and(|w| w.is_one_of(&CALLS))
}

/// Words that tell of a message being sent.
static SENDS: WordList = WordList::named("messages");

/// "Tuma neno HAKI kwa 15300".
fn is_sms_number(context: &TokenContext<'_>, i: usize, figures: &str) -> bool {
    let to = context.words_back(i).next().is_some_and(|w| {
        w.is_one_of(&[
            "kwa", "kwenda", "kwenye", "namba", "nambari", "ujumbe", "to", "no", "number",
        ])
    });
    // "Tuma SMS 22999".
    let mut before = context.words_back(i);
    let to = to
        || figures.len() >= 5
            && before.next().is_some_and(|w| w.is("sms"))
            && (!figures.ends_with("00")
                || before
                    .next()
                    .is_some_and(|w| w.is_one_of(&["tuma", "andika"])));
    let sends = || context.words_back(i).any(|w| w.is_one_of(&SENDS));
    (3..=7).contains(&figures.len()) && to && sends()
}
