//! What steps do: assignments, assertions, fences, and processes that are run.

use weir_model::program::{BinOp, Code, Expr, Place, StmtKind};

use super::expression::{checked, memory_place};
use super::graph::{Action, Edge};
use super::place::Lowering;
use super::process::Begin;
use super::value::{Value, binary};
use super::variable::{Leaf, Storage};
use crate::errors::quote;
use crate::promela::lexer::Token;
use crate::promela::tree::{self, Declared, ExprKind, Init, Type};
use crate::weir::tree::Span;

impl<'t> Lowering<'_, '_, 't> {
    /// What a step does that is not about messages. Its condition, if it has one, holds.
    pub fn effect(&mut self, edge: &Edge<'_, 't>) -> Option<()> {
        let span = edge.span;
        match edge.action {
            Action::Guard(e) => {
                if let ExprKind::Run(_, arguments) = &e.kind {
                    self.run(arguments, e)?;
                }
            }
            Action::Else(_) | Action::Below(..) => {}
            Action::Skip => {
                // The output does not matter, but the statement is a step.
                self.emit(StmtKind::Nop, span);
            }
            Action::Assign(place, e) => {
                let value = match &e.kind {
                    ExprKind::Run(_, arguments) => self.run(arguments, e)?,
                    _ => {
                        for index in place.indices().into_iter().flatten() {
                            self.prepare(index)?;
                        }
                        self.value(e)?
                    }
                };
                let is_member = self.is_member(e);
                self.assign(place, value, is_member, span)?;
            }
            Action::Set(place, value) => self.assign(place, Value::constant(value), false, span)?,
            Action::Up(place) => {
                let value = self.read_place(place, edge.token)?;
                let value = Value::binary(BinOp::Add, value, Value::constant(1));
                self.assign(place, value, false, span)?;
            }
            Action::Declare(declared) => self.initialize(declared)?,
            Action::Assert(e) => {
                let holds = self.value(e)?.code;
                self.emit(StmtKind::Assert(holds), span);
            }
            Action::Fence(kind) => self.emit(StmtKind::Fence(kind), span),
            Action::Send(_) | Action::Receive(_) => {}
        }
        Some(())
    }

    /// The value of a place.
    pub fn read_place(&mut self, place: &tree::Place<'t>, token: Token<'t>) -> Option<Value> {
        let depth = place.depth() + 1;
        let kind = ExprKind::Place(place.clone());
        self.value(&tree::Expr { kind, token, span: place.span, depth })
    }

    /// `byte x = e` where it is executed: without `e`, the variable is 0 again.
    pub fn initialize(&mut self, declared: &Declared<'t>) -> Option<()> {
        let (value, is_member) = match &declared.init {
            Init::Value(e) => (self.value(e)?, self.is_member(e)),
            Init::Nothing | Init::List(_) | Init::Channel(..) => (Value::constant(0), true),
        };
        self.initialize_all(declared, value, is_member)
    }

    /// The same with a value that is known.
    pub fn initialize_with(&mut self, declared: &Declared<'t>, value: Value) -> Option<()> {
        self.initialize_all(declared, value, false)
    }

    fn initialize_all(
        &mut self,
        declared: &Declared<'t>,
        value: Value,
        is_member: bool,
    ) -> Option<()> {
        let span = declared.span;
        let variable = self.variable(declared.name.text)?.clone();
        let value = self.simple(value, span)?;
        for leaf in &variable.leaves {
            let list = match &declared.init {
                Init::List(list) => {
                    list.iter().map(|e| self.cx.constant(e)).collect::<Option<_>>()?
                }
                _ => Vec::new(),
            };
            for i in 0..leaf.count() {
                let value = match list.get(i).or(list.last()) {
                    Some(value) => Value::constant(*value),
                    None => value.clone(),
                };
                let index = (leaf.count() > 1).then(|| Value::constant(i as i128));
                self.set(leaf, index, value, is_member, span)?;
            }
        }
        Some(())
    }

    /// Assigns a value to a place.
    pub fn assign(
        &mut self,
        place: &tree::Place<'t>,
        value: Value,
        is_member: bool,
        span: Span,
    ) -> Option<()> {
        if ["_pid", "_nr_pr"].contains(&place.name.text)
            || self.cx.constants.contains_key(place.name.text)
                && self.variable(place.name.text).is_none()
        {
            let message = format!("{} cannot be changed", quote(place.name.text));
            self.cx.error_at(message, place.name.token);
            return None;
        }
        let leaf = self.leaf(place)?;
        for index in place.indices().into_iter().flatten() {
            self.prepare(index)?;
        }
        let index = self.index(place, &leaf)?;
        if let Storage::Constants(_) = leaf.storage {
            let message = format!("{} cannot be changed", quote(place.name.text));
            self.cx.error_at(message, place.name.token);
            return None;
        }
        let code = self.bounded(value.code, place.name.token)?;
        self.set(&leaf, index, Value { code, ..value }, is_member, span)
    }

    /// Assigns a value to an element of a leaf.
    pub fn set(
        &mut self,
        leaf: &Leaf<'t>,
        index: Option<Value>,
        value: Value,
        is_member: bool,
        span: Span,
    ) -> Option<()> {
        let is_number = leaf.kind == Type::Mtype && !is_member;
        let code = leaf.kind.store(value);
        match &leaf.storage {
            Storage::Global(first, decl) => {
                if is_number {
                    self.cx.numbers.insert(*decl);
                }
                let place = memory_place(*first, leaf, index);
                self.emit(StmtKind::Store(place, code), span);
                self.loaded.clear();
            }
            Storage::Registers(list) => {
                if is_number {
                    self.numbers.extend(list);
                }
                match index {
                    None => self.emit(StmtKind::Assign(list[0], code), span),
                    Some(index) => self.set_element(list, &index, code, span)?,
                }
                // What was loaded with an index may be another element now.
                self.loaded.retain(|(place, _)| place.index.is_none());
            }
            Storage::Constants(_) => {}
        }
        Some(())
    }

    fn set_element(
        &mut self,
        list: &[weir_model::ids::RegId],
        index: &Value,
        code: Code,
        span: Span,
    ) -> Option<()> {
        if let Some(register) = index.known().and_then(|i| list.get(usize::try_from(i).ok()?)) {
            self.emit(StmtKind::Assign(*register, code), span);
            return Some(());
        }
        let (at, value) = (self.temporary(span)?, self.temporary(span)?);
        self.emit(StmtKind::Assign(value, code), span);
        self.emit(StmtKind::Assign(at, checked(list.len(), index.code.clone())), span);
        for (i, register) in list.iter().enumerate() {
            let (block, ()) = self.nested(|this| {
                this.emit(StmtKind::Assign(*register, Expr::Atom(value)), span);
            });
            let here = binary(BinOp::Eq, Expr::Atom(at), Expr::Const(i as i128));
            self.emit(StmtKind::If(here, block, Vec::new()), span);
        }
        Some(())
    }

    /// `run P(…)`: its value is the number of the process.
    fn run(&mut self, arguments: &[tree::Expr<'t>], e: &tree::Expr<'t>) -> Option<Value> {
        let bodies = self.bodies;
        let Some(number) = bodies[self.me].runs.get(&e.token.span).copied() else {
            // Otherwise the reason has been said.
            if self.cx.errors.is_empty() {
                self.cx.error_at("`run` is not allowed here", e.token);
            }
            return None;
        };
        let body = &bodies[number];
        let Begin::Run { flag, arguments: slots, pid, computed } = &body.begin else { return None };
        for (argument, (var, kind)) in arguments.iter().zip(slots) {
            let value = self.value(argument)?;
            let code = self.bounded(kind.store(value), argument.token)?;
            self.emit(StmtKind::Store(Place::var(*var), code), e.span);
            self.loaded.clear();
        }
        for ((scope, declared), var) in body.computed.iter().zip(computed) {
            if let (Some(var), Init::Value(init)) = (var, &declared.init) {
                // It has the names of the new process.
                let own = (self.me, self.scope);
                (self.me, self.scope) = (number, *scope);
                let value = self.value(init);
                (self.me, self.scope) = own;
                let code = self.bounded(value?.code, e.token)?;
                self.emit(StmtKind::Store(Place::var(*var), code), e.span);
            }
        }
        let value = match (self.cx.running, pid) {
            (Some(running), Some(pid)) => {
                let count = Expr::Atom(self.load(Place::var(running), e.span)?);
                self.emit(StmtKind::Store(Place::var(*pid), count.clone()), e.span);
                let more = binary(BinOp::Add, count.clone(), Expr::Const(1));
                self.emit(StmtKind::Store(Place::var(running), more), e.span);
                Value { code: count, bounds: Type::Byte.bounds() }
            }
            _ => Value::constant(body.pid),
        };
        self.emit(StmtKind::Store(Place::var(*flag), Expr::Const(1)), e.span);
        self.loaded.clear();
        Some(value)
    }
}
