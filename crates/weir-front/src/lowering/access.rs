//! Accesses: loads, stores and atomic read-writes, each with its memory order.

use std::ops::Range;

use weir_model::ids::{LabelId, RegId, VarId};
use weir_model::program::{self, BinOp, Code, Expr, FenceKind, IntType, Program, Rmw, StmtKind};

use super::Builder;
use super::lvalue::Lvalue;
use super::memory::Place;
use super::types::Type;
use super::value::{Data, Value, binary};

pub use weir_model::program::Order;

/// An access that is not atomic, for the question about races.
#[derive(Debug)]
pub(super) struct Access {
    pub process: usize,
    pub label: LabelId,
    pub place: program::Place,
    pub is_write: bool,
    pub is_plain: bool,
}

/// What an atomic read-write does.
#[derive(Clone, Debug)]
pub enum Update {
    /// Writes a value.
    Swap(Value),
    /// Writes the result of an operation on the old value; wraps.
    Fetch(BinOp, Value),
    /// Writes a value if another one is found. The order is that of a read that finds something else.
    CompareExchange(Value, Value, Order),
    /// Waits for a value, and writes another one.
    WaitFor(Value, Value),
    /// Waits until it is not negative, and adds one: one more reader.
    WaitToCount,
}

/// Functions, threads, collections and strings have no number in memory.
const NOT_KNOWN: &str = "which function, thread, collection or string is here is only known when the program runs: another thread may set it, or an index decides; \
     set it once, before the threads that use it start, or choose by a number";

impl Builder {
    /// Reads something.
    pub fn load(&mut self, from: &Lvalue, order: Order) -> Value {
        let ty = from.ty().plain().clone();
        if self.process().state.is_none() {
            return Value::number(0, ty);
        }
        match (&ty, from) {
            (Type::Struct(id), _) => {
                let fields = self.learned.structs.get(*id).fields.len();
                let fields = (0..fields)
                    .map(|field| {
                        let field = self.field(from, field);
                        self.load(&field, order)
                    })
                    .collect();
                Value { data: Data::Fields(fields), ty }
            }
            (Type::Array(_, len), _) => {
                let elements = (0..*len)
                    .map(|i| {
                        let index = Value::number(i128::from(i), Type::INT);
                        let element = self.index(from, &index);
                        self.load(&element, order)
                    })
                    .collect();
                Value { data: Data::Fields(elements), ty }
            }
            (Type::Void, _) => Value::void(),
            (_, Lvalue::Locals(locals, _)) => self.read_slot(locals.slot).with(ty),
            (_, Lvalue::Memory { targets, .. }) => {
                let data = match &targets[..] {
                    [] => Data::Code(Expr::Const(0)),
                    [target] => self.load_place(&target.place.clone(), order, None),
                    _ => {
                        let register = self.temporary(&ty);
                        self.each(from, &mut |this, place| {
                            let data = this.load_place(place, order, Some(register));
                            let code = this.to_code(&data);
                            if code != Expr::Atom(register) {
                                this.emit(StmtKind::Assign(register, code));
                            }
                        });
                        Data::Code(Expr::Atom(register))
                    }
                };
                Value { data, ty }
            }
        }
    }

    fn load_place(&mut self, place: &Place, order: Order, into: Option<RegId>) -> Data {
        let Some((range, element)) = self.cells_of(place) else {
            return Data::Code(Expr::Const(0));
        };
        if let Some(cell) = element {
            if self.cells[cell].known_to.is_some_and(|thread| !self.is_over(thread)) {
                self.error(NOT_KNOWN);
            }
            if self.knows_memory() && !self.cells[cell].is_live {
                self.check_freed(place);
                return self.cells[cell].init.clone();
            }
            self.make_live(cell..cell + 1);
            self.check_freed(place);
            if !self.is_written(place, cell) && !order.acquires() {
                return self.init_here(cell);
            }
        } else {
            self.make_live(range.clone());
            self.check_freed(place);
        }
        let at = self.statement_place(place, &range, element).ordered(order);
        self.note_access(&at, order, false);
        let register = into.unwrap_or_else(|| self.temporary(&place.ty));
        self.emit(StmtKind::Load(register, at));
        Data::Code(Expr::Atom(register))
    }

    /// What a cell holds from the beginning, for any thread.
    fn init_here(&mut self, cell: usize) -> Data {
        match self.cells[cell].init.clone() {
            // A local variable of the first thread has to be in memory for others.
            Data::Local(locals) if self.current != 0 => {
                self.share(0, &Lvalue::Locals(locals, Type::Void));
                Data::Code(Expr::Const(0))
            }
            data => data,
        }
    }

    /// Writes something.
    pub fn store(&mut self, to: &Lvalue, value: &Value, order: Order) {
        if self.process().state.is_none() {
            return;
        }
        let ty = to.ty().plain().clone();
        match (&ty, &value.data) {
            (Type::Struct(_), Data::Fields(fields)) => {
                for (i, field) in fields.iter().enumerate() {
                    let place = self.field(to, i);
                    self.store(&place, field, order);
                }
            }
            (Type::Array(..), Data::Fields(elements)) => {
                for (i, element) in elements.iter().enumerate() {
                    let index = Value::number(i as i128, Type::INT);
                    let place = self.index(to, &index);
                    self.store(&place, element, order);
                }
            }
            (Type::Struct(_) | Type::Array(..), _) => {
                self.error("this value does not fit the place that it is stored in");
            }
            (Type::Void, _) => {}
            _ => match to {
                Lvalue::Locals(locals, _) => self.write_slot(locals.slot, &value.data),
                Lvalue::Memory { targets, .. } => {
                    let is_single = targets.len() < 2;
                    let data = match is_single {
                        true => value.data.clone(),
                        false => {
                            let code = self.to_code(&value.data);
                            Data::Code(self.in_register(code))
                        }
                    };
                    self.each(to, &mut |this, place| this.store_place(place, &data, order));
                }
            },
        }
    }

    fn store_place(&mut self, place: &Place, data: &Data, order: Order) {
        let Some((range, element)) = self.cells_of(place) else { return };
        if let (Some(cell), Data::Function(_) | Data::Thread(_) | Data::Text(_)) = (element, data)
            && (!self.cells[cell].is_live || self.cells[cell].init == *data)
        {
            // It never changes, so no read is needed.
            if self.cells[cell].init != *data {
                if !self.is_straight() {
                    self.error(NOT_KNOWN);
                }
                self.cells[cell].known_to = (!self.knows_memory()).then_some(self.current);
            } else if self.cells[cell].known_to.is_some_and(|thread| !self.is_over(thread)) {
                self.error(NOT_KNOWN);
            }
            self.cells[cell].init = data.clone();
            self.cells[cell].is_live = true;
            return;
        }
        if let Some(cell) = element
            && self.knows_memory()
            && !self.cells[cell].is_live
            && data.is_fixed()
        {
            self.check_freed(place);
            self.cells[cell].init = data.clone();
            return;
        }
        let code = self.to_code(data);
        self.make_live(element.map_or(range.clone(), |cell| cell..cell + 1));
        self.check_freed(place);
        self.write_to(place, &range, element);
        let at = self.statement_place(place, &range, element).ordered(order);
        self.note_access(&at, order, true);
        self.emit(StmtKind::Store(at, code));
    }

    /// Reads and writes something in one atomic step. The result is the old value; for a
    /// compare-exchange it says by itself whether the value was found.
    pub fn update(&mut self, at: &Lvalue, update: &Update, order: Order) -> Value {
        let ty = at.ty().plain().clone();
        if self.process().state.is_none() {
            return Value::number(0, ty);
        }
        match at {
            Lvalue::Locals(locals, _) => {
                let slot = locals.slot;
                let old = self.read_slot(slot);
                let old = self.copied(&old);
                let old_code = self.to_code(&old.data);
                let new = match update {
                    Update::Swap(value) | Update::WaitFor(_, value) => value.data.clone(),
                    Update::WaitToCount => Data::Code(binary(BinOp::Add, old_code, Expr::Const(1))),
                    Update::Fetch(op, value) => {
                        let code = self.to_code(&value.data);
                        Data::Code(fetched(*op, old_code, code, &ty))
                    }
                    Update::CompareExchange(expected, new, _) => {
                        let expected = self.to_code(&expected.data);
                        let new = self.to_code(&new.data);
                        let is_same = binary(BinOp::Eq, old_code.clone(), expected);
                        let difference = binary(BinOp::Sub, new, old_code.clone());
                        let change = binary(BinOp::Mul, is_same, difference);
                        Data::Code(binary(BinOp::Add, old_code, change))
                    }
                };
                self.write_slot(slot, &new);
                old.with(ty)
            }
            Lvalue::Memory { .. } => {
                let register = self.temporary(&ty);
                let mut known = None;
                self.each(at, &mut |this, place| {
                    known = this.update_place(place, update, order, register);
                });
                let data = known.unwrap_or(Data::Code(Expr::Atom(register)));
                Value { data, ty }
            }
        }
    }

    /// The old value, if it is known.
    fn update_place(
        &mut self,
        place: &Place,
        update: &Update,
        order: Order,
        register: RegId,
    ) -> Option<Data> {
        let (range, element) = self.cells_of(place)?;
        let mut code = |value: &Value| self.to_code(&value.data);
        let ty = place.ty.plain().clone();
        let old = Expr::Atom(register);
        let rmw = match update {
            Update::Swap(value) => Rmw::Swap(code(value)),
            Update::Fetch(op, value) => {
                let value = code(value);
                match &ty {
                    // What does not fit is made to fit by the cell itself.
                    Type::Int(int) if !int.is_signed() && is_fetch(*op) => Rmw::Fetch(*op, value),
                    Type::Bool if is_bits(*op) => Rmw::Fetch(*op, value),
                    _ if is_bits(*op) => Rmw::Fetch(*op, value),
                    _ => {
                        let new = fetched(*op, old, value, &ty);
                        Rmw::Update { when: Expr::Const(1), new }
                    }
                }
            }
            Update::CompareExchange(expected, new, failure) => {
                Rmw::Cas { expected: code(expected), new: code(new), failure: Some(*failure) }
            }
            Update::WaitToCount => Rmw::Update {
                when: binary(BinOp::Ge, old.clone(), Expr::Const(0)),
                new: binary(BinOp::Add, old, Expr::Const(1)),
            },
            Update::WaitFor(value, new) => {
                Rmw::Update { when: binary(BinOp::Eq, old, code(value)), new: code(new) }
            }
        };
        if let Some(cell) = element
            && self.knows_memory()
            && !self.cells[cell].is_live
        {
            self.check_freed(place);
            let init = self.cells[cell].init.clone();
            let before = self.number(&init);
            if let Some(after) = applied(&rmw, before, register) {
                let after = Program::fit(ty.domain(), after);
                if after != before {
                    self.cells[cell].init = Data::Code(Expr::Const(after));
                }
                return Some(init);
            }
        }
        self.make_live(element.map_or(range.clone(), |cell| cell..cell + 1));
        self.check_freed(place);
        self.write_to(place, &range, element);
        let at = self.statement_place(place, &range, element).ordered(order);
        self.note_access(&at, order, true);
        self.emit(StmtKind::Rmw(register, at, rmw));
        None
    }

    /// A fence of an order.
    pub fn fence(&mut self, order: Order) {
        // Nothing has been written or read that it could order.
        if self.is_computed() {
            return;
        }
        match order {
            Order::Plain | Order::Relaxed => {}
            Order::Acquire => self.emit(StmtKind::Fence(FenceKind::Read)),
            Order::Release => self.emit(StmtKind::Fence(FenceKind::Write)),
            Order::AcquireRelease => {
                self.emit(StmtKind::Fence(FenceKind::Read));
                self.emit(StmtKind::Fence(FenceKind::Write));
            }
            Order::SeqCst | Order::Fenced => self.emit(StmtKind::Fence(FenceKind::Full)),
        }
    }

    /// One of these values, whichever.
    pub fn any(&mut self, values: Vec<i128>, ty: &Type) -> Value {
        let register = self.temporary(ty);
        self.emit(StmtKind::Any(register, values));
        Value::code(Expr::Atom(register), ty.clone())
    }

    /// Where the scalars of a place are: all that it may be, and which one if that is known.
    fn cells_of(&mut self, place: &Place) -> Option<(Range<usize>, Option<usize>)> {
        let Some(leaf) = self.leaf(place) else {
            self.error("this cannot be read or written as one value");
            return None;
        };
        let range = leaf.first..leaf.first + leaf.count;
        if range.is_empty() {
            // No index is inside of an array without elements.
            self.fail();
            return None;
        }
        let Expr::Const(linear) = place.linear else { return Some((range, None)) };
        match usize::try_from(linear).ok().filter(|i| *i < range.len()) {
            Some(i) => Some((range.clone(), Some(range.start + i))),
            None => {
                self.fail();
                None
            }
        }
    }

    fn statement_place(
        &mut self,
        place: &Place,
        range: &Range<usize>,
        element: Option<usize>,
    ) -> program::Place {
        let used = element.map_or(range.clone(), |cell| cell..cell + 1);
        for cell in used {
            self.cells[cell].is_used = true;
            // What it holds at first is a number from now on.
            match self.cells[cell].init.clone() {
                Data::Place(place) => {
                    self.address(&place);
                }
                Data::Local(locals) => self.share(0, &Lvalue::Locals(locals, Type::Void)),
                Data::Function(_) | Data::Thread(_) | Data::Text(_) => self.error(NOT_KNOWN),
                _ => {}
            }
        }
        match element {
            Some(cell) => program::Place::var(VarId::new(cell)),
            None => {
                let first = VarId::new(range.start);
                program::Place::element(first, range.len() as u32, place.linear.clone())
            }
        }
    }

    /// Whether a cell is written while threads run.
    fn is_written(&self, place: &Place, cell: usize) -> bool {
        let object = &self.objects[place.object];
        let leaf = object.leaves.iter().position(|leaf| leaf.path == place.path);
        leaf.is_some_and(|leaf| {
            let element = cell - object.leaves[leaf].first;
            self.learned.written.contains(&(object.key, leaf, element))
        })
    }

    fn write_to(&mut self, place: &Place, range: &Range<usize>, element: Option<usize>) {
        let object = &self.objects[place.object];
        let Some(leaf) = object.leaves.iter().position(|leaf| leaf.path == place.path) else {
            return;
        };
        let cells = element.map_or(range.clone(), |cell| cell..cell + 1);
        for cell in cells {
            if self.learned.written.insert((object.key, leaf, cell - range.start)) {
                self.learned.is_changed = true;
            }
        }
    }

    /// Remembers an access for the question about races.
    fn note_access(&mut self, place: &program::Place, order: Order, is_write: bool) {
        if !self.options.races {
            return;
        }
        let label = self.mark("access");
        let is_plain = order == Order::Plain;
        let process = self.current;
        self.accesses.push(Access { process, label, place: place.clone(), is_write, is_plain });
    }
}

fn is_bits(op: BinOp) -> bool {
    matches!(op, BinOp::BitAnd | BinOp::BitOr | BinOp::BitXor)
}

fn is_fetch(op: BinOp) -> bool {
    is_bits(op) || matches!(op, BinOp::Add | BinOp::Sub)
}

/// What a fetch operation writes.
fn fetched(op: BinOp, old: Code, value: Code, ty: &Type) -> Code {
    let new = binary(op, old, value);
    match (op, ty) {
        (BinOp::Add | BinOp::Sub, Type::Int(int)) => wrap(*int, new),
        _ => new,
    }
}

/// The number of an integer type with the same lowest bits.
pub fn wrap(int: IntType, code: Code) -> Code {
    super::value::unary(program::UnOp::Wrap(int), code)
}

/// What an atomic read-write of a known value writes, if that is known.
fn applied(rmw: &Rmw, old: i128, register: RegId) -> Option<i128> {
    let known = |code: &Code| match code {
        Expr::Const(value) => Some(*value),
        _ => None,
    };
    match rmw {
        Rmw::Swap(value) => known(value),
        Rmw::Fetch(op, value) => op.apply(old, known(value)?).ok(),
        Rmw::Cas { expected, new, .. } | Rmw::CasFlag { expected, new, .. } => {
            if known(expected)? == old { known(new) } else { Some(old) }
        }
        Rmw::Update { when, new } => {
            let mut is_known = true;
            let mut atom = |r: &RegId| {
                is_known &= *r == register;
                old
            };
            let (when, new) = (when.eval(&mut atom).ok()?, new.eval(&mut atom).ok()?);
            (is_known && when != 0).then_some(new)
        }
    }
}
