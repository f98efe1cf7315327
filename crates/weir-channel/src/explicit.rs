//! Explicit search, breadth-first, with channels up to a bound.
//!
//! *Problem.* Which control states does a machine reach while no channel holds more than
//! a given number of messages? Perfect machines simulate Turing machines, so no algorithm
//! decides reachability without the bound.
//!
//! *Algorithm.* Configurations are explored layer by layer. In a lossy machine, the
//! configurations that result from losses belong to the same layer, so runs are shortest
//! in transitions. A perfect step that exceeds the bound is omitted; a lossy one still
//! has its smaller results. In both cases the answer is no longer exact.

mod again;

use std::time::Instant;

use weir_engine::store::{ConfigId, Full, Store};
use weir_engine::{Progress, SearchOptions, Stats};
use weir_model::ids::Cell;
use weir_model::limits::{Budget, INTERVAL};

pub use again::{Again, Lasso, again};

use crate::ids::{StateId, TransitionId};
use crate::lossy::Reach;
use crate::machine::{Configuration, Machine};
use crate::replay::replay;
use crate::semantics::{Compiled, Goal, Run, Semantics, Step};

/// The bound on channels if none is given.
pub const DEFAULT_BOUND: usize = 6;

/// The reason with which a search stops that has found its goal.
pub(crate) const FOUND: &str = "the state was reached";

/// What an explicit search found.
#[derive(Clone, Debug)]
pub struct Found {
    /// The answer to the goal, if there was one.
    pub goal: Option<Reach>,
    /// The control states that were reached, in their order.
    pub states: Vec<StateId>,
    /// What the search did; its `bound` is the one on channels.
    pub stats: Stats,
}

struct Search<'m> {
    compiled: Compiled<'m>,
    semantics: Semantics,
    bound: usize,
    store: Store,
    /// The transition that led to a configuration; `None` if a loss did.
    by: Vec<Option<TransitionId>>,
    full: Option<Full>,
    overfilled: bool,
}

impl Search<'_> {
    fn insert(
        &mut self,
        at: &Configuration,
        by: Option<TransitionId>,
        from: Option<ConfigId>,
    ) -> Option<ConfigId> {
        match self.store.insert(&encode(at), from) {
            Ok(fresh) => {
                self.by.extend(fresh.map(|_| by));
                fresh
            }
            Err(full) => {
                self.full = Some(full);
                None
            }
        }
    }

    fn get(&self, id: ConfigId) -> Configuration {
        decode(&self.store.get(id), self.compiled.machine.channels().count())
    }

    /// The configurations with one message less; strong ones stay.
    fn losses(&self, at: &Configuration) -> Vec<Configuration> {
        let mut found = Vec::new();
        for (channel, word) in at.channels.iter().enumerate() {
            for (i, message) in word.iter().enumerate() {
                if !self.compiled.machine.is_strong(*message) {
                    let mut less = at.clone();
                    less.channels[channel].remove(i);
                    found.push(less);
                }
            }
        }
        found
    }

    /// What a step leads to, within the bounds.
    fn after(&mut self, at: &Configuration, id: TransitionId) -> Vec<Configuration> {
        let Some(after) = self.compiled.step(at, id) else { return vec![] };
        let machine = self.compiled.machine;
        let over =
            |c: &Configuration, bound: usize| c.channels.iter().any(|word| word.len() > bound);
        if self.semantics == Semantics::Perfect {
            if over(&after, self.bound) {
                self.overfilled = true;
                return vec![];
            }
            return vec![after];
        }
        if after.channels.iter().any(|w| machine.strong_in(w) > machine.strong_bound()) {
            return vec![];
        }
        // A step adds one message to a channel at most, so each that is overfilled
        // has to lose one.
        let mut found = vec![after];
        while found.iter().any(|c| over(c, self.bound)) {
            self.overfilled = true;
            let (fit, big): (Vec<_>, Vec<_>) =
                found.into_iter().partition(|c| !over(c, self.bound));
            found = fit;
            let mut smaller = Vec::new();
            for c in big {
                let channel = c.channels.iter().position(|w| w.len() > self.bound);
                let shorter = |less: &Configuration| {
                    channel.is_some_and(|i| less.channels[i].len() < c.channels[i].len())
                };
                smaller.extend(self.losses(&c).into_iter().filter(shorter));
            }
            found.extend(smaller);
        }
        found
    }

    /// Checks the time and memory limits, once in a while.
    fn check_limits(
        &self,
        began: Instant,
        options: &SearchOptions,
        progress: Progress<'_>,
        stats: &mut Stats,
    ) {
        stats.stored = self.store.len();
        stats.bytes = self.bytes();
        stats.elapsed = began.elapsed();
        progress(stats);
        stats.stopped = match &self.full {
            Some(full) => Some(full.to_string()),
            None => options.budget.check_store(stats.bytes).err().map(|stop| stop.to_string()),
        };
    }

    /// Looks at the limits after a configuration was expanded.
    fn tick(&self, budget: &Budget, stats: &mut Stats) {
        stats.stopped = budget.tick().err().map(|stop| stop.to_string());
    }

    fn bytes(&self) -> usize {
        self.store.bytes() + self.by.capacity() * size_of::<Option<TransitionId>>()
    }

    fn run(&self, end: ConfigId) -> Run {
        let mut steps = Vec::new();
        let mut at = Some(end);
        // Losses after a transition belong to it.
        let mut after = None;
        while let Some(id) = at {
            let configuration = after.take().unwrap_or_else(|| self.get(id));
            match self.by[id.index()] {
                Some(transition) => steps.push(Step { transition, after: configuration }),
                None => after = Some(configuration),
            }
            at = self.store.parent(id);
        }
        steps.reverse();
        Run { semantics: self.semantics, steps }
    }
}

fn encode(at: &Configuration) -> Vec<Cell> {
    let mut cells = vec![u32::from(at.state.0)];
    for word in &at.channels {
        cells.push(u32::try_from(word.len()).expect("words within the bound"));
        cells.extend(word.iter().map(|m| u32::from(m.0)));
    }
    cells
}

fn decode(cells: &[Cell], channels: usize) -> Configuration {
    let (&state, mut rest) = cells.split_first().expect("a configuration has a state");
    let mut words = Vec::with_capacity(channels);
    while let Some((&length, others)) = rest.split_first() {
        let (word, others) = others.split_at(length as usize);
        words.push(word.iter().map(|m| crate::ids::MessageId::new(*m as usize)).collect());
        rest = others;
    }
    Configuration { state: StateId::new(state as usize), channels: words }
}

/// Searches a machine with channels up to `limits.bound`, or [`DEFAULT_BOUND`], at
/// most 60,000.
///
/// ```
/// use weir_channel::semantics::Semantics;
/// use weir_channel::{SearchOptions, explicit, text};
///
/// let machine = text::read("
///     machine strict;
///     messages a, b;
///     channels wire;
///     states start, both, end;
///     initial start;
///     start -> both do wire!a;
///     both -> both do wire!b;
///     both -> end do wire?b;  // only if `a` was lost
/// ").unwrap();
/// let names = |semantics| {
///     let found = explicit::search(&machine, semantics, None, &SearchOptions::default(), &mut |_| {});
///     found.states.into_iter().map(|s| machine.state_name(s)).collect::<Vec<_>>()
/// };
/// assert_eq!(names(Semantics::Perfect), ["start", "both"]);
/// assert_eq!(names(Semantics::Lossy), ["start", "both", "end"]);
/// ```
pub fn search(
    machine: &Machine,
    semantics: Semantics,
    goal: Option<&Goal>,
    options: &SearchOptions,
    progress: Progress<'_>,
) -> Found {
    let began = Instant::now();
    let bound = options.bound.unwrap_or(DEFAULT_BOUND).min(60_000);
    let mut search = Search {
        compiled: Compiled::new(machine),
        semantics,
        bound,
        store: Store::within(&options.budget),
        by: vec![],
        full: None,
        overfilled: false,
    };
    let mut stats = Stats { engine: "explicit", bound: Some(bound), ..Stats::default() };
    let mut reached = vec![false; machine.states().count()];
    let mut layer: Vec<ConfigId> =
        search.insert(&machine.start(), None, None).into_iter().collect();
    let mut end = None;
    let mut tried = 0;
    'layers: while !layer.is_empty() && end.is_none() && stats.stopped.is_none() {
        if semantics == Semantics::Lossy {
            let mut number = 0;
            while number < layer.len() {
                let id = layer[number];
                number += 1;
                for less in search.losses(&search.get(id)) {
                    layer.extend(search.insert(&less, None, Some(id)));
                }
                search.tick(&options.budget, &mut stats);
                let is_full = search.full.is_some();
                if stats.stopped.is_none() && (number.is_multiple_of(INTERVAL) || is_full) {
                    search.check_limits(began, options, progress, &mut stats);
                }
                if stats.stopped.is_some() {
                    break 'layers;
                }
            }
        }
        let mut next = Vec::new();
        for id in layer {
            let at = search.get(id);
            reached[at.state.index()] = true;
            if goal.is_some_and(|goal| goal.is_met(&at)) {
                end = Some(id);
                break 'layers;
            }
            for transition in search.compiled.outgoing[at.state.index()].clone() {
                for after in search.after(&at, transition) {
                    stats.steps += 1;
                    match search.insert(&after, Some(transition), Some(id)) {
                        Some(fresh) => next.push(fresh),
                        None => stats.covered += 1,
                    }
                }
            }
            stats.expanded += 1;
            tried += 1 + search.compiled.outgoing[at.state.index()].len();
            search.tick(&options.budget, &mut stats);
            if stats.stopped.is_none() && (tried >= INTERVAL || search.full.is_some()) {
                tried = 0;
                search.check_limits(began, options, progress, &mut stats);
            }
            if stats.stopped.is_some() {
                break 'layers;
            }
        }
        layer = next;
        stats.depth += usize::from(!layer.is_empty());
    }
    stats.stored = search.store.len();
    stats.bytes = search.bytes();
    stats.within_bound = !search.overfilled;
    stats.elapsed = began.elapsed();
    let answer = goal.map(|goal| match end {
        Some(id) => {
            let run = search.run(id);
            match replay(machine, &run, goal) {
                Ok(()) => Reach::Reached(run),
                Err(error) => Reach::Unknown(format!("the run that was found is not valid: {error}")),
            }
        }
        None => match &stats.stopped {
            Some(reason) => Reach::Unknown(reason.clone()),
            None if search.overfilled => Reach::Unknown(format!(
                "nothing found with channels of up to {bound}, but the machine can fill them further"
            )),
            None => Reach::NotReached(vec![]),
        },
    });
    if end.is_some() {
        stats.stopped = Some(FOUND.to_owned());
    }
    let states = machine.states().filter(|s| reached[s.index()]).collect();
    Found { goal: answer, states, stats }
}
