//! The declarations of the program.
//!
//! Names come first, so that uses may precede declarations; then constants, each after
//! the ones that it depends on; then declarations that depend on constants: variables and
//! the sizes of families.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use weir_model::ids::{EnumId, ProcessId, VarId};
use weir_model::program::{Decl, Enum, Process};

use super::layout::{Layout, Part};
use super::process::Instance;
use super::value::Constants;
use super::{Context, Family, Global, MAX_NUMBERED, MAX_PROCESSES, What};
use crate::Diagnostic;
use crate::errors::quote;
use crate::weir::tree::{self, Declared, Expr, ExprKind, Item, Name};

impl<'t> Context<'t> {
    /// Declares everything and says which processes there are.
    pub fn declare(&mut self, items: &'t [Item<'t>]) -> Vec<Instance<'t, 't>> {
        let mut constants = Vec::new();
        let mut vars = Vec::new();
        let mut processes = Vec::new();
        for item in items {
            match item {
                Item::Const(name, e) if self.introduce(*name, What::Broken) => {
                    constants.push((*name, e));
                }
                Item::Enum(name, members) => self.declare_enum(*name, members),
                Item::Var(var) if self.introduce(var.name, What::Later("a variable")) => {
                    vars.push(var)
                }
                Item::Record(record) if self.introduce(record.name, What::Later("a record")) => {
                    self.records.insert(record.name.text, record);
                }
                Item::Procedure(procedure)
                    if self.introduce(procedure.name, What::Later("a procedure")) =>
                {
                    self.procedures.insert(procedure.name.text, procedure);
                }
                Item::Process(process) => processes.push(process),
                Item::Object(object) => {
                    self.introduce(object.name, What::Later("an object"));
                    for var in &object.vars {
                        if self.introduce(var.name, What::Later("a variable")) {
                            vars.push(var);
                        }
                    }
                    for method in &object.methods {
                        self.introduce(method.name, What::Later("a method"));
                    }
                }
                _ => {}
            }
        }
        // A family's members may be declared one by one.
        for process in &processes {
            let is_family = !matches!(process.family, tree::Family::None);
            let what = What::Process(Family::Members(BTreeMap::new()));
            match self.globals.get(process.name.text).map(|g| &g.what) {
                Some(What::Process(_)) if is_family => {}
                _ if is_family => {
                    self.introduce(process.name, what);
                }
                _ => {
                    self.introduce(process.name, What::Later("a process"));
                }
            }
        }
        self.evaluate(&constants);
        for var in vars {
            self.declare_var(var);
        }
        processes.into_iter().flat_map(|process| self.instances(process)).collect()
    }

    /// Gives a name a meaning; `false` after an error.
    fn introduce(&mut self, name: Name<'t>, what: What<'t>) -> bool {
        match self.globals.get(name.text) {
            Some(first) => {
                let first = first.span;
                self.declared_twice(name, first);
                false
            }
            None => {
                self.globals.insert(name.text, Global { span: name.span, what });
                true
            }
        }
    }

    fn declare_enum(&mut self, name: Name<'t>, members: &[Name<'t>]) {
        if members.is_empty() {
            return self.error_at("an enum needs at least one member", name.span);
        }
        if members.len() > MAX_NUMBERED {
            let message = format!("an enum may have at most {MAX_NUMBERED} members");
            return self.error_at(message, name.span);
        }
        if self.program.enums.len() >= MAX_NUMBERED {
            let message = format!("a program may have at most {MAX_NUMBERED} enums");
            return self.error_at(message, name.span);
        }
        self.introduce(name, What::Enum(EnumId::new(self.program.enums.len())));
        for (value, member) in (0..).zip(members) {
            self.introduce(*member, What::Const(value));
        }
        let members = members.iter().map(|m| m.text.to_owned()).collect();
        self.program.enums.push(Enum { name: name.text.to_owned(), members });
    }

    /// Works constants out, depth first, on a stack of our own: a chain of
    /// constants may be as long as the text.
    fn evaluate(&mut self, constants: &[(Name<'t>, &Expr<'t>)]) {
        let numbers: HashMap<_, _> =
            constants.iter().enumerate().map(|(i, (name, _))| (name.text, i)).collect();
        let needs = |i: usize| {
            let mut needs = Vec::new();
            names_in(constants[i].1, &mut |name: &str| needs.extend(numbers.get(name)));
            needs.into_iter()
        };
        // 0 is not begun, 1 is begun, 2 is done.
        let mut progress = vec![0u8; constants.len()];
        for start in 0..constants.len() {
            if progress[start] != 0 {
                continue;
            }
            progress[start] = 1;
            let mut stack = vec![(start, needs(start))];
            while let Some((i, open)) = stack.last_mut() {
                let (i, next) = (*i, open.next());
                match next {
                    Some(next) if progress[next] == 0 => {
                        progress[next] = 1;
                        stack.push((next, needs(next)));
                    }
                    Some(next) if progress[next] == 1 => {
                        let (name, _) = constants[next];
                        let message = format!("the constant {} needs itself", quote(name.text));
                        self.error_at(message, name.span);
                    }
                    Some(_) => {}
                    None => {
                        progress[i] = 2;
                        stack.pop();
                        let (name, e) = constants[i];
                        let value = Constants { cx: self, known: Vec::new() }.eval(e);
                        if let (Some(value), Some(global)) =
                            (value, self.globals.get_mut(name.text))
                        {
                            global.what = What::Const(value);
                        }
                    }
                }
            }
        }
    }

    fn declare_var(&mut self, var: &Declared<'t>) {
        if let Some(global) = self.globals.get_mut(var.name.text) {
            global.what = What::Broken;
        }
        let Some(plan) = (Constants { cx: self, known: Vec::new() }).plan(var) else { return };
        let cells: usize = plan.parts.iter().map(|part| part.inits.len()).sum();
        if self.var_count + cells > MAX_NUMBERED {
            let message = format!("a program may have at most {MAX_NUMBERED} variables");
            return self.error_at(message, var.name.span);
        }
        let span = self.span(var.span);
        let mut parts = Vec::new();
        for part in plan.parts {
            let first = VarId::new(self.var_count);
            self.var_count += part.inits.len();
            // The last dimension is an array if nothing stands behind its index.
            let last = match part.field {
                None => plan.dims.last(),
                Some(_) => part.dims.last(),
            };
            let domain = part.domain;
            let mut names = part.names.into_iter();
            let mut inits = part.inits.into_iter();
            while let Some(name) = names.next() {
                let rest = last.map_or(0, |len| *len as usize - 1);
                let init: Vec<_> = inits.by_ref().take(rest + 1).collect();
                let name = match last {
                    Some(_) => name.strip_suffix("[0]").unwrap_or(&name).to_owned(),
                    None => name,
                };
                self.program.vars.push(Decl { name, len: last.copied(), domain, init, span });
                names.by_ref().take(rest).for_each(drop);
            }
            parts.push(Part { field: part.field, dims: part.dims, first });
        }
        if let Some(global) = self.globals.get_mut(var.name.text) {
            global.what = What::Var(Rc::new(Layout { dims: plan.dims, parts }));
        }
    }

    /// The processes that one declaration stands for.
    fn instances<'i>(&mut self, process: &'i tree::Process<'t>) -> Vec<Instance<'i, 't>> {
        let name = process.name;
        let mut constants = Constants { cx: self, known: Vec::new() };
        let (low, high) = match &process.family {
            tree::Family::None => {
                return self.instance(process, None, None).into_iter().collect();
            }
            tree::Family::Count(e) => {
                let last = constants.eval(e).map(|count| count.saturating_sub(1));
                (Some(0), Some(last))
            }
            tree::Family::Member(e) => (constants.eval(e), None),
            tree::Family::All(_, low, high) => (constants.eval(low), Some(constants.eval(high))),
        };
        let (Some(low), Some(high)) = (low, high.unwrap_or(low)) else { return Vec::new() };
        if low > high {
            let message = format!("the family {} has no members", quote(name.text));
            let error = Diagnostic::new(message, name.span.range());
            self.error(explain_count(error, process));
        }
        let mut list = Vec::new();
        for number in low..=high {
            let parameter = match &process.family {
                tree::Family::All(parameter, ..) => Some((*parameter, number)),
                _ => None,
            };
            match self.instance(process, Some(number), parameter) {
                Some(instance) => list.push(instance),
                None => break,
            }
        }
        list
    }

    /// One process, entered in the tables. `None` after an error.
    fn instance<'i>(
        &mut self,
        process: &'i tree::Process<'t>,
        number: Option<i128>,
        parameter: Option<(Name<'t>, i128)>,
    ) -> Option<Instance<'i, 't>> {
        let name = process.name;
        if self.program.processes.len() >= MAX_PROCESSES {
            let message = format!("a program may have at most {MAX_PROCESSES} processes");
            self.error_at(message, name.span);
            return None;
        }
        let id = ProcessId::new(self.program.processes.len());
        let global = self.globals.get_mut(name.text)?;
        let shown = match (number, &mut global.what) {
            (Some(number), What::Process(Family::Members(members))) => {
                if let Some((_, first)) = members.get(&number) {
                    let first = first.span.range();
                    let message = format!("`{}[{number}]` is declared twice", name.text);
                    let error = Diagnostic::new(message, name.span.range());
                    let error = error.note(first, "it is declared here first");
                    self.error(explain_count(error, process));
                    return None;
                }
                members.insert(number, (id, name));
                format!("{}[{number}]", name.text)
            }
            (None, what) if global.span == name.span => {
                *what = What::Process(Family::Single(id));
                name.text.to_owned()
            }
            // The name stands for something else, which has been reported.
            _ => return None,
        };
        self.program.processes.push(Process { name: shown.clone(), ..Process::default() });
        Some(Instance { id, name: shown, parameter, tree: process })
    }
}

/// With what `process p[1]` means, if that is how the process is declared.
fn explain_count(error: Diagnostic, process: &tree::Process<'_>) -> Diagnostic {
    if !matches!(process.family, tree::Family::Count(_)) {
        return error;
    }
    let name = process.name.text;
    error.help(format!(
        "`process {name}[2]` declares two processes, `{name}[0]` and `{name}[1]`; \
         `process {name}[= 2]` declares `{name}[2]` alone"
    ))
}

/// Calls `visit` with every name in an expression.
fn names_in<'t>(e: &Expr<'t>, visit: &mut impl FnMut(&'t str)) {
    match &e.kind {
        ExprKind::Place(place) => visit(place.name.text),
        ExprKind::Unary(_, e) => names_in(e, visit),
        ExprKind::Conditional(c, a, b) => [c, a, b].into_iter().for_each(|e| names_in(e, visit)),
        ExprKind::Binary(_, a, b) => {
            names_in(a, visit);
            names_in(b, visit);
        }
        // Not constant, which is reported when the constant is worked out.
        _ => {}
    }
}
