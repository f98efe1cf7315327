//! The `weir` program.

mod cli;
mod commands;
mod progress;
mod terminal;

use std::process::ExitCode;

use clap::Parser;

use cli::{Cli, Color, Command};

fn main() -> ExitCode {
    let cli = Cli::parse();
    match cli.color {
        Color::Auto => {}
        Color::Always => anstream::ColorChoice::Always.write_global(),
        Color::Never => anstream::ColorChoice::Never.write_global(),
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
    ExitCode::from(status as u8)
}
