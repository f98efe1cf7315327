//! The product is what section 4.4 says: transitions with a label together, the
//! others alone, and the traces that all machines have (Proposition 2).

use crate::common;

use std::collections::BTreeSet;

use common::{BASIC, Shape, is_reached, machine, monitor, with_seeds};
use weir_channel::semantics::Contents;
use weir_channel::text::{print, read};
use weir_channel::{Machine, ProductError, Transition, product};
use weir_model::limits::Budget;

/// A transition by names, with ends of the caller's.
fn named(machine: &Machine, t: &Transition, from: &str, to: &str) -> String {
    let label = t.label.map_or("", |l| machine.label_name(l));
    let channel = |c| machine.channel_name(c).to_owned();
    let mut parts: Vec<String> = t
        .guards()
        .map(|(c, g)| format!("{} in {}", channel(c), weir_channel::text::show_regex(machine, g)))
        .collect();
    let message = |m| machine.message_name(m).to_owned();
    for (c, op) in t.ops() {
        parts.push(match op {
            weir_channel::Op::Receive(m) => format!("{}?{}", channel(c), message(*m)),
            weir_channel::Op::Send { substitution, message: m } => {
                let pairs: BTreeSet<String> = substitution
                    .pairs()
                    .map(|(new, old)| format!("{}/{}", message(new), message(old)))
                    .collect();
                format!("{}{pairs:?}!{}", channel(c), message(*m))
            }
        });
    }
    parts.sort();
    format!("{from} -{label}-> {to}: {}", parts.join(", "))
}

/// Guards and operations of two transitions by names, gathered.
fn gathered(ms: [&Machine; 2], ts: [&Transition; 2], from: &str, to: &str) -> String {
    let one = named(ms[0], ts[0], from, to);
    let two = named(ms[1], ts[1], from, to);
    let (head, first) = one.split_once(": ").unwrap();
    let (_, second) = two.split_once(": ").unwrap();
    let parts = [first, second];
    let mut parts: Vec<&str> = parts.into_iter().filter(|p| !p.is_empty()).collect();
    parts.sort_unstable();
    format!("{head}: {}", parts.join(", "))
}

#[test]
fn transitions_are_those_of_the_definition() {
    let shape = Shape { guards: true, substitutions: true, labels: 2, ..BASIC };
    with_seeds(200, |rng| {
        let (one, two) = (machine(rng, &shape, "c"), machine(rng, &shape, "d"));
        let both = product(&[&one, &two], &Budget::new()).unwrap();
        assert_eq!(both.states().count(), one.states().count() * two.states().count());
        assert_eq!(both.state_name(both.initial()), "(cq0, dq0)");
        let mut expected = BTreeSet::new();
        for t in one.transitions() {
            let (from, to) = (one.state_name(t.from), one.state_name(t.to));
            match t.label {
                None => {
                    expected.extend(two.states().map(|s| two.state_name(s)).map(|s| {
                        named(&one, t, &format!("({from}, {s})"), &format!("({to}, {s})"))
                    }))
                }
                Some(label) => {
                    let same = |u: &&Transition| {
                        u.label.is_some_and(|l| two.label_name(l) == one.label_name(label))
                    };
                    for u in two.transitions().iter().filter(same) {
                        let from = format!("({from}, {})", two.state_name(u.from));
                        let to = format!("({to}, {})", two.state_name(u.to));
                        expected.insert(gathered([&one, &two], [t, u], &from, &to));
                    }
                }
            }
        }
        for u in two.transitions().iter().filter(|u| u.label.is_none()) {
            let (from, to) = (two.state_name(u.from), two.state_name(u.to));
            expected.extend(
                one.states()
                    .map(|s| one.state_name(s))
                    .map(|s| named(&two, u, &format!("({s}, {from})"), &format!("({s}, {to})"))),
            );
        }
        let found: BTreeSet<String> = both
            .transitions()
            .iter()
            .map(|t| named(&both, t, both.state_name(t.from), both.state_name(t.to)))
            .collect();
        assert_eq!(found, expected, "{}\n{}", print(&one), print(&two));
    });
}

/// Whether a machine has a trace to a state.
fn has_trace(machine: &Machine, trace: &[&str], end: &str) -> bool {
    let both = product(&[machine, &monitor(trace, &["x", "y"])], &Budget::new()).unwrap();
    let state = both.state(&format!("({end}, m{})", trace.len())).unwrap();
    is_reached(&both, state, Contents::Empty)
}

#[test]
fn traces_are_those_that_both_have() {
    let shape = Shape { channels: 1, states: 3, labels: 2, transitions: 5, ..BASIC };
    let strong = Shape { strong: true, guards: true, ..shape };
    for shape in [shape, strong] {
        let common = std::sync::atomic::AtomicUsize::new(0);
        with_seeds(150, |rng| {
            let one = machine(rng, &shape, "c");
            let two = loop {
                let two = machine(rng, &shape, "d");
                if two.strong_bound() == one.strong_bound() {
                    break two;
                }
            };
            let both = product(&[&one, &two], &Budget::new()).unwrap();
            let trace: Vec<&str> = (0..rng.below(3)).map(|_| *rng.pick(&["x", "y"])).collect();
            for (p, q) in (0..9).map(|n| (format!("cq{}", n / 3), format!("dq{}", n % 3))) {
                let each = has_trace(&one, &trace, &p) && has_trace(&two, &trace, &q);
                let together = has_trace(&both, &trace, &format!("({p}, {q})"));
                assert_eq!(each, together, "{trace:?} {p} {q}\n{}\n{}", print(&one), print(&two));
                common.fetch_add(usize::from(each), std::sync::atomic::Ordering::Relaxed);
            }
        });
        if std::env::var("WEIR_CASES").is_err() {
            assert!(common.into_inner() > 20);
        }
    }
}

fn small(name: &str, channel: &str, strong: &str) -> Machine {
    read(&format!(
        "machine {name}; messages a, b; {strong} channels {channel}; labels go;
         states s, t; initial s; s -> t on go do {channel}!a;"
    ))
    .unwrap()
}

#[test]
fn what_does_not_fit_together_is_refused() {
    let plain = small("one", "c", "");
    let error = product(&[&plain, &small("two", "c", "")], &Budget::new()).unwrap_err();
    assert_eq!(error, ProductError::SharedChannel("c".to_owned()));
    let error =
        product(&[&plain, &small("two", "d", "strong b at most 1;")], &Budget::new()).unwrap_err();
    assert_eq!(error, ProductError::Strong("b".to_owned()));
    let one = small("one", "c", "strong b at most 1;");
    let error =
        product(&[&one, &small("two", "d", "strong b at most 2;")], &Budget::new()).unwrap_err();
    assert_eq!(error, ProductError::Bound(1, 2));
    assert_eq!(product(&[], &Budget::new()).unwrap_err(), ProductError::Nothing);
    let many: Vec<Machine> = (0..16).map(|i| small("m", &format!("c{i}"), "")).collect();
    let error = product(&many.iter().collect::<Vec<_>>(), &Budget::new()).unwrap_err();
    assert!(error.to_string().contains("more than 60000 control states"), "{error}");
}

#[test]
fn a_label_of_one_machine_blocks_it() {
    let one = small("one", "c", "");
    let two = read("machine two; labels other; states u; initial u; u -> u on other;").unwrap();
    let both = product(&[&one, &two], &Budget::new()).unwrap();
    assert!(both.transitions().is_empty());
}

#[test]
fn more_than_two_machines() {
    let three = [small("a", "c", ""), small("b", "d", ""), small("c", "e", "")];
    let all = product(&three.iter().collect::<Vec<_>>(), &Budget::new()).unwrap();
    let two = product(&[&three[0], &three[1]], &Budget::new()).unwrap();
    let nested = product(&[&two, &three[2]], &Budget::new()).unwrap();
    assert_eq!(all.states().count(), nested.states().count());
    assert_eq!(all.transitions(), nested.transitions());
    assert!(all.state("(s, s, t)").is_some());
    assert!(nested.state("((s, s), t)").is_some());
    assert_eq!(read(&print(&all)).unwrap(), all);
}
