//! Well-structured systems: backward search over a well-quasi-order.
//!
//! *Problem.* Can an infinite system reach one of some target states, if larger states
//! can do all that smaller ones can (Atig et al. 2012, section 6, after Abdulla et al.
//! 1996)?
//!
//! *Idea.* An upward-closed set is represented by its finitely many minimal states. Its
//! set of predecessors is upward-closed as well. Begin with the targets, add minimal
//! predecessors until there are no new ones, and test whether an initial state is in the
//! set. The search terminates because every increasing sequence of upward-closed sets of
//! a well-quasi-order becomes constant.
//!
//! *Evidence.* If an initial state is in the set, the steps from it to a target are a
//! path. If not, the minimal states are a certificate: their upward closure contains the
//! targets and all its predecessors, and no initial state.

use std::hash::Hash;
use std::time::Instant;

use rustc_hash::FxHashMap;
use weir_model::limits::{Budget, INTERVAL, Stop};

use crate::stats::{Progress, SearchOptions, Stats};

/// A system with an order on its states.
pub trait WellStructured {
    /// A state. It represents all states at or above it.
    type State: Clone;
    /// A step from one state to another.
    type Step: Clone;
    /// What two states must have in common to be compared at all.
    type Key: Hash + Eq;

    /// What a state has in common with all that it can be compared with.
    fn key(&self, state: &Self::State) -> Self::Key;

    /// Whether `small` is at or below `big`, so that the upward closure of `small` contains that of
    /// `big`.
    fn is_below(&self, small: &Self::State, big: &Self::State) -> bool;

    /// Minimal predecessors of the upward closure of `state`. Those at or above `state` itself may be
    /// left out.
    ///
    /// # Errors
    /// If a limit is reached.
    fn predecessors(
        &self,
        state: &Self::State,
        budget: &Budget,
        visit: &mut dyn FnMut(Self::Step, Self::State),
    ) -> Result<(), Stop>;

    /// Whether an initial state is at or above `state`.
    fn is_initial(&self, state: &Self::State) -> bool;

    /// About what a state takes up, in bytes.
    fn bytes(&self, state: &Self::State) -> usize;
}

/// What a backward search found.
#[derive(Clone, Debug)]
pub enum Outcome<S, T> {
    /// The steps from an initial state to a target.
    Reached(Vec<T>),
    /// No target is reachable: the minimal states of the set of all states that reach one.
    Unreachable(Vec<S>),
    /// A limit was reached, or the search was cancelled.
    Stopped(String),
}

struct Search<'w, W: WellStructured> {
    system: &'w W,
    states: Vec<W::State>,
    /// The step towards a target, and the number of the state that it leads to.
    next: Vec<Option<(W::Step, u32)>>,
    /// Whether a later state is below this one.
    covered: Vec<bool>,
    buckets: FxHashMap<W::Key, Vec<u32>>,
    stats: Stats,
    budget: &'w Budget,
}

impl<W: WellStructured> Search<'_, W> {
    /// Stores a state unless one that is stored is below it.
    fn insert(&mut self, state: W::State, next: Option<(W::Step, u32)>) -> Result<(), Stop> {
        let (len, capacity) = (self.buckets.len(), self.buckets.capacity());
        self.budget.check_growth(len, capacity, size_of::<(W::Key, Vec<u32>)>())?;
        let bucket = self.buckets.entry(self.system.key(&state)).or_default();
        let (system, states) = (self.system, &self.states);
        for &s in bucket.iter() {
            self.budget.tick()?;
            if system.is_below(&states[s as usize], &state) {
                self.stats.covered += 1;
                return Ok(());
            }
        }
        let covered = &mut self.covered;
        let before = bucket.len();
        bucket.retain(|&s| {
            let above = system.is_below(&state, &states[s as usize]);
            covered[s as usize] |= above;
            !above
        });
        self.stats.stored = self.stats.stored + 1 - (before - bucket.len());
        self.stats.bytes += system.bytes(&state) + size_of::<Option<(W::Step, u32)>>() + 8;
        bucket.push(self.states.len() as u32);
        self.states.push(state);
        self.next.push(next);
        self.covered.push(false);
        Ok(())
    }

    /// Searches back from the targets. Returns an initial state if there is one.
    fn run(
        &mut self,
        targets: impl IntoIterator<Item = W::State>,
        began: Instant,
        progress: Progress<'_>,
    ) -> Result<Option<u32>, Stop> {
        let (system, budget) = (self.system, self.budget);
        for target in targets {
            self.insert(target, None)?;
        }
        let mut number = 0;
        let mut looked = 0;
        while number < self.states.len() {
            let id = number as u32;
            number += 1;
            if self.covered[id as usize] {
                continue;
            }
            let state = self.states[id as usize].clone();
            if system.is_initial(&state) {
                return Ok(Some(id));
            }
            let mut found = Vec::new();
            system.predecessors(&state, budget, &mut |step, before| found.push((step, before)))?;
            self.stats.steps += found.len();
            for (step, before) in found {
                self.insert(before, Some((step, id)))?;
            }
            self.stats.expanded += 1;
            budget.tick()?;
            if self.stats.steps + self.stats.expanded >= looked + INTERVAL {
                looked = self.stats.steps + self.stats.expanded;
                self.stats.elapsed = began.elapsed();
                progress(&self.stats);
                budget.check_store(self.stats.bytes)?;
            }
        }
        Ok(None)
    }

    fn path(&self, from: u32) -> Vec<W::Step> {
        let mut path = Vec::new();
        let mut at = from;
        while let Some((step, next)) = &self.next[at as usize] {
            path.push(step.clone());
            at = *next;
        }
        path
    }
}

/// Whether a state at or above one of `targets` can be reached, breadth first.
pub fn backward<W: WellStructured>(
    system: &W,
    targets: impl IntoIterator<Item = W::State>,
    options: &SearchOptions,
    progress: Progress<'_>,
) -> (Outcome<W::State, W::Step>, Stats) {
    let began = Instant::now();
    let mut search = Search {
        system,
        states: vec![],
        next: vec![],
        covered: vec![],
        buckets: FxHashMap::default(),
        stats: Stats { engine: "backward", within_bound: true, ..Stats::default() },
        budget: &options.budget,
    };
    let found = search.run(targets, began, progress);
    search.stats.elapsed = began.elapsed();
    let outcome = match found {
        Err(stop) => {
            let reason = stop.to_string();
            search.stats.stopped = Some(reason.clone());
            Outcome::Stopped(reason)
        }
        Ok(Some(id)) => Outcome::Reached(search.path(id)),
        Ok(None) => {
            let all = search.states.into_iter().zip(search.covered);
            Outcome::Unreachable(all.filter(|(_, c)| !c).map(|(state, _)| state).collect())
        }
    };
    (outcome, search.stats)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A vector addition system: counters that steps add to and take from.
    struct Counters {
        initial: Vec<i64>,
        steps: Vec<Vec<i64>>,
    }

    impl WellStructured for Counters {
        type State = Vec<i64>;
        type Step = usize;
        type Key = ();

        fn key(&self, _: &Vec<i64>) {}

        fn is_below(&self, small: &Vec<i64>, big: &Vec<i64>) -> bool {
            small.iter().zip(big).all(|(a, b)| a <= b)
        }

        fn predecessors(
            &self,
            state: &Vec<i64>,
            _: &Budget,
            visit: &mut dyn FnMut(usize, Vec<i64>),
        ) -> Result<(), Stop> {
            for (i, step) in self.steps.iter().enumerate() {
                let before = |(s, d): (&i64, &i64)| (s - d).max(-d).max(0);
                visit(i, state.iter().zip(step).map(before).collect());
            }
            Ok(())
        }

        fn is_initial(&self, state: &Vec<i64>) -> bool {
            self.is_below(state, &self.initial)
        }

        fn bytes(&self, state: &Vec<i64>) -> usize {
            size_of_val(state.as_slice())
        }
    }

    fn ask(steps: &[[i64; 3]], target: [i64; 3]) -> Outcome<Vec<i64>, usize> {
        let steps = steps.iter().map(|s| s.to_vec()).collect();
        let system = Counters { initial: vec![1, 0, 0], steps };
        backward(&system, [target.to_vec()], &SearchOptions::default(), &mut |_| {}).0
    }

    #[test]
    fn a_path_leads_from_the_beginning_to_the_end() {
        // One token makes tokens in the second place, two of which make one in the third.
        let Outcome::Reached(path) = ask(&[[0, 1, 0], [0, -2, 1]], [0, 0, 2]) else { panic!() };
        let mut state = [1, 0, 0];
        for step in path {
            let change = [[0, 1, 0], [0, -2, 1]][step];
            state.iter_mut().zip(change).for_each(|(s, c)| *s += c);
            assert!(state.iter().all(|&s| s >= 0), "{state:?}");
        }
        assert!(state[2] >= 2);
    }

    #[test]
    fn what_cannot_be_reached_is_excluded() {
        // The token is either in the first place or gone: never two in the second.
        let Outcome::Unreachable(minimal) = ask(&[[-1, 1, 0], [1, -1, 0]], [0, 2, 0]) else {
            panic!()
        };
        assert!(minimal.iter().all(|m| m[0] + m[1] >= 2), "{minimal:?}");
    }

    #[test]
    fn limits_stop_it() {
        let options =
            SearchOptions { budget: Budget::new().with_store(1), ..SearchOptions::default() };
        let system = Counters {
            initial: vec![0; 6],
            steps: (0..6).map(|i| (0..6).map(|j| if i == j { -1 } else { 3 }).collect()).collect(),
        };
        let (outcome, stats) = backward(&system, [vec![40; 6]], &options, &mut |_| {});
        assert!(matches!(outcome, Outcome::Stopped(_)), "{stats:?}");
    }
}
