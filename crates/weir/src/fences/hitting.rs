//! Sets of numbered elements, and the cheapest sets that hit all of some others.

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

/// The cheapest inclusion-minimal sets that hit every clause, cheapest first, at most so many.
/// None contains one of the sets in `known`.
///
/// # Errors
/// If a limit is reached.
pub(super) fn cheapest(
    clauses: &[Set],
    costs: &[u64],
    known: &[Set],
    most: usize,
    budget: &Budget,
) -> Result<Vec<Set>, Stop> {
    let mut found = Vec::new();
    let mut queue = BinaryHeap::new();
    let empty = Set::empty(costs.len());
    queue.extend(partial(empty.clone(), empty, 0, clauses, costs).map(Reverse));
    while let Some(Reverse(next)) = queue.pop() {
        budget.tick()?;
        if known.iter().any(|k| k.is_within(&next.set)) {
            continue;
        }
        // The clause that leaves the fewest ways.
        let open = clauses.iter().filter(|c| !c.meets(&next.set));
        let ways = open.map(|c| c.without(&next.excluded)).min_by_key(Set::len);
        let Some(ways) = ways else {
            if is_minimal(&next.set, clauses) {
                found.push(next.set);
            }
            if found.len() >= most {
                break;
            }
            continue;
        };
        let mut excluded = next.excluded;
        for e in ways.iter() {
            let (set, cost) = (next.set.with(e), next.cost + costs[e]);
            queue.extend(partial(set, excluded.clone(), cost, clauses, costs).map(Reverse));
            excluded.insert(e);
        }
    }
    Ok(found)
}

/// A set with a bound on what it costs; `None` if it cannot hit some clause any more.
fn partial(set: Set, excluded: Set, cost: u64, clauses: &[Set], costs: &[u64]) -> Option<Partial> {
    let mut at_least = cost;
    // Clauses without common elements need one element each.
    let mut seen = Set::empty(costs.len());
    for clause in clauses.iter().filter(|c| !c.meets(&set)) {
        let ways = clause.without(&excluded);
        let cheapest = ways.iter().map(|e| costs[e]).min()?;
        if !ways.meets(&seen) {
            at_least += cheapest;
            ways.iter().for_each(|e| seen.insert(e));
        }
    }
    Some(Partial { at_least, cost, set, excluded })
}

/// Whether each element is needed for some clause.
fn is_minimal(set: &Set, clauses: &[Set]) -> bool {
    let alone = |e: usize| {
        clauses.iter().any(|c| c.contains(e) && c.iter().filter(|&f| set.contains(f)).count() == 1)
    };
    set.iter().all(alone)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(elements: &[usize]) -> Set {
        let mut set = Set::empty(6);
        elements.iter().for_each(|&e| set.insert(e));
        set
    }

    #[test]
    fn sets_are_found_in_the_order_of_their_costs() {
        let clauses = [set(&[0, 1]), set(&[1, 2, 3]), set(&[4])];
        let costs = [1, 4, 1, 2, 1, 1];
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
        let costs = [3, 1, 2, 2, 1, 1];
        for a in &subsets[1..] {
            for b in &subsets[1..] {
                for c in [&subsets[3], &subsets[9], &subsets[6]] {
                    let clauses = [a.clone(), b.clone(), c.clone()];
                    let mut found = cheapest(&clauses, &costs, &[], 99, &Budget::new()).unwrap();
                    let hits = |s: &&Set| clauses.iter().all(|c| c.meets(s));
                    let minimal = |s: &&Set| {
                        s.iter().all(|e| {
                            let less = s.without(&set(&[e]));
                            !hits(&&less)
                        })
                    };
                    let all = subsets.iter().filter(hits).filter(minimal);
                    let mut all: Vec<Set> = all.cloned().collect();
                    found.sort_unstable();
                    all.sort_unstable();
                    assert_eq!(found, all, "{clauses:?}");
                }
            }
        }
    }
}
