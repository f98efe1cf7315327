//! The instructions.

use weir_llvm::{Binary, Cast, Instruction, Kind, LocalId, Op, Type, TypeId, Value};
use weir_model::program::{BinOp, Code, Expr, Order, Stmt, StmtKind, UnOp};

use super::Reader;
use super::explore::{State, code_of};
use super::number::{self, binary, not, number, within};
use super::objects::{Addresses, Val};

/// A memory order.
pub(super) fn order(of: weir_llvm::Ordering) -> Order {
    use weir_llvm::Ordering;
    match of {
        Ordering::NotAtomic => Order::Plain,
        Ordering::Unordered | Ordering::Monotonic => Order::Relaxed,
        Ordering::Acquire => Order::Acquire,
        Ordering::Release => Order::Release,
        Ordering::AcquireRelease => Order::AcquireRelease,
        Ordering::SeqCst => Order::SeqCst,
    }
}

impl<'m> Reader<'m> {
    /// Executes an instruction. Returns whether execution goes on here.
    pub(super) fn step(
        &mut self,
        state: &mut State,
        instruction: &'m Instruction,
        out: &mut Vec<Stmt>,
        depth: usize,
    ) -> bool {
        match self.step_here(state, instruction, out, depth) {
            Some(goes_on) => goes_on,
            None => {
                if !self.is_stopped() && !self.facts.is_changed {
                    self.refuse("this instruction is not read");
                }
                false
            }
        }
    }

    fn step_here(
        &mut self,
        state: &mut State,
        instruction: &'m Instruction,
        out: &mut Vec<Stmt>,
        depth: usize,
    ) -> Option<bool> {
        let result = instruction.result.map(|LocalId(id)| id);
        match &instruction.kind {
            Kind::Op(op) => {
                let values = self.operation(state, op, result, out)?;
                state.top().values.insert(result?, values);
            }
            Kind::Phi(..) => {
                self.refuse("a `phi` stands behind other instructions");
                return None;
            }
            Kind::Alloca(ty, count, _) => self.alloca(state, *ty, count.as_ref(), result?, out)?,
            Kind::Load { ty, pointer, order: ordering, .. } => {
                let LocalId(slot) = match pointer {
                    Value::Local(slot) => *slot,
                    _ => LocalId(u32::MAX),
                };
                if self.info(state.top().function).variables.contains_key(&slot) {
                    let held = state.top().values.get(&slot).cloned();
                    let held = held.unwrap_or_else(|| vec![Val::Undef]);
                    state.top().values.insert(result?, held);
                } else {
                    let pointer = self.scalar(state, self.pointer_type(), pointer, out)?;
                    return self.load(state, (*ty, pointer, order(*ordering)), result?, out);
                }
            }
            Kind::Store { ty, value, pointer, order: ordering, .. } => {
                let values = self.value(state, *ty, value, out)?;
                let LocalId(slot) = match pointer {
                    Value::Local(slot) => *slot,
                    _ => LocalId(u32::MAX),
                };
                if self.info(state.top().function).variables.contains_key(&slot) {
                    state.top().values.insert(slot, values);
                } else {
                    let pointer = self.scalar(state, self.pointer_type(), pointer, out)?;
                    return self.store(state, (*ty, pointer, order(*ordering)), &values, out);
                }
            }
            Kind::Rmw(update, pointer, ty, value, ordering) => {
                let value = self.scalar(state, *ty, value, out)?;
                let pointer = self.scalar(state, self.pointer_type(), pointer, out)?;
                return self.update(
                    state,
                    (*ty, pointer, order(*ordering)),
                    (*update, value),
                    result?,
                    out,
                );
            }
            Kind::CompareExchange { is_weak, pointer, ty, expected, new, success, failure } => {
                let expected = self.scalar(state, *ty, expected, out)?;
                let new = self.scalar(state, *ty, new, out)?;
                let pointer = self.scalar(state, self.pointer_type(), pointer, out)?;
                let orders = (order(*success), order(*failure));
                return self.compare_exchange(
                    state,
                    (*ty, pointer, orders),
                    (expected, new, *is_weak),
                    result?,
                    out,
                    depth,
                );
            }
            Kind::Fence(ordering, is_single) => {
                if !*is_single {
                    self.fence(order(*ordering), out);
                }
            }
            Kind::Call(call) => return self.call(state, call, result, out, depth),
            Kind::Invoke(call, ..) => return self.call(state, call, result, out, depth),
            Kind::Return(value) => {
                let values = match value {
                    Some((ty, value)) => self.value(state, *ty, value, out)?,
                    None => Vec::new(),
                };
                return self.give_back(state, values, out, depth);
            }
            Kind::Jump(to) => return Some(self.go(state, to.0, out, depth)),
            Kind::Branch(condition, then, other) => {
                let condition = self.scalar(state, self.bit, condition, out)?;
                match condition {
                    Val::Known(0) => return Some(self.go(state, other.0, out, depth)),
                    Val::Known(_) => return Some(self.go(state, then.0, out, depth)),
                    Val::Undef => {
                        return self.fail("a branch depends on a value that was never set", out);
                    }
                    Val::Reg(register) => {
                        let mut inner = Vec::new();
                        self.is_alone = false;
                        self.way(state.clone(), then.0, &mut inner, depth);
                        self.emit(out, StmtKind::If(Expr::Atom(register), inner, Vec::new()));
                        return Some(self.go(state, other.0, out, depth));
                    }
                }
            }
            Kind::Switch(ty, value, default, cases) => {
                match self.scalar(state, *ty, value, out)? {
                    Val::Known(n) => {
                        let to = cases
                            .iter()
                            .find(|(case, _)| *case == n)
                            .map_or(*default, |(_, to)| *to);
                        return Some(self.go(state, to.0, out, depth));
                    }
                    Val::Undef => {
                        return self.fail("a branch depends on a value that was never set", out);
                    }
                    Val::Reg(register) => {
                        self.is_alone = false;
                        for (case, to) in cases {
                            let mut inner = Vec::new();
                            self.way(state.clone(), to.0, &mut inner, depth);
                            let is_it = binary(BinOp::Eq, Expr::Atom(register), number(*case));
                            self.emit(out, StmtKind::If(is_it, inner, Vec::new()));
                        }
                        return Some(self.go(state, default.0, out, depth));
                    }
                }
            }
            Kind::Unreachable => {
                return self.fail("code is reached that the compiler took to be unreachable", out);
            }
            Kind::Resume(..) | Kind::LandingPad(_) => {
                self.refuse(
                    "exceptions are not read: compile with `-fno-exceptions` or `-C panic=abort`",
                );
                return None;
            }
            Kind::VaArg(_) => {
                self.refuse("functions with any number of arguments are not read");
                return None;
            }
        }
        state.top().at += 1;
        Some(true)
    }

    /// A failure of the program, in words of its own. Nothing follows it.
    pub(super) fn fail(&mut self, words: &str, out: &mut Vec<Stmt>) -> Option<bool> {
        self.check(number(0), words, out);
        Some(false)
    }

    /// Fails unless a condition holds.
    pub(super) fn check(&mut self, condition: Code, words: &str, out: &mut Vec<Stmt>) {
        if matches!(condition, Expr::Const(n) if n != 0) {
            return;
        }
        let key = (self.range.start, self.range.end, words.to_owned());
        let span = match self.failures.get(&key) {
            Some(span) => *span,
            None => {
                let span = self.source.span(self.range.clone());
                self.messages.insert(span, words.to_owned());
                self.failures.insert(key, span);
                span
            }
        };
        self.emit(out, StmtKind::Assert(condition));
        if let Some(last) = out.last_mut() {
            last.span = span;
        }
    }

    fn alloca(
        &mut self,
        state: &mut State,
        ty: TypeId,
        count: Option<&(TypeId, Value)>,
        result: u32,
        out: &mut Vec<Stmt>,
    ) -> Option<()> {
        let top = state.top();
        let (function, context) = (top.function, top.context);
        if self.info(function).variables.contains_key(&result) {
            state.top().values.insert(result, vec![Val::Undef]);
            return Some(());
        }
        let (size, _) = self.layout.size(ty)?;
        let count = match count {
            None => 1,
            Some((ty, count)) => {
                match self.scalar(state, *ty, count, out)? {
                    Val::Known(n) => u64::try_from(n).ok()?,
                    _ => {
                        self.refuse("how large this array on the stack is, is only known when the program runs");
                        return None;
                    }
                }
            }
        };
        let size = size.checked_mul(count)?;
        let id = self.stack_object(context, function, result, size);
        state.own.remove(&id);
        self.memory.remove(&id);
        self.begin_object(state, id);
        let base = self.facts.get(id).base;
        state.top().values.insert(result, vec![Val::Known(base)]);
        Some(())
    }

    /// The result of an operation.
    pub(super) fn operate(
        &mut self,
        state: &mut State,
        op: &Op,
        result: Option<u32>,
        out: &mut Vec<Stmt>,
    ) -> Option<Vec<Val>> {
        match op {
            Op::Binary { op, nsw, ty, a, b, .. } => {
                if matches!(self.module.ty(*ty), Type::Vector(..)) {
                    self.refuse("vectors are not read: compile without vectorizing");
                    return None;
                }
                let bits = self.bits(*ty);
                let [a, b] = match op {
                    Binary::And if self.sets_bits(state, result) => {
                        let a = self.value(state, *ty, a, out)?;
                        let b = self.value(state, *ty, b, out)?;
                        [*a.first()?, *b.first()?].map(|value| self.or_zero(value, out))
                    }
                    _ => [self.scalar(state, *ty, a, out)?, self.scalar(state, *ty, b, out)?],
                };
                self.arithmetic(state, *op, bits, *nsw, (a, b), result, out).map(|v| vec![v])
            }
            Op::Float(name, ..) => {
                self.refuse(format!("`{name}`: floating-point numbers are not read"));
                None
            }
            Op::Cast { op, from, value, to } => {
                self.cast(state, *op, (*from, value, *to), result, out)
            }
            Op::Compare(predicate, ty, a, b) => {
                let bits = self.bits(*ty);
                let a = self.scalar(state, *ty, a, out)?;
                let b = self.scalar(state, *ty, b, out)?;
                if a == Val::Undef || b == Val::Undef {
                    return Some(vec![Val::Undef]);
                }
                if bits > 64
                    && let Some(signed) = number::signed_order(*predicate)
                {
                    let (Val::Known(x), Val::Known(y)) = (a, b) else {
                        self.refuse(format!("numbers of {bits} bits are not read"));
                        return None;
                    };
                    // With the first bit changed, signed numbers have the order of unsigned ones.
                    let moved = |n: i128| number(n ^ i128::MIN);
                    let code = number::compare(signed, 128, moved(x), moved(y));
                    return self.made(state, code, result, out).map(|v| vec![v]);
                }
                let code = number::compare(*predicate, bits, code_of(a), code_of(b));
                self.made(state, code, result, out).map(|v| vec![v])
            }
            Op::Select(condition_ty, condition, ty, a, b) => {
                let condition = self.scalar(state, *condition_ty, condition, out)?;
                let a = self.value(state, *ty, a, out)?;
                let b = self.value(state, *ty, b, out)?;
                match condition {
                    Val::Known(0) => Some(b),
                    Val::Known(_) => Some(a),
                    Val::Undef => Some(vec![Val::Undef; a.len()]),
                    Val::Reg(condition) => {
                        let result = result?;
                        let mut chosen = Vec::new();
                        for (part, (a, b)) in a.into_iter().zip(b).enumerate() {
                            if a == b {
                                chosen.push(a);
                                continue;
                            }
                            let mut held = self.addresses_of(a);
                            held.add(&self.addresses_of(b));
                            let code = number::choose(
                                Expr::Atom(condition),
                                self.copied(a),
                                self.copied(b),
                            );
                            let register = self.home(state, result, part as u32);
                            self.emit(out, StmtKind::Assign(register, code));
                            self.may_hold(register, &held);
                            chosen.push(Val::Reg(register));
                        }
                        Some(chosen)
                    }
                }
            }
            Op::Element { ty, pointer, indices, .. } => {
                self.element(state, (*ty, pointer, indices), result, out)
            }
            Op::Extract(ty, value, path) => {
                let values = self.value(state, *ty, value, out)?;
                let (first, count) = self.part(*ty, path)?;
                values.get(first..first + count).map(<[Val]>::to_vec)
            }
            Op::Insert(ty, value, element_ty, element, path) => {
                let mut values = self.value(state, *ty, value, out)?;
                let element = self.value(state, *element_ty, element, out)?;
                let (first, count) = self.part(*ty, path)?;
                values.get_mut(first..first + count)?.clone_from_slice(element.get(..count)?);
                Some(values)
            }
            // Whatever it is from now on, it is always the same.
            Op::Freeze(ty, value) => {
                let values = self.value(state, *ty, value, out)?;
                for value in &values {
                    let _ = self.or_zero(*value, out);
                }
                Some(
                    values
                        .into_iter()
                        .map(|v| if v == Val::Undef { Val::Known(0) } else { v })
                        .collect(),
                )
            }
            Op::ExtractElement(ty, value, index_ty, index) => {
                let values = self.value(state, *ty, value, out)?;
                match self.scalar(state, *index_ty, index, out)? {
                    Val::Known(n) => values.get(usize::try_from(n).ok()?).map(|v| vec![*v]),
                    _ => None,
                }
            }
            Op::InsertElement(ty, value, (element_ty, element), (index_ty, index)) => {
                let mut values = self.value(state, *ty, value, out)?;
                let element = self.scalar(state, *element_ty, element, out)?;
                match self.scalar(state, *index_ty, index, out)? {
                    Val::Known(n) => *values.get_mut(usize::try_from(n).ok()?)? = element,
                    _ => return None,
                }
                Some(values)
            }
            Op::Shuffle(ty, a, b, mask_ty, mask) => {
                let mut values = self.value(state, *ty, a, out)?;
                values.extend(self.value(state, *ty, b, out)?);
                let mask = self.value(state, *mask_ty, mask, out)?;
                mask.into_iter()
                    .map(|index| match index {
                        Val::Known(n) => values.get(usize::try_from(n).ok()?).copied(),
                        _ => Some(Val::Undef),
                    })
                    .collect()
            }
        }
    }

    /// Whether a result is what is left of memory in which some bits are set next: a field of some bits is set in memory that may
    /// never have been set as a whole.
    fn sets_bits(&self, state: &mut State, result: Option<u32>) -> bool {
        let top = state.top();
        let (function, block, at) = (top.function, top.block as usize, top.at);
        let Some(rest) = self.blocks(function)[block].instructions.get(at..) else { return false };
        rest.iter().any(|instruction| match &instruction.kind {
            Kind::Op(Op::Binary { op: Binary::Or, a, b, .. }) => [a, b]
                .into_iter()
                .any(|operand| matches!(operand, Value::Local(LocalId(id)) if Some(*id) == result)),
            _ => false,
        })
    }

    /// Code as the result of an instruction, or as a constant.
    pub(super) fn made(
        &mut self,
        state: &mut State,
        code: Code,
        result: Option<u32>,
        out: &mut Vec<Stmt>,
    ) -> Option<Val> {
        match (code, result) {
            (Expr::Const(n), _) => Some(Val::Known(n)),
            (code, Some(result)) => Some(self.set_code(state, result, code, out)),
            (..) => None,
        }
    }

    /// Which scalars of a type a path leads to: the first one, and how many.
    fn part(&mut self, ty: TypeId, path: &[u32]) -> Option<(usize, usize)> {
        let (mut ty, mut first) = (ty, 0);
        for &index in path {
            for before in 0..index {
                let (part, _) = self.layout.part(ty, u64::from(before))?;
                first += self.scalars(part).len();
            }
            ty = self.layout.part(ty, u64::from(index))?.0;
        }
        Some((first, self.scalars(ty).len()))
    }

    /// An operation on two numbers.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn arithmetic(
        &mut self,
        state: &mut State,
        op: Binary,
        bits: u32,
        nsw: bool,
        (a, b): (Val, Val),
        result: Option<u32>,
        out: &mut Vec<Stmt>,
    ) -> Option<Val> {
        if a == Val::Undef || b == Val::Undef {
            return Some(Val::Undef);
        }
        let is_known = matches!((a, b), (Val::Known(_), Val::Known(_)));
        if bits > 64 && !is_known {
            self.refuse(format!("numbers of {bits} bits are not read"));
            return None;
        }
        let (x, y) = (code_of(a), code_of(b));
        if bits == 128
            && let (Val::Known(a), Val::Known(b)) = (a, b)
            && let Some((value, overflows)) = number::wide(op, a, b)
        {
            if overflows && nsw && !self.options.wraps {
                self.check(number(0), "a signed number overflows", out);
                return Some(Val::Undef);
            }
            return Some(Val::Known(value));
        }
        match op {
            Binary::UDiv | Binary::URem | Binary::SDiv | Binary::SRem => {
                let is_some = binary(BinOp::Ne, y.clone(), number(0));
                if is_some == number(0) {
                    self.fail("division by zero", out)?;
                    return Some(Val::Undef);
                }
                self.check(is_some, "division by zero", out);
            }
            Binary::Shl | Binary::LShr | Binary::AShr => {
                let fits = within(y.clone(), (0, i128::from(bits) - 1));
                if fits == number(0) {
                    return Some(Val::Undef);
                }
                self.check(fits, "a shift by more bits than the number has", out);
            }
            _ => {}
        }
        let held = match op {
            Binary::Add => self.mapped(a, b, |a, b| a.checked_add(b)),
            Binary::Sub => self.difference(a, b),
            Binary::And => self.mapped(a, b, |a, b| Some(a & b)),
            Binary::Or => self.mapped(a, b, |a, b| Some(a | b)),
            Binary::Xor => self.mapped(a, b, |a, b| Some(a ^ b)),
            Binary::UDiv | Binary::URem | Binary::SDiv | Binary::SRem => {
                let is_number = self.addresses_of(a).set().is_nothing();
                if is_number { Addresses::default() } else { Addresses::unlisted() }
            }
            Binary::Mul | Binary::Shl | Binary::LShr | Binary::AShr => {
                let mut held = self.addresses_of(a);
                held.add(&self.addresses_of(b));
                self.facts.blurred(&held.set())
            }
        };
        let can_overflow = matches!(op, Binary::Add | Binary::Sub | Binary::Mul);
        if nsw && can_overflow && !self.options.wraps && bits > 1 {
            let exact = number::exact(op, bits, x, y);
            let fits = |code: Code| within(code, number::range(bits));
            if let Expr::Const(n) = exact {
                if fits(number(n)) == number(0) {
                    self.check(number(0), "a signed number overflows", out);
                    return Some(Val::Undef);
                }
                return Some(Val::Known(n));
            }
            let value = self.made(state, exact, result, out)?;
            self.note(value, &held);
            self.check(fits(code_of(value)), "a signed number overflows", out);
            return Some(value);
        }
        let code = number::result(op, bits, x, y);
        let value = self.made(state, code, result, out)?;
        self.note(value, &held);
        Some(value)
    }

    fn cast(
        &mut self,
        state: &mut State,
        op: Cast,
        (from, value, to): (TypeId, &Value, TypeId),
        result: Option<u32>,
        out: &mut Vec<Stmt>,
    ) -> Option<Vec<Val>> {
        let values = self.value(state, from, value, out)?;
        let [value] = values[..] else {
            if op == Cast::Bitcast {
                let (a, b) = (self.scalars(from), self.scalars(to));
                let same = a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| a.0 == b.0);
                return same.then_some(values);
            }
            self.refuse("vectors are not read: compile without vectorizing");
            return None;
        };
        if value == Val::Undef {
            return Some(vec![Val::Undef]);
        }
        self.must_be_set(value, out);
        let (narrow, wide) = (self.bits(from), self.bits(to));
        let code = code_of(value);
        let code = match op {
            Cast::Trunc => number::wrap(wide, code),
            Cast::ZExt => number::unsigned(narrow, code),
            Cast::SExt => number::signed(narrow, code),
            Cast::PtrToInt if wide < 64 => number::wrap(wide, code),
            Cast::IntToPtr if narrow < 64 => number::unsigned(narrow, code),
            Cast::PtrToInt | Cast::IntToPtr | Cast::AddrSpace => code,
            Cast::Bitcast if narrow == wide => code,
            _ => {
                self.refuse(format!("`{}`: floating-point numbers are not read", op.name()));
                return None;
            }
        };
        // One bit as a number is what it was.
        let held = if wide >= 64 { self.addresses_of(value).set() } else { Addresses::default() };
        let value = self.made(state, code, result, out)?;
        self.note(value, &held);
        Some(vec![value])
    }

    /// Whether a number is not zero, as 0 or 1.
    pub(super) fn truth(&self, value: Val) -> Code {
        match value {
            Val::Known(n) => number(i128::from(n != 0)),
            value => not(number::unary(UnOp::Not, code_of(value))),
        }
    }
}
