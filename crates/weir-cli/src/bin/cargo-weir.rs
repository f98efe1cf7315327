//! The program `cargo-weir`, which Cargo runs for `cargo weir`.

use std::process::ExitCode;

fn main() -> ExitCode {
    weir_cli::cargo(std::env::args_os())
}
