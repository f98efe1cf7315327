//! Expressions: the loads that they need, and their values.
//!
//! A statement loads each global variable that it mentions once, from left to right
//! as they are mentioned first, and computes with what it loaded. Only an element
//! whose index might leave the array waits until `&&`, `||` or `->` get to it, and is
//! loaded then.

use weir_model::ids::{RegId, VarId};
use weir_model::program::{BinOp, Code, Expr, Place, StmtKind, UnOp};

use super::Global;
use super::process::{LocalPlace, Lowering};
use super::value::{Bounds, Value, binary, not};
use crate::errors::quote;
use crate::promela::tree::{self, ExprKind, Type};
use crate::weir::fold;
use crate::weir::tree::Span;

impl<'t> Lowering<'_, 't> {
    /// Loads what an expression mentions, as far as that can do no harm.
    pub fn prepare(&mut self, e: &tree::Expr<'t>) -> Option<()> {
        match &e.kind {
            ExprKind::Number(_) | ExprKind::LastOf(_) => {}
            ExprKind::Place(place) => {
                if let Some(index) = &place.index {
                    self.prepare(index)?;
                }
                if self.global(place).is_some() && self.is_safe(e) {
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
                let message = "only `init` can run processes";
                let error = name.token.error(message);
                self.cx.errors.push(error.help("processes are there from the start: say `active`"));
                return None;
            }
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
        };
        let code = self.bounded(value.code, e.token)?;
        Some(Value { code, ..value })
    }

    /// A value that may be written down more than once: a register or a constant.
    fn simple(&mut self, value: Value, span: Span) -> Option<Value> {
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

    /// A block of its own whose loads nobody else may count on.
    fn apart<R>(
        &mut self,
        write: impl FnOnce(&mut Self) -> R,
    ) -> (Vec<weir_model::program::Stmt>, R) {
        let before = self.loaded.len();
        let written = self.nested(write);
        self.loaded.truncate(before);
        written
    }

    /// The global variable that a place names, if it does.
    pub fn global(&self, place: &tree::Place<'t>) -> Option<Global> {
        match self.local(place.name.text) {
            Some(_) => None,
            None => self.cx.globals.get(place.name.text).copied(),
        }
    }

    pub fn array_length(&self, name: tree::Name<'t>) -> Option<i128> {
        match self.local(name.text).map(|l| &l.place) {
            Some(LocalPlace::Array(list)) => Some(list.len() as i128),
            Some(_) => None,
            None => self.cx.globals.get(name.text).and_then(|g| g.len).map(i128::from),
        }
    }

    /// The value of a variable, an element or a constant.
    fn read(&mut self, place: &tree::Place<'t>, e: &tree::Expr<'t>) -> Option<Value> {
        if let Some(global) = self.global(place) {
            let at = self.place(place, &global)?;
            let register = self.load(at, e.span)?;
            return Some(Value { code: Expr::Atom(register), bounds: global.kind.bounds() });
        }
        if let Some(local) = self.local(place.name.text).cloned() {
            return match (&local.place, &place.index) {
                (LocalPlace::Constant(value), None) => Some(Value::constant(*value)),
                (LocalPlace::Register(r), None) => {
                    Some(Value { code: Expr::Atom(*r), bounds: local.kind.bounds() })
                }
                (LocalPlace::Array(list), Some(index)) => {
                    let index = self.compute(index)?;
                    self.check_constant(&index, list.len() as i128, place)?;
                    let index = self.simple(index, e.span)?;
                    let code = element(list, &index);
                    Some(Value { code, bounds: local.kind.bounds() })
                }
                (LocalPlace::Array(_), None) => self.not_scalar(place),
                (_, Some(_)) => self.not_array(place),
            };
        }
        match (self.cx.constants.get(place.name.text), &place.index) {
            (Some(value), None) => Some(Value::constant(*value)),
            (Some(_), Some(_)) => self.not_array(place),
            (None, _) => {
                let names: Vec<_> = self.scopes.iter().flat_map(|s| s.keys().copied()).collect();
                self.cx.unknown(place.name, &names);
                None
            }
        }
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
    pub fn check_constant(
        &mut self,
        index: &Value,
        len: i128,
        place: &tree::Place<'t>,
    ) -> Option<()> {
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

    /// The place in memory that is meant, with the loads that its index needs.
    pub fn place(&mut self, place: &tree::Place<'t>, global: &Global) -> Option<Place> {
        match (global.len, &place.index) {
            (None, None) => Some(Place::var(global.first)),
            (None, Some(_)) => self.not_array(place),
            (Some(_), None) => self.not_scalar(place),
            (Some(len), Some(index)) => {
                let index = self.compute(index)?;
                self.check_constant(&index, i128::from(len), place)?;
                Some(match index.known() {
                    Some(known) => Place::var(VarId::new(global.first.index() + known as usize)),
                    None => Place { first: global.first, len, index: Some(index.code) },
                })
            }
        }
    }

    /// The register that holds what is at a place, loaded if it was not.
    pub fn load(&mut self, place: Place, span: Span) -> Option<RegId> {
        if let Some((held, register)) = &self.held
            && *held == place
        {
            return Some(*register);
        }
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
            ExprKind::Run(..) => false,
            ExprKind::Place(place) => match (&place.index, self.array_length(place.name)) {
                (Some(index), Some(len)) => {
                    self.is_safe(index) && self.bounds(index).is_within(0, len - 1)
                }
                _ => true,
            },
            ExprKind::Not(e) | ExprKind::Negative(e) | ExprKind::Complement(e) => self.is_safe(e),
            ExprKind::Binary(op, a, b) => {
                let divides = matches!(op, BinOp::Div | BinOp::Mod);
                self.is_safe(a) && self.is_safe(b) && (!divides || self.bounds(b).low > 0)
            }
            ExprKind::Conditional(..) => false,
        }
    }

    /// What an expression may be, by its types alone.
    pub fn bounds(&self, e: &tree::Expr<'t>) -> Bounds {
        match &e.kind {
            ExprKind::Number(n) => Bounds::exactly(*n),
            ExprKind::Place(place) => match self.local(place.name.text) {
                Some(local) => match local.place {
                    LocalPlace::Constant(value) => Bounds::exactly(value),
                    _ => local.kind.bounds(),
                },
                None => match self.cx.constants.get(place.name.text) {
                    Some(value) => Bounds::exactly(*value),
                    None => {
                        let global = self.cx.globals.get(place.name.text);
                        global.map_or(Bounds::ANY, |g| g.kind.bounds())
                    }
                },
            },
            ExprKind::LastOf(name) => {
                self.array_length(*name).map_or(Bounds::ANY, |len| Bounds::exactly(len - 1))
            }
            ExprKind::Not(_) => Bounds::TRUTH,
            ExprKind::Negative(e) => Bounds::binary(BinOp::Sub, Bounds::exactly(0), self.bounds(e)),
            ExprKind::Complement(e) => {
                Bounds::binary(BinOp::Sub, Bounds::exactly(-1), self.bounds(e))
            }
            ExprKind::Binary(op, a, b) => Bounds::binary(*op, self.bounds(a), self.bounds(b)),
            ExprKind::Conditional(_, a, b) => self.bounds(a).join(self.bounds(b)),
            ExprKind::Run(..) => Bounds::ANY,
        }
    }

    /// Whether a value that is assigned to an `mtype` is one of its members.
    pub fn is_member(&self, e: &tree::Expr<'t>) -> bool {
        match &e.kind {
            ExprKind::Place(place) => match self.local(place.name.text) {
                Some(local) => local.kind == Type::Mtype,
                None => {
                    self.cx.constants.contains_key(place.name.text)
                        || self.global(place).is_some_and(|g| g.kind == Type::Mtype)
                }
            },
            ExprKind::Conditional(_, a, b) => self.is_member(a) && self.is_member(b),
            ExprKind::Number(n) => *n == 0,
            _ => false,
        }
    }
}

/// The element of an array of registers that an index means. The program fails if
/// there is none.
pub fn element(list: &[RegId], index: &Value) -> Code {
    if let Some(known) = index.known() {
        return usize::try_from(known)
            .ok()
            .and_then(|i| list.get(i))
            .map_or_else(|| checked(list.len(), Expr::Const(known)), |r| Expr::Atom(*r));
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
fn sum(list: &[RegId], from: usize, first: &Code, index: &Code) -> Code {
    match list {
        [] => Expr::Const(0),
        [one] => {
            let compared = if from == 0 { first } else { index };
            let chosen = binary(BinOp::Eq, compared.clone(), Expr::Const(from as i128));
            binary(BinOp::Mul, chosen, Expr::Atom(*one))
        }
        _ => {
            let (a, b) = list.split_at(list.len() / 2);
            binary(BinOp::Add, sum(a, from, first, index), sum(b, from + a.len(), first, index))
        }
    }
}
