//! Blocks that are executed atomically: reads, writes, assignments and tests, as one
//! atomic read-write, or else as one atomic block.
//!
//! A system has atomic read-writes of one variable (Atig et al. 2012, section 3.1). If all
//! accesses are to the same variable, one of them is enough: [`Path`]. The block is executed
//! symbolically, with expressions over the old values of the registers and over the value that was
//! read. The result is the condition under which the block can be executed, the value that it
//! writes, and the new values of the registers.
//!
//! Otherwise the block becomes an atomic block ([`Way`]): first all reads and tests, then all writes
//! and assignments. A test that does not hold is then a guard, and the process waits before the
//! block with nothing done.

use std::collections::BTreeMap;

use weir_model::ids::RegId;
use weir_model::program::{
    AtomicKind, BinOp, Code, Expr, FenceKind, Place, Process, Rmw, Stmt, StmtKind,
};

/// The most parts that an expression may have.
const MAX_PARTS: usize = 90;

/// Why something cannot happen at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// It accesses two places.
    SecondPlace,
    /// It reads a place after a write that may have been to the same one.
    Alias,
    /// What it computes is too large.
    TooLarge,
}

/// Something that executes a locked block symbolically.
pub trait Symbolic: Clone {
    /// `r = e`.
    ///
    /// # Errors
    /// If `e` gets too large.
    fn assign(&mut self, register: RegId, e: &Code) -> Result<(), Refused>;
    /// Goes on only if `e` holds.
    ///
    /// # Errors
    /// If that gets too large.
    fn assume(&mut self, e: &Code) -> Result<(), Refused>;
    /// `r = x`. If reads go to registers of their own, `fresh` makes the one for the number of it.
    ///
    /// # Errors
    /// If this cannot read `x` any more.
    fn read(
        &mut self,
        register: RegId,
        place: &Place,
        fresh: &mut dyn FnMut(usize) -> RegId,
    ) -> Result<(), Refused>;
    /// `x = e`.
    ///
    /// # Errors
    /// If this cannot write `x`, or `e` gets too large.
    fn write(&mut self, place: &Place, e: &Code) -> Result<(), Refused>;
    /// How often it writes.
    fn writes(&self) -> usize;
    /// Whether nothing has changed since an earlier point of the same path. Then a loop back to
    /// that point is waiting.
    fn is_as(&self, earlier: &Self) -> bool;
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
        let place = Place { index, ..place.clone() };
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

impl Symbolic for Path {
    fn writes(&self) -> usize {
        self.writes
    }

    fn assign(&mut self, register: RegId, e: &Code) -> Result<(), Refused> {
        let e = self.now(e)?;
        self.registers.insert(register, e);
        Ok(())
    }

    fn assume(&mut self, e: &Code) -> Result<(), Refused> {
        let guard = self.now(e)?;
        self.parts += parts(&guard) + 1;
        self.guards.push(guard);
        if self.parts > MAX_PARTS { Err(Refused::TooLarge) } else { Ok(()) }
    }

    fn read(
        &mut self,
        register: RegId,
        place: &Place,
        _: &mut dyn FnMut(usize) -> RegId,
    ) -> Result<(), Refused> {
        self.at(place)?;
        self.registers.insert(register, self.cell.clone());
        Ok(())
    }

    fn write(&mut self, place: &Place, e: &Code) -> Result<(), Refused> {
        self.at(place)?;
        self.cell = self.now(e)?;
        self.writes += 1;
        Ok(())
    }

    fn is_as(&self, earlier: &Self) -> bool {
        (&self.place, &self.cell, self.writes, &self.registers)
            == (&earlier.place, &earlier.cell, earlier.writes, &earlier.registers)
    }
}

/// One way through an atomic block over any number of places.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Way {
    /// Reads into registers of their own, and tests, in order.
    before: Vec<StmtKind>,
    /// What is known of places by now.
    cells: Vec<(Place, Code)>,
    /// The writes, in order.
    writes: Vec<(Place, Code)>,
    /// What the registers hold by now, if it is not what they held before.
    registers: BTreeMap<RegId, Code>,
    loads: usize,
    parts: usize,
}

impl Symbolic for Way {
    fn writes(&self) -> usize {
        self.writes.len()
    }

    fn is_as(&self, earlier: &Self) -> bool {
        // What is known of places grows with reads, and changes with writes.
        self.loads == earlier.loads
            && self.writes == earlier.writes
            && self.registers == earlier.registers
    }

    fn assign(&mut self, register: RegId, e: &Code) -> Result<(), Refused> {
        let e = self.now(e)?;
        match e == Expr::Atom(register) {
            true => self.registers.remove(&register),
            false => self.registers.insert(register, e),
        };
        Ok(())
    }

    fn assume(&mut self, e: &Code) -> Result<(), Refused> {
        let guard = self.now(e)?;
        let test = StmtKind::Assume(guard);
        if !self.before.contains(&test) {
            self.before.push(test);
        }
        Ok(())
    }

    fn read(
        &mut self,
        register: RegId,
        place: &Place,
        fresh: &mut dyn FnMut(usize) -> RegId,
    ) -> Result<(), Refused> {
        let place = self.place(place)?;
        if let Some((_, value)) = self.cells.iter().rev().find(|(known, _)| *known == place) {
            let value = value.clone();
            self.registers.insert(register, value);
            return Ok(());
        }
        if self.writes.iter().any(|(written, _)| overlap(written, &place)) {
            return Err(Refused::Alias);
        }
        let loaded = fresh(self.loads);
        self.loads += 1;
        self.before.push(StmtKind::Load(loaded, place.clone()));
        self.cells.push((place, Expr::Atom(loaded)));
        self.registers.insert(register, Expr::Atom(loaded));
        self.count(1)
    }

    fn write(&mut self, place: &Place, e: &Code) -> Result<(), Refused> {
        let (place, e) = (self.place(place)?, self.now(e)?);
        self.cells.retain(|(known, _)| !overlap(known, &place));
        self.cells.push((place.clone(), e.clone()));
        // The same place is written once, by its last write.
        if place.index.is_none() && self.writes.iter().all(|(w, _)| w.index.is_none()) {
            self.writes.retain(|(written, _)| *written != place);
        }
        self.writes.push((place, e));
        self.count(1)
    }
}

impl Way {
    /// How many reads of memory it has, each to a register of its own.
    pub fn loads(&self) -> usize {
        self.loads
    }

    /// The statements that do it, for the inside of an atomic block.
    pub fn finish(self, scratch: &[RegId], temporary: &mut dyn FnMut() -> RegId) -> Vec<StmtKind> {
        let mut out = self.before;
        out.extend(self.writes.into_iter().map(|(place, e)| StmtKind::Store(place, e)));
        let mut registers = self.registers;
        registers.retain(|r, e| *e != Expr::Atom(*r) && !scratch.contains(r));
        assignments(registers, temporary, &mut out);
        out
    }

    fn place(&self, place: &Place) -> Result<Place, Refused> {
        let index = place.index.as_ref().map(|index| self.now(index)).transpose()?;
        Ok(Place { index, ..place.clone() })
    }

    fn count(&mut self, parts: usize) -> Result<(), Refused> {
        self.parts += parts;
        if self.parts > MAX_PARTS { Err(Refused::TooLarge) } else { Ok(()) }
    }

    /// An expression in terms of what was before.
    fn now(&self, e: &Code) -> Result<Code, Refused> {
        let mut total = 0;
        e.atoms(&mut |r| total += self.registers.get(r).map_or(1, parts));
        if total + parts(e) > MAX_PARTS {
            return Err(Refused::TooLarge);
        }
        Ok(substituted(e, &|r| self.registers.get(&r).cloned()))
    }
}

/// Whether two places can be the same variable.
fn overlap(a: &Place, b: &Place) -> bool {
    let range = |p: &Place| {
        let first = p.first.index();
        first..first + if p.index.is_some() { p.len as usize } else { 1 }
    };
    let (a, b) = (range(a), range(b));
    a.start < b.end && b.start < a.end
}

/// The atomic block that takes one of some ways.
pub fn atomic_block(mut ways: Vec<Vec<Stmt>>, span: weir_model::ids::SpanId) -> Stmt {
    let body = match ways.len() {
        1 => ways.remove(0),
        _ => vec![Stmt::new(StmtKind::Choose(ways), span)],
    };
    Stmt::new(StmtKind::Atomic(AtomicKind::Full, body), span)
}

/// Whether the value that a register has at first can be used: whether there is a way to a use of
/// it on which it is not set before.
pub fn is_used_unset(process: &Process, register: RegId) -> bool {
    let (labels, heads) = (BTreeMap::new(), BTreeMap::new());
    let mut flow = Flow { register, labels, heads, changed: true };
    let mut used = false;
    while std::mem::take(&mut flow.changed) {
        used = flow.block(&process.body, false, None);
    }
    used
}

/// Whether the value of a register before a statement may be used: a backward analysis, repeated
/// until what is known at labels does not change.
struct Flow {
    register: RegId,
    labels: BTreeMap<weir_model::ids::LabelId, bool>,
    /// The same at the heads of loops, by their bodies.
    heads: BTreeMap<*const Stmt, bool>,
    changed: bool,
}

impl Flow {
    /// `ways` are the head of the loop around and what follows it.
    fn block(&mut self, block: &[Stmt], after: bool, ways: Option<(bool, bool)>) -> bool {
        block.iter().rev().fold(after, |after, stmt| self.stmt(&stmt.kind, after, ways))
    }

    fn stmt(&mut self, kind: &StmtKind, after: bool, ways: Option<(bool, bool)>) -> bool {
        let register = self.register;
        let uses = |e: &Code| mentions(e, register);
        let indexes = |place: &Place| place.index.as_ref().is_some_and(uses);
        match kind {
            StmtKind::Assign(r, e) => uses(e) || after && *r != register,
            StmtKind::Any(r, _) => after && *r != register,
            StmtKind::Load(r, place) => indexes(place) || after && *r != register,
            StmtKind::Rmw(r, place, rmw) => {
                let operand = match rmw {
                    Rmw::Cas { expected: a, new: b, .. }
                    | Rmw::CasFlag { expected: a, new: b, .. } => uses(a) || uses(b),
                    Rmw::Swap(e) | Rmw::Fetch(_, e) => uses(e),
                    // The register stands for what is read.
                    Rmw::Update { when, new } => *r != register && (uses(when) || uses(new)),
                };
                operand || indexes(place) || after && *r != register
            }
            StmtKind::Store(place, e) => indexes(place) || uses(e) || after,
            StmtKind::Assume(e) | StmtKind::Assert(e) => uses(e) || after,
            StmtKind::If(e, then, other) => {
                let then = self.block(then, after, ways);
                let other = self.block(other, after, ways);
                uses(e) || then || other
            }
            StmtKind::Loop(body) => {
                let head = self.heads.get(&body.as_ptr()).is_some_and(|head| *head);
                let now = self.block(body, head, Some((head, after)));
                self.changed |= now && !head;
                self.heads.insert(body.as_ptr(), now || head);
                now || head
            }
            StmtKind::Break => ways.is_some_and(|(_, after)| after),
            StmtKind::Continue => ways.is_some_and(|(head, _)| head),
            StmtKind::Goto(label) => *self.labels.entry(*label).or_default(),
            StmtKind::Label(label) => {
                let known = self.labels.entry(*label).or_default();
                self.changed |= after && !*known;
                *known |= after;
                after
            }
            StmtKind::Choose(blocks) => {
                let each: Vec<bool> = blocks.iter().map(|b| self.block(b, after, ways)).collect();
                each.contains(&true)
            }
            StmtKind::Await(body, e) => {
                let test = uses(e) || after;
                let head = self.block(body, test, ways);
                self.block(body, test || head, ways)
            }
            StmtKind::Atomic(_, body) => self.block(body, after, ways),
            StmtKind::Exit => false,
            StmtKind::Nop | StmtKind::Fence(_) => after,
            // No language with locked blocks has these.
            StmtKind::Call(_) | StmtKind::Return(_) => true,
        }
    }
}

/// The one access, in its simplest form.
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
                        StmtKind::Rmw(_, _, Rmw::Cas { expected: a, new: b, .. })
                        | StmtKind::Rmw(_, _, Rmw::CasFlag { expected: a, new: b, .. })
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
