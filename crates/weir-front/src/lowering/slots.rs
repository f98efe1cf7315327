//! Local variables. Each scalar has a slot, which holds a value that is known, or a register.

use weir_model::ids::RegId;
use weir_model::program::{Expr, StmtKind};

use super::lvalue::Lvalue;
use super::types::Type;
use super::value::{Data, Locals, Value};
use super::{Builder, Key};

/// A local variable of scalar type.
#[derive(Debug)]
pub(super) struct Slot {
    pub key: Key,
    /// The variable that it is part of: what has to be in memory if an address is needed.
    pub declared: Key,
    pub name: String,
    pub ty: Type,
    pub register: Option<RegId>,
}

/// What a slot holds.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Held {
    /// Something that is known and does not depend on registers.
    Fixed(Data),
    /// What the register of the slot holds.
    Register,
}

impl Builder {
    /// Declares a local variable with zeros in it. It is in memory if its address is needed.
    pub fn local(&mut self, name: &str, ty: &Type, key: Key) -> Lvalue {
        if self.learned.in_memory.contains(&key) {
            let process = self.process().name.clone();
            let name =
                if self.current == 0 { name.to_owned() } else { format!("{process}.{name}") };
            let object = self.object(key, &name, ty);
            return Lvalue::place(self.whole(object));
        }
        let first = self.process().slots.len();
        let mut list = Vec::new();
        self.slots_of(name, ty, &mut list);
        if first + list.len() > super::MAX_STATEMENTS {
            self.error("this thread needs too many local variables");
            list.truncate(1);
        }
        for (i, (name, ty)) in list.into_iter().enumerate() {
            let slot =
                Slot { key: super::hash(&(key, i)), declared: key, name, ty, register: None };
            let process = self.process_mut();
            process.slots.push(slot);
            if let Some(state) = &mut process.state {
                state.push(Held::Fixed(Data::Code(Expr::Const(0))));
            }
        }
        let end = self.process().slots.len();
        Lvalue::Locals(Locals { slot: first, first, end }, ty.clone())
    }

    /// The scalars of a local variable, elements of arrays one by one.
    fn slots_of(&self, name: &str, ty: &Type, list: &mut Vec<(String, Type)>) {
        if list.len() > super::MAX_STATEMENTS {
            return;
        }
        match ty.plain() {
            Type::Struct(id) => {
                let fields = &self.learned.structs.get(*id).fields;
                for (field, ty) in fields {
                    self.slots_of(&format!("{name}.{field}"), ty, list);
                }
            }
            Type::Array(element, n) => {
                for i in 0..*n {
                    self.slots_of(&format!("{name}.{i}"), element, list);
                }
            }
            Type::Void => {}
            _ => list.push((name.to_owned(), ty.clone())),
        }
    }

    /// Whether what a local variable holds is known.
    pub fn is_fixed(&self, locals: Locals) -> bool {
        let state = self.process().state.as_ref();
        state.is_some_and(|state| matches!(state.get(locals.slot), Some(Held::Fixed(_))))
    }

    /// What a slot holds.
    pub(super) fn read_slot(&mut self, slot: usize) -> Value {
        let ty = self.process().slots[slot].ty.plain().clone();
        let held = self.process().state.as_ref().and_then(|state| state.get(slot)).cloned();
        match held {
            Some(Held::Fixed(data)) => Value { data, ty },
            Some(Held::Register) => Value::code(Expr::Atom(self.slot_register(slot)), ty),
            None => Value::number(0, ty),
        }
    }

    /// Gives a slot a value.
    pub(super) fn write_slot(&mut self, slot: usize, data: &Data) {
        if self.process().state.is_none() {
            return;
        }
        let held = if data.is_fixed() {
            Held::Fixed(data.clone())
        } else {
            let code = self.to_code(data);
            let register = self.slot_register(slot);
            if code != Expr::Atom(register) {
                self.emit(StmtKind::Assign(register, code));
            }
            Held::Register
        };
        if let Some(state) = &mut self.process_mut().state
            && let Some(place) = state.get_mut(slot)
        {
            *place = held;
        }
    }

    /// Lets a slot be a register that a statement sets.
    pub(super) fn hold_register(&mut self, slot: usize) -> RegId {
        let register = self.slot_register(slot);
        if let Some(state) = &mut self.process_mut().state {
            state[slot] = Held::Register;
        }
        register
    }

    pub(super) fn slot_register(&mut self, slot: usize) -> RegId {
        if let Some(register) = self.process().slots[slot].register {
            return register;
        }
        let Slot { name, ty, .. } = &self.process().slots[slot];
        let (name, ty) = (name.clone(), ty.clone());
        let register = self.register(&name, &ty, false);
        self.process_mut().slots[slot].register = Some(register);
        register
    }

    /// A value as code: a pointer becomes an address.
    #[allow(clippy::wrong_self_convention, reason = "an address may have to be made for it")]
    pub fn to_code(&mut self, data: &Data) -> weir_model::program::Code {
        match data {
            Data::Code(code) => code.clone(),
            Data::Place(place) => self.address(place),
            Data::Local(locals) => {
                self.needs_memory(*locals);
                Expr::Const(0)
            }
            Data::Function(_) => {
                self.error("a pointer to a function has to be known before the program runs");
                Expr::Const(0)
            }
            Data::Thread(_) => {
                self.error("the handle of a thread has to be known before the program runs");
                Expr::Const(0)
            }
            Data::Text(_) => {
                self.error("the characters and addresses of strings are not read");
                Expr::Const(0)
            }
            Data::Fields(fields) if fields.len() == 1 => {
                let data = fields[0].data.clone();
                self.to_code(&data)
            }
            Data::Fields(_) => {
                self.error("a struct is used where a number is expected");
                Expr::Const(0)
            }
        }
    }

    /// What local variables of another thread hold, which waits while this one is translated;
    /// nothing if only the run knows that.
    pub fn held_by(&mut self, owner: usize, variable: &Lvalue) -> Option<Value> {
        let current = std::mem::replace(&mut self.current, owner);
        let value = self.load(variable, super::Order::Plain);
        let value = self.for_thread(&value);
        self.current = current;
        value
    }

    /// Another thread accesses local variables, so they have to be in memory.
    pub fn share(&mut self, owner: usize, variable: &Lvalue) {
        if let Lvalue::Locals(locals, _) = variable {
            let current = std::mem::replace(&mut self.current, owner);
            self.needs_memory(*locals);
            self.current = current;
        }
    }

    /// The same for all that a value points to. Whether other threads know the value.
    pub fn share_value(&mut self, owner: usize, value: &Value) -> bool {
        match &value.data {
            Data::Local(locals) => self.share(owner, &Lvalue::Locals(*locals, Type::Void)),
            Data::Fields(fields) => {
                let mut known = true;
                for field in fields {
                    known &= self.share_value(owner, field);
                }
                return known;
            }
            _ => {}
        }
        value.data.is_fixed()
    }

    /// The address of local variables is needed.
    pub(super) fn needs_memory(&mut self, locals: Locals) {
        // What has no scalars has no slot.
        let slot = self.process().slots.get(locals.slot);
        let Some(declared) = slot.map(|slot| slot.declared) else { return };
        if self.learned.in_memory.insert(declared) {
            self.learned.is_changed = true;
        }
    }
}
