//! The `weir` program.

// What is printed goes through `output`.
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod cli;
mod commands;
mod limits;
mod output;
mod progress;
mod terminal;

use std::process::ExitCode;

use clap::Parser;

use cli::{Cli, Color, Command};

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return ExitCode::from(output::usage(&error) as u8),
    };
    // A benchmark has limits for each of its runs, which are other processes.
    if !matches!(cli.command, Command::Bench(_)) {
        limits::set(cli.limits);
    }
    match cli.color {
        Color::Auto => {}
        Color::Always => anstream::ColorChoice::Always.write_global(),
        Color::Never => anstream::ColorChoice::Never.write_global(),
    }
    if cli.command.prints_json() {
        output::print_errors_as_json();
    }
    let (read, written) = cli.command.files();
    if let Err(message) = output::check_targets(&read, &written) {
        return ExitCode::from(output::fail(&message) as u8);
    }
    let status = match &cli.command {
        Command::Check(args) => commands::check::run(args),
        Command::Outcomes(args) => commands::outcomes::run(args),
        Command::Compare(args) => commands::compare::run(args),
        Command::Certify(args) => commands::certify::run(args),
        Command::Live(args) => commands::live::run(args),
        Command::Show(args) => commands::show::run(args),
        Command::Convert(args) => commands::convert::run(args),
        Command::Graph(args) => commands::graph::run(args),
        Command::Models(args) => commands::models::run(args),
        Command::Litmus(args) => commands::litmus::run(args),
        Command::Channel(args) => commands::channel::run(args),
        Command::Game(args) => commands::game::run(args),
        Command::Reduce(args) => commands::reduce::run(args),
        Command::Bench(args) => commands::bench::run(args),
    };
    ExitCode::from(output::finish(status) as u8)
}
