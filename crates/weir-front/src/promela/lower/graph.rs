//! The graph of a process: its places, and the steps that lead from one to another.
//!
//! It is Spin's: a statement is one step; the steps of a selection begin at one place; `goto`, `break`
//! and brackets are no steps, unless an option has nothing else.

use std::collections::HashMap;
use std::rc::Rc;

use weir_model::program::FenceKind;

use super::process::Body;
use super::{Context, MAX_NUMBERED};
use crate::errors::{did_you_mean, quote};
use crate::promela::lexer::Token;
use crate::promela::tree::{
    Declared, Expr, ExprKind, Init, Name, Place, Receive, Send, Stmt, StmtKind,
};
use crate::weir::tree::Span;

/// The index of a place.
pub type NodeId = usize;

#[derive(Debug, Default)]
pub struct Graph<'m, 't> {
    pub nodes: Vec<Node<'m, 't>>,
    /// Where a place is another one: what follows a label.
    alias: HashMap<NodeId, NodeId>,
    pub start: NodeId,
    /// Where the process ends.
    pub end: NodeId,
}

#[derive(Debug, Default)]
pub struct Node<'m, 't> {
    pub edges: Vec<Edge<'m, 't>>,
    /// Labels that stand here.
    pub labels: Vec<&'t str>,
    /// The `atomic` sequence that it is in.
    pub region: Option<usize>,
    pub span: Option<Span>,
}

/// One step.
#[derive(Clone, Debug)]
pub struct Edge<'m, 't> {
    pub action: Action<'m, 't>,
    pub to: NodeId,
    pub scope: usize,
    pub token: Token<'t>,
    pub span: Span,
    /// The selections that it is an option of.
    pub groups: Vec<usize>,
    /// The `atomic` sequence that it is in.
    pub region: Option<usize>,
    /// The `d_step` that it is in.
    pub d_step: Option<usize>,
    /// Whether it begins the `d_step`: only there it may wait.
    pub begins: bool,
    /// Whether it jumps.
    pub jumps: bool,
    /// Where `unless` leads, from outside: these go first.
    pub escapes: Rc<Vec<NodeId>>,
}

/// What a step does.
#[derive(Clone, Copy, Debug)]
pub enum Action<'m, 't> {
    Guard(&'m Expr<'t>),
    /// Nothing else in this selection is possible.
    Else(usize),
    Assign(&'m Place<'t>, &'m Expr<'t>),
    /// `x = 3`
    Set(&'m Place<'t>, i128),
    /// `x < e`
    Below(&'m Place<'t>, &'m Expr<'t>),
    /// `x++`
    Up(&'m Place<'t>),
    /// A declaration that is executed.
    Declare(&'m Declared<'t>),
    Assert(&'m Expr<'t>),
    Skip,
    Fence(FenceKind),
    Send(&'m Send<'t>),
    Receive(&'m Receive<'t>),
}

impl Edge<'_, '_> {
    pub fn is_in(&self, group: usize) -> bool {
        self.groups.contains(&group)
    }
}

impl<'m, 't> Graph<'m, 't> {
    /// The place that is meant.
    pub fn resolve(&self, node: NodeId) -> NodeId {
        let mut node = node;
        for _ in 0..=self.alias.len() {
            match self.alias.get(&node) {
                Some(next) => node = *next,
                None => break,
            }
        }
        node
    }
}

/// What is around a statement.
#[derive(Clone)]
struct Around {
    scope: usize,
    after_loop: Option<NodeId>,
    region: Option<usize>,
    d_step: Option<usize>,
    escapes: Rc<Vec<NodeId>>,
}

/// Builds the graph of a body.
pub fn build<'m, 't>(cx: &mut Context<'m, 't>, body: &mut Body<'m, 't>, list: &'m [Stmt<'t>]) {
    let mut builder = Builder {
        cx,
        body,
        graph: Graph::default(),
        labels: HashMap::new(),
        groups: 0,
        regions: 0,
    };
    let end = builder.node(None);
    builder.graph.end = end;
    for stmt in list {
        stmt.visit(&mut |stmt: &'m Stmt<'t>| {
            if let StmtKind::Label(name) = &stmt.kind {
                builder.label(*name);
            }
        });
    }
    let around =
        Around { scope: 0, after_loop: None, region: None, d_step: None, escapes: Rc::default() };
    let start = builder.sequence(list, end, &around, true);
    builder.graph.start = start;
    let mut graph = builder.graph;
    // Labels of places that are others.
    let aliases: Vec<NodeId> = graph.alias.keys().copied().collect();
    for node in aliases {
        let labels = std::mem::take(&mut graph.nodes[node].labels);
        let to = graph.resolve(node);
        graph.nodes[to].labels.extend(labels);
    }
    graph.start = graph.resolve(graph.start);
    for i in 0..graph.nodes.len() {
        for e in 0..graph.nodes[i].edges.len() {
            graph.nodes[i].edges[e].to = graph.resolve(graph.nodes[i].edges[e].to);
        }
    }
    body.graph = graph;
}

struct Builder<'c, 'm, 't> {
    cx: &'c mut Context<'m, 't>,
    body: &'c mut Body<'m, 't>,
    graph: Graph<'m, 't>,
    labels: HashMap<&'t str, NodeId>,
    groups: usize,
    regions: usize,
}

impl<'m, 't> Builder<'_, 'm, 't> {
    fn node(&mut self, span: Option<Span>) -> NodeId {
        if self.graph.nodes.len() > MAX_NUMBERED {
            let name = quote(&self.body.name);
            let message = format!("process {name} has more than {MAX_NUMBERED} statements");
            let range = span.map_or(0..0, |s| s.range());
            self.cx.errors.push(crate::Diagnostic::new(message, range));
            // The rest is not looked at.
            return 0;
        }
        self.graph.nodes.push(Node { span, ..Node::default() });
        self.graph.nodes.len() - 1
    }

    fn label(&mut self, name: Name<'t>) {
        if self.labels.contains_key(name.text) {
            let first = self.body.label_ids.get(name.text).map(|(_, span)| *span);
            return self.cx.declared_twice(name, first);
        }
        let node = self.node(Some(name.token.span));
        if self.body.declare_label(self.cx, name).is_some() {
            self.labels.insert(name.text, node);
            self.graph.nodes[node].labels.push(name.text);
        }
    }

    /// Builds statements that are followed by a place; gives where they begin. `early` if nothing
    /// has run before them.
    fn sequence(
        &mut self,
        list: &'m [Stmt<'t>],
        next: NodeId,
        around: &Around,
        early: bool,
    ) -> NodeId {
        // What is declared before the first statement begins with its value.
        let is_declared = |s: &Stmt<'t>| matches!(s.kind, StmtKind::Declare(_));
        let first = list.iter().position(|s| !is_declared(s)).unwrap_or(list.len());
        for (i, stmt) in list.iter().enumerate() {
            if let StmtKind::Declare(declared) = &stmt.kind {
                for declared in declared {
                    self.body.declare(self.cx, declared, around.scope, early && i < first);
                }
            }
        }
        let mut next = next;
        for (i, stmt) in list.iter().enumerate().rev() {
            if self.cx.errors.is_full() {
                return next;
            }
            let begins = early && list[..i].iter().all(is_declared);
            next = self.statement(stmt, next, around, begins);
        }
        next
    }

    fn step(
        &mut self,
        action: Action<'m, 't>,
        stmt: &'m Stmt<'t>,
        to: NodeId,
        around: &Around,
    ) -> NodeId {
        let node = self.node(Some(stmt.span));
        let edge = self.edge(action, stmt, to, around);
        self.graph.nodes[node].region = around.region;
        if self.graph.nodes[node].edges.is_empty() {
            self.graph.nodes[node].edges.push(edge);
        }
        node
    }

    fn edge(
        &self,
        action: Action<'m, 't>,
        stmt: &Stmt<'t>,
        to: NodeId,
        around: &Around,
    ) -> Edge<'m, 't> {
        Edge {
            action,
            to,
            scope: around.scope,
            token: stmt.token,
            span: stmt.span,
            groups: Vec::new(),
            region: around.region,
            d_step: around.d_step,
            begins: false,
            jumps: false,
            escapes: around.escapes.clone(),
        }
    }

    fn statement(
        &mut self,
        stmt: &'m Stmt<'t>,
        next: NodeId,
        around: &Around,
        early: bool,
    ) -> NodeId {
        match &stmt.kind {
            StmtKind::Declare(list) => {
                let mut next = next;
                for declared in list.iter().rev() {
                    let runs = match &declared.init {
                        _ if early => false,
                        Init::Channel(..) => false,
                        _ => self.body.scopes[around.scope].vars.contains_key(declared.name.text),
                    };
                    if runs {
                        next = self.step(Action::Declare(declared), stmt, next, around);
                    }
                }
                next
            }
            StmtKind::Label(name) => {
                if let Some(&node) = self.labels.get(name.text)
                    && self.graph.resolve(next) != node
                {
                    self.graph.alias.insert(node, next);
                }
                next
            }
            StmtKind::Guard(e) => self.step(Action::Guard(e), stmt, next, around),
            StmtKind::Else => {
                self.cx.error_at("`else` can only begin an option", stmt.token);
                next
            }
            StmtKind::Assign(place, e) => self.step(Action::Assign(place, e), stmt, next, around),
            StmtKind::Assert(e) => self.step(Action::Assert(e), stmt, next, around),
            StmtKind::Skip => self.step(Action::Skip, stmt, next, around),
            StmtKind::Fence(kind) => self.step(Action::Fence(*kind), stmt, next, around),
            StmtKind::Send(send) => self.step(Action::Send(send), stmt, next, around),
            StmtKind::Receive(receive) => self.step(Action::Receive(receive), stmt, next, around),
            StmtKind::Goto(name) => match self.labels.get(name.text) {
                Some(node) => *node,
                None => {
                    let process = quote(&self.body.name);
                    let message =
                        format!("{} is not a label of process {process}", quote(name.text));
                    let error = name.token.error(message);
                    let known = self.labels.keys().copied();
                    self.cx.errors.push(did_you_mean(error, name.text, known));
                    next
                }
            },
            StmtKind::Break => match around.after_loop {
                Some(node) => node,
                None => {
                    self.cx.error_at("`break` outside of a loop", stmt.token);
                    next
                }
            },
            StmtKind::If(options) => {
                let node = self.node(Some(stmt.span));
                self.options(node, options, stmt, next, around);
                node
            }
            StmtKind::Do(options) => {
                let node = self.node(Some(stmt.span));
                let inside = Around { after_loop: Some(next), ..around.clone() };
                self.options(node, options, stmt, node, &inside);
                node
            }
            StmtKind::Select(place, ends) => self.select(place, ends, stmt, next, around),
            StmtKind::Atomic(body) => {
                let region = around.region.unwrap_or_else(|| {
                    self.regions += 1;
                    self.regions
                });
                let scope = self.body.new_scope(around.scope);
                let mut inside = Around { region: Some(region), scope, ..around.clone() };
                if !stmt.token.is("d_step") || around.d_step.is_some() {
                    return self.sequence(body, next, &inside, early);
                }
                self.regions += 1;
                inside.d_step = Some(self.regions);
                inside.escapes = Rc::default();
                let first = self.sequence(body, next, &inside, early);
                self.entry(first, next, around)
            }
            StmtKind::Block(body) => {
                let scope = self.body.new_scope(around.scope);
                self.sequence(body, next, &Around { scope, ..around.clone() }, early)
            }
            StmtKind::Unless(body, escape) => {
                let scope = self.body.new_scope(around.scope);
                let escape =
                    self.sequence(escape, next, &Around { scope, ..around.clone() }, false);
                let mut escapes = (*around.escapes).clone();
                escapes.push(escape);
                let scope = self.body.new_scope(around.scope);
                let inside = Around { scope, escapes: Rc::new(escapes), ..around.clone() };
                self.sequence(body, next, &inside, early)
            }
        }
    }

    /// The place before a `d_step`, to which a jump inside the `d_step` may lead without leaving
    /// it. The process waits at this place, and `unless` applies there; neither happens inside.
    fn entry(&mut self, first: NodeId, next: NodeId, around: &Around) -> NodeId {
        let begin = self.graph.resolve(first);
        let edges: Vec<_> = self.graph.nodes[begin]
            .edges
            .iter()
            .map(|edge| Edge { begins: true, escapes: around.escapes.clone(), ..edge.clone() })
            .collect();
        if begin == self.graph.resolve(next) || edges.is_empty() {
            return first;
        }
        let entry = self.node(self.graph.nodes[begin].span);
        self.graph.nodes[entry].region = self.graph.nodes[begin].region;
        self.graph.nodes[entry].edges = edges;
        entry
    }

    /// The options of a selection: their first steps begin at `node`.
    fn options(
        &mut self,
        node: NodeId,
        options: &'m [Vec<Stmt<'t>>],
        stmt: &'m Stmt<'t>,
        next: NodeId,
        around: &Around,
    ) {
        self.groups += 1;
        let group = self.groups;
        self.graph.nodes[node].region = around.region;
        let mut edges: Vec<Edge<'m, 't>> = Vec::new();
        let mut other = None;
        for option in options {
            let real = option.iter().position(|s| {
                !matches!(s.kind, StmtKind::Label(_))
                    && !matches!(&s.kind, StmtKind::Declare(l) if l.iter().all(|d| matches!(d.init, Init::Nothing)))
            });
            let head = real.map(|i| &option[i]);
            // Only brackets begin a scope.
            let inside = around.clone();
            let begin = match head.map(|s| &s.kind) {
                Some(StmtKind::Else) => {
                    let head = head.expect("there is one");
                    if other.replace(head.token).is_some() {
                        self.cx.error_at("a second `else`", head.token);
                    }
                    let rest =
                        self.sequence(&option[real.unwrap_or(0) + 1..], next, &inside, false);
                    let place = self.step(Action::Else(group), head, rest, &inside);
                    // Labels before it, for those who jump there.
                    self.sequence(&option[..real.unwrap_or(0)], place, &inside, false)
                }
                Some(StmtKind::Goto(_) | StmtKind::Break) => {
                    let head = head.expect("there is one");
                    let target = self.statement(head, next, &inside, false);
                    let place = self.step(Action::Skip, head, target, &inside);
                    if let Some(edge) = self.graph.nodes[place].edges.first_mut() {
                        edge.jumps = true;
                    }
                    self.sequence(&option[..real.unwrap_or(0)], place, &inside, false)
                }
                _ => self.sequence(option, next, &inside, false),
            };
            let begin = self.graph.resolve(begin);
            if begin == node || real.is_none() {
                let skip = self.edge(Action::Skip, stmt, next, &inside);
                edges.push(Edge { groups: vec![group], ..skip });
                continue;
            }
            if begin == self.graph.end {
                let skip = self.edge(Action::Skip, stmt, begin, &inside);
                edges.push(Edge { groups: vec![group], ..skip });
                continue;
            }
            for edge in &self.graph.nodes[begin].edges {
                let mut edge = edge.clone();
                edge.groups.push(group);
                edges.push(edge);
            }
            if edges.len() > MAX_NUMBERED {
                break;
            }
        }
        self.graph.nodes[node].edges = edges;
    }

    /// `select (x : low .. high)`, which Spin takes for `if :: x = low :: … :: x = high fi`, or for a
    /// loop that counts.
    fn select(
        &mut self,
        place: &'m Place<'t>,
        ends: &'m (Expr<'t>, Expr<'t>),
        stmt: &'m Stmt<'t>,
        next: NodeId,
        around: &Around,
    ) -> NodeId {
        let (low, high) = ends;
        let number = |e: &Expr<'t>| match e.kind {
            ExprKind::Number(n) => Some(n),
            _ => None,
        };
        if let (Some(low), Some(high)) = (number(low), number(high))
            && (0..=32).contains(&(high - low))
        {
            let node = self.node(Some(stmt.span));
            self.graph.nodes[node].region = around.region;
            for value in low..=high {
                let edge = self.edge(Action::Set(place, value), stmt, next, around);
                self.graph.nodes[node].edges.push(edge);
            }
            return node;
        }
        let head = self.node(Some(stmt.span));
        self.graph.nodes[head].region = around.region;
        let up = self.step(Action::Up(place), stmt, head, around);
        let below = self.edge(Action::Below(place, high), stmt, up, around);
        let leave = self.edge(Action::Skip, stmt, next, around);
        self.graph.nodes[head].edges = vec![below, leave];
        self.step(Action::Assign(place, low), stmt, head, around)
    }
}
