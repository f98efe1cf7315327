//! Constants, addresses, and what a pointer leads to.

use std::collections::BTreeSet;

use weir_llvm::{Body, LocalId, Op, Symbol, Type, TypeId, Value};
use weir_model::program::{BinOp, Expr, Stmt, StmtKind};

use super::explore::{State, code_of};
use super::number::{binary, number};
use super::objects::{Addresses, Bytes, Key, ObjectId, Val, gcd};
use super::{Home, Reader};

/// So many elements of an array are told apart, if only the run knows which one is meant.
const MAX_ELEMENTS: i128 = 2048;

/// How many scalars a value may have.
pub(super) const MAX_SCALARS: usize = 4096;

/// At most so many places in an object are looked at if nothing accesses it otherwise.
const MAX_PLACES: usize = 64;

/// What a pointer may lead to.
pub(super) struct Targets {
    /// The addresses, in order.
    pub addresses: Vec<i128>,
    /// Whether it may lead elsewhere too. Then it is a limit if it does.
    pub is_partial: bool,
}

impl<'m> Reader<'m> {
    /// How many bits a scalar has.
    pub(super) fn bits(&self, ty: TypeId) -> u32 {
        match self.module.ty(ty) {
            Type::Int(bits) => *bits,
            _ => self.layout.size(ty).map_or(64, |(size, _)| (size * 8).min(128) as u32),
        }
    }

    /// How many bytes an access to a scalar reads or writes: of a number of 24 bits three, although it takes four
    /// in an array.
    pub(super) fn bytes(&self, ty: TypeId) -> Option<u64> {
        match self.module.ty(ty) {
            Type::Int(bits) => Some(u64::from(*bits).div_ceil(8)),
            _ => self.layout.size(ty).map(|(size, _)| size),
        }
    }

    /// The scalars of a type.
    pub(super) fn scalars(&mut self, ty: TypeId) -> Vec<(u64, TypeId)> {
        match self.layout.scalars(ty, MAX_SCALARS) {
            Some(scalars) => scalars,
            None => {
                let ty = self.module.show_type(ty);
                self.refuse(format!("a value of the type {ty} is not read"));
                Vec::new()
            }
        }
    }

    /// The scalars of a value; nothing if there is an error.
    pub(super) fn value(
        &mut self,
        state: &mut State,
        ty: TypeId,
        value: &Value,
        out: &mut Vec<Stmt>,
    ) -> Option<Vec<Val>> {
        let one = |val| Some(vec![val]);
        match value {
            Value::Local(LocalId(id)) => {
                let info = self.info(state.top().function);
                match state.top().values.get(id) {
                    Some(values) => Some(values.clone()),
                    None if info.variables.contains_key(id) => {
                        self.refuse("the address of a variable is used");
                        None
                    }
                    None => Some(vec![Val::Undef; self.scalars(ty).len()]),
                }
            }
            Value::Int(n) => one(Val::Known(*n)),
            Value::Null => one(Val::Known(0)),
            Value::Float(text) => match self.float(ty, text) {
                Some(bits) => one(Val::Known(bits)),
                None => {
                    self.refuse(format!("the number {text} is not read"));
                    None
                }
            },
            Value::Undef | Value::Poison => Some(vec![Val::Undef; self.scalars(ty).len()]),
            Value::Zero => Some(vec![Val::Known(0); self.scalars(ty).len()]),
            Value::Global(symbol) => {
                let address = self.address_of(state, *symbol)?;
                one(Val::Known(address))
            }
            Value::Bytes(bytes) => {
                Some(bytes.iter().map(|b| Val::Known(i128::from(*b as i8))).collect())
            }
            Value::Aggregate(elements) => {
                let mut all = Vec::new();
                for (ty, value) in elements {
                    all.extend(self.value(state, *ty, value, out)?);
                }
                Some(all)
            }
            Value::Expr(op) => self.operation(state, op, None, out),
            Value::Metadata => Some(Vec::new()),
            Value::Asm(..) => {
                self.refuse("an inline assembly is used as a value");
                None
            }
            Value::Unknown(word) => {
                self.refuse(format!("`{word}` is not read"));
                None
            }
        }
    }

    /// One scalar.
    pub(super) fn scalar(
        &mut self,
        state: &mut State,
        ty: TypeId,
        value: &Value,
        out: &mut Vec<Stmt>,
    ) -> Option<Val> {
        let values = self.value(state, ty, value, out)?;
        match values[..] {
            [value] => {
                self.must_be_set(value, out);
                Some(value)
            }
            _ => {
                let ty = self.module.show_type(ty);
                self.refuse(format!("a value of the type {ty} is not read here"));
                None
            }
        }
    }

    /// The bits of a floating-point number.
    fn float(&self, ty: TypeId, text: &str) -> Option<i128> {
        let value = match text.strip_prefix("0x") {
            Some(digits) => f64::from_bits(u64::from_str_radix(digits, 16).ok()?),
            None => text.parse().ok()?,
        };
        Some(match self.module.ty(ty) {
            Type::Float("double") => i128::from(value.to_bits() as i64),
            Type::Float("float") => i128::from((value as f32).to_bits() as i32),
            _ => return None,
        })
    }

    /// The address of a global or a function.
    pub(super) fn address_of(&mut self, state: &mut State, symbol: Symbol) -> Option<i128> {
        let module = self.module;
        let name = module.symbol(symbol);
        if let Some(alias) = self.aliases.get(name).map(|alias| &module.aliases[*alias]) {
            let (ty, value) = &alias.target;
            if matches!(value, Value::Global(target) if *target == symbol) {
                self.refuse("an alias stands for itself");
                return None;
            }
            if self.steps > super::MAX_STEPS {
                self.refuse("aliases stand for each other");
                return None;
            }
            self.steps += 1000;
            let values = self.value(state, *ty, value, &mut Vec::new())?;
            return match values[..] {
                [Val::Known(address)] => Some(address),
                _ => None,
            };
        }
        let id = match self.globals.get(name).map(|global| &module.globals[*global]) {
            Some(global) => {
                let size = self.layout.size(global.ty).map_or(0, |(size, _)| size);
                let plain = super::names::plain_name(name);
                if global.is_thread_local {
                    let thread = self.current;
                    let of = self.threads[thread].name.clone();
                    let key = Key::ThreadLocal(symbol, thread);
                    let id = self.facts.object(key, || format!("{of}.{plain}"), size, false);
                    if !state.own.contains_key(&id) && !self.memory.contains_key(&id) {
                        let bytes = self.initial(id);
                        self.memory.insert(id, bytes.clone());
                        // What another thread may reach is read by statements; its first values are
                        // those of memory.
                        if self.facts.is_private(id) || self.is_alone {
                            state.own.insert(id, bytes);
                        }
                    } else if self.facts.is_private(id) && !state.own.contains_key(&id) {
                        let bytes = self.initial(id);
                        state.own.insert(id, bytes);
                    }
                    id
                } else {
                    self.facts.object(Key::Global(symbol), || plain, size, global.is_constant)
                }
            }
            None => {
                let plain = super::names::plain_name(name);
                self.facts.object(Key::Function(symbol), || plain, 16, true)
            }
        };
        Some(self.facts.get(id).base)
    }

    /// What an object holds at first.
    pub(super) fn initial(&mut self, id: ObjectId) -> Bytes {
        let symbol = match self.facts.get(id).key {
            Key::Global(symbol) | Key::ThreadLocal(symbol, _) => symbol,
            Key::Stack(..) => return Bytes::new(Val::Undef),
            Key::Heap(..) if !self.facts.zeroed.contains(&id) => return Bytes::new(Val::Undef),
            _ => return Bytes::new(Val::Known(0)),
        };
        let mut bytes = Bytes::new(Val::Known(0));
        let module = self.module;
        let name = module.symbol(symbol);
        let Some(global) = self.globals.get(name).map(|global| &module.globals[*global]) else {
            return bytes;
        };
        match &global.init {
            None => {
                // `__libc_single_threaded` is 0 as long as there are threads, and what asks for it
                // then uses atomic operations.
                let known = ["stdout", "stderr", "stdin", "environ", "__libc_single_threaded"];
                if !global.is_constant && !known.contains(&name) {
                    let plain = super::names::plain_name(name);
                    self.refuse(format!("the variable `{plain}` is defined elsewhere"));
                }
            }
            Some(init) => self.fill(&mut bytes, global.ty, init, 0),
        }
        bytes
    }

    /// Writes a constant to bytes.
    fn fill(&mut self, bytes: &mut Bytes, ty: TypeId, value: &Value, at: u64) {
        match value {
            Value::Zero => {}
            Value::Undef | Value::Poison => {}
            Value::Bytes(text) => {
                for (i, byte) in text.iter().enumerate().filter(|(_, b)| **b != 0) {
                    let value = Val::Known(i128::from(*byte as i8));
                    bytes.set(at + i as u64, 1, value);
                }
            }
            Value::Aggregate(elements) => {
                for (i, (element_ty, element)) in elements.iter().enumerate() {
                    let Some((_, offset)) = self.layout.part(ty, i as u64) else { return };
                    self.fill(bytes, *element_ty, element, at + offset);
                }
            }
            value => {
                let Some((size, _)) = self.layout.size(ty) else { return };
                let mut state = State::nothing();
                if let Some(values) = self.value(&mut state, ty, value, &mut Vec::new())
                    && let [value @ Val::Known(_)] = values[..]
                {
                    bytes.set(at, size, value);
                }
            }
        }
    }

    /// The addresses that a value may be.
    pub(super) fn addresses_of(&self, value: Val) -> Addresses {
        match value {
            Val::Known(n) if self.facts.find(n).is_some() => Addresses::one(n),
            Val::Undef if self.knows_unset => Addresses::unset(),
            Val::Known(_) | Val::Undef => Addresses::default(),
            Val::Reg(r) => self.threads[self.current].homes[r.index()].1.clone(),
        }
    }

    /// What an operation makes of addresses: known ones one by one, if the other operand is a known number.
    pub(super) fn mapped(
        &self,
        a: Val,
        b: Val,
        map: impl Fn(i128, i128) -> Option<i128>,
    ) -> Addresses {
        // Numbers that are computed with have been set.
        let (mut left, right) = (self.addresses_of(a).set(), self.addresses_of(b).set());
        let found = |image: &i128| self.facts.find(*image).is_some();
        match (a, b) {
            _ if left.is_nothing() && right.is_nothing() => Addresses::default(),
            (_, Val::Known(n)) if right.is_empty() => {
                let these = left.these.iter().filter_map(|a| map(*a, n)).filter(found).collect();
                Addresses { these, ..left }
            }
            (Val::Known(n), _) if left.is_empty() => {
                let these = right.these.iter().filter_map(|b| map(n, *b)).filter(found).collect();
                Addresses { these, ..right }
            }
            _ => {
                left.add(&right);
                self.facts.blurred(&left)
            }
        }
    }

    /// What the difference of two values may be. That of two addresses is a number: who adds it to one of them leaves its object.
    pub(super) fn difference(&self, a: Val, b: Val) -> Addresses {
        match self.addresses_of(b).set().is_nothing() {
            true => self.mapped(a, b, |a, b| a.checked_sub(b)),
            false => Addresses::unlisted(),
        }
    }

    /// `getelementptr`
    pub(super) fn element(
        &mut self,
        state: &mut State,
        (ty, pointer, indices): (TypeId, &Value, &[(TypeId, Value)]),
        result: Option<u32>,
        out: &mut Vec<Stmt>,
    ) -> Option<Vec<Val>> {
        let pointer_ty = self.pointer_type();
        let base = self.scalar(state, pointer_ty, pointer, out)?;
        let (mut at, mut code) = (0_i128, None);
        let mut strides = Vec::new();
        let mut ty = ty;
        for (number_of, (index_ty, index)) in indices.iter().enumerate() {
            let index = self.scalar(state, *index_ty, index, out)?;
            let stride = match number_of {
                0 => self.layout.size(ty)?.0,
                _ => {
                    let known = match index {
                        Val::Known(n) => u64::try_from(n).ok(),
                        _ => None,
                    };
                    let plain = self.layout.plain(ty);
                    match (self.module.ty(plain), known) {
                        (Type::Struct { .. }, Some(field)) => {
                            let (part, offset) = self.layout.part(plain, field)?;
                            at += i128::from(offset);
                            ty = part;
                            continue;
                        }
                        (Type::Array(_, element) | Type::Vector(_, element), _) => {
                            ty = *element;
                            self.layout.size(ty)?.0
                        }
                        _ => {
                            self.refuse("this part of a value is not known");
                            return None;
                        }
                    }
                }
            };
            match index {
                Val::Known(n) => at += n.checked_mul(i128::from(stride))?,
                Val::Undef => return Some(vec![Val::Undef]),
                Val::Reg(r) => {
                    strides.push(stride);
                    let moved = binary(BinOp::Mul, Expr::Atom(r), number(i128::from(stride)));
                    code = Some(match code {
                        None => moved,
                        Some(before) => binary(BinOp::Add, before, moved),
                    });
                }
            }
        }
        if base == Val::Undef {
            return Some(vec![Val::Undef]);
        }
        let fixed = binary(BinOp::Add, code_of(base), number(at));
        let Some(moved) = code else {
            if at == 0 {
                return Some(vec![base]);
            }
            return match (fixed, result) {
                (Expr::Const(n), _) => Some(vec![Val::Known(weir_llvm::wrap(n, 64))]),
                (code, Some(result)) => {
                    let held = self.mapped(base, Val::Known(at), |a, b| Some(a + b));
                    let value = self.set_code(state, result, code, out);
                    self.note(value, &held);
                    Some(vec![value])
                }
                _ => None,
            };
        };
        let mut held = self.addresses_of(base);
        let stride = i128::from(strides.iter().copied().fold(0, gcd).max(1));
        for address in std::mem::take(&mut held.these) {
            let Some((id, offset)) = self.facts.find(address) else { continue };
            let object = self.facts.get(id);
            let first = (i128::from(offset) + at).rem_euclid(stride);
            let size = i128::from(object.size);
            if (size - first) / stride >= MAX_ELEMENTS {
                held.within.insert(id);
                continue;
            }
            let elements =
                (0..=(size - first).div_euclid(stride)).map(|number| first + number * stride);
            held.these.extend(elements.map(|at| object.base + at));
        }
        let code = super::number::wrap(64, binary(BinOp::Add, fixed, moved));
        let value = self.set_code(state, result?, code, out);
        self.note(value, &held);
        Some(vec![value])
    }

    /// A register may hold addresses.
    pub(super) fn note(&mut self, value: Val, held: &Addresses) {
        if let Val::Reg(register) = value {
            self.may_hold(register, held);
        }
    }

    pub(super) fn pointer_type(&self) -> TypeId {
        self.pointer
    }

    /// The object that bytes are in; nothing if they are in none.
    pub(super) fn inside(&self, address: i128, size: u64) -> Option<(ObjectId, u64)> {
        let (id, at) = self.facts.find(address)?;
        let object = self.facts.get(id);
        let is_data = !matches!(object.key, Key::Function(_));
        (is_data && at.checked_add(size)? <= object.size).then_some((id, at))
    }

    /// What a pointer may lead to, for an access of so many bytes. In an object in which the place is not known, that is
    /// where something accesses so many bytes, or every place if nothing accesses the object.
    pub(super) fn targets(&mut self, register: weir_model::ids::RegId, size: u64) -> Targets {
        let held = &self.threads[self.current].homes[register.index()].1;
        let is_partial = held.is_partial || held.is_empty() || !held.within.is_empty();
        let mut addresses = held.these.clone();
        for id in &held.within {
            let object = self.facts.get(*id);
            if matches!(object.key, Key::Flag(..) | Key::Function(..)) {
                continue;
            }
            // What is never written is read without a statement.
            let known = self.memory.get(id).into_iter().flat_map(|bytes| bytes.scalars());
            let known = known.map(|(at, length, _)| (at, length));
            let accesses: BTreeSet<_> =
                self.facts.accesses_of(*id).into_iter().chain(known).collect();
            let offsets = accesses.iter().filter(|(_, length)| *length == size || size == 0);
            let mut offsets: BTreeSet<u64> = offsets.map(|(at, _)| *at).collect();
            if accesses.is_empty() {
                let step = size.max(1);
                offsets.extend((0..object.size / step).take(MAX_PLACES).map(|n| n * step));
            }
            addresses.extend(offsets.into_iter().map(|at| object.base + i128::from(at)));
        }
        addresses.retain(|address| self.inside(*address, size).is_some());
        Targets { addresses: addresses.into_iter().collect(), is_partial }
    }

    /// The functions that a pointer may lead to, whose type fits, and whether there may be others.
    pub(super) fn functions_at(
        &mut self,
        register: weir_model::ids::RegId,
        call: &weir_llvm::Call,
    ) -> (Vec<(i128, usize)>, bool) {
        let held = self.threads[self.current].homes[register.index()].1.clone();
        let mut found = Vec::new();
        for id in self.facts.objects_of(&held) {
            let object = self.facts.get(id);
            let Key::Function(symbol) = object.key else { continue };
            let name = self.module.symbol(symbol);
            let Some(&function) = self.functions.get(name) else { continue };
            let defined = &self.module.functions[function];
            let may_be = held.these.contains(&object.base) || held.within.contains(&id);
            let given = call.arguments.iter().map(|(ty, _)| *ty);
            let fits = defined.ty == call.ty && given.eq(defined.parameters.iter().copied());
            if may_be && fits && defined.body != Body::None {
                found.push((object.base, function));
            }
        }
        (found, held.is_partial || held.is_empty())
    }

    /// An operation as a value; the result of an instruction or part of a constant.
    pub(super) fn operation(
        &mut self,
        state: &mut State,
        op: &Op,
        result: Option<u32>,
        out: &mut Vec<Stmt>,
    ) -> Option<Vec<Val>> {
        let made = self.operate(state, op, result, out);
        if made.is_none() && !self.is_stopped() {
            self.refuse("this operation is not read");
        }
        made
    }

    /// Emits an assignment to a temporary register.
    pub(super) fn in_register(
        &mut self,
        code: weir_model::program::Code,
        out: &mut Vec<Stmt>,
    ) -> weir_model::program::Code {
        match code {
            Expr::Binary(..) | Expr::Unary(..) => {
                let register = self.temporary();
                self.emit(out, StmtKind::Assign(register, code));
                Expr::Atom(register)
            }
            code => code,
        }
    }

    /// Reports that a limit is reached, in the words of a sentence, and ends the thread.
    pub(super) fn limit(&mut self, words: &str, out: &mut Vec<Stmt>) {
        let words = match self.source.line(self.span) {
            0 => words.to_owned(),
            line => format!("{words} in line {line}"),
        };
        let known = self.limit_words.iter().position(|other| *other == words);
        let number_of = known.unwrap_or(self.limit_words.len());
        if known.is_none() {
            self.limit_words.push(words);
        }
        let register = self.register(Home::Limit(number_of), || "limit".to_owned());
        let current = self.current;
        if !self.limits.iter().any(|l| (l.0, l.1) == (current, register)) {
            self.limits.push((current, register, 0));
        }
        self.emit(out, StmtKind::Assign(register, number(1)));
        self.emit(out, StmtKind::Exit);
    }
}

impl State {
    /// A state in which nothing is executed, to evaluate constants.
    pub fn nothing() -> Self {
        let frame = super::explore::Frame {
            context: 0,
            function: 0,
            block: 0,
            at: 0,
            values: std::collections::BTreeMap::new(),
            then: super::explore::Then::Forget,
        };
        Self {
            frames: vec![frame],
            own: Default::default(),
            dead: BTreeSet::new(),
            allocated: Default::default(),
            begun: Vec::new(),
            rounds: Default::default(),
            is_atomic: false,
            atomic_until: None,
        }
    }
}
