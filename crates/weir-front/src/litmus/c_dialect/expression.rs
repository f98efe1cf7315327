//! Expressions: read and translated at once. An access becomes a statement before the one that uses its value.
//!
//! C leaves open in which order the operands of an operator are evaluated, so at most one of
//! them may access memory; `&&` and `||` are evaluated from left to right.

use std::ops::Range;

use weir_model::ids::RegId;
use weir_model::program::{BinOp, Code, Expr, Order, Place, StmtKind, UnOp};

use super::super::lexer::Kind;
use super::super::test::{STRIDE, SymbolId, Value as Initial};
use super::Reader;
use crate::suggest::closest;
use crate::{Diagnostic, MAX_NESTING};

/// How deep the tree of an expression may be. Places that are computed add to it.
const MAX_DEPTH: usize = MAX_NESTING - 10;

/// A value.
#[derive(Clone, Debug)]
pub(super) enum Value {
    /// A number, or what nobody has declared as a pointer.
    Number(Code),
    /// The address of some variable, and whether that is an atomic one.
    Pointer(Code, bool),
    /// The address of an element of a variable of the test.
    Element(SymbolId, Code),
}

/// What an expression stands for.
#[derive(Clone, Debug)]
pub(super) enum Operand {
    Value(Value),
    /// The place that a value points to.
    Place(Value),
}

/// Operators with two operands, from weak to strong.
const OPERATORS: [(&str, BinOp, usize); 15] = [
    ("||", BinOp::Or, 1),
    ("&&", BinOp::And, 2),
    ("|", BinOp::BitOr, 3),
    ("^", BinOp::BitXor, 4),
    ("&", BinOp::BitAnd, 5),
    ("==", BinOp::Eq, 6),
    ("!=", BinOp::Ne, 6),
    ("<", BinOp::Lt, 7),
    ("<=", BinOp::Le, 7),
    (">", BinOp::Gt, 7),
    (">=", BinOp::Ge, 7),
    ("+", BinOp::Add, 8),
    ("-", BinOp::Sub, 8),
    ("*", BinOp::Mul, 9),
    ("/", BinOp::Div, 9),
];

impl Reader<'_, '_, '_> {
    /// An expression.
    pub(super) fn value(&mut self) -> Result<Value, Diagnostic> {
        self.operators(1)
    }

    /// An expression as code over registers.
    pub(super) fn number(&mut self) -> Result<Code, Diagnostic> {
        let value = self.value()?;
        Ok(self.code(value))
    }

    /// An expression of operators that bind at least as strongly as `least`.
    fn operators(&mut self, least: usize) -> Result<Value, Diagnostic> {
        let (before, start) = (self.accesses, self.tokens.range().start);
        let left = self.unary()?;
        self.operators_behind(left, before, start, least)
    }

    /// The same behind its first operand, before which there were so many accesses.
    fn operators_behind(
        &mut self,
        mut left: Value,
        before: usize,
        start: usize,
        least: usize,
    ) -> Result<Value, Diagnostic> {
        loop {
            let Some(Kind::Sign(sign)) = self.tokens.peek() else { return Ok(left) };
            let found = OPERATORS.iter().find(|(s, _, strength)| *s == sign && *strength >= least);
            let Some(&(_, op, strength)) = found else { return Ok(left) };
            self.tokens.next();
            if matches!(op, BinOp::And | BinOp::Or) {
                left = self.in_turn(op, left, strength)?;
                continue;
            }
            let between = self.accesses;
            let right = self.operators(strength + 1)?;
            if before < between && between < self.accesses {
                let message = "two operands of one operator access memory, and C leaves open which of them does first";
                return Err(Diagnostic::new(message, self.tokens.since(start))
                    .help("give each access a statement of its own"));
            }
            left = self.binary(op, left, right, start)?;
        }
    }

    /// `a && b` or `a || b`, behind the operator.
    fn in_turn(&mut self, op: BinOp, left: Value, strength: usize) -> Result<Value, Diagnostic> {
        let start = self.tokens.range().start;
        let outer = std::mem::take(&mut self.body);
        let right = self.operators(strength + 1);
        let mut block = std::mem::replace(&mut self.body, outer);
        let right = right?;
        if block.is_empty() {
            return self.binary(op, left, right, start);
        }
        let (left, right) = (self.code(left), self.code(right));
        let truth = |e| Expr::binary(BinOp::Ne, e, Expr::Const(0));
        let result = self.temporary();
        self.push(StmtKind::Assign(result, truth(left)));
        let assign = StmtKind::Assign(result, truth(right));
        block.push(weir_model::program::Stmt::new(assign, self.span));
        let condition = Expr::Atom(result);
        self.push(match op {
            BinOp::And => StmtKind::If(condition, block, vec![]),
            _ => StmtKind::If(condition, vec![], block),
        });
        Ok(Value::Number(Expr::Atom(result)))
    }

    fn binary(
        &mut self,
        op: BinOp,
        left: Value,
        right: Value,
        start: usize,
    ) -> Result<Value, Diagnostic> {
        use Value::{Element, Number, Pointer};
        let here = self.tokens.since(start);
        let value = match (op, left, right) {
            (_, Number(a), Number(b)) => Number(folded(op, a, b)),
            (BinOp::Add, Element(symbol, at), Number(by))
            | (BinOp::Add, Number(by), Element(symbol, at))
            | (BinOp::Sub, Element(symbol, at), Number(by)) => Element(symbol, folded(op, at, by)),
            (BinOp::Add, Pointer(at, atomic), Number(by))
            | (BinOp::Add, Number(by), Pointer(at, atomic))
            | (BinOp::Sub, Pointer(at, atomic), Number(by)) => {
                let by = folded(BinOp::Mul, by, Expr::Const(STRIDE));
                Pointer(folded(op, at, by), atomic)
            }
            (BinOp::Eq | BinOp::Ne | BinOp::And | BinOp::Or, left, right) => {
                let (left, right) = (self.code(left), self.code(right));
                Number(folded(op, left, right))
            }
            _ => {
                let message = "addresses can only be compared with `==` and `!=`, and have numbers added to them";
                return Err(Diagnostic::new(message, here)
                    .help("what another operator gives depends on where variables lie in memory"));
            }
        };
        self.check_depth(value, here)
    }

    /// Refuses an expression that is too deep.
    fn check_depth(&self, value: Value, range: Range<usize>) -> Result<Value, Diagnostic> {
        let (Value::Number(code) | Value::Pointer(code, _) | Value::Element(_, code)) = &value;
        match depth(code) > MAX_DEPTH {
            true => Err(too_deep(range)),
            false => Ok(value),
        }
    }

    fn unary(&mut self) -> Result<Value, Diagnostic> {
        let start = self.tokens.range().start;
        let operand = self.operand()?;
        self.read(operand, start)
    }

    /// The value of an operand, which is read if it is a place.
    pub(super) fn read(&mut self, operand: Operand, start: usize) -> Result<Value, Diagnostic> {
        match operand {
            Operand::Value(value) => Ok(value),
            Operand::Place(pointer) => {
                let order = self.own_order(&pointer);
                let place = self.deref(pointer, self.tokens.since(start))?;
                Ok(Value::Number(self.load(place.ordered(order))))
            }
        }
    }

    /// An operand with the operators before and behind it.
    pub(super) fn operand(&mut self) -> Result<Operand, Diagnostic> {
        self.nesting += 1;
        if self.nesting > MAX_NESTING {
            return Err(too_deep(self.tokens.range()));
        }
        let operand = self.prefixed();
        self.nesting -= 1;
        let mut operand = operand?;
        while self.tokens.sign("[") {
            let start = self.tokens.range().start;
            let array = self.read(operand, start)?;
            let index = self.number()?;
            let here = self.tokens.since(start);
            self.tokens.expect("]")?;
            if let Value::Number(_) = array {
                return Err(Diagnostic::new("this is not an element of an array", here)
                    .help("what stands before `[` is a parameter or is declared as a pointer"));
            }
            operand =
                Operand::Place(self.binary(BinOp::Add, array, Value::Number(index), start)?);
        }
        Ok(operand)
    }

    fn prefixed(&mut self) -> Result<Operand, Diagnostic> {
        let start = self.tokens.range().start;
        if self.tokens.sign("*") {
            return Ok(Operand::Place(self.unary()?));
        }
        if self.tokens.sign("&") {
            let place = self.operand()?;
            let Operand::Place(pointer) = place else {
                let message = "only the address of a place in memory is read here";
                return Err(Diagnostic::new(message, self.tokens.since(start)).help(
                    "parameters are pointers already: `x` is the address of the variable `x`",
                ));
            };
            return Ok(Operand::Value(pointer));
        }
        let unary = [("!", UnOp::Not), ("-", UnOp::Neg)];
        if let Some((_, op)) = unary.into_iter().find(|(sign, _)| self.tokens.sign(sign)) {
            let value = self.unary()?;
            return self.prefix(op, value, start).map(Operand::Value);
        }
        if self.tokens.sign("~") {
            let value = self.unary()?;
            // The complement of `e` is `-1 - e`.
            let ones = Value::Number(Expr::Const(-1));
            return self.binary(BinOp::Sub, ones, value, start).map(Operand::Value);
        }
        if self.is_cast() {
            let stars = self.skip_cast();
            let value = self.unary()?;
            return Ok(Operand::Value(match value {
                Value::Number(code) if stars > 0 => Value::Pointer(code, false),
                value => value,
            }));
        }
        if self.tokens.sign("(") {
            let (before, start) = (self.accesses, self.tokens.range().start);
            let first = self.operand()?;
            // A place in parentheses is a place.
            if self.tokens.sign(")") {
                return Ok(first);
            }
            let first = self.read(first, start)?;
            let inner = self.operators_behind(first, before, start, 1)?;
            self.tokens.expect(")")?;
            return Ok(Operand::Value(inner));
        }
        if let Some(number) = self.tokens.number() {
            return Ok(Operand::Value(Value::Number(Expr::Const(number))));
        }
        let (name, range) = self.tokens.word("an expression")?;
        if let Some(Kind::Sign("(")) = self.tokens.peek() {
            return self.call(name, range).map(Operand::Value);
        }
        self.name(name, range).map(Operand::Value)
    }

    fn prefix(&mut self, op: UnOp, value: Value, start: usize) -> Result<Value, Diagnostic> {
        let here = self.tokens.since(start);
        let code = match (op, value) {
            (UnOp::Neg, Value::Pointer(..) | Value::Element(..)) => {
                return Err(Diagnostic::new("an address has no negative", here));
            }
            (_, value) => self.code(value),
        };
        let value = match code {
            Expr::Const(number) => op.apply(number).map(Expr::Const).ok(),
            code => Some(Expr::unary(op, code)),
        };
        let value =
            value.ok_or_else(|| Diagnostic::new("this number is too large", here.clone()))?;
        self.check_depth(Value::Number(value), here)
    }

    /// A name: a parameter is the address of its variable, anything else a register.
    fn name(&mut self, name: &str, range: Range<usize>) -> Result<Value, Diagnostic> {
        if let Some(parameter) = self.parameters.get(name) {
            return Ok(Value::Element(parameter.symbol, Expr::Const(0)));
        }
        if let Some(local) = self.locals.get(name) {
            let code = Expr::Atom(local.register);
            return Ok(match local.points_to_atomic {
                Some(atomic) => Value::Pointer(code, atomic),
                None => Value::Number(code),
            });
        }
        if name == "NULL" {
            return Ok(Value::Number(Expr::Const(0)));
        }
        let error = Diagnostic::new(format!("there is no variable `{name:.40}`"), range);
        if self.test.find_symbol(name).is_some() {
            let help = format!("make it a parameter of this function: `int *{name:.40}`");
            return Err(error.help(help));
        }
        let known = self.parameters.keys().copied().chain(self.locals.keys().map(String::as_str));
        Err(match closest(name, known) {
            Some(meant) => error.help(format!("did you mean `{meant}`?")),
            None => error.help("nothing has been assigned to it, and no parameter has this name"),
        })
    }

    /// A value as code.
    pub(super) fn code(&mut self, value: Value) -> Code {
        match value {
            Value::Number(code) | Value::Pointer(code, _) => code,
            Value::Element(symbol, index) => {
                self.test.uses_addresses = true;
                let first = Expr::Const(self.layout.value(Initial::Address(symbol)));
                let distance = folded(BinOp::Mul, index, Expr::Const(STRIDE));
                folded(BinOp::Add, first, distance)
            }
        }
    }

    /// The order of an access that names none: `seq_cst` for atomic variables, none otherwise.
    pub(super) fn own_order(&self, pointer: &Value) -> Order {
        let is_atomic = match pointer {
            Value::Number(_) => false,
            Value::Pointer(_, is_atomic) => *is_atomic,
            Value::Element(symbol, _) => {
                self.parameters.values().any(|p| p.symbol == *symbol && p.is_atomic)
            }
        };
        if is_atomic { Order::SeqCst } else { Order::Plain }
    }

    /// The place that a value points to.
    pub(super) fn deref(
        &mut self,
        pointer: Value,
        range: Range<usize>,
    ) -> Result<Place, Diagnostic> {
        match pointer {
            Value::Element(symbol, index) => {
                let len = self.test.array_len(symbol).unwrap_or(1);
                let Expr::Const(index) = index else {
                    return Ok(Place::element(self.layout.var(symbol, 0), len, index));
                };
                match usize::try_from(index).ok().filter(|&i| i < len as usize) {
                    Some(i) => Ok(Place::var(self.layout.var(symbol, i))),
                    None => {
                        let name = self.test.name_of(symbol);
                        let message = format!("`{name:.40}` has no element {index}");
                        Err(Diagnostic::new(message, range)
                            .help("arrays get their length in the initial section: `int a[2];`"))
                    }
                }
            }
            Value::Number(Expr::Const(_)) => {
                Err(Diagnostic::new("this is a number, not a pointer", range))
            }
            Value::Number(code) | Value::Pointer(code, _) => {
                self.test.uses_addresses = true;
                let first = Expr::Const(-self.layout.grid().0);
                Ok(self.layout.place(folded(BinOp::Add, first, code)))
            }
        }
    }

    /// A read into a register of its own.
    pub(super) fn load(&mut self, place: Place) -> Code {
        let register = self.temporary();
        self.access(StmtKind::Load(register, place));
        Expr::Atom(register)
    }

    /// A register for a value, for the rest of the statement.
    pub(super) fn temporary(&mut self) -> RegId {
        let name = format!("${}", self.temporaries);
        self.temporaries += 1;
        self.test.named_register(self.thread, &name, true, self.at.clone())
    }
}

fn too_deep(range: Range<usize>) -> Diagnostic {
    Diagnostic::new(format!("this nests more than {MAX_NESTING} deep"), range)
        .help("divide it into several statements")
}

fn depth(code: &Code) -> usize {
    match code {
        Expr::Const(_) | Expr::Atom(_) => 1,
        Expr::Unary(_, e) => 1 + depth(e),
        Expr::Binary(_, a, b) => 1 + depth(a).max(depth(b)),
    }
}

/// `a op b`, computed if both are known.
pub(super) fn folded(op: BinOp, a: Code, b: Code) -> Code {
    match (&a, &b) {
        (Expr::Const(x), Expr::Const(y)) => {
            op.apply(*x, *y).map_or_else(|_| Expr::binary(op, a, b), Expr::Const)
        }
        (Expr::Const(0), _) if op == BinOp::Add => b,
        (_, Expr::Const(0)) if matches!(op, BinOp::Add | BinOp::Sub) => a,
        _ => Expr::binary(op, a, b),
    }
}
