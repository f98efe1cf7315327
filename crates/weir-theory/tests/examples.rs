//! The basic forms of the example machines reach what is expected of the machines.
//!
//! A line `// expect: lossy STATE CONTENTS ANSWER` of an example says whether `STATE` is
//! reached with `empty` channels or with `any`.

use crate::common;

use std::fs;
use std::path::Path;

use common::is_reached;
use weir_channel::semantics::Contents;
use weir_channel::text::read;
use weir_model::limits::Budget;
use weir_theory::basic::basic;

#[test]
fn basic_forms_keep_the_promises_of_the_machines() {
    let mut seen = 0;
    for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")).unwrap()
    {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|e| e != "chm") {
            continue;
        }
        let name = path.display();
        let text = fs::read_to_string(&path).unwrap();
        let machine = read(&text).unwrap_or_else(|e| panic!("{name}: {e:?}"));
        for line in text.lines().filter_map(|l| l.strip_prefix("// expect: lossy ")) {
            let words: Vec<&str> = line.split_whitespace().collect();
            let [state, contents, answer] = words[..] else { panic!("{name}: {line}") };
            if contents != "empty" && machine.strong().next().is_some() {
                continue;
            }
            let state = machine.state(state).unwrap_or_else(|| panic!("{name}: {line}"));
            let simple = basic(&machine, &Budget::new()).unwrap();
            let reached = is_reached(&simple, state, Contents::Empty);
            assert_eq!(reached, answer == "reached", "{name}: {line}");
            seen += 1;
        }
    }
    assert!(seen >= 7, "only {seen} answers");
}
