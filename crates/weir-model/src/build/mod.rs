//! From a program to a system: which control states and values there can be.
//!
//! The value analysis and the construction of the automata are one work list.
//! A control state is a node of the control flow with the values of the live
//! registers; a load has a transition for each value that its variable is
//! known to take, and a store adds a value, which sends every state that loads
//! the variable back to work. The result over-approximates: a value is kept if
//! some process could write it, were every read to return any kept value.
//!
//! So `x = x + 1` would make endlessly many values even where it runs once. To
//! keep what ends, each state and value has a *depth*: the number of stores that
//! run at most once (they are in no loop) on a chain of writes and reads that
//! leads to it. A chain cannot use one of them twice, so what is deeper than
//! there are such stores cannot be. Work is done in the order of depth, which
//! makes the depth that is found first the least.
//!
//! Code between two steps that others can tell apart runs at once, inside the
//! transition that leads to it. A process is seen standing only before a step,
//! before a choice, at a label that a property asks about, and before an
//! assignment to a register that a `never` asks about.

pub(crate) mod depth;
mod watch;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap, HashSet};

use self::watch::Watch;
use crate::flow::{Flow, Node, NodeId};
use crate::ids::{LabelId, ProcessId, RegId, SpanId, StateId, ValueId, VarId};
use crate::program::{Code, Domain, EvalError, Place, Program, Rmw};
use crate::system::{
    Automaton, BuildError, Excess, Failure, MAX_CELLS, MAX_STATES, MAX_VALUES, Mark, Op, State,
    StateKind, System, Transition, Variable,
};

/// The most transitions that one process may have.
const MAX_TRANSITIONS: usize = 2_000_000;

/// The most code that runs between two steps before it counts as endless.
const MAX_SILENT: usize = 1_000_000;

/// Whether the rounds of an `await` that change nothing are transitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rounds {
    /// They are: waiting takes steps.
    Kept,
    /// They are not: nothing new is reached by them.
    Left,
}

pub(crate) fn build(program: Program, rounds: Rounds) -> Result<System, BuildError> {
    let (vars, processes) = {
        let watch = Watch::new(&program);
        let flows: Vec<Flow<'_>> = program
            .processes
            .iter()
            .enumerate()
            .map(|(p, process)| Flow::new(process, &watch.labels[p], &watch.kept[p]))
            .collect();
        Builder::new(&program, &flows, &watch, rounds).run()?
    };
    let mut program = program;
    watch::ask_for_assertions(&mut program, &processes);
    let bounded = watch::ask_for_bounds(&mut program, &processes);
    Ok(System { program, vars, processes, bounded })
}

/// A control state while it is being built.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    node: NodeId,
    registers: Vec<i64>,
    stop: Option<Stop>,
}

/// Why a process goes no further.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Stop {
    Failed(Failure),
    Left(Excess),
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

/// An operation with its values as numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum RawOp {
    Nop,
    Read(VarId, i64),
    Write(VarId, i64),
    Arw(VarId, i64, i64),
    Fence(crate::program::FenceKind),
}

/// What a transition does, where it leads, whether it waits, and what it marks.
type RawTransition = (RawOp, StateId, bool, Option<Mark>, SpanId);

#[derive(Default)]
struct RawAutomaton {
    ids: HashMap<Key, StateId>,
    keys: Vec<Key>,
    depths: Vec<usize>,
    outgoing: BTreeMap<StateId, Vec<RawTransition>>,
    seen: HashSet<(StateId, RawOp, StateId, bool, Option<Mark>)>,
    /// The values that each register was seen with.
    register_values: Vec<HashSet<i64>>,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Task {
    Expand(ProcessId, StateId),
    /// A state that loads from the variable learns of a value.
    Learn(ProcessId, StateId, VarId, i64),
}

struct Builder<'a> {
    program: &'a Program,
    flows: &'a [Flow<'a>],
    watch: &'a Watch,
    rounds: Rounds,
    domains: Vec<Option<Domain>>,
    /// The values of each variable, with their depth.
    values: Vec<BTreeMap<i64, usize>>,
    /// The states that load from each variable.
    readers: Vec<Vec<(ProcessId, StateId)>>,
    automata: Vec<RawAutomaton>,
    /// What is to be done, least depth first, then in the order of arrival.
    work: BinaryHeap<Reverse<(usize, usize, Task)>>,
    arrivals: usize,
    /// The depth of what is being done.
    depth: usize,
    /// For each process and node, 1 for a store that runs at most once.
    weights: Vec<Vec<usize>>,
    /// No depth is larger than this.
    max_depth: usize,
}

/// Where a process came to stand.
struct Settled {
    key: Key,
    /// The `await` that it never left on the way, if any.
    within: Option<NodeId>,
}

/// What became of code that ran.
enum Ran {
    /// It goes on at the node.
    On(NodeId),
    /// An `assume` does not hold.
    Blocked,
    Stopped(Stop),
}

impl<'a> Builder<'a> {
    fn new(program: &'a Program, flows: &'a [Flow<'a>], watch: &'a Watch, rounds: Rounds) -> Self {
        let (weights, max_depth) = depth::weigh(flows);
        let mut domains = Vec::new();
        let mut values = Vec::new();
        for decl in &program.vars {
            for init in &decl.init {
                domains.push(decl.domain);
                values.push(init.iter().map(|&v| (v, 0)).collect());
            }
        }
        Self {
            program,
            flows,
            watch,
            rounds,
            readers: vec![vec![]; domains.len()],
            domains,
            values,
            automata: program
                .processes
                .iter()
                .map(|p| RawAutomaton {
                    register_values: vec![HashSet::new(); p.registers.len()],
                    ..RawAutomaton::default()
                })
                .collect(),
            work: BinaryHeap::new(),
            arrivals: 0,
            depth: 0,
            max_depth,
            weights,
        }
    }

    /// Puts off a task.
    fn later(&mut self, depth: usize, task: Task) {
        self.arrivals += 1;
        self.work.push(Reverse((depth, self.arrivals, task)));
    }

    fn run(mut self) -> Result<(Vec<Variable>, Vec<Automaton>), BuildError> {
        for p in 0..self.program.processes.len() {
            let process = ProcessId::new(p);
            let registers = self.program.processes[p].registers.iter().map(|r| r.init).collect();
            let settled = self.settle(process, self.flows[p].entry, registers)?;
            self.state(process, settled.key)?;
        }
        while let Some(Reverse((depth, _, task))) = self.work.pop() {
            self.depth = depth;
            match task {
                Task::Expand(p, s) => self.expand(p, s)?,
                Task::Learn(p, s, x, v) => self.learn(p, s, x, v)?,
            }
        }
        self.finish()
    }

    /// The id of a control state, new or known.
    fn state(&mut self, process: ProcessId, key: Key) -> Result<StateId, BuildError> {
        let automaton = &mut self.automata[process.index()];
        if let Some(&id) = automaton.ids.get(&key) {
            return Ok(id);
        }
        if automaton.keys.len() >= MAX_STATES {
            return Err(self.too_large(process, "control states", MAX_STATES));
        }
        let automaton = &mut self.automata[process.index()];
        let id = StateId::new(automaton.keys.len());
        automaton.keys.push(key.clone());
        automaton.ids.insert(key, id);
        automaton.depths.push(self.depth);
        self.later(self.depth, Task::Expand(process, id));
        Ok(id)
    }

    fn too_large(&self, process: ProcessId, what: &str, limit: usize) -> BuildError {
        let declared = &self.program.processes[process.index()];
        let mut registers: Vec<_> = self.automata[process.index()]
            .register_values
            .iter()
            .zip(&declared.registers)
            .filter(|(values, _)| values.len() > 1)
            .map(|(values, r)| (values.len(), &r.name))
            .collect();
        registers.sort_by(|a, b| b.cmp(a));
        let counts: Vec<_> = registers
            .iter()
            .take(4)
            .map(|(n, name)| format!("`{name}` takes {n} values"))
            .collect();
        BuildError {
            message: format!("process `{}` has more than {limit} {what}", declared.name),
            span: declared.body.first().map_or(SpanId::NONE, |s| s.span),
            help: if counts.is_empty() {
                "split it into several processes".to_owned()
            } else {
                format!("every combination of register values counts: {}", counts.join(", "))
            },
            unbounded: None,
        }
    }

    fn add(
        &mut self,
        process: ProcessId,
        from: StateId,
        op: RawOp,
        to: Settled,
        span: SpanId,
    ) -> Result<(), BuildError> {
        self.add_marked(process, from, op, to, None, span)
    }

    fn add_marked(
        &mut self,
        process: ProcessId,
        from: StateId,
        op: RawOp,
        to: Settled,
        mark: Option<Mark>,
        span: SpanId,
    ) -> Result<(), BuildError> {
        let key = &self.automata[process.index()].keys[from.index()];
        let within = self.flows[process.index()].nodes[key.node].within;
        let waits = within.is_some() && to.within == within;
        let to = self.state(process, to.key)?;
        if waits && from == to && self.rounds == Rounds::Left {
            // A round of an `await` that changes nothing: no step is needed to wait.
            return Ok(());
        }
        let automaton = &mut self.automata[process.index()];
        if automaton.seen.insert((from, op, to, waits, mark)) {
            if automaton.seen.len() > MAX_TRANSITIONS {
                return Err(self.too_large(process, "transitions", MAX_TRANSITIONS));
            }
            automaton.outgoing.entry(from).or_default().push((op, to, waits, mark, span));
        }
        Ok(())
    }

    /// Evaluates code; an overflow means that some value has no bound.
    fn eval(
        &self,
        code: &Code,
        registers: &[i64],
        span: SpanId,
    ) -> Result<Result<i64, Stop>, BuildError> {
        match code.eval(&mut |r| registers[r.index()]) {
            Ok(value) => Ok(Ok(value)),
            Err(EvalError::DivisionByZero) => Ok(Err(Failure::DivisionByZero.into())),
            Err(EvalError::Overflow) => Err(BuildError {
                message: "a value computed here does not fit 64 bits".to_owned(),
                span,
                help: "bound it: give its variables a domain, or compute modulo some number"
                    .to_owned(),
                unbounded: None,
            }),
        }
    }

    /// Sets a register, if its domain admits the value.
    fn set(
        &mut self,
        process: ProcessId,
        reg: RegId,
        value: i64,
        registers: &mut [i64],
        span: SpanId,
    ) -> Result<Result<(), Stop>, BuildError> {
        let declared = &self.program.processes[process.index()].registers[reg.index()];
        if declared.domain.is_some_and(|d| !self.program.admits(d, value)) {
            return Ok(Err(Failure::Domain(declared.display.clone(), value).into()));
        }
        if let Some(&bound) = self.program.bounds.registers.get(&(process, reg))
            && !(bound.0..=bound.1).contains(&value)
        {
            let name = declared.display.clone();
            return Ok(Err(Stop::Left(Excess { name, value, bound })));
        }
        let seen = &mut self.automata[process.index()].register_values[reg.index()];
        if seen.insert(value) && seen.len() > MAX_VALUES {
            return Err(unbounded("register", &declared.display, "reg", &declared.name, span));
        }
        registers[reg.index()] = value;
        Ok(Ok(()))
    }

    fn element(
        &self,
        place: &Place,
        registers: &[i64],
        span: SpanId,
    ) -> Result<Result<VarId, Stop>, BuildError> {
        let Some(index) = &place.index else { return Ok(Ok(place.first)) };
        let index = match self.eval(index, registers, span)? {
            Ok(index) => index,
            Err(stop) => return Ok(Err(stop)),
        };
        Ok(match usize::try_from(index) {
            Ok(i) if i < place.len as usize => Ok(VarId::new(place.first.index() + i)),
            _ => Err(Failure::Index(index).into()),
        })
    }

    /// Runs the code of one node that is no step.
    fn execute(
        &mut self,
        process: ProcessId,
        node: NodeId,
        registers: &mut [i64],
    ) -> Result<Ran, BuildError> {
        let flows = self.flows;
        let located = &flows[process.index()].nodes[node];
        let span = located.span;
        macro_rules! value {
            ($code:expr) => {
                match self.eval($code, registers, span)? {
                    Ok(value) => value,
                    Err(stop) => return Ok(Ran::Stopped(stop)),
                }
            };
        }
        Ok(match &located.node {
            Node::Jump(next) => Ran::On(*next),
            Node::Assign(reg, code, next) => {
                let value = value!(code);
                match self.set(process, *reg, value, registers, span)? {
                    Ok(()) => Ran::On(*next),
                    Err(stop) => Ran::Stopped(stop),
                }
            }
            Node::Branch(code, yes, no) => Ran::On(if value!(code) != 0 { *yes } else { *no }),
            Node::Assume(code, next) if value!(code) != 0 => Ran::On(*next),
            Node::Assume(..) => Ran::Blocked,
            Node::Assert(code, next) if value!(code) != 0 => Ran::On(*next),
            Node::Assert(..) => Ran::Stopped(Failure::Assertion.into()),
            step => unreachable!("{step:?} is a step"),
        })
    }

    /// Whether a process is seen standing at the node.
    fn is_seen(&self, process: ProcessId, node: NodeId) -> bool {
        let located = &self.flows[process.index()].nodes[node];
        !located.labels.is_empty()
            || match &located.node {
                Node::Assign(reg, ..) => self.watch.always[process.index()][reg.index()],
                Node::End | Node::Any(..) | Node::Choose(_) => true,
                node => node.is_step(),
            }
    }

    /// Runs code from a node on until the process is seen standing somewhere.
    fn settle(
        &mut self,
        process: ProcessId,
        mut node: NodeId,
        mut registers: Vec<i64>,
    ) -> Result<Settled, BuildError> {
        let flows = self.flows;
        let flow = &flows[process.index()];
        let mut within = flow.nodes[node].within;
        let mut path: Vec<(NodeId, Vec<i64>)> = Vec::new();
        let mut on_path: HashSet<(NodeId, Vec<i64>)> = HashSet::new();
        loop {
            within = within.filter(|a| flow.nodes[node].within == Some(*a));
            for (value, live) in registers.iter_mut().zip(&flow.live[node]) {
                if !live {
                    *value = 0;
                }
            }
            if self.is_seen(process, node) {
                let stop = self.cannot_stand(process, node, &registers)?;
                return Ok(Settled { key: Key { node, registers, stop }, within });
            }
            // Only code that runs long is watched for going round in circles.
            if path.len() > 64 && on_path.insert((node, registers.clone())) {
                if path.len() > MAX_SILENT {
                    return Err(BuildError {
                        message: "this code computes for too long without a step".to_owned(),
                        span: flow.nodes[node].span,
                        help: "a loop over registers only has to end soon".to_owned(),
                        unbounded: None,
                    });
                }
            } else if path.len() > 64 {
                let start = path.iter().position(|p| p.0 == node && p.1 == registers);
                let round = &path[start.expect("seen before")..];
                let (node, registers) = round.iter().min().expect("not empty").clone();
                return Ok(Settled { key: Key { node, registers, stop: None }, within });
            }
            path.push((node, registers.clone()));
            let stop = match self.execute(process, node, &mut registers)? {
                Ran::On(next) => {
                    node = next;
                    continue;
                }
                Ran::Blocked => None,
                Ran::Stopped(stop) => Some(stop),
            };
            return Ok(Settled { key: Key { node, registers, stop }, within });
        }
    }

    /// Why a process has failed that comes to stand before a step: the step
    /// makes no sense for the values of its registers.
    fn cannot_stand(
        &self,
        process: ProcessId,
        node: NodeId,
        registers: &[i64],
    ) -> Result<Option<Stop>, BuildError> {
        let located = &self.flows[process.index()].nodes[node];
        let span = located.span;
        let place = match &located.node {
            Node::Load(_, place, _) | Node::Store(place, ..) | Node::Rmw(_, place, ..) => place,
            _ => return Ok(None),
        };
        let var = match self.element(place, registers, span)? {
            Ok(var) => var,
            Err(stop) => return Ok(Some(stop)),
        };
        let Node::Store(_, code, _) = &located.node else { return Ok(None) };
        Ok(match self.eval(code, registers, span)? {
            Ok(value) => self.leaves(var, value),
            Err(stop) => Some(stop),
        })
    }

    /// Why a value cannot be written to a variable.
    fn leaves(&self, var: VarId, value: i64) -> Option<Stop> {
        let admits = |domain| self.program.admits(domain, value);
        if !self.domains[var.index()].is_none_or(admits) {
            return Some(Failure::Domain(self.program.var_name(var), value).into());
        }
        let bound = *self.program.bounds.vars.get(&var)?;
        let excess = || Excess { name: self.program.var_name(var), value, bound };
        (!(bound.0..=bound.1).contains(&value)).then(|| Stop::Left(excess()))
    }

    /// Adds the transitions of a state that do not depend on what is read.
    fn expand(&mut self, process: ProcessId, state: StateId) -> Result<(), BuildError> {
        let key = self.automata[process.index()].keys[state.index()].clone();
        let flows = self.flows;
        let located = &flows[process.index()].nodes[key.node];
        let span = located.span;
        if let Some(stop) = &key.stop {
            if matches!(stop, Stop::Left(_)) {
                let here = Settled { key, within: None };
                self.add(process, state, RawOp::Nop, here, span)?;
            }
            return Ok(());
        }
        let Key { node, registers, .. } = key;
        match &located.node {
            Node::End => {}
            Node::Nop(next) => {
                let to = self.settle(process, *next, registers)?;
                self.add(process, state, RawOp::Nop, to, span)?;
            }
            Node::Fence(kind, next) => {
                let to = self.settle(process, *next, registers)?;
                self.add(process, state, RawOp::Fence(*kind), to, span)?;
            }
            Node::Choose(nexts) => {
                for next in nexts {
                    let to = self.settle(process, *next, registers.clone())?;
                    self.add(process, state, RawOp::Nop, to, span)?;
                }
            }
            Node::Any(reg, values, next) => {
                for &value in *values {
                    let to = self.go_on_with(process, node, *reg, value, &registers, *next)?;
                    self.add(process, state, RawOp::Nop, to, span)?;
                }
            }
            Node::Call(ways) => {
                for (method, argument, next) in ways {
                    let choices = match argument {
                        Some((reg, values)) => values.iter().map(|v| Some((*reg, *v))).collect(),
                        None => vec![None],
                    };
                    for choice in choices {
                        let mark = Mark::Call(*method, choice.map(|(_, value)| value));
                        let to = match choice {
                            Some((reg, value)) => {
                                self.go_on_with(process, node, reg, value, &registers, *next)?
                            }
                            None => self.settle(process, *next, registers.clone())?,
                        };
                        self.add_marked(process, state, RawOp::Nop, to, Some(mark), span)?;
                    }
                }
            }
            Node::Return(method, code, next) => {
                let value = match code {
                    None => Ok(None),
                    Some(code) => self.eval(code, &registers, span)?.map(Some),
                };
                match value {
                    Ok(value) => {
                        let to = self.settle(process, *next, registers)?;
                        let mark = Mark::Return(*method, value);
                        self.add_marked(process, state, RawOp::Nop, to, Some(mark), span)?;
                    }
                    Err(stop) => {
                        let to = stopped(node, registers, stop);
                        self.add(process, state, RawOp::Nop, to, span)?;
                    }
                }
            }
            Node::Store(place, code, next) => {
                let var = self.element(place, &registers, span)?.expect("checked by cannot_stand");
                let value = self.eval(code, &registers, span)?.expect("checked by cannot_stand");
                if self.write(process, node, var, value)? {
                    let to = self.settle(process, *next, registers)?;
                    self.add(process, state, RawOp::Write(var, value), to, span)?;
                }
            }
            Node::Load(_, place, _) | Node::Rmw(_, place, _, _) => {
                let var = self.element(place, &registers, span)?.expect("checked by cannot_stand");
                self.readers[var.index()].push((process, state));
                for (value, depth) in self.values[var.index()].clone() {
                    let depth = depth.max(self.depth);
                    self.later(depth, Task::Learn(process, state, var, value));
                }
            }
            Node::Jump(_)
            | Node::Assign(..)
            | Node::Branch(..)
            | Node::Assume(..)
            | Node::Assert(..) => {
                let mut registers = registers;
                let to = match self.execute(process, node, &mut registers)? {
                    Ran::On(next) => self.settle(process, next, registers)?,
                    Ran::Blocked => return Ok(()),
                    Ran::Stopped(stop) => stopped(node, registers, stop),
                };
                self.add(process, state, RawOp::Nop, to, span)?;
            }
        }
        Ok(())
    }

    /// The state after a register got a value.
    fn go_on_with(
        &mut self,
        process: ProcessId,
        node: NodeId,
        reg: RegId,
        value: i64,
        registers: &[i64],
        next: NodeId,
    ) -> Result<Settled, BuildError> {
        let mut registers = registers.to_vec();
        let span = self.flows[process.index()].nodes[node].span;
        match self.set(process, reg, value, &mut registers, span)? {
            Ok(()) => self.settle(process, next, registers),
            Err(stop) => Ok(stopped(node, registers, stop)),
        }
    }

    /// Adds the transition of a load or an atomic read-write for one value.
    fn learn(
        &mut self,
        process: ProcessId,
        state: StateId,
        var: VarId,
        value: i64,
    ) -> Result<(), BuildError> {
        let Key { node, registers, .. } =
            self.automata[process.index()].keys[state.index()].clone();
        let flows = self.flows;
        let located = &flows[process.index()].nodes[node];
        let span = located.span;
        match &located.node {
            Node::Load(reg, _, next) => {
                let to = self.go_on_with(process, node, *reg, value, &registers, *next)?;
                self.add(process, state, RawOp::Read(var, value), to, span)
            }
            Node::Rmw(reg, _, rmw, next) => {
                let written = match self.written(*reg, rmw, value, &registers, span)? {
                    // It waits for another value.
                    Ok(None) => return Ok(()),
                    Ok(Some(written)) => self.leaves(var, written).map_or(Ok(written), Err),
                    Err(stop) => Err(stop),
                };
                match written {
                    Ok(written) => {
                        if !self.write(process, node, var, written)? {
                            return Ok(());
                        }
                        let to = self.go_on_with(process, node, *reg, value, &registers, *next)?;
                        self.add(process, state, RawOp::Arw(var, value, written), to, span)
                    }
                    Err(stop) => {
                        let to = stopped(node, registers, stop);
                        self.add(process, state, RawOp::Arw(var, value, value), to, span)
                    }
                }
            }
            other => unreachable!("{other:?} loads nothing"),
        }
    }

    /// What an atomic read-write writes, given what it reads; `None` if it waits
    /// for another value.
    fn written(
        &self,
        reg: RegId,
        rmw: &Rmw,
        old: i64,
        registers: &[i64],
        span: SpanId,
    ) -> Result<Result<Option<i64>, Stop>, BuildError> {
        macro_rules! value {
            ($code:expr, $registers:expr) => {
                match self.eval($code, $registers, span)? {
                    Ok(value) => value,
                    Err(stop) => return Ok(Err(stop)),
                }
            };
        }
        Ok(Ok(Some(match rmw {
            Rmw::Cas { expected, .. } if value!(expected, registers) != old => old,
            Rmw::Cas { new, .. } | Rmw::Swap(new) => value!(new, registers),
            Rmw::Fetch(op, code) => {
                let value = Code::Const(value!(code, registers));
                value!(&Code::binary(*op, Code::Const(old), value), registers)
            }
            Rmw::Update { when, new } => {
                let mut registers = registers.to_vec();
                registers[reg.index()] = old;
                if value!(when, &registers) == 0 {
                    return Ok(Ok(None));
                }
                value!(new, &registers)
            }
        })))
    }

    /// A node writes a value to a variable; `false` if it cannot come to that.
    fn write(
        &mut self,
        process: ProcessId,
        node: NodeId,
        var: VarId,
        value: i64,
    ) -> Result<bool, BuildError> {
        let depth = self.depth + self.weights[process.index()][node];
        let values = &mut self.values[var.index()];
        // A store in a loop may find a shorter way than one that runs once did.
        if values.get(&value).is_some_and(|known| *known <= depth) {
            return Ok(true);
        }
        // What is there may be written at any depth: where writes overtake reads,
        // what a process reads may come from what it writes later.
        if depth > self.max_depth {
            return Ok(false);
        }
        values.insert(value, depth);
        if values.len() > MAX_VALUES {
            let (decl, _) = self.program.decl(var);
            let span = self.flows[process.index()].nodes[node].span;
            return Err(unbounded(
                "variable",
                &self.program.var_name(var),
                "var",
                &decl.name,
                span,
            ));
        }
        for (process, state) in self.readers[var.index()].clone() {
            let depth = depth.max(self.automata[process.index()].depths[state.index()]);
            self.later(depth, Task::Learn(process, state, var, value));
        }
        Ok(true)
    }

    fn finish(self) -> Result<(Vec<Variable>, Vec<Automaton>), BuildError> {
        let cells: usize = self.values.iter().map(BTreeMap::len).sum();
        if cells > MAX_CELLS {
            let span = self.program.vars.first().map_or(SpanId::NONE, |d| d.span);
            return Err(BuildError {
                message: format!(
                    "the variables take {cells} values in all; the limit is {MAX_CELLS}"
                ),
                span,
                help: "give the variables smaller domains".to_owned(),
                unbounded: None,
            });
        }
        let ranks: Vec<HashMap<i64, ValueId>> = self
            .values
            .iter()
            .map(|vs| vs.keys().enumerate().map(|(i, &v)| (v, ValueId::new(i))).collect())
            .collect();
        let rank = |x: VarId, v: i64| ranks[x.index()][&v];
        let mut vars = Vec::new();
        for decl in &self.program.vars {
            for init in &decl.init {
                let var = VarId::new(vars.len());
                let mut initial: Vec<_> = init.iter().map(|&v| rank(var, v)).collect();
                initial.sort_unstable();
                initial.dedup();
                vars.push(Variable {
                    name: self.program.var_name(var),
                    domain: decl.domain,
                    values: self.values[var.index()].keys().copied().collect(),
                    initial,
                });
            }
        }
        let op = |op: RawOp| match op {
            RawOp::Nop => Op::Nop,
            RawOp::Read(x, d) => Op::Read(x, rank(x, d)),
            RawOp::Write(x, d) => Op::Write(x, rank(x, d)),
            RawOp::Arw(x, d, e) => Op::Arw(x, rank(x, d), rank(x, e)),
            RawOp::Fence(kind) => Op::Fence(kind),
        };
        let processes = self
            .automata
            .into_iter()
            .zip(&self.program.processes)
            .zip(self.flows)
            .map(|((raw, process), flow)| {
                let left = LabelId::new(process.labels.len());
                let states =
                    raw.keys.into_iter().map(|key| finish_state(key, flow, left)).collect();
                let outgoing = raw
                    .outgoing
                    .into_iter()
                    .map(|(from, list)| {
                        let mut list: Vec<_> = list
                            .into_iter()
                            .map(|(o, to, waits, mark, span)| Transition {
                                from,
                                op: op(o),
                                to,
                                waits,
                                mark,
                                span,
                            })
                            .collect();
                        list.sort_by_key(|t| (t.op, t.to, t.mark));
                        (from, list)
                    })
                    .collect();
                Automaton::new(process.name.clone(), StateId(0), states, outgoing)
            })
            .collect();
        Ok((vars, processes))
    }
}

/// `left` is the label of what has left a bound.
fn finish_state(key: Key, flow: &Flow<'_>, left: LabelId) -> State {
    let located = &flow.nodes[key.node];
    let mut labels = located.labels.clone();
    let kind = match key.stop {
        Some(Stop::Failed(failure)) => StateKind::Failed(failure),
        Some(Stop::Left(excess)) => {
            labels = vec![left];
            StateKind::Left(excess)
        }
        None if matches!(located.node, Node::End) => StateKind::Ended,
        None => StateKind::Inside,
    };
    let is_choice =
        kind == StateKind::Inside && matches!(located.node, Node::Choose(_) | Node::Any(..));
    State::new(kind, key.registers.into(), labels.into(), is_choice, located.span)
}

fn stopped(node: NodeId, registers: Vec<i64>, stop: Stop) -> Settled {
    Settled { key: Key { node, registers, stop: Some(stop) }, within: None }
}

fn unbounded(what: &str, shown: &str, keyword: &str, name: &str, span: SpanId) -> BuildError {
    BuildError {
        message: format!("{what} `{shown}` takes more than {MAX_VALUES} values"),
        span,
        help: format!(
            "Weir needs finite domains: bound it where it is declared, as in `{keyword} {name}: 0..3`; \
             or count modulo some number, as in `{name} = ({name} + 1) % 4`; \
             or say how far to look, with `--domain {shown}=0..7`"
        ),
        unbounded: Some(shown.to_owned()),
    }
}
