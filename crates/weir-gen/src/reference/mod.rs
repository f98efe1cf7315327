//! A reference semantics of programs, which works on the [`Program`] itself.
//!
//! It shares no code with the construction of a `System`, nor with any semantics or
//! engine, and it is simple on purpose: no steps are merged, and nothing is inferred.
//!
//! *Processes.* Every statement is a separate step, also assignments, tests, `assume`,
//! `assert`, `goto`, `break`, `continue` and `exit`. A process is before its next
//! statement, and a label refers to that moment:
//!
//! * A label before a loop is the loop's head. It holds whenever the head is reached, on
//!   entry, from the end of the body and by `continue`, until the first statement of the
//!   body has been executed. If the body begins with a label or with another loop, the head
//!   is a place of its own, left by a silent step.
//! * A label before an `await` holds until the test has succeeded.
//! * A label at the end of a block is a place of its own, left by a silent step. At the end
//!   of the body of the process, the process ends there and stays there.
//! * Labels that directly follow each other all hold at the statement behind them.
//! * Going on behind a block, or back to the head of a loop, takes no step.
//!
//! An atomic operation is one step, with its result. A process fails when it reaches a
//! statement that is undefined for the values of its registers; it stays there.
//!
//! *Memory.* [`store_buffers`] explores SC, TSO and PSO; [`rewriting`] is the definition by
//! rewriting of traces (Atig et al. 2012, section 3.3), for every model without RRWE. [`live`]
//! is about infinite runs under SC. [`c11`] is the model of C11, C++20 and Rust by its axioms.
//!
//! ```
//! use weir_gen::{Rng, Shape, program, reference};
//! use weir_model::memory_model::MemoryModel;
//!
//! let program = program(&mut Rng::new(3), &Shape::default());
//! let atoms = program.everything();
//! let found = reference::store_buffers(&program, MemoryModel::TSO, &atoms, 100_000, 16);
//! let defined = reference::rewriting(&program, MemoryModel::TSO, &atoms, 100_000);
//! assert_eq!(found, defined);
//! ```

mod buffers;
mod c11;
mod code;
mod domain;
mod live;
mod locals;
mod ltl;
mod orders;
mod rewriting;
mod value;

use std::collections::BTreeSet;

use weir_model::program::{Atom, Formula, LiveKind, Program, PropertyKind, Quantifier};

pub use buffers::store_buffers;
pub use c11::c11;
pub use domain::domains;
pub use live::live;
pub use rewriting::{rewriting, rewriting_with};

/// What a program can reach, as the values of some atoms.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reached {
    /// The reachable states. Writes may still wait in buffers.
    pub states: BTreeSet<Vec<i128>>,
    /// Those in which every process has ended and every write has reached memory.
    pub finals: BTreeSet<Vec<i128>>,
    /// Whether some process can fail.
    pub fails: bool,
    /// Whether two accesses race.
    pub races: bool,
    /// Whether there is a deadlock: a state with empty buffers in which no process has failed,
    /// some process has not ended, and no process can take a step.
    pub deadlocks: bool,
    /// Whether a buffer was full: then there may be more.
    pub is_cut: bool,
}

/// The atoms that the properties and the filter of a program ask for.
pub fn atoms(program: &Program) -> Vec<Atom> {
    let mut atoms = BTreeSet::new();
    let mut ask = |f: &Formula| f.atoms(&mut |a| atoms.extend([*a]));
    for property in &program.properties {
        match &property.kind {
            PropertyKind::Never(formula) | PropertyKind::Final(_, formula) => ask(formula),
            PropertyKind::Assertions | PropertyKind::NoDeadlock(_) => {}
        }
    }
    for live in &program.live {
        match &live.kind {
            LiveKind::Exists(f) | LiveKind::Never(f) | LiveKind::Always(f) => ask(f),
            LiveKind::Ltl { formula, .. } => formula.states(&mut ask),
            LiveKind::Terminates => {}
        }
    }
    program.filter.iter().for_each(ask);
    atoms.into_iter().collect()
}

impl Reached {
    /// Whether the formula of a `final exists` has no value in a final state. `None` if buffers
    /// were full and it has one in all that were reached.
    pub fn is_without_value(
        &self,
        program: &Program,
        atoms: &[Atom],
        formula: &Formula,
    ) -> Option<bool> {
        let lacks = |s: &Vec<i128>| match program.filter.as_ref().map(|f| truth(f, atoms, s)) {
            Some(None) => true,
            Some(Some(false)) => false,
            Some(Some(true)) | None => truth(formula, atoms, s).is_none(),
        };
        match self.finals.iter().any(lacks) {
            true => Some(true),
            false => (!self.is_cut).then_some(false),
        }
    }

    /// Whether a property holds of what was reached; `atoms` are those that were asked
    /// for. `None` if buffers were full and no state settles it.
    pub fn holds(&self, program: &Program, atoms: &[Atom], asked: &PropertyKind) -> Option<bool> {
        let truth = |formula: &Formula, values: &[i128]| truth(formula, atoms, values);
        // The truth of a formula in a final state, and whether the state counts; `None` if one of
        // them has no value.
        let in_final = |f: &Formula, s: &[i128]| match program.filter.as_ref() {
            Some(filter) if !truth(filter, s)? => Some((false, false)),
            _ => Some((true, truth(f, s)?)),
        };
        let (is_settled, otherwise) = match asked {
            // Where processes stand in a deadlock is not kept.
            PropertyKind::NoDeadlock(except) if !except.is_empty() => return None,
            // A state in which the formula has no value violates the property.
            PropertyKind::Never(f) => {
                (self.states.iter().any(|s| truth(f, s) != Some(false)), true)
            }
            PropertyKind::Assertions => (self.fails, true),
            PropertyKind::NoDeadlock(_) => (self.deadlocks, true),
            PropertyKind::Final(quantifier, f) => {
                let found = self.finals.iter().any(|s| match (in_final(f, s), quantifier) {
                    (None, _) => *quantifier != Quantifier::Exists,
                    (Some((counts, holds)), Quantifier::Exists | Quantifier::Never) => {
                        counts && holds
                    }
                    (Some((counts, holds)), Quantifier::Always) => counts && !holds,
                });
                (found, *quantifier != Quantifier::Exists)
            }
        };
        match is_settled {
            true => Some(!otherwise),
            false => (!self.is_cut).then_some(otherwise),
        }
    }
}

/// Whether a formula holds, given the values of atoms; `None` if it has no value.
fn truth(formula: &Formula, atoms: &[Atom], values: &[i128]) -> Option<bool> {
    let value_of = |a: &Atom| {
        let known = atoms.iter().position(|b| a == b);
        values[known.expect("the atom was asked for")]
    };
    value::value(formula, &value_of).ok().map(|v| v != 0)
}

/// The possible initial memories.
fn memories(program: &Program) -> Vec<Vec<i128>> {
    let elements = program.vars.iter().flat_map(|d| &d.init);
    elements.fold(vec![vec![]], |memories, init| {
        let each = memories.into_iter();
        each.flat_map(|m: Vec<i128>| init.iter().map(move |v| [&m[..], &[*v]].concat())).collect()
    })
}
