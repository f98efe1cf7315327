//! Blocks that are executed atomically: reads, writes, assignments and tests, as one
//! atomic read-write.
//!
//! A system has atomic read-writes of one variable (Atig et al. 2012, section 3.1), so
//! all accesses must be to the same variable. The block is executed symbolically, with
//! expressions over the old values of the registers and over the value that was read. The
//! result is the condition under which the block can be executed, the value that it
//! writes, and the new values of the registers.

use std::collections::BTreeMap;

use weir_model::ids::RegId;
use weir_model::program::{BinOp, Code, Expr, FenceKind, Place, Process, Rmw, Stmt, StmtKind};

/// The most parts that an expression may have.
const MAX_PARTS: usize = 90;

/// Why something cannot happen at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// It accesses two places.
    SecondPlace,
    /// What it computes is too large.
    TooLarge,
}

/// One way through what happens at once.
#[derive(Clone, Debug)]
pub struct Path {
    /// Stands for what is read.
    old: RegId,
    place: Option<Place>,
    /// What the place holds by now.
    cell: Code,
    writes: usize,
    /// What the registers hold by now, if it is not what they held before.
    registers: BTreeMap<RegId, Code>,
    /// What has to hold, and how many parts that has.
    guards: Vec<Code>,
    parts: usize,
}

impl Path {
    /// Nothing yet. `old` is a register of its own, for what is read.
    pub fn new(old: RegId) -> Self {
        let (registers, guards) = (BTreeMap::new(), Vec::new());
        Self { old, place: None, cell: Expr::Atom(old), writes: 0, registers, guards, parts: 0 }
    }

    /// How often it writes.
    pub fn writes(&self) -> usize {
        self.writes
    }

    /// `r = e`.
    ///
    /// # Errors
    /// If `e` gets too large.
    pub fn assign(&mut self, register: RegId, e: &Code) -> Result<(), Refused> {
        let e = self.now(e)?;
        self.registers.insert(register, e);
        Ok(())
    }

    /// Goes on only if `e` holds.
    ///
    /// # Errors
    /// If that makes the guard too large.
    pub fn assume(&mut self, e: &Code) -> Result<(), Refused> {
        let guard = self.now(e)?;
        self.parts += parts(&guard) + 1;
        self.guards.push(guard);
        if self.parts > MAX_PARTS { Err(Refused::TooLarge) } else { Ok(()) }
    }

    /// `r = x`.
    ///
    /// # Errors
    /// If `x` is another place than before.
    pub fn read(&mut self, register: RegId, place: &Place) -> Result<(), Refused> {
        self.at(place)?;
        self.registers.insert(register, self.cell.clone());
        Ok(())
    }

    /// `x = e`.
    ///
    /// # Errors
    /// If `x` is another place than before, or `e` gets too large.
    pub fn write(&mut self, place: &Place, e: &Code) -> Result<(), Refused> {
        self.at(place)?;
        self.cell = self.now(e)?;
        self.writes += 1;
        Ok(())
    }

    /// The statements that do it. Registers in `scratch` are not needed after it;
    /// where `fenced`, it is a fence even if it writes nothing.
    pub fn finish(
        mut self,
        scratch: &[RegId],
        fenced: bool,
        temporary: &mut dyn FnMut() -> RegId,
    ) -> Vec<StmtKind> {
        self.registers.retain(|r, e| *e != Expr::Atom(*r) && !scratch.contains(r));
        let (inside, before): (Vec<_>, Vec<_>) =
            self.guards.drain(..).partition(|guard| mentions(guard, self.old));
        let mut out: Vec<StmtKind> =
            conjunction(before).map(StmtKind::Assume).into_iter().collect();
        if let Some(place) = self.place.take() {
            let mut when = conjunction(inside);
            if let Some(register) = self.result(when.as_ref(), &place) {
                for e in when.iter_mut().chain([&mut self.cell]).chain(self.registers.values_mut())
                {
                    rename(e, self.old, register);
                }
                self.registers.remove(&register);
                self.old = register;
            }
            out.push(access(self.old, place, when, self.cell, self.writes > 0 || fenced));
        } else if fenced {
            out.push(StmtKind::Fence(FenceKind::Full));
        }
        assignments(self.registers, temporary, &mut out);
        out
    }

    /// An expression in terms of what was before.
    fn now(&self, e: &Code) -> Result<Code, Refused> {
        let mut total = 0;
        e.atoms(&mut |r| total += self.registers.get(r).map_or(1, parts));
        // Substituting only after this bounds how much is built.
        if total + parts(e) > MAX_PARTS {
            return Err(Refused::TooLarge);
        }
        Ok(substituted(e, &|r| self.registers.get(&r).cloned()))
    }

    fn at(&mut self, place: &Place) -> Result<(), Refused> {
        let index = place.index.as_ref().map(|index| self.now(index)).transpose()?;
        if index.as_ref().is_some_and(|index| mentions(index, self.old)) {
            return Err(Refused::SecondPlace);
        }
        let place = Place { first: place.first, len: place.len, index };
        match &self.place {
            Some(known) if *known != place => Err(Refused::SecondPlace),
            _ => {
                self.place = Some(place);
                Ok(())
            }
        }
    }

    /// A register that gets what is read and could take the place of `old`: while
    /// the process waits, nothing else needs it.
    fn result(&self, when: Option<&Code>, place: &Place) -> Option<RegId> {
        let free = |r: RegId| {
            let others = self.registers.iter().filter(|(other, _)| **other != r);
            let others = others.map(|(_, e)| e).chain(&place.index);
            let mut all = others.chain(when).chain([&self.cell]);
            all.all(|e| !mentions(e, r))
        };
        let gets = |(r, e): (&RegId, &Code)| (*e == Expr::Atom(self.old) && free(*r)).then_some(*r);
        self.registers.iter().find_map(gets)
    }
}

/// The one access, as plain as it can be said.
fn access(old: RegId, place: Place, when: Option<Code>, new: Code, atomic: bool) -> StmtKind {
    let load = StmtKind::Load(old, place.clone());
    let rmw = match (when, new) {
        (None, _) if !atomic => return load,
        (Some(when), _) if !atomic => {
            let span = weir_model::ids::SpanId::NONE;
            return StmtKind::Await(vec![Stmt::new(load, span)], when);
        }
        (None, new) if !mentions(&new, old) => Rmw::Swap(new),
        (None, Expr::Binary(op, a, b)) if *a == Expr::Atom(old) && !mentions(&b, old) => {
            Rmw::Fetch(op, *b)
        }
        (when, new) => Rmw::Update { when: when.unwrap_or(Expr::Const(1)), new },
    };
    StmtKind::Rmw(old, place, rmw)
}

/// Sets registers, each to a value that it has before any of them is set.
fn assignments(
    mut pending: BTreeMap<RegId, Code>,
    temporary: &mut dyn FnMut() -> RegId,
    out: &mut Vec<StmtKind>,
) {
    while let Some(&first) = pending.keys().next() {
        let unused = |r: &RegId| pending.iter().all(|(other, e)| other == r || !mentions(e, *r));
        let next = pending.keys().copied().find(unused);
        let register = next.unwrap_or_else(|| {
            let kept = temporary();
            out.push(StmtKind::Assign(kept, Expr::Atom(first)));
            pending.values_mut().for_each(|e| rename(e, first, kept));
            first
        });
        if let Some(e) = pending.remove(&register) {
            out.push(StmtKind::Assign(register, e));
        }
    }
}

/// Leaves out the last temporaries of a process if nothing uses them.
pub fn drop_unused(process: &mut Process) {
    let mut used = vec![false; process.registers.len()];
    let mut blocks: Vec<&[Stmt]> = vec![&process.body];
    while let Some(block) = blocks.pop() {
        for stmt in block {
            let mut mark = |r: &RegId| used[r.index()] = true;
            match &stmt.kind {
                StmtKind::Assign(r, e) => {
                    mark(r);
                    e.atoms(&mut mark);
                }
                StmtKind::Any(r, _) => mark(r),
                StmtKind::Load(r, place) | StmtKind::Rmw(r, place, _) => {
                    mark(r);
                    place.index.iter().for_each(|e| e.atoms(&mut mark));
                    match &stmt.kind {
                        StmtKind::Rmw(_, _, Rmw::Cas { expected: a, new: b })
                        | StmtKind::Rmw(_, _, Rmw::CasFlag { expected: a, new: b })
                        | StmtKind::Rmw(_, _, Rmw::Update { when: a, new: b }) => {
                            a.atoms(&mut mark);
                            b.atoms(&mut mark);
                        }
                        StmtKind::Rmw(_, _, Rmw::Swap(e) | Rmw::Fetch(_, e)) => e.atoms(&mut mark),
                        _ => {}
                    }
                }
                StmtKind::Store(place, e) => {
                    place.index.iter().for_each(|e| e.atoms(&mut mark));
                    e.atoms(&mut mark);
                }
                StmtKind::Assume(e)
                | StmtKind::Assert(e)
                | StmtKind::If(e, ..)
                | StmtKind::Await(_, e) => e.atoms(&mut mark),
                _ => {}
            }
            blocks.extend(stmt.kind.blocks().into_iter().map(Vec::as_slice));
        }
    }
    while process.registers.last().is_some_and(|r| r.temporary)
        && !used[process.registers.len() - 1]
    {
        process.registers.pop();
    }
}

/// All of them, if there are any.
pub fn conjunction(all: impl IntoIterator<Item = Code>) -> Option<Code> {
    all.into_iter().reduce(|a, b| Expr::binary(BinOp::And, a, b))
}

fn mentions(e: &Code, register: RegId) -> bool {
    let mut found = false;
    e.atoms(&mut |r| found |= *r == register);
    found
}

fn parts(e: &Code) -> usize {
    match e {
        Expr::Const(_) | Expr::Atom(_) => 1,
        Expr::Unary(_, e) => 1 + parts(e),
        Expr::Binary(_, a, b) => 1 + parts(a) + parts(b),
    }
}

fn rename(e: &mut Code, from: RegId, to: RegId) {
    *e = substituted(e, &|r| (r == from).then_some(Expr::Atom(to)));
}

fn substituted(e: &Code, with: &impl Fn(RegId) -> Option<Code>) -> Code {
    match e {
        Expr::Const(_) => e.clone(),
        Expr::Atom(r) => with(*r).unwrap_or_else(|| e.clone()),
        Expr::Unary(op, e) => Expr::unary(*op, substituted(e, with)),
        Expr::Binary(op, a, b) => Expr::binary(*op, substituted(a, with), substituted(b, with)),
    }
}
