//! The explicit engine: breadth-first search over configurations.
//!
//! The search is complete up to the bound on buffers. It records whether a step was
//! omitted because a buffer is full. If that never happens, every configuration was seen
//! and the answers are exact, also for systems with loops. The store is the queue:
//! configurations are numbered as they are found and expanded in that order, so the same
//! input gives the same answers, counts and runs each time.
//!
//! # Configurations at rest
//!
//! A step is *quiet* if it is the only step of its process, no other process can observe
//! it, and no other process can disable it, such as a write into its own buffer or a
//! fence with that buffer empty ([`Semantics::take_quietly`]). Quiet steps are taken at
//! once, as part of the step before. Let `rest(c)` be the configuration to which the
//! quiet steps of `c` lead. They change no part of the state that a property mentions
//! ([`System::quiet_step`]), so `c` settles what `rest(c)` settles; a process that has
//! ended, failed or is stuck has no quiet step. For every step from `c` to `d` that is
//! not quiet there is one from `rest(c)` to a configuration whose rest is `rest(d)` (or,
//! for words of history, allows whatever it allows): its process has not moved, and what
//! it sees was not changed. So the configurations at rest settle what all of them do. A
//! write that finds its buffer full is not quiet, and is recorded as before. Chains of
//! quiet steps end: none goes back in the code.
//!
//! Runs contain all their steps (`Search::trace`).

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::time::Instant;

use weir_model::answer::{Answer, Evidence, Run, Snapshot};
use weir_model::ids::{ProcessId, StateId};
use weir_model::limits::{Budget, Stop};
use weir_model::memory_model::MemoryModel;
use weir_model::program::{Atom, PropertyKind};
use weir_model::question::Question;
use weir_model::semantics::{
    Form, Rule, Semantics, Step, bounded_guesses, has_bounded_guesses, sufficient_bound,
};
use weir_model::system::System;

use crate::engine::{Engine, Refusal, Task};
use crate::graph::{self, Graph, NoGraph};
use crate::stats::{Limits, Progress, Stats};
use crate::store::{ConfigId, Store};

/// The bound on buffers for systems with loops when none is given.
pub const DEFAULT_BOUND: usize = 4;

/// How many configurations are expanded between two looks at the store.
const CLOCK: usize = 1 << 10;

struct Search<'s> {
    semantics: Box<dyn Semantics + 's>,
    model: MemoryModel,
    form: Form,
    store: Store,
    stats: Stats,
}

impl<'s> Search<'s> {
    fn new(task: Task<'s>) -> Result<Self, Stop> {
        let Task { system, model, limits, .. } = task;
        let form = Form::of(model)[0];
        if form.guesses() && !model.guesses_reads() {
            system.expanded(&limits.budget)?;
        }
        let bound = limits.bound.or_else(|| sufficient_bound(system)).unwrap_or(DEFAULT_BOUND);
        let guesses = limits.guesses.filter(|_| has_bounded_guesses(model));
        let semantics = match guesses {
            Some(guesses) => bounded_guesses(system, model, bound, guesses),
            None => form.semantics(system, model, bound),
        };
        Ok(Self {
            semantics,
            model,
            form,
            store: Store::within(&limits.budget),
            stats: Stats {
                engine: Explicit.name(),
                bound: Some(bound),
                guesses,
                within_bound: true,
                ..Stats::default()
            },
        })
    }

    /// Visits every configuration once, until `visit` breaks or a limit is hit.
    fn run(
        &mut self,
        limits: &Limits,
        progress: Progress<'_>,
        mut visit: impl FnMut(&dyn Semantics, &[u32], ConfigId) -> ControlFlow<()>,
    ) {
        let began = Instant::now();
        let Self { semantics, store, stats, .. } = self;
        let semantics = semantics.as_ref();
        let mut scratch = Vec::new();
        let mut config = Vec::new();
        let mut level_end = 0;
        let mut full = None;
        for initial in semantics.initial() {
            config.clone_from(&initial);
            rest(semantics, &mut config);
            if let Err(reason) = store.insert(&config, None) {
                stats.stopped = Some(reason.to_string());
                return;
            }
        }
        let mut at_rest = Vec::new();
        while let Some(id) = store.id(stats.expanded) {
            if stats.expanded == level_end {
                level_end = store.len();
                stats.depth += 1;
            }
            store.read(id, &mut config);
            if visit(semantics, &config, id).is_break() {
                stats.stopped = Some("every question was settled".to_owned());
                break;
            }
            let mut steps = 0;
            stats.within_bound &= semantics.successors(&config, &mut scratch, &mut |step, next| {
                steps += 1;
                if full.is_none() {
                    let next = follow(semantics, step.process, next, &mut at_rest);
                    full = store.insert(next, Some(id)).err();
                }
            });
            stats.steps += steps;
            stats.expanded += 1;
            if let Some(reason) = full {
                stats.stopped = Some(reason.to_string());
                break;
            }
            let mut looked = limits.budget.tick();
            // Where one configuration has very many successors, sooner.
            let most = limits.budget.store().unwrap_or(usize::MAX);
            if stats.expanded.is_multiple_of(CLOCK) || store.bytes() / 2 >= most {
                stats.stored = store.len();
                stats.bytes = store.bytes();
                stats.elapsed = began.elapsed();
                progress(stats);
                looked = limits.budget.check_store(stats.bytes);
            }
            if let Err(stop) = looked {
                stats.stopped = Some(stop.to_string());
                break;
            }
        }
        stats.stored = store.len();
        stats.covered = stats.steps.saturating_sub(stats.stored);
        stats.bytes = store.bytes();
        stats.depth = stats.depth.saturating_sub(1);
        stats.elapsed = began.elapsed();
    }

    /// The run to a configuration that settles a question, up to the first configuration that
    /// does. A process takes its quiet steps no sooner than it has to.
    fn trace(&self, end: ConfigId, asked: &Question, budget: &Budget) -> Result<Run, Stop> {
        let semantics = self.semantics.as_ref();
        let mut path = vec![end];
        while let Some(parent) = self.store.parent(path[path.len() - 1]) {
            path.push(parent);
        }
        path.reverse();
        let first = self.store.get(path[0]);
        let initial = semantics.initial().find(|initial| {
            let mut config = initial.clone();
            rest(semantics, &mut config);
            config == first
        });
        let mut retold = Retold::new(semantics, initial.expect("a run begins somewhere"));
        for p in semantics.system().process_ids() {
            retold.put_off(p);
        }
        let (mut scratch, mut at_rest) = (Vec::new(), Vec::new());
        for pair in path.windows(2) {
            budget.tick()?;
            let (from, to) = (self.store.get(pair[0]), self.store.get(pair[1]));
            let mut found = None;
            let _ = semantics.successors(&from, &mut scratch, &mut |step, next| {
                if found.is_none() && follow(semantics, step.process, next, &mut at_rest) == to {
                    found = Some(step);
                }
            });
            retold.take(found.expect("it was reached from there"));
        }
        if !retold.is_settled(asked) {
            retold.catch_up();
        }
        let bound = self.stats.bound.unwrap_or_default();
        let Retold { start, mut steps, .. } = retold;
        let mut config = start.clone();
        let mut enough = None;
        for (i, step) in steps.iter().enumerate() {
            budget.tick()?;
            if settles(semantics, &config, asked) {
                enough = Some(i);
                break;
            }
            semantics.take(&mut config, &|s| s == step);
        }
        steps.truncate(enough.unwrap_or(steps.len()));
        let start = Snapshot::new(semantics, &start);
        Ok(Run { model: self.model, form: self.form, bound, start, steps })
    }
}

/// Lets every process take its quiet steps.
fn rest(semantics: &dyn Semantics, config: &mut Vec<u32>) {
    for p in semantics.system().process_ids() {
        semantics.go_quietly(config, p, &mut |_, _| {});
    }
}

/// Where a process comes to rest after its step to `next`. The others are at rest.
#[inline]
fn follow<'c>(
    semantics: &dyn Semantics,
    process: ProcessId,
    next: &'c [u32],
    at_rest: &'c mut Vec<u32>,
) -> &'c [u32] {
    if semantics.system().quiet_step(process, StateId(next[process.index()])).is_none() {
        return next;
    }
    at_rest.clear();
    at_rest.extend_from_slice(next);
    semantics.go_quietly(at_rest, process, &mut |_, _| {});
    at_rest
}

/// A run that is told with its quiet steps.
struct Retold<'s> {
    semantics: &'s dyn Semantics,
    start: Vec<u32>,
    config: Vec<u32>,
    steps: Vec<Step>,
    /// For each process how many quiet steps are still to be taken.
    late: Vec<usize>,
}

impl<'s> Retold<'s> {
    fn new(semantics: &'s dyn Semantics, start: Vec<u32>) -> Self {
        let late = vec![0; semantics.system().processes.len()];
        Self { semantics, config: start.clone(), start, steps: vec![], late }
    }

    /// Counts the quiet steps before which a process stands; fences are passed now, since a
    /// process that passes one late may see less.
    fn put_off(&mut self, process: ProcessId) {
        let mut ahead = self.config.clone();
        let (mut count, mut now) = (0, 0);
        self.semantics.go_quietly(&mut ahead, process, &mut |step, _| {
            count += 1;
            if matches!(step.rule, Rule::Fence | Rule::ReadFence | Rule::WriteFence) {
                now = count;
            }
        });
        self.late[process.index()] = count;
        for _ in 0..now {
            self.take_quiet(process);
        }
    }

    fn take_quiet(&mut self, process: ProcessId) {
        let state = StateId(self.config[process.index()]);
        let (id, t) = self.semantics.system().quiet_step(process, state).expect("it was counted");
        let rule = self.semantics.take_quietly(&mut self.config, process, t);
        let rule = rule.expect("nobody can prevent it");
        self.steps.push(Step::take(process, rule, id));
        self.late[process.index()] -= 1;
    }

    /// Takes a step that is not quiet, after as many quiet ones of its process as it needs.
    fn take(&mut self, step: Step) {
        let p = step.process;
        while step.transition.is_some() && self.late[p.index()] > 0 {
            self.take_quiet(p);
        }
        while self.semantics.take(&mut self.config, &|s| *s == step).is_none() {
            self.take_quiet(p);
        }
        self.steps.push(step);
        self.put_off(p);
    }

    /// Takes all quiet steps that were put off.
    fn catch_up(&mut self) {
        for p in self.semantics.system().process_ids() {
            while self.late[p.index()] > 0 {
                self.take_quiet(p);
            }
        }
    }

    fn is_settled(&self, asked: &Question) -> bool {
        settles(self.semantics, &self.config, asked)
    }
}

/// Which questions are settled by one of up to `most` configurations under SC, met depth first:
/// a quick look that finds what happens in most runs.
pub fn glance(system: &System, questions: &[Question], most: usize, budget: &Budget) -> Vec<bool> {
    let semantics = Form::of(MemoryModel::SC)[0].semantics(system, MemoryModel::SC, 1);
    let semantics = semantics.as_ref();
    let mut settled = vec![false; questions.len()];
    let mut store = Store::within(budget);
    let (mut config, mut scratch) = (Vec::new(), Vec::new());
    let initial = semantics.initial().take(most).map_while(|c| store.insert(&c, None).ok());
    let mut open: Vec<ConfigId> = initial.flatten().collect();
    while let Some(id) = open.pop() {
        store.read(id, &mut config);
        for (settled, question) in settled.iter_mut().zip(questions) {
            *settled = *settled || settles(semantics, &config, question);
        }
        if store.len() >= most || settled.iter().all(|s| *s) || budget.tick().is_err() {
            break;
        }
        let _ = semantics.successors(&config, &mut scratch, &mut |_, next| {
            open.extend(store.insert(next, None).ok().flatten());
        });
    }
    settled
}

/// Why there may be more than was seen.
fn reason(stats: &Stats) -> String {
    stats.stopped.clone().unwrap_or_else(|| {
        let bound = stats.bound.unwrap_or_default();
        format!(
            "nothing found with buffers of up to {bound}, but the program can fill them further"
        )
    })
}

/// Whether a configuration settles a question.
pub(crate) fn settles(semantics: &dyn Semantics, config: &[u32], question: &Question) -> bool {
    let (controls, memory) = (semantics.controls(config), semantics.memory(config));
    let is_settled = || question.is_settled(semantics.system(), controls, memory);
    match question.is_about_rest() {
        true => semantics.is_drained(config) && is_settled(),
        false => is_settled() && semantics.is_settled(config),
    }
}

fn is_final(semantics: &dyn Semantics, config: &[u32]) -> bool {
    let system = semantics.system();
    let (controls, memory) = (semantics.controls(config), semantics.memory(config));
    system.all_ended(controls)
        && semantics.is_drained(config)
        && system.program.filter.as_ref().is_none_or(|f| system.holds(f, controls, memory))
}

/// The explicit engine.
#[derive(Clone, Copy, Debug)]
pub struct Explicit;

impl Engine for Explicit {
    fn name(&self) -> &'static str {
        "explicit"
    }

    fn about(&self) -> &'static str {
        "Breadth-first search, for any memory model, with buffers up to a bound"
    }

    fn decides(&self, _: MemoryModel) -> bool {
        true
    }

    fn search(&self, task: Task<'_>, progress: Progress<'_>) -> (Vec<Answer>, Stats) {
        let Task { system, questions, limits, .. } = task;
        let mut search = match Search::new(task) {
            Ok(search) => search,
            Err(stop) => return (task.unknown(&stop), stopped(&stop)),
        };
        let mut settled: Vec<Option<ConfigId>> = vec![None; questions.len()];
        let asks_for_labels: Vec<bool> = questions.iter().map(Question::needs_label).collect();
        search.run(limits, progress, |semantics, config, id| {
            let stands = |(p, s): (usize, &u32)| {
                !system.state(ProcessId::new(p), StateId(*s)).labels.is_empty()
            };
            let at_label = semantics.controls(config).iter().enumerate().any(stands);
            for (i, (question, settled)) in questions.iter().zip(&mut settled).enumerate() {
                if settled.is_none()
                    && (at_label || !asks_for_labels[i])
                    && settles(semantics, config, question)
                {
                    *settled = Some(id);
                }
            }
            match settled.iter().all(Option::is_some) {
                true if !settled.is_empty() => ControlFlow::Break(()),
                _ => ControlFlow::Continue(()),
            }
        });
        let answers =
            questions.iter().zip(settled).enumerate().map(
                |(i, (question, settled))| match settled {
                    Some(id) => match search.trace(id, question, &limits.budget) {
                        Ok(run) => Answer::settled(i, question, run),
                        Err(stop) => Answer::unknown(i, stop),
                    },
                    None if search.stats.is_exact() => {
                        Answer::excluded(i, question, Evidence::Exhausted)
                    }
                    None => Answer::unknown(i, reason(&search.stats)),
                },
            );
        (answers.collect(), search.stats.clone())
    }

    fn graph(&self, task: Task<'_>, most: usize) -> Result<Graph, NoGraph> {
        graph::configurations(task, most)
    }
}

/// What a search did that could not begin.
fn stopped(stop: &Stop) -> Stats {
    Stats { engine: Explicit.name(), stopped: Some(stop.to_string()), ..Stats::default() }
}

/// All final states of a program, as the values of what it observes.
#[derive(Clone, Debug)]
pub struct Outcomes {
    /// What is observed.
    pub atoms: Vec<Atom>,
    /// The values in each final state, with whether the state satisfies the
    /// formula of the first final-state property.
    pub states: BTreeSet<(Vec<i128>, bool)>,
    /// What the search did.
    pub stats: Stats,
}

/// Finds the final states of a program.
///
/// # Errors
/// If the system was built without the guessed reads of the model.
pub fn outcomes(task: Task<'_>, progress: Progress<'_>) -> Result<Outcomes, Refusal> {
    task.is_served()?;
    let system = task.system;
    let program = &system.program;
    let atoms = program.observed.clone().unwrap_or_else(|| program.everything());
    let formula = program.properties.iter().find_map(|p| match &p.kind {
        PropertyKind::Final(_, formula) => Some(formula),
        _ => None,
    });
    let mut states = BTreeSet::new();
    let mut left = None;
    let mut search = match Search::new(task) {
        Ok(search) => search,
        Err(stop) => return Ok(Outcomes { atoms, states, stats: stopped(&stop) }),
    };
    search.run(task.limits, progress, |semantics, config, _| {
        if left.is_none() {
            left = system.left(semantics.controls(config)).map(ToString::to_string);
        }
        if is_final(semantics, config) {
            let (controls, memory) = (semantics.controls(config), semantics.memory(config));
            let values = atoms.iter().map(|a| system.atom(*a, controls, memory)).collect();
            let picked = formula.is_none_or(|f| system.holds(f, controls, memory));
            states.insert((values, picked));
        }
        ControlFlow::Continue(())
    });
    let mut stats = search.stats;
    stats.stopped = stats.stopped.or(left).or_else(|| system.excess().map(str::to_owned));
    Ok(Outcomes { atoms, states, stats })
}
