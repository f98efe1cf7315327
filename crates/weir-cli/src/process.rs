//! Programs that a command starts, and what they print.

use std::io::{self, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use weir_model::limits::Stop;

/// How often a running program is looked at.
const POLL: Duration = Duration::from_millis(5);

/// What a program left behind.
pub struct Ended {
    pub status: ExitStatus,
    pub out: String,
    pub err: String,
}

/// Why there is nothing.
pub enum NotEnded {
    /// It could not be started.
    Failed(io::Error),
    /// A limit was reached, and the program was ended.
    Stopped(Stop),
}

impl From<io::Error> for NotEnded {
    fn from(error: io::Error) -> Self {
        Self::Failed(error)
    }
}

/// Runs a program with these bytes to read, or nothing, until it ends or `check` says to stop. It has `grace` after
/// that to end by itself.
///
/// # Errors
/// If it cannot be started, or a limit is reached.
pub fn run(
    command: &mut Command,
    input: Option<Arc<[u8]>>,
    check: impl Fn() -> Result<(), Stop>,
    grace: Duration,
) -> Result<Ended, NotEnded> {
    command.stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() });
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    if let Some((input, mut stdin)) = input.zip(child.stdin.take()) {
        // It may end before it has read everything.
        thread::spawn(move || drop(stdin.write_all(&input)));
    }
    let (out, err) = (collect(child.stdout.take()), collect(child.stderr.take()));
    let mut left = grace;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if let Err(stop) = check() {
            if left.is_zero() {
                end(&mut child);
                return Err(NotEnded::Stopped(stop));
            }
            left = left.saturating_sub(POLL);
        }
        thread::sleep(POLL);
    };
    let text = |thread: thread::JoinHandle<String>| thread.join().unwrap_or_default();
    Ok(Ended { status, out: text(out), err: text(err) })
}

fn end(child: &mut Child) {
    let _ = child.kill();
    let _ = child.wait();
}

/// Reads all of a stream, beside what else is done.
fn collect(stream: Option<impl Read + Send + 'static>) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut stream) = stream {
            let _ = stream.read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}
