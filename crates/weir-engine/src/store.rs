//! A set of configurations, numbered in the order of their discovery.
//!
//! All cells lie in one arena and a hash table holds ids only, so that a stored
//! configuration costs its cells and some twenty bytes. Configurations are kept
//! whole: equality is decided on cells, never on hashes.

use std::fmt;
use std::hash::Hasher;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use rustc_hash::FxHasher;
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
    /// There are 2^32 cells or configurations.
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

/// A set of configurations, each with the one that it was reached from.
#[derive(Default)]
pub struct Store {
    cells: Vec<u16>,
    ends: Vec<u32>,
    parents: Vec<u32>,
    table: HashTable<u32>,
    budget: Budget,
}

const NO_PARENT: u32 = u32::MAX;

impl Store {
    /// An empty store that grows within limits.
    pub fn within(budget: &Budget) -> Self {
        Self { budget: budget.clone(), ..Self::default() }
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
        self.cells.capacity() * 2
            + (self.ends.capacity() + self.parents.capacity()) * 4
            + self.table.allocation_size()
    }

    /// The id of the configuration numbered `index`, if there is one.
    pub fn id(&self, index: usize) -> Option<ConfigId> {
        (index < self.len()).then_some(ConfigId(index as u32))
    }

    /// A stored configuration.
    #[inline]
    pub fn get(&self, id: ConfigId) -> &[u16] {
        slice(&self.cells, &self.ends, id.0)
    }

    /// The id of a configuration, if it is there.
    #[inline]
    pub fn find(&self, config: &[u16]) -> Option<ConfigId> {
        let same = |&id: &u32| slice(&self.cells, &self.ends, id) == config;
        self.table.find(hash(config), same).map(|&id| ConfigId(id))
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
        config: &[u16],
        parent: Option<ConfigId>,
    ) -> Result<Option<ConfigId>, Full> {
        self.budget.tick()?;
        if self.table.len() == self.table.capacity() {
            // The old table goes when the new one is filled.
            self.budget.check_room(2 * self.table.allocation_size())?;
        }
        let (cells, ends) = (&mut self.cells, &mut self.ends);
        let entry = self.table.entry(
            hash(config),
            |&id| slice(cells, ends, id) == config,
            |&id| hash(slice(cells, ends, id)),
        );
        let Entry::Vacant(vacant) = entry else { return Ok(None) };
        let id =
            u32::try_from(ends.len()).ok().filter(|&id| id != NO_PARENT).ok_or(Full::Numbers)?;
        let end = u32::try_from(cells.len() + config.len()).map_err(|_| Full::Numbers)?;
        if cells.len() + config.len() > cells.capacity() {
            self.budget.check_room(2 * cells.capacity())?;
        }
        if ends.len() == ends.capacity() {
            self.budget.check_room(2 * 4 * ends.capacity())?;
        }
        vacant.insert(id);
        cells.extend_from_slice(config);
        ends.push(end);
        self.parents.push(parent.map_or(NO_PARENT, |p| p.0));
        Ok(Some(ConfigId(id)))
    }

    /// The id of a configuration, which is added if it was not there.
    ///
    /// # Errors
    /// If there is no number left for it, or a limit is reached.
    pub fn find_or_insert(
        &mut self,
        config: &[u16],
        parent: Option<ConfigId>,
    ) -> Result<ConfigId, Full> {
        let (cells, ends) = (&self.cells, &self.ends);
        let known = self.table.find(hash(config), |&id| slice(cells, ends, id) == config);
        match known {
            Some(&id) => Ok(ConfigId(id)),
            None => self.insert(config, parent).map(|id| id.expect("it was not there")),
        }
    }
}

#[inline]
fn slice<'a>(cells: &'a [u16], ends: &[u32], id: u32) -> &'a [u16] {
    let id = id as usize;
    let start = if id == 0 { 0 } else { ends[id - 1] as usize };
    &cells[start..ends[id] as usize]
}

#[inline]
fn hash(config: &[u16]) -> u64 {
    let mut hasher = FxHasher::default();
    let (words, rest) = config.as_chunks::<4>();
    for word in words {
        let [a, b, c, d] = word.map(u64::from);
        hasher.write_u64(a | b << 16 | c << 32 | d << 48);
    }
    for &cell in rest {
        hasher.write_u16(cell);
    }
    hasher.finish()
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
        assert_eq!((store.find(&[1, 2]), store.find(&[2])), (Some(second), None));
        assert_eq!(store.parent(second), Some(first));
        assert_eq!(store.parent(first), None);
        for i in 0..10_000_u16 {
            let fresh = store.insert(&[i, i / 3, 7, 7, i % 5], None).unwrap();
            assert!(fresh.is_some());
        }
        for i in 0..10_000_u16 {
            assert_eq!(store.insert(&[i, i / 3, 7, 7, i % 5], None), Ok(None));
        }
        assert_eq!(store.len(), 10_002);
    }
}
