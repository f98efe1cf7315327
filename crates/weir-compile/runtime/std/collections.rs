//! `std::collections`: maps and sets that are hashed begin with the same numbers in every run.
//!
//! They are the real ones in a new type, since the functions `new` and `with_capacity` of the real
//! ones exist for its `RandomState` only.

pub use real::collections::*;

/// `std::collections::hash_map`.
pub mod hash_map {
    pub use super::HashMap;
    pub use crate::hash::RandomState;
    pub use real::collections::hash_map::*;
}

/// `std::collections::hash_set`.
pub mod hash_set {
    pub use super::HashSet;
    pub use real::collections::hash_set::*;
}

use crate::hash::RandomState;
use core::borrow::Borrow;
use core::fmt;
use core::hash::{BuildHasher, Hash};
use core::ops::{BitAnd, BitOr, BitXor, Deref, DerefMut, Index, Sub};
use real::collections::{HashMap as Map, HashSet as Set};

/// A map.
pub struct HashMap<K, V, S = RandomState>(Map<K, V, S>);

/// A set.
pub struct HashSet<T, S = RandomState>(Set<T, S>);

impl<K, V> HashMap<K, V, RandomState> {
    /// An empty map.
    #[inline]
    pub fn new() -> Self {
        HashMap(Map::with_hasher(RandomState::new()))
    }
    /// An empty map with room.
    #[inline]
    pub fn with_capacity(capacity: usize) -> Self {
        HashMap(Map::with_capacity_and_hasher(capacity, RandomState::new()))
    }
}

impl<K, V, S> HashMap<K, V, S> {
    /// An empty map.
    #[inline]
    pub const fn with_hasher(hash_builder: S) -> Self {
        HashMap(Map::with_hasher(hash_builder))
    }
    /// An empty map with room.
    #[inline]
    pub fn with_capacity_and_hasher(capacity: usize, hash_builder: S) -> Self {
        HashMap(Map::with_capacity_and_hasher(capacity, hash_builder))
    }
    /// Its keys.
    #[inline]
    pub fn into_keys(self) -> hash_map::IntoKeys<K, V> {
        self.0.into_keys()
    }
    /// Its values.
    #[inline]
    pub fn into_values(self) -> hash_map::IntoValues<K, V> {
        self.0.into_values()
    }
}

/// Functions that only pass on what they are given. They are named here, and not only reached by
/// `Deref`, since programs also write `HashMap::insert`.
macro_rules! forward {
    ($($name:ident[$($g:tt)*]($self:ident: $me:ty $(, $arg:ident: $t:ty)*) $(-> $out:ty)? $(where ($($w:tt)*))?;)+) => {$(
        #[inline]
        #[allow(missing_docs)]
        pub fn $name<$($g)*>($self: $me $(, $arg: $t)*) $(-> $out)? $(where $($w)*)? {
            $self.0.$name($($arg),*)
        }
    )+};
}

impl<K, V, S> HashMap<K, V, S> {
    forward! {
        capacity[](self: &Self) -> usize;
        keys[](self: &Self) -> hash_map::Keys<'_, K, V>;
        values[](self: &Self) -> hash_map::Values<'_, K, V>;
        values_mut[](self: &mut Self) -> hash_map::ValuesMut<'_, K, V>;
        iter[](self: &Self) -> hash_map::Iter<'_, K, V>;
        iter_mut[](self: &mut Self) -> hash_map::IterMut<'_, K, V>;
        len[](self: &Self) -> usize;
        is_empty[](self: &Self) -> bool;
        drain[](self: &mut Self) -> hash_map::Drain<'_, K, V>;
        retain[F](self: &mut Self, f: F) where (F: FnMut(&K, &mut V) -> bool);
        extract_if[F](self: &mut Self, f: F) -> hash_map::ExtractIf<'_, K, V, F> where (F: FnMut(&K, &mut V) -> bool);
        clear[](self: &mut Self);
        hasher[](self: &Self) -> &S;
    }
}

impl<K: Eq + Hash, V, S: BuildHasher> HashMap<K, V, S> {
    forward! {
        reserve[](self: &mut Self, additional: usize);
        try_reserve[](self: &mut Self, additional: usize) -> Result<(), TryReserveError>;
        shrink_to_fit[](self: &mut Self);
        shrink_to[](self: &mut Self, min_capacity: usize);
        entry[](self: &mut Self, key: K) -> hash_map::Entry<'_, K, V>;
        get[Q: ?Sized + Hash + Eq](self: &Self, k: &Q) -> Option<&V> where (K: Borrow<Q>);
        get_key_value[Q: ?Sized + Hash + Eq](self: &Self, k: &Q) -> Option<(&K, &V)> where (K: Borrow<Q>);
        contains_key[Q: ?Sized + Hash + Eq](self: &Self, k: &Q) -> bool where (K: Borrow<Q>);
        get_mut[Q: ?Sized + Hash + Eq](self: &mut Self, k: &Q) -> Option<&mut V> where (K: Borrow<Q>);
        insert[](self: &mut Self, k: K, v: V) -> Option<V>;
        remove[Q: ?Sized + Hash + Eq](self: &mut Self, k: &Q) -> Option<V> where (K: Borrow<Q>);
        remove_entry[Q: ?Sized + Hash + Eq](self: &mut Self, k: &Q) -> Option<(K, V)> where (K: Borrow<Q>);
        get_disjoint_mut[Q: ?Sized + Hash + Eq, const N: usize](self: &mut Self, ks: [&Q; N]) -> [Option<&'_ mut V>; N] where (K: Borrow<Q>);
    }
}

impl<T, S> HashSet<T, S> {
    forward! {
        capacity[](self: &Self) -> usize;
        iter[](self: &Self) -> hash_set::Iter<'_, T>;
        len[](self: &Self) -> usize;
        is_empty[](self: &Self) -> bool;
        drain[](self: &mut Self) -> hash_set::Drain<'_, T>;
        retain[F](self: &mut Self, f: F) where (F: FnMut(&T) -> bool);
        extract_if[F](self: &mut Self, f: F) -> hash_set::ExtractIf<'_, T, F> where (F: FnMut(&T) -> bool);
        clear[](self: &mut Self);
        hasher[](self: &Self) -> &S;
    }
}

impl<T: Eq + Hash, S: BuildHasher> HashSet<T, S> {
    forward! {
        reserve[](self: &mut Self, additional: usize);
        try_reserve[](self: &mut Self, additional: usize) -> Result<(), TryReserveError>;
        shrink_to_fit[](self: &mut Self);
        shrink_to[](self: &mut Self, min_capacity: usize);
        contains[Q: ?Sized + Hash + Eq](self: &Self, value: &Q) -> bool where (T: Borrow<Q>);
        get[Q: ?Sized + Hash + Eq](self: &Self, value: &Q) -> Option<&T> where (T: Borrow<Q>);
        is_disjoint[](self: &Self, other: &Self) -> bool;
        is_subset[](self: &Self, other: &Self) -> bool;
        is_superset[](self: &Self, other: &Self) -> bool;
        insert[](self: &mut Self, value: T) -> bool;
        replace[](self: &mut Self, value: T) -> Option<T>;
        remove[Q: ?Sized + Hash + Eq](self: &mut Self, value: &Q) -> bool where (T: Borrow<Q>);
        take[Q: ?Sized + Hash + Eq](self: &mut Self, value: &Q) -> Option<T> where (T: Borrow<Q>);
    }
    #[inline]
    pub fn difference<'a>(&'a self, other: &'a Self) -> hash_set::Difference<'a, T, S> {
        self.0.difference(&other.0)
    }
    #[inline]
    pub fn symmetric_difference<'a>(
        &'a self,
        other: &'a Self,
    ) -> hash_set::SymmetricDifference<'a, T, S> {
        self.0.symmetric_difference(&other.0)
    }
    #[inline]
    pub fn intersection<'a>(&'a self, other: &'a Self) -> hash_set::Intersection<'a, T, S> {
        self.0.intersection(&other.0)
    }
    #[inline]
    pub fn union<'a>(&'a self, other: &'a Self) -> hash_set::Union<'a, T, S> {
        self.0.union(&other.0)
    }
}

impl<K, V, S> Deref for HashMap<K, V, S> {
    type Target = Map<K, V, S>;
    #[inline]
    fn deref(&self) -> &Map<K, V, S> {
        &self.0
    }
}
impl<K, V, S> DerefMut for HashMap<K, V, S> {
    #[inline]
    fn deref_mut(&mut self) -> &mut Map<K, V, S> {
        &mut self.0
    }
}
impl<K: Clone, V: Clone, S: Clone> Clone for HashMap<K, V, S> {
    #[inline]
    fn clone(&self) -> Self {
        HashMap(self.0.clone())
    }
    #[inline]
    fn clone_from(&mut self, other: &Self) {
        self.0.clone_from(&other.0);
    }
}
impl<K: Eq + Hash, V: PartialEq, S: BuildHasher> PartialEq for HashMap<K, V, S> {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}
impl<K: Eq + Hash, V: Eq, S: BuildHasher> Eq for HashMap<K, V, S> {}
impl<K: fmt::Debug, V: fmt::Debug, S> fmt::Debug for HashMap<K, V, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
impl<K, V, S: Default> Default for HashMap<K, V, S> {
    #[inline]
    fn default() -> Self {
        HashMap(Map::default())
    }
}
impl<K: Eq + Hash + Borrow<Q>, Q: ?Sized + Eq + Hash, V, S: BuildHasher> Index<&Q>
    for HashMap<K, V, S>
{
    type Output = V;
    #[inline]
    fn index(&self, key: &Q) -> &V {
        self.0.get(key).expect("no entry found for key")
    }
}
impl<'a, K, V, S> IntoIterator for &'a HashMap<K, V, S> {
    type Item = (&'a K, &'a V);
    type IntoIter = hash_map::Iter<'a, K, V>;
    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}
impl<'a, K, V, S> IntoIterator for &'a mut HashMap<K, V, S> {
    type Item = (&'a K, &'a mut V);
    type IntoIter = hash_map::IterMut<'a, K, V>;
    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.0.iter_mut()
    }
}
impl<K, V, S> IntoIterator for HashMap<K, V, S> {
    type Item = (K, V);
    type IntoIter = hash_map::IntoIter<K, V>;
    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}
impl<K: Eq + Hash, V, S: BuildHasher + Default> FromIterator<(K, V)> for HashMap<K, V, S> {
    #[inline]
    fn from_iter<I: IntoIterator<Item = (K, V)>>(iter: I) -> Self {
        HashMap(Map::from_iter(iter))
    }
}
impl<K: Eq + Hash, V, S: BuildHasher> Extend<(K, V)> for HashMap<K, V, S> {
    #[inline]
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, iter: I) {
        self.0.extend(iter);
    }
}
impl<'a, K: Eq + Hash + Copy, V: Copy, S: BuildHasher> Extend<(&'a K, &'a V)> for HashMap<K, V, S> {
    #[inline]
    fn extend<I: IntoIterator<Item = (&'a K, &'a V)>>(&mut self, iter: I) {
        self.0.extend(iter);
    }
}
impl<K: Eq + Hash, V, const N: usize> From<[(K, V); N]> for HashMap<K, V, RandomState> {
    #[inline]
    fn from(entries: [(K, V); N]) -> Self {
        Self::from_iter(entries)
    }
}

impl<T> HashSet<T, RandomState> {
    /// An empty set.
    #[inline]
    pub fn new() -> Self {
        HashSet(Set::with_hasher(RandomState::new()))
    }
    /// An empty set with room.
    #[inline]
    pub fn with_capacity(capacity: usize) -> Self {
        HashSet(Set::with_capacity_and_hasher(capacity, RandomState::new()))
    }
}

impl<T, S> HashSet<T, S> {
    /// An empty set.
    #[inline]
    pub const fn with_hasher(hasher: S) -> Self {
        HashSet(Set::with_hasher(hasher))
    }
    /// An empty set with room.
    #[inline]
    pub fn with_capacity_and_hasher(capacity: usize, hasher: S) -> Self {
        HashSet(Set::with_capacity_and_hasher(capacity, hasher))
    }
}

impl<T, S> Deref for HashSet<T, S> {
    type Target = Set<T, S>;
    #[inline]
    fn deref(&self) -> &Set<T, S> {
        &self.0
    }
}
impl<T, S> DerefMut for HashSet<T, S> {
    #[inline]
    fn deref_mut(&mut self) -> &mut Set<T, S> {
        &mut self.0
    }
}
impl<T: Clone, S: Clone> Clone for HashSet<T, S> {
    #[inline]
    fn clone(&self) -> Self {
        HashSet(self.0.clone())
    }
    #[inline]
    fn clone_from(&mut self, other: &Self) {
        self.0.clone_from(&other.0);
    }
}
impl<T: Eq + Hash, S: BuildHasher> PartialEq for HashSet<T, S> {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}
impl<T: Eq + Hash, S: BuildHasher> Eq for HashSet<T, S> {}
impl<T: fmt::Debug, S> fmt::Debug for HashSet<T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
impl<T, S: Default> Default for HashSet<T, S> {
    #[inline]
    fn default() -> Self {
        HashSet(Set::default())
    }
}
impl<'a, T, S> IntoIterator for &'a HashSet<T, S> {
    type Item = &'a T;
    type IntoIter = hash_set::Iter<'a, T>;
    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}
impl<T, S> IntoIterator for HashSet<T, S> {
    type Item = T;
    type IntoIter = hash_set::IntoIter<T>;
    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}
impl<T: Eq + Hash, S: BuildHasher + Default> FromIterator<T> for HashSet<T, S> {
    #[inline]
    fn from_iter<I: IntoIterator<Item = T>>(iter: I) -> Self {
        HashSet(Set::from_iter(iter))
    }
}
impl<T: Eq + Hash, S: BuildHasher> Extend<T> for HashSet<T, S> {
    #[inline]
    fn extend<I: IntoIterator<Item = T>>(&mut self, iter: I) {
        self.0.extend(iter);
    }
}
impl<'a, T: Eq + Hash + Copy + 'a, S: BuildHasher> Extend<&'a T> for HashSet<T, S> {
    #[inline]
    fn extend<I: IntoIterator<Item = &'a T>>(&mut self, iter: I) {
        self.0.extend(iter);
    }
}
impl<T: Eq + Hash, const N: usize> From<[T; N]> for HashSet<T, RandomState> {
    #[inline]
    fn from(items: [T; N]) -> Self {
        Self::from_iter(items)
    }
}

macro_rules! operators {
    ($($operator:ident $name:ident)+) => {$(
        impl<T: Eq + Hash + Clone, S: BuildHasher + Default> $operator<&HashSet<T, S>> for &HashSet<T, S> {
            type Output = HashSet<T, S>;
            #[inline]
            fn $name(self, other: &HashSet<T, S>) -> HashSet<T, S> {
                HashSet($operator::$name(&self.0, &other.0))
            }
        }
    )+};
}
operators! { BitOr bitor BitAnd bitand BitXor bitxor Sub sub }
