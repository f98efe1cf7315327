//! One process: its names, its registers and its labels.

use std::collections::{HashMap, HashSet};

use weir_model::ids::{LabelId, RegId, VarId};
use weir_model::program::{Domain, Label, Register};

use super::channel::Rendezvous;
use super::graph::Graph;
use super::variable::{Leaf, Storage, Variable};
use super::{Context, MAX_LOCAL_ARRAY, MAX_NUMBERED};
use crate::promela::tree::{Declared, Init, Name, Proctype, Type};
use crate::weir::tree::Span;

/// How a process comes to run.
#[derive(Clone, Debug)]
pub enum Begin {
    /// It runs from the start.
    AtOnce,
    /// Another one runs it: the variable that says so, and those of its arguments.
    Run {
        flag: VarId,
        arguments: Vec<(VarId, Type)>,
        pid: Option<VarId>,
        /// For each of [`Body::computed`] the variable that holds it, if the process that runs this
        /// one computes it.
        computed: Vec<Option<VarId>>,
    },
}

/// Where a message is handed over without a buffer: one for a process that receives so.
#[derive(Clone, Copy, Debug)]
pub struct Meeting {
    /// The place at which the process waits for messages, or 0.
    pub at: VarId,
    /// Which of its receives has got a message, counted from 1, or 0.
    pub got: VarId,
    /// The fields of the message, and what the receives at the place ask for.
    pub fields: VarId,
    pub wanted: VarId,
}

/// Names that are known in a block.
#[derive(Debug, Default)]
pub struct Scope<'t> {
    pub parent: Option<usize>,
    pub vars: HashMap<&'t str, Variable<'t>>,
}

/// A process with its graph, before it is written as statements.
#[derive(Debug)]
pub struct Body<'m, 't> {
    pub proctype: &'m Proctype<'t>,
    /// `P`, or `P[2]` where several run.
    pub name: String,
    pub pid: i128,
    pub begin: Begin,
    pub scopes: Vec<Scope<'t>>,
    pub graph: Graph<'m, 't>,
    pub registers: Vec<Register>,
    pub labels: Vec<Label>,
    pub label_ids: HashMap<&'t str, (LabelId, Span)>,
    /// Registers of type `mtype` that hold numbers without a name as well.
    pub numbers: HashSet<RegId>,
    /// Names that registers have.
    pub taken: HashSet<String>,
    /// Variables with a value that is worked out when the process begins.
    pub computed: Vec<(usize, &'m Declared<'t>)>,
    /// The processes that its steps run: by the place of the word `run` in the text.
    pub runs: HashMap<Span, usize>,
    pub meeting: Option<Meeting>,
    /// The variable that says where the process stands, if others have to know.
    pub counter: Option<VarId>,
    /// Where messages are handed over to it.
    pub receives: Vec<Rendezvous<'m, 't>>,
}

impl<'m, 't> Body<'m, 't> {
    pub fn new(proctype: &'m Proctype<'t>, name: String, pid: i128, begin: Begin) -> Self {
        Self {
            proctype,
            name,
            pid,
            begin,
            scopes: vec![Scope::default()],
            graph: Graph::default(),
            registers: Vec::new(),
            labels: Vec::new(),
            label_ids: HashMap::new(),
            numbers: HashSet::new(),
            taken: HashSet::new(),
            computed: Vec::new(),
            runs: HashMap::new(),
            meeting: None,
            counter: None,
            receives: Vec::new(),
        }
    }

    pub fn new_scope(&mut self, parent: usize) -> usize {
        self.scopes.push(Scope { parent: Some(parent), vars: HashMap::new() });
        self.scopes.len() - 1
    }

    /// The variable of a name, seen from a scope.
    pub fn local(&self, scope: usize, name: &str) -> Option<&Variable<'t>> {
        let mut scope = Some(scope);
        while let Some(id) = scope {
            if let Some(found) = self.scopes[id].vars.get(name) {
                return Some(found);
            }
            scope = self.scopes[id].parent;
        }
        None
    }

    /// A name for a register that nothing else has.
    pub fn free_name(&mut self, cx: &Context<'m, 't>, name: &str) -> String {
        let globals = &cx.globals;
        let is_free = |n: &String, taken: &HashSet<String>| {
            !taken.contains(n) && !globals.contains_key(n.as_str())
        };
        let mut found = name.to_owned();
        if !is_free(&found, &self.taken) {
            let from = self.registers.len();
            let mut names = (from..).map(|i| format!("{name}_{i}"));
            found = names.find(|n| is_free(n, &self.taken)).unwrap_or_default();
        }
        self.taken.insert(found.clone());
        found
    }

    pub fn add_register(
        &mut self,
        cx: &mut Context<'m, 't>,
        name: String,
        domain: Option<Domain>,
        init: i128,
        span: Span,
    ) -> Option<RegId> {
        if self.registers.len() >= MAX_NUMBERED {
            let message = format!("a process may have at most {MAX_NUMBERED} local variables");
            cx.errors.push(crate::Diagnostic::new(message, span.range()));
            return None;
        }
        let id = RegId::new(self.registers.len());
        let display = format!("{}.{name}", self.name);
        let span = cx.span(span);
        self.registers.push(Register { name, display, domain, init, temporary: false, span });
        Some(id)
    }

    /// Declares a local variable. If `early`, it begins with its initial value; a value that is
    /// not constant is worked out when the process begins.
    pub fn declare(
        &mut self,
        cx: &mut Context<'m, 't>,
        declared: &'m Declared<'t>,
        scope: usize,
        early: bool,
    ) -> Option<()> {
        let name = declared.name;
        if let Some(first) = self.scopes[scope].vars.get(name.text).map(|l| l.span) {
            cx.declared_twice(name, Some(first));
            return None;
        }
        let made = self.local_variable(cx, declared, scope, early);
        match made {
            Some(variable) => drop(self.scopes[scope].vars.insert(name.text, variable)),
            None => drop(cx.broken.insert(name.text)),
        }
        Some(())
    }

    fn local_variable(
        &mut self,
        cx: &mut Context<'m, 't>,
        declared: &'m Declared<'t>,
        scope: usize,
        early: bool,
    ) -> Option<Variable<'t>> {
        let name = declared.name;
        let len = cx.length(declared, MAX_LOCAL_ARRAY)?;
        let leaves = cx.leaves(declared.shape, len, name.text, 0)?;
        let mut made = Vec::new();
        for (path, dims, kind) in leaves {
            let mut leaf = Leaf { path, dims, kind, storage: Storage::Constants(Vec::new()) };
            let count = leaf.count();
            if count as i128 > MAX_LOCAL_ARRAY {
                let message =
                    format!("an array has 1 to {MAX_LOCAL_ARRAY} elements here, not {count}");
                cx.error_at(message, name.token);
                return None;
            }
            let is_constant = match &declared.init {
                Init::Value(e) => {
                    let mut wrong = false;
                    e.visit(&mut |e| {
                        wrong |= match &e.kind {
                            crate::promela::tree::ExprKind::Place(p) => {
                                !cx.constants.contains_key(p.name.text)
                                    || self.local(scope, p.name.text).is_some()
                            }
                            crate::promela::tree::ExprKind::Number(_)
                            | crate::promela::tree::ExprKind::Not(_)
                            | crate::promela::tree::ExprKind::Negative(_)
                            | crate::promela::tree::ExprKind::Complement(_)
                            | crate::promela::tree::ExprKind::Binary(..) => false,
                            _ => true,
                        };
                    });
                    !wrong
                }
                _ => true,
            };
            let values = match is_constant && (early || matches!(declared.init, Init::Channel(..)))
            {
                true => cx.initial(declared, &leaf)?,
                false => vec![0; count],
            };
            if early && !is_constant {
                self.computed.push((scope, declared));
            }
            if kind == Type::Chan
                && !cx.assigned.contains(name.text)
                && matches!(declared.init, Init::Channel(..))
            {
                leaf.storage = Storage::Constants(values);
                made.push(leaf);
                continue;
            }
            let domain = cx.domain(kind);
            let is_member = match &declared.init {
                Init::Value(e) => cx.is_named(e),
                Init::List(list) => list.iter().all(|e| cx.is_named(e)),
                _ => true,
            };
            if cx.is_shared {
                let mut full = format!("{}.{}", self.name, name.text);
                leaf.path.iter().for_each(|field| full = format!("{full}.{field}"));
                let len = leaf.dims.iter().any(Option::is_some).then_some(count as u32);
                let domain = if kind == Type::Mtype { None } else { domain };
                let span = cx.span(declared.span);
                let decl = cx.program.vars.len();
                let first = cx.new_var(full, len, domain, values, span)?;
                leaf.storage = Storage::Global(first, decl);
                made.push(leaf);
                continue;
            }
            let mut registers = Vec::new();
            for (i, value) in values.into_iter().enumerate() {
                let mut full = name.text.to_owned();
                leaf.path.iter().for_each(|field| full = format!("{full}_{field}"));
                if leaf.dims.iter().any(Option::is_some) {
                    full = format!("{full}_{i}");
                }
                let full = self.free_name(cx, &full);
                let register = self.add_register(cx, full, domain, value, declared.span)?;
                if kind == Type::Mtype && !is_member {
                    self.numbers.insert(register);
                }
                registers.push(register);
            }
            leaf.storage = Storage::Registers(registers);
            made.push(leaf);
        }
        Some(Variable { leaves: made, len, span: name.token.span })
    }

    /// Declares a parameter that has a value from the start.
    pub fn parameter(
        &mut self,
        cx: &mut Context<'m, 't>,
        declared: &'m Declared<'t>,
        value: Option<i128>,
    ) -> Option<()> {
        let name = declared.name;
        let crate::promela::tree::Shape::Plain(kind) = declared.shape else {
            cx.error_at("a parameter is a plain variable", name.token);
            return None;
        };
        let span = name.token.span;
        let storage = match value {
            Some(value) if !cx.assigned.contains(name.text) => {
                Storage::Constants(vec![kind.cut(value)])
            }
            value if cx.is_shared => {
                let domain = if kind == Type::Mtype { None } else { cx.domain(kind) };
                let value = kind.cut(value.unwrap_or(0));
                let decl = cx.program.vars.len();
                let id = cx.span(declared.span);
                let text = format!("{}.{}", self.name, name.text);
                Storage::Global(cx.new_var(text, None, domain, vec![value], id)?, decl)
            }
            value => {
                let text = self.free_name(cx, name.text);
                let domain = cx.domain(kind);
                let value = kind.cut(value.unwrap_or(0));
                let register = self.add_register(cx, text, domain, value, declared.span)?;
                if kind == Type::Mtype {
                    self.numbers.insert(register);
                }
                Storage::Registers(vec![register])
            }
        };
        let leaf = Leaf { path: vec![], dims: vec![None], kind, storage };
        let variable = Variable { leaves: vec![leaf], len: None, span };
        if let Some(first) = self.scopes[0].vars.insert(name.text, variable) {
            cx.declared_twice(name, Some(first.span));
        }
        Some(())
    }

    /// Makes a local variable, or an element of it, begin with a value.
    pub fn begin_with(
        &mut self,
        cx: &mut Context<'m, 't>,
        name: &str,
        element: usize,
        value: i128,
    ) {
        if let Some([leaf]) = self.scopes[0].vars.get_mut(name).map(|v| &mut v.leaves[..])
            && let Storage::Constants(list) = &mut leaf.storage
            && let Some(channel) = list.get_mut(element)
        {
            *channel = value;
        }
        let leaves = self.scopes[0].vars.get(name).map(|v| &v.leaves[..]);
        if let Some([leaf]) = leaves
            && let Storage::Global(_, decl) = leaf.storage
            && let Some(init) = cx.program.vars[decl].init.get_mut(element)
        {
            *init = vec![value];
        }
        if let Some([leaf]) = leaves
            && let Storage::Registers(list) = &leaf.storage
            && let Some(register) = list.get(element)
        {
            self.registers[register.index()].init = value;
        }
    }

    pub fn declare_label(&mut self, cx: &mut Context<'m, 't>, name: Name<'t>) -> Option<LabelId> {
        let id = self.add_label(cx, name.text.to_owned(), name.token.span)?;
        self.label_ids.insert(name.text, (id, name.token.span));
        Some(id)
    }

    pub fn add_label(
        &mut self,
        cx: &mut Context<'m, 't>,
        name: String,
        span: Span,
    ) -> Option<LabelId> {
        if self.labels.len() >= MAX_NUMBERED {
            let message = format!("a process may have at most {MAX_NUMBERED} labels");
            cx.errors.push(crate::Diagnostic::new(message, span.range()));
            return None;
        }
        let id = LabelId::new(self.labels.len());
        let span = cx.span(span);
        self.labels.push(Label { name, span });
        Some(id)
    }
}
