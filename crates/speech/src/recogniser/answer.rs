//! The plain value of an expected answer, for programs: true or false, figures, an amount, a choice.

use sauti_text::written::{english_number, number};
use serde::{Serialize, Serializer};

use super::answer_words::{AnswerWords, as_figures, book_word, currency_of};
use crate::{Expect, Segment};

/// What an answer of a known form says.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum AnswerValue {
    YesNo(bool),
    /// Every digit that was said, in order.
    Digits(String),
    Amount(Amount),
    /// As the caller wrote it.
    Choice(String),
}

/// Money or a quantity, exact to the hundredth.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Amount {
    pub hundredths: u64,
    /// The Swahili word for what was said: "shilingi", "dola", ...
    pub currency: Option<&'static str>,
}

impl Serialize for Amount {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.hundredths % 100 {
            0 => serializer.serialize_u64(self.hundredths / 100),
            _ => serializer.serialize_f64(self.hundredths as f64 / 100.0),
        }
    }
}

impl AnswerValue {
    /// The value of what was heard; `None` where nothing was expected or the words say none.
    pub fn of(expect: &Expect, segments: &[Segment]) -> Option<AnswerValue> {
        let heard = segments.iter().flat_map(|segment| &segment.words);
        let words: Vec<&str> = heard.map(|word| word.word.as_str()).collect();
        let text = match segments {
            [only] => &only.text,
            _ => "",
        };
        Self::said(expect, &words, text)
    }

    /// The value of these words, which read so.
    pub(super) fn said(expect: &Expect, words: &[&str], text: &str) -> Option<AnswerValue> {
        match expect {
            Expect::Any => None,
            Expect::YesNo => yes_or_no(words).map(AnswerValue::YesNo),
            Expect::Digits => {
                let figures = as_figures(words.iter().copied());
                (!figures.is_empty()).then_some(AnswerValue::Digits(figures))
            }
            Expect::Amount => amount(words).map(AnswerValue::Amount),
            Expect::Choices(choices) => {
                let chosen = choices.iter().find(|choice| **choice == text)?;
                Some(AnswerValue::Choice(chosen.clone()))
            }
        }
    }

    pub fn currency(&self) -> Option<&'static str> {
        match self {
            AnswerValue::Amount(amount) => amount.currency,
            _ => None,
        }
    }
}

/// Whoever says both has not decided; but the "sawa" of "siyo sawa" is none.
fn yes_or_no(words: &[&str]) -> Option<bool> {
    let said = format!(" {} ", words.join(" "));
    let all = |list: fn(&AnswerWords) -> &[&str]| {
        let mut phrases: Vec<_> = AnswerWords::of(None).iter().flat_map(list).collect();
        phrases.sort_by_key(|phrase| std::cmp::Reverse(phrase.len()));
        phrases.into_iter().map(|phrase| format!(" {phrase} "))
    };
    let without_no = all(|words| words.no).fold(said.clone(), |said, no| said.replace(&no, " "));
    let says_yes = all(|words| words.yes).any(|yes| without_no.contains(&yes));
    match (says_yes, without_no != said) {
        (true, false) => Some(true),
        (false, true) => Some(false),
        _ => None,
    }
}

fn amount(words: &[&str]) -> Option<Amount> {
    let words: Vec<&str> = words.iter().map(|word| book_word(word)).collect();
    let words = without_courtesies(&words);
    // Said again.
    let words = match words.split_at(words.len() / 2) {
        (first, second) if first == second && first.len() > 1 => first,
        _ => words,
    };
    swahili_amount(words).or_else(|| english_amount(words))
}

/// "Ni elfu mbili tu" is "elfu mbili".
fn without_courtesies<'a>(mut words: &'a [&'a str]) -> &'a [&'a str] {
    let known = |list: fn(&AnswerWords) -> &[&str], word: &str| {
        let mut all = AnswerWords::of(None).iter().flat_map(list);
        all.any(|courtesy| *courtesy == word)
    };
    while let Some((first, rest)) = words.split_first()
        && known(|words| words.before_amount, first)
    {
        words = rest;
    }
    while let Some((last, rest)) = words.split_last()
        && known(|words| words.after_amount, last)
    {
        words = rest;
    }
    words
}

fn swahili_amount(words: &[&str]) -> Option<Amount> {
    let (units, cents) = match words.iter().position(|word| *word == "senti") {
        Some(at) => (&words[..at], Some(&words[at + 1..])),
        None => (words, None),
    };
    let units = units.strip_suffix(&["na"]).unwrap_or(units);
    let cents = cents.map(number);
    amount_of(units, cents, quantity)
}

fn english_amount(words: &[&str]) -> Option<Amount> {
    let [said @ .., "cents"] = words else {
        return amount_of(words, None, english_quantity);
    };
    // "ten dollars and fifty cents"
    let last_unit = said.iter().rposition(|word| currency_of(word).is_some());
    let (units, cents) = said.split_at(last_unit.map_or(0, |at| at + 1));
    let cents = cents.strip_prefix(&["and"]).unwrap_or(cents);
    amount_of(units, Some(english_number(cents)), english_quantity)
}

/// `cents`: where some were said, how many, if that is a number.
fn amount_of(
    units: &[&str],
    cents: Option<Option<u64>>,
    quantity: fn(&[&str]) -> Option<u64>,
) -> Option<Amount> {
    // A currency stands before or after its number; with numbers on both sides there are two amounts.
    let first = units.first().and_then(|word| currency_of(word));
    let last = units.last().and_then(|word| currency_of(word));
    let (currency, units) = match (first, last) {
        (Some(_), _) => (first, &units[1..]),
        (None, Some(_)) => (last, &units[..units.len() - 1]),
        (None, None) => (None, units),
    };
    let hundredths = match cents {
        None => quantity(units)?,
        Some(cents) => {
            let units = match units.is_empty() {
                true => 0,
                false => quantity(units)?,
            };
            let cents = cents.filter(|cents| *cents < 100)?;
            units.checked_add(cents)?
        }
    };
    Some(Amount {
        hundredths,
        currency,
    })
}

/// A number with its parts, in hundredths: "laki moja na nusu", "mbili nukta tano".
fn quantity(words: &[&str]) -> Option<u64> {
    if let [whole @ .., "na", part @ ("nusu" | "robo")] = words {
        let part = if *part == "nusu" { 50 } else { 25 };
        let whole_hundredths = quantity(whole)?;
        let half_of = last_scale(whole, whole_hundredths / 100);
        return whole_hundredths.checked_add(part * half_of);
    }
    if let Some(at) = words.iter().position(|word| *word == "nukta") {
        let whole = quantity(&words[..at])?;
        // "milioni mbili nukta tano" means two and a half million; nobody says the last zero of a part of thousands.
        let scale = match words.last() {
            Some(&"sifuri") => 1,
            _ => last_scale(&words[..at], whole / 100),
        };
        return whole.checked_add(decimals(&words[at + 1..])? * scale);
    }
    match words {
        ["nusu"] => Some(50),
        ["robo"] => Some(25),
        [scale] if scale_of(scale).is_some() => scale_of(scale)?.checked_mul(100),
        words => number(words)
            .or_else(|| thousands_last(words))?
            .checked_mul(100),
    }
}

/// "Kumi na tano elfu": so say those who do not want it taken for 10,005.
fn thousands_last(words: &[&str]) -> Option<u64> {
    let (_, count) = words.split_last().filter(|(last, _)| **last == "elfu")?;
    number(count)
        .filter(|count| *count < 1_000)?
        .checked_mul(1_000)
}

/// One or two digits after the point, in hundredths.
fn decimals(words: &[&str]) -> Option<u64> {
    let figures = as_figures(words.iter().copied());
    let said_all = figures.len() == words.len() && (1..=2).contains(&figures.len());
    let hundredths = format!("{figures:0<2}").parse().ok();
    hundredths.filter(|_| said_all)
}

/// The same in English: "two point five million", "half a million", "ten and a half".
fn english_quantity(words: &[&str]) -> Option<u64> {
    if let [parts @ .., scale @ ("thousand" | "million" | "billion")] = words
        && parts.iter().any(|word| matches!(*word, "point" | "half"))
    {
        let parts = parts.strip_suffix(&["a"]).unwrap_or(parts);
        return english_quantity(parts)?.checked_mul(english_number(&[scale])?);
    }
    if let Some(at) = words.iter().position(|word| *word == "point") {
        let whole = english_number(&words[..at])?.checked_mul(100)?;
        return whole.checked_add(decimals(&words[at + 1..])?);
    }
    match words {
        ["half"] | ["a", "half"] => Some(50),
        [whole @ .., "and", "a", "half"] => {
            english_number(whole)?.checked_mul(100)?.checked_add(50)
        }
        words => english_number(words)?.checked_mul(100),
    }
}

/// Half of what: of a thousand in "elfu mbili na nusu", of one in "mia tano na nusu" and "elfu mbili na kumi na nusu".
fn last_scale(words: &[&str], value: u64) -> u64 {
    let scales = words.iter().rev().filter_map(|word| scale_of(word));
    let mut large = scales.filter(|scale| *scale >= 1_000);
    large
        .next()
        .filter(|scale| value.is_multiple_of(*scale))
        .unwrap_or(1)
}

pub(super) fn scale_of(word: &str) -> Option<u64> {
    match word {
        "mia" => Some(100),
        "elfu" => Some(1_000),
        "laki" => Some(100_000),
        "milioni" => Some(1_000_000),
        "bilioni" => Some(1_000_000_000),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Word;

    fn heard(said: &str) -> Vec<Segment> {
        let words = said.split_whitespace().map(|word| Word {
            word: word.to_owned(),
            start: 0.0,
            end: 0.0,
            confidence: 1.0,
            ..Word::default()
        });
        vec![Segment {
            start: 0.0,
            end: 0.0,
            text: said.to_owned(),
            words: words.collect(),
            confidence: 1.0,
            ..Segment::default()
        }]
    }

    fn json(expect: &Expect, said: &str) -> String {
        let value = AnswerValue::of(expect, &heard(said));
        serde_json::to_string(&value).expect("JSON")
    }

    #[test]
    fn yes_and_no_are_true_and_false() {
        for (said, value) in [
            ("ndiyo", "true"),
            ("naam", "true"),
            ("sawa sawa", "true"),
            ("sitaki", "false"),
            ("hapana asante", "false"),
            ("ndiyo hapana", "null"),
            ("siyo sawa", "false"),
            ("sio sawa asante", "false"),
            ("siyo sawa ndiyo", "null"),
            ("si kweli", "false"),
            ("si sahihi", "false"),
            ("ni sawa", "true"),
            ("yes please", "true"),
            ("of course", "true"),
            ("okay asante", "true"),
            ("no thank you", "false"),
            ("not at all", "false"),
            ("yes no", "null"),
            ("ndiyo no", "null"),
        ] {
            assert_eq!(json(&Expect::YesNo, said), value, "{said}");
        }
    }

    #[test]
    fn digits_are_figures_with_their_zeros() {
        for (said, figures) in [
            ("sifuri saba moja mbili ziro", "\"07120\""),
            ("oh seven double two triple one zero", "\"07221110\""),
            ("saba moja asante", "\"71\""),
            ("sifuri saba mara mbili tatu mara tatu", "\"077333\""),
        ] {
            assert_eq!(json(&Expect::Digits, said), figures, "{said}");
        }
    }

    #[test]
    fn amounts_are_numbers() {
        for (said, value) in [
            ("elfu tano", "5000"),
            ("elfu kumi", "10000"),
            ("shilingi elfu mbili na mia tano", "2500"),
            ("laki moja na nusu", "150000"),
            ("elfu mbili na nusu", "2500"),
            ("elfu tatu na robo", "3250"),
            ("milioni mbili nukta tano", "2500000"),
            ("kumi na mbili nukta tano", "12.5"),
            ("dola kumi na senti hamsini", "10.5"),
            ("senti hamsini", "0.5"),
            ("mia", "100"),
            ("elfu", "1000"),
            ("mia tano shilingi", "500"),
            ("kumi na nusu", "10.5"),
            ("mia tano na nusu", "500.5"),
            ("shilingi mia mbili na robo", "200.25"),
            ("elfu moja mia tano na nusu", "1500.5"),
            ("elfu mbili na hamsini na nusu", "2050.5"),
            ("elfu mia tano na nusu", "500500"),
            ("mia mbili nukta tano", "200.5"),
            ("elfu mbili mia tano nukta tano", "2500.5"),
            ("elfu kumi na mbili nukta tano", "12500"),
            ("elfu moja nukta tano sifuri", "1000.5"),
            ("elfu tano elfu tano", "5000"),
            ("tano tano", "null"),
            ("elfu mbili shilingi na senti hamsini", "2000.5"),
            ("mia na hamsini", "150"),
            ("mia hamsini", "150"),
            ("shilingi elfu na mia tano", "1500"),
            ("elfu mia tano", "500000"),
            ("elfu mbili mia na hamsini", "2150"),
            ("tano elfu", "5000"),
            ("kumi na tano elfu", "15000"),
            ("shilingi mia mbili elfu", "200000"),
            ("laki mbili elfu", "null"),
            ("tano elfu mbili", "null"),
            ("soo tano", "500"),
            ("thao mbili na soo tano", "2500"),
            ("ngiri", "1000"),
            ("ni elfu kumi na tano", "15000"),
            ("elfu moja tu tafadhali", "1000"),
            ("nataka shilingi mia tano pekee", "500"),
            ("it's fifty bob please", "50"),
            ("ni tu", "null"),
            ("shilingi", "null"),
            ("laki kumi shilingi mia saba", "null"),
            ("shilingi kumi na dola tano", "null"),
            ("shilingi mia mbili dola", "null"),
            ("two thousand five hundred", "2500"),
            ("fifty shillings", "50"),
            ("shillings five hundred", "500"),
            ("a hundred and fifty bob", "150"),
            ("hundred bob", "100"),
            ("two point five million", "2500000"),
            ("twelve point two five", "12.25"),
            ("half a million", "500000"),
            ("two and a half thousand", "2500"),
            ("ten and a half", "10.5"),
            ("a half", "0.5"),
            ("ten dollars and fifty cents", "10.5"),
            ("ten dollars fifty cents", "10.5"),
            ("fifty cents", "0.5"),
            ("two hundred cents", "null"),
            ("ten shillings five dollars", "null"),
            ("seven two two", "null"),
            ("shillings", "null"),
            ("elfu two", "null"),
        ] {
            assert_eq!(json(&Expect::Amount, said), value, "{said}");
        }
        for (said, currency) in [
            ("shillingi mia mbili", "shilingi"),
            ("two hundred bob", "shilingi"),
            ("ten dollars and fifty cents", "dola"),
        ] {
            let value = AnswerValue::of(&Expect::Amount, &heard(said));
            assert_eq!(value.and_then(|value| value.currency()), Some(currency));
        }
    }

    #[test]
    fn a_choice_is_the_callers_own_words() {
        let choices = Expect::Choices(vec!["Salio".into(), "Namba 5".into()]);
        assert_eq!(json(&choices, "Namba 5"), "\"Namba 5\"");
        assert_eq!(json(&choices, "Nyingine"), "null");
        assert_eq!(json(&Expect::Any, "ndiyo"), "null");
    }
}
