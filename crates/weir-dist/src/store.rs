//! The configurations that one worker keeps.
//!
//! They are whole, as in the ordinary store: a hash collision cannot drop one. They are kept in
//! blocks, none of which moves when the store grows, so that memory grows evenly. What was reached
//! in the present level is *fresh*: it also has the key of the step by which it was reached first,
//! and a smaller key may come later.

use std::hash::Hasher;

use hashbrown::HashTable;
use rustc_hash::FxHasher;

/// The number of configurations in a block.
const BLOCK: usize = 1 << 12;

/// The number of hash tables: each grows by itself.
const TABLES: usize = 64;

/// A configuration of some worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The worker that keeps it.
    pub worker: u16,
    /// Its number there.
    pub id: u32,
}

/// What initial configurations have as the place that they were reached from.
pub const NOWHERE: Place = Place { worker: u16::MAX, id: u32::MAX };

/// Where a step stands in the order of the search: the key of the configuration that it leads from,
/// and its number among the steps from there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StepKey {
    /// The key of the configuration that it leads from.
    pub parent: u64,
    /// Its number among the steps from there.
    pub index: u32,
}

/// A hash of a packed configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hash(u64);

impl Hash {
    /// The hash of a packed configuration: the same on every machine.
    #[inline]
    pub fn of(packed: &[u8]) -> Self {
        let mut hasher = FxHasher::default();
        hasher.write(packed);
        // All bits are used, by different parts.
        let mut hash = hasher.finish();
        hash ^= hash >> 32;
        hash = hash.wrapping_mul(0xd6e8_feb8_6659_fd93);
        hash ^= hash >> 32;
        Self(hash)
    }

    /// The worker, of so many, that keeps a configuration.
    #[inline]
    pub fn worker(self, peers: usize) -> usize {
        (((self.0 >> 32) * peers as u64) >> 32) as usize
    }

    #[inline]
    fn half(self) -> u32 {
        self.0 as u32
    }
}

#[inline]
fn table(half: u32) -> usize {
    (half >> 19) as usize % TABLES
}

#[inline]
fn spread(half: u32) -> u64 {
    u64::from(half) << 32 | u64::from(half)
}

#[derive(Clone, Copy)]
struct Entry {
    id: u32,
    hash: u32,
}

#[derive(Default)]
struct Block {
    bytes: Vec<u8>,
    ends: Vec<u32>,
    parents: Vec<u32>,
    workers: Vec<u16>,
}

impl Block {
    #[inline]
    fn get(&self, i: usize) -> &[u8] {
        let begin = if i == 0 { 0 } else { self.ends[i - 1] as usize };
        &self.bytes[begin..self.ends[i] as usize]
    }
}

/// The configurations that a worker keeps, numbered in the order in which they came.
pub struct Store {
    blocks: Vec<Block>,
    len: u32,
    tables: Vec<HashTable<Entry>>,
    /// The bytes of full blocks.
    full: usize,
    /// The first fresh configuration.
    first_fresh: u32,
    /// For each fresh one, the key of the first step to it.
    fresh: Vec<StepKey>,
}

/// There are 2^32 configurations, or a block of 4 GiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full;

impl Default for Store {
    fn default() -> Self {
        let tables = (0..TABLES).map(|_| HashTable::new()).collect();
        Self { blocks: vec![], len: 0, tables, full: 0, first_fresh: 0, fresh: vec![] }
    }
}

impl Store {
    /// The number of configurations.
    pub fn len(&self) -> u32 {
        self.len
    }

    /// The fresh configurations: the first one, and the keys of all.
    pub fn fresh(&self) -> (u32, &[StepKey]) {
        (self.first_fresh, &self.fresh)
    }

    /// The keys of fresh configurations, none of which is fresh any more.
    pub fn take_fresh(&mut self) -> (u32, Vec<StepKey>) {
        let first = std::mem::replace(&mut self.first_fresh, self.len);
        (first, std::mem::take(&mut self.fresh))
    }

    /// The bytes that the store takes up.
    pub fn bytes(&self) -> usize {
        let last = self.blocks.last().map_or(0, |block| block.bytes.capacity() + BLOCK * 10);
        let tables: usize = self.tables.iter().map(HashTable::allocation_size).sum();
        self.full + last + tables + self.fresh.capacity() * size_of::<StepKey>()
    }

    /// A packed configuration.
    #[inline]
    pub fn get(&self, id: u32) -> &[u8] {
        self.blocks[id as usize / BLOCK].get(id as usize % BLOCK)
    }

    /// Where a configuration was reached from.
    pub fn parent(&self, id: u32) -> Place {
        let (block, i) = (&self.blocks[id as usize / BLOCK], id as usize % BLOCK);
        Place { worker: block.workers[i], id: block.parents[i] }
    }

    /// Adds a configuration that was reached from `parent`, unless it is there. If it is fresh and
    /// this step comes before the one that it has, this is the step by which it was reached.
    ///
    /// # Errors
    /// If there is no number left for it.
    #[inline]
    pub fn insert(
        &mut self,
        packed: &[u8],
        hash: Hash,
        key: StepKey,
        parent: Place,
    ) -> Result<(), Full> {
        let half = hash.half();
        let same = |entry: &Entry| entry.hash == half && self.get(entry.id) == packed;
        if let Some(entry) = self.tables[table(half)].find(spread(half), same) {
            let id = entry.id;
            if id >= self.first_fresh {
                let known = &mut self.fresh[(id - self.first_fresh) as usize];
                if key < *known {
                    *known = key;
                    let block = &mut self.blocks[id as usize / BLOCK];
                    block.parents[id as usize % BLOCK] = parent.id;
                    block.workers[id as usize % BLOCK] = parent.worker;
                }
            }
            return Ok(());
        }
        let id = self.len;
        if id == u32::MAX {
            return Err(Full);
        }
        if (id as usize).is_multiple_of(BLOCK) {
            if let Some(last) = self.blocks.last_mut() {
                last.bytes.shrink_to_fit();
                self.full += last.bytes.capacity() + BLOCK * 10;
            }
            self.blocks.push(Block {
                bytes: Vec::new(),
                ends: Vec::with_capacity(BLOCK),
                parents: Vec::with_capacity(BLOCK),
                workers: Vec::with_capacity(BLOCK),
            });
        }
        let block = self.blocks.last_mut().expect("there is one");
        let end = u32::try_from(block.bytes.len() + packed.len()).map_err(|_| Full)?;
        block.bytes.extend_from_slice(packed);
        block.ends.push(end);
        block.parents.push(parent.id);
        block.workers.push(parent.worker);
        self.fresh.push(key);
        self.len += 1;
        let entry = Entry { id, hash: half };
        self.tables[table(half)].insert_unique(spread(half), entry, |entry| spread(entry.hash));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(parent: u64, index: u32) -> StepKey {
        StepKey { parent, index }
    }

    #[test]
    fn the_first_step_wins_while_a_configuration_is_fresh() {
        let mut store = Store::default();
        let add = |store: &mut Store, n: u32, key, id| {
            let packed = n.to_le_bytes();
            store.insert(&packed, Hash::of(&packed), key, Place { worker: 3, id }).unwrap();
        };
        for n in 0..10_000 {
            add(&mut store, n, key(7, n), n);
        }
        add(&mut store, 5000, key(6, 9), 77);
        add(&mut store, 5000, key(6, 10), 78);
        assert_eq!(store.len(), 10_000);
        assert_eq!(store.parent(5000), Place { worker: 3, id: 77 });
        assert_eq!(store.get(5000), 5000_u32.to_le_bytes());
        assert_eq!(store.fresh().1[5000], key(6, 9));
        let (first, keys) = store.take_fresh();
        assert_eq!((first, keys.len()), (0, 10_000));
        add(&mut store, 5000, key(0, 0), 79);
        add(&mut store, 10_000, key(9, 0), 80);
        assert_eq!(store.parent(5000).id, 77);
        assert_eq!(store.fresh(), (10_000, &[key(9, 0)][..]));
        assert_eq!(store.len(), 10_001);
    }

    #[test]
    fn workers_get_about_the_same() {
        for peers in [1, 2, 3, 5, 64] {
            let mut counts = vec![0_u32; peers];
            for n in 0..64_000_u32 {
                counts[Hash::of(&n.to_le_bytes()).worker(peers)] += 1;
            }
            let fair = 64_000 / peers as u32;
            assert!(counts.iter().all(|c| c.abs_diff(fair) < fair / 4), "{counts:?}");
        }
    }
}
