//! `outcomes` on families of litmus tests of growing size, beside herd7 (Alglave et al. 2014) if
//! it is installed.

use std::fmt::Write as _;
use std::process::Command;

use weir_cli::output::print;

use crate::cli::Bench;
use crate::compare::geometric_mean;
use crate::rows::{aligned, table};
use crate::run::{Scratch, Weir, is_installed, shortest};

/// A family: its name, the most threads that it has, and a test with so many.
struct Family {
    name: &'static str,
    most: usize,
    test: fn(usize) -> Test,
}

/// A litmus test: the code of each thread and the condition.
struct Test {
    threads: Vec<Vec<String>>,
    condition: String,
}

const FAMILIES: [Family; 6] = [
    Family { name: "ring of store buffering", most: 9, test: ring },
    Family { name: "chain of load and store", most: 9, test: chain },
    Family { name: "writers of one variable", most: 9, test: writers },
    Family { name: "write and read back", most: 6, test: read_back },
    Family { name: "locked increments", most: 9, test: increments },
    Family { name: "all to all", most: 5, test: all_to_all },
];

const REGISTERS: [&str; 4] = ["EAX", "EBX", "ECX", "EDX"];

fn threads(n: usize, of: impl Fn(usize) -> Vec<String>) -> Vec<Vec<String>> {
    (0..n).map(of).collect()
}

/// A condition on every thread.
fn every(n: usize, of: impl Fn(usize) -> String) -> String {
    (0..n).map(of).collect::<Vec<_>>().join(" /\\ ")
}

fn ring(n: usize) -> Test {
    Test {
        threads: threads(n, |i| {
            vec![format!("MOV [x{i}],$1"), format!("MOV EAX,[x{}]", (i + 1) % n)]
        }),
        condition: every(n, |i| format!("{i}:EAX=0")),
    }
}

fn chain(n: usize) -> Test {
    Test {
        threads: threads(n, |i| {
            vec![format!("MOV EAX,[x{i}]"), format!("MOV [x{}],$1", (i + 1) % n)]
        }),
        condition: every(n, |i| format!("{i}:EAX=1")),
    }
}

fn writers(n: usize) -> Test {
    Test { threads: threads(n, |i| vec![format!("MOV [x],${}", i + 1)]), condition: "x=1".into() }
}

fn read_back(n: usize) -> Test {
    Test {
        threads: threads(n, |i| vec![format!("MOV [x],${}", i + 1), "MOV EAX,[x]".to_owned()]),
        condition: every(n, |i| format!("{i}:EAX={}", i + 1)),
    }
}

fn increments(n: usize) -> Test {
    Test { threads: threads(n, |_| vec!["LOCK INC [x]".to_owned()]), condition: format!("x={n}") }
}

fn all_to_all(n: usize) -> Test {
    let code = |i: usize| {
        let others = (0..n).filter(move |j| *j != i).zip(REGISTERS);
        let reads = others.map(|(j, r)| format!("MOV {r},[x{j}]"));
        [format!("MOV [x{i}],$1")].into_iter().chain(reads).collect()
    };
    Test { threads: threads(n, code), condition: every(n, |i| format!("{i}:EAX=0")) }
}

impl Test {
    /// As a file for herd7.
    fn text(&self, name: &str) -> String {
        let n = self.threads.len();
        let mut text = format!("X86 {name}\n{{ }}\n");
        let line = |cells: Vec<String>| format!(" {} ;\n", cells.join(" | "));
        text += &line((0..n).map(|i| format!("P{i}")).collect());
        let length = self.threads.iter().map(Vec::len).max().unwrap_or(0);
        for step in 0..length {
            let cell = |code: &Vec<String>| code.get(step).cloned().unwrap_or_default();
            text += &line(self.threads.iter().map(cell).collect());
        }
        let _ = writeln!(text, "exists ({})", self.condition);
        text
    }
}

/// The number of final states in what `--format herd` or herd7 prints.
fn states(printed: &str) -> Option<u64> {
    printed.lines().find_map(|l| l.strip_prefix("States ")).and_then(|n| n.trim().parse().ok())
}

/// What was measured.
struct Results {
    head: Vec<&'static str>,
    rows: Vec<Vec<String>>,
    /// The geometric mean of the ratios to herd7, if that is installed.
    mean: Option<f64>,
}

/// Runs all families.
///
/// # Errors
/// If a test cannot be run, or the two list different numbers of final states.
fn measure(args: &Bench) -> Result<Results, String> {
    let weir = Weir::this()?;
    let scratch = Scratch::new("families")?;
    let has_herd = is_installed("herd7");
    let mut head = vec!["family", "threads", "states", "weir s"];
    head.extend(has_herd.then_some(["herd7 s", "weir / herd7"]).into_iter().flatten());
    let (mut rows, mut ratios) = (Vec::new(), Vec::new());
    for family in &FAMILIES {
        for n in 2..=family.most {
            let name = format!("{}-{n}", family.name.replace(' ', "-"));
            let file = scratch.write(&format!("{name}.litmus"), &(family.test)(n).text(&name))?;
            let ours = || {
                let mut command = weir.command();
                command.args(["outcomes", "--format", "herd", "--model", "tso", "--threads", "1"]);
                command.arg("--").arg(&file);
                command
            };
            let Some((seconds, printed)) =
                shortest(ours, args.measuring.timeout, args.measuring.runs)
            else {
                rows.push(vec![family.name.to_owned(), n.to_string(), "-".into(), "-".into()]);
                continue;
            };
            let count = states(&printed).ok_or_else(|| format!("no final states of {name}"))?;
            let mut row = vec![
                family.name.to_owned(),
                n.to_string(),
                count.to_string(),
                format!("{seconds:.3}"),
            ];
            if has_herd {
                let herd = || {
                    let mut command = Command::new("herd7");
                    command.arg(&file);
                    command
                };
                match shortest(herd, args.measuring.timeout, args.measuring.runs) {
                    Some((theirs, printed)) => {
                        if states(&printed).is_some_and(|other| other != count) {
                            return Err(format!("herd7 lists other final states of {name}"));
                        }
                        ratios.push(seconds / theirs);
                        row.extend([format!("{theirs:.3}"), format!("{:.2}", seconds / theirs)]);
                    }
                    None => row.extend(["-".to_owned(), "-".to_owned()]),
                }
            }
            rows.push(row);
        }
    }
    Ok(Results { head, rows, mean: geometric_mean(ratios.iter().copied()) })
}

/// Prints the table.
///
/// # Errors
/// If a test cannot be run, or herd7 lists other final states.
pub fn run(args: &Bench) -> Result<(), String> {
    let Results { head, rows, mean } = measure(args)?;
    print(&aligned(&head, 1, &rows));
    match mean {
        Some(mean) => print(&format!("\ngeometric mean of weir / herd7: {mean:.3}\n")),
        None => print("\nherd7 is not installed\n"),
    }
    Ok(())
}

/// The section of the page.
///
/// # Errors
/// If a test cannot be run, or herd7 lists other final states.
pub fn section(args: &Bench) -> Result<String, String> {
    let Results { head, rows, mean } = measure(args)?;
    let mut out = format!(
        "## Litmus tests\n\n\
         All final states of families of X86 litmus tests under TSO (`weir outcomes`), with one\n\
         thread: the largest of each family. Seconds are of the whole process, the shortest of {} runs.\n\n",
        args.measuring.runs,
    );
    out += &match mean {
        Some(mean) => format!("Geometric mean of Weir's seconds over herd7's: {mean:.3}.\n\n"),
        None => "herd7 was not installed.\n\n".to_owned(),
    };
    // The rows of a family follow each other, the largest last.
    let largest = rows.chunk_by(|a, b| a[0] == b[0]).filter_map(|family| family.last().cloned());
    out += &table(&head, 1, &largest.collect::<Vec<_>>());
    out.push('\n');
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_are_litmus_tests() {
        for family in &FAMILIES {
            for n in 2..=family.most {
                let text = (family.test)(n).text("test");
                let read = weir_front::read("test.litmus", &text, None);
                let (program, _) = read.unwrap_or_else(|e| panic!("{e:?}\n{text}"));
                assert_eq!(program.processes.len(), n, "{text}");
            }
        }
        assert_eq!(states("Test a\nStates 12\n"), Some(12));
    }
}
