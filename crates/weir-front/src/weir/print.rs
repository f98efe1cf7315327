//! Writes a program as text that [`read`](super::read) accepts again, with
//! every access to shared memory spelled out.
//!
//! What is read back is the same program, except that temporaries have become
//! ordinary registers, that names which are not names of the language (a litmus
//! test's `x.1`) have been made into some, and that names of addresses are only
//! comments. Where an index ranges over more than one declaration (a litmus
//! test that calculates with addresses), those variables become one array `mem`.

mod declarations;
mod expression;
mod names;
mod temporal;

use crate::columns::spaces;
use std::fmt::Write;

use weir_model::ids::RegId;
use weir_model::program::{
    Atom, AtomicKind, BinOp, Code, Domain, Expr, LiveKind, Object, Objective, Place, Program,
    PropertyKind, Quantifier, Register, Rmw, Stmt, StmtKind,
};

use super::operators;
use declarations::any;
use expression::{Atoms, expression};
use names::Names;
pub use names::Scope;

/// The program as text.
pub fn print(program: &Program) -> String {
    let names = Names::new(program);
    let mut printer = Printer { program, names: &names, process: 0, depth: 0, out: String::new() };
    printer.enums();
    match &program.object {
        Some(object) => printer.object(object),
        None => {
            printer.declarations();
            for process in 0..program.processes.len() {
                printer.process(process);
            }
        }
    }
    printer.questions();
    printer.out
}

struct Printer<'p> {
    program: &'p Program,
    names: &'p Names,
    /// Whose code is being printed: a process, or with a number behind those of
    /// processes a method.
    process: usize,
    depth: usize,
    out: String,
}

impl Printer<'_> {
    fn line(&mut self, text: &str) {
        let width = if text.is_empty() { 0 } else { 4 * self.depth };
        // Writing to a string cannot fail.
        let _ = writeln!(self.out, "{}{text}", spaces(width));
    }

    fn process(&mut self, index: usize) {
        self.process = index;
        let process = &self.program.processes[index];
        self.line("");
        // `p[2]` is declared as `p[= 2]`: `process p[2]` is two processes.
        let name = self.names.processes[index].replacen('[', "[= ", 1);
        self.line(&format!("process {name} {{"));
        self.code_of(&process.registers, 0, &process.body);
    }

    fn object(&mut self, object: &Object) {
        self.line(&format!("object {} {{", self.names.object));
        self.depth += 1;
        self.declarations();
        for (i, method) in object.methods.iter().enumerate() {
            self.process = self.program.processes.len() + i;
            let argument = method.registers.first().filter(|_| method.has_argument);
            let argument = argument.map_or(String::new(), |r| {
                let name = &self.names.registers[self.process][0];
                format!("({})", self.declaration(name, None, r.domain, &[]))
            });
            self.line("");
            self.line(&format!("method {}{argument} {{", self.names.methods[i]));
            self.code_of(&method.registers, usize::from(method.has_argument), &method.body);
        }
        self.depth -= 1;
        self.line("}");
    }

    /// The registers of the process or method whose code is being printed.
    fn registers(&self) -> &[Register] {
        let processes = &self.program.processes;
        let methods = self.program.object.as_ref().map_or(&[][..], |o| &o.methods);
        match self.process.checked_sub(processes.len()) {
            None => &processes[self.process].registers,
            Some(method) => &methods[method].registers,
        }
    }

    /// Registers, without the first ones that are declared already, and a body;
    /// then the `}` after it.
    fn code_of(&mut self, registers: &[Register], declared: usize, body: &[Stmt]) {
        self.depth += 1;
        let registers: Vec<_> = registers
            .iter()
            .zip(&self.names.registers[self.process])
            .skip(declared)
            .map(|(r, name)| self.declaration(name, None, r.domain, &[&[r.init]]))
            .collect();
        for some in registers.chunks(8) {
            self.line(&format!("reg {}", some.join(", ")));
        }
        self.statements(body);
        self.depth -= 1;
        self.line("}");
    }

    /// A block without its braces.
    fn statements(&mut self, block: &[Stmt]) {
        for stmt in block {
            self.statement(stmt);
        }
    }

    fn nested(&mut self, block: &[Stmt]) {
        self.depth += 1;
        self.statements(block);
        self.depth -= 1;
    }

    fn statement(&mut self, stmt: &Stmt) {
        let labels = &self.names.labels[self.process];
        let text = match &stmt.kind {
            StmtKind::Label(label) => {
                // Labels stand out.
                let text = format!("{}:", labels[label.index()]);
                self.depth -= 1;
                self.line(&text);
                self.depth += 1;
                return;
            }
            StmtKind::Nop => "nop".to_owned(),
            StmtKind::Assign(r, e) => format!("{} = {}", self.register(*r), self.code(e)),
            // No value to choose and no way to go are both the end of the run.
            StmtKind::Any(_, values) if values.is_empty() => "assume false".to_owned(),
            StmtKind::Choose(blocks) if blocks.is_empty() => "assume false".to_owned(),
            StmtKind::Any(r, values) => format!("{} = {}", self.register(*r), any(values)),
            StmtKind::Load(r, place) => format!("{} = {}", self.register(*r), self.loaded(place)),
            StmtKind::Store(place, e) => {
                let (target, value) = (self.place(place), self.stored(place, e));
                match place.order {
                    Some(order) => format!("{target}.store({value}, {order})"),
                    None => format!("{target} = {value}"),
                }
            }
            StmtKind::Rmw(r, place, rmw) => {
                format!("{} = {}", self.register(*r), self.atomic(place, rmw))
            }
            StmtKind::Fence(kind) => kind.name().to_owned(),
            StmtKind::Assume(e) => format!("assume {}", self.code(e)),
            StmtKind::Assert(e) => match self.program.messages.get(&stmt.span) {
                Some(message) => {
                    format!("assert {}, \"{}\"", self.code(e), message.replace(['"', '\n'], "'"))
                }
                None => format!("assert {}", self.code(e)),
            },
            StmtKind::If(e, then, other) => return self.conditional("", e, then, other),
            StmtKind::Loop(body) => {
                self.line("loop {");
                self.nested(body);
                "}".to_owned()
            }
            StmtKind::Atomic(kind, body) => {
                self.line(match kind {
                    AtomicKind::Full => "atomic {",
                    AtomicKind::Statement => "step {",
                });
                self.nested(body);
                "}".to_owned()
            }
            StmtKind::Break | StmtKind::Continue | StmtKind::Exit | StmtKind::Goto(_) => {
                self.jump(&stmt.kind).unwrap_or_default()
            }
            StmtKind::Choose(blocks) => {
                for (i, block) in blocks.iter().enumerate() {
                    self.line(if i == 0 { "choose {" } else { "} or {" });
                    self.nested(block);
                }
                "}".to_owned()
            }
            StmtKind::Await(loads, e) if loads.is_empty() => format!("await {}", self.code(e)),
            StmtKind::Await(loads, e) => {
                if let [Stmt { kind: StmtKind::Load(r, place), .. }] = &loads[..] {
                    let (r, place) = (self.register(*r), self.loaded(place));
                    let text = format!("await {{ {r} = {place} }} until {}", self.code(e));
                    return self.line(&text);
                }
                self.line("await {");
                self.nested(loads);
                format!("}} until {}", self.code(e))
            }
            StmtKind::Return(None) => "return".to_owned(),
            StmtKind::Return(Some(e)) => format!("return {}", self.code(e)),
            // Clients are made of the object, which is what is printed.
            StmtKind::Call(_) => return,
        };
        self.line(&text);
    }

    /// A statement that only goes somewhere else.
    fn jump(&self, stmt: &StmtKind) -> Option<String> {
        Some(match stmt {
            StmtKind::Break => "break".to_owned(),
            StmtKind::Continue => "continue".to_owned(),
            StmtKind::Exit => "exit".to_owned(),
            StmtKind::Goto(label) => {
                format!("goto {}", self.names.labels[self.process][label.index()])
            }
            _ => return None,
        })
    }

    fn conditional(&mut self, before: &str, e: &Code, then: &[Stmt], other: &[Stmt]) {
        // What only leaves stands on one line.
        if let ([Stmt { kind, .. }], [], "") = (then, other, before)
            && let Some(leave) = self.jump(kind)
        {
            return self.line(&format!("if {} {{ {leave} }}", self.code(e)));
        }
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
        expression(e, self)
    }

    /// What is written to a place.
    fn stored(&self, place: &Place, e: &Code) -> String {
        let named = match e {
            Expr::Const(value) => self.member(self.program.decl(place.first).0.domain, *value),
            _ => None,
        };
        named.unwrap_or_else(|| self.code(e))
    }

    /// The name of a value of an enum.
    fn member(&self, domain: Option<Domain>, value: i128) -> Option<String> {
        let Some(Domain::Enum(id)) = domain else { return None };
        self.names.enums[id.index()].1.get(usize::try_from(value).ok()?).cloned()
    }

    fn place(&self, place: &Place) -> String {
        let Some(index) = &place.index else { return self.names.vars[place.first.index()].clone() };
        let (first, len) = (place.first.index(), place.len as usize);
        match self.names.memories.iter().find(|m| m.vars.contains(&first)) {
            Some(memory) if memory.vars == (first..first + len) => {
                format!("{}[{}]", memory.name, self.code(index))
            }
            // What leaves its own part of the array has to leave the array.
            Some(memory) => {
                let number = |n: usize| Expr::Const(n as i128);
                let compare = |op, n| Expr::binary(op, index.clone(), number(n));
                let inside =
                    Expr::binary(BinOp::And, compare(BinOp::Ge, 0), compare(BinOp::Lt, len));
                let offset = number(first - memory.vars.start + 1);
                let element = Expr::binary(BinOp::Add, offset, index.clone());
                let element = Expr::binary(BinOp::Mul, inside, element);
                let index = Expr::binary(BinOp::Sub, element, Expr::Const(1));
                format!("{}[{}]", memory.name, self.code(&index))
            }
            None => {
                let array = self.names.array(self.program, place);
                format!("{array}[{}]", self.code(index))
            }
        }
    }

    /// What a load reads.
    fn loaded(&self, place: &Place) -> String {
        match place.order {
            Some(order) => format!("{}.load({order})", self.place(place)),
            None => self.place(place),
        }
    }

    fn atomic(&self, place: &Place, rmw: &Rmw) -> String {
        let (name, operands, failure) = match rmw {
            Rmw::Cas { expected, new, failure } => ("cmpxchg", vec![expected, new], *failure),
            Rmw::CasFlag { expected, new, failure } => ("cas", vec![expected, new], *failure),
            Rmw::Swap(e) => ("swap", vec![e], None),
            Rmw::Update { when, new } => ("update", vec![when, new], None),
            Rmw::Fetch(op, e) => (operators::fetch_text(*op), vec![e], None),
        };
        let mut parts = vec![self.place(place)];
        parts.extend(operands.into_iter().map(|e| self.code(e)));
        parts.extend(place.order.into_iter().chain(failure).map(|order| order.to_string()));
        format!("{name}({})", parts.join(", "))
    }

    fn questions(&mut self) {
        let formula = |e| expression(e, self);
        let mut lines = Vec::new();
        for (property, name) in self.program.properties.iter().zip(&self.names.properties) {
            let name = name.as_ref().map_or(String::new(), |name| format!("{name}: "));
            let question = match &property.kind {
                PropertyKind::Never(e) => format!("never {}", formula(e)),
                PropertyKind::Assertions => "assertions".to_owned(),
                PropertyKind::NoDeadlock(except) if except.is_empty() => "no deadlock".to_owned(),
                PropertyKind::NoDeadlock(except) => {
                    let place = |(p, l): &(_, _)| self.names.atom(Atom::At(*p, *l));
                    let places: Vec<_> = except.iter().map(place).collect();
                    format!("no deadlock except {}", places.join(", "))
                }
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
        for (live, name) in self.program.live.iter().zip(&self.names.live) {
            let name = name.as_ref().map_or(String::new(), |name| format!("{name}: "));
            let question = match &live.kind {
                LiveKind::Exists(e) => format!("live exists {}", formula(e)),
                LiveKind::Never(e) => format!("live never {}", formula(e)),
                LiveKind::Always(e) => format!("live always {}", formula(e)),
                LiveKind::Terminates => "live terminates".to_owned(),
                LiveKind::Ltl { runs, formula } => {
                    let runs = runs.word().map_or(String::new(), |word| format!("{word} "));
                    // A name that is a word of this language would be read as that.
                    format!("ltl {runs}{}", temporal::text(formula, self, 0))
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

impl Atoms<RegId> for Printer<'_> {
    fn atom(&self, register: &RegId) -> String {
        self.register(*register).to_owned()
    }

    fn value(&self, register: &RegId, value: i128) -> Option<String> {
        self.member(self.registers()[register.index()].domain, value)
    }
}

impl Atoms<Atom> for Printer<'_> {
    fn atom(&self, atom: &Atom) -> String {
        self.names.atom(*atom)
    }

    fn value(&self, atom: &Atom, value: i128) -> Option<String> {
        match *atom {
            Atom::Var(x) => self.member(self.program.decl(x).0.domain, value),
            Atom::Reg(p, r) => {
                self.member(self.program.processes[p.index()].registers[r.index()].domain, value)
            }
            Atom::At(..) => None,
        }
    }
}
