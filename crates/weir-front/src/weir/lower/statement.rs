//! Statements.

use std::collections::HashMap;
use std::mem;

use weir_model::ids::RegId;
use weir_model::program::{AtomicKind, BinOp, Code, Expr, Order, StmtKind, UnOp};

use super::code::Target;
use super::domain::constant;
use super::process::{Hoisted, Lowering};
use super::value::Values;
use crate::Diagnostic;
use crate::errors::{did_you_mean, quote};
use crate::weir::fold;
use crate::weir::tree::{self, Block, Name, Place, Span, Stmt};

impl<'t> Lowering<'_, 't> {
    /// Writes the statements of a block.
    pub fn block(&mut self, block: &Block<'t>) {
        let is_last = self.is_last;
        for (i, stmt) in block.iter().enumerate() {
            if self.is_too_long() {
                break;
            }
            self.in_use = self.base;
            self.is_last = is_last && i + 1 == block.len();
            // What is wrong has been reported; the next statement may be right.
            let _ = self.statement(stmt);
        }
        self.is_last = is_last;
    }

    /// The statements of a block, in which its registers are known.
    fn scope(&mut self, block: &Block<'t>) {
        self.frame().scopes.push(HashMap::new());
        self.block(block);
        self.frame().scopes.pop();
    }

    /// A block of a statement, as a block of its own.
    fn inner(&mut self, block: &Block<'t>, dead: bool) -> Vec<weir_model::program::Stmt> {
        self.cx.dead += usize::from(dead);
        let (inner, ()) = self.nested(|this| this.scope(block));
        self.cx.dead -= usize::from(dead);
        inner
    }

    /// The same, if something of the procedure may follow the block.
    fn inside(&mut self, block: &Block<'t>) -> Vec<weir_model::program::Stmt> {
        let is_last = mem::take(&mut self.is_last);
        let inner = self.inner(block, false);
        self.is_last = is_last;
        inner
    }

    fn statement(&mut self, stmt: &Stmt<'t>) -> Option<()> {
        let span = stmt.span;
        if self.awaiting {
            self.check_waits(stmt)?;
        }
        let kind = match &stmt.kind {
            tree::StmtKind::Label(name) => {
                let frame = self.frame();
                frame.labeled = true;
                StmtKind::Label(*frame.labels.get(name.text)?)
            }
            tree::StmtKind::Registers(list) => {
                for declared in list {
                    self.declare_register(declared);
                }
                return Some(());
            }
            tree::StmtKind::Assign(place, e) => return self.assignment(place, e, span),
            tree::StmtKind::Update(place, op, e) => return self.update(place, *op, e, span),
            tree::StmtKind::Store(place, e, order) => return self.store(place, e, *order, span),
            tree::StmtKind::Call(e) => match &e.kind {
                tree::ExprKind::Call(name, arguments) => {
                    return self.call(*name, arguments, false, span).map(|_| ());
                }
                _ => return self.value(e).map(|_| ()),
            },
            tree::StmtKind::Goto(label) => self.goto(*label)?,
            tree::StmtKind::Fence(kind) => StmtKind::Fence(*kind),
            tree::StmtKind::Nop => StmtKind::Nop,
            tree::StmtKind::Exit if self.in_method => {
                let error = Diagnostic::new("`exit` is not allowed in a method", span.range());
                self.cx.error(error.help("leave the method with `return`"));
                return None;
            }
            tree::StmtKind::Exit => StmtKind::Exit,
            tree::StmtKind::Return(e) if self.in_procedure() => {
                return self.leave(e.as_ref(), span);
            }
            tree::StmtKind::Return(_) if !self.in_method => {
                let message = "`return` outside of a method or procedure";
                let error = Diagnostic::new(message, span.range());
                self.cx.error(error.help("end a process with `exit`"));
                return None;
            }
            tree::StmtKind::Return(e) => StmtKind::Return(match e {
                Some(e) => Some(self.value(e)?),
                None => None,
            }),
            tree::StmtKind::Break => self.in_loop(StmtKind::Break, "break", span)?,
            tree::StmtKind::Continue => self.in_loop(StmtKind::Continue, "continue", span)?,
            tree::StmtKind::Assume(e) => StmtKind::Assume(self.value(e)?),
            tree::StmtKind::Assert(e, message) => {
                let condition = self.value(e)?;
                if let Some(message) = message.filter(|m| !m.text.trim().is_empty()) {
                    let at = self.cx.span(span);
                    self.cx.program.messages.insert(at, message.text.to_owned());
                }
                StmtKind::Assert(condition)
            }
            tree::StmtKind::If(e, then, other) => {
                let condition = self.value(e);
                let truth = condition.as_ref().and_then(constant).map(|c| c != 0);
                let then = self.inner(then, truth == Some(false));
                let other = self.inner(other, truth == Some(true));
                StmtKind::If(condition?, then, other)
            }
            tree::StmtKind::While(e, body) => self.while_loop(e, body, span)?,
            tree::StmtKind::Loop(body) => {
                self.loops += 1;
                let body = self.inside(body);
                self.loops -= 1;
                StmtKind::Loop(body)
            }
            tree::StmtKind::For(name, low, high, body) => {
                return self.counting(*name, low, high, body, span);
            }
            tree::StmtKind::Choose(blocks) => {
                // Each way to go costs something even where it is empty.
                self.statements += blocks.len();
                StmtKind::Choose(blocks.iter().map(|b| self.inside(b)).collect())
            }
            tree::StmtKind::Undivided(..) if self.in_block => {
                let message = "a block that is one step may not stand in another";
                self.cx.error_at(message.to_owned(), span);
                return None;
            }
            tree::StmtKind::Undivided(kind, body) => {
                self.in_block = true;
                let first = body.first().map(|stmt| &stmt.kind);
                self.at_step = *kind == AtomicKind::Statement
                    && matches!(first, Some(tree::StmtKind::Assign(..)));
                let depth = self.frame().scopes.len() + 1;
                let scope = (self.frames.len(), depth);
                let around = self.hoisted.replace(Hoisted { scope, list: Vec::new() });
                let body = self.inside(body);
                let hoisted = mem::replace(&mut self.hoisted, around);
                (self.in_block, self.at_step) = (false, false);
                for (register, init, span) in hoisted.into_iter().flat_map(|h| h.list) {
                    self.set(register, Expr::Const(init), span);
                }
                StmtKind::Atomic(*kind, body)
            }
            tree::StmtKind::Await(loads, e) => {
                self.awaiting = true;
                let is_last = mem::take(&mut self.is_last);
                let (loads, condition) = self.nested(|this| {
                    this.block(loads);
                    this.in_use = this.base;
                    this.value(e)
                });
                self.is_last = is_last;
                self.awaiting = false;
                self.emit(StmtKind::Await(loads, condition?), span);
                return Some(());
            }
        };
        self.emit(kind, span);
        Some(())
    }

    /// `loop { loads; if not condition { break } body }`.
    fn while_loop(&mut self, e: &tree::Expr<'t>, body: &Block<'t>, span: Span) -> Option<StmtKind> {
        let mut never = false;
        let write = |this: &mut Self| {
            let condition = this.value(e);
            never = condition.as_ref().and_then(constant) == Some(0);
            let leave = condition.and_then(|c| fold::unary(UnOp::Not, c).ok());
            if let Some(leave) = leave.and_then(|leave| this.bounded(leave, e.span)) {
                let (stop, ()) = this.nested(|this| this.emit(StmtKind::Break, span));
                this.emit(StmtKind::If(leave, stop, Vec::new()), span);
            }
            this.cx.dead += usize::from(never);
            this.loops += 1;
            let is_last = mem::take(&mut this.is_last);
            this.scope(body);
            this.is_last = is_last;
            this.loops -= 1;
            this.cx.dead -= usize::from(never);
        };
        let (body, ()) = self.nested(write);
        if !never {
            return Some(StmtKind::Loop(body));
        }
        // Dead code is recognized by the constant around it: say it again
        // where the body's own test does not stand around the body.
        let (skipped, ()) = self.nested(|this| this.emit(StmtKind::Loop(body), span));
        Some(StmtKind::If(Expr::Const(0), skipped, Vec::new()))
    }

    /// `i = low - 1; loop { if i >= high { break } i = i + 1; … }`: so `continue` goes to the
    /// next number.
    fn counting(
        &mut self,
        name: Name<'t>,
        low: &tree::Expr<'t>,
        high: &tree::Expr<'t>,
        body: &Block<'t>,
        span: Span,
    ) -> Option<()> {
        let (low, high) = (self.value(low), self.value(high));
        let (low, mut high) = (low?, high?);
        // It is computed once.
        if !matches!(high, Expr::Const(_)) {
            let kept = self.temporary(span)?;
            self.set(kept, high, span);
            high = Expr::Atom(kept);
        }
        let base = mem::replace(&mut self.base, self.in_use);
        self.frame().scopes.push(HashMap::new());
        let counter = self.declare_one(name);
        if let Some(i) = counter {
            let before = fold::binary(BinOp::Sub, low, Expr::Const(1));
            let before = before.unwrap_or_else(|(_, unfolded)| unfolded);
            self.set(i, before, span);
            self.loops += 1;
            let is_last = mem::take(&mut self.is_last);
            let (inner, ()) = self.nested(|this| {
                let (stop, ()) = this.nested(|this| this.emit(StmtKind::Break, span));
                let is_over = Expr::binary(BinOp::Ge, Expr::Atom(i), high);
                this.emit(StmtKind::If(is_over, stop, Vec::new()), span);
                let next = Expr::binary(BinOp::Add, Expr::Atom(i), Expr::Const(1));
                this.set(i, next, span);
                this.scope(body);
            });
            self.is_last = is_last;
            self.loops -= 1;
            self.emit(StmtKind::Loop(inner), span);
        }
        self.frame().scopes.pop();
        self.base = base;
        counter.map(|_| ())
    }

    fn assignment(&mut self, place: &Place<'t>, e: &tree::Expr<'t>, span: Span) -> Option<()> {
        let target = self.target(place, "variable or register");
        if let Some(Target::Register(register)) = target {
            return self.assign_register(register, e, span);
        }
        let value = self.value(e);
        self.write(target?, value?, span)
    }

    /// `x += e`: a load and a store, if `x` is shared.
    fn update(
        &mut self,
        place: &Place<'t>,
        op: BinOp,
        e: &tree::Expr<'t>,
        span: Span,
    ) -> Option<()> {
        let target = self.target(place, "variable or register");
        let old = target.as_ref().and_then(|target| self.read(target, span));
        let operand = self.value(e);
        let value = fold::binary(op, old?, operand?);
        let value = value.unwrap_or_else(|(_, unfolded)| unfolded);
        let value = self.bounded(value, span)?;
        self.write(target?, value, span)
    }

    /// A store with an order.
    fn store(
        &mut self,
        place: &Place<'t>,
        e: &tree::Expr<'t>,
        order: Order,
        span: Span,
    ) -> Option<()> {
        let target = self.target(place, "shared variable");
        let value = self.value(e);
        let Some(Target::Shared(target)) = target else {
            if target.is_some() {
                self.no_order(place);
            }
            return None;
        };
        let value = value?;
        self.emit(StmtKind::Store(target.ordered(order), value), span);
        Some(())
    }

    /// `r = e`: what is loaded goes to `r` at once.
    pub fn assign_register(&mut self, r: RegId, e: &tree::Expr<'t>, span: Span) -> Option<()> {
        if self.is_effect(e) {
            return self.effect(e, Some(r), span).map(|_| ());
        }
        let value: Code = self.value(e)?;
        self.set(r, value, span);
        Some(())
    }

    fn goto(&mut self, label: Name<'t>) -> Option<StmtKind> {
        if let Some(id) = self.frame().labels.get(label.text) {
            return Some(StmtKind::Goto(*id));
        }
        if let Some(procedure) = self.frame().procedure {
            let (name, procedure) = (quote(label.text), quote(procedure.text));
            let message = format!("{name} is not a label of procedure {procedure}");
            self.cx.error_at(message, label.span);
            return None;
        }
        let (name, process) = (quote(label.text), quote(self.name));
        let what = if self.in_method { "method" } else { "process" };
        let message = format!("{name} is not a label of {what} {process}");
        let error = Diagnostic::new(message, label.span.range());
        let names: Vec<_> = self.frame().labels.keys().copied().collect();
        let error = did_you_mean(error, label.text, names);
        self.cx.error(error);
        None
    }

    fn in_loop(&mut self, kind: StmtKind, word: &str, span: Span) -> Option<StmtKind> {
        if self.loops > 0 {
            return Some(kind);
        }
        self.cx.error_at(format!("`{word}` outside of a loop"), span);
        None
    }

    /// Reports what may not stand in the block of an `await`.
    fn check_waits(&mut self, stmt: &Stmt<'t>) -> Option<()> {
        match &stmt.kind {
            tree::StmtKind::If(..) => return Some(()),
            tree::StmtKind::Assign(place, _) | tree::StmtKind::Update(place, ..)
                if !self.is_shared(place) =>
            {
                return Some(());
            }
            // The statements of a procedure are checked as well.
            tree::StmtKind::Call(tree::Expr { kind: tree::ExprKind::Call(..), .. }) => {
                return Some(());
            }
            tree::StmtKind::Return(_) | tree::StmtKind::Registers(_) if self.in_procedure() => {
                return Some(());
            }
            _ => {}
        }
        let message = "`await` may only load, assign registers, and test with `if`";
        let help = "write a loop: `loop { … if … { break } }`";
        self.cx.error(Diagnostic::new(message, stmt.span.range()).help(help));
        None
    }
}
