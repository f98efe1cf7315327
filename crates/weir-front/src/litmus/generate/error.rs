//! What is wrong with a cycle.

use std::fmt;

use super::edge::{Access, Direction, Edge};
use super::{MAX_EDGES, MAX_THREADS, REGISTERS};

/// Why no test can be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GenerateError {
    /// A word is no edge.
    UnknownEdge {
        /// The word.
        word: String,
        /// The edge that may have been meant.
        meant: Option<String>,
    },
    /// One edge ends in a read and the next begins in a write, or the other way
    /// round.
    Mismatch(Edge, Edge),
    /// The cycle has too many edges.
    TooLong(usize),
    /// The cycle stays in one thread.
    OneThread,
    /// The cycle has too many threads.
    TooManyThreads(usize),
    /// The location changes once, so that it cannot be the first one again.
    OneChange(Edge),
    /// All is communication over one location, and so contradicts itself.
    NoProgramOrder,
    /// A thread reads and exchanges more than there are registers.
    TooManyRegisters(usize),
    /// A location is written too often for its order to be seen.
    TooManyWrites(usize),
}

impl fmt::Display for GenerateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownEdge { word, meant: Some(meant) } => {
                write!(f, "there is no edge `{word}`; did you mean `{meant}`?")
            }
            Self::UnknownEdge { word, meant: None } => {
                write!(
                    f,
                    "there is no edge `{word}`; edges are Rfe, Fre, Coe, Rfi, Fri, Coi, and Pod, \
                     Pos, MFenced, SFenced, LFenced with RR, RW, WR or WW"
                )
            }
            Self::Mismatch(edge, next) => {
                let name = |access: Access| match access.direction() {
                    Direction::Write => "write",
                    Direction::Read => "read",
                };
                let (ends, begins) = (name(edge.target()), name(next.source()));
                write!(
                    f,
                    "`{edge}` ends in a {ends}, but `{next}`, which comes next, begins with a {begins}"
                )
            }
            Self::TooLong(edges) => {
                write!(f, "the cycle has {edges} edges; at most {MAX_EDGES} are possible")
            }
            Self::OneThread => write!(
                f,
                "the cycle stays in one thread; at least two of its edges have to be Rfe, Fre or Coe"
            ),
            Self::TooManyThreads(threads) => {
                write!(f, "the cycle has {threads} threads; at most {MAX_THREADS} are possible")
            }
            Self::OneChange(edge) => write!(
                f,
                "only `{edge}` changes the location, so the cycle does not come back to the first one"
            ),
            Self::NoProgramOrder => write!(
                f,
                "every edge is communication over one location; some edge has to be Pod or Pos, or \
                 a fence"
            ),
            Self::TooManyRegisters(needed) => {
                write!(f, "a thread would need {needed} registers; there are {}", REGISTERS.len())
            }
            Self::TooManyWrites(writes) => write!(
                f,
                "a location is written {writes} times; the order of at most {} writes can be seen",
                REGISTERS.len() + 1
            ),
        }
    }
}

impl std::error::Error for GenerateError {}
