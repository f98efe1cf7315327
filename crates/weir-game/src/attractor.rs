//! Attractors: the positions from which a player can force play into a set (Spengler
//! 2024, lemma 1).

use std::collections::VecDeque;

use weir_model::game::Player;

use crate::arena::{Arena, Position};

/// A set of positions.
pub type Set = Vec<bool>;

/// An arena with its edges reversed.
pub struct Graph<'a, 's> {
    /// The arena.
    pub arena: &'a Arena<'s>,
    first: Vec<u32>,
    from: Vec<Position>,
}

/// Where a player can force play into a set, and how.
pub struct Attractor {
    /// The set, and the positions from which the player can force play into it.
    pub set: Set,
    /// For each position of the player outside the set, where to go.
    pub choice: Vec<Option<Position>>,
}

impl<'a, 's> Graph<'a, 's> {
    /// The graph of an arena.
    pub fn new(arena: &'a Arena<'s>) -> Self {
        let mut first = vec![0u32; arena.len() + 1];
        let all = || {
            (0..arena.len() as Position).flat_map(|p| arena.next(p).iter().map(move |t| (p, *t)))
        };
        all().for_each(|(_, to)| first[to as usize + 1] += 1);
        for p in 1..first.len() {
            first[p] += first[p - 1];
        }
        let mut next = first.clone();
        let mut from = vec![0; first[first.len() - 1] as usize];
        for (p, to) in all() {
            from[next[to as usize] as usize] = p;
            next[to as usize] += 1;
        }
        Self { arena, first, from }
    }

    /// Where a position may come from.
    pub fn before(&self, position: Position) -> &[Position] {
        let p = position as usize;
        &self.from[self.first[p] as usize..self.first[p + 1] as usize]
    }

    /// The positions of a set.
    pub fn positions(set: &Set) -> impl Iterator<Item = Position> {
        set.iter().enumerate().filter(|(_, inside)| **inside).map(|(p, _)| p as Position)
    }

    /// From where inside `region` a player can force play into `goal`.
    pub fn attract(
        &self,
        region: &Set,
        player: Player,
        goal: impl Iterator<Item = Position>,
    ) -> Attractor {
        let mut set = vec![false; region.len()];
        let mut choice = vec![None; region.len()];
        let mut open: Vec<u32> = vec![u32::MAX; region.len()];
        let mut work: VecDeque<Position> = goal.collect();
        work.iter().for_each(|p| set[*p as usize] = true);
        while let Some(position) = work.pop_front() {
            for &from in self.before(position) {
                let f = from as usize;
                if !region[f] || set[f] {
                    continue;
                }
                if self.arena.turn(from) == player {
                    choice[f] = Some(position);
                } else {
                    if open[f] == u32::MAX {
                        let ways = self.arena.next(from).iter();
                        open[f] = ways.filter(|t| region[**t as usize]).count() as u32;
                    }
                    open[f] -= 1;
                    if open[f] > 0 {
                        continue;
                    }
                }
                set[f] = true;
                work.push_back(from);
            }
        }
        Attractor { set, choice }
    }

    /// A reachability game for the process player: the positions from which play can be
    /// forced to a winning end. The update player wins from all other positions, and `other` says
    /// how to get to the end of the turn there.
    ///
    /// A turn of the update player has to end. If it cannot end outside the set, the update
    /// player has to enter the set, though possibly after any number of steps.
    pub fn reach(&self) -> Reached {
        let arena = self.arena;
        let all = || 0..arena.len() as Position;
        let everything = vec![true; arena.len()];
        let mut choice = vec![None; arena.len()];
        let mut goal: Vec<Position> =
            all().filter(|p| arena.ends[*p as usize] == Some(Player::Process)).collect();
        loop {
            let mine = self.attract(&everything, Player::Process, goal.iter().copied());
            // What was chosen earlier leads to an end; what is chosen now leads there.
            for p in all().filter(|p| mine.choice[*p as usize].is_some()) {
                choice[p as usize] = mine.choice[p as usize];
            }
            let set = mine.set;
            let mut other = vec![None; arena.len()];
            let mut ends_turn: Set =
                all().map(|p| !set[p as usize] && arena.turn(p) == Player::Process).collect();
            let mut work: VecDeque<Position> = Self::positions(&ends_turn).collect();
            while let Some(position) = work.pop_front() {
                for &from in self.before(position) {
                    let f = from as usize;
                    if arena.turn(from) == Player::Update && !set[f] && !ends_turn[f] {
                        ends_turn[f] = true;
                        other[f] = Some(position);
                        work.push_back(from);
                    }
                }
            }
            let stuck = |p: &Position| !set[*p as usize] && !ends_turn[*p as usize];
            if !all().any(|p| stuck(&p)) {
                return Reached { mine: Attractor { set, choice }, other };
            }
            goal = all().filter(|p| set[*p as usize] || stuck(p)).collect();
        }
    }
}

/// Who wins a reachability game, and how.
pub struct Reached {
    /// Where the process player wins.
    pub mine: Attractor,
    /// How the update player ends a turn in the winning region.
    pub other: Vec<Option<Position>>,
}
