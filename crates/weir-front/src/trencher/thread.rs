//! The process of one thread: states become labels, and transitions the code after them.
//!
//! States are printed in an order in which one leads to the next, so that most of the
//! code reads from top to bottom. The code between `lock` and `unlock` is executed
//! atomically (see `locked`).

use std::collections::{HashMap, HashSet};

use weir_model::ids::{LabelId, RegId, SpanId};
use weir_model::program::{
    BinOp, Code, Expr, FenceKind, Label, Place, Process, Register, Stmt, StmtKind, UnOp,
};

use super::memory::{Cell, Memory, assigned};
use super::tree::{Instruction, Thread, Transition, Value, Word};
use crate::choice;
use crate::errors::{Errors, quote};
use crate::locked::{Path, Refused, Symbolic, Way, atomic_block, drop_unused};
use crate::{Diagnostic, Source};

/// The most ways from a `lock` to its `unlock`s.
const MAX_WAYS: usize = 64;
/// The most steps of one way, and so the most reads of it.
const MAX_LOADS: usize = 100;
/// The most steps of all ways between a `lock` and its `unlock`s.
const MAX_STEPS: usize = 5_000;
/// The most states, transitions or registers of a thread.
const MAX_NUMBERED: usize = 60_000;

/// A thread as a process, and the label at which it has to end, if it says so.
pub fn lower<'t>(
    thread: &Thread<'t>,
    memory: &Memory<'t>,
    source: &mut Source,
    errors: &mut Errors,
) -> (Process, Option<LabelId>) {
    let mut outgoing: HashMap<&'t str, Vec<&Transition<'t>>> = HashMap::new();
    for transition in &thread.transitions {
        outgoing.entry(transition.from.text).or_default().push(transition);
    }
    let mut lowering = Lowering {
        thread,
        memory,
        source,
        errors,
        outgoing,
        process: Process { name: thread.name.text.to_owned(), ..Process::default() },
        registers: HashMap::new(),
        labels: HashMap::new(),
        ending: None,
        temporaries: Vec::new(),
    };
    if thread.transitions.len() > MAX_NUMBERED {
        let message = format!("a thread has at most {MAX_NUMBERED} transitions");
        lowering.errors.push(Diagnostic::new(message, thread.name.range.clone()));
        return (lowering.process, None);
    }
    lowering.declare_registers();
    let end = lowering.body();
    (lowering.process, end)
}

struct Lowering<'c, 't> {
    thread: &'c Thread<'t>,
    memory: &'c Memory<'t>,
    source: &'c mut Source,
    errors: &'c mut Errors,
    outgoing: HashMap<&'t str, Vec<&'c Transition<'t>>>,
    process: Process,
    registers: HashMap<&'t str, RegId>,
    labels: HashMap<&'t str, LabelId>,
    /// The label after everything, if it is not that of a state.
    ending: Option<LabelId>,
    temporaries: Vec<RegId>,
}

impl<'c, 't> Lowering<'c, 't> {
    fn declare_registers(&mut self) {
        let names = assigned(self.thread);
        for transition in &self.thread.transitions {
            let (Instruction::Read(word, _) | Instruction::Local(word, _)) =
                &transition.instruction
            else {
                continue;
            };
            if names.contains(word.text) && !self.registers.contains_key(word.text) {
                let span = self.source.span(word.range.clone());
                let register = self.add_register(word.text, false, span);
                self.registers.insert(word.text, register);
            }
        }
    }

    fn add_register(&mut self, name: &str, temporary: bool, span: SpanId) -> RegId {
        let id = RegId::new(self.process.registers.len());
        let display = format!("{}.{name}", self.process.name);
        let (name, domain) = (name.to_owned(), None);
        self.process.registers.push(Register { name, display, domain, init: 0, temporary, span });
        id
    }

    /// The number that a temporary has or would get.
    fn peek_temporary(&self, number: usize) -> RegId {
        let made = self.temporaries.get(number).copied();
        made.unwrap_or_else(|| RegId::new(self.process.registers.len()))
    }

    fn temporary(&mut self, number: usize) -> RegId {
        while self.temporaries.len() <= number {
            let name = match self.temporaries.len() {
                0 => "tmp".to_owned(),
                n => format!("tmp{n}"),
            };
            let register = self.add_register(&name, true, SpanId::NONE);
            self.temporaries.push(register);
        }
        self.temporaries[number]
    }

    /// The body; returns the label of the final state.
    fn body(&mut self) -> Option<LabelId> {
        let thread = self.thread;
        let order = self.order();
        let end = thread.end.as_ref().map(|e| e.text);
        // A final state that nothing leaves is the end of the text.
        let last = end.filter(|e| self.leaving(e).is_empty());
        let order: Vec<&'t str> = order.into_iter().filter(|s| Some(*s) != last).collect();
        let mut body = Vec::new();
        for (i, &state) in order.iter().enumerate() {
            let label = self.label(state);
            body.push(Stmt::new(StmtKind::Label(label), SpanId::NONE));
            let next = order.get(i + 1).copied().or(last);
            self.state(state, next, &mut body);
        }
        let ending = end.map(|state| self.ending(state, last.is_some()));
        if let Some(ending) = ending {
            body.push(Stmt::new(StmtKind::Label(ending), SpanId::NONE));
        }
        drop_unused_labels(&mut body, ending);
        self.process.body = body;
        drop_unused(&mut self.process);
        ending
    }

    fn leaving(&self, state: &str) -> Vec<&'c Transition<'t>> {
        self.outgoing.get(state).cloned().unwrap_or_default()
    }

    /// The states that can be reached outside of locks, each after the one that
    /// leads to it first.
    fn order(&self) -> Vec<&'t str> {
        let mut order = Vec::new();
        let mut seen = HashSet::new();
        let mut work = vec![self.thread.initial.text];
        while let Some(state) = work.pop() {
            if !seen.insert(state) {
                continue;
            }
            order.push(state);
            let mut targets = Vec::new();
            for transition in self.leaving(state) {
                match transition.instruction {
                    Instruction::Lock => targets.extend(self.after(transition)),
                    _ => targets.push(transition.to.text),
                }
            }
            work.extend(targets.into_iter().rev());
        }
        order
    }

    fn label(&mut self, state: &'t str) -> LabelId {
        if let Some(label) = self.labels.get(state) {
            return *label;
        }
        let label = self.add_label(state);
        self.labels.insert(state, label);
        label
    }

    fn add_label(&mut self, name: &str) -> LabelId {
        self.process.labels.push(Label { name: name.to_owned(), span: SpanId::NONE });
        LabelId::new(self.process.labels.len() - 1)
    }

    /// The label at the end, for the final state. `own` if it has no other.
    fn ending(&mut self, state: &'t str, own: bool) -> LabelId {
        if own {
            return self.label(state);
        }
        match self.ending {
            Some(label) => label,
            None => {
                let label = self.add_label(&format!("{state}_end"));
                *self.ending.insert(label)
            }
        }
    }

    /// What follows the label of a state.
    fn state(&mut self, state: &'t str, next: Option<&'t str>, body: &mut Vec<Stmt>) {
        let thread = self.thread;
        let leaving = self.leaving(state);
        let ends = thread.end.as_ref().is_some_and(|e| e.text == state);
        if leaving.is_empty() {
            // Here or nowhere else is the end, if the thread says nothing of one.
            let kind = match &thread.end {
                Some(_) => StmtKind::Assume(Expr::Const(0)),
                None => StmtKind::Exit,
            };
            body.push(Stmt::new(kind, SpanId::NONE));
            return;
        }
        if let [one, other] = leaving.as_slice()
            && !ends
            && let (Instruction::Check(a), Instruction::Check(b)) =
                (&one.instruction, &other.instruction)
            && are_opposite(a, b)
        {
            // What comes next anyway needs no jump.
            let swap = next == Some(one.to.text);
            let (one, other, test) = if swap { (other, one, b) } else { (one, other, a) };
            let span = self.source.span(one.range.clone());
            let condition = self.code(test);
            let then = self.goto(one.to.text, None, span);
            body.push(Stmt::new(StmtKind::If(condition, then, Vec::new()), span));
            let span = self.source.span(other.range.clone());
            body.extend(self.goto(other.to.text, next, span));
            return;
        }
        let mut choices = Vec::new();
        if ends {
            let ending = self.ending(state, false);
            choices.push(vec![Stmt::new(StmtKind::Goto(ending), SpanId::NONE)]);
        }
        let only = leaving.len() == 1 && !ends;
        let span = self.source.span(leaving[0].range.clone());
        for transition in leaving {
            let next = next.filter(|_| only);
            choices.extend(self.transition(transition, next));
        }
        body.extend(choice::among(choices, span));
    }

    fn goto(&mut self, state: &'t str, next: Option<&'t str>, span: SpanId) -> Vec<Stmt> {
        if next == Some(state) {
            return Vec::new();
        }
        vec![Stmt::new(StmtKind::Goto(self.label(state)), span)]
    }

    /// What a transition does, each way in a block of its own. The state `next`
    /// comes right after it.
    fn transition(
        &mut self,
        transition: &'c Transition<'t>,
        next: Option<&'t str>,
    ) -> Vec<Vec<Stmt>> {
        let span = self.source.span(transition.range.clone());
        let kind = match &transition.instruction {
            Instruction::Lock => return self.locked(transition, next, span),
            Instruction::Unlock => {
                let message = "this `unlock` is reached without a `lock`";
                self.errors.push(Diagnostic::new(message, transition.range.clone()));
                StmtKind::Nop
            }
            Instruction::Nop => StmtKind::Nop,
            Instruction::Fence => StmtKind::Fence(FenceKind::Full),
            Instruction::Write(value, address) => {
                let place = self.place(address);
                StmtKind::Store(place, self.code(value))
            }
            Instruction::Read(register, address) => {
                StmtKind::Load(self.register(register), self.place(address))
            }
            Instruction::Local(register, value) => {
                StmtKind::Assign(self.register(register), self.code(value))
            }
            Instruction::Check(value) => StmtKind::Assume(self.code(value)),
        };
        let mut block = vec![Stmt::new(kind, span)];
        block.extend(self.goto(transition.to.text, next, span));
        vec![block]
    }

    fn register(&self, word: &Word<'t>) -> RegId {
        self.registers[word.text]
    }

    fn code(&self, value: &Value<'t>) -> Code {
        match value {
            Expr::Const(c) => Expr::Const(*c),
            Expr::Atom(word) => match self.registers.get(word.text) {
                Some(register) => Expr::Atom(*register),
                None => Expr::Const(self.memory.address(word.text)),
            },
            Expr::Unary(op, e) => Expr::unary(*op, self.code(e)),
            Expr::Binary(op, a, b) => Expr::binary(*op, self.code(a), self.code(b)),
        }
    }

    fn place(&self, address: &Value<'t>) -> Place {
        let index = self.code(address);
        let mut constant = true;
        index.atoms(&mut |_| constant = false);
        let at = constant.then(|| index.eval(&mut |_| 0).unwrap_or(0));
        match self.memory.cell(at) {
            Cell::Var(var) => Place::var(var),
            Cell::Element(len) => Place::element(weir_model::ids::VarId(0), len, index),
        }
    }

    fn locked(
        &mut self,
        lock: &'c Transition<'t>,
        next: Option<&'t str>,
        span: SpanId,
    ) -> Vec<Vec<Stmt>> {
        if let Ok(ways) = self.ways(lock, Path::new(self.peek_temporary(0)), true) {
            let next = next.filter(|_| ways.len() == 1);
            let mut blocks = Vec::new();
            self.temporary(0);
            for (way, to) in ways {
                let mut made = 0;
                let kinds = way.finish(&[], true, &mut || {
                    made += 1;
                    self.temporary(made)
                });
                let mut block: Vec<Stmt> = kinds.into_iter().map(|k| Stmt::new(k, span)).collect();
                block.extend(self.goto(to, next, span));
                blocks.push(block);
            }
            return blocks;
        }
        let ways = match self.ways(lock, Way::default(), false) {
            Ok(ways) => ways,
            Err(error) => {
                self.errors.push(error);
                return Vec::new();
            }
        };
        // The block leads on by itself, unless there is only one way.
        let next = next.filter(|_| ways.len() == 1);
        let mut blocks = Vec::new();
        for (way, to) in ways {
            // Behind those that reads of the way went to.
            let mut made = way.loads();
            let kinds = way.finish(&[], &mut || {
                made += 1;
                self.temporary(made - 1)
            });
            let mut block: Vec<Stmt> = kinds.into_iter().map(|k| Stmt::new(k, span)).collect();
            block.extend(self.goto(to, next, span));
            blocks.push(block);
        }
        if blocks.is_empty() {
            // No way leads out: who locks does not go on.
            return vec![vec![Stmt::new(StmtKind::Assume(Expr::Const(0)), span)]];
        }
        vec![vec![atomic_block(blocks, span)]]
    }

    /// The states that follow the `unlock`s of a `lock`.
    fn after(&self, lock: &'c Transition<'t>) -> Vec<&'t str> {
        let mut after = Vec::new();
        let mut seen = HashSet::new();
        let mut work = vec![lock.to.text];
        while let Some(state) = work.pop() {
            if !seen.insert(state) {
                continue;
            }
            let mut targets = Vec::new();
            for transition in self.leaving(state) {
                match transition.instruction {
                    Instruction::Unlock => after.push(transition.to.text),
                    _ => targets.push(transition.to.text),
                }
            }
            work.extend(targets.into_iter().rev());
        }
        after
    }

    /// All ways from a `lock` to an `unlock`, with the states after them. A way that comes back to
    /// where it was with nothing changed is waiting, and is left out.
    fn ways<W: Symbolic>(
        &mut self,
        lock: &'c Transition<'t>,
        start: W,
        one_write: bool,
    ) -> Result<Vec<(W, &'t str)>, Diagnostic> {
        let mut done = Vec::new();
        let mut steps = 0;
        // A way so far, where it is, and what it was where it has been.
        let mut work = vec![(start.clone(), lock.to.text, vec![(lock.to.text, start)])];
        while let Some((way, state, visited)) = work.pop() {
            let leaving = self.leaving(state);
            if leaving.is_empty() {
                let message = format!("this `lock` may end in {} without `unlock`", quote(state));
                return Err(refusal(lock, message));
            }
            for transition in leaving.into_iter().rev() {
                let mut way = way.clone();
                let to = transition.to.text;
                let taken = match &transition.instruction {
                    Instruction::Unlock => {
                        done.push((way, to));
                        continue;
                    }
                    Instruction::Lock => {
                        return Err(refusal(transition, "this `lock` is inside another"));
                    }
                    Instruction::Nop | Instruction::Fence => Ok(()),
                    Instruction::Write(value, address) => {
                        way.write(&self.place(address), &self.code(value))
                    }
                    Instruction::Read(register, address) => {
                        let (register, place) = (self.register(register), self.place(address));
                        way.read(register, &place, &mut |n| self.temporary(n))
                    }
                    Instruction::Local(register, value) => {
                        way.assign(self.register(register), &self.code(value))
                    }
                    Instruction::Check(value) => way.assume(&self.code(value)),
                };
                steps += 1;
                let message = match taken {
                    Err(Refused::SecondPlace) => "a `lock` is around two addresses here",
                    Err(Refused::Alias) => {
                        "this address may be one that was written before, inside a `lock`"
                    }
                    Err(Refused::TooLarge) => "this `lock` is around too much",
                    Ok(()) if one_write && way.writes() > 1 => "a `lock` is around two writes here",
                    Ok(()) if visited.len() > MAX_LOADS || steps > MAX_STEPS => {
                        "a `lock` is around a loop here that changes something"
                    }
                    Ok(()) if work.len() + done.len() > MAX_WAYS => {
                        "a `lock` is around too many ways"
                    }
                    Ok(()) => "",
                };
                if !message.is_empty() {
                    return Err(refusal(transition, message));
                }
                if visited.iter().any(|(state, earlier)| *state == to && way.is_as(earlier)) {
                    continue;
                }
                let mut visited = visited.clone();
                visited.push((to, way.clone()));
                work.push((way, to, visited));
            }
        }
        done.reverse();
        Ok(done)
    }
}

fn refusal(at: &Transition<'_>, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(message, at.range.clone())
}

/// Whether exactly one of two conditions always holds.
fn are_opposite(a: &Value<'_>, b: &Value<'_>) -> bool {
    let same = |a: &Value<'_>, b: &Value<'_>| is_same(a, b);
    match (a, b) {
        (Expr::Unary(UnOp::Not, a), b) if same(a, b) => true,
        (a, Expr::Unary(UnOp::Not, b)) if same(a, b) => true,
        (Expr::Binary(op, a, b), Expr::Binary(other, c, d)) => {
            let opposite = match op {
                BinOp::Eq => BinOp::Ne,
                BinOp::Ne => BinOp::Eq,
                BinOp::Lt => BinOp::Ge,
                BinOp::Ge => BinOp::Lt,
                BinOp::Le => BinOp::Gt,
                BinOp::Gt => BinOp::Le,
                _ => return false,
            };
            *other == opposite && same(a, c) && same(b, d)
        }
        _ => false,
    }
}

fn is_same(a: &Value<'_>, b: &Value<'_>) -> bool {
    match (a, b) {
        (Expr::Const(a), Expr::Const(b)) => a == b,
        (Expr::Atom(a), Expr::Atom(b)) => a.text == b.text,
        (Expr::Unary(op, a), Expr::Unary(other, b)) => op == other && is_same(a, b),
        (Expr::Binary(op, a, b), Expr::Binary(other, c, d)) => {
            op == other && is_same(a, c) && is_same(b, d)
        }
        _ => false,
    }
}

/// Leaves out labels that nothing goes to, other than `kept`.
fn drop_unused_labels(body: &mut Vec<Stmt>, kept: Option<LabelId>) {
    let mut used: HashSet<LabelId> = kept.into_iter().collect();
    let mut blocks: Vec<&[Stmt]> = vec![body];
    while let Some(block) = blocks.pop() {
        for stmt in block {
            if let StmtKind::Goto(label) = &stmt.kind {
                used.insert(*label);
            }
            blocks.extend(stmt.kind.blocks().into_iter().map(Vec::as_slice));
        }
    }
    body.retain(|stmt| !matches!(stmt.kind, StmtKind::Label(label) if !used.contains(&label)));
}

/// The states that a thread can be in between `lock` and `unlock`.
pub fn locked_states<'t>(thread: &Thread<'t>) -> HashSet<&'t str> {
    let is_lock = |t: &&Transition<'t>| matches!(t.instruction, Instruction::Lock);
    let mut work: Vec<&'t str> =
        thread.transitions.iter().filter(is_lock).map(|t| t.to.text).collect();
    let mut locked = HashSet::new();
    while let Some(state) = work.pop() {
        if !locked.insert(state) {
            continue;
        }
        let on = thread.transitions.iter().filter(|t| t.from.text == state);
        let inside = on.filter(|t| !matches!(t.instruction, Instruction::Unlock));
        work.extend(inside.map(|t| t.to.text));
    }
    locked
}
