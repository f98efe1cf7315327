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
mod cluster;
mod commands;
mod files;
mod findings;
mod limits;
pub mod output;
mod process;
pub mod progress;
pub mod report;
pub mod terminal;

use std::ffi::OsString;
use std::process::ExitCode;

pub use cli::Color;
pub use cli::options::{engines, model, seconds};
pub use commands::Status;
#[doc(hidden)]
pub use commands::serve::answer as answer_request;

use cli::{Cli, Command, LimitArgs, batch};
use commands::batch::run::Running;
use weir_compile::Kind;

/// What `weir` says without arguments.
const BEGIN: &str = "\
Weir verifies concurrent programs on weak memory. Three commands to begin with:

  weir check FILE      answer every property of a program under TSO, the model of x86
  weir explain tso     explain a memory model, a verdict, an engine, a property
  weir serve           try programs in a browser

A FILE is a program: `.weir`, `.c`, `.rs`, `.litmus`, `.pml`, `.rmm` or `.txt`.
`weir --help` lists all commands.

Usage: weir [OPTIONS] <COMMAND>
";

/// What `cargo weir` says of itself.
const CARGO: &str = "\
Checks the tests of a Cargo package: each is a program, and all of its runs are searched.

Usage: cargo weir [test] [OPTIONS] [NAME]...

A NAME is a part of the names of tests. What is built is chosen as for `cargo test`: --lib, --tests,
--test NAME, -p SPEC, --workspace, --features FEATURES, --all-features, --no-default-features,
--manifest-path PATH. --exact, --skip, --ignored and --include-ignored are as for tests. --loom
compiles with `--cfg loom`. --each SECONDS limits the time of each test, and --jobs N checks so many
at a time. One test is reported in full, several in a line each.

All other options are those of `weir check`: `weir check --help` lists them.
";

/// Runs `cargo weir` with these words, of which the first is the name of the program, and says how to exit.
pub fn cargo(words: impl IntoIterator<Item = OsString>) -> ExitCode {
    let mut words: Vec<OsString> = words.into_iter().skip(1).collect();
    // Cargo names the command first, and `test` is what a person is used to.
    for name in ["weir", "test"] {
        if words.first().is_some_and(|word| word == name) {
            words.remove(0);
        }
    }
    if words.iter().any(|word| word == "-h" || word == "--help") {
        output::print(CARGO);
        return output::finish(Status::Fine).into();
    }
    // Behind `--` are options of the test harness, which are ours as well.
    words.retain(|word| word != "--");
    let check = ["weir", "check", "--as-cargo"].map(OsString::from);
    run(check.into_iter().chain(words))
}

/// Runs `weir` with these words, of which the first is its own name, and says how to exit.
pub fn run(words: impl IntoIterator<Item = OsString>) -> ExitCode {
    let words: Vec<OsString> = words.into_iter().collect();
    if words.len() == 1 {
        output::say_again(BEGIN);
        return Status::Wrong.into();
    }
    // All words are for the compiler, also those that are options of Weir elsewhere.
    if let Some(kind) = commands::cc::kind(&words[1]) {
        return commands::cc::run(kind, &words[2..]);
    }
    let (mut cli, matches) = match Cli::parse_with_matches(words) {
        Ok(parsed) => parsed,
        Err(error) => return output::usage(&error).into(),
    };
    cli.color.choose();
    if cli.command.prints_json() {
        output::print_errors_as_json();
    }
    let expanded = cli.command.expand();
    if let (Ok(()), Command::Check(args)) = (&expanded, &mut cli.command) {
        match commands::package::is_about(args) {
            Ok(true) => {
                limits::set(LimitArgs::default());
                return output::finish(commands::package::run(args, &matches, cli.limits)).into();
            }
            Ok(false) => {}
            Err(message) => return output::fail(&message).into(),
        }
    }
    let batch = match expanded.and_then(|()| batch::of(&cli, &matches)) {
        Ok(batch) => batch,
        Err(message) => return output::fail(&message).into(),
    };
    match (&cli.command, &batch) {
        // The limits are those of a request, or of each process.
        (Command::Serve(_) | Command::Lsp(_) | Command::Test(_) | Command::Watch(_), _)
        | (_, Some(_)) => limits::set(LimitArgs::default()),
        _ => limits::set(cli.limits),
    }
    let (read, written) = cli.command.files();
    if let Err(message) = output::check_targets(&read, &written) {
        return output::fail(&message).into();
    }
    if let Some(batch) = batch {
        let (jobs, each) = (batch.args.jobs, batch.args.each);
        let status = batch.run(&Running::new(jobs, each, cli.limits));
        return output::finish(status).into();
    }
    let status = match &cli.command {
        Command::Check(args) => commands::check::run(args),
        Command::Outcomes(args) => commands::outcomes::run(args),
        Command::Compare(args) => commands::compare::run(args),
        Command::Fences(args) => commands::fences::run(args),
        Command::Certify(args) => commands::certify::run(args),
        Command::Robust(args) => commands::robust::run(args),
        Command::Live(args) => commands::live::run(args),
        Command::Test(args) => commands::test::run(args, cli.limits),
        Command::Watch(args) => commands::watch::run(args, &batch::watched(&matches), cli.limits),
        Command::Step(args) => commands::step::run(args),
        Command::Show(args) => commands::show::run(args),
        Command::Convert(args) => commands::convert::run(args),
        Command::Fmt(args) => commands::fmt::run(args),
        Command::Graph(args) => commands::graph::run(args),
        Command::Models(args) => commands::models::run(args),
        Command::Doctor => commands::doctor::run(),
        // They were run above, unless an option of Weir comes first.
        Command::Cc(args) => return commands::cc::run(Kind::C, &args.arguments),
        Command::Cxx(args) => return commands::cc::run(Kind::Cpp, &args.arguments),
        Command::Litmus(args) => commands::litmus::run(args),
        Command::Channel(args) => commands::channel::run(args),
        Command::Game(args) => commands::game::run(args),
        Command::Reduce(args) => commands::reduce::run(args),
        Command::Serve(args) => commands::serve::run(args, cli.limits),
        Command::Lsp(args) => commands::lsp::run(args, cli.limits),
        Command::Errors(args) => commands::errors::run(args),
        Command::Explain(args) => commands::explain::run(args),
        Command::Completions(args) => commands::shell::completions(args),
        Command::Man(args) => commands::shell::man(args),
    };
    output::finish(status).into()
}
