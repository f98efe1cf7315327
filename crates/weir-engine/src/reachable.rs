//! All reachable configurations of store buffers, for a proof that is a closed set.
//!
//! The explicit search stores only configurations at rest ([`crate::explicit`]). A proof has to
//! be closed under every single step, so here every configuration is listed. A program with
//! finitely many at rest has finitely many in all: chains of quiet steps end.

use std::fmt;

use weir_model::answer::{Buffered, Snapshot, StoreBuffer};
use weir_model::ids::Cell;
use weir_model::limits::{Budget, Stop};
use weir_model::memory_model::MemoryModel;
use weir_model::semantics::{EventKind, Form};
use weir_model::system::System;

use crate::stats::SearchOptions;
use crate::store::{Full, Store};

/// A bound that no buffer of a set that fits into memory comes to.
const MAX_BUFFER: usize = 60_000;

/// Why the configurations are not listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotListed {
    /// There is no such list for the memory model.
    Model(MemoryModel),
    /// A buffer holds more and more writes.
    Unbounded,
    /// A limit was reached, or there are too many to number.
    Full(Full),
}

impl fmt::Display for NotListed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Model(model) => {
                write!(f, "there are closed sets for SC and TSO, not for {model}")
            }
            Self::Unbounded => write!(f, "a buffer holds more than {MAX_BUFFER} writes"),
            Self::Full(full) => full.fmt(f),
        }
    }
}

impl std::error::Error for NotListed {}

impl From<Stop> for NotListed {
    fn from(stop: Stop) -> Self {
        Self::Full(stop.into())
    }
}

impl From<Full> for NotListed {
    fn from(full: Full) -> Self {
        Self::Full(full)
    }
}

/// Whether the configurations of a memory model can be listed: SC and TSO.
pub fn is_listed(model: MemoryModel) -> bool {
    [MemoryModel::SC, MemoryModel::TSO].contains(&model.normal())
}

fn form(model: MemoryModel) -> Result<Form, NotListed> {
    match model.normal() {
        m if m == MemoryModel::SC => Ok(Form::Sc),
        m if m == MemoryModel::TSO => Ok(Form::Tso),
        _ => Err(NotListed::Model(model)),
    }
}

/// The options of an explicit search that lists all configurations
/// ([`Shared::listing`](crate::explicit::shared::Shared::listing)), within the limits of these options.
///
/// # Errors
/// If there is no such list for the memory model.
pub fn listing_options(
    model: MemoryModel,
    options: &SearchOptions,
) -> Result<SearchOptions, NotListed> {
    let (bound, form) = (Some(MAX_BUFFER), Some(form(model)?));
    Ok(SearchOptions { bound, form, guesses: None, ..options.clone() })
}

/// All reachable configurations under SC or TSO, in the order in which a breadth-first search
/// finds them.
///
/// # Errors
/// If there are infinitely many, or a limit is reached.
pub fn configurations(
    system: &System,
    model: MemoryModel,
    budget: &Budget,
) -> Result<Vec<Buffered>, NotListed> {
    let form = form(model)?;
    let semantics = form.semantics(system, model, MAX_BUFFER);
    let mut store: Store = Store::within(budget);
    for config in semantics.initial() {
        store.insert(&config, None)?;
    }
    let mut all = Vec::new();
    let mut scratch = Vec::new();
    let mut next: Vec<Vec<Cell>> = Vec::new();
    while let Some(id) = store.take_next() {
        budget.tick()?;
        let config = store.get(id);
        let each = size_of::<Buffered>() + 8 * config.len();
        budget.check_growth(all.len(), all.capacity(), each)?;
        if !semantics.successors(&config, &mut scratch, &mut |_, to| next.push(to.to_vec())) {
            return Err(NotListed::Unbounded);
        }
        for to in next.drain(..) {
            store.insert(&to, None)?;
        }
        all.push(buffered(Snapshot::new(&*semantics, &config)));
    }
    Ok(all)
}

pub(crate) fn buffered(snapshot: Snapshot) -> Buffered {
    let buffer = |events: &Vec<weir_model::semantics::Event>| StoreBuffer {
        oldest: events
            .iter()
            .filter(|e| e.kind == EventKind::Write)
            .map(|e| (e.var, e.value))
            .collect(),
        tail: None,
    };
    Buffered {
        buffers: snapshot.pending.iter().map(buffer).collect(),
        controls: snapshot.controls,
        memory: snapshot.memory,
    }
}
