//! Names as the text has them: without the crate, and without the functions that start a thread.

use std::collections::BTreeSet;

use weir_model::program::Program;

/// What stands before names of the text.
const BEFORE: [&str; 2] = ["std::thread::start::run::", "program::"];

/// Shortens the names of processes and variables, and those that addresses have.
pub fn shorten(program: &mut Program) {
    apart(program.processes.iter_mut().map(|process| &mut process.name).collect());
    apart(program.vars.iter_mut().map(|var| &mut var.name).collect());
    let registers = program.processes.iter_mut().flat_map(|process| &mut process.registers);
    registers.for_each(|register| register.display = short(&register.display));
    program.symbols.values_mut().for_each(|name| *name = short(name));
}

/// Shortens names; if they would not all be different, they stay.
fn apart(names: Vec<&mut String>) {
    let new: Vec<String> = names.iter().map(|name| short(name)).collect();
    if new.iter().collect::<BTreeSet<_>>().len() == new.len() {
        names.into_iter().zip(new).for_each(|(name, new)| *name = new);
    }
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
    use super::short;

    #[test]
    fn names_of_the_text() {
        for (name, found) in [
            ("std::thread::start::run::program::receive.started", "receive.started"),
            ("program::main::FULL", "main::FULL"),
            ("&program::X[1]", "&X[1]"),
            ("my_program::X", "my_program::X"),
            ("other::program::X", "other::program::X"),
        ] {
            assert_eq!(short(name), found);
        }
    }
}
