//! C, C++ and Rust, as a compiler reads them.
//!
//! A compiler turns a text into modules of LLVM IR, which `llvm` executes. This module has no compiler:
//! [`Settings::compile`] is a function that runs one. Reports show the lines of the text.

mod c;
mod rust;
mod words;

use std::collections::BTreeSet;
use std::sync::Arc;

use weir_model::ids::VarId;
use weir_model::program::{
    BinOp, Expr, FenceKind, Program, Property, PropertyKind, Quantifier, Stmt, StmtKind,
};

use crate::{Diagnostic, Language, Settings, Source, llvm};

/// What a compiler has made of a text.
#[derive(Clone, Debug, Default)]
pub struct Compiled {
    /// What the program is called, if not as its file.
    pub name: Option<String>,
    /// The modules, which belong together: name and text.
    pub modules: Vec<(String, String)>,
    /// The symbol of the function that the program begins with. A library has none.
    pub entry: Option<String>,
    /// The tests in it, if it has no such function: the name of each, and the symbol of its function.
    pub tests: Vec<(String, Option<String>)>,
}

/// Compiles a text. The name is that of its file; what the text includes is found beside it.
pub type Compile = fn(&Language, &str, &str, &Settings) -> Result<Arc<Compiled>, Vec<Diagnostic>>;

/// C.
pub static C: Language = Language {
    name: "c",
    endings: &["c", "i"],
    looks_like: |text| {
        ["#include <", "pthread_create", "int main(", "_Atomic", "atomic_int "]
            .iter()
            .any(|word| text.contains(word))
    },
    read: |name, text, settings| read(&C, name, text, settings),
    declare: None,
    gaps: c::gaps::gaps,
    orders: c::orders::orders,
    fence: c_fence,
};

/// C++.
pub static CPP: Language = Language {
    name: "cpp",
    endings: &["cpp", "cc", "cxx", "c++"],
    looks_like: |text| {
        ["#include <atomic>", "#include <thread>", "std::atomic", "std::thread"]
            .iter()
            .any(|word| text.contains(word))
    },
    read: |name, text, settings| read(&CPP, name, text, settings),
    declare: None,
    gaps: c::gaps::gaps,
    orders: c::orders::orders,
    fence: cpp_fence,
};

/// Rust.
pub static RUST: Language = Language {
    name: "rust",
    endings: &["rs"],
    looks_like: |text| text.contains("fn main()") && text.contains("use std::"),
    read: |name, text, settings| read(&RUST, name, text, settings),
    declare: None,
    gaps: rust::gaps::gaps,
    orders: rust::orders::orders,
    fence: rust_fence,
};

/// A Cargo package: the text is that of its `Cargo.toml`, and each of its tests is a program.
pub static CARGO: Language = Language {
    name: "cargo",
    endings: &["Cargo.toml"],
    looks_like: |_| false,
    read: |name, text, settings| read_project(&CARGO, name, text, settings),
    declare: None,
    gaps: |_| Vec::new(),
    orders: |_| Vec::new(),
    fence: |_| None,
};

/// A compilation database, `compile_commands.json`, whose sources in C and C++ are one program.
pub static DATABASE: Language = Language {
    name: "compile-commands",
    endings: &["compile_commands.json"],
    looks_like: |_| false,
    read: |name, text, settings| read_project(&DATABASE, name, text, settings),
    declare: None,
    gaps: |_| Vec::new(),
    orders: |_| Vec::new(),
    fence: |_| None,
};

fn c_fence(kind: FenceKind) -> Option<&'static str> {
    Some(match kind {
        FenceKind::Full => "atomic_thread_fence(memory_order_seq_cst)",
        FenceKind::Read => "atomic_thread_fence(memory_order_acquire)",
        FenceKind::Write => "atomic_thread_fence(memory_order_release)",
    })
}

fn cpp_fence(kind: FenceKind) -> Option<&'static str> {
    Some(match kind {
        FenceKind::Full => "std::atomic_thread_fence(std::memory_order_seq_cst)",
        FenceKind::Read => "std::atomic_thread_fence(std::memory_order_acquire)",
        FenceKind::Write => "std::atomic_thread_fence(std::memory_order_release)",
    })
}

fn rust_fence(kind: FenceKind) -> Option<&'static str> {
    Some(match kind {
        FenceKind::Full => "std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);",
        FenceKind::Read => "std::sync::atomic::fence(std::sync::atomic::Ordering::Acquire);",
        FenceKind::Write => "std::sync::atomic::fence(std::sync::atomic::Ordering::Release);",
    })
}

/// What every report says first about a text that was not optimized.
const CAVEAT: &str =
    "each access as it stands in the source: what a compiler reorders or removes is not covered";

/// Reads a text through a compiler.
fn read(language: &Language, name: &str, text: &str, settings: &Settings) -> crate::Read {
    let Some(compile) = settings.compile else {
        let called = language.called();
        let error = match language.is_project() {
            true => format!("{called} is read through a compiler"),
            false => format!("a text in {called} is read through a compiler"),
        };
        let help = "none is run here, since it could read any file of this machine; `weir check` on the command line runs one";
        return Err(vec![Diagnostic::new(error, 0..0).help(help)]);
    };
    let compiled = compile(language, name, text, settings)?;
    let size: usize = compiled.modules.iter().map(|(_, text)| text.len()).sum();
    if size > crate::MAX_MODULE {
        let most = crate::MAX_MODULE;
        let error = format!("the compiler makes {size} bytes of it; at most {most} are read");
        return Err(vec![Diagnostic::new(error, 0..0)]);
    }
    let entry = match (&settings.entry, &compiled.entry) {
        // Of a package, the test has been chosen.
        (Some(_), Some(entry)) if language.is_project() => entry.clone(),
        (Some(entry), _) => function_of(entry, &compiled.tests),
        (None, Some(entry)) => entry.clone(),
        (None, None) => only_test(&compiled.tests)?,
    };
    let (mut program, mut source) =
        llvm::read_compiled(name, text, &compiled.modules, entry, settings)?;
    match source.caveat {
        // It is true of every model, while what is not optimized is the language under its own model.
        Some(emitted) => {
            source.caveat = None;
            source.notes.insert(0, emitted.to_owned());
        }
        None => source.caveat = Some(CAVEAT),
    }
    let allocated = allocated_for_the_library(&program, &source);
    source.internal.extend(allocated);
    // A compiler says where something begins.
    source.map_ranges(|text, range| range.start..words::end(text, range));
    merge_endings(&mut program, &source);
    if let Some(name) = &compiled.name {
        program.name.clone_from(name);
    }
    Ok((program, source))
}

/// What is asked of final states at one place of the text, on several ways through the code, is one property.
fn merge_endings(program: &mut Program, source: &Source) {
    let mut merged: Vec<Property> = Vec::new();
    for property in std::mem::take(&mut program.properties) {
        let PropertyKind::Final(Quantifier::Always, formula) = &property.kind else {
            merged.push(property);
            continue;
        };
        let place = source.range(property.span);
        let is_same = |other: &&mut Property| {
            let range = source.range(other.span);
            let is_placed = source.is_placed(other.span) && source.is_placed(property.span);
            let is_over = range.start < place.end && place.start < range.end;
            is_placed && is_over && matches!(other.kind, PropertyKind::Final(Quantifier::Always, _))
        };
        match merged.iter_mut().find(is_same) {
            Some(before) => {
                // The one that begins first says most.
                if place.start < source.range(before.span).start {
                    before.span = property.span;
                }
                if let PropertyKind::Final(_, whole) = &mut before.kind {
                    let all = std::mem::replace(whole, Expr::Const(1));
                    *whole = Expr::binary(BinOp::And, all, formula.clone());
                }
            }
            None => merged.push(property),
        }
    }
    let is_ending = |property: &&mut Property| {
        let name = property.name.as_deref().unwrap_or_default();
        name.starts_with("final_assertion")
    };
    let count = merged.iter_mut().filter(is_ending).count();
    for (number, property) in (1..).zip(merged.iter_mut().filter(is_ending)) {
        let number = if count == 1 { String::new() } else { format!("_{number}") };
        property.name = Some(format!("final_assertion{number}"));
    }
    program.properties = merged;
}

/// Allocated memory that code outside of the text accesses too, as that in which a thread gets its closure.
fn allocated_for_the_library(program: &Program, source: &Source) -> BTreeSet<VarId> {
    let mut found = BTreeSet::new();
    let mut open: Vec<&[Stmt]> = program.processes.iter().map(|process| &*process.body).collect();
    while let Some(block) = open.pop() {
        for stmt in block {
            if let StmtKind::Load(_, place) | StmtKind::Store(place, _) | StmtKind::Rmw(_, place, _) =
                &stmt.kind
                && !source.is_placed(stmt.span)
                && program.vars[place.first.index()].name.contains(".heap")
            {
                found.insert(place.first);
            }
            open.extend(stmt.kind.blocks().into_iter().map(|block| &block[..]));
        }
    }
    found
}

/// Reads what a text lists. Errors without a place in a source are about all of it.
fn read_project(language: &Language, name: &str, text: &str, settings: &Settings) -> crate::Read {
    read(language, name, text, settings)
        .map_err(|errors| errors.into_iter().map(|error| error.of_file(name)).collect())
}

/// The symbol of a test, or the function itself.
fn function_of(entry: &str, tests: &[(String, Option<String>)]) -> String {
    let is_named = |name: &str| {
        name == entry || name.strip_suffix(entry).is_some_and(|before| before.ends_with("::"))
    };
    let found = tests.iter().find(|(name, _)| is_named(name));
    found.and_then(|(_, symbol)| symbol.clone()).unwrap_or_else(|| entry.to_owned())
}

/// The symbol of the test, if there is one.
fn only_test(tests: &[(String, Option<String>)]) -> Result<String, Vec<Diagnostic>> {
    let error = |message: String, help: String| vec![Diagnostic::new(message, 0..0).help(help)];
    match tests {
        [(_, Some(symbol))] => Ok(symbol.clone()),
        [(test, None)] => Err(error(
            format!("the function of the test `{test}` is not found"),
            "name a function that the program begins with: `--entry NAME`".to_owned(),
        )),
        [] => Err(error(
            "there is no function `main` and no test".to_owned(),
            "`--entry NAME` names the function that the program begins with".to_owned(),
        )),
        tests => {
            let names: Vec<&str> = tests.iter().map(|(name, _)| &**name).collect();
            Err(error(
                format!("there are {} tests", tests.len()),
                format!("choose one with `--entry`: {}", names.join(", ")),
            ))
        }
    }
}
