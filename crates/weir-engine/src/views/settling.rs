//! Whether processes can come by themselves to places that settle a question.

use std::rc::Rc;

use weir_model::answer::Run;
use weir_model::ids::{Cell, ProcessId, ValueId};
use weir_model::limits::Stop;
use weir_model::question::Kind;

use super::letters::Halt;
use super::places::Places;
use super::space::{Config, Space};
use crate::concrete::{self, Event};

impl Space<'_> {
    /// The run that events from an initial configuration stand for, if they do.
    pub(super) fn concrete(&self, start: &Config, events: &[Event]) -> Result<Option<Run>, Stop> {
        let start = self.memory(start).iter();
        let start: Vec<ValueId> = start.map(|&v| v.into()).collect();
        concrete::run(self.system, self.model, &start, events, self.budget())
    }

    /// The places of a process, and those at which it may settle a question.
    fn picks_of(
        &mut self,
        config: &Config,
        number: usize,
        p: ProcessId,
    ) -> Result<(Rc<Places>, Vec<u32>), Halt> {
        let system = self.system;
        let question = &self.questions[number];
        let places = match self.is_asked_at_the_end(question) {
            // Wherever it goes by itself, it makes no difference to the formula.
            true if !self.watch.asks(number, p) => self.rest_of(config, p),
            true => self.last_places_of(config, p)?,
            false => self.places_of(config, p)?,
        };
        let mut picks = places.picks[number].clone();
        if let Kind::NoDeadlock(except) = &question.kind {
            let control = |i: &u32| places.list[*i as usize].control;
            let memory = self.memory(config);
            picks.retain(|i| system.is_stuck(p, control(i), memory));
            // One that may not stay makes it a deadlock.
            picks.sort_by_key(|i| system.may_stay(p, control(i), except));
            picks.truncate(1);
        }
        Ok((places, picks))
    }

    /// What processes do by themselves to settle a question, if they can.
    pub(super) fn settling(
        &mut self,
        config: &Config,
        number: usize,
    ) -> Result<Option<Vec<Event>>, Halt> {
        let system = self.system;
        let question = &self.questions[number];
        let last = self.is_asked_at_the_end(question);
        let memory = &config.state[system.processes.len()..];
        let mut all: Vec<(Rc<Places>, Vec<u32>)> = Vec::with_capacity(system.processes.len());
        for p in system.process_ids() {
            let (places, picks) = self.picks_of(config, number, p)?;
            if picks.is_empty() {
                return Ok(None);
            }
            all.push((places, picks));
        }
        let mut chosen = vec![0; all.len()];
        loop {
            self.budget().tick()?;
            let place = |(i, (_, picks)): (usize, &(_, Vec<u32>))| picks[chosen[i]];
            let numbers: Vec<u32> = all.iter().enumerate().map(place).collect();
            let control =
                |((places, _), n): (&(Rc<Places>, _), &u32)| places.list[*n as usize].control.0;
            let controls: Vec<Cell> = all.iter().zip(&numbers).map(control).collect();
            if question.is_settled(system, &controls, memory) {
                let mut events: Vec<Event> = last.then_some(Event::End).into_iter().collect();
                for ((p, (places, _)), n) in system.process_ids().zip(&all).zip(numbers) {
                    events.extend(places.path(n).into_iter().map(|id| Event::Take(p, id)));
                }
                return Ok(Some(events));
            }
            // The next choice, counting up.
            let Some(i) = (0..all.len()).find(|&i| chosen[i] + 1 < all[i].1.len()) else {
                return Ok(None);
            };
            chosen[i] += 1;
            chosen[..i].fill(0);
        }
    }
}
