//! Random programs, executed by the processor.
//!
//! Each thread of a program does its part of many rounds, one after the other, and each round has variables of its own. Threads meet
//! from time to time, and wait for a moment that differs before each round: so they do their parts at about the same time, now one and now
//! the other first.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;

use super::print;
use super::random::Random;
use super::random::VARIABLES;

/// How many rounds there are between two starts of the threads.
const BATCH: u64 = 1_000;

/// How many rounds there are until threads meet again.
const APART: u64 = 100;

/// A program in C that executes all of them and prints which final states each has shown.
fn text(programs: &[Random], rounds: u64) -> String {
    let mut out = String::from(
        "#include <pthread.h>\n#include <sched.h>\n#include <stdatomic.h>\n#include <stdio.h>\n#include <string.h>\n\
         static atomic_int go;\n\
         static void meet(int count, int i, unsigned *seed) {\n\
         \x20 *seed = *seed * 1103515245u + 12345u;\n\
         \x20 for (volatile unsigned n = *seed >> 28; n > 0; n--) ;\n\
         \x20 if (i % APART != 0) return;\n  atomic_fetch_add(&go, 1);\n\
         \x20 for (int n = 0; atomic_load(&go) < count * (i / APART + 1); n++) if (n > 5000) sched_yield();\n}\n",
    );
    out = format!("#define APART {APART}\n{out}");
    for (number, program) in programs.iter().enumerate() {
        let count = program.threads.len();
        for (at, name) in program.names().iter().enumerate() {
            let ty = if at < VARIABLES.len() { "atomic_int" } else { "int" };
            let _ = writeln!(out, "static {ty} p{number}_{name}[{BATCH}];");
        }
        for t in 0..count {
            let _ = writeln!(out, "static void p{number}_round{t}(int i) {{\n  (void)i;");
            print::c_thread(program, number, t, "[i]", &mut out);
            let _ = writeln!(
                out,
                "}}\nstatic void *p{number}_t{t}(void *unused) {{\n  unsigned seed = {t};\n\
                 \x20 for (int i = 0; i < {BATCH}; i++) {{ meet({count}, i, &seed); p{number}_round{t}(i); }}\n\
                 \x20 return unused;\n}}"
            );
        }
        let _ =
            writeln!(out, "static void program{number}(void) {{\n  pthread_t threads[{count}];");
        for name in program.names() {
            let _ =
                writeln!(out, "  memset((void *)p{number}_{name}, 0, sizeof p{number}_{name});");
        }
        out += "  atomic_store(&go, 0);\n";
        for t in 0..count {
            let _ = writeln!(out, "  pthread_create(&threads[{t}], NULL, p{number}_t{t}, NULL);");
        }
        for t in 0..count {
            let _ = writeln!(out, "  pthread_join(threads[{t}], NULL);");
        }
        let _ = writeln!(out, "  for (int i = 0; i < {BATCH}; i++) {{\n    printf(\"{number}\");");
        for name in program.names() {
            let variable = format!("p{number}_{name}[i]");
            let _ = writeln!(out, "    if ({variable}) printf(\" {name}=%d\", {variable});");
        }
        out += "    printf(\"\\n\");\n  }\n}\n";
    }
    let times = rounds.div_ceil(BATCH);
    let _ = writeln!(out, "int main(void) {{\n  for (int n = 0; n < {times}; n++) {{");
    for number in 0..programs.len() {
        let _ = writeln!(out, "    program{number}();");
    }
    out + "  }\n}\n"
}

/// Executes each program so many times. Gives the final states that each has shown: the values of variables that are not 0.
pub fn run(folder: &Path, programs: &[Random], rounds: u64, level: &str) -> Vec<BTreeSet<String>> {
    let (file, binary) = (folder.join("native.c"), folder.join("native"));
    let text = text(programs, rounds);
    fs::write(&file, &text).unwrap();
    let mut gcc = Command::new("gcc");
    let made = gcc.args([level, "-pthread", "-o"]).arg(&binary).arg(&file).output().unwrap();
    assert!(made.status.success(), "{}\n{text}", String::from_utf8_lossy(&made.stderr));
    let run = Command::new(&binary).output().unwrap();
    assert!(run.status.success(), "{text}");
    let mut shown = vec![BTreeSet::new(); programs.len()];
    let mut lines = 0;
    for line in String::from_utf8_lossy(&run.stdout).lines() {
        let mut words = line.split_whitespace();
        let number: usize = words.next().unwrap().parse().unwrap();
        let state: BTreeSet<&str> = words.collect();
        shown[number].insert(state.into_iter().collect::<Vec<_>>().join(" "));
        lines += 1;
    }
    assert!(lines >= rounds * programs.len() as u64);
    shown
}
