//! The command line of `weir test`.

use clap::Args;

use super::batch::{BatchArgs, ReportFormat};
use super::options::{ModelsArg, Programs};

#[derive(Debug, Args)]
#[command(after_help = "\
A comment line `// expect: MODEL PROPERTY VERDICT` in a program is an expectation. VERDICT is
`holds`, `violated`, `unknown`, `not-violated`, or `slow`, which is not asked. Without a
PROPERTY it is about all of them together. `// options: --domain x=0..7` has options of the
searches.

Exit status: 0 every expectation is met, 1 some is not, 2 a file or the command line is
wrong, 3 some verdict is unknown.

Examples: weir test corpus --jobs 2
          weir test examples/exercises/solutions")]
#[command(mut_arg("files", |arg| arg.required(false).default_value(".").value_name("DIR").help(
    "Directories of programs, files, or patterns such as `locks/**/*.weir`"
)))]
#[command(mut_arg("models", |arg| arg.help(
    "Only expectations under this memory model (may be given several times)"
)))]
pub struct Test {
    #[command(flatten)]
    pub programs: Programs,
    #[command(flatten)]
    pub models: ModelsArg,
    /// How to print
    #[arg(long, value_enum, default_value_t = ReportFormat::Human)]
    pub format: ReportFormat,
    #[command(flatten)]
    pub batch: BatchArgs,
}
