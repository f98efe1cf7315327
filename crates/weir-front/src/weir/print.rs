//! Writes a program as text that [`read`](super::read) accepts again, with
//! every access to shared memory spelled out.
//!
//! What is read back is the same program, except that temporaries have become
//! ordinary registers, that names which are not names of the language (a litmus
//! test's `x.1`) have been made into some, and that names of addresses are only
//! comments. Where an index ranges over more than one declaration (a litmus
//! test that calculates with addresses), all variables become one array `mem`.

mod declarations;
mod expression;
mod names;

use std::fmt::Write;

use weir_model::ids::RegId;
use weir_model::program::{
    Atom, BinOp, Code, Expr, FenceKind, Objective, Place, Program, PropertyKind, Quantifier, Rmw,
    Stmt, StmtKind,
};

use super::operators;
use declarations::any;
use expression::expression;
use names::Names;

/// The program as text.
pub fn print(program: &Program) -> String {
    let names = Names::new(program);
    let mut printer = Printer { program, names: &names, process: 0, depth: 0, out: String::new() };
    printer.declarations();
    for process in 0..program.processes.len() {
        printer.process(process);
    }
    printer.questions();
    printer.out
}

struct Printer<'p> {
    program: &'p Program,
    names: &'p Names,
    /// The process that is being printed.
    process: usize,
    depth: usize,
    out: String,
}

impl Printer<'_> {
    fn line(&mut self, text: &str) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.out, "{:width$}{text}", "", width = 4 * self.depth);
    }

    fn process(&mut self, index: usize) {
        self.process = index;
        let process = &self.program.processes[index];
        self.line("");
        self.line(&format!("process {} {{", self.names.processes[index]));
        self.depth += 1;
        let registers: Vec<_> = process
            .registers
            .iter()
            .zip(&self.names.registers[index])
            .map(|(r, name)| self.declaration(name, None, r.domain, &[&[r.init]]))
            .collect();
        for some in registers.chunks(8) {
            self.line(&format!("reg {}", some.join(", ")));
        }
        self.statements(&process.body);
        self.depth -= 1;
        self.line("}");
    }

    /// A block without its braces.
    fn statements(&mut self, block: &[Stmt]) {
        for stmt in block {
            self.statement(&stmt.kind);
        }
    }

    fn nested(&mut self, block: &[Stmt]) {
        self.depth += 1;
        self.statements(block);
        self.depth -= 1;
    }

    fn statement(&mut self, stmt: &StmtKind) {
        let labels = &self.names.labels[self.process];
        let text = match stmt {
            StmtKind::Label(label) => format!("{}:", labels[label.index()]),
            StmtKind::Nop => "nop".to_owned(),
            StmtKind::Assign(r, e) => format!("{} = {}", self.register(*r), self.code(e)),
            // No value to choose and no way to go are both the end of the run.
            StmtKind::Any(_, values) if values.is_empty() => "assume false".to_owned(),
            StmtKind::Choose(blocks) if blocks.is_empty() => "assume false".to_owned(),
            StmtKind::Any(r, values) => format!("{} = {}", self.register(*r), any(values)),
            StmtKind::Load(r, place) => format!("{} = {}", self.register(*r), self.place(place)),
            StmtKind::Store(place, e) => format!("{} = {}", self.place(place), self.code(e)),
            StmtKind::Rmw(r, place, rmw) => {
                format!("{} = {}", self.register(*r), self.atomic(place, rmw))
            }
            StmtKind::Fence(FenceKind::Full) => "fence".to_owned(),
            StmtKind::Fence(FenceKind::Read) => "rfence".to_owned(),
            StmtKind::Fence(FenceKind::Write) => "wfence".to_owned(),
            StmtKind::Assume(e) => format!("assume {}", self.code(e)),
            StmtKind::Assert(e) => format!("assert {}", self.code(e)),
            StmtKind::If(e, then, other) => return self.conditional("", e, then, other),
            StmtKind::Loop(body) => {
                self.line("loop {");
                self.nested(body);
                "}".to_owned()
            }
            StmtKind::Break => "break".to_owned(),
            StmtKind::Continue => "continue".to_owned(),
            StmtKind::Goto(label) => format!("goto {}", labels[label.index()]),
            StmtKind::Choose(blocks) => {
                for (i, block) in blocks.iter().enumerate() {
                    self.line(if i == 0 { "choose {" } else { "} or {" });
                    self.nested(block);
                }
                "}".to_owned()
            }
            StmtKind::Await(loads, e) if loads.is_empty() => format!("await {}", self.code(e)),
            StmtKind::Await(loads, e) => {
                self.line("await {");
                self.nested(loads);
                format!("}} until {}", self.code(e))
            }
            StmtKind::Exit => "exit".to_owned(),
        };
        self.line(&text);
    }

    fn conditional(&mut self, before: &str, e: &Code, then: &[Stmt], other: &[Stmt]) {
        self.line(&format!("{before}if {} {{", self.code(e)));
        self.nested(then);
        match other {
            [] => self.line("}"),
            [Stmt { kind: StmtKind::If(e, then, other), .. }] => {
                self.conditional("} else ", e, then, other);
            }
            _ => {
                self.line("} else {");
                self.nested(other);
                self.line("}");
            }
        }
    }

    fn register(&self, register: RegId) -> &str {
        &self.names.registers[self.process][register.index()]
    }

    fn code(&self, e: &Code) -> String {
        expression(e, &|r| self.register(*r).to_owned())
    }

    fn place(&self, place: &Place) -> String {
        let Some(index) = &place.index else { return self.names.vars[place.first.index()].clone() };
        match &self.names.memory {
            Some(memory) if place.first.index() > 0 => {
                let offset = Expr::Const(place.first.index() as i64);
                let index = Expr::binary(BinOp::Add, offset, index.clone());
                format!("{memory}[{}]", self.code(&index))
            }
            Some(memory) => format!("{memory}[{}]", self.code(index)),
            None => {
                let array = self.names.array(self.program, place);
                format!("{array}[{}]", self.code(index))
            }
        }
    }

    fn atomic(&self, place: &Place, rmw: &Rmw) -> String {
        let place = self.place(place);
        match rmw {
            Rmw::Cas { expected, new } => {
                format!("cmpxchg({place}, {}, {})", self.code(expected), self.code(new))
            }
            Rmw::Swap(e) => format!("swap({place}, {})", self.code(e)),
            Rmw::Fetch(op, e) => {
                format!("{}({place}, {})", operators::fetch_text(*op), self.code(e))
            }
        }
    }

    fn questions(&mut self) {
        let formula = |e| expression(e, &|atom| self.names.atom(*atom));
        let mut lines = Vec::new();
        for (property, name) in self.program.properties.iter().zip(&self.names.properties) {
            let name = name.as_ref().map_or(String::new(), |name| format!("{name}: "));
            let question = match &property.kind {
                PropertyKind::Never(e) => format!("never {}", formula(e)),
                PropertyKind::Assertions => "assertions".to_owned(),
                PropertyKind::NoDeadlock => "no deadlock".to_owned(),
                PropertyKind::Final(quantifier, e) => {
                    let quantifier = match quantifier {
                        Quantifier::Exists => "exists",
                        Quantifier::Never => "never",
                        Quantifier::Always => "always",
                    };
                    format!("final {quantifier} {}", formula(e))
                }
            };
            lines.push(name + &question);
        }
        for (game, name) in self.program.games.iter().zip(&self.names.games) {
            let name = name.as_ref().map_or(String::new(), |name| format!("{name}: "));
            let objective = match game.objective {
                Objective::Reach => "reach",
                Objective::Avoid => "avoid",
            };
            let targets: Vec<_> =
                game.targets.iter().map(|(p, l)| self.names.atom(Atom::At(*p, *l))).collect();
            lines.push(format!("{name}game {objective} {}", targets.join(" or ")));
        }
        lines.extend(self.program.filter.as_ref().map(|e| format!("filter {}", formula(e))));
        // There is no text for observing nothing.
        if let Some(atoms) = self.program.observed.as_ref().filter(|atoms| !atoms.is_empty()) {
            let atoms: Vec<_> = atoms.iter().map(|atom| self.names.atom(*atom)).collect();
            lines.push(format!("observe {}", atoms.join(", ")));
        }
        if !lines.is_empty() {
            self.line("");
        }
        for line in lines {
            self.line(&line);
        }
    }
}
