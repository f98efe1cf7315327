//! The program `weir`: its command line ([`run`]), and how it prints and writes.
//!
//! To use Weir from another program, take the library, the crate `weir`. This one is a
//! library only so that `weir-bench` measures the same build and prints in the same way:
//!
//! ```
//! let status = weir_cli::run(["weir", "models"].map(Into::into));
//! assert_eq!(status, std::process::ExitCode::SUCCESS);
//! ```

// What is printed goes through `output`.
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod cli;
mod commands;
mod limits;
pub mod output;
pub mod progress;
pub mod terminal;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;

pub use cli::Color;
pub use cli::options::{engines, model, seconds};
pub use commands::Status;

use cli::{Cli, Command, LimitArgs};

/// Runs `weir` with these words, of which the first is its own name, and says how to exit.
pub fn run(words: impl IntoIterator<Item = OsString>) -> ExitCode {
    let cli = match Cli::try_parse_from(words) {
        Ok(cli) => cli,
        Err(error) => return output::usage(&error).into(),
    };
    match &cli.command {
        // The limits are those of a request.
        Command::Serve(_) | Command::Lsp(_) => limits::set(LimitArgs::default()),
        _ => limits::set(cli.limits),
    }
    cli.color.choose();
    if cli.command.prints_json() {
        output::print_errors_as_json();
    }
    let (read, written) = cli.command.files();
    if let Err(message) = output::check_targets(&read, &written) {
        return output::fail(&message).into();
    }
    let status = match &cli.command {
        Command::Check(args) => commands::check::run(args),
        Command::Outcomes(args) => commands::outcomes::run(args),
        Command::Compare(args) => commands::compare::run(args),
        Command::Fences(args) => commands::fences::run(args),
        Command::Certify(args) => commands::certify::run(args),
        Command::Robust(args) => commands::robust::run(args),
        Command::Live(args) => commands::live::run(args),
        Command::Step(args) => commands::step::run(args),
        Command::Show(args) => commands::show::run(args),
        Command::Convert(args) => commands::convert::run(args),
        Command::Graph(args) => commands::graph::run(args),
        Command::Models(args) => commands::models::run(args),
        Command::Litmus(args) => commands::litmus::run(args),
        Command::Channel(args) => commands::channel::run(args),
        Command::Game(args) => commands::game::run(args),
        Command::Reduce(args) => commands::reduce::run(args),
        Command::Serve(args) => commands::serve::run(args, cli.limits),
        Command::Lsp(args) => commands::lsp::run(args, cli.limits),
    };
    output::finish(status).into()
}
