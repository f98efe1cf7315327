//! Names as the text has them: without the crate, and without the functions that start a thread.

use weir_model::program::Program;

/// What stands before names of the text.
const BEFORE: [&str; 2] = ["std::thread::start::run::", "program::"];

/// Shortens the names of processes and variables, and those that addresses have.
pub fn shorten(program: &mut Program) {
    let old: Vec<String> = program.processes.iter().map(|process| process.name.clone()).collect();
    let new = apart(&old);
    // What belongs to a process has its name.
    let rename = |name: &str| {
        let (sign, plain) = match name.strip_prefix('&') {
            Some(plain) => ("&", plain),
            None => ("", name),
        };
        let owner = old.iter().zip(&new).find_map(|(old, new)| {
            let rest = plain.strip_prefix(old.as_str())?;
            rest.starts_with('.').then(|| format!("{new}{rest}"))
        });
        format!("{sign}{}", owner.unwrap_or_else(|| short(plain)))
    };
    for process in &mut program.processes {
        process
            .registers
            .iter_mut()
            .for_each(|register| register.display = rename(&register.display));
    }
    let vars: Vec<String> = program.vars.iter().map(|var| rename(&var.name)).collect();
    let mut sorted = vars.clone();
    sorted.sort_unstable();
    sorted.dedup();
    if sorted.len() == vars.len() {
        program.vars.iter_mut().zip(vars).for_each(|(var, name)| var.name = name);
    }
    program.symbols.values_mut().for_each(|name| *name = rename(name));
    program.processes.iter_mut().zip(new).for_each(|(process, name)| process.name = name);
}

/// Shorter names, all different: those that get the name of another one have a number.
fn apart(old: &[String]) -> Vec<String> {
    let mut new: Vec<String> = old.iter().map(|name| short(name)).collect();
    for i in 0..new.len() {
        let is_taken = |name: &str, new: &[String]| {
            new.iter().enumerate().any(|(other, taken)| other != i && taken == name)
        };
        if new[i] == old[i] || !is_taken(&new[i], &new) {
            continue;
        }
        let numbered = (0..).map(|number| format!("{}[{number}]", new[i]));
        let free = numbered.take(old.len() + 1).find(|name| !is_taken(name, &new));
        new[i] = free.unwrap_or_else(|| old[i].clone());
    }
    new
}

fn short(name: &str) -> String {
    let mut name = name.to_owned();
    for before in BEFORE {
        let mut from = 0;
        while let Some(at) = name[from..].find(before) {
            let at = from + at;
            match name[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':') {
                true => from = at + before.len(),
                false => {
                    name.replace_range(at..at + before.len(), "");
                    from = at;
                }
            }
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::{apart, short};

    #[test]
    fn names_of_the_text() {
        for (name, found) in [
            ("std::thread::start::run::program::receive.started", "receive.started"),
            ("program::main::FULL", "main::FULL"),
            ("program::X[1]", "X[1]"),
            ("my_program::X", "my_program::X"),
            ("other::program::X", "other::program::X"),
        ] {
            assert_eq!(short(name), found);
        }
    }

    #[test]
    fn names_stay_different() {
        let names = ["main", "std::thread::start::run::program::main", "program::f"];
        assert_eq!(apart(&names.map(str::to_owned)), ["main", "main[0]", "f"]);
    }
}
