//! TSO programs as smaller lossy channel machines: what no process can observe is left out.
//!
//! The machines of [`tso`](super::tso) follow Atig et al. 2010, section 5.1, and their product has
//! a control state for each pair of memories of each process. Most of them differ in values that no
//! process can read any more. Here the product is built at once, with these changes. `R_i(p)` are
//! the variables that process `i` can read from `p` on before its next full fence or atomic
//! read-write, and `S_i` those that it reads anywhere.
//!
//! * *Values.* A control state has the control states of all processes, the newest memory
//!   `d_g`, on which all machines agree anyway, and for each process the values that it sees
//!   (`d_c`) of `R_i(p)` alone. A message is the memory after a write, restricted to `S_i`.
//! * *Stuttering.* A write is sent to a channel only if it changes `S_i`, and only while
//!   `R_i(p)` is not empty. Two equal memories in succession look like one.
//! * *Strong messages.* An own write to `x` is strong only if `x` is in `R_i(p')` after it. Who
//!   wrote another message does not matter.
//! * *Catch up.* A process without strong messages can see `d_g` at once. A full fence or an
//!   atomic read-write catches up before it. States are asked for with any values of `d_c`.
//!
//! *Correctness.* Call *perfect* a configuration in which each channel holds all memories between
//! `d_c` and `d_g`, without stuttering, with the last own write to each variable of `R_i(p)`
//! strong. Perfect configurations simulate the program: a process never reads outside `R_i(p)`
//! before its next fence, `R_i` only shrinks until then, and after the fence its `d_c` is `d_g`. So
//! every run of the program is one of the machine. Conversely, each reachable configuration of the
//! lossy machine is below a perfect one that the program reaches. This is Lemma 3 of the paper for
//! its rules; it also holds for *Catch up*: the perfect configuration has no strong messages
//! either, and the process can receive all others, the last of which is `d_g`. A message that is
//! strong although its variable is not in `R_i(p)` any more has been received before; that is
//! possible at any time.

use std::collections::{BTreeMap, BTreeSet};

use weir_model::ids::{
    ProcessId, StateId as ProgramState, TransitionId as ProgramTransition, ValueId, VarId,
};
use weir_model::limits::Budget;
use weir_model::program::FenceKind;
use weir_model::system::{Expanded, Op as ProgramOp};

use super::{memories, writes};
use crate::pending::{readable, strong};
use crate::pso::control_names;
use crate::translation::{Draft, Place, Translation, TranslationError};
use crate::{
    ChannelId, Class, MachineError, MessageId, Op, Regex, StateId, Substitution, Transition,
};

/// The values of some variables; `None` of the others.
type Seen = Vec<Option<ValueId>>;

/// A control state of the machine.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Control {
    controls: Vec<ProgramState>,
    /// The memory after all writes.
    newest: Vec<ValueId>,
    /// For each process, the values that it sees.
    seen: Vec<Seen>,
}

/// What is known of a process before its machine is built.
struct Reader {
    channel: ChannelId,
    /// For each control state, the variables that it can read before its next full fence.
    ahead: Vec<Vec<bool>>,
    /// The variables that it can read at all.
    ever: Vec<bool>,
    /// For each control state, the own writes that may be in the channel as strong messages.
    own: Vec<BTreeSet<(VarId, ValueId)>>,
    /// The plain messages.
    plain: BTreeMap<Seen, MessageId>,
    /// The strong ones, by the variable of the write.
    strong: BTreeMap<(VarId, Seen), MessageId>,
}

impl Reader {
    fn observes(&self, at: ProgramState) -> bool {
        self.ahead[at.index()].contains(&true)
    }

    /// The strong messages of own writes to a variable that the channel may hold.
    fn own_of(&self, at: ProgramState, j: VarId) -> Vec<(&Seen, MessageId)> {
        let own = &self.own[at.index()];
        let is_there = |seen: &Seen| seen[j.index()].is_some_and(|d| own.contains(&(j, d)));
        let of = self.strong.iter().filter(|((x, seen), _)| *x == j && is_there(seen));
        of.map(|((_, seen), message)| (seen, *message)).collect()
    }

    /// All messages but the strong ones of own writes to a variable, any number of times.
    fn without_own(&self, j: VarId) -> Regex {
        let others = self.strong.iter().filter(|((x, _), _)| *x != j).map(|(_, m)| *m);
        Regex::class(Class::of(self.plain.values().copied().chain(others))).star()
    }

    /// The last own write to a variable is this message.
    fn has_own(&self, j: VarId, message: MessageId) -> Regex {
        Regex::concat([self.without_own(j), Regex::one(message), self.without_own(j)])
    }
}

fn restrict(seen: &[Option<ValueId>], to: &[bool]) -> Seen {
    seen.iter().zip(to).map(|(v, is_in)| v.filter(|_| *is_in)).collect()
}

fn project(memory: &[ValueId], to: &[bool]) -> Seen {
    memory.iter().zip(to).map(|(v, is_in)| is_in.then_some(*v)).collect()
}

fn show(system: Expanded<'_>, seen: &[Option<ValueId>]) -> String {
    let value = |(x, v): (usize, &Option<ValueId>)| match v {
        Some(v) => system.value(VarId::new(x), *v).to_string(),
        None => "_".to_owned(),
    };
    format!("[{}]", seen.iter().enumerate().map(value).collect::<Vec<_>>().join(","))
}

fn control_name(system: Expanded<'_>, control: &Control) -> String {
    let controls = control_names(system, &control.controls);
    let newest: Seen = control.newest.iter().copied().map(Some).collect();
    let all = control.seen.iter().chain([&newest]);
    let all: Vec<String> = all.map(|seen| show(system, seen)).collect();
    format!("({}) {}", controls.join(","), all.join(" "))
}

/// The machine of a program under TSO, without what no process observes.
pub(crate) fn translation(
    system: Expanded<'_>,
    budget: &Budget,
) -> Result<Translation, TranslationError> {
    let mut maker = Maker::new(system, budget)?;
    let readers = &maker.readers;
    let start = maker.draft.begin(|controls, newest| {
        let see =
            |(reader, p): (&Reader, &ProgramState)| project(&newest, &reader.ahead[p.index()]);
        let seen = readers.iter().zip(&controls).map(see).collect();
        Control { controls, newest, seen }
    })?;
    while let Some((from, control)) = maker.draft.next() {
        for p in system.process_ids() {
            for (id, t) in system.transitions(p, control.controls[p.index()]) {
                maker.program(from, &control, (p, id), t.op, t.to)?;
            }
            maker.updates(from, &control, p)?;
        }
    }
    Ok(maker.draft.finish(start, |Control { controls, newest, .. }| {
        (Some(Place { controls, memory: newest }), vec![])
    })?)
}

struct Maker<'s> {
    draft: Draft<'s, Control>,
    readers: Vec<Reader>,
}

impl<'s> Maker<'s> {
    fn new(system: Expanded<'s>, budget: &Budget) -> Result<Self, MachineError> {
        let mut draft = Draft::new(system, control_name, budget);
        let writes = writes(system).into_iter().map(|(_, j, d)| (j, d)).collect();
        let memories = memories(system, &writes, budget)?;
        let mut readers = Vec::new();
        for p in system.process_ids() {
            let channel = draft.builder.channel(format!("c{}", p.0))?;
            let ahead = readable(system, p, budget)?;
            let mut ever = vec![false; system.vars.len()];
            for row in &ahead {
                budget.work(1 + row.len() / 64)?;
                ever.iter_mut().zip(row).for_each(|(all, here)| *all |= here);
            }
            let own = strong(system, p, &ahead, budget)?;
            let written: BTreeSet<(VarId, ValueId)> = own.iter().flatten().copied().collect();
            let mut reader = Reader {
                channel,
                ahead,
                ever,
                own,
                plain: BTreeMap::new(),
                strong: BTreeMap::new(),
            };
            for memory in &memories {
                let seen = project(memory, &reader.ever);
                if reader.plain.contains_key(&seen) {
                    continue;
                }
                let name = format!("{}:{}", p.0, show(system, &seen));
                reader.plain.insert(seen.clone(), draft.builder.message(name.clone())?);
                for &(x, _) in written.iter().filter(|(x, d)| seen[x.index()] == Some(*d)) {
                    let name = format!("{name}{}#", system.vars[x.index()].name);
                    reader.strong.insert((x, seen.clone()), draft.builder.message(name)?);
                }
            }
            readers.push(reader);
        }
        let strong: Vec<MessageId> =
            readers.iter().flat_map(|r| r.strong.values().copied()).collect();
        draft.builder.strong(strong, system.vars.len())?;
        Ok(Self { draft, readers })
    }

    /// Sends memory after a write to the channels of all processes but one. What a process
    /// cannot tell from the memory before is not sent.
    fn tell(
        &self,
        but: Option<ProcessId>,
        before: &[ValueId],
        after: &Control,
        mut taken: Transition,
    ) -> Transition {
        for (i, reader) in self.readers.iter().enumerate() {
            let [old, new] = [before, &after.newest].map(|m| project(m, &reader.ever));
            if but == Some(ProcessId::new(i)) || old == new || !reader.observes(after.controls[i]) {
                continue;
            }
            taken = taken.op(reader.channel, Op::send(reader.plain[&new]));
        }
        taken
    }

    /// The rules for an operation of a process.
    fn program(
        &mut self,
        from: StateId,
        control: &Control,
        id: (ProcessId, ProgramTransition),
        op: ProgramOp,
        to: ProgramState,
    ) -> Result<(), MachineError> {
        let i = id.0.index();
        let p = control.controls[i];
        let mut after = control.clone();
        after.controls[i] = to;
        let letters = self.readers[i].plain.len() + self.readers[i].strong.len();
        self.draft.builder.budget().work(1 + letters / 64)?;
        let ahead = &self.readers[i].ahead[to.index()];
        after.seen[i] = restrict(&control.seen[i], ahead);
        match op {
            ProgramOp::Nop | ProgramOp::Fence(FenceKind::Write | FenceKind::Read) => {
                let to = self.draft.state(after)?;
                self.draft.take(id, Transition::new(from, to))?;
            }
            ProgramOp::Write(j, d) => {
                after.newest[j.index()] = d;
                let is_read = ahead[j.index()];
                let write = Transition::new(from, self.draft.state(after.clone())?);
                if !is_read {
                    let write = self.tell(None, &control.newest, &after, write);
                    return self.draft.take(id, write);
                }
                let write = self.tell(Some(id.0), &control.newest, &after, write);
                let reader = &self.readers[i];
                let c = reader.channel;
                let message = reader.strong[&(j, project(&after.newest, &reader.ever))];
                let mut ways = Vec::new();
                for (seen, strong) in reader.own_of(p, j) {
                    let substitution = Substitution::identity().with(reader.plain[seen], strong);
                    let send = Op::Send { substitution, message };
                    ways.push(write.clone().guard(c, reader.has_own(j, strong)).op(c, send));
                }
                let mut first = write.op(c, Op::send(message));
                if !ways.is_empty() {
                    first = first.guard(c, reader.without_own(j));
                }
                for way in ways.into_iter().chain([first]) {
                    self.draft.take(id, way)?;
                }
            }
            ProgramOp::Read(j, d) => {
                let read = Transition::new(from, self.draft.state(after)?);
                let reader = &self.readers[i];
                let c = reader.channel;
                let own = reader.own_of(p, j);
                let mut ways = Vec::new();
                for (_, message) in own.iter().filter(|(seen, _)| seen[j.index()] == Some(d)) {
                    ways.push(read.clone().guard(c, reader.has_own(j, *message)));
                }
                if control.seen[i][j.index()] == Some(d) {
                    ways.push(match own.is_empty() {
                        true => read,
                        false => read.guard(c, reader.without_own(j)),
                    });
                }
                for way in ways {
                    self.draft.take(id, way)?;
                }
            }
            ProgramOp::Arw(j, d, _) if control.newest[j.index()] != d => {}
            ProgramOp::Arw(..) | ProgramOp::Fence(FenceKind::Full) => {
                if let ProgramOp::Arw(j, _, e) = op {
                    after.newest[j.index()] = e;
                }
                after.seen[i] = project(&after.newest, ahead);
                let taken = Transition::new(from, self.draft.state(after.clone())?);
                let taken = self.tell(Some(id.0), &control.newest, &after, taken);
                let taken = taken.guard(self.readers[i].channel, Regex::epsilon());
                self.draft.take(id, taken)?;
            }
        }
        Ok(())
    }

    /// Update, and Catch up.
    fn updates(
        &mut self,
        from: StateId,
        control: &Control,
        process: ProcessId,
    ) -> Result<(), MachineError> {
        let i = process.index();
        let p = control.controls[i];
        let reader = &self.readers[i];
        let ahead = reader.ahead[p.index()].clone();
        let c = reader.channel;
        let mut next: Vec<(Seen, MessageId)> = Vec::new();
        let received = |seen: &Seen| restrict(seen, &ahead);
        // To receive a message that changes nothing is to lose it, unless it is strong.
        let plain = reader.plain.iter().map(|(seen, m)| (received(seen), *m));
        next.extend(plain.filter(|(seen, _)| *seen != control.seen[i]));
        for j in (0..ahead.len()).map(VarId::new) {
            next.extend(reader.own_of(p, j).into_iter().map(|(seen, m)| (received(seen), m)));
        }
        let newest = project(&control.newest, &ahead);
        if newest != control.seen[i] {
            let to = self.with_seen(control, i, newest)?;
            let catch_up = Transition::new(from, to).guard(c, Regex::epsilon());
            self.draft.builder.transition(catch_up)?;
        }
        for (seen, message) in next {
            let to = self.with_seen(control, i, seen)?;
            let update = Transition::new(from, to).op(c, Op::Receive(message));
            self.draft.builder.transition(update)?;
        }
        Ok(())
    }

    fn with_seen(
        &mut self,
        control: &Control,
        i: usize,
        seen: Seen,
    ) -> Result<StateId, MachineError> {
        let mut after = control.clone();
        after.seen[i] = seen;
        self.draft.state(after)
    }
}
