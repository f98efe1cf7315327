//! Systems: a program as automata, one per process, over finitely many variables (Atig et
//! al. 2012, section 3.1).
//!
//! A control state is a place in the code together with the values of the live registers;
//! an operation contains the value that it reads. Everything is numbered densely, in the
//! order in which a search meets it: control states and values are created when a search
//! reaches them ([`System::steps`]). Engines that need all of them call
//! [`System::expanded`]. Semantics and engines see systems only.

mod automaton;
mod code;
mod error;
mod evaluate;
mod show;
mod steps;

use std::sync::{Arc, OnceLock};

use rustc_hash::FxHashSet;

pub use crate::build::{Access, CodeStep, Expanded};
pub use automaton::{
    Automaton, Excess, Failure, Mark, Op, Standing, State, StateKind, Transition, Variable,
};
pub use code::Accesses;
pub use error::{BuildError, Unbuilt};
pub use steps::{Seen, Steps, StepsOn};

use crate::build::{self, Expansion, Rounds, Watch};
use crate::ids::{LabelId, ProcessId, QuestionId, RegId, StateId, ValueId, VarId};
use crate::limits::{Budget, Stop};
use crate::memory_model::MemoryModel;
use crate::program::{
    AtomicKind, FenceKind, Label, Order, Program, Property, PropertyKind, Quantifier,
};
use crate::question::{Kind, Question, numbered};

/// How many values of registers of a process are examined to find what grows.
const MAX_EXAMINED: usize = 1 << 17;

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
    /// The program that it came from, for names.
    pub program: Program,
    /// What is asked of it.
    pub questions: Vec<Question>,
    /// The variables.
    pub vars: Arc<[Variable]>,
    /// The processes.
    pub processes: Arc<[Automaton]>,
    /// Whether reads return any value of their variable's domain.
    pub(crate) guesses_reads: bool,
    /// Whether transitions have the memory orders of the program, and no fences stand for them.
    pub(crate) keeps_orders: bool,
    pub(crate) watch: Arc<Watch>,
    pub(crate) rounds: Rounds,
    /// Whether every control state is observed, so that no step is quiet.
    pub(crate) observes_all: bool,
    /// Whether every access of a statement is a step.
    divides: bool,
    /// Why some control state that was met goes no further although the program would.
    pub(crate) excess: Arc<OnceLock<String>>,
    expansion: Arc<OnceLock<Expansion>>,
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
    /// its variable's domain. For [`MemoryModel::C11`] transitions have memory orders, and a compare-and-swap
    /// that fails is a read. Otherwise this is [`System::new`].
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
        let orders = match model == MemoryModel::C11 {
            true => build::Orders::Kept,
            false => build::Orders::Fences,
        };
        build::build(program, build::Way { reads, orders, ..build::Way::PLAIN }, budget)
    }

    /// The system without what cannot influence the answer to some of its questions, under SC,
    /// TSO, PSO or NSW; `None` if that is nothing. What no state of the slice settles, no state
    /// of the system settles; the converse is false. The slice has the places, registers and
    /// variables of the system, so it can be asked the same questions.
    ///
    /// # Errors
    /// If a limit is reached.
    pub fn slice(&self, questions: &[Question], budget: &Budget) -> Result<Option<Self>, Unbuilt> {
        if self.observes_all
            || self.guesses_reads
            || self.keeps_orders
            || self.bounds_question().is_some()
            || self.program.object.is_some()
        {
            return Ok(None);
        }
        let property = |q: &Question| {
            let kind = match &q.kind {
                Kind::Never(formula) => PropertyKind::Never(formula.clone()),
                Kind::Assertions => PropertyKind::Assertions,
                Kind::NoDeadlock(except) => PropertyKind::NoDeadlock(except.clone()),
                Kind::Final { quantifier, formula, .. } => {
                    PropertyKind::Final(*quantifier, formula.clone())
                }
                Kind::Valued { formula, .. } => {
                    PropertyKind::Final(Quantifier::Always, formula.clone())
                }
                Kind::Races | Kind::Bounds | Kind::Within(_) => return None,
            };
            Some(Property { name: Some(q.name.clone()), kind, span: q.span })
        };
        let properties = questions.iter().filter_map(property).collect();
        let (live, games, observed) = (vec![], vec![], None);
        let program = Program { properties, live, games, observed, ..self.program.clone() };
        build::slice(program, questions, budget)
    }

    /// The same system with other questions, for which every control state makes a difference:
    /// no step is quiet. Ids mean the same in both.
    #[must_use]
    pub fn observing_all(&self, questions: Vec<Question>) -> Self {
        Self { questions, observes_all: true, ..self.clone() }
    }

    /// Whether the system has every read that a model can make, and memory orders if the model knows
    /// them. Engines answer `unknown` for one that has not.
    pub fn serves(&self, model: MemoryModel) -> bool {
        self.keeps_orders == (model == MemoryModel::C11)
            && (self.guesses_reads || !model.guesses_reads())
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

    /// What is left of a program whose system was not built: its names and questions, and
    /// no automata. Reports need it to say that nothing is known; it must not be searched.
    pub fn unbuilt(program: Program) -> Self {
        build::unbuilt(program)
    }

    /// As [`System::with_rounds`], within limits.
    ///
    /// # Errors
    /// As for [`System::new`], and if a limit is reached.
    pub fn with_rounds_within(program: Program, budget: &Budget) -> Result<Self, Unbuilt> {
        let way = build::Way { rounds: build::Rounds::Kept, ..build::Way::PLAIN };
        build::build(program, way, budget)
    }

    /// A system of which no control state was met.
    pub(crate) fn unfolded(
        program: Program,
        questions: Vec<Question>,
        vars: Vec<Variable>,
        processes: Vec<Automaton>,
        watch: Watch,
        rounds: Rounds,
    ) -> Self {
        let (excess, expansion) = (Arc::default(), Arc::default());
        let (vars, processes, watch) = (vars.into(), processes.into(), Arc::new(watch));
        Self {
            program,
            questions,
            vars,
            processes,
            guesses_reads: false,
            keeps_orders: false,
            observes_all: false,
            divides: false,
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
            let (at, place, span) = ((*node, *in_call, None), *place, *span);
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
            let order = Order::Relaxed;
            let stop =
                Transition { from, op, order, to, waits: false, is_quiet: false, mark: None, span };
            automaton.stops.insert(from, stop);
            stops.push(label);
        }
        (self, stops)
    }

    /// The memories that a run may begin with, one after another: there is one for each
    /// combination of initial values.
    pub fn initial_memories(&self) -> impl Iterator<Item = Vec<ValueId>> {
        let any = self.vars.iter().all(|x| !x.initial.is_empty());
        let mut next: Option<Vec<usize>> = any.then(|| vec![0; self.vars.len()]);
        std::iter::from_fn(move || {
            let chosen = next.as_mut()?;
            let memory = self.vars.iter().zip(chosen.iter()).map(|(x, &i)| x.initial[i]);
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

    /// A control state.
    #[inline]
    pub fn state(&self, process: ProcessId, state: StateId) -> &State {
        self.processes[process.index()].states.get(state.index())
    }

    /// Whether a control state has the value of a register. It has 0 for one whose value no
    /// longer matters.
    pub fn keeps(&self, process: ProcessId, state: StateId, reg: RegId) -> bool {
        let node = self.state(process, state).node;
        self.processes[process.index()].flow.live[node][reg.index()]
    }

    /// The same system in which statements are not steps, not under SC either: every access is.
    #[must_use]
    pub fn divided(&self) -> Self {
        Self { divides: true, ..self.clone() }
    }

    /// The least kind of block that is atomic under a model.
    fn least_block(&self, model: MemoryModel) -> AtomicKind {
        match model.normal() == MemoryModel::SC && !self.divides {
            true => AtomicKind::Statement,
            false => AtomicKind::Full,
        }
    }

    /// The process that is in the middle of an atomic block, if one is: only it takes steps.
    #[inline]
    pub fn in_block(
        &self,
        model: MemoryModel,
        controls: &[impl Copy + Into<StateId>],
    ) -> Option<ProcessId> {
        let least = Some(self.least_block(model));
        let lock = |p: ProcessId| self.state(p, controls[p.index()].into()).lock;
        self.process_ids().find(|&p| lock(p) >= least)
    }

    /// Whether there are atomic blocks of several steps under a model.
    pub fn has_blocks(&self, model: MemoryModel) -> bool {
        let least = Some(self.least_block(model));
        self.processes.iter().flat_map(|p| &p.flow.nodes).any(|node| node.lock >= least)
    }

    /// Whether a process is in the middle of an atomic block, under some model.
    pub(crate) fn is_in_block(&self, process: ProcessId, state: StateId) -> bool {
        self.state(process, state).lock.is_some()
    }

    /// How many control states of a process were met.
    pub fn met(&self, process: ProcessId) -> usize {
        self.processes[process.index()].states.len()
    }

    /// Why some control state that was met goes no further although the program would, if there is
    /// one. Then an unsuccessful search proves nothing.
    pub fn excess(&self) -> Option<&str> {
        self.excess.get().map(String::as_str)
    }

    /// The variable or register that took most values, with their number. Of the control states
    /// of a process only the first ones are looked at, since this is asked after a limit is
    /// reached: a register may have taken more values.
    pub fn growth(&self) -> Option<(String, usize)> {
        let vars = self.vars.iter().map(|v| (v.name.clone(), v.count()));
        let registers = self.process_ids().flat_map(|p| {
            let declared = &self.program.processes[p.index()].registers;
            declared.iter().enumerate().map(move |(r, register)| {
                let states = self.processes[p.index()].states.iter();
                let states = states.take(MAX_EXAMINED / declared.len());
                let values: FxHashSet<i128> = states.map(|s| s.registers[r]).collect();
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

    /// How many control states of each process and values of each variable were created so far.
    pub fn sizes(&self) -> impl Iterator<Item = usize> + '_ {
        let states = self.processes.iter().map(|p| p.states.len());
        states.chain(self.vars.iter().map(Variable::count))
    }

    /// The ids of the processes.
    pub fn process_ids(&self) -> impl Iterator<Item = ProcessId> + use<> {
        (0..self.processes.len()).map(ProcessId::new)
    }

    /// Whether some value may leave its bound.
    pub(crate) fn may_leave_a_bound(&self) -> bool {
        self.processes.iter().any(|p| p.abstraction.leaves.is_some())
    }

    /// The question whether a value leaves its bound, if one could.
    pub fn bounds_question(&self) -> Option<QuestionId> {
        numbered(&self.questions).find(|(_, q)| q.kind == Kind::Bounds).map(|(id, _)| id)
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
}
