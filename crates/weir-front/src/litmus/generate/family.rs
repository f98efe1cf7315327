//! All the cycles of some size.
//!
//! These are the *critical* cycles: a thread has two accesses to different locations, or
//! is a single write that the next thread reads. Every other cycle contains a critical
//! one. Coherence tests, which are about one location, come in addition, and on request cycles
//! with a third access in a thread, which fill store buffers more.

use std::collections::HashSet;
use std::ops::RangeInclusive;

use super::cycle::Cycle;
use super::edge::{Access, Barrier, Direction, Edge, Link, Place, Scope};

/// What may stand in a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Filling {
    /// Two accesses and nothing between them.
    Plain,
    /// A full fence.
    MFence,
    /// A write fence, between writes.
    SFence,
    /// A read fence, between reads.
    LFence,
    /// Writes that are atomic: the first, the second, and both.
    Exchange,
    /// A read that sees the thread's own write, after it.
    Forward,
    /// Two accesses to one location: the coherence tests.
    SameLocation,
    /// A third access, to another location, between the two: a write or a read. Such a cycle is
    /// not critical.
    Between,
}

impl Filling {
    /// Those of critical cycles and of coherence tests.
    pub const CRITICAL: [Self; 7] = [
        Self::Plain,
        Self::MFence,
        Self::SFence,
        Self::LFence,
        Self::Exchange,
        Self::Forward,
        Self::SameLocation,
    ];

    /// The threads that it makes from accesses in these directions.
    fn threads(self, first: Direction, last: Direction) -> Vec<Thread> {
        use Direction::{Read, Write};
        let (source, target) = (plain(first), plain(last));
        let order = |barrier| Link::Program(barrier, Place::Different);
        let between = |barrier| vec![Thread::pair(source, order(barrier), target)];
        match (self, first, last) {
            (Self::Plain, ..) => between(Barrier::None),
            (Self::MFence, ..) => between(Barrier::MFence),
            (Self::SFence, Write, Write) => between(Barrier::SFence),
            (Self::LFence, Read, Read) => between(Barrier::LFence),
            (Self::Exchange, ..) => {
                let ways = |access| match access {
                    Access::Write => vec![Access::Write, Access::Exchange],
                    other => vec![other],
                };
                let all = ways(source)
                    .into_iter()
                    .flat_map(|s| ways(target).into_iter().map(move |t| (s, t)));
                all.filter(|pair| *pair != (source, target))
                    .map(|(s, t)| Thread::pair(s, order(Barrier::None), t))
                    .collect()
            }
            (Self::Forward, Write, _) => vec![Thread {
                accesses: vec![source, Access::Read, target],
                links: vec![Link::Communication(Scope::Internal), order(Barrier::None)],
            }],
            (Self::SameLocation, ..) => {
                vec![Thread::pair(source, Link::Program(Barrier::None, Place::Same), target)]
            }
            (Self::Between, ..) => [Access::Write, Access::Read]
                .map(|middle| Thread {
                    accesses: vec![source, middle, target],
                    links: vec![order(Barrier::None); 2],
                })
                .into(),
            (Self::SFence | Self::LFence | Self::Forward, ..) => vec![],
        }
    }
}

fn plain(direction: Direction) -> Access {
    match direction {
        Direction::Write => Access::Write,
        Direction::Read => Access::Read,
    }
}

/// The accesses of a thread and what links them: one less.
#[derive(Clone)]
struct Thread {
    accesses: Vec<Access>,
    links: Vec<Link>,
}

impl Thread {
    fn pair(source: Access, link: Link, target: Access) -> Self {
        Self { accesses: vec![source, target], links: vec![link] }
    }
}

/// The directions of a thread: of its only access, or the first and the last.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outline {
    Single,
    Pair(Direction, Direction),
}

impl Outline {
    const ALL: [Self; 5] = {
        use Direction::{Read, Write};
        [
            Self::Single,
            Self::Pair(Write, Write),
            Self::Pair(Write, Read),
            Self::Pair(Read, Write),
            Self::Pair(Read, Read),
        ]
    };

    /// Whether a thread of this outline can be followed by the next.
    fn fits(self, next: Self) -> bool {
        match (self, next) {
            (Self::Single, Self::Single) => false,
            // Otherwise the write could be left out.
            (Self::Single, Self::Pair(first, _)) => first == Direction::Read,
            (Self::Pair(..), Self::Single) => true,
            (Self::Pair(_, last), Self::Pair(first, _)) => {
                (last, first) != (Direction::Read, Direction::Read)
            }
        }
    }

    fn threads(self, fillings: &[Filling]) -> Vec<Thread> {
        match self {
            Self::Single => vec![Thread { accesses: vec![Access::Write], links: vec![] }],
            Self::Pair(first, last) => {
                fillings.iter().flat_map(|filling| filling.threads(first, last)).collect()
            }
        }
    }
}

/// Every way to take one thing from each place.
fn choices<T: Clone>(places: &[Vec<T>]) -> Vec<Vec<T>> {
    places.iter().fold(vec![vec![]], |begun, place| {
        let longer = |start: Vec<T>| {
            place.iter().map(move |next| start.iter().chain([next]).cloned().collect())
        };
        begun.into_iter().flat_map(longer).collect()
    })
}

/// Outlines of so many threads in which each fits the next; coherence tests
/// have one pair, all others two or more.
fn outlines(threads: usize, pairs: RangeInclusive<usize>) -> Vec<Vec<Outline>> {
    let fits = |outline: &Vec<Outline>| {
        let mut next = outline.iter().cycle().skip(1);
        let count = outline.iter().filter(|o| matches!(o, Outline::Pair(..))).count();
        pairs.contains(&count) && outline.iter().all(|o| next.next().is_some_and(|n| o.fits(*n)))
    };
    choices(&vec![Outline::ALL.to_vec(); threads]).into_iter().filter(fits).collect()
}

/// The cycle of some threads, from each to the next.
fn close(threads: &[Thread]) -> Option<Cycle> {
    let external = Link::Communication(Scope::External);
    let accesses: Vec<Access> = threads.iter().flat_map(|t| t.accesses.clone()).collect();
    let links = threads.iter().flat_map(|t| t.links.iter().copied().chain([external]));
    let targets = accesses.iter().cycle().skip(1);
    let edges: Option<Vec<Edge>> = accesses
        .iter()
        .zip(links)
        .zip(targets)
        .map(|((source, link), target)| Edge::new(*source, link, *target))
        .collect();
    Cycle::new(&edges?).ok()
}

/// All cycles of so many threads with these fillings, each once: by the number
/// of threads, then by shape.
///
/// ```
/// use weir_front::litmus::generate::{Filling, family};
///
/// let names: Vec<String> = family(2..=2, &[Filling::Plain]).iter().map(|c| c.name()).collect();
/// assert_eq!(names, ["2+2W", "R", "S", "MP", "SB", "LB"]);
/// ```
pub fn family(threads: RangeInclusive<usize>, fillings: &[Filling]) -> Vec<Cycle> {
    let (same, different): (Vec<Filling>, Vec<Filling>) =
        fillings.iter().partition(|f| **f == Filling::SameLocation);
    let mut seen = HashSet::new();
    let mut found = vec![];
    for count in threads {
        for (fillings, pairs) in [(&different, 2..=count), (&same, 1..=1)] {
            for outline in outlines(count, pairs) {
                let places: Vec<Vec<Thread>> =
                    outline.iter().map(|o| o.threads(fillings)).collect();
                let cycles = choices(&places).into_iter().filter_map(|threads| close(&threads));
                found.extend(cycles.filter(|cycle| seen.insert(cycle.clone())));
            }
        }
    }
    found
}
