//! Macros that fail or print.
//!
//! A failure passes the text of the assertion to `weir_fail`. The arguments of a message are not
//! formatted: formatting calls through tables of function pointers, which a reader would have to
//! follow, and the values are in the state at which the run ends. The text of a message is its
//! format string.

#[doc(hidden)]
#[macro_export]
macro_rules! __weir_assert {
    ($cond:expr $(,)?) => {
        if !$cond {
            $crate::sys::fail($crate::concat!("assertion failed: ", $crate::stringify!($cond)))
        }
    };
    ($cond:expr, $text:literal $($rest:tt)*) => {
        if !$cond {
            $crate::sys::fail($crate::concat!(
                "assertion failed: ",
                $crate::stringify!($cond),
                ": ",
                $text
            ))
        }
    };
    ($cond:expr, $($rest:tt)+) => {
        if !$cond {
            $crate::sys::fail($crate::concat!("assertion failed: ", $crate::stringify!($cond)))
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __weir_assert_eq {
    ($left:expr, $right:expr $(,)?) => {
        match (&$left, &$right) {
            (left, right) => {
                if !(*left == *right) {
                    $crate::sys::fail($crate::concat!(
                        "assertion failed: ",
                        $crate::stringify!($left),
                        " == ",
                        $crate::stringify!($right)
                    ))
                }
            }
        }
    };
    ($left:expr, $right:expr, $text:literal $($rest:tt)*) => {
        match (&$left, &$right) {
            (left, right) => {
                if !(*left == *right) {
                    $crate::sys::fail($crate::concat!(
                        "assertion failed: ",
                        $crate::stringify!($left),
                        " == ",
                        $crate::stringify!($right),
                        ": ",
                        $text
                    ))
                }
            }
        }
    };
    ($left:expr, $right:expr, $($rest:tt)+) => {
        $crate::__weir_assert_eq!($left, $right)
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __weir_assert_ne {
    ($left:expr, $right:expr $(,)?) => {
        match (&$left, &$right) {
            (left, right) => {
                if *left == *right {
                    $crate::sys::fail($crate::concat!(
                        "assertion failed: ",
                        $crate::stringify!($left),
                        " != ",
                        $crate::stringify!($right)
                    ))
                }
            }
        }
    };
    ($left:expr, $right:expr, $text:literal $($rest:tt)*) => {
        match (&$left, &$right) {
            (left, right) => {
                if *left == *right {
                    $crate::sys::fail($crate::concat!(
                        "assertion failed: ",
                        $crate::stringify!($left),
                        " != ",
                        $crate::stringify!($right),
                        ": ",
                        $text
                    ))
                }
            }
        }
    };
    ($left:expr, $right:expr, $($rest:tt)+) => {
        $crate::__weir_assert_ne!($left, $right)
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __weir_debug_assert {
    ($($arg:tt)*) => { if $crate::cfg!(debug_assertions) { $crate::__weir_assert!($($arg)*); } };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __weir_debug_assert_eq {
    ($($arg:tt)*) => { if $crate::cfg!(debug_assertions) { $crate::__weir_assert_eq!($($arg)*); } };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __weir_debug_assert_ne {
    ($($arg:tt)*) => { if $crate::cfg!(debug_assertions) { $crate::__weir_assert_ne!($($arg)*); } };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __weir_panic {
    () => { $crate::sys::fail("explicit panic") };
    ("{}", $text:literal $(,)?) => { $crate::sys::fail($text) };
    ($text:literal $($rest:tt)*) => { $crate::sys::fail($crate::concat!("panic: ", $text)) };
    ($($rest:tt)+) => { $crate::sys::fail($crate::concat!("panic: ", $crate::stringify!($($rest)+))) };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __weir_unreachable {
    () => { $crate::sys::fail("entered unreachable code") };
    ($text:literal $($rest:tt)*) => { $crate::sys::fail($crate::concat!("entered unreachable code: ", $text)) };
    ($($rest:tt)+) => { $crate::sys::fail($crate::concat!("entered unreachable code: ", $crate::stringify!($($rest)+))) };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __weir_todo {
    () => {
        $crate::sys::fail("not yet implemented")
    };
    ($text:literal $($rest:tt)*) => {
        $crate::sys::fail($crate::concat!("not yet implemented: ", $text))
    };
    ($($rest:tt)+) => {
        $crate::sys::fail("not yet implemented")
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __weir_unimplemented {
    () => {
        $crate::sys::fail("not implemented")
    };
    ($text:literal $($rest:tt)*) => {
        $crate::sys::fail($crate::concat!("not implemented: ", $text))
    };
    ($($rest:tt)+) => {
        $crate::sys::fail("not implemented")
    };
}

/// Evaluates what is to be printed, and prints nothing.
#[doc(hidden)]
#[macro_export]
macro_rules! __weir_no_output {
    () => { () };
    ($text:expr $(,)?) => { () };
    ($text:expr, $($args:tt)+) => { $crate::__weir_evaluate!($($args)+) };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __weir_evaluate {
    ($(,)?) => { () };
    ($name:ident = $arg:expr $(, $($rest:tt)*)?) => {{ let _ = &$arg; $crate::__weir_evaluate!($($($rest)*)?) }};
    ($arg:expr $(, $($rest:tt)*)?) => {{ let _ = &$arg; $crate::__weir_evaluate!($($($rest)*)?) }};
}

/// Returns what it is given.
#[doc(hidden)]
#[macro_export]
macro_rules! __weir_dbg {
    () => { () };
    ($value:expr $(,)?) => { match $value { value => value } };
    ($($value:expr),+ $(,)?) => { ($($crate::__weir_dbg!($value)),+,) };
}

/// A variable of each thread. A value that is known to the compiler (`const { … }`) and needs no
/// `Drop` is a plain thread-local variable; all others are made when a thread uses them first.
#[doc(hidden)]
#[macro_export]
#[allow_internal_unstable(thread_local)]
#[allow_internal_unsafe]
macro_rules! __weir_thread_local {
    () => {};
    ($(#[$attr:meta])* $vis:vis static $name:ident: $t:ty = const $init:block $(; $($rest:tt)*)?) => {
        $(#[$attr])*
        $vis const $name: $crate::thread::LocalKey<$t> = {
            #[inline]
            fn get(_: $crate::option::Option<&mut $crate::option::Option<$t>>) -> *const $t {
                #[thread_local]
                static VALUE: $crate::thread::Eager<$t> = $crate::thread::Eager::new(const $init);
                VALUE.get()
            }
            unsafe { $crate::thread::LocalKey::new(get) }
        };
        $($crate::__weir_thread_local!($($rest)*);)?
    };
    ($(#[$attr:meta])* $vis:vis static $name:ident: $t:ty = $init:expr $(; $($rest:tt)*)?) => {
        $(#[$attr])*
        $vis const $name: $crate::thread::LocalKey<$t> = {
            #[inline]
            fn init() -> $t { $init }
            #[inline]
            fn get(given: $crate::option::Option<&mut $crate::option::Option<$t>>) -> *const $t {
                #[thread_local]
                static VALUE: $crate::thread::Lazy<$t> = $crate::thread::Lazy::new();
                VALUE.get(given, init)
            }
            unsafe { $crate::thread::LocalKey::new(get) }
        };
        $($crate::__weir_thread_local!($($rest)*);)?
    };
}
