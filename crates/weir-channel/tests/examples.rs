//! Every example machine says what is expected of it, and gets it.
//!
//! A line `// expect: SEMANTICS STATE CONTENTS ANSWER` says whether `STATE` is
//! reached with `empty` channels or with `any`. Lossy machines are asked three times:
//! directly, explicitly, and after printing and reading.

use crate::common;

use std::fs;
use std::path::Path;

use common::is_reached;
use weir_channel::explicit::search;
use weir_channel::lossy::Reach;
use weir_channel::semantics::{Contents, Goal, Semantics};
use weir_channel::text::{print, read};
use weir_channel::{Machine, SearchOptions, product};
use weir_model::limits::Budget;

fn load(name: &str) -> (String, Machine) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
    let text = fs::read_to_string(path).unwrap();
    let machine =
        read(&text).unwrap_or_else(|errors| panic!("{}", errors[0].render(name, &text, false)));
    (text, machine)
}

fn expect(name: &str, machine: &Machine, line: &str) {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [semantics, state, contents, answer] = words[..] else { panic!("{name}: {line}") };
    let contents = match contents {
        "empty" => Contents::Empty,
        "any" => Contents::Any,
        other => panic!("{name}: {other}"),
    };
    let state = machine.state(state).unwrap_or_else(|| panic!("{name}: {line}"));
    let goal = Goal { state, contents };
    let explicit = |semantics| {
        let found = search(machine, semantics, Some(&goal), &SearchOptions::default(), &mut |_| {});
        match found.goal.unwrap() {
            Reach::Reached(_) => "reached",
            Reach::NotReached(_) => "not-reached",
            Reach::Unknown(_) => "unknown",
        }
    };
    match semantics {
        "perfect" => assert_eq!(explicit(Semantics::Perfect), answer, "{name}: {line}"),
        "lossy" => {
            let expected = match answer {
                "reached" => true,
                "not-reached" => false,
                other => panic!("{name}: {other}"),
            };
            assert_eq!(is_reached(machine, state, contents), expected, "{name}: {line}");
            let tried = explicit(Semantics::Lossy);
            assert!(tried == answer || tried == "unknown", "{name}: {line}: {tried}");
        }
        other => panic!("{name}: {other}"),
    }
}

#[test]
fn every_machine_keeps_its_promise() {
    let mut seen = 0;
    for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")).unwrap()
    {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if !name.ends_with(".chm") {
            continue;
        }
        let (text, machine) = load(&name);
        assert!(text.starts_with("// "), "{name} does not say what it is");
        assert_eq!(read(&print(&machine)).unwrap(), machine, "{name}");
        let lines: Vec<&str> = text.lines().filter_map(|l| l.strip_prefix("// expect: ")).collect();
        assert!(!lines.is_empty(), "{name} expects nothing");
        lines.into_iter().for_each(|line| expect(&name, &machine, line));
        seen += 1;
    }
    assert!(seen >= 7, "only {seen} machines");
}

#[test]
fn the_halves_meet_once() {
    let both =
        product(&[&load("meet-left.chm").1, &load("meet-right.chm").1], &Budget::new()).unwrap();
    let reached = |name: &str| is_reached(&both, both.state(name).unwrap(), Contents::Any);
    assert!(reached("(l1, r1)"));
    assert!(both.states().map(|s| both.state_name(s)).filter(|s| reached(s)).count() == 2);
}

/// The alternating-bit protocol is right because of what it has: without one of its
/// parts it goes wrong, and with losses or without makes no difference.
#[test]
fn alternating_bit_without_a_part() {
    let (text, machine) = load("alternating-bit.chm");
    let wrong =
        |machine: &Machine| is_reached(machine, machine.state("wrong").unwrap(), Contents::Any);
    assert!(!wrong(&machine));
    for state in ["i0e0", "w0e0", "w0e1", "i1e1", "w1e1", "w1e0"] {
        assert!(is_reached(&machine, machine.state(state).unwrap(), Contents::Empty), "{state}");
    }
    // The sender takes any acknowledgement for its own.
    let careless = text.replace("w0e0 -> w0e0 do acks?a1;", "w0e0 -> i1e1 do acks?a1;");
    assert_ne!(careless, text);
    assert!(wrong(&read(&careless).unwrap()));
    // The receiver acknowledges what it did not expect with the wrong bit.
    let confused =
        text.replace("w0e0 -> w0e0 do data?d1, acks!a1;", "w0e0 -> w0e0 do data?d1, acks!a0;");
    assert_ne!(confused, text);
    assert!(wrong(&read(&confused).unwrap()));
}
