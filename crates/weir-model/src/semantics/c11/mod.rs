//! The memory model of C11, C++20 and Rust, as a machine.
//!
//! *Definition.* C++20, [intro.races] and [atomics.order], which C23 and Rust share, with one axiom of RC11
//! (Lahav et al. 2017): sequenced-before and reads-from have no cycle. So a store never takes effect before an
//! earlier load of its own thread; every tool for this model makes that choice, and values out of thin air are
//! excluded by it. `weir-gen` has the axioms by the letter, and the tests compare the two.
//!
//! *Configuration*: control states; for each variable its newest value; then for each variable its messages in
//! modification order, for each process what it has seen, and the `seq_cst` operations ([`state`]).
//!
//! The machine is that of Kang et al. 2017 without promises. A write adds a message to the list of its location,
//! at any position behind what its process has seen. A read takes any message that is not older than what its
//! process has seen. A message has a view: whoever synchronizes with it has seen that much. Three views belong to
//! a process: `cur`, `acq`, which an acquire fence makes current, and `rel`, which the last release fence has kept.
//!
//! *The order of all `seq_cst` operations.* The machine of Kang et al. orders them as they are executed, which
//! forbids too much: with `y.store(1, seq_cst); x.store(1, relaxed)` in one thread, another may read 1 from `x`
//! and then, `seq_cst`, 0 from `y`. So the operations are nodes of a graph instead, and a step that closes a
//! cycle is not taken. The edges are those of [atomics.order]: from an operation to one that it strongly happens
//! before, and from `X` to `Y` if some access `a` is coherence-ordered before some access `b`, where `a` is `X` or `X` is a fence that
//! happens before `a`, and `b` is `Y` or happens before the fence `Y`.
//!
//! *Forgetting.* A message is dropped if everybody who may still access its location, or may still execute a `seq_cst`
//! fence, has seen a newer one. A node goes if it has no predecessor and can get none: everybody who may access a
//! location has seen as much of it as comes before the node. What a process can no longer use is cleared.
//!
//! *Spinning.* A process that comes back to a control state and has changed nothing meanwhile could have waited there
//! instead, so such a round is not taken (`forget`). Loops that wait are finite in this way.
//!
//! Partial and full fences of a program are acquire, release and `seq_cst` fences. Atomic blocks of several
//! accesses have no meaning in these languages, and have no semantics here.

mod ahead;
mod fold;
mod forget;
mod image;
mod races;
mod state;

use self::ahead::Ahead;
use self::fold::{FOLDED, Fold};
use self::races::{Races, Touch};
use self::state::{
    MAX_NODES, Message, Shape, State, Thread, View, What, new_fence, position, read_key, write_key,
};
use super::layout::Layout;
use super::{Event, Head, Rule, Semantics, Step, Visit, control};
use crate::ids::{Cell, ProcessId, StateId, ValueId, VarId};
use crate::program::{FenceKind, Order};
use crate::symmetry::Automorphism;
use crate::system::{Op, Seen, Steps, System, Transition};

pub(super) struct C11<'s> {
    system: &'s System,
    head: Head,
    shape: Shape,
    /// The most messages of a location behind the first that are kept.
    bound: usize,
    /// For each process and node of its code.
    ahead: Vec<Vec<Ahead>>,
    /// For each process and node of its code: whether it may come back there and change nothing meanwhile.
    spins: Vec<Vec<bool>>,
    races: Races,
    /// How much is kept exactly, in the over-approximation.
    fold: Option<Fold>,
}

/// What an operation leads to, if it can be taken.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Taken {
    Well,
    /// It races with an earlier one: what comes then is undefined.
    Raced,
}

/// Why a step cannot be taken.
enum Not {
    /// It would close a cycle.
    Consistent,
    /// Too much would have to be kept.
    Room,
}

impl<'s> C11<'s> {
    pub fn new(system: &'s System, bound: usize) -> Self {
        assert!(system.keeps_orders, "a system with memory orders");
        let head = Head::new(system);
        let races = Races::new(system);
        let shape =
            Shape { vars: head.vars, threads: head.processes, words: races.words(), folds: false };
        let ahead = system.processes.iter().map(|p| Ahead::of(&p.flow, head.vars)).collect();
        let spins = system.processes.iter().map(|p| forget::spins(&p.flow)).collect();
        Self { system, head, shape, bound, ahead, spins, races, fold: None }
    }

    /// The over-approximation ([`fold`]) of a level.
    pub fn folded(system: &'s System, level: usize) -> Self {
        let exact = Self::new(system, usize::MAX);
        Self { shape: Shape { folds: true, ..exact.shape }, fold: Some(Fold::of(level)), ..exact }
    }

    fn state(&self, config: &[Cell]) -> State {
        self.shape.read(&config[self.head.len()..])
    }

    fn ahead(&self, process: usize, control: Cell) -> &Ahead {
        let state = self.system.state(ProcessId::new(process), StateId(control));
        &self.ahead[process][state.node]
    }

    /// The positions of the messages of a location that a process may read.
    fn readable(state: &State, process: usize, var: VarId) -> std::ops::Range<usize> {
        position(state.threads[process].cur.keys[var.index()])..state.messages[var.index()].len()
    }

    /// Takes a fence.
    fn fence(state: &mut State, process: usize, kind: FenceKind) -> Result<(), Not> {
        if kind == FenceKind::Full {
            return Self::seq_cst_fence(state, process);
        }
        let thread = &mut state.threads[process];
        match kind {
            FenceKind::Read => thread.cur.join(&thread.acq),
            FenceKind::Write | FenceKind::Full => thread.rel = thread.cur.clone(),
        }
        Ok(())
    }

    /// A `seq_cst` fence acquires and releases. It happens before what its release reaches, but does not strongly
    /// happen before it: nothing is sequenced between the fence and its release.
    fn seq_cst_fence(state: &mut State, process: usize) -> Result<(), Not> {
        let strong = state.threads[process].cur.strong;
        let thread = &mut state.threads[process];
        thread.cur.join(&thread.acq);
        let keys = thread.cur.keys.clone();
        let node = Self::add_node(state, process, strong, new_fence(keys))?;
        let thread = &mut state.threads[process];
        thread.cur.fences |= 1 << node;
        thread.rel = thread.cur.clone();
        thread.cur.strong |= 1 << node;
        thread.acq.join(&thread.cur);
        Ok(())
    }

    fn add_node(state: &mut State, process: usize, strong: u64, what: What) -> Result<usize, Not> {
        if state.nodes.len() == MAX_NODES {
            return Err(Not::Room);
        }
        state.add_node(process, strong, what).ok_or(Not::Consistent)
    }

    /// After an access: the fences before it, and its place among the `seq_cst` operations. `strong` is what
    /// strongly happened before it.
    fn accessed(
        state: &mut State,
        process: usize,
        (var, key): (VarId, u32),
        order: Order,
        strong: u64,
    ) -> Result<(), Not> {
        if !state.follow_fences(process, var, key) {
            return Err(Not::Consistent);
        }
        if order.is_seq_cst() {
            let node = Self::add_node(state, process, strong, What::Access(var, key))?;
            state.threads[process].cur.strong |= 1 << node;
        }
        let thread = &mut state.threads[process];
        thread.acq.join(&thread.cur);
        Ok(())
    }

    /// Takes a read of the message at a position.
    fn read(
        &self,
        state: &mut State,
        process: usize,
        var: VarId,
        at: usize,
        order: Order,
    ) -> Result<Taken, Not> {
        let strong = state.threads[process].cur.strong;
        let key = if at == FOLDED { 0 } else { read_key(at) };
        Self::see(state, process, var, at, key, order);
        let taken = self.touched(state, process, var, &[Touch::read(order)]);
        Self::accessed(state, process, (var, key), order, strong)?;
        Ok(taken)
    }

    /// An access of these kinds, which knows all that happens before it.
    fn touched(&self, state: &mut State, process: usize, var: VarId, touches: &[Touch]) -> Taken {
        let races = touches.iter().any(|touch| self.races.has_race(state, process, var, *touch));
        touches.iter().for_each(|touch| self.races.keep(state, process, var, *touch));
        if races { Taken::Raced } else { Taken::Well }
    }

    /// A process has read a message.
    fn see(state: &mut State, process: usize, var: VarId, at: usize, key: u32, order: Order) {
        if at == FOLDED {
            return;
        }
        let view = &state.messages[var.index()][at].view;
        let thread = &mut state.threads[process];
        thread.acq.join(view);
        if order.acquires() {
            thread.cur.join(view);
        }
        let known = &mut thread.cur.keys[var.index()];
        *known = key.max(*known);
    }

    /// Takes a write that goes to a position.
    fn write(
        &self,
        state: &mut State,
        process: usize,
        (var, value): (VarId, ValueId),
        at: usize,
        order: Order,
    ) -> Result<Taken, Not> {
        let strong = state.threads[process].cur.strong;
        let taken = self.touched(state, process, var, &[Touch::write(order)]);
        let key = match at {
            FOLDED => {
                state.add_folded(var.index(), value, true);
                0
            }
            _ => {
                self.add_message(state, process, (var, value), at, order, None)?;
                write_key(at)
            }
        };
        Self::accessed(state, process, (var, key), order, strong)?;
        Ok(taken)
    }

    /// Takes an atomic read-write of the message at a position.
    fn update(
        &self,
        state: &mut State,
        process: usize,
        (var, value): (VarId, ValueId),
        at: usize,
        order: Order,
    ) -> Result<Taken, Not> {
        let strong = state.threads[process].cur.strong;
        let touches = [Touch::read(order), Touch::write(order)];
        if at == FOLDED {
            let taken = self.touched(state, process, var, &touches);
            state.add_folded(var.index(), value, true);
            Self::accessed(state, process, (var, 0), order, strong)?;
            return Ok(taken);
        }
        Self::see(state, process, var, at, read_key(at), order);
        let taken = self.touched(state, process, var, &touches);
        let read = state.messages[var.index()][at].view.clone();
        self.add_message(state, process, (var, value), at + 1, order, Some(read))?;
        Self::accessed(state, process, (var, write_key(at + 1)), order, strong)?;
        Ok(taken)
    }

    /// Adds a message, which its process has seen. `read` is the view of the message that an atomic read-write
    /// has read: whoever synchronizes with the new message synchronizes with that one too (release sequences).
    fn add_message(
        &self,
        state: &mut State,
        process: usize,
        (var, value): (VarId, ValueId),
        at: usize,
        order: Order,
        read: Option<View>,
    ) -> Result<(), Not> {
        let x = var.index();
        if state.messages[x].len() > self.bound {
            return Err(Not::Room);
        }
        let thread = &state.threads[process];
        let mut view = if order.releases() { thread.cur.clone() } else { thread.rel.clone() };
        let is_glued = read.is_some();
        if let Some(read) = &read {
            view.join(read);
        }
        let message = Message { value, is_glued, view };
        state.insert(var, at, message);
        // Whoever reads the message has seen as much of its location.
        state.messages[x][at].view.keys[x] = 0;
        let cur = &mut state.threads[process].cur;
        cur.keys[x] = cur.keys[x].max(write_key(at));
        Ok(())
    }

    /// Takes an operation on a state, with the choice of a message or position. An operation between fences
    /// is all three.
    fn take(
        &self,
        state: &mut State,
        process: usize,
        op: Op,
        order: Order,
        at: usize,
    ) -> Result<Taken, Not> {
        let is_fenced = order == Order::Fenced && matches!(op, Op::Read(..) | Op::Arw(..));
        if is_fenced {
            Self::seq_cst_fence(state, process)?;
        }
        let taken = match op {
            Op::Nop => Taken::Well,
            Op::Fence(kind) => {
                Self::fence(state, process, kind)?;
                Taken::Well
            }
            Op::Read(x, _) => self.read(state, process, x, at, order)?,
            Op::Write(x, d) => self.write(state, process, (x, d), at, order)?,
            Op::Arw(x, _, e) => self.update(state, process, (x, e), at, order)?,
        };
        if is_fenced {
            Self::seq_cst_fence(state, process)?;
        }
        Ok(taken)
    }

    /// The choices of an operation: a message to read, or a position to write to. Folded messages are one more.
    fn choices(state: &State, process: usize, op: Op) -> Vec<usize> {
        let glued = |x: VarId, at: usize| {
            state.messages[x.index()].get(at).is_some_and(|message| message.is_glued)
        };
        let with = |x: VarId, d: ValueId| {
            let messages = &state.messages[x.index()];
            Self::readable(state, process, x).filter(move |&at| messages[at].value == d)
        };
        let folded = |x: VarId, fits: &dyn Fn(&(ValueId, bool)) -> bool| {
            state.folded_for(process, x).iter().any(fits).then_some(FOLDED)
        };
        match op {
            Op::Nop | Op::Fence(_) => vec![0],
            Op::Read(x, d) => with(x, d).chain(folded(x, &|f| f.0 == d)).collect(),
            Op::Write(x, _) => {
                let readable = Self::readable(state, process, x);
                let exact = (readable.start + 1..=readable.end).filter(|&at| !glued(x, at));
                exact.chain(folded(x, &|_| true)).collect()
            }
            Op::Arw(x, d, _) => {
                let exact = with(x, d).filter(|&at| !glued(x, at + 1));
                exact.chain(folded(x, &|f| *f == (d, true))).collect()
            }
        }
    }

    /// The rule of a step, and which one it is of those that are alike: how many messages are newer than the
    /// one that is read, or than the one that is written.
    fn rule(state: &State, op: Op, at: usize) -> (Rule, u32) {
        let messages = |x: VarId| state.messages[x.index()].len();
        if at == FOLDED {
            // No run of the over-approximation is retold.
            return (Rule::ReadOlder, u32::MAX);
        }
        match op {
            Op::Nop => (Rule::Nop, 0),
            Op::Fence(kind) => (super::fence_rule(kind), 0),
            Op::Read(x, _) => match messages(x) - 1 - at {
                0 => (Rule::ReadMemory, 0),
                newer => (Rule::ReadOlder, newer as u32),
            },
            Op::Write(x, _) => match messages(x) - at {
                0 => (Rule::WriteMemory, 0),
                newer => (Rule::WriteOlder, newer as u32),
            },
            Op::Arw(x, ..) => (Rule::Arw, (messages(x) - 1 - at) as u32),
        }
    }

    /// Writes a configuration.
    fn encode(&self, controls: &[Cell], state: &State, config: &mut Vec<Cell>) {
        config.clear();
        config.extend_from_slice(controls);
        let newest = |messages: &Vec<Message>| messages.last().expect("one is kept").value.0;
        config.extend(state.messages.iter().map(newest));
        self.shape.write(state, config);
    }

    /// Whether a process may go no further: it has no step, or it has read something with which only rounds of an
    /// `await` are left that it never leaves. Such a round is no step of a run, so it is taken here: who has read the
    /// newest writes does not read older ones again.
    fn is_stuck(&self, config: &[Cell], state: &State, process: ProcessId) -> bool {
        let mut seen = vec![(control(config, process), state.clone())];
        let mut rounds: Vec<Vec<usize>> = Vec::new();
        // What leads out of the `await`, and then whatever leads there.
        let mut leaves: Vec<bool> = Vec::new();
        while rounds.len() < seen.len() {
            let (control, state) = seen[rounds.len()].clone();
            let (mut to, mut is_left) = (Vec::new(), false);
            for (_, t) in self.steps(&state, process, control) {
                let mut choices = Self::choices(&state, process.index(), t.op);
                if self.fold.is_some()
                    && let Op::Read(x, _) | Op::Arw(x, ..) = t.op
                {
                    choices.retain(|&at| at == state.messages[x.index()].len() - 1);
                }
                for at in choices {
                    let mut after = state.clone();
                    let taken = self.take(&mut after, process.index(), t.op, t.order, at);
                    if matches!(taken, Err(Not::Consistent)) {
                        continue;
                    }
                    if !t.waits {
                        is_left = true;
                        continue;
                    }
                    let after = (t.to, after);
                    let known = seen.iter().position(|other| *other == after);
                    to.push(known.unwrap_or(seen.len()));
                    if known.is_none() {
                        seen.push(after);
                    }
                }
            }
            // The first state decides often.
            if is_left && to.is_empty() && seen.len() == 1 {
                return false;
            }
            rounds.push(to);
            leaves.push(is_left);
        }
        let mut has_changed = true;
        while has_changed {
            has_changed = false;
            for n in 0..rounds.len() {
                if !leaves[n] && rounds[n].iter().any(|to| leaves[*to]) {
                    (leaves[n], has_changed) = (true, true);
                }
            }
        }
        leaves.contains(&false)
    }

    /// The transitions of a process, for all that it may read.
    fn steps(&self, state: &State, process: ProcessId, control: StateId) -> Steps<'_> {
        let see = |x: VarId, _| {
            let messages = &state.messages[x.index()];
            let exact = Self::readable(state, process.index(), x).map(|at| messages[at].value);
            Seen::among(exact.chain(state.folded_for(process.index(), x).iter().map(|f| f.0)))
        };
        self.system.steps(process, control, see)
    }
}

impl Layout for C11<'_> {
    fn initial_rest(&self, config: &mut Vec<Cell>) {
        let Shape { vars, threads, words, .. } = self.shape;
        let bottom = View::bottom(vars, words);
        let values = config[self.head.processes..].iter();
        let message = |&value: &Cell| {
            vec![Message { value: ValueId(value), is_glued: false, view: bottom.clone() }]
        };
        // The initial writes happen before everything.
        let mut begin = View { keys: vec![write_key(0); vars], ..bottom.clone() };
        Races::know_all(&mut begin);
        let thread = Thread { cur: begin.clone(), acq: begin, rel: bottom.clone() };
        let mut state = State {
            messages: values.map(message).collect(),
            folded: vec![vec![]; vars],
            threads: vec![thread; threads],
            trails: vec![vec![]; threads],
            nodes: vec![],
        };
        self.forget(&config[..self.head.processes], &mut state);
        self.shape.write(&state, config);
    }

    /// Nothing is under way in the sense that matters: nobody can go on by something old.
    fn is_drained(&self, config: &[Cell]) -> bool {
        let state = self.state(config);
        self.system.process_ids().all(|p| self.is_stuck(config, &state, p))
    }

    fn pending(&self, _config: &[Cell]) -> Vec<Vec<Event>> {
        vec![vec![]; self.head.processes]
    }

    fn unread(&self, config: &[Cell]) -> Option<Vec<Vec<(VarId, usize)>>> {
        let state = self.state(config);
        let of = |p: usize| {
            let ahead = self.ahead(p, config[p]);
            let read = (0..self.shape.vars).filter(|&x| ahead.accesses[x]).map(VarId::new);
            read.map(|x| (x, Self::readable(&state, p, x).len() - 1)).collect()
        };
        Some((0..self.head.processes).map(of).collect())
    }
}

impl Semantics for C11<'_> {
    fn system(&self) -> &System {
        self.system
    }

    fn layout(&self) -> &dyn Layout {
        self
    }

    fn image(&self, config: &[Cell], g: &Automorphism, image: &mut Vec<Cell>) -> Option<()> {
        image.clear();
        g.head(self.system, config, image)?;
        self.shape.write(&self.image_of(&self.state(config), g)?, image);
        Some(())
    }

    fn successors(&self, config: &[Cell], scratch: &mut Vec<Cell>, visit: Visit<'_>) -> bool {
        let mut controls = config[..self.head.processes].to_vec();
        // After a race nothing is defined.
        if self.system.raced(&controls).is_some() {
            return true;
        }
        let state = self.state(config);
        let mut is_complete = true;
        for p in self.system.process_ids() {
            for (id, t) in self.steps(&state, p, control(config, p)) {
                for at in Self::choices(&state, p.index(), t.op) {
                    let mut next = state.clone();
                    let taken = match self.take(&mut next, p.index(), t.op, t.order, at) {
                        Ok(taken) => taken,
                        Err(Not::Consistent) => continue,
                        Err(Not::Room) => {
                            is_complete = false;
                            continue;
                        }
                    };
                    // A round that races changes what is defined.
                    if !self.follow_trail(&mut next, p, t) && taken == Taken::Well {
                        continue;
                    }
                    let (id, to) = match taken {
                        Taken::Well => (id, t.to),
                        Taken::Raced => self.system.racing(p, id),
                    };
                    controls[p.index()] = to.0;
                    self.forget(&controls, &mut next);
                    self.encode(&controls, &next, scratch);
                    let (rule, way) = Self::rule(&state, t.op, at);
                    visit(Step { way, ..Step::take(p, rule, id) }, scratch);
                }
            }
            controls[p.index()] = config[p.index()];
        }
        is_complete
    }

    /// Steps that nobody else can observe, disable or make different: fences that are not `seq_cst`, and accesses of a location that
    /// no other process may write any more, of which this one has seen the newest message.
    ///
    /// A read of this kind has one message to read. A write goes behind all messages, so its key is greater than those of all
    /// other accesses, and it closes no cycle: nothing has to come after it. It commutes with the steps of the others, which
    /// may only read more after it. If it races with a later access, that access finds the race.
    fn take_quietly(
        &self,
        config: &mut Vec<Cell>,
        process: ProcessId,
        t: &Transition,
    ) -> Option<Rule> {
        let p = process.index();
        let is_last = |state: &State, x: VarId| {
            let mut others = (0..self.head.processes).filter(|&q| q != p);
            Self::readable(state, p, x).len() == 1
                && state.folded_for(p, x).is_empty()
                && !others.any(|q| self.ahead(q, config[q]).writes[x.index()])
        };
        if t.order.is_seq_cst() || t.order == Order::Fenced {
            return None;
        }
        let mut state = match t.op {
            Op::Nop => self.state(config),
            Op::Fence(kind) if kind != FenceKind::Full => self.state(config),
            Op::Read(x, _) | Op::Write(x, _) => {
                Some(self.state(config)).filter(|state| is_last(state, x))?
            }
            Op::Fence(_) | Op::Arw(..) => return None,
        };
        let at = match t.op {
            Op::Read(x, _) => state.messages[x.index()].len() - 1,
            Op::Write(x, _) => state.messages[x.index()].len(),
            _ => 0,
        };
        let (rule, _) = Self::rule(&state, t.op, at);
        let taken = self.take(&mut state, p, t.op, t.order, at).ok()?;
        (taken == Taken::Well && self.follow_trail(&mut state, process, t)).then_some(())?;
        let mut controls = config[..self.head.processes].to_vec();
        controls[p] = t.to.0;
        self.forget(&controls, &mut state);
        self.encode(&controls, &state, config);
        Some(rule)
    }

    fn take_read_quietly(
        &self,
        config: &mut Vec<Cell>,
        process: ProcessId,
        t: &Transition,
    ) -> Option<Rule> {
        self.take_quietly(config, process, t)
    }

    /// The newest value, if that is all that a process may read.
    fn sees(&self, config: &[Cell], process: ProcessId, var: VarId) -> Option<ValueId> {
        let state = self.state(config);
        let is_one = Self::readable(&state, process.index(), var).len() == 1
            && state.folded_for(process.index(), var).is_empty();
        is_one.then(|| self.head.get(config, var))
    }

    fn has_under_way(&self, _config: &[Cell], _process: ProcessId, _var: VarId) -> bool {
        false
    }
}
