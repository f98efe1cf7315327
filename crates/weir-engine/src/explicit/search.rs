//! The search itself: every configuration at rest, once.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use weir_model::answer::{Run, Snapshot};
use weir_model::ids::{Cell, ProcessId};
use weir_model::limits::{Budget, INTERVAL, Stop};
use weir_model::memory_model::MemoryModel;
use weir_model::question::Question;
use weir_model::semantics::{
    Form, Semantics, bounded_guesses, has_bounded_guesses, sufficient_bound,
};

use super::batch::{self, Batches, Found, OfOne};
use super::quiet::Quiet;
use super::retold::Retold;
use super::{DEFAULT_BOUND, Explicit};
use crate::engine::{Engine, Task};
use crate::stats::{Progress, Stats};
use crate::store::{ConfigId, Store};

/// Looks at every configuration once, and may end the search.
pub(super) trait Visitor: Sync {
    /// What it sees in a configuration.
    type Seen: Send;

    /// What there is to see, if there is something. Threads look at several configurations at
    /// a time.
    fn look(&self, semantics: &dyn Semantics, config: &[Cell]) -> Option<Self::Seen>;

    /// Takes what was seen, in the order of the configurations.
    fn take(&mut self, seen: Self::Seen, id: ConfigId) -> ControlFlow<()>;
}

/// Who tells the time, and is told about the search.
struct Clock<'c, 'p> {
    budget: &'c Budget,
    progress: Progress<'p>,
    began: Instant,
}

/// Space to work in.
#[derive(Default)]
pub(super) struct Space {
    pub config: Vec<Cell>,
    pub scratch: Vec<Cell>,
    pub at_rest: Vec<Cell>,
}

/// A search that can be paused.
pub(super) struct Search<'s> {
    pub(super) semantics: Box<dyn Semantics + 's>,
    model: MemoryModel,
    form: Form,
    pub(super) quiet: Quiet,
    pub(super) store: Store,
    pub(super) stats: Stats,
    /// Whether all initial configurations are stored.
    has_begun: bool,
    /// How many configurations were visited: the next one is expanded next.
    visited: usize,
    /// Where the configurations end that are as many steps away.
    level_end: usize,
    /// How long it took before it was paused.
    earlier: Duration,
}

impl<'s> Search<'s> {
    pub fn new(task: Task<'s>) -> Result<Self, Stop> {
        let Task { system, questions, model, options } = task;
        let form = Form::of(model)[0];
        if form.guesses() && !model.guesses_reads() {
            system.expanded(&options.budget)?;
        }
        let bound = options.bound.or_else(|| sufficient_bound(system)).unwrap_or(DEFAULT_BOUND);
        let guesses = options.guesses.filter(|_| has_bounded_guesses(model));
        let semantics = match guesses {
            Some(guesses) => bounded_guesses(system, model, bound, guesses),
            None => form.semantics(system, model, bound),
        };
        let stats = Stats {
            engine: Explicit.name(),
            bound: Some(bound),
            guesses,
            within_bound: true,
            ..Stats::default()
        };
        Ok(Self {
            semantics,
            model,
            form,
            quiet: Quiet::new(system, questions, &options.budget)?,
            store: Store::within(&options.budget),
            stats,
            has_begun: false,
            visited: 0,
            level_end: 0,
            earlier: Duration::ZERO,
        })
    }

    pub fn stats(&self) -> &Stats {
        &self.stats
    }

    /// Visits every configuration once, until the visitor breaks or a limit is reached. Then it
    /// can go on with a larger budget.
    pub fn go_on(&mut self, budget: &Budget, progress: Progress<'_>, visitor: &mut impl Visitor) {
        let began = Instant::now();
        self.store.set_budget(budget);
        self.stats.stopped = None;
        let mut clock = Clock { budget, progress, began };
        if let Err(reason) = self.begin().and_then(|()| self.expand(&mut clock, visitor)) {
            self.stats.stopped = Some(reason);
        }
        self.measure(began);
        self.earlier = self.stats.elapsed;
    }

    fn begin(&mut self) -> Result<(), String> {
        let semantics = self.semantics.as_ref();
        for mut config in semantics.initial().filter(|_| !self.has_begun) {
            self.quiet.rest(semantics, &mut config, None, &mut |_| {});
            self.store.insert(&config, None).map_err(|full| full.to_string())?;
        }
        if !self.has_begun {
            self.has_begun = true;
            self.level_end = self.store.len();
        }
        Ok(())
    }

    fn expand<V: Visitor>(
        &mut self,
        clock: &mut Clock<'_, '_>,
        visitor: &mut V,
    ) -> Result<(), String> {
        let mut space = Space::default();
        let mut batches = Batches::new(clock.budget.threads());
        while let Some(id) = self.store.id(self.stats.expanded) {
            match batches.next(self.store.len() - self.stats.expanded) {
                Some(size) => {
                    let found = batch::find(self, size, clock.budget.threads(), visitor);
                    let before = self.stats.expanded;
                    found.into_iter().try_for_each(|found| self.add(found, clock, visitor))?;
                    batches.did(self.stats.expanded - before);
                }
                None => {
                    self.expand_one(id, &mut space, visitor)?;
                    self.look_at_clock(clock)?;
                }
            }
        }
        Ok(())
    }

    /// Expands the next configuration.
    fn expand_one<V: Visitor>(
        &mut self,
        id: ConfigId,
        space: &mut Space,
        visitor: &mut V,
    ) -> Result<(), String> {
        let semantics = self.semantics.as_ref();
        self.store.read(id, &mut space.config);
        if self.visited == id.index() {
            let seen = visitor.look(semantics, &space.config);
            self.visit(id, seen, visitor)?;
        }
        let Self { semantics, quiet, store, .. } = self;
        let semantics = semantics.as_ref();
        let Space { config, scratch, at_rest } = space;
        let (mut steps, mut full) = (0, None);
        let within_bound = semantics.successors(config, scratch, &mut |step, next| {
            steps += 1;
            if full.is_none() {
                let next = follow(quiet, semantics, step.process, next, at_rest);
                full = store.insert(next, Some(id)).err();
            }
        });
        // It is expanded again if there is more room.
        full.map_or(Ok(()), |full| Err(full.to_string()))?;
        self.count(steps, within_bound);
        Ok(())
    }

    /// Adds what a thread found: does what [`expand_one`](Self::expand_one) does, with less
    /// work.
    fn add<V: Visitor>(
        &mut self,
        found: Found<V::Seen>,
        clock: &mut Clock<'_, '_>,
        visitor: &mut V,
    ) -> Result<(), String> {
        let Found { first, of, reached, bytes } = found;
        if first != self.stats.expanded {
            // Something was left out before it, and comes first.
            return Ok(());
        }
        let (mut next, mut begin) = (0, 0);
        for OfOne { seen, steps, within_bound, last } in of {
            let id = self.store.id(self.stats.expanded).expect("a thread has read it");
            if self.visited == id.index() {
                self.visit(id, seen, visitor)?;
            }
            for &(hash, end) in &reached[next..last] {
                let packed = &bytes[begin..end];
                self.store
                    .insert_packed(packed, hash, Some(id))
                    .map_err(|full| full.to_string())?;
                begin = end;
            }
            next = last;
            self.count(steps, within_bound);
            self.look_at_clock(clock)?;
        }
        Ok(())
    }

    /// Tells the visitor what was seen in the next configuration.
    fn visit<V: Visitor>(
        &mut self,
        id: ConfigId,
        seen: Option<V::Seen>,
        visitor: &mut V,
    ) -> Result<(), String> {
        self.visited += 1;
        match seen.map(|seen| visitor.take(seen, id)) {
            Some(ControlFlow::Break(())) => Err("every question was settled".to_owned()),
            _ => Ok(()),
        }
    }

    /// A configuration was expanded.
    fn count(&mut self, steps: usize, within_bound: bool) {
        let Self { store, stats, .. } = self;
        stats.within_bound &= within_bound;
        stats.steps += steps;
        stats.expanded += 1;
        if stats.expanded == self.level_end && stats.expanded < store.len() {
            self.level_end = store.len();
            stats.depth += 1;
        }
    }

    fn look_at_clock(&mut self, clock: &mut Clock<'_, '_>) -> Result<(), String> {
        let Clock { budget, progress, began } = clock;
        let mut looked = budget.tick();
        // Where one configuration has very many successors, sooner.
        let most = budget.store().unwrap_or(usize::MAX);
        if self.stats.expanded.is_multiple_of(INTERVAL) || self.store.bytes() / 2 >= most {
            self.measure(*began);
            progress(&self.stats);
            looked = budget.check_store(self.stats.bytes);
        }
        looked.map_err(|stop| stop.to_string())
    }

    fn measure(&mut self, began: Instant) {
        let Self { store, stats, .. } = self;
        stats.stored = store.len();
        stats.covered = stats.steps.saturating_sub(stats.stored);
        stats.bytes = store.bytes();
        stats.elapsed = self.earlier + began.elapsed();
    }

    /// The run to a configuration that settles a question, up to the first configuration that
    /// does.
    pub fn run_to(&self, end: ConfigId, question: &Question, budget: &Budget) -> Result<Run, Stop> {
        let semantics = self.semantics.as_ref();
        let mut path = vec![end];
        while let Some(parent) = self.store.parent(path[path.len() - 1]) {
            path.push(parent);
        }
        path.reverse();
        let first = self.store.get(path[0]);
        let initial = semantics.initial().find(|initial| {
            let mut config = initial.clone();
            self.quiet.rest(semantics, &mut config, None, &mut |_| {});
            config == first
        });
        let mut retold = Retold::new(semantics, initial.expect("a run begins somewhere"));
        let mut config = retold.start().to_vec();
        self.quiet.rest(semantics, &mut config, None, &mut |step| retold.put_off(step));
        let (mut scratch, mut at_rest) = (Vec::new(), Vec::new());
        for pair in path.windows(2) {
            budget.tick()?;
            let (from, to) = (self.store.get(pair[0]), self.store.get(pair[1]));
            let mut found = None;
            let _ = semantics.successors(&from, &mut scratch, &mut |step, next| {
                if found.is_none()
                    && follow(&self.quiet, semantics, step.process, next, &mut at_rest) == to
                {
                    found = Some((step, next.to_vec()));
                }
            });
            let (step, mut config) = found.expect("it was reached from there");
            retold.take(step);
            let moved = Some(step.process);
            self.quiet.rest(semantics, &mut config, moved, &mut |step| retold.put_off(step));
        }
        let (start, steps) = retold.until_settled(question, budget)?;
        let start = Snapshot::new(semantics, &start);
        let bound = self.stats.bound.unwrap_or_default();
        Ok(Run { model: self.model, form: self.form, bound, start, steps })
    }
}

/// Where everybody comes to rest after the step of a process to `next`.
#[inline]
pub(super) fn follow<'c>(
    quiet: &Quiet,
    semantics: &dyn Semantics,
    process: ProcessId,
    next: &'c [Cell],
    at_rest: &'c mut Vec<Cell>,
) -> &'c [Cell] {
    if !quiet.may_follow(semantics.system(), process, next) {
        return next;
    }
    at_rest.clear();
    at_rest.extend_from_slice(next);
    quiet.rest(semantics, at_rest, Some(process), &mut |_| {});
    at_rest
}
