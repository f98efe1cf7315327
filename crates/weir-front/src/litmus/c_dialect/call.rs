//! Calls of functions and macros: what each [`Primitive`] becomes.

use std::ops::Range;

use weir_model::ids::RegId;
use weir_model::program::{BinOp, Code, Expr, FenceKind, Order, Place, Rmw, Stmt, StmtKind, UnOp};

use super::super::lexer::Kind;
use super::Reader;
use super::expression::{Operand as Parsed, Value, folded};
use super::primitive::{self, Access, NAMES, Operand, Orders, Outcome, Primitive};
use crate::Diagnostic;
use crate::suggest::closest;

/// Where a compare-exchange keeps the value that it expects.
enum Expected {
    Register(RegId),
    Memory(Place),
}

impl Reader<'_, '_, '_> {
    /// A call, behind its name. What gives nothing gives 0.
    pub(super) fn call(&mut self, name: &str, range: Range<usize>) -> Result<Value, Diagnostic> {
        let Some((primitive, is_kernel)) = primitive::find(name) else {
            return Err(unknown(name, range));
        };
        // Of a name that C11 and the kernel share, the arguments tell.
        let is_shared = matches!(primitive, Primitive::Fetch { operand: Operand::Either, .. });
        self.found.kernel |= is_kernel && !is_shared;
        self.tokens.expect("(")?;
        let outer = std::mem::replace(&mut self.before_call, self.accesses);
        let result = self.primitive(primitive, &range)?;
        self.before_call = outer;
        if !self.tokens.sign(")") {
            return Err(self.tokens.expected(&format!("`)` behind the arguments of `{name:.40}`")));
        }
        Ok(Value::Number(result))
    }

    fn primitive(
        &mut self,
        primitive: Primitive,
        range: &Range<usize>,
    ) -> Result<Code, Diagnostic> {
        match primitive {
            Primitive::Load(access) => {
                let place = self.place_by(access)?;
                let order = self.order(access.order, &[Order::Release, Order::AcquireRelease])?;
                return Ok(self.load(place.ordered(order)));
            }
            Primitive::Store(access) => {
                let place = self.place_by(access)?;
                let value = self.next_number()?;
                let order = self.order(access.order, &[Order::Acquire, Order::AcquireRelease])?;
                self.access(StmtKind::Store(place.ordered(order), value));
            }
            Primitive::StoreFence => {
                let order = Orders::Fixed(Order::Relaxed);
                let place = self.place_by(Access { is_place: true, order })?;
                let value = self.next_number()?;
                self.access(StmtKind::Store(place.ordered(Order::Relaxed), value));
                self.push(StmtKind::Fence(FenceKind::Full));
            }
            Primitive::Fence(kind) => self.push(StmtKind::Fence(kind)),
            Primitive::ThreadFence => self.thread_fence()?,
            Primitive::GracePeriod if self.found.has_sections => {
                let message = "Weir does not read `synchronize_rcu` together with `rcu_read_lock`";
                let help = "C11 has nothing that waits for the critical sections of RCU";
                return Err(Diagnostic::new(message, range.clone()).help(help));
            }
            Primitive::GracePeriod => self.push(StmtKind::Fence(FenceKind::Full)),
            Primitive::Nothing(arguments) => {
                if arguments > 0 {
                    self.memory_order(&[])?;
                }
            }
            Primitive::Exchange(access) => {
                let place = self.place_by(access)?;
                let value = self.next_number()?;
                let order = self.order(access.order, &[])?;
                return Ok(self.update(place.ordered(order), Rmw::Swap(value)));
            }
            Primitive::Fetch { op, operand, result, order } => {
                return self.fetch(op, operand, result, order, range);
            }
            Primitive::CompareExchange { is_weak, order } => {
                return self.compare_exchange(is_weak, order);
            }
            Primitive::Cmpxchg(_)
            | Primitive::TryCmpxchg(_)
            | Primitive::AddUnless { .. }
            | Primitive::IncrementNotZero => return self.conditional(primitive),
            Primitive::Lock | Primitive::Unlock | Primitive::TryLock | Primitive::IsLocked => {
                return self.lock(primitive);
            }
        }
        Ok(Expr::Const(0))
    }

    fn thread_fence(&mut self) -> Result<(), Diagnostic> {
        let kinds: &[FenceKind] = match self.memory_order(&[])? {
            Order::Acquire => &[FenceKind::Read],
            Order::Release => &[FenceKind::Write],
            Order::AcquireRelease => &[FenceKind::Read, FenceKind::Write],
            Order::SeqCst | Order::Fenced => &[FenceKind::Full],
            Order::Plain | Order::Relaxed => &[],
        };
        // A release fence behind an acquire fence is one that is both.
        kinds.iter().for_each(|&kind| self.push(StmtKind::Fence(kind)));
        self.found.weak |= kinds != [FenceKind::Full];
        Ok(())
    }

    /// An arithmetic operation.
    fn fetch(
        &mut self,
        op: BinOp,
        operand: Operand,
        result: Outcome,
        order: Orders,
        range: &Range<usize>,
    ) -> Result<Code, Diagnostic> {
        let start = self.tokens.range().start;
        let first = self.value()?;
        let mut order = order;
        let (pointer, by) = match operand {
            Operand::One => (first, Expr::Const(1)),
            Operand::Second => (first, self.next_number()?),
            Operand::First | Operand::Complement => {
                self.tokens.expect(",")?;
                (self.value()?, self.code(first))
            }
            Operand::Either => {
                self.tokens.expect(",")?;
                let second = self.value()?;
                match (is_pointer(&first), is_pointer(&second)) {
                    (true, false) => {
                        order = Orders::Fixed(Order::SeqCst);
                        (first, self.code(second))
                    }
                    (false, true) => {
                        self.found.kernel = true;
                        (second, self.code(first))
                    }
                    _ => {
                        let message = "it is not clear which argument is the pointer";
                        let help = "in C11 it is the first one, in the kernel the second one; \
                                    declare it as a pointer";
                        return Err(Diagnostic::new(message, range.clone()).help(help));
                    }
                }
            }
        };
        let by = match operand {
            Operand::Complement => folded(BinOp::Sub, Expr::Const(-1), by),
            _ => by,
        };
        let place = self.deref(pointer, self.tokens.since(start))?;
        let order = self.order(order, &[])?;
        let old = self.update(place.ordered(order), Rmw::Fetch(op, by.clone()));
        let new = || Expr::binary(op, old.clone(), by.clone());
        Ok(match result {
            Outcome::Old => old,
            Outcome::New => new(),
            Outcome::IsZero => Expr::binary(BinOp::Eq, new(), Expr::Const(0)),
            Outcome::IsNegative => Expr::binary(BinOp::Lt, new(), Expr::Const(0)),
        })
    }

    /// Compare-exchange of C. A weak one may also fail where it has read what it expects.
    fn compare_exchange(&mut self, is_weak: bool, order: Orders) -> Result<Code, Diagnostic> {
        let place = self.pointer_argument()?;
        self.tokens.expect(",")?;
        let kept = self.expected()?;
        let new = self.next_number()?;
        let order = self.order(order, &[])?;
        let failure = match self.tokens.peek() {
            Some(Kind::Sign(",")) => {
                self.tokens.next();
                Some(self.memory_order(&[Order::Release, Order::AcquireRelease])?)
            }
            _ => None,
        };
        let expected = match &kept {
            Expected::Register(register) => Expr::Atom(*register),
            Expected::Memory(place) => self.load(place.clone().ordered(Order::Plain)),
        };
        let (old, done) = (self.temporary(), self.temporary());
        let cas = Rmw::Cas { expected: expected.clone(), new, failure };
        let here = place.clone().ordered(order);
        let is_done = Expr::binary(BinOp::Eq, Expr::Atom(old), expected);
        let strong = [StmtKind::Rmw(old, here, cas), StmtKind::Assign(done, is_done)];
        let strong = strong.map(|kind| Stmt::new(kind, self.span)).to_vec();
        self.accesses += 1;
        self.found.weak |= order != Order::SeqCst;
        if is_weak {
            let read = place.ordered(failure.unwrap_or_else(|| order.of_failure()));
            let fails = [StmtKind::Load(old, read), StmtKind::Assign(done, Expr::Const(0))];
            let fails = fails.map(|kind| Stmt::new(kind, self.span)).to_vec();
            self.push(StmtKind::Choose(vec![strong, fails]));
        } else {
            self.body.extend(strong);
        }
        self.keep(kept, old, done);
        Ok(Expr::Atom(done))
    }

    /// What a compare-exchange has read goes to where its expected value was, if it has failed.
    fn keep(&mut self, kept: Expected, old: RegId, done: RegId) {
        match kept {
            // If it has not failed the two are equal.
            Expected::Register(register) => self.push(StmtKind::Assign(register, Expr::Atom(old))),
            Expected::Memory(place) => {
                let store = StmtKind::Store(place.ordered(Order::Plain), Expr::Atom(old));
                let store = vec![Stmt::new(store, self.span)];
                self.push(StmtKind::If(Expr::Atom(done), vec![], store));
            }
        }
    }

    /// `&r` for a local variable, or a pointer.
    fn expected(&mut self) -> Result<Expected, Diagnostic> {
        if let (Some(Kind::Sign("&")), Some(Kind::Word(name))) =
            (self.tokens.peek(), self.tokens.peek_at(1))
            && !self.parameters.contains_key(name)
            && let Some(Kind::Sign(",")) = self.tokens.peek_at(2)
        {
            self.tokens.next();
            let range = self.tokens.range();
            self.tokens.next();
            let Some(local) = self.locals.get(name) else {
                let message = format!("there is no variable `{name:.40}`");
                return Err(Diagnostic::new(message, range)
                    .help("declare it with the value that is expected"));
            };
            return Ok(Expected::Register(local.register));
        }
        self.pointer_argument().map(Expected::Memory)
    }

    /// An operation of the kernel that may fail. Only if it succeeds does it order anything, so there
    /// are two ways: one that waits until it would succeed, and one that reads a value with which it fails.
    fn conditional(&mut self, primitive: Primitive) -> Result<Code, Diagnostic> {
        let place = self.pointer_argument()?;
        let old = self.temporary();
        let differs = |from: Code| Expr::binary(BinOp::Ne, Expr::Atom(old), from);
        let mut kept = None;
        let (order, fails, new) = match primitive {
            Primitive::Cmpxchg(order) => {
                let expected = self.next_number()?;
                (order, differs(expected), self.next_number()?)
            }
            Primitive::TryCmpxchg(order) => {
                self.tokens.expect(",")?;
                let expected = match kept.insert(self.expected()?) {
                    Expected::Register(register) => Expr::Atom(*register),
                    Expected::Memory(place) => {
                        let place = place.clone();
                        self.load(place.ordered(Order::Plain))
                    }
                };
                (order, differs(expected), self.next_number()?)
            }
            Primitive::AddUnless { .. } => {
                let by = self.next_number()?;
                let unless = self.next_number()?;
                let fails = Expr::unary(UnOp::Not, differs(unless));
                (Order::Fenced, fails, Expr::binary(BinOp::Add, Expr::Atom(old), by))
            }
            _ => {
                let fails = Expr::unary(UnOp::Not, Expr::Atom(old));
                (Order::Fenced, fails, Expr::binary(BinOp::Add, Expr::Atom(old), Expr::Const(1)))
            }
        };
        let done = self.temporary();
        self.choose(place, order, fails, new, (old, done));
        if let Some(kept) = kept {
            self.keep(kept, old, done);
        }
        Ok(Expr::Atom(match primitive {
            Primitive::Cmpxchg(_) | Primitive::AddUnless { is_fetch: true } => old,
            _ => done,
        }))
    }

    /// Updates a place unless `fails` holds of the value in `old`; `done` says which.
    fn choose(
        &mut self,
        place: Place,
        order: Order,
        fails: Code,
        new: Code,
        (old, done): (RegId, RegId),
    ) {
        let when = Expr::unary(UnOp::Not, fails.clone());
        let update = Rmw::Update { when, new };
        let success = [
            StmtKind::Rmw(old, place.clone().ordered(order), update),
            StmtKind::Assign(done, Expr::Const(1)),
        ];
        let failure = [
            StmtKind::Load(old, place.ordered(Order::Relaxed)),
            StmtKind::Assume(fails),
            StmtKind::Assign(done, Expr::Const(0)),
        ];
        let success = success.map(|kind| Stmt::new(kind, self.span)).to_vec();
        let failure = failure.map(|kind| Stmt::new(kind, self.span)).to_vec();
        self.accesses += 1;
        self.found.weak = true;
        self.push(StmtKind::Choose(vec![success, failure]));
    }

    /// A lock is a variable that is 0 if it is free, otherwise 1.
    fn lock(&mut self, primitive: Primitive) -> Result<Code, Diagnostic> {
        let place = self.pointer_argument()?;
        match primitive {
            Primitive::Lock => {
                let old = self.temporary();
                let when = Expr::unary(UnOp::Not, Expr::Atom(old));
                let update = Rmw::Update { when, new: Expr::Const(1) };
                self.access(StmtKind::Rmw(old, place.ordered(Order::Acquire), update));
                Ok(Expr::Const(0))
            }
            Primitive::Unlock => {
                self.access(StmtKind::Store(place.ordered(Order::Release), Expr::Const(0)));
                Ok(Expr::Const(0))
            }
            Primitive::TryLock => {
                let (old, done) = (self.temporary(), self.temporary());
                self.choose(place, Order::Acquire, Expr::Atom(old), Expr::Const(1), (old, done));
                Ok(Expr::Atom(done))
            }
            _ => {
                let old = self.load(place.ordered(Order::Relaxed));
                Ok(Expr::binary(BinOp::Ne, old, Expr::Const(0)))
            }
        }
    }

    /// An atomic read-write, which gives the old value.
    fn update(&mut self, place: Place, rmw: Rmw) -> Code {
        let register = self.temporary();
        self.access(StmtKind::Rmw(register, place, rmw));
        Expr::Atom(register)
    }

    /// The first argument, by which a call names its place.
    fn place_by(&mut self, access: Access) -> Result<Place, Diagnostic> {
        if !access.is_place {
            return self.pointer_argument();
        }
        let start = self.tokens.range().start;
        match self.operand()? {
            Parsed::Place(pointer) => self.deref(pointer, self.tokens.since(start)),
            Parsed::Value(_) => {
                let message = "the first argument is a place in memory";
                let here = self.tokens.since(start);
                Err(Diagnostic::new(message, here).help("such as `*x`, where `x` is a pointer"))
            }
        }
    }

    fn pointer_argument(&mut self) -> Result<Place, Diagnostic> {
        let start = self.tokens.range().start;
        let pointer = self.value()?;
        self.deref(pointer, self.tokens.since(start))
    }

    fn next_number(&mut self) -> Result<Code, Diagnostic> {
        self.tokens.expect(",")?;
        let (start, between) = (self.tokens.range().start, self.accesses);
        let number = self.number()?;
        if self.before_call < between && between < self.accesses {
            let message = "two arguments access memory, and C leaves open which of them does first";
            return Err(Diagnostic::new(message, self.tokens.since(start))
                .help("give each access a statement of its own"));
        }
        Ok(number)
    }

    /// The order of a call, from its next argument if it has one there.
    fn order(&mut self, orders: Orders, refused: &[Order]) -> Result<Order, Diagnostic> {
        match orders {
            Orders::Fixed(order) => Ok(order),
            Orders::Argument => {
                self.tokens.expect(",")?;
                self.memory_order(refused)
            }
        }
    }

    /// An argument that names an order.
    fn memory_order(&mut self, refused: &[Order]) -> Result<Order, Diagnostic> {
        let (name, range) = self.tokens.word("a memory order")?;
        match primitive::order(name) {
            None => Err(Diagnostic::new(format!("there is no memory order `{name:.40}`"), range)
                .help("orders are `memory_order_relaxed`, `_acquire`, `_release`, `_acq_rel` and `_seq_cst`")),
            Some(order) if refused.contains(&order) => {
                let message = format!("C does not allow `{name}` for this access");
                Err(Diagnostic::new(message, range))
            }
            Some(order) => Ok(order),
        }
    }
}

fn is_pointer(value: &Value) -> bool {
    !matches!(value, Value::Number(_))
}

fn unknown(name: &str, range: Range<usize>) -> Diagnostic {
    let error = Diagnostic::new(format!("Weir does not read the function `{name:.40}`"), range);
    if ["srcu_", "synchronize_", "call_rcu", "rcu_"].iter().any(|p| name.starts_with(p)) {
        return error.help(
            "of RCU it reads `rcu_read_lock`, `rcu_read_unlock`, `rcu_dereference`, \
            `rcu_assign_pointer` and `synchronize_rcu`",
        );
    }
    match closest(name, NAMES) {
        Some(meant) => error.help(format!("did you mean `{meant}`?")),
        None => error.help(
            "docs/litmus.md lists the functions of C11 and of the Linux kernel that it reads",
        ),
    }
}
