//! Asks Spin. `WEIR_SPIN_CC=tcc` compiles its programs with another compiler than gcc, which takes most of the time.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// What Spin found.
pub struct Found {
    /// No assertion fails.
    pub assertions: bool,
    /// No process stays where it may not.
    pub end_states: bool,
    /// How many states there are, if no assertion fails.
    pub states: usize,
    /// The `ltl` formulas of the model, and whether they hold; nothing if an assertion fails.
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

/// How long a search of Spin may take: it does not store what it sees inside of `atomic`, and may take for ever
/// in a loop there.
const PATIENCE: Duration = Duration::from_secs(20);

fn run(folder: &Path, program: &str, arguments: &[&str]) -> Result<String, String> {
    let failed = |e: std::io::Error| format!("{program}: {e}");
    let file = |name: &str| File::create(folder.join(name)).map_err(failed);
    let mut command = Command::new(program);
    let command = command.args(arguments).current_dir(folder);
    let mut child = command.stdout(file("out")?).stderr(file("err")?).spawn().map_err(failed)?;
    let began = Instant::now();
    let status = loop {
        match child.try_wait().map_err(failed)? {
            Some(status) => break status,
            None if began.elapsed() > PATIENCE && program == "./pan" => {
                child.kill().and_then(|()| child.wait()).map_err(failed)?;
                return Err("the search was cut short: it takes too long".to_owned());
            }
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    };
    let text = |name: &str| fs::read(folder.join(name)).map_err(failed);
    let out = String::from_utf8_lossy(&text("out")?).into_owned();
    match status.success() || out.contains("errors:") {
        true => Ok(out),
        false => Err(format!("{program}: {out}{}", String::from_utf8_lossy(&text("err")?))),
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
    let compiler = std::env::var("WEIR_SPIN_CC").unwrap_or_else(|_| "gcc".to_owned());
    let compile = |options: &[&str]| {
        let always = ["-w", "-O0", "-DNOREDUCE", "-o", "pan", "pan.c"];
        run(folder, &compiler, &[options, &always].concat())
    };
    // Without merging statements and forgetting values, which leave out interleavings.
    run(folder, "spin", &["-a", "-o1", "-o2", "-o3", "model.pml"])?;
    compile(&["-DSAFETY", "-DNOCLAIM"])?;
    // One option leaves out end states, the other one assertions.
    let errors = |options: &[&str]| {
        let text = run(folder, "./pan", options)?;
        let count = text.split("errors: ").nth(1).and_then(|t| t.split_whitespace().next());
        let count = count.ok_or_else(|| format!("no answer in {text}"))?;
        if text.contains("max search depth too small") {
            return Err(format!("the search was cut short: {text}"));
        }
        let stored = text.lines().find(|line| line.contains("states, stored"));
        let states = stored.and_then(|line| line.split_whitespace().next()?.parse().ok());
        Ok((count == "0", states.unwrap_or(0)))
    };
    let (assertions, states) = errors(&["-m100000", "-w18", "-E"])?;
    let (end_states, _) = errors(&["-m100000", "-w18", "-A"])?;
    let named = text.lines().filter_map(|line| line.trim().strip_prefix("ltl "));
    let names: Vec<&str> = named.filter_map(|line| line.split_whitespace().next()).collect();
    let mut formulas = Vec::new();
    // Formulas say nothing about runs in which an assertion fails, where Weir and Spin go on differently.
    if !names.is_empty() && assertions {
        compile(&["-DNOFAIR"])?;
    }
    for name in names.into_iter().filter(|_| assertions) {
        let (holds, _) = errors(&["-m100000", "-w18", "-a", "-E", "-N", name])?;
        formulas.push((name.to_owned(), holds));
    }
    Ok(Found { assertions, end_states, states, formulas })
}
