//! The command line of `weir litmus`.

use std::ops::RangeInclusive;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use weir_front::litmus::generate;

use super::options::{Format, ModelsArg};

#[derive(Debug, Args)]
pub struct Litmus {
    #[command(subcommand)]
    pub command: LitmusCommand,
}

#[derive(Debug, Subcommand)]
pub enum LitmusCommand {
    /// Generate litmus tests from cycles of accesses
    Gen(LitmusGen),
    /// Run litmus tests on this machine and compare what is observed with memory models
    Run(LitmusRun),
    /// Say which memory orders forbid the classic weak behaviors under C11
    Orders(LitmusOrders),
}

impl LitmusCommand {
    /// The files that the command reads.
    pub fn files(&self) -> Vec<String> {
        match self {
            Self::Gen(_) | Self::Orders(_) => vec![],
            Self::Run(args) => args.files.clone(),
        }
    }
}

#[derive(Debug, Args)]
pub struct LitmusOrders {
    /// The names of the shapes, such as `SB` or `IRIW` [default: all]
    #[arg(value_name = "SHAPE")]
    pub shapes: Vec<String>,
}

/// Which generated tests to take.
#[derive(Debug, Args)]
pub struct Family {
    /// How many threads a test has: a number or a range, within 2..4
    #[arg(long, value_parser = processes, value_name = "N..M", default_value = "2..3")]
    pub processes: RangeInclusive<usize>,
    /// What a thread may contain [default: all, in `gen` without `po-po`]
    #[arg(long, value_enum, value_delimiter = ',', value_name = "WORDS")]
    pub edges: Vec<Filling>,
}

impl Family {
    /// The cycles of the tests, with these contents of threads by default.
    pub fn cycles(&self, default: &[generate::Filling]) -> Vec<generate::Cycle> {
        let fillings = match self.edges.is_empty() {
            true => default.to_vec(),
            false => self.edges.iter().map(|&filling| filling.into()).collect(),
        };
        generate::family(self.processes.clone(), &fillings)
    }
}

#[derive(Debug, Args)]
#[command(after_help = "\
Edges between threads are Rfe, Fre and Coe; within a thread Rfi, Fri and Coi, and
Pod, Pos, MFenced, SFenced and LFenced with RR, RW, WR or WW. AP, PA and AA after
an edge say which of its writes are atomic.

Examples: weir litmus gen PodWR Fre PodWR Fre
          weir litmus gen --processes 2..3 --edges po,mfence --output tests")]
#[command(mut_arg("processes", |arg| arg.conflicts_with("cycle")))]
#[command(mut_arg("edges", |arg| arg.conflicts_with("cycle")))]
pub struct LitmusGen {
    /// The edges of one cycle; without them, all cycles of a size
    #[arg(value_name = "EDGE")]
    pub cycle: Vec<String>,
    #[command(flatten)]
    pub family: Family,
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

#[derive(Debug, Args)]
#[command(after_help = "\
Each test becomes a C program with the instructions of the test, which the C compiler `cc`
builds. It needs an x86-64 processor with Linux, and a processor for each thread of the test.

Exit status: 0 every observed final state is allowed by TSO, 1 some is not, 2 a test or the
command line is wrong or a test cannot be run here, 3 a limit was reached.

Examples: weir litmus run litmus/SB.litmus litmus/MP.litmus
          weir litmus run --all --processes 2 --instances 1000000")]
#[command(mut_arg("processes", |arg| arg.conflicts_with("files")))]
#[command(mut_arg("edges", |arg| arg.conflicts_with("files")))]
#[command(mut_arg("models", |arg| arg.help(
    "A memory model to compare with, besides TSO (may be given several times) \
     [default: sc, tso, pso]"
)))]
pub struct LitmusRun {
    /// Litmus tests (`.litmus`); `-` is standard input
    #[arg(value_name = "FILE", required_unless_present = "all", conflicts_with = "all")]
    pub files: Vec<String>,
    /// Run the tests that `weir litmus gen` generates, those with more threads than there are
    /// processors left out
    #[arg(long)]
    pub all: bool,
    #[command(flatten)]
    pub family: Family,
    #[command(flatten)]
    pub models: ModelsArg,
    /// How often to run each test
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    pub instances: u64,
    /// The seed of the order of instances and of small delays
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Write the C program of each test to this directory
    #[arg(long, value_name = "DIR")]
    pub keep: Option<PathBuf>,
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub format: Format,
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
    /// A third access, to another location, between the two: a write or a read
    PoPo,
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
            Filling::PoPo => Self::Between,
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
