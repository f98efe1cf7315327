//! The code: a table with one column per thread and one instruction per cell.

use std::ops::Range;

use weir_model::program::MAX_PROCESSES;

use super::cursor::Cursor;
use super::instruction::{Instruction, instruction, is_lock};
use super::lexer::{Kind, Token};
use super::test::Test;
use crate::Diagnostic;

/// Something in a column.
#[derive(Debug)]
pub(super) enum Item {
    /// `L:`
    Label(String, Range<usize>),
    Instruction(Instruction),
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

/// Reads the rows after the first one; the answer has one list per thread.
pub(super) fn read(test: &mut Test, tokens: &[Token<'_>]) -> Vec<Vec<Item>> {
    let threads = test.threads.len();
    let mut code: Vec<Vec<Item>> = (0..threads).map(|_| vec![]).collect();
    let mut row = 0;
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
                read_row(test, tokens, row..at, &cells, &mut code);
                cells.clear();
                row = at + 1;
            }
            _ => {}
        }
    }
    if let (Some(first), Some(last)) = (tokens.get(row), tokens.last()) {
        let range = first.range.start..last.range.end;
        test.errors.push(Diagnostic::new("this row of the table does not end in `;`", range));
    }
    code
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
