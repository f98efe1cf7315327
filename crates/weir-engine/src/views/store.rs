//! The configurations of a round, each with where it was reached from.
//!
//! A configuration is compared only with those of its bucket, which have the same control states
//! and the same memory, and joined only with one of them. So the buckets of a round can be divided
//! among several stores.

use rustc_hash::FxHashMap;
use weir_model::ids::Cell;

use super::kept::Kept;
use super::letters::Halt;
use super::precision::{Joined, Precision, Spot, spot};
use super::space::{Config, Space};
use super::table::ViewId;

/// Configurations; `P` is where one was reached from.
pub(super) struct Store<P> {
    /// Which views are joined at some places, and elsewhere.
    joined_at: FxHashMap<Spot, Joined>,
    joined_elsewhere: Joined,
    pub kept: Kept,
    pub parents: Vec<P>,
    /// How many configurations are maximal.
    pub maximal: usize,
    /// The most letters of a view.
    pub longest: usize,
}

impl<P> Store<P> {
    /// Nothing, for a space and what a round tells apart.
    pub fn new(space: &mut Space<'_>, precision: &Precision) -> Self {
        let (joined_at, joined_elsewhere) = precision.joined(&mut space.table.letters);
        let (processes, vars) = (space.system.processes.len(), space.system.vars.len());
        Self {
            joined_at,
            joined_elsewhere,
            kept: Kept::new(processes + vars, processes),
            parents: vec![],
            maximal: 0,
            longest: 0,
        }
    }

    /// For each process, which of its views are joined in a state.
    fn joins(&self, space: &Space<'_>, state: &[Cell]) -> Vec<Joined> {
        let system = space.system;
        let joined = |p| match self.joined_at.is_empty() {
            true => self.joined_elsewhere,
            false => self
                .joined_at
                .get(&spot(system, state, p))
                .copied()
                .unwrap_or(self.joined_elsewhere),
        };
        system.process_ids().map(joined).collect()
    }

    /// Stores a configuration unless a stored one covers it. Returns the number of the
    /// one that has it.
    pub fn insert(
        &mut self,
        space: &mut Space<'_>,
        config: &Config,
        parent: P,
    ) -> Result<u32, Halt> {
        let bucket = self.kept.bucket_of(&config.state, &space.table.letters.budget)?;
        match self.covering(space, bucket, &config.views, 0)? {
            Some(id) => Ok(id),
            None => self.add(space, bucket, &config.views, parent),
        }
    }

    /// A stored configuration that covers this one, of those from a number on.
    pub fn covering(
        &self,
        space: &mut Space<'_>,
        bucket: u32,
        views: &[ViewId],
        since: u32,
    ) -> Result<Option<u32>, Halt> {
        let (table, kept) = (&mut space.table, &self.kept);
        if let Some(id) = kept.find(bucket, views) {
            return Ok(Some(id));
        }
        let outline = table.outline(views);
        let bucket = kept.bucket(bucket);
        table.letters.budget.work(1 + bucket.len() / 64)?;
        for c in bucket.above(&outline.sketches) {
            if c >= since
                && table.may_cover(kept.shapes(c), &outline.shapes)
                && table.all_cover(kept.views(c), views)?
            {
                return Ok(Some(c));
            }
        }
        Ok(None)
    }

    /// Stores a configuration that none covers, joined with another if that is to be. Those that it
    /// covers are maximal no more.
    pub fn add(
        &mut self,
        space: &mut Space<'_>,
        bucket: u32,
        views: &[ViewId],
        parent: P,
    ) -> Result<u32, Halt> {
        let joins = self.joins(space, self.kept.state(bucket));
        let (table, kept) = (&mut space.table, &mut self.kept);
        let mut views: Box<[ViewId]> = views.into();
        let mut kind = table.kind(&views, &joins)?;
        if let Some(same) = &kind
            && let Some(c) = kept.of_kind(bucket, same)
        {
            views = table.join(kept.views(c), &views)?;
            kind = table.kind(&views, &joins)?;
        }
        let outline = table.outline(&views);
        let mut worse: Vec<u32> = Vec::new();
        for c in kept.bucket(bucket).below(&outline.sketches) {
            if table.may_cover(&outline.shapes, kept.shapes(c))
                && table.all_cover(&views, kept.views(c))?
            {
                worse.push(c);
            }
        }
        let id = kept.push(bucket, &views, &outline, kind);
        self.maximal = self.maximal + 1 - worse.len();
        for c in worse {
            kept.set_covered(c, id);
        }
        let longest = views.iter().map(|&view| table.view(view).len()).max();
        self.longest = self.longest.max(longest.unwrap_or(0));
        self.parents.push(parent);
        Ok(id)
    }

    /// The maximal configurations, in the order in which they were stored.
    pub fn maximal(&self) -> impl Iterator<Item = u32> {
        (0..self.kept.len() as u32).filter(|id| !self.kept.is_covered(*id))
    }

    /// About what the configurations take up.
    pub fn bytes(&self) -> usize {
        self.kept.bytes() + self.parents.len() * size_of::<P>()
    }
}
