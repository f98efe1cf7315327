//! What lies ahead of and behind a place of the code, before any search.
//!
//! Each process by itself, with reads that return any value that its variable may have. The
//! first attempt keeps every register, and a variable may have what the processes write as far
//! as they have been followed ([`exact`]). If that is too much, variables and registers have the
//! values that can arise whatever the control flow ([`Sets`]), and only some registers are
//! *tracked*: those to which only few values get, or which never depend on a read (loop
//! counters, indices); if those make too many states as well, none.
//!
//! Every place of every run of the process is in here, with its tracked registers as they are
//! and nothing merged. So what cannot happen here cannot happen, and what has to come before a
//! fence here comes before it.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};

use super::local::forget;
use super::sets::Sets;
use crate::flow::{Flow, Node, NodeId};
use crate::graph;
use crate::ids::{LabelId, ProcessId, RegId, SpanId, VarId};
use crate::limits::{Budget, Stop};
use crate::program::{BinOp, Code, Domain, EvalError, Expr, FenceKind, Place, Program, Rmw};

/// A register is tracked if no more values can get there.
const FEW: usize = 64;

/// More states of one process are too many.
const MAX_STATES: usize = 20_000;

/// More states of all processes together, with every register kept, are too many.
const MAX_EXACT: usize = 10_000;

/// A variable to which more values are written has too many to follow them one by one, if it
/// has a declared domain.
const MAX_WRITTEN: usize = 256;

/// The same for a variable without a domain: it may be counted without end.
const MAX_COUNTED: usize = 32;

/// The most values that are read on the way.
const MAX_READ: usize = 200_000;

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

type Registers = Box<[Option<i128>]>;

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
}

impl Abstraction {
    /// # Errors
    /// If a limit is reached.
    pub(super) fn new(
        program: &Program,
        flow: &Flow,
        p: ProcessId,
        sets: &RefCell<Sets>,
        budget: &Budget,
    ) -> Result<Self, Stop> {
        let is_small = |s: &super::sets::Set| s.as_ref().is_some_and(|s| s.len() <= FEW);
        let few: Vec<bool> = sets.borrow().registers[p.index()].iter().map(is_small).collect();
        let free = independent(flow, few.len());
        let each =
            |f: fn(bool, bool) -> bool| few.iter().zip(&free).map(|(a, b)| f(*a, *b)).collect();
        let attempts = [each(|a, b| a || b), few.clone(), free.clone(), each(|a, b| a && b)];
        let explore = |tracked: Vec<bool>, most: usize| {
            let mut explorer = Explorer::new(program, flow, p, sets, tracked);
            explorer.most = most;
            Ok::<_, Stop>(explorer.goes_on(budget)?.then_some(explorer.found))
        };
        for tracked in attempts {
            if let Some(found) = explore(tracked, MAX_STATES)? {
                return Ok(found);
            }
        }
        // Without registers there are no more states than nodes.
        Ok(explore(vec![false; few.len()], usize::MAX)?.expect("one per node"))
    }

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

/// All processes with every register, where a read returns what some process may have written;
/// and what may be written to each variable. `None` if that is too much.
///
/// # Errors
/// If a limit is reached.
pub(super) fn exact(
    program: &Program,
    flows: &[Flow],
    budget: &Budget,
) -> Result<Option<(Vec<Abstraction>, Sets)>, Stop> {
    let sets = RefCell::new(Sets::initial(program));
    let mut explorers = Vec::with_capacity(flows.len());
    for (p, flow) in flows.iter().enumerate() {
        let tracked = vec![true; program.processes[p].registers.len()];
        let mut explorer = Explorer::new(program, flow, ProcessId::new(p), &sets, tracked);
        explorer.follows_writes = true;
        explorers.push(explorer);
    }
    loop {
        let known = |e: &Explorer<'_>| e.states.len() + e.found.steps.len();
        let before: usize = explorers.iter().map(known).sum();
        let written = sets.borrow().written();
        for i in 0..explorers.len() {
            let others: usize = explorers.iter().map(|e| e.states.len()).sum();
            explorers[i].most = (MAX_EXACT + explorers[i].states.len()).saturating_sub(others);
            if !explorers[i].goes_on(budget)? {
                return Ok(None);
            }
        }
        if written == sets.borrow().written() && before == explorers.iter().map(known).sum() {
            break;
        }
    }
    let found = explorers.into_iter().map(|e| e.found).collect();
    Ok(Some((found, sets.into_inner())))
}

/// Registers that never depend on a read.
fn independent(flow: &Flow, registers: usize) -> Vec<bool> {
    let mut free = vec![true; registers];
    loop {
        let before = free.clone();
        for located in &flow.nodes {
            match &located.node {
                Node::Load(r, ..) | Node::Rmw(r, ..) => free[r.index()] = false,
                Node::Assign(r, code, _) => {
                    let mut depends = false;
                    code.atoms(&mut |s| depends |= !before[s.index()]);
                    if depends {
                        free[r.index()] = false;
                    }
                }
                _ => {}
            }
        }
        if free == before {
            return free;
        }
    }
}

struct Explorer<'a> {
    program: &'a Program,
    flow: &'a Flow,
    p: ProcessId,
    sets: &'a RefCell<Sets>,
    /// Whether what is written is added to the sets.
    follows_writes: bool,
    /// The most states.
    most: usize,
    /// How many values were read.
    read: usize,
    states: Vec<(NodeId, Registers)>,
    /// For each state how many values there were to read when it was left last.
    left: Vec<usize>,
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
    fn values(&self) -> Option<BTreeSet<i128>> {
        match self {
            Self::Known(v) => Some(BTreeSet::from([*v])),
            Self::Among(values) => Some(values.clone()),
            Self::Any => None,
        }
    }

    fn known(&self) -> Option<i128> {
        match self {
            Self::Known(v) => Some(*v),
            Self::Among(values) if values.len() == 1 => values.first().copied(),
            _ => None,
        }
    }
}

impl<'a> Explorer<'a> {
    fn new(
        program: &'a Program,
        flow: &'a Flow,
        p: ProcessId,
        sets: &'a RefCell<Sets>,
        tracked: Vec<bool>,
    ) -> Self {
        let declared = &program.processes[p.index()].registers;
        let initial: Vec<Option<i128>> =
            declared.iter().zip(&tracked).map(|(r, t)| t.then_some(r.init)).collect();
        let found = Abstraction {
            tracked,
            ids: FxHashMap::default(),
            steps: vec![],
            labels: BTreeSet::new(),
            fails: None,
            leaves: None,
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
        explorer.state(flow.entry, initial);
        explorer
    }

    /// Follows the process from all states that it has not been followed from, or that read
    /// more than before. Whether there are not too many.
    fn goes_on(&mut self, budget: &Budget) -> Result<bool, Stop> {
        let mut next = 0;
        while next < self.states.len() {
            let values = self.values_to_read(next);
            if self.left.get(next) != Some(&values) {
                self.left.truncate(self.left.len().max(next));
                match self.left.get_mut(next) {
                    Some(before) => *before = values,
                    None => self.left.push(values),
                }
                self.read += values;
                budget.tick()?;
                if self.read > MAX_READ && self.follows_writes || self.expand(next).is_none() {
                    return Ok(false);
                }
            }
            next += 1;
        }
        Ok(true)
    }

    /// How many values a state may read.
    fn values_to_read(&self, state: usize) -> usize {
        match &self.flow.nodes[self.states[state].0].node {
            Node::Load(_, place, _) | Node::Rmw(_, place, _, _) => {
                let first = place.first.index();
                let sets = self.sets.borrow();
                let elements = &sets.vars[first..first + place.len as usize];
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

    fn state(&mut self, node: NodeId, mut registers: Vec<Option<i128>>) -> Option<usize> {
        let node = self.past_structure(node);
        let tracked = &self.found.tracked;
        forget(self.flow, node, &mut registers, |r| tracked[r].then_some(0));
        let key = (node, registers.into_boxed_slice());
        if let Some(&id) = self.found.ids.get(&key) {
            return Some(id);
        }
        let id = self.states.len();
        if id >= self.most {
            return None;
        }
        self.found.labels.extend(&self.flow.nodes[node].labels);
        self.found.ids.insert(key.clone(), id);
        self.states.push(key);
        Some(id)
    }

    fn expand(&mut self, from: usize) -> Option<()> {
        let (node, registers) = self.states[from].clone();
        let registers = registers.into_vec();
        let flow = self.flow;
        let located = &flow.nodes[node];
        let span = located.span;
        let reads = matches!(located.node, Node::Load(..) | Node::Rmw(..));
        let go = |this: &mut Self, access, to, registers| {
            let to = this.state(to, registers)?;
            // A state that reads may be left more than once.
            if !(this.follows_writes && reads) || this.seen.insert((from, to)) {
                this.found.steps.push(CodeStep { from, access, to });
            }
            Some(())
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
                    return Some(());
                };
                let value = self.value(code, &registers, None, span);
                if self.write(&elements, &value, span)? {
                    go(self, Access::Write(elements), *next, registers)?;
                }
            }
            Node::Load(r, place, next) => {
                let Some(elements) = self.elements(place, &registers, span) else {
                    return Some(());
                };
                let read = self.read(&elements);
                for registers in self.set(&registers, *r, &read, span)? {
                    go(self, Access::Read(elements.clone()), *next, registers)?;
                }
            }
            Node::Rmw(r, place, rmw, next) => {
                let Some(elements) = self.elements(place, &registers, span) else {
                    return Some(());
                };
                let old = self.read(&elements);
                let given = self.written((*r, rmw), old, &elements, &registers, span)?;
                for registers in self.set(&registers, *r, &given, span)? {
                    go(self, Access::Arw(elements.clone()), *next, registers)?;
                }
            }
        }
        Some(())
    }

    /// What code may be; notes that it may fail.
    fn value(
        &mut self,
        code: &Code,
        registers: &[Option<i128>],
        instead: Option<(RegId, &BTreeSet<i128>)>,
        span: SpanId,
    ) -> Value {
        match self.sets.borrow().values(self.p, code, |r| registers[r.index()], instead) {
            Some((values, fails)) => {
                if fails {
                    self.found.fails.get_or_insert(span);
                }
                match values.first() {
                    Some(value) if values.len() == 1 => Value::Known(*value),
                    _ => Value::Among(values),
                }
            }
            None => {
                if may_divide(code) {
                    self.found.fails.get_or_insert(span);
                }
                Value::Any
            }
        }
    }

    /// What the register of an atomic read-write gets; notes what it writes. `None` if that is
    /// too much.
    fn written(
        &mut self,
        (r, rmw): (RegId, &Rmw),
        old: Value,
        elements: &Range<usize>,
        registers: &[Option<i128>],
        span: SpanId,
    ) -> Option<Value> {
        let flag = matches!(rmw, Rmw::CasFlag { .. });
        let Value::Among(old) = old else {
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
            return Some(if flag { Value::Among(BTreeSet::from([0, 1])) } else { Value::Any });
        };
        let mut given = BTreeSet::new();
        for a in old {
            let one = BTreeSet::from([a]);
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
                Rmw::Fetch(op, code) => {
                    let operand = self.value(code, registers, None, span);
                    let mut results = Some(BTreeSet::new());
                    let mut fails = may_fail(*op) && operand.values().is_none();
                    for b in operand.values().unwrap_or_default() {
                        match op.apply(a, b) {
                            Ok(value) => results.iter_mut().for_each(|all| all.extend([value])),
                            Err(EvalError::Overflow) => results = None,
                            Err(EvalError::DivisionByZero | EvalError::Index(_)) => fails = true,
                        }
                    }
                    if fails {
                        self.found.fails.get_or_insert(span);
                    }
                    let results = results.filter(|_| operand.values().is_some());
                    results.map_or(Value::Any, Value::Among)
                }
                Rmw::Update { when, new } => {
                    let passes = self.value(when, registers, Some((r, &one)), span);
                    if passes.all(|v| v == 0) {
                        continue;
                    }
                    self.value(new, registers, Some((r, &one)), span)
                }
            };
            if self.write(elements, &value, span)? {
                given.insert(a);
            }
        }
        Some(Value::Among(given))
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
        match value.known() {
            Some(i) => inside(i).then(|| first + i as usize..first + i as usize + 1),
            None => Some(first..first + len),
        }
    }

    fn read(&self, elements: &Range<usize>) -> Value {
        let mut all = BTreeSet::new();
        for x in elements.clone() {
            match &self.sets.borrow().vars[x] {
                Some(values) => all.extend(values),
                None => return Value::Any,
            }
        }
        Value::Among(all)
    }

    /// Notes what is written, and that it may be outside the domain or the bound of a variable.
    /// Whether the process may go on; `None` if there is too much of it.
    fn write(&mut self, elements: &Range<usize>, value: &Value, span: SpanId) -> Option<bool> {
        let mut goes_on = false;
        for x in elements.clone() {
            let var = VarId::new(x);
            let domain = self.program.decl(var).0.domain;
            let bound = self.program.bounds.vars.get(&var);
            let fit = |v: i128| Program::fit(domain, v);
            let admits = |v: i128| domain.is_none_or(|d| self.program.admits(d, fit(v)));
            let within = |v: i128| bound.is_none_or(|b| (b.0..=b.1).contains(&fit(v)));
            if domain.is_some_and(|d| !d.wraps()) && !value.all(admits) {
                self.found.fails.get_or_insert(span);
            }
            if bound.is_some() && !value.all(within) {
                self.found.leaves.get_or_insert(span);
            }
            goes_on |= !value.all(|v| !(admits(v) && within(v)));
            if self.follows_writes {
                let mut sets = self.sets.borrow_mut();
                let set = sets.vars[x].as_mut()?;
                let values = value.values()?.into_iter();
                set.extend(values.filter(|v| admits(*v) && within(*v)).map(fit));
                let is_bounded = domain.is_some_and(|d| !matches!(d, Domain::Int(_)));
                if set.len() > if is_bounded { MAX_WRITTEN } else { MAX_COUNTED } {
                    return None;
                }
            }
        }
        Some(goes_on)
    }

    /// The registers after one of them got a value; notes that it may be outside of its
    /// domain or bound. `None` if there are too many values.
    fn set(
        &mut self,
        registers: &[Option<i128>],
        r: RegId,
        value: &Value,
        span: SpanId,
    ) -> Option<Vec<Vec<Option<i128>>>> {
        let domain = self.program.processes[self.p.index()].registers[r.index()].domain;
        let bound = self.program.bounds.registers.get(&(self.p, r));
        let fit = |v: i128| Program::fit(domain, v);
        let admits = |v: i128| domain.is_none_or(|d| self.program.admits(d, fit(v)));
        let within = |v: i128| bound.is_none_or(|b| (b.0..=b.1).contains(&fit(v)));
        if domain.is_some_and(|d| !d.wraps()) && !value.all(admits) {
            self.found.fails.get_or_insert(span);
        }
        if bound.is_some() && !value.all(within) {
            self.found.leaves.get_or_insert(span);
        }
        let with = |v: Option<i128>| {
            let mut registers = registers.to_vec();
            registers[r.index()] = v;
            registers
        };
        if !self.found.tracked[r.index()] {
            return Some(vec![with(None)]);
        }
        let all = match value {
            Value::Known(v) => vec![*v],
            Value::Among(values) => values.iter().copied().collect(),
            Value::Any => {
                let sets = self.sets.borrow();
                let set = sets.registers[self.p.index()][r.index()].as_ref();
                set?.iter().copied().collect()
            }
        };
        let kept = all.into_iter().filter(|v| admits(*v) && within(*v));
        Some(kept.map(|v| with(Some(fit(v)))).collect())
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
