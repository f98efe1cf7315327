//! The preprocessor: `#define`, `#ifdef` and their like, and `inline`, whose calls
//! are replaced by their bodies as macros are.
//!
//! A token has a position in the input file. A token from a macro has the position where
//! the macro is used. A token from an `inline` has its position in the body of the
//! `inline`. [`Via`] has the other position.

use std::collections::HashMap;

use weir_model::program::BinOp;

use super::lexer::{Kind, Token, Via};
use crate::errors::{Errors, quote};
use crate::weir::tree::Span;

/// How many tokens a text may become.
const MAX_TOKENS: usize = 400_000;
/// How deep macros may stand in macros.
const MAX_DEPTH: usize = 100;

/// What a text is after its macros have been replaced.
pub struct Expanded<'t> {
    /// The last one is [`Kind::End`].
    pub tokens: Vec<Token<'t>>,
    /// Macros that stand for a number.
    pub constants: Vec<(&'t str, i128)>,
}

/// The value of an expression of numbers whose operators bind at least so strongly.
fn condition_value(
    tokens: &[Token<'_>],
    at: &mut usize,
    strength: u8,
    depth: usize,
) -> Option<i128> {
    const INFIX: [(&str, u8, BinOp); 13] = [
        ("||", 1, BinOp::Or),
        ("&&", 2, BinOp::And),
        ("==", 3, BinOp::Eq),
        ("!=", 3, BinOp::Ne),
        ("<", 4, BinOp::Lt),
        ("<=", 4, BinOp::Le),
        (">", 4, BinOp::Gt),
        (">=", 4, BinOp::Ge),
        ("+", 5, BinOp::Add),
        ("-", 5, BinOp::Sub),
        ("*", 6, BinOp::Mul),
        ("/", 6, BinOp::Div),
        ("%", 6, BinOp::Mod),
    ];
    if depth > MAX_DEPTH {
        return None;
    }
    let first = tokens.get(*at)?;
    *at += 1;
    let mut left = match (first.kind, first.text) {
        (Kind::Number(n), _) => n,
        (_, "!") => i128::from(condition_value(tokens, at, 7, depth + 1)? == 0),
        (_, "-") => condition_value(tokens, at, 7, depth + 1)?.checked_neg()?,
        (_, "(") => {
            let inner = condition_value(tokens, at, 0, depth + 1)?;
            tokens.get(*at).filter(|t| t.is(")"))?;
            *at += 1;
            inner
        }
        _ => return None,
    };
    while let Some(token) = tokens.get(*at) {
        let Some((_, binds, op)) = INFIX.iter().find(|(text, ..)| token.is(text)) else { break };
        if *binds < strength {
            break;
        }
        *at += 1;
        let right = condition_value(tokens, at, binds + 1, depth + 1)?;
        left = op.apply(left, right).ok()?;
    }
    Some(left)
}

/// Adds the semicolons that line ends stand for, as Spin's lexer does (`spinlex.c` of version 6): inside
/// of a body, outside of brackets, after a token that can end a statement.
pub fn semicolons<'t>(tokens: &[Token<'t>], is_word: impl Fn(&str) -> bool) -> Vec<Token<'t>> {
    const BODIES: [&str; 7] =
        ["proctype", "D_proctype", "init", "never", "trace", "notrace", "typedef"];
    const ENDS: [&str; 12] =
        ["}", ")", "]", "od", "fi", "else", "break", "skip", "true", "false", "timeout", "++"];
    let ends = |token: &Token<'t>| match token.kind {
        Kind::Number(_) => true,
        Kind::Name => ENDS.contains(&token.text) || !is_word(token.text),
        Kind::Symbol => ENDS.contains(&token.text) || token.text == "--",
        Kind::Text | Kind::End => false,
    };
    let mut out: Vec<Token<'t>> = Vec::with_capacity(tokens.len());
    // Open braces and brackets, and the number of braces around the body.
    let (mut braces, mut brackets, mut body) = (0usize, 0usize, None);
    let mut is_next = false;
    for token in tokens {
        if let Some(last) = out.last().copied()
            && token.first
            && body.is_some()
            && brackets == 0
            && ends(&last)
            && !(last.is("}") && token.text.starts_with('u'))
        {
            let end = last.span.range().end;
            let span = Span::new(end, end);
            out.push(Token { kind: Kind::Symbol, text: ";", first: false, span, ..last });
        }
        if body.is_none() && token.kind == Kind::Name {
            is_next |= BODIES.contains(&token.text);
        }
        match token.text {
            "{" if token.kind == Kind::Symbol => {
                if std::mem::take(&mut is_next) && body.is_none() {
                    (body, brackets) = (Some(braces), 0);
                }
                braces += 1;
            }
            "}" if token.kind == Kind::Symbol => {
                braces = braces.saturating_sub(1);
                body = body.filter(|outside| braces > *outside);
            }
            "(" if token.kind == Kind::Symbol => brackets += 1,
            ")" if token.kind == Kind::Symbol => brackets = brackets.saturating_sub(1),
            _ => {}
        }
        out.push(*token);
    }
    out
}

/// Replaces macros and calls of `inline`s.
pub fn expand<'t>(tokens: &[Token<'t>], errors: &mut Errors) -> Expanded<'t> {
    let mut expander = Expander {
        input: tokens,
        at: 0,
        macros: HashMap::new(),
        inlines: HashMap::new(),
        frames: Vec::new(),
        conditions: Vec::new(),
        taken: 0,
        errors,
    };
    // So that a model can test whether Weir reads it.
    expander.macros.insert("WEIR", Macro { parameters: None, body: Vec::new() });
    let tokens = expander.run();
    let number = |m: &Macro<'t>| match m.body[..] {
        [Token { kind: Kind::Number(n), .. }] if m.parameters.is_none() => Some(n),
        _ => None,
    };
    let macros = expander.macros.iter();
    let mut constants: Vec<_> = macros.filter_map(|(name, m)| Some((*name, number(m)?))).collect();
    constants.sort_unstable();
    Expanded { tokens, constants }
}

#[derive(Clone, Debug)]
struct Macro<'t> {
    /// `None` if it is used without brackets.
    parameters: Option<Vec<&'t str>>,
    body: Vec<Token<'t>>,
}

/// Tokens that are to be read next.
struct Frame<'t> {
    tokens: Vec<Token<'t>>,
    at: usize,
    /// The macro that they come from, which is not replaced in them.
    name: &'t str,
}

/// An open `#ifdef`.
struct Condition {
    span: Span,
    /// Whether what stands here counts.
    active: bool,
    /// Whether `#else` may still bring what counts.
    other: bool,
}

struct Expander<'a, 't> {
    input: &'a [Token<'t>],
    at: usize,
    macros: HashMap<&'t str, Macro<'t>>,
    inlines: HashMap<&'t str, Macro<'t>>,
    frames: Vec<Frame<'t>>,
    conditions: Vec<Condition>,
    /// Tokens read so far, those of macros counted as often as they are used.
    taken: usize,
    errors: &'a mut Errors,
}

impl<'t> Expander<'_, 't> {
    fn run(&mut self) -> Vec<Token<'t>> {
        let mut out = Vec::new();
        loop {
            let token = self.next();
            if self.taken > MAX_TOKENS {
                let message = format!("with its macros the text has more than {MAX_TOKENS} words");
                self.errors.push(token.error(message));
                out.clear();
                out.push(Token { kind: Kind::End, text: "", ..token });
                return out;
            }
            if token.kind == Kind::End {
                if let Some(open) = self.conditions.last() {
                    let error = crate::Diagnostic::new(
                        "this is not closed: `#endif` is missing",
                        open.span.range(),
                    );
                    self.errors.push(error);
                }
                out.push(token);
                return out;
            }
            if token.kind != Kind::Name {
                out.push(token);
            } else if token.text == "inline" {
                self.inline();
            } else if !self.replaced(token) {
                out.push(token);
            }
        }
    }

    /// The next token, macros not replaced.
    fn next(&mut self) -> Token<'t> {
        self.taken += 1;
        while let Some(frame) = self.frames.last_mut() {
            if let Some(token) = frame.tokens.get(frame.at) {
                frame.at += 1;
                return *token;
            }
            self.frames.pop();
        }
        loop {
            let token = self.input[self.at];
            if token.first && token.is("#") {
                self.directive();
            } else if token.kind != Kind::End && self.conditions.iter().any(|c| !c.active) {
                self.at += 1;
            } else {
                self.at = (self.at + 1).min(self.input.len() - 1);
                return token;
            }
        }
    }

    /// Whether the next token is `(`.
    fn before_bracket(&self) -> bool {
        let ahead = self.frames.iter().rev().find_map(|f| f.tokens.get(f.at));
        ahead.unwrap_or(&self.input[self.at]).is("(")
    }

    /// A line that begins with `#`.
    fn directive(&mut self) {
        let start = self.input[self.at];
        let rest = &self.input[self.at + 1..];
        let len = rest.iter().position(|t| t.first).unwrap_or(rest.len());
        let line = &rest[..len];
        self.at += 1 + len;
        let active = self.conditions.iter().all(|c| c.active);
        let Some(word) = line.first() else { return };
        let name = line.get(1).filter(|t| t.kind == Kind::Name);
        match (word.text, name) {
            ("ifdef" | "ifndef", Some(name)) => {
                let holds = self.macros.contains_key(name.text) == (word.text == "ifdef");
                self.conditions.push(Condition { span: word.span, active: holds, other: !holds });
            }
            ("if", _) => {
                let holds = active && self.condition(*word, &line[1..]);
                self.conditions.push(Condition { span: word.span, active: holds, other: !holds });
            }
            ("else" | "elif" | "endif", _) if self.conditions.is_empty() => {
                let message = format!("`#{}` without `#ifdef`", word.text);
                self.errors.push(word.error(message));
            }
            ("else", _) => {
                let condition = self.conditions.last_mut().expect("there is one");
                condition.active = std::mem::take(&mut condition.other);
            }
            ("elif", _) => {
                let outside = self.conditions.len() - 1;
                let is_read = self.conditions[..outside].iter().all(|c| c.active);
                let may = std::mem::take(&mut self.conditions[outside].other) && is_read;
                let holds = may && self.condition(*word, &line[1..]);
                let condition = &mut self.conditions[outside];
                (condition.active, condition.other) = (holds, may && !holds);
            }
            ("endif", _) => drop(self.conditions.pop()),
            _ if !active => {}
            ("define", Some(name)) => self.define(*name, &line[2..]),
            ("undef", Some(name)) => drop(self.macros.remove(name.text)),
            ("ifdef" | "ifndef" | "define" | "undef", None) => {
                let message = format!("`#{}` needs a name", word.text);
                self.errors.push(word.error(message));
            }
            ("include", _) => {
                let file = line.get(1).map_or("", |t| t.text.trim_matches('"'));
                let error = word.error(format!("the file {} is not found", quote(file)));
                self.errors
                    .push(error.help("`-I DIR` names a folder that files are looked for in"));
            }
            ("ident" | "line" | "pragma", _) => {}
            _ if matches!(word.kind, Kind::Number(_)) => {}
            _ => {
                let message = format!("`#{}` is not supported", word.text);
                let end = line.last().map_or(start.span, |t| t.span);
                let range = start.span.to(end).range();
                self.errors.push(crate::Diagnostic::new(message, range));
            }
        }
    }

    /// Whether the condition of an `#if` holds. Names that are no macros are 0, as in C.
    fn condition(&mut self, word: Token<'t>, line: &[Token<'t>]) -> bool {
        let mut values: Vec<Token<'t>> = Vec::new();
        let mut rest = line.iter();
        while let Some(token) = rest.next() {
            if token.is("defined") {
                let names = rest.as_slice();
                let (name, used) = match names {
                    [open, name, close, ..] if open.is("(") && close.is(")") => (name, 3),
                    [name, ..] => (name, 1),
                    [] => break,
                };
                let value = i128::from(self.macros.contains_key(name.text));
                values.push(Token { kind: Kind::Number(value), ..*token });
                rest = names[used..].iter();
                continue;
            }
            let mut token = *token;
            // Macros that stand for a number, perhaps by others.
            for _ in 0..MAX_DEPTH {
                match self.macros.get(token.text).map(|m| &m.body[..]) {
                    Some([one]) if token.kind == Kind::Name => token = *one,
                    _ => break,
                }
            }
            if token.kind == Kind::Name {
                token.kind = Kind::Number(i128::from(token.text == "true"));
            }
            values.push(token);
        }
        let mut at = 0;
        match condition_value(&values, &mut at, 0, 0) {
            Some(value) if at == values.len() => value != 0,
            _ => {
                let message = "this condition cannot be worked out";
                self.errors.push(word.error(message));
                false
            }
        }
    }

    fn define(&mut self, name: Token<'t>, rest: &[Token<'t>]) {
        // With parameters only if the bracket follows at once.
        let adjacent = |t: &Token<'t>| t.is("(") && t.span.range().start == name.span.range().end;
        let (parameters, body) = if rest.first().is_some_and(adjacent) {
            let close = rest.iter().position(|t| t.is(")"));
            let Some(close) = close else {
                return self.errors.push(rest[0].error("this bracket is not closed"));
            };
            match self.parameters(&rest[1..close]) {
                Some(parameters) => (Some(parameters), &rest[close + 1..]),
                None => return,
            }
        } else {
            (None, rest)
        };
        self.macros.insert(name.text, Macro { parameters, body: body.to_vec() });
    }

    fn parameters(&mut self, list: &[Token<'t>]) -> Option<Vec<&'t str>> {
        if list.is_empty() {
            return Some(Vec::new());
        }
        let mut names = Vec::new();
        for part in list.split(|t| t.is(",")) {
            match part {
                [name] if name.kind == Kind::Name => names.push(name.text),
                _ => {
                    let at = part.first().or(list.first())?;
                    self.errors.push(at.error("expected the names of parameters"));
                    return None;
                }
            }
        }
        Some(names)
    }

    /// `inline name(a, b) { … }`, after the first word.
    fn inline(&mut self) {
        let name = self.next();
        let mut list = Vec::new();
        let open = self.next();
        if name.kind != Kind::Name || !open.is("(") {
            let error = name.error("expected `inline name(parameters) { … }`");
            return self.errors.push(error);
        }
        loop {
            let token = self.next();
            if token.is(")") {
                break;
            }
            if token.kind == Kind::End {
                return self.errors.push(open.error("this bracket is not closed"));
            }
            list.push(token);
        }
        let Some(parameters) = self.parameters(&list) else { return };
        let brace = self.next();
        if !brace.is("{") {
            return self.errors.push(brace.error("expected `{` and the body of the `inline`"));
        }
        let (mut body, mut depth) = (Vec::new(), 1usize);
        loop {
            let token = self.next();
            if token.kind == Kind::End {
                return self.errors.push(brace.error("this block is not closed: `}` is missing"));
            }
            depth += usize::from(token.is("{"));
            depth -= usize::from(token.is("}"));
            if depth == 0 {
                break;
            }
            body.push(token);
        }
        self.inlines.insert(name.text, Macro { parameters: Some(parameters), body });
    }

    /// Replaces a name that stands for something; `false` if it does not.
    fn replaced(&mut self, token: Token<'t>) -> bool {
        let inside = self.frames.iter().any(|f| f.name == token.text);
        let is_macro = self.macros.contains_key(token.text);
        let is_inline = !is_macro && self.inlines.contains_key(token.text);
        let known = if is_macro { &self.macros } else { &self.inlines };
        let Some(found) = known.get(token.text).cloned() else { return false };
        if found.parameters.is_some() && !self.before_bracket() {
            return false;
        }
        if inside && is_inline {
            let message = format!("{} calls itself", quote(token.text));
            self.errors.push(token.error(message));
        }
        if inside || self.frames.len() >= MAX_DEPTH {
            return false;
        }
        let arguments = match &found.parameters {
            Some(parameters) => match self.arguments(token, parameters.len()) {
                Some(arguments) => arguments,
                None => return true,
            },
            None => Vec::new(),
        };
        let names = found.parameters.unwrap_or_default();
        let mut tokens = Vec::new();
        let brace = |text, first| Token { kind: Kind::Symbol, text, first, ..token };
        if is_inline {
            tokens.push(brace("{", token.first));
        }
        for part in &found.body {
            match names.iter().position(|n| part.kind == Kind::Name && *n == part.text) {
                Some(i) => {
                    // A line of the call does not end where the argument is used.
                    let argument = arguments[i].iter().enumerate();
                    let moved =
                        |(i, t): (usize, &Token<'t>)| Token { first: i == 0 && part.first, ..*t };
                    tokens.extend(argument.map(moved));
                }
                None if is_inline => {
                    let via = part.via.or(Some(Via::Inline(token.span)));
                    tokens.push(Token { via, ..*part });
                }
                None => {
                    let via = token.via.or(Some(Via::Macro(part.span)));
                    tokens.push(Token { via, span: token.span, ..*part });
                }
            }
            if tokens.len() + self.taken > MAX_TOKENS {
                self.taken = MAX_TOKENS;
                break;
            }
        }
        if is_inline {
            tokens.push(brace("}", false));
        } else if let Some(first) = tokens.first_mut() {
            first.first = token.first;
        }
        self.frames.push(Frame { tokens, at: 0, name: token.text });
        true
    }

    /// What stands in the brackets after the name of a macro.
    fn arguments(&mut self, of: Token<'t>, count: usize) -> Option<Vec<Vec<Token<'t>>>> {
        let open = self.next();
        let (mut list, mut depth) = (vec![Vec::new()], 1usize);
        loop {
            let token = self.next();
            if token.kind == Kind::End || self.taken > MAX_TOKENS {
                self.errors.push(open.error("this bracket is not closed"));
                return None;
            }
            depth += usize::from(token.is("(") || token.is("["));
            depth -= usize::from(token.is(")") || token.is("]"));
            if depth == 0 {
                break;
            }
            if depth == 1 && token.is(",") {
                list.push(Vec::new());
            } else if let Some(last) = list.last_mut() {
                last.push(token);
            }
        }
        if count == 0 && list.len() == 1 && list[0].is_empty() {
            list.clear();
        }
        if list.len() != count {
            let wanted = if count == 1 { "argument" } else { "arguments" };
            let message = format!("{} takes {count} {wanted}, not {}", quote(of.text), list.len());
            self.errors.push(of.error(message));
            return None;
        }
        Some(list)
    }
}
