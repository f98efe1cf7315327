//! Systems: a program as finite automata, one per process, over finitely many
//! variables with finite domains (paper 2, 3.1).
//!
//! A control state is a place in the code together with the values of the
//! registers that still matter; an operation names the value that it reads.
//! Everything is numbered densely. Semantics and engines see systems only.

use std::collections::BTreeMap;
use std::fmt;

use crate::build;
use crate::ids::{
    LabelId, MethodId, ProcessId, RegId, SpanId, StateId, TransitionId, ValueId, VarId,
};
use crate::limits::{Budget, Stop};
use crate::memory_model::MemoryModel;
use crate::program::{Atom, Domain, FenceKind, Formula, Label, Program, Property, PropertyKind};

/// A program as automata.
///
/// ```
/// use weir_model::{program::*, ids::*, system::System};
///
/// let span = SpanId(0);
/// let program = Program {
///     vars: vec![Decl::scalar("x", 0, span)],
///     processes: vec![Process {
///         name: "p".into(),
///         body: vec![Stmt::new(StmtKind::Store(Place::var(VarId(0)), Expr::Const(7)), span)],
///         ..Process::default()
///     }],
///     ..Program::default()
/// };
/// let system = System::new(program).unwrap();
/// assert_eq!(system.vars[0].values, [0, 7]);
/// assert_eq!(system.processes[0].states.len(), 2);
/// ```
#[derive(Clone, Debug)]
pub struct System {
    /// The program that it came from, for names and properties.
    pub program: Program,
    /// The variables.
    pub vars: Vec<Variable>,
    /// The processes.
    pub processes: Vec<Automaton>,
    /// Whether some control state has left a bound. The last property asks
    /// then whether one is reached.
    pub(crate) bounded: bool,
    /// Whether reads return any value of their variable's domain.
    pub(crate) guesses_reads: bool,
}

/// A variable of a system.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its name: `x` or `a[1]`.
    pub name: String,
    /// The domain that a person gave it.
    pub domain: Option<Domain>,
    /// The values that can get there, sorted; a [`ValueId`] is an index here.
    pub values: Vec<i64>,
    /// The values that it may have in the beginning.
    pub initial: Vec<ValueId>,
}

/// A process of a system.
#[derive(Clone, Debug)]
pub struct Automaton {
    /// Its name.
    pub name: String,
    /// Where it starts.
    pub initial: StateId,
    /// Its control states.
    pub states: Vec<State>,
    /// Its transitions, in the order of the states that they leave.
    pub transitions: Vec<Transition>,
}

/// A control state.
#[derive(Clone, Debug)]
pub struct State {
    /// What kind of place it is.
    pub kind: StateKind,
    /// Values of the registers; 0 for one whose value no longer matters.
    pub registers: Box<[i64]>,
    /// The labels at which the process stands here.
    pub labels: Box<[crate::ids::LabelId]>,
    /// Whether the process makes a choice here (`choose`, `any`): its transitions
    /// are the ways that it may go.
    pub is_choice: bool,
    /// Where in the source.
    pub span: SpanId,
    /// The transitions that leave it.
    first: u32,
    count: u32,
}

/// What kind of place a control state is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StateKind {
    /// Somewhere inside the program.
    Inside,
    /// The process has ended.
    Ended,
    /// The process did what a program must not do.
    Failed(Failure),
    /// A value of the process left the bound that was given for it. What it
    /// does from there on is not known: it goes round here for ever, so that
    /// nothing seems to be stuck because of it.
    Left(Excess),
}

/// A value outside its bound (see [`Bounds`](crate::program::Bounds)).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Excess {
    /// The variable or register.
    pub name: String,
    /// The value.
    pub value: i64,
    /// The bound.
    pub bound: (i64, i64),
}

impl fmt::Display for Excess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, value, bound: (low, high) } = self;
        write!(f, "{name} gets {value}, which is outside its bound {low}..{high}")
    }
}

/// What a program must not do.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Failure {
    /// An assertion does not hold.
    Assertion,
    /// A division by zero.
    DivisionByZero,
    /// An index outside its array.
    Index(i64),
    /// A value outside the domain that was given for a variable or register.
    Domain(String, i64),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Assertion => f.write_str("the assertion does not hold"),
            Self::DivisionByZero => f.write_str("division by zero"),
            Self::Index(i) => write!(f, "index {i} is outside the array"),
            Self::Domain(name, value) => write!(f, "{value} is outside the domain of {name}"),
        }
    }
}

/// A transition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transition {
    /// The control state that it leaves.
    pub from: StateId,
    /// What it does.
    pub op: Op,
    /// The control state that it enters.
    pub to: StateId,
    /// Stays inside one `await`: waiting, not progress.
    pub waits: bool,
    /// Whether a call begins or ends with it; its operation is `nop` then.
    pub mark: Option<Mark>,
    /// Where in the source.
    pub span: SpanId,
}

/// The beginning or the end of a call (paper 5, section 2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mark {
    /// `call(m,a)`
    Call(MethodId, Option<i64>),
    /// `return(m,a)`
    Return(MethodId, Option<i64>),
}

/// An operation of a system (paper 2, 3.1, and a full fence).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Op {
    /// `nop`
    Nop,
    /// `r(x,d)`
    Read(VarId, ValueId),
    /// `w(x,d)`
    Write(VarId, ValueId),
    /// `arw(x,d,d')`
    Arw(VarId, ValueId, ValueId),
    /// `fence`, `rfence`, `wfence`
    Fence(FenceKind),
}

/// A program that is no finite system within Weir's limits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildError {
    /// What is wrong.
    pub message: String,
    /// Where.
    pub span: SpanId,
    /// What to do about it.
    pub help: String,
    /// The variable or register that takes too many values, if that is it.
    pub unbounded: Option<String>,
}

/// Why there is no system of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unbuilt {
    /// The program is no finite system.
    Wrong(BuildError),
    /// A limit was reached while it was built.
    Stopped(Stop),
}

impl From<BuildError> for Unbuilt {
    fn from(error: BuildError) -> Self {
        Self::Wrong(error)
    }
}

impl From<Stop> for Unbuilt {
    fn from(stop: Stop) -> Self {
        Self::Stopped(stop)
    }
}

impl fmt::Display for Unbuilt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Wrong(error) => f.write_str(&error.message),
            Self::Stopped(stop) => write!(f, "{stop} while building the automata"),
        }
    }
}

impl Unbuilt {
    /// What went wrong without a limit.
    fn without_limits(self) -> BuildError {
        match self {
            Self::Wrong(error) => error,
            Self::Stopped(stop) => unreachable!("{stop}, although there is none"),
        }
    }
}

/// The most control states that one process may have.
pub const MAX_STATES: usize = 60_000;

/// The most values that one variable or register may take.
pub const MAX_VALUES: usize = 4096;

/// The most pairs of a variable and a value.
pub const MAX_CELLS: usize = 30_000;

impl System {
    /// The system of a program.
    ///
    /// # Errors
    /// If a variable, a register or a process has no finite domain, or one
    /// larger than [`MAX_VALUES`], [`MAX_STATES`] or [`MAX_CELLS`].
    pub fn new(program: Program) -> Result<Self, BuildError> {
        Self::for_model(program, MemoryModel::SC)
    }

    /// The system of a program for questions about one memory model. Where the model lets
    /// reads be guessed ([`MemoryModel::guesses_reads`]), a read returns any value of
    /// its variable's domain; otherwise this is [`System::new`].
    ///
    /// # Errors
    /// As for [`System::new`].
    pub fn for_model(program: Program, model: MemoryModel) -> Result<Self, BuildError> {
        let built = Self::for_model_within(program, model, &Budget::new());
        built.map_err(Unbuilt::without_limits)
    }

    /// As [`System::for_model`], within limits.
    ///
    /// # Errors
    /// As for [`System::new`], and if a limit is reached.
    pub fn for_model_within(
        program: Program,
        model: MemoryModel,
        budget: &Budget,
    ) -> Result<Self, Unbuilt> {
        let reads = match model.guesses_reads() {
            true => build::Reads::Guessed,
            false => build::Reads::Written,
        };
        build::build(program, build::Rounds::Left, reads, budget)
    }

    /// Whether the system has every read that a model can make. Engines answer
    /// `unknown` for one that has not.
    pub fn serves(&self, model: MemoryModel) -> bool {
        self.guesses_reads || !model.guesses_reads()
    }

    /// The system of a program with every round of an `await` as a transition,
    /// those that change nothing too. What is reachable is the same; but a process
    /// that waits for ever takes steps for ever.
    ///
    /// # Errors
    /// As for [`System::new`].
    pub fn with_rounds(program: Program) -> Result<Self, BuildError> {
        Self::with_rounds_within(program, &Budget::new()).map_err(Unbuilt::without_limits)
    }

    /// What is left of a program whose system was not built: its names and properties, and
    /// no automata. Reports need it to say that nothing is known; it must not be searched.
    pub fn unbuilt(program: Program) -> Self {
        build::unbuilt(program)
    }

    /// As [`System::with_rounds`], within limits.
    ///
    /// # Errors
    /// As for [`System::new`], and if a limit is reached.
    pub fn with_rounds_within(program: Program, budget: &Budget) -> Result<Self, Unbuilt> {
        build::build(program, build::Rounds::Kept, build::Reads::Written, budget)
    }

    /// The same system with other questions. A `never` may name only labels that a
    /// `never` of the program names, and only positively: others need not be seen. The
    /// property about bounds, if there is one, stays and comes last.
    #[must_use]
    pub fn asking(&self, questions: Vec<Property>) -> Self {
        let bounds = self.bounds_property().map(|i| self.program.properties[i].clone());
        let mut system = self.clone();
        system.program.properties = questions.into_iter().chain(bounds).collect();
        system
    }

    /// The system in which a process can also stop at any of these control
    /// states, once its buffers are empty: a `fence` leads from each to a state of
    /// its own that nothing leaves. Returns the labels of these states, which
    /// stand nowhere else.
    ///
    /// # Errors
    /// If that makes more than [`MAX_STATES`] control states.
    pub fn with_stops(
        mut self,
        process: ProcessId,
        at: &[StateId],
    ) -> Result<(Self, Vec<LabelId>), BuildError> {
        let automaton = &mut self.processes[process.index()];
        let labels = &mut self.program.processes[process.index()].labels;
        if automaton.states.len() + at.len() > MAX_STATES || labels.len() + at.len() > MAX_STATES {
            return Err(BuildError {
                message: format!("there are more than {MAX_STATES} control states with stops"),
                span: SpanId::NONE,
                help: "give the variables and registers smaller domains".to_owned(),
                unbounded: None,
            });
        }
        let mut outgoing: BTreeMap<StateId, Vec<Transition>> = BTreeMap::new();
        for t in &automaton.transitions {
            outgoing.entry(t.from).or_default().push(*t);
        }
        let mut states = std::mem::take(&mut automaton.states);
        let mut stops = Vec::new();
        for &from in at {
            let (to, label) = (StateId::new(states.len()), LabelId::new(labels.len()));
            let State { registers, span, .. } = &states[from.index()];
            let (registers, span) = (registers.clone(), *span);
            states.push(State::new(StateKind::Inside, registers, [label].into(), false, span));
            labels.push(Label { name: format!("stop{}", from.0), span });
            let op = Op::Fence(FenceKind::Full);
            let stop = Transition { from, op, to, waits: false, mark: None, span };
            outgoing.entry(from).or_default().push(stop);
            stops.push(label);
        }
        let name = std::mem::take(&mut automaton.name);
        *automaton = Automaton::new(name, automaton.initial, states, outgoing);
        Ok((self, stops))
    }

    /// The memories that a run may begin with, one after another: there is one for each
    /// combination of initial values.
    pub fn initial_memories(&self) -> impl Iterator<Item = Vec<u16>> {
        let any = self.vars.iter().all(|x| !x.initial.is_empty());
        let mut next: Option<Vec<usize>> = any.then(|| vec![0; self.vars.len()]);
        std::iter::from_fn(move || {
            let chosen = next.as_mut()?;
            let memory = self.vars.iter().zip(chosen.iter()).map(|(x, &i)| x.initial[i].0);
            let memory = memory.collect();
            let last = (0..chosen.len()).rfind(|&x| chosen[x] + 1 < self.vars[x].initial.len());
            match last {
                Some(x) => {
                    chosen[x] += 1;
                    chosen[x + 1..].fill(0);
                }
                None => next = None,
            }
            Some(memory)
        })
    }

    /// The transitions that leave a control state.
    #[inline]
    pub fn transitions(
        &self,
        process: ProcessId,
        state: StateId,
    ) -> impl Iterator<Item = (TransitionId, &Transition)> {
        let automaton = &self.processes[process.index()];
        let State { first, count, .. } = automaton.states[state.index()];
        let range = first as usize..(first + count) as usize;
        (first..).map(TransitionId).zip(&automaton.transitions[range])
    }

    /// A control state.
    #[inline]
    pub fn state(&self, process: ProcessId, state: StateId) -> &State {
        &self.processes[process.index()].states[state.index()]
    }

    /// The ids of the processes.
    pub fn process_ids(&self) -> impl Iterator<Item = ProcessId> + use<> {
        (0..self.processes.len()).map(ProcessId::new)
    }

    /// The number that a value stands for.
    #[inline]
    pub fn value(&self, var: VarId, value: ValueId) -> i64 {
        self.vars[var.index()].values[value.index()]
    }

    /// A value of a variable as a person would write it.
    pub fn show_value(&self, var: VarId, value: ValueId) -> String {
        self.program.show_value(self.vars[var.index()].domain, self.value(var, value))
    }

    /// The value of an atom in a state: control states and memory.
    #[inline]
    pub fn atom(&self, atom: Atom, controls: &[u16], memory: &[u16]) -> i64 {
        let state = |p: ProcessId| self.state(p, StateId(controls[p.index()]));
        match atom {
            Atom::Var(var) => self.value(var, ValueId(memory[var.index()])),
            Atom::Reg(process, reg) => state(process).registers[reg.index()],
            Atom::At(process, label) => i64::from(state(process).labels.contains(&label)),
        }
    }

    /// Whether a formula holds. One that divides by zero or overflows does not.
    #[inline]
    pub fn holds(&self, formula: &Formula, controls: &[u16], memory: &[u16]) -> bool {
        formula.eval(&mut |a| self.atom(*a, controls, memory)).is_ok_and(|v| v != 0)
    }

    /// Whether every process has ended.
    #[inline]
    pub fn all_ended(&self, controls: &[u16]) -> bool {
        self.process_ids()
            .all(|p| self.state(p, StateId(controls[p.index()])).kind == StateKind::Ended)
    }

    /// The failure of the first process that has failed.
    #[inline]
    pub fn failed(&self, controls: &[u16]) -> Option<(ProcessId, &Failure)> {
        self.process_ids().find_map(|p| match &self.state(p, StateId(controls[p.index()])).kind {
            StateKind::Failed(failure) => Some((p, failure)),
            _ => None,
        })
    }

    /// What the first process that has left a bound has left it with.
    pub fn left(&self, controls: &[u16]) -> Option<&Excess> {
        self.process_ids().find_map(|p| match &self.state(p, StateId(controls[p.index()])).kind {
            StateKind::Left(excess) => Some(excess),
            _ => None,
        })
    }

    /// The property that says that no value leaves its bound, if one could.
    pub fn bounds_property(&self) -> Option<usize> {
        self.bounded.then(|| self.program.properties.len() - 1)
    }

    /// Whether a process can go no further on a memory that nobody changes any
    /// more, with its buffers empty: no operation is possible, or only the
    /// rounds of an `await` whose condition does not come true.
    ///
    /// This is about memory alone, so it is the same question in every model.
    pub fn is_stuck(&self, process: ProcessId, state: StateId, memory: &[u16]) -> bool {
        let mut seen = vec![state];
        let mut next = 0;
        while let Some(&state) = seen.get(next) {
            next += 1;
            for (_, t) in self.transitions(process, state) {
                let possible = match t.op {
                    Op::Read(x, d) | Op::Arw(x, d, _) => memory[x.index()] == d.0,
                    Op::Nop | Op::Write(..) | Op::Fence(_) => true,
                };
                if possible && !t.waits {
                    return false;
                }
                if possible && !seen.contains(&t.to) {
                    seen.push(t.to);
                }
            }
        }
        true
    }

    /// Whether no further step is possible and some process has not ended,
    /// given that all buffers are empty.
    pub fn is_deadlock(&self, controls: &[u16], memory: &[u16]) -> bool {
        self.failed(controls).is_none()
            && !self.all_ended(controls)
            && self.process_ids().all(|p| self.is_stuck(p, StateId(controls[p.index()]), memory))
    }

    /// What a person calls a property.
    pub fn property_name(&self, index: usize) -> String {
        let property = &self.program.properties[index];
        if let Some(name) = &property.name {
            return name.clone();
        }
        let base = match property.kind {
            PropertyKind::Never(_) => "never",
            PropertyKind::Assertions => "assertions",
            PropertyKind::NoDeadlock => "no deadlock",
            PropertyKind::Final(crate::program::Quantifier::Exists, _) => "final exists",
            PropertyKind::Final(crate::program::Quantifier::Never, _) => "final never",
            PropertyKind::Final(crate::program::Quantifier::Always, _) => "final always",
        };
        let same = |i: usize| {
            let other = &self.program.properties[i];
            other.name.is_none()
                && std::mem::discriminant(&other.kind) == std::mem::discriminant(&property.kind)
                && match (&other.kind, &property.kind) {
                    (PropertyKind::Final(a, _), PropertyKind::Final(b, _)) => a == b,
                    _ => true,
                }
        };
        let twins = (0..self.program.properties.len()).filter(|&i| same(i)).count();
        if twins < 2 {
            return base.to_owned();
        }
        format!("{base} #{}", (0..=index).filter(|&i| same(i)).count())
    }

    /// What a person calls a game.
    pub fn game_name(&self, index: usize) -> String {
        let games = &self.program.games;
        match &games[index].name {
            Some(name) => name.clone(),
            None if games.iter().filter(|g| g.name.is_none()).count() < 2 => "game".to_owned(),
            None => {
                let number = games[..=index].iter().filter(|g| g.name.is_none()).count();
                format!("game #{number}")
            }
        }
    }

    /// What an atom is called in reports.
    pub fn atom_name(&self, atom: Atom) -> String {
        match atom {
            Atom::Var(var) => self.vars[var.index()].name.clone(),
            Atom::Reg(p, r) => self.register(p, r).display.clone(),
            Atom::At(p, l) => {
                let process = &self.program.processes[p.index()];
                format!("{}@{}", process.name, process.labels[l.index()].name)
            }
        }
    }

    /// The declaration of a register.
    pub fn register(&self, process: ProcessId, reg: RegId) -> &crate::program::Register {
        &self.program.processes[process.index()].registers[reg.index()]
    }

    /// An operation as the papers write it, with names.
    pub fn show_op(&self, op: Op) -> String {
        let name = |x: VarId| &self.vars[x.index()].name;
        match op {
            Op::Nop => "nop".to_owned(),
            Op::Read(x, d) => format!("r({},{})", name(x), self.show_value(x, d)),
            Op::Write(x, d) => format!("w({},{})", name(x), self.show_value(x, d)),
            Op::Arw(x, d, e) => {
                format!("arw({},{},{})", name(x), self.show_value(x, d), self.show_value(x, e))
            }
            Op::Fence(FenceKind::Full) => "fence".to_owned(),
            Op::Fence(FenceKind::Read) => "rfence".to_owned(),
            Op::Fence(FenceKind::Write) => "wfence".to_owned(),
        }
    }

    /// The beginning or end of a call as the papers write it, with names.
    pub fn show_mark(&self, mark: Mark) -> String {
        let (word, method, value) = match mark {
            Mark::Call(method, value) => ("call", method, value),
            Mark::Return(method, value) => ("return", method, value),
        };
        let known = self.program.object.as_ref().and_then(|o| o.methods.get(method.index()));
        let name = known.map_or("?", |m| &m.name);
        let argument = known.and_then(|m| m.registers.first()).and_then(|r| r.domain);
        let domain = argument.filter(|_| matches!(mark, Mark::Call(..)));
        match value {
            Some(value) => format!("{word}({name},{})", self.program.show_value(domain, value)),
            None => format!("{word}({name})"),
        }
    }

    /// What a transition does as the papers write it, with names.
    pub fn show_transition(&self, t: &Transition) -> String {
        t.mark.map_or_else(|| self.show_op(t.op), |mark| self.show_mark(mark))
    }

    /// For each process and control state, the most operations accepted by
    /// `count` that a run of the process can still do; `None` if there is no
    /// bound, which takes a loop.
    pub fn longest(&self, process: ProcessId, count: impl Fn(Op) -> bool) -> Vec<Option<usize>> {
        build::depth::longest(&self.processes[process.index()], count)
    }

    /// Whether no process has a loop.
    pub fn is_loop_free(&self) -> bool {
        self.process_ids().all(|p| {
            let initial = self.processes[p.index()].initial;
            self.longest(p, |_| true)[initial.index()].is_some()
        })
    }
}

impl Automaton {
    /// An automaton from states with the transitions that leave each.
    pub(crate) fn new(
        name: String,
        initial: StateId,
        mut states: Vec<State>,
        outgoing: BTreeMap<StateId, Vec<Transition>>,
    ) -> Self {
        let mut transitions = Vec::new();
        for state in &mut states {
            (state.first, state.count) = (0, 0);
        }
        for (from, list) in outgoing {
            let state = &mut states[from.index()];
            state.first = u32::try_from(transitions.len()).expect("transitions are limited");
            state.count = u32::try_from(list.len()).expect("transitions are limited");
            transitions.extend(list);
        }
        Self { name, initial, states, transitions }
    }
}

impl State {
    pub(crate) fn new(
        kind: StateKind,
        registers: Box<[i64]>,
        labels: Box<[crate::ids::LabelId]>,
        is_choice: bool,
        span: SpanId,
    ) -> Self {
        Self { kind, registers, labels, is_choice, span, first: 0, count: 0 }
    }
}
