//! Makes the program of the threads that were translated.

use std::collections::BTreeMap;

use weir_model::ids::{ProcessId, RegId, SpanId, VarId};
use weir_model::program::{
    Atom, BinOp, Bounds, Decl, Expr, Formula, Process, Program, Property, PropertyKind, Stmt,
    StmtKind,
};

use super::number::UNSET;
use super::objects::{Flag, Key, ObjectId, Val};
use super::unused::forget_unused;
use super::{Cell, Home, Reader};
use crate::Source;
use crate::errors::Errors;

/// The name of the question about data races.
pub const RACES: &str = "races";

/// What reports say first if some memory that is not set when threads begin to run reads as 0.
const READS_ZERO: &str = "some memory that was never set reads as 0";

/// How many pairs of accesses the question about races may have.
const MAX_PAIRS: usize = 20_000;

impl Reader<'_> {
    /// The program.
    pub(super) fn finish(mut self, name: &str) -> Result<(Program, Source), Errors> {
        for thread in 0..self.threads.len() {
            self.find_waits(thread);
        }
        let finals = self.ending();
        let mut properties = Vec::new();
        let mut ask = |kind, span| properties.push(Property { name: None, kind, span });
        ask(PropertyKind::Assertions, SpanId::NONE);
        if !self.has_assume {
            ask(PropertyKind::NoDeadlock(Vec::new()), SpanId::NONE);
        }
        properties.extend(finals);
        // The numbers of threads, without those that were not started in this reading.
        let mut numbers = BTreeMap::new();
        let mut processes = Vec::new();
        let mut bodies = Vec::new();
        for (number, thread) in self.threads.iter_mut().enumerate() {
            if thread.name.is_empty() {
                continue;
            }
            numbers.insert(number, processes.len());
            let mut body = Vec::new();
            for code in std::mem::take(&mut thread.code) {
                body.extend(code);
                // No piece of code goes on with the next one.
                if !matches!(
                    body.last(),
                    Some(Stmt { kind: StmtKind::Exit | StmtKind::Goto(_), .. })
                ) {
                    body.push(Stmt::new(StmtKind::Exit, SpanId::NONE));
                }
            }
            // A process ends at its end anyway.
            if matches!(body.last(), Some(Stmt { kind: StmtKind::Exit, .. })) {
                body.pop();
            }
            bodies.push(body);
            let mut registers = std::mem::take(&mut thread.registers);
            for (register, (home, _)) in registers.iter_mut().zip(&thread.homes) {
                register.display = match home {
                    Some(Home::Limit(number)) => self.limit_words[*number].clone(),
                    _ => format!("{}.{}", thread.name, register.name),
                };
            }
            let labels = std::mem::take(&mut thread.labels);
            processes.push(Process {
                name: thread.name.clone(),
                registers,
                labels,
                body: Vec::new(),
            });
        }
        properties.extend(self.leaks());
        if self.options.races {
            let race = self.races(&numbers);
            let kind = PropertyKind::Never(race);
            properties.push(Property { name: Some(RACES.to_owned()), kind, span: SpanId::NONE });
        }
        // Only scalars that are accessed or asked about become variables.
        let mut used = vec![false; self.cells.len()];
        for body in &bodies {
            visit(body, &mut |stmt| {
                if let StmtKind::Load(_, at) | StmtKind::Store(at, _) | StmtKind::Rmw(_, at, _) =
                    &stmt.kind
                {
                    used[at.first.index()] = true;
                }
            });
        }
        for property in &properties {
            if let PropertyKind::Never(f) | PropertyKind::Final(_, f) = &property.kind {
                f.atoms(&mut |atom| {
                    if let Atom::Var(cell) = atom {
                        used[cell.index()] = true;
                    }
                });
            }
        }
        let mut order: Vec<usize> = (0..self.cells.len()).filter(|cell| used[*cell]).collect();
        order.sort_by_key(|cell| self.cells[*cell]);
        let mut variables = vec![None; self.cells.len()];
        let (mut vars, mut observed) = (Vec::new(), Vec::new());
        let mut names: BTreeMap<String, usize> = BTreeMap::new();
        for cell in order {
            let var = VarId::new(vars.len());
            variables[cell] = Some(var);
            let (object, at, size) = self.cells[cell];
            match self.facts.get(object).key {
                Key::Flag(..) => drop(self.source.internal.insert(var)),
                _ => observed.push(Atom::Var(var)),
            }
            let mut name = self.cell_name(self.cells[cell]);
            let count = names.entry(name.clone()).or_insert(0);
            *count += 1;
            if *count > 1 {
                name = format!("{name}#{count}");
            }
            let init = self.first_value(object, at, size);
            let is_allocated = matches!(self.facts.get(object).key, Key::Heap(..) | Key::Stack(..));
            let is_empty = self.in_memory(object).over(at, size).is_empty();
            self.reads_zero |= is_allocated && !self.knows_unset && is_empty;
            vars.push(Decl {
                name,
                len: None,
                domain: None,
                init: vec![vec![init]],
                span: SpanId::NONE,
            });
        }
        for (process, mut body) in processes.iter_mut().zip(bodies) {
            renumber(&mut body, &variables);
            process.body = body;
        }
        for property in &mut properties {
            if let PropertyKind::Never(f) | PropertyKind::Final(_, f) = &mut property.kind {
                f.replace(&|atom| match atom {
                    Atom::Var(cell) => {
                        variables[cell.index()].map(|var| Expr::Atom(Atom::Var(var)))
                    }
                    _ => None,
                });
            }
        }
        let mut bounds = Bounds::default();
        for (thread, register, high) in &self.limits {
            if let Some(process) = numbers.get(thread) {
                bounds.registers.insert((ProcessId::new(*process), *register), (0, *high));
            }
        }
        forget_unused(&mut processes, &mut properties, &mut bounds);
        let symbols = self.symbols();
        if self.reads_zero {
            self.source.notes.push(READS_ZERO.to_owned());
        }
        let program = Program {
            name: name.to_owned(),
            vars,
            symbols,
            processes,
            properties,
            observed: Some(observed),
            bounds,
            messages: std::mem::take(&mut self.messages),
            ..Program::default()
        };
        match self.errors.is_empty() {
            true => Ok((program, self.source)),
            false => Err(self.errors),
        }
    }

    /// What a scalar holds before threads run.
    pub(super) fn first_value(&mut self, object: ObjectId, at: u64, size: u64) -> i128 {
        let bytes = self.in_memory(object).clone();
        let mut number = 0_i128;
        let parts = bytes.over(at, size);
        let is_unset = bytes.is_unset(at, size);
        if self.knows_unset && is_unset && parts.iter().all(|(.., value)| *value == Val::Undef) {
            return UNSET;
        }
        self.reads_zero |= is_unset;
        for (start, length, value) in parts {
            let Val::Known(value) = value else { continue };
            let value = value & ((1_i128 << (length * 8).min(126)) - 1);
            number |= match start.checked_sub(at) {
                Some(behind) => value << (behind * 8).min(126),
                None => value >> ((at - start) * 8),
            };
        }
        weir_llvm::wrap(number, size as u32 * 8)
    }

    /// The name of an object, with the thread that it belongs to.
    fn object_name(&self, id: ObjectId) -> String {
        let object = self.facts.get(id);
        let of = |thread: usize| self.threads.get(thread).map_or("thread", |t| &t.name);
        match &object.key {
            Key::Heap(thread, site, _, number) => {
                // Allocations have the order in which they were found.
                let same =
                    |o: &&super::objects::Object| matches!(&o.key, Key::Heap(t, ..) if t == thread);
                let number_of = self.facts.objects[..id as usize].iter().filter(same).count();
                let _ = (site, number);
                match number_of {
                    0 => format!("{}.heap", of(*thread)),
                    n => format!("{}.heap{}", of(*thread), n + 1),
                }
            }
            Key::Stack(thread, ..) | Key::ThreadLocal(_, thread) => {
                let name = object.name.rsplit('.').next().unwrap_or(&object.name);
                format!("{}.{name}", of(*thread))
            }
            Key::Flag(Flag::Allocated | Flag::Freed | Flag::Free | Flag::Size, of) => {
                let word = object.name.rsplit('.').next().unwrap_or(&object.name);
                format!("{}.{word}", self.object_name(*of as ObjectId))
            }
            Key::Flag(_, thread) => {
                let word = object.name.rsplit('.').next().unwrap_or(&object.name);
                format!("{}.{word}", of(*thread))
            }
            _ => object.name.clone(),
        }
    }

    fn cell_name(&self, (object, at, size): Cell) -> String {
        let name = self.object_name(object);
        if matches!(self.facts.get(object).key, Key::Flag(..)) {
            return name;
        }
        let total = self.facts.get(object).size;
        let accesses = self.facts.accesses_of(object);
        let is_uniform = accesses.iter().all(|(o, s)| *s == size && o % size == 0);
        match (is_uniform, total == size) {
            (_, true) => name,
            (true, _) if total.is_multiple_of(size) => format!("{name}[{}]", at / size),
            _ if at == 0 => name,
            _ => format!("{name}+{at}"),
        }
    }

    /// What addresses are called.
    fn symbols(&self) -> BTreeMap<i128, String> {
        let mut symbols = BTreeMap::from([(UNSET, "never set".to_owned())]);
        for (id, object) in self.facts.objects.iter().enumerate() {
            if matches!(object.key, Key::Flag(..)) {
                continue;
            }
            let name = self.object_name(id as ObjectId);
            symbols.insert(object.base, format!("&{name}"));
            for (at, _) in self.facts.accesses_of(id as ObjectId) {
                if at > 0 {
                    symbols.insert(object.base + i128::from(at), format!("&{name}+{at}"));
                }
            }
        }
        symbols
    }

    /// Two threads are about to access the same scalar, one of them to write it, and one of the two
    /// accesses is not atomic.
    fn races(&mut self, numbers: &BTreeMap<usize, usize>) -> Formula {
        let mut pairs = Vec::new();
        for (i, a) in self.accesses.iter().enumerate() {
            for b in &self.accesses[i + 1..] {
                let is_race = a.thread != b.thread
                    && a.cell == b.cell
                    && (a.is_write || b.is_write)
                    && (a.is_plain || b.is_plain);
                let (Some(p), Some(q)) = (numbers.get(&a.thread), numbers.get(&b.thread)) else {
                    continue;
                };
                if !is_race {
                    continue;
                }
                let at =
                    |process: usize, label| Expr::Atom(Atom::At(ProcessId::new(process), label));
                pairs.push(Expr::binary(BinOp::And, at(*p, a.label), at(*q, b.label)));
                if pairs.len() > MAX_PAIRS {
                    self.refuse(format!("more than {MAX_PAIRS} pairs of accesses might race"));
                    return Expr::Const(0);
                }
            }
        }
        any_of(&mut pairs)
    }
}

/// Visits all statements.
pub(super) fn visit(block: &[Stmt], look: &mut dyn FnMut(&Stmt)) {
    for stmt in block {
        look(stmt);
        stmt.kind.blocks().into_iter().for_each(|block| visit(block, look));
    }
}

/// Scalars get the numbers of variables.
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

/// The registers that code reads.
pub(super) fn reads(stmt: &StmtKind, visit: &mut dyn FnMut(RegId)) {
    match stmt {
        StmtKind::Assign(_, code)
        | StmtKind::Assert(code)
        | StmtKind::Assume(code)
        | StmtKind::Store(_, code)
        | StmtKind::If(code, ..) => {
            code.atoms(&mut |r| visit(*r));
        }
        _ => {}
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
