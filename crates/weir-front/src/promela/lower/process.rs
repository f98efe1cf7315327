//! One process: its names, its registers, and the statements that are written for it.

use std::collections::{HashMap, HashSet};
use std::mem;

use weir_model::ids::{LabelId, RegId};
use weir_model::program::{Code, Domain, Label, Place, Process, Register, Stmt, StmtKind};

use super::{Context, MAX_LOCAL_ARRAY, MAX_NUMBERED};
use crate::MAX_NESTING;
use crate::errors::quote;
use crate::promela::lexer::Token;
use crate::promela::tree::{self, Declared, Name, Proctype, Type};
use crate::weir::tree::Span;

/// A process that runs.
pub struct Instance<'m, 't> {
    pub proctype: &'m Proctype<'t>,
    /// `P`, or `P[2]` where several run.
    pub name: String,
    pub pid: i128,
    /// One for each parameter.
    pub arguments: Vec<i128>,
    /// How many statements of the body have been done already, and what they left in
    /// the local variables.
    pub done: usize,
    pub locals: HashMap<&'t str, Vec<i128>>,
}

/// A name inside a process.
#[derive(Clone, Debug)]
pub struct Local {
    pub kind: Type,
    pub place: LocalPlace,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum LocalPlace {
    Register(RegId),
    /// One register for each element.
    Array(Vec<RegId>),
    /// It never changes.
    Constant(i128),
}

/// Lowers one process; `false` if it is too long.
pub fn lower<'t>(cx: &mut Context<'t>, instance: Instance<'_, 't>) -> bool {
    let mut this = Lowering {
        cx,
        name: instance.name,
        scopes: vec![HashMap::new()],
        labels: HashMap::new(),
        registers: Vec::new(),
        label_list: Vec::new(),
        temporaries: Vec::new(),
        in_use: 0,
        base: 0,
        out: Vec::new(),
        statements: 0,
        blocks: 0,
        loops: 0,
        loaded: Vec::new(),
        held: None,
        numbers: HashSet::new(),
        taken: HashSet::new(),
    };
    let proctype = instance.proctype;
    let mut assigned = HashSet::new();
    this.survey(&proctype.body, &mut assigned);
    let pid = Local {
        kind: Type::Byte,
        place: LocalPlace::Constant(instance.pid),
        span: proctype.name.token.span,
    };
    this.scopes[0].insert("_pid", pid);
    for (parameter, value) in proctype.parameters.iter().zip(&instance.arguments) {
        let value = parameter.kind.cut(*value);
        if assigned.contains(parameter.name.text) {
            this.declare(parameter, Some(value));
        } else {
            let (kind, span) = (parameter.kind, parameter.name.token.span);
            let place = LocalPlace::Constant(value);
            this.scopes[0].insert(parameter.name.text, Local { kind, place, span });
        }
    }
    for stmt in &proctype.body[..instance.done] {
        if let tree::StmtKind::Declare(list) = &stmt.kind {
            for declared in list {
                this.declare(declared, Some(0));
                let known = instance.locals.get(declared.name.text);
                for (i, value) in known.into_iter().flatten().enumerate() {
                    this.begin_with(declared.name.text, i, *value);
                }
            }
        }
    }
    this.body(&proctype.body[instance.done..]);
    for register in &this.numbers {
        this.registers[register.index()].domain = None;
    }
    let fits = !this.is_too_long();
    let process = Process {
        name: this.name,
        registers: this.registers,
        labels: this.label_list,
        body: this.out,
    };
    cx.program.processes.push(process);
    fits
}

pub struct Lowering<'c, 't> {
    pub cx: &'c mut Context<'t>,
    pub name: String,
    pub scopes: Vec<HashMap<&'t str, Local>>,
    pub labels: HashMap<&'t str, (LabelId, Span)>,
    pub registers: Vec<Register>,
    label_list: Vec<Label>,
    temporaries: Vec<RegId>,
    /// How many temporaries hold something that is still needed.
    pub in_use: usize,
    /// How many of them a statement has to leave alone.
    pub base: usize,
    /// The block that is being written.
    pub out: Vec<Stmt>,
    statements: usize,
    blocks: usize,
    pub loops: usize,
    /// What the statement has loaded so far.
    pub loaded: Vec<(Place, RegId)>,
    /// The variable of an atomic read-write, and the register that stands for it.
    pub held: Option<(Place, RegId)>,
    /// Registers of type `mtype` that hold numbers without a name as well.
    pub numbers: HashSet<RegId>,
    /// Names that registers and labels have.
    taken: HashSet<String>,
}

impl<'t> Lowering<'_, 't> {
    /// Adds a statement to the block that is being written.
    pub fn emit(&mut self, kind: StmtKind, span: Span) {
        self.statements += 1;
        let range = span.range();
        if self.blocks > MAX_NESTING {
            let message = format!("this nests more than {MAX_NESTING} deep");
            return self.cx.errors.push(crate::Diagnostic::new(message, range));
        }
        if self.is_too_long() {
            let name = quote(&self.name);
            let message = format!("process {name} has more than {MAX_NUMBERED} statements");
            return self.cx.errors.push(crate::Diagnostic::new(message, range));
        }
        let span = self.cx.span(span);
        self.out.push(Stmt::new(kind, span));
    }

    pub fn is_too_long(&self) -> bool {
        self.statements > MAX_NUMBERED
    }

    /// What `write` writes, as a block of its own.
    pub fn nested<R>(&mut self, write: impl FnOnce(&mut Self) -> R) -> (Vec<Stmt>, R) {
        let around = mem::take(&mut self.out);
        self.blocks += 1;
        let result = write(self);
        self.blocks -= 1;
        (mem::replace(&mut self.out, around), result)
    }

    /// The next temporary. `None` after an error.
    pub fn temporary(&mut self, span: Span) -> Option<RegId> {
        if self.in_use == self.temporaries.len() {
            let name = self.fresh("t", self.temporaries.len());
            let id = self.add_register(name, None, 0, true, span)?;
            self.temporaries.push(id);
        }
        self.in_use += 1;
        Some(self.temporaries[self.in_use - 1])
    }

    /// A name that nothing else in the process has.
    fn fresh(&mut self, word: &str, from: usize) -> String {
        let is_free = |name: &String| {
            !self.taken.contains(name) && !self.cx.globals.contains_key(name.as_str())
        };
        let name = (from..).map(|i| format!("{word}{i}")).find(is_free).unwrap_or_default();
        self.taken.insert(name.clone());
        name
    }

    fn add_register(
        &mut self,
        name: String,
        domain: Option<Domain>,
        init: i128,
        temporary: bool,
        span: Span,
    ) -> Option<RegId> {
        if self.registers.len() >= MAX_NUMBERED {
            let message = format!("a process may have at most {MAX_NUMBERED} local variables");
            self.cx.errors.push(crate::Diagnostic::new(message, span.range()));
            return None;
        }
        let id = RegId::new(self.registers.len());
        let display = format!("{}.{name}", self.name);
        let span = self.cx.span(span);
        self.registers.push(Register { name, display, domain, init, temporary, span });
        Some(id)
    }

    /// Declares a local variable that begins with a value.
    pub fn declare(&mut self, declared: &Declared<'t>, init: Option<i128>) -> Option<()> {
        let name = declared.name;
        let scope = self.scopes.last()?;
        if let Some(first) = scope.get(name.text).map(|l| l.span) {
            self.cx.declared_twice(name, Some(first));
            return None;
        }
        let len = self.cx.length(declared, MAX_LOCAL_ARRAY)?;
        let domain = self.cx.domain(declared.kind);
        let init = init.unwrap_or(0);
        let mut registers = Vec::new();
        for i in 0..len.unwrap_or(1) {
            let base = match len {
                Some(_) => format!("{}_{i}", name.text),
                None => name.text.to_owned(),
            };
            // Another block may have a variable of that name.
            let free = if self.taken.contains(&base) || self.cx.globals.contains_key(&*base) {
                self.fresh(&format!("{base}_"), self.registers.len())
            } else {
                self.taken.insert(base.clone());
                base
            };
            let register = self.add_register(free, domain, init, false, declared.span)?;
            registers.push(register);
        }
        let place = match len {
            Some(_) => LocalPlace::Array(registers),
            None => LocalPlace::Register(registers[0]),
        };
        let local = Local { kind: declared.kind, place, span: name.token.span };
        self.scopes.last_mut()?.insert(name.text, local);
        Some(())
    }

    /// Makes a local variable, or an element of it, begin with a value.
    fn begin_with(&mut self, name: &str, element: usize, value: i128) {
        let register = match self.local(name).map(|l| &l.place) {
            Some(LocalPlace::Register(r)) if element == 0 => *r,
            Some(LocalPlace::Array(list)) if element < list.len() => list[element],
            _ => return,
        };
        self.registers[register.index()].init = value;
    }

    pub fn local(&self, name: &str) -> Option<&Local> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name))
    }

    /// Finds labels and the local variables that are assigned, all through a body.
    fn survey(&mut self, list: &[tree::Stmt<'t>], assigned: &mut HashSet<&'t str>) {
        for stmt in list {
            match &stmt.kind {
                tree::StmtKind::Label(name) => self.declare_label(*name),
                tree::StmtKind::Assign(place, _) | tree::StmtKind::Select(place, ..) => {
                    assigned.insert(place.name.text);
                }
                tree::StmtKind::If(options) | tree::StmtKind::Do(options) => {
                    for option in options {
                        self.survey(option, assigned);
                    }
                }
                tree::StmtKind::Atomic(body) | tree::StmtKind::Block(body) => {
                    self.survey(body, assigned);
                }
                _ => {}
            }
        }
    }

    fn declare_label(&mut self, name: Name<'t>) {
        if let Some((_, first)) = self.labels.get(name.text) {
            let first = *first;
            return self.cx.declared_twice(name, Some(first));
        }
        self.cx.has_end |= name.text.starts_with("end");
        if let Some(id) = self.add_label(name.text.to_owned(), name.token.span) {
            self.labels.insert(name.text, (id, name.token.span));
        }
    }

    /// A generated label.
    pub fn new_label(&mut self, span: Span) -> Option<LabelId> {
        let from = self.label_list.len();
        let mut names = (from..).map(|i| format!("again{i}"));
        let free = names.find(|n| !self.labels.contains_key(n.as_str()))?;
        self.add_label(free, span)
    }

    fn add_label(&mut self, name: String, span: Span) -> Option<LabelId> {
        if self.label_list.len() >= MAX_NUMBERED {
            let message = format!("a process may have at most {MAX_NUMBERED} labels");
            self.cx.errors.push(crate::Diagnostic::new(message, span.range()));
            return None;
        }
        let id = LabelId::new(self.label_list.len());
        let span = self.cx.span(span);
        self.label_list.push(Label { name, span });
        Some(id)
    }

    /// Reports code that nests too deep to be worked with.
    pub fn bounded(&mut self, code: Code, token: Token<'t>) -> Option<Code> {
        if crate::weir::fold::depth(&code) < MAX_NESTING {
            return Some(code);
        }
        let message = format!("this expression nests more than {MAX_NESTING} deep");
        self.cx.error_at(message, token);
        None
    }
}
