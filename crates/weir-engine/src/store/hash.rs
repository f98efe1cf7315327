//! Hashes of packed configurations.

use std::hash::Hasher;

use rustc_hash::FxHasher;

use super::TABLES;

/// Half of the hash of a packed configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hash(u32);

impl Hash {
    /// The hash of a packed configuration: the same on every machine.
    #[inline]
    pub fn of(packed: &[u8]) -> Self {
        let mut hasher = FxHasher::default();
        hasher.write(packed);
        // The hasher has its best 32 bits in the lowest 26 and the highest 6.
        let hash = hasher.finish();
        Self(hash as u32 & 0x03ff_ffff | (hash >> 58 << 26) as u32)
    }

    /// The worker, of so many, that keeps the configuration. The bits that the tables use say
    /// little about it.
    #[inline]
    pub fn worker(self, peers: usize) -> usize {
        let mixed = u64::from(self.0.wrapping_mul(0x9e37_79b1));
        ((mixed * peers as u64) >> 32) as usize
    }

    /// The hash table that it is in.
    #[inline]
    pub(crate) fn table(self) -> usize {
        (self.0 >> 20) as usize % TABLES
    }

    /// As much as a hash table wants: it uses the highest and the lowest bits.
    #[inline]
    pub(crate) fn spread(self) -> u64 {
        u64::from(self.0) << 32 | u64::from(self.0)
    }
}
