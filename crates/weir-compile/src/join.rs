//! Which modules belong to a program: its own, and those that define what it uses.
//!
//! A package has many libraries, and a test uses few of them. A module names what it uses
//! (`declare`, and globals that are `external`) and what it defines. From the module of the test
//! on, all modules are taken that define something that a taken one uses.

use crate::Module;
use std::collections::{BTreeSet, HashMap};

/// The symbols of a module.
#[derive(Debug, Default)]
pub(crate) struct Symbols {
    /// What others can use.
    pub defined: Vec<String>,
    /// What others have to define.
    pub used: Vec<String>,
}

impl Symbols {
    /// Of a text. Every definition begins a line.
    pub(crate) fn of(text: &str) -> Symbols {
        let mut symbols = Symbols::default();
        for line in text.lines() {
            let is_own = |rest: &str| ["internal ", "private "].iter().any(|l| rest.starts_with(l));
            let (to, at) = if let Some(rest) = line.strip_prefix("declare ") {
                (&mut symbols.used, rest.find('@').map(|at| &rest[at..]))
            } else if let Some(rest) = line.strip_prefix("define ") {
                if is_own(rest) {
                    continue;
                }
                (&mut symbols.defined, rest.find('@').map(|at| &rest[at..]))
            } else if line.starts_with('@') {
                let rest = line.split_once(" = ").map_or("", |(_, rest)| rest);
                if is_own(rest) {
                    continue;
                }
                let is_external = rest.starts_with("external ") || rest.starts_with("extern_weak ");
                (if is_external { &mut symbols.used } else { &mut symbols.defined }, Some(line))
            } else {
                continue;
            };
            if let Some(name) = at.and_then(|at| name(at.strip_prefix('@')?)) {
                to.push(name.to_owned());
            }
        }
        symbols
    }
}

/// The name that a text begins with, which may be quoted.
fn name(text: &str) -> Option<&str> {
    match text.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next(),
        None => text.split(|c: char| c == '(' || c.is_whitespace()).next(),
    }
}

/// Of these modules, those that the first one needs.
pub(crate) fn only_needed(modules: Vec<Module>) -> Vec<Module> {
    let symbols: Vec<Symbols> = modules.iter().map(|module| Symbols::of(&module.text)).collect();
    let needed = needed(&symbols);
    let numbered = modules.into_iter().enumerate();
    numbered.filter(|(number, _)| needed.contains(number)).map(|(_, module)| module).collect()
}

/// What the name of a function begins with that is executed in place of one of the real `std`.
const BODY: &str = "weir_body::";

/// Of a function that is executed in place of one of the real `std`: what linkers call that one contains this.
pub(crate) fn body_of(symbol: &str) -> Option<String> {
    let name = symbol.strip_prefix(BODY)?.rsplit("::").next()?;
    Some(format!("{}{name}", name.len()))
}

/// The names of bodies for functions of the real `std`, as part of what linkers call such a function, with the
/// number of the module.
fn bodies(modules: &[Symbols]) -> Vec<(String, usize)> {
    let mut bodies = Vec::new();
    for (number, module) in modules.iter().enumerate() {
        let keys = module.defined.iter().filter_map(|symbol| body_of(symbol));
        bodies.extend(keys.map(|key| (key, number)));
    }
    bodies
}

/// The numbers of the modules that the first one needs, itself included, in order.
pub(crate) fn needed(modules: &[Symbols]) -> BTreeSet<usize> {
    let mut definers: HashMap<&str, Vec<usize>> = HashMap::new();
    for (number, module) in modules.iter().enumerate() {
        for symbol in &module.defined {
            definers.entry(symbol).or_default().push(number);
        }
    }
    let mut needed = BTreeSet::new();
    let bodies = bodies(modules);
    let mut waiting: Vec<usize> = if modules.is_empty() { Vec::new() } else { vec![0] };
    while let Some(number) = waiting.pop() {
        if needed.insert(number) {
            let used =
                modules[number].used.iter().filter_map(|symbol| definers.get(symbol.as_str()));
            waiting.extend(used.flatten());
            for symbol in modules[number].used.iter().filter(|symbol| symbol.starts_with('_')) {
                let has = bodies.iter().filter(|(name, _)| symbol.contains(name.as_str()));
                waiting.extend(has.map(|(_, number)| *number));
            }
        }
    }
    needed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_used() {
        let texts = [
            "define void @main() {\ndeclare i64 @\"a b\"(i64)\n@x = external thread_local global i32\n",
            "define i64 @\"a b\"(i64 %0) unnamed_addr {\n  call void @c()\ndeclare void @c()\n",
            "define void @d() {\ndeclare void @main()",
            "@x = thread_local global i32 0, align 4\n@y = external global i32",
            "define void @c() {\n}",
            "define internal void @c() {\n}\n@x = private constant i32 0",
        ];
        let symbols: Vec<Symbols> = texts.iter().map(|text| Symbols::of(text)).collect();
        assert_eq!(symbols[0].used, ["a b", "x"]);
        assert_eq!(symbols[3].defined, ["x"]);
        assert_eq!(needed(&symbols).into_iter().collect::<Vec<_>>(), [0, 1, 3, 4]);
        assert!(needed(&[]).is_empty());
    }

    #[test]
    fn bodies_for_functions_of_the_real_std() {
        let texts = [
            "define void @main() {\ndeclare void @_RNvNtCs_5alloc4sync6layout(i64)",
            "define void @\"weir_body::alloc::sync::layout\"() {",
            "define void @\"weir_body::alloc::sync::other\"() {",
        ];
        let symbols: Vec<Symbols> = texts.iter().map(|text| Symbols::of(text)).collect();
        assert_eq!(needed(&symbols).into_iter().collect::<Vec<_>>(), [0, 1]);
    }
}
