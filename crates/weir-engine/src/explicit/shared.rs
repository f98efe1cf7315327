//! The explicit search without its store, for workers that share a search: each keeps the
//! configurations that fall to it, and somebody else puts their numbers together.
//!
//! Everything here is the same for every worker if all begin with systems of the same program
//! and create control states and values in the same order.
//! [`weir_model::grow::without_growth`] expands a configuration without creating any.

use weir_model::answer::{Answer, Buffered, Run, Snapshot};
use weir_model::ids::Cell;
use weir_model::limits::{Budget, Stop};

use super::search::Search;
pub use super::search::{Expansion, Room};
use super::{Settling, answers};
use crate::engine::Task;
use crate::reachable::buffered;
use crate::stats::Stats;
use crate::store::Full;

/// A search whose configurations are kept elsewhere.
pub struct Shared<'t> {
    search: Search<'t>,
    settling: Settling<'t>,
}

impl<'t> Shared<'t> {
    /// A search that has not begun.
    ///
    /// # Errors
    /// If a limit is reached.
    pub fn new(task: Task<'t>) -> Result<Self, Stop> {
        let Task { system, questions, .. } = task;
        let search = Search::new(task, questions)?;
        Ok(Self { search, settling: Settling::new(system, questions) })
    }

    /// A search that stores every configuration, also those that are not at rest and the images of
    /// others: for proofs, which have to be closed under every single step. The options are those
    /// of [`crate::reachable::listing_options`].
    ///
    /// # Errors
    /// If a limit is reached.
    pub fn listing(task: Task<'t>) -> Result<Self, Stop> {
        let mut shared = Self::new(task)?;
        shared.search.steps.lists_all = true;
        Ok(shared)
    }

    /// A configuration under SC or TSO.
    pub fn buffered(&self, config: &[Cell]) -> Buffered {
        buffered(Snapshot::new(self.search.steps.semantics.as_ref(), config))
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
        self.search.steps.initial()
    }

    /// The open questions that a configuration settles, if there are any.
    pub fn look(&self, config: &[Cell], is_open: &dyn Fn(usize) -> bool) -> Option<Vec<usize>> {
        self.settling.settled_by(self.search.steps.semantics.as_ref(), config, is_open)
    }

    /// Calls `reached` with every configuration that is stored for a step from this one, in the
    /// order of the steps.
    pub fn expand(
        &self,
        config: &[Cell],
        room: &mut Room,
        reached: &mut dyn FnMut(&[Cell]),
    ) -> Expansion {
        self.search.steps.expand(config, room, |next| {
            reached(next);
            true
        })
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
        let run = |i: usize| -> Option<Result<Run, Full>> {
            let path = paths.get(i)?.as_ref()?;
            Some(self.search.run_along(path, &questions[i], budget).map_err(Full::from))
        };
        answers(questions, self.search.form, stats, &run)
    }
}
