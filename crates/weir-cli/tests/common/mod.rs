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
    /// How long it took.
    #[allow(dead_code, reason = "most tests do not measure")]
    pub elapsed: Duration,
    /// The most memory that it had, in KiB, where the system tells.
    #[allow(dead_code, reason = "most tests do not measure")]
    pub peak: u64,
    /// The time of processors that it had, where the system tells.
    #[allow(dead_code, reason = "most tests do not measure")]
    pub work: Duration,
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
        .env_remove("COLUMNS")
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
    let (mut peak_so_far, mut work_so_far) = (0, Duration::ZERO);
    let status = loop {
        peak_so_far = peak_so_far.max(peak(child.id()));
        work_so_far = work_so_far.max(work(child.id()));
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if began.elapsed() > PATIENCE {
            child.kill().unwrap();
            panic!("`weir {}` does not end", args.join(" "));
        }
        thread::sleep(Duration::from_millis(2));
    };
    let elapsed = began.elapsed();
    writer.join().unwrap();
    let (out, err) = (out.join().unwrap(), err.join().unwrap());
    let status = status.code().unwrap_or_else(|| panic!("`weir {}`: {err}", args.join(" ")));
    assert!(!err.contains("panicked"), "`weir {}`: {err}", args.join(" "));
    Output { status, out, err, elapsed, peak: peak_so_far, work: work_so_far }
}

/// The time of processors that a process has had so far, in user and system mode.
fn work(process: u32) -> Duration {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // The name of the program may have spaces; it ends with a parenthesis.
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields).split_whitespace();
    let ticks = fields.skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum::<u64>();
    Duration::from_millis(ticks * 10)
}

/// The most memory that a process has had so far, in KiB.
fn peak(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}

fn text(from: &mut impl Read) -> String {
    let mut bytes = Vec::new();
    from.read_to_end(&mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

/// The fields of all schemas, each with its description if it has one.
#[allow(dead_code, reason = "tests of a browser do not need it")]
pub fn schema_fields() -> Vec<(String, Option<String>)> {
    fn fields(value: &serde_json::Value, found: &mut Vec<(String, Option<String>)>) {
        match value {
            serde_json::Value::Object(map) => {
                for (key, value) in map.iter().filter(|(key, _)| *key != "if") {
                    if let ("properties", Some(properties)) = (key.as_str(), value.as_object()) {
                        found.extend(properties.iter().map(|(name, property)| {
                            let description = property["description"].as_str();
                            (name.clone(), description.map(str::to_owned))
                        }));
                    }
                    fields(value, found);
                }
            }
            serde_json::Value::Array(values) => values.iter().for_each(|v| fields(v, found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    for file in std::fs::read_dir(root().join("schema")).unwrap() {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        fields(&serde_json::from_str(&text).unwrap(), &mut found);
    }
    found
}
