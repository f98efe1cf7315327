//! The edges of a cycle: from one access to the next.

use std::fmt;
use std::str::FromStr;

use super::error::GenerateError;
use crate::suggest;

/// Whether memory is written or read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// Written.
    Write,
    /// Read.
    Read,
}

impl Direction {
    /// The letter in the names of edges and tests.
    pub fn letter(self) -> char {
        match self {
            Self::Write => 'W',
            Self::Read => 'R',
        }
    }
}

/// How an access is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Access {
    /// A plain write, `MOV [x],$1`.
    Write,
    /// An atomic write, `XCHG [x],EAX`. What it reads is not looked at.
    Exchange,
    /// A plain read, `MOV EAX,[x]`.
    Read,
}

impl Access {
    const ALL: [Self; 3] = [Self::Write, Self::Exchange, Self::Read];

    /// Whether it writes or reads.
    pub fn direction(self) -> Direction {
        match self {
            Self::Write | Self::Exchange => Direction::Write,
            Self::Read => Direction::Read,
        }
    }

    /// The letter that says how, `A` for atomic and `P` for plain.
    fn annotation(self) -> char {
        if self == Self::Exchange { 'A' } else { 'P' }
    }

    /// What both of two edges that meet say of the access between them: it is
    /// atomic if one of them says so.
    fn merge(self, other: Self) -> Option<Self> {
        (self.direction() == other.direction()).then_some(if self == Self::Exchange {
            self
        } else {
            other
        })
    }
}

/// Whether two accesses are of one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// Of two threads.
    External,
    /// Of one thread.
    Internal,
}

/// What stands between two accesses of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Barrier {
    /// Nothing.
    None,
    /// `MFENCE`, which orders everything.
    MFence,
    /// `SFENCE`, which orders writes.
    SFence,
    /// `LFENCE`, which orders reads.
    LFence,
}

impl Barrier {
    const ALL: [Self; 4] = [Self::None, Self::MFence, Self::SFence, Self::LFence];

    /// The instruction, if there is one.
    pub fn instruction(self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::MFence => Some("MFENCE"),
            Self::SFence => Some("SFENCE"),
            Self::LFence => Some("LFENCE"),
        }
    }

    fn prefix(self) -> &'static str {
        match self {
            Self::None => "Po",
            Self::MFence => "MFence",
            Self::SFence => "SFence",
            Self::LFence => "LFence",
        }
    }
}

/// Whether two accesses of a thread are to one location.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// To two locations.
    Different,
    /// To one location.
    Same,
}

/// Why an access comes before the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Link {
    /// Communication over one location. A read sees the write before it; what
    /// is written after a read or a write comes later in the order of the
    /// location's values.
    Communication(Scope),
    /// The order of the program.
    Program(Barrier, Place),
}

/// An edge of a cycle. There is no communication from a read to a read.
///
/// ```
/// use weir_front::litmus::generate::Edge;
///
/// let edge: Edge = "PodWR".parse().unwrap();
/// assert!(edge.is_same_thread() && !edge.is_same_location());
/// assert_eq!("Wse".parse::<Edge>().unwrap().to_string(), "Coe");
/// let error = "PodWX".parse::<Edge>().unwrap_err();
/// assert_eq!(error.to_string(), "there is no edge `PodWX`; did you mean `PodWR`?");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Edge {
    source: Access,
    link: Link,
    target: Access,
}

impl Edge {
    /// An edge; `None` for communication from a read to a read.
    pub fn new(source: Access, link: Link, target: Access) -> Option<Self> {
        let reads = (source, target) == (Access::Read, Access::Read);
        let is_none = reads && matches!(link, Link::Communication(_));
        (!is_none).then_some(Self { source, link, target })
    }

    /// Every edge there is.
    pub fn all() -> impl Iterator<Item = Self> {
        let scopes = [Scope::External, Scope::Internal].map(Link::Communication);
        let places = [Place::Different, Place::Same].into_iter();
        let orders = places.flat_map(|p| Barrier::ALL.map(|b| Link::Program(b, p)));
        let links: Vec<Link> = scopes.into_iter().chain(orders).collect();
        links.into_iter().flat_map(|link| {
            Access::ALL.into_iter().flat_map(move |source| {
                Access::ALL.into_iter().filter_map(move |target| Self::new(source, link, target))
            })
        })
    }

    /// The access that comes first.
    pub fn source(self) -> Access {
        self.source
    }

    /// Why it comes first.
    pub fn link(self) -> Link {
        self.link
    }

    /// The access that comes next.
    pub fn target(self) -> Access {
        self.target
    }

    /// Whether both accesses are of one thread.
    pub fn is_same_thread(self) -> bool {
        self.link != Link::Communication(Scope::External)
    }

    /// Whether both accesses are to one location.
    pub fn is_same_location(self) -> bool {
        !matches!(self.link, Link::Program(_, Place::Different))
    }

    /// What this edge and the next one say of the access between them, if they
    /// fit together.
    pub(super) fn meet(self, next: Self) -> Option<Access> {
        self.target.merge(next.source)
    }
}

/// The name that diy has for it: `Rfe`, `PodWR`, `MFencedWW`. Where an access is
/// atomic, two letters follow: `PodWRAP`.
impl fmt::Display for Edge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (source, target) = (self.source.direction(), self.target.direction());
        match self.link {
            Link::Communication(scope) => {
                f.write_str(match (source, target) {
                    (Direction::Write, Direction::Write) => "Co",
                    (Direction::Write, Direction::Read) => "Rf",
                    (Direction::Read, _) => "Fr",
                })?;
                f.write_str(if scope == Scope::External { "e" } else { "i" })?;
            }
            Link::Program(barrier, place) => {
                let place = if place == Place::Different { 'd' } else { 's' };
                let (source, target) = (source.letter(), target.letter());
                write!(f, "{}{place}{source}{target}", barrier.prefix())?;
            }
        }
        if self.source == Access::Exchange || self.target == Access::Exchange {
            write!(f, "{}{}", self.source.annotation(), self.target.annotation())?;
        }
        Ok(())
    }
}

impl FromStr for Edge {
    type Err = GenerateError;

    /// Reads a name. `Ws` is an older name for `Co`.
    fn from_str(word: &str) -> Result<Self, GenerateError> {
        let new = match word.strip_prefix("Ws") {
            Some(rest) => format!("Co{rest}"),
            None => word.to_owned(),
        };
        Self::all().find(|edge| edge.to_string() == new).ok_or_else(|| {
            let names: Vec<String> = Self::all().map(|e| e.to_string()).collect();
            let meant = suggest::closest(word, names.iter().map(String::as_str));
            GenerateError::UnknownEdge { word: word.to_owned(), meant: meant.map(str::to_owned) }
        })
    }
}
