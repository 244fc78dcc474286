//! A folder with a model: `manifest.json` names its format, its version and each file's size, CRC-32 and SHA-256. The
//! CRC is checked at each start: SHA-256 would take as long as all the rest of it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::SpeechError;

const REMEDY: &str = "install the models again or set the models folder";

#[derive(Deserialize)]
struct ModelManifest {
    format: String,
    model_version: String,
    files: HashMap<String, Listed>,
}

#[derive(Deserialize)]
struct Listed {
    bytes: u64,
    crc32: String,
    sha256: String,
}

/// Whether every file of a model is the one that was released: how many there are, and their bytes.
pub fn check_model(folder: &Path) -> Result<(usize, u64), SpeechError> {
    let model = ModelFolder {
        manifest: read_json(&folder.join("manifest.json"))?,
        folder: folder.to_owned(),
    };
    let mut bytes = 0;
    for (name, listed) in &model.manifest.files {
        let read = model.read(name)?;
        if hex::encode(Sha256::digest(&read)) != listed.sha256 {
            let what = "does not have the SHA-256 of the manifest";
            return Err(damaged(&model.path(name), what));
        }
        bytes += read.len() as u64;
    }
    Ok((model.manifest.files.len(), bytes))
}

/// The folder of a model whose manifest has been read.
pub(crate) struct ModelFolder {
    folder: PathBuf,
    manifest: ModelManifest,
}

impl ModelFolder {
    pub(crate) fn recogniser(models_dir: &Path) -> Result<Self, SpeechError> {
        Self::open(&models_dir.join("recogniser"), "sauti-recogniser-1")
    }

    /// `format` is the only one that the caller can read.
    pub(crate) fn open(folder: &Path, format: &str) -> Result<Self, SpeechError> {
        let path = folder.join("manifest.json");
        let manifest: ModelManifest = read_json(&path)?;
        if manifest.format != format {
            let what = format!(
                "is for format {:?}, this program reads {format:?}",
                manifest.format
            );
            return Err(damaged(&path, &what));
        }
        Ok(Self {
            folder: folder.to_owned(),
            manifest,
        })
    }

    pub(crate) fn model_version(&self) -> &str {
        &self.manifest.model_version
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The file's bytes, if they are the ones the manifest names.
    pub(crate) fn read(&self, name: &str) -> Result<Vec<u8>, SpeechError> {
        let path = self.path(name);
        let bytes = std::fs::read(&path).map_err(|error| damaged(&path, &error.to_string()))?;
        self.check(name, &bytes)?;
        Ok(bytes)
    }

    /// Refuses bytes that are damaged or of another release.
    pub(crate) fn check(&self, name: &str, bytes: &[u8]) -> Result<(), SpeechError> {
        let path = self.path(name);
        let listed = self.manifest.files.get(name);
        let listed = listed.ok_or_else(|| damaged(&path, "is not in the manifest"))?;
        if bytes.len() as u64 != listed.bytes {
            let what = format!("has {} bytes instead of {}", bytes.len(), listed.bytes);
            return Err(damaged(&path, &what));
        }
        if format!("{:08x}", crc32fast::hash(bytes)) != listed.crc32 {
            return Err(damaged(&path, "does not have the CRC-32 of the manifest"));
        }
        Ok(())
    }
}

pub(crate) fn read_json<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T, SpeechError> {
    let text = std::fs::read(path).map_err(|error| damaged(path, &error.to_string()))?;
    serde_json::from_slice(&text).map_err(|error| damaged(path, &error.to_string()))
}

fn damaged(path: &Path, what: &str) -> SpeechError {
    SpeechError::Model(format!("{}: {what}; {REMEDY}", path.display()))
}
