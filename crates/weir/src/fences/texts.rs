//! Variants of a text: the same text with other orders, and with fences. Each is read again, whatever its language, so that what
//! is checked is what the text means.
//!
//! A place of the text has an element for each order of its chain that is not what two others are together: acquire and
//! release are elements of an atomic read-write, acq_rel is both, and `seq_cst` includes both. A place is a word of the text. If
//! it serves several accesses (a procedure, a macro, a loop that is unrolled), they change together.

use std::collections::BTreeMap;
use std::sync::Arc;

use weir_check::{Header, Witness, check};
use weir_front::orders::Access;
use weir_front::{Language, Source};
use weir_model::ids::SpanId;
use weir_model::limits::Budget;
use weir_model::program::{FenceKind, Order, Program, Rmw, Stmt, StmtKind};
use weir_model::system::System;

use super::change::{Change, Site, To, Tuned, changed};
use super::hitting::{Elements, Set};
use super::request::Request;
use super::search::{Broken, FINER, Space};
use crate::error::Error;
use crate::load::{self, LoadError, Reading};

/// Which orders are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    /// Those of the text and stronger ones.
    Stronger,
    /// Those of the text and weaker ones.
    Weaker,
}

/// A text, and what may be changed in it.
pub(super) struct Texts {
    name: String,
    text: String,
    reading: Reading,
    language: &'static Language,
    sites: Arc<[Site]>,
    /// What each element is: a fence, or that an order is at least this one.
    atoms: Arc<[Change]>,
    elements: Elements,
}

/// What an access or a fence of a program is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ordered {
    access: Access,
    order: Order,
    /// The order of a failure.
    failure: Option<Order>,
    span: SpanId,
}

impl Ordered {
    /// The same without its place.
    fn shape(self) -> (Access, Order, Option<Order>) {
        (self.access, self.order, self.failure)
    }

    /// Whether it can have its order: no load releases, and no store acquires.
    fn is_possible(&self) -> bool {
        let is_allowed = self.access.orders().contains(&self.order);
        let orders = Access::Failure.orders();
        (is_allowed || self.order == Order::Plain || self.order == Order::Fenced)
            && self.failure.is_none_or(|failure| orders.contains(&failure))
    }
}

impl Texts {
    pub fn new(
        (name, text): (&str, &str),
        (reading, language): (Reading, &'static Language),
        sites: Vec<Site>,
        kinds: &[FenceKind],
        request: &Request,
    ) -> Self {
        let mut atoms = Vec::new();
        for (place, site) in sites.iter().enumerate() {
            match site {
                Site::Gap(_) => {
                    let fence = |kind: &FenceKind| Change { place, to: To::Fence(*kind) };
                    atoms.extend(kinds.iter().map(fence));
                }
                Site::Order(tuned) => {
                    let atom = |order: Order| Change { place, to: To::Order(order) };
                    atoms.extend(tuned.atoms().into_iter().map(atom));
                }
                Site::Standing => {}
            }
        }
        let (sites, atoms): (Arc<[Site]>, Arc<[Change]>) = (sites.into(), atoms.into());
        let elements = elements(&sites, &atoms, request);
        let (name, text) = (name.to_owned(), text.to_owned());
        Self { name, text, reading, language, sites, atoms, elements }
    }

    /// What a set puts at each place that has something of it.
    pub fn standing(&self, set: &Set) -> Vec<Change> {
        standing(&self.sites, &self.atoms, set)
    }

    /// The changes of the text that make the program of a set.
    pub fn changes(&self, set: &Set) -> Vec<Change> {
        let mut changes = Vec::new();
        let mut left = self.standing(set).into_iter().peekable();
        for (place, site) in self.sites.iter().enumerate() {
            let mut here = vec![];
            while let Some(change) = left.next_if(|change| change.place == place) {
                here.push(change);
            }
            match site {
                Site::Order(tuned) => {
                    let to = here.first().map_or(To::Order(tuned.floor), |change| change.to);
                    if to != To::Order(tuned.place.now) {
                        changes.push(Change { place, to });
                    }
                }
                _ => changes.extend(here),
            }
        }
        changes
    }

    /// Elements as changes, without those that include another one at their place.
    pub fn region(&self, clause: &Set) -> Vec<Change> {
        let is_included = |e: usize, by: usize| e != by && self.elements.includes[e].contains(by);
        let least = clause.iter().filter(|&e| !clause.iter().any(|other| is_included(e, other)));
        least.map(|e| self.atoms[e]).collect()
    }

    fn program(&self, set: &Set) -> Result<(Program, Source), LoadError> {
        let text = changed(&self.text, &self.sites, &self.changes(set), self.language).text;
        load::program(&self.name, &text, &self.reading)
    }

    /// Accesses of the program of a set whose order is not the strongest, or not the weakest, by their lines in the unchanged
    /// text and, if they are in another file, its name. No place says what their orders are.
    pub fn skipped(
        &self,
        set: &Set,
        unchanged: &Source,
        direction: Direction,
    ) -> Vec<(Option<String>, usize)> {
        let Ok((program, source)) = self.program(set) else { return vec![] };
        let inserted = changed(&self.text, &self.sites, &self.changes(set), self.language);
        let source = unchanged.with_places_of(&source, |at| inserted.before(at));
        let mut skipped = Vec::new();
        for access in accesses(&program) {
            let is_tried = match (access.order, direction) {
                (Order::Plain, _) => true,
                (order, Direction::Stronger) => order.is_seq_cst(),
                (order, Direction::Weaker) => order == Order::Relaxed,
            };
            if !is_tried {
                let (name, text) = source.file(source.range(access.span).start);
                let file = (text.start > 0).then(|| name.to_owned());
                skipped.push((file, source.line(access.span)));
            }
        }
        skipped.sort_unstable();
        skipped.dedup();
        skipped
    }
}

fn standing(sites: &[Site], atoms: &[Change], set: &Set) -> Vec<Change> {
    let mut at: BTreeMap<usize, Vec<To>> = BTreeMap::new();
    for e in set.iter() {
        at.entry(atoms[e].place).or_default().push(atoms[e].to);
    }
    let mut changes = Vec::new();
    for (place, here) in at {
        match &sites[place] {
            Site::Order(tuned) => {
                let order = |to: &To| match to {
                    To::Order(order) => Some(*order),
                    To::Fence(_) => None,
                };
                let orders: Vec<Order> = here.iter().filter_map(order).collect();
                changes.push(Change { place, to: To::Order(tuned.join(&orders)) });
            }
            _ => changes.extend(here.into_iter().map(|to| Change { place, to })),
        }
    }
    changes
}

fn elements(sites: &Arc<[Site]>, atoms: &Arc<[Change]>, request: &Request) -> Elements {
    let count = atoms.len();
    let includes = |e: usize| {
        let mut set = Set::empty(count).with(e);
        let To::Order(this) = atoms[e].to else { return set };
        for (other, atom) in atoms.iter().enumerate() {
            if let To::Order(order) = atom.to
                && atom.place == atoms[e].place
                && order.is_at_most(this)
            {
                set.insert(other);
            }
        }
        set
    };
    let of = |tuned: &Tuned, order: Order| request.costs.order(tuned.place.access, order);
    let mut least = vec![0; count];
    for (e, atom) in atoms.iter().enumerate() {
        least[e] = 1 + FINER
            * match (atom.to, &sites[atom.place]) {
                (To::Fence(kind), _) => request.costs.fence(kind),
                // Whatever it is together with, its cost is that of an order at least as strong, less
                // than that of one without it.
                (To::Order(order), Site::Order(tuned)) => {
                    let with = tuned.levels.iter().filter(|level| order.is_at_most(**level));
                    let without = |with: &Order| {
                        tuned.weaker(*with).into_iter().filter(|weak| !order.is_at_most(*weak))
                    };
                    let steps = with.flat_map(|with| {
                        without(with).map(|weak| of(tuned, *with).saturating_sub(of(tuned, weak)))
                    });
                    steps.min().unwrap_or(0)
                }
                (To::Order(_), _) => 0,
            };
    }
    let (sites, atoms, costs) = (sites.clone(), atoms.clone(), request.costs.clone());
    let cost = move |set: &Set| {
        let of = |change: Change| match (change.to, &sites[change.place]) {
            (To::Fence(kind), _) => costs.fence(kind),
            (To::Order(order), Site::Order(tuned)) => {
                let cost = |order| costs.order(tuned.place.access, order);
                cost(order) - cost(tuned.floor)
            }
            (To::Order(_), _) => 0,
        };
        let sum: u64 = standing(&sites, &atoms, set).into_iter().map(of).sum();
        sum * FINER + set.len() as u64
    };
    Elements { includes: (0..count).map(includes).collect(), cost: Box::new(cost), least }
}

impl Space for Texts {
    fn elements(&self) -> &Elements {
        &self.elements
    }

    fn system(&self, set: &Set, budget: &Budget) -> Result<Result<System, String>, Error> {
        let program = match self.program(set) {
            Ok((program, _)) => program,
            Err(LoadError::Stopped { reason, .. }) => return Ok(Err(reason)),
            Err(error) => return Err(Error::Inserted(error)),
        };
        let system = System::for_model_within(program, self.reading.model, budget);
        Ok(system.map_err(|unbuilt| unbuilt.to_string()))
    }

    fn covers(&self, set: &Set, other: &Set) -> bool {
        other.is_within(set)
    }

    /// Elements are added as long as the checker of runs accepts the run as one of the program with them. It evaluates the
    /// axioms, so it needs no search. With another fence the places of the program have other numbers, and it accepts
    /// nothing: what is left in the clause is for the search to take out.
    fn clause(&self, set: &Set, system: &System, runs: &[Broken]) -> Result<Set, Error> {
        let shortest = runs.iter().min_by_key(|broken| broken.run.steps.len());
        let shortest = shortest.expect("a run shows that it is broken");
        let all = Set::full(self.elements.len());
        let Some(question) = shortest.question else { return Ok(all.without(set)) };
        let mut witness = Witness::new(system, &shortest.run, question, &|_| 1);
        let budget = &self.reading.budget;
        let mut closed = set.clone();
        for e in 0..self.elements.len() {
            let larger = closed.union(&self.elements.includes[e]);
            if closed.contains(e) || matches!(self.atoms[e].to, To::Fence(_)) || larger == all {
                continue;
            }
            if budget.check().is_err() {
                break;
            }
            let Ok(system) = self.system(&larger, budget)? else { continue };
            let (format, version) = (witness.header.format.clone(), witness.header.version);
            witness.header = Header::new(&format, version, &system.program);
            if check(&system, &witness).is_ok() {
                closed = larger;
            }
        }
        Ok(all.without(&closed))
    }
}

/// The accesses and fences of a program, in the order of the code.
fn accesses(program: &Program) -> Vec<Ordered> {
    let mut found = Vec::new();
    let bodies = program.processes.iter().rev().map(|process| &process.body);
    let mut open: Vec<&Stmt> = bodies.flat_map(|body| body.iter().rev()).collect();
    while let Some(stmt) = open.pop() {
        let relaxed = |order: Option<Order>| order.unwrap_or(Order::Relaxed);
        let found_here = match &stmt.kind {
            StmtKind::Load(_, place) => Some((Access::Load, relaxed(place.order), None)),
            StmtKind::Store(place, _) => Some((Access::Store, relaxed(place.order), None)),
            StmtKind::Rmw(_, place, rmw) => {
                let order = place.order.unwrap_or(Order::Fenced);
                let failure = match rmw {
                    Rmw::Cas { failure, .. } | Rmw::CasFlag { failure, .. } => *failure,
                    Rmw::Swap(_) | Rmw::Fetch(..) | Rmw::Update { .. } => None,
                };
                Some((Access::ReadWrite, order, failure))
            }
            StmtKind::Fence(kind) => {
                let order = match kind {
                    FenceKind::Full => Order::SeqCst,
                    FenceKind::Read => Order::Acquire,
                    FenceKind::Write => Order::Release,
                };
                Some((Access::Fence, order, None))
            }
            _ => None,
        };
        let span = stmt.span;
        found.extend(found_here.map(|(access, order, failure)| Ordered {
            access,
            order,
            failure,
            span,
        }));
        for block in stmt.kind.blocks().into_iter().rev() {
            open.extend(block.iter().rev());
        }
    }
    found
}

/// The places of a text at which another order makes another program, with the orders that are tried there.
///
/// Each place is tried once with the strongest or weakest order that it can have. What cannot be read then is no access to memory,
/// and what is the same program then is code that nobody executes.
pub(super) fn tuned(
    (name, text): (&str, &str),
    reading: &Reading,
    language: &Language,
    direction: Direction,
) -> Result<Vec<Tuned>, Error> {
    let (program, _) = load::program(name, text, reading).map_err(Error::Load)?;
    let written = accesses(&program);
    let mut found = Vec::new();
    for place in (language.orders)(text) {
        if reading.budget.check().is_err() {
            break;
        }
        let is_tried = |order: Order| match direction {
            Direction::Stronger => order != place.now && place.now.is_at_most(order),
            Direction::Weaker => order != place.now && order.is_at_most(place.now),
        };
        let others: Vec<Order> = place.others.iter().map(|(order, _)| *order).collect();
        let mut levels: Vec<Order> = others.into_iter().filter(|order| is_tried(*order)).collect();
        let with = |order: Order| {
            let edits = place.others.iter().find(|(other, _)| *other == order);
            let edits = edits.map_or(&[][..], |(_, edits)| edits);
            let new = weir_front::gaps::replaced(text, edits).text;
            let (program, _) = load::program(name, &new, reading).ok()?;
            Some(accesses(&program))
        };
        match place.access {
            // What kind of access it is, is known from what can be read.
            Access::Unknown => levels.retain(|order| {
                with(*order).is_some_and(|new| {
                    !are_same(&new, &written)
                        && are_alike(&new, &written)
                        && new.iter().all(Ordered::is_possible)
                })
            }),
            _ => {
                let probe = match direction {
                    Direction::Stronger => levels.last(),
                    Direction::Weaker => levels.first(),
                };
                let is_other =
                    |order: &Order| with(*order).is_some_and(|new| !are_same(&new, &written));
                if !probe.is_some_and(is_other) {
                    continue;
                }
            }
        }
        levels.push(place.now);
        levels.sort_unstable();
        if levels.len() > 1 && has_bottom(&levels) {
            let floor = levels[0];
            found.push(Tuned { place, floor, levels });
        }
    }
    Ok(found)
}

/// Whether the first order is below all others, and the last one above.
fn has_bottom(levels: &[Order]) -> bool {
    let (first, last) = (levels[0], levels[levels.len() - 1]);
    levels.iter().all(|order| first.is_at_most(*order) && order.is_at_most(last))
}

/// Whether two programs have the same accesses and fences.
fn are_same(a: &[Ordered], b: &[Ordered]) -> bool {
    a.iter().map(|access| access.shape()).eq(b.iter().map(|access| access.shape()))
}

/// Whether two programs have accesses of the same kinds.
fn are_alike(a: &[Ordered], b: &[Ordered]) -> bool {
    let kinds = |all: &[Ordered]| -> Vec<Access> {
        all.iter().map(|ordered| ordered.access).filter(|access| *access != Access::Fence).collect()
    };
    kinds(a) == kinds(b)
}
