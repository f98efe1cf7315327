//! All configurations of a program, for a proof that is a closed set in shards
//! ([`weir_check::shards`]): each worker keeps those of one shard, and writes them.
//!
//! The search itself stores fewer configurations, and divides them by a hash of their bytes. A
//! proof has to be closed under every single step, and a checker has to find out by names alone
//! which shard a configuration belongs to. So this is a second search, in which the hash of the
//! proof says who keeps what.

use std::fmt;

use weir_check::shards::{Folder, Listed, Router, ShardWriter, shard_name};
use weir_engine::reachable::NotListed;
use weir_model::answer::Buffered;
use weir_model::memory_model::MemoryModel;
use weir_model::system::System;

/// Why there is no proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoShards {
    /// The configurations are not all known: a limit was reached, or a process was lost.
    Unknown(String),
    /// A file cannot be written.
    Unwritten(String),
}

impl fmt::Display for NoShards {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(reason) | Self::Unwritten(reason) => f.write_str(reason),
        }
    }
}

impl std::error::Error for NoShards {}

impl From<NotListed> for NoShards {
    fn from(reason: NotListed) -> Self {
        Self::Unknown(reason.to_string())
    }
}

/// Hands over configurations, until one cannot be taken.
pub type Each<'e> =
    &'e mut dyn FnMut(&mut dyn FnMut(&Buffered) -> Result<(), String>) -> Result<(), String>;

/// Where configurations are written to.
pub struct Listing<'l> {
    pub system: &'l System,
    pub model: MemoryModel,
    pub folder: &'l dyn Folder,
}

impl<'l> Listing<'l> {
    /// Who keeps which configuration.
    pub fn router(&self, shards: usize) -> Router<'l> {
        Router::new(self.system, shards)
    }

    /// Writes a shard of so many: the configurations that `each` hands over.
    pub fn write(&self, (shard, shards): (usize, usize), each: Each<'_>) -> Result<Listed, String> {
        let failed = |error| format!("cannot write `{}`: {error}", shard_name(shard));
        let writer = ShardWriter::new(self.system, self.model, (shard, shards), self.folder);
        let mut writer = writer.map_err(failed)?;
        each(&mut |config| writer.add(config).map_err(failed))?;
        writer.finish().map_err(failed)
    }
}
