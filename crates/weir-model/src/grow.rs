//! Append-only tables that can be read while they grow.
//!
//! Control states and values are numbered when a search meets them, and several threads
//! may search one system. Entries never move and never change, so a reader needs no lock.

use std::cell::Cell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Whether this thread may add something.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Growth {
    Allowed,
    Forbidden,
    /// It was forbidden, and would have been needed.
    Missed,
}

thread_local! {
    static GROWTH: Cell<Growth> = const { Cell::new(Growth::Allowed) };
}

/// Does something with systems as they are: `None` if it would have created a control state, a
/// transition or a value. Numbers depend on the order of creation, so threads that search
/// together leave it to one of them.
pub fn without_growth<T>(act: impl FnOnce() -> T) -> Option<T> {
    GROWTH.set(Growth::Forbidden);
    let done = act();
    let growth = GROWTH.replace(Growth::Allowed);
    (growth == Growth::Forbidden).then_some(done)
}

/// Whether something is done [without growth](without_growth), and would have created something: what
/// it computes is not to be kept.
pub fn has_missed() -> bool {
    GROWTH.get() == Growth::Missed
}

/// Whether something that is missing may be created now.
pub(crate) fn may_grow() -> bool {
    let allowed = GROWTH.get() == Growth::Allowed;
    if !allowed {
        GROWTH.set(Growth::Missed);
    }
    allowed
}

/// The first chunk has so many cells, and each further one twice as many as the last.
const FIRST: usize = 16;

/// Cells by number, each of which is written at most once.
#[derive(Debug)]
pub struct Cells<T> {
    chunks: [OnceLock<Box<[OnceLock<T>]>>; 28],
}

impl<T> Default for Cells<T> {
    fn default() -> Self {
        Self { chunks: [const { OnceLock::new() }; 28] }
    }
}

/// The chunk of a cell, and where in it.
#[inline]
fn locate(index: usize) -> (usize, usize) {
    let chunk = (index / FIRST + 1).ilog2() as usize;
    (chunk, index - FIRST * ((1 << chunk) - 1))
}

impl<T> Cells<T> {
    /// A cell, if it has been written.
    #[inline]
    pub fn get(&self, index: usize) -> Option<&T> {
        let (chunk, offset) = locate(index);
        self.chunks.get(chunk)?.get()?[offset].get()
    }

    /// A cell, which is initialized first if necessary.
    #[inline]
    pub fn get_or_init(&self, index: usize, make: impl FnOnce() -> T) -> &T {
        let (chunk, offset) = locate(index);
        let cells = self.chunks[chunk].get_or_init(|| {
            (0..FIRST << chunk).map(|_| OnceLock::new()).collect::<Vec<_>>().into_boxed_slice()
        });
        cells[offset].get_or_init(make)
    }
}

/// A list to which entries are added at its end.
#[derive(Debug)]
pub struct Grow<T> {
    cells: Cells<T>,
    len: AtomicUsize,
}

impl<T> Default for Grow<T> {
    fn default() -> Self {
        Self { cells: Cells::default(), len: AtomicUsize::new(0) }
    }
}

impl<T> Grow<T> {
    /// The number of entries.
    #[inline]
    pub fn len(&self) -> usize {
        self.len.load(Ordering::Acquire)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// An entry.
    ///
    /// # Panics
    /// If there are not so many.
    #[inline]
    pub fn get(&self, index: usize) -> &T {
        self.cells.get(index).expect("an entry that was added")
    }

    /// Adds an entry and returns its number. The caller holds a lock.
    pub fn push(&self, entry: T) -> usize {
        let index = self.len();
        let mut entry = Some(entry);
        self.cells.get_or_init(index, || entry.take().expect("once"));
        assert!(entry.is_none(), "two threads added at a time");
        self.len.store(index + 1, Ordering::Release);
        index
    }

    /// The entries.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        (0..self.len()).map(|i| self.get(i))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_stay_where_they_are() {
        let list = Grow::default();
        let first: *const usize = {
            list.push(0);
            list.get(0)
        };
        for i in 1..10_000 {
            assert_eq!(list.push(i), i);
        }
        assert!(std::ptr::eq(first, list.get(0)));
        assert!(list.iter().copied().eq(0..10_000));
        assert_eq!(list.len(), 10_000);
    }

    #[test]
    fn cells_are_written_once_in_any_order() {
        let cells = Cells::default();
        for i in [5_usize, 1000, 0, 15, 16, 47, 48] {
            assert_eq!(cells.get(i), None);
            assert_eq!(*cells.get_or_init(i, || i), i);
            assert_eq!(*cells.get_or_init(i, || i + 1), i);
        }
        assert_eq!(cells.get(6), None);
    }

    #[test]
    fn readers_see_what_a_writer_adds() {
        let list = Grow::default();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for i in 0..5000 {
                    list.push(i);
                }
            });
            for _ in 0..3 {
                scope.spawn(|| {
                    while list.len() < 5000 {
                        let n = list.len();
                        assert!((0..n).all(|i| *list.get(i) == i));
                    }
                });
            }
        });
    }
}
