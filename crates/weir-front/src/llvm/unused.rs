//! Leaves out what a program does not need: registers that no statement uses, and a first thread that does nothing.

use weir_model::ids::{ProcessId, RegId};
use weir_model::program::{self, Atom, Expr, Property, PropertyKind, Stmt, StmtKind};

/// Leaves out unused registers, and the first thread if it does nothing.
pub(super) fn forget_unused(
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
