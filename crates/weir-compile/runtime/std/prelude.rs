//! The preludes, with the macros of this crate. Since Rust 1.94 macros are part of them.

macro_rules! preludes {
    ($($name:ident)+) => {
        $(
            #[doc(hidden)]
            pub mod $name {
                pub use real::prelude::$name::*;
                pub use crate::{
                    __weir_assert as assert, __weir_assert_eq as assert_eq, __weir_assert_ne as assert_ne,
                    __weir_dbg as dbg, __weir_debug_assert as debug_assert,
                    __weir_debug_assert_eq as debug_assert_eq, __weir_debug_assert_ne as debug_assert_ne,
                    __weir_no_output as eprint, __weir_no_output as eprintln, __weir_no_output as print,
                    __weir_no_output as println, __weir_panic as panic, __weir_thread_local as thread_local,
                    __weir_todo as todo, __weir_unimplemented as unimplemented,
                    __weir_unreachable as unreachable,
                };
            }
        )+
    };
}

preludes! { rust_2015 rust_2018 rust_2021 rust_2024 }

/// What a crate without `std` imports by name. Without macros: those of the real `core` or of this crate are in scope anyway, and a
/// name that a second prelude brings with another meaning would be ambiguous.
pub mod v1 {
    pub use real::prelude::v1::{
        AsMut, AsRef, Box, Clone, Copy, Debug, Default, DoubleEndedIterator, Drop, Eq, Err,
        ExactSizeIterator, Extend, Fn, FnMut, FnOnce, From, Hash, Into, IntoIterator, Iterator, None,
        Ok, Option, Ord, PartialEq, PartialOrd, Result, Send, Sized, Some, String, Sync, ToOwned,
        ToString, Unpin, Vec, drop,
    };
}
