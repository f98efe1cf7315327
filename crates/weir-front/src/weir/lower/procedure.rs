//! Calls of procedures. The code of a procedure stands wherever it is called: a program has
//! processes only.

use std::collections::HashMap;
use std::mem;

use weir_model::program::{Code, Expr, StmtKind};

use super::process::{Frame, Local, Lowering};
use super::value::Values;
use super::{MAX_NUMBERED, What};
use crate::errors::{counted, did_you_mean, quote};
use crate::weir::tree::{self, Block, ExprKind, Name, Place, Procedure, Span};
use crate::weir::{foreign, operators};
use crate::{Diagnostic, MAX_NESTING};

/// How deep calls nest.
const MAX_CALLS: usize = 16;

/// What a parameter stands for in a call.
enum Argument<'t> {
    Value(Code),
    Named(Local<'t>),
}

impl<'t> Lowering<'_, 't> {
    /// Writes the code of a procedure, and says what it returns if that is wanted. `None` after an
    /// error.
    pub fn call(
        &mut self,
        name: Name<'t>,
        arguments: &[tree::Expr<'t>],
        is_wanted: bool,
        span: Span,
    ) -> Option<Code> {
        let Some(procedure) = self.cx.procedures.get(name.text).copied() else {
            // Errors in the arguments are errors all the same.
            arguments.iter().for_each(|e| drop(self.value(e)));
            self.no_procedure(name);
            return None;
        };
        let (wanted, given) = (procedure.parameters.len(), arguments.len());
        if wanted != given {
            let wanted = counted(wanted, "argument", "arguments");
            let message = format!("{} takes {wanted}, not {given}", quote(name.text));
            let error = Diagnostic::new(message, span.range());
            let at = procedure.name.span.range();
            self.cx.error(error.note(at, "it is declared here"));
            return None;
        }
        let calls = self.frames.iter().filter_map(|f| f.procedure);
        if calls.clone().any(|p| p.text == name.text) {
            let message = format!("procedure {} calls itself", quote(name.text));
            let help = "write a loop: a procedure stands where it is called";
            self.cx.error(Diagnostic::new(message, name.span.range()).help(help));
            return None;
        }
        self.calls += 1;
        if calls.count() >= MAX_CALLS || self.blocks > MAX_NESTING {
            let message = format!("calls nest more than {MAX_CALLS} deep here");
            self.cx.error_at(message, name.span);
            return None;
        }
        if self.calls > MAX_NUMBERED {
            let message = format!("{} has more than {MAX_NUMBERED} calls", quote(self.name));
            self.cx.error_at(message, name.span);
            return None;
        }
        if is_wanted && !returns_something(&procedure.body) {
            let message = format!("procedure {} returns nothing", quote(name.text));
            let error = Diagnostic::new(message, span.range());
            let at = procedure.name.span.range();
            self.cx.error(error.note(at, "it has no `return` with a value"));
            return None;
        }
        let arguments = self.arguments(procedure, arguments)?;
        self.enter(procedure, arguments, is_wanted, span)
    }

    fn arguments(
        &mut self,
        procedure: &Procedure<'t>,
        arguments: &[tree::Expr<'t>],
    ) -> Option<Vec<Argument<'t>>> {
        let mut list = Vec::new();
        for (parameter, e) in procedure.parameters.iter().zip(arguments) {
            list.push(match (&e.kind, parameter.by_name) {
                (_, false) => self.value(e).map(Argument::Value),
                (ExprKind::Place(place), true) => self.named_argument(place).map(Argument::Named),
                _ => {
                    let parameter = quote(parameter.name.text);
                    let message = format!("{parameter} stands for a variable: name one");
                    self.cx.error_at(message, e.span);
                    None
                }
            });
        }
        list.into_iter().collect()
    }

    /// What is named, as a whole if it has several parts.
    fn named_argument(&mut self, place: &Place<'t>) -> Option<Local<'t>> {
        if place.selectors.is_empty() {
            let name = place.name.text;
            match self.local(name) {
                Some(local @ (Local::Registers(_) | Local::Cell(_) | Local::Variable(_))) => {
                    return Some(local.clone());
                }
                Some(Local::Constant(_)) => {}
                None => {
                    if let Some(What::Var(layout)) = self.cx.globals.get(name).map(|g| &g.what) {
                        return Some(Local::Variable(layout.clone()));
                    }
                }
            }
        }
        self.target(place, "variable or register").map(Local::Cell)
    }

    /// Writes the body, after the arguments have been computed.
    fn enter(
        &mut self,
        procedure: &'t Procedure<'t>,
        arguments: Vec<Argument<'t>>,
        is_wanted: bool,
        span: Span,
    ) -> Option<Code> {
        let result = if is_wanted { Some(self.temporary(span)?) } else { None };
        let frame = Frame {
            procedure: Some(procedure.name),
            scopes: vec![HashMap::new()],
            result,
            ..Frame::default()
        };
        self.frames.push(frame);
        let base = mem::replace(&mut self.base, self.in_use);
        let loops = mem::take(&mut self.loops);
        let last = mem::replace(&mut self.is_last, true);
        let hoisted = self.hoisted.take();
        for (parameter, argument) in procedure.parameters.iter().zip(arguments) {
            match argument {
                Argument::Named(local) => self.declare(parameter.name, local),
                Argument::Value(Expr::Const(value))
                    if !assigns(&procedure.body, parameter.name.text) =>
                {
                    self.declare(parameter.name, Local::Constant(value));
                }
                Argument::Value(value) => {
                    if let Some(register) = self.declare_one(parameter.name) {
                        self.set(register, value, span);
                    }
                }
            }
        }
        if let (Some(result), false) = (result, always_returns(&procedure.body)) {
            self.set(result, Expr::Const(0), span);
        }
        self.find_names(&procedure.body);
        self.block(&procedure.body);
        let end = self.frame().end;
        self.frames.pop();
        self.in_use = self.base;
        self.base = base;
        self.loops = loops;
        self.is_last = last;
        self.hoisted = hoisted;
        if let Some(end) = end {
            self.emit(StmtKind::Label(end), span);
        }
        Some(result.map_or(Expr::Const(0), Expr::Atom))
    }

    /// `return` in a procedure.
    pub fn leave(&mut self, e: Option<&tree::Expr<'t>>, span: Span) -> Option<()> {
        let is_last = self.is_last;
        match (e, self.frame().result) {
            (Some(e), Some(result)) => self.assign_register(result, e, span)?,
            (Some(e), None) => drop(self.value(e)?),
            (None, _) => {}
        }
        if is_last {
            return Some(());
        }
        if self.awaiting {
            let message = "in an `await`, a procedure returns only at its end";
            self.cx.error_at(message, span);
            return None;
        }
        let end = match self.frame().end {
            Some(end) => end,
            None => {
                let name = self.frame().procedure.map_or("", |p| p.text);
                let end = self.add_label(format!("{name}_end"), span)?;
                self.frame().end = Some(end);
                end
            }
        };
        self.emit(StmtKind::Goto(end), span);
        Some(())
    }

    fn no_procedure(&mut self, name: Name<'t>) {
        let quoted = quote(name.text);
        if let Some(global) = self.cx.globals.get(name.text) {
            let message = format!("{quoted} is {}, not a procedure", global.what.kind());
            let error = Diagnostic::new(message, name.span.range());
            let error = error.note(global.span.range(), "it is declared here");
            return self.cx.error(error);
        }
        let message = format!("there is no procedure or operation {quoted}");
        let error = Diagnostic::new(message, name.span.range());
        let mut known: Vec<&str> = operators::call_names().collect();
        known.extend(self.cx.procedures.keys().copied());
        let error = match foreign::instead(name.text) {
            Some(help) => error.help(help),
            None => did_you_mean(error, name.text, known),
        };
        self.cx.error(error);
    }
}

/// The blocks of a statement.
fn blocks<'a, 't>(stmt: &'a tree::Stmt<'t>) -> Vec<&'a Block<'t>> {
    match &stmt.kind {
        tree::StmtKind::If(_, a, b) => vec![a, b],
        tree::StmtKind::While(_, body)
        | tree::StmtKind::Loop(body)
        | tree::StmtKind::For(.., body)
        | tree::StmtKind::Await(body, _)
        | tree::StmtKind::Undivided(_, body) => vec![body],
        tree::StmtKind::Choose(blocks) => blocks.iter().collect(),
        _ => Vec::new(),
    }
}

/// Whether code assigns to a name.
fn assigns(block: &Block<'_>, name: &str) -> bool {
    block.iter().any(|stmt| {
        let here = match &stmt.kind {
            tree::StmtKind::Assign(place, _) | tree::StmtKind::Update(place, ..) => {
                place.name.text == name
            }
            _ => false,
        };
        here || blocks(stmt).into_iter().any(|block| assigns(block, name))
    })
}

/// Whether code can return a value.
fn returns_something(block: &Block<'_>) -> bool {
    block.iter().any(|stmt| {
        matches!(stmt.kind, tree::StmtKind::Return(Some(_)))
            || blocks(stmt).into_iter().any(returns_something)
    })
}

/// Whether code that comes to its end has returned a value.
fn always_returns(block: &Block<'_>) -> bool {
    let Some(last) = block.last() else { return false };
    let here = match &last.kind {
        tree::StmtKind::Return(e) => e.is_some(),
        tree::StmtKind::If(_, a, b) => always_returns(a) && always_returns(b),
        _ => false,
    };
    here && !returns_nothing(block)
}

/// Whether code can return without a value.
fn returns_nothing(block: &Block<'_>) -> bool {
    block.iter().any(|stmt| {
        matches!(stmt.kind, tree::StmtKind::Return(None))
            || blocks(stmt).into_iter().any(returns_nothing)
    })
}
