//! A stand-in for `std`, for programs that Weir reads.
//!
//! It re-exports the real one. Explicit items win over a glob import, so what is defined here
//! replaces what concerns threads, waiting, time and output. Everything that waits is written with
//! the functions of [`sys`], which Weir knows. Nothing here spins, calls the operating system or
//! formats.
//!
//! * A panic ends the program, so nothing is ever poisoned, and `join` always returns `Ok`.
//! * A wait with a time limit may end at any moment: time does not pass here.
//! * Output is not written. Its arguments are evaluated.
//!
//! All functions are `#[inline]`: the compiler then writes them into the module of the program, and
//! one module is all that has to be read. The few statics are in the module of this crate.
#![no_std]
#![feature(
    allow_internal_unstable,
    allow_internal_unsafe,
    const_eval_select,
    core_intrinsics,
    negative_impls,
    never_type,
    prelude_import,
    thread_local,
    decl_macro,
    dropck_eyepatch
)]
#![allow(internal_features, unused_features, stable_features, clippy::all)]

#[macro_use]
extern crate std as real;
extern crate weir_native;

pub use real::*;

#[macro_use]
mod macros;
pub mod collections;
pub mod env;
pub mod hash;
pub mod hint;
#[cfg(unix)]
pub mod os;
pub mod panic;
pub mod prelude;
pub mod process;
pub mod sync;
#[doc(hidden)]
pub mod sys;
#[doc(hidden)]
pub mod tasks;
pub mod thread;
pub mod time;

pub use __weir_assert as assert;
pub use __weir_assert_eq as assert_eq;
pub use __weir_assert_ne as assert_ne;
pub use __weir_dbg as dbg;
pub use __weir_debug_assert as debug_assert;
pub use __weir_debug_assert_eq as debug_assert_eq;
pub use __weir_debug_assert_ne as debug_assert_ne;
pub use __weir_no_output as eprint;
pub use __weir_no_output as eprintln;
pub use __weir_no_output as print;
pub use __weir_no_output as println;
pub use __weir_panic as panic;
pub use __weir_thread_local as thread_local;
pub use __weir_todo as todo;
pub use __weir_unimplemented as unimplemented;
pub use __weir_unreachable as unreachable;
