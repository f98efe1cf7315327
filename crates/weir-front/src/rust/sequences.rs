//! Vectors and iterators, which are known element by element while the program is read.
//!
//! So they are not in memory, and threads do not see them change. A vector that one thread changes and another one uses is
//! refused, unless one of both comes first in every run ([`Reader::touch`]).

use std::collections::VecDeque;

use syn::spanned::Spanned;

use super::reader::{Callable, Loc, Reader, Val};
use super::types::{Pointer, Ty};
use crate::lowering::types::Type;
use crate::lowering::value::{Data, Value};
use crate::lowering::{Key, Lvalue, Order};

/// A vector: its elements, or the array that they are in.
#[derive(Clone, Debug)]
pub struct List {
    pub items: Vec<Val>,
    pub element: Ty,
    pub name: String,
    pub array: Option<Loc>,
    /// Where it was made: in which thread, how many blocks deep, and whether only once.
    made: (usize, usize, bool),
    key: Key,
    /// The threads that have used it so far, and whether they changed it.
    uses: Vec<(usize, bool)>,
}

/// An iterator.
#[derive(Clone, Debug)]
pub enum Iter {
    Range(i128, i128, Ty),
    Items(VecDeque<Val>),
    Map(Box<Iter>, Val),
    Filter(Box<Iter>, Val),
    Enumerate(Box<Iter>, i128),
    Zip(Box<Iter>, Box<Iter>),
    Chain(Box<Iter>, Box<Iter>),
    Take(Box<Iter>, i128),
    StepBy(Box<Iter>, i128, bool),
    /// Loads what a reference leads to.
    Copied(Box<Iter>),
}

const SHARED: &str =
    "one thread changes this collection and another one uses it; only the run knows who is first";
const LENGTH: &str = "how many elements this collection has is only known when the program runs";

impl List {
    fn new(element: Ty, name: String) -> Self {
        let (made, key, uses) = ((0, 0, true), 0, Vec::new());
        Self { items: Vec::new(), element, name, array: None, made, key, uses }
    }
}

/// How many elements are looked at.
const MAX_ITEMS: usize = 10_000;

impl Reader<'_> {
    /// A vector of values.
    pub fn list_of(&mut self, items: Vec<Val>, node: &impl Spanned) -> Val {
        let mut element = self.unknown((self.tag(node), "item"));
        for item in &items {
            element = self.unify(&element, &item.ty);
        }
        let name = self.hint.clone().unwrap_or_else(|| "vec".to_owned());
        self.new_list(List { items, ..List::new(element, name) })
    }

    fn new_list(&mut self, mut list: List) -> Val {
        let number = self.callables.len();
        let ty = Ty::Vec(list.element.clone().into());
        list.made = (self.b.thread(), self.b.depth(), self.b.is_once());
        list.key = self.b.key(("vec", number));
        self.callables.push(Callable::List(list));
        Val { data: Data::Function(number), ty }
    }

    /// A thread uses a vector. What another thread does to it is only known if it comes before that in every run.
    fn touch(&mut self, number: usize, changes: bool) -> Result<(), &'static str> {
        let here = self.b.thread();
        let Callable::List(list) = &mut self.callables[number] else { return Ok(()) };
        let (uses, items, maker) = (list.uses.clone(), list.items.clone(), list.made.0);
        if !list.uses.contains(&(here, changes)) {
            list.uses.push((here, changes));
        }
        if uses.iter().any(|&(by, changed)| (changes || changed) && !self.b.is_over(by)) {
            return Err(SHARED);
        }
        if uses.iter().map(|(by, _)| *by).chain([maker]).all(|by| by == here) {
            return Ok(());
        }
        for item in &items {
            let raw = self.raw(item);
            if !self.b.share_value(maker, &raw) {
                return Err(
                    "what another thread has put into this collection is only known when the program runs",
                );
            }
        }
        Ok(())
    }

    /// The same, with an error where it is not known.
    fn touch_at(&mut self, number: usize, changes: bool, node: &impl Spanned) -> Option<()> {
        if !self.is_reachable() {
            return None;
        }
        let touched = self.touch(number, changes);
        let report = |message| {
            self.error_at(node, message, Some("use an array, and a counter for its length"))
        };
        touched.map_err(report).ok()
    }

    fn list_number(&mut self, value: &Val, node: &impl Spanned) -> Option<usize> {
        if let Data::Function(number) = value.data
            && matches!(self.callables[number], Callable::List(_))
        {
            self.touch_at(number, false, node)?;
            return Some(number);
        }
        if self.is_reachable() {
            self.error_at(
                node,
                "what this `Vec` holds is only known when the program runs",
                Some("use an array"),
            );
        }
        None
    }

    fn list(&self, number: usize) -> List {
        match &self.callables[number] {
            Callable::List(list) => list.clone(),
            _ => List::new(Ty::Never, String::new()),
        }
    }

    fn set_list(&mut self, number: usize, mut list: List) {
        if let Callable::List(before) = &self.callables[number] {
            list.uses = before.uses.clone();
        }
        self.callables[number] = Callable::List(list);
    }

    /// Puts the elements of a vector into memory, where they have addresses.
    fn in_memory(&mut self, number: usize) -> Loc {
        let mut list = self.list(number);
        if let Some(loc) = &list.array {
            return loc.clone();
        }
        let element = self.lower(&list.element);
        let len = list.items.len();
        let array = Type::Array(element.into(), len as u32);
        let ty = Ty::Array(list.element.clone().into(), Ty::Const(len as i128).into());
        let raw: Vec<Value> = list.items.iter().map(|item| self.raw(item)).collect();
        let (maker, depth, is_once) = list.made;
        let is_fixed = raw.iter().all(|value| value.data.is_fixed());
        let loc = if is_once && is_fixed {
            // Nobody has seen it before, so it may be there from the beginning.
            let place = self.b.allocate_with(&list.name, &array, list.key, raw);
            Loc { lvalue: Lvalue::place(place), ty }
        } else if maker == self.b.thread() && depth == self.b.depth() {
            let pointer = self.b.allocate(&list.name, &array, ("vec", number));
            let loc = Loc { lvalue: self.b.follow(&pointer, &array), ty };
            for (i, item) in list.items.iter().enumerate() {
                let index = Value::number(i as i128, Type::INT);
                let lvalue = self.b.index(&loc.lvalue, &index);
                self.store(&Loc { lvalue, ty: list.element.clone() }, item, Order::Plain);
            }
            loc
        } else {
            self.fault("when this collection gets its elements is only known when the program runs; use an array");
            return Loc { lvalue: Lvalue::nothing(), ty };
        };
        list.array = Some(loc.clone());
        self.set_list(number, list);
        loc
    }

    /// The array of a vector that a pointer leads to.
    pub fn array_of(&mut self, number: usize) -> Option<Loc> {
        matches!(self.callables[number], Callable::List(_)).then(|| self.in_memory(number))
    }

    /// An element of a vector as a place.
    pub fn list_element(&mut self, loc: &Loc, index: &Val, node: &impl Spanned) -> Option<Loc> {
        let value = self.load(loc, Order::Plain);
        let number = self.list_number(&value, node)?;
        let list = self.list(number);
        if list.array.is_none()
            && let Some(i) = index.known()
            && is_known_kind(&self.resolve(&list.element))
        {
            let item = usize::try_from(i).ok().and_then(|i| list.items.get(i).cloned());
            let Some(item) = item else {
                self.b.fail();
                return None;
            };
            let tag = self.tag(node);
            return Some(self.temporary(&item, tag));
        }
        let array = self.in_memory(number);
        let raw = self.raw(index);
        let lvalue = self.b.index(&array.lvalue, &raw);
        Some(Loc { lvalue, ty: list.element })
    }

    fn element_refs(&mut self, loc: &Loc, len: i128, element: &Ty) -> VecDeque<Val> {
        (0..len)
            .map(|i| {
                let index = Value::number(i, Type::INT);
                let lvalue = self.b.index(&loc.lvalue, &index);
                self.address(&Loc { lvalue, ty: element.clone() }, Pointer::Ref)
            })
            .collect()
    }

    /// References to the elements of something.
    fn refs(&mut self, loc: &Loc, node: &impl Spanned) -> Option<Iter> {
        let ty = self.resolve(&loc.ty);
        match &ty {
            Ty::Array(element, len) => {
                let Ty::Const(n) = self.resolve(len) else { return None };
                Some(Iter::Items(self.element_refs(loc, n, element)))
            }
            Ty::Vec(element) => {
                let value = self.load(loc, Order::Plain);
                let number = self.list_number(&value, node)?;
                let list = self.list(number);
                if list.array.is_none() && is_known_kind(&self.resolve(element)) {
                    let mut items = VecDeque::new();
                    for (i, item) in list.items.iter().enumerate() {
                        let tag = (self.tag(node).0, i);
                        let loc = self.local("item", &item.ty, tag);
                        self.store(&loc, item, Order::Plain);
                        items.push_back(self.address(&loc, Pointer::Ref));
                    }
                    return Some(Iter::Items(items));
                }
                let array = self.in_memory(number);
                let refs = self.element_refs(&array, list.items.len() as i128, element);
                Some(Iter::Items(refs))
            }
            _ => None,
        }
    }

    /// What a `for` loop goes through.
    pub fn iterate(&mut self, value: Val, node: &impl Spanned) -> Option<Iter> {
        if !self.is_reachable() {
            return None;
        }
        let ty = self.resolve(&value.ty);
        let found = match &ty {
            Ty::Iter(_) => match value.data {
                Data::Function(number) => match &self.callables[number] {
                    Callable::Iter(iter) => Some(iter.clone()),
                    _ => None,
                },
                _ => None,
            },
            Ty::Vec(_) => {
                let number = self.list_number(&value, node)?;
                Some(Iter::Items(self.list_values(number)))
            }
            Ty::Array(element, _) => match &value.data {
                Data::Fields(fields) => {
                    let item = |v: &Value| Val { data: v.data.clone(), ty: (**element).clone() };
                    Some(Iter::Items(fields.iter().map(item).collect()))
                }
                _ => None,
            },
            Ty::Pointer(..) => {
                let loc = self.follow(&value);
                self.refs(&loc, node)
            }
            _ => None,
        };
        if found.is_none() && self.is_reachable() {
            self.unsupported(node, "a loop over this", "loop over a range, an array or a `Vec`");
        }
        found
    }

    fn list_values(&mut self, number: usize) -> VecDeque<Val> {
        let list = self.list(number);
        match &list.array {
            None => list.items.into(),
            Some(array) => {
                let array = array.clone();
                (0..list.items.len())
                    .map(|i| {
                        let index = Value::number(i as i128, Type::INT);
                        let lvalue = self.b.index(&array.lvalue, &index);
                        self.load(&Loc { lvalue, ty: list.element.clone() }, Order::Plain)
                    })
                    .collect()
            }
        }
    }

    pub fn iterator(&mut self, iter: Iter, item: Ty) -> Val {
        self.callables.push(Callable::Iter(iter));
        Val { data: Data::Function(self.callables.len() - 1), ty: Ty::Iter(item.into()) }
    }

    /// The next element, if there is one.
    pub fn next(&mut self, iter: &mut Iter, node: &impl Spanned) -> Option<Val> {
        if !self.is_reachable() {
            return None;
        }
        match iter {
            Iter::Range(next, end, ty) => (*next < *end).then(|| {
                *next += 1;
                Val::number(*next - 1, ty.clone())
            }),
            Iter::Items(items) => items.pop_front(),
            Iter::Map(inner, function) => {
                let item = self.next(inner, node)?;
                let tag = self.tag(node);
                Some(self.call_value(function, vec![item], tag, None))
            }
            Iter::Filter(inner, function) => {
                for _ in 0..MAX_ITEMS {
                    let item = self.next(inner, node)?;
                    let tag = self.tag(node);
                    let loc = self.temporary(&item, tag);
                    let pointer = self.address(&loc, Pointer::Ref);
                    let keeps = self.call_value(function, vec![pointer], tag, Some(&Ty::Bool));
                    match keeps.known() {
                        Some(0) => {}
                        Some(_) => return Some(item),
                        None => {
                            self.error_at(
                                node,
                                "which elements this leaves is only known when the program runs",
                                Some("write a loop with `if`"),
                            );
                            return None;
                        }
                    }
                }
                None
            }
            Iter::Enumerate(inner, count) => {
                let item = self.next(inner, node)?;
                *count += 1;
                let number = Val::number(*count - 1, Ty::USIZE);
                Some(self.tuple(vec![number, item]))
            }
            Iter::Zip(a, b) => {
                let (a, b) = (self.next(a, node)?, self.next(b, node)?);
                Some(self.tuple(vec![a, b]))
            }
            Iter::Chain(a, b) => match self.next(a, node) {
                Some(item) => Some(item),
                None => self.next(b, node),
            },
            Iter::Take(inner, left) => {
                if *left <= 0 {
                    return None;
                }
                *left -= 1;
                self.next(inner, node)
            }
            Iter::StepBy(inner, step, begun) => {
                if *begun {
                    for _ in 1..*step {
                        self.next(inner, node)?;
                    }
                }
                *begun = true;
                self.next(inner, node)
            }
            Iter::Copied(inner) => {
                let item = self.next(inner, node)?;
                let loc = self.follow(&item);
                Some(self.load(&loc, Order::Plain))
            }
        }
    }

    fn drain(&mut self, iter: &mut Iter, node: &impl Spanned) -> Vec<Val> {
        let mut items = Vec::new();
        let tag = self.tag(node);
        while items.len() < MAX_ITEMS {
            // What is called for each element is called at different places.
            self.b.enter((tag, items.len(), "item"));
            let item = self.next(iter, node);
            self.b.leave();
            match item {
                Some(item) => items.push(item),
                None => break,
            }
        }
        items
    }

    /// A method of an iterator.
    pub fn iterator_method(
        &mut self,
        this: &Val,
        name: &str,
        call: &syn::ExprMethodCall,
    ) -> Option<Val> {
        let iter = match this.data {
            Data::Function(number) => match &self.callables[number] {
                Callable::Iter(iter) => iter.clone(),
                _ => return None,
            },
            _ => return None,
        };
        let boxed = Box::new(iter.clone());
        let item = self.unknown((self.tag(call), "item"));
        let arg = |this: &mut Self, i: usize| match call.args.get(i) {
            Some(expr) => this.expr(expr, None),
            None => Val::unit(),
        };
        let known = |this: &mut Self| {
            let count = arg(this, 0).known();
            if count.is_none() && this.is_reachable() {
                let message =
                    format!("the argument of `{name}` is only known when the program runs");
                this.error_at(call, &message, Some("write a loop"));
            }
            count
        };
        let made = match name {
            "map" => Iter::Map(boxed, arg(self, 0)),
            "filter" => Iter::Filter(boxed, arg(self, 0)),
            "enumerate" => Iter::Enumerate(boxed, 0),
            "take" => Iter::Take(boxed, known(self)?),
            "step_by" => Iter::StepBy(boxed, known(self)?, false),
            "copied" | "cloned" => Iter::Copied(boxed),
            "iter" | "into_iter" | "by_ref" => iter,
            "rev" | "skip" => {
                let count = if name == "skip" { known(self)? } else { 0 };
                let mut iter = iter;
                let mut items = self.drain(&mut iter, call);
                if name == "rev" {
                    items.reverse();
                } else {
                    items = items.into_iter().skip(usize::try_from(count).unwrap_or(0)).collect();
                }
                Iter::Items(items.into())
            }
            "zip" | "chain" => {
                let other = arg(self, 0);
                let other = Box::new(self.iterate(other, call)?);
                if name == "zip" { Iter::Zip(boxed, other) } else { Iter::Chain(boxed, other) }
            }
            _ => return self.consume(iter, name, call),
        };
        Some(self.iterator(made, item))
    }

    fn consume(&mut self, mut iter: Iter, name: &str, call: &syn::ExprMethodCall) -> Option<Val> {
        let tag = self.tag(call);
        match name {
            "collect" => {
                let items = self.drain(&mut iter, call);
                Some(self.list_of(items, call))
            }
            "count" => {
                let items = self.drain(&mut iter, call);
                Some(Val::number(items.len() as i128, Ty::USIZE))
            }
            "for_each" => {
                let function = self.expr(&call.args[0], None);
                for number in 0..MAX_ITEMS {
                    self.b.enter((tag, number, "each"));
                    let item = self.next(&mut iter, call);
                    if let Some(item) = &item {
                        self.call_value(&function, vec![item.clone()], tag, None);
                    }
                    self.b.leave();
                    if item.is_none() {
                        break;
                    }
                }
                Some(Val::unit())
            }
            "sum" | "product" => {
                let op = match name {
                    "sum" => weir_model::program::BinOp::Add,
                    _ => weir_model::program::BinOp::Mul,
                };
                let start = i128::from(name == "product");
                let mut sum: Option<Val> = None;
                for item in self.drain(&mut iter, call) {
                    let item = match self.resolve(&item.ty) {
                        Ty::Pointer(..) => {
                            let loc = self.follow(&item);
                            self.load(&loc, Order::Plain)
                        }
                        _ => item,
                    };
                    let before = sum.unwrap_or_else(|| Val::number(start, item.ty.clone()));
                    sum = Some(self.arithmetic(op, &before, &item, call));
                }
                let ty = self.unknown((tag, "sum"));
                Some(sum.unwrap_or_else(|| Val::number(start, ty)))
            }
            "fold" => {
                let mut value = self.expr(&call.args[0], None);
                let function = self.expr(&call.args[1], None);
                for (number, item) in self.drain(&mut iter, call).into_iter().enumerate() {
                    self.b.enter((tag, number, "fold"));
                    value = self.call_value(&function, vec![value, item], tag, None);
                    self.b.leave();
                }
                Some(value)
            }
            "all" | "any" => {
                let function = self.expr(&call.args[0], None);
                let mut result = Val::truth(name == "all");
                let op = match name {
                    "all" => weir_model::program::BinOp::And,
                    _ => weir_model::program::BinOp::Or,
                };
                for (number, item) in self.drain(&mut iter, call).into_iter().enumerate() {
                    self.b.enter((tag, number, "all"));
                    let holds = self.call_value(&function, vec![item], tag, Some(&Ty::Bool));
                    let (a, b) = (self.b.to_code(&result.data), self.b.to_code(&holds.data));
                    let code = crate::lowering::value::binary(op, a, b);
                    result = Val { data: Data::Code(code), ty: Ty::Bool };
                    self.b.leave();
                }
                Some(result)
            }
            _ => None,
        }
    }

    /// A method of a vector, an array or a slice.
    pub fn list_method(
        &mut self,
        loc: &Loc,
        name: &str,
        call: &syn::ExprMethodCall,
    ) -> Option<Val> {
        let ty = self.resolve(&loc.ty);
        let (element, len) = match &ty {
            Ty::Array(element, len) => {
                let Ty::Const(n) = self.resolve(len) else { return None };
                ((**element).clone(), Some(n))
            }
            Ty::Vec(element) => ((**element).clone(), None),
            _ => return None,
        };
        let number = match len {
            Some(_) => None,
            None => {
                let value = self.load(loc, Order::Plain);
                Some(self.list_number(&value, call)?)
            }
        };
        let count = match (len, number) {
            (Some(n), _) => n,
            (None, Some(number)) => self.list(number).items.len() as i128,
            _ => 0,
        };
        match (name, number) {
            ("len", _) => Some(Val::number(count, Ty::USIZE)),
            ("is_empty", _) => Some(Val::truth(count == 0)),
            ("iter" | "iter_mut", _) => {
                let iter = self.refs(loc, call)?;
                Some(self.iterator(iter, element.reference()))
            }
            ("into_iter" | "drain", Some(number)) => {
                let items = self.list_values(number);
                if name == "drain" {
                    if !self.b.is_straight() {
                        return Some(self.error_at(
                            call,
                            LENGTH,
                            Some("use an array and a counter"),
                        ));
                    }
                    self.touch_at(number, true, call)?;
                    let mut list = self.list(number);
                    list.items.clear();
                    self.set_list(number, list);
                }
                Some(self.iterator(Iter::Items(items), element))
            }
            ("into_iter", None) => {
                let value = self.load(loc, Order::Plain);
                let iter = self.iterate(value, call)?;
                Some(self.iterator(iter, element))
            }
            ("map", None) => {
                let value = self.load(loc, Order::Plain);
                let function = self.expr(call.args.first()?, None);
                let mut iter = Iter::Map(Box::new(self.iterate(value, call)?), function);
                let values = self.drain(&mut iter, call);
                Some(self.array(values, call))
            }
            ("as_slice" | "as_mut_slice" | "as_ref" | "as_mut", _) => {
                Some(self.address(loc, Pointer::Ref))
            }
            ("into_boxed_slice" | "into_vec" | "to_vec" | "clone", Some(number)) => {
                let items: Vec<Val> = self.list_values(number).into();
                Some(self.list_of(items, call))
            }
            ("as_ptr" | "as_mut_ptr", _) => {
                let array = match number {
                    Some(number) => self.in_memory(number),
                    None => loc.clone(),
                };
                let index = Value::number(0, Type::INT);
                let lvalue = self.b.index(&array.lvalue, &index);
                Some(self.address(&Loc { lvalue, ty: element }, Pointer::Raw))
            }
            ("get" | "get_mut", _) => {
                let index = self.expr(call.args.first()?, Some(&Ty::USIZE));
                let i = index.known()?;
                let ty = element.clone().reference();
                if i >= count {
                    return Some(self.option(None, ty));
                }
                let place = match number {
                    Some(_) => self.list_element(loc, &index, call)?,
                    None => {
                        let raw = self.raw(&index);
                        let lvalue = self.b.index(&loc.lvalue, &raw);
                        Loc { lvalue, ty: element }
                    }
                };
                let pointer = self.address(&place, Pointer::Ref);
                Some(self.option(Some(pointer), ty))
            }
            (
                "push" | "pop" | "clear" | "push_back" | "pop_front" | "extend" | "reserve",
                Some(number),
            ) => {
                let values: Vec<Val> =
                    call.args.iter().map(|arg| self.expr(arg, Some(&element))).collect();
                if !self.is_reachable() {
                    return Some(Val::never());
                }
                let mut list = self.list(number);
                if list.array.is_some() || !self.b.is_straight() {
                    return Some(self.error_at(call, LENGTH, Some("use an array and a counter")));
                }
                self.touch_at(number, name != "reserve", call)?;
                let result = match name {
                    "push" | "push_back" => {
                        let value = values.into_iter().next()?;
                        self.unify(&element, &value.ty);
                        let value = self.kept(value);
                        list.items.push(value);
                        Val::unit()
                    }
                    "pop" | "pop_front" => {
                        let item = match name {
                            "pop" => list.items.pop(),
                            _ if list.items.is_empty() => None,
                            _ => Some(list.items.remove(0)),
                        };
                        self.option(item, element)
                    }
                    "extend" => {
                        let value = values.into_iter().next()?;
                        let mut iter = self.iterate(value, call)?;
                        list.items.extend(self.drain(&mut iter, call));
                        Val::unit()
                    }
                    "clear" => {
                        list.items.clear();
                        Val::unit()
                    }
                    _ => Val::unit(),
                };
                self.set_list(number, list);
                Some(result)
            }
            ("contains", _) => {
                let wanted = self.expr(call.args.first()?, None);
                let wanted = self.follow(&wanted);
                let wanted = self.load(&wanted, Order::Plain);
                let value = self.load(loc, Order::Plain);
                let mut iter = self.iterate(value, call)?;
                let mut any = Val::truth(false);
                for item in self.drain(&mut iter, call) {
                    let same = self.equals(&item, &wanted);
                    let (a, b) = (self.b.to_code(&any.data), self.b.to_code(&same.data));
                    let or = weir_model::program::BinOp::Or;
                    let code = crate::lowering::value::binary(or, a, b);
                    any = Val { data: Data::Code(code), ty: Ty::Bool };
                }
                Some(any)
            }
            ("sort" | "sort_unstable" | "swap" | "reverse" | "retain" | "truncate", _) => {
                let what = format!("`{name}` of a `Vec`");
                Some(self.unsupported(call, &what, "write out what it does"))
            }
            _ => None,
        }
    }

    /// Whether two vectors hold the same values.
    pub fn equal_lists(&mut self, a: &Val, b: &Val) -> Val {
        let numbers = match (&a.data, &b.data) {
            (Data::Function(a), Data::Function(b)) => Some((*a, *b)),
            _ => None,
        };
        let Some((a, b)) = numbers else {
            return self
                .fault("what this `Vec` holds is only known when the program runs; use an array");
        };
        for number in [a, b] {
            if let Err(message) = self.touch(number, false) {
                return self.fault(message);
            }
        }
        let (a, b) = (self.list_values(a), self.list_values(b));
        if a.len() != b.len() {
            return Val::truth(false);
        }
        let mut all = Val::truth(true);
        for (a, b) in a.iter().zip(&b) {
            let same = self.equals(a, b);
            let (x, y) = (self.b.to_code(&all.data), self.b.to_code(&same.data));
            let code = crate::lowering::value::binary(weir_model::program::BinOp::And, x, y);
            all = Val { data: Data::Code(code), ty: Ty::Bool };
        }
        all
    }

    /// An empty vector.
    pub fn empty_list(&mut self, element: Ty) -> Val {
        let name = self.hint.clone().unwrap_or_else(|| "vec".to_owned());
        self.new_list(List::new(element, name))
    }
}

/// Whether values of a type are known themselves, so that they need no address.
fn is_known_kind(ty: &Ty) -> bool {
    matches!(
        ty,
        Ty::Handle(_)
            | Ty::Thread
            | Ty::Function
            | Ty::Opaque
            | Ty::Vec(_)
            | Ty::Pointer(Pointer::Shared | Pointer::Ref, _)
    ) || matches!(ty, Ty::Tuple(list) if list.iter().all(is_known_kind))
}
