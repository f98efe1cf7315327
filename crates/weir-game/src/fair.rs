//! Process fairness (Spengler 2024, section 8): for each process, if it is enabled
//! infinitely often then the process player plays in it infinitely often.
//!
//! This is a Streett condition with one pair for each process, here on a region in which
//! the process player can stay and every position has a move. [`Pairs::solve`] is the
//! recursion of Horn 2005. For a pair, let `E` be the positions at which its process is
//! enabled and `P` those at which it was played.
//!
//! * In the attractor of `P`, the process player can force `P` again and again. Outside
//!   it, the process player cannot reach `P` any more, and must visit `E` only finitely
//!   often.
//! * If for some pair there are positions outside the attractor from which that is not
//!   possible, the update player wins from there, and from the attractor of these
//!   positions. They are removed, and the rest is solved again.
//! * If it is possible for every pair, the process player wins by serving the pairs in
//!   turn.
//!
//! The depth of the recursion is the number of processes. Since an enabled process can be
//! played at once, little is left after a level or two.

use std::collections::{HashMap, HashSet};

use weir_model::game::Player;
use weir_model::ids::ProcessId;

use crate::arena::Position;
use crate::attractor::{Graph, Set};
use crate::counts::{Counts, Stopped};

/// The pairs of a game.
pub struct Pairs<'g, 'a, 's> {
    /// The positions.
    pub graph: &'g Graph<'a, 's>,
    /// For each winning position of the update player, where to go.
    pub choice: Vec<Option<Position>>,
}

/// A region of the process player, and how to win in it. The strategy remembers for each
/// level which process is next.
pub struct Plan {
    region: HashSet<Position>,
    branches: Vec<Branch>,
}

struct Branch {
    process: ProcessId,
    /// How to force play into the process.
    attract: HashMap<Position, Position>,
    /// Where that is not possible: how to get to a core in which it is never enabled, and what to
    /// do there.
    layers: Vec<(HashMap<Position, Position>, Plan)>,
}

/// Which branch is next, from the outermost plan inward.
pub type Memory = Vec<usize>;

impl Pairs<'_, '_, '_> {
    fn minus(a: &Set, b: &Set) -> Set {
        a.iter().zip(b).map(|(a, b)| *a && !*b).collect()
    }

    fn played<'p>(&'p self, region: &'p Set, p: ProcessId) -> impl Iterator<Item = Position> + 'p {
        Graph::positions(region).filter(move |v| self.graph.arena.played(*v) == Some(p))
    }

    fn enabled<'p>(&'p self, region: &'p Set, p: ProcessId) -> impl Iterator<Item = Position> + 'p {
        Graph::positions(region).filter(move |v| self.graph.arena.is_enabled(*v, p))
    }

    /// The positions of a region from which the process player wins.
    ///
    /// # Errors
    /// If a limit is reached.
    pub fn solve(
        &mut self,
        mut region: Set,
        processes: &[ProcessId],
        counts: &mut Counts<'_>,
    ) -> Result<Set, Stopped> {
        'again: loop {
            for &process in processes {
                counts.now()?;
                let forced =
                    self.graph.attract(&region, Player::Process, self.played(&region, process));
                let mut left = Self::minus(&region, &forced.set);
                while left.contains(&true) {
                    let enabled = self.enabled(&left, process);
                    let again = self.graph.attract(&left, Player::Update, enabled);
                    let core = Self::minus(&left, &again.set);
                    let won = self.solve(core, &without(processes, process), counts)?;
                    if won.contains(&true) {
                        let won = Graph::positions(&won);
                        let layer = self.graph.attract(&left, Player::Process, won);
                        left = Self::minus(&left, &layer.set);
                        continue;
                    }
                    self.keep(&again.choice);
                    let goal = Graph::positions(&left);
                    let lost = self.graph.attract(&region, Player::Update, goal);
                    self.keep(&lost.choice);
                    region = Self::minus(&region, &lost.set);
                    continue 'again;
                }
            }
            return Ok(region);
        }
    }

    fn keep(&mut self, choice: &[Option<Position>]) {
        for (kept, new) in self.choice.iter_mut().zip(choice) {
            if new.is_some() {
                *kept = *new;
            }
        }
    }

    /// How the process player wins from everywhere in a region, if that is so.
    ///
    /// # Errors
    /// If a limit is reached.
    pub fn plan(
        &mut self,
        region: &Set,
        processes: &[ProcessId],
        counts: &mut Counts<'_>,
    ) -> Result<Plan, Stopped> {
        let mut branches = Vec::new();
        for &process in processes {
            counts.now()?;
            let forced = self.graph.attract(region, Player::Process, self.played(region, process));
            let mut left = Self::minus(region, &forced.set);
            let mut layers = Vec::new();
            while left.contains(&true) {
                let enabled = self.enabled(&left, process);
                let again = self.graph.attract(&left, Player::Update, enabled);
                let core = Self::minus(&left, &again.set);
                let rest = without(processes, process);
                let won = self.solve(core, &rest, counts)?;
                let plan = self.plan(&won, &rest, counts)?;
                let layer = self.graph.attract(&left, Player::Process, Graph::positions(&won));
                let before = left.clone();
                left = Self::minus(&left, &layer.set);
                layers.push((sparse(&layer.choice), plan));
                assert!(left != before, "the process player wins everywhere in the region");
            }
            branches.push(Branch { process, attract: sparse(&forced.choice), layers });
        }
        Ok(Plan { region: Graph::positions(region).collect(), branches })
    }
}

impl Plan {
    /// Where to go from a position of the process player, and what to remember then.
    pub fn advise(
        &self,
        graph: &Graph<'_, '_>,
        position: Position,
        memory: &Memory,
    ) -> Option<(Position, Memory)> {
        let mut plan = self;
        let mut after: Memory = Vec::new();
        let mut path: Vec<&Plan> = Vec::new();
        let to = loop {
            if plan.branches.is_empty() {
                let ways = graph.arena.next(position).iter();
                break ways.copied().find(|to| plan.region.contains(to))?;
            }
            let turn = memory.get(after.len()).copied().unwrap_or(0);
            after.push(turn);
            path.push(plan);
            let branch = &plan.branches[turn];
            if let Some(to) = branch.attract.get(&position) {
                break *to;
            }
            let has = |(ways, core): &&(HashMap<_, _>, Plan)| {
                ways.contains_key(&position) || core.region.contains(&position)
            };
            let (ways, core) = branch.layers.iter().find(has)?;
            match ways.get(&position) {
                Some(to) => break *to,
                None => plan = core,
            }
        };
        let played = graph.arena.played(to)?;
        // The process whose turn it was has been played in: the next one is due.
        for level in 0..after.len() {
            let branches = &path[level].branches;
            if branches[after[level]].process == played {
                after[level] = (after[level] + 1) % branches.len();
                after.truncate(level + 1);
                break;
            }
        }
        Some((to, after))
    }
}

fn without(processes: &[ProcessId], process: ProcessId) -> Vec<ProcessId> {
    processes.iter().copied().filter(|p| *p != process).collect()
}

fn sparse(choice: &[Option<Position>]) -> HashMap<Position, Position> {
    let chosen = choice.iter().enumerate();
    chosen.filter_map(|(p, to)| Some((p as Position, (*to)?))).collect()
}
