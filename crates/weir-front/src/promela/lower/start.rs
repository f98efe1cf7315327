//! Which processes run.
//!
//! In Weir all processes exist from the start. So what `init` does up to its last `run`
//! is executed during translation: it may set global and local variables, loop and
//! choose, as long as everything can be computed and is not visible to other processes.
//! What it does afterwards is an ordinary process.

use std::collections::HashMap;

use super::process::Instance;
use super::{Context, Global, MAX_PROCESSES, Read};
use crate::errors::{did_you_mean, quote};
use crate::promela::lexer::Token;
use crate::promela::tree::{
    Declared, Expr, ExprKind, Model, Name, Place, Proctype, Stmt, StmtKind, Type,
};

/// How much `init` may do before its processes run.
const MAX_STEPS: usize = 100_000;

/// A process that is to run: its `proctype`, its number, its arguments.
type Run = (usize, i128, Vec<i128>);

impl<'t> Context<'t> {
    /// All the processes, in the order of their numbers.
    pub fn start<'m>(&mut self, model: &'m Model<'t>) -> Vec<Instance<'m, 't>> {
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
        if let Some((i, pid)) = init {
            let body = &model.proctypes[i].body;
            if let Some(last) = body.iter().rposition(runs_something) {
                let others = runs.len() > 1;
                let Some(locals) = self.prelude(model, &names, &body[..=last], &mut runs, others)
                else {
                    return Vec::new();
                };
                done = (last + 1, locals);
                let idle = |s: &Stmt<'t>| {
                    matches!(s.kind, StmtKind::Skip)
                        || matches!(&s.kind, StmtKind::Declare(l) if l.iter().all(|d| d.init.is_none()))
                };
                if body[last + 1..].iter().all(idle) {
                    runs.retain(|(_, p, _)| *p != pid);
                }
            }
        }
        self.instances(model, runs, done)
    }

    fn instances<'m>(
        &mut self,
        model: &'m Model<'t>,
        runs: Vec<Run>,
        (done, locals): (usize, HashMap<&'t str, Vec<i128>>),
    ) -> Vec<Instance<'m, 't>> {
        let count = |i: usize| runs.iter().filter(|(j, ..)| *j == i).count();
        let counts: Vec<usize> = (0..model.proctypes.len()).map(count).collect();
        let instance = |(i, pid, arguments): Run| {
            let proctype = &model.proctypes[i];
            let name = match counts[i] {
                1 => proctype.name.text.to_owned(),
                _ => format!("{}[{pid}]", proctype.name.text),
            };
            let (done, locals) =
                if proctype.is_init { (done, locals.clone()) } else { (0, HashMap::new()) };
            Instance { proctype, name, pid, arguments, done, locals }
        };
        runs.into_iter().map(instance).collect()
    }

    fn check_parameters(&mut self, proctype: &Proctype<'t>) {
        for Declared { name, len, init, .. } in &proctype.parameters {
            if len.is_some() || init.is_some() {
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
            cx: self,
        };
        prelude.sequence(list, false)?;
        let Prelude { locals, memory, .. } = prelude;
        let mut memory = memory.into_iter();
        for decl in &mut self.program.vars {
            for (init, value) in decl.init.iter_mut().zip(&mut memory) {
                *init = vec![value];
            }
        }
        Some(locals.into_iter().map(|(name, (_, values))| (name, values)).collect())
    }
}

/// Whether a statement runs a process.
fn runs_something(stmt: &Stmt<'_>) -> bool {
    let is_run = |e: &Expr<'_>| matches!(e.kind, ExprKind::Run(..));
    match &stmt.kind {
        StmtKind::Guard(e) | StmtKind::Assign(_, e) => is_run(e),
        StmtKind::Declare(list) => list.iter().any(|d| d.init.as_ref().is_some_and(is_run)),
        StmtKind::If(options) | StmtKind::Do(options) => {
            options.iter().any(|o| o.iter().any(runs_something))
        }
        StmtKind::Atomic(body) | StmtKind::Block(body) => body.iter().any(runs_something),
        _ => false,
    }
}

struct Prelude<'c, 'm, 't> {
    cx: &'c mut Context<'t>,
    globals: HashMap<&'t str, Global>,
    model: &'m Model<'t>,
    names: &'m HashMap<&'m str, usize>,
    locals: HashMap<&'t str, (Type, Vec<i128>)>,
    /// What the global variables hold.
    memory: Vec<i128>,
    runs: &'m mut Vec<Run>,
    /// Whether others run already.
    others: bool,
    steps: usize,
}

/// How a list of statements ends.
#[derive(PartialEq)]
enum End {
    Through,
    Break,
}

impl<'t> Prelude<'_, '_, 't> {
    fn wrong<T>(&mut self, message: &str, token: Token<'t>) -> Option<T> {
        let help = "up to its last `run`, `init` may only do what can be worked out beforehand";
        self.cx.errors.push(token.error(message).help(help));
        None
    }

    fn sequence(&mut self, list: &[Stmt<'t>], atomic: bool) -> Option<End> {
        for stmt in list {
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

    fn statement(&mut self, stmt: &Stmt<'t>, atomic: bool) -> Option<End> {
        self.steps += 1;
        if self.steps > MAX_STEPS {
            return self.wrong("`init` does too much before its processes run", stmt.token);
        }
        match &stmt.kind {
            StmtKind::Skip | StmtKind::Fence(_) => {}
            StmtKind::Declare(list) => {
                for declared in list {
                    let init = match &declared.init {
                        Some(e) => declared.kind.cut(self.value(e)?),
                        None => 0,
                    };
                    let len = self.cx.length(declared, super::MAX_LOCAL_ARRAY)?.unwrap_or(1);
                    let values = vec![init; len as usize];
                    self.locals.insert(declared.name.text, (declared.kind, values));
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
            StmtKind::Break => return Some(End::Break),
            StmtKind::Atomic(body) => return self.sequence(body, true),
            StmtKind::Block(body) => return self.sequence(body, atomic),
            StmtKind::If(options) => return self.option(options, stmt, atomic),
            StmtKind::Do(options) => while self.option(options, stmt, atomic)? == End::Through {},
            StmtKind::Else => {
                return self.wrong("`else` can only begin an option", stmt.token);
            }
            StmtKind::Label(_) | StmtKind::Goto(_) | StmtKind::Select(..) => {
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

    fn value(&mut self, e: &Expr<'t>) -> Option<i128> {
        let Self { cx, globals, model, names, locals, memory, runs, others, .. } = self;
        let mut wrong = None;
        let value = cx.evaluate(e, &mut |read: Read<'_, 't>| {
            let error = |message: String| (message, read.token);
            if let Some((name, arguments)) = read.run {
                let found = begin(model, names, runs, name, arguments);
                return found.map_err(|message| wrong = Some(error(message))).ok();
            }
            let index = usize::try_from(read.index.unwrap_or(0)).unwrap_or(usize::MAX);
            let name = quote(read.name);
            let found = if let Some((_, values)) = locals.get(read.name) {
                values.get(index).copied()
            } else if read.name == "_pid" {
                let init = |r: &&Run| model.proctypes[r.0].is_init;
                runs.iter().find(init).map(|(_, pid, _)| *pid)
            } else if let Some(global) = globals.get(read.name) {
                if *others {
                    let message = format!("others may change {name} before this");
                    wrong = Some(error(message));
                    return None;
                }
                let inside = index < global.len.unwrap_or(1) as usize;
                memory.get(global.first.index().saturating_add(index)).copied().filter(|_| inside)
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
        let Some(global) = self.globals.get(name.text).copied() else {
            self.cx.unknown(name, &[]);
            return None;
        };
        if self.others {
            return self.wrong("others may see this before the next `run`", name.token);
        }
        if index >= global.len.unwrap_or(1) as usize {
            return self.wrong("there is no such element", name.token);
        }
        let value = global.kind.cut(value);
        if self.cx.domain(global.kind).is_some_and(|d| !self.cx.program.admits(d, value)) {
            self.cx.numbers.insert(global.decl);
        }
        self.memory[global.first.index() + index] = value;
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
    if runs.len() >= MAX_PROCESSES {
        return Err(format!("a model may have at most {MAX_PROCESSES} processes"));
    }
    let pid = runs.iter().map(|(_, pid, _)| pid + 1).max().unwrap_or(0);
    runs.push((i, pid, arguments));
    Ok(pid)
}
