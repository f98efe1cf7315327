//! Memory orders in a text: where they are written, or can be written, and what they may become.
//!
//! Each language finds its own places ([`Language::orders`](crate::Language)), in the tokens of the text and without
//! reading the program: one place may serve several accesses, or none. Whoever changes an order reads the text again, which
//! shows what the change means. Accesses that are not atomic have no place, and neither have orders that no text names.

use std::ops::Range;

use weir_model::program::Order;

/// What an order belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Access {
    /// A load.
    Load,
    /// A store.
    Store,
    /// An atomic read-write.
    ReadWrite,
    /// A compare-and-swap that fails, which only reads.
    Failure,
    /// A fence. Relaxed, it is none.
    Fence,
    /// The text does not say: a constant, or an argument of a function of the program.
    Unknown,
}

impl Access {
    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Load => "load",
            Self::Store => "store",
            Self::ReadWrite => "read-write",
            Self::Failure => "failure",
            Self::Fence => "fence",
            Self::Unknown => "order",
        }
    }

    /// The orders that it can have in every language, weaker ones first.
    pub fn orders(self) -> &'static [Order] {
        use Order::{Acquire, AcquireRelease, Relaxed, Release, SeqCst};
        match self {
            Self::Load | Self::Failure => &[Relaxed, Acquire, SeqCst],
            Self::Store => &[Relaxed, Release, SeqCst],
            Self::ReadWrite | Self::Fence | Self::Unknown => {
                &[Relaxed, Acquire, Release, AcquireRelease, SeqCst]
            }
        }
    }
}

/// A place of a text that says which order something has, or can say it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderPlace {
    /// The word that names the order, or what has it if there is no such word.
    pub range: Range<usize>,
    /// What has it.
    pub access: Access,
    /// What it is.
    pub now: Order,
    /// What it may be instead, and how that is written.
    pub others: Vec<(Order, Vec<Replacement>)>,
}

/// A range of a text, and what comes in its place.
pub type Replacement = (Range<usize>, String);

/// Whether there is nothing but blanks in the line around a range; then the line with its end.
pub(crate) fn whole_line(text: &str, range: &Range<usize>) -> Option<Range<usize>> {
    let start = text[..range.start].rfind('\n').map_or(0, |at| at + 1);
    let end = text[range.end..].find('\n').map_or(text.len(), |at| range.end + at + 1);
    let is_alone =
        text[start..range.start].trim().is_empty() && text[range.end..end].trim().is_empty();
    is_alone.then_some(start..end)
}
