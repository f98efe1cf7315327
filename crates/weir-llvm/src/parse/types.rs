//! Types, and attributes, which are skipped.

use super::link::Linkage;
use super::{Parsed, Parser, show};
use crate::lexer::Token;
use crate::{Type, TypeId};

/// The floating-point types.
const FLOATS: [&str; 7] = ["half", "bfloat", "float", "double", "fp128", "x86_fp80", "ppc_fp128"];

/// Types whose values are never in memory.
const OTHERS: [&str; 5] = ["label", "metadata", "token", "x86_amx", "x86_mmx"];

/// Words with which a constant begins.
const VALUES: [&str; 13] = [
    "true",
    "false",
    "null",
    "none",
    "undef",
    "poison",
    "zeroinitializer",
    "asm",
    "splat",
    "blockaddress",
    "dso_local_equivalent",
    "no_cfi",
    "ptrauth",
];

/// Constant expressions.
const EXPRESSIONS: [&str; 25] = [
    "getelementptr",
    "bitcast",
    "inttoptr",
    "ptrtoint",
    "ptrtoaddr",
    "addrspacecast",
    "trunc",
    "zext",
    "sext",
    "add",
    "sub",
    "mul",
    "shl",
    "lshr",
    "ashr",
    "and",
    "or",
    "xor",
    "icmp",
    "select",
    "extractelement",
    "insertelement",
    "shufflevector",
    "udiv",
    "sdiv",
];

fn bits(word: &str) -> Option<u32> {
    word.strip_prefix('i')?.parse().ok().filter(|bits| (1..=1 << 23).contains(bits))
}

fn begins_type(token: &Token<'_>) -> bool {
    match token {
        Token::Word(word) => {
            matches!(*word, "void" | "ptr" | "target")
                || bits(word).is_some()
                || FLOATS.contains(word)
                || OTHERS.contains(word)
        }
        Token::Local(_) | Token::Sign(b'{' | b'[' | b'<') => true,
        _ => false,
    }
}

impl Parser<'_> {
    /// A type.
    pub(super) fn ty(&mut self) -> Parsed<TypeId> {
        self.deeper(|this| {
            let mut ty = this.simple_type()?;
            loop {
                match this.peek() {
                    Token::Sign(b'*') => {
                        let at = this.here();
                        return this.fail(
                            at,
                            "this module has typed pointers (`i32*`), which LLVM had before \
                             version 15; compile it with a newer compiler",
                        );
                    }
                    Token::Sign(b'(') => {
                        this.next();
                        let (mut parameters, mut is_variadic) = (Vec::new(), false);
                        while !this.accept(b')') {
                            if this.peek() == Token::Dots {
                                this.next();
                                is_variadic = true;
                                continue;
                            }
                            parameters.push(this.ty()?);
                            this.attributes()?;
                            this.accept(b',');
                        }
                        ty = this.module.intern(Type::Function(ty, parameters, is_variadic));
                    }
                    _ => return Ok(ty),
                }
            }
        })
    }

    fn simple_type(&mut self) -> Parsed<TypeId> {
        let at = self.here();
        let ty = match self.next() {
            Token::Word("void") => Type::Void,
            Token::Word("ptr") => {
                if self.accept_word("addrspace") {
                    self.skip_brackets()?;
                }
                Type::Ptr
            }
            Token::Word("target") => {
                self.skip_brackets()?;
                Type::Other("token")
            }
            Token::Word(word) => {
                let float = FLOATS.iter().find(|name| **name == word);
                let other = OTHERS.iter().find(|name| **name == word);
                match (bits(word), float, other) {
                    (Some(bits), ..) => Type::Int(bits),
                    (_, Some(name), _) => Type::Float(name),
                    (.., Some(name)) => Type::Other(name),
                    _ => return self.fail(at, format!("`{word}` is no type")),
                }
            }
            Token::Local(name) => Type::Named(name + &self.part.type_suffix),
            Token::Sign(b'{') => self.fields(b'}', false)?,
            Token::Sign(b'[') => {
                let (count, element) = self.counted()?;
                self.expect(b']')?;
                Type::Array(count, element)
            }
            Token::Sign(b'<') => {
                if self.accept(b'{') {
                    let packed = self.fields(b'}', true)?;
                    self.expect(b'>')?;
                    packed
                } else {
                    if self.accept_word("vscale") {
                        return self.fail(at, "vectors of any length are not read");
                    }
                    let (count, element) = self.counted()?;
                    self.expect(b'>')?;
                    Type::Vector(count, element)
                }
            }
            found => {
                return self.fail(at, format!("a type is expected, and {} is here", show(&found)));
            }
        };
        Ok(self.module.intern(ty))
    }

    fn counted(&mut self) -> Parsed<(u64, TypeId)> {
        let count = self.number()?;
        self.expect_word("x")?;
        Ok((count, self.ty()?))
    }

    fn fields(&mut self, end: u8, is_packed: bool) -> Parsed<Type> {
        let mut fields = Vec::new();
        while !self.accept(end) {
            fields.push(self.ty()?);
            if !self.accept(b',') {
                self.expect(end)?;
                break;
            }
        }
        Ok(Type::Struct { fields, is_packed })
    }

    /// Skips words in front of a type: linkage, calling convention, attributes of the result.
    pub(super) fn skip_words_before_type(&mut self) -> Parsed<Linkage> {
        let mut linkage = Linkage::Strong;
        loop {
            match self.peek() {
                token if begins_type(&token) => return Ok(linkage),
                Token::Word(word) => {
                    self.next();
                    linkage = Linkage::of(word).unwrap_or(linkage);
                    self.behind_attribute(word)?;
                }
                Token::Hash(_) => drop(self.next()),
                Token::Str(_) => {
                    self.next();
                    if self.accept(b'=') {
                        self.next();
                    }
                }
                found => {
                    let at = self.here();
                    return self
                        .fail(at, format!("a type is expected, and {} is here", show(&found)));
                }
            }
        }
    }

    /// What belongs to an attribute: a number, or something in brackets.
    fn behind_attribute(&mut self, word: &str) -> Parsed<()> {
        if matches!(word, "align" | "cc" | "addrspace" | "alignstack")
            && matches!(self.peek(), Token::Int(_))
        {
            self.next();
        } else if self.is_sign(b'(') {
            self.skip_brackets()?;
        }
        Ok(())
    }

    /// Skips the attributes between a type and a value. Returns the type that is passed by value
    /// behind a pointer.
    pub(super) fn attributes(&mut self) -> Parsed<Option<TypeId>> {
        let mut by_value = None;
        loop {
            match self.peek() {
                Token::Word(word) if !VALUES.contains(&word) && !EXPRESSIONS.contains(&word) => {
                    self.next();
                    if word == "byval" && self.accept(b'(') {
                        by_value = Some(self.ty()?);
                        self.expect(b')')?;
                    } else {
                        self.behind_attribute(word)?;
                    }
                }
                Token::Str(_) => {
                    self.next();
                    if self.accept(b'=') {
                        self.next();
                    }
                }
                _ => return Ok(by_value),
            }
        }
    }
}
