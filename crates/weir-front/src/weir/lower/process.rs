//! One process: its registers, its temporaries and its body.
//!
//! Temporaries form a stack: a statement begins with none of its own in use, and what an
//! expression has loaded stays in use until the statement is over. The value of
//! an expression that was lowered with `n` temporaries in use reads only
//! temporaries from number `n` on; that is why `and`, `or` and loads may reuse
//! the ones of their operands for their own results.

use std::collections::{HashMap, HashSet};
use std::mem;
use std::rc::Rc;

use weir_model::ids::{LabelId, ProcessId, RegId};
use weir_model::program::{self, Code, Expr, Label, Register, StmtKind};

use super::code::Target;
use super::layout::{Layout, Part};
use super::value::Constants;
use super::{Context, Global, Inside, MAX_NUMBERED, Registers, Variable};
use crate::errors::quote;
use crate::weir::tree::{self, Block, Declared, Domain, Init, Name, Span};
use crate::{Diagnostic, MAX_NESTING};

/// A process to be lowered.
pub struct Instance<'i, 't> {
    pub id: ProcessId,
    /// `p` or `p[0]`.
    pub name: String,
    /// The family's parameter and its value in this copy.
    pub parameter: Option<(Name<'t>, i128)>,
    pub tree: &'i tree::Process<'t>,
}

/// Lowers a process into the program, unless it is too long.
pub fn lower<'t>(cx: &mut Context<'t>, instance: Instance<'_, 't>) -> bool {
    let Instance { id, name, parameter, tree } = instance;
    let mut lowering = Lowering::new(cx, &name, false);
    if let Some((parameter, value)) = parameter {
        lowering.declare(parameter, Local::Constant(value));
    }
    let (lowered, inside) = lowering.whole(&tree.body);
    let Lowered { registers, labels, body, fits } = lowered;
    let process = &mut cx.program.processes[id.index()];
    (process.registers, process.labels, process.body) = (registers, labels, body);
    cx.insides.push(inside);
    fits
}

/// What was made of the code of a process or a method.
pub struct Lowered {
    pub registers: Vec<Register>,
    pub labels: Vec<Label>,
    pub body: Vec<program::Stmt>,
    /// Whether it is not too long.
    pub fits: bool,
}

/// What a name in the code of a process stands for.
#[derive(Clone, Debug)]
pub enum Local<'t> {
    Registers(Registers<'t>),
    /// The parameter of a family, or one of a procedure whose value is known.
    Constant(i128),
    /// A parameter of a procedure that stands for one cell.
    Cell(Target),
    /// A parameter of a procedure that stands for a variable as a whole.
    Variable(Variable<'t>),
}

/// Names that are all different.
#[derive(Debug, Default)]
struct Unique {
    used: HashSet<String>,
    /// The next number behind a name that is used.
    next: HashMap<String, usize>,
}

impl Unique {
    /// `name`, or one like it that is not used and does not stand in the text.
    fn name(&mut self, name: &str, taken: &HashSet<&str>) -> String {
        if self.used.insert(name.to_owned()) {
            return name.to_owned();
        }
        let next = self.next.entry(name.to_owned()).or_insert(2);
        loop {
            let candidate = format!("{name}_{next}");
            *next += 1;
            if !taken.contains(candidate.as_str()) && self.used.insert(candidate.clone()) {
                return candidate;
            }
        }
    }
}

/// The code that is being lowered: that of the process, or that of a procedure which it calls.
#[derive(Debug, Default)]
pub struct Frame<'t> {
    /// The procedure.
    pub procedure: Option<Name<'t>>,
    /// The names of each block around the next statement.
    pub scopes: Vec<HashMap<&'t str, (Local<'t>, Span)>>,
    /// The labels.
    pub labels: HashMap<&'t str, LabelId>,
    /// Where registers are declared, for those who use them too early.
    pub later: HashMap<&'t str, Span>,
    /// Whether a label stands before the next statement: what follows may be executed again.
    pub labeled: bool,
    /// Where the value goes that the procedure returns.
    pub result: Option<RegId>,
    /// What ends the procedure, if something jumps there.
    pub end: Option<LabelId>,
}

/// Assignments that stand before an atomic block, so that it still begins with what it begins with.
pub struct Hoisted {
    /// How many frames and scopes there are directly in the block.
    pub scope: (usize, usize),
    pub list: Vec<(RegId, i128, Span)>,
}

/// Registers, and what each of them begins with.
type Begun<'t> = (Registers<'t>, Vec<(RegId, i128)>);

/// A process or a method that is being lowered.
pub struct Lowering<'c, 't> {
    pub cx: &'c mut Context<'t>,
    pub name: &'c str,
    pub inside: Inside<'t>,
    /// The process, then the procedures that are being called.
    pub frames: Vec<Frame<'t>>,
    registers: Vec<Register>,
    labels: Vec<Label>,
    register_names: Unique,
    label_names: Unique,
    temporaries: Vec<RegId>,
    /// The registers of declarations in procedures: no procedure runs twice at the same time.
    reused: HashMap<(Span, Option<program::Domain>), Registers<'t>>,
    /// How many of the temporaries hold something that is still needed.
    pub in_use: usize,
    /// How many of them a statement may not use.
    pub base: usize,
    /// The block that is being written.
    pub out: Vec<program::Stmt>,
    /// How many blocks the next statement stands in.
    pub blocks: usize,
    pub loops: usize,
    /// How many statements it has so far.
    pub statements: usize,
    /// How many calls of procedures it has so far.
    pub calls: usize,
    /// Whether nothing of the procedure follows the next statement.
    pub is_last: bool,
    /// Whether this is the block of an `await`.
    pub awaiting: bool,
    /// Whether this is an atomic block.
    pub in_block: bool,
    /// Whether it is a `step` that begins with the assignment that comes next.
    pub at_step: bool,
    /// What registers of the atomic block begin with that it declares itself.
    pub hoisted: Option<Hoisted>,
    /// Whether this is a method.
    pub in_method: bool,
}

impl<'c, 't> Lowering<'c, 't> {
    pub fn new(cx: &'c mut Context<'t>, name: &'c str, in_method: bool) -> Self {
        let frame = Frame { scopes: vec![HashMap::new()], ..Frame::default() };
        Self {
            cx,
            name,
            inside: Inside::default(),
            frames: vec![frame],
            registers: Vec::new(),
            labels: Vec::new(),
            register_names: Unique::default(),
            label_names: Unique::default(),
            temporaries: Vec::new(),
            reused: HashMap::new(),
            in_use: 0,
            base: 0,
            out: Vec::new(),
            blocks: 1,
            loops: 0,
            statements: 0,
            calls: 0,
            is_last: false,
            awaiting: false,
            in_block: false,
            at_step: false,
            hoisted: None,
            in_method,
        }
    }

    /// Lowers all of its code.
    pub fn whole(mut self, code: &Block<'t>) -> (Lowered, Inside<'t>) {
        self.find_names(code);
        self.block(code);
        let fits = !self.is_too_long();
        let Self { inside, registers, labels, out: body, .. } = self;
        (Lowered { registers, labels, body, fits }, inside)
    }
}

impl<'t> Lowering<'_, 't> {
    /// The code that is being lowered. There always is one.
    pub fn frame(&mut self) -> &mut Frame<'t> {
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    /// Whether this is the code of a procedure.
    pub fn in_procedure(&self) -> bool {
        self.frames.len() > 1
    }

    /// What a name stands for that the code declares.
    pub fn local(&self, name: &str) -> Option<&Local<'t>> {
        let scopes = self.frames.last()?.scopes.iter().rev();
        scopes.filter_map(|scope| scope.get(name)).map(|(local, _)| local).next()
    }

    /// The names that the code declares.
    pub fn local_names(&self) -> Vec<&'t str> {
        let scopes = self.frames.last().into_iter().flat_map(|frame| &frame.scopes);
        scopes.flat_map(|scope| scope.keys().copied()).collect()
    }

    pub fn constants(&mut self) -> Constants<'_, 't> {
        let scopes = self.frames.last().into_iter().flat_map(|frame| &frame.scopes);
        let known = scopes.flatten().filter_map(|(name, (local, _))| match local {
            Local::Constant(value) => Some((*name, *value)),
            _ => None,
        });
        Constants { known: known.collect(), cx: self.cx }
    }

    /// Adds a statement to the block that is being written.
    pub fn emit(&mut self, kind: StmtKind, span: Span) {
        self.statements += 1;
        self.at_step = false;
        if self.blocks > MAX_NESTING {
            let message = format!("blocks nest more than {MAX_NESTING} deep here");
            return self.cx.error_at(message, span);
        }
        if self.is_too_long() {
            let name = quote(self.name);
            let what = if self.in_method { "method" } else { "process" };
            let message = format!("{what} {name} has more than {MAX_NUMBERED} statements");
            return self.cx.error_at(message, span);
        }
        let span = self.cx.span(span);
        self.out.push(program::Stmt::new(kind, span));
    }

    pub fn is_too_long(&self) -> bool {
        self.statements > MAX_NUMBERED
    }

    /// What `write` writes, as a block of its own.
    pub fn nested<R>(&mut self, write: impl FnOnce(&mut Self) -> R) -> (Vec<program::Stmt>, R) {
        let around = mem::take(&mut self.out);
        self.blocks += 1;
        let result = write(self);
        self.blocks -= 1;
        (mem::replace(&mut self.out, around), result)
    }

    /// Looks for errors in code that a constant leaves out.
    pub fn discarded<R>(&mut self, write: impl FnOnce(&mut Self) -> R) {
        let before = (self.registers.len(), self.temporaries.len(), self.statements);
        let (in_use, labels) = (self.in_use, self.labels.len());
        let reused = self.reused.clone();
        let inside = self.inside.labels.clone();
        self.cx.dead += 1;
        self.nested(write);
        self.cx.dead -= 1;
        self.in_use = in_use;
        self.reused = reused;
        self.inside.labels = inside;
        self.registers.truncate(before.0);
        self.temporaries.truncate(before.1);
        self.labels.truncate(labels);
        self.statements = before.2;
    }

    /// Writes `r = e`.
    pub fn set(&mut self, register: RegId, e: Code, span: Span) {
        self.emit(StmtKind::Assign(register, e), span);
    }

    /// The next temporary. `None` after an error.
    pub fn temporary(&mut self, span: Span) -> Option<RegId> {
        if self.in_use == self.temporaries.len() {
            let name = self.free_name();
            let display = format!("{}.{name}", self.name);
            let id = self.add_register(name, display, None, 0, true, span)?;
            self.temporaries.push(id);
        }
        self.in_use += 1;
        Some(self.temporaries[self.in_use - 1])
    }

    /// `t0`, `t1`, … without the names that the program uses somewhere.
    fn free_name(&self) -> String {
        let is_free = |name: &String| !self.cx.taken.contains(name.as_str());
        let made = self.temporaries.len();
        (0..).map(|i| format!("t{i}")).filter(is_free).nth(made).unwrap_or_default()
    }

    fn add_register(
        &mut self,
        name: String,
        display: String,
        domain: Option<program::Domain>,
        init: i128,
        temporary: bool,
        span: Span,
    ) -> Option<RegId> {
        if self.registers.len() >= MAX_NUMBERED {
            let message = format!("a process may have at most {MAX_NUMBERED} registers");
            self.cx.error_at(message, span);
            return None;
        }
        let id = RegId::new(self.registers.len());
        let span = self.cx.span(span);
        self.registers.push(Register { name, display, domain, init, temporary, span });
        Some(id)
    }

    /// A register for a person to see, with a name that no other one has.
    fn named_register(
        &mut self,
        name: String,
        domain: Option<program::Domain>,
        init: i128,
        span: Span,
    ) -> Option<RegId> {
        let unique = self.register_names.name(&name, &self.cx.taken);
        let display = format!("{}.{name}", self.name);
        self.add_register(unique, display, domain, init, false, span)
    }

    /// Gives a name a meaning in the innermost block, unless it has one.
    pub fn declare(&mut self, name: Name<'t>, local: Local<'t>) {
        if self.check_free(name)
            && let Some(scope) = self.frame().scopes.last_mut()
        {
            scope.insert(name.text, (local, name.span));
        }
    }

    /// A register for a parameter or for what a loop counts.
    pub fn declare_one(&mut self, name: Name<'t>) -> Option<RegId> {
        let key = (name.span, None);
        let layout = match self.reused.get(&key) {
            Some(layout) => layout.clone(),
            None => {
                let id = self.named_register(name.text.to_owned(), None, 0, name.span)?;
                let layout = Rc::new(Layout::one(id));
                self.reused.insert(key, layout.clone());
                layout
            }
        };
        self.know(name, layout.clone());
        self.declare(name, Local::Registers(layout.clone()));
        layout.parts.first().map(|part| part.first)
    }

    /// Lets formulas name a register of the process.
    fn know(&mut self, name: Name<'t>, layout: Registers<'t>) {
        if !self.in_procedure() {
            self.inside.registers.entry(name.text).or_default().push((layout, name.span));
        }
    }

    /// Declares registers, and writes what they begin with unless that is what they have.
    pub fn declare_register(&mut self, declared: &Declared<'t>) {
        let name = declared.name;
        if !self.check_free(name) {
            return;
        }
        let Some((layout, inits)) = self.layout(declared) else {
            // After an error the register still exists, or its uses would be errors.
            let id = self.named_register(name.text.to_owned(), None, 0, declared.span);
            if let Some(id) = id {
                self.declare(name, Local::Registers(Rc::new(Layout::one(id))));
            }
            return;
        };
        self.know(name, layout.clone());
        self.declare(name, Local::Registers(layout));
        // The initial values are those that a process starts with. Only where a declaration can be
        // executed again is there something to do.
        let frame = self.frame();
        let depth = frame.scopes.len();
        if self.frames.len() == 1 && depth == 1 && !self.frames[0].labeled {
            return;
        }
        match &mut self.hoisted {
            Some(Hoisted { scope, list }) if *scope == (self.frames.len(), depth) => {
                list.extend(inits.into_iter().map(|(r, init)| (r, init, declared.span)));
            }
            _ => {
                for (register, init) in inits {
                    self.set(register, Expr::Const(init), declared.span);
                }
            }
        }
    }

    /// The registers of a declaration, and what each begins with. `None` after an error.
    fn layout(&mut self, declared: &Declared<'t>) -> Option<Begun<'t>> {
        let plan = self.constants().plan(declared)?;
        let several = match &declared.init {
            Some(Init::Any(span)) => Some(*span),
            Some(Init::Value(e)) if matches!(e.kind, tree::ExprKind::Any(_)) => Some(e.span),
            _ => None,
        };
        if let Some(span) = several {
            let message = "a register begins with one value";
            let help = "choose one in a statement, as in `r = any(0..3)`";
            self.cx.error(Diagnostic::new(message, span.range()).help(help));
            return None;
        }
        let key = (declared.span, plan.parts.first().and_then(|part| part.domain));
        let known = self.reused.get(&key).filter(|_| self.in_procedure()).cloned();
        let mut inits = Vec::new();
        let mut parts = Vec::new();
        for (i, part) in plan.parts.into_iter().enumerate() {
            let first = match &known {
                Some(layout) => layout.parts.get(i)?.first,
                None => RegId::new(self.registers.len()),
            };
            for (cell, (name, values)) in part.names.into_iter().zip(part.inits).enumerate() {
                if values.len() > 1 {
                    let message = "a register begins with one value";
                    self.cx.error_at(message, declared.span);
                    return None;
                }
                let init = values.first().copied().unwrap_or(0);
                inits.push((RegId::new(first.index() + cell), init));
                if known.is_none() {
                    self.named_register(name, part.domain, init, declared.span)?;
                }
            }
            parts.push(Part { field: part.field, dims: part.dims, first });
        }
        let layout = Rc::new(Layout { dims: plan.dims, parts });
        self.reused.insert(key, layout.clone());
        Some((layout, inits))
    }

    /// The argument of a method. Clients call it with every value of its domain.
    pub fn declare_argument(&mut self, declared: &Declared<'t>) {
        if let Some(Domain::Named(name)) = &declared.domain
            && self.cx.records.contains_key(name.text)
        {
            return self.cx.error_at("an argument is a number, not a record", name.span);
        }
        self.declare_register(declared);
        let domain = self.registers.first().and_then(|r| r.domain);
        if let Some(domain) = domain {
            self.constants().members(domain, declared.span);
        }
    }

    /// Whether a name is free for a register or parameter; if not, says so.
    fn check_free(&mut self, name: Name<'t>) -> bool {
        let scopes = self.frames.last().into_iter().flat_map(|frame| &frame.scopes);
        let first = scopes.filter_map(|scope| scope.get(name.text)).map(|(_, span)| *span).next();
        if let Some(first) = first {
            self.cx.declared_twice(name, first);
        } else if let Some(Global { span, what }) = self.cx.globals.get(name.text) {
            let message = format!("{} is already the name of something else", quote(name.text));
            let note = format!("it is {} here", what.kind());
            let error = Diagnostic::new(message, name.span.range());
            let error = error.note(span.range(), note);
            self.cx.error(error);
        } else {
            return true;
        }
        false
    }

    /// Finds the labels, which are known everywhere in the code, and the registers, which
    /// are known from their declarations on.
    pub fn find_names(&mut self, block: &Block<'t>) {
        for stmt in block {
            match &stmt.kind {
                tree::StmtKind::Label(name) => self.declare_label(*name),
                tree::StmtKind::Registers(list) => {
                    let names = list.iter().map(|r| (r.name.text, r.name.span));
                    self.frame().later.extend(names);
                }
                tree::StmtKind::If(_, a, b) => {
                    self.find_names(a);
                    self.find_names(b);
                }
                tree::StmtKind::While(_, body)
                | tree::StmtKind::Loop(body)
                | tree::StmtKind::For(.., body)
                | tree::StmtKind::Undivided(_, body) => {
                    self.find_names(body);
                }
                tree::StmtKind::Choose(blocks) => {
                    for block in blocks {
                        self.find_names(block);
                    }
                }
                _ => {}
            }
        }
    }

    fn declare_label(&mut self, name: Name<'t>) {
        if self.frame().labels.contains_key(name.text) {
            let first = self.inside.labels.get(name.text).map_or(name.span, |(_, span)| *span);
            return self.cx.declared_twice(name, first);
        }
        if let Some(id) = self.add_label(name.text.to_owned(), name.span) {
            self.frame().labels.insert(name.text, id);
            let copies = self.inside.labels.entry(name.text).or_insert((Vec::new(), name.span));
            copies.0.push(id);
        }
    }

    /// A label with this name, or one like it if that is taken. `None` after an error.
    pub fn add_label(&mut self, name: String, span: Span) -> Option<LabelId> {
        if self.labels.len() >= MAX_NUMBERED {
            let message = format!("a process may have at most {MAX_NUMBERED} labels");
            self.cx.error_at(message, span);
            return None;
        }
        let unique = self.label_names.name(&name, &self.cx.taken);
        let id = LabelId::new(self.labels.len());
        let span = self.cx.span(span);
        self.labels.push(Label { name: unique, span });
        Some(id)
    }
}
