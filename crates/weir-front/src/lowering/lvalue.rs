//! Places that have a value: local variables and memory, and pointers to them.

use weir_model::program::{self, BinOp, Code, Expr, StmtKind};

use super::Builder;
use super::memory::Place;
use super::types::Type;
use super::value::{Data, Locals, Value, binary};

/// A kind of places that a pointer may lead to.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// The address of the first one, and the one behind the last.
    pub(super) addresses: (i128, i128),
    /// The place, or the part of it that is meant.
    pub place: Place,
}

/// Something that has a value and may be given another one.
#[derive(Clone, Debug, PartialEq)]
pub enum Lvalue {
    /// Local variables.
    Locals(Locals, Type),
    /// Memory.
    Memory {
        /// The address, if only the run knows it.
        pointer: Option<Code>,
        /// The places that it may be.
        targets: Vec<Target>,
        /// The type of what is there.
        ty: Type,
    },
}

impl Lvalue {
    /// A place that is known.
    pub fn place(place: Place) -> Self {
        let ty = place.ty.clone();
        let targets = vec![Target { addresses: (0, 0), place }];
        Self::Memory { pointer: None, targets, ty }
    }

    /// What has no bits in memory.
    pub fn nothing() -> Self {
        Self::Memory { pointer: None, targets: Vec::new(), ty: Type::Void }
    }

    /// The type of what is there.
    pub fn ty(&self) -> &Type {
        match self {
            Self::Locals(_, ty) | Self::Memory { ty, .. } => ty,
        }
    }
}

impl Builder {
    /// A field of something.
    pub fn field(&mut self, of: &Lvalue, field: usize) -> Lvalue {
        let Type::Struct(id) = of.ty().plain() else {
            self.error("this has no fields");
            return of.clone();
        };
        let fields = &self.learned.structs.get(*id).fields;
        let Some((_, ty)) = fields.get(field) else { return of.clone() };
        let ty = ty.clone();
        match of {
            Lvalue::Locals(locals, _) => {
                let before: Vec<Type> = fields[..field].iter().map(|(_, ty)| ty.clone()).collect();
                let skipped: usize = before.iter().map(|ty| self.learned.structs.scalars(ty)).sum();
                Lvalue::Locals(Locals { slot: locals.slot + skipped, ..*locals }, ty)
            }
            Lvalue::Memory { pointer, targets, .. } => {
                let targets = targets
                    .iter()
                    .map(|t| Target { place: self.place_field(&t.place, field), ..*t })
                    .collect();
                Lvalue::Memory { pointer: pointer.clone(), targets, ty }
            }
        }
    }

    /// An element of an array.
    pub fn index(&mut self, of: &Lvalue, index: &Value) -> Lvalue {
        let Type::Array(element, len) = of.ty().plain().clone() else {
            self.error("this is not an array");
            return of.clone();
        };
        let code = self.to_code(&index.data);
        match of {
            Lvalue::Locals(locals, _) => {
                let size = self.learned.structs.scalars(&element);
                match code {
                    Expr::Const(i) if (0..i128::from(len)).contains(&i) => {
                        let slot = locals.slot + i as usize * size;
                        Lvalue::Locals(Locals { slot, ..*locals }, (*element).clone())
                    }
                    Expr::Const(_) => {
                        self.fail();
                        Lvalue::Locals(*locals, (*element).clone())
                    }
                    _ => {
                        self.needs_memory(*locals);
                        Lvalue::Locals(*locals, (*element).clone())
                    }
                }
            }
            Lvalue::Memory { pointer, targets, .. } => {
                let code = self.in_register(code);
                let targets = targets
                    .iter()
                    .map(|t| Target { place: self.place_index(&t.place, code.clone()), ..*t })
                    .collect();
                let ty = (*element).clone();
                Lvalue::Memory { pointer: pointer.clone(), targets, ty }
            }
        }
    }

    /// Code that is short enough to be repeated.
    pub(super) fn in_register(&mut self, code: Code) -> Code {
        let is_short = match &code {
            Expr::Const(_) | Expr::Atom(_) => true,
            Expr::Binary(BinOp::Add | BinOp::Sub, a, b) => {
                matches!((&**a, &**b), (Expr::Atom(_), Expr::Const(_)))
            }
            _ => false,
        };
        if is_short || self.process().state.is_none() {
            return code;
        }
        let register = self.temporary(&Type::Void);
        self.emit(StmtKind::Assign(register, code));
        Expr::Atom(register)
    }

    /// A value that does not change if local variables do.
    pub fn copied(&mut self, value: &Value) -> Value {
        match &value.data {
            Data::Code(code) if !matches!(code, Expr::Const(_)) => {
                let register = self.temporary(&value.ty);
                self.emit(StmtKind::Assign(register, code.clone()));
                Value::code(Expr::Atom(register), value.ty.clone())
            }
            Data::Place(place) if !matches!(place.linear, Expr::Const(_)) => {
                let mut place = place.clone();
                let register = self.temporary(&Type::Void);
                self.emit(StmtKind::Assign(register, place.linear));
                place.linear = Expr::Atom(register);
                Value { data: Data::Place(place), ty: value.ty.clone() }
            }
            Data::Fields(fields) => {
                let fields = fields.iter().map(|field| self.copied(field)).collect();
                Value { data: Data::Fields(fields), ty: value.ty.clone() }
            }
            _ => value.clone(),
        }
    }

    /// A pointer to something.
    pub fn address_of(&mut self, of: &Lvalue) -> Value {
        let ty = Type::pointer(of.ty().clone());
        let data = match of {
            Lvalue::Locals(locals, _) => Data::Local(*locals),
            Lvalue::Memory { pointer: None, targets, .. } => match targets.first() {
                Some(target) => Data::Place(target.place.clone()),
                None => Data::Code(Expr::Const(0)),
            },
            Lvalue::Memory { pointer: Some(_), targets, .. } => {
                // Each kind of place has addresses of its own.
                match &targets[..] {
                    [target] => Data::Place(target.place.clone()),
                    _ => {
                        let targets = of.clone();
                        let register = self.temporary(&ty);
                        self.each(&targets, &mut |this, place| {
                            let code = this.address(place);
                            this.emit(StmtKind::Assign(register, code));
                        });
                        Data::Code(Expr::Atom(register))
                    }
                }
            }
        };
        Value { data, ty }
    }

    /// What a pointer to a type leads to.
    pub fn follow(&mut self, pointer: &Value, ty: &Type) -> Lvalue {
        match &pointer.data {
            Data::Place(place) => {
                let place = self.seen_as(place.clone(), ty);
                Lvalue::place(place)
            }
            Data::Local(locals) => {
                if locals.slot + self.learned.structs.scalars(ty) > locals.end {
                    self.fail();
                    let first = Locals { slot: locals.first, ..*locals };
                    return Lvalue::Locals(first, ty.clone());
                }
                let found = self.process().slots.get(locals.slot).map(|slot| slot.ty.clone());
                let is_like = found.is_some_and(|found| !ty.is_scalar() || found.is_like(ty));
                if !is_like && *ty != Type::Void {
                    self.error("this pointer leads to a variable of another type");
                }
                Lvalue::Locals(*locals, ty.clone())
            }
            Data::Code(Expr::Const(_)) => {
                self.fail();
                Lvalue::Memory { pointer: None, targets: Vec::new(), ty: ty.clone() }
            }
            Data::Code(code) => {
                let code = self.in_register(code.clone());
                let targets = self.targets(&code, ty);
                if targets.is_empty() {
                    // Nothing of this type has an address, so the pointer leads nowhere.
                    self.fail();
                }
                Lvalue::Memory { pointer: Some(code), targets, ty: ty.clone() }
            }
            Data::Text(_) => {
                self.error("the characters of strings are not read");
                Lvalue::Memory { pointer: None, targets: Vec::new(), ty: ty.clone() }
            }
            _ => {
                self.error("this is not a pointer");
                Lvalue::Memory { pointer: None, targets: Vec::new(), ty: ty.clone() }
            }
        }
    }

    /// A place as a pointer of another type sees it: a pointer to a struct is also one to its
    /// first field.
    fn seen_as(&mut self, mut place: Place, ty: &Type) -> Place {
        for _ in 0..crate::MAX_NESTING {
            if place.ty.is_like(ty) {
                return place;
            }
            place = match place.ty.plain() {
                Type::Struct(_) => self.place_field(&place, 0),
                Type::Array(..) => self.place_index(&place, Expr::Const(0)),
                _ => break,
            };
        }
        self.error("this pointer leads to something of another type");
        place
    }

    /// A pointer that is so many elements further on.
    pub fn advance(&mut self, pointer: &Value, by: &Value) -> Value {
        let ty = pointer.ty.clone();
        let by = self.to_code(&by.data);
        let data = match &pointer.data {
            Data::Place(place) => {
                let mut place = place.clone();
                place.linear = binary(BinOp::Add, place.linear, by);
                Data::Place(place)
            }
            Data::Local(locals) => match (&ty, by) {
                (Type::Pointer(to), Expr::Const(by)) => {
                    let size = self.learned.structs.scalars(to) as i128;
                    let slot = locals.slot as i128 + by.saturating_mul(size);
                    // A pointer behind the last element is one, too.
                    if (locals.first as i128..=locals.end as i128).contains(&slot) {
                        Data::Local(Locals { slot: slot as usize, ..*locals })
                    } else {
                        self.needs_memory(*locals);
                        pointer.data.clone()
                    }
                }
                _ => {
                    self.needs_memory(*locals);
                    pointer.data.clone()
                }
            },
            data => {
                let code = self.to_code(&data.clone());
                Data::Code(binary(BinOp::Add, code, by))
            }
        };
        Value { data, ty }
    }

    /// Whether two pointers are the same: 0 or 1.
    pub fn same_pointer(&mut self, a: &Value, b: &Value) -> Code {
        match (&a.data, &b.data) {
            (Data::Place(a), Data::Place(b)) if a.object == b.object && a.path == b.path => {
                binary(BinOp::Eq, a.linear.clone(), b.linear.clone())
            }
            (Data::Place(_), Data::Place(_))
            | (Data::Place(_) | Data::Local(_), Data::Code(Expr::Const(_)))
            | (Data::Code(Expr::Const(_)), Data::Place(_) | Data::Local(_))
            | (Data::Place(_), Data::Local(_))
            | (Data::Local(_), Data::Place(_)) => Expr::Const(0),
            (Data::Local(a), Data::Local(b)) => Expr::Const(i128::from(a == b)),
            (Data::Function(a), Data::Function(b)) => Expr::Const(i128::from(a == b)),
            (Data::Function(_), _) | (_, Data::Function(_)) => Expr::Const(0),
            (Data::Text(_), Data::Code(Expr::Const(0)))
            | (Data::Code(Expr::Const(0)), Data::Text(_)) => Expr::Const(0),
            // An address may have the same number.
            (Data::Code(Expr::Const(c)), Data::Code(other))
            | (Data::Code(other), Data::Code(Expr::Const(c)))
                if *c != 0
                    && !matches!(other, Expr::Const(_))
                    && !self.learned.addressed.is_empty() =>
            {
                self.error("a pointer is compared with a number: addresses have no numbers here; point to a variable of its own instead");
                Expr::Const(0)
            }
            _ => {
                let (a, b) = (a.data.clone(), b.data.clone());
                let (a, b) = (self.to_code(&a), self.to_code(&b));
                binary(BinOp::Eq, a, b)
            }
        }
    }

    /// Executes something for each place that memory may be, whichever the pointer leads to.
    pub(super) fn each(&mut self, memory: &Lvalue, access: &mut dyn FnMut(&mut Self, &Place)) {
        let Lvalue::Memory { pointer, targets, .. } = memory else { return };
        let Some(pointer) = pointer else {
            if let Some(target) = targets.first() {
                access(self, &target.place);
            }
            return;
        };
        // Where only one address is possible, the place is known behind the test.
        let places: Vec<(Code, Place)> = targets
            .iter()
            .map(|Target { addresses: (first, end), place }| {
                let mut place = place.clone();
                let test = if end - first == 1 {
                    place.linear = known_at(&place.linear, pointer, *first);
                    binary(BinOp::Eq, pointer.clone(), Expr::Const(*first))
                } else {
                    let from = binary(BinOp::Ge, pointer.clone(), Expr::Const(*first));
                    let to = binary(BinOp::Lt, pointer.clone(), Expr::Const(*end));
                    binary(BinOp::And, from, to)
                };
                (test, place)
            })
            .collect();
        if let [(test, place)] = &places[..] {
            // The bounds of an array are checked where it is accessed.
            if matches!(place.linear, Expr::Const(_)) {
                self.emit(StmtKind::Assert(test.clone()));
            }
            return access(self, place);
        }
        let span = self.span;
        let mut blocks = Vec::new();
        for (test, place) in places {
            self.process_mut().blocks.push(Vec::new());
            access(self, &place);
            let block = self.process_mut().blocks.pop().unwrap_or_default();
            blocks.push((test, block));
        }
        // Any other address is null, or that of something else.
        let mut chain = vec![program::Stmt::new(StmtKind::Assert(Expr::Const(0)), span)];
        for (test, block) in blocks.into_iter().rev() {
            chain = vec![program::Stmt::new(StmtKind::If(test, block, chain), span)];
        }
        for stmt in chain {
            self.emit(stmt.kind);
        }
    }
}

/// Code in which a pointer, minus a number or not, is known to be an address.
fn known_at(code: &Code, pointer: &Code, address: i128) -> Code {
    if code == pointer {
        return Expr::Const(address);
    }
    match code {
        Expr::Binary(op, a, b) => {
            binary(*op, known_at(a, pointer, address), known_at(b, pointer, address))
        }
        Expr::Unary(op, e) => super::value::unary(*op, known_at(e, pointer, address)),
        other => other.clone(),
    }
}
