//! From a tree to a program.

use std::collections::HashMap;

use weir_model::ids::{ProcessId, SpanId};
use weir_model::program::{
    Atom, BinOp, Expr, Formula, Label, MAX_PROCESSES, Program, Property, PropertyKind,
};

use super::lexer::Token;
use super::memory::Memory;
use super::process;
use super::tree::{At, File, Labeled, Process, Stmt};
use crate::choice;
use crate::errors::{Errors, counted, did_you_mean, quote};
use crate::{Diagnostic, MAX_ARRAY, Source};

/// How many variables, and how many registers, labels or statements in one
/// process: their numbers have 16 bits.
pub const MAX_NUMBERED: usize = 60_000;

/// What is known of a file.
pub struct Context<'s, 't> {
    pub tokens: &'s [Token<'t>],
    pub program: Program,
    pub source: Source,
    pub errors: Errors,
    /// Bounds from outside, for what may be anything at first.
    pub bounds: &'s [(String, i128, i128)],
    spans: HashMap<(At, At), SpanId>,
}

impl<'s, 't> Context<'s, 't> {
    pub fn token(&self, at: At) -> &'s Token<'t> {
        &self.tokens[at]
    }

    pub fn text(&self, at: At) -> &'t str {
        self.tokens[at].text
    }

    pub fn error(&mut self, error: Diagnostic) {
        self.errors.push(error);
    }

    /// The place of the tokens from one to before another.
    pub fn span(&mut self, from: At, to: At) -> SpanId {
        if let Some(span) = self.spans.get(&(from, to)) {
            return *span;
        }
        let first = self.tokens[from].range.clone();
        let last = self.tokens[to.max(from + 1) - 1].range.end;
        // What macros made may end before it begins.
        let range = if last > first.start { first.start..last } else { first };
        let span = self.source.span(range);
        self.spans.insert((from, to), span);
        span
    }
}

/// Lowers a file.
///
/// # Errors
/// All that were found.
pub fn file<'s, 't>(
    name: &str,
    tokens: &'s [Token<'t>],
    file: &File,
    source: Source,
    errors: Errors,
    bounds: &'s [(String, i128, i128)],
) -> Result<(Program, Source), Errors> {
    let program = Program { name: name.to_owned(), ..Program::default() };
    let mut cx = Context { tokens, program, source, errors, bounds, spans: HashMap::new() };
    if file.has_sync {
        let note = "`syncwr` of the model VIPS is read as a locked write, and `syncrd` as a read";
        cx.source.notes.push(note.to_owned());
    }
    let mut processes: Vec<&Process> = Vec::new();
    for process in &file.processes {
        processes.extend(std::iter::repeat_n(process, process.copies));
    }
    if processes.len() > MAX_PROCESSES || processes.is_empty() {
        let message = match processes.is_empty() {
            true => "there are no copies of any process".to_owned(),
            false => format!(
                "there are {} processes; at most {MAX_PROCESSES} are allowed",
                processes.len()
            ),
        };
        cx.error(tokens[0].error(message));
        return Err(cx.errors);
    }
    let memory = Memory::new(&mut cx, file, &processes);
    let uses_pointers = has_pointers(file);
    if uses_pointers && memory.global_count > MAX_ARRAY as usize {
        let message = format!("a pointer may choose from at most {MAX_ARRAY} variables");
        cx.error(tokens[0].error(message));
    }
    // All that pointers point to may be printed as one array, which has one domain.
    let globals = &mut cx.program.vars[..memory.global_count.min(file.data.len())];
    if uses_pointers && globals.windows(2).any(|w| w[0].domain != w[1].domain) {
        globals.iter_mut().for_each(|decl| decl.domain = None);
    }
    for (number, process) in processes.iter().enumerate() {
        if !process::lower(&mut cx, &memory, number, process) {
            break;
        }
    }
    if cx.errors.is_empty() && file.forbidden.is_empty() {
        if !cx.program.processes.iter().any(|p| choice::is_hasty(&p.body)) {
            let kind = PropertyKind::NoDeadlock(vec![]);
            cx.program.properties.push(Property { name: None, kind, span: SpanId::NONE });
        }
        cx.source.besides = Some(crate::BESIDES);
    }
    if cx.errors.is_empty() {
        forbidden(&mut cx, file);
    }
    if cx.errors.is_empty() { Ok((cx.program, cx.source)) } else { Err(cx.errors) }
}

/// Whether some place in the file is a pointer.
fn has_pointers(file: &File) -> bool {
    use super::tree::Loc;
    let mut work: Vec<&Labeled> = file.processes.iter().flat_map(|p| &p.text).collect();
    while let Some(Labeled { stmt, .. }) = work.pop() {
        match stmt {
            Stmt::Await(Loc::Pointer(..), _)
            | Stmt::Read(_, Loc::Pointer(..))
            | Stmt::Write(_, Loc::Pointer(..), _)
            | Stmt::Cas(Loc::Pointer(..), ..) => return true,
            Stmt::If(_, then, other) => {
                work.push(then);
                work.extend(other.as_deref());
            }
            Stmt::While(_, body) => work.push(body),
            Stmt::Either(choices) | Stmt::Locked(choices) => work.extend(choices.iter().flatten()),
            Stmt::Block(body) => work.extend(body),
            _ => {}
        }
    }
    false
}

/// The property: no row of `forbidden` is reached.
fn forbidden(cx: &mut Context<'_, '_>, file: &File) {
    let count = cx.program.processes.len();
    let mut rows = Vec::new();
    for row in &file.forbidden {
        let first = cx.token(row[0]);
        if row.len() != count {
            let entries = counted(row.len(), "entry", "entries");
            let processes = counted(count, "process", "processes");
            let message = format!("this row has {entries} for {processes}");
            cx.error(first.error(message).help("each process has an entry; `*` is any place"));
            continue;
        }
        let mut atoms = Vec::new();
        for (p, &at) in row.iter().enumerate() {
            let token = cx.token(at);
            if token.is("*") {
                continue;
            }
            let labels = &cx.program.processes[p].labels;
            match labels.iter().position(|l: &Label| l.name == token.text) {
                Some(label) => {
                    let label = weir_model::ids::LabelId::new(label);
                    atoms.push(Expr::Atom(Atom::At(ProcessId::new(p), label)));
                }
                None => {
                    let message = format!("process P{p} has no label {}", quote(token.text));
                    let names = labels.iter().map(|l| l.name.as_str());
                    let error = did_you_mean(token.error(message), token.text, names);
                    cx.error(error);
                }
            }
        }
        rows.push(joined(BinOp::And, atoms).unwrap_or(Expr::Const(1)));
    }
    let (Some(first), Some(last)) = (file.forbidden.first(), file.forbidden.last()) else { return };
    let span = cx.span(first[0], last[last.len() - 1] + 1);
    let formula = joined(BinOp::Or, rows).unwrap_or(Expr::Const(0));
    let (name, kind) = (Some("forbidden".to_owned()), PropertyKind::Never(formula));
    cx.program.properties.push(Property { name, kind, span });
}

/// `a op b op …`; many are joined like a tree, which does not nest deep.
fn joined(op: BinOp, mut parts: Vec<Formula>) -> Option<Formula> {
    if parts.len() > 8 {
        let right = parts.split_off(parts.len() / 2);
        let (left, right) = (joined(op, parts)?, joined(op, right)?);
        return Some(Expr::binary(op, left, right));
    }
    parts.into_iter().reduce(|a, b| Expr::binary(op, a, b))
}
