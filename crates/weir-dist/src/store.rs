//! The configurations that one worker keeps.
//!
//! They are whole, as in the ordinary store: a hash collision cannot drop one. They are kept in
//! blocks, none of which moves when the store grows, so that memory grows evenly. What was reached
//! in the present level is *fresh*: it also has the key of the step by which it was reached first,
//! and a smaller key may come later.
//!
//! With [`Store::spill_to`] the blocks of closed levels are on disk. The hash table stays in memory,
//! and so does where each configuration ends in its block. A configuration whose hash is in the table
//! is compared with the one on disk, byte by byte.

use std::borrow::Cow;
use std::cell::Cell;
use std::hash::Hasher;
use std::io;

use hashbrown::HashTable;
use rustc_hash::FxHasher;

use crate::spill::Spill;

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

/// The bytes that a configuration of a block takes up beside itself: where it ends, and where it was
/// reached from.
const BESIDE: usize = 10;

#[derive(Default)]
struct Block {
    bytes: Vec<u8>,
    ends: Vec<u32>,
    parents: Vec<u32>,
    workers: Vec<u16>,
    /// Where it is on disk; then only `ends` is here. The parents follow the configurations.
    at: Option<u64>,
}

impl Block {
    #[inline]
    fn range(&self, i: usize) -> std::ops::Range<usize> {
        let begin = if i == 0 { 0 } else { self.ends[i - 1] as usize };
        begin..self.ends[i] as usize
    }

    /// Where the parent of a configuration is on disk.
    fn parent_at(&self, at: u64, i: usize) -> u64 {
        let configurations = self.ends.last().copied().unwrap_or(0);
        at + u64::from(configurations) + i as u64 * 6
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
    /// Where the blocks of closed levels are, if they are on disk, and how many are there.
    spill: Option<Spill>,
    spilled: usize,
}

/// Why a configuration is not stored.
#[derive(Debug)]
pub enum Full {
    /// There are 2^32 configurations, or a block of 4 GiB.
    Numbers,
    /// The disk cannot be read or written.
    Disk(io::Error),
}

impl From<io::Error> for Full {
    fn from(error: io::Error) -> Self {
        Self::Disk(error)
    }
}

impl Default for Store {
    fn default() -> Self {
        let tables = (0..TABLES).map(|_| HashTable::new()).collect();
        Self {
            blocks: vec![],
            len: 0,
            tables,
            full: 0,
            first_fresh: 0,
            fresh: vec![],
            spill: None,
            spilled: 0,
        }
    }
}

impl Store {
    /// Keeps the blocks of closed levels on disk from now on.
    pub fn spill_to(&mut self, spill: Spill) {
        self.spill = Some(spill);
    }

    /// The bytes on disk.
    pub fn bytes_on_disk(&self) -> u64 {
        self.spill.as_ref().map_or(0, Spill::len)
    }

    /// Writes the full blocks to disk that have only configurations before this one, none of which is
    /// fresh.
    ///
    /// # Errors
    /// If that is not possible. What was not written is still in memory.
    pub fn spill_before(&mut self, first: u32) -> io::Result<()> {
        let Some(spill) = &mut self.spill else { return Ok(()) };
        debug_assert!(first <= self.first_fresh, "what is fresh may change");
        // The last block may not be full, and does not count as one.
        let full = (first as usize / BLOCK).min(self.blocks.len().saturating_sub(1));
        let mut record = Vec::new();
        for block in &mut self.blocks[self.spilled.min(full)..full] {
            let Block { bytes, parents, workers, .. } = &*block;
            record.clear();
            record.extend_from_slice(bytes);
            for (parent, worker) in parents.iter().zip(workers) {
                record.extend_from_slice(&parent.to_le_bytes());
                record.extend_from_slice(&worker.to_le_bytes());
            }
            let at = spill.add(&record)?;
            self.full -= block.bytes.capacity() + BLOCK * (BESIDE - size_of::<u32>());
            *block =
                Block { ends: std::mem::take(&mut block.ends), at: Some(at), ..Block::default() };
            self.spilled += 1;
        }
        Ok(())
    }

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
        let last = self.blocks.last().map_or(0, |block| block.bytes.capacity() + BLOCK * BESIDE);
        let tables: usize = self.tables.iter().map(HashTable::allocation_size).sum();
        self.full + last + tables + self.fresh.capacity() * size_of::<StepKey>()
    }

    /// A packed configuration.
    ///
    /// # Errors
    /// If it is on disk and cannot be read.
    #[inline]
    pub fn get(&self, id: u32) -> io::Result<Cow<'_, [u8]>> {
        let (block, i) = (&self.blocks[id as usize / BLOCK], id as usize % BLOCK);
        let range = block.range(i);
        let Some(at) = block.at else { return Ok(Cow::Borrowed(&block.bytes[range])) };
        let mut bytes = vec![0; range.len()];
        self.read(at + range.start as u64, &mut bytes)?;
        Ok(Cow::Owned(bytes))
    }

    /// Whether a configuration is this one.
    #[inline]
    fn is(&self, id: u32, packed: &[u8]) -> io::Result<bool> {
        let (block, i) = (&self.blocks[id as usize / BLOCK], id as usize % BLOCK);
        let range = block.range(i);
        match block.at {
            None => Ok(block.bytes[range] == *packed),
            Some(_) if range.len() != packed.len() => Ok(false),
            Some(at) => {
                const FEW: usize = 256;
                let at = at + range.start as u64;
                let (mut few, mut many) = ([0; FEW], Vec::new());
                let bytes = match packed.len() {
                    len @ ..=FEW => &mut few[..len],
                    len => {
                        many.resize(len, 0);
                        &mut many[..]
                    }
                };
                self.read(at, bytes)?;
                Ok(bytes == packed)
            }
        }
    }

    #[inline]
    fn read(&self, at: u64, bytes: &mut [u8]) -> io::Result<()> {
        let missing = || io::Error::other("there is no file");
        self.spill.as_ref().ok_or_else(missing)?.read(at, bytes)
    }

    /// Where a configuration was reached from.
    ///
    /// # Errors
    /// If that is on disk and cannot be read.
    pub fn parent(&self, id: u32) -> io::Result<Place> {
        let (block, i) = (&self.blocks[id as usize / BLOCK], id as usize % BLOCK);
        let Some(at) = block.at else {
            return Ok(Place { worker: block.workers[i], id: block.parents[i] });
        };
        let mut bytes = [0; 6];
        self.read(block.parent_at(at, i), &mut bytes)?;
        let [a, b, c, d, e, f] = bytes;
        Ok(Place { worker: u16::from_le_bytes([e, f]), id: u32::from_le_bytes([a, b, c, d]) })
    }

    /// Adds a configuration that was reached from `parent`, unless it is there. If it is fresh and
    /// this step comes before the one that it has, this is the step by which it was reached.
    ///
    /// # Errors
    /// If there is no number left for it, or the disk fails.
    #[inline]
    pub fn insert(
        &mut self,
        packed: &[u8],
        hash: Hash,
        key: StepKey,
        parent: Place,
    ) -> Result<(), Full> {
        let half = hash.half();
        let failed = Cell::new(None);
        let same = |entry: &Entry| {
            entry.hash == half
                && self.is(entry.id, packed).unwrap_or_else(|error| {
                    failed.set(Some(error));
                    true
                })
        };
        let found = self.tables[table(half)].find(spread(half), same).map(|entry| entry.id);
        if let Some(error) = failed.into_inner() {
            return Err(error.into());
        }
        if let Some(id) = found {
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
            return Err(Full::Numbers);
        }
        if (id as usize).is_multiple_of(BLOCK) {
            if let Some(last) = self.blocks.last_mut() {
                last.bytes.shrink_to_fit();
                self.full += last.bytes.capacity() + BLOCK * BESIDE;
            }
            self.blocks.push(Block {
                bytes: Vec::new(),
                ends: Vec::with_capacity(BLOCK),
                parents: Vec::with_capacity(BLOCK),
                workers: Vec::with_capacity(BLOCK),
                at: None,
            });
        }
        let block = self.blocks.last_mut().expect("there is one");
        let end = u32::try_from(block.bytes.len() + packed.len()).map_err(|_| Full::Numbers)?;
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
        assert_eq!(store.parent(5000).unwrap(), Place { worker: 3, id: 77 });
        assert_eq!(*store.get(5000).unwrap(), 5000_u32.to_le_bytes());
        assert_eq!(store.fresh().1[5000], key(6, 9));
        let (first, keys) = store.take_fresh();
        assert_eq!((first, keys.len()), (0, 10_000));
        add(&mut store, 5000, key(0, 0), 79);
        add(&mut store, 10_000, key(9, 0), 80);
        assert_eq!(store.parent(5000).unwrap().id, 77);
        assert_eq!(store.fresh(), (10_000, &[key(9, 0)][..]));
        assert_eq!(store.len(), 10_001);
    }

    /// The same calls with and without a disk, in levels of several sizes.
    #[test]
    fn what_is_on_disk_is_still_there() {
        let folder = std::env::temp_dir().join(format!("weir-store-{}", std::process::id()));
        let (mut plain, mut spilled) = (Store::default(), Store::default());
        spilled.spill_to(Spill::new(&folder).unwrap());
        let config = |n: u32| [&n.to_le_bytes()[..], &vec![7; n as usize % 300]].concat();
        let mut next = 0_u32;
        for level in [1, 10, 5000, 100, 9000, 4096, 4096, 3] {
            for n in (0..level).map(|n| next + n).chain((0..next).step_by(7)) {
                let (packed, parent) = (config(n), Place { worker: (n % 9) as u16, id: n / 2 });
                for store in [&mut plain, &mut spilled] {
                    store.insert(&packed, Hash::of(&packed), key(1, n), parent).unwrap();
                }
            }
            next += level;
            for store in [&mut plain, &mut spilled] {
                let (first, _) = store.take_fresh();
                store.spill_before(first).unwrap();
                assert_eq!(store.len(), next);
            }
        }
        for id in 0..next {
            assert_eq!(*spilled.get(id).unwrap(), config(id));
            assert_eq!(plain.get(id).unwrap(), spilled.get(id).unwrap());
            assert_eq!(plain.parent(id).unwrap(), spilled.parent(id).unwrap());
        }
        assert_eq!(plain.bytes_on_disk(), 0);
        assert!(spilled.bytes_on_disk() > 1 << 20);
        assert!(spilled.bytes() < plain.bytes() / 2, "{} {}", spilled.bytes(), plain.bytes());
        // The file has no name.
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
        std::fs::remove_dir(folder).unwrap();
    }

    #[test]
    fn a_full_disk_is_an_error() {
        // Where there is no such device, there is nothing to test.
        let Ok(full) = std::fs::OpenOptions::new().read(true).write(true).open("/dev/full") else {
            return;
        };
        let mut store = Store::default();
        store.spill_to(Spill::of(full));
        for n in 0..10_000_u32 {
            let packed = n.to_le_bytes();
            store.insert(&packed, Hash::of(&packed), key(0, n), NOWHERE).unwrap();
        }
        store.take_fresh();
        let error = store.spill_before(10_000).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        assert_eq!(*store.get(77).unwrap(), 77_u32.to_le_bytes());
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
