//! Runs the built program, and ends it if it does not end by itself.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Longer than any test may take, on a slow machine too.
const PATIENCE: Duration = Duration::from_secs(120);

/// What a run of the program left behind.
#[derive(Debug)]
pub struct Output {
    /// The exit status.
    pub status: i32,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

/// The root of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Runs `weir` at the root of the repository, with nothing to read.
pub fn weir<S: AsRef<str>>(args: &[S]) -> Output {
    weir_reading(args, b"")
}

/// Runs `weir` at the root of the repository with this standard input.
pub fn weir_reading<S: AsRef<str>>(args: &[S], input: &[u8]) -> Output {
    let args: Vec<&str> = args.iter().map(AsRef::as_ref).collect();
    let mut child = Command::new(env!("CARGO_BIN_EXE_weir"))
        .args(&args)
        .current_dir(root())
        .env_remove("NO_COLOR")
        .env_remove("CLICOLOR")
        .env_remove("CLICOLOR_FORCE")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let (mut stdout, mut stderr) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let input = input.to_vec();
    let writer = thread::spawn(move || drop(stdin.write_all(&input)));
    let out = thread::spawn(move || text(&mut stdout));
    let err = thread::spawn(move || text(&mut stderr));
    let began = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if began.elapsed() > PATIENCE {
            child.kill().unwrap();
            panic!("`weir {}` does not end", args.join(" "));
        }
        thread::sleep(Duration::from_millis(2));
    };
    writer.join().unwrap();
    let (out, err) = (out.join().unwrap(), err.join().unwrap());
    let status = status.code().unwrap_or_else(|| panic!("`weir {}`: {err}", args.join(" ")));
    assert!(!err.contains("panicked"), "`weir {}`: {err}", args.join(" "));
    Output { status, out, err }
}

fn text(from: &mut impl Read) -> String {
    let mut bytes = Vec::new();
    from.read_to_end(&mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}
