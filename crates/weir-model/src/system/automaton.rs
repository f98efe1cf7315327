//! The parts of a system: variables, processes, control states, transitions.

use std::fmt;
use std::sync::{Mutex, OnceLock};

use rustc_hash::FxHashMap;

use crate::build::{Abstraction, Key, Next};
use crate::flow::{Flow, NodeId};
use crate::grow::Grow;
use crate::ids::{LabelId, MethodId, SpanId, StateId, TransitionId, ValueId, VarId};
use crate::program::{Atom, AtomicKind, Domain, FenceKind, Order};

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
    pub(super) numbers: Grow<i128>,
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
    /// For accesses that have raced: the transition that ends there.
    pub(crate) races: Mutex<FxHashMap<TransitionId, TransitionId>>,
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
            races: Mutex::default(),
        }
    }
}

/// A control state.
#[derive(Debug)]
pub struct State {
    /// Where in the code.
    pub(crate) node: NodeId,
    pub(super) in_call: bool,
    /// The atomic block in the middle of which the process is, if any.
    pub lock: Option<AtomicKind>,
    /// Whether the process was stopped here ([`with_stops`](crate::system::System::with_stops)).
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

    /// Whether the process has failed, or a value has left its bound.
    pub fn standing(&self) -> Standing {
        match &self.kind {
            StateKind::Failed(_) => Standing::Failed,
            StateKind::Left(Excess::Bound { .. }) => Standing::OutOfBounds,
            StateKind::Left(_) | StateKind::Inside | StateKind::Ended => Standing::Sound,
        }
    }

    /// Whether a call of a method is pending here.
    pub fn is_pending(&self) -> bool {
        self.in_call
    }

    /// The place of the code ([`code`](crate::system::System::code)) at which the process stands.
    #[inline]
    pub fn place(&self) -> Option<usize> {
        self.place
    }

    pub(crate) fn new(
        (node, in_call, lock): (NodeId, bool, Option<AtomicKind>),
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
            lock,
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

/// What kind of place a control state is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StateKind {
    /// Somewhere inside the program.
    Inside,
    /// The process has ended.
    Ended,
    /// The process did what a program must not do.
    Failed(Failure),
    /// A value of the process left its bound. What the process does from there on is not known: it
    /// loops in this sink state, so that no deadlock is reported because of it.
    Left(Excess),
}

/// What a question without a formula observes of a control state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Standing {
    /// Nothing.
    Sound,
    /// The process has failed.
    Failed,
    /// A value has left its bound.
    OutOfBounds,
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
            // A limit of a reader is a register with a sentence as its name, which is set when the limit is reached.
            Self::Bound { name, bound: (0, 0), .. } if name.contains(' ') => f.write_str(name),
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
    /// An assertion does not hold, and this is what it says then.
    Message(String),
    /// A division by zero.
    DivisionByZero,
    /// An index outside its array.
    Index(i128),
    /// A value outside the domain that was given for a variable or register.
    Domain(String, i128),
    /// An access that races with another one.
    Race,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Assertion => f.write_str("the assertion does not hold"),
            Self::Message(text) => f.write_str(text),
            Self::DivisionByZero => f.write_str("division by zero"),
            Self::Index(i) => write!(f, "index {i} is outside the array"),
            Self::Domain(name, value) => write!(f, "{value} is outside the domain of {name}"),
            Self::Race => f.write_str("this access races with another one"),
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
    /// The memory order of its access, for models of languages.
    pub order: Order,
    /// The control state that it enters.
    pub to: StateId,
    /// Stays inside one `await`: waiting, not progress.
    pub waits: bool,
    /// Whether no question can observe that it was taken, except through its effect on memory or
    /// buffers.
    pub is_quiet: bool,
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
