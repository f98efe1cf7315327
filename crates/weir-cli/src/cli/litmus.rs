//! The command line of `weir litmus`.

use std::ops::RangeInclusive;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use weir_front::litmus::generate;

#[derive(Debug, Args)]
pub struct Litmus {
    #[command(subcommand)]
    pub command: LitmusCommand,
}

#[derive(Debug, Subcommand)]
pub enum LitmusCommand {
    /// Generate litmus tests from cycles of accesses
    Gen(LitmusGen),
}

#[derive(Debug, Args)]
#[command(after_help = "\
Edges between threads are Rfe, Fre and Coe; within a thread Rfi, Fri and Coi, and
Pod, Pos, MFenced, SFenced and LFenced with RR, RW, WR or WW. AP, PA and AA after
an edge say which of its writes are atomic.

Examples: weir litmus gen PodWR Fre PodWR Fre
          weir litmus gen --processes 2..3 --edges po,mfence --output tests")]
pub struct LitmusGen {
    /// The edges of one cycle; without them, all cycles of a size
    #[arg(value_name = "EDGE")]
    pub cycle: Vec<String>,
    /// How many threads a test has: a number or a range, within 2..4
    #[arg(
        long, value_parser = processes, value_name = "N..M", default_value = "2..3",
        conflicts_with = "cycle"
    )]
    pub processes: RangeInclusive<usize>,
    /// What a thread may contain
    #[arg(
        long, value_enum, value_delimiter = ',', value_name = "WORDS", conflicts_with = "cycle",
        default_values_t = Filling::value_variants().to_vec()
    )]
    pub edges: Vec<Filling>,
    /// Write each test to a file in this directory
    #[arg(long, short, value_name = "DIR", conflicts_with_all = ["list", "verdicts"])]
    pub output: Option<PathBuf>,
    /// Print names and cycles, also of one cycle
    #[arg(long)]
    pub list: bool,
    /// Print names, cycles, and which memory models allow them
    #[arg(long)]
    pub verdicts: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Filling {
    /// Two accesses and nothing between them
    Po,
    /// A full fence
    Mfence,
    /// A write fence, between writes
    Sfence,
    /// A read fence, between reads
    Lfence,
    /// Writes that are atomic
    Xchg,
    /// A read that sees the thread's own write, after it
    Rfi,
    /// Two accesses to one location: the coherence tests
    PoLoc,
}

impl From<Filling> for generate::Filling {
    fn from(filling: Filling) -> Self {
        match filling {
            Filling::Po => Self::Plain,
            Filling::Mfence => Self::MFence,
            Filling::Sfence => Self::SFence,
            Filling::Lfence => Self::LFence,
            Filling::Xchg => Self::Exchange,
            Filling::Rfi => Self::Forward,
            Filling::PoLoc => Self::SameLocation,
        }
    }
}

/// `N` or `N..M`, both included.
fn processes(text: &str) -> Result<RangeInclusive<usize>, String> {
    let (first, last) = text.split_once("..").unwrap_or((text, text));
    let last = last.strip_prefix('=').unwrap_or(last);
    let number = |text: &str| text.parse().ok().filter(|n| (2..=4).contains(n));
    match (number(first), number(last)) {
        (Some(first), Some(last)) if first <= last => Ok(first..=last),
        _ => Err("expected a number from 2 to 4 or a range such as 2..4".to_owned()),
    }
}
