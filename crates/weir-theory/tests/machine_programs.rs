//! Basic machines and their programs reach the same control states (Atig et al. 2010, Lemma 4):
//! on random machines and on the examples, the lossy machine by backward search over
//! channels, and its program by two engines that know nothing of channels.

use crate::common;

use std::fs;
use std::path::Path;

use common::{BASIC, Shape, is_reached, machine, with_seeds};
use weir_channel::semantics::Contents;
use weir_channel::{Machine, SearchOptions, StateId, text};
use weir_engine::{Backward, Engine, Task, Views};
use weir_model::answer::Verdict;
use weir_model::limits::Budget;
use weir_model::memory_model::MemoryModel;
use weir_model::system::System;
use weir_theory::basic::basic;
use weir_theory::program::{ProgramError, program};

/// Engines and models, and for each how many states they found reached, not reached,
/// and did not decide.
type Counts = [[usize; 3]; 4];

static WAYS: [(MemoryModel, &dyn Engine); 4] = [
    (MemoryModel::TSO, &Views),
    (MemoryModel::TSO, &Backward),
    (MemoryModel::PSO, &Views),
    (MemoryModel::PSO, &Backward),
];

/// Asks for all states of a machine in all ways.
fn agree(machine: &Machine, counts: &mut Counts) {
    let states: Vec<StateId> = machine.states().collect();
    let program = program(machine, &states).unwrap();
    let printed = weir_front::weir::print(&program);
    let (again, _) = weir_front::read("again.weir", &printed, None)
        .unwrap_or_else(|e| panic!("{}", e[0].render("again.weir", &printed, false)));
    assert_eq!(weir_front::weir::print(&again), printed);
    let system = System::new(again).unwrap();
    let expected: Vec<bool> =
        states.iter().map(|q| is_reached(machine, *q, Contents::Empty)).collect();
    // Nothing bounds the search by the size of a machine.
    let options =
        SearchOptions { budget: Budget::new().with_store(1 << 26), ..SearchOptions::default() };
    for ((model, engine), counts) in WAYS.into_iter().zip(counts) {
        let (answers, _) = engine.check(Task::new(&system, model, &options), &mut |_| {}).unwrap();
        for ((answer, expected), q) in answers.iter().zip(&expected).zip(&states) {
            match answer.verdict {
                Verdict::Unknown => counts[2] += 1,
                verdict => {
                    counts[usize::from(verdict == Verdict::Holds)] += 1;
                    assert_eq!(
                        verdict == Verdict::Violated,
                        *expected,
                        "{model} {engine:?} {}\n{}\n{printed}",
                        machine.state_name(*q),
                        text::print(machine)
                    );
                }
            }
        }
    }
}

fn on_random_machines(cases: u64, shape: Shape) {
    let counts = std::sync::Mutex::new(Counts::default());
    with_seeds(cases, |rng| agree(&machine(rng, &shape, "m"), &mut counts.lock().unwrap()));
    let counts = counts.into_inner().unwrap();
    let all = shape.states * cases as usize;
    for (way, [reached, unreached, unknown]) in WAYS.iter().zip(counts) {
        assert!(reached > all / 4 && unreached > all / 8, "{way:?}: both happen: {counts:?}");
        assert!(unknown < all / 8, "{way:?} decides nearly all: {counts:?}");
    }
}

#[test]
fn machines_with_one_channel() {
    on_random_machines(300, Shape { channels: 1, ..BASIC });
}

#[test]
fn machines_with_several_channels() {
    on_random_machines(100, BASIC);
}

#[test]
fn examples() {
    let mut counts = Counts::default();
    for name in ["no-bit", "meet-right", "alternating-bit"] {
        let path = format!("{}/../../examples/{name}.chm", env!("CARGO_MANIFEST_DIR"));
        let machine = text::read(&fs::read_to_string(Path::new(&path)).unwrap()).unwrap();
        let machine =
            if machine.is_basic() { machine } else { basic(&machine, &Budget::new()).unwrap() };
        agree(&machine, &mut counts);
    }
    // Under TSO all is decided: the alternating bit is right.
    assert_eq!(counts[..2], [[14, 1, 0]; 2]);
    assert!(counts.iter().all(|c| c[0] > 5), "{counts:?}");
}

#[test]
fn written_by_hand() {
    // Messages come out in the order in which they were sent, each at most once, on
    // the channel that they were sent on; any of them can be lost.
    let machines = [
        "machine order; messages a, b; channels c; states s0, s1, s2, r, ab, ba, aa; initial s0;
         s0 -> s1 do c!a; s1 -> s2 do c!b; s2 -> r do c?b; r -> ba do c?a; s2 -> ab do c?a;
         ab -> aa do c?a;",
        "machine \"two channels\"; messages a; channels c, d; states s, t, crossed, both;
         initial s; s -> t do c!a; t -> crossed do d?a; t -> t do c?a, d!a; t -> both do d?a, c?a;",
        "machine \"nothing to read\"; messages a; channels c; states s, t, u; initial u;
         s -> t; u -> s do nop; t -> t do c?a;",
        "machine \"no channels\"; states \"a b\", a_b, \"loop\"; initial a_b;
         a_b -> \"loop\"; \"loop\" -> a_b;",
    ];
    let mut counts = Counts::default();
    for text in machines {
        agree(&text::read(text).unwrap(), &mut counts);
    }
    assert_eq!(counts, [[13, 4, 0]; 4]);
}

#[test]
fn only_basic_machines_have_programs() {
    let machine = text::read(
        "machine m; messages a; channels c; states s; initial s; s -> s when c empty do c!a;",
    );
    assert_eq!(program(&machine.unwrap(), &[]), Err(ProgramError::NotBasic));
    let channels: Vec<String> = (0..64).map(|c| format!("c{c}")).collect();
    let text = format!("machine m; channels {}; states s; initial s;", channels.join(", "));
    assert_eq!(program(&text::read(&text).unwrap(), &[]), Err(ProgramError::Channels));
}
