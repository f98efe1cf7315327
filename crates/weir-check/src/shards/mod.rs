//! Closed sets in shards: the set of [`crate::closed`], divided among files, so that several
//! processes write it and several check it, none of which has to have all of it. The format and
//! what it means are in `docs/closed-set.md`.
//!
//! A hash of a configuration ([`Router`]) says which shard it belongs to. A *manifest* names all
//! shards, with the digest of each. The set may be checked in two ways:
//!
//! * as a whole ([`check`]), with all shards in memory and several threads;
//! * shard by shard. [`check_shard`] takes every step from the configurations of one shard. What
//!   is reached in another shard is an *obligation*: it is written to a file for that shard.
//!   [`discharge`] looks whether a shard has what the others expect of it. Both write what they
//!   have done into a *receipt*, and [`join`] accepts the set if there are receipts about all
//!   shards and all obligations of one and the same manifest.

mod checker;
mod lines;
mod route;
mod table;

use std::fmt;
use std::io::{self, Read, Write};

use serde::{Deserialize, Serialize};
use weir_model::answer::Buffered;
use weir_model::limits::Stop;
use weir_model::memory_model::MemoryModel;
use weir_model::system::System;

use crate::Rejected;
use crate::claim::Claims;
use crate::evidence::{counted, excluded, grouped};
use crate::header::Header;
use crate::sha256::Sha256;

pub use checker::{check, check_shard, discharge, join};
pub use route::Router;

use lines::Lines;

/// What `format` says in a manifest, in a shard, in a file of obligations, and in receipts.
pub const FORMAT: &str = "weir-sharded-set";
const SHARD: &str = "weir-shard";
const OBLIGATIONS: &str = "weir-obligations";
const CHECKED: &str = "weir-shard-checked";
const DISCHARGED: &str = "weir-shard-discharged";

/// The version of all of them.
pub const VERSION: u32 = 2;

/// The name of the hash that says which shard a configuration belongs to.
pub const HASH: &str = "weir-fnv-1";

/// The name of the file with the manifest.
pub const MANIFEST: &str = "manifest.json";

/// The most bytes of a manifest or a receipt.
pub const MAX_MANIFEST: u64 = 64 << 20;

/// The most shards.
const MAX_SHARDS: usize = 1 << 18;

/// The name of the file of a shard.
pub fn shard_name(shard: usize) -> String {
    format!("shard-{shard}.jsonl")
}

/// The name of the file with what one shard expects of another.
pub fn obligations_name(from: usize, to: usize) -> String {
    format!("obligations-{from}-{to}.jsonl")
}

/// The name of the receipt for the steps of a shard.
pub fn checked_name(shard: usize) -> String {
    format!("checked-{shard}.json")
}

/// The name of the receipt for what others expect of a shard.
pub fn discharged_name(shard: usize) -> String {
    format!("discharged-{shard}.json")
}

/// Where the files of a set are.
pub trait Folder: Sync {
    /// Opens a file.
    ///
    /// # Errors
    /// If it cannot be read.
    fn open(&self, name: &str) -> io::Result<Box<dyn Read + Send>>;

    /// Begins to write a file. It is there when it is finished, and not before.
    ///
    /// # Errors
    /// If it cannot be written.
    fn create(&self, name: &str) -> io::Result<Box<dyn Unfinished>>;

    /// Removes a file, if it is there.
    ///
    /// # Errors
    /// If it cannot be removed.
    fn remove(&self, name: &str) -> io::Result<()>;
}

/// A file that is being written.
pub trait Unfinished: Write + Send {
    /// Finishes the file. One that is dropped before leaves nothing behind.
    ///
    /// # Errors
    /// If not everything can be written.
    fn finish(self: Box<Self>) -> io::Result<()>;
}

/// Why a set is not accepted.
#[derive(Debug)]
pub enum Failure {
    /// It does not show what it says.
    Rejected(Rejected),
    /// A limit was reached.
    Stopped(Stop),
    /// A file cannot be read or written: its name, and why.
    File(String, io::Error),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rejected(reason) => reason.fmt(f),
            Self::Stopped(stop) => stop.fmt(f),
            Self::File(name, error) => write!(f, "`{name}`: {error}"),
        }
    }
}

impl std::error::Error for Failure {}

impl From<Rejected> for Failure {
    fn from(reason: Rejected) -> Self {
        Self::Rejected(reason)
    }
}

impl From<Stop> for Failure {
    fn from(stop: Stop) -> Self {
        Self::Stopped(stop)
    }
}

fn malformed<T>(reason: impl Into<String>) -> Result<T, Failure> {
    Err(Rejected::malformed(reason).into())
}

/// A file with configurations.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Listed {
    /// The number of its configurations.
    pub configurations: u64,
    /// The number of its bytes.
    pub bytes: u64,
    /// Its SHA-256, in hexadecimal digits.
    pub digest: String,
}

/// What names all shards of a set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// [`FORMAT`], [`VERSION`], and the program.
    #[serde(flatten)]
    pub header: Header,
    /// The SHA-256 of what tells the program from others: receipts rely on it.
    pub program_digest: String,
    /// The memory model.
    pub model: String,
    /// The properties that it settles, by their place in the program, from 0.
    pub properties: Vec<usize>,
    /// The variables, in the order of memories.
    pub variables: Vec<String>,
    /// [`HASH`].
    pub hash: String,
    /// The shards, in their order.
    pub shards: Vec<Listed>,
}

impl Manifest {
    /// The manifest of shards that have been written.
    pub fn new(
        system: &System,
        model: MemoryModel,
        properties: Vec<usize>,
        shards: Vec<Listed>,
    ) -> Self {
        Self {
            header: Header::new(FORMAT, VERSION, &system.program),
            program_digest: Sha256::of_program(&system.program),
            model: model.to_string(),
            properties,
            variables: system.vars.iter().map(|v| v.name.clone()).collect(),
            hash: HASH.to_owned(),
            shards,
        }
    }

    /// Reads the manifest of a set.
    ///
    /// # Errors
    /// If it cannot be read, or is not a manifest.
    pub fn read(folder: &dyn Folder) -> Result<Signed, Failure> {
        let text = read_small(folder, MANIFEST)?;
        let manifest: Self = parse(&text, MANIFEST)?;
        let Header { format, version, .. } = &manifest.header;
        if (format.as_str(), *version) != (FORMAT, VERSION) {
            let found = (format.clone(), *version);
            return Err(Rejected::Format { found, expected: (FORMAT, VERSION) }.into());
        }
        Ok(Signed { digest: Sha256::of(&text), manifest })
    }

    /// Writes the manifest of a set: from then on there is one.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, folder: &dyn Folder) -> Result<(), Failure> {
        write_small(folder, MANIFEST, self)
    }

    /// The number of configurations, as it says.
    pub fn configurations(&self) -> u64 {
        self.shards.iter().fold(0, |sum, shard| sum.saturating_add(shard.configurations))
    }

    /// What the set is, in a few words.
    pub fn what(&self) -> String {
        format!(
            "a closed set of {} in {}",
            counted(usize::try_from(self.configurations()).unwrap_or(usize::MAX), "configuration"),
            counted(self.shards.len(), "shard")
        )
    }

    /// Everything that the set claims.
    pub fn claim(&self, system: &System) -> Claims {
        let answers = excluded(system, self.properties.iter().copied());
        Claims::new(&self.header, &self.model, answers)
    }
}

/// A manifest as it stands in its file.
#[derive(Clone, Debug)]
pub struct Signed {
    /// What it says.
    pub manifest: Manifest,
    /// The SHA-256 of its file.
    pub digest: String,
}

/// The first line of a shard.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ShardHead {
    #[serde(flatten)]
    header: Header,
    model: String,
    shard: usize,
    shards: usize,
}

impl ShardHead {
    fn new(system: &System, model: &str, shard: usize, shards: usize) -> Self {
        let header = Header::new(SHARD, VERSION, &system.program);
        Self { header, model: model.to_owned(), shard, shards }
    }
}

/// The first line of a file of obligations.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ObligationsHead {
    #[serde(flatten)]
    header: Header,
    manifest: String,
    from: usize,
    to: usize,
}

/// What [`check_shard`] and [`discharge`] have done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Receipt {
    #[serde(flatten)]
    header: Header,
    /// The SHA-256 of the manifest.
    manifest: String,
    /// The shard.
    pub shard: usize,
    /// What it expects of each shard, or what each shard expects of it; nothing of itself.
    pub obligations: Vec<Option<Listed>>,
}

impl Receipt {
    /// The number of obligations.
    pub fn count(&self) -> u64 {
        self.obligations.iter().flatten().map(|listed| listed.configurations).sum()
    }

    /// What was done, in a few words.
    pub fn what(&self) -> String {
        let count = grouped(usize::try_from(self.count()).unwrap_or(usize::MAX));
        let shard = self.shard;
        match self.header.format == CHECKED {
            true => format!("every step from shard {shard}, with {count} obligations of others"),
            false => format!("{count} obligations of shard {shard}"),
        }
    }
}

/// Writes a shard.
pub struct ShardWriter<'s> {
    lines: Lines<'s, Box<dyn Unfinished>>,
}

impl<'s> ShardWriter<'s> {
    /// Begins a shard of a set.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn new(
        system: &'s System,
        model: MemoryModel,
        (shard, shards): (usize, usize),
        folder: &dyn Folder,
    ) -> io::Result<Self> {
        let out = folder.create(&shard_name(shard))?;
        let head = ShardHead::new(system, &model.to_string(), shard, shards);
        Ok(Self { lines: Lines::new(system, out, &head)? })
    }

    /// Adds a configuration.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn add(&mut self, config: &Buffered) -> io::Result<()> {
        self.lines.add(config)
    }

    /// Finishes the shard.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn finish(self) -> io::Result<Listed> {
        let (out, listed) = self.lines.finish();
        out.finish()?;
        Ok(listed)
    }
}

/// The bytes of a small file.
fn read_small(folder: &dyn Folder, name: &str) -> Result<Vec<u8>, Failure> {
    let failed = |error| Failure::File(name.to_owned(), error);
    let mut text = Vec::new();
    let file = folder.open(name).map_err(failed)?;
    file.take(MAX_MANIFEST + 1).read_to_end(&mut text).map_err(failed)?;
    if text.len() as u64 > MAX_MANIFEST {
        let most = MAX_MANIFEST >> 20;
        return Err(Rejected::TooLarge(format!("`{name}` has more than {most} MiB")).into());
    }
    Ok(text)
}

fn write_small(folder: &dyn Folder, name: &str, value: &impl Serialize) -> Result<(), Failure> {
    let failed = |error| Failure::File(name.to_owned(), error);
    let mut text = serde_json::to_vec(value).expect("strings and numbers are always written");
    text.push(b'\n');
    let mut out = folder.create(name).map_err(failed)?;
    out.write_all(&text).map_err(failed)?;
    out.finish().map_err(failed)
}

fn parse<'t, T: Deserialize<'t>>(text: &'t [u8], name: &str) -> Result<T, Failure> {
    let parsed = serde_json::from_slice(text);
    parsed.map_err(|e| Rejected::Unreadable(format!("`{name}`: {e}")).into())
}
