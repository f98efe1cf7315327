//! Bodies for generic functions that the real `std` has compiled already.
//!
//! What is generic is compiled in the module that uses it (`-Zshare-generics=no`), with one
//! exception: a function marked `#[inline(never)]` of which the real `std` has an instance, such as
//! `RawVec::<u8>::grow_one`. Its body would be in no module. `runtime/generics` calls such functions
//! for several types, and for a twin of each type with the same layout. The function for the twin is
//! compiled, and does the same with the same bytes. [`complete`] writes a body for the other one that
//! calls it.

use std::collections::{HashMap, HashSet};

/// What such functions are called.
const FUNCTION: &str = "8grow_one";

/// Replaces declarations by bodies in the module of `runtime/generics`.
pub(crate) fn complete(text: &str) -> String {
    let functions = functions(text);
    let mut bodies: HashMap<&str, &str> = HashMap::new();
    for number in 0.. {
        let Some(twin) = reached(&functions, &format!("weir_twin_{number}")) else { break };
        let probe = reached(&functions, &format!("weir_probe_{number}"));
        let missing = probe.filter(|probe| !functions.contains_key(probe));
        if functions.contains_key(twin) {
            bodies.extend(missing.map(|probe| (probe, twin)));
        }
    }
    let mut complete = String::with_capacity(text.len() + 1024);
    for line in text.lines() {
        match declared(line).and_then(|name| body(line, name, bodies.get(name)?)) {
            Some(body) => complete.push_str(&body),
            None => complete.push_str(line),
        }
        complete.push('\n');
    }
    complete
}

/// The functions that each defined function calls.
fn functions(text: &str) -> HashMap<&str, Vec<&str>> {
    let mut functions: HashMap<&str, Vec<&str>> = HashMap::new();
    let mut inside = None;
    for line in text.lines() {
        if line.starts_with("define ") {
            inside = symbol(line);
            functions.extend(inside.map(|name| (name, Vec::new())));
        } else if let (Some(name), Some((_, call))) = (inside, line.split_once("call ")) {
            functions.entry(name).or_default().extend(symbol(call));
        }
    }
    functions
}

/// The first function of that name that is called from here on.
fn reached<'a>(functions: &HashMap<&'a str, Vec<&'a str>>, from: &str) -> Option<&'a str> {
    let mut seen = HashSet::new();
    let mut waiting: Vec<&str> = functions.get(from)?.clone();
    while let Some(name) = waiting.pop() {
        if name.contains(FUNCTION) {
            return Some(name);
        }
        if seen.insert(name) {
            waiting.extend(functions.get(name).into_iter().flatten());
        }
    }
    None
}

/// The name behind the first `@`. The names in question have no quotes.
fn symbol(text: &str) -> Option<&str> {
    let name = &text[text.find('@')? + 1..];
    Some(&name[..name.find('(')?])
}

fn declared(line: &str) -> Option<&str> {
    if line.starts_with("declare void @") { symbol(line) } else { None }
}

/// A function with the parameters of a declaration that calls another one.
fn body(declaration: &str, name: &str, other: &str) -> Option<String> {
    let parameters = &declaration[declaration.find('(')? + 1..declaration.find(')')?];
    let types = parameters.split(',').filter_map(|p| p.split_whitespace().next());
    let parameters: Vec<String> = types.enumerate().map(|(i, t)| format!("{t} %{i}")).collect();
    let parameters = parameters.join(", ");
    Some(format!(
        "define void @{name}({parameters}) {{\nstart:\n  call void @{other}({parameters})\n  ret void\n}}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_declaration_becomes_a_call_of_the_twin() {
        let text = "define void @weir_probe_0(ptr %v) {\n  call void @push_a(ptr %v), !dbg !1\n}\n\
            define void @push_a(ptr %v) {\n  call void @R8grow_oneA(ptr align 8 %v, ptr @x)\n}\n\
            define void @weir_twin_0(ptr %v) {\n  call void @push_b(ptr %v)\n}\n\
            define void @push_b(ptr %v) {\n  call void @push_b(ptr %v)\n  call void @R8grow_oneB(ptr %v, ptr @x)\n}\n\
            define void @R8grow_oneB(ptr %v, ptr %x) {\n}\n\
            declare void @R8grow_oneA(ptr align 8, ptr align 8) unnamed_addr #1\n\
            declare void @other(ptr)\n";
        let complete = complete(text);
        assert!(complete.contains(
            "define void @R8grow_oneA(ptr %0, ptr %1) {\nstart:\n  call void @R8grow_oneB(ptr %0, ptr %1)\n  ret void\n}\n"
        ));
        assert!(!complete.contains("declare void @R8") && complete.contains("declare void @other"));
        assert_eq!(super::complete("no module"), "no module\n");
    }
}
