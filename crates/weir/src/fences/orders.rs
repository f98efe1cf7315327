//! Orders as repair: the least that have to be stronger, and those that can be weaker. For C11 alone, which knows orders.

use weir_front::gaps::Gap;
use weir_front::{Language, detect};
use weir_model::memory_model::MemoryModel;
use weir_model::program::{Program, Stmt, StmtKind};

use super::change::{Site, order_places, places};
use super::found::{Checked, Repairs};
use super::hitting::Set;
use super::request::Request;
use super::search::{Decided, Search, Space, Tried};
use super::texts::{Direction, Texts, tuned};
use super::{Listener, asked, decide_itself, reading};
use crate::error::Error;
use crate::load::Loaded;

/// Finds the minimal sets of stronger orders, and of fences if they are asked for, that repair a program.
pub(super) fn stronger(
    (name, text): (&str, &str),
    loaded: Loaded,
    language: &'static Language,
    request: &Request,
    progress: Listener<'_>,
) -> Result<Repairs, Error> {
    let names = match request.orders {
        Some(names) => names,
        None => request.kinds.is_none() && has_orders(&loaded.system.program, language),
    };
    let kinds = match (&request.kinds, names) {
        (None, true) => vec![],
        _ => request.kinds_in(language)?,
    };
    let mut gaps: Vec<Gap> = if kinds.is_empty() { vec![] } else { (language.gaps)(text) };
    gaps.sort_by_key(|gap| gap.at);
    let reading = reading(request, language);
    let orders = match names {
        true => tuned((name, text), &reading, language, Direction::Stronger)?,
        false => vec![],
    };
    let mut all_places = places(text, gaps.iter().map(|gap| (gap.at, gap.is_behind)));
    all_places.extend(order_places(text, orders.iter().map(|t| t.place.range.clone())));
    let sites = gaps.into_iter().map(Site::Gap).chain(orders.into_iter().map(Site::Order));
    let sites: Vec<Site> = sites.collect();
    let texts = Texts::new((name, text), (reading, language), sites.clone(), &kinds, request);
    let source = loaded.source.clone();
    let mut found = Repairs::new((source, all_places, sites), language, MemoryModel::C11);
    (found.changes_fences, found.changes_orders) = (!kinds.is_empty(), names);
    let itself = decide_itself(&loaded, request, progress)?;
    found.tally.checks = 1;
    if let Decided::Repaired(_) = itself {
        return Ok(found.without_changes());
    }
    let all = Set::full(texts.elements().len());
    found.tally.checks += 1;
    let search = Search::new(&texts, request);
    let tried = search.try_set(&all, &request.options)?;
    found.kept.extend(search.into_kept());
    match tried {
        Tried::Repairs => found.search_texts(&texts, request, progress)?,
        Tried::Open(reason) => found.open.push((texts.changes(&all), reason)),
        Tried::Fails(_) => {
            let changes = texts.changes(&all);
            match found.check(&changes, request, &request.options)? {
                Checked::Broken(mut loaded, runs) => {
                    loaded.source = found.as_written(&changes, &loaded.source);
                    found.unrepaired((loaded, runs), request)?;
                }
                Checked::Repaired(loaded, _) => found.unrepaired((loaded, vec![]), request)?,
                Checked::Open(reason) => found.open.push((changes, reason)),
            }
            // With `seq_cst` everywhere it is as under SC, if it has no race.
            if found.beyond.as_ref().is_some_and(|beyond| beyond.model != MemoryModel::SC) {
                let skipped = match names {
                    true => texts.skipped(&all, &loaded.source, Direction::Stronger),
                    false => found.between(&loaded.system.program),
                };
                found.skipped = (!skipped.is_empty()).then_some(skipped);
            }
        }
    }
    found.kept.push(loaded.system);
    Ok(found)
}

/// Finds the maximal weakenings of the orders of a program: the minimal sets of orders that are enough, if all others are as weak
/// as they can be.
///
/// # Errors
/// As for [`repairs`](super::repairs), and if the model is not C11.
pub fn weaken(
    name: &str,
    text: &str,
    request: &Request,
    progress: Listener<'_>,
) -> Result<Repairs, Error> {
    if request.reading.model != MemoryModel::C11 {
        return Err(Error::Model("weaker orders are", "C11", request.reading.model));
    }
    let loaded = asked(name, text, request)?;
    let language = request.reading.language.unwrap_or_else(|| detect(name, text));
    let reading = reading(request, language);
    let orders = tuned((name, text), &reading, language, Direction::Weaker)?;
    let places = order_places(text, orders.iter().map(|t| t.place.range.clone()));
    let sites: Vec<Site> = orders.into_iter().map(Site::Order).collect();
    let texts = Texts::new((name, text), (reading, language), sites.clone(), &[], request);
    let source = loaded.source.clone();
    let mut found = Repairs::new((source, places, sites), language, MemoryModel::C11);
    (found.changes_fences, found.changes_orders) = (false, true);
    (found.is_weakened, found.cost) = (true, found.cost_of(&[], request, true));
    found.tally.checks = 1;
    let elements = texts.elements().len();
    match decide_itself(&loaded, request, progress)? {
        Decided::Repaired(_) => {
            let empty = Set::empty(elements);
            found.untried = texts.skipped(&empty, &loaded.source, Direction::Weaker);
            found.search_texts(&texts, request, progress)?;
        }
        Decided::Open(reason) => found.open.push((texts.standing(&Set::full(elements)), reason)),
        Decided::Broken(runs) => {
            found.unrepaired((loaded, runs), request)?;
            return Ok(found);
        }
    }
    found.kept.push(loaded.system);
    Ok(found)
}

/// Whether a program is about orders: it is written in a language whose accesses have some, or one has.
fn has_orders(program: &Program, language: &Language) -> bool {
    let mut open: Vec<&Stmt> = program.processes.iter().flat_map(|p| &p.body).collect();
    if language.has_orders() {
        return true;
    }
    while let Some(stmt) = open.pop() {
        match &stmt.kind {
            StmtKind::Load(_, place) | StmtKind::Store(place, _) | StmtKind::Rmw(_, place, _)
                if place.order.is_some() =>
            {
                return true;
            }
            kind => open.extend(kind.blocks().into_iter().flatten()),
        }
    }
    false
}
