//! The local states of one process, numbered.

use std::collections::{HashMap, HashSet};

use weir_model::ids::{ProcessId, VarId};
use weir_model::program::{Atom, AtomicKind, FenceKind, Order, Program};

use super::code::{Automaton, Local, Step};

/// The number of a local state.
pub(super) type LocalId = usize;

/// [`Step`] with numbers.
#[derive(Clone, Debug)]
pub(super) enum Next {
    None,
    Silent(Vec<LocalId>),
    Read(VarId),
    Write(VarId, i128, LocalId),
    Rmw(VarId),
    Fence(FenceKind, LocalId),
}

/// Where a process is seen after a block, what memory is then, and whether the process has only
/// waited.
type End = (LocalId, Vec<i128>, bool);

/// The local states that were met so far. Each is computed once.
pub(super) struct Locals<'p> {
    automaton: Automaton<'p>,
    process: ProcessId,
    ids: HashMap<Local, LocalId>,
    all: Vec<Local>,
    next: Vec<Option<Next>>,
    reads: HashMap<(LocalId, i128), LocalId>,
    rmws: HashMap<(LocalId, i128), Option<(i128, LocalId)>>,
}

impl<'p> Locals<'p> {
    pub fn new(program: &'p Program, process: ProcessId) -> Self {
        let automaton = Automaton::new(program, &program.processes[process.index()]);
        let initial = automaton.initial();
        let mut this = Self {
            automaton,
            process,
            ids: HashMap::new(),
            all: vec![],
            next: vec![],
            reads: HashMap::new(),
            rmws: HashMap::new(),
        };
        this.id(initial);
        this
    }

    fn id(&mut self, local: Local) -> LocalId {
        if let Some(id) = self.ids.get(&local) {
            return *id;
        }
        self.all.push(local.clone());
        self.next.push(None);
        self.ids.insert(local, self.all.len() - 1);
        self.all.len() - 1
    }

    pub fn initial(&self) -> LocalId {
        0
    }

    pub fn get(&self, id: LocalId) -> &Local {
        &self.all[id]
    }

    pub fn next(&mut self, id: LocalId) -> Next {
        if let Some(next) = &self.next[id] {
            return next.clone();
        }
        let next = match self.automaton.step(&self.all[id]) {
            Step::None => Next::None,
            Step::Silent(to) => Next::Silent(to.into_iter().map(|l| self.id(l)).collect()),
            Step::Read(var) => Next::Read(var),
            Step::Write(var, value, to) => Next::Write(var, value, self.id(to)),
            Step::Rmw(var) => Next::Rmw(var),
            Step::Fence(kind, to) => Next::Fence(kind, self.id(to)),
        };
        self.next[id] = Some(next.clone());
        next
    }

    pub fn after_read(&mut self, id: LocalId, value: i128) -> LocalId {
        if let Some(to) = self.reads.get(&(id, value)) {
            return *to;
        }
        let to = self.automaton.after_read(&self.all[id], value);
        let to = self.id(to);
        self.reads.insert((id, value), to);
        to
    }

    pub fn after_rmw(&mut self, id: LocalId, old: i128) -> Option<(i128, LocalId)> {
        if let Some(found) = self.rmws.get(&(id, old)) {
            return *found;
        }
        let found = self.automaton.after_rmw(&self.all[id], old);
        let found = found.map(|(new, to)| (new, self.id(to)));
        self.rmws.insert((id, old), found);
        found
    }

    /// See [`Automaton::order`].
    pub fn order(&self, id: LocalId, old: Option<i128>) -> Order {
        self.automaton.order(&self.all[id], old)
    }

    /// See [`Automaton::is_failure`].
    pub fn is_failure(&self, id: LocalId, old: i128) -> bool {
        self.automaton.is_failure(&self.all[id], old)
    }

    /// The kind of the atomic block that the process is in or comes to next.
    fn block(&self, id: LocalId) -> Option<AtomicKind> {
        self.automaton.block(&self.all[id]).map(|(kind, _)| kind)
    }

    /// Executes the rest of an atomic block at once, on memory: where the process is seen next,
    /// and what memory is then.
    pub fn after_block(&mut self, id: LocalId, memory: &[i128]) -> Vec<(LocalId, Vec<i128>)> {
        let (ends, _) = self.ends_of_block(id, memory);
        ends.into_iter().map(|(to, memory, _)| (to, memory)).collect()
    }

    /// The same, with whether the process has waited only; and whether it may go round in the
    /// block for ever.
    fn ends_of_block(&mut self, id: LocalId, memory: &[i128]) -> (Vec<End>, bool) {
        let mut ends = Vec::new();
        let mut goes_round = false;
        let mut seen = HashSet::from([(id, memory.to_vec())]);
        let mut work: Vec<(LocalId, Vec<i128>)> = seen.iter().cloned().collect();
        while let Some((at, memory)) = work.pop() {
            let plain = |to: LocalId| (to, memory.clone());
            let with = |x: VarId, value: i128, to: LocalId| {
                let mut memory = memory.clone();
                memory[x.index()] = value;
                (to, memory)
            };
            let next: Vec<(LocalId, Vec<i128>)> = match self.next(at) {
                Next::None => vec![],
                Next::Silent(to) => to.into_iter().map(plain).collect(),
                Next::Read(x) => vec![plain(self.after_read(at, memory[x.index()]))],
                Next::Write(x, value, to) => vec![with(x, value, to)],
                Next::Rmw(x) => {
                    let found = self.after_rmw(at, memory[x.index()]);
                    found.map(|(value, to)| with(x, value, to)).into_iter().collect()
                }
                Next::Fence(_, to) => vec![plain(to)],
            };
            // Who cannot go on in the middle lets the others go on.
            if next.is_empty()
                && let Some(start) = self.automaton.back(&self.all[at])
            {
                let waits = self.automaton.is_same_place(&self.all[id], &start);
                ends.push((self.id(start), memory.clone(), waits));
            } else if next.is_empty() && at != id {
                ends.push((at, memory.clone(), false));
            }
            for after in next {
                if self.automaton.is_seen(&self.all[at], &self.all[after.0]) {
                    let all = &self.all;
                    let waits = !all[after.0].failed
                        && self.automaton.waits(&all[at])
                        && self.automaton.waits_at(&all[id], &all[after.0]);
                    ends.push((after.0, after.1, waits));
                } else if seen.insert(after.clone()) {
                    work.push(after);
                } else {
                    goes_round = true;
                }
            }
        }
        (ends, goes_round)
    }

    /// Every step under SC on a memory: where it leads, what memory is then, and whether it is
    /// waiting. A block is one step; `None` if one may never end.
    pub fn steps(&mut self, id: LocalId, memory: &[i128]) -> Option<Vec<End>> {
        if self.is_undivided(id, true) {
            let (ends, goes_round) = self.ends_of_block(id, memory);
            return (!goes_round).then_some(ends);
        }
        let mut memory = memory.to_vec();
        let to = match self.next(id) {
            Next::None => vec![],
            Next::Silent(to) => to,
            Next::Fence(_, to) => vec![to],
            Next::Read(x) => vec![self.after_read(id, memory[x.index()])],
            Next::Write(x, value, to) => {
                memory[x.index()] = value;
                vec![to]
            }
            Next::Rmw(x) => match self.after_rmw(id, memory[x.index()]) {
                Some((new, to)) => {
                    memory[x.index()] = new;
                    vec![to]
                }
                None => vec![],
            },
        };
        let waits = |to: LocalId| {
            let (from, to) = (&self.all[id], &self.all[to]);
            !to.failed && !self.automaton.passes(from) && self.automaton.waits_at(from, to)
        };
        Some(to.into_iter().map(|to| (to, memory.clone(), waits(to))).collect())
    }

    /// Whether the process is blocked on a memory that no longer changes; with `undivided`,
    /// statements are steps.
    pub fn is_stuck(&mut self, id: LocalId, memory: &[i128], undivided: bool) -> bool {
        if !self.is_undivided(id, undivided) || self.all[id].failed {
            return self.automaton.is_stuck(&self.all[id], memory);
        }
        let mut seen = vec![id];
        let mut next = 0;
        while let Some(&at) = seen.get(next) {
            next += 1;
            let (ends, goes_round) = self.ends_of_block(at, memory);
            if goes_round || ends.iter().any(|(_, _, waits)| !waits) {
                return false;
            }
            for (to, ..) in ends {
                if !seen.contains(&to) {
                    seen.push(to);
                }
            }
        }
        true
    }

    /// Whether the process executes a block at once.
    pub fn is_undivided(&self, id: LocalId, undivided: bool) -> bool {
        self.block(id).is_some_and(|kind| undivided || kind == AtomicKind::Full)
    }

    /// The value of an atom of this process; `None` for other atoms.
    pub fn atom(&self, id: LocalId, atom: Atom) -> Option<i128> {
        let local = &self.all[id];
        match atom {
            Atom::Reg(p, r) if p == self.process => Some(local.registers[r.index()]),
            Atom::At(p, l) if p == self.process => Some(i128::from(local.labels.contains(&l))),
            _ => None,
        }
    }
}

/// The locals of every process.
pub(super) fn all(program: &Program) -> Vec<Locals<'_>> {
    (0..program.processes.len()).map(|p| Locals::new(program, ProcessId::new(p))).collect()
}

/// The values of atoms in a state.
pub(super) fn observe(
    atoms: &[Atom],
    locals: &[Locals<'_>],
    at: &[LocalId],
    memory: &[i128],
) -> Vec<i128> {
    let value = |atom: &Atom| match *atom {
        Atom::Var(x) => memory[x.index()],
        Atom::Reg(p, _) | Atom::At(p, _) => {
            let found = locals[p.index()].atom(at[p.index()], *atom);
            found.expect("an atom of this process")
        }
    };
    atoms.iter().map(value).collect()
}

/// Whether no step is possible and some process has not ended, with empty buffers.
pub(super) fn is_deadlock(
    locals: &mut [Locals<'_>],
    at: &[LocalId],
    memory: &[i128],
    undivided: bool,
) -> bool {
    let each = || locals.iter().zip(at);
    each().all(|(l, i)| !l.get(*i).failed)
        && each().any(|(l, i)| !l.get(*i).has_ended())
        && locals.iter_mut().zip(at).all(|(l, i)| l.is_stuck(*i, memory, undivided))
}
