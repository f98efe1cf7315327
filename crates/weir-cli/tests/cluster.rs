//! `weir check` with several workers and processes, and with closed levels on disk.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use weir_check::shards::MANIFEST;
use weir_gen::tools::setting;

use crate::common;

/// How soon every process has to end. The machine may be busy.
const SOON: Duration = Duration::from_secs(20);

const SECRET: &[u8] = b"a secret of the tests";

fn times() -> u64 {
    setting("WEIR_FAULTS", 8)
}

fn corpus(name: &str) -> PathBuf {
    common::root().join("corpus").join(format!("{name}.weir"))
}

/// A folder for the files of a test, and its processes.
struct Cluster {
    folder: PathBuf,
    children: Vec<Option<Child>>,
}

impl Cluster {
    /// Starts a process at each of so many ports of the loopback. `files` are what they check.
    fn start(name: &str, files: &[&str], more: &[&str]) -> Self {
        let folder =
            std::env::temp_dir().join(format!("weir-cluster-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (hosts, secret) = (folder.join("hosts"), folder.join("secret"));
        let ports: Vec<TcpListener> =
            files.iter().map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
        let lines: Vec<String> =
            ports.iter().map(|l| l.local_addr().unwrap().to_string()).collect();
        drop(ports);
        std::fs::write(&hosts, lines.join("\n")).unwrap();
        std::fs::write(&secret, SECRET).unwrap();
        private(&secret);
        let start = |(i, file): (usize, &&str)| {
            Command::new(env!("CARGO_BIN_EXE_weir"))
                .arg("check")
                .arg(corpus(file))
                .arg("--hosts")
                .arg(&hosts)
                .arg("--secret")
                .arg(&secret)
                .args(["--process", &i.to_string()])
                .args(more)
                .stdin(Stdio::null())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
        };
        let children = files.iter().enumerate().map(start).map(Some).collect();
        Self { folder, children }
    }

    fn kill(&mut self, process: usize) {
        let mut child = self.children[process].take().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// What the processes say that were not killed.
    fn end(&mut self) -> Vec<(usize, Output)> {
        let deadline = Instant::now() + SOON;
        let mut said = Vec::new();
        for (i, child) in self.children.iter_mut().enumerate() {
            let Some(mut child) = child.take() else { continue };
            while child.try_wait().unwrap().is_none() {
                assert!(Instant::now() < deadline, "process {i} did not end");
                thread::sleep(Duration::from_millis(5));
            }
            said.push((i, child.wait_with_output().unwrap()));
        }
        said
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for child in self.children.iter_mut().flatten() {
            let _ = child.kill();
            let _ = child.wait();
        }
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

#[cfg(unix)]
fn private(path: &std::path::Path) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).unwrap();
}

#[test]
fn processes_that_are_killed() {
    for i in 0..times() {
        // It would take many seconds.
        let (name, more) = match i % 3 {
            2 => ("aravind-3-fenced", &["--engine", "views", "--model", "pso", "--wait", "2"][..]),
            _ => ("burns-4-fenced", &["--bound", "12", "--wait", "2"][..]),
        };
        let mut cluster = Cluster::start("killed", &[name; 3], more);
        thread::sleep(Duration::from_millis(20 + (i * 137) % 500));
        let killed = i as usize % 3;
        cluster.kill(killed);
        let killed_at = Instant::now();
        for (process, output) in cluster.end() {
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            let (out, err) = (text(&output.stdout), text(&output.stderr));
            let status = output.status.code();
            assert!(matches!(status, Some(2 | 3)), "{i}: {process} {status:?} {out} {err}");
            assert!(!out.contains("holds") && !err.contains("panicked"), "{out} {err}");
            let said = out + &err;
            assert!(said.contains("process "), "{process}: {said}");
        }
        assert!(killed_at.elapsed() < SOON);
    }
}

#[test]
fn mistakes_of_those_who_start_it() {
    // Another program at one host.
    let mut cluster = Cluster::start("differ", &["dekker-2", "peterson-2"], &["--wait", "5"]);
    for (process, output) in cluster.end() {
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{err}");
        assert!(err.contains(&format!("process {}", 1 - process)), "{err}");
        assert!(err.contains("checks a different program"), "{err}");
        assert_eq!(err.lines().count(), 1, "{err}");
    }
    drop(cluster);
    // A host that cannot be reached.
    let mut cluster = Cluster::start("missing", &["dekker-2", "dekker-2"], &["--wait", "0.5"]);
    cluster.kill(0);
    for (_, output) in cluster.end() {
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{err}");
        assert!(err.contains("process 0 at 127.0.0.1:"), "{err}");
    }
}

/// What `weir` prints, without times.
fn print(args: &[&str]) -> (Option<i32>, String) {
    let output =
        Command::new(env!("CARGO_BIN_EXE_weir")).args(args).stdin(Stdio::null()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(err.is_empty(), "{err}");
    let is_about_time = |line: &str| line.starts_with("explicit: ") || line.starts_with("views: ");
    let without = |line: &str| match is_about_time(line) {
        true => line.rsplit_once(", ").map(|(before, _)| before.to_owned()).unwrap_or_default(),
        false => line.to_owned(),
    };
    (output.status.code(), text.lines().map(without).collect::<Vec<_>>().join("\n"))
}

#[test]
fn what_is_printed_is_the_same() {
    for name in ["dekker-2", "peterson-2-fenced"] {
        let file = corpus(name);
        let file = file.to_str().unwrap();
        let one = print(&["check", file, "--engine", "explicit", "--threads", "1"]);
        for more in [&["--workers", "2"][..], &["--processes", "2", "--workers", "2"]] {
            assert_eq!(one, print(&[&["check", file][..], more].concat()), "{name} {more:?}");
        }
        let (status, text) = print(&["check", file, "--processes", "3", "--stats"]);
        assert_eq!(status, one.0);
        assert!(text.contains("among 3 processes"), "{text}");
    }
}

/// Certificates and runs of views are the files of one thread, and the JSON tells what each worker did.
#[test]
fn what_is_written_is_the_same() {
    let folder = std::env::temp_dir().join(format!("weir-cluster-written-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    for (name, model, option) in
        [("peterson-2-fenced", "tso", "--certificate"), ("dekker-2", "pso", "--witness")]
    {
        let file = corpus(name);
        let file = file.to_str().unwrap();
        let (one, several) = (path("one"), path("several"));
        let begin = ["check", file, "--engine", "views", "--model", model, option];
        let printed = print(&[&begin[..], &[&one]].concat());
        for more in [&["--workers", "3"][..], &["--processes", "2", "--workers", "2"]] {
            let found = print(&[&begin[..], &[&several], more].concat());
            assert_eq!(printed.0, found.0, "{name} {more:?}");
            assert_eq!(printed.1.replace(&one, &several), found.1, "{name} {more:?}");
            let [one, several] = [&one, &several].map(|path| std::fs::read(path).unwrap());
            assert_eq!(one, several, "{name} {more:?}");
        }
    }
    let file = corpus("peterson-2-fenced");
    let file = file.to_str().unwrap();
    for engine in ["explicit", "views"] {
        let args = ["--engine", engine, "--processes", "2", "--workers", "2", "--format", "json"];
        let (_, text) = print(&[&["check", file][..], &args].concat());
        let report: serde_json::Value = serde_json::from_str(&text).unwrap();
        let stats = &report["findings"][0]["statistics"];
        let cluster = &stats["cluster"];
        assert_eq!(cluster["processes"], 2);
        let workers = cluster["workers"].as_array().unwrap();
        let processes: Vec<u64> = workers.iter().map(|w| w["process"].as_u64().unwrap()).collect();
        assert_eq!(processes, [0, 0, 1, 1]);
        let sum = |field: &str| workers.iter().map(|w| w[field].as_u64().unwrap()).sum::<u64>();
        assert_eq!(sum("stored"), stats["configurations"].as_u64().unwrap());
        assert_eq!(sum("steps"), stats["steps"].as_u64().unwrap());
        assert_eq!(sum("bytes"), stats["bytes"].as_u64().unwrap());
        assert!(sum("expanded") > 0 && sum("sent") > 0, "{text}");
        assert!(workers.iter().all(|w| w["waited"].as_f64().is_some()), "{text}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

fn run(words: &[&str]) -> (i32, String) {
    let Output { status, stdout, stderr } =
        Command::new(env!("CARGO_BIN_EXE_weir")).args(words).output().unwrap();
    let text = String::from_utf8_lossy(&stdout) + String::from_utf8_lossy(&stderr);
    (status.code().unwrap(), text.into_owned())
}

/// The files of a folder.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
    entries.map(|e| (name(&e.path()), std::fs::read(e.path()).unwrap())).collect()
}

/// Writes shards with files of at most so many blocks of 512 bytes. Beyond that the process is killed,
/// or told that it cannot write.
#[cfg(unix)]
fn limited(blocks: usize, is_killed: bool, words: &[&str]) -> (Option<i32>, String) {
    let ignored = if is_killed { "" } else { "trap '' XFSZ; " };
    let script = format!("ulimit -c 0; {ignored}ulimit -f {blocks} && exec \"$0\" \"$@\"");
    let mut command = Command::new("sh");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_weir")]).args(words);
    let Output { status, stdout, stderr } = command.output().unwrap();
    let text = String::from_utf8_lossy(&stdout) + String::from_utf8_lossy(&stderr);
    (status.code(), text.into_owned())
}

/// Whoever writes shards is killed in the middle of one, or the disk is full: each file is the old one
/// or a whole new one, and nothing but a whole proof is accepted.
#[cfg(unix)]
#[test]
fn half_a_shard_never_replaces_the_old_one() {
    let (program, other) = (corpus("peterson-2-fenced"), corpus("anderson-2-fenced"));
    let (program, other) = (program.to_str().unwrap(), other.to_str().unwrap());
    let folder = std::env::temp_dir().join(format!("weir-half-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let proof = folder.join("proof");
    let place = proof.to_str().unwrap();
    let args = ["check", program, "--certificate", place, "--workers", "2"];
    assert_eq!(run(&args).0, 0);
    let whole = files(&proof);
    assert_eq!(run(&["check", other, "--certificate", place, "--workers", "2"]).0, 0);
    let old = files(&proof);
    let largest = whole.values().map(Vec::len).max().unwrap();
    for is_killed in [true, false] {
        for blocks in [0, largest / 1024] {
            for (name, bytes) in &old {
                std::fs::write(proof.join(name), bytes).unwrap();
            }
            let (code, text) = limited(blocks, is_killed, &args);
            match is_killed {
                true => assert_eq!(code, None, "{text}"),
                false => {
                    assert!(code == Some(2) && text.contains("cannot write"), "{code:?} {text}")
                }
            }
            for (name, bytes) in files(&proof) {
                if name.ends_with(".tmp") {
                    assert!(is_killed, "{name} is left behind");
                    continue;
                }
                let is = |all: &BTreeMap<String, Vec<u8>>| all.get(&name) == Some(&bytes);
                assert!(is(&old) || is(&whole), "{name} is half a file");
            }
            let (code, text) = run(&["certify", place, program]);
            assert!(code != 0 && !text.starts_with("accepted"), "{code} {text}");
            assert_eq!(run(&args).0, 0);
            assert_eq!(files(&proof), whole, "nothing is left behind");
        }
    }
    // Several processes at once write the same files.
    let spawn = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_weir"));
        command.args(args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    };
    for _ in 0..3 {
        let mut children = [spawn(), spawn(), spawn()];
        assert!(children.iter_mut().all(|child| child.wait().unwrap().code() == Some(0)));
        assert_eq!(files(&proof), whole);
    }
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn proofs_in_shards() {
    let program = corpus("peterson-2-fenced");
    let program = program.to_str().unwrap();
    let folder = std::env::temp_dir().join(format!("weir-shards-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let place = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    for (name, words) in [
        ("one", vec!["--workers", "1"]),
        ("two", vec!["--workers", "2", "--verify"]),
        ("apart", vec!["--processes", "2", "--workers", "2"]),
    ] {
        let proof = place(name);
        let all = [vec!["check", program, "--certificate", &proof], words.clone()].concat();
        let (code, text) = run(&all);
        assert_eq!(code, 0, "{text}");
        assert_eq!(text.contains("was not checked yet"), name != "two", "{text}");
        let left = std::fs::read_dir(&proof).unwrap().count();
        let shards = match name {
            "one" => 1,
            "two" => 2,
            _ => 4,
        };
        assert_eq!(left, shards + 1, "nothing is left behind");
        for threads in ["1", "2"] {
            let (code, text) = run(&["certify", &proof, program, "--threads", threads]);
            assert_eq!(code, 0, "{text}");
            assert!(text.starts_with("accepted") && text.contains("under TSO"), "{text}");
        }
        let (code, text) = run(&["certify", &proof, program, "--join"]);
        assert_eq!(code, 1, "{text}");
        assert!(text.contains("shard 0 was not checked"), "{text}");
        for option in ["--shard", "--discharge"] {
            for shard in 0..shards {
                let (code, text) = run(&["certify", &proof, program, option, &shard.to_string()]);
                assert_eq!(code, 3, "{text}");
                assert!(
                    text.starts_with("checked in part") && !text.contains("accepted"),
                    "{text}"
                );
            }
        }
        let (code, text) = run(&["certify", &proof, program, "--join"]);
        assert_eq!(code, 3, "{text}");
        assert!(
            text.contains("all receipts fit together; the shards were not checked again"),
            "{text}"
        );
        let (code, text) = run(&["certify", &proof, program, "--shard", "9"]);
        assert_eq!(code, 1, "{text}");
        let (code, text) = run(&["certify", &proof, corpus("dekker-2").to_str().unwrap()]);
        assert_eq!(code, 1, "{text}");
        assert!(text.contains("another program"), "{text}");
        std::fs::remove_file(Path::new(&proof).join("shard-0.jsonl")).unwrap();
        let (code, text) = run(&["certify", &proof, program]);
        assert_eq!(code, 2, "{text}");
        assert!(text.contains("shard-0.jsonl"), "{text}");
        std::fs::remove_file(Path::new(&proof).join(MANIFEST)).unwrap();
        let (code, text) = run(&["certify", &proof, program]);
        assert_eq!(code, 2, "{text}");
        assert!(text.contains(MANIFEST), "{text}");
    }
    // There is no proof of what is violated, and a file is no folder.
    let violated = corpus("peterson-2");
    let proof = place("none");
    let words = ["check", violated.to_str().unwrap(), "--workers", "2", "--certificate", &proof];
    let (code, text) = run(&words);
    assert_eq!(code, 1, "{text}");
    assert!(!Path::new(&proof).join(MANIFEST).exists(), "{text}");
    std::fs::write(&proof, "a file").unwrap();
    let (code, text) = run(&words);
    assert_eq!(code, 2, "{text}");
    assert!(text.contains("is a file"), "{text}");
    let (code, text) = run(&["certify", &proof, program, "--shard", "0"]);
    assert_eq!(code, 2, "{text}");
    let deep = place("none/deep");
    let (code, text) = run(&["check", program, "--workers", "2", "--certificate", &deep]);
    assert_eq!(code, 2, "{text}");
    assert!(text.contains("cannot write"), "{text}");
    std::fs::remove_dir_all(folder).unwrap();
}

/// Two processes that count, and a property that the last of all configurations violates: the
/// run goes through all levels.
fn counting() -> String {
    let mut text = "var x\nvar y\n".to_owned();
    for (process, var) in [("p", "x"), ("q", "y")] {
        let writes: Vec<String> = (1..=150).map(|n| format!("{var} = {n}")).collect();
        let _ = writeln!(text, "process {process} {{ {} }}", writes.join("  "));
    }
    text + "never x == 150 and y == 150\n"
}

#[test]
fn closed_levels_on_disk() {
    let folder = std::env::temp_dir().join(format!("weir-spill-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let program = folder.join("counting.weir");
    std::fs::write(&program, counting()).unwrap();
    let run = |words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_weir"));
        command.arg("check").arg(&program).args(["--model", "sc", "--engine", "explicit"]);
        let output = command.args(words).output().unwrap();
        let text =
            String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        (output.status.code().unwrap(), text.into_owned())
    };
    let place = folder.join("levels");
    let place = place.to_str().unwrap();
    for words in [vec![], vec!["--workers", "2"], vec!["--processes", "2"]] {
        let (code, text) = run(&[words, vec!["--stats", "--spill", place]].concat());
        assert_eq!(code, 1, "{text}");
        assert!(text.contains("MiB on disk"), "{text}");
        assert_eq!(std::fs::read_dir(place).unwrap().count(), 0);
    }
    for words in [vec![], vec!["--workers", "2"]] {
        let (code, text) = run(&[words, vec!["--spill", program.to_str().unwrap()]].concat());
        assert_eq!(code, 2, "{text}");
        assert!(text.contains("cannot keep levels in"), "{text}");
    }
    std::fs::remove_dir_all(folder).unwrap();
}
