//! Allocation.
//!
//! Every place of the code that allocates has objects of its own in each thread: one if it is
//! executed once, or a pool of them, whose size is a bound that the user sets. Memory is never used
//! twice, so every use of freed memory is found. Using more than the pool has makes every `holds`
//! an `unknown`.

use weir_model::program::{BinOp, Expr};

use super::access::Order;
use super::lvalue::Lvalue;
use super::memory::Place;
use super::types::Type;
use super::value::{Data, Value, binary, unary};
use super::{Builder, Key};

impl Builder {
    /// Allocates an object. The result is a pointer to it.
    pub fn allocate(&mut self, name: &str, ty: &Type, tag: impl std::hash::Hash) -> Value {
        let key = self.key((tag, "heap"));
        let name = &match self.current {
            0 => name.to_owned(),
            _ => format!("{}.{name}", self.process().name),
        };
        let same = self.objects.iter().filter(|o| o.key != key && o.name.starts_with(&**name));
        let name = &match same.filter(|o| self.learned.heap.contains(&o.key)).count() {
            0 => name.clone(),
            n => format!("{name}{}", n + 1),
        };
        let pointer = Type::pointer(ty.clone());
        let is_once = self.process().loops == 0 && !self.process().is_repeated;
        if is_once {
            let object = self.object(key, name, ty);
            self.learned.heap.insert(key);
            return Value { data: Data::Place(self.whole(object)), ty: pointer };
        }
        let pool = self.options.pool;
        let object = self.object(key, name, &Type::Array(ty.clone().into(), pool));
        self.learned.heap.insert(key);
        let Some(register) = self.count(key, "allocated", i128::from(pool)) else {
            return Value::number(0, pointer);
        };
        let whole = self.whole(object);
        let index = binary(BinOp::Sub, Expr::Atom(register), Expr::Const(1));
        let mut place = self.place_index(&whole, Expr::Const(0));
        place.linear = index;
        // The counter moves on; the pointer does not.
        let value = Value { data: Data::Place(place), ty: pointer };
        self.copied(&value)
    }

    /// An array that no other thread can have seen yet, with elements that are known. It has them
    /// from the beginning.
    pub fn allocate_with(&mut self, name: &str, ty: &Type, key: Key, values: Vec<Value>) -> Place {
        let object = self.object(key, name, ty);
        self.learned.heap.insert(key);
        let place = self.whole(object);
        self.initialize(&place, &Value { data: Data::Fields(values), ty: ty.clone() });
        place
    }

    /// Frees an object. Freeing it twice fails. To free is no atomic access, and races with all accesses of the
    /// object that do not happen before it.
    pub fn free(&mut self, pointer: &Value) {
        if pointer.known() == Some(0) {
            return;
        }
        let Type::Pointer(to) = pointer.ty.plain().clone() else { return };
        let target = match (&pointer.data, to.plain()) {
            (Data::Place(place), _) => Lvalue::place(place.clone()),
            (_, Type::Void) => {
                self.error("the type of what is freed here is not known");
                return;
            }
            _ => self.follow(pointer, &to),
        };
        let Lvalue::Memory { targets, .. } = &target else {
            self.error("a local variable is freed");
            return;
        };
        for target in targets.clone() {
            let key = self.objects[target.place.object].key;
            if self.learned.heap.contains(&key) && self.learned.freed.insert(key) {
                self.learned.is_changed = true;
            }
        }
        self.each(&target, &mut |this, place| match this.freed_flag(place) {
            Some(flag) => {
                let is_freed = this.load(&flag, Order::Plain);
                let code = this.to_code(&is_freed.data);
                let condition = unary(weir_model::program::UnOp::Not, code);
                this.assert(&Value::code(condition, Type::Bool));
                this.store(&flag, &Value::number(1, Type::Bool), Order::Plain);
            }
            // Not allocated.
            None => this.fail_here(),
        });
    }

    /// A failure in one of several branches of the same statement.
    fn fail_here(&mut self) {
        self.emit(weir_model::program::StmtKind::Assert(Expr::Const(0)));
    }

    /// Fails if the object that a place is in has been freed.
    pub(super) fn check_freed(&mut self, place: &Place) {
        let Some(flag) = self.freed_flag(place) else { return };
        let is_freed = self.load(&flag, Order::Plain);
        let code = self.to_code(&is_freed.data);
        let condition = unary(weir_model::program::UnOp::Not, code);
        self.assert(&Value::code(condition, Type::Bool));
    }

    /// Where it is noted that an object was freed, if some object like it ever is.
    fn freed_flag(&mut self, place: &Place) -> Option<Lvalue> {
        let object = &self.objects[place.object];
        if !self.learned.freed.contains(&object.key) {
            return None;
        }
        let name = format!("{}.freed", object.name);
        let key = super::hash(&(object.key, "freed"));
        let bool = Type::Bool;
        let Type::Array(_, len) = *object.ty.plain() else {
            let flag = self.object(key, &name, &bool);
            return Some(Lvalue::place(self.whole(flag)));
        };
        let each = place.count / len as usize;
        let flags = self.object(key, &name, &Type::Array(bool.into(), len));
        let whole = self.whole(flags);
        let mut flag = self.place_index(&whole, Expr::Const(0));
        flag.linear = match each {
            0 | 1 => place.linear.clone(),
            each => binary(BinOp::Div, place.linear.clone(), Expr::Const(each as i128)),
        };
        Some(Lvalue::place(flag))
    }
}
