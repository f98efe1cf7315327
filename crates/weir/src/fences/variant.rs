//! Variants of a program: the same code with other fences. The fences are put into the program itself, so that runs show
//! where others would make a difference.

use std::collections::HashMap;

use weir_front::Source;
use weir_model::ids::SpanId;
use weir_model::limits::Budget;
use weir_model::memory_model::MemoryModel;
use weir_model::program::{FenceKind, Program, Stmt, StmtKind};
use weir_model::run::Run;
use weir_model::system::{Op, System};

use super::change::{Change, To};
use super::costs::Costs;
use super::hitting::{Elements, Set};
use super::search::{Broken, FINER, Space};
use crate::error::Error;

/// A program with numbered places for fences.
pub(super) struct Variants {
    program: Program,
    /// The places of the fences that may be there or not.
    places: HashMap<SpanId, usize>,
    /// The fences, as elements of sets are numbered.
    fences: Vec<(usize, FenceKind)>,
    /// The numbers of the fences of each place.
    at: Vec<Vec<usize>>,
    model: MemoryModel,
    elements: Elements,
}

impl Variants {
    /// The variants of a program with a fence at every place. `place` tells where a fence stands
    /// in its text, or that it is no part of the question; `fences` are those that may be there.
    pub fn new(
        program: Program,
        source: &Source,
        place: impl Fn(std::ops::Range<usize>, FenceKind) -> Option<usize>,
        fences: Vec<(usize, FenceKind)>,
        (model, costs): (MemoryModel, &Costs),
    ) -> Self {
        let mut places = HashMap::new();
        for_each_fence(&program, &mut |stmt| {
            if let StmtKind::Fence(kind) = stmt.kind {
                let found = place(source.range(stmt.span), kind);
                places.extend(found.map(|place| (stmt.span, place)));
            }
        });
        let all = fences.iter().map(|f| f.0).chain(places.values().copied());
        let mut at = vec![vec![]; all.max().map_or(0, |last| last + 1)];
        for (e, fence) in fences.iter().enumerate() {
            at[fence.0].push(e);
        }
        let least: Vec<u64> = fences.iter().map(|(_, kind)| costs.fence(*kind) * FINER).collect();
        let each = least.clone();
        let elements = Elements {
            includes: (0..fences.len()).map(|e| Set::empty(fences.len()).with(e)).collect(),
            cost: Box::new(move |set| set.iter().map(|e| each[e]).sum()),
            least,
        };
        Self { program, places, fences, at, model, elements }
    }

    /// The fences of a set.
    pub fn changes(&self, set: &Set) -> Vec<Change> {
        let change = |e: usize| {
            let (place, kind) = self.fences[e];
            Change { place, to: To::Fence(kind) }
        };
        set.iter().map(change).collect()
    }

    /// The program with these fences only. With `marks`, at a place at which other fences would
    /// make a difference, a process takes a step that does nothing: it shows where they would
    /// have been.
    pub fn program(&self, set: &Set, marks: bool) -> Program {
        let mut program = self.program.clone();
        for process in &mut program.processes {
            process.body = self.block(std::mem::take(&mut process.body), set, marks);
        }
        program
    }

    fn block(&self, block: Vec<Stmt>, set: &Set, marks: bool) -> Vec<Stmt> {
        let mut new = Vec::with_capacity(block.len());
        for mut stmt in block {
            let place = self.places.get(&stmt.span);
            match (&mut stmt.kind, place) {
                (StmtKind::Fence(_), Some(&place)) => {
                    let here = &self.at[place];
                    let chosen = || {
                        let chosen = here.iter().filter(|e| set.contains(**e));
                        chosen.map(|&e| self.fences[e].1)
                    };
                    // With a full fence, those of other kinds change nothing.
                    if chosen().any(|kind| kind == FenceKind::Full) {
                        new.push(Stmt::new(StmtKind::Fence(FenceKind::Full), stmt.span));
                        continue;
                    }
                    new.extend(chosen().map(|kind| Stmt::new(StmtKind::Fence(kind), stmt.span)));
                    if marks && here.iter().any(|&e| !set.contains(e)) {
                        new.push(Stmt::new(StmtKind::Nop, stmt.span));
                    }
                    continue;
                }
                (kind, _) => {
                    for inner in kind.blocks_mut() {
                        *inner = self.block(std::mem::take(inner), set, marks);
                    }
                }
            }
            new.push(stmt);
        }
        new
    }

    /// The clause of a run of the program with a set of fences: all other fences that the run
    /// cannot pass at their places. The run is still one of the program if fences are added that
    /// are not in the clause, so every set of fences that repairs the program contains one of
    /// the clause.
    ///
    /// A fence is passed if it changes nothing but the control state of its process. Where
    /// that is not known the fence is in the clause: a clause may be too large.
    fn clause_of(&self, set: &Set, system: &System, run: &Run) -> Set {
        let mut clause = Set::empty(self.fences.len());
        let mut replay = run.replay(system);
        while let Some(step) = replay.next_step() {
            if let Some(id) = step.transition {
                let transition = system.transition(step.process, id);
                if let (Op::Nop, Some(place)) = (transition.op, self.places.get(&transition.span)) {
                    for &e in &self.at[*place] {
                        let kind = self.fences[e].1;
                        let is_open = !set.contains(e) && !clause.contains(e);
                        if is_open && !replay.passes(step.process, transition, kind) {
                            clause.insert(e);
                        }
                    }
                }
            }
            replay.advance();
        }
        clause
    }
}

impl Space for Variants {
    fn elements(&self) -> &Elements {
        &self.elements
    }

    fn system(&self, set: &Set, budget: &Budget) -> Result<Result<System, String>, Error> {
        let program = self.program(set, true);
        let system = System::for_model_within(program, self.model, budget);
        Ok(system.map_err(|unbuilt| unbuilt.to_string()))
    }

    /// It has each of its fences, or a full fence at its place.
    fn covers(&self, set: &Set, other: &Set) -> bool {
        other.iter().all(|e| {
            let here = &self.at[self.fences[e].0];
            let full = here.iter().find(|f| self.fences[**f].1 == FenceKind::Full);
            set.contains(e) || full.is_some_and(|full| set.contains(*full))
        })
    }

    fn clause(&self, set: &Set, system: &System, runs: &[Broken]) -> Result<Set, Error> {
        let clauses = runs.iter().map(|broken| self.clause_of(set, system, &broken.run));
        // The smallest says most.
        let smallest = clauses.min_by_key(|c| (c.len(), c.clone()));
        Ok(smallest.expect("a run shows that it is broken"))
    }
}

/// Calls a function with every fence of the processes of a program.
pub(super) fn for_each_fence(program: &Program, visit: &mut dyn FnMut(&Stmt)) {
    let mut blocks: Vec<&[Stmt]> = program.processes.iter().map(|p| &p.body[..]).collect();
    while let Some(block) = blocks.pop() {
        for stmt in block {
            match &stmt.kind {
                StmtKind::Fence(_) => visit(stmt),
                kind => blocks.extend(kind.blocks().into_iter().map(|block| &block[..])),
            }
        }
    }
}
