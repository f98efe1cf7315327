//! Values cost only where a run reaches them: no domain is needed, types wrap or fail, and what
//! grows without end is named.

use crate::common;

use common::{weir, weir_reading};
use weir::{Loaded, MemoryModel, Verdict};
use weir_engine::SearchOptions;

const NAMED: [&str; 4] = ["sc", "tso", "pso", "nsw"];

/// The verdicts on all properties of a file of some name, and how many configurations were seen.
#[track_caller]
fn decided(name: &str, text: &str, model: &str) -> (Vec<Verdict>, usize) {
    let model: MemoryModel = model.parse().expect("a model");
    let loaded =
        Loaded::for_model(name, text, model).unwrap_or_else(|e| panic!("{}", e.render(false)));
    let (answers, stats) =
        weir::solver::check(&loaded.system, model, &SearchOptions::default()).unwrap();
    (answers.iter().map(|a| a.verdict).collect(), stats.stored)
}

#[test]
fn unsigned_types_wrap_and_signed_types_fail() {
    for (int, low, high) in [
        ("u8", 0, i128::from(u8::MAX)),
        ("u16", 0, i128::from(u16::MAX)),
        ("u32", 0, i128::from(u32::MAX)),
        ("u64", 0, i128::from(u64::MAX)),
        ("i8", i128::from(i8::MIN), i128::from(i8::MAX)),
        ("i16", i128::from(i16::MIN), i128::from(i16::MAX)),
        ("i32", i128::from(i32::MIN), i128::from(i32::MAX)),
        ("i64", i128::from(i64::MIN), i128::from(i64::MAX)),
    ] {
        for (begin, op, end) in [(high, "+", low), (low, "-", high)] {
            for steps in [
                "reg r  r = x  x = r OP 1".to_owned(),
                format!("reg r: {int} = {begin}  r = r OP 1  x = r"),
                format!("fetch_{}(x, 1)", if op == "+" { "add" } else { "sub" }),
                "reg r  r = x  cas(x, r, r OP 1)".to_owned(),
            ] {
                let steps = steps.replace("OP", op);
                let text = format!(
                    "var x: {int} = {begin} process p {{ {steps} }} final exists x == {end}"
                );
                let wraps = int.starts_with('u');
                for model in NAMED {
                    let (found, _) = decided("p.weir", &text, model);
                    // That nothing fails is asked only where something can.
                    let expected: &[Verdict] =
                        if wraps { &[Verdict::Holds] } else { &[Verdict::Violated; 2] };
                    assert_eq!(found, expected, "{text} under {model}");
                }
            }
            let text = format!(
                "var x: {int} = {begin} process p {{ x = {int}(x {op} 1) }} \
                 final always x == {end}"
            );
            let (found, _) = decided("p.weir", &text, "tso");
            assert!(found.iter().all(|v| *v == Verdict::Holds), "{text}");
        }
    }
}

#[test]
fn a_value_that_does_not_fit_is_named() {
    let text = b"var x: i8 = 127 process p { x = x + 1 } assertions";
    let output = weir_reading(&["check", "-"], text);
    assert_eq!(output.status, 1, "{output:?}");
    assert!(output.out.contains("128 is outside the domain of x"), "{}", output.out);
}

#[test]
fn a_counter_that_wraps_is_as_large_as_its_values() {
    for count in [4, 128, 1000] {
        let last = count - 1;
        let text = format!(
            "var s: 0..{last} process w {{ loop {{ s = (s + 1) % {count} }} }} never s == {count}"
        );
        for model in NAMED {
            let (found, configurations) = decided("p.weir", &text, model);
            assert_eq!(found[0], Verdict::Holds, "{count} under {model}");
            assert!(configurations <= 2 * count, "{configurations} of {count} under {model}");
        }
    }
}

#[test]
fn a_semaphore_of_type_int() {
    let text = "
        int sem = 1; byte inside = 0;
        active [3] proctype P() {
            do
            :: atomic { sem > 0 -> sem-- };
               inside++;
               critical: inside--;
               sem++
            od
        }
        /* weir: never count(P@critical) > 1 */
    ";
    for model in ["sc", "tso"] {
        let (found, configurations) = decided("sem.pml", text, model);
        assert_eq!(found[0], Verdict::Holds, "{model}");
        assert!(configurations < 1000, "{configurations} under {model}");
    }
    let output = weir(&["check", "corpus/promela/semaphore.pml"]);
    assert_eq!(output.status, 0, "{}{}", output.out, output.err);
}

#[test]
fn a_counter_of_tickets_without_a_domain() {
    let process = "process registers $r0 = 0 text
        L: read: $r0 := tail; cas(tail, $r0, $r0 + 1); CS: nop
    ";
    let text = format!("forbidden CS CS data tail = 0 {process} {process}");
    for model in NAMED {
        let (found, configurations) = decided("tail.rmm", &text, model);
        assert_eq!(found, [Verdict::Violated], "{model}");
        assert!(configurations < 100, "{configurations} under {model}");
    }
}

/// Whatever else the program does.
#[test]
fn a_label_that_no_process_reaches_by_itself_needs_no_search() {
    let text = "
        var x, y, z
        process p[i: 0..3] {
            reg r, n
            loop {
                n = n + 1   r = x   x = r + n   y = x + z   z = y + 1
                if i > 3 { never_here: nop }
            }
        }
        never p[0]@never_here and p[1]@never_here
    ";
    for model in NAMED {
        let (found, configurations) = decided("p.weir", text, model);
        assert_eq!((found, configurations), (vec![Verdict::Holds], 0), "{model}");
    }
}

#[test]
fn what_grows_without_end_is_named() {
    for (code, name) in [
        ("reg r  loop { r = x  x = r + 1 }", "x"),
        ("reg r  loop { r = r + 1  x = 1 - x }", "p.r"),
        ("loop { fetch_add(x, 2) }", "x"),
    ] {
        let text = format!("var x process p {{ {code} }} never x == -1");
        for model in NAMED {
            let args = ["check", "-", "-m", model, "--timeout", "0.5"];
            let output = weir_reading(&args, text.as_bytes());
            assert_eq!(output.status, 3, "{code} under {model}: {output:?}");
            let reason = format!("`{name}` took more than");
            assert!(output.out.contains(&reason), "{code} under {model}: {}", output.out);
        }
    }
}
