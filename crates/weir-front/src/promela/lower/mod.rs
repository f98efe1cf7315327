//! From a tree to a [`Program`]: which processes there are, what the variables hold
//! at first, and every access to a global variable as a statement of its own.
//!
//! * [`start`]: what runs, and what `init` does before it runs it;
//! * [`process`]: one process, its names and registers;
//! * [`expression`], [`value`]: expressions;
//! * [`statement`], [`select`]: statements; everything that may wait or choose is a
//!   selection;
//! * [`atomic`]: what one atomic read-write can do.

mod atomic;
mod expression;
mod process;
mod select;
mod start;
mod statement;
mod value;

use std::collections::{HashMap, HashSet};

use weir_model::ids::{EnumId, SpanId, VarId};
use weir_model::program::{Decl, Domain, Enum, MAX_PROCESSES, Program, Property, PropertyKind};

use super::lexer::Token;
use super::tree::{Declared, Expr, ExprKind, Model, Name, Type};
use crate::errors::{Errors, did_you_mean, quote};
use crate::weir::tree::Span;
use crate::{Diagnostic, MAX_ARRAY, Source};

/// How many variables, and how many statements, registers or labels in one process:
/// their numbers have 16 bits.
const MAX_NUMBERED: usize = 60_000;
/// How many elements an array of a process may have: each is a register.
const MAX_LOCAL_ARRAY: i128 = 64;

/// Lowers a whole model.
///
/// # Errors
/// If any were found.
pub fn model<'t>(
    name: &str,
    model: &Model<'t>,
    source: Source,
    errors: Errors,
) -> Result<(Program, Source), Errors> {
    let mut cx = Context {
        errors,
        source,
        spans: HashMap::new(),
        globals: HashMap::new(),
        constants: HashMap::new(),
        program: Program { name: name.to_owned(), ..Program::default() },
        numbers: HashSet::new(),
        has_end: false,
    };
    cx.declare_mtypes(&model.mtypes);
    for declared in &model.globals {
        cx.declare_global(declared);
    }
    let instances = cx.start(model);
    if instances.is_empty() && cx.errors.is_empty() {
        let end = cx.source.text.trim_end().len();
        let error = Diagnostic::new("nothing runs: the model has no process", end..end);
        cx.errors.push(error.help("write `active proctype`, or `init { run … }`"));
    }
    for instance in instances {
        // Copies of what is too long would be too long as well.
        if cx.errors.is_full() || !process::lower(&mut cx, instance) {
            break;
        }
    }
    cx.finish()
}

/// What lowering knows, and the program so far.
struct Context<'t> {
    errors: Errors,
    source: Source,
    spans: HashMap<Span, SpanId>,
    globals: HashMap<&'t str, Global>,
    /// The members of `mtype`.
    constants: HashMap<&'t str, i128>,
    program: Program,
    /// Declarations of type `mtype` that hold numbers without a name as well.
    numbers: HashSet<usize>,
    /// Whether a label says that a process may stay there.
    has_end: bool,
}

/// A global variable or an array.
#[derive(Clone, Copy, Debug)]
struct Global {
    kind: Type,
    first: VarId,
    /// `None` for a single variable.
    len: Option<u32>,
    /// Its place in `Program::vars`.
    decl: usize,
    span: Span,
}

impl<'t> Context<'t> {
    fn error_at(&mut self, message: impl Into<String>, token: Token<'t>) {
        self.errors.push(token.error(message));
    }

    /// The id of a place; the same place has one id.
    fn span(&mut self, span: Span) -> SpanId {
        *self.spans.entry(span).or_insert_with(|| self.source.span(span.range()))
    }

    fn declared_twice(&mut self, name: Name<'t>, first: Option<Span>) {
        let message = format!("{} is declared twice", quote(name.text));
        let error = name.token.error(message);
        self.errors.push(match first {
            Some(first) => error.note(first.range(), "it is declared here first"),
            None => error,
        });
    }

    /// Reports a name that stands for nothing.
    fn unknown(&mut self, name: Name<'t>, local: &[&'t str]) {
        let error = name.token.error(format!("there is no variable {}", quote(name.text)));
        let candidates = self.globals.keys().chain(self.constants.keys()).chain(local).copied();
        let error = did_you_mean(error, name.text, candidates);
        self.errors.push(error);
    }

    /// Numbers the members of `mtype` as Spin does: each list from its end, after
    /// those of the lists before it.
    fn declare_mtypes(&mut self, lists: &[Vec<Name<'t>>]) {
        let mut members = vec!["unset".to_owned()];
        for list in lists {
            for name in list.iter().rev() {
                let value = members.len() as i128;
                if self.constants.insert(name.text, value).is_some() {
                    self.declared_twice(*name, None);
                }
                if value > Type::Mtype.bounds().high {
                    return self.error_at("`mtype` may have at most 255 members", name.token);
                }
                members.push(name.text.to_owned());
            }
        }
        while members[1..].contains(&members[0]) {
            members[0].push('_');
        }
        if members.len() > 1 {
            self.program.enums.push(Enum { name: "mtype".to_owned(), members });
        }
    }

    /// What a variable of that type is declared to hold, for reports.
    fn domain(&self, kind: Type) -> Option<Domain> {
        match kind {
            Type::Bool => Some(Domain::Bool),
            Type::Mtype if !self.program.enums.is_empty() => Some(Domain::Enum(EnumId::new(0))),
            _ => kind.int().map(Domain::Int),
        }
    }

    fn declare_global(&mut self, declared: &Declared<'t>) {
        let name = declared.name;
        let first = self.globals.get(name.text).map(|g| g.span);
        if first.is_some() || self.constants.contains_key(name.text) {
            return self.declared_twice(name, first);
        }
        let Some(len) = self.length(declared, MAX_ARRAY) else { return };
        let init = declared.init.as_ref().map_or(Some(0), |e| self.constant(e));
        let Some(init) = init else { return };
        let init = declared.kind.cut(init);
        let var = self.program.var_count();
        let count = len.unwrap_or(1) as usize;
        if var + count > MAX_NUMBERED {
            let message = format!("a model may have at most {MAX_NUMBERED} variables");
            return self.error_at(message, name.token);
        }
        let decl = self.program.vars.len();
        let kind = declared.kind;
        let global = Global { kind, first: VarId::new(var), len, decl, span: name.token.span };
        self.globals.insert(name.text, global);
        if kind == Type::Mtype && declared.init.as_ref().is_some_and(|e| !self.is_named(e)) {
            self.numbers.insert(decl);
        }
        let span = self.span(declared.span);
        self.program.vars.push(Decl {
            name: name.text.to_owned(),
            len,
            domain: self.domain(kind),
            init: vec![vec![init]; count],
            span,
        });
    }

    /// How many elements a declaration has; `None` after an error.
    fn length(&mut self, declared: &Declared<'t>, most: i128) -> Option<Option<u32>> {
        let Some(e) = &declared.len else { return Some(None) };
        let len = self.constant(e)?;
        if (1..=most).contains(&len) {
            return Some(Some(len as u32));
        }
        let message = format!("an array has 1 to {most} elements here, not {len}");
        self.error_at(message, e.token);
        None
    }

    /// Whether an expression is a member of `mtype`.
    fn is_named(&self, e: &Expr<'t>) -> bool {
        match &e.kind {
            ExprKind::Place(p) => self.constants.contains_key(p.name.text),
            ExprKind::Number(n) => *n == 0,
            _ => false,
        }
    }

    /// An expression that has to be constant: its value. `None` after an error.
    fn constant(&mut self, e: &Expr<'t>) -> Option<i128> {
        let mut wrong = None;
        let value = self.evaluate(e, &mut |place| {
            wrong.get_or_insert(place.token);
            None
        });
        if let Some(token) = wrong {
            self.error_at("this has to be a constant", token);
        }
        value
    }

    /// The value of an expression, given that of each variable; `None` after an error
    /// or where `read` gives nothing. Numbers are worked out as Spin's are.
    fn evaluate(
        &mut self,
        e: &Expr<'t>,
        read: &mut dyn FnMut(Read<'_, 't>) -> Option<i128>,
    ) -> Option<i128> {
        use weir_model::program::BinOp;
        let value = match &e.kind {
            ExprKind::Number(n) => Ok(*n),
            ExprKind::Place(place) => {
                if let (Some(value), None) = (self.constants.get(place.name.text), &place.index) {
                    return Some(*value);
                }
                let index = match &place.index {
                    Some(index) => Some(self.evaluate(index, read)?),
                    None => None,
                };
                return read(Read { name: place.name.text, index, run: None, token: e.token });
            }
            ExprKind::LastOf(name) => match self.globals.get(name.text).and_then(|g| g.len) {
                Some(len) => Ok(i128::from(len) - 1),
                None => {
                    return read(Read { name: name.text, index: None, run: None, token: e.token });
                }
            },
            ExprKind::Run(name, arguments) => {
                let mut values = Vec::new();
                for argument in arguments {
                    values.push(self.evaluate(argument, read)?);
                }
                let run = Some((*name, values));
                return read(Read { name: name.text, index: None, run, token: e.token });
            }
            ExprKind::Not(e) => Ok(i128::from(self.evaluate(e, read)? == 0)),
            ExprKind::Negative(e) => Ok(self.evaluate(e, read)?.wrapping_neg()),
            ExprKind::Complement(e) => Ok(!self.evaluate(e, read)?),
            ExprKind::Conditional(c, a, b) => {
                let chosen = if self.evaluate(c, read)? != 0 { a } else { b };
                return self.evaluate(chosen, read);
            }
            ExprKind::Binary(op, a, b) => {
                let a = self.evaluate(a, read)?;
                match op {
                    BinOp::And if a == 0 => Ok(0),
                    BinOp::Or if a != 0 => Ok(1),
                    _ => {
                        let b = self.evaluate(b, read)?;
                        match op {
                            BinOp::Mod => a.checked_rem(b).ok_or(()),
                            op => op.apply(a, b).map_err(drop),
                        }
                    }
                }
            }
        };
        if value.is_err() {
            self.error_at("this has no value", e.token);
        }
        value.ok()
    }

    /// Puts the last things right and asks for what Spin asks for by itself.
    fn finish(mut self) -> Result<(Program, Source), Errors> {
        if !self.errors.is_empty() {
            return Err(self.errors);
        }
        for decl in self.numbers {
            self.program.vars[decl].domain = None;
        }
        if !self.has_end {
            let span = SpanId::NONE;
            let kind = PropertyKind::NoDeadlock(Vec::new());
            self.program.properties.push(Property { name: None, kind, span });
        }
        Ok((self.program, self.source))
    }
}

/// What an expression asks of those who know more than constants.
struct Read<'r, 't> {
    name: &'r str,
    index: Option<i128>,
    /// A process that is to be run, with its arguments.
    run: Option<(Name<'t>, Vec<i128>)>,
    token: Token<'t>,
}
