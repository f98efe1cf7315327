//! Memory orders, as C, C++ and Rust have them.

use std::fmt;

/// The memory order of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Order {
    /// The access is not atomic. Two such accesses that conflict must be ordered by happens-before.
    Plain,
    /// Atomic, and orders nothing.
    Relaxed,
    /// A read that synchronizes with the release that it reads from.
    Acquire,
    /// A write with which an acquire that reads it synchronizes.
    Release,
    /// Both, for an atomic read-write.
    AcquireRelease,
    /// Both where they fit, and part of the one order of all `seq_cst` operations.
    SeqCst,
    /// `SeqCst` with a `seq_cst` fence on either side: an atomic operation without an order.
    Fenced,
}

impl Order {
    /// The orders that a text can name, with their names.
    pub const NAMED: [(&'static str, Self); 6] = [
        ("plain", Self::Plain),
        ("relaxed", Self::Relaxed),
        ("acquire", Self::Acquire),
        ("release", Self::Release),
        ("acq_rel", Self::AcquireRelease),
        ("seq_cst", Self::SeqCst),
    ];

    /// What it is called in Weir's language.
    pub fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Relaxed => "relaxed",
            Self::Acquire => "acquire",
            Self::Release => "release",
            Self::AcquireRelease => "acq_rel",
            Self::SeqCst => "seq_cst",
            Self::Fenced => "seq_cst between fences",
        }
    }

    /// Whether a read of this order acquires.
    pub fn acquires(self) -> bool {
        matches!(self, Self::Acquire | Self::AcquireRelease | Self::SeqCst | Self::Fenced)
    }

    /// Whether a write of this order releases.
    pub fn releases(self) -> bool {
        matches!(self, Self::Release | Self::AcquireRelease | Self::SeqCst | Self::Fenced)
    }

    /// Whether the access is in the order of all `seq_cst` operations.
    pub fn is_seq_cst(self) -> bool {
        matches!(self, Self::SeqCst | Self::Fenced)
    }

    /// Whether whatever this order forbids is forbidden by another one too. Acquire and release are not
    /// comparable, and an access that is not atomic is comparable to none.
    pub fn is_at_most(self, other: Self) -> bool {
        match (self, other) {
            (a, b) if a == b => true,
            (Self::Plain, _) | (_, Self::Plain) => false,
            (Self::Relaxed, _) => true,
            (Self::Acquire | Self::Release, b) => b > Self::Release,
            (a, b) => a < b,
        }
    }

    /// The order of a compare-and-swap that fails, if none is given: what is left of the order without the
    /// write ([atomics.types.operations] in the C++ standard).
    #[must_use]
    pub fn of_failure(self) -> Self {
        match self {
            Self::AcquireRelease => Self::Acquire,
            Self::Release => Self::Relaxed,
            order => order,
        }
    }
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
