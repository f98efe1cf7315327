//! The command line of `weir step`.

use clap::Args;
use weir::walk;

use super::options::{FormArg, LanguageArg, ModelArg};

#[derive(Debug, Args)]
#[command(after_help = "\
Reads commands from standard input, one in a line; `help` lists them.

Exit status: 0, or 2 if the input or the command line is wrong. If standard input is not
a terminal, 2 also if a command is wrong or cannot be carried out.

Example: weir step examples/peterson.weir --model tso")]
pub struct Step {
    /// A program (`.weir`, `.c`, `.rs`, `.litmus`, `.pml`, `.rmm`, `.txt`)
    pub file: String,
    #[command(flatten)]
    pub model: ModelArg,
    #[command(flatten)]
    pub form: FormArg,
    #[command(flatten)]
    pub language: LanguageArg,
    /// The maximal size of a buffer
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=60_000), default_value_t = walk::BOUND as u16)]
    pub bound: u16,
    /// Where the random numbers of random steps begin
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
}
