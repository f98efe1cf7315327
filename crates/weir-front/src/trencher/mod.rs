//! Trencher's language, `.txt`: threads as automata.
//!
//! `parse` makes a `tree` of the text, `memory` finds out which addresses there
//! are, and `thread` makes a process of each thread. `docs/other-inputs.md` says how
//! each construct is read.
//!
//! ```
//! let text = "
//!     thread t
//!       initial q0
//!       final q2
//!       transition q0 q1 write 1 x
//!       transition q1 q2 read r y
//!     end";
//! let (program, _) = weir_front::trencher::read("t.txt", text).unwrap();
//! assert_eq!(program.vars[0].name, "x");
//! ```

mod memory;
mod parse;
mod thread;
mod tree;

use std::collections::HashSet;
use std::ops::Range;
use std::path::Path;

use weir_model::ids::{ProcessId, SpanId};
use weir_model::program::{
    Atom, BinOp, Expr, FenceKind, MAX_PROCESSES, Program, Property, PropertyKind, Quantifier,
};

use crate::choice;
use crate::errors::Errors;
use crate::gaps::Edit;
use crate::{Diagnostic, Gap, Language, Source};
use memory::Memory;

/// The language of Trencher.
pub static LANGUAGE: Language = Language {
    name: "trencher",
    endings: &[],
    looks_like,
    read: |name, text, _| read(name, text),
    declare: None,
    gaps,
    orders: |_| Vec::new(),
    fence: |kind| (kind == FenceKind::Full).then_some("mfence"),
};

/// Where fences can be inserted: behind each transition that does not lead into a part between
/// `lock` and `unlock`. The transition then leads to a new state, and the fence on from there.
fn gaps(text: &str) -> Vec<Gap> {
    let Ok(file) = parse::file(text) else { return vec![] };
    let mut taken: HashSet<String> = parse::words(text).iter().map(|w| w.text.to_owned()).collect();
    let mut gaps = Vec::new();
    for thread in &file.threads {
        let locked = thread::locked_states(thread);
        for t in thread.transitions.iter().filter(|t| !locked.contains(t.to.text)) {
            let names = (0..).map(|n| match n {
                0 => format!("{}_fence", t.to.text),
                n => format!("{}_fence{n}", t.to.text),
            });
            let name = names.into_iter().find(|name| !taken.contains(name));
            let name = name.unwrap_or_default();
            taken.insert(name.clone());
            let edit = |range: Range<usize>, before, has_fence| Edit {
                range,
                before,
                has_fence,
                after: String::new(),
            };
            let line = text[..t.range.start].rfind('\n').map_or(0, |i| i + 1);
            let indent: String = text[line..].chars().take_while(|c| " \t".contains(*c)).collect();
            let on = format!("\n{indent}transition {name} {} ", t.to.text);
            let end = t.range.end;
            gaps.push(Gap {
                at: t.range.start,
                is_behind: true,
                edits: vec![edit(t.to.range.clone(), name, false), edit(end..end, on, true)],
            });
        }
    }
    gaps
}

/// Whether a text begins like a file of this language.
pub fn looks_like(text: &str) -> bool {
    let code = text.lines().map(str::trim_start).find(|l| !l.is_empty() && !l.starts_with('#'));
    let mut words = code.unwrap_or("").split_whitespace();
    match (words.next(), words.next(), words.next()) {
        (Some("memory_size"), Some(size), None) => size.parse::<u32>().is_ok(),
        (Some("thread"), Some(_), next) => next.is_none_or(|word| word == "initial"),
        _ => false,
    }
}

/// Reads a program.
///
/// # Errors
/// All the errors that were found, in the order of the text; never empty.
pub fn read(name: &str, text: &str) -> Result<(Program, Source), Vec<Diagnostic>> {
    let stem = Path::new(name).file_stem().map_or(name.into(), |stem| stem.to_string_lossy());
    let file = parse::file(text).map_err(|error| vec![error])?;
    let mut errors = Errors::default();
    let mut source = Source::new(name, text);
    let mut program = Program { name: stem.into_owned(), ..Program::default() };
    if let Some(thread) = file.threads.get(MAX_PROCESSES) {
        let message = format!("there are more than {MAX_PROCESSES} threads");
        return Err(vec![Diagnostic::new(message, thread.name.range.clone())]);
    }
    let memory = Memory::new(&file, &mut program, &mut errors);
    if !errors.is_empty() {
        return Err(errors.sorted());
    }
    let mut ends = Vec::new();
    for (p, thread) in file.threads.iter().enumerate() {
        let (process, end) = thread::lower(thread, &memory, &mut source, &mut errors);
        program.processes.push(process);
        if let Some(label) = end {
            ends.push(Expr::Atom(Atom::At(ProcessId::new(p), label)));
        }
    }
    if !errors.is_empty() {
        return Err(errors.sorted());
    }
    // Whether all threads can end where they say, if any says so.
    if let Some(formula) = ends.into_iter().reduce(|a, b| Expr::binary(BinOp::And, a, b)) {
        let first = file.threads.iter().find_map(|t| t.end.as_ref()).map(|e| e.range.clone());
        let span = source.span(first.unwrap_or(0..0));
        let kind = PropertyKind::Final(Quantifier::Exists, formula);
        program.properties.push(Property { name: Some("ends".to_owned()), kind, span });
    } else {
        if !program.processes.iter().any(|p| choice::is_hasty(&p.body)) {
            let kind = PropertyKind::NoDeadlock(vec![]);
            program.properties.push(Property { name: None, kind, span: SpanId::NONE });
        }
        source.besides = Some(crate::BESIDES);
    }
    Ok((program, source))
}
