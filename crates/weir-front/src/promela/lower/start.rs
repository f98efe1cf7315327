//! Which processes run.
//!
//! In Weir all processes exist from the start. So what `init` does up to its last `run`
//! is executed during translation: it may set global and local variables, loop and
//! choose, as long as everything can be computed and is not visible to other processes.
//! What it does afterwards is an ordinary process.

use std::collections::HashMap;

use weir_model::ids::SpanId;
use weir_model::program::{Domain, IntType};

use super::graph::{self, Action, Graph, NodeId};
use super::process::{Begin, Body};
use super::variable::{Storage, Variable};
use super::{Context, MAX_PROCESSES, Read};
use crate::errors::{did_you_mean, quote};
use crate::promela::lexer::Token;
use crate::promela::tree::{
    Declared, Expr, ExprKind, Init, Model, Name, Place, Proctype, Send, Shape, Stmt, StmtKind, Type,
};

/// How much `init` may do before its processes run.
const MAX_STEPS: usize = 100_000;

/// How many values of variables are remembered for formulas.
const MAX_SEEN: usize = 1_000_000;

/// A process that is to run: its `proctype`, its number, its arguments.
type Run = (usize, i128, Vec<i128>);

impl<'m, 't> Context<'m, 't> {
    /// All the processes, in the order of their numbers, with their graphs.
    pub fn start(&mut self, model: &'m Model<'t>) -> Vec<Body<'m, 't>> {
        let mut names: HashMap<&str, usize> = HashMap::new();
        let mut runs: Vec<Run> = Vec::new();
        let mut init = None;
        for (i, proctype) in model.proctypes.iter().enumerate() {
            let name = proctype.name;
            let first = names.insert(name.text, i).map(|i| model.proctypes[i].name.token.span);
            let variable = self.globals.get(name.text).map(|g| g.span);
            if first.or(variable).is_some() {
                self.declared_twice(name, first.or(variable));
            }
            self.check_parameters(proctype);
            let count = match &proctype.active {
                _ if proctype.is_init => 1,
                Some(count) => self.constant(count).unwrap_or(0),
                None => 0,
            };
            if !(0..=MAX_PROCESSES as i128).contains(&count)
                || runs.len() + count as usize > MAX_PROCESSES
            {
                let message = format!("a model may have at most {MAX_PROCESSES} processes");
                self.error_at(message, name.token);
                return Vec::new();
            }
            for _ in 0..count {
                let pid = runs.len() as i128;
                if proctype.is_init {
                    init = Some((i, pid));
                }
                runs.push((i, pid, vec![0; proctype.parameters.len()]));
            }
        }
        let mut done = (0, HashMap::new());
        if let Some((i, pid)) = init
            && !self.counts
        {
            let body = &model.proctypes[i].body;
            if let Some(last) = body.iter().rposition(runs_something) {
                let others = runs.len() > 1;
                let (errors, mut all) = (self.errors.len(), runs.clone());
                let made = (self.channels.len(), self.program.vars.len(), self.count);
                match self.prelude(model, &names, &body[..=last], &mut all, others) {
                    Some(locals) => {
                        runs = all;
                        done = (last + 1, locals);
                        let idle = |s: &Stmt<'t>| {
                            matches!(s.kind, StmtKind::Skip)
                                || matches!(&s.kind, StmtKind::Declare(l)
                                    if l.iter().all(|d| matches!(d.init, Init::Nothing)))
                        };
                        if body[last + 1..].iter().all(idle) {
                            runs.retain(|(_, p, _)| *p != pid);
                        }
                    }
                    // It starts them while it runs.
                    None => {
                        self.errors.truncate(errors);
                        self.channels.truncate(made.0);
                        self.program.vars.truncate(made.1);
                        self.count = made.2;
                    }
                }
            }
        }
        self.bodies(model, &names, runs, done)
    }

    /// Builds the graphs of processes, and of those that they run.
    fn bodies(
        &mut self,
        model: &'m Model<'t>,
        names: &HashMap<&str, usize>,
        runs: Vec<Run>,
        (done, locals): (usize, HashMap<&'t str, Vec<i128>>),
    ) -> Vec<Body<'m, 't>> {
        let counts = |i: usize| runs.iter().filter(|(j, ..)| *j == i).count();
        let mut bodies: Vec<Body<'m, 't>> = Vec::new();
        let later = model.proctypes.iter().any(|p| {
            let done = if p.is_init { done } else { 0 };
            p.body[done.min(p.body.len())..].iter().any(runs_something)
        });
        if later && self.running.is_none() && counts_processes(model) {
            let byte = Some(Domain::Int(IntType::U8));
            self.running = self.new_var("_nr_pr".to_owned(), None, byte, vec![0], SpanId::NONE);
        }
        if let Some(var) = self.running {
            let decl = self.program.decl(var).0.name.clone();
            if let Some(decl) = self.program.vars.iter_mut().find(|d| d.name == decl) {
                // `init` may have been left out, but it counts.
                let last = runs.iter().map(|(_, pid, _)| *pid).max();
                decl.init = vec![vec![last.map_or(0, |last| last + 1)]];
            }
        }
        for (i, pid, arguments) in &runs {
            let proctype = &model.proctypes[*i];
            let name = match counts(*i) {
                1 if !later || !runs_name(model, proctype.name.text) => {
                    proctype.name.text.to_owned()
                }
                _ => format!("{}[{pid}]", proctype.name.text),
            };
            let mut body = Body::new(proctype, name, *pid, Begin::AtOnce);
            for (parameter, value) in proctype.parameters.iter().zip(arguments) {
                body.parameter(self, parameter, Some(*value));
            }
            let done = if proctype.is_init { done.min(proctype.body.len()) } else { 0 };
            for stmt in &proctype.body[..done] {
                if let StmtKind::Declare(list) = &stmt.kind {
                    for declared in list {
                        body.declare(self, declared, 0, false);
                        let known = locals.get(declared.name.text);
                        for (i, value) in known.into_iter().flatten().enumerate() {
                            body.begin_with(self, declared.name.text, i, *value);
                        }
                    }
                }
            }
            graph::build(self, &mut body, &proctype.body[done..]);
            self.compute(&mut body);
            bodies.push(body);
            if self.errors.is_full() {
                return bodies;
            }
        }
        let is_shared = self.is_shared;
        // Processes that are run by others.
        let mut next = 0;
        while next < bodies.len() && !self.errors.is_full() {
            if self.add_runs(model, names, &mut bodies, next).is_none() {
                break;
            }
            next += 1;
        }
        for body in bodies.iter_mut().filter(|_| is_shared) {
            let start = match body.begin {
                Begin::AtOnce => body.graph.start as i128,
                Begin::Run { .. } => -1,
            };
            let name = format!("{}.at", body.name);
            body.counter = self.new_var(name, None, None, vec![start], SpanId::NONE);
        }
        bodies
    }

    /// Works out what local variables of a process begin with that runs from the start.
    fn compute(&mut self, body: &mut Body<'m, 't>) {
        for (scope, declared) in std::mem::take(&mut body.computed) {
            let Init::Value(e) = &declared.init else { continue };
            let memory: Vec<i128> =
                self.program.vars.iter().flat_map(|d| d.init.iter().map(|v| v[0])).collect();
            let globals = self.globals.clone();
            let (pid, mut wrong) = (body.pid, None);
            let value = self.evaluate(e, &mut |read: Read<'_, 't>| {
                if read.name == "_pid" {
                    return Some(pid);
                }
                let variable = body.local(scope, read.name).or_else(|| globals.get(read.name));
                let index = usize::try_from(read.index.unwrap_or(0)).ok();
                let found = match (variable.map(|v| &v.leaves[..]), index) {
                    (Some([leaf]), Some(index)) if index < leaf.count() => match &leaf.storage {
                        Storage::Global(first, _) => memory.get(first.index() + index).copied(),
                        Storage::Registers(list) => Some(body.registers[list[index].index()].init),
                        Storage::Constants(list) => Some(list[index]),
                    },
                    _ => None,
                };
                if found.is_none() {
                    wrong.get_or_insert(read.token);
                }
                found
            });
            if let Some(token) = wrong {
                self.error_at("this cannot be worked out when the process begins", token);
            }
            let Some(value) = value else { continue };
            let Some(variable) = body.local(scope, declared.name.text).cloned() else { continue };
            for leaf in &variable.leaves {
                if let Storage::Global(_, decl) = leaf.storage {
                    let init = vec![leaf.kind.cut(value)];
                    self.program.vars[decl].init.fill(init);
                }
                if let Storage::Registers(list) = &leaf.storage {
                    for register in list {
                        body.registers[register.index()].init = leaf.kind.cut(value);
                        if leaf.kind == Type::Mtype {
                            body.numbers.insert(*register);
                        }
                    }
                }
            }
        }
    }

    /// Adds the processes that one process runs.
    fn add_runs(
        &mut self,
        model: &'m Model<'t>,
        names: &HashMap<&str, usize>,
        bodies: &mut Vec<Body<'m, 't>>,
        me: usize,
    ) -> Option<()> {
        let mut found: Vec<(&'m Expr<'t>, bool)> = Vec::new();
        let graph = &bodies[me].graph;
        for (node, place) in graph.nodes.iter().enumerate() {
            for edge in &place.edges {
                let e = match edge.action {
                    Action::Guard(e) | Action::Assign(_, e) => e,
                    _ => continue,
                };
                if let ExprKind::Run(..) = e.kind {
                    if found.len() > MAX_PROCESSES {
                        let message = format!("a model may have at most {MAX_PROCESSES} processes");
                        self.error_at(message, e.token);
                        return None;
                    }
                    if found.iter().all(|(known, _)| known.token.span != e.token.span) {
                        found.push((e, leads_to(graph, edge.to, node)));
                    }
                }
            }
        }
        for (e, repeats) in found {
            let ExprKind::Run(name, arguments) = &e.kind else { continue };
            let known = names.get(name.text).filter(|i| !model.proctypes[**i].is_init);
            let Some(&i) = known else {
                let error =
                    name.token.error(format!("there is no `proctype` {}", quote(name.text)));
                self.errors.push(did_you_mean(error, name.text, names.keys().copied()));
                return None;
            };
            let proctype = &model.proctypes[i];
            let wanted = proctype.parameters.len();
            if arguments.len() != wanted {
                let count = arguments.len();
                let message = format!("{} takes {wanted} arguments, not {count}", quote(name.text));
                self.error_at(message, name.token);
                return None;
            }
            if repeats {
                let message = "how many processes this runs is not known: it may be repeated";
                let help =
                    "run them one by one, or at the beginning of `init` with a loop that counts";
                self.errors.push(e.token.error(message).help(help));
                return None;
            }
            if bodies.len() >= MAX_PROCESSES {
                let message = format!("a model may have at most {MAX_PROCESSES} processes");
                self.error_at(message, e.token);
                return None;
            }
            let number = bodies.len();
            let pid = number as i128;
            let title = format!("{}[{pid}]", name.text);
            let span = self.span(e.span);
            let flag =
                self.new_var(format!("{title}.runs"), None, Some(Domain::Bool), vec![0], span)?;
            let mut slots = Vec::new();
            for parameter in &proctype.parameters {
                let Shape::Plain(kind) = parameter.shape else { continue };
                let domain = if kind == Type::Mtype { None } else { self.domain(kind) };
                let name = format!("{title}.{}", parameter.name.text);
                slots.push((self.new_var(name, None, domain, vec![0], span)?, kind));
            }
            let pid_var = match self.running {
                Some(_) => {
                    Some(self.new_var(format!("{title}._pid"), None, None, vec![0], span)?)
                }
                None => None,
            };
            let computed = Vec::new();
            let begin = Begin::Run { flag, arguments: slots, pid: pid_var, computed };
            let mut body = Body::new(proctype, title, pid, begin);
            for parameter in &proctype.parameters {
                body.parameter(self, parameter, None);
            }
            graph::build(self, &mut body, &proctype.body);
            let mut values = Vec::new();
            for (scope, declared) in &body.computed {
                let (mut locals, mut globals) = (false, false);
                if let Init::Value(e) = &declared.init {
                    e.visit(&mut |e| {
                        if let ExprKind::Place(place) = &e.kind {
                            let is_local = place.name.text == "_pid"
                                || body.local(*scope, place.name.text).is_some();
                            locals |= is_local;
                            globals |= !is_local && self.globals.contains_key(place.name.text);
                        }
                    });
                }
                if locals && globals {
                    let message = "an initial value may depend on global variables or on others of \
                                   the process, not on both";
                    self.error_at(message, declared.name.token);
                }
                values.push(match globals {
                    true => {
                        let name = format!("{}.{}", body.name, declared.name.text);
                        Some(self.new_var(name, None, None, vec![0], span)?)
                    }
                    false => None,
                });
            }
            if let Begin::Run { computed, .. } = &mut body.begin {
                *computed = values;
            }
            bodies.push(body);
            bodies[me].runs.insert(e.token.span, number);
            if self.errors.is_full() {
                return None;
            }
        }
        Some(())
    }

    fn check_parameters(&mut self, proctype: &Proctype<'t>) {
        for Declared { name, len, init, .. } in &proctype.parameters {
            if len.is_some() || !matches!(init, Init::Nothing) {
                let message = "a parameter is a single variable without an initial value";
                self.error_at(message, name.token);
            }
        }
    }

    /// Does what `init` does before its processes run; gives what it leaves in its
    /// local variables. `None` after an error.
    fn prelude(
        &mut self,
        model: &Model<'t>,
        names: &HashMap<&str, usize>,
        list: &[Stmt<'t>],
        runs: &mut Vec<Run>,
        others: bool,
    ) -> Option<HashMap<&'t str, Vec<i128>>> {
        let memory = self.program.vars.iter().flat_map(|d| d.init.iter().map(|v| v[0])).collect();
        let mut prelude = Prelude {
            globals: self.globals.clone(),
            model,
            names,
            locals: HashMap::new(),
            memory,
            runs,
            others,
            steps: 0,
            moment: 0,
            ran: None,
            staggered: false,
            moments: Vec::new(),
            cx: self,
        };
        prelude.sequence(list, false)?;
        let Prelude { locals, memory, moments, staggered, .. } = prelude;
        self.moments = moments;
        self.staggered = staggered;
        let mut memory = memory.into_iter();
        for decl in &mut self.program.vars {
            for (init, value) in decl.init.iter_mut().zip(&mut memory) {
                *init = vec![value];
            }
        }
        Some(locals.into_iter().map(|(name, (_, values))| (name, values)).collect())
    }
}

/// Whether one place can be reached from another.
fn leads_to(graph: &Graph<'_, '_>, from: NodeId, to: NodeId) -> bool {
    let mut seen = vec![false; graph.nodes.len()];
    let mut open = vec![from];
    while let Some(node) = open.pop() {
        if node == to {
            return true;
        }
        if std::mem::replace(&mut seen[node], true) {
            continue;
        }
        for edge in &graph.nodes[node].edges {
            open.push(edge.to);
            open.extend(edge.escapes.iter().map(|e| graph.resolve(*e)));
        }
    }
    false
}

/// Whether a model asks for numbers of processes, or for how many there are.
fn counts_processes(model: &Model<'_>) -> bool {
    let mut found = false;
    for stmt in model.proctypes.iter().flat_map(|p| &p.body) {
        stmt.visit(&mut |stmt| {
            found |= matches!(&stmt.kind, StmtKind::Assign(_, e) if matches!(e.kind, ExprKind::Run(..)));
            stmt.expressions(&mut |e| {
                found |= matches!(&e.kind, ExprKind::Place(p) if ["_pid", "_nr_pr"].contains(&p.name.text));
            });
        });
    }
    found
}

/// Whether some process runs that `proctype`.
fn runs_name(model: &Model<'_>, name: &str) -> bool {
    let mut found = false;
    for stmt in model.proctypes.iter().flat_map(|p| &p.body) {
        stmt.visit(&mut |stmt| {
            stmt.expressions(&mut |e| {
                found |= matches!(&e.kind, ExprKind::Run(n, _) if n.text == name);
            });
        });
    }
    found
}

/// Whether a statement runs a process.
fn runs_something(stmt: &Stmt<'_>) -> bool {
    let mut found = false;
    stmt.visit(&mut |stmt| {
        stmt.expressions(&mut |e| found |= matches!(e.kind, ExprKind::Run(..)));
    });
    found
}

struct Prelude<'c, 'm, 'x, 't> {
    cx: &'c mut Context<'x, 't>,
    globals: HashMap<&'t str, Variable<'t>>,
    model: &'m Model<'t>,
    names: &'m HashMap<&'m str, usize>,
    locals: HashMap<&'t str, (Type, Vec<i128>)>,
    /// What the global variables hold.
    memory: Vec<i128>,
    runs: &'m mut Vec<Run>,
    /// Whether others run already.
    others: bool,
    steps: usize,
    /// How many moments others could have seen, and at which one processes began to run.
    moment: usize,
    ran: Option<usize>,
    /// Whether not all processes began at the same moment.
    staggered: bool,
    /// What the global variables held at each moment before processes ran.
    moments: Vec<Vec<i128>>,
}

/// How a list of statements ends.
#[derive(PartialEq)]
enum End {
    Through,
    Break,
}

impl<'t> Prelude<'_, '_, '_, 't> {
    fn wrong<T>(&mut self, message: &str, token: Token<'t>) -> Option<T> {
        let help = "up to its last `run`, `init` may only do what can be worked out beforehand";
        self.cx.errors.push(token.error(message).help(help));
        None
    }

    fn sequence(&mut self, list: &[Stmt<'t>], atomic: bool) -> Option<End> {
        for stmt in list {
            if !atomic {
                self.see(stmt)?;
            }
            let before = self.runs.len();
            let end = self.statement(stmt, atomic)?;
            // Inside `atomic` no other process takes a step.
            self.others |= !atomic && self.runs.len() > before;
            if end == End::Break {
                return Some(End::Break);
            }
        }
        Some(End::Through)
    }

    /// Remembers what is true before a step, for formulas.
    fn see(&mut self, stmt: &Stmt<'t>) -> Option<()> {
        self.moment += 1;
        // With others running, `init` changes nothing that they see.
        let is_asked = !self.model.formulas.is_empty() && !self.others;
        if is_asked && self.moments.last() != Some(&self.memory) {
            if (self.moments.len() + 1) * self.memory.len() > MAX_SEEN {
                return self.wrong("`init` does too much before its processes run", stmt.token);
            }
            self.moments.push(self.memory.clone());
        }
        Some(())
    }

    fn statement(&mut self, stmt: &Stmt<'t>, atomic: bool) -> Option<End> {
        self.steps += 1;
        if self.steps > MAX_STEPS {
            return self.wrong("`init` does too much before its processes run", stmt.token);
        }
        match &stmt.kind {
            StmtKind::Skip | StmtKind::Fence(_) => {}
            StmtKind::Declare(list) => {
                for declared in list {
                    let Shape::Plain(kind) = declared.shape else {
                        return self.wrong("a record is not allowed before a `run`", stmt.token);
                    };
                    if let (Init::Channel(capacity, shapes), Type::Chan) = (&declared.init, kind) {
                        let values = self.channels(declared, capacity, shapes)?;
                        self.locals.insert(declared.name.text, (kind, values));
                        continue;
                    }
                    let init = match &declared.init {
                        Init::Value(e) => kind.cut(self.value(e)?),
                        Init::Nothing if kind != Type::Chan => 0,
                        _ => return self.wrong("this is not allowed before a `run`", stmt.token),
                    };
                    let len = self.cx.length(declared, super::MAX_LOCAL_ARRAY)?.unwrap_or(1);
                    let values = vec![init; len as usize];
                    self.locals.insert(declared.name.text, (kind, values));
                }
            }
            StmtKind::Assign(place, e) => {
                let value = self.value(e)?;
                self.assign(place, value)?;
            }
            StmtKind::Guard(e) if self.value(e)? == 0 => {
                return self.wrong("`init` waits here for ever", stmt.token);
            }
            StmtKind::Guard(_) => {}
            StmtKind::Assert(e) if self.value(e)? == 0 => {
                return self.wrong("this assertion does not hold", stmt.token);
            }
            StmtKind::Assert(_) => {}
            StmtKind::Send(send) => self.send(send, stmt)?,
            StmtKind::Break => return Some(End::Break),
            StmtKind::Atomic(body) => return self.sequence(body, true),
            StmtKind::Block(body) => return self.sequence(body, atomic),
            StmtKind::If(options) => return self.option(options, stmt, atomic),
            StmtKind::Do(options) => while self.option(options, stmt, atomic)? == End::Through {},
            StmtKind::Else => {
                return self.wrong("`else` can only begin an option", stmt.token);
            }
            _ => {
                return self.wrong("this is not allowed before a `run`", stmt.token);
            }
        }
        Some(End::Through)
    }

    /// Takes the one option that is enabled.
    fn option(&mut self, options: &[Vec<Stmt<'t>>], stmt: &Stmt<'t>, atomic: bool) -> Option<End> {
        self.steps += 1;
        let mut found = None;
        let mut other = None;
        for option in options {
            let (enabled, body) = match option.split_first() {
                Some((Stmt { kind: StmtKind::Else, .. }, rest)) => {
                    other = Some(rest);
                    continue;
                }
                Some((Stmt { kind: StmtKind::Guard(e), .. }, rest))
                    if !matches!(e.kind, ExprKind::Run(..)) =>
                {
                    (self.value(e)? != 0, rest)
                }
                _ => (true, option.as_slice()),
            };
            if enabled && found.replace(body).is_some() {
                return self.wrong("more than one option is enabled here", stmt.token);
            }
        }
        match found.or(other) {
            Some(body) if self.steps <= MAX_STEPS => self.sequence(body, atomic),
            Some(_) => self.wrong("`init` does too much before its processes run", stmt.token),
            None => self.wrong("`init` waits here for ever", stmt.token),
        }
    }

    /// Makes local channels; gives their numbers.
    fn channels(
        &mut self,
        declared: &Declared<'t>,
        capacity: &Expr<'t>,
        shapes: &[Shape<'t>],
    ) -> Option<Vec<i128>> {
        let len = self.cx.length(declared, super::MAX_LOCAL_ARRAY)?;
        let name = declared.name.text;
        let mut numbers = Vec::new();
        for i in 0..len.unwrap_or(1) {
            let name = len.map_or(name.to_owned(), |_| format!("{name}[{i}]"));
            numbers.push(self.cx.new_channel(&name, capacity, shapes, declared)?);
        }
        self.memory.resize(self.cx.count, 0);
        Some(numbers)
    }

    /// Puts a message into a channel that has room for it.
    fn send(&mut self, send: &Send<'t>, stmt: &Stmt<'t>) -> Option<()> {
        if self.others || send.is_sorted {
            return self.wrong("others may see this before the next `run`", stmt.token);
        }
        let place = &send.channel;
        let (kind, token, span) = (ExprKind::Place(place.clone()), stmt.token, place.span);
        let number = self.value(&Expr { kind, token, span, depth: place.depth() + 1 })?;
        let number = usize::try_from(number - 1).ok();
        let Some(channel) = number.and_then(|n| self.cx.channels.get(n)).cloned() else {
            return self.wrong("this is no channel", stmt.token);
        };
        let Some(len) = channel.len.filter(|_| send.values.len() == channel.fields.len()) else {
            return self.wrong("this is not allowed before a `run`", stmt.token);
        };
        let count = self.memory[len.index()];
        if count >= i128::from(channel.capacity) {
            return self.wrong("`init` waits here for ever", stmt.token);
        }
        for (field, (e, kind)) in send.values.iter().zip(&channel.fields).enumerate() {
            let value = kind.cut(self.value(e)?);
            let slot = channel.slot(field, count as usize);
            let slot = slot.and_then(|slot| self.memory.get_mut(slot.index()));
            *slot? = value;
        }
        self.memory[len.index()] = count + 1;
        Some(())
    }

    fn value(&mut self, e: &Expr<'t>) -> Option<i128> {
        let Self { cx, globals, model, names, locals, memory, runs, others, .. } = self;
        let (moment, ran, staggered) = (self.moment, &mut self.ran, &mut self.staggered);
        let mut wrong = None;
        let value = cx.evaluate(e, &mut |read: Read<'_, 't>| {
            let error = |message: String| (message, read.token);
            if let Some((name, arguments)) = read.run {
                *staggered |= *others || ran.is_some_and(|ran| ran != moment);
                *ran = Some(moment);
                let is_late = *others && counts_processes(model);
                let found = begin(model, names, runs, name, arguments, is_late);
                return found.map_err(|message| wrong = Some(error(message))).ok();
            }
            let index = usize::try_from(read.index.unwrap_or(0)).unwrap_or(usize::MAX);
            let name = quote(read.name);
            let found = if let Some((_, values)) = locals.get(read.name) {
                values.get(index).copied()
            } else if read.name == "_pid" {
                let init = |r: &&Run| model.proctypes[r.0].is_init;
                runs.iter().find(init).map(|(_, pid, _)| *pid)
            } else if let Some([leaf]) = globals.get(read.name).map(|v| &v.leaves[..]) {
                match &leaf.storage {
                    Storage::Constants(list) => list.get(index).copied(),
                    _ if *others => {
                        let message = format!("others may change {name} before this");
                        wrong = Some(error(message));
                        return None;
                    }
                    Storage::Global(first, _) => {
                        let inside = index < leaf.count();
                        memory.get(first.index().saturating_add(index)).copied().filter(|_| inside)
                    }
                    Storage::Registers(_) => None,
                }
            } else {
                wrong = Some(error(format!("there is no variable {name}")));
                return None;
            };
            if found.is_none() {
                wrong = Some(error(format!("{name} has no such element")));
            }
            found
        });
        match wrong {
            Some((message, token)) => self.wrong(&message, token),
            None => value,
        }
    }

    fn assign(&mut self, place: &Place<'t>, value: i128) -> Option<()> {
        let name = place.name;
        let index = match &place.index {
            Some(e) => usize::try_from(self.value(e)?).unwrap_or(usize::MAX),
            None => 0,
        };
        if let Some((kind, values)) = self.locals.get_mut(name.text) {
            let value = kind.cut(value);
            return match values.get_mut(index) {
                Some(element) => {
                    *element = value;
                    Some(())
                }
                None => self.wrong("there is no such element", name.token),
            };
        }
        let leaf = self.globals.get(name.text).and_then(|v| v.leaf(place)).cloned();
        let Some(leaf) = leaf.filter(|_| place.field.is_none()) else {
            return self.wrong("this is not allowed before a `run`", name.token);
        };
        let Storage::Global(first, decl) = leaf.storage else {
            return self.wrong("this is not allowed before a `run`", name.token);
        };
        if self.others {
            return self.wrong("others may see this before the next `run`", name.token);
        }
        if index >= leaf.count() {
            return self.wrong("there is no such element", name.token);
        }
        let value = leaf.kind.cut(value);
        if self.cx.domain(leaf.kind).is_some_and(|d| !self.cx.program.admits(d, value)) {
            self.cx.numbers.insert(decl);
        }
        self.memory[first.index() + index] = value;
        Some(())
    }
}

/// Adds a process; gives its number, or what is wrong.
fn begin<'t>(
    model: &Model<'t>,
    names: &HashMap<&str, usize>,
    runs: &mut Vec<Run>,
    name: Name<'t>,
    arguments: Vec<i128>,
    is_late: bool,
) -> Result<i128, String> {
    let known = names.get(name.text).filter(|i| !model.proctypes[**i].is_init);
    let Some(&i) = known else {
        let error = name.token.error(format!("there is no `proctype` {}", quote(name.text)));
        let error = did_you_mean(error, name.text, names.keys().copied());
        let help = error.help.map(|help| format!("; {help}")).unwrap_or_default();
        return Err(error.message + &help);
    };
    let wanted = model.proctypes[i].parameters.len();
    if arguments.len() != wanted {
        let count = arguments.len();
        return Err(format!("{} takes {wanted} arguments, not {count}", quote(name.text)));
    }
    if is_late {
        return Err("the number of this process depends on whether others have ended".to_owned());
    }
    if runs.len() >= MAX_PROCESSES {
        return Err(format!("a model may have at most {MAX_PROCESSES} processes"));
    }
    let pid = runs.iter().map(|(_, pid, _)| pid + 1).max().unwrap_or(0);
    runs.push((i, pid, arguments));
    Ok(pid)
}
