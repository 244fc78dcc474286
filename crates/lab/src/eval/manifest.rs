//! Lists of recordings or sentences: tab-separated lines under a header that names the columns.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use sauti_audio::{DecodeLimits, decode_bytes};

use super::tar::Archive;

/// A recording and what is said in it.
#[derive(Debug, Clone, PartialEq)]
pub struct Clip {
    /// As the list names it: a path beside the list, or a member of the archive of its name.
    pub file: String,
    pub text: String,
    pub speaker: String,
}

#[derive(Debug)]
pub struct ClipManifest {
    pub clips: Vec<Clip>,
    folder: PathBuf,
    archive: Option<Archive>,
}

impl ClipManifest {
    /// Reads `NAME.tsv`, and looks for `NAME.tar` next to it.
    pub fn open(path: &Path) -> anyhow::Result<Self> {
        let table = TsvTable::open(path)?;
        let file = table.column(&["file", "path"])?;
        let text = table.column(&["text", "sentence"])?;
        let speaker = table.column(&["speaker"]).ok();
        let clip = |row: &Vec<String>| Clip {
            file: row[file].clone(),
            text: row[text].clone(),
            speaker: speaker.map_or_else(String::new, |column| row[column].clone()),
        };
        let tar = path.with_extension("tar");
        Ok(Self {
            clips: table.rows.iter().map(clip).collect(),
            folder: path.parent().unwrap_or(Path::new("")).to_owned(),
            archive: tar.is_file().then(|| Archive::open(&tar)).transpose()?,
        })
    }

    pub fn read(&self, clip: &Clip) -> anyhow::Result<Vec<u8>> {
        let beside = self.folder.join(&clip.file);
        if beside.is_file() {
            return std::fs::read(&beside).with_context(|| clip.file.clone());
        }
        let archive = self.archive.as_ref();
        match archive.and_then(|archive| archive.read(&clip.file)) {
            Some(bytes) => bytes.with_context(|| clip.file.clone()),
            None => bail!(
                "{} is neither beside the list nor in its archive",
                clip.file
            ),
        }
    }

    /// A clip, decoded.
    pub fn samples(&self, clip: &Clip) -> anyhow::Result<Vec<i16>> {
        let bytes = self.read(clip)?;
        let sound = decode_bytes(bytes, None, &DecodeLimits::default(), &|| false);
        let sound = sound.with_context(|| clip.file.clone())?;
        Ok(sound.samples.all()?.into_owned())
    }
}

/// A sentence to speak.
#[derive(Debug, Clone, PartialEq)]
pub struct EvalPrompt {
    pub text: String,
    pub domain: String,
}

pub fn prompts(path: &Path) -> anyhow::Result<Vec<EvalPrompt>> {
    let table = TsvTable::open(path)?;
    let text = table.column(&["text", "sentence", "prompt"])?;
    let domain = table.column(&["domain", "kind"]).ok();
    let prompt = |row: &Vec<String>| EvalPrompt {
        text: row[text].clone(),
        domain: domain.map(|column| row[column].clone()).unwrap_or_default(),
    };
    Ok(table.rows.iter().map(prompt).collect())
}

/// So many of a list, evenly over it: its order often follows speakers or topics. All of it where the limit is 0.
pub(super) fn spread<T>(list: &[T], limit: usize) -> Vec<&T> {
    let count = match limit {
        0 => list.len(),
        _ => limit.min(list.len()),
    };
    (0..count).map(|n| &list[n * list.len() / count]).collect()
}

pub(super) struct TsvTable {
    path: PathBuf,
    pub(super) header: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
}

impl TsvTable {
    pub(super) fn open(path: &Path) -> anyhow::Result<Self> {
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("cannot read {}", path.display()))?;
        let cells = |line: &str| -> Vec<String> {
            let cells = line.split('\t');
            cells.map(|cell| cell.trim().to_owned()).collect()
        };
        let mut lines = text.trim_start_matches('\u{feff}').lines().enumerate();
        let Some((_, first)) = lines.next() else {
            bail!("{} is empty", path.display())
        };
        let header = cells(&first.to_lowercase());
        let mut rows: Vec<Vec<String>> = Vec::new();
        for (number, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
            let mut row = cells(line);
            if row.len() > header.len() {
                bail!(
                    "{}, line {}: more columns than the header names",
                    path.display(),
                    number + 1
                );
            }
            row.resize(header.len(), String::new());
            rows.push(row);
        }
        Ok(Self {
            path: path.to_owned(),
            header,
            rows,
        })
    }

    pub(super) fn column(&self, names: &[&str]) -> anyhow::Result<usize> {
        let found = names
            .iter()
            .find_map(|name| self.header.iter().position(|cell| cell == name));
        found.with_context(|| {
            let columns = self.header.join(", ");
            format!(
                "{}: no column {:?} (there are {columns})",
                self.path.display(),
                names[0]
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(text: &str) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("set.tsv");
        std::fs::write(&path, text).unwrap();
        (folder, path)
    }

    #[test]
    fn columns_are_found_by_their_names_in_any_order() {
        let (folder, path) = list("text\tseconds\tfile\nhabari\t1.2\ta.wav\n\nkwaheri\t2\tb.wav\n");
        std::fs::write(folder.path().join("a.wav"), b"sound").unwrap();
        let manifest = ClipManifest::open(&path).unwrap();
        assert_eq!(manifest.clips.len(), 2);
        assert_eq!(manifest.clips[1].text, "kwaheri");
        assert_eq!(manifest.read(&manifest.clips[0]).unwrap(), b"sound");
        let missing = manifest.read(&manifest.clips[1]).unwrap_err().to_string();
        assert!(missing.contains("b.wav"), "{missing}");
    }

    #[test]
    fn a_list_without_the_needed_column_says_which() {
        let (_folder, path) = list("file\twords\na.wav\thabari\n");
        let error = ClipManifest::open(&path).unwrap_err().to_string();
        assert!(
            error.contains("no column \"text\" (there are file, words)"),
            "{error}"
        );
        let (_folder, path) = list("text\nhabari\tzaidi\n");
        assert!(prompts(&path).unwrap_err().to_string().contains("line 2"));
    }
}
