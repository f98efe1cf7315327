//! The command line of the commands of `weir channel` that print programs.

use std::path::PathBuf;

use clap::Args;
use weir::MemoryModel;

use crate::cli::options::{Format, LanguageArg, model};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples: weir channel program examples/no-bit.chm --goal wrong | weir check -
          weir channel program examples/cpcp/rotation.chm --again s1 | weir live -")]
pub struct ChannelProgram {
    /// A basic machine (`.chm`); `-` is standard input
    pub file: String,
    /// A control state to ask for (may be given several times) [default: all]
    #[arg(long = "goal", value_name = "STATE")]
    pub goals: Vec<String>,
    /// Ask whether this control state is visited infinitely often (may be given several times)
    #[arg(long, value_name = "STATE", conflicts_with = "goals")]
    pub again: Vec<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
A file has a pair of words on each line. The program's property holds if there is a
solution. No algorithm finds out of every instance without a solution that it has none.
So without --bound and --timeout, --solve may not come to an end.

Exit status: 0 the program is printed or, with --solve, a solution was found, 1 there is
no solution, 2 the input or the command line is wrong, 3 none was found.

Example: weir channel pcp examples/abc.pcp --solve")]
pub struct ChannelPcp {
    /// Pairs of words (`.pcp`); `-` is standard input
    pub file: String,
    /// Search for a solution
    #[arg(long)]
    pub solve: bool,
    /// The memory model: TSO with `r->r` and `r->w`, with or without `w->w`
    #[arg(long, short, value_parser = model, default_value = "tso+w->w+r->r+r->w", requires = "solve")]
    pub model: MemoryModel,
    /// The maximal size of a buffer when all runs are searched; smaller ones are tried first
    /// [default: 4, and then longer and longer words until a limit is reached]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1000), value_name = "N", requires = "solve")]
    pub bound: Option<u16>,
    /// Write the run that gives the solution to this file
    #[arg(long, value_name = "FILE", requires = "solve")]
    pub witness: Option<PathBuf>,
    #[arg(long, value_enum, default_value_t = Format::Human, requires = "solve")]
    pub format: Format,
    /// Print statistics of the search
    #[arg(long, requires = "solve")]
    pub stats: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Example: weir channel empty examples/peterson.weir | weir check - --model tso")]
pub struct ChannelEmpty {
    /// A program (`.weir`, `.litmus`); `-` is standard input
    pub file: String,
    #[command(flatten)]
    pub language: LanguageArg,
}
