//! Proofs in shards: any number of workers and processes writes the same set, its checker accepts it
//! as a whole and shard by shard, and rejects whatever is not that set.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Cursor, Read, Write};
use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::Value;
use sha2::Digest;
use weir::load::Reading;
use weir::{Loaded, MemoryModel};
use weir_check::closed::{self, ClosedSet};
use weir_check::sha256::Sha256;
use weir_check::shards::{
    Failure, Folder, Listed, MANIFEST, Manifest, Unfinished, check, check_shard, checked_name,
    discharge, discharged_name, join, obligations_name, shard_name,
};
use weir_dist::{Distributed, Hosts, NoShards};
use weir_engine::{Engine, Explicit, SearchOptions, Task, reachable};
use weir_model::answer::Evidence;
use weir_model::ids::QuestionId;
use weir_model::limits::Budget;
use weir_model::system::System;

/// A folder in memory. Files that begin with `broken` cannot be written.
#[derive(Clone, Default)]
struct Files {
    all: Arc<Mutex<BTreeMap<String, Vec<u8>>>>,
    broken: Option<&'static str>,
}

impl Files {
    fn get(&self, name: &str) -> Vec<u8> {
        self.all.lock().unwrap()[name].clone()
    }

    fn set(&self, name: &str, bytes: Vec<u8>) {
        self.all.lock().unwrap().insert(name.to_owned(), bytes);
    }

    fn copy(&self) -> Self {
        let all = self.all.lock().unwrap().clone();
        Self { all: Arc::new(Mutex::new(all)), broken: self.broken }
    }

    fn names(&self) -> Vec<String> {
        self.all.lock().unwrap().keys().cloned().collect()
    }

    /// Adds the files of another machine.
    fn add(&self, other: &Self) {
        let other = other.all.lock().unwrap().clone();
        self.all.lock().unwrap().extend(other);
    }

    fn manifest(&self) -> Manifest {
        serde_json::from_slice(&self.get(MANIFEST)).unwrap()
    }

    /// Changes the manifest.
    fn edit(&self, change: impl FnOnce(&mut Manifest)) {
        let mut manifest = self.manifest();
        change(&mut manifest);
        self.set(MANIFEST, serde_json::to_vec(&manifest).unwrap());
    }

    /// Replaces a shard, and has the manifest name the new one, as somebody would who means to
    /// deceive.
    fn replace(&self, shard: usize, text: &str) {
        let configurations = text.lines().filter(|line| line.starts_with('[')).count() as u64;
        let (bytes, digest) = (text.len() as u64, Sha256::of(text.as_bytes()));
        self.edit(|m| m.shards[shard] = Listed { configurations, bytes, digest });
        self.set(&shard_name(shard), text.as_bytes().to_vec());
    }

    fn text(&self, shard: usize) -> String {
        String::from_utf8(self.get(&shard_name(shard))).unwrap()
    }
}

struct File {
    name: String,
    bytes: Vec<u8>,
    files: Files,
}

impl Write for File {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Unfinished for File {
    fn finish(self: Box<Self>) -> io::Result<()> {
        self.files.set(&self.name, self.bytes);
        Ok(())
    }
}

impl Folder for Files {
    fn open(&self, name: &str) -> io::Result<Box<dyn Read + Send>> {
        match self.all.lock().unwrap().get(name) {
            Some(bytes) => Ok(Box::new(Cursor::new(bytes.clone()))),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn create(&self, name: &str) -> io::Result<Box<dyn Unfinished>> {
        if self.broken.is_some_and(|broken| name.starts_with(broken)) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        Ok(Box::new(File { name: name.to_owned(), bytes: vec![], files: self.clone() }))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.all.lock().unwrap().remove(name);
        Ok(())
    }
}

fn path(name: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "..", "..", name].iter().collect()
}

fn load(name: &str) -> System {
    let text = std::fs::read_to_string(path(name)).unwrap();
    Loaded::read(name, &text, &Reading::default()).unwrap().system
}

/// The properties that an exhaustive search shows.
fn exhausted(system: &System, model: MemoryModel) -> Vec<usize> {
    let options = SearchOptions { certificate: true, ..SearchOptions::default() };
    let found = Explicit.check(Task::new(system, model, &options), &mut |_| {});
    let answers = found.unwrap().0.into_iter();
    answers
        .filter(|a| matches!(a.evidence, Evidence::Exhausted))
        .map(|a| a.property.index())
        .collect()
}

/// Has so many processes, as threads, with so many workers each write shards, each to a folder of
/// its own.
fn write(
    name: &str,
    model: MemoryModel,
    properties: &[usize],
    (processes, workers): (usize, usize),
    folders: &[Files],
) -> Vec<Result<Manifest, NoShards>> {
    let listeners: Vec<TcpListener> =
        (0..processes).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
    let addresses: Vec<String> =
        listeners.iter().map(|l| l.local_addr().unwrap().to_string()).collect();
    thread::scope(|scope| {
        let start = |(me, listener): (usize, TcpListener)| {
            let hosts = Hosts {
                addresses: addresses.clone(),
                me,
                secret: b"a secret of the tests".to_vec(),
                wait: Duration::from_secs(30),
                silence: Duration::from_secs(10),
            };
            scope.spawn(move || {
                let engine = Distributed::new(workers).with_hosts(hosts).with_listener(listener);
                let (system, options) = (load(name), SearchOptions::default());
                let task = Task::new(&system, model, &options);
                engine.write_shards(task, properties.to_vec(), &folders[me])
            })
        };
        let threads: Vec<_> = listeners.into_iter().enumerate().map(start).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// The shards that so many processes and workers write, in one folder.
fn written(
    name: &str,
    model: MemoryModel,
    properties: &[usize],
    (processes, workers): (usize, usize),
) -> Files {
    let folders: Vec<Files> = (0..processes).map(|_| Files::default()).collect();
    let manifests = write(name, model, properties, (processes, workers), &folders);
    let first = manifests[0].clone().unwrap();
    assert!(manifests.iter().all(|m| m.as_ref() == Ok(&first)), "{manifests:?}");
    for (process, folder) in folders.iter().enumerate() {
        // Everybody has written the manifest and the own shards, and nothing else.
        let own = (process * workers..(process + 1) * workers).map(shard_name);
        let mut expected: Vec<String> = own.chain([MANIFEST.to_owned()]).collect();
        expected.sort();
        assert_eq!(folder.names(), expected);
        folders[0].add(folder);
    }
    folders[0].clone()
}

/// The configurations of all shards, by names, read without the code of the checker.
fn configurations(files: &Files) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for shard in 0..files.manifest().shards.len() {
        let mut names: BTreeMap<u64, Vec<String>> = BTreeMap::new();
        for line in files.text(shard).lines().skip(1) {
            let value: Value = serde_json::from_str(line).unwrap();
            if let Some(process) = value.get("process") {
                let name = value["state"].as_str().unwrap().to_owned();
                names.entry(process.as_u64().unwrap()).or_default().push(name);
                continue;
            }
            let states = value[0].as_array().unwrap().iter().enumerate();
            let named: Vec<&String> =
                states.map(|(p, s)| &names[&(p as u64)][s.as_u64().unwrap() as usize]).collect();
            assert!(all.insert(format!("{named:?} {} {}", value[1], value[2])), "{line}");
        }
    }
    all
}

/// The same of an ordinary set.
fn ordinary(set: &ClosedSet) -> BTreeSet<String> {
    let number = |name: &String| set.variables.iter().position(|v| v == name).unwrap();
    let of = |config: &weir_check::store_buffers::Configuration| {
        let buffers: Vec<Vec<(usize, i128)>> = config
            .buffers
            .iter()
            .map(|b| b.iter().map(|w| (number(&w.0), w.1)).collect())
            .collect();
        let (memory, buffers) = (serde_json::json!(config.memory), serde_json::json!(buffers));
        format!("{:?} {memory} {buffers}", config.states)
    };
    set.configurations.iter().map(of).collect()
}

fn whole(name: &str, files: &Files, threads: usize) -> Result<(), Failure> {
    check(&load(name), &Manifest::read(files)?, files, threads, &Budget::new())
}

/// Checks shard by shard: each is loaded by itself, with a system of its own.
fn one_by_one(name: &str, files: &Files) -> Result<(), Failure> {
    let (signed, budget) = (Manifest::read(files)?, Budget::new());
    let shards = signed.manifest.shards.len();
    for shard in (0..shards).rev() {
        check_shard(&load(name), &signed, shard, files, &budget)?;
        assert!(join(&load(name), &signed, files, &budget).is_err(), "not all were checked");
    }
    for shard in 0..shards {
        assert!(join(&load(name), &signed, files, &budget).is_err(), "not all were discharged");
        discharge(&load(name), &signed, shard, files, &budget)?;
    }
    join(&load(name), &signed, files, &budget)
}

/// What a checker says in each way, which has to be the same verdict.
fn rejected(name: &str, files: &Files, what: &str) -> String {
    let one = whole(name, files, 1);
    let two = whole(name, files, 2);
    let apart = one_by_one(name, &files.copy());
    let reason = |result: Result<(), Failure>| match result {
        Ok(()) => panic!("{what}: it is accepted"),
        Err(failure) => failure.to_string(),
    };
    let (one, two, apart) = (reason(one), reason(two), reason(apart));
    assert_eq!(one, two, "{what}");
    assert!(!apart.is_empty());
    one
}

/// Programs with properties that hold.
const HOLD: [(&str, MemoryModel); 7] = [
    ("corpus/peterson-2-fenced.weir", MemoryModel::TSO),
    ("corpus/burns-2-fenced.weir", MemoryModel::TSO),
    ("corpus/peterson-2.weir", MemoryModel::SC),
    ("corpus/dekker-2.weir", MemoryModel::SC),
    ("corpus/ticket-2.weir", MemoryModel::TSO),
    ("corpus/treiber-2.weir", MemoryModel::TSO),
    ("litmus/SB+mfences.litmus", MemoryModel::TSO),
];

#[test]
fn shards_are_the_ordinary_set() {
    let mut tried = 0;
    for (name, model) in HOLD {
        let system = load(name);
        let properties = exhausted(&system, model);
        if properties.is_empty() {
            continue;
        }
        let set = reachable::configurations(&system, model, &Budget::new()).unwrap();
        tried += 1;
        let ids = properties.iter().map(|i| QuestionId::new(*i)).collect();
        let set = ClosedSet::new(&system, model, ids, &set);
        assert_eq!(closed::check(&system, &set), Ok(()), "{name}");
        let expected = ordinary(&set);
        for cluster in [(1, 1), (1, 2), (1, 3), (2, 1), (3, 1), (2, 2)] {
            let files = written(name, model, &properties, cluster);
            let manifest = files.manifest();
            assert_eq!(manifest.shards.len(), cluster.0 * cluster.1);
            assert_eq!(manifest.configurations(), expected.len() as u64, "{name} {cluster:?}");
            assert!(configurations(&files) == expected, "{name} {cluster:?}");
            for threads in [1, 2] {
                whole(name, &files, threads).unwrap();
            }
            one_by_one(name, &files).unwrap();
        }
    }
    assert!(tried >= 4, "only {tried} programs were tried");
}

const SMALL: &str = "corpus/peterson-2-fenced.weir";

fn small(cluster: (usize, usize)) -> Files {
    let properties = exhausted(&load(SMALL), MemoryModel::TSO);
    assert!(!properties.is_empty());
    written(SMALL, MemoryModel::TSO, &properties, cluster)
}

#[test]
fn a_configuration_that_is_missing_is_missed() {
    let files = small((1, 3));
    for shard in 0..3 {
        let text = files.text(shard);
        let lines: Vec<&str> = text.lines().collect();
        let configs = (0..lines.len()).filter(|i| lines[*i].starts_with('['));
        let all: Vec<usize> = configs.collect();
        for i in all.iter().step_by(all.len() / 12 + 1) {
            let left: Vec<&str> = lines[..*i].iter().chain(&lines[i + 1..]).copied().collect();
            let left = left.join("\n") + "\n";
            let mutant = files.copy();
            mutant.set(&shard_name(shard), left.clone().into_bytes());
            let reason = rejected(SMALL, &mutant, "a line is gone");
            assert!(reason.contains("is not the shard that the manifest names"), "{reason}");
            mutant.replace(shard, &left);
            let reason = rejected(SMALL, &mutant, "a line is gone, and the manifest knows");
            let expected = reason.contains("leads out of the set") || reason.contains("initial");
            assert!(expected, "{reason}");
        }
        // There twice.
        let twice = format!("{text}{}\n", lines[all[0]]);
        let mutant = files.copy();
        mutant.replace(shard, &twice);
        let reason = rejected(SMALL, &mutant, "a line is there twice");
        assert!(reason.contains("is there twice"), "{reason}");
        // In another shard.
        let other = (shard + 1) % 3;
        let mutant = files.copy();
        let names = lines[1..].iter().filter(|line| line.starts_with('{'));
        let names: Vec<&str> = names.copied().collect();
        let head = files.text(other).lines().next().unwrap().to_owned();
        let moved = format!("{head}\n{}\n{}\n", names.join("\n"), lines[all[0]]);
        mutant.replace(other, &moved);
        let reason = rejected(SMALL, &mutant, "a line is in another shard");
        assert!(reason.contains("belongs to another shard"), "{reason}");
    }
}

#[test]
fn every_changed_byte_is_noticed() {
    let files = small((1, 2));
    for shard in 0..2 {
        let bytes = files.get(&shard_name(shard));
        for at in (0..bytes.len()).step_by(bytes.len() / 40 + 1) {
            let mut changed = bytes.clone();
            changed[at] = changed[at].wrapping_add(1);
            let mutant = files.copy();
            mutant.set(&shard_name(shard), changed);
            let reason = rejected(SMALL, &mutant, "a byte is changed");
            assert!(reason.contains("is not the shard that the manifest names"), "{reason}");
            // And the manifest knows, if it is still a text.
            let mut changed = bytes.clone();
            changed[at] = changed[at].wrapping_add(1);
            if let Ok(text) = String::from_utf8(changed) {
                mutant.replace(shard, &text);
                let _ = rejected(SMALL, &mutant, "a byte is changed, and the manifest knows");
            }
            let mutant = files.copy();
            mutant.set(&shard_name(shard), bytes[..at].to_vec());
            let reason = rejected(SMALL, &mutant, "it is cut off");
            assert!(reason.contains("is not the shard that the manifest names"), "{reason}");
        }
        // More than the manifest says.
        let mutant = files.copy();
        mutant.set(&shard_name(shard), [bytes.clone(), bytes].concat());
        let reason = rejected(SMALL, &mutant, "there is more");
        assert!(reason.contains("is not the shard that the manifest names"), "{reason}");
    }
}

#[test]
fn shards_that_are_swapped_missing_or_copied() {
    let files = small((1, 3));
    let named = "is not the shard that the manifest names";
    let swapped = files.copy();
    swapped.set(&shard_name(0), files.get(&shard_name(1)));
    swapped.set(&shard_name(1), files.get(&shard_name(0)));
    let reason = rejected(SMALL, &swapped, "two are swapped");
    assert!(reason.contains(named), "{reason}");
    swapped.edit(|m| m.shards.swap(0, 1));
    let reason = rejected(SMALL, &swapped, "two are swapped, and the manifest knows");
    assert!(reason.contains("is about something else"), "{reason}");

    let copied = files.copy();
    copied.set(&shard_name(2), files.get(&shard_name(1)));
    let reason = rejected(SMALL, &copied, "one is there twice");
    assert!(reason.contains(named), "{reason}");

    let missing = files.copy();
    missing.remove(&shard_name(1)).unwrap();
    let reason = rejected(SMALL, &missing, "one is missing");
    assert!(reason.contains("`shard-1.jsonl`"), "{reason}");
    let missing = files.copy();
    missing.edit(|m| drop(m.shards.pop()));
    let reason = rejected(SMALL, &missing, "one is missing, and the manifest knows");
    assert!(reason.contains("is about something else"), "{reason}");
    let none = files.copy();
    none.edit(|m| m.shards.clear());
    rejected(SMALL, &none, "there is none");

    type Edit = fn(&mut Manifest);
    let edits: [(&str, Edit); 9] = [
        ("it was made for another program", |m| m.header.fingerprint = "0".repeat(32)),
        ("not weir-sharded-set version 2", |m| m.header.version = 1),
        ("program", |m| m.program_digest = "0".repeat(64)),
        ("there is no hash", |m| m.hash = "md5".to_owned()),
        ("is about something else", |m| m.model = "SC".to_owned()),
        ("there are no closed sets for PSO", |m| m.model = "PSO".to_owned()),
        ("the variables are not those", |m| m.variables.reverse()),
        ("it names no property", |m| m.properties.clear()),
        ("there is no such property", |m| m.properties = vec![77]),
    ];
    for (expected, edit) in edits {
        let mutant = files.copy();
        mutant.edit(edit);
        let reason = rejected(SMALL, &mutant, expected);
        assert!(reason.contains(expected), "{reason}");
    }
    let mutant = files.copy();
    mutant.edit(|m| m.shards[1].configurations += 1);
    let reason = rejected(SMALL, &mutant, "the count is wrong");
    assert!(reason.contains("configurations, not"), "{reason}");
    let other = "corpus/dekker-2.weir";
    let reason = rejected(other, &files, "it is of another program");
    assert!(reason.contains("it was made for another program"), "{reason}");
    for text in ["", "{", "[]", "null", "{\"format\":\"weir-sharded-set\",\"version\":2}"] {
        let mutant = files.copy();
        mutant.set(MANIFEST, text.into());
        rejected(SMALL, &mutant, "it is no manifest");
    }
}

#[test]
fn a_property_that_does_not_hold_is_not_certified() {
    // The set of all configurations is closed, and settles it.
    let name = "litmus/SB.litmus";
    let properties: Vec<usize> = (0..load(name).questions.len()).collect();
    for cluster in [(1, 1), (1, 2), (2, 1)] {
        let files = written(name, MemoryModel::TSO, &properties, cluster);
        let reason = rejected(name, &files, "a violated property");
        assert!(reason.contains("it settles `"), "{reason}");
    }
}

#[test]
fn nothing_is_accepted_without_all_receipts() {
    let files = small((1, 3));
    let system = load(SMALL);
    let signed = Manifest::read(&files).unwrap();
    let budget = Budget::new();
    one_by_one(SMALL, &files).unwrap();
    let joined = |files: &Files| join(&system, &signed, files, &budget).map_err(|e| e.to_string());
    joined(&files).unwrap();
    for shard in 0..3 {
        for name in [checked_name(shard), discharged_name(shard)] {
            let mutant = files.copy();
            mutant.remove(&name).unwrap();
            assert!(joined(&mutant).unwrap_err().contains("there is no `"));
            for other in 0..3 {
                for receipt in [checked_name(other), discharged_name(other)] {
                    if receipt != name {
                        mutant.set(&name, files.get(&receipt));
                        joined(&mutant).unwrap_err();
                    }
                }
            }
            for cut in [0, 1, 50, 200] {
                mutant.set(&name, files.get(&name)[..cut].to_vec());
                joined(&mutant).unwrap_err();
            }
        }
    }
    // Receipts of another set.
    let other = files.copy();
    other.edit(|m| m.header.program = "other".to_owned());
    let reason = join(&system, &Manifest::read(&other).unwrap(), &other, &budget).unwrap_err();
    assert!(reason.to_string().contains("another set"), "{reason}");
    // What one shard expects of another is changed on the way.
    for (from, to) in [(0, 1), (2, 0)] {
        let name = obligations_name(from, to);
        let text = String::from_utf8(files.get(&name)).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines.len() > 2, "{text}");
        let less = files.copy();
        less.set(&name, (lines[..lines.len() - 1].join("\n") + "\n").into_bytes());
        discharge(&system, &signed, to, &less, &budget).unwrap();
        let reason = joined(&less).unwrap_err();
        assert!(reason.contains("was not compared with what"), "{reason}");
        // A shard does not have what another expects.
        let more = files.copy();
        let swapped = String::from_utf8(files.get(&obligations_name(from, 3 - from - to))).unwrap();
        let foreign =
            swapped.replace(&format!("\"to\":{}", 3 - from - to), &format!("\"to\":{to}"));
        more.set(&name, foreign.into_bytes());
        let reason = discharge(&system, &signed, to, &more, &budget).unwrap_err();
        assert!(reason.to_string().contains("is not in shard"), "{reason}");
        let reason = joined(&more).unwrap_err();
        assert!(reason.contains("was not compared with what others expect"), "{reason}");
        // A file of another set, or for another shard.
        let stale = files.copy();
        stale.set(&name, files.get(&obligations_name(to, from)));
        let reason = discharge(&system, &signed, to, &stale, &budget).unwrap_err();
        assert!(reason.to_string().contains("is about something else"), "{reason}");
        stale.remove(&name).unwrap();
        discharge(&system, &signed, to, &stale, &budget).unwrap_err();
    }
    check_shard(&system, &signed, 3, &files, &budget).unwrap_err();
    discharge(&system, &signed, usize::MAX, &files, &budget).unwrap_err();
}

#[test]
fn limits_hold_and_failures_are_told_to_all() {
    let files = small((1, 2));
    let (system, signed) = (load(SMALL), Manifest::read(&files).unwrap());
    let full = Budget::new().with_memory(1 << 20).with_meter(|| 1 << 30);
    let late = Budget::new().with_time(Duration::ZERO);
    for budget in [full, late] {
        for result in [
            check(&system, &signed, &files, 2, &budget),
            check_shard(&system, &signed, 0, &files, &budget).map(drop),
            discharge(&system, &signed, 1, &files, &budget).map(drop),
        ] {
            assert!(matches!(result, Err(Failure::Stopped(_))), "{result:?}");
        }
    }
    // One machine cannot write its shard: nobody has a proof.
    for broken in ["shard-1", "shard-2"] {
        let folders = [
            Files::default(),
            Files { broken: Some(broken), ..Files::default() },
            Files { broken: Some(broken), ..Files::default() },
        ];
        for result in write(SMALL, MemoryModel::TSO, &[0], (3, 1), &folders) {
            let Err(NoShards::Unwritten(reason)) = result else { panic!("{result:?}") };
            assert!(reason.contains(broken), "{reason}");
        }
        assert!(folders.iter().all(|folder| folder.names().is_empty()));
    }
    let files = Files::default();
    let engine = Distributed::new(2);
    let options =
        SearchOptions { budget: Budget::new().with_store(1 << 10), ..SearchOptions::default() };
    let result =
        engine.write_shards(Task::new(&system, MemoryModel::TSO, &options), vec![0], &files);
    let Err(NoShards::Unknown(reason)) = result else { panic!("{result:?}") };
    assert!(reason.contains("memory limit"), "{reason}");
    let result =
        engine.write_shards(Task::new(&system, MemoryModel::PSO, &options), vec![0], &files);
    let Err(NoShards::Unknown(reason)) = result else { panic!("{result:?}") };
    assert!(reason.contains("not for PSO"), "{reason}");
    assert!(files.names().is_empty());
}

#[test]
fn the_digest_is_that_of_others() {
    let mut bytes = Vec::new();
    for n in 0..300_u32 {
        let theirs: String =
            sha2::Sha256::digest(&bytes).iter().map(|b| format!("{b:02x}")).collect();
        assert_eq!(Sha256::of(&bytes), theirs);
        bytes.push((n * 37 % 251) as u8);
    }
}
