//! Why there is no system of a program.

use std::fmt;

use crate::ids::SpanId;
use crate::limits::Stop;

/// A program whose reads cannot be guessed: a variable has no finite domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildError {
    /// The variable.
    pub variable: String,
    /// What was declared: the variable, or its array.
    pub declared: String,
    /// Where.
    pub span: SpanId,
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "variable `{}` has no finite domain to guess reads from", self.variable)
    }
}

impl std::error::Error for BuildError {}

/// Why there is no system of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unbuilt {
    /// The program is no system.
    Wrong(BuildError),
    /// A limit was reached while it was built.
    Stopped(Stop),
}

impl From<BuildError> for Unbuilt {
    fn from(error: BuildError) -> Self {
        Self::Wrong(error)
    }
}

impl From<Stop> for Unbuilt {
    fn from(stop: Stop) -> Self {
        Self::Stopped(stop)
    }
}

impl fmt::Display for Unbuilt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Wrong(error) => error.fmt(f),
            Self::Stopped(stop) => write!(f, "{stop} while building the automata"),
        }
    }
}

impl std::error::Error for Unbuilt {}

impl Unbuilt {
    /// What went wrong without a limit.
    pub(super) fn without_limits(self) -> BuildError {
        match self {
            Self::Wrong(error) => error,
            Self::Stopped(stop) => unreachable!("{stop}, although there is none"),
        }
    }
}
