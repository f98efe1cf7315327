//! What the questions observe of each process.
//!
//! A question does not distinguish most control states of a process. Among the places
//! that a process can reach by itself, one for each combination of observed values
//! suffices.

use weir_model::ids::{ProcessId, StateId};
use weir_model::program::Atom;
use weir_model::question::Question;
use weir_model::system::{Standing, System};

/// For each question and process the atoms that are asked of it.
pub(super) struct Watch<'s> {
    system: &'s System,
    atoms: Vec<Vec<Vec<Atom>>>,
    /// Whether some question tells all control states apart.
    all: bool,
}

/// What a question distinguishes of a control state: the values of its atoms, and whether the
/// process has failed or left a bound.
pub(super) type Class = (Vec<i128>, Standing);

impl<'s> Watch<'s> {
    pub fn new(system: &'s System, questions: &[Question]) -> Self {
        let of_question = |question: &Question| {
            let atoms = question.atoms();
            let own = |p: ProcessId| {
                let own = |a: &&Atom| matches!(**a, Atom::Reg(q, _) | Atom::At(q, _) if q == p);
                atoms.iter().filter(own).copied().collect()
            };
            system.process_ids().map(own).collect()
        };
        let all = questions.iter().any(Question::tells_all_apart);
        Self { system, atoms: questions.iter().map(of_question).collect(), all }
    }

    /// Whether a question asks something of a process.
    pub fn asks(&self, question: usize, process: ProcessId) -> bool {
        !self.atoms[question][process.index()].is_empty()
    }

    /// What a control state of a process is to a question.
    pub fn class(&self, question: usize, process: ProcessId, control: StateId) -> Class {
        let state = self.system.state(process, control);
        let atoms = &self.atoms[question][process.index()];
        (atoms.iter().map(|a| state.atom(*a)).collect(), state.standing())
    }

    /// Whether some question tells two control states apart.
    pub fn tells_apart(&self, process: ProcessId, a: StateId, b: StateId) -> bool {
        if self.all {
            return a != b;
        }
        let (a, b) = (self.system.state(process, a), self.system.state(process, b));
        let differs = |atom: &Atom| a.atom(*atom) != b.atom(*atom);
        a.standing() != b.standing()
            || self.atoms.iter().any(|of| of[process.index()].iter().any(differs))
    }
}
