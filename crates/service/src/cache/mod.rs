//! Finished speech by its content: asking for the same words in the same voice again costs no
//! model time. Bounded on disk and, for what is asked for most, in memory, and kept for a time that
//! the settings say.

mod disk;
mod entry;
mod memory;
mod secret;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use disk::Disk;
pub use entry::CachedSpeech;
pub use memory::Memory;
pub(crate) use secret::CacheSecret;

use crate::parts_digest::digest_of;
use crate::valkey::Valkey;

const MEMORY_BYTES_MAX: usize = 64 * 1024 * 1024;

/// What is larger stays with the process that made it: it would hold up smaller answers on the way.
const SHARED_BYTES_MAX: usize = 2 * 1024 * 1024;

fn shared_name(key: &CacheKey) -> String {
    format!("sauti:speech:{}", key.hex())
}

/// A SHA-256 over everything that decides how the speech sounds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CacheKey([u8; 32]);

impl CacheKey {
    pub fn of(parts: &[&[u8]]) -> CacheKey {
        CacheKey(digest_of(parts))
    }

    fn hex(&self) -> String {
        hex::encode(self.0)
    }

    fn from_hex(hex: &str) -> Option<CacheKey> {
        let mut bytes = [0; 32];
        hex::decode_to_slice(hex, &mut bytes).ok()?;
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
    secret: CacheSecret,
    keep: Duration,
    /// What other processes made is found here.
    shared: Option<Arc<Valkey>>,
}

impl SpeechCache {
    /// Reads the names and sizes of what is there; 0 bytes switches the cache off.
    pub(crate) fn open(
        dir: PathBuf,
        bytes_max: u64,
        keep: Duration,
        secret: CacheSecret,
        valkey: Option<Arc<Valkey>>,
    ) -> std::io::Result<SpeechCache> {
        let disk = match bytes_max {
            0 => None,
            _ => Some(Arc::new(Disk::open(dir, bytes_max, keep)?)),
        };
        let memory_max = MEMORY_BYTES_MAX.min(usize::try_from(bytes_max).unwrap_or(usize::MAX));
        Ok(SpeechCache {
            disk,
            memory: Memory::new(memory_max),
            secret,
            keep,
            shared: valkey.filter(|_| bytes_max > 0),
        })
    }

    pub async fn get(&self, key: CacheKey) -> Option<Arc<CachedSpeech>> {
        let name = self.secret.name(&key);
        let found = self.memory.get(&name);
        if let Some(found) = found.filter(|found| !found.is_older_than(self.keep)) {
            if let Some(disk) = &self.disk {
                disk.touch(&name);
            }
            return Some(found);
        }
        let disk = self.disk.clone()?;
        if !disk.holds(&name) {
            return self.get_shared(name).await;
        }
        let read = tokio::task::spawn_blocking(move || disk.read(&name)).await;
        let found = Arc::new(read.ok().flatten()?);
        self.memory.put(name, Arc::clone(&found), found.bytes());
        Some(found)
    }

    /// What another process made; kept here too from now on. Its checksum is looked at like that of a file.
    async fn get_shared(&self, name: CacheKey) -> Option<Arc<CachedSpeech>> {
        let valkey = self.shared.as_ref()?;
        let mut command = redis::cmd("GET");
        command.arg(shared_name(&name));
        let file: Option<Vec<u8>> = valkey.command("cache", &command).await?;
        let found = Arc::new(CachedSpeech::from_file(file?)?);
        if found.is_older_than(self.keep) {
            return None;
        }
        self.put_here(name, Arc::clone(&found));
        Some(found)
    }

    /// Puts it where the next caller finds it at once, and elsewhere in the background: a write that fails costs time
    /// later and nothing else.
    pub fn put(&self, key: CacheKey, speech: Arc<CachedSpeech>) {
        let name = self.secret.name(&key);
        self.put_here(name, Arc::clone(&speech));
        if let Some(valkey) = self.shared.clone()
            && speech.bytes() <= SHARED_BYTES_MAX
        {
            let keep_s = self.keep.as_secs();
            tokio::spawn(async move {
                let mut command = redis::cmd("SET");
                command.arg(shared_name(&name)).arg(speech.to_file());
                command.arg("EX").arg(keep_s);
                let _: Option<()> = valkey.command("cache", &command).await;
            });
        }
    }

    fn put_here(&self, name: CacheKey, speech: Arc<CachedSpeech>) {
        let Some(disk) = self.disk.clone() else {
            return;
        };
        self.memory.put(name, Arc::clone(&speech), speech.bytes());
        tokio::task::spawn_blocking(move || {
            if let Err(error) = disk.write(name, &speech) {
                tracing::warn!(%error, "speech was not cached on disk");
            }
        });
    }

    /// Deletes what has been kept for long enough.
    pub(crate) async fn forget_old(&self) {
        if let Some(disk) = self.disk.clone() {
            tokio::task::spawn_blocking(move || disk.forget_old())
                .await
                .ok();
        }
    }

    pub fn bytes_on_disk(&self) -> u64 {
        self.disk.as_ref().map_or(0, |disk| disk.bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Duration = Duration::from_secs(86_400);

    #[tokio::test]
    async fn what_was_kept_for_long_enough_is_not_found_again() {
        let folder = tempfile::tempdir().unwrap();
        let open = |keep| {
            let secret = CacheSecret::load(folder.path(), None).unwrap();
            SpeechCache::open(folder.path().join("cache"), 1_000_000, keep, secret, None).unwrap()
        };
        let key = CacheKey::of(&[b"habari"]);
        let old = Arc::new(entry::sample(vec![7; 100]).made_before(DAY));
        let cache = open(2 * DAY);
        cache.put(key, Arc::clone(&old));
        assert_eq!(cache.get(key).await, Some(Arc::clone(&old)));
        let cache = open(DAY / 2);
        cache.put(key, old);
        assert_eq!(cache.get(key).await, None);
    }

    #[tokio::test]
    #[ignore = "needs Valkey: ./test valkey"]
    async fn what_one_process_made_another_finds_in_valkey() {
        let (here, there) = (Valkey::of_the_tests(), Valkey::of_the_tests());
        let folder = tempfile::tempdir().unwrap();
        let open = |name: &str, valkey| {
            let secret = CacheSecret::load(folder.path(), None).unwrap();
            SpeechCache::open(
                folder.path().join(name),
                1_000_000,
                DAY,
                secret,
                Some(valkey),
            )
            .unwrap()
        };
        let (one, other) = (open("one", here), open("other", there));
        let key = CacheKey::of(&[sauti_store::ids::new_id("k").as_bytes()]);
        assert_eq!(other.get(key).await, None);
        let speech = Arc::new(entry::sample(vec![7; 8]));
        one.put(key, Arc::clone(&speech));
        for _ in 0..500 {
            if let Some(found) = other.get(key).await {
                assert_eq!(found, speech);
                let name = other.secret.name(&key);
                assert!(other.memory.get(&name).is_some(), "kept from now on");
                let alone = open("alone", Valkey::that_is_away());
                assert_eq!(alone.get(key).await, None, "a miss while Valkey is away");
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        panic!("the other process never found it");
    }
}
