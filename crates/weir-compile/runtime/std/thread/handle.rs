//! Handles of threads, their names, and the tokens of `park`.

use crate::sys;
use core::cell::Cell;
use core::fmt;
use core::num::NonZero;
use core::sync::atomic::{AtomicU32, Ordering};
use real::string::String;

/// How many threads may have been started when one is parked.
const THREADS: usize = 1024;

/// Whether a thread may go on that is parked, by its number.
static TOKENS: [AtomicU32; THREADS] = [const { AtomicU32::new(0) }; THREADS];

/// The name that was given to a thread.
#[thread_local]
static NAME: Cell<Option<Name>> = Cell::new(None);

#[inline]
pub(super) fn token(number: usize) -> &'static AtomicU32 {
    if number >= THREADS {
        sys::fail("a thread is parked, and more than 1024 have been started")
    }
    unsafe { &*(&raw const TOKENS).cast::<AtomicU32>().add(number) }
}

#[inline]
pub(super) fn set_own_name(name: Name) {
    NAME.set(Some(name));
}

#[inline]
pub(super) fn own_name() -> Option<Name> {
    NAME.get()
}

/// A name lives as long as the program, so that handles need not count.
pub(super) type Name = &'static String;

/// A handle of a thread. It has 16 bytes, and so has an `Option` of it: some crates ask for its
/// size.
#[derive(Clone)]
pub struct Thread {
    /// Its number plus 1.
    id: NonZero<u32>,
    name: Option<Name>,
}

impl Thread {
    #[inline]
    pub(super) fn new(number: usize, name: Option<Name>) -> Thread {
        Thread { id: unsafe { NonZero::new_unchecked(number as u32 + 1) }, name }
    }

    #[inline]
    pub(super) fn number(&self) -> usize {
        self.id.get() as usize - 1
    }

    /// Lets the thread go on, or the next time that it parks.
    #[inline]
    pub fn unpark(&self) {
        token(self.number()).store(1, Ordering::Release);
    }

    /// What tells threads apart.
    #[inline]
    pub fn id(&self) -> ThreadId {
        ThreadId(unsafe { NonZero::new_unchecked(self.id.get() as u64) })
    }

    /// The name that a `Builder` gave to it. The first thread is `main`.
    #[inline]
    pub fn name(&self) -> Option<&str> {
        if self.number() == 0 {
            return Some("main");
        }
        match self.name {
            Some(name) => Some(name.as_str()),
            None => None,
        }
    }
}

impl fmt::Debug for Thread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Thread")
            .field("id", &self.id())
            .field("name", &self.name())
            .finish_non_exhaustive()
    }
}

/// What tells threads apart.
#[derive(Eq, PartialEq, Clone, Copy, Hash, Debug)]
pub struct ThreadId(NonZero<u64>);

impl ThreadId {
    /// As a number: 1 is the first thread.
    #[inline]
    pub fn as_u64(&self) -> NonZero<u64> {
        self.0
    }
}
