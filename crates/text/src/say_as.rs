//! Texts whose kind the caller names, for SSML's say-as.

use crate::cardinal::{cardinal, digits};
use crate::letters::{is_key, spell_all};
use crate::normalise::{self, agreement, date_parts, day_part, normalise};

pub(crate) const KINDS: &[&str] = &[
    "digits",
    "characters",
    "spell-out",
    "verbatim",
    "cardinal",
    "number",
    "ordinal",
    "date",
    "time",
    "telephone",
    "currency",
];

/// Those that are said figure by figure.
pub(crate) const SPELLED: &[&str] = &["digits", "characters", "spell-out", "verbatim", "telephone"];

pub(crate) const DATE_FORMATS: &[&str] = &["dmy", "mdy", "ymd", "dm", "md"];

/// "MM/dd/yyyy" is "mdy".
pub(crate) fn date_format(written: &str) -> String {
    let mut parts: Vec<char> = written.to_ascii_lowercase().chars().collect();
    parts.retain(char::is_ascii_alphabetic);
    parts.dedup();
    parts.into_iter().collect()
}

/// How the text is said between two other words, or nothing if it is not of that kind.
pub(crate) fn say(
    text: &str,
    kind: &str,
    format: &str,
    (before, after): (&str, &str),
) -> Option<String> {
    let said = match kind {
        "digits" => spell_all(&text.replace(|c| !is_key(c), "")),
        "characters" | "spell-out" | "verbatim" => spell_all(text),
        "cardinal" | "number" => counted(text, before)?,
        "ordinal" => ordinal(text)?,
        "date" => date(text, format)?,
        "time" => time(text, after)?,
        "telephone" => telephone(text),
        _ => currency(text)?,
    };
    (!said.is_empty()).then_some(said)
}

fn number(text: &str) -> Option<String> {
    let said = normalise(text);
    (text.contains(|c: char| c.is_ascii_digit()) && !said.contains(|c: char| c.is_ascii_digit()))
        .then_some(said)
}

/// "watu watatu": the number agrees with the noun before it.
fn counted(text: &str, noun: &str) -> Option<String> {
    agreement::class_of(noun)
        .and_then(|_| number(&format!("{noun} {text}")))
        .and_then(|said| Some(said.strip_prefix(noun)?.trim_start().to_owned()))
        .or_else(|| number(text))
}

fn ordinal(text: &str) -> Option<String> {
    Some(match text.parse::<u64>().ok()? {
        1 => "kwanza".to_owned(),
        2 => "pili".to_owned(),
        n => cardinal(n),
    })
}

/// Whether the figures of a date can be what the format says: no month is the thirteenth.
pub(crate) fn fits_format(text: &str, format: &str) -> bool {
    let parts = text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|part| !part.is_empty());
    let values: Vec<Option<u32>> = parts.map(|part| part.parse().ok()).collect();
    let fits = |(kind, value): (char, &Option<u32>)| match (kind, value) {
        ('d', Some(day)) => (1..=31).contains(day),
        ('m', Some(month)) => (1..=12).contains(month),
        _ => true,
    };
    values.len() != format.len() || format.chars().zip(&values).all(fits)
}

/// Dates by their parts.
fn date(text: &str, format: &str) -> Option<String> {
    let written = match date_parts(text, format) {
        Some((day, month, Some(year))) => format!("{day}/{month}/{year}"),
        Some((day, month, None)) if format == "md" || !text.contains('.') => {
            format!("tarehe {day}/{month}")
        }
        _ => return number(text),
    };
    let said = normalise(&written);
    (said.starts_with("tarehe") && !said.contains("mkwaju")).then_some(said)
}

/// A part of the day that follows is said by itself.
fn time(text: &str, after: &str) -> Option<String> {
    let said = match day_part(after) {
        Some(part) => normalise(&format!("{text} {part}"))
            .strip_suffix(part)?
            .trim_end()
            .to_owned(),
        None => normalise(text),
    };
    said.contains("saa ").then_some(said)
}

/// Groups as written, or groups of three.
fn telephone(text: &str) -> String {
    let said = normalise(text);
    let spelled_already =
        said.contains(',') || said.starts_with("jumlisha") || said.starts_with("nyota");
    if spelled_already { said } else { digits(text) }
}

fn currency(text: &str) -> Option<String> {
    let said = number(text)?;
    Some(if normalise::money_is_named_in(&said) {
        said
    } else {
        format!("shilingi {said}")
    })
}
