//! A machine and its basic form reach the same control states and have the same
//! traces (Proposition 1).

use crate::common;

use common::{BASIC, SHAPES, Shape, is_reached, is_reached_cheaply, machine, monitor, with_seeds};
use weir_channel::semantics::Contents;
use weir_channel::text::{print, read};
use weir_channel::{Machine, product};
use weir_model::limits::Budget;
use weir_theory::basic::basic;

#[test]
fn the_same_states_are_reached() {
    for (name, shape) in SHAPES {
        let shape = Shape { transitions: 5, states: 3, ..shape };
        let reached = std::sync::atomic::AtomicUsize::new(0);
        let skipped = std::sync::atomic::AtomicUsize::new(0);
        with_seeds(150, |rng| {
            let machine = machine(rng, &shape, "c");
            let simple = basic(&machine, &Budget::new()).unwrap();
            assert!(simple.is_basic());
            for state in machine.states() {
                assert_eq!(machine.state_name(state), simple.state_name(state));
                let direct = is_reached(&machine, state, Contents::Empty);
                reached.fetch_add(usize::from(direct), std::sync::atomic::Ordering::Relaxed);
                let Some(through) = is_reached_cheaply(&simple, state) else {
                    skipped.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    continue;
                };
                let name = machine.state_name(state);
                assert_eq!(direct, through, "{name}\n{}", print(&machine));
            }
        });
        let (reached, skipped) = (reached.into_inner(), skipped.into_inner());
        println!("{name}: {reached} reached, {skipped} skipped");
        assert!(skipped <= reached / 10, "{name}: {skipped} skipped");
    }
}

/// Whether a machine has a trace to the state `end`.
fn has_trace(machine: &Machine, trace: &[&str], end: &str) -> bool {
    let labels: Vec<&str> = machine.labels().map(|l| machine.label_name(l)).collect();
    let both = product(&[machine, &monitor(trace, &labels)], &Budget::new()).unwrap();
    let state = both.state(&format!("({end}, m{})", trace.len())).unwrap();
    is_reached(&both, state, Contents::Empty)
}

#[test]
fn the_same_traces() {
    let shape = Shape { channels: 1, transitions: 5, states: 3, labels: 2, ..BASIC };
    let everything =
        Shape { guards: true, substitutions: true, strong: true, messages: 3, ..shape };
    for shape in [Shape { guards: true, ..shape }, everything] {
        with_seeds(200, |rng| {
            let machine = machine(rng, &shape, "c");
            let simple = basic(&machine, &Budget::new()).unwrap();
            let trace: Vec<&str> = (0..1 + rng.below(3)).map(|_| *rng.pick(&["x", "y"])).collect();
            for state in machine.states() {
                let end = machine.state_name(state);
                assert_eq!(
                    has_trace(&machine, &trace, end),
                    has_trace(&simple, &trace, end),
                    "{trace:?} to {end}\n{}",
                    print(&machine)
                );
            }
        });
    }
}

/// What the paper's text would get wrong if guard, operation and check were
/// rotations of their own.
#[test]
fn a_guard_and_a_receive_look_at_the_same_word() {
    let machine = read(
        "machine m; messages a, b; channels c; states s, t, u, bad; initial s;
         s -> t do c!a;
         t -> u do c!b;
         // The guard needs the older `a`, the operation needs it gone.
         u -> bad when c in b a do c?b;",
    )
    .unwrap();
    let bad = machine.state("bad").unwrap();
    assert!(!is_reached(&machine, bad, Contents::Empty));
    assert!(!is_reached(&basic(&machine, &Budget::new()).unwrap(), bad, Contents::Empty));
}

/// A rotation reads the oldest message first, a guard the newest.
#[test]
fn guards_are_mirrored() {
    let machine = read(
        "machine m; messages a, b; channels c; states s, t, u, good, bad; initial s;
         s -> t do c!a;
         t -> u do c!b;
         u -> good when c in b a;
         u -> bad when c in a b;",
    )
    .unwrap();
    for (state, expected) in [("good", true), ("bad", false)] {
        let state = machine.state(state).unwrap();
        assert_eq!(is_reached(&machine, state, Contents::Empty), expected);
        assert_eq!(
            is_reached(&basic(&machine, &Budget::new()).unwrap(), state, Contents::Empty),
            expected
        );
    }
}

#[test]
fn a_strong_message_that_becomes_weak_is_there_when_the_guard_looks() {
    let machine = read(
        "machine m; messages a, b, z; strong a at most 1; channels c;
         states s, t, bad, end; initial s;
         s -> t do c!a;
         // The guard can hold only if the strong `a` was lost.
         t -> bad when c empty do c[b/a]!z;
         t -> end when c in a do c[b/a]!z;",
    )
    .unwrap();
    for (state, expected) in [("bad", false), ("end", true), ("t", false)] {
        let state = machine.state(state).unwrap();
        assert_eq!(is_reached(&machine, state, Contents::Empty), expected);
        assert_eq!(
            is_reached(&basic(&machine, &Budget::new()).unwrap(), state, Contents::Empty),
            expected
        );
    }
    // With the strong message in the channel it is reached all the same.
    assert!(is_reached(&machine, machine.state("t").unwrap(), Contents::Any));
}

#[test]
fn a_basic_machine_stays_as_it_is() {
    with_seeds(50, |rng| {
        let machine = machine(rng, &BASIC, "c");
        // The order of transitions may differ: they are grouped by state.
        let simple = basic(&machine, &Budget::new()).unwrap();
        assert_eq!(simple.states().count(), machine.states().count());
        let mut transitions = machine.transitions().to_vec();
        let mut others = simple.transitions().to_vec();
        transitions.sort();
        others.sort();
        assert_eq!(transitions, others);
    });
}

#[test]
fn what_gets_too_large_is_refused() {
    let many: Vec<String> = (0..40).map(|i| format!("m{i}")).collect();
    let sends: String = many.iter().map(|m| format!("s -> s do c!{m};\n")).collect();
    let list = many.join(", ");
    let machine = read(&format!(
        "machine m; messages {list}; strong {list} at most 9; channels c; states s; initial s;
         {sends}"
    ))
    .unwrap();
    let error = basic(&machine, &Budget::new()).unwrap_err().to_string();
    assert!(error.contains("more than 60000 control states"), "{error}");
}

#[test]
fn printed_basic_machines_read_back() {
    for (_, shape) in SHAPES {
        with_seeds(50, |rng| {
            let simple = basic(&machine(rng, &shape, "c"), &Budget::new()).unwrap();
            assert_eq!(read(&print(&simple)).unwrap(), simple);
        });
    }
}
