//! What belongs to the recogniser, and the checks that it is whole.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::SpeechError;

/// `manifest.json`: the model's version and the SHA-256 of every file beside it.
#[derive(Debug, Clone, serde::Deserialize, serde::Serialize)]
pub struct Manifest {
    pub version: String,
    pub files: BTreeMap<String, String>,
}

impl Manifest {
    pub fn read(dir: &Path) -> Result<Self, SpeechError> {
        let path = dir.join("manifest.json");
        let text = std::fs::read_to_string(&path).map_err(|error| unreadable(&path, &error))?;
        serde_json::from_str(&text)
            .map_err(|error| SpeechError::Model(format!("{}: {error}", path.display())))
    }

    /// The bytes of a listed file, refused unless they are the very bytes that were released.
    pub fn load(&self, dir: &Path, name: &str) -> Result<Vec<u8>, SpeechError> {
        let path = self.listed(dir, name)?;
        let bytes = std::fs::read(&path).map_err(|error| unreadable(&path, &error))?;
        self.check(dir, name, &bytes)?;
        Ok(bytes)
    }

    pub fn listed(&self, dir: &Path, name: &str) -> Result<PathBuf, SpeechError> {
        let path = dir.join(name);
        if self.files.contains_key(name) {
            return Ok(path);
        }
        Err(SpeechError::Model(format!(
            "{} is not in the manifest; install the models again",
            path.display()
        )))
    }

    pub fn check(&self, dir: &Path, name: &str, bytes: &[u8]) -> Result<(), SpeechError> {
        let path = self.listed(dir, name)?;
        if self
            .files
            .get(name)
            .is_some_and(|sum| *sum == sha256_hex(bytes))
        {
            return Ok(());
        }
        Err(SpeechError::Model(format!(
            "{} is damaged or of another version (SHA-256 differs from the manifest); install the models again",
            path.display()
        )))
    }
}

fn unreadable(path: &Path, error: &std::io::Error) -> SpeechError {
    SpeechError::Model(format!(
        "{}: {error}; install the models or set the models folder",
        path.display()
    ))
}

pub fn sha256_hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    let mut out = String::new();
    for byte in Sha256::digest(bytes) {
        // Writing to a string cannot fail.
        let _ = write!(out, "{byte:02x}");
    }
    out
}
