//! Expressions: the loads that they need, and their values.
//!
//! A statement loads each global variable that it mentions once, from left to right
//! as they are mentioned first, and computes with what it loaded. Only an element
//! whose index might leave the array waits until `&&`, `||` or `->` get to it, and is
//! loaded then.

use weir_model::ids::{RegId, VarId};
use weir_model::program::{BinOp, Code, Expr, Place, StmtKind, UnOp};

use super::place::Lowering;
use super::value::{Bounds, Value, all, any, binary, not};
use super::variable::{Leaf, Storage, Variable};
use crate::errors::quote;
use crate::promela::tree::{self, ExprKind, Fill, Type};
use crate::weir::fold;
use crate::weir::tree::Span;

impl<'t> Lowering<'_, '_, 't> {
    /// Loads what an expression mentions, as far as that can do no harm.
    pub fn prepare(&mut self, e: &tree::Expr<'t>) -> Option<()> {
        match &e.kind {
            ExprKind::Number(_) | ExprKind::LastOf(_) => {}
            ExprKind::Place(place) => {
                for index in place.indices().into_iter().flatten() {
                    self.prepare(index)?;
                }
                if self.is_safe(e) && self.is_global(place) {
                    self.read(place, e)?;
                }
            }
            ExprKind::Not(e) | ExprKind::Negative(e) | ExprKind::Complement(e) => {
                self.prepare(e)?;
            }
            ExprKind::Binary(_, a, b) => {
                self.prepare(a)?;
                self.prepare(b)?;
            }
            ExprKind::Conditional(a, b, c) => {
                self.prepare(a)?;
                self.prepare(b)?;
                self.prepare(c)?;
            }
            ExprKind::Run(name, _) => {
                let message = "`run` may only stand alone or on the right of `=`";
                self.cx.errors.push(name.token.error(message));
                return None;
            }
            ExprKind::Fill(_, place) => {
                for index in place.indices().into_iter().flatten() {
                    self.prepare(index)?;
                }
            }
            ExprKind::Poll(_) | ExprKind::Timeout | ExprKind::At(..) | ExprKind::Remote(..) => {}
        }
        Some(())
    }

    /// The value of an expression, with all its loads. `None` after an error.
    pub fn value(&mut self, e: &tree::Expr<'t>) -> Option<Value> {
        self.prepare(e)?;
        self.compute(e)
    }

    /// The value of an expression whose loads are there.
    pub fn compute(&mut self, e: &tree::Expr<'t>) -> Option<Value> {
        let value = match &e.kind {
            ExprKind::Number(n) => Value::constant(*n),
            ExprKind::Place(place) => self.read(place, e)?,
            ExprKind::LastOf(name) => match self.array_length(*name) {
                Some(len) => Value::constant(len - 1),
                None => {
                    self.cx.error_at(format!("{} is not an array", quote(name.text)), name.token);
                    return None;
                }
            },
            ExprKind::Not(e) => Value::unary(UnOp::Not, self.compute(e)?),
            ExprKind::Negative(e) => Value::unary(UnOp::Neg, self.compute(e)?),
            ExprKind::Complement(e) => {
                let value = self.compute(e)?;
                Value::binary(BinOp::Sub, Value::constant(-1), value)
            }
            ExprKind::Binary(op @ (BinOp::And | BinOp::Or), a, b) if !self.is_safe(b) => {
                self.short_circuit(*op, a, b, e.span)?
            }
            ExprKind::Binary(op, a, b) => {
                let (mut a, mut b) = (self.compute(a)?, self.compute(b)?);
                if *op == BinOp::Mod {
                    a = self.simple(a, e.span)?;
                    b = self.simple(b, e.span)?;
                }
                Value::binary(*op, a, b)
            }
            ExprKind::Conditional(c, a, b) => self.conditional(c, a, b, e.span)?,
            ExprKind::Run(..) => return None,
            ExprKind::Fill(fill, place) => self.fill(*fill, place, e)?,
            ExprKind::Poll(receive) => self.poll(receive, e)?,
            ExprKind::Timeout => {
                let message = "`timeout` has to be a whole statement";
                self.cx.error_at(message, e.token);
                return None;
            }
            ExprKind::At(..) | ExprKind::Remote(..) => {
                let message = "a process cannot see where another one stands or what it holds; \
                               ask in `ltl`, or in a comment, as in `// weir: never P@label`";
                self.cx.error_at(message, e.token);
                return None;
            }
        };
        let code = self.bounded(value.code, e.token)?;
        Some(Value { code, ..value })
    }

    /// `len(c)` and its like.
    fn fill(&mut self, fill: Fill, place: &tree::Place<'t>, e: &tree::Expr<'t>) -> Option<Value> {
        let ways = self.channels(place, e.span)?;
        let mut found: Option<Value> = None;
        for (condition, number) in ways.into_iter().rev() {
            let channel = self.cx.channels[number].clone();
            let len = match channel.len {
                Some(len) => Expr::Atom(self.load(Place::var(len), e.span)?),
                None => Expr::Const(0),
            };
            let capacity = i128::from(channel.capacity);
            let compared = |op, with| Value {
                code: binary(op, len.clone(), Expr::Const(with)),
                bounds: Bounds::TRUTH,
            };
            let value = match fill {
                Fill::Len => Value { code: len.clone(), bounds: Bounds { low: 0, high: capacity } },
                Fill::Empty => compared(BinOp::Eq, 0),
                Fill::Nempty => compared(BinOp::Ne, 0),
                Fill::Full => compared(BinOp::Eq, capacity),
                Fill::Nfull => compared(BinOp::Ne, capacity),
            };
            found = Some(match found {
                None => value,
                Some(other) => {
                    let bounds = value.bounds.join(other.bounds);
                    let result = self.temporary(e.span)?;
                    let (yes, ()) = self.nested(|this| {
                        this.emit(StmtKind::Assign(result, value.code), e.span);
                    });
                    let (no, ()) = self.nested(|this| {
                        this.emit(StmtKind::Assign(result, other.code), e.span);
                    });
                    self.emit(StmtKind::If(condition, yes, no), e.span);
                    Value { code: Expr::Atom(result), bounds }
                }
            });
        }
        found
    }

    /// `c ? [x, 1]`
    fn poll(&mut self, receive: &tree::Receive<'t>, e: &tree::Expr<'t>) -> Option<Value> {
        let ways = self.channels(&receive.channel, e.span)?;
        let mut found = Vec::new();
        for (condition, number) in ways {
            for (matches, _) in self.matches(receive, number, e.span)? {
                found.push(all(&[condition.clone(), matches]));
            }
        }
        Some(Value { code: any(&found), bounds: Bounds::TRUTH })
    }

    /// A value that may be written down more than once: a register or a constant.
    pub fn simple(&mut self, value: Value, span: Span) -> Option<Value> {
        if matches!(value.code, Expr::Const(_) | Expr::Atom(_)) {
            return Some(value);
        }
        let register = self.temporary(span)?;
        self.emit(StmtKind::Assign(register, value.code), span);
        Some(Value { code: Expr::Atom(register), ..value })
    }

    /// `a && b` where `b` must not be looked at unless it is needed.
    fn short_circuit(
        &mut self,
        op: BinOp,
        a: &tree::Expr<'t>,
        b: &tree::Expr<'t>,
        span: Span,
    ) -> Option<Value> {
        let result = self.temporary(span)?;
        let a = self.compute(a)?.code;
        self.emit(StmtKind::Assign(result, fold::truth(a)), span);
        let (block, done) = self.apart(|this| {
            let b = this.compute(b)?.code;
            this.emit(StmtKind::Assign(result, fold::truth(b)), span);
            Some(())
        });
        done?;
        let needed = Expr::Atom(result);
        let needed = if op == BinOp::And { needed } else { not(needed) };
        self.emit(StmtKind::If(needed, block, Vec::new()), span);
        Some(Value { code: Expr::Atom(result), bounds: Bounds::TRUTH })
    }

    /// `(c -> a : b)`
    fn conditional(
        &mut self,
        c: &tree::Expr<'t>,
        a: &tree::Expr<'t>,
        b: &tree::Expr<'t>,
        span: Span,
    ) -> Option<Value> {
        let condition = self.compute(c)?;
        if let Some(known) = condition.known() {
            return self.compute(if known != 0 { a } else { b });
        }
        let result = self.temporary(span)?;
        let mut bounds: Option<Bounds> = None;
        let mut branch = |this: &mut Self, e| {
            let (block, done) = this.apart(|this| {
                let value = this.compute(e)?;
                this.emit(StmtKind::Assign(result, value.code), span);
                Some(value.bounds)
            });
            let found = done?;
            bounds = Some(bounds.map_or(found, |b| b.join(found)));
            Some(block)
        };
        let yes = branch(self, a)?;
        let no = branch(self, b)?;
        self.emit(StmtKind::If(condition.code, yes, no), span);
        Some(Value { code: Expr::Atom(result), bounds: bounds? })
    }

    /// A block whose loads are not reused outside of it.
    pub fn apart<R>(
        &mut self,
        write: impl FnOnce(&mut Self) -> R,
    ) -> (Vec<weir_model::program::Stmt>, R) {
        let before = self.loaded.len();
        let written = self.nested(write);
        self.loaded.truncate(before);
        written
    }

    /// The variable of a name.
    pub fn variable(&self, name: &str) -> Option<&Variable<'t>> {
        self.bodies[self.me].local(self.scope, name).or_else(|| self.cx.globals.get(name))
    }

    fn is_global(&self, place: &tree::Place<'t>) -> bool {
        let leaf = self.variable(place.name.text).and_then(|v| v.leaf(place));
        leaf.is_some_and(|leaf| matches!(leaf.storage, Storage::Global(..)))
    }

    pub fn array_length(&self, name: tree::Name<'t>) -> Option<i128> {
        self.variable(name.text).and_then(|v| v.len).map(i128::from)
    }

    /// The leaf that a place means; `None` after an error.
    pub fn leaf(&mut self, place: &tree::Place<'t>) -> Option<Leaf<'t>> {
        let Some(variable) = self.variable(place.name.text) else {
            let body = &self.bodies[self.me];
            let names: Vec<_> = body.scopes.iter().flat_map(|s| s.vars.keys().copied()).collect();
            self.cx.unknown(place.name, &names);
            return None;
        };
        if let Some(leaf) = variable.leaf(place) {
            return Some(leaf.clone());
        }
        let is_plain = variable.is_plain();
        let last = *place.path().last()?;
        let message = match (is_plain, &place.field) {
            (true, Some(_)) => format!("{} has no fields", quote(place.name.text)),
            (false, None) => format!("{} is a record; say which field", quote(place.name.text)),
            _ => format!("{} has no field {}", quote(place.name.text), quote(last)),
        };
        self.cx.error_at(message, place.name.token);
        None
    }

    /// The value of a variable, an element or a constant.
    pub fn read(&mut self, place: &tree::Place<'t>, e: &tree::Expr<'t>) -> Option<Value> {
        let name = place.name.text;
        if self.variable(name).is_none() && place.field.is_none() {
            match name {
                "_pid" => return Some(self.own_pid()),
                "_nr_pr" if let Some(var) = self.cx.running => {
                    let code = Expr::Atom(self.load(Place::var(var), e.span)?);
                    return Some(Value { code, bounds: Type::Byte.bounds() });
                }
                _ => {}
            }
            match (self.cx.constants.get(name), &place.index) {
                (Some(value), None) => return Some(Value::constant(*value)),
                (Some(_), Some(_)) => return self.not_array(place),
                (None, _) => {}
            }
        }
        let leaf = self.leaf(place)?;
        let bounds = leaf.kind.bounds();
        let index = self.index(place, &leaf)?;
        match (&leaf.storage, index) {
            (Storage::Global(first, _), index) => {
                let at = memory_place(*first, &leaf, index);
                let register = self.load(at, e.span)?;
                Some(Value { code: Expr::Atom(register), bounds })
            }
            (Storage::Constants(list), None) => Some(Value::constant(list[0])),
            (Storage::Constants(list), Some(index)) => match index.known() {
                Some(known) => Some(Value::constant(list[usize::try_from(known).ok()?])),
                None => {
                    let index = self.simple(index, e.span)?;
                    let list: Vec<Code> = list.iter().map(|v| Expr::Const(*v)).collect();
                    Some(Value { code: element(&list, &index), bounds })
                }
            },
            (Storage::Registers(list), None) => Some(Value { code: Expr::Atom(list[0]), bounds }),
            (Storage::Registers(list), Some(index)) => {
                let index = self.simple(index, e.span)?;
                let list: Vec<Code> = list.iter().map(|r| Expr::Atom(*r)).collect();
                Some(Value { code: element(&list, &index), bounds })
            }
        }
    }

    /// The index of a place in its leaf, with the loads that it needs; the outer `None` after an
    /// error, the inner one where there is no array.
    pub fn index(&mut self, place: &tree::Place<'t>, leaf: &Leaf<'t>) -> Option<Option<Value>> {
        let mut found: Option<Value> = None;
        let arrays = leaf.dims.iter().flatten().count();
        for (index, dim) in place.indices().into_iter().zip(&leaf.dims) {
            let (index, dim) = match (index, dim) {
                (None, None) => continue,
                (None, Some(_)) => return self.not_scalar(place),
                (Some(_), None) => return self.not_array(place),
                (Some(index), Some(dim)) => (index, i128::from(*dim)),
            };
            let mut value = self.compute(index)?;
            self.check_constant(&value, dim, place)?;
            if arrays > 1 && !value.bounds.is_within(0, dim - 1) {
                let code = checked(dim as usize, value.code);
                value = Value { code, bounds: Bounds { low: 0, high: dim - 1 } };
            }
            found = Some(match found {
                None => value,
                Some(outer) => {
                    let outer = Value::binary(BinOp::Mul, outer, Value::constant(dim));
                    Value::binary(BinOp::Add, outer, value)
                }
            });
        }
        Some(found)
    }

    pub fn not_scalar<T>(&mut self, place: &tree::Place<'t>) -> Option<T> {
        let name = quote(place.name.text);
        let message =
            format!("{name} is an array; say which element, as in `{}[0]`", place.name.text);
        self.cx.error_at(message, place.name.token);
        None
    }

    pub fn not_array<T>(&mut self, place: &tree::Place<'t>) -> Option<T> {
        let message = format!("{} is not an array", quote(place.name.text));
        self.cx.error_at(message, place.name.token);
        None
    }

    /// Reports a constant index outside of its array.
    fn check_constant(&mut self, index: &Value, len: i128, place: &tree::Place<'t>) -> Option<()> {
        match index.known() {
            Some(known) if !(0..len).contains(&known) => {
                let name = quote(place.name.text);
                let message =
                    format!("index {known} is outside of {name}, which has {len} elements");
                self.cx.error_at(message, place.name.token);
                None
            }
            _ => Some(()),
        }
    }

    /// The register that holds what is at a place, loaded if it was not.
    pub fn load(&mut self, place: Place, span: Span) -> Option<RegId> {
        if let Some((_, register)) = self.loaded.iter().find(|(known, _)| *known == place) {
            return Some(*register);
        }
        let register = self.temporary(span)?;
        self.emit(StmtKind::Load(register, place.clone()), span);
        self.loaded.push((place, register));
        Some(register)
    }

    /// Whether an expression can be worked out at any time: no index in it might
    /// leave its array, and nothing might be divided by zero.
    pub fn is_safe(&self, e: &tree::Expr<'t>) -> bool {
        match &e.kind {
            ExprKind::Number(_) | ExprKind::LastOf(_) => true,
            ExprKind::Place(place) => {
                let Some(leaf) = self.variable(place.name.text).and_then(|v| v.leaf(place)) else {
                    return true;
                };
                place.indices().into_iter().zip(&leaf.dims).all(|(index, dim)| match (index, dim) {
                    (Some(index), Some(dim)) => {
                        self.is_safe(index) && self.bounds(index).is_within(0, i128::from(*dim) - 1)
                    }
                    _ => true,
                })
            }
            ExprKind::Not(e) | ExprKind::Negative(e) | ExprKind::Complement(e) => self.is_safe(e),
            ExprKind::Binary(op, a, b) => {
                let divides = matches!(op, BinOp::Div | BinOp::Mod);
                self.is_safe(a) && self.is_safe(b) && (!divides || self.bounds(b).low > 0)
            }
            _ => false,
        }
    }

    /// What an expression may be, by its types alone.
    pub fn bounds(&self, e: &tree::Expr<'t>) -> Bounds {
        match &e.kind {
            ExprKind::Number(n) => Bounds::exactly(*n),
            ExprKind::Place(place) => match self.variable(place.name.text) {
                Some(variable) => match variable.leaf(place) {
                    Some(leaf) => match &leaf.storage {
                        Storage::Constants(list) if list.len() == 1 => Bounds::exactly(list[0]),
                        _ => leaf.kind.bounds(),
                    },
                    None => Bounds::ANY,
                },
                None => match self.cx.constants.get(place.name.text) {
                    Some(value) => Bounds::exactly(*value),
                    None if place.name.text == "_pid" => self.own_pid().bounds,
                    None if place.name.text == "_nr_pr" => Type::Byte.bounds(),
                    None => Bounds::ANY,
                },
            },
            ExprKind::LastOf(name) => {
                self.array_length(*name).map_or(Bounds::ANY, |len| Bounds::exactly(len - 1))
            }
            ExprKind::Not(_) | ExprKind::Poll(_) => Bounds::TRUTH,
            ExprKind::Negative(e) => Bounds::binary(BinOp::Sub, Bounds::exactly(0), self.bounds(e)),
            ExprKind::Complement(e) => {
                Bounds::binary(BinOp::Sub, Bounds::exactly(-1), self.bounds(e))
            }
            ExprKind::Binary(op, a, b) => Bounds::binary(*op, self.bounds(a), self.bounds(b)),
            ExprKind::Conditional(_, a, b) => self.bounds(a).join(self.bounds(b)),
            _ => Bounds::ANY,
        }
    }

    /// Whether a value that is assigned to an `mtype` is one of its members.
    pub fn is_member(&self, e: &tree::Expr<'t>) -> bool {
        match &e.kind {
            ExprKind::Place(place) => match self.variable(place.name.text) {
                Some(variable) => variable.leaf(place).is_some_and(|l| l.kind == Type::Mtype),
                None => self.cx.constants.contains_key(place.name.text),
            },
            ExprKind::Conditional(_, a, b) => self.is_member(a) && self.is_member(b),
            ExprKind::Number(n) => *n == 0,
            _ => false,
        }
    }
}

/// The place in memory of an element.
pub fn memory_place(first: VarId, leaf: &Leaf<'_>, index: Option<Value>) -> Place {
    match index {
        None => Place::var(first),
        Some(index) => match index.known() {
            Some(known) => Place::var(VarId::new(first.index() + known as usize)),
            None => Place::element(first, leaf.count() as u32, index.code),
        },
    }
}

/// The element of a list that an index means. The program fails if there is none.
pub fn element(list: &[Code], index: &Value) -> Code {
    if let Some(known) = index.known() {
        return usize::try_from(known)
            .ok()
            .and_then(|i| list.get(i))
            .map_or_else(|| checked(list.len(), Expr::Const(known)), Clone::clone);
    }
    let is_safe = index.bounds.is_within(0, list.len() as i128 - 1);
    // All of the sum is worked out, so that one check is enough.
    let first = match is_safe {
        true => index.code.clone(),
        false => checked(list.len(), index.code.clone()),
    };
    sum(list, 0, &first, &index.code)
}

/// An index; the program fails if an array of that length has no such element.
pub fn checked(len: usize, index: Code) -> Code {
    binary(BinOp::Index, index, Expr::Const(len as i128))
}

/// The chosen one of `list`, whose first element has the number `from`. The
/// element 0 is compared with `first`, all others with `index`.
fn sum(list: &[Code], from: usize, first: &Code, index: &Code) -> Code {
    match list {
        [] => Expr::Const(0),
        [one] => {
            let compared = if from == 0 { first } else { index };
            let chosen = binary(BinOp::Eq, compared.clone(), Expr::Const(from as i128));
            binary(BinOp::Mul, chosen, one.clone())
        }
        _ => {
            let (a, b) = list.split_at(list.len() / 2);
            binary(BinOp::Add, sum(a, from, first, index), sum(b, from + a.len(), first, index))
        }
    }
}
