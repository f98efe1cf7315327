//! Checks a lasso: replays the run step by step on its own store buffers, checks that the
//! cycle returns to where it began, and evaluates the definitions of Wang et al. 2021,
//! section 3, for the infinite run.

use std::collections::VecDeque;

use weir_model::ids::{ProcessId, StateId, ValueId, VarId};
use weir_model::memory_model::MemoryModel;
use weir_model::program::{FenceKind, Formula, LiveKind, Ltl, Program, Runs};
use weir_model::system::{Mark, Op, Seen, System};

use super::{Asked, FORMAT, Lasso, VERSION, system};
use crate::Rejected;
use crate::ltl;
use crate::truth::{has_values, is_stuck, truth};
use crate::witness::{Configuration, WitnessStep, state_names};

/// Checks that a lasso is a run of the program that settles what it says.
///
/// # Errors
/// The first thing that is wrong with it.
pub fn check(program: &Program, lasso: &Lasso) -> Result<(), Rejected> {
    let model: MemoryModel = lasso.model.parse().map_err(Rejected::no_model)?;
    let buffered = match model.normal() {
        m if m == MemoryModel::SC => false,
        m if m == MemoryModel::TSO => true,
        _ => return Err(Rejected::Model { what: "lassos", model: model.to_string() }),
    };
    let system = system(program, lasso.clients)?;
    lasso.header.check((FORMAT, VERSION), &system.program)?;
    let mut replay =
        Replay::new(&system, (model, buffered), &lasso.initial).map_err(Rejected::Start)?;
    let mut word = Vec::new();
    replay.moment(&mut word);
    for (i, step) in lasso.stem.iter().enumerate() {
        replay.step(step).map_err(|reason| Rejected::Step { number: i + 1, reason })?;
        replay.moment(&mut word);
    }
    let turn = replay.config.clone();
    if !replay.is_at(&lasso.turn) {
        return Err(Rejected::Cycle("the cycle does not begin where the file says".to_owned()));
    }
    // A state in which a formula of the question has no value violates it, however the run goes on.
    if lasso.cycle.is_empty()
        && let Asked::Live(index) = &lasso.property
        && let Some(live) = system.program.live.get(*index)
        && let Some(Some((controls, memory))) = word.last()
        && !has_values(&system, &live.kind, controls, memory)
    {
        return Ok(());
    }
    let formula = match &lasso.property {
        Asked::Live(index) => match system.program.live.get(*index).map(|live| &live.kind) {
            Some(LiveKind::Ltl { runs, formula }) => Some((*runs, formula)),
            _ => None,
        },
        Asked::Progress(_) => None,
    };
    if lasso.cycle.is_empty() {
        let Some((Runs::All | Runs::Fair, formula)) = formula else {
            return Err(Rejected::Cycle("the cycle has no steps".to_owned()));
        };
        // The run ends here, and its last state is there for ever.
        if !replay.is_over() {
            return Err(Rejected::Cycle("the run ends where a process can go on".to_owned()));
        }
        let back = word.len() - 1;
        return violates(&system, formula, &word, back);
    }
    let mut round = Round::new(&replay);
    for (i, step) in lasso.cycle.iter().enumerate() {
        let number = lasso.stem.len() + i + 1;
        let done = replay.step(step).map_err(|reason| Rejected::Step { number, reason })?;
        replay.moment(&mut word);
        round.add(&replay, done);
    }
    if !replay.can_repeat(&turn, &round) {
        return Err(Rejected::Cycle("the cycle does not end where it begins".to_owned()));
    }
    if lasso.flush_fair && !round.is_flush_fair() {
        return Err(Rejected::Cycle("some write never reaches memory".to_owned()));
    }
    if let Some((runs, formula)) = formula {
        if round.only_waits {
            return Err(Rejected::Cycle(
                "no process does anything but wait in the cycle".to_owned(),
            ));
        }
        if runs == Runs::Fair && !round.is_fair() {
            let reason = "a process that could go on takes no steps";
            return Err(Rejected::SettlesNothing(reason.to_owned()));
        }
        // Once more, since the first round may begin in the middle of a block.
        word.extend_from_within(lasso.stem.len() + 1..);
        let back = word.len() - lasso.cycle.len();
        return violates(&system, formula, &word, back);
    }
    match &lasso.property {
        Asked::Progress(_) if lasso.clients.is_none() => {
            Err(Rejected::malformed("progress properties are for objects"))
        }
        Asked::Progress(name) => round.violates(name, &replay).map_err(Rejected::SettlesNothing),
        Asked::Live(index) => {
            let live = system.program.live.get(*index);
            let live = live.ok_or_else(|| {
                Rejected::Malformed(format!("the program does not ask for {index}"))
            })?;
            round.settles(&system, &live.kind).map_err(Rejected::SettlesNothing)
        }
    }
}

/// A control state of each process, and memory; nothing in the middle of an atomic block, in which
/// no question is asked.
type Moment = Option<(Vec<StateId>, Vec<ValueId>)>;

/// Checks that a run does not satisfy a formula. After its last moment it goes on at `back`.
fn violates(system: &System, formula: &Ltl, word: &[Moment], back: usize) -> Result<(), Rejected> {
    // In the middle of a block the last state before it is seen.
    let mut seen: Vec<&(Vec<StateId>, Vec<ValueId>)> = Vec::new();
    for moment in word {
        let state = moment.as_ref().or(seen.last().copied());
        seen.push(state.ok_or_else(|| Rejected::Start("it begins in a block".to_owned()))?);
    }
    let state = |f: &Formula, i: usize| truth(system, f, &seen[i].0, &seen[i].1) == Some(true);
    match ltl::on_word(formula, (seen.len(), back), &state).first() {
        Some(false) => Ok(()),
        _ => Err(Rejected::SettlesNothing("the run satisfies the formula".to_owned())),
    }
}

/// A configuration of store buffers.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Config {
    controls: Vec<StateId>,
    memory: Vec<ValueId>,
    buffers: Vec<VecDeque<(VarId, ValueId)>>,
}

struct Replay<'s> {
    system: &'s System,
    model: MemoryModel,
    buffered: bool,
    config: Config,
    /// For each process whether a call of it has begun and not returned.
    pending: Vec<bool>,
}

/// What a step was.
struct Done {
    process: ProcessId,
    flush: bool,
    returns: bool,
    waits: bool,
}

impl<'s> Replay<'s> {
    fn new(
        system: &'s System,
        (model, buffered): (MemoryModel, bool),
        initial: &Configuration,
    ) -> Result<Self, String> {
        let mut memory = Vec::new();
        for (x, var) in system.vars.iter().enumerate() {
            let given = initial.memory.get(&var.name);
            let given = given.ok_or(format!("the first memory has no `{}`", var.name))?;
            let is_it = |v: &&ValueId| system.value(VarId::new(x), **v) == *given;
            let value = var.initial.iter().find(is_it);
            memory.push(*value.ok_or(format!("`{}` does not begin with {given}", var.name))?);
        }
        let controls = system.processes.iter().map(|p| p.initial).collect::<Vec<_>>();
        let n = controls.len();
        let config = Config { controls, memory, buffers: vec![VecDeque::new(); n] };
        let replay = Self { system, model, buffered, config, pending: vec![false; n] };
        match replay.is_at(initial) {
            true => Ok(replay),
            false => Err("the run does not begin where the program does".to_owned()),
        }
    }

    /// Whether this is the configuration that a file describes.
    fn is_at(&self, given: &Configuration) -> bool {
        let Config { controls, memory, buffers } = &self.config;
        let states = state_names(self.system, controls) == given.states;
        let vars = self.system.vars.iter().enumerate();
        let mut values = vars.map(|(x, var)| {
            given.memory.get(&var.name) == Some(&self.system.value(VarId::new(x), memory[x]))
        });
        let show = |(x, d): &(VarId, ValueId)| {
            let name = &self.system.vars[x.index()].name;
            format!("w({name},{})", self.system.show_value(*x, *d))
        };
        let shown = buffers.iter().map(|b| b.iter().map(show).collect::<Vec<_>>());
        states
            && given.memory.len() == memory.len()
            && values.all(|same| same)
            && shown.eq(given.buffers.iter().cloned())
    }

    fn step(&mut self, step: &WitnessStep) -> Result<Done, String> {
        let named = self.system.processes.iter().position(|p| p.name == step.process);
        let process = ProcessId::new(named.ok_or(format!("there is no `{}`", step.process))?);
        let p = process.index();
        if let Some(other) = self.in_block().filter(|&q| q != process) {
            let name = &self.system.processes[other.index()].name;
            return Err(format!("process `{name}` is in the middle of an atomic block"));
        }
        if step.transition.is_none() {
            step.describes_none()?;
            let oldest = self.config.buffers[p].pop_front();
            let (x, d) = oldest.ok_or("the buffer is empty")?;
            let (name, value) = (&self.system.vars[x.index()].name, self.system.value(x, d));
            if step.rule != "update"
                || step.variable.as_ref().is_some_and(|v| v != name)
                || step.value.is_some_and(|v| v != value)
            {
                return Err(format!("the oldest write is `{name}` = {value}"));
            }
            self.config.memory[x.index()] = d;
            return Ok(Done { process, flush: true, returns: false, waits: false });
        }
        let from = self.config.controls[p];
        let taken = step.taken(self.system, process, from).copied();
        let taken = taken.ok_or("the process has no such transition in its control state")?;
        step.describes(self.system, &taken)?;
        let rule = self.rule(process, taken.op);
        if step.rule != rule {
            return Err(format!("the rule is `{rule}`"));
        }
        self.apply(process, taken.op)?;
        self.config.controls[p] = taken.to;
        match taken.mark {
            Some(Mark::Call(..)) if self.pending[p] => return Err("a call in a call".to_owned()),
            Some(Mark::Call(..)) => self.pending[p] = true,
            Some(Mark::Return(..)) => self.pending[p] = false,
            None => {}
        }
        let returns = matches!(taken.mark, Some(Mark::Return(..)));
        Ok(Done { process, flush: false, returns, waits: taken.waits })
    }

    /// What can be seen now.
    fn moment(&self, word: &mut Vec<Moment>) {
        let Config { controls, memory, .. } = &self.config;
        word.push(self.in_block().is_none().then(|| (controls.clone(), memory.clone())));
    }

    /// Whether the run has ended: nothing is under way, and every process can only wait.
    fn is_over(&self) -> bool {
        let Config { controls, memory, buffers } = &self.config;
        let is_stuck = |p: ProcessId| is_stuck(self.system, p, controls[p.index()], memory);
        self.in_block().is_none()
            && buffers.iter().all(VecDeque::is_empty)
            && self.system.process_ids().all(is_stuck)
    }

    /// The process that is in the middle of an atomic block, if one is.
    fn in_block(&self) -> Option<ProcessId> {
        self.system.in_block(self.model, &self.config.controls)
    }

    /// What the rule is called by which a process does something.
    fn rule(&self, process: ProcessId, op: Op) -> &'static str {
        let writes = |x: VarId| self.config.buffers[process.index()].iter().any(|(y, _)| *y == x);
        match op {
            Op::Nop => "nop",
            Op::Write(..) if self.buffered => "write",
            Op::Write(..) => "write memory",
            Op::Read(x, _) if writes(x) => "read own write",
            Op::Read(..) => "read memory",
            Op::Arw(..) => "atomic read-write",
            Op::Fence(FenceKind::Full) => "fence",
            Op::Fence(FenceKind::Read) => "read fence",
            Op::Fence(FenceKind::Write) => "write fence",
        }
    }

    fn apply(&mut self, process: ProcessId, op: Op) -> Result<(), String> {
        if !self.can(process, op) {
            return Err(format!("{} is not possible", self.system.show_op(op)));
        }
        match op {
            Op::Write(x, d) if self.buffered => {
                self.config.buffers[process.index()].push_back((x, d));
            }
            Op::Write(x, d) | Op::Arw(x, _, d) => self.config.memory[x.index()] = d,
            Op::Nop | Op::Read(..) | Op::Fence(_) => {}
        }
        Ok(())
    }

    fn can(&self, process: ProcessId, op: Op) -> bool {
        let buffer = &self.config.buffers[process.index()];
        match op {
            Op::Nop | Op::Write(..) | Op::Fence(FenceKind::Read | FenceKind::Write) => true,
            Op::Read(x, d) => {
                let own = buffer.iter().rev().find(|(y, _)| *y == x).map(|(_, e)| *e);
                own.unwrap_or(self.config.memory[x.index()]) == d
            }
            Op::Arw(x, d, _) => buffer.is_empty() && self.config.memory[x.index()] == d,
            Op::Fence(FenceKind::Full) => buffer.is_empty(),
        }
    }

    /// Whether all that was done since a configuration can be done again, and again:
    /// control states and memory are the same, and each buffer is, or was not flushed
    /// and looks the same to its process. Such a buffer is not empty, so its process
    /// has done nothing that needs an empty one.
    fn can_repeat(&self, turn: &Config, round: &Round) -> bool {
        let same = |p: usize| {
            let (before, now) = (&turn.buffers[p], &self.config.buffers[p]);
            let last = |b: &VecDeque<(VarId, ValueId)>, x: VarId| {
                b.iter().rev().find(|(y, _)| *y == x).copied()
            };
            let mut vars = (0..self.system.vars.len()).map(VarId::new);
            before == now || !round.has_flushed[p] && vars.all(|x| last(before, x) == last(now, x))
        };
        self.config.controls == turn.controls
            && self.config.memory == turn.memory
            && (0..turn.buffers.len()).all(same)
    }

    /// Whether a process has a step of its own to take.
    fn is_able(&self, process: ProcessId) -> bool {
        let state = self.config.controls[process.index()];
        // What it reads is its last own write, or memory.
        let see = |x: VarId, atomic: bool| {
            let own = self.config.buffers[process.index()].iter().rev().find(|(y, _)| *y == x);
            let own = own.filter(|_| !atomic).map(|(_, d)| *d);
            Seen::One(own.unwrap_or(self.config.memory[x.index()]))
        };
        self.system.steps(process, state, see).any(|(_, t)| self.can(process, t.op))
    }
}

/// What happens in one iteration of the cycle.
struct Round {
    /// The configurations, without buffers.
    seen: Vec<(Vec<StateId>, Vec<ValueId>)>,
    /// For each process: whether it takes steps, whether some of them are its own
    /// and no flushes, whether some are flushes, whether it returns, whether it flushes
    /// or has an empty buffer, and whether at times it has no step to take.
    moves: Vec<bool>,
    acts: Vec<bool>,
    has_flushed: Vec<bool>,
    returns: Vec<bool>,
    flushes: Vec<bool>,
    rests: Vec<bool>,
    /// Whether every step is a part of a round of an `await`.
    only_waits: bool,
}

impl Round {
    fn new(replay: &Replay<'_>) -> Self {
        let none = vec![false; replay.config.controls.len()];
        let mut round = Self {
            seen: vec![],
            moves: none.clone(),
            acts: none.clone(),
            has_flushed: none.clone(),
            returns: none.clone(),
            flushes: none.clone(),
            rests: none,
            only_waits: true,
        };
        round.observe(replay);
        round
    }

    /// Records the configuration that the replay has reached.
    fn observe(&mut self, replay: &Replay<'_>) {
        let Config { controls, memory, buffers } = &replay.config;
        if replay.in_block().is_none() {
            self.seen.push((controls.clone(), memory.clone()));
        }
        for p in replay.system.process_ids() {
            self.flushes[p.index()] |= buffers[p.index()].is_empty();
            self.rests[p.index()] |= !replay.is_able(p);
        }
    }

    fn add(&mut self, replay: &Replay<'_>, done: Done) {
        let p = done.process.index();
        self.moves[p] = true;
        self.only_waits &= done.waits;
        self.acts[p] |= !done.flush;
        self.has_flushed[p] |= done.flush;
        self.flushes[p] |= done.flush;
        self.returns[p] |= done.returns;
        self.observe(replay);
    }

    fn is_flush_fair(&self) -> bool {
        self.flushes.iter().all(|&f| f)
    }

    /// Whether the run violates a progress property, by the definitions.
    fn violates(&self, property: &str, replay: &Replay<'_>) -> Result<(), String> {
        // What is pending now and does not return in a round is pending for ever.
        let n = self.moves.len();
        let pend_inv: Vec<usize> =
            (0..n).filter(|&p| replay.pending[p] && !self.returns[p]).collect();
        let prog_t = pend_inv.is_empty();
        let prog_s = prog_t || self.returns.contains(&true);
        let sched = prog_t || pend_inv.iter().any(|&p| self.moves[p]);
        let fair = self.moves.iter().all(|&m| m);
        let iso = self.moves.iter().filter(|&&m| m).count() == 1;
        let (premise, conclusion) = match property {
            "lock-free" => (sched, prog_s),
            "wait-free" => (sched, prog_t),
            "deadlock-free" => (fair, prog_s),
            "starvation-free" => (fair, prog_t),
            "obstruction-free" => (sched && iso, prog_s),
            _ => return Err(format!("there is no progress property `{property}`")),
        };
        match premise && !conclusion {
            true => Ok(()),
            false => Err(format!("the run is {property}")),
        }
    }

    /// Whether every process takes steps of its own, or at times has none to take.
    fn is_fair(&self) -> bool {
        self.acts.iter().zip(&self.rests).all(|(&acts, &rests)| acts || rests)
    }

    fn settles(&self, system: &System, kind: &LiveKind) -> Result<(), String> {
        let sees = |formula: &Formula| {
            self.seen
                .iter()
                .any(|(controls, memory)| truth(system, formula, controls, memory) == Some(true))
        };
        let fair = self.is_fair();
        let wrong = match kind {
            LiveKind::Ltl { .. } => "the formula is about every moment of the run",
            LiveKind::Exists(f) | LiveKind::Never(f) if !sees(f) => {
                "the formula does not hold in the cycle"
            }
            LiveKind::Always(f) if sees(f) => "the formula holds in the cycle",
            LiveKind::Always(_) | LiveKind::Terminates if !fair => {
                "a process that could go on takes no steps"
            }
            _ => return Ok(()),
        };
        Err(wrong.to_owned())
    }
}
