//! `weir lsp`

use std::io;
use std::num::NonZeroUsize;

use weir_lsp::{Ended, Settings, serve};

use super::{Status, fail};
use crate::cli::{LimitArgs, Lsp};
use crate::{limits, output};

pub fn run(args: &Lsp, given: LimitArgs) -> Status {
    let default = Settings::default();
    let settings = Settings {
        models: args.models.or(&default.models),
        time: given.timeout.unwrap_or(default.time),
        memory: given.memory.map_or(default.memory, |mib| (mib as usize) << 20),
        threads: given.threads.and_then(|n| NonZeroUsize::new(n.into())).unwrap_or(default.threads),
        ceiling: limits::ceiling(),
    };
    match serve(io::stdin(), output::raw(), settings) {
        Ok(Ended::Properly) => Status::Fine,
        // The status that the protocol asks for.
        Ok(Ended::Early) => Status::Violated,
        Err(error) => fail(&format!("the server cannot start: {}", output::plain(&error))),
    }
}
