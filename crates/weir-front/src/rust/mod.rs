//! Rust, `.rs`: programs with threads and atomics.
//!
//! The text is parsed with `syn`. A reader then executes the program from its first function on,
//! and tells the lowering what happens: functions are inlined, generic
//! functions see the types of their arguments, and what runs before the first thread is computed.
//!
//! * `syntax` parses, `items` collects what is declared, `names` finds out what names stand for;
//! * `types` has the types and lays them out in memory;
//! * `reader` has the variables and scopes and calls functions, `drops` drops values;
//! * `expressions`, `values`, `places`, `control`, `patterns` and `numbers` execute code;
//! * `calls` finds methods; `library_calls`, `library_methods` and `atomics` have those that
//!   are built in, and `library.rs` those that are written in Rust: `Option`, `Mutex` and so on;
//! * `threads` starts and joins threads, `sequences` has vectors and iterators, `macros` the
//!   macros of the standard library, and `gaps` the places for fences.
//!
//! `docs/rust.md` says what is read.
//!
//! ```
//! let text = "
//!     use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
//!     static READY: AtomicBool = AtomicBool::new(false);
//!     fn main() {
//!         let t = std::thread::spawn(|| READY.store(true, Relaxed));
//!         while !READY.load(Relaxed) {}
//!         t.join().unwrap();
//!     }";
//! let (program, _) = weir_front::read("ready.rs", text, None).unwrap();
//! assert_eq!(program.vars[0].name, "READY");
//! ```

mod atomics;
mod calls;
mod control;
mod drops;
mod expressions;
mod gaps;
mod items;
mod library_calls;
mod library_methods;
mod macros;
mod names;
mod numbers;
mod orders;
mod patterns;
mod places;
mod reader;
mod sequences;
mod syntax;
mod threads;
mod types;
mod values;

use std::path::Path;

use weir_model::program::FenceKind;

use crate::{Diagnostic, Language, Read, Settings, Source, lowering};
use items::{Files, Items, LIBRARY};
use reader::Reader;
use types::Known;

/// Rust.
pub static LANGUAGE: Language = Language {
    name: "rust",
    endings: &["rs"],
    looks_like,
    read: read_in_thread,
    declare: None,
    gaps: gaps::gaps,
    orders: orders::orders,
    fence: |kind| {
        Some(match kind {
            FenceKind::Full => "std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);",
            FenceKind::Read => "std::sync::atomic::fence(std::sync::atomic::Ordering::Acquire);",
            FenceKind::Write => "std::sync::atomic::fence(std::sync::atomic::Ordering::Release);",
        })
    },
};

/// How much stack reading may take: it is bounded by [`crate::MAX_NESTING`] and by limits on
/// calls, but that is more than threads have by default.
const STACK: usize = 512 << 20;

fn looks_like(text: &str) -> bool {
    text.contains("fn main()") && text.contains("use std::")
}

fn read_in_thread(name: &str, text: &str, settings: &Settings) -> Read {
    std::thread::scope(|scope| {
        let reading = std::thread::Builder::new()
            .stack_size(STACK)
            .spawn_scoped(scope, || read(name, text, settings));
        match reading.map(std::thread::ScopedJoinHandle::join) {
            Ok(Ok(result)) => result,
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(error) => {
                let message = format!("there is no memory to read this file: {error}");
                Err(vec![Diagnostic::new(message, 0..0)])
            }
        }
    })
}

/// Reads a program.
fn read(name: &str, text: &str, settings: &Settings) -> Read {
    let mut source = Source::new(name, text);
    let mut items = Items::default();
    items.defines = settings.defines.iter().map(|(name, _)| name.clone()).collect();
    let library = match syntax::parse(include_str!("library.rs")) {
        Ok(library) => library,
        Err(error) => unreachable!("the library is Rust: {error}"),
    };
    items.library = items.add_file(library, LIBRARY, None);
    items.find_option();
    let tree = syntax::parse(text).map_err(|error| vec![error])?;
    let dir = Path::new(name).parent().unwrap_or(Path::new("")).to_path_buf();
    let mut files = Files { settings, source: &mut source, dir, depth: 0 };
    let root = items.add_file(tree, 0, Some(&mut files));
    items.find_repeating();
    if !items.errors.is_empty() {
        let errors = std::mem::take(&mut items.errors);
        return Err(errors.into_iter().map(|error| error.inside(&source)).collect());
    }
    let entry = entry(&items, root, settings)?;
    let mut known = Known::default();
    let stem = Path::new(name).file_stem().map_or(name.into(), |stem| stem.to_string_lossy());
    let result = lowering::passes(&stem, &source, &settings.lowering, |builder| {
        known.is_changed = false;
        let mut reader = Reader::new(builder, &mut items, &mut known);
        reader.run(entry);
        if known.is_changed {
            builder.start_over();
        }
    });
    result
        .map_err(|errors| errors.sorted().into_iter().map(|error| error.inside(&source)).collect())
}

/// The function that the program begins with.
fn entry(items: &Items, root: usize, settings: &Settings) -> Result<usize, Vec<Diagnostic>> {
    let error =
        |message: String, help: String| Err(vec![Diagnostic::new(message, 0..0).help(help)]);
    let mut modules = vec![root];
    let mut all = Vec::new();
    while let Some(module) = modules.pop() {
        all.push(module);
        modules.extend(items.modules[module].modules());
    }
    let named = |name: &str| all.iter().find_map(|module| items.modules[*module].function(name));
    if let Some(name) = &settings.entry {
        return match named(name.rsplit("::").next().unwrap_or(name)) {
            Some(function) => Ok(function),
            None => error(
                format!("there is no function {}", crate::errors::quote(name)),
                "the program begins with the function that --entry names".to_owned(),
            ),
        };
    }
    if let Some(function) = items.modules[root].function("main") {
        return Ok(function);
    }
    if let Some(function) = named("miri_start") {
        return Ok(function);
    }
    let tests: Vec<usize> =
        items.tests.iter().copied().filter(|t| all.contains(&items.functions[*t].module)).collect();
    match tests[..] {
        [test] => Ok(test),
        [] => error(
            "there is no function `main` and no test".to_owned(),
            "write `fn main()` with the threads that are to be checked, or name a function with --entry".to_owned(),
        ),
        _ => {
            let names: Vec<String> =
                tests.iter().map(|test| items.functions[*test].name.clone()).collect();
            error(
                format!("there are {} tests", names.len()),
                format!("choose one with --entry: {}", names.join(", ")),
            )
        }
    }
}
