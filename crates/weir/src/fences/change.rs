//! What may be changed in a text: places, and what can be at each of them.

use std::ops::Range;

use weir_front::Language;
use weir_front::gaps::{Gap, Inserted, replaced};
use weir_front::orders::{OrderPlace, Replacement};
use weir_model::program::{FenceKind, Order};

/// A change of a program: at which place, and what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Change {
    /// The number of the place.
    pub place: usize,
    /// What is there then.
    pub to: To,
}

/// What a change puts at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum To {
    /// A fence.
    Fence(FenceKind),
    /// This order, instead of another one.
    Order(Order),
}

impl To {
    /// What it is called on the command line and in reports for programs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fence(kind) => kind.name(),
            Self::Order(order) => order.name(),
        }
    }

    /// The order, if it is one.
    pub fn order(self) -> Option<Order> {
        match self {
            Self::Order(order) => Some(order),
            Self::Fence(_) => None,
        }
    }

    /// The fence, if it is one.
    pub fn fence(self) -> Option<FenceKind> {
        match self {
            Self::Fence(kind) => Some(kind),
            Self::Order(_) => None,
        }
    }
}

/// A place at which a fence can stand, or stands, or at which an order is written or can be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// What the fence stands before or behind, or the fence itself if it is in the program, as
    /// a part of one line of the text; or the word of the order, or what has it.
    pub range: Range<usize>,
    /// The line of it, from 1.
    pub line: usize,
    /// Whether a fence stands behind it.
    pub is_behind: bool,
    /// Whether the line alone does not say which place it is: it has other code before this
    /// place, or other places.
    pub is_inline: bool,
}

/// What a place is in the text.
#[derive(Clone, Debug)]
pub(super) enum Site {
    /// Between two statements.
    Gap(Gap),
    /// An order that is written or can be.
    Order(Tuned),
    /// A fence of the program.
    Standing,
}

/// An order that may be another one.
#[derive(Clone, Debug)]
pub(super) struct Tuned {
    pub place: OrderPlace,
    /// The weakest order that is tried.
    pub floor: Order,
    /// All that are tried, weaker ones first; the one in the text is among them.
    pub levels: Vec<Order>,
}

impl Tuned {
    /// The orders one step weaker than another one.
    pub fn weaker(&self, than: Order) -> Vec<Order> {
        let is_below = |a: Order, b: Order| a != b && a.is_at_most(b);
        let below: Vec<Order> =
            self.levels.iter().copied().filter(|order| is_below(*order, than)).collect();
        let is_next = |order: &Order| !below.iter().any(|other| is_below(*order, *other));
        below.iter().copied().filter(is_next).collect()
    }

    /// The orders that are not what two weaker ones are together. Each set of them is an order.
    pub fn atoms(&self) -> Vec<Order> {
        self.levels.iter().copied().filter(|order| self.weaker(*order).len() == 1).collect()
    }

    /// The weakest order that includes all of these.
    pub fn join(&self, atoms: &[Order]) -> Order {
        let includes = |order: &&Order| atoms.iter().all(|atom| atom.is_at_most(**order));
        let all: Vec<&Order> = self.levels.iter().filter(includes).collect();
        let least = all.iter().find(|order| all.iter().all(|other| order.is_at_most(**other)));
        // The strongest order is above all others.
        **least.expect("orders of one access have a join")
    }
}

impl Site {
    /// The changes of the text that make a change.
    fn edits(&self, to: To, language: &Language) -> Vec<Replacement> {
        match (self, to) {
            (Self::Gap(gap), To::Fence(kind)) => {
                let word = (language.fence)(kind).unwrap_or("fence");
                let edit = |edit: &weir_front::gaps::Edit| {
                    let word = if edit.has_fence { word } else { "" };
                    (edit.range.clone(), format!("{}{word}{}", edit.before, edit.after))
                };
                gap.edits.iter().map(edit).collect()
            }
            (Self::Order(tuned), To::Order(order)) => {
                let others = &tuned.place.others;
                let found = others.iter().find(|(other, _)| *other == order);
                found.map(|(_, edits)| edits.clone()).unwrap_or_default()
            }
            _ => vec![],
        }
    }
}

/// The changes of the text that make some changes. Where something is inserted twice at one offset, what belongs
/// to the later place comes first: it is inside of the other.
pub(super) fn edits(sites: &[Site], changes: &[Change], language: &Language) -> Vec<Replacement> {
    let mut sorted: Vec<&Change> = changes.iter().collect();
    let start = |change: &Change| match &sites[change.place] {
        Site::Order(tuned) => Some(tuned.place.range.start),
        _ => None,
    };
    sorted.sort_by_key(|change| std::cmp::Reverse(start(change)));
    let mut edits: Vec<Replacement> = Vec::new();
    for change in sorted {
        edits.extend(sites[change.place].edits(change.to, language));
    }
    edits.sort_by_key(|(range, _)| (range.start, range.end));
    edits
}

/// A text with some changes.
pub(super) fn changed(
    text: &str,
    sites: &[Site],
    changes: &[Change],
    language: &Language,
) -> Inserted {
    replaced(text, &edits(sites, changes, language))
}

/// The places with these offsets, in the order of the text; of each is given whether a fence
/// stands behind it.
pub(super) fn places(text: &str, at: impl Iterator<Item = (usize, bool)>) -> Vec<Place> {
    // What follows a gap at the end of a line stands on the next one.
    let next = |at: usize| text[at..].find(|c: char| !c.is_whitespace()).map_or(at, |s| at + s);
    let all: Vec<(usize, bool)> = at.map(|(at, is_behind)| (next(at), is_behind)).collect();
    let lines: Vec<usize> = text.match_indices('\n').map(|(at, _)| at).collect();
    let place = |&(at, is_behind): &(usize, bool)| {
        let line = lines.partition_point(|&end| end < at);
        let begin = line.checked_sub(1).map_or(0, |before| lines[before] + 1);
        let end = lines.get(line).copied().unwrap_or(text.len());
        let later = all.get(all.partition_point(|(other, _)| *other <= at));
        let earlier = all[..all.partition_point(|(other, _)| *other < at)].last();
        let in_line = |other: Option<&(usize, bool)>| {
            other.map(|(other, _)| *other).filter(|other| (begin..end).contains(other))
        };
        Place {
            range: at..in_line(later).unwrap_or(end),
            line: line + 1,
            is_behind,
            is_inline: !text[begin..at].trim().is_empty()
                || in_line(later).or(in_line(earlier)).is_some(),
        }
    };
    all.iter().map(place).collect()
}

/// The places of orders.
pub(super) fn order_places(text: &str, ranges: impl Iterator<Item = Range<usize>>) -> Vec<Place> {
    let line = |at: usize| 1 + text[..at].matches('\n').count();
    let place = |range: Range<usize>| Place {
        line: line(range.start),
        range,
        is_behind: false,
        is_inline: true,
    };
    ranges.map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_front::orders::Access;

    fn tuned(access: Access, floor: Order, top: Order) -> Tuned {
        let levels = access.orders().iter().copied();
        let levels = levels.filter(|o| floor.is_at_most(*o) && o.is_at_most(top)).collect();
        let place = OrderPlace { range: 0..0, access, now: floor, others: vec![] };
        Tuned { place, floor, levels }
    }

    #[test]
    fn every_order_is_the_join_of_its_atoms_and_of_no_others() {
        use Access::{Failure, Fence, Load, ReadWrite, Store};
        for access in [Load, Store, ReadWrite, Failure, Fence] {
            for &floor in access.orders() {
                let tuned = tuned(access, floor, Order::SeqCst);
                let atoms = tuned.atoms();
                for &order in &tuned.levels {
                    let below: Vec<Order> =
                        atoms.iter().copied().filter(|atom| atom.is_at_most(order)).collect();
                    assert_eq!(tuned.join(&below), order, "{access:?} from {floor}");
                }
                assert_eq!(tuned.join(&[]), floor);
            }
        }
        let tuned = tuned(ReadWrite, Order::Relaxed, Order::SeqCst);
        assert_eq!(tuned.atoms(), [Order::Acquire, Order::Release, Order::SeqCst]);
        assert_eq!(tuned.weaker(Order::AcquireRelease), [Order::Acquire, Order::Release]);
        assert_eq!(tuned.weaker(Order::SeqCst), [Order::AcquireRelease]);
        assert!(tuned.weaker(Order::Relaxed).is_empty());
    }
}
