//! What can happen between a place of the code and the next fence, in both directions.
//!
//! Computed on the code of each process separately, before any search ([`System::code`]).

use std::iter;
use std::ops::Range;

use weir_model::ids::{ProcessId, StateId};
use weir_model::limits::{Budget, Stop};
use weir_model::program::FenceKind;
use weir_model::system::{Access, System};

/// For each place of the code of a process, a set of variables.
#[derive(Clone, Debug)]
pub struct ByPlace {
    rows: Vec<Box<[bool]>>,
    /// The set for states at no known place: all variables.
    all: Box<[bool]>,
}

impl ByPlace {
    /// The set at a control state.
    #[inline]
    pub fn at(&self, system: &System, process: ProcessId, state: StateId) -> &[bool] {
        match system.state(process, state).place() {
            Some(place) => &self.rows[place],
            None => &self.all,
        }
    }

    /// The set at a place.
    pub(crate) fn place(&self, place: usize) -> &[bool] {
        &self.rows[place]
    }

    /// The sets by place, and last the set for other states.
    pub(crate) fn rows(self) -> impl Iterator<Item = Box<[bool]>> {
        self.rows.into_iter().chain([self.all])
    }

    /// The empty set at every place.
    pub(crate) fn nothing(system: &System, process: ProcessId) -> Self {
        let none: Box<[bool]> = vec![false; system.vars.len()].into();
        Self { rows: vec![none.clone(); system.place_count(process)], all: none }
    }
}

/// Which way to look from a place.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Look {
    Ahead,
    Behind,
}

/// For each place, the variables with an access ahead (or behind) that `concerns` them and no
/// access in between that `stops`.
fn spread(
    system: &System,
    process: ProcessId,
    look: Look,
    concerns: impl Fn(&Access) -> Vec<Range<usize>>,
    stops: impl Fn(&Access) -> bool,
    budget: &Budget,
) -> Result<ByPlace, Stop> {
    let vars = system.vars.len();
    let places = system.place_count(process);
    budget.check_room(places.saturating_mul(vars + 32))?;
    let mut rows = vec![vec![false; vars].into_boxed_slice(); places];
    // For each place, those from which what is found there is found as well.
    let mut beyond: Vec<Vec<usize>> = vec![vec![]; places];
    let mut work = Vec::new();
    for step in system.code(process).filter(|s| !stops(&s.access)) {
        budget.tick()?;
        let (here, there) = match look {
            Look::Ahead => (step.from, step.to),
            Look::Behind => (step.to, step.from),
        };
        beyond[there].push(here);
        for range in concerns(&step.access) {
            rows[here][range].fill(true);
            work.push(here);
        }
    }
    while let Some(place) = work.pop() {
        budget.work(1 + vars / 64)?;
        for &here in &beyond[place] {
            if here == place {
                continue;
            }
            let found = rows[place].clone();
            let mut changed = false;
            for (known, found) in rows[here].iter_mut().zip(found) {
                changed |= found && !*known;
                *known |= found;
            }
            if changed {
                work.push(here);
            }
        }
    }
    Ok(ByPlace { rows, all: vec![true; vars].into() })
}

fn is_full(access: &Access) -> bool {
    matches!(access, Access::Arw(_) | Access::Fence(FenceKind::Full))
}

/// Whether an operation needs that no write of its process waits.
fn empties_stores(access: &Access, partial_fences: bool) -> bool {
    is_full(access) || partial_fences && *access == Access::Fence(FenceKind::Write)
}

/// For each place, the variables that can be read from there on before the next full fence or
/// atomic read-write.
///
/// # Errors
/// If a limit is reached.
pub fn readable(system: &System, process: ProcessId, budget: &Budget) -> Result<ByPlace, Stop> {
    let reads = |access: &Access| match access {
        Access::Read(range) => vec![range.clone()],
        _ => vec![],
    };
    spread(system, process, Look::Ahead, reads, is_full, budget)
}

/// For each place, the variables that can be read there or later, or written, not atomically and
/// before something that `stops`.
pub(crate) fn accesses(
    system: &System,
    process: ProcessId,
    writes: bool,
    stops: fn(&Access) -> bool,
    budget: &Budget,
) -> Result<ByPlace, Stop> {
    let concerns = |access: &Access| match access {
        Access::Read(range) if !writes => vec![range.clone()],
        Access::Write(range) if writes => vec![range.clone()],
        _ => vec![],
    };
    spread(system, process, Look::Ahead, concerns, stops, budget)
}

/// What an access puts into a buffer.
fn buffered(access: &Access) -> Vec<Range<usize>> {
    match access {
        Access::Write(range) => vec![range.clone()],
        _ => vec![],
    }
}

/// For each place, the variables that can be written from there on, atomically or not.
///
/// # Errors
/// If a limit is reached.
pub(crate) fn written(
    system: &System,
    process: ProcessId,
    budget: &Budget,
) -> Result<ByPlace, Stop> {
    let writes = |access: &Access| match access {
        Access::Write(range) | Access::Arw(range) => vec![range.clone()],
        _ => vec![],
    };
    spread(system, process, Look::Ahead, writes, |_| false, budget)
}

/// For each place, the variables that can be read or written from there on.
///
/// # Errors
/// If a limit is reached.
pub(crate) fn used(system: &System, process: ProcessId, budget: &Budget) -> Result<ByPlace, Stop> {
    let uses = |access: &Access| match access {
        Access::Read(range) | Access::Write(range) | Access::Arw(range) => vec![range.clone()],
        _ => vec![],
    };
    let mut used = spread(system, process, Look::Ahead, uses, |_| false, budget)?;
    // A process that fails at its next read reads all the same.
    let last = system.last_reads(process);
    let from: Vec<Vec<usize>> = match last.is_empty() {
        true => return Ok(used),
        false => {
            let mut from = vec![vec![]; system.place_count(process)];
            system.code(process).for_each(|step| from[step.to].push(step.from));
            from
        }
    };
    for (place, access) in last {
        let mut seen = vec![false; from.len()];
        let mut work = vec![*place];
        while let Some(place) = work.pop() {
            budget.tick()?;
            if std::mem::replace(&mut seen[place], true) {
                continue;
            }
            uses(access).into_iter().for_each(|range| used.rows[place][range].fill(true));
            work.extend(&from[place]);
        }
    }
    Ok(used)
}

/// For each place, the variables of which a waiting write may yet be
/// overtaken: some other variable can be written before a fence that would need
/// the write to have left.
pub(crate) fn overtakes(
    system: &System,
    process: ProcessId,
    partial_fences: bool,
    budget: &Budget,
) -> Result<ByPlace, Stop> {
    let vars = system.vars.len();
    let others = |access: &Access| match access {
        // Whatever one of several variables is written, another is not.
        Access::Write(range) if range.len() > 1 => iter::once(0..vars).collect(),
        Access::Write(range) => vec![0..range.start, range.end..vars],
        _ => vec![],
    };
    let stops = |access: &Access| empties_stores(access, partial_fences);
    spread(system, process, Look::Ahead, others, stops, budget)
}

/// For each place, the variables that may have been written since the last full fence.
pub(crate) fn unseen(
    system: &System,
    process: ProcessId,
    budget: &Budget,
) -> Result<ByPlace, Stop> {
    spread(system, process, Look::Behind, buffered, is_full, budget)
}

/// For each place, the variables of which a write may be waiting there.
pub(crate) fn waiting(
    system: &System,
    process: ProcessId,
    partial_fences: bool,
    budget: &Budget,
) -> Result<ByPlace, Stop> {
    let stops = |access: &Access| empties_stores(access, partial_fences);
    spread(system, process, Look::Behind, buffered, stops, budget)
}
