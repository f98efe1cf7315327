//! From the graph of a process to statements.
//!
//! Each place is written once, with a label for jumps to it: all that its conditions mention is
//! loaded, until one of its steps is possible; one of those that are is taken; then comes what it
//! does, and a jump to the next place. If that is more than one access, it is a block: one step
//! under SC only ([`AtomicKind::Statement`]), or everywhere if it is `atomic` or about channels.
//!
//! A block that is `atomic` goes on with the places of its sequence. Where none of the steps of such a
//! place is possible, its `await` lets the others go on.

use std::collections::{HashMap, HashSet};
use std::mem;
use std::rc::Rc;

use weir_model::ids::{LabelId, ProcessId, RegId, VarId};
use weir_model::program::{
    AtomicKind, BinOp, Code, Expr, Label, Place, Process, Register, Stmt, StmtKind,
};

use super::channel::Transfer;
use super::graph::{Action, Edge, NodeId};
use super::process::{Begin, Body};
use super::value::{Bounds, Value, all, any, binary, not};
use super::variable::{Leaf, Storage};
use super::{Context, MAX_NUMBERED, tidy};
use crate::MAX_NESTING;
use crate::errors::quote;
use crate::promela::lexer::Token;
use crate::promela::tree::{ExprKind, Type};
use crate::weir::fold;
use crate::weir::tree::Span;

/// Writes one process; `false` if it is too long.
pub fn lower<'m, 't>(cx: &mut Context<'m, 't>, bodies: &[Body<'m, 't>], me: usize) -> bool {
    let body = &bodies[me];
    let mut this = Lowering {
        cx,
        bodies,
        me,
        scope: 0,
        registers: body.registers.clone(),
        labels: body.labels.clone(),
        temporaries: Vec::new(),
        in_use: 0,
        out: Vec::new(),
        statements: 0,
        blocks: 0,
        loaded: Vec::new(),
        numbers: body.numbers.clone(),
        taken: body.taken.clone(),
        pid: None,
        queue: Vec::new(),
        places: HashMap::new(),
        put: HashSet::new(),
        generated: HashSet::new(),
        inner: None,
        in_timeout: false,
    };
    let done = this.body();
    if done.is_none() && this.cx.errors.is_empty() {
        // Every failure has been reported.
        debug_assert!(false, "a failure without an error");
    }
    for register in &this.numbers {
        this.registers[register.index()].domain = None;
    }
    let fits = !this.is_too_long();
    let Lowering { registers, labels, out, mut generated, places, .. } = this;
    if cx.places {
        let end = bodies[me].graph.end;
        generated.retain(|label| !places.iter().any(|(n, l)| *n != end && l == label));
    }
    let (body, labels, kept) = tidy::tidy(out, labels, &generated);
    for (process, label) in &mut cx.except {
        if process.index() == me {
            *label = kept[label.index()].unwrap_or(*label);
        }
    }
    cx.relabeled.push(kept);
    cx.program.processes.push(Process { name: bodies[me].name.clone(), registers, labels, body });
    fits
}

/// The places of the block that is being written.
#[derive(Default)]
struct Inner {
    places: HashMap<NodeId, LabelId>,
    queue: Vec<NodeId>,
}

pub struct Lowering<'c, 'm, 't> {
    pub cx: &'c mut Context<'m, 't>,
    pub bodies: &'c [Body<'m, 't>],
    pub me: usize,
    /// Where names are looked up.
    pub scope: usize,
    pub registers: Vec<Register>,
    labels: Vec<Label>,
    temporaries: Vec<RegId>,
    /// How many temporaries hold something that is still needed.
    in_use: usize,
    /// The block that is being written.
    pub out: Vec<Stmt>,
    statements: usize,
    blocks: usize,
    /// What the step has loaded so far.
    pub loaded: Vec<(Place, RegId)>,
    /// Registers of type `mtype` that hold numbers without a name as well.
    pub numbers: HashSet<RegId>,
    taken: HashSet<String>,
    /// The register that holds its number, if that is not known beforehand.
    pid: Option<RegId>,
    /// Places that are to be written.
    queue: Vec<NodeId>,
    places: HashMap<NodeId, LabelId>,
    /// Labels that have been written.
    put: HashSet<LabelId>,
    /// Labels that are nowhere in the text.
    generated: HashSet<LabelId>,
    inner: Option<Inner>,
    /// Whether this evaluates what the other processes can do.
    in_timeout: bool,
}

/// One way to go on from a place.
struct Way<'m, 't> {
    edge: Edge<'m, 't>,
    enabled: Code,
    transfer: Option<Transfer>,
    /// How many `unless` are around it: those with fewer come first.
    rank: usize,
}

impl<'m, 't> Lowering<'_, 'm, 't> {
    fn body(&mut self) -> Option<()> {
        let bodies = self.bodies;
        let body = &bodies[self.me];
        let span = body.proctype.name.token.span;
        self.begin(span)?;
        let start = body.graph.start;
        self.go_to(start, span)?;
        let mut seen = HashSet::new();
        while let Some(node) = self.queue.pop() {
            if !seen.insert(node) {
                continue;
            }
            if self.cx.errors.is_full() || self.is_too_long() {
                return None;
            }
            // What is wrong at one place is said, and the others are looked at.
            self.head(node);
        }
        // Labels that no process reaches.
        let mut unreached: Vec<_> =
            body.label_ids.values().filter(|(id, _)| !self.put.contains(id)).copied().collect();
        unreached.sort_unstable_by_key(|(id, _)| *id);
        for (id, span) in unreached {
            self.emit(StmtKind::Label(id), span);
            self.emit(StmtKind::Exit, span);
        }
        Some(())
    }

    /// What a process does before its first statement.
    fn begin(&mut self, span: Span) -> Option<()> {
        let bodies = self.bodies;
        let body = &bodies[self.me];
        let enters = body.meets_at(body.graph.start) && !matches!(body.begin, Begin::AtOnce);
        let begins = match &body.begin {
            Begin::AtOnce => return Some(()),
            Begin::Run { flag, arguments, pid, computed } => {
                (*flag, arguments.clone(), *pid, computed.clone())
            }
        };
        let (flag, arguments, pid, computed) = begins;
        let label = self.new_label("start", span)?;
        self.emit(StmtKind::Label(label), span);
        self.put.insert(label);
        self.cx.except.push((ProcessId::new(self.me), label));
        let (block, done) = self.nested(|this| {
            this.fresh();
            let (loads, loaded) = this.nested(|this| this.load(Place::var(flag), span));
            let started = Expr::Atom(loaded?);
            this.emit(StmtKind::Await(loads, started), span);
            for (parameter, (var, kind)) in body.proctype.parameters.iter().zip(&arguments) {
                this.fresh();
                let register = this.load(Place::var(*var), span)?;
                let value = Value { code: Expr::Atom(register), bounds: kind.bounds() };
                let place = crate::promela::tree::Place {
                    name: parameter.name,
                    index: None,
                    field: None,
                    span: parameter.span,
                };
                this.assign(&place, value, false, span)?;
            }
            if let Some(var) = pid {
                let name = this.free_name("_pid");
                let register = this.add_register(name, 0, false, span)?;
                this.emit(StmtKind::Load(register, Place::var(var)), span);
                this.pid = Some(register);
            }
            for ((scope, declared), var) in body.computed.iter().zip(&computed) {
                this.fresh();
                this.scope = *scope;
                match var {
                    None => this.initialize(declared)?,
                    Some(var) => {
                        let register = this.load(Place::var(*var), span)?;
                        let bounds = Type::Int.bounds();
                        let value = Value { code: Expr::Atom(register), bounds };
                        this.initialize_with(declared, value)?;
                    }
                }
            }
            if enters {
                this.enter(body.graph.start, span)?;
            }
            this.move_to(body.graph.start, span);
            Some(())
        });
        done?;
        self.emit(StmtKind::Atomic(AtomicKind::Full, block), span);
        Some(())
    }

    /// A place as a block, or as plain statements if it has one access.
    fn head(&mut self, node: NodeId) -> Option<()> {
        let bodies = self.bodies;
        let body = &bodies[self.me];
        let graph = &body.graph;
        let span = graph.nodes[node].span.unwrap_or(body.proctype.name.token.span);
        let label = self.place_label(node, span)?;
        self.emit(StmtKind::Label(label), span);
        self.user_labels(node);
        if node == graph.end {
            return self.end(span);
        }
        if graph.nodes[node].edges.is_empty() {
            // A jump to itself.
            self.emit(StmtKind::Nop, span);
            return self.go_to(node, span);
        }
        let is_full = self.is_full(node);
        self.in_timeout = false;
        if is_full {
            self.inner = Some(Inner::default());
        }
        let (mut block, done) = self.nested(|this| this.place(node));
        let mut has_more = false;
        if is_full {
            while let Some(next) = self.inner.as_mut().and_then(|inner| inner.queue.pop()) {
                has_more = true;
                let span = graph.nodes[next].span.unwrap_or(span);
                let label = self.inner.as_ref().map(|inner| inner.places[&next])?;
                let (more, done) = self.nested(|this| {
                    this.emit(StmtKind::Label(label), span);
                    this.user_labels(next);
                    this.place(next)
                });
                block.extend(more);
                done?;
            }
            self.inner = None;
        }
        done?;
        let is_long = has_more || tidy::weight(&block) > 1;
        // A formula about labels must not see it between two places.
        if is_long || self.cx.asks_labels && block.len() > 1 {
            let kind = match is_full && is_long {
                true => AtomicKind::Full,
                false if self.cx.is_split => {
                    self.out.append(&mut block);
                    return Some(());
                }
                false => AtomicKind::Statement,
            };
            match tidy::as_update(&block).filter(|_| is_full) {
                Some(plain) if self.cx.asks_labels => {
                    self.emit(StmtKind::Atomic(AtomicKind::Statement, plain), span);
                }
                Some(plain) => self.out.extend(plain),
                None => self.emit(StmtKind::Atomic(kind, block), span),
            }
        } else {
            self.out.append(&mut block);
        }
        Some(())
    }

    /// The end of the process: the youngest one dies first.
    fn end(&mut self, span: Span) -> Option<()> {
        if let Some(var) = self.cx.running {
            let label = self.new_label("ended", span)?;
            self.emit(StmtKind::Label(label), span);
            self.put.insert(label);
            self.cx.except.push((ProcessId::new(self.me), label));
            let (block, done) = self.nested(|this| {
                this.fresh();
                let (loads, loaded) = this.nested(|this| this.load(Place::var(var), span));
                let count = Expr::Atom(loaded?);
                let own = binary(BinOp::Add, this.own_pid().code, Expr::Const(1));
                let mut youngest = binary(BinOp::Eq, count.clone(), own);
                let mut loads = loads;
                if let Some(hand) = this.cx.hand {
                    let (more, loaded) = this.nested(|this| this.load(Place::var(hand), span));
                    loads.extend(more);
                    youngest = all(&[youngest, not(Expr::Atom(loaded?))]);
                }
                this.emit(StmtKind::Await(loads, youngest), span);
                let fewer = binary(BinOp::Sub, count, Expr::Const(1));
                this.emit(StmtKind::Store(Place::var(var), fewer), span);
                this.forget(span);
                Some(())
            });
            done?;
            self.emit(StmtKind::Atomic(AtomicKind::Full, block), span);
        }
        self.emit(StmtKind::Exit, span);
        Some(())
    }

    /// Sets the variables of a process that dies to 0, which is what formulas see of it in Spin.
    fn forget(&mut self, span: Span) {
        if !self.cx.is_observed {
            return;
        }
        let body = &self.bodies[self.me];
        let mut leaves: Vec<&Leaf<'t>> = body
            .scopes
            .iter()
            .flat_map(|scope| scope.vars.values())
            .flat_map(|variable| &variable.leaves)
            .collect();
        leaves.sort_unstable_by_key(|leaf| match &leaf.storage {
            Storage::Global(first, _) => (0, first.index()),
            Storage::Registers(list) => (1, list.first().map_or(0, |r| r.index())),
            Storage::Constants(_) => (2, 0),
        });
        for leaf in leaves {
            match &leaf.storage {
                Storage::Global(first, _) => {
                    for i in 0..leaf.count() {
                        let at = Place::var(VarId::new(first.index() + i));
                        self.emit(StmtKind::Store(at, Expr::Const(0)), span);
                    }
                }
                Storage::Registers(list) => {
                    for register in list {
                        self.emit(StmtKind::Assign(*register, Expr::Const(0)), span);
                    }
                }
                Storage::Constants(_) => {}
            }
        }
    }

    /// Labels of the text at a place.
    fn user_labels(&mut self, node: NodeId) {
        let bodies = self.bodies;
        let body = &bodies[self.me];
        for name in &body.graph.nodes[node].labels {
            if let Some((id, span)) = body.label_ids.get(name).copied()
                && self.put.insert(id)
            {
                self.emit(StmtKind::Label(id), span);
            }
        }
    }

    /// Whether all that happens at a place is one step under every model.
    fn is_full(&self, node: NodeId) -> bool {
        let body = &self.bodies[self.me];
        let is_about_channels = |edge: &Edge<'m, 't>| {
            let mut found = matches!(edge.action, Action::Send(_) | Action::Receive(_));
            let mut look = |e: &'m crate::promela::tree::Expr<'t>| {
                e.visit(&mut |e| {
                    found |= matches!(
                        e.kind,
                        ExprKind::Fill(..) | ExprKind::Poll(_) | ExprKind::Run(..)
                    );
                });
            };
            match edge.action {
                Action::Guard(e) | Action::Assert(e) => look(e),
                Action::Assign(place, e) => {
                    place.visit(&mut |e| look(e));
                    look(e);
                }
                _ => {}
            }
            found
        };
        let edges = |node: NodeId| &body.graph.nodes[node].edges;
        let is_full = |edge: &Edge<'m, 't>| {
            edge.region.is_some() || body.meets_at(edge.to) || is_about_channels(edge)
        };
        self.cx.hand.is_some()
            || self.cx.is_shared
            || body.meets_at(node)
            || edges(node).iter().any(|edge| {
                is_full(edge)
                    || edge
                        .escapes
                        .iter()
                        .any(|e| edges(body.graph.resolve(*e)).iter().any(is_full))
            })
    }

    /// What happens at a place, up to the jumps to others.
    fn place(&mut self, node: NodeId) -> Option<()> {
        let bodies = self.bodies;
        let span = bodies[self.me].graph.nodes[node].span?;
        self.fresh();
        let (loads, ways) = self.nested(|this| this.ways(node));
        let ways = ways?;
        if ways.len() > MAX_NESTING {
            let message = format!("this has more than {MAX_NESTING} options");
            self.cx.error_at(message, ways[0].edge.token);
            return None;
        }
        let enabled: Vec<Code> = ways.iter().map(|w| w.enabled.clone()).collect();
        let is_true = |c: &Code| matches!(c, Expr::Const(c) if *c != 0);
        let is_sure = enabled.iter().any(is_true) || self.has_sure_else(&ways);
        let token = match ways.first() {
            Some(way) => way.edge.token,
            None => bodies[self.me].proctype.name.token,
        };
        // The step of a single way is shown at its own place.
        let span = match &ways[..] {
            [way] => way.edge.span,
            _ => span,
        };
        // Who computes before it waits stays where it is.
        let computes = !loads.is_empty() || self.cx.asks_labels;
        let graph = &bodies[self.me].graph;
        let is_inside = graph.nodes[node].edges.iter().all(|e| e.d_step.is_some() && !e.begins);
        if is_sure {
            self.out.extend(loads);
        } else if is_inside {
            // It may not wait there.
            self.out.extend(loads);
            let one = self.bounded(any(&enabled), token)?;
            self.emit(StmtKind::Assert(one), span);
        } else if computes {
            let one = self.bounded(any(&enabled), token)?;
            self.emit(StmtKind::Await(loads, one), span);
        } else {
            let one = self.bounded(any(&enabled), token)?;
            self.emit(StmtKind::Assume(one), span);
        }
        let mark = self.in_use;
        let mut bodies = Vec::new();
        for way in &ways {
            self.in_use = mark;
            let (body, done) = self.nested(|this| {
                let known = this.loaded.clone();
                let done = this.go(way, node);
                this.loaded = known;
                done
            });
            done?;
            bodies.push(body);
        }
        self.in_use = mark;
        let other = |i: usize| {
            matches!(ways[i].edge.action, Action::Else(_)) && ways[i].rank == ways[1 - i].rank
        };
        match bodies.len() {
            // It waits for ever.
            0 => {}
            1 => self.out.append(&mut bodies[0]),
            2 if is_sure && !enabled.iter().any(is_true) && (other(0) || other(1)) => {
                let no = usize::from(other(1));
                let rest = mem::take(&mut bodies[no]);
                let yes = mem::take(&mut bodies[1 - no]);
                let condition = enabled[1 - no].clone();
                self.emit(StmtKind::If(condition, yes, rest), span);
            }
            _ if enabled.iter().all(is_true) => self.emit(StmtKind::Choose(bodies), span),
            _ => {
                let taken = self.take_one(&enabled, span)?;
                self.dispatch(taken, bodies, span);
            }
        }
        Some(())
    }

    /// Whether one way is an `else` of all others, so that some way is always possible.
    fn has_sure_else(&self, ways: &[Way<'m, 't>]) -> bool {
        self.cx.hand.is_none()
            && self.bodies[self.me].proctype.provided.is_none()
            && !ways.iter().any(|way| way.rank > 0)
            && !ways.iter().any(|way| matches!(way.transfer, Some(Transfer::Pick(_))))
            && ways.iter().any(|way| match way.edge.action {
                Action::Else(group) => ways.iter().all(|w| w.edge.is_in(group)),
                _ => false,
            })
    }

    /// The ways to go on from a place, with the loads that their conditions need.
    fn ways(&mut self, node: NodeId) -> Option<Vec<Way<'m, 't>>> {
        let bodies = self.bodies;
        let graph = &bodies[self.me].graph;
        // Where `unless` leads, each place once.
        let mut ranked: Vec<(usize, Edge<'m, 't>)> = Vec::new();
        let mut escapes: Vec<(usize, NodeId)> = Vec::new();
        let deepest = graph.nodes[node].edges.iter().map(|e| e.escapes.len()).max().unwrap_or(0);
        for edge in &graph.nodes[node].edges {
            for (rank, escape) in edge.escapes.iter().enumerate() {
                let escape = graph.resolve(*escape);
                if !escapes.contains(&(rank, escape)) {
                    escapes.push((rank, escape));
                }
            }
        }
        escapes.sort_unstable();
        for (rank, escape) in &escapes {
            for edge in &graph.nodes[*escape].edges {
                ranked.push((*rank, Edge { escapes: Rc::default(), ..edge.clone() }));
            }
        }
        for edge in &graph.nodes[node].edges {
            ranked.push((deepest, edge.clone()));
        }
        // All loads first.
        for (_, edge) in &ranked {
            self.scope = edge.scope;
            match edge.action {
                Action::Guard(e) if !matches!(e.kind, ExprKind::Run(..)) => self.prepare(e)?,
                Action::Below(_, e) => self.prepare(e)?,
                _ => {}
            }
        }
        let mut ways: Vec<Way<'m, 't>> = Vec::new();
        for (rank, edge) in ranked {
            self.scope = edge.scope;
            let way = |enabled, transfer| Way { edge: edge.clone(), enabled, transfer, rank };
            match edge.action {
                Action::Guard(e) if matches!(e.kind, ExprKind::Timeout) => {
                    let enabled = match self.in_timeout {
                        true => Expr::Const(0),
                        false => self.timeout(edge.span)?,
                    };
                    ways.push(way(enabled, None));
                }
                Action::Guard(e) if !matches!(e.kind, ExprKind::Run(..)) => {
                    let enabled = self.compute(e)?.code;
                    ways.push(way(enabled, None));
                }
                Action::Below(place, e) => {
                    let low = self.read_place(place, edge.token)?;
                    let high = self.compute(e)?;
                    let below = Value::binary(BinOp::Lt, low, high).code;
                    ways.push(way(below, None));
                }
                Action::Send(send) => {
                    for (enabled, transfer) in self.sends(send, edge.span)? {
                        ways.push(way(enabled, Some(transfer)));
                    }
                }
                Action::Receive(receive) => {
                    for (enabled, transfer) in self.receives(receive, node, &edge)? {
                        ways.push(way(enabled, Some(transfer)));
                    }
                }
                _ => ways.push(way(Expr::Const(1), None)),
            }
        }
        for i in 0..ways.len() {
            if let Action::Else(group) = ways[i].edge.action {
                let others =
                    ways.iter().enumerate().filter(|(j, w)| *j != i && w.edge.is_in(group));
                let others: Vec<Code> = others.map(|(_, w)| w.enabled.clone()).collect();
                ways[i].enabled = self.bounded(not(any(&others)), ways[i].edge.token)?;
            }
        }
        // What `unless` leads to goes first.
        if deepest > 0 {
            for i in 0..ways.len() {
                let first: Vec<Code> = ways
                    .iter()
                    .filter(|w| w.rank < ways[i].rank)
                    .map(|w| w.enabled.clone())
                    .collect();
                if !first.is_empty() {
                    let enabled = all(&[not(any(&first)), ways[i].enabled.clone()]);
                    ways[i].enabled = self.bounded(enabled, ways[i].edge.token)?;
                }
            }
        }
        // Inside of a `d_step`, the first option that is possible is taken.
        let is_first = |i: usize| ways[i].edge.d_step == ways[0].edge.d_step;
        if ways.first().is_some_and(|w| w.edge.d_step.is_some()) && (0..ways.len()).all(is_first) {
            for i in (1..ways.len()).rev() {
                let before: Vec<Code> = ways[..i].iter().map(|w| w.enabled.clone()).collect();
                let enabled = all(&[ways[i].enabled.clone(), not(any(&before))]);
                ways[i].enabled = self.bounded(enabled, ways[i].edge.token)?;
            }
        }
        self.restrict(&mut ways, node)?;
        Some(ways)
    }

    /// What has to be true for any step of the process.
    fn restrict(&mut self, ways: &mut [Way<'m, 't>], node: NodeId) -> Option<()> {
        let bodies = self.bodies;
        let body = &bodies[self.me];
        let Some(span) = ways.first().map(|w| w.edge.span) else { return Some(()) };
        if let Some(provided) = &body.proctype.provided {
            self.scope = 0;
            let holds = self.value(provided)?.code;
            for way in &mut *ways {
                way.enabled = all(&[way.enabled.clone(), holds.clone()]);
            }
        }
        let is_pick = |way: &Way<'m, 't>| matches!(way.transfer, Some(Transfer::Pick(_)));
        if let Some(hand) = self.cx.hand {
            let hand = Expr::Atom(self.load(Place::var(hand), span)?);
            let mine = binary(BinOp::Eq, hand.clone(), Expr::Const(self.me as i128 + 1));
            for way in &mut *ways {
                let may = if is_pick(way) { mine.clone() } else { not(hand.clone()) };
                way.enabled = all(&[may, way.enabled.clone()]);
            }
        } else if let Some(meeting) = body.meeting.filter(|_| body.meets_at(node)) {
            let got = Expr::Atom(self.load(Place::var(meeting.got), span)?);
            for way in ways.iter_mut().filter(|way| !is_pick(way)) {
                way.enabled = all(&[way.enabled.clone(), not(got.clone())]);
            }
        }
        Some(())
    }

    /// What a way does, and where it leads.
    fn go(&mut self, way: &Way<'m, 't>, from: NodeId) -> Option<()> {
        let edge = &way.edge;
        self.scope = edge.scope;
        match &way.transfer {
            Some(transfer) => self.transfer(transfer, edge)?,
            None => self.effect(edge)?,
        }
        let bodies = self.bodies;
        let body = &bodies[self.me];
        let to = edge.to;
        if body.meets_at(to) {
            self.scope = edge.scope;
            self.enter(to, edge.span)?;
        } else if body.meets_at(from)
            && let Some(meeting) = body.meeting
        {
            self.emit(StmtKind::Store(Place::var(meeting.at), Expr::Const(0)), edge.span);
        }
        self.move_to(to, edge.span);
        let region = body.graph.nodes[to].region;
        let is_met = matches!(way.transfer, Some(Transfer::Meet(_)));
        let keeps = edge.region.is_some()
            && region.is_some()
            && (edge.region == region || edge.jumps)
            && !is_met
            && self.inner.is_some();
        match keeps {
            true => self.go_inside(to, edge.span),
            false => self.go_to(to, edge.span),
        }
    }

    /// Says where the process stands, if others have to know.
    fn move_to(&mut self, node: NodeId, span: Span) {
        if let Some(counter) = self.bodies[self.me].counter {
            let here = Expr::Const(node as i128);
            self.emit(StmtKind::Store(Place::var(counter), here), span);
        }
    }

    /// Whether no process can take a step, those that wait for this aside.
    fn timeout(&mut self, span: Span) -> Option<Code> {
        let possible = self.temporary(span)?;
        self.emit(StmtKind::Assign(possible, Expr::Const(0)), span);
        let own = (self.me, self.scope);
        let was = mem::replace(&mut self.in_timeout, true);
        for process in 0..self.bodies.len() {
            let body = &self.bodies[process];
            let at = Expr::Atom(self.load(Place::var(body.counter?), span)?);
            for (node, place) in body.graph.nodes.iter().enumerate() {
                let dies = self.cx.running.filter(|_| node == body.graph.end);
                if place.edges.is_empty() && dies.is_none() {
                    continue;
                }
                let mark = self.in_use;
                let (block, done) = self.apart(|this| {
                    (this.me, this.scope) = (process, 0);
                    let enabled = match dies {
                        Some(running) => {
                            let count = Expr::Atom(this.load(Place::var(running), span)?);
                            let pid = match &body.begin {
                                Begin::Run { pid: Some(pid), .. } => {
                                    Expr::Atom(this.load(Place::var(*pid), span)?)
                                }
                                _ => Expr::Const(body.pid),
                            };
                            binary(BinOp::Eq, count, binary(BinOp::Add, pid, Expr::Const(1)))
                        }
                        None => {
                            let ways = this.ways(node)?;
                            any(&ways.into_iter().map(|w| w.enabled).collect::<Vec<_>>())
                        }
                    };
                    let enabled = this.bounded(enabled, body.proctype.name.token)?;
                    let either = any(&[Expr::Atom(possible), enabled]);
                    this.emit(StmtKind::Assign(possible, fold::truth(either)), span);
                    Some(())
                });
                (self.me, self.scope) = own;
                self.in_use = mark;
                done?;
                let here = binary(BinOp::Eq, at.clone(), Expr::Const(node as i128));
                self.emit(StmtKind::If(here, block, Vec::new()), span);
                if self.is_too_long() {
                    return None;
                }
            }
        }
        // Processes that have been run and have not begun.
        for body in self.bodies {
            if let Begin::Run { flag, .. } = &body.begin {
                let at = Expr::Atom(self.load(Place::var(body.counter?), span)?);
                let flag = Expr::Atom(self.load(Place::var(*flag), span)?);
                let waits = all(&[flag, binary(BinOp::Eq, at, Expr::Const(-1))]);
                let begins = any(&[Expr::Atom(possible), waits]);
                self.emit(StmtKind::Assign(possible, fold::truth(begins)), span);
            }
        }
        self.in_timeout = was;
        Some(not(Expr::Atom(possible)))
    }

    fn go_inside(&mut self, node: NodeId, span: Span) -> Option<()> {
        let known = self.inner.as_ref().and_then(|inner| inner.places.get(&node).copied());
        let label = match known {
            Some(label) => label,
            None => {
                let label = self.new_label("in", span)?;
                if self.cx.places {
                    self.generated.remove(&label);
                }
                let inner = self.inner.as_mut()?;
                inner.places.insert(node, label);
                inner.queue.push(node);
                label
            }
        };
        self.emit(StmtKind::Goto(label), span);
        Some(())
    }

    fn go_to(&mut self, node: NodeId, span: Span) -> Option<()> {
        let node = self.fences(node);
        self.queue.push(node);
        let label = self.place_label(node, span)?;
        self.emit(StmtKind::Goto(label), span);
        Some(())
    }

    /// Writes the fences that stand alone at a place, and gives what comes after them: a process
    /// with a fence has the places that it has without.
    fn fences(&mut self, node: NodeId) -> NodeId {
        let bodies = self.bodies;
        let body = &bodies[self.me];
        let mut node = node;
        for _ in 0..body.graph.nodes.len() {
            let place = &body.graph.nodes[node];
            let [edge] = &place.edges[..] else { break };
            let Action::Fence(kind) = edge.action else { break };
            let is_plain = place.labels.is_empty()
                && place.region.is_none()
                && edge.escapes.is_empty()
                && !self.is_full(node)
                && body.proctype.provided.is_none();
            if !is_plain || body.meets_at(edge.to) {
                break;
            }
            self.emit(StmtKind::Fence(kind), edge.span);
            node = edge.to;
        }
        node
    }

    fn place_label(&mut self, node: NodeId, span: Span) -> Option<LabelId> {
        if let Some(label) = self.places.get(&node) {
            return Some(*label);
        }
        let label = self.new_label("at", span)?;
        self.places.insert(node, label);
        Some(label)
    }

    /// Chooses one of the ways that are enabled: a later one may take the place of an
    /// earlier one, or not.
    fn take_one(&mut self, enabled: &[Code], span: Span) -> Option<RegId> {
        let taken = self.temporary(span)?;
        let none = Expr::Const(-1);
        let set = |i: usize| StmtKind::Assign(taken, Expr::Const(i as i128));
        self.emit(StmtKind::Assign(taken, none.clone()), span);
        for (i, condition) in enabled.iter().enumerate() {
            let (this_one, ()) = self.nested(|this| {
                if i == 0 {
                    return this.emit(set(i), span);
                }
                let (only, ()) = this.nested(|this| this.emit(set(i), span));
                let (either, ()) = this.nested(|this| {
                    let (change, ()) = this.nested(|this| this.emit(set(i), span));
                    this.emit(StmtKind::Choose(vec![change, Vec::new()]), span);
                });
                let first = binary(BinOp::Eq, Expr::Atom(taken), none.clone());
                this.emit(StmtKind::If(first, only, either), span);
            });
            let condition = fold::truth(condition.clone());
            match condition {
                Expr::Const(0) => {}
                Expr::Const(_) => self.out.extend(this_one),
                _ => self.emit(StmtKind::If(condition, this_one, Vec::new()), span),
            }
        }
        Some(taken)
    }

    fn dispatch(&mut self, taken: RegId, bodies: Vec<Vec<Stmt>>, span: Span) {
        let mut bodies: Vec<(usize, Vec<Stmt>)> = bodies.into_iter().enumerate().collect();
        let mut rest = bodies.pop().map(|(_, body)| body).unwrap_or_default();
        while let Some((i, body)) = bodies.pop() {
            let here = binary(BinOp::Eq, Expr::Atom(taken), Expr::Const(i as i128));
            let (chain, ()) = self.nested(|this| this.emit(StmtKind::If(here, body, rest), span));
            rest = chain;
        }
        self.out.append(&mut rest);
    }

    /// The number of this process.
    pub fn own_pid(&self) -> Value {
        match self.pid {
            Some(register) => Value { code: Expr::Atom(register), bounds: Type::Byte.bounds() },
            None => match &self.bodies[self.me].begin {
                Begin::Run { pid: Some(_), .. } => {
                    Value { code: Expr::Const(self.bodies[self.me].pid), bounds: Bounds::ANY }
                }
                _ => Value::constant(self.bodies[self.me].pid),
            },
        }
    }

    /// Nothing is loaded, and no temporary holds anything.
    fn fresh(&mut self) {
        self.loaded.clear();
        self.in_use = 0;
    }

    /// Adds a statement to the block that is being written.
    pub fn emit(&mut self, kind: StmtKind, span: Span) {
        self.statements += 1;
        let range = span.range();
        if self.blocks > MAX_NESTING {
            let message = format!("this nests more than {MAX_NESTING} deep");
            return self.cx.errors.push(crate::Diagnostic::new(message, range));
        }
        if self.is_too_long() {
            let name = quote(&self.bodies[self.me].name);
            let message = format!("process {name} has more than {MAX_NUMBERED} statements");
            return self.cx.errors.push(crate::Diagnostic::new(message, range));
        }
        let span = self.cx.span(span);
        self.out.push(Stmt::new(kind, span));
    }

    pub fn is_too_long(&self) -> bool {
        self.statements > MAX_NUMBERED
    }

    /// What `write` writes, as a block of its own.
    pub fn nested<R>(&mut self, write: impl FnOnce(&mut Self) -> R) -> (Vec<Stmt>, R) {
        let around = mem::take(&mut self.out);
        self.blocks += 1;
        let result = write(self);
        self.blocks -= 1;
        (mem::replace(&mut self.out, around), result)
    }

    /// The next temporary. `None` after an error.
    pub fn temporary(&mut self, span: Span) -> Option<RegId> {
        if self.in_use == self.temporaries.len() {
            let name = self.free_name(&format!("t{}", self.temporaries.len()));
            let id = self.add_register(name, 0, true, span)?;
            self.temporaries.push(id);
        }
        self.in_use += 1;
        Some(self.temporaries[self.in_use - 1])
    }

    /// A name that nothing else in the process has.
    fn free_name(&mut self, name: &str) -> String {
        let is_free =
            |n: &String| !self.taken.contains(n) && !self.cx.globals.contains_key(n.as_str());
        let mut names =
            std::iter::once(name.to_owned()).chain((0..).map(|i| format!("{name}_{i}")));
        let found = names.find(is_free).unwrap_or_default();
        self.taken.insert(found.clone());
        found
    }

    fn add_register(
        &mut self,
        name: String,
        init: i128,
        temporary: bool,
        span: Span,
    ) -> Option<RegId> {
        if self.registers.len() >= MAX_NUMBERED {
            let message = format!("a process may have at most {MAX_NUMBERED} local variables");
            self.cx.errors.push(crate::Diagnostic::new(message, span.range()));
            return None;
        }
        let id = RegId::new(self.registers.len());
        let display = format!("{}.{name}", self.bodies[self.me].name);
        let span = self.cx.span(span);
        self.registers.push(Register { name, display, domain: None, init, temporary, span });
        Some(id)
    }

    /// A label that is not in the text.
    fn new_label(&mut self, word: &str, span: Span) -> Option<LabelId> {
        if self.labels.len() >= MAX_NUMBERED {
            let message = format!("a process may have at most {MAX_NUMBERED} labels");
            self.cx.errors.push(crate::Diagnostic::new(message, span.range()));
            return None;
        }
        let known = &self.bodies[self.me].label_ids;
        let from = self.labels.len();
        let mut names = (from..).map(|i| format!("{word}{i}"));
        let name = match word {
            "start" | "ended" if !known.contains_key(word) => word.to_owned(),
            _ => names.find(|n| !known.contains_key(n.as_str()))?,
        };
        let id = LabelId::new(self.labels.len());
        let span = self.cx.span(span);
        self.labels.push(Label { name, span });
        if !matches!(word, "start" | "ended") {
            self.generated.insert(id);
        }
        Some(id)
    }

    /// Reports code that nests too deep to be worked with.
    pub fn bounded(&mut self, code: Code, token: Token<'t>) -> Option<Code> {
        if fold::depth(&code) < MAX_NESTING {
            return Some(code);
        }
        let message = format!("this expression nests more than {MAX_NESTING} deep");
        self.cx.error_at(message, token);
        None
    }
}
