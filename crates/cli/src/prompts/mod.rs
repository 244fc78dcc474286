//! The prompts of a phone menu, built from a list. What has not changed is not spoken again.

pub(crate) mod format;
mod list;
mod manifest;

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use sauti_audio::OutputFormat;
use sauti_speech::{Engine, SpeakRequest};
use sauti_text::Lexicon;
use sha2::{Digest, Sha256};

use self::format::PromptFormat;
use self::list::Prompt;
use self::manifest::{PromptManifest, Row};
use crate::offline;

pub struct PromptOptions {
    pub list: PathBuf,
    pub out_dir: PathBuf,
    pub formats: Vec<PromptFormat>,
    pub voice_id: Option<String>,
    pub lexicon: Lexicon,
    pub prune: bool,
}

#[derive(Debug, Default, PartialEq)]
pub struct Built {
    pub spoken: usize,
    pub unchanged: usize,
    pub deleted: usize,
    pub seconds: f64,
}

/// Reads and checks the whole list before the first word is spoken. The models are waited for only
/// when something has to be spoken.
pub async fn build(engine: &Engine, options: &PromptOptions) -> anyhow::Result<Built> {
    let mut formats = options.formats.clone();
    formats.sort_by_key(ToString::to_string);
    formats.dedup();
    let prompts = list::read(&options.list, engine, options)?;
    let before = PromptManifest::read(&options.out_dir)?;
    let mut built = Built::default();
    let mut rows = Vec::new();
    let progress = offline::Progress::on_terminal();
    for (number, prompt) in prompts.iter().enumerate() {
        let (kept, wanted): (Vec<_>, Vec<_>) = formats
            .iter()
            .map(|format| (*format, row_for(prompt, *format, &formats)))
            .partition(|(_, row)| before.holds(row, &options.out_dir));
        built.unchanged += kept.len();
        let kept = kept.into_iter();
        rows.extend(kept.filter_map(|(_, row)| before.find(&row.file).cloned()));
        if wanted.is_empty() {
            continue;
        }
        let (number, all) = (number + 1, prompts.len());
        progress.show(&format!("{number} of {all} prompts: {}", prompt.id));
        offline::wait_ready(engine).await?;
        let request = SpeakRequest {
            voice_id: prompt.voice_id.clone(),
            script: prompt.script.clone(),
            direction: prompt.direction,
        };
        let samples = offline::speak(engine, request)
            .await
            .with_context(|| prompt.id.clone())?
            .samples;
        for (format, mut row) in wanted {
            let bytes = sauti_audio::encode_speech(&samples, prompt.rate_hz, format.sound)?;
            let seconds = samples.len() as f64 / f64::from(prompt.rate_hz);
            row.seconds = (seconds * 1000.0).round() / 1000.0;
            row.bytes = bytes.len() as u64;
            write(&options.out_dir.join(&row.file), &bytes)?;
            rows.push(row);
            built.spoken += 1;
        }
        // After every prompt, so that a run cut short loses nothing.
        before.with(&rows).write(&options.out_dir)?;
    }
    progress.clear();
    built.seconds = rows.iter().map(|row| row.seconds).sum();
    built.deleted = finish(&before, rows, options)?;
    Ok(built)
}

/// Writes the final manifest. Without pruning, rows of prompts that are gone stay listed.
fn finish(
    before: &PromptManifest,
    rows: Vec<Row>,
    options: &PromptOptions,
) -> anyhow::Result<usize> {
    if !options.prune {
        before.with(&rows).write(&options.out_dir)?;
        return Ok(0);
    }
    let is_stale = |old: &&Row| !rows.iter().any(|row| row.file == old.file);
    let stale: Vec<&Row> = before.rows.iter().filter(is_stale).collect();
    for row in &stale {
        let path = options.out_dir.join(&row.file);
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(error).with_context(|| format!("cannot delete {}", path.display()));
            }
            _ => {}
        }
    }
    let deleted = stale.len();
    PromptManifest { rows }.write(&options.out_dir)?;
    Ok(deleted)
}

/// One format lies flat in the folder, as telephone systems expect; several get a folder each.
fn row_for(prompt: &Prompt, format: PromptFormat, formats: &[PromptFormat]) -> Row {
    let file = format!("{}.{}", prompt.id, format.file_extension);
    let file = if formats.len() == 1 {
        file
    } else {
        format!("{format}/{file}")
    };
    Row {
        id: prompt.id.clone(),
        voice: prompt.voice_id.clone(),
        format: format.to_string(),
        file,
        seconds: 0.0,
        bytes: 0,
        hash: fingerprint(prompt, format.sound),
        text: prompt.text.clone(),
    }
}

/// Everything that can change a sound. The written text is not in it: only how it is spoken.
fn fingerprint(prompt: &Prompt, format: OutputFormat) -> String {
    let mut hash = Sha256::new();
    let mut part = |text: &str| {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text.as_bytes());
    };
    part("sauti-prompt-3");
    part(&prompt.voice_id);
    part(&prompt.model_version);
    part(&prompt.direction.speed.to_string());
    // Only where they are asked for: what older versions spoke keeps its hash.
    let (pitch, volume) = (prompt.direction.pitch, prompt.direction.volume);
    if (pitch.get(), volume.get()) != (0.0, 0.0) {
        part(&format!("{pitch} {volume}"));
    }
    part(&format.to_string());
    part(&prompt.script.identity());
    hex::encode(&hash.finalize()[..16])
}

fn write(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let Some(folder) = path.parent() else {
        bail!("{} is no file", path.display())
    };
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    crate::commands::write_whole(path, bytes)
}
