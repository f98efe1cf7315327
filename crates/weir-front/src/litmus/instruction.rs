//! One instruction: its name, and operands that go with it.

use std::ops::Range;

use super::cursor::Cursor;
use super::dialect::Dialect;
use super::lexer::Kind;
use super::mnemonic::{self, Operation, Update};
use super::operand::{Operand, operand};
use super::test::Test;
use crate::Diagnostic;
use crate::suggest::closest;
use weir_model::program::BinOp;

/// An instruction whose operands go with what it does.
#[derive(Debug)]
pub(super) struct Instruction {
    /// Its name in small letters.
    pub name: String,
    pub operation: Operation,
    /// Atomic.
    pub lock: bool,
    /// The operands, the destination first in either dialect. Where the
    /// operation implies the second one there is only one.
    pub operands: Vec<Operand>,
    /// The label that a jump leads to.
    pub target: Option<(String, Range<usize>)>,
    pub range: Range<usize>,
}

/// Whether a token is the prefix that makes an instruction atomic.
pub(super) fn is_lock(kind: Kind<'_>) -> bool {
    matches!(kind, Kind::Word(word) if word.eq_ignore_ascii_case("lock"))
}

/// Takes the instruction of a cell of `thread`, all that is left of it.
pub(super) fn instruction(
    test: &mut Test,
    thread: usize,
    tokens: &mut Cursor<'_, '_>,
) -> Result<Instruction, Diagnostic> {
    let start = tokens.range().start;
    let lock = tokens.peek().is_some_and(is_lock);
    if lock {
        tokens.next();
        tokens.sign(";");
    }
    let (name, name_range) = tokens.word("an instruction")?;
    let operation =
        mnemonic::operation(name).ok_or_else(|| unknown_instruction(name, name_range.clone()))?;
    let mut operands = vec![];
    let mut target = None;
    if let Operation::Jump(_) = operation {
        let (label, range) = tokens.word("a label")?;
        target = Some((label.to_owned(), range));
    } else if !tokens.is_done() {
        operands.push(operand(test, thread, tokens)?);
        while tokens.sign(",") {
            operands.push(operand(test, thread, tokens)?);
        }
    }
    tokens.finish()?;
    let range = tokens.since(start);
    // Compilers pad code with operands of `nop`, which are not accessed.
    if operation == Operation::Nop {
        operands.clear();
    }
    if operands.len() != arity(operation) {
        return Err(wrong_number(name, arity(operation), operands.len(), range));
    }
    if test.dialect == Dialect::X86_64 && destination_is_last(operation, &operands) {
        operands.reverse();
    }
    check_operands(test.dialect, name, operation, &operands)?;
    let (operands, places): (Vec<Operand>, Vec<Range<usize>>) = operands.into_iter().unzip();
    if lock && !can_lock(operation, &operands) {
        let at = start..places.first().map_or(name_range.end, |_| range.end);
        return Err(Diagnostic::new(format!("`{name}` cannot be locked here"), at)
            .help("`LOCK` goes with instructions that read memory and write to the same place"));
    }
    let name = name.to_ascii_lowercase();
    Ok(Instruction { name, operation, lock, operands, target, range })
}

fn unknown_instruction(name: &str, range: Range<usize>) -> Diagnostic {
    let error = Diagnostic::new(format!("Weir does not know the instruction `{name:.40}`"), range);
    match closest(name, mnemonic::NAMES) {
        Some(meant) if name.chars().any(|c| c.is_ascii_lowercase()) => {
            error.help(format!("did you mean `{}`?", meant.to_ascii_lowercase()))
        }
        Some(meant) => error.help(format!("did you mean `{meant}`?")),
        None => error,
    }
}

/// How many operands an operation has.
fn arity(operation: Operation) -> usize {
    match operation {
        Operation::Jump(_) | Operation::Fence(_) | Operation::Nop | Operation::Return => 0,
        Operation::Set(_) | Operation::Update(Update { implied: Some(_), .. }) => 1,
        _ => 2,
    }
}

fn wrong_number(name: &str, wanted: usize, found: usize, range: Range<usize>) -> Diagnostic {
    let wanted = ["no operand", "one operand", "two operands"][wanted];
    let found = match found {
        0 => "there is none".to_owned(),
        1 => "there is one".to_owned(),
        _ => format!("there are {found}"),
    };
    Diagnostic::new(format!("`{name}` takes {wanted}; {found}"), range)
}

/// Whether the order of the operands is reversed in X86_64.
///
/// The usual tools read `cmpxchg` with the memory first, an assembler with the
/// memory last. The source is a register, so the two cannot be confused.
fn destination_is_last(operation: Operation, operands: &[(Operand, Range<usize>)]) -> bool {
    let last_is_memory = matches!(operands.last(), Some((Operand::Memory(_), _)));
    operation != Operation::CompareExchange || last_is_memory
}

/// Refuses operands that do not go with the operation.
fn check_operands(
    dialect: Dialect,
    name: &str,
    operation: Operation,
    operands: &[(Operand, Range<usize>)],
) -> Result<(), Diagnostic> {
    use Operand::{Constant, Memory, Register};
    let Some((destination, place)) = operands.first() else { return Ok(()) };
    let refuse = |why: &str, place: &Range<usize>| {
        Err(Diagnostic::new(format!("`{name}` {why}"), place.clone()))
    };
    let order = match dialect {
        Dialect::X86 => "in X86 the destination comes first",
        Dialect::X86_64 | Dialect::C => "in X86_64 the destination comes last",
    };
    if matches!(destination, Constant(_)) && operation != Operation::Test {
        let error = refuse("has a register or memory for its destination, not a constant", place);
        return error.map_err(|error| error.help(order));
    }
    let is_conditional_move = matches!(operation, Operation::ConditionalMove(_));
    if is_conditional_move && !matches!(destination, Register(_)) {
        return refuse("writes to a register only", place);
    }
    let Some((source, source_place)) = operands.get(1) else { return Ok(()) };
    let is_shift = matches!(operation, Operation::Update(Update { op: BinOp::Shl, .. }));
    match (operation, source) {
        (Operation::CompareExchange | Operation::ExchangeAdd, Constant(_) | Memory(_)) => {
            refuse("has a register for its source", source_place)
        }
        (Operation::Exchange | Operation::ConditionalMove(_), Constant(_)) => {
            refuse("has no constant operand", source_place)
        }
        (_, Memory(_)) if is_shift => refuse("shifts by a constant or a register", source_place),
        (_, Memory(_)) if matches!(destination, Memory(_)) => {
            // The usual tools read this much in X86.
            if operation == Operation::Move && dialect == Dialect::X86 {
                return Ok(());
            }
            refuse("has at most one operand in memory", source_place)
        }
        _ => Ok(()),
    }
}

/// Whether the prefix `LOCK` goes with the instruction.
fn can_lock(operation: Operation, operands: &[Operand]) -> bool {
    let memory = |operand: &Operand| matches!(operand, Operand::Memory(_));
    match operation {
        Operation::Exchange => operands.iter().any(memory),
        Operation::Update(update) => update.op != BinOp::Shl && memory(&operands[0]),
        Operation::CompareExchange | Operation::ExchangeAdd => memory(&operands[0]),
        _ => false,
    }
}
