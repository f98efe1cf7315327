//! `weir reduce`

use weir_channel::{cpcp, text};

use super::channel::pcp::load;
use super::{Status, complain, fail, print};
use crate::cli::reduce::{Reduce, ReduceCommand, ReduceCpcp, ReduceCpcpTo};

pub fn run(args: &Reduce) -> Status {
    match &args.command {
        ReduceCommand::Cpcp(args) => cyclic(args),
    }
}

/// Prints a machine or the library of a cyclic instance of Post's correspondence problem.
fn cyclic(args: &ReduceCpcp) -> Status {
    let instance = match load(&args.file) {
        Ok(instance) => instance,
        Err(error) => return complain(&error),
    };
    let machine = || cpcp::machine(&instance);
    let printed = match args.to {
        ReduceCpcpTo::Machine => machine().map(|m| text::print(&m)),
        ReduceCpcpTo::OneChannel => {
            machine().and_then(|m| cpcp::one_channel(&m)).map(|m| text::print(&m))
        }
        ReduceCpcpTo::Library => cpcp::library(&instance),
    };
    match printed {
        Ok(text) => {
            print(&text);
            Status::Fine
        }
        Err(error) => fail(&format!("`{}`: {error}", args.file)),
    }
}
