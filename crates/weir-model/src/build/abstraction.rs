//! What can happen before and after a place of the code, computed before any search.
//!
//! The analysis follows each process separately. A read returns any value that some
//! process may have written, as far as the analysis has followed the processes. A
//! variable to which too many values are written may hold *anything*. A register is
//! *tracked* if its value is part of an abstract state; a register that may hold anything
//! is not tracked. If there are too many abstract states, the register with the most
//! values is no longer tracked.
//!
//! The analysis over-approximates: every place of every run of the process is in it, with
//! the values of the tracked registers, and no steps are merged. So what it excludes
//! cannot happen, and an operation that it finds before every fence does come before it.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::domain::Set;
use super::local::forget;
use crate::flow::{Flow, Node, NodeId};
use crate::graph;
use crate::ids::{LabelId, ProcessId, RegId, SpanId, VarId};
use crate::limits::{Budget, Stop};
use crate::program::{BinOp, Code, Domain, EvalError, Expr, FenceKind, Place, Program, Rmw};

/// More states of all processes together are too many.
const MAX_STATES: usize = 10_000;

/// More values that are read on the way are too many.
const MAX_READ: usize = 200_000;

/// A variable with a declared range to which more values are written may hold anything.
const MAX_WRITTEN: usize = 256;

/// The same for one without a range: it may be counted without end.
const MAX_COUNTED: usize = 16;

/// What may be anything is one of the values of its domain, if those are so few.
const FEW: u128 = 64;

/// What a step of the code of a process does with memory; variables by number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Access {
    /// Nothing.
    Local,
    /// Reads one of these variables.
    Read(Range<usize>),
    /// Writes one of these variables.
    Write(Range<usize>),
    /// Reads and writes one of these variables.
    Arw(Range<usize>),
    /// Passes a fence.
    Fence(FenceKind),
}

/// A step of the code of a process, from one place to another.
#[derive(Clone, Debug)]
pub struct CodeStep {
    /// The place that it leaves.
    pub from: usize,
    /// What it does with memory.
    pub access: Access,
    /// The place that it enters.
    pub to: usize,
}

type Registers = Arc<[Option<i128>]>;

/// One process, looked at by itself.
#[derive(Debug)]
pub(crate) struct Abstraction {
    tracked: Vec<bool>,
    ids: FxHashMap<(NodeId, Registers), usize>,
    pub steps: Vec<CodeStep>,
    /// Labels at which it may stand.
    pub labels: BTreeSet<LabelId>,
    /// A place where it may do what a program must not do, if there is one.
    pub fails: Option<SpanId>,
    /// A place where a value may leave its bound, if there is one.
    pub leaves: Option<SpanId>,
    /// Every `await` to which it may come, by its test, and whether it may pass it.
    pub awaits: BTreeMap<NodeId, bool>,
}

impl Abstraction {
    /// The number of states.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// The state of a process at a node with these registers, if it can come there.
    pub fn find(&self, node: NodeId, registers: &[i128]) -> Option<usize> {
        let known = registers.iter().zip(&self.tracked).map(|(v, t)| t.then_some(*v));
        self.ids.get(&(node, known.collect())).copied()
    }

    /// For each state, the most steps accepted by `count` that the process can still do; `None`
    /// if there is no bound, which takes a loop.
    pub fn longest(&self, count: impl Fn(&Access) -> bool) -> Vec<Option<usize>> {
        let n = self.len();
        let mut edges = vec![vec![]; n];
        for step in &self.steps {
            edges[step.from].push((step.to, usize::from(count(&step.access))));
        }
        graph::longest(&edges)
    }
}

/// Why processes cannot be followed in this way.
enum Much {
    Stopped(Stop),
    /// Too many values are written to a variable.
    Written(VarId),
    /// A register may get anything.
    Anything(ProcessId, RegId),
    /// There are too many states.
    States,
}

impl From<Stop> for Much {
    fn from(stop: Stop) -> Self {
        Self::Stopped(stop)
    }
}

/// Each process by itself, and the values that each variable may have. Those are `known`
/// beforehand where reads are guessed.
///
/// # Errors
/// If a limit is reached.
pub(super) fn explore(
    program: &Program,
    flows: &[Flow],
    known: Option<Vec<BTreeSet<i128>>>,
    budget: &Budget,
) -> Result<(Vec<Abstraction>, Vec<Set>), Stop> {
    let follows_writes = known.is_none();
    let initial = || program.vars.iter().flat_map(|d| &d.init);
    let mut begin: Vec<Set> = match known {
        Some(known) => known.into_iter().map(Some).collect(),
        None => initial().map(|values| Some(values.iter().copied().collect())).collect(),
    };
    let mut tracked: Vec<Vec<bool>> =
        program.processes.iter().map(|p| vec![true; p.registers.len()]).collect();
    let mut most = MAX_STATES;
    loop {
        let sets = RefCell::new(begin.clone());
        let mut explorers: Vec<Explorer<'_>> = Vec::with_capacity(flows.len());
        for (p, flow) in flows.iter().enumerate() {
            let alone = Explorer::new(program, flow, ProcessId::new(p), &sets, &tracked[p]);
            explorers.push(Explorer { follows_writes, ..alone });
        }
        match follow(&mut explorers, &sets, most, budget) {
            Ok(()) => {
                let found = explorers.into_iter().map(|e| e.found).collect();
                return Ok((found, sets.into_inner()));
            }
            Err(Much::Stopped(stop)) => return Err(stop),
            Err(Much::Written(x)) => begin[x.index()] = None,
            Err(Much::Anything(p, r)) => tracked[p.index()][r.index()] = false,
            Err(Much::States) => match widest(&explorers) {
                Some((p, r)) => tracked[p][r] = false,
                // Without registers there are no more states than nodes.
                None => most = usize::MAX,
            },
        }
    }
}

/// Follows all processes until nothing new is written.
fn follow(
    explorers: &mut [Explorer<'_>],
    sets: &RefCell<Vec<Set>>,
    most: usize,
    budget: &Budget,
) -> Result<(), Much> {
    let written = || sets.borrow().iter().flatten().map(BTreeSet::len).sum::<usize>();
    loop {
        let before = written();
        for i in 0..explorers.len() {
            let all: usize = explorers.iter().map(|e| e.states.len()).sum();
            explorers[i].most = most.saturating_add(explorers[i].states.len()).saturating_sub(all);
            explorers[i].go_on(budget)?;
        }
        if before == written() {
            return Ok(());
        }
    }
}

/// The tracked register with the most values.
fn widest(explorers: &[Explorer<'_>]) -> Option<(usize, usize)> {
    let mut all = Vec::new();
    for (p, explorer) in explorers.iter().enumerate() {
        for r in (0..explorer.found.tracked.len()).filter(|r| explorer.found.tracked[*r]) {
            let values: FxHashSet<_> = explorer.states.iter().map(|(_, v)| v[r]).collect();
            all.push((values.len(), (p, r)));
        }
    }
    all.into_iter().max_by_key(|(count, _)| *count).map(|(_, register)| register)
}

/// A process that is being followed.
struct Explorer<'a> {
    program: &'a Program,
    flow: &'a Flow,
    p: ProcessId,
    /// The values that variables may have.
    sets: &'a RefCell<Vec<Set>>,
    /// Whether what is written is added to the sets.
    follows_writes: bool,
    /// The most states.
    most: usize,
    /// How many values were read.
    read: usize,
    states: Vec<(NodeId, Registers)>,
    /// For each state how many values there were to read when it was left last.
    left: Vec<usize>,
    /// Steps of states that may be left more than once.
    seen: FxHashSet<(usize, usize)>,
    found: Abstraction,
}

/// What an expression may be.
enum Value {
    Known(i128),
    /// One of these.
    Among(BTreeSet<i128>),
    Any,
}

impl Value {
    /// Whether all that it may be is so.
    fn all(&self, mut is_so: impl FnMut(i128) -> bool) -> bool {
        match self {
            Self::Known(v) => is_so(*v),
            Self::Among(values) => values.iter().all(|v| is_so(*v)),
            Self::Any => false,
        }
    }

    /// All that it may be, if that is known.
    fn values(&self) -> Option<Vec<i128>> {
        match self {
            Self::Known(v) => Some(vec![*v]),
            Self::Among(values) => Some(values.iter().copied().collect()),
            Self::Any => None,
        }
    }
}

impl<'a> Explorer<'a> {
    fn new(
        program: &'a Program,
        flow: &'a Flow,
        p: ProcessId,
        sets: &'a RefCell<Vec<Set>>,
        tracked: &[bool],
    ) -> Self {
        let declared = &program.processes[p.index()].registers;
        let initial: Registers =
            declared.iter().zip(tracked).map(|(r, t)| t.then_some(r.init)).collect();
        let found = Abstraction {
            tracked: tracked.to_vec(),
            ids: FxHashMap::default(),
            steps: vec![],
            labels: BTreeSet::new(),
            fails: None,
            leaves: None,
            awaits: BTreeMap::new(),
        };
        let mut explorer = Self {
            program,
            flow,
            p,
            sets,
            follows_writes: false,
            most: 1,
            read: 0,
            states: vec![],
            left: vec![],
            seen: FxHashSet::default(),
            found,
        };
        // There is room for one.
        let _ = explorer.state(flow.entry, initial);
        explorer
    }

    /// Follows the process from all states from which it was not followed, or which read
    /// more than before.
    fn go_on(&mut self, budget: &Budget) -> Result<(), Much> {
        let mut next = 0;
        while next < self.states.len() {
            let values = self.values_to_read(next);
            let is_new = next == self.left.len();
            if is_new {
                self.left.push(values);
            }
            if is_new || self.left[next] != values {
                self.left[next] = values;
                self.read += values;
                budget.tick()?;
                if self.read > MAX_READ && self.most != usize::MAX {
                    return Err(Much::States);
                }
                self.expand(next)?;
            }
            next += 1;
        }
        Ok(())
    }

    /// How many values a state may read.
    fn values_to_read(&self, state: usize) -> usize {
        match &self.flow.nodes[self.states[state].0].node {
            Node::Load(_, place, _) | Node::Rmw(_, place, _, _) => {
                let first = place.first.index();
                let elements = &self.sets.borrow()[first..first + place.len as usize];
                elements.iter().flatten().map(BTreeSet::len).sum()
            }
            _ => 0,
        }
    }

    /// The next node at which a process may stand; a loop that has none stays as it is.
    fn past_structure(&self, node: NodeId) -> NodeId {
        let mut next = node;
        for _ in 0..self.flow.nodes.len() {
            if !self.flow.is_transparent(next) {
                return next;
            }
            next = self.flow.nodes[next].node.successors()[0];
        }
        node
    }

    fn state(&mut self, node: NodeId, mut registers: Registers) -> Result<usize, Much> {
        let node = self.past_structure(node);
        let (tracked, live) = (&self.found.tracked, &self.flow.live[node]);
        let none = |r: usize| tracked[r].then_some(0);
        if (0..registers.len()).any(|r| !live[r] && registers[r] != none(r)) {
            let mut kept = registers.to_vec();
            forget(self.flow, node, &mut kept, none);
            registers = kept.into();
        }
        let key = (node, registers);
        if let Some(&id) = self.found.ids.get(&key) {
            return Ok(id);
        }
        let id = self.states.len();
        if id >= self.most {
            return Err(Much::States);
        }
        self.found.labels.extend(&self.flow.nodes[node].labels);
        self.found.ids.insert(key.clone(), id);
        self.states.push(key);
        Ok(id)
    }

    fn expand(&mut self, from: usize) -> Result<(), Much> {
        let (node, registers) = self.states[from].clone();
        let flow = self.flow;
        let located = &flow.nodes[node];
        let span = located.span;
        let reads = matches!(located.node, Node::Load(..) | Node::Rmw(..));
        let go = |this: &mut Self, access, to, registers| {
            let to = this.state(to, registers)?;
            if let Some(test) = located.within {
                let is_left = flow.nodes[this.states[to].0].within != Some(test);
                *this.found.awaits.entry(test).or_default() |= is_left;
            }
            if !reads || this.seen.insert((from, to)) {
                this.found.steps.push(CodeStep { from, access, to });
            }
            Ok::<(), Much>(())
        };
        match &located.node {
            Node::End => {}
            Node::Jump(next) | Node::Goto(next) | Node::Nop(next) => {
                go(self, Access::Local, *next, registers)?;
            }
            Node::Fence(kind, next) => go(self, Access::Fence(*kind), *next, registers)?,
            Node::Choose(nexts) => {
                for next in nexts {
                    go(self, Access::Local, *next, registers.clone())?;
                }
            }
            Node::Any(r, values, next) => {
                for &value in values {
                    for registers in self.set(&registers, *r, &Value::Known(value), span)? {
                        go(self, Access::Local, *next, registers)?;
                    }
                }
            }
            Node::Call(ways) => {
                for (_, argument, next) in ways {
                    let Some((r, values)) = argument else {
                        go(self, Access::Local, *next, registers.clone())?;
                        continue;
                    };
                    for &value in values {
                        for registers in self.set(&registers, *r, &Value::Known(value), span)? {
                            go(self, Access::Local, *next, registers)?;
                        }
                    }
                }
            }
            Node::Return(_, code, next) => {
                if let Some(code) = code {
                    self.value(code, &registers, None, span);
                }
                go(self, Access::Local, *next, registers)?;
            }
            Node::Assign(r, code, next) => {
                let value = self.value(code, &registers, None, span);
                for registers in self.set(&registers, *r, &value, span)? {
                    go(self, Access::Local, *next, registers)?;
                }
            }
            Node::Branch(code, yes, no) => {
                let value = self.value(code, &registers, None, span);
                if !value.all(|v| v == 0) {
                    go(self, Access::Local, *yes, registers.clone())?;
                }
                if !value.all(|v| v != 0) {
                    go(self, Access::Local, *no, registers)?;
                }
            }
            Node::Assume(code, next) | Node::Assert(code, next) => {
                let value = self.value(code, &registers, None, span);
                if matches!(located.node, Node::Assert(..)) && !value.all(|v| v != 0) {
                    self.found.fails.get_or_insert(span);
                }
                if !value.all(|v| v == 0) {
                    go(self, Access::Local, *next, registers)?;
                }
            }
            Node::Store(place, code, next) => {
                let Some(elements) = self.elements(place, &registers, span) else {
                    return Ok(());
                };
                let value = self.value(code, &registers, None, span);
                if self.write(&elements, &value, span)? {
                    go(self, Access::Write(elements), *next, registers)?;
                }
            }
            Node::Load(r, place, next) => {
                let Some(elements) = self.elements(place, &registers, span) else {
                    return Ok(());
                };
                let read = self.read(&elements);
                for registers in self.set(&registers, *r, &read, span)? {
                    go(self, Access::Read(elements.clone()), *next, registers)?;
                }
            }
            Node::Rmw(r, place, rmw, next) => {
                let Some(elements) = self.elements(place, &registers, span) else {
                    return Ok(());
                };
                let given = self.given(*r, rmw, &elements, &registers, span)?;
                for registers in self.set(&registers, *r, &given, span)? {
                    go(self, Access::Arw(elements.clone()), *next, registers)?;
                }
            }
        }
        Ok(())
    }

    /// What code may be; notes that it may fail. A register may have a value `instead` of its own.
    fn value(
        &mut self,
        code: &Code,
        registers: &[Option<i128>],
        instead: Option<(RegId, i128)>,
        span: SpanId,
    ) -> Value {
        let mut is_known = true;
        let value = code.eval(&mut |r| match instead {
            Some((other, value)) if other == *r => value,
            _ => registers[r.index()].unwrap_or_else(|| {
                is_known = false;
                0
            }),
        });
        let (value, fails) = match value {
            _ if !is_known => (Value::Any, may_divide(code)),
            Ok(value) => (Value::Known(value), false),
            // Its result is not followed.
            Err(EvalError::Overflow) => (Value::Any, false),
            Err(EvalError::DivisionByZero | EvalError::Index(_)) => {
                (Value::Among(BTreeSet::new()), true)
            }
        };
        if fails {
            self.found.fails.get_or_insert(span);
        }
        value
    }

    /// What the register of an atomic read-write gets; notes what it writes.
    fn given(
        &mut self,
        r: RegId,
        rmw: &Rmw,
        elements: &Range<usize>,
        registers: &[Option<i128>],
        span: SpanId,
    ) -> Result<Value, Much> {
        let flag = matches!(rmw, Rmw::CasFlag { .. });
        let Some(old) = self.read(elements).values() else {
            let value = match rmw {
                Rmw::Cas { expected, new } | Rmw::CasFlag { expected, new } => {
                    self.value(expected, registers, None, span);
                    self.value(new, registers, None, span)
                }
                Rmw::Swap(new) => self.value(new, registers, None, span),
                Rmw::Fetch(op, code) => {
                    let operand = self.value(code, registers, None, span);
                    if may_fail(*op) && !operand.all(|v| op.apply(0, v).is_ok()) {
                        self.found.fails.get_or_insert(span);
                    }
                    Value::Any
                }
                Rmw::Update { when, new } => {
                    if may_divide(when) || may_divide(new) {
                        self.found.fails.get_or_insert(span);
                    }
                    Value::Any
                }
            };
            self.write(elements, &value, span)?;
            return Ok(if flag { Value::Among(BTreeSet::from([0, 1])) } else { Value::Any });
        };
        let mut given = BTreeSet::new();
        for a in old {
            let value = match rmw {
                Rmw::Cas { expected, new } | Rmw::CasFlag { expected, new } => {
                    let expected = self.value(expected, registers, None, span);
                    if !expected.all(|v| v == a) && self.write(elements, &Value::Known(a), span)? {
                        given.insert(if flag { 0 } else { a });
                    }
                    if !expected.all(|v| v != a) {
                        let new = self.value(new, registers, None, span);
                        if self.write(elements, &new, span)? {
                            given.insert(if flag { 1 } else { a });
                        }
                    }
                    continue;
                }
                Rmw::Swap(new) => self.value(new, registers, None, span),
                Rmw::Fetch(op, code) => match self.value(code, registers, None, span) {
                    Value::Known(b) => {
                        let code = Expr::binary(*op, Expr::Const(a), Expr::Const(b));
                        self.value(&code, registers, None, span)
                    }
                    operand => {
                        if may_fail(*op) && operand.values().is_none() {
                            self.found.fails.get_or_insert(span);
                        }
                        operand
                    }
                },
                Rmw::Update { when, new } => {
                    if self.value(when, registers, Some((r, a)), span).all(|v| v == 0) {
                        continue;
                    }
                    self.value(new, registers, Some((r, a)), span)
                }
            };
            if self.write(elements, &value, span)? {
                given.insert(a);
            }
        }
        Ok(Value::Among(given))
    }

    /// The variables that a place may be; notes that the index may be outside. `None` if it
    /// always is.
    fn elements(
        &mut self,
        place: &Place,
        registers: &[Option<i128>],
        span: SpanId,
    ) -> Option<Range<usize>> {
        let (first, len) = (place.first.index(), place.len as usize);
        let Some(index) = &place.index else { return Some(first..first + 1) };
        let value = self.value(index, registers, None, span);
        let inside = |i: i128| usize::try_from(i).is_ok_and(|i| i < len);
        if !value.all(inside) {
            self.found.fails.get_or_insert(span);
        }
        match value {
            Value::Known(i) => inside(i).then(|| first + i as usize..first + i as usize + 1),
            Value::Among(_) => None,
            Value::Any => Some(first..first + len),
        }
    }

    fn read(&self, elements: &Range<usize>) -> Value {
        let mut all = BTreeSet::new();
        for set in &self.sets.borrow()[elements.clone()] {
            match set {
                Some(values) => all.extend(values),
                None => return Value::Any,
            }
        }
        Value::Among(all)
    }

    /// Notes what is written, and that it may be outside the domain or the bound of a variable.
    /// Whether the process may go on.
    fn write(
        &mut self,
        elements: &Range<usize>,
        value: &Value,
        span: SpanId,
    ) -> Result<bool, Much> {
        let mut goes_on = false;
        for x in elements.clone() {
            let var = VarId::new(x);
            let domain = self.program.decl(var).0.domain;
            let bound = self.program.bounds.vars.get(&var).copied();
            let kept = self.kept(domain, bound, value, span);
            goes_on |= kept.as_ref().is_none_or(|kept| !kept.is_empty());
            let set = &mut self.sets.borrow_mut()[x];
            if let Some(set) = set.as_mut().filter(|_| self.follows_writes) {
                set.extend(kept.ok_or(Much::Written(var))?);
                let is_range = domain.is_some_and(|d| !matches!(d, Domain::Int(_)));
                if set.len() > if is_range { MAX_WRITTEN } else { MAX_COUNTED } {
                    return Err(Much::Written(var));
                }
            }
        }
        Ok(goes_on)
    }

    /// The registers after one of them got a value; notes that it may be outside of its
    /// domain or bound.
    fn set(
        &mut self,
        registers: &[Option<i128>],
        r: RegId,
        value: &Value,
        span: SpanId,
    ) -> Result<Vec<Registers>, Much> {
        let domain = self.program.processes[self.p.index()].registers[r.index()].domain;
        let bound = self.program.bounds.registers.get(&(self.p, r)).copied();
        let kept = self.kept(domain, bound, value, span);
        let with = |v: Option<i128>| {
            let mut registers = registers.to_vec();
            registers[r.index()] = v;
            Registers::from(registers)
        };
        if !self.found.tracked[r.index()] {
            let is_possible = kept.is_none_or(|kept| !kept.is_empty());
            return Ok(is_possible.then(|| with(None)).into_iter().collect());
        }
        let kept = kept.ok_or(Much::Anything(self.p, r))?;
        Ok(kept.into_iter().map(|v| with(Some(v))).collect())
    }

    /// What is kept of a value where a domain and a bound are declared; `None` if that may be
    /// anything. Notes that something may be outside.
    fn kept(
        &mut self,
        domain: Option<Domain>,
        bound: Option<(i128, i128)>,
        value: &Value,
        span: SpanId,
    ) -> Option<Vec<i128>> {
        let program = self.program;
        let fit = |v: i128| Program::fit(domain, v);
        let admits = |v: i128| domain.is_none_or(|d| program.admits(d, fit(v)));
        let within = |v: i128| bound.is_none_or(|b| (b.0..=b.1).contains(&fit(v)));
        if domain.is_some_and(|d| !d.wraps()) && !value.all(admits) {
            self.found.fails.get_or_insert(span);
        }
        if bound.is_some() && !value.all(within) {
            self.found.leaves.get_or_insert(span);
        }
        let all = value.values().or_else(|| {
            let few = domain.filter(|d| program.size(*d) <= FEW);
            let few = few.map(|d| program.values(d));
            few.or_else(|| bound.filter(|b| b.1.abs_diff(b.0) < FEW).map(|b| (b.0..=b.1).collect()))
        });
        Some(all?.into_iter().filter(|v| admits(*v) && within(*v)).map(fit).collect())
    }
}

/// Whether an operator may have no value, other than by overflow.
fn may_fail(op: BinOp) -> bool {
    matches!(op, BinOp::Div | BinOp::Mod | BinOp::Index)
}

/// Whether code has an operator that may have no value, other than by overflow.
fn may_divide(code: &Code) -> bool {
    match code {
        Expr::Const(_) | Expr::Atom(_) => false,
        Expr::Unary(_, e) => may_divide(e),
        Expr::Binary(BinOp::Index, ..) => true,
        Expr::Binary(BinOp::Div | BinOp::Mod, a, b) => {
            !matches!(**b, Expr::Const(c) if c != 0) || may_divide(a)
        }
        Expr::Binary(_, a, b) => may_divide(a) || may_divide(b),
    }
}
