//! Why a request has no answer.

use std::fmt;

use weir_front::Diagnostic;

use crate::certify::Unaccepted;
use crate::load::LoadError;
use crate::solver::CheckError;

/// Why a request has no answer. That a property is violated or unknown is an answer.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The text is no program.
    Load(LoadError),
    /// The request does not fit the program, the memory model or the engine; in words, why.
    Unsupported(String),
    /// What was found is not accepted by its checker.
    Internal(Unaccepted),
    /// Two engines say what cannot both be true; in words, what.
    Contradiction(String),
}

impl Error {
    pub(crate) fn unsupported(message: impl Into<String>) -> Self {
        Self::Unsupported(message.into())
    }

    /// What is wrong with the text, place by place; empty if it is something else.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        match self {
            Self::Load(LoadError::Wrong { errors, .. }) => errors,
            _ => &[],
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Load(error) => error.fmt(f),
            Self::Unsupported(reason) => f.write_str(reason),
            Self::Internal(error) => error.fmt(f),
            Self::Contradiction(what) => write!(f, "internal error: two engines disagree: {what}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Load(error) => Some(error),
            Self::Unsupported(_) | Self::Contradiction(_) => None,
            Self::Internal(error) => Some(error),
        }
    }
}

impl From<LoadError> for Error {
    fn from(error: LoadError) -> Self {
        Self::Load(error)
    }
}

impl From<CheckError> for Error {
    fn from(error: CheckError) -> Self {
        match error {
            CheckError::Internal(error) => Self::Internal(error),
            CheckError::Contradiction(what) => Self::Contradiction(what),
            error => Self::Unsupported(error.to_string()),
        }
    }
}

impl From<Unaccepted> for Error {
    fn from(error: Unaccepted) -> Self {
        Self::Internal(error)
    }
}
