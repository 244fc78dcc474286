//! A recording on its way to the decoder, whoever brings it: a form, an address, the database. Small ones stay in memory,
//! large ones go to a file that has no name.

use std::fs::File;
use std::io::{self, Seek};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use sauti_audio::{AudioError, GUESS_BYTES, RawFormat, guess_seconds};
use sha2::{Digest, Sha256};
use tokio::io::AsyncWriteExt;

const MEMORY_BYTES_MAX: usize = 1024 * 1024;

#[derive(Debug, thiserror::Error)]
pub enum SpoolError {
    #[error("the recording has more than {bytes_max} bytes")]
    TooLarge { bytes_max: u64 },
    /// A disk that is full, most of the time.
    #[error("the recording cannot be put down: {0}")]
    Disk(#[from] io::Error),
    /// What the sender says of it cannot be.
    #[error(transparent)]
    Declared(#[from] AudioError),
}

#[derive(Debug)]
pub enum Source {
    Memory(Vec<u8>),
    File(File),
}

#[derive(Debug)]
pub struct Upload {
    pub source: Source,
    pub bytes: u64,
    pub sha256: [u8; 32],
    /// What the caller says it is, for recordings without a header of their own.
    pub declared: Option<RawFormat>,
}

impl Upload {
    /// About how long the recording is, from a glance at both its ends.
    pub fn about_seconds(&self) -> f64 {
        let (mut head, mut tail) = (Vec::new(), Vec::new());
        match &self.source {
            Source::Memory(bytes) => {
                head.extend_from_slice(&bytes[..bytes.len().min(GUESS_BYTES)]);
                tail.extend_from_slice(&bytes[bytes.len().saturating_sub(GUESS_BYTES)..]);
            }
            Source::File(file) => {
                head.resize(GUESS_BYTES, 0);
                tail.resize(GUESS_BYTES, 0);
                let at = self.bytes.saturating_sub(GUESS_BYTES as u64);
                let read = file
                    .read_exact_at(&mut head, 0)
                    .and_then(|()| file.read_exact_at(&mut tail, at));
                if read.is_err() {
                    head.clear();
                    tail.clear();
                }
            }
        }
        guess_seconds(&head, &tail, self.bytes, self.declared)
    }
}

/// Takes a recording in, piece by piece.
pub struct Spool {
    dir: PathBuf,
    bytes_max: u64,
    memory: Vec<u8>,
    file: Option<tokio::fs::File>,
    digest: Sha256,
    bytes: u64,
}

impl Spool {
    pub fn new(dir: &Path, bytes_max: u64) -> Spool {
        Spool {
            dir: dir.to_owned(),
            bytes_max,
            memory: Vec::new(),
            file: None,
            digest: Sha256::new(),
            bytes: 0,
        }
    }

    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    pub async fn add(&mut self, piece: &[u8]) -> Result<(), SpoolError> {
        self.bytes += piece.len() as u64;
        if self.bytes > self.bytes_max {
            let bytes_max = self.bytes_max;
            return Err(SpoolError::TooLarge { bytes_max });
        }
        self.digest.update(piece);
        let file = match &mut self.file {
            Some(file) => file,
            None if self.memory.len() + piece.len() <= MEMORY_BYTES_MAX => {
                self.memory.extend_from_slice(piece);
                return Ok(());
            }
            None => {
                let file = self.file.insert(open_unnamed(&self.dir).await?);
                file.write_all(&std::mem::take(&mut self.memory)).await?;
                file
            }
        };
        Ok(file.write_all(piece).await?)
    }

    /// The content type is the sender's, and counts only where the bytes have no header.
    pub async fn finish(self, content_type: Option<&str>) -> Result<Upload, SpoolError> {
        let declared = match content_type {
            Some(content_type) => RawFormat::from_content_type(content_type)?,
            None => None,
        };
        let source = match self.file {
            None => Source::Memory(self.memory),
            Some(mut file) => {
                // Errors of the last write come out here.
                file.flush().await?;
                let mut file = file.into_std().await;
                file.rewind()?;
                Source::File(file)
            }
        };
        Ok(Upload {
            source,
            bytes: self.bytes,
            sha256: self.digest.finalize().into(),
            declared,
        })
    }
}

/// The file has no name in any folder: nobody else can open it, and it goes when we do.
pub async fn open_unnamed(dir: &Path) -> io::Result<tokio::fs::File> {
    let dir = dir.to_owned();
    let opened = tokio::task::spawn_blocking(move || {
        std::fs::create_dir_all(&dir)?;
        tempfile::tempfile_in(&dir)
    });
    let file = opened.await.map_err(io::Error::other)??;
    Ok(tokio::fs::File::from_std(file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn small_recordings_stay_in_memory_and_large_ones_go_to_the_disk() {
        let dir = tempfile::tempdir().unwrap();
        for (pieces, in_memory) in [(1, true), (3, false)] {
            let mut spool = Spool::new(dir.path(), u64::MAX);
            for _ in 0..pieces {
                spool.add(&vec![7; MEMORY_BYTES_MAX / 2 + 1]).await.unwrap();
            }
            let upload = spool.finish(Some("audio/basic")).await.unwrap();
            assert_eq!(matches!(upload.source, Source::Memory(_)), in_memory);
            assert_eq!(upload.declared, Some(RawFormat::Ulaw8000));
            let seconds = upload.bytes as f64 / 8_000.0;
            assert_eq!(upload.about_seconds(), seconds);
        }
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[tokio::test]
    async fn what_is_too_large_or_cannot_be_put_down_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let mut spool = Spool::new(dir.path(), 10);
        spool.add(&[0; 10]).await.unwrap();
        let refused = spool.add(&[0]).await.unwrap_err();
        assert!(matches!(refused, SpoolError::TooLarge { bytes_max: 10 }));
        let file = dir.path().join("not a folder");
        std::fs::write(&file, "").unwrap();
        let mut spool = Spool::new(&file, u64::MAX);
        let refused = spool.add(&vec![0; MEMORY_BYTES_MAX + 1]).await.unwrap_err();
        assert!(matches!(refused, SpoolError::Disk(_)));
    }
}
