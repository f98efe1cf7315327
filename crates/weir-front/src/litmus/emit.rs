//! What instructions are made of: reading and writing operands, flags, places.
//!
//! Flags are registers that hold 0 or 1, and exist only where something asks
//! for them: a jump on them in the same thread, or the condition of the test.

use std::ops::Range;

use weir_model::ids::{RegId, SpanId};
use weir_model::program::{BinOp, Code, Expr, Place, Stmt, StmtKind, UnOp};

use super::instruction::Instruction;
use super::mnemonic::{Condition, Flag, FlagRule, Update};
use super::operand::{Address, Operand};
use super::test::{Layout, Test};
use crate::Diagnostic;

/// Collects the statements of one thread.
pub(super) struct Emitter<'t> {
    test: &'t mut Test,
    layout: &'t Layout,
    thread: usize,
    body: Vec<Stmt>,
    /// The place of the instruction that is being translated.
    span: SpanId,
    at: Range<usize>,
}

/// What happens to the carry flag.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Carry {
    /// It tells of the comparison, like the other flags.
    Compare,
    Clear,
    Keep,
}

impl<'t> Emitter<'t> {
    /// For a thread of which nothing has been translated.
    pub fn new(test: &'t mut Test, layout: &'t Layout, thread: usize) -> Self {
        Self { test, layout, thread, body: vec![], span: SpanId::NONE, at: 0..0 }
    }

    /// Makes the flags that an instruction asks for.
    pub fn need_flags(&mut self, instruction: &Instruction) {
        for flag in instruction.operation.condition().map_or(&[][..], |c| c.flags) {
            let range = instruction.range.clone();
            self.test.named_register(self.thread, flag.name(), true, range);
        }
    }

    /// What comes from now on belongs to this place.
    pub fn move_to(&mut self, range: &Range<usize>) {
        self.span = self.test.source.span(range.clone());
        self.at = range.clone();
    }

    /// One more statement.
    pub fn push(&mut self, kind: StmtKind) {
        self.body.push(Stmt::new(kind, self.span));
    }

    /// Two ways to go on, each with at most one statement.
    pub fn branch(&mut self, code: Code, then: Option<StmtKind>, other: Option<StmtKind>) {
        let block = |kind: Option<StmtKind>| {
            kind.into_iter().map(|kind| Stmt::new(kind, self.span)).collect::<Vec<_>>()
        };
        let (then, other) = (block(then), block(other));
        self.push(StmtKind::If(code, then, other));
    }

    /// Reports an error.
    pub fn error(&mut self, error: impl FnOnce() -> Diagnostic) {
        self.test.errors.push_with(error);
    }

    /// All the statements.
    pub fn finish(self) -> Vec<Stmt> {
        self.body
    }

    /// The register for a value that has none. One is enough: no instruction
    /// needs two, and none leaves a value in it.
    pub fn temporary(&mut self) -> RegId {
        self.test.named_register(self.thread, "tmp", true, self.at.clone())
    }

    /// The register that `CMPXCHG` compares with.
    pub fn accumulator(&mut self) -> RegId {
        let name = self.test.dialect.accumulator();
        self.test.named_register(self.thread, name, false, self.at.clone())
    }

    /// The value of an operand; one in memory is loaded.
    pub fn read(&mut self, operand: &Operand) -> Code {
        match operand {
            Operand::Register(register) => Expr::Atom(*register),
            Operand::Constant(value) => Expr::Const(self.layout.value(*value)),
            Operand::Memory(at) => {
                let place = self.place(at);
                let value = self.temporary();
                self.push(StmtKind::Load(value, place));
                Expr::Atom(value)
            }
        }
    }

    /// Writes to an operand.
    pub fn write(&mut self, operand: &Operand, value: Code) {
        let write = self.write_kind(operand, value);
        self.push(write);
    }

    /// The statement that writes to an operand.
    pub fn write_kind(&mut self, operand: &Operand, value: Code) -> StmtKind {
        match operand {
            Operand::Register(register) => StmtKind::Assign(*register, value),
            Operand::Memory(at) => StmtKind::Store(self.place(at), value),
            Operand::Constant(_) => unreachable!("no instruction writes to a constant"),
        }
    }

    /// The place of an address. One that is computed may be any variable; an invalid address, or
    /// one between two variables, gives an index out of range.
    pub fn place(&mut self, address: &Address) -> Place {
        let (offset, base, index) = match address {
            Address::Direct(symbol) => return Place::var(self.layout.var(*symbol, 0)),
            Address::Computed { offset, base, index } => (*offset, *base, *index),
        };
        if self.layout.len == 0 {
            let message = "the test has no variable that this could be the address of";
            let at = self.at.clone();
            self.error(|| Diagnostic::new(message, at));
        }
        let (first, _) = self.layout.grid();
        let scaled = index.map(|(register, scale)| match scale {
            1 => Expr::Atom(register),
            _ => Expr::binary(BinOp::Mul, Expr::Atom(register), Expr::Const(scale)),
        });
        let distance = [base.map(Expr::Atom), scaled]
            .into_iter()
            .flatten()
            .fold(Expr::Const(offset.saturating_sub(first)), |sum, part| {
                Expr::binary(BinOp::Add, sum, part)
            });
        self.layout.place(distance)
    }

    fn flag(&self, flag: Flag) -> Option<RegId> {
        self.test.find_register(self.thread, flag.name())
    }

    /// Whether anything asks for flags in this thread.
    pub fn has_flags(&self) -> bool {
        Flag::ALL.iter().any(|&flag| self.flag(flag).is_some())
    }

    /// Sets the flags as after comparing `a` with `b`.
    pub fn set_flags(&mut self, a: &Code, b: &Code, carry: Carry) {
        let compare = |op| Expr::binary(op, a.clone(), b.clone());
        if let Some(zero) = self.flag(Flag::Zero) {
            self.push(StmtKind::Assign(zero, compare(BinOp::Eq)));
        }
        if let Some(sign) = self.flag(Flag::Sign) {
            self.push(StmtKind::Assign(sign, compare(BinOp::Lt)));
        }
        if let (Some(register), true) = (self.flag(Flag::Carry), carry != Carry::Keep) {
            // Flipping the top bit turns the unsigned order into the signed one.
            let flip =
                |e: &Code| Expr::binary(BinOp::BitXor, e.clone(), Expr::Const(i64::MIN.into()));
            let value = match carry {
                Carry::Compare => Expr::binary(BinOp::Lt, flip(a), flip(b)),
                _ => Expr::Const(0),
            };
            self.push(StmtKind::Assign(register, value));
        }
    }

    /// Sets the flags for an update of `old`; before anything is written.
    pub fn set_flags_of(&mut self, update: Update, old: &Code, from: &Code) {
        let result = Expr::binary(update.op, old.clone(), from.clone());
        let zero = Expr::Const(0);
        match update.flags {
            FlagRule::Untouched => {}
            FlagRule::Result => self.set_flags(&result, &zero, Carry::Clear),
            FlagRule::ResultKeepingCarry => self.set_flags(&result, &zero, Carry::Keep),
            FlagRule::Difference => self.set_flags(old, from, Carry::Compare),
            FlagRule::Negation => self.set_flags(&zero, old, Carry::Compare),
        }
    }

    /// Whether a condition holds.
    pub fn holds(&mut self, condition: Condition) -> Code {
        let flags = condition.flags.iter().map(|&flag| {
            Expr::Atom(self.flag(flag).expect("every flag that is asked for has been made"))
        });
        let any = flags.reduce(|a, b| Expr::binary(BinOp::Or, a, b)).unwrap_or(Expr::Const(0));
        if condition.negated { Expr::unary(UnOp::Not, any) } else { any }
    }
}
