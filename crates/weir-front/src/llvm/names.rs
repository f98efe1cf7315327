//! Names for people, made of names for the linker.

/// The crate that a file of Rust is compiled as.
const CRATE: &str = "program::";

/// More letters of parameters than this are left out.
const MAX_PARAMETERS: usize = 40;

/// The name of a function or variable as a person wrote it.
pub(super) fn plain_name(name: &str) -> String {
    let rust = rustc_demangle::try_demangle(name).ok().map(|name| format!("{name:#}"));
    let options = cpp_demangle::DemangleOptions::new().no_params().no_return_type();
    let cpp = || {
        if !name.starts_with("_Z") {
            return None;
        }
        cpp_demangle::Symbol::new(name).ok()?.demangle_with_options(&options).ok()
    };
    let plain = rust.or_else(cpp).unwrap_or_else(|| name.to_owned());
    shortened(&without_crate(&plain))
}

/// Leaves out the name of the crate at the beginning of paths.
fn without_crate(name: &str) -> String {
    let mut out = String::new();
    for (number, part) in name.split(CRATE).enumerate() {
        // It may be the end of another name.
        let begins = !out.ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':');
        if number > 0 && !begins {
            out.push_str(CRATE);
        }
        out.push_str(part);
    }
    out
}

/// Leaves out long lists of parameters of types.
fn shortened(name: &str) -> String {
    let mut ends = Vec::new();
    let mut open = Vec::new();
    for (at, letter) in name.char_indices() {
        match letter {
            '<' => open.push(at),
            '>' if !name[..at].ends_with('-') => {
                // At the beginning of a path stands a type, whose name matters.
                let long = open.pop().filter(|start| *start > 0 && at - start > MAX_PARAMETERS);
                if let Some(start) = long {
                    ends.retain(|(inner, _)| *inner < start);
                    ends.push((start, at));
                }
            }
            _ => {}
        }
    }
    let (mut out, mut from) = (String::new(), 0);
    for (start, end) in ends {
        out.push_str(&name[from..=start]);
        out.push_str("..");
        from = end;
    }
    out + &name[from..]
}

/// The first of several parameters.
fn first_of(parameters: &str) -> &str {
    let mut depth = 0;
    for (at, letter) in parameters.char_indices() {
        match letter {
            '<' | '(' | '[' | '{' => depth += 1,
            '>' | ')' | ']' | '}' => depth -= 1,
            ',' if depth == 0 => return &parameters[..at],
            _ => {}
        }
    }
    parameters
}

/// What a thread is called that executes a function: the function of the user that the library calls.
pub(super) fn thread_name(function: &str) -> String {
    let rust = rustc_demangle::try_demangle(function).ok().map(|name| format!("{name:#}"));
    let given = rust
        .as_deref()
        .and_then(|name| name.strip_prefix("std::thread::start::run::<")?.strip_suffix('>'));
    let name = match given {
        Some(given) => shortened(&without_crate(first_of(given))),
        None => plain_name(function),
    };
    // The class of the C++ library that calls what the thread is given says nothing to a user.
    if name.starts_with("std::thread::_State_impl") {
        return "thread".to_owned();
    }
    // `main::{closure#0}` and the like, the last of them.
    match name.split_once("::{closure#") {
        Some((around, _)) if !around.contains('<') => {
            format!("{}.closure", around.rsplit("::").next().unwrap_or(around))
        }
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_that_a_person_wrote() {
        let name = "_RNvNtCslNYArtu3iFV_5alloc4sync32arcinner_layout_for_value_layout";
        assert_eq!(plain_name(name), "alloc::sync::arcinner_layout_for_value_layout");
        assert_eq!(plain_name("_RNvCs4fqI2P2rA04_7program4send"), "send");
        assert_eq!(plain_name("_ZNSt6thread4joinEv"), "std::thread::join");
        assert_eq!(plain_name("work"), "work");
        assert_eq!(without_crate("<a::B as program::C>::d"), "<a::B as C>::d");
        assert_eq!(without_crate("my_program::d"), "my_program::d");
        let long = format!("Vec<{}>::push", "a".repeat(50));
        assert_eq!(shortened(&long), "Vec<..>::push");
        assert_eq!(shortened(&format!("f<{long}>")), "f<..>");
    }
}
