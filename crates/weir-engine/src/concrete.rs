//! From a path of `views` or `backward` to a run of the store-buffer semantics.
//!
//! In both engines writes enter one history of memory states, and processes are behind
//! it.
//!
//! [`History`] repeats the events of a path without abstraction: with the whole history,
//! and the position of each process in it. If that succeeds, every event happened while
//! its process was at some position. Going through the history in order, and executing
//! the events of each process at their positions, gives a run of the store-buffer
//! semantics ([`run`]).

use std::collections::VecDeque;

use weir_model::answer::{Run, Snapshot};
use weir_model::ids::{ProcessId, TransitionId, ValueId, VarId};
use weir_model::limits::{Budget, Stop};
use weir_model::memory_model::{MemoryModel, Relaxation};
use weir_model::program::FenceKind;
use weir_model::semantics::{Form, Rule, Step};
use weir_model::system::{Op, System};

/// Something that happens on a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// A process takes a transition. If there is a buffer per variable, a write
    /// goes there.
    Take(ProcessId, TransitionId),
    /// A waiting write of a process enters the history: those up to the first of
    /// this value, or all.
    Transfer(ProcessId, VarId, Option<ValueId>),
    /// The oldest waiting write of a process to a variable enters the history.
    TransferOne(ProcessId, VarId),
    /// The history ends here.
    End,
}

/// What made a memory state.
#[derive(Clone, Copy, Debug)]
enum Origin {
    /// A write of a process to a variable.
    Write(ProcessId, VarId),
    /// An atomic read-write, which is a transition.
    Arw(ProcessId, TransitionId),
}

/// Something that a process did while it stood at a place of the history.
#[derive(Clone, Copy, Debug)]
enum Done {
    Take(TransitionId),
    Transfer(VarId),
}

/// One process.
#[derive(Debug)]
struct Place {
    /// Where it stands.
    at: usize,
    /// For each variable, the earliest state that it may read.
    pointers: Vec<usize>,
    /// The writes that wait, in the order of the program.
    stores: Vec<VecDeque<ValueId>>,
    /// The values of the last writes that will never reach memory.
    beyond: Vec<Option<ValueId>>,
    /// What it did, and where it stood.
    done: VecDeque<(usize, Done)>,
}

/// A history of memory states with the places of the processes in it.
struct History<'s> {
    system: &'s System,
    states: Vec<Vec<ValueId>>,
    origins: Vec<Origin>,
    places: Vec<Place>,
    has_ended: bool,
    buffered: bool,
    keeps_past: bool,
    partial_fences: bool,
}

impl<'s> History<'s> {
    /// Repeats the events of a path; `None` if that does not work.
    fn replay(
        system: &'s System,
        model: MemoryModel,
        start: &[ValueId],
        events: &[Event],
        budget: &Budget,
    ) -> Result<Option<Self>, Stop> {
        let normal = model.normal();
        let (n, m) = (system.processes.len(), system.vars.len());
        let memory = start.to_vec();
        let place = |_| Place {
            at: 0,
            pointers: vec![0; m],
            stores: vec![VecDeque::new(); m],
            beyond: vec![None; m],
            done: VecDeque::new(),
        };
        let mut history = Self {
            system,
            states: vec![memory],
            origins: vec![],
            places: (0..n).map(place).collect(),
            has_ended: false,
            buffered: normal.has(Relaxation::WriteWrite),
            keeps_past: normal.has(Relaxation::ReadRead),
            partial_fences: normal.has(Relaxation::Rwf),
        };
        for event in events {
            budget.work(1 + history.states.len() / 64)?;
            if history.happen(*event).is_none() {
                return Ok(None);
            }
        }
        Ok(Some(history))
    }

    /// Repeats an event; `None` if that does not work.
    fn happen(&mut self, event: Event) -> Option<()> {
        match event {
            Event::End => self.has_ended = true,
            Event::Transfer(p, x, d) => loop {
                let first = self.transfer(p, x)?;
                let rest = &self.places[p.index()].stores[x.index()];
                if d.map_or(rest.is_empty(), |d| d == first) {
                    break;
                }
            },
            Event::TransferOne(p, x) => drop(self.transfer(p, x)?),
            Event::Take(p, id) => {
                let op = self.system.transition(p, id).op;
                self.take(p, id, op)?;
            }
        }
        Some(())
    }

    fn newest(&self) -> usize {
        self.states.len() - 1
    }

    /// Moves a process on; own writes that it comes past have reached memory.
    fn move_to(&mut self, p: ProcessId, at: usize) {
        let place = &mut self.places[p.index()];
        for state in place.at + 1..=at {
            if let Origin::Write(q, x) = self.origins[state - 1]
                && q == p
            {
                place.pointers[x.index()] = place.pointers[x.index()].max(state);
            }
        }
        place.at = place.at.max(at);
    }

    fn append(&mut self, var: VarId, value: ValueId, origin: Origin) {
        let mut memory = self.states[self.newest()].clone();
        memory[var.index()] = value;
        self.states.push(memory);
        self.origins.push(origin);
    }

    /// The oldest waiting write enters the history. Nothing is lost here: what
    /// the path lost does so as well.
    fn transfer(&mut self, p: ProcessId, var: VarId) -> Option<ValueId> {
        let place = &mut self.places[p.index()];
        let first = place.stores[var.index()].pop_front()?;
        place.done.push_back((place.at, Done::Transfer(var)));
        self.append(var, first, Origin::Write(p, var));
        Some(first)
    }

    fn take(&mut self, p: ProcessId, id: TransitionId, op: Op) -> Option<()> {
        match op {
            Op::Nop => {}
            Op::Read(x, d) => self.read(p, x, d)?,
            Op::Write(x, d) => {
                let place = &mut self.places[p.index()];
                place.done.push_back((place.at, Done::Take(id)));
                if self.buffered {
                    place.stores[x.index()].push_back(d);
                } else if self.has_ended {
                    place.beyond[x.index()] = Some(d);
                } else {
                    self.append(x, d, Origin::Write(p, x));
                }
                return Some(());
            }
            Op::Arw(x, d, e) => {
                let newest = self.newest();
                if self.has_ended || !self.is_idle(p) || self.states[newest][x.index()] != d {
                    return None;
                }
                self.append(x, e, Origin::Arw(p, id));
                self.move_to(p, newest + 1);
                self.places[p.index()].pointers.fill(newest + 1);
                return Some(());
            }
            Op::Fence(FenceKind::Full) => {
                if !self.is_idle(p) {
                    return None;
                }
                let newest = self.newest();
                self.move_to(p, newest);
                self.places[p.index()].pointers.fill(newest);
            }
            Op::Fence(FenceKind::Write) if self.partial_fences => {
                if self.has_ended {
                    self.move_beyond(p);
                } else if !self.is_idle(p) {
                    return None;
                }
            }
            Op::Fence(FenceKind::Read) if self.partial_fences => {
                let place = &mut self.places[p.index()];
                place.pointers.fill(place.at);
            }
            Op::Fence(_) => {}
        }
        let place = &mut self.places[p.index()];
        place.done.push_back((place.at, Done::Take(id)));
        Some(())
    }

    /// Whether nothing of the process waits.
    fn is_idle(&self, p: ProcessId) -> bool {
        let place = &self.places[p.index()];
        place.stores.iter().all(VecDeque::is_empty) && place.beyond.iter().all(Option::is_none)
    }

    /// A write fence after the end of the history: the waiting writes of the process move to the
    /// serializing buffer, and never reach memory.
    fn move_beyond(&mut self, p: ProcessId) {
        let place = &mut self.places[p.index()];
        for x in (0..place.stores.len()).map(VarId::new) {
            while let Some(value) = place.stores[x.index()].pop_front() {
                place.done.push_back((place.at, Done::Transfer(x)));
                place.beyond[x.index()] = Some(value);
            }
        }
    }

    fn read(&mut self, p: ProcessId, var: VarId, value: ValueId) -> Option<()> {
        let place = &self.places[p.index()];
        let waiting = place.stores[var.index()].back().copied().or(place.beyond[var.index()]);
        if let Some(own) = waiting {
            return (own == value).then_some(());
        }
        let own = (place.at + 1..=self.newest())
            .rev()
            .find(|&s| matches!(self.origins[s - 1], Origin::Write(q, x) if (q, x) == (p, var)));
        let has = |s: usize| self.states[s][var.index()] == value;
        let from = match own {
            Some(s) if has(s) => return Some(()),
            Some(s) => s,
            None if self.keeps_past => place.pointers[var.index()],
            None => place.at,
        };
        let found = (from..=self.newest()).find(|&s| has(s))?;
        self.move_to(p, found);
        self.places[p.index()].pointers[var.index()] = found;
        Some(())
    }

    /// What a run does at each place of the history, in order.
    fn schedule(mut self) -> Vec<PlannedStep> {
        let mut wanted = Vec::new();
        for moment in 0..self.states.len() {
            if moment > 0 {
                wanted.push(match self.origins[moment - 1] {
                    Origin::Arw(p, id) => PlannedStep::Take(p, id),
                    Origin::Write(p, x) => PlannedStep::Memory(p, Rule::Update, x),
                });
            }
            for (p, place) in self.system.process_ids().zip(&mut self.places) {
                while let Some(&(_, done)) = place.done.front().filter(|(at, _)| *at == moment) {
                    place.done.pop_front();
                    wanted.push(match done {
                        Done::Take(id) => PlannedStep::Take(p, id),
                        Done::Transfer(x) => PlannedStep::Memory(p, Rule::TransferWrite, x),
                    });
                }
            }
        }
        wanted
    }
}

/// A step that a run is to take.
#[derive(Clone, Copy, Debug)]
enum PlannedStep {
    Take(ProcessId, TransitionId),
    Memory(ProcessId, Rule, VarId),
}

impl PlannedStep {
    fn is(self, step: &Step) -> bool {
        match self {
            Self::Take(p, id) => step.process == p && step.transition == Some(id),
            Self::Memory(p, rule, x) => {
                let on_var = step.event.is_some_and(|e| e.var == x);
                step.process == p && step.rule == rule && on_var
            }
        }
    }
}

/// The run of the operational semantics that a path from an initial memory stands
/// for, if it stands for one.
pub(crate) fn run(
    system: &System,
    model: MemoryModel,
    start: &[ValueId],
    events: &[Event],
    budget: &Budget,
) -> Result<Option<Run>, Stop> {
    let form = Form::of(model)[0];
    let wanted: Vec<PlannedStep> = if form == Form::Sc {
        // Views see the newest memory only: the path is the run.
        let take = |event: &Event| match *event {
            Event::Take(p, id) => Some(PlannedStep::Take(p, id)),
            Event::Transfer(..) | Event::TransferOne(..) | Event::End => None,
        };
        events.iter().filter_map(take).collect()
    } else {
        match History::replay(system, model, start, events, budget)? {
            Some(history) => history.schedule(),
            None => return Ok(None),
        }
    };
    let bound = wanted.len() + 1;
    let semantics = form.semantics(system, model, bound);
    let mut config = semantics.initial_with(start);
    let first = Snapshot::new(semantics.as_ref(), &config);
    let mut steps = Vec::new();
    for wanted in wanted {
        budget.check()?;
        let step = semantics.take(&mut config, &|step| wanted.is(step));
        let Some(step) = step else { return Ok(None) };
        steps.push(step);
    }
    Ok(Some(Run { model, form, bound, start: first, steps }))
}
