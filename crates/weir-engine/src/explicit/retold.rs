//! Runs with all their steps: quiet ones are taken no sooner than they have to be.

use std::collections::VecDeque;

use weir_model::ids::Cell;
use weir_model::limits::{Budget, Stop};
use weir_model::memory_model::MemoryModel;
use weir_model::question::Question;
use weir_model::semantics::{Rule, Semantics, Step};

use super::settles;

/// A run that is told with its quiet steps.
pub(super) struct Retold<'s> {
    semantics: &'s dyn Semantics,
    start: Vec<Cell>,
    config: Vec<Cell>,
    steps: Vec<Step>,
    /// For each process the quiet steps that it still has to take, and its buffers.
    late: Vec<VecDeque<Step>>,
}

impl<'s> Retold<'s> {
    pub fn new(semantics: &'s dyn Semantics, start: Vec<Cell>) -> Self {
        let late = vec![VecDeque::new(); semantics.system().processes.len()];
        Self { semantics, config: start.clone(), start, steps: vec![], late }
    }

    /// Where it begins.
    pub fn start(&self) -> &[Cell] {
        &self.start
    }

    /// Puts off a quiet step. A fence is passed now, since a process that passes one late may see less. Under C11 nothing is put
    /// off: others may read a quiet write, and what a process may still access decides which messages are kept.
    pub fn put_off(&mut self, step: Step) {
        self.late[step.process.index()].push_back(step);
        let is_fence = matches!(step.rule, Rule::Fence | Rule::ReadFence | Rule::WriteFence);
        if is_fence || self.semantics.system().serves(MemoryModel::C11) {
            self.catch_up(step);
        }
    }

    /// Takes a step that is not quiet, after as many quiet ones of its process as it needs. What
    /// leaves a buffer leaves in the order in which it did.
    pub fn take(&mut self, step: Step) {
        let late = &self.late[step.process.index()];
        if step.transition.is_some() || late.iter().any(|s| s.transition.is_none()) {
            self.catch_up(step);
        }
        while !self.try_take(step) {
            self.take_late(step);
        }
    }

    /// Takes the quiet steps of the process of a step.
    fn catch_up(&mut self, step: Step) {
        while !self.late[step.process.index()].is_empty() {
            self.take_late(step);
        }
    }

    /// Takes the next quiet step of the process of a step.
    fn take_late(&mut self, step: Step) {
        let next = self.late[step.process.index()].pop_front();
        let is_taken = self.try_take(next.expect("a step needs only quiet ones before it"));
        assert!(is_taken, "nobody can prevent a quiet step");
    }

    /// Takes a step, if that is possible now. A quiet read may find its value in the own buffer
    /// or in memory.
    fn try_take(&mut self, step: Step) -> bool {
        let is_same = |s: &Step| {
            let own = s.rule == Rule::ReadOwnWrite && step.rule == Rule::ReadMemory;
            *s == if own { Step { rule: s.rule, ..step } } else { step }
        };
        let taken = self.semantics.take(&mut self.config, &is_same);
        self.steps.extend(taken);
        taken.is_some()
    }

    /// The run up to the first configuration that settles a question, with where it begins. What
    /// was put off is left out if it is not needed for that.
    pub fn until_settled(
        mut self,
        question: &Question,
        budget: &Budget,
    ) -> Result<(Vec<Cell>, Vec<Step>), Stop> {
        if !settles(self.semantics, &self.config, question) {
            for p in 0..self.late.len() {
                while let Some(&step) = self.late[p].front() {
                    self.take_late(step);
                }
            }
        }
        let mut config = self.start.clone();
        for i in 0..self.steps.len() {
            budget.tick()?;
            if settles(self.semantics, &config, question) {
                self.steps.truncate(i);
                break;
            }
            let step = self.steps[i];
            self.semantics.take(&mut config, &|s| *s == step);
        }
        Ok((self.start, self.steps))
    }
}
