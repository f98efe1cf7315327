//! `weir lsp`

use std::io;
use std::num::NonZeroUsize;
use std::process::Command;
use std::time::Duration;

use weir_lsp::{Ended, Settings, Trial, serve};

use super::{Status, fail};
use crate::cli::{LimitArgs, Lsp};
use crate::process::{self, NotEnded};
use crate::{limits, output};

pub fn run(args: &Lsp, given: LimitArgs) -> Status {
    let default = Settings::default();
    let settings = Settings {
        models: args.models.or(&default.models),
        time: given.timeout.unwrap_or(default.time),
        memory: given.memory.map_or(default.memory, |mib| (mib as usize) << 20),
        threads: given.threads.and_then(|n| NonZeroUsize::new(n.into())).unwrap_or(default.threads),
        ceiling: limits::ceiling(),
        trial: Some(trial),
    };
    match serve(io::stdin(), output::raw(), settings) {
        Ok(Ended::Properly) => Status::Fine,
        // The status that the protocol asks for.
        Ok(Ended::Early) => Status::Violated,
        Err(error) => fail(&format!("the server cannot start: {}", output::plain(&error))),
    }
}

/// Reads a text in another process.
///
/// # Errors
/// If it cannot be read within the limits.
fn trial(text: &Trial<'_>) -> Result<(), String> {
    let (time, memory) = (text.time.as_secs_f64(), (text.memory >> 20).max(1));
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut command = Command::new(program);
    command.args(["errors", "-"]).arg(format!("--stdin-name={}", text.name));
    command.arg(format!("--language={}", text.language));
    command.args([format!("--timeout={time}"), format!("--memory={memory}")]);
    let input = text.text.as_bytes().into();
    match process::run(&mut command, Some(input), || limits::budget().check(), Duration::ZERO) {
        Ok(ended) => match ended.status.code() {
            // The errors that it has are found again here.
            Some(0 | 2) => Ok(()),
            _ => Err(format!("this text cannot be read within {time} s and {memory} MiB")),
        },
        Err(NotEnded::Stopped(stop)) => Err(stop.to_string()),
        Err(NotEnded::Failed(error)) => Err(format!("no process can be started: {error}")),
    }
}
