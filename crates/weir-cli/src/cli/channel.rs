//! The command line of `weir channel`.

mod reductions;

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use weir::MemoryModel;

pub use self::reductions::{ChannelEmpty, ChannelPcp, ChannelProgram};
use super::options::{Format, LanguageArg};

#[derive(Debug, Args)]
pub struct Channel {
    #[command(subcommand)]
    pub command: ChannelCommand,
}

#[derive(Debug, Subcommand)]
pub enum ChannelCommand {
    /// Decide whether a lossy machine reaches a control state
    Check(ChannelCheck),
    /// Search a machine with channels up to a bound
    Run(ChannelRun),
    /// Print an equivalent basic machine
    Basic(ChannelFile),
    /// Print a machine with one channel that simulates a basic machine
    OneChannel(ChannelFile),
    /// Print the synchronous product of machines
    Product(ChannelProduct),
    /// Print a machine as Weir has parsed it
    Show(ChannelFile),
    /// Print the lossy machine of a program
    Of(ChannelOf),
    /// Print a program that simulates a lossy machine under TSO and PSO
    Program(ChannelProgram),
    /// Print the program of an instance of Post's correspondence problem, or solve it
    Pcp(ChannelPcp),
    /// Print a reduction of reachability with arbitrary buffers to empty buffers
    Empty(ChannelEmpty),
    /// Check a run or a set that `weir channel check` has written, independently of the search
    Certify(ChannelCertify),
}

impl ChannelCommand {
    /// The files that the command reads, and those that it is told to write.
    pub fn files(&self) -> (Vec<String>, Vec<&Option<PathBuf>>) {
        let one = |file: &String| vec![file.clone()];
        match self {
            Self::Check(args) => (one(&args.file), vec![&args.witness, &args.certificate]),
            Self::Pcp(args) => (one(&args.file), vec![&args.witness]),
            Self::Certify(args) => (vec![args.evidence.clone(), args.file.clone()], vec![]),
            Self::Product(args) => (args.files.clone(), vec![]),
            Self::Run(_) | Self::Basic(_) | Self::Show(_) | Self::Of(_) => (vec![], vec![]),
            Self::OneChannel(_) => (vec![], vec![]),
            Self::Program(_) | Self::Empty(_) => (vec![], vec![]),
        }
    }
}

#[derive(Debug, Args)]
#[command(after_help = "\
Exit status: 0 the state is not reached, 1 it is reached, 2 the input or the command
line is wrong, 3 unknown.

Example: weir channel check examples/alternating-bit.chm --reach wrong")]
pub struct ChannelCheck {
    /// A machine (`.chm`); `-` is standard input
    pub file: String,
    /// The control state in question
    #[arg(long, value_name = "STATE")]
    pub reach: String,
    /// What the channels may hold there
    #[arg(long, value_enum, default_value_t = ChannelContents::Empty)]
    pub channels: ChannelContents,
    /// Write the run to this file, if the state is reached
    #[arg(long, value_name = "FILE")]
    pub witness: Option<PathBuf>,
    /// Write the proof that the state is not reached to this file
    #[arg(long, value_name = "FILE")]
    pub certificate: Option<PathBuf>,
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub format: Format,
    /// Print statistics of the search
    #[arg(long)]
    pub stats: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Exit status: 0 the state is not reached, 1 it is reached, 2 the input or the command
line is wrong, 3 unknown. With --again the same for infinitely many visits.
Without both: 0 the list of reached states is complete, 3 it may not be.

Example: weir channel run examples/alternating-bit.chm --lossy --bound 3")]
pub struct ChannelRun {
    /// A machine (`.chm`); `-` is standard input
    pub file: String,
    /// The control state in question; without it, all reached states are listed
    #[arg(long, value_name = "STATE")]
    pub reach: Option<String>,
    /// Ask whether some run visits this control state infinitely often
    #[arg(long, value_name = "STATE", conflicts_with_all = ["reach", "channels"])]
    pub again: Option<String>,
    /// What the channels may hold there
    #[arg(long, value_enum, default_value_t = ChannelContents::Empty)]
    pub channels: ChannelContents,
    /// Channels are lossy
    #[arg(long)]
    pub lossy: bool,
    /// The maximal number of messages in a channel
    #[arg(long, value_parser = clap::value_parser!(u16).range(0..=60_000), value_name = "N", default_value_t = weir_channel::explicit::DEFAULT_BOUND as u16)]
    pub bound: u16,
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub format: Format,
    /// Print statistics of the search
    #[arg(long)]
    pub stats: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Exit status: 0 the evidence is accepted, 1 it is rejected, 2 the input or the command
line is wrong.")]
pub struct ChannelCertify {
    /// A run or a set, as `weir channel check` writes them
    #[arg(value_name = "EVIDENCE")]
    pub evidence: String,
    /// The machine (`.chm`)
    #[arg(value_name = "FILE")]
    pub file: String,
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub format: Format,
}

#[derive(Debug, Args)]
pub struct ChannelFile {
    /// A machine (`.chm`); `-` is standard input
    pub file: String,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Example: weir channel of litmus/SB.litmus --process P0")]
pub struct ChannelOf {
    /// A program (`.weir`, `.c`, `.rs`, `.litmus`, `.pml`, `.rmm`, `.txt`); `-` is standard input
    pub file: String,
    #[command(flatten)]
    pub language: LanguageArg,
    /// The memory model: TSO has one machine for each process, and their product; `pso`,
    /// `tso+r->r+r->w` and `tso+w->w+r->r+r->w` have one machine for all
    #[arg(long, short, value_parser = super::options::model, default_value = "tso")]
    pub model: MemoryModel,
    /// The maximal number of guessed reads of a process at a time, for models with guesses
    #[arg(long, value_parser = clap::value_parser!(u8).range(1..=16), value_name = "N")]
    pub guesses: Option<u8>,
    /// Only the machine of this process, under TSO; otherwise their product
    #[arg(long, value_name = "NAME")]
    pub process: Option<String>,
    /// What the machines of processes agree on, under TSO
    #[arg(long, value_enum, default_value_t = ChannelSync::Writes)]
    pub sync: ChannelSync,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ChannelSync {
    /// The order in which writes are issued: for lossy channels
    Writes,
    /// The order in which writes reach memory: for perfect channels
    Updates,
}

#[derive(Debug, Args)]
pub struct ChannelProduct {
    /// Machines (`.chm`); `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ChannelContents {
    /// Nothing
    Empty,
    /// Anything
    Any,
}
