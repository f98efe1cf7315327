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
use weir_engine::store::unpack;
use weir_model::limits::INTERVAL;
use weir_model::memory_model::MemoryModel;
use weir_model::system::System;

use crate::store::Store;
use crate::worker::Common;

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

    /// Writes a shard of so many.
    pub fn write(
        &self,
        common: &Common<'_>,
        store: &Store,
        (shard, shards): (usize, usize),
    ) -> Result<Listed, String> {
        let failed = |error| format!("cannot write `{}`: {error}", shard_name(shard));
        let writer = ShardWriter::new(self.system, self.model, (shard, shards), self.folder);
        let mut writer = writer.map_err(failed)?;
        let mut config = Vec::new();
        for id in 0..store.len() {
            if (id as usize).is_multiple_of(INTERVAL) {
                common.budget.check().map_err(|stop| stop.to_string())?;
            }
            config.clear();
            unpack(&store.get(id).map_err(failed)?, &mut config);
            writer.add(&common.shared.buffered(&config)).map_err(failed)?;
        }
        writer.finish().map_err(failed)
    }
}
