//! Dense ids. After the front ends nothing is identified by its name: processes,
//! variables, control states and values are numbers, and each kind of number has its own
//! type, so that the compiler keeps them apart.

use std::fmt;
use std::hash::{Hash, Hasher};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident($repr:ty)) => {
        unhashed_id!($(#[$doc])* #[derive(Hash)] $name($repr));
    };
}

macro_rules! unhashed_id {
    ($(#[$doc:meta])* $name:ident($repr:ty)) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub struct $name(pub $repr);

        impl $name {
            /// The id as an index into the table that it numbers.
            #[inline]
            pub fn index(self) -> usize {
                self.0 as usize
            }

            /// The id of the entry at `index`.
            ///
            /// # Panics
            /// If the table is larger than the id's range; every table that is
            /// numbered this way is checked against its limit when it is built.
            #[inline]
            pub fn new(index: usize) -> Self {
                Self(<$repr>::try_from(index).expect("table within the range of its ids"))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.0)
            }
        }
    };
}

id!(
    /// A process of a program or a system.
    ProcessId(u16)
);
id!(
    /// A shared variable; an array is a run of consecutive variables.
    VarId(u16)
);
id!(
    /// A register of one process.
    RegId(u16)
);
id!(
    /// A label of one process.
    LabelId(u16)
);
id!(
    /// A control state of one process of a system.
    StateId(u32)
);
id!(
    /// A value of one variable, numbered in the order in which values are met.
    ValueId(u32)
);
id!(
    /// A transition of one process of a system.
    TransitionId(u32)
);
id!(
    /// A method of an object.
    MethodId(u16)
);
id!(
    /// A named set of constants.
    EnumId(u16)
);
unhashed_id!(
    /// A place in a source text. Opaque here: only the front end that made it
    /// can tell which characters it stands for.
    SpanId(u32)
);

/// One number of a packed configuration. A configuration is one flat slice of cells: a cell for
/// the [control state](StateId) of each process, one for the [value](ValueId) of each variable,
/// and then whatever else the semantics or the search keeps, such as the contents of buffers.
pub type Cell = u32;

impl From<Cell> for StateId {
    #[inline]
    fn from(cell: Cell) -> Self {
        Self(cell)
    }
}

impl From<Cell> for ValueId {
    #[inline]
    fn from(cell: Cell) -> Self {
        Self(cell)
    }
}

/// Where something stands in its text makes no difference to a
/// [fingerprint](crate::fingerprint).
impl Hash for SpanId {
    fn hash<H: Hasher>(&self, _state: &mut H) {}
}

impl SpanId {
    /// No place at all.
    pub const NONE: Self = Self(u32::MAX);
}
