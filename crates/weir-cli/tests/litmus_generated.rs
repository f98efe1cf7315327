//! Generated litmus tests: what the command prints, what both engines say, and
//! what the theory of critical cycles says, are the same.
//!
//! The tables in `litmus_generated` are what the program prints. To make them anew,
//! there:
//!
//! ```sh
//! weir litmus gen --verdicts > up-to-3-threads.txt
//! weir litmus gen --processes 4 --edges po,mfence --verdicts > 4-threads.txt
//! ```

use crate::common;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use common::{root, weir};
use weir::{Loaded, MemoryModel, Verdict};
use weir_check::Witness;
use weir_engine::{Engine, Explicit, SearchOptions, Task, Views};
use weir_front::litmus::generate::{
    Access, Barrier, Cycle, Direction, Edge, Filling, Link, Place, Scope, family,
};
use weir_model::answer::Evidence;
use weir_model::ids::QuestionId;
use weir_model::memory_model::Relaxation;

/// The tests of two and three threads, and those of four.
const UP_TO_3: &str = "up-to-3-threads.txt";
const OF_4: &str = "4-threads.txt";

/// A row of a table.
struct Row {
    name: String,
    cycle: Cycle,
    /// Whether the cycle is allowed, by model.
    verdicts: [bool; 4],
}

fn golden(file: &str) -> String {
    let path = root().join("crates/weir-cli/tests/litmus_generated").join(file);
    fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path:?}: {e}"))
}

fn rows(file: &str) -> Vec<Row> {
    let text = golden(file);
    let lines: Vec<&str> = text.lines().collect();
    let [heading, rows @ .., count] = lines.as_slice() else { panic!("{file} is empty") };
    let heading: Vec<&str> = heading.split_whitespace().collect();
    assert_eq!(heading, ["name", "SC", "TSO", "PSO", "NSW", "cycle"]);
    assert_eq!(count.replace(',', ""), format!("{} tests", rows.len()));
    rows.iter().map(|line| row(line)).collect()
}

fn row(line: &str) -> Row {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [name, verdicts @ ..] = words.as_slice() else { panic!("what is `{line}`?") };
    let (verdicts, cycle) = verdicts.split_at(4);
    let verdict = |i: usize| match verdicts[i] {
        "yes" => true,
        "no" => false,
        other => panic!("{name}: {other}"),
    };
    Row {
        name: (*name).to_owned(),
        cycle: cycle.join(" ").parse().unwrap_or_else(|e| panic!("{name}: {e}")),
        verdicts: [0, 1, 2, 3].map(verdict),
    }
}

#[test]
fn the_tables_are_what_is_printed() {
    for (file, options) in [(UP_TO_3, ""), (OF_4, "--processes 4 --edges po,mfence ")] {
        let command = format!("litmus gen {options}--verdicts");
        let output = weir(&command.split_whitespace().collect::<Vec<_>>());
        assert_eq!(output.status, 0, "{output:?}");
        let (golden, printed) = (golden(file), output.out);
        let differ = golden.lines().zip(printed.lines()).find(|(a, b)| a != b);
        assert_eq!(differ, None, "{file} and `weir {command}`");
        assert_eq!(golden, printed, "{file} and `weir {command}`");
    }
}

#[test]
fn names_tell_cycles_apart() {
    let mut names = BTreeMap::new();
    for row in rows(UP_TO_3).into_iter().chain(rows(OF_4)) {
        assert_eq!(row.cycle.name(), row.name);
        let is_safe = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
        assert!(row.name.chars().all(is_safe), "{}", row.name);
        let other = names.insert(row.name.to_lowercase(), row.cycle.clone());
        assert_eq!(other, None, "two cycles are called {}", row.name);
    }
    assert!(names.len() >= 1500, "only {} tests", names.len());
    let cycles: BTreeSet<String> = names.values().map(Cycle::to_string).collect();
    assert_eq!(cycles.len(), names.len(), "a cycle is there twice");
}

/// Which models let a cycle happen, if one engine is asked. Runs that it shows are
/// checked.
fn ask(engine: &'static dyn Engine, cycle: &Cycle) -> [bool; 4] {
    let name = cycle.name();
    let loaded = Loaded::from_text(&format!("{name}.litmus"), &cycle.text(), None)
        .unwrap_or_else(|e| panic!("{}", e.render(false)));
    let system = &loaded.system;
    MemoryModel::NAMED.map(|(shown, model)| {
        let (answers, stats) =
            engine.check(Task::new(system, model, &SearchOptions::default()), &mut |_| {}).unwrap();
        assert_eq!(stats.engine, format!("{engine:?}").to_lowercase());
        if let Evidence::Run(run) = &answers[0].evidence {
            let witness = Witness::new(system, run, QuestionId(0), &|_| 1);
            assert_eq!(weir_check::check(system, &witness), Ok(()), "{name} under {shown}");
        }
        match answers[0].verdict {
            Verdict::Holds => true,
            Verdict::Violated => false,
            Verdict::Unknown => panic!("{name} under {shown}: {answers:?}"),
        }
    })
}

/// Asks an engine about a share of the tests of a file.
fn engine_agrees(engine: &'static dyn Engine, file: &str, share: usize, of: usize) {
    for row in rows(file).into_iter().skip(share).step_by(of) {
        assert_eq!(ask(engine, &row.cycle), row.verdicts, "{engine:?}: {}", row.name);
    }
}

#[test]
fn explicit_agrees() {
    engine_agrees(&Explicit, UP_TO_3, 0, 1);
}

#[test]
fn explicit_agrees_on_four_threads() {
    engine_agrees(&Explicit, OF_4, 0, 1);
}

#[test]
fn views_agree() {
    engine_agrees(&Views, UP_TO_3, 0, 1);
}

#[test]
fn views_agree_on_four_threads_1() {
    engine_agrees(&Views, OF_4, 0, 2);
}

#[test]
fn views_agree_on_four_threads_2() {
    engine_agrees(&Views, OF_4, 1, 2);
}

/// Whether a model lets the last access of a thread take effect before the
/// first.
///
/// Two accesses to different locations may change places if the model has the
/// relaxation of their directions. A full fence and an atomic access keep them in
/// place, and a partial fence those of its direction. A read that sees the own
/// write of its thread holds nothing up: the write is as free as it were without.
/// Accesses to one location stay in order.
fn is_relaxed(thread: &[Edge], model: MemoryModel) -> bool {
    let overtakes = |first, last| {
        model.has(match (first, last) {
            (Direction::Write, Direction::Write) => Relaxation::WriteWrite,
            (Direction::Write, Direction::Read) => Relaxation::WriteRead,
            (Direction::Read, Direction::Read) => Relaxation::ReadRead,
            (Direction::Read, Direction::Write) => Relaxation::ReadWrite,
        })
    };
    let (forward, edge) = match thread {
        [edge] => (None, edge),
        [forward, edge] => (Some(forward), edge),
        _ => return false,
    };
    let Link::Program(barrier, Place::Different) = edge.link() else { return false };
    let source = forward.unwrap_or(edge).source();
    if source == Access::Exchange || edge.target() == Access::Exchange {
        return false;
    }
    let (first, last) = (source.direction(), edge.target().direction());
    let is_kept = match barrier {
        Barrier::None => false,
        Barrier::MFence => true,
        Barrier::SFence => (first, last) == (Direction::Write, Direction::Write),
        Barrier::LFence => (first, last) == (Direction::Read, Direction::Read),
    };
    !is_kept && overtakes(first, last)
}

/// What theory says of a critical cycle. There is one memory, so communication
/// between threads is never given up; what is read and written takes effect in an
/// order that has every `Rfe`, `Fre` and `Coe`. A cycle in that order is impossible.
/// So a cycle is allowed if and only if some thread may turn its accesses round.
fn is_allowed(cycle: &Cycle, model: MemoryModel) -> bool {
    let external = Link::Communication(Scope::External);
    let edges: Vec<Edge> = cycle.edges().collect();
    edges.split(|edge| edge.link() == external).any(|thread| is_relaxed(thread, model))
}

fn theory(cycle: &Cycle) -> [bool; 4] {
    MemoryModel::NAMED.map(|(_, model)| is_allowed(cycle, model))
}

#[test]
fn theory_agrees() {
    for row in rows(UP_TO_3).into_iter().chain(rows(OF_4)) {
        assert_eq!(theory(&row.cycle), row.verdicts, "{}", row.name);
    }
}

/// With `r->w` on top every thread may be turned round, so that no condition is
/// impossible for another reason than the order in a thread.
#[test]
fn theory_agrees_where_every_relaxation_is_there() {
    let model: MemoryModel = "nsw+r->w".parse().unwrap();
    for cycle in family(2..=3, &[Filling::Plain, Filling::MFence]) {
        let loaded = Loaded::for_model("test.litmus", &cycle.text(), model).unwrap();
        let (answers, _) =
            weir::solver::check(&loaded.system, model, &SearchOptions::default()).unwrap();
        let expected = match is_allowed(&cycle, model) {
            true => Verdict::Holds,
            false => Verdict::Violated,
        };
        assert_eq!(answers[0].verdict, expected, "{}", cycle.name());
    }
}

/// Four threads have too many cycles for a table.
#[test]
fn views_and_theory_agree_on_four_threads_with_atomics() {
    for cycle in family(4..=4, &[Filling::Plain, Filling::Exchange]) {
        assert_eq!(ask(&Views, &cycle), theory(&cycle), "{}", cycle.name());
    }
}

/// All cycles of up to so many edges, critical or not.
fn short_cycles(edges: &[Edge], length: usize) -> BTreeMap<String, Cycle> {
    let mut found = BTreeMap::new();
    let mut begun: Vec<Vec<Edge>> = vec![vec![]];
    for _ in 0..length {
        let longer = |start: &Vec<Edge>| -> Vec<Vec<Edge>> {
            let fits = |next: &&Edge| {
                let last = start.last();
                last.is_none_or(|last| last.target().direction() == next.source().direction())
            };
            edges.iter().filter(fits).map(|next| [&start[..], &[*next]].concat()).collect()
        };
        begun = begun.iter().flat_map(longer).collect();
        let cycles = begun.iter().filter_map(|edges| Cycle::new(edges).ok());
        found.extend(cycles.map(|cycle| (cycle.name(), cycle)));
    }
    found
}

/// Beyond the tables: reads of own writes, same locations, and more than two
/// writes to one. Under SC nothing of it happens, and weaker models allow more.
fn engines_agree_on(cycles: &BTreeMap<String, Cycle>) {
    for (name, cycle) in cycles {
        let found = ask(&Views, cycle);
        assert_eq!(ask(&Explicit, cycle), found, "{name}: {cycle}");
        assert!(!found[0] && found.is_sorted(), "{name}: {found:?}: {cycle}");
    }
}

#[test]
fn engines_agree_on_short_cycles_of_all_edges() {
    let edges: Vec<Edge> = Edge::all().collect();
    engines_agree_on(&short_cycles(&edges, 3));
}

#[test]
fn engines_agree_on_longer_cycles_of_some_edges() {
    let is_plain = |edge: &Edge| {
        let accesses = [edge.source(), edge.target()];
        let barrier = matches!(edge.link(), Link::Program(b, _) if b != Barrier::None);
        !accesses.contains(&Access::Exchange) && !barrier
    };
    let edges: Vec<Edge> = Edge::all().filter(is_plain).collect();
    engines_agree_on(&short_cycles(&edges, 5));
}

/// A test from its initial values on, without spaces, and with what its condition
/// asks for in the order of the alphabet.
fn code(text: &str) -> Vec<String> {
    let begin = text.find('{').unwrap();
    let (code, condition) = text[begin..].split_once("exists").unwrap();
    let condition = condition.trim().trim_start_matches('(').trim_end_matches(')');
    let mut asked: Vec<&str> = condition.split("/\\").map(str::trim).collect();
    asked.sort_unstable();
    code.lines().chain(asked).map(|line| line.replace(' ', "")).collect()
}

/// The tests in `litmus` that were written by hand are the generated ones of the
/// same name.
#[test]
fn the_generator_makes_what_people_write() {
    let mut same = vec![];
    for row in rows(UP_TO_3).into_iter().chain(rows(OF_4)) {
        let path = root().join("litmus").join(format!("{}.litmus", row.name));
        // By hand this one asks for the value that the other thread wrote.
        if row.name == "CoWR" {
            continue;
        }
        if let Ok(written) = fs::read_to_string(path) {
            assert_eq!(code(&row.cycle.text()), code(&written), "{}", row.name);
            same.push(row.name);
        }
    }
    assert!(same.len() >= 20, "only {same:?} are there twice");
}

/// A folder for one test, with nothing in it.
fn folder(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&path);
    path
}

#[test]
fn tests_are_written_to_files() {
    let folder = folder("litmus-gen");
    let output = weir(&["litmus", "gen", "--processes", "2", "--output", folder.to_str().unwrap()]);
    assert_eq!(output.status, 0, "{output:?}");
    let expected: BTreeSet<String> = rows(UP_TO_3)
        .iter()
        .filter(|row| row.cycle.threads() == 2)
        .map(|row| format!("{}.litmus", row.name))
        .collect();
    assert_eq!(output.out, format!("{} tests in {}\n", expected.len(), folder.display()));
    let entries = fs::read_dir(&folder).unwrap();
    let found: BTreeSet<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(found, expected);
    let written = fs::read_to_string(folder.join("SB+mfences.litmus")).unwrap();
    assert_eq!(written, weir(&["litmus", "gen", "MFencedWR Fre MFencedWR Fre"]).out);
}

#[test]
fn a_folder_that_cannot_be_made_is_an_error() {
    let output = weir(&["litmus", "gen", "--processes", "2", "--output", "README.md"]);
    assert_eq!((output.status, output.out.as_str()), (2, ""));
    assert!(output.err.starts_with("error: cannot make `README.md`"), "{}", output.err);
}

#[test]
fn what_is_no_cycle_is_an_error() {
    for (arguments, message) in [
        ("PodWT Fre", "there is no edge `PodWT`; did you mean `PodWR`?"),
        ("frobnicate", "there is no edge `frobnicate`; edges are Rfe, Fre"),
        ("PodRWAP Rfe", "there is no edge `PodRWAP`; did you mean `PodRWPA`?"),
        ("PodWR Rfe", "`PodWR` ends in a read, but `Rfe`, which comes next, begins with a write"),
        ("PodWR Fre PodWW Rfe", "`Rfe` ends in a read, but `PodWR`, which comes next, begins"),
        ("PodWR PodRW", "the cycle stays in one thread"),
        ("PodWR Fre Coe", "only `PodWR` changes the location"),
        ("Rfe Fre", "every edge is communication over one location"),
        ("--edges lfence", "no cycle has these edges only"),
        ("--edges frobnicate", "invalid value 'frobnicate' for '--edges <WORDS>'"),
        ("--processes 5", "expected a number from 2 to 4 or a range"),
        ("--processes 3..2", "expected a number from 2 to 4 or a range"),
        ("--processes 2 Rfe Fre", "cannot be used with"),
        ("--list --output x", "cannot be used with"),
    ] {
        let arguments = format!("litmus gen {arguments}");
        let output = weir(&arguments.split_whitespace().collect::<Vec<_>>());
        assert_eq!((output.status, output.out.as_str()), (2, ""), "{arguments}: {output:?}");
        assert!(output.err.starts_with("error: "), "{arguments}: {}", output.err);
        assert!(output.err.contains(message), "{arguments}: no `{message}` in {}", output.err);
    }
    let long = |edges: &str, times| weir(&["litmus", "gen", &format!("{edges} ").repeat(times)]);
    assert!(long("PodWR Fre", 9).err.contains("the cycle has 9 threads; at most 8"));
    assert!(long("PodWR Fre", 5000).err.contains("the cycle has 10000 edges; at most 26"));
    assert_eq!(long("PodWR Fre", 8).status, 0);
}
