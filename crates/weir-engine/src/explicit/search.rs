//! The search itself: it expands every configuration at rest once.

use std::fmt;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use weir_model::answer::{Run, Snapshot};
use weir_model::ids::{Cell, StateId};
use weir_model::limits::{Budget, INTERVAL, Stop};
use weir_model::memory_model::MemoryModel;
use weir_model::question::Question;
use weir_model::semantics::{
    Form, Rule, Semantics, Step, bounded_guesses, has_bounded_guesses, sufficient_bound,
};
use weir_model::symmetry::Automorphism;
use weir_model::system::StateKind;

use super::batch::{self, Found, OfOne};
use super::orbit::Orbits;
use super::quiet::Quiet;
use super::retold::Retold;
use super::{DEFAULT_BOUND, Explicit};
use crate::engine::{Engine, Task};
use crate::stats::{Progress, Stats};
use crate::store::{ConfigId, Full, Hash, Store};

/// Looks at every configuration once, and may end the search.
pub(super) trait Visitor: Sync {
    /// What it sees in a configuration.
    type Seen: Send + Sync;

    /// What there is to see, if there is something. Threads look at several configurations at
    /// a time.
    fn look(
        &self,
        semantics: &dyn Semantics,
        orbits: &Orbits,
        config: &[Cell],
    ) -> Option<Self::Seen>;

    /// Takes what was seen, in the order of the configurations.
    fn take(&mut self, seen: Self::Seen, id: ConfigId) -> ControlFlow<()>;
}

/// Who tells the time, and is told about the search.
struct Clock<'c, 'p> {
    budget: &'c Budget,
    progress: Progress<'p>,
    began: Instant,
}

/// A search that can be paused.
pub(super) struct Search<'s> {
    pub(super) steps: Steps<'s>,
    model: MemoryModel,
    pub(super) form: Form,
    pub(super) store: Store,
    pub(super) stats: Stats,
    /// Where closed levels are kept, if not in memory.
    spill: Option<PathBuf>,
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
    /// A search that has not begun. What is looked for is the same for every image of a
    /// configuration if these questions are.
    pub fn new(task: Task<'s>, looked_for: &[Question]) -> Result<Self, Stop> {
        let Task { system, model, options, .. } = task;
        let form = options.form.unwrap_or_else(|| Form::of_system(system, model)[0]);
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
            form: (form != Form::of(model)[0]).then_some(form),
            within_bound: true,
            ..Stats::default()
        };
        Self::over(task, looked_for, form, semantics, stats)
    }

    /// The same over a semantics whose configurations have the control states and the memory of a form.
    pub fn over(
        task: Task<'s>,
        looked_for: &[Question],
        form: Form,
        semantics: Box<dyn Semantics + 's>,
        stats: Stats,
    ) -> Result<Self, Stop> {
        let Task { system, questions, model, options, .. } = task;
        let reduction = Reduction {
            quiet: Quiet::new(system, questions, &options.budget)?,
            orbits: Orbits::new(semantics.as_ref(), looked_for, &options.budget)?,
        };
        Ok(Self {
            steps: Steps { semantics, reduction, lists_all: false },
            model,
            form,
            store: Store::within(&options.budget),
            stats,
            spill: options.spill.clone(),
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
        if let Err(reason) =
            self.begin().map_err(told).and_then(|()| self.expand(&mut clock, visitor))
        {
            self.stats.stopped = Some(reason);
        }
        self.measure(began);
        self.earlier = self.stats.elapsed;
    }

    fn begin(&mut self) -> Result<(), Full> {
        if !self.has_begun {
            if let Some(folder) = &self.spill {
                self.store.spill_to(folder)?;
            }
            for config in self.steps.initial() {
                self.store.insert(&config, None)?;
            }
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
        let threads = clock.budget.threads();
        let mut room = (Vec::new(), Room::default());
        while let Some(id) = self.store.id(self.stats.expanded) {
            match batch::size(self.store.len() - self.stats.expanded, threads) {
                Some(size) => {
                    let found = batch::find(self, size, clock.budget, visitor);
                    let mut appended = Vec::new();
                    let added = self.add(found, clock, visitor, &mut appended, &mut room);
                    self.store.enter(&appended, threads);
                    added?;
                    // A thread that was late has left its part.
                    clock.budget.check().map_err(told)?;
                }
                None => {
                    self.expand_one(id, &mut room, visitor)?;
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
        (config, room): &mut (Vec<Cell>, Room),
        visitor: &mut V,
    ) -> Result<(), String> {
        self.store.read(id, config);
        if self.visited == id.index() {
            let seen = self.steps.look(visitor, config);
            self.visit(id, seen, visitor)?;
        }
        let (store, mut full) = (&mut self.store, None);
        let expansion = self.steps.expand(config, room, |next| {
            full = store.insert(next, Some(id)).err();
            full.is_none()
        });
        // It is expanded again if there is more room.
        full.map_or(Ok(()), |full| Err(told(full)))?;
        self.count(expansion)
    }

    /// Adds what threads found: does what [`expand_one`](Self::expand_one) does, with less
    /// work. What is appended to the store is still to be entered into its tables.
    fn add<V: Visitor>(
        &mut self,
        found: Vec<Found<V::Seen>>,
        clock: &mut Clock<'_, '_>,
        visitor: &mut V,
        appended: &mut Vec<(Hash, ConfigId)>,
        room: &mut (Vec<Cell>, Room),
    ) -> Result<(), String> {
        let threads = clock.budget.threads();
        let firsts = batch::firsts(&found, threads);
        // Whether something may have been added that the threads do not know.
        let mut is_behind = false;
        for (Found { first, of, reached, bytes }, firsts) in found.into_iter().zip(firsts) {
            if first != self.stats.expanded {
                // Something was left out before it, and comes first.
                return Ok(());
            }
            let (mut next, mut begin) = (0, 0);
            for one in of {
                let id = self.store.id(self.stats.expanded).expect("a thread has read it");
                let OfOne::Expanded { seen, expansion, last } = one else {
                    self.store.enter(&std::mem::take(appended), threads);
                    is_behind = true;
                    self.expand_one(id, room, visitor)?;
                    self.look_at_clock(clock)?;
                    continue;
                };
                if self.visited == id.index() {
                    self.visit(id, seen, visitor)?;
                }
                for (&(hash, end), is_first) in reached[next..last].iter().zip(&firsts[next..]) {
                    let packed = &bytes[begin..end];
                    begin = end;
                    if is_behind {
                        let added = self.store.number_packed(packed, hash, Some(id));
                        added.map_err(told)?;
                    } else if *is_first {
                        let added = self.store.append(packed, Some(id));
                        appended.push((hash, added.map_err(told)?));
                    }
                }
                next = last;
                self.count(expansion)?;
                self.look_at_clock(clock)?;
            }
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
    fn count(&mut self, expansion: Expansion) -> Result<(), String> {
        let Self { store, stats, .. } = self;
        stats.within_bound &= expansion.within_bound;
        stats.steps += expansion.steps;
        stats.expanded += 1;
        if stats.expanded == self.level_end && stats.expanded < store.len() {
            store.close_before(stats.expanded).map_err(told)?;
            self.level_end = store.len();
            stats.depth += 1;
        }
        Ok(())
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
        looked.map_err(told)
    }

    fn measure(&mut self, began: Instant) {
        let Self { store, stats, .. } = self;
        stats.stored = store.len();
        stats.covered = stats.steps.saturating_sub(stats.stored);
        stats.bytes = store.bytes();
        stats.on_disk = store.bytes_on_disk();
        stats.elapsed = self.earlier + began.elapsed();
    }

    /// The run to a configuration that settles a question, up to the first configuration that
    /// does.
    ///
    /// What is stored may be an image of what the run comes to: `back` leads from the one to
    /// the other.
    pub fn run_to(&self, end: ConfigId, question: &Question, budget: &Budget) -> Result<Run, Full> {
        Ok(self.run_along(&self.store.path_to(end)?, question, budget)?)
    }

    /// The run along configurations, each of which was reached from the one before.
    pub fn run_along(
        &self,
        path: &[Vec<Cell>],
        question: &Question,
        budget: &Budget,
    ) -> Result<Run, Stop> {
        let semantics = self.steps.semantics.as_ref();
        let Reduction { quiet, orbits } = &self.steps.reduction;
        let (mut scratch, mut space) = (Vec::new(), Vec::new());
        let mut back = Automorphism::identity(semantics.system());
        // Shrinks a configuration; exchanges are their own inverses.
        let mut shrink = |config: &mut Vec<Cell>| {
            let mut back = Automorphism::identity(semantics.system());
            orbits.shrink(semantics, config, &mut space, &mut |g| back = g.then(&back));
            back
        };
        let initial = semantics.initial().find(|initial| {
            let mut config = initial.clone();
            quiet.rest(semantics, &mut config, None, &mut |_| {});
            back = shrink(&mut config);
            config == path[0]
        });
        let mut retold = Retold::new(semantics, initial.expect("a run begins somewhere"));
        let mut config = retold.start().to_vec();
        quiet.rest(semantics, &mut config, None, &mut |step| retold.put_off(step));
        for pair in path.windows(2) {
            budget.tick()?;
            let (from, to) = (&pair[0], &pair[1]);
            let mut found = None;
            let _ = semantics.successors(from, &mut scratch, &mut |step, next| {
                if found.is_none() && !semantics.can_wait(from, &step) {
                    let mut at_rest = next.to_vec();
                    let _ = semantics.complete(&mut at_rest, &step, &mut Vec::new());
                    quiet.rest(semantics, &mut at_rest, Some(step.process), &mut |_| {});
                    let exchanged = shrink(&mut at_rest);
                    if at_rest == *to {
                        found = Some((next.to_vec(), exchanged));
                    }
                }
            });
            let (next, exchanged) = found.expect("it was reached from there");
            // The same step, of the configuration that the run has come to.
            let there = match orbits.is_empty() {
                true => next,
                false => {
                    let mut image = Vec::new();
                    let next = without_stopped(semantics, &next);
                    let has_image = semantics.image(&next, &back, &mut image).is_some();
                    debug_assert!(has_image, "what was stored has images");
                    image
                }
            };
            let mut taken = None;
            let _ = semantics.successors(&config, &mut scratch, &mut |step, next| {
                let is_there = || match orbits.is_empty() {
                    true => *next == there,
                    false => without_stopped(semantics, next) == there,
                };
                if taken.is_none() && is_there() {
                    taken = Some((step, next.to_vec()));
                }
            });
            let (step, next) = taken.expect("an automorphism leads steps to steps");
            retold.take(step);
            config = next;
            if let Some((step, _)) = semantics.complete(&mut config, &step, &mut scratch) {
                retold.take(step);
            }
            let moved = Some(step.process);
            quiet.rest(semantics, &mut config, moved, &mut |step| retold.put_off(step));
            back = exchanged.then(&back);
        }
        let (start, steps) = retold.until_settled(question, budget)?;
        let start = Snapshot::new(semantics, &start);
        let bound = self.stats.bound.unwrap_or_default();
        Ok(Run { model: self.model, form: self.form, bound, start, steps })
    }
}

/// What a search says about a limit that ends it.
fn told(reason: impl fmt::Display) -> String {
    reason.to_string()
}

/// The configuration in which processes that have failed are where they began: a process that
/// has failed has no image.
fn without_stopped(semantics: &dyn Semantics, config: &[Cell]) -> Vec<Cell> {
    let system = semantics.system();
    let mut config = config.to_vec();
    for p in system.process_ids() {
        let kind = &system.state(p, StateId(config[p.index()])).kind;
        if !matches!(kind, StateKind::Inside | StateKind::Ended) {
            config[p.index()] = system.processes[p.index()].initial.0;
        }
    }
    config
}

/// The steps of a search.
pub(super) struct Steps<'s> {
    pub semantics: Box<dyn Semantics + 's>,
    reduction: Reduction,
    /// Whether every single step is taken, and nothing is left out.
    pub lists_all: bool,
}

/// Which configuration stands for which.
struct Reduction {
    quiet: Quiet,
    orbits: Orbits,
}

/// Space to take steps in: one for each thread.
#[derive(Default)]
pub struct Room {
    scratch: Vec<Cell>,
    config: Vec<Cell>,
    space: Vec<Cell>,
    /// Whether nothing was left out because of the bound.
    is_whole: bool,
}

/// What was found out about a configuration by expanding it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expansion {
    /// The number of steps that were taken.
    pub steps: usize,
    /// Whether no step was left out because of the bound.
    pub within_bound: bool,
}

impl Steps<'_> {
    /// What is stored first: the initial configurations, at rest.
    pub fn initial(&self) -> Box<dyn Iterator<Item = Vec<Cell>> + '_> {
        let semantics = self.semantics.as_ref();
        if self.lists_all {
            return semantics.initial();
        }
        Box::new(semantics.initial().map(move |mut config| {
            let Reduction { quiet, orbits } = &self.reduction;
            quiet.rest(semantics, &mut config, None, &mut |_| {});
            orbits.shrink(semantics, &mut config, &mut Vec::new(), &mut |_| {});
            config
        }))
    }

    /// Calls `reached` with every configuration that is stored for a step from this one, in the
    /// order of the steps, until it returns false. A configuration may have millions of steps, and
    /// following one creates control states, so the rest is not followed.
    #[inline]
    pub fn expand(
        &self,
        config: &[Cell],
        room: &mut Room,
        mut reached: impl FnMut(&[Cell]) -> bool,
    ) -> Expansion {
        let semantics = self.semantics.as_ref();
        let mut scratch = std::mem::take(&mut room.scratch);
        room.is_whole = true;
        let (mut steps, mut goes_on) = (0, true);
        let within_bound = semantics.successors(config, &mut scratch, &mut |step, next| {
            if !goes_on {
                return;
            }
            if self.lists_all {
                steps += 1;
                goes_on = reached(next);
            } else if !semantics.can_wait(config, &step) {
                steps += 1;
                goes_on = reached(self.reduction.follow(semantics, &step, next, room));
            }
        });
        room.scratch = scratch;
        Expansion { steps, within_bound: within_bound && room.is_whole }
    }

    /// What a visitor sees in a configuration.
    pub fn look<V: Visitor>(&self, visitor: &V, config: &[Cell]) -> Option<V::Seen> {
        visitor.look(self.semantics.as_ref(), &self.reduction.orbits, config)
    }
}

impl Reduction {
    /// What is stored for a step to `next`: where everybody comes to rest, or an image of that.
    #[inline]
    pub fn follow<'c>(
        &self,
        semantics: &dyn Semantics,
        step: &Step,
        next: &'c [Cell],
        room: &'c mut Room,
    ) -> &'c [Cell] {
        let Self { quiet, orbits } = self;
        let may_follow = step.rule == Rule::TransferWrite
            || quiet.may_follow(semantics.system(), step.process, next);
        if !may_follow && orbits.is_empty() {
            return next;
        }
        let Room { config, space, is_whole, .. } = room;
        config.clear();
        config.extend_from_slice(next);
        if may_follow {
            if let Some((_, whole)) = semantics.complete(config, step, space) {
                *is_whole &= whole;
            }
            quiet.rest(semantics, config, Some(step.process), &mut |_| {});
        }
        orbits.shrink(semantics, config, space, &mut |_| {});
        config
    }
}
