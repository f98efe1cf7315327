//! What the questions observe of a process, as far as the construction of a system
//! depends on it.

use super::polarity;
use crate::ids::{LabelId, ProcessId};
use crate::program::{Atom, Formula, LiveKind, Program, PropertyKind};

/// What is asked of a label, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Asked {
    /// Nothing.
    Never,
    /// Whether a process stands there in a final state.
    AtEnd,
    /// Whether a process ever stands there: it occurs only positively, in `never`.
    Positively,
    /// Whether a process stands there, at every moment.
    Exactly,
}

impl Asked {
    pub fn shows_entering(self) -> bool {
        self == Self::Exactly
    }

    pub fn shows_leaving(self) -> bool {
        self >= Self::Positively
    }
}

/// What properties ask about, per process.
#[derive(Debug)]
pub(crate) struct Watch {
    /// What is asked of labels.
    pub labels: Vec<Vec<Asked>>,
    /// Registers whose value is asked for at some time.
    pub kept: Vec<Vec<bool>>,
    /// Registers whose value is asked for at every moment.
    pub always: Vec<Vec<bool>>,
    /// Variables whose value is asked for at every moment.
    pub memory: Vec<bool>,
}

impl Watch {
    pub fn new(program: &Program) -> Self {
        let registers: Vec<_> =
            program.processes.iter().map(|p| vec![false; p.registers.len()]).collect();
        let labels = program.processes.iter().map(|p| vec![Asked::Never; p.labels.len()]).collect();
        let memory = vec![false; program.var_count()];
        let mut watch = Self { labels, kept: registers.clone(), always: registers, memory };
        for property in &program.properties {
            match &property.kind {
                PropertyKind::Never(formula) => {
                    watch.formula(formula, true);
                    let positive = polarity::positive_places(formula);
                    formula.atoms(&mut |a| match a {
                        Atom::At(p, l) if positive.contains(a) => {
                            watch.label(*p, *l, Asked::Positively);
                        }
                        Atom::At(p, l) => watch.label(*p, *l, Asked::Exactly),
                        _ => {}
                    });
                }
                PropertyKind::Final(_, formula) => watch.formula(formula, false),
                PropertyKind::NoDeadlock(except) => {
                    for (process, label) in except {
                        watch.label(*process, *label, Asked::Exactly);
                    }
                }
                PropertyKind::Assertions => {}
            }
        }
        for live in &program.live {
            match &live.kind {
                LiveKind::Exists(f) | LiveKind::Never(f) | LiveKind::Always(f) => {
                    watch.exactly(f);
                }
                LiveKind::Ltl { formula, .. } => formula.states(&mut |f| watch.exactly(f)),
                LiveKind::Terminates => {}
            }
        }
        for (process, label) in program.games.iter().flat_map(|g| &g.targets) {
            watch.label(*process, *label, Asked::Exactly);
        }
        if let Some(formula) = &program.filter {
            watch.formula(formula, false);
        }
        for atom in program.observed.iter().flatten() {
            watch.atom(*atom, false);
        }
        watch
    }

    /// Marks the atoms of a formula whose value is observed at every moment.
    fn exactly(&mut self, formula: &Formula) {
        self.formula(formula, true);
        formula.atoms(&mut |a| {
            if let Atom::At(p, l) = a {
                self.label(*p, *l, Asked::Exactly);
            }
        });
    }

    fn formula(&mut self, formula: &Formula, always: bool) {
        formula.atoms(&mut |a| self.atom(*a, always));
    }

    fn atom(&mut self, atom: Atom, always: bool) {
        match atom {
            Atom::Var(x) => self.memory[x.index()] |= always,
            Atom::Reg(p, r) => {
                self.kept[p.index()][r.index()] = true;
                self.always[p.index()][r.index()] |= always;
            }
            Atom::At(p, l) => self.label(p, l, Asked::AtEnd),
        }
    }

    fn label(&mut self, process: ProcessId, label: LabelId, asked: Asked) {
        let known = &mut self.labels[process.index()][label.index()];
        *known = asked.max(*known);
    }

    /// The labels of a process of which something is asked.
    pub fn marked(&self, process: usize) -> Vec<bool> {
        self.labels[process].iter().map(|asked| *asked != Asked::Never).collect()
    }
}
