//! How coarse a search is, from round to round.

use super::subwords::{Level, MAX_LEVEL};

/// What a short try may expand.
const SHORT: usize = 1 << 15;

/// Nothing is joined.
pub const EVERYTHING: usize = usize::MAX;

/// How coarse a search is.
#[derive(Clone, Copy, Debug)]
pub struct Round {
    pub level: Level,
    /// From how many configurations with the same state on those that differ in
    /// sets of words only become one.
    pub most: usize,
    /// How many configurations it may expand before the next one gets its turn.
    pub budget: usize,
}

/// The rounds, from coarse to fine: longer words are told apart, and more
/// configurations. The last ones join nothing, so that refinement ends.
pub fn rounds() -> impl Iterator<Item = Round> {
    // Some get a short try first: which one is quick cannot be told.
    let short = [(1, 1), (1, 4), (2, 16)];
    let long = [
        (1, 1),
        (1, 4),
        (1, 16),
        (2, 16),
        (1, 64),
        (2, 64),
        (1, 256),
        (2, 256),
        (3, 256),
        (1, 1024),
        (2, 1024),
        (1, EVERYTHING),
        (2, EVERYTHING),
        (3, EVERYTHING),
        (MAX_LEVEL, EVERYTHING),
    ];
    let round = |budget| move |(k, most)| Round { level: Level(k), most, budget };
    short.into_iter().map(round(SHORT)).chain(long.into_iter().map(round(usize::MAX)))
}
