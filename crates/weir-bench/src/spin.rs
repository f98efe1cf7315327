//! The same state space searched by Spin (Holzmann 1997), as a measure of the explicit
//! engine under SC.

use std::process::Command;
use std::time::Duration;

use weir::Loaded;
use weir::report::promela;
use weir_model::limits::{Budget, Limits};

use crate::rows::Row;
use crate::run::{Job, LONG, SLACK, Scratch, finish, finish_all, is_installed, mebibytes, timeout};

/// What Spin made of a program.
#[derive(Clone, Debug)]
pub struct Spin {
    /// States stored, after partial-order reduction.
    pub states: u64,
    /// How long the search took, as it says itself. Its clock ticks 100 times a
    /// second.
    pub seconds: f64,
}

/// Below this its clock says nothing.
const SHORTEST: f64 = 0.05;

/// The longest runs that fit, first as in most models and then with more room.
const DEPTHS: [&str; 2] = ["-m1000000", "-m20000000"];

/// Building takes this long at most.
const BUILDING: Duration = Duration::from_secs(60);

/// What `spin` writes for more transitions keeps a compiler busy for minutes.
const MOST_TRANSITIONS: usize = 2_000;

impl Spin {
    /// Whether it took long enough to compare.
    pub fn is_long(&self) -> bool {
        self.seconds >= SHORTEST
    }
}

/// Whether Spin and a C compiler are installed.
pub fn is_there() -> bool {
    is_installed("spin") && is_installed("gcc")
}

/// Whether both search everything: under SC, with every property true.
pub fn is_comparable(row: &Row) -> bool {
    row.model == "SC"
        && row.run.answered == "explicit"
        && row.run.exact
        && row.run.verdicts.iter().all(|v| v == "holds")
}

/// Runs Spin on a program; `None` if the program has no model there or one that is too
/// large, or the search hits a limit.
pub fn measure(job: &Job, limits: &Limits, runs: u32) -> Result<Option<Spin>, String> {
    let file = job.file.to_string_lossy();
    let Ok(loaded) = Loaded::from_file(&file, None) else { return Ok(None) };
    let Ok(all) = loaded.system.expanded(&Budget::new()) else { return Ok(None) };
    let size: usize = all.process_ids().map(|p| all.all_transitions(p).count()).sum();
    if size > MOST_TRANSITIONS {
        return Ok(None);
    }
    let Some(model) = promela::model(all) else { return Ok(None) };
    let scratch = Scratch::new("spin")?;
    scratch.write("model.pml", &model)?;
    let memory = format!("-DMEMLIM={}", mebibytes(limits));
    for (program, arguments) in [
        ("spin", &["-a", "model.pml"][..]),
        ("gcc", &["-O2", "-w", "-DSAFETY", &memory, "-o", "pan", "pan.c"]),
    ] {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(scratch.path());
        // An automaton that is too large for a compiler is no error.
        let Ok(left) = finish_all(&mut command, BUILDING) else { return Ok(None) };
        if left.code != Some(0) {
            let said = format!("{}{}", left.out, left.err);
            return Err(format!("`{program}` fails for `{}`: {}", job.name, said.trim()));
        }
    }
    for depth in DEPTHS {
        let (mut all, mut slots): (Vec<Spin>, Option<String>) = (Vec::new(), None);
        while all.len() < runs as usize {
            let mut command = Command::new(scratch.path().join("pan"));
            command.arg(depth).current_dir(scratch.path());
            if let Some(slots) = &slots {
                command.arg(slots);
            }
            let Ok(left) = finish(&mut command, timeout(limits).saturating_add(SLACK)) else {
                return Ok(None);
            };
            if left.out.contains("errors: ") && !left.out.contains("errors: 0") {
                return Err(format!("Spin finds an error in `{}`, and Weir none", job.name));
            }
            let Some(spin) = read(&left.out) else { break };
            // The first run tells how large a hash table is right: setting up the usual one takes
            // longer than small searches do.
            if slots.is_none() {
                slots = Some(format!("-w{}", spin.states.next_power_of_two().ilog2().max(10)));
                continue;
            }
            all.push(spin);
            if all[0].seconds > LONG {
                break;
            }
        }
        all.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
        if !all.is_empty() {
            return Ok(Some(all.swap_remove(all.len() / 2)));
        }
    }
    Ok(None)
}

/// What `pan` prints, if it has seen everything and found nothing.
fn read(text: &str) -> Option<Spin> {
    if !text.contains("errors: 0") || text.contains("too small") || text.contains("out of memory") {
        return None;
    }
    let number = |line: &str| line.split_whitespace().find_map(|w| w.parse::<f64>().ok());
    let line = |words: &str| text.lines().find(|l| l.contains(words));
    Some(Spin {
        states: line("states, stored").and_then(number)? as u64,
        seconds: line("elapsed time").and_then(number)?,
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_pan_prints() {
        let text = "State-vector 44 byte, depth reached 48616, errors: 0\n   \
                    196050 states, stored\n\npan: elapsed time 0.15 seconds\n";
        let spin = super::read(text).unwrap();
        assert_eq!((spin.states, spin.seconds), (196_050, 0.15));
        assert!(super::read(&text.replace("errors: 0", "errors: 1")).is_none());
        let cut = format!("error: max search depth too small\n{text}");
        assert!(super::read(&cut).is_none());
    }
}
