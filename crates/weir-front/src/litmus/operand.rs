//! Operands of instructions: registers, constants and places in memory.

use std::ops::Range;

use weir_model::ids::RegId;

use super::cursor::Cursor;
use super::dialect::{Dialect, RegisterName};
use super::lexer::Kind;
use super::test::{SymbolId, Test, Value};
use crate::Diagnostic;

/// The largest scale of an index.
const MAX_SCALE: i128 = 4096;

/// An operand.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Operand {
    Register(RegId),
    Constant(Value),
    Memory(Address),
}

/// A place in memory.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Address {
    /// `[x]`, `(x)`
    Direct(SymbolId),
    /// `offset(base,index,scale)`: the place whose address is the sum
    /// `offset + base + index * scale`.
    Computed { offset: i128, base: Option<RegId>, index: Option<(RegId, i128)> },
}

/// Takes one operand of an instruction of `thread`.
pub(super) fn operand(
    test: &mut Test,
    thread: usize,
    tokens: &mut Cursor<'_, '_>,
) -> Result<(Operand, Range<usize>), Diagnostic> {
    let start = tokens.range().start;
    skip_segment(tokens);
    let operand = if tokens.sign("$") {
        constant(test, tokens)?
    } else if let Some(offset) = tokens.number() {
        match tokens.peek() {
            Some(Kind::Sign("(" | "[")) => memory(test, thread, tokens, Some(offset))?,
            _ => Operand::Constant(Value::Number(offset)),
        }
    } else if let Some(Kind::Sign("(" | "[")) = tokens.peek() {
        memory(test, thread, tokens, None)?
    } else if let Some(place) = relative(test, tokens)? {
        place
    } else {
        let marked = tokens.sign("%");
        let (name, range) = tokens.word("an operand")?;
        if !marked && test.dialect.register(name) == RegisterName::Unknown {
            return Err(no_register(test, name, range));
        }
        Operand::Register(test.register(thread, name, range)?)
    };
    Ok((operand, tokens.since(start)))
}

/// Takes a segment before a place in memory: `%cs:`. All but `fs` and `gs` begin at address 0.
fn skip_segment(tokens: &mut Cursor<'_, '_>) {
    let marked = usize::from(matches!(tokens.peek(), Some(Kind::Sign("%"))));
    let Some(Kind::Word(name)) = tokens.peek_at(marked) else { return };
    let is_flat = ["cs", "ds", "es", "ss"].iter().any(|segment| name.eq_ignore_ascii_case(segment));
    if is_flat && tokens.peek_at(marked + 1) == Some(Kind::Sign(":")) {
        (0..marked + 2).for_each(|_| {
            tokens.next();
        });
    }
}

/// `x(%rip)`: the variable `x`, by its distance from the instruction.
fn relative(test: &mut Test, tokens: &mut Cursor<'_, '_>) -> Result<Option<Operand>, Diagnostic> {
    let (Some(Kind::Word(name)), Some(Kind::Sign("("))) = (tokens.peek(), tokens.peek_at(1)) else {
        return Ok(None);
    };
    let marked = usize::from(tokens.peek_at(2) == Some(Kind::Sign("%")));
    let is_pointer = matches!(
        tokens.peek_at(2 + marked),
        Some(Kind::Word(word)) if ["rip", "eip"].iter().any(|n| word.eq_ignore_ascii_case(n))
    );
    if !is_pointer || test.dialect.register(name) != RegisterName::Unknown {
        return Ok(None);
    }
    let range = tokens.range();
    (0..3 + marked).for_each(|_| {
        tokens.next();
    });
    tokens.expect(")")?;
    Ok(Some(Operand::Memory(Address::Direct(test.symbol(name, &range)))))
}

/// The error for a name that stands alone and is no register: probably a
/// variable without its brackets, unless it looks like a register.
fn no_register(test: &mut Test, name: &str, range: Range<usize>) -> Diagnostic {
    let error = match test.register(0, name, range.clone()) {
        Err(error) if error.help.is_some() => return error,
        _ => Diagnostic::new(format!("`{name:.40}` is not a register"), range),
    };
    error.help(match test.dialect {
        Dialect::X86 => format!("memory is written `[{name:.40}]`"),
        Dialect::X86_64 | Dialect::C => format!("memory is written `({name:.40})`"),
    })
}

/// A constant, after the `$`: a number, or the address of a variable.
fn constant(test: &mut Test, tokens: &mut Cursor<'_, '_>) -> Result<Operand, Diagnostic> {
    if let Some(number) = tokens.number() {
        return Ok(Operand::Constant(Value::Number(number)));
    }
    let (name, range) = tokens.word("a number or a variable")?;
    test.refuse_register(name, &range)?;
    Ok(Operand::Constant(test.address(name, &range)))
}

/// A place in memory, from its bracket on; `offset` stood before it.
fn memory(
    test: &mut Test,
    thread: usize,
    tokens: &mut Cursor<'_, '_>,
    offset: Option<i128>,
) -> Result<Operand, Diagnostic> {
    let close = if tokens.sign("[") { "]" } else { ")" };
    if close == ")" {
        tokens.expect("(")?;
    }
    if let (Some(Kind::Word(name)), None) = (tokens.peek(), offset)
        && test.dialect.register(name) == RegisterName::Unknown
    {
        let range = tokens.range();
        tokens.next();
        tokens.expect(close)?;
        return Ok(Operand::Memory(Address::Direct(test.symbol(name, &range))));
    }
    let base = match tokens.peek() {
        Some(Kind::Sign(",")) => None,
        _ => Some(register(test, thread, tokens)?),
    };
    let mut index = None;
    if tokens.sign(",") {
        let register = register(test, thread, tokens)?;
        index = Some((register, if tokens.sign(",") { scale(tokens)? } else { 1 }));
    }
    tokens.expect(close)?;
    test.uses_addresses = true;
    Ok(Operand::Memory(Address::Computed { offset: offset.unwrap_or(0), base, index }))
}

fn register(
    test: &mut Test,
    thread: usize,
    tokens: &mut Cursor<'_, '_>,
) -> Result<RegId, Diagnostic> {
    tokens.sign("%");
    let (name, range) = tokens.word("a register")?;
    test.register(thread, name, range)
}

fn scale(tokens: &mut Cursor<'_, '_>) -> Result<i128, Diagnostic> {
    let range = tokens.range();
    match tokens.number() {
        // Processors have 1, 2, 4 and 8; the format has any.
        Some(scale @ 0..=MAX_SCALE) => Ok(scale),
        Some(scale) => {
            let message = format!("a scale is at most {MAX_SCALE} and not negative, not {scale}");
            Err(Diagnostic::new(message, range))
        }
        None => Err(tokens.expected("a scale")),
    }
}
