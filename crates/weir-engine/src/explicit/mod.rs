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
//! A step is *quiet* if its process has no other, no other process can observe it, and no
//! other process can disable it or change what it does:
//!
//! * a local step, a write into the own buffer, a fence with that buffer empty
//!   ([`Semantics::take_quietly`]),
//! * a read of a variable that no other process will write any more; whether the own last
//!   write is still in the buffer or not, its value is the same,
//! * where there are no loops, the step of a write from buffer to memory, if no other process
//!   will use the variable any more and no property mentions it before the end.
//!
//! Quiet steps are taken at once, as part of the step before. Let `rest(c)` be the
//! configuration to which the quiet steps of `c` lead. They change no part of the state
//! that a property mentions ([`System::quiet_step`]), so `c` settles what `rest(c)`
//! settles; a process that has ended, failed or is stuck has no quiet step, and where
//! properties speak of states without writes under way, there are none to update. For
//! every step from `c` to `d` that is not quiet there is one from `rest(c)` to a
//! configuration whose rest is `rest(d)` (or, for words of history, allows whatever it
//! allows): its process has not moved, and what it sees was not changed. What makes a step
//! quiet remains so until it is taken. So the configurations at rest settle what all of
//! them do. A write that finds its buffer full is not quiet, and is recorded as before.
//! Chains of quiet steps end: none goes back in the code.
//!
//! # Writes that wait
//!
//! Under PSO and NSW a write is first transferred to a serializing buffer, and reaches memory from
//! there. Nobody sees the transfer, and only a write fence waits for it. So a write is
//! transferred in the step in which it reaches memory, or when its process stands before a write
//! fence ([`Semantics::can_wait`], [`Semantics::complete`]).
//!
//! # Symmetry
//!
//! Configurations that are images of each other under an automorphism of the system
//! ([`weir_model::symmetry`]) settle the same questions, and so do those that they lead to. Only
//! one of them is stored, or a few (`orbit`).
//!
//! Runs contain all their steps (`retold`), and are runs of the system itself.

mod batch;
mod folded;
mod orbit;
mod quiet;
mod retold;
mod search;
pub mod shared;

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use weir_model::answer::{Answer, Evidence, Run};
use weir_model::ids::{Cell, ProcessId, QuestionId, StateId};
use weir_model::limits::{Budget, Stop};
use weir_model::memory_model::MemoryModel;
use weir_model::program::{Atom, Formula, PropertyKind};
use weir_model::question::{Question, numbered};
use weir_model::semantics::{Form, Semantics};
use weir_model::system::System;

use crate::engine::{Engine, Refusal, Sink, Task};
use crate::graph::{self, Graph, NoGraph};
use crate::stats::{Progress, Stats};
use crate::store::{ConfigId, Full, Store};
pub use folded::Folded;
use orbit::Orbits;
use search::{Search, Visitor};

/// The bound on buffers for systems with loops when none is given.
pub const DEFAULT_BOUND: usize = 4;

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

    fn has_forms(&self) -> bool {
        true
    }

    fn follows_blocks(&self) -> bool {
        true
    }

    fn has_proofs(&self, model: MemoryModel) -> bool {
        crate::reachable::is_listed(model)
    }

    fn search(&self, task: Task<'_>, progress: Progress<'_>) -> (Vec<Answer>, Stats) {
        match Asked::new(task) {
            Ok(mut asked) => {
                asked.go_on(&task.options.budget, progress);
                asked.answers(&task.options.budget)
            }
            Err(stop) => (task.unknown(&stop), stopped(&stop)),
        }
    }

    fn graph(&self, task: Task<'_>, most: usize) -> Result<Graph, NoGraph> {
        graph::configurations(task, most)
    }
}

/// An explicit search that can be paused, and go on with a larger budget.
pub struct Asked<'t> {
    search: Search<'t>,
    settling: Settling<'t>,
    settled: Sink<'t>,
}

/// Finds the configurations that settle questions.
struct Settling<'t> {
    system: &'t System,
    questions: &'t [Question],
    /// The first configuration that settles each question.
    settled: Vec<Option<ConfigId>>,
    /// Whether only configurations settle a question in which a process stands at a label.
    needs_label: Vec<bool>,
    /// Whether the search is paused when a question is settled, so that its run can be handed over.
    pauses: bool,
    /// The questions that were settled since the last pause.
    new: Vec<usize>,
}

impl Visitor for Settling<'_> {
    /// The questions that a configuration settles.
    type Seen = Vec<usize>;

    fn look(&self, semantics: &dyn Semantics, _: &Orbits, config: &[Cell]) -> Option<Vec<usize>> {
        self.settled_by(semantics, config, &|i| self.settled[i].is_none())
    }

    fn take(&mut self, seen: Vec<usize>, id: ConfigId) -> ControlFlow<()> {
        for i in seen {
            if self.settled[i].is_none() {
                self.settled[i] = Some(id);
                self.new.push(i);
            }
        }
        let is_paused = self.pauses && !self.new.is_empty();
        match is_paused || self.settled.iter().all(Option::is_some) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}

impl<'t> Settling<'t> {
    fn new(system: &'t System, questions: &'t [Question]) -> Self {
        let needs_label = questions.iter().map(Question::needs_label).collect();
        let settled = vec![None; questions.len()];
        Self { system, questions, settled, needs_label, pauses: false, new: vec![] }
    }

    /// The open questions that a configuration settles, if there are any.
    fn settled_by(
        &self,
        semantics: &dyn Semantics,
        config: &[Cell],
        is_open: &dyn Fn(usize) -> bool,
    ) -> Option<Vec<usize>> {
        let Self { system, questions, needs_label, .. } = self;
        let stands = |(p, s): (usize, &Cell)| {
            !system.state(ProcessId::new(p), StateId(*s)).labels.is_empty()
        };
        let at_label = semantics.controls(config).iter().enumerate().any(stands);
        let settles = |i: &usize| {
            is_open(*i)
                && (at_label || !needs_label[*i])
                && settles(semantics, config, &questions[*i])
        };
        let all: Vec<usize> = (0..questions.len()).filter(settles).collect();
        (!all.is_empty()).then_some(all)
    }
}

impl<'t> Asked<'t> {
    /// A search that has not begun.
    ///
    /// # Errors
    /// If a limit is reached.
    pub fn new(task: Task<'t>) -> Result<Self, Stop> {
        let Task { system, questions, settled, .. } = task;
        let pauses = settled.is_told();
        Ok(Self {
            search: Search::new(task, questions)?,
            settling: Settling { pauses, ..Settling::new(system, questions) },
            settled,
        })
    }

    /// Searches until every question is settled, there is nothing left to see, or a limit is
    /// reached.
    pub fn go_on(&mut self, budget: &Budget, progress: Progress<'_>) {
        loop {
            self.search.go_on(budget, progress, &mut self.settling);
            let Settling { questions, settled, new, .. } = &mut self.settling;
            let new = std::mem::take(new);
            if new.is_empty() || !self.settled.is_told() {
                return;
            }
            let is_ahead = |i: &usize| {
                self.search.form.is_ahead() && questions[*i].asks_for_memory_under_way()
            };
            for i in new.into_iter().filter(|i| !is_ahead(i)) {
                let run = settled[i].map(|id| self.search.run_to(id, &questions[i], budget));
                if let Some(Ok(run)) = run {
                    let id = QuestionId::new(i);
                    self.settled.hand_over(&Answer::settled(id, &questions[i], run));
                }
            }
            if settled.iter().all(Option::is_some) {
                return;
            }
        }
    }

    /// What it has done so far.
    pub fn stats(&self) -> &Stats {
        self.search.stats()
    }

    /// What is known so far.
    pub fn answers(&self, budget: &Budget) -> (Vec<Answer>, Stats) {
        let stats = self.search.stats();
        let Settling { questions, settled, .. } = &self.settling;
        let run = |i: usize| Some(self.search.run_to(settled[i]?, &questions[i], budget));
        (answers(questions, self.search.form, stats, &run), stats.clone())
    }
}

/// What a search answers, given the runs to what settles questions.
fn answers(
    questions: &[Question],
    form: Form,
    stats: &Stats,
    run: &dyn Fn(usize) -> Option<Result<Run, Full>>,
) -> Vec<Answer> {
    let answer = |(i, question): (QuestionId, &Question)| {
        if form.is_ahead() && question.asks_for_memory_under_way() {
            return Answer::unknown(i, AHEAD);
        }
        match run(i.index()) {
            Some(Ok(run)) => Answer::settled(i, question, run),
            Some(Err(stop)) => Answer::unknown(i, stop),
            None if stats.is_exact() => Answer::excluded(i, question, Evidence::Exhausted),
            None => Answer::unknown(i, reason(form, stats)),
        }
    };
    numbered(questions).map(answer).collect()
}

/// Why a question about variables while processes run is not answered with load buffers.
const AHEAD: &str = "with load buffers memory is ahead of the processes, so they do not answer \
                     what variables are while processes run; the other forms do";

/// Why there may be more than was seen.
fn reason(form: Form, stats: &Stats) -> String {
    stats.stopped.clone().unwrap_or_else(|| {
        let bound = stats.bound.unwrap_or_default();
        match form {
            Form::C11 => format!(
                "nothing found with up to {bound} newer writes of a location to read, but the program can write more"
            ),
            _ => format!(
                "nothing found with buffers of up to {bound}, but the program can fill them further"
            ),
        }
    })
}

/// Whether a configuration settles a question.
pub fn settles(semantics: &dyn Semantics, config: &[Cell], question: &Question) -> bool {
    let (controls, memory) = (semantics.controls(config), semantics.memory(config));
    let is_settled = || question.is_settled(semantics.system(), controls, memory);
    match question.is_about_rest() {
        true => semantics.is_drained(config) && is_settled(),
        false => is_settled() && semantics.is_settled(config),
    }
}

/// Whether it is a final state that counts. One of which the filter has no value is listed.
fn is_final(semantics: &dyn Semantics, config: &[Cell]) -> bool {
    let system = semantics.system();
    let (controls, memory) = (semantics.controls(config), semantics.memory(config));
    system.all_ended(controls)
        && semantics.is_drained(config)
        && !system
            .program
            .filter
            .as_ref()
            .is_some_and(|f| system.truth(f, controls, memory) == Ok(false))
}

/// Which questions are settled by one of up to `most` configurations under SC, met depth first:
/// a quick look that finds what happens in most runs.
pub fn glance(system: &System, questions: &[Question], most: usize, budget: &Budget) -> Vec<bool> {
    let semantics = Form::of(MemoryModel::SC)[0].semantics(system, MemoryModel::SC, 1);
    let semantics = semantics.as_ref();
    let mut settled = vec![false; questions.len()];
    let mut store: Store = Store::within(budget);
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
/// If the system was built without the guessed reads of the model, or the options are not for it.
pub fn outcomes(task: Task<'_>, progress: Progress<'_>) -> Result<Outcomes, Refusal> {
    Explicit.accepts(task.model, task.options)?;
    task.is_served()?;
    let system = task.system;
    let program = &system.program;
    let atoms = program.observed.clone().unwrap_or_else(|| program.everything());
    let formula = program.properties.iter().find_map(|p| match &p.kind {
        PropertyKind::Final(_, formula) => Some(formula),
        _ => None,
    });
    let mut ends = Ends { atoms: &atoms, formula, states: BTreeSet::new(), left: None };
    let mut search = match Search::new(task, &[]) {
        Ok(search) => search,
        Err(stop) => return Ok(Outcomes { states: ends.states, atoms, stats: stopped(&stop) }),
    };
    search.go_on(&task.options.budget, progress, &mut ends);
    let Ends { states, left, .. } = ends;
    let mut stats = search.stats().clone();
    stats.stopped = stats.stopped.or(left).or_else(|| system.excess().map(str::to_owned));
    Ok(Outcomes { atoms, states, stats })
}

/// Collects final states.
struct Ends<'t> {
    atoms: &'t [Atom],
    formula: Option<&'t Formula>,
    states: BTreeSet<(Vec<i128>, bool)>,
    /// Why a process went no further although the program would.
    left: Option<String>,
}

impl Visitor for Ends<'_> {
    type Seen = Result<BTreeSet<(Vec<i128>, bool)>, String>;

    fn look(
        &self,
        semantics: &dyn Semantics,
        orbits: &Orbits,
        config: &[Cell],
    ) -> Option<Self::Seen> {
        let system = semantics.system();
        if let Some(left) = system.left(semantics.controls(config)) {
            return Some(Err(left.to_string()));
        }
        let of = |config: Vec<Cell>| {
            let (controls, memory) = (semantics.controls(&config), semantics.memory(&config));
            let values = self.atoms.iter().map(|a| system.atom(*a, controls, memory)).collect();
            let picked = self.formula.is_none_or(|f| system.truth(f, controls, memory) == Ok(true));
            (values, picked)
        };
        let ends = system.all_ended(semantics.controls(config)) && semantics.is_drained(config);
        ends.then(|| {
            let all = orbits.images(semantics, config).into_iter();
            Ok(all.filter(|config| is_final(semantics, config)).map(of).collect())
        })
    }

    fn take(&mut self, seen: Self::Seen, _: ConfigId) -> ControlFlow<()> {
        match seen {
            Ok(states) => self.states.extend(states),
            Err(left) => drop(self.left.get_or_insert(left)),
        }
        ControlFlow::Continue(())
    }
}
