//! One module per command. Each returns the exit status.

pub mod bench;
pub mod certify;
pub mod channel;
pub mod check;
pub mod compare;
pub mod convert;
pub mod game;
pub mod graph;
pub mod litmus;
pub mod live;
pub mod models;
pub mod outcomes;
pub mod reduce;
pub mod show;
mod stats;

use std::io::Write;
use std::path::Path;

use anstream::{eprintln, stdout};
use weir::{LoadError, Verdict};
use weir_model::program::Program;

use crate::terminal;

/// The exit status, worst first where several files are given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Status {
    Fine = 0,
    Violated = 1,
    Wrong = 2,
    Unknown = 3,
}

impl Status {
    fn rank(self) -> u8 {
        match self {
            Self::Fine => 0,
            Self::Unknown => 1,
            Self::Violated => 2,
            Self::Wrong => 3,
        }
    }

    /// The worse of two.
    pub fn and(self, other: Self) -> Self {
        if other.rank() > self.rank() { other } else { self }
    }
}

impl From<Verdict> for Status {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Holds => Self::Fine,
            Verdict::Violated => Self::Violated,
            Verdict::Unknown => Self::Unknown,
        }
    }
}

/// Says that a program has no property, and what to do about it.
pub fn asks_for_nothing(file: &str, program: &Program) -> Status {
    if program.object.is_some() || !program.live.is_empty() {
        return fail(&format!("`{file}` asks about runs without end: use `weir live`"));
    }
    if !program.games.is_empty() {
        return fail(&format!("`{file}` asks about games: use `weir game`"));
    }
    let advice = "write one, such as `never p@here and q@there`, or use `weir outcomes`";
    fail(&format!("`{file}` asks for nothing: {advice}"))
}

/// Says what is wrong with a file.
fn complain(error: &LoadError) -> Status {
    eprintln!("{}", error.render(terminal::errors_in_color()));
    Status::Wrong
}

/// Says what else is wrong.
fn fail(message: &str) -> Status {
    eprintln!("error: {message}");
    Status::Wrong
}

/// Prints; a reader that has gone away (`weir … | head`) is no error.
fn print(text: &str) {
    let mut out = stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// Writes a file whole or not at all.
fn write_whole(path: &Path, text: &str) -> Status {
    let mut part = path.as_os_str().to_owned();
    part.push(format!(".{}.tmp", std::process::id()));
    match std::fs::write(&part, text).and_then(|()| std::fs::rename(&part, path)) {
        Ok(()) => Status::Fine,
        Err(error) => {
            let _ = std::fs::remove_file(&part);
            fail(&format!("cannot write `{}`: {error}", path.display()))
        }
    }
}

/// Prints a line of JSON.
fn print_json(value: &impl serde::Serialize) {
    match serde_json::to_string(value) {
        Ok(text) => print(&(text + "\n")),
        Err(error) => {
            fail(&error.to_string());
        }
    }
}
