//! Buffers of which only the oldest messages are known.
//!
//! A buffer that grows without end takes infinitely many positions. Here a buffer has at most
//! `size` listed messages, and a position stands for all buffers that it *covers*:
//!
//! * A run of equal adjacent messages in a store buffer is one message with
//!   [`Message::more`]. When the update player updates it, the update player chooses whether
//!   some of the run is left.
//! * Newer messages than the listed ones are [`Configuration::beyond`]. Of these only the
//!   newest own value of each variable is known. When the listed messages are used up, the
//!   update player chooses what comes next: any message that can be there.
//!
//! What a process reads, and whether it may execute a fence, is the same for all buffers that a
//! position covers, so the process player has the same moves. Whatever the update player can do
//! with a buffer, the update player can do with a position that covers it. So a win of the process player
//! here is a win in the unbounded game: the process player plays what the position says that
//! covers the configuration. A win of the update player says nothing, unless no buffer was shortened.
//!
//! In a load buffer, the oldest message decides what a process can read. So a turn cannot end
//! while no message is listed and there may be others: the update player first says which
//! message is the oldest, or that there is none. Load buffers are kept without equal adjacent
//! messages, so each of their messages stands for one or more.

use std::collections::BTreeSet;

use weir_model::game::{Beyond, Board, Buffers, Configuration, Message};
use weir_model::ids::{ProcessId, StateId, ValueId, VarId};
use weir_model::system::Op;

use crate::rules::{Rules, Step};

/// The steps on such buffers.
pub struct Coarse {
    /// The most messages that are listed of a buffer. At least one: the update player lists
    /// the oldest.
    size: usize,
    /// For each process and variable, the values that the process can write.
    written: Vec<Vec<BTreeSet<ValueId>>>,
    /// For each variable, the values that memory can hold.
    held: Vec<BTreeSet<ValueId>>,
}

impl Coarse {
    /// Buffers of which at most `size` messages are listed.
    pub fn new(board: &Board<'_>, size: usize) -> Self {
        let system = board.system;
        let mut held: Vec<BTreeSet<ValueId>> =
            system.vars.iter().map(|v| v.initial.iter().copied().collect()).collect();
        let mut written = Vec::new();
        for p in system.process_ids() {
            let mut by = vec![BTreeSet::new(); system.vars.len()];
            let states = (0..).map(StateId::new).take_while(|s| board.knows(p, *s));
            for i in states.flat_map(|s| board.instructions(p, s)) {
                if let Op::Write(x, d) = i.op {
                    by[x.index()].insert(d);
                    held[x.index()].insert(d);
                }
            }
            written.push(by);
        }
        Self { size: size.max(1), written, held }
    }

    /// Shortens the buffer of a process that has got a new message. Whether the result stands for
    /// several buffers.
    pub fn shorten(&self, rules: &Rules<'_>, at: &mut Configuration, p: ProcessId) -> bool {
        let (buffer, beyond) = (&mut at.buffers[p.index()], &mut at.beyond[p.index()]);
        if let [.., one, two] = buffer.as_mut_slice()
            && rules.buffers == Buffers::Store
            && (one.var, one.value) == (two.var, two.value)
        {
            one.more = true;
            buffer.pop();
        } else if buffer.len() > self.size
            && let Some(newest) = buffer.pop()
        {
            let mut own: Beyond = vec![None; at.memory.len()];
            own[newest.var.index()] = newest.own.then_some(newest.value);
            *beyond = Some(own);
        }
        beyond.is_some() || buffer.iter().any(|m| m.more)
    }

    /// What a step of the update player can lead to, and whether no buffer was shortened.
    pub fn updates(&self, rules: &Rules<'_>, at: &Configuration) -> (Vec<Configuration>, bool) {
        let mut found = Vec::new();
        let mut is_exact = true;
        for step in rules.steps(at) {
            let mut after = rules.take(at, step);
            match step {
                // What is beyond may be anything already.
                Step::Propagate(p, _) if at.beyond[p.index()].is_some() => continue,
                Step::Propagate(p, _) => is_exact &= !self.shorten(rules, &mut after, p),
                Step::Update(p) if at.buffers[p.index()][0].more => {
                    let memory = after.memory.clone();
                    found.push(Configuration { memory, ..at.clone() });
                }
                Step::Update(_) | Step::Delete(_) => {}
            }
            found.push(after);
        }
        for p in rules.board.system.process_ids() {
            if let (Some(newest), true) = (&at.beyond[p.index()], at.buffers[p.index()].is_empty())
            {
                match rules.buffers {
                    Buffers::Store => self.update_beyond(at, p, newest, &mut found),
                    Buffers::Load => self.list(at, p, newest, &mut found),
                }
            }
        }
        (found, is_exact)
    }

    /// The oldest message beyond a store buffer reaches memory.
    fn update_beyond(
        &self,
        at: &Configuration,
        p: ProcessId,
        newest: &Beyond,
        found: &mut Vec<Configuration>,
    ) {
        for (x, own) in newest.iter().enumerate() {
            let Some(own) = *own else { continue };
            let mut update = |value: ValueId, beyond: Option<Beyond>| {
                let mut after = at.clone();
                after.memory[x] = value;
                after.beyond[p.index()] = beyond;
                found.push(after);
            };
            let older = self.written[p.index()][x].iter();
            older.for_each(|value| update(*value, Some(newest.clone())));
            let left = without(newest, x);
            update(own, Some(left).filter(|left| left.iter().any(Option::is_some)));
        }
    }

    /// The update player says which message beyond a load buffer is the oldest, or that there
    /// is none.
    fn list(
        &self,
        at: &Configuration,
        p: ProcessId,
        newest: &Beyond,
        found: &mut Vec<Configuration>,
    ) {
        let mut list = |message: Option<Message>, beyond: Option<Beyond>| {
            let mut after = at.clone();
            after.buffers[p.index()].extend(message);
            after.beyond[p.index()] = beyond;
            found.push(after);
        };
        for (x, newest_own) in newest.iter().enumerate() {
            let message =
                |value, own| Some(Message { var: VarId::new(x), value, own, more: false });
            for &value in &self.held[x] {
                list(message(value, false), Some(newest.clone()));
            }
            if let Some(own) = *newest_own {
                for &older in &self.written[p.index()][x] {
                    list(message(older, true), Some(newest.clone()));
                }
                list(message(own, true), Some(without(newest, x)));
            }
        }
        if newest.iter().all(Option::is_none) {
            list(None, None);
        }
    }
}

/// Whether the update player may end a turn: it is known what each process can read.
pub fn is_settled(rules: &Rules<'_>, at: &Configuration) -> bool {
    let mut each = at.buffers.iter().zip(&at.beyond);
    rules.buffers == Buffers::Store || !each.any(|(b, beyond)| b.is_empty() && beyond.is_some())
}

/// The newest own message of a variable is no longer beyond.
fn without(newest: &Beyond, x: usize) -> Beyond {
    let mut left = newest.clone();
    left[x] = None;
    left
}

/// Whether a position covers a configuration with all its messages listed.
pub fn covers(rules: &Rules<'_>, position: &Configuration, at: &Configuration) -> bool {
    let each = position.buffers.iter().zip(&position.beyond).zip(&at.buffers);
    (&position.states, &position.memory) == (&at.states, &at.memory)
        && each.into_iter().all(|((listed, beyond), real)| {
            let mut left = real.as_slice();
            for message in listed {
                let equal = |m: &&Message| {
                    (m.var, m.value, m.own) == (message.var, message.value, message.own)
                };
                let same = left.iter().take_while(equal).count();
                let used = if message.more { same } else { same.min(1) };
                if used == 0 {
                    return false;
                }
                left = &left[used..];
            }
            let Some(newest) = beyond else { return left.is_empty() };
            let own_after = |before: &[Message]| {
                let mut own: Beyond = vec![None; newest.len()];
                let all = before.iter().chain(left);
                all.filter(|m| m.own).for_each(|m| own[m.var.index()] = Some(m.value));
                own == *newest
            };
            // A load buffer lists equal adjacent messages once, so a copy of the last listed
            // message may come first.
            let copy = &listed[listed.len().saturating_sub(1)..];
            match rules.buffers {
                Buffers::Store => own_after(&[]) && !left.is_empty(),
                Buffers::Load => own_after(&[]) || own_after(copy),
            }
        })
}
