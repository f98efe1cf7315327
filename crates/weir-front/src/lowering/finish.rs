//! Makes the program of what was built.

use weir_model::ids::{ProcessId, RegId, SpanId, VarId};
use weir_model::program::{
    self, Atom, BinOp, Expr, Formula, Place, Program, Property, PropertyKind, Stmt, StmtKind,
};

use super::{Builder, Process};
use crate::Source;
use crate::errors::{Errors, quote};

/// The name of the question about data races.
pub const RACES: &str = "races";

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
            ask(PropertyKind::NoDeadlock(Vec::new()), SpanId::NONE);
        }
        let finals = self.ending();
        properties.extend(finals);
        if self.options.races {
            let race = self.races();
            let kind = PropertyKind::Never(race);
            properties.push(Property { name: Some(RACES.to_owned()), kind, span: SpanId::NONE });
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
        forget_unused(&mut processes, &mut properties, &mut bounds);
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
        self.check_initial_values(&program);
        match self.errors.is_empty() {
            true => Ok((program, self.source)),
            false => Err(self.errors),
        }
    }

    /// A variable begins with a value of its type.
    fn check_initial_values(&mut self, program: &Program) {
        for var in &program.vars {
            let Some(domain) = var.domain else { continue };
            let mut values = var.init.iter().flatten();
            if let Some(value) = values.find(|value| !program.admits(domain, **value)) {
                let message = format!(
                    "the initial value {value} of {} is outside of its type",
                    quote(&var.name)
                );
                self.errors.push(crate::Diagnostic::new(message, self.source.range(var.span)));
            }
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
pub(crate) fn any_of(list: &mut Vec<Formula>) -> Formula {
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

/// Leaves out unused registers, and the first thread if it does nothing.
pub(crate) fn forget_unused(
    processes: &mut Vec<program::Process>,
    properties: &mut [Property],
    bounds: &mut program::Bounds,
) {
    let mut asked = Vec::new();
    for property in properties.iter() {
        if let PropertyKind::Never(f) | PropertyKind::Final(_, f) = &property.kind {
            f.atoms(&mut |atom| asked.push(*atom));
        }
    }
    let is_asked = |process: usize| {
        asked.iter().any(|atom| match atom {
            Atom::Reg(p, _) | Atom::At(p, _) => p.index() == process,
            Atom::Var(_) => false,
        })
    };
    let mut numbers: Vec<Vec<Option<RegId>>> = Vec::new();
    for (number, process) in processes.iter_mut().enumerate() {
        let id = ProcessId::new(number);
        let mut used = vec![false; process.registers.len()];
        mark_used(&process.body, &mut used);
        for atom in &asked {
            if let Atom::Reg(p, r) = atom
                && *p == id
            {
                used[r.index()] = true;
            }
        }
        let mut next = 0;
        let renamed: Vec<Option<RegId>> = used
            .iter()
            .map(|is_used| {
                is_used.then(|| {
                    next += 1;
                    RegId::new(next - 1)
                })
            })
            .collect();
        let mut is_used = used.iter();
        process.registers.retain(|_| *is_used.next().unwrap_or(&true));
        rename(&mut process.body, &renamed);
        numbers.push(renamed);
    }
    let is_idle = processes.len() > 1 && processes[0].body.is_empty() && !is_asked(0);
    let shift = usize::from(is_idle);
    if is_idle {
        processes.remove(0);
    }
    let process = |p: ProcessId| ProcessId::new(p.index() - shift);
    for property in properties {
        if let PropertyKind::Never(f) | PropertyKind::Final(_, f) = &mut property.kind {
            f.replace(&|atom| match *atom {
                Atom::Reg(p, r) => {
                    let r = numbers[p.index()][r.index()].unwrap_or(r);
                    Some(Expr::Atom(Atom::Reg(process(p), r)))
                }
                Atom::At(p, l) => Some(Expr::Atom(Atom::At(process(p), l))),
                Atom::Var(_) => None,
            });
        }
    }
    bounds.registers = std::mem::take(&mut bounds.registers)
        .into_iter()
        .filter_map(|((p, r), range)| Some(((process(p), numbers[p.index()][r.index()]?), range)))
        .collect();
}

fn each_code(stmt: &mut StmtKind, visit: &mut dyn FnMut(&mut program::Code)) {
    match stmt {
        StmtKind::Assign(_, code)
        | StmtKind::Assume(code)
        | StmtKind::Assert(code)
        | StmtKind::If(code, ..)
        | StmtKind::Await(_, code) => visit(code),
        StmtKind::Load(_, place) => {
            if let Some(index) = &mut place.index {
                visit(index);
            }
        }
        StmtKind::Store(place, code) => {
            if let Some(index) = &mut place.index {
                visit(index);
            }
            visit(code);
        }
        StmtKind::Rmw(_, place, rmw) => {
            if let Some(index) = &mut place.index {
                visit(index);
            }
            match rmw {
                program::Rmw::Cas { expected: a, new: b, .. }
                | program::Rmw::CasFlag { expected: a, new: b, .. }
                | program::Rmw::Update { when: a, new: b } => {
                    visit(a);
                    visit(b);
                }
                program::Rmw::Swap(code) | program::Rmw::Fetch(_, code) => visit(code),
            }
        }
        _ => {}
    }
}

fn mark_used(block: &[Stmt], used: &mut [bool]) {
    for stmt in block {
        let mut kind = stmt.kind.clone();
        if let StmtKind::Assign(r, _)
        | StmtKind::Any(r, _)
        | StmtKind::Load(r, _)
        | StmtKind::Rmw(r, ..) = kind
        {
            used[r.index()] = true;
        }
        each_code(&mut kind, &mut |code| code.atoms(&mut |r| used[r.index()] = true));
        kind.blocks().into_iter().for_each(|block| mark_used(block, used));
    }
}

fn rename(block: &mut [Stmt], numbers: &[Option<RegId>]) {
    let new = |r: RegId| numbers[r.index()].unwrap_or(r);
    for stmt in block {
        if let StmtKind::Assign(r, _)
        | StmtKind::Any(r, _)
        | StmtKind::Load(r, _)
        | StmtKind::Rmw(r, ..) = &mut stmt.kind
        {
            *r = new(*r);
        }
        each_code(&mut stmt.kind, &mut |code| code.replace(&|r| Some(Expr::Atom(new(*r)))));
        stmt.kind.blocks_mut().into_iter().for_each(|block| rename(block, numbers));
    }
}

/// Cells get the numbers of variables.
fn renumber(block: &mut [Stmt], numbers: &[Option<VarId>]) {
    for stmt in block {
        if let StmtKind::Load(_, at) | StmtKind::Store(at, _) | StmtKind::Rmw(_, at, _) =
            &mut stmt.kind
            && let Some(var) = numbers[at.first.index()]
        {
            at.first = var;
        }
        stmt.kind.blocks_mut().into_iter().for_each(|block| renumber(block, numbers));
    }
}
