//! From a program to a system: construction on demand.
//!
//! A control state is a node of the control flow with the values of the registers that
//! are still live. It is created when a search reaches it: `on_demand` computes its
//! transitions when they are needed, by executing the code between two steps (`local`).
//! Before the search only the code of each process is analyzed (`abstraction`). For
//! models with guessed reads, `domain` computes the values that a read may guess. Some
//! engines need all control states at once: `expand` computes them.

mod abstraction;
mod depth;
mod domain;
mod expand;
mod local;
mod names;
mod on_demand;
pub(crate) mod polarity;
mod questions;
mod slice;
mod watch;

pub(crate) use self::abstraction::Abstraction;
pub use self::abstraction::{Access, CodeStep};
pub(crate) use self::expand::expand;
pub use self::expand::{Expanded, Expansion};
pub(crate) use self::on_demand::Next;
pub(crate) use self::watch::Watch;

use std::borrow::Cow;

use crate::flow::{Flow, NodeId};
use crate::limits::{self, Budget};
use crate::program::Program;
use crate::question::Question;
use crate::system::{Automaton, Excess, Failure, System, Unbuilt, Variable};

/// Whether the rounds of an `await` that change nothing are transitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rounds {
    /// They are: waiting takes steps.
    Kept,
    /// They are not: nothing new is reached by them.
    Left,
}

/// How the system of a program is made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way {
    pub rounds: Rounds,
    pub reads: Reads,
    pub orders: Orders,
}

impl Way {
    /// Of ordinary systems.
    pub const PLAIN: Self =
        Self { rounds: Rounds::Left, reads: Reads::Written, orders: Orders::Fences };
}

/// What becomes of the memory orders of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Orders {
    /// The memory model of the language reads them.
    Kept,
    /// Memory models of processors know none: they are fences ([`Program::fenced`]).
    Fences,
}

/// What a read may return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reads {
    /// A value that some write made.
    Written,
    /// Any value of the variable's domain.
    Guessed,
}

pub(crate) fn build(program: Program, way: Way, budget: &Budget) -> Result<System, Unbuilt> {
    let watch = Watch::new(&program);
    let flows = flows(&program, &watch, way.orders, budget)?;
    finish(program, watch, flows, way, budget)
}

/// See [`System::slice`].
pub(crate) fn slice(
    program: Program,
    questions: &[Question],
    budget: &Budget,
) -> Result<Option<System>, Unbuilt> {
    let watch = Watch::new(&program);
    let mut flows = flows(&program, &watch, Orders::Fences, budget)?;
    if !slice::cut(&program, &mut flows, questions, budget)? {
        return Ok(None);
    }
    finish(program, watch, flows, Way::PLAIN, budget).map(Some)
}

fn flows(
    program: &Program,
    watch: &Watch,
    orders: Orders,
    budget: &Budget,
) -> Result<Vec<Flow>, limits::Stop> {
    let program = match orders {
        Orders::Kept => Cow::Borrowed(program),
        Orders::Fences => program.fenced(),
    };
    let flow = |(p, process)| Flow::new(process, &watch.marked(p), &watch.kept[p], budget);
    program.processes.iter().enumerate().map(flow).collect()
}

fn finish(
    program: Program,
    watch: Watch,
    flows: Vec<Flow>,
    Way { rounds, reads, orders }: Way,
    budget: &Budget,
) -> Result<System, Unbuilt> {
    let guessed = match reads {
        Reads::Written => None,
        Reads::Guessed => Some(domain::domains(&program, &flows, budget)?),
    };
    let (abstractions, sets) = abstraction::explore(&program, &flows, guessed, budget)?;
    let questions = questions::ask(&program, Some(&abstractions), orders);
    let mut vars = Vec::new();
    for decl in &program.vars {
        for init in &decl.init {
            let name = program.var_name(crate::ids::VarId::new(vars.len()));
            let known = sets[vars.len()].iter().flatten().copied();
            vars.push(Variable::new(name, decl.domain, init, known));
        }
    }
    let processes = flows
        .into_iter()
        .zip(abstractions)
        .zip(&program.processes)
        .map(|((flow, abstraction), p)| Automaton::new(p.name.clone(), flow, abstraction))
        .collect();
    let mut system = System::unfolded(program, questions, vars, processes, watch, rounds);
    system.guesses_reads = reads == Reads::Guessed;
    system.keeps_orders = orders == Orders::Kept;
    system.enter();
    Ok(system)
}

/// See [`System::unbuilt`].
pub(crate) fn unbuilt(program: Program) -> System {
    let (watch, questions) = (Watch::new(&program), questions::ask(&program, None, Orders::Fences));
    System::unfolded(program, questions, vec![], vec![], watch, Rounds::Left)
}

/// What a control state is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub node: NodeId,
    pub registers: Vec<i128>,
    pub stop: Option<Stop>,
}

/// Why a process goes no further.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Stop {
    Failed(Failure),
    Left(Excess),
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}
