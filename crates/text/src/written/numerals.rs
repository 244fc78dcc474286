//! Spoken numbers to digits. Small numbers stay words unless something beside them asks for digits, and times of day
//! stay as they were said.

use std::ops::Range;

use crate::cardinal::{GROUPS, TENS, UNITS};

/// A written word, and the spoken words it stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    pub text: String,
    pub words: Range<usize>,
}

/// Below this a number alone stays a word.
pub(super) const DIGITS_FROM: u64 = 10;
/// From here on thousands are set apart by commas.
pub(super) const COMMAS_FROM: u64 = 10_000;

/// So many digits said one after the other make a code or a telephone number.
pub(super) fn code_digits_min(text: &str) -> usize {
    if text.starts_with('0') { 2 } else { 3 }
}

/// Spoken numbers as digits; every other word as it stands.
pub fn digits(words: &[&str]) -> Vec<Written> {
    let lower: Vec<String> = words.iter().map(|word| word.to_lowercase()).collect();
    let lower: Vec<&str> = lower.iter().map(String::as_str).collect();
    let mut out = Vec::with_capacity(words.len());
    let mut at = 0;
    while at < words.len() {
        let before = at.checked_sub(1).map(|i| lower[i]);
        if before == Some("saa") {
            let end = time_end(&lower, at);
            out.extend((at..end).map(|i| as_said(words, i)));
            at = end;
        }
        if at >= words.len() {
            break;
        }
        let written = code(&lower, at)
            .or_else(|| quantity(&lower, at, before))
            .unwrap_or_else(|| as_said(words, at));
        at = written.words.end;
        out.push(written);
    }
    out
}

/// The number that these words say, all of them.
pub fn number(words: &[&str]) -> Option<u64> {
    whole(words, 0)
        .filter(|(_, end)| *end == words.len())
        .map(|(n, _)| n)
}

pub(super) fn as_said(words: &[&str], i: usize) -> Written {
    Written {
        text: words[i].to_owned(),
        words: i..i + 1,
    }
}

/// Past the words of a time: "saa mbili na nusu", "saa tatu na dakika kumi".
fn time_end(words: &[&str], at: usize) -> usize {
    let mut end = whole(words, at).map_or(at, |(_, end)| end);
    let follows = |end: usize, first: &str| words.get(end) == Some(&first);
    if follows(end, "na") && (follows(end + 1, "nusu") || follows(end + 1, "robo")) {
        end += 2;
    } else if (follows(end, "na") || follows(end, "kasoro")) && follows(end + 1, "dakika") {
        end = whole(words, end + 2).map_or(end + 2, |(_, end)| end);
    }
    end.min(words.len())
}

/// Digits said one by one.
fn code(words: &[&str], at: usize) -> Option<Written> {
    let text = figures(&words[at..], plain_digit);
    let words = at..at + text.len();
    (text.len() >= code_digits_min(&text)).then_some(Written { text, words })
}

fn plain_digit(word: &str) -> Option<u8> {
    let digit = UNITS.iter().position(|unit| *unit == word);
    digit.map(|digit| digit as u8)
}

/// After these every number is written in digits.
const NUMBERED: [&str; 7] = [
    "asilimia", "tarehe", "namba", "nambari", "ukurasa", "kidato", "darasa",
];
const CURRENCIES: [&str; 7] = [
    "shilingi", "dola", "yuro", "euro", "pauni", "faranga", "randi",
];

fn quantity(words: &[&str], at: usize, before: Option<&str>) -> Option<Written> {
    let (value, end) = whole(words, at)?;
    if ends_in_part(words, end) {
        return None;
    }
    if let Some((fraction, end)) = decimals(words, end) {
        let (head, value) = large_head(words, at, value);
        let text = format!("{head}{value}.{fraction}");
        return Some(Written {
            text,
            words: at..end,
        });
    }
    let money = before.is_some_and(|word| CURRENCIES.contains(&word));
    let asked = money || before.is_some_and(|word| NUMBERED.contains(&word));
    if value < DIGITS_FROM && !asked {
        return None;
    }
    let text = match value >= COMMAS_FROM || (money && value >= 1_000) {
        true => with_commas(value),
        false => value.to_string(),
    };
    Some(Written {
        text,
        words: at..end,
    })
}

/// "milioni mbili na nusu" stays as it was said.
fn ends_in_part(words: &[&str], end: usize) -> bool {
    matches!(
        words.get(end..),
        Some(["na", "nusu" | "robo" | "theluthi", ..])
    )
}

fn decimals(words: &[&str], at: usize) -> Option<(String, usize)> {
    if !matches!(words.get(at), Some(&("nukta" | "pointi"))) {
        return None;
    }
    let figures = figures(&words[at + 1..], plain_digit);
    let end = at + 1 + figures.len();
    (!figures.is_empty()).then_some((figures, end))
}

/// Digits said one by one at the start of these words.
pub(super) fn figures(words: &[&str], digit: fn(&str) -> Option<u8>) -> String {
    let digits = words.iter().map_while(|word| digit(word));
    digits.map(|digit| char::from(b'0' + digit)).collect()
}

/// "milioni mbili nukta tano" is "milioni 2.5": the group's name stays before its decimal.
fn large_head(words: &[&str], at: usize, value: u64) -> (String, u64) {
    let mut groups = GROUPS.iter();
    match groups.find(|(size, name)| *name == words[at] && value.is_multiple_of(*size)) {
        Some((size, name)) => (format!("{name} "), value / size),
        None => (String::new(), value),
    }
}

pub(super) fn with_commas(n: u64) -> String {
    let figures = n.to_string();
    let mut out = String::with_capacity(figures.len() + figures.len() / 3);
    for (i, c) in figures.chars().enumerate() {
        if i > 0 && (figures.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

/// The largest number that begins at `at`, and the word after it.
fn whole(words: &[&str], at: usize) -> Option<(u64, usize)> {
    if words.get(at) == Some(&"sifuri") {
        return Some((0, at + 1));
    }
    let mut total = 0u64;
    let mut end = at;
    let mut limit = u64::MAX;
    loop {
        let next = end + usize::from(end > at && words.get(end) == Some(&"na"));
        let group = words.get(next).and_then(|word| {
            let mut groups = GROUPS.iter();
            groups.find(|(size, name)| name == word && *size < limit)
        });
        if let Some((size, _)) = group
            && let Some((count, after)) =
                below_thousand(words, next + 1).or_else(|| bare_group(words, next))
        {
            total = total.checked_add(count.checked_mul(*size)?)?;
            limit = *size;
            end = after;
            continue;
        }
        // The rest below a thousand; a bare unit needs its "na".
        if limit > 1
            && let Some((rest, after)) = below_thousand(words, next)
            && (end == at || next > end || rest >= 10)
        {
            return Some((total + rest, after));
        }
        return (end > at).then_some((total, end));
    }
}

/// "elfu na mia tano" leaves out its "moja".
fn bare_group(words: &[&str], at: usize) -> Option<(u64, usize)> {
    let goes_on = words.get(at + 1) == Some(&"na") && below_thousand(words, at + 2).is_some();
    goes_on.then_some((1, at + 1))
}

fn below_thousand(words: &[&str], at: usize) -> Option<(u64, usize)> {
    if words.get(at) != Some(&"mia") {
        return below_hundred(words, at);
    }
    // So does "mia na hamsini"; alone, "mia" stays a word.
    let count = words.get(at + 1).and_then(|word| unit(word));
    let hundreds = count.unwrap_or(1) * 100;
    let end = at + 1 + usize::from(count.is_some());
    // Both "mia moja hamsini" and "mia moja na hamsini" are said; a bare unit needs its "na".
    let joined = words.get(end) == Some(&"na");
    let rest = below_hundred(words, end + usize::from(joined));
    let rest = rest.filter(|(n, _)| joined || *n >= 10);
    match rest {
        Some((n, end)) => Some((hundreds + n, end)),
        None => count.map(|_| (hundreds, end)),
    }
}

fn below_hundred(words: &[&str], at: usize) -> Option<(u64, usize)> {
    let word = words.get(at)?;
    let tens = TENS.iter().position(|tens| tens == word);
    if let Some(tens) = tens.filter(|tens| *tens > 0) {
        let tens = tens as u64 * 10;
        let units = words
            .get(at + 2)
            .filter(|_| words[at + 1] == "na")
            .and_then(|word| unit(word));
        return Some(units.map_or((tens, at + 1), |n| (tens + n, at + 3)));
    }
    unit(word).map(|n| (n, at + 1))
}

/// One to nine, with any class's prefix.
fn unit(word: &str) -> Option<u64> {
    let plain = match word {
        "mmoja" | "kimoja" => "moja",
        "kenda" => "tisa",
        "wawili" | "miwili" | "mawili" | "viwili" => "mbili",
        _ => {
            let bare = ["wa", "mi", "ma", "vi"]
                .iter()
                .find_map(|prefix| word.strip_prefix(prefix));
            bare.filter(|bare| matches!(*bare, "tatu" | "nne" | "tano" | "nane"))
                .unwrap_or(word)
        }
    };
    plain_digit(plain).filter(|digit| *digit > 0).map(u64::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str) -> String {
        let words: Vec<&str> = text.split_whitespace().collect();
        digits(&words)
            .into_iter()
            .map(|w| w.text)
            .collect::<Vec<_>>()
            .join(" ")
    }

    #[test]
    fn numbers_become_digits() {
        for (said, expected) in [
            ("elfu mbili mia tano", "2500"),
            ("watu elfu kumi na mbili", "watu 12,000"),
            ("shilingi elfu mbili", "shilingi 2,000"),
            ("mwaka elfu mbili na ishirini na tatu", "mwaka 2023"),
            ("asilimia tano", "asilimia 5"),
            ("tarehe kumi na kenda", "tarehe 19"),
            ("asilimia tatu nukta tano", "asilimia 3.5"),
            ("milioni mbili nukta tano", "milioni 2.5"),
            ("laki moja na elfu hamsini", "150,000"),
            ("mia moja na hamsini", "150"),
            ("shilingi mia na hamsini", "shilingi 150"),
            ("mia hamsini", "150"),
            ("elfu na mia tano", "1500"),
            ("sifuri saba moja mbili", "0712"),
            (
                "namba yangu ni sifuri saba moja mbili tatu nne tano sita saba nane",
                "namba yangu ni 0712345678",
            ),
            (
                "wanafunzi kumi na wawili na walimu watatu",
                "wanafunzi 12 na walimu watatu",
            ),
        ] {
            assert_eq!(written(said), expected, "{said}");
        }
    }

    #[test]
    fn small_numbers_times_and_sayings_stay_words() {
        for said in [
            "siku moja",
            "siku mbili tatu",
            "saa mbili na nusu asubuhi",
            "saa kumi na moja na dakika ishirini jioni",
            "mia kwa mia",
            "mia na watu",
            "elfu na zaidi",
            "saba saba",
            "kilo mbili na nusu",
            "milioni mbili na nusu",
            "na",
        ] {
            assert_eq!(written(said), said);
        }
    }
}
