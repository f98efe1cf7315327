//! Limits that a user sets: on the rounds of loops, and on allocations. A register that leaves its bound tells that one is reached.

use std::collections::{BTreeMap, BTreeSet};

use weir_model::ids::{LabelId, ProcessId, RegId, SpanId};
use weir_model::program::{BinOp, Expr, Process, Program, Register, Stmt, StmtKind};

use crate::Source;

/// Limits the rounds of all loops that do not wait, each time that the loop is entered.
///
/// A loop goes back to a label. Going back counts, and getting there in another way begins to count again.
pub fn rounds(program: &mut Program, source: &Source, most: u32) {
    for (number, process) in program.processes.iter_mut().enumerate() {
        let mut heads = Heads::default();
        heads.find(&process.body);
        let mut counters: BTreeMap<LabelId, RegId> = BTreeMap::new();
        for label in &heads.targets {
            let line = heads.places.get(label).and_then(|places| {
                places.iter().find(|span| source.is_placed(**span)).map(|span| source.line(*span))
            });
            let line = line.map_or_else(String::new, |line| format!("_at_line_{line}"));
            let register = register(process, &format!("rounds{line}"));
            counters.insert(*label, register);
            let bound = (ProcessId::new(number), register);
            program.bounds.registers.insert(bound, (0, i128::from(most)));
        }
        let mut seen = BTreeSet::new();
        process.body = count(std::mem::take(&mut process.body), &counters, &mut seen);
    }
}

/// The labels to which a process goes back, and what stands behind each label.
#[derive(Default)]
struct Heads {
    targets: BTreeSet<LabelId>,
    places: BTreeMap<LabelId, Vec<SpanId>>,
    last: Option<LabelId>,
}

impl Heads {
    fn find(&mut self, block: &[Stmt]) {
        for stmt in block {
            match &stmt.kind {
                StmtKind::Label(label) => {
                    self.last = Some(*label);
                    self.places.entry(*label).or_default();
                }
                StmtKind::Goto(to) if self.places.contains_key(to) => {
                    self.targets.insert(*to);
                }
                _ => {}
            }
            if let Some(places) = self.last.and_then(|label| self.places.get_mut(&label)) {
                places.push(stmt.span);
            }
            stmt.kind.blocks().into_iter().for_each(|inner| self.find(inner));
        }
    }
}

/// A new register of a process.
fn register(process: &mut Process, name: &str) -> RegId {
    let is_taken = |name: &str| process.registers.iter().any(|r| r.name == name);
    let mut free = name.to_owned();
    for number in 2.. {
        if !is_taken(&free) {
            break;
        }
        free = format!("{name}_{number}");
    }
    process.registers.push(Register {
        display: format!("{}.{free}", process.name),
        name: free,
        domain: None,
        init: 0,
        temporary: false,
        span: SpanId::NONE,
    });
    RegId::new(process.registers.len() - 1)
}

fn count(
    block: Vec<Stmt>,
    counters: &BTreeMap<LabelId, RegId>,
    seen: &mut BTreeSet<LabelId>,
) -> Vec<Stmt> {
    let mut new = Vec::with_capacity(block.len());
    for mut stmt in block {
        let jump = match &stmt.kind {
            StmtKind::Label(label) => {
                seen.insert(*label);
                counters.get(label).map(|register| (*register, false))
            }
            StmtKind::Goto(to) => counters.get(to).map(|register| (*register, seen.contains(to))),
            _ => None,
        };
        if let Some((register, goes_back)) = jump {
            let value = match goes_back {
                true => Expr::binary(BinOp::Add, Expr::Atom(register), Expr::Const(1)),
                false => Expr::Const(0),
            };
            new.push(Stmt::new(StmtKind::Assign(register, value), stmt.span));
        }
        for inner in stmt.kind.blocks_mut() {
            *inner = count(std::mem::take(inner), counters, seen);
        }
        new.push(stmt);
    }
    new
}

/// Names what is limited by its lines: `allocated_at_line_7`.
pub fn name(program: &mut Program, source: &Source) {
    for (process, register) in program.bounds.registers.keys() {
        let process = &mut program.processes[process.index()];
        let mut lines = BTreeSet::new();
        let mut open: Vec<&[Stmt]> = vec![&process.body];
        while let Some(block) = open.pop() {
            for stmt in block {
                if matches!(stmt.kind, StmtKind::Assign(set, _) if set == *register)
                    && source.is_placed(stmt.span)
                {
                    lines.insert(source.line(stmt.span));
                }
                open.extend(stmt.kind.blocks().into_iter().map(|block| &block[..]));
            }
        }
        if lines.is_empty() {
            continue;
        }
        let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
        let what = &process.registers[register.index()].name;
        let what = what.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches('_');
        let word = if lines.len() == 1 { "line" } else { "lines" };
        let name = format!("{what}_at_{word}_{}", lines.join("_"));
        if process.registers.iter().all(|other| other.name != name) {
            let display = format!("{}.{name}", process.name);
            let register = &mut process.registers[register.index()];
            (register.name, register.display) = (name, display);
        }
    }
}
