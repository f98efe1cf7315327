//! Numbers for values that are compared often, and results that are computed once.

use std::borrow::Borrow;
use std::cell::RefCell;
use std::fmt;
use std::hash::Hash;
use std::marker::PhantomData;
use std::sync::Arc;

use rustc_hash::FxHashMap;

/// The number of a value: equal values of one table have equal numbers.
pub(super) struct Id<T: ?Sized> {
    number: u32,
    of: PhantomData<fn() -> Arc<T>>,
}

impl<T: ?Sized> Id<T> {
    /// As a number, for keys made of several ids.
    pub fn number(self) -> u32 {
        self.number
    }
}

impl<T: ?Sized> Clone for Id<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: ?Sized> Copy for Id<T> {}

impl<T: ?Sized> PartialEq for Id<T> {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

impl<T: ?Sized> Eq for Id<T> {}

impl<T: ?Sized> PartialOrd for Id<T> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<T: ?Sized> Ord for Id<T> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.number.cmp(&other.number)
    }
}

impl<T: ?Sized> Hash for Id<T> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.number.hash(state);
    }
}

impl<T: ?Sized> fmt::Debug for Id<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.number)
    }
}

/// Values with their numbers.
pub(super) struct Numbered<T: ?Sized> {
    ids: RefCell<FxHashMap<Arc<T>, Id<T>>>,
    values: RefCell<Vec<Arc<T>>>,
}

impl<T: ?Sized> Clone for Numbered<T> {
    fn clone(&self) -> Self {
        Self { ids: self.ids.clone(), values: self.values.clone() }
    }
}

impl<T: ?Sized> Default for Numbered<T> {
    fn default() -> Self {
        Self { ids: RefCell::default(), values: RefCell::default() }
    }
}

impl<T: ?Sized + Hash + Eq> Numbered<T> {
    /// The number of a value, new or known.
    pub fn id(&self, value: impl Into<Arc<T>> + Borrow<T>) -> Id<T> {
        if let Some(&id) = self.ids.borrow().get(value.borrow()) {
            return id;
        }
        let mut values = self.values.borrow_mut();
        let number = u32::try_from(values.len()).expect("fewer values than bytes of memory");
        let id = Id { number, of: PhantomData };
        let value = value.into();
        values.push(Arc::clone(&value));
        self.ids.borrow_mut().insert(value, id);
        id
    }

    /// The value with a number.
    pub fn get(&self, id: Id<T>) -> Arc<T> {
        Arc::clone(&self.values.borrow()[id.number as usize])
    }

    /// A part of the value with a number.
    pub fn with<R>(&self, id: Id<T>, part: impl FnOnce(&T) -> R) -> R {
        part(&self.values.borrow()[id.number as usize])
    }
}

/// Results of a function by its arguments.
pub(super) struct Memo<K, V> {
    known: RefCell<FxHashMap<K, V>>,
}

impl<K, V> Default for Memo<K, V> {
    fn default() -> Self {
        Self { known: RefCell::default() }
    }
}

impl<K: Clone, V: Clone> Clone for Memo<K, V> {
    fn clone(&self) -> Self {
        Self { known: self.known.clone() }
    }
}

impl<K: Hash + Eq, V: Clone> Memo<K, V> {
    /// The result for some arguments, which is computed the first time.
    pub fn of(&self, key: K, compute: impl FnOnce() -> V) -> V {
        if let Some(known) = self.known.borrow().get(&key) {
            return known.clone();
        }
        let value = compute();
        self.known.borrow_mut().insert(key, value.clone());
        value
    }
}
