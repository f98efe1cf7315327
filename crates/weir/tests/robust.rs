//! Robustness, compared with its definition on random programs: all runs under TSO are
//! enumerated, and their traces are searched for cycles. Every run and every proof is checked.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::time::Duration;

use weir::robust::{Kind, Proof, Robustness, States, Traces, check, find_cycle};
use weir::{Loaded, MemoryModel, Reading, Verdict};
use weir_check::robust::{Cycle, RobustSets, StateSets};
use weir_engine::robust::{attack, shape};
use weir_engine::{Engine, Explicit, SearchOptions, Task, Views};
use weir_gen::{Rng, Shape, ask, program, setting, shrink};
use weir_model::ids::{Cell, StateId, ValueId, VarId};
use weir_model::limits::Budget;
use weir_model::program::{FenceKind, Program};
use weir_model::question::Kind as Asked;
use weir_model::semantics::{Form, sufficient_bound};
use weir_model::system::{Op, Seen, System};

/// Programs with more partial runs than this are left out.
const MOST_RUNS: usize = 40_000;

/// Programs with a process that accesses memory more often than this are left out.
const MOST_ACCESSES: usize = 16;

/// An access: its process, and its place among the accesses of the process.
type Name = (usize, usize);

/// An access of a partial run.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Access {
    var: VarId,
    /// What it reads, if it reads: the initial value, or that of an access.
    reads: Option<Option<Name>>,
    writes: bool,
}

/// A run under TSO so far: what matters for its trace and for how it may go on.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Partial {
    controls: Vec<StateId>,
    memory: Vec<ValueId>,
    /// For each process its accesses.
    accesses: Vec<Vec<Access>>,
    /// For each process the writes that have not reached memory, oldest first.
    buffers: Vec<Vec<(Name, VarId, ValueId)>>,
    /// For each variable the writes that have reached memory, oldest first.
    order: Vec<Vec<Name>>,
}

impl Partial {
    fn next(&self, system: &System) -> Vec<Self> {
        let mut all = Vec::new();
        for process in system.process_ids() {
            let p = process.index();
            if let Some(&(name, x, d)) = self.buffers[p].first() {
                let mut next = self.clone();
                next.buffers[p].remove(0);
                next.memory[x.index()] = d;
                next.order[x.index()].push(name);
                all.push(next);
            }
            let own = |x: VarId| self.buffers[p].iter().rev().find(|(_, y, _)| *y == x).copied();
            let value = |x: VarId| own(x).map_or(self.memory[x.index()], |(_, _, d)| d);
            let see = |x: VarId, atomic: bool| {
                Seen::One(if atomic { self.memory[x.index()] } else { value(x) })
            };
            let drained = self.buffers[p].is_empty();
            let name = (p, self.accesses[p].len());
            for (_, t) in system.steps(process, self.controls[p], see) {
                let mut next = self.clone();
                next.controls[p] = t.to;
                let last = |x: VarId| self.order[x.index()].last().copied();
                match t.op {
                    Op::Nop | Op::Fence(FenceKind::Read | FenceKind::Write) => {}
                    Op::Fence(FenceKind::Full) if drained => {}
                    Op::Read(x, d) if value(x) == d => {
                        let source = own(x).map_or_else(|| last(x), |(name, ..)| Some(name));
                        let access = Access { var: x, reads: Some(source), writes: false };
                        next.accesses[p].push(access);
                    }
                    Op::Write(x, d) => {
                        next.accesses[p].push(Access { var: x, reads: None, writes: true });
                        next.buffers[p].push((name, x, d));
                    }
                    Op::Arw(x, d, e) if drained && self.memory[x.index()] == d => {
                        let access = Access { var: x, reads: Some(last(x)), writes: d != e };
                        next.accesses[p].push(access);
                        if d != e {
                            next.memory[x.index()] = e;
                            next.order[x.index()].push(name);
                        }
                    }
                    _ => continue,
                }
                all.push(next);
            }
        }
        all
    }

    /// Whether the trace has a cycle; all writes have reached memory.
    fn has_cycle(&self) -> bool {
        let mut edges: BTreeMap<Name, Vec<Name>> = BTreeMap::new();
        for (p, accesses) in self.accesses.iter().enumerate() {
            for (i, access) in accesses.iter().enumerate() {
                let out = edges.entry((p, i)).or_default();
                if i + 1 < accesses.len() {
                    out.push((p, i + 1));
                }
                let order = &self.order[access.var.index()];
                if access.writes {
                    let at = order.iter().position(|w| *w == (p, i)).unwrap();
                    out.extend(order.get(at + 1));
                }
                match access.reads {
                    Some(None) => out.extend(order.first().filter(|w| **w != (p, i))),
                    Some(Some(source)) => {
                        let at = order.iter().position(|w| *w == source).unwrap();
                        out.extend(order.get(at + 1).filter(|w| **w != (p, i)));
                        edges.entry(source).or_default().push((p, i));
                    }
                    None => {}
                }
            }
        }
        // What has no predecessor goes, until nothing is left or there is a cycle.
        let mut left: BTreeSet<Name> = edges.keys().copied().collect();
        loop {
            let entered: BTreeSet<Name> =
                left.iter().flat_map(|a| edges[a].iter().copied()).collect();
            let free: Vec<Name> = left.iter().filter(|a| !entered.contains(a)).copied().collect();
            if free.is_empty() {
                return !left.is_empty();
            }
            free.iter().for_each(|a| {
                left.remove(a);
            });
        }
    }
}

/// Whether some run of a program has a cycle in its trace; `None` if there are too many runs, or
/// they are too long.
fn some_cycle(system: &System) -> Option<bool> {
    let n = system.processes.len();
    let begin = |memory| Partial {
        controls: system.processes.iter().map(|p| p.initial).collect(),
        memory,
        accesses: vec![vec![]; n],
        buffers: vec![vec![]; n],
        order: vec![vec![]; system.vars.len()],
    };
    let mut open: Vec<Partial> = system.initial_memories().map(begin).collect();
    let mut seen: HashSet<Partial> = open.iter().cloned().collect();
    while let Some(partial) = open.pop() {
        if partial.buffers.iter().all(Vec::is_empty) && partial.has_cycle() {
            return Some(true);
        }
        let is_long = partial.accesses.iter().any(|all| all.len() > MOST_ACCESSES);
        if is_long || seen.len() > MOST_RUNS {
            return None;
        }
        for next in partial.next(system) {
            if seen.insert(next.clone()) {
                open.push(next);
            }
        }
    }
    Some(false)
}

/// The joint control states and the final states of a loop-free program under a model.
type All = (BTreeSet<Vec<Cell>>, BTreeSet<Vec<Cell>>);

fn all_states(system: &System, model: MemoryModel) -> Option<All> {
    let bound = sufficient_bound(system).unwrap_or(MOST_ACCESSES);
    let semantics = Form::of(model)[0].semantics(system, model, bound);
    let mut open: Vec<Vec<Cell>> = semantics.initial().collect();
    let mut seen: HashSet<Vec<Cell>> = open.iter().cloned().collect();
    let (mut joint, mut last) = All::default();
    while let Some(config) = open.pop() {
        let controls: Vec<StateId> =
            semantics.controls(&config).iter().map(|s| StateId(*s)).collect();
        joint.insert(semantics.controls(&config).to_vec());
        if semantics.is_drained(&config) && system.all_ended(&controls) {
            let state = [semantics.controls(&config), semantics.memory(&config)].concat();
            last.insert(state);
        }
        if seen.len() > MOST_RUNS {
            return None;
        }
        let mut found = Vec::new();
        if !semantics.successors(&config, &mut Vec::new(), &mut |_, c| found.push(c.to_vec())) {
            return None;
        }
        for next in found {
            if seen.insert(next.clone()) {
                open.push(next);
            }
        }
    }
    Some((joint, last))
}

fn options() -> SearchOptions {
    SearchOptions {
        budget: Budget::new().with_store(1 << 26).with_time(Duration::from_secs(10)),
        certificate: true,
        ..SearchOptions::default()
    }
}

fn load(program: &Program) -> Result<Loaded, String> {
    let text = weir_front::weir::print(program);
    Loaded::read("random.weir", &text, &Reading::default()).map_err(|e| e.to_string())
}

/// Passes evidence through its file.
fn accept<E: weir_check::Evidence<Subject = dyn weir_check::Subject>>(
    evidence: &E,
    loaded: &Loaded,
) -> Result<(), String> {
    let read = E::from_json(&evidence.to_json()).map_err(|e| e.to_string())?;
    read.check(loaded, 2).map_err(|e| format!("{}: {e}", evidence.what()))
}

/// Checks the proof or the runs of an answer.
fn accept_all(loaded: &Loaded, found: &Robustness) -> Result<(), String> {
    if let Traces::Different(shown) = &found.traces {
        let cycle: &Cycle = &shown.1;
        if cycle.cycle.len() < 3 {
            return Err("a cycle is too short".to_owned());
        }
        accept(cycle, loaded)?;
    }
    if let States::Different(shown) = &found.states {
        let states: &StateSets = &shown.file;
        accept(states, &shown.loaded)?;
    }
    match found.proof(loaded, &options().budget)? {
        Some(Proof::Traces(proof)) => accept::<RobustSets>(&proof, loaded),
        Some(Proof::States(proof, kept)) => accept::<StateSets>(&proof, kept),
        None if found.verdict() == Verdict::Holds => Err("there is no proof".to_owned()),
        None => Ok(()),
    }
}

/// Compares all answers about a loop-free program with what its runs are. How often each answer
/// was given.
fn agree(program: &Program) -> Result<BTreeMap<&'static str, u64>, String> {
    let loaded = load(program)?;
    let system = &loaded.system;
    let Some(expected) = some_cycle(system) else { return Ok(BTreeMap::new()) };
    let mut counts = BTreeMap::from([("cycle", u64::from(expected)), ("compared", 1)]);
    let by_shape =
        shape::is_robust(system, MemoryModel::TSO, &Budget::new()).map_err(|e| e.to_string())?;
    if by_shape && expected {
        return Err("robust by its shape, but a run has a cycle".to_owned());
    }
    match (attack::search(system, &Budget::new(), &mut |_| {}).0, expected) {
        (attack::Attacks::None, false) => {
            let sets = attack::closed_sets(system, &Budget::new())?;
            accept(&RobustSets::new(system, &sets, vec![]), &loaded)?;
        }
        (attack::Attacks::Run(run), true) => {
            find_cycle(system, &run).ok_or("the run of an attack has no cycle")?;
        }
        (found, _) => return Err(format!("attacks: {found:?}; some run has a cycle: {expected}")),
    }
    let kept = loaded.keeping_registers(&Budget::new()).map_err(|e| e.to_string())?;
    let system = &kept.system;
    let Some(sc) = all_states(system, MemoryModel::SC) else { return Ok(counts) };
    for (_, model) in MemoryModel::NAMED {
        let Some(states) = all_states(system, model) else { continue };
        let is_same = states.0.is_subset(&sc.0) && states.1.is_subset(&sc.1);
        let found = check(&loaded, model, &options(), &mut |_| {}).map_err(|e| e.to_string())?;
        accept_all(&loaded, &found).map_err(|e| format!("{model}: {e}"))?;
        let robust = match found.verdict() {
            Verdict::Unknown => return Err(format!("{model}: {:?}", found.reason())),
            verdict => verdict == Verdict::Holds,
        };
        if robust != is_same {
            let kind = found.kind().name();
            return Err(format!("{model}: {kind}, but states are the same: {is_same}"));
        }
        *counts.entry(found.kind().name()).or_default() += 1;
    }
    Ok(counts)
}

/// Compares answers about any program with those of engines. How many questions were compared.
fn implies(program: &Program) -> Result<u64, String> {
    let loaded = load(program)?;
    let system = &loaded.system;
    let options = options();
    let found =
        check(&loaded, MemoryModel::TSO, &options, &mut |_| {}).map_err(|e| e.to_string())?;
    if found.verdict() != Verdict::Unknown {
        accept_all(&loaded, &found)?;
    }
    if !matches!(found.kind(), Kind::Shape | Kind::Traces) {
        return Ok(0);
    }
    let ask = |engine: &dyn Engine, model| {
        engine.check(Task::new(system, model, &options), &mut |_| {}).unwrap().0
    };
    let under_sc = ask(&Explicit, MemoryModel::SC);
    let sets = attack::closed_sets(system, &options.budget)?;
    let under_tso = ask(&Views, MemoryModel::TSO);
    let mut compared = 0;
    for (sc, tso) in under_sc.iter().zip(&under_tso) {
        let question = &system.questions[sc.property.index()];
        let is_determined = !question.asks_for_memory_under_way()
            && !matches!(question.kind, Asked::NoDeadlock(_) | Asked::Bounds);
        // The sets settle what a trace determines and no SC configuration settles.
        let proof = RobustSets::new(system, &sets, vec![sc.property]);
        let is_excluded = is_determined && sc.verdict == question.verdict(false);
        if sc.is_known() && accept(&proof, &loaded).is_ok() != is_excluded {
            return Err(format!("the sets settle `{}`: {}", question.name, !is_excluded));
        }
        if is_determined && sc.is_known() && tso.is_known() {
            compared += 1;
            if sc.verdict != tso.verdict {
                let (sc, tso) = (sc.verdict.name(), tso.verdict.name());
                return Err(format!("robust, but `{}`: SC {sc}, TSO {tso}", question.name));
            }
        }
    }
    Ok(compared)
}

fn on_random_programs<T>(
    cases: u64,
    shapes: &[Shape],
    questions: usize,
    test: impl Fn(&Program) -> Result<T, String>,
    mut count: impl FnMut(T),
) {
    let (seed, cases) = (setting("WEIR_SEED", 1), setting("WEIR_CASES", cases));
    for case in 0..cases {
        let mut rng = Rng::new(seed.wrapping_mul(1_000_003).wrapping_add(case));
        let shape = rng.pick(shapes).clone();
        let mut random = program(&mut rng, &shape);
        ask(&mut rng, &mut random, questions);
        match test(&random) {
            Ok(found) => count(found),
            Err(_) => {
                let small = shrink(random, |p| test(p).is_err());
                let why = test(&small).err().unwrap_or_default();
                panic!("seed {seed}, case {case}: {why}\n{}", weir_front::weir::print(&small));
            }
        }
    }
}

#[test]
fn loop_free_programs() {
    let plain = Shape { statements: 4, branches: false, ..Shape::default() };
    let shapes = [
        plain.clone(),
        Shape { vars: 3, ..plain.clone() },
        Shape { statements: 3, branches: true, ..plain.clone() },
        Shape { processes: 3, statements: 3, vars: 3, ..plain.clone() },
        Shape { processes: 3, statements: 2, fences: false, atomics: false, ..plain.clone() },
        Shape { statements: 8, fences: false, atomics: false, ..plain.clone() },
        Shape { statements: 8, unique: true, fences: false, ..plain.clone() },
        Shape { statements: 7, fences: false, ..plain.clone() },
        Shape { processes: 3, statements: 4, unique: true, fences: false, ..plain },
        Shape { statements: 2, ..Shape::rich() },
    ];
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    on_random_programs(150, &shapes, 0, agree, |found| {
        found.into_iter().for_each(|(kind, count)| *counts.entry(kind).or_default() += count);
    });
    println!("{counts:?}");
    assert!(counts["cycle"] > 0, "no program has a cycle: {counts:?}");
    for kind in [Kind::Shape, Kind::Traces, Kind::States, Kind::NotRobust] {
        assert!(counts.contains_key(kind.name()), "no program is {}: {counts:?}", kind.name());
    }
}

#[test]
fn robust_programs_have_the_answers_of_sc() {
    let plain = Shape { statements: 3, labels: 2, loops: true, ..Shape::default() };
    let shapes = [
        plain.clone(),
        Shape { vars: 3, statements: 4, ..plain.clone() },
        Shape { awaits: true, locals: true, ..plain.clone() },
        Shape { processes: 3, statements: 2, ..plain },
    ];
    let mut compared = 0;
    on_random_programs(60, &shapes, 4, implies, |count| compared += count);
    println!("{compared} questions compared");
    assert!(compared > 10);
}

/// The process that delays may be any, and so may be its helpers: each program has exactly one
/// kind of cycle.
#[test]
fn classic_programs() {
    let cases = [
        (
            "store buffering",
            "process p { reg r x = 1 r = y } process q { reg r y = 1 r = x }",
            false,
        ),
        (
            "with one fence",
            "process p { reg r x = 1 fence r = y } process q { reg r y = 1 r = x }",
            false,
        ),
        (
            "with both fences",
            "process p { reg r x = 1 fence r = y } process q { reg r y = 1 fence r = x }",
            true,
        ),
        (
            "write-read causality needs a third process",
            "process p { reg r x = 1 r = y } process q { reg r r = z y = 1 fence r = x }
             process s { z = 1 }",
            false,
        ),
        ("read own write", "process p { reg r x = 1 r = x } process q { reg r r = x }", true),
        ("message passing", "process p { x = 1 y = 1 } process q { reg r r = y r = x }", true),
        (
            "nobody writes what is read early",
            "process p { reg r x = 1 r = y } process q { reg r z = 1 r = x }",
            true,
        ),
        (
            "a failed compare-and-swap reads",
            "process p { reg r x = 1 r = y } process q { reg r r = cas(y, 5, 6) r = x }",
            true,
        ),
        (
            "a compare-and-swap that succeeds writes",
            "process p { reg r x = 1 r = y } process q { reg r r = cas(y, 0, 6) r = x }",
            false,
        ),
        (
            "the cycle has more edges through a helper",
            "process p { reg r x = 1 r = y } process q { reg r y = 1 z = 1 }
             process s { reg r await z == 1 r = x }",
            false,
        ),
    ];
    for (name, processes, expected) in cases {
        let text = format!("var x, y, z {processes}");
        let loaded = Loaded::read("classic.weir", &text, &Reading::default()).unwrap();
        assert_eq!(some_cycle(&loaded.system), Some(!expected), "{name}");
        let (found, _) = attack::search(&loaded.system, &Budget::new(), &mut |_| {});
        assert_eq!(matches!(found, attack::Attacks::None), expected, "{name}: {found:?}");
        if let attack::Attacks::Run(run) = found {
            let edges = find_cycle(&loaded.system, &run).unwrap();
            let cycle = Cycle::new(&loaded.system, &run, edges, &|s| loaded.line(s));
            accept(&cycle, &loaded).unwrap();
        }
    }
}

/// The rounds of an `await` that wait are no accesses: the program is robust, although a
/// process waits with a delayed write.
#[test]
fn waiting_is_no_access() {
    let text = "var x, y
        process p { x = 1  await y == 1 }
        process q { reg r  y = 1  fence  r = x }";
    let loaded = Loaded::read("waiting.weir", text, &Reading::default()).unwrap();
    let found = check(&loaded, MemoryModel::TSO, &options(), &mut |_| {}).unwrap();
    assert_eq!(found.kind(), Kind::Traces);
    accept_all(&loaded, &found).unwrap();
}

/// Several initial values, processes that fail, and values that leave a bound.
#[test]
fn beginnings_and_ends() {
    let of = |text: &str, reading: &Reading| {
        let loaded = Loaded::read("ends.weir", text, reading).unwrap();
        let found = check(&loaded, MemoryModel::TSO, &options(), &mut |_| {}).unwrap();
        accept_all(&loaded, &found).unwrap();
        (found.kind(), found.reason().map(ToOwned::to_owned))
    };
    // The delayed write matters only if `z` was 1 in the beginning.
    let some = "var x, y, z: 0..1 = any
        process p { reg r  assume z == 1  x = 1  r = y }
        process q { reg r  y = 1  fence  r = x }";
    assert_eq!(of(some, &Reading::default()).0, Kind::NotRobust);
    let none = some.replace("= any", "= 0");
    assert_eq!(of(&none, &Reading::default()).0, Kind::Shape);
    // A process that fails stops: nothing behind it is done.
    let fails = "var x, y
        process p { reg r  x = 1  assert x == 0  r = y }
        process q { reg r  y = 1  fence  r = x }";
    assert_eq!(of(fails, &Reading::default()).0, Kind::Traces);
    // A value that leaves its bound: nothing is claimed.
    let counts = "var x, y
        process p { reg r  loop { x = x + 1  r = y } }";
    let bounds = vec!["x=0..3".parse().unwrap()];
    let (kind, reason) = of(counts, &Reading { bounds, ..Reading::default() });
    assert_eq!(kind, Kind::Unknown);
    assert!(reason.unwrap().contains("bound"));
}
