//! States with load buffers, and their order (Atig et al. 2012, section 6).

use weir_model::answer::{UpwardBuffers, UpwardMessage, UpwardState};
use weir_model::ids::{StateId, ValueId, VarId};

/// Any value.
pub(super) const ANY: ValueId = ValueId(u32::MAX);

/// A message: a variable has a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Message {
    pub var: VarId,
    pub value: ValueId,
    /// Whether it is the last own write to its variable that has not been seen:
    /// what the process reads until then.
    pub own: bool,
}

/// Writes to a variable that wait.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Stores {
    pub var: VarId,
    pub older: Vec<ValueId>,
    pub last: ValueId,
}

/// What waits in the buffers of a process. Oldest first, sorted by variable.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Buffers {
    pub stores: Vec<Stores>,
    pub future: Vec<Message>,
    pub past: Vec<(VarId, Vec<ValueId>)>,
    /// Whether the last that the process did is a write that entered memory.
    pub entered: bool,
}

/// A state; it stands for all at or above it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct State {
    pub controls: Box<[StateId]>,
    pub memory: Box<[ValueId]>,
    pub processes: Box<[Buffers]>,
}

/// Whether a value stands for another.
pub(super) fn fits(value: ValueId, other: ValueId) -> bool {
    value == ANY || value == other
}

/// A value that both of two stand for.
pub(super) fn both(a: ValueId, b: ValueId) -> Option<ValueId> {
    match (a, b) {
        (ANY, v) | (v, ANY) => Some(v),
        (a, b) => (a == b).then_some(a),
    }
}

/// Whether a word is a subword of another. Taking the first place that fits is
/// always right.
fn is_subword<T>(small: &[T], big: &[T], fits: impl Fn(&T, &T) -> bool) -> bool {
    let mut rest = big.iter();
    small.len() <= big.len() && small.iter().all(|a| rest.any(|b| fits(a, b)))
}

impl Buffers {
    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.stores.is_empty() && self.future.is_empty() && self.past.is_empty()
    }

    pub fn stores_of(&self, var: VarId) -> Option<&Stores> {
        self.stores.iter().find(|s| s.var == var)
    }

    /// The writes to a variable that wait, replaced.
    pub fn set_stores(&mut self, var: VarId, stores: Option<Stores>) {
        self.stores.retain(|s| s.var != var);
        self.stores.extend(stores);
        self.stores.sort_unstable_by_key(|s| s.var);
    }

    /// Where the own message of a variable is.
    pub fn own(&self, var: VarId) -> Option<usize> {
        self.future.iter().position(|m| m.own && m.var == var)
    }

    pub fn past_of(&self, var: VarId) -> &[ValueId] {
        self.past.iter().find(|(x, _)| *x == var).map_or(&[], |(_, values)| values)
    }

    /// What can still be read of a variable, replaced.
    pub fn set_past(&mut self, var: VarId, values: Vec<ValueId>) {
        self.past.retain(|(x, _)| *x != var);
        if !values.is_empty() {
            self.past.push((var, values));
            self.past.sort_unstable_by_key(|(x, _)| *x);
        }
    }

    /// Whether these are below others: subwords, the strong ones kept.
    fn is_below(&self, big: &Self) -> bool {
        let value = |a: &ValueId, b: &ValueId| fits(*a, *b);
        self.entered == big.entered
            && self.stores.len() == big.stores.len()
            && self.stores.iter().zip(&big.stores).all(|(a, b)| {
                a.var == b.var && fits(a.last, b.last) && is_subword(&a.older, &b.older, value)
            })
            && self.past.iter().all(|(x, values)| is_subword(values, big.past_of(*x), value))
            && is_below_between_marks(&self.future, &big.future)
    }
}

/// Own messages are the same in both, and what lies between them a subword.
fn is_below_between_marks(small: &[Message], big: &[Message]) -> bool {
    let fit = |a: &Message, b: &Message| a.var == b.var && fits(a.value, b.value);
    let mut small = small.split_inclusive(|m| m.own);
    let mut big = big.split_inclusive(|m| m.own);
    loop {
        let (a, b) = (small.next().unwrap_or(&[]), big.next().unwrap_or(&[]));
        if a.is_empty() && b.is_empty() {
            return true;
        }
        let fine = match (a.split_last(), b.split_last()) {
            (Some((x, a)), Some((y, b))) if x.own && y.own => fit(x, y) && is_subword(a, b, fit),
            (Some((x, _)), _) if x.own => false,
            (_, Some((y, _))) if y.own => false,
            _ => is_subword(a, b, fit),
        };
        if !fine {
            return false;
        }
    }
}

impl State {
    /// Taken apart, for showing to others.
    pub fn parts(&self) -> UpwardState {
        let value = |&v: &ValueId| (v != ANY).then_some(v);
        let values = |all: &[ValueId]| all.iter().map(value).collect();
        let buffers = |b: &Buffers| UpwardBuffers {
            stores: b.stores.iter().map(|s| (s.var, (values(&s.older), value(&s.last)))).collect(),
            future: b
                .future
                .iter()
                .map(|m| UpwardMessage { var: m.var, value: value(&m.value), own: m.own })
                .collect(),
            past: b.past.iter().map(|(x, all)| (*x, values(all))).collect(),
            entered: b.entered,
        };
        UpwardState {
            controls: self.controls.to_vec(),
            memory: values(&self.memory),
            buffers: self.processes.iter().map(buffers).collect(),
        }
    }

    /// About what it takes up, in bytes.
    pub fn bytes(&self) -> usize {
        let words = self.processes.iter().map(|p| {
            let stores: usize = p.stores.iter().map(|s| 32 + 2 * s.older.len()).sum();
            let past: usize = p.past.iter().map(|(_, values)| 32 + 2 * values.len()).sum();
            stores + past + 8 * p.future.len() + 72
        });
        words.sum::<usize>() + 4 * self.memory.len() + 2 * self.controls.len() + 48
    }

    /// Whether all that is at or above `big` is at or above this one.
    pub fn is_below(&self, big: &Self) -> bool {
        self.memory.iter().zip(&big.memory).all(|(a, b)| fits(*a, *b))
            && self.processes.iter().zip(&big.processes).all(|(a, b)| a.is_below(b))
    }
}
