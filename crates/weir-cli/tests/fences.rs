//! `weir fences`: what it prints, and that its patches apply.

use crate::common;

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use common::{root, weir};
use serde_json::Value;
use weir_gen::tools::are_installed;

fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// Programs of every language that are violated under a model and can be repaired.
const BROKEN: [(&str, &str); 9] = [
    ("corpus/peterson-2.weir", "tso"),
    ("corpus/peterson-2.weir", "nsw"),
    ("corpus/dekker-2.weir", "pso"),
    ("corpus/bakery-2.weir", "tso"),
    ("litmus/SB.litmus", "tso"),
    ("corpus/promela/bakery.pml", "tso"),
    ("corpus/rmm/peterson.rmm", "tso"),
    ("corpus/rmm/message-passing.rmm", "pso"),
    ("corpus/trencher/store-buffering.txt", "tso"),
];

#[test]
fn every_patch_applies_and_its_result_checks() {
    if !are_installed(&["patch"]) {
        return;
    }
    let folder = folder("fences-patches");
    for (file, model) in BROKEN {
        let target = folder.join(file.rsplit('/').next().unwrap());
        let target = target.to_str().unwrap();
        fs::copy(root().join(file), target).unwrap();
        assert_ne!(weir(&["check", target, "--model", model]).status, 2, "{file}");
        let output = weir(&["fences", target, "--model", model, "--patch"]);
        assert_eq!(output.status, 0, "{file} under {model}: {}", output.err);
        let mut patch = Command::new("patch")
            .args(["-p0", "--silent"])
            .current_dir("/")
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        std::io::Write::write_all(&mut patch.stdin.take().unwrap(), output.out.as_bytes()).unwrap();
        assert!(patch.wait().unwrap().success(), "{file}:\n{}", output.out);
        let output = weir(&["fences", target, "--model", model]);
        assert!(output.out.contains("no fence is needed"), "{file} under {model}: {}", output.out);
        let report = weir(&["check", target, "--model", model, "--format", "json"]);
        let report: Value = serde_json::from_str(&report.out).unwrap();
        for property in report["findings"].as_array().unwrap() {
            let wanted = if property["kind"] == "final exists" { "violated" } else { "holds" };
            assert_eq!(property["verdict"], wanted, "{file} under {model}: {property}");
        }
    }
}

#[test]
fn the_file_is_changed_in_place_and_its_old_text_kept() {
    let folder = folder("fences-write");
    let target = folder.join("peterson.weir");
    let old = fs::read_to_string(root().join("corpus/peterson-2.weir")).unwrap();
    fs::write(&target, &old).unwrap();
    let name = target.to_str().unwrap();
    assert_eq!(weir(&["fences", name, "--write"]).status, 0);
    assert_eq!(fs::read_to_string(format!("{name}.orig")).unwrap(), old);
    let new = fs::read_to_string(&target).unwrap();
    let expected = old.replace("turn = 1 - i\n", "turn = 1 - i\n        fence\n");
    assert_eq!(new, expected);
    assert_eq!(weir(&["check", name]).status, 0);
}

#[test]
fn evidence_is_accepted() {
    let folder = folder("fences-evidence");
    let name = folder.to_str().unwrap();
    let output = weir(&["fences", "corpus/dekker-2.weir", "--all", "--evidence", name]);
    assert_eq!(output.status, 0, "{}", output.err);
    let mut certified = 0;
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let path = path.to_str().unwrap();
        let subject = path.strip_suffix(".certificate.json").or(path.strip_suffix(".witness.json"));
        if let Some(subject) = subject {
            let output = weir(&["certify", path, &format!("{subject}.weir")]);
            assert_eq!(output.status, 0, "{path}: {}{}", output.out, output.err);
            certified += 1;
        }
    }
    // Two sets of two fences: two proofs, and four runs that come back.
    assert_eq!(certified, 6);
}

#[test]
fn what_no_fences_repair_is_said_with_a_run() {
    let output = weir(&["fences", "corpus/hyman-2.weir"]);
    assert_eq!(output.status, 1, "{}", output.err);
    assert!(output.out.contains("no fences can repair this"), "{}", output.out);
    assert!(output.out.contains("Under SC mutex is violated\n"), "{}", output.out);
}

#[test]
fn fences_that_are_not_needed_are_named() {
    let file = "corpus/bakery-2-fenced.weir";
    let output = weir(&["fences", file, "--redundant", "--model", "tso"]);
    assert_eq!(output.status, 0, "{}", output.err);
    let text = fs::read_to_string(root().join(file)).unwrap();
    let line = text.lines().position(|line| line.contains("rfence")).unwrap() + 1;
    let said = output.out.lines().find(|l| l.contains(&format!("line {line} "))).unwrap();
    assert!(said.ends_with("not needed"), "{said}");
    let json = weir(&["fences", file, "--redundant", "--model", "nsw", "--format", "json"]);
    let json: Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!(json["findings"][0]["details"]["sets"][0]["fences"].as_array().unwrap().len(), 3);
    assert_eq!(json["findings"][0]["details"]["complete"], true);
}

#[test]
fn sets_do_not_depend_on_threads() {
    for (file, model) in [("corpus/bakery-2.weir", "tso"), ("corpus/dekker-2.weir", "pso")] {
        let run = |threads| weir(&["fences", file, "-m", model, "--all", "--threads", threads]).out;
        let one = run("1");
        assert_eq!([&one, &one], [&run("2"), &run("5")], "{file}");
    }
}

#[test]
fn programs_without_a_property_are_made_robust() {
    let folder = folder("fences-robust");
    let target = folder.join("sb.txt");
    let text = "thread p\n  initial q0\n  transition q0 q1 write 1 x\n  transition q1 q2 read r y\n\
                end\nthread q\n  initial q0\n  transition q0 q1 write 1 y\n  \
                transition q1 q2 read r x\nend\n";
    fs::write(&target, text).unwrap();
    let name = target.to_str().unwrap();
    assert_eq!(weir(&["robust", name]).status, 1);
    let output = weir(&["fences", name, "--for", "robust", "--write"]);
    assert_eq!(output.status, 0, "{}", output.err);
    assert!(output.out.contains("2 fences make it robust"), "{}", output.out);
    assert_eq!(weir(&["robust", name]).status, 0);
    let output = weir(&["fences", name, "--for", "robust", "--patch"]);
    assert_eq!((output.status, output.out.as_str()), (0, ""), "{}", output.err);
    assert!(output.err.contains("under TSO: no fence is needed"), "{}", output.err);
    let output = weir(&["fences", name, "--for", "robust", "--model", "pso"]);
    assert_eq!(output.status, 2, "{}", output.out);
}

#[test]
fn what_is_not_robust_is_shown_with_the_cycle() {
    let folder = folder("fences-cycles");
    let target = folder.join("sb.weir");
    fs::write(
        &target,
        "var x, y\nprocess p { reg r x = 1 r = y }\nprocess q { reg r y = 1 r = x }\n",
    )
    .unwrap();
    let name = target.to_str().unwrap();
    let args = ["fences", name, "--for", "robust"];
    for option in ["--redundant", "--runs"] {
        let output = weir(&[&args[..], &[option]].concat());
        assert_eq!(output.status, i32::from(option == "--redundant"), "{}", output.err);
        assert!(output.out.contains("  fr  q  y = 1       (line 3, step 3)"), "{}", output.out);
    }
    let output = weir(&["fences", name]);
    assert_eq!(output.status, 2);
    assert!(output.err.contains("`weir fences --for robust`, which need none"), "{}", output.err);
}

#[test]
fn fences_that_are_not_enough_are_not_called_beyond_repair() {
    let file = "corpus/peterson-2-fenced-tso.weir";
    let args = ["fences", file, "--redundant", "--model", "pso"];
    let output = weir(&args);
    assert_eq!(output.status, 1, "{}", output.err);
    assert!(output.out.contains(" its fences are not enough\n"), "{}", output.out);
    assert!(output.out.contains("With all its fences, mutex is violated\n"), "{}", output.out);
    let json = weir(&[&args[..], &["--format", "json"]].concat());
    let json: Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!(json["findings"][0]["details"]["result"], "not enough");
    // What is violated under SC cannot be repaired, whatever fences there are.
    let output = weir(&["fences", "corpus/hyman-2.weir", "--redundant"]);
    assert!(output.out.contains("no fences can repair this"), "{}", output.out);
}

#[test]
fn a_place_in_the_middle_of_a_line_is_named_by_its_code() {
    let folder = folder("fences-inline");
    let target = folder.join("sb.weir");
    let text = "var x, y\nprocess p { reg r x = 1 r = y a: nop }\n\
                process q { reg r y = 1 r = x a: nop }\n\
                never p@a and q@a and p.r == 0 and q.r == 0\n";
    fs::write(&target, text).unwrap();
    let output = weir(&["fences", target.to_str().unwrap()]);
    let without = "without it, `never` of line 4 is violated";
    let row = "fence  before `r = y` in line 2  process p { reg r x = 1 r = y a: nop }";
    assert!(output.out.contains(&format!("{row}\n    {without}")), "{}", output.out);
    let drawn = "     2 | process p { reg r x = 1 r = y a: nop }\n       +                         ^ fence\n";
    assert!(output.out.contains(drawn), "{}", output.out);
    // Both threads of a litmus test stand in the same line.
    let output = weir(&["fences", "litmus/SB.litmus"]);
    assert!(output.out.contains("MFENCE  before `MOV EAX,[y]` in line"), "{}", output.out);
    assert!(output.out.contains("MFENCE  before `MOV EAX,[x]` in line"), "{}", output.out);
    // In a Trencher file a fence stands behind a transition.
    let output = weir(&["fences", "corpus/trencher/store-buffering.txt"]);
    assert!(output.out.contains("mfence  behind line 7   transition q0 q1"), "{}", output.out);
}

#[test]
fn only_kinds_that_the_language_has_are_inserted() {
    let file = "corpus/trencher/store-buffering.txt";
    for model in ["pso", "nsw"] {
        let output = weir(&["fences", file, "--model", model]);
        assert_eq!(output.status, 0, "{}", output.err);
        assert!(output.out.contains("2 fences repair this"), "{}", output.out);
    }
    let output = weir(&["fences", file, "--model", "pso", "--kinds", "fence,wfence"]);
    assert_eq!(output.status, 2, "{}", output.out);
    assert!(output.err.contains("the language trencher has no wfence"), "{}", output.err);
}

#[test]
fn models_are_shown_side_by_side() {
    let output = weir(&["fences", "examples/peterson.weir", "-m", "tso", "-m", "pso"]);
    let table = output.out.split("the cheapest sets").nth(1).unwrap();
    let rows: Vec<Vec<&str>> = table
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect())
        .collect();
    assert_eq!(rows[0], ["line", "TSO", "PSO"]);
    assert_eq!(rows[1], ["18", "turn = 1 - i", "wfence"]);
    assert_eq!(rows[2], ["19", "await not flag[1 - i] or turn == i", "fence", "fence"]);
}

#[test]
fn a_limit_is_unknown_with_its_reason() {
    let args = ["fences", "corpus/chase-lev-ff-2.weir", "--model", "nsw", "--all"];
    let output = weir(&[&args[..], &["--timeout", "1"]].concat());
    assert_eq!(output.status, 3, "{}{}", output.out, output.err);
    let reason = "the time limit of 1 s was reached";
    let said = output.out.contains(reason) || output.err.contains(reason);
    assert!(said || output.out.contains("that were found"), "{}{}", output.out, output.err);
}

#[test]
fn a_system_that_grows_without_end_is_no_reason_to_say_nothing() {
    let args = ["fences", "corpus/rmm/unbounded.rmm", "--timeout", "4"];
    let output = weir(&args);
    assert_eq!(output.status, 3, "{}{}", output.out, output.err);
    assert!(output.out.contains("the time limit of 4 s was reached"), "{}", output.err);
}

#[test]
fn requests_that_make_no_sense_are_refused() {
    for (options, message) in [
        (vec!["--kinds", "wfence"], "`wfence` orders nothing under TSO"),
        (vec!["--model", "tso+r->w"], "`weir fences` is for SC, TSO, PSO, NSW and C11"),
        (vec!["--cost", "fence=0"], "a cost is a number from 1"),
        (vec!["--cost", "mfence=2"], "there is no fence or order `mfence`"),
        (vec!["--model", "tso", "--kinds", "orders"], "orders are for C11, not for TSO"),
        (vec!["--model", "tso", "--weaken"], "orders are for C11, not for TSO"),
        (vec!["--model", "c11", "--redundant"], "under C11, `--weaken` says"),
    ] {
        let args = [vec!["fences", "corpus/peterson-2.weir"], options].concat();
        let output = weir(&args);
        assert_eq!(output.status, 2, "{args:?}");
        assert!(output.err.contains(message), "{args:?}: {}", output.err);
    }
    let output = weir(&["fences", "examples/objects/treiber-stack.weir"]);
    assert_eq!(output.status, 2, "{}", output.out);
    let target = folder("fences-absence").join("absence.weir");
    fs::write(&target, "var x process p { x = 1 a: nop } q1: never not p@a and x == 2").unwrap();
    let output = weir(&["fences", target.to_str().unwrap()]);
    assert_eq!(output.status, 2, "{}", output.out);
    assert!(output.err.contains("`q1` asks where a process does not stand."), "{}", output.err);
}

/// What `weir fences` says of a text, and its status.
fn fences_of(name: &str, text: &str) -> (i32, String) {
    let folder = folder(&format!("fences-{}", name.replace('.', "-")));
    let file = folder.join(name);
    fs::write(&file, text).unwrap();
    let output = weir(&["fences", file.to_str().unwrap(), "--model", "tso"]);
    (output.status, output.out + &output.err)
}

/// Store buffering in C; the load is what `read` says.
fn buffering(define: &str, read: &str) -> String {
    let thread = |name: &str, x: &str, y: &str, r: &str| {
        let read = read.replace('Y', y).replace('R', r).replace('X', x);
        format!("void *{name}(void *arg) {{\n{read}\n  return 0;\n}}\n")
    };
    format!(
        "#include <pthread.h>\n#include <stdatomic.h>\n#include <assert.h>\n{define}\natomic_int x, y; int a, b;\n{}{}\
         int main(void) {{\n  pthread_t t, u;\n  pthread_create(&t, 0, p, 0);\n  pthread_create(&u, 0, q, 0);\n\
         pthread_join(t, 0);\n  pthread_join(u, 0);\n  assert(a == 1 || b == 1);\n}}\n",
        thread("p", "x", "y", "a"),
        thread("q", "y", "x", "b"),
    )
}

#[test]
fn places_before_declarations_and_in_bodies_without_braces_are_tried() {
    let store = "atomic_store_explicit(&X, 1, memory_order_relaxed);";
    let load = "atomic_load_explicit(&Y, memory_order_relaxed)";
    for (name, read) in [
        ("declared.c", format!("  {store}\n  int other = {load};\n  R = other;")),
        ("body.c", format!("  if (1) {store}\n  for (int i = 0; i < 1; i++) R = {load};")),
        // No place but those in the body is between the two.
        (
            "inside.c",
            format!("  for (int i = 0; i < 2; i++)\n    if (i) R = {load};\n    else {store}"),
        ),
    ] {
        let (status, out) = fences_of(name, &buffering("", &read));
        assert!(status == 0 && out.contains("2 fences repair this"), "{out}");
    }
}

#[test]
fn skipped_places_are_named_and_nothing_is_claimed() {
    let define = "#define SB(x, y, r) do { atomic_store_explicit(&x, 1, memory_order_relaxed); \
                  r = atomic_load_explicit(&y, memory_order_relaxed); } while (0)";
    let (status, out) = fences_of("macro.c", &buffering(define, "  SB(X, Y, R);"));
    assert_eq!(status, 3, "{out}");
    let line = "whether fences repair this is not known: places between accesses were skipped in line 7, in line 11";
    assert!(out.contains(line), "{out}");
}

#[test]
fn loops_that_wait_still_wait_with_fences() {
    let rust = "use std::sync::atomic::{AtomicU32, Ordering::*};\nuse std::thread;\n\
        static STATE: AtomicU32 = AtomicU32::new(0);\nstatic WAITING: AtomicU32 = AtomicU32::new(0);\nstatic WORK: AtomicU32 = AtomicU32::new(0);\n\
        fn main() {\n    let t = thread::spawn(|| {\n        WAITING.store(1, Relaxed);\n        if WORK.load(Relaxed) == 0 {\n\
                    while STATE.load(Relaxed) != 65 {\n                std::hint::spin_loop();\n            }\n        }\n    });\n\
            WORK.store(1, Relaxed);\n    if WAITING.load(Relaxed) == 1 { STATE.store(65, Relaxed); }\n    t.join().unwrap();\n}\n";
    let (status, out) = fences_of("park.rs", rust);
    assert!(status == 0 && out.contains("2 fences repair this"), "{out}");
    // The same with lines of their own.
    let rust = rust
        .replace("{ STATE.store(65, Relaxed); }", "{\n        STATE.store(65, Relaxed);\n    }");
    let (status, out) = fences_of("park-lines.rs", &rust);
    assert!(status == 0 && out.contains("2 fences repair this"), "{out}");
    let rust = "use std::sync::atomic::{AtomicU32, Ordering::*};\nuse std::thread;\n\
        static X: AtomicU32 = AtomicU32::new(0);\nstatic Y: AtomicU32 = AtomicU32::new(0);\nstatic A: AtomicU32 = AtomicU32::new(0);\n\
        fn w() { X.store(1, Relaxed); A.store(Y.load(Relaxed), Relaxed); }\n\
        fn main() {\n    let a = thread::spawn(|| { w(); });\n    Y.store(1, Relaxed); let b = X.load(Relaxed);\n    a.join().unwrap();\n\
            assert!(A.load(Relaxed) == 1 || b == 1);\n}\n";
    let (status, out) = fences_of("call.rs", rust);
    assert!(status == 0 && out.contains("2 fences repair this"), "{out}");
}

#[test]
fn reports_about_c_name_lines_of_the_text_and_say_how_orders_are_read() {
    let store = "atomic_store_explicit(&X, 1, memory_order_relaxed);";
    let read = format!("  {store}\n  R = atomic_load_explicit(&Y, memory_order_relaxed);");
    let text = buffering("", &read);
    let line = 1 + text.lines().position(|line| line.contains("assert(")).unwrap();
    let (_, out) = fences_of("lines.c", &text);
    assert!(out.contains("without it, final_assertion is violated"), "{out}");
    assert!(out.contains("memory orders are read as x86 (TSO) has them"), "{out}");
    let file = folder("fences-lines-c").join("lines.c");
    fs::write(&file, &text).unwrap();
    let file = file.to_str().unwrap();
    let out = weir(&["check", file]).out;
    assert!(
        out.contains(&format!("final_assertion  line {line}: assert(a == 1 || b == 1)")),
        "{out}"
    );
    let out = weir(&["fences", file, "--runs"]).out;
    let last = text.lines().count();
    let shown =
        out.lines().filter_map(|line| line.split_whitespace().nth(1)?.parse::<usize>().ok());
    assert!(shown.clone().count() > 5 && shown.into_iter().all(|line| line <= last), "{out}");
    // With the strongest orders there is nothing to say.
    let text = text.replace("memory_order_relaxed", "memory_order_seq_cst");
    let (_, out) = fences_of("strong.c", &text);
    assert!(!out.contains("memory orders are read"), "{out}");
}

/// Programs that are violated under C11 and can be repaired by orders.
const UNORDERED: [&str; 4] =
    ["examples/rust/mailbox.rs", "examples/c/mailbox.c", "examples/c/seqlock.c", "litmus-mp.weir"];

#[test]
fn patches_of_orders_apply_and_their_results_check() {
    let folder = folder("fences-orders");
    let text = "// Message passing.\nvar x, y\nprocess p {\n    x.store(1, relaxed)\n    y.store(1, relaxed)\n}\n\
        process q {\n    reg r, s\n    r = y.load(relaxed)\n    s = x\n}\nfinal never q.r == 1 and q.s == 0\n";
    for file in UNORDERED {
        let target = folder.join(file.rsplit('/').next().unwrap());
        let text = match file {
            "litmus-mp.weir" => text.to_owned(),
            // What is right becomes wrong by a weaker order.
            _ => fs::read_to_string(root().join(file)).unwrap().replace(
                "#define BEFORE memory_order_release",
                "#define BEFORE memory_order_relaxed",
            ),
        };
        fs::write(&target, text).unwrap();
        let old = fs::read_to_string(&target).unwrap();
        let target = target.to_str().unwrap();
        assert_eq!(weir(&["check", target, "--model", "c11"]).status, 1, "{file}");
        let patch = weir(&["fences", target, "--model", "c11", "--patch"]);
        assert_eq!(patch.status, 0, "{file}: {}", patch.err);
        let output = weir(&["fences", target, "--model", "c11", "--write"]);
        assert_eq!(output.status, 0, "{file}: {}", output.err);
        assert_eq!(fs::read_to_string(format!("{target}.orig")).unwrap(), old);
        let new = fs::read_to_string(target).unwrap();
        for line in patch.out.lines().filter(|l| l.starts_with('+') && !l.starts_with("+++")) {
            assert!(new.lines().any(|l| l == &line[1..]), "{file}: {line}");
        }
        assert_eq!(weir(&["check", target, "--model", "c11"]).status, 0, "{file}");
        let output = weir(&["fences", target, "--model", "c11"]);
        assert!(output.out.contains("no stronger order is needed"), "{file}: {}", output.out);
        // The least that repairs it cannot be weaker. It may have had stronger orders elsewhere.
        let output = weir(&["fences", target, "--weaken"]);
        assert_eq!(output.status, 0, "{file}: {}", output.err);
    }
    let new = fs::read_to_string(folder.join("mailbox.rs")).unwrap();
    assert!(new.contains("FULL.store(true, std::sync::atomic::Ordering::Release)"), "{new}");
    assert!(new.contains("FULL.load(std::sync::atomic::Ordering::Acquire)"), "{new}");
}

#[test]
fn what_comes_back_with_a_weaker_order_is_shown_and_kept() {
    let output = weir(&["fences", "examples/rust/mailbox.rs", "--model", "c11", "--runs"]);
    assert!(output.out.contains("With relaxed on line 18"), "{}", output.out);
    assert!(output.out.contains("(old)"), "{}", output.out);
    let folder = folder("fences-orders-evidence");
    let target = folder.join("mailbox.rs");
    fs::copy(root().join("examples/rust/mailbox.rs"), &target).unwrap();
    let name = target.to_str().unwrap();
    let evidence = folder.join("evidence");
    let dir = evidence.to_str().unwrap();
    let output = weir(&["fences", name, "--model", "c11", "--evidence", dir]);
    assert_eq!(output.status, 0, "{}", output.err);
    let mut witnesses = 0;
    for file in fs::read_dir(&evidence).unwrap() {
        let file = file.unwrap().path();
        let file = file.to_str().unwrap();
        if let Some(base) = file.strip_suffix(".witness.json") {
            let output = weir(&["certify", file, &format!("{base}.rs")]);
            assert_eq!(output.status, 0, "{file}: {}{}", output.out, output.err);
            witnesses += 1;
        }
    }
    assert_eq!(witnesses, 2);
}

#[test]
fn weaker_orders_are_reported_as_json() {
    let output = weir(&["fences", "examples/c/dekker.c", "--weaken", "--format", "json"]);
    let report: Value = serde_json::from_str(&output.out).unwrap();
    let details = &report["findings"][0]["details"];
    assert_eq!(details["result"], "weaker");
    let set = &details["sets"][0];
    assert!(set["cost"].as_u64() < set["of"].as_u64(), "{set}");
    let changed = &set["fences"][0];
    assert_eq!((&changed["now"], &changed["kind"]), (&"release".into(), &"relaxed".into()));
    let kept = set["kept"].as_array().unwrap();
    assert!(
        kept.len() == 3 && kept.iter().all(|order| order["without"]["steps"].is_u64()),
        "{set}"
    );
}

#[test]
fn targets_and_costs_decide_what_is_cheapest() {
    let file = "examples/store-buffering.weir";
    let cost = |options: &[&str]| {
        let args =
            [&["fences", file, "--model", "c11", "--kinds", "orders,fence"], options].concat();
        let output = weir(&args);
        assert_eq!(output.status, 0, "{}{}", output.out, output.err);
        let line =
            output.out.lines().find(|l| l.starts_with("The cheapest set")).unwrap().to_owned();
        (
            line.rsplit(' ').next().unwrap().parse::<u64>().unwrap(),
            output.out.contains("fence   before"),
        )
    };
    let of = |options: &[&str]| cost(options).0;
    assert_eq!(of(&["--cost", "seq_cst=1"]), 4);
    assert_eq!(of(&["--cost", "fence=1,seq_cst=9"]), 2);
    // Two stores that wait for the buffer, or two fences.
    assert_eq!(of(&["--target", "x86"]), 8);
    assert_eq!(of(&["--target", "arm"]), 4);
}
