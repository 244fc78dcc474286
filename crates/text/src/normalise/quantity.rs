//! Numbers and ranges of numbers with what follows them: per cent, money, units, millions.

use super::agreement::{Class, counts_people};
use super::context::TokenContext;
use super::number::Number;
use super::token::{Kind, Token};
use super::{SpokenForm, money, units};
use crate::tables::{WordList, WordTable, rows};

/// "2.5" or "3-5".
pub(crate) struct Quantity<'a> {
    pub low: Number<'a>,
    pub high: Option<Number<'a>>,
    pub negative: bool,
    pub end: usize,
}

impl<'a> Quantity<'a> {
    pub(super) fn one(number: Number<'a>) -> Self {
        let end = number.end;
        Self {
            low: number,
            high: None,
            negative: false,
            end,
        }
    }

    /// A number, or two with a dash between them: "3-5", and the numbers of "50%-60%".
    pub(super) fn at(context: &TokenContext<'a>, i: usize) -> Option<Self> {
        let low = context.number(i)?;
        let percent = usize::from(context.is_mark(low.end, '%'));
        let high = dash_after(context, low.end + percent)
            .and_then(|j| context.number(j))
            .filter(|high| {
                let rises = low.value() < high.value();
                percent == 0 || context.is_mark(high.end, '%') && rises
            });
        let end = high.as_ref().map_or(low.end, |high| high.end);
        Some(Self {
            low,
            high,
            negative: false,
            end,
        })
    }

    /// "SMS 500 - 30 siku", "Tsh 1,000 - 24hrs": so much for so long, no range; where the second number begins.
    pub(super) fn falls_to(&self, context: &TokenContext<'_>) -> Option<usize> {
        static SPANS: WordList = WordList::named("spans-behind");
        let high = self.high.as_ref()?;
        let spaced = context.kind(self.low.end) == Some(Kind::Space);
        let lasts = context.comes_next(high.end, &SPANS);
        (spaced && lasts && self.low.value() > high.value())
            .then(|| dash_after(context, self.low.end))?
    }

    pub(super) fn say_with(&self, class: Option<Class>) -> String {
        self.map(|number| number.say_with(class))
    }

    /// Says both ends, each by `say`.
    pub(super) fn map(&self, say: impl Fn(&Number<'a>) -> String) -> String {
        let sign = if self.negative { "hasi " } else { "" };
        match &self.high {
            Some(high) => format!("{sign}{} hadi {}", say(&self.low), say(high)),
            None => format!("{sign}{}", say(&self.low)),
        }
    }
}

/// The token after a dash between two numbers, with or without spaces around it.
pub(crate) fn dash_after(context: &TokenContext<'_>, i: usize) -> Option<usize> {
    let dash = context.skip_space(i);
    matches!(context.kind(dash), Some(Kind::Mark('-' | '–' | '—' | '−')))
        .then(|| context.skip_space(dash + 1))
}

/// As written; how Swahili says it, a tab, English.
static MULTIPLIERS: WordTable =
    WordTable::new(|| rows(include_str!("../../data/multipliers.tsv")).collect());

/// "milioni" and the like at `i` in both languages; a letter is one only where it sticks to its number.
pub(super) fn multipliers_at(
    context: &TokenContext<'_>,
    i: usize,
) -> Option<(&'static str, &'static str)> {
    let word = context.word(i)?.text;
    let glued = context.kind_before(i) == Some(Kind::Digits);
    let said = MULTIPLIERS.get(word.to_ascii_lowercase().as_str())?;
    said.split_once('\t').filter(|_| word.len() > 1 || glued)
}

/// Millions and their like after a number are said before it: "2.5 milioni" is "milioni mbili nukta tano".
pub(crate) fn multiplier(context: &TokenContext<'_>, i: usize) -> Option<(&'static str, usize)> {
    let j = context.skip_space(i);
    context.word(j).filter(|word| word.text.len() > 1)?;
    Some((multipliers_at(context, j)?.0, j + 1))
}

/// What has a letter beside its number: "darasa la 7B" is no billion.
static LETTERED: WordList = WordList::named("lettered");

pub(super) fn is_lettered(context: &TokenContext<'_>, i: usize) -> bool {
    // "Ofisi Na. 12B".
    let number = i.checked_sub(1).and_then(|number| context.before(number));
    let numbered = number.is_some_and(|j| context.is_abbreviation_dot(j));
    // "darasa la 6A na 6W".
    let listed = |w: &&Token<'_>| w.text.len() == 1 && w.is_capitalised() || w.is("na");
    let mut before = context.words_back(i).filter(|w| !listed(w)).take(3);
    numbered || before.any(|w| w.is_one_of(&LETTERED))
}

/// What is counted in millions.
static COUNTED: WordList = WordList::named("millions");

/// What is told in money: "bei ni 9.5m", "mkopo wa 5m".
static PRICED: WordList = WordList::named("priced");

/// The "m" of "watu 47.6m" and "47.6m people", but not of "mbali na watu 2m" and "people 2m apart".
pub(super) fn is_millions(context: &TokenContext<'_>, i: usize) -> bool {
    const DISTANCES: &[&str] = &["mbali", "umbali", "apart", "away", "from", "tall"];
    if context.token(i).text != "m" {
        return false;
    }
    let in_number =
        |j: &usize| matches!(context.kind(*j), Some(Kind::Digits | Kind::Mark('.' | ',')));
    let start = (0..i).rev().take_while(in_number).last().unwrap_or(i);
    let joints = &["ni", "of", "is", "was", "to"];
    let mut before = context.words_back(start);
    let counted = before.find(|w| !w.is_one_of(joints));
    let is_joint = |w: &&Token<'_>| w.is_one_of(joints) || w.is_one_of(CONNECTIVES);
    let priced = context.words_back(start).find(|w| !is_joint(w));
    // "500k hadi 3.2m".
    let beside_thousands = context.follows(start, &["hadi", "mpaka", "au", "to", "or"])
        && context.words_back(start).any(|w| w.is("k"));
    let next = context.skip_space(i + 1);
    let far = before.any(|w| w.is_one_of(DISTANCES)) || context.is_word(next, DISTANCES);
    let is_counted = counted.is_some_and(|w| w.is_one_of(&COUNTED))
        || priced.is_some_and(|w| w.is_one_of(&PRICED))
        || context.is_word(next, &COUNTED)
        || beside_thousands;
    let goes_on = matches!(
        context.kind(i + 1),
        Some(Kind::Digits | Kind::Mark('/' | '²' | '³' | '^'))
    );
    start < i && is_counted && !far && !goes_on
}

/// Letters that stick to the number: 10k, 5M.
pub(super) fn short_multiplier(
    context: &TokenContext<'_>,
    i: usize,
) -> Option<(&'static str, usize)> {
    let written = context.word(i)?.text;
    if written != "k" && is_lettered(context, i) {
        return None;
    }
    let sure = matches!(written, "k" | "K" | "M" | "B") || is_millions(context, i);
    let (said, _) = multipliers_at(context, i).filter(|_| sure)?;
    Some((said, i + 1))
}

pub(crate) fn read(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    if let Some(reading) = english_decade(context, i).or_else(|| sevens(context, i)) {
        return Some(reading);
    }
    let negative = is_negative_sign(context, i);
    let number = context.number(if negative { i + 1 } else { i })?;
    let mut quantity = Quantity::one(number);
    quantity.negative = negative;
    let special = with_suffix(context, i, &quantity)
        .or_else(|| ordinal(context, i, &quantity.low))
        .or_else(|| decade(context, i, &quantity.low));
    if special.is_some() {
        return special;
    }
    let agrees = !is_year(context, i, &quantity.low);
    let class = context
        .class_before(i)
        .filter(|_| agrees)
        .or_else(|| people_after(context, i, &quantity));
    SpokenForm::new(quantity.say_with(class), quantity.end)
}

/// "3 wauawa, 5 walijeruhiwa na 1 alifariki": a number that opens a clause counts people where its verb does.
fn people_after(context: &TokenContext<'_>, i: usize, quantity: &Quantity<'_>) -> Option<Class> {
    let opens = context.before(i).is_none_or(|j| {
        let mark = matches!(context.kind(j), Some(Kind::Mark('.' | ',' | ';' | ':')));
        // "S.4 wafunge".
        let apart = j + 1 < i && !context.is_abbreviation_dot(j);
        mark && apart || context.is_word(j, &["na", "huku", "yao"])
    });
    let verb = context.word(context.skip_space(quantity.end))?;
    let one = quantity.low.plain() == Some(1);
    (opens && counts_people(verb.text, one)).then_some(Class::Wa)
}

/// Per cent, money, a unit or a multiplier after a quantity.
pub(crate) fn with_suffix(
    context: &TokenContext<'_>,
    i: usize,
    quantity: &Quantity<'_>,
) -> Option<SpokenForm> {
    if context.is_inch(quantity.end) {
        let name = if context.follows(i, &["inchi"]) {
            ""
        } else {
            "inchi "
        };
        let said = format!("{name}{}", quantity.say_with(None));
        return SpokenForm::new(said, quantity.end + 1);
    }
    if is_times(context, quantity.end) {
        let named = context.follows(i, &["mara"]);
        let name = if named { "" } else { "mara " };
        let said = format!("{name}{}", quantity.say_with(None));
        return SpokenForm::new(said, quantity.end + 1);
    }
    if let Some(end) = percent_end(context, quantity.end) {
        let said_before = context.follows(i, &["asilimia"]);
        let name = if said_before { "" } else { "asilimia " };
        return SpokenForm::new(format!("{name}{}", quantity.say_with(None)), end);
    }
    money::suffixed(context, i, quantity)
        .or_else(|| units::read(context, i, quantity))
        .or_else(|| {
            let (name, end) = multiplier(context, quantity.end)
                .or_else(|| short_multiplier(context, quantity.end))?;
            SpokenForm::new(format!("{name} {}", quantity.say_with(None)), end)
        })
}

/// The "x" of "2x zaidi".
fn is_times(context: &TokenContext<'_>, i: usize) -> bool {
    let factor = matches!(
        context.kind(context.skip_space(i + 1)),
        Some(Kind::Digits | Kind::Mark('(' | '-' | '−' | '+' | '='))
    );
    context.is_word(i, &["x"]) && !factor
}

fn percent_end(context: &TokenContext<'_>, i: usize) -> Option<usize> {
    let j = context.skip_space(i);
    if context.is_mark(j, '%') {
        return Some(j + 1);
    }
    context.word(j).filter(|w| w.is("percent")).map(|_| j + 1)
}

fn is_negative_sign(context: &TokenContext<'_>, i: usize) -> bool {
    is_minus(context, i) && context.digits(i + 1).is_some()
}

/// A minus before a number or its currency, "-250" and "(-KES 250)": not the dash of "pay-KES 250", "\"Tea\"-50" or
/// "KES 200 -KES 300".
pub(crate) fn is_minus(context: &TokenContext<'_>, i: usize) -> bool {
    let opens = match context.kind_before(i) {
        None | Some(Kind::Space | Kind::Mark('(' | '=' | '+' | '×')) => true,
        Some(Kind::Mark('"' | '\'')) => {
            let before = context.kind_before(i - 1);
            matches!(
                before,
                None | Some(Kind::Space | Kind::Mark('(' | '=' | ':'))
            )
        }
        // What begins behind ":-" is a list.
        Some(Kind::Mark(':')) => context.digits(i + 1).is_none(),
        _ => false,
    };
    is_minus_mark(context, i) && opens && !money::ends_range(context, i)
}

/// A minus, or a dash that is written for one.
pub(crate) fn is_minus_mark(context: &TokenContext<'_>, i: usize) -> bool {
    matches!(context.kind(i), Some(Kind::Mark('-' | '−' | '–')))
}

/// Words that join a noun to its ordinal.
const CONNECTIVES: &[&str] = &["ya", "wa", "la", "cha", "vya", "za", "pa", "mwa"];

/// Words whose "ya" counts rather than orders: "zaidi ya 2".
static COUNTING_HEADS: WordList = WordList::named("counting-heads");

fn ordinal(context: &TokenContext<'_>, i: usize, number: &Number<'_>) -> Option<SpokenForm> {
    let value = number.plain()?;
    english_ordinal(context, i, value, number.end).or_else(|| {
        let said = ordinal_name(value).filter(|_| follows_connective(context, i))?;
        SpokenForm::new(said, number.end)
    })
}

fn ordinal_name(value: u64) -> Option<&'static str> {
    match value {
        1 => Some("kwanza"),
        2 => Some("pili"),
        _ => None,
    }
}

/// A noun and its connective stand before, so the number orders rather than counts.
pub(crate) fn follows_connective(context: &TokenContext<'_>, i: usize) -> bool {
    let mut words = context.words_back(i);
    // "Std. 1" is "darasa la kwanza", "Kif. 2" "kifungu cha pili".
    let short = &["std", "div", "gr", "kif", "kf"];
    if words.next().is_some_and(|w| w.is_one_of(short)) {
        return true;
    }
    context.follows(i, CONNECTIVES)
        && words.next().is_some_and(|head| {
            // "Kipindi cha 2", but "kipindi cha 2020".
            let half = head.is("kipindi") && context.digits(i).is_some_and(|d| d.len() == 1);
            half || !head.is_one_of(&COUNTING_HEADS)
        })
}

fn english_ordinal(
    context: &TokenContext<'_>,
    i: usize,
    value: u64,
    end: usize,
) -> Option<SpokenForm> {
    let suffix = context.word(end)?.text;
    if !matches!(suffix, "st" | "nd" | "rd" | "th") {
        return None;
    }
    let said = say_roman(value, true);
    let connected = follows_connective(context, i);
    SpokenForm::new(
        format!("{}{said}", if connected { "" } else { "ya " }),
        end + 1,
    )
}

/// "miaka ya 1990" is the nineties.
fn decade(context: &TokenContext<'_>, i: usize, number: &Number<'_>) -> Option<SpokenForm> {
    let year = number
        .plain()
        .filter(|n| (1910..=1990).contains(n) && n % 10 == 0)?;
    let mut words = context.words_back(i);
    let decades = match words.next()?.text.to_ascii_lowercase().as_str() {
        "ya" => words.next().is_some_and(|w| w.is("miaka")),
        "na" | "au" => {
            words.next().is_some_and(|w| w.is("ya")) && words.next().is_some_and(|w| w.is("miaka"))
        }
        _ => false,
    };
    decades.then(|| SpokenForm::new(crate::cardinal(year % 100), number.end))?
}

/// "1990s", "'80s", "nyimbo za 90s", "90's".
fn english_decade(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let short = context.is_mark(i, '\'');
    let number = context.number(i + usize::from(short))?;
    let apostrophe = context.is_mark(number.end, '\'');
    let end = number.end + usize::from(apostrophe);
    context.get(end).filter(|w| w.text == "s")?;
    const OF_DECADES: &[&str] = &["miaka", "nyimbo", "muziki", "filamu", "mitindo", "enzi"];
    let of_decade = follows_connective(context, i)
        && (context.words_back(i).nth(1)).is_some_and(|w| w.is_one_of(OF_DECADES));
    let year = match number.plain()? {
        n @ 50..=90 if short || apostrophe || of_decade => 1900 + n,
        n => n,
    };
    if !(1900..2100).contains(&year) || year % 10 > 0 {
        return None;
    }
    let said = match year {
        1910..=1990 => crate::cardinal(year % 100),
        _ => crate::cardinal(year),
    };
    let mut words = context.words_back(i);
    let named =
        words.next().is_some_and(|w| w.is("ya")) && words.next().is_some_and(|w| w.is("miaka"));
    let name = if named { "" } else { "miaka ya " };
    SpokenForm::new(format!("{name}{said}"), end + 1)
}

/// The rugby of "Kenya 7s" and "Safari 7s".
fn sevens(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let name = context
        .before(i)
        .filter(|j| context.token(*j).is_capitalised())?;
    let known = context.is_word(name, &["kenya", "uganda", "safari", "dubai"]);
    let written = context.digits(i) == Some("7") && context.get(i + 1)?.text == "s";
    (written && (known || !context.starts_sentence(name)))
        .then(|| SpokenForm::new("Sevens", i + 2))?
}

/// Four digits after "mwaka" are a year's name and agree with nothing.
fn is_year(context: &TokenContext<'_>, i: usize, number: &Number<'_>) -> bool {
    number.plain().is_some_and(|n| (1000..3000).contains(&n))
        && context.follows(i, &["mwaka", "miaka", "na", "hadi", "mpaka"])
}

/// A cardinal, or for one and two their ordinal where the words before ask for it.
pub(crate) fn say_roman(value: u64, ordinal: bool) -> String {
    ordinal_name(value)
        .filter(|_| ordinal)
        .map_or_else(|| crate::cardinal(value), str::to_owned)
}
