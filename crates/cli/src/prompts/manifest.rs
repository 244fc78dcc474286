//! `manifest.csv`: what was built, for people and telephone systems, and for the next run.

use std::path::Path;

use anyhow::Context;
use serde::{Deserialize, Serialize};

const NAME: &str = "manifest.csv";

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Row {
    pub id: String,
    pub voice: String,
    pub format: String,
    /// Relative to the folder.
    pub file: String,
    pub seconds: f64,
    pub bytes: u64,
    /// Changes when the sound would.
    pub hash: String,
    pub text: String,
}

#[derive(Debug, Default)]
pub(super) struct PromptManifest {
    pub rows: Vec<Row>,
}

impl PromptManifest {
    /// Of the last run; empty where there was none.
    pub(super) fn read(folder: &Path) -> anyhow::Result<Self> {
        let path = folder.join(NAME);
        if !path.exists() {
            return Ok(Self::default());
        }
        let read = || csv::Reader::from_path(&path)?.deserialize().collect();
        let rows: Result<Vec<Row>, csv::Error> = read();
        let rows = rows.with_context(|| format!("{} is not one of ours", path.display()))?;
        Ok(Self { rows })
    }

    pub(super) fn find(&self, file: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.file == file)
    }

    /// Whether the same sound lies in the folder already.
    pub(super) fn holds(&self, row: &Row, folder: &Path) -> bool {
        self.find(&row.file).is_some_and(|old| {
            let on_disk = std::fs::metadata(folder.join(&old.file));
            old.hash == row.hash && on_disk.is_ok_and(|meta| meta.len() == old.bytes)
        })
    }

    /// These rows, and those of before that they do not replace.
    pub(super) fn with(&self, rows: &[Row]) -> Self {
        let replaced = |old: &&Row| !rows.iter().any(|row| row.file == old.file);
        Self {
            rows: rows
                .iter()
                .chain(self.rows.iter().filter(replaced))
                .cloned()
                .collect(),
        }
    }

    pub(super) fn write(&self, folder: &Path) -> anyhow::Result<()> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        for row in &self.rows {
            writer.serialize(row)?;
        }
        let bytes = writer
            .into_inner()
            .context("the manifest could not be finished")?;
        super::write(&folder.join(NAME), &bytes)
    }
}
