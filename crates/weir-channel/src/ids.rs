//! Dense ids, one type for each kind of thing that a machine has.

use std::fmt;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident($repr:ty)) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub(crate) $repr);

        impl $name {
            /// The id as an index into the table that it numbers.
            #[inline]
            pub fn index(self) -> usize {
                self.0 as usize
            }

            /// The id of the entry at `index`. Tables are checked against their
            /// limit before anything is added to them.
            #[inline]
            pub(crate) fn new(index: usize) -> Self {
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
    /// A control state, `q` of `Q`.
    StateId(u16)
);
id!(
    /// A channel, `c` of `C`.
    ChannelId(u16)
);
id!(
    /// A message, `a` of the channel alphabet `Σ`.
    MessageId(u16)
);
id!(
    /// A transition label, `ℓ` of `Λ`.
    LabelId(u16)
);
id!(
    /// A transition of `Δ`.
    TransitionId(u32)
);
