//! Who made which clip of a listening test. Listeners never get this list.

use std::fmt::Write;
use std::path::Path;

use anyhow::{Context, ensure};
use sha2::{Digest, Sha256};

use super::super::manifest::TsvTable;

/// Stands in the key for a clip that was made worse on purpose.
pub(super) const ANCHOR: &str = "anchor";

const COLUMNS: [&str; 7] = [
    "trial", "kind", "sentence", "system_a", "clip_a", "system_b", "clip_b",
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TrialKind {
    Pair,
    /// A pair once more, the other way round.
    Repeat,
    /// A clip beside its spoilt version.
    Anchor,
}

impl TrialKind {
    const ALL: [Self; 3] = [Self::Pair, Self::Repeat, Self::Anchor];

    fn word(self) -> &'static str {
        match self {
            Self::Pair => "pair",
            Self::Repeat => "repeat",
            Self::Anchor => ANCHOR,
        }
    }
}

/// Two clips to compare, left and right.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Trial {
    pub name: String,
    pub kind: TrialKind,
    pub sentence: usize,
    pub systems: [String; 2],
    pub clips: [String; 2],
}

impl Trial {
    /// The system that made a clip.
    pub(super) fn maker(&self, clip: &str) -> Option<&str> {
        let side = self.clips.iter().position(|one| one == clip)?;
        Some(&self.systems[side])
    }
}

pub(super) fn text(trials: &[Trial]) -> String {
    let mut text = COLUMNS.join("\t") + "\n";
    for trial in trials {
        let ([system_a, system_b], [clip_a, clip_b]) = (&trial.systems, &trial.clips);
        let (kind, sentence) = (trial.kind.word(), trial.sentence);
        let _ = writeln!(
            text,
            "{}\t{kind}\t{sentence}\t{system_a}\t{clip_a}\t{system_b}\t{clip_b}",
            trial.name
        );
    }
    text
}

/// Names a test, so that answers are never laid beside another test's key.
pub(super) fn test_id(trials: &[Trial]) -> String {
    hex::encode(&Sha256::digest(text(trials))[..6])
}

pub(super) fn read(path: &Path) -> anyhow::Result<Vec<Trial>> {
    let table = TsvTable::open(path)?;
    let mut columns = [0; COLUMNS.len()];
    for (column, name) in columns.iter_mut().zip(COLUMNS) {
        *column = table.column(&[name])?;
    }
    let trial = |row: &Vec<String>| {
        let [name, kind, sentence, system_a, clip_a, system_b, clip_b] =
            columns.map(|column| row[column].clone());
        let known = TrialKind::ALL.into_iter().find(|one| one.word() == kind);
        Ok(Trial {
            kind: known.with_context(|| format!("{kind:?} is no kind of trial"))?,
            sentence: sentence
                .parse()
                .with_context(|| format!("sentence {sentence:?}"))?,
            name,
            systems: [system_a, system_b],
            clips: [clip_a, clip_b],
        })
    };
    let trials: anyhow::Result<Vec<Trial>> = table.rows.iter().map(trial).collect();
    let trials = trials.with_context(|| path.display().to_string())?;
    ensure!(!trials.is_empty(), "{} lists no pairs", path.display());
    Ok(trials)
}
