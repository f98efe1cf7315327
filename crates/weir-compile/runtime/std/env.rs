//! `std::env`: a program that is analyzed has no environment, so that the answer does not depend on
//! it.

pub use real::env::*;
use real::ffi::{OsStr, OsString};
use real::string::String;

/// No variable is set.
#[inline]
pub fn var<K: AsRef<OsStr>>(key: K) -> Result<real::string::String, VarError> {
    let _ = key;
    Err(VarError::NotPresent)
}

/// No variable is set.
#[inline]
pub fn var_os<K: AsRef<OsStr>>(key: K) -> Option<OsString> {
    let _ = key;
    None
}

macro_rules! arguments {
    ($name:ident $of:ident $item:ty) => {
        /// The arguments: only the name of the program.
        #[derive(Debug)]
        pub struct $name {
            name: Option<$item>,
        }

        #[doc = "The arguments: only the name of the program."]
        #[inline]
        pub fn $of() -> $name {
            $name { name: Some(<$item>::from("program")) }
        }

        impl Iterator for $name {
            type Item = $item;
            #[inline]
            fn next(&mut self) -> Option<$item> {
                self.name.take()
            }
            #[inline]
            fn size_hint(&self) -> (usize, Option<usize>) {
                let left = self.name.is_some() as usize;
                (left, Some(left))
            }
        }

        impl DoubleEndedIterator for $name {
            #[inline]
            fn next_back(&mut self) -> Option<$item> {
                self.name.take()
            }
        }

        impl ExactSizeIterator for $name {}
    };
}

arguments! { Args args String }
arguments! { ArgsOs args_os OsString }
