//! Objects in memory and what is learned about them.
//!
//! Every global, function, stack slot that is no variable, and allocation is an object with an address
//! of its own: a number above all numbers of 32 bits, a multiple of 4096, and at least a page away from
//! its neighbors. So arithmetic on addresses, flags in low bits and comparisons work as on a machine.
//!
//! The program is read several times. Each time some *facts* are found that change how it has to be read: which
//! objects another thread may reach, which bytes are accessed, what pointers may hold. Facts are only
//! added, so this ends. No fact is a guess at a value: each makes the translation more general.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{Hash, Hasher};
use std::rc::Rc;

use weir_llvm::Symbol;
use weir_model::ids::RegId;

/// The first address.
const FIRST: i128 = 1 << 32;

/// How far addresses are apart at least.
const PAGE: i128 = 4096;

/// From so many addresses in one object on, a pointer may hold every address that is as far from these as they are from each other.
const MAX_APART: usize = 24;

/// From so many addresses in one object on, a pointer may hold any address in it.
const MAX_ADDRESSES: usize = 2048;

/// More addresses in all objects together are not told apart.
const MAX_ALL: usize = 8192;

/// An object: an index of [`Facts::objects`].
pub(super) type ObjectId = u32;

/// A scalar that an instruction works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Val {
    Known(i128),
    Reg(RegId),
    /// It was never set.
    Undef,
}

/// What an object is.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Key {
    Global(Symbol),
    Function(Symbol),
    /// A variable of each thread, in one of them.
    ThreadLocal(Symbol, usize),
    /// A stack slot of a thread, in a call.
    Stack(usize, u32, u32),
    /// An allocation: thread, call with its place, the size if it is known, and the how-manieth one.
    Heap(usize, u32, Option<u64>, u32),
    /// A number by which threads tell each other something.
    Flag(Flag, usize),
}

/// What a number between threads is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Flag {
    /// The thread may begin.
    Started,
    /// The thread has ended.
    Ended,
    /// What the thread is given.
    Argument,
    /// What the thread returns.
    Result,
    /// The object of this number was allocated, if the program is asked for leaks.
    Allocated,
    /// The object of this number was freed.
    Freed,
    /// It can be used again.
    Free,
    /// How many bytes it has, if only the run knows that.
    Size,
}

/// The function of the library that a program calls to allocate, such as `Box::<T>::new`. None in C.
pub(super) type Origin = Option<usize>;

/// An object.
#[derive(Clone, Debug)]
pub(super) struct Object {
    pub key: Key,
    pub name: String,
    pub base: i128,
    pub size: u64,
    /// Whether it is never written.
    pub is_constant: bool,
}

/// The addresses of objects that a value may be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Addresses {
    pub these: BTreeSet<i128>,
    /// Any address in these objects: something was computed with numbers that only the run knows.
    pub within: BTreeSet<ObjectId>,
    /// Whether it may also be an address that is not listed: it was computed in a way that is not followed. If the run
    /// accesses such an address, that is a limit.
    pub is_partial: bool,
    /// Whether the value may be one that was never set.
    pub is_unset: bool,
}

impl Addresses {
    pub fn one(address: i128) -> Self {
        Self { these: BTreeSet::from([address]), ..Self::default() }
    }

    /// Nothing is listed, and it may be an address.
    pub fn unlisted() -> Self {
        Self { is_partial: true, ..Self::default() }
    }

    /// No address, and a value that was never set.
    pub fn unset() -> Self {
        Self { is_unset: true, ..Self::default() }
    }

    /// Adds addresses. Returns whether there are more now.
    pub fn add(&mut self, other: &Self) -> bool {
        let count = |of: &Self| (of.these.len(), of.within.len(), of.is_partial, of.is_unset);
        let before = count(self);
        self.these.extend(&other.these);
        self.within.extend(&other.within);
        self.is_partial |= other.is_partial;
        self.is_unset |= other.is_unset;
        count(self) != before
    }

    /// Whether no object is listed.
    pub fn is_empty(&self) -> bool {
        self.these.is_empty() && self.within.is_empty()
    }

    /// Whether there is nothing to note.
    pub fn is_nothing(&self) -> bool {
        self.is_empty() && !self.is_partial && !self.is_unset
    }

    /// The same for a value that was set.
    pub fn set(self) -> Self {
        Self { is_unset: false, ..self }
    }
}

/// The bytes of an object, in scalars that do not overlap. A copy shares them until one of the two is changed.
#[derive(Clone, Debug)]
pub(super) struct Bytes {
    /// By offset: size and value.
    scalars: Rc<BTreeMap<u64, (u64, Val)>>,
    /// What all other bytes are: zero or not set.
    pub rest: Val,
    /// Whether a scalar may be in a register.
    has_registers: bool,
}

impl PartialEq for Bytes {
    fn eq(&self, other: &Self) -> bool {
        self.rest == other.rest
            && (Rc::ptr_eq(&self.scalars, &other.scalars) || self.scalars == other.scalars)
    }
}

impl Eq for Bytes {}

impl Hash for Bytes {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        (&self.scalars, self.rest).hash(hasher);
    }
}

impl Bytes {
    pub fn new(rest: Val) -> Self {
        Self { scalars: Rc::default(), rest, has_registers: false }
    }

    /// All scalars: offset, size and value.
    pub fn scalars(&self) -> impl Iterator<Item = (u64, u64, Val)> {
        self.scalars.iter().map(|(at, (size, value))| (*at, *size, *value))
    }

    /// Sets a scalar, which overlaps no other one.
    pub fn set(&mut self, at: u64, size: u64, value: Val) {
        self.has_registers |= matches!(value, Val::Reg(_));
        Rc::make_mut(&mut self.scalars).insert(at, (size, value));
    }

    /// Forgets the scalar that begins somewhere.
    pub fn forget(&mut self, at: u64) {
        Rc::make_mut(&mut self.scalars).remove(&at);
    }

    /// Whether some scalar is in this register.
    pub fn uses_register(&self, register: RegId) -> bool {
        self.has_registers && self.scalars.values().any(|(_, value)| *value == Val::Reg(register))
    }

    /// The scalars that overlap a range, in order.
    pub fn over(&self, at: u64, size: u64) -> Vec<(u64, u64, Val)> {
        let before = self.scalars.range(..at).next_back();
        let first = before.filter(|(o, (s, _))| *o + *s > at);
        let inside = self.scalars.range(at..at.saturating_add(size));
        first.into_iter().chain(inside).map(|(o, (s, v))| (*o, *s, *v)).collect()
    }

    /// Whether some of these bytes were never set.
    pub fn is_unset(&self, at: u64, size: u64) -> bool {
        let parts = self.over(at, size);
        let set = parts.iter().filter(|(.., value)| *value != Val::Undef);
        let count: u64 =
            set.map(|(start, length, _)| (start + length).min(at + size) - (*start).max(at)).sum();
        count < size && (self.rest == Val::Undef || parts.iter().any(|part| part.2 == Val::Undef))
    }
}

/// What was found out in earlier readings.
#[derive(Debug, Default)]
pub(super) struct Facts {
    pub objects: Vec<Object>,
    pub by_key: HashMap<Key, ObjectId>,
    by_base: BTreeMap<i128, ObjectId>,
    next: i128,
    /// Objects of one thread that another one may reach.
    pub escaped: BTreeSet<ObjectId>,
    /// Objects of one thread that are accessed through pointers that only the run knows.
    pub in_memory: BTreeSet<ObjectId>,
    /// The bytes that statements access: offset and size.
    pub accesses: BTreeMap<ObjectId, BTreeSet<(u64, u64)>>,
    /// The same for accesses through pointers that only the run knows.
    pub loose: BTreeMap<ObjectId, BTreeSet<(u64, u64)>>,
    /// Scalars that are accessed atomically at a known place: nothing divides them.
    pub whole: BTreeMap<ObjectId, BTreeSet<(u64, u64)>>,
    /// The bytes that statements write.
    pub written: BTreeMap<ObjectId, BTreeSet<(u64, u64)>>,
    /// What may be stored in scalars of memory.
    pub stored: BTreeMap<(ObjectId, u64), Addresses>,
    /// What registers may hold.
    pub held: BTreeMap<(usize, super::Home), Addresses>,
    /// Allocations that a thread is given when it starts, and that no other thread reaches from then on. If one does,
    /// the object has escaped.
    pub given: BTreeSet<ObjectId>,
    /// Objects that may be freed while threads run.
    pub freed: BTreeSet<ObjectId>,
    /// How objects were allocated. What is allocated in another way does not get their memory: it may look different.
    pub origins: BTreeMap<ObjectId, Origin>,
    /// Those of them that an allocation may use again.
    pub reused: BTreeSet<ObjectId>,
    /// Allocations that are zero at first.
    pub zeroed: BTreeSet<ObjectId>,
    /// Objects whose size only the run knows.
    pub sized: BTreeSet<ObjectId>,
    /// Threads that wait until they are started.
    pub waiting: BTreeSet<usize>,
    /// Threads that some thread waits for, and those whose result somebody asks for.
    pub joined: BTreeSet<usize>,
    pub asked: BTreeSet<usize>,
    /// Calls by the call around them and their place.
    pub contexts: HashMap<(u32, usize, u32, usize), u32>,
    /// The threads, by what started them.
    pub threads: Vec<super::threads::ThreadKey>,
    /// How many threads execute each function.
    pub thread_names: HashMap<String, usize>,
    /// Whether a fact was added in this reading.
    pub is_changed: bool,
}

impl Facts {
    pub fn object(
        &mut self,
        key: Key,
        name: impl FnOnce() -> String,
        size: u64,
        is_constant: bool,
    ) -> ObjectId {
        if let Some(&id) = self.by_key.get(&key) {
            return id;
        }
        let id = self.objects.len() as ObjectId;
        let base = self.next.max(FIRST);
        self.next = base + (i128::from(size) / PAGE + 2) * PAGE;
        self.objects.push(Object { key: key.clone(), name: name(), base, size, is_constant });
        self.by_key.insert(key, id);
        self.by_base.insert(base, id);
        id
    }

    pub fn get(&self, id: ObjectId) -> &Object {
        &self.objects[id as usize]
    }

    /// The object that an address is in, or right behind, with the offset.
    pub fn find(&self, address: i128) -> Option<(ObjectId, u64)> {
        let (base, &id) = self.by_base.range(..=address).next_back()?;
        let offset = u64::try_from(address - base).ok()?;
        (offset <= self.get(id).size.max(16)).then_some((id, offset))
    }

    pub fn escape(&mut self, id: ObjectId) {
        self.is_changed |= self.escaped.insert(id);
    }

    /// A thread that does not own a private object reaches it. Returns whether the object was given to another thread; then
    /// it is not private.
    pub fn reach(&mut self, id: ObjectId) -> bool {
        let is_given = self.given.contains(&id) && self.is_private(id);
        if is_given {
            self.escape(id);
        }
        is_given
    }

    pub fn put_in_memory(&mut self, id: ObjectId) {
        self.is_changed |= self.in_memory.insert(id);
    }

    /// Whether only one thread knows an object, and always by known pointers.
    pub fn is_private(&self, id: ObjectId) -> bool {
        matches!(self.get(id).key, Key::Stack(..) | Key::Heap(..) | Key::ThreadLocal(..))
            && !self.escaped.contains(&id)
            && !self.in_memory.contains(&id)
    }

    /// Notes an access by a statement, and returns the scalars that it is made of. It is loose if
    /// only the run knows the pointer.
    pub fn access(
        &mut self,
        id: ObjectId,
        at: u64,
        size: u64,
        is_write: bool,
        is_loose: bool,
    ) -> Vec<(u64, u64)> {
        let all = if is_loose { &mut self.loose } else { &mut self.accesses };
        self.is_changed |= all.entry(id).or_default().insert((at, size));
        if is_write {
            self.is_changed |= self.written.entry(id).or_default().insert((at, size));
        }
        self.cuts(id, at, size)
    }

    /// Nothing may divide a scalar.
    pub fn keep_whole(&mut self, id: ObjectId, at: u64, size: u64) {
        self.is_changed |= self.whole.entry(id).or_default().insert((at, size));
    }

    /// Whether an access would divide a scalar that has to be whole, or has parts that have to be.
    pub fn divides(&self, id: ObjectId, at: u64, size: u64) -> bool {
        let wholes = self.whole.get(&id).into_iter().flatten();
        wholes.into_iter().any(|&(start, length)| {
            (start, length) != (at, size) && start < at + size && at < start + length
        })
    }

    /// The scalars that a range is made of.
    pub fn cuts(&self, id: ObjectId, at: u64, size: u64) -> Vec<(u64, u64)> {
        let mut cuts = BTreeSet::from([at, at + size]);
        let known = self.accesses.get(&id).into_iter().flatten();
        let loose = self.loose.get(&id).into_iter().flatten();
        let loose = loose.filter(|(start, length)| !self.divides(id, *start, *length));
        for &(start, length) in known.chain(loose) {
            cuts.extend(
                [start, start + length].into_iter().filter(|c| (at..at + size).contains(c)),
            );
        }
        let cuts: Vec<u64> = cuts.into_iter().collect();
        cuts.windows(2).map(|pair| (pair[0], pair[1] - pair[0])).collect()
    }

    /// All accesses to an object.
    pub fn accesses_of(&self, id: ObjectId) -> BTreeSet<(u64, u64)> {
        let all = [self.accesses.get(&id), self.loose.get(&id)];
        let all = all.into_iter().flatten().flatten().copied();
        all.filter(|(at, size)| {
            !self.divides(id, *at, *size)
                || self.accesses.get(&id).is_some_and(|a| a.contains(&(*at, *size)))
        })
        .collect()
    }

    /// Whether a statement writes some of these bytes.
    pub fn is_written(&self, id: ObjectId, at: u64, size: u64) -> bool {
        let writes = self.written.get(&id).into_iter().flatten();
        writes.into_iter().any(|&(start, length)| start < at + size && at < start + length)
    }

    /// What may be stored somewhere.
    pub fn store(&mut self, id: ObjectId, at: u64, what: &Addresses) {
        if what.is_nothing() {
            return;
        }
        let mut known = self.stored.remove(&(id, at)).unwrap_or_default();
        if known.add(what) {
            self.widen(&mut known);
            self.is_changed = true;
        }
        self.stored.insert((id, at), known);
    }

    /// What may be read somewhere.
    pub fn read(&self, id: ObjectId, at: u64, size: u64) -> Addresses {
        let mut all = Addresses::default();
        for (_, stored) in self.stored.range((id, at.saturating_sub(7))..(id, at + size)) {
            all.add(stored);
        }
        all
    }

    /// The objects that addresses lead to.
    pub fn objects_of(&self, held: &Addresses) -> BTreeSet<ObjectId> {
        let found = held.these.iter().filter_map(|address| Some(self.find(*address)?.0));
        found.chain(held.within.iter().copied()).collect()
    }

    /// What becomes of addresses by arithmetic with numbers that only the run knows: any address in the same objects.
    pub fn blurred(&self, held: &Addresses) -> Addresses {
        let within = self.objects_of(held);
        Addresses { these: BTreeSet::new(), within, ..held.clone() }
    }

    /// Many addresses in one object become all that are as far apart, so that a pointer that goes through an array is understood at
    /// once.
    pub fn widen(&self, held: &mut Addresses) {
        if held.these.len() <= MAX_APART {
            return;
        }
        let mut by_object: BTreeMap<ObjectId, Vec<u64>> = BTreeMap::new();
        for address in &held.these {
            if let Some((id, at)) = self.find(*address) {
                by_object.entry(id).or_default().push(at);
            }
        }
        for (id, offsets) in by_object.into_iter().filter(|(_, at)| at.len() > MAX_APART) {
            let object = self.get(id);
            let step = offsets.windows(2).fold(0, |step, pair| gcd(step, pair[1] - pair[0])).max(1);
            let (first, end) = (offsets[0] % step, object.size.max(16));
            if (end - first) / step >= MAX_ADDRESSES as u64 {
                held.within.insert(id);
                let all = object.base..=object.base + i128::from(end);
                held.these.retain(|address| !all.contains(address));
                continue;
            }
            let offsets = (0..=(end - first) / step).map(|number| first + number * step);
            held.these.extend(offsets.map(|at| object.base + i128::from(at)));
        }
        if held.these.len() > MAX_ALL {
            *held = self.blurred(held);
        }
    }

    /// The call of a place in another call.
    pub fn context(&mut self, parent: u32, function: usize, block: u32, at: usize) -> u32 {
        let next = self.contexts.len() as u32 + 1;
        *self.contexts.entry((parent, function, block, at)).or_insert(next)
    }
}

pub(super) fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
