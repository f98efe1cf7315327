//! What goes wrong in a cluster ends the search in every process, soon, and never with `holds`.
//!
//! Each kind of fault is tried `WEIR_FAULTS` times, at different moments.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use weir::load::Reading;
use weir::{Loaded, MemoryModel};
use weir_dist::{Distributed, Hosts};
use weir_engine::{Engine, Explicit, Refusal, SearchOptions, Stats, Task};
use weir_gen::tools::setting;
use weir_model::answer::{Answer, Verdict};
use weir_model::limits::Budget;
use weir_model::system::System;

/// How soon every process has to end. The machine may be busy.
const SOON: Duration = Duration::from_secs(20);

const SECRET: &[u8] = b"a secret of the tests";

fn times() -> u64 {
    setting("WEIR_FAULTS", 20)
}

fn corpus(name: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "..", "..", "corpus", &format!("{name}.weir")].iter().collect()
}

fn load(name: &str) -> System {
    let text = std::fs::read_to_string(corpus(name)).unwrap();
    Loaded::read(name, &text, &Reading::default()).unwrap().system
}

/// A search that takes several rounds and sends much.
const LARGE: &str = "bakery-3-fenced";

/// The same with views, under PSO.
const LARGE_VIEWS: &str = "aravind-3-fenced";

fn options() -> SearchOptions {
    SearchOptions { bound: Some(2), ..SearchOptions::default() }
}

type Found = Result<(Vec<Answer>, Stats), Refusal>;

/// One process of several, as a thread: what it is asked, and where it listens.
struct Process {
    name: &'static str,
    model: MemoryModel,
    options: SearchOptions,
    workers: usize,
    /// Whether it searches with views.
    views: bool,
    secret: Vec<u8>,
    silence: Duration,
}

impl Default for Process {
    fn default() -> Self {
        Self {
            name: LARGE,
            model: MemoryModel::TSO,
            options: options(),
            workers: 1,
            views: false,
            secret: SECRET.to_vec(),
            silence: Duration::from_secs(10),
        }
    }
}

impl Process {
    /// A search with views that takes many seconds.
    fn views() -> Self {
        Self { name: LARGE_VIEWS, model: MemoryModel::PSO, views: true, ..Self::default() }
    }
}

/// What all processes find, and how long it took. They call each other at the addresses that
/// `address` makes of those at which they listen.
fn together(
    processes: Vec<Process>,
    address: &dyn Fn(usize, &TcpListener) -> String,
) -> (Vec<Found>, Duration) {
    let began = Instant::now();
    let listeners: Vec<TcpListener> =
        processes.iter().map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
    let addresses: Vec<String> = listeners.iter().enumerate().map(|(i, l)| address(i, l)).collect();
    let found = thread::scope(|scope| {
        let threads: Vec<_> = processes
            .into_iter()
            .zip(listeners)
            .enumerate()
            .map(|(me, (process, listener))| {
                let Process { name, model, options, workers, views, secret, silence } = process;
                let wait = Duration::from_secs(3);
                let hosts = Hosts { addresses: addresses.clone(), me, secret, wait, silence };
                scope.spawn(move || {
                    let engine = match views {
                        true => Distributed::views(workers),
                        false => Distributed::new(workers),
                    };
                    let engine = engine.with_hosts(hosts).with_listener(listener);
                    let system = load(name);
                    engine.check(Task::new(&system, model, &options), &mut |_| {})
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    (found, began.elapsed())
}

fn own(_: usize, listener: &TcpListener) -> String {
    listener.local_addr().unwrap().to_string()
}

/// Nobody says more than `unknown`; the reasons.
fn reasons(found: &[Found]) -> Vec<String> {
    let reason = |found: &Found| match found {
        Ok((answers, stats)) => {
            assert!(answers.iter().all(|a| a.verdict == Verdict::Unknown), "{answers:?}");
            stats.stopped.clone().unwrap_or_else(|| panic!("no reason: {stats:?}"))
        }
        Err(refusal) => refusal.to_string(),
    };
    found.iter().map(reason).collect()
}

/// Relays a connection until so many bytes have passed, and then closes it or says nothing more.
fn relay(to: String, most: usize, is_silent: bool) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let passed = Arc::new(AtomicUsize::new(0));
    thread::spawn(move || {
        while let Ok((near, _)) = listener.accept() {
            let Ok(far) = TcpStream::connect(&to) else { continue };
            for (mut from, mut to) in [
                (near.try_clone().unwrap(), far.try_clone().unwrap()),
                (far.try_clone().unwrap(), near.try_clone().unwrap()),
            ] {
                let passed = passed.clone();
                thread::spawn(move || {
                    let mut buffer = [0; 1024];
                    while let Ok(n @ 1..) = from.read(&mut buffer) {
                        if passed.fetch_add(n, Ordering::Relaxed) > most {
                            match is_silent {
                                true => thread::sleep(SOON),
                                false => {
                                    let _ = from.shutdown(Shutdown::Both);
                                    let _ = to.shutdown(Shutdown::Both);
                                }
                            }
                            return;
                        }
                        if to.write_all(&buffer[..n]).is_err() {
                            return;
                        }
                    }
                    let _ = to.shutdown(Shutdown::Write);
                });
            }
        }
    });
    address
}

#[test]
fn connections_that_are_cut() {
    for i in 0..times() {
        let (count, is_silent) = (2 + i as usize % 2, i % 4 == 3);
        let most = 1500 + (i as usize * 7919) % 60_000;
        let silence = Duration::from_millis(if is_silent { 400 } else { 10_000 });
        let process = || match i % 3 {
            1 => Process { silence, ..Process::views() },
            _ => Process { silence, ..Process::default() },
        };
        let processes = (0..count).map(|_| process()).collect();
        // Only what goes to the first process is cut.
        let (found, time) = together(processes, &|i, listener| match i {
            0 => relay(own(i, listener), most, is_silent),
            _ => own(i, listener),
        });
        let reasons = reasons(&found);
        assert!(time < SOON, "{time:?}");
        let says = |r: &String| {
            ["was lost", "did not answer", "has given up", "did not come", "cannot reach"]
                .iter()
                .any(|words| r.contains(words))
        };
        assert!(reasons.iter().all(says), "{most}: {reasons:?}");
    }
}

#[test]
fn programs_that_differ() {
    for i in 0..times() {
        let other = match i % 5 {
            0 => (Process { name: "bakery-2", ..Process::default() }, "different program"),
            1 => (Process { model: MemoryModel::SC, ..Process::default() }, "memory model"),
            2 => {
                let options = SearchOptions { bound: Some(3), ..options() };
                (Process { options, ..Process::default() }, "bound")
            }
            3 => (Process { workers: 2, ..Process::default() }, "workers"),
            _ => {
                let secret = b"another secret of the tests".to_vec();
                (Process { secret, ..Process::default() }, "secret")
            }
        };
        let (other, word) = other;
        let mut processes = vec![Process::default(), other];
        if i % 2 == 1 {
            processes.push(Process::default());
        }
        let (found, time) = together(processes, &own);
        assert!(time < SOON, "{time:?}");
        assert!(found.iter().all(|f| matches!(f, Err(Refusal::Apart(_)))), "{found:?}");
        let reasons = reasons(&found);
        assert!(reasons[1].contains(word), "{reasons:?}");
        // Another one may have ended before this one was heard.
        let is_known = reasons[0].contains(word) || reasons[0].contains("has given up");
        assert!(is_known, "{reasons:?}");
    }
}

#[test]
fn strangers_change_nothing() {
    let told = |found: &(Vec<Answer>, Stats)| {
        let stats = Stats { elapsed: Duration::ZERO, bytes: 0, ..found.1.clone() };
        format!("{:?} {stats:?}", found.0)
    };
    let small = || Process { name: "peterson-2", ..Process::default() };
    let system = load("peterson-2");
    let options = options();
    let task = Task::new(&system, MemoryModel::TSO, &options);
    let one = told(&Explicit.check(task, &mut |_| {}).unwrap());
    for i in 0..times() {
        let is_over = Arc::new(AtomicBool::new(false));
        let (found, _) = together(vec![small(), small()], &|process, listener| {
            let address = own(process, listener);
            let (to, is_over) = (address.clone(), is_over.clone());
            let (sender, receiver) = std::sync::mpsc::channel();
            thread::spawn(move || {
                let mut open = Vec::new();
                while !is_over.load(Ordering::Relaxed) && open.len() < 20 {
                    let Ok(mut stream) = TcpStream::connect(&to) else { break };
                    let hello = r#"{"protocol":"weir-dist 1","from":1,"to":0,"nonce":"00"}"#;
                    let hello =
                        [&(hello.len() as u32).to_le_bytes()[..], hello.as_bytes()].concat();
                    let words: &[u8] = match (i + open.len() as u64) % 4 {
                        // It knows the protocol, but not the secret.
                        0 => &hello,
                        1 => b"GET / HTTP/1.1\r\n\r\n",
                        2 => &[0xff; 64],
                        // It says nothing.
                        _ => &[],
                    };
                    let _ = stream.write_all(words);
                    open.push(stream);
                    let _ = sender.send(());
                }
            });
            // The first one comes before anybody else.
            let _ = receiver.recv_timeout(SOON);
            address
        });
        is_over.store(true, Ordering::Relaxed);
        for found in found {
            assert_eq!(one, told(&found.unwrap()));
        }
    }
}

#[test]
fn a_full_memory_on_one_host_stops_all() {
    for i in 0..times().min(5) {
        let budget = Budget::new().with_store(300_000 + i as usize * 100_000);
        let process = || Process { name: "filter-4-fenced", ..Process::default() };
        let full = Process { options: SearchOptions { budget, ..options() }, ..process() };
        let (found, time) = together(vec![process(), full, process()], &own);
        assert!(time < SOON, "{time:?}");
        for reason in reasons(&found) {
            assert!(reason.starts_with("in process 1: the memory limit"), "{reason}");
        }
        // The same with views.
        let budget = Budget::new().with_store(300_000 + i as usize * 100_000);
        let full = Process { options: SearchOptions { budget, ..options() }, ..Process::views() };
        let (found, time) = together(vec![Process::views(), full, Process::views()], &own);
        assert!(time < SOON, "{time:?}");
        for reason in reasons(&found) {
            assert!(reason.starts_with("in process 1: the memory limit"), "{reason}");
        }
    }
}

/// A folder for the files of a test, and processes of `weir-dist`.
struct Cluster {
    folder: PathBuf,
    children: Vec<Option<Child>>,
}

impl Cluster {
    /// Starts a process at each of so many ports of the loopback. `files` are what they check.
    fn start(name: &str, files: &[&str], more: &[&str]) -> Self {
        let folder = std::env::temp_dir().join(format!("weir-dist-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (hosts, secret) = (folder.join("hosts"), folder.join("secret"));
        let ports: Vec<TcpListener> =
            files.iter().map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
        let lines: Vec<String> = ports.iter().map(|l| own(0, l)).collect();
        drop(ports);
        std::fs::write(&hosts, lines.join("\n")).unwrap();
        std::fs::write(&secret, SECRET).unwrap();
        private(&secret);
        let start = |(i, file): (usize, &&str)| {
            Command::new(env!("CARGO_BIN_EXE_weir-dist"))
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
            2 => (LARGE_VIEWS, &["--engine", "views", "--model", "pso", "--wait", "2"][..]),
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

/// What `weir-dist` prints, without times.
fn print(args: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_weir-dist"))
        .args(args)
        .stdin(Stdio::null())
        .output()
        .unwrap();
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
    let folder = std::env::temp_dir().join(format!("weir-dist-written-{}", std::process::id()));
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
        let stats = &report["stats"];
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
