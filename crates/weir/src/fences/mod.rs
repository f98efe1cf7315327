//! Minimal sets of fences and orders that repair a program, and those that are not needed.
//!
//! ```
//! use weir::fences::{Request, repairs};
//! use weir::MemoryModel;
//!
//! let text = "
//!     var x, y
//!     process p {
//!         reg r
//!         x = 1
//!         r = y
//!     }
//!     process q {
//!         reg r
//!         y = 1
//!         r = x
//!     }
//!     both: final never p.r == 0 and q.r == 0
//! ";
//! let request = Request::new(MemoryModel::TSO);
//! let found = repairs("sb.weir", text, &request, &|_| {})?;
//! let lines = |set: &weir::fences::Repair| -> Vec<usize> {
//!     set.changes.iter().map(|change| found.places[change.place].line).collect()
//! };
//! assert_eq!(lines(&found.sets[0]), [6, 11]);
//! assert!(found.text(&found.sets[0].changes).contains("x = 1\n        fence\n"));
//! # Ok::<(), weir::Error>(())
//! ```
//!
//! [`repairs`] finds sets of fences to insert, or of orders to make stronger; [`redundant`] finds which of the fences of a
//! program are enough, and [`weaken`] which of its orders can be weaker. The search is described in `search`.

mod change;
mod costs;
mod found;
mod hitting;
mod orders;
mod request;
mod search;
mod texts;
mod variant;

use std::ops::Range;

use weir_front::gaps::insert;
use weir_front::{Language, detect};
use weir_model::answer::Answer;
use weir_model::memory_model::MemoryModel;
use weir_model::program::FenceKind;

use crate::error::Error;
use crate::load::{self, Loaded, Reading};
use crate::robust::shown_cycle;
use crate::solver::chosen;
use change::{Site, places};
use hitting::Set;
use search::{Ask, Decided, Search, Space, Tried, decide};
use variant::{Variants, for_each_fence};

pub use change::{Change, Place, To};
pub use costs::{Costs, Target};
pub use found::{Beyond, Checked, Less, Repair, Repairs};
pub use orders::weaken;
pub use request::{Goal, Request, kinds_of};
pub use search::{Broken, Tally};

/// What is known while a search for fences runs.
#[derive(Clone, Debug)]
pub enum Event<'e> {
    /// How far the search has got.
    Tally(&'e Tally),
    /// The program violates a property, or has a final state that is looked for: the answer has a
    /// run that its checker accepts.
    Broken(&'e Loaded, &'e Answer),
    /// These changes repair the program, each with the line that it is at. Its text with them
    /// is the program that was proved to be repaired.
    Repair(Vec<(To, usize)>),
}

/// Receives events.
pub type Listener<'l> = &'l (dyn Fn(Event<'_>) + Sync);

/// Finds the minimal sets of fences that, inserted into a program, make sure that no state
/// settles a question: nothing that is claimed is violated, and no final state that is looked
/// for is allowed.
///
/// # Errors
/// If the program cannot be read, has no question, or its language has no such fences.
pub fn repairs(
    name: &str,
    text: &str,
    request: &Request,
    progress: Listener<'_>,
) -> Result<Repairs, Error> {
    let loaded = asked(name, text, request)?;
    let language = request.reading.language.unwrap_or_else(|| detect(name, text));
    if request.reading.model == MemoryModel::C11 {
        return orders::stronger((name, text), loaded, language, request, progress);
    }
    let kinds = request.kinds_in(language)?;
    let mut gaps = (language.gaps)(text);
    gaps.sort_by_key(|gap| gap.at);
    let some_kind = kinds.first().copied().unwrap_or(FenceKind::Full);
    let all: Vec<_> = (0..gaps.len()).map(|gap| (gap, some_kind)).collect();
    let inserted = insert(text, &gaps, &all, |kind| (language.fence)(kind).unwrap_or("fence"));
    let (fenced, fenced_source) = load::program(name, &inserted.text, &reading(request, language))
        .map_err(Error::Inserted)?;
    let mut starts: Vec<(usize, usize)> =
        inserted.fences.iter().enumerate().map(|(place, fence)| (fence.start, place)).collect();
    starts.sort_unstable();
    let place = |range: Range<usize>, _| {
        let next = starts.get(starts.partition_point(|(start, _)| *start < range.start));
        next.filter(|(start, _)| range.contains(start)).map(|(_, place)| *place)
    };
    let fences =
        (0..gaps.len()).flat_map(|place| kinds.iter().map(move |&kind| (place, kind))).collect();
    let search = (request.reading.model, &request.costs);
    let variants = Variants::new(fenced, &fenced_source, place, fences, search);
    let places = places(text, gaps.iter().map(|gap| (gap.at, gap.is_behind)));
    let sites = gaps.into_iter().map(Site::Gap).collect();
    let mut found =
        Repairs::new((loaded.source.clone(), places, sites), language, request.reading.model);
    // Most programs that need no fence are recognized by one search.
    let itself = decide_itself(&loaded, request, progress)?;
    found.tally.checks = 1;
    if let Decided::Repaired(_) = itself {
        return Ok(found.without_changes());
    }
    let skipped = found.between(&loaded.system.program);
    found.kept.push(loaded.system);
    let all = Set::full(variants.elements().len());
    found.tally.checks += 1;
    let search = Search::new(&variants, request);
    let tried = search.try_set(&all, &request.options)?;
    found.kept.extend(search.into_kept());
    match tried {
        Tried::Repairs => found.search_fences(&variants, request, progress)?,
        Tried::Open(reason) => found.open.push((variants.changes(&all), reason)),
        Tried::Fails(_) => {
            let all = variants.changes(&all);
            match found.check(&all, request, &request.options)? {
                Checked::Broken(mut loaded, runs) => {
                    loaded.source = found.as_written(&all, &loaded.source);
                    found.unrepaired((loaded, runs), request)?;
                }
                Checked::Repaired(loaded, _) => found.unrepaired((loaded, vec![]), request)?,
                Checked::Open(reason) => found.open.push((all, reason)),
            }
            // Without an order between any two accesses missing, it is as under SC.
            if found.beyond.as_ref().is_some_and(|beyond| beyond.model != MemoryModel::SC) {
                found.skipped = Some(skipped);
            }
        }
    }
    Ok(found)
}

/// Finds the minimal sets of the fences of a program that are enough, if the others are removed.
///
/// # Errors
/// As for [`repairs`].
pub fn redundant(
    name: &str,
    text: &str,
    request: &Request,
    progress: Listener<'_>,
) -> Result<Repairs, Error> {
    let loaded = asked(name, text, request)?;
    // Memory orders are fences too.
    let (program, source) = (&*loaded.system.program.fenced(), &loaded.source);
    let language = request.reading.language.unwrap_or_else(|| detect(name, text));
    // Copies of a process have the same fences.
    let mut standing: Vec<(usize, FenceKind)> = Vec::new();
    for_each_fence(program, &mut |stmt| {
        if let weir_model::program::StmtKind::Fence(kind) = stmt.kind {
            // Those of an included file stay.
            let at = source.range(stmt.span).start;
            standing.extend((source.file(at).1.start == 0).then_some((at, kind)));
        }
    });
    standing.sort_unstable();
    standing.dedup();
    let place = |range: Range<usize>, kind| standing.binary_search(&(range.start, kind)).ok();
    let fences = standing.iter().enumerate();
    let fences = fences.map(|(place, &(_, kind))| (place, kind)).collect();
    let search = (request.reading.model, &request.costs);
    let variants = Variants::new(program.clone(), source, place, fences, search);
    let places = places(text, standing.iter().map(|(at, _)| (*at, false)));
    let sites = standing.iter().map(|_| Site::Standing).collect();
    let mut found = Repairs::new((source.clone(), places, sites), language, request.reading.model);
    found.standing = standing.iter().map(|(_, kind)| *kind).collect();
    found.tally.checks = 1;
    match decide_itself(&loaded, request, progress)? {
        Decided::Repaired(_) => found.search_fences(&variants, request, progress)?,
        Decided::Open(reason) => {
            found.open.push((variants.changes(&Set::full(standing.len())), reason));
        }
        Decided::Broken(mut runs) => {
            shown_cycles(&loaded, &mut runs, request.goal)?;
            found.unrepaired((loaded, runs), request)?;
            return Ok(found);
        }
    }
    found.kept.push(loaded.system);
    Ok(found)
}

/// Finds out whether the program is as it should be, and tells of runs that show that it is not.
fn decide_itself(
    loaded: &Loaded,
    request: &Request,
    progress: Listener<'_>,
) -> Result<Decided, Error> {
    let settled = |answer: &Answer| {
        if answer.has_run() {
            progress(Event::Broken(loaded, answer));
        }
    };
    let ask = Ask { settled: Some(&settled), ..request.ask() };
    decide(&loaded.system, ask, &request.options)
}

/// The program, if something is asked of it.
fn asked(name: &str, text: &str, request: &Request) -> Result<Loaded, Error> {
    let loaded = Loaded::read(name, text, &request.reading)?;
    if loaded.system.program.object.is_some() {
        return Err(Error::AsksLive(name.to_owned()));
    }
    if request.goal == Goal::Robust {
        return match request.reading.model.normal() == MemoryModel::TSO {
            true => Ok(loaded),
            false => Err(Error::Model("fences for robustness are", "TSO", request.reading.model)),
        };
    }
    if let Some(error) = Error::no_property(name, &loaded.system) {
        return Err(error);
    }
    let chosen = chosen(&loaded.system, &request.properties).map_err(Error::NoSuch)?;
    let mut asked = chosen.iter().map(|&i| &loaded.system.questions[i]);
    match asked.find(|q| q.asks_for_absence()) {
        Some(question) => Err(Error::Absence(question.name.clone())),
        None => Ok(loaded),
    }
}

/// The language is known from the text without fences.
fn reading(request: &Request, language: &'static Language) -> Reading {
    Reading { language: Some(language), ..request.reading.clone() }
}

/// Finds the cycles of runs, if robustness is asked for.
fn shown_cycles(loaded: &Loaded, runs: &mut [Broken], goal: Goal) -> Result<(), Error> {
    for broken in runs.iter_mut().filter(|_| goal == Goal::Robust) {
        broken.cycle = shown_cycle(loaded, &broken.run)?.cycle;
    }
    Ok(())
}
