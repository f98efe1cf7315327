//! All configurations of a search, and which of them are maximal.
//!
//! One configuration can only cover another if both have the same control states and memory. Such
//! configurations are in one *bucket*. A new one is compared with the maximal ones of its bucket,
//! after a test of bits that excludes most of them.

use std::hash::{BuildHasher, Hash};

use hashbrown::HashTable;
use rustc_hash::{FxBuildHasher, FxHashMap};
use weir_model::ids::Cell;
use weir_model::limits::{Budget, Stop};

use super::space::Config;
use super::table::ViewId;

/// All configurations of a search, numbered as they were found.
pub struct Kept {
    /// The states of all buckets, one after another.
    states: Vec<Cell>,
    buckets: Vec<Bucket>,
    by_state: HashTable<u32>,
    /// The views of all configurations, one after another, and their shapes.
    views: Vec<ViewId>,
    shapes: Vec<u32>,
    about: Vec<About>,
    by_config: HashTable<u32>,
    /// The newest configuration of each bucket and kind, and all kinds.
    by_kind: FxHashMap<(u32, u32), u32>,
    kinds: FxHashMap<Box<[u64]>, u32>,
    /// The lengths of a state and of a list of views.
    lens: (usize, usize),
}

/// What is known of a configuration, besides its views.
struct About {
    bucket: u32,
    /// Where it is in the bucket.
    slot: u32,
    /// A later one that covers it; itself if there is none.
    covered_by: u32,
}

fn hash(what: impl Hash) -> u64 {
    FxBuildHasher.hash_one(what)
}

impl Kept {
    /// Nothing, for states and lists of views of these lengths.
    pub fn new(state_len: usize, processes: usize) -> Self {
        Self {
            states: vec![],
            buckets: vec![],
            by_state: HashTable::new(),
            views: vec![],
            shapes: vec![],
            about: vec![],
            by_config: HashTable::new(),
            by_kind: FxHashMap::default(),
            kinds: FxHashMap::default(),
            lens: (state_len, processes),
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.about.len()
    }

    /// A configuration.
    pub fn get(&self, id: u32) -> Config {
        let bucket = self.about[id as usize].bucket;
        Config { state: self.state(bucket).into(), views: self.views(id).into() }
    }

    /// The state of a bucket.
    pub fn state(&self, bucket: u32) -> &[Cell] {
        &self.states[bucket as usize * self.lens.0..][..self.lens.0]
    }

    /// The views of a configuration.
    #[inline]
    pub fn views(&self, id: u32) -> &[ViewId] {
        &self.views[id as usize * self.lens.1..][..self.lens.1]
    }

    /// Whether a later one covers it.
    pub fn is_covered(&self, id: u32) -> bool {
        self.about[id as usize].covered_by != id
    }

    /// A later one covers this one.
    pub fn set_covered(&mut self, id: u32, by: u32) {
        let About { bucket, slot, covered_by, .. } = &mut self.about[id as usize];
        *covered_by = by;
        self.buckets[*bucket as usize].remove(*slot);
    }

    /// The maximal one that has a configuration, if the same was found before.
    pub fn find(&self, bucket: u32, views: &[ViewId]) -> Option<u32> {
        let same = |&id: &u32| self.about[id as usize].bucket == bucket && self.views(id) == views;
        let mut id = *self.by_config.find(hash((bucket, views)), same)?;
        while self.is_covered(id) {
            id = self.about[id as usize].covered_by;
        }
        Some(id)
    }

    /// The number of the bucket of a state, new or known.
    ///
    /// # Errors
    /// If a limit is reached.
    pub fn bucket_of(&mut self, state: &[Cell], budget: &Budget) -> Result<u32, Stop> {
        let Self { states, buckets, by_state, .. } = self;
        let len = self.lens.0;
        let of = |states: &[Cell], id: u32| hash(&states[id as usize * len..][..len]);
        let hash = hash(state);
        if let Some(&id) = by_state.find(hash, |&id| states[id as usize * len..][..len] == *state) {
            return Ok(id);
        }
        budget.check_growth(buckets.len(), buckets.capacity(), size_of::<Bucket>() + 4 * len)?;
        let id = buckets.len() as u32;
        buckets.push(Bucket::default());
        states.extend_from_slice(state);
        by_state.insert_unique(hash, id, |&id| of(states, id));
        Ok(id)
    }

    /// A bucket.
    pub fn bucket(&self, id: u32) -> &Bucket {
        &self.buckets[id as usize]
    }

    /// The maximal configuration of a bucket and kind, if there is one.
    pub fn of_kind(&self, bucket: u32, kind: &[u64]) -> Option<u32> {
        let kind = *self.kinds.get(kind)?;
        let id = *self.by_kind.get(&(bucket, kind))?;
        (!self.is_covered(id)).then_some(id)
    }

    /// The shapes of the views of a configuration.
    #[inline]
    pub fn shapes(&self, id: u32) -> &[u32] {
        &self.shapes[id as usize * self.lens.1..][..self.lens.1]
    }

    /// Adds a configuration that no other covers. Those of one kind are joined; `None` if it is
    /// joined with no other.
    pub fn push(
        &mut self,
        bucket: u32,
        views: &[ViewId],
        outline: &Outline,
        kind: Option<Box<[u64]>>,
    ) -> u32 {
        let id = self.len() as u32;
        let slot = self.buckets[bucket as usize].insert(id, &outline.sketches);
        self.views.extend_from_slice(views);
        self.shapes.extend_from_slice(&outline.shapes);
        self.about.push(About { bucket, slot, covered_by: id });
        let Self { views: all, about, by_config, .. } = self;
        let n = self.lens.1;
        let of = |&id: &u32| hash((about[id as usize].bucket, &all[id as usize * n..][..n]));
        by_config.insert_unique(hash((bucket, views)), id, of);
        if let Some(kind) = kind {
            let new = self.kinds.len() as u32;
            let kind = *self.kinds.entry(kind).or_insert(new);
            self.by_kind.insert((bucket, kind), id);
        }
        id
    }

    /// About what they take up, in bytes.
    pub fn bytes(&self) -> usize {
        let (state, processes) = self.lens;
        // A maximal one has its number and its sketches in a bucket as well, twice.
        let one = 8 * processes + size_of::<About>() + 10 + 32 * processes + 4;
        let kinds = self.by_kind.len() * 16 + self.kinds.len() * (8 * processes + 32);
        self.len() * one + self.buckets.len() * (4 * state + 5 + size_of::<Bucket>()) + kinds
    }
}

/// Configurations with the same state that do not cover one another.
#[derive(Default)]
pub struct Bucket {
    /// One in each slot; [`FREE`] where there is none.
    ids: Vec<u32>,
    free: Vec<u32>,
    /// The sketch of every view, slot by slot: most pairs are told apart by these.
    sketches: Vec<u128>,
    /// The same for every [`BLOCK`] slots, bit by bit: each word has one bit of the sketches of
    /// all slots of the block. So a block is searched with a few operations on words. The last
    /// slots, which are not enough for a block, have none.
    blocks: Vec<u64>,
}

const FREE: u32 = u32::MAX;

/// The slots of a block.
const BLOCK: usize = 64;

/// The bits of a sketch.
const BITS: usize = 128;

/// What is compared of a configuration before its views are.
pub struct Outline {
    /// The shape of each view.
    pub shapes: Box<[u32]>,
    /// The sketch of each view.
    pub sketches: Vec<u128>,
}

/// The numbers of the bits of sketches that are set, or that are not.
fn bits(sketches: &[u128], set: bool) -> impl Iterator<Item = usize> {
    sketches.iter().enumerate().flat_map(move |(i, &sketch)| {
        let mut left = if set { sketch } else { !sketch };
        std::iter::from_fn(move || {
            let bit = (left != 0).then(|| left.trailing_zeros() as usize)?;
            left &= left - 1;
            Some(i * BITS + bit)
        })
    })
}

/// Nothing more is to be done once no slot is left.
#[inline]
fn narrowed(slots: u64) -> Option<u64> {
    (slots != 0).then_some(slots)
}

impl Bucket {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.ids.len() - self.free.len()
    }

    /// The configurations that may cover one with these sketches.
    pub fn above(&self, sketches: &[u128]) -> Vec<u32> {
        let mut found = Vec::new();
        let set = self.bits(sketches, true);
        self.matching(
            sketches,
            |words| set.iter().try_fold(!0, |all, &bit| narrowed(all & words[bit])),
            |ours, theirs| theirs & !ours == 0,
            &mut found,
        );
        found
    }

    /// The configurations that one with these sketches may cover.
    pub fn below(&self, sketches: &[u128]) -> Vec<u32> {
        let mut found = Vec::new();
        let unset = self.bits(sketches, false);
        self.matching(
            sketches,
            |words| unset.iter().try_fold(!0, |all, &bit| narrowed(all & !words[bit])),
            |ours, theirs| ours & !theirs == 0,
            &mut found,
        );
        found
    }

    /// The numbers of the bits of sketches that are set, or that are not, if there are blocks.
    fn bits(&self, sketches: &[u128], set: bool) -> Vec<usize> {
        match self.blocks.is_empty() {
            true => vec![],
            false => bits(sketches, set).collect(),
        }
    }

    /// Adds the configurations whose sketches fit, the oldest slot first: `fit_of` says which of a
    /// block do, `fits` whether one does.
    fn matching(
        &self,
        sketches: &[u128],
        fit_of: impl Fn(&[u64]) -> Option<u64>,
        fits: impl Fn(u128, u128) -> bool,
        found: &mut Vec<u32>,
    ) {
        if sketches.is_empty() {
            // Without processes there is nothing to tell apart.
            return found.extend(self.ids.iter().filter(|id| **id != FREE));
        }
        let width = BITS * sketches.len();
        for (block, words) in self.blocks.chunks_exact(width).enumerate() {
            let mut slots = fit_of(words).unwrap_or(0);
            while slots != 0 {
                let id = self.ids[block * BLOCK + slots.trailing_zeros() as usize];
                slots &= slots - 1;
                if id != FREE {
                    found.push(id);
                }
            }
        }
        let rest = self.blocks.len() / width * BLOCK;
        let all = self.sketches[rest * sketches.len()..].chunks_exact(sketches.len());
        for (ours, &id) in all.zip(&self.ids[rest..]) {
            if id != FREE && ours.iter().zip(sketches).all(|(&a, &b)| fits(a, b)) {
                found.push(id);
            }
        }
    }

    /// Adds a configuration and returns its slot.
    fn insert(&mut self, id: u32, sketches: &[u128]) -> u32 {
        let n = sketches.len();
        match self.free.pop() {
            Some(slot) => {
                let slot = slot as usize;
                self.ids[slot] = id;
                self.sketches[slot * n..(slot + 1) * n].copy_from_slice(sketches);
                self.write(slot, n);
                slot as u32
            }
            None => {
                self.ids.push(id);
                self.sketches.extend_from_slice(sketches);
                if self.ids.len().is_multiple_of(BLOCK) {
                    self.blocks.resize(self.blocks.len() + BITS * n, 0);
                    (self.ids.len() - BLOCK..self.ids.len()).for_each(|slot| self.write(slot, n));
                }
                self.ids.len() as u32 - 1
            }
        }
    }

    /// Writes the sketches of a slot to its block, if it has one.
    fn write(&mut self, slot: usize, views: usize) {
        let width = BITS * views;
        let (block, mask) = (slot / BLOCK, 1 << (slot % BLOCK));
        let sketches = &self.sketches[slot * views..(slot + 1) * views];
        if let Some(words) = self.blocks.get_mut(block * width..(block + 1) * width) {
            words.iter_mut().for_each(|word| *word &= !mask);
            bits(sketches, true).for_each(|bit| words[bit] |= mask);
        }
    }

    fn remove(&mut self, slot: u32) {
        self.ids[slot as usize] = FREE;
        self.free.push(slot);
    }
}

#[cfg(test)]
mod tests {
    use weir_gen::Rng;

    use super::*;

    /// Blocks find what a comparison one by one finds.
    #[test]
    fn blocks_find_what_fits() {
        let mut rng = Rng::new(7);
        let mut sketch = |many: usize| -> Vec<u128> {
            let mut one = || (0..many).fold(0, |s, _| s | 1_u128 << rng.below(BITS));
            vec![one(), one()]
        };
        let mut bucket = Bucket::default();
        let mut all: Vec<(u32, u32, Vec<u128>)> = Vec::new();
        for id in 0..1000 {
            let sketches = sketch(1 + id as usize % 20);
            let slot = bucket.insert(id, &sketches);
            all.push((id, slot, sketches));
            if id % 3 == 2 {
                let (_, gone, _) = all.remove(id as usize * 7 % all.len());
                bucket.remove(gone);
            }
        }
        assert_eq!(bucket.len(), all.len());
        let covers = |a: &[u128], b: &[u128]| a.iter().zip(b).all(|(a, b)| b & !a == 0);
        let sorted = |mut ids: Vec<u32>| {
            ids.sort_unstable();
            ids
        };
        let mut hits = 0;
        for n in 0..500 {
            let asked = sketch(n % 40);
            let ids = |fits: &dyn Fn(&[u128]) -> bool| -> Vec<u32> {
                all.iter().filter(|(_, _, s)| fits(s)).map(|(id, _, _)| *id).collect()
            };
            let above = sorted(bucket.above(&asked));
            let below = sorted(bucket.below(&asked));
            hits += above.len() + below.len();
            assert_eq!(above, sorted(ids(&|s| covers(s, &asked))));
            assert_eq!(below, sorted(ids(&|s| covers(&asked, s))));
        }
        assert!(hits > 100, "{hits}");
    }
}
