//! The list of prompts, checked line by line before anything is spoken.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::str::FromStr;

use anyhow::{Context, bail};
use sauti_speech::{Direction, Engine};
use sauti_text::{Script, SpeechLanguage};

use super::PromptOptions;
use crate::offline;

#[derive(Debug, Clone)]
pub(super) struct Prompt {
    pub id: String,
    pub text: String,
    pub script: Script,
    pub voice_id: String,
    pub model_version: String,
    pub rate_hz: u32,
    pub direction: Direction,
}

/// All prompts, or one error that names every line that is wrong.
pub(super) fn read(
    path: &Path,
    engine: &Engine,
    options: &PromptOptions,
) -> anyhow::Result<Vec<Prompt>> {
    let mut reader = csv::ReaderBuilder::new()
        .trim(csv::Trim::All)
        .flexible(true)
        .from_path(path)
        .with_context(|| format!("cannot read {}", path.display()))?;
    let header: BTreeMap<String, usize> = reader
        .headers()
        .with_context(|| path.display().to_string())?
        .iter()
        .enumerate()
        .map(|(column, name)| (name.trim_start_matches('\u{feff}').to_lowercase(), column))
        .collect();
    for needed in ["id", "text"] {
        if !header.contains_key(needed) {
            bail!(
                "{}: the first line must name the columns, among them {needed:?}",
                path.display()
            );
        }
    }
    let (mut prompts, mut wrong, mut seen) = (Vec::new(), Vec::new(), HashSet::new());
    for record in reader.records() {
        let record = record.with_context(|| path.display().to_string())?;
        let line = record.position().map_or(0, csv::Position::line);
        let cell = |name: &str| {
            let cell = header.get(name).and_then(|column| record.get(*column));
            cell.filter(|cell| !cell.is_empty())
        };
        match prompt(cell, engine, options) {
            Ok(prompt) if !seen.insert(prompt.id.clone()) => {
                wrong.push(format!("line {line}: the id {:?} stands twice", prompt.id));
            }
            Ok(prompt) => prompts.push(prompt),
            Err(error) => wrong.push(format!("line {line}: {error:#}")),
        }
    }
    if !wrong.is_empty() {
        bail!("{}:\n  {}", path.display(), wrong.join("\n  "));
    }
    Ok(prompts)
}

fn prompt<'a>(
    cell: impl Fn(&str) -> Option<&'a str>,
    engine: &Engine,
    options: &PromptOptions,
) -> anyhow::Result<Prompt> {
    let id = cell("id").context("no id")?;
    check_id(id)?;
    let text = cell("text").context("no text")?;
    let language = cell("language").map_or(Ok(SpeechLanguage::default()), str::parse)?;
    let script = offline::script_of(text, &options.lexicon, language)?;
    let direction = Direction {
        speed: number(&cell, "speed")?,
        pitch: number(&cell, "pitch")?,
        volume: number(&cell, "volume")?,
    };
    let (voice_id, rate_hz) =
        offline::choose_voice(engine, cell("voice").or(options.voice_id.as_deref()))?;
    let voices = engine.voices();
    let voice = voices
        .iter()
        .find(|voice| voice.voice_id == voice_id)
        .context("no voice")?;
    Ok(Prompt {
        id: id.to_owned(),
        text: text.to_owned(),
        script,
        model_version: voice.model_version.clone(),
        voice_id,
        rate_hz,
        direction,
    })
}

fn number<'a, T: Default + FromStr<Err = String>>(
    cell: impl Fn(&str) -> Option<&'a str>,
    name: &str,
) -> anyhow::Result<T> {
    let Some(value) = cell(name) else {
        return Ok(T::default());
    };
    value.parse().map_err(|e| anyhow::anyhow!("{name} {e}"))
}

/// An id becomes a path, so it must stay inside the folder and be a name everywhere.
fn check_id(id: &str) -> anyhow::Result<()> {
    let is_letter = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let is_name =
        |part: &str| !part.is_empty() && !part.starts_with('.') && part.chars().all(is_letter);
    if id.len() > 200 || !id.split('/').all(is_name) {
        bail!("the id {id:?} must be letters, digits, '-', '_' and '.', in folders by '/'");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::check_id;

    #[test]
    fn ids_stay_inside_the_folder() {
        for right in ["karibu", "menu/karibu-1", "a.b_c"] {
            assert!(check_id(right).is_ok(), "{right}");
        }
        for wrong in [
            "", "../x", "/etc/x", "a//b", "a/", ".hidden", "a b", "ñ", "a/../b",
        ] {
            assert!(check_id(wrong).is_err(), "{wrong}");
        }
    }
}
