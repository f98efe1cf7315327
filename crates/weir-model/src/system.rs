//! Systems: a program as automata, one per process, over finitely many variables (Atig et
//! al. 2012, section 3.1).
//!
//! A control state is a place in the code together with the values of the live registers;
//! an operation contains the value that it reads. Everything is numbered densely, in the
//! order in which a search meets it: control states and values are created when a search
//! reaches them ([`System::steps`]). Engines that need all of them call
//! [`System::expanded`]. Semantics and engines see systems only.

use std::collections::HashSet;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock};

use rustc_hash::FxHashMap;

pub use crate::build::{Access, CodeStep, Expanded};

use crate::build::{self, Abstraction, Expansion, Key, Next, Rounds, Watch};
use crate::flow::{Flow, NodeId};
use crate::grow::Grow;
use crate::ids::{
    LabelId, MethodId, ProcessId, RegId, SpanId, StateId, TransitionId, ValueId, VarId,
};
use crate::limits::{Budget, Stop};
use crate::memory_model::MemoryModel;
use crate::program::{Atom, Domain, FenceKind, Formula, Label, Program, Property, PropertyKind};

/// A program as automata.
///
/// ```
/// use weir_model::{limits::Budget, program::*, ids::*, system::System};
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
/// let all = system.expanded(&Budget::new()).unwrap();
/// assert_eq!(all.values(VarId(0)).len(), 2);
/// assert_eq!(all.states(ProcessId(0)).count(), 2);
/// ```
#[derive(Clone, Debug)]
pub struct System {
    /// The program that it came from, for names and properties.
    pub program: Program,
    /// The variables.
    pub vars: Arc<[Variable]>,
    /// The processes.
    pub processes: Arc<[Automaton]>,
    /// Whether some value may leave a bound. The last property asks then whether one does.
    pub(crate) bounded: bool,
    /// Whether reads return any value of their variable's domain.
    pub(crate) guesses_reads: bool,
    /// What each property asked before it was simplified.
    pub(crate) asked: Vec<PropertyKind>,
    pub(crate) watch: Arc<Watch>,
    pub(crate) rounds: Rounds,
    /// Why some control state that was met goes no further although the program would.
    pub(crate) excess: Arc<OnceLock<String>>,
    expansion: Arc<OnceLock<Expansion>>,
}

/// A variable of a system.
#[derive(Debug)]
pub struct Variable {
    /// Its name: `x` or `a[1]`.
    pub name: String,
    /// The domain that a person gave it.
    pub domain: Option<Domain>,
    /// The values that it may have in the beginning.
    pub initial: Vec<ValueId>,
    /// The numbers that values stand for, in the order in which they were met.
    numbers: Grow<i128>,
    ids: Mutex<FxHashMap<i128, ValueId>>,
}

impl Variable {
    /// A variable with its initial values; the others are those of which it is known that they
    /// may come up.
    pub(crate) fn new(
        name: String,
        domain: Option<Domain>,
        initial: &[i128],
        others: impl Iterator<Item = i128>,
    ) -> Self {
        let mut known: Vec<i128> = initial.iter().copied().chain(others).collect();
        known.sort_unstable();
        let ids = Mutex::default();
        let mut var = Self { name, domain, initial: vec![], numbers: Grow::default(), ids };
        for number in known {
            var.id(number);
        }
        let mut first: Vec<ValueId> = initial.iter().map(|v| var.id(*v)).collect();
        first.sort_unstable();
        first.dedup();
        var.initial = first;
        var
    }

    /// The id of a number, new or known.
    pub fn id(&self, number: i128) -> ValueId {
        let mut ids = self.ids.lock().expect("no thread panics while it has the lock");
        *ids.entry(number).or_insert_with(|| ValueId::new(self.numbers.push(number)))
    }

    /// The same, unless there is no number left for it in a system with so many variables:
    /// buffers keep a value and its variable in one cell.
    pub fn try_id(&self, number: i128, vars: usize) -> Option<ValueId> {
        let most = u32::MAX as usize / 2 / vars.max(1) - 1;
        (self.numbers.len() < most).then(|| self.id(number))
    }

    /// How many values were met.
    pub fn count(&self) -> usize {
        self.numbers.len()
    }
}

/// A process of a system.
#[derive(Debug)]
pub struct Automaton {
    /// Its name.
    pub name: String,
    /// Where it starts.
    pub initial: StateId,
    pub(crate) flow: Flow,
    pub(crate) abstraction: Abstraction,
    /// Its control states, as far as they were met.
    pub(crate) states: Grow<State>,
    /// Its transitions, as far as they were asked for.
    pub(crate) transitions: Grow<Transition>,
    pub(crate) ids: Mutex<FxHashMap<Key, StateId>>,
    /// Transitions to places at which it can stop.
    pub(crate) stops: FxHashMap<StateId, Transition>,
}

/// A control state.
#[derive(Debug)]
pub struct State {
    /// Where in the code.
    pub(crate) node: NodeId,
    in_call: bool,
    /// Whether the process was stopped here ([`System::with_stops`]).
    pub is_stop: bool,
    /// The state of the abstraction that it belongs to.
    pub(crate) place: Option<usize>,
    /// What kind of place it is.
    pub kind: StateKind,
    /// Values of the registers; 0 for one whose value no longer matters.
    pub registers: Box<[i128]>,
    /// The labels at which the process stands here.
    pub labels: Box<[crate::ids::LabelId]>,
    /// Whether the process makes a choice here (`choose`, `any`): its transitions
    /// are the ways that it may go.
    pub is_choice: bool,
    /// Where in the source.
    pub span: SpanId,
    pub(crate) next: OnceLock<Next>,
}

/// What a process sees of a variable that it is about to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seen {
    /// This value.
    One(ValueId),
    /// One of these.
    Among(Vec<ValueId>),
}

impl Seen {
    /// One of these, each of which counts once.
    pub fn among(values: impl IntoIterator<Item = ValueId>) -> Self {
        let mut all: Vec<ValueId> = Vec::new();
        for value in values {
            if !all.contains(&value) {
                all.push(value);
            }
        }
        Self::Among(all)
    }
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

/// Why it is not known how a process goes on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Excess {
    /// A value is outside its bound (see [`Bounds`](crate::program::Bounds)).
    Bound {
        /// The variable or register.
        name: String,
        /// The value.
        value: i128,
        /// The bound.
        bound: (i128, i128),
    },
    /// A value does not fit 128 bits.
    Overflow,
    /// The process computes for very long without a step.
    Endless,
    /// A variable takes more values than there are numbers for them.
    Values,
}

impl fmt::Display for Excess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bound { name, value, bound: (low, high) } => {
                write!(f, "{name} gets {value}, which is outside its bound {low}..{high}")
            }
            Self::Overflow => f.write_str("a value does not fit 128 bits"),
            Self::Endless => f.write_str("a process computes for too long without a step"),
            Self::Values => f.write_str("a variable takes too many values"),
        }
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
    Index(i128),
    /// A value outside the domain that was given for a variable or register.
    Domain(String, i128),
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

/// The beginning or the end of a call (Wang et al. 2021, section 2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mark {
    /// `call(m,a)`
    Call(MethodId, Option<i128>),
    /// `return(m,a)`
    Return(MethodId, Option<i128>),
}

/// An operation of a system (Atig et al. 2012, section 3.1, and a full fence).
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

/// A program whose reads cannot be guessed: a variable has no finite domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildError {
    /// What is wrong.
    pub message: String,
    /// Where.
    pub span: SpanId,
    /// What to do about it.
    pub help: String,
    /// The variable that has too many values.
    pub unbounded: String,
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for BuildError {}

/// Why there is no system of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unbuilt {
    /// The program is no system.
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
            Self::Wrong(error) => error.fmt(f),
            Self::Stopped(stop) => write!(f, "{stop} while building the automata"),
        }
    }
}

impl std::error::Error for Unbuilt {}

impl Unbuilt {
    /// What went wrong without a limit.
    fn without_limits(self) -> BuildError {
        match self {
            Self::Wrong(error) => error,
            Self::Stopped(stop) => unreachable!("{stop}, although there is none"),
        }
    }
}

impl System {
    /// The system of a program.
    ///
    /// # Errors
    /// Never for a program that a front end made.
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
    /// As for [`System::for_model`], and if a limit is reached.
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
        system.asked.clear();
        system
    }

    /// A system of which no control state was met.
    pub(crate) fn unfolded(
        program: Program,
        vars: Vec<Variable>,
        processes: Vec<Automaton>,
        watch: Watch,
        rounds: Rounds,
    ) -> Self {
        let (excess, expansion) = (Arc::default(), Arc::default());
        let (bounded, guesses_reads, asked) = (false, false, vec![]);
        let (vars, processes, watch) = (vars.into(), processes.into(), Arc::new(watch));
        Self {
            program,
            vars,
            processes,
            bounded,
            guesses_reads,
            asked,
            watch,
            rounds,
            excess,
            expansion,
        }
    }

    /// The system with all its control states.
    ///
    /// # Errors
    /// If the budget is used up before.
    pub fn expanded(&self, budget: &Budget) -> Result<Expanded<'_>, Stop> {
        if self.expansion.get().is_none() {
            let expansion = build::expand(self, budget)?;
            self.expansion.get_or_init(|| expansion);
        }
        Ok(Expanded::new(self, self.expansion.get().expect("it was made")))
    }

    /// The system in which a process can also stop at any of these control
    /// states, once its buffers are empty: a `fence` leads from each to a state of
    /// its own that nothing leaves. Returns the labels of these states, which
    /// stand nowhere else.
    ///
    /// # Panics
    /// If the transitions of the system were looked at before.
    pub fn with_stops(mut self, process: ProcessId, at: &[StateId]) -> (Self, Vec<LabelId>) {
        let mut stops = Vec::new();
        for &from in at {
            let State { node, in_call, place, registers, span, next, .. } =
                self.state(process, from);
            assert!(next.get().is_none(), "nothing leaves a state that was not looked at");
            let (at, place, span) = ((*node, *in_call), *place, *span);
            let registers = registers.clone();
            let labels = &mut self.program.processes[process.index()].labels;
            let label = LabelId::new(labels.len());
            labels.push(Label { name: format!("stop{}", from.0), span });
            let kind = StateKind::Inside;
            let mut state = State::new(at, place, kind, registers, [label].into(), false, span);
            state.is_stop = true;
            let processes = Arc::get_mut(&mut self.processes).expect("nobody else has the system");
            let automaton = &mut processes[process.index()];
            let to = StateId::new(automaton.states.push(state));
            let op = Op::Fence(FenceKind::Full);
            let stop = Transition { from, op, to, waits: false, mark: None, span };
            automaton.stops.insert(from, stop);
            stops.push(label);
        }
        (self, stops)
    }

    /// The memories that a run may begin with, one after another: there is one for each
    /// combination of initial values.
    pub fn initial_memories(&self) -> impl Iterator<Item = Vec<u32>> {
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

    /// A transition.
    #[inline]
    pub fn transition(&self, process: ProcessId, id: TransitionId) -> &Transition {
        self.processes[process.index()].transitions.get(id.index())
    }

    /// The transitions that leave a control state, for what the process sees of the variable that
    /// it reads there. `see` is told the variable, and whether it is an atomic read-write.
    #[inline]
    pub fn steps(
        &self,
        process: ProcessId,
        state: StateId,
        see: impl FnOnce(VarId, bool) -> Seen,
    ) -> Steps<'_> {
        match self.next(process, state) {
            Next::Free { first, list, .. } => Steps::Free(*first, list.iter()),
            Next::Read { var, atomic, on, stop } => match see(*var, *atomic) {
                Seen::One(value) if stop.is_none() => {
                    Steps::One(self.on_value(process, state, *var, on, value))
                }
                seen => {
                    let values = match seen {
                        Seen::One(value) => vec![value],
                        Seen::Among(values) => values,
                    };
                    let on = |value| self.on_value(process, state, *var, on, value);
                    let stop = stop.map(|id| (id, self.transition(process, id)));
                    let all = values.into_iter().filter_map(on).chain(stop);
                    Steps::List(all.collect::<Vec<_>>().into_iter())
                }
            },
        }
    }

    /// The same where the process sees one value: semantics with one memory spend most of their
    /// time here.
    #[inline]
    pub fn steps_on(
        &self,
        process: ProcessId,
        state: StateId,
        see: impl FnOnce(VarId, bool) -> ValueId,
    ) -> StepsOn<'_> {
        match self.next(process, state) {
            Next::Free { first, list, .. } => {
                StepsOn { number: *first, free: list.iter(), read: None, stop: None }
            }
            Next::Read { var, atomic, on, stop } => StepsOn {
                number: 0,
                free: [].iter(),
                read: self.on_value(process, state, *var, on, see(*var, *atomic)),
                stop: stop.map(|id| (id, self.transition(process, id))),
            },
        }
    }

    /// The transition of a process that is at a control state with no other, if nothing that is
    /// asked can tell whether it was taken, other than by what it does to memory or buffers.
    #[inline]
    pub fn quiet_step(
        &self,
        process: ProcessId,
        state: StateId,
    ) -> Option<(TransitionId, &Transition)> {
        match self.next(process, state) {
            Next::Free { first, list, is_quiet: true } => Some((TransitionId(*first), &list[0])),
            _ => None,
        }
    }

    /// The variable that a process reads next, if it reads one.
    pub fn reads(&self, process: ProcessId, state: StateId) -> Option<VarId> {
        match self.next(process, state) {
            Next::Read { var, .. } => Some(*var),
            Next::Free { .. } => None,
        }
    }

    /// The code of a process by itself, as steps between places: every run of the process goes
    /// along them, whatever it reads.
    pub fn code(&self, process: ProcessId) -> impl Iterator<Item = &CodeStep> {
        self.processes[process.index()].abstraction.steps.iter()
    }

    /// How many places the code of a process has.
    pub fn place_count(&self, process: ProcessId) -> usize {
        self.processes[process.index()].abstraction.len()
    }

    /// The variables that a process may read or write somewhere.
    pub fn accesses(&self, process: ProcessId) -> Accesses {
        let mut found = Accesses { reads: vec![], writes: vec![] };
        for step in &self.processes[process.index()].abstraction.steps {
            let (list, range) = match &step.access {
                Access::Read(range) => (&mut found.reads, range),
                Access::Write(range) => (&mut found.writes, range),
                Access::Arw(_) | Access::Fence(_) | Access::Local => continue,
            };
            list.extend(range.clone().map(VarId::new));
        }
        for list in [&mut found.reads, &mut found.writes] {
            list.sort_unstable();
            list.dedup();
        }
        found
    }

    /// A control state.
    #[inline]
    pub fn state(&self, process: ProcessId, state: StateId) -> &State {
        self.processes[process.index()].states.get(state.index())
    }

    /// How many control states of a process were met.
    pub fn met(&self, process: ProcessId) -> usize {
        self.processes[process.index()].states.len()
    }

    /// Why some control state that was met goes no further although the program would, if
    /// there is one. Then that nothing was found shows nothing.
    pub fn excess(&self) -> Option<&str> {
        self.excess.get().map(String::as_str)
    }

    /// Every `await` to which its process may come and which it never passes, whatever it
    /// reads. None while a bound may be left: beyond, it might.
    pub fn never_passed(&self) -> Vec<(ProcessId, SpanId)> {
        let mut all = Vec::new();
        for p in self.process_ids().filter(|_| !self.bounded && self.excess().is_none()) {
            let Automaton { flow, abstraction, .. } = &self.processes[p.index()];
            let blocked = abstraction.awaits.iter().filter(|(_, passes)| !**passes);
            all.extend(blocked.map(|(test, _)| (p, flow.nodes[*test].span)));
        }
        all
    }

    /// The variable or register that took most values, with their number.
    pub fn growth(&self) -> Option<(String, usize)> {
        let vars = self.vars.iter().map(|v| (v.name.clone(), v.count()));
        let registers = self.process_ids().flat_map(|p| {
            let declared = &self.program.processes[p.index()].registers;
            declared.iter().enumerate().map(move |(r, register)| {
                let states = self.processes[p.index()].states.iter();
                let values: HashSet<i128> = states.map(|s| s.registers[r]).collect();
                (register.display.clone(), values.len())
            })
        });
        // A register that copies a variable is not what grows.
        let most = vars.max_by_key(|(_, count)| *count);
        let local = registers.max_by_key(|(_, count)| *count);
        match (most, local) {
            (Some(var), Some(register)) if register.1 > 2 * var.1 => Some(register),
            (var, register) => var.or(register),
        }
    }

    /// The ids of the processes.
    pub fn process_ids(&self) -> impl Iterator<Item = ProcessId> + use<> {
        (0..self.processes.len()).map(ProcessId::new)
    }

    /// The number that a value stands for.
    #[inline]
    pub fn value(&self, var: VarId, value: ValueId) -> i128 {
        *self.vars[var.index()].numbers.get(value.index())
    }

    /// A value of a variable as a person would write it.
    pub fn show_value(&self, var: VarId, value: ValueId) -> String {
        self.program.show_value(self.vars[var.index()].domain, self.value(var, value))
    }

    /// The value of an atom in a state: control states and memory.
    #[inline]
    pub fn atom(&self, atom: Atom, controls: &[u32], memory: &[u32]) -> i128 {
        let state = |p: ProcessId| self.state(p, StateId(controls[p.index()]));
        match atom {
            Atom::Var(var) => self.value(var, ValueId(memory[var.index()])),
            Atom::Reg(process, _) | Atom::At(process, _) => state(process).atom(atom),
        }
    }

    /// Whether a formula holds. One that divides by zero or overflows does not.
    #[inline]
    pub fn holds(&self, formula: &Formula, controls: &[u32], memory: &[u32]) -> bool {
        formula.eval(&mut |a| self.atom(*a, controls, memory)).is_ok_and(|v| v != 0)
    }

    /// Whether every process has ended.
    #[inline]
    pub fn all_ended(&self, controls: &[u32]) -> bool {
        self.process_ids()
            .all(|p| self.state(p, StateId(controls[p.index()])).kind == StateKind::Ended)
    }

    /// The failure of the first process that has failed.
    #[inline]
    pub fn failed(&self, controls: &[u32]) -> Option<(ProcessId, &Failure)> {
        self.process_ids().find_map(|p| match &self.state(p, StateId(controls[p.index()])).kind {
            StateKind::Failed(failure) => Some((p, failure)),
            _ => None,
        })
    }

    /// What the first process that has left a bound has left it with.
    pub fn left(&self, controls: &[u32]) -> Option<&Excess> {
        self.process_ids().find_map(|p| match &self.state(p, StateId(controls[p.index()])).kind {
            StateKind::Left(excess) => Some(excess),
            _ => None,
        })
    }

    /// The property that says that no value leaves its bound, if one could.
    pub fn bounds_property(&self) -> Option<usize> {
        self.bounded.then(|| self.program.properties.len() - 1)
    }

    /// Whether a process is blocked on a memory that does not change any
    /// more, with its buffers empty: no operation is possible, or only the
    /// rounds of an `await` whose condition does not come true.
    ///
    /// This is about memory alone, so it is the same question in every model.
    pub fn is_stuck(&self, process: ProcessId, state: StateId, memory: &[u32]) -> bool {
        let mut seen = vec![state];
        let mut next = 0;
        while let Some(&state) = seen.get(next) {
            next += 1;
            let see = |x: VarId, _| Seen::One(ValueId(memory[x.index()]));
            for (_, t) in self.steps(process, state, see) {
                if !t.waits {
                    return false;
                }
                if !seen.contains(&t.to) {
                    seen.push(t.to);
                }
            }
        }
        true
    }

    /// Whether no further step is possible and some process has not ended,
    /// given that all buffers are empty.
    pub fn is_deadlock(&self, controls: &[u32], memory: &[u32]) -> bool {
        self.failed(controls).is_none()
            && !self.all_ended(controls)
            && self.process_ids().all(|p| self.is_stuck(p, StateId(controls[p.index()]), memory))
    }

    /// What a property asks, as it was written: with the labels that no process reaches.
    pub fn asked(&self, property: usize) -> &PropertyKind {
        self.asked.get(property).unwrap_or(&self.program.properties[property].kind)
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

    /// Whether no process has a loop.
    pub fn is_loop_free(&self) -> bool {
        self.process_ids().all(|p| self.longest(p, |_| true).is_some())
    }

    /// The most operations that a run of a process can do, `nop`s left out; `None` if there is
    /// no bound, which takes a loop.
    pub fn most_operations(&self, process: ProcessId) -> Option<usize> {
        self.longest(process, |access| *access != Access::Local)
    }

    /// The most stores that a run of a process can do; `None` if there is no bound.
    pub fn most_writes(&self, process: ProcessId) -> Option<usize> {
        self.longest(process, |access| matches!(access, Access::Write(_)))
    }

    /// For each place of the code, the most loads that a process can still do.
    pub(crate) fn most_reads(&self, process: ProcessId) -> Vec<Option<usize>> {
        let abstraction = &self.processes[process.index()].abstraction;
        abstraction.longest(|access| matches!(access, Access::Read(_)))
    }

    /// The values that a read may guess, for semantics in which reads take place before it is
    /// known what they return.
    ///
    /// # Panics
    /// If they were not worked out: where reads do not range over a domain, they are those of
    /// the [expanded](System::expanded) system.
    pub(crate) fn guesses(&self, var: VarId) -> Vec<ValueId> {
        match self.expansion.get() {
            Some(expansion) => expansion.values(var).to_vec(),
            None => {
                assert!(self.guesses_reads, "what may be guessed is not known");
                (0..self.vars[var.index()].count()).map(ValueId::new).collect()
            }
        }
    }

    /// The most steps of a process by itself that `count` accepts.
    fn longest(&self, process: ProcessId, count: impl Fn(&Access) -> bool) -> Option<usize> {
        let automaton = &self.processes[process.index()];
        let at = self.state(process, automaton.initial).place?;
        automaton.abstraction.longest(count)[at]
    }
}

/// What [`System::steps`] returns.
pub enum Steps<'s> {
    /// Transitions with the number of the first.
    Free(u32, std::slice::Iter<'s, Transition>),
    /// At most one.
    One(Option<(TransitionId, &'s Transition)>),
    /// Several, one by one.
    List(std::vec::IntoIter<(TransitionId, &'s Transition)>),
}

impl<'s> Iterator for Steps<'s> {
    type Item = (TransitionId, &'s Transition);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Free(number, list) => {
                let id = TransitionId(*number);
                *number += 1;
                list.next().map(|t| (id, t))
            }
            Self::One(one) => one.take(),
            Self::List(list) => list.next(),
        }
    }
}

/// What [`System::steps_on`] returns.
pub struct StepsOn<'s> {
    number: u32,
    free: std::slice::Iter<'s, Transition>,
    read: Option<(TransitionId, &'s Transition)>,
    stop: Option<(TransitionId, &'s Transition)>,
}

impl<'s> Iterator for StepsOn<'s> {
    type Item = (TransitionId, &'s Transition);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        match self.free.next() {
            Some(t) => {
                let id = TransitionId(self.number);
                self.number += 1;
                Some((id, t))
            }
            None => self.read.take().or_else(|| self.stop.take()),
        }
    }
}

/// What [`System::accesses`] returns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accesses {
    /// Variables that are read, by loads.
    pub reads: Vec<VarId>,
    /// Variables that are written, by stores.
    pub writes: Vec<VarId>,
}

impl Automaton {
    /// A process of which no control state was met.
    pub(crate) fn new(name: String, flow: Flow, abstraction: Abstraction) -> Self {
        Self {
            name,
            initial: StateId(0),
            flow,
            abstraction,
            states: Grow::default(),
            transitions: Grow::default(),
            ids: Mutex::default(),
            stops: FxHashMap::default(),
        }
    }
}

impl State {
    /// The value of a register or place of the process; 0 for a variable.
    #[inline]
    pub fn atom(&self, atom: Atom) -> i128 {
        match atom {
            Atom::Var(_) => 0,
            Atom::Reg(_, reg) => self.registers[reg.index()],
            Atom::At(_, label) => i128::from(self.labels.contains(&label)),
        }
    }

    /// Whether a call of a method is pending here.
    pub fn is_pending(&self) -> bool {
        self.in_call
    }

    /// The place of the code ([`System::code`]) at which the process stands.
    #[inline]
    pub fn place(&self) -> Option<usize> {
        self.place
    }

    pub(crate) fn new(
        (node, in_call): (NodeId, bool),
        place: Option<usize>,
        kind: StateKind,
        registers: Box<[i128]>,
        labels: Box<[LabelId]>,
        is_choice: bool,
        span: SpanId,
    ) -> Self {
        let next = OnceLock::new();
        Self {
            node,
            in_call,
            is_stop: false,
            place,
            kind,
            registers,
            labels,
            is_choice,
            span,
            next,
        }
    }
}
