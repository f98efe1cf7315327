//! The initial section: `x=1; int t[2]={1,2}; 0:EAX=x; …`.
//!
//! Types are read and forgotten: values have no size here.

use std::ops::Range;

use super::cursor::Cursor;
use super::lexer::Kind;
use super::test::{MAX_VARS, Test, Value};
use crate::Diagnostic;

/// Reads the items between the braces.
pub(super) fn read(test: &mut Test, mut tokens: Cursor<'_, '_>) {
    while !tokens.is_done() && !test.errors.is_full() {
        if tokens.sign(";") {
            continue;
        }
        let result = item(test, &mut tokens).and_then(|()| match tokens.peek() {
            None | Some(Kind::Sign(";")) => Ok(()),
            _ => Err(tokens.expected("`;`")),
        });
        if test.errors.take(result).is_none() {
            while !matches!(tokens.peek(), None | Some(Kind::Sign(";"))) {
                tokens.next();
            }
        }
    }
}

/// One item, without the `;` that ends it.
fn item(test: &mut Test, tokens: &mut Cursor<'_, '_>) -> Result<(), Diagnostic> {
    skip_type(tokens);
    if let Some((thread, thread_range)) = thread_prefix(tokens) {
        let thread = test.thread(thread, thread_range);
        let (name, range) = tokens.word("a register")?;
        let value = scalar(test, tokens)?;
        return register(test, thread?, name, range, value);
    }
    if tokens.sign("[") {
        let (name, range) = tokens.word("a variable")?;
        test.refuse_register(name, &range)?;
        tokens.expect("]")?;
        let value = scalar(test, tokens)?;
        return test.declare(name, range, None, vec![value]);
    }
    let (name, range) = tokens.word("a variable or a register")?;
    test.refuse_register(name, &range)?;
    if tokens.sign("[") {
        return array(test, tokens, name, range);
    }
    let value = scalar(test, tokens)?;
    test.declare(name, range, None, vec![value])
}

/// A word is part of a type if the name of something can still come after it.
fn skip_type(tokens: &mut Cursor<'_, '_>) {
    loop {
        match (tokens.peek(), tokens.peek_at(1), tokens.peek_at(2)) {
            (Some(Kind::Sign("*")), ..)
            | (Some(Kind::Word(_)), Some(Kind::Word(_) | Kind::Number(_) | Kind::Sign("*")), _)
            | (Some(Kind::Word(_)), Some(Kind::Sign("[")), Some(Kind::Word(_))) => {
                tokens.next();
            }
            _ => return,
        }
    }
}

/// Takes `0:` or `P0:`.
pub(super) fn thread_prefix(tokens: &mut Cursor<'_, '_>) -> Option<(i128, Range<usize>)> {
    let number = match (tokens.peek()?, tokens.peek_at(1)?) {
        (Kind::Number(number), Kind::Sign(":")) => number,
        (Kind::Word(word), Kind::Sign(":")) => word.strip_prefix('P')?.parse().ok()?,
        _ => return None,
    };
    let range = tokens.range();
    tokens.next();
    tokens.next();
    Some((number, range))
}

/// The initial value of a register.
fn register(
    test: &mut Test,
    thread: usize,
    name: &str,
    range: Range<usize>,
    value: Value,
) -> Result<(), Diagnostic> {
    let register = test.register(thread, name, range.clone())?;
    match test.threads[thread].init.insert(register, (value, range.clone())) {
        None => Ok(()),
        Some((_, earlier)) => {
            let message = format!("`{thread}:{name}` has an initial value already");
            Err(Diagnostic::new(message, range).note(earlier, "given here"))
        }
    }
}

/// An array, after the `[`.
fn array(
    test: &mut Test,
    tokens: &mut Cursor<'_, '_>,
    name: &str,
    range: Range<usize>,
) -> Result<(), Diagnostic> {
    let len_range = tokens.range();
    let len = tokens.number().ok_or_else(|| tokens.expected("the number of elements"))?;
    tokens.expect("]")?;
    let mut values = vec![];
    if tokens.sign("=") {
        if !tokens.sign("{") {
            return Err(Diagnostic::new(
                format!("the elements of `{name}` get their values together"),
                tokens.since(range.start),
            )
            .help(format!("for instance `int {name}[2]={{1,2}}`")));
        }
        while !tokens.sign("}") {
            values.push(value(test, tokens)?);
            if !tokens.sign(",") && tokens.peek() != Some(Kind::Sign("}")) {
                return Err(tokens.expected("`,` or `}`"));
            }
        }
    }
    let count = usize::try_from(len).ok().filter(|&n| n > 0 && n <= MAX_VARS).ok_or_else(|| {
        Diagnostic::new(format!("an array has 1 to {MAX_VARS} elements, not {len}"), len_range)
    })?;
    if values.len() > count {
        let message =
            format!("{} values do not fit the array `{name}` of length {count}", values.len());
        return Err(Diagnostic::new(message, tokens.since(range.start)));
    }
    values.resize(count, Value::Number(0));
    test.declare(name, range, u32::try_from(count).ok(), values)
}

/// `= value`, or nothing for 0.
fn scalar(test: &mut Test, tokens: &mut Cursor<'_, '_>) -> Result<Value, Diagnostic> {
    if tokens.sign("=") { value(test, tokens) } else { Ok(Value::Number(0)) }
}

/// A number, an address (`x` or `&x`), or a number in a macro (`ATOMIC_INIT(1)`).
fn value(test: &mut Test, tokens: &mut Cursor<'_, '_>) -> Result<Value, Diagnostic> {
    if let Some(number) = tokens.number() {
        return Ok(Value::Number(number));
    }
    tokens.sign("&");
    let (name, range) = tokens.word("a number or a variable")?;
    if name == "ATOMIC_INIT" && tokens.sign("(") {
        let number = tokens.number().ok_or_else(|| tokens.expected("a number"))?;
        tokens.expect(")")?;
        return Ok(Value::Number(number));
    }
    test.refuse_register(name, &range)?;
    Ok(test.address(name, &range))
}
