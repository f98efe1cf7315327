//! Sets of numbered elements, and the cheapest sets that hit all of some others.
//!
//! An element may include others: a stronger order forbids all that a weaker one does. A set that has such an element has all that
//! it includes, and an element can be left out of a set only if no other one of the set includes it. A fence includes nothing
//! but itself.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use weir_model::limits::{Budget, Stop};

/// A set of elements `0..n`, as bits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Set(Vec<u64>);

impl Set {
    /// The empty set of elements below `n`.
    pub fn empty(n: usize) -> Self {
        Self(vec![0; n.div_ceil(64)])
    }

    /// All elements below `n`.
    pub fn full(n: usize) -> Self {
        let mut set = Self::empty(n);
        (0..n).for_each(|e| set.insert(e));
        set
    }

    pub fn insert(&mut self, e: usize) {
        self.0[e / 64] |= 1 << (e % 64);
    }

    pub fn contains(&self, e: usize) -> bool {
        self.0[e / 64] >> (e % 64) & 1 == 1
    }

    pub fn with(&self, e: usize) -> Self {
        let mut set = self.clone();
        set.insert(e);
        set
    }

    pub fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    pub fn union(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(a, b)| a | b).collect())
    }

    pub fn meets(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).any(|(a, b)| a & b != 0)
    }

    pub fn is_within(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).all(|(a, b)| a & !b == 0)
    }

    pub fn without(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(a, b)| a & !b).collect())
    }

    /// Removes elements as long as it still meets all other sets.
    pub fn reduced(&self, others: &[Self]) -> Self {
        let mut set = self.clone();
        for e in self.iter() {
            let less = set.without(&Self(vec![0; set.0.len()]).with(e));
            if others.iter().all(|other| other.meets(&less)) {
                set = less;
            }
        }
        set
    }

    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        (0..64 * self.0.len()).filter(|&e| self.contains(e))
    }
}

/// What sets are made of.
pub(super) struct Elements {
    /// For each element what it includes, itself among it.
    pub includes: Vec<Set>,
    /// What a set costs. More elements never cost less.
    pub cost: Box<dyn Fn(&Set) -> u64 + Send + Sync>,
    /// What each element adds to the cost of a set at least.
    pub least: Vec<u64>,
}

impl Elements {
    pub fn len(&self) -> usize {
        self.includes.len()
    }

    /// The elements of a set that can be left out of it alone.
    pub fn last_of<'s>(&'s self, set: &'s Set) -> impl Iterator<Item = usize> + 's {
        let is_included = |e: usize, by: usize| e != by && self.includes[by].contains(e);
        set.iter().filter(move |&e| !set.iter().any(|other| is_included(e, other)))
    }

    /// A set without an element and whatever includes it.
    pub fn without(&self, set: &Set, e: usize) -> Set {
        let mut less = Set::empty(self.len());
        set.iter().filter(|&other| !self.includes[other].contains(e)).for_each(|e| less.insert(e));
        less
    }
}

/// A set that hits some clauses and is to hit the others.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Partial {
    /// What a set costs at least that contains this one and hits all clauses.
    at_least: u64,
    cost: u64,
    set: Set,
    /// Elements that were tried on other branches.
    excluded: Set,
}

/// The cheapest minimal sets that hit every clause, cheapest first, at most so many. None contains one of
/// the sets in `known`.
///
/// # Errors
/// If a limit is reached.
pub(super) fn cheapest(
    clauses: &[Set],
    elements: &Elements,
    known: &[Set],
    most: usize,
    budget: &Budget,
) -> Result<Vec<Set>, Stop> {
    let mut found = Vec::new();
    let mut queue = BinaryHeap::new();
    let empty = Set::empty(elements.len());
    queue.extend(partial(empty.clone(), empty, clauses, elements).map(Reverse));
    while let Some(Reverse(next)) = queue.pop() {
        budget.tick()?;
        if known.iter().any(|k| k.is_within(&next.set)) {
            continue;
        }
        // The clause that leaves the fewest ways.
        let open = clauses.iter().filter(|c| !c.meets(&next.set));
        let ways = open.map(|c| c.without(&next.excluded)).min_by_key(Set::len);
        let Some(ways) = ways else {
            // An element that includes others may be reached in several ways.
            if is_minimal(&next.set, clauses, elements) && !found.contains(&next.set) {
                found.push(next.set);
            }
            if found.len() >= most {
                break;
            }
            continue;
        };
        let mut excluded = next.excluded;
        for e in ways.iter() {
            // What includes an excluded element was tried there.
            if !elements.includes[e].meets(&excluded) {
                let set = next.set.union(&elements.includes[e]);
                queue.extend(partial(set, excluded.clone(), clauses, elements).map(Reverse));
            }
            excluded.insert(e);
        }
    }
    Ok(found)
}

/// A set with a bound on what it costs; `None` if it cannot hit some clause any more.
fn partial(set: Set, excluded: Set, clauses: &[Set], elements: &Elements) -> Option<Partial> {
    let cost = (elements.cost)(&set);
    let mut at_least = cost;
    // Clauses without common elements need one element each.
    let mut seen = Set::empty(elements.len());
    for clause in clauses.iter().filter(|c| !c.meets(&set)) {
        let ways = clause.without(&excluded);
        let cheapest = ways.iter().map(|e| elements.least[e]).min()?;
        if !ways.meets(&seen) {
            at_least += cheapest;
            ways.iter().for_each(|e| seen.insert(e));
        }
    }
    Some(Partial { at_least, cost, set, excluded })
}

/// Whether each element that could be left out is needed for some clause.
fn is_minimal(set: &Set, clauses: &[Set], elements: &Elements) -> bool {
    let alone = |e: usize| {
        clauses.iter().any(|c| c.contains(e) && c.iter().filter(|&f| set.contains(f)).count() == 1)
    };
    elements.last_of(set).all(alone)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(elements: &[usize]) -> Set {
        let mut set = Set::empty(6);
        elements.iter().for_each(|&e| set.insert(e));
        set
    }

    /// Elements of which each includes some, with its cost.
    fn elements(costs: [u64; 6], includes: [&[usize]; 6]) -> Elements {
        Elements {
            includes: (0..6).map(|e| set(includes[e]).with(e)).collect(),
            cost: Box::new(move |set| set.iter().map(|e| costs[e]).sum()),
            least: costs.to_vec(),
        }
    }

    fn plain(costs: [u64; 6]) -> Elements {
        elements(costs, [&[]; 6])
    }

    #[test]
    fn sets_are_found_in_the_order_of_their_costs() {
        let clauses = [set(&[0, 1]), set(&[1, 2, 3]), set(&[4])];
        let costs = plain([1, 4, 1, 2, 1, 1]);
        let all = cheapest(&clauses, &costs, &[], 10, &Budget::new()).unwrap();
        assert_eq!(all, [set(&[0, 2, 4]), set(&[0, 3, 4]), set(&[1, 4])]);
        let known = [set(&[0, 2, 4])];
        let rest = cheapest(&clauses, &costs, &known, 1, &Budget::new()).unwrap();
        assert_eq!(rest, [set(&[0, 3, 4])]);
    }

    #[test]
    fn a_clause_is_reduced_to_what_some_set_needs() {
        let sets = [set(&[0, 4]), set(&[1, 4]), set(&[2, 5])];
        assert_eq!(set(&[0, 1, 2, 3, 4]).reduced(&sets), set(&[2, 4]));
        assert_eq!(set(&[0, 1, 5]).reduced(&sets), set(&[0, 1, 5]));
        assert_eq!(set(&[0, 1]).reduced(&[]), set(&[]));
    }

    #[test]
    fn all_minimal_sets_are_found_and_no_others() {
        // Every family of three clauses over four elements, against all subsets.
        let subsets: Vec<Set> = (0..16u32)
            .map(|bits| set(&(0..4).filter(|e| bits >> e & 1 == 1).collect::<Vec<_>>()))
            .collect();
        let costs = plain([3, 1, 2, 2, 1, 1]);
        // 1 includes 0, and 3 includes 2.
        let chains = elements([3, 1, 2, 2, 1, 1], [&[], &[0], &[], &[2], &[], &[]]);
        for a in &subsets[1..] {
            for b in &subsets[1..] {
                for c in [&subsets[3], &subsets[9], &subsets[6]] {
                    let clauses = [a.clone(), b.clone(), c.clone()];
                    for elements in [&costs, &chains] {
                        let found = cheapest(&clauses, elements, &[], 99, &Budget::new());
                        let mut found = found.unwrap();
                        let closed = |s: &&Set| s.iter().all(|e| elements.includes[e].is_within(s));
                        let hits = |s: &Set| clauses.iter().all(|c| c.meets(s));
                        let good: Vec<&Set> =
                            subsets.iter().filter(closed).filter(|s| hits(s)).collect();
                        let is_least = |s: &&&Set| !good.iter().any(|t| t != *s && t.is_within(s));
                        let mut all: Vec<Set> =
                            good.iter().filter(is_least).map(|s| (*s).clone()).collect();
                        let costs: Vec<u64> = found.iter().map(&elements.cost).collect();
                        assert!(costs.is_sorted());
                        found.sort_unstable();
                        all.sort_unstable();
                        assert_eq!(found, all, "{clauses:?}");
                    }
                }
            }
        }
    }
}
