//! What lies ahead of and behind a place of the code, before any search.
//!
//! Each process by itself, with reads that return any value that its variable may have
//! ([`Sets`]). A register is *tracked* if only few values can get there; others may hold
//! anything. If that makes too many states, only registers are tracked that never depend on a
//! read (loop counters, indices), and if those are too many as well, none.
//!
//! Every place of every run of the process is in here, with its tracked registers as they are
//! and nothing merged. So what cannot happen here cannot happen, and what has to come before a
//! fence here comes before it.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use super::local::forget;
use super::sets::Sets;
use crate::flow::{Flow, Node, NodeId};
use crate::graph;
use crate::ids::{LabelId, ProcessId, RegId, SpanId, VarId};
use crate::limits::{Budget, Stop};
use crate::program::{Code, FenceKind, Place, Program, Rmw};

/// A register is tracked if no more values can get there.
const FEW: usize = 64;

/// More states of one process are too many.
const MAX_STATES: usize = 20_000;

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
    ids: HashMap<(NodeId, Registers), usize>,
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
        sets: &Sets,
        budget: &Budget,
    ) -> Result<Self, Stop> {
        let registers = &sets.registers[p.index()];
        let few: Vec<bool> =
            registers.iter().map(|s| s.as_ref().is_some_and(|s| s.len() <= FEW)).collect();
        let free = independent(flow, few.len());
        let each =
            |f: fn(bool, bool) -> bool| few.iter().zip(&free).map(|(a, b)| f(*a, *b)).collect();
        let attempts = [each(|a, b| a || b), few.clone(), free.clone(), each(|a, b| a && b)];
        let explore = |tracked: Vec<bool>, most: usize| {
            Explorer { program, flow, p, sets, most, states: vec![] }.run(tracked, budget)
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
    sets: &'a Sets,
    /// The most states.
    most: usize,
    states: Vec<(NodeId, Registers)>,
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

    fn known(&self) -> Option<i128> {
        match self {
            Self::Known(v) => Some(*v),
            Self::Among(values) if values.len() == 1 => values.first().copied(),
            _ => None,
        }
    }
}

impl Explorer<'_> {
    /// `None` if there are too many states.
    fn run(mut self, tracked: Vec<bool>, budget: &Budget) -> Result<Option<Abstraction>, Stop> {
        let declared = &self.program.processes[self.p.index()].registers;
        let initial: Vec<Option<i128>> =
            declared.iter().zip(&tracked).map(|(r, t)| t.then_some(r.init)).collect();
        let mut found = Abstraction {
            tracked,
            ids: HashMap::new(),
            steps: vec![],
            labels: BTreeSet::new(),
            fails: None,
            leaves: None,
        };
        if self.state(&mut found, self.flow.entry, initial).is_none() {
            return Ok(None);
        }
        let mut next = 0;
        while next < self.states.len() {
            budget.tick()?;
            if self.expand(&mut found, next).is_none() {
                return Ok(None);
            }
            next += 1;
        }
        Ok(Some(found))
    }

    fn state(
        &mut self,
        found: &mut Abstraction,
        node: NodeId,
        mut registers: Vec<Option<i128>>,
    ) -> Option<usize> {
        forget(self.flow, node, &mut registers, |r| found.tracked[r].then_some(0));
        let key = (node, registers.into_boxed_slice());
        if let Some(&id) = found.ids.get(&key) {
            return Some(id);
        }
        let id = self.states.len();
        if id >= self.most {
            return None;
        }
        found.labels.extend(&self.flow.nodes[node].labels);
        found.ids.insert(key.clone(), id);
        self.states.push(key);
        Some(id)
    }

    fn expand(&mut self, found: &mut Abstraction, from: usize) -> Option<()> {
        let (node, registers) = self.states[from].clone();
        let registers = registers.into_vec();
        let flow = self.flow;
        let located = &flow.nodes[node];
        let span = located.span;
        let go = |this: &mut Self, found: &mut Abstraction, access, to, registers| {
            let to = this.state(found, to, registers)?;
            found.steps.push(CodeStep { from, access, to });
            Some(())
        };
        match &located.node {
            Node::End => {}
            Node::Jump(next) | Node::Goto(next) | Node::Nop(next) => {
                go(self, found, Access::Local, *next, registers)?;
            }
            Node::Fence(kind, next) => go(self, found, Access::Fence(*kind), *next, registers)?,
            Node::Choose(nexts) => {
                for next in nexts {
                    go(self, found, Access::Local, *next, registers.clone())?;
                }
            }
            Node::Any(r, values, next) => {
                for &value in values {
                    for registers in self.set(found, &registers, *r, &Value::Known(value), span) {
                        go(self, found, Access::Local, *next, registers)?;
                    }
                }
            }
            Node::Call(ways) => {
                for (_, argument, next) in ways {
                    let Some((r, values)) = argument else {
                        go(self, found, Access::Local, *next, registers.clone())?;
                        continue;
                    };
                    for &value in values {
                        for registers in self.set(found, &registers, *r, &Value::Known(value), span)
                        {
                            go(self, found, Access::Local, *next, registers)?;
                        }
                    }
                }
            }
            Node::Return(_, code, next) => {
                if let Some(code) = code {
                    self.value(found, code, &registers, None, span);
                }
                go(self, found, Access::Local, *next, registers)?;
            }
            Node::Assign(r, code, next) => {
                let value = self.value(found, code, &registers, None, span);
                for registers in self.set(found, &registers, *r, &value, span) {
                    go(self, found, Access::Local, *next, registers)?;
                }
            }
            Node::Branch(code, yes, no) => {
                let value = self.value(found, code, &registers, None, span);
                if !value.all(|v| v == 0) {
                    go(self, found, Access::Local, *yes, registers.clone())?;
                }
                if !value.all(|v| v != 0) {
                    go(self, found, Access::Local, *no, registers)?;
                }
            }
            Node::Assume(code, next) | Node::Assert(code, next) => {
                let value = self.value(found, code, &registers, None, span);
                if matches!(located.node, Node::Assert(..)) && !value.all(|v| v != 0) {
                    found.fails.get_or_insert(span);
                }
                if !value.all(|v| v == 0) {
                    go(self, found, Access::Local, *next, registers)?;
                }
            }
            Node::Store(place, code, next) => {
                let elements = self.elements(found, place, &registers, span);
                let value = self.value(found, code, &registers, None, span);
                self.write(found, &elements, &value, span);
                go(self, found, Access::Write(elements), *next, registers)?;
            }
            Node::Load(r, place, next) => {
                let elements = self.elements(found, place, &registers, span);
                let read = self.read(&elements);
                for registers in self.set(found, &registers, *r, &read, span) {
                    go(self, found, Access::Read(elements.clone()), *next, registers)?;
                }
            }
            Node::Rmw(r, place, rmw, next) => {
                let elements = self.elements(found, place, &registers, span);
                let old = self.read(&elements);
                self.written(found, (*r, rmw), &old, &elements, &registers, span);
                let given = match rmw {
                    Rmw::CasFlag { .. } => Value::Among(BTreeSet::from([0, 1])),
                    _ => old,
                };
                for registers in self.set(found, &registers, *r, &given, span) {
                    go(self, found, Access::Arw(elements.clone()), *next, registers)?;
                }
            }
        }
        Some(())
    }

    /// What code may be; notes that it may fail.
    fn value(
        &self,
        found: &mut Abstraction,
        code: &Code,
        registers: &[Option<i128>],
        instead: Option<(RegId, &BTreeSet<i128>)>,
        span: SpanId,
    ) -> Value {
        match self.sets.values(self.p, code, |r| registers[r.index()], instead) {
            Some((values, fails)) => {
                if fails {
                    found.fails.get_or_insert(span);
                }
                match values.first() {
                    Some(value) if values.len() == 1 => Value::Known(*value),
                    _ => Value::Among(values),
                }
            }
            None => {
                if may_divide(code) {
                    found.fails.get_or_insert(span);
                }
                Value::Any
            }
        }
    }

    /// What an atomic read-write writes: only whether that may fail is of interest.
    fn written(
        &self,
        found: &mut Abstraction,
        (r, rmw): (RegId, &Rmw),
        old: &Value,
        elements: &Range<usize>,
        registers: &[Option<i128>],
        span: SpanId,
    ) {
        let value = match rmw {
            Rmw::Cas { expected, new } | Rmw::CasFlag { expected, new } => {
                self.value(found, expected, registers, None, span);
                self.value(found, new, registers, None, span)
            }
            Rmw::Swap(new) => self.value(found, new, registers, None, span),
            Rmw::Fetch(op, code) => {
                let operand = self.value(found, code, registers, None, span);
                let mut all = Some(BTreeSet::new());
                let known = |v: &Value| match v {
                    Value::Known(v) => Some(BTreeSet::from([*v])),
                    Value::Among(values) => Some(values.clone()),
                    Value::Any => None,
                };
                match known(old).zip(known(&operand)) {
                    Some((old, operands)) if old.len() * operands.len() <= 1 << 16 => {
                        for a in &old {
                            for b in &operands {
                                match op.apply(*a, *b) {
                                    Ok(v) => drop(all.as_mut().map(|all| all.insert(v))),
                                    Err(_) => drop(found.fails.get_or_insert(span)),
                                }
                            }
                        }
                    }
                    _ => all = None,
                }
                all.map_or(Value::Any, Value::Among)
            }
            Rmw::Update { when, new } => {
                let read = match old {
                    Value::Known(v) => Some(BTreeSet::from([*v])),
                    Value::Among(values) => Some(values.clone()),
                    Value::Any => None,
                };
                match &read {
                    Some(read) => {
                        // Only values for which it does not wait are written.
                        let passes = |v: &&i128| {
                            let one = BTreeSet::from([**v]);
                            let when = self.sets.values(
                                self.p,
                                when,
                                |s| registers[s.index()],
                                Some((r, &one)),
                            );
                            when.is_none_or(|(values, fails)| {
                                fails || values.iter().any(|v| *v != 0)
                            })
                        };
                        let passing: BTreeSet<i128> = read.iter().filter(passes).copied().collect();
                        self.value(found, when, registers, Some((r, read)), span);
                        self.value(found, new, registers, Some((r, &passing)), span)
                    }
                    None => {
                        if may_divide(when) || may_divide(new) {
                            found.fails.get_or_insert(span);
                        }
                        Value::Any
                    }
                }
            }
        };
        self.write(found, elements, &value, span);
    }

    /// The variables that a place may be; notes that the index may be outside.
    fn elements(
        &self,
        found: &mut Abstraction,
        place: &Place,
        registers: &[Option<i128>],
        span: SpanId,
    ) -> Range<usize> {
        let (first, len) = (place.first.index(), place.len as usize);
        let Some(index) = &place.index else { return first..first + 1 };
        let value = self.value(found, index, registers, None, span);
        let inside = |i: i128| usize::try_from(i).is_ok_and(|i| i < len);
        if !value.all(inside) {
            found.fails.get_or_insert(span);
        }
        match value.known().filter(|i| inside(*i)) {
            Some(i) => first + i as usize..first + i as usize + 1,
            None => first..first + len,
        }
    }

    fn read(&self, elements: &Range<usize>) -> Value {
        let mut all = BTreeSet::new();
        for x in elements.clone() {
            match &self.sets.vars[x] {
                Some(values) => all.extend(values),
                None => return Value::Any,
            }
        }
        Value::Among(all)
    }

    /// Notes that what is written may be outside the domain or the bound of a variable.
    fn write(&self, found: &mut Abstraction, elements: &Range<usize>, value: &Value, span: SpanId) {
        for x in elements.clone() {
            let var = VarId::new(x);
            if let Some(domain) = self.program.decl(var).0.domain
                && !value.all(|v| self.program.admits(domain, Program::fit(Some(domain), v)))
            {
                found.fails.get_or_insert(span);
            }
            if let Some(bound) = self.program.bounds.vars.get(&var)
                && !value.all(|v| {
                    let stored = Program::fit(self.program.decl(var).0.domain, v);
                    (bound.0..=bound.1).contains(&stored)
                })
            {
                found.leaves.get_or_insert(span);
            }
        }
    }

    /// The registers after one of them got a value; notes that it may be outside of its
    /// domain or bound.
    fn set(
        &self,
        found: &mut Abstraction,
        registers: &[Option<i128>],
        r: RegId,
        value: &Value,
        span: SpanId,
    ) -> Vec<Vec<Option<i128>>> {
        let domain = self.program.processes[self.p.index()].registers[r.index()].domain;
        let bound = self.program.bounds.registers.get(&(self.p, r));
        let fit = |v: i128| Program::fit(domain, v);
        let admits = |v: i128| domain.is_none_or(|d| self.program.admits(d, fit(v)));
        let within = |v: i128| bound.is_none_or(|b| (b.0..=b.1).contains(&fit(v)));
        if domain.is_some() && !value.all(admits) {
            found.fails.get_or_insert(span);
        }
        if bound.is_some() && !value.all(within) {
            found.leaves.get_or_insert(span);
        }
        let with = |v: Option<i128>| {
            let mut registers = registers.to_vec();
            registers[r.index()] = v;
            registers
        };
        if !found.tracked[r.index()] {
            return vec![with(None)];
        }
        let all = match value {
            Value::Known(v) => vec![*v],
            Value::Among(values) => values.iter().copied().collect(),
            // It is tracked, so the set of all that gets there is known.
            Value::Any => {
                let set = self.sets.registers[self.p.index()][r.index()].as_ref();
                set.expect("a tracked register has a set").iter().copied().collect()
            }
        };
        all.into_iter().filter(|v| admits(*v) && within(*v)).map(|v| with(Some(fit(v)))).collect()
    }
}

/// Whether code has an operator that may have no value, other than by overflow.
fn may_divide(code: &Code) -> bool {
    use crate::program::{BinOp, Expr};
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
