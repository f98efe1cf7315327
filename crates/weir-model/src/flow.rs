//! Control flow: the structured body of a process as a graph of nodes.
//!
//! The step between a [`Program`](crate::program::Program) and a
//! [`System`](crate::system::System). Here every `goto`, `break` and `continue` is an
//! edge, and each node knows its live registers ([`Flow::live`]): control states that
//! differ only in other registers are identified.

use std::collections::{HashMap, HashSet};

use crate::ids::{LabelId, MethodId, RegId, SpanId};
use crate::limits::{Budget, Stop};
use crate::program::{AtomicKind, Code, Expr, FenceKind, Place, Process, Rmw, Stmt, StmtKind};

/// The index of a node in [`Flow::nodes`].
pub(crate) type NodeId = usize;

/// What happens at a node; each names the nodes that come after it.
#[derive(Debug)]
pub(crate) enum Node {
    /// The process has ended.
    End,
    /// Structure without a statement: the process is never seen here, unless a
    /// label stands here.
    Jump(NodeId),
    /// A statement that only goes elsewhere: `goto`, `break`, `continue`, `exit`.
    Goto(NodeId),
    Nop(NodeId),
    Assign(RegId, Code, NodeId),
    Any(RegId, Box<[i128]>, NodeId),
    Load(RegId, Place, NodeId),
    Store(Place, Code, NodeId),
    Rmw(RegId, Place, Rmw, NodeId),
    Fence(FenceKind, NodeId),
    Assume(Code, NodeId),
    Assert(Code, NodeId),
    Branch(Code, NodeId, NodeId),
    Choose(Vec<NodeId>),
    /// One of the calls.
    Call(Vec<CallWay>),
    Return(MethodId, Option<Code>, NodeId),
}

/// A call: the method, where its argument goes and what it may be, and the body.
pub(crate) type CallWay = (MethodId, Option<(RegId, Box<[i128]>)>, NodeId);

/// A node with where it came from.
#[derive(Debug)]
pub(crate) struct Located {
    pub node: Node,
    pub span: SpanId,
    /// Labels that stand here, of those that are asked about.
    pub labels: Vec<LabelId>,
    /// Whether some label stands here, asked about or not.
    pub is_place: bool,
    /// The `await` that it is inside of, if any, by the node of its test.
    pub within: Option<NodeId>,
    /// Whether it is inside of a call.
    pub in_call: bool,
    /// The atomic block in the middle of which it is, if any.
    pub lock: Option<AtomicKind>,
    /// Whether it is inside of a block that is atomic under all models: its access is an atomic
    /// read-write.
    pub is_direct: bool,
}

/// The control flow of one process.
#[derive(Debug)]
pub(crate) struct Flow {
    pub nodes: Vec<Located>,
    pub entry: NodeId,
    /// For each node, the registers whose value may still be used from there on.
    pub live: Vec<Vec<bool>>,
    /// The nodes at which the process may stand, in the order of the code: their places here
    /// are their numbers in files and listings.
    numbered: Vec<NodeId>,
    numbers: Vec<usize>,
    /// For each node its position in reverse postorder. Every loop has an edge that goes back in
    /// this order.
    order: Vec<usize>,
}

impl Flow {
    /// The control flow of `process`. `marked` are the labels that a property
    /// asks about: only those have a name in [`Located::labels`]. Registers in
    /// `observed` are live everywhere.
    ///
    /// # Errors
    /// If a limit is reached.
    pub fn new(
        process: &Process,
        marked: &[bool],
        observed: &[bool],
        budget: &Budget,
    ) -> Result<Self, Stop> {
        let mut builder = Builder {
            nodes: vec![],
            labels: HashMap::new(),
            loops: vec![],
            within: None,
            call: None,
            lock: None,
            guarded: None,
            waits: HashMap::new(),
            marked,
            end: 0,
        };
        builder.end = builder.add(Node::End, SpanId::NONE);
        let entry = builder.block(&process.body, builder.end);
        // A process that ends at a label stands there.
        if let Some(StmtKind::Label(last)) = process.body.last().map(|s| &s.kind) {
            let place = builder.labels[last];
            if !builder.nodes[place].labels.is_empty() {
                builder.nodes[place].node = Node::End;
            }
        }
        let mut nodes = builder.nodes;
        // A process in a loop without any statement stands there.
        for node in 0..nodes.len() {
            let after = |n: NodeId| match nodes[n].node {
                Node::Jump(next) => Some(next),
                _ => None,
            };
            let way = std::iter::successors(after(node), |&n| after(n).filter(|_| n != node));
            nodes[node].is_place |= way.take(nodes.len()).any(|n| n == node);
        }
        let live = live(&nodes, process.registers.len(), observed, budget)?;
        let (numbers, order) = (vec![0; nodes.len()], vec![0; nodes.len()]);
        let mut flow = Self { nodes, entry, live, numbered: vec![], numbers, order };
        flow.number();
        flow.sort();
        Ok(flow)
    }

    fn number(&mut self) {
        let mut seen = vec![false; self.nodes.len()];
        let mut open = vec![self.entry];
        while let Some(node) = open.pop() {
            if std::mem::replace(&mut seen[node], true) {
                continue;
            }
            if !self.is_transparent(node) {
                self.numbers[node] = self.numbered.len();
                self.numbered.push(node);
            }
            open.extend(self.nodes[node].node.successors().into_iter().rev());
        }
    }

    /// Puts the nodes in reverse postorder.
    fn sort(&mut self) {
        let mut seen = vec![false; self.nodes.len()];
        let mut left = self.nodes.len();
        let mut open = vec![(self.entry, false)];
        while let Some((node, done)) = open.pop() {
            if done {
                left -= 1;
                self.order[node] = left;
            } else if !std::mem::replace(&mut seen[node], true) {
                open.push((node, true));
                let successors = self.nodes[node].node.successors();
                open.extend(successors.into_iter().map(|next| (next, false)));
            }
        }
    }

    /// Whether one node comes before another in reverse postorder.
    pub fn is_before(&self, a: NodeId, b: NodeId) -> bool {
        self.order[a] < self.order[b]
    }

    /// The number of a node at which the process may stand.
    pub fn number_of(&self, node: NodeId) -> usize {
        self.numbers[node]
    }

    /// The node of a number.
    pub fn numbered(&self, number: usize) -> Option<NodeId> {
        self.numbered.get(number).copied()
    }

    /// Whether the node is structure, at which no process is ever seen.
    pub fn is_transparent(&self, node: NodeId) -> bool {
        let located = &self.nodes[node];
        matches!(located.node, Node::Jump(_)) && !located.is_place
    }
}

struct Builder<'m> {
    nodes: Vec<Located>,
    /// Where a label leads; a jump node that is filled in when the label is met.
    labels: HashMap<LabelId, NodeId>,
    /// For each enclosing loop, its head and what comes after it.
    loops: Vec<(NodeId, NodeId)>,
    within: Option<NodeId>,
    /// The method around, and what comes after its `return`.
    call: Option<(MethodId, NodeId)>,
    /// The atomic block around.
    lock: Option<AtomicKind>,
    /// The beginning of the atomic block around, if it has guards, and the statements before which
    /// the block writes nothing.
    guarded: Option<(NodeId, HashSet<*const Stmt>)>,
    /// For an `await` in an atomic block, by its first node: the value of `within` of its waiting
    /// nodes.
    waits: HashMap<NodeId, NodeId>,
    marked: &'m [bool],
    end: NodeId,
}

impl Builder<'_> {
    fn add(&mut self, node: Node, span: SpanId) -> NodeId {
        let (within, in_call, lock) = (self.within, self.call.is_some(), self.lock);
        self.nodes.push(Located {
            node,
            span,
            labels: vec![],
            is_place: false,
            within,
            in_call,
            lock,
            is_direct: lock == Some(AtomicKind::Full),
        });
        self.nodes.len() - 1
    }

    fn label(&mut self, label: LabelId, span: SpanId) -> NodeId {
        if let Some(&node) = self.labels.get(&label) {
            return node;
        }
        let node = self.add(Node::Jump(self.end), span);
        self.labels.insert(label, node);
        node
    }

    /// Builds backwards, so that each statement knows what comes after it.
    ///
    /// A label holds at the nodes of the statement that follows it
    /// ([`Builder::places`]). Where none follows in its block, it is a place of its
    /// own, which the process leaves by a local step. Where a process stands does not
    /// depend on which labels are asked about.
    fn block(&mut self, stmts: &[Stmt], mut next: NodeId) -> NodeId {
        let mut places = vec![];
        for stmt in stmts.iter().rev() {
            if let StmtKind::Label(label) = stmt.kind {
                let node = self.label(label, stmt.span);
                self.nodes[node].node = Node::Jump(next);
                self.nodes[node].lock = self.lock;
                if places.is_empty() {
                    places.push(node);
                }
                for &place in &places {
                    self.nodes[place].is_place = true;
                    if self.marked[label.index()] {
                        self.nodes[place].labels.push(label);
                    }
                }
                next = node;
            } else {
                next = self.stmt(stmt, next);
                places = self.places(stmt, next);
            }
        }
        next
    }

    /// The nodes at which a statement is next, given the node that it begins with.
    ///
    /// A loop is next whenever its head is reached, until the first statement of
    /// its body has been executed; if the body begins with a label or with another
    /// loop, only at the head itself. A process waits at an `await` as a whole.
    fn places(&self, stmt: &Stmt, entry: NodeId) -> Vec<NodeId> {
        match &stmt.kind {
            StmtKind::Loop(body) => {
                let mut places = vec![entry];
                if let Some(first) = body.first()
                    && !matches!(first.kind, StmtKind::Label(_) | StmtKind::Loop(_))
                {
                    places.extend(self.places(first, self.nodes[entry].node.successors()[0]));
                }
                places
            }
            StmtKind::Await(..) => {
                // Who waits in the middle of an atomic block is seen there.
                let waits = self.waits.get(&entry).copied();
                let Some(test) = waits.or(self.nodes[entry].within) else { return vec![entry] };
                let is_at = |n: usize| n == entry || self.nodes[n].within == Some(test);
                (0..self.nodes.len()).filter(|&n| is_at(n)).collect()
            }
            StmtKind::Atomic(_, body) => match body.first() {
                Some(first) if begins_with_access(body) => self.places(first, entry),
                // Who has entered the block to wait is still there.
                Some(first @ Stmt { kind: StmtKind::Await(..), .. }) => {
                    let wait = match self.lock {
                        Some(_) => entry,
                        None => self.nodes[entry].node.successors()[0],
                    };
                    let mut places = self.places(first, wait);
                    if !places.contains(&entry) {
                        places.push(entry);
                    }
                    places
                }
                _ => vec![entry],
            },
            _ => vec![entry],
        }
    }

    fn stmt(&mut self, stmt: &Stmt, next: NodeId) -> NodeId {
        let outer = self.within;
        let again = self.guarded.as_ref().map(|(again, _)| *again);
        // Before its first write a block with guards has done nothing: it waits.
        if again.is_some() && (outer.is_none() || outer == again) {
            self.within = self.beginning(stmt);
        }
        let node = self.one(stmt, next);
        self.within = outer;
        node
    }

    /// The beginning of the atomic block around a statement before which it writes nothing.
    fn beginning(&self, stmt: &Stmt) -> Option<NodeId> {
        let (again, before) = self.guarded.as_ref()?;
        before.contains(&std::ptr::from_ref(stmt)).then_some(*again)
    }

    fn one(&mut self, stmt: &Stmt, next: NodeId) -> NodeId {
        let span = stmt.span;
        let node = match &stmt.kind {
            StmtKind::Label(_) => unreachable!("labels are met in their block"),
            StmtKind::Nop => Node::Nop(next),
            StmtKind::Assign(reg, code) => Node::Assign(*reg, code.clone(), next),
            StmtKind::Any(reg, values) => Node::Any(*reg, values[..].into(), next),
            StmtKind::Load(reg, place) => Node::Load(*reg, place.clone(), next),
            StmtKind::Store(place, code) => Node::Store(place.clone(), code.clone(), next),
            StmtKind::Rmw(reg, place, rmw) => Node::Rmw(*reg, place.clone(), rmw.clone(), next),
            StmtKind::Fence(kind) => Node::Fence(*kind, next),
            // A guard that does not hold: nothing has happened. Later, who stops for ever does
            // not stop the others.
            StmtKind::Assume(code) if self.lock.is_some() => {
                let stop = self.beginning(stmt).unwrap_or_else(|| {
                    let lock = self.lock.take();
                    let stop = self.add(Node::Assume(Expr::Const(0), next), span);
                    self.lock = lock;
                    stop
                });
                Node::Branch(code.clone(), next, stop)
            }
            StmtKind::Assume(code) => Node::Assume(code.clone(), next),
            StmtKind::Assert(code) => Node::Assert(code.clone(), next),
            StmtKind::If(code, then, other) => {
                let then = self.block(then, next);
                let other = self.block(other, next);
                Node::Branch(code.clone(), then, other)
            }
            StmtKind::Loop(body) => {
                let head = self.add(Node::Jump(next), span);
                self.loops.push((head, next));
                let body = self.block(body, head);
                self.loops.pop();
                self.nodes[head].node = Node::Jump(body);
                return head;
            }
            StmtKind::Break => Node::Goto(self.loops.last().map_or(self.end, |l| l.1)),
            StmtKind::Continue => Node::Goto(self.loops.last().map_or(self.end, |l| l.0)),
            StmtKind::Goto(label) => Node::Goto(self.label(*label, span)),
            StmtKind::Choose(blocks) => {
                Node::Choose(blocks.iter().map(|b| self.block(b, next)).collect())
            }
            StmtKind::Await(block, code) => {
                return self.awaiting(block, code, span, next);
            }
            StmtKind::Atomic(kind, body) => return self.atomic(*kind, body, span, next),
            StmtKind::Exit => Node::Goto(self.end),
            StmtKind::Call(calls) => {
                let mut ways = Vec::new();
                for call in calls {
                    let outer = self.call.replace((call.method, next));
                    let end = self.add(Node::Return(call.method, None, next), span);
                    let argument =
                        call.argument.as_ref().map(|(r, values)| (*r, values[..].into()));
                    ways.push((call.method, argument, self.block(&call.body, end)));
                    self.call = outer;
                }
                Node::Call(ways)
            }
            StmtKind::Return(code) => match self.call {
                Some((method, after)) => Node::Return(method, code.clone(), after),
                None => Node::Goto(self.end),
            },
        };
        self.add(node, span)
    }
}

impl Builder<'_> {
    /// An `await`.
    fn awaiting(&mut self, block: &[Stmt], code: &Code, span: SpanId, next: NodeId) -> NodeId {
        let waiting = self.waiting((block, code), span, next, None);
        if self.lock.is_none() {
            return waiting;
        }
        // Only who has to wait lets the others go on.
        let test = self.add(Node::Branch(code.clone(), next, waiting), span);
        let entry = self.block(block, test);
        if let Some(within) = self.nodes[waiting].within {
            self.waits.insert(entry, within);
        }
        entry
    }

    /// The nodes of an `await`. In an atomic block the other processes go on while it waits: they
    /// are locked out from its first access on.
    ///
    /// If it begins a block with guards, which lead to `again` if they are false, all of that is
    /// waiting.
    fn waiting(
        &mut self,
        (block, code): (&[Stmt], &Code),
        span: SpanId,
        next: NodeId,
        again: Option<NodeId>,
    ) -> NodeId {
        let test = self.add(Node::Jump(next), span);
        let outer = self.within.replace(again.unwrap_or(test));
        self.nodes[test].within = self.within;
        let entry = self.block(block, test);
        self.nodes[test].node = Node::Branch(code.clone(), next, entry);
        self.within = outer;
        self.unlock(entry, test);
        entry
    }

    /// An atomic block. Its first access locks the other processes out; if the block begins with
    /// something else, a step of its own does.
    fn atomic(&mut self, kind: AtomicKind, body: &[Stmt], span: SpanId, next: NodeId) -> NodeId {
        let outer = self.lock;
        let mut before = HashSet::new();
        before_writes(body, &mut before);
        let has_guard = kind == AtomicKind::Full && outer.is_none() && has_guard(body, &before);
        if has_guard {
            let again = self.add(Node::Jump(next), span);
            self.guarded = Some((again, before));
        }
        self.lock = outer.max(Some(kind));
        let first = self.nodes.len();
        let entry = match body {
            [Stmt { kind: StmtKind::Await(block, code), span }, rest @ ..] if outer.is_none() => {
                let rest = self.block(rest, next);
                let again = self.guarded.as_ref().map(|(again, _)| *again);
                self.waiting((block, code), *span, rest, again)
            }
            _ => self.block(body, next),
        };
        self.lock = outer;
        if outer.is_some() {
            return entry;
        }
        let guarded = self.guarded.take();
        let entry = match begins_with_access(body) {
            true => {
                self.unlock(entry, first);
                entry
            }
            false => {
                let enter = match kind {
                    AtomicKind::Statement => Node::Nop(entry),
                    AtomicKind::Full => Node::Fence(FenceKind::Full, entry),
                };
                let enter = self.add(enter, span);
                self.nodes[enter].within = guarded.as_ref().map(|(again, _)| *again);
                enter
            }
        };
        if let Some((again, _)) = guarded {
            self.nodes[again].node = Node::Jump(entry);
            self.nodes[again].within = Some(again);
        }
        entry
    }

    /// Unlocks the nodes from this one up to the next step, as far as they were created after the
    /// node `first`.
    fn unlock(&mut self, entry: NodeId, first: NodeId) {
        let mut seen = vec![false; self.nodes.len()];
        let mut open = vec![entry];
        while let Some(node) = open.pop() {
            if node < first || std::mem::replace(&mut seen[node], true) {
                continue;
            }
            self.nodes[node].lock = None;
            let node = &self.nodes[node].node;
            if !node.is_step() && !matches!(node, Node::Any(..) | Node::Choose(_)) {
                open.extend(node.successors());
            }
        }
    }
}

/// Collects the statements of a block before which it neither writes nor loops on any path. Returns
/// whether the block may write or loop.
fn before_writes(block: &[Stmt], before: &mut HashSet<*const Stmt>) -> bool {
    for stmt in block {
        before.insert(stmt);
        let writes = match &stmt.kind {
            StmtKind::Store(..) | StmtKind::Rmw(..) => true,
            // A process that loops does not wait.
            StmtKind::Label(_) | StmtKind::Loop(_) => true,
            kind => {
                let ways = kind.blocks().into_iter();
                ways.fold(false, |writes, way| before_writes(way, before) | writes)
            }
        };
        if writes {
            return true;
        }
    }
    false
}

/// Whether one of these statements is an `assume`.
fn has_guard(block: &[Stmt], before: &HashSet<*const Stmt>) -> bool {
    block.iter().any(|stmt| {
        matches!(stmt.kind, StmtKind::Assume(_)) && before.contains(&std::ptr::from_ref(stmt))
            || stmt.kind.blocks().into_iter().any(|block| has_guard(block, before))
    })
}

/// Whether the first thing that a block does is an access.
fn begins_with_access(block: &[Stmt]) -> bool {
    match block.first().map(|stmt| &stmt.kind) {
        Some(StmtKind::Load(..) | StmtKind::Store(..) | StmtKind::Rmw(..)) => true,
        Some(StmtKind::Await(loads, _)) => begins_with_access(loads),
        _ => false,
    }
}

impl Node {
    pub fn successors(&self) -> Vec<NodeId> {
        match self {
            Node::End => vec![],
            Node::Jump(n)
            | Node::Goto(n)
            | Node::Nop(n)
            | Node::Assign(_, _, n)
            | Node::Any(_, _, n)
            | Node::Load(_, _, n)
            | Node::Store(_, _, n)
            | Node::Rmw(_, _, _, n)
            | Node::Fence(_, n)
            | Node::Assume(_, n)
            | Node::Assert(_, n) => vec![*n],
            Node::Branch(_, a, b) => vec![*a, *b],
            Node::Choose(nodes) => nodes.clone(),
            Node::Call(ways) => ways.iter().map(|way| way.2).collect(),
            Node::Return(_, _, n) => vec![*n],
        }
    }

    /// Whether the process takes a step here that other processes can observe.
    pub fn is_step(&self) -> bool {
        matches!(
            self,
            Node::Nop(_)
                | Node::Load(..)
                | Node::Store(..)
                | Node::Rmw(..)
                | Node::Fence(..)
                | Node::Call(_)
                | Node::Return(..)
        )
    }

    /// The register that the node sets on its way to its `i`th successor, if any.
    pub fn sets(&self, i: usize) -> Option<RegId> {
        match self {
            Node::Call(ways) => ways[i].1.as_ref().map(|(r, _)| *r),
            Node::Assign(r, ..) | Node::Any(r, ..) | Node::Load(r, ..) | Node::Rmw(r, ..) => {
                Some(*r)
            }
            _ => None,
        }
    }

    pub fn uses(&self, visit: &mut impl FnMut(&RegId)) {
        let place = |p: &Place, visit: &mut dyn FnMut(&RegId)| {
            if let Some(index) = &p.index {
                index.atoms(&mut |r| visit(r));
            }
        };
        match self {
            Node::Assign(_, c, _)
            | Node::Assume(c, _)
            | Node::Assert(c, _)
            | Node::Branch(c, _, _)
            | Node::Return(_, Some(c), _) => c.atoms(visit),
            Node::Load(_, p, _) => place(p, visit),
            Node::Store(p, c, _) => {
                place(p, visit);
                c.atoms(visit);
            }
            Node::Rmw(target, p, rmw, _) => {
                place(p, visit);
                match rmw {
                    Rmw::Cas { expected, new, .. } | Rmw::CasFlag { expected, new, .. } => {
                        expected.atoms(visit);
                        new.atoms(visit);
                    }
                    Rmw::Swap(c) | Rmw::Fetch(_, c) => Expr::atoms(c, visit),
                    Rmw::Update { when, new } => {
                        // The register stands for what is read, not for what it holds.
                        let mut others = |r: &RegId| {
                            if r != target {
                                visit(r);
                            }
                        };
                        when.atoms(&mut others);
                        new.atoms(&mut others);
                    }
                }
            }
            _ => {}
        }
    }
}

/// Live registers: a backward data-flow fixpoint, by a work list.
fn live(
    nodes: &[Located],
    registers: usize,
    observed: &[bool],
    budget: &Budget,
) -> Result<Vec<Vec<bool>>, Stop> {
    budget.check_room(nodes.len().saturating_mul(registers))?;
    let mut predecessors = vec![vec![]; nodes.len()];
    for (id, place) in nodes.iter().enumerate() {
        for next in place.node.successors() {
            predecessors[next].push(id);
        }
    }
    let mut live = vec![observed[..registers].to_vec(); nodes.len()];
    let mut work: Vec<NodeId> = (0..nodes.len()).collect();
    while let Some(id) = work.pop() {
        budget.tick()?;
        let node = &nodes[id].node;
        let mut now = observed[..registers].to_vec();
        for (i, next) in node.successors().into_iter().enumerate() {
            let set = node.sets(i);
            for (reg, is_live) in live[next].iter().enumerate() {
                now[reg] |= is_live & (set != Some(RegId::new(reg)));
            }
        }
        node.uses(&mut |r| now[r.index()] = true);
        if now != live[id] {
            live[id] = now;
            work.extend(&predecessors[id]);
        }
    }
    Ok(live)
}
