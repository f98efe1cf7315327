//! The command line of `weir live`.

use clap::{Args, ValueEnum};

use super::batch::{BatchArgs, ReportFormat};
use super::options::{EvidenceArgs, HtmlArg, LanguageArg, ModelsArg, Programs};

#[derive(Debug, Args)]
#[command(after_help = "\
For an object the five progress properties are checked, for processes the `live`
properties of the program. Under SC all of them are decidable, under TSO only
obstruction-freedom is; the others may stay unknown. Runs are written as lassos; with
several properties, the proof that settles most of them is written or checked.

Examples: weir live examples/objects/spin-lock.weir --clients 3 --model sc
          weir live examples/objects/treiber-stack.weir --property lock-free")]
#[command(mut_arg("models", |arg| arg.help(
    "A memory model: `sc` or `tso` (may be given several times) [default: tso]"
)))]
#[command(mut_arg("files", |arg| arg.help(
    "Objects or programs (`.weir`), directories of programs, or patterns such as \
     `locks/**/*.weir`; `-` is standard input"
)))]
pub struct Live {
    #[command(flatten)]
    pub programs: Programs,
    #[command(flatten)]
    pub language: LanguageArg,
    /// The number of clients of the object
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=16), value_name = "N", default_value_t = 2)]
    pub clients: u16,
    #[command(flatten)]
    pub models: ModelsArg,
    /// The progress properties to check [default: all]
    #[arg(long = "property", value_enum, value_delimiter = ',', value_name = "NAME")]
    pub properties: Vec<Progress>,
    /// Count only runs in which every write reaches memory
    #[arg(long)]
    pub flush_fair: bool,
    /// The maximal size of a buffer in the search for violations, and the number of writes
    /// that a proof distinguishes
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1000), default_value_t = 4)]
    pub bound: u16,
    /// How to print
    #[arg(long, value_enum, default_value_t = ReportFormat::Human)]
    pub format: ReportFormat,
    #[command(flatten)]
    pub batch: BatchArgs,
    #[command(flatten)]
    pub evidence: EvidenceArgs,
    #[command(flatten)]
    pub page: HtmlArg,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Progress {
    /// Every call returns
    #[value(name = "wait-free")]
    Wait,
    /// Some call returns
    #[value(name = "lock-free")]
    Lock,
    /// A call that runs alone returns
    #[value(name = "obstruction-free")]
    Obstruction,
    /// Every call returns, if all clients take steps
    #[value(name = "starvation-free")]
    Starvation,
    /// Some call returns, if all clients take steps
    #[value(name = "deadlock-free")]
    Deadlock,
}

impl From<Progress> for weir_live::Progress {
    fn from(property: Progress) -> Self {
        match property {
            Progress::Wait => Self::WaitFree,
            Progress::Lock => Self::LockFree,
            Progress::Obstruction => Self::ObstructionFree,
            Progress::Starvation => Self::StarvationFree,
            Progress::Deadlock => Self::DeadlockFree,
        }
    }
}
