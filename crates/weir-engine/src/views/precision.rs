//! The precision of a search: what it distinguishes, and where.
//!
//! A search is coarse in two ways. Words are represented by their subwords of up to `k` letters
//! (`subwords`), and configurations of one bucket that differ in sets of words only are *joined*:
//! each view becomes the union of two. Both can make a path that is no run.
//!
//! Such a path is followed once more without joins. If it gets stuck at a read of a process, the
//! view of that process had a letter too many, which came from another configuration. From then
//! on views of this process are joined only if they agree about the variable that was read, at
//! the places of the code where its views were joined on the path. If the path does not get
//! stuck, no search at this level excludes it, and the level is raised.

use rustc_hash::FxHashMap;
use weir_model::ids::{Cell, ProcessId, StateId, VarId};
use weir_model::system::System;

use super::letters::{Letters, MaskId};
use super::subwords::{Level, MAX_LEVEL};

/// A process at a place of its code.
pub(super) type Spot = (ProcessId, Option<usize>);

/// Where a process stands in a state.
pub(super) fn spot(system: &System, state: &[Cell], p: ProcessId) -> Spot {
    (p, system.state(p, StateId(state[p.index()])).place())
}

/// Which views of a process at a place are joined.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Joins {
    /// Those that agree about these variables, in the order of their numbers.
    Agreeing(Vec<VarId>),
    /// None.
    Nothing,
}

/// The same, for a search: variables are a mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Joined {
    /// All views of one shape.
    All,
    /// Those of one shape that agree about the variables of a mask.
    Seeing(MaskId),
    /// None.
    None,
}

/// Views of a process at a place that were joined, and the variable by which they are to be told
/// apart.
pub(super) type Blamed = (Spot, Option<VarId>);

/// The precision of a search.
#[derive(Clone, Debug)]
pub(super) struct Precision {
    pub level: Level,
    /// For the places that are not in `at`.
    elsewhere: Joins,
    at: FxHashMap<Spot, Joins>,
}

impl Precision {
    /// The least.
    pub fn coarse() -> Self {
        let elsewhere = Joins::Agreeing(vec![]);
        Self { level: Level(1), elsewhere, at: FxHashMap::default() }
    }

    /// Nothing is joined, and single letters are told apart.
    pub fn exact() -> Self {
        Self { elsewhere: Joins::Nothing, ..Self::coarse() }
    }

    /// Which views are joined at a place.
    fn at(&self, spot: Spot) -> &Joins {
        self.at.get(&spot).unwrap_or(&self.elsewhere)
    }

    /// Which views are joined at some places, and elsewhere.
    pub fn joined(&self, letters: &mut Letters<'_>) -> (FxHashMap<Spot, Joined>, Joined) {
        let mut joined = |joins: &Joins| match joins {
            Joins::Agreeing(vars) if vars.is_empty() => Joined::All,
            Joins::Agreeing(vars) => Joined::Seeing(letters.mask_for(vars)),
            Joins::Nothing => Joined::None,
        };
        let mut spots: Vec<Spot> = self.at.keys().copied().collect();
        // Masks get the same numbers every time.
        spots.sort_unstable();
        let at = spots.into_iter().map(|spot| (spot, joined(&self.at[&spot]))).collect();
        (at, joined(&self.elsewhere))
    }

    /// Refines the places that some spurious paths blame. A place where the variable is not told
    /// apart yet tells it apart from now on. If a path blames no such place, nothing is joined any
    /// more at the places that it blames.
    pub fn raise(&mut self, paths: &[Vec<Blamed>]) {
        let before = self.clone();
        for blamed in paths {
            let is_coarse = |(spot, var): &&Blamed| match (before.at(*spot), var) {
                (Joins::Agreeing(vars), Some(var)) => !vars.contains(var),
                _ => false,
            };
            let coarse: Vec<Blamed> = blamed.iter().filter(is_coarse).copied().collect();
            for &(spot, var) in if coarse.is_empty() { blamed } else { &coarse } {
                let joins = self.at.entry(spot).or_insert_with(|| self.elsewhere.clone());
                match (&mut *joins, var) {
                    (Joins::Agreeing(vars), Some(var)) if !coarse.is_empty() => {
                        vars.push(var);
                        vars.sort_unstable();
                        vars.dedup();
                    }
                    _ => *joins = Joins::Nothing,
                }
            }
        }
    }

    /// Tells longer words apart, if that is possible.
    pub fn raise_level(&mut self) -> bool {
        self.level.0 += 1;
        self.level.0 <= MAX_LEVEL
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const P: ProcessId = ProcessId(0);
    const X: Option<VarId> = Some(VarId(0));
    const Y: Option<VarId> = Some(VarId(1));

    fn agreeing(vars: &[Option<VarId>]) -> Joins {
        Joins::Agreeing(vars.iter().flatten().copied().collect())
    }

    /// Each path makes the search finer where it was coarse, and only there.
    #[test]
    fn a_path_makes_the_search_finer() {
        let [here, there] = [(P, Some(1)), (P, Some(2))];
        let mut precision = Precision::coarse();
        assert_eq!(*precision.at(here), agreeing(&[]));
        precision.raise(&[vec![(here, Y)]]);
        precision.raise(&[vec![(here, X)]]);
        assert_eq!(*precision.at(here), agreeing(&[X, Y]));
        assert_eq!(*precision.at(there), agreeing(&[]));
        // The variable is told apart at one of the two places already.
        precision.raise(&[vec![(here, X), (there, X)]]);
        assert_eq!(*precision.at(here), agreeing(&[X, Y]));
        assert_eq!(*precision.at(there), agreeing(&[X]));
        // Paths of one search that blame the same place add up.
        precision.raise(&[vec![(there, Y)], vec![(there, Y)]]);
        assert_eq!(*precision.at(there), agreeing(&[X, Y]));
        // It is told apart at both, and the path was there all the same.
        precision.raise(&[vec![(here, X), (there, X)]]);
        assert_eq!(*precision.at(here), Joins::Nothing);
        assert_eq!(*precision.at(there), Joins::Nothing);
        // Nothing is known about the variable.
        let elsewhere = (P, None);
        precision.raise(&[vec![(elsewhere, None)]]);
        assert_eq!(*precision.at(elsewhere), Joins::Nothing);
        let levels = (0..MAX_LEVEL).map(|_| precision.raise_level()).collect::<Vec<_>>();
        assert_eq!(levels.iter().filter(|raised| **raised).count(), MAX_LEVEL - 1);
    }
}
