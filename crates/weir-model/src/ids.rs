//! Dense ids. After the front ends nothing is identified by its name: processes,
//! variables, control states and values are numbers, and each kind of number has its own
//! type, so that the compiler keeps them apart.

use std::hash::{Hash, Hasher};

/// Defines a dense id: a number of its own type that stands for an entry of a table.
///
/// ```
/// weir_model::dense_id!(
///     /// A ticket.
///     #[derive(Hash)]
///     TicketId(u16)
/// );
/// assert_eq!(TicketId::new(7).index(), 7);
/// ```
#[macro_export]
macro_rules! dense_id {
    ($(#[$attribute:meta])* $name:ident($repr:ty)) => {
        $(#[$attribute])*
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

        impl ::std::fmt::Debug for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.0)
            }
        }
    };
}

dense_id!(
    /// A process of a program or a system.
    #[derive(Hash)]
    ProcessId(u16)
);
dense_id!(
    /// A shared variable; an array is a run of consecutive variables.
    #[derive(Hash)]
    VarId(u16)
);
dense_id!(
    /// A register of one process.
    #[derive(Hash)]
    RegId(u16)
);
dense_id!(
    /// A label of one process.
    #[derive(Hash)]
    LabelId(u16)
);
dense_id!(
    /// A control state of one process of a system.
    #[derive(Hash)]
    StateId(u32)
);
dense_id!(
    /// A value of one variable, numbered in the order in which values are met.
    #[derive(Hash)]
    ValueId(u32)
);
dense_id!(
    /// A transition of one process of a system.
    #[derive(Hash)]
    TransitionId(u32)
);
dense_id!(
    /// A question, by its place among those that are asked.
    #[derive(Hash)]
    QuestionId(u32)
);
dense_id!(
    /// A method of an object.
    #[derive(Hash)]
    MethodId(u16)
);
dense_id!(
    /// A named set of constants.
    #[derive(Hash)]
    EnumId(u16)
);
dense_id!(
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
