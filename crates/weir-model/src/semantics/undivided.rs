//! Atomic blocks: while a process is in the middle of one, no other process takes a step.
//!
//! The accesses of a block are steps of the semantics below, which is any form; the others, and
//! their buffers, wait until the block is over. Under models in which the block is atomic, each of
//! its accesses is an atomic read-write, so nothing of the process is under way in the middle of
//! it. No question is asked there.

use super::{Layout, Rule, Semantics, Step, Visit};
use crate::ids::{Cell, ProcessId, ValueId, VarId};
use crate::memory_model::MemoryModel;
use crate::symmetry::Automorphism;
use crate::system::{System, Transition};

pub(super) struct Undivided<'s> {
    inner: Box<dyn Semantics + 's>,
    model: MemoryModel,
}

impl<'s> Undivided<'s> {
    /// The semantics with the blocks of the system under a model.
    pub fn around(inner: Box<dyn Semantics + 's>, model: MemoryModel) -> Box<dyn Semantics + 's> {
        match inner.system().has_blocks(model) {
            true => Box::new(Self { inner, model }),
            false => inner,
        }
    }

    fn in_block(&self, config: &[Cell]) -> Option<ProcessId> {
        self.inner.system().in_block(self.model, config)
    }
}

impl Semantics for Undivided<'_> {
    fn system(&self) -> &System {
        self.inner.system()
    }

    fn layout(&self) -> &dyn Layout {
        self.inner.layout()
    }

    fn successors(&self, config: &[Cell], scratch: &mut Vec<Cell>, visit: Visit<'_>) -> bool {
        match self.in_block(config) {
            None => self.inner.successors(config, scratch, visit),
            Some(process) => self.inner.successors(config, scratch, &mut |step, next| {
                if step.process == process {
                    visit(step, next);
                }
            }),
        }
    }

    fn is_settled(&self, config: &[Cell]) -> bool {
        self.in_block(config).is_none() && self.inner.is_settled(config)
    }

    fn is_drained(&self, config: &[Cell]) -> bool {
        self.in_block(config).is_none() && self.inner.is_drained(config)
    }

    fn take_quietly(
        &self,
        config: &mut Vec<Cell>,
        process: ProcessId,
        transition: &Transition,
    ) -> Option<Rule> {
        match self.in_block(config) {
            None => self.inner.take_quietly(config, process, transition),
            Some(_) => None,
        }
    }

    fn take_read_quietly(
        &self,
        config: &mut Vec<Cell>,
        process: ProcessId,
        transition: &Transition,
    ) -> Option<Rule> {
        match self.in_block(config) {
            None => self.inner.take_read_quietly(config, process, transition),
            Some(_) => None,
        }
    }

    fn sees(&self, config: &[Cell], process: ProcessId, var: VarId) -> Option<ValueId> {
        match self.in_block(config) {
            None => self.inner.sees(config, process, var),
            Some(_) => None,
        }
    }

    fn has_under_way(&self, config: &[Cell], process: ProcessId, var: VarId) -> bool {
        self.inner.has_under_way(config, process, var)
    }

    fn update_quietly(
        &self,
        config: &mut Vec<Cell>,
        process: ProcessId,
        may: &dyn Fn(&[Cell], VarId) -> bool,
    ) -> Option<Step> {
        match self.in_block(config) {
            None => self.inner.update_quietly(config, process, may),
            Some(_) => None,
        }
    }

    fn image(
        &self,
        config: &[Cell],
        automorphism: &Automorphism,
        image: &mut Vec<Cell>,
    ) -> Option<()> {
        self.inner.image(config, automorphism, image)
    }
}
