//! Statements.

use weir_model::ids::RegId;
use weir_model::program::{Code, Expr, StmtKind, UnOp};

use super::What;
use super::domain::constant;
use super::process::Lowering;
use super::value::Values;
use crate::Diagnostic;
use crate::errors::{did_you_mean, quote};
use crate::weir::fold;
use crate::weir::tree::{self, Block, Name, Place, Span, Stmt};

impl<'t> Lowering<'_, 't> {
    /// Writes the statements of a block.
    pub fn block(&mut self, block: &Block<'t>) {
        for stmt in block {
            if self.is_too_long() {
                return;
            }
            self.in_use = 0;
            // What is wrong has been reported; the next statement may be right.
            let _ = self.statement(stmt);
        }
    }

    /// A block of a statement, as a block of its own.
    fn inner(&mut self, block: &Block<'t>, dead: bool) -> Vec<weir_model::program::Stmt> {
        self.cx.dead += usize::from(dead);
        let (inner, ()) = self.nested(|this| this.block(block));
        self.cx.dead -= usize::from(dead);
        inner
    }

    fn statement(&mut self, stmt: &Stmt<'t>) -> Option<()> {
        let span = stmt.span;
        if self.awaiting {
            self.check_waits(stmt)?;
        }
        let kind = match &stmt.kind {
            tree::StmtKind::Label(name) => StmtKind::Label(self.inside.labels.get(name.text)?.0),
            tree::StmtKind::Registers(list) => {
                for declared in list {
                    self.declare_register(declared);
                }
                return Some(());
            }
            tree::StmtKind::Assign(place, e) => return self.assignment(place, e, span),
            tree::StmtKind::Atomic(e) => return self.value(e).map(|_| ()),
            tree::StmtKind::Goto(label) => self.goto(*label)?,
            tree::StmtKind::Fence(kind) => StmtKind::Fence(*kind),
            tree::StmtKind::Nop => StmtKind::Nop,
            tree::StmtKind::Exit if self.in_method => {
                let error = Diagnostic::new("`exit` is not allowed in a method", span.range());
                self.cx.error(error.help("leave the method with `return`"));
                return None;
            }
            tree::StmtKind::Exit => StmtKind::Exit,
            tree::StmtKind::Return(_) if !self.in_method => {
                let error = Diagnostic::new("`return` outside of a method", span.range());
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
            tree::StmtKind::Assert(e) => StmtKind::Assert(self.value(e)?),
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
                let body = self.inner(body, false);
                self.loops -= 1;
                StmtKind::Loop(body)
            }
            tree::StmtKind::Choose(blocks) => {
                // Each way to go costs something even where it is empty.
                self.statements += blocks.len();
                StmtKind::Choose(blocks.iter().map(|b| self.inner(b, false)).collect())
            }
            tree::StmtKind::Undivided(..) if self.in_block => {
                let message = "a block that is one step may not stand in another";
                self.cx.error_at(message.to_owned(), span);
                return None;
            }
            tree::StmtKind::Undivided(kind, body) => {
                self.in_block = true;
                let body = self.inner(body, false);
                self.in_block = false;
                StmtKind::Atomic(*kind, body)
            }
            tree::StmtKind::Await(loads, e) => {
                self.awaiting = true;
                let (loads, condition) = self.nested(|this| {
                    this.block(loads);
                    this.in_use = 0;
                    this.value(e)
                });
                self.awaiting = false;
                StmtKind::Await(loads, condition?)
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
            this.block(body);
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

    fn assignment(&mut self, place: &Place<'t>, e: &tree::Expr<'t>, span: Span) -> Option<()> {
        if let Some((register, _)) = self.inside.registers.get(place.name.text).copied() {
            if place.index.is_some() {
                self.value(e);
                let message = format!("{} is a register, not an array", quote(place.name.text));
                self.cx.error_at(message, place.span);
                return None;
            }
            return self.assign_register(register, e, span);
        }
        let target = self.place(place, "variable or register");
        let value = self.value(e);
        self.emit(StmtKind::Store(target?, value?), span);
        Some(())
    }

    /// `r = e`: what is loaded goes to `r` at once.
    fn assign_register(&mut self, r: RegId, e: &tree::Expr<'t>, span: Span) -> Option<()> {
        if self.is_effect(e) {
            return self.effect(e, Some(r), span).map(|_| ());
        }
        let value: Code = self.value(e)?;
        self.set(r, value, span);
        Some(())
    }

    fn goto(&mut self, label: Name<'t>) -> Option<StmtKind> {
        if let Some((id, _)) = self.inside.labels.get(label.text) {
            return Some(StmtKind::Goto(*id));
        }
        let (name, process) = (quote(label.text), quote(self.name));
        let what = if self.in_method { "method" } else { "process" };
        let message = format!("{name} is not a label of {what} {process}");
        let error = Diagnostic::new(message, label.span.range());
        let error = did_you_mean(error, label.text, self.inside.labels.keys().copied());
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
            tree::StmtKind::Assign(place, _) => {
                let what = self.cx.globals.get(place.name.text).map(|g| &g.what);
                if !matches!(what, Some(What::Var(_))) {
                    return Some(());
                }
            }
            _ => {}
        }
        let message = "`await` may only load, assign registers, and test with `if`";
        let help = "write a loop: `loop { … if … { break } }`";
        self.cx.error(Diagnostic::new(message, stmt.span.range()).help(help));
        None
    }
}
