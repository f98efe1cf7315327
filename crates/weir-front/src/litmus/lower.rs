//! From instructions to statements.
//!
//! Every access to memory becomes a statement of its own. An instruction that
//! reads and writes memory is a load and a store unless it is locked; `XCHG`
//! on memory always is.

use weir_model::ids::{LabelId, RegId};
use weir_model::program::{BinOp, Code, Expr, Rmw, StmtKind};

use super::emit::{Carry, Emitter};
use super::instruction::Instruction;
use super::mnemonic::{Condition, Operation, Update};
use super::operand::Operand;

impl Emitter<'_> {
    /// Goes to a label, always or where the condition holds.
    pub fn jump(&mut self, condition: Option<Condition>, label: LabelId) {
        let goto = StmtKind::Goto(label);
        match condition.map(|condition| self.holds(condition)) {
            None => self.push(goto),
            Some(holds) => self.branch(holds, Some(goto), None),
        }
    }

    /// Any instruction but a jump.
    pub fn instruction(&mut self, instruction: &Instruction) {
        let lock = instruction.lock;
        match (instruction.operation, instruction.operands.as_slice()) {
            (Operation::Move, [to, from]) => self.copy(to, from),
            (Operation::Exchange, [Operand::Memory(at), Operand::Register(r)])
            | (Operation::Exchange, [Operand::Register(r), Operand::Memory(at)]) => {
                let place = self.place(at);
                self.push(StmtKind::Rmw(*r, place, Rmw::Swap(Expr::Atom(*r))));
            }
            (Operation::Exchange, [Operand::Register(a), Operand::Register(b)]) => {
                let old = self.temporary();
                self.push(StmtKind::Assign(old, Expr::Atom(*a)));
                self.push(StmtKind::Assign(*a, Expr::Atom(*b)));
                self.push(StmtKind::Assign(*b, Expr::Atom(old)));
            }
            (Operation::CompareExchange, [to, Operand::Register(new)]) => {
                self.compare_exchange(lock, to, *new);
            }
            (Operation::ExchangeAdd, [to, Operand::Register(with)]) => {
                self.exchange_add(lock, to, *with);
            }
            (Operation::Update(update), [to]) => {
                self.update(lock, update, to, Expr::Const(update.implied.unwrap_or(0)));
            }
            (Operation::Update(update), [to, from]) => {
                let from = self.read(from);
                self.update(lock, update, to, from);
            }
            (Operation::Compare, [a, b]) => {
                let (a, b) = (self.read(a), self.read(b));
                self.set_flags(&a, &b, Carry::Compare);
            }
            (Operation::Test, [a, b]) => {
                let both = Expr::binary(BinOp::BitAnd, self.read(a), self.read(b));
                self.set_flags(&both, &Expr::Const(0), Carry::Clear);
            }
            (Operation::ConditionalMove(condition), [Operand::Register(to), from]) => {
                // The source is read whether or not it is wanted.
                let from = self.read(from);
                let holds = self.holds(condition);
                self.branch(holds, Some(StmtKind::Assign(*to, from)), None);
            }
            (Operation::Set(condition), [to]) => {
                let holds = self.holds(condition);
                self.write(to, holds);
            }
            (Operation::Fence(kind), _) => self.push(StmtKind::Fence(kind)),
            (Operation::Nop, _) => self.push(StmtKind::Nop),
            (Operation::Return, _) => self.push(StmtKind::Exit),
            (operation, operands) => unreachable!("{operation:?} with {operands:?}"),
        }
    }

    fn copy(&mut self, to: &Operand, from: &Operand) {
        match (to, from) {
            (Operand::Register(to), Operand::Memory(at)) => {
                let place = self.place(at);
                self.push(StmtKind::Load(*to, place));
            }
            _ => {
                let from = self.read(from);
                self.write(to, from);
            }
        }
    }

    /// `to = to op from`.
    fn update(&mut self, lock: bool, update: Update, to: &Operand, from: Code) {
        let Operand::Memory(at) = to else {
            let old = self.read(to);
            self.set_flags_of(update, &old, &from);
            return self.write(to, Expr::binary(update.op, old, from));
        };
        let place = self.place(at);
        let old = self.temporary();
        if lock {
            self.push(StmtKind::Rmw(old, place, Rmw::Fetch(update.op, from.clone())));
            self.set_flags_of(update, &Expr::Atom(old), &from);
        } else {
            self.push(StmtKind::Load(old, place.clone()));
            self.set_flags_of(update, &Expr::Atom(old), &from);
            self.push(StmtKind::Store(place, Expr::binary(update.op, Expr::Atom(old), from)));
        }
    }

    /// If `to` holds what the accumulator holds it gets `new`, otherwise the
    /// accumulator gets what it holds.
    fn compare_exchange(&mut self, lock: bool, to: &Operand, new: RegId) {
        let accumulator = self.accumulator();
        let (expected, new) = (Expr::Atom(accumulator), Expr::Atom(new));
        if let (Operand::Memory(at), true) = (to, lock) {
            let place = self.place(at);
            let cas = Rmw::Cas { expected: expected.clone(), new, failure: None };
            // Where they were equal the accumulator gets what it has.
            if !self.has_flags() {
                return self.push(StmtKind::Rmw(accumulator, place, cas));
            }
            let old = self.temporary();
            self.push(StmtKind::Rmw(old, place, cas));
            self.set_flags(&expected, &Expr::Atom(old), Carry::Compare);
            return self.push(StmtKind::Assign(accumulator, Expr::Atom(old)));
        }
        let old = self.read(to);
        self.set_flags(&expected, &old, Carry::Compare);
        let equal = Expr::binary(BinOp::Eq, expected, old.clone());
        let write = self.write_kind(to, new);
        let fail = StmtKind::Assign(accumulator, old);
        self.branch(equal, Some(write), Some(fail));
    }

    /// `to` gets the sum, `with` gets what `to` held.
    fn exchange_add(&mut self, lock: bool, to: &Operand, with: RegId) {
        let add = || Rmw::Fetch(BinOp::Add, Expr::Atom(with));
        let sum = |old: Code| Expr::binary(BinOp::Add, old, Expr::Atom(with));
        let Operand::Memory(at) = to else {
            // The sum is written last: the two may be one register.
            let (old, total) = (self.read(to), self.temporary());
            self.push(StmtKind::Assign(total, sum(old.clone())));
            self.push(StmtKind::Assign(with, old));
            self.set_flags(&Expr::Atom(total), &Expr::Const(0), Carry::Clear);
            return self.write(to, Expr::Atom(total));
        };
        let place = self.place(at);
        if lock && !self.has_flags() {
            return self.push(StmtKind::Rmw(with, place, add()));
        }
        let old = self.temporary();
        if lock {
            self.push(StmtKind::Rmw(old, place, add()));
        } else {
            self.push(StmtKind::Load(old, place.clone()));
            self.push(StmtKind::Store(place, sum(Expr::Atom(old))));
        }
        self.set_flags(&sum(Expr::Atom(old)), &Expr::Const(0), Carry::Clear);
        self.push(StmtKind::Assign(with, Expr::Atom(old)));
    }
}
