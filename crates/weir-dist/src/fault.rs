//! What can go wrong where several processes search together.

use std::fmt;

/// Why a search on several machines ended without an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The processes did not come together.
    Apart(String),
    /// A process or a connection was lost, or a worker said something that it should not.
    Lost(String),
    /// Another worker of the same process has failed, and knows why.
    Elsewhere,
}

impl Fault {
    /// A worker said something that it should not.
    pub fn confused() -> Self {
        Self::Lost("the workers do not agree on how far the search is".to_owned())
    }

    /// A message that cannot be read.
    pub fn garbled() -> Self {
        Self::Lost("a worker received a message that it cannot read".to_owned())
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Apart(reason) | Self::Lost(reason) => f.write_str(reason),
            Self::Elsewhere => f.write_str("another worker has failed"),
        }
    }
}

impl std::error::Error for Fault {}
