//! Robustness: whether a memory model adds anything to SC.
//!
//! Three answers are tried, strongest first. The shape of the code may show that nothing is
//! reordered. Under TSO, a search for attacks decides whether every run has the trace of an SC run
//! ([`weir_engine::robust`]). Under any decided model, the portfolio of engines decides whether every
//! state is reachable under SC.

use std::collections::VecDeque;
use std::time::Instant;

use weir_check::robust::cycle::{self, Edge};
use weir_check::robust::sc::ScFile;
use weir_check::robust::states::asked;
use weir_check::robust::trace::{Relation, Trace};
use weir_check::robust::{Cycle, RobustSets, StateSets};
use weir_engine::Engine as _;
use weir_engine::robust::attack::{self, Attacks};
use weir_engine::robust::shape;
use weir_engine::{Progress, SearchOptions, Stats, Task, Views, reachable};
use weir_model::answer::{Answer, Evidence, Run};
use weir_model::ids::{StateId, ValueId};
use weir_model::limits::Budget;
use weir_model::memory_model::MemoryModel;
use weir_model::system::System;

use crate::certify::{Unaccepted, accepted};
use crate::engines::ENGINES;
use crate::error::Error;
use crate::solver::check_with;
use crate::{Loaded, Verdict};

/// Whether a program is robust against a memory model, and in which sense.
#[derive(Debug)]
pub struct Robustness {
    /// The memory model.
    pub model: MemoryModel,
    /// Whether every run has the trace of an SC run.
    pub traces: Traces,
    /// Whether every state is a state of SC.
    pub states: States,
    /// What the last search did.
    pub stats: Stats,
}

/// Whether every run has the trace of an SC run.
#[derive(Debug)]
pub enum Traces {
    /// Yes: no operation can overtake another one.
    Shape,
    /// Yes: there is no attack.
    Same,
    /// No: this run has a cycle in its trace. Its checker accepts it.
    Different(Box<(Run, Cycle)>),
    /// It is not known, for this reason.
    Unknown(String),
    /// It is decided under TSO only.
    Undecided,
}

/// Whether every joint control state and every final memory is reachable under SC.
#[derive(Debug)]
pub enum States {
    /// Yes, since every run has the trace of an SC run.
    Implied,
    /// Yes.
    Same(Box<Compared>),
    /// No: a run ends in another one. Its checker accepts it.
    Different(Box<NewState>),
    /// It is not known, for this reason.
    Unknown(String),
}

/// A run to a state that SC does not have.
#[derive(Debug)]
pub struct NewState {
    /// The program, in which all registers keep their values.
    pub loaded: Loaded,
    /// The run.
    pub run: Run,
    /// The run with the SC configurations, as a file.
    pub file: StateSets,
}

/// The states of a model, compared with those of SC.
#[derive(Debug)]
pub struct Compared {
    /// The program, in which all registers keep their values.
    pub loaded: Loaded,
    /// The system with the two questions about its states.
    asked: System,
    /// The SC configurations.
    sc: Vec<(Vec<StateId>, Vec<ValueId>)>,
    /// The answers to the two questions.
    answers: Vec<Answer>,
}

/// A proof that a program is robust.
#[derive(Debug)]
pub enum Proof<'l> {
    /// About traces.
    Traces(Box<RobustSets>),
    /// About states, with the program in which all registers keep their values.
    States(Box<StateSets>, &'l Loaded),
}

/// What a person is told, strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The code alone shows that nothing is reordered.
    Shape,
    /// Every run has the trace of an SC run.
    Traces,
    /// Every state is reachable under SC.
    States,
    /// Some run has a trace that no SC run has, or some state is not reachable under SC.
    NotRobust,
    /// Neither is known.
    Unknown,
}

impl Kind {
    /// The answer in a few words.
    pub fn word(self) -> &'static str {
        match self {
            Self::Shape => "robust by its shape",
            Self::Traces => "robust",
            Self::States => "same states as SC",
            Self::NotRobust => "not robust",
            Self::Unknown => "unknown",
        }
    }

    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Shape => "shape",
            Self::Traces => "traces",
            Self::States => "states",
            Self::NotRobust => "not robust",
            Self::Unknown => "unknown",
        }
    }
}

impl Robustness {
    /// The strongest answer. A program with other traces than SC is robust if its states are
    /// known to be those of SC, and otherwise it is not.
    pub fn kind(&self) -> Kind {
        match (&self.traces, &self.states) {
            (Traces::Shape, _) => Kind::Shape,
            (Traces::Same, _) => Kind::Traces,
            (_, States::Same(_) | States::Implied) => Kind::States,
            (_, States::Different(_)) | (Traces::Different(_), _) => Kind::NotRobust,
            (Traces::Unknown(_) | Traces::Undecided, States::Unknown(_)) => Kind::Unknown,
        }
    }

    /// As a verdict: `holds` if the program is robust.
    pub fn verdict(&self) -> Verdict {
        match self.kind() {
            Kind::Shape | Kind::Traces | Kind::States => Verdict::Holds,
            Kind::NotRobust => Verdict::Violated,
            Kind::Unknown => Verdict::Unknown,
        }
    }

    /// Why something is not known, if that is so.
    pub fn reason(&self) -> Option<&str> {
        match (&self.traces, &self.states) {
            (_, States::Unknown(reason)) => Some(reason),
            (Traces::Unknown(reason), States::Same(_)) => Some(reason),
            _ => None,
        }
    }

    /// The proof that the program is robust, if it is.
    ///
    /// # Errors
    /// Why there is none: a limit is reached.
    pub fn proof(&self, loaded: &Loaded, budget: &Budget) -> Result<Option<Proof<'_>>, String> {
        let system = &loaded.system;
        match (self.kind(), &self.states) {
            (Kind::Shape, _) => {
                Ok(Some(Proof::Traces(Box::new(RobustSets::of_shape(system, self.model)))))
            }
            (Kind::Traces, _) => {
                let sets = attack::closed_sets(system, budget)?;
                Ok(Some(Proof::Traces(Box::new(RobustSets::new(system, &sets, vec![])))))
            }
            (Kind::States, States::Same(compared)) => {
                let proof = compared.proof(self.model, budget)?;
                Ok(Some(Proof::States(Box::new(proof), &compared.loaded)))
            }
            _ => Ok(None),
        }
    }
}

impl Compared {
    fn proof(&self, model: MemoryModel, budget: &Budget) -> Result<StateSets, String> {
        let Self { asked, sc, answers, .. } = self;
        let sc = ScFile::new(asked, sc);
        let invariant = |a: &Answer| match &a.evidence {
            Evidence::Invariant(invariant) => Some(invariant.clone()),
            _ => None,
        };
        let all: Option<Vec<_>> = answers.iter().map(invariant).collect();
        if let Some(invariant) = all.as_ref().and_then(|all| all.first()) {
            return Ok(StateSets::of_invariant(asked, sc, invariant));
        }
        let set = reachable::configurations(asked, model, budget).map_err(|e| e.to_string())?;
        Ok(StateSets::of_closed(asked, model, sc, &set))
    }
}

/// Whether robustness is decided for a model.
pub fn is_decided(model: MemoryModel) -> bool {
    Views.decides(model)
}

/// Decides whether a program is robust against SC, TSO, PSO or NSW.
///
/// # Errors
/// If the program is an object, or a checker rejects what was found.
pub fn check(
    loaded: &Loaded,
    model: MemoryModel,
    options: &SearchOptions,
    progress: Progress<'_>,
) -> Result<Robustness, Error> {
    // Traces have accesses, and so have the states that are compared: no statement is a step.
    let loaded = &Loaded { source: loaded.source.clone(), system: loaded.system.divided() };
    let system = &loaded.system;
    if system.program.object.is_some() {
        return Err(Error::AsksLive(loaded.source.name.clone()));
    }
    let mut stats = Stats { engine: "code", within_bound: true, ..Stats::default() };
    if system.has_blocks(model) {
        let reason = "robustness of atomic blocks of several accesses is not decided".to_owned();
        let (traces, states) = (Traces::Unknown(reason.clone()), States::Unknown(reason));
        return Ok(Robustness { model, traces, states, stats });
    }
    let traces = match shape::is_robust(system, model, &options.budget) {
        Ok(true) => Traces::Shape,
        Err(stop) => Traces::Unknown(stop.to_string()),
        Ok(false) if model.normal() == MemoryModel::TSO => {
            let (found, searched) = attack::search(system, &options.budget, progress);
            stats = searched;
            match found {
                Attacks::None => Traces::Same,
                Attacks::Run(run) => {
                    let cycle = shown_cycle(loaded, &run)?;
                    Traces::Different(Box::new((run, cycle)))
                }
                Attacks::Unknown(reason) => Traces::Unknown(reason),
            }
        }
        Ok(false) => Traces::Undecided,
    };
    let states = match &traces {
        Traces::Shape | Traces::Same => States::Implied,
        // What stopped the search for attacks also stops this one.
        Traces::Unknown(reason) if options.budget.check().is_err() => {
            States::Unknown(reason.clone())
        }
        _ => {
            let (states, searched) = compare(loaded, model, options, progress)?;
            stats = searched.unwrap_or(stats);
            states
        }
    };
    Ok(Robustness { model, traces, states, stats })
}

/// The check of SC configurations takes about so many times as long as the search for them.
const CHECKING: u32 = 20;

/// Compares the states of a model with those of SC.
fn compare(
    loaded: &Loaded,
    model: MemoryModel,
    options: &SearchOptions,
    progress: Progress<'_>,
) -> Result<(States, Option<Stats>), Error> {
    let loaded = match loaded.keeping_registers(&options.budget) {
        Ok(kept) => kept,
        Err(unbuilt) => return Ok((States::Unknown(unbuilt.to_string()), None)),
    };
    let system = &loaded.system;
    let budget = &options.budget;
    let began = Instant::now();
    let sc = match reachable::configurations(system, MemoryModel::SC, budget) {
        Ok(all) => all,
        Err(reason) => return Ok((States::Unknown(reason.to_string()), None)),
    };
    let listing = began.elapsed();
    let sc: Vec<(Vec<StateId>, Vec<ValueId>)> =
        sc.into_iter().map(|c| (c.controls, c.memory)).collect();
    if let Some(reason) = system.excess() {
        return Ok((States::Unknown(reason.to_owned()), None));
    }
    if let Some(excess) = sc.iter().find_map(|(controls, _)| system.out_of_bounds(controls)) {
        return Ok((States::Unknown(excess.to_string()), None));
    }
    let in_time = sc.iter().take_while(|_| budget.tick().is_ok());
    let asked = asked(system, in_time.map(|(s, m)| (s.as_slice(), m.as_slice())));
    if let Err(stop) = budget.check() {
        return Ok((States::Unknown(stop.to_string()), None));
    }
    let all = Task::new(&asked, model, options);
    let controls = Task { questions: &asked.questions[..1], ..all };
    // Most differences are in the control states, and programs with loops have no final states.
    let (mut answers, mut stats) = check_with(ENGINES[0], controls, progress)?;
    if answers.iter().all(|a| a.is_known() && !a.has_run()) {
        (answers, stats) = check_with(ENGINES[0], all, progress)?;
    }
    let run = answers.iter().find_map(|a| match &a.evidence {
        Evidence::Run(run) => Some((a.property, run)),
        _ => None,
    });
    if let Some((question, run)) = run {
        // The checker takes every step from every SC configuration.
        let nanoseconds = usize::try_from((listing * CHECKING).as_nanos()).unwrap_or(usize::MAX);
        if let Err(stop) = budget.check_freeing(nanoseconds) {
            let reason = format!("{stop} before the run to another state was checked");
            return Ok((States::Unknown(reason), Some(stats)));
        }
        let sc = ScFile::new(system, &sc);
        let file = StateSets::of_run(&asked, sc, (run, question), &|span| loaded.line(span));
        let file = accepted(file, &loaded, budget.threads()).map_err(Error::Internal)?;
        let run = run.clone();
        return Ok((States::Different(Box::new(NewState { loaded, run, file })), Some(stats)));
    }
    let reason = answers.iter().find_map(|a| match &a.evidence {
        Evidence::Reason(reason) => Some(reason.clone()),
        _ => None,
    });
    Ok(match reason {
        Some(reason) => (States::Unknown(reason), Some(stats)),
        None => (States::Same(Box::new(Compared { loaded, asked, sc, answers })), Some(stats)),
    })
}

/// A run with the cycle of its trace, as its checker accepts it.
pub(crate) fn shown_cycle(loaded: &Loaded, run: &Run) -> Result<Cycle, Error> {
    let line = |span| loaded.line(span);
    let edges = find_cycle(&loaded.system, run).unwrap_or_default();
    let cycle = Cycle::new(&loaded.system, run, edges, &line);
    let accepted: Result<Cycle, Unaccepted> = accepted(cycle, loaded, 1);
    accepted.map_err(Error::Internal)
}

/// A shortest cycle of the trace of a run through a write that a later read of its process has
/// overtaken, from this write on.
pub fn find_cycle(system: &System, run: &Run) -> Option<Vec<Edge>> {
    let steps = cycle::steps(system, run, &|_| 0);
    let trace = Trace::new(system, &steps).ok()?;
    let count = trace.accesses.len();
    let relation = |a: usize, b: usize| {
        Relation::ALL.into_iter().find(|relation| trace.related(a, *relation, b))
    };
    let mut shortest: Option<Vec<Edge>> = None;
    for first in (0..count).filter(|&a| trace.accesses[a].written.is_some()) {
        // Breadth first, back to the first access.
        let mut from: Vec<Option<(usize, Relation)>> = vec![None; count];
        let mut open = VecDeque::from([first]);
        'search: while let Some(at) = open.pop_front() {
            for next in (0..count).filter(|&next| next != at) {
                if from[next].is_some() {
                    continue;
                }
                let Some(relation) = relation(at, next) else { continue };
                from[next] = Some((at, relation));
                if next == first {
                    break 'search;
                }
                open.push_back(next);
            }
        }
        let mut edges = Vec::new();
        let mut at = first;
        while let Some((before, relation)) = from[at] {
            let (a, b) = (trace.accesses[before].step, trace.accesses[at].step);
            edges.push(Edge { from: a, relation, to: b });
            at = before;
            if at == first {
                break;
            }
        }
        edges.reverse();
        let is_cycle = from[first].is_some();
        if is_cycle && shortest.as_ref().is_none_or(|known| edges.len() < known.len()) {
            shortest = Some(edges);
        }
    }
    shortest
}
