//! Where a run ends: its last configuration, and whether that settles the question.

use weir_model::ids::{ProcessId, StateId, ValueId, VarId};
use weir_model::memory_model::Relaxation;
use weir_model::system::Op;

use super::{Check, Replay, read_memory};
use crate::truth::is_settled;
use crate::witness::{Configuration, state_names};

impl Replay<'_> {
    /// The state that the run says it ends in is the one that it ends in.
    pub(super) fn ends_in(&self, end: &Configuration) -> Check<()> {
        let states: Vec<StateId> = self.threads.iter().map(|t| t.state).collect();
        if end.states != state_names(self.system, &states) {
            return Err("the run does not end in the control states that it names".into());
        }
        if read_memory(self.system, end)? != self.memory[self.now()] {
            return Err("the run does not end with the memory that it names".into());
        }
        if end.buffers.len() != self.threads.len() {
            return Err("the run does not end with a buffer for each process".into());
        }
        for (p, named) in self.system.process_ids().zip(&end.buffers) {
            self.has_buffer(p, named)?;
        }
        Ok(())
    }

    /// Whether a process can have these in its buffers: all writes that it has under way,
    /// in any order, because there may be several buffers; fences, which some forms put
    /// there themselves; and values that it reads from buffers, which memory has had.
    fn has_buffer(&self, p: ProcessId, named: &[String]) -> Check<()> {
        let wrong = |what: &str| Err(format!("process {}: {what} in the end", p.index()).into());
        let show = |x: VarId, d: ValueId| {
            let name = &self.system.vars[x.index()].name;
            format!("({name},{})", self.system.show_value(x, d))
        };
        let issued = &self.threads[p.index()].issued;
        let under_way = issued.iter().filter(|i| i.effect.is_none() && !i.early);
        let mut writes: Vec<String> = under_way
            .filter_map(|i| match i.op {
                Op::Write(x, d) => Some(format!("w{}", show(x, d))),
                _ => None,
            })
            .collect();
        let mut seen: Vec<String> = Vec::new();
        for (x, var) in self.system.vars.iter().enumerate() {
            let values = (0..var.count()).map(ValueId::new);
            let had = values.filter(|d| self.was_in_memory(VarId::new(x), *d));
            seen.extend(had.map(|d| show(VarId::new(x), d)));
        }
        for event in named {
            if ["rfence", "wfence"].contains(&event.as_str()) {
                continue;
            }
            if let Some(at) = writes.iter().position(|w| w == event) {
                writes.swap_remove(at);
            } else {
                let value = ["r", "load", "own"].iter().find_map(|kind| event.strip_prefix(kind));
                if !value.is_some_and(|value| seen.iter().any(|s| s == value)) {
                    return wrong("its buffers do not hold all that is named");
                }
            }
        }
        if writes.is_empty() { Ok(()) } else { wrong("a write is under way that is not named") }
    }

    /// What is under way in the end are writes, and they can all reach memory:
    /// no read rests on a guess, and no order is circular.
    pub(super) fn can_drain(&self) -> Check<()> {
        let mut rest = Replay {
            system: self.system,
            model: self.model,
            threads: self.threads.clone(),
            memory: self.memory.clone(),
            two_levels: false,
            orders: self.orders.clone(),
            seen: self.seen.clone(),
        };
        for p in self.system.process_ids() {
            let thread = &self.threads[p.index()];
            for &n in &thread.traces[0] {
                if let op @ Op::Read(..) = thread.issued[n].op {
                    let shown = self.system.show_op(op);
                    return Err(format!(
                        "the value of {shown} is a guess that was never validated"
                    )
                    .into());
                }
            }
        }
        loop {
            let mut left = 0;
            let mut moved = false;
            for p in self.system.process_ids() {
                rest.drop_fences(p);
                for n in rest.threads[p.index()].traces[0].clone() {
                    left += 1;
                    moved |= !matches!(rest.threads[p.index()].issued[n].op, Op::Fence(_))
                        && rest.perform(p, n).is_ok();
                }
            }
            if left == 0 {
                return Ok(());
            }
            if !moved {
                return Err("the writes under way in the end wait for one another".into());
            }
        }
    }

    /// Whether the last state settles the question.
    pub(super) fn settles(&self, property: usize) -> Check<()> {
        let question = self.system.questions.get(property).ok_or("there is no such property")?;
        let controls: Vec<StateId> = self.threads.iter().map(|t| t.state).collect();
        let memory = &self.memory[self.now()];
        let drained = self.threads.iter().all(|t| t.traces[0].is_empty());
        let buffered = self.model.has(Relaxation::WriteRead) && !question.is_about_rest();
        let between = self.system.in_block(self.model, &controls).is_none();
        match between
            && (drained || buffered)
            && is_settled(self.system, question, &controls, memory)
        {
            true => Ok(()),
            false => Err(format!("the last state does not settle `{}`", question.name).into()),
        }
    }
}
