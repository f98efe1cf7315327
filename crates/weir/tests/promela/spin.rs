//! Asks Spin.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What Spin found.
pub struct Found {
    /// No assertion fails.
    pub assertions: bool,
    /// No process stays where it may not.
    pub end_states: bool,
    /// The `ltl` formulas of the model, and whether they hold.
    pub formulas: Vec<(String, bool)>,
}

/// Whether Spin and a compiler are installed.
pub fn is_there() -> bool {
    weir_gen::tools::are_installed(&["spin", "gcc"])
}

/// A folder that goes away.
struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn run(folder: &Path, program: &str, arguments: &[&str]) -> Result<String, String> {
    let mut command = Command::new(program);
    let command = command.args(arguments).current_dir(folder);
    let output = command.output().map_err(|e| format!("{program}: {e}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    match output.status.success() || text.contains("errors:") {
        true => Ok(text),
        false => Err(format!("{program}: {text}{}", String::from_utf8_lossy(&output.stderr))),
    }
}

/// What Spin says of a model.
///
/// # Errors
/// If it says nothing.
pub fn verify(text: &str) -> Result<Found, String> {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = format!("weir-promela-{}-{number}", std::process::id());
    let scratch = Scratch(std::env::temp_dir().join(name));
    let folder = scratch.0.as_path();
    fs::create_dir_all(folder).map_err(|e| e.to_string())?;
    fs::write(folder.join("model.pml"), text).map_err(|e| e.to_string())?;
    // Without merging statements and forgetting values, which leave out interleavings.
    run(folder, "spin", &["-a", "-o1", "-o2", "-o3", "model.pml"])?;
    run(
        folder,
        "gcc",
        &["-w", "-O0", "-DSAFETY", "-DNOCLAIM", "-DNOREDUCE", "-o", "pan", "pan.c"],
    )?;
    // One option leaves out end states, the other one assertions.
    let errors = |options: &[&str]| {
        let text = run(folder, "./pan", options)?;
        let count = text.split("errors: ").nth(1).and_then(|t| t.split_whitespace().next());
        let count = count.ok_or_else(|| format!("no answer in {text}"))?;
        if text.contains("max search depth too small") {
            return Err(format!("the search was cut short: {text}"));
        }
        Ok(count == "0")
    };
    let assertions = errors(&["-m100000", "-w18", "-E"])?;
    let end_states = errors(&["-m100000", "-w18", "-A"])?;
    let named = text.lines().filter_map(|line| line.trim().strip_prefix("ltl "));
    let names: Vec<&str> = named.filter_map(|line| line.split_whitespace().next()).collect();
    let mut formulas = Vec::new();
    if !names.is_empty() {
        run(folder, "gcc", &["-w", "-O0", "-DNOREDUCE", "-o", "pan", "pan.c"])?;
    }
    for name in names {
        let holds = errors(&["-m100000", "-w18", "-a", "-E", "-N", name])?;
        formulas.push((name.to_owned(), holds));
    }
    Ok(Found { assertions, end_states, formulas })
}
