//! Names that are longer than the widths of `format!` may be.

use std::fs;
use std::path::PathBuf;

use crate::common::weir;

const LONG: usize = 70_000;

fn file(name: &str, text: &str) -> String {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("long-names");
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    path.display().to_string()
}

/// Two programs for each place that has a name: this one has the long name there.
fn programs() -> Vec<String> {
    let text = |process: &str, variable: &str, register: &str, label: &str, property: &str| {
        format!(
            "var {variable}, y\nprocess {process} {{\n    reg {register}\n    {variable} = 1\n    \
             {register} = y\n{label}:\n    nop\n}}\nprocess q {{\n    reg s\n    y = 1\n    \
             s = {variable}\nthere:\n    nop\n}}\n{property}: never {process}@{label} and q@there \
             and {process}.{register} == 0 and q.s == 0\n{property}2: final exists \
             {process}.{register} == 0 and q.s == 0\n{property}3: live terminates\n{property}4: \
             game reach {process}@{label}\n"
        )
    };
    let long = "n".repeat(LONG);
    let names = ["p", "x", "r", "here", "claim"];
    (0..names.len())
        .map(|i| {
            let name = |j: usize| if i == j { long.as_str() } else { names[j] };
            file(&format!("{i}.weir"), &text(name(0), name(1), name(2), name(3), name(4)))
        })
        .collect()
}

#[test]
fn commands_print_programs_with_long_names() {
    let commands: [&[&str]; 20] = [
        &["check"],
        &["check", "--stats", "--full"],
        &["check", "--format", "json"],
        &["check", "--format", "csv"],
        &["check", "--format", "junit"],
        &["check", "--format", "sarif"],
        &["check", "--format", "jsonl"],
        &["compare"],
        &["outcomes"],
        &["outcomes", "--format", "herd"],
        &["outcomes", "--runs", "--format", "json"],
        &["fences"],
        &["fences", "--runs"],
        &["fences", "--patch"],
        &["robust"],
        &["live", "--model", "sc"],
        &["game"],
        &["show"],
        &["show", "--system"],
        &["graph"],
    ];
    let programs = programs();
    for program in &programs {
        for command in commands {
            let args = [&command[..1], &[program.as_str()], &command[1..]].concat();
            let run = weir(&args);
            assert!(run.status <= 3 && !run.out.is_empty(), "{command:?} {program}: {}", run.err);
        }
        let svg = file("run.svg", "");
        let tex = file("run.tex", "");
        let page = file("run.html", "");
        let run = weir(&["check", program, "--svg", &svg, "--tikz", &tex, "--html", &page]);
        assert!(run.status <= 3, "{program}: {}", run.err);
    }
    // The table is short, and the runs have the whole name.
    let run = weir(&["check", &programs[4]]);
    let row = run.out.lines().find(|line| line.contains("violated") && line.contains('…')).unwrap();
    assert!(row.chars().count() < 1000, "{}", row.chars().count());
}

#[test]
fn errors_in_long_lines_are_printed() {
    let long = "n".repeat(LONG);
    for (name, text) in [
        ("wrong.weir", format!("var {long}\nprocess p {{ {long}{long} = 1 }}\n")),
        ("wrong.litmus", format!("X86 {long}\n{{ }}\n P0 ;\n {long} ;\nexists (x=1)\n")),
        ("wrong.pml", format!("byte {long}; init {{ {long}x = 1 }}\n")),
        ("wrong.c", format!("int {long}; int main() {{ {long}x = 1; }}\n")),
        ("wrong.rs", format!("fn main() {{ {long}(); }}\n")),
    ] {
        let run = weir(&["check", &file(name, &text)]);
        assert_eq!(run.status, 2, "{name}: {} {}", run.out, &run.err[..run.err.len().min(300)]);
    }
}
