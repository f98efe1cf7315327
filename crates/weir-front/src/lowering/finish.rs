//! Makes the program of what was built.

use weir_model::ids::{ProcessId, RegId, SpanId, VarId};
use weir_model::program::{
    self, Atom, BinOp, Expr, Formula, Place, Program, Property, PropertyKind, Stmt, StmtKind,
};

use super::{Builder, Process};
use crate::Source;
use crate::errors::Errors;

/// How many pairs of accesses the question about races may have.
const MAX_PAIRS: usize = 20_000;

impl Builder {
    /// The program.
    pub(super) fn finish(mut self, name: &str) -> Result<(Program, Source), Errors> {
        self.current = 0;
        self.place(super::control::Join::END);
        let mut properties = Vec::new();
        let mut ask = |kind, span| properties.push(Property { name: None, kind, span });
        ask(PropertyKind::Assertions, SpanId::NONE);
        if !self.has_assume {
            ask(PropertyKind::NoDeadlock, SpanId::NONE);
        }
        let finals = self.ending();
        properties.extend(finals);
        if self.options.races {
            let race = self.races();
            let kind = PropertyKind::Never(race);
            properties.push(Property { name: Some("races".to_owned()), kind, span: SpanId::NONE });
        }
        let enums: Vec<_> = self.addresses().into_iter().collect();
        let (vars, numbers) = self.declarations();
        let observed: Vec<Atom> = (0..self.cells.len())
            .filter(|&cell| self.is_observed(cell))
            .filter_map(|cell| numbers[cell].map(Atom::Var))
            .collect();
        let mut bounds = program::Bounds::default();
        for &(process, register, high) in &self.limits {
            bounds.registers.insert((ProcessId::new(process), register), (0, high));
        }
        let domains: Vec<Vec<_>> = self
            .processes
            .iter()
            .map(|process| process.types.iter().map(|ty| self.domain(ty)).collect())
            .collect();
        let mut processes = Vec::new();
        for (process, domains) in std::mem::take(&mut self.processes).into_iter().zip(domains) {
            let Process { name, mut registers, labels, mut blocks, .. } = process;
            for (register, domain) in registers.iter_mut().zip(domains) {
                register.domain = domain;
                register.display = format!("{name}.{}", register.name);
            }
            let mut body = if blocks.is_empty() { Vec::new() } else { blocks.swap_remove(0) };
            renumber(&mut body, &numbers);
            processes.push(program::Process { name, registers, labels, body });
        }
        for property in &mut properties {
            if let PropertyKind::Never(f) | PropertyKind::Final(_, f) = &mut property.kind {
                f.replace(&|atom| match atom {
                    Atom::Var(cell) => numbers[cell.index()].map(|var| Expr::Atom(Atom::Var(var))),
                    _ => None,
                });
            }
        }
        let program = Program {
            name: name.to_owned(),
            vars,
            enums,
            processes,
            properties,
            observed: Some(observed),
            bounds,
            ..Program::default()
        };
        match self.errors.is_empty() {
            true => Ok((program, self.source)),
            false => Err(self.errors),
        }
    }

    /// Whether a cell is shown in final states: all but what threads tell each other.
    fn is_observed(&self, cell: usize) -> bool {
        let starts =
            |leaf: &super::memory::Leaf| (leaf.first..leaf.first + leaf.count).contains(&cell);
        let object = self.objects.iter().find(|object| object.leaves.iter().any(starts));
        object.is_some_and(|object| {
            !object.name.ends_with(".started")
                && !object.name.ends_with(".ended")
                && !object.name.ends_with(".freed")
        })
    }

    /// Two threads are about to access the same cell, one of them to write it, and one of the two
    /// accesses is not atomic.
    fn races(&mut self) -> Formula {
        let mut pairs = Vec::new();
        for (i, a) in self.accesses.iter().enumerate() {
            for b in &self.accesses[i + 1..] {
                let is_race = a.process != b.process
                    && (a.is_write || b.is_write)
                    && (a.is_plain || b.is_plain);
                let range = |place: &Place| {
                    let first = place.first.index();
                    first..first + place.len as usize
                };
                let (x, y) = (range(&a.place), range(&b.place));
                if !is_race || x.start >= y.end || y.start >= x.end {
                    continue;
                }
                let at = |access: &super::access::Access| {
                    Expr::Atom(Atom::At(ProcessId::new(access.process), access.label))
                };
                let cell = |access: &super::access::Access| -> Formula {
                    let first = Expr::Const(access.place.first.index() as i128);
                    match &access.place.index {
                        None => first,
                        Some(index) => {
                            let index = in_process(index, access.process);
                            Expr::binary(BinOp::Add, first, index)
                        }
                    }
                };
                let here = Expr::binary(BinOp::And, at(a), at(b));
                let same = match (cell(a), cell(b)) {
                    (Expr::Const(x), Expr::Const(y)) if x == y => here,
                    (x, y) => Expr::binary(BinOp::And, here, Expr::binary(BinOp::Eq, x, y)),
                };
                pairs.push(same);
                if pairs.len() > MAX_PAIRS {
                    self.errors.push(crate::Diagnostic::new(
                        format!("more than {MAX_PAIRS} pairs of accesses might race"),
                        0..0,
                    ));
                    return Expr::Const(0);
                }
            }
        }
        any_of(&mut pairs)
    }
}

/// A balanced tree, so that it does not nest deep.
fn any_of(list: &mut Vec<Formula>) -> Formula {
    match list.len() {
        0 => Expr::Const(0),
        1 => list.swap_remove(0),
        n => {
            let mut rest = list.split_off(n / 2);
            Expr::binary(BinOp::Or, any_of(list), any_of(&mut rest))
        }
    }
}

fn in_process(code: &program::Code, process: usize) -> Formula {
    match code {
        Expr::Const(c) => Expr::Const(*c),
        Expr::Atom(r) => Expr::Atom(Atom::Reg(ProcessId::new(process), RegId::new(r.index()))),
        Expr::Unary(op, e) => Expr::unary(*op, in_process(e, process)),
        Expr::Binary(op, a, b) => Expr::binary(*op, in_process(a, process), in_process(b, process)),
    }
}

/// Cells get the numbers of variables.
fn renumber(block: &mut [Stmt], numbers: &[Option<VarId>]) {
    let place = |place: &mut Place| {
        if let Some(var) = numbers[place.first.index()] {
            place.first = var;
        }
    };
    for stmt in block {
        match &mut stmt.kind {
            StmtKind::Load(_, at) | StmtKind::Store(at, _) | StmtKind::Rmw(_, at, _) => place(at),
            StmtKind::If(_, then, other) => {
                renumber(then, numbers);
                renumber(other, numbers);
            }
            StmtKind::Loop(body) | StmtKind::Await(body, _) => renumber(body, numbers),
            StmtKind::Choose(blocks) => {
                for block in blocks {
                    renumber(block, numbers);
                }
            }
            _ => {}
        }
    }
}
