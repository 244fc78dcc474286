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

use crate::valkey::Valkey;

const MEMORY_BYTES_MAX: usize = 64 * 1024 * 1024;
/// The addresses of requests seen lately; each is 80 bytes or so.
const ALIASES_MAX: usize = 65_536;

/// What is larger stays with the process that made it: it would hold up smaller answers on the way.
const SHARED_BYTES_MAX: usize = 2 * 1024 * 1024;
const SHARED_S: u32 = 7 * 86_400;

fn shared_name(key: &CacheKey) -> String {
    format!("sauti:speech:{}", key.hex())
}

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
    /// What other processes made is found here.
    shared: Option<Arc<Valkey>>,
}

impl SpeechCache {
    /// Reads the names and sizes of what is there; 0 bytes switches the cache off.
    pub fn open(
        dir: PathBuf,
        bytes_max: u64,
        valkey: Option<Arc<Valkey>>,
    ) -> std::io::Result<SpeechCache> {
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
            shared: valkey.filter(|_| bytes_max > 0),
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
            return self.get_shared(key).await;
        }
        let read = tokio::task::spawn_blocking(move || disk.read(&key)).await;
        let found = Arc::new(read.ok().flatten()?);
        self.memory.put(key, Arc::clone(&found), found.bytes());
        Some(found)
    }

    /// What another process made; kept here too from now on. Its checksum is looked at like that of a file.
    async fn get_shared(&self, key: CacheKey) -> Option<Arc<CachedSpeech>> {
        let valkey = self.shared.as_ref()?;
        let mut command = redis::cmd("GET");
        command.arg(shared_name(&key));
        let file: Option<Vec<u8>> = valkey.command("cache", &command).await?;
        let found = Arc::new(CachedSpeech::from_file(file?)?);
        self.put_here(key, Arc::clone(&found));
        Some(found)
    }

    /// Puts it where the next caller finds it at once, and elsewhere in the background: a write that fails costs time
    /// later and nothing else.
    pub fn put(&self, key: CacheKey, speech: Arc<CachedSpeech>) {
        self.put_here(key, Arc::clone(&speech));
        if let Some(valkey) = self.shared.clone()
            && speech.bytes() <= SHARED_BYTES_MAX
        {
            tokio::spawn(async move {
                let mut command = redis::cmd("SET");
                command.arg(shared_name(&key)).arg(speech.to_file());
                command.arg("EX").arg(SHARED_S);
                let _: Option<()> = valkey.command("cache", &command).await;
            });
        }
    }

    fn put_here(&self, key: CacheKey, speech: Arc<CachedSpeech>) {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn speech() -> Arc<CachedSpeech> {
        let head = Head {
            seconds: 1.0,
            spoken: "moja".into(),
            words: Vec::new(),
        };
        let audio = bytes::Bytes::from_static(b"RIFF....");
        Arc::new(CachedSpeech { head, audio })
    }

    #[tokio::test]
    #[ignore = "needs Valkey: ./test valkey"]
    async fn what_one_process_made_another_finds_in_valkey() {
        let (here, there) = (Valkey::of_the_tests(), Valkey::of_the_tests());
        let folder = tempfile::tempdir().unwrap();
        let open = |name: &str, valkey| {
            SpeechCache::open(folder.path().join(name), 1_000_000, Some(valkey)).unwrap()
        };
        let (one, other) = (open("one", here), open("other", there));
        let key = CacheKey::of(&[sauti_store::ids::new_id("k").as_bytes()]);
        assert_eq!(other.get(key).await, None);
        one.put(key, speech());
        for _ in 0..500 {
            if let Some(found) = other.get(key).await {
                assert_eq!(found, speech());
                assert!(other.memory.get(&key).is_some(), "kept from now on");
                let alone = open("alone", Valkey::that_is_away());
                assert_eq!(alone.get(key).await, None, "a miss while Valkey is away");
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        panic!("the other process never found it");
    }
}
