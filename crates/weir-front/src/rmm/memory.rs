//! The variables of a program: the global ones, then those that belong to
//! processes.

use std::collections::HashMap;

use weir_model::ids::VarId;
use weir_model::program::{self, Domain};

use super::lexer::Token;
use super::lower::{Context, MAX_NUMBERED};
use super::tree::{At, Decl, File, Loc, Process};
use crate::errors::{counted, did_you_mean, quote};

/// The values from one number to another.
pub type Range = (i128, i128);

/// The most values that `*` chooses from.
pub const MAX_CHOICE: i128 = 4096;

/// Where the variables are.
#[derive(Debug, Default)]
pub struct Memory<'t> {
    globals: HashMap<&'t str, VarId>,
    /// How many of the variables are global: those that pointers may point to.
    pub global_count: usize,
    /// For each name the variable of each process that has one.
    locals: HashMap<&'t str, Vec<Option<VarId>>>,
    /// The domain of each variable.
    pub domains: Vec<Option<Range>>,
}

impl<'t> Memory<'t> {
    /// Lays out the variables; declares them in the program.
    pub fn new(cx: &mut Context<'_, 't>, file: &File, processes: &[&Process]) -> Self {
        let mut memory = Self::default();
        for decl in &file.data {
            let name = cx.text(decl.name);
            let var = VarId::new(memory.domains.len());
            if memory.globals.insert(name, var).is_some() {
                cx.error(cx.tokens[decl.name].error(format!("there are two {}", quote(name))));
            }
            memory.declare(cx, name.to_owned(), None, &[decl]);
        }
        memory.global_count = memory.domains.len();
        for (name, owners) in owners(cx, processes) {
            let decls: Vec<&Decl> = owners.iter().flatten().copied().collect();
            let first = memory.domains.len();
            let alike = decls.iter().all(|d| d.domain == decls[0].domain);
            if decls.len() == processes.len() && alike {
                memory.declare(cx, name.to_owned(), Some(decls.len() as u32), &decls);
            } else {
                for (owner, decl) in owners.iter().enumerate() {
                    if let Some(decl) = decl {
                        memory.declare(cx, format!("{name}[{owner}]"), None, &[decl]);
                    }
                }
            }
            let mut next = first;
            let vars = owners.iter().map(|decl| {
                decl.map(|_| {
                    next += 1;
                    VarId::new(next - 1)
                })
            });
            memory.locals.insert(name, vars.collect());
        }
        memory
    }

    /// Declares a variable, or an array of them.
    fn declare(
        &mut self,
        cx: &mut Context<'_, 't>,
        name: String,
        len: Option<u32>,
        decls: &[&Decl],
    ) {
        if self.domains.len() + decls.len() > MAX_NUMBERED {
            cx.error(cx.tokens[decls[0].name].error("there are too many variables"));
            return;
        }
        let domain = decls[0].domain.map(|(low, high)| Domain::Range(low, high));
        let bound = |cx: &Context<'_, 't>, i: usize| bound(cx, &[&name, &format!("{name}[{i}]")]);
        let init = decls.iter().enumerate().map(|(i, decl)| {
            let bound = bound(cx, i);
            values(cx, decl, bound)
        });
        let init = init.collect();
        let span = cx.span(decls[0].name, decls[0].name + 1);
        cx.program.vars.push(program::Decl { name, len, domain, init, span });
        self.domains.extend(decls.iter().map(|decl| decl.domain));
    }

    /// The variable of a place that is no pointer, for a process. `None` after
    /// an error.
    pub fn var(&self, cx: &mut Context<'_, 't>, place: &Loc, process: usize) -> Option<VarId> {
        let (name, owner) = match place {
            Loc::Global(name) => return self.global(cx, *name),
            Loc::Mine(name) => (*name, process),
            Loc::Other(name, number) => {
                (*name, number.saturating_add(usize::from(*number >= process)))
            }
            Loc::Pointer(..) => return None,
        };
        let (token, text) = (cx.token(name), quote(cx.text(name)));
        let Some(owners) = self.locals.get(cx.text(name)) else {
            let error = token.error(format!("no process has data {text}"));
            let error = match self.globals.contains_key(cx.text(name)) {
                true => error.help(format!("it is global: write it without `[…]`, as {text}")),
                false => did_you_mean(error, cx.text(name), self.locals.keys().copied()),
            };
            cx.error(error);
            return None;
        };
        let var = owners.get(owner).copied().flatten();
        if var.is_none() {
            let message = match owners.len() {
                n if owner >= n => {
                    let processes = counted(n, "process", "processes");
                    format!("no process owns this {text}, as the file has {processes}")
                }
                _ => format!("process P{owner} has no data {text}"),
            };
            let help = "`x[my]` is the process's own; `x[0]`, `x[1]`, … are the others', in order";
            cx.error(token.error(message).help(help));
        }
        var
    }

    fn global(&self, cx: &mut Context<'_, 't>, name: At) -> Option<VarId> {
        let text = cx.text(name);
        if let Some(var) = self.globals.get(text) {
            return Some(*var);
        }
        let error = cx.tokens[name].error(format!("there is no variable {}", quote(text)));
        let error = match self.locals.contains_key(text) {
            true => error.help(format!("it belongs to processes: say whose, as in `{text}[my]`")),
            false => did_you_mean(error, text, self.globals.keys().copied()),
        };
        cx.error(error);
        None
    }
}

/// The data of processes: for each name, in the order of the text, the
/// declaration of each process that has one.
fn owners<'f, 't>(
    cx: &mut Context<'_, 't>,
    processes: &[&'f Process],
) -> Vec<(&'t str, Vec<Option<&'f Decl>>)> {
    let mut names: Vec<(&'t str, Vec<Option<&'f Decl>>)> = Vec::new();
    let mut known: HashMap<&'t str, usize> = HashMap::new();
    for (p, process) in processes.iter().enumerate() {
        for decl in &process.data {
            let name = cx.text(decl.name);
            let index = *known.entry(name).or_insert_with(|| {
                names.push((name, vec![None; processes.len()]));
                names.len() - 1
            });
            if names[index].1[p].replace(decl).is_some() {
                cx.error(cx.tokens[decl.name].error(format!("there are two {}", quote(name))));
            }
        }
    }
    names
}

/// The bound from outside for something that has one of these names.
pub fn bound(cx: &Context<'_, '_>, names: &[&str]) -> Option<Range> {
    let found = cx.bounds.iter().find(|(name, ..)| names.contains(&name.as_str()));
    found.map(|(_, low, high)| (*low, *high))
}

/// The error for something that may be any number at first.
pub fn any_number(cx: &mut Context<'_, '_>, name: At) {
    let token = cx.token(name);
    let message = format!("{} may begin with any number at all", quote(token.text));
    let plain = token.text.trim_start_matches('$');
    let help =
        format!("say which, as in `{} = * : [0:3]`, or with `--domain {plain}=0..3`", token.text);
    cx.error(token.error(message).help(help));
}

/// The values that something may have in the beginning; at least one. A bound from outside is for
/// something without a domain.
pub fn values<'t>(cx: &mut Context<'_, 't>, decl: &Decl, bound: Option<Range>) -> Vec<i128> {
    let token: &Token<'t> = cx.token(decl.name);
    let name = quote(token.text);
    match (decl.init, decl.domain.or(bound.filter(|_| decl.init.is_none()))) {
        (Some(value), None) => vec![value],
        (Some(value), Some((low, high))) => {
            if !(low..=high).contains(&value) {
                let message =
                    format!("{name} begins with {value}, outside its domain [{low}:{high}]");
                cx.error(token.error(message));
            }
            vec![value]
        }
        (None, None) => {
            any_number(cx, decl.name);
            vec![0]
        }
        (None, Some((low, high))) => {
            if high.checked_sub(low).is_none_or(|n| n >= MAX_CHOICE) {
                let message = format!("{name} may begin with more than {MAX_CHOICE} values");
                cx.error(token.error(message));
                return vec![low];
            }
            (low..=high).collect()
        }
    }
}
