//! Memory as the machine has it: messages, views, and the graph of `seq_cst` operations.
//!
//! *Keys.* The write of the message at position `i` of a location has the key `2i + 1`, and a read of it
//! `2i + 2`. Of two accesses to one location, the one with the smaller key is coherence-ordered before the
//! other. The key 0 stands for everything below the messages that are kept.
//!
//! *Folded messages.* Where old messages are folded ([`fold`](super::fold)), what lies below the messages that are kept is
//! a set of values. Whoever has the key 0 may read any of them.

use crate::ids::{Cell, StateId, ValueId, VarId};

/// The place of an access in the coherence order of its location.
pub(super) type Key = Cell;

/// A set of nodes of the graph, by their numbers.
pub(super) type Nodes = u64;

/// The most nodes that are kept.
pub(super) const MAX_NODES: usize = Nodes::BITS as usize;

/// Beyond all keys: no access yet.
const NEVER: Key = Key::MAX;

/// The key of the write of a message.
pub(super) fn write_key(position: usize) -> Key {
    2 * position as Key + 1
}

/// The key of a read of a message.
pub(super) fn read_key(position: usize) -> Key {
    2 * position as Key + 2
}

/// The position of the newest message that somebody with this key has seen.
pub(super) fn position(key: Key) -> usize {
    (key as usize).saturating_sub(1) / 2
}

/// What happens before some point, as far as it matters later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct View {
    /// For each location, the greatest key of an access that happens before.
    pub keys: Vec<Key>,
    /// `seq_cst` fences that happen before.
    pub fences: Nodes,
    /// `seq_cst` operations that strongly happen before what comes next.
    pub strong: Nodes,
    /// For each kind of access that can race (see [`Races`](super::races::Races)): whether the newest one happens before.
    pub known: Vec<u64>,
}

impl View {
    /// Nothing but what lies below the messages that are kept.
    pub fn bottom(vars: usize, words: usize) -> Self {
        Self { keys: vec![0; vars], fences: 0, strong: 0, known: vec![0; words] }
    }

    /// Both.
    pub fn join(&mut self, other: &Self) {
        for (key, other) in self.keys.iter_mut().zip(&other.keys) {
            *key = (*key).max(*other);
        }
        self.fences |= other.fences;
        self.strong |= other.strong;
        for (known, other) in self.known.iter_mut().zip(&other.known) {
            *known |= other;
        }
    }

    /// Keeps only what another view does not have.
    pub fn forget_all_in(&mut self, other: &Self) {
        for (key, other) in self.keys.iter_mut().zip(&other.keys) {
            *key *= Key::from(*key > *other);
        }
        self.fences &= !other.fences;
        self.strong &= !other.strong;
        for (known, other) in self.known.iter_mut().zip(&other.known) {
            *known &= !other;
        }
    }

    fn is_bottom(&self) -> bool {
        self.keys.iter().all(|&key| key == 0)
            && self.fences | self.strong == 0
            && self.known.iter().all(|&known| known == 0)
    }

    /// Everything that is not in it matters to nobody.
    pub fn clear(&mut self) {
        self.keys.fill(0);
        (self.fences, self.strong) = (0, 0);
        self.known.fill(0);
    }
}

/// A write that can still be read, or behind which another can still go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Message {
    pub value: ValueId,
    /// Whether it was written by an atomic read-write that read its predecessor: nothing goes between.
    pub is_glued: bool,
    /// What somebody who synchronizes with it learns.
    pub view: View,
}

/// What a process has seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Thread {
    /// What happens before its next operation.
    pub cur: View,
    /// What an acquire fence would make of it.
    pub acq: View,
    /// What happened before its last release fence.
    pub rel: View,
}

/// A `seq_cst` operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Node {
    /// Whose it is.
    pub process: Cell,
    /// The operations that come directly before it in the order of all `seq_cst` operations.
    pub before: Nodes,
    pub what: What,
}

/// Which accesses have to come before and after a `seq_cst` operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// An access: itself.
    Access(VarId, Key),
    /// A fence. `before` are the greatest keys of accesses that happen before it, and `after` the least keys
    /// of those that it happens before.
    Fence { before: Vec<Key>, after: Vec<Key> },
}

impl Node {
    /// The least key of an access of a location that has to come after it, or is it.
    fn after(&self, var: usize) -> Key {
        match &self.what {
            What::Access(x, key) if x.index() == var => *key,
            What::Access(..) => NEVER,
            What::Fence { after, .. } => after[var],
        }
    }

    /// The greatest key of an access of a location that has to come before it, or is it.
    pub fn before(&self, var: usize) -> Key {
        match &self.what {
            What::Access(x, key) if x.index() == var => *key,
            What::Access(..) => 0,
            What::Fence { before, .. } => before[var],
        }
    }

    /// Changes its keys of a location.
    fn shift(&mut self, var: usize, shifted: impl Fn(Key) -> Key) {
        match &mut self.what {
            What::Access(x, key) if x.index() == var => *key = shifted(*key),
            What::Access(..) => {}
            What::Fence { before, after } => {
                before[var] = shifted(before[var]);
                if after[var] != NEVER {
                    after[var] = shifted(after[var]);
                }
            }
        }
    }
}

/// All of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct State {
    /// For each location its messages in modification order.
    pub messages: Vec<Vec<Message>>,
    /// For each location the values of folded messages, in order, and whether an atomic read-write may read such a message: nothing
    /// is known to stand directly behind it.
    pub folded: Vec<Vec<(ValueId, bool)>>,
    pub threads: Vec<Thread>,
    /// For each process the control states at which it was since it has done anything but read, where it may come
    /// back to one.
    pub trails: Vec<Vec<StateId>>,
    /// The `seq_cst` operations that can still be part of a cycle: by process, and those of one process in
    /// the order in which they were executed.
    pub nodes: Vec<Node>,
}

impl State {
    /// Makes room for a message at a position of a location, which must not be that of the first.
    pub fn insert(&mut self, var: VarId, position: usize, message: Message) {
        let x = var.index();
        if position < self.messages[x].len() {
            let from = write_key(position);
            self.shift(x, |key| if key >= from { key + 2 } else { key });
        }
        self.messages[x].insert(position, message);
    }

    /// Forgets the oldest messages of a location.
    pub fn drop_messages(&mut self, var: usize, count: usize) {
        if count > 0 {
            self.messages[var].drain(..count);
            // Nothing comes before the first one any more.
            self.messages[var][0].is_glued = false;
            self.shift(var, |key| key.saturating_sub(2 * count as Key));
        }
    }

    /// Changes all keys of a location.
    fn shift(&mut self, var: usize, shifted: impl Fn(Key) -> Key) {
        for view in self.views() {
            view.keys[var] = shifted(view.keys[var]);
        }
        for node in &mut self.nodes {
            node.shift(var, &shifted);
        }
    }

    /// All views.
    pub fn views(&mut self) -> impl Iterator<Item = &mut View> {
        let messages = self.messages.iter_mut().flatten().map(|message| &mut message.view);
        let threads = self.threads.iter_mut().flat_map(|t| [&mut t.cur, &mut t.acq, &mut t.rel]);
        messages.chain(threads)
    }

    /// An access by a process, whose view has been brought up to date, comes after the fences that happen
    /// before it. `false` if that closes a cycle.
    pub fn follow_fences(&mut self, process: usize, var: VarId, key: Key) -> bool {
        let fences = self.threads[process].cur.fences;
        let mut is_new = false;
        for f in members(fences) {
            let What::Fence { after, .. } = &mut self.nodes[f].what else { continue };
            if key < after[var.index()] {
                after[var.index()] = key;
                for node in &mut self.nodes {
                    if key < node.before(var.index()) && node.before & 1 << f == 0 {
                        node.before |= 1 << f;
                        is_new = true;
                    }
                }
            }
        }
        !is_new || self.is_acyclic()
    }

    /// Adds a `seq_cst` operation of a process, behind those of `strong`. Returns its number, or `None` if that
    /// closes a cycle. There must be room for it.
    pub fn add_node(&mut self, process: usize, strong: Nodes, what: What) -> Option<usize> {
        let at = self.nodes.iter().take_while(|n| n.process as usize <= process).count();
        let moved = |n| n + usize::from(n >= at);
        self.renumber(moved);
        let before = renumbered(strong, moved);
        let mut node = Node { process: process as Cell, before, what };
        for (n, other) in self.nodes.iter().enumerate() {
            if (0..self.messages.len()).any(|x| other.after(x) < node.before(x)) {
                node.before |= 1 << moved(n);
            }
        }
        for other in &mut self.nodes {
            if (0..self.messages.len()).any(|x| node.after(x) < other.before(x)) {
                other.before |= 1 << at;
            }
        }
        self.nodes.insert(at, node);
        self.is_acyclic().then_some(at)
    }

    /// Forgets a node, but not that what comes before it comes before what comes after it.
    pub fn bridge_node(&mut self, at: usize) {
        let (bit, before) = (1 << at, self.nodes[at].before);
        for node in self.nodes.iter_mut().filter(|node| node.before & bit != 0) {
            node.before |= before;
        }
        for view in self.views().filter(|view| view.strong & bit != 0) {
            view.strong |= before;
        }
        self.remove_node(at);
    }

    /// Forgets a node that is on no cycle, now and later.
    pub fn remove_node(&mut self, at: usize) {
        self.nodes.remove(at);
        let without = |set: Nodes| set & !(1 << at);
        for view in self.views() {
            (view.fences, view.strong) = (without(view.fences), without(view.strong));
        }
        for node in &mut self.nodes {
            node.before = without(node.before);
        }
        self.renumber(|n| n - usize::from(n > at));
    }

    /// Gives nodes other numbers, wherever they are mentioned.
    fn renumber(&mut self, number: impl Fn(usize) -> usize + Copy) {
        for view in self.views() {
            view.fences = renumbered(view.fences, number);
            view.strong = renumbered(view.strong, number);
        }
        for node in &mut self.nodes {
            node.before = renumbered(node.before, number);
        }
    }

    /// Whether the `seq_cst` operations can be put into one order: nodes without a predecessor are taken
    /// away until none is left.
    fn is_acyclic(&self) -> bool {
        let mut left: Nodes = match self.nodes.len() {
            MAX_NODES => Nodes::MAX,
            n => (1 << n) - 1,
        };
        while left != 0 {
            let free = members(left).filter(|&n| self.nodes[n].before & left == 0);
            let free: Nodes = free.fold(0, |set, n| set | 1 << n);
            if free == 0 {
                return false;
            }
            left &= !free;
        }
        true
    }
}

/// A fence that happens before nothing yet.
pub(super) fn new_fence(before: Vec<Key>) -> What {
    let after = vec![NEVER; before.len()];
    What::Fence { before, after }
}

/// The members of a set.
pub(super) fn members(mut set: Nodes) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let first = set.trailing_zeros() as usize;
        (set != 0).then(|| {
            set &= set - 1;
            first
        })
    })
}

fn renumbered(set: Nodes, number: impl Fn(usize) -> usize) -> Nodes {
    members(set).fold(0, |all, n| all | 1 << number(n))
}

/// How a state stands in a configuration.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub vars: usize,
    pub threads: usize,
    /// How many words [`View::known`] has.
    pub words: usize,
    /// Whether messages are folded.
    pub folds: bool,
}

/// What stands before a view.
const EMPTY: Cell = 0;
const FULL: Cell = 1;

impl Shape {
    /// Reads a state from cells.
    pub fn read(self, cells: &[Cell]) -> State {
        let mut reader = Reader { cells, shape: self };
        let messages = (0..self.vars).map(|_| {
            let count = reader.cell();
            let message = |reader: &mut Reader<'_>| Message {
                value: ValueId(reader.cell()),
                is_glued: reader.cell() == 1,
                view: reader.view(),
            };
            (0..count).map(|_| message(&mut reader)).collect()
        });
        let messages = messages.collect();
        let values = |reader: &mut Reader<'_>| {
            let count = reader.cell();
            (0..count).map(|_| (ValueId(reader.cell()), reader.cell() == 1)).collect()
        };
        let folded = match self.folds {
            true => (0..self.vars).map(|_| values(&mut reader)).collect(),
            false => vec![vec![]; self.vars],
        };
        let thread = |reader: &mut Reader<'_>| Thread {
            cur: reader.view(),
            acq: reader.view(),
            rel: reader.view(),
        };
        let threads = (0..self.threads).map(|_| thread(&mut reader)).collect();
        let trail = |reader: &mut Reader<'_>| {
            let len = reader.cell();
            (0..len).map(|_| StateId(reader.cell())).collect()
        };
        let trails = (0..self.threads).map(|_| trail(&mut reader)).collect();
        let count = reader.cell();
        let nodes = (0..count).map(|_| reader.node()).collect();
        State { messages, folded, threads, trails, nodes }
    }

    /// Appends a state to cells.
    pub fn write(self, state: &State, cells: &mut Vec<Cell>) {
        for messages in &state.messages {
            cells.push(messages.len() as Cell);
            for message in messages {
                cells.extend([message.value.0, Cell::from(message.is_glued)]);
                write_view(&message.view, cells);
            }
        }
        if self.folds {
            for values in &state.folded {
                cells.push(values.len() as Cell);
                cells.extend(
                    values.iter().flat_map(|(value, is_free)| [value.0, Cell::from(*is_free)]),
                );
            }
        }
        for thread in &state.threads {
            for view in [&thread.cur, &thread.acq, &thread.rel] {
                write_view(view, cells);
            }
        }
        for trail in &state.trails {
            cells.push(trail.len() as Cell);
            cells.extend(trail.iter().map(|state| state.0));
        }
        cells.push(state.nodes.len() as Cell);
        for node in &state.nodes {
            cells.push(node.process);
            write_set(node.before, cells);
            match &node.what {
                What::Access(x, key) => cells.extend([x.index() as Cell + 1, *key]),
                What::Fence { before, after } => {
                    cells.push(0);
                    cells.extend(before.iter().chain(after));
                }
            }
        }
    }
}

fn write_set(set: Nodes, cells: &mut Vec<Cell>) {
    cells.extend([set as Cell, (set >> Cell::BITS) as Cell]);
}

fn write_view(view: &View, cells: &mut Vec<Cell>) {
    if view.is_bottom() {
        return cells.push(EMPTY);
    }
    cells.push(FULL);
    cells.extend(&view.keys);
    write_set(view.fences, cells);
    write_set(view.strong, cells);
    view.known.iter().for_each(|&known| write_set(known, cells));
}

struct Reader<'c> {
    cells: &'c [Cell],
    shape: Shape,
}

impl Reader<'_> {
    fn cell(&mut self) -> Cell {
        let (first, rest) = self.cells.split_first().expect("a configuration of this form");
        self.cells = rest;
        *first
    }

    fn set(&mut self) -> Nodes {
        Nodes::from(self.cell()) | Nodes::from(self.cell()) << Cell::BITS
    }

    fn keys(&mut self) -> Vec<Key> {
        let (keys, rest) = self.cells.split_at(self.shape.vars);
        self.cells = rest;
        keys.to_vec()
    }

    fn view(&mut self) -> View {
        match self.cell() {
            EMPTY => View::bottom(self.shape.vars, self.shape.words),
            _ => View {
                keys: self.keys(),
                fences: self.set(),
                strong: self.set(),
                known: (0..self.shape.words).map(|_| self.set()).collect(),
            },
        }
    }

    fn node(&mut self) -> Node {
        let (process, before) = (self.cell(), self.set());
        let what = match self.cell() {
            0 => What::Fence { before: self.keys(), after: self.keys() },
            x => What::Access(VarId::new(x as usize - 1), self.cell()),
        };
        Node { process, before, what }
    }
}
