//! Memory: objects, the cells that they are made of, and the addresses of their parts.
//!
//! An object is a tree of scalars. All scalars of an object that have the same fields are one
//! declaration of the program: of an array of nodes, `nodes.next` is one array and `nodes.locked`
//! another. A place is part of an object: the fields that lead to it, and one number for all
//! indices on the way.
//!
//! A pointer whose target is known is that [`Place`]. If it has to be a number, because it is
//! stored or because a branch decides which one it is, the place gets an address. Addresses of
//! places of one kind in one object are consecutive, and one more follows for the pointer behind
//! the last one. A pointer that is a number may lead to all places of its type that have addresses.

use weir_model::ids::{SpanId, VarId};
use weir_model::program::{BinOp, Code, Decl, Domain, Expr};

use super::lvalue::Target;
use super::types::Type;
use super::value::{Data, Value, binary};
use super::{Builder, Key, Learned};
use crate::MAX_ARRAY;

/// How many cells a program may have.
const MAX_CELLS: usize = 8192;

/// An object in memory.
#[derive(Debug)]
pub struct Object {
    pub key: Key,
    pub name: String,
    pub ty: Type,
    pub leaves: Vec<Leaf>,
    pub span: SpanId,
}

/// The scalars of an object that have the same fields.
#[derive(Debug)]
pub struct Leaf {
    pub path: Vec<usize>,
    /// The number of the first cell.
    pub first: usize,
    pub count: usize,
    pub ty: Type,
}

/// Part of an object.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// Which object.
    pub object: usize,
    /// The fields that lead to it.
    pub path: Vec<usize>,
    /// Which one of those with these fields.
    pub linear: Code,
    /// How many there are with these fields.
    pub count: usize,
    /// Its type.
    pub ty: Type,
}

/// A scalar in memory.
#[derive(Debug)]
pub struct Cell {
    /// What it holds when the threads begin.
    pub init: Data,
    /// Whether others than the first thread may see it, so that a store is a step.
    pub is_live: bool,
    /// Whether a step accesses it.
    pub is_used: bool,
    /// The thread that gave it a function or the handle of a thread while threads ran: only that one knows it.
    pub known_to: Option<usize>,
}

/// What is remembered of an object from one pass to the next.
#[derive(Clone, Debug)]
pub struct Known {
    pub key: Key,
    pub name: String,
    pub ty: Type,
    pub span: SpanId,
}

/// Places of one kind in one object that have addresses.
#[derive(Clone, Debug)]
pub struct Group {
    pub object: Known,
    pub path: Vec<usize>,
    pub count: usize,
    pub ty: Type,
    /// The address of the first one.
    pub first: i128,
}

impl Group {
    fn is_of(&self, key: Key, path: &[usize]) -> bool {
        self.object.key == key && self.path == path
    }
}

impl Builder {
    /// The object of a key, which is made if it is not there yet. All its cells are zero.
    pub fn object(&mut self, key: Key, name: &str, ty: &Type) -> usize {
        let known = Known { key, name: name.to_owned(), ty: ty.clone(), span: self.span };
        self.object_of(&known)
    }

    fn object_of(&mut self, known: &Known) -> usize {
        if let Some(id) = self.objects.iter().position(|object| object.key == known.key) {
            return id;
        }
        let mut found = Vec::new();
        self.learned.structs.leaves(&known.ty, &mut |path, count, ty| {
            found.push((path.to_vec(), count, ty.clone()));
        });
        let mut leaves = Vec::new();
        for (path, count, ty) in found {
            let mut count = usize::try_from(count).unwrap_or(usize::MAX);
            if count as i128 > MAX_ARRAY || self.cells.len() + count > MAX_CELLS {
                let name = crate::errors::quote(&known.name);
                let message = if count as i128 > MAX_ARRAY {
                    format!("{name} has {count} elements; at most {MAX_ARRAY} are read")
                } else {
                    format!("with {name} the program has more than {MAX_CELLS} cells of memory")
                };
                self.error(message);
                count = 1;
            }
            let first = self.cells.len();
            let init = Data::Code(Expr::Const(0));
            self.cells.extend((0..count).map(|_| Cell {
                init: init.clone(),
                is_live: false,
                is_used: false,
                known_to: None,
            }));
            leaves.push(Leaf { path, first, count, ty });
        }
        let Known { key, name, ty, span } = known.clone();
        self.objects.push(Object { key, name, ty, leaves, span });
        self.objects.len() - 1
    }

    /// An object as a place.
    pub fn whole(&self, object: usize) -> Place {
        let ty = self.objects[object].ty.clone();
        Place { object, path: Vec::new(), linear: Expr::Const(0), count: 1, ty }
    }

    /// A field of a place.
    pub fn place_field(&self, place: &Place, field: usize) -> Place {
        let mut place = place.clone();
        if let Type::Struct(id) = place.ty.plain()
            && let Some((_, ty)) = self.learned.structs.get(*id).fields.get(field)
        {
            place.ty = ty.clone();
        }
        place.path.push(field);
        place
    }

    /// An element of a place that is an array.
    pub fn place_index(&self, place: &Place, index: Code) -> Place {
        let mut place = place.clone();
        let Type::Array(element, len) = place.ty.plain().clone() else { return place };
        let index = match index {
            Expr::Const(c) if (0..i128::from(len)).contains(&c) => Expr::Const(c),
            // Fails where it is evaluated.
            index => Expr::binary(BinOp::Index, index, Expr::Const(i128::from(len))),
        };
        let row = binary(BinOp::Mul, place.linear, Expr::Const(i128::from(len)));
        place.linear = binary(BinOp::Add, row, index);
        place.count *= len as usize;
        place.ty = (*element).clone();
        place
    }

    /// The scalars that a place of scalar type stands for.
    pub(super) fn leaf(&self, place: &Place) -> Option<&Leaf> {
        self.objects[place.object].leaves.iter().find(|leaf| leaf.path == place.path)
    }

    /// The address of a place as a number.
    pub(super) fn address(&mut self, place: &Place) -> Code {
        let object = &self.objects[place.object];
        let known = Known {
            key: object.key,
            name: object.name.clone(),
            ty: object.ty.clone(),
            span: object.span,
        };
        let groups = &mut self.learned.addressed;
        let group = match groups.iter().position(|group| group.is_of(known.key, &place.path)) {
            Some(group) => group,
            None => {
                let first = groups.last().map_or(1, |g| g.first + g.count as i128 + 1);
                let (path, count) = (place.path.clone(), place.count);
                let ty = place.ty.clone();
                groups.push(Group { object: known, path, count, ty, first });
                // Code that follows pointers of this type did not know this place.
                self.learned.is_changed = true;
                groups.len() - 1
            }
        };
        let first = groups[group].first;
        binary(BinOp::Add, Expr::Const(first), place.linear.clone())
    }

    /// Notes that a pointer becomes a `void *`, which may hold an address from now on.
    pub fn forget_type(&mut self, pointer: &Value) {
        let is_new = match &pointer.data {
            Data::Place(place) => {
                let key = self.objects[place.object].key;
                self.learned.untyped.insert((key, place.path.clone()))
            }
            Data::Code(Expr::Const(_)) => false,
            Data::Code(_) => !std::mem::replace(&mut self.learned.has_untyped_code, true),
            _ => false,
        };
        // Casts that come before did not know it.
        self.learned.is_changed |= is_new;
    }

    /// Whether a `void *` that only the run knows may be the number of an address: of a place whose
    /// address became a `void *` and is in memory or in a register.
    pub fn may_be_address(&self) -> bool {
        let Learned { untyped, has_untyped_code, addressed, .. } = &self.learned;
        let is_untyped =
            |(key, path): &(Key, Vec<usize>)| addressed.iter().any(|group| group.is_of(*key, path));
        *has_untyped_code || untyped.iter().any(is_untyped)
    }

    /// The places that a pointer to a type may lead to if it is a number.
    pub(super) fn targets(&mut self, pointer: &Code, ty: &Type) -> Vec<Target> {
        let groups: Vec<Group> = self.learned.addressed.clone();
        let mut targets = Vec::new();
        for group in groups.into_iter().filter(|group| group.ty.is_like(ty)) {
            let object = self.object_of(&group.object);
            let linear = binary(BinOp::Sub, pointer.clone(), Expr::Const(group.first));
            let Group { path, count, ty, first, .. } = group;
            let addresses = (first, first + count as i128);
            targets.push(Target { addresses, place: Place { object, path, linear, count, ty } });
        }
        targets
    }

    /// What an address is called.
    fn address_names(&self) -> Vec<String> {
        let mut names = vec!["null".to_owned()];
        for group in &self.learned.addressed {
            let mut fields = String::new();
            let mut ty = &group.object.ty;
            let mut has_index = false;
            let mut path = group.path.iter();
            loop {
                match ty.plain() {
                    Type::Array(element, _) => {
                        has_index = true;
                        ty = element;
                    }
                    Type::Struct(id) => {
                        let Some(&field) = path.next() else { break };
                        let (name, of) = &self.learned.structs.get(*id).fields[field];
                        fields += &format!(".{name}");
                        ty = of;
                    }
                    _ => break,
                }
            }
            let object = self.objects.iter().find(|object| object.key == group.object.key);
            let name = object.map_or(&group.object.name, |object| &object.name);
            for i in 0..group.count {
                let index = if has_index { format!("[{i}]") } else { String::new() };
                names.push(format!("&{name}{fields}{index}"));
            }
            names.push(format!("&{name}{fields}[{}]", group.count));
        }
        names
    }

    /// What a cell or register holds at first, as a number.
    pub(super) fn number(&mut self, data: &Data) -> i128 {
        match data {
            Data::Code(Expr::Const(value)) => *value,
            Data::Place(place) => match self.address(&place.clone()) {
                Expr::Const(value) => value,
                _ => 0,
            },
            // The number of a function or a thread is never used.
            _ => 0,
        }
    }

    /// The declarations of all cells that are used, and the new number of each cell.
    pub(super) fn declarations(&mut self) -> (Vec<Decl>, Vec<Option<VarId>>) {
        let mut numbers = vec![None; self.cells.len()];
        let mut decls = Vec::new();
        let mut next = 0;
        for object in 0..self.objects.len() {
            for leaf in 0..self.objects[object].leaves.len() {
                let Leaf { path, first, count, ty } = &self.objects[object].leaves[leaf];
                let (first, count, ty, path) = (*first, *count, ty.clone(), path.clone());
                if !self.cells[first..first + count].iter().any(|cell| cell.is_used) {
                    continue;
                }
                let mut init = Vec::new();
                for (cell, number) in numbers.iter_mut().enumerate().skip(first).take(count) {
                    let data = self.cells[cell].init.clone();
                    init.push(vec![self.number(&data)]);
                    *number = Some(VarId::new(next));
                    next += 1;
                }
                let name = self.leaf_name(object, &path);
                let len = (count > 1).then_some(count as u32);
                let domain = self.domain(&ty);
                let span = self.objects[object].span;
                decls.push(Decl { name, len, domain, init, span });
            }
        }
        (decls, numbers)
    }

    fn leaf_name(&self, object: usize, path: &[usize]) -> String {
        let object = &self.objects[object];
        let mut name = object.name.clone();
        let mut ty = &object.ty;
        for &field in path {
            while let Type::Array(element, _) = ty.plain() {
                ty = element;
            }
            let Type::Struct(id) = ty.plain() else { break };
            let (field, of) = &self.learned.structs.get(*id).fields[field];
            name += &format!(".{field}");
            ty = of;
        }
        name
    }

    /// The values of a type; pointers have the names of addresses.
    pub(super) fn domain(&self, ty: &Type) -> Option<Domain> {
        match ty.plain() {
            Type::Pointer(to) if **to != Type::Void && !self.learned.addressed.is_empty() => {
                Some(Domain::Enum(weir_model::ids::EnumId::new(0)))
            }
            ty => ty.domain(),
        }
    }

    /// The names of addresses, which are the values of pointers.
    pub(super) fn addresses(&self) -> Option<weir_model::program::Enum> {
        (!self.learned.addressed.is_empty()).then(|| weir_model::program::Enum {
            name: "address".to_owned(),
            members: self.address_names(),
        })
    }

    /// Marks cells as seen by others.
    pub(super) fn make_live(&mut self, cells: std::ops::Range<usize>) {
        for cell in &mut self.cells[cells] {
            cell.is_live = true;
        }
    }

    /// Gives the scalars of a place values before any thread runs.
    pub fn initialize(&mut self, place: &Place, value: &Value) {
        match (&value.data, place.ty.plain().clone()) {
            (Data::Fields(fields), Type::Array(..)) => {
                for (i, field) in fields.iter().enumerate() {
                    let element = self.place_index(place, Expr::Const(i as i128));
                    self.initialize(&element, field);
                }
            }
            (Data::Fields(fields), _) => {
                for (i, field) in fields.iter().enumerate() {
                    let field_place = self.place_field(place, i);
                    self.initialize(&field_place, field);
                }
            }
            (data, _) => {
                let Expr::Const(linear) = place.linear else { return };
                let Some(leaf) = self.leaf(place) else { return };
                let cell = leaf.first + usize::try_from(linear).unwrap_or(0);
                if cell < leaf.first + leaf.count {
                    self.cells[cell].init = data.clone();
                }
            }
        }
    }
}
