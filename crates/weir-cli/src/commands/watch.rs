//! `weir watch`: checks programs again whenever their files change.

use std::ffi::OsString;
use std::fs;
use std::io::IsTerminal;
use std::process::Command;
use std::thread;
use std::time::{Duration, SystemTime};

use weir_model::limits::Stop;

use super::{Status, fail};
use crate::cli::LimitArgs;
use crate::cli::watch::Watch;
use crate::limits;
use crate::output::{clear_screen, paint, print, print_again, say_again};
use crate::process::{self, NotEnded};
use crate::terminal::{self, QUIET};

/// What tells whether files have changed.
type Stamps = Vec<Option<(SystemTime, u64)>>;

/// Checks with these options, again and again until an interrupt.
pub fn run(args: &Watch, options: &[OsString], given: LimitArgs) -> Status {
    let files = &args.check.programs.files;
    if files.iter().any(|file| file == "-") {
        return fail("standard input cannot be watched: name a file");
    }
    let interrupted = || limits::budget().check().is_err();
    let mut last = None;
    while !interrupted() {
        let stamps = stamps(files);
        if last.as_ref() == Some(&stamps) {
            thread::sleep(args.interval);
            continue;
        }
        let mut command = match std::env::current_exe() {
            Ok(program) => Command::new(program),
            Err(error) => return fail(&format!("cannot begin: {error}")),
        };
        command.arg("check").args(files).args(options).args(words(given));
        command.env("COLUMNS", terminal::width().to_string());
        command.args(["--color", if terminal::output_in_color() { "always" } else { "never" }]);
        let has_changed = || match interrupted() || self::stamps(files) != stamps {
            true => Err(Stop::Cancelled),
            false => Ok(()),
        };
        let ended = process::run(&mut command, None, has_changed, Duration::ZERO);
        match ended {
            Ok(ended) => {
                if std::io::stdout().is_terminal() {
                    clear_screen();
                }
                print_again(&ended.out);
                say_again(&ended.err);
                let name = files.join(", ");
                print(&format!("\n{}\n", paint(QUIET, &format!("watching {name}; Ctrl-C ends"))));
                last = Some(stamps);
            }
            // It has changed again, or this is the end.
            Err(NotEnded::Stopped(_)) => {}
            Err(NotEnded::Failed(error)) => return fail(&format!("cannot begin: {error}")),
        }
    }
    Status::Fine
}

fn stamps(files: &[String]) -> Stamps {
    let stamp = |file: &String| {
        let metadata = fs::metadata(file).ok()?;
        Some((metadata.modified().ok()?, metadata.len()))
    };
    files.iter().map(stamp).collect()
}

/// The limits of each check, as words.
fn words(limits: LimitArgs) -> Vec<String> {
    let LimitArgs { timeout, memory, threads } = limits;
    let timeout = timeout.map(|limit| format!("--timeout={}", limit.as_secs_f64()));
    let memory = memory.map(|limit| format!("--memory={limit}"));
    let threads = threads.map(|count| format!("--threads={count}"));
    [timeout, memory, threads].into_iter().flatten().collect()
}
