//! One process: its registers, its temporaries and its body.
//!
//! Temporaries form a stack: a statement begins with none in use, and what an
//! expression has loaded stays in use until the statement is over. The value of
//! an expression that was lowered with `n` temporaries in use reads only
//! temporaries from number `n` on; that is why `and`, `or` and loads may reuse
//! the ones of their operands for their own results.

use std::collections::HashMap;
use std::mem;

use weir_model::ids::{LabelId, ProcessId, RegId};
use weir_model::program::{self, Code, Label, Register, StmtKind};

use super::value::Constants;
use super::{Context, Global, Inside, MAX_NUMBERED};
use crate::errors::quote;
use crate::weir::tree::{self, Block, Declared, Init, Name, Span};
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
    let mut lowering = Lowering::new(cx, &name, parameter, false);
    if let Some((parameter, _)) = parameter {
        lowering.check_free(parameter);
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

/// A process or a method that is being lowered.
pub struct Lowering<'c, 't> {
    pub cx: &'c mut Context<'t>,
    pub name: &'c str,
    pub parameter: Option<(Name<'t>, i128)>,
    pub inside: Inside<'t>,
    /// Where registers are declared, for those who use them too early.
    pub later: HashMap<&'t str, Span>,
    registers: Vec<Register>,
    labels: Vec<Label>,
    temporaries: Vec<RegId>,
    /// How many of the temporaries hold something that is still needed.
    pub in_use: usize,
    /// The block that is being written.
    pub out: Vec<program::Stmt>,
    /// How many blocks the next statement stands in.
    blocks: usize,
    pub loops: usize,
    /// How many statements it has so far.
    pub statements: usize,
    /// Whether this is the block of an `await`.
    pub awaiting: bool,
    /// Whether this is an atomic block.
    pub in_block: bool,
    /// Whether this is a method.
    pub in_method: bool,
}

impl<'c, 't> Lowering<'c, 't> {
    pub fn new(
        cx: &'c mut Context<'t>,
        name: &'c str,
        parameter: Option<(Name<'t>, i128)>,
        in_method: bool,
    ) -> Self {
        Self {
            cx,
            name,
            parameter,
            inside: Inside::default(),
            later: HashMap::new(),
            registers: Vec::new(),
            labels: Vec::new(),
            temporaries: Vec::new(),
            in_use: 0,
            out: Vec::new(),
            blocks: 1,
            loops: 0,
            statements: 0,
            awaiting: false,
            in_block: false,
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
    pub fn constants(&mut self) -> Constants<'_, 't> {
        Constants { cx: self.cx, parameter: self.parameter }
    }

    /// Adds a statement to the block that is being written.
    pub fn emit(&mut self, kind: StmtKind, span: Span) {
        self.statements += 1;
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
        let in_use = self.in_use;
        self.cx.dead += 1;
        self.nested(write);
        self.cx.dead -= 1;
        self.in_use = in_use;
        self.registers.truncate(before.0);
        self.temporaries.truncate(before.1);
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
            let id = self.add_register(name, None, 0, true, span)?;
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
        let display = format!("{}.{name}", self.name);
        let span = self.cx.span(span);
        self.registers.push(Register { name, display, domain, init, temporary, span });
        Some(id)
    }

    pub fn declare_register(&mut self, declared: &Declared<'t>) {
        let name = declared.name;
        if !self.check_free(name) {
            return;
        }
        let mut constants = self.constants();
        let domain = match &declared.domain {
            Some(domain) => constants.domain(domain).map(Some),
            None => Some(None),
        };
        let several = match &declared.init {
            Some(Init::Any(span)) => Some(*span),
            Some(Init::Value(e)) if matches!(e.kind, tree::ExprKind::Any(_)) => Some(e.span),
            _ => None,
        };
        let init = match several {
            Some(span) => {
                let message = "a register begins with one value";
                let help = "choose one in a statement, as in `r = any(0..3)`";
                constants.cx.error(Diagnostic::new(message, span.range()).help(help));
                None
            }
            None => domain.and_then(|domain| constants.init(declared.init.as_ref(), domain)),
        };
        // After an error the register still exists, or its uses would be errors.
        let init = init.and_then(|values| values.first().copied()).unwrap_or(0);
        let text = name.text.to_owned();
        let id = self.add_register(text, domain.flatten(), init, false, declared.span);
        if let Some(id) = id {
            self.inside.registers.insert(name.text, (id, name.span));
        }
    }

    /// The argument of a method. Clients call it with every value of its domain.
    pub fn declare_argument(&mut self, declared: &Declared<'t>) {
        self.declare_register(declared);
        let domain = self.registers.first().and_then(|r| r.domain);
        if let Some(domain) = domain {
            self.constants().members(domain, declared.span);
        }
    }

    /// Whether a name is free for a register or parameter; if not, says so.
    fn check_free(&mut self, name: Name<'t>) -> bool {
        let local = self.inside.registers.get(name.text).map(|(_, span)| *span);
        let parameter = self.parameter.map(|(p, _)| p);
        let parameter = parameter.filter(|p| p.text == name.text && p.span != name.span);
        if let Some(first) = local.or(parameter.map(|p| p.span)) {
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

    /// Finds the labels, which are known everywhere, and the registers, which
    /// are known from their declarations on.
    fn find_names(&mut self, block: &Block<'t>) {
        for stmt in block {
            match &stmt.kind {
                tree::StmtKind::Label(name) => self.declare_label(*name),
                tree::StmtKind::Registers(list) => {
                    self.later.extend(list.iter().map(|r| (r.name.text, r.name.span)));
                }
                tree::StmtKind::If(_, a, b) => {
                    self.find_names(a);
                    self.find_names(b);
                }
                tree::StmtKind::While(_, body)
                | tree::StmtKind::Loop(body)
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
        if let Some((_, first)) = self.inside.labels.get(name.text) {
            let first = *first;
            return self.cx.declared_twice(name, first);
        }
        if self.labels.len() >= MAX_NUMBERED {
            let message = format!("a process may have at most {MAX_NUMBERED} labels");
            return self.cx.error_at(message, name.span);
        }
        let id = LabelId::new(self.labels.len());
        self.inside.labels.insert(name.text, (id, name.span));
        let span = self.cx.span(name.span);
        self.labels.push(Label { name: name.text.to_owned(), span });
    }
}
