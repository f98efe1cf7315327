//! The program of Linden and Wolper 2010, figure 4, what acceleration adds that no run
//! leads to, and sets of states that were tampered with.

use crate::common;

use std::time::Duration;

use common::{DOUBLING, FENCED, HANDOVER, system};
use weir_check::Rejected;
use weir_check::buffers::{Buffers, Edge, Place, State, check};
use weir_engine::graph::{Buffer, Graph, Node};
use weir_engine::{Automata, Engine, Explicit, SearchOptions, Task};
use weir_model::answer::{Answer, Evidence};
use weir_model::ids::{ProcessId, QuestionId, ValueId, VarId};
use weir_model::limits::Budget;
use weir_model::memory_model::MemoryModel;
use weir_model::system::System;

const TSO: MemoryModel = MemoryModel::TSO;

fn ask_unchecked(system: &System, engine: Automata) -> Vec<Answer> {
    let options = SearchOptions {
        certificate: true,
        budget: Budget::new().with_store(1 << 24),
        ..SearchOptions::default()
    };
    engine.search(Task::new(system, TSO, &options), &mut |_| {}).0
}

fn ask(system: &System, engine: Automata) -> Vec<Answer> {
    let answers = ask_unchecked(system, engine);
    for answer in &answers {
        if let Evidence::Run(run) = &answer.evidence {
            let witness = weir_check::Witness::new(system, run, answer.property, &|_| 1);
            assert_eq!(weir_check::check(system, &witness), Ok(()));
        }
        if let Evidence::Buffers(set) = &answer.evidence {
            assert_eq!(check(system, &Buffers::new(system, set, vec![answer.property])), Ok(()));
        }
    }
    answers
}

fn verdicts(answers: &[Answer]) -> Vec<&'static str> {
    answers.iter().map(|a| a.verdict.name()).collect()
}

/// Whether these stores, oldest first, are a content of a buffer.
fn accepts(system: &System, buffer: &Buffer, stores: &[(&str, i128)]) -> bool {
    let named = |(var, value): (VarId, ValueId)| {
        (system.vars[var.index()].name.as_str(), system.value(var, value))
    };
    match buffer {
        Buffer::Events(events) => {
            events.iter().map(|e| named((e.var, e.value))).eq(stores.iter().copied())
        }
        Buffer::Language(automaton) => {
            let step = |state: usize, store: &(&str, i128)| {
                let edges = &automaton.states[state].edges;
                edges.iter().find(|e| named((e.0, e.1)) == *store).map(|e| e.2)
            };
            let end = stores.iter().try_fold(0, step);
            end.is_some_and(|end| automaton.states[end].is_accepting)
        }
        Buffer::View(_) => panic!("a view is no buffer"),
    }
}

fn graph(system: &System, model: MemoryModel, engine: &'static dyn Engine) -> Graph {
    engine.graph(Task::new(system, model, &SearchOptions::default()), 10_000).unwrap()
}

/// Figure 4: the second process goes round its cycle only when the first one's stores
/// reach memory. Both can come to where under SC nobody gets any further.
const UNLOCKING: &str = include_str!("../../../examples/unlocking.weir");

#[test]
fn one_process_unlocks_the_cycle_of_another() {
    let system = system(UNLOCKING);
    let answers = ask(&system, Automata::default());
    // `no deadlock`, `both_go_on` and `still`.
    assert_eq!(verdicts(&answers), ["violated", "violated", "violated"]);
    assert!(answers.iter().all(|a| matches!(a.evidence, Evidence::Run(_))));

    // Both cycles are folded in, with both processes back where they began.
    let found = graph(&system, TSO, &Automata::DEFAULT);
    let start = &found.nodes[0];
    assert!(start.is_initial);
    let there =
        found.nodes.iter().filter(|n| (&n.controls, &n.memory) == (&start.controls, &start.memory));
    let repeats = |buffer: &Buffer, x: &str| {
        let (set, clear) = ((x, 1), (x, 0));
        let is = |word: &[(&str, i128)]| accepts(&system, buffer, word);
        let is_none = !is(&[set]) && !is(&[clear]) && !is(&[set, set]) && !is(&[set, clear, clear]);
        is_none && is(&[]) && is(&[set, clear]) && is(&[set, clear, set, clear])
    };
    let both = |n: &Node| repeats(&n.buffers[0], "x") && repeats(&n.buffers[1], "y");
    assert!(there.into_iter().any(both), "{found:?}");
    assert!(found.edges.iter().any(|e| e.is_folded));

    // Under SC whoever comes to the waiting place last stays there. The other may have
    // read what lets it go on before; if it has not, that is a deadlock.
    let (answers, _) = Explicit
        .check(Task::new(&system, MemoryModel::SC, &SearchOptions::default()), &mut |_| {})
        .unwrap();
    assert_eq!(verdicts(&answers), ["violated", "holds", "holds"]);
    let waits = |model, engine| -> Vec<bool> {
        let graph = graph(&system, model, engine);
        let both = graph.nodes.iter().filter(|n| {
            let at = |p: usize| &system.state(ProcessId::new(p), n.controls[p]).labels;
            let named = |p: usize, l: &weir_model::ids::LabelId| {
                system.program.processes[p].labels[l.index()].name == "four"
            };
            (0..2).all(|p| at(p).iter().any(|l| named(p, l)))
        });
        both.map(|n| n.settles.contains(&0)).collect()
    };
    let under_sc = waits(MemoryModel::SC, &Explicit);
    assert!(under_sc.contains(&true));
    let under_tso = waits(TSO, &Automata::DEFAULT);
    assert!(under_tso.contains(&true) && under_tso.contains(&false), "{under_tso:?}");
}

/// Two cycles of one process, one after the other, and never the first again.
const IN_ORDER: &str = "
    var x, y = 1
    process p {
        loop { choose { x = 1 } or { break } }
        loop { choose { y = 1 } or { break } }
    }
    process q {
        reg r
        r = swap(y, 0)
        await y == 1
        r = swap(x, 0)
        r = x
    }
    in_order: final never q.r == 1
";

/// Folding the second cycle in as the paper has it lets the first come behind it. No
/// run does that, so the answer rests on a search that folds with more care.
#[test]
fn acceleration_adds_what_no_run_leads_to() {
    let system = system(IN_ORDER);
    let graph = graph(&system, TSO, &Automata::DEFAULT);
    let behind = [("x", 1), ("y", 1), ("x", 1)];
    assert!(graph.nodes.iter().any(|n| accepts(&system, &n.buffers[0], &behind)), "{graph:?}");
    assert!(graph.nodes.iter().any(|n| !n.settles.is_empty()), "it looks violated");
    for sleep_sets in [true, false] {
        let answers = ask(&system, Automata { sleep_sets, ..Automata::DEFAULT });
        assert_eq!(verdicts(&answers), ["holds"]);
        assert!(matches!(answers[0].evidence, Evidence::Buffers(_)));
    }
}

/// A fence in a cycle keeps it from piling up stores, which the paper's three conditions
/// do not ask for: such a cycle is not folded in.
#[test]
fn a_cycle_with_a_fence_does_not_fill_buffers() {
    let text = "
        var x = 1
        process p { loop { fence x = 1 } }
        process q { reg r r = swap(x, 0) }
        no deadlock
    ";
    let system = system(text);
    for engine in [&Explicit as &'static dyn Engine, &Automata::DEFAULT] {
        let graph = graph(&system, TSO, engine);
        let holds =
            |n: &Node, count: usize| accepts(&system, &n.buffers[0], &vec![("x", 1); count]);
        assert!(graph.nodes.iter().any(|n| holds(n, 1)), "{graph:?}");
        for node in &graph.nodes {
            assert!(holds(node, 0) != holds(node, 1) && !holds(node, 2), "{node:?}");
        }
    }
}

/// If what sleeps did sleep on where a cycle is folded in, the store of `p` would not be
/// committed everywhere.
#[test]
fn a_folded_cycle_wakes_what_sleeps() {
    let text = "
        var x, y
        process p { y = 1 }
        process q { loop { x = 1 y = 0 } }
        no deadlock
    ";
    let system = system(text);
    let answers = ask(&system, Automata::default());
    assert_eq!(verdicts(&answers), ["holds"]);
    assert!(matches!(answers[0].evidence, Evidence::Buffers(_)));
}

/// The values of a variable, smallest first.
fn numbers(system: &System, x: usize) -> Vec<i128> {
    let all = system.expanded(&Budget::new()).unwrap();
    all.values(VarId::new(x)).iter().map(|v| system.value(VarId::new(x), *v)).collect()
}

fn certificate(system: &System) -> Buffers {
    let answers = ask(system, Automata::default());
    let Evidence::Buffers(set) = &answers[0].evidence else { panic!("{:?}", answers[0]) };
    Buffers::new(system, set, vec![QuestionId(0)])
}

/// Nothing is folded in here, so each state is there because it is initial or a step
/// leads to it that no other has.
#[test]
fn without_a_state() {
    let system = system(FENCED);
    let whole = certificate(&system);
    assert_eq!(check(&system, &whole), Ok(()));
    for i in (0..whole.states.len()).step_by(3) {
        let mut less = whole.clone();
        less.states.remove(i);
        let why = check(&system, &less).expect_err("a state is missing");
        assert!(
            matches!(why, Rejected::InitialOutside | Rejected::LeadsOut { .. }),
            "without {i}: {why}"
        );
    }
}

/// With an automaton that accepts less, or another memory or control state.
#[test]
fn with_another_state() {
    for system in [system(FENCED), system(HANDOVER)] {
        let whole = certificate(&system);
        assert_eq!(check(&system, &whole), Ok(()));
        let mut rejected = 0;
        let values = numbers(&system, 0);
        for i in 0..whole.automata.len() {
            for place in 0..whole.automata[i].len() {
                if !whole.automata[i][place].accepting {
                    continue;
                }
                let mut tampered = whole.clone();
                tampered.automata[i][place].accepting = false;
                assert!(check(&system, &tampered).is_err(), "automaton {i}, place {place}");
                rejected += 1;
            }
        }
        for i in (0..whole.states.len()).step_by(5) {
            let mut tampered = whole.clone();
            let at = values.iter().position(|v| *v == whole.states[i].memory[0]).unwrap();
            tampered.states[i].memory[0] = values[(at + 1) % values.len()];
            assert!(check(&system, &tampered).is_err(), "memory of {i}");
            rejected += 1;
        }
        assert!(rejected > 10, "{rejected}");
    }
}

#[test]
fn for_something_else() {
    let fenced = system(FENCED);
    let whole = certificate(&fenced);
    let unfenced = system(&FENCED.replace("            fence\n", "            nop\n"));
    assert_eq!(check(&unfenced, &whole), Err(Rejected::Other { what: "program" }));
    let mut relabeled = whole.clone();
    relabeled.header.fingerprint = unfenced.program.fingerprint();
    let why = check(&unfenced, &relabeled).unwrap_err();
    assert!(matches!(why, Rejected::LeadsOut { .. }), "{why}");
    let bad = |change: &dyn Fn(&mut Buffers), reason: &str| {
        let mut tampered = whole.clone();
        change(&mut tampered);
        let why = check(&fenced, &tampered).expect_err(reason);
        assert!(why.to_string().contains(reason), "{reason}: {why}");
    };
    bad(&|s| s.header.format = "weir-witness".to_owned(), "not weir-buffer-set");
    bad(&|s| s.header.version = 9, "version 9");
    bad(&|s| s.model = "PSO".to_owned(), "no sets of buffer contents");
    bad(&|s| s.model = "x86".to_owned(), "memory model");
    bad(&|s| s.variables.reverse(), "variables");
    bad(&|s| s.properties = vec![7], "no such property");
    bad(&|s| s.properties.clear(), "it names no property");
    bad(&|s| s.states.clear(), "an initial configuration");
    bad(&|s| s.states[0].buffers.truncate(1), "processes");
    bad(&|s| s.states[0].memory.clear(), "a memory does not have");
    bad(&|s| s.states[0].memory[0] = 9, "an initial configuration");
    bad(&|s| s.states[0].states[0] = "999".to_owned(), "no control state 999");
    bad(&|s| drop(s.states[0].states.pop()), "one control state for each process");
    bad(&|s| s.states[0].buffers[0] = 999, "no automaton 999");
    bad(&|s| s.automata[0] = vec![], "accepts nothing");
    let edge = |to| Edge("turn".to_owned(), 0, to);
    bad(&|s| s.automata[0][0].edges = vec![edge(77)], "no place 77");
    bad(&|s| s.automata[0][0].edges = vec![edge(0), edge(0)], "two edges");
    bad(&|s| s.automata[0][0].edges = vec![Edge("none".to_owned(), 0, 0)], "no variable `none`");
    // A set with everything in it is closed, and says nothing.
    let everything = |s: &mut Buffers| {
        let letters = (0..fenced.vars.len()).flat_map(|x| {
            let name = &fenced.vars[x].name;
            numbers(&fenced, x).into_iter().map(|d| Edge(name.clone(), d, 0))
        });
        let edges = letters.collect();
        s.automata = vec![vec![Place { accepting: true, edges }]];
        s.states = Vec::new();
        let all = fenced.expanded(&Budget::new()).unwrap();
        let names = |p: usize| -> Vec<String> {
            let p = ProcessId::new(p);
            all.states(p).map(|s| fenced.state_name(p, s)).collect()
        };
        for a in names(0) {
            for b in names(1) {
                for bits in 0..1 << fenced.vars.len() {
                    let memory =
                        (0..fenced.vars.len()).map(|v| i128::from(bits >> v & 1)).collect();
                    let states = vec![a.clone(), b.clone()];
                    s.states.push(State { states, memory, buffers: vec![0, 0] });
                }
            }
        }
    };
    bad(&everything, "settles `mutex`");
}

/// A set that is closed under the steps of the system is none of the program where that goes
/// on otherwise.
#[test]
fn for_what_is_not_followed() {
    let doubling = system(DOUBLING);
    let answers = ask_unchecked(&doubling, Automata::default());
    let Evidence::Buffers(set) = &answers[0].evidence else { panic!("{:?}", answers[0]) };
    let why = check(&doubling, &Buffers::new(&doubling, set, vec![QuestionId(0)])).unwrap_err();
    assert!(matches!(&why, Rejected::NotFollowed(_)), "{why}");
    assert!(why.to_string().contains("a value does not fit 128 bits"), "{why}");
}

/// Locks in which the depth-first search alone fills buffers for minutes, and a violation is
/// near. The time limit only ends a test that fails.
#[test]
fn short_runs_are_found_beside_a_long_way() {
    for name in ["bakery-2", "debruijn-2", "dijkstra-2", "szymanski-2"] {
        let file = format!("{}/../../corpus/{name}.weir", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(&file).unwrap();
        let system = system(&text);
        let budget = Budget::new().with_store(1 << 26).with_time(Duration::from_secs(60));
        let options = SearchOptions { budget, ..SearchOptions::default() };
        let ask = || Automata::DEFAULT.search(Task::new(&system, TSO, &options), &mut |_| {});
        let (answers, stats) = ask();
        assert_eq!(verdicts(&answers), ["violated"], "{name}: {stats:?}");
        let Evidence::Run(run) = &answers[0].evidence else { panic!("{name}") };
        let witness = weir_check::Witness::new(&system, run, QuestionId(0), &|_| 1);
        assert_eq!(weir_check::check(&system, &witness), Ok(()));
        let counts = |s: &weir_engine::Stats| (s.stored, s.steps, s.expanded, s.bytes);
        assert_eq!(counts(&ask().1), counts(&stats), "{name}: the same every time");
    }
}
