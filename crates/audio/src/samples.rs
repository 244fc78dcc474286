//! The samples of a recording: some minutes in memory, more in a file, so that memory does not grow with the length.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Write};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::Arc;

use crate::{RawFormat, pcm};

/// Two minutes at 16 kHz.
const MEMORY_SAMPLES_MAX: usize = 120 * 16_000;

/// Samples that are read in parts. Clones share them.
#[derive(Debug, Clone)]
pub struct Samples(Arc<Held>);

#[derive(Debug)]
enum Held {
    Memory(Vec<i16>),
    /// It has no name in any folder and goes with the last clone.
    File(File, usize),
}

impl Samples {
    pub fn len(&self) -> usize {
        match &*self.0 {
            Held::Memory(samples) => samples.len(),
            Held::File(_, len) => *len,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Panics where there are fewer samples, as a slice does.
    pub fn part(&self, range: Range<usize>) -> io::Result<Cow<'_, [i16]>> {
        match &*self.0 {
            Held::Memory(samples) => Ok(Cow::Borrowed(&samples[range])),
            Held::File(file, len) => {
                assert!(range.end <= *len, "{range:?} of {len} samples");
                let mut bytes = vec![0; 2 * range.len()];
                file.read_exact_at(&mut bytes, 2 * range.start as u64)?;
                let format = RawFormat::Pcm16Le { rate_hz: 16_000 };
                Ok(Cow::Owned(format.samples(&bytes)))
            }
        }
    }

    pub fn all(&self) -> io::Result<Cow<'_, [i16]>> {
        self.part(0..self.len())
    }
}

impl From<Vec<i16>> for Samples {
    fn from(samples: Vec<i16>) -> Self {
        Self(Arc::new(Held::Memory(samples)))
    }
}

impl Default for Samples {
    fn default() -> Self {
        Vec::new().into()
    }
}

/// Takes samples in, piece by piece.
pub(crate) struct SamplesWriter {
    /// Where what is too long for the memory goes; none where everything stays there.
    dir: Option<PathBuf>,
    memory: Vec<i16>,
    file: Option<File>,
    written: usize,
}

impl SamplesWriter {
    pub(crate) fn new(dir: Option<PathBuf>) -> Self {
        Self {
            dir,
            memory: Vec::new(),
            file: None,
            written: 0,
        }
    }

    pub(crate) fn push(&mut self, samples: &[f32]) -> io::Result<()> {
        self.memory
            .extend(samples.iter().map(|&s| pcm::i16_from_f32(s)));
        if self.memory.len() <= MEMORY_SAMPLES_MAX {
            return Ok(());
        }
        if let (None, Some(dir)) = (&self.file, &self.dir) {
            std::fs::create_dir_all(dir)?;
            self.file = Some(tempfile::tempfile_in(dir)?);
        }
        self.write()
    }

    /// Moves what is in memory to the file, where there is one.
    fn write(&mut self) -> io::Result<()> {
        let Some(file) = &mut self.file else {
            return Ok(());
        };
        let mut bytes = Vec::with_capacity(2 * self.memory.len());
        pcm::le_bytes(self.memory.drain(..), &mut bytes);
        self.written += bytes.len() / 2;
        file.write_all(&bytes)
    }

    pub(crate) fn finish(mut self) -> io::Result<Samples> {
        self.write()?;
        self.memory.shrink_to_fit();
        Ok(Samples(Arc::new(match self.file {
            Some(file) => Held::File(file, self.written),
            None => Held::Memory(self.memory),
        })))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_recordings_go_to_a_file_and_read_back_as_they_were() {
        let dir = tempfile::tempdir().expect("a folder");
        for (seconds, in_memory) in [(1, true), (121, false), (300, false)] {
            let sound: Vec<i16> = (0..seconds * 16_000).map(|n| (n * 7) as i16).collect();
            let mut writer = SamplesWriter::new(Some(dir.path().to_owned()));
            for piece in sound.chunks(9_999) {
                let piece: Vec<f32> = piece.iter().map(|&s| pcm::f32_from_i16(s)).collect();
                writer.push(&piece).expect("room");
                assert!(writer.memory.len() <= MEMORY_SAMPLES_MAX);
            }
            let samples = writer.finish().expect("room");
            assert_eq!(matches!(&*samples.0, Held::Memory(_)), in_memory);
            assert!(*samples.all().expect("reads") == sound);
            let part = 5_001..samples.len() - 3;
            assert!(*samples.part(part.clone()).expect("reads") == sound[part]);
        }
        assert_eq!(std::fs::read_dir(dir.path()).expect("reads").count(), 0);
    }
}
