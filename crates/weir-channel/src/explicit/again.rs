//! Repeated reachability: does a machine visit a control state infinitely often?
//!
//! *Algorithm.* The configurations within the bound and the steps between them are a
//! finite graph; in a lossy machine the loss of one message is a step too. An infinite
//! run in it that visits a state infinitely often exists if and only if a configuration
//! with the state lies on a cycle. A cycle cannot consist of losses only, so it has a
//! transition.
//!
//! Graphs grow quickly with the bound, and most cycles need little room. So smaller bounds are
//! searched first, and a graph is searched for cycles each time that it has doubled: what is found
//! in a part of it is real.
//!
//! For lossy machines repeated reachability is undecidable (Wang et al. 2021, Lemma 1),
//! although reachability is decidable.

use std::collections::{BTreeMap, VecDeque};
use std::time::Instant;

use weir_engine::store::{ConfigId, Store};
use weir_engine::{Progress, SearchOptions, Stats};
use weir_model::graph::components_within;
use weir_model::limits::{Budget, INTERVAL, Stop};

use super::{DEFAULT_BOUND, Search, encode};
use crate::ids::{StateId, TransitionId};
use crate::machine::Machine;
use crate::replay::replay;
use crate::semantics::{Compiled, Contents, Goal, Run, Semantics, Step};

/// The reason with which a search stops that has found its goal.
const FOUND: &str = "the state is visited again and again";

/// An infinite run: a stem and a cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lasso {
    /// The stem to the state, and one iteration of the cycle back to it with the same channel
    /// contents.
    pub run: Run,
    /// How many steps come before the cycle. All others are the cycle.
    pub stem: usize,
}

/// Whether a control state is visited again and again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Again {
    /// It is, by this run.
    Visited(Lasso),
    /// No run visits it infinitely often.
    NotVisited,
    /// It is unknown, for this reason.
    Unknown(String),
}

/// The least configurations of a part of a graph that is searched for cycles.
const FIRST_PART: usize = 1 << 12;

/// Looks for a run that visits a control state infinitely often, with channels that hold more and
/// more, up to `limits.bound`, or [`DEFAULT_BOUND`], at most 60,000.
///
/// ```
/// use weir_channel::explicit::{Again, again};
/// use weir_channel::semantics::Semantics;
/// use weir_channel::{SearchOptions, text};
///
/// let machine = text::read("
///     machine relay;
///     messages a;
///     channels wire;
///     states ready, sent;
///     initial ready;
///     ready -> sent do wire!a;
///     sent -> ready do wire?a;
/// ").unwrap();
/// let ready = machine.state("ready").unwrap();
/// let (answer, _) = again(&machine, Semantics::Lossy, ready, &SearchOptions::default(), &mut |_| {});
/// let Again::Visited(lasso) = answer else { panic!("{answer:?}") };
/// assert_eq!((lasso.stem, lasso.run.steps.len()), (0, 2));
/// ```
pub fn again(
    machine: &Machine,
    semantics: Semantics,
    state: StateId,
    options: &SearchOptions,
    progress: Progress<'_>,
) -> (Again, Stats) {
    let began = Instant::now();
    let most = options.bound.unwrap_or(DEFAULT_BOUND).min(60_000);
    let mut last = None;
    for bound in most.min(1)..=most {
        let (answer, stats) = within(machine, semantics, state, bound, (began, options), progress);
        let is_over = match &answer {
            Again::Visited(_) | Again::NotVisited => true,
            Again::Unknown(_) => stats.stopped.is_some(),
        };
        if is_over {
            return (answer, stats);
        }
        last = Some((answer, stats));
    }
    last.unwrap_or_else(|| unreachable!("there is a bound"))
}

/// The same with one bound.
fn within(
    machine: &Machine,
    semantics: Semantics,
    state: StateId,
    bound: usize,
    (began, options): (Instant, &SearchOptions),
    progress: Progress<'_>,
) -> (Again, Stats) {
    let mut graph = Graph {
        search: Search {
            compiled: Compiled::new(machine),
            semantics,
            bound,
            store: Store::within(&options.budget),
            by: vec![],
            full: None,
            overfilled: false,
        },
        edges: vec![],
        ends: vec![],
    };
    let mut stats = Stats { engine: "explicit", bound: Some(bound), ..Stats::default() };
    let found = match graph.explore(state, began, options, progress, &mut stats) {
        Ok(None) => graph.cycle(state, &options.budget),
        found => found,
    };
    let lasso = match found {
        Ok(found) => found.map(|(stem, cycle)| graph.lasso(stem, cycle)),
        Err(stop) => {
            stats.stopped = Some(stop.to_string());
            None
        }
    };
    let overfilled = graph.search.overfilled;
    stats.within_bound = !overfilled;
    stats.elapsed = began.elapsed();
    let answer = match lasso {
        Some(lasso) => match check(machine, state, &lasso) {
            Ok(()) => {
                stats.stopped = Some(FOUND.to_owned());
                Again::Visited(lasso)
            }
            Err(error) => Again::Unknown(format!("the run that was found is not valid: {error}")),
        },
        None => match &stats.stopped {
            Some(reason) => Again::Unknown(reason.clone()),
            None if overfilled => Again::Unknown(format!(
                "no cycle found with channels of up to {bound}, but the machine can fill them further"
            )),
            None => Again::NotVisited,
        },
    };
    (answer, stats)
}

/// Checks a lasso with code that shares nothing with the search.
fn check(machine: &Machine, state: StateId, lasso: &Lasso) -> Result<(), String> {
    let goal = Goal { state, contents: Contents::Any };
    replay(machine, &lasso.run, &goal).map_err(|e| e.to_string())?;
    let (stem, cycle) = lasso.run.steps.split_at(lasso.stem);
    let start = machine.start();
    let turn = stem.last().map_or(&start, |step| &step.after);
    match cycle.last() {
        Some(last) if last.after == *turn => Ok(()),
        _ => Err("the cycle does not lead back to where it began".to_owned()),
    }
}

/// A step to a configuration: a transition, or the loss of a message.
type Edge = (Option<TransitionId>, ConfigId);

struct Graph<'m> {
    search: Search<'m>,
    /// The edges of all configurations, one after the other.
    edges: Vec<Edge>,
    /// For each configuration that was looked at, where its edges end.
    ends: Vec<usize>,
}

impl Graph<'_> {
    /// Builds the graph, to its end unless a limit is reached or a cycle is found on the way.
    fn explore(
        &mut self,
        state: StateId,
        began: Instant,
        options: &SearchOptions,
        progress: Progress<'_>,
        stats: &mut Stats,
    ) -> Result<Option<(ConfigId, Vec<Edge>)>, Stop> {
        let mut next_part = FIRST_PART;
        let mut found = None;
        let start = self.search.compiled.machine.start();
        self.search.insert(&start, None, None);
        while let Some(id) = self.search.store.take_next() {
            let at = self.search.get(id);
            let mut next = Vec::new();
            if self.search.semantics == Semantics::Lossy {
                next.extend(self.search.losses(&at).into_iter().map(|less| (None, less)));
            }
            for t in self.search.compiled.outgoing[at.state.index()].clone() {
                next.extend(self.search.after(&at, t).into_iter().map(|after| (Some(t), after)));
            }
            for (by, after) in next {
                stats.steps += 1;
                let cells = encode(&after);
                match self.search.store.number(&cells, Some(id)) {
                    Ok((to, is_new)) => {
                        match is_new {
                            true => self.search.by.push(by),
                            false => stats.covered += 1,
                        }
                        self.edges.push((by, to));
                    }
                    Err(full) => self.search.full = Some(full),
                }
            }
            self.ends.push(self.edges.len());
            stats.expanded += 1;
            self.search.tick(&options.budget, stats);
            if stats.stopped.is_none()
                && (stats.expanded.is_multiple_of(INTERVAL) || self.search.full.is_some())
            {
                self.search.check_limits(began, options, progress, stats);
                stats.bytes += self.bytes();
                let stop = options.budget.check_store(stats.bytes).err();
                stats.stopped = stats.stopped.take().or(stop.map(|stop| stop.to_string()));
            }
            if stats.stopped.is_some() {
                break;
            }
            if stats.expanded >= next_part {
                next_part *= 2;
                found = self.cycle(state, &options.budget)?;
                if found.is_some() {
                    break;
                }
            }
        }
        stats.stored = self.search.store.len();
        stats.bytes = self.search.store.bytes() + self.bytes();
        Ok(found)
    }

    fn bytes(&self) -> usize {
        self.edges.capacity() * size_of::<Edge>() + self.ends.capacity() * size_of::<usize>()
    }

    /// The edges of a configuration; none if it was not looked at.
    fn edges(&self, index: usize) -> &[Edge] {
        let Some(&end) = self.ends.get(index) else { return &[] };
        &self.edges[index.checked_sub(1).map_or(0, |before| self.ends[before])..end]
    }

    /// The first configuration with a state that lies on a cycle, and a shortest
    /// cycle through it.
    fn cycle(
        &self,
        state: StateId,
        budget: &Budget,
    ) -> Result<Option<(ConfigId, Vec<Edge>)>, Stop> {
        let count = self.search.store.len();
        let successors =
            |n: usize| self.edges(n).iter().map(|(_, to)| to.index()).collect::<Vec<_>>();
        let component = components_within(count, successors, budget)?;
        for id in (0..count).filter_map(|n| self.search.store.id(n)) {
            budget.tick()?;
            if self.search.store.get(id)[0] != u32::from(state.0) {
                continue;
            }
            // The shortest way back, within the component.
            let mut from: BTreeMap<ConfigId, (ConfigId, Edge)> = BTreeMap::new();
            let mut queue = VecDeque::from([id]);
            while let Some(at) = queue.pop_front().filter(|_| !from.contains_key(&id)) {
                budget.tick()?;
                for edge in self.edges(at.index()) {
                    let is_inside = component[edge.1.index()] == component[id.index()];
                    if is_inside && !from.contains_key(&edge.1) {
                        from.insert(edge.1, (at, *edge));
                        queue.push_back(edge.1);
                    }
                }
            }
            let Some(&(mut at, last)) = from.get(&id) else { continue };
            let mut cycle = vec![last];
            while at != id {
                let (before, edge) = from[&at];
                cycle.push(edge);
                at = before;
            }
            cycle.reverse();
            return Ok(Some((id, cycle)));
        }
        Ok(None)
    }

    /// The lasso of a cycle.
    fn lasso(&self, start: ConfigId, mut cycle: Vec<Edge>) -> Lasso {
        let mut stem = Vec::new();
        let mut at = start;
        while let Some(parent) = self.search.store.parent(at) {
            stem.push((self.search.by[at.index()], at));
            at = parent;
        }
        stem.reverse();
        // A loss belongs to the transition before it. If the cycle begins with losses, it
        // ends with them instead, and so does what leads to it.
        let losses = cycle.iter().take_while(|(by, _)| by.is_none()).count();
        stem.extend_from_slice(&cycle[..losses]);
        cycle.rotate_left(losses);
        let (stem, cycle) = (self.steps(&stem), self.steps(&cycle));
        let length = stem.len();
        let steps = stem.into_iter().chain(cycle).collect();
        Lasso { run: Run { semantics: self.search.semantics, steps }, stem: length }
    }

    fn steps(&self, edges: &[Edge]) -> Vec<Step> {
        let mut steps: Vec<Step> = Vec::new();
        for (by, to) in edges {
            let after = self.search.get(*to);
            match (by, steps.last_mut()) {
                (Some(transition), _) => steps.push(Step { transition: *transition, after }),
                (None, Some(step)) => step.after = after,
                // Nothing can be lost at the very beginning.
                (None, None) => {}
            }
        }
        steps
    }
}
