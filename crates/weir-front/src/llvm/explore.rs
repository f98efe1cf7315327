//! States and points: the partial evaluation itself.
//!
//! A state has the calls that are executed, with what local values hold, and the memory that only this thread knows.
//! [`Reader::explore`] executes instructions and writes statements; where the code branches on something that only the
//! run knows, it executes both ways. At a *point* a state is brought into a form that depends on little: dead
//! values are left out, and each value that is not known is in the register that belongs to it. States of the same form are
//! the same point.
//!
//! **Why it ends.** A place of the code has at most [`MAX_VARIANTS`] points with different known values for the same calls.
//! After that, what differs from the last one is no longer known there. Calls nest at most [`MAX_CALLS`] deep.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use weir_llvm::{Block, Body, Kind, LocalId};
use weir_model::ids::{LabelId, RegId};
use weir_model::program::{Code, Expr, Label, Stmt, StmtKind};

use super::objects::{Bytes, Key, ObjectId, Val};
use super::{Home, Reader};

/// How many points one place of the code has before values become registers.
const MAX_VARIANTS: usize = 24;

/// How many points a thread may have.
const MAX_POINTS: usize = 20_000;

/// How deep calls may nest.
pub(super) const MAX_CALLS: usize = 100;

/// How deep branches nest in one piece of code.
const MAX_BRANCHES: usize = 12;

/// How deep they nest where no point can be: in an atomic block.
const MAX_NESTED: usize = 60;

/// What happens when a call returns.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Then {
    /// The result is this value of the caller, which goes on behind the call.
    GoOn(Option<u32>),
    /// The caller goes on with something that it calls next: a function with one argument.
    Call(i128, Val),
    /// The caller goes on, and the result is not used.
    Forget,
    /// The caller begins: a constructor of global variables has run.
    Once,
}

/// A call.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    pub context: u32,
    pub function: usize,
    pub block: u32,
    pub at: usize,
    pub values: BTreeMap<u32, Vec<Val>>,
    pub then: Then,
}

/// A state of a thread.
#[derive(Clone, Debug)]
pub(super) struct State {
    pub frames: Vec<Frame>,
    /// What objects hold that no other thread can reach now.
    pub own: BTreeMap<ObjectId, Bytes>,
    /// Private objects that were freed.
    pub dead: BTreeSet<ObjectId>,
    /// How often each place has allocated.
    pub allocated: BTreeMap<(u32, u32, u32), u32>,
    /// The threads that it has started.
    pub begun: Vec<usize>,
    /// How many rounds loops have had, by call and first block, if there is a limit.
    pub rounds: BTreeMap<(u32, u32), u32>,
    /// Whether it is in an atomic block.
    pub is_atomic: bool,
    /// With how many calls it goes on behind the atomic block, if that is a function.
    pub atomic_until: Option<usize>,
}

/// What makes a point.
type PointKey = (
    Vec<(u32, usize, u32, usize, Then, Vec<(u32, Vec<Val>)>)>,
    Vec<(ObjectId, Bytes)>,
    BTreeSet<ObjectId>,
    BTreeMap<(u32, u32, u32), u32>,
    Vec<usize>,
    BTreeMap<(u32, u32), u32>,
);

/// A value of a state at a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Position {
    Local(usize, u32, u32),
    Bytes(ObjectId, u64, u64),
}

/// The points of a place of the code.
#[derive(Default)]
struct Variants {
    count: usize,
    last: Option<State>,
    /// What is no longer known there.
    varying: BTreeSet<Position>,
}

/// The points of the thread that is translated.
#[derive(Default)]
pub(super) struct Explorer {
    points: HashMap<PointKey, LabelId>,
    variants: HashMap<(u32, u32, usize), Variants>,
    open: Vec<(LabelId, State)>,
}

impl State {
    pub fn top(&mut self) -> &mut Frame {
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    /// All values, to be changed.
    fn each(&mut self, visit: &mut dyn FnMut(Position, u32, &mut Val)) {
        for (depth, frame) in self.frames.iter_mut().enumerate() {
            for (local, values) in &mut frame.values {
                for (part, value) in values.iter_mut().enumerate() {
                    visit(Position::Local(depth, *local, part as u32), frame.context, value);
                }
            }
        }
        for (object, bytes) in &mut self.own {
            // What is not changed stays shared with other states.
            let mut changed = Vec::new();
            for (at, size, before) in bytes.scalars() {
                let mut value = before;
                visit(Position::Bytes(*object, at, size), 0, &mut value);
                if value != before {
                    changed.push((at, size, value));
                }
            }
            changed.into_iter().for_each(|(at, size, value)| bytes.set(at, size, value));
        }
    }

    /// Whether some value is in a register.
    pub fn uses_register(&self, register: RegId) -> bool {
        let mut locals = self.frames.iter().flat_map(|frame| frame.values.values().flatten());
        locals.any(|value| *value == Val::Reg(register))
            || self.own.values().any(|bytes| bytes.uses_register(register))
    }

    /// All values by their positions.
    fn values(&mut self) -> BTreeMap<Position, Val> {
        let mut values = BTreeMap::new();
        self.each(&mut |position, _, value| {
            values.insert(position, *value);
        });
        values
    }
}

impl<'m> Reader<'m> {
    pub(super) fn blocks(&self, function: usize) -> &'m [Block] {
        match &self.module.functions[function].body {
            Body::Blocks(blocks) => blocks,
            _ => &[],
        }
    }

    /// Translates the current thread from a state on.
    pub(super) fn translate(&mut self, state: State) {
        self.explorer = Explorer::default();
        self.thread().code.push(Vec::new());
        let mut out = Vec::new();
        self.explore(state, &mut out, 0);
        let current = self.current;
        self.threads[current].code[0] = out;
        while let Some((label, state)) = self.explorer.open.pop() {
            if self.is_stopped() {
                return;
            }
            let mut out = vec![Stmt::new(StmtKind::Label(label), self.span)];
            self.explore(state, &mut out, 0);
            self.threads[current].code.push(out);
        }
    }

    /// Executes a state until all its ways have ended or have come to points.
    pub(super) fn explore(&mut self, mut state: State, out: &mut Vec<Stmt>, depth: usize) {
        loop {
            self.steps += 1;
            if self.steps > super::MAX_STEPS {
                self.too_large(
                    "the program does more before it starts threads, or is larger, than is read",
                );
            }
            if depth > MAX_NESTED {
                self.refuse("branches nest too deep here; a loop in an atomic block is not read");
            }
            if self.is_stopped() {
                return;
            }
            let top = state.top();
            let (function, block, at) = (top.function, top.block as usize, top.at);
            let Some(instruction) =
                self.blocks(function).get(block).and_then(|b| b.instructions.get(at))
            else {
                return self.refuse("a block of this function has no end");
            };
            self.calls = state.frames.iter().map(|frame| frame.function).collect();
            self.thread().temporaries = 0;
            self.locate(instruction, &state);
            if !self.step(&mut state, instruction, out, depth) {
                return;
            }
        }
    }

    /// Finds the place of an instruction: its own one in the user's texts, or that of a call around it.
    fn locate(&mut self, instruction: &weir_llvm::Instruction, state: &State) {
        let own = instruction.location.and_then(|id| self.places.range(id, &mut self.source));
        let mut found = own;
        if found.is_none() {
            for frame in state.frames.iter().rev().skip(1) {
                let call =
                    &self.blocks(frame.function)[frame.block as usize].instructions[frame.at];
                found = call.location.and_then(|id| self.places.range(id, &mut self.source));
                if found.is_some() {
                    break;
                }
            }
        }
        let range = found.unwrap_or_else(|| {
            if !self.is_module {
                // Nothing of the user's is executed, such as what runs before and behind `main`.
                return 0..0;
            }
            // No source: the line of this text.
            let start = (instruction.at as usize).min(self.source.text.len());
            let rest = &self.source.text[start..];
            let line = rest.find('\n').unwrap_or(rest.len());
            let end = rest[..line].find(", !dbg").unwrap_or(line);
            start..start + end
        });
        self.at(range);
    }

    /// A program that is too large is refused. If a loop is the reason, the error says how it can be shortened.
    pub(super) fn too_large(&mut self, words: &str) {
        const MANY: u64 = 200;
        let most =
            self.loops.values().max_by_key(|(count, span)| (*count, std::cmp::Reverse(*span)));
        let words = match most {
            Some((count, span)) if *count > MANY => {
                let line = self.source.line(*span);
                format!(
                    "{words}: the loop in line {line} has more than {count} rounds; `--unroll 3` follows only three"
                )
            }
            _ => words.to_owned(),
        };
        self.refuse(words);
    }

    /// Goes to a block. Returns whether execution goes on here.
    pub(super) fn go(
        &mut self,
        state: &mut State,
        to: u32,
        out: &mut Vec<Stmt>,
        depth: usize,
    ) -> bool {
        let from = state.top().block;
        let function = state.top().function;
        let blocks = self.blocks(function);
        // All of them read what was there before.
        let mut set = Vec::new();
        let mut at = 0;
        for instruction in &blocks[to as usize].instructions {
            let Kind::Phi(ty, ways) = &instruction.kind else { break };
            at += 1;
            let Some(LocalId(result)) = instruction.result else { continue };
            let Some((value, _)) = ways.iter().find(|(_, way)| way.0 == from) else {
                self.refuse("a way into this block has no value");
                return false;
            };
            let Some(values) = self.value(state, *ty, value, out) else { return false };
            set.push((result, values));
        }
        let top = state.top();
        for (result, values) in set {
            top.values.insert(result, values);
        }
        (top.block, top.at) = (to, at);
        let info = self.info(function);
        if info.rounds.contains(&(from, to)) {
            let span = self.span;
            self.loops.entry((function, to)).or_insert((0, span)).0 += 1;
        }
        if let Some(most) = self.options.unroll {
            let key = (state.top().context, to);
            if !info.rounds.contains(&(from, to)) {
                state.rounds.remove(&key);
            } else {
                let count = state.rounds.entry(key).or_insert(0);
                *count += 1;
                if *count > most {
                    self.limit(&format!("a loop has more than {most} rounds"), out);
                    return false;
                }
            }
        }
        let is_point = info.ways_in[to as usize] > 1 || depth >= MAX_BRANCHES;
        if is_point && !self.is_alone && !state.is_atomic {
            let state = state.clone();
            self.point(state, out);
            return false;
        }
        true
    }

    /// Executes another way of a branch, in a block of its own.
    pub(super) fn way(&mut self, mut state: State, to: u32, out: &mut Vec<Stmt>, depth: usize) {
        if self.go(&mut state, to, out, depth + 1) {
            self.explore(state, out, depth + 1);
        }
    }

    /// What is needed of a frame.
    fn needed(&mut self, frame: &Frame, is_top: bool) -> Rc<BTreeSet<u32>> {
        let at = if is_top { frame.at } else { frame.at + 1 };
        let key = (frame.function, frame.block, at);
        if let Some(live) = self.live.get(&key) {
            return live.clone();
        }
        let info = self.info(frame.function);
        let blocks = self.blocks(frame.function);
        let live = Rc::new(info.live_at(self.module, blocks, frame.block as usize, at));
        self.live.insert(key, live.clone());
        live
    }

    /// Comes to a point: writes what brings values into their registers, and the jump.
    pub(super) fn point(&mut self, mut state: State, out: &mut Vec<Stmt>) {
        let count = state.frames.len();
        for depth in 0..count {
            let needed = self.needed(&state.frames[depth].clone(), depth + 1 == count);
            // The result of the call is set when it returns.
            let result = match &state.frames.get(depth + 1).map(|f| f.then.clone()) {
                Some(Then::GoOn(result)) => *result,
                _ => None,
            };
            state.frames[depth]
                .values
                .retain(|local, _| needed.contains(local) && Some(*local) != result);
        }
        // Known addresses of stack slots that are no longer there stay; their bytes are not needed.
        let place = {
            let top = state.top();
            (top.context, top.block, top.at)
        };
        let variants = self.explorer.variants.entry(place).or_default();
        if variants.count >= MAX_VARIANTS
            && let Some(last) = &mut variants.last
        {
            let last = last.values();
            for (position, value) in state.values() {
                if last.get(&position).is_some_and(|last| *last != value) {
                    variants.varying.insert(position);
                }
            }
        }
        let varying = variants.varying.clone();
        self.settle(&mut state, &varying, out);
        let key: PointKey = (
            (state.frames.iter())
                .map(|f| {
                    let values = f.values.iter().map(|(l, v)| (*l, v.clone())).collect();
                    (f.context, f.function, f.block, f.at, f.then.clone(), values)
                })
                .collect(),
            state.own.iter().map(|(o, b)| (*o, b.clone())).collect(),
            state.dead.clone(),
            state.allocated.clone(),
            state.begun.clone(),
            state.rounds.clone(),
        );
        if let Some(&label) = self.explorer.points.get(&key) {
            return self.emit(out, StmtKind::Goto(label));
        }
        let label = self.label("l");
        if self.explorer.points.len() >= MAX_POINTS {
            return self.too_large(&format!(
                "this thread has more than {MAX_POINTS} places with different values"
            ));
        }
        self.explorer.points.insert(key, label);
        let variants = self.explorer.variants.entry(place).or_default();
        variants.count += 1;
        variants.last = Some(state.clone());
        self.explorer.open.push((label, state));
        self.emit(out, StmtKind::Goto(label));
    }

    /// A new label of the thread.
    pub(super) fn label(&mut self, name: &str) -> LabelId {
        let span = self.span;
        let labels = &mut self.thread().labels;
        let label = LabelId::new(labels.len());
        let name = format!("{name}{}", labels.len() + 1);
        labels.push(Label { name, span });
        label
    }

    /// Brings every value that is in a register, or that varies, into the register that belongs to it:
    /// all at once.
    fn settle(&mut self, state: &mut State, varying: &BTreeSet<Position>, out: &mut Vec<Stmt>) {
        let mut moves: Vec<(Home, Val, Position)> = Vec::new();
        state.each(&mut |position, context, value| {
            let home = match position {
                Position::Local(_, local, part) => Home::Local(context, local, part, 0),
                Position::Bytes(object, at, size) => Home::Bytes(object, at, size),
            };
            if varying.contains(&position) || matches!(value, Val::Reg(_)) {
                moves.push((home, *value, position));
            }
        });
        let mut targets = BTreeMap::new();
        let mut open: Vec<(RegId, Val)> = Vec::new();
        for (home, value, position) in moves {
            let register = self.register(home, || "v".to_owned());
            let held = self.addresses_of(value);
            self.may_hold(register, &held);
            targets.insert(position, register);
            if value != Val::Reg(register) {
                open.push((register, value));
            }
        }
        state.each(&mut |position, _, value| {
            if let Some(register) = targets.get(&position) {
                *value = Val::Reg(*register);
            }
        });
        while !open.is_empty() {
            let is_read = |r: RegId| open.iter().any(|(_, v)| *v == Val::Reg(r));
            match open.iter().position(|(target, _)| !is_read(*target)) {
                Some(free) => {
                    let (target, value) = open.swap_remove(free);
                    let code = self.copied(value);
                    self.emit(out, StmtKind::Assign(target, code));
                }
                None => {
                    // All are read by others: one goes through another register.
                    let (target, value) = open[0];
                    let Val::Reg(_) = value else { return };
                    let spare = self.temporary();
                    self.emit(out, StmtKind::Assign(spare, Expr::Atom(target)));
                    for (_, read) in &mut open {
                        if *read == Val::Reg(target) {
                            *read = Val::Reg(spare);
                        }
                    }
                }
            }
        }
    }

    /// The register for a local value of the topmost call: one that no other value is in.
    pub(super) fn home(&mut self, state: &mut State, local: u32, part: u32) -> RegId {
        let context = state.top().context;
        let function = state.top().function;
        let name =
            self.module.functions[function].locals.get(local as usize).cloned().unwrap_or_default();
        let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic());
        let name: String =
            name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        let name = if is_name { name } else { "v".to_owned() };
        state.top().values.remove(&local);
        let mut number = 0;
        loop {
            let register =
                self.register(Home::Local(context, local, part, number), || name.clone());
            if !state.uses_register(register) || number > 50 {
                return register;
            }
            number += 1;
        }
    }

    /// Sets a local value to what code computes.
    pub(super) fn set_code(
        &mut self,
        state: &mut State,
        local: u32,
        code: Code,
        out: &mut Vec<Stmt>,
    ) -> Val {
        let value = match code {
            Expr::Const(n) => Val::Known(n),
            Expr::Atom(r) => Val::Reg(r),
            code => {
                let register = self.home(state, local, 0);
                self.emit(out, StmtKind::Assign(register, code));
                Val::Reg(register)
            }
        };
        state.top().values.insert(local, vec![value]);
        value
    }

    /// Whether an object belongs to the stack of calls that have returned; what it holds is forgotten.
    pub(super) fn forget_stack(&mut self, state: &mut State, context: u32) {
        let facts = &self.facts;
        state
            .own
            .retain(|id, _| !matches!(facts.get(*id).key, Key::Stack(_, of, _) if of == context));
    }
}

/// A value as code.
pub(super) fn code_of(value: Val) -> Code {
    match value {
        Val::Known(n) => Expr::Const(n),
        Val::Reg(r) => Expr::Atom(r),
        Val::Undef => Expr::Const(0),
    }
}
