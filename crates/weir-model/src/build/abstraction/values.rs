//! The values that expressions, reads and writes of a process may have.

use std::collections::BTreeSet;
use std::ops::Range;

use super::explorer::Explorer;
use super::{FEW, MAX_COUNTED, MAX_WRITTEN, Much, Registers};
use crate::ids::{RegId, SpanId, VarId};
use crate::program::{BinOp, Code, Domain, EvalError, Expr, Place, Program, Rmw};

/// What an expression may be.
pub(super) enum Value {
    Known(i128),
    /// One of these.
    Among(BTreeSet<i128>),
    Any,
}

impl Value {
    /// Whether a predicate holds for every possible value.
    pub(super) fn all(&self, mut is_so: impl FnMut(i128) -> bool) -> bool {
        match self {
            Self::Known(v) => is_so(*v),
            Self::Among(values) => values.iter().all(|v| is_so(*v)),
            Self::Any => false,
        }
    }

    /// All that it may be, if that is known.
    pub(super) fn values(&self) -> Option<Vec<i128>> {
        match self {
            Self::Known(v) => Some(vec![*v]),
            Self::Among(values) => Some(values.iter().copied().collect()),
            Self::Any => None,
        }
    }
}

impl Explorer<'_> {
    /// What code may be; notes that it may fail. A register may have a value `instead` of its own.
    pub(super) fn value(
        &mut self,
        code: &Code,
        registers: &[Option<i128>],
        instead: Option<(RegId, i128)>,
        span: SpanId,
    ) -> Value {
        let mut is_known = true;
        let value = code.eval(&mut |r| match instead {
            Some((other, value)) if other == *r => value,
            _ => registers[r.index()].unwrap_or_else(|| {
                is_known = false;
                0
            }),
        });
        let (value, fails) = match value {
            _ if !is_known => (Value::Any, may_divide(code)),
            Ok(value) => (Value::Known(value), false),
            // Its result is not followed.
            Err(EvalError::Overflow) => (Value::Any, false),
            Err(EvalError::DivisionByZero | EvalError::Index(_)) => {
                (Value::Among(BTreeSet::new()), true)
            }
        };
        if fails {
            self.found.fails.get_or_insert(span);
        }
        value
    }

    /// What the register of an atomic read-write gets; notes what it writes.
    pub(super) fn given(
        &mut self,
        r: RegId,
        rmw: &Rmw,
        elements: &Range<usize>,
        registers: &[Option<i128>],
        span: SpanId,
    ) -> Result<Value, Much> {
        let flag = matches!(rmw, Rmw::CasFlag { .. });
        let Some(old) = self.read(elements).values() else {
            let value = match rmw {
                Rmw::Cas { expected, new, .. } | Rmw::CasFlag { expected, new, .. } => {
                    self.value(expected, registers, None, span);
                    self.value(new, registers, None, span)
                }
                Rmw::Swap(new) => self.value(new, registers, None, span),
                Rmw::Fetch(op, code) => {
                    let operand = self.value(code, registers, None, span);
                    if may_fail(*op) && !operand.all(|v| op.apply(0, v).is_ok()) {
                        self.found.fails.get_or_insert(span);
                    }
                    Value::Any
                }
                Rmw::Update { when, new } => {
                    if may_divide(when) || may_divide(new) {
                        self.found.fails.get_or_insert(span);
                    }
                    Value::Any
                }
            };
            self.write(elements, &value, span)?;
            return Ok(if flag { Value::Among(BTreeSet::from([0, 1])) } else { Value::Any });
        };
        let mut given = BTreeSet::new();
        for a in old {
            let value = match rmw {
                Rmw::Cas { expected, new, .. } | Rmw::CasFlag { expected, new, .. } => {
                    let expected = self.value(expected, registers, None, span);
                    if !expected.all(|v| v == a) && self.write(elements, &Value::Known(a), span)? {
                        given.insert(if flag { 0 } else { a });
                    }
                    if !expected.all(|v| v != a) {
                        let new = self.value(new, registers, None, span);
                        if self.write(elements, &new, span)? {
                            given.insert(if flag { 1 } else { a });
                        }
                    }
                    continue;
                }
                Rmw::Swap(new) => self.value(new, registers, None, span),
                Rmw::Fetch(op, code) => match self.value(code, registers, None, span) {
                    Value::Known(b) => {
                        let code = Expr::binary(*op, Expr::Const(a), Expr::Const(b));
                        self.value(&code, registers, None, span)
                    }
                    operand => {
                        if may_fail(*op) && operand.values().is_none() {
                            self.found.fails.get_or_insert(span);
                        }
                        operand
                    }
                },
                Rmw::Update { when, new } => {
                    if self.value(when, registers, Some((r, a)), span).all(|v| v == 0) {
                        continue;
                    }
                    self.value(new, registers, Some((r, a)), span)
                }
            };
            if self.write(elements, &value, span)? {
                given.insert(a);
            }
        }
        Ok(Value::Among(given))
    }

    /// The variables that a place may be; notes that the index may be outside. `None` if it
    /// always is.
    pub(super) fn elements(
        &mut self,
        place: &Place,
        registers: &[Option<i128>],
        span: SpanId,
    ) -> Option<Range<usize>> {
        let (first, len) = (place.first.index(), place.len as usize);
        let Some(index) = &place.index else { return Some(first..first + 1) };
        let value = self.value(index, registers, None, span);
        let inside = |i: i128| usize::try_from(i).is_ok_and(|i| i < len);
        if !value.all(inside) {
            self.found.fails.get_or_insert(span);
        }
        match value {
            Value::Known(i) => inside(i).then(|| first + i as usize..first + i as usize + 1),
            Value::Among(_) => None,
            Value::Any => Some(first..first + len),
        }
    }

    pub(super) fn read(&self, elements: &Range<usize>) -> Value {
        let mut all = BTreeSet::new();
        for set in &self.sets.borrow()[elements.clone()] {
            match set {
                Some(values) => all.extend(values),
                None => return Value::Any,
            }
        }
        Value::Among(all)
    }

    /// Notes what is written, and that it may be outside the domain or the bound of a variable.
    /// Whether the process may go on.
    pub(super) fn write(
        &mut self,
        elements: &Range<usize>,
        value: &Value,
        span: SpanId,
    ) -> Result<bool, Much> {
        let mut goes_on = false;
        for x in elements.clone() {
            let var = VarId::new(x);
            let domain = self.program.decl(var).0.domain;
            let bound = self.program.bounds.vars.get(&var).copied();
            let kept = self.kept(domain, bound, value, span);
            goes_on |= kept.as_ref().is_none_or(|kept| !kept.is_empty());
            let set = &mut self.sets.borrow_mut()[x];
            if let Some(set) = set.as_mut().filter(|_| self.follows_writes) {
                set.extend(kept.ok_or(Much::Written(var))?);
                let is_range = domain.is_some_and(|d| !matches!(d, Domain::Int(_)));
                if set.len() > if is_range { MAX_WRITTEN } else { MAX_COUNTED } {
                    return Err(Much::Written(var));
                }
            }
        }
        Ok(goes_on)
    }

    /// The registers after one of them got a value; notes that it may be outside of its
    /// domain or bound.
    pub(super) fn set(
        &mut self,
        registers: &[Option<i128>],
        r: RegId,
        value: &Value,
        span: SpanId,
    ) -> Result<Vec<Registers>, Much> {
        let domain = self.program.processes[self.p.index()].registers[r.index()].domain;
        let bound = self.program.bounds.registers.get(&(self.p, r)).copied();
        let kept = self.kept(domain, bound, value, span);
        let with = |v: Option<i128>| {
            let mut registers = registers.to_vec();
            registers[r.index()] = v;
            Registers::from(registers)
        };
        if !self.found.tracked[r.index()] {
            let is_possible = kept.is_none_or(|kept| !kept.is_empty());
            return Ok(is_possible.then(|| with(None)).into_iter().collect());
        }
        let kept = kept.ok_or(Much::Anything(self.p, r))?;
        Ok(kept.into_iter().map(|v| with(Some(v))).collect())
    }

    /// What is kept of a value where a domain and a bound are declared; `None` if that may be
    /// anything. Notes that something may be outside.
    pub(super) fn kept(
        &mut self,
        domain: Option<Domain>,
        bound: Option<(i128, i128)>,
        value: &Value,
        span: SpanId,
    ) -> Option<Vec<i128>> {
        let program = self.program;
        let fit = |v: i128| Program::fit(domain, v);
        let admits = |v: i128| domain.is_none_or(|d| program.admits(d, fit(v)));
        let within = |v: i128| bound.is_none_or(|b| (b.0..=b.1).contains(&fit(v)));
        if domain.is_some_and(|d| !d.wraps()) && !value.all(admits) {
            self.found.fails.get_or_insert(span);
        }
        if bound.is_some() && !value.all(within) {
            self.found.leaves.get_or_insert(span);
        }
        let all = value.values().or_else(|| {
            let few = domain.filter(|d| program.size(*d) <= FEW);
            let few = few.map(|d| program.values(d));
            few.or_else(|| bound.filter(|b| b.1.abs_diff(b.0) < FEW).map(|b| (b.0..=b.1).collect()))
        });
        Some(all?.into_iter().filter(|v| admits(*v) && within(*v)).map(fit).collect())
    }
}

/// Whether an operator may have no value, other than by overflow.
fn may_fail(op: BinOp) -> bool {
    matches!(op, BinOp::Div | BinOp::Mod | BinOp::Index)
}

/// Whether code has an operator that may have no value, other than by overflow.
fn may_divide(code: &Code) -> bool {
    match code {
        Expr::Const(_) | Expr::Atom(_) => false,
        Expr::Unary(_, e) => may_divide(e),
        Expr::Binary(BinOp::Index, ..) => true,
        Expr::Binary(BinOp::Div | BinOp::Mod, a, b) => {
            !matches!(**b, Expr::Const(c) if c != 0) || may_divide(a)
        }
        Expr::Binary(_, a, b) => may_divide(a) || may_divide(b),
    }
}
