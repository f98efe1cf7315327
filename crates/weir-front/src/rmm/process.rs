//! What one process does.
//!
//! A value outside a domain is nothing that happens: an instruction that would
//! bring it about waits. So assignments and writes are guarded, unless the domains
//! show that nothing can happen.

use std::collections::HashMap;

use weir_model::ids::{LabelId, RegId, SpanId, VarId};
use weir_model::program::{
    BinOp, Code, Expr, FenceKind, Label, Place, Process, Register, Rmw, Stmt, StmtKind, UnOp,
};

use super::lower::{Context, MAX_NUMBERED};
use super::memory::{self, Memory, Range};
use super::tree::{self, At, Labelled, Loc, Value, Write};
use crate::errors::{did_you_mean, quote};
use crate::locked::{Path, Refused, conjunction, drop_unused};

/// The most ways through a locked block.
const MAX_WAYS: usize = 64;

/// Lowers a process into the program, unless it is too long.
pub fn lower<'t>(
    cx: &mut Context<'_, 't>,
    memory: &Memory<'t>,
    number: usize,
    tree: &tree::Process,
) -> bool {
    let mut lowering = Lowering {
        cx,
        memory,
        number,
        process: Process { name: format!("P{number}"), ..Process::default() },
        registers: HashMap::new(),
        domains: Vec::new(),
        labels: HashMap::new(),
        temporaries: Vec::new(),
        out: Vec::new(),
        statements: 0,
    };
    lowering.declare(tree);
    lowering.find_labels(&tree.text);
    lowering.block(&tree.text);
    let fits = lowering.statements <= MAX_NUMBERED;
    let Lowering { mut process, out, .. } = lowering;
    process.body = out;
    drop_unused(&mut process);
    cx.program.processes.push(process);
    fits
}

struct Lowering<'c, 's, 't> {
    cx: &'c mut Context<'s, 't>,
    memory: &'c Memory<'t>,
    number: usize,
    process: Process,
    registers: HashMap<&'t str, RegId>,
    /// The domain of each register.
    domains: Vec<Option<Range>>,
    labels: HashMap<&'t str, (LabelId, At)>,
    temporaries: Vec<RegId>,
    /// The block that is being written.
    out: Vec<Stmt>,
    statements: usize,
}

/// A place with its domains.
struct Target {
    place: Place,
    /// Each variable that it can be, with its number for pointers.
    vars: Vec<(Option<i64>, Option<Range>)>,
    /// What has to hold for a pointer to point anywhere.
    guard: Option<Code>,
    index: Option<Code>,
}

impl<'t> Lowering<'_, '_, 't> {
    fn declare(&mut self, tree: &tree::Process) {
        for decl in &tree.registers {
            let name = self.cx.text(decl.name);
            if self.registers.contains_key(name) {
                let message = format!("there are two registers {}", quote(name));
                self.cx.error(self.cx.tokens[decl.name].error(message));
                continue;
            }
            let values = memory::values(self.cx, decl);
            let span = self.cx.span(decl.name, decl.name + 1);
            let register = self.add_register(&name[1..], values[0], decl.domain, false, span);
            let Some(register) = register else { return };
            self.registers.insert(name, register);
            if decl.init.is_none() {
                self.emit(StmtKind::Any(register, values), span);
            }
        }
    }

    fn add_register(
        &mut self,
        name: &str,
        init: i64,
        domain: Option<Range>,
        temporary: bool,
        span: SpanId,
    ) -> Option<RegId> {
        if self.domains.len() >= MAX_NUMBERED {
            return None;
        }
        let display = format!("{}.{name}", self.process.name);
        let (name, id) = (name.to_owned(), RegId::new(self.domains.len()));
        self.process.registers.push(Register {
            name,
            display,
            domain: None,
            init,
            temporary,
            span,
        });
        self.domains.push(domain);
        Some(id)
    }

    /// A register that holds nothing from one statement to another.
    fn temporary(&mut self, number: usize) -> RegId {
        while self.temporaries.len() <= number {
            let name = match self.temporaries.len() {
                0 => "tmp".to_owned(),
                n => format!("tmp{n}"),
            };
            let register = self.add_register(&name, 0, None, true, SpanId::NONE);
            self.temporaries.push(register.unwrap_or(RegId(0)));
        }
        self.temporaries[number]
    }

    fn find_labels(&mut self, text: &[Labelled]) {
        let mut work: Vec<&Labelled> = text.iter().rev().collect();
        while let Some(Labelled { label, stmt, .. }) = work.pop() {
            if let Some(label) = label {
                self.declare_label(*label);
            }
            let mut inner: Vec<&Labelled> = match stmt {
                tree::Stmt::If(_, then, other) => {
                    [Some(then), other.as_ref()].into_iter().flatten().map(|b| &**b).collect()
                }
                tree::Stmt::While(_, body) => vec![body],
                tree::Stmt::Either(choices) => choices.iter().flatten().collect(),
                tree::Stmt::Block(body) => body.iter().collect(),
                _ => vec![],
            };
            inner.reverse();
            work.extend(inner);
        }
    }

    fn declare_label(&mut self, at: At) {
        let (token, name) = (self.cx.token(at), self.cx.text(at));
        if let Some((_, first)) = self.labels.get(name) {
            let first = self.cx.token(*first).range.clone();
            let error = token.error(format!("there are two labels {}", quote(name)));
            self.cx.error(error.note(first, "the other one is here"));
            return;
        }
        if self.process.labels.len() >= MAX_NUMBERED {
            self.cx.error(token.error("there are too many labels"));
            return;
        }
        let span = self.cx.span(at, at + 1);
        self.labels.insert(name, (LabelId::new(self.process.labels.len()), at));
        self.process.labels.push(Label { name: name.to_owned(), span });
    }

    fn emit(&mut self, kind: StmtKind, span: SpanId) {
        self.statements += 1;
        if self.statements == MAX_NUMBERED + 1 {
            let message =
                format!("process P{} has more than {MAX_NUMBERED} statements", self.number);
            self.cx.error(self.cx.tokens[0].error(message));
        }
        if self.statements <= MAX_NUMBERED {
            self.out.push(Stmt::new(kind, span));
        }
    }

    fn nested(&mut self, write: impl FnOnce(&mut Self)) -> Vec<Stmt> {
        let around = std::mem::take(&mut self.out);
        write(self);
        std::mem::replace(&mut self.out, around)
    }

    fn block(&mut self, list: &[Labelled]) {
        for stmt in list {
            if self.cx.errors.is_full() || self.statements > MAX_NUMBERED {
                return;
            }
            self.labelled(stmt);
        }
    }

    fn label(&mut self, label: Option<At>) {
        let Some(at) = label else { return };
        if let Some((id, _)) = self.labels.get(self.cx.text(at)).copied() {
            let span = self.cx.span(at, at + 1);
            self.emit(StmtKind::Label(id), span);
        }
    }

    fn labelled(&mut self, stmt: &Labelled) {
        let span = self.cx.span(stmt.from, stmt.to);
        if let tree::Stmt::While(condition, body) = &stmt.stmt {
            // The label is where each round begins, not only the first.
            let body = self.nested(|this| {
                this.label(stmt.label);
                if let Some(condition) = this.code(condition) {
                    let leave = this.nested(|this| this.emit(StmtKind::Break, span));
                    let ends = Expr::unary(UnOp::Not, condition);
                    this.emit(StmtKind::If(ends, leave, Vec::new()), span);
                }
                this.labelled(body);
            });
            return self.emit(StmtKind::Loop(body), span);
        }
        self.label(stmt.label);
        // After an error the next statement may be right.
        let _ = self.statement(stmt, span);
    }

    fn statement(&mut self, stmt: &Labelled, span: SpanId) -> Option<()> {
        match &stmt.stmt {
            tree::Stmt::Nop => self.emit(StmtKind::Nop, span),
            tree::Stmt::Fence(kind) => self.emit(StmtKind::Fence(*kind), span),
            tree::Stmt::Assume(e) => {
                let e = self.code(e)?;
                self.emit(StmtKind::Assume(e), span);
            }
            tree::Stmt::Assign(r, e) => {
                let (register, e) = (self.register(*r), self.code(e));
                let (register, e) = (register?, e?);
                self.guard(self.within(&e, self.domains[register.index()]), span);
                self.emit(StmtKind::Assign(register, e), span);
            }
            tree::Stmt::Await(place, e) => {
                let (target, e) = (self.target(place), self.code(e));
                let (target, e) = (target?, e?);
                let loaded = self.temporary(0);
                let ends = Expr::binary(BinOp::Eq, Expr::Atom(loaded), e);
                self.guard(target.guard, span);
                self.wait(loaded, target.place, ends, span);
            }
            tree::Stmt::Read(r, place) => {
                let (register, target) = (self.register(*r), self.target(place));
                let (register, target) = (register?, target?);
                let domain = self.domains[register.index()];
                self.guard(target.guard.clone(), span);
                if target.vars.iter().all(|(_, d)| contains(domain, *d)) {
                    self.emit(StmtKind::Load(register, target.place), span);
                } else {
                    let loaded = self.temporary(0);
                    let ends = self.within(&Expr::Atom(loaded), domain)?;
                    self.wait(loaded, target.place, ends, span);
                    self.emit(StmtKind::Assign(register, Expr::Atom(loaded)), span);
                }
            }
            tree::Stmt::Write(kind, place, e) => {
                let (target, e) = (self.target(place), self.code(e));
                let (target, e) = (target?, e?);
                self.guard(target.guard.clone(), span);
                for fits in self.fits(&target, &e) {
                    self.guard(Some(fits), span);
                }
                match kind {
                    Write::Locked => {
                        let old = self.temporary(0);
                        self.emit(StmtKind::Rmw(old, target.place, Rmw::Swap(e)), span);
                    }
                    Write::Plain | Write::StoreLocked => {
                        self.emit(StmtKind::Store(target.place, e), span);
                    }
                }
                if *kind == Write::StoreLocked {
                    self.emit(StmtKind::Fence(FenceKind::Write), span);
                }
            }
            tree::Stmt::Cas(..) | tree::Stmt::Locked(_) => return self.at_once(stmt, span),
            tree::Stmt::If(condition, then, other) => {
                let condition = self.code(condition);
                let then = self.nested(|this| this.labelled(then));
                let other = self.nested(|this| {
                    if let Some(other) = other {
                        this.labelled(other);
                    }
                });
                self.emit(StmtKind::If(condition?, then, other), span);
            }
            tree::Stmt::Goto(label) => {
                let (token, name) = (self.cx.token(*label), self.cx.text(*label));
                let Some((id, _)) = self.labels.get(name).copied() else {
                    let message = format!("{} is not a label of this process", quote(name));
                    let error =
                        did_you_mean(token.error(message), name, self.labels.keys().copied());
                    self.cx.error(error);
                    return None;
                };
                self.emit(StmtKind::Goto(id), span);
            }
            tree::Stmt::Either(choices) => {
                let blocks = choices.iter().map(|c| self.nested(|this| this.block(c))).collect();
                self.emit(StmtKind::Choose(blocks), span);
            }
            tree::Stmt::Block(list) => self.block(list),
            tree::Stmt::While(..) => unreachable!("lowered with its label"),
        }
        Some(())
    }

    fn guard(&mut self, guard: Option<Code>, span: SpanId) {
        if let Some(guard) = guard {
            self.emit(StmtKind::Assume(guard), span);
        }
    }

    fn wait(&mut self, loaded: RegId, place: Place, ends: Code, span: SpanId) {
        let load = self.nested(|this| this.emit(StmtKind::Load(loaded, place), span));
        self.emit(StmtKind::Await(load, ends), span);
    }

    fn register(&mut self, at: At) -> Option<RegId> {
        let name = self.cx.text(at);
        if let Some(register) = self.registers.get(name) {
            return Some(*register);
        }
        let error = self.cx.token(at).error(format!("there is no register {}", quote(name)));
        let error = did_you_mean(error, name, self.registers.keys().copied());
        self.cx.error(error);
        None
    }

    fn code(&mut self, value: &Value) -> Option<Code> {
        Some(match value {
            Expr::Const(c) => Expr::Const(*c),
            Expr::Atom(at) => Expr::Atom(self.register(*at)?),
            Expr::Unary(op, e) => Expr::unary(*op, self.code(e)?),
            Expr::Binary(op, a, b) => {
                // Both, so that errors in both are found.
                let (a, b) = (self.code(a), self.code(b));
                Expr::binary(*op, a?, b?)
            }
        })
    }

    fn target(&mut self, place: &Loc) -> Option<Target> {
        let Loc::Pointer(address, at) = place else {
            let var = self.memory.var(self.cx, place, self.number)?;
            let vars = vec![(None, self.memory.domains[var.index()])];
            return Some(Target { place: Place::var(var), vars, guard: None, index: None });
        };
        let address = self.code(address)?;
        let count = self.memory.global_count;
        if count == 0 {
            let message = "there is no global variable that this could point to";
            self.cx.error(self.cx.tokens[*at].error(message));
            return None;
        }
        let all = |i: usize| (Some(i as i64), self.memory.domains[i]);
        if let Expr::Const(value) = address {
            // One that points nowhere waits for ever.
            let var = usize::try_from(value).ok().filter(|v| *v < count);
            let guard = var.is_none().then_some(Expr::Const(0));
            let var = var.unwrap_or(0);
            let place = Place::var(VarId::new(var));
            return Some(Target { place, vars: vec![(None, all(var).1)], guard, index: None });
        }
        let guard = self.within(&address, Some((0, count as i64 - 1)));
        let len = u32::try_from(count).ok()?;
        let place = Place { first: VarId(0), len, index: Some(address.clone()) };
        Some(Target { place, vars: (0..count).map(all).collect(), guard, index: Some(address) })
    }

    /// What has to hold for a value to be in the domain of a place.
    fn fits(&self, target: &Target, e: &Code) -> Vec<Code> {
        let alike = target.vars.iter().all(|(_, d)| *d == target.vars[0].1);
        let Some(index) = target.index.as_ref().filter(|_| !alike) else {
            return self.within(e, target.vars[0].1).into_iter().collect();
        };
        let each = target.vars.iter().filter_map(|(number, domain)| {
            let fits = self.within(e, *domain)?;
            let other = Expr::binary(BinOp::Ne, index.clone(), Expr::Const((*number)?));
            Some(Expr::binary(BinOp::Or, other, fits))
        });
        each.collect()
    }

    /// What has to hold for a value to be in a domain, if anything has to.
    fn within(&self, e: &Code, domain: Option<Range>) -> Option<Code> {
        let (low, high) = domain?;
        let (least, most) = self.extent(e);
        let above = Expr::binary(BinOp::Ge, e.clone(), Expr::Const(low));
        let below = Expr::binary(BinOp::Le, e.clone(), Expr::Const(high));
        let above = (least < i128::from(low)).then_some(above);
        let below = (most > i128::from(high)).then_some(below);
        conjunction(above.into_iter().chain(below))
    }

    /// The least and the most that the value of an expression can be.
    fn extent(&self, e: &Code) -> (i128, i128) {
        let any = (i128::from(i64::MIN), i128::from(i64::MAX));
        match e {
            Expr::Const(c) => (i128::from(*c), i128::from(*c)),
            Expr::Atom(r) => self.domains[r.index()]
                .map_or(any, |(low, high)| (i128::from(low), i128::from(high))),
            Expr::Unary(UnOp::Neg, e) => {
                let (least, most) = self.extent(e);
                (-most, -least)
            }
            Expr::Binary(op @ (BinOp::Add | BinOp::Sub), a, b) => {
                let ((a, c), (b, d)) = (self.extent(a), self.extent(b));
                if *op == BinOp::Add { (a + b, c + d) } else { (a - d, c - b) }
            }
            _ => any,
        }
    }

    /// A locked block: one atomic read-write for each way through it.
    fn at_once(&mut self, stmt: &Labelled, span: SpanId) -> Option<()> {
        let start = Path::new(self.temporary(0));
        let ways = self.further(stmt, vec![start])?;
        let fenced = ways.iter().any(|way| way.writes() > 0);
        let scratch = self.temporary(1);
        let mut blocks = Vec::new();
        for way in ways {
            let mut made = 1;
            let statements = way.finish(&[scratch], fenced, &mut || {
                made += 1;
                self.temporary(made)
            });
            blocks.push(self.nested(|this| {
                statements.into_iter().for_each(|kind| this.emit(kind, span));
            }));
        }
        match <[Vec<Stmt>; 1]>::try_from(blocks) {
            Ok([block]) => self.out.extend(block),
            Err(blocks) => self.emit(StmtKind::Choose(blocks), span),
        }
        Some(())
    }

    /// Continues each way with a list of statements. `None` after an error.
    fn ways(&mut self, list: &[Labelled], mut ways: Vec<Path>) -> Option<Vec<Path>> {
        for stmt in list {
            if let Some(label) = stmt.label {
                let message = "there can be no label in a locked block: nobody stands there";
                self.cx.error(self.cx.tokens[label].error(message));
                return None;
            }
            ways = self.further(stmt, ways)?;
        }
        Some(ways)
    }

    /// Continues each way with a statement. `None` after an error.
    fn further(&mut self, stmt: &Labelled, mut ways: Vec<Path>) -> Option<Vec<Path>> {
        match &stmt.stmt {
            tree::Stmt::Locked(choices) => {
                let mut all = Vec::new();
                for choice in choices {
                    all.extend(self.ways(choice, ways.clone())?);
                    if all.len() > MAX_WAYS {
                        let message = format!("there are more than {MAX_WAYS} ways through this");
                        self.cx.error(self.cx.tokens[stmt.from].error(message));
                        return None;
                    }
                }
                return Some(all);
            }
            tree::Stmt::Block(list) => return self.ways(list, ways),
            _ => {}
        }
        for way in &mut ways {
            if let Err(refused) = self.step(stmt, way)? {
                self.refuse(refused, stmt);
                return None;
            }
        }
        Some(ways)
    }

    fn refuse(&mut self, refused: Refused, stmt: &Labelled) {
        let token = self.cx.token(stmt.from);
        let error = match refused {
            Refused::SecondPlace => {
                let help = "Weir's atomic read-writes are of one variable; \
                            `cas` and `locked write` are such";
                token.error("a locked block accesses two places in memory").help(help)
            }
            Refused::TooLarge => token.error("this locked block computes too much"),
        };
        self.cx.error(error);
    }

    /// Continues a way with one statement. `None` after an error.
    fn step(&mut self, stmt: &Labelled, way: &mut Path) -> Option<Result<(), Refused>> {
        let value = self.temporary(1);
        let guard = |way: &mut Path, e: Option<Code>| e.map_or(Ok(()), |e| way.assume(&e));
        let all = |way: &mut Path, e: Vec<Code>| e.iter().try_for_each(|e| way.assume(e));
        Some(match &stmt.stmt {
            tree::Stmt::Nop => Ok(()),
            tree::Stmt::Assume(e) => way.assume(&self.code(e)?),
            tree::Stmt::Assign(r, e) => {
                let (register, e) = (self.register(*r)?, self.code(e)?);
                guard(way, self.within(&e, self.domains[register.index()]))
                    .and_then(|()| way.assign(register, &e))
            }
            tree::Stmt::Await(place, e) => {
                let (target, e) = (self.target(place)?, self.code(e)?);
                let ends = Expr::binary(BinOp::Eq, Expr::Atom(value), e);
                guard(way, target.guard)
                    .and_then(|()| way.read(value, &target.place))
                    .and_then(|()| way.assume(&ends))
            }
            tree::Stmt::Read(r, place) => {
                let (register, target) = (self.register(*r)?, self.target(place)?);
                let domain = self.domains[register.index()];
                let known = target.vars.iter().all(|(_, d)| contains(domain, *d));
                let fits = if known { None } else { self.within(&Expr::Atom(value), domain) };
                guard(way, target.guard)
                    .and_then(|()| way.read(value, &target.place))
                    .and_then(|()| guard(way, fits))
                    .and_then(|()| way.assign(register, &Expr::Atom(value)))
            }
            tree::Stmt::Write(Write::Plain | Write::Locked, place, e) => {
                let (target, e) = (self.target(place)?, self.code(e)?);
                let fits = self.fits(&target, &e);
                guard(way, target.guard)
                    .and_then(|()| all(way, fits))
                    .and_then(|()| way.write(&target.place, &e))
            }
            tree::Stmt::Cas(place, expected, new) => {
                let (target, expected) = (self.target(place)?, self.code(expected)?);
                let new = self.code(new)?;
                let ends = Expr::binary(BinOp::Eq, Expr::Atom(value), expected);
                let fits = self.fits(&target, &new);
                guard(way, target.guard)
                    .and_then(|()| way.read(value, &target.place))
                    .and_then(|()| way.assume(&ends))
                    .and_then(|()| all(way, fits))
                    .and_then(|()| way.write(&target.place, &new))
            }
            _ => {
                let token = self.cx.token(stmt.from);
                let message = format!("{} cannot stand in a locked block", quote(token.text));
                self.cx.error(token.error(message));
                return None;
            }
        })
    }
}

/// Whether all values of one domain are in another.
fn contains(domain: Option<Range>, of: Option<Range>) -> bool {
    match (domain, of) {
        (None, _) => true,
        (Some(_), None) => false,
        (Some((low, high)), Some((least, most))) => low <= least && most <= high,
    }
}
