//! Makes the scene of a run: replays it and notes what each step changes.
//!
//! Identities are found by comparing what is under way before and after a step. That needs no
//! knowledge of the rules, because operations of one process that are alike take effect in the order
//! in which they were issued. Where the semantics stores a fence together with a read, the number of
//! the fence is one that no step has.

use std::collections::{BTreeMap, VecDeque};

use weir_model::answer::{Replay, Run};
use weir_model::ids::{Cell, ProcessId, RegId, StateId, ValueId, VarId};
use weir_model::semantics::{Event, EventKind, Rule, Step as ModelStep};
use weir_model::system::{Op, StateKind, System};

use super::{Actor, Buffers, Entry, Message, Place, Process, Scene, State, Step, VERSION};
use crate::load::Loaded;
use crate::report::run::words;

/// What a process has under way, by what it is: the identities of those that are alike,
/// oldest first.
type Alike = BTreeMap<Event, VecDeque<usize>>;

/// A run while its scene is made: the state after the steps so far.
pub(super) struct Machine<'l> {
    loaded: &'l Loaded,
    /// The scene, without its steps.
    pub(super) scene: Scene,
    /// For each process, its registers that are shown.
    shown: Vec<Vec<RegId>>,
    alike: Vec<Alike>,
    /// What each process has under way, and memory, as the replay has them.
    pending: Vec<Vec<Event>>,
    memory: Vec<Cell>,
    /// How many values each variable has had.
    values: Vec<usize>,
    state: State,
    taken: usize,
    /// A number that nothing under way has, past those of the steps.
    free: usize,
}

impl<'l> Machine<'l> {
    pub(super) fn new(loaded: &'l Loaded, run: &Run, replay: &Replay<'_>) -> Self {
        let system = &loaded.system;
        let shown: Vec<Vec<RegId>> = system
            .program
            .processes
            .iter()
            .map(|p| {
                let all = (0..p.registers.len()).map(RegId::new);
                all.filter(|r| !p.registers[r.index()].temporary).collect()
            })
            .collect();
        let actor = |p: ProcessId| Actor {
            name: system.processes[p.index()].name.clone(),
            registers: register_names(system, p, &shown[p.index()]),
        };
        let scene = Scene {
            version: VERSION,
            model: run.model.to_string(),
            semantics: run.form.name().to_owned(),
            buffers: Buffers::of(run.form),
            variables: system.vars.iter().map(|x| x.name.clone()).collect(),
            processes: system.process_ids().map(actor).collect(),
            start: State::default(),
            steps: vec![],
            cycle: None,
        };
        let alike = vec![Alike::new(); system.processes.len()];
        let values = vec![1; system.vars.len()];
        let (state, free) = (State::default(), run.steps.len() + 1);
        let (pending, memory) = (replay.pending(), replay.memory().to_vec());
        let mut machine =
            Self { loaded, scene, shown, alike, pending, memory, values, state, taken: 0, free };
        machine.scene.start = machine.start(replay);
        machine.state = machine.scene.start.clone();
        machine
    }

    fn start(&self, replay: &Replay<'_>) -> State {
        let system = &self.loaded.system;
        let memory: BTreeMap<String, String> = (0..)
            .zip(replay.memory())
            .map(|(x, value)| {
                let var = VarId(x);
                (self.variable(var), system.show_value(var, ValueId(*value)))
            })
            .collect();
        let history = match self.scene.buffers.has_history() {
            true => memory.iter().map(|(x, value)| (x.clone(), vec![value.clone()])).collect(),
            false => BTreeMap::new(),
        };
        let positions = self.positions(replay);
        let processes = system
            .process_ids()
            .zip(replay.controls())
            .zip(positions)
            .map(|((p, control), positions)| Process {
                place: self.place(p, StateId(*control)),
                registers: self.registers(p, StateId(*control)),
                buffer: Vec::new(),
                waiting: BTreeMap::new(),
                positions,
            })
            .collect();
        State { memory, history, processes }
    }

    fn variable(&self, var: VarId) -> String {
        self.loaded.system.vars[var.index()].name.clone()
    }

    fn place(&self, p: ProcessId, control: StateId) -> Place {
        let system = &self.loaded.system;
        let state = system.state(p, control);
        let labels = &system.program.processes[p.index()].labels;
        let span = Some(state.span).filter(|span| self.loaded.source.is_placed(*span));
        Place {
            line: span.map(|span| self.loaded.line(span)),
            span: span.map(|span| self.loaded.source.corners(span)),
            labels: state.labels.iter().map(|l| labels[l.index()].name.clone()).collect(),
            ended: state.kind == StateKind::Ended,
            failure: match &state.kind {
                StateKind::Failed(failure) => Some(failure.to_string()),
                StateKind::Left(excess) => Some(excess.to_string()),
                StateKind::Inside | StateKind::Ended => None,
            },
        }
    }

    fn registers(&self, p: ProcessId, control: StateId) -> BTreeMap<String, Option<String>> {
        let system = &self.loaded.system;
        let state = system.state(p, control);
        let names = self.scene.processes[p.index()].registers.iter().cloned();
        let value = |r: RegId| {
            let domain = system.register(p, r).domain;
            let value = state.registers[r.index()];
            system.keeps(p, control, r).then(|| system.program.show_value(domain, value))
        };
        names.zip(self.shown[p.index()].iter().map(|r| value(*r))).collect()
    }

    /// For each process, its positions in the history.
    fn positions(&self, replay: &Replay<'_>) -> Vec<BTreeMap<String, usize>> {
        let position = |(x, unread): (VarId, usize)| {
            (self.variable(x), self.values[x.index()].saturating_sub(1 + unread))
        };
        let unread = self.scene.buffers.has_history().then(|| replay.unread()).flatten();
        let Some(unread) = unread else { return vec![BTreeMap::new(); self.scene.processes.len()] };
        unread.into_iter().map(|one| one.into_iter().map(position).collect()).collect()
    }

    /// What a step that was just taken did.
    pub(super) fn step(&mut self, step: &ModelStep, replay: &Replay<'_>) -> Step {
        self.taken += 1;
        let system = &self.loaded.system;
        let (p, name) = (step.process, self.scene.processes[step.process.index()].name.clone());
        let taken = step.transition.map(|t| system.transition(p, t));
        let var = match (taken.map(|t| t.op), step.event) {
            (Some(Op::Read(x, _) | Op::Write(x, _) | Op::Arw(x, ..)), _) => Some(x),
            (None, Some(event)) if !event.is_fence() => Some(event.var),
            _ => None,
        };
        let entry = self.read(step, var);
        let (enters, leaves) = self.under_way(p, replay);
        let moves: Vec<usize> = match (step.rule, step.event) {
            (Rule::TransferWrite, Some(event)) => {
                self.oldest_waiting(p, event).into_iter().collect()
            }
            _ => vec![],
        };
        let entry = entry.or_else(|| {
            let first = enters.first().map(|e| e.id);
            first.or_else(|| moves.first().copied()).or_else(|| leaves.first().copied())
        });
        let (reads, message) = match self.scene.buffers {
            Buffers::Messages => self.message(taken.map(|t| t.op), step.way as usize),
            _ => (None, None),
        };
        let mut memory = BTreeMap::new();
        for (x, value) in (0..).map(VarId).zip(replay.memory()) {
            if std::mem::replace(&mut self.memory[x.index()], *value) != *value {
                // Messages were counted, those that change nothing too.
                self.values[x.index()] += usize::from(self.scene.buffers != Buffers::Messages);
                memory.insert(self.variable(x), system.show_value(x, ValueId(*value)));
            }
        }
        let control = StateId(replay.controls()[p.index()]);
        let before = &self.state.processes[p.index()];
        let place = Some(self.place(p, control)).filter(|place| *place != before.place);
        let mut registers = self.registers(p, control);
        registers.retain(|register, value| before.registers[register] != *value);
        let mut positions = BTreeMap::new();
        for (i, mut found) in self.positions(replay).into_iter().enumerate() {
            let known = &self.state.processes[i].positions;
            found.retain(|x, position| known.get(x) != Some(position));
            if !found.is_empty() {
                positions.insert(self.scene.processes[i].name.clone(), found);
            }
        }
        let shown = Step {
            process: name,
            rule: step.rule.name().to_owned(),
            text: words::action(system, step),
            line: taken.and_then(|t| self.loaded.line_of(t.span)),
            span: taken
                .filter(|t| self.loaded.source.is_placed(t.span))
                .map(|t| self.loaded.source.corners(t.span)),
            variable: var.map(|x| self.variable(x)),
            entry,
            source: step.source.map(|q| self.scene.processes[q.index()].name.clone()),
            overtakes: vec![],
            memory,
            place,
            registers,
            enters,
            moves,
            leaves,
            positions,
            message,
            reads,
            synchronizes: vec![],
        };
        self.state.apply(&self.scene, &shown);
        shown
    }

    /// Which message an access reads and which one it writes, if so many are newer than the one that it reads, or than the
    /// one that it writes.
    fn message(&mut self, op: Option<Op>, newer: usize) -> (Option<usize>, Option<Message>) {
        let (reads, written) = match op {
            Some(Op::Read(x, _)) => (Some(x), None),
            Some(Op::Write(x, value)) => (None, Some((x, value))),
            Some(Op::Arw(x, _, value)) => (Some(x), Some((x, value))),
            Some(Op::Nop | Op::Fence(_)) | None => (None, None),
        };
        let reads = reads.map(|x| self.values[x.index()].saturating_sub(1 + newer));
        let message = written.map(|(x, value)| {
            let count = &mut self.values[x.index()];
            let position = count.saturating_sub(newer);
            *count += 1;
            Message { position, value: self.loaded.system.show_value(x, value) }
        });
        (reads, message)
    }

    /// Whose value a step reads before it is in memory: the last write to the variable that the
    /// process, or the other one, has under way.
    fn read(&self, step: &ModelStep, var: Option<VarId>) -> Option<usize> {
        let whose = match step.rule {
            Rule::ReadOwnWrite => step.process,
            Rule::ReadRemoteWrite => step.source?,
            _ => return None,
        };
        let writes = self.alike[whose.index()].iter().filter(|(event, _)| {
            Some(event.var) == var && matches!(event.kind, EventKind::Write | EventKind::Own)
        });
        writes.filter_map(|(_, ids)| ids.back().copied()).max()
    }

    /// The oldest write of a process, of those that are alike, that waits in the queue of its
    /// variable.
    fn oldest_waiting(&self, p: ProcessId, event: Event) -> Option<usize> {
        let queue = self.state.processes[p.index()].waiting.get(&self.variable(event.var))?;
        queue.first().map(|entry| entry.id)
    }

    /// Compares what is under way with what was before.
    fn under_way(&mut self, p: ProcessId, replay: &Replay<'_>) -> (Vec<Entry>, Vec<usize>) {
        let (mut enters, mut leaves) = (Vec::new(), Vec::new());
        let before = std::mem::replace(&mut self.pending, replay.pending());
        for (q, before) in self.loaded.system.process_ids().zip(before) {
            for (event, more) in difference(&before, &self.pending[q.index()]) {
                let ids = self.alike[q.index()].entry(event).or_default();
                for _ in more..0 {
                    leaves.extend(ids.pop_front());
                }
                debug_assert!(more <= 0 || more == 1 && p == q, "a step issues one operation");
                if more > 0 {
                    // Events are ordered by their kind: fences come last.
                    let id = if enters.is_empty() { self.taken } else { self.free };
                    self.free += usize::from(!enters.is_empty());
                    ids.push_back(id);
                    enters.push(self.entry(id, event));
                }
            }
        }
        leaves.sort_unstable();
        (enters, leaves)
    }

    /// What enters a buffer in this step.
    fn entry(&self, id: usize, event: Event) -> Entry {
        let kind = match event.kind {
            EventKind::Write => "write",
            EventKind::Read => "read",
            EventKind::WriteFence => "write fence",
            EventKind::ReadFence => "read fence",
            EventKind::Load => "load",
            EventKind::Own => "own",
        };
        let place = (!event.is_fence()).then_some((event.var, event.value));
        Entry {
            id,
            kind: kind.to_owned(),
            variable: place.map(|(x, _)| self.variable(x)),
            value: place.map(|(x, d)| self.loaded.system.show_value(x, d)),
        }
    }
}

/// How many more of each event there are in the second list than in the first, where that is not
/// none. What both begin and end with is the same.
fn difference(before: &[Event], after: &[Event]) -> BTreeMap<Event, isize> {
    let same = before.iter().zip(after).take_while(|(a, b)| a == b).count();
    let (before, after) = (&before[same..], &after[same..]);
    let same = before.iter().rev().zip(after.iter().rev()).take_while(|(a, b)| a == b).count();
    let (before, after) = (&before[..before.len() - same], &after[..after.len() - same]);
    let mut more = BTreeMap::new();
    for event in after {
        *more.entry(*event).or_default() += 1;
    }
    for event in before {
        *more.entry(*event).or_default() -= 1;
    }
    more.retain(|_, count| *count != 0);
    more
}

/// The names of registers, made unique by their numbers where two have the same.
fn register_names(system: &System, p: ProcessId, shown: &[RegId]) -> Vec<String> {
    let name = |r: &RegId| &system.register(p, *r).name;
    shown
        .iter()
        .map(|r| match shown.iter().filter(|other| name(other) == name(r)).count() {
            1 => name(r).clone(),
            _ => format!("{}#{}", name(r), r.index()),
        })
        .collect()
}
