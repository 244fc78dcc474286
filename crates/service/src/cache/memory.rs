//! A bounded map that forgets what was asked for longest ago.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};

use super::CacheKey;

#[derive(Debug)]
pub struct Memory<T> {
    shelf: Mutex<Shelf<T>>,
    weight_max: usize,
}

#[derive(Debug)]
struct Shelf<T> {
    items: HashMap<CacheKey, Slot<T>>,
    /// Tick of last use to key: the first is the one to forget.
    by_use: BTreeMap<u64, CacheKey>,
    tick: u64,
    weight: usize,
}

#[derive(Debug)]
struct Slot<T> {
    value: Arc<T>,
    weight: usize,
    used: u64,
}

impl<T> Memory<T> {
    pub fn new(weight_max: usize) -> Memory<T> {
        let shelf = Shelf {
            items: HashMap::new(),
            by_use: BTreeMap::new(),
            tick: 0,
            weight: 0,
        };
        Memory {
            shelf: Mutex::new(shelf),
            weight_max,
        }
    }

    pub fn get(&self, key: &CacheKey) -> Option<Arc<T>> {
        let shelf = &mut *self.lock();
        let item = shelf.items.get_mut(key)?;
        shelf.by_use.remove(&item.used);
        shelf.tick += 1;
        item.used = shelf.tick;
        shelf.by_use.insert(shelf.tick, *key);
        Some(Arc::clone(&item.value))
    }

    /// One thing may take at most a quarter of the room, lest it push out everything else.
    pub fn put(&self, key: CacheKey, value: Arc<T>, weight: usize) {
        if weight > self.weight_max / 4 {
            return;
        }
        let shelf = &mut *self.lock();
        shelf.remove(&key);
        shelf.tick += 1;
        shelf.by_use.insert(shelf.tick, key);
        shelf.items.insert(
            key,
            Slot {
                value,
                weight,
                used: shelf.tick,
            },
        );
        shelf.weight += weight;
        while shelf.weight > self.weight_max {
            let Some((_, oldest)) = shelf.by_use.pop_first() else {
                break;
            };
            shelf.remove(&oldest);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Shelf<T>> {
        self.shelf.lock()
    }
}

impl<T> Shelf<T> {
    fn remove(&mut self, key: &CacheKey) {
        if let Some(item) = self.items.remove(key) {
            self.by_use.remove(&item.used);
            self.weight -= item.weight;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(number: u8) -> CacheKey {
        CacheKey::of(&[&[number]])
    }

    #[test]
    fn the_one_not_asked_for_longest_is_forgotten() {
        let memory = Memory::new(4);
        for number in 1..=4 {
            memory.put(key(number), Arc::new(number), 1);
        }
        assert_eq!(memory.get(&key(1)).as_deref(), Some(&1));
        memory.put(key(5), Arc::new(5), 1);
        assert_eq!(memory.get(&key(2)), None);
        assert_eq!(memory.get(&key(1)).as_deref(), Some(&1));
        let shelf = memory.lock();
        assert_eq!(shelf.items.len(), shelf.by_use.len());
    }

    #[test]
    fn what_is_too_heavy_is_not_kept() {
        let memory = Memory::new(100);
        memory.put(key(1), Arc::new(1), 26);
        assert_eq!(memory.get(&key(1)), None);
    }
}
