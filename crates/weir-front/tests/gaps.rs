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
        let Inserted { text, fences } = insert(&text, &gaps, &fences, word);
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
