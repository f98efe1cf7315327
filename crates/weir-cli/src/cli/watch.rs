//! The command line of `weir watch`.

use std::time::Duration;

use clap::Args;

use super::Check;
use super::options::seconds;

#[derive(Debug, Args)]
#[command(after_help = "\
Takes the options of `weir check`. --timeout and --memory are limits of each check. Ctrl-C ends
it, with status 0.

Example: weir watch examples/peterson.weir --model tso --model pso")]
pub struct Watch {
    #[command(flatten)]
    pub check: Check,
    /// How often to look at the files, in seconds
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "0.2")]
    pub interval: Duration,
}
