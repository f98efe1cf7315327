//! Parses expressions.

use weir_model::program::{BinOp, Expr, UnOp};

use super::lexer::Kind;
use super::parse::{KEYWORDS, Parsed, Parser};
use super::tree::Value;
use crate::MAX_NESTING;
use crate::errors::quote;

impl Parser<'_, '_> {
    /// A condition over registers.
    pub fn condition(&mut self) -> Parsed<Value> {
        let and = |this: &mut Self| this.chain(BinOp::And, "&&", Self::literal);
        let value = self.chain(BinOp::Or, "||", and)?;
        self.shallow(value)
    }

    /// `value`, unless its operators nest too deep.
    fn shallow(&self, value: Value) -> Parsed<Value> {
        if depth(&value) <= MAX_NESTING / 2 {
            return Ok(value);
        }
        let message = format!("operators nest more than {} deep here", MAX_NESTING / 2);
        Err(Box::new(self.peek().error(message)))
    }

    /// `a op a op …`
    fn chain(
        &mut self,
        op: BinOp,
        sign: &str,
        part: impl Fn(&mut Self) -> Parsed<Value>,
    ) -> Parsed<Value> {
        let mut value = part(self)?;
        let mut length = 1;
        while self.eat(sign) {
            length = self.lengthen(length)?;
            value = Expr::binary(op, value, part(self)?);
        }
        Ok(value)
    }

    fn lengthen(&self, length: usize) -> Parsed<usize> {
        if length < MAX_NESTING / 4 {
            return Ok(length + 1);
        }
        let message = format!("an expression has more than {} parts here", MAX_NESTING / 4);
        Err(Box::new(self.peek().error(message).help("put some of them in brackets")))
    }

    fn literal(&mut self) -> Parsed<Value> {
        if self.eat("not") {
            return Ok(Expr::unary(UnOp::Not, self.literal_atom()?));
        }
        self.literal_atom()
    }

    fn literal_atom(&mut self) -> Parsed<Value> {
        if self.eat("true") {
            return Ok(Expr::Const(1));
        }
        if self.eat("false") {
            return Ok(Expr::Const(0));
        }
        if self.eat("[") {
            let inner = self.deeper(Self::condition)?;
            self.expect("]", "")?;
            return Ok(inner);
        }
        let left = self.value()?;
        let op = match self.peek().text {
            "=" => BinOp::Eq,
            "!=" => BinOp::Ne,
            "<" => BinOp::Lt,
            ">" => BinOp::Gt,
            "<=" => BinOp::Le,
            ">=" => BinOp::Ge,
            _ => return Err(self.unexpected("a comparison, such as `=`")),
        };
        self.next();
        Ok(Expr::binary(op, left, self.value()?))
    }

    /// A number over registers.
    pub fn value(&mut self) -> Parsed<Value> {
        let mut value = self.unit()?;
        let mut length = 1;
        loop {
            let op = match self.peek() {
                token if token.is("+") => BinOp::Add,
                token if token.is("-") => BinOp::Sub,
                _ => return self.shallow(value),
            };
            self.next();
            length = self.lengthen(length)?;
            value = Expr::binary(op, value, self.unit()?);
        }
    }

    fn unit(&mut self) -> Parsed<Value> {
        let token = self.peek();
        match token.kind {
            Kind::Register => Ok(Expr::Atom(self.next())),
            Kind::Number(value) => {
                self.next();
                Ok(Expr::Const(value))
            }
            _ if token.is("-") => {
                self.next();
                self.deeper(|this| {
                    Ok(match this.unit()? {
                        Expr::Const(value) => Expr::Const(-value),
                        e => Expr::unary(UnOp::Neg, e),
                    })
                })
            }
            _ if token.is("(") => {
                self.next();
                let inner = self.deeper(Self::value)?;
                self.expect(")", "")?;
                Ok(inner)
            }
            Kind::Word if !KEYWORDS.contains(&token.text) => {
                let name = quote(token.text);
                let message = format!("{name} is not a register: an expression has registers only");
                let help = "load it first, as in `read: $r := x`";
                Err(Box::new(token.error(message).help(help)))
            }
            _ => Err(self.unexpected("a register or a number")),
        }
    }
}

/// How deep operators nest.
fn depth(e: &Value) -> usize {
    match e {
        Expr::Const(_) | Expr::Atom(_) => 1,
        Expr::Unary(_, e) => 1 + depth(e),
        Expr::Binary(_, a, b) => 1 + depth(a).max(depth(b)),
    }
}
