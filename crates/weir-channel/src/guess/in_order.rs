//! `{w->r, r->r/w}` and `{w->r, r->w}`: the writes of a process reach memory in order.
//!
//! As under TSO (section 5) the direction of the buffers is reversed: a write is in
//! memory as soon as it is issued, and processes learn of memory later, in order. Unlike
//! there the letters are not memory states, but have one variable and its value, and a
//! process may be *told* a value of memory at any time. So there is one machine for all
//! processes, with a channel for each, and its control states do not contain what each
//! process sees.
//!
//! A control state has the control states of the processes, memory, and for each
//! process and variable the guessed reads, in groups `G₀ W₁ G₁ W₂ … Gₖ`. The `W`s are
//! the strong own writes in the channel, oldest first. The reads of `G₀` have no own
//! write before them.
//!
//! | rule | guard and operation |
//! | --- | --- |
//! | Write to store | memory has the value; `x=d#` is sent, and a new group begins |
//! | Read own write | `x=d#` is in the channel and no read came after it |
//! | Guess | the read joins the last group |
//! | Validate | `x=d` is the oldest letter, and the read the first of `G₀` |
//! | Update | the oldest letter is received; if it is a `W`, `G₀` has to be empty |
//! | ARW, full fence | the channel is empty and there are no guesses |
//! | (told) | `x=d` is sent, where memory has `d` |
//!
//! The last own write of a variable is `x=d#`. When another comes, it becomes `x=d!` if
//! a guessed read is before or after it, and plain if not.
//!
//! *Without `r->r`* a control state also has the order of a process's guessed reads and strong
//! own writes, across variables. Two rules have one more condition:
//!
//! | rule | condition |
//! | --- | --- |
//! | Validate | the read is the first of all |
//! | Read own write | no read `e` after the own write has a write to its variable between the two |
//!
//! The paper states theorem 8 for the models with `r->r`. Its argument covers this one, since
//! both conditions are about guessed reads and strong writes only. Of the writes to the variable
//! of `e` the last one before `e` decides whether there is one in between, as the buffer is a
//! queue, and that one is strong as long as `e` is guessed.

use std::collections::BTreeMap;

use weir_engine::ahead::{ByPlace, readable};
use weir_model::ids::{ProcessId, ValueId, VarId};
use weir_model::limits::Budget;
use weir_model::system::Expanded;

use super::{Control, Rules, Step, alphabet, explore};
use crate::pso::control_name;
use crate::translation::{Draft, Place, Translation, TranslationError};
use crate::{
    ChannelId, Class, MachineError, MessageId, Op, Regex, StateId, Substitution, Transition,
};

/// Guessed reads of a variable between strong own writes: `G₀ W₁ G₁ …`. There is
/// always a last group.
type Groups = Vec<Vec<ValueId>>;

/// A guessed read or a strong own write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Item {
    Read(VarId),
    Write(VarId),
}

/// What is known of the buffer of a process.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Buffer {
    /// For each variable.
    groups: Vec<Groups>,
    /// The order of all guessed reads and strong own writes, oldest first, if reads keep their
    /// order; otherwise empty.
    order: Vec<Item>,
}

impl Buffer {
    fn new(vars: usize) -> Self {
        Self { groups: vec![vec![vec![]]; vars], order: vec![] }
    }

    /// Whether there are no guessed reads and no strong writes.
    fn is_idle(&self) -> bool {
        self.groups.iter().all(|groups| *groups == [Vec::<ValueId>::new()])
    }

    /// Takes the first of the items out that is this one.
    fn remove(&mut self, item: Item) {
        let at = self.order.iter().position(|i| *i == item);
        at.map(|at| self.order.remove(at));
    }

    /// Whether some read behind the last own write of a variable cannot be moved before that write,
    /// because a write to the variable of the read is between the two. Then no later read can be
    /// moved either.
    fn is_stuck_behind(&self, x: VarId) -> bool {
        let Some(at) = self.order.iter().rposition(|i| *i == Item::Write(x)) else { return false };
        let behind = &self.order[at + 1..];
        let stuck = |(i, item): (usize, &Item)| match item {
            Item::Read(y) => behind[..i].contains(&Item::Write(*y)),
            Item::Write(_) => false,
        };
        behind.iter().enumerate().any(stuck)
    }
}

/// What is known of the buffers, for each process.
type Reads = Vec<Buffer>;

impl Control<Reads> {
    /// How many reads a process has guessed.
    fn guesses(&self, p: ProcessId) -> usize {
        self.reads[p.index()].groups.iter().flatten().map(Vec::len).sum()
    }

    fn name(system: Expanded<'_>, control: &Self) -> String {
        let value = |x: usize, v: ValueId| system.value(VarId::new(x), v).to_string();
        let mut name = control_name(system, &control.controls, &control.memory);
        for (p, buffer) in control.reads.iter().enumerate() {
            let is_idle = |groups: &Groups| *groups == [Vec::<ValueId>::new()];
            for (x, groups) in buffer.groups.iter().enumerate().filter(|(_, g)| !is_idle(g)) {
                let group =
                    |g: &Vec<ValueId>| g.iter().map(|v| value(x, *v)).collect::<Vec<_>>().join(" ");
                let groups: Vec<String> = groups.iter().map(group).collect();
                name += &format!(" {p}:{}={{{}}}", system.vars[x].name, groups.join("|"));
            }
            if !buffer.order.is_empty() {
                let item = |item: &Item| match item {
                    Item::Read(x) => format!("?{}", system.vars[x.index()].name),
                    Item::Write(x) => format!("!{}", system.vars[x.index()].name),
                };
                let order: Vec<String> = buffer.order.iter().map(item).collect();
                name += &format!(" {p}:<{}>", order.join(" "));
            }
        }
        name
    }
}

/// The letters of a variable and a value.
#[derive(Clone, Copy)]
struct Letters {
    plain: MessageId,
    /// The last own write.
    last: MessageId,
    /// An own write next to a guessed read, but not the last.
    kept: MessageId,
}

struct Maker<'s> {
    system: Expanded<'s>,
    guesses: usize,
    /// Whether reads are validated in their order.
    keeps_order: bool,
    draft: Draft<'s, Control<Reads>>,
    channels: Vec<ChannelId>,
    /// By variable and value.
    letters: Vec<BTreeMap<ValueId, Letters>>,
    /// For each process and control state, the variables that it can read before its
    /// next full fence. It need not know of others.
    readable: Vec<ByPlace>,
}

/// The machine of a program with bounded guesses.
pub(crate) fn translation(
    system: Expanded<'_>,
    guesses: usize,
    reads: super::Reads,
    budget: &Budget,
) -> Result<Translation, TranslationError> {
    let keeps_order = reads == super::Reads::InOrder;
    let mut maker = Maker { keeps_order, ..Maker::new(system, guesses, budget)? };
    let reads = vec![Buffer::new(system.vars.len()); system.processes.len()];
    let start = explore(&mut maker, system, &reads)?;
    Ok(maker.draft.finish(start, |control| {
        let is_place = control.reads.iter().all(Buffer::is_idle);
        let Control { controls, memory, .. } = control;
        (is_place.then_some(Place { controls, memory }), vec![])
    })?)
}

impl<'s> Maker<'s> {
    fn new(system: Expanded<'s>, guesses: usize, budget: &Budget) -> Result<Self, MachineError> {
        let mut draft = Draft::new(system, Control::<Reads>::name, budget);
        let builder = &mut draft.builder;
        let channels = system.processes.iter().map(|p| builder.channel(p.name.clone()));
        let channels = channels.collect::<Result<_, _>>()?;
        let letters = alphabet(system, |name| {
            Ok::<_, MachineError>(Letters {
                plain: builder.message(name.clone())?,
                last: builder.message(format!("{name}#"))?,
                kept: builder.message(format!("{name}!"))?,
            })
        })?;
        // A `W` that is neither the last of its variable nor next to a guess stands
        // first, and was next to one: there is at most one for each variable.
        let strong =
            letters.iter().flat_map(BTreeMap::values).flat_map(|l: &Letters| [l.last, l.kept]);
        let bound = 2 * (system.vars.len() + guesses);
        builder.strong(strong.collect::<Vec<_>>(), bound)?;
        Ok(Self {
            system,
            guesses,
            keeps_order: false,
            draft,
            channels,
            letters,
            readable: system
                .process_ids()
                .map(|p| readable(&system, p, budget))
                .collect::<Result<_, _>>()?,
        })
    }

    /// Whether it matters to a process what happens to a variable.
    fn concerns(&self, control: &Control<Reads>, p: ProcessId, x: VarId) -> bool {
        let at = control.controls[p.index()];
        let is_guessed = control.reads[p.index()].groups[x.index()].iter().any(|g| !g.is_empty());
        self.readable[p.index()].at(&self.system, p, at)[x.index()] || is_guessed
    }
}

impl<'s> Rules<'s> for Maker<'s> {
    type Reads = Reads;

    fn draft(&mut self) -> &mut Draft<'s, Control<Reads>> {
        &mut self.draft
    }

    fn read(
        &mut self,
        Step { from, id, mut after }: Step<Reads>,
        (x, d): (VarId, ValueId),
    ) -> Result<(), MachineError> {
        let p = id.0;
        let channel = self.channels[p.index()];
        let buffer = &after.reads[p.index()];
        let groups = &buffer.groups[x.index()];
        let follows_write = groups.len() > 1
            && groups.last().is_some_and(Vec::is_empty)
            && !buffer.is_stuck_behind(x);
        let own = self.letters[x.index()][&d].last;
        if follows_write {
            let to = self.draft.state(after.clone())?;
            self.draft.take(id, Transition::new(from, to).guard(channel, Regex::has(own)))?;
        }
        if after.guesses(p) < self.guesses {
            let buffer = &mut after.reads[p.index()];
            buffer.groups[x.index()].last_mut().expect("there is a last group").push(d);
            if self.keeps_order {
                buffer.order.push(Item::Read(x));
            }
            let to = self.draft.state(after)?;
            let mut guess = Transition::new(from, to);
            if follows_write {
                guess = guess.guard(channel, Regex::class(Class::but([own])).star());
            }
            self.draft.take(id, guess)?;
        }
        Ok(())
    }

    fn write(
        &mut self,
        Step { from, id, mut after }: Step<Reads>,
        (x, d): (VarId, ValueId),
    ) -> Result<(), MachineError> {
        let p = id.0;
        after.memory[x.index()] = d;
        if !self.concerns(&after, p, x) {
            return self.pass(Step { from, id, after });
        }
        let buffer = &mut after.reads[p.index()];
        let groups = &mut buffer.groups[x.index()];
        let next_to_read = groups.iter().rev().take(2).any(|g| !g.is_empty());
        let is_first = groups.len() == 1;
        let is_kept = !is_first && next_to_read;
        if is_kept || is_first {
            groups.push(vec![]);
        } else if let Some(at) = buffer.order.iter().rposition(|i| *i == Item::Write(x)) {
            buffer.order.remove(at);
        }
        if self.keeps_order {
            buffer.order.push(Item::Write(x));
        }
        let channel = self.channels[p.index()];
        let letters = self.letters[x.index()].clone();
        let message = letters[&d].last;
        let write = Transition::new(from, self.draft.state(after)?);
        if is_first {
            return self.draft.take(id, write.op(channel, Op::send(message)));
        }
        // There is one last write, and the guards say so: going back, it would otherwise
        // have to be looked for in many places at once.
        let others = Class::but(letters.values().map(|l| l.last));
        let others = Regex::class(others).star();
        for l in letters.values() {
            let new = if is_kept { l.kept } else { l.plain };
            let substitution = Substitution::identity().with(new, l.last);
            let send = Op::Send { substitution, message };
            let one = [others.clone(), Regex::one(l.last), others.clone()];
            let write = write.clone().guard(channel, Regex::concat(one));
            self.draft.take(id, write.op(channel, send))?;
        }
        Ok(())
    }

    fn when_empty(&mut self, Step { from, id, after }: Step<Reads>) -> Result<(), MachineError> {
        if !after.reads[id.0.index()].is_idle() {
            return Ok(());
        }
        let to = self.draft.state(after)?;
        let channel = self.channels[id.0.index()];
        self.draft.take(id, Transition::new(from, to).guard(channel, Regex::epsilon()))
    }

    fn memory(
        &mut self,
        from: StateId,
        control: &Control<Reads>,
        p: ProcessId,
    ) -> Result<(), MachineError> {
        let channel = self.channels[p.index()];
        for x in (0..self.system.vars.len()).map(VarId::new) {
            let buffer = &control.reads[p.index()];
            let groups = &buffer.groups[x.index()];
            let letters = self.letters[x.index()].clone();
            // Told.
            if self.concerns(control, p, x) {
                let told = letters[&control.memory[x.index()]].plain;
                self.draft
                    .builder
                    .transition(Transition::new(from, from).op(channel, Op::send(told)))?;
            }
            // Validate.
            let mut reads = buffer.order.iter().filter(|i| matches!(i, Item::Read(_)));
            let is_next = !self.keeps_order || reads.next() == Some(&Item::Read(x));
            if let Some(&d) = groups[0].first()
                && is_next
            {
                let mut after = control.clone();
                after.reads[p.index()].groups[x.index()][0].remove(0);
                after.reads[p.index()].remove(Item::Read(x));
                let oldest = Regex::one(letters[&d].plain);
                let guard = Regex::concat([Regex::anything(), oldest]);
                let to = self.draft.state(after)?;
                self.draft.builder.transition(Transition::new(from, to).guard(channel, guard))?;
            }
            // Update.
            for letters in letters.values() {
                let receive = Transition::new(from, from).op(channel, Op::Receive(letters.plain));
                self.draft.builder.transition(receive)?;
                if groups.len() > 1 && groups[0].is_empty() {
                    let mut after = control.clone();
                    after.reads[p.index()].groups[x.index()].remove(0);
                    after.reads[p.index()].remove(Item::Write(x));
                    let write = if groups.len() == 2 { letters.last } else { letters.kept };
                    let to = self.draft.state(after)?;
                    let receive = Transition::new(from, to).op(channel, Op::Receive(write));
                    self.draft.builder.transition(receive)?;
                }
            }
        }
        Ok(())
    }
}
