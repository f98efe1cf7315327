//! A set of configurations, numbered in the order of their discovery.
//!
//! All configurations are in one arena, packed: a cell takes as many bytes as it needs,
//! one if it is below 128. Hash tables hold ids, and half of the hashes, so that they grow
//! without a look at the configurations. There are several tables, each for some of the hashes, so
//! that several threads can fill them. Configurations are stored whole: equality is decided on
//! bytes, never on hashes.

use std::fmt;
use std::hash::Hasher;
use std::thread;

use hashbrown::HashTable;
use rustc_hash::FxHasher;
use weir_model::ids::Cell;
use weir_model::limits::{Budget, Stop};

/// The number of a stored configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConfigId(u32);

impl ConfigId {
    /// The id as an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Why there is no place for a configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Full {
    /// There are 2^32 configurations.
    Numbers,
    /// A limit was reached.
    Stopped(Stop),
}

impl From<Stop> for Full {
    fn from(stop: Stop) -> Self {
        Self::Stopped(stop)
    }
}

impl fmt::Display for Full {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Numbers => f.write_str("there are more configurations than Weir can number"),
            Self::Stopped(stop) => stop.fmt(f),
        }
    }
}

impl std::error::Error for Full {}

/// A set of configurations, each with the one that it was reached from.
#[derive(Default)]
pub struct Store {
    bytes: Vec<u8>,
    /// Where the bytes of each configuration end, counted from the beginning of its block.
    ends: Vec<u32>,
    /// Where the bytes of each block of configurations begin.
    blocks: Vec<usize>,
    parents: Vec<u32>,
    tables: [HashTable<Entry>; TABLES],
    /// Space to pack in.
    packed: Vec<u8>,
    budget: Budget,
}

/// The number of hash tables.
pub(crate) const TABLES: usize = 16;

/// A configuration in a hash table.
#[derive(Clone, Copy)]
struct Entry {
    id: u32,
    hash: Hash,
}

/// The number of configurations in a block.
const BLOCK: usize = 1 << 14;

const NO_PARENT: u32 = u32::MAX;

impl Store {
    /// An empty store that grows within limits.
    pub fn within(budget: &Budget) -> Self {
        Self { budget: budget.clone(), ..Self::default() }
    }

    /// Lets it grow within other limits.
    pub fn set_budget(&mut self, budget: &Budget) {
        self.budget = budget.clone();
    }

    /// Number of configurations.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The bytes that the store takes up.
    pub fn bytes(&self) -> usize {
        self.bytes.capacity()
            + (self.ends.capacity() + self.parents.capacity()) * 4
            + self.table_bytes()
    }

    /// About what the hash tables take up, for so many configurations.
    fn table_bytes(&self) -> usize {
        (self.len() + self.len() / 7).next_power_of_two() * (size_of::<Entry>() + 1)
    }

    /// The id of the configuration numbered `index`, if there is one.
    pub fn id(&self, index: usize) -> Option<ConfigId> {
        (index < self.len()).then_some(ConfigId(index as u32))
    }

    /// Reads a stored configuration.
    #[inline]
    pub fn read(&self, id: ConfigId, config: &mut Vec<Cell>) {
        config.clear();
        unpack(slice(&self.bytes, &self.ends, &self.blocks, id.0), config);
    }

    /// A stored configuration.
    pub fn get(&self, id: ConfigId) -> Vec<Cell> {
        let mut config = Vec::new();
        self.read(id, &mut config);
        config
    }

    /// The id of a configuration, if it is there.
    #[inline]
    pub fn find(&self, config: &[Cell]) -> Option<ConfigId> {
        let mut packed = Vec::with_capacity(config.len() + 8);
        pack(config, &mut packed);
        self.find_packed(&packed, Hash::of(&packed))
    }

    /// The id of a packed configuration with this hash, if it is there.
    #[inline]
    pub(crate) fn find_packed(&self, packed: &[u8], hash: Hash) -> Option<ConfigId> {
        let same = |entry: &Entry| {
            entry.hash == hash && slice(&self.bytes, &self.ends, &self.blocks, entry.id) == packed
        };
        self.tables[hash.table()].find(hash.spread(), same).map(|entry| ConfigId(entry.id))
    }

    /// The configuration from which this one was reached first.
    pub fn parent(&self, id: ConfigId) -> Option<ConfigId> {
        let parent = self.parents[id.index()];
        (parent != NO_PARENT).then_some(ConfigId(parent))
    }

    /// Adds a configuration; `None` if it was there.
    ///
    /// # Errors
    /// If there is no number left for it, or a limit is reached.
    #[inline]
    pub fn insert(
        &mut self,
        config: &[Cell],
        parent: Option<ConfigId>,
    ) -> Result<Option<ConfigId>, Full> {
        let mut packed = std::mem::take(&mut self.packed);
        packed.clear();
        pack(config, &mut packed);
        let inserted = self.insert_packed(&packed, Hash::of(&packed), parent);
        self.packed = packed;
        inserted
    }

    /// Adds a packed configuration with this hash; `None` if it was there.
    ///
    /// # Errors
    /// If there is no number left for it, or a limit is reached.
    #[inline]
    pub(crate) fn insert_packed(
        &mut self,
        packed: &[u8],
        hash: Hash,
        parent: Option<ConfigId>,
    ) -> Result<Option<ConfigId>, Full> {
        self.budget.tick()?;
        if self.find_packed(packed, hash).is_some() {
            return Ok(None);
        }
        let id = self.append(packed, parent)?;
        self.tables[hash.table()]
            .insert_unique(hash.spread(), Entry { id: id.0, hash }, |entry| entry.hash.spread());
        Ok(Some(id))
    }

    /// Adds a packed configuration that is not there, and that [`enter`](Self::enter) will enter
    /// into the hash tables.
    ///
    /// # Errors
    /// If there is no number left for it, or a limit is reached.
    #[inline]
    pub(crate) fn append(
        &mut self,
        packed: &[u8],
        parent: Option<ConfigId>,
    ) -> Result<ConfigId, Full> {
        let Self { bytes, ends, blocks, .. } = self;
        let id =
            u32::try_from(ends.len()).ok().filter(|&id| id != NO_PARENT).ok_or(Full::Numbers)?;
        if ends.len().is_power_of_two() {
            // The old tables go when the new ones are filled.
            self.budget.check_room(3 * ends.len() * size_of::<Entry>())?;
        }
        if bytes.len() + packed.len() > bytes.capacity() {
            self.budget.check_room(bytes.capacity())?;
        }
        if ends.len() == ends.capacity() {
            self.budget.check_room(2 * 4 * ends.capacity())?;
        }
        if ends.len().is_multiple_of(BLOCK) {
            blocks.push(bytes.len());
        }
        bytes.extend_from_slice(packed);
        let end = bytes.len() - blocks[blocks.len() - 1];
        ends.push(u32::try_from(end).map_err(|_| Full::Numbers)?);
        self.parents.push(parent.map_or(NO_PARENT, |p| p.0));
        Ok(ConfigId(id))
    }

    /// Enters configurations that were [appended](Self::append) into the hash tables, with several
    /// threads.
    pub(crate) fn enter(&mut self, appended: &[(Hash, ConfigId)], threads: usize) {
        // A few are not worth a thread.
        let threads = if appended.len() < 256 { 1 } else { threads };
        let share = TABLES.div_ceil(threads);
        let enter = |first: usize, tables: &mut [HashTable<Entry>]| {
            for &(hash, id) in appended {
                if let Some(table) = hash.table().checked_sub(first).and_then(|i| tables.get_mut(i))
                {
                    let entry = Entry { id: id.0, hash };
                    table.insert_unique(hash.spread(), entry, |entry| entry.hash.spread());
                }
            }
        };
        thread::scope(|scope| {
            let mut shares = self.tables.chunks_mut(share).enumerate();
            let own = shares.next();
            for (i, tables) in shares {
                scope.spawn(move || enter(i * share, tables));
            }
            own.into_iter().for_each(|(_, tables)| enter(0, tables));
        });
    }

    /// The id of a configuration, which is added if it was not there.
    ///
    /// # Errors
    /// If there is no number left for it, or a limit is reached.
    pub fn find_or_insert(
        &mut self,
        config: &[Cell],
        parent: Option<ConfigId>,
    ) -> Result<ConfigId, Full> {
        match self.find(config) {
            Some(id) => Ok(id),
            None => self.insert(config, parent).map(|id| id.expect("it was not there")),
        }
    }
}

#[inline]
fn slice<'a>(bytes: &'a [u8], ends: &[u32], blocks: &[usize], id: u32) -> &'a [u8] {
    let id = id as usize;
    let block = blocks[id / BLOCK];
    let start = if id.is_multiple_of(BLOCK) { 0 } else { ends[id - 1] as usize };
    &bytes[block + start..block + ends[id] as usize]
}

/// Appends the cells of a configuration, seven bits to a byte, the lowest first; all bytes of
/// a cell but the last have the highest bit.
#[inline]
pub fn pack(config: &[Cell], packed: &mut Vec<u8>) {
    // Nearly always one byte is enough for every cell.
    let (begin, mut all) = (packed.len(), 0);
    packed.extend(config.iter().map(|&cell| {
        all |= cell;
        cell as u8
    }));
    if all < 0x80 {
        return;
    }
    packed.truncate(begin);
    for &cell in config {
        let mut rest = cell;
        while rest >= 0x80 {
            packed.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        packed.push(rest as u8);
    }
}

/// Appends the cells that [`pack`] packed.
#[inline]
pub fn unpack(packed: &[u8], config: &mut Vec<Cell>) {
    let (begin, mut all) = (config.len(), 0);
    config.extend(packed.iter().map(|&byte| {
        all |= byte;
        u32::from(byte)
    }));
    if all < 0x80 {
        return;
    }
    config.truncate(begin);
    let (mut cell, mut shift) = (0, 0);
    for &byte in packed {
        cell |= u32::from(byte & 0x7f) << shift;
        shift += 7;
        if byte < 0x80 {
            config.push(cell);
            (cell, shift) = (0, 0);
        }
    }
}

/// Half of the hash of a packed configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hash(u32);

impl Hash {
    #[inline]
    pub fn of(packed: &[u8]) -> Self {
        let mut hasher = FxHasher::default();
        hasher.write(packed);
        // The hasher has its best 32 bits in the lowest 26 and the highest 6.
        let hash = hasher.finish();
        Self(hash as u32 & 0x03ff_ffff | (hash >> 58 << 26) as u32)
    }

    /// The hash table that it is in.
    #[inline]
    pub fn table(self) -> usize {
        (self.0 >> 20) as usize % TABLES
    }

    /// As much as a hash table wants: it uses the highest and the lowest bits.
    #[inline]
    pub fn spread(self) -> u64 {
        u64::from(self.0) << 32 | u64::from(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_each_once() {
        let mut store = Store::default();
        let first = store.insert(&[1, 2, 3], None).unwrap().unwrap();
        let second = store.insert(&[1, 2], Some(first)).unwrap().unwrap();
        assert_eq!(store.insert(&[1, 2, 3], Some(second)), Ok(None));
        assert_eq!(store.get(second), [1, 2]);
        let wide = [0, 127, 128, 300, 1 << 14, u32::MAX];
        let third = store.insert(&wide, None).unwrap().unwrap();
        assert_eq!(store.get(third), wide);
        assert_eq!((store.find(&[1, 2]), store.find(&[2])), (Some(second), None));
        assert_eq!(store.parent(second), Some(first));
        assert_eq!(store.parent(first), None);
        for i in 0..100_000_u32 {
            let fresh = store.insert(&[i, i / 3, 7, 7, i % 5], None).unwrap();
            assert!(fresh.is_some());
        }
        for i in 0..100_000_u32 {
            assert_eq!(store.insert(&[i, i / 3, 7, 7, i % 5], None), Ok(None));
        }
        assert_eq!(store.len(), 100_003);
    }
}
