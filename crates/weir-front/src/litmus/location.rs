//! Parts of a state that a test names: `x`, `[x]`, `t[1]`, `0:EAX`, `P0:EAX`.

use std::collections::HashSet;
use std::ops::Range;

use weir_model::ids::{ProcessId, RegId};

use super::cursor::Cursor;
use super::init::thread_prefix;
use super::lexer::Kind;
use super::mnemonic::Flag;
use super::test::{SymbolId, Test};
use crate::Diagnostic;

/// What a proposition speaks of, before variables have their numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Leaf {
    Register(ProcessId, RegId),
    /// An element of an array; 0 for a variable.
    Memory(SymbolId, usize),
    Address(SymbolId),
}

/// `[x; 0:EAX; y int; …]`; an array stands for all its elements.
pub(super) fn locations(
    test: &mut Test,
    tokens: &mut Cursor<'_, '_>,
) -> Result<Vec<Leaf>, Diagnostic> {
    let mut locations = vec![];
    // Each name once: there may be more mentions of a long array than fit memory.
    let mut listed = HashSet::new();
    tokens.expect("[")?;
    while !tokens.sign("]") {
        if tokens.sign(";") {
            continue;
        }
        match (tokens.peek(), tokens.peek_at(1)) {
            (Some(Kind::Word(name)), next) if !matches!(next, Some(Kind::Sign(":" | "["))) => {
                let range = tokens.range();
                tokens.next();
                test.refuse_register(name, &range)?;
                let symbol = test.symbol(name, &range);
                if listed.insert(symbol) {
                    let len = test.array_len(symbol).unwrap_or(1) as usize;
                    locations.extend((0..len).map(|element| Leaf::Memory(symbol, element)));
                }
            }
            _ => {
                let location = location(test, tokens);
                locations.push(location?);
            }
        }
        while let Some(Kind::Word(_) | Kind::Sign("*")) = tokens.peek() {
            tokens.next();
        }
        if !matches!(tokens.peek(), Some(Kind::Sign(";" | "]"))) {
            return Err(tokens.expected("`;` or `]`"));
        }
    }
    Ok(locations)
}

/// `x`, `[x]`, `x[1]`, `0:EAX` or `P0:EAX`.
pub(super) fn location(test: &mut Test, tokens: &mut Cursor<'_, '_>) -> Result<Leaf, Diagnostic> {
    if let Some((thread, range)) = thread_prefix(tokens) {
        let thread = test.thread(thread, range);
        let (name, range) = tokens.word("a register")?;
        return register(test, thread?, name, range);
    }
    let bracketed = tokens.sign("[");
    let (name, range) = tokens.word("a proposition")?;
    let mut index = None;
    if tokens.sign("[") {
        let range = tokens.range();
        let number = tokens.number();
        index = Some((number.ok_or_else(|| tokens.expected("a number"))?, range));
        tokens.expect("]")?;
    }
    if bracketed {
        tokens.expect("]")?;
    }
    test.refuse_register(name, &range)?;
    let symbol = test.symbol(name, &range);
    let element = element(test, symbol, name, range, index, bracketed)?;
    Ok(Leaf::Memory(symbol, element))
}

/// A flag or a register.
fn register(
    test: &mut Test,
    thread: usize,
    name: &str,
    range: Range<usize>,
) -> Result<Leaf, Diagnostic> {
    let register = match Flag::ALL.iter().any(|flag| flag.name() == name) {
        true => test.named_register(thread, name, false, range),
        false => test.register(thread, name, range)?,
    };
    Ok(Leaf::Register(ProcessId::new(thread), register))
}

/// The element that is meant; `[x]` is the first one of an array.
fn element(
    test: &Test,
    symbol: SymbolId,
    name: &str,
    range: Range<usize>,
    index: Option<(i128, Range<usize>)>,
    bracketed: bool,
) -> Result<usize, Diagnostic> {
    match (test.array_len(symbol), index) {
        (None, None) => Ok(0),
        (Some(_), None) if bracketed => Ok(0),
        (Some(_), None) => Err(Diagnostic::new(format!("`{name}` is an array"), range)
            .help(format!("name an element: `{name}[0]`"))),
        (None, Some(_)) => Err(Diagnostic::new(format!("`{name}` is not an array"), range)),
        (Some(len), Some((index, at))) => {
            let element = usize::try_from(index).ok().filter(|&i| i < len as usize);
            element.ok_or_else(|| {
                let message = format!("`{name}` has elements 0 to {}, not {index}", len - 1);
                Diagnostic::new(message, at)
            })
        }
    }
}
