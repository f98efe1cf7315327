//! The parser.
//!
//! One pass over the text. Types and symbols are numbered when they are met; local values and
//! blocks of a function too, so uses may come before definitions. `types` reads types and skips
//! attributes, `values` reads constants and operands, `instructions` reads the body of a function,
//! and `metadata` what debug locations need. `link` joins modules.
//!
//! What is not understood inside of a function ends the reading of this function only.

mod instructions;
mod link;
mod metadata;
mod types;
mod values;

use std::collections::HashMap;
use std::fmt;

use crate::lexer::{Lexer, Token};
use crate::{Alias, Block, BlockId, Body, Function, Global, LocalId, Module, Type, TypeId, Value};
use link::Linkage;

/// Why a text is no module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// Which of the texts it is.
    pub text: usize,
    /// What is wrong.
    pub message: String,
    /// Where, in bytes.
    pub at: usize,
    /// The line, from 1.
    pub line: usize,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for Error {}

/// An error without its line, which takes time to count.
pub(super) struct Failed {
    message: String,
    at: usize,
}

pub(super) type Parsed<T> = Result<T, Failed>;

/// How deep types and constants may nest.
const MAX_DEPTH: usize = 64;

/// Reads a module.
///
/// # Errors
/// The first error outside of the bodies of functions.
pub fn parse(text: &str) -> Result<Module, Error> {
    parse_all(&[text])
}

/// Reads modules as one, as a linker joins them. Places in the text ([`Instruction::at`](crate::Instruction)) are those
/// in all texts, one behind the other.
///
/// # Errors
/// The first error outside of the bodies of functions, and two definitions of one name.
pub fn parse_all(texts: &[&str]) -> Result<Module, Error> {
    let mut parser = Parser {
        lexer: Lexer::new(""),
        module: Module::default(),
        depth: 0,
        locals: Locals::default(),
        part: link::Part::default(),
    };
    for (number, (text, part)) in texts.iter().zip(link::parts(texts)).enumerate() {
        parser.next_part(part);
        parser.lexer = Lexer::new(text);
        parser.module().map_err(|Failed { message, at }| Error {
            text: number,
            message,
            at: at.min(text.len()),
            line: Lexer::line_of(text, at),
        })?;
    }
    Ok(parser.module)
}

/// The local names of the function that is read.
#[derive(Default)]
struct Locals {
    values: HashMap<String, LocalId>,
    names: Vec<String>,
    blocks: HashMap<String, BlockId>,
    block_names: Vec<String>,
    /// The next number of a value or block without a name.
    next: u32,
}

struct Parser<'t> {
    lexer: Lexer<'t>,
    module: Module,
    depth: usize,
    locals: Locals,
    /// The module that is read, among all.
    part: link::Part,
}

/// A token as a person would name it.
fn show(token: &Token<'_>) -> String {
    match token {
        Token::Word(word) | Token::Int(word) | Token::Float(word) => format!("`{word}`"),
        Token::Local(name) => format!("`%{name}`"),
        Token::Global(name) => format!("`@{name}`"),
        Token::Meta(name) => format!("`!{name}`"),
        Token::Hash(name) => format!("`#{name}`"),
        Token::Str(_) | Token::Bytes(_) => "a text".to_owned(),
        Token::Label(name) => format!("`{name}:`"),
        Token::Dots => "`...`".to_owned(),
        Token::Sign(0) => "a sign".to_owned(),
        Token::Sign(sign) => format!("`{}`", char::from(*sign)),
        Token::End => "the end of the text".to_owned(),
    }
}

impl<'t> Parser<'t> {
    fn fail<T>(&self, at: usize, message: impl Into<String>) -> Parsed<T> {
        Err(Failed { message: message.into(), at })
    }

    fn next(&mut self) -> Token<'t> {
        self.lexer.next()
    }

    fn peek(&self) -> Token<'t> {
        self.lexer.clone().next()
    }

    /// Where the next token begins.
    fn here(&mut self) -> usize {
        self.lexer.skip_space();
        self.lexer.at
    }

    fn is_sign(&self, sign: u8) -> bool {
        self.peek() == Token::Sign(sign)
    }

    /// Skips a sign if it is next.
    fn accept(&mut self, sign: u8) -> bool {
        let is_next = self.is_sign(sign);
        if is_next {
            self.next();
        }
        is_next
    }

    fn accept_word(&mut self, word: &str) -> bool {
        let is_next = self.peek() == Token::Word(word);
        if is_next {
            self.next();
        }
        is_next
    }

    fn expect(&mut self, sign: u8) -> Parsed<()> {
        let at = self.here();
        match self.next() {
            Token::Sign(found) if found == sign => Ok(()),
            found => {
                let sign = char::from(sign);
                self.fail(at, format!("`{sign}` is expected, and {} is here", show(&found)))
            }
        }
    }

    fn expect_word(&mut self, word: &str) -> Parsed<()> {
        let at = self.here();
        match self.next() {
            Token::Word(found) if found == word => Ok(()),
            found => self.fail(at, format!("`{word}` is expected, and {} is here", show(&found))),
        }
    }

    fn number(&mut self) -> Parsed<u64> {
        let at = self.here();
        match self.next() {
            Token::Int(text) => match text.parse() {
                Ok(number) => Ok(number),
                Err(_) => self.fail(at, "this number is too large"),
            },
            found => self.fail(at, format!("a number is expected, and {} is here", show(&found))),
        }
    }

    /// One level deeper in types or constants.
    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_DEPTH {
            let at = self.here();
            return self.fail(at, format!("this nests more than {MAX_DEPTH} deep"));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// Skips to the end of the line.
    fn skip_line(&mut self) {
        let rest = &self.lexer.text[self.lexer.at..];
        self.lexer.at += rest.find('\n').unwrap_or(rest.len());
    }

    /// Skips what is in brackets, whose first one is next.
    fn skip_brackets(&mut self) -> Parsed<()> {
        let at = self.here();
        let mut depth = 0_usize;
        loop {
            match self.next() {
                Token::Sign(b'(' | b'[' | b'{' | b'<') => depth += 1,
                Token::Sign(b')' | b']' | b'}' | b'>') => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return Ok(());
                    }
                }
                Token::End => return self.fail(at, "this bracket is not closed"),
                _ if depth == 0 => return self.fail(at, "a bracket is expected"),
                _ => {}
            }
        }
    }

    fn module(&mut self) -> Parsed<()> {
        loop {
            let at = self.here();
            match self.next() {
                Token::End => return Ok(()),
                Token::Word("source_filename") => {
                    self.expect(b'=')?;
                    self.module.source = self.string()?;
                }
                Token::Word("target") => {
                    let what = self.next();
                    self.expect(b'=')?;
                    let text = self.string()?;
                    match what {
                        Token::Word("datalayout") => self.module.layout = text,
                        _ => self.module.triple = text,
                    }
                }
                Token::Word("module") => self.skip_line(),
                Token::Word("attributes") => self.attribute_group()?,
                Token::Word("uselistorder" | "uselistorder_bb") => self.skip_line(),
                Token::Sign(b'$' | b'^') => self.skip_line(),
                Token::Word(word) if word.starts_with('$') => self.skip_line(),
                Token::Local(name) => self.named_type(&name)?,
                Token::Global(name) => self.global(self.global_name(name), at)?,
                Token::Word("declare") => self.function(at, false)?,
                Token::Word("define") => self.function(at, true)?,
                Token::Meta(name) => self.metadata_line(name)?,
                found => {
                    return self.fail(at, format!("{} is not expected here", show(&found)));
                }
            }
        }
    }

    fn string(&mut self) -> Parsed<String> {
        let at = self.here();
        match self.next() {
            Token::Str(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
            found => self.fail(at, format!("a text is expected, and {} is here", show(&found))),
        }
    }

    /// `attributes #0 = { … }`. Texts in it may have any signs.
    fn attribute_group(&mut self) -> Parsed<()> {
        let at = self.here();
        loop {
            match self.next() {
                Token::Sign(b'}') => return Ok(()),
                Token::End => return self.fail(at, "these attributes do not end"),
                _ => {}
            }
        }
    }

    /// `%name = type …`
    fn named_type(&mut self, name: &str) -> Parsed<()> {
        self.expect(b'=')?;
        self.expect_word("type")?;
        let id = self.module.intern(Type::Named(format!("{name}{}", self.part.type_suffix)));
        if self.accept_word("opaque") {
            return Ok(());
        }
        let ty = self.ty()?;
        self.module.named.insert(id, ty);
        Ok(())
    }

    /// `@name = …`
    fn global(&mut self, name: String, start: usize) -> Parsed<()> {
        self.expect(b'=')?;
        self.module.intern_symbol(&name);
        let (mut is_thread_local, mut is_external) = (false, false);
        let mut linkage = Linkage::Strong;
        let is_constant = loop {
            let at = self.here();
            match self.next() {
                Token::Word("global") => break false,
                Token::Word("constant") => break true,
                Token::Word("alias") => return self.alias(name, linkage),
                Token::Word("ifunc") => {
                    self.skip_line();
                    return Ok(());
                }
                Token::Word("thread_local") => is_thread_local = true,
                Token::Word("external" | "extern_weak") => is_external = true,
                Token::Word(word) => linkage = Linkage::of(word).unwrap_or(linkage),
                found => {
                    return self.fail(at, format!("{} is not expected here", show(&found)));
                }
            }
            if self.is_sign(b'(') {
                self.skip_brackets()?;
            }
        };
        let ty = self.ty()?;
        let init = match is_external {
            true => None,
            false => Some(self.value(ty)?),
        };
        let end = self.lexer.at;
        let mut align = 0;
        while self.accept(b',') {
            match self.next() {
                Token::Word("align") => align = self.number()?,
                Token::Meta(_) => {
                    self.next();
                }
                Token::Word(_) => {
                    if self.is_sign(b'(') {
                        self.skip_brackets()?;
                    } else if matches!(self.peek(), Token::Str(_)) {
                        self.next();
                    }
                }
                _ => {}
            }
        }
        while matches!(self.peek(), Token::Hash(_)) {
            self.next();
        }
        let range = self.part.base + start..self.part.base + end;
        let global = Global { name, ty, init, is_constant, is_thread_local, align, range };
        self.add_global(global, linkage)
    }

    fn alias(&mut self, name: String, linkage: Linkage) -> Parsed<()> {
        self.ty()?;
        self.expect(b',')?;
        let ty = self.ty()?;
        let value = self.value(ty)?;
        let is_known = self.module.aliases.iter().any(|alias| alias.name == name);
        if !(is_known && linkage == Linkage::Weak) {
            self.module.aliases.push(Alias { name, target: (ty, value) });
        }
        while self.accept(b',') {
            self.next();
            if matches!(self.peek(), Token::Str(_)) {
                self.next();
            }
        }
        Ok(())
    }

    /// A declaration or a definition.
    fn function(&mut self, start: usize, is_defined: bool) -> Parsed<()> {
        self.locals = Locals::default();
        let mut subprogram = None;
        // A declaration may have its metadata in front.
        while matches!(self.peek(), Token::Meta(_)) {
            self.next();
            self.next();
        }
        let linkage = self.skip_words_before_type()?;
        let ty = self.ty()?;
        let at = self.here();
        let name = match self.next() {
            Token::Global(name) => self.global_name(name),
            found => {
                return self
                    .fail(at, format!("the name of a function is expected, not {}", show(&found)));
            }
        };
        self.module.intern_symbol(&name);
        let (mut parameters, mut by_value, mut is_variadic) = (Vec::new(), Vec::new(), false);
        self.expect(b'(')?;
        while !self.accept(b')') {
            if self.peek() == Token::Dots {
                self.next();
                is_variadic = true;
                continue;
            }
            let ty = self.ty()?;
            by_value.push(self.attributes()?);
            parameters.push(ty);
            match self.peek() {
                Token::Local(name) => {
                    self.next();
                    self.name_number(&name);
                    self.local(&name);
                }
                _ => {
                    self.unnamed();
                }
            }
            self.accept(b',');
        }
        let end = self.lexer.at;
        // Attributes, section, alignment, personality, metadata.
        let mut has_body = false;
        loop {
            let before = self.lexer.clone();
            match self.next() {
                Token::Sign(b'{') => {
                    has_body = true;
                    break;
                }
                Token::Meta("dbg") => {
                    if let Token::Meta(number) = self.next() {
                        subprogram = self.meta(number);
                    }
                }
                Token::Meta(_) if is_defined => {
                    self.next();
                }
                Token::Word("personality" | "prefix" | "prologue") => {
                    let ty = self.ty()?;
                    self.value(ty)?;
                }
                Token::Word(word) if !is_top(word) => {
                    if self.is_sign(b'(') {
                        self.skip_brackets()?;
                    } else if matches!(
                        word,
                        "align" | "alignstack" | "section" | "partition" | "gc"
                    ) {
                        self.next();
                    }
                }
                Token::Str(_) => {
                    if self.accept(b'=') {
                        self.next();
                    }
                }
                Token::Hash(_) => {}
                _ => {
                    self.lexer = before;
                    break;
                }
            }
        }
        let body = match has_body {
            false if is_defined => {
                return self.fail(self.lexer.at, "the body of this function is missing");
            }
            false => Body::None,
            true => {
                let begin = self.lexer.at;
                match self.body() {
                    Ok(blocks) => Body::Blocks(blocks),
                    Err(Failed { message, at }) => {
                        self.depth = 0;
                        self.lexer.at = begin;
                        self.skip_body()?;
                        Body::NotRead(message, Lexer::line_of(self.lexer.text, at))
                    }
                }
            }
        };
        let locals = std::mem::take(&mut self.locals.names);
        let function = Function {
            name,
            ty,
            parameters,
            by_value,
            is_variadic,
            locals,
            body,
            subprogram,
            range: self.part.base + start..self.part.base + end,
        };
        self.add_function(function, linkage)
    }

    /// Skips the body of a function: up to the first line that begins with a closing brace.
    fn skip_body(&mut self) -> Parsed<()> {
        let rest = &self.lexer.text[self.lexer.at..];
        match rest.find("\n}") {
            Some(end) => {
                self.lexer.at += end + 2;
                Ok(())
            }
            None => self.fail(self.lexer.at, "the body of this function does not end"),
        }
    }

    /// The local value of a name.
    fn local(&mut self, name: &str) -> LocalId {
        if let Some(&id) = self.locals.values.get(name) {
            return id;
        }
        let id = LocalId(self.locals.names.len() as u32);
        self.locals.names.push(name.to_owned());
        self.locals.values.insert(name.to_owned(), id);
        id
    }

    /// The block of a name.
    fn block(&mut self, name: &str) -> BlockId {
        if let Some(&id) = self.locals.blocks.get(name) {
            return id;
        }
        let id = BlockId(self.locals.block_names.len() as u32);
        self.locals.block_names.push(name.to_owned());
        self.locals.blocks.insert(name.to_owned(), id);
        id
    }

    /// A value without a name has the next number.
    fn unnamed(&mut self) -> LocalId {
        let name = self.locals.next.to_string();
        self.locals.next += 1;
        self.local(&name)
    }

    /// Keeps the numbers of values without a name in step with the text.
    fn name_number(&mut self, name: &str) {
        if let Ok(number) = name.parse::<u32>() {
            self.locals.next = number.saturating_add(1);
        }
    }

    fn constant_bits(&self, ty: TypeId) -> Option<u32> {
        match self.module.ty(ty) {
            Type::Int(bits) => Some(*bits),
            _ => None,
        }
    }
}

/// Whether a word begins something at the top of a module, so that it is no attribute of what
/// comes before.
fn is_top(word: &str) -> bool {
    matches!(word, "declare" | "define" | "attributes" | "module" | "target" | "source_filename")
        || word.starts_with("uselistorder")
}

/// A value with its type.
type Typed = (TypeId, Value);

/// Blocks in the order of the text.
type Blocks = Vec<Block>;
