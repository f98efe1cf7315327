//! What workers search, as the protocol of rounds sees it (`round`).

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use weir_engine::Expansion;
use weir_engine::store::numbers::{number_as, push_number};
use weir_engine::store::{Parent, StepKey};

use crate::fault::Fault;

/// What a worker did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerStats {
    /// The process that it belongs to.
    pub process: usize,
    /// Configurations that it keeps.
    pub stored: u64,
    /// Configurations that it expanded.
    pub expanded: u64,
    /// Steps that it took.
    pub steps: u64,
    /// Whether it left no step out because of the bound.
    pub within_bound: bool,
    /// Bytes that its configurations take up in memory.
    pub bytes: u64,
    /// Bytes that its configurations take up on disk.
    pub on_disk: u64,
    /// Bytes that it sent to other workers.
    pub sent: u64,
    /// Milliseconds that it waited for others.
    pub waited: u64,
    /// The limit that it reached, if it did.
    pub stopping: Option<String>,
}

/// How far a worker is, or the whole search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Count {
    /// Configurations stored.
    pub stored: u64,
    /// Configurations expanded.
    pub expanded: u64,
    /// Steps taken.
    pub steps: u64,
    /// The level.
    pub depth: u64,
    /// Bytes that the configurations take up.
    pub bytes: u64,
}

/// A configuration of some worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[repr(Rust, packed(2))]
pub struct Place {
    /// Its number there.
    pub id: u32,
    /// The worker that keeps it.
    pub worker: u16,
}

impl Parent for Place {
    const NONE: Self = Self { worker: u16::MAX, id: u32::MAX };

    fn code(self) -> u64 {
        u64::from(self.worker) << 32 | u64::from(self.id)
    }

    fn decode(code: u64) -> Self {
        Self { id: code as u32, worker: (code >> 32) as u16 }
    }
}

/// Why a worker cannot go on.
#[derive(Debug)]
pub enum Halt {
    /// A limit was reached: all workers stop, and say what they know.
    Stopped(String),
    /// Something went wrong: there is no answer.
    Failed(Fault),
}

impl From<Fault> for Halt {
    fn from(fault: Fault) -> Self {
        Self::Failed(fault)
    }
}

/// What came of a configuration that was to be expanded without creating anything.
pub enum Tried {
    /// It was expanded.
    Expanded(Expansion),
    /// It is left to all workers.
    Left {
        /// Whether it may settle a question for which the path to it is needed.
        needs_path: bool,
    },
}

/// A configuration that is left to all workers.
pub struct Left<C> {
    pub key: u64,
    pub place: Place,
    pub needs_path: bool,
    pub config: C,
}

/// What is searched: the configurations that one worker keeps, and how they are expanded, sent and
/// stored. All methods that return a [`Halt`] may reach a limit or read something wrong.
pub trait Space {
    /// A configuration, as it is here.
    type Config;
    /// A configuration on a path, with the step that leads to it if that is needed.
    type Link;
    /// What was said to a worker before, and what it has said: numbers may stand for it.
    type Outbox: Default;
    type Inbox: Default;
    /// What a worker says in each report about questions.
    type Said: Serialize + DeserializeOwned;

    /// Stores the initial configurations that this worker keeps. Returns the keys of the first level.
    fn begin(&mut self, me: usize, peers: usize) -> Result<Vec<u64>, Halt>;

    /// Whether the search begins again, after it saw all or did not, or was stopped.
    fn begins_again(&mut self, _saw_all: bool, _has_stopped: bool) -> bool {
        false
    }

    /// Expands a configuration of the level without creating control states or values.
    fn try_expand(&mut self, i: usize, key: u64) -> Result<Tried, Halt>;

    /// Expands a configuration.
    fn expand(&mut self, config: &Self::Config) -> Result<Expansion, Halt>;

    /// Sends what the last expansion reached to the workers that keep it.
    fn route(&mut self, i: usize, key: u64, packets: &mut Packets) -> Result<(), Halt>;

    /// Keeps what a worker has reached.
    fn keep(&mut self, from: usize, bytes: &[u8]) -> Result<(), Halt>;

    /// The number of a configuration of the level.
    fn id(&self, i: usize) -> u32;

    /// Appends a configuration to a message.
    fn write(&self, id: u32, out: &mut Self::Outbox, bytes: &mut Vec<u8>) -> Result<(), Halt>;

    /// Takes a configuration from a message.
    fn read(&mut self, inbox: &mut Self::Inbox, bytes: &mut &[u8]) -> Result<Self::Config, Halt>;

    /// Appends a configuration of a path, and returns where it was reached from.
    fn write_link(
        &self,
        id: u32,
        outbox: &mut Self::Outbox,
        bytes: &mut Vec<u8>,
    ) -> Result<Option<Place>, Halt>;

    /// Takes a configuration of a path from a message.
    fn read_link(&mut self, inbox: &mut Self::Inbox, bytes: &mut &[u8])
    -> Result<Self::Link, Halt>;

    /// Finds out which questions a configuration settles, as one thread does when its turn has come.
    /// Returns `false` if the path to it is needed, and not there.
    fn judge(
        &mut self,
        left: &Left<Self::Config>,
        path: Option<Vec<Self::Link>>,
    ) -> Result<bool, Halt>;

    /// What this worker knows about the questions.
    fn say(&self) -> Self::Said;

    /// Hears what all workers say. Some may be stopping.
    fn hear(&mut self, said: Vec<Self::Said>, is_stopping: bool) -> Result<(), Fault>;

    /// The key at which the search ends, by what is known so far.
    fn end(&self) -> Option<u64>;

    /// The level is over, or the search was stopped in it: what was seen settles questions.
    fn settle(&mut self);

    /// Goes to the next level. Returns how each of its configurations was reached first.
    fn close_level(&mut self) -> Result<Vec<StepKey>, Halt>;

    /// Whether the search is cut short after a level, when so many configurations are expanded.
    fn is_cut(&mut self, _expanded: u64) -> bool {
        false
    }

    /// Configurations stored.
    fn stored(&self) -> u64;

    /// Bytes that are taken up.
    fn bytes(&self) -> usize;
}

/// For each worker, what is to be sent to it, and how many packets were.
pub struct Packets {
    pub outgoing: Vec<Vec<u8>>,
    sent: Vec<u64>,
    /// The bytes of the largest one.
    pub largest: usize,
}

impl Packets {
    /// Nothing for so many workers.
    pub fn new(peers: usize) -> Self {
        Self { outgoing: vec![Vec::new(); peers], sent: vec![0; peers], largest: 0 }
    }

    /// Appends a step to the packet for a worker. What follows describes where it leads.
    pub fn add(&mut self, to: usize, key: StepKey, id: u32, write: impl FnOnce(&mut Vec<u8>)) {
        let bytes = &mut self.outgoing[to];
        if bytes.is_empty() {
            push_number(self.sent[to], bytes);
            self.sent[to] += 1;
        }
        // There is one for each step, so these are not worth the time of a shorter encoding.
        bytes.extend_from_slice(&key.parent.to_le_bytes());
        bytes.extend_from_slice(&id.to_le_bytes());
        push_number(u64::from(key.index), bytes);
        write(bytes);
        self.largest = self.largest.max(bytes.len());
    }

    /// Takes the step from a packet that [`Packets::add`] has appended: its key, and the number of
    /// the configuration that it leads from.
    #[inline]
    pub fn take(bytes: &mut &[u8]) -> Option<(StepKey, u32)> {
        let (parent, rest) = bytes.split_first_chunk()?;
        let (id, rest) = rest.split_first_chunk()?;
        *bytes = rest;
        let key = StepKey { parent: u64::from_le_bytes(*parent), index: number_as(bytes)? };
        Some((key, u32::from_le_bytes(*id)))
    }
}
