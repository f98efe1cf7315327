//! Running a program with limits on its time and on what it writes.
//!
//! The program gets a process group of its own, so that what it has started ends with it. Two
//! threads read what it writes, and stop at the limit. This thread polls: whether the program has
//! ended, the time, and the size of the folder that the program writes to.

use crate::Error;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

/// Limits for one run of a compiler.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// After which it is ended.
    pub time: Duration,
    /// How much it may write, to its outputs and to its folder, in bytes.
    pub bytes: u64,
    /// Whether it has to end now, because the user says so. This is asked again and again.
    pub stop: fn() -> bool,
}

impl Default for Limits {
    /// Two minutes and 512 MiB.
    fn default() -> Limits {
        Limits { time: Duration::from_secs(120), bytes: 512 << 20, stop: || false }
    }
}

/// How much of what a program writes to its outputs is kept in memory.
const MAX_TEXT: u64 = 64 << 20;

/// How a program has ended, and what it wrote.
#[derive(Debug)]
pub(crate) struct Ended {
    pub status: ExitStatus,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

impl Ended {
    /// What it wrote to standard error, or else to standard output.
    pub(crate) fn text(&self) -> String {
        let text = if self.stderr.is_empty() { &self.stdout } else { &self.stderr };
        String::from_utf8_lossy(text).into_owned()
    }
}

/// Runs a program. `folder` is what it writes to, if that is to be limited as well.
pub(crate) fn run(command: Command, limits: Limits, folder: Option<&Path>) -> Result<Ended, Error> {
    run_with(command, None, limits, folder)
}

/// Runs a program with a text as its input.
pub(crate) fn run_with(
    mut command: Command,
    input: Option<String>,
    limits: Limits,
    folder: Option<&Path>,
) -> Result<Ended, Error> {
    let program = PathBuf::from(command.get_program());
    let stdin = if input.is_some() { Stdio::piped() } else { Stdio::null() };
    command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
    own_group(&mut command);
    let mut child = command.spawn().map_err(|e| Error::Failed {
        program: program.clone(),
        text: format!("cannot be started: {e}"),
    })?;
    if let (Some(text), Some(mut stdin)) = (input, child.stdin.take()) {
        // A program that ends without reading it all says why itself.
        thread::spawn(move || stdin.write_all(text.as_bytes()));
    }
    let over = Arc::new(AtomicBool::new(false));
    let texts = limits.bytes.min(MAX_TEXT);
    let stdout = child.stdout.take().map(|s| read(s, texts, over.clone()));
    let stderr = child.stderr.take().map(|s| read(s, texts, over.clone()));

    let start = Instant::now();
    let mut pause = Duration::from_millis(1);
    let mut measured = start;
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) => {}
            Err(e) => {
                end(&mut child);
                return Err(Error::Failed { program, text: e.to_string() });
            }
        }
        let now = Instant::now();
        if now - start >= limits.time {
            end(&mut child);
            return Err(Error::TimedOut { program, limit: limits.time });
        }
        if (limits.stop)() {
            end(&mut child);
            return Err(Error::Stopped { program });
        }
        if over.load(Ordering::Relaxed) {
            end(&mut child);
            return Err(Error::TooLarge { program, limit: texts });
        }
        let mut large = false;
        if now - measured >= Duration::from_millis(20) {
            measured = now;
            large = folder.is_some_and(|f| size(f, limits.bytes) > limits.bytes);
        }
        if large {
            end(&mut child);
            return Err(Error::TooLarge { program, limit: limits.bytes });
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(10));
    };
    // What it has started and left behind may hold its outputs open.
    let rest =
        (start + limits.time).saturating_duration_since(Instant::now()).min(Duration::from_secs(5));
    let deadline = Instant::now() + rest.max(Duration::from_millis(100));
    let mut outputs = [stdout, stderr].map(|output| match output {
        None => Some(Vec::new()),
        Some(output) => {
            output.recv_timeout(deadline.saturating_duration_since(Instant::now())).ok()
        }
    });
    if outputs.iter().any(Option::is_none) {
        end_group(&child);
    }
    if over.load(Ordering::Relaxed) {
        return Err(Error::TooLarge { program, limit: texts });
    }
    if folder.is_some_and(|f| size(f, limits.bytes) > limits.bytes) {
        return Err(Error::TooLarge { program, limit: limits.bytes });
    }
    match (outputs[0].take(), outputs[1].take()) {
        (Some(stdout), Some(stderr)) => Ok(Ended { status, stdout, stderr }),
        _ => Err(Error::Failed {
            program,
            text: "it has ended, and a process that it started has not".to_owned(),
        }),
    }
}

/// Reads in a thread of its own, up to the limit.
fn read(
    mut from: impl Read + Send + 'static,
    limit: u64,
    over: Arc<AtomicBool>,
) -> Receiver<Vec<u8>> {
    let (send, receive) = channel();
    thread::spawn(move || {
        let mut all = Vec::new();
        let _ = from.by_ref().take(limit).read_to_end(&mut all);
        if all.len() as u64 >= limit && matches!(from.read(&mut [0]), Ok(1..)) {
            over.store(true, Ordering::Relaxed);
        }
        let _ = send.send(all);
    });
    receive
}

/// The size of all files in a folder. Stops when it is clearly more than `limit`.
fn size(folder: &Path, limit: u64) -> u64 {
    let mut total = 0;
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            match entry.metadata() {
                Ok(data) if data.is_dir() => folders.push(entry.path()),
                Ok(data) => total += data.len(),
                Err(_) => {}
            }
            if total > limit {
                return total;
            }
        }
    }
    total
}

/// Ends a program and all that it has started.
fn end(child: &mut Child) {
    end_group(child);
    let _ = child.kill();
    let _ = child.wait();
}

#[cfg(unix)]
fn own_group(command: &mut Command) {
    use std::os::unix::process::CommandExt;
    command.process_group(0);
}

#[cfg(not(unix))]
fn own_group(_: &mut Command) {}

/// Ends the processes of a group. The shell does it: the standard library has no safe function for
/// it.
#[cfg(unix)]
fn end_group(child: &Child) {
    let _ = Command::new("/bin/sh")
        .args(["-c", "kill -s KILL -- \"-$0\"", &child.id().to_string()])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
}

#[cfg(not(unix))]
fn end_group(_: &Child) {}
