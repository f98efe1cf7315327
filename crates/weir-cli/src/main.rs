//! The `weir` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    weir_cli::run(std::env::args_os())
}
