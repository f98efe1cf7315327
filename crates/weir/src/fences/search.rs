//! The search for sets of changes: fences that are inserted or stand in a program, and orders that are stronger.
//!
//! What follows speaks of fences; of orders the same is true. A stronger order only forbids executions, and a set of elements
//! ([`Space`]) stands for the orders that they are together.
//!
//! A set of fences *repairs* a program if no reachable state of the program with these fences
//! settles a question, or, if robustness is asked for, every run of it has the trace of an SC
//! run. More fences never hurt: without its fence steps, a run of a program with
//! fences is a run of the program without them, and a process that waits at a fence can always
//! go on in the end.
//!
//! Every set that repairs contains an element of each *clause*. Clauses come from runs
//! ([`Space::clause`]). The cheapest sets that hit all clauses are tried, as in the
//! enumeration of minimal unsatisfiable and maximal satisfiable sets (Liffiton et al. 2016): one
//! that repairs is inclusion-minimal, since no smaller set hits all clauses. The run of one that
//! does not gives a new clause. When no set is left that hits all clauses, all minimal sets are
//! known.
//!
//! Large clauses let many useless sets through, so a new clause is made smaller: its complement,
//! which does not repair, is enlarged as long as a run still shows that. To find a run is cheap
//! and to prove that there is none is not, so only a small search looks for it. What it misses
//! costs one more candidate. The clauses that are reported are minimal: they are reduced at the
//! end, by the sets that were found if these are all, and otherwise with the whole search.

use std::sync::{Mutex, PoisonError};
use std::thread;

use weir_check::robust::cycle::Edge;
use weir_engine::robust::attack::{self, Attacks};
use weir_engine::robust::shape;
use weir_engine::{Engine, Explicit, SearchOptions, Task};
use weir_model::answer::{Answer, Evidence, Run};
use weir_model::ids::QuestionId;
use weir_model::limits::{Budget, Stop};
use weir_model::memory_model::MemoryModel;
use weir_model::question::Kind;
use weir_model::system::System;

use super::hitting::{Elements, Set, cheapest};
use super::request::{Goal, Request};
use crate::engines::ENGINES;
use crate::error::Error;
use crate::solver::{check_some, chosen};

/// So many sets are tried at a time once the clauses seem to be known.
const BATCH: usize = 4;

/// The costs in a search are so many times those that are reported: of two sets of the same cost, the one with fewer elements comes
/// first.
pub(super) const FINER: u64 = 1 << 16;

/// The bytes that a small search may store.
const PROBE: usize = 2 << 20;

/// What became of a set of fences.
#[derive(Clone, Debug)]
pub(super) enum Tried {
    Repairs,
    /// It does not, and neither does any set that avoids this clause.
    Fails(Set),
    /// It is not known.
    Open(String),
}

/// Whether a program is as it should be.
pub(super) enum Decided {
    Repaired(Vec<Answer>),
    /// Some runs show that it is not.
    Broken(Vec<Broken>),
    Open(String),
}

/// A run that should not be there.
#[derive(Clone, Debug)]
pub struct Broken {
    /// The question that it settles; `None` if it is a run that SC does not have.
    pub question: Option<QuestionId>,
    /// The run.
    pub run: Run,
    /// The cycle of its trace, if it is a run that SC does not have and is shown: the checker of
    /// cycles accepts both.
    pub cycle: Vec<Edge>,
}

/// What is asked of a program and its variants.
#[derive(Clone, Copy)]
pub(super) struct Ask<'a> {
    pub goal: Goal,
    pub model: MemoryModel,
    /// The names of the properties that are asked; all if there are none.
    pub properties: &'a [String],
    /// Receives answers before a search ends.
    pub settled: Option<&'a (dyn Fn(&Answer) + Sync)>,
}

/// Finds out whether a program is as it should be.
///
/// A small search comes first: often it finds a run at once for one question, while the answer
/// to another one would take long.
pub(super) fn decide(
    system: &System,
    ask: Ask<'_>,
    options: &SearchOptions,
) -> Result<Decided, Error> {
    if ask.goal == Goal::Properties && !options.certificate {
        let found = probe(system, ask, options)?;
        if !matches!(found, Decided::Open(_)) {
            return Ok(found);
        }
    }
    decide_with(ENGINES[0], system, ask, options)
}

/// A small search: what it does not find out is open.
fn probe(system: &System, ask: Ask<'_>, options: &SearchOptions) -> Result<Decided, Error> {
    let store = options.budget.store().map_or(PROBE, |store| store.min(PROBE));
    let budget = options.budget.clone().with_store(store);
    let options = SearchOptions { budget, ..options.clone() };
    decide_with(&Explicit, system, ask, &options)
}

/// A way to find out whether a program is as it should be.
type Decide = fn(&System, Ask<'_>, &SearchOptions) -> Result<Decided, Error>;

/// Finds out whether a program is as it should be; an engine answers its questions.
fn decide_with(
    engine: &dyn Engine,
    system: &System,
    ask: Ask<'_>,
    options: &SearchOptions,
) -> Result<Decided, Error> {
    if ask.goal == Goal::Robust {
        return Ok(match shape::is_robust(system, ask.model, &options.budget) {
            Ok(true) => Decided::Repaired(vec![]),
            Err(stop) => Decided::Open(stop.to_string()),
            Ok(false) => match attack::search(system, &options.budget, &mut |_| {}).0 {
                Attacks::None => Decided::Repaired(vec![]),
                Attacks::Run(run) => {
                    Decided::Broken(vec![Broken { question: None, run, cycle: vec![] }])
                }
                Attacks::Unknown(reason) => Decided::Open(reason),
            },
        });
    }
    let task = Task::new(system, ask.model, options);
    // The names are those of the program, which its variants have too.
    let chosen = chosen(system, ask.properties).unwrap_or_default();
    let (answers, _) = check_some(engine, task, &chosen, ask.settled, &mut |_| {})?;
    let mut runs = Vec::new();
    let mut unknown = None;
    for answer in &answers {
        let is_bounds = system.questions[answer.property.index()].kind == Kind::Bounds;
        match &answer.evidence {
            Evidence::Run(_) if is_bounds => {
                return Ok(Decided::Open("a value leaves its bound".to_owned()));
            }
            Evidence::Run(run) => {
                let (question, run) = (Some(answer.property), run.clone());
                runs.push(Broken { question, run, cycle: vec![] });
            }
            Evidence::Reason(reason) => unknown = unknown.or_else(|| Some(reason.clone())),
            _ => {}
        }
    }
    Ok(match (runs.is_empty(), unknown) {
        (false, _) => Decided::Broken(runs),
        (true, Some(reason)) => Decided::Open(reason),
        (true, None) => Decided::Repaired(answers),
    })
}

/// How far a search has got.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// How many sets repair the program.
    pub sets: usize,
    /// How many programs were checked.
    pub checks: usize,
    /// How many clauses are known: each repair has a fence of each.
    pub clauses: usize,
    /// What any further set costs at least.
    pub at_least: u64,
}

/// What a search found.
pub(super) struct Found {
    /// The sets that repair, cheapest first.
    pub sets: Vec<Set>,
    /// The clauses, none of which contains another.
    pub clauses: Vec<Set>,
    /// Sets of which it is not known whether they repair, and why.
    pub open: Vec<(Set, String)>,
    /// Whether there are no other minimal sets.
    pub is_complete: bool,
    /// Why the search ended early, if it did.
    pub stopped: Option<Stop>,
    pub tally: Tally,
    /// The systems that were searched when a limit was reached.
    pub kept: Vec<System>,
}

/// Programs that differ in what is searched: each set of elements is one.
pub(super) trait Space: Sync {
    /// What sets are made of.
    fn elements(&self) -> &Elements;

    /// The program of a set, or why it is not known.
    ///
    /// # Errors
    /// If it cannot be read.
    fn system(&self, set: &Set, budget: &Budget) -> Result<Result<System, String>, Error>;

    /// Whether a set orders all that another one does.
    fn covers(&self, set: &Set, other: &Set) -> bool;

    /// A clause of the runs of the program of a set: if a set has none of its elements, one of these runs is one
    /// of its program too.
    ///
    /// # Errors
    /// If a program cannot be read.
    fn clause(&self, set: &Set, system: &System, runs: &[Broken]) -> Result<Set, Error>;
}

pub(super) struct Search<'a> {
    space: &'a dyn Space,
    ask: Ask<'a>,
    options: &'a SearchOptions,
    clauses: Vec<Set>,
    /// Sets that repair.
    proved: Vec<Set>,
    pub tally: Tally,
    /// The systems that were searched when a limit was reached. To free a large one takes long,
    /// and then nothing could be said in time.
    kept: Mutex<Vec<System>>,
}

impl<'a> Search<'a> {
    pub fn new(space: &'a dyn Space, request: &'a Request) -> Self {
        Self {
            space,
            ask: request.ask(),
            options: &request.options,
            clauses: vec![],
            proved: vec![],
            tally: Tally::default(),
            kept: Mutex::default(),
        }
    }

    /// The systems that were searched when a limit was reached.
    pub fn into_kept(self) -> Vec<System> {
        self.kept.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn budget(&self) -> &Budget {
        &self.options.budget
    }

    /// Tries all fences but one, for each of them: a run that this lets through shows that the
    /// fence is needed, also if it stays open which others are.
    pub fn try_without_each(&mut self) -> Result<(), Error> {
        let elements = self.space.elements();
        let all = Set::full(elements.len());
        for e in elements.last_of(&all) {
            let others = elements.without(&all, e);
            let store = Some(PROBE * 16).min(self.budget().store().or(Some(usize::MAX)));
            let budget = self.budget().clone().with_store(store.unwrap_or(PROBE));
            let options = SearchOptions { budget, ..self.options.clone() };
            let explicit: Decide =
                |system, ask, options| decide_with(&Explicit, system, ask, options);
            self.tally.checks += 1;
            if let Tried::Fails(clause) = self.check_set(explicit, &others, &options)?
                && !self.clauses.contains(&clause)
            {
                self.clauses.push(clause);
            }
        }
        self.tally.clauses = self.clauses.len();
        Ok(())
    }

    /// Finds out whether a set of fences repairs the program.
    pub fn try_set(&self, set: &Set, options: &SearchOptions) -> Result<Tried, Error> {
        // A clause that the set avoids is of a run that the set does not prevent.
        if let Some(clause) = self.clauses.iter().find(|clause| !clause.meets(set)) {
            return Ok(Tried::Fails(clause.clone()));
        }
        if self.proved.iter().any(|proved| self.space.covers(set, proved)) {
            return Ok(Tried::Repairs);
        }
        self.check_set(decide, set, options)
    }

    /// Checks the program with a set of fences.
    fn check_set(
        &self,
        decide: Decide,
        set: &Set,
        options: &SearchOptions,
    ) -> Result<Tried, Error> {
        let system = match self.space.system(set, &options.budget)? {
            Ok(system) => system,
            Err(reason) => return Ok(Tried::Open(reason)),
        };
        let tried = match decide(&system, self.ask, options)? {
            Decided::Repaired(_) => Tried::Repairs,
            Decided::Open(reason) => Tried::Open(reason),
            Decided::Broken(runs) => Tried::Fails(self.space.clause(set, &system, &runs)?),
        };
        if self.budget().check().is_err() {
            self.kept.lock().unwrap_or_else(PoisonError::into_inner).push(system);
        }
        Ok(tried)
    }

    /// Makes a clause smaller: its complement, which does not repair, is enlarged as long as a
    /// run shows that it still does not. `decide` looks for the run. An element stays without a
    /// search if a set that repairs has no other one of the clause.
    fn shrink(&mut self, mut clause: Set, decide: Decide) -> Result<Set, Error> {
        let elements = self.space.elements();
        let all = Set::full(elements.len());
        for e in clause.clone().iter() {
            // It may be gone together with an earlier one.
            if !clause.contains(e) || clause.len() == 1 || self.budget().check().is_err() {
                continue;
            }
            let larger = all.without(&clause).union(&elements.includes[e]);
            if self.proved.iter().any(|proved| self.space.covers(&larger, proved)) {
                continue;
            }
            self.tally.checks += 1;
            match self.check_set(decide, &larger, self.options)? {
                Tried::Fails(smaller) => clause = smaller,
                Tried::Repairs => self.proved.push(larger),
                Tried::Open(_) => {}
            }
        }
        Ok(clause)
    }

    /// The clauses, each as small as possible.
    fn reduce_clauses(&mut self, sets: &[Set], is_complete: bool) -> Result<(), Error> {
        let mut reduced: Vec<Set> = Vec::new();
        for clause in std::mem::take(&mut self.clauses) {
            let clause = match is_complete {
                true => clause.reduced(sets),
                false => self.shrink(clause, decide)?,
            };
            if !reduced.iter().any(|known| known.is_within(&clause)) {
                reduced.retain(|known| !clause.is_within(known));
                reduced.push(clause);
            }
        }
        self.clauses = reduced;
        Ok(())
    }

    /// Finds the cheapest sets, at most so many, or all.
    pub fn run(
        mut self,
        most: Option<usize>,
        progress: &dyn Fn(&Tally, &[Set]),
    ) -> Result<Found, Error> {
        let mut sets: Vec<Set> = Vec::new();
        let mut open: Vec<(Set, String)> = Vec::new();
        let mut is_complete = false;
        let mut stopped = None;
        let mut batch = 1;
        'search: while most.is_none_or(|most| sets.len() < most) {
            let known: Vec<Set> =
                sets.iter().chain(open.iter().map(|(set, _)| set)).cloned().collect();
            let next = match cheapest(
                &self.clauses,
                self.space.elements(),
                &known,
                batch,
                self.budget(),
            ) {
                Ok(next) => next,
                Err(stop) => {
                    stopped = Some(stop);
                    break;
                }
            };
            let Some(first) = next.first() else {
                is_complete = open.is_empty();
                break;
            };
            self.tally.at_least = (self.space.elements().cost)(first) / FINER;
            let tried = self.try_all(&next)?;
            self.tally.checks += next.len();
            batch = BATCH;
            for (set, tried) in next.into_iter().zip(tried) {
                match tried {
                    Tried::Repairs => {
                        self.proved.push(set.clone());
                        sets.push(set);
                    }
                    Tried::Open(reason) => {
                        if let Err(stop) = self.budget().check() {
                            stopped = Some(stop);
                            break 'search;
                        }
                        open.push((set, reason));
                    }
                    Tried::Fails(clause) => {
                        batch = 1;
                        // Another set of the batch may have given this clause.
                        if self.clauses.iter().all(|c| c.meets(&set)) {
                            let clause = self.shrink(clause, probe)?;
                            self.clauses.retain(|c| !clause.is_within(c));
                            self.clauses.push(clause);
                        }
                    }
                }
            }
            self.tally.sets = sets.len();
            self.tally.clauses = self.clauses.len();
            progress(&self.tally, &sets);
        }
        // Who asks for one set does not ask where else fences could stand.
        match is_complete || most != Some(1) {
            true => self.reduce_clauses(&sets, is_complete)?,
            false => self.clauses.clear(),
        }
        let cost = &self.space.elements().cost;
        sets.sort_by_key(|set| (cost(set), set.iter().collect::<Vec<_>>()));
        self.clauses.sort_by_key(|clause| clause.iter().collect::<Vec<_>>());
        let (clauses, tally) = (std::mem::take(&mut self.clauses), self.tally);
        let kept = self.into_kept();
        Ok(Found { sets, clauses, open, is_complete, stopped, tally, kept })
    }

    /// Checks several sets, with several threads if there are some.
    fn try_all(&self, sets: &[Set]) -> Result<Vec<Tried>, Error> {
        let threads = self.budget().threads().min(sets.len());
        if threads < 2 {
            return sets.iter().map(|set| self.try_set(set, self.options)).collect();
        }
        let one = std::num::NonZeroUsize::MIN;
        let budget = self.budget().clone().with_threads(one);
        let options = SearchOptions { budget, ..self.options.clone() };
        let parts = sets.chunks(sets.len().div_ceil(threads));
        let tried: Vec<Result<Vec<Tried>, Error>> = thread::scope(|scope| {
            let each =
                |part: &'_ [Set]| part.iter().map(|set| self.try_set(set, &options)).collect();
            let running: Vec<_> = parts.map(|part| scope.spawn(move || each(part))).collect();
            running.into_iter().map(|t| t.join().expect("a search does not panic")).collect()
        });
        Ok(tried.into_iter().collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
    }
}
