//! English number words to digits, by the same rules as the Swahili ones.

use super::Written;
use super::numerals::{COMMAS_FROM, DIGITS_FROM, as_said, code_digits_min, figures, with_commas};
use crate::english::{TENS, UNITS};

const GROUPS: [(&str, u64); 3] = [
    ("billion", 1_000_000_000),
    ("million", 1_000_000),
    ("thousand", 1_000),
];

/// With so many digits an "oh" before the others is a zero.
const CODE_AFTER_OH_MIN: usize = 4;

/// A number that ends in one of these stays as it was said: "twenty first".
const ORDINALS: [&str; 9] = [
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth",
];

/// Spoken English numbers as digits; every other word as it stands.
pub fn english_digits(words: &[&str]) -> Vec<Written> {
    let lower: Vec<String> = words.iter().map(|word| word.to_lowercase()).collect();
    let lower: Vec<&str> = lower.iter().map(String::as_str).collect();
    let mut out = Vec::with_capacity(words.len());
    let mut at = 0;
    while at < words.len() {
        let written = clock(&lower, at)
            .or_else(|| code(&lower, at))
            .or_else(|| year(&lower, at))
            .or_else(|| quantity(&lower, at))
            .unwrap_or_else(|| as_said(words, at));
        at = written.words.end;
        out.push(written);
    }
    out
}

/// The number that these words say, all of them; "two fifty" is 250, and "hundred" needs no "one".
pub fn english_number(words: &[&str]) -> Option<u64> {
    let bare = words.first().is_some_and(|word| is_multiplier(word));
    let words = [if bare { &["one"][..] } else { &[] }, words].concat();
    let all = |found: &(u64, usize)| found.1 == words.len();
    let hundreds = || {
        let (count, next) = below_hundred(&words, 0).filter(|(n, _)| (1..10).contains(n))?;
        let (rest, end) = below_hundred(&words, next).filter(|(n, _)| *n >= 10)?;
        Some((count * 100 + rest, end))
    };
    let found = whole(&words, 0).filter(all);
    found.or_else(|| hundreds().filter(all)).map(|(n, _)| n)
}

fn unit(word: &str) -> Option<u64> {
    let n = UNITS.iter().position(|unit| *unit == word);
    n.map(|n| n as u64)
}

fn digit(word: &str) -> Option<u8> {
    unit(word).filter(|n| *n < 10).map(|n| n as u8)
}

/// Digits said one by one: "zero seven double two".
fn code(words: &[&str], at: usize) -> Option<Written> {
    let mut text = String::new();
    let mut end = at;
    while let Some(word) = words.get(end) {
        let times = match *word {
            "double" => 2,
            "triple" => 3,
            _ => 1,
        };
        let said = end + usize::from(times > 1);
        let digit = match words.get(said).copied() {
            // The letter, in place of zero.
            Some("o" | "oh") => Some(0),
            Some(word) => digit(word),
            None => None,
        };
        let Some(digit) = digit else { break };
        (0..times).for_each(|_| text.push(char::from(b'0' + digit)));
        end = said + 1;
    }
    // "one two hundred": the last belongs to a larger number.
    let goes_on = words
        .get(end)
        .is_some_and(|word| is_multiplier(word) || *word == "point");
    // "Oh, one two" is no number.
    let min = match words[at] {
        "o" | "oh" => CODE_AFTER_OH_MIN,
        _ => code_digits_min(&text),
    };
    let words = at..end;
    (text.len() >= min && !goes_on).then_some(Written { text, words })
}

fn is_multiplier(word: &str) -> bool {
    word == "hundred" || GROUPS.iter().any(|(name, _)| *name == word)
}

/// "nineteen eighty four", "twenty twenty six".
fn year(words: &[&str], at: usize) -> Option<Written> {
    let (century, next) = below_hundred(words, at).filter(|(n, _)| (15..=20).contains(n))?;
    let (rest, end) = below_hundred(words, next).filter(|(n, _)| *n >= 10)?;
    let goes_on = words.get(end).is_some_and(|word| is_multiplier(word));
    (!goes_on).then(|| Written {
        text: (century * 100 + rest).to_string(),
        words: at..end,
    })
}

/// "three thirty pm", "seven pm", "at six oh five": hours and minutes, where something beside them says so.
fn clock(words: &[&str], at: usize) -> Option<Written> {
    let (hour, next) = below_hundred(words, at).filter(|(n, _)| (1..=12).contains(n))?;
    let (minutes, end) = match words.get(next) {
        Some(&("o" | "oh")) => {
            let minute = words.get(next + 1).and_then(|word| unit(word));
            (minute.filter(|n| (1..10).contains(n))?, next + 2)
        }
        _ => match below_hundred(words, next) {
            Some((minutes @ 10..60, end)) => (minutes, end),
            Some(_) => return None,
            None => (0, next),
        },
    };
    let half = matches!(words.get(end), Some(&("am" | "pm")));
    let after_at = at > 0 && words[at - 1] == "at" && end > next;
    let goes_on = words.get(end).is_some_and(|word| {
        is_multiplier(word) || *word == "point" || below_hundred(words, end).is_some()
    });
    let text = match end > next {
        true => format!("{hour}:{minutes:02}"),
        false => hour.to_string(),
    };
    let words = at..end;
    ((half || after_at) && !goes_on).then_some(Written { text, words })
}

fn quantity(words: &[&str], at: usize) -> Option<Written> {
    let (value, end) = whole(words, at)?;
    let next = end + usize::from(words.get(end) == Some(&"and"));
    if words.get(next).is_some_and(|word| ORDINALS.contains(word)) {
        return None;
    }
    if words.get(end) == Some(&"point") {
        let figures = figures(&words[end + 1..], digit);
        let end = end + 1 + figures.len();
        return (!figures.is_empty()).then(|| Written {
            text: format!("{value}.{figures}"),
            words: at..end,
        });
    }
    if value < DIGITS_FROM {
        return None;
    }
    let text = match value >= COMMAS_FROM {
        true => with_commas(value),
        false => value.to_string(),
    };
    Some(Written {
        text,
        words: at..end,
    })
}

/// The largest number that begins at `at`, and the word after it.
fn whole(words: &[&str], at: usize) -> Option<(u64, usize)> {
    let (mut part, mut end) = below_thousand(words, at)?;
    let (mut total, mut limit) = (0u64, u64::MAX);
    loop {
        let group = words
            .get(end)
            .and_then(|word| GROUPS.iter().find(|(name, _)| name == word));
        let Some((_, size)) = group.filter(|(_, size)| *size < limit) else {
            return Some((total + part, end));
        };
        total = total.checked_add(part.checked_mul(*size)?)?;
        (limit, end) = (*size, end + 1);
        let next = end + usize::from(words.get(end) == Some(&"and"));
        match below_thousand(words, next) {
            Some((rest, after)) => (part, end) = (rest, after),
            None => return Some((total, end)),
        }
    }
}

fn below_thousand(words: &[&str], at: usize) -> Option<(u64, usize)> {
    let (count, end) = match words.get(at) {
        Some(&"a") if words.get(at + 1).is_some_and(|word| is_multiplier(word)) => (1, at + 1),
        _ => below_hundred(words, at)?,
    };
    if words.get(end) != Some(&"hundred") {
        return Some((count, end));
    }
    let (value, end) = (count * 100, end + 1);
    let next = end + usize::from(words.get(end) == Some(&"and"));
    let rest = below_hundred(words, next).filter(|(n, _)| *n > 0);
    Some(rest.map_or((value, end), |(n, end)| (value + n, end)))
}

fn below_hundred(words: &[&str], at: usize) -> Option<(u64, usize)> {
    let word = words.get(at)?;
    if let Some(tens) = TENS.iter().position(|tens| tens == word) {
        let tens = (tens as u64 + 2) * 10;
        let units = words.get(at + 1).and_then(|word| unit(word));
        let units = units.filter(|n| (1..10).contains(n));
        return Some(units.map_or((tens, at + 1), |n| (tens + n, at + 2)));
    }
    unit(word).map(|n| (n, at + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str) -> String {
        let words: Vec<&str> = text.split_whitespace().collect();
        let texts = english_digits(&words).into_iter().map(|w| w.text);
        texts.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn numbers_become_digits() {
        for (said, expected) in [
            (
                "your balance is one thousand two hundred and fifty shillings",
                "your balance is 1250 shillings",
            ),
            ("twenty five thousand people", "25,000 people"),
            ("a hundred and five", "105"),
            ("two million three hundred thousand", "2,300,000"),
            ("in nineteen eighty four", "in 1984"),
            ("twenty twenty six", "2026"),
            ("three point five per cent", "3.5 per cent"),
            ("zero seven double two oh nine", "072209"),
            ("press one two three", "press 123"),
            ("oh seven two two one two three four five six", "0722123456"),
            ("sixty four", "64"),
            (
                "the meeting is at three thirty pm",
                "the meeting is at 3:30 pm",
            ),
            (
                "from seven am to twelve forty five pm",
                "from 7 am to 12:45 pm",
            ),
            ("come at six oh five", "come at 6:05"),
            ("reach me at seven oh seven two two", "reach me at 70722"),
            ("at ten thirty thousand people", "at 10 30,000 people"),
            ("at two hundred", "at 200"),
        ] {
            assert_eq!(written(said), expected, "{said}");
        }
    }

    #[test]
    fn all_words_make_one_number() {
        for (said, number) in [
            ("two thousand five hundred", Some(2_500)),
            ("hundred and fifty", Some(150)),
            ("thousand", Some(1_000)),
            ("fifteen hundred", Some(1_500)),
            ("two fifty", Some(250)),
            ("nine twenty five", Some(925)),
            ("two three", None),
            ("two fifty thousand", None),
            ("fifty shillings", None),
            ("", None),
        ] {
            let words: Vec<&str> = said.split_whitespace().collect();
            assert_eq!(english_number(&words), number, "{said}");
        }
    }

    #[test]
    fn small_numbers_and_other_words_stay() {
        for said in [
            "one of them",
            "press two",
            "at three",
            "I am three",
            "two or three days",
            "a thing",
            "oh well",
            "oh two of them",
            "the point is",
            "double the price",
            "one point",
            "the twenty first of May",
            "the one hundred and second",
            "",
        ] {
            assert_eq!(written(said), said);
        }
    }
}
