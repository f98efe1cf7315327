//! Sequential consistency: processes take turns on one memory.
//!
//! *Configuration*: control states and memory. Fences have no effect.

use super::layout::Layout;
use super::{Event, Head, Rule, Semantics, Step, Visit, control};
use crate::ids::{Cell, ProcessId, ValueId, VarId};
use crate::symmetry::Automorphism;
use crate::system::{Op, System, Transition};

pub(super) struct Sc<'s> {
    system: &'s System,
    head: Head,
}

impl<'s> Sc<'s> {
    pub fn new(system: &'s System) -> Self {
        Self { system, head: Head::new(system) }
    }
}

impl Layout for Sc<'_> {
    fn initial_rest(&self, _config: &mut Vec<Cell>) {}

    fn is_drained(&self, _config: &[Cell]) -> bool {
        true
    }

    fn pending(&self, _config: &[Cell]) -> Vec<Vec<Event>> {
        vec![vec![]; self.head.processes]
    }
}

impl Semantics for Sc<'_> {
    fn system(&self) -> &System {
        self.system
    }

    fn layout(&self) -> &dyn Layout {
        self
    }

    fn image(&self, config: &[Cell], g: &Automorphism, image: &mut Vec<Cell>) -> Option<()> {
        image.clear();
        g.head(self.system, config, image)
    }

    fn successors(&self, config: &[Cell], scratch: &mut Vec<Cell>, visit: Visit<'_>) -> bool {
        let head = self.head;
        scratch.clear();
        scratch.extend_from_slice(config);
        for p in self.system.process_ids() {
            let see = |x, _| head.get(config, x);
            for (id, t) in self.system.steps_on(p, control(config, p), see) {
                let (rule, written) = match t.op {
                    Op::Nop => (Rule::Nop, None),
                    Op::Read(x, d) if head.get(config, x) == d => (Rule::ReadMemory, None),
                    Op::Arw(x, d, e) if head.get(config, x) == d => (Rule::Arw, Some((x, e))),
                    Op::Read(..) | Op::Arw(..) => continue,
                    Op::Write(x, d) => (Rule::WriteMemory, Some((x, d))),
                    Op::Fence(kind) => (super::fence_rule(kind), None),
                };
                scratch[p.index()] = t.to.0;
                if let Some((x, d)) = written {
                    head.set(scratch, x, d);
                }
                visit(Step::take(p, rule, id), scratch);
                scratch[p.index()] = t.from.0;
                if let Some((x, _)) = written {
                    head.set(scratch, x, head.get(config, x));
                }
            }
        }
        true
    }

    fn take_quietly(
        &self,
        config: &mut Vec<Cell>,
        process: ProcessId,
        t: &Transition,
    ) -> Option<Rule> {
        let rule = match t.op {
            Op::Nop => Rule::Nop,
            Op::Fence(kind) => super::fence_rule(kind),
            Op::Read(..) | Op::Write(..) | Op::Arw(..) => return None,
        };
        config[process.index()] = t.to.0;
        Some(rule)
    }

    fn sees(&self, config: &[Cell], _process: ProcessId, var: VarId) -> Option<ValueId> {
        Some(self.head.get(config, var))
    }

    fn has_under_way(&self, _config: &[Cell], _process: ProcessId, _var: VarId) -> bool {
        false
    }
}
