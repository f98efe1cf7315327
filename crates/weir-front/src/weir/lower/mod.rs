//! From a tree to a [`Program`]: names are resolved, constants evaluated, families
//! expanded, and every access to shared memory becomes a separate statement.
//!
//! * `declare`: the declarations of the program;
//! * `layout`: what a name consists of, with its indices and fields;
//! * `value`: expressions, whatever their atoms are;
//! * `process`, `object`, `procedure`, `statement`, `code`: the code of processes and methods;
//! * `formula`: properties.
//!
//! If a constant makes code unreachable (`if i > 0 { x = a[i - 1] }` in the member with
//! `i = 0`), that code is *dead*: an error in it is not reported and would be a failure
//! if it were executed.

mod ask;
mod code;
mod declare;
mod domain;
mod formula;
mod layout;
mod object;
mod procedure;
mod process;
mod statement;
mod value;

pub(crate) use ask::ask;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

use weir_model::ids::{EnumId, LabelId, ProcessId, RegId, SpanId, VarId};
use weir_model::program::{EvalError, MAX_PROCESSES, Program};

use layout::Layout;

use super::tree::{Item, Name, Procedure, Record, Span};
use crate::errors::{Errors, did_you_mean, quote};
use crate::{Diagnostic, MAX_ARRAY, Source};

/// How many variables, and how many statements, registers or labels in one
/// process: their numbers have 16 bits.
const MAX_NUMBERED: usize = 60_000;
/// How many values all lists of possible values (`any`) may have together.
const MAX_LISTED: usize = 1 << 20;

/// Lowers a whole file, in which `errors` were found so far. `taken` are the
/// names that the text uses.
///
/// # Errors
/// If any were found, here or before.
pub fn file<'t>(
    name: &str,
    items: &'t [Item<'t>],
    taken: HashSet<&'t str>,
    source: Source,
    errors: Errors,
) -> Result<(Program, Source), Errors> {
    let mut cx = Context {
        errors,
        source,
        spans: HashMap::new(),
        globals: HashMap::new(),
        records: HashMap::new(),
        procedures: HashMap::new(),
        program: Program { name: name.to_owned(), ..Program::default() },
        insides: Vec::new(),
        taken,
        var_count: 0,
        listed: 0,
        expanded: 0,
        dead: 0,
    };
    let instances = cx.declare(items);
    let object = cx.object(items);
    if instances.is_empty() && object.is_none() && cx.errors.is_empty() {
        let end = cx.source.text.trim_end().len();
        let error = Diagnostic::new("the program has no process", end..end);
        cx.error(error.help("add one: `process p { … }`"));
    }
    for instance in instances {
        // Copies of what is too long would be too long as well.
        if !process::lower(&mut cx, instance) {
            break;
        }
    }
    if let Some(object) = object {
        cx.methods(object);
    }
    cx.properties(items);
    if cx.errors.is_empty() { Ok((cx.program, cx.source)) } else { Err(cx.errors) }
}

/// What lowering knows, and the program so far.
struct Context<'t> {
    errors: Errors,
    source: Source,
    spans: HashMap<Span, SpanId>,
    globals: HashMap<&'t str, Global<'t>>,
    records: HashMap<&'t str, &'t Record<'t>>,
    procedures: HashMap<&'t str, &'t Procedure<'t>>,
    program: Program,
    /// For each process that has been lowered, the names inside it.
    insides: Vec<Inside<'t>>,
    taken: HashSet<&'t str>,
    var_count: usize,
    listed: usize,
    /// How many copies of formulas quantifiers have made.
    expanded: usize,
    /// Above 0 in code that cannot run.
    dead: usize,
}

/// What a name of the program stands for, and where it was declared.
#[derive(Debug)]
struct Global<'t> {
    span: Span,
    what: What<'t>,
}

#[derive(Clone, Debug)]
enum What<'t> {
    /// A constant or a member of an enum.
    Const(i128),
    Enum(EnumId),
    Var(Variable<'t>),
    Process(Family<'t>),
    /// What kind of thing it will be, once constants are known.
    Later(&'static str),
    /// Its declaration is wrong: its uses are not to be reported.
    Broken,
}

/// A shared variable.
type Variable<'t> = Rc<Layout<'t, VarId>>;

/// Registers that have one name.
type Registers<'t> = Rc<Layout<'t, RegId>>;

/// The processes of one name.
#[derive(Clone, Debug)]
enum Family<'t> {
    Single(ProcessId),
    /// By number, with the place of the declaration.
    Members(BTreeMap<i128, (ProcessId, Name<'t>)>),
}

/// The names inside a process.
#[derive(Debug, Default)]
struct Inside<'t> {
    /// Several blocks may have registers of one name.
    registers: HashMap<&'t str, Vec<(Registers<'t>, Span)>>,
    /// A label of a procedure is at as many places as the procedure is called.
    labels: HashMap<&'t str, (Vec<LabelId>, Span)>,
}

impl<'t> Context<'t> {
    fn error(&mut self, error: Diagnostic) {
        self.errors.push(error);
    }

    fn error_at(&mut self, message: impl Into<String>, span: Span) {
        self.error(Diagnostic::new(message, span.range()));
    }

    /// The id of a place; the same place has one id.
    fn span(&mut self, span: Span) -> SpanId {
        *self.spans.entry(span).or_insert_with(|| self.source.span(span.range()))
    }

    /// Reports a constant that has no value.
    fn no_value(&mut self, error: EvalError, span: Span) {
        let message = match error {
            EvalError::Overflow => "this constant does not fit into 128 bits",
            EvalError::DivisionByZero => "this constant divides by zero",
            EvalError::Index(_) => "this constant is an index outside its array",
        };
        self.error_at(message, span);
    }

    /// Reports a second declaration of a name.
    fn declared_twice(&mut self, name: Name<'t>, first: Span) {
        let message = format!("{} is declared twice", quote(name.text));
        let error = Diagnostic::new(message, name.span.range());
        self.error(error.note(first.range(), "it is declared here first"));
    }

    /// Reports a name that stands for nothing, with the one that was meant.
    fn unknown(&mut self, what: &str, name: Name<'t>, local: &[&'t str]) {
        let message = format!("there is no {what} {}", quote(name.text));
        let error = Diagnostic::new(message, name.span.range());
        let candidates = self.globals.keys().chain(local).copied();
        let error = did_you_mean(error, name.text, candidates);
        self.error(error);
    }
}

impl What<'_> {
    /// What it is, for messages that say what it is not.
    fn kind(&self) -> &'static str {
        match self {
            What::Const(_) => "a constant",
            What::Enum(_) => "an enum",
            What::Var(layout) => layout.kind("a variable"),
            What::Process(Family::Single(_)) => "a process",
            What::Process(Family::Members(_)) => "a family of processes",
            What::Later(kind) => kind,
            What::Broken => "wrong",
        }
    }
}
