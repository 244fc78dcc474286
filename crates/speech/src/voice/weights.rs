//! The model's files: checked against their manifest, then handed out tensor by tensor.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::SpeechError;
use crate::kernels::linear::Linear;

pub(super) const FORMAT: &str = "sauti-voices-1";
const REMEDY: &str = "fetch the models again or run training/voices/export.py";

#[derive(Deserialize)]
struct Manifest {
    format: String,
    model_version: String,
    files: HashMap<String, Listed>,
}

#[derive(Deserialize)]
struct Listed {
    bytes: u64,
    sha256: String,
}

/// The folder of a model whose manifest has been read.
pub(super) struct ModelFolder {
    folder: PathBuf,
    manifest: Manifest,
}

impl ModelFolder {
    pub fn open(folder: &Path) -> Result<Self, SpeechError> {
        let path = folder.join("manifest.json");
        let manifest: Manifest = read_json(&path)?;
        if manifest.format != FORMAT {
            return Err(damaged(
                &path,
                &format!(
                    "is for format {:?}, this program reads {FORMAT:?}",
                    manifest.format
                ),
            ));
        }
        Ok(Self {
            folder: folder.to_owned(),
            manifest,
        })
    }

    pub fn model_version(&self) -> &str {
        &self.manifest.model_version
    }

    /// The file's bytes, if they are the ones the manifest names.
    pub fn read(&self, name: &str) -> Result<Vec<u8>, SpeechError> {
        let path = self.folder.join(name);
        let listed = self
            .manifest
            .files
            .get(name)
            .ok_or_else(|| damaged(&path, "is not in the manifest"))?;
        let bytes = std::fs::read(&path).map_err(|error| damaged(&path, &error.to_string()))?;
        if bytes.len() as u64 != listed.bytes {
            let (found, wanted) = (bytes.len(), listed.bytes);
            return Err(damaged(
                &path,
                &format!("has {found} bytes instead of {wanted}"),
            ));
        }
        if hex(&Sha256::digest(&bytes)) != listed.sha256 {
            return Err(damaged(&path, "does not have the SHA-256 of the manifest"));
        }
        Ok(bytes)
    }
}

pub(super) fn read_json<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T, SpeechError> {
    let text = std::fs::read(path).map_err(|error| damaged(path, &error.to_string()))?;
    serde_json::from_slice(&text).map_err(|error| damaged(path, &error.to_string()))
}

fn damaged(path: &Path, what: &str) -> SpeechError {
    SpeechError::Model(format!("{}: {what}; {REMEDY}", path.display()))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}

#[derive(Deserialize)]
struct Entry {
    dtype: String,
    shape: Vec<usize>,
    data_offsets: [usize; 2],
}

/// Named tensors in the safetensors layout.
pub(super) struct Tensors {
    bytes: Vec<u8>,
    data_start: usize,
    entries: HashMap<String, Entry>,
}

/// A matrix or a stack of rows; a vector has one row.
pub(super) struct Table {
    pub rows: usize,
    pub columns: usize,
    pub values: Vec<f32>,
}

impl Table {
    pub fn row(&self, index: usize) -> &[f32] {
        &self.values[index * self.columns..(index + 1) * self.columns]
    }
}

impl Tensors {
    pub fn parse(bytes: Vec<u8>) -> Result<Self, SpeechError> {
        let broken = || SpeechError::Model(format!("the weights have no valid header; {REMEDY}"));
        let length = bytes.first_chunk::<8>().ok_or_else(broken)?;
        let length = usize::try_from(u64::from_le_bytes(*length)).map_err(|_| broken())?;
        let data_start = length.checked_add(8).ok_or_else(broken)?;
        let header = bytes.get(8..data_start).ok_or_else(broken)?;
        let mut values: HashMap<String, serde_json::Value> =
            serde_json::from_slice(header).map_err(|_| broken())?;
        values.remove("__metadata__");
        let entries = values
            .into_iter()
            .map(|(name, value)| Ok((name, serde_json::from_value(value)?)))
            .collect::<Result<HashMap<String, Entry>, serde_json::Error>>()
            .map_err(|_| broken())?;
        Ok(Self {
            bytes,
            data_start,
            entries,
        })
    }

    /// How many numbered parts `prefix.0`, `prefix.1`, ... there are.
    pub fn count(&self, prefix: &str, suffix: &str) -> usize {
        (0..)
            .take_while(|i| self.entries.contains_key(&format!("{prefix}.{i}.{suffix}")))
            .count()
    }

    fn find(&self, name: &str, dtype: &str) -> Result<(usize, usize, &[u8]), SpeechError> {
        let bad = |what: &str| SpeechError::Model(format!("tensor {name}: {what}; {REMEDY}"));
        let entry = self.entries.get(name).ok_or_else(|| bad("is missing"))?;
        if entry.dtype != dtype {
            return Err(bad(&format!("is {} instead of {dtype}", entry.dtype)));
        }
        let (rows, columns) = match entry.shape[..] {
            [columns] => (1, columns),
            [rows, columns] => (rows, columns),
            _ => return Err(bad("is neither a vector nor a matrix")),
        };
        let [from, to] = entry.data_offsets;
        let data = self.bytes[self.data_start..]
            .get(from..to)
            .ok_or_else(|| bad("lies outside the file"))?;
        let width = if dtype == "F32" { 4 } else { 1 };
        if rows.checked_mul(columns).and_then(|n| n.checked_mul(width)) != Some(data.len()) {
            return Err(bad("has another size than its shape says"));
        }
        Ok((rows, columns, data))
    }

    pub fn table(&self, name: &str) -> Result<Table, SpeechError> {
        let (rows, columns, data) = self.find(name, "F32")?;
        let (floats, _) = data.as_chunks::<4>();
        let values = floats.iter().map(|b| f32::from_le_bytes(*b)).collect();
        Ok(Table {
            rows,
            columns,
            values,
        })
    }

    pub fn vector(&self, name: &str, length: usize) -> Result<Vec<f32>, SpeechError> {
        let table = self.table(name)?;
        if table.values.len() != length {
            let found = table.values.len();
            return Err(SpeechError::Model(format!(
                "tensor {name}: has {found} values instead of {length}; {REMEDY}"
            )));
        }
        Ok(table.values)
    }

    /// A layer of int8 codes with its steps and its bias.
    pub fn linear(&self, name: &str) -> Result<Linear, SpeechError> {
        let (inputs, outputs, codes) = self.codes(&format!("{name}.codes"))?;
        let steps = self.vector(&format!("{name}.scale"), outputs)?;
        let bias = self.vector(&format!("{name}.bias"), outputs)?;
        Ok(Linear::new(&codes, inputs, steps, bias))
    }

    /// int8 codes as (inputs, outputs, values).
    fn codes(&self, name: &str) -> Result<(usize, usize, Vec<i8>), SpeechError> {
        let (rows, columns, data) = self.find(name, "I8")?;
        Ok((
            rows,
            columns,
            data.iter().map(|b| b.cast_signed()).collect(),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(header: &str, data: &[u8]) -> Vec<u8> {
        let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
        bytes.extend_from_slice(header.as_bytes());
        bytes.extend_from_slice(data);
        bytes
    }

    #[test]
    fn a_tensor_comes_back_with_its_shape() {
        let header = r#"{"a":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]}}"#;
        let data: Vec<u8> = [1.5f32, -2.0]
            .iter()
            .flat_map(|v| v.to_le_bytes())
            .collect();
        let table = Tensors::parse(file(header, &data))
            .unwrap()
            .table("a")
            .unwrap();
        assert_eq!((table.rows, table.columns), (2, 1));
        assert_eq!(table.values, [1.5, -2.0]);
    }

    #[test]
    fn damaged_weights_give_an_error_and_no_panic() {
        for bytes in [vec![], vec![255; 8], vec![255; 64], file("{", b"")] {
            assert!(matches!(Tensors::parse(bytes), Err(SpeechError::Model(_))));
        }
        let header = r#"{"a":{"dtype":"F32","shape":[4],"data_offsets":[0,64]}}"#;
        let tensors = Tensors::parse(file(header, &[0; 16])).unwrap();
        assert!(matches!(tensors.table("a"), Err(SpeechError::Model(_))));
        assert!(matches!(tensors.table("b"), Err(SpeechError::Model(_))));
    }
}
