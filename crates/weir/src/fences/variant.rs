//! Variants of a program: the same code with other fences.

use std::collections::HashMap;

use weir_front::Source;
use weir_model::ids::SpanId;
use weir_model::program::{FenceKind, Program, Stmt, StmtKind};
use weir_model::run::Run;
use weir_model::system::{Op, System};

use super::hitting::Set;

/// A fence that a program may have: at which place, and of which kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fence {
    /// The number of the place.
    pub place: usize,
    /// The kind.
    pub kind: FenceKind,
}

/// A program with numbered places for fences.
pub(super) struct Variants {
    program: Program,
    /// The places of the fences that may be there or not.
    places: HashMap<SpanId, usize>,
    /// The fences, as elements of sets are numbered.
    pub fences: Vec<Fence>,
    /// The numbers of the fences of each place.
    at: Vec<Vec<usize>>,
}

impl Variants {
    /// The variants of a program with a fence at every place. `place` tells where a fence stands
    /// in its text, or that it is no part of the question; `fences` are those that may be there.
    pub fn new(
        program: Program,
        source: &Source,
        place: impl Fn(std::ops::Range<usize>, FenceKind) -> Option<usize>,
        fences: Vec<Fence>,
    ) -> Self {
        let mut places = HashMap::new();
        for_each_fence(&program, &mut |stmt| {
            if let StmtKind::Fence(kind) = stmt.kind {
                let found = place(source.range(stmt.span), kind);
                places.extend(found.map(|place| (stmt.span, place)));
            }
        });
        let all = fences.iter().map(|f| f.place).chain(places.values().copied());
        let mut at = vec![vec![]; all.max().map_or(0, |last| last + 1)];
        for (e, fence) in fences.iter().enumerate() {
            at[fence.place].push(e);
        }
        Self { program, places, fences, at }
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

    /// Whether a set of fences orders all that another one does: it has each of its fences, or
    /// a full fence at its place.
    pub fn covers(&self, set: &Set, other: &Set) -> bool {
        other.iter().all(|e| {
            let here = &self.at[self.fences[e].place];
            let full = here.iter().find(|f| self.fences[**f].kind == FenceKind::Full);
            set.contains(e) || full.is_some_and(|full| set.contains(*full))
        })
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
                        chosen.map(|&e| self.fences[e].kind)
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
    pub fn clause(&self, set: &Set, system: &System, run: &Run) -> Set {
        let mut clause = Set::empty(self.fences.len());
        let mut replay = run.replay(system);
        while let Some(step) = replay.next_step() {
            if let Some(id) = step.transition {
                let transition = system.transition(step.process, id);
                if let (Op::Nop, Some(place)) = (transition.op, self.places.get(&transition.span)) {
                    for &e in &self.at[*place] {
                        let kind = self.fences[e].kind;
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
