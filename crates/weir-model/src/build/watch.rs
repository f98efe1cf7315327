//! What is asked of a program, as far as building its system has to know.

use crate::ids::SpanId;
use crate::program::{Atom, Formula, Program, Property, PropertyKind, Stmt, StmtKind};
use crate::system::{Automaton, StateKind};

/// What properties ask about, per process.
pub(super) struct Watch {
    /// Labels that some formula mentions.
    pub labels: Vec<Vec<bool>>,
    /// Registers whose value is asked for at some time.
    pub kept: Vec<Vec<bool>>,
    /// Registers whose value is asked for at every moment.
    pub always: Vec<Vec<bool>>,
}

impl Watch {
    pub fn new(program: &Program) -> Self {
        let registers: Vec<_> =
            program.processes.iter().map(|p| vec![false; p.registers.len()]).collect();
        let labels = program.processes.iter().map(|p| vec![false; p.labels.len()]).collect();
        let mut watch = Self { labels, kept: registers.clone(), always: registers };
        for property in &program.properties {
            match &property.kind {
                PropertyKind::Never(formula) => watch.formula(formula, true),
                PropertyKind::Final(_, formula) => watch.formula(formula, false),
                PropertyKind::Assertions | PropertyKind::NoDeadlock => {}
            }
        }
        for (process, label) in program.games.iter().flat_map(|g| &g.targets) {
            watch.atom(Atom::At(*process, *label), true);
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
            Atom::At(p, l) => self.labels[p.index()][l.index()] = true,
        }
    }
}

/// A program that asserts something, or that can fail in another way, is asked
/// whether it fails, even if it does not ask itself.
pub(super) fn ask_for_assertions(program: &mut Program, processes: &[Automaton]) {
    let failing = processes.iter().flat_map(|p| &p.states).find_map(|s| match s.kind {
        StateKind::Failed(_) => Some(s.span),
        _ => None,
    });
    let asserting = || program.processes.iter().find_map(|p| first_assertion(&p.body));
    let span = failing.or_else(asserting);
    let kind = PropertyKind::Assertions;
    if let Some(span) = span
        && program.properties.iter().all(|p| p.kind != kind)
    {
        program.properties.push(Property { name: None, kind, span });
    }
}

fn first_assertion(block: &[Stmt]) -> Option<SpanId> {
    block.iter().find_map(|stmt| match &stmt.kind {
        StmtKind::Assert(_) => Some(stmt.span),
        StmtKind::If(_, then, other) => first_assertion(then).or_else(|| first_assertion(other)),
        StmtKind::Loop(body) => first_assertion(body),
        StmtKind::Choose(blocks) => blocks.iter().find_map(|b| first_assertion(b)),
        _ => None,
    })
}
