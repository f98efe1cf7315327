//! Statements.

use weir_model::ids::RegId;
use weir_model::program::{BinOp, Code, Expr, StmtKind};

use super::expression::checked;
use super::process::{LocalPlace, Lowering};
use super::value::{Value, binary};
use crate::errors::{did_you_mean, quote};
use crate::promela::tree::{self, Declared, ExprKind, Name, Place, Stmt, Type};
use crate::weir::tree::Span;

/// The most values that a `select` lists; one with more is a loop.
const MAX_LISTED: i128 = 4096;

impl<'t> Lowering<'_, 't> {
    /// The body of a process. What is declared first is there from the start.
    pub fn body(&mut self, list: &[Stmt<'t>]) {
        let is_declaration = |s: &Stmt<'t>| matches!(s.kind, tree::StmtKind::Declare(_));
        let first = list.iter().take_while(|s| is_declaration(s)).count();
        for stmt in &list[..first] {
            self.begin();
            if let tree::StmtKind::Declare(declared) = &stmt.kind {
                for declared in declared {
                    self.declaration(declared, true);
                }
            }
        }
        self.sequence(&list[first..]);
    }

    /// Forgets what the statement before had loaded.
    pub fn begin(&mut self) {
        self.in_use = self.base;
        self.loaded.clear();
    }

    /// Statements one after the other, in the scope that is open.
    pub fn sequence(&mut self, list: &[Stmt<'t>]) {
        let mut labels = Vec::new();
        for stmt in list {
            if self.is_too_long() || self.cx.errors.is_full() {
                return;
            }
            self.begin();
            if let tree::StmtKind::Label(name) = &stmt.kind {
                labels.push(*name);
                continue;
            }
            // A process stands at the label of a loop in every round.
            let inside = matches!(stmt.kind, tree::StmtKind::Do(_));
            if !inside {
                self.put_labels(&labels);
                labels.clear();
            }
            // What is wrong has been reported; the next statement may be right.
            let _ = self.statement(stmt, &labels);
            labels.clear();
        }
        self.put_labels(&labels);
    }

    pub fn put_labels(&mut self, labels: &[Name<'t>]) {
        for name in labels {
            if let Some((id, span)) = self.labels.get(name.text).copied() {
                self.emit(StmtKind::Label(id), span);
            }
        }
    }

    /// Statements in a scope of their own.
    pub fn scoped(&mut self, list: &[Stmt<'t>]) {
        self.scopes.push(Default::default());
        self.sequence(list);
        self.scopes.pop();
    }

    /// One statement; `labels` are those of a loop.
    fn statement(&mut self, stmt: &Stmt<'t>, labels: &[Name<'t>]) -> Option<()> {
        let span = stmt.span;
        let kind = match &stmt.kind {
            tree::StmtKind::Label(_) => return Some(()),
            tree::StmtKind::Declare(list) => {
                for declared in list {
                    self.declaration(declared, false);
                }
                return Some(());
            }
            tree::StmtKind::Guard(e) if matches!(e.kind, ExprKind::Run(..)) => {
                return self.prepare(e);
            }
            tree::StmtKind::Guard(_) | tree::StmtKind::If(_) => {
                return self.select(std::slice::from_ref(stmt), span);
            }
            tree::StmtKind::Do(options) => return self.repeat(options, labels, span),
            tree::StmtKind::Atomic(body) => return self.atomic(stmt, body),
            tree::StmtKind::Block(body) => {
                self.scoped(body);
                return Some(());
            }
            tree::StmtKind::Else => {
                self.cx.error_at("`else` can only begin an option", stmt.token);
                return None;
            }
            tree::StmtKind::Assign(place, e) => return self.assignment(place, e, span),
            tree::StmtKind::Select(place, ends) => {
                let (low, high) = &**ends;
                return self.choice(place, low, high, stmt);
            }
            tree::StmtKind::Assert(e) => StmtKind::Assert(self.value(e)?.code),
            // The output does not matter, but the statement is a step.
            tree::StmtKind::Skip => StmtKind::Nop,
            tree::StmtKind::Goto(name) => self.goto(*name)?,
            tree::StmtKind::Break if self.loops > 0 => StmtKind::Break,
            tree::StmtKind::Break => {
                self.cx.error_at("`break` outside of a loop", stmt.token);
                return None;
            }
            tree::StmtKind::Fence(kind) => StmtKind::Fence(*kind),
        };
        self.emit(kind, span);
        Some(())
    }

    /// A declaration; `early` if nothing has run before it.
    fn declaration(&mut self, declared: &Declared<'t>, early: bool) -> Option<()> {
        self.begin();
        let Some(e) = &declared.init else { return self.declare(declared, None) };
        // The variable is not known to its own initial value.
        let value = self.value(e)?;
        if let (Some(known), true) = (value.known(), early) {
            self.declare(declared, Some(declared.kind.cut(known)))?;
            if declared.kind == Type::Mtype && !self.is_member(e) {
                self.hold_numbers(declared.name.text);
            }
            return Some(());
        }
        self.declare(declared, None)?;
        if declared.kind == Type::Mtype && !self.is_member(e) {
            self.hold_numbers(declared.name.text);
        }
        let code = declared.kind.store(value);
        let registers = match self.local(declared.name.text).map(|l| l.place.clone())? {
            LocalPlace::Register(r) => vec![r],
            LocalPlace::Array(list) => list,
            LocalPlace::Constant(_) => Vec::new(),
        };
        for register in registers {
            self.emit(StmtKind::Assign(register, code.clone()), declared.span);
        }
        Some(())
    }

    /// An `mtype` of this process holds numbers that have no name.
    fn hold_numbers(&mut self, name: &str) {
        match self.local(name).map(|l| l.place.clone()) {
            Some(LocalPlace::Register(r)) => drop(self.numbers.insert(r)),
            Some(LocalPlace::Array(list)) => self.numbers.extend(list),
            _ => {}
        }
    }

    /// `x = e`: what the index on the left needs is loaded first, then what stands on
    /// the right; then comes the store.
    pub fn assignment(&mut self, place: &Place<'t>, e: &tree::Expr<'t>, span: Span) -> Option<()> {
        if let Some(index) = &place.index {
            self.prepare(index)?;
        }
        let value = self.value(e)?;
        if let Some(global) = self.global(place) {
            let at = self.place(place, &global)?;
            if global.kind == Type::Mtype && !self.is_member(e) {
                self.cx.numbers.insert(global.decl);
            }
            let code = self.bounded(global.kind.store(value), e.token)?;
            match &self.held {
                Some((held, register)) if *held == at => {
                    let register = *register;
                    self.emit(StmtKind::Assign(register, code), span);
                }
                _ => self.emit(StmtKind::Store(at, code), span),
            }
            return Some(());
        }
        let Some(local) = self.local(place.name.text).cloned() else {
            let message = match self.cx.constants.contains_key(place.name.text) {
                true => format!("{} is a constant", quote(place.name.text)),
                false => {
                    let names: Vec<_> =
                        self.scopes.iter().flat_map(|s| s.keys().copied()).collect();
                    self.cx.unknown(place.name, &names);
                    return None;
                }
            };
            self.cx.error_at(message, place.name.token);
            return None;
        };
        if local.kind == Type::Mtype && !self.is_member(e) {
            self.hold_numbers(place.name.text);
        }
        let code = self.bounded(local.kind.store(value), e.token)?;
        match (&local.place, &place.index) {
            (LocalPlace::Register(r), None) => self.emit(StmtKind::Assign(*r, code), span),
            (LocalPlace::Array(list), Some(index)) => {
                let index = self.compute(index)?;
                self.check_constant(&index, list.len() as i128, place)?;
                self.set_element(list, &index, code, span)?;
            }
            (LocalPlace::Array(_), None) => return self.not_scalar(place),
            (LocalPlace::Register(_), Some(_)) => return self.not_array(place),
            (LocalPlace::Constant(_), _) => {
                let message = format!("{} cannot be changed", quote(place.name.text));
                self.cx.error_at(message, place.name.token);
                return None;
            }
        }
        Some(())
    }

    fn set_element(&mut self, list: &[RegId], index: &Value, code: Code, span: Span) -> Option<()> {
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

    fn goto(&mut self, name: Name<'t>) -> Option<StmtKind> {
        if let Some((id, _)) = self.labels.get(name.text) {
            return Some(StmtKind::Goto(*id));
        }
        let process = quote(&self.name);
        let message = format!("{} is not a label of process {process}", quote(name.text));
        let error = did_you_mean(name.token.error(message), name.text, self.labels.keys().copied());
        self.cx.errors.push(error);
        None
    }

    /// `select (x : low .. high)`, which Spin takes for
    /// `x = low; do :: x < high -> x++ :: break od`.
    fn choice(
        &mut self,
        place: &Place<'t>,
        low: &tree::Expr<'t>,
        high: &tree::Expr<'t>,
        stmt: &Stmt<'t>,
    ) -> Option<()> {
        let local = self.local(place.name.text).cloned();
        let ends = (self.known(low), self.known(high));
        if let (Some(local), (Some(low), Some(high))) = (&local, ends)
            && let (LocalPlace::Register(register), None) = (&local.place, &place.index)
            && local.kind.bounds().covers(low, high)
            && (0..MAX_LISTED).contains(&(high - low))
        {
            if local.kind == Type::Mtype {
                self.numbers.insert(*register);
            }
            let values = (low..=high).collect();
            self.emit(StmtKind::Any(*register, values), stmt.span);
            return Some(());
        }
        let made = |kind| Stmt { kind, ..stmt.clone() };
        let expr = |kind, depth| tree::Expr { kind, token: stmt.token, span: stmt.span, depth };
        let depth = place.index.as_ref().map_or(0, |i| i.depth) + 1;
        let read = expr(ExprKind::Place(place.clone()), depth);
        let one = expr(ExprKind::Number(1), 1);
        let below = ExprKind::Binary(BinOp::Lt, read.clone().into(), high.clone().into());
        let below = expr(below, depth.max(high.depth) + 1);
        let up = expr(ExprKind::Binary(BinOp::Add, read.into(), one.into()), depth + 1);
        let round = vec![
            made(tree::StmtKind::Guard(below)),
            made(tree::StmtKind::Assign(place.clone(), up)),
        ];
        let leave = vec![made(tree::StmtKind::Break)];
        let rest = made(tree::StmtKind::Do(vec![round, leave]));
        self.sequence(&[made(tree::StmtKind::Assign(place.clone(), low.clone())), rest]);
        Some(())
    }

    /// The constant that an expression is, if it is one.
    fn known(&mut self, e: &tree::Expr<'t>) -> Option<i128> {
        let bounds = self.bounds(e);
        (bounds.low == bounds.high).then_some(bounds.low)
    }
}
