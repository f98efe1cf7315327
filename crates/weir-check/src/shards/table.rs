//! A set of configurations of store buffers, packed.

use std::hash::{BuildHasher, RandomState};

use hashbrown::HashTable;
use weir_model::answer::{Buffered, StoreBuffer};
use weir_model::ids::{StateId, ValueId, VarId};
use weir_model::limits::Budget;

use super::Failure;
use crate::Rejected;

/// The number of configurations in a block. No block moves when the set grows.
pub(super) const BLOCK: usize = 1 << 12;

#[derive(Default)]
struct Block {
    bytes: Vec<u8>,
    ends: Vec<u32>,
}

/// Configurations of a system, each there once. They are compared whole, so a hash collision loses
/// nothing. Hashes have a random key, so no file can force collisions.
pub(super) struct Table {
    processes: usize,
    variables: usize,
    blocks: Vec<Block>,
    len: u32,
    entries: HashTable<u32>,
    hasher: RandomState,
}

impl Table {
    pub fn new(processes: usize, variables: usize) -> Self {
        Self {
            processes,
            variables,
            blocks: vec![],
            len: 0,
            entries: HashTable::new(),
            hasher: RandomState::new(),
        }
    }

    pub fn len(&self) -> usize {
        self.len as usize
    }

    /// Adds a packed configuration; whether it is new.
    pub fn insert(&mut self, packed: &[u8], budget: &Budget) -> Result<bool, Failure> {
        if self.contains(packed) {
            return Ok(false);
        }
        if self.len == u32::MAX {
            return Err(Rejected::TooLarge("a shard has too many configurations".to_owned()).into());
        }
        budget.check_growth(self.entries.len(), self.entries.capacity(), size_of::<u32>())?;
        if self.len().is_multiple_of(BLOCK) {
            if let Some(last) = self.blocks.last_mut() {
                last.bytes.shrink_to_fit();
            }
            budget.check()?;
            self.blocks.push(Block { bytes: vec![], ends: Vec::with_capacity(BLOCK) });
        }
        let block = self.blocks.last_mut().expect("there is one");
        let end = u32::try_from(block.bytes.len() + packed.len());
        let end = end.map_err(|_| Rejected::TooLarge("configurations are too long".to_owned()))?;
        block.bytes.extend_from_slice(packed);
        block.ends.push(end);
        let Self { blocks, hasher, entries, .. } = self;
        let hash = |id: &u32| hasher.hash_one(get(blocks, *id));
        entries.insert_unique(hasher.hash_one(packed), self.len, hash);
        self.len += 1;
        Ok(true)
    }

    pub fn contains(&self, packed: &[u8]) -> bool {
        let same = |id: &u32| get(&self.blocks, *id) == packed;
        self.entries.find(self.hasher.hash_one(packed), same).is_some()
    }

    /// A configuration, by its number.
    pub fn get(&self, id: u32) -> Buffered {
        let mut bytes = get(&self.blocks, id);
        let mut next = || {
            let (mut number, mut shift) = (0, 0);
            while let Some((&byte, rest)) = bytes.split_first() {
                bytes = rest;
                number |= u32::from(byte & 0x7f) << shift;
                shift += 7;
                if byte < 0x80 {
                    break;
                }
            }
            number
        };
        let controls = (0..self.processes).map(|_| StateId(next())).collect();
        let memory = (0..self.variables).map(|_| ValueId(next())).collect();
        let mut buffer = |_| {
            let count = next();
            let oldest =
                (0..count).map(|_| (VarId::new(next() as usize), ValueId(next()))).collect();
            StoreBuffer { oldest, tail: None }
        };
        let buffers = (0..self.processes).map(&mut buffer).collect();
        Buffered { controls, memory, buffers }
    }
}

fn get(blocks: &[Block], id: u32) -> &[u8] {
    let (block, i) = (&blocks[id as usize / BLOCK], id as usize % BLOCK);
    let begin = if i == 0 { 0 } else { block.ends[i - 1] as usize };
    &block.bytes[begin..block.ends[i] as usize]
}

/// Packs a configuration: different ones become different bytes.
pub(super) fn pack(config: &Buffered, packed: &mut Vec<u8>) {
    let Buffered { controls, memory, buffers } = config;
    packed.clear();
    let mut push = |mut number: u32| {
        while number >= 0x80 {
            packed.push(number as u8 | 0x80);
            number >>= 7;
        }
        packed.push(number as u8);
    };
    controls.iter().for_each(|state| push(state.0));
    memory.iter().for_each(|value| push(value.0));
    for buffer in buffers {
        push(buffer.oldest.len() as u32);
        for (x, value) in &buffer.oldest {
            push(x.index() as u32);
            push(value.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_comes_back() {
        let config = |n: u32| Buffered {
            controls: vec![StateId(n), StateId(300 * n)],
            memory: vec![ValueId(n % 3), ValueId(u32::MAX - n), ValueId(0)],
            buffers: vec![
                StoreBuffer {
                    oldest: (0..n as usize % 5).map(|i| (VarId::new(i), ValueId(n))).collect(),
                    tail: None,
                },
                StoreBuffer::default(),
            ],
        };
        let (mut table, budget, mut packed) = (Table::new(2, 3), Budget::new(), vec![]);
        for n in 0..10_000 {
            pack(&config(n), &mut packed);
            assert!(!table.contains(&packed));
            assert!(table.insert(&packed, &budget).unwrap());
            assert!(!table.insert(&packed, &budget).unwrap());
        }
        assert_eq!(table.len(), 10_000);
        for n in 0..10_000 {
            assert_eq!(table.get(n), config(n));
        }
    }

    #[test]
    fn the_limit_on_memory_holds() {
        let budget = Budget::new().with_memory(1 << 12).with_meter(|| 0);
        let mut table = Table::new(1, 0);
        let grows = |n: u32| table.insert(&n.to_le_bytes(), &budget);
        let stopped = (0..100_000).map(grows).find_map(Result::err);
        assert!(matches!(stopped, Some(Failure::Stopped(_))), "{stopped:?}");
    }
}
