//! Robustness of traces under TSO, decided by searches under SC.
//!
//! *Source*: Bouajjani et al. 2013. If some run has a cycle in its trace, there is an
//! *attack*: a run with a cycle in which only one process, the attacker, delays writes. `p` is the
//! attacker, `st` the first write that it delays, `x` the variable of `st`. An attack has three
//! parts, and each part is a search of its own:
//!
//! * **A.** All SC configurations: control states and memory.
//! * **B.** From each configuration of A in which `p` can do a plain write, the write goes to the
//!   buffer of `p`, and from then on only `p` moves. It reads the last own value of a variable that
//!   it has buffered, and memory otherwise. Its further writes are buffered. It passes no full
//!   fence and no atomic operation. Memory does not change, so a state of B is `p`, `x`, control
//!   states, memory, and the last own value of each buffered variable.
//! * **C.** From each state of B in which `p` reads a variable `y` from memory, `p` stops for good.
//!   The others move under SC, and only with accesses that happen after this read. C keeps the
//!   set of *infected* processes (none at first) and a mark for each variable (`y` is marked R, the
//!   others are not). `q` may access `v` if `q` is infected, or `v` is marked W, or `v` is marked R
//!   and the access writes. After the access `q` is infected, and `v` is marked W if the access
//!   writes or `v` was marked W, and R otherwise. If such an access is to `x`, there is an attack:
//!   `st`, by program order the read, by this chain the access to `x`, and from there `st` again,
//!   which reaches memory later.
//!
//! If no access in C is to `x`, the program is robust. All three sets are finite whenever the SC
//! configurations are, so the searches end.
//!
//! *What differs from the paper*: it instruments the program once for each pair of a store and a
//! load, and asks an SC model checker. Here one search serves all pairs, since states of B and C
//! do not contain the instructions.
//!
//! *Reductions*. A step that accesses nothing and is the only step of its process is taken at once
//! with the step before it: it commutes with all steps of others, and no trace contains it. A
//! state of B is left out if no variable can be read from memory that another process may still
//! write, before a fence, and a state of C if no other process may still access `x`. Both are
//! computed from the code ([`crate::ahead`]). [`closed_sets`] uses none of them, since its checker
//! takes every single step.

mod told;

use std::cell::RefCell;
use std::time::Instant;

use weir_model::answer::{AttackSets, Run};
use weir_model::ids::{Cell, ProcessId, StateId, TransitionId, ValueId, VarId};
use weir_model::limits::{Budget, INTERVAL};
use weir_model::program::FenceKind;
use weir_model::system::{Op, Standing, System, Transition};

use super::access;
use crate::ahead::{self, ByPlace};
use crate::stats::{Progress, Stats};
use crate::store::{ConfigId, Full, Parent, Store};

/// What the search for an attack found.
#[derive(Clone, Debug)]
pub enum Attacks {
    /// There is none: every run has the trace of an SC run.
    None,
    /// A run under TSO whose trace has a cycle. All its writes have reached memory in the end.
    Run(Run),
    /// It is not known, for this reason.
    Unknown(String),
}

/// Looks for an attack under TSO.
pub fn search(system: &System, budget: &Budget, progress: Progress<'_>) -> (Attacks, Stats) {
    let began = Instant::now();
    let mut search = match Search::new(system, false, budget, began) {
        Ok(search) => search,
        Err(stop) => {
            let stats = Stats { engine: NAME, stopped: Some(stop.to_string()), ..Stats::default() };
            return (Attacks::Unknown(stop.to_string()), stats);
        }
    };
    let found = match search.go(progress) {
        Ok(Some(end)) => Attacks::Run(search.run(&end)),
        Ok(None) => match search.lost() {
            None => Attacks::None,
            Some(reason) => Attacks::Unknown(reason),
        },
        Err(full) => Attacks::Unknown(full.to_string()),
    };
    search.measure();
    if let Attacks::Unknown(reason) = &found {
        search.stats.stopped = Some(reason.clone());
        search.stats.growth = system.growth();
    }
    (found, search.stats)
}

/// The sets A, B and C of a program that has no attack, for a proof.
///
/// # Errors
/// If a limit is reached, a value leaves its bound, or there is an attack.
pub fn closed_sets(system: &System, budget: &Budget) -> Result<AttackSets, String> {
    let mut search =
        Search::new(system, true, budget, Instant::now()).map_err(|stop| stop.to_string())?;
    match search.go(&mut |_| {}).map_err(|full| full.to_string())? {
        Some(_) => Err("there is an attack".to_owned()),
        None => match search.lost() {
            Some(reason) => Err(reason),
            None => Ok(search.sets()),
        },
    }
}

/// What the search is called in statistics.
const NAME: &str = "attacks";

/// Chains of steps that access nothing are followed so far.
const LONGEST_CHAIN: usize = 1000;

/// Where a state of B or C was reached from.
#[derive(Clone, Copy, PartialEq)]
enum From {
    /// The same part.
    Same(ConfigId),
    /// The part before.
    Before(ConfigId),
}

impl Parent for From {
    const NONE: Self = Self::Before(ConfigId::NONE);

    fn code(self) -> u64 {
        match self {
            Self::Same(id) => id.code() << 1,
            Self::Before(id) => id.code() << 1 | 1,
        }
    }

    fn decode(code: u64) -> Self {
        let id = ConfigId::decode(code >> 1);
        if code & 1 == 0 { Self::Same(id) } else { Self::Before(id) }
    }
}

/// An attack: a state of C and the access to `x` that completes the cycle.
struct End {
    chain: ConfigId,
    process: ProcessId,
    transition: TransitionId,
}

/// Where processes come to rest, by control state: none if that is not computed.
type Rests = Vec<Vec<Option<StateId>>>;

/// A configuration of A has the control states and the memory. A state of B begins with `p` and
/// `x`, and ends with a cell for each variable: 0, or 1 more than the last own value. A state of C
/// begins with `p` and `x`, has 0 as the control state of `p`, and ends with a cell for each process
/// (1 if it is infected) and for each variable (its mark).
struct Search<'s> {
    system: &'s System,
    budget: &'s Budget,
    began: Instant,
    processes: usize,
    vars: usize,
    /// Whether every single state is stored.
    whole: bool,
    /// For each process what can be read before the next fence, and what can be written and
    /// accessed at all.
    readable: Vec<ByPlace>,
    written: Vec<ByPlace>,
    used: Vec<ByPlace>,
    /// Where processes come to rest under SC, and where a process that has buffered writes does.
    rests: RefCell<[Rests; 2]>,
    a: Store,
    b: Store<From>,
    c: Store<From>,
    stats: Stats,
}

/// Whether full fences are passed on the way to rest: under SC, and not behind buffered writes.
#[derive(Clone, Copy)]
enum Memory {
    Sc,
    Buffered,
}

const UNMARKED: Cell = 0;
const READ: Cell = 1;
const WRITTEN: Cell = 2;

impl<'s> Search<'s> {
    fn new(
        system: &'s System,
        whole: bool,
        budget: &'s Budget,
        began: Instant,
    ) -> Result<Self, weir_model::limits::Stop> {
        let all = || system.process_ids();
        let n = system.processes.len();
        Ok(Self {
            system,
            budget,
            began,
            processes: n,
            vars: system.vars.len(),
            whole,
            readable: all()
                .map(|p| ahead::readable(system, p, budget))
                .collect::<Result<_, _>>()?,
            written: all().map(|p| ahead::written(system, p, budget)).collect::<Result<_, _>>()?,
            used: all().map(|p| ahead::used(system, p, budget)).collect::<Result<_, _>>()?,
            rests: RefCell::new([vec![vec![]; n], vec![vec![]; n]]),
            a: Store::within(budget),
            b: Store::within(budget),
            c: Store::within(budget),
            stats: Stats { engine: NAME, within_bound: true, ..Stats::default() },
        })
    }

    /// Searches until there is an attack, or no state is left.
    fn go(&mut self, progress: Progress<'_>) -> Result<Option<End>, Full> {
        for memory in self.system.initial_memories() {
            let states = self.system.processes.iter().map(|p| p.initial);
            let mut config: Vec<Cell> = states.map(|s| s.0).collect();
            config.extend(memory.iter().map(|v| v.0));
            for p in self.system.process_ids() {
                self.rest(&mut config, p, Memory::Sc);
            }
            self.a.insert(&config, None)?;
        }
        let mut config = Vec::new();
        // Successors, one behind the other: those of one part have the same length.
        let mut found: Vec<Cell> = Vec::new();
        loop {
            if self.stats.expanded.is_multiple_of(INTERVAL) {
                self.measure();
                self.budget.check_store(self.stats.bytes)?;
                progress(&self.stats);
            }
            self.stats.expanded += 1;
            found.clear();
            if let Some(id) = self.c.take_next() {
                self.c.read(id, &mut config);
                let mut end = None;
                self.c_steps(&config, |process, transition, next| match next {
                    Some(next) => found.extend_from_slice(next),
                    None => end = end.or(Some((process, transition))),
                });
                if let Some((process, transition)) = end {
                    return Ok(Some(End { chain: id, process, transition }));
                }
                for next in found.chunks_exact(config.len()) {
                    self.insert_chain(next, From::Same(id))?;
                }
            } else if let Some(id) = self.b.take_next() {
                self.b.read(id, &mut config);
                let own = &config[config.len() - self.vars..];
                let mut reads = Vec::new();
                self.b_steps(&config, |_, t, next| {
                    reads.extend(read_from_memory(t, own));
                    found.extend_from_slice(next);
                });
                for y in reads {
                    self.insert_chain(&self.chain(&config, y), From::Before(id))?;
                }
                for next in found.chunks_exact(config.len()) {
                    self.insert_delay(next, From::Same(id))?;
                }
            } else if let Some(id) = self.a.take_next() {
                self.a.read(id, &mut config);
                self.a_steps(&config, |_, _, next| found.extend_from_slice(next));
                for next in found.chunks_exact(config.len()) {
                    self.stats.steps += 1;
                    self.a.insert(next, Some(id))?;
                }
                found.clear();
                self.delays(&config, |_, _, next| found.extend_from_slice(next));
                for next in found.chunks_exact(2 + config.len() + self.vars) {
                    self.insert_delay(next, From::Before(id))?;
                }
            } else {
                return Ok(None);
            }
        }
    }

    fn insert_delay(&mut self, next: &[Cell], from: From) -> Result<(), Full> {
        self.stats.steps += 1;
        if self.may_read(next) {
            self.b.insert(next, Some(from))?;
        }
        Ok(())
    }

    fn insert_chain(&mut self, next: &[Cell], from: From) -> Result<(), Full> {
        self.stats.steps += 1;
        if self.may_reach(next) {
            self.c.insert(next, Some(from))?;
        }
        Ok(())
    }

    /// Takes the steps of a process that access nothing, as long as they are the only ones.
    fn rest(&self, controls: &mut [Cell], p: ProcessId, memory: Memory) {
        if self.whole {
            return;
        }
        let from = StateId(controls[p.index()]);
        let known = &mut self.rests.borrow_mut()[memory as usize][p.index()];
        if known.len() <= from.index() {
            known.resize(from.index() + 1, None);
        }
        let last = || chain(self.system, p, from, memory).last().map_or(from, |(_, t)| t.to);
        controls[p.index()] = known[from.index()].get_or_insert_with(last).0;
    }

    /// The steps of a process under SC from control states and memory.
    #[inline]
    fn step(
        &self,
        config: &[Cell],
        (p, at): (ProcessId, usize),
        next: &mut Vec<Cell>,
        mut visit: impl FnMut(TransitionId, &Transition, &mut Vec<Cell>),
    ) {
        let memory = at + self.processes;
        let see = |x: VarId, _| ValueId(config[memory + x.index()]);
        for (id, t) in self.system.steps_on(p, StateId(config[at + p.index()]), see) {
            next.clear();
            next.extend_from_slice(config);
            match t.op {
                Op::Nop | Op::Fence(_) => {}
                Op::Read(x, d) if see(x, false) == d => {}
                Op::Write(x, d) => next[memory + x.index()] = d.0,
                Op::Arw(x, d, e) if see(x, true) == d => next[memory + x.index()] = e.0,
                Op::Read(..) | Op::Arw(..) => continue,
            }
            next[at + p.index()] = t.to.0;
            self.rest(&mut next[at..], p, Memory::Sc);
            visit(id, t, next);
        }
    }

    /// The steps of A.
    fn a_steps(&self, config: &[Cell], mut visit: impl FnMut(ProcessId, TransitionId, &[Cell])) {
        let mut space = Vec::new();
        for p in self.system.process_ids() {
            self.step(config, (p, 0), &mut space, |id, _, next| visit(p, id, next));
        }
    }

    /// The steps from A to B: a process begins to delay.
    fn delays(&self, config: &[Cell], mut visit: impl FnMut(ProcessId, TransitionId, &[Cell])) {
        let system = self.system;
        for p in system.process_ids() {
            if system.reads(p, StateId(config[p.index()])).is_some() {
                continue;
            }
            for (id, t) in system.steps_on(p, StateId(config[p.index()]), |_, _| ValueId(0)) {
                let Op::Write(x, d) = t.op else { continue };
                let mut next = vec![p.index() as Cell, x.index() as Cell];
                next.extend_from_slice(config);
                next.resize(next.len() + self.vars, 0);
                let own = next.len() - self.vars;
                next[own + x.index()] = d.0 + 1;
                next[2 + p.index()] = t.to.0;
                self.rest(&mut next[2..], p, Memory::Buffered);
                visit(p, id, &next);
            }
        }
    }

    /// The steps of B.
    fn b_steps(&self, config: &[Cell], mut visit: impl FnMut(TransitionId, &Transition, &[Cell])) {
        let mut next = Vec::new();
        let p = ProcessId::new(config[0] as usize);
        let (memory, own) = (2 + self.processes, 2 + self.processes + self.vars);
        let see = |x: VarId, _| match config[own + x.index()] {
            0 => ValueId(config[memory + x.index()]),
            value => ValueId(value - 1),
        };
        for (id, t) in self.system.steps_on(p, StateId(config[2 + p.index()]), see) {
            next.clear();
            next.extend_from_slice(config);
            match t.op {
                Op::Nop | Op::Fence(FenceKind::Read | FenceKind::Write) => {}
                Op::Read(x, d) if see(x, false) == d => {}
                Op::Write(x, d) => next[own + x.index()] = d.0 + 1,
                Op::Read(..) | Op::Arw(..) | Op::Fence(FenceKind::Full) => continue,
            }
            next[2 + p.index()] = t.to.0;
            self.rest(&mut next[2..], p, Memory::Buffered);
            visit(id, t, &next);
        }
    }

    /// The state of C in which the process of a state of B has read a variable from memory.
    fn chain(&self, delay: &[Cell], y: VarId) -> Vec<Cell> {
        let mut chain = delay[..2 + self.processes + self.vars].to_vec();
        chain[2 + delay[0] as usize] = 0;
        chain.resize(chain.len() + self.processes + self.vars, 0);
        let marks = chain.len() - self.vars;
        chain[marks + y.index()] = READ;
        chain
    }

    /// The steps of C that are part of the chain; the last one, to `x`, leads nowhere.
    fn c_steps(
        &self,
        config: &[Cell],
        mut visit: impl FnMut(ProcessId, TransitionId, Option<&[Cell]>),
    ) {
        let (attacker, first) = (config[0] as usize, config[1] as usize);
        let mut space = Vec::new();
        let infected = 2 + self.processes + self.vars;
        let marks = infected + self.processes;
        for q in self.system.process_ids().filter(|q| q.index() != attacker) {
            let is_infected = config[infected + q.index()] == 1;
            self.step(config, (q, 2), &mut space, |id, t, next| {
                let Some((v, writes)) = access(t.op) else {
                    if is_infected {
                        visit(q, id, Some(next));
                    }
                    return;
                };
                let mark = config[marks + v.index()];
                if !is_infected && mark != WRITTEN && !(mark == READ && writes) {
                    return;
                }
                if v.index() == first {
                    return visit(q, id, None);
                }
                next[infected + q.index()] = 1;
                next[marks + v.index()] = if writes || mark == WRITTEN { WRITTEN } else { READ };
                visit(q, id, Some(next));
            });
        }
    }

    /// Whether the process of a state of B may read a variable from memory, before a fence, that
    /// another process may still write, and whether another process may still access `x`.
    fn may_read(&self, delay: &[Cell]) -> bool {
        let p = ProcessId::new(delay[0] as usize);
        let own = &delay[2 + self.processes + self.vars..];
        let readable = &self.readable[p.index()];
        let readable = readable.at(self.system, p, StateId(delay[2 + p.index()]));
        let is_written = |y: usize| self.others(delay).any(|(q, s)| self.writes(q, s, y));
        self.whole
            || self.may_reach(delay)
                && (0..self.vars).any(|y| own[y] == 0 && readable[y] && is_written(y))
    }

    fn writes(&self, q: ProcessId, state: StateId, y: usize) -> bool {
        self.written[q.index()].at(self.system, q, state)[y]
    }

    /// Whether some process but the attacker may still access `x`, in a state of B or C.
    fn may_reach(&self, config: &[Cell]) -> bool {
        let x = config[1] as usize;
        let uses = |(q, s): (ProcessId, StateId)| self.used[q.index()].at(self.system, q, s)[x];
        self.whole || self.others(config).any(uses)
    }

    /// The other processes of a state of B or C, with their control states.
    fn others<'c>(&self, config: &'c [Cell]) -> impl Iterator<Item = (ProcessId, StateId)> + 'c {
        let attacker = config[0] as usize;
        let all = self.system.process_ids().filter(move |q| q.index() != attacker);
        all.map(|q| (q, StateId(config[2 + q.index()])))
    }

    /// Why the search does not show that there is no attack, if it does not.
    fn lost(&self) -> Option<String> {
        if let Some(reason) = self.system.excess() {
            return Some(reason.to_owned());
        }
        let left = self.system.process_ids().any(|p| {
            let met = (0..self.system.met(p)).map(StateId::new);
            met.into_iter().any(|s| self.system.state(p, s).standing() == Standing::OutOfBounds)
        });
        left.then(|| "a value leaves its bound".to_owned())
    }

    fn measure(&mut self) {
        self.stats.bytes = self.a.bytes() + self.b.bytes() + self.c.bytes();
        self.stats.stored = self.a.len() + self.b.len() + self.c.len();
        self.stats.elapsed = self.began.elapsed();
    }
}

/// The variable that a step of B reads from memory, if it does; with the own values.
fn read_from_memory(t: &Transition, own: &[Cell]) -> Option<VarId> {
    match t.op {
        Op::Read(y, _) if own[y.index()] == 0 => Some(y),
        _ => None,
    }
}

/// The steps of a process that access nothing, as long as they are the only ones.
fn chain(
    system: &System,
    p: ProcessId,
    from: StateId,
    memory: Memory,
) -> Vec<(TransitionId, &Transition)> {
    let mut steps = Vec::new();
    let mut at = from;
    while steps.len() < LONGEST_CHAIN && system.reads(p, at).is_none() {
        let mut all = system.steps_on(p, at, |_, _| ValueId(0));
        let (Some((id, t)), None) = (all.next(), all.next()) else { break };
        let passes = match (t.op, memory) {
            (Op::Nop, _) | (Op::Fence(_), Memory::Sc) => true,
            (Op::Fence(kind), Memory::Buffered) => kind != FenceKind::Full,
            _ => false,
        };
        if !passes || t.to == at {
            break;
        }
        steps.push((id, t));
        at = t.to;
    }
    steps
}
