//! One module per command. Each returns the exit status.

pub mod ask;
pub mod batch;
pub mod cc;
pub mod certify;
pub mod channel;
pub mod check;
pub mod compare;
pub mod convert;
pub mod doctor;
pub mod errors;
mod evidence;
pub mod explain;
pub mod fences;
pub mod fmt;
pub mod game;
pub mod graph;
pub mod litmus;
pub mod live;
pub mod lsp;
pub mod models;
pub mod outcomes;
pub mod package;
mod page;
mod pictures;
pub mod reduce;
pub mod robust;
pub mod serve;
pub mod shell;
pub mod show;
pub mod step;
pub mod test;
pub mod watch;

use std::process::ExitCode;

use crate::output::{
    complain, fail, internal, note, print, print_json, reject, write_json, write_whole,
};

/// The exit status, worst first where several files are given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Status {
    /// Everything holds.
    Fine = 0,
    /// Something is violated.
    Violated = 1,
    /// The input or the command line is wrong.
    Wrong = 2,
    /// Something is unknown.
    Unknown = 3,
    /// Weir contradicts itself: a checker rejects what was found.
    Internal = 4,
}

impl Status {
    fn rank(self) -> u8 {
        match self {
            Self::Fine => 0,
            Self::Unknown => 1,
            Self::Violated => 2,
            Self::Wrong => 3,
            Self::Internal => 4,
        }
    }

    /// The status of a process that ended with this code.
    pub fn from_code(code: i32) -> Option<Self> {
        let all = [Self::Fine, Self::Violated, Self::Wrong, Self::Unknown, Self::Internal];
        all.into_iter().find(|status| *status as i32 == code)
    }

    /// The worse of two.
    pub fn and(self, other: Self) -> Self {
        if other.rank() > self.rank() { other } else { self }
    }
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        Self::from(status as u8)
    }
}

/// Says that nothing is known because a limit was reached.
fn stopped(message: &str) -> Status {
    note(&format!("unknown: {message}"));
    Status::Unknown
}
