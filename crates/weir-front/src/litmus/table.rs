//! The code: a table with one column per thread and one instruction per cell.

use crate::columns::spaces;
use std::cmp::Ordering;
use std::ops::Range;

use weir_model::program::MAX_PROCESSES;

use super::cursor::Cursor;
use super::instruction::{Instruction, instruction, is_lock};
use super::lexer::{Kind, Token};
use super::test::Test;
use crate::Diagnostic;
use crate::gaps::{Edit, Gap};

/// Something in a column.
#[derive(Debug)]
pub(super) enum Item {
    /// `L:`
    Label(String, Range<usize>),
    Instruction(Instruction),
}

impl Item {
    /// The instruction, if it is one.
    pub fn instruction(&self) -> Option<&Instruction> {
        match self {
            Self::Instruction(instruction) => Some(instruction),
            Self::Label(..) => None,
        }
    }

    /// The name of the label, if it is one.
    pub fn label(&self) -> Option<&str> {
        match self {
            Self::Label(name, _) => Some(name),
            Self::Instruction(_) => None,
        }
    }
}

/// Reads the first row, `P0 | P1 | … ;`. Returns the number of threads and the
/// number of tokens of the row.
pub(super) fn columns(tokens: &[Token<'_>], end: usize) -> Result<(usize, usize), Diagnostic> {
    let missing =
        |range| Diagnostic::new("the code is a table that begins with `P0 | P1 | … ;`", range);
    let Some(len) = tokens.iter().position(|t| t.kind == Kind::Sign(";")) else {
        return Err(missing(tokens.first().map_or(end..end, |first| first.range.clone())));
    };
    let mut threads = 0;
    for cell in tokens[..len].split(|t| t.kind == Kind::Sign("|")) {
        let name = format!("P{threads}");
        match cell {
            [Token { kind: Kind::Word(word), .. }] if *word == name => threads += 1,
            [Token { kind: Kind::Word(word), range }] if threads > 0 || word.starts_with('P') => {
                let message = format!("this column should be `{name}`, not `{word:.40}`");
                return Err(Diagnostic::new(message, range.clone())
                    .help("columns are numbered from left to right, from 0"));
            }
            _ => {
                let first = cell.first().unwrap_or(&tokens[len]);
                return Err(missing(first.range.clone()));
            }
        }
        if threads > MAX_PROCESSES {
            let message = format!("at most {MAX_PROCESSES} threads are read");
            return Err(Diagnostic::new(message, cell[0].range.clone()));
        }
    }
    Ok((threads, len + 1))
}

/// Rows of the table: for each the number of its last token, `;`, and its cells.
fn rows(tokens: &[Token<'_>]) -> Vec<(usize, Vec<Range<usize>>)> {
    let mut rows = vec![];
    let mut cells: Vec<Range<usize>> = vec![];
    let mut cell = 0;
    for (at, token) in tokens.iter().enumerate() {
        match token.kind {
            Kind::Sign("|") => {
                cells.push(cell..at);
                cell = at + 1;
            }
            // `LOCK; INC [x]` is one instruction.
            Kind::Sign(";") if ends_in_lock(&tokens[cell..at]) => {}
            Kind::Sign(";") => {
                cells.push(cell..at);
                cell = at + 1;
                rows.push((at, std::mem::take(&mut cells)));
            }
            _ => {}
        }
    }
    rows
}

/// Reads the rows after the first one; the answer has one list per thread.
pub(super) fn read(test: &mut Test, tokens: &[Token<'_>]) -> Vec<Vec<Item>> {
    let threads = test.threads.len();
    let mut code: Vec<Vec<Item>> = (0..threads).map(|_| vec![]).collect();
    let mut row = 0;
    for (end, cells) in rows(tokens) {
        read_row(test, tokens, row..end, &cells, &mut code);
        row = end + 1;
    }
    if let (Some(first), Some(last)) = (tokens.get(row), tokens.last()) {
        let range = first.range.start..last.range.end;
        test.errors.push(Diagnostic::new("this row of the table does not end in `;`", range));
    }
    code
}

/// Where fences can be inserted, each in a row of its own: before each instruction, and behind
/// the last row.
pub(super) fn gaps(text: &str, tokens: &[Token<'_>], threads: usize) -> Vec<Gap> {
    let line_start = |at: usize| text[..at].rfind('\n').map_or(0, |i| i + 1);
    // A row with a fence in one column, as wide as the columns of another row.
    let fence_row = |(end, cells): &(usize, Vec<Range<usize>>), thread: usize| {
        let mut from = line_start(tokens[*end].range.start);
        let (mut before, mut after) = (String::new(), String::new());
        for (column, cell) in cells.iter().enumerate() {
            let to = tokens[cell.end].range.start;
            let width = text.get(from..to).map_or(0, |t| t.chars().count());
            from = tokens[cell.end].range.end;
            let sign = if column + 1 == cells.len() { ";" } else { "|" };
            match column.cmp(&thread) {
                Ordering::Less => before += &format!("{}|", spaces(width)),
                Ordering::Equal => {
                    before += " ";
                    after += &format!("{}{sign}", spaces(width.saturating_sub(7).max(1)));
                }
                Ordering::Greater => after += &format!("{}{sign}", spaces(width)),
            }
        }
        (before, after)
    };
    let rows: Vec<_> = rows(tokens).into_iter().filter(|(_, c)| c.len() == threads).collect();
    let mut gaps = Vec::new();
    for row in &rows {
        let first = row.1[0].start;
        let at = tokens[first].range.start;
        let own_line = text[line_start(at)..at].trim().is_empty();
        for thread in (0..threads).filter(|&t| !row.1[t].is_empty()) {
            let (before, after) = fence_row(row, thread);
            let (range, end) = match own_line {
                true => (line_start(at), "\n"),
                false => (at, " "),
            };
            let after = format!("{after}{end}");
            let edit = Edit { range: range..range, before, has_fence: true, after };
            let at = tokens[row.1[thread].start].range.start;
            gaps.push(Gap { at, is_behind: false, edits: vec![edit] });
        }
    }
    if let Some(last) = rows.last() {
        let end = tokens[last.0].range.end;
        for thread in 0..threads {
            let (before, after) = fence_row(last, thread);
            let before = format!("\n{before}");
            let edit = Edit { range: end..end, before, has_fence: true, after };
            gaps.push(Gap { at: end, is_behind: false, edits: vec![edit] });
        }
    }
    gaps
}

/// Whether a cell has nothing yet but labels and the prefix `LOCK`.
fn ends_in_lock(cell: &[Token<'_>]) -> bool {
    match cell {
        [.., before, last] => before.kind == Kind::Sign(":") && is_lock(last.kind),
        [only] => is_lock(only.kind),
        [] => false,
    }
}

fn read_row(
    test: &mut Test,
    tokens: &[Token<'_>],
    row: Range<usize>,
    cells: &[Range<usize>],
    code: &mut [Vec<Item>],
) {
    if row.is_empty() {
        return;
    }
    if cells.len() != code.len() {
        let message = format!("the table has {} columns, this row has {}", code.len(), cells.len());
        let range = tokens[row.start].range.start..tokens[row.end].range.end;
        test.errors.push(
            Diagnostic::new(message, range).help("a cell may be empty, but its `|` is required"),
        );
        return;
    }
    for (thread, cell) in cells.iter().enumerate() {
        if test.errors.is_full() {
            return;
        }
        let end = tokens[cell.end].range.start;
        let mut cursor = Cursor::new(&tokens[cell.clone()], end);
        let result = read_cell(test, thread, &mut cursor, &mut code[thread]);
        test.errors.take(result);
    }
}

/// Labels, and then an instruction or nothing.
fn read_cell(
    test: &mut Test,
    thread: usize,
    tokens: &mut Cursor<'_, '_>,
    code: &mut Vec<Item>,
) -> Result<(), Diagnostic> {
    while let (Some(Kind::Word(label)), Some(Kind::Sign(":"))) = (tokens.peek(), tokens.peek_at(1))
    {
        code.push(Item::Label(label.to_owned(), tokens.range()));
        tokens.next();
        tokens.next();
    }
    if !tokens.is_done() {
        code.push(Item::Instruction(instruction(test, thread, tokens)?));
    }
    Ok(())
}
