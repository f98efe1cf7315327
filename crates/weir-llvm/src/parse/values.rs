//! Operands and constants.

use super::{Parsed, Parser, Typed, show};
use crate::lexer::Token;
use crate::{Binary, Cast, Op, Predicate, Type, TypeId, Value};

pub(super) fn binary(word: &str) -> Option<Binary> {
    Some(match word {
        "add" => Binary::Add,
        "sub" => Binary::Sub,
        "mul" => Binary::Mul,
        "udiv" => Binary::UDiv,
        "sdiv" => Binary::SDiv,
        "urem" => Binary::URem,
        "srem" => Binary::SRem,
        "shl" => Binary::Shl,
        "lshr" => Binary::LShr,
        "ashr" => Binary::AShr,
        "and" => Binary::And,
        "or" => Binary::Or,
        "xor" => Binary::Xor,
        _ => return None,
    })
}

pub(super) fn cast(word: &str) -> Option<Cast> {
    Some(match word {
        "trunc" => Cast::Trunc,
        "zext" => Cast::ZExt,
        "sext" => Cast::SExt,
        "ptrtoint" | "ptrtoaddr" => Cast::PtrToInt,
        "inttoptr" => Cast::IntToPtr,
        "bitcast" => Cast::Bitcast,
        "addrspacecast" => Cast::AddrSpace,
        "fptrunc" => Cast::FpTrunc,
        "fpext" => Cast::FpExt,
        "fptoui" => Cast::FpToUi,
        "fptosi" => Cast::FpToSi,
        "uitofp" => Cast::UiToFp,
        "sitofp" => Cast::SiToFp,
        _ => return None,
    })
}

fn predicate(word: &str) -> Option<Predicate> {
    Some(match word {
        "eq" => Predicate::Eq,
        "ne" => Predicate::Ne,
        "ugt" => Predicate::Ugt,
        "uge" => Predicate::Uge,
        "ult" => Predicate::Ult,
        "ule" => Predicate::Ule,
        "sgt" => Predicate::Sgt,
        "sge" => Predicate::Sge,
        "slt" => Predicate::Slt,
        "sle" => Predicate::Sle,
        _ => return None,
    })
}

impl Parser<'_> {
    /// A type and a value of it.
    pub(super) fn typed(&mut self) -> Parsed<Typed> {
        let ty = self.ty()?;
        self.attributes()?;
        Ok((ty, self.value(ty)?))
    }

    /// A value of a type.
    pub(super) fn value(&mut self, ty: TypeId) -> Parsed<Value> {
        self.deeper(|this| this.value_here(ty))
    }

    fn value_here(&mut self, ty: TypeId) -> Parsed<Value> {
        let at = self.here();
        Ok(match self.next() {
            Token::Local(name) => Value::Local(self.local(&name)),
            Token::Global(name) => {
                let name = self.global_name(name);
                Value::Global(self.module.intern_symbol(&name))
            }
            Token::Int(text) => self.int(text, ty, at)?,
            Token::Float(text) => Value::Float(text.to_owned()),
            Token::Bytes(bytes) => Value::Bytes(bytes),
            Token::Word("true") => Value::Int(1),
            Token::Word("false") => Value::Int(0),
            Token::Word("null" | "none") => Value::Null,
            Token::Word("undef") => Value::Undef,
            Token::Word("poison") => Value::Poison,
            Token::Word("zeroinitializer") => Value::Zero,
            Token::Word("asm") => self.assembly()?,
            Token::Word("splat") => self.splat(ty)?,
            Token::Word(word @ ("blockaddress" | "ptrauth")) => {
                self.skip_brackets()?;
                Value::Unknown(word.to_owned())
            }
            Token::Word("dso_local_equivalent" | "no_cfi") => return self.value(ty),
            Token::Word(word) => match self.operation(word)? {
                Some(op) => Value::Expr(Box::new(op)),
                None => return self.fail(at, format!("`{word}` is no value")),
            },
            Token::Sign(b'{') => self.elements(b'}')?,
            Token::Sign(b'[') => self.elements(b']')?,
            Token::Sign(b'<') => {
                if self.accept(b'{') {
                    let value = self.elements(b'}')?;
                    self.expect(b'>')?;
                    value
                } else {
                    self.elements(b'>')?
                }
            }
            // Metadata as an argument: a node, a text or a value.
            Token::Meta(_) => {
                if self.is_sign(b'(') {
                    self.skip_brackets()?;
                }
                Value::Metadata
            }
            Token::Sign(b'!') => {
                match self.peek() {
                    Token::Str(_) => drop(self.next()),
                    _ => self.skip_brackets()?,
                }
                Value::Metadata
            }
            found => {
                return self.fail(at, format!("a value is expected, and {} is here", show(&found)));
            }
        })
    }

    fn int(&mut self, text: &str, ty: TypeId, at: usize) -> Parsed<Value> {
        let Some(bits) = self.constant_bits(ty) else {
            // A floating-point number may be written without a point in its hexadecimal form only.
            return match self.module.ty(ty) {
                Type::Float(_) => Ok(Value::Float(text.to_owned())),
                _ => self.fail(at, "a number is not expected here"),
            };
        };
        if bits > 128 {
            return self.fail(at, format!("numbers of {bits} bits are not read"));
        }
        let number = text.parse::<i128>().or_else(|_| text.parse::<u128>().map(|n| n as i128));
        match number {
            Ok(number) => Ok(Value::Int(crate::wrap(number, bits))),
            Err(_) => self.fail(at, "this number is too large"),
        }
    }

    fn assembly(&mut self) -> Parsed<Value> {
        while matches!(self.peek(), Token::Word(_)) {
            self.next();
        }
        let text = self.string()?;
        self.expect(b',')?;
        Ok(Value::Asm(text, self.string()?))
    }

    fn splat(&mut self, ty: TypeId) -> Parsed<Value> {
        self.expect(b'(')?;
        let element = self.typed()?;
        self.expect(b')')?;
        let count = match self.module.ty(ty) {
            Type::Vector(count, _) if *count <= 1024 => *count as usize,
            _ => 0,
        };
        Ok(Value::Aggregate(vec![element; count]))
    }

    fn elements(&mut self, end: u8) -> Parsed<Value> {
        let mut elements = Vec::new();
        while !self.accept(end) {
            elements.push(self.typed()?);
            if !self.accept(b',') {
                self.expect(end)?;
                break;
            }
        }
        Ok(Value::Aggregate(elements))
    }

    /// The word of an operation in front of its operands, with its flags skipped.
    fn flags(&mut self) -> Parsed<(bool, bool, bool)> {
        let (mut nsw, mut nuw, mut is_inbounds) = (false, false, false);
        loop {
            match self.peek() {
                Token::Word("nsw") => nsw = true,
                Token::Word("nuw") => nuw = true,
                Token::Word("inbounds") => is_inbounds = true,
                Token::Word(
                    "nusw" | "exact" | "disjoint" | "nneg" | "samesign" | "fast" | "nnan" | "ninf"
                    | "nsz" | "arcp" | "contract" | "afn" | "reassoc" | "inrange",
                ) => {}
                _ => return Ok((nsw, nuw, is_inbounds)),
            }
            self.next();
            if self.is_sign(b'(') && matches!(self.peek_behind(), Token::Int(_)) {
                self.skip_brackets()?;
            }
        }
    }

    /// The token behind the next one.
    fn peek_behind(&self) -> crate::lexer::Token<'_> {
        let mut lexer = self.lexer.clone();
        lexer.next();
        lexer.next()
    }

    /// An operation, whose word has been read; nothing if the word is none. A constant expression
    /// has its operands in brackets.
    pub(super) fn operation(&mut self, word: &str) -> Parsed<Option<Op>> {
        if let Some(op) = binary(word) {
            let (nsw, nuw, _) = self.flags()?;
            let is_constant = self.accept(b'(');
            let (ty, a) = self.typed()?;
            self.expect(b',')?;
            if is_constant {
                self.ty()?;
            }
            let b = self.value(ty)?;
            self.close(is_constant)?;
            return Ok(Some(Op::Binary { op, nsw, nuw, ty, a, b }));
        }
        if let Some(op) = cast(word) {
            self.flags()?;
            let is_constant = self.accept(b'(');
            let (from, value) = self.typed()?;
            self.expect_word("to")?;
            let to = self.ty()?;
            self.close(is_constant)?;
            return Ok(Some(Op::Cast { op, from, value, to }));
        }
        Ok(Some(match word {
            "icmp" => {
                self.flags()?;
                let at = self.here();
                let predicate = match self.next() {
                    Token::Word(word) => predicate(word),
                    _ => None,
                };
                let Some(predicate) = predicate else {
                    return self.fail(at, "a comparison is expected");
                };
                let is_constant = self.accept(b'(');
                let (ty, a) = self.typed()?;
                self.expect(b',')?;
                if is_constant {
                    self.ty()?;
                }
                let b = self.value(ty)?;
                self.close(is_constant)?;
                Op::Compare(predicate, ty, a, b)
            }
            "select" => {
                self.flags()?;
                let is_constant = self.accept(b'(');
                let (condition_ty, condition) = self.typed()?;
                self.expect(b',')?;
                let (ty, a) = self.typed()?;
                self.expect(b',')?;
                let (_, b) = self.typed()?;
                self.close(is_constant)?;
                Op::Select(condition_ty, condition, ty, a, b)
            }
            "getelementptr" => {
                let (_, _, is_inbounds) = self.flags()?;
                let is_constant = self.accept(b'(');
                let ty = self.ty()?;
                self.expect(b',')?;
                let (_, pointer) = self.typed()?;
                let mut indices = Vec::new();
                while self.is_sign(b',') && !matches!(self.peek_behind(), Token::Meta(_)) {
                    self.next();
                    self.flags()?;
                    indices.push(self.typed()?);
                }
                self.close(is_constant)?;
                Op::Element { is_inbounds, ty, pointer, indices }
            }
            "extractvalue" => {
                let (ty, value) = self.typed()?;
                Op::Extract(ty, value, self.path()?)
            }
            "insertvalue" => {
                let (ty, value) = self.typed()?;
                self.expect(b',')?;
                let (element_ty, element) = self.typed()?;
                Op::Insert(ty, value, element_ty, element, self.path()?)
            }
            "freeze" => {
                let (ty, value) = self.typed()?;
                Op::Freeze(ty, value)
            }
            "extractelement" => {
                let is_constant = self.accept(b'(');
                let (ty, value) = self.typed()?;
                self.expect(b',')?;
                let (index_ty, index) = self.typed()?;
                self.close(is_constant)?;
                Op::ExtractElement(ty, value, index_ty, index)
            }
            "insertelement" => {
                let is_constant = self.accept(b'(');
                let (ty, value) = self.typed()?;
                self.expect(b',')?;
                let element = self.typed()?;
                self.expect(b',')?;
                let index = self.typed()?;
                self.close(is_constant)?;
                Op::InsertElement(ty, value, element, index)
            }
            "shufflevector" => {
                let is_constant = self.accept(b'(');
                let (ty, a) = self.typed()?;
                self.expect(b',')?;
                let (_, b) = self.typed()?;
                self.expect(b',')?;
                let (mask_ty, mask) = self.typed()?;
                self.close(is_constant)?;
                Op::Shuffle(ty, a, b, mask_ty, mask)
            }
            _ => match self.float(word)? {
                Some(op) => op,
                None => return Ok(None),
            },
        }))
    }

    /// An operation on floating-point numbers.
    fn float(&mut self, word: &str) -> Parsed<Option<Op>> {
        const NAMES: [&str; 7] = ["fneg", "fadd", "fsub", "fmul", "fdiv", "frem", "fcmp"];
        let Some(name) = NAMES.into_iter().find(|name| *name == word) else { return Ok(None) };
        self.flags()?;
        if name == "fcmp" {
            self.next();
        }
        let (ty, a) = self.typed()?;
        let mut operands = vec![a];
        if name != "fneg" {
            self.expect(b',')?;
            operands.push(self.value(ty)?);
        }
        Ok(Some(Op::Float(name, ty, operands)))
    }

    fn close(&mut self, is_constant: bool) -> Parsed<()> {
        match is_constant {
            true => self.expect(b')'),
            false => Ok(()),
        }
    }

    /// `, 1, 0`
    fn path(&mut self) -> Parsed<Vec<u32>> {
        let mut path = Vec::new();
        while self.is_sign(b',') && matches!(self.peek_behind(), Token::Int(_)) {
            self.next();
            let at = self.here();
            match u32::try_from(self.number()?) {
                Ok(index) => path.push(index),
                Err(_) => return self.fail(at, "this index is too large"),
            }
        }
        Ok(path)
    }
}
