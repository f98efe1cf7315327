//! `weir-bench`: measures time, memory and instructions of Weir, for its developers.
//!
//! `cli` is its command line, `bench` what it does. `run` is one measured run, `rows` the
//! results, `compare` this build against another, `spin` another program against this one, and
//! `engines` the engines against one another. `plots` makes what `chart` draws, and `page` is
//! the page of the documentation. `linden_wolper` is the table of Linden and Wolper 2010,
//! and `families` are litmus tests of growing size. `growth` are locks with more processes,
//! `rounds` are programs under C11 whose processes do something a number of times, and `costs` is what proofs, configurations and slow programs cost.
//!
//! A measured run is a process of its own: this program again, as `weir`. So what is measured
//! is always of the same build.

#![deny(clippy::print_stdout, clippy::print_stderr)]

mod bench;
mod chart;
mod cli;
mod compare;
mod costs;
mod engines;
mod families;
mod growth;
mod html;
mod linden_wolper;
mod page;
mod plots;
mod rounds;
mod rows;
mod run;
mod spin;

use std::process::ExitCode;

use clap::Parser;
use weir_cli::output;

use cli::Bench;
use run::AS_WEIR;

fn main() -> ExitCode {
    let mut words = std::env::args_os();
    let name = words.next();
    let mut words = words.peekable();
    if words.next_if(|word| word == AS_WEIR).is_some() {
        return weir_cli::run(name.into_iter().chain(words));
    }
    let args = match Bench::try_parse_from(name.into_iter().chain(words)) {
        Ok(args) => args,
        Err(error) => return output::usage(&error).into(),
    };
    args.color.choose();
    let (read, written) = args.targets();
    let status = match output::check_targets(&read, &written) {
        Ok(()) => bench::run(&args),
        Err(message) => output::fail(&message),
    };
    output::finish(status).into()
}
