//! Several threads expand the configurations that wait, a batch at a time.
//!
//! Each thread takes a part of the batch, and looks up in the store what it reaches
//! ([`find`]). Then each takes a part of the hashes, and finds out what was reached twice
//! ([`firsts`]). What is new is then added by one thread, in the order of the configurations
//! and of their steps, and entered into the hash tables by all. So numbers, counts and runs are
//! those of one thread, also where a limit ends the search in the middle of a batch.
//!
//! The numbers of control states and values depend on the order of their creation. A thread
//! that meets a new one leaves the configuration to the one that adds ([`without_growth`]).

use std::ops::Range;
use std::thread;

use hashbrown::HashTable;
use weir_model::grow::without_growth;
use weir_model::limits::Budget;

use super::search::{Expansion, Room, Search, Visitor};
use crate::store::numbers::pack;
use crate::store::{Hash, TABLES};

/// A smaller batch is not worth a thread. Small programs are enough for the tests.
const LEAST: usize = if cfg!(test) { 3 } else { 1 << 9 };

/// A larger batch would not be faster.
const MOST: usize = 1 << 14;

/// A thread collects so many bytes at most.
const ENOUGH: usize = if cfg!(test) { 400 } else { 16 << 20 };

/// The bytes that a configuration takes up beside its own: its hash and end, and its entry in the
/// table of [`firsts`], both in vectors that may be half empty.
const BESIDE: usize = 2 * (size_of::<(Hash, usize)>() + size_of::<(Hash, (usize, usize, usize))>());

/// What a thread collects at most if there is a limit on memory: what all collect is not in the
/// store, and has to be a small part of the limit.
fn enough(budget: &Budget) -> usize {
    budget.memory().map_or(ENOUGH, |limit| (limit / 8 / budget.threads()).min(ENOUGH))
}

/// After so many steps a thread looks at the limits.
const OFTEN: usize = 1 << 10;

/// The size of the next batch if so many configurations wait; `None` for one configuration.
#[inline]
pub(super) fn size(waiting: usize, threads: usize) -> Option<usize> {
    (threads > 1 && waiting >= LEAST).then(|| waiting.min(MOST))
}

/// What a thread found.
pub(super) struct Found<S> {
    /// The first configuration that it expanded.
    pub first: usize,
    /// What it found about each.
    pub of: Vec<OfOne<S>>,
    /// The hash of each configuration that was new to the thread, and where its bytes end.
    pub reached: Vec<(Hash, usize)>,
    pub bytes: Vec<u8>,
}

/// What a thread found about a configuration.
pub(super) enum OfOne<S> {
    /// It was expanded.
    Expanded {
        seen: Option<S>,
        expansion: Expansion,
        /// Where what it reaches ends.
        last: usize,
    },
    /// It was not: a control state or a value would have been created, or it has too many
    /// successors to collect.
    Left,
}

/// Expands the next `size` configurations with several threads, without adding anything.
pub(super) fn find<V: Visitor>(
    search: &Search<'_>,
    size: usize,
    budget: &Budget,
    visitor: &V,
) -> Vec<Found<V::Seen>> {
    let threads = budget.threads();
    let begin = search.stats.expanded;
    let part = |i: usize| begin + size * i / threads..begin + size * (i + 1) / threads;
    thread::scope(|scope| {
        let others: Vec<_> = (1..threads)
            .map(|i| scope.spawn(move || expand(search, part(i), budget, visitor)))
            .collect();
        let first = expand(search, part(0), budget, visitor);
        let found = others.into_iter().map(|thread| thread.join().expect("no thread panics"));
        [first].into_iter().chain(found.collect::<Vec<_>>()).collect()
    })
}

fn expand<V: Visitor>(
    search: &Search<'_>,
    part: Range<usize>,
    budget: &Budget,
    visitor: &V,
) -> Found<V::Seen> {
    let Search { steps, store, .. } = search;
    let mut found = Found { first: part.start, of: vec![], reached: vec![], bytes: vec![] };
    let (mut config, mut room) = (Vec::new(), Room::default());
    let (mut work, mut is_late) = (0_usize, false);
    let enough = enough(budget);
    for index in part {
        let id = store.id(index).expect("it waits");
        store.read(id, &mut config);
        let Found { of, reached, bytes, .. } = &mut found;
        let before = (reached.len(), bytes.len());
        let mut is_large = false;
        let done = without_growth(|| {
            let seen = steps.look(visitor, &config);
            let expansion = steps.expand(&config, &mut room, |next| {
                work += 1;
                is_late |= work.is_multiple_of(OFTEN) && budget.check().is_err();
                let count = reached.len() - before.0;
                is_large |= bytes.len() - before.1 + count * BESIDE > enough;
                if is_late || is_large {
                    return false;
                }
                let begin = bytes.len();
                pack(next, bytes);
                let hash = Hash::of(&bytes[begin..]);
                match store.find_packed(&bytes[begin..], hash) {
                    Some(_) => bytes.truncate(begin),
                    None => reached.push((hash, bytes.len())),
                }
                true
            });
            (seen, expansion)
        });
        if is_late {
            // The one that adds looks at the clock as well.
            reached.truncate(before.0);
            bytes.truncate(before.1);
            break;
        }
        match done.filter(|_| !is_large) {
            Some((seen, expansion)) => {
                of.push(OfOne::Expanded { seen, expansion, last: reached.len() });
            }
            None => {
                reached.truncate(before.0);
                bytes.truncate(before.1);
                of.push(OfOne::Left);
            }
        }
        if bytes.len() + reached.len() * BESIDE > enough {
            break;
        }
    }
    found
}

/// For each part, which of the configurations that were reached are reached there first.
pub(super) fn firsts<S: Sync>(found: &[Found<S>], threads: usize) -> Vec<Vec<bool>> {
    let share = TABLES.div_ceil(threads);
    let of_tables = |first: usize| {
        let bytes = |(part, begin, end): (usize, usize, usize)| &found[part].bytes[begin..end];
        let mut known: HashTable<(Hash, (usize, usize, usize))> = HashTable::new();
        let mut firsts: Vec<(usize, usize)> = Vec::new();
        for (part, found) in found.iter().enumerate() {
            let mut begin = 0;
            for (i, &(hash, end)) in found.reached.iter().enumerate() {
                let place = (part, begin, end);
                begin = end;
                if hash.table() / share != first {
                    continue;
                }
                let same = |(h, p): &(Hash, _)| *h == hash && bytes(*p) == bytes(place);
                if known.find(hash.spread(), same).is_none() {
                    known.insert_unique(hash.spread(), (hash, place), |(h, _)| h.spread());
                    firsts.push((part, i));
                }
            }
        }
        firsts
    };
    let mut is_first: Vec<Vec<bool>> =
        found.iter().map(|found| vec![false; found.reached.len()]).collect();
    thread::scope(|scope| {
        let others: Vec<_> =
            (1..TABLES.div_ceil(share)).map(|i| scope.spawn(move || of_tables(i))).collect();
        let mut mark = |firsts: Vec<(usize, usize)>| {
            firsts.into_iter().for_each(|(part, i)| is_first[part][i] = true);
        };
        mark(of_tables(0));
        others.into_iter().for_each(|thread| mark(thread.join().expect("no thread panics")));
    });
    is_first
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;
    use std::time::Duration;

    use weir_gen::{Rng, Shape, program};
    use weir_model::ids::SpanId;
    use weir_model::limits::Budget;
    use weir_model::memory_model::MemoryModel;
    use weir_model::program::{Property, PropertyKind, Quantifier};
    use weir_model::system::System;

    use crate::engine::{Engine, Task};
    use crate::explicit::{Asked, Explicit, outcomes};
    use crate::stats::{SearchOptions, Stats};

    fn options(threads: usize, store: usize) -> SearchOptions {
        let threads = NonZeroUsize::new(threads).unwrap();
        let budget = Budget::new().with_threads(threads).with_store(store);
        SearchOptions { budget, bound: Some(2), ..SearchOptions::default() }
    }

    fn told(stats: &Stats) -> String {
        format!("{:?}", Stats { elapsed: Duration::ZERO, ..stats.clone() })
    }

    /// Answers, runs, final states and counts, by a search that is paused now and then. Each
    /// number of threads has a system of its own: none finds what another has created.
    fn all(seed: u64, model: MemoryModel, threads: usize) -> String {
        let mut rng = Rng::new(seed);
        let mut program = program(&mut rng, &Shape::rich());
        let kinds = [PropertyKind::NoDeadlock(vec![]), PropertyKind::Assertions];
        let property = |kind| Property { name: None, kind, span: SpanId::NONE };
        program.properties.extend(kinds.map(property));
        let formula = weir_model::program::Expr::Const(0);
        program.properties.push(property(PropertyKind::Final(Quantifier::Exists, formula)));
        let Ok(system) = System::new(program) else { return String::new() };
        let mut told_so_far = Vec::new();
        let most = options(threads, 1 << 22);
        let mut search = Asked::new(Task::new(&system, model, &most)).unwrap();
        for store in [1 << 12, 1 << 13, 1 << 15, 1 << 22] {
            search.go_on(&options(threads, store).budget, &mut |_| {});
            let (answers, stats) = search.answers(&most.budget);
            told_so_far.push(format!("{answers:?} {}", told(&stats)));
        }
        let found = outcomes(Task::new(&system, model, &most), &mut |_| {}).unwrap();
        told_so_far.push(format!("{:?} {}", found.states, told(&found.stats)));
        let (answers, stats) = Explicit.search(Task::new(&system, model, &most), &mut |_| {});
        told_so_far.push(format!("{answers:?} {}", told(&stats)));
        told_so_far.join("\n")
    }

    #[test]
    fn any_number_of_threads_finds_the_same() {
        let models = [MemoryModel::SC, MemoryModel::TSO, MemoryModel::PSO, MemoryModel::NSW];
        for seed in 0..150 {
            for model in models {
                let one = all(seed, model, 1);
                for threads in [2, 5] {
                    assert_eq!(one, all(seed, model, threads), "seed {seed}, {model}, {threads}");
                }
            }
        }
    }
}
