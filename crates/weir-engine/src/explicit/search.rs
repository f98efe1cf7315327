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

use super::quiet::Quiet;
use super::retold::Retold;
use super::{DEFAULT_BOUND, Explicit};
use crate::engine::{Engine, Task};
use crate::stats::{Progress, Stats};
use crate::store::{ConfigId, Store};

/// Looks at a configuration, and may end the search.
type Visit<'v> = &'v mut dyn FnMut(&dyn Semantics, &[Cell], ConfigId) -> ControlFlow<()>;

/// A search that can be paused.
pub(super) struct Search<'s> {
    semantics: Box<dyn Semantics + 's>,
    model: MemoryModel,
    form: Form,
    quiet: Quiet,
    store: Store,
    stats: Stats,
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

    /// Visits every configuration once, until `visit` breaks or a limit is reached. Then it can
    /// go on with a larger budget.
    pub fn go_on(&mut self, budget: &Budget, progress: Progress<'_>, visit: Visit<'_>) {
        let began = Instant::now();
        self.store.set_budget(budget);
        self.stats.stopped = None;
        if let Err(reason) = self.begin().and_then(|()| self.expand(budget, progress, visit, began))
        {
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
        self.has_begun = true;
        Ok(())
    }

    fn expand(
        &mut self,
        budget: &Budget,
        progress: Progress<'_>,
        visit: Visit<'_>,
        began: Instant,
    ) -> Result<(), String> {
        let (mut config, mut scratch, mut at_rest) = (Vec::new(), Vec::new(), Vec::new());
        while let Some(id) = self.store.id(self.stats.expanded) {
            let Self { semantics, quiet, store, stats, .. } = self;
            let semantics = semantics.as_ref();
            if stats.expanded == self.level_end {
                self.level_end = store.len();
                stats.depth += usize::from(stats.expanded > 0);
            }
            store.read(id, &mut config);
            if self.visited == stats.expanded {
                self.visited += 1;
                if visit(semantics, &config, id).is_break() {
                    return Err("every question was settled".to_owned());
                }
            }
            let (mut steps, mut full) = (0, None);
            let within_bound = semantics.successors(&config, &mut scratch, &mut |step, next| {
                steps += 1;
                if full.is_none() {
                    let next = follow(quiet, semantics, step.process, next, &mut at_rest);
                    full = store.insert(next, Some(id)).err();
                }
            });
            if let Some(full) = full {
                // It is expanded again if there is more room.
                return Err(full.to_string());
            }
            stats.within_bound &= within_bound;
            stats.steps += steps;
            stats.expanded += 1;
            let mut looked = budget.tick();
            // Where one configuration has very many successors, sooner.
            let most = budget.store().unwrap_or(usize::MAX);
            if stats.expanded.is_multiple_of(INTERVAL) || store.bytes() / 2 >= most {
                self.measure(began);
                progress(&self.stats);
                looked = budget.check_store(self.stats.bytes);
            }
            looked.map_err(|stop| stop.to_string())?;
        }
        Ok(())
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
fn follow<'c>(
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
