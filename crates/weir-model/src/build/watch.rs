//! What the properties observe of a process, as far as the construction of a system
//! depends on it.

use super::abstraction::Abstraction;
use super::polarity;
use crate::ids::{LabelId, ProcessId, SpanId};
use crate::program::{
    Atom, BinOp, Formula, Label, LiveKind, Program, Property, PropertyKind, Stmt, StmtKind, UnOp,
};

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
}

impl Watch {
    pub fn new(program: &Program) -> Self {
        let registers: Vec<_> =
            program.processes.iter().map(|p| vec![false; p.registers.len()]).collect();
        let labels = program.processes.iter().map(|p| vec![Asked::Never; p.labels.len()]).collect();
        let mut watch = Self { labels, kept: registers.clone(), always: registers };
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
                PropertyKind::Assertions | PropertyKind::NoDeadlock => {}
            }
        }
        for live in &program.live {
            match &live.kind {
                LiveKind::Exists(f) | LiveKind::Never(f) | LiveKind::Always(f) => {
                    watch.formula(f, true);
                    f.atoms(&mut |a| {
                        if let Atom::At(p, l) = a {
                            watch.label(*p, *l, Asked::Exactly);
                        }
                    });
                }
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

    fn formula(&mut self, formula: &Formula, always: bool) {
        formula.atoms(&mut |a| self.atom(*a, always));
    }

    fn atom(&mut self, atom: Atom, always: bool) {
        match atom {
            Atom::Var(_) => {}
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

/// A program that asserts something, or that can fail in another way, is asked
/// whether it fails, even if it does not ask itself.
pub(super) fn ask_for_assertions(program: &mut Program, processes: &[Abstraction]) {
    let failing = processes.iter().find_map(|p| p.fails);
    let asserting = || program.processes.iter().find_map(|p| first_assertion(&p.body));
    let span = failing.or_else(asserting);
    let kind = PropertyKind::Assertions;
    if let Some(span) = span
        && program.properties.iter().all(|p| p.kind != kind)
    {
        program.properties.push(Property { name: None, kind, span });
    }
}

/// The name of the label of what has left a bound. No language has such names.
const LEFT: &str = "(left its bound)";

/// A program in which a value can leave its bound is asked whether one does, last
/// of all. And a state in which something has left a bound shows nothing else.
pub(super) fn ask_for_bounds(program: &mut Program, processes: &[Abstraction]) -> bool {
    let mut left: Option<(Formula, SpanId)> = None;
    for (p, found) in processes.iter().enumerate() {
        let Some(span) = found.leaves else { continue };
        let labels = &mut program.processes[p].labels;
        labels.push(Label { name: LEFT.to_owned(), span });
        let here = Formula::Atom(Atom::At(ProcessId::new(p), LabelId::new(labels.len() - 1)));
        left = Some(match left {
            Some((earlier, span)) => (Formula::binary(BinOp::Or, earlier, here), span),
            None => (here, span),
        });
    }
    let Some((left, span)) = left else { return false };
    for property in &mut program.properties {
        if let PropertyKind::Never(formula) = &mut property.kind {
            let inside = Formula::unary(UnOp::Not, left.clone());
            let asked = std::mem::replace(formula, Formula::Const(0));
            *formula = Formula::binary(BinOp::And, inside, asked);
        }
    }
    let (name, kind) = (Some("bounds".to_owned()), PropertyKind::Never(left));
    program.properties.push(Property { name, kind, span });
    true
}

/// A label that its process cannot reach, whatever it reads, is where no process stands.
pub(super) fn drop_unreachable(program: &mut Program, processes: &[Abstraction]) {
    let unreachable = |p: ProcessId, l: LabelId| !processes[p.index()].labels.contains(&l);
    let formulas = program.properties.iter_mut().filter_map(|property| match &mut property.kind {
        PropertyKind::Never(formula) | PropertyKind::Final(_, formula) => Some(formula),
        PropertyKind::Assertions | PropertyKind::NoDeadlock => None,
    });
    for formula in formulas {
        formula.replace(&|atom| match atom {
            Atom::At(p, l) if unreachable(*p, *l) => Some(Formula::Const(0)),
            _ => None,
        });
    }
}

fn first_assertion(block: &[Stmt]) -> Option<SpanId> {
    block.iter().find_map(|stmt| match &stmt.kind {
        StmtKind::Assert(_) => Some(stmt.span),
        StmtKind::If(_, then, other) => first_assertion(then).or_else(|| first_assertion(other)),
        StmtKind::Loop(body) => first_assertion(body),
        StmtKind::Choose(blocks) => blocks.iter().find_map(|b| first_assertion(b)),
        StmtKind::Call(calls) => calls.iter().find_map(|c| first_assertion(&c.body)),
        _ => None,
    })
}
