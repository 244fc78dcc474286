//! Words that are not said as they are written: abbreviations, acronyms, single letters, stretched words.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::SpokenForm;
use super::alphanumeric;
use super::context::TokenContext;
use super::doses::DOSES;
use super::numerals;
use super::quantity::dash_after;
use super::roman::roman_value;
use super::token::{Kind, Token};
use crate::cardinal::digits;
use crate::letters::{letter_name, spell};
use crate::shape::is_swahili_shaped;
use crate::tables::{WordList, WordTable, rows};

/// For each that is written: what may be said for it, a tab, when.
static ABBREVIATIONS: LazyLock<HashMap<&str, Vec<&str>>> = LazyLock::new(|| {
    let mut readings: HashMap<&str, Vec<&str>> = HashMap::new();
    for (written, reading) in rows(include_str!("../../data/abbreviations.tsv")) {
        readings.entry(written).or_default().push(reading);
    }
    readings
});

/// What the names of medicines end in.
static MEDICINES: WordList = WordList::named("medicines");

pub(super) static SHORT_WORDS: WordTable =
    WordTable::new(|| rows(include_str!("../../data/short-words.tsv")).collect());

static INITIALISMS: WordTable =
    WordTable::new(|| rows(include_str!("../../data/initialisms.tsv")).collect());

pub(super) static ACRONYMS: WordTable =
    WordTable::new(|| rows(include_str!("../../data/acronyms.tsv")).collect());

/// Abbreviations whose dots belong to them: n.k., S.L.P., J.K. Nyerere, Dk.
pub(crate) fn dotted(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let word = context.word(i)?;
    if matches!(
        context.kind_before(i),
        Some(Kind::Word | Kind::Digits | Kind::Mark('\'' | '-'))
    ) {
        return None;
    }
    if let Some(reading) = post_box(context, i) {
        return Some(reading);
    }
    if word.text.len() <= 2
        && let Some(reading) = initials(context, i)
    {
        return Some(reading);
    }
    abbreviation(context, i)
}

/// Letters with dots between, at least two of them; the joined letters and the token after the last dot.
pub(super) fn initial_letters(context: &TokenContext<'_>, i: usize) -> Option<(String, usize)> {
    const LETTERS_MAX: usize = 8;
    let mut letters = String::new();
    let mut end = i;
    while letters.len() < LETTERS_MAX
        && let Some(word) = context.word(end).filter(|w| w.text.len() <= 2)
        && context.is_mark(end + 1, '.')
    {
        letters.push_str(word.text);
        end += 2;
    }
    // "n.k" and "U.S.A" without the last dot.
    if end > i
        && let Some(word) = context.word(end).filter(|w| w.text.len() == 1)
    {
        letters.push_str(word.text);
        end += 1;
    }
    (letters.len() > 1 && end > i + 2).then_some((letters, end))
}

fn initials(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    if let Some((letters, end)) = initial_letters(context, i) {
        let listed = INITIALISMS.get(letters.to_ascii_lowercase().as_str());
        // "P.M. Mwanyika" is a name.
        let pious = letters != "RA" || i > 0 && context.is_mark(i - 1, '(');
        if let Some(said) = listed.filter(|_| letters != "PM" && pious) {
            return SpokenForm::new(format!("{said}{}", sentence_stop(context, end)), end);
        }
        let capitals = letters.bytes().all(|b| b.is_ascii_uppercase());
        return capitals.then(|| SpokenForm::new(spell(&letters), end))?;
    }
    is_initial(context, i).then(|| SpokenForm::new(spell(context.token(i).text), i + 2))?
}

/// "J. Nyerere", "J. K. Nyerere".
pub(super) fn is_initial(context: &TokenContext<'_>, i: usize) -> bool {
    let is_letter = |j: usize| {
        let word = context.word(j).filter(|w| w.text.len() == 1);
        word.is_some_and(Token::is_capitalised) && context.is_mark(j + 1, '.')
    };
    let next = context.skip_space(i + 2);
    let name = context.word(next).filter(|w| w.text.len() > 1);
    let versus = context.get(next).is_some_and(|t| t.text == "v") && context.is_mark(next + 1, '.');
    is_letter(i) && (name.is_some_and(Token::is_capitalised) || is_letter(next) || versus)
}

/// The last dot of an abbreviation also ends the sentence when a new one begins after it.
pub(super) fn sentence_stop(context: &TokenContext<'_>, end: usize) -> &'static str {
    let next = context.skip_space(end);
    let new_sentence = next > end && context.is_capitalised(next);
    if new_sentence && context.is_mark(end - 1, '.') {
        "."
    } else {
        ""
    }
}

/// S.L.P. 9100, SLP 9100, P.O. Box 9100: the number is read digit by digit.
fn post_box(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let word = context.token(i);
    let end = match initial_letters(context, i) {
        Some((letters, end)) if letters.eq_ignore_ascii_case("slp") => end,
        Some((letters, end)) if letters.eq_ignore_ascii_case("po") => {
            let next = context.skip_space(end);
            context
                .word(next)
                .filter(|w| w.is("box"))
                .map(|_| next + 1)?
        }
        None if word.text == "SLP" => i + 1,
        None if is_initial(context, i) && word.text == "P" => spaced_box(context, i + 2)?,
        None if is_initial(context, i) && word.text == "S" => spaced_slp(context, i + 2)?,
        _ => return None,
    };
    let number = context.skip_space(end);
    match context.digits(number) {
        Some(figures) => {
            // "30197-00100": the box, and the code of its town.
            let town = dash_after(context, number + 1)
                .and_then(|j| Some((format!(", {}", digits(context.digits(j)?)), j + 1)));
            let (town, end) = town.unwrap_or((String::new(), number + 1));
            SpokenForm::new(format!("sanduku la posta {}{town}", digits(figures)), end)
        }
        None => SpokenForm::new("sanduku la posta", end),
    }
}

/// The token after "O. Box" of "P. O. Box".
fn spaced_box(context: &TokenContext<'_>, i: usize) -> Option<usize> {
    let at = context.skip_space(i);
    let named = context.skip_space(at + 2);
    let written = context.is_word(at, &["o"]) && context.is_mark(at + 1, '.');
    (written && context.is_word(named, &["box"])).then_some(named + 1)
}

/// The token after "L. P." of "S. L. P. 9083".
fn spaced_slp(context: &TokenContext<'_>, i: usize) -> Option<usize> {
    let second = context.skip_space(i);
    let third = context.skip_space(second + 2);
    let letter = |j, letter| context.is_word(j, &[letter]) && context.is_mark(j + 1, '.');
    (letter(second, "l") && letter(third, "p")).then_some(third + 2)
}

fn abbreviation(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let word = context.word(i)?;
    let class_name = word.is_one_of(&["std", "div"]);
    if word.text.len() > 9 || (word.is_all_caps() && !class_name && !context.is_mark(i + 1, '.')) {
        return None;
    }
    let lower = word.text.to_ascii_lowercase();
    // "ID No: 123".
    let label = matches!(word.text, "No" | "Na" | "Mtr" | "Amt");
    let colon = label && context.is_mark(i + 1, ':');
    let dot = context.is_mark(i + 1, '.') && !context.is_mark(i + 2, '.') || colon;
    let after = i + 1 + usize::from(dot);
    let next = context.skip_space(after);
    let class = |w: &Token<'_>| class_name && roman_value(w.text).is_some();
    // "Kumb. Na. FT26318XK2", "Leseni Na. B-2345", "Hati Na. CT 12345", "dk ya 45".
    let capitals = |w: &Token<'_>| w.is_all_caps() || w.text.len() == 1 && w.is_capitalised();
    let code = |w: &Token<'_>| {
        let numbered = context.figures_follow(next + 1);
        capitals(w) && (numbered || alphanumeric::read(context, next).is_some())
    };
    // "uk. iii".
    let numeral = |w: &Token<'_>| w.text.len() > 1 && numerals::small_value(w).is_some();
    let minute =
        lower == "dk" && context.is_word(next, &["ya"]) && context.figures_follow(next + 1);
    let number_follows = context.digits(next).is_some()
        || minute
        || context
            .word(next)
            .is_some_and(|w| class(w) || dot && (code(w) || numeral(w)));
    let inside = word.text == "Na" && !context.starts_sentence(i);
    // "Amoxicillin cap. 500mg".
    let capsule = lower == "cap" && (!word.is_capitalised() || context.word(next + 1).is_some());
    let dotted = dot && follows_within(context, after);
    let applies = |when: &str| match when {
        "dot" => dotted,
        "number" => number_follows,
        "dot, number" => number_follows && (dot || inside) && !capsule,
        "medicine" => is_medicine(context, next),
        "always" => true,
        // Without its dot it must not be mistaken for a word.
        _ => dot || word.is_capitalised() && context.is_capitalised(context.skip_space(i + 1)),
    };
    let readings = ABBREVIATIONS.get(lower.as_str())?.iter();
    let (said, when) = readings
        .filter_map(|reading| reading.split_once('\t'))
        .find(|(_, when)| applies(when))?;
    // A number's word stays small in the middle of a sentence: "Sheria Na. 4".
    let numbers = when.contains("number");
    let capital = word.is_capitalised() && (!numbers || context.starts_sentence(i));
    let text = if capital {
        capitalised(said)
    } else {
        said.to_owned()
    };
    let stop = if dot && said.contains("kadhalika") {
        sentence_stop(context, after)
    } else {
        ""
    };
    SpokenForm::new(text + stop, after)
}

/// "Gentamicin", "Panadol 500mg": a medicine by its name or by the dose behind it.
fn is_medicine(context: &TokenContext<'_>, i: usize) -> bool {
    let Some(word) = context.word(i) else {
        return false;
    };
    let name = word.text.to_ascii_lowercase();
    let number = context.number(context.skip_space(i + 1));
    let dose = number.map(|number| context.skip_space(number.end));
    MEDICINES.iter().any(|ending| name.ends_with(ending))
        || dose.is_some_and(|unit| context.is_word(unit, &DOSES))
}

/// An abbreviation's dot has text after it in the line, unless the abbreviation stands alone.
fn follows_within(context: &TokenContext<'_>, after: usize) -> bool {
    after >= context.len() || context.get(context.skip_space(after)).is_some()
}

fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| {
        first.to_uppercase().chain(chars).collect()
    })
}

pub(crate) fn read(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let word = context.word(i)?;
    account(context, i, word)
        .or_else(|| short_word(i, word))
        .or_else(|| SpokenForm::new("dhidi ya", versus_end(context, i)?))
        .or_else(|| road(context, i))
        .or_else(|| joined(context, i))
        .or_else(|| numero(context, i))
        .or_else(|| era(context, i, word))
        .or_else(|| numerals::read(context, i))
        .or_else(|| numerals::small(context, i))
        .or_else(|| acronym(context, i, word))
        .or_else(|| single_letter(context, i, word))
        .or_else(|| tag(context, i, word))
        .or_else(|| stretched(word).and_then(|text| SpokenForm::new(text, i + 1)))
}

/// "Jmosi", "asb"; three capitals are an acronym.
fn short_word(i: usize, word: &Token<'_>) -> Option<SpokenForm> {
    let said = SHORT_WORDS.get(word.text.to_ascii_lowercase().as_str())?;
    let acronym = word.is_all_caps() && word.text.len() <= 3;
    (!acronym).then(|| SpokenForm::new(*said, i + 1))?
}

/// The token after the "v" of "Gor Mahia v AFC Leopards", "Jamhuri v. Otieno" and "R. v. Otieno".
pub(super) fn versus_end(context: &TokenContext<'_>, i: usize) -> Option<usize> {
    let end = i + 1 + usize::from(context.is_mark(i + 1, '.'));
    let next = context.skip_space(end);
    let before = context.before(i)?;
    let initial = usize::from(before > 0 && context.is_mark(before, '.') && end > i + 1);
    let name_before = context.is_capitalised(before - initial);
    let name_after = context.is_capitalised(next);
    let apart = context.kind_before(i) == Some(Kind::Space) && next > end;
    (context.token(i).text == "v" && apart && name_before && name_after).then_some(end)
}

/// "Thika Rd": roads keep their English names.
fn road(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let named = context.word_before(i).is_some_and(Token::is_capitalised);
    let next = context.word(context.skip_space(i + 2));
    let goes_on = next.is_some_and(|w| !w.is_capitalised());
    let dot = usize::from(context.is_mark(i + 1, '.') && goes_on);
    (named && context.token(i).text == "Rd").then(|| SpokenForm::new("Road", i + 1 + dot))?
}

/// "A/C No. 123", "Acc 123".
fn account(context: &TokenContext<'_>, i: usize, word: &Token<'_>) -> Option<SpokenForm> {
    let slashed = word.is("a") && context.is_mark(i + 1, '/') && context.is_word(i + 2, &["c"]);
    let end = if slashed { i + 3 } else { i + 1 };
    let dot = usize::from(context.is_mark(end, '.'));
    let next = context.get(context.skip_space(end + dot));
    let numbered = next.is_some_and(|next| {
        next.kind == Kind::Digits || next.is_one_of(&["no", "na", "namba", "nambari", "number"])
    });
    let said = if word.is_capitalised() {
        "Akaunti"
    } else {
        "akaunti"
    };
    let short = word.is_one_of(&["acc", "acct"]) && numbered;
    match (slashed, short) {
        (true, _) => SpokenForm::new(said, end + if numbered { dot } else { 0 }),
        (_, true) => SpokenForm::new(said, end + dot),
        _ => None,
    }
}

/// Names that are one word in spite of their hyphen, and "M/kiti", "S/M Mbezi", "12k p/m", "S/No. 5".
fn joined(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let Kind::Mark(mark @ ('-' | '/')) = context.kind(i + 1)? else {
        return None;
    };
    let (first, second) = (context.word(i)?, context.word(i + 2)?);
    let written = format!("{}{mark}{}", first.text, second.text).to_ascii_lowercase();
    if let Some(said) = SHORT_WORDS.get(written.as_str()) {
        let dot = usize::from(*said == "namba" && context.is_mark(i + 3, '.'));
        return SpokenForm::new(*said, i + 3 + dot);
    }
    // "Darasa la I-VII".
    let numerals = roman_value(first.text).and(roman_value(second.text));
    let letter = first.text.len() == 1 && first.is_capitalised() && mark == '-';
    (letter && numerals.is_none())
        .then(|| SpokenForm::new(format!("{} {}", spell(first.text), second.text), i + 3))?
}

/// "Loi N° 7", "n°12".
fn numero(context: &TokenContext<'_>, i: usize) -> Option<SpokenForm> {
    let number = context.figures_follow(i + 2);
    let written = context.is_word(i, &["n"]) && context.is_mark(i + 1, '°');
    (written && number).then(|| SpokenForm::new("namba ", i + 2))?
}

/// Before and after Christ, behind a year.
fn era(context: &TokenContext<'_>, i: usize, word: &Token<'_>) -> Option<SpokenForm> {
    let said = match word.text {
        "BK" | "AD" | "CE" => "baada ya Kristo",
        "KK" | "BC" | "BCE" => "kabla ya Kristo",
        _ => return None,
    };
    let after_number = context
        .before(i)
        .is_some_and(|j| context.kind(j) == Some(Kind::Digits));
    after_number.then(|| SpokenForm::new(said, i + 1))?
}

fn vowels(text: &str) -> usize {
    text.bytes()
        .filter(|b| matches!(b.to_ascii_lowercase(), b'a' | b'e' | b'i' | b'o' | b'u'))
        .count()
}

/// Short words that are often written in capitals and are words all the same.
static CAPITAL_WORDS: WordList = WordList::named("capital-words");

/// All capitals: a word said as a word, or letters said one by one.
fn acronym(context: &TokenContext<'_>, i: usize, word: &Token<'_>) -> Option<SpokenForm> {
    // "Mtume (SAW)", "Allah SWT".
    let bracketed = i > 0 && context.is_mark(i - 1, '(') && context.is_mark(i + 1, ')');
    let holy = bracketed || context.follows(i, &["allah", "mungu", "mola", "muhammad", "mtume"]);
    if matches!(word.text, "SAW" | "SWT") && holy {
        let said = INITIALISMS.get(word.text.to_ascii_lowercase().as_str())?;
        return SpokenForm::new(*said, i + 1);
    }
    // "ATMs", "NGOs".
    if let Some(stem) = word.text.strip_suffix('s')
        && ACRONYMS.get(stem) == Some(&"-")
    {
        return SpokenForm::new(format!("{}s", spell(stem)), i + 1);
    }
    if !word.is_all_caps() || word.text.contains('\'') {
        return None;
    }
    let said = match ACRONYMS.get(word.text) {
        Some(&"-") => spell(word.text),
        Some(said) if !context.shouting || !is_swahili_shaped(&word.text.to_ascii_lowercase()) => {
            (*said).to_owned()
        }
        Some(_) => return None,
        None if is_spelled(context, i, word) => spell(word.text),
        None => return stretched(word).and_then(|text| SpokenForm::new(text, i + 1)),
    };
    SpokenForm::new(said, i + 1)
}

fn is_spelled(context: &TokenContext<'_>, i: usize, word: &Token<'_>) -> bool {
    const SPELLED_MAX: usize = 5;
    let lower = word.text.to_ascii_lowercase();
    if vowels(&lower) == 0 {
        return lower.len() <= SPELLED_MAX;
    }
    if lower.len() > SPELLED_MAX
        || CAPITAL_WORDS.contains(&lower.as_str())
        || context.shouting
        || beside_capitals(context, i)
    {
        return false;
    }
    match lower.len() {
        2 | 3 => true,
        4 => !is_swahili_shaped(&lower),
        _ => vowels(&lower) < 2,
    }
}

/// A name in capitals, as mobile-money messages have them: "JOHN DOE".
pub(super) fn beside_capitals(context: &TokenContext<'_>, i: usize) -> bool {
    let is_plain_caps = |token: Option<&Token<'_>>| {
        token.is_some_and(|t| {
            t.is_all_caps() && vowels(t.text) > 0 && !ACRONYMS.contains_key(t.text)
        })
    };
    // "JANE W. KAMAU": the other name stands behind the initial.
    let initial = |j: &usize| context.word(*j).is_some_and(|w| w.text.len() == 1);
    let mut before = context.before(i);
    if let Some(j) = before.map(|j| j - usize::from(j > 0 && context.is_mark(j, '.')))
        && initial(&j)
    {
        before = context.before(j);
    }
    let mut after = context.skip_space(i + 1);
    if initial(&after) {
        after = context.skip_space(after + 1 + usize::from(context.is_mark(after + 1, '.')));
    }
    is_plain_caps(before.and_then(|j| context.word(j))) || is_plain_caps(context.word(after))
}

/// "kundi A", "vitamini C", "kifungu cha 10(b)".
fn single_letter(context: &TokenContext<'_>, i: usize, word: &Token<'_>) -> Option<SpokenForm> {
    let letter = word.text.chars().next().filter(|_| word.text.len() == 1)?;
    let listed = i > 1
        && context.is_mark(i - 1, '(')
        && context.is_mark(i + 1, ')')
        && context.word(i - 2).is_none()
        && vowels(word.text) == 0;
    if !letter.is_ascii_uppercase() && !listed {
        return None;
    }
    let glued = |j: Option<usize>| {
        j.is_some_and(|j| matches!(context.kind(j), Some(Kind::Mark('\'') | Kind::Word)))
    };
    if glued(i.checked_sub(1)) || glued(Some(i + 1)) {
        return None;
    }
    SpokenForm::new(letter_name(letter.to_ascii_uppercase())?, i + 1)
}

/// #UgandaDecides: the words of a tag are told apart by their capitals.
pub(super) fn tag(context: &TokenContext<'_>, i: usize, word: &Token<'_>) -> Option<SpokenForm> {
    if i == 0 || !matches!(context.kind(i - 1), Some(Kind::Mark('#' | '@'))) {
        return None;
    }
    let mut text = String::with_capacity(word.text.len() + 4);
    let mut small_before = false;
    for c in word.text.chars() {
        if c.is_ascii_uppercase() && small_before {
            text.push(' ');
        }
        small_before = c.is_ascii_lowercase();
        text.push(c);
    }
    SpokenForm::new(text, i + 1)
}

/// Words whose doubled vowel is their own; stretched, they go back to it.
static DOUBLED: WordList = WordList::named("doubled");

/// "hapanaaaa": a letter three times and more in a row is said once.
fn stretched(word: &Token<'_>) -> Option<String> {
    let runs = longest_run(word.text);
    if runs < 3 || (word.is_all_caps() && word.text.len() <= 4) || word.is("www") {
        return None;
    }
    let twice = squeezed(word.text, 2);
    if DOUBLED.contains(&twice.to_ascii_lowercase().as_str()) {
        return Some(twice);
    }
    Some(squeezed(word.text, 1))
}

fn longest_run(text: &str) -> usize {
    let (mut longest, mut run, mut last) = (0, 0, None);
    for c in text.chars().map(|c| c.to_ascii_lowercase()) {
        run = if last == Some(c) { run + 1 } else { 1 };
        last = Some(c);
        longest = longest.max(run);
    }
    longest
}

/// Runs of three and more cut to `keep` letters.
fn squeezed(text: &str, keep: usize) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut out = String::with_capacity(text.len());
    for run in chars.chunk_by(|a, b| a.eq_ignore_ascii_case(b)) {
        let kept = if run.len() >= 3 { keep } else { run.len() };
        out.extend(&run[..kept]);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_abbreviation_says_when_it_is_one() {
        let known = ["dot", "number", "dot, number", "medicine", "any", "always"];
        for (written, readings) in ABBREVIATIONS.iter() {
            for reading in readings {
                let when = reading.split_once('\t').map(|(_, when)| when);
                assert!(when.is_some_and(|when| known.contains(&when)), "{written}");
            }
        }
    }
}
