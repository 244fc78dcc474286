//! The files of the cache: written beside and moved into place, read whole and checked, the
//! least used deleted when the bound is reached.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use parking_lot::{Mutex, MutexGuard};

use super::{CacheKey, CachedSpeech};

/// A half-written file this old has lost its writer.
const STALE: Duration = Duration::from_secs(600);
const SUFFIX: &str = "sound";
/// Earlier versions wrote what was said into these files.
const OLD_SUFFIX: &str = "speech";

#[derive(Debug)]
pub(crate) struct Disk {
    dir: PathBuf,
    bytes_max: u64,
    keep: Duration,
    index: Mutex<Index>,
}

#[derive(Debug, Default)]
struct Index {
    files: HashMap<CacheKey, (u64, u64)>,
    by_use: BTreeMap<u64, CacheKey>,
    tick: u64,
    bytes: u64,
}

impl Disk {
    pub(crate) fn open(dir: PathBuf, bytes_max: u64, keep: Duration) -> io::Result<Disk> {
        fs::create_dir_all(&dir)?;
        let mut found = Vec::new();
        for shelf in fs::read_dir(&dir)?.flatten() {
            if shelf.file_type().is_ok_and(|kind| kind.is_dir()) {
                list_shelf(&shelf.path(), keep, &mut found);
            }
        }
        found.sort();
        let mut index = Index::default();
        for (_, key, bytes) in found {
            index.add(key, bytes);
        }
        let disk = Disk {
            dir,
            bytes_max,
            keep,
            index: Mutex::new(index),
        };
        disk.make_room();
        Ok(disk)
    }

    pub(crate) fn holds(&self, key: &CacheKey) -> bool {
        self.lock().files.contains_key(key)
    }

    pub(crate) fn touch(&self, key: &CacheKey) {
        let mut index = self.lock();
        if let Some((bytes, _)) = index.files.get(key).copied() {
            index.remove(key);
            index.add(*key, bytes);
        }
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.lock().bytes
    }

    /// A file that is not whole, or too old, is deleted and taken as absent.
    pub(crate) fn read(&self, key: &CacheKey) -> Option<CachedSpeech> {
        let path = self.path(key);
        let speech = fs::read(&path).ok().and_then(CachedSpeech::from_file);
        let speech = speech.filter(|speech| !speech.is_older_than(self.keep));
        match &speech {
            Some(_) => self.touch(key),
            None => {
                fs::remove_file(&path).ok();
                self.lock().remove(key);
            }
        }
        speech
    }

    pub(crate) fn write(&self, key: CacheKey, speech: &CachedSpeech) -> io::Result<()> {
        let file = speech.to_file();
        if file.len() as u64 > self.bytes_max / 4 {
            return Ok(());
        }
        let path = self.path(&key);
        let shelf = path.parent().unwrap_or(&self.dir);
        fs::create_dir_all(shelf)?;
        let mut beside = tempfile::Builder::new()
            .suffix(".part")
            .tempfile_in(shelf)?;
        beside.write_all(&file)?;
        // No fsync: after a power cut the checksum tells what did not reach the disk.
        beside.persist(&path).map_err(|error| error.error)?;
        let mut index = self.lock();
        index.remove(&key);
        index.add(key, file.len() as u64);
        drop(index);
        self.make_room();
        Ok(())
    }

    /// Deletes what was written longer ago than it is to be kept. What was used meanwhile is no younger for it.
    pub(crate) fn forget_old(&self) {
        let keys: Vec<CacheKey> = self.lock().files.keys().copied().collect();
        for key in keys {
            let path = self.path(&key);
            let written = fs::metadata(&path).and_then(|meta| meta.modified());
            if written.is_ok_and(|written| is_older_than(written, self.keep)) {
                self.lock().remove(&key);
                fs::remove_file(&path).ok();
            }
        }
    }

    fn make_room(&self) {
        let mut doomed = Vec::new();
        let mut index = self.lock();
        while index.bytes > self.bytes_max {
            let Some((_, key)) = index.by_use.first_key_value().map(|(t, k)| (*t, *k)) else {
                break;
            };
            index.remove(&key);
            doomed.push(key);
        }
        drop(index);
        for key in doomed {
            fs::remove_file(self.path(&key)).ok();
        }
    }

    fn path(&self, key: &CacheKey) -> PathBuf {
        let hex = key.hex();
        self.dir.join(&hex[..2]).join(format!("{hex}.{SUFFIX}"))
    }

    fn lock(&self) -> MutexGuard<'_, Index> {
        self.index.lock()
    }
}

impl Index {
    fn add(&mut self, key: CacheKey, bytes: u64) {
        self.tick += 1;
        self.files.insert(key, (bytes, self.tick));
        self.by_use.insert(self.tick, key);
        self.bytes += bytes;
    }

    fn remove(&mut self, key: &CacheKey) {
        if let Some((bytes, used)) = self.files.remove(key) {
            self.by_use.remove(&used);
            self.bytes -= bytes;
        }
    }
}

fn is_older_than(written: SystemTime, age: Duration) -> bool {
    written.elapsed().is_ok_and(|elapsed| elapsed > age)
}

fn list_shelf(shelf: &Path, keep: Duration, found: &mut Vec<(SystemTime, CacheKey, u64)>) {
    let Ok(files) = fs::read_dir(shelf) else {
        return;
    };
    for file in files.flatten() {
        let path = file.path();
        let Ok(meta) = file.metadata() else { continue };
        let modified = meta.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        let stem = path.file_stem().and_then(|stem| stem.to_str());
        let is = |suffix: &str| {
            path.extension()
                .is_some_and(|extension| extension == suffix)
        };
        let is_doomed = is(OLD_SUFFIX)
            || is(SUFFIX) && is_older_than(modified, keep)
            || is("part") && is_older_than(modified, STALE);
        match stem.and_then(CacheKey::from_hex) {
            _ if is_doomed => drop(fs::remove_file(&path)),
            Some(key) if is(SUFFIX) => found.push((modified, key, meta.len())),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::entry::sample;
    use super::*;

    const DAY: Duration = Duration::from_secs(86_400);

    fn speech(bytes: usize) -> CachedSpeech {
        sample(vec![7; bytes])
    }

    fn key(number: u8) -> CacheKey {
        CacheKey::of(&[&[number]])
    }

    #[test]
    fn the_bound_holds_and_the_least_used_goes() {
        let dir = tempfile::tempdir().unwrap();
        let disk = Disk::open(dir.path().to_owned(), 5_000, DAY).unwrap();
        for number in 1..=4 {
            disk.write(key(number), &speech(1_000)).unwrap();
        }
        disk.read(&key(1)).unwrap();
        disk.write(key(5), &speech(1_000)).unwrap();
        assert!(disk.bytes() <= 5_000);
        assert!(disk.holds(&key(1)) && !disk.holds(&key(2)));
        assert_eq!(disk.read(&key(2)), None);
    }

    #[test]
    fn another_start_finds_what_was_kept() {
        let dir = tempfile::tempdir().unwrap();
        let disk = Disk::open(dir.path().to_owned(), 100_000, DAY).unwrap();
        disk.write(key(1), &speech(10)).unwrap();
        let again = Disk::open(dir.path().to_owned(), 100_000, DAY).unwrap();
        assert_eq!(again.bytes(), disk.bytes());
        assert!(again.read(&key(1)).is_some());
    }

    #[test]
    fn what_is_old_goes_and_so_do_the_files_of_earlier_versions() {
        let dir = tempfile::tempdir().unwrap();
        let open = |keep| Disk::open(dir.path().to_owned(), 100_000, keep).unwrap();
        let disk = open(DAY);
        for number in [1, 2] {
            disk.write(key(number), &speech(10)).unwrap();
        }
        let old = SystemTime::now() - 2 * DAY;
        let file = fs::File::open(disk.path(&key(1))).unwrap();
        file.set_modified(old).unwrap();
        let before = disk.path(&key(2)).with_extension(OLD_SUFFIX);
        fs::write(&before, b"habari").unwrap();
        disk.forget_old();
        assert!(!disk.holds(&key(1)) && disk.holds(&key(2)));
        assert!(!disk.path(&key(1)).exists());
        assert!(open(DAY).holds(&key(2)) && !before.exists());
    }

    #[test]
    fn a_rotten_file_is_deleted() {
        let dir = tempfile::tempdir().unwrap();
        let disk = Disk::open(dir.path().to_owned(), 100_000, DAY).unwrap();
        disk.write(key(1), &speech(10)).unwrap();
        fs::write(disk.path(&key(1)), b"SAUTI half").unwrap();
        assert_eq!(disk.read(&key(1)), None);
        assert!(!disk.path(&key(1)).exists() && disk.bytes() == 0);
    }
}
