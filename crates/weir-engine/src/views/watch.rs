//! What the properties ask of each process.
//!
//! A property does not tell most control states of a process apart. Of all
//! places that a process can come to by itself, it is enough to look at one for
//! each answer to what the property asks.

use rustc_hash::FxHashMap;
use weir_model::ids::{ProcessId, StateId};
use weir_model::limits::{Budget, Stop};
use weir_model::program::{Atom, Formula, PropertyKind, Quantifier};
use weir_model::system::{StateKind, System};

/// For each property, process and control state, a number: equal ones are the
/// same to the property.
pub(super) struct Watch {
    classes: Vec<Vec<Vec<usize>>>,
}

impl Watch {
    ///
    /// # Errors
    /// If a limit is reached.
    pub fn new(system: &System, budget: &Budget) -> Result<Self, Stop> {
        let of_property = |kind: &PropertyKind| {
            let atoms = asked(system, kind);
            system.process_ids().map(|p| classes(system, &atoms, p, budget)).collect()
        };
        let properties = &system.program.properties;
        let classes = properties.iter().map(|p| of_property(&p.kind));
        Ok(Self { classes: classes.collect::<Result<_, Stop>>()? })
    }

    /// What a control state of a process is to a property.
    pub fn class(&self, property: usize, process: ProcessId, control: StateId) -> usize {
        self.classes[property][process.index()][control.index()]
    }

    /// Whether some property tells two control states apart.
    pub fn tells_apart(&self, process: ProcessId, a: StateId, b: StateId) -> bool {
        (0..self.classes.len()).any(|i| self.class(i, process, a) != self.class(i, process, b))
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

fn classes(
    system: &System,
    atoms: &[Atom],
    p: ProcessId,
    budget: &Budget,
) -> Result<Vec<usize>, Stop> {
    let own = |a: &&Atom| matches!(**a, Atom::Reg(q, _) | Atom::At(q, _) if q == p);
    let mut controls = vec![0; system.processes.len()];
    let mut numbers = FxHashMap::default();
    let states = &system.processes[p.index()].states;
    let number = |s: usize| {
        budget.work(1 + atoms.len() / 64)?;
        controls[p.index()] = s as u16;
        let values: Vec<i64> =
            atoms.iter().filter(own).map(|a| system.atom(*a, &controls, &[])).collect();
        let has_failed = matches!(states[s].kind, StateKind::Failed(_));
        let next = numbers.len();
        Ok(*numbers.entry((values, has_failed)).or_insert(next))
    };
    (0..states.len()).map(number).collect()
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
    controls: &[u16],
    memory: &[u16],
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
