use std::io::{Error, Read, Result, Seek, SeekFrom};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use symphonia::core::io::MediaSource;

/// A file or a buffer, seekable, of known length.
pub(crate) type AudioSource = Box<dyn MediaSource>;

/// A part of a source that reads as if it were the whole.
pub(crate) struct Window {
    inner: AudioSource,
    start: u64,
    bytes: u64,
    position: u64,
}

impl Window {
    pub(crate) fn new(mut inner: AudioSource, start: u64, bytes: u64) -> Result<Self> {
        inner.seek(SeekFrom::Start(start))?;
        Ok(Self {
            inner,
            start,
            bytes,
            position: 0,
        })
    }
}

impl Read for Window {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let left = self.bytes.saturating_sub(self.position);
        let wanted = buffer
            .len()
            .min(usize::try_from(left).unwrap_or(usize::MAX));
        let count = self.inner.read(&mut buffer[..wanted])?;
        self.position += count as u64;
        Ok(count)
    }
}

impl Seek for Window {
    fn seek(&mut self, to: SeekFrom) -> Result<u64> {
        let wanted = match to {
            SeekFrom::Start(place) => Some(place),
            SeekFrom::Current(offset) => self.position.checked_add_signed(offset),
            SeekFrom::End(offset) => self.bytes.checked_add_signed(offset),
        };
        let place = wanted.and_then(|place| Some((place, self.start.checked_add(place)?)));
        let (wanted, absolute) = place.ok_or(std::io::ErrorKind::InvalidInput)?;
        self.inner.seek(SeekFrom::Start(absolute))?;
        self.position = wanted;
        Ok(wanted)
    }
}

impl MediaSource for Window {
    fn is_seekable(&self) -> bool {
        true
    }

    fn byte_len(&self) -> Option<u64> {
        Some(self.bytes)
    }
}

/// A source of which only so much can be read until the limit is lifted: for readers that keep what a header claims.
pub(crate) struct LimitedHeader {
    pub(crate) inner: AudioSource,
    pub(crate) bytes_left: Arc<AtomicU64>,
}

impl Read for LimitedHeader {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let left = self.bytes_left.load(Ordering::Relaxed);
        if left == 0 {
            return Err(Error::other("its header is too large"));
        }
        let count = self.inner.read(buffer)?;
        let left = left.saturating_sub(count as u64);
        self.bytes_left.store(left, Ordering::Relaxed);
        Ok(count)
    }
}

impl Seek for LimitedHeader {
    fn seek(&mut self, to: SeekFrom) -> Result<u64> {
        self.inner.seek(to)
    }
}

impl MediaSource for LimitedHeader {
    fn is_seekable(&self) -> bool {
        self.inner.is_seekable()
    }

    fn byte_len(&self) -> Option<u64> {
        self.inner.byte_len()
    }
}
