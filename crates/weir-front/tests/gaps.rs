//! Fences can be inserted into programs of every language.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use weir_front::gaps::{Inserted, insert};
use weir_front::{Source, detect, read};
use weir_model::program::{FenceKind, Program, Stmt, StmtKind};

fn files(folder: &str, found: &mut Vec<PathBuf>) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for entry in fs::read_dir(root.join(folder)).unwrap() {
        let path = entry.unwrap().path();
        let is_program = path.extension().is_some_and(|e| e != "md" && e != "json");
        if is_program && path.is_file() {
            found.push(path);
        }
    }
    found.sort();
}

/// Removes the fences that stand at some places of the text, and finds out which of them there are.
fn remove(block: &mut Vec<Stmt>, source: &Source, at: &[usize], found: &mut BTreeSet<usize>) {
    block.retain(|stmt| {
        let range = source.range(stmt.span);
        let inserted = at.iter().find(|at| range.contains(at));
        let inserted = inserted.filter(|_| matches!(stmt.kind, StmtKind::Fence(_)));
        found.extend(inserted);
        inserted.is_none()
    });
    for stmt in block {
        stmt.kind.blocks_mut().into_iter().for_each(|block| remove(block, source, at, found));
    }
}

fn bodies(program: &mut Program) -> Vec<&mut Vec<Stmt>> {
    let methods = program.object.iter_mut().flat_map(|o| &mut o.methods).map(|m| &mut m.body);
    program.processes.iter_mut().map(|p| &mut p.body).chain(methods).collect()
}

#[test]
fn a_fence_in_every_gap_is_read_and_nothing_else_changes() {
    let mut paths = Vec::new();
    for folder in
        ["corpus", "corpus/promela", "corpus/rmm", "corpus/trencher", "litmus", "examples"]
    {
        files(folder, &mut paths);
    }
    let mut inserted_in = BTreeSet::new();
    let mut all = 0;
    for path in paths {
        let (name, text) = (path.to_str().unwrap(), fs::read_to_string(&path).unwrap());
        let language = detect(name, &text);
        let Ok((program, _)) = read(name, &text, None) else { continue };
        let gaps = (language.gaps)(&text);
        let fences: Vec<_> = (0..gaps.len()).map(|gap| (gap, FenceKind::Full)).collect();
        let word = |kind| (language.fence)(kind).unwrap();
        let Inserted { text, fences, .. } = insert(&text, &gaps, &fences, word);
        let (mut fenced, source) = read(name, &text, None)
            .unwrap_or_else(|e| panic!("{name}: {}", e[0].render(name, &text, false)));
        let at: Vec<usize> = fences.iter().map(|range| range.start).collect();
        let mut found = BTreeSet::new();
        for body in bodies(&mut fenced) {
            remove(body, &source, &at, &mut found);
        }
        // Behind a jump nothing is reached.
        assert!(2 * found.len() > at.len(), "{name}: {} of {}", found.len(), at.len());
        // A transition of Trencher leads to a new state.
        if language.name != "trencher" {
            assert_eq!(fenced.fingerprint(), program.fingerprint(), "{name}:\n{text}");
        }
        inserted_in.insert(language.name);
        all += at.len();
    }
    assert_eq!(inserted_in.len(), 5);
    assert!(all > 3000, "{all}");
}

#[test]
fn fences_are_written_as_people_write_them() {
    let cases = [
        (
            "p.weir",
            "var x\nprocess p {\n    loop {\n        x = 1\n    critical:\n        nop\n    }\n}\n",
            2,
            "var x\nprocess p {\n    loop {\n        x = 1\n        fence\n    critical:\n        nop\n    }\n}\n",
        ),
        (
            "p.pml",
            "byte x;\nactive proctype P() {\n    do\n    :: x == 0 -> x = 1\n    od\n}\n",
            2,
            "byte x;\nactive proctype P() {\n    do\n    :: x == 0 -> x = 1; fence\n    od\n}\n",
        ),
        (
            "p.rmm",
            "forbidden CS\ndata x = 0 : [0:1]\nprocess\ntext\n  write: x := 1;\n  CS: nop\n",
            2,
            "forbidden CS\ndata x = 0 : [0:1]\nprocess\ntext\n  write: x := 1;\n  CS: nop;\n  fence\n",
        ),
        (
            "p.litmus",
            "X86 T\n{ x=0; }\n P0         | P1          ;\n MOV [x],$1 | MOV EAX,[x] ;\nexists (1:EAX=0)\n",
            1,
            "X86 T\n{ x=0; }\n P0         | P1          ;\n            | MFENCE      ;\n MOV [x],$1 | MOV EAX,[x] ;\nexists (1:EAX=0)\n",
        ),
        (
            "p.txt",
            "thread t\n  initial a\n  transition a b write 1 x\n  transition b a read r y\nend\n",
            0,
            "thread t\n  initial a\n  transition a b_fence write 1 x\n  transition b_fence b mfence\n  transition b a read r y\nend\n",
        ),
    ];
    for (name, text, gap, fenced) in cases {
        let language = detect(name, text);
        let gaps = (language.gaps)(text);
        let fence = [(gap, FenceKind::Full)];
        let found = insert(text, &gaps, &fence, |kind| (language.fence)(kind).unwrap());
        assert_eq!(found.text, fenced, "{name}: {gaps:#?}");
    }
}

/// The text of each gap of a text, with a fence in it.
fn fenced(name: &str, text: &str) -> Vec<String> {
    let language = detect(name, text);
    let gaps = (language.gaps)(text);
    let word = |kind| (language.fence)(kind).unwrap();
    let one = |gap| insert(text, &gaps, &[(gap, FenceKind::Full)], word).text;
    (0..gaps.len()).map(one).collect()
}

#[test]
fn c_has_gaps_before_declarations_behind_labels_and_in_bodies_without_braces() {
    let fence = "atomic_thread_fence(memory_order_seq_cst);";
    let body =
        |body: &str| format!("#include <stdatomic.h>\natomic_int x, y; int main() {{ {body} }}\n");
    for (text, with) in [
        ("int r = x;", "F int r = x;"),
        ("struct s { int a; } s = { 1 }; x = s.a;", "struct s { int a; } s = { 1 }; F x = s.a;"),
        ("if (x) y = 1;", "if (x) { F y = 1; }"),
        ("if (x) y = 1; else y = 2;", "if (x) y = 1; else { F y = 2; }"),
        ("if (x) if (y) x = 1; else x = 2;", "if (x) { F if (y) x = 1; else x = 2; }"),
        ("for (int i = 0; i < 2; i++) y = i;", "for (int i = 0; i < 2; i++) { F y = i; }"),
        ("do x = 1; while (y);", "do { F x = 1; } while (y);"),
        ("switch (x) { case 1: y = 1; break; }", "switch (x) { case 1: F y = 1; break; }"),
        ("{ x = 1; } while (y) x = 2;", "{ x = 1; } F while (y) x = 2;"),
    ] {
        let wanted = body(&with.replace('F', fence));
        let all = fenced("a.c", &body(text));
        assert!(all.contains(&wanted), "{wanted}\n{all:#?}");
    }
    // A loop that only lets time pass waits: it would not with a fence in it.
    for waits in ["while (x);", "while (x) { }", "while (x) { sched_yield(); }"] {
        let all = fenced("a.c", &body(waits));
        assert_eq!(all, [body(&format!("{fence} {waits}")), body(&format!("{waits} {fence}"))]);
    }
}

#[test]
fn gaps_of_rust_are_not_in_loops_that_wait() {
    let text = |body: &str| {
        format!(
            "use std::sync::atomic::{{AtomicU32, Ordering::*}}; static X: AtomicU32 = AtomicU32::new(0);\nfn f() {{ {body} }} fn main() {{}}\n"
        )
    };
    for (body, gaps) in [
        ("while X.load(Relaxed) == 0 { std::hint::spin_loop(); }", 1),
        ("loop { if X.load(Relaxed) == 1 { break; } std::thread::yield_now(); }", 1),
        ("while X.load(Relaxed) == 0 { X.store(1, Relaxed); }", 3),
        ("X.store(1, Relaxed);; let f = || { X.store(2, Relaxed); }; f();", 6),
    ] {
        let all = fenced("a.rs", &text(body));
        assert_eq!(all.len(), gaps, "{all:#?}");
    }
}
