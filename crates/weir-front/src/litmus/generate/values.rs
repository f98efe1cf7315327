//! Which location each access of a cycle has, and which value.

use super::cycle::Step;
use super::edge::{Direction, Link};

/// Locations and values, by access.
pub(super) struct Values {
    /// The location of each access, from 0.
    pub locations: Vec<usize>,
    /// What each access writes or has to read.
    pub values: Vec<usize>,
    /// How many writes each location has.
    pub writes: Vec<usize>,
}

/// Gives the writes of each location the values 1, 2, … in the order of the
/// cycle. A read has to see the last write before it there, or 0.
pub(super) fn of(steps: &[Step]) -> Values {
    let count = steps.iter().filter(|step| step.leaves_location()).count().max(1);
    let mut found = Values {
        locations: vec![0; steps.len()],
        values: vec![0; steps.len()],
        writes: vec![0; count],
    };
    let mut location = 0;
    for (i, step) in steps.iter().enumerate() {
        found.locations[i] = location;
        if step.leaves_location() {
            location = (location + 1) % count;
        }
    }
    let first = beginning(steps);
    for i in (first..steps.len()).chain(0..first) {
        let writes = &mut found.writes[found.locations[i]];
        if steps[i].access.direction() == Direction::Write {
            *writes += 1;
        }
        found.values[i] = *writes;
    }
    found
}

/// An access that is the first to its location. If there is one location only,
/// the cycle contradicts itself where it follows the order of the program, so
/// that is where values begin anew.
fn beginning(steps: &[Step]) -> usize {
    let is_program = |step: &Step| matches!(step.link, Link::Program(..));
    let before = steps
        .iter()
        .position(|step| step.leaves_location())
        .or_else(|| steps.iter().position(is_program));
    before.map_or(0, |before| (before + 1) % steps.len())
}
