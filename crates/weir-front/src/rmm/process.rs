//! What one process does.
//!
//! A value outside a domain is not a failure: an instruction that would produce it waits.
//! So assignments and writes are guarded, unless the domains show that every value fits.

use std::collections::HashMap;

use weir_model::ids::{LabelId, RegId, SpanId};
use weir_model::program::{
    BinOp, Code, Expr, FenceKind, Label, Place, Process, Register, Rmw, Stmt, StmtKind, UnOp,
};

use super::lower::{Context, MAX_NUMBERED};
use super::memory::{self, Memory, Range};
use super::target::contains;
use super::tree::{self, At, Labeled, Value, Write};
use crate::choice;
use crate::errors::{did_you_mean, quote};
use crate::locked::{drop_unused, is_used_unset};

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
        open: Vec::new(),
        out: Vec::new(),
        statements: 0,
    };
    lowering.declare(tree);
    lowering.find_labels(&tree.text);
    lowering.block(&tree.text);
    let fits = lowering.statements <= MAX_NUMBERED;
    let Lowering { mut process, out, open, .. } = lowering;
    process.body = out;
    for (register, name) in open {
        if is_used_unset(&process, register) {
            memory::any_number(cx, name);
        }
    }
    drop_unused(&mut process);
    cx.program.processes.push(process);
    fits
}

/// A process that is being lowered.
pub struct Lowering<'c, 's, 't> {
    pub cx: &'c mut Context<'s, 't>,
    pub memory: &'c Memory<'t>,
    pub number: usize,
    process: Process,
    registers: HashMap<&'t str, RegId>,
    /// The domain of each register.
    pub domains: Vec<Option<Range>>,
    labels: HashMap<&'t str, (LabelId, At)>,
    temporaries: Vec<RegId>,
    /// Registers that may be anything at first, and their declarations.
    open: Vec<(RegId, At)>,
    /// The block that is being written.
    pub out: Vec<Stmt>,
    statements: usize,
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
            let bound =
                memory::bound(self.cx, &[&name[1..], &format!("P{}.{}", self.number, &name[1..])]);
            // Whether it is anything at all is no question if it is set before it is used.
            let is_open = decl.init.is_none() && decl.domain.is_none() && bound.is_none();
            let values = if is_open { vec![0] } else { memory::values(self.cx, decl, bound) };
            let span = self.cx.span(decl.name, decl.name + 1);
            let register = self.add_register(&name[1..], values[0], decl.domain, false, span);
            let Some(register) = register else { return };
            self.registers.insert(name, register);
            if is_open {
                self.open.push((register, decl.name));
            } else if decl.init.is_none() {
                self.emit(StmtKind::Any(register, values), span);
            }
        }
    }

    fn add_register(
        &mut self,
        name: &str,
        init: i128,
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
    pub fn temporary(&mut self, number: usize) -> RegId {
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

    fn find_labels(&mut self, text: &[Labeled]) {
        let mut work: Vec<&Labeled> = text.iter().rev().collect();
        while let Some(Labeled { label, stmt, .. }) = work.pop() {
            if let Some(label) = label {
                self.declare_label(*label);
            }
            let mut inner: Vec<&Labeled> = match stmt {
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

    pub fn emit(&mut self, kind: StmtKind, span: SpanId) {
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

    pub fn nested(&mut self, write: impl FnOnce(&mut Self)) -> Vec<Stmt> {
        let around = std::mem::take(&mut self.out);
        write(self);
        std::mem::replace(&mut self.out, around)
    }

    fn block(&mut self, list: &[Labeled]) {
        for stmt in list {
            if self.cx.errors.is_full() || self.statements > MAX_NUMBERED {
                return;
            }
            self.labeled(stmt);
        }
    }

    fn label(&mut self, label: Option<At>) {
        let Some(at) = label else { return };
        if let Some((id, _)) = self.labels.get(self.cx.text(at)).copied() {
            let span = self.cx.span(at, at + 1);
            self.emit(StmtKind::Label(id), span);
        }
    }

    fn labeled(&mut self, stmt: &Labeled) {
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
                this.labeled(body);
            });
            return self.emit(StmtKind::Loop(body), span);
        }
        self.label(stmt.label);
        // After an error the next statement may be right.
        let _ = self.statement(stmt, span);
    }

    fn statement(&mut self, stmt: &Labeled, span: SpanId) -> Option<()> {
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
                let then = self.nested(|this| this.labeled(then));
                let other = self.nested(|this| {
                    if let Some(other) = other {
                        this.labeled(other);
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
                self.out.extend(choice::among(blocks, span));
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

    pub fn register(&mut self, at: At) -> Option<RegId> {
        let name = self.cx.text(at);
        if let Some(register) = self.registers.get(name) {
            return Some(*register);
        }
        let error = self.cx.token(at).error(format!("there is no register {}", quote(name)));
        let error = did_you_mean(error, name, self.registers.keys().copied());
        self.cx.error(error);
        None
    }

    pub fn code(&mut self, value: &Value) -> Option<Code> {
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
}
