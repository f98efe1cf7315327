//! Which shard a configuration belongs to.

use weir_model::answer::Buffered;
use weir_model::ids::{ProcessId, StateId, VarId};
use weir_model::system::System;

/// The first number and the factor of the FNV-1a hash of 64 bits.
const BASIS: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01b3;

/// Says which shard a configuration belongs to, by a hash of the names of its control states, its
/// memory and its buffers: the same in every process, whatever numbers it gives to states and
/// values.
///
/// A word `w` of 64 bits changes the hash `h` to `g ^ (g >> 32)` with `g = (h ^ w) · 0x100000001b3`.
/// It begins with `0xcbf29ce484222325`. The words are, for each process, the FNV-1a hash of 64 bits
/// of the name of its control state; for each variable its value; for each process the number of
/// writes in its buffer, and for each write, oldest first, the number of the variable and the
/// value. A value is two words, of which the first has its lower bits. Of `n` shards the configuration
/// belongs to `(h >> 32) · n / 2^32`, rounded down.
#[derive(Clone, Debug)]
pub struct Router<'s> {
    system: &'s System,
    shards: u64,
    /// For each process and control state the hash of its name, as far as it is known.
    names: Vec<Vec<Option<u64>>>,
}

impl<'s> Router<'s> {
    /// For so many shards.
    pub fn new(system: &'s System, shards: usize) -> Self {
        let names = vec![Vec::new(); system.processes.len()];
        Self { system, shards: shards as u64, names }
    }

    /// The shard of a configuration.
    pub fn shard(&mut self, config: &Buffered) -> usize {
        let Buffered { controls, memory, buffers } = config;
        let mut hash = BASIS;
        let mut add = |word: u64| {
            hash = (hash ^ word).wrapping_mul(PRIME);
            hash ^= hash >> 32;
        };
        for (p, state) in controls.iter().enumerate() {
            add(self.name(ProcessId::new(p), *state));
        }
        let system = self.system;
        let add_value = |add: &mut dyn FnMut(u64), x: VarId, value| {
            let number = system.value(x, value);
            add(number as u64);
            add((number >> 64) as u64);
        };
        for (x, value) in memory.iter().enumerate() {
            add_value(&mut add, VarId::new(x), *value);
        }
        for buffer in buffers {
            add(buffer.oldest.len() as u64);
            for (x, value) in &buffer.oldest {
                add(x.index() as u64);
                add_value(&mut add, *x, *value);
            }
        }
        (((hash >> 32) * self.shards) >> 32) as usize
    }

    fn name(&mut self, process: ProcessId, state: StateId) -> u64 {
        let known = &mut self.names[process.index()];
        if known.len() <= state.index() {
            known.resize(state.index() + 1, None);
        }
        *known[state.index()].get_or_insert_with(|| {
            let name = self.system.state_name(process, state);
            name.bytes().fold(BASIS, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME))
        })
    }
}
