//! What goes wrong in a cluster ends the search in every process, soon, and never with `holds`.
//!
//! Each kind of fault is tried `WEIR_FAULTS` times, at different moments.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::PathBuf;
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
    setting("WEIR_FAULTS", 8)
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

/// What a relay does after so many bytes.
#[derive(Clone, Copy, PartialEq)]
enum After {
    Cut,
    BeSilent,
    /// Changes one bit of what it passes on.
    Change,
}

/// Relays a connection, until so many bytes have passed as it is.
fn relay(to: String, most: usize, after: After) -> String {
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
                        let before = passed.fetch_add(n, Ordering::Relaxed);
                        match after {
                            After::Cut if before > most => {
                                let _ = from.shutdown(Shutdown::Both);
                                let _ = to.shutdown(Shutdown::Both);
                                return;
                            }
                            After::BeSilent if before > most => {
                                thread::sleep(SOON);
                                return;
                            }
                            After::Change if before <= most && before + n > most => {
                                buffer[most - before] ^= 1;
                            }
                            _ => {}
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

/// What is changed on its way after the handshake is noticed, whichever bit it is.
#[test]
fn packets_that_are_changed() {
    let mut noticed = 0;
    for i in 0..times() {
        let most = 1500 + (i as usize * 7919) % 60_000;
        let process = || match i % 3 {
            1 => Process::views(),
            _ => Process::default(),
        };
        let (found, time) = together(vec![process(), process()], &|i, listener| match i {
            0 => relay(own(i, listener), most, After::Change),
            _ => own(i, listener),
        });
        assert!(time < SOON, "{time:?}");
        let reasons = reasons(&found);
        noticed += u64::from(reasons.iter().any(|r| r.contains("was changed on its way")));
    }
    // A length that is changed may be noticed as a connection that ends too soon.
    assert!(2 * noticed >= times(), "{noticed} of {}", times());
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
            0 => {
                relay(own(i, listener), most, if is_silent { After::BeSilent } else { After::Cut })
            }
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
