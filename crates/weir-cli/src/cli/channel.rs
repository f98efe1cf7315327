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
    /// Print the basic machine that does the same
    Basic(ChannelFile),
    /// Print the synchronous product of machines
    Product(ChannelProduct),
    /// Print a machine as it was understood
    Show(ChannelFile),
    /// Print the lossy machine of a program
    Of(ChannelOf),
    /// Print the program that does under TSO and PSO what a lossy machine does
    Program(ChannelProgram),
    /// Print the program of an instance of Post's correspondence problem, or solve it
    Pcp(ChannelPcp),
    /// Print a program that reaches with empty buffers what another reaches with any
    Empty(ChannelEmpty),
    /// Check a run or a set that `weir channel check` has written with code of its own
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
            Self::Program(_) | Self::Empty(_) => (vec![], vec![]),
        }
    }
}

#[derive(Debug, Args)]
#[command(after_help = "\
Exit status: 0 the state is not reached, 1 it is reached, 2 the input or the command
line is wrong, 3 nobody knows.

Example: weir channel check examples/alternating-bit.chm --reach wrong")]
pub struct ChannelCheck {
    /// A machine (`.chm`); `-` is standard input
    pub file: String,
    /// The control state that is asked for
    #[arg(long, value_name = "STATE")]
    pub reach: String,
    /// What the channels may hold there
    #[arg(long, value_enum, default_value_t = ChannelContents::Empty)]
    pub channels: ChannelContents,
    /// Write the run to this file, if the state is reached
    #[arg(long, value_name = "FILE")]
    pub witness: Option<PathBuf>,
    /// Write what shows that the state is not reached to this file
    #[arg(long, value_name = "FILE")]
    pub certificate: Option<PathBuf>,
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub format: Format,
    /// Print what the search did
    #[arg(long)]
    pub stats: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Exit status: 0 the state is not reached, 1 it is reached, 2 the input or the command
line is wrong, 3 nobody knows. With --again the same for visits without end. With
neither: 0 all states that are reached are listed, 3 there may be more.

Example: weir channel run examples/alternating-bit.chm --lossy --bound 3")]
pub struct ChannelRun {
    /// A machine (`.chm`); `-` is standard input
    pub file: String,
    /// The control state that is asked for; without it, all that are reached are listed
    #[arg(long, value_name = "STATE")]
    pub reach: Option<String>,
    /// Ask whether some run visits this control state infinitely often
    #[arg(long, value_name = "STATE", conflicts_with_all = ["reach", "channels"])]
    pub again: Option<String>,
    /// What the channels may hold there
    #[arg(long, value_enum, default_value_t = ChannelContents::Empty)]
    pub channels: ChannelContents,
    /// Channels lose messages
    #[arg(long)]
    pub lossy: bool,
    /// The most messages that a channel may hold
    #[arg(long, value_parser = clap::value_parser!(u16).range(0..=60_000), value_name = "N", default_value_t = weir_channel::explicit::DEFAULT_BOUND as u16)]
    pub bound: u16,
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub format: Format,
    /// Print what the search did
    #[arg(long)]
    pub stats: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Exit status: 0 the file shows what it says, 1 it does not, 2 the input or the command
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
    /// A program (`.weir`, `.litmus`, `.pml`, `.rmm`, `.txt`); `-` is standard input
    pub file: String,
    #[command(flatten)]
    pub language: LanguageArg,
    /// The memory model: TSO has one machine for each process, and their product; `pso`,
    /// `tso+r->r+r->w` and `tso+w->w+r->r+r->w` have one machine for all
    #[arg(long, short, value_parser = super::options::model, default_value = "tso")]
    pub model: MemoryModel,
    /// The most reads that a process may have guessed at a time, where reads are guessed
    #[arg(long, value_parser = clap::value_parser!(u8).range(1..=16), value_name = "N")]
    pub guesses: Option<u8>,
    /// Only the machine of this process, under TSO; otherwise their product
    #[arg(long, value_name = "NAME")]
    pub process: Option<String>,
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
