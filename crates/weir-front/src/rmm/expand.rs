//! Macros: `macro m(a, b) … endmacro` is taken out of the text, and `m(x, y)`
//! becomes what stands between, with `x` for `a` and `y` for `b`.
//!
//! What comes from a macro keeps two places: where the macro is used, and where
//! in the macro it stands. An argument keeps its own place, which is at the use.

use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

use super::lexer::{Inside, Kind, Token};
use crate::errors::{counted, quote};
use crate::{Diagnostic, MAX_NESTING};

/// The most tokens that macros may make.
const MAX_TOKENS: usize = 400_000;

/// Expands all macros.
///
/// # Errors
/// At the first macro that is wrong, or used wrongly.
pub fn expand<'t>(tokens: Vec<Token<'t>>) -> Result<Vec<Token<'t>>, Diagnostic> {
    let (macros, rest) = definitions(tokens)?;
    if macros.is_empty() {
        return Ok(rest);
    }
    let mut expander = Expander { macros: &macros, made: 0 };
    expander.expand(&rest, &mut Vec::new())
}

struct Macro<'t> {
    parameters: Vec<&'t str>,
    body: Vec<Token<'t>>,
}

type Macros<'t> = HashMap<&'t str, Macro<'t>>;

/// The macros, and the tokens without their definitions.
fn definitions<'t>(tokens: Vec<Token<'t>>) -> Result<(Macros<'t>, Vec<Token<'t>>), Diagnostic> {
    let mut macros = Macros::new();
    let mut rest = Vec::new();
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        if !token.is("macro") {
            rest.push(token);
            continue;
        }
        let mut next = || tokens.next().ok_or_else(|| token.error("this macro is not complete"));
        let name = next()?;
        if name.kind != Kind::Word {
            return Err(name.error("a macro needs a name").help("as in `macro m(x) … endmacro`"));
        }
        if macros.contains_key(name.text) {
            return Err(name.error(format!("there are two macros {}", quote(name.text))));
        }
        let open = next()?;
        if !open.is("(") {
            return Err(open.error("`(` is missing: a macro has parameters, if only none"));
        }
        let mut parameters = Vec::new();
        let mut parameter = next()?;
        while !(parameter.is(")") && parameters.is_empty()) {
            if parameter.kind != Kind::Word {
                return Err(parameter.error("a parameter is a name"));
            }
            if parameters.contains(&parameter.text) {
                let name = quote(parameter.text);
                return Err(parameter.error(format!("there are two parameters {name}")));
            }
            parameters.push(parameter.text);
            let after = next()?;
            if after.is(")") {
                break;
            }
            if !after.is(",") {
                return Err(after.error("`,` or `)` is missing after this parameter"));
            }
            parameter = next()?;
        }
        let mut body = Vec::new();
        loop {
            let part = next()?;
            if part.is("endmacro") {
                break;
            }
            if part.is("macro") {
                return Err(part.error("a macro cannot be defined inside a macro"));
            }
            if part.kind == Kind::End {
                let message = format!("macro {} does not end", quote(name.text));
                return Err(name.error(message).help("end it with `endmacro`"));
            }
            body.push(part);
        }
        macros.insert(name.text, Macro { parameters, body });
    }
    Ok((macros, rest))
}

struct Expander<'m, 't> {
    macros: &'m Macros<'t>,
    /// How many tokens came from macros.
    made: usize,
}

impl<'t> Expander<'_, 't> {
    /// `active` are the macros that are being expanded.
    fn expand(
        &mut self,
        tokens: &[Token<'t>],
        active: &mut Vec<&'t str>,
    ) -> Result<Vec<Token<'t>>, Diagnostic> {
        let mut out = Vec::new();
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            at += 1;
            let called = tokens.get(at).is_some_and(|t| t.is("("));
            let found = (token.kind == Kind::Word && called).then(|| self.macros.get(token.text));
            let Some(found) = found.flatten() else {
                out.push(token.clone());
                continue;
            };
            if active.contains(&token.text) {
                let message = format!("macro {} uses itself", quote(token.text));
                return Err(token.error(message));
            }
            if active.len() >= MAX_NESTING {
                return Err(token.error(format!("macros nest more than {MAX_NESTING} deep here")));
            }
            let (arguments, end) = arguments(tokens, at, token)?;
            at = end;
            if arguments.len() != found.parameters.len() {
                let wanted = counted(found.parameters.len(), "argument", "arguments");
                let (name, given) = (quote(token.text), arguments.len());
                return Err(token.error(format!("macro {name} takes {wanted}, and gets {given}")));
            }
            let mut expanded = Vec::new();
            for argument in arguments {
                expanded.push(self.expand(argument, active)?);
            }
            let body = self.instance(token, found, &expanded)?;
            active.push(token.text);
            out.extend(self.expand(&body, active)?);
            active.pop();
        }
        Ok(out)
    }

    /// The body of a macro with arguments for its parameters.
    fn instance(
        &mut self,
        call: &Token<'t>,
        found: &Macro<'t>,
        arguments: &[Vec<Token<'t>>],
    ) -> Result<Vec<Token<'t>>, Diagnostic> {
        let mut out = Vec::new();
        for part in &found.body {
            let parameter = found.parameters.iter().position(|p| *p == part.text);
            match parameter.filter(|_| part.kind == Kind::Word) {
                Some(parameter) => out.extend(arguments[parameter].iter().cloned()),
                None => {
                    let name = call.text.to_owned();
                    let inside = Inside { name, range: part.range.clone() };
                    let range: Range<usize> = call.range.clone();
                    out.push(Token { range, inside: Some(Rc::new(inside)), ..part.clone() });
                }
            }
            if self.made + out.len() > MAX_TOKENS {
                return Err(call.error("macros make too much of this text"));
            }
        }
        self.made += out.len();
        Ok(out)
    }
}

/// The arguments of a call whose `(` is at `open`, and where it ends.
fn arguments<'s, 't>(
    tokens: &'s [Token<'t>],
    open: usize,
    call: &Token<'t>,
) -> Result<(Vec<&'s [Token<'t>]>, usize), Diagnostic> {
    let mut arguments = Vec::new();
    let mut depth = 0usize;
    let mut first = open + 1;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        depth = match () {
            () if token.is("(") => depth + 1,
            () if token.is(")") => depth - 1,
            () => depth,
        };
        let ends = depth == 0;
        if ends || depth == 1 && token.is(",") {
            if first < at {
                arguments.push(&tokens[first..at]);
            } else if !ends || !arguments.is_empty() {
                return Err(token.error("an argument is missing before this"));
            }
            first = at + 1;
        }
        if ends {
            return Ok((arguments, at + 1));
        }
    }
    Err(call.error(format!("the arguments of {} do not end: `)` is missing", quote(call.text))))
}
