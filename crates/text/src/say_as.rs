//! Texts whose kind the caller names, for SSML's say-as.

use crate::cardinal::{cardinal, digits};
use crate::letters::spell;
use crate::normalise::{self, normalise};

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

/// How the text is said, or nothing if it is not of that kind.
pub(crate) fn say(text: &str, kind: &str, format: &str) -> Option<String> {
    let said = match kind {
        "digits" => digits(text),
        "characters" | "spell-out" | "verbatim" => spell(text),
        "cardinal" | "number" => number(text)?,
        "ordinal" => ordinal(text)?,
        "date" => date(text, format)?,
        "time" => time(text)?,
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

fn ordinal(text: &str) -> Option<String> {
    Some(match text.parse::<u64>().ok()? {
        1 => "kwanza".to_owned(),
        2 => "pili".to_owned(),
        n => cardinal(n),
    })
}

/// Dates by their parts; `format` as in "dmy", "mdy", "ymd".
fn date(text: &str, format: &str) -> Option<String> {
    let parts: Vec<&str> = text
        .split(['/', '-', '.', ' '])
        .filter(|part| !part.is_empty())
        .collect();
    let numeric = parts.len() == 3
        && parts
            .iter()
            .all(|part| part.bytes().all(|b| b.is_ascii_digit()));
    if !numeric {
        return number(text);
    }
    let order = match format {
        "mdy" => [1, 0, 2],
        "ymd" => [2, 1, 0],
        "" if parts[0].len() == 4 => [2, 1, 0],
        _ => [0, 1, 2],
    };
    let said = normalise(&format!(
        "{}/{}/{}",
        parts[order[0]], parts[order[1]], parts[order[2]]
    ));
    said.starts_with("tarehe").then_some(said)
}

fn time(text: &str) -> Option<String> {
    let said = normalise(text);
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
