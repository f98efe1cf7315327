//! The explicit search without its store, for workers that share a search: each keeps the
//! configurations that fall to it, and somebody else puts their numbers together.
//!
//! Everything here is the same for every worker if all begin with systems of the same program
//! and create control states and values in the same order ([`Shared::sizes`] tells how many
//! there are). [`weir_model::grow::without_growth`] expands a configuration without creating any.

use std::hash::Hasher;

use rustc_hash::FxHasher;
use weir_model::answer::{Answer, Buffered, Run, Snapshot};
use weir_model::ids::Cell;
use weir_model::limits::{Budget, Stop};

use super::search::{Search, Space};
use super::{Settling, answers};
use crate::engine::Task;
use crate::reachable::buffered;
use crate::stats::Stats;

/// A search whose configurations are kept elsewhere.
pub struct Shared<'t> {
    search: Search<'t>,
    settling: Settling<'t>,
    /// Whether every single step is taken, and nothing is left out.
    lists_all: bool,
}

/// Space to work in: one for each thread.
#[derive(Default)]
pub struct Room(Space);

/// What was found out about a configuration by expanding it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expansion {
    /// The number of steps that were taken.
    pub steps: usize,
    /// Whether no step was left out because of the bound.
    pub within_bound: bool,
}

impl<'t> Shared<'t> {
    /// A search that has not begun.
    ///
    /// # Errors
    /// If a limit is reached.
    pub fn new(task: Task<'t>) -> Result<Self, Stop> {
        let Task { system, questions, .. } = task;
        let search = Search::new(task, questions)?;
        Ok(Self { search, settling: Settling::new(system, questions), lists_all: false })
    }

    /// A search that stores every configuration, also those that are not at rest and the images of
    /// others: for proofs, which have to be closed under every single step. The options are those
    /// of [`crate::reachable::listing_options`].
    ///
    /// # Errors
    /// If a limit is reached.
    pub fn listing(task: Task<'t>) -> Result<Self, Stop> {
        Ok(Self { lists_all: true, ..Self::new(task)? })
    }

    /// A configuration under SC or TSO.
    pub fn buffered(&self, config: &[Cell]) -> Buffered {
        buffered(Snapshot::new(self.search.semantics.as_ref(), config))
    }

    /// Statistics of a search that has not begun: the engine, the bound and the form.
    pub fn stats(&self) -> Stats {
        self.search.stats().clone()
    }

    /// The number of questions.
    pub fn questions(&self) -> usize {
        self.settling.questions.len()
    }

    /// The configurations to begin with, in their order. The same one may come twice.
    pub fn initial(&self) -> Box<dyn Iterator<Item = Vec<Cell>> + '_> {
        match self.lists_all {
            true => self.search.semantics.initial(),
            false => Box::new(self.search.initial()),
        }
    }

    /// The open questions that a configuration settles, if there are any.
    pub fn look(&self, config: &[Cell], is_open: &dyn Fn(usize) -> bool) -> Option<Vec<usize>> {
        self.settling.settled_by(self.search.semantics.as_ref(), config, is_open)
    }

    /// Calls `reached` with every configuration that is stored for a step from this one, in the
    /// order of the steps.
    pub fn expand(
        &self,
        config: &[Cell],
        room: &mut Room,
        reached: &mut dyn FnMut(&[Cell]),
    ) -> Expansion {
        let semantics = self.search.semantics.as_ref();
        let Space { scratch, reduced, .. } = &mut room.0;
        reduced.is_whole = true;
        let mut steps = 0;
        let within_bound = semantics.successors(config, scratch, &mut |step, next| {
            if self.lists_all {
                steps += 1;
                reached(next);
            } else if !semantics.can_wait(config, &step) {
                steps += 1;
                reached(self.search.reduction.follow(semantics, &step, next, reduced));
            }
        });
        Expansion { steps, within_bound: within_bound && reduced.is_whole }
    }

    /// A number that differs, most likely, where systems have created different numbers of control
    /// states and values.
    pub fn sizes(&self) -> u64 {
        let mut hasher = FxHasher::default();
        self.settling.system.sizes().for_each(|size| hasher.write_usize(size));
        hasher.finish()
    }

    /// What the search answers. `paths` has, for each question that was settled, the
    /// configurations from an initial one to the first one that settles it.
    pub fn answers(
        &self,
        paths: &[Option<Vec<Vec<Cell>>>],
        stats: &Stats,
        budget: &Budget,
    ) -> Vec<Answer> {
        let questions = self.settling.questions;
        let run = |i: usize| -> Option<Result<Run, Stop>> {
            let path = paths.get(i)?.as_ref()?;
            let at = |i: usize| path[i].clone();
            Some(self.search.run_along(path.len(), &at, &questions[i], budget))
        };
        answers(questions, self.search.form, stats, &run)
    }
}
