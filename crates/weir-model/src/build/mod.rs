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
//! before a choice, and before a local step that changes something that is asked
//! (`silent`).

pub(crate) mod depth;
mod domain;
mod finish;
mod polarity;
mod silent;
mod watch;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap, HashSet};

use self::watch::Watch;
use crate::flow::{Flow, Node, NodeId};
use crate::ids::{ProcessId, RegId, SpanId, StateId, VarId};
use crate::limits::Budget;
use crate::program::{Code, Domain, Program, Rmw};
use crate::system::{
    Automaton, BuildError, Excess, Failure, MAX_STATES, MAX_VALUES, Mark, System, Unbuilt, Variable,
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

/// What a read may return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reads {
    /// A value that some write made.
    Written,
    /// Any value of the variable's domain.
    Guessed,
}

pub(crate) fn build(
    program: Program,
    rounds: Rounds,
    reads: Reads,
    budget: &Budget,
) -> Result<System, Unbuilt> {
    let (vars, processes) = {
        let watch = Watch::new(&program);
        let flows: Vec<Flow<'_>> = program
            .processes
            .iter()
            .enumerate()
            .map(|(p, process)| Flow::new(process, &watch.marked(p), &watch.kept[p], budget))
            .collect::<Result<_, _>>()?;
        let mut builder = Builder::new(&program, &flows, &watch, rounds, budget);
        if reads == Reads::Guessed {
            let domains = domain::domains(&program, &flows, budget)?;
            builder.values = domains
                .into_iter()
                .map(|values| values.into_iter().map(|v| (v, 0)).collect())
                .collect();
        }
        builder.run()?
    };
    let mut program = program;
    watch::ask_for_assertions(&mut program, &processes);
    let bounded = watch::ask_for_bounds(&mut program, &processes);
    Ok(System { program, vars, processes, bounded, guesses_reads: reads == Reads::Guessed })
}

/// See [`System::unbuilt`].
pub(crate) fn unbuilt(mut program: Program) -> System {
    watch::ask_for_assertions(&mut program, &[]);
    System { program, vars: vec![], processes: vec![], bounded: false, guesses_reads: false }
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
    budget: &'a Budget,
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
    fn new(
        program: &'a Program,
        flows: &'a [Flow<'a>],
        watch: &'a Watch,
        rounds: Rounds,
        budget: &'a Budget,
    ) -> Self {
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
            budget,
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

    fn run(mut self) -> Result<(Vec<Variable>, Vec<Automaton>), Unbuilt> {
        for p in 0..self.program.processes.len() {
            let process = ProcessId::new(p);
            let registers = self.program.processes[p].registers.iter().map(|r| r.init).collect();
            let settled = self.settle(process, self.flows[p].entry, registers)?;
            self.state(process, settled.key)?;
        }
        while let Some(Reverse((depth, _, task))) = self.work.pop() {
            self.budget.tick()?;
            self.depth = depth;
            match task {
                Task::Expand(p, s) => self.expand(p, s)?,
                Task::Learn(p, s, x, v) => self.learn(p, s, x, v)?,
            }
        }
        self.finish()
    }

    /// The id of a control state, new or known.
    fn state(&mut self, process: ProcessId, key: Key) -> Result<StateId, Unbuilt> {
        let automaton = &mut self.automata[process.index()];
        if let Some(&id) = automaton.ids.get(&key) {
            return Ok(id);
        }
        if automaton.keys.len() >= MAX_STATES {
            return Err(self.too_large(process, "control states", MAX_STATES).into());
        }
        let automaton = &mut self.automata[process.index()];
        let known = &automaton.ids;
        self.budget.check_growth(known.len(), known.capacity(), size_of::<(Key, StateId)>())?;
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
    ) -> Result<(), Unbuilt> {
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
    ) -> Result<(), Unbuilt> {
        let key = &self.automata[process.index()].keys[from.index()];
        let within = self.flows[process.index()].nodes[key.node].within;
        let waits = within.is_some() && to.within == within;
        let to = self.state(process, to.key)?;
        if waits && from == to && self.rounds == Rounds::Left {
            // A round of an `await` that changes nothing: no step is needed to wait.
            return Ok(());
        }
        let automaton = &mut self.automata[process.index()];
        let seen = &automaton.seen;
        self.budget.check_growth(seen.len(), seen.capacity(), size_of::<RawTransition>())?;
        if automaton.seen.insert((from, op, to, waits, mark)) {
            if automaton.seen.len() > MAX_TRANSITIONS {
                return Err(self.too_large(process, "transitions", MAX_TRANSITIONS).into());
            }
            automaton.outgoing.entry(from).or_default().push((op, to, waits, mark, span));
        }
        Ok(())
    }

    /// Adds the transitions of a state that do not depend on what is read.
    fn expand(&mut self, process: ProcessId, state: StateId) -> Result<(), Unbuilt> {
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
            | Node::Goto(_)
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
    ) -> Result<Settled, Unbuilt> {
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
    ) -> Result<(), Unbuilt> {
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
                        let given = match rmw {
                            Rmw::CasFlag { expected, .. } => {
                                let expected = self.eval(expected, &registers, span)?;
                                i64::from(expected.is_ok_and(|e| e == value))
                            }
                            _ => value,
                        };
                        let to = self.go_on_with(process, node, *reg, given, &registers, *next)?;
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
            Rmw::Cas { expected, .. } | Rmw::CasFlag { expected, .. }
                if value!(expected, registers) != old =>
            {
                old
            }
            Rmw::Cas { new, .. } | Rmw::CasFlag { new, .. } | Rmw::Swap(new) => {
                value!(new, registers)
            }
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
    ) -> Result<bool, Unbuilt> {
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
            )
            .into());
        }
        for (process, state) in self.readers[var.index()].clone() {
            let depth = depth.max(self.automata[process.index()].depths[state.index()]);
            self.later(depth, Task::Learn(process, state, var, value));
        }
        Ok(true)
    }
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
