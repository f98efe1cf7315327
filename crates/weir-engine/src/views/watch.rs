//! What the properties observe of each process.
//!
//! A property does not distinguish most control states of a process. Among the places
//! that a process can reach by itself, one for each combination of observed values
//! suffices.

use weir_model::ids::{ProcessId, StateId};
use weir_model::program::{Atom, Formula, PropertyKind, Quantifier};
use weir_model::system::{State, StateKind, System};

/// For each property and process the atoms that are asked of it.
pub(super) struct Watch<'s> {
    system: &'s System,
    atoms: Vec<Vec<Vec<Atom>>>,
}

/// What a property can tell of a control state: the values of what it asks for, and whether the
/// process has failed.
pub(super) type Class = (Vec<i128>, bool);

impl<'s> Watch<'s> {
    pub fn new(system: &'s System) -> Self {
        let of_property = |kind: &PropertyKind| {
            let atoms = asked(system, kind);
            let own = |p: ProcessId| {
                let own = |a: &&Atom| matches!(**a, Atom::Reg(q, _) | Atom::At(q, _) if q == p);
                atoms.iter().filter(own).copied().collect()
            };
            system.process_ids().map(own).collect()
        };
        let properties = &system.program.properties;
        Self { system, atoms: properties.iter().map(|p| of_property(&p.kind)).collect() }
    }

    /// Whether a property asks something of a process.
    pub fn asks(&self, property: usize, process: ProcessId) -> bool {
        !self.atoms[property][process.index()].is_empty()
    }

    /// What a control state of a process is to a property.
    pub fn class(&self, property: usize, process: ProcessId, control: StateId) -> Class {
        let state = self.system.state(process, control);
        let atoms = &self.atoms[property][process.index()];
        let values = atoms.iter().map(|a| state.atom(*a)).collect();
        (values, matches!(state.kind, StateKind::Failed(_)))
    }

    /// Whether some property tells two control states apart.
    pub fn tells_apart(&self, process: ProcessId, a: StateId, b: StateId) -> bool {
        let (a, b) = (self.system.state(process, a), self.system.state(process, b));
        let failed = |s: &State| matches!(s.kind, StateKind::Failed(_));
        let differs = |atom: &Atom| a.atom(*atom) != b.atom(*atom);
        failed(a) != failed(b)
            || self.atoms.iter().any(|of| of[process.index()].iter().any(differs))
    }
}

/// The atoms that a property asks for.
fn asked(system: &System, kind: &PropertyKind) -> Vec<Atom> {
    let mut atoms = Vec::new();
    let mut ask = |formula: &Formula| formula.atoms(&mut |a| atoms.push(*a));
    match kind {
        PropertyKind::Never(formula) => ask(formula),
        PropertyKind::Final(_, formula) => {
            ask(formula);
            system.program.filter.iter().for_each(ask);
        }
        PropertyKind::Assertions | PropertyKind::NoDeadlock => {}
    }
    atoms
}

/// Whether a property asks for memory while writes may be under way.
pub(super) fn asks_memory(kind: &PropertyKind) -> bool {
    let PropertyKind::Never(formula) = kind else { return false };
    let mut asks = false;
    formula.atoms(&mut |a| asks |= matches!(a, Atom::Var(_)));
    asks
}

/// Whether control states and memory, with nothing under way where the property
/// speaks of an end, settle a property.
pub(super) fn settles(
    system: &System,
    kind: &PropertyKind,
    controls: &[u32],
    memory: &[u32],
) -> bool {
    match kind {
        PropertyKind::Never(formula) => system.holds(formula, controls, memory),
        PropertyKind::Assertions => system.failed(controls).is_some(),
        PropertyKind::NoDeadlock => system.is_deadlock(controls, memory),
        PropertyKind::Final(quantifier, formula) => {
            let filter = system.program.filter.as_ref();
            system.all_ended(controls)
                && filter.is_none_or(|f| system.holds(f, controls, memory))
                && system.holds(formula, controls, memory) == (*quantifier != Quantifier::Always)
        }
    }
}
