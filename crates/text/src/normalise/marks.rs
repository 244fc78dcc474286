//! Marks that are said, kept or dropped.

use super::SpokenForm;
use super::calendar;
use super::context::TokenContext;
use super::dotted_time::DAY_PARTS;
use super::money::{self, is_currency};
use super::number::Number;
use super::numerals::list_is_ordinal;
use super::quantity::{is_minus_mark, say_roman};
use super::roman::roman_value;
use super::token::Kind;
use super::units;
use crate::cardinal::cardinal;
use crate::tables::WordList;

/// A mark this often in a row is decoration: what it is called is said once.
const DECORATION_MIN: usize = 3;

/// Any other mark: said by name, kept, or dropped.
pub(crate) fn mark(context: &TokenContext<'_>, i: usize, mark: char) -> SpokenForm {
    let mut reading = mark_said(context, i, mark);
    let is_said = reading.text.contains(char::is_alphabetic);
    if is_said && (i..i + DECORATION_MIN).all(|j| context.is_mark(j, mark)) {
        let run = (i..context.len()).take_while(|j| context.is_mark(*j, mark));
        reading.end = reading.end.max(i + run.count());
    }
    reading
}

fn mark_said(context: &TokenContext<'_>, i: usize, mark: char) -> SpokenForm {
    let one = |text: &str| SpokenForm::of(text, i + 1);
    match mark {
        '.' if context.is_abbreviation_dot(i) => one(" "),
        '.' if ends_file_name(context, i) => one(" nukta "),
        '.' if is_ugandan_class(context, i) => one(" "),
        '.' | ',' | '!' | '?' | ';' | ':' => punctuation(context, i),
        '&' => one("na"),
        '@' if prices(context, i) => one("kwa"),
        '@' if is_unit_price(context, i) => one(" kwa "),
        '@' => one("at "),
        '#' => hash(context, i),
        '*' if stands_alone(context, i) => one("nyota"),
        '*' if joins_fields(context, i) => one(" nyota "),
        '*' => one(""),
        '%' => one("asilimia"),
        '‰' => one(" kwa elfu"),
        '+' if context.is_word(i + 1, &["ve"]) => SpokenForm::of("chanya", i + 2),
        '-' if context.is_word(i + 1, &["ve"]) => SpokenForm::of("hasi", i + 2),
        '+' if adds_quantity(context, i) => one(" jumlisha "),
        '+' if context.kind_before(i) == Some(Kind::Word) => one("plasi"),
        '+' if context.kind_before(i) == Some(Kind::Digits) => one(" na zaidi"),
        '+' => one("jumlisha"),
        '=' => one("ni sawa na"),
        '×' => one("mara"),
        '÷' => one("gawanya kwa"),
        '√' => one("kipeo cha pili cha "),
        '²' => one(" kipeo cha pili"),
        '³' => one(" kipeo cha tatu"),
        '°' => one("digrii"),
        '$' => one("dola"),
        '€' => one("yuro"),
        '£' => one("pauni"),
        '§' => one("kifungu "),
        '>' if is_menu_step(context, i) => one("kisha"),
        '<' | '≤' | '>' | '≥' if limits_number(context, i) => one(match mark {
            '<' => "chini ya ",
            '≤' => "si zaidi ya ",
            '>' => "zaidi ya ",
            _ => "kuanzia ",
        }),
        '±' if context.digits(i + 1).is_some() => one("jumlisha au toa "),
        '~' | '≈' if context.figures_follow(i + 1) => one("takriban "),
        '/' => slash(context, i),
        '^' if context.kind_before(i) == Some(Kind::Digits) => power(context, i),
        '_' | '|' | '\\' | '^' | '~' | '`' | '<' | '>' | '≠' | '±' | '≤' | '≥' | '≈' | '¥'
        | '₹' | '₦' | 'µ' => one(" "),
        '-' | '−' if is_grade(context, i) => one(" minasi"),
        '-' | '–'
            if calendar::joins_days(context, i)
                || calendar::joins_dates(context, i)
                || joins_numerals(context, i)
                || joins_times(context, i) =>
        {
            days_range(context, i)
        }
        '-' | '–' if money::ends_range(context, i) => days_range(context, i),
        '-' | '–' if joins_quantities(context, i) => one(" hadi "),
        '-' | '–' if joins_measures(context, i) || joins_clauses(context, i) => {
            days_range(context, i)
        }
        '-' if joins_word_to_number(context, i) => one(" "),
        '—' | '–' => one(" – "),
        _ => SpokenForm::of(mark, i + 1),
    }
}

/// "10^6", "10^-3".
fn power(context: &TokenContext<'_>, i: usize) -> SpokenForm {
    let minus = usize::from(is_minus_mark(context, i + 1));
    let figures = context.digits(i + 1 + minus);
    let (said, end) = match figures.and_then(|figures| figures.parse().ok()) {
        Some(n) if minus == 1 => (format!(" kipeo cha hasi {}", cardinal(n)), i + 3),
        Some(n) => (format!(" kipeo cha {}", say_roman(n, true)), i + 2),
        None => return SpokenForm::of(" ", i + 1),
    };
    // "3×10^8 m/s".
    let unit = units::unit_at(context, context.skip_space(end)).filter(|unit| !unit.1.is_empty());
    match unit {
        Some((name, tail, end)) => SpokenForm::of(format!("{said} {name} {tail}"), end),
        None => SpokenForm::of(said, end),
    }
}

/// "1GB+100MB", "GD+45".
fn adds_quantity(context: &TokenContext<'_>, i: usize) -> bool {
    let word = i.checked_sub(1).and_then(|j| context.word(j));
    let counted = i > 1 && context.digits(i - 2).is_some();
    let named = word.is_some_and(|w| w.is_all_caps() || counted && w.text.len() > 1);
    // "4GB+ 400MB".
    let next = if counted {
        context.skip_space(i + 1)
    } else {
        i + 1
    };
    named && context.digits(next).is_some()
}

/// The star of "JINA*KAUNTI".
pub(super) fn joins_fields(context: &TokenContext<'_>, i: usize) -> bool {
    let capitals = |j: Option<usize>| {
        let word = j.and_then(|j| context.word(j));
        word.is_some_and(|w| w.text.bytes().all(|b| b.is_ascii_uppercase()))
    };
    capitals(i.checked_sub(1)) && capitals(Some(i + 1))
}

/// Words that may stand behind a grade or a blood group; "A- level" is none.
static AFTER_GRADE: WordList = WordList::named("after-grade");

/// The minus of "A- in Maths" and "AB- blood".
pub(super) fn is_grade(context: &TokenContext<'_>, i: usize) -> bool {
    let before = i.checked_sub(1).and_then(|j| context.word(j));
    let graded = before.is_some_and(|w| {
        let grades = ["A", "B", "C", "D", "O", "AB", "HIV", "VVU"];
        grades.contains(&w.text)
    });
    let next = context.skip_space(i + 1);
    graded
        && match context.kind(next) {
            Some(Kind::Word) => next > i + 1 && context.is_word(next, &AFTER_GRADE),
            Some(Kind::Mark(mark)) => matches!(mark, '.' | ',' | ';' | ')' | '?' | '!'),
            Some(Kind::Digits) => false,
            _ => true,
        }
}

/// "*334# > Mkopo > Omba", "chagua 4 > 6 > 1": what to choose next.
pub(super) fn is_menu_step(context: &TokenContext<'_>, i: usize) -> bool {
    const NEAR: usize = 24;
    let is_step = |j: usize| {
        context.is_mark(j, '>')
            && context.kind_before(j) == Some(Kind::Space)
            && context.kind(j + 1) == Some(Kind::Space)
    };
    let near = i.saturating_sub(NEAR)..i + NEAR;
    is_step(i) && near.filter(|j| is_step(*j)).count() > 1
}

/// "<50", ">50mm", but not "-> 5".
fn limits_number(context: &TokenContext<'_>, i: usize) -> bool {
    let before = context.before(i).and_then(|j| context.kind(j));
    let arrow = matches!(before, Some(Kind::Mark('-' | '=' | '#')));
    // "chini ya < 19" has said it already.
    let mut words = context.words_back(i);
    let named = words.next().is_some_and(|w| w.is("ya"))
        && words
            .next()
            .is_some_and(|w| w.is_one_of(&["chini", "zaidi"]));
    // "> Ksh 10,000".
    let next = context.skip_space(i + 1);
    let currency = context.word(next).is_some_and(|w| is_currency(w.text));
    !arrow && !named && (currency || context.digits(next).is_some())
}

/// "5 @ 20/=", "@650", but not "@20juma".
fn prices(context: &TokenContext<'_>, i: usize) -> bool {
    let next = context.skip_space(i + 1);
    let currency = context.word(next).is_some_and(|w| is_currency(w.text));
    let number = context.number(next);
    let amount = number.is_some_and(|n| {
        let handle = matches!(context.kind(n.end), Some(Kind::Word | Kind::Mark('_')));
        next > i + 1 || n.grouped || n.fraction.is_some() || !handle
    });
    matches!(context.kind_before(i), None | Some(Kind::Space)) && (currency || amount)
}

/// "2@65".
fn is_unit_price(context: &TokenContext<'_>, i: usize) -> bool {
    let number = context.digits(i + 1).and_then(|_| context.number(i + 1));
    let ends = number.is_some_and(|n| {
        !matches!(
            context.kind(n.end),
            Some(Kind::Word | Kind::Mark('.' | '_'))
        )
    });
    context.kind_before(i) == Some(Kind::Digits) && ends
}

/// "saa 3 asubuhi - saa 11 jioni", "3:00 asb - 6:30 mchana".
fn joins_times(context: &TokenContext<'_>, i: usize) -> bool {
    let part = context.word_before(i);
    let part =
        part.is_some_and(|word| word.is_one_of(&DAY_PARTS) || word.is_one_of(&["asb", "asbh"]));
    let next = context.skip_space(i + 1);
    let timed = context.digits(next).is_some() && context.is_mark(next + 1, ':');
    part && (timed || context.is_word(next, &["saa"]))
}

/// "Form I - IV".
fn joins_numerals(context: &TokenContext<'_>, i: usize) -> bool {
    let next = context.skip_space(i + 1);
    let numeral = context.word(next).filter(|w| w.text.len() > 1);
    numeral.is_some_and(|w| roman_value(w.text).is_some())
        && list_is_ordinal(context, next).is_some()
}

/// "Jumatatu-Ijumaa", "Januari - Machi".
fn days_range(context: &TokenContext<'_>, i: usize) -> SpokenForm {
    let spaced = context.kind_before(i) == Some(Kind::Space);
    let text = if spaced { "hadi " } else { " hadi " };
    SpokenForm::of(text, context.skip_space(i + 1))
}

/// "450k-600k", "5kg-10kg".
fn joins_quantities(context: &TokenContext<'_>, i: usize) -> bool {
    joins_word_to_number(context, i)
        && context.token(i - 1).text.len() <= 2
        && context.kind_before(i - 1) == Some(Kind::Digits)
}

/// "14°C - 25°C", "5kg - 10kg": the same unit behind both numbers.
pub(super) fn joins_measures(context: &TokenContext<'_>, i: usize) -> bool {
    let unit = |j: usize| match context.kind(j)? {
        Kind::Mark(mark @ ('°' | '%')) => Some((mark, context.word(j + 1).map(|w| w.text))),
        Kind::Word => Some((' ', context.word(j).map(|w| w.text))),
        _ => None,
    };
    let last = context.before(i);
    let degree = last.filter(|j| *j > 1 && context.is_mark(*j - 1, '°'));
    let low = degree
        .map(|j| j - 1)
        .or(last)
        .and_then(|j| Some((unit(j)?, j)));
    let high = context.number(context.skip_space(i + 1));
    let glued = |j: usize| j > 0 && context.kind(j - 1) == Some(Kind::Digits);
    let short = |unit: (char, Option<&str>)| unit.1.is_none_or(|name| name.len() <= 4);
    low.zip(high)
        .is_some_and(|((low, j), high)| glued(j) && short(low) && unit(high.end) == Some(low))
}

/// "5(1)(a)-(c)".
fn joins_clauses(context: &TokenContext<'_>, i: usize) -> bool {
    let one_letter = |j: usize| context.word(j).is_some_and(|w| w.text.len() == 1);
    let brackets = context.kind_before(i) == Some(Kind::Mark(')')) && context.is_mark(i + 1, '(');
    brackets && i > 1 && one_letter(i - 2) && one_letter(i + 2) && context.is_mark(i + 3, ')')
}

/// COVID-19, Chuo-2.
fn joins_word_to_number(context: &TokenContext<'_>, i: usize) -> bool {
    context.kind_before(i) == Some(Kind::Word) && context.digits(i + 1).is_some()
}

fn stands_alone(context: &TokenContext<'_>, i: usize) -> bool {
    let open = |kind: Option<Kind>| !matches!(kind, Some(Kind::Word | Kind::Digits));
    open(context.kind_before(i)) && open(context.kind(i + 1))
}

/// The key on a telephone when alone, "namba" before a number, nothing before a tag.
fn hash(context: &TokenContext<'_>, i: usize) -> SpokenForm {
    let text = match (context.kind_before(i), context.kind(i + 1)) {
        (_, Some(Kind::Word)) => "",
        (None | Some(Kind::Space), Some(Kind::Digits)) => "namba ",
        (Some(Kind::Word), Some(Kind::Digits)) => " namba ",
        _ => "reli",
    };
    SpokenForm::of(text, i + 1)
}

/// Between words it offers a choice.
fn slash(context: &TokenContext<'_>, i: usize) -> SpokenForm {
    // "Ksh 150/kg".
    let multiplied =
        i > 1 && context.is_word(i - 1, &["k", "m", "b", "bn"]) && context.digits(i - 2).is_some();
    let after_amount =
        multiplied || matches!(context.kind_before(i), Some(Kind::Digits | Kind::Mark('%')));
    if let Some((name, end)) = units::divisor_at(context, i).filter(|_| after_amount) {
        return SpokenForm::of(format!("kwa {name}"), end);
    }
    // "Sh20/ndoo".
    if context.word(i + 1).is_some() && money::ends_at(context, i) {
        return SpokenForm::of(" kwa ", i + 1);
    }
    // "7.5/10", "3.5/5.0", "46,229/46,229".
    if is_mark_out_of(context, i) {
        return SpokenForm::of("kati ya ", i + 1);
    }
    if is_long_mark_out_of(context, i) {
        return SpokenForm::of(" kati ya ", i + 1);
    }
    // "250mg/5ml".
    let after_word = context.kind_before(i) == Some(Kind::Word);
    let unit_before = after_word && context.kind_before(i - 1) == Some(Kind::Digits);
    if unit_before && context.digits(i + 1).is_some() && context.token(i - 1).text != "G" {
        // The memories of "128GB/6GB".
        let both = context.is_word(i - 1, &["gb"]) && context.is_word(i + 2, &["gb"]);
        return SpokenForm::of(if both { " na " } else { " kwa " }, i + 1);
    }
    // "28°C/17°C", "28°/17°".
    let degrees = i > 1 && (context.is_mark(i - 2, '°') || context.is_mark(i - 1, '°'));
    if degrees && context.digits(i + 1).is_some() {
        return SpokenForm::of(" na ", i + 1);
    }
    if let Some(reading) = per_unit(context, i) {
        return reading;
    }
    let networks = after_word && context.token(i - 1).text == "G";
    let between_words = after_word && (networks || context.word(i + 1).is_some())
        || calendar::joins_days(context, i);
    let choice_said = context.is_word(i + 1, &["au", "ama"]);
    let offers = between_words && !choice_said;
    SpokenForm::of(if offers { " au " } else { " " }, i + 1)
}

/// "50 copies/ml", "350 cells/mm3", "Bei (TSh/kg)".
fn per_unit(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let word = i.checked_sub(1).and_then(|j| context.word(j))?;
    let counted = context.follows_figures(i - 1);
    let (name, end) = units::divisor_at(context, i)?;
    let ends = !matches!(
        context.kind(end),
        Some(Kind::Word | Kind::Digits | Kind::Mark('/'))
    );
    (ends && (counted || is_currency(word.text)))
        .then(|| SpokenForm::of(format!(" kwa {name}"), end))
}

/// The dot of "P.7" and "S.4".
pub(super) fn is_ugandan_class(context: &TokenContext<'_>, i: usize) -> bool {
    let level = i.checked_sub(1).and_then(|j| context.word(j));
    let year = context.digits(i + 1).filter(|year| year.len() == 1);
    let glued = i > 1 && context.kind(i - 2) == Some(Kind::Mark('.'));
    let goes_on = matches!(context.kind(i + 2), Some(Kind::Word | Kind::Mark('.')))
        && context.kind(i + 3) != Some(Kind::Space);
    level.is_some_and(|w| matches!(w.text, "P" | "S")) && year.is_some() && !glued && !goes_on
}

/// The dot of "ripoti.pdf".
fn ends_file_name(context: &TokenContext<'_>, i: usize) -> bool {
    const ENDINGS: &[&str] = &[
        "pdf", "doc", "docx", "xls", "xlsx", "csv", "txt", "jpg", "png", "zip",
    ];
    context.kind_before(i) == Some(Kind::Word)
        && context
            .word(i + 1)
            .is_some_and(|w| ENDINGS.contains(&w.text))
}

/// The slash of "7.5/10".
pub(super) fn is_mark_out_of(context: &TokenContext<'_>, i: usize) -> bool {
    let decimal =
        i > 2 && context.is_mark(i - 2, '.') && context.kind_before(i - 3) != Some(Kind::Mark('.'));
    let whole = |j: usize| context.digits(j)?.parse::<u64>().ok();
    let below = || Some(whole(i - 3)? < whole(i + 1).filter(|n| *n <= 100)?);
    let goes_on = matches!(context.kind(i + 2), Some(Kind::Mark('.' | ',' | '/')))
        && context.digits(i + 3).is_some();
    decimal && whole(i - 1).is_some() && below() == Some(true) && !goes_on
}

/// The slash of "3.5/5.0" and "46,229/46,229": both numbers go on over a point or a comma, and the second is as large.
fn is_long_mark_out_of(context: &TokenContext<'_>, i: usize) -> bool {
    let high = context
        .number(i + 1)
        .filter(|n| n.grouped || n.fraction.is_some());
    let low = (i.saturating_sub(6)..i)
        .filter(|j| !matches!(context.kind_before(*j), Some(Kind::Mark('.' | ',' | '/'))))
        .filter_map(|j| context.number(j).filter(|n| n.end == i && j + 1 < i))
        .next();
    let goes_on = |end: usize| matches!(context.kind(end), Some(Kind::Mark('/' | '%')));
    let size = |n: &Number<'_>| (n.whole.len(), n.whole.clone());
    low.zip(high).is_some_and(|(low, high)| {
        low.grouped == high.grouped && size(&low) <= size(&high) && !goes_on(high.end)
    })
}

/// Runs of marks say no more than one of each; dots keep their meaning of a trailing thought.
fn punctuation(context: &TokenContext<'_>, i: usize) -> SpokenForm {
    let mut kept: Vec<char> = Vec::new();
    let mut dots = 0;
    let mut end = i;
    while let Some(Kind::Mark(mark @ ('.' | ',' | '!' | '?' | ';' | ':'))) = context.kind(end) {
        dots += usize::from(mark == '.');
        if !kept.contains(&mark) {
            kept.push(mark);
        }
        end += 1;
    }
    let mut text: String = match kept.as_slice() {
        ['.'] if dots > 1 => "...".to_owned(),
        // The first mark and a question are what the voice needs.
        [only] => only.to_string(),
        several => several.iter().filter(|c| matches!(c, '?' | '!')).collect(),
    };
    if text.is_empty() {
        text = kept.first().map_or(String::new(), char::to_string);
    }
    let glued = matches!(context.kind(end), Some(Kind::Word | Kind::Digits));
    if glued && end > i && i > 0 && context.kind(i - 1) != Some(Kind::Space) {
        text.push(' ');
    }
    SpokenForm { text, end }
}
