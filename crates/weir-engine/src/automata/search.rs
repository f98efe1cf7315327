//! The depth-first search of the paper, with sleep sets and accelerated cycles (section
//! 4, algorithms 1 to 3), and a breadth-first search with neither.
//!
//! The depth-first search proves properties. It may find a violation late: it follows one
//! process as long as it can, and buffers and their automata grow on the way. The
//! breadth-first search visits every configuration in the order of its distance, each once.
//! It finds short runs, and terminates only if buffers stay bounded. Both can be paused.

use std::ops::ControlFlow;
use std::time::Instant;

use rustc_hash::{FxHashMap, FxHashSet};
use weir_model::ids::Cell;
use weir_model::limits::{Budget, INTERVAL, Stop};
use weir_model::question::Question;
use weir_model::system::Expanded;

use super::cycle::{Cycles, Fold, Folding};
use super::language::Unmade;
use super::operations::{Action, Space, State};
use crate::stats::{Progress, SearchOptions, Stats};

/// The number of a stored state.
pub type NodeId = u32;

/// A stored state: an entry of the paper's table `H`.
#[derive(Clone, Debug)]
pub struct Node {
    /// The state, cycles folded in.
    pub state: State,
    /// Where it came from.
    pub parent: Option<(NodeId, Action)>,
    /// The cycle that was folded in, and the state from which it leads.
    pub fold: Option<(Fold, NodeId)>,
    /// The sleep set: actions that are explored from another state; sorted.
    sleep: Vec<Action>,
}

/// A step that was followed, for drawing.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    /// From where.
    pub from: NodeId,
    /// What happened.
    pub action: Action,
    /// The stored state that it leads into.
    pub to: NodeId,
    /// Whether a cycle was folded in on the way.
    pub is_folded: bool,
}

/// A state on the stack, and what is left to do there.
struct Frame {
    node: NodeId,
    /// What led here from the frame below.
    action: Option<Action>,
    todo: std::vec::IntoIter<(Action, State)>,
    /// Sorted.
    sleep: Vec<Action>,
}

/// In which order states are visited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Depth first, as in the paper.
    Depth {
        /// How cycles are folded in.
        folding: Folding,
        /// Whether steps whose order does not matter are left out.
        sleeps: bool,
    },
    /// Breadth first, every step by itself.
    Breadth,
}

/// What one step of a search found.
enum Stepped {
    /// The search goes on.
    On,
    /// There is nothing left.
    Over,
    /// What was found is enough.
    Enough,
}

/// A search.
pub struct Search<'s> {
    /// States and languages.
    pub space: Space<'s>,
    /// What is stored, in the order of discovery.
    pub nodes: Vec<Node>,
    /// The explored graph, if it is to be drawn.
    pub edges: Option<Vec<Edge>>,
    /// What it did.
    pub stats: Stats,
    order: Order,
    /// The initial states that have not been visited.
    initial: Box<dyn Iterator<Item = State> + 's>,
    /// Breadth first: the next state to expand, the next to report, and all states.
    next: usize,
    looked: usize,
    seen: FxHashSet<State>,
    cycles: Cycles,
    /// Stored states by control states and memory.
    buckets: FxHashMap<Box<[Cell]>, Vec<NodeId>>,
    stack: Vec<Frame>,
    /// Places on the stack by control states and memory.
    on_stack: FxHashMap<Box<[Cell]>, Vec<usize>>,
    bytes: usize,
}

/// Called with every stored state.
type OnStored<'l> = &'l mut dyn FnMut(&Search<'_>, NodeId) -> Result<ControlFlow<()>, Stop>;

impl<'s> Search<'s> {
    /// A search that has not begun.
    pub fn new(system: Expanded<'s>, order: Order, budget: &Budget) -> Self {
        let space = Space::new(system, budget);
        Self {
            initial: Box::new(space.initial()),
            space,
            nodes: vec![],
            edges: None,
            stats: Stats { engine: "automata", within_bound: true, ..Stats::default() },
            order,
            next: 0,
            looked: 0,
            seen: FxHashSet::default(),
            cycles: Cycles::default(),
            buckets: FxHashMap::default(),
            stack: vec![],
            on_stack: FxHashMap::default(),
            bytes: 0,
        }
    }

    /// How much it has done: steps, and the sizes of the automata that it made. The same
    /// on every machine.
    pub fn work(&self) -> usize {
        self.stats.steps + self.space.languages.work()
    }

    /// Searches until there is nothing left, `on_stored` breaks, or a limit is hit: then
    /// `stats.stopped` says so. Returns `false` if it pauses instead, since it has done
    /// `until` much [work](Self::work). `besides` are the bytes that others store.
    pub fn run(
        &mut self,
        options: &SearchOptions,
        (began, besides): (Instant, usize),
        until: usize,
        progress: Progress<'_>,
        on_stored: OnStored<'_>,
    ) -> bool {
        let stopped = match self.search(options, (began, besides), until, progress, on_stored) {
            Ok(Some(Stepped::Over)) => None,
            Ok(Some(_)) => Some("every question was settled".to_owned()),
            Ok(None) => {
                self.measure(began);
                return false;
            }
            Err(unmade) => Some(unmade.to_string()),
        };
        self.stats.stopped = stopped;
        self.measure(began);
        true
    }

    fn measure(&mut self, began: Instant) {
        self.stats.stored = self.nodes.len();
        self.stats.bytes = self.bytes + self.space.languages.bytes();
        self.stats.elapsed = began.elapsed();
    }

    fn search(
        &mut self,
        options: &SearchOptions,
        (began, besides): (Instant, usize),
        until: usize,
        progress: Progress<'_>,
        on_stored: OnStored<'_>,
    ) -> Result<Option<Stepped>, Unmade> {
        let mut looked = self.stats.steps;
        while self.work() < until {
            let stepped = match self.order {
                Order::Depth { .. } => self.deeper(on_stored)?,
                Order::Breadth => self.wider(on_stored)?,
            };
            if !matches!(stepped, Stepped::On) {
                return Ok(Some(stepped));
            }
            options.budget.check()?;
            options.budget.check_freeing(besides + self.stats.bytes)?;
            if self.stats.steps >= looked + INTERVAL {
                looked = self.stats.steps;
                self.measure(began);
                progress(&self.stats);
                options.budget.check_store(besides + self.stats.bytes)?;
            }
        }
        Ok(None)
    }

    /// One step of the depth-first search.
    fn deeper(&mut self, on_stored: OnStored<'_>) -> Result<Stepped, Unmade> {
        while let Some(frame) = self.stack.last_mut() {
            let Some((action, next)) = frame.todo.next() else {
                self.pop();
                continue;
            };
            let sleep = self.sleep_after(action)?;
            self.stats.steps += 1;
            return Ok(match self.visit(next, sleep, Some(action), on_stored)? {
                ControlFlow::Continue(()) => Stepped::On,
                ControlFlow::Break(()) => Stepped::Enough,
            });
        }
        let Some(initial) = self.initial.next() else { return Ok(Stepped::Over) };
        Ok(match self.visit(initial, vec![], None, on_stored)? {
            ControlFlow::Continue(()) => Stepped::On,
            ControlFlow::Break(()) => Stepped::Enough,
        })
    }

    /// Looks at the states that the breadth-first search has found, and expands one more.
    fn wider(&mut self, on_stored: OnStored<'_>) -> Result<Stepped, Unmade> {
        // If `on_stored` breaks and the search goes on later, it goes on behind that state.
        while self.looked < self.nodes.len() {
            self.looked += 1;
            if on_stored(self, self.looked as NodeId - 1)?.is_break() {
                return Ok(Stepped::Enough);
            }
        }
        let mut found: Vec<(State, Option<(NodeId, Action)>)> = Vec::new();
        if let Some(initial) = self.initial.next() {
            found.push((initial, None));
        } else if let Some(node) = self.nodes.get(self.next) {
            let state = node.state.clone();
            let from = self.next as NodeId;
            let next = self.space.successors(&state)?;
            found.extend(next.into_iter().map(|(action, next)| (next, Some((from, action)))));
            self.next += 1;
            self.stats.steps += found.len();
            self.stats.expanded += 1;
        } else {
            return Ok(Stepped::Over);
        }
        for (state, parent) in found {
            if self.seen.insert(state.clone()) {
                self.bytes += size_of_val(&*state.head) + size_of_val(&*state.buffers) + 48;
                self.store(state, vec![], parent, None);
            } else {
                self.stats.covered += 1;
            }
        }
        Ok(Stepped::On)
    }

    /// The sleep set after an action at the top of the stack. The action itself is added to the
    /// sleep set there, as the text of the paper says and its algorithms do not.
    fn sleep_after(&mut self, action: Action) -> Result<Vec<Action>, Unmade> {
        let sleeps = matches!(self.order, Order::Depth { sleeps: true, .. });
        let Some(frame) = self.stack.last_mut().filter(|_| sleeps) else { return Ok(vec![]) };
        let state = &self.nodes[frame.node as usize].state;
        let mut kept = Vec::new();
        for other in &frame.sleep {
            if self.space.are_independent(state, action, *other)? {
                kept.push(*other);
            }
        }
        insert(&mut frame.sleep, action);
        Ok(kept)
    }

    /// Looks at a state that was reached from the top of the stack, and puts it there
    /// if something is left to do: the paper's algorithm 3 up to its loop.
    fn visit(
        &mut self,
        mut state: State,
        mut sleep: Vec<Action>,
        action: Option<Action>,
        on_stored: OnStored<'_>,
    ) -> Result<ControlFlow<()>, Unmade> {
        let parent = self.stack.last().map(|f| f.node).zip(action);
        let fold = self.fold(&state, action)?;
        if let Some((fold, _)) = &fold {
            state.buffers[fold.process.index()] = fold.after;
            // What sleeps was done from less.
            sleep.clear();
        }
        let above = self.above(&state, &sleep)?;
        let is_folded = fold.is_some();
        let (node, todo, is_new) = match above {
            None => {
                let todo = self.space.successors(&state)?;
                let todo = without(todo, &sleep);
                (self.store(state, sleep.clone(), parent, fold), todo, true)
            }
            Some(above) => {
                let stored = &self.nodes[above as usize];
                // What is done there, or was done elsewhere, needs not be done here.
                let missing = stored.sleep.iter().filter(|a| sleep.binary_search(a).is_err());
                let missing: Vec<Action> = missing.copied().collect();
                let mut todo = match missing.is_empty() {
                    true => vec![],
                    false => self.space.successors(&state)?,
                };
                todo.retain(|(a, _)| missing.binary_search(a).is_ok());
                sleep.retain(|a| stored.sleep.binary_search(a).is_ok());
                if stored.state == state {
                    self.nodes[above as usize].sleep = sleep.clone();
                }
                if todo.is_empty() {
                    self.stats.covered += 1;
                    self.draw(parent, above, is_folded);
                    return Ok(ControlFlow::Continue(()));
                }
                match self.nodes[above as usize].state == state {
                    true => (above, todo, false),
                    false => (self.store(state, sleep.clone(), parent, fold), todo, true),
                }
            }
        };
        self.draw(parent, node, is_folded);
        if is_new && on_stored(self, node)?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
        self.push(Frame { node, action, todo: todo.into_iter(), sleep });
        Ok(ControlFlow::Continue(()))
    }

    /// The cycle that a state closes, if it does, with the nearest state on the stack
    /// for which that is so.
    fn fold(
        &mut self,
        state: &State,
        action: Option<Action>,
    ) -> Result<Option<(Fold, NodeId)>, Unmade> {
        let Order::Depth { folding, .. } = self.order else { return Ok(None) };
        let Some(places) = self.on_stack.get(&state.head) else { return Ok(None) };
        for &place in places.iter().rev() {
            let frames = &self.stack[place..];
            let path = || frames[1..].iter().filter_map(|f| f.action).chain(action).collect();
            let node = frames[0].node;
            let from = &self.nodes[node as usize].state;
            if let Some(fold) = self.space.fold(&mut self.cycles, folding, from, state, path)? {
                let is_more = fold.after != fold.before;
                return Ok(is_more.then_some((fold, node)));
            }
        }
        Ok(None)
    }

    /// A stored state that includes this one: the state itself if it is stored, unless another one
    /// leaves nothing to explore.
    fn above(&mut self, state: &State, sleep: &[Action]) -> Result<Option<NodeId>, Stop> {
        let Some(bucket) = self.buckets.get(&state.head) else { return Ok(None) };
        let mut found: Option<(usize, NodeId)> = None;
        for &id in bucket {
            let stored = &self.nodes[id as usize];
            let pairs = state.buffers.iter().zip(&stored.state.buffers);
            if !self.space.languages.are_included(pairs)? {
                continue;
            }
            let missing = stored.sleep.iter().filter(|a| sleep.binary_search(a).is_err()).count();
            if missing == 0 {
                return Ok(Some(id));
            }
            // Of two that leave something to do, the same state comes first.
            let rank = if stored.state == *state { 0 } else { missing };
            if found.is_none_or(|(best, _)| rank < best) {
                found = Some((rank, id));
            }
        }
        Ok(found.map(|(_, id)| id))
    }

    fn store(
        &mut self,
        state: State,
        sleep: Vec<Action>,
        parent: Option<(NodeId, Action)>,
        fold: Option<(Fold, NodeId)>,
    ) -> NodeId {
        let id = self.nodes.len() as NodeId;
        self.bytes += 2 * size_of_val(&*state.head)
            + size_of_val(&*state.buffers)
            + size_of_val(&*sleep)
            + size_of::<Node>()
            + 64;
        if self.order != Order::Breadth {
            self.buckets.entry(state.head.clone()).or_default().push(id);
        }
        self.nodes.push(Node { state, parent, fold, sleep });
        id
    }

    fn push(&mut self, frame: Frame) {
        let head = self.nodes[frame.node as usize].state.head.clone();
        self.bytes += frame.todo.len() * (size_of::<State>() + 2 * head.len() + 16);
        self.on_stack.entry(head).or_default().push(self.stack.len());
        self.stack.push(frame);
        self.stats.expanded += 1;
        self.stats.depth = self.stats.depth.max(self.stack.len());
    }

    fn pop(&mut self) {
        let Some(frame) = self.stack.pop() else { return };
        let head = &self.nodes[frame.node as usize].state.head;
        if let Some(places) = self.on_stack.get_mut(head) {
            places.pop();
        }
    }

    fn draw(&mut self, parent: Option<(NodeId, Action)>, to: NodeId, is_folded: bool) {
        if let (Some(edges), Some((from, action))) = (&mut self.edges, parent) {
            edges.push(Edge { from, action, to, is_folded });
        }
    }

    /// The stored states that no other includes: they stand for all.
    ///
    /// # Errors
    /// If a limit is reached.
    pub fn maximal(&mut self) -> Result<Vec<NodeId>, Stop> {
        // Without cycles each state is one configuration.
        if self.order == Order::Breadth {
            return Ok((0..self.nodes.len() as NodeId).collect());
        }
        let mut maximal = Vec::new();
        for id in 0..self.nodes.len() as NodeId {
            let state = &self.nodes[id as usize].state;
            let mut is_below = false;
            for &other in &self.buckets[&state.head] {
                let bigger = &self.nodes[other as usize].state;
                let pairs = state.buffers.iter().zip(&bigger.buffers);
                is_below |= bigger != state && self.space.languages.are_included(pairs)?;
            }
            if !is_below {
                maximal.push(id);
            }
        }
        Ok(maximal)
    }
}

impl Space<'_> {
    /// Whether some configuration of a state settles a question.
    pub fn settles(&self, state: &State, question: &Question) -> bool {
        (!question.is_about_rest() || self.may_be_drained(state))
            && question.is_settled(&self.system, self.controls(state), self.memory(state))
    }
}

/// Inserts into a sorted list.
fn insert(list: &mut Vec<Action>, action: Action) {
    if let Err(at) = list.binary_search(&action) {
        list.insert(at, action);
    }
}

/// What is left of `all` without those that sleep.
fn without(mut all: Vec<(Action, State)>, sleep: &[Action]) -> Vec<(Action, State)> {
    all.retain(|(action, _)| sleep.binary_search(action).is_err());
    all
}
