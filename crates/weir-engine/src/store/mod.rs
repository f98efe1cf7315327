//! A set of configurations, numbered in the order of their discovery.
//!
//! Every search stores its configurations here. The store is also the queue of a breadth-first
//! search: [`Store::take_next`] hands out the configurations in the order of their numbers.
//!
//! Configurations are packed ([`numbers`]): a cell takes as many bytes as it needs, one if it is
//! below 128. They are kept in blocks, none of which moves when the store grows. Hash tables hold
//! ids, and half of the hashes, so that they grow without a look at the configurations. There are
//! several tables, each for some of the hashes, so that several threads can fill them.
//! Configurations are stored whole: equality is decided on bytes, never on hashes.
//!
//! With [`Store::spill_to`] the blocks of closed levels are on disk (`spill`). The hash tables stay in
//! memory, and so does where each configuration ends in its block. A configuration whose hash is in
//! a table is compared with the one on disk, byte by byte. If the disk fails, nothing more can be
//! added ([`Full::Disk`]).

mod hash;
pub mod numbers;
mod spill;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt;
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::OnceLock;
use std::thread;

use hashbrown::HashTable;
use weir_model::ids::Cell;
use weir_model::limits::{Budget, Stop};

pub use hash::Hash;
use numbers::{pack, unpack};
use spill::Spill;

/// The number of a stored configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConfigId(pub u32);

impl ConfigId {
    /// The id as an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Where a step stands in the order of one thread: the key of the configuration that it leads
/// from, and its number among the steps from there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StepKey {
    /// The key of the configuration that it leads from.
    pub parent: u64,
    /// Its number among the steps from there.
    pub index: u32,
}

/// Where a configuration was reached from, as a store keeps it.
pub trait Parent: Copy + PartialEq {
    /// What initial configurations have.
    const NONE: Self;

    /// The number that stands for it on disk.
    fn code(self) -> u64;

    /// What a number stands for.
    fn decode(code: u64) -> Self;
}

impl Parent for ConfigId {
    const NONE: Self = Self(u32::MAX);

    fn code(self) -> u64 {
        self.0.into()
    }

    fn decode(code: u64) -> Self {
        Self(code as u32)
    }
}

/// Why there is no place for a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Full {
    /// There are 2^32 configurations.
    Numbers,
    /// A limit was reached.
    Stopped(Stop),
    /// Closed levels cannot be written to disk, or read again.
    Disk(String),
}

impl From<Stop> for Full {
    fn from(stop: Stop) -> Self {
        Self::Stopped(stop)
    }
}

impl From<io::Error> for Full {
    fn from(error: io::Error) -> Self {
        Self::Disk(error.to_string())
    }
}

impl fmt::Display for Full {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Numbers => f.write_str("there are more configurations than Weir can number"),
            Self::Stopped(stop) => stop.fmt(f),
            Self::Disk(error) => write!(f, "closed levels cannot be kept on disk: {error}"),
        }
    }
}

impl std::error::Error for Full {}

/// A set of configurations, each with where it was reached from first: `P` is that of one
/// search, or the place of a configuration among several workers.
pub struct Store<P = ConfigId> {
    blocks: Vec<Block<P>>,
    len: usize,
    /// How many were handed out by [`Store::take_next`].
    taken: usize,
    /// The bytes of all blocks but the last.
    full: usize,
    tables: [HashTable<Entry>; TABLES],
    /// Space to pack in.
    packed: Vec<u8>,
    budget: Budget,
    /// Where the blocks of closed levels are, if they are on disk, and how many are there.
    spill: Option<Spill>,
    spilled: usize,
    /// What went wrong when something was looked up on disk.
    failed: OnceLock<Full>,
}

impl<P> Default for Store<P> {
    fn default() -> Self {
        Self {
            blocks: vec![],
            len: 0,
            taken: 0,
            full: 0,
            tables: Default::default(),
            packed: vec![],
            budget: Budget::default(),
            spill: None,
            spilled: 0,
            failed: OnceLock::new(),
        }
    }
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
const BLOCK: usize = 1 << 12;

/// Configurations, one behind the other.
struct Block<P> {
    /// Empty if the block is on disk.
    bytes: Vec<u8>,
    /// Where each configuration ends.
    ends: Vec<u32>,
    /// Empty if the block is on disk.
    parents: Vec<P>,
    /// Where the block begins on disk. Its parents follow its configurations.
    at: u64,
}

impl<P> Block<P> {
    #[inline]
    fn range(&self, i: usize) -> Range<usize> {
        let begin = if i == 0 { 0 } else { self.ends[i - 1] as usize };
        begin..self.ends[i] as usize
    }

    fn size(&self) -> usize {
        self.bytes.capacity() + self.ends.capacity() * 4 + self.parents.capacity() * size_of::<P>()
    }
}

impl<P: Parent> Store<P> {
    /// An empty store that grows within limits.
    pub fn within(budget: &Budget) -> Self {
        Self { budget: budget.clone(), ..Self::default() }
    }

    /// Lets it grow within other limits.
    pub fn set_budget(&mut self, budget: &Budget) {
        self.budget = budget.clone();
    }

    /// Number of configurations.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The bytes that the store takes up in memory.
    pub fn bytes(&self) -> usize {
        self.full + self.blocks.last().map_or(0, Block::size) + self.table_bytes()
    }

    /// The bytes on disk.
    pub fn bytes_on_disk(&self) -> u64 {
        self.spill.as_ref().map_or(0, Spill::len)
    }

    /// About what the hash tables take up, for so many configurations.
    fn table_bytes(&self) -> usize {
        (self.len + self.len / 7).next_power_of_two() * (size_of::<Entry>() + 1)
    }

    /// The id of the configuration numbered `index`, if there is one.
    #[inline]
    pub fn id(&self, index: usize) -> Option<ConfigId> {
        (index < self.len).then_some(ConfigId(index as u32))
    }

    /// The next configuration in the order of their discovery, if there is one that was not handed
    /// out yet.
    #[inline]
    pub fn take_next(&mut self) -> Option<ConfigId> {
        let id = self.id(self.taken)?;
        self.taken += 1;
        Some(id)
    }

    /// The bytes of a configuration; `None` if they are on disk.
    #[inline]
    fn slice(&self, id: u32) -> Option<&[u8]> {
        let block = &self.blocks[id as usize / BLOCK];
        block.bytes.get(block.range(id as usize % BLOCK))
    }

    /// The bytes of a configuration, packed.
    ///
    /// # Errors
    /// If they are on disk and cannot be read.
    #[inline]
    pub fn packed(&self, id: ConfigId) -> io::Result<Cow<'_, [u8]>> {
        match self.slice(id.0) {
            Some(bytes) => Ok(Cow::Borrowed(bytes)),
            None => {
                let block = &self.blocks[id.index() / BLOCK];
                let range = block.range(id.index() % BLOCK);
                self.on_disk(block.at + range.start as u64, range.len()).map(Cow::Owned)
            }
        }
    }

    #[cold]
    fn on_disk(&self, at: u64, len: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; len];
        let spill = self.spill.as_ref().ok_or_else(|| io::Error::other("there is no file"))?;
        spill.read(at, &mut bytes)?;
        Ok(bytes)
    }

    /// Reads a stored configuration, of a store that keeps nothing on disk or of a level that is not
    /// closed.
    #[inline]
    pub fn read(&self, id: ConfigId, config: &mut Vec<Cell>) {
        config.clear();
        unpack(self.slice(id.0).expect("it is in memory"), config);
    }

    /// A stored configuration, as [`read`](Self::read) reads it.
    pub fn get(&self, id: ConfigId) -> Vec<Cell> {
        let mut config = Vec::new();
        self.read(id, &mut config);
        config
    }

    /// All configurations, as [`read`](Self::read) reads them.
    pub fn all(&self) -> impl Iterator<Item = Vec<Cell>> + '_ {
        (0..self.len).filter_map(|i| self.id(i)).map(|id| self.get(id))
    }

    /// Where a configuration was reached from first, if it is not an initial one.
    ///
    /// # Errors
    /// If that is on disk and cannot be read.
    pub fn origin(&self, id: ConfigId) -> io::Result<Option<P>> {
        let (block, i) = (&self.blocks[id.index() / BLOCK], id.index() % BLOCK);
        let parent = match block.parents.get(i) {
            Some(parent) => *parent,
            None => {
                let configurations = u64::from(block.ends.last().copied().unwrap_or(0));
                let bytes = self.on_disk(block.at + configurations + 8 * i as u64, 8)?;
                P::decode(u64::from_le_bytes(*bytes.first_chunk().expect("there are eight")))
            }
        };
        Ok((parent != P::NONE).then_some(parent))
    }

    /// The same, of a store that keeps nothing on disk.
    pub fn parent(&self, id: ConfigId) -> Option<P> {
        self.origin(id).expect("nothing is on disk")
    }

    /// Another place is where a configuration was reached from first. It is not on disk.
    pub fn set_parent(&mut self, id: ConfigId, parent: P) {
        self.blocks[id.index() / BLOCK].parents[id.index() % BLOCK] = parent;
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
            entry.hash == hash
                && match self.slice(entry.id) {
                    Some(bytes) => bytes == packed,
                    None => self.is_on_disk(entry.id, packed),
                }
        };
        self.tables[hash.table()].find(hash.spread(), same).map(|entry| ConfigId(entry.id))
    }

    /// Whether a configuration on disk is this one. If that cannot be read, nothing can be added any
    /// more.
    #[cold]
    fn is_on_disk(&self, id: u32, packed: &[u8]) -> bool {
        let block = &self.blocks[id as usize / BLOCK];
        let range = block.range(id as usize % BLOCK);
        range.len() == packed.len()
            && match self.on_disk(block.at + range.start as u64, range.len()) {
                Ok(bytes) => bytes == packed,
                Err(error) => {
                    self.failed.get_or_init(|| error.into());
                    false
                }
            }
    }

    /// Adds a configuration; `None` if it was there.
    ///
    /// # Errors
    /// If there is no number left for it, a limit is reached, or the disk fails.
    #[inline]
    pub fn insert(&mut self, config: &[Cell], parent: Option<P>) -> Result<Option<ConfigId>, Full> {
        self.number(config, parent).map(|(id, is_new)| is_new.then_some(id))
    }

    /// The id of a configuration, which is added if it was not there, and whether it was.
    ///
    /// # Errors
    /// If there is no number left for it, a limit is reached, or the disk fails.
    #[inline]
    pub fn number(&mut self, config: &[Cell], parent: Option<P>) -> Result<(ConfigId, bool), Full> {
        let mut packed = std::mem::take(&mut self.packed);
        packed.clear();
        pack(config, &mut packed);
        let inserted = self.number_packed(&packed, Hash::of(&packed), parent);
        self.packed = packed;
        inserted
    }

    /// The same for a packed configuration with this hash.
    ///
    /// # Errors
    /// If there is no number left for it, a limit is reached, or the disk fails.
    #[inline]
    pub fn number_packed(
        &mut self,
        packed: &[u8],
        hash: Hash,
        parent: Option<P>,
    ) -> Result<(ConfigId, bool), Full> {
        self.budget.tick()?;
        if let Some(id) = self.find_packed(packed, hash) {
            return Ok((id, false));
        }
        let id = self.append(packed, parent)?;
        self.tables[hash.table()]
            .insert_unique(hash.spread(), Entry { id: id.0, hash }, |entry| entry.hash.spread());
        Ok((id, true))
    }

    /// Adds a packed configuration that is not there, and that [`enter`](Self::enter) will enter
    /// into the hash tables.
    ///
    /// # Errors
    /// If there is no number left for it, a limit is reached, or the disk has failed.
    #[inline]
    pub(crate) fn append(&mut self, packed: &[u8], parent: Option<P>) -> Result<ConfigId, Full> {
        if self.len.is_multiple_of(BLOCK) {
            self.begin_block()?;
        }
        if self.len.is_power_of_two() {
            // The old tables go when the new ones are filled.
            self.budget.check_room(3 * self.len * size_of::<Entry>())?;
        }
        if let Some(failed) = self.failed.get() {
            return Err(failed.clone());
        }
        let block = self.blocks.last_mut().expect("one was begun");
        let Block { bytes, ends, parents, .. } = block;
        if bytes.len() + packed.len() > bytes.capacity() {
            self.budget.check_room(bytes.capacity())?;
        }
        let end = u32::try_from(bytes.len() + packed.len()).map_err(|_| Full::Numbers)?;
        bytes.extend_from_slice(packed);
        ends.push(end);
        parents.push(parent.unwrap_or(P::NONE));
        let id = ConfigId(self.len as u32);
        self.len += 1;
        Ok(id)
    }

    /// Begins another block.
    #[cold]
    fn begin_block(&mut self) -> Result<(), Full> {
        // The last number stands for no configuration.
        if self.len + BLOCK > u32::MAX as usize {
            return Err(Full::Numbers);
        }
        // There may be one already that a limit has kept empty.
        if self.blocks.len() > self.len / BLOCK {
            return Ok(());
        }
        let (mut room, mut bytes) = (0, 0);
        if let Some(last) = self.blocks.last_mut() {
            last.bytes.shrink_to_fit();
            (room, bytes) = (BLOCK, last.bytes.len());
            self.full += last.size();
        }
        self.budget.check_room(bytes + room * (4 + size_of::<P>()))?;
        self.blocks.push(Block {
            bytes: Vec::with_capacity(bytes),
            ends: Vec::with_capacity(room),
            parents: Vec::with_capacity(room),
            at: 0,
        });
        Ok(())
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

    /// Keeps the blocks of closed levels on disk from now on, in a file in this folder, which is made
    /// if it is not there. The file has no name, and is gone when the process ends.
    ///
    /// # Errors
    /// If there can be no such file.
    pub fn spill_to(&mut self, folder: &Path) -> io::Result<()> {
        self.spill = Some(Spill::new(folder)?);
        Ok(())
    }

    /// The levels before this configuration are closed: their full blocks are written to disk, if that
    /// is wanted.
    ///
    /// # Errors
    /// If that is not possible. What was not written is still in memory.
    pub fn close_before(&mut self, first: usize) -> Result<(), Full> {
        let Some(spill) = &mut self.spill else { return Ok(()) };
        // The last block may not be full, and does not count as one.
        let full = (first / BLOCK).min(self.blocks.len().saturating_sub(1));
        for block in &mut self.blocks[self.spilled.min(full)..full] {
            let mut record = block.bytes.clone();
            record.extend(block.parents.iter().flat_map(|parent| parent.code().to_le_bytes()));
            let at = spill.add(&record)?;
            self.full -= block.size();
            let ends = std::mem::take(&mut block.ends);
            *block = Block { bytes: vec![], ends, parents: vec![], at };
            self.full += block.size();
            self.spilled += 1;
        }
        Ok(())
    }
}

impl Store {
    /// The configurations on the way to one, from an initial one on.
    ///
    /// # Errors
    /// If one is on disk and cannot be read.
    pub fn path_to(&self, end: ConfigId) -> Result<Vec<Vec<Cell>>, Full> {
        let mut path = Vec::new();
        let mut at = Some(end);
        while let Some(id) = at {
            let mut config = Vec::new();
            unpack(&self.packed(id)?, &mut config);
            path.push(config);
            at = self.origin(id)?;
        }
        path.reverse();
        Ok(path)
    }
}
