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
    let watch = Watch::new(&program);
    let flows = flows(&program, &watch, budget)?;
    finish(program, watch, flows, rounds, reads, budget)
}

/// See [`System::slice`].
pub(crate) fn slice(
    program: Program,
    questions: &[Question],
    budget: &Budget,
) -> Result<Option<System>, Unbuilt> {
    let watch = Watch::new(&program);
    let mut flows = flows(&program, &watch, budget)?;
    if !slice::cut(&program, &mut flows, questions, budget)? {
        return Ok(None);
    }
    finish(program, watch, flows, Rounds::Left, Reads::Written, budget).map(Some)
}

fn flows(program: &Program, watch: &Watch, budget: &Budget) -> Result<Vec<Flow>, limits::Stop> {
    let flow = |(p, process)| Flow::new(process, &watch.marked(p), &watch.kept[p], budget);
    program.processes.iter().enumerate().map(flow).collect()
}

fn finish(
    program: Program,
    watch: Watch,
    flows: Vec<Flow>,
    rounds: Rounds,
    reads: Reads,
    budget: &Budget,
) -> Result<System, Unbuilt> {
    let guessed = match reads {
        Reads::Written => None,
        Reads::Guessed => Some(domain::domains(&program, &flows, budget)?),
    };
    let (abstractions, sets) = abstraction::explore(&program, &flows, guessed, budget)?;
    let questions = questions::ask(&program, Some(&abstractions));
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
    system.enter();
    Ok(system)
}

/// See [`System::unbuilt`].
pub(crate) fn unbuilt(program: Program) -> System {
    let (watch, questions) = (Watch::new(&program), questions::ask(&program, None));
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
