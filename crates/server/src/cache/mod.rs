//! Finished speech by its content: asking for the same words in the same voice again costs no
//! model time. Bounded on disk and, for what is asked for most, in memory.

mod disk;
mod entry;
mod memory;

use std::path::PathBuf;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use disk::Disk;
pub use entry::{CachedSpeech, Head, HeadWord};
use memory::Memory;

const MEMORY_BYTES_MAX: usize = 64 * 1024 * 1024;
/// The addresses of requests seen lately; each is 80 bytes or so.
const ALIASES_MAX: usize = 65_536;

/// A SHA-256 over everything that decides how the speech sounds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CacheKey([u8; 32]);

impl CacheKey {
    /// Each part is preceded by its length, so that no two lists of parts read the same.
    pub fn of(parts: &[&[u8]]) -> CacheKey {
        let mut digest = Sha256::new();
        for part in parts {
            digest.update((part.len() as u64).to_le_bytes());
            digest.update(part);
        }
        CacheKey(digest.finalize().into())
    }

    fn hex(&self) -> String {
        use std::fmt::Write;
        self.0
            .iter()
            .fold(String::with_capacity(64), |mut hex, byte| {
                write!(hex, "{byte:02x}").ok();
                hex
            })
    }

    fn from_hex(hex: &str) -> Option<CacheKey> {
        if hex.len() != 64 || !hex.is_ascii() {
            return None;
        }
        let mut bytes = [0; 32];
        for (i, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).ok()?;
        }
        Some(CacheKey(bytes))
    }
}

impl std::fmt::Debug for CacheKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.hex()[..12])
    }
}

#[derive(Debug)]
pub struct SpeechCache {
    /// Shared with the blocking threads that read and write files.
    disk: Option<Arc<Disk>>,
    memory: Memory<CachedSpeech>,
    aliases: Memory<CacheKey>,
}

impl SpeechCache {
    /// Reads the names and sizes of what is there; 0 bytes switches the cache off.
    pub fn open(dir: PathBuf, bytes_max: u64) -> std::io::Result<SpeechCache> {
        let disk = match bytes_max {
            0 => None,
            _ => Some(Arc::new(Disk::open(dir, bytes_max)?)),
        };
        let memory_max = MEMORY_BYTES_MAX.min(usize::try_from(bytes_max).unwrap_or(usize::MAX));
        let aliases_max = if disk.is_some() { ALIASES_MAX } else { 0 };
        Ok(SpeechCache {
            disk,
            memory: Memory::new(memory_max),
            aliases: Memory::new(aliases_max),
        })
    }

    pub async fn get(&self, key: CacheKey) -> Option<Arc<CachedSpeech>> {
        if let Some(found) = self.memory.get(&key) {
            if let Some(disk) = &self.disk {
                disk.touch(&key);
            }
            return Some(found);
        }
        let disk = self.disk.clone()?;
        if !disk.holds(&key) {
            return None;
        }
        let read = tokio::task::spawn_blocking(move || disk.read(&key)).await;
        let found = Arc::new(read.ok().flatten()?);
        self.memory.put(key, Arc::clone(&found), found.bytes());
        Some(found)
    }

    /// Puts it where the next caller finds it at once, and on disk in the background: a write
    /// that fails costs time later and nothing else.
    pub fn put(&self, key: CacheKey, speech: Arc<CachedSpeech>) {
        let Some(disk) = self.disk.clone() else {
            return;
        };
        self.memory.put(key, Arc::clone(&speech), speech.bytes());
        tokio::task::spawn_blocking(move || {
            if let Err(error) = disk.write(key, &speech) {
                tracing::warn!(%error, "speech was not cached on disk");
            }
        });
    }

    /// What a request as written led to before. Saves reading the text again.
    pub fn resolve(&self, request: &CacheKey) -> Option<CacheKey> {
        self.aliases.get(request).map(|key| *key)
    }

    pub fn remember(&self, request: CacheKey, key: CacheKey) {
        self.aliases.put(request, Arc::new(key), 1);
    }

    pub fn bytes_on_disk(&self) -> u64 {
        self.disk.as_ref().map_or(0, |disk| disk.bytes())
    }
}
