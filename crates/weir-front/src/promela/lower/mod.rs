//! From a tree to a [`Program`]: which processes there are, what the variables hold
//! at first, and what a process does, step by step.
//!
//! A process of Spin is a graph: at each *place* there are steps, each of which may be possible or not,
//! and one of the possible ones is taken. A place becomes an `await` for one of its steps, the choice,
//! and what the step does; where that is more than one access, all of it is a block that is one step.
//!
//! * [`start`]: what runs, and what `init` does before it runs it;
//! * [`graph`]: the places and steps of a process;
//! * [`variable`], [`process`]: names and registers;
//! * [`expression`], [`value`]: expressions;
//! * [`place`], [`effect`]: what becomes of a place and its steps;
//! * [`channel`]: channels and their messages;
//! * [`tidy`]: the same code with fewer jumps and blocks;
//! * [`ltl`]: what formulas ask.
//! * [`observe`]: what questions see of a message that is handed over.

mod channel;
mod effect;
mod expression;
mod graph;
mod ltl;
mod observe;
mod place;
mod process;
mod start;
mod tidy;
mod value;
mod variable;

use std::collections::{HashMap, HashSet};

use weir_model::ids::{EnumId, LabelId, ProcessId, SpanId, VarId};
use weir_model::program::{Decl, Domain, Enum, MAX_PROCESSES, Program, Property, PropertyKind};

use super::lexer::Token;
use super::tree::{
    Declared, Expr, ExprKind, Init, Model, Name, Pattern, Record, Shape, Stmt, StmtKind, Type,
};
use crate::errors::{Errors, did_you_mean, quote};
use crate::weir::tree::Span;
use crate::{Diagnostic, MAX_ARRAY, MAX_NESTING, Settings, Source};
use channel::Channel;
pub use observe::Observed;
use process::Body;
use variable::{Leaf, Storage, Variable};

/// How many variables, and how many statements, registers or labels in one process:
/// their numbers have 16 bits.
const MAX_NUMBERED: usize = 60_000;
/// How many elements an array of a process may have: each is a register.
const MAX_LOCAL_ARRAY: i128 = 255;

/// Lowers a whole model.
///
/// # Errors
/// If any were found.
pub fn model<'t>(
    name: &str,
    model: &Model<'t>,
    settings: &Settings,
    source: Source,
    asks_labels: bool,
    errors: Errors,
) -> Result<(Program, Source, Observed), Errors> {
    let mut asks_labels = asks_labels;
    for formula in &model.formulas {
        formula.formula.visit(&mut |e| {
            asks_labels |= matches!(e.kind, ExprKind::At(..) | ExprKind::Remote(..));
        });
    }
    let mut cx = Context {
        errors,
        source,
        spans: HashMap::new(),
        globals: HashMap::new(),
        constants: HashMap::new(),
        records: HashMap::new(),
        initials: HashMap::new(),
        channels: Vec::new(),
        count: 0,
        names: HashSet::new(),
        assigned: HashSet::new(),
        program: Program { name: name.to_owned(), ..Program::default() },
        numbers: HashSet::new(),
        except: Vec::new(),
        is_split: settings.is_split,
        asks_labels,
        places: settings.places,
        hand: None,
        running: None,
        counts: false,
        is_shared: false,
        broken: HashSet::new(),
        is_observed: model.formulas.iter().any(|f| f.formula.is_about_locals()),
        relabeled: Vec::new(),
        moments: Vec::new(),
        staggered: false,
    };
    cx.survey(model);
    cx.declare_mtypes(&model.mtypes);
    for record in &model.records {
        if cx.records.insert(record.name.text, record).is_some() {
            cx.declared_twice(record.name, None);
        }
    }
    for declared in &model.globals {
        cx.declare_global(declared);
    }
    let bodies = cx.start(model);
    if bodies.is_empty() && cx.errors.is_empty() {
        let end = cx.source.text.trim_end().len();
        let error = Diagnostic::new("nothing runs: the model has no process", end..end);
        cx.errors.push(error.help("write `active proctype`, or `init { run … }`"));
    }
    let bodies = cx.meet(bodies);
    for me in 0..bodies.len() {
        // Copies of what is too long would be too long as well.
        if cx.errors.is_full() || !place::lower(&mut cx, &bodies, me) {
            break;
        }
    }
    if cx.errors.is_empty() {
        ltl::ask(&mut cx, model, &bodies);
    }
    let observed = Observed::new(&cx, &bodies);
    let (program, source) = cx.finish(&bodies)?;
    Ok((program, source, observed))
}

/// What lowering knows, and the program so far.
struct Context<'m, 't> {
    errors: Errors,
    source: Source,
    spans: HashMap<Span, SpanId>,
    globals: HashMap<&'t str, Variable<'t>>,
    /// The members of `mtype`.
    constants: HashMap<&'t str, i128>,
    records: HashMap<&'t str, &'m Record<'t>>,
    /// What plain global variables begin with.
    initials: HashMap<&'t str, Vec<i128>>,
    channels: Vec<Channel>,
    /// How many variables there are in memory, and what they are called.
    count: usize,
    names: HashSet<String>,
    /// Names of variables that are assigned or received into somewhere.
    assigned: HashSet<&'t str>,
    program: Program,
    /// Declarations of type `mtype` that hold numbers without a name as well.
    numbers: HashSet<usize>,
    /// Where processes may stay.
    except: Vec<(ProcessId, LabelId)>,
    /// Whether every access is a step of its own.
    is_split: bool,
    /// Whether a question about labels can observe that a process is between two places.
    asks_labels: bool,
    /// Whether every place has a label.
    places: bool,
    /// The variable that names the process that takes a message before any other process takes a
    /// step, if that matters.
    hand: Option<VarId>,
    /// `_nr_pr`, if it matters which processes are alive.
    running: Option<VarId>,
    /// Whether the model asks for `_nr_pr`.
    counts: bool,
    /// Whether all that processes know is in memory, so that each process can evaluate what the
    /// others can do: for `timeout`.
    is_shared: bool,
    /// Names whose declaration was wrong: uses of them are no errors of their own.
    broken: HashSet<&'t str>,
    /// Whether formulas are about variables of processes.
    is_observed: bool,
    /// What labels of processes have become.
    relabeled: Vec<Vec<Option<LabelId>>>,
    /// What the global variables held at the moments before `init` ran processes, if it did that during
    /// translation: formulas are about these moments too.
    moments: Vec<Vec<i128>>,
    /// Whether it ran them at different moments.
    staggered: bool,
}

impl<'m, 't> Context<'m, 't> {
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
        if self.broken.contains(name.text) {
            return;
        }
        let error = name.token.error(format!("there is no variable {}", quote(name.text)));
        let candidates = self.globals.keys().chain(self.constants.keys()).chain(local).copied();
        let error = did_you_mean(error, name.text, candidates);
        self.errors.push(error);
    }

    /// Finds the names that are assigned, and whether it matters which processes are alive.
    fn survey(&mut self, model: &'m Model<'t>) {
        let (mut asks, mut shares, mut labels) = (false, false, false);
        let mut assigned = HashSet::new();
        for proctype in &model.proctypes {
            for stmt in &proctype.body {
                stmt.visit(&mut |stmt: &Stmt<'t>| {
                    match &stmt.kind {
                        StmtKind::Assign(place, _) | StmtKind::Select(place, _) => {
                            assigned.insert(place.name.text);
                        }
                        StmtKind::Receive(receive) => {
                            for pattern in &receive.patterns {
                                if let Pattern::Place(place) = pattern {
                                    assigned.insert(place.name.text);
                                }
                            }
                        }
                        StmtKind::Label(label) => {
                            let words = ["progress", "accept"];
                            labels |= words.iter().any(|word| label.text.starts_with(word));
                        }
                        _ => {}
                    }
                    stmt.expressions(&mut |e| {
                        asks |= matches!(&e.kind, ExprKind::Place(p) if p.name.text == "_nr_pr");
                        shares |= matches!(e.kind, ExprKind::Timeout);
                    });
                });
            }
        }
        for formula in &model.formulas {
            formula.formula.visit(&mut |e| {
                asks |= matches!(&e.kind, ExprKind::Place(p) if p.name.text == "_nr_pr");
            });
        }
        self.assigned = assigned;
        self.is_shared = shares;
        self.asks_labels |= labels;
        self.counts = asks;
        // A variable of a process that is dead is 0.
        if asks || self.is_observed {
            self.running = self.new_var(
                "_nr_pr".to_owned(),
                None,
                Some(Domain::Int(weir_model::program::IntType::U8)),
                vec![0],
                SpanId::NONE,
            );
        }
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

    /// A new variable or array in memory; `None` after an error.
    fn new_var(
        &mut self,
        name: String,
        len: Option<u32>,
        domain: Option<Domain>,
        init: Vec<i128>,
        span: SpanId,
    ) -> Option<VarId> {
        let first = self.count;
        if first + init.len() > MAX_NUMBERED {
            let message = format!("a model may have at most {MAX_NUMBERED} variables");
            let range = self.source.range(span);
            self.errors.push(Diagnostic::new(message, range));
            return None;
        }
        let taken = |name: &String| self.names.contains(name);
        let name = match taken(&name) {
            false => name,
            true => (2..).map(|i| format!("{name}_{i}")).find(|n| !taken(n)).unwrap_or(name),
        };
        self.count += init.len();
        self.names.insert(name.clone());
        let init = init.into_iter().map(|v| vec![v]).collect();
        self.program.vars.push(Decl { name, len, domain, init, span });
        Some(VarId::new(first))
    }

    fn declare_global(&mut self, declared: &Declared<'t>) {
        let name = declared.name;
        let first = self.globals.get(name.text).map(|g| g.span);
        if first.is_some() || self.constants.contains_key(name.text) {
            return self.declared_twice(name, first);
        }
        match self.global_variable(declared) {
            Some(variable) => drop(self.globals.insert(name.text, variable)),
            None => drop(self.broken.insert(name.text)),
        }
    }

    fn global_variable(&mut self, declared: &Declared<'t>) -> Option<Variable<'t>> {
        let len = self.length(declared, MAX_ARRAY)?;
        let leaves = self.leaves(declared.shape, len, declared.name.text, 0)?;
        let span = self.span(declared.span);
        let mut made = Vec::new();
        for (path, dims, kind) in leaves {
            let mut leaf = Leaf { path, dims, kind, storage: Storage::Constants(Vec::new()) };
            let values = self.initial(declared, &leaf)?;
            if kind != Type::Chan && leaf.path.is_empty() {
                self.initials.insert(declared.name.text, values.clone());
            }
            let is_member = match &declared.init {
                Init::Value(e) => self.is_named(e),
                Init::List(list) => list.iter().all(|e| self.is_named(e)),
                _ => true,
            };
            let full: Vec<&str> =
                std::iter::once(declared.name.text).chain(leaf.path.iter().copied()).collect();
            if kind == Type::Chan && !self.assigned.contains(declared.name.text) {
                leaf.storage = Storage::Constants(values);
            } else {
                let count = leaf.count() as u32;
                let len = leaf.dims.iter().any(Option::is_some).then_some(count);
                let decl = self.program.vars.len();
                let domain = self.domain(kind);
                let first = self.new_var(full.join("."), len, domain, values, span)?;
                if kind == Type::Mtype && !is_member {
                    self.numbers.insert(decl);
                }
                leaf.storage = Storage::Global(first, decl);
            }
            made.push(leaf);
        }
        Some(Variable { leaves: made, len, span: declared.name.token.span })
    }

    /// The plain parts of a variable: their fields, numbers of elements, and types.
    #[allow(clippy::type_complexity)]
    fn leaves(
        &mut self,
        shape: Shape<'t>,
        len: Option<u32>,
        name: &'t str,
        depth: usize,
    ) -> Option<Vec<(Vec<&'t str>, Vec<Option<u32>>, Type)>> {
        let record = match shape {
            Shape::Plain(kind) => return Some(vec![(vec![], vec![len], kind)]),
            Shape::Record(record) => record,
        };
        let Some(known) = self.records.get(record.text).copied() else {
            self.error_at(format!("there is no type {}", quote(record.text)), record.token);
            return None;
        };
        if depth >= MAX_NESTING {
            self.error_at(format!("{} contains itself", quote(record.text)), record.token);
            return None;
        }
        let mut all = Vec::new();
        for field in &known.fields {
            let inner = self.length(field, MAX_ARRAY)?;
            for (path, dims, kind) in self.leaves(field.shape, inner, name, depth + 1)? {
                let path = std::iter::once(field.name.text).chain(path).collect();
                let dims = std::iter::once(len).chain(dims).collect();
                all.push((path, dims, kind));
            }
            let count = |dims: &Vec<Option<u32>>| {
                dims.iter().map(|d| i128::from(d.unwrap_or(1))).product::<i128>()
            };
            if all.len() > MAX_NUMBERED || all.iter().any(|(_, dims, _)| count(dims) > MAX_ARRAY) {
                let message =
                    format!("{} has more than {MAX_ARRAY} elements of a kind", quote(name));
                self.error_at(message, record.token);
                return None;
            }
        }
        Some(all)
    }

    /// The initial values of a leaf; channels are made here.
    fn initial(&mut self, declared: &Declared<'t>, leaf: &Leaf<'t>) -> Option<Vec<i128>> {
        let count = leaf.count();
        // The fields of a record begin with what is given in the `typedef`.
        let mut init = &declared.init;
        let mut shape = declared.shape;
        for field in &leaf.path {
            let Shape::Record(record) = shape else { break };
            let fields = &self.records.get(record.text).copied()?.fields;
            let found = fields.iter().find(|f| f.name.text == *field)?;
            (init, shape) = (&found.init, found.shape);
        }
        match init {
            Init::Nothing => Some(vec![0; count]),
            Init::Value(e) => Some(vec![leaf.kind.cut(self.initial_value(e)?); count]),
            Init::List(list) => {
                let mut values = Vec::new();
                for e in list {
                    values.push(leaf.kind.cut(self.initial_value(e)?));
                }
                // Spin repeats the last one.
                let last = values.last().copied().unwrap_or(0);
                values.resize(count, last);
                Some(values)
            }
            Init::Channel(capacity, shapes) => {
                if leaf.kind != Type::Chan {
                    self.error_at("only a `chan` begins with a channel", declared.name.token);
                    return None;
                }
                let mut name = declared.name.text.to_owned();
                leaf.path.iter().for_each(|field| name = format!("{name}.{field}"));
                (0..count)
                    .map(|i| {
                        let name = match count {
                            1 => name.clone(),
                            _ => format!("{name}[{i}]"),
                        };
                        self.new_channel(&name, capacity, shapes, declared)
                    })
                    .collect()
            }
        }
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

    /// What a variable begins with, which may depend on what others before it begin with.
    fn initial_value(&mut self, e: &Expr<'t>) -> Option<i128> {
        let initials = std::mem::take(&mut self.initials);
        let mut wrong = None;
        let value = self.evaluate(e, &mut |place| {
            let at = usize::try_from(place.index.unwrap_or(0)).ok();
            let known = at.and_then(|at| initials.get(place.name)?.get(at).copied());
            if known.is_none() || place.run.is_some() {
                wrong.get_or_insert(place.token);
                return None;
            }
            known
        });
        self.initials = initials;
        if let Some(token) = wrong {
            self.error_at("this has to be a constant", token);
        }
        value
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
                if place.field.is_none()
                    && let (Some(value), None) = (self.constants.get(place.name.text), &place.index)
                {
                    return Some(*value);
                }
                let index = match &place.index {
                    Some(index) => Some(self.evaluate(index, read)?),
                    None => None,
                };
                // Fields are not known here.
                let name = if place.field.is_some() { "." } else { place.name.text };
                return read(Read { name, index, run: None, token: e.token });
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
            ExprKind::Fill(..)
            | ExprKind::Poll(_)
            | ExprKind::Timeout
            | ExprKind::At(..)
            | ExprKind::Remote(..) => {
                return read(Read { name: ".", index: None, run: None, token: e.token });
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

    /// Completes the program, and adds the questions that Spin asks by default.
    fn finish(mut self, bodies: &[Body<'_, 't>]) -> Result<(Program, Source), Errors> {
        if !self.errors.is_empty() {
            return Err(self.errors);
        }
        for decl in std::mem::take(&mut self.numbers) {
            self.program.vars[decl].domain = None;
        }
        let mut except = std::mem::take(&mut self.except);
        for (p, body) in bodies.iter().enumerate() {
            let ends = body.label_ids.iter().filter(|(name, _)| name.starts_with("end"));
            let now = |label: LabelId| self.relabeled[p].get(label.index()).copied().flatten();
            except.extend(ends.filter_map(|(_, (l, _))| Some((ProcessId::new(p), now(*l)?))));
        }
        except.sort_unstable();
        except.dedup();
        let kind = PropertyKind::NoDeadlock(except);
        self.program.properties.insert(0, Property { name: None, kind, span: SpanId::NONE });
        Ok((self.program, self.source))
    }
}

/// What evaluating an expression needs beyond constants.
struct Read<'r, 't> {
    name: &'r str,
    index: Option<i128>,
    /// A process that is to be run, with its arguments.
    run: Option<(Name<'t>, Vec<i128>)>,
    token: Token<'t>,
}
